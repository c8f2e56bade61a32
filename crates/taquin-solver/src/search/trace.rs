//! Trace of a search, for display: the first nodes that it expanded or generated, and its iterations.

use std::collections::HashMap;

use super::generated::{GeneratedList, GeneratedNodes, Generation};
use super::packed_boards::PackedBoards;
use super::stats::IterationCounts;
use super::{Slide, Space, State};
use crate::domain::{Board, Move, Packed, Size, Tile};

/// A recorded expansion of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Expansion {
    /// The board.
    pub board: Board,
    /// The move that led here and the tile that slid; `None` for the start.
    pub arrived_by: Option<(Move, Tile)>,
    /// Index of the parent's expansion, from 0; `None` for the start.
    pub parent: Option<u32>,
    /// Moves from the start.
    pub g: u32,
    /// The heuristic's value.
    pub h: u32,
    /// The value by which the search orders or limits nodes.
    pub f: f64,
    /// Sizes of the lists of the search; `None` for a search without lists.
    pub lists: Option<ListSizes>,
}

/// Sizes of the lists of a search when it takes a node from its open list, without that node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListSizes {
    /// Nodes that await expansion.
    pub open: u32,
    /// Nodes expanded before, without those reopened since.
    pub closed: u32,
}

impl ListSizes {
    /// The sizes for this many open nodes, after this many expansions and reopenings.
    pub(crate) fn new(open: u64, expanded: u64, reopened: u64) -> Self {
        Self { open: open as u32, closed: (expanded - reopened) as u32 }
    }
}

/// Recorded expansions in order, packed: 40 bytes each on boards of up to 16 cells, 132 on boards of 100.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Expansions {
    steps: Vec<Step>,
    boards: PackedBoards,
}

/// An expansion without its board.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Step {
    f: f64,
    g: u32,
    h: u32,
    /// [`NO_LISTS`] for a search without lists.
    lists: ListSizes,
    /// [`NO_PARENT`] for the start.
    parent: u32,
    /// Index of the move in [`Move::ALL`]; meaningless for the start.
    mv: u8,
    /// The tile that slid; 0 for the start.
    tile: Tile,
}

const NO_PARENT: u32 = u32::MAX;
const NO_LISTS: ListSizes = ListSizes { open: u32::MAX, closed: u32::MAX };

impl Expansions {
    /// Number of expansions.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// True if nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// All expansions.
    pub fn iter(&self) -> impl Iterator<Item = Expansion> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The expansion at an index.
    pub fn get(&self, at: usize) -> Option<Expansion> {
        let (board, Step { f, g, h, lists, parent, mv, tile }) = (self.boards.get(at)?, *self.steps.get(at)?);
        let arrived_by = (tile != 0).then(|| (Move::ALL[usize::from(mv)], tile));
        Some(Expansion {
            board,
            arrived_by,
            parent: (parent != NO_PARENT).then_some(parent),
            g,
            h,
            f,
            lists: (lists != NO_LISTS).then_some(lists),
        })
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        self.steps.capacity() * size_of::<Step>() + self.boards.bytes()
    }

    /// Memory in bytes of an expansion on boards of a size.
    pub fn bytes_each(size: Size) -> usize {
        size_of::<Step>() + PackedBoards::bytes_each(size)
    }

    /// Makes room for another expansion of at most `limit`. Above a size at which copies cost little, room for all is
    /// reserved: it costs nothing until it is touched, but growth needs both the old and the new copy.
    fn grow(&mut self, size: Size, limit: usize) {
        const SMALL: usize = 256;
        let more = if self.len() < SMALL { limit.min(SMALL) } else { limit } - self.len();
        self.steps.reserve_exact(more);
        self.boards.reserve(size, more);
    }

    fn push<P: Packed>(&mut self, space: &Space<P>, visit: &Visit<'_, P>) {
        self.boards.push(space, visit.state);
        self.steps.push(Step {
            f: visit.f,
            g: visit.g,
            h: visit.h,
            lists: visit.lists.unwrap_or(NO_LISTS),
            parent: visit.parent.unwrap_or(NO_PARENT),
            mv: visit.slide.map_or(0, |slide| slide.mv as u8),
            tile: visit.slide.map_or(0, |slide| space.tile(slide.label)),
        });
    }
}

/// Records expansions and generated nodes, each up to a limit, and iterations. The default records nothing.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    limit: usize,
    expansions: Expansions,
    /// By node of the arena: the index of its latest expansion.
    by_node: HashMap<u32, u32>,
    generated: GeneratedList,
    /// `None` if they are not recorded.
    iterations: Option<Vec<IterationCounts>>,
}

/// What a [`Trace`] has recorded, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Recorded {
    /// The first expansions.
    pub expansions: Expansions,
    /// The first generated nodes.
    pub generated: GeneratedNodes,
    /// The iterations, of which the last may be incomplete.
    pub iterations: Vec<IterationCounts>,
}

/// A node about to be expanded.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a, P> {
    /// The state.
    pub state: &'a State<P>,
    /// The slide that led here.
    pub slide: Option<Slide>,
    /// Index of the parent's expansion.
    pub parent: Option<u32>,
    /// Moves from the start.
    pub g: u32,
    /// The heuristic's value.
    pub h: u32,
    /// The value by which the search orders or limits nodes.
    pub f: f64,
    /// Sizes of the lists; `None` for a search without lists.
    pub lists: Option<ListSizes>,
}

