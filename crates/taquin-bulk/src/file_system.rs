//! Opens and compares regular files, removes files and folders, and syncs folders. The functions are safe in folders
//! with arbitrary content, such as pipes, devices and links.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::files::invalid;

/// Opens a regular file with these options. Rejects other kinds of files: a pipe would block, a device has no end, and
/// a link may lead to any place.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::InvalidData`] for other kinds of files.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // The kind of the file is checked before the file is opened, because opening a device may have side effects.
    match if_found(fs::symlink_metadata(path))? {
        Some(data) if !data.is_file() => return Err(irregular()),
        _ => {}
    }
    // Another process may have replaced the file since the check above. So the kind is checked again on the open file.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

pub(crate) fn irregular() -> io::Error {
    invalid("it is not a regular file")
}

/// Returns true if both values are metadata of the same file.
pub fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Removes a file, or a folder with its content. Returns false if nothing exists at the path. Does not follow links.
pub(crate) fn remove_any(path: &Path) -> io::Result<bool> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match if_found(removed) {
        // This error means that a parent of the path is a file, so the path does not exist.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        removed => Ok(removed?.is_some()),
    }
}

/// Syncs the entries of a folder to the disk.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Syncs the folder entry of a file to the disk.
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
