//! The folder `FILE.unfinished`. The folder has the rows of an incomplete file.

use std::fs::{self, DirEntry, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::{DIRECTORY_LOCK, DirectoryLock, DirectoryUse, NewFile, if_found, is_temporary, sync_folder_of};

use super::destination::{has_bytes, with_end};

/// The folder of an unfinished file. The folder is locked, and has only the files of one run.
#[derive(Debug)]
pub(crate) struct UnfinishedFolder {
    path: PathBuf,
    _lock: DirectoryLock,
}

pub(crate) const ROWS: &str = "rows";
pub(crate) const PROBLEMS: &str = "problems.ndjson";
pub(crate) const STATE: &str = "state.json";
/// Names of the files of a run. The files are removed in this order. The state is removed first, because the state
/// requires the other files.
pub(crate) const FILES: [&str; 3] = [STATE, ROWS, PROBLEMS];

pub(crate) fn folder_of(file: &Path) -> PathBuf {
    with_end(file, ".unfinished")
}

/// Returns true if a folder has an interrupted run: one of the files of a run has content.
///
/// # Errors
/// Errors of the file system. [`ErrorKind::InvalidData`] if the path is not a folder, or if the folder has files that
/// no run writes.
pub(crate) fn is_interrupted(folder: &Path) -> io::Result<bool> {
    let Some(data) = if_found(fs::symlink_metadata(folder))? else { return Ok(false) };
    let invalid = |reason: String| io::Error::new(ErrorKind::InvalidData, reason);
    if !data.is_dir() {
        return Err(invalid("it is not a folder: move it to another place".to_owned()));
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !is_of_run(&entry)? {
            let name = entry.file_name();
            return Err(invalid(format!("no run wrote its {}: move it to another place", name.display())));
        }
    }
    Ok(FILES.iter().any(|name| has_bytes(&folder.join(name))))
}

/// Returns true if an entry is not a folder and has the name of a file that a run writes.
fn is_of_run(entry: &DirEntry) -> io::Result<bool> {
    let is_name_of_run =
        |name: &str| name == DIRECTORY_LOCK || FILES.contains(&name) || name.starts_with(STATE) && is_temporary(name);
    Ok(entry.file_name().to_str().is_some_and(is_name_of_run) && !entry.file_type()?.is_dir())
}

impl UnfinishedFolder {
    /// Locks a folder. Creates the folder if it is missing.
    ///
    /// # Errors
    /// Errors of the file system. [`ErrorKind::ResourceBusy`] if another process has locked the folder.
    pub(crate) fn lock(path: PathBuf) -> io::Result<Self> {
        loop {
            match fs::create_dir(&path) {
                Ok(()) => sync_folder_of(&path)?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            match DirectoryLock::take(&path, DirectoryUse::Exclusive) {
                Ok(lock) if lock.is_of(&path) => return Ok(Self { path, _lock: lock }),
                // Another process removed the folder before this process took the lock.
                Ok(_) => {}
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::NotFound => {}
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::new(ErrorKind::ResourceBusy, "another process writes this file"));
                }
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Removes the files of a run.
    pub(crate) fn clear(&self) -> io::Result<()> {
        NewFile::remove_left(&self.join(STATE));
        FILES.iter().try_for_each(|name| if_found(fs::remove_file(self.join(name))).map(drop))
    }

    /// Removes the files of a run and the lock file. Also removes the folder, unless the folder has other files.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.clear()?;
        if_found(fs::remove_file(self.join(DIRECTORY_LOCK)))?;
        match fs::remove_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }
}
