//! Jobs of clients, made beside all other work of a service (docs/adr/0047).
//!
//! What exists in the store is the state. [`JobEngine`] remembers what it has read there and what is under way. A task
//! of it, [`JobEngine::run`], compares both with what is done every two seconds, so that nothing depends on a message that
//! might be lost. Other processes may have engines on the same store (docs/adr/0050).

mod begun_chunk;
mod chunk_queue;
mod create;
mod dispatch;
mod id;
mod job;
mod lane;
mod settings;
mod store;
mod view;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tracing::Level;

use super::stored_job::JobError;
use crate::search::Named;
use crate::service::Service;
pub use create::Draft;
pub use dispatch::Dispatch;
pub use id::{FolderName, JobId, JobOwner};
pub use job::Job;
use job::Making;
pub use lane::JobLane;
pub use settings::{CreateError, EngineError, JobSettings};
use store::{JobRecord, UNNAMED_TIME};
pub use store::{JobStore, NewFolder};
pub use view::{JobCounts, JobState, JobView, WaitingFor};

/// The jobs of a service.
pub struct JobEngine {
    service: Arc<Service>,
    settings: JobSettings,
    store: JobStore,
    /// One of them is held while a job is made, by its id: requests with one key at once make one job, and do the work
    /// once.
    making: [AsyncMutex<()>; MAKING],
    /// Held while a job is created or removed.
    commit: Mutex<()>,
    jobs: Mutex<BTreeMap<JobId, Arc<Job>>>,
    /// Ids whose jobs cannot be read. That was logged.
    unreadable: Mutex<BTreeSet<JobId>>,
    /// Has the chunks of the unfinished ones made.
    dispatch: Arc<dyn Dispatch>,
    /// True if the store could be read when it was last searched.
    has_store: AtomicBool,
    /// When the store was last searched for jobs of other processes, and for folders of no use.
    searched: Mutex<Searched>,
    /// Wakes the task of the engine.
    wake: Notify,
    is_draining: watch::Sender<bool>,
}

/// When the store was last searched.
struct Searched {
    for_jobs: Instant,
    for_useless: Instant,
}

/// Jobs that are made at a time.
const MAKING: usize = 16;

/// Version of the solver.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Time between two comparisons of what is and what should be.
const PERIOD: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 2000 });

/// Time between two searches for jobs that other processes have created or deleted.
const JOBS_PERIOD: Duration = Duration::from_secs(10);

/// Time between two searches for such jobs, if clients ask for lists.
const LIST_PERIOD: Duration = Duration::from_secs(1);

/// Time between two searches for folders of no use.
const USELESS_PERIOD: Duration = Duration::from_secs(600);

