//! The worker pool. The pool admits jobs, runs their searches, and returns their reports.

mod admission;
mod cancel_on_drop;
mod job_log;
mod lane;
mod prepared_job;
mod progress;
mod result_cache;
mod scheduler;
mod searcher;
mod slice;
mod subscription;
#[cfg(test)]
mod tests;
mod threads;
mod work_task;

use std::any::Any;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use taquin_solver::solver::bytes_for;
use taquin_solver::{Control, SearchRequest, StopReason};
use tokio::sync::watch;
use tokio::time::timeout_at;

use admission::{Admission, AdmissionPermit};
use cancel_on_drop::CancelOnDrop;
use lane::BulkLane;
use prepared_job::{PreparedJob, TablesAtHand, prepare};
use progress::SearchProgress;
use result_cache::{ResultCache, SharedSearch};
use scheduler::{Arrival, Cancellation, Need, RunPermit, Scheduler, Trial};
use searcher::{SearchTask, Searcher};
use threads::{JobThreads, NoThread, RETRY_WITHOUT_THREAD};
use work_task::{CallerContext, WorkTask};

pub use lane::{BulkError, BulkHandle, BulkLoad};
pub use progress::FoundSolution;
pub use result_cache::CacheUsage;
pub use scheduler::Load;
pub use slice::{BulkWork, Slice, SliceContext, SliceEnd};
pub use subscription::{SearchEvent, Subscription};

use crate::service::job::{Answer, Origin, Overload, Report, ServiceError};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::settings::ServiceSettings;
use crate::service::tables::Tables;

/// Runs jobs on its own threads. At most one job runs per worker at a time.
///
/// A job is a search, or other work that takes longer than a hand-over to another thread. The pool admits or rejects a
/// job at once. An admitted job waits until the scheduler starts the job or the deadline passes. A job that waits for
/// its start is a future, and holds no thread. When a job starts, a closure on the job's thread holds the run permit
/// and shares the admission permit. So neither permit is released before the closure has ended, even if the future is
/// dropped.
#[derive(Debug)]
pub struct Pool {
    admission: Arc<Admission>,
    scheduler: Arc<Scheduler>,
    threads: JobThreads,
    lane: BulkLane,
    results: Arc<ResultCache>,
    tables: Arc<Tables>,
    metrics: Metrics,
    is_draining: AtomicBool,
    /// Cancel flag of the pool. Setting the flag stops running jobs and slices of bulk work.
    cancel_all: Arc<AtomicBool>,
    shutdown: watch::Sender<bool>,
    searcher: Arc<Searcher>,
    /// Memory that a slice of bulk work may use, in bytes.
    slice_memory: u64,
}

/// The end of a task.
enum TaskEnd<T> {
    Done(T),
    /// The deadline passed while the task waited for its first start or for a restart.
    Late,
    Panicked(Box<dyn Any + Send>),
}

/// A job after its submission.
enum Submitted {
    /// The job was answered at once, or from the result cache.
    Finished(Answer),
    /// The job waits for a search, which this job or an earlier equal job has started.
    Running(SharedSearch, Origin),
}

impl Pool {
    /// Creates an idle pool.
    pub fn new(settings: &ServiceSettings, tables: Arc<Tables>, metrics: Metrics) -> Arc<Self> {
        let ServiceSettings { workers, queue, searches_memory, bulk, .. } = *settings;
        let scheduler = Scheduler::new(workers, searches_memory);
        let admission = Admission::new(workers + queue, workers);
        let searcher = Arc::new(Searcher {
            tables: Arc::clone(&tables),
            metrics: metrics.clone(),
            admission: Arc::clone(&admission),
            before_search: settings.before_search,
        });
        let cancel_all = Arc::default();
        Arc::new(Self {
            admission,
            threads: JobThreads::start(&scheduler, workers, settings.job_threads),
            lane: BulkLane::new(&scheduler, &metrics, bulk.workers.min(workers), &cancel_all),
            scheduler,
            results: ResultCache::new(settings.result_memory()),
            tables,
            metrics,
            is_draining: AtomicBool::new(false),
            cancel_all,
            shutdown: watch::Sender::new(false),
            searcher,
            slice_memory: bulk.search_memory,
        })
    }

