//! Fair scheduling of searches: least service first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use crate::search::{Help, Helpers, MainWork};

/// Assigns workers and memory to jobs.
///
/// At most one job for each worker runs at a time. The *level* of a job is the time it has run so far, in powers of
/// ten. A lower level goes first; within a level, the earlier job. Short searches finish soon, however many long ones
/// there are (multilevel feedback queue: Corbató, Merwin Daggett & Daley 1962). A running search yields to jobs of a
/// lower level after a minimum time slice. From time to time the oldest job runs first, which prevents starvation.
///
/// A started job keeps its memory until it ends, so its maximum is reserved before it starts. Light jobs and small ones
/// may overtake larger ones meanwhile, and part of the memory is reserved for each.
///
/// It also keeps its thread, so it starts only if a thread is idle. [`add_thread`](Self::add_thread) counts the
/// threads that exist; their number bounds the paused jobs.
#[derive(Debug)]
pub(crate) struct Scheduler {
    workers: usize,
    memory: SearchMemory,
    state: Mutex<SchedulerState>,
    /// Lowest level of the waiting jobs that could run now.
    waiting: AtomicU8,
}

#[derive(Debug)]
struct SchedulerState {
    /// Idle workers.
    free: usize,
    /// Bytes not reserved.
    memory: u64,
    /// Bytes of these that only lighter jobs may use, by class of job: light, small and large.
    reserves: [u64; 3],
    /// Threads that no started job holds.
    idle_threads: usize,
    /// Jobs that have started and not ended.
    begun: usize,
    /// Number of jobs so far.
    arrivals: u64,
    /// Jobs that have not started, by class and arrival.
    queued: [BTreeMap<u64, QueuedJob>; 3],
    /// Started jobs that wait for a worker, by level and arrival.
    paused: BTreeMap<(u8, u64), Arc<PausedJob>>,
    /// Jobs started or resumed since the oldest one last ran.
    since_oldest: u32,
}

#[derive(Debug)]
struct QueuedJob {
    bytes: u64,
    start: oneshot::Sender<RunPermit>,
}

/// A paused job and its parked thread.
#[derive(Debug)]
struct PausedJob {
    is_resumed: AtomicBool,
    thread: Thread,
}

/// The job to run next.
#[derive(Clone, Copy)]
enum NextJob {
    Queued(u64),
    Paused((u8, u64)),
}

/// Stands for no waiting job.
const NO_LEVEL: u8 = u8::MAX;
/// Minimum time slice of a search, and the longest running time of level 0.
const MIN_SLICE: Duration = Duration::from_millis(5);
/// After this many starts and resumptions the oldest job runs next.
const OLDEST_FIRST: u32 = 8;
/// Level of a job by its running time: below 5 ms, 50 ms, 0.5 s, 5 s, and above.
fn level(worked: Duration) -> u8 {
    let slices = worked.as_micros() / MIN_SLICE.as_micros();
    slices.checked_ilog10().map_or(0, |powers| powers.min(3) as u8 + 1)
}

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

/// Workers and memory in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// Workers that search.
    pub busy: usize,
    /// Jobs without a worker, started or not.
    pub waiting: usize,
    /// Jobs that have started and not ended.
    pub begun: usize,
    /// Bytes that they have reserved.
    pub reserved: u64,
}

impl Scheduler {
    /// Creates a scheduler of so many workers and bytes. It starts no job until it has a thread.
    pub(crate) fn new(workers: usize, memory: SearchMemory) -> Arc<Self> {
        let state = SchedulerState {
            free: workers,
            memory: memory.total(),
            reserves: [0, memory.light, memory.light + memory.small],
            idle_threads: 0,
            begun: 0,
            arrivals: 0,
            queued: Default::default(),
            paused: BTreeMap::new(),
            since_oldest: 0,
        };
        Arc::new(Self { workers, memory, state: Mutex::new(state), waiting: AtomicU8::new(NO_LEVEL) })
    }

