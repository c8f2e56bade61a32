//! Reads and validates the fields of a request, from the query string and the body.

mod aliases;
mod board;
mod board_list;
mod draw;
mod errors;
mod id;
mod integer_lists;
mod json;
mod line_ends;
mod moves;
mod plain_row;
mod reachable;
mod scalars;
mod search;
mod suggestion;
mod value;

use std::ops::RangeInclusive;

use taquin_solver::{Board, Named};

pub use self::board::{BOARD_FIELDS, NamedGoal, board_and_goal, goal, goal_alone, goal_and_from, is_board_text, sides};
pub use self::board_list::{ListedBoard, ListedBoards, boards_and_goal};
pub use self::draw::{DRAW_FIELDS, distinct_seed_of, draw, draw_error, draw_lengths, seed_of};
use self::errors::Errors;
pub(crate) use self::id::{MAX_ID, id_json};
pub use self::json::Json;
pub use self::line_ends::has_joined_rows;
pub use self::moves::{ATTEMPT_FIELDS, MAX_MOVES, attempt, moves};
pub(crate) use self::plain_row::plain_row;
pub use self::reachable::{puzzle, reachability_detail, reachable_goals};
pub use self::scalars::{LIMIT_FIELDS, limits};
pub use self::search::{METHOD_FIELDS, Require, reject_combination, search_options, search_plan, tile_patterns};
pub(crate) use self::suggestion::{aliased_field, is_misspelt};
pub use self::suggestion::{did_you_mean, most_like};
use self::suggestion::{similar_field, unknown_choice};
use self::value::{Field, quoted, truncated};
pub use self::value::{MAX_LIMIT, Value};
use crate::row_error::{ErrorKind, FieldError, RowError};

/// A document whose fields are not read yet.
#[derive(Clone, PartialEq, Debug)]
pub enum WrittenFields {
    /// JSON: an object of fields, or a bare board as array or string.
    Json(Json),
    /// JSON: a valid board as rows, and no other field.
    Board(Board),
    /// A board as text.
    Text(String),
}

impl WrittenFields {
    /// Parses one JSON document.
    ///
    /// # Errors
    /// Errors of [`Json::parse`].
    pub fn parse(text: &str) -> Result<Self, RowError> {
        match plain_row(text.as_bytes()) {
            Some((None, board)) => Ok(Self::Board(board)),
            _ => Json::parse(text).map(Self::Json),
        }
    }
}

/// Returns the pointer (RFC 6901) of a field, such as `/limits/time_ms` for `limits.time_ms`.
pub fn pointer(name: &str) -> String {
    let escaped = name.replace('~', "~0").replace('/', "~1").replace('.', "/");
    format!("/{escaped}")
}

/// The fields of a request, with flattened names such as `limits.time_ms`, and the errors found so far.
///
/// A method that reads a field does not fail. If the field has an error, the method stores the error and returns `None`
/// or a default, as for an absent field. [`FieldReader::finish`] returns all errors at once.
#[derive(Debug)]
pub struct FieldReader {
    fields: Vec<Field>,
    /// Names of the objects in the body, whose members are fields.
    objects: Vec<String>,
    errors: Errors,
    /// Descriptions of how boards were read. A board in a documented notation has no description.
    readings: Vec<String>,
    /// Kind of the error of a missing field, which depends on whether the request has a body.
    missing: ErrorKind,
}

impl FieldReader {
    /// Collects the fields of a request. A field that is not in `known` is an error. A known field that is null counts
    /// as absent. A field with several values is an error if the values differ. Only a list may have several query
    /// parameters with different values.
    pub fn new(query: Vec<(String, String)>, body: Option<WrittenFields>, known: &[&str]) -> Self {
        let missing = match body {
            Some(_) => ErrorKind::InvalidRequest,
            None => ErrorKind::InvalidParameter,
        };
        let mut fields = Self::empty(missing);
        for (name, value) in query {
            fields.add(name, Value::Query(value), known);
        }
        match body {
            Some(WrittenFields::Text(text)) => fields.add("board".to_owned(), Value::Body(Json::String(text)), known),
            Some(WrittenFields::Json(Json::Object(members))) => fields.add_members("", members, known),
            Some(WrittenFields::Board(board)) => fields.add("board".to_owned(), Value::Body(Json::from(&board)), known),
            // The body is a board alone.
            Some(WrittenFields::Json(board)) => fields.add("board".to_owned(), Value::Body(board), known),
            None => {}
        }
        fields
    }

