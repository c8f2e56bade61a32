//! Failures as RFC 9457 problem documents.
//!
//! A [`Problem`] does not know its request. Its response is therefore empty and has the problem as an extension. The
//! layer `problem_documents` (`exchange`) writes the document, because it knows the path, the request id and `Accept`.

mod kind;

use std::fmt::{Display, Write as _};

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use taquin_bulk::{ErrorKind, FieldError, ProblemDocument, RowError};

pub use kind::ProblemKind;

use crate::http::media_type::MediaType;

/// A failure: the content of a problem document, and headers of its response.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The problem type, which determines status and title.
    pub kind: ProblemKind,
    /// Cause of this failure, and advice to the client.
    pub detail: String,
    /// Errors in the request, at most [`RowError::MAX_ERRORS`].
    pub errors: Vec<FieldError>,
    /// Extension members, in the order of the document.
    pub members: Vec<(&'static str, Value)>,
    /// The last extension members, which may be long.
    tail: Option<Box<Tail>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The last extension members of a problem document, in both formats.
#[derive(Clone, Debug)]
struct Tail {
    /// A JSON object.
    json: Vec<u8>,
    /// Lines of text.
    text: String,
}

impl Problem {
    /// Creates a problem without errors, extension members or headers.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), members: Vec::new(), tail: None, headers: Vec::new() }
    }

    /// Creates the problem of an internal error. The caller has logged the cause.
    pub fn internal() -> Self {
        Self::new(ProblemKind::Internal, RowError::INTERNAL)
    }

    /// Sets the errors, and drops errors beyond [`RowError::MAX_ERRORS`].
    #[must_use]
    pub fn with_errors(mut self, mut errors: Vec<FieldError>) -> Self {
        errors.truncate(RowError::MAX_ERRORS);
        self.errors = errors;
        self
    }

    /// Adds an extension member. Its name must not be the name of a common member.
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: impl Serialize) -> Self {
        debug_assert!(!COMMON_MEMBERS.contains(&name), "{name} is a common member");
        self.members.push((name, serde_json::to_value(value).unwrap_or(Value::Null)));
        self
    }

    /// Sets the last extension members: an object that is not empty, and its lines of text.
    #[must_use]
    pub(crate) fn with_tail(self, members: &impl Serialize, lines: impl Display) -> Self {
        let json = serde_json::to_vec(members).unwrap_or_else(|_| b"{}".to_vec());
        Self { tail: Some(Box::new(Tail { json, text: lines.to_string() })), ..self }
    }

    /// Prefixes the pointers of all errors with `at`.
    #[must_use]
    pub fn within(mut self, at: &str) -> Self {
        self.errors.iter_mut().for_each(|error| error.pointer.insert_str(0, at));
        self
    }

    /// Sets the `Retry-After` header, in seconds.
    #[must_use]
    pub fn with_retry_after(self, seconds: u64) -> Self {
        self.with_header(header::RETRY_AFTER, seconds.into())
    }

    /// Sets a header of the response, such as `WWW-Authenticate`.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.retain(|(other, _)| *other != name);
        self.headers.push((name, value));
        self
    }

    /// The `Retry-After` header in seconds, if it is set.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        let (_, value) = self.headers.iter().find(|(name, _)| *name == header::RETRY_AFTER)?;
        value.to_str().ok()?.parse().ok()
    }

    /// Writes the document for one request, as text or JSON.
    pub(crate) fn document(&self, media_type: MediaType, instance: &str, request_id: &str) -> Vec<u8> {
        if media_type == MediaType::Text {
            let lines = self.tail.as_ref().map_or("", |tail| &tail.text);
            return [&self.to_text(), lines, &self.footer(request_id)].concat().into_bytes();
        }
        let mut json = self.to_json(instance, request_id);
        if let Some(tail) = &self.tail {
            json.pop();
            json.push(b',');
            json.extend_from_slice(&tail.json[1..]);
        }
        json
    }

    /// Writes the document as JSON, without the tail.
    pub(crate) fn to_json(&self, instance: &str, request_id: &str) -> Vec<u8> {
        serde_json::to_vec(&self.members_for(Some((instance, request_id)))).unwrap_or_default()
    }

    /// The members of the document, without the tail. `request` has the path and the id of a request.
    fn members_for<'p>(&'p self, request: Option<(&'p str, &'p str)>) -> ProblemDocument<'p> {
        let Self { kind, detail, errors, members, .. } = self;
        let (slug, title, status) = (kind.slug(), kind.title(), kind.status().as_u16());
        ProblemDocument { slug, title, status, detail, request, errors, members }
    }

    /// Writes the document as text for a terminal, without tail and footer.
    fn to_text(&self) -> String {
        let Self { kind, detail, .. } = self;
        let mut text = format!("{} {}\n{detail}\n", kind.status().as_u16(), kind.title());
        for FieldError { pointer, code, detail } in &self.errors {
            // A pointer can contain any character of a client's field name.
            let place =
                if pointer.is_empty() { "(whole request)".to_owned() } else { pointer.escape_debug().to_string() };
            let _ = writeln!(text, "  {place}: {detail} [{code}]");
        }
        for (name, value) in &self.members {
            match value {
                Value::String(plain) => writeln!(text, "{name}: {plain}"),
                other => writeln!(text, "{name}: {other}"),
            }
            .unwrap_or_default();
        }
        text
    }

    fn footer(&self, request_id: &str) -> String {
        format!("type: /problems/{}\nrequest id: {request_id}\n", self.kind.slug())
    }
}

