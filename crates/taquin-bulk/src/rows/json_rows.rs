//! Splits JSON text into rows, and writes each row as one line. A JSON document may extend over several lines.

use super::comment::is_comment;
use super::reader::{MAX_LINE, RowReader};

/// Nesting of brackets at a position in a JSON text. The text is read byte by byte.
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

/// An array or object, read byte by byte.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    nesting: Nesting,
    /// True after a value, before a comma or a colon.
    has_value: bool,
    /// The previous byte; 0 at the start.
    last: u8,
    /// True if the text is no array and no object: a comma is missing, for example.
    is_broken: bool,
}

impl Scan {
    fn step(&mut self, byte: u8) {
        let in_string = self.nesting.in_string;
        let last = std::mem::replace(&mut self.last, byte);
        self.nesting.step(byte);
        let is_space = byte.is_ascii_whitespace();
        match byte {
            _ if in_string => self.has_value = !self.nesting.in_string,
            b',' | b':' => self.has_value = false,
            b'[' | b'{' | b'"' if self.has_value => self.is_broken = true,
            b'[' | b'{' => {}
            b']' | b'}' => self.has_value = true,
            // The text of a number or a word goes on.
            _ if !is_space && self.has_value && (last.is_ascii_whitespace() || b"]}\"".contains(&last)) => {
                self.is_broken = true;
            }
            b'\'' | b'(' | b')' | b';' | b'/' | b'#' => self.is_broken = true,
            _ if !is_space && byte != b'"' => self.has_value = true,
            _ => {}
        }
    }
}

/// Extent of the JSON value at the start of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// The text is no array and no object.
    NotJson,
    /// The value goes on after the text.
    Open,
    /// The value ends before this index.
    Closed(usize),
}

