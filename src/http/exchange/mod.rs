//! The outermost layer: what every exchange has, whichever route answers it.
//!
//! It reads or makes the [`RequestContext`], writes the problem document of every failure, sets
//! the headers that all answers share, and writes one access line. One layer does it all, and stands
//! around the router as a whole: within, a layer costs some allocations per request.

mod context;
pub(crate) mod metrics;
#[cfg_attr(not(feature = "otel"), path = "no_server_span.rs")]
mod server_span;

use std::borrow::Cow;
use std::convert::Infallible;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, HttpBody};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{BoxError, Router};
use bytes::Bytes;
use futures_util::FutureExt;
use tower::Service;
use tracing::{Instrument, Level, Span};

pub(crate) use context::X_REQUEST_ID;
use context::{RequestContext, SpanId, TraceId};
pub use metrics::HttpMetrics;
use server_span::ServerSpan;

use crate::http::negotiation::{Offer, negotiate};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::routes::solve::{self, Live};
use crate::http::routes_table::{Known, route_of};
use crate::service::Metrics;

/// A router with what every exchange has. Each connection has a copy, so that what counts the
/// references to it is no more than its own exchanges write to.
#[derive(Clone, Debug)]
pub struct Conducted {
    pub(crate) routes: Router,
    pub(crate) known: Known,
    pub(crate) metrics: HttpMetrics,
    /// Whether exchanges leave spans.
    pub(crate) traces: bool,
}

impl Conducted {
    /// Answers a request, come what may.
    pub fn answer<B>(
        self: &Arc<Self>,
        request: Request<B>,
    ) -> impl Future<Output = Result<Response, Infallible>> + Send + use<B>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        conduct(Arc::clone(self), request)
    }
}

