//! Fair scheduling of searches: least service first.

mod bulk;
mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use taquin_solver::search::{Help, Helpers, MainWork};
use tokio::sync::oneshot;

use crate::service::settings::SearchMemory;
use state::{LONG, MIN_SLICE, NO_LEVEL, NextJob, PausedJob, QueuedJob, SchedulerState, level};

pub(crate) use bulk::BulkPermit;
pub(crate) use state::{Arrival, Trial};

/// Assigns workers and memory to jobs.
///
/// At most one job for each worker runs at a time. The *level* of a job is the time it has run so far, in powers of
/// ten. A lower level goes first; within a level, the earlier job. Short searches finish soon, however many long ones
/// there are (multilevel feedback queue: Corbató, Merwin Daggett & Daley 1962). A running search yields to jobs of a
/// lower level after a minimum time slice. From time to time the oldest job runs first, which prevents starvation.
///
/// A started job keeps its memory until it ends, so its maximum is reserved before the start. Light and small jobs may
/// overtake larger ones meanwhile, and a part of the memory is reserved for each class.
///
/// A started job also keeps its thread, so it starts only on an idle one. [`add_thread`](Self::add_thread) counts the
/// existing threads; their number bounds the paused jobs. The first 50 ms of a job are its *trial*. If too many long
/// jobs hold a thread by then, the job is stopped, and starts again when one of them ends (task assignment by guessing
/// size: Harchol-Balter 2002). So a short job waits only for the trials before it, never for a long job. A long job
/// waits, and loses 50 ms of work at most.
///
/// Bulk work uses the remaining workers. It returns each at its next poll once a job could run or a search asks for
/// help (docs/adr/0011).
#[derive(Debug)]
pub(crate) struct Scheduler {
    workers: usize,
    memory: SearchMemory,
    state: Mutex<PoolState>,
    /// Lowest level of the waiting jobs that could run now.
    waiting: AtomicU8,
    /// True if bulk work must return a worker.
    takes_bulk_workers: AtomicBool,
    /// Notified when bulk work may take a worker.
    bulk_turn: Condvar,
}

/// Workers and memory in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// Busy workers, including bulk work.
    pub busy: usize,
    /// Busy workers of bulk work.
    pub bulk: usize,
    /// Jobs without a worker, started or not.
    pub waiting: usize,
    /// Jobs that have started and not ended.
    pub begun: usize,
    /// Bytes reserved by begun jobs.
    pub reserved: u64,
}

/// A queued job starts when it receives its permit.
type PoolState = SchedulerState<oneshot::Sender<RunPermit>>;

impl Scheduler {
    /// Creates a scheduler. It starts no job until it has a thread.
    pub(crate) fn new(workers: usize, memory: SearchMemory) -> Arc<Self> {
        let state = SchedulerState::new(workers, memory);
        Arc::new(Self {
            workers,
            memory,
            state: Mutex::new(state),
            waiting: AtomicU8::new(NO_LEVEL),
            takes_bulk_workers: AtomicBool::new(false),
            bulk_turn: Condvar::new(),
        })
    }

    /// Queues a job for a worker, a thread and memory.
    pub(crate) fn enqueue(self: &Arc<Self>, need: Need, arrival: Arrival, cancellation: Cancellation) -> Turn {
        let bytes = need.bytes.min(self.memory.shared);
        let class = if need.is_light { 0 } else { 1 + usize::from(bytes > self.memory.small) };
        let (start, started) = oneshot::channel();
        let number = self.change(|state| state.enqueue(class, arrival, QueuedJob { bytes, arrival, start }));
        Turn { queued: DequeueOnDrop { scheduler: Arc::clone(self), number }, started, cancellation }
    }

    /// Workers and memory in use.
    pub(crate) fn load(&self) -> Load {
        let state = self.lock();
        Load {
            busy: self.workers - state.free,
            bulk: state.bulk.busy,
            waiting: state.waiting(),
            begun: state.begun,
            reserved: self.memory.total() - state.memory,
        }
    }

    /// Sets the maximum number of threads, idle or not.
    pub(crate) fn set_max_threads(self: &Arc<Self>, max: usize) {
        self.change(|state| state.max_threads = max);
    }

    /// Adds a new idle thread.
    pub(crate) fn add_thread(self: &Arc<Self>) {
        self.change(|state| state.idle_threads += 1);
    }

    /// Removes an idle thread that no job could use now. Returns true if there was one.
    pub(crate) fn remove_spare_thread(self: &Arc<Self>) -> bool {
        self.change(|state| {
            let is_spare = state.idle_threads > 0 && !state.wants_thread();
            state.idle_threads -= usize::from(is_spare);
            is_spare
        })
    }

    /// True if jobs could use another thread and none is idle.
    pub(crate) fn lacks_thread(&self) -> bool {
        let state = self.lock();
        state.idle_threads == 0 && state.wants_thread()
    }

    /// True if another job may keep its thread after its trial.
    #[cfg(test)]
    pub(crate) fn has_room_for_long_job(&self) -> bool {
        self.lock().has_room_for_long_job()
    }

