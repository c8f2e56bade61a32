//! Makes the parts of a job on several threads of this process.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use taquin_solver::{Puzzle, TableSource};

use crate::batch_solver::BatchSolver;
use crate::label::{FailureObserver, LabelControl, LabelLimits};
use crate::label_rows::{LabelledRow, RowsEnd, label_rows};
use crate::ordered::map_in_order;
use crate::part::{Part, Row};
use crate::stored_job::{JobError, StoredJob};

/// The chunks of one of `count` processes: every `count`-th chunk of a job, beginning with chunk `index`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// The shard with all chunks.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Creates the shard with the number `index`, counted from 0, of `count` shards. Returns `None` if `index` is not
    /// less than `count`.
    pub fn try_new(index: u64, count: u64) -> Option<Self> {
        (index < count).then_some(Self { index, count })
    }

    /// Returns true if a chunk belongs to the shard.
    pub fn has(self, chunk: u64) -> bool {
        chunk % self.count == self.index
    }
}

/// Progress of a run. The threads of the run update the progress.
#[derive(Debug, Default)]
pub struct Progress {
    /// Number of rows of the run, including the rows in `resumed`; 0 if the number is unknown.
    pub total: AtomicU64,
    /// True if `total` is an estimate.
    pub is_estimate: AtomicBool,
    /// Number of rows of the run that were stored before the run began.
    pub resumed: AtomicU64,
    /// Number of rows that this run has processed. Rows without a label count too.
    pub labelled: AtomicU64,
    /// Number of rows without a label, including invalid rows. For a resumed run, [`Progress::note_resumed`] adds the
    /// rows without a label of the interrupted run.
    pub failed: AtomicU64,
    /// Length of the longest solution of this run, in moves; 0 before the first solution.
    pub hardest: AtomicU32,
}

/// Result of a run that had no error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunEnd {
    /// All parts of the shard exist.
    Finished,
    /// The run was cancelled, so parts of the shard may be missing.
    Cancelled,
}

/// Resources of a run.
#[derive(Clone, Copy, Debug)]
pub struct Resources<'a> {
    /// Source of the tables of all searches.
    pub tables: &'a dyn TableSource,
    /// Number of threads.
    pub threads: usize,
    /// Maximum memory of one search without its tables, in bytes.
    pub search_memory: u64,
    /// Flag that cancels the run. The caller sets the flag.
    pub cancel: &'a AtomicBool,
    /// Observer of failed searches.
    pub failures: &'a dyn FailureObserver,
}

impl Resources<'_> {
    pub(crate) fn solver(&self, job: &StoredJob) -> BatchSolver<'_> {
        let spec = job.spec();
        BatchSolver::new(self.tables, spec.want, LabelLimits::of(spec.limits, self.search_memory))
    }
}

/// Labels the boards of one chunk, and returns the part of the chunk. Returns `None` if the run is cancelled. If the
/// search for a board panics or finds no solution, the row of the board is a failed row.
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

/// Labels the boards with these indices, and appends their rows to `part`. If `is_searched` returns false for an index,
/// the board is not searched, and its row is a failed row. Returns false if the run is cancelled before all rows are
/// appended.
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
    let control = LabelControl { cancel: &[resources.cancel], helpers: None, failures: Some(resources.failures) };
    let row = |(index, puzzle): (u64, Option<Puzzle>)| match puzzle {
        None => ((), Err(Row::Invalid)),
        Some(_) if !is_searched(index) => ((), Err(Row::Failed)),
        Some(puzzle) => ((), Ok(puzzle)),
    };
    let rows = indices.clone().zip(job.boards(indices)?).map(row);
    let end = label_rows(rows, &mut resources.solver(job), control, |(), labelled| {
        let row = match labelled {
            LabelledRow::Faulty(row) => row,
            labelled => labelled.into_row()?,
        };
        progress.count(row.length());
        part.push(&row);
        Ok::<_, JobError>(())
    })?;
    Ok(end == RowsEnd::Exhausted)
}

impl Progress {
    /// Records that an interrupted run has stored `rows` rows. `failed` of these rows have no label.
    pub fn note_resumed(&self, rows: u64, failed: u64) {
        self.resumed.store(rows, Ordering::Relaxed);
        self.failed.fetch_add(failed, Ordering::Relaxed);
    }

