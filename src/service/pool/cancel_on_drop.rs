//! Cancels a job whose clients have all disconnected.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::scheduler::Scheduler;
use crate::service::metrics::{JobPhase, Metrics};

/// Guard in the future of a job. If the future is dropped because the last client has disconnected, the guard cancels
/// the queued or running job.
pub(crate) struct CancelOnDrop {
    scheduler: Arc<Scheduler>,
    metrics: Metrics,
    cancel: Arc<AtomicBool>,
    /// Number of the run permit while the job runs; `None` while the job waits.
    number: Option<u64>,
    is_armed: bool,
}

impl CancelOnDrop {
    /// Guards a queued job. Dropping an armed guard sets `cancel`, wakes the job if it is paused, and counts the
    /// cancellation.
    pub(crate) fn new(scheduler: &Arc<Scheduler>, metrics: &Metrics, cancel: &Arc<AtomicBool>) -> Self {
        let (scheduler, cancel) = (Arc::clone(scheduler), Arc::clone(cancel));
        Self { scheduler, metrics: metrics.clone(), cancel, number: None, is_armed: true }
    }

    /// Records that the job runs. `number` is the number of the job's run permit.
    pub(crate) fn set_running(&mut self, number: u64) {
        self.number = Some(number);
    }

    /// Records that the job waits again.
    pub(crate) fn set_queued(&mut self) {
        self.number = None;
    }

    /// Disarms the guard. Dropping a disarmed guard does nothing.
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
