//! Fast reader of the most frequent documents: a board as JSON rows, with or without an id.
//!
//! For such a document, the general reader would take most of the time of a row in a batch, and a tenth of the time of
//! a request. Tests and the fuzzer compare both readers.

use taquin_solver::{Board, Size};

/// Reads `[[…], …]` or `{"id": …, "board": [[…], …]}`. The tiles are numbers. The id is optional. The id is a string of
/// printable ASCII without escapes, or an integer of at most 15 digits without a sign.
///
/// Returns the id and the board. The id is the JSON text in the line; `None` if the row has no id. Returns `None` for
/// any other line, and for every invalid board.
pub(crate) fn plain_row(line: &[u8]) -> Option<(Option<&[u8]>, Board)> {
    let mut scanner = Scanner(line);
    if scanner.take("{").is_none() {
        let board = scanner.board()?;
        return scanner.is_at_end().then_some((None, board));
    }
    let mut id = None;
    if scanner.take("\"id\"").is_some() {
        scanner.take(":")?;
        id = Some(scanner.id()?);
        scanner.take(",")?;
    }
    scanner.take("\"board\"")?;
    scanner.take(":")?;
    let board = scanner.board()?;
    scanner.take("}")?;
    scanner.is_at_end().then_some((id, board))
}

/// The part of a JSON document that has not been read yet.
struct Scanner<'b>(&'b [u8]);

