//! The worker pool: admission, and searches on blocking threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::time::timeout_at;
use tracing::{Level, Span};

use super::workers::Workers;
use super::{Job, Means, Report, ServiceError, Tables, solver};
use crate::search::{Named, StopReason};

/// Runs jobs on blocking threads, no more at a time than it has workers; those that nobody waits for
/// help with searches that can use more than one.
///
/// Two permits: one for a place in the house, taken at once or not at all, and one for a worker,
/// waited for until the job's deadline. The queue is nothing but futures that wait. Both permits
/// move into the search's closure, so a place is free only when its search has really stopped.
#[derive(Debug)]
pub struct Pool {
    places: Arc<Semaphore>,
    workers: Workers,
    capacity: usize,
    worker_count: usize,
    tables: Arc<Tables>,
    is_draining: AtomicBool,
    cancel_all: Arc<AtomicBool>,
    /// A moving average of the time a search takes, in microseconds.
    search_micros: Arc<AtomicU64>,
}

/// Raises a flag when it is dropped, so that a search whose future is dropped stops.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Pool {
    /// A pool of `workers` searches at a time and `queue` jobs that wait.
    pub fn new(workers: usize, queue: usize, tables: Arc<Tables>) -> Self {
        Self {
            places: Arc::new(Semaphore::new(workers + queue)),
            workers: Workers::new(workers),
            capacity: workers + queue,
            worker_count: workers,
            tables,
            is_draining: AtomicBool::new(false),
            cancel_all: Arc::default(),
            search_micros: Arc::default(),
        }
    }

    /// Runs a job. Its time counts from now.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub async fn submit(&self, job: Job) -> Result<Report, ServiceError> {
        if self.is_draining() {
            return Err(ServiceError::ShuttingDown);
        }
        if self.is_instant(&job) {
            let report = solver::solve(&job, &self.tables, Means::default());
            observe(&job, &report, &self.search_micros);
            return report;
        }
        let submitted = Instant::now();
        let deadline = submitted + job.limits.time;
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| self.overloaded(false))?;
        let worker = timeout_at(deadline.into(), self.workers.acquire()).await;
        let Ok(Ok(worker)) = worker else { return Err(self.overloaded(true)) };
        let queued = submitted.elapsed();

        let cancel = Arc::new(AtomicBool::new(false));
        let guard = CancelOnDrop(Arc::clone(&cancel));
        let (tables, cancel_all, crew) = (Arc::clone(&self.tables), Arc::clone(&self.cancel_all), self.workers.clone());
        let search_micros = Arc::clone(&self.search_micros);
        let span = Span::current();
        let search = tokio::task::spawn_blocking(move || {
            let _permits = (place, worker);
            let _entered = span.entered();
            let cancel: [&AtomicBool; 2] = [&cancel, &cancel_all];
            let means = Means { deadline: Some(deadline), cancel: &cancel, crew: Some(&crew) };
            let report = solver::solve(&job, &tables, means).map(|report| Report { queued, ..report });
            observe(&job, &report, &search_micros);
            report
        });
        let report = search.await.map_err(|_| ServiceError::Failed("a search panicked"))??;
        drop(guard);
        // Nobody but the end of the grace period cancels a job that somebody still waits for.
        if report.stopped == Some(StopReason::Cancelled) { Err(ServiceError::ShuttingDown) } else { Ok(report) }
    }

    /// Whether a job costs less than to hand it to another thread: then it is done where it is, and
    /// takes no place from searches (docs/adr/0010).
    fn is_instant(&self, job: &Job) -> bool {
        let (size, goal_blank) = (job.puzzle.size(), job.puzzle.goal().blank());
        job.plan.is_instant() && self.tables.has_distances(size, goal_blank)
    }

    /// When a place is likely to be free: the work in hand, spread over the workers.
    fn overloaded(&self, waited: bool) -> ServiceError {
        let in_hand = self.capacity - self.places.available_permits();
        let micros = self.search_micros.load(Ordering::Relaxed) * in_hand as u64 / self.worker_count as u64;
        let retry_after = Duration::from_micros(micros).clamp(Duration::from_secs(1), Duration::from_secs(60));
        ServiceError::Overloaded { retry_after, waited }
    }

    /// Whether jobs are refused.
    pub fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Acquire)
    }

    /// Refuses jobs from now on.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Release);
    }

    /// Stops every search.
    pub fn cancel_all(&self) {
        self.cancel_all.store(true, Ordering::Relaxed);
    }
}

