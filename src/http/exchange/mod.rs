//! The outermost layer, common to all routes.
//!
//! It reads or creates the [`RequestContext`], writes the problem document of every failure, sets the headers common to
//! all responses, and writes one access line. It is one service around the whole router, because each layer inside the
//! router costs some allocations a request.

mod access_log;
mod base_path;
mod browser_guard;
mod context;
mod head;
mod metrics;
mod problem_response;
#[cfg_attr(not(feature = "otel"), path = "no_server_span.rs")]
mod server_span;

use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::HttpBody;
use axum::http::{HeaderMap, HeaderValue, Request, header};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use bytes::Bytes;
use futures_util::FutureExt;
use tower::Service;
use tracing::{Instrument, Span};

use super::media_type::MediaType;
use super::negotiation::negotiate;
use super::routes_table::{Route, Routes};
use crate::service;
pub(crate) use access_log::AccessLine;
pub(crate) use base_path::BasePath;
pub(crate) use browser_guard::BrowserGuard;
pub(crate) use context::X_REQUEST_ID;
use context::{RequestContext, SpanId, TraceId};
pub(crate) use metrics::HttpMetrics;
pub(crate) use problem_response::{instance, panicked};
use problem_response::{problem_of, write};
use server_span::ServerSpan;

/// The HTTP service of a listener: a router inside the outermost layer.
#[derive(Clone, Debug)]
pub struct HttpService {
    router: Router,
    routes: Routes,
    browsers: Arc<BrowserGuard>,
    base_path: Arc<BasePath>,
    metrics: Arc<HttpMetrics>,
    service: Arc<service::Service>,
    /// True if a span is recorded for each request.
    traces: bool,
}

impl HttpService {
    pub(crate) fn new(
        router: Router,
        routes: Routes,
        metrics: HttpMetrics,
        service: Arc<service::Service>,
        traces: bool,
    ) -> Self {
        let (browsers, base_path) = (Arc::new(BrowserGuard::off()), Arc::default());
        Self { router, routes, browsers, base_path, metrics: Arc::new(metrics), service, traces }
    }

    /// Serves requests also below a path.
    #[must_use]
    pub(crate) fn with_base_path(self, base_path: BasePath) -> Self {
        Self { base_path: Arc::new(base_path), ..self }
    }

    /// Rejects requests that browsers send for other pages than those that the guard allows.
    #[must_use]
    pub(crate) fn with_browser_guard(self, guard: BrowserGuard) -> Self {
        Self { browsers: Arc::new(guard), ..self }
    }

    /// Returns a copy for one connection. Its reference counts are not contended by other connections.
    pub fn for_connection(&self) -> Arc<Self> {
        Arc::new(Self { metrics: Arc::new(HttpMetrics::clone(&self.metrics)), ..self.clone() })
    }

    /// Responds to a request. It never fails: a panic becomes a problem document.
    pub fn respond<B>(
        self: &Arc<Self>,
        request: Request<B>,
    ) -> impl Future<Output = Result<Response, Infallible>> + Send + use<B>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        respond(Arc::clone(self), request)
    }
}

async fn respond<B>(service: Arc<HttpService>, mut request: Request<B>) -> Result<Response, Infallible>
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    service.base_path.strip(&mut request);
    let route = service.routes.find(request.uri().path());
    let mut context = RequestContext::read(request.headers());
    let is_traced = service.traces && !route.is_some_and(|route| route.probe);
    let server_span = ServerSpan::begin(is_traced, &request, route.map(|route| route.path), &mut context);
    let line = AccessLine::open(Arc::clone(&service.metrics), request.method().clone(), route, context, server_span);
    request.extensions_mut().insert(line.clone());
    let uri = request.uri().clone();
    let accepts = accepts(request.headers());
    let span = span_of(line.context());

    let mut response = match rejection(&service, route, &request) {
        Some(response) => response,
        None => {
            // Unwind safety: all state of a panicked request is dropped with it.
            let response = AssertUnwindSafe(service.router.clone().call(request)).catch_unwind();
            match line.server_span().around(response).instrument(span).await {
                Ok(response) => response?,
                Err(_) => panicked(service.service.metrics()),
            }
        }
    };
    if let Some(problem) = problem_of(&mut response, line.method(), &service.routes) {
        let media_type = negotiate(&accepts, &[MediaType::Json, MediaType::Text]).unwrap_or(MediaType::Json);
        let kind = write(problem, &mut response, &uri, media_type, &line, &service.service);
        line.fail(kind);
    }
    line.respond(response.status());
    add_common_headers(response.headers_mut(), &line);
    Ok(response)
}

