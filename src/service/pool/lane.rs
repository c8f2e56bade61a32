//! The lane for bulk work. The lane has its own threads, and determines the order of slices.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tracing::Level;

use super::scheduler::{Cancellation, RunPermit, Scheduler};
use super::slice::{BulkWork, Slice, SliceContext, SliceEnd};
use super::threads::RETRY_WITHOUT_THREAD;
use super::work_task::CallerContext;
use crate::service::job::{Overload, ServiceError};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::tables::lower_thread_priority;

/// Runs slices of bulk work on its own threads. The slices use workers while no job can use these workers.
///
/// The items of bulk work, here called works, take turns. A thread takes a worker, runs a slice of the first work in
/// the rotation, and returns the worker. The lane creates threads when work arrives. Idle threads end soon, but the
/// last thread stays while a work is unfinished.
#[derive(Debug)]
pub(crate) struct BulkLane(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    scheduler: Arc<Scheduler>,
    metrics: Metrics,
    /// Maximum number of threads.
    max: usize,
    /// Cancel flag of the pool. Once the flag is set, no slice begins, and running slices stop at their next poll.
    cancel_all: Arc<AtomicBool>,
    state: Mutex<LaneState>,
    changed: Condvar,
    /// True if the system refused the latest attempt to create a thread.
    is_refused: AtomicBool,
    spawn: Spawn,
}

#[derive(Debug, Default)]
struct LaneState {
    /// Unfinished works, by arrival number.
    works: BTreeMap<u64, Entry>,
    arrivals: u64,
    /// Numbers of the works that may have a slice to run. The work with the first number has the next turn.
    rotation: VecDeque<u64>,
    threads: usize,
    /// Number of threads that wait for a turn.
    idle: usize,
    /// Number of running and paused slices.
    slices: usize,
    is_closed: bool,
}

/// An unfinished work.
#[derive(Clone)]
struct Entry {
    work: Arc<dyn BulkWork>,
    cancellation: Cancellation,
    caller: CallerContext,
    since: Instant,
    /// Number of wake-ups of the work so far.
    wakes: u64,
}

/// A function that creates a thread to run a closure.
type Spawn = fn(Box<dyn FnOnce() + Send>) -> io::Result<()>;

/// Time after which an idle thread ends. The last thread does not end while works are unfinished.
const IDLE_TIME: Duration = Duration::from_millis(200);

/// Bulk work in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BulkLoad {
    /// Number of unfinished works.
    pub works: usize,
    /// Number of slices that have begun and have not ended. Running and paused slices count.
    pub slices: usize,
    /// Age of the oldest unfinished work; zero if no work is unfinished.
    pub oldest: Duration,
}

/// Registration of bulk work. Dropping the handle ends the work. The searches of the work stop when they next poll the
/// cancel flag.
#[must_use = "dropping it ends the work"]
#[derive(Debug)]
pub struct BulkHandle {
    lane: Arc<Shared>,
    number: u64,
    cancel: Arc<AtomicBool>,
}

/// The reason for the rejection of bulk work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BulkError {
    /// The settings allow no worker for bulk work.
    #[error("bulk work is turned off")]
    Off,
    /// The service shuts down, or the lane has no thread and the system refuses to create a thread.
    #[error(transparent)]
    Service(#[from] ServiceError),
}

impl BulkLane {
    /// Creates a lane with at most `max` threads. `cancel_all` is the cancel flag of the pool.
    pub(crate) fn new(scheduler: &Arc<Scheduler>, metrics: &Metrics, max: usize, cancel_all: &Arc<AtomicBool>) -> Self {
        Self::with_spawn(scheduler, metrics, max, cancel_all, |run| {
            Builder::new().name("taquin-bulk".to_owned()).spawn(run).map(drop)
        })
    }

    fn with_spawn(
        scheduler: &Arc<Scheduler>,
        metrics: &Metrics,
        max: usize,
        cancel_all: &Arc<AtomicBool>,
        spawn: Spawn,
    ) -> Self {
        Self(Arc::new(Shared {
            scheduler: Arc::clone(scheduler),
            metrics: metrics.clone(),
            max,
            cancel_all: Arc::clone(cancel_all),
            state: Mutex::default(),
            changed: Condvar::new(),
            is_refused: AtomicBool::new(false),
            spawn,
        }))
    }

