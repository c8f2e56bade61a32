//! Expansion of several nodes together.

use super::board_form::BoardForm;
use super::look_up::{BegunLookUp, Child, CostChange, LookUp};
use super::node::{BatchNode, MoveTables};
use super::packed_move::{MoveList, PackedMove};

/// Maximum number of nodes that are expanded together.
pub(super) const MAX_NODES: usize = 8;
/// Maximum number of successors of a node: three, and four for the start.
pub(super) const MAX_SUCCESSORS: usize = 4;

const MAX_LOOK_UPS: usize = MAX_SUCCESSORS * MAX_NODES;

/// Nodes that are expanded in three steps: [`begin`](Self::begin), [`go_on`](Self::go_on) and
/// [`push`](Self::push). Each step reads what the one before has prefetched, so other work should come between them.
///
/// All successors are looked up in the first view, and in the second those that are within the threshold in the first. No
/// branch depends on a table entry, because it would be unpredictable. Instead, rejected successors are written and then
/// overwritten.
pub(super) struct Expansion<'g, S: BoardForm> {
    /// Moves of the nodes: the first `len`.
    moves: [PackedMove; MAX_LOOK_UPS + MAX_SUCCESSORS],
    len: usize,
    begun: [BegunLookUp<'g, S>; MAX_LOOK_UPS],
    look_ups: [LookUp<'g, S>; MAX_LOOK_UPS],
    /// Successors within the threshold in the first view: the first `kept_len`.
    kept: [KeptSuccessor<S>; MAX_LOOK_UPS],
    kept_len: usize,
}

/// A successor that is within the threshold in the first view.
#[derive(Clone, Copy)]
struct KeptSuccessor<S: BoardForm> {
    packed: PackedMove,
    placement: S::Placement,
    change: CostChange,
}

impl<'g, S: BoardForm> Expansion<'g, S> {
    pub(super) const NONE: Self = Self {
        moves: [PackedMove(0); MAX_LOOK_UPS + MAX_SUCCESSORS],
        len: 0,
        begun: [BegunLookUp::NONE; MAX_LOOK_UPS],
        look_ups: [LookUp::NONE; MAX_LOOK_UPS],
        kept: [KeptSuccessor::NONE; MAX_LOOK_UPS],
        kept_len: 0,
    };

    /// Removes all successors.
    #[inline(always)]
    pub(super) fn clear(&mut self) {
        (self.len, self.kept_len) = (0, 0);
    }

    /// Adds the moves of a node.
    #[inline(always)]
    pub(super) fn add(&mut self, of_node: u32, onward: &MoveList) {
        let free = &mut self.moves[self.len % MAX_LOOK_UPS..][..MAX_SUCCESSORS];
        for (packed, onward) in free.iter_mut().zip(onward.moves) {
            *packed = PackedMove(onward | of_node);
        }
        self.len += onward.count as usize;
    }

    /// Prefetches the entries of all successors in the first view.
    #[inline(always)]
    pub(super) fn begin(&mut self, tables: &'g MoveTables<'g, S>, nodes: &[BatchNode<S>]) {
        let moves = &self.moves[..self.len];
        for (packed, begun) in moves.iter().zip(&mut self.begun) {
            *begun = tables.begin(&nodes[packed.node()], *packed, 0);
        }
        for (begun, look_up) in self.begun.iter().take(moves.len()).zip(&mut self.look_ups) {
            *look_up = tables.go_on(begun);
        }
    }

    /// Reads the entries in the first view, and prefetches those of the successors left in the second.
    #[inline(always)]
    pub(super) fn go_on(&mut self, tables: &'g MoveTables<'g, S>, nodes: &[BatchNode<S>]) {
        let mut count = 0;
        for (packed, look_up) in self.moves[..self.len].iter().zip(&self.look_ups) {
            let change = look_up.read();
            self.kept[count % MAX_LOOK_UPS] = KeptSuccessor { packed: *packed, placement: look_up.placement, change };
            count += change.is_within(*packed, 0);
        }
        self.kept_len = count;
        if !tables.is_mirrored {
            return;
        }
        for (successor, begun) in self.kept[..count].iter().zip(&mut self.begun) {
            *begun = tables.begin(&nodes[successor.packed.node()], successor.packed, 1);
        }
        for (begun, look_up) in self.begun[..count].iter().zip(&mut self.look_ups) {
            *look_up = tables.go_on(begun);
        }
    }

    /// Reads the entries in the second view. Successors within the threshold are pushed to the stacks of their lanes, the
    /// first one last.
    #[inline(always)]
    pub(super) fn push<const LANES: usize>(
        &mut self,
        tables: &MoveTables<'_, S>,
        children: &mut [Child<S>],
        tops: &mut [usize; LANES],
    ) {
        for (successor, second) in self.kept[..self.kept_len].iter().zip(&self.look_ups).rev() {
            let KeptSuccessor { packed, placement, change } = *successor;
            let second_change = second.read();
            let is_within = if tables.is_mirrored { second_change.is_within(packed, 1) } else { 1 };
            let top = &mut tops[packed.node() % LANES];
            children[*top] = Child {
                placements: [placement, second.placement],
                packed,
                changes: [change, second_change].map(|change| change.0 as u16),
            };
            *top += is_within;
        }
        self.clear();
    }
}

impl<S: BoardForm> KeptSuccessor<S> {
    const NONE: Self = Self { packed: PackedMove(0), placement: S::NO_PLACEMENT, change: CostChange(0) };
}
