//! Second floor: jobs, the worker pool and the tables. Knows tokio and tracing, but no HTTP.
//!
//! A [`Job`] is a puzzle, a [`Plan`] that is known to make sense for it, and what it may spend;
//! a [`Report`] is what came of it. [`Service::submit`] is the only way from one to the other.

mod distance;
mod hint;
mod metrics;
mod plan;
mod pool;
mod random;
mod reply_memory;
mod solver;
mod spans;
mod tables;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;

pub use distance::{Distance, Verdict, judge};
pub use hint::Hint;
use hint::Trails;
pub use metrics::{Metrics, Origin, Refusal};
pub use plan::{Conflict, Plan, Wish};
pub use pool::{Found, Hook, Kept, Load, Pool, PoolSettings, Seen, Watching};
pub use random::{Draw, DrawError, Drawn, draw, fresh_seed};
use reply_memory::ReplyMemory;
pub use reply_memory::{HeldReport, Reservation};
pub use solver::{Means, solve};
use tables::Builder;
pub use tables::{TableEntry, Tables};

pub use crate::search::heuristic::Tier;

use crate::domain::{Attempt, Board, Puzzle, Size, Tile};
use crate::search::{Algorithm, Expansion, HeuristicKind, Stats, StopReason, Weight};

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

/// What one search may spend. The time counts from submission, so waiting counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// Time from submission to the end of the search.
    pub time: Duration,
    /// Nodes expanded.
    pub expanded: u64,
    /// Nodes in memory.
    pub nodes: u64,
}

/// Limits as asked for; what is absent is the house's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LimitWish {
    /// Time from submission.
    pub time: Option<Duration>,
    /// Nodes expanded.
    pub expanded: Option<u64>,
    /// Nodes in memory.
    pub nodes: Option<u64>,
}

impl LimitWish {
    /// What is absent is as in another wish.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            time: self.time.or(other.time),
            expanded: self.expanded.or(other.expanded),
            nodes: self.nodes.or(other.nodes),
        }
    }
}

/// A search to make.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Job {
    /// What to solve.
    pub puzzle: Puzzle,
    /// How.
    pub plan: Plan,
    /// What it may spend.
    pub limits: Limits,
    /// How many expansions to tell of.
    pub expansions: usize,
    /// Whether to tell the heuristic's value of each board along the solution.
    pub states: bool,
}

/// A replayed solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// The moves.
    pub path: crate::domain::Path,
    /// The tile that slides at each move.
    pub tiles: Vec<Tile>,
}

/// What came of a job.
#[derive(Clone, Debug)]
pub struct Report {
    /// The solution, if there is one, even if it is not all that was required.
    pub solution: Option<Solution>,
    /// The limit that kept the search from what was required.
    pub stopped: Option<StopReason>,
    /// No solution is shorter.
    pub lower_bound: u32,
    /// The algorithm that found the solution or was stopped.
    pub algorithm: Algorithm,
    /// Its heuristic.
    pub heuristic: HeuristicKind,
    /// The weight of h, for weighted A*.
    pub weight: Weight,
    /// Its counters.
    pub stats: Stats,
    /// The first expansions, if asked for.
    pub expansions: Option<Vec<Expansion>>,
    /// The heuristic's value of each board along the solution, the start's first, if asked for.
    pub heights: Vec<u32>,
    /// The limit that stopped the search, even if there is a solution all the same.
    pub search_stopped: Option<StopReason>,
    /// Whether another heuristic had to do, since tables were not there in time.
    pub tables_were_late: bool,
    /// The limits that were in force.
    pub limits: Limits,
    /// From submission to the start of the search.
    pub queued: Duration,
    /// The search and the replay.
    pub elapsed: Duration,
}

/// A report, and where it comes from.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What came of the search.
    pub report: Arc<Report>,
    /// Whose search it was.
    pub origin: Origin,
}

