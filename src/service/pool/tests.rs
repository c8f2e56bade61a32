use taquin_solver::heuristic::{GoalClass, Tier};
use taquin_solver::{
    Algorithm, Board, Encoding, HeuristicKind, Limits, Plan, Puzzle, RawBoard, Records, SearchOptions, SearchRequest,
    Sides, Size, Stats, TableSource,
};

use super::*;
use crate::service::job::BeforeSearchHook;
use crate::service::settings::{BulkSettings, SearchMemory};

fn board(text: &str) -> Board {
    RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).unwrap()
}

fn job(start: &str, algorithm: Option<Algorithm>, time: Duration) -> SearchRequest {
    let start = board(start);
    let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
    let plan = Plan::try_new(&SearchOptions { algorithm, ..SearchOptions::default() }, puzzle.size()).unwrap();
    SearchRequest::new(puzzle, plan, Limits { time, expanded: u64::MAX, nodes: u64::MAX })
}

pub(crate) fn easy() -> SearchRequest {
    job("8 6 7/2 5 4/3 0 1", None, Duration::from_secs(60))
}

/// Returns a job whose search takes hours.
fn hard(time: Duration) -> SearchRequest {
    job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::IterativeDeepening), time)
}

/// Returns a job whose search takes hours and keeps its nodes in memory.
fn stored(time: Duration) -> SearchRequest {
    job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::BreadthFirst), time)
}

pub(crate) fn settings(workers: usize, queue: usize) -> ServiceSettings {
    let searches_memory = SearchMemory::of(u64::MAX / 2);
    let bulk = BulkSettings { workers, search_memory: 1 << 20 };
    ServiceSettings { workers, queue, job_threads: 64, searches_memory, bulk, ..ServiceSettings::for_tests() }
}

pub(crate) fn pool(workers: usize, queue: usize) -> Arc<Pool> {
    Pool::new(&settings(workers, queue), Arc::default(), Metrics::default())
}