    /// Waits for a worker, a thread and memory. Dropping the future removes the job from the queue.
    pub(crate) async fn acquire(self: &Arc<Self>, bytes: u64, is_light: bool, cancellation: Cancellation) -> RunPermit {
        let bytes = bytes.min(self.memory.shared);
        let class = if is_light { 0 } else { 1 + usize::from(bytes > self.memory.small) };
        let (start, started) = oneshot::channel();
        let number = self.change(|state| {
            state.arrivals += 1;
            state.queued[class].insert(state.arrivals, QueuedJob { bytes, start });
            state.arrivals
        });
        let _dequeue = DequeueOnDrop { scheduler: self, class, number };
        let mut permit = started.await.expect("a queued job is started or dropped");
        permit.cancellation = cancellation;
        permit
    }

    /// Workers and memory in use.
    pub(crate) fn load(&self) -> Load {
        let state = self.lock();
        Load {
            busy: self.workers - state.free,
            waiting: state.queued.iter().map(BTreeMap::len).sum::<usize>() + state.paused.len(),
            begun: state.begun,
            reserved: self.memory.total() - state.memory,
        }
    }

    /// Adds a thread that was created, and is idle.
    pub(crate) fn add_thread(self: &Arc<Self>) {
        self.change(|state| state.idle_threads += 1);
    }

    /// Removes an idle thread. Returns false if there is none.
    pub(crate) fn remove_idle_thread(self: &Arc<Self>) -> bool {
        self.change(|state| {
            let is_idle = state.idle_threads > 0;
            state.idle_threads -= usize::from(is_idle);
            is_idle
        })
    }

    /// True if a thread is idle.
    pub(crate) fn has_idle_thread(&self) -> bool {
        self.lock().idle_threads > 0
    }

    /// True if jobs are queued and no thread is idle.
    pub(crate) fn lacks_thread(&self) -> bool {
        let state = self.lock();
        state.idle_threads == 0 && state.queued.iter().any(|class| !class.is_empty())
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

    /// Returns an idle worker if no job waits for one.
    fn borrow_worker(self: &Arc<Self>) -> Option<BorrowedWorker> {
        let mut state = self.lock();
        let is_free = state.free > 0 && state.next().is_none();
        is_free.then(|| {
            state.free -= 1;
            BorrowedWorker(Arc::clone(self))
        })
    }

    fn lock(&self) -> MutexGuard<'_, SchedulerState> {
        self.state.lock()
    }

    /// Changes the state, then assigns free workers to waiting jobs.
    fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut SchedulerState) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let mut undelivered = Vec::new();
        while let Some(next) = state.next().filter(|_| state.free > 0) {
            state.free -= 1;
            match next {
                NextJob::Queued(number) => undelivered.extend(self.begin(&mut state, number)),
                NextJob::Paused(key) => state.resume(key),
            }
        }
        self.waiting.store(state.lowest_level(), Ordering::Relaxed);
        drop(state);
        // Dropping a permit changes the state again, so the lock is released first.
        drop(undelivered);
        changed
    }

    /// Starts a queued job. Returns the permit if its future was dropped meanwhile.
    fn begin(self: &Arc<Self>, state: &mut SchedulerState, number: u64) -> Option<RunPermit> {
        let QueuedJob { bytes, start } = state.queued.iter_mut().find_map(|class| class.remove(&number))?;
        state.memory -= bytes;
        state.idle_threads -= 1;
        state.begun += 1;
        state.since_oldest += 1;
        let clock = RunClock { since: Some(Instant::now()), worked: Duration::ZERO, paused: Duration::ZERO };
        let permit = RunPermit {
            scheduler: Arc::clone(self),
            number,
            bytes,
            cancellation: Cancellation::default(),
            clock: Mutex::new(clock),
        };
        start.send(permit).err()
    }

    /// Releases the worker and blocks until the job is resumed. Returns false if it is cancelled first.
    fn yield_worker(self: &Arc<Self>, key: (u8, u64), cancellation: &Cancellation) -> bool {
        let job = Arc::new(PausedJob { is_resumed: AtomicBool::new(false), thread: std::thread::current() });
        self.change(|state| {
            state.paused.insert(key, Arc::clone(&job));
            state.free += 1;
        });
        while !job.is_resumed.load(Ordering::Acquire) {
            if cancellation.is_over() {
                // Unless it was resumed in the meantime.
                return self.change(|state| state.paused.remove(&key)).is_none();
            }
            std::thread::park_timeout(cancellation.time_left().min(Duration::from_secs(3600)));
        }
        true
    }
}

