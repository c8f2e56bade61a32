//! The GET request that has the same response as a POST request.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use taquin_solver::Board;

/// The target of the GET request with the same fields, relative to that of the POST request (docs/adr/0048).
///
/// The fields are in the order in which they are read, and boards are rows of tiles. So requests that differ in
/// notation only have one target. `None` if the target is too long.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct GetTarget(Option<Vec<u8>>);

/// Characters of a value that are percent-encoded: all but those that a query may contain and that boards, lists and
/// ranges consist of.
const ENCODED: AsciiSet =
    NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b',').remove(b'/').remove(b':');

impl GetTarget {
    /// Maximum length in bytes. Clients, proxies and caches differ in what they accept; all accept this.
    const MAX_LENGTH: usize = 2_000;

    /// Most targets of boards of up to 16 cells need no more.
    const CAPACITY: usize = 64;

    /// The target for a path of one segment, without fields. Relative to it, so that it is right below any path of a
    /// proxy.
    pub(crate) fn of(path: &str) -> Self {
        let mut target = Vec::with_capacity(Self::CAPACITY);
        target.extend_from_slice(path.strip_prefix('/').unwrap_or(path).as_bytes());
        Self(Some(target))
    }

    /// Adds a field.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.write(name, value.len(), |target| {
            utf8_percent_encode(value, &ENCODED).for_each(|piece| target.extend_from_slice(piece.as_bytes()));
        });
    }

    /// Adds a field with a list of numbers.
    pub(crate) fn add_numbers(&mut self, name: &str, numbers: &[i64]) {
        self.write(name, 2 * numbers.len(), |target| {
            let mut figures = itoa::Buffer::new();
            for (at, number) in numbers.iter().enumerate() {
                target.extend_from_slice(if at == 0 { b"" } else { b"," });
                target.extend_from_slice(figures.format(*number).as_bytes());
            }
        });
    }

    /// Adds a field with a board, as rows of tiles.
    pub(crate) fn add_board(&mut self, name: &str, board: &Board) {
        self.write(name, 2 * board.size().cells(), |target| {
            let mut at = target.len();
            target.resize(at + 3 * board.size().cells(), b',');
            for row in board.rows() {
                for tile in row {
                    let (tens, ones) = (tile / 10, tile % 10);
                    target[at] = b'0' + tens;
                    at += usize::from(tens > 0);
                    target[at] = b'0' + ones;
                    at += 2;
                }
                target[at - 1] = b'/';
            }
            target.truncate(at - 1);
        });
    }

    /// Adds a field whose value takes about `length` bytes or more.
    fn write(&mut self, name: &str, length: usize, value: impl FnOnce(&mut Vec<u8>)) {
        // A body may have values of any length.
        let Some(target) = self.0.as_mut().filter(|target| target.len() + length <= Self::MAX_LENGTH) else {
            self.0 = None;
            return;
        };
        target.push(if target.contains(&b'?') { b'&' } else { b'?' });
        target.extend_from_slice(name.as_bytes());
        target.push(b'=');
        value(target);
    }

    /// Names the target in a successful response, unless it is too long.
    pub(crate) fn add_to(target: Option<Self>, response: &mut Response) {
        let target = target.and_then(|Self(target)| target).filter(|target| target.len() <= Self::MAX_LENGTH);
        if response.status() == StatusCode::OK
            && let Some(Ok(target)) = target.map(HeaderValue::try_from)
        {
            response.headers_mut().insert(header::CONTENT_LOCATION, target);
        }
    }
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;

    use super::*;
    use taquin_solver::Size;

    fn location(target: GetTarget) -> Option<String> {
        let mut response = Response::default();
        GetTarget::add_to(Some(target), &mut response);
        Some(response.headers().get(header::CONTENT_LOCATION)?.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_board_of_each_size_is_the_text_with_other_separators() {
        for size in Size::all() {
            let board = Board::snail(size);
            let mut target = GetTarget::of("/moves");
            target.add_board("board", &board);
            assert_eq!(location(target).unwrap(), format!("moves?board={}", board.to_string().replace(' ', ",")));
        }
    }

    #[test]
    fn a_target_has_the_name_of_its_path_and_the_fields() {
        let mut target = GetTarget::of("/solve");
        target.add_board("board", &Board::snail(Size::try_from((4, 4)).unwrap()));
        target.add("limits.time_ms", "5");
        target.add_numbers("tiles", &[7]);
        target.add_numbers("tiles", &[10, 1, 99]);
        let expected = "solve?board=1,2,3,4/12,13,14,5/11,0,15,6/10,9,8,7&limits.time_ms=5&tiles=7&tiles=10,1,99";
        assert_eq!(location(target).as_deref(), Some(expected));
    }

    #[test]
    fn every_value_survives_the_query() {
        let mut target = GetTarget::of("/random");
        let values = ["", "a b+c", "1..2", "50%&x=y#?", "ß☃", "[{\"a\":[1,2]}]", "\u{0}\n\"'"];
        values.iter().for_each(|value| target.add("seed", value));
        let location = location(target).unwrap();
        let query = location.strip_prefix("random?").unwrap();
        assert!(!query.contains(['+', '#', ' ']), "{query}");
        let decoded = query.split('&').map(|field| {
            let value = field.strip_prefix("seed=").unwrap();
            percent_decode_str(value).decode_utf8().unwrap().into_owned()
        });
        assert_eq!(decoded.collect::<Vec<_>>(), values);
    }

    #[test]
    fn a_long_target_and_a_failure_are_not_named() {
        let of_length = |length: usize| {
            let mut target = GetTarget::of("/verify");
            target.add("moves", &"U".repeat(length - "verify?moves=".len()));
            target
        };
        assert_eq!(location(of_length(2_000)).map(|location| location.len()), Some(2_000));
        for length in [2_001, 50_000] {
            assert_eq!(location(of_length(length)), None);
            let mut target = of_length(length);
            target.add("notation", "tile");
            assert_eq!(location(target), None, "it stays too long");
        }
        let mut failed = Response::default();
        *failed.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
        GetTarget::add_to(Some(of_length(20)), &mut failed);
        assert!(failed.headers().is_empty());
    }
}
