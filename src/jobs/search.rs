//! Finds the jobs in the store. Other processes may create and delete jobs in the same store.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::{FolderName, JobError, JobId};
use tracing::Level;

use super::job::{Job, Making};
use super::store::{FoundRecord, UNNAMED_TIME, report_useless};
use super::{JobEngine, LIST_PERIOD, VERSION};

impl JobEngine {
    /// Updates the known jobs by listing the store. If another thread begins a listing while this call waits for the
    /// lock, this call returns the result of that listing, and does not list again. After an error, some jobs may be
    /// unknown.
    pub(crate) fn search_jobs(&self) -> io::Result<()> {
        let asked = Instant::now();
        let mut searched = self.searched.lock();
        if let Some((begun, failure)) = *searched
            && begun >= asked
        {
            return failure.map_or(Ok(()), |failure| Err(failure.into()));
        }
        let begun = Instant::now();
        let listed = self.list_jobs();
        self.has_store.store(listed.is_ok(), Ordering::Relaxed);
        *searched = Some((begun, listed.as_ref().err().map(io::Error::kind)));
        self.has_searched.send_modify(|has_searched| *has_searched |= listed.is_ok());
        listed
    }

    fn list_jobs(&self) -> io::Result<()> {
        // The known jobs are read before the listing. So a known job that is not listed was deleted.
        let mut changed: BTreeSet<JobId> = self.jobs.lock().keys().copied().collect();
        let is_unfinished = |id: &JobId| self.jobs.lock().get(id).is_some_and(|job| !job.state().is_ended());
        for id in self.store.ids()? {
            // Another process may have deleted an unfinished job and created it again.
            if !changed.remove(&id) || is_unfinished(&id) {
                changed.insert(id);
            }
        }
        self.look_up_all(&changed.into_iter().collect::<Vec<_>>())
    }

    /// Looks up jobs in the store, and logs each unreadable job once. A few seconds after a failure of the store, this
    /// function skips the remaining jobs.
    ///
    /// Returns an error if a shared store is unreadable at present, or if the service shuts down. A damaged record
    /// causes no error. A job that was unreadable in an earlier call causes no error if another job is readable: one
    /// unreadable job must not hide the other jobs.
    fn look_up_all(&self, ids: &[JobId]) -> io::Result<()> {
        /// Time for further look-ups after the first failure.
        const PATIENCE: Duration = Duration::from_secs(5);
        let failure = Mutex::new(None::<(Instant, io::Error)>);
        // The first failure of a job that was unreadable before, and a flag that is set once a job was readable.
        let (old_failure, was_read) = (Mutex::new(None::<JobError>), AtomicBool::new(ids.is_empty()));
        let fail = |error| {
            failure.lock().get_or_insert((Instant::now(), error));
        };
        self.store.for_each(ids, |id| {
            match self.look_up(id) {
                Ok(_) => {
                    was_read.store(true, Ordering::Relaxed);
                    self.unreadable.lock().remove(&id);
                }
                Err(error) => {
                    let is_new = self.unreadable.lock().insert(id);
                    if is_new {
                        let message = "job cannot be read";
                        tracing::event!(target: "taquin::jobs", Level::ERROR, message, job.id = %id, %error);
                    }
                    // In a directory, one unreadable job does not mean that the other jobs are unreadable.
                    match error.is_temporary() && self.store.is_shared() {
                        false => was_read.store(true, Ordering::Relaxed),
                        true if is_new => fail(io::Error::other(error)),
                        true => drop(old_failure.lock().get_or_insert(error)),
                    }
                }
            }
            if *self.is_draining.borrow() {
                fail(io::ErrorKind::Interrupted.into());
                return false;
            }
            failure.lock().as_ref().is_none_or(|(at, _)| at.elapsed() < PATIENCE)
        });
        if let Some((_, error)) = failure.into_inner() {
            return Err(error);
        }
        match old_failure.into_inner() {
            Some(error) if !was_read.into_inner() && !self.can_read_another(ids) => Err(io::Error::other(error)),
            _ => Ok(()),
        }
    }

    /// Tries one known job that is not in `ids`, and returns true if the record of that job is readable.
    fn can_read_another(&self, ids: &[JobId]) -> bool {
        let another = self.jobs.lock().keys().find(|id| !ids.contains(id)).copied();
        another.is_some_and(|id| self.store.record(id).is_ok())
    }

