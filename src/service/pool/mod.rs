//! The worker pool: admission, and searches on blocking threads.

mod admission;
mod progress;
mod result_cache;
mod scheduler;
mod subscription;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout_at;
use tracing::{Level, Span};

use admission::{Place, Places};
use progress::Sight;
use result_cache::{Answers, Flight};
use scheduler::{Patience, Turn, Turns};

pub use progress::Found;
pub use result_cache::Kept;
pub use scheduler::Load;
pub use subscription::{Seen, Watching};

use crate::domain::{Packed, Packed64};
use crate::search::heuristic::GoalClass;
use crate::search::{HeuristicKind, Named, Observer, StopReason};
use crate::service::job::{Hook, Job};
use crate::service::metrics::{Metrics, Refusal, Stage};
use crate::service::report::{Answer, Origin, Report, ServiceError};
use crate::service::solver::{self, JobTables, Means, bytes_for};
use crate::service::spans::{SearchSpan, TraceContext};
use crate::service::tables::{Loaded, NoRoom, Tables};

/// Runs jobs on blocking threads, no more at a time than it has workers.
///
/// A job takes a place in the house, at once or not at all; then it waits for its turn, until its
/// deadline at most. Place and turn move into the search's closure, so they are free only when the
/// search has really stopped. What waits for its first turn is nothing but a future.
#[derive(Debug)]
pub struct Pool {
    places: Arc<Places>,
    turns: Arc<Turns>,
    answers: Arc<Answers>,
    tables: Arc<Tables>,
    metrics: Metrics,
    is_draining: AtomicBool,
    /// Raised when every search is to stop, and who waits for anything is told.
    cancel_all: Arc<AtomicBool>,
    closing: watch::Sender<bool>,
    before_search: Option<Hook>,
}

/// What a pool has.
#[derive(Clone, Copy, Debug)]
pub struct PoolSettings {
    /// Searches at a time.
    pub workers: usize,
    /// Jobs that wait beside them.
    pub queue: usize,
    /// Bytes for all searches.
    pub memory: u64,
    /// Bytes for answers that are kept.
    pub answers: u64,
    /// Done before each search.
    pub before_search: Option<Hook>,
}

/// What becomes of a job at once.
enum Begun {
    /// It is over.
    Over(Answer),
    /// It is searched, by whomever.
    Going(Flight, Origin),
}

/// Stops a search, queued or not, whose future is dropped.
struct Leash {
    pool: Arc<Pool>,
    cancel: Arc<AtomicBool>,
    /// Whose turn it is, once it is.
    number: Option<u64>,
    is_over: bool,
}

impl Drop for Leash {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.cancel.store(true, Ordering::Relaxed);
        self.number.inspect(|number| self.pool.turns.wake(*number));
        let stage = if self.number.is_some() { Stage::Searching } else { Stage::Queued };
        self.pool.metrics.cancelled(stage);
    }
}

impl Pool {
    /// A pool with nothing in hand.
    pub fn new(settings: PoolSettings, tables: Arc<Tables>, metrics: Metrics) -> Arc<Self> {
        let PoolSettings { workers, queue, memory, answers, before_search } = settings;
        Arc::new(Self {
            places: Places::new(workers + queue, workers),
            turns: Turns::new(workers, memory),
            answers: Answers::new(answers),
            tables,
            metrics,
            is_draining: AtomicBool::new(false),
            cancel_all: Arc::default(),
            closing: watch::Sender::new(false),
            before_search,
        })
    }

