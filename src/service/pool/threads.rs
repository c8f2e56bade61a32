//! The threads on which started jobs run.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::scheduler::{Arrival, Cancellation, Need, RunPermit, Scheduler};

/// The threads of a pool.
///
/// A started job keeps its thread until the job ends or is stopped after its trial, even while the job is paused. The
/// scheduler starts a job only if a thread is idle, so a job with a worker never waits for a thread. The pool does not
/// use the runtime's threads for blocking work: the runtime would hide that the system refuses to create a thread, and
/// jobs would wait forever.
#[derive(Debug)]
pub(crate) struct JobThreads(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    scheduler: Arc<Scheduler>,
    /// Number of threads that stay alive while they are idle.
    kept: usize,
    /// Maximum number of threads.
    max: usize,
    state: Mutex<ThreadsState>,
    changed: Condvar,
    /// True if the system refused the latest attempt to create a thread.
    is_refused: AtomicBool,
    spawn: Spawn,
}

#[derive(Default)]
struct ThreadsState {
    /// Number of threads.
    count: usize,
    /// Work of started jobs. The next idle threads run the items in this order.
    work: VecDeque<Work>,
    is_closed: bool,
}

type Work = Box<dyn FnOnce() + Send>;
/// A function that creates a thread to run the work.
type Spawn = fn(Work) -> io::Result<()>;

/// The pool has no thread, and the system refuses to create a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoThread;

/// `Retry-After` while the system refuses to create threads. Waiting jobs try to create a thread at the same interval,
/// because the system may allow a thread at any time.
pub(crate) const RETRY_WITHOUT_THREAD: Duration = Duration::from_secs(1);

/// Time after which an idle thread ends, if there are more threads than [`Shared::kept`]. An idle thread holds some
/// megabytes of freed memory.
const IDLE_TIME: Duration = Duration::from_millis(200);

impl fmt::Debug for ThreadsState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, work, is_closed } = self;
        f.debug_struct("ThreadsState")
            .field("count", count)
            .field("work", &work.len())
            .field("is_closed", is_closed)
            .finish()
    }
}

impl JobThreads {
    /// Creates the first `kept` threads, as far as the system allows. Later, the pool creates further threads, up to
    /// `max` in all.
    pub(crate) fn start(scheduler: &Arc<Scheduler>, kept: usize, max: usize) -> Self {
        Self::start_with(scheduler, kept, max, |work| {
            Builder::new().name("taquin-job".to_owned()).spawn(work).map(drop)
        })
    }

    fn start_with(scheduler: &Arc<Scheduler>, kept: usize, max: usize, spawn: Spawn) -> Self {
        let shared = Shared {
            scheduler: Arc::clone(scheduler),
            kept: kept.min(max),
            max,
            state: Mutex::default(),
            changed: Condvar::new(),
            is_refused: AtomicBool::new(false),
            spawn,
        };
        scheduler.set_max_threads(max);
        let threads = Self(Arc::new(shared));
        for _ in 0..threads.0.kept {
            if threads.create().is_err() {
                break;
            }
        }
        threads
    }

    /// Waits for a worker, a thread and memory. Fails if the pool has no thread and the system refuses to create a
    /// thread. If the pool has threads but cannot create another thread, the job waits until another job releases its
    /// thread.
    pub(crate) async fn turn(
        &self,
        need: Need,
        arrival: Arrival,
        cancellation: Cancellation,
    ) -> Result<RunPermit, NoThread> {
        let scheduler = &self.0.scheduler;
        let mut turn = pin!(scheduler.enqueue(need, arrival, cancellation).started());
        self.provide()?;
        let permit = loop {
            match timeout(RETRY_WITHOUT_THREAD, &mut turn).await {
                Ok(permit) => break permit,
                // The system may have refused a thread before, and may allow a thread now.
                Err(_) => self.provide()?,
            }
        };
        // Each job that starts provides a thread for the next job.
        let _ = self.provide();
        Ok(permit)
    }

    /// Creates a thread, up to the maximum, if jobs could use another thread and no thread is idle. Fails if the pool
    /// has no thread and the system refuses to create a thread.
    fn provide(&self) -> Result<(), NoThread> {
        if self.0.scheduler.lacks_thread() { self.create() } else { Ok(()) }
    }

    fn create(&self) -> Result<(), NoThread> {
        let shared = &self.0;
        {
            let mut state = shared.state.lock();
            if state.count >= shared.max {
                return Ok(());
            }
            state.count += 1;
        }
        let own = Arc::clone(shared);
        match (shared.spawn)(Box::new(move || own.work())) {
            Ok(()) => {
                if shared.is_refused.swap(false, Ordering::Relaxed) {
                    shared.scheduler.set_max_threads(shared.max);
                }
                shared.scheduler.add_thread();
                Ok(())
            }
            Err(error) => {
                let left = {
                    let mut state = shared.state.lock();
                    state.count -= 1;
                    state.count
                };
                shared.scheduler.set_max_threads(left);
                if !shared.is_refused.swap(true, Ordering::Relaxed) {
                    tracing::event!(target: "taquin::job", tracing::Level::WARN, threads = left, %error, "the system refuses another thread: jobs wait for those that exist");
                }
                if left == 0 { Err(NoThread) } else { Ok(()) }
            }
        }
    }

