//! Makes the parts of a job on the threads of this process.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use taquin_solver::Puzzle;

use super::part::{Part, Row};
use super::stored_job::{JobError, StoredJob};
use crate::service::{Label, Metrics, Sweep, SweepContext, SweepError, SweepLimits, Tables};

/// The share of a job that one of several processes makes: every n-th chunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// All chunks.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Share `index`, from 0, of `count`; `None` if there is no such share.
    pub fn try_new(index: u64, count: u64) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// True if a chunk belongs to the share.
    pub fn has(self, chunk: u64) -> bool {
        chunk % self.count == self.index
    }
}

/// Figures of a run, which it updates as it goes.
#[derive(Debug, Default)]
pub struct Progress {
    /// Boards of the share; 0 if their number is not known.
    pub total: AtomicU64,
    /// True if `total` is an estimate.
    pub is_estimate: AtomicBool,
    /// Boards that were labelled before the run.
    pub resumed: AtomicU64,
    /// Boards labelled by this run.
    pub labelled: AtomicU64,
    /// Boards whose search failed, and rows that are no boards.
    pub failed: AtomicU64,
    /// Longest solution that this run has found.
    pub hardest: AtomicU32,
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunEnd {
    /// All parts of the share exist.
    Finished,
    /// It was cancelled.
    Cancelled,
}

/// What a run has at hand.
#[derive(Clone, Copy, Debug)]
pub struct Resources<'a> {
    /// Loaded tables.
    pub tables: &'a Tables,
    /// Number of threads.
    pub threads: usize,
    /// Memory for the nodes of one search, in bytes.
    pub search_memory: u64,
    /// Stops the run when raised.
    pub cancel: &'a AtomicBool,
    /// Counts searches that panicked.
    pub metrics: &'a Metrics,
}

impl Resources<'_> {
    /// A sweep of the boards of a job.
    pub(super) fn sweep(&self, job: &StoredJob) -> Sweep<'_> {
        let spec = job.spec();
        Sweep::new(self.tables, *spec.boards.goal(), spec.want, SweepLimits::of(spec.limits, self.search_memory))
    }
}

/// Labels the boards of one chunk. Returns `None` if the run is cancelled. Searches that panic become rows.
///
/// # Errors
/// [`JobError`] if the boards cannot be read, or if a solution is wrong.
pub fn label_chunk(
    job: &StoredJob,
    chunk: u64,
    resources: &Resources<'_>,
    progress: &Progress,
) -> Result<Option<Part>, JobError> {
    let mut part = Part::new(job.spec().want);
    let boards = job.spec().boards_of(chunk);
    let is_whole = label_boards(job, boards, |_| true, resources, progress, &mut part)?;
    Ok(is_whole.then_some(part))
}

/// Labels the boards with these indices and appends their rows to a part. Boards for which `is_searched` is false fail.
/// Returns false if the run is cancelled.
///
/// # Errors
/// [`JobError`] if the boards cannot be read, or if a solution is wrong.
pub fn label_boards(
    job: &StoredJob,
    indices: Range<u64>,
    is_searched: impl Fn(u64) -> bool,
    resources: &Resources<'_>,
    progress: &Progress,
    part: &mut Part,
) -> Result<bool, JobError> {
    let sweep = resources.sweep(job);
    let context = SweepContext { cancel: &[resources.cancel], helpers: None };
    for (index, puzzle) in indices.clone().zip(job.boards(indices)?) {
        if resources.cancel.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let row = match puzzle {
            None => Row::Invalid,
            Some(_) if !is_searched(index) => Row::Failed,
            Some(puzzle) => match row_of(sweep.label(&puzzle, context), &puzzle, resources.metrics)? {
                Some(row) => row,
                None => return Ok(false),
            },
        };
        progress.count(&row);
        part.push(&row);
    }
    Ok(true)
}

/// The row of a board; `None` if its search was cancelled. A search that panicked is a failed row.
///
/// # Errors
/// [`JobError::WrongSolution`]: the solutions of other boards may be wrong too.
pub fn row_of(label: Result<Label, SweepError>, puzzle: &Puzzle, metrics: &Metrics) -> Result<Option<Row>, JobError> {
    let failure = match label {
        Ok(label) => return Ok(Some(Row::Solved(label))),
        Err(SweepError::Cancelled) => return Ok(None),
        Err(failure) => failure,
    };
    failure.report(puzzle, metrics);
    if failure == SweepError::WRONG_SOLUTION { Err(JobError::WrongSolution) } else { Ok(Some(Row::Failed)) }
}

