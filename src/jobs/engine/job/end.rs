//! What ends a job, and what keeps it waiting.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime};

use taquin_solver::Named;
use tracing::Level;

use super::{Blocked, DISK_RETRY, Job, JobProgress, Phase};
use crate::jobs::engine::time::bounded;
use crate::jobs::engine::view::{JobCounts, JobView, WaitingFor};
use crate::jobs::manifest::{EndState, JobEnd};
use crate::jobs::stored_job::JobError;

impl Job {
    /// Something went wrong: the job waits for the disk, or ends.
    pub(in crate::jobs::engine) fn trouble(&self, error: &JobError) {
        if error.is_temporary() {
            return self.wait_for_disk(error);
        }
        // If its end cannot be stored, this is tried again and again.
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

    /// Ends the job as failed.
    pub(in crate::jobs::engine) fn fail(&self, reason: &str) {
        let ended = self.stored.abandon(EndState::Failed, Some(reason.to_owned())).and_then(|_| self.read_end());
        if let Err(error) = ended {
            self.wait_for_disk(&error);
            self.progress.lock().failure = Some(reason.to_owned());
        }
    }

    /// Ends the job as cancelled, unless it has ended.
    ///
    /// # Errors
    /// [`JobError`] if that cannot be stored.
    pub(in crate::jobs::engine) fn cancel(&self) -> Result<(), JobError> {
        self.stored.abandon(EndState::Cancelled, None)?;
        self.read_end()
    }

    /// Notes and logs the end that the files say, if there is one.
    ///
    /// # Errors
    /// [`JobError`] if the file cannot be read.
    pub(in crate::jobs::engine) fn read_end(&self) -> Result<(), JobError> {
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

    /// Notes the end that the files say. Returns false if there is none, or it was noted before.
    pub(super) fn note_end(&self, end: Result<Option<JobEnd>, JobError>) -> Result<bool, JobError> {
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

    /// Notes that the files which say what the job is, or how it ended, are damaged. Nothing is stored. Returns false
    /// if an end was noted before.
    pub(in crate::jobs::engine) fn note_damage(&self, damage: &JobError) -> Result<bool, JobError> {
        // Without a readable record, it ends when that was created, so that a restart does not move its expiry.
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

    /// Notes that a reader has found damaged files. A job that has ended has failed from now on, which is stored.
    pub(in crate::jobs::engine) fn report_damage(&self, damage: &JobError) {
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

    /// Ends what is done for a job that was deleted.
    pub(in crate::jobs::engine) fn note_deletion(&self) {
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
