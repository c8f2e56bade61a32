//! The access line, with the spans and metrics of a request.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Extensions, Method, StatusCode};
use futures_util::TryFutureExt;
use parking_lot::Mutex;
use taquin_solver::{Named, Size};
use tower::layer::layer_fn;
use tower::{Layer, service_fn};
use tracing::{Instrument, Level, Span};

use super::InfallibleService;
use super::context::{RequestContext, X_REQUEST_ID};
use super::metrics::HttpMetrics;
use super::server_span::ServerSpan;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::routes_table::{Route, Routes};
use crate::service::{Answer, Origin, Report};

/// Writes an access line for each request, counts it, has its log within a span, and returns its id. `traces`: requests
/// have spans for OpenTelemetry too.
pub(crate) fn access_log<S: InfallibleService<Body>>(
    metrics: HttpMetrics,
    routes: Routes,
    traces: bool,
) -> impl Layer<S, Service = impl InfallibleService<Body>> {
    // Connections do not contend for the reference count of this copy.
    let metrics = Arc::new(metrics);
    layer_fn(move |mut inner: S| {
        let (metrics, routes) = (Arc::clone(&metrics), routes.clone());
        service_fn(move |mut request: Request| {
            let route = routes.find(request.uri().path());
            let line = AccessLine::open(Arc::clone(&metrics), route, traces, &request);
            request.extensions_mut().insert(line.clone());
            let response = line.0.server_span.around(inner.call(request)).instrument(span_of(&line.0.context));
            // An async block would occupy memory for the inner future twice.
            response.map_ok(move |mut response| {
                line.respond(response.status());
                let headers = response.headers_mut();
                if let Some(id) = line.0.context.request_id.clone() {
                    headers.insert(X_REQUEST_ID, id.into_header_value());
                }
                line.0.server_span.add_traceresponse(headers);
                response
            })
        })
    })
}

/// The log span of a request. Its level is ERROR, so that lines of every level have the request id.
fn span_of(context: &RequestContext) -> Span {
    tracing::error_span!(
        target: "taquin::http",
        "request",
        http.request_id = context.request_id(),
        trace_id = context.trace_id.as_deref(),
        span_id = context.span_id.as_deref(),
    )
}

/// The access line of a request, in the extensions of the request. It is logged when its last owner is dropped: the
/// layer, or the body of a stream. A request whose client disconnects therefore has a line too.
#[derive(Clone)]
pub(crate) struct AccessLine(Arc<Line>);

struct Line {
    metrics: Arc<HttpMetrics>,
    started: Instant,
    method: Method,
    route: Option<&'static Route>,
    context: RequestContext,
    server_span: ServerSpan,
    outcome: Mutex<Outcome>,
}

struct Outcome {
    /// Status of the response. It is 499 until the response is ready or the stream has ended, in case the client
    /// disconnects.
    status: StatusCode,
    /// The problem, if the response is a problem document.
    problem: Option<ProblemKind>,
    /// The search of the request, if it has no line of its own.
    search: Option<(Size, Arc<Report>)>,
    /// True if the body owns the line, and sets the status.
    is_streamed: bool,
}

