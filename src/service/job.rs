//! The report of a search, and the reasons why there is none.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use taquin_solver::{Algorithm, Limits, SearchRequest, StopReason, WrongSolution};

/// A function that is called before each search, on the thread of the search, except for searches that are answered at
/// once. Tests use the function to make searches panic.
pub type BeforeSearchHook = fn(&SearchRequest);

/// The result of a search, with the service's additions.
#[derive(Clone, Debug)]
pub struct Report {
    /// The result of the search.
    pub search: taquin_solver::Report,
    /// Percentage of boards with a shorter optimal solution, among all boards that can reach the goal. Known only if
    /// the solution is optimal in single-tile moves, and the distribution of lengths is known for the shape and the
    /// goal cell of the blank.
    pub percentile: Option<f64>,
    /// True if weaker tables or another heuristic were used, because the usual tables were not available in time.
    pub tables_were_late: bool,
    /// Limits in force.
    pub limits: Limits,
    /// Time without a worker: from the submission to the start of the search, apart from the trial, and in pauses.
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
    /// The result of the search.
    pub report: Arc<Report>,
    /// Origin of the report.
    pub origin: Origin,
}

impl Report {
    /// The report of a search that started at once.
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

    /// Outcome, as in the log and the metrics.
    pub fn outcome(&self) -> &'static str {
        Self::OUTCOMES[self.outcome_index()]
    }

    pub(crate) fn outcome_index(&self) -> usize {
        match (self.search_stopped, self.stopped) {
            (None, _) => 0,
            // Anytime search runs until a limit stops it.
            (Some(_), None) if self.algorithm == Algorithm::Anytime => 0,
            // The search was stopped, and the fallback is the solution.
            (Some(_), None) => 1,
            (Some(StopReason::Time), _) => 2,
            (Some(StopReason::Expanded), _) => 3,
            (Some(StopReason::Nodes), _) => 4,
            (Some(StopReason::Depth), _) => 5,
            (Some(StopReason::Cancelled), _) => 6,
        }
    }

    /// Estimated memory, in bytes, of the report and of two copies of its request, with their entries in a cache and a
    /// list.
    pub(crate) fn bytes_with_request(&self) -> usize {
        2 * size_of::<SearchRequest>() + size_of::<Self>() + 256 + self.list_bytes()
    }

    /// True if an equal job would have an equal report. A report is not repeatable if the time limit or a cancellation
    /// stopped the search, or if the tables were late.
    pub fn is_repeatable(&self) -> bool {
        !self.tables_were_late && !matches!(self.search_stopped, Some(StopReason::Time | StopReason::Cancelled))
    }
}

/// Reason why a job has no report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServiceError {
    /// There is no capacity for the job.
    #[error("overloaded: retry in {retry_after:?}")]
    Overloaded {
        /// Estimated time until a retry succeeds.
        retry_after: Duration,
        /// The lacking resource.
        cause: Overload,
    },
    /// The pattern tables exceed the memory for tables.
    #[error("the tables need {bytes} bytes, more than is available for tables")]
    NoRoomForTables {
        /// Memory of the tables during their build.
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
    /// The solution did not replay, or is shorter than the proven bound: a bug, or damaged memory.
    #[error(transparent)]
    WrongSolution(#[from] WrongSolution),
    /// A bug: a search or bulk work panicked.
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
    /// The time of other work ran out in the queue.
    WorkWaited,
    /// The system refuses to create a thread.
    NoThread,
}

/// Origin of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A search on the caller's thread. The search has no log line of its own, except with `submit_logged`.
    AtOnce,
    /// A new search.
    Search,
    /// A running search for an equal job.
    Joined,
    /// A cache.
    Cached,
}
