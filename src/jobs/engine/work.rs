//! The jobs of one owner as bulk work.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tracing::Level;

use super::begun_chunk::{BegunChunk, ChunkBudget, ChunkMemory};
use super::job::{Job, Step};
use crate::jobs::manifest::Totals;
use crate::jobs::part::Row;
use crate::jobs::runner::row_of;
use crate::jobs::stored_job::JobError;
use crate::service::{
    BoardCounts, BulkWork, MixedSweep, Service, ServiceError, Slice, SliceContext, SliceEnd, Sweep, SweepContext,
    SweepLimits, SweepTables, Want,
};

/// The unfinished jobs of one owner. They take turns, slice by slice, and the owners take turns with one another and
/// with other bulk work.
pub(super) struct OwnerWork {
    service: Arc<Service>,
    runtime: Handle,
    jobs: Mutex<VecDeque<Arc<Job>>>,
    budget: ChunkBudget,
    /// True once no slice runs any more, although there are jobs.
    is_aborted: AtomicBool,
}

/// What became of a chunk in a slice.
enum Labelled {
    /// All its boards have a label.
    Whole,
    /// The time of the slice is over.
    Partly,
    /// The job has ended, or the service shuts down.
    Cancelled,
}

/// Boards between two looks at the clock, at most.
const MAX_STRIDE: u32 = 64;

impl OwnerWork {
    pub(super) fn new(service: &Arc<Service>, runtime: &Handle, budget: ChunkBudget) -> Self {
        Self {
            service: Arc::clone(service),
            runtime: runtime.clone(),
            jobs: Mutex::default(),
            budget,
            is_aborted: AtomicBool::new(false),
        }
    }

    /// Adds an unfinished job, unless it was added before.
    pub(super) fn add(&self, job: &Arc<Job>) {
        let mut jobs = self.jobs.lock();
        if !jobs.iter().any(|added| Arc::ptr_eq(added, job)) {
            jobs.push_back(Arc::clone(job));
        }
    }

    /// True if a job has not ended. The others are dropped.
    pub(super) fn has_unfinished(&self) -> bool {
        let mut jobs = self.jobs.lock();
        jobs.retain(|job| !job.state().is_ended());
        !jobs.is_empty()
    }

    /// True if nothing can be done for any of the jobs now.
    pub(super) fn is_blocked(&self) -> bool {
        self.jobs.lock().iter().all(|job| job.is_blocked())
    }

    /// True if the lane has ended it, so that it has to be registered again. Then it counts as registered.
    pub(super) fn take_abort(&self) -> bool {
        self.is_aborted.swap(false, Ordering::Relaxed)
    }

    /// The next job that has something to do. It is the last of the rotation from now on.
    fn next_turn(&self) -> Option<(Arc<Job>, Step)> {
        let mut jobs = self.jobs.lock();
        jobs.retain(|job| !job.state().is_ended());
        for at in 0..jobs.len() {
            let memory = || self.budget.take(jobs[at].stored().spec());
            if let Some(step) = jobs[at].next_step(memory) {
                let job = jobs.remove(at)?;
                jobs.push_back(Arc::clone(&job));
                return Some((job, step));
            }
        }
        None
    }

    /// Counts the rows without a label of the parts that exist.
    fn open(job: &Job, context: &SliceContext<'_>) {
        let counted = context.without_worker(|| {
            let mut totals = Totals::default();
            for chunk in 0..job.stored().spec().chunks() {
                if let Some((part, _)) = job.stored().part(chunk)? {
                    part.rows().for_each(|row| totals.count(&row));
                }
                if context.is_cancelled() || job.cancel_flag().load(Ordering::Relaxed) {
                    return Ok(None);
                }
            }
            Ok::<_, JobError>(Some(totals.failed + totals.invalid))
        });
        match counted {
            Ok(Some(failed)) => job.opened(failed),
            Ok(None) => job.not_opened(),
            Err(error) => job.trouble(&error),
        }
    }

    /// Begins a chunk, and goes on with it.
    fn make(&self, job: &Job, number: u64, memory: ChunkMemory, context: &SliceContext<'_>, counts: &mut BoardCounts) {
        match self.begin(job, number, memory, context) {
            Ok(chunk) => self.go_on(job, Box::new(chunk), context, counts),
            Err(error) => {
                job.drop_chunk(number);
                job.trouble(&error);
            }
        }
    }

    /// Goes on with a chunk, and stores its part when it is whole.
    fn go_on(&self, job: &Job, mut chunk: Box<BegunChunk>, context: &SliceContext<'_>, counts: &mut BoardCounts) {
        match self.label(job, &mut chunk, context, counts) {
            Labelled::Cancelled => job.drop_chunk(chunk.number),
            Labelled::Partly => job.park(chunk),
            Labelled::Whole => context.without_worker(|| Self::store(job, chunk)),
        }
    }

    /// Stores the part of a chunk, unless the job has ended.
    pub(super) fn store(job: &Job, chunk: Box<BegunChunk>) {
        if job.cancel_flag().load(Ordering::Relaxed) {
            return job.drop_chunk(chunk.number);
        }
        if let Err(error) = job.stored().put_part(chunk.number, &chunk.part) {
            job.park(chunk);
            return job.trouble(&error);
        }
        job.stored_part(&chunk);
        tracing::event!(
            target: "taquin::jobs",
            Level::DEBUG,
            message = "chunk stored",
            job.id = %job.id(),
            job.chunk = chunk.number,
            job.boards = chunk.part.len() as u64,
            elapsed_us = chunk.since.elapsed().as_micros() as u64,
        );
    }

