//! The loop of a worker: take a task, do it, acknowledge it (docs/adr/0050).

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::{interval_at, sleep};
use tracing::Level;

use super::figures::{TaskResult, WorkerFigures};
use super::maker::{Begun, CHECK_PERIOD, Maker};
use super::queue::{LEASE_TIME, Lease, Queue};
use super::task::{Lane, Task};
use crate::jobs::{Created, JobError, Part, Progress, StoredJob};

/// Takes tasks from a queue and does them, one on each thread. It holds one task more, so that no thread waits for the
/// queue. One more thread does those of the quick lane.
#[derive(Debug)]
pub struct Worker<Q> {
    queue: Arc<Q>,
    maker: Arc<Maker>,
    figures: Arc<WorkerFigures>,
    slots: usize,
    threads: Semaphore,
    stage: watch::Sender<Stage>,
}

/// What a worker still does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    Running,
    /// It finishes what its threads have begun.
    Draining,
    /// It gives everything back.
    Over,
}

/// What became of a task, and what the queue is to do with it.
enum Outcome {
    Done(TaskResult),
    Release(TaskResult, Duration),
}

/// Shows that the work on a task goes on.
struct Pulse<'w> {
    /// It grows as long as it does.
    count: &'w AtomicU64,
    /// Longest time without growth.
    patience: Duration,
}

/// Time between two extensions of a lease.
const BEAT: Duration = LEASE_TIME.checked_div(3).expect("it is no division by zero");

/// Pause after which a task is handed out again that this worker cannot do.
const PAUSE: Duration = LEASE_TIME;

/// Deliveries of a chunk from which on it is labelled with care: those before may have ended with their process.
const CARE: u64 = 3;

/// Longest pause between two attempts to reach queue or store.
const LONGEST_RETRY: Duration = Duration::from_secs(10);

impl<Q: Queue> Worker<Q> {
    /// A worker with so many threads. They are those for blocking work of the runtime, which needs twice as many and
    /// some more.
    pub fn new(queue: Arc<Q>, maker: Maker, threads: usize, figures: Arc<WorkerFigures>) -> Self {
        let (slots, threads) = (threads + 1, Semaphore::new(threads));
        Self { queue, maker: Arc::new(maker), figures, slots, threads, stage: watch::Sender::new(Stage::Running) }
    }

