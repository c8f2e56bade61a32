//! A directory whose files are created once, whole, and never changed.

use std::fs::{self, DirEntry, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::files::{Created, Files, WriteFile};

/// A directory with files of jobs.
///
/// A file appears under its name only when all its bytes are on the disk: they are written to a temporary file, synced,
/// and linked to the name, which fails if it exists. Then the directory is synced. So a process may be killed at any
/// time, and any number of processes may work in one directory.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    /// Locked as long as it is open.
    lock: Option<Arc<File>>,
}

/// How a process uses a directory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DirectoryUse {
    /// Alone.
    Exclusive,
    /// With other processes that share it too.
    Shared,
}

/// A file that is being written under a temporary name. It is removed when dropped, unless it got its name before.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
}

/// The file that processes lock.
const LOCK: &str = "lock";

/// End of the names of temporary files. The name of the file comes before it, and random digits.
const TEMPORARY: &str = ".tmp";

impl Directory {
    /// Opens a directory, and creates it and those above it if they are missing.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        if !path.try_exists()? {
            fs::create_dir_all(path)?;
            sync_folder_of(path)?;
        }
        Ok(Self::at(path))
    }

    /// A directory that may be missing. Then it has no files, and none can be created.
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned(), lock: None }
    }

    /// Locks the directory as long as the value or a clone of it exists, so that no process has it alone which others
    /// use.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another process uses it otherwise; those of the file system.
    pub fn lock(mut self, usage: DirectoryUse) -> Result<Self, TryLockError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).write(true).truncate(false).open(self.path.join(LOCK));
        let file = file.map_err(TryLockError::Error)?;
        match usage {
            DirectoryUse::Exclusive => file.try_lock()?,
            DirectoryUse::Shared => file.try_lock_shared()?,
        }
        self.lock = Some(Arc::new(file));
        Ok(self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a file, which has a temporary name until all its bytes are written.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin(&self, name: &str) -> io::Result<NewFile> {
        NewFile::begin(self.path.join(name))
    }

    /// What is in a folder; nothing if it is missing.
    fn entries(&self, folder: &str) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        Ok(if_found(fs::read_dir(self.path.join(folder)))?.into_iter().flatten())
    }
}

impl Files for Directory {
    fn path_of(&self, name: &str) -> PathBuf {
        // Joining nothing would append a slash.
        if name.is_empty() { self.path.clone() } else { self.path.join(name) }
    }

    fn create_folder(&self, name: &str) -> io::Result<()> {
        let mut path = self.path.clone();
        for folder in name.split('/') {
            let above = path.clone();
            path.push(folder);
            match fs::create_dir(&path) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                // The process that created it may not have come so far.
                _ => sync(&above)?,
            }
        }
        Ok(())
    }

    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created> {
        let path = self.path.join(name);
        if path.try_exists()? {
            // The process that created it may not have come so far.
            sync_folder_of(&path)?;
            return Ok(Created::Existed);
        }
        let mut file = self.begin(name)?;
        write(&mut file)?;
        file.create()
    }

    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        if_found(fs::read(self.path.join(name)))
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>> {
        let file = if_found(File::open(self.path.join(name)))?;
        Ok(file.map(|file| Box::new(BufReader::new(file)) as _))
    }

    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>> {
        if_found(fs::metadata(self.path.join(name)).and_then(|data| data.modified()))
    }

    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        if_found(fs::metadata(self.path.join(name)).map(|data| data.len()))
    }

    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        for entry in self.entries(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_listed = |name: &&str| *name > after && of_temporary(name).is_none();
            // The type of most entries is known without a look at the file.
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
        match if_found(fs::remove_file(&path))? {
            Some(()) => sync_folder_of(&path),
            None => Ok(()),
        }
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        if_found(fs::remove_dir_all(self.path.join(name))).map(|_| ())
    }

    fn clean(&self, folder: &str, is_useless: &dyn Fn(&str) -> bool) -> io::Result<()> {
        for entry in self.entries(folder)? {
            let entry = entry?;
            if entry.file_name().to_str().and_then(of_temporary).is_some_and(is_useless) {
                if_found(fs::remove_file(entry.path()))?;
            }
        }
        Ok(())
    }
}

fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Brings the name of a file to the disk.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// `None` if there is no such file.
fn if_found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The name that a temporary file is to get; `None` for the name of any other file.
fn of_temporary(name: &str) -> Option<&str> {
    Some(name.strip_suffix(TEMPORARY)?.rsplit_once('.')?.0)
}

impl NewFile {
    /// Begins a file that is to have this path.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin(path: PathBuf) -> io::Result<Self> {
        let mut temporary = path.clone().into_os_string();
        temporary.push(format!(".{:016x}{TEMPORARY}", getrandom::u64().map_err(io::Error::other)?));
        let temporary = PathBuf::from(temporary);
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        Ok(Self { path, temporary, file })
    }

    /// Gives the file its name once its bytes are on the disk, unless another file has it.
    ///
    /// # Errors
    /// Those of the file system; the name then has no file, or the one that it had.
    pub fn create(self) -> io::Result<Created> {
        self.file.sync_all()?;
        let created = link(&self.temporary, &self.path)?;
        sync_folder_of(&self.path)?;
        Ok(created)
    }

    /// Gives the file its name once its bytes are on the disk, in place of a file that has it.
    ///
    /// # Errors
    /// Those of the file system; the name then has no file, or the one that it had.
    pub fn replace(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        sync_folder_of(&self.path)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After a link it is of no use any more, and after a rename there is none.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Gives a file a second name, unless there is a file of that name. Unlike renaming, it never replaces one.
fn link(from: &Path, to: &Path) -> io::Result<Created> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(Created::New),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Created::Existed),
        // Another process has finished the file, and removed this one as useless.
        Err(error) if error.kind() == ErrorKind::NotFound && to.try_exists()? => Ok(Created::Existed),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::jobs::files::tests::check_promises;

    /// An empty directory that is removed at the end.
    pub(crate) struct Scratch(pub(crate) Directory);

    impl Scratch {
        pub(crate) fn new() -> Self {
            let name = format!("taquin-directory-{:016x}", getrandom::u64().unwrap());
            Self(Directory::create(&std::env::temp_dir().join(name)).unwrap())
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.0.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(self.0.path());
        }
    }

    #[test]
    fn a_directory_keeps_the_promises_and_leaves_no_temporary_file() {
        let scratch = Scratch::new();
        check_promises(&scratch.0);
        let files = fs::read_dir(scratch.0.path().join("some")).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names.len(), 21, "{names:?}");
        assert!(names.iter().all(|name| of_temporary(name).is_none()), "{names:?}");
    }

    #[test]
    fn a_missing_directory_has_no_files_and_is_not_created() {
        let scratch = Scratch::new();
        let missing = Directory::at(&scratch.0.path().join("missing"));
        assert_eq!((missing.get("a").unwrap(), missing.created_at("a").unwrap()), (None, None));
        assert!(missing.open("a").unwrap().is_none());
        assert_eq!(missing.put("a", b"").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(scratch.names().is_empty());
    }

    #[test]
    fn a_new_file_replaces_another_only_when_it_is_whole() {
        let scratch = Scratch::new();
        scratch.0.put("a", b"old").unwrap();
        let mut file = scratch.0.begin("a").unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(scratch.0.get("a").unwrap().unwrap(), b"old");
        assert_eq!(scratch.names().len(), 2);
        drop(file);
        assert_eq!(scratch.names(), ["a"]);
        let mut file = scratch.0.begin("a").unwrap();
        file.write_all(b"new").unwrap();
        file.replace().unwrap();
        assert_eq!(scratch.0.get("a").unwrap().unwrap(), b"new");
        assert_eq!(scratch.names(), ["a"]);
    }

    #[test]
    fn temporary_files_of_finished_files_are_removed() {
        let scratch = Scratch::new();
        scratch.0.put("a", b"").unwrap();
        for name in ["a.0123456789abcdef.tmp", "b.0123456789abcdef.tmp"] {
            fs::write(scratch.0.path().join(name), b"half").unwrap();
        }
        let mut seen = Vec::new();
        scratch.0.list("", &mut |name| seen.push(name.to_owned())).unwrap();
        assert_eq!(seen, ["a"]);
        scratch.0.clean("", &|name| name == "a").unwrap();
        let mut names = scratch.names();
        names.sort();
        assert_eq!(names, ["a", "b.0123456789abcdef.tmp"]);
    }
}
