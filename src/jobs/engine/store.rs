//! The directory of an engine: a directory for each job, and a lock.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::id::{JobId, JobOwner};
use super::settings::EngineError;
use crate::jobs::directory::Directory;
use crate::jobs::files::{Created, Files};
use crate::jobs::spec::JobSpec;
use crate::jobs::stored_job::{JobError, StoredJob};

/// The directory of an engine.
///
/// A job is made in a directory below `incoming`. Renaming that to `jobs/ID` creates the job with all its files at once,
/// or fails if there is one. What is left in `incoming` is of no use after the end of the process.
#[derive(Debug)]
pub(super) struct JobStore {
    jobs: Directory,
    incoming: Directory,
    /// Locked as long as it is open.
    _lock: File,
}

/// A directory in which a job is made. It is removed when dropped, unless the job was created.
#[derive(Debug)]
pub struct Incoming(Directory);

/// What the engine knows about a job beside its specification: the file `job.json`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct JobRecord {
    pub(super) owner: JobOwner,
    /// To the millisecond.
    pub(super) created: SystemTime,
    /// Estimated processor time of the whole job.
    pub(super) core_seconds: f64,
}

#[derive(Serialize, Deserialize)]
struct RecordJson {
    format: String,
    owner: String,
    created_ms: u64,
    core_seconds: f64,
}

const RECORD: &str = "job.json";
const FORMAT: &str = "taquin-engine-job-1";

impl JobStore {
    /// Opens a directory for this process alone, and creates it if it is missing. Removes what is of no use.
    ///
    /// # Errors
    /// [`EngineError`].
    pub(super) fn open(path: &Path) -> Result<Self, EngineError> {
        let error = |source| EngineError::Directory { path: path.to_owned(), source };
        let root = Directory::create(path).map_err(error)?;
        let lock =
            OpenOptions::new().create(true).write(true).truncate(false).open(path.join("lock")).map_err(error)?;
        lock.try_lock().map_err(|refusal| match refusal {
            TryLockError::WouldBlock => EngineError::InUse(path.to_owned()),
            TryLockError::Error(source) => error(source),
        })?;
        root.create_folder("jobs").map_err(error)?;
        root.create_folder("incoming").map_err(error)?;
        let folder = |name: &str| Directory::create(&path.join(name)).map_err(error);
        let store = Self { jobs: folder("jobs")?, incoming: folder("incoming")?, _lock: lock };
        for entry in fs::read_dir(store.incoming.path()).map_err(error)? {
            fs::remove_dir_all(entry.map_err(error)?.path()).map_err(error)?;
        }
        Ok(store)
    }

    /// Begins a job.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn begin(&self) -> io::Result<Incoming> {
        Directory::create(&self.unused_path()?).map(Incoming)
    }

    /// Creates a job from what was begun. Returns [`Created::Existed`] if there is one of this id.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn create(&self, id: JobId, incoming: &Incoming) -> Result<Created, JobError> {
        let path = self.path_of(id);
        let error = |source| JobError::File { path: path.clone(), source };
        match fs::rename(incoming.0.path(), &path) {
            Err(refusal) if matches!(refusal.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {
                return Ok(Created::Existed);
            }
            renamed => renamed.map_err(error)?,
        }
        sync(&self.jobs).map_err(error)?;
        Ok(Created::New)
    }

    /// Opens a job.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn job(&self, id: JobId) -> Result<(JobRecord, StoredJob), JobError> {
        let path = self.path_of(id);
        let stored = StoredJob::open(&path)?;
        let error = |source| JobError::File { path: path.join(RECORD), source };
        let bytes = Directory::create(&path).and_then(|directory| directory.get(RECORD)).map_err(error)?;
        let record = bytes.and_then(|bytes| JobRecord::of_json(&bytes));
        Ok((record.ok_or_else(|| error(ErrorKind::InvalidData.into()))?, stored))
    }

    /// The ids of all jobs.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn ids(&self) -> io::Result<Vec<JobId>> {
        let mut ids = Vec::new();
        for entry in fs::read_dir(self.jobs.path())? {
            ids.extend(entry?.file_name().to_str().and_then(|name| name.parse::<JobId>().ok()));
        }
        Ok(ids)
    }

    /// Removes a job. It is gone at once, whatever becomes of its files.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn remove(&self, id: JobId) -> io::Result<()> {
        let removed = self.unused_path()?;
        fs::rename(self.path_of(id), &removed)?;
        sync(&self.jobs)?;
        fs::remove_dir_all(removed)
    }

    fn path_of(&self, id: JobId) -> PathBuf {
        self.jobs.path().join(id.to_string())
    }

    fn unused_path(&self) -> io::Result<PathBuf> {
        Ok(self.incoming.path().join(JobId::random()?.to_string()))
    }
}

