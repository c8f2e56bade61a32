//! Files and folders of a file system that anything may be in.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::files::invalid;

/// Opens a regular file with these options. Nothing else is opened: a pipe would block, a device has no end, and a link
/// leads anywhere.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::InvalidData`] for anything else that exists.
pub fn open_regular(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Opening a device may have effects.
    match if_found(fs::symlink_metadata(path))? {
        Some(data) if !data.is_file() => return Err(irregular()),
        _ => {}
    }
    // It may have been replaced since.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// The error of what is no regular file.
pub(super) fn irregular() -> io::Error {
    invalid("it is not a regular file")
}

/// True if both are of one file.
pub fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Removes a file, or a folder with all that is in it. Returns false if there is none.
pub(super) fn remove_any(path: &Path) -> io::Result<bool> {
    let removed = match fs::symlink_metadata(path) {
        Ok(data) if data.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match if_found(removed) {
        // Nothing is below a file.
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        removed => Ok(removed?.is_some()),
    }
}

/// Brings the names in a folder to the disk.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Brings the name of a file to the disk.
///
/// # Errors
/// Errors of the file system.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync(path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// `None` if there is no such file.
///
/// # Errors
/// All others.
pub fn if_found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
