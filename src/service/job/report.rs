//! The result of a job, or the error instead of one.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::{Metric, Path, Tile};
use crate::search::heuristic::Tier;
use crate::search::{
    Algorithm, Expansions, GeneratedNodes, HeuristicKind, IterationCounts, OptimalPaths, Stats, StopReason, Weight,
};
use crate::service::job::{Job, Limits};

/// A replayed solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// Moves from the start to the goal.
    pub path: Path,
    /// The tile that slides at each move.
    pub tiles: Vec<Tile>,
}

/// The result of a job.
#[derive(Clone, Debug)]
pub struct Report {
    /// The solution, if any, even if it is not proven optimal as required.
    pub solution: Option<Solution>,
    /// The limit that left the requirement unmet.
    pub stopped: Option<StopReason>,
    /// How the length of the solution and the lower bound are counted.
    pub metric: Metric,
    /// Proven lower bound on the solution length.
    pub lower_bound: u32,
    /// Share of the boards that can reach the goal with fewer moves than the optimal length, in percent. Known if the
    /// solution is optimal and so is the distribution of lengths for the shape and the blank's goal cell. The worker
    /// pool adds it.
    pub percentile: Option<f64>,
    /// The algorithm that found the solution or was stopped.
    pub algorithm: Algorithm,
    /// The heuristic of that algorithm.
    pub heuristic: HeuristicKind,
    /// The strongest pattern tables that were used, if any, also by a search whose solution was replaced.
    pub tables: Option<Tier>,
    /// Weight of h, for weighted A*.
    pub weight: Weight,
    /// Counters of the search.
    pub stats: Stats,
    /// The first expansions, if requested.
    pub expansions: Option<Expansions>,
    /// The first generated nodes, if requested.
    pub generated: Option<GeneratedNodes>,
    /// The iterations, if requested.
    pub iterations: Option<Vec<IterationCounts>>,
    /// All optimal solutions, if requested.
    pub solutions: Option<OptimalPaths>,
    /// True if the optimal length is proven, but a limit ended the search for all solutions.
    pub lacks_solutions: bool,
    /// Heuristic value of each board along the solution, from the start, if requested.
    pub heights: Vec<u32>,
    /// The limit that stopped the search, even if there is a solution.
    pub search_stopped: Option<StopReason>,
    /// True if weaker tables or another heuristic were used because the tables were not loaded in time.
    pub tables_were_late: bool,
    /// Limits in force.
    pub limits: Limits,
    /// Time from submission to the start of the search, and paused time.
    pub queued: Duration,
    /// Time of the search and the replay.
    pub elapsed: Duration,
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
    /// All outcomes of jobs.
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

    /// Estimated memory of the report and of two copies of its job, with their entries in a cache and a list.
    pub(crate) fn bytes_with_job(&self) -> usize {
        let path = self.solution.as_ref().map_or(0, |solution| 2 * solution.path.len());
        let expansions = self.expansions.as_ref().map_or(0, Expansions::bytes);
        let generated = self.generated.as_ref().map_or(0, GeneratedNodes::bytes);
        let iterations = self.iterations.as_ref().map_or(0, Vec::capacity) * size_of::<IterationCounts>();
        let solutions = self
            .solutions
            .as_ref()
            .map_or(0, |solutions| solutions.paths.iter().map(|path| size_of::<Path>() + path.len()).sum());
        let lists = path + solutions + expansions + generated + iterations + 4 * self.heights.len();
        2 * size_of::<Job>() + size_of::<Self>() + 256 + lists
    }

    /// f of a board along the solution, as the algorithm computes it.
    pub fn f(&self, g: u32, h: u32) -> f64 {
        let (g, h) = (f64::from(g), f64::from(h));
        match self.algorithm {
            Algorithm::GreedyBestFirst => h,
            Algorithm::WeightedAStar => g + h * f64::from(self.weight.hundredths()) / 100.0,
            _ => g + h,
        }
    }

    /// True if an equal job would have an equal report. Searches that their time limit stopped are not repeatable.
    pub fn is_repeatable(&self) -> bool {
        !self.tables_were_late && !matches!(self.search_stopped, Some(StopReason::Time | StopReason::Cancelled))
    }

    /// True if the solution is proven optimal.
    pub fn is_optimal(&self) -> bool {
        self.length().is_some_and(|length| length == self.lower_bound as usize)
    }

    /// Length of the solution.
    pub fn length(&self) -> Option<usize> {
        self.solution.as_ref().map(|solution| solution.path.length(self.metric))
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
        /// What is lacking.
        cause: Overload,
    },
    /// The pattern tables exceed the memory for tables.
    #[error("the tables need {bytes} bytes, more than is available for tables")]
    NoRoomForTables {
        /// Memory of the tables during their build.
        bytes: u64,
    },
    /// The tables that other searches use leave no memory for those of the job.
    #[error("other tables use the memory for tables: retry in {retry_after:?}")]
    TablesWait {
        /// Time until the others may be evicted.
        retry_after: Duration,
    },
    /// The memory for long responses is exhausted.
    #[error("no memory for another long response")]
    ReplyMemoryFull,
    /// The service is shutting down, or the grace period ended.
    #[error("shutting down")]
    ShuttingDown,
    /// The solution did not replay, or is shorter than the proven bound: a bug, or damaged memory.
    #[error("a solution does not replay or is shorter than proven possible")]
    WrongSolution,
    /// A bug: the search panicked.
    #[error("the search failed: {0}")]
    Failed(&'static str),
}

/// What an overloaded service lacks.
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
    /// A new search.
    Search,
    /// A running search for an equal job.
    Joined,
    /// A cache.
    Cached,
}
