//! Nodes in an arena.

use super::closed_list::{ClosedList, Slot};
use super::{DuplicateDetection, Space, State, Trace, trace::Visit};
use crate::domain::{Cell, Move, MoveSet, Packed, Path};

/// A board with g, h and parent. Parents are indices, not references.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<P, M> {
    tiles: P,
    /// What the heuristic remembers of the board.
    pub(super) memo: M,
    /// Moves from the start.
    pub(super) g: u32,
    parent: u32,
    blank: Cell,
    /// The move that leads back to the parent; none for the start.
    back: MoveSet,
    /// Where the node is on its way.
    pub(super) phase: Phase,
}

/// Where a node is on its way through a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Awaits expansion.
    Open,
    /// Was expanded.
    Expanded,
    /// Awaited expansion when a shorter path to its board was found, and is to be passed over.
    Superseded,
}

impl<P: Packed, M> Node<P, M> {
    pub(super) fn start(state: State<P>, memo: M) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g: 0, parent: 0, blank, back: MoveSet::EMPTY, phase: Phase::Open }
    }

    #[inline]
    pub(super) fn successor(state: State<P>, memo: M, g: u32, parent: u32, mv: Move) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g, parent, blank, back: MoveSet::back(mv), phase: Phase::Open }
    }

    #[inline]
    pub(super) fn state(&self) -> State<P> {
        State { tiles: self.tiles, blank: self.blank }
    }

    /// The moves of this node's successors: all but the one straight back.
    #[inline]
    pub(super) fn onward_moves(&self, space: &Space<P>) -> MoveSet {
        space.moves_except(self.blank, self.back)
    }

    fn arrived_by(&self) -> Option<Move> {
        self.back.clone().next().map(Move::inverse)
    }
}

/// All nodes of a search, and which of them stands for a board.
pub(super) struct Arena<P, M> {
    pub(super) nodes: Vec<Node<P, M>>,
    closed: ClosedList,
}

/// A successor that is not a duplicate, and where it is to stand for its board, if anywhere.
pub(super) struct Admitted(Option<Slot>);

impl<P: Packed, M: Copy> Arena<P, M> {
    /// Room for an easy 3×3 board before the first reallocation.
    const FIRST_CAPACITY: usize = 64;

    pub(super) fn new(start: Node<P, M>) -> Self {
        let mut nodes = Vec::with_capacity(Self::FIRST_CAPACITY);
        let mut closed = ClosedList::with_capacity(Self::FIRST_CAPACITY);
        let slot = closed.find(start.tiles.hash(), |_| false).1;
        nodes.push(start);
        closed.put(slot, 0);
        Self { nodes, closed }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a successor is to be kept: it is, unless its board is known and `is_improved` holds on
    /// to the node that stands for it.
    #[inline]
    pub(super) fn admit(
        &mut self,
        tiles: &P,
        duplicates: DuplicateDetection,
        is_improved: impl FnOnce(&mut Node<P, M>) -> bool,
    ) -> Option<Admitted> {
        if duplicates == DuplicateDetection::Parent {
            return Some(Admitted(None));
        }
        let (twin, slot) = self.closed.find(tiles.hash(), |node| self.nodes[node as usize].tiles == *tiles);
        let is_kept = twin.is_none_or(|twin| is_improved(&mut self.nodes[twin as usize]));
        is_kept.then_some(Admitted(Some(slot)))
    }

    /// Adds a node that was admitted.
    #[inline]
    pub(super) fn add(&mut self, node: Node<P, M>, Admitted(slot): Admitted) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(node);
        if let Some(slot) = slot {
            self.closed.put(slot, index);
        }
        index
    }

    /// The moves from the start to a node.
    pub(super) fn path_to(&self, node: u32) -> Path {
        let mut moves = Vec::with_capacity(self.nodes[node as usize].g as usize);
        let mut at = &self.nodes[node as usize];
        while let Some(mv) = at.arrived_by() {
            moves.push(mv);
            at = &self.nodes[at.parent as usize];
        }
        moves.reverse();
        moves.into()
    }

    /// Records that a node is expanded.
    pub(super) fn record(&self, trace: &mut Trace, space: &Space<P>, node: u32, h: u32, f: f64) {
        let at = &self.nodes[node as usize];
        let state = at.state();
        let slide = at.arrived_by().map(|mv| space.arrival(&state, mv.inverse()));
        let parent = slide.and_then(|_| trace.index_of(at.parent));
        let index = trace.record(space, &Visit { state: &state, slide, parent, g: at.g, h, f });
        trace.name(node, index);
    }
}
