//! Counters and histograms of jobs.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use taquin_bulk::{FailureObserver, LabelError, Row};
use taquin_solver::{Algorithm, HeuristicKind, Named, Puzzle, SearchRequest, named};
use tracing::Level;

use crate::service::job::{Origin, Report};

/// Counters and histograms of jobs, by method and outcome. docs/OPERATING.md lists the metrics.
///
/// Every label has a small, fixed set of values, whatever requests contain.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<MetricFamilies>);

#[derive(Debug)]
struct MetricFamilies {
    queue_wait: Histogram,
    searches: Family<Labels<4>, Histogram>,
    expanded: Family<Labels<2>, Counter>,
    generated: Family<Labels<2>, Counter>,
    /// Metrics of each combination of labels. The metrics of a combination are looked up only once.
    series: Box<[OnceLock<Series>]>,
    refusals: Family<Labels<1>, Counter>,
    cancellations: Family<Labels<1>, Counter>,
    cache_requests: Family<Labels<1>, Counter>,
    restarts: Counter,
    panics: Counter,
    bulk_boards: Family<Labels<1>, Counter>,
    bulk_seconds: Counter<f64, AtomicU64>,
}

/// Names and values of the labels of a series.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// Metrics of one combination of labels.
#[derive(Debug)]
struct Series {
    seconds: Histogram,
    expanded: Counter,
    generated: Counter,
}

/// The reason why a valid request is rejected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The queue is full.
    QueueFull,
    /// The time limit of the job ran out in the queue.
    Waited,
    /// The system refuses to create a thread.
    NoThread,
    /// The service is shutting down.
    Draining,
    /// The request has no valid token.
    Unauthorized,
    /// The client exceeds its rate limit.
    RateLimited,
    /// A page of another site sent the request.
    CrossSite,
    /// The host name of the request is not an allowed host name.
    UnknownHost,
    /// The memory for long responses is exhausted.
    ReplyMemoryFull,
    /// Other tables use the memory for tables at present.
    TableMemoryFull,
}

named!(Refusal {
    QueueFull => "queue_full",
    Waited => "waited",
    NoThread => "no_thread",
    Draining => "draining",
    Unauthorized => "unauthorized",
    RateLimited => "rate_limited",
    CrossSite => "cross_site",
    UnknownHost => "unknown_host",
    ReplyMemoryFull => "replies_wait",
    TableMemoryFull => "tables_wait",
});

/// Phase of a job at the moment when its last client left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JobPhase {
    Queued,
    Searching,
}

named!(JobPhase { Queued => "queued", Searching => "searching" });

/// Number of boards of bulk work, by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BoardCounts {
    /// Boards with a solution.
    pub solved: u64,
    /// Boards whose search failed.
    pub failed: u64,
    /// Rows without a solvable board.
    pub invalid: u64,
}

impl BoardCounts {
    /// Counts a row by its outcome.
    pub fn count(&mut self, row: &Row) {
        match row {
            Row::Solved(_) => self.solved += 1,
            Row::Failed => self.failed += 1,
            Row::Invalid => self.invalid += 1,
        }
    }
}

/// Size classes of boards: the greatest number of cells in each class, and the label of the class.
const CELLS: [(usize, &str); 4] = [(9, "4-9"), (16, "10-16"), (25, "17-25"), (100, "26-100")];

/// Upper bounds of the histogram buckets, in seconds, from 0.1 ms to one minute.
const SECONDS: [f64; 16] =
    [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 10.0, 60.0];

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

impl Default for Metrics {
    fn default() -> Self {
        let kinds = Algorithm::ALL.len() * HeuristicKind::ALL.len() * CELLS.len() * Report::OUTCOMES.len();
        let inner = MetricFamilies {
            series: (0..kinds).map(|_| OnceLock::new()).collect(),
            queue_wait: seconds(),
            searches: Family::new_with_constructor(seconds),
            expanded: Family::default(),
            generated: Family::default(),
            refusals: Family::default(),
            cancellations: Family::default(),
            cache_requests: Family::default(),
            restarts: Counter::default(),
            panics: Counter::default(),
            bulk_boards: Family::default(),
            bulk_seconds: Counter::default(),
        };
        // These series exist from the start with the value zero, so that a monitoring system sees the first increase.
        for reason in Refusal::ALL {
            drop(inner.refusals.get_or_create(&[("reason", reason.name())]));
        }
        for stage in JobPhase::ALL {
            drop(inner.cancellations.get_or_create(&[("stage", stage.name())]));
        }
        for result in ["hit", "miss", "joined"] {
            drop(inner.cache_requests.get_or_create(&[("result", result)]));
        }
        for outcome in ["solved", "failed", "invalid"] {
            drop(inner.bulk_boards.get_or_create(&[("outcome", outcome)]));
        }
        Self(Arc::new(inner))
    }
}

