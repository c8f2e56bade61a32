//! Where labels are written, and that no output is an input.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use super::arguments::{Boards, ParquetOutput, ParquetSource, Source, Task, TextOutput};
use super::unfinished::Unfinished;
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

fn metadata_of(fd: impl AsFd) -> Option<Metadata> {
    File::from(fd.as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

/// True if both are one regular file. A terminal and a pipe can be read and written at once.
fn are_one_file(one: Option<Metadata>, other: Option<Metadata>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.is_file() && is_same_file(&one, &other))
}

impl Task {
    /// Rejects an output that is an input, by any of its names. Nothing is written before.
    ///
    /// # Errors
    /// The message of an argument.
    pub(super) fn check_output(&self) -> Result<(), String> {
        let (source, destination) = match self {
            Self::Solve(Boards { source, .. }, TextOutput { destination, .. }) => (Some(source), destination),
            Self::Parquet(ParquetSource::Boards(boards), ParquetOutput::One { destination, .. }) => {
                (Some(&boards.source), destination)
            }
            Self::Export(directory, TextOutput { destination, .. })
            | Self::Parquet(ParquetSource::Job(directory), ParquetOutput::One { destination, .. }) => {
                return check_export(directory, destination);
            }
            _ => return Ok(()),
        };
        let Some(Source::Rows(input)) = source else { return Ok(()) };
        let read = || match &input.file {
            Some(file) => fs::metadata(file).ok(),
            None => metadata_of(io::stdin()),
        };
        let is_input = match destination {
            Destination::Standard => are_one_file(read(), metadata_of(io::stdout())),
            Destination::Stream(_) => false,
            Destination::File(path) => written(path).iter().any(|path| are_one_file(read(), fs::metadata(path).ok())),
        };
        if !is_input {
            return Ok(());
        }
        let (input, output) = (input.path(), destination.path());
        Err(format!("--output: {} is the input {}: write to another file", output.display(), input.display()))
    }
}

/// All files that a batch with this output writes.
fn written(path: &Path) -> Vec<PathBuf> {
    let files = Unfinished::files_of(path).into_iter();
    files.chain([path.to_owned(), problems_of(path)]).collect()
}

/// Rejects an output that is a file of the job whose labels are written.
fn check_export(directory: &Path, destination: &Destination) -> Result<(), String> {
    const FILES: [&str; 2] = ["spec.json", "end.json"];
    let (Destination::File(path), Ok(job)) = (destination, fs::canonicalize(directory)) else { return Ok(()) };
    let folder = path
        .parent()
        .and_then(|folder| fs::canonicalize(Some(folder).filter(|f| *f != "").unwrap_or(".".as_ref())).ok());
    let is_of_job = folder.is_some_and(|folder| {
        let is_file = folder == job && FILES.iter().any(|file| path.file_name().is_some_and(|name| name == *file));
        is_file || folder.starts_with(job.join("parts")) || folder.starts_with(job.join("input"))
    });
    if is_of_job {
        Err(format!("--output: {} is a file of the job: write to another place", path.display()))
    } else {
        Ok(())
    }
}