    /// Runs a job. Its time counts from now. The same job asked for again while it runs is not run
    /// twice, and stops when nobody waits for it any more; what came of it is kept if it would come out
    /// the same again.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn submit(self: &Arc<Self>, job: Job) -> Result<Answer, ServiceError> {
        match self.begin(&job)? {
            Begun::Over(answer) => Ok(answer),
            Begun::Going(flight, origin) => Ok(Answer { report: flight.await?, origin }),
        }
    }

    /// The same, watched: it comes back when the job has its place in the house, or is over.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn watch(self: &Arc<Self>, job: Job) -> Result<Watching, ServiceError> {
        match self.begin(&job)? {
            Begun::Over(answer) => Ok(Watching::over(answer)),
            Begun::Going(flight, origin) => Watching::begin(&job, flight, origin).await,
        }
    }

    /// Answers a job where it is, or begins or joins its search.
    fn begin(self: &Arc<Self>, job: &Job) -> Result<Begun, ServiceError> {
        if self.is_draining() {
            self.metrics.refused(Refusal::Draining);
            return Err(ServiceError::ShuttingDown);
        }
        if self.is_instant(job) {
            let span = SearchSpan::begin();
            let report = solver::solve(job, &self.tables, Means::default());
            self.observe(job, &report, span);
            return Ok(Begun::Over(Answer { report: Arc::new(report?), origin: Origin::Search }));
        }
        if let Some(report) = self.answers.find(job) {
            self.metrics.answered_from(Origin::Kept);
            return Ok(Begun::Over(Answer { report, origin: Origin::Kept }));
        }
        let begin = |sight| Arc::clone(self).run(job.clone(), sight, Asker::current());
        let (flight, is_first) = self.answers.join(job, begin);
        let origin = if is_first { Origin::Search } else { Origin::Joined };
        self.metrics.answered_from(origin);
        Ok(Begun::Going(flight, origin))
    }

    async fn run(self: Arc<Self>, job: Job, sight: Arc<Sight>, asker: Asker) -> Result<Report, ServiceError> {
        let submitted = Instant::now();
        let deadline = submitted + job.limits.time;
        let place = self.places.take(deadline).map_err(|retry_after| {
            self.metrics.refused(Refusal::QueueFull);
            ServiceError::Overloaded { retry_after, waited: false }
        })?;
        sight.admit();
        let cancel = Arc::new(AtomicBool::new(false));
        let mut leash = Leash { pool: Arc::clone(&self), cancel: Arc::clone(&cancel), number: None, is_over: false };
        let prepared = self.unless_closing(self.prepare(job, submitted)).await?;
        let (job, patterns, tables_were_late) = match prepared.inspect_err(|_| leash.is_over = true)? {
            Prepared::Ready { job, patterns, tables_were_late } => (job, patterns, tables_were_late),
            Prepared::TooLate(job) => {
                leash.is_over = true;
                self.metrics.waited(submitted.elapsed());
                return self.too_late(job, place, asker).await;
            }
        };
        let patience = Patience { deadline: Some(deadline), flags: [cancel, Arc::clone(&self.cancel_all)] };
        let turn = self.turns.take(bytes_for(&job), patience.clone());
        let turn = self.unless_closing(timeout_at(deadline.into(), turn)).await?.map_err(|_| {
            leash.is_over = true;
            self.metrics.refused(Refusal::Waited);
            self.metrics.waited(submitted.elapsed());
            ServiceError::Overloaded { retry_after: self.places.another_time(deadline), waited: true }
        })?;
        leash.number = Some(turn.number());
        let search = Search { job, patterns, patience, turn, sight, _place: place, queued: submitted.elapsed() };
        let report = self.on_a_thread(asker, move |pool| search.make(pool)).await;
        leash.is_over = true;
        let report = Report { tables_were_late, ..report? };
        // Nobody but the end of the grace period cancels a job that somebody still waits for.
        if report.stopped == Some(StopReason::Cancelled) { Err(ServiceError::ShuttingDown) } else { Ok(report) }
    }

    /// A job with the patterns that it needs, if it needs any. One that can do without waits for them a part of its time,
    /// and one for a proof on a large board for strong ones, which save it more.
    async fn prepare(&self, job: Job, submitted: Instant) -> Result<Prepared, ServiceError> {
        /// Of the time of a job that can do without.
        const SHARE: u32 = 4;
        let Job { puzzle, plan, limits, .. } = &job;
        let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
        if plan.heuristic != HeuristicKind::PatternDatabase || !GoalClass::serves(size) {
            return Ok(Prepared::Ready { job, patterns: None, tables_were_late: false });
        }
        let patience = if plan.is_heuristic_open { limits.time / SHARE } else { limits.time };
        let patterns = timeout_at((submitted + patience).into(), self.tables.ready_patterns(size, goal_blank)).await;
        let patterns = match patterns {
            Ok(Ok(small)) if plan.require_optimal && size.cells() > Packed64::MAX_CELLS => {
                let stronger = self.tables.stronger_patterns(Arc::clone(&small));
                Ok(Ok(timeout_at((submitted + limits.time / SHARE).into(), stronger).await.unwrap_or(small)))
            }
            other => other,
        };
        let is_heuristic_open = plan.is_heuristic_open;
        let without = |job: Job| Job { plan: job.plan.without_tables(), ..job };
        match patterns {
            Ok(Ok(patterns)) => Ok(Prepared::Ready { job, patterns: Some(patterns), tables_were_late: false }),
            Ok(Err(NoRoom { bytes })) if !is_heuristic_open => Err(ServiceError::NoRoomForTables { bytes }),
            Err(_) if !is_heuristic_open => Ok(Prepared::TooLate(job)),
            other => Ok(Prepared::Ready { job: without(job), patterns: None, tables_were_late: other.is_err() }),
        }
    }

    /// Waits for something, but not beyond the end of the grace period.
    async fn unless_closing<T>(&self, something: impl Future<Output = T>) -> Result<T, ServiceError> {
        let mut closing = self.closing.subscribe();
        tokio::select! {
            biased;
            _ = closing.wait_for(|is_closing| *is_closing) => Err(ServiceError::ShuttingDown),
            something = something => Ok(something),
        }
    }

    async fn on_a_thread<F>(self: &Arc<Self>, asker: Asker, work: F) -> Result<Report, ServiceError>
    where
        F: FnOnce(&Self) -> Result<Report, ServiceError> + Send + 'static,
    {
        let pool = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || asker.in_scope(|| work(&pool))).await;
        done.unwrap_or_else(|_| {
            self.metrics.panicked();
            Err(ServiceError::Failed("a search panicked"))
        })
    }

    /// Answers without a search, which takes a moment at most.
    async fn too_late(self: &Arc<Self>, job: Job, place: Place, asker: Asker) -> Result<Report, ServiceError> {
        self.on_a_thread(asker, move |pool| {
            let _place = place;
            let span = SearchSpan::begin();
            let report = solver::too_late(&job, &pool.tables);
            pool.observe(&job, &report, span);
            report
        })
        .await
    }

    /// Whether a job costs less than to hand it to another thread: then it is done where it is, and
    /// takes no place from searches (docs/adr/0010).
    fn is_instant(&self, job: &Job) -> bool {
        let (size, goal_blank) = (job.puzzle.size(), job.puzzle.goal().blank());
        job.plan.is_instant() && self.tables.has_distances(size, goal_blank)
    }

    /// What is held of workers and memory.
    pub fn load(&self) -> Load {
        self.turns.load()
    }

    /// What is kept of answers.
    pub fn kept(&self) -> Kept {
        self.answers.kept()
    }

    /// Whether jobs are refused.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Refuses jobs from now on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Stops every search, and whoever waits for one.
    pub fn cancel_all(&self) {
        self.cancel_all.store(true, Ordering::Relaxed);
        self.closing.send_replace(true);
        self.turns.wake_all();
    }

    /// Counts a job that has ended, ends its span, and writes its one event.
    fn observe(&self, job: &Job, report: &Result<Report, ServiceError>, span: SearchSpan) {
        span.end(job, report);
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                tracing::event!(target: "taquin::job", Level::ERROR, puzzle.size = job.puzzle.size().name(), puzzle.start = %job.puzzle.start(), %error, "job failed");
                return;
            }
        };
        self.metrics.finished(job, report);
        tracing::event!(
            target: "taquin::job",
            Level::INFO,
            // A string is written as it is, where format arguments take a detour.
            message = "job finished",
            puzzle.size = job.puzzle.size().name(),
            search.algorithm = report.algorithm.name(),
            search.heuristic = report.heuristic.name(),
            search.expanded = report.stats.expanded,
            search.generated = report.stats.generated,
            search.length = report.solution.as_ref().map(|solution| solution.path.len()),
            search.lower_bound = report.lower_bound,
            search.elapsed_us = report.elapsed.as_micros() as u64,
            job.queued_us = report.queued.as_micros() as u64,
            job.outcome = report.outcome(),
        );
    }
}

