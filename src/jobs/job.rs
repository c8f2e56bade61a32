//! The state of one job in this process, and the next step of the job.

mod end;
mod remote;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use taquin_bulk::{EndState, JobEnd, JobError, JobId, StoredJob};
use taquin_solver::Named;
use tokio::sync::watch;

use super::begun_chunk::{BegunChunk, ChunkMemory};
use super::chunk_queue::{ChunkQueue, Taken};
use super::owner::JobOwner;
use super::store::JobRecord;
use super::time::later;
use super::view::{JobCounts, JobState, JobView, WaitingFor};

/// A job of an engine, with the state that this process keeps between slices. The files of the job are authoritative.
pub struct Job {
    id: JobId,
    pub(crate) record: JobRecord,
    stored: StoredJob,
    /// False if `record` is a placeholder for a damaged record.
    pub(crate) has_record: bool,
    /// False if the specification is damaged or unknown.
    has_spec: bool,
    /// Set when the job ends.
    cancel: AtomicBool,
    progress: Mutex<JobProgress>,
    /// Number of changes that are visible to clients.
    changes: watch::Sender<u64>,
}

struct JobProgress {
    making: Making,
    phase: Phase,
    chunks: ChunkQueue<Box<BegunChunk>>,
    /// Start time of each begun chunk whose part is not stored yet, by chunk number.
    begun: BTreeMap<u64, Instant>,
    counts: JobCounts,
    blocked: Option<Blocked>,
    /// The reason of a failure, if the failure could not be stored yet.
    failure: Option<String>,
    /// Number of steps of the job in progress. A step whose slice is paused counts. If other processes make the chunks,
    /// this field has the number of the job's tasks in the queue instead.
    slices: usize,
    /// Time of the last listing of all parts.
    listed: Instant,
    /// Time of the last sign of work. If this process makes the chunks, the start and the end of a step are signs of
    /// work. If other processes make the chunks, a new part and the first task are signs of work.
    touched: Instant,
    /// Samples for the rate, oldest first. Each sample has a time, and the number of boards done at that time.
    samples: VecDeque<(Instant, u64)>,
}

/// The process that makes a job's chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Making {
    /// This process.
    Here,
    /// Other processes.
    Elsewhere,
    /// No process at present: the job needs another version of the solver, or other tables, than this process has.
    OtherSolver,
}

enum Phase {
    /// The failed and invalid rows of the stored parts are not counted yet.
    New,
    /// A slice counts the failed and invalid rows of the stored parts.
    Opening,
    /// Slices or other processes make chunks.
    Open,
    Finalizing,
    Ended {
        end: JobEnd,
        at: SystemTime,
    },
}

/// An obstacle that keeps a job from making progress.
#[derive(Clone, Copy)]
struct Blocked {
    by: WaitingFor,
    /// Time until which the job waits; `None` if the job waits until the obstacle is removed.
    until: Option<Instant>,
}

/// The next step of a job.
pub(crate) enum Step {
    /// Count the failed and invalid rows of the stored parts.
    Open,
    /// Continue a chunk that was parked.
    GoOn(Box<BegunChunk>),
    /// Begin the chunk with this number. The memory of the chunk is reserved.
    Begin(u64, ChunkMemory),
    /// Check all parts, and write the manifest.
    Finish,
    /// End the job as failed, for this reason.
    Fail(String),
}

/// Pause of a job after an error of the store, such as a full disk.
pub(crate) const DISK_RETRY: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 2 });
/// Time without a sign of work after which an unfinished job counts as waiting.
const IDLE: Duration = Duration::from_secs(1);
/// Time span of the samples for the rate.
const RATE_TIME: Duration = Duration::from_secs(60);
/// Number of newest samples that are kept even if they are older than [`RATE_TIME`].
const RATE_SAMPLES: usize = 8;