impl AccessLine {
    /// Opens the access line of a request and starts its clock.
    fn open(metrics: Arc<HttpMetrics>, route: Option<&'static Route>, traces: bool, request: &Request) -> Self {
        let (mut context, method) = (RequestContext::read(request), request.method().clone());
        let is_traced = traces && !route.is_some_and(|route| route.probe);
        let server_span = ServerSpan::begin(is_traced, request, route.map(|route| route.path), &mut context);
        // nginx's status for a client that closed the connection before the response.
        let status = StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST);
        let outcome = Mutex::new(Outcome { status, problem: None, search: None, is_streamed: false });
        Self(Arc::new(Line { metrics, started: Instant::now(), method, route, context, server_span, outcome }))
    }

    /// The line of a request with these extensions.
    ///
    /// # Errors
    /// `internal` without the layer, which is a bug.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Self, Problem> {
        extensions.get().ok_or_else(Problem::internal)
    }

    /// The line for the body of a stream, which sets the status in the end.
    pub(crate) fn for_stream(&self) -> Self {
        self.0.outcome.lock().is_streamed = true;
        self.clone()
    }

    pub(crate) fn request_id(&self) -> &str {
        self.0.context.request_id()
    }

    pub(super) fn method(&self) -> &Method {
        &self.0.method
    }

    /// Sets the status of a whole response.
    fn respond(&self, status: StatusCode) {
        let mut outcome = self.0.outcome.lock();
        if !outcome.is_streamed {
            outcome.status = status;
        }
    }

    /// Sets the problem of the response.
    pub(crate) fn fail(&self, problem: ProblemKind) {
        self.0.outcome.lock().problem = Some(problem);
    }

    /// Notes that a stream, whose status is 200, has reached its end.
    pub(crate) fn end_stream(&self) {
        self.0.outcome.lock().status = StatusCode::OK;
    }

    /// Adds the search of the request, unless it has a line of its own.
    pub(crate) fn add_search(&self, size: Size, Answer { report, origin }: &Answer) {
        if *origin == Origin::AtOnce {
            self.0.outcome.lock().search = Some((size, Arc::clone(report)));
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let elapsed = self.started.elapsed();
        let path = self.route.map(|route| route.path);
        let Outcome { status, problem, search, .. } = self.outcome.get_mut();
        self.metrics.record(&self.method, path, *status, elapsed);
        self.server_span.end(*status);
        let (size, report) = search.as_ref().map(|(size, report)| (size.name(), &**report)).unzip();
        macro_rules! line {
            ($level:expr) => {
                tracing::event!(
                    target: "taquin::access",
                    $level,
                    message = "request finished",
                    http.method = name_of(&self.method),
                    http.route = path,
                    http.status = status.as_u16(),
                    http.problem = problem.map(ProblemKind::slug),
                    http.request_id = self.context.request_id(),
                    trace_id = self.context.trace_id.as_deref(),
                    span_id = self.context.span_id.as_deref(),
                    elapsed_us = elapsed.as_micros() as u64,
                    puzzle.size = size,
                    search.algorithm = report.map(|report| report.algorithm.name()),
                    search.heuristic = report.map(|report| report.heuristic.name()),
                    search.expanded = report.map(|report| report.stats.expanded),
                    search.generated = report.map(|report| report.stats.generated),
                    search.nodes_held = report.map(|report| report.stats.nodes_held),
                    search.length = report.and_then(|report| report.length()),
                    search.lower_bound = report.map(|report| report.lower_bound),
                    search.elapsed_us = report.map(|report| report.elapsed.as_micros() as u64),
                    job.queued_us = report.map(|report| report.queued.as_micros() as u64),
                    job.outcome = report.map(Report::outcome),
                )
            };
        }
        if self.route.is_some_and(|route| route.probe) { line!(Level::DEBUG) } else { line!(Level::INFO) }
    }
}

/// The name of a method, truncated to the length of the longest registered name, because clients can send any name.
pub(crate) fn name_of(method: &Method) -> &str {
    // UPDATEREDIRECTREF.
    const LONGEST: usize = 17;
    method.as_str().get(..LONGEST).unwrap_or(method.as_str())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt;

    use axum::Router;
    use axum::routing::get;
    use tower::Service as _;
    use tracing::field::{Field, Visit};
    use tracing::{Event, Subscriber};
    use tracing_subscriber::layer::{self, Context, SubscriberExt};

    use super::*;
    use crate::http::tests::serving;

    type Line = (Level, BTreeMap<String, String>);

    /// Collects the access lines of the current thread.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<Line>>>);

    impl<S: Subscriber> layer::Layer<S> for Lines {
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
        let mut router = serving(routes).for_connection();
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let request = Request::get(path).header("host", "x");
        let request = request.header("x-request-id", "abc").header("traceparent", traceparent);
        let response = router.call(request.body(Body::empty()).unwrap());
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