/// What a job can be done with.
enum Prepared {
    Ready {
        job: Job,
        patterns: Option<Arc<Loaded>>,
        tables_were_late: bool,
    },
    /// Its time was over before.
    TooLate(Job),
}

/// A search whose turn it is, with all that it holds until it has ended.
struct Search {
    job: Job,
    patterns: Option<Arc<Loaded>>,
    patience: Patience,
    turn: Turn,
    sight: Arc<Sight>,
    _place: Place,
    queued: Duration,
}

impl Search {
    fn make(self, pool: &Pool) -> Result<Report, ServiceError> {
        let Self { job, patterns, patience, turn, sight, queued, .. } = &self;
        let span = SearchSpan::begin();
        if let Some(before_search) = pool.before_search {
            before_search(job);
        }
        let cancel: [&AtomicBool; 2] = [&patience.flags[0], &patience.flags[1]];
        let (deadline, observer) = (patience.deadline, Some(&**sight as &dyn Observer));
        let means = Means { deadline, cancel: &cancel, helpers: Some(turn), observer };
        let tables = JobTables::with_patterns(&pool.tables, patterns.clone());
        let report = solver::solve_with(job, &tables, means);
        let (worked, paused) = turn.times();
        pool.places.learn(worked);
        pool.metrics.waited(*queued + paused);
        let report = report.map(|report| Report {
            // What was told is proven, whenever it was.
            lower_bound: report.lower_bound.max(sight.lower_bound()),
            queued: *queued + paused,
            elapsed: report.elapsed.saturating_sub(paused),
            ..report
        });
        pool.observe(job, &report, span);
        report
    }
}

