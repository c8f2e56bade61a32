//! Cancellation of a search whose clients have left.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::scheduler::Scheduler;
use crate::service::metrics::{JobPhase, Metrics};

/// Cancels a search, queued or running, when its future is dropped: every client that waited for it has left.
pub(crate) struct CancelOnDrop {
    scheduler: Arc<Scheduler>,
    metrics: Metrics,
    cancel: Arc<AtomicBool>,
    /// The number of the run permit, once the search runs.
    number: Option<u64>,
    is_armed: bool,
}

impl CancelOnDrop {
    /// Guards a queued search, which stops when `cancel` is raised.
    pub(crate) fn new(scheduler: &Arc<Scheduler>, metrics: &Metrics, cancel: &Arc<AtomicBool>) -> Self {
        let (scheduler, cancel) = (Arc::clone(scheduler), Arc::clone(cancel));
        Self { scheduler, metrics: metrics.clone(), cancel, number: None, is_armed: true }
    }

    /// Records that the search runs, with the number of its run permit.
    pub(crate) fn set_running(&mut self, number: u64) {
        self.number = Some(number);
    }

    /// Records that the search waits again.
    pub(crate) fn set_queued(&mut self) {
        self.number = None;
    }

    /// Disarms the guard, because the search has ended or was rejected.
    pub(crate) fn disarm(&mut self) {
        self.is_armed = false;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if !self.is_armed {
            return;
        }
        self.cancel.store(true, Ordering::Relaxed);
        self.number.inspect(|number| self.scheduler.wake(*number));
        self.metrics.cancelled(if self.number.is_some() { JobPhase::Searching } else { JobPhase::Queued });
    }
}
