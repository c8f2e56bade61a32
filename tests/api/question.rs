//! Requests.

use std::fmt;

use bytes::Bytes;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::answer::shortened;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    /// The method.
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: String,
    /// The headers.
    pub(crate) headers: HeaderMap,
    /// The body.
    pub(crate) body: Bytes,
}

impl Question {
    /// A request with any method.
    pub(crate) fn new(method: Method, target: &str) -> Self {
        Self { method, target: target.to_owned(), headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// A GET request.
    pub(crate) fn get(target: &str) -> Self {
        Self::new(Method::GET, target)
    }

    /// A POST request.
    pub(crate) fn post(target: &str) -> Self {
        Self::new(Method::POST, target)
    }

    /// A GET request with the fields of a JSON body as query parameters.
    pub(crate) fn get_as(path: &str, body: &Value) -> Self {
        let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut question = Self::get(path);
        for (name, value) in body.as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                ("limits", Value::Object(limits)) => {
                    for (limit, value) in limits {
                        question = question.query(&format!("limits.{limit}"), &plain(value));
                    }
                }
                ("include" | "tiles", Value::Array(entries)) => {
                    let entries: Vec<_> = entries.iter().map(plain).collect();
                    question = question.query(name, &entries.join(","));
                }
                _ => question = question.query(name, &plain(value)),
            }
        }
        question
    }

    /// Adds a query parameter.
    pub(crate) fn query(mut self, name: &str, value: &str) -> Self {
        self.target.push(if self.target.contains('?') { '&' } else { '?' });
        self.target.push_str(name);
        self.target.push('=');
        for byte in value.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    self.target.push(char::from(byte))
                }
                other => self.target.push_str(&format!("%{other:02X}")),
            }
        }
        self
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        let value =
            HeaderValue::from_bytes(value.as_bytes()).unwrap_or_else(|error| panic!("{name}: {value:?}: {error}"));
        self.headers.append(HeaderName::from_static(name), value);
        self
    }

    /// Sets `Accept`.
    pub(crate) fn accept(self, media_type: &str) -> Self {
        self.header("accept", media_type)
    }

    /// Sets a body of any media type.
    pub(crate) fn body(mut self, media_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self.header("content-type", media_type)
    }

    /// Sets a JSON body.
    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    /// The query parameters, decoded.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let query = self.target.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        pairs
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (decode(name), decode(value)))
            .collect()
    }
}

/// Decodes percent-encoding. Replaces invalid UTF-8.
fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, hex) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = tail;
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.target)?;
        for (name, value) in &self.headers {
            write!(f, "\n{name}: {}", String::from_utf8_lossy(value.as_bytes()))?;
        }
        if !self.body.is_empty() {
            write!(f, "\n\n{}", shortened(&self.body))?;
        }
        Ok(())
    }
}
