//! The values of a request field, from a query or a body.

use super::json::Json;
use crate::row_error::ErrorKind;

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

    /// Describes the value in a sentence.
    pub fn described(&self) -> String {
        match self {
            Self::Query(text) if text.is_empty() => "an empty text".to_owned(),
            Self::Query(text) => quoted(text),
            Self::Body(json) => json.kind().to_owned(),
        }
    }

    /// The JSON value; a query text is parsed. `None` if the text is not valid JSON.
    pub fn to_json(&self) -> Option<Json> {
        match self {
            Self::Query(text) => Json::parse(text).ok(),
            Self::Body(json) => Some(json.clone()),
        }
    }

    /// Returns true if this value equals a value in the body. A value in a query does if its text stands for the value
    /// in the body.
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

    /// The number, if the value is a whole number.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Query(text) => text.parse().ok(),
            Self::Body(Json::Integer(number)) => Some(*number),
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
    /// Further values in the query. A list consists of all of them; for other fields they must be equal to the first.
    pub(crate) further: Vec<String>,
    /// The value in the body, if the query has a value too. Both values must be equal.
    pub(crate) in_body: Option<Json>,
}

impl Field {
    /// Returns true if the values differ.
    pub(crate) fn has_contradiction(&self) -> bool {
        let differs_from_body = |json| !self.value.agrees_with(json);
        self.further.iter().any(|text| self.value.as_str() != Some(text))
            || self.in_body.as_ref().is_some_and(differs_from_body)
    }

    /// Joins the values of all query parameters of this name into one list.
    pub(crate) fn joined(self) -> Self {
        match self.value {
            Value::Query(first) if !self.further.is_empty() => {
                let all = std::iter::once(&first).chain(&self.further).map(|text| text.trim());
                let value = Value::Query(all.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(","));
                Self { value, further: Vec::new(), ..self }
            }
            _ => self,
        }
    }
}

/// Returns true if the text of a query parameter stands for this value: a string as it is, any other value as JSON, and
/// a list also as entries separated by commas.
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

/// Quotes an unknown name or value in a sentence: escaped, and truncated with [`truncated`].
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", truncated(text).escape_debug())
}

/// Truncates an unknown name or value for an error message.
pub(crate) fn truncated(text: &str) -> String {
    text.chars().take(40).collect()
}
