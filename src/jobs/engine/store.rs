//! Where the jobs of an engine are: a record for each job, and a folder with its files.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tracing::Level;

use super::id::{FolderName, JobId, JobOwner};
use super::settings::{CreateError, EngineError};
use super::uploads::Upload;
use crate::jobs::directory::Directory;
use crate::jobs::files::{Created, Files};
use crate::jobs::folder::Folder;
use crate::jobs::spec::JobSpec;
use crate::jobs::stored_job::{JobError, SPEC, StoredJob};

/// Where the jobs of engines are (docs/adr/0050).
///
/// A job is made in a folder of `data` with a random name, which no other folder ever has. Creating the record
/// `jobs/ID.json`, which names the folder, creates the job. A folder that no record names is of no use, once the request
/// that made it has ended.
#[derive(Debug)]
pub struct JobStore {
    files: Arc<dyn Files>,
    /// When this process first saw the folders that no record names.
    unnamed: Mutex<HashMap<FolderName, Instant>>,
    /// The folders in which this process makes jobs.
    making: Arc<Mutex<HashSet<FolderName>>>,
    clock: Mutex<StoreClock>,
    /// The name under which this process deletes jobs.
    deleter: OnceLock<FolderName>,
    /// Locked as long as it is open, if one process has all jobs.
    lock: Option<File>,
}

/// The ids and folders of jobs, and what is wrong with the record of another one.
type FoldersOfJobs = (Vec<(JobId, FolderName)>, Option<io::Error>);

/// What this process knows of the clock of a shared store.
#[derive(Debug, Default)]
struct StoreClock {
    /// A time of it, and when that was.
    known: Option<(SystemTime, Instant)>,
    /// When to look again.
    next_look: Option<Instant>,
}

/// A folder in which a job is made. It is removed when dropped, unless a record may name it.
#[derive(Debug)]
pub struct NewFolder {
    name: FolderName,
    files: Arc<dyn Files>,
    making: Arc<Mutex<HashSet<FolderName>>>,
    /// When it is given up, if other processes use the place too.
    deadline: Option<Instant>,
    is_kept: bool,
    /// Counts an upload as long as it is received.
    pub(super) upload: Option<Upload>,
}

/// What became of a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Removal {
    /// The job is gone.
    Done,
    /// Another process is deleting it.
    ByAnother,
}

/// What the engine knows about a job beside its specification: the file `jobs/ID.json`.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct JobRecord {
    pub(super) owner: JobOwner,
    /// To the millisecond.
    pub(super) created: SystemTime,
    /// Estimated processor time of the whole job.
    pub(super) core_seconds: f64,
    /// Its folder.
    pub(super) folder: FolderName,
}

#[derive(Serialize, Deserialize)]
struct RecordJson {
    format: String,
    owner: String,
    created_ms: u64,
    core_seconds: f64,
    folder: String,
}

const FORMAT: &str = "taquin-engine-job-2";
const RECORDS: &str = "jobs";
const FOLDERS: &str = "data";
const EXTENSION: &str = ".json";
/// The file in the folder of a job that names the process which deletes it.
const DELETED: &str = "deleted";

/// Time after which a job that is being made is given up, if other processes use the place too.
const MAKING_TIME: Duration = Duration::from_secs(3600);
/// Time after which a process that has not ended a deletion does not go on with it: longer than its last request takes.
const DELETION_TIME: Duration = Duration::from_secs(120);
/// Records that are read at a time from a shared place.
const READERS: usize = 16;
/// Time after which a folder without a record is removed: much longer than the time for making a job, since another
/// process may be making it.
pub(super) const UNNAMED_TIME: Duration = Duration::from_secs(2 * 3600);

/// Time between two looks at the clock of a shared store, and after one that has failed.
const CLOCK_PERIOD: Duration = Duration::from_secs(600);
const CLOCK_RETRY: Duration = Duration::from_secs(10);

