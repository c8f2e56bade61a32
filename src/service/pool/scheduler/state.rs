//! Waiting jobs, free capacity, and the order in which jobs run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// Jobs by class and number, which rises with their arrival.
type Queue<S> = [BTreeMap<u64, QueuedJob<S>>; 3];

/// Memory of all searches, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchMemory {
    /// Memory that all jobs share.
    pub shared: u64,
    /// Largest size of a small job, and the memory that only small and light jobs may use.
    pub small: u64,
    /// Memory that only light jobs may use, which store neither nodes nor expansions.
    pub light: u64,
}

impl SearchMemory {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.shared.saturating_add(self.small).saturating_add(self.light)
    }
}

/// Waiting jobs and free capacity. `S` starts a queued job.
#[derive(Debug)]
pub(super) struct SchedulerState<S> {
    /// Idle workers, of all.
    pub(super) free: usize,
    workers: usize,
    /// Bytes not reserved.
    pub(super) memory: u64,
    /// Bytes of these that only lighter jobs may use, by class of job: light, small and large.
    reserves: [u64; 3],
    /// Threads that no started job holds.
    pub(super) idle_threads: usize,
    /// Maximum number of threads, idle or not.
    pub(super) max_threads: usize,
    /// Jobs that have started and not ended.
    pub(super) begun: usize,
    /// Those of them that keep their thread after their trial.
    pub(super) long: usize,
    /// Number of jobs so far.
    arrivals: u64,
    /// Jobs that have not started.
    queued: Queue<S>,
    /// Jobs that were stopped after their trial, and are to start again.
    restarts: Queue<S>,
    /// Started jobs that wait for a worker, by level and number.
    pub(super) paused: BTreeMap<(u8, u64), Arc<PausedJob>>,
    /// Jobs started or resumed since the oldest one last ran.
    since_oldest: u32,
    /// Workers of bulk work.
    pub(super) bulk: BulkWorkers,
}

/// Workers that bulk work has, and waits for.
#[derive(Debug, Default)]
pub(super) struct BulkWorkers {
    /// Busy workers that it has.
    pub(super) busy: usize,
    /// Threads of it that wait for a worker.
    pub(super) waiting: usize,
    /// It leaves free workers to the helpers of a search until this time.
    pub(super) help_until: Option<Instant>,
}

/// A job without a thread.
#[derive(Debug)]
pub(super) struct QueuedJob<S> {
    pub(super) bytes: u64,
    pub(super) arrival: Arrival,
    pub(super) start: S,
}

/// The first part of a job that was stopped, because other jobs need its thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(super) number: u64,
    pub(super) worked: Duration,
}

impl Trial {
    /// Running time of the trial.
    pub(crate) fn worked(self) -> Duration {
        self.worked
    }
}

/// How a job comes to the queue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrival {
    /// For the first time.
    New,
    /// To start again after its trial. It waits until it may keep its thread.
    Restart(Trial),
    /// To be reported after its trial, because its time ran out. It is the first of its class.
    Report(Trial),
}

/// A paused job and its parked thread.
#[derive(Debug)]
pub(super) struct PausedJob {
    pub(super) is_resumed: AtomicBool,
    pub(super) thread: Thread,
}

/// The job to run next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NextJob {
    Queued(u64),
    Restart(u64),
    Paused((u8, u64)),
}

/// Stands for no waiting job.
pub(super) const NO_LEVEL: u8 = u8::MAX;
/// Minimum time slice of a search, and the longest running time of level 0.
pub(super) const MIN_SLICE: Duration = Duration::from_millis(5);
/// The level at which the trial of a job ends.
pub(super) const LONG: u8 = 2;
/// After this many starts and resumptions the oldest job runs next.
pub(super) const OLDEST_FIRST: u32 = 8;

/// Level of a job by its running time: below 5 ms, 50 ms, 0.5 s, 5 s, and above.
pub(super) fn level(worked: Duration) -> u8 {
    let slices = worked.as_micros() / MIN_SLICE.as_micros();
    slices.checked_ilog10().map_or(0, |powers| powers.min(3) as u8 + 1)
}