    /// Works until `shutdown` completes, finishes what fits into the grace period, and gives back the rest.
    pub async fn run(&self, shutdown: impl Future<Output = ()>, grace: Duration) {
        let lanes = std::iter::repeat_n(Lane::Bulk, self.slots).chain([Lane::Quick]);
        let slots = futures_util::future::join_all(lanes.map(|lane| self.slot(lane)));
        let stop = async {
            shutdown.await;
            self.stage.send_replace(Stage::Draining);
            sleep(grace).await;
            self.stage.send_replace(Stage::Over);
            std::future::pending::<()>().await;
        };
        let attend = async {
            tokio::select! {
                () = self.queue.attend() => {}
                () = self.reached(Stage::Draining) => {}
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = slots => {}
            () = stop => {}
            () = attend => {}
        }
    }

    /// Does one task of a lane after another.
    async fn slot(&self, lane: Lane) {
        let mut pauses = Pauses::default();
        loop {
            let taken = tokio::select! {
                biased;
                () = self.reached(Stage::Draining) => return,
                taken = self.queue.take(lane) => taken,
            };
            self.figures.has_queue.set(taken.is_ok().into());
            let is_well = match taken {
                Ok(None) => true,
                Ok(Some(lease)) => self.serve(&lease).await,
                Err(error) => {
                    tracing::debug!(target: "taquin::worker", %error, "no task can be taken");
                    false
                }
            };
            if is_well {
                pauses = Pauses::default();
                continue;
            }
            tokio::select! {
                () = self.reached(Stage::Draining) => return,
                () = sleep(pauses.next()) => {}
            }
        }
    }

    async fn reached(&self, stage: Stage) {
        let _ = self.stage.subscribe().wait_for(|reached| *reached >= stage).await;
    }

    /// Does a task. Returns false if the store fails.
    async fn serve(&self, lease: &Q::Lease) -> bool {
        self.figures.leases.inc();
        let outcome = self.make(lease).await;
        let (result, ended) = match outcome {
            Outcome::Done(result) => (result, lease.done().await),
            Outcome::Release(result, pause) => (result, lease.release(pause).await),
        };
        self.figures.leases.dec();
        self.figures.count(result);
        let task = lease.task();
        if let Err(error) = ended {
            // It will be handed out again, and the part found.
            tracing::debug!(target: "taquin::worker", %task, %error, "task is not acknowledged");
        }
        result != TaskResult::NoStore
    }

    async fn make(&self, lease: &Q::Lease) -> Outcome {
        let task = *lease.task();
        let begun = self.beating(lease, None, self.with_maker(move |maker| maker.begin(&task))).await;
        self.note_store(&begun);
        match begun {
            Ok(Begun::Nothing) => Outcome::Done(TaskResult::Existed),
            Ok(Begun::OtherSolver) => Outcome::Release(TaskResult::Refused, PAUSE),
            Ok(Begun::End(job)) => self.end(lease, job).await,
            Ok(Begun::Chunk(job, chunk)) => self.chunk(lease, job, chunk).await,
            Err(error) => self.failed(task, error).await,
        }
    }

    /// A damaged job ends. If the store fails, another attempt may succeed.
    async fn failed(&self, task: Task, error: JobError) -> Outcome {
        const SOON: Duration = Duration::from_secs(2);
        let message = "task cannot be done";
        tracing::event!(target: "taquin::worker", Level::WARN, message, %task, %error);
        if error.is_temporary() {
            self.queue.report(task.folder).await;
            return Outcome::Release(TaskResult::NoStore, SOON);
        }
        match self.with_maker(move |maker| maker.fail(&task, &error)).await {
            Ok(()) => Outcome::Done(TaskResult::Failed),
            Err(_) => Outcome::Release(TaskResult::NoStore, SOON),
        }
    }

    /// Ends a job.
    async fn end(&self, lease: &Q::Lease, job: Arc<StoredJob>) -> Outcome {
        let ending = self.with_maker(move |maker| maker.end(&job));
        match self.beating(lease, None, ending).await {
            Ok(true) => Outcome::Done(TaskResult::Ended),
            // The chunk will be offered again.
            Ok(false) => Outcome::Done(TaskResult::Existed),
            Err(error) => self.failed(*lease.task(), error).await,
        }
    }

    /// Labels the boards of a chunk, and stores its part.
    async fn chunk(&self, lease: &Q::Lease, job: Arc<StoredJob>, chunk: u64) -> Outcome {
        let waiting = async {
            tokio::select! {
                biased;
                () = self.reached(Stage::Draining) => None,
                permit = self.thread(lease.task().lane) => Some(permit),
            }
        };
        let Some(permit) = self.beating(lease, None, waiting).await else {
            return Outcome::Release(TaskResult::Released, Duration::ZERO);
        };
        let busy = self.figures.busy();
        let labelled = self.label(lease, &job, chunk).await;
        drop((permit, busy));
        match labelled {
            Ok(Some(part)) => self.store(lease, job, chunk, part).await,
            Ok(None) if *self.stage.borrow() == Stage::Over => Outcome::Release(TaskResult::Released, Duration::ZERO),
            Ok(None) => Outcome::Done(TaskResult::Existed),
            Err(error) => self.failed(*lease.task(), error).await,
        }
    }

    /// Waits for a thread. That of the quick lane is free.
    async fn thread(&self, lane: Lane) -> Option<SemaphorePermit<'_>> {
        match lane {
            Lane::Bulk => self.threads.acquire().await.ok(),
            Lane::Quick => None,
        }
    }

