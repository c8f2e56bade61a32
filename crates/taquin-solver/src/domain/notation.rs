//! Board notation.

use std::fmt;
use std::str::FromStr;

use super::{Board, PermutationFault, Size, SizeError};
use crate::named;

/// A board as a client wrote it: entries in order, not validated.
///
/// The text notation separates cells by spaces or commas, and rows by `/`, `;` or a newline. `0`, `_`, `.` or `x` is
/// the blank. Boards of at most 10 cells may omit the separators between cells.
///
/// ```
/// use taquin_solver::{Encoding, RawBoard, Sides};
/// for text in ["8 6 7/2 5 4/3 0 1", "8,6,7;2,5,4;3,_,1", "867254301", "8 6 7\n2 5 4\n3 x 1\n"] {
///     let board = RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).unwrap();
///     assert_eq!(board.to_string(), "8 6 7/2 5 4/3 0 1");
/// }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RawBoard {
    /// The numbers in reading order; `None` for an entry that is not a number.
    pub entries: Vec<Option<i64>>,
    /// Number of entries in each row; `None` for a flat list.
    pub row_lengths: Option<Vec<usize>>,
}

/// A shape given separately from the board; `None` for a side that was not given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sides {
    /// Number of rows.
    pub rows: Option<usize>,
    /// Number of columns.
    pub cols: Option<usize>,
}

impl Sides {
    /// True if a shape has the given sides.
    pub fn agree_with(self, size: Size) -> bool {
        self.rows.is_none_or(|rows| rows == size.rows()) && self.cols.is_none_or(|cols| cols == size.cols())
    }
}

/// Meaning of the entries of a flat list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encoding {
    /// Entry *k* is the tile in cell *k*.
    #[default]
    Tiles,
    /// Entry *k* is the cell of tile *k*, entry 0 the blank's cell.
    Positions,
}

named!(Encoding { Tiles => "tiles", Positions => "positions" });

/// Why a text is not a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidBoard {
    /// Every fault, as a sentence.
    pub faults: Vec<String>,
}

impl fmt::Display for InvalidBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.faults.join("; "))
    }
}

impl std::error::Error for InvalidBoard {}

/// Reads the notation of [`RawBoard::parse`].
impl FromStr for Board {
    type Err = InvalidBoard;

    fn from_str(text: &str) -> Result<Self, InvalidBoard> {
        let raw = RawBoard::parse(text);
        let explain = |fault: &BoardFault| raw.explain("board", fault);
        raw.board(Sides::default(), Encoding::Tiles)
            .map_err(|faults| InvalidBoard { faults: faults.iter().map(explain).collect() })
    }
}

/// A fault of a [`RawBoard`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoardFault {
    /// A side is too short or too long.
    Side(SizeError),
    /// A row is longer or shorter than the first.
    RaggedRow {
        /// The row, from 0.
        row: usize,
        /// Its length.
        length: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// A flat list without a shape.
    ShapeUnknown {
        /// Its length.
        entries: usize,
    },
    /// The number of entries does not match the given shape.
    ShapeMismatch {
        /// Number of entries.
        entries: usize,
        /// The given shape.
        sides: Sides,
    },
    /// Positions were given as rows, but must be a flat list.
    PositionsInRows,
    /// The entries are not a permutation.
    Entry(PermutationFault, Encoding),
}

impl RawBoard {
    /// Splits text into entries. Never fails: an entry that is not a number becomes `None`.
    pub fn parse(text: &str) -> Self {
        let rows = parts(text);
        let entries = rows.iter().flatten().map(|part| entry(part)).collect();
        let row_lengths = (rows.len() > 1).then(|| rows.iter().map(Vec::len).collect());
        Self { entries, row_lengths }
    }

    /// The part of a text that [`parse`](Self::parse) takes for an entry.
    pub fn part(text: &str, entry: usize) -> Option<&str> {
        parts(text).into_iter().flatten().nth(entry)
    }

