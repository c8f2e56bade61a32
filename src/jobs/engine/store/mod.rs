//! Where the jobs of an engine are: a record for each job, and a folder with its files.

mod clock;
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
use tracing::Level;

use super::id::{FolderName, JobId};
use super::settings::{CreateError, EngineError};
use crate::jobs::directory::Directory;
use crate::jobs::directory_lock::DirectoryUse;
use crate::jobs::files::{Created, Files, invalid};
use crate::jobs::folder::Folder;
use crate::jobs::stored_job::{JobError, StoredJob};
use clock::StoreClock;
pub(super) use deletion::{Removal, UNNAMED_TIME};
pub use new_folder::NewFolder;
pub(super) use record::JobRecord;
use record::{RECORDS, id_of, name_of};

/// Where the jobs of engines are (docs/adr/0050).
///
/// A job is made in a folder of `data` with a random name, which no other folder ever has. Creating the record
/// `jobs/ID.json`, which names the folder, creates the job. A folder that no record names is of no use, once the
/// request that made it has ended.
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
    /// The directory that is locked for this process alone; `None` if other processes use the place too.
    own: Option<Directory>,
}

/// The record of a job, as it was found.
#[derive(Debug)]
pub(super) struct FoundRecord {
    pub(super) record: JobRecord,
    /// What is wrong with it: then the record only stands for it.
    pub(super) damage: Option<JobError>,
}

const FOLDERS: &str = "data";
/// Records that are read at a time from a shared place.
const READERS: usize = 16;

impl JobStore {
    /// The jobs in a directory, for this process alone. The directory is created if it is missing.
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

    /// The jobs in a place that other processes use too.
    pub fn shared(files: Arc<dyn Files>) -> Self {
        let (unnamed, clock, deleter) = (Mutex::default(), Mutex::default(), OnceLock::new());
        Self { files, unnamed, making: Arc::default(), clock, deleter, own: None }
    }

    /// Creates what is missing, and removes what killed processes left of records. If the place is that of this process
    /// alone, removes folders of no use, unless a record cannot be read.
    ///
    /// # Errors
    /// Errors of the files.
    pub(super) fn prepare(&self) -> io::Result<()> {
        self.files.create_folder(RECORDS)?;
        self.files.create_folder(FOLDERS)?;
        self.files.clean(RECORDS)?;
        if !self.is_shared()
            && let Err(error) = self.remove_unnamed(Duration::ZERO)
        {
            report_useless(&error);
        }
        Ok(())
    }

    /// True if other processes use the place too.
    pub(super) fn is_shared(&self) -> bool {
        self.own.is_none()
    }

    /// The time of the clock that dates files; `None` if it cannot be read now. The process clock may differ if
    /// the place is shared.
    pub(super) fn now(&self) -> Option<SystemTime> {
        if !self.is_shared() {
            return Some(SystemTime::now());
        }
        self.clock.lock().now(|| self.look_at_clock())
    }

    /// Has the place date a file.
    fn look_at_clock(&self) -> io::Result<SystemTime> {
        const NAME: &str = "clock";
        let folder = self.begin()?;
        folder.files().put(NAME, b"")?;
        folder.files().created_at(NAME)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// The place, for messages.
    pub(super) fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// Begins a folder for a job.
    ///
    /// # Errors
    /// Errors of the files.
    pub(super) fn begin(&self) -> io::Result<NewFolder> {
        let name = FolderName::random()?;
        let files = Arc::new(self.folder(name));
        // Before the folder is there, which would be removed as one without a record otherwise.
        let folder = NewFolder::new(name, files, Arc::clone(&self.making), self.is_shared());
        folder.files().create_folder("")?;
        Ok(folder)
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
        if self.own.as_ref().is_some_and(|own| !own.is_in_place()) {
            let source = io::Error::other("the directory of the jobs is not the one that this service has locked");
            return Err(self.error("", source).into());
        }
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

    /// Reads the record of a job, or what stands for a damaged one; `None` if there is no job of this id.
    ///
    /// # Errors
    /// [`JobError`].
    pub(super) fn record(&self, id: JobId) -> Result<Option<JobRecord>, JobError> {
        Ok(self.find_record(id)?.map(|found| found.record))
    }

    /// Reads the record of a job; `None` if there is no job of this id.
    ///
    /// # Errors
    /// [`JobError`] if the place fails.
    pub(super) fn find_record(&self, id: JobId) -> Result<Option<FoundRecord>, JobError> {
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
    /// Errors of the files.
    pub(super) fn ids(&self) -> io::Result<Vec<JobId>> {
        let mut ids = Vec::new();
        let mut note = |name: &str| ids.extend(id_of(name));
        self.files.list(RECORDS, &mut note)?;
        if self.own.is_some() {
            // A folder in place of a record is a damaged one.
            self.files.list_folders(RECORDS, &mut note)?;
        }
        Ok(ids)
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

    fn error(&self, name: &str, source: io::Error) -> JobError {
        JobError::File { path: self.files.path_of(name), source }
    }
}

/// Logs why folders of no use are not removed.
pub(super) fn report_useless(error: &io::Error) {
    let message = "folders of no use cannot be removed";
    tracing::event!(target: "taquin::jobs", Level::WARN, message, %error);
}

#[cfg(test)]
mod tests;
