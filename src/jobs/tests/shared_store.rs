//! Tests of engines whose store other processes use too.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_has_not_seen_a_deletion_ends_nothing() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let open = || Running::idle(&service, memory.clone(), Arc::new(NoWorkers));
    let (one, other) = (open().await, open().await);
    for only in [None, Some(Ending::Cancel), Some(Ending::Delete)] {
        let job = one.create(owner(), Some("key"), draft(2)).await.unwrap();
        let seen = other.find(owner(), job.id()).await.unwrap().unwrap();
        assert_eq!(one.end(&job, None).unwrap(), Ended::Kept);
        assert_eq!(one.end(&job, None).unwrap(), Ended::Deleted);
        one.remove_files();
        let anew = one.create(owner(), Some("key"), draft(2)).await.unwrap();
        assert_eq!(other.end(&seen, only).unwrap(), Ended::Gone, "{only:?}");
        assert!(memory.get(&format!("data/{}/end.json", job.record.folder)).unwrap().is_none(), "nothing is left");
        let seen = other.find(owner(), job.id()).await.unwrap().unwrap();
        assert_eq!((seen.record.folder, other.view(&seen).state), (anew.record.folder, JobState::Queued));
        assert_eq!(one.end(&anew, None).unwrap(), Ended::Kept);
        assert_eq!(one.end(&anew, None).unwrap(), Ended::Deleted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_that_was_removed_is_made_again() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let engine = Running::idle(&service, memory, Arc::new(NoWorkers)).await;
    let job = engine.create(owner(), None, draft(3)).await.unwrap();
    make(job.stored(), Shard::WHOLE);
    assert!(job.read_progress().unwrap());
    assert_eq!(engine.view(&job).state, JobState::Finalizing);
    job.stored().files().remove("parts/0000000001.tqp").unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    job.read_progress().unwrap();
    let view = engine.view(&job);
    assert_eq!((view.state, view.counts.done, view.counts.stored_parts), (JobState::Running, 2, 2));
    let mut missing = Vec::new();
    job.missing_chunks(|chunk| {
        missing.push(chunk);
        true
    });
    assert_eq!(missing, [1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_whose_jobs_cannot_be_read_is_down() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let open = || Running::idle(&service, memory.clone(), Arc::new(NoWorkers));
    open().await.create(owner(), None, draft(1)).await.unwrap();
    memory.lose_bucket();
    let engine = open().await;
    for _ in 0..2 {
        assert!(engine.search_jobs().is_err() && !engine.has_store());
    }
    memory.find_bucket();
    assert!(engine.search_jobs().is_ok() && engine.has_store());
    assert_eq!(engine.jobs(owner()).await.unwrap().len(), 1);
    memory.lose_bucket();
    for _ in 0..2 {
        assert!(engine.search_jobs().is_err() && engine.jobs(owner()).await.is_err());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_request_finds_its_job_although_there_are_too_many() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let open = || Running::idle(&service, memory.clone(), Arc::new(NoWorkers));
    let (one, other) = (open().await, open().await);
    for count in 1..=2 {
        one.create(owner(), None, draft(count)).await.unwrap();
    }
    // Both requests have the same key, so they create one job. That job takes the last place.
    let (first, second) =
        tokio::join!(one.create(owner(), Some("key"), draft(3)), other.create(owner(), Some("key"), draft(3)));
    assert_eq!(first.unwrap().record.folder, second.unwrap().record.folder);
    let third = other.create(owner(), Some("key"), draft(3)).await.unwrap();
    assert_eq!(third.id(), owner().job_of_key("key"));
    assert_eq!(other.jobs(owner()).await.unwrap().len(), 3);
    assert!(matches!(other.create(owner(), Some("other"), draft(3)).await, Err(CreateError::TooMany(3))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_another_process_creates_anew_is_known() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let running = Running::on(&service, memory.clone()).await.unwrap();
    let job = running.create(Some("key"), draft(1)).await.unwrap();
    completed(&running.engine, &job).await;
    let other = Running::idle(&service, memory, Arc::new(LocalDispatch::new(&service))).await;
    let seen = other.find(owner(), job.id()).await.unwrap().unwrap();
    assert_eq!(other.end(&seen, None).unwrap(), Ended::Deleted);
    let anew = other.create(owner(), Some("key"), draft(1)).await.unwrap();
    assert!(anew.id() == job.id() && anew.record.folder != job.record.folder);
    let engine = Arc::clone(&running.engine);
    tokio::task::spawn_blocking(move || engine.tidy()).await.unwrap();
    let known = running.engine.jobs.lock().get(&job.id()).cloned().expect("it is known");
    assert_eq!(known.record.folder, anew.record.folder);
    completed(&running.engine, &known).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_a_shared_store_are_read_after_the_start_and_lists_wait_for_them() {
    let (service, memory) = (service(), Arc::new(FilesInMemory::default()));
    let open = || Running::idle(&service, memory.clone(), Arc::new(NoWorkers));
    let one = open().await;
    for count in 1..=2 {
        one.create(owner(), None, draft(count)).await.unwrap();
    }
    let other = open().await;
    assert!(other.jobs.lock().is_empty(), "the start does not wait for them");
    let lists = tokio::join!(other.jobs(owner()), other.jobs(owner()), other.jobs(owner()));
    for list in [lists.0, lists.1, lists.2] {
        assert_eq!(list.unwrap().len(), 2);
    }
    // The jobs of other processes count against the limit too.
    one.create(owner(), None, draft(3)).await.unwrap();
    tokio::time::sleep(LIST_PERIOD).await;
    assert!(matches!(other.create(owner(), None, draft(1)).await, Err(CreateError::TooMany(3))));
    assert!(matches!(other.begin_upload(owner(), None).await, Err(CreateError::TooMany(3))));
    memory.lose_bucket();
    assert!(open().await.jobs(owner()).await.is_err(), "an incomplete list is none");
}
