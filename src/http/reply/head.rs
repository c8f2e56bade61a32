//! Heads of responses: streams, and the `Server-Timing` header.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::empty;

use crate::http::media_type::MediaType;
use crate::service::{Answer, Origin};

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Turns off response buffering in nginx and compatible proxies.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Returns a streamed response with headers and an empty body.
pub(crate) fn stream_head(media_type: MediaType) -> Response {
    // `Body::empty()` would add a `Content-Length`.
    let mut response = Response::new(Body::from_stream(empty::<Result<Bytes, Infallible>>()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type.content_type()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}

/// Adds the header with the durations of queue and search. They are 0 for a cached response.
pub(crate) fn add_server_timing(response: &mut Response, answer: &Answer) {
    if let Ok(timing) = HeaderValue::try_from(server_timing(answer)) {
        response.headers_mut().insert(SERVER_TIMING, timing);
    }
}

fn server_timing(Answer { report, origin }: &Answer) -> String {
    if *origin == Origin::Cached {
        return "queue;dur=0, search;dur=0, cache;desc=hit".to_owned();
    }
    let mut text = String::with_capacity(64);
    for (name, time) in [("queue;dur=", report.queued), (", search;dur=", report.elapsed)] {
        // Milliseconds with three decimals. Adding 1000 keeps their leading zeros.
        let micros = time.as_micros() as u64;
        text.push_str(name);
        text.push_str(itoa::Buffer::new().format(micros / 1000));
        text.push('.');
        text.push_str(&itoa::Buffer::new().format(1000 + micros % 1000)[1..]);
    }
    text
}