impl SchedulerState {
    fn next(&self) -> Option<NextJob> {
        if self.since_oldest >= OLDEST_FIRST
            && let Some(oldest) = self.oldest()
        {
            return Some(NextJob::Paused(oldest));
        }
        let paused = self.paused.first_key_value().map(|(key, _)| NextJob::Paused(*key));
        self.next_queued().map(NextJob::Queued).or(paused)
    }

    /// The first queued job whose memory is available, if there is a thread for it.
    fn next_queued(&self) -> Option<u64> {
        if self.idle_threads == 0 {
            return None;
        }
        let firsts = self.queued.iter().zip(self.reserves);
        let firsts = firsts.filter_map(|(class, reserve)| class.first_key_value().map(|first| (first, reserve)));
        let fitting = firsts.filter(|((_, queued), reserve)| queued.bytes.saturating_add(*reserve) <= self.memory);
        fitting.map(|((number, _), _)| *number).min()
    }

    fn oldest(&self) -> Option<(u8, u64)> {
        self.paused.keys().min_by_key(|(_, number)| *number).copied()
    }

    fn lowest_level(&self) -> u8 {
        match (self.next_queued(), self.paused.first_key_value()) {
            (Some(_), _) => 0,
            (None, Some(((level, _), _))) => *level,
            (None, None) => NO_LEVEL,
        }
    }

    /// Resumes a paused job.
    fn resume(&mut self, key: (u8, u64)) {
        self.since_oldest = if self.oldest() == Some(key) { 0 } else { self.since_oldest + 1 };
        if let Some(job) = self.paused.remove(&key) {
            job.is_resumed.store(true, Ordering::Release);
            job.thread.unpark();
        }
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
    /// That of work other than a search.
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
    fn is_over(&self) -> bool {
        self.flags.iter().any(|flag| flag.load(Ordering::Relaxed)) || self.time_left().is_zero()
    }

    fn time_left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// Removes a job from the queue when its future is dropped.
struct DequeueOnDrop<'a> {
    scheduler: &'a Arc<Scheduler>,
    class: usize,
    number: u64,
}

impl Drop for DequeueOnDrop<'_> {
    fn drop(&mut self) {
        self.scheduler.change(|state| state.queued[self.class].remove(&self.number));
    }
}

/// Permission to run: reserved memory, a thread, and a worker unless the job is paused.
#[derive(Debug)]
pub(crate) struct RunPermit {
    scheduler: Arc<Scheduler>,
    number: u64,
    bytes: u64,
    cancellation: Cancellation,
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

