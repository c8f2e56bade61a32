//! The worker pool: from a submitted job to its report.

mod admission;
mod caller_context;
mod cancel_on_drop;
mod job_log;
mod prepared_job;
mod progress;
mod result_cache;
mod scheduler;
mod subscription;
mod threads;

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout_at;

use admission::{Admission, AdmissionPermit};
use caller_context::CallerContext;
use cancel_on_drop::CancelOnDrop;
use prepared_job::{PreparedJob, prepare};
use progress::SearchProgress;
use result_cache::{ResultCache, SharedSearch};
use scheduler::{Cancellation, Need, RunPermit, Scheduler};
use threads::{JobThreads, NoThread};

pub use progress::FoundSolution;
pub use result_cache::CacheUsage;
pub use scheduler::{Load, SearchMemory};
pub use subscription::{SearchEvent, Subscription};

use crate::search::{Observer, StopReason};
use crate::service::job::{Answer, BeforeSearchHook, Job, Origin, Overload, Report, ServiceError};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::solver::{self, JobTables, SearchContext, bytes_for};
use crate::service::spans::SearchSpan;
use crate::service::tables::{LoadedPatterns, Tables};

/// Runs jobs on threads of its own, at most one for each worker at a time.
///
/// A job is a search, or other work that takes longer than handing it to a thread. It is admitted at once or rejected.
/// It then waits until its deadline for the scheduler. The admission and run permits move into the closure of the job,
/// so they are released only when it has stopped. A job that has not started is only a future.
#[derive(Debug)]
pub struct Pool {
    admission: Arc<Admission>,
    scheduler: Arc<Scheduler>,
    threads: JobThreads,
    results: Arc<ResultCache>,
    tables: Arc<Tables>,
    metrics: Metrics,
    is_draining: AtomicBool,
    /// Stops every running search when raised.
    cancel_all: Arc<AtomicBool>,
    shutdown: watch::Sender<bool>,
    before_search: Option<BeforeSearchHook>,
}

/// Sizes of a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolSettings {
    /// Searches that run at a time.
    pub workers: usize,
    /// Jobs that may be queued beside them.
    pub queue: usize,
    /// Maximum number of threads: of jobs that run, and of those that are paused.
    pub threads: usize,
    /// Memory of all searches.
    pub memory: SearchMemory,
    /// Memory of the result cache, in bytes.
    pub results: u64,
    /// Called before each search.
    pub before_search: Option<BeforeSearchHook>,
}

/// Retry-After if the system refuses threads. It may allow one at any time.
const RETRY_WITHOUT_THREAD: Duration = Duration::from_secs(1);

/// A job after its submission.
enum Submitted {
    /// Answered at once, or from the result cache.
    Finished(Answer),
    /// A running search, new or shared.
    Running(SharedSearch, Origin),
}

impl Pool {
    /// Creates an idle pool.
    pub fn new(settings: PoolSettings, tables: Arc<Tables>, metrics: Metrics) -> Arc<Self> {
        let PoolSettings { workers, queue, threads, memory, results, before_search } = settings;
        let scheduler = Scheduler::new(workers, memory);
        Arc::new(Self {
            admission: Admission::new(workers + queue, workers),
            threads: JobThreads::start(&scheduler, workers, threads),
            scheduler,
            results: ResultCache::new(results),
            tables,
            metrics,
            is_draining: AtomicBool::new(false),
            cancel_all: Arc::default(),
            shutdown: watch::Sender::new(false),
            before_search,
        })
    }

