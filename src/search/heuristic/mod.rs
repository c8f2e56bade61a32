//! Heuristics: estimates of the moves that are left.
//!
//! All of them see boards through goal cells ([`Space`](super::Space)), so each serves any goal.

mod exact_distance;
mod gaschnig;
mod hamming;
mod inversion_distance;
mod kind;
mod linear_conflict;
mod manhattan;
pub(in crate::search) mod pattern;
mod walking_distance;

pub use exact_distance::{DistanceTable, PatternDatabase};
pub use gaschnig::Gaschnig;
pub use hamming::Hamming;
pub use inversion_distance::InversionDistance;
pub use kind::HeuristicKind;
pub use linear_conflict::LinearConflict;
pub use manhattan::Manhattan;
pub use pattern::{
    AdditivePatterns, Costs, Geometry, GoalClass, Partition, PatternTable, Patterns, Symmetry, Tier, WideCosts,
    WidePatterns,
};
pub use walking_distance::{WalkingDistance, WalkingShape, WalkingTable};

use super::{Slide, State};
use crate::domain::Move;

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

    /// The estimate, in moves.
    fn h(&self, memo: Self::Memo) -> u32;

    /// The last move, in successor order, of those that lead nearer to the goal, if the heuristic knows.
    fn nearer(&self, _: Self::Memo) -> Option<Move> {
        None
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
