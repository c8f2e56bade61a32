//! Makes the parts of a job on the threads of this process.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::part::{Part, Row};
use super::stored_job::{JobError, StoredJob};
use crate::service::{Sweep, SweepContext, SweepError, SweepLimits, Tables};

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
    /// Boards of the share.
    pub total: AtomicU64,
    /// Boards whose parts existed before the run.
    pub resumed: AtomicU64,
    /// Boards labelled by this run.
    pub labelled: AtomicU64,
    /// Boards of these whose search failed, and rows that are no boards.
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
}

impl Resources<'_> {
    /// A sweep of the boards of a job.
    pub(super) fn sweep(&self, job: &StoredJob) -> Sweep<'_> {
        let spec = job.spec();
        Sweep::new(self.tables, *spec.boards.goal(), spec.want, SweepLimits::of(spec.limits, self.search_memory))
    }
}

/// Labels the boards of one chunk. Returns `None` if the run is cancelled. Searches that fail become rows.
///
/// # Errors
/// [`JobError`] if the boards cannot be read.
pub fn label_chunk(
    job: &StoredJob,
    chunk: u64,
    resources: &Resources<'_>,
    progress: &Progress,
) -> Result<Option<Part>, JobError> {
    let sweep = resources.sweep(job);
    let context = SweepContext { cancel: &[resources.cancel], helpers: None };
    let mut part = Part::new(job.spec().want);
    for puzzle in job.boards(job.spec().boards_of(chunk))? {
        if resources.cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let label = puzzle.map(|puzzle| sweep.label(&puzzle, context));
        let row = match label {
            Some(Ok(label)) => Row::Solved(label),
            Some(Err(SweepError::Cancelled)) => return Ok(None),
            Some(Err(SweepError::Failed(_))) => Row::Failed,
            None => Row::Invalid,
        };
        progress.count(&row);
        part.push(&row);
    }
    Ok(Some(part))
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
