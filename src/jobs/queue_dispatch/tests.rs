//! Tests of several service replicas and workers in one process. Files and queue are in memory, and fail at times.

mod hooked_files;
mod troubles;

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;
use crate::jobs::{Draft, Ended, JobEngine, JobOwner, JobSettings, JobState, JobStore, JobView};
use crate::service::{Metrics, Service, ServiceSettings, Tables};
use taquin_bulk::test_files::{FailingFiles, Failure, FilesInMemory};
use taquin_bulk::{
    Files, JobBoards, JobSpec, Progress, Recipe, RequestedLimits, Resources, RunEnd, Shard, StoredJob, Want, run,
};
use taquin_cluster::{MemoryQueue, Worker, WorkerMetrics};
use taquin_solver::heuristic::Tier;
use taquin_solver::{Board, RandomSource, Size, SplitMix};

const SEARCH_MEMORY: u64 = 16 << 20;

/// The store and the queue that all processes of a test share.
#[derive(Clone)]
struct Place {
    files: Arc<dyn Files>,
    queue: MemoryQueue,
}

impl Place {
    fn new() -> Self {
        Self::with(Arc::new(FilesInMemory::default()))
    }

    fn with(files: Arc<dyn Files>) -> Self {
        Self { files, queue: MemoryQueue::new(LEASE_TIME) }
    }

    async fn replica(&self, service: &Arc<Service>) -> Replica {
        let (service, files, queue) = (Arc::clone(service), Arc::clone(&self.files), self.queue.clone());
        let open = move || {
            let dispatch = Arc::new(QueueDispatch::new(Arc::new(queue)));
            JobEngine::open(&service, settings(), JobStore::shared(files), dispatch)
        };
        let engine = tokio::task::spawn_blocking(open).await.unwrap().unwrap();
        let task = tokio::spawn(Arc::clone(&engine).run());
        Replica { engine, task }
    }

    fn worker(&self, service: &Arc<Service>, threads: usize) -> RunningWorker {
        self.worker_with_grace(service, threads, Duration::from_secs(5))
    }

    fn worker_with_grace(&self, service: &Arc<Service>, threads: usize, grace: Duration) -> RunningWorker {
        let (queue, files, metrics) = (self.queue.clone(), Arc::clone(&self.files), WorkerMetrics::new(threads));
        let worker = Worker::new(Arc::new(queue), files, Arc::clone(service) as _, threads, Arc::new(metrics));
        let (stop, stopped) = oneshot::channel();
        let run = async move { worker.run(async { drop(stopped.await) }, grace).await };
        RunningWorker { stop, task: tokio::spawn(run) }
    }
}

/// An engine of a service replica. The engine's task runs until the replica is dropped.
struct Replica {
    engine: Arc<JobEngine>,
    task: JoinHandle<()>,
}

impl Replica {
    async fn create(&self, draft: Draft) -> Arc<Job> {
        self.engine.create(owner(), None, draft).await.unwrap()
    }

    /// Finds a job that another replica created.
    async fn job(&self, job: &Job) -> Arc<Job> {
        self.engine.find(owner(), job.id()).await.unwrap().expect("the job is known everywhere")
    }

