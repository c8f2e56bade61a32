//! Splits JSON documents over several lines into rows, one a line.

use super::reader::{MAX_LINE, RowReader};

/// The brackets of a JSON text, byte by byte.
#[derive(Clone, Copy, Debug, Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Nesting {
    fn step(&mut self, byte: u8) {
        match byte {
            _ if self.is_escaped => self.is_escaped = false,
            b'\\' if self.in_string => self.is_escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}

/// What is known of the JSON value at the start of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// The text is no array and no object: a comma is missing, for example.
    NotJson,
    /// The value goes on after the text.
    Open,
    /// The value ends at this index.
    Closed(usize),
}

/// Finds the end of the array or object at the start of a text.
pub(super) fn extent(text: &[u8]) -> Extent {
    let (mut nesting, mut has_value) = (Nesting::default(), false);
    for (at, byte) in text.iter().enumerate() {
        let before = nesting;
        nesting.step(*byte);
        let is_space = byte.is_ascii_whitespace();
        match byte {
            _ if before.in_string => has_value = !nesting.in_string,
            b',' | b':' => has_value = false,
            b'[' | b'{' | b'"' if has_value => return Extent::NotJson,
            b'[' | b'{' => {}
            b']' | b'}' if nesting.depth == 0 => return Extent::Closed(at + 1),
            b']' | b'}' => has_value = true,
            // The text of a number or a word goes on.
            _ if !is_space && has_value && text[at - 1].is_ascii_whitespace() => return Extent::NotJson,
            _ if !is_space && has_value && b"]}\"".contains(&text[at - 1]) => return Extent::NotJson,
            b'\'' | b'(' | b')' | b';' | b'/' | b'#' => return Extent::NotJson,
            _ if !is_space && *byte != b'"' => has_value = true,
            _ => {}
        }
    }
    Extent::Open
}

/// The entries of an array, as they are written.
pub(super) fn entries(array: &[u8]) -> Vec<&[u8]> {
    let (mut nesting, mut begin, mut entries) = (Nesting::default(), 0, Vec::new());
    for (at, byte) in array.iter().enumerate() {
        let before = nesting;
        nesting.step(*byte);
        if before.depth == 0 && nesting.depth == 1 {
            begin = at + 1;
        } else if before.depth == 1 && !before.in_string && (*byte == b',' || nesting.depth == 0) {
            entries.push(array[begin..at].trim_ascii());
            begin = at + 1;
        }
    }
    entries.retain(|entry| !entry.is_empty());
    entries
}

/// Returns true if an array is a list of rows: if an entry can only be a row, or if every entry is a board though the
/// array is none. The rows of a faulty board can be boards, but seldom all.
pub(super) fn is_list(array: &[u8], reader: &RowReader) -> bool {
    let entries = entries(array);
    let is_nested = |entry: &[u8]| entry.starts_with(b"{") || entry.starts_with(b"[") && entry[1..].contains(&b'[');
    let are_rows = || !entries.is_empty() && entries.iter().all(|entry| reader.is_row(&one_line(entry)));
    entries.iter().any(|entry| is_nested(entry)) || !reader.is_row(&one_line(array)) && are_rows()
}

