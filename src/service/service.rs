//! The service: starts the pool and the tables, applies the settings to requests and passes jobs on.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::domain::{Attempt, Board, Puzzle, Size};
use crate::search::heuristic::Tier;
use crate::search::{Algorithm, HeuristicKind};
use crate::service::distance::{self, Verdict, judge};
use crate::service::hint::{self, Hint, Trails};
use crate::service::job::{Hook, Job, LimitWish, Limits};
use crate::service::metrics::{Metrics, Refusal};
use crate::service::plan::Plan;
use crate::service::pool::{Kept, Load, Pool, PoolSettings, Watching};
use crate::service::random::{self, Draw, DrawError, Drawn, draw};
use crate::service::reply_memory::{HeldReport, ReplyMemory, Reservation};
use crate::service::report::{Answer, Report, ServiceError};
use crate::service::solver::nodes_within;
use crate::service::tables::{Builder, Tables};

/// What the house may spend, fixed at start.
#[derive(Clone, Debug)]
pub struct ServiceSettings {
    /// Searches that run at one time.
    pub workers: usize,
    /// Jobs that wait beside them.
    pub queue: usize,
    /// The time of a search that names none.
    pub default_time: Duration,
    /// The most time a search may ask for.
    pub max_time: Duration,
    /// The most nodes a search may expand.
    pub max_expanded: u64,
    /// The bytes that the process plans with.
    pub memory: u64,
    /// The most bytes a search may hold in nodes.
    pub search_memory: u64,
    /// The most bytes that answers may take that are kept.
    pub answer_memory: u64,
    /// The most bytes that long answers may take until their clients have taken them.
    pub reply_memory: u64,
    /// The most expansions an answer tells of.
    pub max_expansions: usize,
    /// The strongest pattern tables to have.
    pub tables: Tier,
    /// The most bytes that pattern tables may take that are built on first use.
    pub table_memory: u64,
    /// Where tables are kept between runs, if anywhere.
    pub table_cache: Option<PathBuf>,
    /// Done before each search, by tests.
    pub before_search: Option<Hook>,
}

/// The pool and the tables, under the house's settings.
#[derive(Debug)]
pub struct Service {
    settings: ServiceSettings,
    tables: Arc<Tables>,
    metrics: Metrics,
    pool: Arc<Pool>,
    trails: Trails,
    reply_memory: Arc<ReplyMemory>,
    /// One for each worker, for what takes a moment beside the searches.
    moments: Arc<Semaphore>,
    is_ready: Arc<AtomicBool>,
}

impl Service {
    /// Opens the pool and begins to build the first tables on a thread of their own. Jobs are taken
    /// from the start: one that needs a table that is not there yet builds it.
    pub fn start(settings: ServiceSettings) -> Arc<Self> {
        let tables = Arc::new(Tables::new(settings.table_memory, settings.table_cache.clone()));
        let is_ready = Arc::new(AtomicBool::new(false));
        let builder = Builder { tables: Arc::clone(&tables), is_ready: Arc::clone(&is_ready), tier: settings.tables };
        std::thread::spawn(move || builder.run());
        let metrics = Metrics::default();
        // Of answers that are kept an eighth are solutions that somebody follows.
        let trails = Trails::new(settings.answer_memory / 8);
        let pool = PoolSettings {
            workers: settings.workers,
            queue: settings.queue,
            memory: settings.search_memory.saturating_mul(settings.workers as u64),
            answers: settings.answer_memory - settings.answer_memory / 8,
            before_search: settings.before_search,
        };
        let pool = Pool::new(pool, Arc::clone(&tables), metrics.clone());
        let moments = Arc::new(Semaphore::new(settings.workers));
        let reply_memory = ReplyMemory::new(settings.reply_memory);
        Arc::new(Self { settings, tables, metrics, pool, trails, reply_memory, moments, is_ready })
    }

    /// The settings.
    pub fn settings(&self) -> &ServiceSettings {
        &self.settings
    }

    /// The tables.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// What the house counts.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// What is held of workers and memory.
    pub fn load(&self) -> Load {
        self.pool.load()
    }

    /// What is kept of answers, and of hints.
    pub fn kept(&self) -> Kept {
        let (answers, hints) = (self.pool.kept(), self.trails.kept());
        Kept { entries: answers.entries + hints.entries, bytes: answers.bytes + hints.bytes }
    }

