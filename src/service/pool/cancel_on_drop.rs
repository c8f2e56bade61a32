//! Cancels a job whose clients have all disconnected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::scheduler::Scheduler;
use crate::service::metrics::{JobPhase, Metrics};

/// Cancels a queued or running job when the future of the job is dropped, because the last client has disconnected.
pub(crate) struct CancelOnDrop {
    scheduler: Arc<Scheduler>,
    metrics: Metrics,
    cancel: Arc<AtomicBool>,
    /// Number of the run permit while the job runs; `None` while the job waits.
    number: Option<u64>,
    is_armed: bool,
}

impl CancelOnDrop {
    /// Guards a queued job. Dropping the guard raises `cancel`, wakes a paused job, and counts the cancelled job,
    /// unless the guard is disarmed.
    pub(crate) fn new(scheduler: &Arc<Scheduler>, metrics: &Metrics, cancel: &Arc<AtomicBool>) -> Self {
        let (scheduler, cancel) = (Arc::clone(scheduler), Arc::clone(cancel));
        Self { scheduler, metrics: metrics.clone(), cancel, number: None, is_armed: true }
    }

    /// Records that the job runs, and the number of its run permit.
    pub(crate) fn set_running(&mut self, number: u64) {
        self.number = Some(number);
    }

    /// Records that the job waits again.
    pub(crate) fn set_queued(&mut self) {
        self.number = None;
    }

    /// Disarms the guard, because the job has ended or was rejected.
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
