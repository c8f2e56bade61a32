//! Hamming distance.

use super::{Heuristic, Part};
use crate::domain::{Cell, Packed, Size};
use crate::search::{Slide, State};

/// Number of tiles out of place. With `COUNT_BLANK`, the blank counts as a tile.
///
/// A move changes the count of tiles by at most one, so that count is consistent. With the blank, it is not even
/// admissible: one move from the goal it is 2.
#[derive(Clone, Debug)]
pub struct Hamming<const COUNT_BLANK: bool> {
    goal_blank: Cell,
    cells: Cell,
}

impl<const COUNT_BLANK: bool> Hamming<COUNT_BLANK> {
    /// For boards of a shape with the given goal cell of the blank.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        Self { goal_blank, cells: size.cells() as Cell }
    }
}

impl<const COUNT_BLANK: bool> Hamming<COUNT_BLANK> {
    /// The labels that count, and their cells.
    #[inline]
    fn counted<P: Packed>(&self, state: &State<P>) -> impl Iterator<Item = (u8, Cell)> {
        let labels = (0..self.cells).map(|cell| (state.tiles.get(cell), cell));
        labels.filter(|(label, _)| COUNT_BLANK || *label != self.goal_blank)
    }
}

impl<P: Packed, const COUNT_BLANK: bool> Heuristic<P> for Hamming<COUNT_BLANK> {
    type Memo = u16;

    const ADMISSIBLE: bool = !COUNT_BLANK;

    fn evaluate(&self, state: &State<P>) -> u16 {
        self.counted(state).filter(|(label, cell)| label != cell).count() as u16
    }

    #[inline]
    fn after(&self, memo: u16, slide: &Slide, _: &State<P>) -> u16 {
        let tile = memo + u16::from(slide.label != slide.to) - u16::from(slide.label != slide.from);
        if COUNT_BLANK {
            tile + u16::from(self.goal_blank != slide.from) - u16::from(self.goal_blank != slide.to)
        } else {
            tile
        }
    }

    #[inline]
    fn h(&self, memo: u16) -> u32 {
        u32::from(memo)
    }

    fn parts(&self, state: &State<P>) -> Vec<Part> {
        self.counted(state).map(|(label, cell)| Part::tile(label, u32::from(label != cell))).collect()
    }
}
