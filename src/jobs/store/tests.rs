use taquin_bulk::test_files::{FailingFiles, Failure, FilesInMemory, Scratch};
use taquin_bulk::{JobBoards, JobSpec, Recipe, RequestedLimits, Want};
use taquin_solver::heuristic::Tier;
use taquin_solver::{Board, Size};

use super::*;
use crate::jobs::owner::JobOwner;

fn spec(count: u64) -> JobSpec {
    let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
    JobSpec {
        boards: JobBoards::Recipe(Recipe::try_new(goal, "s", count).unwrap()),
        want: Want::Length,
        limits: RequestedLimits::default(),
        tables: Tier::Small,
        chunk: 4,
        version: "1".to_owned(),
    }
}

fn record(folder: &NewFolder) -> JobRecord {
    let owner = JobOwner::of_token([3; 32]);
    JobRecord { owner, created: JobRecord::now(), core_seconds: 1.5, folder: folder.name() }
}

fn remove(store: &JobStore, id: JobId, folder: FolderName) {
    assert_ne!(store.remove(id, folder).unwrap(), Removal::ByAnother);
    store.remove_files(id, folder);
}

fn folders(store: &JobStore) -> Vec<FolderName> {
    let mut folders = Vec::new();
    store.files.list_folders(FolderName::PARENT, &mut |name| folders.push(name.parse().unwrap())).unwrap();
    folders
}

#[test]
fn of_two_jobs_with_one_id_one_is_created() {
    let scratch = Scratch::new();
    let store = JobStore::in_directory(scratch.0.path()).unwrap();
    store.prepare().unwrap();
    let id = JobId::random().unwrap();
    let create = |count| {
        let folder = store.begin().unwrap();
        let record = record(&folder);
        folder.write(&spec(count)).unwrap();
        (store.create(id, &record, folder).unwrap(), record)
    };
    let (created, own) = create(5);
    assert_eq!((created, create(6).0), (Created::New, Created::Existed));
    assert_eq!(store.record(id).unwrap(), Some(own.clone()));
    assert_eq!(store.open(own.folder).unwrap().spec(), &spec(5));
    assert_eq!((store.ids().unwrap(), folders(&store)), (vec![id], vec![own.folder]));
    remove(&store, id, own.folder);
    assert_eq!((store.ids().unwrap(), folders(&store)), (vec![], vec![]));
    assert!(store.record(id).unwrap().is_none() && store.open(own.folder).is_err());
}

#[test]
fn a_newer_job_of_an_id_is_not_removed_with_the_older_one() {
    let store = JobStore::shared(Arc::new(FilesInMemory::default()));
    let id = JobId::random().unwrap();
    let create = || {
        let folder = store.begin().unwrap();
        let record = record(&folder);
        folder.write(&spec(5)).unwrap();
        store.create(id, &record, folder).unwrap();
        record
    };
    let older = create();
    remove(&store, id, older.folder);
    let newer = create();
    remove(&store, id, older.folder);
    assert_eq!((store.record(id).unwrap(), folders(&store)), (Some(newer.clone()), vec![newer.folder]));
}

#[test]
fn a_job_that_took_too_long_to_make_is_not_created() {
    let store = JobStore::shared(Arc::new(FilesInMemory::default()));
    let mut folder = store.begin().unwrap();
    folder.check_time().unwrap();
    folder.deadline = Some(Instant::now());
    let record = record(&folder);
    folder.write(&spec(5)).unwrap();
    let created = store.create(JobId::random().unwrap(), &record, folder);
    assert!(matches!(created, Err(CreateError::TooLate(_))), "{created:?}");
    assert_eq!((store.ids().unwrap(), folders(&store)), (vec![], vec![]));
    let scratch = Scratch::new();
    let own = JobStore::in_directory(scratch.0.path()).unwrap();
    own.prepare().unwrap();
    assert_eq!(own.begin().unwrap().deadline, None, "no other process removes it");
}

#[test]
fn whichever_calls_fail_the_folder_of_a_record_is_there() {
    let id = JobId::random().unwrap();
    for failure in Failure::ALL {
        for call in 0.. {
            let memory = Arc::new(FilesInMemory::default());
            let failing = Arc::new(FailingFiles::new(Arc::clone(&memory), call, failure));
            let store = JobStore::shared(failing.clone());
            let create = || -> Result<Created, CreateError> {
                let folder = store.begin().map_err(|error| store.error("", error))?;
                let record = record(&folder);
                folder.write(&spec(5))?;
                store.create(id, &record, folder)
            };
            let created = create();
            let whole = JobStore::shared(memory);
            match whole.record(id).unwrap() {
                Some(record) => drop(whole.open(record.folder).expect("its files are there")),
                None => assert!(created.is_err(), "{failure:?}, call {call}"),
            }
            if !failing.have_failed() {
                break;
            }
        }
    }
}