    /// The largest board whose tiles all have one digit.
    pub const MAX_COMPACT_CELLS: usize = 10;

    /// Row and column of an entry, from 0; `None` if the board is a flat list or has no such entry.
    pub fn row_and_col(&self, entry: usize) -> Option<(usize, usize)> {
        let mut col = entry;
        for (row, length) in self.row_lengths.as_ref()?.iter().enumerate() {
            if col < *length {
                return Some((row, col));
            }
            col -= length;
        }
        None
    }

    /// A sentence for clients about a fault of this board, which they know as `name`. Rows, columns and entries count
    /// from 1.
    pub fn explain(&self, name: &str, fault: &BoardFault) -> String {
        match fault {
            BoardFault::Side(error) => error.to_string(),
            BoardFault::RaggedRow { row, length, expected } => {
                let row = row + 1;
                format!(
                    "row {row} has length {length}, but row 1 has length {expected}: all rows must have the same length"
                )
            }
            BoardFault::ShapeUnknown { entries } => {
                format!("{entries} cells do not form a square: give `rows` and `cols`, or write the board as rows")
            }
            BoardFault::ShapeMismatch { entries, sides } => self.explain_mismatch(name, *entries, *sides),
            BoardFault::PositionsInRows => {
                "positions must be one flat list: the cell of the blank, then of tile 1, tile 2 and so on, from 0"
                    .to_owned()
            }
            BoardFault::Entry(fault, encoding) => self.explain_entry(*fault, *encoding),
        }
    }

    fn explain_mismatch(&self, name: &str, entries: usize, sides: Sides) -> String {
        let actual = match self.row_lengths.as_deref() {
            Some(lengths @ [cols, ..]) => format!("is {}×{cols}", lengths.len()),
            _ if entries == 1 => "has 1 cell".to_owned(),
            _ => format!("has {entries} cells"),
        };
        let given = match (sides.rows, sides.cols) {
            // A flat goal gets its sides from the board.
            (Some(rows), Some(cols)) if name != "board" => format!("the board is {rows}×{cols}"),
            (Some(rows), Some(cols)) => format!("`rows` and `cols` are {rows} and {cols}"),
            (Some(rows), None) => format!("`rows` is {rows}"),
            (None, cols) => format!("`cols` is {}", cols.unwrap_or(0)),
        };
        format!("the {name} {actual}, but {given}")
    }

    fn explain_entry(&self, fault: PermutationFault, encoding: Encoding) -> String {
        let location = |entry| match self.row_and_col(entry) {
            Some((row, col)) => format!("in row {}, column {}", row + 1, col + 1),
            None => format!("entry {}", entry + 1),
        };
        // An entry is out of range only on a board with a valid shape, which has one entry for each cell.
        let greatest = self.entries.len().saturating_sub(1);
        match (fault, encoding) {
            (PermutationFault::Unreadable { .. }, _) => {
                "not a tile: tiles are whole numbers, and the blank is 0, or null in arrays, or _ . x in text"
                    .to_owned()
            }
            (PermutationFault::OutOfRange { value, .. }, Encoding::Tiles) => {
                format!("there is no tile {value} on a board of this size: tiles are numbered from 1 to {greatest}")
            }
            (PermutationFault::OutOfRange { value, .. }, Encoding::Positions) => {
                format!("there is no cell {value} on a board of this size: cells are numbered from 0 to {greatest}")
            }
            (PermutationFault::Duplicate { at, first, value }, Encoding::Tiles) => {
                let tile = if value == 0 { "the blank".to_owned() } else { format!("tile {value}") };
                format!("{tile} is {} and also {}", location(at), location(first))
            }
            (PermutationFault::Duplicate { at, first, value }, Encoding::Positions) => {
                let first = if first == 0 { "the blank".to_owned() } else { format!("tile {first}") };
                format!("cell {value} is assigned to {first} and to tile {at}")
            }
            (PermutationFault::Missing { value: 0 }, Encoding::Tiles) => "no blank: write 0 in one cell".to_owned(),
            (PermutationFault::Missing { value }, Encoding::Tiles) => format!("tile {value} is missing"),
            (PermutationFault::Missing { value }, Encoding::Positions) => {
                format!("cell {value} is missing: neither a tile nor the blank is in it")
            }
        }
    }