impl<'b> Scanner<'b> {
    #[inline]
    fn skip_space(&mut self) {
        while let [b' ' | b'\n' | b'\r' | b'\t', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    #[inline]
    fn take(&mut self, part: &str) -> Option<()> {
        self.skip_space();
        self.0 = self.0.strip_prefix(part.as_bytes())?;
        Some(())
    }

    /// Reads a tile: a JSON number of one or two digits.
    #[inline]
    fn number(&mut self) -> Option<i64> {
        self.skip_space();
        let (number, rest) = match self.0 {
            [b'0', rest @ ..] => (0, rest),
            [tens @ b'1'..=b'9', ones @ b'0'..=b'9', rest @ ..] => (10 * (tens - b'0') + ones - b'0', rest),
            [ones @ b'1'..=b'9', rest @ ..] => (ones - b'0', rest),
            _ => return None,
        };
        self.0 = rest;
        Some(i64::from(number))
    }

    /// Reads an array of rows.
    fn board(&mut self) -> Option<Board> {
        let mut tiles = [None; Size::MAX_CELLS];
        let (mut rows, mut cols, mut cells) = (0, None, 0);
        self.take("[")?;
        loop {
            let begun = cells;
            self.take("[")?;
            loop {
                *tiles.get_mut(cells)? = Some(self.number()?);
                cells += 1;
                if self.take(",").is_none() {
                    break;
                }
            }
            self.take("]")?;
            rows += 1;
            if *cols.get_or_insert(cells - begun) != cells - begun {
                return None;
            }
            if self.take(",").is_none() {
                break;
            }
        }
        self.take("]")?;
        let size = Size::try_from((rows, cols?)).ok()?;
        Board::try_from_tiles(size, &tiles[..cells]).ok()
    }

    /// Reads a string of printable ASCII without escapes, or an integer of at most 15 digits without leading zeros.
    fn id(&mut self) -> Option<&'b [u8]> {
        const MAX_DIGITS: usize = 15;
        self.skip_space();
        let length = match self.0 {
            [b'"', text @ ..] => {
                let end = text.iter().position(|byte| !matches!(byte, b' '..=b'~') || matches!(byte, b'"' | b'\\'))?;
                (text[end] == b'"').then_some(end + 2)?
            }
            digits => {
                let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let is_number = (1..=MAX_DIGITS).contains(&length) && (length == 1 || digits[0] != b'0');
                is_number.then_some(length)?
            }
        };
        let (id, rest) = self.0.split_at(length);
        self.0 = rest;
        Some(id)
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{BOARD_FIELDS, FieldReader, Json, WrittenFields, board_and_goal};

    /// Reads a row with the general reader.
    fn read(body: &[u8]) -> Option<(Board, Board)> {
        let body = WrittenFields::Json(Json::parse(std::str::from_utf8(body).ok()?).ok()?);
        let mut fields = FieldReader::new(Vec::new(), Some(body), &BOARD_FIELDS);
        let boards = board_and_goal(&mut fields);
        fields.finish(boards).ok()
    }

    #[test]
    fn boards_of_every_size_are_read() {
        for size in Size::all() {
            let board = Board::snail(size);
            let rows: Vec<Vec<u8>> = board.rows().map(<[u8]>::to_vec).collect();
            let text = serde_json::json!({ "board": rows }).to_string();
            for text in [text.replace(',', " ,\n\t"), text.replace('[', " [ ").replace(']', "\r]\n"), text] {
                assert_eq!(plain_row(text.as_bytes()), Some((None, board)));
            }
        }
    }

    #[test]
    fn it_reads_what_the_general_reader_reads() {
        let plain = br#"{"board": [[8, 6,7],[2,5,4],[3,0,1]]}"#;
        let (board, _) = read(plain).unwrap();
        assert_eq!(plain_row(plain), Some((None, board)));
        let mut plain_rows = 0;
        for at in 0..plain.len() {
            for byte in 0..=u8::MAX {
                let replaced = [&plain[..at], &[byte], &plain[at + 1..]].concat();
                let inserted = [&plain[..at], &[byte], &plain[at..]].concat();
                let removed = [&plain[..at], &plain[at + 1..]].concat();
                for row in [replaced, inserted, removed] {
                    if let Some((_, board)) = plain_row(&row) {
                        let expected = Some((board, Board::blank_last(board.size())));
                        assert_eq!(read(&row), expected, "{}", row.escape_ascii());
                        plain_rows += 1;
                    }
                }
            }
        }
        assert!(plain_rows > 500, "{plain_rows}");
    }

    #[test]
    fn rows_have_ids_as_they_are_written() {
        let board = Board::snail(Size::try_from((2, 2)).unwrap());
        for (line, id) in [
            ("[[1,2],[0,3]]", None),
            (" [ [1, 2], [0, 3] ]\r", None),
            (r#"{"board":[[1,2],[0,3]]}"#, None),
            (r#"{"id":7,"board":[[1,2],[0,3]]}"#, Some("7")),
            (r#"{"id": 0, "board": [[1,2],[0,3]]}"#, Some("0")),
            (r#"{"id":"a, b}","board":[[1,2],[0,3]]}"#, Some(r#""a, b}""#)),
        ] {
            assert_eq!(plain_row(line.as_bytes()), Some((id.map(str::as_bytes), board)), "{line}");
        }
        for line in [
            "",
            "{}",
            "1203",
            "\"1203\"",
            "[[1,2],[0,3]],",
            "[[1,2],[0,3]] []",
            r#"{"board":[[1,2],[0,3]],"id":7}"#,
            r#"{"id":07,"board":[[1,2],[0,3]]}"#,
            r#"{"id":-7,"board":[[1,2],[0,3]]}"#,
            r#"{"id":1.5,"board":[[1,2],[0,3]]}"#,
            r#"{"id":1234567890123456,"board":[[1,2],[0,3]]}"#,
            r#"{"id":null,"board":[[1,2],[0,3]]}"#,
            r#"{"id":"\n","board":[[1,2],[0,3]]}"#,
            r#"{"id":"ü","board":[[1,2],[0,3]]}"#,
            r#"{"id":"a,"board":[[1,2],[0,3]]}"#,
            r#"{"id":"a"}"#,
            r#"{"board": [[1,2],[3,0]], "goal": "snail"}"#,
            r#"{"board": [[1,2],[3,0]], "board": [[1,2],[3,0]]}"#,
            r#"{"board": [[1,2],[3,4]]}"#,
            r#"{"board": [[1,2],[3,0]]} {}"#,
            r#"{"board": [[1,2],[3,0],]}"#,
            r#"{"board": [[1,2],[3]]}"#,
            r#"{"board": [[01,2],[3,0]]}"#,
            r#"{"board": [[1,2],[3,null]]}"#,
            r#"{"board": [[1]]}"#,
            r#"{"board": []}"#,
        ] {
            assert_eq!(plain_row(line.as_bytes()), None, "{line}");
        }
    }
}
