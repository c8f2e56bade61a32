//! A build without traces: a search leaves no span.

use super::{Job, Report, ServiceError};

/// Stands where the trace of whoever asks would be.
pub(super) struct TraceContext;

impl TraceContext {
    pub(super) fn current() -> Self {
        Self
    }

    pub(super) fn in_scope<T>(self, work: impl FnOnce() -> T) -> T {
        work()
    }
}

/// Stands where the span would be.
pub(super) struct SearchSpan;

impl SearchSpan {
    pub(super) fn begin() -> Self {
        Self
    }

    pub(super) fn end(self, _: &Job, _: &Result<Report, ServiceError>) {}
}
