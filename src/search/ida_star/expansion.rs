//! Expansion of several nodes together.

use super::board_form::BoardForm;
use super::look_up::{BegunLookUp, Child, CostChange, LookUp};
use super::node::{BatchNode, MoveTables};
use super::packed_move::{MoveList, PackedMove};

/// Maximum number of nodes that are expanded together.
pub(super) const NODES_TOGETHER: usize = 8;
/// Maximum number of successors of a node: three, and four for the start.
pub(super) const MAX_SUCCESSORS: usize = 4;

const MAX_LOOK_UPS: usize = MAX_SUCCESSORS * NODES_TOGETHER;

/// Nodes that are expanded in three steps: [`look_up_first`](Self::look_up_first),
/// [`look_up_second`](Self::look_up_second) and [`push`](Self::push). Each step reads what the one before has
/// prefetched, so other work should come between them.
///
/// All successors are looked up in the first view, and in the second those that are within the threshold in the first. No
/// branch depends on a table entry, because it would be unpredictable. Instead, rejected successors are written and then
/// overwritten.
pub(super) struct Expansion<'g, S: BoardForm> {
    /// Moves of the nodes: the first `len`. Four are written for each node, however many it has.
    moves: [PackedMove; MAX_LOOK_UPS + MAX_SUCCESSORS],
    len: usize,
    begun: [BegunLookUp<'g, S>; MAX_LOOK_UPS],
    /// Look-ups of `moves` in the first view, and then of `kept` in the second.
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
    pub(super) const EMPTY: Self = Self {
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
    pub(super) fn look_up_first(&mut self, tables: &'g MoveTables<'g, S>, nodes: &[BatchNode<S>]) {
        let moves = self.moves[..self.len].iter().copied();
        look_up(moves, 0, (tables, nodes), &mut self.begun, &mut self.look_ups);
    }

    /// Reads the entries in the first view, and prefetches those of the successors left in the second.
    #[inline(always)]
    pub(super) fn look_up_second(&mut self, tables: &'g MoveTables<'g, S>, nodes: &[BatchNode<S>]) {
        let mut count = 0;
        for (packed, look_up) in self.moves[..self.len].iter().zip(&self.look_ups) {
            let change = look_up.read();
            self.kept[count % MAX_LOOK_UPS] = KeptSuccessor { packed: *packed, placement: look_up.placement, change };
            count += change.is_within(*packed, 0);
        }
        self.kept_len = count;
        if tables.is_mirrored {
            let moves = self.kept[..count].iter().map(|successor| successor.packed);
            look_up(moves, 1, (tables, nodes), &mut self.begun, &mut self.look_ups);
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
            // With one view, this is an old look-up, and not used.
            let second_change = second.read();
            let is_within = if tables.is_mirrored { second_change.is_within(packed, 1) } else { 1 };
            let top = &mut tops[packed.node() % LANES];
            children[*top] = Child {
                placements: [placement, second.placement],
                packed,
                changes: [change, second_change].map(CostChange::packed),
            };
            *top += is_within;
        }
        self.clear();
    }
}

/// Prefetches the entries of some successors in the `nth` view.
#[inline(always)]
fn look_up<'g, S: BoardForm>(
    moves: impl ExactSizeIterator<Item = PackedMove>,
    nth: usize,
    (tables, nodes): (&'g MoveTables<'g, S>, &[BatchNode<S>]),
    begun: &mut [BegunLookUp<'g, S>; MAX_LOOK_UPS],
    look_ups: &mut [LookUp<'g, S>; MAX_LOOK_UPS],
) {
    let count = moves.len();
    for (packed, begun) in moves.zip(&mut *begun) {
        *begun = tables.prefetch_layout(&nodes[packed.node()], packed, nth);
    }
    for (begun, look_up) in begun.iter().take(count).zip(look_ups) {
        *look_up = tables.prefetch_word(begun);
    }
}

impl<S: BoardForm> KeptSuccessor<S> {
    const NONE: Self = Self { packed: PackedMove(0), placement: S::NO_PLACEMENT, change: CostChange::NONE };
}
