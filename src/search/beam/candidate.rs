//! Boards that a beam may go on with.

use super::guide::Promise;
use crate::domain::Move;

/// A board that may be gone on with, by the board that it comes of.
#[derive(Clone, Copy)]
pub(super) struct Candidate<M> {
    /// Of the places of all tiles, against those of the start.
    pub(super) hash: u64,
    pub(super) memo: M,
    pub(super) rank: Rank,
    pub(super) step: Step,
}

/// Which board of the level before, and the move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step(u32);

impl Step {
    const MOVE_BITS: u32 = 2;
    /// The most boards of a level.
    pub(super) const MOST: usize = 1 << (u32::BITS - Self::MOVE_BITS);

    pub(super) fn new(parent: usize, mv: Move) -> Self {
        debug_assert!(parent < Self::MOST);
        Self((parent as u32) << Self::MOVE_BITS | mv as u32)
    }

    pub(super) fn parent(self) -> usize {
        (self.0 >> Self::MOVE_BITS) as usize
    }

    pub(super) fn mv(self) -> Move {
        Move::ALL[(self.0 & ((1 << Self::MOVE_BITS) - 1)) as usize]
    }
}

/// How promising a board is, in one word: the stages ahead above, the key below.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Rank(u32);

impl Rank {
    const KEY_BITS: u32 = 24;

    pub(super) fn of(promise: Promise) -> Self {
        debug_assert!(promise.key < 1 << Self::KEY_BITS);
        Self(u32::from(promise.stages) << Self::KEY_BITS | promise.key)
    }

    /// How many stages of the way are ahead.
    pub(super) fn stages(self) -> u8 {
        (self.0 >> Self::KEY_BITS) as u8
    }

    pub(super) fn key(self) -> u32 {
        self.0 & ((1 << Self::KEY_BITS) - 1)
    }
}
