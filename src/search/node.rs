//! Nodes in an arena.

use super::closed_list::{ClosedList, Slot};
use super::{Slide, Space, State, Trace, trace::Visit};
use crate::domain::{Cell, Move, Packed, Path};

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
    arrived_by: u8,
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

const NO_MOVE: u8 = 4;

impl<P: Packed, M> Node<P, M> {
    pub(super) fn start(state: State<P>, memo: M) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g: 0, parent: 0, blank, arrived_by: NO_MOVE, phase: Phase::Open }
    }

    #[inline]
    pub(super) fn successor(state: State<P>, memo: M, g: u32, parent: u32, mv: Move) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g, parent, blank, arrived_by: mv as u8, phase: Phase::Open }
    }

    #[inline]
    pub(super) fn state(&self) -> State<P> {
        State { tiles: self.tiles, blank: self.blank }
    }

    #[inline]
    pub(super) fn blank(&self) -> Cell {
        self.blank
    }

    #[inline]
    pub(super) fn arrived_by(&self) -> Option<Move> {
        Move::ALL.get(usize::from(self.arrived_by)).copied()
    }
}

/// All nodes of a search, and which of them stands for a board.
pub(super) struct Arena<P, M> {
    pub(super) nodes: Vec<Node<P, M>>,
    closed: ClosedList,
}

/// What the arena knows of a board.
#[derive(Clone, Copy)]
pub(super) enum Known {
    /// Nothing; the slot is where it belongs.
    New(Slot),
    /// A node stands for it.
    As(u32, Slot),
}

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

    /// Looks a board up.
    #[inline]
    pub(super) fn find(&self, tiles: &P) -> Known {
        match self.closed.find(tiles.hash(), |node| self.nodes[node as usize].tiles == *tiles) {
            (None, slot) => Known::New(slot),
            (Some(node), slot) => Known::As(node, slot),
        }
    }

    /// Adds a node, and lets it stand for its board if a slot is given.
    #[inline]
    pub(super) fn add(&mut self, node: Node<P, M>, slot: Option<Slot>) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(node);
        if let Some(slot) = slot {
            self.closed.put(slot, index);
            if self.closed.is_full() {
                let nodes = &self.nodes;
                self.closed.grow(|node| nodes[node as usize].tiles.hash());
            }
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
        let slide = at.arrived_by().map(|mv| {
            let mut before = state;
            let taken_back = space.make(&mut before, mv.inverse());
            Slide { label: taken_back.label, from: taken_back.to, to: taken_back.from, mv }
        });
        let parent = slide.and_then(|_| trace.index_of(at.parent));
        let index = trace.record(space, &Visit { state: &state, slide, parent, g: at.g, h, f });
        trace.name(node, index);
    }
}
