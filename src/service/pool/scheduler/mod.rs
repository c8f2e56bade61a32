//! Scheduling of jobs. Jobs that have run for less time usually run first.

mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_solver::search::{Help, Helpers, MainWork};
use tokio::sync::oneshot;

use crate::service::settings::SearchMemory;
use state::{BULK, HELP, LONG, MIN_SLICE, NO_LEVEL, NextJob, PausedJob, QueuedJob, SchedulerState, level};

pub(crate) use state::{Arrival, Trial};

/// Assigns workers and memory to jobs.
///
/// At most one job per worker runs at a time. The *level* of a job is a number from 0 to 4. The level rises with the
/// running time of the job, by one for each power of ten. Jobs of a lower level run first. Within a level, older jobs
/// run first. So short searches finish soon, whatever the number of long searches (multilevel feedback queue: Corbató,
/// Merwin Daggett & Daley 1962). A running job yields to jobs of a lower level after a minimum time slice. After some
/// starts and resumptions, the oldest stopped or paused job runs next, so that no job starves.
///
/// A started job keeps its memory until the job ends. So, before a job starts, the scheduler reserves all memory that
/// the job may need. A *light* job stores no nodes, and a *small* job needs at most [`SearchMemory::small`] bytes. One
/// part of the memory is only for light jobs, and another part is only for light and small jobs. So light and small
/// jobs overtake larger jobs that wait for memory.
///
/// A started job also keeps its thread, so a job starts only if a thread is idle. Therefore the number of threads
/// limits the number of paused jobs; [`add_thread`](Self::add_thread) adds a thread. The first 50 ms of a job are the
/// *trial* of the job. If too many long jobs hold a thread at the end of the trial, the scheduler stops the job, and
/// the job releases its memory and its thread. The job starts again from the beginning when one of the long jobs ends
/// (task assignment by guessing size: Harchol-Balter 2002). So a short job waits only for trials, never for a long job.
/// A long job may wait, and loses little more than 50 ms of work.
///
/// A slice of bulk work has the highest level, so slices run last. A slice waits for a worker like a paused job. A
/// slice yields at its next poll, without a minimum time slice, if any job or a helper of a search needs a worker
/// (docs/adr/0011).
#[derive(Debug)]
pub(crate) struct Scheduler {
    workers: usize,
    memory: SearchMemory,
    state: Mutex<PoolState>,
    /// The lowest level that waits for a worker, as an atomic that is read without the lock. The value is the level of
    /// a job that could run now, [`HELP`] while searches ask for help, or [`NO_LEVEL`].
    waiting: AtomicU8,
}

/// Workers and memory in use, and the number of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// Number of busy workers. Workers of jobs, of helpers and of bulk work count.
    pub busy: usize,
    /// Number of busy workers that run bulk work.
    pub bulk: usize,
    /// Number of jobs without a worker. Queued jobs and paused jobs count.
    pub waiting: usize,
    /// Number of jobs that hold a thread. Running and paused jobs count.
    pub begun: usize,
    /// Memory that started jobs have reserved, in bytes. [`Pool::load`](super::Pool::load) adds the memory of slices of
    /// bulk work.
    pub reserved: u64,
}

/// The state of the scheduler. A queued job starts when the scheduler sends a permit through the job's sender.
type PoolState = SchedulerState<oneshot::Sender<RunPermit>>;

impl Scheduler {
    /// Creates a scheduler without threads. No job starts until a thread is added.
    pub(crate) fn new(workers: usize, memory: SearchMemory) -> Arc<Self> {
        let state = SchedulerState::new(workers, memory);
        Arc::new(Self { workers, memory, state: Mutex::new(state), waiting: AtomicU8::new(NO_LEVEL) })
    }

