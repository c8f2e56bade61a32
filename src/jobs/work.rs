//! The jobs of one owner, as bulk work of the service.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use taquin_bulk::{
    BatchSolver, JobError, LabelControl, LabelLimits, LoadedTables, Row, RowsEnd, Totals, Want, label_rows,
};
use taquin_solver::Board;
use tokio::runtime::Handle;
use tracing::Level;

use super::begun_chunk::{BegunChunk, ChunkBudget, ChunkMemory};
use super::job::{Job, Step};
use crate::service::{BoardCounts, BulkWork, Service, ServiceError, Slice, SliceContext, SliceEnd};

/// The unfinished jobs of one owner. The jobs take turns: after each step of a job, the next job makes a step. The lane
/// lets owners take turns with one another and with other bulk work.
pub(crate) struct OwnerWork {
    service: Arc<Service>,
    runtime: Handle,
    jobs: Mutex<VecDeque<Arc<Job>>>,
    budget: ChunkBudget,
    /// True if the lane has aborted the work since the last call of [`take_abort`](Self::take_abort).
    is_aborted: AtomicBool,
}

/// Result of labelling a chunk during a slice.
enum Labelled {
    /// All rows of the chunk are labelled.
    Whole,
    /// The time of the slice is over.
    Partly,
    /// Labelling cannot continue: the job has ended, an error has occurred, or the slice is cancelled.
    Cancelled,
}

/// The reason why the labelling of a chunk stops early.
enum Stop {
    /// The time of the slice is over.
    Spent,
    Failed(JobError),
}

/// Maximum number of boards that are labelled between two checks of the clock.
const MAX_STRIDE: u32 = 64;

impl OwnerWork {
    pub(crate) fn new(service: &Arc<Service>, runtime: &Handle, budget: ChunkBudget) -> Self {
        Self {
            service: Arc::clone(service),
            runtime: runtime.clone(),
            jobs: Mutex::default(),
            budget,
            is_aborted: AtomicBool::new(false),
        }
    }

    /// Adds an unfinished job, unless the job was added before.
    pub(crate) fn add(&self, job: &Arc<Job>) {
        let mut jobs = self.jobs.lock();
        if !jobs.iter().any(|added| Arc::ptr_eq(added, job)) {
            jobs.push_back(Arc::clone(job));
        }
    }

    /// Removes ended jobs. Returns true if unfinished jobs remain.
    pub(crate) fn has_unfinished(&self) -> bool {
        let mut jobs = self.jobs.lock();
        jobs.retain(|job| !job.state().is_ended());
        !jobs.is_empty()
    }

    /// Returns true if each job is [blocked](Job::is_blocked).
    pub(crate) fn is_blocked(&self) -> bool {
        self.jobs.lock().iter().all(|job| job.is_blocked())
    }

    /// Returns true if the lane has aborted the work since the last call of this function. If so, the caller must
    /// register the work again.
    pub(crate) fn take_abort(&self) -> bool {
        self.is_aborted.swap(false, Ordering::Relaxed)
    }

    /// Takes the next step of the first job that has a step, and moves the job to the end of the queue. Returns `None`
    /// if no job has a step.
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

    /// Counts the failed and invalid rows in the stored parts of a job.
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

    /// Begins a chunk, and labels boards of the chunk until the slice ends.
    fn make(&self, job: &Job, number: u64, memory: ChunkMemory, context: &SliceContext<'_>, counts: &mut BoardCounts) {
        match self.begin(job, number, memory, context) {
            Ok(chunk) => self.go_on(job, Box::new(chunk), context, counts),
            Err(error) => {
                job.drop_chunk(number);
                job.trouble(&error);
            }
        }
    }

    /// Labels boards of a chunk until the slice ends. Stores the part of a complete chunk, and parks an incomplete
    /// chunk. If labelling cannot continue, drops the labels.
    fn go_on(&self, job: &Job, mut chunk: Box<BegunChunk>, context: &SliceContext<'_>, counts: &mut BoardCounts) {
        match self.label(job, &mut chunk, context, counts) {
            Labelled::Cancelled => job.drop_chunk(chunk.number),
            Labelled::Partly => job.park(chunk),
            Labelled::Whole => context.without_worker(|| Self::store(job, chunk)),
        }
    }

