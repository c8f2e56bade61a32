//! Reads and validates the fields of a request, from the query string and the body.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::body::{RequestBody, RequestFields};
use super::json::Json;
use super::query::pointer;
use super::value::{Value, quoted, truncated};
use crate::http::problem::{Problem, ProblemKind, RequestError, sentence};
use crate::search::Named;

/// The fields of a request, with flattened names such as `limits.time_ms`, and the errors found so far.
///
/// Reading a field never fails: the reader stores the error and continues. [`FieldReader::finish`] returns all errors
/// at once.
#[derive(Debug)]
pub(crate) struct FieldReader {
    fields: Vec<Field>,
    errors: Vec<(ProblemKind, RequestError)>,
    /// Problem kind of a missing field, which depends on whether the request has a body.
    missing: ProblemKind,
}

#[derive(Debug)]
struct Field {
    name: String,
    value: Value,
}

impl FieldReader {
    /// Collects the fields of a request. A field that is not in `known` is an error.
    pub(crate) fn new(input: RequestFields, known: &[&str]) -> Self {
        let missing = match input.body {
            Some(_) => ProblemKind::InvalidRequest,
            None => ProblemKind::InvalidParameter,
        };
        let mut fields = Self { fields: Vec::new(), errors: Vec::new(), missing };
        for (name, value) in input.query {
            fields.add(name, Value::Query(value), known);
        }
        match input.body {
            Some(RequestBody::Text(text)) => fields.add("board".to_owned(), Value::Body(Json::String(text)), known),
            Some(RequestBody::Json(Json::Object(members))) => fields.add_members("", members, known),
            // A board alone.
            Some(RequestBody::Json(board)) => fields.add("board".to_owned(), Value::Body(board), known),
            None => {}
        }
        fields
    }

    fn add_members(&mut self, prefix: &str, members: Vec<(String, Json)>, known: &[&str]) {
        let mut groups = Vec::new();
        for (member, value) in members {
            let has_dot = member.contains('.');
            let name = if prefix.is_empty() { member } else { format!("{prefix}{member}") };
            let leads_to = |known: &&str| known.strip_prefix(&*name).is_some_and(|inner| inner.starts_with('.'));
            let is_group = !known.contains(&&*name) && known.iter().any(leads_to);
            match value {
                // In a query a dot separates an object from its member; in a body it is part of a name.
                _ if has_dot => {
                    let at = pointer(prefix).trim_end_matches('/').to_owned();
                    let own = truncated(&name[prefix.len()..]).replace('~', "~0").replace('/', "~1");
                    self.report_unknown(&name, format!("{at}/{own}"), known, ProblemKind::InvalidRequest);
                }
                Json::Object(_) if groups.contains(&name) => {
                    let detail = format!("`{name}` is given more than once");
                    self.report(
                        ProblemKind::InvalidRequest,
                        RequestError::new(pointer(&name), "repeated-field", detail),
                    );
                }
                Json::Object(inner) if is_group => {
                    self.add_members(&format!("{name}."), inner, known);
                    groups.push(name);
                }
                other if is_group => {
                    let detail = format!("`{name}` must be an object, not {}", other.kind());
                    self.report(ProblemKind::InvalidRequest, RequestError::new(pointer(&name), "wrong-type", detail));
                }
                other => self.add(name, Value::Body(other), known),
            }
        }
    }

    fn add(&mut self, name: String, value: Value, known: &[&str]) {
        if !known.contains(&&*name) {
            self.report_unknown(&name, pointer(&truncated(&name)), known, value.kind());
        } else if self.fields.iter().any(|field| field.name == name) {
            let detail = format!("`{name}` is given more than once");
            self.report(value.kind(), RequestError::new(pointer(&name), "repeated-field", detail));
        } else {
            self.fields.push(Field { name, value });
        }
    }

    fn report_unknown(&mut self, name: &str, at: String, known: &[&str], kind: ProblemKind) {
        // Errors beyond the maximum are dropped, so they need no hint.
        let hint = if self.errors.len() < Problem::MAX_ERRORS { did_you_mean(name, known) } else { None };
        let what = if kind == ProblemKind::InvalidParameter { "parameter" } else { "field" };
        let detail = format!("there is no {what} {}{}", quoted(name), hint.unwrap_or_default());
        self.report(kind, RequestError::new(at, "unknown-field", detail));
    }

