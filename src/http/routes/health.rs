//! Probes. They run independently of the searches: no queue, no permit.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::http::media_type::MediaType;
use crate::http::negotiation::negotiate;
use crate::http::problem::{Problem, ProblemKind};
use crate::service::Service;

/// Liveness: the process runs and responds.
pub(crate) async fn livez(headers: HeaderMap) -> Response {
    ok(&headers)
}

/// Readiness: the instance accepts new work.
pub(crate) async fn readyz(State(service): State<Arc<Service>>, headers: HeaderMap) -> Result<Response, Problem> {
    let refusal = if service.is_draining() {
        (ProblemKind::ShuttingDown, "This instance is shutting down.")
    } else if !service.is_ready() {
        (ProblemKind::Overloaded, "The tables are being built.")
    } else {
        return Ok(ok(&headers));
    };
    Err(Problem::new(refusal.0, refusal.1).with_retry_after(1))
}

/// Responds whatever `Accept` says, so that a load balancer never removes an instance because of a header.
fn ok(headers: &HeaderMap) -> Response {
    let (media_type, body) = match negotiate(headers, &[MediaType::Json, MediaType::Text]) {
        Some(MediaType::Text) => (MediaType::Text, "ok\n"),
        _ => (MediaType::Json, r#"{"status":"ok"}"#),
    };
    let no_store = HeaderValue::from_static("no-store");
    (
        [
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type.content_type())),
            (header::CACHE_CONTROL, no_store),
        ],
        body,
    )
        .into_response()
}