impl<S> SchedulerState<S> {
    pub(super) fn new(workers: usize, memory: SearchMemory) -> Self {
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
            bulk: BulkWorkers::default(),
        }
    }

    /// True if a job or a helper of a search could use a worker that bulk work has.
    pub(super) fn wants_bulk_worker(&self) -> bool {
        let helps = |until: Instant| until > Instant::now();
        self.lowest_level() != NO_LEVEL || self.bulk.help_until.is_some_and(helps)
    }

    /// Queues a job of a class. Returns its number.
    pub(super) fn enqueue(&mut self, class: usize, arrival: Arrival, job: QueuedJob<S>) -> u64 {
        let (queue, number) = match arrival {
            Arrival::New => {
                self.arrivals += 1;
                (&mut self.queued, self.arrivals)
            }
            Arrival::Restart(Trial { number, .. }) => (&mut self.restarts, number),
            Arrival::Report(Trial { number, .. }) => (&mut self.queued, number),
        };
        queue[class].insert(number, job);
        number
    }

    /// Removes a job that has no thread yet.
    pub(super) fn dequeue(&mut self, number: u64) -> Option<QueuedJob<S>> {
        self.queued.iter_mut().chain(&mut self.restarts).find_map(|class| class.remove(&number))
    }

    /// Number of jobs without a worker.
    pub(super) fn waiting(&self) -> usize {
        self.queued.iter().chain(&self.restarts).map(BTreeMap::len).sum::<usize>() + self.paused.len()
    }

    /// Number of jobs that wait to start again.
    #[cfg(test)]
    pub(super) fn restarts(&self) -> usize {
        self.restarts.iter().map(BTreeMap::len).sum()
    }

    /// True if jobs could start with another thread.
    pub(super) fn wants_thread(&self) -> bool {
        self.next_with_memory().is_some() || self.has_startable_restart()
    }

    /// True if a stopped job could start again, apart from a thread.
    pub(super) fn has_startable_restart(&self) -> bool {
        self.restart_with_memory().is_some()
    }

    /// True if another job may keep its thread after its trial. As many threads as workers are left for trials, so that
    /// a short job never waits for a long one; but at most a quarter of all threads, and none if there is only one.
    pub(super) fn has_room_for_long_job(&self) -> bool {
        let for_trials = self.workers.min(self.max_threads / 4).max(1);
        self.long < self.max_threads.saturating_sub(for_trials).max(1)
    }

    /// The job to run next, if any could.
    pub(super) fn next(&self) -> Option<NextJob> {
        if self.since_oldest >= OLDEST_FIRST
            && let Some(oldest) = self.oldest()
        {
            return Some(oldest);
        }
        if let Some(number) = self.next_queued() {
            return Some(NextJob::Queued(number));
        }
        let paused = self.paused.first_key_value().map(|(key, _)| *key);
        match (self.next_restart(), paused) {
            (Some(number), Some(key)) if (LONG, number) > key => Some(NextJob::Paused(key)),
            (Some(number), _) => Some(NextJob::Restart(number)),
            (None, paused) => paused.map(NextJob::Paused),
        }
    }

    /// Counts the start or the resumption of the next job.
    pub(super) fn count(&mut self, next: NextJob) {
        self.since_oldest = if self.oldest() == Some(next) { 0 } else { self.since_oldest + 1 };
    }

    /// Lowest level of the jobs that could run.
    pub(super) fn lowest_level(&self) -> u8 {
        if self.next_queued().is_some() {
            return 0;
        }
        let restart = self.next_restart().map(|_| LONG);
        let paused = self.paused.first_key_value().map(|((level, _), _)| *level);
        restart.into_iter().chain(paused).min().unwrap_or(NO_LEVEL)
    }

    /// Resumes a paused job.
    pub(super) fn resume(&mut self, key: (u8, u64)) {
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

    /// The first stopped job whose memory is available, if it may keep its thread.
    fn restart_with_memory(&self) -> Option<u64> {
        let firsts = (0..3).filter_map(|class| self.first_with_memory(&self.restarts, class));
        if self.has_room_for_long_job() { firsts.min() } else { None }
    }

    /// The first queued job whose memory is available. Jobs of a class do not overtake a restart that waits for memory.
    fn next_with_memory(&self) -> Option<u64> {
        let is_blocked = |class: usize| {
            let waits = !self.restarts[class].is_empty() && self.first_with_memory(&self.restarts, class).is_none();
            waits && self.has_room_for_long_job()
        };
        let classes = (0..3).filter(|class| !is_blocked(*class));
        classes.filter_map(|class| self.first_with_memory(&self.queued, class)).min()
    }

    /// The first job of a class in a queue, if its memory is available.
    fn first_with_memory(&self, queue: &Queue<S>, class: usize) -> Option<u64> {
        let (number, first) = queue[class].first_key_value()?;
        (first.bytes.saturating_add(self.reserves[class]) <= self.memory).then_some(*number)
    }

    /// The oldest of the jobs that were stopped or paused, and could run.
    fn oldest(&self) -> Option<NextJob> {
        let paused = self.paused.keys().map(|key| (key.1, NextJob::Paused(*key)));
        let restart = self.next_restart().map(|number| (number, NextJob::Restart(number)));
        paused.chain(restart).min_by_key(|(number, _)| *number).map(|(_, job)| job)
    }
}
