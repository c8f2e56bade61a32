//! A directory as storage of jobs. The type `Directory` implements the trait `Files`.

use std::fs::{self, DirBuilder, DirEntry, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::directory_lock::{DirectoryLock, DirectoryUse};
use crate::file_system::{if_found, irregular, open_regular, remove_any, sync, sync_folder_of};
use crate::files::{Created, Files, WriteFile, too_long};
use crate::new_file::{NewFile, is_temporary, remove_if_left};

/// A directory that stores files of jobs.
///
/// [`Files::put_with`] writes a new file under a temporary name, syncs the file, and links the file to its final name.
/// The link never replaces an existing file. Then the method syncs the directory. So a file is complete as soon as its
/// final name exists, even if the process is killed. Any number of processes may use the same directory at the same
/// time.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    lock: Option<Arc<DirectoryLock>>,
    /// True if only the user of this process can read new files and new folders.
    is_private: bool,
}

impl Directory {
    /// Opens a directory. Creates missing directories of the path.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        if !path.try_exists()? {
            fs::create_dir_all(path)?;
            sync_folder_of(path)?;
        }
        Ok(Self::at(path))
    }

    /// Opens a directory for private files. Creates missing directories of the path. Only the user of this process can
    /// read new files and new folders in the directory. If this function creates the directory, only this user can read
    /// the directory itself. Existing files and directories keep their permissions.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn create_private(path: &Path) -> io::Result<Self> {
        if !path.try_exists()? {
            if let Some(above) = path.parent() {
                fs::create_dir_all(above)?;
            }
            create_dir(path, true)?;
            sync_folder_of(path)?;
        }
        Ok(Self { is_private: true, ..Self::at(path) })
    }

    /// Opens a directory without creating it. A missing directory has no files, and rejects new files.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), lock: None, is_private: false }
    }

    /// Locks the directory. The lock is released when the returned value and all its clones are dropped.
    ///
    /// # Errors
    /// Errors of [`DirectoryLock::take`].
    pub fn lock(self, usage: DirectoryUse) -> Result<Self, TryLockError> {
        let lock = DirectoryLock::take(&self.path, usage)?;
        Ok(Self { lock: Some(Arc::new(lock)), ..self })
    }

    /// Returns true if the path still leads to the locked directory. Without a lock, always returns true.
    pub fn is_in_place(&self) -> bool {
        self.lock.as_ref().is_none_or(|lock| lock.is_of(&self.path))
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a temporary file for the final name `name`. The caller writes the file, and then calls
    /// [`NewFile::create`] or [`NewFile::replace`].
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn begin(&self, name: &str) -> io::Result<NewFile> {
        let path = self.path.join(name);
        if self.is_private { NewFile::begin_private(path) } else { NewFile::begin(path) }
    }

    fn open_regular(&self, name: &str) -> io::Result<File> {
        open_regular(&self.path.join(name), OpenOptions::new().read(true))
    }

    /// Lists the entries of a folder. A missing folder has no entries.
    fn entries(&self, folder: &str) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        Ok(if_found(fs::read_dir(self.path.join(folder)))?.into_iter().flatten())
    }
}

impl Files for Directory {
    fn path_of(&self, name: &str) -> PathBuf {
        // Joining an empty name would append a slash to the path.
        if name.is_empty() { self.path.clone() } else { self.path.join(name) }
    }

    fn create_folder(&self, name: &str) -> io::Result<()> {
        let mut path = self.path.clone();
        for folder in name.split('/') {
            let above = path.clone();
            path.push(folder);
            match create_dir(&path, self.is_private) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                Err(_) if !path.is_dir() => return Err(ErrorKind::NotADirectory.into()),
                // Another process may have created the directory without syncing it yet.
                _ => sync(&above)?,
            }
        }
        Ok(())
    }

    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created> {
        let path = self.path.join(name);
        if if_found(fs::symlink_metadata(&path))?.is_some() {
            // Another process may have created the file without syncing it yet.
            sync_folder_of(&path)?;
            return Ok(Created::Existed);
        }
        let mut file = self.begin(name)?;
        write(&mut file)?;
        file.create()
    }

    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = if_found(self.open_regular(name))? else { return Ok(None) };
        let length = file.metadata()?.len();
        if length > most {
            return Err(too_long(most));
        }
        let mut bytes = Vec::with_capacity(length as usize);
        // The file may have grown since its length was read.
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(too_long(most)) } else { Ok(Some(bytes)) }
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>> {
        let file = if_found(self.open_regular(name))?;
        Ok(file.map(|file| Box::new(BufReader::new(file)) as _))
    }

    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>> {
        if_found(fs::symlink_metadata(self.path.join(name)).and_then(|data| data.modified()))
    }

    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        match if_found(fs::symlink_metadata(self.path.join(name)))? {
            Some(data) if !data.is_file() => Err(irregular()),
            found => Ok(found.map(|data| data.len())),
        }
    }

    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        for entry in self.entries(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_listed = |name: &&str| *name > after && !is_temporary(name);
            if let Some(name) = name.to_str().filter(is_listed)
                && !entry.file_type()?.is_dir()
            {
                visit(name);
            }
        }
        Ok(())
    }

    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        for entry in self.entries(folder)? {
            let entry = entry?;
            if let Some(name) = entry.file_name().to_str()
                && entry.file_type()?.is_dir()
            {
                visit(name);
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.path.join(name);
        if remove_any(&path)? { sync_folder_of(&path) } else { Ok(()) }
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        remove_any(&self.path.join(name)).map(drop)
    }

    fn clean(&self, folder: &str) -> io::Result<()> {
        for entry in self.entries(folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(is_temporary) {
                // An error is ignored, because a remaining file only takes disk space.
                let _ = remove_if_left(&entry.path());
            }
        }
        Ok(())
    }
}

