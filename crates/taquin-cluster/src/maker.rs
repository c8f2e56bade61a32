//! Does one task of a worker. The calls block, so they need a thread for blocking work.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::{
    Created, EndState, Files, FolderName, JobError, JobSpec, LoadedTables, Part, Progress, Resources, StoredJob, Want,
    label_boards,
};
use tracing::Level;

use crate::suspects::{Attempt, RowRange};
use crate::task::{Task, Work};

/// The solver of a worker, with its version, tables and memory.
pub trait JobSolver: Debug + Send + Sync {
    /// Returns true if this solver makes the labels that the job asks for. Some labels depend on the solver's
    /// version and tables.
    fn serves(&self, spec: &JobSpec) -> bool;

    /// Loads the tables of a job. The tables stay loaded until the returned value is dropped. The calling thread
    /// may block, and belongs to a tokio runtime.
    fn load_tables(&self, spec: &JobSpec) -> LoadedTables;

    /// Returns the resources for the searches on one thread. Setting `cancel` stops the searches.
    fn resources<'a>(&'a self, cancel: &'a AtomicBool) -> Resources<'a>;

    /// Counts a panic outside a search.
    fn panicked(&self);
}

/// Does the tasks of a worker: makes parts, and ends jobs.
#[derive(Debug)]
pub(crate) struct Maker {
    store: Arc<dyn Files>,
    solver: Arc<dyn JobSolver>,
    /// Age at which a cached job is checked in the store again.
    pub(crate) check_period: Duration,
    /// Jobs of recent tasks.
    jobs: Mutex<HashMap<FolderName, Known>>,
    /// Missing folders that have been logged.
    missing: Mutex<HashSet<FolderName>>,
    /// Time when a job was last found in the store; `None` until a job is found.
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

/// The work to do for a task.
#[derive(Debug)]
pub(crate) enum Begun {
    /// Nothing: the part exists, the job has ended or was deleted, or the job has no such chunk.
    Nothing,
    /// Nothing: the store lacks the folder. The job was deleted, or the service uses another store.
    Missing,
    /// Nothing: the labels depend on the solver, and the job was created with another version or other tables.
    OtherSolver,
    /// Label the chunk with this number.
    Chunk(Arc<StoredJob>, u64),
    /// End the job.
    End(Arc<StoredJob>),
}

/// Maximum number of jobs in the cache `jobs`, and of folders in the set `missing`. A cached job takes some kilobytes
/// of memory.
const REMEMBERED: usize = 256;

/// Time for which a found job counts as evidence that the worker and the service use the same store.
const FOUND_TIME: Duration = Duration::from_secs(600);

/// Time allowed for a board whose search has no time limit.
const UNLIMITED: Duration = Duration::from_secs(600);

impl Maker {
    /// Creates a maker for the jobs in `store`.
    pub(crate) fn new(store: Arc<dyn Files>, solver: Arc<dyn JobSolver>, check_period: Duration) -> Self {
        let (jobs, missing, found) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { store, solver, check_period, jobs, missing, found }
    }