const COMMON_MEMBERS: [&str; 7] = ["type", "title", "status", "detail", "instance", "request_id", "errors"];

impl From<RowError> for Problem {
    fn from(error: RowError) -> Self {
        let RowError { kind, detail, errors, members } = error;
        if kind == ErrorKind::Internal {
            tracing::error!(target: "taquin::http::problem", "a request was rejected without an error");
        }
        Self { errors, members, ..Self::new(kind.into(), detail) }
    }
}

/// Serializes the problem as part of a successful response, without the request's path and id.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members_for(None).serialize(serializer)
    }
}

/// A response with status and headers. A layer writes the body.
impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.kind.status();
        response.headers_mut().extend(std::mem::take(&mut self.headers));
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_the_members_of_rfc_9457_then_its_own_in_order() {
        let problem = Problem::new(ProblemKind::SearchLimitExceeded, "Time is up.")
            .with_errors(vec![FieldError::new("/limits/time_ms", "out-of-range", "Too small.")])
            .with_member("limit", "time")
            .with_member("lower_bound", 12);
        let text = String::from_utf8(problem.to_json("/solve", "abc")).unwrap();
        assert_eq!(
            text,
            r#"{"type":"/problems/search-limit-exceeded","title":"A limit ended the search","status":422,"#.to_owned()
                + r#""detail":"Time is up.","instance":"/solve","request_id":"abc","#
                + r#""errors":[{"pointer":"/limits/time_ms","code":"out-of-range","detail":"Too small."}],"#
                + r#""limit":"time","lower_bound":12}"#
        );
    }

    #[test]
    fn a_problem_without_errors_has_no_errors_member() {
        let json = Problem::new(ProblemKind::NotFound, "").to_json("/", "abc");
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert!(json.get("errors").is_none());
    }

    #[test]
    fn at_most_twenty_errors_are_listed() {
        let errors = (0..30).map(|n| FieldError::new(format!("/{n}"), "wrong-type", "")).collect();
        let problem = Problem::new(ProblemKind::InvalidRequest, "").with_errors(errors);
        assert_eq!(problem.errors.len(), 20);
        assert_eq!(problem.errors[19].pointer, "/19");
    }

    #[test]
    fn a_response_has_the_status_and_headers_of_its_problem() {
        let response = Problem::new(ProblemKind::Overloaded, "Full.").with_retry_after(3).into_response();
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "3");
        assert_eq!(response.extensions().get::<Problem>().unwrap().detail, "Full.");
    }

    #[test]
    fn the_text_has_each_error_and_the_request_id() {
        let problem = Problem::new(ProblemKind::InvalidBoard, "Two errors.")
            .with_errors(vec![FieldError::new("/board/1/2", "duplicate-tile", "Tile 4 again.")])
            .with_member("limit", "time");
        let text = String::from_utf8(problem.document(MediaType::Text, "/", "abc")).unwrap();
        assert!(text.starts_with("422 The board is not valid\nTwo errors.\n  /board/1/2: Tile 4 again."), "{text}");
        assert!(text.contains("limit: time\n"));
        assert!(text.ends_with("type: /problems/invalid-board\nrequest id: abc\n"), "{text}");
    }
}
