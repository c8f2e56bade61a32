//! The access line.

use std::sync::Arc;
use std::time::Instant;

use axum::http::{Method, StatusCode};
use tracing::Level;

use super::context::{RequestContext, SpanId, TraceId};
use super::metrics::HttpMetrics;
use super::problem_response::name_of;
use super::server_span::ServerSpan;
use crate::http::routes_table::Route;

/// The access line of a request. `Drop` logs the line, counts the request and ends its span. A request whose client
/// disconnects therefore has a line too.
pub(crate) struct AccessLine {
    metrics: Arc<HttpMetrics>,
    started: Instant,
    pub(crate) method: Method,
    route: Option<&'static Route>,
    pub(crate) context: RequestContext,
    pub(crate) server_span: ServerSpan,
    /// Status of the response. It is 499 until the response is ready or the stream has ended, in case the client
    /// disconnects.
    pub(crate) status: StatusCode,
    /// Slug of the problem, if the response is a problem document.
    pub(crate) problem: Option<&'static str>,
}

impl AccessLine {
    pub(crate) fn request_id(&self) -> &str {
        self.context.request_id.as_str()
    }

    /// Opens the access line of a request and starts its clock.
    pub(crate) fn open(
        metrics: Arc<HttpMetrics>,
        method: Method,
        route: Option<&'static Route>,
        context: RequestContext,
        server_span: ServerSpan,
    ) -> Self {
        // nginx's status for a client that closed the connection before the response.
        let status = StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST);
        Self { metrics, started: Instant::now(), method, route, context, server_span, status, problem: None }
    }
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        let elapsed = self.started.elapsed();
        let path = self.route.map(|route| route.path);
        self.metrics.record(&self.method, path, self.status, elapsed);
        self.server_span.end(self.status);
        macro_rules! line {
            ($level:expr) => {
                tracing::event!(
                    target: "taquin::access",
                    $level,
                    message = "request finished",
                    http.method = name_of(&self.method),
                    http.route = path,
                    http.status = self.status.as_u16(),
                    http.problem = self.problem,
                    http.request_id = self.context.request_id.as_str(),
                    trace_id = self.context.trace_id.as_ref().map(TraceId::as_str),
                    span_id = self.context.span_id.as_ref().map(SpanId::as_str),
                    elapsed_us = elapsed.as_micros() as u64,
                )
            };
        }
        if self.route.is_some_and(|route| route.probe) { line!(Level::DEBUG) } else { line!(Level::INFO) }
    }
}