    /// Blocks until a slice of bulk work has a worker, and returns the permit of the slice. Returns `None` if `is_over`
    /// returns true first. This function calls `is_over` at its start, and at least after each
    /// [`wake_slices`](Self::wake_slices).
    pub(crate) fn slice_permit(self: &Arc<Self>, is_over: &dyn Fn() -> bool) -> Option<RunPermit> {
        let number = self.state.lock().next_number();
        let time_left = || if is_over() { Duration::ZERO } else { Duration::MAX };
        let has_worker = self.wait_for_worker((BULK, number), false, &time_left);
        has_worker.then(|| RunPermit::new(self, number, 0, None, true))
    }

    /// Wakes every waiting slice of bulk work, so that the slice checks again whether it must end.
    pub(crate) fn wake_slices(&self) {
        self.state.lock().wake_slices();
    }

    /// Queues a job for a worker, a thread and memory. If the job needs more than [`SearchMemory::shared`] bytes, only
    /// [`SearchMemory::shared`] bytes will be reserved.
    pub(crate) fn enqueue(self: &Arc<Self>, need: Need, arrival: Arrival, cancellation: Cancellation) -> Turn {
        let bytes = need.bytes.min(self.memory.shared);
        let class = if need.is_light { 0 } else { 1 + usize::from(bytes > self.memory.small) };
        let (start, started) = oneshot::channel();
        let number = self.change(|state| state.enqueue(class, arrival, QueuedJob { bytes, arrival, start }));
        Turn { queued: DequeueOnDrop { scheduler: Arc::clone(self), number }, started, cancellation }
    }

    /// Returns the workers and the memory in use, and the number of jobs. The memory does not include slices of bulk
    /// work.
    pub(crate) fn load(&self) -> Load {
        let state = self.state.lock();
        Load {
            busy: self.workers - state.free,
            bulk: state.busy_slices,
            waiting: state.waiting(),
            begun: state.begun,
            reserved: self.memory.total() - state.memory,
        }
    }

    /// Sets the maximum number of threads. Idle threads and threads of jobs count.
    pub(crate) fn set_max_threads(self: &Arc<Self>, max: usize) {
        self.change(|state| state.max_threads = max);
    }

    /// Adds one to the number of idle threads, so that a waiting job may start.
    pub(crate) fn add_thread(self: &Arc<Self>) {
        self.change(|state| state.idle_threads += 1);
    }

    /// Subtracts one from the number of idle threads, unless no thread is idle or a job could use another thread.
    /// Returns true if the number has changed. One idle thread must then end.
    pub(crate) fn remove_spare_thread(self: &Arc<Self>) -> bool {
        self.change(|state| {
            let is_spare = state.idle_threads > 0 && !state.wants_thread();
            state.idle_threads -= usize::from(is_spare);
            is_spare
        })
    }

    /// Returns true if jobs could use another thread and no thread is idle.
    pub(crate) fn lacks_thread(&self) -> bool {
        let state = self.state.lock();
        state.idle_threads == 0 && state.wants_thread()
    }

    /// Returns true if another job may keep its thread after its trial.
    #[cfg(test)]
    pub(crate) fn has_room_for_long_job(&self) -> bool {
        self.state.lock().has_room_for_long_job()
    }

    /// Returns the number of jobs that wait to start again.
    #[cfg(test)]
    pub(crate) fn restarts(&self) -> usize {
        self.state.lock().restarts()
    }

    /// Wakes every paused job and slice, so that each checks its deadline and its cancel flags again.
    pub(crate) fn wake_all(&self) {
        self.state.lock().paused.values().for_each(|job| job.thread.unpark());
    }

    /// Wakes the job with this number, if the job is paused. The job then checks its deadline and its cancel flags
    /// again.
    pub(crate) fn wake(&self, number: u64) {
        let state = self.state.lock();
        let job = state.paused.iter().find(|((_, paused), _)| *paused == number);
        job.into_iter().for_each(|(_, job)| job.thread.unpark());
    }

