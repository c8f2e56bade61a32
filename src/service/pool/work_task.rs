//! Work of the pool other than searches, and the context of the caller on the pool's threads.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use taquin_solver::Control;
use tracing::Span;

use super::admission::AdmissionPermit;
use super::scheduler::{Cancellation, RunPermit, Trial};
use crate::service::metrics::Metrics;
use crate::service::spans::TraceContext;

/// Work other than a search.
pub(crate) struct WorkTask<W> {
    pub(crate) work: W,
    pub(crate) submitted: Instant,
    pub(crate) cancellation: Cancellation,
    pub(crate) metrics: Metrics,
    /// The admission permit of the work. The permit is released after the last run.
    pub(crate) admission: AdmissionPermit,
}

impl<T, W: Fn(Control<'_>) -> T> WorkTask<W> {
    /// Runs the work under a permit. If the work was stopped after its trial and must start again, returns the trial as
    /// the error.
    pub(crate) fn run(&self, permit: RunPermit) -> Result<T, Trial> {
        if !permit.is_long() {
            self.metrics.waited(self.submitted.elapsed());
        }
        let [by_caller, by_pool] = &self.cancellation.flags;
        let cancel: [&AtomicBool; 3] = [by_caller, by_pool, permit.stop_flag()];
        let deadline = self.cancellation.deadline;
        let context = Control { deadline, cancel: &cancel, helpers: Some(&permit), ..Control::default() };
        let done = (self.work)(context);
        if let Some(trial) = permit.trial().filter(|_| !self.cancellation.is_raised()) {
            return Err(trial);
        }
        self.admission.record_duration(permit.times().0);
        Ok(done)
    }
}

/// Span and trace of the caller that started a job or registered bulk work. If other callers join the search of the
/// job, the search still uses the span and trace of the first caller.
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
