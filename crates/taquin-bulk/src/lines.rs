//! Labels as text: as members of a JSON object, and as fields of a CSV line.

use std::io::Write;

use taquin_solver::{Board, MoveSet, Size};

use crate::label::{Label, Want};

/// Returns true if a text has a character that a JSON string must escape: a control character, a quote or a backslash.
/// The function tests sixteen bytes at a time, so that the compiler can use vector instructions.
pub fn needs_escapes(text: &str) -> bool {
    let is_escaped = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    let has_escaped = |bytes: &[u8; 16]| bytes.iter().fold(false, |found, byte| found | is_escaped(byte));
    let bytes = text.as_bytes();
    if let Some(last) = bytes.last_chunk() {
        return has_escaped(last) || bytes.as_chunks().0.iter().any(has_escaped);
    }
    let mut padded = [b' '; 16];
    padded[..bytes.len()].copy_from_slice(bytes);
    has_escaped(&padded)
}

/// Appends a board to `out`, as a JSON array of rows.
pub fn board_json(board: &Board, out: &mut Vec<u8>) {
    let mut separator = b'[';
    for row in board.rows() {
        out.push(separator);
        let mut inner = b'[';
        for tile in row {
            out.push(inner);
            number(u64::from(*tile), out);
            inner = b',';
        }
        out.push(b']');
        separator = b',';
    }
    out.push(b']');
}

/// Appends the members of a label to `out`, without braces. The first members are `length` and `optimal`. For
/// [`Want::Bounds`], and if the length is not proven optimal, the member `lower_bound` follows. For [`Want::Moves`],
/// [`Want::Next`] and [`Want::Expanded`], the last member has the name of the kind.
pub fn label_json(label: &Label, want: Want, out: &mut Vec<u8>) {
    let optimal = if label.is_optimal() { "true" } else { "false" };
    out.extend_from_slice(b"\"length\":");
    number(label.length.into(), out);
    out.extend_from_slice(b",\"optimal\":");
    out.extend_from_slice(optimal.as_bytes());
    if want == Want::Bounds || !label.is_optimal() {
        out.extend_from_slice(b",\"lower_bound\":");
        number(label.lower_bound.into(), out);
    }
    match want {
        Want::Length | Want::Bounds => {}
        Want::Moves => {
            out.extend_from_slice(b",\"moves\":\"");
            letters(label, out);
            out.push(b'"');
        }
        Want::Next => {
            out.extend_from_slice(b",\"next\":");
            match label.next {
                Some(next) => number(next.bits().into(), out),
                None => out.extend_from_slice(b"null"),
            }
        }
        Want::Expanded => {
            out.extend_from_slice(b",\"expanded\":");
            number(label.expanded.unwrap_or(0), out);
        }
    }
}

/// The columns of a CSV file. The first columns are the cells of the board; the name of a column is the number of its
/// cell, counted from 0. The columns of the label follow. The first of them is `cost`, the length of the solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CsvColumns {
    /// Shape of the boards.
    pub size: Size,
    /// Kind of the labels.
    pub want: Want,
    /// True if the file has a column `lower_bound`. The column is useful if some lengths may not be proven optimal.
    pub has_bound: bool,
}

impl CsvColumns {
    /// Appends the header line to `out`. The line begins with `0,1,…,cost`.
    pub fn header(&self, out: &mut Vec<u8>) {
        for cell in 0..self.size.cells() {
            number(cell as u64, out);
            out.push(b',');
        }
        out.extend_from_slice(b"cost");
        if self.has_bound {
            out.extend_from_slice(b",lower_bound");
        }
        out.extend_from_slice(match self.want {
            Want::Length | Want::Bounds => b"",
            Want::Moves => b",moves",
            Want::Next => b",next",
            Want::Expanded => b",expanded",
        });
        out.push(b'\n');
    }

    /// Appends the line of a row to `out`. If `board` is `None`, the cells are empty. If `label` is `None`, the fields
    /// of the label are empty.
    pub fn line(&self, board: Option<&Board>, label: Option<&Label>, out: &mut Vec<u8>) {
        match board {
            Some(board) => {
                for tile in board.tiles() {
                    number(u64::from(*tile), out);
                    out.push(b',');
                }
            }
            None => out.resize(out.len() + self.size.cells(), b','),
        }
        self.label(label, out);
        out.push(b'\n');
    }

    fn label(&self, label: Option<&Label>, out: &mut Vec<u8>) {
        let field = |value: Option<u64>, out: &mut Vec<u8>| value.into_iter().for_each(|value| number(value, out));
        field(label.map(|label| label.length.into()), out);
        if self.has_bound {
            out.push(b',');
            field(label.map(|label| label.lower_bound.into()), out);
        }
        match self.want {
            Want::Length | Want::Bounds => return,
            _ => out.push(b','),
        }
        match self.want {
            Want::Moves => label.into_iter().for_each(|label| letters(label, out)),
            Want::Next => field(label.and_then(|label| label.next).map(|next: MoveSet| next.bits().into()), out),
            _ => field(label.and_then(|label| label.expanded), out),
        }
    }
}

