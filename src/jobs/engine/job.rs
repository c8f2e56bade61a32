//! One job of an engine: what is known about it, and what is to be done next.

mod remote;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use tokio::sync::watch;
use tracing::Level;

use super::begun_chunk::BegunChunk;
use super::chunk_queue::{ChunkQueue, Taken};
use super::id::{FolderName, JobId, JobOwner};
use super::store::JobRecord;
use super::view::{JobCounts, JobState, JobView, WaitingFor};
use crate::jobs::manifest::{EndState, JobEnd};
use crate::jobs::stored_job::{JobError, StoredJob};
use crate::search::Named;

/// A job of an engine. Its files are the truth; this is what a process has to remember between two slices.
pub struct Job {
    id: JobId,
    record: JobRecord,
    stored: StoredJob,
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
    /// Slices that work on the job now, or are paused.
    slices: usize,
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
    /// Label boards of a chunk.
    Chunk(Taken<Box<BegunChunk>>),
    /// Check all parts, and write the manifest.
    Finish,
}

/// Time after which a full disk is tried again.
const DISK_RETRY: Duration = Duration::from_secs(2);
/// Time without the begin or the end of a slice after which a job waits for something.
const IDLE: Duration = Duration::from_secs(1);
/// Time over which the rate is taken, and least number of samples.
const RATE_TIME: Duration = Duration::from_secs(60);
const RATE_SAMPLES: usize = 8;

impl Job {
    /// A job as its files say it is.
    ///
    /// # Errors
    /// [`JobError`] if the files cannot be read.
    pub(super) fn load(id: JobId, record: JobRecord, stored: StoredJob, making: Making) -> Result<Self, JobError> {
        let (spec, is_done) = (stored.spec(), stored.done()?);
        let rows = |chunk: u64| {
            let rows = spec.boards_of(chunk);
            rows.end - rows.start
        };
        let done = (0..).zip(&is_done).filter(|(_, is_done)| **is_done).map(|(chunk, _)| rows(chunk)).sum();
        let chunks = ChunkQueue::new(is_done);
        let stored_parts = chunks.done();
        let is_elsewhere = making == Making::Elsewhere;
        let failed = (!is_elsewhere).then_some(0);
        let counts = JobCounts { boards: spec.boards.count(), done, failed, parts: spec.chunks(), stored_parts };
        let blocked = (making == Making::OtherSolver).then_some(Blocked { by: WaitingFor::Version, until: None });
        let progress = JobProgress {
            making,
            phase: if stored_parts == 0 || is_elsewhere { Phase::Open } else { Phase::New },
            chunks,
            begun: BTreeMap::new(),
            counts,
            blocked,
            slices: 0,
            touched: Instant::now(),
            samples: VecDeque::new(),
        };
        let (cancel, progress) = (AtomicBool::new(false), Mutex::new(progress));
        let job = Self { id, record, stored, cancel, progress, changes: watch::Sender::new(0) };
        job.note_end()?;
        Ok(job)
    }

    /// Its id.
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Its files.
    pub fn stored(&self) -> &StoredJob {
        &self.stored
    }

    /// Changes whenever state, counts or parts have changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whose it is.
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

    /// When it ended, if it has.
    pub(super) fn ended(&self) -> Option<SystemTime> {
        if let Phase::Ended { at, .. } = self.progress.lock().phase { Some(at) } else { None }
    }