    /// Runs a job; its time limit counts from now.
    ///
    /// Equal jobs share one search, which stops when no caller waits for it any more. A repeatable report is cached.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn submit(self: &Arc<Self>, job: Job) -> Result<Answer, ServiceError> {
        match self.begin(&job)? {
            Submitted::Finished(answer) => Ok(answer),
            Submitted::Running(search, origin) => Ok(Answer { report: search.await?, origin }),
        }
    }

    /// Runs a job and returns a subscription to its progress once it is admitted or finished.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn watch(self: &Arc<Self>, job: Job) -> Result<Subscription, ServiceError> {
        match self.begin(&job)? {
            Submitted::Finished(answer) => Ok(Subscription::finished(answer)),
            Submitted::Running(search, origin) => Subscription::begin(&job, search, origin, &self.threads).await,
        }
    }

    /// Answers a job on this thread or from the cache, or starts or joins its search.
    fn begin(self: &Arc<Self>, job: &Job) -> Result<Submitted, ServiceError> {
        self.reject_while_draining()?;
        if self.is_instant(job) {
            let span = SearchSpan::begin();
            let report = solver::solve(job, &self.tables, SearchContext::default());
            self.observe(job, &report, span);
            return Ok(Submitted::Finished(Answer { report: Arc::new(report?), origin: Origin::Search }));
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

    /// Runs work that is no search, of short and limited duration, under the admission of searches: with a place, a
    /// deadline `time` from now, a turn and a thread.
    ///
    /// Dropping the future dequeues the work; once started, it is completed. Resumes a panic of the work.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub(crate) async fn run_work<T: Send + 'static>(
        self: &Arc<Self>,
        time: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ServiceError> {
        self.reject_while_draining()?;
        let submitted = Instant::now();
        let deadline = submitted + time;
        let admission = self.admit(deadline)?;
        let (cancel, caller) = (Arc::default(), CallerContext::current());
        let mut guard = CancelOnDrop::new(&self.scheduler, &self.metrics, &cancel);
        let cancellation = Cancellation { deadline: Some(deadline), flags: [cancel, Arc::clone(&self.cancel_all)] };
        let permit = self.acquire_permit(Need::NONE, submitted, cancellation, Overload::WorkWaited);
        let permit = self.or_shutdown(permit).await.flatten().inspect_err(|_| guard.disarm())?;
        guard.set_running(permit.number());
        self.metrics.waited(submitted.elapsed());
        let pool = Arc::clone(self);
        let done = self.threads.run(move || {
            let done = caller.in_scope(work);
            pool.admission.record_duration(permit.times().0);
            drop((permit, admission));
            done
        });
        let done = done.await;
        guard.disarm();
        Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    fn reject_while_draining(&self) -> Result<(), ServiceError> {
        if self.is_draining() {
            self.metrics.refused(Refusal::Draining);
            return Err(ServiceError::ShuttingDown);
        }
        Ok(())
    }

    /// Admits a job that ends by its deadline.
    fn admit(&self, deadline: Instant) -> Result<AdmissionPermit, ServiceError> {
        self.admission.try_admit(deadline).map_err(|retry_after| {
            self.metrics.refused(Refusal::QueueFull);
            ServiceError::Overloaded { retry_after, cause: Overload::QueueFull }
        })
    }

    async fn run(
        self: Arc<Self>,
        job: Job,
        progress: Arc<SearchProgress>,
        caller: CallerContext,
    ) -> Result<Report, ServiceError> {
        let submitted = Instant::now();
        let deadline = submitted + job.limits.time;
        let admission = self.admit(deadline)?;
        progress.set_admitted();
        let cancel = Arc::new(AtomicBool::new(false));
        let mut guard = CancelOnDrop::new(&self.scheduler, &self.metrics, &cancel);
        let prepared = self.or_shutdown(prepare(&self.tables, &self.metrics, job, submitted)).await?;
        let (job, patterns, tables_were_late) = match prepared.inspect_err(|_| guard.disarm())? {
            PreparedJob::Ready { job, patterns, tables_were_late } => (job, patterns, tables_were_late),
            PreparedJob::TooLate(job) => {
                guard.disarm();
                self.metrics.waited(submitted.elapsed());
                return self.too_late(job, admission, caller).await;
            }
        };
        let cancellation = Cancellation { deadline: Some(deadline), flags: [cancel, Arc::clone(&self.cancel_all)] };
        let need = Need { bytes: bytes_for(&job), is_light: job.is_light() };
        let permit = self.acquire_permit(need, submitted, cancellation.clone(), Overload::SearchWaited);
        let permit = self.or_shutdown(permit).await?;
        let permit = permit.inspect_err(|_| guard.disarm())?;
        guard.set_running(permit.number());
        let queued = submitted.elapsed();
        let search = SearchTask { job, patterns, cancellation, permit, progress, _admission: admission, queued };
        let report = self.on_a_thread(caller, move |pool| search.make(pool)).await;
        guard.disarm();
        let report = Report { tables_were_late, ..report? };
        // Only the end of the grace period cancels a job that has a caller.
        if report.stopped == Some(StopReason::Cancelled) { Err(ServiceError::ShuttingDown) } else { Ok(report) }
    }

    /// Waits for a worker, a thread and memory until the job's deadline.
    async fn acquire_permit(
        &self,
        need: Need,
        submitted: Instant,
        cancellation: Cancellation,
        cause: Overload,
    ) -> Result<RunPermit, ServiceError> {
        let deadline = cancellation.deadline.unwrap_or(submitted);
        match timeout_at(deadline.into(), self.turn(need, cancellation)).await {
            Ok(permit) => permit,
            Err(_) => {
                self.metrics.refused(Refusal::Waited);
                self.metrics.waited(submitted.elapsed());
                Err(ServiceError::Overloaded { retry_after: self.admission.retry_after_waiting(deadline), cause })
            }
        }
    }

    /// Waits for a worker, a thread and memory.
    async fn turn(&self, need: Need, cancellation: Cancellation) -> Result<RunPermit, ServiceError> {
        self.threads.turn(need, cancellation).await.map_err(|NoThread| {
            self.metrics.refused(Refusal::NoThread);
            ServiceError::Overloaded { retry_after: RETRY_WITHOUT_THREAD, cause: Overload::NoThread }
        })
    }

    /// Waits for a future, or returns an error when the grace period ends.
    async fn or_shutdown<T>(&self, future: impl Future<Output = T>) -> Result<T, ServiceError> {
        let mut shutdown = self.shutdown.subscribe();
        tokio::select! {
            biased;
            _ = shutdown.wait_for(|is_closing| *is_closing) => Err(ServiceError::ShuttingDown),
            output = future => Ok(output),
        }
    }

    async fn on_a_thread<F>(self: &Arc<Self>, caller: CallerContext, work: F) -> Result<Report, ServiceError>
    where
        F: FnOnce(&Self) -> Result<Report, ServiceError> + Send + 'static,
    {
        let pool = Arc::clone(self);
        let done = self.threads.run(move || caller.in_scope(|| work(&pool))).await;
        done.unwrap_or_else(|_: Box<dyn Any + Send>| {
            self.metrics.panicked();
            Err(ServiceError::Failed("a search panicked"))
        })
    }

    /// Reports a job whose time ran out before its tables were loaded. No search runs.
    async fn too_late(
        self: &Arc<Self>,
        job: Job,
        admission: AdmissionPermit,
        caller: CallerContext,
    ) -> Result<Report, ServiceError> {
        let cancellation = Cancellation { deadline: None, flags: [Arc::default(), Arc::clone(&self.cancel_all)] };
        let permit = self.or_shutdown(self.turn(Need::NONE, cancellation)).await??;
        self.on_a_thread(caller, move |pool| {
            let _permits = (permit, admission);
            let span = SearchSpan::begin();
            let report = solver::too_late(&job, &pool.tables);
            pool.observe(&job, &report, span);
            report
        })
        .await
    }

    /// True if solving the job costs less than handing it to another thread. It then runs on this thread and takes no
    /// capacity from searches (docs/adr/0010).
    fn is_instant(&self, job: &Job) -> bool {
        let (size, goal_blank) = (job.puzzle.size(), job.puzzle.goal().blank());
        job.plan.is_instant() && self.tables.has_distances(size, goal_blank)
    }

    /// Workers and memory in use.
    pub fn load(&self) -> Load {
        self.scheduler.load()
    }

    /// Entries and bytes of the result cache.
    pub fn cache_usage(&self) -> CacheUsage {
        self.results.usage()
    }

    /// True once jobs are rejected because the service shuts down.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Rejects jobs from now on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Stops every search and ends every wait for one.
    pub fn cancel_all(&self) {
        self.cancel_all.store(true, Ordering::Relaxed);
        self.shutdown.send_replace(true);
        self.scheduler.wake_all();
    }

    /// Solves a job. If wrong tables from a file may be the cause of a failure, they are dropped, and it searches again with
    /// new ones.
    fn solve(
        &self,
        job: &Job,
        patterns: Option<&Arc<LoadedPatterns>>,
        context: SearchContext<'_>,
        progress: &SearchProgress,
    ) -> Result<Report, ServiceError> {
        let solve = |patterns: Option<&Arc<LoadedPatterns>>| {
            let tables = JobTables::with_patterns(&self.tables, patterns.cloned());
            solver::solve_with(job, &tables.upgradable(!job.counts_expansions()), context)
        };
        let Some(used) = patterns.filter(|patterns| patterns.is_from_file) else { return solve(patterns) };
        // Wrong entries lead to paths that miss the goal, to wrong bounds, or to entries that do not exist.
        match catch_unwind(AssertUnwindSafe(|| solve(patterns))) {
            Ok(report) if !matches!(report, Err(ServiceError::WrongSolution)) => report,
            failed => {
                let (size, goal_blank) = (job.puzzle.size(), job.puzzle.goal().blank());
                let others = self.tables.replace_wrong_patterns(used, size, goal_blank);
                if failed.is_err() {
                    self.metrics.panicked();
                }
                progress.forget_bound();
                solve(Some(&others))
            }
        }
    }

    /// Counts a finished job, ends its span and logs its event.
    fn observe(&self, job: &Job, report: &Result<Report, ServiceError>, span: SearchSpan) {
        span.end(job, report);
        if let Ok(report) = report {
            self.metrics.finished(job, report);
        }
        job_log::write(job, report);
    }
}

/// A search that may run, with the permits that it holds until it ends.
struct SearchTask {
    job: Job,
    patterns: Option<Arc<LoadedPatterns>>,
    cancellation: Cancellation,
    permit: RunPermit,
    progress: Arc<SearchProgress>,
    _admission: AdmissionPermit,
    queued: Duration,
}

impl SearchTask {
    fn make(self, pool: &Pool) -> Result<Report, ServiceError> {
        let Self { job, patterns, cancellation, permit, progress, queued, .. } = &self;
        let span = SearchSpan::begin();
        if let Some(before_search) = pool.before_search {
            before_search(job);
        }
        let cancel: [&AtomicBool; 2] = [&cancellation.flags[0], &cancellation.flags[1]];
        let (deadline, observer) = (cancellation.deadline, Some(&**progress as &dyn Observer));
        let context = SearchContext { deadline, cancel: &cancel, helpers: Some(permit), observer };
        let report = pool.solve(job, patterns.as_ref(), context, progress);
        let (worked, paused) = permit.times();
        pool.admission.record_duration(worked);
        pool.metrics.waited(*queued + paused);
        let report = report.map(|report| Report {
            // Every reported bound is proven.
            lower_bound: report.lower_bound.max(progress.lower_bound()),
            queued: *queued + paused,
            elapsed: report.elapsed.saturating_sub(paused),
            ..report
        });
        pool.observe(job, &report, span);
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Encoding, Puzzle, RawBoard, Sides};
    use crate::search::Algorithm;
    use crate::service::{Limits, Plan, SearchOptions};

    fn job(start: &str, algorithm: Option<Algorithm>, time: Duration) -> Job {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let plan = Plan::try_new(&SearchOptions { algorithm, ..SearchOptions::default() }, puzzle.size()).unwrap();
        Job { puzzle, plan, limits: Limits { time, expanded: u64::MAX, nodes: u64::MAX }, expansions: 0, states: false }
    }

    fn easy() -> Job {
        job("8 6 7/2 5 4/3 0 1", None, Duration::from_secs(60))
    }

    /// A job that searches for hours.
    fn hard(time: Duration) -> Job {
        job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::IterativeDeepening), time)
    }

    /// A job that searches for hours and keeps its nodes in memory.
    fn stored(time: Duration) -> Job {
        job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::BreadthFirst), time)
    }

    fn settings(workers: usize, queue: usize) -> PoolSettings {
        let memory = SearchMemory::of(u64::MAX / 2);
        PoolSettings { workers, queue, threads: 64, memory, results: 1 << 20, before_search: None }
    }

    fn pool(workers: usize, queue: usize) -> Arc<Pool> {
        Pool::new(settings(workers, queue), Arc::default(), Metrics::default())
    }

    /// Submits a job on a separate task and waits until it runs.
    async fn begun(pool: &Arc<Pool>, job: Job) -> tokio::task::JoinHandle<Result<Answer, ServiceError>> {
        let before = pool.load().begun;
        let submitted = tokio::spawn({
            let pool = Arc::clone(pool);
            async move { pool.submit(job).await }
        });
        while pool.load().begun == before {
            tokio::task::yield_now().await;
        }
        submitted
    }

    #[tokio::test]
    async fn a_solved_job_releases_its_permits() {
        let pool = pool(1, 0);
        for _ in 0..3 {
            let report = pool.submit(easy()).await.unwrap().report;
            assert_eq!(report.solution.as_ref().unwrap().path.len(), 31);
            assert!(report.is_optimal());
        }
        assert_eq!(pool.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_dropped_request_stops_its_search() {
        let pool = pool(1, 0);
        let submitted = begun(&pool, hard(Duration::from_secs(3600))).await;
        assert!(matches!(pool.submit(easy()).await, Err(ServiceError::Overloaded { cause: Overload::QueueFull, .. })));
        submitted.abort();
        // The run permit is released only when the search has stopped; otherwise the test hangs.
        while pool.load() != Load::default() {
            tokio::task::yield_now().await;
        }
        assert!(pool.submit(easy()).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_job_whose_time_runs_out_in_the_queue_is_rejected() {
        let pool = Pool::new(
            PoolSettings { memory: SearchMemory::of(1 << 20), ..settings(1, 1) },
            Arc::default(),
            Metrics::default(),
        );
        let busy = begun(&pool, stored(Duration::from_secs(3600))).await;
        let waiting = Job {
            limits: Limits { time: Duration::from_millis(20), ..stored(Duration::ZERO).limits },
            ..stored(Duration::ZERO)
        };
        assert!(matches!(
            pool.submit(waiting).await,
            Err(ServiceError::Overloaded { cause: Overload::SearchWaited, .. })
        ));
        pool.cancel_all();
        assert_eq!(busy.await.unwrap().unwrap_err(), ServiceError::ShuttingDown);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn easy_jobs_finish_while_every_worker_has_a_hard_one() {
        let pool = pool(2, 8);
        let mut hard_ones = Vec::new();
        for nth in 0..4 {
            hard_ones.push(begun(&pool, hard(Duration::from_secs(3600 + nth))).await);
        }
        for _ in 0..20 {
            let job = job("1 2 3/4 5 6/7 0 8", Some(Algorithm::IterativeDeepening), Duration::from_secs(60));
            assert!(pool.submit(job).await.unwrap().report.is_optimal());
        }
        assert_eq!(pool.load().begun, 4, "the hard ones continue");
        pool.cancel_all();
        for hard_one in hard_ones {
            assert_eq!(hard_one.await.unwrap().unwrap_err(), ServiceError::ShuttingDown);
        }
        assert_eq!(pool.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn equal_jobs_share_a_search_until_the_last_caller_leaves() {
        let pool = pool(1, 0);
        let first = begun(&pool, hard(Duration::from_secs(3600))).await;
        let others: Vec<_> = (0..100)
            .map(|_| {
                let pool = Arc::clone(&pool);
                tokio::spawn(async move { pool.submit(hard(Duration::from_secs(3600))).await })
            })
            .collect();
        // The pool admits one job: a search that did not join would be rejected.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(others.iter().all(|other| !other.is_finished()));
        first.abort();
        others[1..].iter().for_each(|other| other.abort());
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(pool.load().begun, 1, "a caller still waits");
        others[0].abort();
        while pool.load() != Load::default() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn repeatable_reports_are_cached_and_timed_out_ones_are_not() {
        let pool = pool(1, 0);
        let repeatable = || job("1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15", None, Duration::from_secs(60));
        assert_eq!(pool.submit(repeatable()).await.unwrap().origin, Origin::Search);
        assert_eq!(pool.submit(repeatable()).await.unwrap().origin, Origin::Cached);
        for _ in 0..2 {
            let stopped = pool.submit(hard(Duration::from_millis(20))).await.unwrap();
            assert_eq!((stopped.origin, stopped.report.stopped), (Origin::Search, Some(StopReason::Time)));
        }
        assert_eq!(pool.cache_usage().entries, 1);
    }

    #[tokio::test]
    async fn a_panic_fails_one_job() {
        let hook: BeforeSearchHook = |job| assert!(job.limits.expanded != 13, "as the test requires");
        let settings = PoolSettings { before_search: Some(hook), ..settings(1, 0) };
        let pool = Pool::new(settings, Arc::default(), Metrics::default());
        let mut unlucky = easy();
        unlucky.limits.expanded = 13;
        // Tables are not built yet, so the job is not solved on this thread.
        assert_eq!(pool.submit(unlucky).await.unwrap_err(), ServiceError::Failed("a search panicked"));
        assert_eq!(pool.load(), Load::default());
        assert!(pool.submit(easy()).await.is_ok());
    }

    #[tokio::test]
    async fn late_tables_leave_a_constructive_solution() {
        let pool = pool(1, 0);
        let job = job("9 8 7 6/5 4 3 2/1 0 10 11/12 13 15 14", None, Duration::from_millis(1));
        let report = pool.submit(job).await.unwrap().report;
        assert_eq!((report.algorithm, report.search_stopped), (Algorithm::Constructive, Some(StopReason::Time)));
    }

    /// Builds the stronger tables that are requested, as the background builder does, but late.
    fn late_builder(tables: &Arc<Tables>) -> std::thread::JoinHandle<()> {
        let (sender, requests) = std::sync::mpsc::channel();
        tables.set_background_builder(sender);
        let tables = Arc::clone(tables);
        std::thread::spawn(move || {
            let class = requests.recv().unwrap();
            std::thread::sleep(Duration::from_millis(200));
            assert!(tables.improve_later(class));
        })
    }

    #[tokio::test]
    async fn a_limit_on_expansions_has_the_same_result_while_tables_are_built() {
        let tables = Arc::new(Tables::default());
        let builder = late_builder(&tables);
        let limited = || {
            let job = job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::IdaStar), Duration::from_secs(600));
            Job { limits: Limits { expanded: 20_000, ..job.limits }, ..job }
        };
        let mut reports = Vec::new();
        for _ in 0..2 {
            let pool = Pool::new(settings(1, 0), Arc::clone(&tables), Metrics::default());
            reports.push(pool.submit(limited()).await.unwrap().report);
        }
        builder.join().unwrap();
        assert_eq!((reports[0].stats, reports[0].lower_bound), (reports[1].stats, reports[1].lower_bound));
        assert!(reports[0].is_repeatable() && reports[0].search_stopped == Some(StopReason::Expanded));
    }

    #[tokio::test]
    async fn a_draining_pool_rejects_jobs() {
        let pool = pool(1, 1);
        pool.drain();
        assert_eq!(pool.submit(easy()).await.unwrap_err(), ServiceError::ShuttingDown);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn other_work_has_a_place_a_deadline_and_an_end() {
        let pool = Pool::new(PoolSettings { threads: 1, ..settings(1, 2) }, Arc::default(), Metrics::default());
        assert_eq!(pool.run_work(Duration::from_secs(60), || 7).await, Ok(7));
        // The search holds the only thread.
        let busy = begun(&pool, hard(Duration::from_secs(3600))).await;
        let waited = pool.run_work(Duration::from_millis(20), || 7).await;
        assert!(matches!(waited, Err(ServiceError::Overloaded { cause: Overload::WorkWaited, .. })));
        let waiting: Vec<_> = (0..2)
            .map(|_| {
                let pool = Arc::clone(&pool);
                tokio::spawn(async move { pool.run_work(Duration::from_secs(3600), || 7).await })
            })
            .collect();
        while pool.load().waiting < 2 {
            tokio::task::yield_now().await;
        }
        let rejected = pool.run_work(Duration::from_secs(3600), || 7).await;
        assert!(matches!(rejected, Err(ServiceError::Overloaded { cause: Overload::QueueFull, .. })));
        pool.drain();
        assert_eq!(pool.run_work(Duration::from_secs(60), || 7).await, Err(ServiceError::ShuttingDown));
        pool.cancel_all();
        for waiting in waiting {
            assert_eq!(waiting.await.unwrap(), Err(ServiceError::ShuttingDown));
        }
        assert_eq!(busy.await.unwrap().unwrap_err(), ServiceError::ShuttingDown);
    }

    #[tokio::test]
    async fn a_time_limit_stops_the_search() {
        let report = pool(1, 0).submit(hard(Duration::from_millis(30))).await.unwrap().report;
        assert_eq!(report.stopped, Some(StopReason::Time));
        assert!(report.solution.is_none());
        assert!(report.lower_bound > 0);
    }
}