impl Trace {
    /// Maximum bytes of an entry of the index by node: a table twice as large as needed, and the smaller one before it.
    const INDEX_BYTES: usize = 32;

    /// A trace of the first `limit` expansions. Memory is reserved for all of them once a few hundred are recorded.
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// The trace that also lists the first `limit` generated nodes.
    #[must_use]
    pub fn with_generated(self, limit: usize) -> Self {
        Self { generated: GeneratedList::new(limit), ..self }
    }

    /// The trace that also records iterations.
    #[must_use]
    pub fn with_iterations(self) -> Self {
        Self { iterations: Some(Vec::new()), ..self }
    }

    /// Maximum memory in bytes of a trace of `limit` expansions on boards of a size.
    pub fn most_bytes(size: Size, limit: u64) -> u64 {
        limit.saturating_mul((Expansions::bytes_each(size) + Self::INDEX_BYTES) as u64)
    }

    /// True while the limit is not reached.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.expansions.len() < self.limit
    }

    /// Records one expansion and returns its index.
    pub fn record<P: Packed>(&mut self, space: &Space<P>, visit: &Visit<'_, P>) -> u32 {
        let index = self.expansions.len();
        if index == self.expansions.steps.capacity() {
            self.expansions.grow(space.size(), self.limit);
        }
        self.expansions.push(space, visit);
        index as u32
    }

    /// Sets the index of a node's latest expansion.
    pub fn set_index(&mut self, node: u32, index: u32) {
        self.by_node.insert(node, index);
    }

    /// The index of a node's latest expansion, if it was recorded.
    pub fn index_of(&self, node: u32) -> Option<u32> {
        self.by_node.get(&node).copied()
    }

    /// True while the limit of generated nodes is not reached.
    #[inline]
    pub fn is_listing(&self) -> bool {
        self.generated.is_listing()
    }

    /// Lists a generated node, unless the limit is reached. The start comes first.
    pub fn list<P: Packed>(&mut self, space: &Space<P>, generation: &Generation<'_, P>) {
        self.generated.push(space, generation);
    }

    /// Records an iteration.
    pub fn iterated(&mut self, counts: IterationCounts) {
        if let Some(iterations) = &mut self.iterations {
            iterations.push(counts);
        }
    }

    /// The recorded expansions, in order.
    pub fn into_expansions(self) -> Expansions {
        self.into_recorded().expansions
    }

    /// All that was recorded.
    pub fn into_recorded(mut self) -> Recorded {
        self.expansions.steps.shrink_to_fit();
        self.expansions.boards.shrink_to_fit();
        let (generated, iterations) = (self.generated.finish(), self.iterations.unwrap_or_default());
        Recorded { expansions: self.expansions, generated, iterations }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Packed64, Packed128, PackedBytes, Puzzle, SplitMix, random_board};

    fn round_trip<P: Packed>(rows: usize, cols: usize) {
        let size = Size::try_from((rows, cols)).unwrap();
        let mut random = SplitMix(3);
        let goal = random_board(&Board::blank_last(size), &mut random);
        let start = random_board(&goal, &mut random);
        let space = Space::<P>::new(&Puzzle::try_new(start, goal).unwrap());
        let (mut trace, mut state, mut board, mut slide) = (Trace::new(700), space.start(), start, None);
        let mut expected = Vec::new();
        for nth in 0..700 {
            assert!(trace.is_recording());
            let parent = if nth == 0 { None } else { Some(nth - 1) };
            let lists = (nth > 1).then_some(ListSizes { open: 3 * nth, closed: nth });
            let visit = Visit { state: &state, slide, parent, g: nth, h: 2 * nth, f: 1.5, lists };
            assert_eq!(trace.record(&space, &visit), nth);
            let arrived_by = slide.map(|slide: Slide| (slide.mv, space.tile(slide.label)));
            expected.push(Expansion { board, arrived_by, parent, g: nth, h: 2 * nth, f: 1.5, lists });
            let mv = board.moves().into_iter().nth(nth as usize % 2).unwrap();
            slide = Some(space.make(&mut state, mv));
            board.make(mv).unwrap();
        }
        assert!(!trace.is_recording());
        let expansions = trace.into_expansions();
        assert!(expansions.iter().eq(expected.iter().copied()), "{size}");
        assert_eq!(expansions.bytes(), 700 * Expansions::bytes_each(size));
    }

    #[test]
    fn packed_expansions_equal_the_recorded_ones() {
        round_trip::<Packed64>(3, 3);
        round_trip::<Packed64>(4, 4);
        round_trip::<Packed128>(5, 5);
        round_trip::<PackedBytes>(5, 5);
        round_trip::<PackedBytes>(10, 10);
    }

    #[test]
    fn an_expansion_of_sixteen_cells_takes_40_bytes() {
        let bytes = |side| Expansions::bytes_each(Size::try_from((side, side)).unwrap());
        assert_eq!([2, 4, 5, 6, 10].map(bytes), [40, 40, 48, 68, 132]);
    }
}