    /// The job now. `has_worker` says whether any bulk work has a worker.
    pub(super) fn view(&self, keep: Duration, has_worker: bool) -> JobView {
        let progress = self.progress.lock();
        let (ended, reason) = match &progress.phase {
            Phase::Ended { end, at } => (Some(*at), end.reason.clone()),
            _ => (None, None),
        };
        JobView {
            id: self.id,
            state: progress.state(),
            created: self.record.created,
            ended,
            expires: ended.map(|ended| ended + keep),
            folder: self.record.folder,
            spec: self.stored.spec().clone(),
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

    /// Takes the next step, if there is one. It ends with [`end_slice`](Self::end_slice). `may_begin` decides whether
    /// another chunk may be begun.
    pub(super) fn next_step(&self, may_begin: impl FnOnce() -> bool) -> Option<Step> {
        let mut progress = self.progress.lock();
        let now = Instant::now();
        if progress.is_blocked() {
            return None;
        }
        let step = match progress.phase {
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
                let taken = progress.chunks.take(may_begin())?;
                if let Taken::New(number) = taken {
                    progress.begun.insert(number, now);
                }
                let done = progress.counts.done;
                if progress.samples.is_empty() {
                    progress.samples.push_back((now, done));
                    self.has_changed();
                }
                Step::Chunk(taken)
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

    /// The parts that existed have so many rows without a label.
    pub(super) fn opened(&self, failed: u64) {
        let mut progress = self.progress.lock();
        progress.count_failed(failed);
        progress.phase = Phase::Open;
        self.has_changed();
    }

    /// Keeps a chunk for another slice.
    pub(super) fn park(&self, chunk: Box<BegunChunk>) {
        self.progress.lock().chunks.park(chunk);
    }

    /// Gives up the work on a chunk.
    pub(super) fn drop_chunk(&self, number: u64) {
        let mut progress = self.progress.lock();
        progress.chunks.drop_chunk(number);
        progress.begun.remove(&number);
    }

    /// A part was stored.
    pub(super) fn stored_part(&self, chunk: &BegunChunk) {
        let mut progress = self.progress.lock();
        progress.chunks.finish(chunk.number);
        progress.begun.remove(&chunk.number);
        progress.count_failed(chunk.failed);
        progress.count_done(chunk.part.len() as u64);
        progress.blocked = None;
        self.has_changed();
    }

    /// Something went wrong: the job waits for the disk, or ends.
    pub(super) fn trouble(&self, error: &JobError) {
        if error.is_temporary() {
            return self.wait_for_disk(error);
        }
        self.fail(&error.to_string());
    }

    fn wait_for_disk(&self, error: &JobError) {
        let mut progress = self.progress.lock();
        if progress.blocked.is_none() {
            let message = "job waits for the disk";
            tracing::event!(target: "taquin::jobs", Level::WARN, message, job.id = %self.id, %error);
        }
        progress.blocked = Some(Blocked { by: WaitingFor::Disk, until: Some(Instant::now() + DISK_RETRY) });
        if matches!(progress.phase, Phase::Opening) {
            progress.phase = Phase::New;
        } else if matches!(progress.phase, Phase::Finalizing) {
            progress.phase = Phase::Open;
        }
        self.has_changed();
    }

    /// Ends the job as failed.
    pub(super) fn fail(&self, reason: &str) {
        let ended = self.stored.abandon(EndState::Failed, Some(reason.to_owned())).and_then(|_| self.read_end());
        if let Err(error) = ended {
            self.wait_for_disk(&error);
        }
    }

    /// Ends the job as cancelled, unless it has ended.
    ///
    /// # Errors
    /// [`JobError`] if that cannot be stored.
    pub(super) fn cancel(&self) -> Result<(), JobError> {
        self.stored.abandon(EndState::Cancelled, None)?;
        self.read_end()
    }

    /// Notes and logs the end that the files say, if there is one.
    ///
    /// # Errors
    /// [`JobError`] if the file cannot be read.
    pub(super) fn read_end(&self) -> Result<(), JobError> {
        if self.note_end()? {
            let JobView { state, created, ended, counts, .. } = self.view(Duration::ZERO, true);
            let lasted = ended.and_then(|ended| ended.duration_since(created).ok()).unwrap_or_default();
            tracing::event!(
                target: "taquin::jobs",
                Level::INFO,
                message = "job ended",
                job.id = %self.id,
                job.state = state.name(),
                job.boards = counts.boards,
                job.done = counts.done,
                job.failed = counts.failed.unwrap_or_default(),
                elapsed_us = lasted.as_micros() as u64,
            );
        }
        Ok(())
    }

    /// Notes the end that the files say. Returns false if there is none, or it was noted before.
    fn note_end(&self) -> Result<bool, JobError> {
        let Some(mut end) = self.stored.end()? else { return Ok(false) };
        let Some(at) = self.stored.ended_at()? else { return Ok(false) };
        let mut progress = self.progress.lock();
        if matches!(progress.phase, Phase::Ended { .. }) {
            return Ok(false);
        }
        if let Some(totals) = end.totals.take() {
            let JobCounts { boards, parts, .. } = progress.counts;
            let failed = Some(totals.failed + totals.invalid);
            progress.counts = JobCounts { boards, done: boards, failed, parts, stored_parts: parts };
        }
        // The clock of a file system lags by some milliseconds, and that of a store is another one.
        self.set_end(&mut progress, end, at.max(self.record.created));
        Ok(true)
    }

    /// Ends what is done for a job that was deleted.
    pub(super) fn note_deletion(&self) {
        let mut progress = self.progress.lock();
        if !matches!(progress.phase, Phase::Ended { .. }) {
            let end = JobEnd { state: EndState::Cancelled, reason: None, totals: None };
            self.set_end(&mut progress, end, SystemTime::now());
        }
        self.has_changed();
    }

    fn set_end(&self, progress: &mut JobProgress, end: JobEnd, at: SystemTime) {
        progress.phase = Phase::Ended { end, at };
        progress.chunks.clear();
        progress.begun.clear();
        progress.blocked = None;
        self.cancel.store(true, Ordering::Relaxed);
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
            (Phase::Opening | Phase::Finalizing, None) => None,
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