fn letters(label: &Label, out: &mut Vec<u8>) {
    out.extend(label.path.iter().flat_map(|path| path.moves()).map(|mv| mv.letter() as u8));
}

fn number(number: u64, out: &mut Vec<u8>) {
    // Numbers below 100 are the most frequent, and have a fast path.
    match number {
        0..=9 => out.push(b'0' + number as u8),
        10..=99 => out.extend([b'0' + (number / 10) as u8, b'0' + (number % 10) as u8]),
        _ => write!(out, "{number}").expect("memory takes all bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Row;
    use taquin_solver::Move;

    #[test]
    fn escaped_bytes_are_found_at_every_position() {
        for length in 0..=40 {
            for at in 0..length {
                for byte in 0..0x80 {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    let is_escaped = byte < b' ' || byte == b'"' || byte == b'\\';
                    let text = String::from_utf8(text).unwrap();
                    assert_eq!(needs_escapes(&text), is_escaped, "{byte} at {at} of {length}");
                }
            }
        }
        assert!(!needs_escapes("é × 三三三三三三三三三"));
    }

    fn label() -> Label {
        Label { lower_bound: 12, length: 12, ..Label::default() }
    }

    fn json(label: &Label, want: Want) -> String {
        let mut out = Vec::new();
        label_json(label, want, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn csv(size: Size, want: Want, has_bound: bool, row: &Row) -> String {
        let columns = CsvColumns { size, want, has_bound };
        let mut out = Vec::new();
        columns.header(&mut out);
        let board = (*row != Row::Invalid).then(|| Board::snail(size));
        columns.line(board.as_ref(), row.label(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn boards_are_arrays_of_rows() {
        for size in Size::all() {
            let (board, mut out) = (Board::snail(size), Vec::new());
            board_json(&board, &mut out);
            let rows: Vec<Vec<u8>> = serde_json::from_slice(&out).unwrap();
            assert_eq!(rows, board.rows().map(<[u8]>::to_vec).collect::<Vec<_>>());
        }
    }

    #[test]
    fn labels_have_what_was_wanted() {
        assert_eq!(json(&label(), Want::Length), r#""length":12,"optimal":true"#);
        let open = Label { lower_bound: 9, length: 123_456, ..label() };
        assert_eq!(json(&open, Want::Length), r#""length":123456,"optimal":false,"lower_bound":9"#);
        assert_eq!(json(&label(), Want::Bounds), r#""length":12,"optimal":true,"lower_bound":12"#);
        let next = Label { next: Some(MoveSet::EMPTY.with(Move::Left).with(Move::Right)), ..label() };
        assert_eq!(json(&next, Want::Next), r#""length":12,"optimal":true,"next":10"#);
        assert_eq!(json(&label(), Want::Next), r#""length":12,"optimal":true,"next":null"#);
        let path = Label { path: Some([Move::Up, Move::Left].into_iter().collect()), ..label() };
        assert_eq!(json(&path, Want::Moves), r#""length":12,"optimal":true,"moves":"UL""#);
        let expanded = Label { expanded: Some(100), ..label() };
        assert_eq!(json(&expanded, Want::Expanded), r#""length":12,"optimal":true,"expanded":100"#);
    }

    #[test]
    fn csv_lines_have_a_field_for_each_column() {
        let size = Size::try_from((2, 2)).unwrap();
        let row = Row::Solved(Label { lower_bound: 9, ..label() });
        assert_eq!(csv(size, Want::Length, false, &row), "0,1,2,3,cost\n1,2,0,3,12\n");
        assert_eq!(csv(size, Want::Length, true, &row), "0,1,2,3,cost,lower_bound\n1,2,0,3,12,9\n");
        assert_eq!(csv(size, Want::Next, true, &Row::Failed), "0,1,2,3,cost,lower_bound,next\n1,2,0,3,,,\n");
        assert_eq!(csv(size, Want::Length, false, &Row::Invalid), "0,1,2,3,cost\n,,,,\n");
        let path = Row::Solved(Label { path: Some([Move::Down].into_iter().collect()), ..label() });
        assert_eq!(csv(size, Want::Moves, false, &path), "0,1,2,3,cost,moves\n1,2,0,3,12,D\n");
        let expanded = Row::Solved(Label { expanded: Some(100), ..label() });
        assert_eq!(csv(size, Want::Expanded, false, &expanded), "0,1,2,3,cost,expanded\n1,2,0,3,12,100\n");
    }
}
