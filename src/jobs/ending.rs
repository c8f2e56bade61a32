//! Cancels and deletes jobs.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use taquin_bulk::{FolderName, JobError, JobId};
use taquin_solver::named;
use tracing::Level;

use super::JobEngine;
use super::job::Job;
use super::store::{Removal, report_useless};
use super::view::JobState;

/// The only effect that a request to end a job may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Cancel an unfinished job.
    Cancel,
    /// Delete an ended job.
    Delete,
}

named!(Ending { Cancel => "cancel", Delete => "delete" });

/// Result of a request to end a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The job has ended, and still exists.
    Kept,
    /// This request or a concurrent request has deleted the job.
    Deleted,
    /// Another process had deleted the job before this request could cancel or delete the job.
    Gone,
    /// The state of the job does not allow this effect. Nothing has changed.
    Refused(Ending),
}

impl JobEngine {
    /// Cancels an unfinished job, or deletes an ended job. `only` restricts the call to one of the two effects. Blocks.
    ///
    /// # Errors
    /// [`JobError`] if the store cannot be read or written, or if another process is deleting the job.
    pub fn end(&self, job: &Arc<Job>, only: Option<Ending>) -> Result<Ended, JobError> {
        let was_ended = job.state().is_ended();
        if !was_ended && self.store.is_shared() {
            // Another process may have deleted the job, and may have created a newer job with the same key. In that
            // case, this process must not store an end for the deleted job, and must not report such an end for the
            // newer job.
            if !self.store.names(job.id(), job.record.folder)? {
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
                // The job may have completed or failed concurrently.
                Ok(if job.state() == JobState::Cancelled { Ended::Kept } else { Ended::Refused(Ending::Cancel) })
            }
            Some(Ending::Delete) if job.state().is_ended() => self.delete(job),
            Some(Ending::Delete) => Ok(Ended::Refused(Ending::Delete)),
        }
    }

    /// Cancels a job, unless the job has ended. If the files of the job are damaged, ends the job as failed.
    fn cancel(&self, job: &Job) -> Result<(), JobError> {
        match job.cancel() {
            // The record still names the folder, so the job was not deleted, and the error means that the job's files
            // are damaged.
            Err(error) if !error.is_temporary() && self.store.names(job.id(), job.record.folder)? => {
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
            // A concurrent request has deleted the job.
            Removal::WasGone => {}
            Removal::Done => {
                tracing::event!(target: "taquin::jobs", Level::INFO, message = "job deleted", job.id = %job.id());
            }
        }
        Ok(Ended::Deleted)
    }

    /// Records that a reader found damaged files. Returns false if the job was deleted meanwhile: the files of a
    /// deleted job are missing, not damaged. Blocks.
    ///
    /// # Errors
    /// [`JobError`] if the store cannot be read.
    pub fn report_damage(&self, job: &Arc<Job>, damage: &JobError) -> Result<bool, JobError> {
        let exists = self.store.names(job.id(), job.record.folder)?;
        if exists {
            job.report_damage(damage);
        } else {
            self.forget(job);
        }
        Ok(exists)
    }

    /// Checks the files from which clients read the rows of the chunks `parts`. If `has_problems` is true, also checks
    /// the stored problems of invalid rows. Reading all parts of a shared store may take long, so for a shared store
    /// this function reads only the first part, and checks that the other parts exist. Blocks.
    ///
    /// # Errors
    /// [`JobError`] if a file is missing or damaged, or if the store fails.
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

    /// Removes the record of a job. The job's files are removed later, because a job may have many files.
    pub(crate) fn remove(&self, job: &Arc<Job>) -> Result<Removal, JobError> {
        let commit = self.commit.lock();
        let removal = self.store.remove(job.id(), job.record.folder)?;
        drop(commit);
        if removal != Removal::ByAnother {
            self.forget(job);
        }
        if removal == Removal::Done {
            self.has_unnamed.fetch_or(!job.has_record, Ordering::Relaxed);
            self.removed.lock().push((job.id(), job.record.folder));
            self.removal.notify_one();
        }
        Ok(removal)
    }

    /// Removes the files of removed jobs. If a folder cannot be removed, [`tidy`](Self::tidy) or the next start of the
    /// process removes the folder, since no record names the folder.
    pub(crate) fn remove_files(&self) {
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