impl JobStore {
    /// The jobs in a directory, for this process alone. The directory is created if it is missing.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn in_directory(path: &Path) -> Result<Self, EngineError> {
        let error = |source| EngineError::Directory { path: path.to_owned(), source };
        let root = Directory::create(path).map_err(error)?;
        let lock =
            OpenOptions::new().create(true).write(true).truncate(false).open(path.join("lock")).map_err(error)?;
        lock.try_lock().map_err(|refusal| match refusal {
            TryLockError::WouldBlock => EngineError::InUse(path.to_owned()),
            TryLockError::Error(source) => error(source),
        })?;
        Ok(Self { lock: Some(lock), ..Self::shared(Arc::new(root)) })
    }

    /// The jobs in a place that other processes use too.
    pub fn shared(files: Arc<dyn Files>) -> Self {
        let (unnamed, clock, deleter) = (Mutex::default(), Mutex::default(), OnceLock::new());
        Self { files, unnamed, making: Arc::default(), clock, deleter, lock: None }
    }

    /// Creates what is missing. If the place is that of this process alone, removes what is of no use, unless a record
    /// cannot be read.
    ///
    /// # Errors
    /// Those of the files.
    pub(super) fn prepare(&self) -> io::Result<()> {
        self.files.create_folder(RECORDS)?;
        self.files.create_folder(FOLDERS)?;
        if !self.is_shared()
            && let Err(error) = self.remove_unnamed(Duration::ZERO)
        {
            report_useless(&error);
        }
        Ok(())
    }

    /// True if other processes use the place too.
    pub(super) fn is_shared(&self) -> bool {
        self.lock.is_none()
    }

    /// The time of the clock that dates files; `None` if it cannot be read now. That of this process may be another one if
    /// the place is shared.
    pub(super) fn now(&self) -> Option<SystemTime> {
        if !self.is_shared() {
            return Some(SystemTime::now());
        }
        let mut clock = self.clock.lock();
        if clock.next_look.is_none_or(|next| next <= Instant::now()) {
            let looked = self.look_at_clock();
            let pause = if looked.is_ok() { CLOCK_PERIOD } else { CLOCK_RETRY };
            clock.next_look = Some(Instant::now() + pause);
            clock.known = looked.map_or(clock.known, |time| Some((time, Instant::now())));
        }
        clock.known.map(|(time, at)| time + at.elapsed())
    }

    /// Has the place date a file.
    fn look_at_clock(&self) -> io::Result<SystemTime> {
        const NAME: &str = "clock";
        let folder = self.begin()?;
        folder.files.put(NAME, b"")?;
        folder.files.created_at(NAME)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// The place, for messages.
    pub(super) fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// Begins a folder for a job.
    ///
    /// # Errors
    /// Those of the files.
    pub(super) fn begin(&self) -> io::Result<NewFolder> {
        let name = FolderName::random()?;
        self.files.create_folder(&format!("{FOLDERS}/{name}"))?;
        let files = Arc::new(self.folder(name));
        let making = Arc::clone(&self.making);
        making.lock().insert(name);
        let deadline = self.is_shared().then(|| Instant::now() + MAKING_TIME);
        Ok(NewFolder { name, files, making, deadline, is_kept: false, upload: None })
    }

    fn folder(&self, name: FolderName) -> Folder {
        Folder::new(&self.files, format!("{FOLDERS}/{name}"))
    }

    /// Creates a job in the folder that the record names. Returns [`Created::Existed`] if there is one of this id.
    ///
    /// # Errors
    /// [`CreateError`]. The job may have been created, unless the disk is full or it is too late.
    pub(super) fn create(&self, id: JobId, record: &JobRecord, mut folder: NewFolder) -> Result<Created, CreateError> {
        let name = name_of(id);
        folder.check_time()?;
        // From now on the record may name it, whatever fails.
        folder.is_kept = true;
        match self.files.put(&name, &record.to_json()) {
            Ok(Created::New) => Ok(Created::New),
            // The first of two attempts may have created it.
            Ok(Created::Existed) => {
                folder.is_kept = self.names(id, record.folder)?;
                Ok(if folder.is_kept { Created::New } else { Created::Existed })
            }
            Err(source) => {
                let error = self.error(&name, source);
                folder.is_kept = !(error.is_disk_full() && matches!(self.record(id), Ok(None)));
                Err(error.into())
            }
        }
    }

    /// True if the record of this id names a folder.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn names(&self, id: JobId, folder: FolderName) -> Result<bool, JobError> {
        Ok(self.record(id)?.is_some_and(|record| record.folder == folder))
    }

    /// Reads the record of a job; `None` if there is no job of this id.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn record(&self, id: JobId) -> Result<Option<JobRecord>, JobError> {
        let name = name_of(id);
        let Some(bytes) = self.files.get(&name).map_err(|source| self.error(&name, source))? else { return Ok(None) };
        let record = JobRecord::of_json(&bytes);
        record.map(Some).ok_or_else(|| self.error(&name, ErrorKind::InvalidData.into()))
    }

    /// Stands for the job in a folder whose specification is damaged.
    pub(super) fn damaged(&self, folder: FolderName) -> StoredJob {
        StoredJob::damaged(Arc::new(self.folder(folder)))
    }

    /// Opens the job in a folder.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn open(&self, folder: FolderName) -> Result<StoredJob, JobError> {
        StoredJob::open_in(Arc::new(self.folder(folder)))
    }

    /// The ids of all jobs.
    ///
    /// # Errors
    /// Those of the files.
    pub(super) fn ids(&self) -> io::Result<Vec<JobId>> {
        let mut ids = Vec::new();
        self.files.list(RECORDS, &mut |name| {
            ids.extend(name.strip_suffix(EXTENSION).and_then(|id| id.parse::<JobId>().ok()));
        })?;
        Ok(ids)
    }

    /// Removes a job, but not its files. A newer job of the same id remains, whichever process creates it meanwhile. One
    /// thread of a process calls this at a time, and none creates a job meanwhile.
    ///
    /// # Errors
    /// [`JobError`]. The job may be gone.
    pub(super) fn remove(&self, id: JobId, folder: FolderName) -> Result<Removal, JobError> {
        if self.names(id, folder)? {
            let claimed = match self.claim_deletion(folder) {
                // A deletion makes room.
                Err(error) if error.is_disk_full() => true,
                claimed => claimed?,
            };
            // In this order: as long as the record names the folder, none but the one that has claimed it removes it.
            if self.names(id, folder)? {
                if !claimed {
                    return Ok(Removal::ByAnother);
                }
                let name = name_of(id);
                self.files.remove(&name).map_err(|source| self.error(&name, source))?;
            }
        }
        Ok(Removal::Done)
    }

    /// Removes the files of a job that was removed. What is left after an error, as while a slice stores a part, is
    /// removed later, as a folder without a record.
    pub(super) fn remove_files(&self, id: JobId, folder: FolderName) {
        if let Err(error) = self.remove_folder(folder) {
            let message = "files of a deleted job are left for now";
            tracing::event!(target: "taquin::jobs", Level::INFO, message, job.id = %id, %error);
        }
    }

    /// True if this process is the one that may remove the record which names a folder.
    fn claim_deletion(&self, folder: FolderName) -> Result<bool, JobError> {
        if !self.is_shared() {
            return Ok(true);
        }
        let files = self.folder(folder);
        let claim = || {
            let new = FolderName::random()?;
            let own = self.deleter.get_or_init(|| new).to_string().into_bytes();
            files.create_folder("")?;
            if files.put(DELETED, &own)? == Created::New || files.get(DELETED)?.is_some_and(|by| by == own) {
                return Ok(true);
            }
            // The process that has claimed it may have ended.
            let age = files.created_at(DELETED)?.and_then(|at| self.now()?.duration_since(at).ok());
            Ok(age.is_some_and(|age| age > DELETION_TIME))
        };
        claim().map_err(|source| JobError::File { path: files.path_of(DELETED), source })
    }

    /// Removes a folder, and its specification first: what has none is over for all that work on it.
    fn remove_folder(&self, folder: FolderName) -> io::Result<()> {
        let files = self.folder(folder);
        files.remove(SPEC)?;
        files.remove_folder("")
    }

    /// Calls `read` with each id, on several threads if the place is shared, as long as it returns true.
    pub(super) fn for_each(&self, ids: &[JobId], read: impl Fn(JobId) -> bool + Sync) {
        let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            while !is_over.load(Ordering::Relaxed)
                && let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed))
            {
                is_over.fetch_or(!read(*id), Ordering::Relaxed);
            }
        };
        let threads = if self.is_shared() { READERS.min(ids.len()) } else { 1 };
        std::thread::scope(|scope| {
            for _ in 1..threads {
                // If no thread can be created, the others do its work.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    /// The folders of all jobs, and what is wrong with a damaged record, if there is one.
    fn records(&self) -> io::Result<FoldersOfJobs> {
        let (records, damage, failure) = (Mutex::new(Vec::new()), Mutex::new(None), Mutex::new(None));
        self.for_each(&self.ids()?, |id| match self.record(id) {
            Ok(record) => {
                records.lock().extend(record.map(|record| (id, record.folder)));
                true
            }
            Err(error) if !error.is_temporary() => {
                damage.lock().get_or_insert(io::Error::other(error));
                true
            }
            Err(error) => {
                failure.lock().get_or_insert(error);
                false
            }
        });
        let found = (records.into_inner(), damage.into_inner());
        failure.into_inner().map_or(Ok(found), |error| Err(io::Error::other(error)))
    }

    /// Removes folders that no record names, if this process has seen them for some time. Returns the ids and folders of
    /// all jobs.
    ///
    /// # Errors
    /// Those of the files. Nothing is removed if a record cannot be read, or is damaged.
    pub(super) fn remove_unnamed(&self, seen_for: Duration) -> io::Result<Vec<(JobId, FolderName)>> {
        // In this order: a folder that is there before all records are read, and that none of them names, was not named
        // then.
        let mut folders = Vec::new();
        self.files.list_folders(FOLDERS, &mut |name| folders.extend(name.parse::<FolderName>()))?;
        // Before the records are read: what is not being made any more is named by then.
        folders.retain(|folder| !self.making.lock().contains(folder));
        let (records, damaged) = self.records()?;
        if let Some(error) = damaged {
            report_useless(&error);
            return Ok(records);
        }
        let named: HashSet<FolderName> = records.iter().map(|(_, folder)| *folder).collect();
        folders.retain(|folder| !named.contains(folder));
        let mut unnamed = self.unnamed.lock();
        *unnamed = folders
            .into_iter()
            .map(|folder| {
                let seen = unnamed.get(&folder).copied().unwrap_or_else(Instant::now);
                (folder, seen)
            })
            .collect();
        for (folder, _) in unnamed.iter().filter(|(_, seen)| seen.elapsed() >= seen_for) {
            self.remove_folder(*folder)?;
        }
        Ok(records)
    }

    fn error(&self, name: &str, source: io::Error) -> JobError {
        JobError::File { path: self.files.path_of(name), source }
    }
}

impl NewFolder {
    /// Checks that the job can be created in time: while other processes may remove folders without a record, it has an
    /// hour.
    ///
    /// # Errors
    /// [`CreateError::TooLate`].
    pub fn check_time(&self) -> Result<(), CreateError> {
        let is_late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_late { Err(CreateError::TooLate(MAKING_TIME)) } else { Ok(()) }
    }

    /// Its files, for the boards of an input.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    pub(super) fn name(&self) -> FolderName {
        self.name
    }

    /// Writes the specification, after the input.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn write(&self, spec: &JobSpec) -> Result<(), JobError> {
        StoredJob::create_in(Arc::clone(&self.files), spec).map(drop)
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        self.making.lock().remove(&self.name);
        if self.is_kept {
            return;
        }
        let files = Arc::clone(&self.files);
        // What is left is removed later, as a folder without a record.
        let remove = move || drop(files.remove_folder(""));
        match tokio::runtime::Handle::try_current() {
            // This may be a thread of the runtime, which must not block.
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// Logs why folders of no use are not removed.
pub(super) fn report_useless(error: &io::Error) {
    let message = "folders of no use cannot be removed";
    tracing::event!(target: "taquin::jobs", Level::WARN, message, %error);
}

fn name_of(id: JobId) -> String {
    format!("{RECORDS}/{id}{EXTENSION}")
}

impl JobRecord {
    /// The present time to the millisecond, as a record keeps it.
    pub(super) fn now() -> SystemTime {
        of_millis(millis(SystemTime::now()))
    }

    fn to_json(&self) -> Vec<u8> {
        let Self { owner, created, core_seconds, folder } = self;
        let json = RecordJson {
            format: FORMAT.to_owned(),
            owner: owner.to_hex(),
            created_ms: millis(*created),
            core_seconds: *core_seconds,
            folder: folder.to_string(),
        };
        let mut bytes = Vec::new();
        serde_json::to_writer_pretty(&mut bytes, &json).expect("it has only texts and finite numbers");
        let _ = bytes.write_all(b"\n");
        bytes
    }

    fn of_json(bytes: &[u8]) -> Option<Self> {
        let RecordJson { format, owner, created_ms, core_seconds, folder } = serde_json::from_slice(bytes).ok()?;
        let owner = JobOwner::of_hex(&owner).filter(|_| format == FORMAT)?;
        let folder = folder.parse().ok()?;
        Some(Self { owner, created: of_millis(created_ms), core_seconds, folder })
    }
}

/// Milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn of_millis(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Size};
    use crate::jobs::directory::tests::Scratch;
    use crate::jobs::files::tests::{FailingFiles, Failure, FilesInMemory};
    use crate::jobs::{JobBoards, Recipe};
    use crate::service::{RequestedLimits, Tier, Want};

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
        assert_eq!(store.remove(id, folder).unwrap(), Removal::Done);
        store.remove_files(id, folder);
    }

    fn folders(store: &JobStore) -> Vec<FolderName> {
        let mut folders = Vec::new();
        store.files.list_folders(FOLDERS, &mut |name| folders.push(name.parse().unwrap())).unwrap();
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
        assert_eq!(found, [making.name(), record.folder].into(), "what this process makes is not removed");
        drop(making);
        // If a record is damaged, its folder is not known.
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
        // What a killed process leaves.
        let mut left = store.begin().unwrap();
        left.is_kept = true;
        drop((left, store));
        let store = JobStore::in_directory(scratch.0.path()).unwrap();
        assert_eq!(folders(&store).len(), 1);
        store.prepare().unwrap();
        assert_eq!(folders(&store).len(), 0);
        // What a damaged record names is not known.
        let mut left = store.begin().unwrap();
        left.is_kept = true;
        store.files.put(&name_of(JobId::random().unwrap()), b"{}").unwrap();
        store.prepare().unwrap();
        assert_eq!(folders(&store).len(), 1);
    }
}
