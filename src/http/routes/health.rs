//! Probes. They do not wait for searches.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, negotiate};
use crate::http::problem::{Problem, ProblemKind};
use crate::service::Service;

/// Liveness: the process runs and responds.
pub(crate) async fn livez(headers: HeaderMap) -> Response {
    ok(&headers)
}

/// Readiness: the instance accepts new work.
pub(crate) async fn readyz(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    let (kind, detail) = if service.is_draining() {
        (ProblemKind::ShuttingDown, "This instance is shutting down.")
    } else if !service.is_ready() {
        (ProblemKind::Overloaded, "This instance is starting: its tables are still being built.")
    } else {
        return Ok(ok(&headers));
    };
    Err(Problem::new(kind, detail).with_retry_after(1))
}

/// Ignores `Accept`, so that a load balancer never removes an instance because of a header.
fn ok(headers: &HeaderMap) -> Response {
    let (media_type, body) = match negotiate(headers, &[MediaType::Json, MediaType::Text]) {
        Some(MediaType::Text) => (MediaType::Text, "ok\n"),
        _ => (MediaType::Json, r#"{"status":"ok"}"#),
    };
    Document::new(media_type.content_type(), Document::NO_STORE, body).response(headers)
}
