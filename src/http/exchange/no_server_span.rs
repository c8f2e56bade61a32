//! Replaces `server_span` in builds without the feature `otel`: requests have no spans.

use std::future::Future;

use axum::http::{HeaderMap, Request, StatusCode};

use super::context::RequestContext;

/// A span that does nothing.
pub(crate) struct ServerSpan;

impl ServerSpan {
    pub(crate) fn begin<B>(_: bool, _: &Request<B>, _: Option<&str>, _: &mut RequestContext) -> Self {
        Self
    }

    pub(crate) fn around<F: Future>(&self, exchange: F) -> F {
        exchange
    }

    pub(crate) fn add_traceresponse(&self, _: &mut HeaderMap) {}

    pub(crate) fn end(&self, _: StatusCode) {}
}
