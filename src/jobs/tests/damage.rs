//! Tests of jobs whose files are damaged, and of files that killed processes have left.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use taquin_bulk::JobError;

use super::*;

/// Completes a job, and stops the engine. Returns the id of the job and the path of the job's record.
async fn completed_job(path: &Path, key: &str) -> (JobId, PathBuf) {
    let running = Running::new(path);
    let job = running.create(Some(key), draft(2)).await.unwrap();
    completed(&running.engine, &job).await;
    let id = job.id();
    drop(job);
    running.stop().await;
    (id, path.join("jobs").join(format!("{id}.json")))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_record_is_damaged_has_failed_and_can_be_deleted() {
    let scratch = Scratch::new();
    let (id, record) = completed_job(scratch.0.path(), "key").await;
    let whole = fs::read(&record).unwrap();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let write = |bytes: &[u8]| fs::write(&record, bytes).unwrap();
    let kinds: [&dyn Fn(); 8] = [
        &|| write(b""),
        &|| write(&whole[..100]),
        &|| write(&flipped(5)),
        &|| write(&flipped(whole.len() - 5)),
        &|| fs::create_dir(&record).unwrap(),
        &|| assert!(Command::new("mkfifo").arg(&record).status().unwrap().success()),
        &|| symlink("/dev/zero", &record).unwrap(),
        &|| symlink("nothing", &record).unwrap(),
    ];
    for damage in kinds {
        let running = Running::new(scratch.0.path());
        let job = running.create(Some("key"), draft(2)).await.unwrap();
        completed(&running.engine, &job).await;
        let folder = job.stored().files().path_of("");
        drop(job);
        running.stop().await;
        fs::remove_file(&record).unwrap();
        damage();
        let running = Running::new(scratch.0.path());
        let found = running.engine.find(owner(), id).await.unwrap().expect("it is found");
        let listed = running.engine.jobs(found.record.owner).await.unwrap();
        let view = running.engine.view(&found);
        assert_eq!((listed.len(), view.id, view.state), (1, id, JobState::Failed));
        assert_eq!((view.folder, view.spec.is_some(), view.counts.boards), (None, false, 0));
        assert!(view.reason.as_ref().is_some_and(|reason| reason.starts_with("the record of the job: ")), "{view:?}");
        assert!(view.expires.unwrap() > SystemTime::now(), "{view:?}");
        let again = running.create(Some("key"), draft(2)).await.unwrap();
        assert!(Arc::ptr_eq(&found, &again), "the key belongs to the job");
        assert!(folder.exists());
        assert_eq!(running.engine.end(&found, None).unwrap(), Ended::Deleted);
        assert!(running.job(id).await.is_none());
        let begun = Instant::now();
        while folder.exists() {
            assert!(begun.elapsed() < Duration::from_secs(20), "no record names the folder");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        drop((listed, found, again));
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_record_is_listed_for_its_owner_and_found_by_its_id() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let [one, other] = [[3; 32], [4; 32]].map(JobOwner::of_token);
    let job = running.engine.create(one, None, draft(2)).await.unwrap();
    completed(&running.engine, &job).await;
    let id = job.id();
    let record = running.engine.store.files().path_of(&format!("jobs/{id}.json"));
    assert!(running.engine.find(other, id).await.unwrap().is_none());
    let mut bytes = fs::read(&record).unwrap();
    let last = bytes.len() - 10;
    bytes[last] ^= 1;
    fs::write(&record, &bytes).unwrap();
    // The engine notices the damage without a restart.
    assert_eq!(running.engine.find(one, id).await.unwrap().unwrap().state(), JobState::Failed);
    assert!(running.engine.find(other, id).await.unwrap().is_some_and(|job| !job.has_spec()));
    let listed = async |owner| running.engine.jobs(owner).await.unwrap().len();
    assert_eq!((listed(one).await, listed(other).await, listed(owner()).await), (1, 0, 0));
    // An empty record does not contain the owner.
    fs::write(&record, b"").unwrap();
    running.engine.forget(&running.job(id).await.unwrap());
    running.engine.search_jobs().unwrap();
    assert_eq!((listed(one).await, listed(other).await, listed(JobOwner::default()).await), (0, 0, 1));
    assert!(running.engine.find(one, id).await.unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ended_job_with_a_damaged_part_has_failed_for_good() {
    for is_cancelled in [false, true] {
        let scratch = Scratch::new();
        let running = Running::new(scratch.0.path());
        let job = running.create(None, if is_cancelled { endless() } else { draft(2) }).await.unwrap();
        if is_cancelled {
            wait_until(&running.engine, &job, |view| view.counts.stored_parts > 0).await;
            running.engine.end(&job, None).unwrap();
        } else {
            completed(&running.engine, &job).await;
        }
        let ended = running.engine.view(&job);
        let error = job.stored().missing_part(0);
        let mut changes = job.changes();
        changes.mark_unchanged();
        assert!(running.engine.report_damage(&job, &error).unwrap());
        assert!(changes.has_changed().unwrap());
        let failed =
            JobView { state: JobState::Failed, reason: Some(error.for_clients(job.stored().files())), ..ended };
        assert_eq!(running.engine.view(&job), failed);
        // Only the first damage is recorded.
        assert!(running.engine.report_damage(&job, &job.stored().missing_part(1)).unwrap());
        assert_eq!(running.engine.view(&job), failed);
        let id = job.id();
        drop(job);
        running.stop().await;
        let running = Running::new(scratch.0.path());
        let job = running.job(id).await.unwrap();
        let view = running.engine.view(&job);
        assert_eq!((view.state, &view.reason, view.ended), (JobState::Failed, &failed.reason, failed.ended));
        let path = job.stored().files().path_of("damaged.json");
        drop(job);
        running.stop().await;
        fs::write(path, b"{").unwrap();
        let running = Running::new(scratch.0.path());
        let job = running.job(id).await.unwrap();
        let view = running.engine.view(&job);
        assert_eq!(view.state, JobState::Failed, "a damaged mark is a mark");
        assert!(view.reason.is_some_and(|reason| reason.starts_with("damaged.json: ")));
        assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Deleted);
        assert!(!running.engine.report_damage(&job, &error).unwrap(), "it was deleted");
        drop(job);
        running.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_of_another_job_is_damage() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let [one, other] = [running.create(None, draft(2)).await.unwrap(), running.create(None, draft(3)).await.unwrap()];
    for job in [&one, &other] {
        completed(&running.engine, job).await;
    }
    let end = |job: &Job| job.stored().files().path_of("end.json");
    fs::copy(end(&one), end(&other)).unwrap();
    assert!(matches!(other.stored().end(), Err(JobError::File { .. })));
    assert!(one.stored().end().unwrap().is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_removes_what_killed_processes_have_left() {
    let scratch = Scratch::new();
    let (_, record) = completed_job(scratch.0.path(), "key").await;
    let running = Running::new(scratch.0.path());
    let unfinished = running.create(None, endless()).await.unwrap();
    let own = |job: &Job| job.stored().files().path_of("");
    let mut folders = vec![scratch.0.path().join("jobs"), own(&unfinished)];
    folders.extend(running.engine.jobs(owner()).await.unwrap().iter().map(|job| own(job)));
    drop(unfinished);
    running.stop().await;
    let mut left = vec![record.with_extension("json.0123456789abcdef.tmp")];
    for folder in &folders[1..] {
        fs::create_dir_all(folder.join("input")).unwrap();
        let names = ["spec.json", "end.json", "README.md", "parts/0000000000.tqp", "input/0000000000.tqb"];
        left.extend(names.map(|name| folder.join(format!("{name}.0123456789abcdef.tmp"))));
    }
    left.iter().for_each(|path| fs::write(path, b"half").unwrap());
    let running = Running::new(scratch.0.path());
    assert_eq!(running.engine.jobs(owner()).await.unwrap().len(), 2);
    let still_there: Vec<_> = left.iter().filter(|path| path.exists()).collect();
    assert!(still_there.is_empty(), "{still_there:?}");
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_deletions_at_once_one_removes_the_job() {
    let scratch = Scratch::new();
    let running = Running::new(scratch.0.path());
    let job = running.create(None, draft(2)).await.unwrap();
    completed(&running.engine, &job).await;
    assert_eq!(running.engine.remove(&job).unwrap(), Removal::Done);
    assert_eq!(running.engine.remove(&job).unwrap(), Removal::WasGone);
    assert_eq!(running.engine.end(&job, None).unwrap(), Ended::Deleted);
    drop(job);
    running.stop().await;
}
