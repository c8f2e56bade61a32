//! Reader of the most frequent body: a board alone, as JSON rows.
//!
//! A shortcut beside the general reader. It is worth 5 % of responses a second on 3×3 boards (docs/adr/0022). Tests and
//! the fuzzer compare the two.

use crate::domain::{Board, Size};

/// Reads `{"board": [[…], …]}`, with the tiles as numbers and no other field.
///
/// Returns `None` for any other body and for every invalid board. The general reader then reads the body, and reports
/// all errors.
pub(crate) fn plain_board(body: &[u8]) -> Option<Board> {
    let mut scanner = Scanner(body);
    let mut tiles = [None; Size::MAX_CELLS];
    let (mut rows, mut cols, mut cells) = (0, None, 0);
    for part in ["{", "\"board\"", ":", "["] {
        scanner.take(part)?;
    }
    loop {
        let begun = cells;
        scanner.take("[")?;
        loop {
            *tiles.get_mut(cells)? = Some(scanner.number()?);
            cells += 1;
            if scanner.take(",").is_none() {
                break;
            }
        }
        scanner.take("]")?;
        rows += 1;
        if *cols.get_or_insert(cells - begun) != cells - begun {
            return None;
        }
        if scanner.take(",").is_none() {
            break;
        }
    }
    scanner.take("]")?;
    scanner.take("}")?;
    let size = Size::try_from((rows, cols?)).ok()?;
    if !scanner.is_at_end() {
        return None;
    }
    Board::try_from_tiles(size, &tiles[..cells]).ok()
}

/// The unread rest of a JSON document.
struct Scanner<'b>(&'b [u8]);

impl Scanner<'_> {
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

    /// Reads a tile: a JSON number without leading zeros.
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

    fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::request::{BOARD_FIELDS, FieldReader, Format, RequestBody, RequestFields, board_and_goal};

    /// Reads the body with the general reader.
    fn read(body: &[u8]) -> Option<(Board, Board)> {
        let body = RequestBody::parse(body, Format::Json).ok()?;
        let mut fields = FieldReader::new(RequestFields { query: Vec::new(), body: Some(body) }, &BOARD_FIELDS);
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
                assert_eq!(plain_board(text.as_bytes()), Some(board));
            }
        }
    }

    #[test]
    fn it_reads_what_the_general_reader_reads() {
        let plain = br#"{"board": [[8, 6,7],[2,5,4],[3,0,1]]}"#;
        let (board, _) = read(plain).unwrap();
        assert_eq!(plain_board(plain), Some(board));
        let mut plain_bodies = 0;
        for at in 0..plain.len() {
            for byte in 0..=u8::MAX {
                let replaced = [&plain[..at], &[byte], &plain[at + 1..]].concat();
                let inserted = [&plain[..at], &[byte], &plain[at..]].concat();
                let removed = [&plain[..at], &plain[at + 1..]].concat();
                for body in [replaced, inserted, removed] {
                    if let Some(board) = plain_board(&body) {
                        let expected = Some((board, Board::blank_last(board.size())));
                        assert_eq!(read(&body), expected, "{}", body.escape_ascii());
                        plain_bodies += 1;
                    }
                }
            }
        }
        assert!(plain_bodies > 500, "{plain_bodies}");
    }

    #[test]
    fn any_other_body_is_left_to_the_general_reader() {
        for body in [
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
            r#"[[1,2],[3,0]]"#,
            "",
        ] {
            assert_eq!(plain_board(body.as_bytes()), None, "{body}");
        }
    }
}