impl Report {
    /// The ways in which a job ends.
    pub const OUTCOMES: [&str; 7] = [
        "solved",
        "solved by fallback",
        "stopped by time",
        "stopped by expanded",
        "stopped by nodes",
        "stopped by depth",
        "cancelled",
    ];

    /// How it ended, in the words of the log and the metrics.
    pub fn outcome(&self) -> &'static str {
        Self::OUTCOMES[self.outcome_index()]
    }

    fn outcome_index(&self) -> usize {
        match (self.search_stopped, self.stopped) {
            (None, _) => 0,
            // It goes on until a limit stops it.
            (Some(_), None) if self.algorithm == Algorithm::Anytime => 0,
            // The search was stopped, and another solution had to do.
            (Some(_), None) => 1,
            (Some(StopReason::Time), _) => 2,
            (Some(StopReason::Expanded), _) => 3,
            (Some(StopReason::Nodes), _) => 4,
            (Some(StopReason::Depth), _) => 5,
            (Some(StopReason::Cancelled), _) => 6,
        }
    }

    /// f of a board along the solution, by the algorithm's own evaluation.
    pub fn f(&self, g: u32, h: u32) -> f64 {
        let (g, h) = (f64::from(g), f64::from(h));
        match self.algorithm {
            Algorithm::GreedyBestFirst => h,
            Algorithm::WeightedAStar => g + h * f64::from(self.weight.hundredths()) / 100.0,
            _ => g + h,
        }
    }

    /// Whether the same question would have the same answer: time alone ends searches now here, now there.
    pub fn is_repeatable(&self) -> bool {
        !self.tables_were_late && !matches!(self.search_stopped, Some(StopReason::Time | StopReason::Cancelled))
    }

    /// Whether the solution is proven to be as short as any.
    pub fn is_optimal(&self) -> bool {
        self.solution.as_ref().is_some_and(|solution| solution.path.len() == self.lower_bound as usize)
    }
}

/// Why a job has no report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ServiceError {
    /// No place in the queue, or the job's time ran out while it waited there.
    #[error("overloaded: try again in {retry_after:?}")]
    Overloaded {
        /// When a place is likely to be free.
        retry_after: Duration,
        /// Whether it waited in vain, rather than being refused at once.
        waited: bool,
    },
    /// The pattern tables that were asked for take more memory than there is for tables.
    #[error("the tables would take {bytes} bytes")]
    NoRoomForTables {
        /// Memory they would take while they are built.
        bytes: u64,
    },
    /// Long answers that clients have not yet taken leave no memory for another.
    #[error("no memory for another long answer")]
    RepliesWait,
    /// The house takes no more jobs, or gave this one up when its grace period ended.
    #[error("shutting down")]
    ShuttingDown,
    /// A bug: the search panicked or its solution did not replay.
    #[error("the search failed: {0}")]
    Failed(&'static str),
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

    /// The next move of a best solution, found as [`auto`](Plan::auto) would find it. Along a solution that was
    /// hinted at before it goes on.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn hint(&self, puzzle: Puzzle, wish: LimitWish) -> Result<Hint, ServiceError> {
        let plan = Plan::auto(puzzle.size());
        let time = wish.time.or(plan.goes_on().then_some(hint::TIME));
        let limits = self.limits(&puzzle, &plan, LimitWish { time, ..wish });
        let known = if self.is_draining() { None } else { self.trails.find(&puzzle, &limits) };
        let hint = match known {
            Some(hint) => {
                self.metrics.answered_from(Origin::Kept);
                hint
            }
            None => Hint::new(self.submit(Job { puzzle, plan, limits, expansions: 0, states: false }).await?),
        };
        // A walk straight to the goal is as fast as a look.
        if !plan.is_instant() && hint.answer.report.stopped.is_none() {
            self.trails.lay(&puzzle, &limits, &hint);
        }
        Ok(hint)
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
        solver::nodes_within(self.settings.search_memory, size, algorithm, heuristic)
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
}
