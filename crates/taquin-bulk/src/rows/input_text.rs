//! The bytes of an input as lines of UTF-8 with one row each.

use std::borrow::Cow;

use super::columns::without_mark;
use super::comment::is_comment;
use super::json_rows::{Extent, JsonRows, extent, is_list};
use super::options::RowOptions;
use super::reader::{MAX_LINE, RowFormat, RowReader};
use super::records::{Block, Records};
use super::utf16::{NotUtf16, Utf16};
use crate::row_error::{ErrorKind, RowError};

/// Converts the bytes of an input to lines of UTF-8 with one row each.
///
/// UTF-16 with a byte order mark is decoded. The entries of a JSON array become lines, and also boards over several
/// lines, if the first board of the text has several lines. Any other text remains as it is, and is not copied.
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
    /// Not known yet: the bytes from the start of the text.
    Unknown(Vec<u8>),
    /// A row is a line.
    Lines,
    Json(JsonRows),
    Records(Records),
}

/// A decision about the start of a text.
enum Decision {
    /// More bytes are needed.
    Wait,
    As(Layout),
    /// The line with these bytes is the number of boards, and no row.
    Skip(usize, usize),
}

impl InputText {
    /// Creates a converter of an input, which has rows with these options in this format.
    pub fn new(options: &RowOptions, format: &RowFormat) -> Self {
        let layout = match format {
            RowFormat::Json => Layout::Unknown(Vec::new()),
            RowFormat::Csv(_) => Layout::Lines,
        };
        let reader = RowReader::new(options.clone(), RowFormat::Json);
        Self { encoding: Encoding::Unknown(Vec::new()), layout, format: format.clone(), reader }
    }

    /// True if the text is known to remain as it is.
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
            Layout::Unknown(text) => out.append(text),
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

    /// Appends text to `out`, with one row a line.
    fn lay_out(&mut self, text: &[u8], out: &mut Vec<u8>) {
        match &mut self.layout {
            Layout::Unknown(begin) => {
                begin.extend_from_slice(text);
                self.decide(false, out);
            }
            Layout::Lines => out.extend_from_slice(text),
            Layout::Json(rows) => rows.push(text, &self.reader, out),
            Layout::Records(records) => records.push(text, &self.reader, out),
        }
    }

    /// Recognizes the layout, once it is certain.
    fn decide(&mut self, is_end: bool, out: &mut Vec<u8>) {
        loop {
            let Layout::Unknown(begin) = &mut self.layout else { return };
            match decision(begin, is_end, &self.reader) {
                Decision::Wait => return,
                Decision::Skip(start, end) => begin[start..end].fill(b' '),
                Decision::As(layout) => {
                    let begin = std::mem::take(begin);
                    self.layout = layout;
                    return self.lay_out(&begin, out);
                }
            }
        }
    }
}

fn not_utf16(NotUtf16 { byte }: NotUtf16) -> RowError {
    let detail = format!(
        "The text begins with the byte order mark of UTF-16, but is not UTF-16 at byte {byte}. Save it as UTF-8."
    );
    RowError::new(ErrorKind::MalformedJson, detail)
}

/// Number of bytes after which a text without a certain layout has rows as lines.
const MAX_BEGIN: usize = 2 * MAX_LINE;

