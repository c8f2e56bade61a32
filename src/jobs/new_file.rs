//! Files that get their names when they are whole.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::file_system::{if_found, open_regular, sync_folder_of};
use super::files::Created;

/// A file that is being written under a temporary name. It is removed when dropped, unless it got its name before.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    /// Locked. An unlocked temporary file was left by a killed process.
    file: File,
}

/// End of the names of temporary files. The name of the file comes before it, and random digits.
const TEMPORARY: &str = ".tmp";
/// Number of the random digits.
const DIGITS: usize = 16;
/// Permissions of a file that others may read, as far as the process allows it, and of one that they may not.
const OPEN: u32 = 0o666;
const PRIVATE: u32 = 0o600;

impl NewFile {
    /// Begins a file that is to have this path.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn begin(path: PathBuf) -> io::Result<Self> {
        Self::with_mode(path, OPEN)
    }

    /// Begins a file that only the user of this process can read.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(super) fn begin_private(path: PathBuf) -> io::Result<Self> {
        Self::with_mode(path, PRIVATE)
    }

    fn with_mode(path: PathBuf, mode: u32) -> io::Result<Self> {
        loop {
            let mut temporary = path.clone().into_os_string();
            temporary.push(format!(".{:016x}{TEMPORARY}", getrandom::u64().map_err(io::Error::other)?));
            let temporary = PathBuf::from(temporary);
            let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
            // Without locks, no process can lock it to remove it either.
            let _ = file.lock();
            // Another process may have locked it first.
            if file.metadata()?.nlink() > 0 {
                return Ok(Self { path, temporary, file });
            }
        }
    }

    /// Removes what killed processes left of a file that was to have this path.
    pub fn remove_left(path: &Path) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { return };
        let is_of = |left: &str| is_temporary(left) && left.len() == name.len() + 1 + DIGITS + TEMPORARY.len();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|left| left.starts_with(name) && is_of(left)) {
                // What cannot be removed takes room, and nothing else.
                let _ = remove_if_left(&entry.path());
            }
        }
    }

    /// Gives the file its name once its bytes are on the disk, unless another file has it.
    ///
    /// # Errors
    /// Errors of the file system; the name then has no file, or the one that it had.
    pub fn create(self) -> io::Result<Created> {
        self.file.sync_all()?;
        let created = link(&self.temporary, &self.path)?;
        sync_folder_of(&self.path)?;
        Ok(created)
    }

    /// Gives the file its name once its bytes are on the disk, in place of a file that has it.
    ///
    /// # Errors
    /// Errors of the file system; the name then has no file, or the one that it had.
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

/// True for the name of a temporary file.
pub fn is_temporary(name: &str) -> bool {
    let of = name.strip_suffix(TEMPORARY).and_then(|name| name.rsplit_once('.'));
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    of.is_some_and(|(name, random)| !name.is_empty() && random.len() == DIGITS && random.bytes().all(is_digit))
}

/// Removes a temporary file, unless a process writes it.
pub(super) fn remove_if_left(path: &Path) -> io::Result<()> {
    // A network file system locks only what can be written.
    let file = open_regular(path, OpenOptions::new().write(true))?;
    if file.try_lock().is_ok() {
        if_found(fs::remove_file(path))?;
    }
    Ok(())
}

/// Gives a file a second name, unless there is a file of that name. Unlike renaming, it never replaces one.
fn link(from: &Path, to: &Path) -> io::Result<Created> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(Created::New),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Created::Existed),
        Err(error) => Err(error),
    }
}
