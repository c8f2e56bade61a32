//! The shape of a board.

use std::fmt;

use super::{Cell, Move, MoveSet};

/// A shape of 2 to 10 rows by 2 to 10 columns.
///
/// A side of 1 is rejected. On such a board the blank only slides along a line and tiles never pass each other, so
/// the parity rule of [`Puzzle`](super::Puzzle) does not hold.
///
/// ```
/// use taquin_solver::Size;
/// let size = Size::try_from((3, 4)).unwrap();
/// assert_eq!(size.cells(), 12);
/// assert!(Size::try_from((1, 4)).is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size {
    rows: u8,
    cols: u8,
}

/// A side is shorter than [`Size::MIN_SIDE`] or longer than [`Size::MAX_SIDE`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SizeError {
    /// Requested rows.
    pub rows: usize,
    /// Requested columns.
    pub cols: usize,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a board has 2 to 10 rows and 2 to 10 columns; this one is {}×{}", self.rows, self.cols)
    }
}

impl std::error::Error for SizeError {}

impl TryFrom<(usize, usize)> for Size {
    type Error = SizeError;

    fn try_from((rows, cols): (usize, usize)) -> Result<Self, SizeError> {
        let sides = Self::MIN_SIDE..=Self::MAX_SIDE;
        if sides.contains(&rows) && sides.contains(&cols) {
            Ok(Self { rows: rows as u8, cols: cols as u8 })
        } else {
            Err(SizeError { rows, cols })
        }
    }
}

impl Size {
    /// The shortest side.
    pub const MIN_SIDE: usize = 2;
    /// The longest side.
    pub const MAX_SIDE: usize = 10;
    /// Cells of the largest board.
    pub const MAX_CELLS: usize = Self::MAX_SIDE * Self::MAX_SIDE;

    /// Every shape, smallest sides first.
    pub fn all() -> impl Iterator<Item = Self> {
        let sides = Self::MIN_SIDE as u8..=Self::MAX_SIDE as u8;
        sides.clone().flat_map(move |rows| sides.clone().map(move |cols| Self { rows, cols }))
    }

    /// Number of rows.
    pub fn rows(self) -> usize {
        usize::from(self.rows)
    }

    /// Number of columns.
    pub fn cols(self) -> usize {
        usize::from(self.cols)
    }

    /// Number of cells, the blank's included.
    pub fn cells(self) -> usize {
        self.rows() * self.cols()
    }

    /// Rows × columns, for example `3×4`.
    pub fn name(self) -> &'static str {
        NAMES[self.rows() - Self::MIN_SIDE][self.cols() - Self::MIN_SIDE]
    }

    /// The row of a cell, from 0.
    #[inline]
    pub fn row_of(self, cell: Cell) -> usize {
        // Division is slow, so multiply by 1024 ÷ cols, rounded up.
        const RECIPROCALS: [u16; Size::MAX_SIDE + 1] = {
            let mut reciprocals = [0; Size::MAX_SIDE + 1];
            let mut cols = 1;
            while cols <= Size::MAX_SIDE {
                reciprocals[cols] = 1024_u16.div_ceil(cols as u16);
                cols += 1;
            }
            reciprocals
        };
        (usize::from(cell) * usize::from(RECIPROCALS[usize::from(self.cols)])) >> 10
    }

    /// The column of a cell, from 0.
    #[inline]
    pub fn col_of(self, cell: Cell) -> usize {
        usize::from(cell) - self.row_of(cell) * self.cols()
    }

    /// The cell at a row and a column, both from 0.
    pub fn cell_at(self, row: usize, col: usize) -> Cell {
        debug_assert!(row < self.rows() && col < self.cols());
        (row * self.cols() + col) as Cell
    }

    /// Steps between two cells along rows and columns.
    pub fn distance(self, a: Cell, b: Cell) -> u32 {
        let rows = self.row_of(a).abs_diff(self.row_of(b));
        let cols = self.col_of(a).abs_diff(self.col_of(b));
        (rows + cols) as u32
    }

    /// The legal moves of a blank in `cell`.
    pub fn moves_from(self, cell: Cell) -> MoveSet {
        Move::ALL.into_iter().filter(|mv| self.neighbor(cell, *mv).is_some()).collect()
    }

    /// The blank's cell after a move from `cell`; `None` if the move leaves the board.
    #[inline]
    pub fn neighbor(self, cell: Cell, mv: Move) -> Option<Cell> {
        let to = cell.wrapping_add_signed(self.offset(mv));
        let is_vertical = matches!(mv, Move::Up | Move::Down);
        // Without branches, which the moves of a path would make unpredictable.
        let is_open = (usize::from(to) < self.cells()) & (is_vertical | (self.row_of(to) == self.row_of(cell)));
        is_open.then_some(to)
    }

    /// The change of the blank's cell index by a move.
    #[inline]
    pub fn offset(self, mv: Move) -> i8 {
        let cols = self.cols as i8;
        [-cols, -1, cols, 1][mv as usize]
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

macro_rules! names_with {
    ($rows:literal) => { names_with!($rows: 2 3 4 5 6 7 8 9 10) };
    ($rows:literal: $($cols:literal)*) => { [$(concat!($rows, "×", $cols)),*] };
}

/// Names by rows and columns.
const NAMES: [[&str; 9]; 9] = [
    names_with!(2),
    names_with!(3),
    names_with!(4),
    names_with!(5),
    names_with!(6),
    names_with!(7),
    names_with!(8),
    names_with!(9),
    names_with!(10),
];

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_quotient_and_remainder() {
        for size in Size::all() {
            for cell in 0..size.cells() {
                assert_eq!(size.row_of(cell as Cell), cell / size.cols(), "{size}, cell {cell}");
                assert_eq!(size.col_of(cell as Cell), cell % size.cols(), "{size}, cell {cell}");
            }
        }
    }

    #[test]
    fn names_are_the_sides() {
        for size in Size::all() {
            assert_eq!(size.name(), format!("{}×{}", size.rows(), size.cols()));
        }
    }

    #[test]
    fn the_blank_never_leaves_the_board() {
        for size in Size::all() {
            for cell in 0..size.cells() as Cell {
                for mv in Move::ALL {
                    let (row, col) = (size.row_of(cell) as isize, size.col_of(cell) as isize);
                    let (row, col) = match mv {
                        Move::Up => (row - 1, col),
                        Move::Left => (row, col - 1),
                        Move::Down => (row + 1, col),
                        Move::Right => (row, col + 1),
                    };
                    let inside = (0..size.rows() as isize).contains(&row) && (0..size.cols() as isize).contains(&col);
                    let expected = inside.then(|| size.cell_at(row as usize, col as usize));
                    assert_eq!(size.neighbor(cell, mv), expected);
                }
            }
        }
    }
}