    fn empty(missing: ErrorKind) -> Self {
        Self { fields: Vec::new(), objects: Vec::new(), errors: Errors::default(), readings: Vec::new(), missing }
    }

    fn add_members(&mut self, prefix: &str, members: Vec<(String, Json)>, known: &[&str]) {
        let mut groups: Vec<(String, Vec<(String, Json)>)> = Vec::new();
        for (member, value) in members {
            let has_dot = member.contains('.');
            let name = if prefix.is_empty() { member } else { format!("{prefix}{member}") };
            let leads_to = |known: &&str| known.strip_prefix(&*name).is_some_and(|inner| inner.starts_with('.'));
            // A name that is known itself may also be the name of an object.
            let is_field = known.contains(&&*name) && !matches!(value, Json::Object(_));
            let is_group = !is_field && known.iter().any(leads_to);
            match value {
                // In a query, a dot separates an object from its member. In a body, a dot is part of a name.
                _ if has_dot => {
                    let at = || {
                        let own = truncated(&name[prefix.len()..]).replace('~', "~0").replace('/', "~1");
                        format!("{}/{own}", pointer(prefix).trim_end_matches('/'))
                    };
                    self.report_unknown(&name, at, known, ErrorKind::InvalidRequest);
                }
                Json::Null if is_group => {}
                Json::Object(inner) if is_group => match groups.iter().find(|(group, _)| *group == name) {
                    Some((_, first)) if *first == inner => {}
                    Some(_) => self.report_repeated(&name, ErrorKind::InvalidRequest),
                    None => {
                        self.add_members(&format!("{name}."), inner.clone(), known);
                        self.objects.push(name.clone());
                        groups.push((name, inner));
                    }
                },
                other if is_group => {
                    let detail = format!("`{name}` must be an object, not {}", other.kind());
                    self.report(ErrorKind::InvalidRequest, FieldError::new(pointer(&name), "wrong-type", detail));
                }
                other => self.add(name, Value::Body(other), known),
            }
        }
    }

    fn add(&mut self, name: String, value: Value, known: &[&str]) {
        if !known.contains(&&*name) {
            return self.report_unknown(&name, || pointer(&truncated(&name)), known, value.kind());
        }
        if value == Value::Body(Json::Null) {
            return;
        }
        match (self.fields.iter_mut().find(|field| field.name == name), value) {
            (None, value) => self.fields.push(Field { name, value, further: Vec::new(), in_body: None }),
            // The query is read before the body.
            (Some(field), Value::Query(text)) => field.further.push(text),
            (Some(field), Value::Body(json)) => match &field.value {
                Value::Query(_) if field.in_body.is_none() => field.in_body = Some(json),
                Value::Query(_) if field.in_body.as_ref() == Some(&json) => {}
                value if value.agrees_with(&json) => {}
                _ => self.report_repeated(&name, ErrorKind::InvalidRequest),
            },
        }
    }

    fn report_repeated(&mut self, name: &str, kind: ErrorKind) {
        let detail = format!("`{name}` is given more than once, with different values");
        self.report(kind, FieldError::new(pointer(name), "repeated-field", detail));
    }

