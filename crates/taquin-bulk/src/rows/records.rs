//! Boards over several lines of a text, as rows.

use std::ops::{Range, RangeInclusive};

use taquin_solver::{Sides, Size, read_board};

use super::comment::is_comment;
use super::reader::{MAX_LINE, RowReader};

/// Consecutive lines of a text that may be one board.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
    /// Positions of the lines that are neither blank nor comments, without their line ends.
    lines: Vec<Range<usize>>,
}

impl Block {
    /// Appends a line with its line end. Returns false if the line is blank or a comment.
    pub(super) fn push(&mut self, line: &[u8]) -> bool {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(line);
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
        let line = &line[..end];
        let is_blank = std::str::from_utf8(line).is_ok_and(|line| line.trim().is_empty());
        let is_skipped = is_blank || is_comment(line);
        if !is_skipped {
            self.lines.push(begin..begin + end);
        }
        !is_skipped
    }

    /// Number of bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The lines that are neither blank nor comments, without line ends.
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|line| &self.bytes[line.clone()])
    }

    /// The lines as text. `None` if a line is not UTF-8.
    fn text(&self) -> Option<String> {
        let lines: Result<Vec<&str>, _> = self.lines().map(std::str::from_utf8).collect();
        lines.ok().map(|lines| lines.join("\n"))
    }

    /// Returns true if the block has several lines that together can be read as a board. An ambiguous text, which can
    /// be read as several boards, counts too.
    pub(super) fn is_board(&self, sides: Sides) -> bool {
        let is_board = |text: String| read_board(&text, sides) != Err(Vec::new());
        self.lines.len() > 1 && self.text().is_some_and(is_board)
    }

    /// Returns true if the first line is a size, and the other lines are a board of this size. Such a block is
    /// complete, even if no blank line follows.
    pub(super) fn is_sized(&self, sides: Sides) -> bool {
        const SIDES: RangeInclusive<usize> = Size::MIN_SIDE..=Size::MAX_SIDE;
        if self.lines.len() > 1 + Size::MAX_SIDE {
            return false;
        }
        let mut lines = self.lines();
        let Some(head) = lines.next() else { return false };
        let head: Option<Vec<usize>> = cells(head).map(|side| side.parse().ok()).collect();
        let (rows, cols) = match head.as_deref() {
            Some([side]) => (*side, *side),
            Some([rows, cols]) => (*rows, *cols),
            _ => return false,
        };
        let mut are_rows = || self.lines.len() == 1 + rows && lines.all(|line| cells(line).count() == cols);
        SIDES.contains(&rows) && SIDES.contains(&cols) && are_rows() && self.is_board(sides)
    }

    /// True if the block becomes a row: if it is a board, or has several lines and none is a row by itself.
    fn is_row(&self, reader: &RowReader) -> bool {
        let has_row = || self.lines().any(|line| reader.is_row(line));
        self.is_board(reader.sides()) || self.lines.len() > 1 && !has_row()
    }
}

/// The cells of a line, between whitespace and commas. A line that is not UTF-8 has none.
pub(super) fn cells(line: &[u8]) -> impl Iterator<Item = &str> {
    let line = std::str::from_utf8(line).unwrap_or_default();
    line.split(|c: char| c.is_whitespace() || c == ',').filter(|cell| !cell.is_empty())
}

/// Joins the lines of each board of a text. Blank lines separate boards. A board becomes a line of JSON. The line has
/// the same line number as the first line of the board.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// Complete lines of the current block.
    block: Block,
    /// Start of a line that is incomplete.
    line: Vec<u8>,
    /// True within a line that is too long for a board.
    is_long: bool,
}

impl Records {
    /// Joins the next bytes, and appends complete rows to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], reader: &RowReader, out: &mut Vec<u8>) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.is_long {
                out.extend_from_slice(piece);
            } else {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.end_line(reader, out);
                self.is_long = false;
            } else if self.line.len() > MAX_LINE {
                self.end_line(reader, out);
                self.is_long = true;
            }
        }
    }

    /// Ends the text, and appends the remaining rows to `out`.
    pub(super) fn finish(&mut self, reader: &RowReader, out: &mut Vec<u8>) {
        self.end_line(reader, out);
        self.write(reader, out);
    }

    fn end_line(&mut self, reader: &RowReader, out: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        if line.len() > MAX_LINE {
            self.write(reader, out);
            return out.extend(line);
        }
        // A comment changes no size, so a sized board ends at another line.
        let is_sized = self.block.push(&line) && self.block.is_sized(reader.sides());
        if is_sized || RowReader::is_blank(&line) || self.block.len() > MAX_LINE {
            self.write(reader, out);
        }
    }

    /// Writes the current block. A block that [is a row](Block::is_row) becomes one line, and blank lines around this
    /// line keep the number of lines unchanged. The lines of any other block are written as they are.
    fn write(&mut self, reader: &RowReader, out: &mut Vec<u8>) {
        let block = std::mem::take(&mut self.block);
        let Some(text) = block.text().filter(|_| block.is_row(reader)) else { return out.extend(block.bytes) };
        let line_ends = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
        // The row has the number of its first line that is no comment.
        let (comments, board) = block.bytes.split_at(block.lines.first().map_or(0, |line| line.start));
        out.extend(std::iter::repeat_n(b'\n', line_ends(comments)));
        let _ = serde_json::to_writer(&mut *out, &text);
        out.extend(std::iter::repeat_n(b'\n', line_ends(board).max(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{RowFormat, RowOptions};

    fn rows(text: &str, piece: usize) -> Vec<(usize, String)> {
        let reader = RowReader::new(RowOptions::default(), RowFormat::Json);
        let (mut records, mut out) = (Records::default(), Vec::new());
        text.as_bytes().chunks(piece).for_each(|piece| records.push(piece, &reader, &mut out));
        records.finish(&reader, &mut out);
        let lines = (1..).zip(out.split(|byte| *byte == b'\n')).filter(|(_, line)| !RowReader::is_blank(line));
        let board = |line| reader.read(line).puzzle.map_or_else(|error| error.detail, |row| row.start().to_string());
        lines.map(|(number, line)| (number, board(line))).collect()
    }

    #[test]
    fn boards_over_several_lines_are_rows() {
        for (text, expected) in [
            ("3 1\n2 0\n\n\n1 2\n3 0\n", &[(1, "3 1/2 0"), (5, "1 2/3 0")][..]),
            ("2\n3 1\n2 0\n2\n1 2\n3 0", &[(1, "3 1/2 0"), (4, "1 2/3 0")]),
            ("# a\n2 2\n3 1\n2 0\r\n\r\n1\n2\n3\n0\n", &[(2, "3 1/2 0"), (6, "1 2/3 0")]),
            ("[[3 1]\n [2 0]]\n\n[[1 2]\n [3 0]]", &[(1, "3 1/2 0"), (4, "1 2/3 0")]),
            (
                "| 3 | 1 |\n| 2 |   |\n\n3120\n\n1230\n3120",
                &[(1, "3 1/2 0"), (4, "3 1/2 0"), (6, "1 2/3 0"), (7, "3 1/2 0")],
            ),
        ] {
            let expected: Vec<_> = expected.iter().map(|(line, board)| (*line, (*board).to_owned())).collect();
            for piece in [1, 3, 100] {
                assert_eq!(rows(text, piece), expected, "{text}");
            }
        }
        let faulty = rows("3 1\n2 0\n\n3 1\n2 2\n\n1 2\n3 0", 5);
        assert_eq!(faulty.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 4, 7]);
        assert!(faulty[1].1.contains("2"), "{faulty:?}");
    }
}
