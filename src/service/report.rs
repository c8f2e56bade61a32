//! The result of a job, and the reasons why it may have none.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::{Path, Tile};
use crate::search::{Algorithm, Expansion, HeuristicKind, Stats, StopReason, Weight};
use crate::service::job::{Job, Limits};

/// A replayed solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The moves.
    pub path: Path,
    /// The tile that slides at each move.
    pub tiles: Vec<Tile>,
}

/// What came of a job.
#[derive(Clone, Debug)]
pub struct Report {
    /// The solution, if there is one, even if it is not all that was required.
    pub solution: Option<Solution>,
    /// The limit that kept the search from what was required.
    pub stopped: Option<StopReason>,
    /// No solution is shorter.
    pub lower_bound: u32,
    /// The algorithm that found the solution or was stopped.
    pub algorithm: Algorithm,
    /// Its heuristic.
    pub heuristic: HeuristicKind,
    /// The weight of h, for weighted A*.
    pub weight: Weight,
    /// Its counters.
    pub stats: Stats,
    /// The first expansions, if asked for.
    pub expansions: Option<Vec<Expansion>>,
    /// The heuristic's value of each board along the solution, the start's first, if asked for.
    pub heights: Vec<u32>,
    /// The limit that stopped the search, even if there is a solution all the same.
    pub search_stopped: Option<StopReason>,
    /// Whether another heuristic had to do, since tables were not there in time.
    pub tables_were_late: bool,
    /// The limits that were in force.
    pub limits: Limits,
    /// From submission to the start of the search.
    pub queued: Duration,
    /// The search and the replay.
    pub elapsed: Duration,
}

/// A report, and where it comes from.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What came of the search.
    pub report: Arc<Report>,
    /// Whose search it was.
    pub origin: Origin,
}

impl Report {
    /// The ways in which a job ends.
    pub const OUTCOMES: [&str; 7] = [
        "solved",
        "solved by fallback",
        "stopped by time",
        "stopped by expanded",
        "stopped by nodes",
        "stopped by depth",
        "cancelled",
    ];

    /// How it ended, in the words of the log and the metrics.
    pub fn outcome(&self) -> &'static str {
        Self::OUTCOMES[self.outcome_index()]
    }

    pub(super) fn outcome_index(&self) -> usize {
        match (self.search_stopped, self.stopped) {
            (None, _) => 0,
            // It goes on until a limit stops it.
            (Some(_), None) if self.algorithm == Algorithm::Anytime => 0,
            // The search was stopped, and another solution had to do.
            (Some(_), None) => 1,
            (Some(StopReason::Time), _) => 2,
            (Some(StopReason::Expanded), _) => 3,
            (Some(StopReason::Nodes), _) => 4,
            (Some(StopReason::Depth), _) => 5,
            (Some(StopReason::Cancelled), _) => 6,
        }
    }

    /// Estimated memory of the report and of two copies of its job, with their entries in a cache and a list.
    pub(super) fn bytes_with_job(&self) -> usize {
        let path = self.solution.as_ref().map_or(0, |solution| 2 * solution.path.len());
        let expansions = self.expansions.as_ref().map_or(0, Vec::len) * (size_of::<Expansion>() + 32);
        2 * size_of::<Job>() + size_of::<Self>() + 256 + path + expansions + 4 * self.heights.len()
    }

    /// f of a board along the solution, by the algorithm's own evaluation.
    pub fn f(&self, g: u32, h: u32) -> f64 {
        let (g, h) = (f64::from(g), f64::from(h));
        match self.algorithm {
            Algorithm::GreedyBestFirst => h,
            Algorithm::WeightedAStar => g + h * f64::from(self.weight.hundredths()) / 100.0,
            _ => g + h,
        }
    }

    /// Whether the same question would have the same answer: time alone ends searches now here, now there.
    pub fn is_repeatable(&self) -> bool {
        !self.tables_were_late && !matches!(self.search_stopped, Some(StopReason::Time | StopReason::Cancelled))
    }

    /// Whether the solution is proven to be as short as any.
    pub fn is_optimal(&self) -> bool {
        self.solution.as_ref().is_some_and(|solution| solution.path.len() == self.lower_bound as usize)
    }
}

/// Why a job has no report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServiceError {
    /// No place in the queue, or the job's time ran out while it waited there.
    #[error("overloaded: try again in {retry_after:?}")]
    Overloaded {
        /// When a place is likely to be free.
        retry_after: Duration,
        /// Whether it waited in vain, rather than being refused at once.
        waited: bool,
    },
    /// The pattern tables that were asked for take more memory than there is for tables.
    #[error("the tables would take {bytes} bytes")]
    NoRoomForTables {
        /// Memory they would take while they are built.
        bytes: u64,
    },
    /// Long answers that clients have not yet taken leave no memory for another.
    #[error("no memory for another long answer")]
    RepliesWait,
    /// The house takes no more jobs, or gave this one up when its grace period ended.
    #[error("shutting down")]
    ShuttingDown,
    /// A bug: the search panicked or its solution did not replay.
    #[error("the search failed: {0}")]
    Failed(&'static str),
}

/// Where an answer comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// A search of its own.
    Search,
    /// A search that somebody else had asked for.
    Joined,
    /// It was kept.
    Kept,
}