    /// Borrows an idle worker for a helper. Returns `None` if no worker is idle, or if a waiting job could use the
    /// worker. If no worker is idle but slices of bulk work have workers, this function asks the slices to yield, so
    /// that a later call gets a worker.
    fn borrow_worker(self: &Arc<Self>) -> Option<BorrowedWorker> {
        let mut state = self.state.lock();
        if state.lowest_level() != NO_LEVEL {
            return None;
        }
        if state.free == 0 {
            if state.busy_slices > 0 {
                state.ask_for_help();
                self.waiting.store(HELP, Ordering::Relaxed);
            }
            return None;
        }
        state.free -= 1;
        Some(BorrowedWorker(Arc::clone(self)))
    }

    /// If a job may keep its thread after its trial, counts the job as long and returns true; otherwise returns false.
    /// A stopped job that could start again takes precedence.
    fn try_keep_thread(self: &Arc<Self>) -> bool {
        let mut state = self.state.lock();
        let may_keep = state.has_room_for_long_job() && !state.has_startable_restart();
        state.long += usize::from(may_keep);
        may_keep
    }
    /// Changes the state, and then assigns free workers to waiting jobs and slices. Returns the result of `change`.
    fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut PoolState) -> T) -> T {
        let mut state = self.state.lock();
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
        let help = if state.help_left().is_some() { HELP } else { NO_LEVEL };
        self.waiting.store(state.lowest_level().min(help), Ordering::Relaxed);
        drop(state);
        // Dropping a permit changes the state again, so the lock is released first.
        drop(undelivered);
        changed
    }

    /// Starts a queued job by sending its permit. If the future of the job was dropped meanwhile, returns the permit;
    /// otherwise returns `None`.
    fn begin(self: &Arc<Self>, state: &mut PoolState, number: u64) -> Option<RunPermit> {
        let QueuedJob { bytes, arrival, start } = state.dequeue(number)?;
        let trial = if let Arrival::Restart(trial) = arrival { Some(trial) } else { None };
        state.memory -= bytes;
        state.idle_threads -= 1;
        state.begun += 1;
        state.long += usize::from(trial.is_some());
        start.send(RunPermit::new(self, number, bytes, trial, false)).err()
    }

    /// Releases the worker if `has_worker` is true, and blocks until the job or slice gets a worker. Returns false if
    /// `time_left` returns zero first; the job or slice then has no worker. `key` is the level and the number of the
    /// job or slice.
    fn wait_for_worker(self: &Arc<Self>, key: (u8, u64), has_worker: bool, time_left: &dyn Fn() -> Duration) -> bool {
        const HOUR: Duration = Duration::from_secs(3600);
        let job = Arc::new(PausedJob { is_resumed: AtomicBool::new(false), thread: std::thread::current() });
        let mut help = self.change(|state| {
            state.paused.insert(key, Arc::clone(&job));
            if has_worker {
                state.release_worker(key.0);
            }
            state.help_left()
        });
        while !job.is_resumed.load(Ordering::Acquire) {
            let left = time_left();
            if left.is_zero() {
                // If the job was resumed meanwhile, the job is no longer in the map, and has a worker.
                return self.change(|state| state.paused.remove(&key)).is_none();
            }
            std::thread::park_timeout(left.min(help.unwrap_or(HOUR)));
            if key.0 == BULK {
                // `change` resumes waiting slices once the time for helpers is over.
                help = self.change(|state| state.help_left());
            }
        }
        true
    }
}

/// The memory that a job needs, and whether the job is light.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) bytes: u64,
    /// True for a search that stores neither nodes nor lists of nodes, and for all work other than a search.
    pub(crate) is_light: bool,
}

impl Need {
    /// The need of a job that stores nothing.
    pub(crate) const NONE: Self = Self { bytes: 0, is_light: true };
}

/// Conditions that end a waiting or running job or slice: the deadline and the cancel flags.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation {
    /// End of the job's time; `None` if the job's time is unlimited.
    pub(crate) deadline: Option<Instant>,
    /// Cancel flag of the job or bulk work, and cancel flag of the pool.
    pub(crate) flags: [Arc<AtomicBool>; 2],
}

