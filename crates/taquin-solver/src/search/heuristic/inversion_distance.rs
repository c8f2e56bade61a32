//! Inversion distance.

use super::{Heuristic, Part, PartOf};
use crate::domain::{Cell, Move, Packed, Size};
use crate::search::{Slide, State};

/// Minimum number of vertical moves that undo the inversions of the row order, plus minimum number of horizontal moves
/// that undo the inversions of the column order.
///
/// A vertical move takes a tile past the k = columns − 1 tiles between its two cells in row order, so it changes the
/// number of inversions by k, k − 2, …, or −k; a horizontal move leaves it unchanged. The minimum number of vertical
/// moves is therefore the least m with m·k at least the number of inversions and, for odd k, of its parity. The
/// same holds for columns. The two bounds count different moves, so they add up. (Solvers of the 15-puzzle know it as
/// `inversions / 3 + inversions % 3`.)
#[derive(Clone, Debug)]
pub struct InversionDistance {
    size: Size,
    goal_blank: Cell,
    /// By cell: its index in column order.
    in_column_order: [Cell; Size::MAX_CELLS],
    vertical: Vec<u16>,
    horizontal: Vec<u16>,
}

/// Number of inversions in row order and in column order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inversions {
    by_rows: u16,
    by_cols: u16,
}

impl InversionDistance {
    /// For boards of a shape with the given goal cell of the blank.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        let mut in_column_order = [0; Size::MAX_CELLS];
        for cell in 0..size.cells() as Cell {
            in_column_order[usize::from(cell)] = (size.col_of(cell) * size.rows() + size.row_of(cell)) as Cell;
        }
        let tiles = size.cells() - 1;
        let least_moves = |per_move: usize| {
            (0..=tiles * (tiles - 1) / 2).map(move |inversions| {
                let moves = inversions.div_ceil(per_move);
                let is_wrong_parity = per_move % 2 == 1 && moves % 2 != inversions % 2;
                (moves + usize::from(is_wrong_parity)) as u16
            })
        };
        Self {
            size,
            goal_blank,
            in_column_order,
            vertical: least_moves(size.cols() - 1).collect(),
            horizontal: least_moves(size.rows() - 1).collect(),
        }
    }

    /// The cell with a given index in column order.
    fn cell_in_column_order(&self, index: Cell) -> Cell {
        let rows = self.size.rows() as Cell;
        self.size.cell_at(usize::from(index % rows), usize::from(index / rows))
    }

    fn column_label<P: Packed>(&self, state: &State<P>, index: Cell) -> u8 {
        self.in_column_order[usize::from(state.tiles.get(self.cell_in_column_order(index)))]
    }

    fn count(&self, label_at: impl Fn(Cell) -> u8, blank: u8) -> u16 {
        let labels = || (0..self.size.cells() as Cell).map(&label_at).filter(move |label| *label != blank);
        let inversions =
            labels().enumerate().map(|(at, left)| labels().skip(at + 1).filter(|right| *right < left).count());
        inversions.sum::<usize>() as u16
    }
}

/// Number of inversions after a tile has moved from one index to another, past the tiles between.
fn after_passing(inversions: u16, tile: u8, from: Cell, to: Cell, label_at: impl Fn(Cell) -> u8) -> u16 {
    let past = from.min(to) + 1..from.max(to);
    let (all, smaller) =
        past.fold((0, 0), |(all, smaller), index| (all + 1, smaller + u16::from(label_at(index) < tile)));
    // Moving forward removes the inversions with smaller tiles and adds one with each of the others.
    if from < to { inversions + (all - smaller) - smaller } else { inversions + smaller - (all - smaller) }
}

impl<P: Packed> Heuristic<P> for InversionDistance {
    type Memo = Inversions;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> Inversions {
        let blank = self.goal_blank;
        Inversions {
            by_rows: self.count(|cell| state.tiles.get(cell), blank),
            by_cols: self.count(|index| self.column_label(state, index), self.in_column_order[usize::from(blank)]),
        }
    }

    fn after(&self, memo: Inversions, slide: &Slide, state: &State<P>) -> Inversions {
        match slide.mv {
            Move::Up | Move::Down => {
                let by_rows =
                    after_passing(memo.by_rows, slide.label, slide.from, slide.to, |cell| state.tiles.get(cell));
                Inversions { by_rows, ..memo }
            }
            Move::Left | Move::Right => {
                let index = |cell: Cell| self.in_column_order[usize::from(cell)];
                let (tile, from, to) = (index(slide.label), index(slide.from), index(slide.to));
                let by_cols = after_passing(memo.by_cols, tile, from, to, |index| self.column_label(state, index));
                Inversions { by_cols, ..memo }
            }
        }
    }

    #[inline]
    fn h(&self, memo: Inversions) -> u32 {
        u32::from(self.vertical[usize::from(memo.by_rows)]) + u32::from(self.horizontal[usize::from(memo.by_cols)])
    }

    fn parts(&self, state: &State<P>) -> Vec<Part> {
        let Inversions { by_rows, by_cols } = self.evaluate(state);
        let vertical = Part::lines(PartOf::Rows, self.vertical[usize::from(by_rows)]);
        vec![vertical, Part::lines(PartOf::Columns, self.horizontal[usize::from(by_cols)])]
    }
}
