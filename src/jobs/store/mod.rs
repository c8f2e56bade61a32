//! The store of an engine's jobs: a record and a folder of files for each job.

mod deletion;
mod new_folder;
mod record;

use std::collections::{HashMap, HashSet};
use std::fs::TryLockError;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;
use taquin_bulk::{Created, Directory, DirectoryUse, Files, FolderName, JobError, JobId, StoredJob, invalid};
use tracing::Level;

use super::settings::{CreateError, EngineError};
use super::time::StoreClock;
pub(crate) use deletion::{Removal, UNNAMED_TIME};
pub use new_folder::NewFolder;
pub(crate) use record::JobRecord;
use record::{RECORDS, id_of, name_of};

/// The store of jobs (docs/adr/0024).
///
/// Each job has a folder in `data` with a random, unique name. The record `jobs/ID.json` names the folder. The creation
/// of the record creates the job. Once the request that made a folder has ended, a folder without a record is garbage.
#[derive(Debug)]
pub struct JobStore {
    files: Arc<dyn Files>,
    /// Folders without a record, each with the time when this process first saw the folder without a record.
    unnamed: Mutex<HashMap<FolderName, Instant>>,
    /// Folders in which this process creates jobs.
    making: Arc<Mutex<HashSet<FolderName>>>,
    clock: Mutex<StoreClock>,
    /// The name under which this process claims deletions.
    deleter: OnceLock<FolderName>,
    /// The directory, which this process has locked; `None` if other processes may use the store.
    own: Option<Directory>,
}

/// A record as found in the store.
#[derive(Debug)]
pub(crate) struct FoundRecord {
    pub(crate) record: JobRecord,
    /// The damage of the record; `None` for a valid record. If the record is damaged, `record` is a placeholder.
    pub(crate) damage: Option<JobError>,
}

/// Maximum number of threads that read records from a shared store.
const READERS: usize = 16;

impl JobStore {
    /// Opens a directory for this process alone. Creates the directory if it is missing.
    ///
    /// # Errors
    /// [`EngineError`].
    pub fn in_directory(path: &Path) -> Result<Self, EngineError> {
        let error = |source| EngineError::Directory { path: path.to_owned(), source };
        let root = Directory::create_private(path).map_err(error)?;
        let root = root.lock(DirectoryUse::Exclusive).map_err(|refusal| match refusal {
            TryLockError::WouldBlock => EngineError::InUse(path.to_owned()),
            TryLockError::Error(source) => error(source),
        })?;
        Ok(Self { own: Some(root.clone()), ..Self::shared(Arc::new(root)) })
    }

    /// Creates a store from files that other processes may use too.
    pub fn shared(files: Arc<dyn Files>) -> Self {
        let (unnamed, clock, deleter) = (Mutex::default(), Mutex::default(), OnceLock::new());
        Self { files, unnamed, making: Arc::default(), clock, deleter, own: None }
    }

    /// Creates missing folders, and removes unfinished records of killed processes. In a directory of this process
    /// alone, this function also removes folders without a record, unless a record is unreadable or damaged.
    pub(crate) fn prepare(&self) -> io::Result<()> {
        self.files.create_folder(RECORDS)?;
        self.files.create_folder(FolderName::PARENT)?;
        self.files.clean(RECORDS)?;
        if !self.is_shared()
            && let Err(error) = self.remove_unnamed(Duration::ZERO)
        {
            report_useless(&error);
        }
        Ok(())
    }

    /// Returns true if other processes may use the store.
    pub(crate) fn is_shared(&self) -> bool {
        self.own.is_none()
    }

    /// Returns the present time of the clock that dates files. The clock of a shared store may differ from the clock of
    /// the process. Returns `None` until the clock of a shared store has been read once.
    pub(crate) fn now(&self) -> Option<SystemTime> {
        if !self.is_shared() {
            return Some(SystemTime::now());
        }
        self.clock.lock().now(|| self.look_at_clock())
    }

