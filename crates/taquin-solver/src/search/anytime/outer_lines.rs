//! Outer lines of a board, one after another.

use crate::domain::{Cell, Move, Size};

/// Iterator over the outer lines of a board, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct OuterLines {
    size: Size,
    /// Remaining rows and columns, as half-open ranges.
    rows: [usize; 2],
    cols: [usize; 2],
    kept: Cell,
    until: usize,
}

/// An outer row or column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OuterLine {
    /// Its cells, in order.
    pub cells: Vec<Cell>,
    /// Direction from the line to the remaining rectangle.
    pub inward: Move,
}

impl OuterLines {
    /// Lines are removed until at most `until` cells a side are left. `kept` is in none of them.
    pub(crate) fn new(size: Size, kept: Cell, until: usize) -> Self {
        Self { size, rows: [0, size.rows()], cols: [0, size.cols()], kept, until }
    }

    /// Remaining rows and columns, as half-open ranges.
    pub(crate) fn rest(&self) -> [[usize; 2]; 2] {
        [self.rows, self.cols]
    }
}

impl Iterator for OuterLines {
    type Item = OuterLine;

    /// Shortens the longer side, at the end farther from the cell to keep.
    fn next(&mut self) -> Option<OuterLine> {
        let [height, width] = self.rest().map(|[first, beyond]| beyond - first);
        if height.max(width) <= self.until {
            return None;
        }
        let size = self.size;
        if height >= width {
            let (row, is_first) = shorten(&mut self.rows, size.row_of(self.kept));
            let cells = (self.cols[0]..self.cols[1]).map(|col| size.cell_at(row, col)).collect();
            Some(OuterLine { cells, inward: if is_first { Move::Down } else { Move::Up } })
        } else {
            let (col, is_first) = shorten(&mut self.cols, size.col_of(self.kept));
            let cells = (self.rows[0]..self.rows[1]).map(|row| size.cell_at(row, col)).collect();
            Some(OuterLine { cells, inward: if is_first { Move::Right } else { Move::Left } })
        }
    }
}

/// Removes the first or the last line, whichever is farther from `kept`. Returns it, and true if it was the first.
fn shorten([first, beyond]: &mut [usize; 2], kept: usize) -> (usize, bool) {
    if kept - *first >= *beyond - 1 - kept {
        *first += 1;
        (*first - 1, true)
    } else {
        *beyond -= 1;
        (*beyond, false)
    }
}

/// A set of cells, one bit each.
pub(crate) type CellSet = u128;

/// The set of a single cell.
pub(crate) fn bit(cell: Cell) -> CellSet {
    1 << cell
}

/// The set of some cells.
pub(crate) fn set_of(cells: impl IntoIterator<Item = Cell>) -> CellSet {
    cells.into_iter().fold(0, |set, cell| set | bit(cell))
}

/// True if the set contains the cell.
pub(crate) fn contains(set: CellSet, cell: Cell) -> bool {
    set & bit(cell) != 0
}

/// The cells of a set, in ascending order.
pub(crate) fn cells_of(set: CellSet) -> impl Iterator<Item = Cell> {
    std::iter::successors(Some(set), |set| Some(set & set.wrapping_sub(1)))
        .take_while(|set| *set != 0)
        .map(|set| set.trailing_zeros() as Cell)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_rest_partition_the_cells() {
        for size in Size::all() {
            for kept in 0..size.cells() as Cell {
                let mut lines = OuterLines::new(size, kept, 3);
                let mut cells: Vec<Cell> = lines.by_ref().flat_map(|line| line.cells).collect();
                let [rows, cols] = lines.rest();
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
    fn the_rest_lies_inward_of_each_line() {
        for size in Size::all() {
            let mut left: Vec<Cell> = (0..size.cells() as Cell).collect();
            for line in OuterLines::new(size, 0, 2) {
                left.retain(|cell| !line.cells.contains(cell));
                let is_left = |cell: &Cell| size.neighbor(*cell, line.inward).is_some_and(|next| left.contains(&next));
                assert!(line.cells.iter().all(is_left), "{size}: {line:?}");
            }
        }
    }
}