    /// Whether the first tables are built.
    pub fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Acquire)
    }

    /// Runs a job on the pool.
    ///
    /// Dropping the future takes the job from the queue, or stops its search, unless somebody else waits
    /// for the same.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn submit(&self, job: Job) -> Result<Answer, ServiceError> {
        self.pool.submit(job).await
    }

    /// The same, watched: it comes back when the job has its place in the house, or is over.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn watch(&self, job: Job) -> Result<Watching, ServiceError> {
        self.pool.watch(job).await
    }

    /// Returns the next move of the best solution that [`auto`](Plan::auto) finds, or of one that an earlier hint found
    /// and that leads over this board.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn hint(&self, puzzle: Puzzle, wish: LimitWish) -> Result<Hint, ServiceError> {
        let plan = Plan::auto(puzzle.size());
        let limits = self.limits(&puzzle, &plan, hint::limits(&plan, wish));
        let job = Job { puzzle, plan, limits, expansions: 0, states: false };
        self.trails.hint(job, &self.pool, &self.metrics).await
    }

    /// Draws a board for a goal; the same seed draws the same board.
    ///
    /// # Errors
    /// See [`DrawError`].
    pub async fn draw(&self, goal: Board, how: Draw, seed: String) -> Result<Drawn, DrawError> {
        if random::is_instant(&goal, &how, &self.tables) {
            return draw(&goal, &how, &seed, &self.tables);
        }
        let tables = Arc::clone(&self.tables);
        self.aside(move || draw(&goal, &how, &seed, &tables)).await
    }

    /// Makes what somebody did to a board, and tells how far from the goal that led; without a search.
    pub async fn judge(&self, start: Board, goal: Board, attempt: Attempt) -> Verdict {
        if distance::is_instant(&goal, &attempt, &self.tables) {
            return judge(&start, &goal, &attempt, &self.tables);
        }
        let tables = Arc::clone(&self.tables);
        self.aside(move || judge(&start, &goal, &attempt, &tables)).await
    }

    /// The limits in force for a search: what was asked for, within the house's own.
    pub fn limits(&self, puzzle: &Puzzle, plan: &Plan, wish: LimitWish) -> Limits {
        Limits {
            time: wish.time.unwrap_or(self.settings.default_time).min(self.settings.max_time),
            expanded: wish.expanded.unwrap_or(u64::MAX).min(self.settings.max_expanded),
            nodes: wish
                .nodes
                .unwrap_or(u64::MAX)
                .min(self.max_nodes(puzzle.size(), plan.algorithm, plan.heuristic) / plan.parts()),
        }
    }

    /// The limits of searches that somebody waits for one after another: as [`limits`](Self::limits) has them, but
    /// where their times would come to more than the house gives one search, all are made shorter in the same
    /// proportion.
    pub fn limits_of_all(&self, puzzle: &Puzzle, searches: &[(Plan, LimitWish)]) -> Vec<Limits> {
        let limits = searches.iter().map(|(plan, wish)| self.limits(puzzle, plan, *wish));
        let limits: Vec<Limits> = limits.collect();
        let whole: Duration = limits.iter().map(|limits| limits.time).sum();
        let part = (self.settings.max_time.as_secs_f64() / whole.as_secs_f64()).min(1.0);
        // In whole milliseconds, which is how limits are told.
        let share = |time: Duration| Duration::from_millis(((time.as_millis() as f64 * part) as u64).max(1));
        let shared = |limits: Limits| Limits { time: share(limits.time), ..limits };
        limits.into_iter().map(shared).collect()
    }

    /// The most nodes that a search of boards of a shape may hold, with a heuristic.
    pub fn max_nodes(&self, size: Size, algorithm: Algorithm, heuristic: HeuristicKind) -> u64 {
        nodes_within(self.settings.search_memory, size, algorithm, heuristic)
    }

    /// Whether [`Service::drain`] was called.
    pub fn is_draining(&self) -> bool {
        self.pool.is_draining()
    }

    /// Refuses jobs from now on; those in hand go on.
    pub fn drain(&self) {
        self.pool.drain();
    }

    /// Does what takes a moment where no connection waits for it, as much at a time as there are workers; a panic is the
    /// caller's.
    async fn aside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        // Nobody closes it. Whoever leaves while the work goes on leaves the permit with it.
        let permit = Arc::clone(&self.moments).acquire_owned().await.ok();
        let span = tracing::Span::current();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            span.in_scope(work)
        });
        done.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    /// Stops every search.
    pub fn cancel_all(&self) {
        self.pool.cancel_all();
    }

    /// Memory for a long answer, which is to be held until its client has taken it.
    ///
    /// # Errors
    /// [`ServiceError::RepliesWait`] if there is none left.
    pub fn reserve_reply(&self, bytes: usize) -> Result<Reservation, ServiceError> {
        self.reply_memory.reserve(bytes as u64).ok_or_else(|| self.replies_wait())
    }

    /// The same for a report that an answer is written from piece by piece.
    ///
    /// # Errors
    /// [`ServiceError::RepliesWait`] if there is none left.
    pub fn hold(&self, report: &Arc<Report>) -> Result<HeldReport, ServiceError> {
        self.reply_memory.hold(report).ok_or_else(|| self.replies_wait())
    }

    /// What long answers hold that clients have not yet taken.
    pub fn reply_bytes(&self) -> u64 {
        self.reply_memory.held()
    }

    fn replies_wait(&self) -> ServiceError {
        self.metrics.refused(Refusal::RepliesWait);
        ServiceError::RepliesWait
    }
}