    fn report_unknown(&mut self, name: &str, at: impl FnOnce() -> String, known: &[&str], kind: ErrorKind) {
        self.errors.add(kind, || {
            let hint = match name.split_once('.') {
                // In a body, a known name with a dot is a member of an object.
                Some((group, member)) if known.contains(&name) => Some(format!(": write `{member}` in `{group}`")),
                _ => similar_field(name, known),
            };
            let what = if kind == ErrorKind::InvalidParameter { "parameter" } else { "field" };
            let detail = format!("there is no {what} {}{}", quoted(name), hint.unwrap_or_default());
            FieldError::new(at(), "unknown-field", detail)
        });
    }

    /// Removes a field, and returns the value; `None` if the field is absent. Reports a field whose values differ.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        let field = self.remove(name)?;
        self.check(&field);
        Some(field.value)
    }

    /// Reports a field whose values differ.
    fn check(&mut self, field: &Field) {
        if field.has_contradiction() {
            let kind = if field.in_body.is_some() { ErrorKind::InvalidRequest } else { field.value.kind() };
            self.report_repeated(&field.name, kind);
        }
    }

    fn remove(&mut self, name: &str) -> Option<Field> {
        let at = self.fields.iter().position(|field| field.name == name)?;
        Some(self.fields.swap_remove(at))
    }

    /// Adds an error.
    pub fn report(&mut self, kind: ErrorKind, error: FieldError) {
        self.errors.add(kind, || error);
    }

    /// Adds an error in the value of the field `name`.
    pub fn reject(&mut self, value: &Value, name: &str, code: &'static str, detail: impl Into<String>) {
        self.report(value.kind(), FieldError::new(pointer(name), code, detail));
    }

    /// Adds the error of a missing field.
    pub fn report_missing(&mut self, name: &str, detail: &str) {
        self.report(self.missing, FieldError::new(pointer(name), "missing-field", detail));
    }

    /// Returns true if the request has a field of this name that is not read yet.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// Returns true if the body has this object, even an empty object.
    pub fn has_object(&self, name: &str) -> bool {
        self.objects.iter().any(|object| object == name)
    }

    /// Returns true if the value of a field is the name of a value of `C`.
    pub fn is_choice<C: Named>(&self, name: &str) -> bool {
        let field = self.fields.iter().find(|field| field.name == name);
        field.and_then(|field| field.value.as_str()).is_some_and(|word| C::from_name(word).is_some())
    }

    /// Reads the name of a value of `C`. The parameter `none` may give a word that means the same as an absent field.
    pub fn choice<C: Named>(&mut self, name: &str, none: Option<&str>) -> Option<C> {
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

    /// Reads a list of names of values of `C`. A body has an array, and a query has a text separated by commas. An
    /// invalid entry is reported and left out.
    pub fn choices<C: Named>(&mut self, name: &str) -> Vec<C> {
        let mut found = Vec::new();
        for (at, entry) in self.list(name, "strings").unwrap_or_default().iter().enumerate() {
            if let Some(word) = entry.as_str().and_then(C::from_name) {
                found.push(word);
                continue;
            }
            self.errors.add(entry.kind(), || {
                let (code, detail) = match entry.as_str() {
                    Some(word) => {
                        let words: Vec<&str> = C::ALL.iter().map(|word| word.name()).collect();
                        ("unknown-value", unknown_choice(name, word, &words))
                    }
                    None => ("wrong-type", format!("entries of `{name}` must be strings, not {}", entry.described())),
                };
                FieldError::new(pointer(&format!("{name}.{at}")), code, detail)
            });
        }
        found
    }

    /// Reads a list of at most `most` whole numbers within bounds, in the syntax of [`choices`](Self::choices). Returns
    /// `None` if the field is absent, or if any entry has an error.
    pub fn integers(&mut self, name: &str, bounds: RangeInclusive<i64>, most: usize) -> Option<Vec<i64>> {
        let entries = self.list(name, "whole numbers")?;
        if let Some(first) = entries.first().filter(|_| entries.len() > most) {
            let detail = format!("`{name}` has {} entries; the maximum is {most}", entries.len());
            self.reject(first, name, "out-of-range", detail);
            return None;
        }
        let read = |(at, entry): (usize, &Value)| {
            let number = entry.as_integer();
            if number.is_some_and(|number| bounds.contains(&number)) {
                return number;
            }
            self.errors.add(entry.kind(), || {
                let (code, detail) = match number {
                    Some(_) => {
                        let (low, high) = (bounds.start(), bounds.end());
                        ("out-of-range", format!("entries of `{name}` must be from {low} to {high}"))
                    }
                    None => {
                        ("wrong-type", format!("entries of `{name}` must be whole numbers, not {}", entry.described()))
                    }
                };
                FieldError::new(pointer(&format!("{name}.{at}")), code, detail)
            });
            None
        };
        let numbers: Vec<Option<i64>> = entries.iter().enumerate().map(read).collect();
        numbers.into_iter().collect()
    }

    /// Reads the entries of a list. A body has an array. A query has texts separated by commas, in one or more
    /// parameters. `of` names the type of the entries for an error message, such as `strings`.
    fn list(&mut self, name: &str, of: &str) -> Option<Vec<Value>> {
        let field = self.remove(name)?.joined(",");
        self.check(&field);
        match field.value {
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

    /// Reads a list of 1 to `most` objects with the fields `known`, and returns the results of `read`, which reads each
    /// object. In a query, the list is written as JSON. The pointers of errors include the index in the list. Returns
    /// `None` if the field is absent, is not a list, or has too few or too many entries.
    pub fn objects<T>(
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
                    let mut inner = Self::empty(self.missing);
                    inner.add_members("", members, known);
                    objects.push(read(&mut inner));
                    self.errors.add_all_within(&pointer(&at), value.kind(), inner.errors);
                }
                other => {
                    let detail = format!("entries of `{name}` must be objects, not {}", other.kind());
                    self.reject(&value, &at, "wrong-type", detail);
                }
            }
        }
        Some(objects)
    }

    /// Adds the way in which the board of a field was read.
    fn add_reading(&mut self, name: &str, read_as: Option<String>) {
        let named = |way| if name == "board" { way } else { format!("{name}: {way}") };
        self.readings.extend(read_as.map(named));
    }

    /// Returns the ways in which boards were read; `None` if all boards are in a documented notation.
    pub fn read_as(&self) -> Option<String> {
        (!self.readings.is_empty()).then(|| self.readings.join("; "))
    }

    /// Returns the value `read`, if no field has an error.
    ///
    /// # Errors
    /// One problem of the most severe kind, with at most [`RowError::MAX_ERRORS`] errors. The problem is `internal` if
    /// there is no error and `read` is `None`, which is a bug.
    pub fn finish<T>(mut self, read: Option<T>) -> Result<T, RowError> {
        for field in std::mem::take(&mut self.fields) {
            self.check(&field);
        }
        match (self.errors.into_problem(), read) {
            (Some(problem), _) => Err(problem),
            (None, Some(read)) => Ok(read),
            (None, None) => Err(RowError::internal()),
        }
    }
}

