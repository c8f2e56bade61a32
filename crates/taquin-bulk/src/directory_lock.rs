//! Locks on directories. The system releases a lock when the process ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::file_system::{is_same_file, open_regular};

/// Whether other processes may use a directory at the same time as this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectoryUse {
    /// No other process may use the directory at the same time.
    Exclusive,
    /// Other processes may use the directory at the same time, if all uses are shared.
    Shared,
}

/// Locks on a directory, and on the file `lock` in the directory. Dropping the value releases both locks.
///
/// Both locks are necessary. If the file `lock` is removed, the lock on the directory remains. On a network file
/// system, other machines see only the lock on the file.
#[derive(Debug)]
pub struct DirectoryLock {
    directory: File,
    _file: File,
}

/// Locks of a command on the stores that contain the output of the command. While a command holds these locks, no
/// service can open the stores.
///
/// Several commands may share a store, and several services with a queue may share a store, so these commands and
/// services take shared locks on the store. But a command and a service must not share a store. Therefore a command
/// also locks the folder `data` of the store. A service tests the lock on `data` when the service starts, and does not
/// hold this lock.
#[derive(Debug)]
pub struct OutputLock {
    _locked: Vec<File>,
}

/// Name of the lock file in a directory.
pub const DIRECTORY_LOCK: &str = "lock";
const FOLDERS: [&str; 2] = [DATA, "jobs"];
const DATA: &str = "data";
/// Maximum number of tests of the lock on the folder `data` by a service. One test is not enough, because another
/// service may be testing the lock at the same moment.
const LOOKS: u32 = 20;
/// Pause between two tests.
const PAUSE: Duration = Duration::from_millis(10);

impl DirectoryLock {
    /// Locks an existing directory.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another process has a conflicting lock, or if the directory is a store into
    /// which a command writes; otherwise errors of the file system.
    pub fn take(path: &Path, usage: DirectoryUse) -> Result<Self, TryLockError> {
        let directory = File::open(path).map_err(TryLockError::Error)?;
        if is_locked(lock(&directory, usage)) {
            return Err(TryLockError::WouldBlock);
        }
        let lock_file = path.join(DIRECTORY_LOCK);
        loop {
            let mut options = OpenOptions::new();
            options.create(true).write(true).truncate(false).mode(0o600);
            let file = open_regular(&lock_file, &mut options).map_err(TryLockError::Error)?;
            lock(&file, usage)?;
            // Another process may have removed the file after this process opened the file and before it locked the
            // file.
            if is_at(&file, &lock_file).map_err(TryLockError::Error)? {
                return if is_output(path) {
                    Err(TryLockError::WouldBlock)
                } else {
                    Ok(Self { directory, _file: file })
                };
            }
        }
    }

    /// Returns true if `path` leads to the locked directory.
    pub fn is_of(&self, path: &Path) -> bool {
        // `metadata` follows links, so `path` may be a link to the directory.
        fs::metadata(path).is_ok_and(|now| self.directory.metadata().is_ok_and(|locked| is_same_file(&locked, &now)))
    }
}

impl OutputLock {
    /// Locks the stores that contain the file `path`. If no store contains the file, the value holds no lock.
    ///
    /// # Errors
    /// The path of a store, if a running service uses the store.
    pub fn of_file(path: &Path) -> Result<Self, PathBuf> {
        // `path` may be a link.
        let path = fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
        path.parent().map_or(Ok(Self { _locked: Vec::new() }), Self::of_directory)
    }

    /// Locks the stores that contain the directory `path`. If no store contains the directory, the value holds no lock.
    /// The directory may be missing.
    ///
    /// A store is a directory with the folders `data` and `jobs`. A store contains its own directory, and everything in
    /// these two folders. Other folders in the directory do not belong to the store.
    ///
    /// # Errors
    /// The path of a store, if a running service uses the store.
    pub fn of_directory(path: &Path) -> Result<Self, PathBuf> {
        let path = canonical(path);
        let is_written = |store: &Path| match path.strip_prefix(store).map(|below| below.components().next()) {
            Ok(Some(folder)) => FOLDERS.iter().any(|of_store| folder.as_os_str() == *of_store),
            Ok(None) => true,
            Err(_) => false,
        };
        let is_store = |path: &Path| FOLDERS.iter().all(|folder| path.join(folder).is_dir());
        let mut locked = Vec::new();
        for store in path.ancestors().filter(|above| is_written(above) && is_store(above)) {
            locked.extend(Self::of_store(store).ok_or_else(|| store.to_owned())?);
        }
        Ok(Self { _locked: locked })
    }

    /// Locks a store, and returns the locked files and folders. Returns `None` if a service uses the store. Other
    /// errors are ignored: a service does not start on a file system without locks.
    fn of_store(store: &Path) -> Option<Vec<File>> {
        let lock_file = open_regular(&store.join(DIRECTORY_LOCK), OpenOptions::new().read(true));
        let used_by_services: Vec<File> = [File::open(store), lock_file].into_iter().flatten().collect();
        let of_commands = File::open(store.join(DATA)).ok();
        // The first command tests whether a service uses the store. A later command waits for the end of this test.
        let is_first = of_commands.as_ref().is_some_and(|folder| folder.try_lock().is_ok());
        let share = || of_commands.as_ref().map(File::lock_shared);
        if !is_first {
            share();
        }
        for file in &used_by_services {
            if is_first && is_locked(file.try_lock()) || is_locked(file.try_lock_shared()) {
                return None;
            }
        }
        share();
        Some(used_by_services.into_iter().chain(of_commands).collect())
    }
}

