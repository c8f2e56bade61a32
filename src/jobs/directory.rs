//! A directory whose files are created once, whole, and never changed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The files of a job.
///
/// A file appears under its name only when all its bytes are on the disk: they are written to a temporary file, synced,
/// and linked to the name, which fails if it exists. Then the directory is synced. So a process may be killed at any
/// time, and any number of processes may work in one directory.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
}

/// What became of a new file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    /// It was created.
    New,
    /// A file of this name existed, and is unchanged.
    Existed,
}

/// A file that is being written under a temporary name. It is removed when dropped, unless it got its name before.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
}

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
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            File::open(parent.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the folder of this name, if it is missing.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create_folder(&self, name: &str) -> io::Result<()> {
        match fs::create_dir(self.path.join(name)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            Err(_) => Ok(()),
            Ok(()) => File::open(&self.path)?.sync_all(),
        }
    }

    /// Creates a file, unless one of this name exists.
    ///
    /// # Errors
    /// Those of the file system; the name then has no file, or the one that it had.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<Created> {
        self.put_with(name, |file| file.write_all(bytes))
    }

    /// Creates a file from what `write` writes, unless one of this name exists.
    ///
    /// # Errors
    /// Those of the file system and of `write`; the name then has no file, or the one that it had.
    pub fn put_with(&self, name: &str, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Created> {
        if self.path.join(name).try_exists()? {
            return Ok(Created::Existed);
        }
        let mut file = self.begin(name)?;
        write(&mut file)?;
        file.create()
    }

    /// Begins a file, which has a temporary name until all its bytes are written.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin(&self, name: &str) -> io::Result<NewFile> {
        NewFile::begin(self.path.join(name))
    }

    /// Reads a file; `None` if there is none of this name.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path.join(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Calls `visit` with the name of each finished file in a folder. Removes the temporary files for which
    /// `is_useless` is true, given the name of the file that they were to become.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn visit(
        &self,
        folder: &str,
        mut visit: impl FnMut(&str),
        is_useless: impl Fn(&str) -> bool,
    ) -> io::Result<()> {
        for entry in fs::read_dir(self.path.join(folder))? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            match name.strip_suffix(TEMPORARY).and_then(|name| name.rsplit_once('.')) {
                Some((name, _)) if is_useless(name) => match fs::remove_file(entry.path()) {
                    Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                    _ => {}
                },
                Some(_) => {}
                None => visit(name),
            }
        }
        Ok(())
    }
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
        self.sync_folder()?;
        Ok(created)
    }

    /// Gives the file its name once its bytes are on the disk, in place of a file that has it.
    ///
    /// # Errors
    /// Those of the file system; the name then has no file, or the one that it had.
    pub fn replace(self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.temporary, &self.path)?;
        self.sync_folder()
    }

    fn sync_folder(&self) -> io::Result<()> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
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
pub(super) mod tests {
    use super::*;

    /// An empty directory that is removed at the end.
    pub(in crate::jobs) struct Scratch(pub(in crate::jobs) Directory);

    impl Scratch {
        pub(in crate::jobs) fn new() -> Self {
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
    fn a_file_is_created_once_and_never_changed() {
        let scratch = Scratch::new();
        assert_eq!(scratch.0.get("a").unwrap(), None);
        assert_eq!(scratch.0.put("a", b"first").unwrap(), Created::New);
        assert_eq!(scratch.0.put("a", b"second").unwrap(), Created::Existed);
        assert_eq!(scratch.0.get("a").unwrap().unwrap(), b"first");
        assert_eq!(scratch.names(), ["a"], "no temporary file is left");
    }

    #[test]
    fn of_many_that_create_a_file_at_once_one_does() {
        let scratch = Scratch::new();
        let directory = &scratch.0;
        for round in 0..20 {
            let name = &round.to_string();
            let outcomes: Vec<(u8, Created)> = std::thread::scope(|scope| {
                let put = |number: u8| scope.spawn(move || (number, directory.put(name, &[number; 4096]).unwrap()));
                let threads: Vec<_> = (0..8).map(put).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let created: Vec<u8> =
                outcomes.iter().filter(|(_, created)| *created == Created::New).map(|(number, _)| *number).collect();
            let [number] = created[..] else { panic!("created by {created:?}") };
            assert_eq!(directory.get(name).unwrap().unwrap(), [number; 4096]);
        }
    }

    #[test]
    fn a_failed_write_leaves_no_file() {
        let scratch = Scratch::new();
        let full = || io::Error::from(ErrorKind::StorageFull);
        let put = scratch.0.put_with("a", |file| file.write_all(b"half").and_then(|()| Err(full())));
        assert_eq!(put.unwrap_err().kind(), ErrorKind::StorageFull);
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
        scratch.0.visit("", |name| seen.push(name.to_owned()), |name| name == "a").unwrap();
        assert_eq!(seen, ["a"]);
        let mut names = scratch.names();
        names.sort();
        assert_eq!(names, ["a", "b.0123456789abcdef.tmp"]);
    }
}
