//! Does one task of a worker, on a thread that may block.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::{
    Created, EndState, FolderName, JobError, JobSpec, LoadedTables, Part, Progress, Resources, StoredJob, Want,
    label_boards,
};
use tokio::runtime::Handle;
use tracing::Level;

use super::suspects::{Attempt, RowRange};
use super::task::{Task, Work};
use crate::jobs::JobStore;
use crate::service::Service;

/// Makes parts, and ends jobs.
#[derive(Debug)]
pub struct Maker {
    store: JobStore,
    /// Provides tables, and the memory limit of bulk searches.
    service: Arc<Service>,
    /// Jobs of recent tasks.
    jobs: Mutex<HashMap<FolderName, Known>>,
    /// Missing folders, each logged once.
    missing: Mutex<HashSet<FolderName>>,
    /// Time when the store last had a job.
    found: Mutex<Option<Instant>>,
}

/// A cached job.
#[derive(Clone, Debug)]
struct Known {
    job: Arc<StoredJob>,
    /// Time when the store last said that the job is unfinished.
    checked: Instant,
}

/// State of the job in a folder.
enum Found {
    Unfinished(Arc<StoredJob>),
    Over,
    Missing,
}

/// The work that a task asks for.
#[derive(Debug)]
pub(crate) enum Begun {
    /// Nothing: the part exists, or the job has ended.
    Nothing,
    /// Nothing: the store lacks the folder. The job was deleted, or the service uses another store.
    Missing,
    /// Nothing: the labels depend on the solver, and the job was created with another version or other tables.
    OtherSolver,
    /// Label the chunk of this number.
    Chunk(Arc<StoredJob>, u64),
    /// End the job.
    End(Arc<StoredJob>),
}

/// Capacity of the job cache. A job takes kilobytes.
const REMEMBERED: usize = 256;

/// Time after its last job for which the store counts as the store of the service.
const FOUND_TIME: Duration = Duration::from_secs(600);

/// Age at which a cached job is checked in the store again.
pub(crate) const CHECK_PERIOD: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 4000 });

/// Time allowed for a board whose search has no time limit.
const UNLIMITED: Duration = Duration::from_secs(600);

impl Maker {
    /// A maker for the jobs in `store`.
    pub fn new(store: JobStore, service: Arc<Service>) -> Self {
        Self { store, service, jobs: Mutex::default(), missing: Mutex::default(), found: Mutex::default() }
    }

    /// Decides what the task asks for. Fails if the store fails, or the job is damaged.
    pub(crate) fn begin(&self, task: &Task) -> Result<Begun, JobError> {
        let Work::Chunk(chunk) = task.work else {
            // Also for an ended job: its card may be missing.
            return Ok(self.open(task.folder)?.map_or_else(|| self.missing(task.folder), Begun::End));
        };
        let job = match self.job(task.folder)? {
            Found::Unfinished(job) => job,
            Found::Over => {
                self.note_found();
                return Ok(Begun::Nothing);
            }
            Found::Missing => return Ok(self.missing(task.folder)),
        };
        if chunk >= job.spec().chunks() || job.has_part(chunk)? {
            return Ok(Begun::Nothing);
        }
        let is_served = job.spec().is_served_by(env!("CARGO_PKG_VERSION"), self.service.settings().tables);
        Ok(if is_served { Begun::Chunk(job, chunk) } else { Begun::OtherSolver })
    }

    fn note_found(&self) {
        *self.found.lock() = Some(Instant::now());
    }

    /// True if the store had a job recently. A missing folder then means a deleted job.
    pub(crate) fn has_store_of_service(&self) -> bool {
        self.found.lock().is_some_and(|found| found.elapsed() < FOUND_TIME)
    }

