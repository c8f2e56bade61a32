//! The loop of a worker: the worker takes a task, does the task, and acknowledges the task (docs/adr/0024).

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use taquin_bulk::{Created, Files, JobError, Part, StoredJob};
use tokio::sync::{Semaphore, SemaphorePermit, watch};
use tokio::time::sleep;
use tracing::Level;

use crate::maker::{Begun, JobSolver, Maker};
use crate::metrics::{TaskResult, WorkerMetrics};
use crate::pulse::{Pulse, beating};
use crate::queue::{Lease, Queue, QueueError, WorkerTrouble};
use crate::task::{Task, TaskClass};

/// A worker takes tasks from a queue, and does one task at a time on each thread. The worker holds one more task in
/// reserve, so that no thread waits for the queue. An extra thread does quick tasks.
#[derive(Debug)]
pub struct Worker<Q> {
    queue: Arc<Q>,
    maker: Arc<Maker>,
    metrics: Arc<WorkerMetrics>,
    slots: usize,
    threads: Semaphore,
    stage: watch::Sender<Stage>,
    /// False if the last attempt to take a task failed.
    has_queue: AtomicBool,
}

/// Shutdown stage of a worker.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Stage {
    Running,
    /// The worker takes no tasks. The worker returns the tasks that wait for a thread to the queue, and finishes the
    /// other tasks.
    Draining,
    /// The worker returns all tasks to the queue.
    Over,
}

/// Result of a task, and the end of the task's lease. `Done` removes the task from the queue. `Release` returns the
/// task to the queue; the duration is the pause before the next delivery.
enum Outcome {
    Done(TaskResult),
    Release(TaskResult, Duration),
}

/// The outcome of a task that another worker may do at once.
const RELEASED: Outcome = Outcome::Release(TaskResult::Released, Duration::ZERO);

/// Number of lease times for which the worker extends a lease while the store does not answer: 10 minutes with a
/// lease time of 30 s. After that time, the queue may hand out the task again.
const STORE_PATIENCE: u32 = 20;

/// Number of the first delivery, counted from 1, that labels the chunk of a task in an isolated attempt. The earlier
/// deliveries of the task may have crashed their workers.
const ISOLATED_FROM: u64 = 3;

/// Longest pause between attempts to reach the queue or the store.
const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// Time limit for returning all tasks to the queue after the grace period.
const END_TIME: Duration = Duration::from_secs(5);

impl<Q: Queue> Worker<Q> {
    /// Creates a worker for the jobs in a store, with `threads` threads and one more thread for quick tasks. The
    /// tokio runtime needs twice as many threads for blocking work as the worker has threads, and some more.
    pub fn new(
        queue: Arc<Q>,
        store: Arc<dyn Files>,
        solver: Arc<dyn JobSolver>,
        threads: usize,
        metrics: Arc<WorkerMetrics>,
    ) -> Self {
        // The check period is 4 s with a lease time of 30 s.
        let check_period = 2 * queue.lease_time() / 15;
        Self {
            queue,
            maker: Arc::new(Maker::new(store, solver, check_period)),
            metrics,
            slots: threads + 1,
            threads: Semaphore::new(threads),
            stage: watch::Sender::new(Stage::Running),
            has_queue: AtomicBool::new(true),
        }
    }

