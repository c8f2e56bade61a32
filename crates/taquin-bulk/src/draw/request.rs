//! Requests for random boards, and the boards that answer them.

use std::ops::RangeInclusive;

use taquin_solver::tables::SmallTables;
use taquin_solver::{Board, Distance, named};

/// The distribution from which a random board is drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum Draw {
    /// Uniform distribution over all boards with this solvability.
    Uniform(Solvability),
    /// The end of a random walk.
    Walk(Walk),
    /// Boards whose optimal length is in the range. [`DrawnBoard::is_uniform`] tells whether all of these boards are
    /// equally likely.
    Length(RangeInclusive<u32>),
    /// Boards whose percentile is in the range. Otherwise like [`Length`](Self::Length).
    Percentile(RangeInclusive<f64>),
}

/// Tells whether the goal can be reached from a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Solvability {
    /// The goal can be reached.
    #[default]
    Solvable,
    /// The goal cannot be reached.
    Unsolvable,
    /// The goal may or may not be reachable.
    Any,
}

named!(Solvability { Solvable => "true", Unsolvable => "false", Any => "any" });

/// A random walk.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Walk {
    /// Number of moves of the walk.
    pub moves: u32,
    /// True if a move may undo the move before.
    pub turns_back: bool,
    /// Start of the walk; `None` to start at the goal.
    pub from: Option<Board>,
}

/// The seeds of a list of boards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seeds {
    /// Each seed draws a board of the list.
    Each(Vec<String>),
    /// The seeds are `seed/0`, `seed/1` and so on. A seed is left out if its board is already in the list.
    Distinct {
        /// The seed without an index.
        seed: String,
        /// Number of boards.
        count: usize,
    },
}

impl Seeds {
    /// The seeds `seed/0`, `seed/1` and so on, as in a [`Recipe`](crate::Recipe). Boards may be equal.
    pub fn numbered(seed: &str, count: usize) -> Self {
        Self::Each((0..count).map(|index| format!("{seed}/{index}")).collect())
    }

    /// Returns the number of boards that must be distinct. Returns `None` if boards may be equal.
    pub(super) fn distinct(&self) -> Option<usize> {
        match self {
            Self::Each(_) => None,
            Self::Distinct { count, .. } => Some(*count),
        }
    }

    /// Returns the number of boards.
    pub fn count(&self) -> usize {
        match self {
            Self::Each(seeds) => seeds.len(),
            Self::Distinct { count, .. } => *count,
        }
    }
}

/// A random board and its distance.
#[derive(Clone, PartialEq, Debug)]
pub struct DrawnBoard {
    /// The seed that draws the board.
    pub seed: String,
    /// The board that was drawn.
    pub board: Board,
    /// Bounds on the optimal length of the board; `None` if the goal cannot be reached.
    pub distance: Option<Distance>,
    /// [Percentile](Distance::percentile) of the board; `None` if unknown.
    pub percentile: Option<f64>,
    /// True if all boards that satisfy the request are equally likely.
    pub is_uniform: bool,
}

impl DrawnBoard {
    pub(super) fn new(board: Board, distance: Option<Distance>, goal: &Board, tables: &SmallTables) -> Self {
        let percentile = distance.and_then(|distance| distance.percentile(goal, tables));
        Self { seed: String::new(), board, distance, percentile, is_uniform: true }
    }

    pub(super) fn uniform(self, is_uniform: bool) -> Self {
        Self { is_uniform, ..self }
    }
}
