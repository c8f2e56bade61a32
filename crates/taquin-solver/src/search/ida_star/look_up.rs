//! A look-up of the parallel search in one view, and what it tells about a successor.

use super::board_form::BoardForm;
use super::cost_change::CostChange;
use super::packed_move::PackedMove;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// A look-up in one view. The data of the tiles' cells are being prefetched.
#[derive(Clone, Copy)]
pub(super) struct BegunLookUp<'t, S: BoardForm> {
    pub layout: &'t S::Layout,
    /// The placement with the cells after the move and the rank before it.
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

/// A successor that is within the threshold in the first view.
#[derive(Clone, Copy)]
pub(super) struct KeptSuccessor<S: BoardForm> {
    pub packed: PackedMove,
    pub placement: S::Placement,
    pub change: CostChange,
    /// Undefined where there is no twin.
    pub twin_placements: S::TwinPlacements,
}

/// A successor within the threshold, not entered yet.
#[derive(Clone, Copy)]
pub(super) struct Child<S: BoardForm> {
    pub placements: [S::Placement; VIEWS],
    pub twin_placements: S::TwinPlacements,
    pub packed: PackedMove,
    /// [`CostChange`]s.
    pub changes: [u16; VIEWS],
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
        self.change.with_bit((*self.word >> S::bit(self.placement)) as u32 & 1)
    }
}

impl<S: BoardForm> KeptSuccessor<S> {
    pub(super) const NONE: Self = Self {
        packed: PackedMove(0),
        placement: S::NO_PLACEMENT,
        change: CostChange::NONE,
        twin_placements: S::NO_TWIN_PLACEMENTS,
    };
}

impl<S: BoardForm> Child<S> {
    pub(super) const NONE: Self = Self {
        placements: [S::NO_PLACEMENT; VIEWS],
        twin_placements: S::NO_TWIN_PLACEMENTS,
        packed: PackedMove(0),
        changes: [0; VIEWS],
    };

    /// This child, with its parent in another lane.
    pub(super) fn in_lane(self, from: usize, to: usize) -> Self {
        Self { packed: PackedMove(self.packed.0 - from as u32 + to as u32), ..self }
    }
}