fn create_dir(path: &Path, is_private: bool) -> io::Result<()> {
    DirBuilder::new().mode(if is_private { 0o700 } else { 0o777 }).create(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::test_files::{Scratch, check_promises};

    fn names_in(scratch: &Scratch) -> Vec<String> {
        let entries = fs::read_dir(scratch.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_directory_keeps_the_promises_and_leaves_no_temporary_file() {
        let scratch = Scratch::new();
        check_promises(&scratch.0);
        let files = fs::read_dir(scratch.0.path().join("some")).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names.len(), 21, "{names:?}");
        assert!(!names.iter().any(|name| is_temporary(name)), "{names:?}");
    }

    #[test]
    fn a_missing_directory_has_no_files_and_is_not_created() {
        let scratch = Scratch::new();
        let missing = Directory::at(&scratch.0.path().join("missing"));
        assert_eq!((missing.get("a").unwrap(), missing.created_at("a").unwrap()), (None, None));
        assert!(missing.open("a").unwrap().is_none());
        assert_eq!(missing.put("a", b"").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(names_in(&scratch).is_empty());
    }

    #[test]
    fn a_new_file_replaces_another_only_when_it_is_whole() {
        let scratch = Scratch::new();
        scratch.0.put("a", b"old").unwrap();
        let mut file = scratch.0.begin("a").unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(scratch.0.get("a").unwrap().unwrap(), b"old");
        assert_eq!(names_in(&scratch).len(), 2);
        drop(file);
        assert_eq!(names_in(&scratch), ["a"]);
        let mut file = scratch.0.begin("a").unwrap();
        file.write_all(b"new").unwrap();
        file.replace().unwrap();
        assert_eq!(scratch.0.get("a").unwrap().unwrap(), b"new");
        assert_eq!(names_in(&scratch), ["a"]);
    }

    #[test]
    fn temporary_files_of_killed_processes_are_removed() {
        let scratch = Scratch::new();
        scratch.0.put("a", b"").unwrap();
        let others = ["b.0123456789abcde.tmp", "b.0123456789abcdeX.tmp", "b.tmp", ".0123456789abcdef.tmp"];
        for name in ["a.0123456789abcdef.tmp", "b.0123456789abcdef.tmp"].into_iter().chain(others) {
            fs::write(scratch.0.path().join(name), b"half").unwrap();
        }
        let mut writing = scratch.0.begin("c").unwrap();
        let mut seen = Vec::new();
        scratch.0.list("", &mut |name| seen.push(name.to_owned())).unwrap();
        seen.sort();
        assert_eq!(seen, [others[3], "a", others[0], others[1], others[2]]);
        scratch.0.clean("").unwrap();
        writing.write_all(b"whole").unwrap();
        assert_eq!(writing.create().unwrap(), Created::New);
        let mut names = names_in(&scratch);
        names.sort();
        assert_eq!(names, [others[3], "a", others[0], others[1], others[2], "c"]);
        assert_eq!(scratch.0.get("c").unwrap().unwrap(), b"whole");
    }

    #[test]
    fn a_file_that_is_cleaned_away_before_it_is_locked_is_begun_anew() {
        let scratch = Scratch::new();
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                    scratch.0.clean("").unwrap();
                }
            });
            for number in 0..300 {
                assert_eq!(scratch.0.put(&number.to_string(), b"whole").unwrap(), Created::New);
            }
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(names_in(&scratch).len(), 300);
    }

    #[test]
    fn only_regular_files_of_the_right_size_are_read() {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.0.path().join(name);
        fs::write(path("file"), b"12345").unwrap();
        fs::create_dir(path("folder")).unwrap();
        let mkfifo = std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap();
        assert!(mkfifo.success());
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for (name, to) in [("link", "file"), ("endless", "/dev/zero"), ("dangling", "none"), ("round", "round")] {
            std::os::unix::fs::symlink(to, path(name)).unwrap();
        }
        for name in ["folder", "pipe", "socket", "link", "endless", "dangling", "round"] {
            for error in
                [scratch.0.get(name).map(drop), scratch.0.open(name).map(drop), scratch.0.length(name).map(drop)]
            {
                assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidData, "{name}");
            }
            assert!(scratch.0.created_at(name).unwrap().is_some(), "{name}");
            assert_eq!(scratch.0.put(name, b"").unwrap(), Created::Existed, "{name}");
            scratch.0.remove(name).unwrap();
            assert_eq!(scratch.0.created_at(name).unwrap(), None, "{name}");
        }
        assert_eq!(scratch.0.get("file").unwrap().unwrap(), b"12345", "what a link leads to stays");
        File::create(path("large")).and_then(|file| file.set_len(1 << 40)).unwrap();
        assert_eq!(scratch.0.get("large").unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(scratch.0.get("file/below").unwrap_err().kind(), ErrorKind::NotADirectory);
        assert_eq!(scratch.0.create_folder("file").unwrap_err().kind(), ErrorKind::NotADirectory);
        scratch.0.create_folder("new").and_then(|()| scratch.0.create_folder("new")).unwrap();
        scratch.0.remove("file/below").unwrap();
    }

    #[test]
    fn what_is_private_is_readable_by_its_user_alone() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = Scratch::new();
        let path = scratch.0.path().join("above/private");
        let directory = Directory::create_private(&path).unwrap().lock(DirectoryUse::Exclusive).unwrap();
        directory.create_folder("one/two").unwrap();
        directory.put("one/two/file", b"").unwrap();
        let mode = |name: &str| fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(["", "one", "one/two", "one/two/file", "lock"].map(mode), [0o700, 0o700, 0o700, 0o600, 0o600]);
    }
}
