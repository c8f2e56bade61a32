//! Boards over several lines of a text, as rows.

use std::ops::RangeInclusive;

use taquin_solver::{Sides, Size, read_board};

use super::comment::is_comment;
use super::reader::{MAX_LINE, RowReader};

/// Lines of a text that belong together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'t>(pub(super) &'t [u8]);

impl<'t> Block<'t> {
    /// The lines that are no comments, without line ends.
    fn lines(self) -> impl Iterator<Item = &'t str> {
        let lines = self.0.split(|byte| *byte == b'\n').filter(|line| !is_comment(line));
        let lines = lines.filter_map(|line| std::str::from_utf8(line).ok()).map(|line| line.trim_end_matches('\r'));
        lines.filter(|line| !line.trim().is_empty())
    }

    fn text(self) -> String {
        self.lines().collect::<Vec<_>>().join("\n")
    }

    /// True if several lines are one board, or two boards.
    pub(super) fn is_board(self, sides: Sides) -> bool {
        self.lines().nth(1).is_some() && read_board(&self.text(), sides) != Err(Vec::new())
    }

    /// True if the block begins with a line with a size, followed by as many rows of as many cells, and the rows are a
    /// board. The block then ends, also without a blank line.
    pub(super) fn is_sized(self, sides: Sides) -> bool {
        const SIDES: RangeInclusive<usize> = Size::MIN_SIDE..=Size::MAX_SIDE;
        let count = |line: &str| line.split(|c: char| c.is_whitespace() || c == ',').filter(|c| !c.is_empty()).count();
        let mut lines = self.lines();
        let Some(head) = lines.next() else { return false };
        let head: Option<Vec<usize>> = head.split_whitespace().map(|side| side.parse().ok()).collect();
        let (rows, cols) = match head.as_deref() {
            Some([side]) => (*side, *side),
            Some([rows, cols]) => (*rows, *cols),
            _ => return false,
        };
        let mut are_rows = || {
            let rest: Vec<&str> = lines.by_ref().take(rows + 1).collect();
            rest.len() == rows && rest.iter().all(|line| count(line) == cols)
        };
        SIDES.contains(&rows) && SIDES.contains(&cols) && are_rows() && self.is_board(sides)
    }

    /// True if a line is a row by itself.
    pub(super) fn has_row(self, reader: &RowReader) -> bool {
        self.lines().any(|line| reader.is_row(line.as_bytes()))
    }
}

/// Joins the lines of each board of a text. Blank lines separate boards. A board becomes a line of JSON at the number
/// of its first line.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// Complete lines of the current block.
    block: Vec<u8>,
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

    /// Ends the text, and appends what is left to `out`.
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
        let is_blank = RowReader::is_blank(&line);
        self.block.extend(line);
        if is_blank || self.block.len() > MAX_LINE || Block(&self.block).is_sized(reader.sides()) {
            self.write(reader, out);
        }
    }

    /// Writes the current block: as a row if it is a board, or if it has no rows. Its lines are counted.
    fn write(&mut self, reader: &RowReader, out: &mut Vec<u8>) {
        let text = std::mem::take(&mut self.block);
        let block = Block(&text);
        let is_row = block.is_board(reader.sides()) || block.lines().nth(1).is_some() && !block.has_row(reader);
        if !is_row {
            return out.extend(text);
        }
        let line_ends = text.iter().filter(|byte| **byte == b'\n').count();
        let _ = serde_json::to_writer(&mut *out, &block.text());
        out.extend(std::iter::repeat_n(b'\n', line_ends.max(1)));
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
            ("# a\n2 2\n3 1\n2 0\r\n\r\n1\n2\n3\n0\n", &[(1, "3 1/2 0"), (6, "1 2/3 0")]),
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
