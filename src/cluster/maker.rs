//! What a worker does for one task, on a thread that may block.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::task::{Task, Work};
use crate::jobs::{
    Created, EndState, FolderName, JobError, JobStore, Part, Progress, Resources, StoredJob, label_chunk,
};
use crate::service::{Service, Sweep, Want};

/// Makes parts, and ends jobs.
#[derive(Debug)]
pub struct Maker {
    store: JobStore,
    /// Its tables, and its limit of memory for searches of bulk work.
    service: Arc<Service>,
    /// Jobs whose tasks came lately.
    jobs: Mutex<HashMap<FolderName, Known>>,
}

/// A job that was opened.
#[derive(Clone, Debug)]
struct Known {
    job: Arc<StoredJob>,
    /// When the store last said that the job goes on.
    checked: Instant,
}

/// What is to be done for a task.
#[derive(Debug)]
pub(super) enum Begun {
    /// Nothing: the part exists, or the job has ended or was deleted.
    Nothing,
    /// Nothing here: labels depend on the solver, and that of the job has another version or other tables.
    OtherSolver,
    /// Label a chunk.
    Chunk(Arc<StoredJob>, u64),
    /// End the job.
    End(Arc<StoredJob>),
}

/// Jobs that are remembered. A job takes kilobytes.
const REMEMBERED: usize = 256;

/// Time for which a job counts as unfinished without a look into the store.
pub(super) const CHECK_PERIOD: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 4000 });

/// Time for which a board may be in hand if its search has no time limit.
const UNLIMITED: Duration = Duration::from_secs(600);

impl Maker {
    /// A maker for the jobs of a store.
    pub fn new(store: JobStore, service: Arc<Service>) -> Self {
        Self { store, service, jobs: Mutex::default() }
    }

    /// Finds out what is to be done.
    ///
    /// # Errors
    /// [`JobError`] if the store fails, or the job is damaged.
    pub(super) fn begin(&self, task: &Task) -> Result<Begun, JobError> {
        let Work::Chunk(chunk) = task.work else {
            // Also of a job that has ended: its card may be missing.
            return Ok(self.open(task.folder)?.map_or(Begun::Nothing, Begun::End));
        };
        let Some(job) = self.job(task.folder)? else { return Ok(Begun::Nothing) };
        if chunk >= job.spec().chunks() || job.has_part(chunk)? {
            return Ok(Begun::Nothing);
        }
        let is_served = job.spec().is_served_by(env!("CARGO_PKG_VERSION"), self.service.settings().tables);
        Ok(if is_served { Begun::Chunk(job, chunk) } else { Begun::OtherSolver })
    }

    /// The job of a folder, unless it has ended or was deleted.
    fn job(&self, folder: FolderName) -> Result<Option<Arc<StoredJob>>, JobError> {
        let known = self.jobs.lock().get(&folder).cloned();
        let job = match known {
            Some(known) if known.checked.elapsed() < CHECK_PERIOD => return Ok(Some(known.job)),
            Some(known) => known.job,
            None => match self.open(folder)? {
                Some(job) => job,
                None => return Ok(None),
            },
        };
        if job.is_over()? {
            self.jobs.lock().remove(&folder);
            return Ok(None);
        }
        let mut jobs = self.jobs.lock();
        if jobs.len() >= REMEMBERED {
            let oldest = jobs.iter().min_by_key(|(_, known)| known.checked).map(|(folder, _)| *folder);
            oldest.map(|folder| jobs.remove(&folder));
        }
        jobs.insert(folder, Known { job: Arc::clone(&job), checked: Instant::now() });
        Ok(Some(job))
    }

    /// The job of a folder; `None` if it was deleted.
    fn open(&self, folder: FolderName) -> Result<Option<Arc<StoredJob>>, JobError> {
        match self.store.open(folder) {
            Ok(job) => Ok(Some(Arc::new(job))),
            Err(JobError::NoJob(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// True if the job of a folder has ended or was deleted. The answer may be as old as [`CHECK_PERIOD`].
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn is_over(&self, folder: FolderName) -> Result<bool, JobError> {
        self.job(folder).map(|job| job.is_none())
    }

    /// Labels the boards of a chunk. Returns `None` once `cancel` is raised.
    ///
    /// # Errors
    /// [`JobError`] if the boards cannot be read.
    pub(super) fn label(
        &self,
        job: &StoredJob,
        chunk: u64,
        cancel: &AtomicBool,
        progress: &Progress,
    ) -> Result<Option<Part>, JobError> {
        let (settings, tables) = (self.service.settings(), self.service.tables());
        tables.load_for(job.spec().boards.goal(), settings.tables);
        let resources = Resources { tables, threads: 1, search_memory: settings.bulk.search_memory, cancel };
        label_chunk(job, chunk, &resources, progress)
    }

    /// Stores a part, unless the job has ended. Returns `None` then.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn store(&self, job: &StoredJob, chunk: u64, part: &Part) -> Result<Option<Created>, JobError> {
        if job.is_over()? { Ok(None) } else { job.put_part(chunk, part).map(Some) }
    }

    /// Ends a job whose parts all exist. Returns false if one is missing.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn end(&self, job: &StoredJob) -> Result<bool, JobError> {
        if !job.complete()? {
            return Ok(false);
        }
        job.put_card().map(|()| true)
    }

    /// Ends a job that cannot go on.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn fail(&self, task: &Task, reason: &JobError) -> Result<(), JobError> {
        match self.store.open(task.folder) {
            Ok(job) => job.abandon(EndState::Failed, Some(reason.to_string())).map(drop),
            // It was deleted, or its description is damaged.
            Err(error) if error.is_temporary() => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// Longest time for which a board of a job may be in hand.
    pub(super) fn board_time(job: &StoredJob) -> Duration {
        let spec = job.spec();
        let searches = if Sweep::serves(Want::Next, spec.boards.goal().size()) { 4 } else { 1 };
        spec.limits.time.map_or(UNLIMITED, |time| (searches * time).clamp(Duration::from_secs(60), UNLIMITED))
    }
}
