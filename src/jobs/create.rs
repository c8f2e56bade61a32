//! Creates jobs.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use taquin_bulk::{
    Created, JobBoards, JobId, JobSpec, LabelControl, LabelLimits, RequestedLimits, SampledBoards, Want, chunk_of_cost,
    cost_of_board,
};
use taquin_solver::{Control, Named};
use tracing::Level;

use super::creations::Creation;
use super::job::Job;
use super::owner::JobOwner;
use super::settings::CreateError;
use super::store::{JobRecord, NewFolder};
use super::{JobEngine, KEY_LOCKS, VERSION};
use crate::service::ServiceError;

/// A client's request for a job.
#[derive(Debug)]
pub struct Draft {
    /// The boards. If the boards come from an upload, `folder` contains them.
    pub boards: JobBoards,
    /// The kind of label that each board gets.
    pub want: Want,
    /// Limits of each search.
    pub limits: RequestedLimits,
    /// The folder with the uploaded boards; `None` for a recipe.
    pub folder: Option<NewFolder>,
}

/// Maximum number of chunks of a job in a shared store. The worker that ends a job keeps the manifest in memory, which
/// takes 150 bytes per chunk.
const MAX_SHARED_CHUNKS: u64 = 1 << 20;

/// Longest pause between attempts to estimate the cost of an upload while the service is overloaded.
const OVERLOAD_PAUSE: Duration = Duration::from_secs(1);

/// Time limit of the search on each board of the sample.
const SAMPLE_TIME: Duration = Duration::from_millis(250);

