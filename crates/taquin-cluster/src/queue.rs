//! The traits of a task queue, with worker reports, counts and errors.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::{self, Debug};
use std::future::Future;
use std::str::FromStr;
use std::time::Duration;

use taquin_bulk::FolderName;

use crate::task::{Task, TaskClass};

/// A queue that leases each task to one worker at a time. A task stays in the queue until a worker acknowledges it.
///
/// A queue may lose a task or hand out a task twice. The files of a job show which chunks are missing.
pub trait Queue: Debug + Send + Sync + 'static {
    /// A task that the queue has handed out.
    type Lease: Lease;

    /// Adds a task, unless it is in the queue.
    ///
    /// # Errors
    /// [`QueueError`]. The task may have been added.
    fn offer(&self, task: &Task) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Returns the tasks in the queue, waiting or handed out.
    ///
    /// # Errors
    /// [`QueueError`].
    fn tasks(&self) -> impl Future<Output = Result<HashSet<Task>, QueueError>> + Send;

    /// Returns the number of tasks of a class, and the number of waiting calls of [`take`](Self::take).
    ///
    /// # Errors
    /// [`QueueError`].
    fn counts(&self, class: TaskClass) -> impl Future<Output = Result<QueueCounts, QueueError>> + Send;

    /// Returns true if a worker [attends](Self::attend) now.
    ///
    /// # Errors
    /// [`QueueError`].
    fn has_worker(&self) -> impl Future<Output = Result<bool, QueueError>> + Send;

    /// Announces a worker to the queue until the future is dropped.
    fn attend(&self) -> impl Future<Output = ()> + Send;

    /// Sends a worker's report to the callers of [`reports`](Self::reports). The report may be lost.
    fn report(&self, trouble: WorkerTrouble) -> impl Future<Output = ()> + Send;

    /// Returns the worker [reports](Self::report) that have arrived since the last call of this process. The first call
    /// may return no reports.
    fn reports(&self) -> impl Future<Output = HashSet<WorkerTrouble>> + Send;

    /// Waits for a task of a class for at most half a minute. Returns `None` if the wait ends without a task, which may
    /// happen earlier. If the future is dropped, a task may be unavailable until its lease expires.
    ///
    /// # Errors
    /// [`QueueError`].
    fn take(&self, class: TaskClass) -> impl Future<Output = Result<Option<Self::Lease>, QueueError>> + Send;

    /// Lease time: the time after which a task is handed out again, unless its lease is extended.
    fn lease_time(&self) -> Duration;

    /// Waits until this process has sent all messages to the queue. The wait is limited to some seconds.
    fn flush(&self) -> impl Future<Output = ()> + Send;
}

/// A report of a task or a folder that a worker cannot use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WorkerTrouble {
    /// The worker cannot read or write the files of this job folder at present.
    Store(FolderName),
    /// The worker cannot do this task, since the labels depend on the solver and the worker has another solver.
    Solver(Task),
    /// The worker cannot do this task, since the worker's store lacks the folder of the job.
    Missing(Task),
}

const SOLVER: &str = "solver ";
const MISSING: &str = "missing ";

impl fmt::Display for WorkerTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(folder) => write!(f, "{folder}"),
            Self::Solver(task) => write!(f, "{SOLVER}{task}"),
            Self::Missing(task) => write!(f, "{MISSING}{task}"),
        }
    }
}

/// Parses the output of [`Display`](fmt::Display).
impl FromStr for WorkerTrouble {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match (text.strip_prefix(SOLVER), text.strip_prefix(MISSING)) {
            (Some(task), _) => task.parse().map(Self::Solver),
            (_, Some(task)) => task.parse().map(Self::Missing),
            _ => text.parse().map(Self::Store),
        }
    }
}

/// A task that the queue has handed out. The queue hands out the task again after the [lease time](Queue::lease_time),
/// unless the lease is extended.
pub trait Lease: Debug + Send + Sync + 'static {
    /// The leased task.
    fn task(&self) -> &Task;

    /// Number of deliveries of the task that the queue knows of, including the present delivery.
    fn deliveries(&self) -> u64;

    /// Restarts the lease time.
    ///
    /// # Errors
    /// [`QueueError`].
    fn extend(&self) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Removes the task from the queue for good.
    ///
    /// # Errors
    /// [`QueueError`]. The task may be handed out again.
    fn done(&self) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Gives the task back to the queue, which hands out the task again after `pause`.
    ///
    /// # Errors
    /// [`QueueError`]. The task is handed out again after its lease time.
    fn release(&self, pause: Duration) -> impl Future<Output = Result<(), QueueError>> + Send;
}

/// Lease time of a queue that several processes share.
pub const LEASE_TIME: Duration = Duration::from_secs(30);

/// Number of tasks and of waiting calls of a task class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueCounts {
    /// Tasks that wait for a worker.
    pub waiting: u64,
    /// Unfinished tasks that the queue has handed out, and does not hand out again yet.
    pub leased: u64,
    /// Calls of [`Queue::take`] that wait for a task.
    pub takers: u64,
}

/// The reason why a call of a queue failed. A later call may succeed.
#[derive(Debug, thiserror::Error)]
#[error("the queue: {0}")]
pub struct QueueError(#[source] Box<dyn Error + Send + Sync>);

impl QueueError {
    /// Creates an error with this cause.
    pub(crate) fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

#[cfg(test)]
pub(crate) mod tests;
