//! The bytes of an input as lines of UTF-8 with one row each.

use std::borrow::Cow;

use super::columns::without_mark;
use super::comment::is_comment;
use super::json_rows::{Extent, JsonRows, extent, has_nested_rows, is_list};
use super::options::RowOptions;
use super::reader::{MAX_LINE, RowFormat, RowReader};
use super::records::{Block, Records, cells};
use super::utf16::{NotUtf16, Utf16};
use crate::row_error::{ErrorKind, RowError};

/// Converts the bytes of an input to lines of UTF-8 with one row each.
///
/// UTF-16 with a byte order mark is decoded. Each entry of a JSON array of rows becomes a line, and so does any other
/// JSON value over several lines. If the first board of the text has several lines, each board with several lines
/// becomes a line. A line that has only the number of boards becomes blank. Any other text stays unchanged, and is not
/// copied once the layout is known.
#[derive(Clone, Debug)]
pub struct InputText {
    encoding: Encoding,
    layout: Layout,
    format: RowFormat,
    reader: RowReader,
}

#[derive(Clone, Debug)]
enum Encoding {
    /// The first byte, if it has arrived.
    Unknown(Vec<u8>),
    Utf8,
    Utf16(Utf16),
}

/// Where rows begin and end.
#[derive(Clone, Debug)]
enum Layout {
    /// Not known yet.
    Unknown(Begin),
    /// A row is a line.
    Lines,
    Json(JsonRows),
    Records(Records),
}

/// The start of a text whose layout is not known yet.
#[derive(Clone, Debug, Default)]
struct Begin {
    text: Vec<u8>,
    /// Position in `text`, in bytes, of the first line that is neither blank nor a comment, as far as the text has
    /// arrived.
    start: usize,
    /// Number of bytes after `start` at the last attempt to recognize the layout.
    tried: usize,
    /// Number of attempts to recognize the layout.
    attempts: usize,
}

/// A decision about the start of a text.
enum Decision {
    /// More bytes are needed.
    Wait,
    As(Layout),
    /// The text begins with the number of boards, which is not a row. The value is the length of this number in bytes.
    Skip(usize),
}

impl InputText {
    /// Creates a converter. `options` and `format` are the options and the format of the rows.
    pub fn new(options: &RowOptions, format: &RowFormat) -> Self {
        let layout = match format {
            RowFormat::Json => Layout::Unknown(Begin::default()),
            RowFormat::Csv(_) => Layout::Lines,
        };
        let reader = RowReader::new(options.clone(), RowFormat::Json);
        Self { encoding: Encoding::Unknown(Vec::new()), layout, format: format.clone(), reader }
    }

    /// Returns true once it is certain that the text needs no conversion.
    pub fn is_unchanged(&self) -> bool {
        matches!((&self.encoding, &self.layout), (Encoding::Utf8, Layout::Lines))
    }

    /// Returns true if a line is no row: a blank line, or a comment.
    pub fn skips(&self, line: &[u8]) -> bool {
        self.format.skips(line)
    }

    /// Converts the next bytes. Returns the text that is ready.
    ///
    /// # Errors
    /// `malformed-json` if the input has the byte order mark of UTF-16 and is not UTF-16.
    pub fn push<'b>(&mut self, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>, RowError> {
        if self.is_unchanged() {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut out = Vec::new();
        self.decode(bytes, &mut out)?;
        Ok(Cow::Owned(out))
    }

    /// Ends the input. Returns the rest of the text.
    ///
    /// # Errors
    /// Errors of [`push`](Self::push).
    pub fn finish(&mut self) -> Result<Vec<u8>, RowError> {
        let mut out = Vec::new();
        match &mut self.encoding {
            Encoding::Unknown(first) => {
                let first = std::mem::take(first);
                self.encoding = Encoding::Utf8;
                self.lay_out(&first, &mut out);
            }
            Encoding::Utf8 => {}
            Encoding::Utf16(decoder) => decoder.finish().map_err(not_utf16)?,
        }
        self.decide(true, &mut out);
        match &mut self.layout {
            Layout::Unknown(begin) => out.append(&mut begin.text),
            Layout::Lines => {}
            Layout::Json(rows) => rows.finish(&self.reader, &mut out),
            Layout::Records(records) => records.finish(&self.reader, &mut out),
        }
        Ok(out)
    }