    /// Determines the work to do for a task. Fails if the store fails, or if the job is damaged.
    pub(crate) fn begin(&self, task: &Task) -> Result<Begun, JobError> {
        let Work::Chunk(chunk) = task.work else {
            // The job is opened even if the job has ended, since an ended job may lack its card.
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
        Ok(if self.solver.serves(job.spec()) { Begun::Chunk(job, chunk) } else { Begun::OtherSolver })
    }

    fn note_found(&self) {
        *self.found.lock() = Some(Instant::now());
    }

    /// Returns true if a job was found in the store recently. If so, a missing folder means a deleted job.
    pub(crate) fn has_store_of_service(&self) -> bool {
        self.found.lock().is_some_and(|found| found.elapsed() < FOUND_TIME)
    }

    /// Logs a missing folder once, and returns [`Begun::Missing`].
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
            Some(known) if known.checked.elapsed() < self.check_period => return Ok(Found::Unfinished(known.job)),
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

    /// Opens the job in a folder; `None` if the folder has no job.
    fn open(&self, folder: FolderName) -> Result<Option<Arc<StoredJob>>, JobError> {
        match self.stored_job(folder) {
            Ok(job) => Ok(Some(Arc::new(job))),
            Err(JobError::NoJob(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn stored_job(&self, folder: FolderName) -> Result<StoredJob, JobError> {
        StoredJob::open_in(Arc::new(folder.in_store(&self.store)))
    }

    /// Returns true if the job in a folder has ended or was deleted. The result may be as old as `check_period`.
    pub(crate) fn is_over(&self, folder: FolderName) -> Result<bool, JobError> {
        self.job(folder).map(|job| !matches!(job, Found::Unfinished(_)))
    }

    /// Labels the boards of a chunk. Returns `None` once `cancel` is set. An isolated attempt records each range of
    /// rows before the attempt labels the range, in case the search of a board crashes the process.
    pub(crate) fn label(
        &self,
        (job, chunk): (&StoredJob, u64),
        is_isolated: bool,
        cancel: &AtomicBool,
        progress: &Progress,
    ) -> Result<Option<Part>, JobError> {
        let _loaded = self.solver.load_tables(job.spec());
        let resources = self.solver.resources(cancel);
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
        // The process has survived the attempt, even if the store failed. So the attempt must not count against a
        // board.
        let given_up = attempt.give_up();
        is_whole.and(given_up).map(|()| None)
    }

    pub(crate) fn note_panic(&self) {
        self.solver.panicked();
    }

    /// Stores a part. If the job has ended or was deleted, stores nothing and returns `None`.
    pub(crate) fn store(&self, job: &StoredJob, chunk: u64, part: &Part) -> Result<Option<Created>, JobError> {
        if job.is_over()? { Ok(None) } else { job.put_part(chunk, part).map(Some) }
    }

    /// Ends a job whose parts all exist, and writes the job's card. Returns true if the job has ended, now or before.
    /// Returns false if a part is missing, or once `cancel` is set. `progress` counts the parts read.
    pub(crate) fn end(&self, job: &StoredJob, cancel: &AtomicBool, progress: &Progress) -> Result<bool, JobError> {
        let goes_on = || {
            progress.labelled.fetch_add(1, Ordering::Relaxed);
            !cancel.load(Ordering::Relaxed)
        };
        // Another worker may have ended the job meanwhile, and may have exited before writing the card.
        if job.ended_at()?.is_none() && !job.complete_while(goes_on)? && job.ended_at()?.is_none() {
            return Ok(false);
        }
        job.put_card().map(|()| true)
    }

    /// Ends a job as failed, because the job is damaged or a search returned a wrong solution. Does nothing if the job
    /// was deleted, or if its specification is damaged.
    pub(crate) fn fail(&self, task: &Task, reason: &JobError) -> Result<(), JobError> {
        match self.stored_job(task.folder) {
            Ok(job) => job.abandon(EndState::Failed, Some(reason.for_clients(job.files()))).map(drop),
            Err(error) if error.is_temporary() => Err(error),
            // The job was deleted, or the job's description is damaged.
            Err(_) => Ok(()),
        }
    }

    /// Returns the time allowed for the searches on one board of a job; at least one minute.
    pub(crate) fn board_time(job: &StoredJob) -> Duration {
        let spec = job.spec();
        let searches = if Want::Next.serves(spec.boards.goal().size()) { 4 } else { 1 };
        spec.limits.time.map_or(UNLIMITED, |time| (searches * time).max(Duration::from_secs(60)))
    }
}

/// Labels a chunk in row ranges, and records each range before the labelling of the range. Returns false if the
/// labelling is cancelled.
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

/// Aborts the process at the board whose index is in an environment variable. Only debug builds do so, for tests.
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
    use taquin_bulk::test_files::{FailingFiles, Failure, FilesInMemory};
    use taquin_bulk::{JobBoards, Recipe, RequestedLimits, Row};
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{Board, LazyTables, Size};

    #[derive(Debug, Default)]
    struct Solver(LazyTables);

    impl JobSolver for Solver {
        fn serves(&self, _: &JobSpec) -> bool {
            true
        }

        fn load_tables(&self, _: &JobSpec) -> LoadedTables {
            LoadedTables::default()
        }

        fn resources<'a>(&'a self, cancel: &'a AtomicBool) -> Resources<'a> {
            Resources { tables: &self.0, threads: 1, search_memory: 1 << 20, cancel, failures: &() }
        }

        fn panicked(&self) {}
    }

    fn spec(side: usize, boards: u32, time: Option<u64>) -> JobSpec {
        let goal = Board::blank_last(Size::try_from((side, side)).unwrap());
        let limits = RequestedLimits { time: time.map(Duration::from_secs), ..RequestedLimits::default() };
        let recipe = JobBoards::Recipe(Recipe::try_new(goal, "s", boards.into()).unwrap());
        let version = "1".to_owned();
        JobSpec { boards: recipe, want: Want::Length, limits, tables: Tier::Small, chunk: boards, version }
    }

    #[test]
    fn a_store_that_fails_does_not_count_against_boards() {
        for failure in [Failure::NotMade, Failure::ResultLost] {
            let files = Arc::new(FilesInMemory::default());
            StoredJob::create_in(Arc::clone(&files) as _, &spec(3, 100, None)).unwrap();
            let maker = Maker::new(Arc::clone(&files) as _, Arc::<Solver>::default(), Duration::ZERO);
            let label = |call: usize| {
                let failing = Arc::new(FailingFiles::new(Arc::clone(&files), call, failure));
                let job = StoredJob::open_in(Arc::clone(&failing) as _);
                let labelled =
                    job.and_then(|job| maker.label((&job, 0), true, &AtomicBool::default(), &Progress::default()));
                assert_eq!(labelled.is_err(), failing.have_failed(), "{failure:?}, call {call}: {labelled:?}");
                labelled.ok()
            };
            // The access of number `call` fails in ten attempts in succession. `call` grows until an attempt has
            // fewer accesses and so succeeds.
            let whole = (0..100).find_map(|call| Some((call, (0..10).find_map(|_| label(call))?)));
            let (calls, part) = whole.expect("an attempt has fewer calls");
            let part = part.expect("nothing cancels it");
            assert!(calls > 30, "an attempt records each range: {calls}");
            assert!(part.len() == 100 && part.rows().all(|row| matches!(row, Row::Solved(_))), "{failure:?}");
        }
    }

    #[test]
    fn a_board_has_the_time_of_all_its_searches() {
        let job = |side: usize, time: Option<u64>| {
            StoredJob::create_in(Arc::new(FilesInMemory::default()), &spec(side, 1, time)).unwrap()
        };
        let hours = |hours: u64| Duration::from_secs(hours * 3600);
        assert_eq!(Maker::board_time(&job(3, Some(1))), Duration::from_secs(60));
        assert_eq!(Maker::board_time(&job(3, Some(24 * 3600))), hours(4 * 24));
        assert_eq!(Maker::board_time(&job(6, Some(24 * 3600))), hours(24));
        assert_eq!(Maker::board_time(&job(3, None)), UNLIMITED);
    }
}
