//! Failures as RFC 9457 problem documents.
//!
//! A [`Problem`] says what is wrong; it does not know which request it answers. So its response is
//! empty and carries the problem as an extension, and the outermost layer (`exchange`)
//! writes the document once path, request id and `Accept` are at hand.

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

/// One thing that is wrong with a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Fault {
    /// RFC 6901 pointer into the question: `/board/1/2`; empty for the whole of it.
    pub pointer: String,
    /// A word from the contract's closed list.
    pub code: &'static str,
    /// A sentence for a person.
    pub detail: String,
}

impl Fault {
    /// A fault at `pointer`.
    pub fn new(pointer: impl Into<String>, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code, detail: detail.into() }
    }
}

/// A failure, as the client will be told it.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The type; it fixes status and title.
    pub kind: ProblemKind,
    /// What happened this time, and what to do about it.
    pub detail: String,
    /// What is wrong with the request, at most [`Problem::MAX_FAULTS`] of it.
    pub errors: Vec<Fault>,
    /// Members of this kind alone, in the order in which they are written.
    pub members: Vec<(&'static str, Value)>,
    /// The last member, which may be long.
    tail: Option<Arc<dyn Tail>>,
    headers: Vec<(HeaderName, HeaderValue)>,
}

/// The last member of a problem document, written only when the document is.
pub(crate) trait Tail: Debug + Send + Sync {
    /// The member with its name, as JSON or as lines of text.
    fn payload(&self, media_type: MediaType) -> Payload;
}

impl Problem {
    /// How many faults a problem lists at most.
    pub const MAX_FAULTS: usize = 20;

    /// A problem without faults or further members.
    pub fn new(kind: ProblemKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), errors: Vec::new(), members: Vec::new(), tail: None, headers: Vec::new() }
    }

    /// The server's own fault, which its log explains already.
    pub fn internal() -> Self {
        Self::new(ProblemKind::Internal, "Internal error. The log has the cause under this request id.")
    }

    /// A question that was refused without a fault to show for it: a bug, which is logged here.
    pub fn without_fault() -> Self {
        tracing::error!("a request was rejected without an error");
        Self::internal()
    }

    /// Lists the faults; those beyond [`Problem::MAX_FAULTS`] are left out.
    #[must_use]
    pub fn with_errors(mut self, mut errors: Vec<Fault>) -> Self {
        errors.truncate(Self::MAX_FAULTS);
        self.errors = errors;
        self
    }

    /// Adds a member of the document. Its name must not be one that every problem has.
    #[must_use]
    pub fn with_member(mut self, name: &'static str, value: impl Serialize) -> Self {
        debug_assert!(!COMMON_MEMBERS.contains(&name), "{name} is written by every problem");
        self.members.push((name, serde_json::to_value(value).unwrap_or(Value::Null)));
        self
    }

    /// Adds the last member of the document.
    #[must_use]
    pub(crate) fn with_tail(self, tail: impl Tail + 'static) -> Self {
        Self { tail: Some(Arc::new(tail)), ..self }
    }

    /// Lists the faults at places within a part of the question.
    #[must_use]
    pub fn within(mut self, at: &str) -> Self {
        self.errors.iter_mut().for_each(|fault| fault.pointer.insert_str(0, at));
        self
    }

    /// Tells the client to come back after so many seconds.
    #[must_use]
    pub fn with_retry_after(self, seconds: u64) -> Self {
        self.with_header(header::RETRY_AFTER, seconds.into())
    }

    /// Sets a header of the response, such as `WWW-Authenticate`.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// After how many seconds the client may come back, if it is told.
    pub(crate) fn retry_after(&self) -> Option<u64> {
        let (_, value) = self.headers.iter().find(|(name, _)| *name == header::RETRY_AFTER)?;
        value.to_str().ok()?.parse().ok()
    }

    /// The document for one request, as text or JSON.
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

    /// The document without its tail.
    fn to_json(&self, instance: &str, request_id: &str) -> Vec<u8> {
        serde_json::to_vec(&ProblemJson { problem: self, request: Some((instance, request_id)) }).unwrap_or_default()
    }

    /// The text for a terminal, without tail and footer.
    fn to_text(&self) -> String {
        let Self { kind, detail, .. } = self;
        let mut text = format!("{} {}\n{detail}\n", kind.status().as_u16(), kind.title());
        for Fault { pointer, code, detail } in &self.errors {
            // A pointer may hold any character that a client put into a name.
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
    /// The path that was asked, and the request's id.
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

/// The document as a part of an answer to a question that has not failed as a whole: without what names the request.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ProblemJson { problem: self, request: None }.serialize(serializer)
    }
}

/// Status, headers and no body: the outermost layer writes it.
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
            .with_errors(vec![Fault::new("/limits/time_ms", "out-of-range", "Too small.")])
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
    fn a_problem_without_faults_has_no_errors_member() {
        let json = Problem::new(ProblemKind::NotFound, "").to_json("/", "abc");
        let json: Value = serde_json::from_slice(&json).unwrap();
        assert!(json.get("errors").is_none());
    }

    #[test]
    fn at_most_twenty_faults_are_listed() {
        let faults = (0..30).map(|n| Fault::new(format!("/{n}"), "wrong-type", "")).collect();
        let problem = Problem::new(ProblemKind::InvalidRequest, "").with_errors(faults);
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
    fn the_text_names_each_fault_and_the_request() {
        let problem = Problem::new(ProblemKind::InvalidBoard, "Two faults.")
            .with_errors(vec![Fault::new("/board/1/2", "duplicate-tile", "Tile 4 again.")])
            .with_member("limit", "time");
        let Payload::Whole(text) = problem.document(MediaType::Text, "/", "abc") else { panic!("it has no tail") };
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("422 The board is not valid\nTwo faults.\n  /board/1/2: Tile 4 again."), "{text}");
        assert!(text.contains("limit: time\n"));
        assert!(text.ends_with("type: /problems/invalid-board\nrequest id: abc\n"), "{text}");
    }
}