    /// Logs a missing folder once.
    fn missing(&self, folder: FolderName) -> Begun {
        let mut missing = self.missing.lock();
        if missing.len() >= REMEMBERED {
            missing.clear();
        }
        if missing.insert(folder) {
            let message = "the store has no such job: it was deleted, or the service has another store";
            tracing::event!(target: "taquin::worker", Level::WARN, message, job.folder = %folder);
        }
        Begun::Missing
    }

    fn job(&self, folder: FolderName) -> Result<Found, JobError> {
        let known = self.jobs.lock().get(&folder).cloned();
        let job = match known {
            Some(known) if known.checked.elapsed() < CHECK_PERIOD => return Ok(Found::Unfinished(known.job)),
            Some(known) => known.job,
            None => match self.open(folder)? {
                Some(job) => job,
                None => return Ok(Found::Missing),
            },
        };
        if job.is_over()? {
            self.jobs.lock().remove(&folder);
            return Ok(Found::Over);
        }
        let mut jobs = self.jobs.lock();
        if jobs.len() >= REMEMBERED {
            let oldest = jobs.iter().min_by_key(|(_, known)| known.checked).map(|(folder, _)| *folder);
            oldest.map(|folder| jobs.remove(&folder));
        }
        jobs.insert(folder, Known { job: Arc::clone(&job), checked: Instant::now() });
        self.note_found();
        Ok(Found::Unfinished(job))
    }

