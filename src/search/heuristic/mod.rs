//! Heuristics: estimates of the moves that are left.
//!
//! All of them see boards through goal cells ([`Space`]), so each serves any goal.

mod exact_distance;
mod gaschnig;
mod hamming;
mod inversion_distance;
mod linear_conflict;
mod manhattan;
pub(in crate::search) mod pattern;
mod walking_distance;

pub use exact_distance::{DistanceTable, PatternDatabase};
pub use gaschnig::Gaschnig;
pub use hamming::Hamming;
pub use inversion_distance::InversionDistance;
pub use linear_conflict::LinearConflict;
pub use manhattan::Manhattan;
pub use pattern::{
    AdditivePatterns, Costs, Geometry, GoalClass, Partition, PatternTable, Patterns, Symmetry, Tier, WideBoard,
    WideCosts, WidePatterns,
};
pub use walking_distance::{WalkingDistance, WalkingShape, WalkingTable};

use super::algorithm::named;
use super::{Budget, Outcome, Slide, Space, State};
use crate::domain::{Move, Size};

/// An estimate of the moves from a board to the goal.
///
/// Two operations that must agree: *evaluate* a board, and follow one move *after* it.
pub trait Heuristic<P>: Sync {
    /// What is remembered of a board so that the next one is cheap; holds at least h.
    type Memo: Copy + Send + Sync;

    /// Whether h never exceeds the true distance.
    const ADMISSIBLE: bool;

    /// Whether h is the true distance, and the way [nearer](Self::nearer) is known.
    const PERFECT: bool = false;

    /// Whether [`ida_star`](super::ida_star) refuses all moves that a [`MoveAutomaton`](super::MoveAutomaton) knows to lead
    /// nowhere new, or those straight back alone, as in the paper whose counts people compare.
    const PRUNES: bool = false;

    /// From scratch.
    fn evaluate(&self, state: &State<P>) -> Self::Memo;

    /// From the memo of the board before a slide; `state` is the board after it.
    fn after(&self, memo: Self::Memo, slide: &Slide, state: &State<P>) -> Self::Memo;

    /// The memo after a slide if h is no more than `limit`, or else a number above it that h is at
    /// least.
    ///
    /// # Errors
    /// That number.
    #[inline]
    fn after_within(&self, memo: Self::Memo, slide: &Slide, state: &State<P>, limit: i32) -> Result<Self::Memo, u32> {
        let after = self.after(memo, slide, state);
        let h = self.h(after);
        if i64::from(h) <= i64::from(limit) { Ok(after) } else { Err(h) }
    }

    /// [`ida_star`](super::ida_star) with this heuristic, where it has a way of its own that is faster
    /// and tells of no expansions; no solution is shorter than `_proven`.
    fn ida_star(&self, _: &Space<P>, _proven: u32, _: &Budget<'_>) -> Option<Outcome> {
        None
    }

    /// The estimate, in moves.
    fn h(&self, memo: Self::Memo) -> u32;

    /// The last move, in successor order, of those that lead nearer to the goal, if the heuristic knows.
    fn nearer(&self, _: Self::Memo) -> Option<Move> {
        None
    }
}

/// A heuristic by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HeuristicKind {
    /// 0: no estimate.
    Zero,
    /// Tiles out of place.
    Hamming,
    /// Tiles out of place, the blank counted as one.
    MisplacedWithBlank,
    /// Rows and columns between each tile and its place.
    Manhattan,
    /// The sum of the two that its name says.
    ManhattanPlusHamming,
    /// Moves of a puzzle in which any tile may jump into the blank (Gaschnig 1979).
    Gaschnig,
    /// Moves it takes at least to undo the inversions, by rows and by columns.
    InversionDistance,
    /// Manhattan, and two more for each tile that must leave its line (Hansson, Mayer & Yung 1992).
    LinearConflict,
    /// Moves that sort tiles into their rows, and into their columns (Takahashi 2002).
    WalkingDistance,
    /// A table of exact distances (after Culberson & Schaeffer 1998), or the sum of disjoint patterns'
    /// (Korf & Felner 2002).
    PatternDatabase,
}

named!(HeuristicKind {
    Zero => "zero",
    Hamming => "hamming",
    MisplacedWithBlank => "misplaced_with_blank",
    Manhattan => "manhattan",
    ManhattanPlusHamming => "manhattan_plus_hamming",
    Gaschnig => "gaschnig",
    InversionDistance => "inversion_distance",
    LinearConflict => "linear_conflict",
    WalkingDistance => "walking_distance",
    PatternDatabase => "pattern_database",
});

impl HeuristicKind {
    /// Whether it never exceeds the true distance.
    pub fn is_admissible(self) -> bool {
        !matches!(self, Self::MisplacedWithBlank | Self::ManhattanPlusHamming)
    }

    /// Whether it never drops by more than 1 along a move.
    pub fn is_consistent(self) -> bool {
        self.is_admissible()
    }

    /// Whether it can be had for boards of this shape.
    pub fn serves(self, size: Size) -> bool {
        match self {
            Self::WalkingDistance => WalkingTable::serves(size),
            Self::PatternDatabase => DistanceTable::serves(size) || GoalClass::serves(size),
            _ => true,
        }
    }
}

/// The zero heuristic, with which best-first search is uniform-cost search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zero;

impl<P> Heuristic<P> for Zero {
    type Memo = ();

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, _: &State<P>) {}

    #[inline]
    fn after(&self, (): (), _: &Slide, _: &State<P>) {}

    #[inline]
    fn h(&self, (): ()) -> u32 {
        0
    }
}

/// The sum of two heuristics, which is not admissible even if both are.
#[derive(Clone, Debug)]
pub struct Sum<A, B>(pub A, pub B);

impl<P, A: Heuristic<P>, B: Heuristic<P>> Heuristic<P> for Sum<A, B> {
    type Memo = (A::Memo, B::Memo);

    const ADMISSIBLE: bool = false;

    fn evaluate(&self, state: &State<P>) -> Self::Memo {
        (self.0.evaluate(state), self.1.evaluate(state))
    }

    #[inline]
    fn after(&self, memo: Self::Memo, slide: &Slide, state: &State<P>) -> Self::Memo {
        (self.0.after(memo.0, slide, state), self.1.after(memo.1, slide, state))
    }

    #[inline]
    fn h(&self, memo: Self::Memo) -> u32 {
        self.0.h(memo.0) + self.1.h(memo.1)
    }
}