    /// Validates the board.
    ///
    /// # Errors
    /// All faults. Without a valid shape, these are the faults of the shape, and unreadable and repeated entries.
    pub fn board(&self, sides: Sides, encoding: Encoding) -> Result<Board, Vec<BoardFault>> {
        let size = match self.size(sides, encoding) {
            Ok(size) => size,
            Err(mut faults) => {
                faults.extend(self.faults_in_any_shape(encoding));
                return Err(faults);
            }
        };
        let board = match encoding {
            Encoding::Tiles => Board::try_from_tiles(size, &self.entries),
            Encoding::Positions => Board::try_from_positions(size, &self.entries),
        };
        board.map_err(|faults| faults.into_iter().map(|fault| BoardFault::Entry(fault, encoding)).collect())
    }

    fn size(&self, sides: Sides, encoding: Encoding) -> Result<Size, Vec<BoardFault>> {
        let entries = self.entries.len();
        let (rows, cols) = match (&self.row_lengths, sides) {
            (Some(_), _) if encoding == Encoding::Positions => return Err(vec![BoardFault::PositionsInRows]),
            (Some(lengths), _) => {
                let expected = lengths.first().copied().unwrap_or(0);
                if lengths.len().max(expected) > Size::MAX_SIDE {
                    return Err(vec![BoardFault::Side(SizeError { rows: lengths.len(), cols: expected })]);
                }
                let ragged = lengths.iter().enumerate().filter(|(_, length)| **length != expected);
                let faults: Vec<_> =
                    ragged.map(|(row, length)| BoardFault::RaggedRow { row, length: *length, expected }).collect();
                if !faults.is_empty() {
                    return Err(faults);
                }
                (lengths.len(), expected)
            }
            (None, Sides { rows: None, cols: None }) => {
                let side = entries.isqrt();
                if side * side != entries {
                    return Err(vec![BoardFault::ShapeUnknown { entries }]);
                }
                (side, side)
            }
            (None, Sides { rows: Some(rows), cols: None }) => (rows, entries.checked_div(rows).unwrap_or(0)),
            (None, Sides { rows: None, cols: Some(cols) }) => (entries.checked_div(cols).unwrap_or(0), cols),
            (None, Sides { rows: Some(rows), cols: Some(cols) }) => (rows, cols),
        };
        let contradicts = |asked: Option<usize>, has: usize| asked.is_some_and(|asked| asked != has);
        if rows.saturating_mul(cols) != entries || contradicts(sides.rows, rows) || contradicts(sides.cols, cols) {
            return Err(vec![BoardFault::ShapeMismatch { entries, sides }]);
        }
        Size::try_from((rows, cols)).map_err(|error| vec![BoardFault::Side(error)])
    }

    fn faults_in_any_shape(&self, encoding: Encoding) -> impl Iterator<Item = BoardFault> {
        // Entries beyond the largest board are not checked.
        let entries = &self.entries[..self.entries.len().min(Size::MAX_CELLS)];
        entries.iter().enumerate().filter_map(move |(at, number)| {
            let Some(value) = number else {
                return Some(BoardFault::Entry(PermutationFault::Unreadable { at }, encoding));
            };
            let first = entries[..at].iter().position(|earlier| earlier == number)?;
            let value = u8::try_from(*value).ok()?;
            Some(BoardFault::Entry(PermutationFault::Duplicate { at, first, value }, encoding))
        })
    }
}

