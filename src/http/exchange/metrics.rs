//! `/metrics`, and what is counted of every exchange.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::http::problem::Problem;
use crate::http::routes_table::ROUTES;
use crate::service::Metrics;

/// Requests, by what they ask for and how they are answered.
///
/// Every label has few values, whatever clients send: routes are patterns, and what is unknown shares
/// a label.
#[derive(Clone, Debug)]
pub struct HttpMetrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    requests: Family<RequestLabels, Counter>,
    /// Those of them that most answers count, by route, method and status, so that none is looked for.
    usual: Box<[OnceLock<Counter>]>,
    /// By route.
    seconds: Vec<Histogram>,
    registry: Registry,
    house: Metrics,
}

/// Statuses of most answers.
const USUAL: [StatusCode; 4] =
    [StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::NOT_MODIFIED];

/// Methods that are told by name, and one for all others.
const METHODS: [&str; 5] = ["GET", "POST", "HEAD", "OPTIONS", "other"];

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

/// From a tenth of a millisecond to a minute.
const SECONDS: [f64; 14] = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0];

impl Default for HttpMetrics {
    fn default() -> Self {
        Self::new(Registry::default(), Metrics::default())
    }
}

impl HttpMetrics {
    /// To be told with what a registry knows already; refusals and panics are counted with the house's.
    pub fn new(mut registry: Registry, house: Metrics) -> Self {
        let requests = Family::default();
        let seconds = Family::<RouteLabel, Histogram, _>::new_with_constructor(|| Histogram::new(SECONDS));
        let own = registry.sub_registry_with_prefix("taquin");
        own.register("http_requests", "Requests by method, route and status", Family::clone(&requests));
        let help = "Time from the request's headers to the response's headers, or to the end of a stream";
        own.register("http_request_seconds", help, seconds.clone());
        let routes = ROUTES.into_iter().chain(["none"]);
        let seconds: Vec<Histogram> = routes.map(|route| seconds.get_or_create_owned(&RouteLabel { route })).collect();
        let usual = (0..seconds.len() * METHODS.len() * USUAL.len()).map(|_| OnceLock::new()).collect();
        Self(Arc::new(Inner { requests, usual, seconds, registry, house }))
    }

    pub(crate) fn house(&self) -> &Metrics {
        &self.0.house
    }

    /// Counts an exchange; `route` is the pattern that its path fits, if any does.
    pub(crate) fn answered(&self, method: &Method, route: Option<&str>, status: StatusCode, elapsed: Duration) {
        let inner = &*self.0;
        let named = |name: &str| ROUTES.iter().position(|route| *route == name);
        let route = route.and_then(named).unwrap_or(ROUTES.len());
        let method = METHODS.iter().position(|name| *name == method.as_str()).unwrap_or(METHODS.len() - 1);
        let counter = || {
            let route = ROUTES.get(route).copied().unwrap_or("none");
            let labels = RequestLabels { method: METHODS[method], route, status: status.as_u16() };
            inner.requests.get_or_create_owned(&labels)
        };
        match USUAL.iter().position(|usual| *usual == status) {
            Some(usual) => {
                inner.usual[(route * METHODS.len() + method) * USUAL.len() + usual].get_or_init(counter).inc();
            }
            None => {
                counter().inc();
            }
        }
        inner.seconds[route].observe(elapsed.as_secs_f64());
    }
}

/// Answers GET in the words of OpenMetrics 1.0, which Prometheus reads; to those who do not ask for it
/// by name they are plain text.
pub(crate) async fn answer(State(metrics): State<HttpMetrics>, headers: HeaderMap) -> Result<Response, Problem> {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    const PLAIN: &str = "text/plain; charset=utf-8";
    let mut text = String::with_capacity(1 << 14);
    encode(&mut text, &metrics.0.registry).map_err(|error| {
        tracing::error!(%error, "metrics cannot be written");
        Problem::internal()
    })?;
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let is_named = accepts.into_iter().any(|value| value.contains("application/openmetrics-text"));
    let content_type = HeaderValue::from_static(if is_named { OPEN_METRICS } else { PLAIN });
    let no_store = HeaderValue::from_static("no-store");
    Ok(([(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, no_store)], text).into_response())
}
