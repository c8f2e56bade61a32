//! The folder beside a file of labels that has its rows until the file is whole.

use std::fs::{self, DirEntry, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::destination::{has_bytes, with_end};
use crate::jobs::{DIRECTORY_LOCK, DirectoryLock, DirectoryUse, NewFile, if_found, is_temporary, sync_folder_of};

/// The folder of an unfinished file, locked. It holds the files of one run and nothing else.
#[derive(Debug)]
pub(super) struct UnfinishedFolder {
    path: PathBuf,
    _lock: DirectoryLock,
}

pub(super) const ROWS: &str = "rows";
pub(super) const PROBLEMS: &str = "problems.ndjson";
pub(super) const STATE: &str = "state.json";
/// Files of a run. The state is the first one that is removed: it is nothing without the others.
pub(super) const FILES: [&str; 3] = [STATE, ROWS, PROBLEMS];

/// The path of the folder of a file of labels.
pub(super) fn folder_of(file: &Path) -> PathBuf {
    with_end(file, ".unfinished")
}

/// True if a folder has what an interrupted run left.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::InvalidData`] if it has anything that no run writes.
pub(super) fn is_interrupted(folder: &Path) -> io::Result<bool> {
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

/// True for a file that a run writes.
fn is_of_run(entry: &DirEntry) -> io::Result<bool> {
    let is_name_of_run =
        |name: &str| name == DIRECTORY_LOCK || FILES.contains(&name) || name.starts_with(STATE) && is_temporary(name);
    Ok(entry.file_name().to_str().is_some_and(is_name_of_run) && !entry.file_type()?.is_dir())
}

impl UnfinishedFolder {
    /// Locks a folder, which is created if there is none.
    ///
    /// # Errors
    /// Errors of the file system, and [`ErrorKind::ResourceBusy`] if another process has it.
    pub(super) fn lock(path: PathBuf) -> io::Result<Self> {
        loop {
            match fs::create_dir(&path) {
                Ok(()) => sync_folder_of(&path)?,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            match DirectoryLock::take(&path, DirectoryUse::Exclusive) {
                Ok(lock) if lock.is_of(&path) => return Ok(Self { path, _lock: lock }),
                // Another process removed it before it was locked.
                Ok(_) => {}
                Err(TryLockError::Error(error)) if error.kind() == ErrorKind::NotFound => {}
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) => {
                    return Err(io::Error::new(ErrorKind::ResourceBusy, "another process writes this file"));
                }
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Removes the files of a run.
    pub(super) fn clear(&self) -> io::Result<()> {
        NewFile::remove_left(&self.join(STATE));
        FILES.iter().try_for_each(|name| if_found(fs::remove_file(self.join(name))).map(drop))
    }

    /// Removes the folder with the files of a run. Anything else in it remains.
    pub(super) fn remove(&self) -> io::Result<()> {
        self.clear()?;
        if_found(fs::remove_file(self.join(DIRECTORY_LOCK)))?;
        match fs::remove_dir(&self.path) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed,
        }
    }
}