/// Logs each board whose search failed, and counts the panics.
impl FailureObserver for Metrics {
    fn failed(&self, puzzle: &Puzzle, error: LabelError) {
        tracing::event!(
            target: "taquin::bulk",
            Level::ERROR,
            message = "board failed",
            puzzle.size = %puzzle.size(),
            puzzle.start = %puzzle.start(),
            %error,
        );
        if error == LabelError::Panicked {
            self.panicked();
        }
    }
}

impl Metrics {
    /// Counts a rejected request.
    pub fn refused(&self, refusal: Refusal) {
        self.0.refusals.get_or_create(&[("reason", refusal.name())]).inc();
    }

    /// Counts a caught panic.
    pub fn panicked(&self) {
        self.0.panics.inc();
    }

    /// Counts a job that was stopped after its trial and starts again.
    pub(crate) fn restarted(&self) {
        self.0.restarts.inc();
    }

    pub(crate) fn cancelled(&self, stage: JobPhase) {
        self.0.cancellations.get_or_create(&[("stage", stage.name())]).inc();
    }

    pub(crate) fn answered_from(&self, origin: Origin) {
        let result = match origin {
            Origin::AtOnce | Origin::Search => "miss",
            Origin::Joined => "joined",
            Origin::Cached => "hit",
        };
        self.0.cache_requests.get_or_create(&[("result", result)]).inc();
    }

    /// Counts the boards of a slice of bulk work, and adds the slice's worker time.
    pub(crate) fn bulk_slice(&self, BoardCounts { solved, failed, invalid }: BoardCounts, worked: Duration) {
        for (outcome, boards) in [("solved", solved), ("failed", failed), ("invalid", invalid)] {
            self.0.bulk_boards.get_or_create(&[("outcome", outcome)]).inc_by(boards);
        }
        self.0.bulk_seconds.inc_by(worked.as_secs_f64());
    }

    pub(crate) fn waited(&self, queued: Duration) {
        self.0.queue_wait.observe(queued.as_secs_f64());
    }

    pub(crate) fn finished(&self, job: &SearchRequest, report: &Report) {
        let cells = CELLS.iter().position(|(most, _)| job.puzzle.size().cells() <= *most).unwrap_or_default();
        let kind = [
            (report.algorithm as usize, Algorithm::ALL.len()),
            (report.heuristic as usize, HeuristicKind::ALL.len()),
            (cells, CELLS.len()),
            (report.outcome_index(), Report::OUTCOMES.len()),
        ];
        let index = kind.into_iter().fold(0, |index, (part, count)| index * count + part);
        let series = self.0.series[index].get_or_init(|| {
            let (algorithm, heuristic) = (report.algorithm.name(), report.heuristic.name());
            let method = [("algorithm", algorithm), ("heuristic", heuristic)];
            let [of_algorithm, of_heuristic] = method;
            let labels = [of_algorithm, of_heuristic, ("cells", CELLS[cells].1), ("outcome", report.outcome())];
            Series {
                seconds: self.0.searches.get_or_create_owned(&labels),
                expanded: self.0.expanded.get_or_create_owned(&method),
                generated: self.0.generated.get_or_create_owned(&method),
            }
        });
        series.seconds.observe(report.elapsed.as_secs_f64());
        series.expanded.inc_by(report.stats.expanded);
        series.generated.inc_by(report.stats.generated);
    }

    pub(crate) fn register(&self, registry: &mut Registry) {
        let families = &*self.0;
        registry.register(
            "queue_wait_seconds",
            "Time that jobs waited for workers, in total",
            families.queue_wait.clone(),
        );
        registry.register(
            "search_seconds",
            "Time of searches, including the replay of their solution",
            families.searches.clone(),
        );
        registry.register("search_expanded", "Nodes expanded", families.expanded.clone());
        registry.register("search_generated", "Nodes generated", families.generated.clone());
        registry.register(
            "refusals",
            "Requests rejected for lack of capacity or authorization",
            families.refusals.clone(),
        );
        registry.register(
            "cancellations",
            "Jobs whose clients left before the response",
            families.cancellations.clone(),
        );
        registry.register(
            "cache_requests",
            "Requested searches, by origin of the result",
            families.cache_requests.clone(),
        );
        registry.register(
            "search_restarts",
            "Searches that gave their thread back and start again",
            families.restarts.clone(),
        );
        registry.register("bulk_boards", "Boards of bulk work, by outcome", families.bulk_boards.clone());
        registry.register("bulk_worker_seconds", "Worker time of bulk work", families.bulk_seconds.clone());
        registry.register("panics", "Caught panics; each is a bug", families.panics.clone());
    }
}
