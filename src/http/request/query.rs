//! Query strings in the encoding of HTML forms.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use taquin_bulk::FieldError;
use taquin_bulk::fields::pointer;

use crate::http::problem::{Problem, ProblemKind};

/// Splits and decodes a query string. Repeated names are preserved; empty pieces are dropped.
///
/// # Errors
/// `invalid-parameter`, with an error for each invalidly encoded parameter.
pub(crate) fn parse(query: &str) -> Result<Vec<(String, String)>, Problem> {
    let mut parameters = Vec::new();
    let mut errors = Vec::new();
    for piece in query.split('&').filter(|piece| !piece.is_empty()) {
        let (name, value) = piece.split_once('=').unwrap_or((piece, ""));
        match (decode(name), decode(value)) {
            (Ok(name), Ok(value)) => parameters.push((name, value)),
            (Ok(name), Err(reason)) => errors.push(FieldError::new(pointer(&name), "wrong-type", reason)),
            (Err(reason), _) => errors.push(FieldError::new("", "wrong-type", reason)),
        }
    }
    if errors.is_empty() {
        return Ok(parameters);
    }
    let detail = "The query string is not percent-encoded UTF-8. With curl, use `-G --data-urlencode 'board=…'`.";
    Err(Problem::new(ProblemKind::InvalidParameter, detail).with_errors(errors))
}

/// Decodes form encoding: `+` is a space, `%` and two hexadecimal digits are a byte of UTF-8.
fn decode(text: &str) -> Result<String, &'static str> {
    let is_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    if !text.split('%').skip(1).all(|rest| rest.as_bytes().get(..2).is_some_and(is_hex)) {
        return Err("`%` is not followed by two hexadecimal digits");
    }
    let decoded = percent_decode_str(&text.replace('+', " ")).decode_utf8().map(Cow::into_owned);
    decoded.map_err(|_| "the decoded bytes are not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(query: &str) -> Vec<(String, String)> {
        parse(query).unwrap()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_board_survives_form_encoding() {
        for query in ["board=8+6+7/2+5+4/3+0+1", "board=8%206%207%2F2%205%204%2f3%200%201"] {
            assert_eq!(pairs(query), [pair("board", "8 6 7/2 5 4/3 0 1")], "{query}");
        }
    }

    #[test]
    fn repeated_names_are_kept_and_empty_pieces_are_not() {
        assert_eq!(pairs("&a=1&&a=2&b&c=x=y&"), [pair("a", "1"), pair("a", "2"), pair("b", ""), pair("c", "x=y")]);
        assert_eq!(pairs(""), []);
    }

    #[test]
    fn every_wrongly_encoded_parameter_is_reported() {
        let problem = parse("limits.time_ms=%zz&board=%ff&ok=1&%=2&x=%4").unwrap_err();
        assert_eq!(problem.kind, ProblemKind::InvalidParameter);
        let pointers: Vec<_> = problem.errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(pointers, ["/limits/time_ms", "/board", "", "/x"]);
        assert!(problem.errors.iter().all(|error| error.code == "wrong-type" && !error.detail.is_empty()));
    }
}