    /// Begins a chunk. Where labels depend on the tables, they are those of the specification.
    fn begin(
        &self,
        job: &Job,
        number: u64,
        memory: ChunkMemory,
        context: &SliceContext<'_>,
    ) -> Result<BegunChunk, JobError> {
        let spec = job.stored().spec();
        let goal = spec.boards.goal();
        if !spec.has_unique_labels() && Sweep::serves(Want::Next, goal.size()) {
            context.without_worker(|| self.service.tables().load_for(goal, spec.want, spec.tables));
        }
        BegunChunk::new(job.stored(), number, memory)
    }

    /// Labels boards of a chunk until the slice is over.
    fn label(
        &self,
        job: &Job,
        chunk: &mut BegunChunk,
        context: &SliceContext<'_>,
        counts: &mut BoardCounts,
    ) -> Labelled {
        let spec = job.stored().spec();
        let limits = SweepLimits::of(spec.limits, self.service.settings().bulk.search_memory);
        let mut sweeps = MixedSweep::new(self.service.tables(), spec.want, limits);
        let Some(sweep) = sweeps.of(spec.boards.goal(), || self.tables(job, context)) else {
            job.fail("its labels are not known on boards of this shape");
            return Labelled::Cancelled;
        };
        let flags: Vec<&AtomicBool> = context.cancel().iter().copied().chain([job.cancel_flag()]).collect();
        let of_search = SweepContext { cancel: &flags, ..SweepContext::from(context) };
        let (mut stride, mut left) = (1, 1);
        loop {
            if context.should_pause() {
                context.pause();
            }
            if flags.iter().any(|flag| flag.load(Ordering::Relaxed)) {
                return Labelled::Cancelled;
            }
            let Some(puzzle) = chunk.rows.next() else { return Labelled::Whole };
            let label = |puzzle| row_of(sweep.label(&puzzle, of_search), &puzzle, self.service.metrics());
            let row = match puzzle.map_or(Ok(Some(Row::Invalid)), label) {
                Ok(Some(row)) => row,
                Ok(None) => return Labelled::Cancelled,
                Err(error) => {
                    context.without_worker(|| job.trouble(&error));
                    return Labelled::Cancelled;
                }
            };
            count(&row, chunk, counts);
            left -= 1;
            if left == 0 {
                if context.is_spent() {
                    return Labelled::Partly;
                }
                stride = (2 * stride).min(MAX_STRIDE);
                left = stride;
            }
        }
    }

    /// The tables of a job, within the memory for tables.
    fn tables(&self, job: &Job, context: &SliceContext<'_>) -> SweepTables {
        let (tables, goal) = (self.service.tables(), job.stored().spec().boards.goal());
        let wait = self.service.settings().default_time;
        tables
            .loaded_for(goal)
            .unwrap_or_else(|| context.without_worker(|| self.runtime.block_on(tables.load_within_memory(goal, wait))))
    }

    /// Checks all parts, and ends the job.
    fn finish(job: &Job, context: &SliceContext<'_>) {
        let finished = context.without_worker(|| {
            if !job.stored().complete()? {
                return Ok(false);
            }
            job.stored().put_card()?;
            job.read_end()?;
            Ok::<_, JobError>(true)
        });
        match finished {
            Ok(true) => {}
            Ok(false) => job.fail("a part has been removed"),
            Err(error) => job.trouble(&error),
        }
    }
}

impl BulkWork for OwnerWork {
    fn run_slice(&self, context: &SliceContext<'_>) -> Slice {
        let mut boards = BoardCounts::default();
        let end = loop {
            let Some((job, step)) = self.next_turn() else { break SliceEnd::Idle };
            let turn = Turn(&job);
            match step {
                Step::Open => Self::open(&job, context),
                Step::GoOn(chunk) => self.go_on(&job, chunk, context, &mut boards),
                Step::Begin(number, memory) => self.make(&job, number, memory, context, &mut boards),
                Step::Finish => Self::finish(&job, context),
                Step::Fail(reason) => context.without_worker(|| job.fail(&reason)),
            }
            drop(turn);
            if context.is_cancelled() {
                break SliceEnd::Done;
            }
            if context.is_spent() || context.should_pause() {
                break SliceEnd::More;
            }
        };
        Slice { end, boards }
    }

    fn aborted(&self, _: ServiceError) {
        self.is_aborted.store(true, Ordering::Relaxed);
    }
}

/// A slice of a job. After a panic the job has failed, or it would panic again and again.
struct Turn<'j>(&'j Job);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.end_slice();
        if std::thread::panicking() {
            self.0.fail("internal error; the log has the cause");
        }
    }
}

fn count(row: &Row, chunk: &mut BegunChunk, counts: &mut BoardCounts) {
    match row {
        Row::Solved(_) => counts.solved += 1,
        Row::Failed => counts.failed += 1,
        Row::Invalid => counts.invalid += 1,
    }
    chunk.failed += u64::from(!matches!(row, Row::Solved(_)));
    chunk.part.push(row);
}