/// The response to a request whose head is not valid, or which the browser guard rejects. The guard counts the request.
fn rejection<B>(service: &HttpService, route: Option<&Route>, request: &Request<B>) -> Option<Response> {
    if let Err(problem) = head::check(request.version(), request.headers()) {
        return Some(problem.into_response());
    }
    if let Some(redirect) = service.base_path.redirect(request) {
        return Some(redirect);
    }
    let (reason, problem) = service.browsers.rejection(route, request)?;
    service.service.metrics().refused(reason);
    Some(problem.into_response())
}

/// The log span of a request. Its level is ERROR, so that lines of every level have the request id.
fn span_of(context: &RequestContext) -> Span {
    tracing::error_span!(
        target: "taquin::http",
        "request",
        http.request_id = context.request_id.as_str(),
        trace_id = context.trace_id.as_ref().map(TraceId::as_str),
        span_id = context.span_id.as_ref().map(SpanId::as_str),
    )
}

/// Copies the `Accept` headers of a request. It allocates nothing if there are none.
fn accepts(headers: &HeaderMap) -> HeaderMap {
    headers.get_all(header::ACCEPT).iter().map(|value| (header::ACCEPT, value.clone())).collect()
}

/// Adds the headers that every response has.
fn add_common_headers(headers: &mut HeaderMap, line: &AccessLine) {
    if let Ok(id) = HeaderValue::from_str(line.request_id()) {
        headers.insert(X_REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    vary_by_accept(headers);
    line.server_span().add_traceresponse(headers);
}

/// Adds `Accept` to `Vary`, merged with the values of inner layers into one header line.
fn vary_by_accept(headers: &mut HeaderMap) {
    if !headers.contains_key(header::VARY) {
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        return;
    }
    let others: Vec<&str> = headers.get_all(header::VARY).iter().filter_map(|value| value.to_str().ok()).collect();
    let all = HeaderValue::try_from(format!("Accept, {}", others.join(", ")));
    headers.insert(header::VARY, all.unwrap_or(HeaderValue::from_static("Accept")));
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use parking_lot::Mutex;
    use std::collections::BTreeMap;
    use std::fmt;
    use tracing::field::{Field, Visit};
    use tracing::{Event, Level, Subscriber};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    use super::*;
    use crate::http::tests::serving;

    type Line = (Level, BTreeMap<String, String>);

    /// Collects the access lines of the current thread.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<Line>>>);

    impl<S: Subscriber> Layer<S> for Lines {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            if event.metadata().target() == "taquin::access" {
                let mut fields = Fields::default();
                event.record(&mut fields);
                self.0.lock().push((*event.metadata().level(), fields.0));
            }
        }
    }

    #[derive(Default)]
    struct Fields(BTreeMap<String, String>);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            self.0.insert(field.name().to_owned(), format!("{value:?}"));
        }

        fn record_str(&mut self, field: &Field, value: &str) {
            self.0.insert(field.name().to_owned(), value.to_owned());
        }
    }

    /// Returns the access line of a request to a path. The request is dropped after 20 ms without a response.
    async fn line_of(path: &str) -> Line {
        let lines = Lines::default();
        let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
        let routes =
            Router::new().route("/livez", get(async || "")).route("/problems/{slug}", get(std::future::pending::<()>));
        let router = Arc::new(serving(routes));
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let request = Request::get(path).header("host", "x");
        let request = request.header("x-request-id", "abc").header("traceparent", traceparent);
        let response = router.respond(request.body(Body::empty()).unwrap());
        let _ = tokio::time::timeout(std::time::Duration::from_millis(20), response).await;
        let lines = lines.0.lock();
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0].clone()
    }

    #[tokio::test]
    async fn a_request_has_one_line_with_its_id_and_trace() {
        let (level, fields) = line_of("/nowhere").await;
        assert_eq!(level, Level::INFO);
        assert_eq!((fields["http.method"].as_str(), fields["http.status"].as_str()), ("GET", "404"));
        assert_eq!(fields["http.problem"], "not-found");
        assert_eq!(fields["http.request_id"], "abc");
        assert_eq!(fields["trace_id"], "0af7651916cd43dd8448eb211c80319c");
        assert!(!fields.contains_key("http.route"), "an unknown path is not logged");
    }

    #[tokio::test]
    async fn probes_are_logged_at_debug() {
        let (level, fields) = line_of("/livez").await;
        assert_eq!((level, fields["http.route"].as_str()), (Level::DEBUG, "/livez"));
        assert!(!fields.contains_key("http.problem"));
    }

    #[tokio::test]
    async fn a_request_whose_client_disconnected_has_status_499() {
        let (_, fields) = line_of("/problems/7").await;
        assert_eq!((fields["http.status"].as_str(), fields["http.route"].as_str()), ("499", "/problems/{slug}"));
    }
}
