//! One job of an engine: what is known about it, and what is to be done next.

mod end;
mod remote;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use taquin_solver::Named;
use tokio::sync::watch;

use super::begun_chunk::{BegunChunk, ChunkMemory};
use super::chunk_queue::{ChunkQueue, Taken};
use super::id::{FolderName, JobId, JobOwner};
use super::store::JobRecord;
use super::time::later;
use super::view::{JobCounts, JobState, JobView, WaitingFor};
use crate::jobs::manifest::{EndState, JobEnd};
use crate::jobs::stored_job::{JobError, StoredJob};

/// A job of an engine. Its files are the truth; this is what a process has to remember between two slices.
pub struct Job {
    id: JobId,
    record: JobRecord,
    stored: StoredJob,
    /// False if the record is damaged, and only stands for it.
    has_record: bool,
    /// False if the specification is damaged, or not known.
    has_spec: bool,
    /// Raised when the job has ended.
    cancel: AtomicBool,
    progress: Mutex<JobProgress>,
    /// Counts the changes that clients wait for.
    changes: watch::Sender<u64>,
}

struct JobProgress {
    making: Making,
    phase: Phase,
    chunks: ChunkQueue<Box<BegunChunk>>,
    /// When the begun chunks were begun.
    begun: BTreeMap<u64, Instant>,
    counts: JobCounts,
    blocked: Option<Blocked>,
    /// Why the job has failed, if that could not be stored yet.
    failure: Option<String>,
    /// Slices that work on the job now, or are paused.
    slices: usize,
    /// When all parts were last listed.
    listed: Instant,
    /// When a slice last began or ended.
    touched: Instant,
    /// Times and the boards that were done then.
    samples: VecDeque<(Instant, u64)>,
}

/// What makes the chunks of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Making {
    /// This process.
    Here,
    /// Other processes.
    Elsewhere,
    /// Another version of the solver, or one with other tables, on which the labels depend.
    OtherSolver,
}

enum Phase {
    /// Nothing was done in this process.
    New,
    /// The labels of stored parts are counted.
    Opening,
    /// Chunks are made.
    Open,
    Finalizing,
    Ended {
        end: JobEnd,
        at: SystemTime,
    },
}

/// A job that cannot go on.
#[derive(Clone, Copy)]
struct Blocked {
    by: WaitingFor,
    /// When to try again.
    until: Option<Instant>,
}

/// The next thing to do.
pub(super) enum Step {
    /// Count the labels of the parts that exist.
    Open,
    /// Label boards of a chunk that was parked.
    GoOn(Box<BegunChunk>),
    /// Begin a chunk, in this memory.
    Begin(u64, ChunkMemory),
    /// Check all parts, and write the manifest.
    Finish,
    /// End the job as failed, for this reason.
    Fail(String),
}

/// Time after which a full disk is tried again.
pub(super) const DISK_RETRY: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 2 });
/// Time without the begin or the end of a slice after which a job waits for something.
const IDLE: Duration = Duration::from_secs(1);
/// Time over which the rate is taken, and least number of samples.
const RATE_TIME: Duration = Duration::from_secs(60);
const RATE_SAMPLES: usize = 8;

impl Job {
    /// A job as its files say it is. With the damage of its record or specification it has failed.
    ///
    /// # Errors
    /// [`JobError`] if the files cannot be read.
    pub(super) fn load(
        id: JobId,
        record: JobRecord,
        stored: StoredJob,
        making: Making,
        mut damage: Option<JobError>,
    ) -> Result<Self, JobError> {
        let (has_record, has_spec) = (!matches!(damage, Some(JobError::Record { .. })), damage.is_none());
        stored.clean();
        let spec = stored.spec();
        let end = if has_spec { stored.end() } else { Ok(None) };
        // A list of its parts is a request for each thousand of them.
        let is_completed = matches!(&end, Ok(Some(end)) if end.totals.is_some());
        let is_done = match if is_completed { Ok(Vec::new()) } else { stored.done() } {
            Err(error) if !error.is_temporary() => {
                damage.get_or_insert(error);
                Vec::new()
            }
            is_done => is_done?,
        };
        let (chunks, done) = (ChunkQueue::new(&is_done), spec.boards_in(&is_done));
        let stored_parts = chunks.done();
        let is_elsewhere = making == Making::Elsewhere;
        let failed = (!is_elsewhere && stored_parts == 0).then_some(0);
        let counts = JobCounts { boards: spec.boards.count(), done, failed, parts: spec.chunks(), stored_parts };
        let blocked = (making == Making::OtherSolver).then_some(Blocked { by: WaitingFor::Version, until: None });
        let progress = JobProgress {
            making,
            phase: if stored_parts == 0 || is_elsewhere { Phase::Open } else { Phase::New },
            chunks,
            begun: BTreeMap::new(),
            counts,
            blocked,
            failure: None,
            slices: 0,
            listed: Instant::now(),
            touched: Instant::now(),
            samples: VecDeque::new(),
        };
        let (cancel, progress) = (AtomicBool::new(false), Mutex::new(progress));
        let changes = watch::Sender::new(0);
        let job = Self { id, record, stored, has_record, has_spec, cancel, progress, changes };
        match damage {
            Some(damage) => job.note_damage(&damage)?,
            None => job.note_end(end)?,
        };
        Ok(job)
    }