/// Returns true if a command writes into the store.
fn is_output(store: &Path) -> bool {
    let Ok(of_commands) = File::open(store.join(DATA)) else { return false };
    (0..LOOKS).all(|look| {
        if look > 0 {
            std::thread::sleep(PAUSE);
        }
        is_locked(of_commands.try_lock())
    })
}

fn is_locked(attempt: Result<(), TryLockError>) -> bool {
    matches!(attempt, Err(TryLockError::WouldBlock))
}

/// Resolves the links in a path. The last components of the path may be missing.
pub fn canonical(path: &Path) -> PathBuf {
    let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = path.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    let Some((above, canonical)) = existing else { return path.to_owned() };
    path.strip_prefix(above).map_or(canonical.clone(), |below| canonical.join(below))
}

fn lock(file: &File, usage: DirectoryUse) -> Result<(), TryLockError> {
    match usage {
        DirectoryUse::Exclusive => file.try_lock(),
        DirectoryUse::Shared => file.try_lock_shared(),
    }
}

/// Returns true if `path` is the path of this file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(now) => Ok(is_same_file(&file.metadata()?, &now)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::Scratch;

    #[test]
    fn a_directory_stays_locked_without_its_file() {
        let scratch = Scratch::new();
        let path = scratch.0.path();
        let take = |usage| DirectoryLock::take(path, usage);
        let locked = take(DirectoryUse::Exclusive).unwrap();
        for usage in [DirectoryUse::Exclusive, DirectoryUse::Shared] {
            assert!(matches!(take(usage), Err(TryLockError::WouldBlock)));
            fs::remove_file(path.join(DIRECTORY_LOCK)).unwrap();
            assert!(matches!(take(usage), Err(TryLockError::WouldBlock)));
            fs::write(path.join(DIRECTORY_LOCK), b"").unwrap();
            assert!(matches!(take(usage), Err(TryLockError::WouldBlock)));
        }
        drop(locked);
        let _one = take(DirectoryUse::Shared).unwrap();
        let _other = take(DirectoryUse::Shared).unwrap();
        assert!(matches!(take(DirectoryUse::Exclusive), Err(TryLockError::WouldBlock)));
    }

    #[test]
    fn a_directory_that_was_moved_is_not_the_one_that_is_locked() {
        let scratch = Scratch::new();
        let (path, moved) = (scratch.0.path().join("store"), scratch.0.path().join("moved"));
        fs::create_dir(&path).unwrap();
        let locked = DirectoryLock::take(&path, DirectoryUse::Exclusive).unwrap();
        assert!(locked.is_of(&path));
        fs::rename(&path, &moved).unwrap();
        assert!(!locked.is_of(&path));
        fs::create_dir(&path).unwrap();
        assert!(!locked.is_of(&path));
        assert!(locked.is_of(&moved));
    }

    #[test]
    fn what_is_no_file_is_no_lock() {
        let scratch = Scratch::new();
        let path = scratch.0.path().join(DIRECTORY_LOCK);
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let taken = DirectoryLock::take(scratch.0.path(), DirectoryUse::Exclusive);
        assert!(matches!(taken, Err(TryLockError::Error(_))), "{taken:?}");
    }

    #[test]
    fn a_command_does_not_write_into_the_store_of_a_running_service() {
        let scratch = Scratch::new();
        let path = scratch.0.path();
        for folder in FOLDERS {
            fs::create_dir(path.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(path.join("data"), path.join("link")).unwrap();
        let directories = ["", "data", "data/new/deep", "jobs", "link/new", "other/../jobs"];
        let files = ["rows.csv", "data/rows.csv", "jobs/x.json", "link/x", "linked.csv"];
        fs::create_dir(path.join("other")).unwrap();
        fs::write(path.join("data/whole.csv"), b"").unwrap();
        std::os::unix::fs::symlink(path.join("data/whole.csv"), path.join("other/linked.csv")).unwrap();
        std::os::unix::fs::symlink(path.join("data/whole.csv"), path.join("linked.csv")).unwrap();
        let take_all = || {
            let directories = directories.map(|output| OutputLock::of_directory(&path.join(output)));
            let files = files.map(|output| OutputLock::of_file(&path.join(output)));
            let linked = OutputLock::of_file(&path.join("other/linked.csv"));
            directories.into_iter().chain(files).chain([linked])
        };
        let canonical = fs::canonicalize(path).unwrap();
        let usages = [DirectoryUse::Exclusive, DirectoryUse::Shared];
        for usage in usages {
            let _service = DirectoryLock::take(path, usage).unwrap();
            for (number, taken) in take_all().enumerate() {
                assert_eq!(taken.unwrap_err(), canonical, "output {number}, {usage:?}");
            }
        }
        let service = DirectoryLock::take(path, DirectoryUse::Shared).unwrap();
        drop(DirectoryLock::take(path, DirectoryUse::Shared).unwrap());
        for other in ["other", "other/deep", "new", ".."] {
            OutputLock::of_directory(&path.join(other)).unwrap();
        }
        OutputLock::of_file(&path.join("other/rows.csv")).unwrap();
        drop(service);
        for taken in take_all() {
            let _another = OutputLock::of_directory(path).unwrap();
            for usage in usages {
                let service = DirectoryLock::take(path, usage);
                assert!(matches!(service, Err(TryLockError::WouldBlock)), "{taken:?}, {usage:?}");
            }
        }
        for usage in usages {
            DirectoryLock::take(path, usage).unwrap();
        }
    }
}
