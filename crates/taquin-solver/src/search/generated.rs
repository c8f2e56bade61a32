//! The first generated nodes of a search, for display.

use super::packed_boards::PackedBoards;
use super::{Space, State};
use crate::domain::{Board, Cell, Move, Packed, Size};
use crate::named;

/// What a search did with a generated node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Kept. It may replace a node of the same board that awaits expansion.
    New,
    /// Dropped by duplicate detection.
    Duplicate,
    /// Kept, although its board was expanded before: this path is shorter.
    Reopened,
    /// Kept; its board is the goal.
    Goal,
}

named!(Verdict { New => "new", Duplicate => "duplicate", Reopened => "reopened", Goal => "goal" });

/// A generated node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GeneratedNode {
    /// The board.
    pub board: Board,
    /// The move that led here; `None` for the start.
    pub mv: Option<Move>,
    /// Index of the parent, from 0; `None` for the start.
    pub parent: Option<u32>,
    /// Moves from the start.
    pub g: u32,
    /// The heuristic's value.
    pub h: u32,
    /// Sum of the rows and columns between each tile and its goal cell.
    pub manhattan: u32,
    /// What the search did with it.
    pub verdict: Verdict,
}

/// Generated nodes in order, packed: 24 bytes each on boards of up to 16 cells, 116 on boards of 100.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GeneratedNodes {
    boards: PackedBoards,
    entries: Vec<Entry>,
}

/// A generated node without its board.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Entry {
    /// Meaningless for the start.
    parent: u32,
    g: u32,
    h: u32,
    manhattan: u16,
    /// Index of the move in [`Move::ALL`]; [`NO_MOVE`] for the start.
    mv: u8,
    verdict: Verdict,
}

const NO_MOVE: u8 = u8::MAX;

impl GeneratedNodes {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if nothing was listed.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All nodes.
    pub fn iter(&self) -> impl Iterator<Item = GeneratedNode> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The node at an index.
    pub fn get(&self, at: usize) -> Option<GeneratedNode> {
        let (board, Entry { parent, g, h, manhattan, mv, verdict }) = (self.boards.get(at)?, *self.entries.get(at)?);
        let mv = Move::ALL.get(usize::from(mv)).copied();
        let manhattan = u32::from(manhattan);
        Some(GeneratedNode { board, mv, parent: mv.map(|_| parent), g, h, manhattan, verdict })
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.boards.bytes()
    }

    /// Memory in bytes of a node on boards of a size.
    pub fn bytes_each(size: Size) -> usize {
        size_of::<Entry>() + PackedBoards::bytes_each(size)
    }

    /// Maximum memory in bytes while a search lists at most `limit` nodes on boards of a size.
    pub fn most_bytes(size: Size, limit: u64) -> u64 {
        limit.saturating_mul((Self::bytes_each(size) + size_of::<u32>()) as u64)
    }
}

/// A node that was just generated. Searches number the nodes that they keep; a number is used again once its node is no
/// longer needed.
#[derive(Clone, Copy, Debug)]
pub struct Generation<'a, P> {
    /// The state.
    pub state: &'a State<P>,
    /// The move that led here; `None` for the start.
    pub mv: Option<Move>,
    /// The parent's number; `None` for the start.
    pub parent: Option<u32>,
    /// Its own number, if it was kept.
    pub node: Option<u32>,
    /// Moves from the start.
    pub g: u32,
    /// The heuristic's value.
    pub h: u32,
    /// What the search does with it. The list says where a kept node is the goal.
    pub verdict: Verdict,
}

impl<'a, P: Packed> Generation<'a, P> {
    /// The start, with number 0.
    pub fn start(state: &'a State<P>, h: u32) -> Self {
        Self { state, mv: None, parent: None, node: Some(0), g: 0, h, verdict: Verdict::New }
    }
}

/// Lists generated nodes up to a limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeneratedList {
    limit: usize,
    nodes: GeneratedNodes,
    /// By number of a kept node: its index in the list.
    index_of: Vec<u32>,
}

impl GeneratedList {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// True while the limit is not reached.
    #[inline]
    pub(crate) fn is_listing(&self) -> bool {
        self.nodes.len() < self.limit
    }

