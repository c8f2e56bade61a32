//! Runs clients' jobs beside the other work of a service (docs/adr/0023). The boards of a job are divided into chunks.
//! One file, the part of a chunk, stores the labels of the chunk.
//!
//! The store is authoritative. [`JobEngine`] caches the jobs that the engine has read from the store. The engine's
//! task, [`JobEngine::run`], reads the store again every ten seconds, and passes all unfinished jobs to the dispatch
//! every two seconds. So a lost message only causes a delay. Other processes may have engines on the same store
//! (docs/adr/0024).

mod begun_chunk;
mod chunk_queue;
mod create;
mod creations;
mod dispatch;
mod ending;
mod job;
mod owner;
#[cfg(feature = "cluster")]
mod queue_dispatch;
mod search;
mod settings;
mod store;
mod time;
mod view;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use taquin_bulk::{FolderName, JobError, JobId};
use taquin_solver::Named;
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tracing::Level;

use crate::service::Service;
pub use create::Draft;
use creations::Creations;
pub use dispatch::{Dispatch, LocalDispatch};
pub use ending::{Ended, Ending};
pub use job::Job;
pub use owner::JobOwner;
#[cfg(feature = "cluster")]
pub use queue_dispatch::QueueDispatch;
pub use settings::{CreateError, EngineError, JobSettings};
use store::Removal;
pub use store::{JobStore, NewFolder};
pub use view::{JobCounts, JobState, JobView, WaitingFor};

/// The engine that creates, runs, lists and deletes the jobs of a service.
pub struct JobEngine {
    service: Arc<Service>,
    settings: JobSettings,
    store: JobStore,
    /// Locks of jobs with an idempotency key. The first byte of the job's id selects the lock. The creation of a job
    /// holds the lock, so that concurrent requests with the same key create one job, and estimate the job's cost once.
    making: [AsyncMutex<()>; KEY_LOCKS],
    /// Locked while the record of a job is created or removed.
    commit: Mutex<()>,
    /// Jobs in creation.
    creations: Creations,
    jobs: Mutex<BTreeMap<JobId, Arc<Job>>>,
    /// Ids of unreadable jobs that have been logged.
    unreadable: Mutex<BTreeSet<JobId>>,
    /// Distributes the chunks of unfinished jobs to workers.
    dispatch: Arc<dyn Dispatch>,
    /// True if the last listing of jobs could read the store, and before the first listing.
    has_store: AtomicBool,
    /// Start of the last listing of jobs, with the error kind if the listing failed; `None` before the end of the first
    /// listing. The mutex is locked during a listing.
    searched: Mutex<Option<(Instant, Option<io::ErrorKind>)>>,
    /// True once a listing of jobs has succeeded. Receivers are notified at the end of each listing, even of a failed
    /// listing.
    has_searched: watch::Sender<bool>,
    /// Start of the last listing for a client's request; `None` before the first such listing.
    listed: Mutex<Option<Instant>>,
    /// Wakes the loop that calls [`JobEngine::reconcile`].
    wake: Notify,
    /// Removed jobs whose files have not been removed yet.
    removed: Mutex<Vec<(JobId, FolderName)>>,
    /// True if a job with a damaged record was removed since the last removal of files. The folder of such a job is
    /// unknown.
    has_unnamed: AtomicBool,
    /// Wakes the loop that removes the files of removed jobs.
    removal: Notify,
    is_draining: watch::Sender<bool>,
}

/// Number of locks of jobs with an idempotency key.
const KEY_LOCKS: usize = 256;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Interval of [`JobEngine::reconcile`], of the removal of expired jobs, and of the removal of files.
const PERIOD: Duration = Duration::from_millis(if cfg!(test) { 100 } else { 2000 });

/// Interval of listings of the store. A listing finds the jobs that other processes have created or deleted.
const JOBS_PERIOD: Duration = Duration::from_secs(10);

/// Minimum interval of listings for clients' requests.
const LIST_PERIOD: Duration = Duration::from_secs(1);

/// Interval of [`JobEngine::tidy`], which removes folders without a record.
const USELESS_PERIOD: Duration = Duration::from_secs(600);

