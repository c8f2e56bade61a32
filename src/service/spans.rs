//! OpenTelemetry span of a search. The parent of the span is the span of the request that started the search. Builds
//! without the feature `otel` record no spans.

#[cfg(not(feature = "otel"))]
pub(crate) use disabled::{SearchSpan, TraceContext};
#[cfg(feature = "otel")]
pub(crate) use enabled::{SearchSpan, TraceContext};

#[cfg(feature = "otel")]
mod enabled {
    use opentelemetry::trace::{Span, Status, TraceContextExt, Tracer};
    use opentelemetry::{Context, KeyValue, global};
    use taquin_solver::{Named, SearchRequest};

    use crate::service::job::{Report, ServiceError};

    /// The trace context of the caller. The context can be moved to another thread.
    #[derive(Clone)]
    pub(crate) struct TraceContext(Context);

    impl TraceContext {
        pub(crate) fn current() -> Self {
            Self(Context::current())
        }

        /// Runs `work` with this context as the parent of new spans.
        pub(crate) fn in_scope<T>(self, work: impl FnOnce() -> T) -> T {
            let _guard = self.0.attach();
            work()
        }
    }

    /// The span of a search; empty if the trace of the caller is not sampled.
    pub(crate) struct SearchSpan(Option<global::BoxedSpan>);

    impl SearchSpan {
        pub(crate) fn begin() -> Self {
            Self(Context::map_current(|context| {
                let is_wanted = context.span().span_context().is_sampled();
                is_wanted.then(|| global::tracer(env!("CARGO_PKG_NAME")).start_with_context("search", context))
            }))
        }

        /// Ends the span. A report adds attributes to the span, and an error sets the status of the span.
        pub(crate) fn end(mut self, job: &SearchRequest, report: &Result<Report, ServiceError>) {
            let Some(span) = &mut self.0 else { return };
            span.set_attribute(KeyValue::new("puzzle.size", job.puzzle.size().to_string()));
            match report {
                Ok(report) => span.set_attributes(attributes(report)),
                Err(error) => span.set_status(Status::error(error.to_string())),
            }
        }
    }

    impl Drop for SearchSpan {
        fn drop(&mut self) {
            // Dropping the inner span ends the inner span, so this function only sets the status.
            if std::thread::panicking() {
                self.0.iter_mut().for_each(|span| span.set_status(Status::error("panicked")));
            }
        }
    }

    fn attributes(report: &Report) -> impl Iterator<Item = KeyValue> {
        let length = report.length().map(|length| length as i64);
        [
            KeyValue::new("search.algorithm", report.algorithm.name()),
            KeyValue::new("search.heuristic", report.heuristic.name()),
            KeyValue::new("search.expanded", report.stats.expanded as i64),
            KeyValue::new("search.generated", report.stats.generated as i64),
            KeyValue::new("search.lower_bound", i64::from(report.lower_bound)),
            KeyValue::new("job.queued_us", report.queued.as_micros() as i64),
            KeyValue::new("job.outcome", report.outcome()),
        ]
        .into_iter()
        .chain(length.map(|length| KeyValue::new("search.length", length)))
    }
}

#[cfg(not(feature = "otel"))]
mod disabled {
    use taquin_solver::SearchRequest;

    use crate::service::job::{Report, ServiceError};

    /// Replacement for the trace context of the caller.
    #[derive(Clone)]
    pub(crate) struct TraceContext;

    impl TraceContext {
        pub(crate) fn current() -> Self {
            Self
        }

        pub(crate) fn in_scope<T>(self, work: impl FnOnce() -> T) -> T {
            work()
        }
    }

    /// Replacement for the span of a search.
    pub(crate) struct SearchSpan;

    impl SearchSpan {
        pub(crate) fn begin() -> Self {
            Self
        }

        pub(crate) fn end(self, _: &SearchRequest, _: &Result<Report, ServiceError>) {}
    }
}
