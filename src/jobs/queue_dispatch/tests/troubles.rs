//! Tests of workers that cannot do their tasks, and of stores that fail or are slow.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::hooked_files::{Call, HookedFiles};
use taquin_cluster::{Lease as _, Work};

use super::*;

/// Creates a request for a job whose labels do not depend on the solver. A chunk of the job takes a moment.
fn lengths() -> Draft {
    let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
    let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", 1000).unwrap());
    Draft { boards, want: Want::Length, limits: RequestedLimits::default(), folder: None }
}

fn other_solver() -> Arc<Service> {
    Service::start(ServiceSettings { tables: Tier::Standard, ..ServiceSettings::for_tests() })
}

/// Checks that a job whose tasks are refused keeps few tasks in the queue, and leaves room for other jobs. Returns the
/// job.
async fn assert_few_tasks(place: &Place, replica: &Replica, reason: WaitingFor, other: Option<Draft>) -> Arc<Job> {
    let job = replica.create(draft(1 << 20)).await;
    replica.until(&job, |view| view.waiting_for == Some(reason)).await;
    let before = place.queue.leases();
    let time = 3 * LEASE_TIME;
    tokio::time::sleep(time).await;
    let (leases, most) = (place.queue.leases() - before, place.queue.most());
    assert!(leases < 100, "{leases} tasks in {time:?}");
    assert!(most < 100, "{most} tasks at a time");
    if let Some(other) = other {
        let other = replica.create(other).await;
        assert_eq!(replica.completed(&other).await.state, JobState::Completed);
    }
    let view = replica.engine.view(&job);
    assert_eq!((view.counts.done, view.waiting_for), (0, Some(reason)));
    job
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_another_solver_has_few_tasks_and_says_so() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let workers = [place.worker(&other_solver(), 4), place.worker(&other_solver(), 4)];
    let job = assert_few_tasks(&place, &replica, WaitingFor::Version, Some(lengths())).await;
    let mut files = Vec::new();
    job.stored().files().list("trying", &mut |name| files.push(name.to_owned())).unwrap();
    assert_eq!(files, [""; 0], "a refusal is no sign of a deadly board");
    // Another worker can do the tasks, and receives them.
    let own = place.worker(&service, 2);
    replica.until(&job, |view| view.counts.done > 20 && view.waiting_for.is_none()).await;
    own.kill();
    workers.into_iter().for_each(RunningWorker::kill);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_with_another_store_takes_few_tasks_and_jobs_say_so() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let wrong = Place { files: Arc::new(FilesInMemory::default()), ..place.clone() }.worker(&service, 4);
    let job = assert_few_tasks(&place, &replica, WaitingFor::Disk, None).await;
    // A worker with the right store makes the parts while the other worker still runs.
    let right = place.worker(&service, 2);
    replica.until(&job, |view| view.counts.done > 20 && view.waiting_for.is_none()).await;
    right.kill();
    wrong.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_deleted_jobs_do_not_keep_a_worker_from_others() {
    let (place, service) = (Place::new(), service());
    let (replica, worker) = (place.replica(&service).await, place.worker(&service, 1));
    let job = replica.create(lengths()).await;
    replica.completed(&job).await;
    for chunk in 0..50 {
        let folder = "1".repeat(32).parse().unwrap();
        place
            .queue
            .offer(&Task { class: TaskClass::Quick, job: job.id(), folder, work: Work::Chunk(chunk) })
            .await
            .unwrap();
    }
    let begun = Instant::now();
    let job = replica.create(lengths()).await;
    assert_eq!(replica.completed(&job).await.state, JobState::Completed);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    worker.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_one_worker_cannot_store_is_made_by_another() {
    // A worker that cannot store a part keeps the lease of the task for 20 lease times. So this test uses a short lease
    // time.
    let place = Place { queue: MemoryQueue::new(LEASE_TIME / 8), ..Place::new() };
    let service = service();
    let replica = place.replica(&service).await;
    let refuses_parts = |call, name: &str| match call {
        Call::Put if name.contains("parts/") => Err(ErrorKind::PermissionDenied.into()),
        _ => Ok(()),
    };
    let files = HookedFiles::over(&place.files, refuses_parts);
    let one = Place { files, ..place.clone() }.worker(&service, 1);
    let job = replica.create(draft(1)).await;
    replica.until(&job, |view| view.waiting_for == Some(WaitingFor::Disk)).await;
    let other = place.worker(&service, 1);
    assert_eq!(replica.completed(&job).await.state, JobState::Completed);
    one.kill();
    other.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_is_extended_across_the_phases_of_slow_work() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let files = HookedFiles::over(&place.files, |_, _| {
        std::thread::sleep(Duration::from_millis(150));
        Ok(())
    });
    let worker = Place { files, ..place.clone() }.worker(&service, 1);
    let job = replica.create(draft(1)).await;
    replica.until(&job, |view| view.counts.stored_parts == 1).await;
    assert!(place.queue.extensions() > 0);
    worker.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_ends_gives_back_the_end_of_a_job_with_many_parts() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let job = replica.create(draft(200)).await;
    let (tables, cancel) = (Tables::default(), AtomicBool::new(false));
    let metrics = Metrics::default();
    let resources =
        Resources { tables: &tables, threads: 1, search_memory: SEARCH_MEMORY, cancel: &cancel, failures: &metrics };
    assert_eq!(run(job.stored(), Shard::WHOLE, &resources, &Progress::default()).unwrap(), RunEnd::Finished);
    let reads = Arc::new(AtomicUsize::new(0));
    let slow = {
        let reads = Arc::clone(&reads);
        move |call, name: &str| {
            if call == Call::Get && name.contains("parts/") {
                reads.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(200));
            }
            Ok(())
        }
    };
    let files = HookedFiles::over(&place.files, slow);
    let worker = Place { files, ..place.clone() }.worker_with_grace(&service, 1, Duration::ZERO);
    while reads.load(Ordering::Relaxed) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (begun, flushes) = (Instant::now(), place.queue.flushes());
    worker.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    assert_eq!(place.queue.flushes(), flushes + 1, "the process may end at once");
    let returned = tokio::time::timeout(LEASE_TIME / 4, place.queue.take(class_of(&job))).await;
    assert!(matches!(returned, Ok(Ok(Some(_)))), "{returned:?}");
    assert!(!job.state().is_ended());
    tokio::time::sleep(Duration::from_millis(500)).await;
    let after = reads.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(reads.load(Ordering::Relaxed), after, "the parts are not read further");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_asks_for_the_time_of_an_end_only_if_there_is_one() {
    let (place, service) = (Place::new(), service());
    let asked = Arc::new(AtomicUsize::new(0));
    let files = {
        let asked = Arc::clone(&asked);
        HookedFiles::over(&place.files, move |call, name| {
            asked.fetch_add((call == Call::CreatedAt && name.ends_with("/end.json")).into(), Ordering::Relaxed);
            Ok(())
        })
    };
    let replica = Place { files, ..place.clone() }.replica(&service).await;
    let job = replica.create(draft(20)).await;
    replica.until(&job, |view| view.waiting_for == Some(WaitingFor::Workers)).await;
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let worker = place.worker(&service, 1);
    replica.completed(&job).await;
    assert!(asked.load(Ordering::Relaxed) > 0);
    worker.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn chunks_at_work_are_not_offered_at_once_after_the_queue_has_lost_its_files() {
    let (place, service) = (Place::new(), service());
    // The engine of the replica uses another queue, so that only the test compares this queue with the jobs.
    let elsewhere = Place { queue: Place::new().queue, ..place.clone() }.replica(&service).await;
    let job = elsewhere.create(draft(3)).await;
    let dispatch = Arc::new(QueueDispatch::new(Arc::new(place.queue.clone())));
    let compare = async || {
        let (dispatch, job) = (Arc::clone(&dispatch), Arc::clone(&job));
        tokio::task::spawn_blocking(move || dispatch.reconcile(&[job])).await.unwrap();
        let mut works: Vec<Work> = place.queue.tasks().await.unwrap().into_iter().map(|task| task.work).collect();
        works.sort();
        works
    };
    let take = async || place.queue.take(class_of(&job)).await.unwrap().expect("a task").task().work;
    assert_eq!(compare().await, [Work::Chunk(0)]);
    assert_eq!(take().await, Work::Chunk(0));
    place.queue.break_at_offer();
    assert_eq!(compare().await, []);
    assert_eq!(compare().await, [1, 2].map(Work::Chunk));
    assert_eq!([take().await, take().await], [1, 2].map(Work::Chunk));
    tokio::time::sleep(LEASE_TIME).await;
    assert_eq!(compare().await, [0, 1, 2].map(Work::Chunk), "the lease has ended");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_cannot_be_read_does_not_hide_the_others() {
    let (place, service) = (Place::new(), service());
    let replica = place.replica(&service).await;
    let (ended, unreadable) = (replica.create(draft(1)).await, replica.create(draft(2)).await);
    let (engine, job) = (Arc::clone(&replica.engine), Arc::clone(&ended));
    assert_eq!(tokio::task::spawn_blocking(move || engine.end(&job, None).unwrap()).await.unwrap(), Ended::Kept);
    let record = format!("jobs/{}.json", unreadable.id());
    let files = HookedFiles::over(&place.files, move |call, name: &str| {
        if call == Call::Get && name == record { Err(ErrorKind::TimedOut.into()) } else { Ok(()) }
    });
    let other = Place { files, ..place.clone() }.replica(&service).await;
    let begun = Instant::now();
    let jobs = loop {
        match other.engine.jobs(ended.record.owner).await {
            Ok(jobs) => break jobs,
            Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    assert_eq!(jobs.iter().map(|job| job.id()).collect::<Vec<_>>(), [ended.id()]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(other.engine.jobs(ended.record.owner).await.is_ok() && other.engine.has_store());
}