    /// Its id.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// True if its specification can be read.
    pub fn has_spec(&self) -> bool {
        self.has_spec
    }

    /// Its files. Without a specification it has no boards there.
    pub fn stored(&self) -> &StoredJob {
        &self.stored
    }

    /// Changes whenever state, counts or parts have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// True if its record can be read.
    pub(super) fn has_record(&self) -> bool {
        self.has_record
    }

    /// True if an owner may have it, who knows its id. If its record is damaged, anybody may who does: it has nothing but
    /// the reason.
    pub(super) fn is_of(&self, owner: JobOwner) -> bool {
        self.record.owner == owner || !self.has_record
    }

    /// Whose it is: who finds it in a list.
    pub fn owner(&self) -> JobOwner {
        self.record.owner
    }

    pub(super) fn created(&self) -> SystemTime {
        self.record.created
    }

    /// Its folder.
    pub fn folder(&self) -> FolderName {
        self.record.folder
    }

    /// Estimated processor time of the whole job, in seconds.
    pub fn core_seconds(&self) -> f64 {
        self.record.core_seconds
    }

    /// The flag that is raised when the job has ended.
    pub(super) fn cancel_flag(&self) -> &AtomicBool {
        &self.cancel
    }

    /// Its state.
    pub fn state(&self) -> JobState {
        self.progress.lock().state()
    }

    /// True if nothing can be done for it now.
    pub(super) fn is_blocked(&self) -> bool {
        let progress = self.progress.lock();
        progress.is_blocked() && progress.slices == 0
    }

    /// When it ended by the clock of the store, if it has.
    pub(super) fn ended(&self) -> Option<SystemTime> {
        if let Phase::Ended { at, .. } = self.progress.lock().phase { Some(at) } else { None }
    }

    /// The job now. `has_worker` says whether any bulk work has a worker.
    pub(super) fn view(&self, keep: Duration, has_worker: bool) -> JobView {
        let progress = self.progress.lock();
        let (at, reason) = match &progress.phase {
            Phase::Ended { end, at } => (Some(*at), end.reason.clone()),
            _ => (None, None),
        };
        JobView {
            id: self.id,
            state: progress.state(),
            created: self.record.created,
            // The clock of a file system lags by some milliseconds, and that of a store is another one.
            ended: at.map(|at| at.max(self.record.created)),
            expires: at.map(|at| later(at, keep)),
            folder: self.has_record.then_some(self.record.folder),
            spec: self.has_spec.then(|| self.stored.spec().clone()),
            counts: progress.counts,
            core_seconds: self.record.core_seconds,
            rate: progress.rate(),
            waiting_for: progress.waiting_for(has_worker),
            reason,
        }
    }

    /// When the oldest chunk was begun that is not stored yet.
    pub(super) fn oldest_chunk(&self) -> Option<Instant> {
        self.progress.lock().begun.values().min().copied()
    }

    /// Takes the next step, if there is one. It ends with [`end_slice`](Self::end_slice). `memory` takes the memory for
    /// another chunk, if one may be begun.
    pub(super) fn next_step(&self, memory: impl FnOnce() -> Option<ChunkMemory>) -> Option<Step> {
        let mut progress = self.progress.lock();
        let now = Instant::now();
        if progress.is_blocked() {
            return None;
        }
        let step = match progress.phase {
            Phase::New | Phase::Open if progress.failure.is_some() => Step::Fail(progress.failure.take()?),
            Phase::New => {
                progress.phase = Phase::Opening;
                Step::Open
            }
            Phase::Open if progress.chunks.is_finished() => {
                progress.phase = Phase::Finalizing;
                self.has_changed();
                Step::Finish
            }
            Phase::Open => {
                let memory = if progress.chunks.has_parked() { None } else { memory() };
                let step = match (progress.chunks.take(memory.is_some())?, memory) {
                    (Taken::Parked(chunk), _) => Step::GoOn(chunk),
                    (Taken::New(number), Some(memory)) => {
                        progress.begun.insert(number, now);
                        Step::Begin(number, memory)
                    }
                    (Taken::New(_), None) => unreachable!("a chunk is begun in memory alone"),
                };
                let done = progress.counts.done;
                if progress.samples.is_empty() {
                    progress.samples.push_back((now, done));
                    self.has_changed();
                }
                step
            }
            Phase::Opening | Phase::Finalizing | Phase::Ended { .. } => return None,
        };
        progress.slices += 1;
        progress.touched = now;
        Some(step)
    }

