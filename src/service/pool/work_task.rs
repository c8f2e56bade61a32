//! Work that is not one search, as a task of the pool.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use taquin_solver::Control;

use super::admission::AdmissionPermit;
use super::caller_context::CallerContext;
use super::scheduler::{Cancellation, RunPermit, Trial};

/// Work that is not one search.
pub(super) struct WorkTask<W> {
    pub(super) work: Arc<W>,
    pub(super) caller: CallerContext,
    pub(super) cancellation: Cancellation,
    /// Released once no run is left.
    pub(super) _admission: Arc<AdmissionPermit>,
}

impl<T, W: Fn(Control<'_>) -> T> WorkTask<W> {
    /// Runs the work under a permit.
    ///
    /// # Errors
    /// The trial after which it was stopped, so that it has to start anew.
    pub(super) fn run(&self, permit: &RunPermit) -> Result<T, Trial> {
        let [by_caller, by_pool] = &self.cancellation.flags;
        let cancel: [&AtomicBool; 3] = [by_caller, by_pool, permit.stop_flag()];
        let deadline = self.cancellation.deadline;
        let context = Control { deadline, cancel: &cancel, helpers: Some(permit), ..Control::default() };
        let done = (self.work)(context);
        permit.trial().filter(|_| !self.cancellation.is_raised()).map_or(Ok(done), Err)
    }
}