/// Finds the end of the array or object at the start of a text.
pub(super) fn extent(text: &[u8]) -> Extent {
    let mut scan = Scan::default();
    for (at, byte) in text.iter().enumerate() {
        scan.step(*byte);
        match byte {
            _ if scan.is_broken => return Extent::NotJson,
            b']' | b'}' if scan.nesting.depth == 0 && !scan.nesting.in_string => return Extent::Closed(at + 1),
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

/// Returns true if an array is a list of rows. An array is a list if an entry can only be a row. An array is also a
/// list if every entry is a board and the array itself is not a board. Some rows of a faulty board can be boards, but
/// seldom all of them.
pub(super) fn is_list(array: &[u8], reader: &RowReader) -> bool {
    let are_rows = |entries: &[&[u8]]| entries.iter().all(|entry| reader.is_row(&one_line(entry)));
    let are_rows = |entries: &[&[u8]]| !entries.is_empty() && are_rows(entries);
    has_nested_rows(array) || !reader.is_row(&one_line(array)) && are_rows(&entries(array))
}

/// Returns true if an entry of an array can only be a row: an object, or an array of arrays.
pub(super) fn has_nested_rows(array: &[u8]) -> bool {
    let is_nested = |entry: &&[u8]| entry.starts_with(b"{") || entry.starts_with(b"[") && entry[1..].contains(&b'[');
    entries(array).iter().any(is_nested)
}

/// Replaces the line ends in a JSON text with spaces. The values do not change, because a JSON string has no line ends.
fn one_line(json: &[u8]) -> Vec<u8> {
    json.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

/// Splits a sequence of JSON values into rows, and writes each row as one line. A value is a row or an array of rows.
/// An input line that begins with neither an array nor an object is a row too, unless the line is a comment. Comments
/// are dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct JsonRows {
    scan: Scan,
    /// Bytes of a value that may be one row.
    value: Vec<u8>,
    /// True within a line that is too long for a row.
    is_long: bool,
    /// True within an array that is too long for one board. Such an array is a list of rows.
    is_list: bool,
    /// True if a byte of the current entry of a list has been written.
    has_entry: bool,
}

impl JsonRows {
    /// Splits the next bytes, and appends complete rows to `out`.
    pub(super) fn push(&mut self, bytes: &[u8], reader: &RowReader, out: &mut Vec<u8>) {
        for byte in bytes {
            match () {
                () if self.is_list => self.step(*byte, out),
                () if self.is_long => {
                    out.push(*byte);
                    self.is_long = *byte != b'\n';
                }
                () if self.value.is_empty() && byte.is_ascii_whitespace() => {}
                () => self.push_value(*byte, reader, out),
            }
        }
    }

    /// Appends a byte to the current value, and writes the value if it is complete or too long.
    fn push_value(&mut self, byte: u8, reader: &RowReader, out: &mut Vec<u8>) {
        self.value.push(byte);
        let (first, is_line_end) = (self.value[0], byte == b'\n');
        let is_json = matches!(first, b'[' | b'{');
        if is_json {
            self.scan.step(byte);
        }
        // An object in which a brace is missing does not take the later rows with it.
        let is_broken = first == b'{' && self.scan.is_broken && is_line_end;
        let is_ended = if is_json { self.scan.nesting.depth == 0 || is_broken } else { is_line_end };
        match () {
            () if is_ended => self.end_value(reader, out),
            () if self.value.len() <= MAX_LINE => {}
            () if first == b'[' => self.begin_list(out),
            () => {
                out.extend(one_line(&std::mem::take(&mut self.value)));
                (self.scan, self.is_long) = (Scan::default(), true);
            }
        }
    }

    /// Ends the text, and appends the remaining rows to `out`.
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
        self.scan = Scan::default();
        if is_comment(&value) {
            return;
        }
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
        (self.scan, self.is_list) = (Scan::default(), true);
        value.iter().for_each(|byte| self.step(*byte, out));
    }

    /// Writes a byte of a list.
    fn step(&mut self, byte: u8, out: &mut Vec<u8>) {
        let before = self.scan.nesting;
        self.scan.nesting.step(byte);
        let is_outer = before.depth <= 1 && !before.in_string;
        if is_outer && (before.depth == 0 || byte.is_ascii_whitespace()) {
            return;
        }
        if is_outer && (byte == b',' || self.scan.nesting.depth == 0) {
            if self.has_entry {
                out.push(b'\n');
            }
            self.has_entry = false;
            self.is_list = self.scan.nesting.depth > 0;
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
    fn comments_between_values_are_dropped() {
        for (text, expected) in [
            ("# c\n[\n\"3120\",\n\"1230\"\n]", "\"3120\"\n\"1230\"\n"),
            ("# see [1\n[\n{\"board\":\"3120\"}\n]", "{\"board\":\"3120\"}\n"),
            ("[\n[3,1],\n[2,0]] // \"a\n% {\n[\n[1,2],\n[3,0]]", "[ [3,1], [2,0]]\n[ [1,2], [3,0]]\n"),
            ("{\n\"board\":\"3120\"}\n# 1 2 3\nhello {\n3120\n", "{ \"board\":\"3120\"}\n# 1 2 3\nhello {\n3120\n"),
        ] {
            for piece in [1, 2, 7, 100] {
                assert_eq!(rows(text, piece), expected, "{text}");
            }
        }
    }

    #[test]
    fn a_faulty_object_leaves_the_later_rows() {
        let text = "{\"id\":\n1\n{\"board\":\"3120\"}\n{\"board\":\n\"1230\"}\n";
        let expected = "{\"id\": 1 {\"board\":\"3120\"}\n{\"board\": \"1230\"}\n";
        let id = "a".repeat(3 * MAX_LINE);
        let long = format!("{{\"id\":\n\"{id}\n{{\"board\":\n\"1230\"}}\n");
        let long_expected = format!("{{\"id\": \"{id}\n{{\"board\": \"1230\"}}\n");
        for piece in [1, 7, 1000, 100_000] {
            assert_eq!(rows(text, piece), expected);
            assert!(rows(&long, piece) == long_expected, "pieces of {piece} bytes");
        }
        let reader = RowReader::new(RowOptions::default(), RowFormat::Json);
        let (mut rows, mut out) = (JsonRows::default(), Vec::new());
        rows.push(&long.as_bytes()[..2 * MAX_LINE], &reader, &mut out);
        assert_eq!((rows.value.len(), out.len()), (0, 2 * MAX_LINE), "no value is longer than a line");
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
