//! The value of a request field, from a query or a body.

use super::json::Json;
use crate::http::problem::ProblemKind;

/// The value of a field.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// A value in a query string, which is always text.
    Query(String),
    /// A value in a body.
    Body(Json),
}

impl Value {
    /// The problem kind of an error in this value.
    pub(crate) fn kind(&self) -> ProblemKind {
        match self {
            Self::Query(_) => ProblemKind::InvalidParameter,
            Self::Body(_) => ProblemKind::InvalidRequest,
        }
    }

    /// Describes the value in a sentence.
    pub(crate) fn described(&self) -> String {
        match self {
            Self::Query(text) if text.is_empty() => "an empty text".to_owned(),
            Self::Query(text) => quoted(text),
            Self::Body(json) => json.kind().to_owned(),
        }
    }

    /// The JSON value; a query text is parsed. `None` if the text is not valid JSON.
    pub(crate) fn to_json(&self) -> Option<Json> {
        match self {
            Self::Query(text) => Json::parse(text).ok(),
            Self::Body(json) => Some(json.clone()),
        }
    }

    /// True if a value in a body is the same value: for a value in a query, the one that the same text stands for.
    pub(crate) fn agrees_with(&self, body: &Json) -> bool {
        match self {
            Self::Query(text) => stands_for(text, body),
            Self::Body(json) => json == body,
        }
    }

    /// The text, if the value is a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Query(text) | Self::Body(Json::String(text)) => Some(text),
            Self::Body(_) => None,
        }
    }

    /// The number, if the value is a whole number.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Query(text) => text.parse().ok(),
            Self::Body(Json::Integer(number)) => Some(*number),
            Self::Body(_) => None,
        }
    }

    /// The number, if the value is a finite number.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Query(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Body(Json::Float(number)) => Some(*number),
            Self::Body(Json::Integer(number)) => Some(*number as f64),
            Self::Body(_) => None,
        }
    }
}

/// True if the text of a query parameter stands for this value: a string as it is, any other value as JSON, and a list
/// also as its entries, separated by commas.
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