impl Job {
    /// Loads a job from its files. A job with damaged files is loaded as failed. `damage` is the damage of the record
    /// or of the specification, if the caller found damage. Returns an error if the store cannot be read.
    pub(crate) fn load(
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
        // The parts of a completed job are not listed: a listing takes one request per thousand parts.
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

    /// Returns the id of the job.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Returns true if the specification is readable.
    pub fn has_spec(&self) -> bool {
        self.has_spec
    }

    /// Returns the files of the job. A job with an unreadable specification is treated as a job without boards.
    pub fn stored(&self) -> &StoredJob {
        &self.stored
    }

    /// Returns a receiver of the number of changes that are visible to clients. The number grows with each change of
    /// the state, the counts, the parts or the obstacle.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Returns true if this owner may see the job. If the record of a job is damaged, any owner who knows the id may
    /// see the job. Such a job shows only the reason of its failure.
    pub(crate) fn is_of(&self, owner: JobOwner) -> bool {
        self.record.owner == owner || !self.has_record
    }

    /// Returns the flag that is set when the job ends.
    pub(crate) fn cancel_flag(&self) -> &AtomicBool {
        &self.cancel
    }

    /// Returns the state of the job.
    pub fn state(&self) -> JobState {
        self.progress.lock().state()
    }

    /// Returns true if an obstacle stops the job, and no step of the job is in progress.
    pub(crate) fn is_blocked(&self) -> bool {
        let progress = self.progress.lock();
        progress.is_blocked() && progress.slices == 0
    }

    /// Returns the time when the job ended; `None` for an unfinished job. If the end is stored, the time comes from the
    /// store's clock.
    pub(crate) fn ended(&self) -> Option<SystemTime> {
        if let Phase::Ended { at, .. } = self.progress.lock().phase { Some(at) } else { None }
    }

    /// Returns a snapshot for clients. `keep` is the time from the end of a job to its expiry. `has_worker` is true if
    /// the dispatch has a worker at present.
    pub(crate) fn view(&self, keep: Duration, has_worker: bool) -> JobView {
        let progress = self.progress.lock();
        let (at, reason) = match &progress.phase {
            Phase::Ended { end, at } => (Some(*at), end.reason.clone()),
            _ => (None, None),
        };
        JobView {
            id: self.id,
            state: progress.state(),
            created: self.record.created,
            // The end time may be before the creation time: the clock of a file system lags by milliseconds, and the
            // clock of a shared store may differ from the clock of the process.
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

    /// Returns the start time of the oldest begun chunk whose part is not stored yet; `None` if there is no such chunk.
    pub(crate) fn oldest_chunk(&self) -> Option<Instant> {
        self.progress.lock().begun.values().min().copied()
    }

    /// Takes the next step of the job; `None` if there is no step at present. After each step, the caller must call
    /// [`end_slice`](Self::end_slice). `memory` reserves the memory of a new chunk. `memory` returns `None` if no new
    /// chunk may begin.
    pub(crate) fn next_step(&self, memory: impl FnOnce() -> Option<ChunkMemory>) -> Option<Step> {
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

    /// Records the end of a step that [`next_step`](Self::next_step) returned.
    pub(crate) fn end_slice(&self) {
        let mut progress = self.progress.lock();
        progress.slices -= 1;
        progress.touched = Instant::now();
    }

    /// Records that the count of failed rows was interrupted. A later slice counts the rows of all stored parts again.
    pub(crate) fn not_opened(&self) {
        let mut progress = self.progress.lock();
        if matches!(progress.phase, Phase::Opening) {
            progress.phase = Phase::New;
        }
    }

    /// Records the number of failed and invalid rows in the stored parts, unless the job has ended.
    pub(crate) fn opened(&self, failed: u64) {
        let mut progress = self.progress.lock();
        // The job may have ended during the count.
        if !matches!(progress.phase, Phase::Opening) {
            return;
        }
        progress.counts.failed = Some(failed);
        progress.phase = Phase::Open;
        self.has_changed();
    }

    /// Keeps a chunk for another slice, unless the job has ended.
    pub(crate) fn park(&self, chunk: Box<BegunChunk>) {
        let mut progress = self.progress.lock();
        if !matches!(progress.phase, Phase::Ended { .. }) {
            progress.chunks.park(chunk);
        }
    }

    /// Drops the labels of a begun chunk. A later slice begins the chunk again, unless the job has ended.
    pub(crate) fn drop_chunk(&self, number: u64) {
        let mut progress = self.progress.lock();
        progress.chunks.drop_chunk(number);
        progress.begun.remove(&number);
    }

    /// Counts the new part of a chunk. The counts of an ended job do not change.
    pub(crate) fn stored_part(&self, chunk: &BegunChunk) {
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

    /// Counts the boards of newly stored parts, and adds a sample for the rate.
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

    /// Returns the mean rate since the oldest sample, in boards per second. The rate falls as long as no part is
    /// stored. Returns `None` if no part was stored since the oldest sample, or if the job has ended.
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
            // Requests occupy all workers, so the slices of the job are paused or cannot begin.
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
