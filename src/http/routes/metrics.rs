//! `/metrics`: metrics for Prometheus.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use prometheus_client::encoding::text::encode;

use crate::http::media_type::MediaType;
use crate::http::negotiation::Document;
use crate::http::problem::Problem;
use crate::http::state::AppState;

/// Returns the metrics as OpenMetrics 1.0. The content type is `text/plain` unless `Accept` names OpenMetrics.
pub(crate) async fn metrics(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let mut text = String::with_capacity(1 << 14);
    encode(&mut text, state.registry()).map_err(|error| {
        tracing::error!(%error, "metrics cannot be written");
        Problem::internal()
    })?;
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let is_named = accepts.into_iter().any(|value| value.contains("application/openmetrics-text"));
    let content_type = if is_named { OPEN_METRICS } else { MediaType::Text.content_type() };
    Ok(Document::new(content_type, Document::NO_STORE, text).response(&headers))
}
