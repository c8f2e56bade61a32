//! Heuristics: estimates of the remaining moves.
//!
//! All heuristics name tiles by their goal cells ([`Space`](super::Space)), so each serves any goal.

mod exact_distance;
mod gaschnig;
mod hamming;
mod inversion_distance;
mod kind;
mod linear_conflict;
mod manhattan;
mod part;
pub(crate) mod pattern;
mod walking_distance;

pub use exact_distance::{DistanceTable, ExactDistance};
pub use gaschnig::Gaschnig;
pub use hamming::Hamming;
pub use inversion_distance::InversionDistance;
pub use kind::HeuristicKind;
pub use linear_conflict::LinearConflict;
pub use manhattan::Manhattan;
pub use part::{Line, Part, PartOf};
pub use pattern::{
    AdditivePatterns, Costs, DisjointCosts, DisjointPatterns, Geometry, GoalClass, HugeVec, LargeAdditivePatterns,
    LargeCosts, LargeSums, Partition, PatternFault, PatternReason, PatternTable, PatternUse, Patterns, Symmetry,
    TableUpgrade, Tier, TilePatterns,
};
pub use walking_distance::{WalkingDistance, WalkingShape, WalkingTable};

use super::{Slide, State};
use crate::domain::Move;

/// An estimate of the moves from a board to the goal.
///
/// Implementations provide two operations that must agree: evaluating a board, and updating the memo after a move.
pub trait Heuristic<P>: Sync {
    /// Data kept with a board, from which h and the memo of a successor follow cheaply.
    type Memo: Copy + Send + Sync;

    /// True if h never exceeds the true distance.
    const ADMISSIBLE: bool;

    /// True if h is the true distance, and [`nearer`](Self::nearer) returns a move on every board except the goal.
    const PERFECT: bool = false;

    /// The memo of a board.
    fn evaluate(&self, state: &State<P>) -> Self::Memo;

    /// The memo after a slide, given the memo before it. `state` is the board after the slide.
    fn after(&self, memo: Self::Memo, slide: &Slide, state: &State<P>) -> Self::Memo;

    /// The memo after a slide, if h is at most `limit`.
    ///
    /// # Errors
    /// A number above `limit` that is at most h.
    #[inline]
    fn after_within(&self, memo: Self::Memo, slide: &Slide, state: &State<P>, limit: i32) -> Result<Self::Memo, u32> {
        let after = self.after(memo, slide, state);
        let h = self.h(after);
        if i64::from(h) <= i64::from(limit) { Ok(after) } else { Err(h) }
    }

    /// The estimate, in moves.
    fn h(&self, memo: Self::Memo) -> u32;

    /// The parts of the estimate of a board, whose costs add up to h.
    fn parts(&self, state: &State<P>) -> Vec<Part>;

    /// Of the moves that lead nearer to the goal, the last in successor order. `None` if the heuristic is not
    /// [perfect](Self::PERFECT).
    fn nearer(&self, _: Self::Memo) -> Option<Move> {
        None
    }
}

/// The zero heuristic. With it, best-first search is uniform-cost search.
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

    fn parts(&self, _: &State<P>) -> Vec<Part> {
        Vec::new()
    }
}

/// The sum of two heuristics. It is not admissible even if both are.
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

    fn parts(&self, state: &State<P>) -> Vec<Part> {
        let mut parts = self.0.parts(state);
        parts.extend(self.1.parts(state));
        parts
    }
}
