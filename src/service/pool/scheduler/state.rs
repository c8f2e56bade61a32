//! The waiting jobs, the free capacity, and the order in which jobs run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::service::settings::SearchMemory;

/// Jobs without a thread, by number. Each class has its own map: class 0 is light, class 1 is small, and class 2 is
/// large.
type Queue<S> = [BTreeMap<u64, QueuedJob<S>>; 3];

/// Waiting jobs and free capacity. `S` is the handle that starts a queued job.
#[derive(Debug)]
pub(crate) struct SchedulerState<S> {
    /// Number of idle workers.
    pub(crate) free: usize,
    workers: usize,
    /// Memory that no started job has reserved, in bytes.
    pub(crate) memory: u64,
    /// Memory in bytes that each class must leave free for lighter classes. The classes are light, small and large, in
    /// this order. A job starts only if the reserve of its class stays free.
    reserves: [u64; 3],
    /// Number of threads that have no started job.
    pub(crate) idle_threads: usize,
    /// Maximum number of threads. Idle threads and threads of jobs count.
    pub(crate) max_threads: usize,
    /// Number of jobs that hold a thread. Running and paused jobs count.
    pub(crate) begun: usize,
    /// Number of started jobs that may keep their thread after their trial.
    pub(crate) long: usize,
    /// Number of the newest job or slice; 0 before the first job or slice.
    arrivals: u64,
    /// Jobs that wait for their first start, and jobs whose time ran out and that only report their result.
    queued: Queue<S>,
    /// Jobs that were stopped after their trial and wait to start again.
    restarts: Queue<S>,
    /// Started jobs, and slices of bulk work, that wait for a worker, by level and number.
    pub(crate) paused: BTreeMap<(u8, u64), Arc<PausedJob>>,
    /// Number of starts and resumptions of jobs since the scheduler last chose the oldest stopped or paused job.
    since_oldest: u32,
    /// Number of slices of bulk work that have a worker.
    pub(crate) busy_slices: usize,
    /// Time until which slices of bulk work leave free workers to the helpers of searches; `None` before the first
    /// request for help.
    help_until: Option<Instant>,
}

/// A job without a thread.
#[derive(Debug)]
pub(crate) struct QueuedJob<S> {
    pub(crate) bytes: u64,
    pub(crate) arrival: Arrival,
    pub(crate) start: S,
}

/// The first run of a job, if that run was stopped because no thread was left for another long job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) number: u64,
    pub(crate) worked: Duration,
}

/// The reason for which a job enters the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival {
    /// A new job.
    New,
    /// A job that starts again after its trial. The job waits for a thread that the job may keep until it ends.
    Restart(Trial),
    /// A job whose time ran out after its trial. The job only reports its result. The job keeps its number, so it runs
    /// before newer jobs of its class.
    Report(Trial),
}

/// A job or slice that waits for a worker, with its parked thread.
#[derive(Debug)]
pub(crate) struct PausedJob {
    pub(crate) is_resumed: AtomicBool,
    pub(crate) thread: Thread,
}

/// The job or slice to run next, by number. `Paused` has the level before the number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NextJob {
    Queued(u64),
    Restart(u64),
    Paused((u8, u64)),
}

/// Result of [`SchedulerState::lowest_level`] if no waiting job could run. The value is greater than every level.
pub(crate) const NO_LEVEL: u8 = u8::MAX;
/// Level of slices of bulk work. This level is the highest, so slices run last.
pub(crate) const BULK: u8 = 6;
/// Level of the helpers of searches. Helpers run after all jobs and before bulk work.
pub(crate) const HELP: u8 = 5;
/// Minimum time slice of a job. A job with a shorter running time is at level 0.
pub(crate) const MIN_SLICE: Duration = Duration::from_millis(5);
/// Level at which the trial of a job ends: the job has run for 50 ms.
pub(crate) const LONG: u8 = 2;
/// Number of starts and resumptions of jobs after which the scheduler chooses the oldest stopped or paused job.
pub(crate) const OLDEST_FIRST: u32 = 8;

/// Returns the level of a job with this running time: 0 below 5 ms, 1 below 50 ms, 2 below 0.5 s, 3 below 5 s, and 4
/// for longer times. Jobs of a lower level run first.
pub(crate) fn level(worked: Duration) -> u8 {
    let slices = worked.as_micros() / MIN_SLICE.as_micros();
    slices.checked_ilog10().map_or(0, |powers| powers.min(3) as u8 + 1)
}

