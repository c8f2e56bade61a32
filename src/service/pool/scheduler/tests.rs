use std::sync::atomic::AtomicUsize;

use super::state::OLDEST_FIRST;
use super::*;

impl Scheduler {
    async fn acquire(self: &Arc<Self>, need: Need, arrival: Arrival, cancellation: Cancellation) -> RunPermit {
        self.enqueue(need, arrival, cancellation).started().await
    }
}

impl SearchMemory {
    /// Returns `shared` bytes for all jobs, and an eighth of `shared` each for small and for light jobs.
    pub(crate) fn of(shared: u64) -> Self {
        Self { shared, small: shared / 8, light: shared / 8 }
    }
}

fn need(bytes: u64, is_light: bool) -> Need {
    Need { bytes, is_light }
}

/// Creates a scheduler with as many threads as the tests need.
fn scheduler(workers: usize, memory: SearchMemory) -> Arc<Scheduler> {
    let scheduler = Scheduler::new(workers, memory);
    (0..12).for_each(|_| scheduler.add_thread());
    scheduler
}

/// A search on a separate thread. The search calls `pause` until the test ends the search.
struct Hog {
    is_over: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<(Duration, Duration)>,
}

impl Hog {
    async fn start(scheduler: &Arc<Scheduler>, cancellation: Cancellation) -> Self {
        let permit = scheduler.acquire(need(0, true), Arrival::New, cancellation).await;
        let is_over = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let is_over = Arc::clone(&is_over);
            move || {
                while !is_over.load(Ordering::Relaxed) && !permit.cancellation.time_left().is_zero() {
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
        // The hog must release the only worker. Otherwise the test hangs.
        drop(scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()).await);
    }
    let (worked, paused) = hog.end();
    assert!(worked >= MIN_SLICE && paused > Duration::ZERO);
    assert_eq!(scheduler.load(), Load::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_job_is_not_starved() {
    let scheduler = scheduler(1, SearchMemory::of(0));
    let hog = Hog::start(&scheduler, Cancellation::default()).await;
    // The next job already waits while a job runs.
    let mut next = Box::pin(scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()));
    let begun = Instant::now();
    for _ in 0..10 * OLDEST_FIRST {
        let permit = next.await;
        next = Box::pin(scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()));
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
    let large = scheduler.acquire(need(60, false), Arrival::New, Cancellation::default()).await;
    let mut second = Box::pin(scheduler.acquire(need(60, false), Arrival::New, Cancellation::default()));
    assert!(futures_util::FutureExt::now_or_never(&mut second).is_none());
    let small = scheduler.acquire(need(3, false), Arrival::New, Cancellation::default()).await;
    assert_eq!(scheduler.load(), Load { busy: 2, bulk: 0, waiting: 1, begun: 2, reserved: 63 });
    drop((large, small));
    let second = second.await;
    assert_eq!(scheduler.load().reserved, 60);
    // A job that asks for more than all memory gets all memory.
    drop(second);
    assert_eq!(scheduler.acquire(need(1_000, false), Arrival::New, Cancellation::default()).await.bytes, 100);
    assert_eq!(scheduler.load(), Load::default());
}

#[tokio::test]
async fn light_jobs_start_while_others_hold_all_their_memory() {
    let scheduler = scheduler(9, SearchMemory { shared: 100, small: 20, light: 30 });
    let large = scheduler.acquire(need(100, false), Arrival::New, Cancellation::default()).await;
    let small = scheduler.acquire(need(20, false), Arrival::New, Cancellation::default()).await;
    let mut next = Box::pin(scheduler.acquire(need(20, false), Arrival::New, Cancellation::default()));
    assert!(tokio::time::timeout(MIN_SLICE, &mut next).await.is_err(), "the rest is for light jobs");
    let light = [
        scheduler.acquire(need(10, true), Arrival::New, Cancellation::default()).await,
        scheduler.acquire(need(20, true), Arrival::New, Cancellation::default()).await,
    ];
    assert_eq!(scheduler.load().reserved, 150);
    // A job that needs no memory never waits for memory.
    drop(scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()).await);
    drop((large, light));
    next.await;
    drop(small);
}

#[tokio::test]
async fn large_jobs_leave_memory_for_small_ones() {
    let scheduler = scheduler(3, SearchMemory::of(100));
    let all = scheduler.acquire(need(1_000, false), Arrival::New, Cancellation::default()).await;
    drop(scheduler.acquire(need(3, false), Arrival::New, Cancellation::default()).await);
    let mut large = Box::pin(scheduler.acquire(need(26, false), Arrival::New, Cancellation::default()));
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
    let permit = scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()).await;
    assert!(
        tokio::time::timeout(MIN_SLICE, scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()))
            .await
            .is_err()
    );
    assert_eq!(scheduler.load(), Load { busy: 1, bulk: 0, waiting: 1, begun: 2, reserved: 0 });
    // This flag cancels the paused job.
    flags[0].store(true, Ordering::Relaxed);
    scheduler.wake(1);
    hog.thread.join().unwrap();
    assert_eq!(scheduler.load(), Load { busy: 1, bulk: 0, waiting: 0, begun: 1, reserved: 0 });
    drop(permit);
    assert_eq!(scheduler.load(), Load::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_wait_for_threads_and_paused_ones_run_meanwhile() {
    let scheduler = Scheduler::new(1, SearchMemory::of(0));
    (0..2).for_each(|_| scheduler.add_thread());
    let flags = [Arc::<AtomicBool>::default(), Arc::default()];
    let hog = Hog::start(&scheduler, Cancellation { deadline: None, flags: flags.clone() }).await;
    let permit = scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()).await;
    // The paused hog has one of the two threads, and the running job has the other thread.
    let mut third = Box::pin(scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()));
    assert!(futures_util::FutureExt::now_or_never(&mut third).is_none());
    drop(permit);
    // The third job gets the thread of the ended job, and does not wait for the hog.
    drop(third.await);
    assert!(!scheduler.lacks_thread() && scheduler.remove_spare_thread() && !scheduler.remove_spare_thread());
    let mut fourth = Box::pin(scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()));
    assert!(futures_util::FutureExt::now_or_never(&mut fourth).is_none());
    assert!(scheduler.lacks_thread());
    // A job without a thread does not take the worker of the hog.
    assert_eq!(scheduler.load(), Load { busy: 1, bulk: 0, waiting: 1, begun: 1, reserved: 0 });
    hog.end();
    drop(fourth.await);
}

