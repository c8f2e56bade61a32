//! The values of a request field, from a query or a body.

use super::json::Json;
use crate::row_error::ErrorKind;

/// Maximum of a requested limit: the largest whole number that every JSON parser reads exactly.
pub const MAX_LIMIT: i64 = (1 << 53) - 1;

/// One value of a field.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A value in a query string, which is always text.
    Query(String),
    /// A value in a body.
    Body(Json),
}

impl Value {
    /// The problem kind of an error in this value.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Query(_) => ErrorKind::InvalidParameter,
            Self::Body(_) => ErrorKind::InvalidRequest,
        }
    }

    /// Describes the value for an error message: a text of a query in quotes, or the type of a JSON value.
    pub fn described(&self) -> String {
        match self {
            Self::Query(text) if text.is_empty() => "an empty text".to_owned(),
            Self::Query(text) => quoted(text),
            Self::Body(json) => json.kind().to_owned(),
        }
    }

    /// Returns the value as JSON. A text of a query is parsed; `None` if the text is not valid JSON.
    pub fn to_json(&self) -> Option<Json> {
        match self {
            Self::Query(text) => Json::parse(text).ok(),
            Self::Body(json) => Some(json.clone()),
        }
    }

    /// Returns true if this value equals the value `body`. A text of a query equals `body` if the text stands for
    /// `body`, as `1,2` stands for `[1, 2]`.
    pub fn agrees_with(&self, body: &Json) -> bool {
        match self {
            Self::Query(text) => stands_for(text, body),
            Self::Body(json) => json == body,
        }
    }

    /// The text, if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Query(text) | Self::Body(Json::String(text)) => Some(text),
            Self::Body(_) => None,
        }
    }

    /// The number, if the value is a whole number, which may have an exponent or zeros as decimals: `5e3`, `5000.0`.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Query(text) => text.parse().ok().or_else(|| whole(text.parse().ok()?)),
            Self::Body(Json::Integer(number)) => Some(*number),
            Self::Body(Json::Float(number)) => whole(*number),
            Self::Body(_) => None,
        }
    }

    /// The number, if the value is a finite number.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Query(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Body(Json::Float(number)) => Some(*number),
            Self::Body(Json::Integer(number)) => Some(*number as f64),
            Self::Body(_) => None,
        }
    }
}

/// A field with all its values.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The first value.
    pub(crate) value: Value,
    /// The values of further query parameters with this name. A list has the entries of all its parameters. For any
    /// other field, all values must be equal.
    pub(crate) further: Vec<String>,
    /// The value in the body, if the query also has the field. Both values must be equal.
    pub(crate) in_body: Option<Json>,
}

impl Field {
    /// Returns true if the values differ.
    pub(crate) fn has_contradiction(&self) -> bool {
        let differs_from_body = |json| !self.value.agrees_with(json);
        self.further.iter().any(|text| self.value.as_str() != Some(text))
            || self.in_body.as_ref().is_some_and(differs_from_body)
    }

    /// Joins the values of all query parameters of this field into one value, a list with this separator.
    pub(crate) fn joined(self, separator: &str) -> Self {
        match self.value {
            Value::Query(first) if !self.further.is_empty() => {
                let all = std::iter::once(&first).chain(&self.further).map(|text| text.trim());
                let value = Value::Query(all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(separator));
                Self { value, further: Vec::new(), ..self }
            }
            _ => self,
        }
    }
}

/// The number, if it is whole and within the range in which each whole number has its own float.
fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() <= MAX_LIMIT as f64;
    is_whole.then_some(number as i64)
}

/// Returns true if the text of a query parameter stands for a JSON value. A string stands for itself. Any other value
/// is written as JSON. A list may also be written as entries separated by commas.
fn stands_for(text: &str, json: &Json) -> bool {
    match json {
        Json::String(string) => text == string,
        Json::Array(entries) if entries.is_empty() => text.trim().is_empty(),
        Json::Array(entries)
            if text.split(',').count() == entries.len()
                && text.split(',').zip(entries).all(|(part, entry)| stands_for(part.trim(), entry)) =>
        {
            true
        }
        json => Json::parse(text).is_ok_and(|parsed| parsed == *json),
    }
}

/// Quotes a text of a client for an error message. The text is truncated with [`truncated`], and escaped.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", truncated(text).escape_debug())
}

/// Truncates a text of a client to 40 characters, for an error message.
pub(crate) fn truncated(text: &str) -> String {
    text.chars().take(40).collect()
}
