//! JSON values with the details that validation needs.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use taquin_solver::Board;

use crate::row_error::{ErrorKind, RowError};

/// A JSON value that preserves repeated keys and distinguishes 1 from 1.0.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without fraction or exponent. A number beyond the range of `i64`, even with fraction or exponent, is
    /// clamped to the range.
    Integer(i64),
    /// A number with fraction or exponent, within the range of `i64`.
    Float(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object: its members in their order, including repeated ones.
    Object(Vec<(String, Json)>),
}

/// Maximum number of values in a document. A value takes some 50 bytes of memory, but as little as two bytes of text.
/// So a limit on the text alone would allow too much memory. The longest valid request, `/verify` with 50,000 tiles,
/// fits.
const MAX_VALUES: usize = 1 << 16;

impl Json {
    /// Parses one JSON document. Parsing stops at the first value beyond `MAX_VALUES`.
    ///
    /// # Errors
    /// `malformed-json` if the text is not JSON. The detail gives line and column, and never quotes the text.
    /// `content-too-large` if the document has more than `MAX_VALUES` values.
    pub fn parse(text: &str) -> Result<Self, RowError> {
        Self::parse_part(text, |error| ("body", format!("line {}, column {}", error.line(), error.column())))
    }

    /// Parses one line of a body as a JSON document, as [`parse`](Self::parse) does.
    ///
    /// # Errors
    /// Errors of [`parse`](Self::parse). The detail gives only the column, not the line.
    pub fn parse_line(text: &str) -> Result<Self, RowError> {
        Self::parse_part(text, |error| ("line", format!("column {}", error.column())))
    }

    /// Parses one JSON document. `part` returns the name of the document, such as `body`, and the position of an error
    /// in words.
    fn parse_part(text: &str, part: impl Fn(&serde_json::Error) -> (&'static str, String)) -> Result<Self, RowError> {
        let left = Cell::new(MAX_VALUES);
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let json = JsonSeed(&left).deserialize(&mut deserializer).and_then(|json| deserializer.end().map(|()| json));
        json.map_err(|error| match error.classify() {
            Category::Data => too_many_values(),
            _ => malformed(&error, part(&error)),
        })
    }

    /// Returns the type in words, such as "a string".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a fractional number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// A board as an array of rows.
impl From<&Board> for Json {
    fn from(board: &Board) -> Self {
        let row = |row: &[u8]| Self::Array(row.iter().map(|tile| Self::Integer((*tile).into())).collect());
        Self::Array(board.rows().map(row).collect())
    }
}

fn malformed(error: &serde_json::Error, (part, place): (&str, String)) -> RowError {
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    if error.classify() == Category::Eof {
        let detail = format!("The JSON ends too early at {place}: a bracket, a brace or a quote is missing.");
        return RowError::new(ErrorKind::MalformedJson, detail);
    }
    let advice = match reason {
        "trailing characters" if part == "line" => {
            "A line is one board. `curl -d @FILE` removes line ends; `curl --data-binary @FILE` keeps them."
        }
        "trailing characters" => "Send exactly one JSON document.",
        "recursion limit exceeded" => "The document is nested too deeply: a board has two levels.",
        _ => "Names and strings need double quotes, and no comma may follow the last entry.",
    };
    let detail = format!("The {part} is not valid JSON at {place}: {reason}. {advice}");
    RowError::new(ErrorKind::MalformedJson, detail)
}

fn too_many_values() -> RowError {
    let detail = format!(
        "The JSON has more than {MAX_VALUES} values. A board has at most 100 cells, and a list of tiles at most 50000 \
         entries."
    );
    RowError::new(ErrorKind::ContentTooLarge, detail)
}

/// A reader of a value and of all values inside. The cell has the number of values that may still be read.
#[derive(Clone, Copy)]
struct JsonSeed<'l>(&'l Cell<usize>);

impl<'de> DeserializeSeed<'de> for JsonSeed<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        let left = self.0.get().checked_sub(1).ok_or_else(|| D::Error::custom("too many values"))?;
        self.0.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSeed<'_> {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Integer(i64::try_from(value).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        // serde_json reports all numbers beyond 64 bits as floats, even whole numbers.
        let is_beyond = value.abs() >= i64::MAX as f64;
        Ok(if is_beyond { Json::Integer(value as i64) } else { Json::Float(value) })
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(entry) = entries.next_element_seed(self)? {
            array.push(entry);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(name) = entries.next_key()? {
            object.push((name, entries.next_value_seed(self)?));
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail_of(text: &str) -> String {
        let problem = Json::parse(text).unwrap_err();
        assert_eq!(problem.kind, ErrorKind::MalformedJson);
        problem.detail
    }

    #[test]
    fn repeated_keys_are_kept_in_order() {
        let expected = vec![("a".to_owned(), Json::Integer(1)), ("a".to_owned(), Json::Null)];
        assert_eq!(Json::parse(r#"{"a": 1, "a": null}"#).unwrap(), Json::Object(expected));
    }

    #[test]
    fn whole_numbers_and_fractions_are_distinguished() {
        let expected = [Json::Integer(1), Json::Float(1.0), Json::Integer(-2), Json::Float(100.0)];
        assert_eq!(Json::parse("[1, 1.0, -2, 1e2]").unwrap(), Json::Array(expected.into()));
    }

    #[test]
    fn integers_beyond_the_range_saturate() {
        assert_eq!(Json::parse("18446744073709551615").unwrap(), Json::Integer(i64::MAX));
        assert_eq!(Json::parse("18446744073709551621").unwrap(), Json::Integer(i64::MAX));
        assert_eq!(Json::parse("-1e30").unwrap(), Json::Integer(i64::MIN));
    }

    #[test]
    fn a_document_of_too_many_values_is_rejected_where_it_exceeds_the_maximum() {
        let array = |entries: usize| format!("[{}0]", "0,".repeat(entries - 1));
        assert!(Json::parse(&array(MAX_VALUES - 1)).is_ok());
        // Parsing stops before the rest, which is not JSON.
        let members = r#""a":0,"#.repeat(MAX_VALUES);
        for text in [array(MAX_VALUES), array(MAX_VALUES).replace(']', "!"), format!("{{{members}!")] {
            let problem = Json::parse(&text).unwrap_err();
            assert_eq!(problem.kind, ErrorKind::ContentTooLarge);
            assert!(problem.detail.contains("more than 65536 values"), "{}", problem.detail);
        }
    }

    #[test]
    fn an_error_is_located_and_never_quoted() {
        let detail = detail_of("{\n  \"secret\": secret\n}");
        assert!(detail.contains("line 2, column "), "{detail}");
        assert!(!detail.contains("secret"), "{detail}");
    }

    #[test]
    fn truncated_trailing_and_deep_documents_say_so() {
        assert_eq!(
            detail_of("{\"board\": ["),
            "The JSON ends too early at line 1, column 11: a bracket, a brace or a quote is missing."
        );
        assert!(detail_of("{} {}").contains("exactly one"));
        assert!(detail_of(&"[".repeat(1000)).contains("nested too deeply"));
        assert!(detail_of("1e999").contains("out of range"));
    }
}
