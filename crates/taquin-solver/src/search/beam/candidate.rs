//! Candidates for the next level of a beam.

use super::guide::{Guide, Score};
use crate::domain::Move;

/// A board of the next level, stored as its parent and move.
#[derive(Clone, Copy)]
pub(crate) struct Candidate<N> {
    /// Zobrist hash of the tiles' cells, relative to the start.
    pub hash: u64,
    pub note: N,
    pub priority: Priority,
    pub step: ParentMove,
}

/// Index of the parent in the level before, and the move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ParentMove(u32);

impl ParentMove {
    const MOVE_BITS: u32 = 2;
    /// Maximum number of boards in a level.
    pub(crate) const MAX_BOARDS: usize = 1 << (u32::BITS - Self::MOVE_BITS);

    pub(crate) fn new(parent: usize, mv: Move) -> Self {
        debug_assert!(parent < Self::MAX_BOARDS);
        Self((parent as u32) << Self::MOVE_BITS | mv as u32)
    }

    pub(crate) fn parent(self) -> usize {
        (self.0 >> Self::MOVE_BITS) as usize
    }

    pub(crate) fn mv(self) -> Move {
        Move::ALL[(self.0 & ((1 << Self::MOVE_BITS) - 1)) as usize]
    }
}

/// A score packed into 32 bits: the number of remaining stages in the upper 8, the key in the lower 24.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Priority(u32);

impl Priority {
    const KEY_BITS: u32 = 24;

    /// The priority of the start.
    pub(crate) fn of_start<P, G: Guide<P>>(score: Score) -> Self {
        Self::of(score.stages, score.key << G::TIE_BITS)
    }

    /// The priority of a successor. Among equal keys, successors of better boards come first, as far as the guide's
    /// bits tell.
    #[inline]
    pub(crate) fn of_successor<P, G: Guide<P>>(score: Score, parent: Self) -> Self {
        let key = score.key << G::TIE_BITS;
        if G::TIE_BITS == 0 {
            return Self::of(score.stages, key);
        }
        let ties = 1 << G::TIE_BITS;
        // Half of the ties if both keys are equal. A quarter of the parent's ties remains.
        let tie = ((parent.key() as i32 - key as i32) >> 2) + ties / 2;
        Self::of(score.stages, key + tie.clamp(0, ties - 1) as u32)
    }

    pub(crate) fn of(stages: u8, key: u32) -> Self {
        debug_assert!(key < 1 << Self::KEY_BITS);
        Self(u32::from(stages) << Self::KEY_BITS | key)
    }

    /// Number of remaining stages.
    pub(crate) fn stages(self) -> u8 {
        (self.0 >> Self::KEY_BITS) as u8
    }

    pub(crate) fn key(self) -> u32 {
        self.0 & ((1 << Self::KEY_BITS) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::guide::HeuristicGuide;
    use super::*;
    use crate::domain::Packed64;
    use crate::search::heuristic::Zero;

    type Heuristic = HeuristicGuide<'static, Zero>;

    fn successor(key: u32, parent: Priority) -> Priority {
        Priority::of_successor::<Packed64, Heuristic>(Score { stages: 0, key, least: key }, parent)
    }

    /// Keys decide, then the parents, then their parents.
    #[test]
    fn ties_go_by_the_parent() {
        let [better, worse] =
            [30, 31].map(|key| Priority::of_start::<Packed64, Heuristic>(Score { stages: 0, key, least: key }));
        assert!(successor(30, worse).key() < successor(31, better).key());
        assert!(successor(30, better).key() < successor(30, worse).key());
        let [of_better, of_worse] = [better, worse].map(|parent| successor(30, parent));
        for key in [29, 30, 31] {
            assert!(successor(key, of_better).key() < successor(key, of_worse).key());
        }
    }
}