/// Keeps the moving average and writes the one event of a finished job.
fn observe(job: &Job, report: &Result<Report, ServiceError>, search_micros: &AtomicU64) {
    let report = match report {
        Ok(report) => report,
        Err(error) => {
            tracing::event!(target: "taquin::job", Level::ERROR, puzzle.size = %job.puzzle.size(), puzzle.start = %job.puzzle.start(), %error, "job failed");
            return;
        }
    };
    let elapsed = report.elapsed.as_micros() as u64;
    let average = search_micros.load(Ordering::Relaxed);
    search_micros.store(if average == 0 { elapsed } else { (7 * average + elapsed) / 8 }, Ordering::Relaxed);
    let outcome = match (report.search_stopped, report.stopped) {
        (None, _) => "solved",
        // The search was stopped, and another solution had to do.
        (Some(_), None) => "solved by fallback",
        (Some(StopReason::Time), _) => "stopped by time",
        (Some(StopReason::Expanded), _) => "stopped by expanded",
        (Some(StopReason::Nodes), _) => "stopped by nodes",
        (Some(StopReason::Depth), _) => "stopped by depth",
        (Some(StopReason::Cancelled), _) => "cancelled",
    };
    tracing::event!(
        target: "taquin::job",
        Level::INFO,
        puzzle.size = %job.puzzle.size(),
        search.algorithm = report.algorithm.name(),
        search.heuristic = report.heuristic.name(),
        search.expanded = report.stats.expanded,
        search.generated = report.stats.generated,
        search.length = report.solution.as_ref().map(|solution| solution.path.len()),
        search.lower_bound = report.lower_bound,
        search.elapsed_us = elapsed,
        job.queued_us = report.queued.as_micros() as u64,
        job.outcome = outcome,
        "job finished"
    );
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

    fn pool(workers: usize, queue: usize) -> Arc<Pool> {
        Arc::new(Pool::new(workers, queue, Arc::default()))
    }

    #[tokio::test]
    async fn a_job_is_solved_and_its_places_come_back() {
        let pool = pool(1, 0);
        for _ in 0..3 {
            let report = pool.submit(easy()).await.unwrap();
            assert_eq!(report.solution.as_ref().unwrap().path.len(), 31);
            assert!(report.is_optimal());
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_dropped_request_stops_its_search() {
        let pool = pool(1, 0);
        let submitted = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.submit(hard(Duration::from_secs(3600))).await }
        });
        while pool.workers.idle() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(pool.submit(easy()).await, Err(ServiceError::Overloaded { waited: false, .. })));
        submitted.abort();
        // The permit comes back only when the search has stopped; a search that does not hangs the test.
        let _permit = pool.workers.acquire().await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_job_whose_time_runs_out_in_the_queue_is_refused() {
        let pool = pool(1, 1);
        let busy = tokio::spawn({
            let pool = Arc::clone(&pool);
            async move { pool.submit(hard(Duration::from_secs(3600))).await }
        });
        while pool.workers.idle() > 0 {
            tokio::task::yield_now().await;
        }
        let waiting = Job { limits: Limits { time: Duration::from_millis(20), ..easy().limits }, ..easy() };
        assert!(matches!(pool.submit(waiting).await, Err(ServiceError::Overloaded { waited: true, .. })));
        pool.cancel_all();
        assert_eq!(busy.await.unwrap().unwrap_err(), ServiceError::ShuttingDown);
    }

    #[tokio::test]
    async fn a_draining_pool_takes_no_job() {
        let pool = pool(1, 1);
        pool.drain();
        assert_eq!(pool.submit(easy()).await.unwrap_err(), ServiceError::ShuttingDown);
    }

    #[tokio::test]
    async fn a_time_limit_stops_the_search() {
        let report = pool(1, 0).submit(hard(Duration::from_millis(30))).await.unwrap();
        assert_eq!(report.stopped, Some(StopReason::Time));
        assert!(report.solution.is_none());
        assert!(report.lower_bound > 0);
    }
}
