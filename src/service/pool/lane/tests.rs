use std::sync::atomic::AtomicUsize;
use std::sync::mpsc;

use taquin_solver::search::Helpers as _;

use super::super::Pool;
use super::super::scheduler::Load;
use super::super::tests::{easy, pool, settings};
use super::*;
use crate::service::metrics::BoardCounts;
use crate::service::settings::{BulkSettings, SearchMemory, ServiceSettings};

/// Bulk work whose slices call a function of the test.
struct TestWork {
    slice: TestSlice,
    aborted: Mutex<Vec<ServiceError>>,
}

type TestSlice = Box<dyn Fn(&SliceContext<'_>) -> SliceEnd + Send + Sync>;

impl TestWork {
    fn new(slice: impl Fn(&SliceContext<'_>) -> SliceEnd + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { slice: Box::new(slice), aborted: Mutex::default() })
    }

    fn aborted(&self) -> Vec<ServiceError> {
        self.aborted.lock().clone()
    }
}

impl BulkWork for TestWork {
    fn run_slice(&self, context: &SliceContext<'_>) -> Slice {
        let end = (self.slice)(context);
        Slice { end, boards: BoardCounts { solved: 1, ..BoardCounts::default() } }
    }

    fn aborted(&self, error: ServiceError) {
        self.aborted.lock().push(error);
    }
}

/// Creates a channel between slices and the test. Both ends are in mutexes, because slices run on several threads.
fn channel<T>() -> (Mutex<mpsc::Sender<T>>, Mutex<mpsc::Receiver<T>>) {
    let (sender, receiver) = mpsc::channel();
    (Mutex::new(sender), Mutex::new(receiver))
}

/// Creates work that announces each slice, and then polls until the work is cancelled.
fn endless() -> (Arc<TestWork>, Mutex<mpsc::Receiver<()>>) {
    let (begun, begins) = channel();
    let work = TestWork::new(move |context: &SliceContext<'_>| {
        let _ = begun.lock().send(());
        while !context.is_cancelled() {
            context.pause();
        }
        SliceEnd::More
    });
    (work, begins)
}

/// Waits until nothing runs. The test hangs if a job or slice does not end.
async fn until_idle(pool: &Pool) {
    while pool.load() != Load::default() || pool.bulk_load().slices > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_do_not_wait_for_the_end_of_a_slice() {
    let pool = pool(1, 4);
    let (work, begins) = endless();
    let handle = pool.bulk(work).unwrap();
    begins.lock().recv().unwrap();
    assert_eq!(pool.load(), Load { busy: 1, bulk: 1, reserved: 1 << 20, ..Load::default() });
    for _ in 0..5 {
        // The slice has the only worker, and has not ended. The slice must yield the worker. Otherwise the test hangs.
        assert!(pool.run_work(Duration::from_secs(3600), 0, |_| ()).await.is_ok());
        assert!(pool.submit(easy()).await.unwrap().report.is_optimal());
    }
    assert!(begins.lock().try_recv().is_err() && pool.bulk_load().slices == 1, "it is the same slice");
    drop(handle);
    until_idle(&pool).await;
}

#[test]
fn two_works_take_turns() {
    let pool = pool(1, 0);
    let turns = Arc::new(Mutex::new(String::new()));
    let (begun, begins) = channel();
    let (go, goes) = channel::<()>();
    let work = |name: char| {
        let turns = Arc::clone(&turns);
        move || {
            let mut turns = turns.lock();
            turns.push(name);
            if turns.matches(name).count() == 50 { SliceEnd::Done } else { SliceEnd::More }
        }
    };
    let (first, second) = (work('a'), work('b'));
    let first = TestWork::new(move |_: &SliceContext<'_>| {
        // The first slice lasts until the second work is registered.
        begun.lock().send(()).unwrap();
        let _ = goes.lock().recv();
        first()
    });
    let _first = pool.bulk(first).unwrap();
    begins.lock().recv().unwrap();
    let _second = pool.bulk(TestWork::new(move |_: &SliceContext<'_>| second())).unwrap();
    drop(go);
    while pool.bulk_load().works > 0 {
        std::thread::yield_now();
    }
    assert_eq!(*turns.lock(), format!("a{}b", "ab".repeat(49)));
}

#[test]
fn a_wake_during_a_slice_that_finds_nothing_is_not_lost() {
    let pool = pool(1, 0);
    let (begun, begins) = channel();
    let (go, goes) = channel();
    let work = TestWork::new(move |_: &SliceContext<'_>| {
        // The slice has found nothing to do, but has not returned yet.
        begun.lock().send(()).unwrap();
        goes.lock().recv().unwrap()
    });
    let handle = pool.bulk(work).unwrap();
    for _ in 0..100 {
        begins.lock().recv().unwrap();
        handle.wake();
        go.lock().send(SliceEnd::Idle).unwrap();
    }
    // The last wake-up must start another slice. Otherwise the test hangs.
    begins.lock().recv().unwrap();
    go.lock().send(SliceEnd::Idle).unwrap();
    while pool.bulk_load().slices > 0 {
        std::thread::yield_now();
    }
    assert!(begins.lock().try_recv().is_err() && !pool.lane.0.has_turn(), "there was no other wake");
    assert_eq!(pool.bulk_load().works, 1);
    handle.wake();
    begins.lock().recv().unwrap();
    go.lock().send(SliceEnd::Done).unwrap();
}

#[test]
fn no_wake_is_lost_between_threads() {
    let pool = pool(4, 0);
    let (left, done) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let work = TestWork::new({
        let (left, done) = (Arc::clone(&left), Arc::clone(&done));
        move |_: &SliceContext<'_>| {
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
            done.fetch_add(usize::from(taken), Ordering::Relaxed);
            if taken { SliceEnd::More } else { SliceEnd::Idle }
        }
    });
    let handle = pool.bulk(work).unwrap();
    for nth in 1..=2_000 {
        left.fetch_add(2, Ordering::Relaxed);
        handle.wake();
        while done.load(Ordering::Relaxed) < 2 * nth {
            std::thread::yield_now();
        }
    }
}

#[test]
fn an_idle_slice_does_not_hide_what_another_one_found() {
    let mut state = LaneState::default();
    let work = TestWork::new(|_: &SliceContext<'_>| SliceEnd::Done);
    let number = state.add(Entry::new(work, Cancellation::default()));
    for ends in [[SliceEnd::More, SliceEnd::Idle], [SliceEnd::Idle, SliceEnd::More]] {
        let turns = [(); 2].map(|()| state.take_turn().unwrap());
        turns.iter().zip(ends).for_each(|((_, turn), end)| state.end_turn(number, end, turn.wakes));
        assert_eq!(state.rotation, [number], "{ends:?}");
    }
    let (_, turn) = state.take_turn().unwrap();
    state.end_turn(number, SliceEnd::Idle, turn.wakes);
    assert!(state.rotation.is_empty() && state.works.len() == 1);
    state.wake(number);
    state.wake(number);
    assert_eq!(state.rotation, [number], "it has one place");
    // A slice of a work that has ended changes nothing.
    let (_, turn) = state.take_turn().unwrap();
    state.end_turn(number, SliceEnd::Done, turn.wakes);
    for end in [SliceEnd::More, SliceEnd::Idle, SliceEnd::Done] {
        state.end_turn(number, end, turn.wakes);
    }
    assert!(state.rotation.is_empty() && state.works.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_handle_ends_running_and_paused_slices() {
    let pool = pool(1, 4);
    let (work, begins) = endless();
    let handle = pool.bulk(Arc::clone(&work) as Arc<dyn BulkWork>).unwrap();
    begins.lock().recv().unwrap();
    drop(handle);
    until_idle(&pool).await;
    let handle = pool.bulk(Arc::clone(&work) as Arc<dyn BulkWork>).unwrap();
    begins.lock().recv().unwrap();
    let (entered, entries) = channel();
    let (go, goes) = channel::<()>();
    let job = tokio::spawn({
        let pool = Arc::clone(&pool);
        let (entered, goes) = (Arc::new(entered), Arc::new(goes));
        async move {
            let work = move |_: taquin_solver::Control<'_>| {
                entered.lock().send(()).unwrap();
                let _ = goes.lock().recv();
            };
            pool.run_work(Duration::from_secs(3600), 0, work).await
        }
    });
    tokio::task::spawn_blocking(move || entries.lock().recv().unwrap()).await.unwrap();
    assert_eq!((pool.load().bulk, pool.bulk_load().slices), (0, 1), "the job has the worker");
    drop(handle);
    while pool.bulk_load().slices > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(pool.load().busy, 1, "the slice has ended without a worker");
    drop(go);
    assert!(job.await.unwrap().is_ok());
    until_idle(&pool).await;
    assert!(work.aborted().is_empty() && Arc::strong_count(&work) == 1, "the lane keeps nothing");
}

#[test]
fn a_panic_ends_one_work() {
    let pool = pool(2, 0);
    let (begun, begins) = channel();
    let count = AtomicUsize::new(0);
    let unlucky = TestWork::new(move |context: &SliceContext<'_>| {
        begun.lock().send(()).unwrap();
        assert!(count.fetch_add(1, Ordering::Relaxed) == 0, "as the test requires");
        // The first slice runs until the second slice has panicked.
        while !context.is_cancelled() {
            context.pause();
        }
        SliceEnd::More
    });
    let handle = pool.bulk(Arc::clone(&unlucky) as Arc<dyn BulkWork>).unwrap();
    while pool.bulk_load() != BulkLoad::default() {
        std::thread::yield_now();
    }
    assert_eq!(unlucky.aborted(), [ServiceError::Failed("bulk work panicked")]);
    assert_eq!(begins.lock().try_iter().count(), 2);
    handle.wake();
    drop(handle);
    let (work, begins) = endless();
    let _handle = pool.bulk(work).unwrap();
    begins.lock().recv().unwrap();
    assert_eq!(pool.bulk_load().works, 1, "the lane goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_bound_workers_threads_and_memory() {
    let bulk = BulkSettings { workers: 2, search_memory: 5 << 20 };
    let pool = Pool::new(&ServiceSettings { bulk, ..settings(4, 0) }, Arc::default(), Metrics::default());
    let works = [endless(), endless(), endless()];
    let handles = works.each_ref().map(|(work, _)| pool.bulk(Arc::clone(work) as Arc<dyn BulkWork>).unwrap());
    while pool.bulk_load().slices < 2 {
        tokio::task::yield_now().await;
    }
    handles.iter().for_each(BulkHandle::wake);
    let threads = || pool.lane.0.state.lock().threads;
    assert_eq!((pool.load(), threads()), (Load { busy: 2, bulk: 2, reserved: 10 << 20, ..Load::default() }, 2));
    assert_eq!(pool.bulk_load().works, 3);
    drop(handles);
    until_idle(&pool).await;
    while threads() > 0 {
        tokio::task::yield_now().await;
    }
    let off = ServiceSettings { bulk: BulkSettings::default(), ..settings(4, 0) };
    let off = Pool::new(&off, Arc::default(), Metrics::default());
    assert_eq!(off.bulk(endless().0).unwrap_err(), BulkError::Off);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_and_slices_together_never_run_on_more_threads_than_workers() {
    let pool = pool(2, 64);
    let running = Arc::new(AtomicUsize::new(0));
    let run = {
        let running = Arc::clone(&running);
        move || {
            let before = running.fetch_add(1, Ordering::AcqRel);
            std::thread::yield_now();
            running.fetch_sub(1, Ordering::AcqRel);
            before
        }
    };
    let slice = {
        let run = run.clone();
        move |context: &SliceContext<'_>| {
            while !context.is_cancelled() && !context.is_spent() {
                // A cancelled slice may continue without a worker.
                assert!(run() < 2 || context.is_cancelled());
                context.pause();
            }
            SliceEnd::More
        }
    };
    let works = [(); 3].map(|()| TestWork::new(slice.clone()));
    let handles = works.each_ref().map(|work| pool.bulk(Arc::clone(work) as Arc<dyn BulkWork>).unwrap());
    let jobs: Vec<_> = (0..60)
        .map(|_| {
            let (pool, run) = (Arc::clone(&pool), run.clone());
            tokio::spawn(async move { pool.run_work(Duration::from_secs(3600), 0, move |_| run()).await })
        })
        .collect();
    for job in jobs {
        assert!(job.await.unwrap().is_ok_and(|before| before < 2));
        let load = pool.load();
        assert!(load.busy <= 2 && load.bulk <= load.busy, "{load:?}");
    }
    assert!(works.iter().all(|work| work.aborted().is_empty()));
    drop(handles);
    until_idle(&pool).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_accepts_no_bulk_work_and_then_ends_it() {
    let pool = pool(1, 0);
    let (work, begins) = endless();
    let handle = pool.bulk(Arc::clone(&work) as Arc<dyn BulkWork>).unwrap();
    begins.lock().recv().unwrap();
    pool.drain();
    assert_eq!(pool.bulk(endless().0).unwrap_err(), ServiceError::ShuttingDown.into());
    assert_eq!((pool.bulk_load().works, work.aborted().len()), (1, 0), "work in progress goes on");
    pool.cancel_all();
    until_idle(&pool).await;
    assert_eq!(work.aborted(), [ServiceError::ShuttingDown]);
    assert_eq!(pool.bulk_load(), BulkLoad::default());
    handle.wake();
    assert!(begins.lock().try_recv().is_err());
    assert_eq!(pool.lane.add(endless().0).unwrap_err(), ServiceError::ShuttingDown.into());
}

#[test]
fn a_slice_can_do_without_its_worker() {
    let pool = pool(1, 0);
    let (seen, sees) = channel();
    let work = TestWork::new({
        let pool = Arc::downgrade(&pool);
        move |context: &SliceContext<'_>| {
            let load = || pool.upgrade().unwrap().load();
            let loads = [load(), context.without_worker(load), load()];
            seen.lock().send(loads.map(|load| (load.busy, load.bulk))).unwrap();
            SliceEnd::Done
        }
    });
    let _handle = pool.bulk(work).unwrap();
    assert_eq!(sees.lock().recv().unwrap(), [(1, 1), (0, 0), (1, 1)]);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn slices_have_a_lower_priority_than_other_threads() {
    let niceness = || rustix::process::getpriority_process(None).unwrap();
    let pool = pool(1, 4);
    let (seen, sees) = channel();
    let work = TestWork::new(move |_: &SliceContext<'_>| {
        seen.lock().send(niceness()).unwrap();
        SliceEnd::Done
    });
    let _handle = pool.bulk(work).unwrap();
    assert_eq!(sees.lock().recv().unwrap(), (niceness() + 5).min(19));
}

#[test]
fn work_is_refused_if_there_is_no_thread_for_it() {
    let scheduler = Scheduler::new(2, SearchMemory::of(0));
    let spawn: Spawn = |_| Err(io::ErrorKind::WouldBlock.into());
    let lane = BulkLane::with_spawn(&scheduler, &Metrics::default(), 2, &Arc::default(), spawn);
    let refused = lane.add(endless().0).unwrap_err();
    let overload =
        |error| matches!(error, BulkError::Service(ServiceError::Overloaded { cause: Overload::NoThread, .. }));
    assert!(overload(refused) && lane.load() == BulkLoad::default());
}

#[test]
fn the_threads_end_with_the_lane() {
    let scheduler = Scheduler::new(2, SearchMemory::of(0));
    let lane = BulkLane::new(&scheduler, &Metrics::default(), 2, &Arc::default());
    let (work, begins) = endless();
    let handle = lane.add(Arc::clone(&work) as Arc<dyn BulkWork>).unwrap();
    begins.lock().recv().unwrap();
    let shared = Arc::downgrade(&lane.0);
    drop(lane);
    drop(handle);
    // Each thread holds a reference. The test hangs if a thread does not end.
    while shared.strong_count() > 0 {
        std::thread::yield_now();
    }
    assert_eq!(work.aborted(), [ServiceError::ShuttingDown]);
}
