//! Gaschnig's heuristic.

use super::{Heuristic, Part, PartOf};
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

impl Gaschnig {
    /// Calls `found` with the first cell and the jumps of each cycle of at least two cells.
    #[inline]
    fn each_cycle<P: Packed>(&self, state: &State<P>, mut found: impl FnMut(Cell, u16)) {
        let mut seen = 0_u128;
        for start in 0..self.cells {
            let (mut cell, mut length, mut has_blank) = (start, 0, false);
            while seen & (1 << cell) == 0 {
                seen |= 1 << cell;
                length += 1;
                has_blank |= cell == state.blank;
                cell = state.tiles.get(cell);
            }
            match (length, has_blank) {
                (0 | 1, _) => {}
                (_, true) => found(start, length - 1),
                (_, false) => found(start, length + 1),
            }
        }
    }
}

impl<P: Packed> Heuristic<P> for Gaschnig {
    type Memo = u16;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> u16 {
        let mut jumps = 0;
        self.each_cycle(state, |_, of_cycle| jumps += of_cycle);
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

    fn parts(&self, state: &State<P>) -> Vec<Part> {
        let mut parts = Vec::new();
        self.each_cycle(state, |start, jumps| {
            let next = |cell: &Cell| Some(state.tiles.get(*cell)).filter(|cell| *cell != start);
            let labels = std::iter::successors(Some(start), next).collect();
            parts.push(Part { of: PartOf::Cycle, labels, cost: u32::from(jumps) });
        });
        parts
    }
}