/// A JSON text without line ends. Strings have none.
fn one_line(json: &[u8]) -> Vec<u8> {
    json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

/// Splits a sequence of JSON values. A value is a row, or an array of rows, each of which becomes a line.
#[derive(Clone, Debug, Default)]
pub(super) struct JsonRows {
    nesting: Nesting,
    /// Bytes of a value that may be one row.
    value: Vec<u8>,
    /// True for the entries of an array that is a list of rows.
    is_list: bool,
    /// True if the current entry of a list has a byte.
    has_entry: bool,
}

impl JsonRows {
    /// Splits the next bytes, and appends complete rows to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], reader: &RowReader, out: &mut Vec<u8>) {
        for byte in bytes {
            if self.is_list {
                self.step(*byte, out);
                continue;
            }
            let before = self.nesting;
            self.nesting.step(*byte);
            let (is_outside, is_line_end) = (before.depth == 0 && self.nesting.depth == 0, *byte == b'\n');
            let is_ended = self.nesting.depth == 0 && (before.depth > 0 || is_line_end);
            if !(is_outside && self.value.is_empty() && byte.is_ascii_whitespace()) {
                self.value.push(*byte);
            }
            if is_ended {
                self.end_value(reader, out);
            } else if self.value.len() > MAX_LINE && self.value[0] == b'[' {
                self.begin_list(out);
            }
        }
    }

    /// Ends the text, and appends what is left to `out`.
    pub(super) fn finish(&mut self, reader: &RowReader, out: &mut Vec<u8>) {
        self.end_value(reader, out);
        if self.has_entry {
            out.push(b'\n');
            self.has_entry = false;
        }
    }

    /// Writes a complete value.
    fn end_value(&mut self, reader: &RowReader, out: &mut Vec<u8>) {
        let value = std::mem::take(&mut self.value);
        self.nesting = Nesting::default();
        if value.starts_with(b"[") && is_list(&value, reader) {
            let lines = entries(&value).into_iter().flat_map(|entry| [one_line(entry), vec![b'\n']]);
            out.extend(lines.flatten());
        } else if !value.trim_ascii().is_empty() {
            out.extend(one_line(value.trim_ascii()));
            out.push(b'\n');
        }
    }

    /// Begins to write the entries of an array that is too long for one board.
    fn begin_list(&mut self, out: &mut Vec<u8>) {
        let value = std::mem::take(&mut self.value);
        (self.nesting, self.is_list) = (Nesting::default(), true);
        value.iter().for_each(|byte| self.step(*byte, out));
    }

    /// Writes a byte of a list.
    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        let before = self.nesting;
        self.nesting.step(byte);
        let is_outer = before.depth <= 1 && !before.in_string;
        if is_outer && (before.depth == 0 || byte.is_ascii_whitespace()) {
            return;
        }
        if is_outer && (byte == b',' || self.nesting.depth == 0) {
            if self.has_entry {
                out.push(b'\n');
            }
            self.has_entry = false;
            self.is_list = self.nesting.depth > 0;
            return;
        }
        out.push(if matches!(byte, b'\n' | b'\r') { b' ' } else { byte });
        self.has_entry = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{RowFormat, RowOptions};

    fn rows(text: &str, piece: usize) -> String {
        let reader = RowReader::new(RowOptions::default(), RowFormat::Json);
        let (mut rows, mut out) = (JsonRows::default(), Vec::new());
        text.as_bytes().chunks(piece).for_each(|piece| rows.push(piece, &reader, &mut out));
        rows.finish(&reader, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_array_is_a_list_of_rows_or_one_board() {
        for (text, lines) in [
            ("[\n {\"board\": \"3120\"},\n {\"id\": \"[,\\\"]\",\n  \"board\": \"1230\"}\n]\n", 2),
            ("[[[3,1],[2,0]],[[1,2],[3,0]]]", 2),
            ("[\n [3,1,2,0],\n [1,2,3,0],\n]", 2),
            ("[\"3120\", \"1230\", \"867254301\"]", 3),
            ("[\n [8,6,7],\n [2,5,4],\n [3,0,1]\n]\n", 1),
            ("[\n [8,6,7],\n [2,5,4],\n [3,0,7]\n]\n", 1),
            ("[\n8,6,7,\n2,5,4,\n3,0,1\n]\n\n[\n[3,1],\n[2,0]]", 2),
            ("[\"867\",\n\"254\",\n\"301\"]", 1),
            ("{\n\"board\":\n[[3,1],[2,0]]}\n{\"board\":\n\"3120\"}", 2),
            ("[[1,2,3,0],[4,5,6,6]]", 1),
            ("[\"1230\",\n\"4566\"]", 1),
            ("[]", 1),
            ("", 0),
        ] {
            for piece in [1, 2, 7, 100] {
                let rows = rows(text, piece);
                assert_eq!(rows.lines().count(), lines, "{text}: {rows}");
            }
        }
    }

    #[test]
    fn a_long_array_has_the_rows_of_a_short_one() {
        let entry = "[[8, 6, 7],\n [2, 5, 4], [3, 0, 1]]";
        let text = format!("[\n{}\n]\n[[3,1],\n[2,0]]", vec![entry; 2_000].join(",\n "));
        let expected = format!("{}\n[[3,1], [2,0]]\n", vec![entry.replace('\n', " "); 2_000].join("\n"));
        for piece in [1, 1000, text.len()] {
            assert!(rows(&text, piece) == expected, "pieces of {piece} bytes");
        }
    }

    #[test]
    fn the_end_of_a_value_is_found() {
        for (text, expected) in [
            ("[[8,6,7],[2,5,4],[3,0,1]]\n[[", Extent::Closed(25)),
            ("{\"a\":[1, 2.5e3, null, \"]\\\"}\"]} x", Extent::Closed(30)),
            ("[\n [1,2],\n [3", Extent::Open),
            ("[]", Extent::Closed(2)),
            ("[[8 6 7]\n [2 5 4]]", Extent::NotJson),
            ("[[1,2],[3,0]\n[[1", Extent::NotJson),
            ("[\n[1,2]\n\"a\"", Extent::NotJson),
            ("[['3','1'],['2','0']]", Extent::NotJson),
            ("[3 1; 2 0]", Extent::NotJson),
        ] {
            assert_eq!(extent(text.as_bytes()), expected, "{text}");
        }
    }
}