    /// Stores the part of a chunk. If the job has ended, drops the labels instead. If the part cannot be stored, parks
    /// the chunk.
    pub(crate) fn store(job: &Job, chunk: Box<BegunChunk>) {
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

    /// Begins a chunk. If the labels depend on tables, first loads the tables that the specification names.
    fn begin(
        &self,
        job: &Job,
        number: u64,
        memory: ChunkMemory,
        context: &SliceContext<'_>,
    ) -> Result<BegunChunk, JobError> {
        let spec = job.stored().spec();
        let goal = spec.boards.goal();
        if !spec.has_unique_labels() && Want::Next.serves(goal.size()) {
            context.without_worker(|| self.service.tables().load_for(goal, spec.want, spec.tables));
        }
        BegunChunk::new(job.stored(), number, memory)
    }

    /// Labels boards of a chunk until all boards are labelled or the time of the slice is over.
    fn label(
        &self,
        job: &Job,
        chunk: &mut BegunChunk,
        context: &SliceContext<'_>,
        counts: &mut BoardCounts,
    ) -> Labelled {
        let spec = job.stored().spec();
        if !spec.want.serves(spec.boards.goal().size()) {
            job.fail("its labels are not known on boards of this shape");
            return Labelled::Cancelled;
        }
        let limits = LabelLimits::of(spec.limits, self.service.settings().bulk.search_memory);
        let load = |_: &Board| self.tables(job, context);
        let mut solver = BatchSolver::with_load(self.service.tables(), spec.want, limits, load);
        let flags: Vec<&AtomicBool> = context.cancel().iter().copied().chain([job.cancel_flag()]).collect();
        let control = LabelControl { cancel: &flags, ..context.control(self.service.metrics()) };
        let BegunChunk { rows, part, failed, .. } = chunk;
        let rows = rows.map(|puzzle| ((), puzzle.ok_or(())));
        let (mut stride, mut left) = (1, 1);
        let end = label_rows(rows, &mut solver, control, |(), labelled| {
            let row = labelled.into_row().map_err(|wrong| Stop::Failed(wrong.into()))?;
            counts.count(&row);
            *failed += u64::from(!matches!(row, Row::Solved(_)));
            part.push(&row);
            left -= 1;
            if left == 0 {
                if context.is_spent() {
                    return Err(Stop::Spent);
                }
                stride = (2 * stride).min(MAX_STRIDE);
                left = stride;
            }
            Ok(())
        });
        match end {
            Ok(RowsEnd::Exhausted) => Labelled::Whole,
            Ok(RowsEnd::Cancelled) => Labelled::Cancelled,
            Err(Stop::Spent) => Labelled::Partly,
            Err(Stop::Failed(error)) => {
                context.without_worker(|| job.trouble(&error));
                Labelled::Cancelled
            }
        }
    }

    /// Returns the tables for the goal of a job. If the tables are not loaded, this function loads the tables, as far
    /// as the table memory allows.
    fn tables(&self, job: &Job, context: &SliceContext<'_>) -> LoadedTables {
        let (tables, goal) = (self.service.tables(), job.stored().spec().boards.goal());
        let wait = self.service.settings().default_time;
        tables
            .loaded_for(goal)
            .unwrap_or_else(|| context.without_worker(|| self.runtime.block_on(tables.load_within_memory(goal, wait))))
    }

    /// Checks all parts, writes the manifest and the card, and ends the job. If a part is missing, the job fails.
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

/// Guard of one step of a job. Dropping the guard ends the step. After a panic, the guard ends the job as failed;
/// otherwise the next slice of the job would panic again.
struct Turn<'j>(&'j Job);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.end_slice();
        if std::thread::panicking() {
            self.0.fail("internal error; the log has the cause");
        }
    }
}