async fn conduct<B>(conducted: Arc<Conducted>, request: Request<B>) -> Result<Response, Infallible>
where
    B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let route = route_of(&conducted.known, request.uri().path());
    let mut context = RequestContext::read(request.headers());
    let leaves_span = conducted.traces && !is_probe(route);
    let server_span = ServerSpan::begin(leaves_span, &request, route, &mut context);
    let mut line = AccessLine::open(Arc::clone(&conducted), request.method().clone(), route, context, server_span);
    let uri = request.uri().clone();
    let has_body = !request.body().is_end_stream();
    let accepts = accepts(request.headers());
    let span = span_of(&line.context);
    let id = HeaderValue::from_str(line.context.request_id.as_str());

    // What a panic leaves half done is dropped with it.
    let answer = AssertUnwindSafe(conducted.routes.clone().call(request)).catch_unwind();
    let mut response = match line.server_span.around(answer).instrument(span).await {
        Ok(answered) => answered?,
        Err(_) => panicked(line.conducted.metrics.house()),
    };
    if let Some(problem) = problem_of(&mut response, &line.method) {
        let format = negotiate(&accepts, &[Offer::Json, Offer::Text]).unwrap_or(Offer::Json);
        write(&problem, &mut response, &uri, format, &line);
        line.problem = Some(problem.kind.slug());
    }
    let status = response.status();
    let headers = response.headers_mut();
    if let Ok(id) = id {
        headers.insert(X_REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if has_body && leaves_body(&line.method, status) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    vary_by_accept(headers);
    line.server_span.name_in(headers);
    line.close(&mut response, &uri);
    Ok(response)
}

/// Whether the body of a request with that answer was left to nobody by the routes: the connection then ends, and a client
/// that is told so sends nothing more on it. Who gives up before a body is read whole says so (`extract`).
fn leaves_body(method: &Method, status: StatusCode) -> bool {
    method != Method::POST || matches!(status.as_u16(), 401 | 404 | 405 | 429)
}

/// What lines of the log have around them. At the highest level, so that a line of any level finds the
/// id.
fn span_of(context: &RequestContext) -> Span {
    tracing::error_span!(
        target: "taquin::http",
        "request",
        http.request_id = context.request_id.as_str(),
        trace_id = context.trace_id.as_ref().map(TraceId::as_str),
        span_id = context.span_id.as_ref().map(SpanId::as_str),
    )
}

/// What a request says of the types that it takes; nothing, and no memory, where it says nothing.
fn accepts(headers: &HeaderMap) -> HeaderMap {
    headers.get_all(header::ACCEPT).iter().map(|value| (header::ACCEPT, value.clone())).collect()
}

/// Adds `Accept` to what the answer depends on, in one line with whatever a layer below has said.
fn vary_by_accept(headers: &mut HeaderMap) {
    if !headers.contains_key(header::VARY) {
        headers.insert(header::VARY, HeaderValue::from_static("Accept"));
        return;
    }
    let others: Vec<&str> = headers.get_all(header::VARY).iter().filter_map(|value| value.to_str().ok()).collect();
    let all = HeaderValue::try_from(format!("Accept, {}", others.join(", ")));
    headers.insert(header::VARY, all.unwrap_or(HeaderValue::from_static("Accept")));
}

/// What a response failed of, in whatever way it says so.
fn problem_of(response: &mut Response, method: &Method) -> Option<Problem> {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    Some(response.extensions_mut().remove::<Problem>().unwrap_or_else(|| {
        let kind = ProblemKind::from_status(status);
        let detail = match kind {
            ProblemKind::NotFound => "No resource has this path. `GET /` lists the paths.".to_owned(),
            ProblemKind::MethodNotAllowed => {
                format!(
                    "This path does not support {}. The `Allow` header lists the supported methods.",
                    name_of(method)
                )
            }
            _ => format!("{}.", status.canonical_reason().unwrap_or(kind.title())),
        };
        Problem::new(kind, detail)
    }))
}

fn write(problem: &Problem, response: &mut Response, uri: &Uri, format: Offer, line: &AccessLine) {
    let id = line.context.request_id.as_str();
    let content_type = if format == Offer::Text { format.content_type() } else { "application/problem+json" };
    let document = problem.document(format, &instance(uri), id);
    *response.status_mut() = problem.kind.status();
    let headers = response.headers_mut();
    match document.length() {
        Some(length) => headers.insert(header::CONTENT_LENGTH, length.into()),
        None => headers.remove(header::CONTENT_LENGTH),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    *response.body_mut() = if line.method == Method::HEAD { Body::empty() } else { document.body() };
}

/// The path as a reference, whatever bytes it was sent with.
fn instance(uri: &Uri) -> Cow<'_, str> {
    // A request for a host instead of a path has none.
    let path = if uri.path().is_empty() { "/" } else { uri.path() };
    let is_encoded =
        |at: usize| path.as_bytes().get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit));
    let is_plain = |at: usize, byte: u8| match byte {
        b'%' => is_encoded(at),
        _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte),
    };
    let is_authority = path.starts_with("//");
    if !is_authority && path.bytes().enumerate().all(|(at, byte)| is_plain(at, byte)) {
        return path.into();
    }
    let encoded = path.bytes().enumerate().map(|(at, byte)| match byte {
        byte if is_plain(at, byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    // Two slashes would begin with a host.
    let before = if is_authority { "/." } else { "" };
    (before.to_owned() + &encoded.collect::<String>()).into()
}

/// The answer in place of one that panicked; the panic hook has logged why.
pub(crate) fn panicked(metrics: &Metrics) -> Response {
    metrics.panicked();
    Problem::internal().into_response()
}

/// A method as it is told: of one that nobody defines, whose name a client may choose, so much as any defined one has.
fn name_of(method: &Method) -> &str {
    // UPDATEREDIRECTREF is the longest.
    const LONGEST: usize = 17;
    method.as_str().get(..LONGEST).unwrap_or(method.as_str())
}

/// Whether it is asked for every few seconds by whoever looks after the service.
fn is_probe(route: Option<&str>) -> bool {
    matches!(route, Some("/livez" | "/readyz" | "/healthz" | "/metrics"))
}

/// Writes and counts itself, and ends the span, when it goes out of scope, so that a request whose client has gone has a line too.
pub(crate) struct AccessLine {
    conducted: Arc<Conducted>,
    started: Instant,
    method: Method,
    route: Option<&'static str>,
    context: RequestContext,
    server_span: ServerSpan,
    /// That of the answer; until it is there, and while it goes on, that of a client who has gone.
    pub(crate) status: StatusCode,
    /// What kind of problem the answer tells, if it is one.
    pub(crate) problem: Option<&'static str>,
}

impl AccessLine {
    /// Ends with the answer: now, or when the last of it was written.
    fn close(mut self, response: &mut Response, uri: &Uri) {
        match Live::taken_from(response) {
            Some(feed) => *response.body_mut() = solve::body(feed, self, instance(uri).into_owned()),
            None => self.status = response.status(),
        }
    }

    pub(crate) fn request_id(&self) -> &str {
        self.context.request_id.as_str()
    }

    fn open(
        conducted: Arc<Conducted>,
        method: Method,
        route: Option<&'static str>,
        context: RequestContext,
        server_span: ServerSpan,
    ) -> Self {
        // The client closed the connection before there was an answer, in nginx's words.
        let status = StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST);
        Self { conducted, started: Instant::now(), method, route, context, server_span, status, problem: None }
    }
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        let elapsed = self.started.elapsed();
        self.conducted.metrics.answered(&self.method, self.route, self.status, elapsed);
        self.server_span.end(self.status);
        macro_rules! line {
            ($level:expr) => {
                tracing::event!(
                    target: "taquin::access",
                    $level,
                    message = "answered",
                    http.method = name_of(&self.method),
                    http.route = self.route,
                    http.status = self.status.as_u16(),
                    http.problem = self.problem,
                    http.request_id = self.context.request_id.as_str(),
                    trace_id = self.context.trace_id.as_ref().map(TraceId::as_str),
                    span_id = self.context.span_id.as_ref().map(SpanId::as_str),
                    elapsed_us = elapsed.as_micros() as u64,
                )
            };
        }
        if is_probe(self.route) { line!(Level::DEBUG) } else { line!(Level::INFO) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fmt;
    use std::sync::{Arc, Mutex};

    use axum::Router;
    use axum::routing::get;
    use tracing::field::{Field, Visit};
    use tracing::{Event, Subscriber};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

    use super::*;
    use crate::http::routes_table::ROUTES;

    type Line = (Level, BTreeMap<String, String>);

    /// Keeps the access lines of the current thread.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<Line>>>);

    impl<S: Subscriber> Layer<S> for Lines {
        fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
            if event.metadata().target() == "taquin::access" {
                let mut fields = Fields::default();
                event.record(&mut fields);
                self.0.lock().unwrap().push((*event.metadata().level(), fields.0));
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

    /// The line that a request to a path leaves; it is dropped after a moment without an answer.
    async fn line_of(path: &str) -> Line {
        let lines = Lines::default();
        let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(lines.clone()));
        let routes =
            Router::new().route("/livez", get(async || "")).route("/problems/{slug}", get(std::future::pending::<()>));
        let metrics = HttpMetrics::default();
        let conducted = Conducted { routes, known: ROUTES.into(), metrics, traces: false };
        let router = Arc::new(conducted);
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let request = Request::get(path).header("x-request-id", "abc").header("traceparent", traceparent);
        let answer = router.answer(request.body(Body::empty()).unwrap());
        let _ = tokio::time::timeout(std::time::Duration::from_millis(20), answer).await;
        let lines = lines.0.lock().unwrap();
        assert_eq!(lines.len(), 1, "one line for one request: {lines:?}");
        lines[0].clone()
    }

    #[tokio::test]
    async fn every_request_leaves_one_line_with_its_id_and_trace() {
        let (level, fields) = line_of("/nowhere").await;
        assert_eq!(level, Level::INFO);
        assert_eq!((fields["http.method"].as_str(), fields["http.status"].as_str()), ("GET", "404"));
        assert_eq!(fields["http.problem"], "not-found");
        assert_eq!(fields["http.request_id"], "abc");
        assert_eq!(fields["trace_id"], "0af7651916cd43dd8448eb211c80319c");
        assert!(!fields.contains_key("http.route"), "an unknown path is not written down");
    }

    #[test]
    fn a_method_is_told_as_far_as_any_that_is_defined() {
        let made_up = Method::from_bytes("MADEUP-".repeat(900).as_bytes()).unwrap();
        assert_eq!((name_of(&made_up), name_of(&Method::GET)), ("MADEUP-MADEUP-MAD", "GET"));
    }

    #[tokio::test]
    async fn probes_leave_their_line_at_debug() {
        let (level, fields) = line_of("/livez").await;
        assert_eq!((level, fields["http.route"].as_str()), (Level::DEBUG, "/livez"));
        assert!(!fields.contains_key("http.problem"));
    }

    #[tokio::test]
    async fn a_request_whose_client_has_gone_is_a_499() {
        let (_, fields) = line_of("/problems/7").await;
        assert_eq!((fields["http.status"].as_str(), fields["http.route"].as_str()), ("499", "/problems/{slug}"));
    }
}
