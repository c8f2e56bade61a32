//! Stand-ins for builds without the `otel` feature; they record nothing.

use taquin_solver::SearchRequest;

use crate::service::job::{Report, ServiceError};

/// Stand-in for the trace context of the caller.
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

/// Stand-in for the span of a search.
pub(crate) struct SearchSpan;

impl SearchSpan {
    pub(crate) fn begin() -> Self {
        Self
    }

    pub(crate) fn end(self, _: &SearchRequest, _: &Result<Report, ServiceError>) {}
}
