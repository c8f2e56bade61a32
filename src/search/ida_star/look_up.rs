//! A look-up of the parallel search in one view, and what it tells about a successor.

use super::board_form::BoardForm;
use super::packed_move::PackedMove;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// A look-up in one view. The data of the tiles' cells are being prefetched.
#[derive(Clone, Copy)]
pub(super) struct BegunLookUp<'t, S: BoardForm> {
    pub layout: &'t S::Layout,
    /// The placement with the cells after the move; the rank may still be the one before it.
    pub placement: S::Placement,
    pub change: CostChange,
    /// Index of the blank's cell and move, and the kind.
    pub step: u32,
}

/// A look-up in one view whose table word is being prefetched.
#[derive(Clone, Copy)]
pub(super) struct LookUp<'t, S: BoardForm> {
    pub word: &'t u64,
    /// The placement after the move.
    pub placement: S::Placement,
    /// The change if the bit is 0.
    pub change: CostChange,
}

/// The kind of the moving tile, and in the second bit, whether its pattern's cost falls.
#[derive(Clone, Copy)]
pub(super) struct CostChange(u32);

/// A successor within the threshold, not entered yet.
#[derive(Clone, Copy)]
pub(super) struct Child<S: BoardForm> {
    pub placements: [S::Placement; VIEWS],
    pub packed: PackedMove,
    /// [`CostChange`]s.
    pub changes: [u16; VIEWS],
}

impl CostChange {
    pub(super) const NONE: Self = Self(0);
    /// The bit of a falling cost.
    const FALLS: u32 = 2;
    /// Position of the kind.
    const KIND: u32 = 8;

    /// The change if the table has a 0, given the cost before the move plus one.
    #[inline(always)]
    pub(super) fn new(kind: usize, up: u8) -> Self {
        Self(u32::from(up) & Self::FALLS | (kind as u32) << Self::KIND)
    }

    /// The kind of the moving tile.
    #[inline(always)]
    pub(super) fn kind<S: BoardForm>(self) -> usize {
        S::kind((self.0 >> Self::KIND) as usize)
    }

    /// This change in the form of [`Child::changes`].
    #[inline(always)]
    pub(super) fn packed(self) -> u16 {
        self.0 as u16
    }

    /// 1, or −1 modulo 256.
    #[inline(always)]
    pub(super) fn amount(self) -> u8 {
        1_u8.wrapping_sub(self.0 as u8 & Self::FALLS as u8)
    }

    /// 1 if the successor is within the threshold in the `nth` view to be looked up, otherwise 0.
    #[inline(always)]
    pub(super) fn is_within(self, packed: PackedMove, nth: u32) -> usize {
        (self.0 >> 1 & 1 | packed.may_rise(nth)) as usize
    }
}

impl From<u16> for CostChange {
    #[inline(always)]
    fn from(packed: u16) -> Self {
        Self(u32::from(packed))
    }
}

impl<S: BoardForm> BegunLookUp<'_, S> {
    pub(super) const NONE: Self =
        Self { layout: S::NO_LAYOUT, placement: S::NO_PLACEMENT, change: CostChange::NONE, step: 0 };
}

impl<S: BoardForm> LookUp<'_, S> {
    pub(super) const NONE: Self = Self { word: &0, placement: S::NO_PLACEMENT, change: CostChange::NONE };

    /// Reads the table word. Returns the change.
    #[inline(always)]
    pub(super) fn read(&self) -> CostChange {
        let bit = (*self.word >> S::bit(self.placement)) as u32 & 1;
        CostChange(self.change.0 ^ bit << 1)
    }
}

impl<S: BoardForm> Child<S> {
    pub(super) const NONE: Self =
        Self { placements: [S::NO_PLACEMENT; VIEWS], packed: PackedMove(0), changes: [0; VIEWS] };

    /// This child, with its parent in another lane.
    pub(super) fn in_lane(self, from: usize, to: usize) -> Self {
        Self { packed: PackedMove(self.packed.0 - from as u32 + to as u32), ..self }
    }
}