    /// Adds a node, unless the limit is reached.
    pub(crate) fn push<P: Packed>(&mut self, space: &Space<P>, generation: &Generation<'_, P>) {
        if !self.is_listing() {
            return;
        }
        let Generation { state, mv, parent, node, g, h, verdict } = *generation;
        let index = self.nodes.len();
        if index == self.nodes.entries.capacity() {
            self.grow(space.size());
        }
        self.nodes.boards.push(space, state);
        self.nodes.entries.push(Entry {
            parent: parent.map_or(0, |parent| self.index_of[parent as usize]),
            g,
            h,
            manhattan: manhattan(space, state) as u16,
            mv: mv.map_or(NO_MOVE, |mv| mv as u8),
            verdict: if node.is_some() && space.is_goal(state) { Verdict::Goal } else { verdict },
        });
        if let Some(node) = node.map(|node| node as usize) {
            // A search keeps no more nodes than it generates.
            self.index_of.resize(self.index_of.len().max(node + 1), 0);
            self.index_of[node] = index as u32;
        }
    }

    /// Makes room for another node. Above a size at which copies cost little, room for all is reserved: it costs
    /// nothing until it is touched, but growth needs both the old and the new copy.
    #[cold]
    fn grow(&mut self, size: Size) {
        const SMALL: usize = 256;
        let more = if self.nodes.len() < SMALL { self.limit.min(SMALL) } else { self.limit } - self.nodes.len();
        self.nodes.entries.reserve_exact(more);
        self.nodes.boards.reserve(size, more);
        self.index_of.reserve_exact(self.nodes.len() + more - self.index_of.len());
    }

    /// The listed nodes, in order.
    pub(crate) fn finish(mut self) -> GeneratedNodes {
        self.nodes.entries.shrink_to_fit();
        self.nodes.boards.shrink_to_fit();
        self.nodes
    }
}

fn manhattan<P: Packed>(space: &Space<P>, state: &State<P>) -> u32 {
    let (size, blank) = (space.size(), space.goal_blank());
    let labels = (0..size.cells() as Cell).map(|cell| (cell, state.tiles.get(cell)));
    labels.filter(|(_, label)| *label != blank).map(|(cell, label)| size.distance(cell, label)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Packed64, Packed128, PackedBytes, Puzzle, SplitMix, random_board};

    fn round_trip<P: Packed>(rows: usize, cols: usize) {
        let size = Size::try_from((rows, cols)).unwrap();
        let mut random = SplitMix(5);
        let goal = random_board(&Board::blank_last(size), &mut random);
        let start = random_board(&goal, &mut random);
        let space = Space::<P>::new(&Puzzle::try_new(start, goal).unwrap());
        let (mut list, mut state, mut board) = (GeneratedList::new(600), space.start(), start);
        list.push(&space, &Generation::start(&state, 9));
        let distance = |board: &Board| -> u32 {
            let goals = goal.positions();
            let cells = (0..size.cells() as Cell).filter(|cell| board.tile(*cell) != 0);
            cells.map(|cell| size.distance(cell, goals[usize::from(board.tile(cell))])).sum()
        };
        let (parent, mv) = (None, None);
        let first = GeneratedNode { board, mv, parent, g: 0, h: 9, manhattan: distance(&board), verdict: Verdict::New };
        let mut expected = vec![first];
        // Every third node is a duplicate of no number; each kept one is the parent of the next ones.
        let (mut number, mut parent) = (0, 0);
        while list.is_listing() {
            let mv = board.moves().into_iter().nth(expected.len() % 2).unwrap();
            space.make(&mut state, mv);
            board.make(mv).unwrap();
            let is_kept = expected.len() % 3 != 0;
            let verdict = if is_kept { Verdict::Reopened } else { Verdict::Duplicate };
            let node = is_kept.then_some(number + 1);
            let (g, h) = (expected.len() as u32, 7);
            list.push(&space, &Generation { state: &state, mv: Some(mv), parent: Some(number), node, g, h, verdict });
            let manhattan = distance(&board);
            expected.push(GeneratedNode { board, mv: Some(mv), parent: Some(parent), g, h, manhattan, verdict });
            if is_kept {
                (number, parent) = (number + 1, expected.len() as u32 - 1);
            }
        }
        list.push(&space, &Generation::start(&state, 9));
        let nodes = list.finish();
        assert_eq!(nodes.len(), 600, "nothing is added beyond the limit");
        assert!(nodes.iter().eq(expected.iter().copied()), "{size}");
        assert_eq!(nodes.bytes(), 600 * GeneratedNodes::bytes_each(size));
    }

    #[test]
    fn packed_nodes_equal_the_generated_ones() {
        round_trip::<Packed64>(3, 3);
        round_trip::<Packed64>(4, 4);
        round_trip::<Packed128>(5, 5);
        round_trip::<PackedBytes>(10, 10);
    }

    #[test]
    fn a_generated_node_of_sixteen_cells_takes_24_bytes() {
        let bytes = |side| GeneratedNodes::bytes_each(Size::try_from((side, side)).unwrap());
        assert_eq!([2, 4, 5, 6, 10].map(bytes), [24, 24, 32, 52, 116]);
    }
}