/// The parts of a text that are entries, row by row.
fn parts(text: &str) -> Vec<Vec<&str>> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '/' | ';'));
    let rows: Vec<Vec<&str>> = text
        .split(['/', ';', '\n'])
        .map(|row| row.split(|c: char| c.is_whitespace() || c == ',').filter(|token| !token.is_empty()).collect())
        .collect();
    let is_compact = rows.iter().all(|row| row.len() == 1 && row[0].is_ascii())
        && rows.iter().map(|row| row[0].len()).sum::<usize>() <= RawBoard::MAX_COMPACT_CELLS;
    if !is_compact {
        return rows;
    }
    rows.iter().map(|row| (0..row[0].len()).map(|at| &row[0][at..=at]).collect()).collect()
}

/// Parses one cell of the text notation.
fn entry(token: &str) -> Option<i64> {
    match token {
        "_" | "." | "x" | "X" => Some(0),
        number if number.bytes().all(|byte| byte.is_ascii_digit()) => number.parse().ok(),
        _ => None,
    }
}

impl BoardFault {
    /// Stable code for clients, in kebab case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Side(_) => "side-out-of-range",
            Self::RaggedRow { .. } => "ragged-row",
            Self::ShapeUnknown { .. } => "shape-unknown",
            Self::ShapeMismatch { .. } => "shape-mismatch",
            Self::PositionsInRows => "positions-in-rows",
            Self::Entry(fault, encoding) => match (fault, encoding) {
                (PermutationFault::Unreadable { .. }, _) => "not-a-tile",
                (PermutationFault::OutOfRange { .. }, Encoding::Tiles) => "tile-out-of-range",
                (PermutationFault::OutOfRange { .. }, Encoding::Positions) => "position-out-of-range",
                (PermutationFault::Duplicate { value: 0, .. }, Encoding::Tiles) => "duplicate-blank",
                (PermutationFault::Duplicate { .. }, Encoding::Tiles) => "duplicate-tile",
                (PermutationFault::Duplicate { .. }, Encoding::Positions) => "duplicate-position",
                (PermutationFault::Missing { value: 0 }, Encoding::Tiles) => "missing-blank",
                (PermutationFault::Missing { .. }, Encoding::Tiles) => "missing-tile",
                (PermutationFault::Missing { .. }, Encoding::Positions) => "missing-position",
            },
        }
    }

    /// Index of the entry at fault, if any.
    pub fn entry(&self) -> Option<usize> {
        match self {
            Self::Entry(
                PermutationFault::Unreadable { at }
                | PermutationFault::OutOfRange { at, .. }
                | PermutationFault::Duplicate { at, .. },
                _,
            ) => Some(*at),
            _ => None,
        }
    }

    /// Index of the row at fault, if the fault concerns a whole row.
    pub fn row(&self) -> Option<usize> {
        match self {
            Self::RaggedRow { row, .. } => Some(*row),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str, sides: Sides) -> Vec<&'static str> {
        let faults = RawBoard::parse(text).board(sides, Encoding::Tiles).unwrap_err();
        faults.iter().map(BoardFault::code).collect()
    }

    #[test]
    fn a_shape_comes_from_rows_or_sides_or_a_square() {
        let sides = |rows, cols| Sides { rows, cols };
        for (text, sides, size) in [
            ("1 2 3/4 5 0", sides(None, None), "2×3"),
            ("1 2 3 4 5 0", sides(Some(2), Some(3)), "2×3"),
            ("1 2 3 4 5 0", sides(Some(3), None), "3×2"),
            ("123450", sides(None, Some(3)), "2×3"),
            ("123/450", sides(None, None), "2×3"),
            ("1 2 3 0", sides(None, None), "2×2"),
            ("1234567890", sides(Some(2), None), "2×5"),
        ] {
            let board = RawBoard::parse(text).board(sides, Encoding::Tiles).unwrap();
            assert_eq!(board.size().to_string(), size, "{text}");
        }
    }

    #[test]
    fn an_impossible_shape_is_rejected() {
        let none = Sides::default();
        assert_eq!(codes("", none), ["side-out-of-range"]);
        assert_eq!(codes("0", none), ["side-out-of-range"]);
        assert_eq!(codes("1 2 3 4 5 0", none), ["shape-unknown"]);
        assert_eq!(codes("1 2/3 0", Sides { rows: Some(3), cols: None }), ["shape-mismatch"]);
        assert_eq!(codes("1 2 3 0", Sides { rows: Some(0), cols: None }), ["shape-mismatch"]);
        assert_eq!(codes("1 2 3 0", Sides { rows: Some(1), cols: None }), ["side-out-of-range"]);
        assert_eq!(codes("1 2/3", none), ["ragged-row"]);
        assert_eq!(codes("1 2//3 0", none), ["ragged-row"]);
        assert_eq!(codes("1 1/3", none), ["ragged-row", "duplicate-tile"]);
    }

    #[test]
    fn a_text_is_a_board_or_all_its_faults() {
        let board: Board = "8 6 7/2 5 4/3 0 1".parse().unwrap();
        assert_eq!(board.tiles(), [8, 6, 7, 2, 5, 4, 3, 0, 1]);
        let error = "8 6 7/2 5 4/3 3 x1".parse::<Board>().unwrap_err();
        assert!(error.faults.len() == 2 && error.to_string().contains(&error.faults[1]), "{error}");
    }

    #[test]
    fn every_fault_of_a_board_is_reported_at_once() {
        assert_eq!(
            codes("1 1 0/0 q 99/-5 7 8", Sides::default()),
            ["duplicate-tile", "duplicate-blank", "not-a-tile", "tile-out-of-range", "not-a-tile",]
        );
    }

    #[test]
    fn faults_are_explained_with_numbers_and_places() {
        let explained = |text: &str, name: &str, sides: Sides| -> Vec<String> {
            let board = RawBoard::parse(text);
            let faults = board.board(sides, Encoding::Tiles).unwrap_err();
            faults.iter().map(|fault| board.explain(name, fault)).collect()
        };
        let none = Sides::default();
        let square = Sides { rows: Some(3), cols: Some(3) };
        let three_rows = Sides { rows: Some(3), cols: None };
        for (text, name, sides, expected) in [
            ("8 1 2/3 4 5/8 6 0", "board", none, "tile 8 is in row 3, column 1 and also in row 1, column 1"),
            ("812345860", "board", none, "tile 8 is entry 7 and also entry 1"),
            ("0 1/0 2", "board", none, "the blank is in row 2, column 1 and also in row 1, column 1"),
            ("1 2/9 0", "board", none, "there is no tile 9 on a board of this size: tiles are numbered from 1 to 3"),
            ("1 2 3 0", "goal", square, "the goal has 4 cells, but the board is 3×3"),
            ("1 2 3 0", "board", square, "the board has 4 cells, but `rows` and `cols` are 3 and 3"),
            ("1 2 3 0", "board", three_rows, "the board has 4 cells, but `rows` is 3"),
            ("1 2/3 0", "board", three_rows, "the board is 2×2, but `rows` is 3"),
        ] {
            assert_eq!(explained(text, name, sides)[0], expected, "{text}");
        }
    }

    #[test]
    fn entries_are_located_by_row_and_column() {
        let board = RawBoard::parse("1 2 3/4 5/6 7 8 0");
        assert_eq!(board.row_and_col(4), Some((1, 1)));
        assert_eq!(board.row_and_col(8), Some((2, 3)));
        assert_eq!(board.row_and_col(9), None);
        assert_eq!(RawBoard::parse("1 2 3 0").row_and_col(1), None);
        for (text, entry, part) in [("1 2/three, 0", 2, Some("three")), ("12?0", 2, Some("?")), ("1 2", 2, None)] {
            assert_eq!(RawBoard::part(text, entry), part, "{text}");
        }
    }
}