/// Submits a job on a separate task, and waits until the job runs.
async fn begun(pool: &Arc<Pool>, job: SearchRequest) -> tokio::task::JoinHandle<Result<Answer, ServiceError>> {
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
    // The run permit is released only when the search has stopped. Otherwise the test hangs.
    while pool.load() != Load::default() {
        tokio::task::yield_now().await;
    }
    // The admission permit of the request is released after the run permit.
    while pool.submit(easy()).await.is_err() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_time_runs_out_in_the_queue_is_rejected() {
    let pool = Pool::new(
        &ServiceSettings { searches_memory: SearchMemory::of(1 << 20), ..settings(1, 1) },
        Arc::default(),
        Metrics::default(),
    );
    let busy = begun(&pool, stored(Duration::from_secs(3600))).await;
    let waiting = SearchRequest {
        limits: Limits { time: Duration::from_millis(20), ..stored(Duration::ZERO).limits },
        ..stored(Duration::ZERO)
    };
    assert!(matches!(pool.submit(waiting).await, Err(ServiceError::Overloaded { cause: Overload::SearchWaited, .. })));
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
    // The pool admits one job. So a job that did not join the search would be rejected.
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
    let settings = ServiceSettings { before_search: Some(hook), ..settings(1, 0) };
    let pool = Pool::new(&settings, Arc::default(), Metrics::default());
    let mut unlucky = easy();
    unlucky.limits.expanded = 13;
    // The tables are not built yet, so the job is not solved on this thread.
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

/// Starts a thread in place of the background builder. The thread waits for a request for stronger tables, and builds
/// these tables 200 ms later.
fn late_builder(tables: &Arc<Tables>) -> std::thread::JoinHandle<()> {
    let (sender, requests) = std::sync::mpsc::channel();
    tables.pattern_cache.set_background_builder(sender);
    let tables = Arc::clone(tables);
    std::thread::spawn(move || {
        let class = requests.recv().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        assert!(tables.pattern_cache.improve_later(class, Tier::Standard));
    })
}

#[tokio::test]
async fn a_limit_on_expansions_has_the_same_result_while_tables_are_built() {
    let tables = Arc::new(Tables::default());
    let builder = late_builder(&tables);
    let limited = || {
        let job = job("0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", Some(Algorithm::IdaStar), Duration::from_secs(600));
        SearchRequest { limits: Limits { expanded: 20_000, ..job.limits }, ..job }
    };
    let report = async || {
        let pool = Pool::new(&settings(1, 0), Arc::clone(&tables), Metrics::default());
        pool.submit(limited()).await.unwrap().report
    };
    let first = report().await;
    builder.join().unwrap();
    let reports = [first, report().await];
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
    let pool = Pool::new(&ServiceSettings { job_threads: 1, ..settings(1, 2) }, Arc::default(), Metrics::default());
    assert_eq!(pool.run_work(Duration::from_secs(60), 0, |_| 7).await, Ok(7));
    // The search holds the only thread.
    let busy = begun(&pool, hard(Duration::from_secs(3600))).await;
    let waited = pool.run_work(Duration::from_millis(20), 0, |_| 7).await;
    assert!(matches!(waited, Err(ServiceError::Overloaded { cause: Overload::WorkWaited, .. })));
    let waiting: Vec<_> = (0..2)
        .map(|_| {
            let pool = Arc::clone(&pool);
            tokio::spawn(async move { pool.run_work(Duration::from_secs(3600), 0, |_| 7).await })
        })
        .collect();
    while pool.load().waiting < 2 {
        tokio::task::yield_now().await;
    }
    let rejected = pool.run_work(Duration::from_secs(3600), 0, |_| 7).await;
    assert!(matches!(rejected, Err(ServiceError::Overloaded { cause: Overload::QueueFull, .. })));
    pool.drain();
    assert_eq!(pool.run_work(Duration::from_secs(60), 0, |_| 7).await, Err(ServiceError::ShuttingDown));
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

#[tokio::test(flavor = "multi_thread")]
async fn easy_jobs_finish_while_hard_ones_have_all_threads_but_one() {
    let pool = Pool::new(&ServiceSettings { job_threads: 3, ..settings(1, 40) }, Arc::default(), Metrics::default());
    let mut hard_ones: Vec<_> = (0..5)
        .map(|nth| {
            let pool = Arc::clone(&pool);
            tokio::spawn(async move { pool.submit(hard(Duration::from_secs(3600 + nth))).await })
        })
        .collect();
    // Two jobs keep their threads. The other jobs are stopped after their trials.
    while pool.load().begun != 2 || pool.load().waiting != 4 {
        tokio::task::yield_now().await;
    }
    for _ in 0..20 {
        let job = job("1 2 3/4 5 6/7 0 8", Some(Algorithm::IterativeDeepening), Duration::from_secs(60));
        assert!(pool.submit(job).await.unwrap().report.is_optimal());
    }
    // When one of the two jobs ends, another job starts again, until all jobs have ended.
    for left in (0..5).rev() {
        hard_ones.remove(0).abort();
        while pool.load().begun + pool.load().waiting < left || pool.load().begun != left.min(2) {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(pool.load(), Load::default());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_starts_again_has_the_same_result() {
    let limited = || {
        let job = hard(Duration::from_secs(600));
        SearchRequest {
            limits: Limits { expanded: 20_000_000, ..job.limits },
            records: Records { expansions: 10, ..Records::default() },
            ..job
        }
    };
    let alone = pool(1, 0).submit(limited()).await.unwrap().report;
    assert!(alone.elapsed > Duration::from_millis(50), "it has no trial");
    let pool = Pool::new(&ServiceSettings { job_threads: 2, ..settings(1, 8) }, Arc::default(), Metrics::default());
    let busy = begun(&pool, hard(Duration::from_secs(3600))).await;
    while pool.scheduler.has_room_for_long_job() {
        tokio::task::yield_now().await;
    }
    let restarted = tokio::spawn({
        let pool = Arc::clone(&pool);
        async move { pool.submit(limited()).await }
    });
    // The job was stopped after its trial, and waits for a thread.
    while pool.load().begun != 1 || pool.scheduler.restarts() != 1 {
        tokio::task::yield_now().await;
    }
    busy.abort();
    let restarted = restarted.await.unwrap().unwrap().report;
    assert_eq!((restarted.stats, restarted.search_stopped), (alone.stats, alone.search_stopped));
    assert_eq!((restarted.lower_bound, &restarted.expansions), (alone.lower_bound, &alone.expansions));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_time_runs_out_after_its_trial_has_a_report() {
    let pool = Pool::new(&ServiceSettings { job_threads: 2, ..settings(1, 8) }, Arc::default(), Metrics::default());
    let _busy = begun(&pool, hard(Duration::from_secs(3600))).await;
    while pool.scheduler.has_room_for_long_job() {
        tokio::task::yield_now().await;
    }
    let report = pool.submit(hard(Duration::from_millis(500))).await.unwrap().report;
    assert_eq!(report.stopped, Some(StopReason::Time));
    assert!(report.stats.expanded > 0 && report.lower_bound > 0, "{report:?}");
    pool.cancel_all();
}

#[tokio::test]
async fn a_search_whose_tables_find_no_memory_is_rejected_or_does_without() {
    let size = Size::try_from((2, 6)).unwrap();
    let tables = Arc::new(Tables::with_memory_for(GoalClass::of(size, 0)));
    let in_use = tables.patterns(GoalClass::of(size, 0));
    let pool = Pool::new(&settings(1, 0), Arc::clone(&tables), Metrics::default());
    // The goal of this search and the goal of the tables in use have their blanks in different cells.
    let search = |algorithm: Option<Algorithm>| {
        let [start, goal] = ["1 7 2 3 4 5/6 8 0 9 10 11", "1 0 2 3 4 5/6 7 8 9 10 11"].map(board);
        let heuristic = algorithm.map(|_| HeuristicKind::PatternDatabase);
        let plan = Plan::try_new(&SearchOptions { algorithm, heuristic, ..SearchOptions::default() }, size).unwrap();
        let limits = Limits { time: Duration::from_millis(200), expanded: u64::MAX, nodes: u64::MAX };
        SearchRequest::new(Puzzle::try_new(start, goal).unwrap(), plan, limits)
    };
    let rejected = pool.submit(search(Some(Algorithm::IdaStar))).await.unwrap_err();
    assert!(matches!(rejected, ServiceError::TablesWait { .. }), "{rejected:?}");
    let report = pool.submit(search(None)).await.unwrap().report;
    assert_eq!((report.algorithm, report.heuristic), (Algorithm::IdaStar, HeuristicKind::LinearConflict));
    assert!(report.is_optimal() && report.tables.is_none() && !report.is_repeatable());
    assert_eq!((pool.load(), tables.memory_in_use()), (Load::default(), in_use.bytes() as u64));
}

#[tokio::test]
async fn a_search_whose_tables_are_late_does_not_build_them() {
    let tables = Arc::new(Tables::default());
    let pool = Pool::new(&settings(1, 0), Arc::clone(&tables), Metrics::default());
    let mut late = job("9 8 7 6/5 4 3 2/1 0 10 11/12 13 15 14", Some(Algorithm::IdaStar), Duration::from_micros(1));
    let report = pool.submit(late.clone()).await.unwrap().report;
    assert_eq!((report.stopped, report.stats), (Some(StopReason::Time), Stats::default()));
    assert_eq!(report.tables, None);
    late.limits.time = Duration::from_secs(600);
    assert!(pool.submit(late).await.unwrap().report.tables.is_some());
}

#[tokio::test]
async fn a_trial_that_is_stopped_at_its_deadline_is_no_shutdown() {
    let pool = pool(1, 0);
    let cancellation = Cancellation { deadline: Some(Instant::now()), ..Cancellation::default() };
    let permit = pool.threads.turn(Need::NONE, Arrival::New, cancellation.clone()).await.unwrap();
    permit.stop_flag().store(true, Ordering::Relaxed);
    let task = SearchTask {
        job: hard(Duration::from_secs(60)),
        patterns: None,
        cancellation,
        progress: Arc::default(),
        _admission: pool.admit(Instant::now()).unwrap(),
        submitted: Instant::now(),
        trial: OnceLock::new(),
    };
    assert!(pool.searcher.search(&task, permit).is_err() && task.trial.get().is_some());
}