    /// Opens the job in a folder; `None` if there is none.
    fn open(&self, folder: FolderName) -> Result<Option<Arc<StoredJob>>, JobError> {
        match self.store.open(folder) {
            Ok(job) => Ok(Some(Arc::new(job))),
            Err(JobError::NoJob(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// True if the job in a folder has ended or was deleted. The answer may be [`CHECK_PERIOD`] old.
    pub(crate) fn is_over(&self, folder: FolderName) -> Result<bool, JobError> {
        self.job(folder).map(|job| !matches!(job, Found::Unfinished(_)))
    }

    /// Labels the boards of a chunk. Returns `None` once `cancel` is raised. An isolated attempt records its position, in
    /// case a board ends the process.
    pub(crate) fn label(
        &self,
        (job, chunk): (&StoredJob, u64),
        is_isolated: bool,
        cancel: &AtomicBool,
        progress: &Progress,
    ) -> Result<Option<Part>, JobError> {
        let (settings, tables) = (self.service.settings(), self.service.tables());
        let _loaded = self.load_tables(job.spec());
        let resources = Resources {
            tables,
            threads: 1,
            search_memory: settings.bulk.search_memory,
            cancel,
            failures: self.service.metrics(),
        };
        let boards = job.spec().boards_of(chunk);
        let mut part = Part::new(job.spec().want);
        if !is_isolated {
            let is_searched = |index| {
                end_process_at(index);
                true
            };
            let is_whole = label_boards(job, boards, is_searched, &resources, progress, &mut part)?;
            return Ok(is_whole.then_some(part));
        }
        let attempt = Attempt::begin(job, chunk)?;
        let is_whole = label_isolated(job, boards, &attempt, &resources, progress, &mut part);
        if let Ok(true) = is_whole {
            return Ok(Some(part));
        }
        // The process survives, even if the store failed.
        let given_up = attempt.give_up();
        is_whole.and(given_up).map(|()| None)
    }

    /// Loads the tables of a job. Labels that depend on tables use the tables of the specification. Other tables must
    /// fit into the table memory, and stay loaded until the returned value is dropped.
    fn load_tables(&self, spec: &JobSpec) -> LoadedTables {
        let (settings, tables, goal) = (self.service.settings(), self.service.tables(), spec.boards.goal());
        if spec.has_unique_labels() {
            return Handle::current().block_on(tables.load_within_memory(goal, settings.default_time));
        }
        tables.load_for(goal, spec.want, settings.tables);
        LoadedTables::default()
    }

    pub(crate) fn note_panic(&self) {
        self.service.metrics().panicked();
    }

    /// Stores a part. Returns `None` if the job has ended.
    pub(crate) fn store(&self, job: &StoredJob, chunk: u64, part: &Part) -> Result<Option<Created>, JobError> {
        if job.is_over()? { Ok(None) } else { job.put_part(chunk, part).map(Some) }
    }

    /// Ends a job whose parts all exist. Returns false if a part is missing, or `cancel` is raised. `progress` counts
    /// the parts read.
    pub(crate) fn end(&self, job: &StoredJob, cancel: &AtomicBool, progress: &Progress) -> Result<bool, JobError> {
        let goes_on = || {
            progress.labelled.fetch_add(1, Ordering::Relaxed);
            !cancel.load(Ordering::Relaxed)
        };
        // Another worker may end the job meanwhile, and exit before it writes the card.
        if job.ended_at()?.is_none() && !job.complete_while(goes_on)? && job.ended_at()?.is_none() {
            return Ok(false);
        }
        job.put_card().map(|()| true)
    }

    /// Ends a damaged job as failed.
    pub(crate) fn fail(&self, task: &Task, reason: &JobError) -> Result<(), JobError> {
        match self.store.open(task.folder) {
            Ok(job) => job.abandon(EndState::Failed, Some(reason.for_clients(job.files()))).map(drop),
            // The job was deleted, or its description is damaged.
            Err(error) if error.is_temporary() => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// Longest time that a board of a job may take.
    pub(crate) fn board_time(job: &StoredJob) -> Duration {
        let spec = job.spec();
        let searches = if Want::Next.serves(spec.boards.goal().size()) { 4 } else { 1 };
        spec.limits.time.map_or(UNLIMITED, |time| (searches * time).max(Duration::from_secs(60)))
    }
}

/// Labels a chunk in row ranges, and records each range before it begins. Returns false if it is cancelled.
fn label_isolated(
    job: &StoredJob,
    boards: Range<u64>,
    attempt: &Attempt<'_>,
    resources: &Resources<'_>,
    progress: &Progress,
    part: &mut Part,
) -> Result<bool, JobError> {
    for RowRange { first, rows } in attempt.ranges() {
        attempt.mark(RowRange { first, rows })?;
        let is_searched = |index| {
            let is_searched = attempt.is_searched(index - boards.start);
            if is_searched {
                end_process_at(index);
            }
            is_searched
        };
        let range = boards.start + first..boards.start + first + rows;
        if !label_boards(job, range, is_searched, resources, progress, part)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Aborts the process at the board named by an environment variable; debug builds only, for tests.
fn end_process_at(index: u64) {
    static DEADLY: LazyLock<Option<u64>> = LazyLock::new(|| {
        let index = std::env::var("END_PROCESS_AT_BOARD").ok().filter(|_| cfg!(debug_assertions));
        index.and_then(|index| index.parse().ok())
    });
    if *DEADLY == Some(index) {
        std::process::abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_bulk::test_files::FilesInMemory;
    use taquin_bulk::{JobBoards, Recipe, RequestedLimits};
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{Board, Size};

    #[test]
    fn a_board_has_the_time_of_all_its_searches() {
        let job = |cells: usize, time: Option<u64>| {
            let goal = Board::blank_last(Size::try_from((cells, cells)).unwrap());
            let limits = RequestedLimits { time: time.map(Duration::from_secs), ..RequestedLimits::default() };
            let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", 1).unwrap());
            let version = "1".to_owned();
            let spec = JobSpec { boards, want: Want::Length, limits, tables: Tier::Small, chunk: 1, version };
            StoredJob::create_in(Arc::new(FilesInMemory::default()), &spec).unwrap()
        };
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        assert_eq!(Maker::board_time(&job(3, Some(1))), Duration::from_secs(60));
        assert_eq!(Maker::board_time(&job(3, Some(24 * 3600))), hours(4 * 24));
        assert_eq!(Maker::board_time(&job(6, Some(24 * 3600))), hours(24));
        assert_eq!(Maker::board_time(&job(3, None)), UNLIMITED);
    }
}
