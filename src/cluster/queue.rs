//! A queue of tasks.

use std::collections::HashSet;
use std::error::Error;
use std::fmt::{self, Debug};
use std::future::Future;
use std::str::FromStr;
use std::time::Duration;

use super::task::{Lane, Task};
use crate::jobs::FolderName;

/// Hands out each task to one worker at a time, until one acknowledges it.
///
/// It may lose tasks, and hand them out twice: whatever it does, the files of a job say what is missing.
pub trait Queue: Debug + Send + Sync + 'static {
    /// A task that was handed out.
    type Lease: Lease;

    /// Adds a task, unless it is in the queue.
    ///
    /// # Errors
    /// [`QueueError`]. The task may have been added.
    fn offer(&self, task: &Task) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// The tasks that are in the queue, waiting or handed out.
    ///
    /// # Errors
    /// [`QueueError`].
    fn tasks(&self) -> impl Future<Output = Result<HashSet<Task>, QueueError>> + Send;

    /// Counts what it has in a lane.
    ///
    /// # Errors
    /// [`QueueError`].
    fn counts(&self, lane: Lane) -> impl Future<Output = Result<QueueCounts, QueueError>> + Send;

    /// True if a worker [attends](Self::attend) now.
    ///
    /// # Errors
    /// [`QueueError`].
    fn has_worker(&self) -> impl Future<Output = Result<bool, QueueError>> + Send;

    /// Has the queue know of a worker, until the future is dropped.
    fn attend(&self) -> impl Future<Output = ()> + Send;

    /// Tells those that call [`reports`](Self::reports) what a worker cannot do. That may be lost.
    fn report(&self, trouble: Trouble) -> impl Future<Output = ()> + Send;

    /// What workers [reported](Self::report) since the last call of this process.
    fn reports(&self) -> impl Future<Output = HashSet<Trouble>> + Send;

    /// Waits for a task of a lane for at most half a minute. A future that is dropped may lose a task until its lease
    /// is over.
    ///
    /// # Errors
    /// [`QueueError`].
    fn take(&self, lane: Lane) -> impl Future<Output = Result<Option<Self::Lease>, QueueError>> + Send;

    /// Waits until all that was sent has left this process, for some seconds at most.
    fn flush(&self) -> impl Future<Output = ()> + Send;
}

/// What a worker cannot do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Trouble {
    /// Read or write the files of a folder now.
    Store(FolderName),
    /// This task, since its labels depend on another solver.
    Solver(Task),
    /// This task, since its folder is not in the store of the worker.
    Missing(Task),
}

const SOLVER: &str = "solver ";
const MISSING: &str = "missing ";

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(folder) => write!(f, "{folder}"),
            Self::Solver(task) => write!(f, "{SOLVER}{task}"),
            Self::Missing(task) => write!(f, "{MISSING}{task}"),
        }
    }
}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for Trouble {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match (text.strip_prefix(SOLVER), text.strip_prefix(MISSING)) {
            (Some(task), _) => task.parse().map(Self::Solver),
            (_, Some(task)) => task.parse().map(Self::Missing),
            _ => text.parse().map(Self::Store),
        }
    }
}

/// A task that was handed out. Unless it is extended, the task is handed out again after half a
/// minute.
pub trait Lease: Debug + Send + Sync + 'static {
    /// The task.
    fn task(&self) -> &Task;

    /// How often it was handed out, as far as the queue knows.
    fn deliveries(&self) -> u64;

    /// Begins the half minute anew.
    ///
    /// # Errors
    /// [`QueueError`].
    fn extend(&self) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Removes the task from the queue, for good.
    ///
    /// # Errors
    /// [`QueueError`]. The task may be handed out again.
    fn done(&self) -> impl Future<Output = Result<(), QueueError>> + Send;

    /// Gives the task back, to be handed out after a pause.
    ///
    /// # Errors
    /// [`QueueError`]. The task is handed out again after half a minute.
    fn release(&self, pause: Duration) -> impl Future<Output = Result<(), QueueError>> + Send;
}

/// Time after which a task is handed out again, unless its lease is extended or over.
pub(super) const LEASE_TIME: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 30 });

/// What a queue has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct QueueCounts {
    /// Tasks that wait for a worker.
    pub waiting: u64,
    /// Tasks that were handed out.
    pub leased: u64,
    /// Calls of [`Queue::take`] that wait for a task.
    pub takers: u64,
}

/// Why a queue cannot do something now.
#[derive(Debug, thiserror::Error)]
#[error("the queue: {0}")]
pub struct QueueError(#[source] Box<dyn Error + Send + Sync>);

impl QueueError {
    /// An error with this cause.
    pub(super) fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

#[cfg(test)]
pub(super) mod tests;