impl JobEngine {
    /// Creates the engine of the jobs in a store. Jobs continue once [`run`](Self::run) is called. If the store is a
    /// directory, this function reads the jobs before it returns. If the store is shared, `run` reads the jobs, since
    /// the start of a service must not wait for thousands of jobs. This function blocks.
    ///
    /// # Errors
    /// [`EngineError::Directory`] if the directory cannot be prepared or read. An unreachable shared store causes no
    /// error.
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
            creations: Creations::default(),
            jobs: Mutex::default(),
            unreadable: Mutex::default(),
            dispatch,
            has_store: AtomicBool::new(true),
            searched: Mutex::default(),
            has_searched: watch::Sender::new(false),
            listed: Mutex::default(),
            wake: Notify::new(),
            removed: Mutex::default(),
            has_unnamed: AtomicBool::new(false),
            removal: Notify::new(),
            is_draining: watch::Sender::new(false),
        });
        let search = || if engine.store.is_shared() { Ok(()) } else { engine.search_jobs() };
        match engine.store.prepare().and_then(|()| search()) {
            Ok(()) => {}
            // A shared store may become reachable soon. The rest of the service works without the store.
            Err(error) if engine.store.is_shared() => report_unlisted(&error),
            Err(source) => return Err(EngineError::Directory { path: engine.store.files().path_of(""), source }),
        }
        Ok(engine)
    }

    /// Returns the settings of this engine.
    pub fn settings(&self) -> &JobSettings {
        &self.settings
    }

    /// Runs the jobs until [`drain`](Self::drain) is called.
    pub async fn run(self: Arc<Self>) {
        let first_search = if self.store.is_shared() { Duration::ZERO } else { JOBS_PERIOD };
        let search = |engine: &Self| {
            if let Err(error) = engine.search_jobs() {
                report_unlisted(&error);
            }
        };
        // The loops run concurrently, so that no loop waits for another loop. Reading a store with thousands of jobs is
        // slow.
        tokio::join!(
            self.repeat(Duration::ZERO, PERIOD, Some(&self.wake), Self::reconcile),
            self.repeat(first_search, JOBS_PERIOD, None, search),
            self.repeat(PERIOD, PERIOD, None, Self::remove_expired),
            self.repeat(PERIOD, PERIOD, Some(&self.removal), Self::remove_files),
            self.repeat(USELESS_PERIOD, USELESS_PERIOD, None, Self::tidy),
        );
    }

    /// Calls a blocking function repeatedly until [`drain`](Self::drain) is called. The first call follows after the
    /// duration `first`, and each further call after the duration `period`. A notification of `wake` causes the next
    /// call at once.
    async fn repeat(self: &Arc<Self>, first: Duration, period: Duration, wake: Option<&Notify>, call: fn(&Self)) {
        let (mut is_draining, mut pause) = (self.is_draining.subscribe(), first);
        loop {
            let woken = async {
                match wake {
                    Some(wake) => wake.notified().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = is_draining.wait_for(|is_draining| *is_draining) => return,
                () = woken => {}
                () = tokio::time::sleep(pause) => {}
            }
            let engine = Arc::clone(self);
            let _ = tokio::task::spawn_blocking(move || call(&engine)).await;
            pause = period;
        }
    }

    /// Passes the unfinished jobs to the dispatch.
    fn reconcile(&self) {
        let is_unfinished = |job: &&Arc<Job>| !job.state().is_ended();
        let unfinished: Vec<Arc<Job>> = self.jobs.lock().values().filter(is_unfinished).cloned().collect();
        self.dispatch.reconcile(&unfinished);
    }

    /// Stops [`run`](Self::run), and ends requests that wait for changes of jobs.
    pub fn drain(&self) {
        self.is_draining.send_replace(true);
    }

    /// Waits until [`drain`](Self::drain) is called.
    pub async fn drained(&self) {
        let _ = self.is_draining.subscribe().wait_for(|is_draining| *is_draining).await;
    }

    /// Removes expired jobs.
    fn remove_expired(&self) {
        let ended = |job: &Arc<Job>| Some((time::later(job.ended()?, self.settings.keep), Arc::clone(job)));
        let ended: Vec<(SystemTime, Arc<Job>)> = self.jobs.lock().values().filter_map(ended).collect();
        if ended.is_empty() {
            return;
        }
        let Some(now) = self.store.now() else { return };
        for (_, job) in ended.into_iter().filter(|(expires, _)| *expires <= now) {
            if *self.is_draining.borrow() {
                return;
            }
            match self.remove(&job) {
                Ok(Removal::ByAnother | Removal::WasGone) => {}
                Ok(Removal::Done) => {
                    let message = "job expired";
                    tracing::event!(target: "taquin::jobs", Level::INFO, message, job.id = %job.id());
                }
                Err(error) => {
                    let message = "job cannot be removed";
                    tracing::event!(target: "taquin::jobs", Level::WARN, message, job.id = %job.id(), %error);
                    // After a temporary error, the removals of the next jobs would fail too, and would delay the
                    // creation of jobs.
                    if error.is_temporary() {
                        return;
                    }
                }
            }
        }
    }

    /// Returns the job with this id; `None` if there is no such job, or the owner may not see the job.
    ///
    /// # Errors
    /// [`JobError`] if the store cannot be read.
    pub async fn find(self: &Arc<Self>, owner: JobOwner, id: JobId) -> Result<Option<Arc<Job>>, JobError> {
        let known = self.jobs.lock().get(&id).cloned();
        // Another process may have created a job that is unknown here, or may have deleted a job that has ended.
        let job = match known.filter(|job| !job.state().is_ended()) {
            Some(job) => Some(job),
            None => self.blocking(move |engine| engine.look_up(id)).await?,
        };
        Ok(job.filter(|job| job.is_of(owner)))
    }

    /// Calls a blocking function on one of the runtime's threads for blocking work. Returns an error if the function
    /// panics or the runtime shuts down.
    async fn blocking<T: Send + 'static, E: From<JobError> + Send + 'static>(
        self: &Arc<Self>,
        call: impl FnOnce(&Self) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E> {
        let (engine, span) = (Arc::clone(self), tracing::Span::current());
        let called = tokio::task::spawn_blocking(move || span.in_scope(|| call(&engine))).await;
        // An error means that the call panicked, or that the runtime is shutting down.
        called.unwrap_or_else(|error| Err(self.file_error(io::Error::other(error)).into()))
    }

    /// Returns an owner's jobs, newest first.
    ///
    /// # Errors
    /// [`JobError`] if the store is shared and cannot be read.
    pub async fn jobs(self: &Arc<Self>, owner: JobOwner) -> Result<Vec<Arc<Job>>, JobError> {
        self.refresh().await?;
        let mut jobs: Vec<Arc<Job>> =
            self.jobs.lock().values().filter(|job| job.record.owner == owner).cloned().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(Self::rank(job)));
        Ok(jobs)
    }

    /// Returns the sort key of a job among its owner's jobs. Newer jobs have greater keys.
    pub fn rank(job: &Job) -> (u64, JobId) {
        (time::millis(job.record.created), job.id())
    }

    /// Returns a snapshot of a job.
    pub fn view(&self, job: &Job) -> JobView {
        job.view(self.settings.keep, self.dispatch.has_worker())
    }

    /// Returns true if the last listing of jobs could read the store, or if no listing has ended yet.
    pub fn has_store(&self) -> bool {
        self.has_store.load(Ordering::Relaxed)
    }

    /// Returns the number of known jobs in each state.
    pub fn states(&self) -> Vec<(JobState, usize)> {
        let states: Vec<JobState> = self.jobs.lock().values().map(|job| job.state()).collect();
        JobState::ALL.iter().map(|of| (*of, states.iter().filter(|state| *state == of).count())).collect()
    }

    /// Returns the age of the oldest begun chunk whose part is not stored. Returns 0 if there is no such chunk, and
    /// `None` if other processes make the chunks.
    pub fn oldest_chunk(&self) -> Option<Duration> {
        let oldest = || self.jobs.lock().values().filter_map(|job| job.oldest_chunk()).min();
        (!self.dispatch.makes_elsewhere()).then(|| oldest().map_or(Duration::ZERO, |begun| begun.elapsed()))
    }

    fn file_error(&self, source: io::Error) -> JobError {
        JobError::File { path: self.store.files().path_of(""), source }
    }
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
