//! Headers of pages for browsers.

use axum::http::{HeaderName, HeaderValue, header};

/// Headers of every page: what it may load, that no other page may frame it or keep a reference to its window, and that
/// links from it send no `Referer`.
pub(crate) fn protection(policy: &'static str) -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}