#[test]
fn a_job_without_a_record_is_deleted_whatever_becomes_of_its_files() {
    let id = JobId::random().unwrap();
    for call in 0.. {
        let memory = Arc::new(FilesInMemory::default());
        let whole = JobStore::shared(Arc::clone(&memory) as _);
        let folder = whole.begin().unwrap();
        let record = record(&folder);
        folder.write(&spec(5)).unwrap();
        whole.create(id, &record, folder).unwrap();
        let failing = Arc::new(FailingFiles::new(memory, call, Failure::NotMade));
        let store = JobStore::shared(failing.clone());
        let removed = store.remove(id, record.folder);
        assert_eq!(removed.is_ok(), whole.record(id).unwrap().is_none(), "call {call}: {removed:?}");
        store.remove_files(id, record.folder);
        if !failing.have_failed() {
            break;
        }
    }
}

#[test]
fn of_two_processes_one_removes_a_record() {
    let memory: Arc<dyn Files> = Arc::new(FilesInMemory::default());
    let [one, other] = [(); 2].map(|()| JobStore::shared(Arc::clone(&memory)));
    let id = JobId::random().unwrap();
    let folder = one.begin().unwrap();
    let record = record(&folder);
    folder.write(&spec(5)).unwrap();
    one.create(id, &record, folder).unwrap();
    assert!(one.claim_deletion(record.folder).unwrap());
    assert_eq!(other.remove(id, record.folder).unwrap(), Removal::ByAnother);
    assert!(other.record(id).unwrap().is_some());
    remove(&one, id, record.folder);
    remove(&other, id, record.folder);
    assert_eq!((one.ids().unwrap(), folders(&one)), (vec![], vec![]));
}

#[test]
fn folders_without_a_record_are_removed_after_their_time() {
    let files = Arc::new(FilesInMemory::default());
    let (store, other) = (JobStore::shared(files.clone()), JobStore::shared(files));
    let (making, left, kept) = (store.begin().unwrap(), other.begin().unwrap(), store.begin().unwrap());
    [&making, &left].into_iter().for_each(|folder| folder.write(&spec(5)).unwrap());
    kept.write(&spec(6)).unwrap();
    let (record, name) = (record(&kept), left.name());
    store.create(JobId::random().unwrap(), &record, kept).unwrap();
    store.remove_unnamed(UNNAMED_TIME).unwrap();
    assert_eq!(folders(&store).len(), 3);
    assert_eq!(store.unnamed.lock().keys().collect::<Vec<_>>(), [&name]);
    store.remove_unnamed(Duration::ZERO).unwrap();
    let found: HashSet<FolderName> = folders(&store).into_iter().collect();
    assert_eq!(found, [making.name(), record.folder].into(), "the folder that this process makes is not removed");
    drop(making);
    // A damaged record may belong to any folder, so no folder is removed.
    let left = other.begin().unwrap();
    left.write(&spec(7)).unwrap();
    store.files.put(&name_of(JobId::random().unwrap()), b"{}").unwrap();
    assert_eq!(store.remove_unnamed(Duration::ZERO).unwrap().len(), 1, "the others are found");
    assert_eq!(folders(&store).len(), 2);
}

#[test]
fn a_directory_belongs_to_one_store_which_clears_it() {
    let scratch = Scratch::new();
    let store = JobStore::in_directory(scratch.0.path()).unwrap();
    store.prepare().unwrap();
    assert!(matches!(JobStore::in_directory(scratch.0.path()), Err(EngineError::InUse(_))));
    // These files imitate the files that a killed process leaves.
    let mut left = store.begin().unwrap();
    left.is_kept = true;
    drop((left, store));
    let store = JobStore::in_directory(scratch.0.path()).unwrap();
    assert_eq!(folders(&store).len(), 1);
    store.prepare().unwrap();
    assert_eq!(folders(&store).len(), 0);
    // A damaged record may belong to any folder, so no folder is removed.
    let mut left = store.begin().unwrap();
    left.is_kept = true;
    store.files.put(&name_of(JobId::random().unwrap()), b"{}").unwrap();
    store.prepare().unwrap();
    assert_eq!(folders(&store).len(), 1);
}

#[test]
fn a_folder_is_not_removed_as_one_without_a_record_while_it_is_created() {
    let scratch = Scratch::new();
    let store = JobStore::in_directory(scratch.0.path()).unwrap();
    store.prepare().unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                store.remove_unnamed(Duration::ZERO).unwrap();
            }
        });
        let is_kept = |_| store.begin().and_then(|folder| folder.files().put("file", b"")).is_ok();
        let kept = (0..300).filter(|number| is_kept(*number)).count();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(kept, 300);
    });
}
