//! Metrics of requests: counts and durations.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Counts of requests by method, route and status, and durations by route.
///
/// Every label has a bounded number of values: routes are patterns, and all unknown methods share one label, as do all
/// unknown paths.
#[derive(Clone, Debug)]
pub(crate) struct HttpMetrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    requests: Family<RequestLabels, Counter>,
    /// The counters of frequent statuses, by route, method and status. They save the lookup in `requests`.
    frequent: Box<[OnceLock<Counter>]>,
    /// The label of each route; the last label is `none`, for unknown paths.
    routes: Vec<&'static str>,
    /// Durations in seconds, one histogram a route.
    seconds: Vec<Histogram>,
}

/// The most frequent statuses.
const FREQUENT: [StatusCode; 4] =
    [StatusCode::OK, StatusCode::UNPROCESSABLE_ENTITY, StatusCode::SERVICE_UNAVAILABLE, StatusCode::NOT_MODIFIED];

/// Values of the label `method`; the last one stands for all other methods.
const METHODS: [&str; 5] = ["GET", "POST", "HEAD", "OPTIONS", "other"];

#[derive(Clone, PartialEq, Eq, Hash, Debug, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    route: &'static str,
    status: u16,
}

/// Bucket bounds in seconds, from 0.1 ms to a minute.
const SECONDS: [f64; 14] = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0];

impl HttpMetrics {
    /// Registers the metrics of these routes.
    pub(crate) fn new(registry: &mut Registry, routes: impl Iterator<Item = &'static str>) -> Self {
        let requests = Family::default();
        let seconds = Family::<[(&str, &str); 1], Histogram, _>::new_with_constructor(|| Histogram::new(SECONDS));
        let own = registry.sub_registry_with_prefix("taquin");
        own.register("http_requests", "Requests by method, route and status", Family::clone(&requests));
        let help = "Time from the request's headers to the response's headers, or to the end of a stream";
        own.register("http_request_seconds", help, seconds.clone());
        let routes: Vec<&str> = routes.chain(["none"]).collect();
        let seconds = routes.iter().map(|route| seconds.get_or_create_owned(&[("route", *route)])).collect();
        let frequent = (0..routes.len() * METHODS.len() * FREQUENT.len()).map(|_| OnceLock::new()).collect();
        Self(Arc::new(Inner { requests, frequent, routes, seconds }))
    }

    /// Counts a request. `route` is the pattern that its path matches, if any.
    pub(crate) fn record(&self, method: &Method, route: Option<&str>, status: StatusCode, elapsed: Duration) {
        let inner = &*self.0;
        let named = |name: &str| inner.routes.iter().position(|route| *route == name);
        let route = route.and_then(named).unwrap_or(inner.routes.len() - 1);
        let method = METHODS.iter().position(|name| *name == method.as_str()).unwrap_or(METHODS.len() - 1);
        let counter = || {
            let labels = RequestLabels { method: METHODS[method], route: inner.routes[route], status: status.as_u16() };
            inner.requests.get_or_create_owned(&labels)
        };
        match FREQUENT.iter().position(|frequent| *frequent == status) {
            Some(at) => {
                inner.frequent[(route * METHODS.len() + method) * FREQUENT.len() + at].get_or_init(counter).inc()
            }
            None => counter().inc(),
        };
        inner.seconds[route].observe(elapsed.as_secs_f64());
    }
}