    /// The end of a slice.
    pub(super) fn end_slice(&self) {
        let mut progress = self.progress.lock();
        progress.slices -= 1;
        progress.touched = Instant::now();
    }

    /// The parts that exist are to be counted later.
    pub(super) fn not_opened(&self) {
        let mut progress = self.progress.lock();
        if matches!(progress.phase, Phase::Opening) {
            progress.phase = Phase::New;
        }
    }

    /// The parts that existed have so many rows without a label.
    pub(super) fn opened(&self, failed: u64) {
        let mut progress = self.progress.lock();
        // It may have ended meanwhile.
        if !matches!(progress.phase, Phase::Opening) {
            return;
        }
        progress.counts.failed = Some(failed);
        progress.phase = Phase::Open;
        self.has_changed();
    }

    /// Keeps a chunk for another slice, unless the job has ended.
    pub(super) fn park(&self, chunk: Box<BegunChunk>) {
        let mut progress = self.progress.lock();
        if !matches!(progress.phase, Phase::Ended { .. }) {
            progress.chunks.park(chunk);
        }
    }

    /// Gives up the work on a chunk.
    pub(super) fn drop_chunk(&self, number: u64) {
        let mut progress = self.progress.lock();
        progress.chunks.drop_chunk(number);
        progress.begun.remove(&number);
    }

    /// A part was stored. What clients see of a job that has ended stays as it is.
    pub(super) fn stored_part(&self, chunk: &BegunChunk) {
        let mut progress = self.progress.lock();
        if matches!(progress.phase, Phase::Ended { .. }) {
            return;
        }
        progress.chunks.finish(chunk.number);
        progress.begun.remove(&chunk.number);
        progress.count_failed(chunk.failed);
        progress.count_done(chunk.part.len() as u64);
        progress.blocked = None;
        self.has_changed();
    }

    fn has_changed(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

impl JobProgress {
    fn count_failed(&mut self, rows: u64) {
        self.counts.failed = self.counts.failed.map(|failed| failed + rows);
    }

    /// Counts boards of parts that were stored now.
    fn count_done(&mut self, boards: u64) {
        self.counts.stored_parts = self.chunks.done();
        self.counts.done += boards;
        let sample = (Instant::now(), self.counts.done);
        self.samples.push_back(sample);
        let is_old = |at: &Instant| at.elapsed() > RATE_TIME;
        while self.samples.len() > RATE_SAMPLES && self.samples.front().is_some_and(|(at, _)| is_old(at)) {
            self.samples.pop_front();
        }
    }

    fn is_blocked(&self) -> bool {
        self.blocked.is_some_and(|blocked| blocked.until.is_none_or(|until| until > Instant::now()))
    }

    fn state(&self) -> JobState {
        match &self.phase {
            Phase::Ended { end, .. } => match end.state {
                EndState::Completed => JobState::Completed,
                EndState::Cancelled => JobState::Cancelled,
                EndState::Failed => JobState::Failed,
            },
            Phase::Finalizing => JobState::Finalizing,
            _ if self.samples.is_empty() && self.counts.stored_parts == 0 => JobState::Queued,
            _ => JobState::Running,
        }
    }

    /// Boards a second. It falls as long as none is done.
    fn rate(&self) -> Option<f64> {
        let (since, before) = self.samples.front().filter(|_| !matches!(self.phase, Phase::Ended { .. }))?;
        let boards = self.counts.done - before;
        (boards > 0).then(|| boards as f64 / since.elapsed().as_secs_f64().max(1e-3))
    }

    fn waiting_for(&self, has_worker: bool) -> Option<WaitingFor> {
        match (&self.phase, self.blocked) {
            (Phase::Ended { .. }, _) => None,
            (_, Some(blocked)) => Some(blocked.by),
            (Phase::Opening | Phase::Finalizing, None) if self.making != Making::Elsewhere => None,
            _ if self.touched.elapsed() < IDLE => None,
            _ if !has_worker && self.making == Making::Elsewhere => Some(WaitingFor::Workers),
            // A slice without a worker is paused.
            _ if !has_worker => Some(WaitingFor::Requests),
            _ => (self.slices == 0).then_some(WaitingFor::OtherJobs),
        }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("id", &self.id).field("state", &self.state().name()).finish_non_exhaustive()
    }
}
