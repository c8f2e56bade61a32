//! Jobs of clients, made beside all other work of a service (docs/adr/0047).
//!
//! What exists in the directory is the state. [`JobEngine`] remembers what it has read there and what is under way. A task
//! of it, [`JobEngine::run`], compares both with what the service does every two seconds, so that nothing depends on a
//! message that might be lost.

mod begun_chunk;
mod chunk_queue;
mod id;
mod job;
mod lane;
mod settings;
mod store;
mod view;
mod work;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tracing::Level;

use super::chunk_size::{SampledBoards, chunk_of_cost, cost_of_board};
use super::files::Created;
use super::spec::{JobBoards, JobSpec};
use super::stored_job::JobError;
use crate::search::Named;
use crate::service::{RequestedLimits, SearchContext, Service, ServiceError, Sweep, SweepContext, SweepLimits, Want};
pub use id::{JobId, JobOwner};
pub use job::Job;
use lane::JobLane;
pub use settings::{CreateError, EngineError, JobSettings};
pub use store::Incoming;
use store::{JobRecord, JobStore};
pub use view::{JobCounts, JobState, JobView, WaitingFor};

/// The jobs of a service, in a directory of this process alone.
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
    /// Makes the chunks of the unfinished ones.
    lane: JobLane,
    /// Wakes the task of the engine.
    wake: Notify,
    is_draining: watch::Sender<bool>,
}

/// A job that a client wants.
#[derive(Debug)]
pub struct Draft {
    /// The boards; those of an input are in `incoming`.
    pub boards: JobBoards,
    /// What is found out.
    pub want: Want,
    /// Limits of each search.
    pub limits: RequestedLimits,
    /// The directory of the input.
    pub incoming: Option<Incoming>,
}

/// Version of the solver.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Time between two comparisons of what is and what should be.
const PERIOD: Duration = Duration::from_secs(2);

/// Jobs that are made at a time.
const MAKING: usize = 16;

/// Longest time of a board of the sample.
const SAMPLE_TIME: Duration = Duration::from_millis(250);

