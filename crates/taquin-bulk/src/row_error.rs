//! The errors of a row or of a request, and of their fields.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use taquin_solver::Reachability;

/// One error in a field of a row or of a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FieldError {
    /// RFC 6901 pointer into the row or the request, such as `/board/1/2`. The empty pointer means the whole row or
    /// request.
    pub pointer: String,
    /// Code of the error. The HTTP contract (`openapi.yaml`) lists the codes.
    pub code: &'static str,
    /// Description of the error, as a sentence.
    pub detail: String,
}

impl FieldError {
    /// Creates an error at `pointer`.
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, detail: detail.into() }
    }
}

/// Kind of an error in a row or in a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// The text is not JSON, or not UTF-8.
    MalformedJson,
    /// A query parameter is wrong.
    InvalidParameter,
    /// A field is wrong.
    InvalidRequest,
    /// The board is wrong.
    InvalidBoard,
    /// The goal and the board have different sizes. Or a row has another size or another goal than the other rows.
    GoalMismatch,
    /// The options conflict.
    UnsupportedCombination,
    /// The goal cannot be reached from the board.
    Unsolvable,
    /// The text is too long.
    ContentTooLarge,
    /// A bug or damaged memory caused the error.
    Internal,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::MalformedJson,
        Self::InvalidParameter,
        Self::InvalidRequest,
        Self::InvalidBoard,
        Self::GoalMismatch,
        Self::UnsupportedCombination,
        Self::Unsolvable,
        Self::ContentTooLarge,
        Self::Internal,
    ];

    /// Returns the name of the problem type, such as `invalid-board` in `/problems/invalid-board`.
    pub const fn slug(self) -> &'static str {
        self.row().0
    }

    /// Returns the HTTP status of a response with an error of this kind.
    pub const fn status(self) -> u16 {
        self.row().1
    }

    /// Returns the title of the problem type.
    pub const fn title(self) -> &'static str {
        self.row().2
    }

    const fn row(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::MalformedJson => ("malformed-json", 400, "The body cannot be read"),
            Self::InvalidParameter => ("invalid-parameter", 400, "A query parameter is not valid"),
            Self::InvalidRequest => ("invalid-request", 422, "The request is not valid"),
            Self::InvalidBoard => ("invalid-board", 422, "The board is not valid"),
            Self::GoalMismatch => ("goal-mismatch", 422, "Board and goal have different sizes"),
            Self::UnsupportedCombination => ("unsupported-combination", 422, "These options cannot be combined"),
            Self::Unsolvable => ("unsolvable", 422, "The goal cannot be reached"),
            Self::ContentTooLarge => ("content-too-large", 413, "The body is too large"),
            Self::Internal => ("internal", 500, "Internal server error"),
        }
    }
}

/// The error of a row or of a request. The error has the content of a problem document (RFC 9457).
#[derive(Clone, PartialEq, Debug)]
pub struct RowError {
    /// Kind of the error. The status and the title follow from the kind.
    pub kind: ErrorKind,
    /// The cause of the error, with advice.
    pub detail: String,
    /// The errors in fields, at most [`RowError::MAX_ERRORS`].
    pub errors: Vec<FieldError>,
    /// Extension members, in the order in which the document has them.
    pub members: Vec<(&'static str, Value)>,
}

impl RowError {
    /// Maximum number of field errors in a problem document.
    pub const MAX_ERRORS: usize = 20;

    /// Detail of an internal error.
    pub const INTERNAL: &str =
        "Internal error. Please report it with the request id; the log has the cause under that id.";

