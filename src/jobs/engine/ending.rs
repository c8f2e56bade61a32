//! What a client ends: jobs are cancelled and deleted.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use taquin_solver::named;
use tracing::Level;

use super::JobEngine;
use super::id::{FolderName, JobId};
use super::job::Job;
use super::store::{Removal, report_useless};
use super::view::JobState;
use crate::jobs::stored_job::JobError;

/// What alone a request may do to a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// End it, if it has not ended.
    Cancel,
    /// Remove it, if it has ended.
    Delete,
}

named!(Ending { Cancel => "cancel", Delete => "delete" });

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It has ended, and still exists.
    Kept,
    /// It does not exist any more.
    Deleted,
    /// It did not exist any more: another process has deleted it.
    Gone,
    /// Nothing, as its state does not allow this.
    Refused(Ending),
}

impl JobEngine {
    /// Ends an unfinished job, or deletes one that has ended; only the one that is named, if one is. It blocks.
    ///
    /// # Errors
    /// [`JobError`] if that cannot be stored.
    pub fn end(&self, job: &Arc<Job>, only: Option<Ending>) -> Result<Ended, JobError> {
        let was_ended = job.state().is_ended();
        if !was_ended && self.store.is_shared() {
            // Otherwise, the end of a job that another process has deleted would be stored, and reported as that of the
            // newer job with its key.
            if !self.store.names(job.id(), job.folder())? {
                self.forget(job);
                return Ok(Ended::Gone);
            }
            if only == Some(Ending::Delete) {
                job.read_end()?;
            }
        }
        match only {
            None if was_ended => self.delete(job),
            None => self.cancel(job).map(|()| Ended::Kept),
            Some(Ending::Cancel) => {
                if !was_ended {
                    self.cancel(job)?;
                }
                // It may have ended in another way at the same time.
                Ok(if job.state() == JobState::Cancelled { Ended::Kept } else { Ended::Refused(Ending::Cancel) })
            }
            Some(Ending::Delete) if job.state().is_ended() => self.delete(job),
            Some(Ending::Delete) => Ok(Ended::Refused(Ending::Delete)),
        }
    }

    /// Ends a job as cancelled, unless it has ended.
    fn cancel(&self, job: &Job) -> Result<(), JobError> {
        match job.cancel() {
            // The store has its record, and so it has lost the files of the job alone.
            Err(error) if !error.is_temporary() && self.store.names(job.id(), job.folder())? => {
                job.note_damage(&error)?;
            }
            cancelled => cancelled?,
        }
        self.wake.notify_one();
        Ok(())
    }

    fn delete(&self, job: &Arc<Job>) -> Result<Ended, JobError> {
        match self.remove(job)? {
            Removal::ByAnother => return Err(self.file_error(io::ErrorKind::ResourceBusy.into())),
            // By another request at the same time.
            Removal::WasGone => {}
            Removal::Done => {
                tracing::event!(target: "taquin::jobs", Level::INFO, message = "job deleted", job.id = %job.id());
            }
        }
        Ok(Ended::Deleted)
    }

    /// Notes that a reader has found damaged files of a job. Returns false if there is no damage, as the job was deleted
    /// meanwhile. It blocks.
    ///
    /// # Errors
    /// [`JobError`] if the store cannot be read.
    pub fn report_damage(&self, job: &Arc<Job>, damage: &JobError) -> Result<bool, JobError> {
        let exists = self.store.names(job.id(), job.folder())?;
        if exists {
            job.report_damage(damage);
        } else {
            self.forget(job);
        }
        Ok(exists)
    }

    /// Checks the files that the rows of some parts of a job are read from; `has_problems` says whether that includes why
    /// rows are no boards. Of a shared store, where reading all parts may take long, the first of them, and that the
    /// others exist. It blocks.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn check_rows(&self, job: &Job, parts: Range<u64>, has_problems: bool) -> Result<(), JobError> {
        let read = if self.store.is_shared() { parts.start..parts.end.min(parts.start + 1) } else { parts.clone() };
        job.stored().check_rows(read, has_problems)?;
        if self.store.is_shared() && parts.end > parts.start + 1 {
            let missing = job.stored().done()?.iter().position(|is_done| !is_done).map(|chunk| chunk as u64);
            if let Some(missing) = missing.filter(|missing| parts.contains(missing)) {
                return Err(job.stored().missing_part(missing));
            }
        }
        Ok(())
    }

    /// Removes a job. Its files are removed soon after, as there may be many of them.
    pub(super) fn remove(&self, job: &Arc<Job>) -> Result<Removal, JobError> {
        let commit = self.commit.lock();
        let removal = self.store.remove(job.id(), job.folder())?;
        drop(commit);
        if removal != Removal::ByAnother {
            self.forget(job);
        }
        if removal == Removal::Done {
            self.has_unnamed.fetch_or(!job.has_record(), Ordering::Relaxed);
            self.removed.lock().push((job.id(), job.folder()));
            self.removal.notify_one();
        }
        Ok(removal)
    }

    /// Removes the files of removed jobs. What is left at the end of the process is removed as folders without a
    /// record.
    pub(super) fn remove_files(&self) {
        let next = || -> Option<(JobId, FolderName)> { self.removed.lock().pop() };
        while let Some((id, folder)) = next()
            && !*self.is_draining.borrow()
        {
            self.store.remove_files(id, folder);
        }
        if self.has_unnamed.swap(false, Ordering::Relaxed)
            && !self.store.is_shared()
            && let Err(error) = self.store.remove_unnamed(Duration::ZERO)
        {
            report_useless(&error);
        }
    }
}