    /// Reads the time of the store's clock from the date of a new file.
    fn look_at_clock(&self) -> io::Result<SystemTime> {
        const NAME: &str = "clock";
        let folder = self.begin()?;
        folder.files().put(NAME, b"")?;
        folder.files().created_at(NAME)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Returns the files of the whole store.
    pub(crate) fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// Creates a folder for a new job.
    pub(crate) fn begin(&self) -> io::Result<NewFolder> {
        let name = FolderName::random()?;
        let files = Arc::new(name.in_store(&self.files));
        // The folder is registered before the folder exists. Otherwise, it could be removed as a folder without a
        // record.
        let folder = NewFolder::new(name, files, Arc::clone(&self.making), self.is_shared());
        folder.files().create_folder("")?;
        Ok(folder)
    }

    /// Creates a job by writing its record. Returns [`Created::Existed`] if the id is taken. After an error, the job
    /// may or may not exist. After [`CreateError::TooLate`], the job does not exist.
    pub(crate) fn create(&self, id: JobId, record: &JobRecord, mut folder: NewFolder) -> Result<Created, CreateError> {
        let name = name_of(id);
        folder.check_time()?;
        if self.own.as_ref().is_some_and(|own| !own.is_in_place()) {
            let source = io::Error::other("the directory of the jobs is not the one that this service has locked");
            return Err(self.error("", source).into());
        }
        // From here on, a record may name the folder, even if an error follows.
        folder.is_kept = true;
        match self.files.put(&name, &record.to_json()) {
            Ok(Created::New) => Ok(Created::New),
            // If `put` retries internally, it may find the record of its own first attempt. That record names this
            // folder.
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

    /// Returns true if the record with this id names this folder.
    pub(crate) fn names(&self, id: JobId, folder: FolderName) -> Result<bool, JobError> {
        Ok(self.record(id)?.is_some_and(|record| record.folder == folder))
    }

    /// Reads the record of a job. Returns a placeholder for a damaged record, and `None` if the id has no job.
    pub(crate) fn record(&self, id: JobId) -> Result<Option<JobRecord>, JobError> {
        Ok(self.find_record(id)?.map(|found| found.record))
    }

    /// Reads the record of a job; `None` if there is no record with this id. If the record is damaged, returns a
    /// placeholder and the error of the record. Fails only if the store cannot be read.
    pub(crate) fn find_record(&self, id: JobId) -> Result<Option<FoundRecord>, JobError> {
        let name = name_of(id);
        let (bytes, damage) = match self.files.get(&name) {
            Ok(None) => return Ok(None),
            Ok(Some(bytes)) => match JobRecord::of_json(&bytes) {
                Ok(record) => return Ok(Some(FoundRecord { record, damage: None })),
                Err(error) => (bytes, invalid(error.to_string())),
            },
            Err(source) => match self.error(&name, source) {
                JobError::File { source, .. } if source.kind() == ErrorKind::InvalidData => (Vec::new(), source),
                error => return Err(error),
            },
        };
        let created = self.files.created_at(&name).map_err(|source| self.error(&name, source))?;
        let Some(created) = created else { return Ok(None) };
        let record = JobRecord::standing_for(id, &bytes, created);
        let damage = JobError::Record { path: self.files.path_of(&name), source: damage };
        Ok(Some(FoundRecord { record, damage: Some(damage) }))
    }

    /// Creates a placeholder for the job in a folder, for use if the specification of the job is damaged.
    pub(crate) fn damaged(&self, folder: FolderName) -> StoredJob {
        StoredJob::damaged(Arc::new(folder.in_store(&self.files)))
    }

    /// Opens the job in a folder.
    ///
    /// # Errors
    /// [`JobError`] if the specification is missing, damaged, or unreadable.
    pub fn open(&self, folder: FolderName) -> Result<StoredJob, JobError> {
        StoredJob::open_in(Arc::new(folder.in_store(&self.files)))
    }

    /// Returns the ids of all jobs.
    pub(crate) fn ids(&self) -> io::Result<Vec<JobId>> {
        let mut ids = Vec::new();
        let mut note = |name: &str| ids.extend(id_of(name));
        self.files.list(RECORDS, &mut note)?;
        if self.own.is_some() {
            // A folder in place of the record file counts as a damaged record.
            self.files.list_folders(RECORDS, &mut note)?;
        }
        Ok(ids)
    }

    /// Calls `read` with each id until `read` returns false. For a shared store, several threads call `read`, and the
    /// order is arbitrary.
    pub(crate) fn for_each(&self, ids: &[JobId], read: impl Fn(JobId) -> bool + Sync) {
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
                // If a thread cannot be created, the other threads read all records.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
    }

    fn error(&self, name: &str, source: io::Error) -> JobError {
        JobError::File { path: self.files.path_of(name), source }
    }
}

/// Logs the error that prevents the removal of folders without a record.
pub(crate) fn report_useless(error: &io::Error) {
    let message = "folders of no use cannot be removed";
    tracing::event!(target: "taquin::jobs", Level::WARN, message, %error);
}

#[cfg(test)]
mod tests;