impl Incoming {
    /// The directory, for the boards of an input.
    pub fn directory(&self) -> &Directory {
        &self.0
    }

    /// Writes the files of a job.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn write(&self, record: &JobRecord, spec: &JobSpec) -> Result<(), JobError> {
        let path = || self.0.path().join(RECORD);
        self.0.put(RECORD, &record.to_json()).map_err(|source| JobError::File { path: path(), source })?;
        StoredJob::create(self.0.path(), spec).map(drop)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // After a rename there is none.
        let _ = fs::remove_dir_all(self.0.path());
    }
}

impl JobRecord {
    /// The present time to the millisecond, as a record keeps it.
    pub(super) fn now() -> SystemTime {
        of_millis(millis(SystemTime::now()))
    }

    fn to_json(self) -> Vec<u8> {
        let Self { owner, created, core_seconds } = self;
        let json =
            RecordJson { format: FORMAT.to_owned(), owner: owner.to_hex(), created_ms: millis(created), core_seconds };
        let mut bytes = Vec::new();
        serde_json::to_writer_pretty(&mut bytes, &json).expect("it has only texts and finite numbers");
        let _ = bytes.write_all(b"\n");
        bytes
    }

    fn of_json(bytes: &[u8]) -> Option<Self> {
        let RecordJson { format, owner, created_ms, core_seconds } = serde_json::from_slice(bytes).ok()?;
        let owner = JobOwner::of_hex(&owner).filter(|_| format == FORMAT)?;
        Some(Self { owner, created: of_millis(created_ms), core_seconds })
    }
}

/// Milliseconds since 1970.
pub(super) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn of_millis(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}

fn sync(directory: &Directory) -> io::Result<()> {
    File::open(directory.path())?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Size};
    use crate::jobs::directory::tests::Scratch;
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

    #[test]
    fn of_two_jobs_with_one_id_one_is_created() {
        let scratch = Scratch::new();
        let store = JobStore::open(scratch.0.path()).unwrap();
        let record = JobRecord { owner: JobOwner::of_token([3; 32]), created: JobRecord::now(), core_seconds: 1.5 };
        let id = JobId::random().unwrap();
        let create = |count| {
            let incoming = store.begin().unwrap();
            incoming.write(&record, &spec(count)).unwrap();
            store.create(id, &incoming).unwrap()
        };
        assert_eq!([create(5), create(6)], [Created::New, Created::Existed]);
        let (read, stored) = store.job(id).unwrap();
        assert_eq!((read, stored.spec()), (record, &spec(5)));
        assert_eq!(store.ids().unwrap(), [id]);
        store.remove(id).unwrap();
        assert!(store.ids().unwrap().is_empty() && store.job(id).is_err());
        assert_eq!(fs::read_dir(store.incoming.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_directory_belongs_to_one_store_which_clears_it() {
        let scratch = Scratch::new();
        let store = JobStore::open(scratch.0.path()).unwrap();
        assert!(matches!(JobStore::open(scratch.0.path()), Err(EngineError::InUse(_))));
        // What a killed process leaves.
        fs::create_dir(store.unused_path().unwrap()).unwrap();
        drop(store);
        let store = JobStore::open(scratch.0.path()).unwrap();
        assert_eq!(fs::read_dir(store.incoming.path()).unwrap().count(), 0);
    }
}