    /// Running time, and paused time since the start.
    pub(crate) fn times(&self) -> (Duration, Duration) {
        let RunClock { since, worked, paused } = *self.clock();
        (worked + since.map_or(Duration::ZERO, |since| since.elapsed()), paused)
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

    /// Yields the worker to jobs of lower levels.
    fn pause(&self) {
        let waiting = self.scheduler.waiting.load(Ordering::Relaxed);
        if waiting == NO_LEVEL {
            return;
        }
        let mut clock = self.clock();
        let Some(since) = clock.since else { return };
        let held = since.elapsed();
        let level = level(clock.worked + held);
        if held < MIN_SLICE || waiting >= level {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    impl SearchMemory {
        /// So many bytes for all jobs, and an eighth each for small and for light ones.
        pub(crate) fn of(shared: u64) -> Self {
            Self { shared, small: shared / 8, light: shared / 8 }
        }
    }

    /// A scheduler with as many threads as a test needs.
    fn scheduler(workers: usize, memory: SearchMemory) -> Arc<Scheduler> {
        let scheduler = Scheduler::new(workers, memory);
        (0..12).for_each(|_| scheduler.add_thread());
        scheduler
    }

    /// A search on a separate thread that calls `pause` until the test ends it.
    struct Hog {
        is_over: Arc<AtomicBool>,
        thread: std::thread::JoinHandle<(Duration, Duration)>,
    }

    impl Hog {
        async fn start(scheduler: &Arc<Scheduler>, cancellation: Cancellation) -> Self {
            let permit = scheduler.acquire(0, true, cancellation).await;
            let is_over = Arc::new(AtomicBool::new(false));
            let thread = std::thread::spawn({
                let is_over = Arc::clone(&is_over);
                move || {
                    while !is_over.load(Ordering::Relaxed) && !permit.cancellation.is_over() {
                        permit.pause();
                    }
                    permit.times()
                }
            });
            Self { is_over, thread }
        }

        fn end(self) -> (Duration, Duration) {
            self.is_over.store(true, Ordering::Relaxed);
            self.thread.join().unwrap()
        }
    }

    #[test]
    fn levels_rise_with_running_time() {
        let levels = [0, 4, 5, 49, 50, 499, 500, 4_999, 5_000, 1 << 40].map(|ms| level(Duration::from_millis(ms)));
        assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_new_job_runs_while_an_older_one_continues() {
        let scheduler = scheduler(1, SearchMemory::of(0));
        let hog = Hog::start(&scheduler, Cancellation::default()).await;
        for _ in 0..5 {
            // There is one worker: it is released, or the test hangs.
            drop(scheduler.acquire(0, true, Cancellation::default()).await);
        }
        let (worked, paused) = hog.end();
        assert!(worked >= MIN_SLICE && paused > Duration::ZERO);
        assert_eq!(scheduler.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_oldest_job_is_not_starved() {
        let scheduler = scheduler(1, SearchMemory::of(0));
        let hog = Hog::start(&scheduler, Cancellation::default()).await;
        // The next job waits before the current one ends.
        let mut next = Box::pin(scheduler.acquire(0, true, Cancellation::default()));
        let begun = Instant::now();
        for _ in 0..10 * OLDEST_FIRST {
            let permit = next.await;
            next = Box::pin(scheduler.acquire(0, true, Cancellation::default()));
            assert!(futures_util::FutureExt::now_or_never(&mut next).is_none());
            std::thread::sleep(Duration::from_millis(1));
            drop(permit);
        }
        drop(next);
        let elapsed = begun.elapsed();
        let (worked, _) = hog.end();
        assert!(worked >= 5 * MIN_SLICE, "{worked:?} of {elapsed:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn jobs_wait_for_memory_and_small_ones_overtake() {
        let scheduler = scheduler(4, SearchMemory::of(100));
        let large = scheduler.acquire(60, false, Cancellation::default()).await;
        let mut second = Box::pin(scheduler.acquire(60, false, Cancellation::default()));
        assert!(futures_util::FutureExt::now_or_never(&mut second).is_none());
        let small = scheduler.acquire(3, false, Cancellation::default()).await;
        assert_eq!(scheduler.load(), Load { busy: 2, waiting: 1, begun: 2, reserved: 63 });
        drop((large, small));
        let second = second.await;
        assert_eq!(scheduler.load().reserved, 60);
        // A job that asks for more than all memory gets all of it.
        drop(second);
        assert_eq!(scheduler.acquire(1_000, false, Cancellation::default()).await.bytes, 100);
        assert_eq!(scheduler.load(), Load::default());
    }

    #[tokio::test]
    async fn light_jobs_start_while_others_hold_all_their_memory() {
        let scheduler = scheduler(9, SearchMemory { shared: 100, small: 20, light: 30 });
        let large = scheduler.acquire(100, false, Cancellation::default()).await;
        let small = scheduler.acquire(20, false, Cancellation::default()).await;
        let mut next = Box::pin(scheduler.acquire(20, false, Cancellation::default()));
        assert!(tokio::time::timeout(MIN_SLICE, &mut next).await.is_err(), "the rest is for light jobs");
        let light = [
            scheduler.acquire(10, true, Cancellation::default()).await,
            scheduler.acquire(20, true, Cancellation::default()).await,
        ];
        assert_eq!(scheduler.load().reserved, 150);
        // Without any memory to reserve, a job never waits for it.
        drop(scheduler.acquire(0, true, Cancellation::default()).await);
        drop((large, light));
        next.await;
        drop(small);
    }

    #[tokio::test]
    async fn large_jobs_leave_memory_for_small_ones() {
        let scheduler = scheduler(3, SearchMemory::of(100));
        let all = scheduler.acquire(1_000, false, Cancellation::default()).await;
        drop(scheduler.acquire(3, false, Cancellation::default()).await);
        let mut large = Box::pin(scheduler.acquire(26, false, Cancellation::default()));
        assert!(futures_util::FutureExt::now_or_never(&mut large).is_none());
        drop((all, large));
        assert_eq!(scheduler.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_cancelled_wait_releases_everything() {
        let scheduler = scheduler(1, SearchMemory::of(0));
        let flags = [Arc::<AtomicBool>::default(), Arc::default()];
        let cancellation = Cancellation { deadline: None, flags: flags.clone() };
        let hog = Hog::start(&scheduler, cancellation).await;
        let permit = scheduler.acquire(0, true, Cancellation::default()).await;
        assert!(tokio::time::timeout(MIN_SLICE, scheduler.acquire(0, true, Cancellation::default())).await.is_err());
        assert_eq!(scheduler.load(), Load { busy: 1, waiting: 1, begun: 2, reserved: 0 });
        // The paused job is cancelled.
        flags[0].store(true, Ordering::Relaxed);
        scheduler.wake(1);
        hog.thread.join().unwrap();
        assert_eq!(scheduler.load(), Load { busy: 1, waiting: 0, begun: 1, reserved: 0 });
        drop(permit);
        assert_eq!(scheduler.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn jobs_wait_for_threads_and_paused_ones_run_meanwhile() {
        let scheduler = Scheduler::new(1, SearchMemory::of(0));
        (0..2).for_each(|_| scheduler.add_thread());
        let flags = [Arc::<AtomicBool>::default(), Arc::default()];
        let hog = Hog::start(&scheduler, Cancellation { deadline: None, flags: flags.clone() }).await;
        let permit = scheduler.acquire(0, true, Cancellation::default()).await;
        // Both threads are taken: one by the paused job, one by this job.
        let mut third = Box::pin(scheduler.acquire(0, true, Cancellation::default()));
        assert!(futures_util::FutureExt::now_or_never(&mut third).is_none());
        drop(permit);
        // The thread that this job gives back is for the third, which does not wait for the hog.
        drop(third.await);
        assert!(!scheduler.lacks_thread() && scheduler.remove_idle_thread() && !scheduler.remove_idle_thread());
        let mut fourth = Box::pin(scheduler.acquire(0, true, Cancellation::default()));
        assert!(futures_util::FutureExt::now_or_never(&mut fourth).is_none());
        assert!(scheduler.lacks_thread());
        // A job without a thread takes no worker from the one that runs.
        assert_eq!(scheduler.load(), Load { busy: 1, waiting: 1, begun: 1, reserved: 0 });
        hog.end();
        drop(fourth.await);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn helpers_leave_when_a_job_waits() {
        let scheduler = scheduler(2, SearchMemory::of(0));
        let own = scheduler.acquire(0, true, Cancellation::default()).await;
        let helpers = Arc::new(AtomicUsize::new(0));
        let search = tokio::task::spawn_blocking({
            let helpers = Arc::clone(&helpers);
            move || {
                let help = |is_wanted: &dyn Fn() -> bool| {
                    helpers.fetch_add(1, Ordering::Relaxed);
                    while !is_wanted() {
                        std::thread::yield_now();
                    }
                };
                // One helper, however often it asks: this job holds the other worker.
                own.work(&mut |ask| (0..10).for_each(|_| ask()), &help);
            }
        });
        while helpers.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(scheduler.load().busy, 2);
        drop(scheduler.acquire(0, true, Cancellation::default()).await);
        search.await.unwrap();
        assert_eq!(helpers.load(Ordering::Relaxed), 1);
        assert_eq!(scheduler.load(), Load::default());
    }
}
