//! Nodes in an arena.

use super::closed_list::{ClosedList, Slot};
use crate::domain::{Cell, Move, MoveSet, Packed, Path};
use crate::search::{DuplicateDetection, Meter, Space, State, StopReason, Trace, trace::Visit};

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
    /// The move that led here from the parent; none for the start.
    arrived_by: Option<Move>,
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
    /// Was taken and not expanded, for it lies at the depth limit.
    Cut,
    /// Awaited expansion when a shorter path to its board was found, and is to be passed over.
    Superseded,
}

impl<P: Packed, M> Node<P, M> {
    pub(super) fn start(state: State<P>, memo: M) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g: 0, parent: 0, blank, arrived_by: None, phase: Phase::Open }
    }

    #[inline]
    pub(super) fn successor(state: State<P>, memo: M, g: u32, parent: u32, mv: Move) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g, parent, blank, arrived_by: Some(mv), phase: Phase::Open }
    }

    #[inline]
    pub(super) fn state(&self) -> State<P> {
        State { tiles: self.tiles, blank: self.blank }
    }

    /// The moves of this node's successors: all but the one straight back.
    #[inline]
    pub(super) fn onward_moves(&self, space: &Space<P>) -> MoveSet {
        space.moves_except(self.blank, self.arrived_by.map_or(MoveSet::EMPTY, MoveSet::back))
    }
}

/// All nodes of a search, and which of them stands for a board.
pub(super) struct Arena<P, M> {
    pub(super) nodes: Vec<Node<P, M>>,
    /// Stays empty where no duplicates are looked for beyond the parent.
    closed: ClosedList,
    duplicates: DuplicateDetection,
    room: Room,
}

/// How many nodes there is room for, and how many there may ever be.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub(super) nodes: usize,
    pub(super) limit: usize,
}

/// By how much an array is to grow at least, and at most.
pub(super) struct More {
    pub(super) min: usize,
    pub(super) max: usize,
}

impl Room {
    /// Nodes from which an array that grows is given all the room it may ever need. Memory that is
    /// reserved and not touched costs nothing; to copy what was touched costs it twice.
    const LARGE: usize = 1 << 16;

    /// By how much an array that holds so many is to grow.
    pub(super) fn more(&self, held: usize) -> More {
        let min = self.nodes - held;
        More { min, max: if self.nodes > Self::LARGE { self.limit - held } else { min } }
    }
}

impl<P: Packed, M: Copy> Arena<P, M> {
    /// Room for an easy 3×3 board.
    const FIRST_ROOM: usize = 64;
    /// Nodes below which room grows by leaps, which costs more memory than is used and less time.
    const SMALL: usize = 1 << 11;

    /// Holds the start, and will never hold more than `limit` nodes.
    pub(super) fn new(start: Node<P, M>, duplicates: DuplicateDetection, limit: u64) -> Self {
        // The largest index stands for no node.
        let limit = limit.min(u64::from(u32::MAX) - 1) as usize;
        let room = Room { nodes: limit.min(Self::FIRST_ROOM), limit };
        let (nodes, closed) = (Vec::with_capacity(room.nodes), ClosedList::with_capacity(room.nodes));
        let mut arena = Self { nodes, closed, duplicates, room };
        let (_, slot) = arena.find(&start.tiles);
        arena.add(start, slot);
        arena
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How many nodes there is room for.
    pub(super) fn room(&self) -> Room {
        self.room
    }

    /// Whether there is no room for the successors of one more node.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.nodes.len() + Move::ALL.len() > self.room.nodes
    }

    /// Makes room for so many successors and more. Slots found before are no longer valid.
    ///
    /// # Errors
    /// When so many may not be held, or the search is over.
    #[cold]
    pub(super) fn make_room(&mut self, successors: usize, meter: &Meter<'_>) -> Result<Room, StopReason> {
        if self.nodes.len() + successors > self.room.limit {
            return Err(StopReason::Nodes);
        }
        let wanted = self.nodes.len() + Move::ALL.len();
        let nodes = self.room.limit.min(wanted * if wanted < Self::SMALL { 16 } else { 2 });
        if nodes > self.room.nodes {
            self.room.nodes = nodes;
            let more = self.room.more(self.nodes.len());
            if self.nodes.try_reserve_exact(more.max).is_err() {
                self.nodes.reserve_exact(more.min);
            }
            if self.duplicates == DuplicateDetection::Closed {
                self.rebuild_closed(meter)?;
            }
        }
        Ok(self.room)
    }

    fn rebuild_closed(&mut self, meter: &Meter<'_>) -> Result<(), StopReason> {
        /// Nodes between two looks at the clock.
        const INTERVAL: usize = 1 << 16;
        self.closed = ClosedList::with_capacity(0);
        self.closed = ClosedList::with_capacity(self.room.nodes);
        for index in 0..self.nodes.len() {
            if index % INTERVAL == 0 {
                meter.look()?;
            }
            let (_, slot) = self.find(&self.nodes[index].tiles);
            // Of nodes with one board the latest stands for it.
            self.closed.put(slot, index as u32);
        }
        Ok(())
    }

    /// The node that stands for a board, if any, and the slot for one that shall.
    #[inline]
    pub(super) fn find(&self, tiles: &P) -> (Option<u32>, Slot) {
        self.closed.find(tiles.hash(), |node| self.nodes[node as usize].tiles == *tiles)
    }

    /// Adds a node, which from now on stands for its board.
    #[inline]
    pub(super) fn add(&mut self, node: Node<P, M>, slot: Slot) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(node);
        if self.duplicates == DuplicateDetection::Closed {
            self.closed.put(slot, index);
        }
        index
    }

    /// Whether a path of g moves to a board is to replace the one to `twin`, which it does if it is
    /// shorter; then says where the twin was on its way.
    pub(super) fn supersede(&mut self, twin: u32, g: u32) -> Option<Phase> {
        let twin = &mut self.nodes[twin as usize];
        if g >= twin.g {
            return None;
        }
        let phase = twin.phase;
        if phase == Phase::Open {
            twin.phase = Phase::Superseded;
        }
        Some(phase)
    }

    /// The moves from the start to a node.
    pub(super) fn path_to(&self, node: u32) -> Path {
        let mut moves = Vec::with_capacity(self.nodes[node as usize].g as usize);
        let mut at = &self.nodes[node as usize];
        while let Some(mv) = at.arrived_by {
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
        let slide = at.arrived_by.map(|mv| space.arrival(&state, mv.inverse()));
        let parent = slide.and_then(|_| trace.index_of(at.parent));
        let index = trace.record(space, &Visit { state: &state, slide, parent, g: at.g, h, f });
        trace.name(node, index);
    }
}