impl JobEngine {
    /// Opens a store, and reads its jobs. They go on once [`run`](Self::run) is called. It is called in a tokio runtime,
    /// and blocks.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn open(
        service: &Arc<Service>,
        settings: JobSettings,
        store: JobStore,
        dispatch: Arc<dyn Dispatch>,
    ) -> Result<Arc<Self>, EngineError> {
        let engine = Arc::new(Self {
            service: Arc::clone(service),
            settings,
            store,
            making: std::array::from_fn(|_| AsyncMutex::default()),
            commit: Mutex::default(),
            jobs: Mutex::default(),
            unreadable: Mutex::default(),
            dispatch,
            has_store: AtomicBool::new(true),
            searched: Mutex::new(Searched { for_jobs: Instant::now(), for_useless: Instant::now() }),
            wake: Notify::new(),
            is_draining: watch::Sender::new(false),
        });
        match engine.store.prepare().and_then(|()| engine.search_jobs()) {
            Ok(()) => {}
            // It may be back in a moment, and the rest of the service does not need it.
            Err(error) if engine.store.is_shared() => report_unlisted(&error),
            Err(source) => return Err(EngineError::Directory { path: engine.store.files().path_of(""), source }),
        }
        Ok(engine)
    }

    /// Notes which jobs there are, whatever other processes have done.
    fn search_jobs(&self) -> io::Result<()> {
        let listed = self.list_jobs();
        self.has_store.store(listed.is_ok(), Ordering::Relaxed);
        listed
    }

    fn list_jobs(&self) -> io::Result<()> {
        // In this order: a job that is known has a record when the store lists them, unless it was deleted.
        let mut changed: BTreeSet<JobId> = self.jobs.lock().keys().copied().collect();
        let is_unfinished = |id: &JobId| self.jobs.lock().get(id).is_some_and(|job| !job.state().is_ended());
        for id in self.store.ids()? {
            // An unfinished one may have been deleted and created again.
            if !changed.remove(&id) || is_unfinished(&id) {
                changed.insert(id);
            }
        }
        for id in changed {
            match self.look_up(id) {
                Ok(_) => drop(self.unreadable.lock().remove(&id)),
                Err(error) if self.unreadable.lock().insert(id) => {
                    let message = "job cannot be read";
                    tracing::event!(target: "taquin::jobs", Level::ERROR, message, job.id = %id, %error);
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Reads from the store which job has an id now, whatever other processes have done. It blocks.
    fn look_up(&self, id: JobId) -> Result<Option<Arc<Job>>, JobError> {
        let record = self.store.record(id)?;
        let known = self.jobs.lock().get(&id).cloned();
        if let Some(known) = known {
            if record.as_ref().is_some_and(|record| record.folder == known.folder()) {
                return Ok(Some(known));
            }
            self.forget(&known);
        }
        record.map(|record| self.load(id, record)).transpose()
    }

    fn load(&self, id: JobId, record: JobRecord) -> Result<Arc<Job>, JobError> {
        let stored = self.store.open(record.folder)?;
        let making = if self.dispatch.makes_elsewhere() {
            Making::Elsewhere
        } else if stored.spec().is_served_by(VERSION, self.service.settings().tables) {
            Making::Here
        } else {
            Making::OtherSolver
        };
        let job = Arc::new(Job::load(id, record, stored, making)?);
        // Of several threads that load it, the first one wins.
        let job = Arc::clone(self.jobs.lock().entry(id).or_insert(job));
        self.wake.notify_one();
        Ok(job)
    }

    /// Forgets a job that was deleted.
    fn forget(&self, job: &Arc<Job>) {
        let mut jobs = self.jobs.lock();
        if jobs.get(&job.id()).is_some_and(|known| Arc::ptr_eq(known, job)) {
            jobs.remove(&job.id());
        }
        drop(jobs);
        job.note_deletion();
    }

    /// Its settings.
    pub fn settings(&self) -> &JobSettings {
        &self.settings
    }

    /// Keeps the jobs going until [`drain`](Self::drain) is called.
    pub async fn run(self: Arc<Self>) {
        let mut is_draining = self.is_draining.subscribe();
        loop {
            let engine = Arc::clone(&self);
            let _ = tokio::task::spawn_blocking(move || engine.reconcile()).await;
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(PERIOD) => {}
                _ = is_draining.wait_for(|is_draining| *is_draining) => return,
            }
        }
    }

    /// Compares what is done with what should be done.
    fn reconcile(&self) {
        if is_due(&mut self.searched.lock().for_jobs, JOBS_PERIOD)
            && let Err(error) = self.search_jobs()
        {
            report_unlisted(&error);
        }
        let is_unfinished = |job: &&Arc<Job>| !job.state().is_ended();
        let unfinished: Vec<Arc<Job>> = self.jobs.lock().values().filter(is_unfinished).cloned().collect();
        self.dispatch.reconcile(&unfinished);
        self.remove_expired();
        if is_due(&mut self.searched.lock().for_useless, USELESS_PERIOD)
            && let Err(error) = self.store.remove_unnamed(UNNAMED_TIME)
        {
            let message = "folders of no use cannot be removed";
            tracing::event!(target: "taquin::jobs", Level::WARN, message, %error);
        }
    }

    /// Begins nothing new, and ends what waits for changes of jobs.
    pub fn drain(&self) {
        self.is_draining.send_replace(true);
    }

    /// Waits for [`drain`](Self::drain).
    pub async fn drained(&self) {
        let _ = self.is_draining.subscribe().wait_for(|is_draining| *is_draining).await;
    }

    /// Removes the jobs that ended too long ago.
    fn remove_expired(&self) {
        let ended = |job: &Arc<Job>| Some((job.ended()? + self.settings.keep, Arc::clone(job)));
        let ended: Vec<(SystemTime, Arc<Job>)> = self.jobs.lock().values().filter_map(ended).collect();
        if ended.is_empty() {
            return;
        }
        let Some(now) = self.store.now() else { return };
        for (_, job) in ended.into_iter().filter(|(expires, _)| *expires <= now) {
            match self.remove(&job) {
                Ok(()) => {
                    let message = "job expired";
                    tracing::event!(target: "taquin::jobs", Level::INFO, message, job.id = %job.id());
                }
                Err(error) => {
                    let message = "job cannot be removed";
                    tracing::event!(target: "taquin::jobs", Level::WARN, message, job.id = %job.id(), %error);
                }
            }
        }
    }

    fn remove(&self, job: &Arc<Job>) -> Result<(), JobError> {
        self.store.remove(job.id(), job.folder())?;
        self.forget(job);
        Ok(())
    }

    /// The job of this id, if it is the owner's.
    ///
    /// # Errors
    /// [`JobError`] if the store cannot be read.
    pub async fn find(self: &Arc<Self>, owner: JobOwner, id: JobId) -> Result<Option<Arc<Job>>, JobError> {
        let known = self.jobs.lock().get(&id).cloned();
        // Another process may have created it, or deleted it after its end.
        let job = match known.filter(|job| !job.state().is_ended()) {
            Some(job) => Some(job),
            None => self.blocking(move |engine| engine.look_up(id)).await?,
        };
        Ok(job.filter(|job| job.owner() == owner))
    }

    /// Calls something that blocks on a thread for that.
    async fn blocking<T: Send + 'static, E: From<JobError> + Send + 'static>(
        self: &Arc<Self>,
        call: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (engine, span) = (Arc::clone(self), tracing::Span::current());
        let called = tokio::task::spawn_blocking(move || span.in_scope(|| call(&engine))).await;
        // It panicked, or the runtime is shutting down.
        called.unwrap_or_else(|error| Err(self.file_error(io::Error::other(error)).into()))
    }

    /// The jobs of an owner, the newest first.
    ///
    /// # Errors
    /// [`JobError`] if the store is shared and cannot be read.
    pub async fn jobs(self: &Arc<Self>, owner: JobOwner) -> Result<Vec<Arc<Job>>, JobError> {
        if self.store.is_shared() && is_due(&mut self.searched.lock().for_jobs, LIST_PERIOD) {
            self.blocking(|engine| engine.search_jobs().map_err(|error| engine.file_error(error))).await?;
        }
        let mut jobs: Vec<Arc<Job>> = self.jobs.lock().values().filter(|job| job.owner() == owner).cloned().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(Self::rank(job)));
        Ok(jobs)
    }

    /// The place of a job among those of its owner: the newer, the greater.
    pub fn rank(job: &Job) -> (u64, JobId) {
        (store::millis(job.created()), job.id())
    }

    /// The job now.
    pub fn view(&self, job: &Job) -> JobView {
        job.view(self.settings.keep, self.dispatch.has_worker())
    }

    /// True if the store could be read when it was last searched for jobs.
    pub fn has_store(&self) -> bool {
        self.has_store.load(Ordering::Relaxed)
    }

    /// Number of jobs in each state.
    pub fn states(&self) -> Vec<(JobState, usize)> {
        let states: Vec<JobState> = self.jobs.lock().values().map(|job| job.state()).collect();
        JobState::ALL.iter().map(|of| (*of, states.iter().filter(|state| *state == of).count())).collect()
    }

    /// Age of the oldest chunk that was begun and is not stored.
    pub fn oldest_chunk(&self) -> Duration {
        let oldest = self.jobs.lock().values().filter_map(|job| job.oldest_chunk()).min();
        oldest.map_or(Duration::ZERO, |begun: Instant| begun.elapsed())
    }

    /// Begins a folder for the boards of an input.
    ///
    /// # Errors
    /// [`JobError`].
    pub async fn begin_upload(self: &Arc<Self>) -> Result<NewFolder, JobError> {
        self.blocking(|engine| engine.store.begin().map_err(|error| engine.file_error(error))).await
    }

    /// Ends an unfinished job, or deletes one that has ended. Returns true if it was unfinished. It blocks.
    ///
    /// # Errors
    /// [`JobError`] if that cannot be stored.
    pub fn cancel_or_delete(&self, job: &Arc<Job>) -> Result<bool, JobError> {
        let was_unfinished = !job.state().is_ended();
        if was_unfinished {
            self.cancel(job)?
        } else {
            self.delete(job)?
        }
        Ok(was_unfinished)
    }

    /// Ends a job as cancelled, unless it has ended. It blocks.
    ///
    /// # Errors
    /// [`JobError`] if that cannot be stored.
    pub fn cancel(&self, job: &Job) -> Result<(), JobError> {
        job.cancel()?;
        self.wake.notify_one();
        Ok(())
    }

    /// Deletes a job that has ended. It blocks.
    ///
    /// # Errors
    /// [`JobError`] if that cannot be stored.
    pub fn delete(&self, job: &Arc<Job>) -> Result<(), JobError> {
        self.remove(job)?;
        tracing::event!(target: "taquin::jobs", Level::INFO, message = "job deleted", job.id = %job.id());
        Ok(())
    }

    fn file_error(&self, source: io::Error) -> JobError {
        JobError::File { path: self.store.files().path_of(""), source }
    }
}

/// True if so much time has passed since `last`, which is now then.
fn is_due(last: &mut Instant, period: Duration) -> bool {
    let is_due = last.elapsed() >= period;
    if is_due {
        *last = Instant::now();
    }
    is_due
}

fn report_unlisted(error: &io::Error) {
    tracing::event!(target: "taquin::jobs", Level::WARN, message = "jobs cannot be listed", %error);
}

impl std::fmt::Debug for JobEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobEngine").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