impl<S> SchedulerState<S> {
    pub(crate) fn new(workers: usize, memory: SearchMemory) -> Self {
        Self {
            free: workers,
            workers,
            memory: memory.total(),
            reserves: [0, memory.light, memory.light + memory.small],
            idle_threads: 0,
            max_threads: usize::MAX,
            begun: 0,
            long: 0,
            arrivals: 0,
            queued: Default::default(),
            restarts: Default::default(),
            paused: BTreeMap::new(),
            since_oldest: 0,
            busy_slices: 0,
            help_until: None,
        }
    }

    /// Returns the number for a new job or slice. The numbers rise from 1.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.arrivals += 1;
        self.arrivals
    }

    /// Releases the worker of a job, or of a slice if `level` is [`BULK`].
    pub(crate) fn release_worker(&mut self, level: u8) {
        self.free += 1;
        self.busy_slices -= usize::from(level == BULK);
    }

    /// Asks slices of bulk work to leave free workers to helpers for [`MIN_SLICE`] from now.
    pub(crate) fn ask_for_help(&mut self) {
        if self.help_left().is_none() {
            // A waiting slice is parked for up to an hour. After the wake-up, the slice parks only until the time for
            // helpers ends.
            self.wake_slices();
        }
        self.help_until = Some(Instant::now() + MIN_SLICE);
    }

    /// Returns the remaining time for which slices leave free workers to helpers. Returns `None` if the time is over,
    /// or if no search has asked for help.
    pub(crate) fn help_left(&self) -> Option<Duration> {
        let left = self.help_until?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Wakes every waiting slice.
    pub(crate) fn wake_slices(&self) {
        self.paused.range((BULK, 0)..).for_each(|(_, slice)| slice.thread.unpark());
    }

    /// Queues a job, and returns the number of the job. `class` is 0 for a light job, 1 for a small job, and 2 for a
    /// large job.
    pub(crate) fn enqueue(&mut self, class: usize, arrival: Arrival, job: QueuedJob<S>) -> u64 {
        let (queue, number) = match arrival {
            Arrival::New => {
                let number = self.next_number();
                (&mut self.queued, number)
            }
            Arrival::Restart(Trial { number, .. }) => (&mut self.restarts, number),
            Arrival::Report(Trial { number, .. }) => (&mut self.queued, number),
        };
        queue[class].insert(number, job);
        number
    }

    /// Removes a job without a thread from its queue, and returns the job; `None` if no such job waits.
    pub(crate) fn dequeue(&mut self, number: u64) -> Option<QueuedJob<S>> {
        self.queued.iter_mut().chain(&mut self.restarts).find_map(|class| class.remove(&number))
    }

    /// Returns the number of jobs that wait to start, to start again, or to continue. Slices of bulk work do not count.
    pub(crate) fn waiting(&self) -> usize {
        self.queued.iter().chain(&self.restarts).map(BTreeMap::len).sum::<usize>()
            + self.paused.range(..(BULK, 0)).count()
    }

    /// Returns the number of jobs that wait to start again.
    #[cfg(test)]
    pub(crate) fn restarts(&self) -> usize {
        self.restarts.iter().map(BTreeMap::len).sum()
    }

    /// Returns true if a waiting job could start once a thread is idle.
    pub(crate) fn wants_thread(&self) -> bool {
        self.next_with_memory().is_some() || self.has_startable_restart()
    }

    /// Returns true if a job that was stopped after its trial could start again once a thread is idle.
    pub(crate) fn has_startable_restart(&self) -> bool {
        self.restart_with_memory().is_some()
    }

    /// Returns true if another job may keep its thread after its trial.
    ///
    /// The scheduler keeps some threads for trials, so that a short job never waits for a long job. The number of these
    /// threads is the number of workers, but at most a quarter of the maximum number of threads, and at least one. If
    /// there is only one thread, a long job may keep that thread.
    pub(crate) fn has_room_for_long_job(&self) -> bool {
        let for_trials = self.workers.min(self.max_threads / 4).max(1);
        self.long < self.max_threads.saturating_sub(for_trials).max(1)
    }

    /// Returns the job or slice that gets the next free worker; `None` if no job or slice could run.
    pub(crate) fn next(&self) -> Option<NextJob> {
        if self.since_oldest >= OLDEST_FIRST
            && let Some(oldest) = self.oldest()
        {
            return Some(oldest);
        }
        if let Some(number) = self.next_queued() {
            return Some(NextJob::Queued(number));
        }
        let paused = self.paused.first_key_value().map(|(key, _)| *key);
        let paused = paused.filter(|(level, _)| *level < BULK || self.help_left().is_none());
        match (self.next_restart(), paused) {
            (Some(number), Some(key)) if (LONG, number) > key => Some(NextJob::Paused(key)),
            (Some(number), _) => Some(NextJob::Restart(number)),
            (None, paused) => paused.map(NextJob::Paused),
        }
    }

    /// Counts a start or resumption in `since_oldest`. If `next` is the oldest stopped or paused job, sets the counter
    /// to 0. Ignores slices of bulk work.
    pub(crate) fn count(&mut self, next: NextJob) {
        if matches!(next, NextJob::Paused((BULK, _))) {
            return;
        }
        self.since_oldest = if self.oldest() == Some(next) { 0 } else { self.since_oldest + 1 };
    }

    /// Returns the lowest level of the waiting jobs that a free worker could run, or [`NO_LEVEL`] if no job could run.
    /// A queued job counts as level 0, and a job that starts again as [`LONG`]. Slices of bulk work do not count.
    pub(crate) fn lowest_level(&self) -> u8 {
        if self.next_queued().is_some() {
            return 0;
        }
        let restart = self.next_restart().map(|_| LONG);
        let paused = self.paused.range(..(BULK, 0)).next().map(|((level, _), _)| *level);
        restart.into_iter().chain(paused).min().unwrap_or(NO_LEVEL)
    }

    /// Resumes a paused job or slice.
    pub(crate) fn resume(&mut self, key: (u8, u64)) {
        self.busy_slices += usize::from(key.0 == BULK);
        if let Some(job) = self.paused.remove(&key) {
            job.is_resumed.store(true, Ordering::Release);
            job.thread.unpark();
        }
    }

    fn next_queued(&self) -> Option<u64> {
        if self.idle_threads > 0 { self.next_with_memory() } else { None }
    }

    fn next_restart(&self) -> Option<u64> {
        if self.idle_threads > 0 { self.restart_with_memory() } else { None }
    }

    /// Looks at the first job of each class that waits to start again, and returns the number of the oldest whose
    /// memory is available. Returns `None` if no such job exists, or if no further job may keep its thread.
    fn restart_with_memory(&self) -> Option<u64> {
        let firsts = (0..3).filter_map(|class| self.first_with_memory(&self.restarts, class));
        if self.has_room_for_long_job() { firsts.min() } else { None }
    }

    /// Looks at the first queued job of each class, and returns the number of the oldest whose memory is available. No
    /// queued job overtakes a job of its class that waits only for memory to start again.
    fn next_with_memory(&self) -> Option<u64> {
        let is_blocked = |class: usize| {
            let waits = !self.restarts[class].is_empty() && self.first_with_memory(&self.restarts, class).is_none();
            waits && self.has_room_for_long_job()
        };
        let classes = (0..3).filter(|class| !is_blocked(*class));
        classes.filter_map(|class| self.first_with_memory(&self.queued, class)).min()
    }

    /// Returns the number of the first job of a class in a queue. Returns `None` if the class is empty, or if the job's
    /// memory is not available beside the reserve of the class.
    fn first_with_memory(&self, queue: &Queue<S>, class: usize) -> Option<u64> {
        let (number, first) = queue[class].first_key_value()?;
        (first.bytes.saturating_add(self.reserves[class]) <= self.memory).then_some(*number)
    }

    /// Returns the oldest stopped or paused job that could run; `None` if there is no such job.
    fn oldest(&self) -> Option<NextJob> {
        let paused = self.paused.range(..(BULK, 0)).map(|(key, _)| (key.1, NextJob::Paused(*key)));
        let restart = self.next_restart().map(|number| (number, NextJob::Restart(number)));
        paused.chain(restart).min_by_key(|(number, _)| *number).map(|(_, job)| job)
    }
}