    /// Looks up the job with this id in the store; `None` if the store has no such job. Removes a deleted job from the
    /// known jobs. Blocks.
    pub(crate) fn look_up(&self, id: JobId) -> Result<Option<Arc<Job>>, JobError> {
        // The known job is read before the record. In the opposite order, a job that is created in between would be
        // removed from the known jobs.
        let known = self.jobs.lock().get(&id).cloned();
        let found = self.store.find_record(id)?;
        if let Some(known) = known {
            if found.as_ref().is_some_and(|found| found.record.folder == known.record.folder) {
                return Ok(Some(known));
            }
            self.forget(&known);
        }
        found.map_or(Ok(None), |found| self.load(id, found))
    }

    /// Opens the job of a record, and adds the job to the known jobs. Returns `None` if the job was deleted meanwhile.
    fn load(&self, id: JobId, FoundRecord { record, damage }: FoundRecord) -> Result<Option<Arc<Job>>, JobError> {
        let (stored, damage) = match damage.map_or_else(|| self.store.open(record.folder), Err) {
            Ok(stored) => (stored, None),
            Err(error) if error.is_temporary() => return Err(error),
            Err(_) if !self.store.names(id, record.folder)? => return Ok(None),
            Err(error) => (self.store.damaged(record.folder), Some(error)),
        };
        let making = if self.dispatch.makes_elsewhere() {
            Making::Elsewhere
        } else if stored.spec().is_served_by(VERSION, self.service.settings().tables) {
            Making::Here
        } else {
            Making::OtherSolver
        };
        let job = Arc::new(Job::load(id, record, stored, making, damage)?);
        // If several threads load the job, the job of the first thread is kept.
        let job = Arc::clone(self.jobs.lock().entry(id).or_insert(job));
        self.wake.notify_one();
        Ok(Some(job))
    }

    /// Removes a deleted job from the known jobs, and stops the work on the job.
    pub(crate) fn forget(&self, job: &Arc<Job>) {
        let mut jobs = self.jobs.lock();
        if jobs.get(&job.id()).is_some_and(|known| Arc::ptr_eq(known, job)) {
            jobs.remove(&job.id());
        }
        drop(jobs);
        job.note_deletion();
    }

    /// Removes folders without a record. Also finds each job that another process deleted and created again with the
    /// same key.
    pub(crate) fn tidy(&self) {
        let found = self.store.remove_unnamed(UNNAMED_TIME).and_then(|records| {
            let is_other = |(id, folder): &(JobId, FolderName)| {
                self.jobs.lock().get(id).is_some_and(|known| known.record.folder != *folder)
            };
            let others: Vec<JobId> = records.into_iter().filter(is_other).map(|(id, _)| id).collect();
            self.look_up_all(&others)
        });
        if let Err(error) = found {
            report_useless(&error);
        }
    }

    /// Updates the known jobs from a shared store, unless a client's request updated them less than a second ago. Waits
    /// for the end of the first listing. Does nothing for a directory. Fails if the shared store is unreadable.
    pub(crate) async fn refresh(self: &Arc<Self>) -> Result<(), JobError> {
        if !self.store.is_shared() {
            return Ok(());
        }
        let mut has_searched = self.has_searched.subscribe();
        let is_first = !*has_searched.borrow_and_update();
        // The first listing may take long. A second listing would only block another thread until the first listing
        // ends.
        if !(is_first && self.searched.is_locked()) && is_due(&mut self.listed.lock(), LIST_PERIOD) {
            return self.blocking(|engine| engine.search_jobs().map_err(|error| engine.file_error(error))).await;
        }
        let unlisted = || Err(self.file_error(io::ErrorKind::NotConnected.into()));
        if !is_first {
            return if self.has_store() { Ok(()) } else { unlisted() };
        }
        // The end of a failed listing also ends the wait. The shutdown of the service ends the wait too, since no
        // listing begins during the shutdown.
        tokio::select! {
            _ = has_searched.changed() => {}
            () = self.drained() => {}
        }
        let has_searched = *self.has_searched.borrow();
        if has_searched { Ok(()) } else { unlisted() }
    }
}

/// Returns true if `period` has passed since `last`, or if `last` is `None`. If so, also sets `last` to the present
/// time.
fn is_due(last: &mut Option<Instant>, period: Duration) -> bool {
    let is_due = last.is_none_or(|last| last.elapsed() >= period);
    if is_due {
        *last = Some(Instant::now());
    }
    is_due
}
