//! Outer lines of a board, one after another.

use crate::domain::{Cell, Move, Size};

/// A rectangle of cells from which outer rows and columns are taken, one at a time, until no side is longer than asked
/// for; the blank's goal remains.
#[derive(Clone, Debug)]
pub(super) struct Peel {
    size: Size,
    /// The first row and column that are left, and the first ones beyond.
    rows: [usize; 2],
    cols: [usize; 2],
    kept: Cell,
    until: usize,
}

/// An outer row or column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    /// Its cells in order.
    pub(super) cells: Vec<Cell>,
    /// Where the rest lies.
    pub(super) inward: Move,
}

impl Peel {
    /// Takes lines of a board until `until` cells a side are left at most, `kept` among them.
    pub(super) fn new(size: Size, kept: Cell, until: usize) -> Self {
        Self { size, rows: [0, size.rows()], cols: [0, size.cols()], kept, until }
    }

    /// The rows that are left, from the first to the first one beyond, and the columns.
    pub(super) fn rest(&self) -> [[usize; 2]; 2] {
        [self.rows, self.cols]
    }
}

impl Iterator for Peel {
    type Item = Line;

    /// The longer side becomes shorter, at the end that is farther from the cell to be kept.
    fn next(&mut self) -> Option<Line> {
        let [height, width] = self.rest().map(|[first, beyond]| beyond - first);
        if height.max(width) <= self.until {
            return None;
        }
        let size = self.size;
        if height >= width {
            let (row, is_first) = shorten(&mut self.rows, size.row_of(self.kept));
            let cells = (self.cols[0]..self.cols[1]).map(|col| size.cell_at(row, col)).collect();
            Some(Line { cells, inward: if is_first { Move::Down } else { Move::Up } })
        } else {
            let (col, is_first) = shorten(&mut self.cols, size.col_of(self.kept));
            let cells = (self.rows[0]..self.rows[1]).map(|row| size.cell_at(row, col)).collect();
            Some(Line { cells, inward: if is_first { Move::Right } else { Move::Left } })
        }
    }
}

/// Takes the first or the last of some lines, whichever is farther from one of them; says which it is.
fn shorten([first, beyond]: &mut [usize; 2], kept: usize) -> (usize, bool) {
    if kept - *first >= *beyond - 1 - kept {
        *first += 1;
        (*first - 1, true)
    } else {
        *beyond -= 1;
        (*beyond, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_the_rest_are_all_cells_once_and_the_rest_has_the_cell_to_be_kept() {
        for size in Size::all() {
            for kept in 0..size.cells() as Cell {
                let mut peel = Peel::new(size, kept, 3);
                let mut cells: Vec<Cell> = peel.by_ref().flat_map(|line| line.cells).collect();
                let [rows, cols] = peel.rest();
                let rest: Vec<Cell> = (rows[0]..rows[1])
                    .flat_map(|row| (cols[0]..cols[1]).map(move |col| size.cell_at(row, col)))
                    .collect();
                assert!(rest.contains(&kept) && rest.len() <= 9, "{size}, {kept}");
                cells.extend(rest);
                cells.sort_unstable();
                assert!(cells.into_iter().eq(0..size.cells() as Cell), "{size}, {kept}");
            }
        }
    }

    #[test]
    fn inward_of_a_line_is_what_is_left() {
        for size in Size::all() {
            let mut left: Vec<Cell> = (0..size.cells() as Cell).collect();
            for line in Peel::new(size, 0, 2) {
                left.retain(|cell| !line.cells.contains(cell));
                let is_left = |cell: &Cell| size.neighbour(*cell, line.inward).is_some_and(|next| left.contains(&next));
                assert!(line.cells.iter().all(is_left), "{size}: {line:?}");
            }
        }
    }
}