    /// Number of jobs that wait to start again.
    #[cfg(test)]
    pub(crate) fn restarts(&self) -> usize {
        self.lock().restarts()
    }

    /// Wakes every paused job so that it re-checks its deadline and cancel flags.
    pub(crate) fn wake_all(&self) {
        self.lock().paused.values().for_each(|job| job.thread.unpark());
    }

    /// Wakes one paused job so that it re-checks its deadline and cancel flags.
    pub(crate) fn wake(&self, number: u64) {
        let state = self.lock();
        let job = state.paused.iter().find(|((_, paused), _)| *paused == number);
        job.into_iter().for_each(|(_, job)| job.thread.unpark());
    }

    /// Returns an idle worker if no job waits for one. Bulk work returns its idle workers at its next poll, and later
    /// calls get them.
    fn borrow_worker(self: &Arc<Self>) -> Option<BorrowedWorker> {
        let mut state = self.lock();
        if state.next().is_some() {
            return None;
        }
        if state.free == 0 {
            if state.bulk.busy > 0 {
                state.bulk.help_until = Some(Instant::now() + MIN_SLICE);
                self.takes_bulk_workers.store(true, Ordering::Relaxed);
            }
            return None;
        }
        state.free -= 1;
        Some(BorrowedWorker(Arc::clone(self)))
    }

    /// Counts a job as long if it may keep its thread after its trial. Returns whether it may.
    fn try_keep_thread(self: &Arc<Self>) -> bool {
        let mut state = self.lock();
        let may_keep = state.has_room_for_long_job() && !state.has_startable_restart();
        state.long += usize::from(may_keep);
        may_keep
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock()
    }

    /// Changes the state, then assigns free workers to waiting jobs.
    fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut PoolState) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let mut undelivered = Vec::new();
        while let Some(next) = state.next().filter(|_| state.free > 0) {
            state.free -= 1;
            state.count(next);
            match next {
                NextJob::Queued(number) | NextJob::Restart(number) => {
                    undelivered.extend(self.begin(&mut state, number))
                }
                NextJob::Paused(key) => state.resume(key),
            }
        }
        self.waiting.store(state.lowest_level(), Ordering::Relaxed);
        self.takes_bulk_workers.store(state.wants_bulk_worker(), Ordering::Relaxed);
        for _ in 0..state.free.min(state.bulk.waiting) {
            self.bulk_turn.notify_one();
        }
        drop(state);
        // Dropping a permit changes the state again, so the lock is released first.
        drop(undelivered);
        changed
    }

    /// Starts a queued job. Returns the permit if its future was dropped meanwhile.
    fn begin(self: &Arc<Self>, state: &mut PoolState, number: u64) -> Option<RunPermit> {
        let QueuedJob { bytes, arrival, start } = state.dequeue(number)?;
        let trial = if let Arrival::Restart(trial) = arrival { Some(trial) } else { None };
        state.memory -= bytes;
        state.idle_threads -= 1;
        state.begun += 1;
        state.long += usize::from(trial.is_some());
        let worked = trial.map_or(Duration::ZERO, |trial| trial.worked);
        let permit = RunPermit {
            scheduler: Arc::clone(self),
            number,
            bytes,
            cancellation: Cancellation::default(),
            is_long: AtomicBool::new(trial.is_some()),
            is_stopped: AtomicBool::new(false),
            polls: AtomicU32::new(0),
            clock: Mutex::new(RunClock { since: Some(Instant::now()), worked, paused: Duration::ZERO }),
        };
        start.send(permit).err()
    }

    /// Releases the worker and blocks until the job is resumed. Returns false if the job is cancelled first.
    fn yield_worker(self: &Arc<Self>, key: (u8, u64), cancellation: &Cancellation) -> bool {
        let job = Arc::new(PausedJob { is_resumed: AtomicBool::new(false), thread: std::thread::current() });
        self.change(|state| {
            state.paused.insert(key, Arc::clone(&job));
            state.free += 1;
        });
        while !job.is_resumed.load(Ordering::Acquire) {
            if cancellation.is_over() {
                // The job may have been resumed meanwhile.
                return self.change(|state| state.paused.remove(&key)).is_none();
            }
            std::thread::park_timeout(cancellation.time_left().min(Duration::from_secs(3600)));
        }
        true
    }
}

/// Memory that a job needs, and its class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) bytes: u64,
    /// True if the job stores neither nodes nor expansions.
    pub(crate) is_light: bool,
}

impl Need {
    /// Need of work other than a search.
    pub(crate) const NONE: Self = Self { bytes: 0, is_light: true };
}

/// Conditions that end a wait.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation {
    /// End of the job's time.
    pub(crate) deadline: Option<Instant>,
    /// Cancel flags of the job and of the pool.
    pub(crate) flags: [Arc<AtomicBool>; 2],
}

