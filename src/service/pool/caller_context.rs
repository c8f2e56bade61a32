//! The log span and the trace of a caller, for work on another thread.

use tracing::Span;

use crate::service::spans::TraceContext;

/// Span and trace of the caller that started the search; joined callers share them.
#[derive(Clone)]
pub(crate) struct CallerContext {
    span: Span,
    trace: TraceContext,
}

impl CallerContext {
    pub(crate) fn current() -> Self {
        Self { span: Span::current(), trace: TraceContext::current() }
    }

    pub(crate) fn in_scope<T>(self, work: impl FnOnce() -> T) -> T {
        let Self { span, trace } = self;
        trace.in_scope(|| span.in_scope(work))
    }
}
