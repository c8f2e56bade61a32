//! Where the jobs of an engine are: a record for each job, and a folder with its files.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::id::{FolderName, JobId, JobOwner};
use super::settings::EngineError;
use crate::jobs::directory::Directory;
use crate::jobs::files::{Created, Files};
use crate::jobs::folder::Folder;
use crate::jobs::spec::JobSpec;
use crate::jobs::stored_job::{JobError, StoredJob};

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
    clock: Mutex<StoreClock>,
    /// Locked as long as it is open, if one process has all jobs.
    lock: Option<File>,
}

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
    begun: Instant,
    is_kept: bool,
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

/// Time after which a job that is being made is given up.
const MAKING_TIME: Duration = Duration::from_secs(3600);
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
        Self { files, unnamed: Mutex::default(), clock: Mutex::default(), lock: None }
    }

    /// Creates what is missing. If the place is that of this process alone, removes what is of no use.
    ///
    /// # Errors
    /// Those of the files.
    pub(super) fn prepare(&self) -> io::Result<()> {
        self.files.create_folder(RECORDS)?;
        self.files.create_folder(FOLDERS)?;
        if self.lock.is_some() { self.remove_unnamed(Duration::ZERO) } else { Ok(()) }
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
        Ok(NewFolder { name, files, begun: Instant::now(), is_kept: false })
    }

    fn folder(&self, name: FolderName) -> Folder {
        Folder::new(&self.files, format!("{FOLDERS}/{name}"))
    }

    /// Creates a job in the folder that the record names. Returns [`Created::Existed`] if there is one of this id.
    ///
    /// # Errors
    /// [`JobError`]. The job may have been created, unless the disk is full.
    pub(super) fn create(&self, id: JobId, record: &JobRecord, mut folder: NewFolder) -> Result<Created, JobError> {
        let name = name_of(id);
        if folder.begun.elapsed() > MAKING_TIME {
            return Err(self.error(&name, ErrorKind::TimedOut.into()));
        }
        let created = match self.files.put(&name, &record.to_json()) {
            // The first of two attempts may have created it.
            Ok(Created::Existed) if self.record(id)?.is_some_and(|own| own.folder == record.folder) => Created::New,
            Ok(created) => created,
            Err(source) => {
                let error = self.error(&name, source);
                folder.is_kept = !(error.is_disk_full() && matches!(self.record(id), Ok(None)));
                return Err(error);
            }
        };
        folder.is_kept = created == Created::New;
        Ok(created)
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

    /// Removes a job. It is gone at once, whatever becomes of its files. A newer job of the same id remains.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn remove(&self, id: JobId, folder: FolderName) -> Result<(), JobError> {
        if self.record(id)?.is_some_and(|record| record.folder == folder) {
            let name = name_of(id);
            self.files.remove(&name).map_err(|source| self.error(&name, source))?;
        }
        let files = self.folder(folder);
        files.remove_folder("").map_err(|source| JobError::File { path: files.path_of(""), source })
    }

    /// Removes folders that no record names, if this process has seen them for some time.
    ///
    /// # Errors
    /// Those of the files. Nothing is removed if a record cannot be read.
    pub(super) fn remove_unnamed(&self, seen_for: Duration) -> io::Result<()> {
        // In this order: a folder that is there before all records are read, and that none of them names, was not named
        // then.
        let mut folders = Vec::new();
        self.files.list_folders(FOLDERS, &mut |name| folders.extend(name.parse::<FolderName>()))?;
        let mut named = HashSet::new();
        for id in self.ids()? {
            named.extend(self.record(id).map_err(io::Error::other)?.map(|record| record.folder));
        }
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
            self.folder(*folder).remove_folder("")?;
        }
        Ok(())
    }

    fn error(&self, name: &str, source: io::Error) -> JobError {
        JobError::File { path: self.files.path_of(name), source }
    }
}

impl NewFolder {
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
    use crate::jobs::files::tests::FilesInMemory;
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
        store.remove(id, own.folder).unwrap();
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
        store.remove(id, older.folder).unwrap();
        let newer = create();
        store.remove(id, older.folder).unwrap();
        assert_eq!((store.record(id).unwrap(), folders(&store)), (Some(newer.clone()), vec![newer.folder]));
    }

    #[test]
    fn a_job_that_took_too_long_to_make_is_not_created() {
        let store = JobStore::shared(Arc::new(FilesInMemory::default()));
        let mut folder = store.begin().unwrap();
        // The monotonic clock may have begun a moment ago.
        let Some(begun) = Instant::now().checked_sub(MAKING_TIME + Duration::from_secs(1)) else { return };
        folder.begun = begun;
        let record = record(&folder);
        folder.write(&spec(5)).unwrap();
        store.create(JobId::random().unwrap(), &record, folder).unwrap_err();
        assert_eq!((store.ids().unwrap(), folders(&store)), (vec![], vec![]));
    }

    #[test]
    fn folders_without_a_record_are_removed_after_their_time() {
        let store = JobStore::shared(Arc::new(FilesInMemory::default()));
        let (making, kept) = (store.begin().unwrap(), store.begin().unwrap());
        making.write(&spec(5)).unwrap();
        kept.write(&spec(6)).unwrap();
        let (record, name) = (record(&kept), making.name());
        store.create(JobId::random().unwrap(), &record, kept).unwrap();
        store.remove_unnamed(UNNAMED_TIME).unwrap();
        assert_eq!(folders(&store).len(), 2);
        assert_eq!(store.unnamed.lock().keys().collect::<Vec<_>>(), [&name]);
        store.remove_unnamed(Duration::ZERO).unwrap();
        assert_eq!(folders(&store), [record.folder]);
        // If a record cannot be read, its folder is not known.
        drop(making);
        store.begin().unwrap().write(&spec(7)).unwrap();
        let other = store.begin().unwrap();
        other.write(&spec(7)).unwrap();
        store.files.put(&name_of(JobId::random().unwrap()), b"{}").unwrap();
        store.remove_unnamed(Duration::ZERO).unwrap_err();
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
    }
}