    fn decode(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), RowError> {
        match &mut self.encoding {
            Encoding::Unknown(first) => {
                first.extend_from_slice(bytes);
                if first.len() < 2 {
                    return Ok(());
                }
                let text = std::mem::take(first);
                match Utf16::of_mark(&text) {
                    None => {
                        self.encoding = Encoding::Utf8;
                        self.lay_out(&text, out);
                    }
                    Some(decoder) => {
                        self.encoding = Encoding::Utf16(decoder);
                        self.decode(&text[2..], out)?;
                    }
                }
            }
            Encoding::Utf8 => self.lay_out(bytes, out),
            Encoding::Utf16(decoder) => {
                let mut text = Vec::new();
                decoder.decode(bytes, &mut text).map_err(not_utf16)?;
                self.lay_out(&text, out);
            }
        }
        Ok(())
    }

    /// Appends text to `out`, with one row per line.
    fn lay_out(&mut self, text: &[u8], out: &mut Vec<u8>) {
        match &mut self.layout {
            Layout::Unknown(begin) => {
                begin.text.extend_from_slice(text);
                self.decide(false, out);
            }
            Layout::Lines => out.extend_from_slice(text),
            Layout::Json(rows) => rows.push(text, &self.reader, out),
            Layout::Records(records) => records.push(text, &self.reader, out),
        }
    }

    /// Recognizes the layout once enough text has arrived, and then appends the converted text to `out`. `is_end` is
    /// true if no more text follows.
    fn decide(&mut self, is_end: bool, out: &mut Vec<u8>) {
        loop {
            let Layout::Unknown(begin) = &mut self.layout else { return };
            match begin.decision(is_end, &self.reader) {
                Decision::Wait => return,
                Decision::Skip(count) => begin.skip(count),
                Decision::As(layout) => {
                    let begin = std::mem::take(&mut begin.text);
                    let text = if matches!(layout, Layout::Lines) { &begin } else { without_mark(&begin) };
                    self.layout = layout;
                    return self.lay_out(text, out);
                }
            }
        }
    }
}

impl Begin {
    /// Recognizes the layout. `is_end` is true if no more text follows. The layout does not depend on how the text is
    /// divided into pieces. After [`PROMPT_ATTEMPTS`] attempts, this function waits until the text has doubled since
    /// the last attempt, so that many small pieces take no more time than a few large pieces.
    fn decision(&mut self, is_end: bool, reader: &RowReader) -> Decision {
        let is_end = is_end || self.text.len() >= MAX_BEGIN;
        let has_grown = self.attempts < PROMPT_ATTEMPTS || self.text.len() - self.start >= 2 * self.tried;
        if !is_end && !has_grown {
            return Decision::Wait;
        }
        self.attempts += 1;
        let text = &self.text[..self.text.len().min(MAX_BEGIN)];
        if self.start == 0 {
            self.start = text.len() - without_mark(text).len();
        }
        for line in text[self.start..].split_inclusive(|byte| *byte == b'\n') {
            if !line.ends_with(b"\n") || !RowReader::is_blank(line) && !is_comment(line) {
                break;
            }
            self.start += line.len();
        }
        let text = &text[self.start..];
        self.tried = text.len();
        decision(text, is_end, reader)
    }

    /// Overwrites the first `count` bytes after `start` with spaces.
    fn skip(&mut self, count: usize) {
        self.text[self.start..][..count].fill(b' ');
        self.tried = 0;
    }
}

fn not_utf16(NotUtf16 { byte }: NotUtf16) -> RowError {
    let detail = format!(
        "The text begins with the byte order mark of UTF-16, but is not UTF-16 at byte {byte}. Save it as UTF-8."
    );
    RowError::new(ErrorKind::MalformedJson, detail)
}

/// Number of first attempts that do not wait until the text has doubled. So a first row that arrives in several pieces
/// is read as soon as it is complete.
const PROMPT_ATTEMPTS: usize = 64;

/// Maximum number of bytes from which the layout is recognized. If more bytes are needed, the layout is recognized as
/// if the text ended there.
const MAX_BEGIN: usize = 2 * MAX_LINE;

