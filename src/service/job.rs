//! The report of a search, and the reasons why a job has no report.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use taquin_solver::{Algorithm, Limits, SearchRequest, StopReason, WrongSolution};

/// A function that runs before each search, on the thread of the search. The function does not run before searches that
/// are answered at once. Tests use the function to make searches panic.
pub type BeforeSearchHook = fn(&SearchRequest);

/// The result of a search, with the additions of the service.
#[derive(Clone, Debug)]
pub struct Report {
    /// The result of the search by the solver.
    pub search: taquin_solver::Report,
    /// Percentage of boards with a shorter optimal solution, among all boards that can reach the goal. `None` if the
    /// solution is not optimal, or if the distribution of lengths is unknown for the metric, the shape and the blank's
    /// goal cell.
    pub percentile: Option<f64>,
    /// True if the search used weaker tables or another heuristic, because the usual tables were not available in time.
    pub tables_were_late: bool,
    /// Limits in force for the search.
    pub limits: Limits,
    /// Time without a worker. The time from the submission to the start of the search counts, and pauses count. The
    /// trial does not count.
    pub queued: Duration,
}

impl Deref for Report {
    type Target = taquin_solver::Report;

    fn deref(&self) -> &taquin_solver::Report {
        &self.search
    }
}

/// A report and its origin.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The report of the search.
    pub report: Arc<Report>,
    /// Origin of the report.
    pub origin: Origin,
}

impl Report {
    /// Creates the report of a search that started at once.
    pub fn new(search: taquin_solver::Report, limits: Limits) -> Self {
        Self { search, percentile: None, tables_were_late: false, limits, queued: Duration::ZERO }
    }

    /// All outcomes of jobs with a report, in the order of `outcome_index`.
    pub const OUTCOMES: [&str; 7] = [
        "solved",
        "solved by fallback",
        "stopped by time",
        "stopped by expanded",
        "stopped by nodes",
        "stopped by depth",
        "cancelled",
    ];

    /// Returns the outcome under its name in the log and the metrics.
    pub fn outcome(&self) -> &'static str {
        Self::OUTCOMES[self.outcome_index()]
    }

    pub(crate) fn outcome_index(&self) -> usize {
        match (self.search_stopped, self.stopped) {
            (None, _) => 0,
            // Anytime search always runs until a limit stops the search.
            (Some(_), None) if self.algorithm == Algorithm::Anytime => 0,
            // A limit stopped the search, and the report has the solution of the fallback.
            (Some(_), None) => 1,
            (Some(StopReason::Time), _) => 2,
            (Some(StopReason::Expanded), _) => 3,
            (Some(StopReason::Nodes), _) => 4,
            (Some(StopReason::Depth), _) => 5,
            (Some(StopReason::Cancelled), _) => 6,
        }
    }

    /// Returns the estimated memory, in bytes, of the report and of two copies of its request. The estimate includes
    /// their entries in a cache and in a list.
    pub(crate) fn bytes_with_request(&self) -> usize {
        2 * size_of::<SearchRequest>() + size_of::<Self>() + 256 + self.list_bytes()
    }

    /// Returns true if an equal job would have an equal report. A report is not repeatable if the time limit or a
    /// cancellation stopped the search, or if the tables were not available in time.
    pub fn is_repeatable(&self) -> bool {
        !self.tables_were_late && !matches!(self.search_stopped, Some(StopReason::Time | StopReason::Cancelled))
    }
}

/// The reason why a job has no report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no capacity for the job.
    #[error("overloaded: retry in {retry_after:?}")]
    Overloaded {
        /// Estimated time until a retry succeeds.
        retry_after: Duration,
        /// The resource that is used up.
        cause: Overload,
    },
    /// The pattern tables exceed the memory for tables.
    #[error("the tables need {bytes} bytes, more than is available for tables")]
    NoRoomForTables {
        /// Memory that the build of the tables needs, in bytes.
        bytes: u64,
    },
    /// Tables in use by other searches leave no memory for the job's tables.
    #[error("other tables use the memory for tables: retry in {retry_after:?}")]
    TablesWait {
        /// Time until other tables may be evicted.
        retry_after: Duration,
    },
    /// The memory for long responses is exhausted.
    #[error("no memory for another long response")]
    ReplyMemoryFull,
    /// The service is shutting down, or the grace period ended.
    #[error("shutting down")]
    ShuttingDown,
    /// The solution cannot be replayed, or is shorter than the proven bound. The cause is a bug or damaged memory.
    #[error(transparent)]
    WrongSolution(#[from] WrongSolution),
    /// A search or bulk work panicked. The cause is a bug.
    #[error("the search failed: {0}")]
    Failed(&'static str),
}

/// The resource that an overloaded service lacks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overload {
    /// The queue is full.
    QueueFull,
    /// The time limit of a search ran out in the queue.
    SearchWaited,
    /// The time limit of other work ran out in the queue.
    WorkWaited,
    /// The system refuses to create a thread.
    NoThread,
}

/// The way in which a job got its report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A search on the caller's thread. The job has its own log line only with `submit_logged`.
    AtOnce,
    /// A new search on the pool.
    Search,
    /// A running search of an equal job.
    Joined,
    /// A cache.
    Cached,
}
