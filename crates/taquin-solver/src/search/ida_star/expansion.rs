//! Expansion of several nodes together.

use super::board_form::BoardForm;
use super::cost_change::CostChange;
use super::node::{BatchNode, MoveTables};
use super::node::{BegunLookUp, Child, KeptSuccessor, LookUp};
use super::packed_move::{MoveList, PackedMove};
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// Maximum number of nodes that are expanded together.
pub(crate) const NODES_TOGETHER: usize = 8;
/// Maximum number of successors of a node: three, and four for the start.
pub(crate) const MAX_SUCCESSORS: usize = 4;

const MAX_LOOK_UPS: usize = MAX_SUCCESSORS * NODES_TOGETHER;

/// Nodes that are expanded in three steps: [`look_up_first`](Self::look_up_first),
/// [`look_up_second`](Self::look_up_second) and [`push`](Self::push). Each step reads data that the previous step has
/// prefetched, so other work should come between them.
///
/// All successors are looked up in the first view. Successors within its threshold are looked up in the second view,
/// and in the second twins' patterns of both. No branch depends on a table entry, because it would be unpredictable.
/// Instead, rejected successors are written and then overwritten.
pub(crate) struct Expansion<'g, S: BoardForm> {
    /// Moves of the nodes: the first `len`. Four are written for each node, however many it has.
    moves: [PackedMove; MAX_LOOK_UPS + MAX_SUCCESSORS],
    len: usize,
    begun: [BegunLookUp<'g, S>; MAX_LOOK_UPS],
    /// Look-ups of `moves` in the first view, and then of `kept` in the second.
    look_ups: [LookUp<'g, S>; MAX_LOOK_UPS],
    /// Successors within the threshold in the first view: the first `kept_len`.
    kept: [KeptSuccessor<S>; MAX_LOOK_UPS],
    kept_len: usize,
    /// Look-ups in second twins' patterns: the first `twins_len`. Each belongs to the kept successor and the view in
    /// `twins_of`: twice the index, plus 1 for the second view looked up.
    begun_twins: [BegunLookUp<'g, S>; VIEWS * MAX_LOOK_UPS],
    twins: [LookUp<'g, S>; VIEWS * MAX_LOOK_UPS],
    twins_of: [u8; VIEWS * MAX_LOOK_UPS],
    twins_len: usize,
}

impl<'g, S: BoardForm> Expansion<'g, S> {
    pub(crate) const EMPTY: Self = Self {
        moves: [PackedMove(0); MAX_LOOK_UPS + MAX_SUCCESSORS],
        len: 0,
        begun: [BegunLookUp::NONE; MAX_LOOK_UPS],
        look_ups: [LookUp::NONE; MAX_LOOK_UPS],
        kept: [KeptSuccessor::NONE; MAX_LOOK_UPS],
        kept_len: 0,
        begun_twins: [BegunLookUp::NONE; VIEWS * MAX_LOOK_UPS],
        twins: [LookUp::NONE; VIEWS * MAX_LOOK_UPS],
        twins_of: [0; VIEWS * MAX_LOOK_UPS],
        twins_len: 0,
    };

    /// Removes all successors.
    #[inline(always)]
    pub(crate) fn clear(&mut self) {
        (self.len, self.kept_len, self.twins_len) = (0, 0, 0);
    }

    /// Adds the moves of a node.
    #[inline(always)]
    pub(crate) fn add(&mut self, of_node: u32, onward: &MoveList) {
        let free = &mut self.moves[self.len % MAX_LOOK_UPS..][..MAX_SUCCESSORS];
        for (packed, onward) in free.iter_mut().zip(onward.moves) {
            *packed = PackedMove(onward | of_node);
        }
        self.len += onward.count as usize;
    }

    /// Prefetches the entries of all successors in the first view.
    #[inline(always)]
    pub(crate) fn look_up_first(&mut self, tables: &'g MoveTables<'g, S>, nodes: &[BatchNode<S>]) {
        let begin = |packed: &PackedMove| tables.prefetch_layout(&nodes[packed.node()], *packed, 0);
        look_up(tables, self.moves[..self.len].iter().map(begin), &mut self.begun, &mut self.look_ups);
    }

    /// Reads the entries in the first view. Prefetches the entries of the remaining successors in the second view, and
    /// in second twins' patterns of both.
    #[inline(always)]
    pub(crate) fn look_up_second(&mut self, tables: &'g MoveTables<'g, S>, nodes: &[BatchNode<S>]) {
        let mut count = 0;
        for (packed, look_up) in self.moves[..self.len].iter().zip(&self.look_ups) {
            let kept = &mut self.kept[count % MAX_LOOK_UPS];
            (kept.packed, kept.placement, kept.change) = (*packed, look_up.placement, look_up.read());
            count += kept.change.is_within::<S>(*packed, 0);
        }
        self.kept_len = count;
        if tables.has_two_views {
            let begin = |KeptSuccessor { packed, .. }: &KeptSuccessor<S>| {
                tables.prefetch_layout(&nodes[packed.node()], *packed, 1)
            };
            look_up(tables, self.kept[..count].iter().map(begin), &mut self.begun, &mut self.look_ups);
        }
        if S::TWINS {
            self.look_up_twins(tables, nodes);
        }
    }

    /// Prefetches the entries of the kept successors in second twins' patterns.
    #[inline(always)]
    fn look_up_twins(&mut self, tables: &'g MoveTables<'g, S>, nodes: &[BatchNode<S>]) {
        let mut count = 0;
        for (nth, (successor, begun)) in (0..).zip(self.kept[..self.kept_len].iter().zip(&self.begun)) {
            for (view, change) in (0..).zip([successor.change, begun.change]) {
                self.twins_of[count % (VIEWS * MAX_LOOK_UPS)] = 2 * nth + view;
                count += change.has_twin();
            }
        }
        self.twins_len = count;
        let begin = |of: &u8| {
            let packed = self.kept[usize::from(of / 2) % MAX_LOOK_UPS].packed;
            tables.prefetch_layout_of_twin(&nodes[packed.node()], packed, usize::from(of % 2))
        };
        look_up(tables, self.twins_of[..count].iter().map(begin), &mut self.begun_twins, &mut self.twins);
    }

    /// Reads the entries in the second view. Successors within the threshold are pushed to the stacks of their
    /// traversals, the first one last.
    #[inline(always)]
    pub(crate) fn push<const TRAVERSALS: usize>(
        &mut self,
        tables: &MoveTables<'_, S>,
        children: &mut [Child<S>],
        tops: &mut [usize; TRAVERSALS],
    ) {
        if S::TWINS {
            self.read_twins();
        }
        for (successor, second) in self.kept[..self.kept_len].iter().zip(&self.look_ups).rev() {
            let KeptSuccessor { packed, placement, change, twin_placements } = *successor;
            // With one view, this is an old look-up without effect.
            let second_change = second.read();
            let mut is_within = if tables.has_two_views { second_change.is_within::<S>(packed, 1) } else { 1 };
            if S::TWINS {
                is_within &= change.is_within::<S>(packed, 0);
            }
            let top = &mut tops[packed.node() % TRAVERSALS];
            children[*top] = Child {
                placements: [placement, second.placement],
                twin_placements,
                packed,
                changes: [change, second_change].map(CostChange::packed),
            };
            *top += is_within;
        }
        self.clear();
    }

    /// Reads the entries in second twins' patterns, and corrects the changes of the kept successors.
    #[inline(always)]
    fn read_twins(&mut self) {
        for (of, look_up) in self.twins_of[..self.twins_len].iter().zip(&self.twins) {
            let (number, nth) = (usize::from(of / 2) % MAX_LOOK_UPS, usize::from(of % 2));
            let kept = &mut self.kept[number];
            kept.twin_placements[nth] = look_up.placement;
            let change = if nth == 0 { &mut kept.change } else { &mut self.look_ups[number].change };
            *change = change.with_twin(look_up.read());
        }
    }
}

/// Begins some look-ups, and continues them when all are begun.
#[inline(always)]
fn look_up<'g, S: BoardForm>(
    tables: &'g MoveTables<'g, S>,
    begin: impl ExactSizeIterator<Item = BegunLookUp<'g, S>>,
    begun: &mut [BegunLookUp<'g, S>],
    look_ups: &mut [LookUp<'g, S>],
) {
    let count = begin.len();
    for (begin, begun) in begin.zip(&mut *begun) {
        *begun = begin;
    }
    for (begun, look_up) in begun.iter().take(count).zip(look_ups) {
        *look_up = tables.prefetch_word(begun);
    }
}
