//! The access line.

use std::sync::Arc;
use std::time::Instant;

use axum::http::{Extensions, Method, StatusCode};
use parking_lot::Mutex;
use taquin_solver::{Named, Size};
use tracing::Level;

use super::context::{RequestContext, SpanId, TraceId};
use super::metrics::HttpMetrics;
use super::server_span::ServerSpan;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::routes_table::Route;
use crate::service::{Answer, Origin, Report};

/// The access line of a request, in the extensions of the request. It is logged when its last owner is dropped: the
/// outer layer, or the body of a stream. A request whose client disconnects therefore has a line too.
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
    pub(crate) fn open(
        metrics: Arc<HttpMetrics>,
        method: Method,
        route: Option<&'static Route>,
        context: RequestContext,
        server_span: ServerSpan,
    ) -> Self {
        // nginx's status for a client that closed the connection before the response.
        let status = StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST);
        let outcome = Mutex::new(Outcome { status, problem: None, search: None, is_streamed: false });
        Self(Arc::new(Line { metrics, started: Instant::now(), method, route, context, server_span, outcome }))
    }

    /// The line of a request with these extensions.
    ///
    /// # Errors
    /// `internal` without the outer layer, which is a bug.
    pub(crate) fn of(extensions: &Extensions) -> Result<&Self, Problem> {
        extensions.get().ok_or_else(Problem::internal)
    }

    /// The line for the body of a stream, which sets the status in the end.
    pub(crate) fn for_stream(&self) -> Self {
        self.0.outcome.lock().is_streamed = true;
        self.clone()
    }

    pub(crate) fn request_id(&self) -> &str {
        self.0.context.request_id.as_str()
    }

    pub(super) fn context(&self) -> &RequestContext {
        &self.0.context
    }

    pub(super) fn server_span(&self) -> &ServerSpan {
        &self.0.server_span
    }

    pub(super) fn method(&self) -> &Method {
        &self.0.method
    }

    /// Sets the status of a whole response.
    pub(super) fn respond(&self, status: StatusCode) {
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
                    http.request_id = self.context.request_id.as_str(),
                    trace_id = self.context.trace_id.as_ref().map(TraceId::as_str),
                    span_id = self.context.span_id.as_ref().map(SpanId::as_str),
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
