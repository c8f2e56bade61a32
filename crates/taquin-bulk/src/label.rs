//! The label of a board, and the limits of its search.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use taquin_solver::heuristic::DistanceTable;
use taquin_solver::search::Helpers;
use taquin_solver::{Distance, Limits, MoveSet, Path, Plan, Puzzle, Size, WrongSolution, named};

/// Kind of the labels. If a limit ends a search, the label has the shortest solution found, which may not be optimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Want {
    /// The optimal length.
    #[default]
    Length,
    /// An optimal solution.
    Moves,
    /// The optimal length, and all first moves of optimal solutions.
    Next,
    /// A lower bound by linear conflict, and the length of a constructed solution. No search runs. For shapes with a
    /// distance table, both bounds equal the optimal length.
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
    /// Returns true if boards of this size can have labels of this kind. [`Want::Next`] needs a size on which searches
    /// prove optimal lengths. The other kinds serve all sizes.
    pub fn serves(self, size: Size) -> bool {
        self != Self::Next || Plan::is_proven_by_auto(size)
    }

    /// Returns true if labels of this kind may need tables for boards of this size. [`Want::Bounds`] uses only distance
    /// tables, which exist for boards of at most 9 cells. For the other kinds, this function always returns true.
    pub fn uses_tables(self, size: Size) -> bool {
        self != Self::Bounds || DistanceTable::serves(size)
    }
}

/// The label of a board.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Label {
    /// Proven lower bound on the optimal length, in moves of one tile.
    pub lower_bound: u32,
    /// Length of the shortest solution found, in moves of one tile.
    pub length: u32,
    /// All first moves of optimal solutions, for [`Want::Next`]. The set is empty if the board is the goal. `None` if a
    /// limit ended one of the searches for the label, and for other kinds of labels.
    pub next: Option<MoveSet>,
    /// Number of nodes that the search expanded, for [`Want::Expanded`]; `None` for other kinds of labels.
    pub expanded: Option<u64>,
    /// Number of nodes that the search generated, for [`Want::Expanded`]; `None` for other kinds of labels. Files of
    /// labels do not have this number.
    pub generated: Option<u64>,
    /// The solution, for [`Want::Moves`] and [`Want::Expanded`]; `None` for other kinds of labels. For
    /// [`Want::Expanded`], files of labels do not have the solution.
    pub path: Option<Path>,
}

impl Label {
    /// Returns true if the length is proven optimal.
    pub fn is_optimal(&self) -> bool {
        self.length == self.lower_bound
    }

    pub(crate) fn of(distance: Distance) -> Self {
        let Distance { lower_bound, upper_bound, .. } = distance;
        Self { lower_bound, length: upper_bound, ..Self::default() }
    }
}

/// The reason why a board has no label.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LabelError {
    /// A cancel flag stopped the search.
    #[error("cancelled")]
    Cancelled,
    /// The solution is illegal, or shorter than a proven lower bound. The cause is a bug or damaged memory.
    #[error(transparent)]
    WrongSolution(#[from] WrongSolution),
    /// The search panicked. The cause is a bug.
    #[error("the search failed: a search panicked")]
    Panicked,
    /// The search ended without a solution. The cause is a bug.
    #[error("the search failed: there is no solution")]
    NoSolution,
}

/// Limits that a request sets for each search. If a limit is `None`, the default depends on the kind of the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestedLimits {
    /// Maximum time of a search. For a single search, the time begins at the submission. In a batch, the time of each
    /// search begins at the start of the search.
    pub time: Option<Duration>,
    /// Maximum number of expanded nodes.
    pub expanded: Option<u64>,
    /// Maximum number of nodes in memory.
    pub nodes: Option<u64>,
}

impl RequestedLimits {
    /// Returns these limits, with each absent limit taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            time: self.time.or(other.time),
            expanded: self.expanded.or(other.expanded),
            nodes: self.nodes.or(other.nodes),
        }
    }
}

/// Limits of each search of a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LabelLimits {
    /// The requested limits. On boards of more than 16 cells, an absent time limit is
    /// [`LabelLimits::TIME_OF_LARGE_BOARDS`]. Any other absent limit means no limit except `most_time` and `memory`.
    pub requested: RequestedLimits,
    /// Maximum time of a search. This time caps the requested time and the default time.
    pub most_time: Duration,
    /// Maximum memory of a search without its tables, in bytes. The memory limits the number of nodes.
    pub memory: u64,
}

impl LabelLimits {
    /// Default time limit of a search on a board of more than 16 cells. Until the limit, the search improves its
    /// solution, unless the solution is proven optimal.
    pub const TIME_OF_LARGE_BOARDS: Duration = Duration::from_millis(100);

    /// Creates limits that do not cap the requested time. `memory` is the maximum memory of a search without its
    /// tables, in bytes.
    pub fn of(requested: RequestedLimits, memory: u64) -> Self {
        Self { requested, most_time: Duration::MAX, memory }
    }

    /// Returns the limits of a search with this plan. `nodes` is the node limit that follows from the memory. This
    /// limit may be less than the number of nodes that fit into the memory.
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
    /// Flags that cancel the labelling. The labelling stops once one of the flags is set.
    pub cancel: &'a [&'a AtomicBool],
    /// Pauses the labelling while more important work waits. Pauses occur between boards and during searches. Idle
    /// threads may help a search. `None` if the labelling never pauses and gets no help.
    pub helpers: Option<&'a dyn Helpers>,
    /// Receives each failed search of the function `label_rows`; `None` if failures are ignored.
    pub failures: Option<&'a dyn FailureObserver>,
}

impl LabelControl<'_> {
    /// Returns true if a cancel flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.iter().any(|flag| flag.load(Ordering::Relaxed))
    }
}

/// An observer of failed searches. The cause of each failure is a bug or damaged memory.
pub trait FailureObserver: Debug + Send + Sync {
    /// Receives a board that has no label, and the error of the board's search.
    fn failed(&self, puzzle: &Puzzle, error: LabelError);
}

/// Ignores failures.
impl FailureObserver for () {
    fn failed(&self, _: &Puzzle, _: LabelError) {}
}