    /// Removes a field and returns its value.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.fields.iter().position(|field| field.name == name)?;
        Some(self.fields.swap_remove(at).value)
    }

    /// Adds an error.
    pub(crate) fn report(&mut self, kind: ProblemKind, error: RequestError) {
        self.errors.push((kind, error));
    }

    /// Adds an error in the value of a field.
    pub(crate) fn reject(&mut self, value: &Value, name: &str, code: &'static str, detail: impl Into<String>) {
        self.report(value.kind(), RequestError::new(pointer(name), code, detail));
    }

    /// Adds the error of a missing field.
    pub(crate) fn report_missing(&mut self, name: &str, detail: &str) {
        self.report(self.missing, RequestError::new(pointer(name), "missing-field", detail));
    }

    /// True if the request has a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// True if the value of a field is a name of `C`.
    pub(crate) fn is_choice<C: Named>(&self, name: &str) -> bool {
        let field = self.fields.iter().find(|field| field.name == name);
        field.and_then(|field| field.value.as_str()).is_some_and(|word| C::from_name(word).is_some())
    }

    /// Reads a name of `C`. The name `none` has the same meaning as an absent field.
    pub(crate) fn choice<C: Named>(&mut self, name: &str, none: Option<&str>) -> Option<C> {
        let value = self.take(name)?;
        let Some(word) = value.as_str() else {
            self.reject(&value, name, "wrong-type", format!("`{name}` must be a string, not {}", value.described()));
            return None;
        };
        if none == Some(word) {
            return None;
        }
        let found = C::from_name(word);
        if found.is_none() {
            let words: Vec<&str> = none.into_iter().chain(C::ALL.iter().map(|word| word.name())).collect();
            self.reject(&value, name, "unknown-value", unknown_choice(name, word, &words));
        }
        found
    }

    /// Reads a list of names of `C`: an array in a body, or separated by commas in a query.
    pub(crate) fn choices<C: Named>(&mut self, name: &str) -> Vec<C> {
        let mut found = Vec::new();
        for (at, entry) in self.list(name, "strings").unwrap_or_default().iter().enumerate() {
            let at = format!("{name}.{at}");
            match entry.as_str().map(|word| (word, C::from_name(word))) {
                Some((_, Some(word))) => found.push(word),
                Some((word, None)) => {
                    let words: Vec<&str> = C::ALL.iter().map(|word| word.name()).collect();
                    self.reject(entry, &at, "unknown-value", unknown_choice(name, word, &words));
                }
                None => {
                    let detail = format!("entries of `{name}` must be strings, not {}", entry.described());
                    self.reject(entry, &at, "wrong-type", detail);
                }
            }
        }
        found
    }

    /// Reads a list of at most `most` whole numbers within bounds, in the syntax of [`choices`](Self::choices).
    /// Returns `None` if any entry has an error.
    pub(crate) fn integers(&mut self, name: &str, bounds: RangeInclusive<i64>, most: usize) -> Option<Vec<i64>> {
        let entries = self.list(name, "whole numbers")?;
        if let Some(first) = entries.first().filter(|_| entries.len() > most) {
            let detail = format!("`{name}` has {} entries; the maximum is {most}", entries.len());
            self.reject(first, name, "out-of-range", detail);
            return None;
        }
        let read = |(at, entry): (usize, &Value)| {
            let (code, detail) = match entry.as_integer() {
                Some(number) if bounds.contains(&number) => return Some(number),
                Some(_) => {
                    let (low, high) = (bounds.start(), bounds.end());
                    ("out-of-range", format!("entries of `{name}` must be from {low} to {high}"))
                }
                None => ("wrong-type", format!("entries of `{name}` must be whole numbers, not {}", entry.described())),
            };
            self.reject(entry, &format!("{name}.{at}"), code, detail);
            None
        };
        let numbers: Vec<Option<i64>> = entries.iter().enumerate().map(read).collect();
        numbers.into_iter().collect()
    }

    /// Reads the entries of a list: an array in a body, or separated by commas in a query.
    fn list(&mut self, name: &str, of: &str) -> Option<Vec<Value>> {
        match self.take(name)? {
            Value::Query(list) if list.trim().is_empty() => Some(Vec::new()),
            Value::Query(list) => Some(list.split(',').map(|entry| Value::Query(entry.trim().to_owned())).collect()),
            Value::Body(Json::Array(entries)) => Some(entries.into_iter().map(Value::Body).collect()),
            value @ Value::Body(_) => {
                let detail = format!("`{name}` must be an array of {of}, not {}", value.described());
                self.reject(&value, name, "wrong-type", detail);
                None
            }
        }
    }

    /// Reads a whole number within bounds.
    pub(crate) fn integer(&mut self, name: &str, bounds: RangeInclusive<i64>) -> Option<u64> {
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

    /// Reads a number with at most two decimals within bounds, in hundredths.
    pub(crate) fn hundredths(&mut self, name: &str, bounds: RangeInclusive<u32>) -> Option<u32> {
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

    /// Reads a list of 1 to `most` objects with the fields `known`. `read` reads each object. In a query the list is
    /// written as JSON. The pointers of errors include the index in the list.
    pub(crate) fn objects<T>(
        &mut self,
        name: &str,
        most: usize,
        known: &[&str],
        mut read: impl FnMut(&mut Self) -> T,
    ) -> Option<Vec<T>> {
        let value = self.take(name)?;
        let Some(Json::Array(entries)) = value.to_json() else {
            let detail = format!("`{name}` must be an array of objects, not {}", value.described());
            self.reject(&value, name, "wrong-type", detail);
            return None;
        };
        if !(1..=most).contains(&entries.len()) {
            let detail = format!("`{name}` has {} entries; it must have 1 to {most}", entries.len());
            self.reject(&value, name, "out-of-range", detail);
            return None;
        }
        let mut objects = Vec::with_capacity(entries.len());
        for (at, entry) in entries.into_iter().enumerate() {
            let at = format!("{name}.{at}");
            match entry {
                Json::Object(members) => {
                    let mut inner = Self { fields: Vec::new(), errors: Vec::new(), missing: self.missing };
                    inner.add_members("", members, known);
                    objects.push(read(&mut inner));
                    self.add_errors_of(inner, &at, value.kind());
                }
                other => {
                    let detail = format!("entries of `{name}` must be objects, not {}", other.kind());
                    self.reject(&value, &at, "wrong-type", detail);
                }
            }
        }
        Some(objects)
    }

    /// Adds the errors of the object `name`, which is part of a value of this kind.
    fn add_errors_of(&mut self, inner: Self, name: &str, kind: ProblemKind) {
        let at = pointer(name);
        for (of, mut error) in inner.errors {
            error.pointer.insert_str(0, &at);
            // An error in JSON inside a query is an error of a parameter.
            let of = if of == ProblemKind::InvalidRequest { kind } else { of };
            self.report(of, error);
        }
    }

    /// Reads a text with `parse`, whose error is the code and detail.
    pub(crate) fn parsed<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, (&'static str, String)>,
    ) -> Option<T> {
        let value = self.take(name)?;
        let not_text = || ("wrong-type", format!("`{name}` must be a string, not {}", value.described()));
        let parsed = value.as_str().ok_or_else(not_text).and_then(parse);
        parsed.map_err(|(code, detail)| self.reject(&value, name, code, detail)).ok()
    }

    /// Returns what was read from the fields.
    ///
    /// # Errors
    /// One problem of the most severe kind, with all errors. Or `internal`, which is a bug, if there is neither an error
    /// nor a value.
    pub(crate) fn finish<T>(self, read: Option<T>) -> Result<T, Problem> {
        const MOST_SEVERE_FIRST: [ProblemKind; 5] = [
            ProblemKind::InvalidRequest,
            ProblemKind::InvalidParameter,
            ProblemKind::InvalidBoard,
            ProblemKind::GoalMismatch,
            ProblemKind::UnsupportedCombination,
        ];
        let has_errors = |kind: &ProblemKind| self.errors.iter().any(|(of, _)| of == kind);
        let Some(kind) = MOST_SEVERE_FIRST.into_iter().find(has_errors) else {
            return read.ok_or_else(|| {
                tracing::error!(target: "taquin::http::problem", "a request was rejected without an error");
                Problem::internal()
            });
        };
        let detail = match self.errors.as_slice() {
            [(_, only)] => sentence(&only.detail),
            errors => format!("{} errors; see \"errors\".", errors.len()),
        };
        Err(Problem::new(kind, detail).with_errors(self.errors.into_iter().map(|(_, error)| error).collect()))
    }
}

/// Concatenates lists of names. `N` must be their total length.
pub(crate) const fn concat<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let (mut all, mut end, mut at) = ([""; N], 0, 0);
    while at < lists.len() {
        let list = lists[at];
        all.split_at_mut(end).1.split_at_mut(list.len()).0.copy_from_slice(list);
        (end, at) = (end + list.len(), at + 1);
    }
    assert!(end == N, "N is not the total length");
    all
}