impl Cancellation {
    /// Returns true if a cancel flag is set.
    pub(crate) fn is_raised(&self) -> bool {
        self.flags.iter().any(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns the time until the deadline. Returns zero once a flag is set, and [`Duration::MAX`] if there is no
    /// deadline.
    fn time_left(&self) -> Duration {
        if self.is_raised() {
            return Duration::ZERO;
        }
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// A queued job that waits for its permit. Dropping the turn removes the job from the queue.
pub(crate) struct Turn {
    queued: DequeueOnDrop,
    started: oneshot::Receiver<RunPermit>,
    cancellation: Cancellation,
}

impl Turn {
    /// Waits until the job starts, and returns the permit of the job.
    pub(crate) async fn started(self) -> RunPermit {
        let Self { queued, started, cancellation } = self;
        let mut permit = started.await.expect("a queued job is started or dropped");
        drop(queued);
        permit.cancellation = cancellation;
        permit
    }
}

/// Guard that removes a queued job from the queue when the guard is dropped.
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

/// Permission of a job or slice to run. The permit holds a worker, except while the job or slice is paused, and except
/// after a pause that the [`Cancellation`] ended. The permit of a job also holds memory and a thread.
#[derive(Debug)]
pub(crate) struct RunPermit {
    scheduler: Arc<Scheduler>,
    number: u64,
    bytes: u64,
    /// True for a slice of bulk work. The permit of a slice holds no memory and none of the pool's job threads.
    is_slice: bool,
    pub(crate) cancellation: Cancellation,
    /// True once the job may keep its thread after its trial.
    is_long: AtomicBool,
    /// True once the job must stop after its trial.
    is_stopped: AtomicBool,
    /// Number of polls in the trial that found no waiting job.
    polls: AtomicU32,
    clock: Mutex<RunClock>,
}

/// Running time and paused time of a started job or slice.
#[derive(Clone, Copy, Debug)]
struct RunClock {
    /// Start of the current time slice; `None` while there is no worker.
    since: Option<Instant>,
    /// Running time before the current time slice, including the time of an earlier trial of the job.
    worked: Duration,
    paused: Duration,
}

impl RunPermit {
    fn new(scheduler: &Arc<Scheduler>, number: u64, bytes: u64, trial: Option<Trial>, is_slice: bool) -> Self {
        let worked = trial.map_or(Duration::ZERO, |trial| trial.worked);
        Self {
            scheduler: Arc::clone(scheduler),
            number,
            bytes,
            is_slice,
            cancellation: Cancellation::default(),
            is_long: AtomicBool::new(trial.is_some()),
            is_stopped: AtomicBool::new(false),
            polls: AtomicU32::new(0),
            clock: Mutex::new(RunClock { since: Some(Instant::now()), worked, paused: Duration::ZERO }),
        }
    }

    /// Returns the number of the job or slice. [`Scheduler::wake`] takes this number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns true once the job may keep its thread after its trial. For a job that starts again, the result is true
    /// from the start.
    pub(crate) fn is_long(&self) -> bool {
        self.is_long.load(Ordering::Relaxed)
    }

    /// Returns the flag that stops the job after its trial.
    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.is_stopped
    }

    /// Returns the trial of the job, if the job was stopped after its trial; otherwise `None`.
    pub(crate) fn trial(&self) -> Option<Trial> {
        let is_stopped = self.is_stopped.load(Ordering::Relaxed);
        is_stopped.then(|| Trial { number: self.number, worked: self.times().0 })
    }

    /// Returns the running time and the paused time. The running time includes an earlier trial of the job.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        let RunClock { since, worked, paused } = *self.clock.lock();
        (worked + since.map_or(Duration::ZERO, |since| since.elapsed()), paused)
    }

    /// Returns true at every 16th poll. Polls are some hundred microseconds apart. Reading the clock costs as much as a
    /// poll.
    fn looks_at_clock(&self) -> bool {
        const POLLS_PER_LOOK: u32 = 16;
        self.polls.fetch_add(1, Ordering::Relaxed).is_multiple_of(POLLS_PER_LOOK)
    }

    /// Returns true if the job may keep its thread after its trial. Otherwise sets the stop flag, and returns false.
    fn may_continue(&self) -> bool {
        if self.is_long.load(Ordering::Relaxed) {
            return true;
        }
        let is_long = !self.is_stopped.load(Ordering::Relaxed) && self.scheduler.try_keep_thread();
        self.is_long.store(is_long, Ordering::Relaxed);
        self.is_stopped.store(!is_long, Ordering::Relaxed);
        is_long
    }

    /// Returns true if a job or a helper needs the worker of a slice. A call costs one atomic load.
    pub(crate) fn must_yield(&self) -> bool {
        self.scheduler.waiting.load(Ordering::Relaxed) < BULK
    }

    /// Releases the worker of a slice, and runs a closure. Then blocks until the slice has a worker again or is
    /// cancelled.
    pub(crate) fn without_worker<T>(&self, run: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        if !self.clock.lock().stop() {
            return run();
        }
        self.scheduler.change(|state| state.release_worker(BULK));
        let done = run();
        self.wait_for_worker(&mut self.clock.lock(), begun, BULK, false);
        done
    }

    /// Releases the worker, and blocks until the job or slice has a worker again, or until its [`Cancellation`] ends
    /// the wait. Does nothing if the permit holds no worker.
    fn yield_worker(&self, clock: &mut RunClock, level: u8) {
        let begun = Instant::now();
        if clock.stop() {
            self.wait_for_worker(clock, begun, level, true);
        }
    }

    /// Blocks until the job or slice has a worker again, or until its [`Cancellation`] ends the wait. Adds the time
    /// since `begun` to the paused time.
    fn wait_for_worker(&self, clock: &mut RunClock, begun: Instant, level: u8, has_worker: bool) {
        let time_left = || self.cancellation.time_left();
        let is_resumed = self.scheduler.wait_for_worker((level, self.number), has_worker, &time_left);
        clock.paused += begun.elapsed();
        clock.since = is_resumed.then(Instant::now);
    }
}

impl RunClock {
    /// Ends the current time slice. Returns false if there is no time slice.
    fn stop(&mut self) -> bool {
        let since = self.since.take();
        self.worked += since.map_or(Duration::ZERO, |since| since.elapsed());
        since.is_some()
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        let has_worker = self.clock.lock().since.is_some();
        self.scheduler.change(|state| {
            if has_worker {
                state.release_worker(if self.is_slice { BULK } else { 0 });
            }
            if self.is_slice {
                return;
            }
            state.memory += self.bytes;
            state.idle_threads += 1;
            state.begun -= 1;
            state.long -= usize::from(*self.is_long.get_mut());
        });
    }
}

impl Helpers for RunPermit {
    fn work(&self, main: MainWork<'_>, help: &Help<'_>) {
        let is_wanted = || self.scheduler.waiting.load(Ordering::Relaxed) < HELP;
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

    /// Yields the worker to a waiting job of a lower level. A job yields only after a minimum time slice. A slice also
    /// yields to helpers. Sets the stop flag of a job after its trial, if the job may not keep its thread.
    fn pause(&self) {
        let waiting = self.scheduler.waiting.load(Ordering::Relaxed);
        if self.is_slice {
            if waiting < BULK {
                self.yield_worker(&mut self.clock.lock(), BULK);
            }
            return;
        }
        if waiting >= HELP && (self.is_long.load(Ordering::Relaxed) || !self.looks_at_clock()) {
            return;
        }
        let mut clock = self.clock.lock();
        let Some(since) = clock.since else { return };
        let held = since.elapsed();
        let level = level(clock.worked + held);
        if level >= LONG && !self.may_continue() || held < MIN_SLICE || waiting >= level {
            return;
        }
        self.yield_worker(&mut clock, level);
    }
}

/// A worker that a helper of a search has borrowed. Dropping the `BorrowedWorker` returns the worker.
struct BorrowedWorker(Arc<Scheduler>);

impl Drop for BorrowedWorker {
    fn drop(&mut self) {
        self.0.change(|state| state.free += 1);
    }
}
