//! Boards, moves and numbers as JSON and text.

use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::domain::{Board, Move};

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

/// A move as its letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letter(pub(crate) Move);

impl Serialize for Letter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_char(self.0.letter())
    }
}

/// A number that is written without a fraction if it is whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.fract() == 0.0 { serializer.serialize_u64(self.0 as u64) } else { serializer.serialize_f64(self.0) }
    }
}

/// Formats a board as a grid with right-aligned numbers and a dot for the blank.
pub(crate) fn grid(board: &Board) -> String {
    let width = (board.size().cells() - 1).to_string().len();
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

/// A number with its noun, such as "1 move" or "2 moves".
pub(crate) fn counted(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}
