//! Cacheable responses: `ETag`, `If-Match`, `If-None-Match`, `Cache-Control`, and compression.

use std::io::Write;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::accept::accepts_gzip;
use crate::http::problem::{Problem, ProblemKind};

/// The content of a response, with the headers that control caching.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    content_type: &'static str,
    cache_control: &'static str,
    /// `None` for a document that must not be cached.
    etag: Option<HeaderValue>,
    body: Bytes,
    gzip: Option<Bytes>,
}

impl Document {
    /// `Cache-Control` of a document that changes only with a release.
    pub(crate) const AN_HOUR: &'static str = "max-age=3600";

    /// `Cache-Control` of a document that may change at any time, so that its tag has to be compared each time.
    pub(crate) const NO_CACHE: &'static str = "no-cache";

    /// `Cache-Control` of a document that must not be cached.
    pub(crate) const NO_STORE: &'static str = "no-store";

    /// Creates a document with this `Cache-Control`. The tag is a hash of the media type and the body.
    pub(crate) fn new(content_type: &'static str, cache_control: &'static str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let etag = (cache_control != Self::NO_STORE).then(|| weak_etag(&[content_type.as_bytes(), &body]));
        Self { content_type, cache_control, etag, body, gzip: None }
    }

    /// Compresses the body once, for clients that accept gzip.
    #[must_use]
    pub(crate) fn compressed(mut self) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(&self.body).and_then(|()| encoder.finish());
        self.gzip = packed.ok().filter(|packed| packed.len() < self.body.len()).map(Bytes::from);
        self
    }

    /// Creates a document whose tag is a hash of the media type and `bytes` instead of the body, because the body has a
    /// part that varies, such as a duration.
    #[must_use]
    pub(crate) fn tagged_by(
        content_type: &'static str,
        cache_control: &'static str,
        body: impl Into<Bytes>,
        bytes: impl FnOnce() -> Vec<u8>,
    ) -> Self {
        let etag = (cache_control != Self::NO_STORE).then(|| weak_etag(&[content_type.as_bytes(), &bytes()]));
        Self { content_type, cache_control, etag, body: body.into(), gzip: None }
    }

    /// Responds to GET or POST. The response to a POST has no caching headers.
    pub(crate) fn response_to(&self, method: &Method, request_headers: &HeaderMap) -> Response {
        if *method != Method::POST {
            return self.response(request_headers);
        }
        let mut response = Response::new(self.body.clone().into());
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        response
    }

    /// Responds with the document; with `412` if `If-Match` has other tags only; or with `304` if its tag is in
    /// `If-None-Match`.
    pub(crate) fn response(&self, request_headers: &HeaderMap) -> Response {
        if !is_matched(request_headers, self.etag.as_ref()) {
            let detail = "No tag in `If-Match` matches the response. Its tag is weak, so only `If-Match: *` is met.";
            return Problem::new(ProblemKind::PreconditionFailed, detail).into_response();
        }
        let is_known = self.etag.as_ref().is_some_and(|etag| is_known(request_headers, etag));
        let gzip = self.gzip.as_ref().filter(|_| accepts_gzip(request_headers));
        let body = gzip.unwrap_or(&self.body);
        let mut response = Response::new(if is_known { Body::empty() } else { body.clone().into() });
        let headers = response.headers_mut();
        if self.gzip.is_some() {
            headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if gzip.is_some() && !is_known {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.cache_control));
        if let Some(etag) = &self.etag {
            headers.insert(header::ETAG, etag.clone());
        }
        if is_known {
            // The length of the document; the body of a 304 is empty.
            headers.insert(header::CONTENT_LENGTH, body.len().into());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        response
    }
}

/// A weak tag that depends on the bytes of the parts alone, so that it is equal on all machines and in all releases.
pub(crate) fn weak_etag(parts: &[&[u8]]) -> HeaderValue {
    // FNV-1a, 64 bits. Only a collision of two versions of one document would matter.
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = parts.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, part| part.iter().fold(hash, add));
    HeaderValue::from_str(&format!("W/\"{hash:016x}\"")).unwrap_or(HeaderValue::from_static("W/\"\""))
}

/// Returns true without `If-Match`, or if `If-Match` has `*` or the tag, by strong comparison (RFC 9110, section
/// 13.1.1).
pub(crate) fn is_matched(request_headers: &HeaderMap, etag: Option<&HeaderValue>) -> bool {
    let mut lines = request_headers.get_all(header::IF_MATCH).iter().peekable();
    let own = etag.and_then(|etag| etag.to_str().ok()).filter(|etag| !etag.starts_with("W/"));
    lines.peek().is_none()
        || lines
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .any(|tag| tag.trim() == "*" || Some(tag.trim()) == own)
}

