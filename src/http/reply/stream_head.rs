//! The head of a streamed response.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::empty;

use crate::http::media_type::MediaType;

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
