//! Files that are written under a temporary name, and receive the final name when they are complete.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::file_system::{if_found, open_regular, sync_folder_of};
use crate::files::Created;

/// A file that is written under a temporary name. [`create`](Self::create) and [`replace`](Self::replace) give the file
/// its final name. If the value is dropped without such a call, the file is removed.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    temporary: PathBuf,
    /// The open file. On a file system with locks, this process has locked the file, and a temporary file without a
    /// lock belongs to a killed process.
    file: File,
}

/// Suffix of a temporary name. The final name, a period and random digits precede the suffix.
const TEMPORARY: &str = ".tmp";
const DIGITS: usize = 16;
/// Permissions of a file that all users may read and write, except for the permissions that the umask removes.
const OPEN: u32 = 0o666;
/// Permissions of a file that only the owner may read and write.
const PRIVATE: u32 = 0o600;

impl NewFile {
    /// Creates a temporary file in the folder of `path`. `path` is the final path.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn begin(path: PathBuf) -> io::Result<Self> {
        Self::with_mode(path, OPEN)
    }

    /// Creates a temporary file in the folder of `path`. `path` is the final path. Only the user of this process can
    /// read the file.
    ///
    /// # Errors
    /// Errors of the file system.
    pub(crate) fn begin_private(path: PathBuf) -> io::Result<Self> {
        Self::with_mode(path, PRIVATE)
    }

    fn with_mode(path: PathBuf, mode: u32) -> io::Result<Self> {
        loop {
            let mut temporary = path.clone().into_os_string();
            temporary.push(format!(".{:016x}{TEMPORARY}", getrandom::u64().map_err(io::Error::other)?));
            let temporary = PathBuf::from(temporary);
            let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
            // An error is ignored: on a file system without locks, no process can lock the file, so no process removes
            // the file.
            let _ = file.lock();
            // Another process may have locked and removed the file before this process locked the file.
            if file.metadata()?.nlink() > 0 {
                return Ok(Self { path, temporary, file });
            }
        }
    }

    /// Removes the temporary files that killed processes left for the final path `path`.
    pub fn remove_left(path: &Path) {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Some(name) = path.file_name().and_then(OsStr::to_str) else { return };
        let is_of = |left: &str| is_temporary(left) && left.len() == name.len() + 1 + DIGITS + TEMPORARY.len();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|left| left.starts_with(name) && is_of(left)) {
                // An error is ignored, because a remaining file only takes disk space.
                let _ = remove_if_left(&entry.path());
            }
        }
    }

    /// Syncs the file, and links the file to its final name. Does not replace an existing file with the final name.
    ///
    /// # Errors
    /// Errors of the file system. After an error, the final name has no file or the previous file, with one exception:
    /// if only the sync of the folder fails, the final name may have the new file.
    pub fn create(self) -> io::Result<Created> {
        self.file.sync_all()?;
        let created = link(&self.temporary, &self.path)?;
        sync_folder_of(&self.path)?;
        Ok(created)
    }

    /// Syncs the file, and renames the file to its final name. Replaces an existing file with the final name.
    ///
    /// # Errors
    /// Errors of the file system. After an error, the final name has no file or the previous file, with one exception:
    /// if only the sync of the folder fails, the final name may have the new file.
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
        // After a link, the temporary name is not needed any more. After a rename, the temporary name does not exist.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Returns true if `name` has the form of the name of a temporary file.
pub fn is_temporary(name: &str) -> bool {
    let of = name.strip_suffix(TEMPORARY).and_then(|name| name.rsplit_once('.'));
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    of.is_some_and(|(name, random)| !name.is_empty() && random.len() == DIGITS && random.bytes().all(is_digit))
}

/// Removes a temporary file, unless a running process writes the file.
pub(crate) fn remove_if_left(path: &Path) -> io::Result<()> {
    // A network file system locks only files that are open for writing.
    let file = open_regular(path, OpenOptions::new().write(true))?;
    if file.try_lock().is_ok() {
        if_found(fs::remove_file(path))?;
    }
    Ok(())
}

/// Links `from` to `to`, unless `to` exists. A rename could replace an existing file; a link never does.
fn link(from: &Path, to: &Path) -> io::Result<Created> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(Created::New),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(Created::Existed),
        Err(error) => Err(error),
    }
}
