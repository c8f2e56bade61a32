//! A field of a request, with all its values.

use super::json::Json;
use super::value::Value;

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    /// The first value.
    pub(super) value: Value,
    /// Further values in the query. A list consists of all of them; for other fields they must be equal to the first.
    pub(super) further: Vec<String>,
    /// The value in the body, if the query has one too. It must be the same.
    pub(super) in_body: Option<Json>,
}

impl Field {
    /// True if the values differ.
    pub(super) fn has_contradiction(&self) -> bool {
        let differs_from_body = |json| !self.value.agrees_with(json);
        self.further.iter().any(|text| self.value.as_str() != Some(text))
            || self.in_body.as_ref().is_some_and(differs_from_body)
    }

    /// The field as a list, whose value is that of all query parameters of this name.
    pub(super) fn joined(self) -> Self {
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
