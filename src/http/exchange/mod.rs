//! The layers around every route that are the service's own, and the parts of others. `router` lists all layers.

mod access_log;
mod base_path;
mod context;
mod head;
mod metrics;
mod problem_response;
#[cfg(feature = "otel")]
mod server_span;

use std::convert::Infallible;

use axum::http::{HeaderValue, Request, header};
use axum::response::Response;
use tower::Service;

pub(crate) use access_log::{AccessLine, access_log};
pub(crate) use base_path::BasePath;
pub(crate) use context::{RandomId, X_REQUEST_ID, remove_invalid_id};
pub(crate) use head::check as check_head;
pub(crate) use metrics::HttpMetrics;
pub(crate) use problem_response::{instance, panicked, problem_documents};

/// A service that responds to every request, as routers do, and layers around them.
pub trait InfallibleService<B>:
    Service<Request<B>, Response = Response, Error = Infallible, Future: Send + 'static> + Send + 'static
{
}

impl<B, S> InfallibleService<B> for S where
    S: Service<Request<B>, Response = Response, Error = Infallible, Future: Send + 'static> + Send + 'static
{
}

/// `Vary` of a response: `Accept`, and the values of inner layers, in one header line.
pub(crate) fn vary_by_accept(response: &Response) -> Option<HeaderValue> {
    let accept = HeaderValue::from_static("Accept");
    if !response.headers().contains_key(header::VARY) {
        return Some(accept);
    }
    let others = response.headers().get_all(header::VARY).iter().filter_map(|value| value.to_str().ok());
    let all = HeaderValue::try_from(["Accept"].into_iter().chain(others).collect::<Vec<_>>().join(", "));
    Some(all.unwrap_or(accept))
}

/// Builds without the feature `otel`: requests have no spans of OpenTelemetry.
#[cfg(not(feature = "otel"))]
mod server_span {
    use std::future::Future;

    use axum::http::{HeaderMap, Request, StatusCode};

    use super::context::RequestContext;

    /// A span that does nothing.
    pub(super) struct ServerSpan;

    impl ServerSpan {
        pub(super) fn begin<B>(_: bool, _: &Request<B>, _: Option<&str>, _: &mut RequestContext) -> Self {
            Self
        }

        pub(super) fn around<F: Future>(&self, exchange: F) -> F {
            exchange
        }

        pub(super) fn add_traceresponse(&self, _: &mut HeaderMap) {}

        pub(super) fn end(&self, _: StatusCode) {}
    }
}