    async fn until(&self, job: &Job, is_so: impl Fn(&JobView) -> bool) -> JobView {
        let begun = Instant::now();
        loop {
            let view = self.engine.view(job);
            if is_so(&view) {
                return view;
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "{view:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn completed(&self, job: &Job) -> JobView {
        self.until(job, |view| view.state.is_ended()).await
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.engine.drain();
        self.task.abort();
    }
}

struct RunningWorker {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl RunningWorker {
    /// Shuts the worker down, as after a signal.
    async fn stop(self) {
        drop(self.stop);
        self.task.await.unwrap();
    }

    /// Ends the worker at once. The threads of the worker finish, and their results are dropped.
    fn kill(self) {
        self.task.abort();
    }
}

fn service() -> Arc<Service> {
    Service::start(ServiceSettings::for_tests())
}

fn settings() -> JobSettings {
    JobSettings { keep: Duration::from_secs(3600), max_unfinished: 9, max_boards: 1 << 40, max_body: 1 << 20 }
}

fn owner() -> JobOwner {
    JobOwner::of_token([1; 32])
}

/// Creates a request for a job of 5x5 boards. The search for a board takes some milliseconds. Each board has its own
/// chunk.
fn draft(count: u64) -> Draft {
    let goal = Board::blank_last(Size::try_from((5, 5)).unwrap());
    let limits = RequestedLimits { time: Some(Duration::from_secs(60)), expanded: Some(100), nodes: None };
    let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", count).unwrap());
    Draft { boards, want: Want::Moves, limits, folder: None }
}

/// Returns the parts and the manifest of a job that one thread makes without disturbances.
fn undisturbed(spec: &JobSpec) -> Vec<Vec<u8>> {
    let job = StoredJob::create_in(Arc::new(FilesInMemory::default()), spec).unwrap();
    let (tables, cancel) = (Tables::default(), AtomicBool::new(false));
    let metrics = Metrics::default();
    let resources =
        Resources { tables: &tables, threads: 1, search_memory: SEARCH_MEMORY, cancel: &cancel, failures: &metrics };
    assert_eq!(run(&job, Shard::WHOLE, &resources, &Progress::default()).unwrap(), RunEnd::Finished);
    assert!(job.complete().unwrap());
    files(&job)
}

fn files(job: &StoredJob) -> Vec<Vec<u8>> {
    let parts = (0..job.spec().chunks()).map(|chunk| job.part_bytes(chunk).unwrap().unwrap());
    parts.chain([job.files().get("end.json").unwrap().unwrap()]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_make_the_parts_of_a_job_and_all_replicas_know_it() {
    let (place, service) = (Place::new(), service());
    let (one, other) = (place.replica(&service).await, place.replica(&service).await);
    let workers = [place.worker(&service, 1), place.worker(&service, 2)];
    let job = one.create(draft(20)).await;
    let view = one.completed(&job).await;
    assert_eq!((view.state, view.counts.done, view.counts.failed), (JobState::Completed, 20, Some(0)));
    let seen = other.job(&job).await;
    let view = other.completed(&seen).await;
    assert_eq!((view.state, view.counts.stored_parts), (JobState::Completed, 20));
    assert_eq!(files(job.stored()), undisturbed(job.stored().spec()));
    assert!(job.stored().files().get("README.md").unwrap().is_some());
    for worker in workers {
        worker.stop().await;
    }
    assert!(place.queue.tasks().await.unwrap().is_empty());
}

/// Kills and restarts workers, and makes the queue lose and repeat tasks. The seed determines the order.
async fn disturb(place: &Place, service: &Arc<Service>, seed: u64, mut workers: Vec<RunningWorker>) {
    let mut random = SplitMix(seed);
    loop {
        tokio::time::sleep(Duration::from_millis(random.next_u64() % 60)).await;
        match random.next_u64() % 8 {
            0 => workers.swap_remove(0).kill(),
            1 => workers.swap_remove(0).stop().await,
            2 => place.queue.forget(),
            3 => place.queue.hand_out_again(),
            4 => place.queue.set_down(true),
            5 => place.queue.set_loses_ends(true),
            _ => {
                place.queue.set_down(false);
                place.queue.set_loses_ends(false);
            }
        }
        while workers.len() < 2 {
            workers.push(place.worker(service, 1));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_to_workers_and_queue_each_board_has_one_row() {
    let service = service();
    for seed in 0..4 {
        let place = Place::new();
        let (one, other) = (place.replica(&service).await, place.replica(&service).await);
        let job = one.create(draft(150)).await;
        let workers = vec![place.worker(&service, 1), place.worker(&service, 1)];
        let seen = other.job(&job).await;
        let view = tokio::select! {
            view = other.completed(&seen) => view,
            () = disturb(&place, &service, seed, workers) => unreachable!("it does not end"),
        };
        assert_eq!((view.state, view.counts.done, view.counts.failed), (JobState::Completed, 150, Some(0)), "{seed}");
        assert_eq!(files(job.stored()), undisturbed(job.stored().spec()), "{seed}");
    }
}

/// Waits until the queue is empty.
async fn until_done(place: &Place) {
    let begun = Instant::now();
    while !place.queue.tasks().await.unwrap().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_call_of_a_worker_fails_the_job_ends_with_the_same_bytes() {
    /// Number of failing calls that are tested concurrently, since a worker waits for some seconds after a failure.
    const AT_ONCE: usize = 8;
    let service = service();
    for failure in [Failure::NotMade, Failure::ResultLost] {
        for first in (0..).step_by(AT_ONCE) {
            let turn = tokio::sync::Mutex::new(());
            let calls =
                (first..first + AT_ONCE).map(|call| is_call_of_a_worker_survived(&service, &turn, failure, call));
            let have_failed = futures_util::future::join_all(calls).await;
            if have_failed.contains(&false) {
                assert!(first > 0, "there are few calls");
                break;
            }
        }
    }
}

/// Checks that a job completes although the worker's call number `call` to the files fails. Returns false if the worker
/// makes fewer calls.
async fn is_call_of_a_worker_survived(
    service: &Arc<Service>,
    turn: &tokio::sync::Mutex<()>,
    failure: Failure,
    call: usize,
) -> bool {
    let memory = Arc::new(FilesInMemory::default());
    let place = Place::with(Arc::clone(&memory) as _);
    let replica = place.replica(service).await;
    let (creation, runtime) = (turn.lock().await, Handle::current());
    let job = replica.create(draft(2)).await;
    drop(creation);
    // The hook panics on a thread that runs async tasks. Files that wait for the network panic there too.
    let off_runtime = move || runtime.block_on(ready(()));
    let failing = Arc::new(FailingFiles::new(memory, call, failure).with_before(off_runtime));
    let worker = Place { files: Arc::clone(&failing) as _, ..place.clone() }.worker(service, 1);
    let view = replica.completed(&job).await;
    assert_eq!(view.state, JobState::Completed, "{failure:?}, call {call}: {view:?}");
    // The failing call may be the last call of the task, which the worker then retries.
    until_done(&place).await;
    worker.stop().await;
    assert_eq!(files(job.stored()), undisturbed(job.stored().spec()), "{failure:?}, call {call}");
    assert!(job.stored().files().get("README.md").unwrap().is_some(), "{failure:?}, call {call}");
    failing.have_failed()
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_stored_after_a_job_was_cancelled() {
    let (place, service) = (Place::new(), service());
    let (one, other) = (place.replica(&service).await, place.replica(&service).await);
    let worker = place.worker(&service, 2);
    let job = one.create(draft(1 << 20)).await;
    one.until(&job, |view| view.counts.stored_parts > 0).await;
    let seen = other.job(&job).await;
    let engine = Arc::clone(&other.engine);
    assert_eq!(tokio::task::spawn_blocking(move || engine.end(&seen, None).unwrap()).await.unwrap(), Ended::Kept);
    one.until(&job, |view| view.state == JobState::Cancelled).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let stored = || {
        let mut stored = 0;
        job.stored().files().list("parts", &mut |_| stored += 1).unwrap();
        stored
    };
    let before = stored();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(stored(), before);
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_says_what_it_waits_for() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let job = replica.create(draft(1 << 20)).await;
    let waits = async |reason| replica.until(&job, |view| view.waiting_for == reason).await;
    waits(Some(WaitingFor::Workers)).await;
    assert_eq!(replica.engine.view(&job).state, JobState::Queued);
    place.queue.set_down(true);
    waits(Some(WaitingFor::Queue)).await;
    place.queue.set_down(false);
    waits(Some(WaitingFor::Workers)).await;
    let worker = place.worker(&service, 1);
    let view = replica.until(&job, |view| view.counts.done > 2).await;
    assert_eq!((view.state, view.waiting_for, view.counts.failed), (JobState::Running, None, None));
    worker.stop().await;
    waits(Some(WaitingFor::Workers)).await;
    let tasks = place.queue.tasks().await.unwrap();
    assert!(!tasks.is_empty() && tasks.len() < 20, "the queue is short: {tasks:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_leaves_labels_of_another_solver_to_others() {
    let place = Place::new();
    let (small, standard) =
        (service(), Service::start(ServiceSettings { tables: Tier::Standard, ..ServiceSettings::for_tests() }));
    let replica = place.replica(&small).await;
    let job = replica.create(draft(3)).await;
    let other = place.worker(&standard, 1);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(replica.engine.view(&job).counts.done, 0);
    let own = place.worker(&small, 1);
    replica.completed(&job).await;
    assert_eq!(files(job.stored()), undisturbed(job.stored().spec()));
    own.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_job_fails() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let job = replica.create(draft(3)).await;
    job.stored().files().put("parts/0000000001.tqp", b"damaged").unwrap();
    let worker = place.worker(&service, 1);
    let view = replica.completed(&job).await;
    assert_eq!(view.state, JobState::Failed);
    assert!(view.reason.is_some_and(|reason| reason.contains("0000000001.tqp")));
    worker.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_job_does_not_wait_for_the_chunks_of_a_long_one() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let worker = place.worker(&service, 1);
    // Each board of the long job takes half a minute.
    let goal = Board::blank_last(Size::try_from((6, 6)).unwrap());
    let limits = RequestedLimits { time: Some(Duration::from_secs(30)), expanded: None, nodes: None };
    let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", 1 << 20).unwrap());
    let long = replica.create(Draft { boards, want: Want::Length, limits, folder: None }).await;
    replica.until(&long, |view| view.state == JobState::Running).await;
    let begun = Instant::now();
    let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
    let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", 1000).unwrap());
    let limits = RequestedLimits::default();
    let short =
        replica.engine.create(JobOwner::default(), None, Draft { boards, want: Want::Length, limits, folder: None });
    let short = short.await.unwrap();
    assert_eq!(replica.completed(&short).await.state, JobState::Completed);
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
    assert_eq!(replica.engine.view(&long).counts.done, 0);
    worker.kill();
}