/// Recognizes the layout of a text by its start, which is no comment and no blank line.
fn decision(text: &[u8], is_end: bool, reader: &RowReader) -> Decision {
    if let Some(decision) = of_json(text.trim_ascii_start(), is_end, reader) {
        return decision;
    }
    let wait = if is_end { Decision::As(Layout::Lines) } else { Decision::Wait };
    let line_end = text.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
    let Some(end) = line_end.or(is_end.then_some(text.len())) else { return wait };
    if reader.is_row(&text[..end]) {
        return Decision::As(Layout::Lines);
    }
    of_block(text, end, reader, is_end).unwrap_or(wait)
}

/// Recognizes a text that begins with JSON. Returns `None` if the text is in another notation.
fn of_json(text: &[u8], is_end: bool, reader: &RowReader) -> Option<Decision> {
    let lines = Decision::As(Layout::Lines);
    let json = Decision::As(Layout::Json(JsonRows::default()));
    let first = text.first().filter(|first| b"[{\"".contains(first))?;
    let extent = if *first == b'"' { Extent::NotJson } else { extent(text) };
    match extent {
        Extent::Open if !is_end => Some(Decision::Wait),
        // An array that is too long for one board.
        Extent::Open if *first == b'[' && text.len() > MAX_LINE => Some(json),
        Extent::Closed(end) if text[..end].contains(&b'\n') => Some(json),
        Extent::Closed(end) if *first == b'[' => Some(of_array(text.split_at(end), is_end, reader)),
        Extent::Closed(_) => Some(lines),
        Extent::Open | Extent::NotJson => None,
    }
}

/// Recognizes the layout of a text that begins with an array on one line, and continues with `after`. An array that is
/// a board is not a list of rows. Any other array is a list of rows if one of its entries can only be a row. The array
/// is also a list of rows if all other lines are blank or comments, and all entries are boards.
fn of_array((array, after): (&[u8], &[u8]), is_end: bool, reader: &RowReader) -> Decision {
    let as_list = |is_list| Decision::As(if is_list { Layout::Json(JsonRows::default()) } else { Layout::Lines });
    let is_complete = |line: &&[u8]| is_end || line.ends_with(b"\n");
    let is_skipped = |line: &[u8]| RowReader::is_blank(line) || is_comment(line);
    let mut lines = after.split_inclusive(|byte| *byte == b'\n').take_while(is_complete);
    let rest_of_line = lines.next();
    match () {
        () if reader.is_row(array) => as_list(false),
        () if rest_of_line.is_none() && !is_end => Decision::Wait,
        () if !rest_of_line.is_none_or(is_skipped) => as_list(false),
        () if has_nested_rows(array) => as_list(true),
        () if !lines.all(is_skipped) => as_list(false),
        () if !is_end => Decision::Wait,
        () => as_list(is_list(array, reader)),
    }
}

/// Recognizes the layout of a text whose first line, up to `first_end`, is no row. Returns `None` if the decision needs
/// more text.
fn of_block(text: &[u8], first_end: usize, reader: &RowReader, is_end: bool) -> Option<Decision> {
    let records = || Some(Decision::As(Layout::Records(Records::default())));
    let (first, after) = text.split_at(first_end);
    let (mut block, mut is_complete) = (Block::default(), is_end);
    for line in text.split_inclusive(|byte| *byte == b'\n').take_while(|line| is_end || line.ends_with(b"\n")) {
        if RowReader::is_blank(line) {
            is_complete = true;
            break;
        }
        if block.push(line) && block.is_sized(reader.sides()) {
            return records();
        }
    }
    let mut lines = after.split_inclusive(|byte| *byte == b'\n').filter(|line| is_end || line.ends_with(b"\n"));
    let second = lines.find(|line| !RowReader::is_blank(line) && !is_comment(line));
    let row = second.filter(|line| reader.is_row(line));
    // Rows of a board have equal numbers of cells.
    let count = |line| cells(line).count();
    let is_other = |line| is_text(first) && count(line) != count(first) && !is_size(first, count(line));
    let is_other = second.is_some_and(is_other) || is_prose(first);
    let is_number = is_number(first, row);
    let skip = || Some(Decision::Skip(first.trim_ascii_end().len()));
    match (row.is_some() && is_other, is_complete) {
        // The number of boards, before boards that are a line each.
        (true, _) if is_number => skip(),
        (true, _) => Some(Decision::As(Layout::Lines)),
        (false, false) => None,
        (false, true) if block.is_board(reader.sides()) => records(),
        (false, true) if is_number && row.is_some() => skip(),
        // The number of boards, before a blank line.
        (false, true) if is_number && block.len() == first_end => match second {
            Some(_) => skip(),
            None if is_end => Some(Decision::As(Layout::Lines)),
            None => None,
        },
        (false, true) => Some(Decision::As(Layout::Lines)),
    }
}

