//! Deletion of jobs, and of folders that no record names.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tracing::Level;

use super::record::name_of;
use super::{FOLDERS, FoundRecord, JobStore, report_useless};
use crate::jobs::engine::id::{FolderName, JobId};
use crate::jobs::files::{Created, Files as _};
use crate::jobs::input_files::SPEC;
use crate::jobs::stored_job::JobError;

/// The ids and folders of jobs, and what is wrong with the record of another one.
type FoldersOfJobs = (Vec<(JobId, FolderName)>, Option<io::Error>);

/// What became of a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::jobs::engine) enum Removal {
    /// The job is gone, and this call has removed it.
    Done,
    /// The job was gone.
    WasGone,
    /// Another process is deleting it.
    ByAnother,
}

/// The file in the folder of a job that names the process which deletes it.
const DELETED: &str = "deleted";

/// Time after which a process that has not ended a deletion does not go on with it: longer than its last request takes.
const DELETION_TIME: Duration = Duration::from_secs(120);
/// Time after which a folder without a record is removed: much longer than the time for making a job, since another
/// process may be making it.
pub(in crate::jobs::engine) const UNNAMED_TIME: Duration = Duration::from_secs(2 * 3600);

impl JobStore {
    /// Removes a job, but not its files. A newer job of the same id remains, whichever process creates it meanwhile.
    /// One thread of a process calls this at a time, and none creates a job meanwhile.
    ///
    /// # Errors
    /// [`JobError`]. The job may be gone.
    pub(in crate::jobs::engine) fn remove(&self, id: JobId, folder: FolderName) -> Result<Removal, JobError> {
        if !self.names(id, folder)? {
            return Ok(Removal::WasGone);
        }
        let claimed = match self.claim_deletion(folder) {
            // A deletion makes room.
            Err(error) if error.is_disk_full() => true,
            claimed => claimed?,
        };
        // In this order: as long as the record names the folder, none but the one that has claimed it removes it.
        if !self.names(id, folder)? {
            return Ok(Removal::WasGone);
        }
        if !claimed {
            return Ok(Removal::ByAnother);
        }
        let name = name_of(id);
        self.files.remove(&name).map_err(|source| self.error(&name, source))?;
        Ok(Removal::Done)
    }

    /// Removes the files of a job that was removed. What is left after an error, as while a slice stores a part, is
    /// removed later, as a folder without a record.
    pub(in crate::jobs::engine) fn remove_files(&self, id: JobId, folder: FolderName) {
        if let Err(error) = self.remove_folder(folder) {
            let message = "files of a deleted job are left for now";
            tracing::event!(target: "taquin::jobs", Level::INFO, message, job.id = %id, %error);
        }
    }

    /// True if this process is the one that may remove the record which names a folder.
    pub(super) fn claim_deletion(&self, folder: FolderName) -> Result<bool, JobError> {
        if !self.is_shared() {
            return Ok(true);
        }
        let files = self.folder(folder);
        let claim = || -> io::Result<bool> {
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
        match claim() {
            // Another process has removed the folder meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            // Whatever is in its place has no claims.
            Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::InvalidData) => Ok(true),
            claimed => claimed.map_err(|source| JobError::File { path: files.path_of(DELETED), source }),
        }
    }

    /// Removes a folder, and its specification first: what has none is over for all that work on it.
    fn remove_folder(&self, folder: FolderName) -> io::Result<()> {
        let files = self.folder(folder);
        files.remove(SPEC)?;
        files.remove_folder("")
    }

    /// The folders of all jobs, and what is wrong with a damaged record, if there is one.
    fn records(&self) -> io::Result<FoldersOfJobs> {
        let (records, damage, failure) = (Mutex::new(Vec::new()), Mutex::new(None), Mutex::new(None));
        self.for_each(&self.ids()?, |id| match self.find_record(id) {
            Ok(None) => true,
            Ok(Some(FoundRecord { damage: Some(error), .. })) => {
                damage.lock().get_or_insert(io::Error::other(error));
                true
            }
            Ok(Some(FoundRecord { record, damage: None })) => {
                records.lock().push((id, record.folder));
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

    /// Removes folders that no record names, if this process has seen them for some time. Returns the ids and folders
    /// of all jobs.
    ///
    /// # Errors
    /// Errors of the files. Nothing is removed if a record cannot be read, or is damaged.
    pub(in crate::jobs::engine) fn remove_unnamed(&self, seen_for: Duration) -> io::Result<Vec<(JobId, FolderName)>> {
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
            let path = self.folder(*folder).path_of("");
            let message = "a folder that no record names was removed";
            tracing::event!(target: "taquin::jobs", Level::INFO, message, jobs.path = %path.display());
        }
        Ok(records)
    }
}