/// Who asked first: in that name the job is done, whoever else waits for it and drives it on.
struct Asker {
    span: Span,
    trace: TraceContext,
}

impl Asker {
    fn current() -> Self {
        Self { span: Span::current(), trace: TraceContext::current() }
    }

    fn in_scope<T>(self, work: impl FnOnce() -> T) -> T {
        let Self { span, trace } = self;
        trace.in_scope(|| span.in_scope(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Encoding, Puzzle, RawBoard, Sides};
    use crate::search::Algorithm;
    use crate::service::{Limits, Plan, Wish};

    fn job(start: &str, algorithm: Option<Algorithm>, time: Duration) -> Job {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let plan = Plan::try_new(&Wish { algorithm, ..Wish::default() }, puzzle.size()).unwrap();
        Job { puzzle, plan, limits: Limits { time, expanded: u64::MAX, nodes: u64::MAX }, expansions: 0, states: false }
    }

    fn easy() -> Job {
        job("8 6 7/2 5 4/3 0 1", None, Duration::from_secs(60))
    }

    /// Searches for hours.
    fn hard(time: Duration) -> Job {
        job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::IterativeDeepening), time)
    }

    /// As long, and with nodes in memory.
    fn stored(time: Duration) -> Job {
        job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::BreadthFirst), time)
    }

    fn settings(workers: usize, queue: usize) -> PoolSettings {
        PoolSettings { workers, queue, memory: u64::MAX / 2, answers: 1 << 20, before_search: None }
    }

    fn pool(workers: usize, queue: usize) -> Arc<Pool> {
        Pool::new(settings(workers, queue), Arc::default(), Metrics::default())
    }

    /// Submits a job on a task of its own, and waits until it has begun.
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
    async fn a_job_is_solved_and_its_places_come_back() {
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
        assert!(matches!(pool.submit(easy()).await, Err(ServiceError::Overloaded { waited: false, .. })));
        submitted.abort();
        // The turn comes back only when the search has stopped; one that does not hangs the test.
        while pool.load() != Load::default() {
            tokio::task::yield_now().await;
        }
        assert!(pool.submit(easy()).await.is_ok());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_job_whose_time_runs_out_in_the_queue_is_refused() {
        let pool = Pool::new(PoolSettings { memory: 1 << 20, ..settings(1, 1) }, Arc::default(), Metrics::default());
        let busy = begun(&pool, stored(Duration::from_secs(3600))).await;
        let waiting = Job {
            limits: Limits { time: Duration::from_millis(20), ..stored(Duration::ZERO).limits },
            ..stored(Duration::ZERO)
        };
        assert!(matches!(pool.submit(waiting).await, Err(ServiceError::Overloaded { waited: true, .. })));
        pool.cancel_all();
        assert_eq!(busy.await.unwrap().unwrap_err(), ServiceError::ShuttingDown);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn easy_jobs_are_done_while_every_worker_has_a_hard_one() {
        let pool = pool(2, 8);
        let mut hard_ones = Vec::new();
        for nth in 0..4 {
            hard_ones.push(begun(&pool, hard(Duration::from_secs(3600 + nth))).await);
        }
        for _ in 0..20 {
            let job = job("1 2 3/4 5 6/7 0 8", Some(Algorithm::IterativeDeepening), Duration::from_secs(60));
            assert!(pool.submit(job).await.unwrap().report.is_optimal());
        }
        assert_eq!(pool.load().begun, 4, "the hard ones go on");
        pool.cancel_all();
        for hard_one in hard_ones {
            assert_eq!(hard_one.await.unwrap().unwrap_err(), ServiceError::ShuttingDown);
        }
        assert_eq!(pool.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_question_asked_many_times_at_once_is_one_search_until_the_last_leaves() {
        let pool = pool(1, 0);
        let first = begun(&pool, hard(Duration::from_secs(3600))).await;
        let others: Vec<_> = (0..100)
            .map(|_| {
                let pool = Arc::clone(&pool);
                tokio::spawn(async move { pool.submit(hard(Duration::from_secs(3600))).await })
            })
            .collect();
        // There is one place: who did not join would be refused.
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(others.iter().all(|other| !other.is_finished()));
        first.abort();
        others[1..].iter().for_each(|other| other.abort());
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(pool.load().begun, 1, "somebody still waits");
        others[0].abort();
        while pool.load() != Load::default() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_would_come_out_the_same_is_kept_and_what_time_ended_is_not() {
        let pool = pool(1, 0);
        let repeatable = || job("1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15", None, Duration::from_secs(60));
        assert_eq!(pool.submit(repeatable()).await.unwrap().origin, Origin::Search);
        assert_eq!(pool.submit(repeatable()).await.unwrap().origin, Origin::Kept);
        for _ in 0..2 {
            let stopped = pool.submit(hard(Duration::from_millis(20))).await.unwrap();
            assert_eq!((stopped.origin, stopped.report.stopped), (Origin::Search, Some(StopReason::Time)));
        }
        assert_eq!(pool.kept().entries, 1);
    }

    #[tokio::test]
    async fn a_panic_costs_one_job() {
        let hook: Hook = |job| assert!(job.limits.expanded != 13, "as asked for");
        let settings = PoolSettings { before_search: Some(hook), ..settings(1, 0) };
        let pool = Pool::new(settings, Arc::default(), Metrics::default());
        let mut unlucky = easy();
        unlucky.limits.expanded = 13;
        // Tables are not built yet, so that it is not done at once.
        assert_eq!(pool.submit(unlucky).await.unwrap_err(), ServiceError::Failed("a search panicked"));
        assert_eq!(pool.load(), Load::default());
        assert!(pool.submit(easy()).await.is_ok());
    }

    #[tokio::test]
    async fn tables_that_come_too_late_leave_an_answer_all_the_same() {
        let pool = pool(1, 0);
        let job = job("9 8 7 6/5 4 3 2/1 0 10 11/12 13 15 14", None, Duration::from_millis(1));
        let report = pool.submit(job).await.unwrap().report;
        assert_eq!((report.algorithm, report.search_stopped), (Algorithm::Constructive, Some(StopReason::Time)));
    }

    #[tokio::test]
    async fn a_draining_pool_takes_no_job() {
        let pool = pool(1, 1);
        pool.drain();
        assert_eq!(pool.submit(easy()).await.unwrap_err(), ServiceError::ShuttingDown);
    }

    #[tokio::test]
    async fn a_time_limit_stops_the_search() {
        let report = pool(1, 0).submit(hard(Duration::from_millis(30))).await.unwrap().report;
        assert_eq!(report.stopped, Some(StopReason::Time));
        assert!(report.solution.is_none());
        assert!(report.lower_bound > 0);
    }
}