    /// Runs a job.
    ///
    /// Concurrent equal jobs share one search. The time limit of the search counts from the submission of the first of
    /// these jobs. The search stops when no caller waits for the search any more. A [repeatable](Report::is_repeatable)
    /// report is cached.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn submit(self: &Arc<Self>, job: SearchRequest) -> Result<Answer, ServiceError> {
        match self.begin(&job)? {
            Submitted::Finished(answer) => Ok(answer),
            Submitted::Running(search, origin) => Ok(Answer { report: search.await?, origin }),
        }
    }

    /// Does the same as [`submit`](Self::submit), and also logs a job that is answered at once. Requests with several
    /// jobs need these log lines.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn submit_logged(self: &Arc<Self>, job: SearchRequest) -> Result<Answer, ServiceError> {
        let size = job.puzzle.size();
        let answer = self.submit(job).await?;
        if answer.origin == Origin::AtOnce {
            job_log::finished(size, &answer.report);
        }
        Ok(answer)
    }

    /// Submits a job, and subscribes to the search of the job. Waits until the search is admitted and its initial
    /// solution is reported or known to be absent, or until the search has ended.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn watch(self: &Arc<Self>, job: SearchRequest) -> Result<Subscription, ServiceError> {
        match self.begin(&job)? {
            Submitted::Finished(answer) => Ok(Subscription::finished(answer)),
            Submitted::Running(search, origin) => Subscription::begin(&job, search, origin, &self.threads).await,
        }
    }

    /// Answers a job on this thread or from the cache. Otherwise starts a search for the job, or joins the search of an
    /// equal job.
    fn begin(self: &Arc<Self>, job: &SearchRequest) -> Result<Submitted, ServiceError> {
        self.reject_while_draining()?;
        if self.is_instant(job) {
            let report = Arc::new(self.searcher.search_at_once(job)?);
            return Ok(Submitted::Finished(Answer { report, origin: Origin::AtOnce }));
        }
        if let Some(report) = self.results.find(job) {
            self.metrics.answered_from(Origin::Cached);
            return Ok(Submitted::Finished(Answer { report, origin: Origin::Cached }));
        }
        let begin = |progress| Arc::clone(self).run(job.clone(), progress, CallerContext::current());
        let (search, is_first) = self.results.join(job, begin);
        let origin = if is_first { Origin::Search } else { Origin::Joined };
        self.metrics.answered_from(origin);
        Ok(Submitted::Running(search, origin))
    }

    /// Runs work other than a search. If `is_instant` is true, the work runs on this thread. Otherwise the work runs
    /// through [`run_work`](Self::run_work), and `time` is the time limit. The caller sets `is_instant` if the work
    /// takes less than half a millisecond.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub(crate) async fn run_quick_work<T: Send + 'static>(
        self: &Arc<Self>,
        is_instant: bool,
        time: Duration,
        work: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<T, ServiceError> {
        if is_instant { Ok(work()) } else { self.run_work(time, 0, move |_| work()).await }
    }

    /// Runs work other than a search as a light job. The work needs admission, a worker, a thread, and `bytes` bytes of
    /// memory. The deadline of the work is `time` from now.
    ///
    /// Like a search, the work receives a deadline, cancel flags and helpers. Long work must check the flags, and must
    /// call `pause` of the helpers. If too few threads are left for another long job, a flag stops long work after its
    /// trial. The work then starts again from the beginning.
    ///
    /// Dropping the future removes waiting work from the queue, and sets the cancel flag of running work. A panic of
    /// the work resumes in the caller.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub(crate) async fn run_work<T: Send + 'static>(
        self: &Arc<Self>,
        time: Duration,
        bytes: u64,
        work: impl Fn(Control<'_>) -> T + Send + Sync + 'static,
    ) -> Result<T, ServiceError> {
        self.reject_while_draining()?;
        let submitted = Instant::now();
        let deadline = submitted + time;
        let admission = self.admit(deadline)?;
        let cancellation = self.cancellation(Some(deadline));
        let mut guard = CancelOnDrop::new(&self.scheduler, &self.metrics, &cancellation.flags[0]);
        let task = {
            let (cancellation, metrics) = (cancellation.clone(), self.metrics.clone());
            WorkTask { work, submitted, cancellation, metrics, admission }
        };
        let (need, caller) = (Need { bytes, is_light: true }, CallerContext::current());
        let end = self.run_in_turns(need, &cancellation, caller, &mut guard, move |permit| task.run(permit)).await;
        guard.disarm();
        match end? {
            TaskEnd::Done(done) => Ok(done),
            TaskEnd::Late => Err(self.waited(submitted, &cancellation, Overload::WorkWaited)),
            TaskEnd::Panicked(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// Runs a task on a thread when the scheduler starts the task. A task that was stopped after its trial waits again,
    /// and then starts again from the beginning.
    async fn run_in_turns<T: Send + 'static>(
        &self,
        need: Need,
        cancellation: &Cancellation,
        caller: CallerContext,
        guard: &mut CancelOnDrop,
        task: impl Fn(RunPermit) -> Result<T, Trial> + Send + Sync + 'static,
    ) -> Result<TaskEnd<T>, ServiceError> {
        let (task, mut arrival) = (Arc::new(task), Arrival::New);
        loop {
            let Some(permit) = self.turn_in_time(need, arrival, cancellation).await? else {
                return Ok(TaskEnd::Late);
            };
            guard.set_running(permit.number());
            let (task, caller) = (Arc::clone(&task), caller.clone());
            match self.threads.run(move || caller.in_scope(|| task(permit))).await {
                Ok(Ok(done)) => return Ok(TaskEnd::Done(done)),
                Err(panic) => return Ok(TaskEnd::Panicked(panic)),
                Ok(Err(trial)) => {
                    guard.set_queued();
                    self.metrics.restarted();
                    arrival = Arrival::Restart(trial);
                }
            }
        }
    }

    /// Creates the conditions that end a wait or a task: the optional deadline, a new cancel flag, and the cancel flag
    /// of the pool.
    fn cancellation(&self, deadline: Option<Instant>) -> Cancellation {
        Cancellation { deadline, flags: [Arc::default(), Arc::clone(&self.cancel_all)] }
    }

    /// Registers bulk work. The work runs on workers while no job can use these workers. The work runs until the work
    /// is done or panics, the handle is dropped, or the pool is cancelled.
    ///
    /// # Errors
    /// See [`BulkError`].
    pub fn bulk(&self, work: Arc<dyn BulkWork>) -> Result<BulkHandle, BulkError> {
        self.reject_while_draining()?;
        self.lane.add(work)
    }

    /// Returns the number of works and slices in progress, and the age of the oldest work.
    pub fn bulk_load(&self) -> BulkLoad {
        self.lane.load()
    }

    fn reject_while_draining(&self) -> Result<(), ServiceError> {
        if self.is_draining() {
            self.metrics.refused(Refusal::Draining);
            return Err(ServiceError::ShuttingDown);
        }
        Ok(())
    }

    /// Admits a job with this deadline. If the pool is full, counts the rejection and returns an error.
    fn admit(&self, deadline: Instant) -> Result<AdmissionPermit, ServiceError> {
        self.admission.try_admit(deadline).map_err(|retry_after| {
            self.metrics.refused(Refusal::QueueFull);
            ServiceError::Overloaded { retry_after, cause: Overload::QueueFull }
        })
    }

    async fn run(
        self: Arc<Self>,
        job: SearchRequest,
        progress: Arc<SearchProgress>,
        caller: CallerContext,
    ) -> Result<Report, ServiceError> {
        let submitted = Instant::now();
        let deadline = submitted + job.limits.time;
        let admission = self.admit(deadline)?;
        progress.set_admitted();
        let cancellation = self.cancellation(Some(deadline));
        let mut guard = CancelOnDrop::new(&self.scheduler, &self.metrics, &cancellation.flags[0]);
        let prepare = prepare(&self.tables.pattern_cache, &self.metrics, job, submitted);
        let prepared = self.or_shutdown(prepare).await.flatten();
        let PreparedJob { job, patterns, tables } = prepared.inspect_err(|_| guard.disarm())?;
        let trial = OnceLock::new();
        let search = SearchTask { job, patterns, cancellation, progress, _admission: admission, submitted, trial };
        let search = Arc::new(search);
        if tables == TablesAtHand::TooLate {
            guard.disarm();
            return self.too_late(&search, caller).await;
        }
        let report = self.search(&search, caller, &mut guard).await;
        guard.disarm();
        let report = Report { tables_were_late: tables == TablesAtHand::Weaker, ..report? };
        // A job that still has callers is cancelled only by the end of the grace period.
        if report.stopped == Some(StopReason::Cancelled) { Err(ServiceError::ShuttingDown) } else { Ok(report) }
    }

    async fn search(
        &self,
        search: &Arc<SearchTask>,
        caller: CallerContext,
        guard: &mut CancelOnDrop,
    ) -> Result<Report, ServiceError> {
        let need = Need { bytes: bytes_for(&search.job), is_light: search.job.is_light() };
        let run = {
            let (searcher, search) = (Arc::clone(&self.searcher), Arc::clone(search));
            move |permit| searcher.search(&search, permit)
        };
        match self.run_in_turns(need, &search.cancellation, caller.clone(), guard, run).await? {
            TaskEnd::Done(report) => report,
            TaskEnd::Late if search.trial.get().is_some() => self.too_late(search, caller).await,
            TaskEnd::Late => Err(self.waited(search.submitted, &search.cancellation, Overload::SearchWaited)),
            TaskEnd::Panicked(_) => Err(self.panicked()),
        }
    }

    /// Waits for a worker, a thread and memory. Returns `None` if the deadline passes first. Fails if the pool has no
    /// thread and cannot create a thread, or if the pool is cancelled.
    async fn turn_in_time(
        &self,
        need: Need,
        arrival: Arrival,
        cancellation: &Cancellation,
    ) -> Result<Option<RunPermit>, ServiceError> {
        let turn = self.threads.turn(need, arrival, cancellation.clone());
        let turn = async {
            match cancellation.deadline {
                Some(deadline) => timeout_at(deadline.into(), turn).await.ok().transpose(),
                None => turn.await.map(Some),
            }
        };
        self.or_shutdown(turn).await?.map_err(|NoThread| {
            self.metrics.refused(Refusal::NoThread);
            ServiceError::Overloaded { retry_after: RETRY_WITHOUT_THREAD, cause: Overload::NoThread }
        })
    }

    /// Counts a job whose deadline passed in the queue, and returns the error for the job's caller.
    fn waited(&self, submitted: Instant, cancellation: &Cancellation, cause: Overload) -> ServiceError {
        self.metrics.refused(Refusal::Waited);
        self.metrics.waited(submitted.elapsed());
        let deadline = cancellation.deadline.unwrap_or(submitted);
        ServiceError::Overloaded { retry_after: self.admission.retry_after_waiting(deadline), cause }
    }

    /// Waits for a future. Returns an error if [`cancel_all`](Self::cancel_all) is called before the future is ready.
    async fn or_shutdown<T>(&self, future: impl Future<Output = T>) -> Result<T, ServiceError> {
        let mut shutdown = self.shutdown.subscribe();
        tokio::select! {
            biased;
            _ = shutdown.wait_for(|is_closing| *is_closing) => Err(ServiceError::ShuttingDown),
            output = future => Ok(output),
        }
    }

    /// Reports a job whose time ran out before its tables were loaded, or before the job could start again after its
    /// trial.
    async fn too_late(&self, search: &Arc<SearchTask>, caller: CallerContext) -> Result<Report, ServiceError> {
        let queued = search.queued();
        self.metrics.waited(queued);
        let arrival = search.trial.get().map_or(Arrival::New, |(trial, _)| Arrival::Report(*trial));
        let permit = self.turn_in_time(Need::NONE, arrival, &self.cancellation(None)).await?;
        let (searcher, search) = (Arc::clone(&self.searcher), Arc::clone(search));
        let report = move || {
            let _permit = permit;
            searcher.report_without_search(&search, queued)
        };
        self.threads.run(|| caller.in_scope(report)).await.unwrap_or_else(|_| Err(self.panicked()))
    }

    /// Counts a panic in a search, and returns the error for the caller.
    fn panicked(&self) -> ServiceError {
        self.metrics.panicked();
        ServiceError::Failed("a search panicked")
    }

    /// Returns true if solving the job takes less time than a hand-over to another thread. Such a job runs on the
    /// caller's thread, and takes no capacity of the pool (docs/adr/0010).
    fn is_instant(&self, job: &SearchRequest) -> bool {
        let (size, goal_blank) = (job.puzzle.size(), job.puzzle.goal().blank());
        job.plan.is_instant() && job.records.solutions.is_none() && self.tables.small().has_distances(size, goal_blank)
    }

    /// Returns the workers and the memory in use, and the number of jobs. The memory includes the memory of slices of
    /// bulk work.
    pub fn load(&self) -> Load {
        let (load, slices) = (self.scheduler.load(), self.lane.load().slices as u64);
        Load { reserved: load.reserved.saturating_add(slices * self.slice_memory), ..load }
    }

    /// Returns the number of entries of the result cache, and their memory.
    pub fn cache_usage(&self) -> CacheUsage {
        self.results.usage()
    }

    /// Returns true once [`drain`](Self::drain) was called.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Rejects new jobs and bulk work from now on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Cancels all waiting and running jobs, and all bulk work. Returns at once: running searches stop at their next
    /// poll.
    pub fn cancel_all(&self) {
        self.cancel_all.store(true, Ordering::Relaxed);
        self.shutdown.send_replace(true);
        self.scheduler.wake_all();
        self.lane.close();
    }
}
