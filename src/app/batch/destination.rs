//! Where labels are written.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use crate::jobs::is_same_file;

/// Where one sequence of labels is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Destination {
    /// The standard output.
    Standard,
    /// A pipe or a device.
    Stream(PathBuf),
    /// A regular file, which may be missing.
    File(PathBuf),
}

/// What to do where a file or an interrupted run is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Existing {
    /// Go on with an interrupted run.
    pub(super) resumes: bool,
    /// Replace the file, and the run unless it goes on.
    pub(super) overwrites: bool,
}

impl Destination {
    /// The destination that an argument names.
    pub(super) fn named(output: &str) -> Self {
        let path = Path::new(output);
        let data = fs::metadata(path).ok();
        // `/dev/stdout` is the standard output, wherever the shell has directed it.
        let is_standard = || Some(is_same_file(data.as_ref()?, &metadata_of(io::stdout())?));
        match &data {
            _ if output == "-" || is_standard() == Some(true) => Self::Standard,
            Some(data) if !data.is_file() && !data.is_dir() => Self::Stream(path.to_owned()),
            // A link stays a link: the file that it names is replaced.
            _ if path.is_symlink() => Self::File(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())),
            _ => Self::File(path.to_owned()),
        }
    }

    /// How messages name it.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Standard => Path::new("standard output"),
            Self::Stream(path) | Self::File(path) => path,
        }
    }
}

/// A path with an end appended to its last name.
pub(super) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

/// The file beside a file of labels that has the problems of its rows.
pub(super) fn problems_of(path: &Path) -> PathBuf {
    with_end(path, ".problems.ndjson")
}

/// True for a file that is not empty.
pub(super) fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.len() > 0)
}

/// The data of an open file; `None` if the system does not say.
pub(super) fn metadata_of(fd: impl AsFd) -> Option<Metadata> {
    File::from(fd.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}
