//! A value as a client wrote it.

use super::json::Json;
use crate::http::problem::ProblemKind;

/// A value as it was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// In a query string, where everything is text.
    Query(String),
    /// In a body.
    Body(Json),
}

impl Value {
    /// The problem that a fault of this value is.
    pub(crate) fn kind(&self) -> ProblemKind {
        match self {
            Self::Query(_) => ProblemKind::InvalidParameter,
            Self::Body(_) => ProblemKind::InvalidRequest,
        }
    }

    /// What it is, for a sentence.
    pub(crate) fn described(&self) -> &'static str {
        match self {
            Self::Query(_) => "this text",
            Self::Body(json) => json.kind(),
        }
    }

    /// The JSON that it is, or that stands in a query; none if that is none.
    pub(crate) fn to_json(&self) -> Option<Json> {
        match self {
            Self::Query(text) => Json::parse(text).ok(),
            Self::Body(json) => Some(json.clone()),
        }
    }

    /// The text, if it is some.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Query(text) | Self::Body(Json::String(text)) => Some(text),
            Self::Body(_) => None,
        }
    }

    /// The whole number, if it is one.
    pub(crate) fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Query(text) => text.parse().ok(),
            Self::Body(Json::Integer(number)) => Some(*number),
            Self::Body(_) => None,
        }
    }

    /// The finite number, if it is one.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Query(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Self::Body(Json::Float(number)) => Some(*number),
            Self::Body(Json::Integer(number)) => Some(*number as f64),
            Self::Body(_) => None,
        }
    }
}
