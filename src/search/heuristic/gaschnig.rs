//! Gaschnig's heuristic.

use super::Heuristic;
use crate::domain::{Cell, Packed, Size};
use crate::search::{Slide, State};

/// Number of moves in a relaxed puzzle in which any tile may jump into the blank (Gaschnig 1979).
///
/// The blank's own cycle of the permutation, of k cells, takes k − 1 jumps. Every other cycle of k ≥ 2 cells takes
/// k + 1, one of them to bring in the blank. The number is exact for the relaxed puzzle, so it is consistent.
#[derive(Clone, Debug)]
pub struct Gaschnig {
    cells: Cell,
}

impl Gaschnig {
    /// For boards of a shape.
    pub fn new(size: Size) -> Self {
        Self { cells: size.cells() as Cell }
    }
}

impl<P: Packed> Heuristic<P> for Gaschnig {
    type Memo = u16;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> u16 {
        let mut seen = 0_u128;
        let mut jumps = 0;
        for start in 0..self.cells {
            let (mut cell, mut length, mut has_blank) = (start, 0, false);
            while seen & (1 << cell) == 0 {
                seen |= 1 << cell;
                length += 1;
                has_blank |= cell == state.blank;
                cell = state.tiles.get(cell);
            }
            jumps += match (length, has_blank) {
                (0 | 1, _) => 0,
                (_, true) => length - 1,
                (_, false) => length + 1,
            };
        }
        jumps
    }

    #[inline]
    fn after(&self, _: u16, _: &Slide, state: &State<P>) -> u16 {
        self.evaluate(state)
    }

    #[inline]
    fn h(&self, memo: u16) -> u32 {
        u32::from(memo)
    }
}
