//! Tests of the engine, with a service and a directory of job files.

mod damage;
mod shared_store;

use std::fs;
use std::future::ready;
use std::path::Path;

use taquin_bulk::test_files::{FailingFiles, Failure, FilesInMemory, Scratch};
use taquin_bulk::{
    Files, JobBoards, JobSpec, Progress, Recipe, RequestedLimits, Resources, Row, RunEnd, Shard, StoredJob, Want, run,
    seal, unseal,
};
use taquin_solver::{Board, Size};
use tokio::runtime::Handle;

use super::begun_chunk::{BegunChunk, ChunkBudget};
use super::job::{DISK_RETRY, Making, Step};
use super::store::JobRecord;
use super::work::OwnerWork;
use super::*;
use crate::service::{Metrics, ServiceSettings, Tables};

const SEARCH_MEMORY: u64 = 16 << 20;

fn service() -> Arc<Service> {
    Service::start(ServiceSettings::for_tests())
}

/// An engine and the engine's task. The task runs until the engine drains.
struct Running {
    engine: Arc<JobEngine>,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    fn new(path: &Path) -> Self {
        Self::with(path, |settings| settings)
    }

    fn with(path: &Path, change: impl FnOnce(JobSettings) -> JobSettings) -> Self {
        let store = JobStore::in_directory(path).unwrap();
        let service = service();
        let engine =
            JobEngine::open(&service, change(settings()), store, Arc::new(LocalDispatch::new(&service))).unwrap();
        let task = tokio::spawn(Arc::clone(&engine).run());
        Self { engine, task }
    }

    /// Opens and runs an engine on a shared store. The engine must call the files only on threads that may block.
    async fn on(service: &Arc<Service>, files: Arc<dyn Files>) -> Result<Self, EngineError> {
        let (service, store) = (Arc::clone(service), JobStore::shared(files));
        let open = move || JobEngine::open(&service, settings(), store, Arc::new(LocalDispatch::new(&service)));
        let engine = tokio::task::spawn_blocking(open).await.unwrap()?;
        let task = tokio::spawn(Arc::clone(&engine).run());
        Ok(Self { engine, task })
    }

    /// Opens an engine on a shared store. The engine's task does not run.
    async fn idle(service: &Arc<Service>, files: Arc<dyn Files>, dispatch: Arc<dyn Dispatch>) -> Arc<JobEngine> {
        let (service, store) = (Arc::clone(service), JobStore::shared(files));
        let open = move || JobEngine::open(&service, settings(), store, dispatch);
        tokio::task::spawn_blocking(open).await.unwrap().unwrap()
    }

    async fn job(&self, id: JobId) -> Option<Arc<Job>> {
        self.engine.find(owner(), id).await.unwrap()
    }

    async fn create(&self, key: Option<&str>, draft: Draft) -> Result<Arc<Job>, CreateError> {
        self.engine.create(owner(), key, draft).await
    }

    /// Ends the engine. The service continues.
    async fn end(self) {
        self.engine.drain();
        self.task.await.unwrap();
    }

    /// Ends the engine and all work of the service, like the end of the process.
    async fn stop(self) {
        self.engine.drain();
        self.engine.service.cancel_all();
        self.task.await.unwrap();
        self.engine.service.idle().await;
        // The lane may still hold the service through works that it drops. Only the engine holds the lock of the
        // directory.
        let weak = Arc::downgrade(&self.engine);
        drop(self.engine);
        assert!(weak.upgrade().is_none(), "a task still has the engine");
    }
}