fn out_of_range(name: &str, low: impl Display, high: impl Display) -> String {
    format!("`{name}` must be from {low} to {high}")
}

fn unknown_choice(name: &str, word: &str, words: &[&str]) -> String {
    let hint = did_you_mean(word, words);
    let hint = hint.as_deref().unwrap_or(".");
    format!("`{name}` has no value {}{hint} The values are {}", quoted(word), words.join(", "))
}

/// Returns `: did you mean …?` with the most similar word, or `None` if none is similar.
pub(crate) fn did_you_mean(written: &str, words: &[&str]) -> Option<String> {
    // Longer texts are no typing errors, and the comparison takes quadratic time.
    let close = words.iter().filter(|_| written.len() <= 40).map(|word| (strsim::jaro_winkler(written, word), word));
    let best = close.filter(|(likeness, _)| *likeness > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, word)| format!(": did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Algorithm, TieBreaking};

    const KNOWN: [&str; 5] = ["board", "algorithm", "limits.time_ms", "limits.nodes", "tie_breaking"];

    fn fields(query: &[(&str, &str)], body: &str) -> FieldReader {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = (!body.is_empty()).then(|| RequestBody::Json(Json::parse(body).unwrap()));
        FieldReader::new(RequestFields { query, body }, &KNOWN)
    }

    fn errors_of(fields: FieldReader) -> (ProblemKind, Vec<(String, &'static str)>) {
        let problem = fields.finish(Some(())).unwrap_err();
        (problem.kind, problem.errors.into_iter().map(|error| (error.pointer, error.code)).collect())
    }

    #[test]
    fn query_and_body_give_the_same_fields() {
        let from_query = &mut fields(&[("limits.time_ms", "5"), ("algorithm", "astar")], "");
        let from_body = &mut fields(&[], r#"{"limits": {"time_ms": 5}, "algorithm": "astar"}"#);
        for fields in [from_query, from_body] {
            assert_eq!(fields.integer("limits.time_ms", 1..=10), Some(5));
            assert_eq!(fields.choice("algorithm", Some("auto")), Some(Algorithm::AStar));
            assert!(fields.errors.is_empty());
        }
    }

    #[test]
    fn every_fault_is_reported_at_once_under_its_pointer() {
        let body = r#"{"limits": {"time_ms": 99, "node": 1}, "algorithm": "a*", "tie_breaking": 3, "x.y": 1}"#;
        let mut fields = fields(&[], body);
        fields.integer("limits.time_ms", 1..=10);
        fields.choice::<Algorithm>("algorithm", Some("auto"));
        fields.choice::<TieBreaking>("tie_breaking", None);
        let expected = [
            ("/limits/node", "unknown-field"),
            ("/x.y", "unknown-field"),
            ("/limits/time_ms", "out-of-range"),
            ("/algorithm", "unknown-value"),
            ("/tie_breaking", "wrong-type"),
        ];
        let expected = expected.map(|(pointer, code)| (pointer.to_owned(), code)).to_vec();
        assert_eq!(errors_of(fields), (ProblemKind::InvalidRequest, expected));
    }

    #[test]
    fn faults_of_a_query_are_faults_of_parameters() {
        let fields = fields(&[("algorythm", "astar")], "");
        let problem = fields.finish(Some(())).unwrap_err();
        assert_eq!(problem.kind, ProblemKind::InvalidParameter);
        assert_eq!(problem.detail, "There is no parameter `algorythm`: did you mean `algorithm`?");
    }

    #[test]
    fn a_detail_quotes_a_wrong_text_of_a_query() {
        let mut fields = fields(&[("limits.nodes", "four"), ("limits.time_ms", ""), ("foo", "")], "");
        fields.integer("limits.nodes", 1..=10);
        fields.integer("limits.time_ms", 1..=10);
        let details: Vec<_> = fields.errors.into_iter().map(|(_, error)| error.detail).collect();
        let expected = [
            "there is no parameter `foo`",
            "`limits.nodes` must be a whole number, not `four`",
            "`limits.time_ms` must be a whole number, not an empty text",
        ];
        assert_eq!(details, expected);
    }

    #[test]
    fn a_repeated_field_is_rejected_everywhere() {
        let twice = fields(&[("algorithm", "astar")], r#"{"algorithm": "astar"}"#);
        assert_eq!(errors_of(twice).1, [("/algorithm".to_owned(), "repeated-field")]);
        let twice = fields(&[], r#"{"board": 1, "board": 2}"#);
        assert_eq!(errors_of(twice).1, [("/board".to_owned(), "repeated-field")]);
    }

    #[test]
    fn a_list_may_be_empty() {
        for (query, body) in [(vec![("tie_breaking", "")], ""), (vec![], r#"{"tie_breaking": []}"#)] {
            let mut fields = fields(&query, body);
            assert!(fields.choices::<TieBreaking>("tie_breaking").is_empty());
            assert!(fields.errors.is_empty());
        }
    }

    #[test]
    fn weights_have_two_decimals() {
        for (written, expected) in
            [("1.5", Some(150)), ("1.005", None), ("0.99", None), ("100", Some(10_000)), ("NaN", None)]
        {
            let mut fields = FieldReader::new(
                RequestFields { query: vec![("weight".to_owned(), written.to_owned())], body: None },
                &["weight"],
            );
            assert_eq!(fields.hundredths("weight", 100..=10_000), expected, "{written}");
        }
    }
}