/// Concatenates lists of names. `N` must be the number of names in all lists.
pub const fn concat<const N: usize>(lists: &[&[&'static str]]) -> [&'static str; N] {
    let (mut all, mut end, mut at) = ([""; N], 0, 0);
    while at < lists.len() {
        let list = lists[at];
        all.split_at_mut(end).1.split_at_mut(list.len()).0.copy_from_slice(list);
        (end, at) = (end + list.len(), at + 1);
    }
    assert!(end == N, "N is not the total length");
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_solver::{Algorithm, TieBreaking};

    const KNOWN: [&str; 5] = ["board", "algorithm", "limits.time_ms", "limits.nodes", "tie_breaking"];

    fn fields(query: &[(&str, &str)], body: &str) -> FieldReader {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = (!body.is_empty()).then(|| WrittenFields::Json(Json::parse(body).unwrap()));
        FieldReader::new(query, body, &KNOWN)
    }

    fn errors_of(fields: FieldReader) -> (ErrorKind, Vec<(String, &'static str)>) {
        let problem = fields.finish(Some(())).unwrap_err();
        (problem.kind, problem.errors.into_iter().map(|error| (error.pointer, error.code)).collect())
    }

    #[test]
    fn query_and_body_give_the_same_fields() {
        let from_query = fields(&[("limits.time_ms", "5"), ("algorithm", "astar")], "");
        let from_body = fields(&[], r#"{"limits": {"time_ms": 5}, "algorithm": "astar"}"#);
        for mut fields in [from_query, from_body] {
            assert_eq!(fields.integer("limits.time_ms", 1..=10), Some(5));
            assert_eq!(fields.choice("algorithm", Some("auto")), Some(Algorithm::AStar));
            assert!(fields.finish(Some(())).is_ok());
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
        assert_eq!(errors_of(fields), (ErrorKind::InvalidRequest, expected));
    }

    #[test]
    fn faults_of_a_query_are_faults_of_parameters() {
        let fields = fields(&[("algorythm", "astar")], "");
        let problem = fields.finish(Some(())).unwrap_err();
        assert_eq!(problem.kind, ErrorKind::InvalidParameter);
        assert_eq!(problem.detail, "There is no parameter `algorythm`: did you mean `algorithm`?");
    }

    #[test]
    fn a_detail_quotes_a_wrong_text_of_a_query() {
        let mut fields = fields(&[("limits.nodes", "four"), ("limits.time_ms", ""), ("foo", "")], "");
        fields.integer("limits.nodes", 1..=10);
        fields.integer("limits.time_ms", 1..=10);
        let details: Vec<_> =
            fields.finish(Some(())).unwrap_err().errors.into_iter().map(|error| error.detail).collect();
        let expected = [
            "there is no parameter `foo`",
            "`limits.nodes` must be a whole number, not `four`",
            "`limits.time_ms` must be a whole number, not an empty text",
        ];
        assert_eq!(details, expected);
    }

    #[test]
    fn a_whole_number_may_have_an_exponent_or_zeros_as_decimals() {
        for (written, expected) in [
            ("5000", Some(5000)),
            ("5e3", Some(5000)),
            ("5.0E+3", Some(5000)),
            ("5000.0", Some(5000)),
            ("5000.5", None),
            ("5e-1", None),
            ("-1e0", None),
            ("1e16", None),
        ] {
            let body = format!(r#"{{"limits": {{"nodes": {written}}}}}"#);
            for mut fields in [fields(&[("limits.nodes", written)], ""), fields(&[], &body)] {
                assert_eq!(fields.integer("limits.nodes", 1..=10_000), expected, "{written}");
            }
        }
    }

    #[test]
    fn a_field_with_two_values_is_rejected_everywhere() {
        for (query, body, at) in [
            (&[("algorithm", "astar")][..], r#"{"algorithm": "greedy"}"#, "/algorithm"),
            (&[("algorithm", "astar"), ("algorithm", "greedy")], "", "/algorithm"),
            (&[("algorithm", "astar"), ("algorithm", "")], r#"{"algorithm": "astar"}"#, "/algorithm"),
            (&[], r#"{"board": 1, "board": 2}"#, "/board"),
            (&[], r#"{"limits": {"nodes": 1}, "limits": {"time_ms": 1}}"#, "/limits"),
            (&[], r#"{"limits": {"nodes": 1, "nodes": 2}}"#, "/limits/nodes"),
            (&[("limits.nodes", "1")], r#"{"limits": {"nodes": 2}}"#, "/limits/nodes"),
            (&[("limits.nodes", "1")], r#"{"limits": {"nodes": "1.0"}}"#, "/limits/nodes"),
            (&[("tie_breaking", "lifo,fifo")], r#"{"tie_breaking": ["fifo", "lifo"]}"#, "/tie_breaking"),
            (&[("algorithm", "astar")], r#"{"algorithm": "astar", "algorithm": "greedy"}"#, "/algorithm"),
        ] {
            assert_eq!(errors_of(fields(query, body)).1, [(at.to_owned(), "repeated-field")], "{query:?} {body}");
        }
    }

    #[test]
    fn a_field_with_the_same_value_twice_is_accepted() {
        for (query, body) in [
            (&[("algorithm", "astar")][..], r#"{"algorithm": "astar"}"#),
            (&[("algorithm", "astar"), ("algorithm", "astar")], ""),
            (&[], r#"{"algorithm": "astar", "algorithm": "astar"}"#),
            (&[("limits.nodes", "7")], r#"{"limits": {"nodes": 7}, "limits": {"nodes": 7}}"#),
            (&[("tie_breaking", "lifo, fifo")], r#"{"tie_breaking": ["lifo", "fifo"]}"#),
            (&[("board", "[[1,2],[3,0]]")], r#"{"board": [[1,2],[3,0]]}"#),
        ] {
            assert!(fields(query, body).finish(Some(())).is_ok(), "{query:?} {body}");
        }
    }

    #[test]
    fn a_field_that_is_null_is_absent() {
        let mut fields =
            fields(&[], r#"{"board": null, "algorithm": null, "limits": null, "limits": {"nodes": null}}"#);
        assert_eq!(fields.choice::<Algorithm>("algorithm", Some("auto")), None);
        assert_eq!(fields.integer("limits.nodes", 1..=10), None);
        assert!(fields.take("board").is_none());
        assert!(fields.finish(Some(())).is_ok());
        let unknown = self::fields(&[], r#"{"algorythm": null}"#);
        assert_eq!(errors_of(unknown).1, [("/algorythm".to_owned(), "unknown-field")]);
    }

    #[test]
    fn a_list_in_a_query_may_be_written_as_several_parameters() {
        let all = [TieBreaking::Lifo, TieBreaking::Fifo, TieBreaking::Heap];
        for query in [&["lifo,fifo,heap"][..], &["lifo", "fifo", "heap"], &["lifo", "", "fifo,heap"]] {
            let query: Vec<_> = query.iter().map(|text| ("tie_breaking", *text)).collect();
            let mut fields = fields(&query, "");
            assert_eq!(fields.choices::<TieBreaking>("tie_breaking"), all, "{query:?}");
            assert!(fields.finish(Some(())).is_ok());
        }
    }

    #[test]
    fn a_list_in_several_parameters_is_compared_as_a_whole() {
        let query = [("tie_breaking", "lifo"), ("tie_breaking", "fifo")];
        for (body, is_equal) in [(r#"["lifo", "fifo"]"#, true), (r#"["lifo"]"#, false), (r#"["fifo", "lifo"]"#, false)]
        {
            let mut fields = fields(&query, &format!(r#"{{"tie_breaking": {body}}}"#));
            fields.choices::<TieBreaking>("tie_breaking");
            assert_eq!(fields.finish(Some(())).is_ok(), is_equal, "{body}");
        }
    }

    #[test]
    fn a_list_may_be_empty() {
        for (query, body) in [(vec![("tie_breaking", "")], ""), (vec![], r#"{"tie_breaking": []}"#)] {
            let mut fields = fields(&query, body);
            assert!(fields.choices::<TieBreaking>("tie_breaking").is_empty());
            assert!(fields.finish(Some(())).is_ok());
        }
    }

    #[test]
    fn weights_have_two_decimals() {
        for (written, expected) in
            [("1.5", Some(150)), ("1.005", None), ("0.99", None), ("100", Some(10_000)), ("NaN", None)]
        {
            let query = vec![("weight".to_owned(), written.to_owned())];
            let mut fields = FieldReader::new(query, None, &["weight"]);
            assert_eq!(fields.hundredths("weight", 100..=10_000), expected, "{written}");
        }
    }

    #[test]
    fn pointers_are_escaped_as_rfc_6901_demands() {
        assert_eq!(pointer("limits.time_ms"), "/limits/time_ms");
        assert_eq!(pointer("a/b~c"), "/a~1b~0c");
    }
}
