//! Entry point of the layer: settings and limits, start and shutdown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use taquin_bulk::{Draw, DrawError, DrawnBoard, LoadedTables, RequestedLimits, Seeds, draw_boards, draw_boards_with};
use taquin_solver::heuristic::{DistanceTable, TilePatterns};
use taquin_solver::search::Distribution;
use taquin_solver::solver::{AttemptCheck, PatternExplanation, explain, explain_patterns, nodes_of_plan, nodes_within};
use taquin_solver::{
    Algorithm, Attempt, Board, Control, Explanation, HeuristicKind, Limits, Metric, Path, Plan, Puzzle, SearchRequest,
    Size, StopReason, Trail,
};
use tokio::time::timeout;

use crate::service::analysis::{AnalysisError, AnalysisParts, Analyst, LegalMoves};
use crate::service::hint::{self, Hint, HintCache};
use crate::service::instant::{is_draw_instant, is_explanation_instant};
use crate::service::job::{Answer, ServiceError};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::pool::{BulkError, BulkHandle, BulkLoad, BulkWork, CacheUsage, Load, Pool, Subscription};
use crate::service::reply_memory::{ReplyMemory, ReplyOwner, Reservation};
use crate::service::settings::ServiceSettings;
use crate::service::tables::{BackgroundBuilder, Tables};

/// The service: the settings, the pool, the tables and the caches.
#[derive(Debug)]
pub struct Service {
    settings: ServiceSettings,
    tables: Arc<Tables>,
    metrics: Metrics,
    pool: Arc<Pool>,
    hint_cache: HintCache,
    reply_memory: Arc<ReplyMemory>,
    is_ready: Arc<AtomicBool>,
}

impl Service {
    /// Starts the pool, and the background thread that builds tables. The service accepts jobs at once. If a table is
    /// missing, the job that needs the table builds it.
    pub fn start(settings: ServiceSettings) -> Arc<Self> {
        let tables = Arc::new(Tables::new(settings.table_memory, settings.table_cache.clone()));
        let is_ready = Arc::new(AtomicBool::new(false));
        let builder = BackgroundBuilder {
            tables: Arc::clone(&tables),
            is_ready: Arc::clone(&is_ready),
            ready: settings.ready,
            tier: settings.tables,
        };
        // Without the thread, the service never becomes ready.
        if let Err(error) = std::thread::Builder::new().spawn(move || builder.run()) {
            tracing::error!(target: "taquin::tables", %error, "the system refuses a thread to build tables");
        }
        let metrics = Metrics::default();
        let hint_cache = HintCache::new(settings.hint_memory());
        let pool = Pool::new(&settings, Arc::clone(&tables), metrics.clone());
        let reply_memory = ReplyMemory::new(settings.reply_memory);
        Arc::new(Self { settings, tables, metrics, pool, hint_cache, reply_memory, is_ready })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &ServiceSettings {
        &self.settings
    }

    /// Returns the tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Returns the counters and histograms.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the workers and the memory in use.
    pub fn load(&self) -> Load {
        self.pool.load()
    }

    /// Returns the number of entries and bytes of the result cache and the hint cache together.
    pub fn cache_usage(&self) -> CacheUsage {
        let (answers, hints) = (self.pool.cache_usage(), self.hint_cache.usage());
        CacheUsage { entries: answers.entries + hints.entries, bytes: answers.bytes + hints.bytes }
    }

    /// Returns true once the tables that the settings require are built.
    pub fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// Runs a job on the pool. A job that is answered at once has no log line of its own: the caller adds the fields of
    /// the job to the log line of the request.
    ///
    /// Dropping the future dequeues the job or stops its search, unless another caller waits for an equal job.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub fn submit(&self, job: SearchRequest) -> impl Future<Output = Result<Answer, ServiceError>> + Send {
        self.pool.submit(job)
    }