    /// Runs until `shutdown` completes. Then returns the tasks that wait for a thread to the queue, and finishes the
    /// other tasks. After `grace`, returns the unfinished tasks to the queue too.
    pub async fn run(&self, shutdown: impl Future<Output = ()>, grace: Duration) {
        let classes = std::iter::repeat_n(TaskClass::Bulk, self.slots).chain([TaskClass::Quick]);
        let slots = futures_util::future::join_all(classes.map(|class| self.slot(class)));
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

    /// Does tasks of a class, one after another, until the worker drains.
    async fn slot(&self, class: TaskClass) {
        let mut pauses = Pauses::default();
        loop {
            let taken = tokio::select! {
                biased;
                () = self.reached(Stage::Draining) => return,
                taken = self.queue.take(class) => taken,
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

    /// Does a task, and ends its lease. Returns false if the worker cannot do the task. In this case, the worker may
    /// also be unable to do other tasks.
    async fn serve(&self, lease: &Q::Lease) -> bool {
        self.metrics.leases.inc();
        let outcome = self.make(lease).await;
        let (result, ended) = match outcome {
            Outcome::Done(result) => (result, lease.done().await),
            Outcome::Release(result, pause) => (result, lease.release(pause).await),
        };
        self.metrics.leases.dec();
        self.metrics.count(result);
        let task = lease.task();
        if let Err(error) = ended {
            // The queue hands out the task again, and the next worker finds the part.
            tracing::debug!(target: "taquin::worker", %task, %error, "task is not acknowledged");
        }
        !matches!(result, TaskResult::NoStore | TaskResult::Refused)
    }

    async fn make(&self, lease: &Q::Lease) -> Outcome {
        let pulse = Pulse::new(self.store_patience());
        beating(lease, &pulse, self.queue.lease_time() / 3, self.work(lease, &pulse)).await
    }

    fn store_patience(&self) -> Duration {
        STORE_PATIENCE * self.queue.lease_time()
    }

    async fn work(&self, lease: &Q::Lease, pulse: &Pulse) -> Outcome {
        let task = *lease.task();
        let Some(begun) = self.unless_over(self.with_maker(move |maker| maker.begin(&task))).await else {
            return RELEASED;
        };
        self.note_store(&begun);
        match begun {
            Ok(Begun::Nothing) => Outcome::Done(TaskResult::Existed),
            // A refused task leaves the queue, since refused tasks would fill the queue. The service offers the
            // task again later.
            Ok(Begun::OtherSolver) => {
                self.queue.report(WorkerTrouble::Solver(task)).await;
                Outcome::Done(TaskResult::Refused)
            }
            Ok(Begun::Missing) => {
                self.queue.report(WorkerTrouble::Missing(task)).await;
                let was_deleted = self.maker.has_store_of_service();
                Outcome::Done(if was_deleted { TaskResult::Existed } else { TaskResult::NoStore })
            }
            Ok(Begun::End(job)) => self.end(lease, pulse, job).await,
            Ok(Begun::Chunk(job, chunk)) => self.chunk(lease, pulse, job, chunk).await,
            Err(error) => self.failed(task, error).await,
        }
    }

    /// Waits for a call; returns `None` in the stage `Over`.
    async fn unless_over<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = call => Some(done),
            () = self.reached(Stage::Over) => None,
        }
    }

    /// Handles the error of a task. If the store failed, the task is retried later. After any other error, the job ends
    /// as failed.
    async fn failed(&self, task: Task, error: JobError) -> Outcome {
        const SOON: Duration = Duration::from_secs(2);
        let message = "task cannot be done";
        tracing::event!(target: "taquin::worker", Level::WARN, message, %task, %error);
        if error.is_temporary() {
            self.metrics.has_store.set(0);
            self.queue.report(WorkerTrouble::Store(task.folder)).await;
            return Outcome::Release(TaskResult::NoStore, SOON);
        }
        match self.unless_over(self.with_maker(move |maker| maker.fail(&task, &error))).await {
            Some(Ok(())) => Outcome::Done(TaskResult::Failed),
            Some(Err(_)) | None => Outcome::Release(TaskResult::NoStore, SOON),
        }
    }

    async fn end(&self, lease: &Q::Lease, pulse: &Pulse, job: Arc<StoredJob>) -> Outcome {
        let task = *lease.task();
        let (cancel, progress) = (Arc::new(AtomicBool::new(false)), pulse.begin(self.store_patience()));
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
            // A part was removed, or the job was deleted. A service replica notices a removed part, and offers its
            // chunk again.
            Some(Ok(false)) => Outcome::Done(TaskResult::Existed),
            Some(Err(error)) => self.failed(task, error).await,
        }
    }

    /// Labels the boards of a chunk, and stores its part.
    async fn chunk(&self, lease: &Q::Lease, pulse: &Pulse, job: Arc<StoredJob>, chunk: u64) -> Outcome {
        pulse.begin(Duration::MAX);
        // If no thread becomes free in this time, for example because a file system hangs, another worker makes the
        // chunk.
        let patience = self.store_patience().max(Maker::board_time(&job));
        let permit = tokio::select! {
            biased;
            () = self.reached(Stage::Draining) => return RELEASED,
            () = tokio::time::sleep(patience) => return RELEASED,
            permit = self.thread(lease.task().class) => permit,
        };
        let busy = self.metrics.busy();
        let labelled = self.label(lease, pulse, &job, chunk).await;
        drop((permit, busy));
        match labelled {
            Ok(Some(part)) => self.store(lease, pulse, job, chunk, part).await,
            Ok(None) if *self.stage.borrow() == Stage::Over => RELEASED,
            Ok(None) => Outcome::Done(TaskResult::Existed),
            Err(error) => self.failed(*lease.task(), error).await,
        }
    }

    /// Waits for a thread; `None` for a quick task, whose thread is always free.
    async fn thread(&self, class: TaskClass) -> Option<SemaphorePermit<'_>> {
        match class {
            TaskClass::Bulk => self.threads.acquire().await.ok(),
            TaskClass::Quick => None,
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
            let is_isolated = lease.deliveries() >= ISOLATED_FROM;
            self.with_maker(move |maker| maker.label((&job, chunk), is_isolated, &cancel, &progress))
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
        self.metrics.count_boards(progress.labelled.load(Ordering::Relaxed));
        labelled
    }

    async fn over(&self, task: Task) {
        loop {
            // The maker caches the state of a job for a check period, so frequent calls cost little.
            sleep(self.maker.check_period / 4).await;
            if let Ok(true) = self.with_maker(move |maker| maker.is_over(task.folder)).await {
                return;
            }
        }
    }

    /// Stores a part. Retries while the store fails.
    async fn store(&self, lease: &Q::Lease, pulse: &Pulse, job: Arc<StoredJob>, chunk: u64, part: Part) -> Outcome {
        let (part, task) = (Arc::new(part), *lease.task());
        let mut pauses = Pauses::default();
        pulse.begin(self.store_patience());
        let storing = async {
            loop {
                let (own, same) = (Arc::clone(&job), Arc::clone(&part));
                let stored = self.with_maker(move |maker| maker.store(&own, chunk, &same)).await;
                self.note_store(&stored);
                match stored {
                    Ok(Some(Created::New)) => return Outcome::Done(TaskResult::Stored),
                    Ok(Some(Created::Existed) | None) => return Outcome::Done(TaskResult::Existed),
                    // An error that is not temporary means that the folder of the job was removed.
                    Err(error) if !error.is_temporary() => return Outcome::Done(TaskResult::Existed),
                    Err(error) => {
                        let message = "part cannot be stored yet";
                        tracing::event!(target: "taquin::worker", Level::WARN, message, %task, %error);
                    }
                }
                self.queue.report(WorkerTrouble::Store(task.folder)).await;
                sleep(pauses.next()).await;
            }
        };
        let stored = self.unless_over(storing).await;
        stored.unwrap_or(Outcome::Release(TaskResult::NoStore, Duration::ZERO))
    }

    fn note_queue(&self, error: Option<&QueueError>) {
        self.metrics.has_queue.set(error.is_none().into());
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
        self.metrics.has_store.set(is_up.into());
    }

    /// Calls the maker on one of the runtime's threads for blocking work. A panic of the maker is counted, and becomes
    /// a temporary error.
    async fn with_maker<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Maker) -> Result<T, JobError> + Send + 'static,
    ) -> Result<T, JobError> {
        let maker = Arc::clone(&self.maker);
        let called = tokio::task::spawn_blocking(move || call(&maker)).await;
        // An error means that the call panicked, or that the runtime is shutting down.
        called.unwrap_or_else(|error| {
            if error.is_panic() {
                self.maker.note_panic();
            }
            Err(JobError::File { path: "the store".into(), source: io::Error::other(error) })
        })
    }
}

/// Pauses between attempts. Each pause is twice as long as the pause before, up to [`LONGEST_RETRY`].
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