impl Cancellation {
    /// True if a cancel flag is raised.
    pub(crate) fn is_raised(&self) -> bool {
        self.flags.iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    fn is_over(&self) -> bool {
        self.is_raised() || self.time_left().is_zero()
    }

    fn time_left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// A queued job's wait for its permit. Dropping it removes the job from the queue.
pub(crate) struct Turn {
    queued: DequeueOnDrop,
    started: oneshot::Receiver<RunPermit>,
    cancellation: Cancellation,
}

impl Turn {
    /// Waits until the job starts.
    pub(crate) async fn started(self) -> RunPermit {
        let Self { queued, started, cancellation } = self;
        let mut permit = started.await.expect("a queued job is started or dropped");
        drop(queued);
        permit.cancellation = cancellation;
        permit
    }
}

/// Removes a queued job when dropped.
struct DequeueOnDrop {
    scheduler: Arc<Scheduler>,
    number: u64,
}

impl Drop for DequeueOnDrop {
    fn drop(&mut self) {
        let number = self.number;
        self.scheduler.change(|state| drop(state.dequeue(number)));
    }
}

/// Permission to run: reserved memory, a thread, and a worker unless the job is paused.
#[derive(Debug)]
pub(crate) struct RunPermit {
    scheduler: Arc<Scheduler>,
    number: u64,
    bytes: u64,
    cancellation: Cancellation,
    /// True once the job may keep its thread after its trial.
    is_long: AtomicBool,
    /// True once the job must stop after its trial.
    is_stopped: AtomicBool,
    /// Polls during the trial.
    polls: AtomicU32,
    clock: Mutex<RunClock>,
}

/// Running and paused time of a started job.
#[derive(Clone, Copy, Debug)]
struct RunClock {
    /// Start of the current slice, if the job has a worker.
    since: Option<Instant>,
    /// Running time before the current slice.
    worked: Duration,
    paused: Duration,
}

impl RunPermit {
    /// Number of the job, for [`Scheduler::wake`].
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The flag that stops the job after its trial.
    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.is_stopped
    }

    /// The trial of a stopped job.
    pub(crate) fn trial(&self) -> Option<Trial> {
        let is_stopped = self.is_stopped.load(Ordering::Relaxed);
        is_stopped.then(|| Trial { number: self.number, worked: self.times().0 })
    }

    /// Running time including the trial, and paused time since the start.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        let RunClock { since, worked, paused } = *self.clock();
        (worked + since.map_or(Duration::ZERO, |since| since.elapsed()), paused)
    }

    /// True at every 16th poll. Polls are some hundred microseconds apart, and reading the clock costs as much as a
    /// poll.
    fn looks_at_clock(&self) -> bool {
        const POLLS_PER_LOOK: u32 = 16;
        self.polls.fetch_add(1, Ordering::Relaxed).is_multiple_of(POLLS_PER_LOOK)
    }

    /// Returns true if the job may keep its thread after its trial. Otherwise the job stops.
    fn may_continue(&self) -> bool {
        if self.is_long.load(Ordering::Relaxed) {
            return true;
        }
        let is_long = !self.is_stopped.load(Ordering::Relaxed) && self.scheduler.try_keep_thread();
        self.is_long.store(is_long, Ordering::Relaxed);
        self.is_stopped.store(!is_long, Ordering::Relaxed);
        is_long
    }

    fn clock(&self) -> MutexGuard<'_, RunClock> {
        self.clock.lock()
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        let has_worker = self.clock().since.is_some();
        self.scheduler.change(|state| {
            state.free += usize::from(has_worker);
            state.memory += self.bytes;
            state.idle_threads += 1;
            state.begun -= 1;
            state.long -= usize::from(*self.is_long.get_mut());
        });
    }
}

impl Helpers for RunPermit {
    fn work(&self, main: MainWork<'_>, help: &Help<'_>) {
        let is_wanted = || self.scheduler.waiting.load(Ordering::Relaxed) != NO_LEVEL;
        std::thread::scope(|scope| {
            main(&|| {
                if is_wanted() {
                    return;
                }
                if let Some(worker) = self.scheduler.borrow_worker() {
                    // If no thread can be created, the search runs without a helper.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, move || {
                        let _worker = worker;
                        help(&is_wanted);
                    });
                }
            });
        });
    }

    /// Ends the trial of a job, and yields the worker to jobs of lower levels.
    fn pause(&self) {
        let waiting = self.scheduler.waiting.load(Ordering::Relaxed);
        if waiting == NO_LEVEL && (self.is_long.load(Ordering::Relaxed) || !self.looks_at_clock()) {
            return;
        }
        let mut clock = self.clock();
        let Some(since) = clock.since else { return };
        let held = since.elapsed();
        let level = level(clock.worked + held);
        if level >= LONG && !self.may_continue() || held < MIN_SLICE || waiting >= level {
            return;
        }
        let begun = Instant::now();
        clock.worked += held;
        // A cancelled job ends without a worker.
        let is_resumed = self.scheduler.yield_worker((level, self.number), &self.cancellation);
        clock.paused += begun.elapsed();
        clock.since = is_resumed.then(Instant::now);
    }
}

/// A worker that helps another job's search.
struct BorrowedWorker(Arc<Scheduler>);

impl Drop for BorrowedWorker {
    fn drop(&mut self) {
        self.0.change(|state| state.free += 1);
    }
}
