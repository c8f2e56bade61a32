//! Manhattan distance.

use super::{Heuristic, Part};
use crate::domain::{Cell, Move, Packed, Size};
use crate::search::{Slide, State};

/// Sum, over the tiles, of the rows and columns between a tile and its goal cell.
///
/// Each move changes the sum by exactly 1, so the heuristic is consistent.
#[derive(Clone, Debug)]
pub struct Manhattan {
    size: Size,
    goal_blank: Cell,
    /// By cell: its row, and its column.
    lines: [[u8; 256]; 2],
}

impl Manhattan {
    /// For boards of a shape with the given goal cell of the blank.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        let mut lines = [[0; 256]; 2];
        for cell in 0..size.cells() as Cell {
            lines[0][usize::from(cell)] = size.row_of(cell) as u8;
            lines[1][usize::from(cell)] = size.col_of(cell) as u8;
        }
        Self { size, goal_blank, lines }
    }
}

impl Manhattan {
    /// The label of each tile, and its distance from its goal cell.
    #[inline]
    fn distances<P: Packed>(&self, state: &State<P>) -> impl Iterator<Item = (u8, u32)> {
        let tiles = (0..self.size.cells() as Cell).map(|cell| (state.tiles.get(cell), cell));
        let tiles = tiles.filter(|(label, _)| *label != self.goal_blank);
        tiles.map(|(label, cell)| (label, self.size.distance(label, cell)))
    }
}

impl<P: Packed> Heuristic<P> for Manhattan {
    type Memo = u16;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> u16 {
        self.distances(state).map(|(_, distance)| distance as u16).sum()
    }

    #[inline]
    fn after(&self, memo: u16, slide: &Slide, _: &State<P>) -> u16 {
        // Up and down change rows, left and right columns. The tile moves opposite to the blank.
        let lines = &self.lines[slide.mv as usize % 2];
        let (nearer, goal) = (lines[usize::from(slide.from.min(slide.to))], lines[usize::from(slide.label)]);
        let comes_closer = (nearer < goal) == matches!(slide.mv, Move::Up | Move::Left);
        if comes_closer { memo - 1 } else { memo + 1 }
    }

    #[inline]
    fn h(&self, memo: u16) -> u32 {
        u32::from(memo)
    }

    fn parts(&self, state: &State<P>) -> Vec<Part> {
        self.distances(state).map(|(label, distance)| Part::tile(label, distance)).collect()
    }
}
