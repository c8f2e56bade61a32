//! The places to which labels are written.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use super::values::Format;
use crate::is_same_file;

/// The destination of labels, the format, and the treatment of existing files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Output {
    pub(crate) destination: Destination,
    pub(crate) format: Format,
    pub(crate) existing: Existing,
}

/// The place to which labels are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Destination {
    /// The standard output.
    Standard,
    /// A pipe or a device.
    Stream(PathBuf),
    /// A regular file, which may not exist yet.
    File(PathBuf),
    /// The directory of a data set.
    Directory(PathBuf),
}

/// Treatment of an existing file, and of an interrupted run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Existing {
    /// Resume an interrupted run.
    pub(crate) resumes: bool,
    /// Replace an existing file. Also replace an interrupted run, unless the run is resumed.
    pub(crate) overwrites: bool,
}

impl Destination {
    /// Returns the destination for the value of `--output`. This function does not know the format, so it returns a
    /// directory as [`Destination::File`].
    pub(crate) fn named(output: &str) -> Self {
        let path = Path::new(output);
        let data = fs::metadata(path).ok();
        // `/dev/stdout` is the standard output, even if the standard output is redirected to a file.
        let is_standard = || Some(is_same_file(data.as_ref()?, &metadata_of(io::stdout())?));
        match &data {
            _ if output == "-" || is_standard() == Some(true) => Self::Standard,
            Some(data) if !data.is_file() && !data.is_dir() => Self::Stream(path.to_owned()),
            // If the path is a link, the link stays, and the file to which the link leads is replaced.
            _ if path.is_symlink() => Self::File(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())),
            _ => Self::File(path.to_owned()),
        }
    }

    /// Returns the path of the output. For the standard output, returns a name for messages.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Standard => Path::new("standard output"),
            Self::Stream(path) | Self::File(path) | Self::Directory(path) => path,
        }
    }
}

/// Appends a suffix to the last component of a path.
pub(crate) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// Returns the path of the file of problems that belongs to the file of rows at `path`.
pub(crate) fn problems_of(path: &Path) -> PathBuf {
    with_end(path, ".problems.ndjson")
}

/// Returns true if the file exists and has at least one byte.
pub(crate) fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.len() > 0)
}

/// Returns the metadata of an open file; `None` if the metadata cannot be read.
pub(crate) fn metadata_of(fd: impl AsFd) -> Option<Metadata> {
    File::from(fd.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}
