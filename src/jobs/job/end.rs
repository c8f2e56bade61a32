//! Ends a job, or makes the job wait.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use taquin_bulk::{EndState, JobEnd, JobError};
use taquin_solver::Named;
use tracing::Level;

use super::{Blocked, DISK_RETRY, Job, JobProgress, Phase};
use crate::jobs::time::bounded;
use crate::jobs::view::{JobCounts, JobView, WaitingFor};

impl Job {
    /// Handles an error. After a temporary error, the job waits for the store. After any other error, the job ends as
    /// failed.
    pub(crate) fn trouble(&self, error: &JobError) {
        if error.is_temporary() {
            return self.wait_for_disk(error);
        }
        // While the end of a failed job cannot be stored, the job is blocked, and may fail again. Only the first error
        // is logged.
        if self.progress.lock().blocked.is_none() {
            let message = "job cannot go on";
            tracing::event!(target: "taquin::jobs", Level::ERROR, message, job.id = %self.id, %error);
        }
        self.fail(&error.for_clients(self.stored.files()));
    }

    fn wait_for_disk(&self, error: &JobError) {
        let mut progress = self.progress.lock();
        if progress.blocked.is_none() {
            let message = "job waits for the disk";
            tracing::event!(target: "taquin::jobs", Level::WARN, message, job.id = %self.id, %error);
        }
        progress.blocked = Some(Blocked { by: WaitingFor::Disk, until: Some(Instant::now() + DISK_RETRY) });
        if matches!(progress.phase, Phase::Opening) {
            progress.phase = Phase::New;
        } else if matches!(progress.phase, Phase::Finalizing) {
            progress.phase = Phase::Open;
        }
        self.has_changed();
    }

    pub(crate) fn fail(&self, reason: &str) {
        let ended = self.stored.abandon(EndState::Failed, Some(reason.to_owned())).and_then(|_| self.read_end());
        if let Err(error) = ended {
            self.wait_for_disk(&error);
            self.progress.lock().failure = Some(reason.to_owned());
        }
    }

    /// Ends the job as cancelled, unless the job has ended. Fails if the end cannot be stored.
    pub(crate) fn cancel(&self) -> Result<(), JobError> {
        self.stored.abandon(EndState::Cancelled, None)?;
        self.read_end()
    }

    /// Reads the end of the job from the files. If the end is new, records and logs the end. Fails if the files cannot
    /// be read.
    pub(crate) fn read_end(&self) -> Result<(), JobError> {
        if self.note_end(self.stored.end())? {
            let JobView { state, created, ended, counts, .. } = self.view(Duration::ZERO, true);
            let lasted = ended.and_then(|ended| ended.duration_since(created).ok()).unwrap_or_default();
            tracing::event!(
                target: "taquin::jobs",
                Level::INFO,
                message = "job ended",
                job.id = %self.id,
                job.state = state.name(),
                job.boards = counts.boards,
                job.done = counts.done,
                job.failed = counts.failed,
                elapsed_us = lasted.as_micros() as u64,
            );
        }
        Ok(())
    }

    /// Records the end of the job as read from the files. A damaged end file makes the job fail. Returns false if there
    /// is no end, or if an end was recorded before. Fails if the store cannot be read.
    pub(crate) fn note_end(&self, end: Result<Option<JobEnd>, JobError>) -> Result<bool, JobError> {
        let mut end = match end {
            Ok(Some(end)) => end,
            Ok(None) => return Ok(false),
            Err(error) if error.is_temporary() => return Err(error),
            Err(error) => return self.note_damage(&error),
        };
        let Some(at) = self.stored.ended_at()?.map(bounded) else { return Ok(false) };
        if let Some(reason) = self.stored.damage()? {
            (end.state, end.reason) = (EndState::Failed, Some(reason));
        }
        let mut progress = self.progress.lock();
        if matches!(progress.phase, Phase::Ended { .. }) {
            return Ok(false);
        }
        if let Some(totals) = end.totals.take() {
            let JobCounts { boards, parts, .. } = progress.counts;
            let failed = Some(totals.failed + totals.invalid);
            progress.counts = JobCounts { boards, done: boards, failed, parts, stored_parts: parts };
        }
        self.set_end(&mut progress, end, at);
        Ok(true)
    }

    /// Ends the job as failed because files of the job are damaged. This function does not store the failure. Returns
    /// false if an end was recorded before. Fails if the store cannot be read.
    pub(crate) fn note_damage(&self, damage: &JobError) -> Result<bool, JobError> {
        // A job with a damaged record ends at the creation time of the record, so that a restart does not change the
        // expiry time.
        let unknown = || if self.has_record { SystemTime::now() } else { self.record.created };
        let at = bounded(self.stored.ended_at()?.unwrap_or_else(unknown));
        let mut progress = self.progress.lock();
        if matches!(progress.phase, Phase::Ended { .. }) {
            return Ok(false);
        }
        let message = "files of a job are damaged";
        tracing::event!(target: "taquin::jobs", Level::ERROR, message, job.id = %self.id, error = %damage);
        let reason = Some(damage.for_clients(self.stored.files()));
        self.set_end(&mut progress, JobEnd { state: EndState::Failed, reason, totals: None }, at);
        Ok(true)
    }

    /// Records that a reader found damaged files. The job becomes failed, even if the job had completed or was
    /// cancelled. This function also stores the failure; if the job had ended, an error of the store is only logged.
    pub(crate) fn report_damage(&self, damage: &JobError) {
        let ended = if let Phase::Ended { end, .. } = &self.progress.lock().phase { Some(end.state) } else { None };
        match ended {
            None => return self.trouble(damage),
            Some(EndState::Failed) => return,
            Some(EndState::Completed | EndState::Cancelled) => {}
        }
        let message = "files of a job are damaged";
        tracing::event!(target: "taquin::jobs", Level::ERROR, message, job.id = %self.id, error = %damage);
        let reason = damage.for_clients(self.stored.files());
        if let Err(error) = self.stored.mark_damaged(&reason) {
            let message = "the damage of a job cannot be stored";
            tracing::event!(target: "taquin::jobs", Level::WARN, message, job.id = %self.id, %error);
        }
        if let Phase::Ended { end, .. } = &mut self.progress.lock().phase {
            (end.state, end.reason) = (EndState::Failed, Some(reason));
        }
        self.has_changed();
    }

    /// Stops all work on a deleted job.
    pub(crate) fn note_deletion(&self) {
        let mut progress = self.progress.lock();
        if !matches!(progress.phase, Phase::Ended { .. }) {
            let end = JobEnd { state: EndState::Cancelled, reason: None, totals: None };
            self.set_end(&mut progress, end, SystemTime::now());
        }
        self.has_changed();
    }

    fn set_end(&self, progress: &mut JobProgress, end: JobEnd, at: SystemTime) {
        progress.phase = Phase::Ended { end, at };
        progress.chunks.clear();
        progress.begun.clear();
        progress.blocked = None;
        progress.failure = None;
        self.cancel.store(true, Ordering::Relaxed);
        self.has_changed();
    }
}