    /// Runs one of several jobs of a request. The job has its own log line, even if the job is answered at once.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn submit_logged(&self, job: SearchRequest) -> Result<Answer, ServiceError> {
        self.pool.submit_logged(job).await
    }

    /// Starts a job, and returns a subscription to its progress once the job is admitted or finished.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn watch(&self, job: SearchRequest) -> Result<Subscription, ServiceError> {
        self.pool.watch(job).await
    }

    /// Registers bulk work, which runs on workers that no search can use. The work runs until the work is done, the
    /// handle is dropped, or [`cancel_all`](Self::cancel_all) is called. Each search of the work may use as many bytes
    /// of memory as `bulk.search_memory` of the [settings](Self::settings).
    ///
    /// # Errors
    /// See [`BulkError`].
    pub fn bulk(&self, work: Arc<dyn BulkWork>) -> Result<BulkHandle, BulkError> {
        self.pool.bulk(work)
    }

    /// Runs work other than a search, with a worker and `bytes` bytes of the memory for searches. The work has the
    /// default time limit. Like a search, the work may be stopped, and then starts again.
    ///
    /// # Errors
    /// [`ServiceError`] if there is no capacity.
    pub async fn run<T: Send + 'static>(
        &self,
        bytes: u64,
        work: impl Fn(Control<'_>) -> T + Send + Sync + 'static,
    ) -> Result<T, ServiceError> {
        self.pool.run_work(self.settings.default_time, bytes, work).await
    }

    /// Returns the bulk work in progress.
    pub fn bulk_load(&self) -> BulkLoad {
        self.pool.bulk_load()
    }

    /// Returns the best known solution of a puzzle. The solution is one of three: the result of [`auto`](Plan::auto),
    /// the rest of a cached solution of an earlier hint, or the rest of `trail`, a path that the client knows. A trail
    /// counts only if the start of the puzzle is a board on the trail, or is one move away from such a board.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn hint(
        &self,
        puzzle: Puzzle,
        trail: Option<&Path>,
        requested: RequestedLimits,
    ) -> Result<Hint, ServiceError> {
        let plan = Plan::auto(puzzle.size());
        let limits = self.limits(puzzle.size(), &plan, hint::limits(&plan, requested));
        let job = SearchRequest::new(puzzle, plan, limits);
        let trail = trail.and_then(|path| Trail::of(&puzzle, path));
        self.hint_cache.hint(job, trail, &self.pool, &self.metrics).await
    }

    /// Draws a board for a goal with each seed. Equal seeds draw equal boards.
    ///
    /// # Errors
    /// [`ServiceError`] if there is no capacity. [`DrawError`], as the inner error, if no such board exists, or if no
    /// such board is found within the default time limit.
    pub async fn draw(
        &self,
        goal: Board,
        how: Draw,
        seeds: Seeds,
    ) -> Result<Result<Vec<DrawnBoard>, DrawError>, ServiceError> {
        if is_draw_instant(&goal, &how, seeds.count(), self.tables.small()) {
            return Ok(draw_boards(&goal, &how, &seeds, &*self.tables));
        }
        if let Err(error) = how.check(&goal, self.tables.small()) {
            return Ok(Err(error));
        }
        let loaded = if how.needs_proof(&goal) {
            // If the patterns are not loaded in time, the proofs run without patterns and take longer.
            let wait = self.settings.default_time / 4;
            let patterns = timeout(wait, self.tables.pattern_cache.get_async(goal.size(), goal.blank(), false)).await;
            let patterns = patterns.ok().and_then(Result::ok);
            LoadedTables { are_missing: patterns.is_none(), patterns }
        } else {
            LoadedTables::default()
        };
        let (tables, bytes) = (Arc::clone(&self.tables), how.proof_bytes(&goal));
        let work =
            move |control: Control<'_>| draw_boards_with(&goal, &how, &seeds, (&*tables, loaded.clone()), control);
        self.pool.run_work(self.settings.default_time, bytes, work).await
    }

    /// Replays an attempt. Returns the distances of the first and the last board from the goal, and the requested
    /// parts.
    ///
    /// # Errors
    /// See [`AnalysisError`].
    pub async fn check_attempt(
        &self,
        (start, goal): (Board, Board),
        attempt: Attempt,
        parts: AnalysisParts,
        requested: RequestedLimits,
    ) -> Result<AttemptCheck, AnalysisError> {
        self.analyst(start.size(), requested).check_attempt(start, goal, attempt, parts).await
    }

    /// Returns the legal moves of a board. Each move has the distance of the board after the move.
    ///
    /// # Errors
    /// See [`AnalysisError`].
    pub async fn legal_moves(
        &self,
        start: Board,
        goal: Board,
        requested: RequestedLimits,
    ) -> Result<LegalMoves, AnalysisError> {
        self.analyst(start.size(), requested).legal_moves(start, goal).await
    }

    fn analyst(&self, size: Size, requested: RequestedLimits) -> Analyst<'_> {
        let limits = self.limits(size, &Plan::auto(size), requested);
        Analyst { pool: &self.pool, tables: &self.tables, work_time: self.settings.default_time, limits }
    }

    /// Estimates the distance of a puzzle's start by every heuristic that serves the puzzle. This function runs no
    /// search, and builds no pattern tables.
    ///
    /// # Errors
    /// [`ServiceError`] if there is no capacity.
    pub async fn explain(&self, puzzle: Puzzle) -> Result<Explanation, ServiceError> {
        let (is_instant, tables) =
            (is_explanation_instant(puzzle.goal(), self.tables.small()), Arc::clone(&self.tables));
        self.pool.run_quick_work(is_instant, self.settings.default_time, move || explain(&puzzle, &*tables)).await
    }

    /// Builds the tables of chosen patterns on a worker, and estimates the start of a puzzle by them. The inner error
    /// is the reason why the construction ended early.
    ///
    /// # Errors
    /// [`ServiceError`] if there is no capacity.
    pub async fn explain_patterns(
        &self,
        puzzle: Puzzle,
        patterns: TilePatterns,
    ) -> Result<Result<PatternExplanation, StopReason>, ServiceError> {
        let work = move |control: Control<'_>| explain_patterns(&puzzle, &patterns, control);
        self.pool.run_work(self.settings.default_time, patterns.bytes(), work).await
    }

    /// Returns the number of boards at each optimal length in a metric. Returns `None` if the numbers are unknown for
    /// the shape and the blank's cell of the goal.
    ///
    /// # Errors
    /// [`ServiceError`] if there is no capacity.
    pub async fn distribution(&self, metric: Metric, goal: &Board) -> Result<Option<Distribution<'_>>, ServiceError> {
        let (size, goal_blank) = (goal.size(), goal.blank());
        let is_known = !DistanceTable::serves(size) || self.tables.small().has_distances_in(metric, size, goal_blank);
        if !is_known {
            let tables = Arc::clone(&self.tables);
            let build = move || tables.small().distances_in(metric, size, goal_blank).bytes();
            self.pool.run_quick_work(false, self.settings.default_time, build).await?;
        }
        Ok(self.tables.small().distribution(metric, size, goal_blank))
    }

    /// Returns the limits in force for a search: the requested limits, capped by the settings.
    pub fn limits(&self, size: Size, plan: &Plan, requested: RequestedLimits) -> Limits {
        Limits {
            time: requested.time.unwrap_or(self.settings.default_time).min(self.settings.max_time),
            expanded: requested.expanded.unwrap_or(u64::MAX).min(self.settings.max_expanded),
            nodes: requested
                .nodes
                .unwrap_or(u64::MAX)
                .min(nodes_of_plan(self.settings.search_memory, size, plan) / plan.node_budget_divisor()),
        }
    }

    /// Returns the limits in force for consecutive searches of one request. Each search has limits as in
    /// [`limits`](Self::limits). If the time limits exceed the maximum of one search in total, each time limit is
    /// shortened in proportion.
    pub fn limits_for_all(&self, size: Size, searches: &[(Plan, RequestedLimits)]) -> Vec<Limits> {
        let limits = searches.iter().map(|(plan, requested)| self.limits(size, plan, *requested));
        let limits: Vec<Limits> = limits.collect();
        let whole: Duration = limits.iter().map(|limits| limits.time).sum();
        let part = (self.settings.max_time.as_secs_f64() / whole.as_secs_f64()).min(1.0);
        // A time limit has whole milliseconds, the unit of the API.
        let share = |time: Duration| Duration::from_millis(((time.as_millis() as f64 * part) as u64).max(1));
        let shared = |limits: Limits| Limits { time: share(limits.time), ..limits };
        limits.into_iter().map(shared).collect()
    }

    /// Returns the maximum number of nodes that a search may hold in memory.
    pub fn max_nodes(&self, size: Size, algorithm: Algorithm, heuristic: HeuristicKind) -> u64 {
        nodes_within(self.settings.search_memory, size, algorithm, heuristic)
    }

    /// Returns true once [`Service::drain`] was called.
    pub fn is_draining(&self) -> bool {
        self.pool.is_draining()
    }

    /// Rejects new jobs and bulk work from now on. Jobs in the pool continue.
    pub fn drain(&self) {
        self.pool.drain();
    }

    /// Stops all jobs, and ends all bulk work.
    pub fn cancel_all(&self) {
        self.pool.cancel_all();
    }

    /// Waits until no job and no slice of bulk work runs.
    pub async fn idle(&self) {
        /// Interval of checks. The wait ends at most one interval after the last job or slice.
        const POLL_INTERVAL: Duration = Duration::from_millis(1);
        while self.load().begun > 0 || self.bulk_load().slices > 0 {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    /// Reserves `bytes` bytes for a batch or a long response, until the reservation is dropped. A request for more than
    /// the largest possible reservation receives the largest possible reservation. Large reservations leave a part of
    /// the memory to small reservations.
    ///
    /// # Errors
    /// [`ServiceError::ReplyMemoryFull`] if no memory is left, or if the owner has used its share.
    pub fn reserve_reply(&self, owner: Option<ReplyOwner>, bytes: usize) -> Result<Reservation, ServiceError> {
        self.reply_memory.reserve(owner, bytes as u64).ok_or_else(|| self.reply_memory_full())
    }

    /// Grows a reservation to `bytes` bytes.
    ///
    /// # Errors
    /// See [`reserve_reply`](Self::reserve_reply). After an error, the reservation is unchanged.
    pub fn grow_reply(&self, reservation: &mut Reservation, bytes: usize) -> Result<(), ServiceError> {
        if reservation.grow(bytes as u64) { Ok(()) } else { Err(self.reply_memory_full()) }
    }

    /// Returns the memory that is reserved for batches and for long responses in transfer, in bytes.
    pub fn reply_bytes(&self) -> u64 {
        self.reply_memory.held()
    }

    fn reply_memory_full(&self) -> ServiceError {
        self.metrics.refused(Refusal::ReplyMemoryFull);
        ServiceError::ReplyMemoryFull
    }
}