impl JobEngine {
    /// Creates a job, and stores the job's files. If the owner already has a job with this key, returns that job
    /// instead.
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
            Some(key) => owner.job_of_key(key),
            None => JobId::random().map_err(|error| self.file_error(error))?,
        };
        let limits = self.limits(draft.limits);
        let draft = Draft { limits, ..draft };
        let _making = match key {
            Some(_) => Some(self.making[usize::from(id.0[0]) % KEY_LOCKS].lock().await),
            None => None,
        };
        let (received, draft) = (draft.folder, Arc::new(Draft { folder: None, ..draft }));
        let existing = async || {
            let same = Arc::clone(&draft);
            self.blocking(move |engine| engine.existing(owner, id, &same)).await
        };
        if let Some(job) = existing().await? {
            return Ok(job);
        }
        self.refresh_for_quota().await;
        let is_received = received.is_some();
        let begun = match received {
            Some(folder) => self.check_quota(owner).map(|()| folder),
            None => self.begin_counted(owner, self.unfinished(owner)).await,
        };
        let folder = match begun {
            // Another process may have just created the job with this key. That job counts against the limit too, and
            // must be returned here.
            Err(CreateError::TooMany(unfinished)) => {
                return existing().await?.ok_or(CreateError::TooMany(unfinished));
            }
            begun => begun?,
        };
        let cost =
            if is_received { self.cost_of_upload(&draft, &folder).await? } else { self.cost(&draft, &folder).await? };
        let job = self.blocking(move |engine| engine.commit(owner, id, &draft, folder, cost)).await?;
        self.wake.notify_one();
        Ok(job)
    }

    /// Caps the requested time limit and the requested limit on expansions at the limits of the service.
    fn limits(&self, requested: RequestedLimits) -> RequestedLimits {
        let settings = self.service.settings();
        RequestedLimits {
            time: requested.time.map(|time| time.min(settings.max_time)),
            expanded: requested.expanded.map(|expanded| expanded.min(settings.max_expanded)),
            nodes: requested.nodes,
        }
    }

    /// Checks that an upload may begin, before the client sends the boards.
    ///
    /// # Errors
    /// See [`begin_upload`](Self::begin_upload).
    pub async fn check_upload(self: &Arc<Self>, owner: JobOwner, key: Option<&str>) -> Result<(), CreateError> {
        let unfinished = self.unfinished_beside(owner, key).await?;
        self.count(owner, unfinished).map(drop)
    }

    /// Begins an upload, and returns the folder for its boards. Until the folder is dropped, the upload counts against
    /// the owner's limit.
    ///
    /// # Errors
    /// [`CreateError`]. The error is [`TooMany`](CreateError::TooMany) if the owner has reached the limit of unfinished
    /// jobs. If the key already belongs to a job, only jobs in creation count against the limit.
    pub async fn begin_upload(self: &Arc<Self>, owner: JobOwner, key: Option<&str>) -> Result<NewFolder, CreateError> {
        let unfinished = self.unfinished_beside(owner, key).await?;
        self.begin_counted(owner, unfinished).await
    }

    /// Returns the number of the owner's unfinished jobs, or 0 if the key already belongs to a job. Fails if the number
    /// has reached the limit, or if the store cannot be read.
    async fn unfinished_beside(self: &Arc<Self>, owner: JobOwner, key: Option<&str>) -> Result<usize, CreateError> {
        let existing = match key {
            Some(key) => self.find(owner, owner.job_of_key(key)).await?,
            None => None,
        };
        if existing.is_some() {
            return Ok(0);
        }
        self.refresh_for_quota().await;
        self.check_quota(owner)?;
        Ok(self.unfinished(owner))
    }

    /// Counts a job in creation against the owner's limit, in addition to `unfinished` jobs of the owner. The job
    /// counts until the `Creation` is dropped. Fails if the owner has reached the limit.
    fn count(&self, owner: JobOwner, unfinished: usize) -> Result<Creation, CreateError> {
        let most = self.settings.max_unfinished.saturating_sub(unfinished);
        self.creations.begin(owner, most).map_err(|others| CreateError::TooMany(unfinished + others))
    }

    /// Creates a folder for a new job. Until the folder is dropped, the job counts against the owner's limit.
    async fn begin_counted(self: &Arc<Self>, owner: JobOwner, unfinished: usize) -> Result<NewFolder, CreateError> {
        let creation = self.count(owner, unfinished)?;
        let begin = |engine: &Self| engine.store.begin().map_err(|error| engine.file_error(error));
        let mut folder = self.blocking(begin).await?;
        folder.creation = Some(creation);
        Ok(folder)
    }

    /// Returns the job with this id; `None` if there is no such job, or if the owner may not see the job. Fails with
    /// [`CreateError::OtherJob`] if the specification of the job is readable and differs from `draft`. Blocks.
    fn existing(&self, owner: JobOwner, id: JobId, draft: &Draft) -> Result<Option<Arc<Job>>, CreateError> {
        let Some(job) = self.look_up(id)?.filter(|job| job.is_of(owner)) else { return Ok(None) };
        let spec = job.stored().spec();
        // The service may have had other limits when the job was created.
        let has_same_limits = self.limits(spec.limits) == self.limits(draft.limits);
        let is_same = spec.boards.has_same_rows(&draft.boards) && spec.want == draft.want && has_same_limits;
        if is_same || !job.has_spec() { Ok(Some(job)) } else { Err(CreateError::OtherJob(Box::new(spec.clone()))) }
    }

    /// Updates the known jobs, so that the jobs of other processes count against the owner's limit. Does nothing before
    /// the first successful listing. This function ignores errors: while the store is unreadable, exceeding the limit
    /// is better than refusing all jobs.
    async fn refresh_for_quota(self: &Arc<Self>) {
        if *self.has_searched.borrow() {
            drop(self.refresh().await);
        }
    }

    /// Fails if the owner has reached the limit of unfinished jobs. Jobs in creation do not count.
    fn check_quota(&self, owner: JobOwner) -> Result<(), CreateError> {
        let unfinished = self.unfinished(owner);
        if unfinished < self.settings.max_unfinished { Ok(()) } else { Err(CreateError::TooMany(unfinished)) }
    }

    fn unfinished(&self, owner: JobOwner) -> usize {
        let is_unfinished = |job: &&Arc<Job>| job.record.owner == owner && !job.state().is_ended();
        self.jobs.lock().values().filter(is_unfinished).count()
    }

    /// Estimates the mean core time of a board of an upload. Retries while the service is overloaded, until the time
    /// limit of the folder, so that the client need not send the boards again.
    async fn cost_of_upload(self: &Arc<Self>, draft: &Arc<Draft>, folder: &NewFolder) -> Result<Duration, CreateError> {
        loop {
            match self.cost(draft, folder).await {
                Err(CreateError::Service(ServiceError::Overloaded { retry_after, .. })) => {
                    folder.check_time()?;
                    tokio::time::sleep(retry_after.min(OVERLOAD_PAUSE)).await;
                }
                cost => return cost,
            }
        }
    }

    /// Estimates the mean core time of a board, by searches on a sample of the boards.
    async fn cost(self: &Arc<Self>, draft: &Arc<Draft>, folder: &NewFolder) -> Result<Duration, CreateError> {
        let (want, limits) = (draft.want, draft.limits);
        let (same, files) = (Arc::clone(draft), Arc::clone(folder.files()));
        let sampled: SampledBoards = self.blocking(move |_| same.boards.sample(&*files)).await?;
        let goal = draft.boards.goal();
        let settings = self.service.settings();
        if Want::Next.serves(goal.size()) {
            drop(self.service.tables().load_within_memory(goal, settings.default_time).await);
        }
        let memory = settings.bulk.search_memory;
        let limits = LabelLimits { most_time: SAMPLE_TIME, ..LabelLimits::of(limits, memory) };
        let service = Arc::clone(&self.service);
        let cost = move |control: Control<'_>| {
            let control = LabelControl { cancel: control.cancel, helpers: control.helpers, failures: None };
            cost_of_board(service.tables(), &sampled, want, limits, control)
        };
        Ok(self.service.run(memory, cost).await?)
    }

    /// Writes the files and the record of a job, and returns the job. If the id is taken, returns the existing job.
    fn commit(
        &self,
        owner: JobOwner,
        id: JobId,
        draft: &Draft,
        folder: NewFolder,
        cost: Duration,
    ) -> Result<Arc<Job>, CreateError> {
        let count = draft.boards.count();
        let spec = JobSpec {
            boards: draft.boards.clone(),
            want: draft.want,
            limits: draft.limits,
            tables: self.service.settings().tables,
            chunk: chunk_of_cost(cost, count),
            version: VERSION.to_owned(),
        };
        if !spec.has_valid_chunks() || self.store.is_shared() && spec.chunks() > MAX_SHARED_CHUNKS {
            return Err(CreateError::TooManyChunks);
        }
        folder.write(&spec)?;
        let core_seconds = cost.as_secs_f64() * count as f64;
        let record = JobRecord { owner, created: JobRecord::now(), core_seconds, folder: folder.name() };
        let _commit = self.commit.lock();
        if let Err(too_many) = self.check_quota(owner) {
            return self.existing(owner, id, draft)?.ok_or(too_many);
        }
        if self.store.create(id, &record, folder)? == Created::New {
            tracing::event!(
                target: "taquin::jobs",
                Level::INFO,
                message = "job created",
                job.id = %id,
                job.boards = count,
                job.want = spec.want.name(),
                job.parts = spec.chunks(),
            );
        }
        // The id belongs to the new job, or to a job that another process created. The other process may have deleted
        // its job.
        let job = self.existing(owner, id, draft)?;
        job.ok_or_else(|| self.file_error(io::ErrorKind::ResourceBusy.into()).into())
    }
}
