//! Responses.

use std::fmt;

use bytes::Bytes;
use hyper::header::HeaderMap;
use serde_json::Value;

use crate::contract::essence;

/// A response, its body read to the end.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// The request, shown when a test fails.
    pub(crate) question: String,
    /// The status code.
    pub(crate) status: u16,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Bytes,
}

impl Answer {
    /// Asserts the status.
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{self}", self.question);
        self
    }

    /// Asserts that the response is the problem with this slug, and returns it.
    pub(crate) fn problem(self, slug: &str) -> Value {
        let status = PROBLEMS.iter().find(|(name, _)| *name == slug).map(|(_, status)| *status);
        let answer = self.expect(status.unwrap_or_else(|| panic!("there is no problem {slug}")));
        let problem = answer.json();
        assert_eq!(problem["type"], format!("/problems/{slug}"), "{}\n{answer}", answer.question);
        problem
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{}\n{self}\n{error}", self.question))
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_else(|error| panic!("{}\n{self}\n{error}", self.question))
    }

    /// Value of a header; empty if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The media type, without parameters.
    pub(crate) fn media_type(&self) -> String {
        essence(&self.headers)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "→ {}", self.status)?;
        for (name, value) in &self.headers {
            write!(f, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
        }
        write!(f, "\n\n{}", shortened(&self.body))
    }
}

/// Readable text of a body, truncated if long.
pub(crate) fn shortened(body: &[u8]) -> String {
    let shown = String::from_utf8_lossy(&body[..body.len().min(2000)]).into_owned();
    if body.len() > 2000 { format!("{shown}… ({} bytes)", body.len()) } else { shown }
}

/// Slug and status of every problem type.
pub(crate) const PROBLEMS: [(&str, u16); 30] = [
    ("malformed-json", 400),
    ("invalid-parameter", 400),
    ("invalid-header", 400),
    ("invalid-request", 422),
    ("invalid-board", 422),
    ("goal-mismatch", 422),
    ("unsupported-combination", 422),
    ("unsolvable", 422),
    ("search-limit-exceeded", 422),
    ("idempotency-key-reused", 422),
    ("results-too-large", 422),
    ("overloaded", 503),
    ("shutting-down", 503),
    ("rate-limited", 429),
    ("too-many-jobs", 429),
    ("unauthorized", 401),
    ("cross-site-request", 403),
    ("unknown-host", 421),
    ("content-too-large", 413),
    ("request-timeout", 408),
    ("unsupported-media-type", 415),
    ("not-acceptable", 406),
    ("precondition-failed", 412),
    ("range-not-satisfiable", 416),
    ("job-state-conflict", 409),
    ("not-found", 404),
    ("method-not-allowed", 405),
    ("not-implemented", 501),
    ("storage-full", 507),
    ("internal", 500),
];

/// The `errors` of a problem, each as `pointer code`, in order.
pub(crate) fn faults(problem: &Value) -> Vec<String> {
    let faults = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    faults.iter().map(|fault| format!("{} {}", word(&fault["pointer"]), word(&fault["code"]))).collect()
}

/// Removes the elapsed time from a reply.
pub(crate) fn timeless(mut reply: Value) -> Value {
    if let Some(search) = reply["search"].as_object_mut() {
        search.remove("elapsed_us");
    }
    reply
}

/// Numeric members of an object.
pub(crate) fn figures<const N: usize>(object: &Value, names: [&str; N]) -> [u64; N] {
    names.map(|name| object[name].as_u64().unwrap_or_else(|| panic!("{name} of {object}")))
}