fn settings() -> JobSettings {
    JobSettings { keep: Duration::from_secs(3600), max_unfinished: 3, max_boards: 1 << 40, max_body: 1 << 20 }
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

/// Creates a request for a job that does not end during a test.
fn endless() -> Draft {
    draft(1 << 20)
}

async fn wait_until(engine: &JobEngine, job: &Job, is_so: impl Fn(&JobView) -> bool) -> JobView {
    let mut changes = job.changes();
    loop {
        let view = engine.view(job);
        if is_so(&view) {
            return view;
        }
        assert!(!view.state.is_ended(), "{view:?}");
        tokio::time::timeout(Duration::from_secs(120), changes.changed()).await.expect("the job goes on").unwrap();
    }
}

async fn completed(engine: &JobEngine, job: &Job) -> JobView {
    wait_until(engine, job, |view| view.state == JobState::Completed).await
}

/// Returns the parts and the manifest of a job that one thread makes without a service.
fn undisturbed(spec: &JobSpec) -> Vec<Vec<u8>> {
    let scratch = Scratch::new();
    let job = StoredJob::create(scratch.0.path(), spec).unwrap();
    make(&job, Shard::WHOLE);
    assert!(job.complete().unwrap());
    files(&job)
}

fn files(job: &StoredJob) -> Vec<Vec<u8>> {
    let parts = (0..job.spec().chunks()).map(|chunk| job.part_bytes(chunk).unwrap().unwrap());
    parts.chain([job.files().get("end.json").unwrap().unwrap()]).collect()
}

/// Waits until the files of a job are removed.
async fn removed(job: &Job) {
    let begun = Instant::now();
    while exists(job) {
        assert!(begun.elapsed() < Duration::from_secs(60), "its files are left");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns true if the directory of a job exists.
fn exists(job: &Job) -> bool {
    job.stored().files().path_of("").exists()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_has_the_bytes_of_an_undisturbed_run() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let job = running.create(None, draft(12)).await.unwrap();
    assert_eq!((job.stored().spec().chunk, job.stored().spec().chunks()), (1, 12));
    let view = completed(&running.engine, &job).await;
    assert_eq!((view.counts.done, view.counts.stored_parts, view.counts.failed), (12, 12, Some(0)));
    assert!(view.ended.unwrap() >= view.created && view.expires > view.ended && view.waiting_for.is_none());
    assert_eq!(files(job.stored()), undisturbed(job.stored().spec()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_goes_on_after_the_end_of_its_process() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let id = {
        let job = running.create(None, draft(40)).await.unwrap();
        wait_until(&running.engine, &job, |view| view.counts.stored_parts >= 3).await;
        job.id()
    };
    running.stop().await;
    let running = Running::new(scratch.0.path());
    let job = running.job(id).await.expect("it is there");
    assert!(running.engine.view(&job).counts.done >= 3, "stored parts count from the start");
    completed(&running.engine, &job).await;
    assert_eq!(files(job.stored()), undisturbed(job.stored().spec()));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_is_one_job() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let create = |_| {
        let engine = Arc::clone(&running.engine);
        tokio::spawn(async move { engine.create(owner(), Some("key"), draft(2)).await.unwrap().id() })
    };
    let creating: Vec<_> = (0..100).map(create).collect();
    for created in creating {
        assert_eq!(created.await.unwrap(), owner().job_of_key("key"));
    }
    assert_eq!(running.engine.jobs(owner()).await.unwrap().len(), 1);
    assert_eq!(fs::read_dir(scratch.0.path().join("jobs")).unwrap().count(), 1);
    let other = Draft { want: Want::Length, ..draft(2) };
    assert!(matches!(running.create(Some("key"), other).await, Err(CreateError::OtherJob(_))));
    let of_another = running.engine.create(JobOwner::default(), Some("key"), draft(3)).await.unwrap();
    assert!(running.job(of_another.id()).await.is_none(), "it is the other owner's");
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_jobs_of_an_owner_are_limited() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let mut jobs = Vec::new();
    for _ in 0..3 {
        jobs.push(running.create(None, endless()).await.unwrap());
    }
    assert!(matches!(running.create(None, endless()).await, Err(CreateError::TooMany(3))));
    assert!(running.engine.create(JobOwner::default(), None, draft(1)).await.is_ok(), "another owner has none");
    assert_eq!(running.engine.end(&jobs[0], None).unwrap(), Ended::Kept);
    assert!(running.create(None, draft(1)).await.is_ok());
    let newest = running.engine.jobs(owner()).await.unwrap();
    assert!(newest.len() == 4 && newest.is_sorted_by(|a, b| JobEngine::rank(a) > JobEngine::rank(b)));
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_one_owner_do_not_delay_those_of_another() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    for _ in 0..3 {
        running.create(None, endless()).await.unwrap();
    }
    let job = running.engine.create(JobOwner::default(), None, draft(10)).await.unwrap();
    completed(&running.engine, &job).await;
    let states = running.engine.jobs(owner()).await.unwrap().iter().map(|job| job.state()).collect::<Vec<_>>();
    assert!(states.iter().all(|state| !state.is_ended()), "{states:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_stops_and_can_be_deleted() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let job = running.create(None, endless()).await.unwrap();
    wait_until(&running.engine, &job, |view| view.counts.stored_parts > 0).await;
    assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Kept);
    assert_eq!(running.engine.view(&job).state, JobState::Cancelled);
    running.engine.service.idle().await;
    let stored = job.stored().done().unwrap().into_iter().filter(|is_done| *is_done).count();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(job.stored().done().unwrap().into_iter().filter(|is_done| *is_done).count(), stored);
    assert!(job.stored().manifest().unwrap().is_none(), "it is not complete");
    assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Deleted);
    assert!(running.job(job.id()).await.is_none());
    removed(&job).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_job_is_deleted_after_its_time() {
    let scratch = Scratch::new();
    let running = Running::with(scratch.0.path(), |settings| JobSettings { keep: Duration::ZERO, ..settings });
    let (job, other) = (running.create(None, draft(1)).await.unwrap(), running.create(None, endless()).await.unwrap());
    completed(&running.engine, &job).await;
    // The job expires first, and its files are removed afterwards.
    while exists(&job) {
        running.engine.wake.notify_one();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(running.job(job.id()).await.is_none() && exists(&other));
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_of_another_version_are_not_mixed_with_those_of_this_one() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let job = running.create(None, endless()).await.unwrap();
    let (id, path) = (job.id(), job.stored().files().path_of(""));
    drop(job);
    running.stop().await;
    let spec = path.join("spec.json");
    let text = String::from_utf8(unseal(&fs::read(&spec).unwrap()).unwrap()).unwrap();
    assert!(text.contains(VERSION));
    fs::write(&spec, seal(text.replacen(VERSION, "0.0.0", 1).as_bytes())).unwrap();
    // The stored parts belong to the previous specification.
    fs::remove_dir_all(path.join("parts")).unwrap();
    fs::create_dir(path.join("parts")).unwrap();
    let running = Running::new(scratch.0.path());
    let job = running.job(id).await.unwrap();
    assert_eq!(running.engine.view(&job).waiting_for, Some(WaitingFor::Version));
    let own = running.create(None, draft(2)).await.unwrap();
    completed(&running.engine, &own).await;
    assert_eq!(running.engine.view(&job).counts.done, 0);
    assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Kept);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_part_fails_the_job() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let job = running.create(None, endless()).await.unwrap();
    wait_until(&running.engine, &job, |view| view.counts.stored_parts > 1).await;
    let (id, path) = (job.id(), job.stored().files().path_of("parts/0000000000.tqp"));
    drop(job);
    running.stop().await;
    fs::write(path, b"TAQPART1").unwrap();
    let running = Running::new(scratch.0.path());
    let job = running.job(id).await.unwrap();
    let view = wait_until(&running.engine, &job, |view| view.state == JobState::Failed).await;
    let reason = view.reason.unwrap();
    assert!(reason.starts_with("parts/0000000000.tqp: ") && reason.contains("delete the job"), "{reason}");
    assert!(!reason.contains(&*scratch.0.path().to_string_lossy()), "{reason}");
    assert_eq!(
        running.engine.states().into_iter().find(|(state, _)| *state == JobState::Failed),
        Some((JobState::Failed, 1))
    );
}

/// A dispatch to workers of other processes. No such worker exists.
#[derive(Debug)]
struct NoWorkers;

impl Dispatch for NoWorkers {
    fn reconcile(&self, _: &[Arc<Job>]) {}

    fn has_worker(&self) -> bool {
        false
    }

    fn makes_elsewhere(&self) -> bool {
        true
    }
}

/// Makes the parts of a shard of a job.
fn make(job: &StoredJob, shard: Shard) {
    let (tables, cancel) = (Tables::default(), std::sync::atomic::AtomicBool::new(false));
    let metrics = Metrics::default();
    let resources =
        Resources { tables: &tables, threads: 1, search_memory: SEARCH_MEMORY, cancel: &cancel, failures: &metrics };
    assert_eq!(run(job, shard, &resources, &Progress::default()).unwrap(), RunEnd::Finished);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_cancelled_while_its_parts_are_counted_stays_cancelled() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let open = || Running::idle(&service, memory.clone(), Arc::new(LocalDispatch::new(&service)));
    let first = open().await.create(owner(), Some("key"), draft(4)).await.unwrap();
    assert_eq!(first.view(Duration::ZERO, true).counts.failed, Some(0));
    make(first.stored(), Shard::try_new(0, 2).unwrap());
    let engine = open().await;
    let job = engine.find(owner(), first.id()).await.unwrap().unwrap();
    assert_eq!(engine.view(&job).counts.failed, None, "they are not counted");
    assert!(matches!(job.next_step(|| None), Some(Step::Open)));
    assert_eq!(engine.end(&job, None).unwrap(), Ended::Kept);
    job.opened(0);
    job.end_slice();
    let view = engine.view(&job);
    assert_eq!((view.state, view.counts.done, view.counts.failed), (JobState::Cancelled, 2, None));
    assert!(job.next_step(|| None).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_does_not_change_after_its_end() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let engine = Running::idle(&service, memory, Arc::new(LocalDispatch::new(&service))).await;
    let job = engine.create(owner(), None, draft(4)).await.unwrap();
    let budget = ChunkBudget::default();
    let begin = || {
        let Some(Step::Begin(number, memory)) = job.next_step(|| budget.take(job.stored().spec())) else {
            panic!("there are chunks")
        };
        let mut chunk = BegunChunk::new(job.stored(), number, memory).unwrap();
        chunk.part.push(&Row::Failed);
        Box::new(chunk)
    };
    let [stored, late, later] = [(); 3].map(|()| begin());
    OwnerWork::store(&job, stored);
    assert_eq!(engine.end(&job, None).unwrap(), Ended::Kept);
    let view = engine.view(&job);
    assert_eq!((view.counts.done, view.counts.stored_parts), (1, 1));
    job.stored_part(&late);
    assert_eq!(engine.view(&job), view, "the end is the last change");
    let number = later.number;
    OwnerWork::store(&job, later);
    assert!(!job.stored().has_part(number).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_job_has_no_begun_chunks() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let engine = Running::idle(&service, memory.clone(), Arc::new(LocalDispatch::new(&service))).await;
    let job = engine.create(owner(), None, draft(4)).await.unwrap();
    let budget = ChunkBudget::default();
    let Some(Step::Begin(number, taken)) = job.next_step(|| budget.take(job.stored().spec())) else {
        panic!("there are chunks")
    };
    let chunk = Box::new(BegunChunk::new(job.stored(), number, taken).unwrap());
    assert_eq!(engine.end(&job, None).unwrap(), Ended::Kept);
    assert!(budget.is_used());
    job.park(chunk);
    assert!(!budget.is_used(), "a slice that ends after the job keeps nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_that_cannot_be_stored_is_stored_later() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let engine = Running::idle(&service, memory.clone(), Arc::new(LocalDispatch::new(&service))).await;
    let job = engine.create(owner(), None, draft(4)).await.unwrap();
    memory.lose_bucket();
    job.fail("a reason");
    assert!(job.next_step(|| None).is_none());
    assert_eq!(engine.view(&job).waiting_for, Some(WaitingFor::Disk));
    memory.find_bucket();
    tokio::time::sleep(DISK_RETRY).await;
    let Some(Step::Fail(reason)) = job.next_step(|| None) else { panic!("there is something to store") };
    job.fail(&reason);
    job.end_slice();
    let view = engine.view(&job);
    assert_eq!((view.state, view.reason.as_deref()), (JobState::Failed, Some("a reason")));
}

#[tokio::test(flavor = "multi_thread")]
async fn uploads_count_while_they_are_received() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    running.create(Some("key"), endless()).await.unwrap();
    let begin = |key| running.engine.begin_upload(owner(), key);
    let _first = begin(None).await.unwrap();
    let second = begin(Some("other")).await.unwrap();
    assert!(matches!(begin(None).await, Err(CreateError::TooMany(3))));
    drop(second);
    let _second = begin(None).await.unwrap();
    // A repeated request creates no second job, but counts as a job in creation.
    let _third = begin(Some("key")).await.unwrap();
    assert!(matches!(begin(Some("key")).await, Err(CreateError::TooMany(3))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_files_are_gone_can_be_cancelled_and_deleted() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let job = running.create(None, endless()).await.unwrap();
    wait_until(&running.engine, &job, |view| view.counts.stored_parts > 1).await;
    fs::rename(job.stored().files().path_of(""), scratch.0.path().join("moved")).unwrap();
    wait_until(&running.engine, &job, |view| view.waiting_for == Some(WaitingFor::Disk)).await;
    assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Kept);
    assert_eq!(running.engine.view(&job).state, JobState::Failed);
    assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Deleted);
    assert!(running.job(job.id()).await.is_none());
    drop(job);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_files_are_damaged_has_failed_and_can_be_deleted() {
    let scratch = Scratch::new();
    for name in ["spec.json", "end.json"] {
        let running = Running::new(scratch.0.path());
        let job = running.create(Some(name), draft(2)).await.unwrap();
        completed(&running.engine, &job).await;
        let (id, path) = (job.id(), job.stored().files().path_of(name));
        drop(job);
        running.stop().await;
        fs::write(path, b"{").unwrap();
        let running = Running::new(scratch.0.path());
        let job = running.engine.jobs(owner()).await.unwrap().pop().expect("it is listed");
        let view = running.engine.view(&job);
        assert_eq!((view.id, view.state, view.spec.is_some()), (id, JobState::Failed, name == "end.json"));
        assert!(view.reason.is_some_and(|reason| reason.starts_with(name)));
        assert!(view.expires.unwrap() > SystemTime::now() + Duration::from_secs(3000));
        assert_eq!(running.create(Some(name), draft(2)).await.unwrap().id(), id, "the key belongs to the job");
        assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Deleted);
        assert!(running.job(id).await.is_none());
        removed(&job).await;
        drop(job);
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_finds_its_job_after_the_limits_were_lowered() {
    let memory = Arc::new(FilesInMemory::default());
    let with_time = |seconds| {
        let max_time = Duration::from_secs(seconds);
        Service::start(ServiceSettings { max_time, ..ServiceSettings::for_tests() })
    };
    let mut ids = Vec::new();
    for seconds in [50, 20] {
        let engine = Running::idle(&with_time(seconds), memory.clone(), Arc::new(NoWorkers)).await;
        let nodes = Draft { limits: RequestedLimits { nodes: Some(77), ..draft(2).limits }, ..draft(2) };
        let job = engine.create(owner(), Some("key"), nodes).await.unwrap();
        let limits = job.stored().spec().limits;
        assert_eq!((limits.time, limits.nodes), (Some(Duration::from_secs(50)), Some(77)));
        ids.push(job.id());
        let other = engine.create(owner(), Some("key"), draft(2)).await;
        assert!(matches!(other, Err(CreateError::OtherJob(_))), "it has no limit of nodes");
    }
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_parts_all_exist_waits_for_a_worker_that_ends_it() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let open = || Running::idle(&service, memory.clone(), Arc::new(NoWorkers));
    let first = open().await.create(owner(), Some("key"), draft(2)).await.unwrap();
    make(first.stored(), Shard::WHOLE);
    let engine = open().await;
    let job = engine.find(owner(), first.id()).await.unwrap().unwrap();
    assert!(!job.read_progress().unwrap());
    assert_eq!(engine.view(&job).state, JobState::Finalizing);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(engine.view(&job).waiting_for, Some(WaitingFor::Workers));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_clock_of_a_replica_does_not_move_the_expiry() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let engine = Running::idle(&service, memory, Arc::new(NoWorkers)).await;
    let job = engine.create(owner(), None, draft(1)).await.unwrap();
    assert_eq!(engine.end(&job, None).unwrap(), Ended::Kept);
    let created = SystemTime::now() + Duration::from_secs(1 << 25);
    let record = JobRecord { owner: owner(), created, core_seconds: 1.0, folder: job.record.folder };
    let ahead = Job::load(job.id(), record, job.stored().clone(), Making::Elsewhere, None).unwrap();
    assert_eq!(ahead.ended(), job.ended());
    let view = engine.view(&ahead);
    assert_eq!((view.ended, view.expires), (Some(created), engine.view(&job).expires));
}

/// Creates a job of three parts, and waits until the job ends or is blocked. Returns the id if the job was accepted.
async fn attempt(service: &Arc<Service>, files: Arc<dyn Files>) -> Option<JobId> {
    let running = Running::on(service, files).await.ok()?;
    let created = running.create(Some("key"), draft(3)).await;
    if let Ok(job) = &created {
        let is_over = |view: &JobView| view.state.is_ended() || view.waiting_for == Some(WaitingFor::Disk);
        wait_until(&running.engine, job, is_over).await;
    }
    running.end().await;
    created.ok().map(|job| job.id())
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_call_fails_a_job_that_was_accepted_ends_and_there_is_one() {
    let service = service();
    for failure in Failure::ALL {
        for call in 0.. {
            let memory = Arc::new(FilesInMemory::default());
            let runtime = Handle::current();
            // The hook panics on a thread that runs async tasks. Files that wait for the network panic there too.
            let off_runtime = move || runtime.block_on(ready(()));
            let failing = FailingFiles::new(Arc::clone(&memory), call, failure).with_before(off_runtime);
            let failing = Arc::new(failing);
            let accepted = attempt(&service, failing.clone()).await;
            let has_failed = failing.have_failed();
            let running = Running::on(&service, memory).await.unwrap();
            let job = match accepted {
                Some(id) => running.job(id).await.expect("a job that was accepted is there"),
                None => running.create(Some("key"), draft(3)).await.unwrap(),
            };
            completed(&running.engine, &job).await;
            assert_eq!(files(job.stored()), undisturbed(job.stored().spec()), "{failure:?}, call {call}");
            assert_eq!(running.engine.jobs(owner()).await.unwrap().len(), 1);
            // This call removes the files that a failed request has left.
            running.engine.store.remove_unnamed(Duration::ZERO).unwrap();
            let mut folders: Vec<FolderName> = Vec::new();
            let files = running.engine.store.files();
            files.list_folders("data", &mut |name| folders.push(name.parse().unwrap())).unwrap();
            assert_eq!(folders, [job.record.folder], "{failure:?}, call {call}");
            running.end().await;
            if !has_failed {
                assert!(accepted.is_some() && call > 20, "{failure:?} has {call} calls");
                break;
            }
        }
    }
}