/// True if `If-None-Match` has the tag, by weak comparison.
pub(crate) fn is_known(request_headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let own = opaque(etag.to_str().unwrap_or_default());
    let tags = request_headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    tags.flat_map(|value| value.split(',')).any(|tag| tag.trim() == "*" || opaque(tag) == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response_to(if_none_match: &str) -> Response {
        let document = Document::new("text/plain", Document::AN_HOUR, "hello");
        document.response(&HeaderMap::from_iter([(header::IF_NONE_MATCH, if_none_match.parse().unwrap())]))
    }

    #[test]
    fn a_tag_is_the_published_hash_of_the_bytes() {
        assert_eq!(weak_etag(&[]), "W/\"cbf29ce484222325\"");
        assert_eq!(weak_etag(&[b"a"]), "W/\"af63dc4c8601ec8c\"");
        assert_eq!(weak_etag(&[b"foo", b"bar"]), "W/\"85944171f73967e8\"");
    }

    #[test]
    fn a_cached_document_gets_304() {
        let tag = weak_etag(&[b"text/plain", b"hello"]).to_str().unwrap().to_owned();
        for header in [tag.clone(), tag[2..].to_owned(), format!("\"x\", {tag}"), "*".to_owned()] {
            let response = response_to(&header);
            assert_eq!(response.status(), 304, "{header}");
            assert_eq!(response.headers()["etag"], tag);
            assert_eq!(response.headers()["cache-control"], Document::AN_HOUR);
            assert!(!response.headers().contains_key("content-type"));
        }
    }

    #[test]
    fn only_a_star_meets_if_match_because_all_tags_are_weak() {
        for cache_control in [Document::AN_HOUR, Document::NO_STORE] {
            let document = Document::new("text/plain", cache_control, "hello");
            let tag = document.etag.as_ref().map_or("\"x\"", |tag| tag.to_str().unwrap()).to_owned();
            for (lines, status) in [
                (&["*"][..], 200),
                (&["\"x\", *"], 200),
                (&["\"x\"", "*"], 200),
                (&[&tag], 412),
                (&[tag.trim_start_matches("W/")], 412),
                (&["\"x\""], 412),
                (&[""], 412),
            ] {
                let mut headers = HeaderMap::new();
                for line in lines {
                    headers.append(header::IF_MATCH, line.parse().unwrap());
                }
                assert_eq!(document.response(&headers).status(), status, "{lines:?}");
            }
        }
    }

    #[test]
    fn each_media_type_has_its_own_tag() {
        let tag = |content_type| Document::new(content_type, Document::AN_HOUR, "hello").etag;
        assert_ne!(tag("text/plain"), tag("application/yaml"));
        let tagged = |content_type| Document::tagged_by(content_type, Document::AN_HOUR, "hello", Vec::new).etag;
        assert_ne!(tagged("text/plain"), tagged("application/json"));
    }

    #[test]
    fn a_document_that_must_not_be_cached_has_no_tag() {
        let document = Document::new("text/plain", Document::NO_STORE, "hello");
        let response = document.response(&HeaderMap::from_iter([(header::IF_NONE_MATCH, "*".parse().unwrap())]));
        assert_eq!((response.status().as_u16(), response.headers().contains_key("etag")), (200, false));
    }

    #[test]
    fn a_document_is_compressed_for_clients_that_accept_gzip() {
        let text = "hello ".repeat(100);
        let document = Document::new("text/plain", Document::AN_HOUR, text.clone()).compressed();
        for (accept, is_compressed) in [
            ("gzip, deflate, br", true),
            ("*", true),
            ("gzip;q=0", false),
            ("br, identity", false),
            ("GZIP;q=0.5", true),
            ("gzip;q=0.001, identity;q=1", false),
            ("identity;q=0.5, gzip", true),
            ("gzip;q=2, identity", false),
            ("gzip; Q=0.3, identity;q=0.3", true),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, accept.parse().unwrap())]);
            let response = document.response(&headers);
            assert_eq!(response.headers().contains_key("content-encoding"), is_compressed, "{accept}");
            assert_eq!(response.headers()["vary"], "Accept-Encoding", "{accept}");
        }
        assert!(document.gzip.unwrap().len() < text.len() / 5);
        let short = Document::new("text/plain", Document::AN_HOUR, "a").compressed();
        assert!(short.gzip.is_none(), "gzip would make it longer");
    }

    #[test]
    fn any_other_tag_gets_the_document() {
        for header in ["\"x\"", "W/\"0\"", ""] {
            let response = response_to(header);
            assert_eq!(response.status(), 200, "{header}");
            assert_eq!(response.headers()["content-type"], "text/plain");
        }
    }
}