/// True if a line has letters or digits, and is not only the border of a table.
fn is_text(line: &[u8]) -> bool {
    line.iter().any(u8::is_ascii_alphanumeric)
}

/// True if a line has letters, and no bracket of an array.
fn is_prose(line: &[u8]) -> bool {
    line.iter().any(u8::is_ascii_alphabetic) && !line.iter().any(|byte| b"[]{}()=".contains(byte))
}

/// Returns true if a line can be the number of boards: it has at most 7 characters, all digits. If `row` has the same
/// length, the result is false, because the line may be a faulty row.
fn is_number(line: &[u8], row: Option<&[u8]>) -> bool {
    const MAX_DIGITS: usize = 7;
    let digits = line.trim_ascii();
    let is_count = digits.len() <= MAX_DIGITS && digits.iter().all(u8::is_ascii_digit);
    is_count && row.is_none_or(|row| row.trim_ascii().len() != digits.len())
}

/// Returns true if the last cell of a line is the number `cols`.
fn is_size(line: &[u8], cols: usize) -> bool {
    cells(line).last().and_then(|side| side.parse().ok()) == Some(cols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(text: &[u8], piece: usize) -> Result<String, RowError> {
        let mut input = InputText::new(&RowOptions::default(), &RowFormat::Json);
        let mut out = Vec::new();
        for piece in text.chunks(piece) {
            out.extend_from_slice(&input.push(piece)?);
        }
        out.extend(input.finish()?);
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn lines_remain_as_they_are() {
        let rows = "[[8,6,7],[2,5,4],[3,0,1]]\n";
        for text in [
            rows.repeat(3),
            format!("# a comment\r\n\r\n{rows}[\n"),
            format!("\u{feff}{rows}"),
            format!("[[8,6,7],[2,5,4],[3,0,7]]\n{rows}"),
            format!("[[8,6,7],[2,5,4],[3,0,7]\n{rows}{rows}"),
            format!("[[3,1,2,0],[1,2,3,0]]\n{rows}"),
            format!("[\n{rows}{rows}"),
            format!("{{\"board\":\n{rows}"),
            format!("\"hello\n{rows}"),
            format!("hello\n{rows}"),
            "hello\n3120\n3 1/2 0\n".to_owned(),
            "1 14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3\n5\n".to_owned(),
            "867254301\n\n123456708".to_owned(),
            "867254300\n867254301\n".to_owned(),
            "3122\n3120\n".to_owned(),
            "12345678\n\n3120\n".to_owned(),
            "[[1,2,3,0],[4,5,6,6]]\n".to_owned(),
            "[\"1230\",\"4566\"]\n".to_owned(),
            // These texts take hours if each line is classified for each other line.
            format!("3\n{}", "#\n".repeat(16_000)),
            format!("{}3120\n", "#\n".repeat(16_000)),
            format!("{}4\n\n3120\n3\n", "#\n".repeat(20_000)),
            "5".to_owned(),
            "[[8,6,7],[2,5,4],[3,0,1]".to_owned(),
            "[[8,6,7],[2,5,4],[3,0,7]]\n\n".to_owned(),
            "x".repeat(5 * MAX_LINE) + "\n1230",
            String::new(),
            "\n\n".to_owned(),
        ] {
            for piece in [1, 7, 1000, 100_000] {
                assert!(convert(text.as_bytes(), piece).unwrap() == text, "{}", &text[..text.len().min(100)]);
            }
        }
    }

    #[test]
    fn other_layouts_become_lines() {
        let json = "\"3 1\\n2 0\"";
        for (text, expected) in [
            (
                "[\n {\"board\": \"3120\"},\n {\"board\": \"1230\"}\n]\n",
                "{\"board\": \"3120\"}\n{\"board\": \"1230\"}\n",
            ),
            ("[[3,1,2,0],[1,2,3,0]]\n", "[3,1,2,0]\n[1,2,3,0]\n"),
            ("[[3,1,2,0],[1,2,3,0]]\n# end\n\n", "[3,1,2,0]\n[1,2,3,0]\n"),
            ("# c\n[{\"id\":1},{\"id\":2}]\n{\"id\":3}\n# end", "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"),
            ("\u{feff}[{\"board\":\"3120\"},\n{\"board\":\"1230\"}]", "{\"board\":\"3120\"}\n{\"board\":\"1230\"}\n"),
            ("\u{feff}2\n3 1\n2 0\n2\n1 2\n3 0", "\"2\\n3 1\\n2 0\"\n\n\n\"2\\n1 2\\n3 0\"\n\n"),
            ("[\n [3,1],\n [2,0]\n]", "[  [3,1],  [2,0] ]\n"),
            ("3 1\n2 0\n\n3 1\n2 0", &format!("{json}\n\n\n{json}\n")),
            ("2\n3 1\n2 0\n", "\"2\\n3 1\\n2 0\"\n\n\n"),
            ("2\n3 1 2 0\n1 2 3 0\n", " \n3 1 2 0\n1 2 3 0\n"),
            ("2\n3120\n1230\n", " \n3120\n1230\n"),
            ("2 4\n3,1,2,0\n4,5,6,7\n", "\"2 4\\n3,1,2,0\\n4,5,6,7\"\n\n\n"),
            ("2\n\n3 1\n2 0\n", &format!(" \n\n{json}\n\n")),
            ("[[3 1]\n [2 0]]\n", "\"[[3 1]\\n [2 0]]\"\n\n"),
        ] {
            for piece in [1, 2, 5, 100] {
                assert_eq!(convert(text.as_bytes(), piece).unwrap(), expected, "{text}");
            }
        }
    }

    #[test]
    fn many_comments_and_numbers_take_little_time() {
        let comments = "#\n".repeat(100_000);
        let text = format!("3\n1 2 3\n4 5 6\n7 8 0\n3\n{comments}");
        let expected = format!("\"3\\n1 2 3\\n4 5 6\\n7 8 0\"\n\n\n\n3\n{comments}");
        let counts = format!("{}{}", "#\n".repeat(6_000), "3\n\n".repeat(6_000));
        for piece in [1, 1000, 1_000_000] {
            assert!(convert(text.as_bytes(), piece).unwrap() == expected, "pieces of {piece} bytes");
            assert_eq!(convert(counts.as_bytes(), piece).unwrap().len(), counts.len());
        }
    }

    #[test]
    fn lines_that_are_not_utf8_are_in_no_board() {
        for text in [&b"3 1\n2 0\n4\xa05\n"[..], b"2\n3 1\n2 0 \xa0\n", b"3 1\n2 \xa0\n\n1 2\n3 0\n"] {
            for piece in [1, 7, 100] {
                let mut input = InputText::new(&RowOptions::default(), &RowFormat::Json);
                let mut out = Vec::new();
                text.chunks(piece).for_each(|piece| out.extend_from_slice(&input.push(piece).unwrap()));
                out.extend(input.finish().unwrap());
                assert_eq!(out, text);
            }
        }
        let reader = RowReader::new(RowOptions::default(), RowFormat::Json);
        let (mut records, mut out) = (Records::default(), Vec::new());
        records.push(b"3 1\n2 \xa0\n\n3 1\n2 0\n", &reader, &mut out);
        records.finish(&reader, &mut out);
        assert_eq!(out, b"3 1\n2 \xa0\n\n\"3 1\\n2 0\"\n\n");
    }

    #[test]
    fn utf16_is_decoded_or_located() {
        let text = "\u{feff}[\n\"3120\",\n\"1230\"\n]";
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for piece in [1, 3, 100] {
            assert_eq!(convert(&bytes, piece).unwrap(), "\"3120\"\n\"1230\"\n");
        }
        let mut input = InputText::new(&RowOptions::default(), &RowFormat::Json);
        let error = input.push(b"\xff\xfe1\x00\x00\xd81\x00").unwrap_err();
        assert!(error.detail.contains("not UTF-16 at byte 7"), "{error:?}");
    }
}
