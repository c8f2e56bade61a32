//! Headers of browser pages.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Security headers of a page: its content security policy, which pages may frame it, no opener from another origin, no
/// `Referer`. `policy` has no `frame-ancestors`; `frame_origins` are the origins of framing pages, or `*` alone for
/// all.
pub(crate) fn security_headers(policy: &str, frame_origins: &[String]) -> HeaderMap {
    let framing = if frame_origins.is_empty() { "'none'".to_owned() } else { frame_origins.join(" ") };
    let policy = HeaderValue::try_from(format!("{policy}; frame-ancestors {framing}"));
    let mut headers = HeaderMap::from_iter([
        (header::CONTENT_SECURITY_POLICY, policy.expect("an origin has no control characters")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ]);
    // Older browsers know only this header, which cannot name origins.
    if frame_origins.is_empty() {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    headers
}
