//! Deletes jobs, and removes folders that no record names.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::{Created, Files as _, FolderName, JobError, JobId, SPEC};
use tracing::Level;

use super::record::name_of;
use super::{FoundRecord, JobStore, report_useless};

/// Ids and folders of all jobs with a valid record, and the error of one damaged record, if there is a damaged record.
type FoldersOfJobs = (Vec<(JobId, FolderName)>, Option<io::Error>);

/// Result of a deletion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Removal {
    /// This call removed the job.
    Done,
    /// The job had been removed before this call.
    WasGone,
    /// Another process is removing the job.
    ByAnother,
}

/// Name of a file in a job's folder. The file contains the name under which a process deletes the job.
const DELETED: &str = "deleted";

/// Age of an unfinished deletion at which another process may take over the deletion. The removal of the record, the
/// last request of a deletion, takes less time.
const DELETION_TIME: Duration = Duration::from_secs(120);
/// Time from the moment when this process first saw a folder without a record until the process removes the folder. The
/// creation of a job takes less time, so no other process is still creating a job in the folder.
pub(crate) const UNNAMED_TIME: Duration = Duration::from_secs(2 * 3600);

impl JobStore {
    /// Removes the record of a job, and keeps the job's files. If another process creates a job with the same id
    /// meanwhile, the record of that newer job stays. This process must not run another removal or creation at the same
    /// time. After an error, the record may or may not exist.
    pub(crate) fn remove(&self, id: JobId, folder: FolderName) -> Result<Removal, JobError> {
        if !self.names(id, folder)? {
            return Ok(Removal::WasGone);
        }
        let claimed = match self.claim_deletion(folder) {
            // On a full disk the claim cannot be stored. The deletion continues, since the deletion frees space.
            Err(error) if error.is_disk_full() => true,
            claimed => claimed?,
        };
        // This second check must come after the claim: after the claim, only the claiming process removes a record that
        // names the folder.
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

    /// Removes the files of a removed job. If an error occurs, for example because a slice stores a part at the same
    /// time, [`remove_unnamed`](Self::remove_unnamed) removes the folder later.
    pub(crate) fn remove_files(&self, id: JobId, folder: FolderName) {
        if let Err(error) = self.remove_folder(folder) {
            let message = "files of a deleted job are left for now";
            tracing::event!(target: "taquin::jobs", Level::INFO, message, job.id = %id, %error);
        }
    }

    /// Claims the deletion of the job in a folder. Returns true if this process may remove the record of the job. No
    /// claim is needed in a directory that belongs to this process alone.
    pub(crate) fn claim_deletion(&self, folder: FolderName) -> Result<bool, JobError> {
        if !self.is_shared() {
            return Ok(true);
        }
        let files = folder.in_store(&self.files);
        let claim = || -> io::Result<bool> {
            let new = FolderName::random()?;
            let own = self.deleter.get_or_init(|| new).to_string().into_bytes();
            files.create_folder("")?;
            if files.put(DELETED, &own)? == Created::New || files.get(DELETED)?.is_some_and(|by| by == own) {
                return Ok(true);
            }
            // After [`DELETION_TIME`], this process takes over: the claiming process may have exited.
            let age = files.created_at(DELETED)?.and_then(|at| self.now()?.duration_since(at).ok());
            Ok(age.is_some_and(|age| age > DELETION_TIME))
        };
        match claim() {
            // Another process removed the folder in the meantime.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            // If the folder is a file, or the claim is not a regular file, the claim does not count.
            Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::InvalidData) => Ok(true),
            claimed => claimed.map_err(|source| JobError::File { path: files.path_of(DELETED), source }),
        }
    }

    /// Removes a folder. The specification is removed first: all work on a job stops once the job has no specification.
    fn remove_folder(&self, folder: FolderName) -> io::Result<()> {
        let files = folder.in_store(&self.files);
        files.remove(SPEC)?;
        files.remove_folder("")
    }

    /// Reads the ids and folders of all jobs with a valid record, and the error of one damaged record, if there is one.
    /// Fails if a record cannot be read at present.
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

    /// Removes each folder that no record names, if this process first saw the folder without a record at least
    /// `seen_for` ago. Keeps the folders in which this process creates jobs. Removes nothing if a record is unreadable
    /// or damaged. Returns the ids and folders of all jobs with a valid record. Fails if a record is unreadable or a
    /// folder cannot be removed.
    pub(crate) fn remove_unnamed(&self, seen_for: Duration) -> io::Result<Vec<(JobId, FolderName)>> {
        // The folders are listed before the records are read. In the opposite order, the folder of a job that is
        // created in between would seem to have no record.
        let mut folders = Vec::new();
        self.files.list_folders(FolderName::PARENT, &mut |name| folders.extend(name.parse::<FolderName>()))?;
        // This check must also come before the records are read. A successful creation that has left `making` by now
        // has written its record already.
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
            let path = folder.in_store(&self.files).path_of("");
            let message = "a folder that no record names was removed";
            tracing::event!(target: "taquin::jobs", Level::INFO, message, jobs.path = %path.display());
        }
        Ok(records)
    }
}
