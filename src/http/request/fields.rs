//! Reads and validates the fields of a request, from the query string and the body.

use std::fmt::Display;
use std::ops::RangeInclusive;

use super::body::{RequestBody, RequestFields};
use super::json::Json;
use super::query::pointer;
use super::value::Value;
use crate::http::problem::{Fault, Problem, ProblemKind, sentence};
use crate::search::Named;

/// The fields of a request, with flattened names such as `limits.time_ms`, and the errors found so far.
///
/// Reading a field never fails: the reader notes the error and continues. [`FieldReader::finish`] reports all errors at
/// once.
#[derive(Debug)]
pub(crate) struct FieldReader {
    fields: Vec<Field>,
    faults: Vec<(ProblemKind, Fault)>,
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
    pub(crate) fn gather(input: RequestFields, known: &[&str]) -> Self {
        let missing = match input.body {
            Some(_) => ProblemKind::InvalidRequest,
            None => ProblemKind::InvalidParameter,
        };
        let mut fields = Self { fields: Vec::new(), faults: Vec::new(), missing };
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
                    let own = shortened(&name[prefix.len()..]).replace('~', "~0").replace('/', "~1");
                    self.refuse_unknown(&name, format!("{at}/{own}"), known, ProblemKind::InvalidRequest);
                }
                Json::Object(_) if groups.contains(&name) => {
                    let detail = format!("`{name}` is given more than once");
                    self.note(ProblemKind::InvalidRequest, Fault::new(pointer(&name), "repeated-field", detail));
                }
                Json::Object(inner) if is_group => {
                    self.add_members(&format!("{name}."), inner, known);
                    groups.push(name);
                }
                other if is_group => {
                    let detail = format!("`{name}` must be an object, not {}", other.kind());
                    self.note(ProblemKind::InvalidRequest, Fault::new(pointer(&name), "wrong-type", detail));
                }
                other => self.add(name, Value::Body(other), known),
            }
        }
    }

    fn add(&mut self, name: String, value: Value, known: &[&str]) {
        if !known.contains(&&*name) {
            self.refuse_unknown(&name, pointer(&shortened(&name)), known, value.kind());
        } else if self.fields.iter().any(|field| field.name == name) {
            let detail = format!("`{name}` is given more than once");
            self.note(value.kind(), Fault::new(pointer(&name), "repeated-field", detail));
        } else {
            self.fields.push(Field { name, value });
        }
    }

    fn refuse_unknown(&mut self, name: &str, at: String, known: &[&str], kind: ProblemKind) {
        // Errors beyond the maximum are dropped, so they need no hint.
        let hint = if self.faults.len() < Problem::MAX_FAULTS { did_you_mean(name, known) } else { String::new() };
        let detail = format!("there is no field `{}`{hint}", shortened(name).escape_debug());
        self.note(kind, Fault::new(at, "unknown-field", detail));
    }

    /// Removes a field and returns its value.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.fields.iter().position(|field| field.name == name)?;
        Some(self.fields.swap_remove(at).value)
    }

    /// Notes an error.
    pub(crate) fn note(&mut self, kind: ProblemKind, fault: Fault) {
        self.faults.push((kind, fault));
    }

    /// Notes an error in the value of a field.
    pub(crate) fn refuse(&mut self, value: &Value, name: &str, code: &'static str, detail: impl Into<String>) {
        self.note(value.kind(), Fault::new(pointer(name), code, detail));
    }

    /// Notes that a required field is missing.
    pub(crate) fn miss(&mut self, name: &str, detail: &str) {
        self.note(self.missing, Fault::new(pointer(name), "missing-field", detail));
    }

    /// True if the request has a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// True if the value of a field is a word of a closed set.
    pub(crate) fn is_word<W: Named>(&self, name: &str) -> bool {
        let field = self.fields.iter().find(|field| field.name == name);
        field.and_then(|field| field.value.as_str()).is_some_and(|word| W::from_name(word).is_some())
    }

    /// Reads a word of a closed set. `none` is a further word that stands for an absent field.
    pub(crate) fn word<W: Named>(&mut self, name: &str, none: Option<&str>) -> Option<W> {
        let value = self.take(name)?;
        let Some(word) = value.as_str() else {
            self.refuse(&value, name, "wrong-type", format!("`{name}` must be a string, not {}", value.described()));
            return None;
        };
        if none == Some(word) {
            return None;
        }
        let found = W::from_name(word);
        if found.is_none() {
            let words: Vec<&str> = none.into_iter().chain(W::ALL.iter().map(|word| word.name())).collect();
            self.refuse(&value, name, "unknown-value", unknown_word(name, word, &words));
        }
        found
    }

    /// Reads a list of words of a closed set: an array in a body, or separated by commas in a query.
    pub(crate) fn words<W: Named>(&mut self, name: &str) -> Vec<W> {
        let mut found = Vec::new();
        for (at, entry) in self.list(name, "strings").unwrap_or_default().iter().enumerate() {
            let at = format!("{name}.{at}");
            match entry.as_str().map(|word| (word, W::from_name(word))) {
                Some((_, Some(word))) => found.push(word),
                Some((word, None)) => {
                    let words: Vec<&str> = W::ALL.iter().map(|word| word.name()).collect();
                    self.refuse(entry, &at, "unknown-value", unknown_word(name, word, &words));
                }
                None => {
                    let detail = format!("entries of `{name}` must be strings, not {}", entry.described());
                    self.refuse(entry, &at, "wrong-type", detail);
                }
            }
        }
        found
    }

    /// Reads a list of at most `most` whole numbers within bounds, in the syntax of [`words`](Self::words). Returns
    /// `None` if any entry has an error.
    pub(crate) fn integers(&mut self, name: &str, bounds: RangeInclusive<i64>, most: usize) -> Option<Vec<i64>> {
        let entries = self.list(name, "whole numbers")?;
        if let Some(first) = entries.first().filter(|_| entries.len() > most) {
            let detail = format!("`{name}` has {} entries; the maximum is {most}", entries.len());
            self.refuse(first, name, "out-of-range", detail);
            return None;
        }
        let read = |(at, entry): (usize, &Value)| {
            let fault = match entry.as_integer() {
                Some(number) if bounds.contains(&number) => return Some(number),
                Some(_) => {
                    let (low, high) = (bounds.start(), bounds.end());
                    ("out-of-range", format!("entries of `{name}` must be from {low} to {high}"))
                }
                None => ("wrong-type", format!("entries of `{name}` must be whole numbers, not {}", entry.described())),
            };
            self.refuse(entry, &format!("{name}.{at}"), fault.0, fault.1);
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
                self.refuse(&value, name, "wrong-type", detail);
                None
            }
        }
    }

    /// Reads a whole number within bounds.
    pub(crate) fn integer(&mut self, name: &str, bounds: RangeInclusive<i64>) -> Option<u64> {
        let value = self.take(name)?;
        let Some(number) = value.as_integer() else {
            self.refuse(
                &value,
                name,
                "wrong-type",
                format!("`{name}` must be a whole number, not {}", value.described()),
            );
            return None;
        };
        if !bounds.contains(&number) {
            self.refuse(&value, name, "out-of-range", out_of(name, bounds.start(), bounds.end()));
            return None;
        }
        u64::try_from(number).ok()
    }

    /// Reads a number with at most two decimals within bounds, in hundredths.
    pub(crate) fn hundredths(&mut self, name: &str, bounds: RangeInclusive<u32>) -> Option<u32> {
        let value = self.take(name)?;
        let Some(number) = value.as_number() else {
            self.refuse(&value, name, "wrong-type", format!("`{name}` must be a number, not {}", value.described()));
            return None;
        };
        let hundredths = (number * 100.0).round();
        if !(f64::from(*bounds.start())..=f64::from(*bounds.end())).contains(&hundredths) {
            let (low, high) = (bounds.start() / 100, bounds.end() / 100);
            self.refuse(&value, name, "out-of-range", out_of(name, low, high));
            return None;
        }
        if (hundredths / 100.0 - number).abs() > 1e-9 {
            self.refuse(&value, name, "out-of-range", format!("`{name}` must have at most two decimals"));
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
            self.refuse(
                &value,
                name,
                "wrong-type",
                format!("`{name}` must be an array of objects, not {}", value.described()),
            );
            return None;
        };
        if !(1..=most).contains(&entries.len()) {
            let detail = format!("`{name}` has {} entries; it must have 1 to {most}", entries.len());
            self.refuse(&value, name, "out-of-range", detail);
            return None;
        }
        let mut objects = Vec::with_capacity(entries.len());
        for (at, entry) in entries.into_iter().enumerate() {
            let at = format!("{name}.{at}");
            match entry {
                Json::Object(members) => {
                    let mut inner = Self { fields: Vec::new(), faults: Vec::new(), missing: self.missing };
                    inner.add_members("", members, known);
                    objects.push(read(&mut inner));
                    self.absorb(inner, &at, value.kind());
                }
                other => {
                    let detail = format!("entries of `{name}` must be objects, not {}", other.kind());
                    self.refuse(&value, &at, "wrong-type", detail);
                }
            }
        }
        Some(objects)
    }

    /// Adds the errors of the object `name`, which is part of a value of this kind.
    fn absorb(&mut self, inner: Self, name: &str, kind: ProblemKind) {
        let at = pointer(name);
        for (of, mut fault) in inner.faults {
            fault.pointer.insert_str(0, &at);
            // An error in JSON inside a query is an error of a parameter.
            let of = if of == ProblemKind::InvalidRequest { kind } else { of };
            self.note(of, fault);
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
        parsed.map_err(|(code, detail)| self.refuse(&value, name, code, detail)).ok()
    }

    /// Finishes reading.
    ///
    /// # Errors
    /// One problem of the gravest kind that was noted, with all errors.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        const GRAVEST_FIRST: [ProblemKind; 5] = [
            ProblemKind::InvalidRequest,
            ProblemKind::InvalidParameter,
            ProblemKind::InvalidBoard,
            ProblemKind::GoalMismatch,
            ProblemKind::UnsupportedCombination,
        ];
        let noted = |kind: &ProblemKind| self.faults.iter().any(|(of, _)| of == kind);
        let Some(kind) = GRAVEST_FIRST.into_iter().find(noted) else { return Ok(()) };
        let detail = match self.faults.as_slice() {
            [(_, only)] => sentence(&only.detail),
            faults => format!("{} errors; see \"errors\".", faults.len()),
        };
        Err(Problem::new(kind, detail).with_errors(self.faults.into_iter().map(|(_, fault)| fault).collect()))
    }
}