impl Progress {
    /// Counts a row.
    pub fn count(&self, row: &Row) {
        match row {
            Row::Solved(label) => self.hardest.fetch_max(label.length, Ordering::Relaxed),
            Row::Failed | Row::Invalid => self.failed.fetch_add(1, Ordering::Relaxed) as u32,
        };
        self.labelled.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes the missing parts of a share, in the order of their chunks.
///
/// # Errors
/// The first [`JobError`] of a thread. The parts that were stored remain.
pub fn run(job: &StoredJob, shard: Shard, resources: &Resources<'_>, progress: &Progress) -> Result<RunEnd, JobError> {
    let boards = |chunk: u64| {
        let boards = job.spec().boards_of(chunk);
        boards.end - boards.start
    };
    let done = job.done()?;
    for (chunk, is_done) in (0..).zip(&done).filter(|(chunk, _)| shard.has(*chunk)) {
        progress.total.fetch_add(boards(chunk), Ordering::Relaxed);
        if *is_done {
            progress.resumed.fetch_add(boards(chunk), Ordering::Relaxed);
        }
    }
    let (next, is_over, failure) = (AtomicUsize::new(0), AtomicBool::new(false), Mutex::new(None));
    let make = |chunk: u64| match label_chunk(job, chunk, resources, progress)? {
        Some(part) => job.put_part(chunk, &part).map(|_| ()),
        None => Ok(()),
    };
    let work = || {
        while !is_over.load(Ordering::Relaxed) && !resources.cancel.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(is_done) = done.get(at) else { return };
            if *is_done || !shard.has(at as u64) {
                continue;
            }
            if let Err(error) = make(at as u64) {
                is_over.store(true, Ordering::Relaxed);
                failure.lock().get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..resources.threads {
            // If no thread can be created, the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    match failure.into_inner() {
        Some(error) => Err(error),
        None if resources.cancel.load(Ordering::Relaxed) => Ok(RunEnd::Cancelled),
        None => Ok(RunEnd::Finished),
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::jobs::directory::tests::Scratch;
    use crate::jobs::files::Files;
    use crate::jobs::files::tests::{FailingFiles, Failure, FilesInMemory};
    use crate::jobs::input::InputWriter;
    use crate::jobs::input_problems::InputProblemsWriter;
    use crate::jobs::recipe::Recipe;
    use crate::jobs::spec::{JobBoards, JobSpec};
    use crate::service::{RequestedLimits, ServiceError, Want};
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{Board, Size, SplitMix, WrongSolution, random_board};

    /// Where the boards come from.
    #[derive(Clone, Copy, Debug)]
    enum Source {
        Recipe,
        /// Some rows are no boards.
        Input,
    }

    const SOURCES: [Source; 2] = [Source::Recipe, Source::Input];
    const ROWS: u64 = 40;

    impl Source {
        fn boards(self, files: &Arc<dyn Files>) -> io::Result<JobBoards> {
            let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
            if let Self::Recipe = self {
                return Ok(JobBoards::Recipe(Recipe::try_new(goal, "s", ROWS).unwrap()));
            }
            let mut writer = InputWriter::new(Arc::clone(files), goal)?;
            let mut random = SplitMix(1);
            for row in 0..ROWS {
                let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
                writer.push((row % 7 != 3).then_some(&puzzle))?;
            }
            writer.finish(InputProblemsWriter::new(Arc::clone(files))).map(JobBoards::Input)
        }
    }

    /// Runs a job from its begin to its end, and reads its files.
    fn run_all(source: Source, files: Arc<dyn Files>, tables: &Tables) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
        let spec = JobSpec {
            boards: source.boards(&files)?,
            want: Want::Length,
            limits: RequestedLimits::default(),
            tables: Tier::Small,
            chunk: 16,
            version: "1".to_owned(),
        };
        let job = StoredJob::create_in(files, &spec)?;
        let cancel = AtomicBool::new(false);
        let resources =
            Resources { tables, threads: 1, search_memory: 16 << 20, cancel: &cancel, metrics: &Metrics::default() };
        assert_eq!(run(&job, Shard::WHOLE, &resources, &Progress::default())?, RunEnd::Finished);
        assert!(job.complete()?);
        job.put_card()?;
        let parts = (0..spec.chunks()).map(|chunk| job.part_bytes(chunk));
        let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
        let others = ["spec.json", "end.json", "README.md"].map(|name| job.files().get(name));
        let others: Vec<_> = others.into_iter().collect::<Result<_, _>>()?;
        Ok(parts.into_iter().chain(others).map(|file| file.expect("it was created")).collect())
    }

    #[test]
    fn a_panic_is_a_row_and_a_wrong_solution_is_none() {
        let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let puzzle = Puzzle::try_new(goal, goal).unwrap();
        let row = |error| row_of(Err(error), &puzzle, &Metrics::default());
        assert!(matches!(row(SweepError::Cancelled), Ok(None)));
        assert!(matches!(row(SweepError::Failed(ServiceError::Failed("a search panicked"))), Ok(Some(Row::Failed))));
        let error = row(SweepError::Failed(ServiceError::WrongSolution(WrongSolution))).unwrap_err();
        assert!(matches!(error, JobError::WrongSolution) && !error.is_temporary(), "the job ends");
        let reason = error.for_clients(&FilesInMemory::default());
        assert!(reason.starts_with("a search returned a wrong solution"), "{reason}");
    }

    #[test]
    fn a_job_has_equal_bytes_wherever_its_files_are() {
        let tables = Tables::default();
        for source in SOURCES {
            let scratch = Scratch::new();
            let directory = run_all(source, Arc::new(scratch.0.clone()), &tables).unwrap();
            let memory = run_all(source, Arc::new(FilesInMemory::default()), &tables).unwrap();
            assert_eq!(directory, memory, "{source:?}");
            assert_eq!(directory.len(), 6, "three parts and three files");
        }
    }

    #[test]
    fn whichever_call_fails_the_job_goes_on_from_there_to_the_same_bytes() {
        let tables = Tables::default();
        for source in SOURCES {
            let undisturbed = run_all(source, Arc::new(FilesInMemory::default()), &tables).unwrap();
            for failure in Failure::ALL {
                let mut call = 0;
                loop {
                    let files = Arc::new(FilesInMemory::default());
                    let failing = FailingFiles::new(Arc::clone(&files), call, failure);
                    let Err(error) = run_all(source, Arc::new(failing), &tables) else { break };
                    assert!(error.to_string().contains("reset"), "{error}");
                    let resumed = run_all(source, files, &tables).unwrap();
                    assert_eq!(resumed, undisturbed, "{source:?}, call {call}, {failure:?}");
                    call += 1;
                }
                assert!(call > 18, "{source:?} has {call} calls");
            }
        }
    }
}
