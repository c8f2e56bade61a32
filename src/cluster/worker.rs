//! The loop of a worker: take a task, do it, acknowledge it (docs/adr/0050).

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::sleep;
use tracing::Level;

use super::figures::{TaskResult, WorkerFigures};
use super::maker::{Begun, CHECK_PERIOD, Maker};
use super::pulse::{Pulse, beating};
use super::queue::{Lease, Queue, QueueError, Trouble};
use super::task::{Lane, Task};
use crate::jobs::{Created, JobError, Part, StoredJob};

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
    /// True unless the last task could not be taken.
    has_queue: AtomicBool,
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

/// A task that others may do at once.
const RELEASED: Outcome = Outcome::Release(TaskResult::Released, Duration::ZERO);

/// Time for which a lease is kept while the store does not respond. Then the task is for others too.
const STORE_PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 600 });

/// Deliveries of a chunk from which on it is labelled with care: those before may have ended with their process.
const CARE: u64 = 3;

/// Longest pause between two attempts to reach queue or store.
const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// Time after the grace period in which everything is given back.
const END_TIME: Duration = Duration::from_secs(5);

impl<Q: Queue> Worker<Q> {
    /// A worker with so many threads. They are those for blocking work of the runtime, which needs twice as many and
    /// some more.
    pub fn new(queue: Arc<Q>, maker: Maker, threads: usize, figures: Arc<WorkerFigures>) -> Self {
        let (slots, threads) = (threads + 1, Semaphore::new(threads));
        let (stage, has_queue) = (watch::Sender::new(Stage::Running), AtomicBool::new(true));
        Self { queue, maker: Arc::new(maker), figures, slots, threads, stage, has_queue }
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
            sleep(END_TIME).await;
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
        self.queue.flush().await;
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
            self.note_queue(taken.as_ref().err());
            let is_well = match taken {
                Ok(None) => true,
                Ok(Some(lease)) => self.serve(&lease).await,
                Err(_) => false,
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

    /// Does a task. Returns false if this worker cannot do it, and may not be able to do others.
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
        !matches!(result, TaskResult::NoStore | TaskResult::Refused)
    }

    async fn make(&self, lease: &Q::Lease) -> Outcome {
        let pulse = Pulse::new(STORE_PATIENCE);
        beating(lease, &pulse, self.work(lease, &pulse)).await
    }

    async fn work(&self, lease: &Q::Lease, pulse: &Pulse) -> Outcome {
        let task = *lease.task();
        let Some(begun) = self.unless_over(self.with_maker(move |maker| maker.begin(&task))).await else {
            return RELEASED;
        };
        self.note_store(&begun);
        match begun {
            Ok(Begun::Nothing) => Outcome::Done(TaskResult::Existed),
            // Both are offered again after a while. If they stayed in the queue, they would fill it.
            Ok(Begun::OtherSolver) => {
                self.queue.report(Trouble::Solver(task)).await;
                Outcome::Done(TaskResult::Refused)
            }
            Ok(Begun::Missing) => {
                self.queue.report(Trouble::Missing(task)).await;
                let was_deleted = self.maker.has_store_of_service();
                Outcome::Done(if was_deleted { TaskResult::Existed } else { TaskResult::NoStore })
            }
            Ok(Begun::End(job)) => self.end(lease, pulse, job).await,
            Ok(Begun::Chunk(job, chunk)) => self.chunk(lease, pulse, job, chunk).await,
            Err(error) => self.failed(task, error).await,
        }
    }

    /// Waits for a call; `None` once the worker is over.
    async fn unless_over<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = call => Some(done),
            () = self.reached(Stage::Over) => None,
        }
    }

    /// A damaged job ends. If the store fails, another attempt may succeed.
    async fn failed(&self, task: Task, error: JobError) -> Outcome {
        const SOON: Duration = Duration::from_secs(2);
        let message = "task cannot be done";
        tracing::event!(target: "taquin::worker", Level::WARN, message, %task, %error);
        if error.is_temporary() {
            self.figures.has_store.set(0);
            self.queue.report(Trouble::Store(task.folder)).await;
            return Outcome::Release(TaskResult::NoStore, SOON);
        }
        match self.unless_over(self.with_maker(move |maker| maker.fail(&task, &error))).await {
            Some(Ok(())) => Outcome::Done(TaskResult::Failed),
            Some(Err(_)) | None => Outcome::Release(TaskResult::NoStore, SOON),
        }
    }

    /// Ends a job.
    async fn end(&self, lease: &Q::Lease, pulse: &Pulse, job: Arc<StoredJob>) -> Outcome {
        let task = *lease.task();
        let (cancel, progress) = (Arc::new(AtomicBool::new(false)), pulse.begin(STORE_PATIENCE));
        let ending = {
            let cancel = Arc::clone(&cancel);
            self.with_maker(move |maker| maker.end(&job, &cancel, &progress))
        };
        let until_over = async {
            self.over(task).await;
            cancel.store(true, Ordering::Relaxed);
            std::future::pending().await
        };
        let ended = self.unless_over(async {
            tokio::select! {
                ended = ending => ended,
                ended = until_over => ended,
            }
        });
        let ended = ended.await;
        cancel.store(true, Ordering::Relaxed);
        match ended {
            None => RELEASED,
            Some(Ok(true)) => Outcome::Done(TaskResult::Ended),
            // It was cancelled, or a part was removed: replicas find that out, and have it made anew.
            Some(Ok(false)) => Outcome::Done(TaskResult::Existed),
            Some(Err(error)) => self.failed(task, error).await,
        }
    }

    /// Labels the boards of a chunk, and stores its part.
    async fn chunk(&self, lease: &Q::Lease, pulse: &Pulse, job: Arc<StoredJob>, chunk: u64) -> Outcome {
        pulse.begin(Duration::MAX);
        // Another worker makes it if no thread becomes free, as where a file system hangs.
        let patience = STORE_PATIENCE.max(Maker::board_time(&job));
        let permit = tokio::select! {
            biased;
            () = self.reached(Stage::Draining) => return RELEASED,
            () = tokio::time::sleep(patience) => return RELEASED,
            permit = self.thread(lease.task().lane) => permit,
        };
        let busy = self.figures.busy();
        let labelled = self.label(lease, pulse, &job, chunk).await;
        drop((permit, busy));
        match labelled {
            Ok(Some(part)) => self.store(lease, pulse, job, chunk, part).await,
            Ok(None) if *self.stage.borrow() == Stage::Over => RELEASED,
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
    async fn label(
        &self,
        lease: &Q::Lease,
        pulse: &Pulse,
        job: &Arc<StoredJob>,
        chunk: u64,
    ) -> Result<Option<Part>, JobError> {
        let (cancel, progress) = (Arc::new(AtomicBool::new(false)), pulse.begin(Maker::board_time(job)));
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
            std::future::pending().await
        };
        let labelled = tokio::select! {
            labelled = labelling => labelled,
            labelled = ending => labelled,
        };
        self.figures.count_boards(progress.labelled.load(Ordering::Relaxed));
        labelled
    }

    /// Waits until the job of a task has ended.
    async fn over(&self, task: Task) {
        loop {
            // The answer may be as old as the period.
            sleep(CHECK_PERIOD / 4).await;
            if let Ok(true) = self.with_maker(move |maker| maker.is_over(task.folder)).await {
                return;
            }
        }
    }

    /// Stores a part, as often as it takes.
    async fn store(&self, lease: &Q::Lease, pulse: &Pulse, job: Arc<StoredJob>, chunk: u64, part: Part) -> Outcome {
        let (part, task) = (Arc::new(part), *lease.task());
        let mut pauses = Pauses::default();
        pulse.begin(STORE_PATIENCE);
        let storing = async {
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
                        let message = "part cannot be stored yet";
                        tracing::event!(target: "taquin::worker", Level::WARN, message, %task, %error);
                    }
                }
                self.queue.report(Trouble::Store(task.folder)).await;
                sleep(pauses.next()).await;
            }
        };
        let stored = self.unless_over(storing).await;
        stored.unwrap_or(Outcome::Release(TaskResult::NoStore, Duration::ZERO))
    }

    fn note_queue(&self, error: Option<&QueueError>) {
        self.figures.has_queue.set(error.is_none().into());
        let had_queue = self.has_queue.swap(error.is_none(), Ordering::Relaxed);
        match error {
            Some(error) if had_queue => {
                tracing::warn!(target: "taquin::worker", %error, "the queue cannot be used; it is tried again and again");
            }
            None if !had_queue => tracing::info!(target: "taquin::worker", "the queue is back"),
            _ => {}
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
        called.unwrap_or_else(|error| {
            if error.is_panic() {
                self.maker.note_panic();
            }
            Err(JobError::File { path: "the store".into(), source: io::Error::other(error) })
        })
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
