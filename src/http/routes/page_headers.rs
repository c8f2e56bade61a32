//! Headers of browser pages.

use axum::http::{HeaderName, HeaderValue, header};

/// Security headers of a page: its content security policy, no framing, no opener from another origin, no `Referer`.
pub(crate) fn security_headers(policy: &'static str) -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}