#[tokio::test(flavor = "multi_thread")]
async fn helpers_leave_when_a_job_waits() {
    let scheduler = scheduler(2, SearchMemory::of(0));
    let own = scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()).await;
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
            // The search asks several times and gets one helper, because the search's own job has the other worker.
            own.work(&mut |ask| (0..10).for_each(|_| ask()), &help);
        }
    });
    while helpers.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scheduler.load().busy, 2);
    drop(scheduler.acquire(need(0, true), Arrival::New, Cancellation::default()).await);
    search.await.unwrap();
    assert_eq!(helpers.load(Ordering::Relaxed), 1);
    assert_eq!(scheduler.load(), Load::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_find_no_room_after_their_trial_stop_and_start_again() {
    let scheduler = scheduler(1, SearchMemory::of(0));
    // Of three threads, two may be kept by long jobs. One thread is left to trials.
    scheduler.set_max_threads(3);
    let mut hogs = Vec::new();
    for _ in 0..2 {
        hogs.push(Hog::start(&scheduler, Cancellation::default()).await);
    }
    while scheduler.state.lock().long < 2 {
        tokio::task::yield_now().await;
    }
    let permit = scheduler.acquire(Need::NONE, Arrival::New, Cancellation::default()).await;
    let (number, permit) = tokio::task::spawn_blocking(move || {
        while permit.trial().is_none() {
            permit.pause();
        }
        (permit.number(), permit)
    })
    .await
    .unwrap();
    assert!(permit.stop_flag().load(Ordering::Relaxed));
    let trial = permit.trial().unwrap();
    assert!(level(trial.worked) == LONG && !scheduler.try_keep_thread());
    drop(permit);
    let mut again = Box::pin(scheduler.acquire(Need::NONE, Arrival::Restart(trial), Cancellation::default()));
    assert!(tokio::time::timeout(10 * MIN_SLICE, &mut again).await.is_err(), "the long jobs continue");
    assert_eq!(scheduler.load().begun, 2);
    // Other jobs start meanwhile.
    drop(scheduler.acquire(Need::NONE, Arrival::New, Cancellation::default()).await);
    hogs.pop().unwrap().end();
    let again = again.await;
    assert_eq!((again.number(), again.trial().is_none()), (number, true), "the job keeps its place, and its thread");
    assert!(again.may_continue());
    drop(again);
    hogs.pop().unwrap().end();
    assert_eq!((scheduler.load(), scheduler.state.lock().long), (Load::default(), 0));
}

#[test]
fn threads_are_left_for_trials() {
    let room = |workers, threads| {
        let scheduler = scheduler(workers, SearchMemory::of(0));
        scheduler.set_max_threads(threads);
        (0..1000).take_while(|_| scheduler.try_keep_thread()).count()
    };
    assert_eq!([room(1, 1), room(1, 2), room(1, 20), room(2, 3), room(2, 8), room(2, 20)], [1, 1, 19, 2, 6, 18]);
    assert_eq!([room(16, 2), room(16, 11), room(16, 40), room(16, 100)], [1, 9, 30, 84]);
    assert_eq!(room(4, 0), 1, "a refused thread may be there later");
}

#[test]
fn a_new_job_does_not_take_the_place_of_one_that_starts_again() {
    let scheduler = Scheduler::new(1, SearchMemory::of(100));
    scheduler.set_max_threads(3);
    let trial = Trial { number: 7, worked: 10 * MIN_SLICE };
    let restart = scheduler.enqueue(need(60, false), Arrival::Restart(trial), Cancellation::default());
    assert!(scheduler.lacks_thread() && !scheduler.try_keep_thread());
    drop(restart);
    assert!(!scheduler.lacks_thread() && scheduler.try_keep_thread());
}

#[tokio::test]
async fn jobs_that_wait_for_memory_keep_no_threads_and_their_place() {
    let scheduler = scheduler(4, SearchMemory::of(100));
    scheduler.set_max_threads(12);
    let large = scheduler.acquire(need(60, false), Arrival::New, Cancellation::default()).await;
    let trial = Trial { number: 7, worked: 10 * MIN_SLICE };
    let mut restart = Box::pin(scheduler.acquire(need(60, false), Arrival::Restart(trial), Cancellation::default()));
    let mut small_enough = Box::pin(scheduler.acquire(need(30, false), Arrival::New, Cancellation::default()));
    assert!(futures_util::FutureExt::now_or_never(&mut restart).is_none());
    assert!(futures_util::FutureExt::now_or_never(&mut small_enough).is_none(), "it does not overtake the restart");
    assert!(scheduler.remove_spare_thread() && !scheduler.lacks_thread());
    drop(large);
    drop((restart.await, small_enough.await));
    assert_eq!(scheduler.load(), Load::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn bulk_work_gives_its_worker_to_a_job_at_its_next_poll() {
    let scheduler = scheduler(1, SearchMemory::of(0));
    let bulk = scheduler.slice_permit(&|| false).unwrap();
    assert_eq!(scheduler.load(), Load { busy: 1, bulk: 1, ..Load::default() });
    bulk.pause();
    assert_eq!(bulk.times().1, Duration::ZERO, "no job waits");
    let mut job = Box::pin(scheduler.acquire(Need::NONE, Arrival::New, Cancellation::default()));
    assert!(futures_util::FutureExt::now_or_never(&mut job).is_none());
    assert!(bulk.must_yield());
    let polling = std::thread::spawn(move || {
        bulk.pause();
        bulk
    });
    let job = job.await;
    assert_eq!(scheduler.load(), Load { busy: 1, begun: 1, ..Load::default() });
    assert!(!polling.is_finished(), "the job has the worker");
    drop(job);
    let bulk = polling.join().unwrap();
    assert_eq!(scheduler.load(), Load { busy: 1, bulk: 1, ..Load::default() });
    assert!(bulk.times().1 > Duration::ZERO && !bulk.must_yield());
    drop(bulk);
    assert_eq!(scheduler.load(), Load::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn bulk_work_takes_no_worker_that_a_paused_job_could_use() {
    let scheduler = scheduler(1, SearchMemory::of(0));
    let hog = Hog::start(&scheduler, Cancellation::default()).await;
    let waiting = std::thread::spawn({
        let scheduler = Arc::clone(&scheduler);
        move || scheduler.slice_permit(&|| false)
    });
    while scheduler.state.lock().paused.is_empty() {
        tokio::task::yield_now().await;
    }
    // Each time the hog pauses and resumes, the worker passes to another job.
    for _ in 0..5 {
        drop(scheduler.acquire(Need::NONE, Arrival::New, Cancellation::default()).await);
        assert!(!waiting.is_finished() && scheduler.load().bulk == 0);
    }
    hog.end();
    assert!(waiting.join().unwrap().is_some());
    assert_eq!(scheduler.load(), Load::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn helpers_of_a_search_come_before_bulk_work() {
    let scheduler = scheduler(2, SearchMemory::of(0));
    let own = scheduler.acquire(Need::NONE, Arrival::New, Cancellation::default()).await;
    let bulk = scheduler.slice_permit(&|| false).unwrap();
    let [is_helped, is_over, is_done] = [(); 3].map(|()| Arc::<AtomicBool>::default());
    let search = std::thread::spawn({
        let [is_helped, is_over] = [&is_helped, &is_over].map(Arc::clone);
        move || {
            let help = |_: &dyn Fn() -> bool| {
                is_helped.store(true, Ordering::Relaxed);
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
            };
            let mut main = |ask: &dyn Fn()| {
                while !is_helped.load(Ordering::Relaxed) {
                    ask();
                }
            };
            own.work(&mut main, &help);
        }
    });
    let polling = std::thread::spawn({
        let is_done = Arc::clone(&is_done);
        move || {
            while !is_done.load(Ordering::Relaxed) {
                bulk.pause();
            }
        }
    });
    // The slice must yield its worker to the helper. Otherwise the test hangs.
    while !is_helped.load(Ordering::Relaxed) {
        tokio::task::yield_now().await;
    }
    assert_eq!(scheduler.load(), Load { busy: 2, begun: 1, ..Load::default() });
    is_over.store(true, Ordering::Relaxed);
    search.join().unwrap();
    while scheduler.load().bulk == 0 {
        tokio::task::yield_now().await;
    }
    is_done.store(true, Ordering::Relaxed);
    polling.join().unwrap();
    assert_eq!(scheduler.load(), Load::default());
}

#[test]
fn a_waiting_slice_that_is_over_leaves_the_queue() {
    let scheduler = scheduler(1, SearchMemory::of(0));
    let first = scheduler.slice_permit(&|| false).unwrap();
    let is_over = Arc::<AtomicBool>::default();
    let waiting = [Arc::clone(&is_over), Arc::default()].map(|is_over: Arc<AtomicBool>| {
        let before = scheduler.state.lock().paused.len();
        let own = Arc::clone(&scheduler);
        let waiting = std::thread::spawn(move || own.slice_permit(&|| is_over.load(Ordering::Relaxed)).is_some());
        while scheduler.state.lock().paused.len() == before {
            std::thread::yield_now();
        }
        waiting
    });
    let [over, other] = waiting;
    is_over.store(true, Ordering::Relaxed);
    scheduler.wake_slices();
    assert!(!over.join().unwrap(), "it was the first in the queue");
    drop(first);
    assert!(other.join().unwrap());
    assert_eq!((scheduler.load(), scheduler.state.lock().paused.len()), (Load::default(), 0));
}

#[test]
fn slices_continue_once_no_search_asks_for_help() {
    let scheduler = scheduler(2, SearchMemory::of(0));
    let [first, second] = [(); 2].map(|()| scheduler.slice_permit(&|| false).unwrap());
    let waiting = std::thread::spawn({
        let scheduler = Arc::clone(&scheduler);
        move || scheduler.slice_permit(&|| false).is_some()
    });
    while scheduler.state.lock().paused.is_empty() {
        std::thread::yield_now();
    }
    // The request for help wakes the waiting slice. The slice then knows when the time for helpers ends.
    assert!(scheduler.borrow_worker().is_none() && first.must_yield());
    drop(first);
    assert!(
        scheduler.state.lock().free == 1 && !scheduler.state.lock().paused.is_empty(),
        "the worker is left to a helper"
    );
    second.pause();
    assert!(waiting.join().unwrap());
    assert!(second.times().1 > Duration::ZERO && !second.must_yield());
}