    /// Creates an error without field errors and without extension members.
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), members: Vec::new() }
    }

    /// Creates an internal error. The text refers to the log, so the caller must log the cause.
    pub fn internal() -> Self {
        Self::new(ErrorKind::Internal, Self::INTERNAL)
    }

    /// Sets the field errors. Keeps only the first [`RowError::MAX_ERRORS`] of `errors`.
    #[must_use]
    pub fn with_errors(mut self, mut errors: Vec<FieldError>) -> Self {
        errors.truncate(Self::MAX_ERRORS);
        self.errors = errors;
        self
    }

    /// Adds an extension member. `name` must differ from the names of the standard members, such as `title`.
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: impl Serialize) -> Self {
        self.members.push((name, serde_json::to_value(value).unwrap_or(Value::Null)));
        self
    }

    /// Returns the error as one line of text. The line has the detail. If there are two or more field errors, the line
    /// also has each field error.
    pub fn to_line(&self) -> String {
        let errors = self.errors.iter().filter(|_| self.errors.len() > 1);
        let errors = errors.map(|error| format!(" {}: {}.", error.pointer, error.detail));
        format!("{}{}", self.detail, errors.collect::<String>())
    }
}

/// Returns the code in the HTTP contract for the reason why a goal is unreachable; `None` if the goal is reachable.
pub fn reason(reachability: &Reachability) -> Option<&'static str> {
    (!reachability.is_reachable()).then_some("parity")
}

/// Returns the code of the HTTP contract for the parity of the permutation: `odd` or `even`.
pub fn parity(reachability: &Reachability) -> &'static str {
    if reachability.odd_permutation { "odd" } else { "even" }
}

/// Capitalizes the first letter of a text. Appends a period, unless the text ends with `.` or `?`.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map_or_else(String::new, |first| first.to_uppercase().collect());
    let end = if text.ends_with(['.', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Formats a number with a noun, such as "1 move" or "2 moves".
pub fn counted(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// Serializes the error as a problem document. The document has no path and no id of a request.
impl Serialize for RowError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { kind, detail, errors, members } = self;
        ProblemDocument {
            slug: kind.slug(),
            title: kind.title(),
            status: kind.status(),
            detail,
            request: None,
            errors,
            members,
        }
        .serialize(serializer)
    }
}

/// The members of a problem document (RFC 9457), in the order of the document.
#[derive(Clone, Copy, Debug)]
pub struct ProblemDocument<'a> {
    /// Name of the problem type.
    pub slug: &'a str,
    /// Title of the problem type.
    pub title: &'a str,
    /// HTTP status of the response.
    pub status: u16,
    /// The cause of the error, with advice.
    pub detail: &'a str,
    /// Path and id of the request. `None` if the document has no members `instance` and `request_id`.
    pub request: Option<(&'a str, &'a str)>,
    /// Field errors.
    pub errors: &'a [FieldError],
    /// Extension members.
    pub members: &'a [(&'static str, Value)],
}

impl Serialize for ProblemDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { slug, title, status, detail, request, errors, members } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &format_args!("/problems/{slug}"))?;
        map.serialize_entry("title", title)?;
        map.serialize_entry("status", status)?;
        map.serialize_entry("detail", detail)?;
        if let Some((instance, request_id)) = request {
            map.serialize_entry("instance", instance)?;
            map.serialize_entry("request_id", request_id)?;
        }
        if !errors.is_empty() {
            map.serialize_entry("errors", errors)?;
        }
        for (name, value) in *members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_the_members_of_rfc_9457_then_its_own_in_order() {
        let error = RowError::new(ErrorKind::InvalidRequest, "It is wrong.")
            .with_errors(vec![FieldError::new("/limits/time_ms", "out-of-range", "Too small.")])
            .with_member("limit", "time");
        let text = serde_json::to_string(&error).unwrap();
        assert_eq!(
            text,
            r#"{"type":"/problems/invalid-request","title":"The request is not valid","status":422,"#.to_owned()
                + r#""detail":"It is wrong.","#
                + r#""errors":[{"pointer":"/limits/time_ms","code":"out-of-range","detail":"Too small."}],"#
                + r#""limit":"time"}"#
        );
    }

    #[test]
    fn at_most_twenty_errors_are_listed() {
        let errors = (0..30).map(|n| FieldError::new(format!("/{n}"), "wrong-type", "")).collect();
        let error = RowError::new(ErrorKind::InvalidRequest, "").with_errors(errors);
        assert_eq!((error.errors.len(), error.errors[19].pointer.as_str()), (20, "/19"));
    }
}