/// Concatenates lists of names. `N` must be the total length.
pub(crate) const fn joined<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let (mut all, mut end, mut at) = ([""; N], 0, 0);
    while at < lists.len() {
        let list = lists[at];
        all.split_at_mut(end).1.split_at_mut(list.len()).0.copy_from_slice(list);
        (end, at) = (end + list.len(), at + 1);
    }
    assert!(end == N, "the lists have so many names");
    all
}

/// Truncates an unknown name for an error message.
fn shortened(name: &str) -> String {
    name.chars().take(40).collect()
}

fn out_of(name: &str, low: impl Display, high: impl Display) -> String {
    format!("`{name}` must be from {low} to {high}")
}

fn unknown_word(name: &str, word: &str, words: &[&str]) -> String {
    let shown = shortened(word);
    let hint = did_you_mean(word, words);
    format!("`{name}` has no value `{}`{hint} The values are {}", shown.escape_debug(), words.join(", "))
}

/// Returns `: did you mean …?` with the most similar word, or a period if none is similar.
pub(crate) fn did_you_mean(written: &str, words: &[&str]) -> String {
    // Longer texts are no typing errors, and the comparison takes quadratic time.
    let close = words.iter().filter(|_| written.len() <= 40).map(|word| (strsim::jaro_winkler(written, word), word));
    let best = close.filter(|(likeness, _)| *likeness > 0.8).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or_else(|| ".".to_owned(), |(_, word)| format!(": did you mean `{word}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Algorithm, TieBreaking};

    const KNOWN: [&str; 5] = ["board", "algorithm", "limits.time_ms", "limits.nodes", "tie_breaking"];

    fn fields(query: &[(&str, &str)], body: &str) -> FieldReader {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = (!body.is_empty()).then(|| RequestBody::Json(Json::parse(body).unwrap()));
        FieldReader::gather(RequestFields { query, body }, &KNOWN)
    }

    fn faults(fields: FieldReader) -> (ProblemKind, Vec<(String, &'static str)>) {
        let problem = fields.finish().unwrap_err();
        (problem.kind, problem.errors.into_iter().map(|fault| (fault.pointer, fault.code)).collect())
    }

    #[test]
    fn query_and_body_give_the_same_fields() {
        let from_query = &mut fields(&[("limits.time_ms", "5"), ("algorithm", "astar")], "");
        let from_body = &mut fields(&[], r#"{"limits": {"time_ms": 5}, "algorithm": "astar"}"#);
        for fields in [from_query, from_body] {
            assert_eq!(fields.integer("limits.time_ms", 1..=10), Some(5));
            assert_eq!(fields.word("algorithm", Some("auto")), Some(Algorithm::AStar));
            assert!(fields.faults.is_empty());
        }
    }

    #[test]
    fn every_fault_is_reported_at_once_under_its_pointer() {
        let body = r#"{"limits": {"time_ms": 99, "node": 1}, "algorithm": "a*", "tie_breaking": 3, "x.y": 1}"#;
        let mut fields = fields(&[], body);
        fields.integer("limits.time_ms", 1..=10);
        fields.word::<Algorithm>("algorithm", Some("auto"));
        fields.word::<TieBreaking>("tie_breaking", None);
        let expected = [
            ("/limits/node", "unknown-field"),
            ("/x.y", "unknown-field"),
            ("/limits/time_ms", "out-of-range"),
            ("/algorithm", "unknown-value"),
            ("/tie_breaking", "wrong-type"),
        ];
        let expected = expected.map(|(pointer, code)| (pointer.to_owned(), code)).to_vec();
        assert_eq!(faults(fields), (ProblemKind::InvalidRequest, expected));
    }

    #[test]
    fn faults_of_a_query_are_faults_of_parameters() {
        let fields = fields(&[("algorythm", "astar")], "");
        let problem = fields.finish().unwrap_err();
        assert_eq!(problem.kind, ProblemKind::InvalidParameter);
        assert!(problem.detail.contains("did you mean `algorithm`?"), "{}", problem.detail);
    }

    #[test]
    fn a_field_given_twice_is_refused_wherever_it_stands() {
        let twice = fields(&[("algorithm", "astar")], r#"{"algorithm": "astar"}"#);
        assert_eq!(faults(twice).1, [("/algorithm".to_owned(), "repeated-field")]);
        let twice = fields(&[], r#"{"board": 1, "board": 2}"#);
        assert_eq!(faults(twice).1, [("/board".to_owned(), "repeated-field")]);
    }

    #[test]
    fn a_list_may_be_empty() {
        for (query, body) in [(vec![("tie_breaking", "")], ""), (vec![], r#"{"tie_breaking": []}"#)] {
            let mut fields = fields(&query, body);
            assert!(fields.words::<TieBreaking>("tie_breaking").is_empty());
            assert!(fields.faults.is_empty());
        }
    }

    #[test]
    fn weights_have_two_decimals() {
        for (written, expected) in
            [("1.5", Some(150)), ("1.005", None), ("0.99", None), ("100", Some(10_000)), ("NaN", None)]
        {
            let mut fields = FieldReader::gather(
                RequestFields { query: vec![("weight".to_owned(), written.to_owned())], body: None },
                &["weight"],
            );
            assert_eq!(fields.hundredths("weight", 100..=10_000), expected, "{written}");
        }
    }
}
