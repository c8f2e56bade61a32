//! The label of a board, and the limits of its search.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use taquin_solver::heuristic::DistanceTable;
use taquin_solver::search::Helpers;
use taquin_solver::{Distance, Limits, MoveSet, Path, Plan, Puzzle, Size, WrongSolution, named};

/// Kind of the labels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Want {
    /// The optimal length.
    #[default]
    Length,
    /// An optimal solution.
    Moves,
    /// The optimal length, and all first moves of optimal solutions.
    Next,
    /// A lower bound by linear conflict and the length of a constructed solution, without a search. Where a distance
    /// table exists, both are the optimal length.
    Bounds,
    /// The optimal length, and the number of nodes that the search expanded.
    Expanded,
}

named!(Want {
    Length => "length",
    Moves => "moves",
    Next => "next",
    Bounds => "bounds",
    Expanded => "expanded",
});

impl Want {
    /// Returns true if boards of this size can be labelled: first moves need proven distances.
    pub fn serves(self, size: Size) -> bool {
        self != Self::Next || Plan::is_proven_by_auto(size)
    }

    /// Returns true if the labels need pattern tables, which take seconds to build. Bounds need no tables.
    pub fn uses_tables(self, size: Size) -> bool {
        self != Self::Bounds || DistanceTable::serves(size)
    }
}

/// The label of a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Proven lower bound on the optimal length, in moves of one tile.
    pub lower_bound: u32,
    /// Length of the shortest solution found, in moves of one tile.
    pub length: u32,
    /// All first moves of optimal solutions, for [`Want::Next`]; none at the goal. `None` if a limit ended the search.
    pub next: Option<MoveSet>,
    /// Nodes that the search expanded, for [`Want::Expanded`].
    pub expanded: Option<u64>,
    /// The solution, for [`Want::Moves`].
    pub path: Option<Path>,
}

impl Label {
    /// Returns true if the length is proven optimal.
    pub fn is_optimal(&self) -> bool {
        self.length == self.lower_bound
    }

    pub(crate) fn of(distance: Distance) -> Self {
        let Distance { lower_bound, upper_bound, .. } = distance;
        Self { lower_bound, length: upper_bound, next: None, expanded: None, path: None }
    }
}

/// Why a board has no label.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LabelError {
    /// A cancel flag is set.
    #[error("cancelled")]
    Cancelled,
    /// The solution is illegal or shorter than a proven lower bound, because of a bug or damaged memory.
    #[error(transparent)]
    WrongSolution(#[from] WrongSolution),
    /// The search panicked, which is a bug.
    #[error("the search failed: a search panicked")]
    Panicked,
    /// The search ended without a solution, which is a bug.
    #[error("the search failed: there is no solution")]
    NoSolution,
}

/// Limits of a request; absent ones take the defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestedLimits {
    /// Time from submission to the end of the search.
    pub time: Option<Duration>,
    /// Maximum number of expanded nodes.
    pub expanded: Option<u64>,
    /// Maximum number of nodes in memory.
    pub nodes: Option<u64>,
}

impl RequestedLimits {
    /// Fills absent limits from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            time: self.time.or(other.time),
            expanded: self.expanded.or(other.expanded),
            nodes: self.nodes.or(other.nodes),
        }
    }
}

/// Limits for each board of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LabelLimits {
    /// The requested limits. Boards of more than 16 cells have a time limit by default.
    pub requested: RequestedLimits,
    /// Maximum time for a board; caps the requested time.
    pub most_time: Duration,
    /// Memory for the nodes of a search, in bytes.
    pub memory: u64,
}

impl LabelLimits {
    /// Default time limit of a board above 16 cells. The search improves solutions until the limit.
    pub const TIME_OF_LARGE_BOARDS: Duration = Duration::from_millis(100);

    /// Creates limits without a cap on the requested time.
    pub fn of(requested: RequestedLimits, memory: u64) -> Self {
        Self { requested, most_time: Duration::MAX, memory }
    }

    /// Limits of a search with this plan. `nodes` is the number of nodes that fit in memory.
    pub(crate) fn of_search(&self, plan: &Plan, nodes: u64) -> Limits {
        let Self { requested, most_time, .. } = *self;
        let default = plan.uses_all_time().then_some(Self::TIME_OF_LARGE_BOARDS);
        Limits {
            time: requested.time.or(default).unwrap_or(Duration::MAX).min(most_time),
            expanded: requested.expanded.unwrap_or(u64::MAX),
            nodes: requested.nodes.unwrap_or(u64::MAX).min(nodes),
        }
    }
}

/// Hooks that pause or stop the labelling, and an observer of failures.
#[derive(Clone, Copy, Debug, Default)]
pub struct LabelControl<'a> {
    /// Labelling stops when any of these flags is set.
    pub cancel: &'a [&'a AtomicBool],
    /// Pauses the thread for more important work, between boards and during searches.
    pub helpers: Option<&'a dyn Helpers>,
    /// Observes failed searches.
    pub failures: Option<&'a dyn FailureObserver>,
}

impl LabelControl<'_> {
    /// Returns true if a cancel flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.iter().any(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Observes failed searches. Each failure is a bug or damaged memory.
pub trait FailureObserver: Debug + Send + Sync {
    /// Reports a board without a label, because of `error`.
    fn failed(&self, puzzle: &Puzzle, error: LabelError);
}

/// Ignores failures.
impl FailureObserver for () {
    fn failed(&self, _: &Puzzle, _: LabelError) {}
}
