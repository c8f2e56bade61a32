//! Boards, moves and numbers as JSON and text, and the layout of a response.

use serde::ser::{Serialize, SerializeSeq, Serializer};
use taquin_solver::{Board, Encoding, Move, RawBoard, Size, named};

use crate::http::media_type::MediaType;

/// Layout of a `/solve` response: the format of its boards, not their selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Layout {
    pub(crate) media_type: MediaType,
    /// Encoding of the boards in JSON, and in text that lists positions.
    pub(crate) encoding: Encoding,
    /// Order of the states.
    pub(crate) order: StateOrder,
    /// Columns of the text that shows states side by side.
    pub(crate) width: usize,
}

/// Order of the states of a solution path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum StateOrder {
    /// As the moves are made.
    #[default]
    StartFirst,
    /// From the goal back to the start.
    GoalFirst,
}

named!(StateOrder { StartFirst => "start_first", GoalFirst => "goal_first" });

impl Layout {
    /// Columns of a text response by default.
    pub(crate) const WIDTH: usize = 100;

    /// The default layout of a media type.
    pub(crate) const fn of(media_type: MediaType) -> Self {
        Self { media_type, encoding: Encoding::Tiles, order: StateOrder::StartFirst, width: Self::WIDTH }
    }

    /// True if the response is text with the positions of each state, a state a line.
    pub(crate) fn lists_positions(&self) -> bool {
        self.media_type == MediaType::Text && self.encoding == Encoding::Positions
    }
}

/// A board as an array of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows(pub(crate) Board);

impl Serialize for Rows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.size().rows()))?;
        for row in self.0.rows() {
            rows.serialize_element(row)?;
        }
        rows.end()
    }
}

/// A board in the encoding that a request chose: an array of rows, or the flat array of positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodedBoard {
    pub(crate) board: Board,
    pub(crate) encoding: Encoding,
}

impl Serialize for EncodedBoard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.encoding {
            Encoding::Tiles => Rows(self.board).serialize(serializer),
            Encoding::Positions => self.board.positions()[..self.board.size().cells()].serialize(serializer),
        }
    }
}

/// Formats a board in one line: the cell of the blank, then of tile 1, tile 2 and so on.
pub(crate) fn positions_line(board: &Board) -> String {
    board.positions()[..board.size().cells()].iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// A move as its letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter(pub(crate) Move);

impl Serialize for Letter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(self.0.letter())
    }
}

/// A number; a whole number is written without a fraction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 { serializer.serialize_u64(self.0 as u64) } else { serializer.serialize_f64(self.0) }
    }
}

/// Columns of a tile in a grid.
fn tile_width(size: Size) -> usize {
    (size.cells() - 1).to_string().len()
}

/// Columns of a [`grid`].
pub(crate) fn grid_width(size: Size) -> usize {
    (tile_width(size) + 1) * size.cols() - 1
}

/// Formats a board in one line: its digits if they are unambiguous, such as `123456780`, or else numbers, with `/`
/// between rows.
pub(crate) fn line(board: &Board) -> String {
    if board.size().cells() > RawBoard::MAX_COMPACT_CELLS {
        return board.to_string();
    }
    board.tiles().iter().map(ToString::to_string).collect()
}

/// Formats a board as a grid with right-aligned numbers and a dot for the blank.
pub(crate) fn grid(board: &Board) -> String {
    let width = tile_width(board.size());
    let mut grid = String::new();
    for row in board.rows() {
        let cells = row.iter().map(|tile| match tile {
            0 => format!("{:>width$}", "."),
            tile => format!("{tile:>width$}"),
        });
        grid.push_str(&cells.collect::<Vec<_>>().join(" "));
        grid.push('\n');
    }
    grid
}
