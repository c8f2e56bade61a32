//! Nodes of a search graph, stored in an arena.

use super::closed_list::{ClosedList, Slot};
use crate::domain::{Cell, Move, MoveSet, Packed, Path};
use crate::search::{
    DuplicateDetection, Generation, ListSizes, Meter, Space, State, StopReason, Trace, Verdict, trace::Visit,
};

/// A board with g, memo and parent. Parents are indices into the arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<P, M> {
    tiles: P,
    /// The heuristic's memo of the board.
    pub memo: M,
    /// Moves from the start.
    pub g: u32,
    parent: u32,
    blank: Cell,
    /// The move that led here from the parent; `None` for the start.
    arrived_by: Option<Move>,
    pub phase: Phase,
}

/// State of a node's expansion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Awaits expansion.
    Open,
    /// Expanded.
    Expanded,
    /// Taken from the stack but not expanded, because it is at the depth limit.
    Cut,
    /// Still open when a shorter path to its board was found; skipped when taken.
    Superseded,
}

impl<P: Packed, M> Node<P, M> {
    pub(crate) fn start(state: State<P>, memo: M) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g: 0, parent: 0, blank, arrived_by: None, phase: Phase::Open }
    }

    #[inline]
    pub(crate) fn successor(state: State<P>, memo: M, g: u32, parent: u32, mv: Move) -> Self {
        let State { tiles, blank } = state;
        Self { tiles, memo, g, parent, blank, arrived_by: Some(mv), phase: Phase::Open }
    }

    #[inline]
    pub(crate) fn state(&self) -> State<P> {
        State { tiles: self.tiles, blank: self.blank }
    }

    /// The moves of this node's successors: all except the one straight back.
    #[inline]
    pub(crate) fn onward_moves(&self, space: &Space<P>) -> MoveSet {
        space.moves_except(self.blank, self.arrived_by.map_or(MoveSet::EMPTY, MoveSet::back))
    }
}

/// All nodes of a search, and a hash table from boards to nodes.
pub(crate) struct Arena<P, M> {
    pub nodes: Vec<Node<P, M>>,
    /// Empty if only the parent is checked for duplicates. Holds only expanded boards if only these are checked.
    closed: ClosedList,
    duplicates: DuplicateDetection,
    capacity: Capacity,
}

/// Current and maximum number of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    pub(crate) nodes: usize,
    pub(crate) limit: usize,
}

/// Minimum and maximum number of elements by which an array grows.
pub(crate) struct Growth {
    min: usize,
    pub max: usize,
}

impl Capacity {
    /// Number of nodes above which a growing array reserves its maximum size at once. Reserved memory costs nothing
    /// until it is touched, but growth needs both the old and the new copy of touched memory.
    const LARGE: usize = 1 << 16;

    /// Number of elements by which an array of `held` elements should grow.
    pub(crate) fn more(&self, held: usize) -> Growth {
        let min = self.nodes - held;
        Growth { min, max: if self.nodes > Self::LARGE { self.limit - held } else { min } }
    }
}

impl<P: Packed, M: Copy> Arena<P, M> {
    /// Enough for an easy 3×3 board.
    const FIRST_CAPACITY: usize = 64;
    /// Below this number of nodes the arena grows in large steps, which wastes memory and saves time.
    const SMALL: usize = 1 << 11;

    /// An arena that holds the start and at most `limit` nodes.
    pub(crate) fn new(start: Node<P, M>, duplicates: DuplicateDetection, limit: u64) -> Self {
        // The largest index is reserved: it stands for no node.
        let limit = limit.min(u64::from(u32::MAX) - 1) as usize;
        let capacity = Capacity { nodes: limit.min(Self::FIRST_CAPACITY), limit };
        let (nodes, closed) = (Vec::with_capacity(capacity.nodes), ClosedList::with_capacity(capacity.nodes));
        let mut arena = Self { nodes, closed, duplicates, capacity };
        let (_, slot) = arena.find(&start.tiles);
        arena.add(start, slot);
        arena
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The treatment of boards that are generated again.
    pub(crate) fn duplicates(&self) -> DuplicateDetection {
        self.duplicates
    }

    /// The current capacity.
    pub(crate) fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// True if the successors of another node may not fit.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.nodes.len() + Move::ALL.len() > self.capacity.nodes
    }