    /// Labels the boards of a chunk. Returns `None` once the job or the worker has ended.
    async fn label(&self, lease: &Q::Lease, job: &Arc<StoredJob>, chunk: u64) -> Result<Option<Part>, JobError> {
        let (cancel, progress) = (Arc::new(AtomicBool::new(false)), Arc::new(Progress::default()));
        let labelling = {
            let (job, cancel, progress) = (Arc::clone(job), Arc::clone(&cancel), Arc::clone(&progress));
            let with_care = lease.deliveries() >= CARE;
            self.with_maker(move |maker| maker.label((&job, chunk), with_care, &cancel, &progress))
        };
        let ending = async {
            tokio::select! {
                () = self.reached(Stage::Over) => {}
                () = self.over(*lease.task()) => {}
            }
            cancel.store(true, Ordering::Relaxed);
            std::future::pending::<()>().await;
        };
        let pulse = Pulse { count: &progress.labelled, patience: Maker::board_time(job) };
        let labelled = async {
            tokio::select! {
                labelled = labelling => labelled,
                () = ending => Ok(None),
            }
        };
        let labelled = self.beating(lease, Some(pulse), labelled).await;
        self.figures.count_boards(progress.labelled.load(Ordering::Relaxed));
        labelled
    }

    /// Waits until the job of a task has ended.
    async fn over(&self, task: Task) {
        loop {
            sleep(CHECK_PERIOD).await;
            if let Ok(true) = self.with_maker(move |maker| maker.is_over(task.folder)).await {
                return;
            }
        }
    }

    /// Stores a part, as often as it takes.
    async fn store(&self, lease: &Q::Lease, job: Arc<StoredJob>, chunk: u64, part: Part) -> Outcome {
        let part = Arc::new(part);
        let storing = async {
            let mut pauses = Pauses::default();
            loop {
                let (own, same) = (Arc::clone(&job), Arc::clone(&part));
                let stored = self.with_maker(move |maker| maker.store(&own, chunk, &same)).await;
                self.note_store(&stored);
                match stored {
                    Ok(Some(Created::New)) => return Outcome::Done(TaskResult::Stored),
                    Ok(Some(Created::Existed) | None) => return Outcome::Done(TaskResult::Existed),
                    // Its folder was removed.
                    Err(error) if !error.is_temporary() => return Outcome::Done(TaskResult::Existed),
                    Err(error) => {
                        let (message, task) = ("part cannot be stored yet", lease.task());
                        tracing::event!(target: "taquin::worker", Level::WARN, message, %task, %error);
                    }
                }
                self.queue.report(lease.task().folder).await;
                tokio::select! {
                    () = self.reached(Stage::Over) => {
                        return Outcome::Release(TaskResult::NoStore, Duration::ZERO);
                    }
                    () = sleep(pauses.next()) => {}
                }
            }
        };
        self.beating(lease, None, storing).await
    }

    /// Does some work on a task, and keeps its lease meanwhile, as long as there is a pulse.
    async fn beating<T>(&self, lease: &Q::Lease, pulse: Option<Pulse<'_>>, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut beats = interval_at(tokio::time::Instant::now() + BEAT, BEAT);
        let (mut last, mut moved) = (0, Instant::now());
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = beats.tick() => {}
            }
            if let Some(Pulse { count, patience }) = &pulse {
                let count = count.load(Ordering::Relaxed);
                if count != last {
                    (last, moved) = (count, Instant::now());
                } else if moved.elapsed() > *patience {
                    continue;
                }
            }
            if let Err(error) = lease.extend().await {
                tracing::debug!(target: "taquin::worker", task = %lease.task(), %error, "lease is not extended");
            }
        }
    }

    fn note_store<T>(&self, called: &Result<T, JobError>) {
        let is_up = !called.as_ref().is_err_and(JobError::is_temporary);
        self.figures.has_store.set(is_up.into());
    }

    /// Calls the maker on a thread that may block.
    async fn with_maker<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Maker) -> Result<T, JobError> + Send + 'static,
    ) -> Result<T, JobError> {
        let maker = Arc::clone(&self.maker);
        let called = tokio::task::spawn_blocking(move || call(&maker)).await;
        // It panicked, or the runtime is shutting down.
        called.unwrap_or_else(|error| Err(JobError::File { path: "the store".into(), source: io::Error::other(error) }))
    }
}

/// Growing pauses between attempts.
#[derive(Default)]
struct Pauses(u32);

impl Pauses {
    fn next(&mut self) -> Duration {
        const FIRST: Duration = Duration::from_millis(250);
        let pause = FIRST * 2_u32.pow(self.0.min(8));
        self.0 += 1;
        pause.min(LONGEST_RETRY)
    }
}
