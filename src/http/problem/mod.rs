//! Failures as RFC 9457 problem documents.
//!
//! A [`Problem`] does not know its request. Its response is therefore empty and has the problem as an extension. The
//! outermost layer (`exchange`) writes the document, because it knows the path, the request id and `Accept`.

mod kind;
mod sentence;

use std::fmt::{Debug, Write as _};
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

pub use kind::ProblemKind;
pub(crate) use sentence::sentence;

use crate::http::media_type::MediaType;
use crate::http::payload::Payload;

/// One error in a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RequestError {
    /// RFC 6901 pointer into the request, such as `/board/1/2`; empty for the request as a whole request.
    pub pointer: String,
    /// A code from the closed list of the contract.
    pub code: &'static str,
    /// The error in a sentence.
    pub detail: String,
}

impl RequestError {
    /// Creates an error at `pointer`.
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, detail: detail.into() }
    }
}

/// A failure: the content of a problem document, and headers of its response.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The problem type, which determines status and title.
    pub kind: ProblemKind,
    /// Cause of this failure, and advice to the client.
    pub detail: String,
    /// Errors in the request, at most [`Problem::MAX_ERRORS`].
    pub errors: Vec<RequestError>,
    /// Extension members, in the order of the document.
    pub members: Vec<(&'static str, Value)>,
    /// The last extension members, which may be long.
    tail: Option<Arc<dyn Tail>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The last extension members of a problem document. Their text is produced only when the document is written.
pub(crate) trait Tail: Debug + Send + Sync {
    /// Writes the members with their names, as JSON or as lines of text.
    fn payload(&self, media_type: MediaType) -> Payload;
}

impl Problem {
    /// Maximum number of errors in a problem document.
    pub const MAX_ERRORS: usize = 20;

    /// Creates a problem without errors, extension members or headers.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), members: Vec::new(), tail: None, headers: Vec::new() }
    }

    /// Creates the problem of an internal error. The caller has logged the cause.
    pub fn internal() -> Self {
        Self::new(
            ProblemKind::Internal,
            "Internal error. Please report it with the request id; the log has the cause under that id.",
        )
    }

    /// Sets the errors. Those beyond [`Problem::MAX_ERRORS`] are dropped.
    #[must_use]
    pub fn with_errors(mut self, mut errors: Vec<RequestError>) -> Self {
        errors.truncate(Self::MAX_ERRORS);
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

    /// Sets the last extension members.
    #[must_use]
    pub(crate) fn with_tail(self, tail: impl Tail + 'static) -> Self {
        Self { tail: Some(Arc::new(tail)), ..self }
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
    pub(crate) fn document(&self, media_type: MediaType, instance: &str, request_id: &str) -> Payload {
        let tail = self.tail.as_ref().map(|tail| tail.payload(media_type));
        if media_type == MediaType::Text {
            let (text, footer) = (self.to_text(), self.footer(request_id));
            return match tail {
                Some(tail) => tail.between(text, footer),
                None => Payload::Whole((text + &footer).into_bytes()),
            };
        }
        let mut json = self.to_json(instance, request_id);
        match tail {
            Some(tail) => {
                json.pop();
                json.push(b',');
                tail.between(json, "}")
            }
            None => Payload::Whole(json),
        }
    }

    /// Writes the document as JSON, without the tail.
    pub(crate) fn to_json(&self, instance: &str, request_id: &str) -> Vec<u8> {
        serde_json::to_vec(&ProblemJson { problem: self, request: Some((instance, request_id)) }).unwrap_or_default()
    }

    /// Writes the document as text for a terminal, without tail and footer.
    fn to_text(&self) -> String {
        let Self { kind, detail, .. } = self;
        let mut text = format!("{} {}\n{detail}\n", kind.status().as_u16(), kind.title());
        for RequestError { pointer, code, detail } in &self.errors {
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

struct ProblemJson<'a> {
    problem: &'a Problem,
    /// Path and id of the request.
    request: Option<(&'a str, &'a str)>,
}

impl Serialize for ProblemJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Problem { kind, detail, errors, members, .. } = self.problem;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &format_args!("/problems/{}", kind.slug()))?;
        map.serialize_entry("title", kind.title())?;
        map.serialize_entry("status", &kind.status().as_u16())?;
        map.serialize_entry("detail", detail)?;
        if let Some((instance, request_id)) = self.request {
            map.serialize_entry("instance", instance)?;
            map.serialize_entry("request_id", request_id)?;
        }
        if !errors.is_empty() {
            map.serialize_entry("errors", errors)?;
        }
        for (name, value) in members {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// Serializes the problem as part of a successful response, without the request's path and id.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ProblemJson { problem: self, request: None }.serialize(serializer)
    }
}

/// A response with status and headers. The outermost layer writes the body.
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
            .with_errors(vec![RequestError::new("/limits/time_ms", "out-of-range", "Too small.")])
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
        let errors = (0..30).map(|n| RequestError::new(format!("/{n}"), "wrong-type", "")).collect();
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
            .with_errors(vec![RequestError::new("/board/1/2", "duplicate-tile", "Tile 4 again.")])
            .with_member("limit", "time");
        let Payload::Whole(text) = problem.document(MediaType::Text, "/", "abc") else { panic!("there is no tail") };
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("422 The board is not valid\nTwo errors.\n  /board/1/2: Tile 4 again."), "{text}");
        assert!(text.contains("limit: time\n"));
        assert!(text.ends_with("type: /problems/invalid-board\nrequest id: abc\n"), "{text}");
    }
}