impl JobEngine {
    /// Opens the directory, and reads its jobs. They go on once [`run`](Self::run) is called. It is called in a tokio
    /// runtime.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn open(service: &Arc<Service>, settings: JobSettings) -> Result<Arc<Self>, EngineError> {
        let store = JobStore::open(&settings.directory)?;
        let engine = Arc::new(Self {
            service: Arc::clone(service),
            settings,
            store,
            making: std::array::from_fn(|_| AsyncMutex::default()),
            commit: Mutex::default(),
            jobs: Mutex::default(),
            lane: JobLane::new(service),
            wake: Notify::new(),
            is_draining: watch::Sender::new(false),
        });
        let path = engine.settings.directory.clone();
        let ids = engine.store.ids().map_err(|source| EngineError::Directory { path, source })?;
        for id in ids {
            match engine.load(id) {
                Ok(job) => engine.register(&job),
                Err(error) => {
                    let message = "job cannot be read";
                    tracing::event!(target: "taquin::jobs", Level::ERROR, message, job.id = %id, %error);
                }
            }
        }
        Ok(engine)
    }

    fn load(&self, id: JobId) -> Result<Arc<Job>, JobError> {
        let (record, stored) = self.store.job(id)?;
        let JobSpec { version, tables, .. } = stored.spec();
        let is_same_solver = version == VERSION && *tables == self.service.settings().tables;
        let is_served = is_same_solver || stored.spec().has_unique_labels();
        Job::load(id, record, stored, is_served).map(Arc::new)
    }

    fn register(&self, job: &Arc<Job>) {
        self.jobs.lock().insert(job.id(), Arc::clone(job));
        if !job.state().is_ended() {
            self.lane.add(job);
        }
    }

    /// Its settings.
    pub fn settings(&self) -> &JobSettings {
        &self.settings
    }

    /// Keeps the jobs going until [`drain`](Self::drain) is called.
    pub async fn run(self: Arc<Self>) {
        let mut is_draining = self.is_draining.subscribe();
        loop {
            self.lane.reconcile();
            let engine = Arc::clone(&self);
            // Removing files takes time.
            let _ = tokio::task::spawn_blocking(move || engine.remove_expired()).await;
            tokio::select! {
                () = self.wake.notified() => {}
                () = tokio::time::sleep(PERIOD) => {}
                _ = is_draining.wait_for(|is_draining| *is_draining) => return,
            }
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
        let now = SystemTime::now();
        let is_expired = |job: &&Arc<Job>| job.ended().is_some_and(|ended| ended + self.settings.keep <= now);
        let expired: Vec<Arc<Job>> = self.jobs.lock().values().filter(is_expired).map(Arc::clone).collect();
        for job in expired {
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

    fn remove(&self, job: &Job) -> io::Result<()> {
        let _commit = self.commit.lock();
        if self.jobs.lock().remove(&job.id()).is_none() {
            return Ok(());
        }
        self.store.remove(job.id())
    }

    /// The job of this id, if it is the owner's.
    pub fn job(&self, owner: JobOwner, id: JobId) -> Option<Arc<Job>> {
        self.jobs.lock().get(&id).filter(|job| job.owner() == owner).cloned()
    }

    /// The jobs of an owner, the newest first.
    pub fn jobs(&self, owner: JobOwner) -> Vec<Arc<Job>> {
        let mut jobs: Vec<Arc<Job>> = self.jobs.lock().values().filter(|job| job.owner() == owner).cloned().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(Self::rank(job)));
        jobs
    }

    /// The place of a job among those of its owner: the newer, the greater.
    pub fn rank(job: &Job) -> (u64, JobId) {
        (store::millis(job.created()), job.id())
    }

    /// The job now.
    pub fn view(&self, job: &Job) -> JobView {
        job.view(self.settings.keep, self.service.load().bulk > 0)
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

    /// Begins a directory for the boards of an input.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin_upload(&self) -> io::Result<Incoming> {
        self.store.begin()
    }

    /// Creates a job. Its files are on the disk when this returns. An owner gets the same job for the same key.
    ///
    /// # Errors
    /// [`CreateError`].
    pub async fn create(
        self: &Arc<Self>,
        owner: JobOwner,
        key: Option<&str>,
        draft: Draft,
    ) -> Result<Arc<Job>, CreateError> {
        let id = match key {
            Some(key) => JobId::of_key(owner, key),
            None => JobId::random().map_err(|error| self.file_error(error))?,
        };
        let limits = self.limits(draft.limits);
        let draft = Draft { limits, ..draft };
        let _making = self.making[id.shard(MAKING)].lock().await;
        if let Some(job) = self.existing(owner, id, &draft)? {
            return Ok(job);
        }
        self.check_quota(owner)?;
        let incoming = match draft.incoming {
            Some(incoming) => incoming,
            None => self.begin_upload().map_err(|error| self.file_error(error))?,
        };
        let draft = Draft { incoming: None, ..draft };
        let cost = self.cost(&draft, &incoming).await?;
        let engine = Arc::clone(self);
        let span = tracing::Span::current();
        let commit = move || span.in_scope(|| engine.commit(owner, id, draft, &incoming, cost));
        let job = tokio::task::spawn_blocking(commit).await;
        let job = job.unwrap_or(Err(CreateError::Service(ServiceError::Failed("the job was not created"))))?;
        self.wake.notify_one();
        Ok(job)
    }

    /// Limits of the searches of a job: the requested ones, within those of the service.
    fn limits(&self, requested: RequestedLimits) -> RequestedLimits {
        let settings = self.service.settings();
        RequestedLimits {
            time: requested.time.map(|time| time.min(settings.max_time)),
            expanded: requested.expanded.map(|expanded| expanded.min(settings.max_expanded)),
            nodes: None,
        }
    }

    /// The job of an id, if there is one.
    ///
    /// # Errors
    /// [`CreateError::OtherJob`].
    fn existing(&self, owner: JobOwner, id: JobId, draft: &Draft) -> Result<Option<Arc<Job>>, CreateError> {
        let Some(job) = self.job(owner, id) else { return Ok(None) };
        let spec = job.stored().spec();
        let is_same = spec.boards == draft.boards && spec.want == draft.want && spec.limits == draft.limits;
        if is_same { Ok(Some(job)) } else { Err(CreateError::OtherJob(Box::new(spec.clone()))) }
    }

    /// Checks that an owner may have another unfinished job.
    ///
    /// # Errors
    /// [`CreateError::TooMany`].
    pub fn check_quota(&self, owner: JobOwner) -> Result<(), CreateError> {
        let unfinished = self.lane.unfinished(owner);
        if unfinished < self.settings.max_unfinished { Ok(()) } else { Err(CreateError::TooMany(unfinished)) }
    }

    /// Estimates the time of a core for a board.
    async fn cost(&self, draft: &Draft, incoming: &Incoming) -> Result<Duration, CreateError> {
        let (want, limits) = (draft.want, draft.limits);
        let sampled: SampledBoards = draft.boards.sample(incoming.directory())?;
        let goal = draft.boards.goal();
        let settings = self.service.settings();
        if Sweep::serves(Want::Next, goal.size()) {
            drop(self.service.tables().load_within_memory(goal, settings.default_time).await);
        }
        let memory = settings.bulk.search_memory;
        let limits = SweepLimits { most_time: SAMPLE_TIME, ..SweepLimits::of(limits, memory) };
        let service = Arc::clone(&self.service);
        let cost = move |context: SearchContext<'_>| {
            let context = SweepContext { cancel: context.cancel, helpers: context.helpers };
            cost_of_board(service.tables(), &sampled, want, limits, context)
        };
        Ok(self.service.run(memory, cost).await?)
    }

    /// Writes the files of a job and gives them their place, unless another job has it.
    fn commit(
        &self,
        owner: JobOwner,
        id: JobId,
        draft: Draft,
        incoming: &Incoming,
        cost: Duration,
    ) -> Result<Arc<Job>, CreateError> {
        let count = draft.boards.count();
        let core_seconds = cost.as_secs_f64() * count as f64;
        let record = JobRecord { owner, created: JobRecord::now(), core_seconds };
        let spec = JobSpec {
            boards: draft.boards.clone(),
            want: draft.want,
            limits: draft.limits,
            tables: self.service.settings().tables,
            chunk: chunk_of_cost(cost, count),
            version: VERSION.to_owned(),
        };
        if !spec.has_valid_chunks() {
            return Err(CreateError::TooManyChunks);
        }
        incoming.write(&record, &spec)?;
        let _commit = self.commit.lock();
        if let Some(job) = self.existing(owner, id, &draft)? {
            return Ok(job);
        }
        self.check_quota(owner)?;
        if self.store.create(id, incoming)? == Created::Existed {
            // It could not be read at the start.
            return Err(self.file_error(io::ErrorKind::AlreadyExists.into()).into());
        }
        let job = self.load(id)?;
        self.register(&job);
        tracing::event!(
            target: "taquin::jobs",
            Level::INFO,
            message = "job created",
            job.id = %id,
            job.boards = count,
            job.want = spec.want.name(),
            job.parts = spec.chunks(),
        );
        Ok(job)
    }

    /// Ends an unfinished job, or deletes one that has ended. Returns true if it was unfinished. It blocks.
    ///
    /// # Errors
    /// [`JobError`] if that cannot be stored.
    pub fn cancel_or_delete(&self, job: &Job) -> Result<bool, JobError> {
        if job.state().is_ended() {
            self.remove(job).map_err(|error| self.file_error(error))?;
            tracing::event!(target: "taquin::jobs", Level::INFO, message = "job deleted", job.id = %job.id());
            return Ok(false);
        }
        job.cancel()?;
        self.wake.notify_one();
        Ok(true)
    }

    fn file_error(&self, source: io::Error) -> JobError {
        JobError::File { path: self.settings.directory.clone(), source }
    }
}

impl std::fmt::Debug for JobEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobEngine").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
