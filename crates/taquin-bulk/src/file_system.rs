//! Opens and compares regular files, in folders with arbitrary content.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::files::invalid;

/// Opens a regular file with these options. Rejects other kinds of files, because a pipe would block, a device has no
/// end, and a link may lead anywhere.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::InvalidData`] for other kinds of files.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Opening a device may have side effects, so the kind of the file is checked first.
    match if_found(fs::symlink_metadata(path))? {
        Some(data) if !data.is_file() => return Err(irregular()),
        _ => {}
    }
    // Another process may have replaced the file since the check.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

pub(crate) fn irregular() -> io::Error {
    invalid("it is not a regular file")
}

/// Returns true if both values are the metadata of one file.
pub fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Removes a file, or a folder with its content. Returns false if neither exists.
pub(crate) fn remove_any(path: &Path) -> io::Result<bool> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match if_found(removed) {
        // A path below a file does not exist.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        removed => Ok(removed?.is_some()),
    }
}

/// Syncs the directory entries of a folder to the disk.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Syncs the directory entry of a file to the disk.
///
/// # Errors
/// Errors of the file system.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Converts the error `NotFound` to `None`.
///
/// # Errors
/// All other errors.
pub fn if_found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
