//! Reads numbers, booleans and texts of fields, and the limits of a search.

use std::borrow::Cow;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::FieldReader;
use super::json::Json;
use super::value::{MAX_LIMIT, Value};
use crate::label::RequestedLimits;

/// The fields of the limits of a search.
pub const LIMIT_FIELDS: [&str; 3] = ["limits.time_ms", "limits.expanded", "limits.nodes"];

/// Range of the whole numbers that every JSON parser reads exactly.
const EXACT: RangeInclusive<i64> = -MAX_LIMIT..=MAX_LIMIT;

impl FieldReader {
    /// Reads a whole number within `bounds`. `bounds` must not have negative numbers.
    pub fn integer(&mut self, name: &str, bounds: RangeInclusive<i64>) -> Option<u64> {
        let value = self.take(name)?;
        let Some(number) = value.as_integer() else {
            let detail = format!("`{name}` must be a whole number, not {}", value.described());
            self.reject(&value, name, "wrong-type", detail);
            return None;
        };
        if !bounds.contains(&number) {
            self.reject(&value, name, "out-of-range", out_of_range(name, bounds.start(), bounds.end()));
            return None;
        }
        u64::try_from(number).ok()
    }

    /// Reads a boolean. In a query, the boolean is the word `true` or `false`. An absent field is false.
    pub fn flag(&mut self, name: &str) -> bool {
        let Some(value) = self.take(name) else { return false };
        match &value {
            Value::Body(Json::Bool(flag)) => *flag,
            Value::Query(word) if word == "true" => true,
            Value::Query(word) if word == "false" => false,
            _ => {
                let detail = format!("`{name}` must be true or false, not {}", value.described());
                self.reject(&value, name, "wrong-type", detail);
                false
            }
        }
    }

    /// Reads a number with at most two decimals. Returns the number in hundredths. `bounds` are in hundredths too.
    pub fn hundredths(&mut self, name: &str, bounds: RangeInclusive<u32>) -> Option<u32> {
        let value = self.take(name)?;
        let Some(number) = value.as_number() else {
            self.reject(&value, name, "wrong-type", format!("`{name}` must be a number, not {}", value.described()));
            return None;
        };
        let hundredths = (number * 100.0).round();
        if !(f64::from(*bounds.start())..=f64::from(*bounds.end())).contains(&hundredths) {
            let (low, high) = (bounds.start() / 100, bounds.end() / 100);
            self.reject(&value, name, "out-of-range", out_of_range(name, low, high));
            return None;
        }
        if (hundredths / 100.0 - number).abs() > 1e-9 {
            self.reject(&value, name, "out-of-range", format!("`{name}` must have at most two decimals"));
            return None;
        }
        Some(hundredths as u32)
    }

    /// Reads a text, and converts the text with `parse`. An error of `parse` has the code and the detail of the error
    /// to report.
    pub fn parsed<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, (&'static str, String)>,
    ) -> Option<T> {
        let value = self.take(name)?;
        let not_text = || ("wrong-type", format!("`{name}` must be a string, not {}", value.described()));
        let text = value.as_str().ok_or_else(not_text).map(Cow::Borrowed);
        self.parse(name, &value, text, parse)
    }

    /// Reads a text like [`parsed`](Self::parsed), or a number. If the number is in a body, `parse` receives the
    /// decimal digits of the number.
    pub fn parsed_text_or_number<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, (&'static str, String)>,
    ) -> Option<T> {
        let value = self.take(name)?;
        let text = match &value {
            Value::Query(text) | Value::Body(Json::String(text)) => Ok(Cow::Borrowed(&**text)),
            Value::Body(Json::Integer(number)) if EXACT.contains(number) => Ok(number.to_string().into()),
            Value::Body(Json::Integer(_)) => {
                let (low, high) = (EXACT.start(), EXACT.end());
                Err((
                    "out-of-range",
                    format!("as a number, `{name}` must be from {low} to {high}; write it as a string"),
                ))
            }
            Value::Body(Json::Float(number)) => Ok(number.to_string().into()),
            Value::Body(_) => {
                Err(("wrong-type", format!("`{name}` must be a string or a number, not {}", value.described())))
            }
        };
        self.parse(name, &value, text, parse)
    }

    fn parse<T>(
        &mut self,
        name: &str,
        value: &Value,
        text: Result<Cow<'_, str>, (&'static str, String)>,
        parse: impl FnOnce(&str) -> Result<T, (&'static str, String)>,
    ) -> Option<T> {
        let parsed = text.and_then(|text| parse(&text));
        parsed.map_err(|(code, detail)| self.reject(value, name, code, detail)).ok()
    }
}

/// Reads the limits of a search from the fields [`LIMIT_FIELDS`].
pub fn limits(fields: &mut FieldReader) -> RequestedLimits {
    RequestedLimits {
        time: fields.integer("limits.time_ms", 1..=MAX_LIMIT).map(Duration::from_millis),
        expanded: fields.integer("limits.expanded", 1..=MAX_LIMIT),
        nodes: fields.integer("limits.nodes", 1..=MAX_LIMIT),
    }
}

fn out_of_range(name: &str, low: impl Display, high: impl Display) -> String {
    format!("`{name}` must be from {low} to {high}")
}
