//! Manhattan distance.

use super::super::{Slide, State};
use super::Heuristic;
use crate::domain::{Cell, Packed, Size};

/// The sum, over the tiles, of the rows and columns between a tile and its place.
///
/// A move takes one tile one step, so the sum drops by at most 1: consistent.
#[derive(Clone, Debug)]
pub struct Manhattan {
    goal_blank: Cell,
    cells: usize,
    /// Steps between two cells, at `label × cells + cell`.
    distances: Vec<u8>,
}

impl Manhattan {
    /// For boards of one shape whose blank belongs in `goal_blank`.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        let cells = size.cells();
        let distance = |index: usize| size.distance((index / cells) as Cell, (index % cells) as Cell) as u8;
        Self { goal_blank, cells, distances: (0..cells * cells).map(distance).collect() }
    }

    #[inline]
    fn distance(&self, label: u8, cell: Cell) -> u16 {
        u16::from(self.distances[usize::from(label) * self.cells + usize::from(cell)])
    }
}

impl<P: Packed> Heuristic<P> for Manhattan {
    type Memo = u16;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> u16 {
        let tiles = (0..self.cells as Cell).map(|cell| (state.tiles.get(cell), cell));
        tiles.filter(|(label, _)| *label != self.goal_blank).map(|(label, cell)| self.distance(label, cell)).sum()
    }

    #[inline]
    fn after(&self, memo: u16, slide: &Slide, _: &State<P>) -> u16 {
        memo + self.distance(slide.label, slide.to) - self.distance(slide.label, slide.from)
    }

    #[inline]
    fn h(&self, memo: u16) -> u32 {
        u32::from(memo)
    }
}