    /// Adds work to the rotation.
    ///
    /// # Errors
    /// See [`BulkError`].
    pub(crate) fn add(&self, work: Arc<dyn BulkWork>) -> Result<BulkHandle, BulkError> {
        if self.0.max == 0 {
            return Err(BulkError::Off);
        }
        let cancel = Arc::<AtomicBool>::default();
        let number = {
            let mut state = self.0.state.lock();
            if state.is_closed {
                self.0.metrics.refused(Refusal::Draining);
                return Err(ServiceError::ShuttingDown.into());
            }
            let flags = [Arc::clone(&cancel), Arc::clone(&self.0.cancel_all)];
            state.add(Entry::new(work, Cancellation { deadline: None, flags }))
        };
        let handle = BulkHandle { lane: Arc::clone(&self.0), number, cancel };
        if self.0.provide() {
            return Ok(handle);
        }
        self.0.metrics.refused(Refusal::NoThread);
        Err(ServiceError::Overloaded { retry_after: RETRY_WITHOUT_THREAD, cause: Overload::NoThread }.into())
    }

    /// Returns the number of works and slices in progress, and the age of the oldest work.
    pub(crate) fn load(&self) -> BulkLoad {
        let state = self.0.state.lock();
        let oldest = state.works.first_key_value().map_or(Duration::ZERO, |(_, oldest)| oldest.since.elapsed());
        BulkLoad { works: state.works.len(), slices: state.slices, oldest }
    }

    /// Ends all work, and rejects further work. The caller must set `cancel_all` first, so that running slices stop.
    pub(crate) fn close(&self) {
        let works = {
            let mut state = self.0.state.lock();
            state.is_closed = true;
            state.rotation.clear();
            std::mem::take(&mut state.works)
        };
        self.0.changed.notify_all();
        self.0.scheduler.wake_slices();
        works.into_values().for_each(|entry| self.0.abort(&*entry.work, ServiceError::ShuttingDown));
    }
}

impl Drop for BulkLane {
    fn drop(&mut self) {
        self.0.cancel_all.store(true, Ordering::Relaxed);
        self.close();
    }
}

impl BulkHandle {
    /// Puts the work back into the rotation after [`SliceEnd::Idle`]. The caller calls this function when the work has
    /// slices to run again.
    pub fn wake(&self) {
        self.lane.state.lock().wake(self.number);
        // The result of `provide` does not matter: a lane with unfinished work always has a thread.
        self.lane.provide();
    }
}

impl Drop for BulkHandle {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
        let removed = self.lane.state.lock().remove(self.number);
        self.lane.scheduler.wake_slices();
        // Dropping the work may take long, so the lock is released first.
        drop(removed);
    }
}

impl Shared {
    fn has_turn(&self) -> bool {
        self.may_begin(&self.state.lock())
    }

    /// Returns true if a slice may begin. No slice may begin once `cancel_all` is set, although the rotation keeps its
    /// works until the lane is closed.
    fn may_begin(&self, state: &LaneState) -> bool {
        !state.rotation.is_empty() && !self.cancel_all.load(Ordering::Relaxed)
    }

    /// Wakes an idle thread for the next turn. If no thread is idle, creates a thread, up to the maximum. Returns false
    /// if the lane has no thread and the system refuses to create a thread.
    fn provide(self: &Arc<Self>) -> bool {
        {
            let mut state = self.state.lock();
            if state.rotation.is_empty() || state.idle > 0 || state.threads >= self.max {
                self.changed.notify_one();
                return true;
            }
            state.threads += 1;
        }
        let own = Arc::clone(self);
        let Err(error) = (self.spawn)(Box::new(move || own.run())) else {
            self.is_refused.store(false, Ordering::Relaxed);
            return true;
        };
        let left = {
            let mut state = self.state.lock();
            state.threads -= 1;
            state.threads
        };
        if !self.is_refused.swap(true, Ordering::Relaxed) {
            tracing::event!(target: "taquin::bulk", Level::WARN, threads = left, %error, "the system refuses another thread for bulk work");
        }
        left > 0
    }

    /// Runs turns until the thread must end.
    fn run(self: Arc<Self>) {
        lower_thread_priority();
        while self.wait_for_turn() {
            if let Some(permit) = self.scheduler.slice_permit(&|| !self.has_turn())
                && let Some((number, entry)) = self.take_turn()
            {
                // This thread has a worker for its turn. The next turn needs another thread.
                self.provide();
                self.run_turn(number, entry, permit);
            }
        }
    }

    /// Waits for a turn. Returns false if the thread must end, because the lane is closed or the thread was idle for
    /// [`IDLE_TIME`]. While works are unfinished, the last thread continues to wait.
    fn wait_for_turn(&self) -> bool {
        let mut state = self.state.lock();
        while !self.may_begin(&state) {
            state.idle += 1;
            let is_idle = self.changed.wait_for(&mut state, IDLE_TIME).timed_out();
            state.idle -= 1;
            let is_spare = state.works.is_empty() || state.threads > 1;
            if state.rotation.is_empty() && (state.is_closed || is_idle && is_spare) {
                state.threads -= 1;
                return false;
            }
        }
        true
    }