    /// Reserves space for at least `successors` more nodes. Slots found before become invalid.
    ///
    /// # Errors
    /// If the node limit is reached, or the budget is exhausted.
    #[cold]
    pub(crate) fn reserve(&mut self, successors: usize, meter: &Meter<'_>) -> Result<Capacity, StopReason> {
        if self.nodes.len() + successors > self.capacity.limit {
            return Err(StopReason::Nodes);
        }
        let wanted = self.nodes.len() + Move::ALL.len();
        let nodes = self.capacity.limit.min(wanted * if wanted < Self::SMALL { 16 } else { 2 });
        if nodes > self.capacity.nodes {
            self.capacity.nodes = nodes;
            let more = self.capacity.more(self.nodes.len());
            if self.nodes.try_reserve_exact(more.max).is_err() {
                self.nodes.reserve_exact(more.min);
            }
            if self.duplicates != DuplicateDetection::Parent {
                self.rebuild_closed(meter)?;
            }
        }
        Ok(self.capacity)
    }

    fn rebuild_closed(&mut self, meter: &Meter<'_>) -> Result<(), StopReason> {
        /// Nodes between two checks of the clock.
        const INTERVAL: usize = 1 << 16;
        self.closed = ClosedList::with_capacity(0);
        self.closed = ClosedList::with_capacity(self.capacity.nodes);
        for index in 0..self.nodes.len() {
            if index % INTERVAL == 0 {
                meter.check()?;
            }
            let node = &self.nodes[index];
            if self.duplicates == DuplicateDetection::ExpandedOnly && node.phase != Phase::Expanded {
                continue;
            }
            let (_, slot) = self.find(&node.tiles);
            // The latest node of a board represents it.
            self.closed.put(slot, index as u32);
        }
        Ok(())
    }

    /// Marks a node as expanded, before its successors are generated.
    #[inline]
    pub(crate) fn mark_expanded(&mut self, index: u32) {
        self.nodes[index as usize].phase = Phase::Expanded;
        if self.duplicates == DuplicateDetection::ExpandedOnly {
            self.close(index);
        }
    }

    #[cold]
    fn close(&mut self, index: u32) {
        let (_, slot) = self.find(&self.nodes[index as usize].tiles);
        self.closed.put(slot, index);
    }

    /// The node that represents a board, if any, and the slot for a new one.
    #[inline]
    pub(crate) fn find(&self, tiles: &P) -> (Option<u32>, Slot) {
        self.closed.find(tiles.hash(), |node| self.nodes[node as usize].tiles == *tiles)
    }

    /// Adds a node, which then represents its board.
    #[inline]
    pub(crate) fn add(&mut self, node: Node<P, M>, slot: Slot) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(node);
        if self.duplicates == DuplicateDetection::Closed {
            self.closed.put(slot, index);
        }
        index
    }

    /// Checks whether a path of g moves to the board of `twin` is shorter than the known one. If so, returns the
    /// phase of `twin`, which is skipped from now on if it is open. With [`DuplicateDetection::ExpandedOnly`], no path
    /// replaces one to an expanded board.
    pub(crate) fn supersede(&mut self, twin: u32, g: u32) -> Option<Phase> {
        let twin = &mut self.nodes[twin as usize];
        if g >= twin.g || self.duplicates == DuplicateDetection::ExpandedOnly {
            return None;
        }
        let phase = twin.phase;
        if phase == Phase::Open {
            twin.phase = Phase::Superseded;
        }
        Some(phase)
    }

    /// The moves from the start to a node.
    pub(crate) fn path_to(&self, node: u32) -> Path {
        let mut moves = Vec::with_capacity(self.nodes[node as usize].g as usize);
        let mut at = &self.nodes[node as usize];
        while let Some(mv) = at.arrived_by {
            moves.push(mv);
            at = &self.nodes[at.parent as usize];
        }
        moves.reverse();
        moves.into()
    }

    /// The successor of `parent` that was generated last, for the trace. If it was kept, it is the last node.
    pub(crate) fn generation<'a>(
        &self,
        state: &'a State<P>,
        parent: u32,
        mv: Move,
        h: u32,
        verdict: Verdict,
    ) -> Generation<'a, P> {
        let node = (verdict != Verdict::Duplicate).then(|| self.nodes.len() as u32 - 1);
        let g = self.nodes[parent as usize].g + 1;
        Generation { state, mv: Some(mv), parent: Some(parent), node, g, h, verdict }
    }

    /// Records the expansion of a node with its h, its f, and the sizes of the lists.
    pub(crate) fn record(&self, trace: &mut Trace, space: &Space<P>, node: u32, (h, f): (u32, f64), lists: ListSizes) {
        let at = &self.nodes[node as usize];
        let state = at.state();
        let slide = at.arrived_by.map(|mv| space.arrival(&state, mv.inverse()));
        let parent = slide.and_then(|_| trace.index_of(at.parent));
        let index = trace.record(space, &Visit { state: &state, slide, parent, g: at.g, h, f, lists: Some(lists) });
        trace.set_index(node, index);
    }
}