    /// Runs the work of a started job on an idle thread. Returns the result of the work, or the panic of the work.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Box<dyn Any + Send>> {
        let (sender, done) = oneshot::channel();
        let work: Work = Box::new(move || {
            // Sending fails if the caller has dropped its future.
            let _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
        });
        self.0.state.lock().work.push_back(work);
        self.0.changed.notify_one();
        done.await.expect("the threads end after the last work")
    }
}

impl Drop for JobThreads {
    fn drop(&mut self) {
        self.0.state.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn work(&self) {
        while let Some(work) = self.next() {
            work();
        }
    }

    /// Waits for work. Returns `None` if the thread must end, because the pool is dropped or the thread is spare.
    fn next(&self) -> Option<Work> {
        let mut state = self.state.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                return Some(work);
            }
            if state.is_closed {
                return None;
            }
            let is_idle = self.changed.wait_for(&mut state, IDLE_TIME).timed_out();
            let is_spare = is_idle && state.work.is_empty() && state.count > self.kept;
            // The scheduler may have assigned this thread to a job whose work has not arrived yet.
            if is_spare && self.scheduler.remove_spare_thread() {
                state.count -= 1;
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::scheduler::Load;
    use super::*;
    use crate::service::settings::SearchMemory;

    fn threads(kept: usize, max: usize) -> (Arc<Scheduler>, JobThreads) {
        let scheduler = Scheduler::new(8, SearchMemory::of(0));
        let threads = JobThreads::start(&scheduler, kept, max);
        (scheduler, threads)
    }

    async fn turn(threads: &JobThreads) -> Result<RunPermit, NoThread> {
        threads.turn(Need::NONE, Arrival::New, Cancellation::default()).await
    }

    #[tokio::test]
    async fn threads_are_created_for_started_jobs_up_to_the_maximum() {
        let (scheduler, threads) = threads(1, 3);
        let mut permits = Vec::new();
        for _ in 0..3 {
            permits.push(turn(&threads).await.unwrap());
        }
        // Workers are idle, but no thread is left for another job.
        let mut fourth = Box::pin(turn(&threads));
        assert!(futures_util::FutureExt::now_or_never(&mut fourth).is_none());
        assert_eq!(scheduler.load().busy, 3);
        drop(permits.pop());
        drop(fourth.await);
        assert_eq!(threads.0.state.lock().count, 3);
    }

    #[tokio::test]
    async fn work_returns_its_result_or_its_panic() {
        let (_, threads) = threads(1, 1);
        assert!(threads.run(|| panic!("as the test requires")).await.is_err());
        assert_eq!(threads.run(|| 7).await.unwrap(), 7, "the thread survives a panic");
    }

    #[tokio::test]
    async fn refused_threads_leave_the_existing_ones_to_work() {
        use std::sync::atomic::AtomicUsize;
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        let spawn: Spawn = |work| {
            let take = |left: usize| left.checked_sub(1);
            LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_err(|_| io::ErrorKind::WouldBlock)?;
            Builder::new().spawn(work).map(drop)
        };
        let scheduler = Scheduler::new(8, SearchMemory::of(0));
        let threads = JobThreads::start_with(&scheduler, 2, 8, spawn);
        assert_eq!(turn(&threads).await.unwrap_err(), NoThread, "a job would wait without end");
        assert_eq!(scheduler.load(), Load::default());
        LEFT.store(1, Ordering::Relaxed);
        let first = turn(&threads).await.unwrap();
        let mut second = Box::pin(turn(&threads));
        assert!(futures_util::FutureExt::now_or_never(&mut second).is_none());
        drop(first);
        let second = second.await.expect("the second job gets the thread of the first");
        // A waiting job gets a thread once the system allows a thread.
        let mut third = Box::pin(turn(&threads));
        assert!(futures_util::FutureExt::now_or_never(&mut third).is_none());
        LEFT.store(1, Ordering::Relaxed);
        drop(third.await.unwrap());
        assert_eq!(threads.run(move || drop(second)).await.unwrap(), ());
    }

    #[test]
    fn threads_end_with_the_pool() {
        let (_, threads) = threads(2, 2);
        let shared = Arc::downgrade(&threads.0);
        drop(threads);
        // Each thread holds a reference. The test hangs if a thread does not end.
        while shared.strong_count() > 0 {
            std::thread::yield_now();
        }
    }
}