    /// Sets `total` to an estimate of the number of rows of an input. `length` is the number of bytes after the resumed
    /// rows. `labelled_bytes` is the number of these bytes that the run has processed. Does nothing if `length` is
    /// `None`, since the length is unknown then.
    pub fn estimate_total(&self, labelled_bytes: u64, length: Option<u64>) {
        let Some(length) = length else { return };
        let labelled = self.labelled.load(Ordering::Relaxed);
        let total = (labelled as f64 * length as f64 / labelled_bytes.max(1) as f64).round() as u64;
        self.is_estimate.store(true, Ordering::Relaxed);
        self.total.store(self.resumed.load(Ordering::Relaxed) + total, Ordering::Relaxed);
    }

    /// Sets `total` to the exact number of rows of an input, and returns the number. The caller must have processed all
    /// rows.
    pub fn end_of_input(&self) -> u64 {
        let rows = self.resumed.load(Ordering::Relaxed) + self.labelled.load(Ordering::Relaxed);
        self.total.store(rows, Ordering::Relaxed);
        self.is_estimate.store(false, Ordering::Relaxed);
        rows
    }

    /// Counts a processed row. `length` is the length of the row's solution, in moves. If `length` is `None`, the row
    /// counts as failed.
    pub fn count(&self, length: Option<u32>) {
        match length {
            Some(length) => self.hardest.fetch_max(length, Ordering::Relaxed),
            None => self.failed.fetch_add(1, Ordering::Relaxed) as u32,
        };
        self.labelled.fetch_add(1, Ordering::Relaxed);
    }
}

/// Labels those chunks of a shard that have no part yet, and stores the part of each. The threads begin the chunks in
/// ascending order.
///
/// # Errors
/// The first [`JobError`]. Parts that were stored before the error remain.
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
    let is_over = AtomicBool::new(false);
    let make = |chunk: u64| {
        // After an error on any thread, the threads skip the chunks that they have received already.
        if is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        let made = label_chunk(job, chunk, resources, progress).and_then(|part| match part {
            Some(part) => job.put_part(chunk, &part).map(|_| ()),
            None => Ok(()),
        });
        is_over.fetch_or(made.is_err(), Ordering::Relaxed);
        made
    };
    let missing = (0..).zip(&done).filter(|(chunk, is_done)| shard.has(*chunk) && !**is_done).map(|(chunk, _)| chunk);
    let missing = missing.take_while(|_| !resources.cancel.load(Ordering::Relaxed));
    map_in_order(resources.threads, missing, make, |made: Result<(), JobError>| made)?;
    let is_cancelled = resources.cancel.load(Ordering::Relaxed);
    Ok(if is_cancelled { RunEnd::Cancelled } else { RunEnd::Finished })
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::files::Files;
    use crate::input::InputWriter;
    use crate::input_problems::InputProblemsWriter;
    use crate::label::{RequestedLimits, Want};
    use crate::recipe::Recipe;
    use crate::spec::{JobBoards, JobSpec};
    use crate::test_files::Scratch;
    use crate::test_files::{FailingFiles, Failure, FilesInMemory};
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{Board, LazyTables, Size, SplitMix, random_board};

    /// Source of the boards.
    #[derive(Clone, Copy, Debug)]
    enum Source {
        Recipe,
        /// An input with some invalid rows.
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

    /// Runs a job from start to end, and returns the contents of the job's files.
    fn run_all(
        source: Source,
        files: Arc<dyn Files>,
        tables: &dyn TableSource,
    ) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
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
        let resources = Resources { tables, threads: 1, search_memory: 16 << 20, cancel: &cancel, failures: &() };
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
    fn the_number_of_rows_is_estimated_until_the_end_of_the_input() {
        let progress = Progress::default();
        progress.note_resumed(100, 0);
        progress.labelled.store(10, Ordering::Relaxed);
        progress.estimate_total(50, Some(500));
        assert_eq!((progress.total.load(Ordering::Relaxed), progress.is_estimate.load(Ordering::Relaxed)), (200, true));
        assert_eq!(progress.end_of_input(), 110);
        assert!(!progress.is_estimate.into_inner());
    }

    #[test]
    fn a_job_has_equal_bytes_wherever_its_files_are() {
        let tables = LazyTables::default();
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
        let tables = LazyTables::default();
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