/// Recognizes the layout by the start of a text. `is_end` is true if no more text follows. The decision does not depend on
/// the pieces in which the text arrives.
fn decision(text: &[u8], is_end: bool, reader: &RowReader) -> Decision {
    let (text, is_end) = text.get(..MAX_BEGIN).map_or((text, is_end), |begin| (begin, true));
    let mut start = text.len() - without_mark(text).len();
    for line in text[start..].split_inclusive(|byte| *byte == b'\n') {
        let is_skipped = RowReader::is_blank(line) || is_comment(line);
        if !is_skipped || !line.ends_with(b"\n") {
            break;
        }
        start += line.len();
    }
    let rest = &text[start..];
    if let Some(decision) = of_json(rest.trim_ascii_start(), is_end, reader) {
        return decision;
    }
    let wait = if is_end { Decision::As(Layout::Lines) } else { Decision::Wait };
    let line_end = rest.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
    let Some(end) = line_end.or(is_end.then_some(rest.len())) else { return wait };
    if reader.is_row(&rest[..end]) {
        return Decision::As(Layout::Lines);
    }
    match of_block(rest, end, reader, is_end) {
        Some(Decision::Skip(from, to)) => Decision::Skip(start + from, start + to),
        Some(decision) => decision,
        None => wait,
    }
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
        Extent::Closed(end) if *first == b'[' => {
            let (value, after) = text.split_at(end);
            let is_last = RowReader::is_blank(after);
            match () {
                () if reader.is_row(value) || !is_last => Some(lines),
                () if !is_end => Some(Decision::Wait),
                () if is_list(value, reader) => Some(json),
                () => Some(lines),
            }
        }
        Extent::Closed(_) => Some(lines),
        Extent::Open | Extent::NotJson => None,
    }
}

/// Recognizes the layout of a text whose first line, up to `first_end`, is no row. Returns `None` if the decision needs
/// more text.
fn of_block(text: &[u8], first_end: usize, reader: &RowReader, is_end: bool) -> Option<Decision> {
    let records = || Some(Decision::As(Layout::Records(Records::default())));
    let (first, after) = text.split_at(first_end);
    let (mut end, mut is_complete) = (0, is_end);
    for line in text.split_inclusive(|byte| *byte == b'\n').take_while(|line| is_end || line.ends_with(b"\n")) {
        if RowReader::is_blank(line) {
            is_complete = true;
            break;
        }
        end += line.len();
        if Block(&text[..end]).is_sized(reader.sides()) {
            return records();
        }
    }
    let mut lines = after.split_inclusive(|byte| *byte == b'\n').filter(|line| is_end || line.ends_with(b"\n"));
    let second = lines.find(|line| !RowReader::is_blank(line) && !is_comment(line));
    let is_row = second.is_some_and(|line| reader.is_row(line));
    // Rows of a board have equal numbers of cells.
    let is_other = |line| is_text(first) && words(line) != words(first) && !is_size(first, words(line));
    let is_other = second.is_some_and(is_other) || is_prose(first);
    let is_number = first.trim_ascii().iter().all(u8::is_ascii_digit);
    let skip = || Some(Decision::Skip(0, first.trim_ascii_end().len()));
    match (is_row && is_other, is_complete) {
        // The number of boards, before boards that are a line each.
        (true, _) if is_number => skip(),
        (true, _) => Some(Decision::As(Layout::Lines)),
        (false, false) => None,
        (false, true) if Block(&text[..end]).is_board(reader.sides()) => records(),
        (false, true) if is_number && is_row => skip(),
        // The number of boards, before a blank line.
        (false, true) if is_number && end == first_end => match second {
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

/// Number of words of a line.
fn words(line: &[u8]) -> usize {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count()
}

/// True if a line ends with a number of columns.
fn is_size(line: &[u8], cols: usize) -> bool {
    let last = line.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next();
    last.and_then(|side| std::str::from_utf8(side).ok()?.parse().ok()) == Some(cols)
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
            ("[\n [3,1],\n [2,0]\n]", "[  [3,1],  [2,0] ]\n"),
            ("3 1\n2 0\n\n3 1\n2 0", &format!("{json}\n\n\n{json}\n")),
            ("2\n3 1\n2 0\n", "\"2\\n3 1\\n2 0\"\n\n\n"),
            ("2\n3 1 2 0\n1 2 3 0\n", " \n3 1 2 0\n1 2 3 0\n"),
            ("2\n\n3 1\n2 0\n", &format!(" \n\n{json}\n\n")),
            ("[[3 1]\n [2 0]]\n", "\"[[3 1]\\n [2 0]]\"\n\n"),
        ] {
            for piece in [1, 2, 5, 100] {
                assert_eq!(convert(text.as_bytes(), piece).unwrap(), expected, "{text}");
            }
        }
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