    fn take_turn(&self) -> Option<(u64, Entry)> {
        let mut state = self.state.lock();
        if self.may_begin(&state) { state.take_turn() } else { None }
    }

    /// Runs a slice, counts the slice, and logs the slice. A panic in the slice ends the work.
    fn run_turn(&self, number: u64, entry: Entry, mut permit: RunPermit) {
        let Entry { work, cancellation, caller, wakes, .. } = entry;
        permit.cancellation = cancellation;
        let run = || work.run_slice(&SliceContext::new(&permit));
        let done = caller.clone().in_scope(|| catch_unwind(AssertUnwindSafe(run)));
        let (worked, paused) = permit.times();
        match done {
            Ok(slice) => {
                self.metrics.bulk_slice(slice.boards, worked);
                caller.in_scope(|| log(number, slice, worked, paused));
                self.state.lock().end_turn(number, slice.end, wakes);
            }
            Err(_) => {
                self.metrics.panicked();
                permit.cancellation.flags[0].store(true, Ordering::Relaxed);
                let removed = self.state.lock().remove(number);
                self.scheduler.wake_slices();
                if removed.is_some() {
                    self.abort(&*work, ServiceError::Failed("bulk work panicked"));
                }
            }
        }
        drop((work, permit));
        self.state.lock().slices -= 1;
    }

    /// Calls [`BulkWork::aborted`]. A panic of `aborted` is counted, and does not reach the caller.
    fn abort(&self, work: &dyn BulkWork, error: ServiceError) {
        if catch_unwind(AssertUnwindSafe(|| work.aborted(error))).is_err() {
            self.metrics.panicked();
        }
    }
}

impl LaneState {
    fn add(&mut self, entry: Entry) -> u64 {
        self.arrivals += 1;
        self.works.insert(self.arrivals, entry);
        self.wake(self.arrivals);
        self.arrivals
    }

    /// Counts a wake-up of a work, and puts the work into the rotation. Does nothing if the work has ended.
    fn wake(&mut self, number: u64) {
        let Some(entry) = self.works.get_mut(&number) else { return };
        entry.wakes += 1;
        if !self.rotation.contains(&number) {
            self.rotation.push_back(number);
        }
    }

    /// Takes the turn of the first work in the rotation, and moves the work to the end of the rotation. So several
    /// threads may run slices of the same work. Returns the number and the entry of the work; `None` if the rotation is
    /// empty.
    fn take_turn(&mut self) -> Option<(u64, Entry)> {
        let number = self.rotation.pop_front()?;
        self.rotation.push_back(number);
        let entry = self.works.get(&number)?.clone();
        self.slices += 1;
        Some((number, entry))
    }

    /// Records the end of a slice. A work with more slices stays in the rotation, an idle work leaves the rotation, and
    /// a finished work leaves the lane. `wakes` is the number of wake-ups at the start of the slice. If an idle work
    /// was woken during the slice, the work stays in the rotation.
    fn end_turn(&mut self, number: u64, end: SliceEnd, wakes: u64) {
        match end {
            // The work is woken, because a parallel slice may have become idle only for lack of the chunk that this
            // slice held.
            SliceEnd::More => self.wake(number),
            SliceEnd::Idle => {
                if self.works.get(&number).is_some_and(|entry| entry.wakes == wakes) {
                    self.rotation.retain(|other| *other != number);
                }
            }
            SliceEnd::Done => drop(self.remove(number)),
        }
    }

    fn remove(&mut self, number: u64) -> Option<Entry> {
        self.rotation.retain(|other| *other != number);
        self.works.remove(&number)
    }
}

impl Entry {
    fn new(work: Arc<dyn BulkWork>, cancellation: Cancellation) -> Self {
        Self { work, cancellation, caller: CallerContext::current(), since: Instant::now(), wakes: 0 }
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cancellation, since, wakes, .. } = self;
        let mut debug = f.debug_struct("Entry");
        debug.field("cancellation", cancellation).field("since", since).field("wakes", wakes).finish_non_exhaustive()
    }
}

/// Logs a slice, with the fields that docs/LOGGING.md lists.
fn log(number: u64, slice: Slice, worked: Duration, paused: Duration) {
    tracing::event!(
        target: "taquin::bulk",
        Level::DEBUG,
        message = "slice finished",
        bulk.work = number,
        bulk.solved = slice.boards.solved,
        bulk.failed = slice.boards.failed,
        bulk.invalid = slice.boards.invalid,
        bulk.worked_us = worked.as_micros() as u64,
        bulk.paused_us = paused.as_micros() as u64,
    );
}

#[cfg(test)]
mod tests;
