//! No output is an input, by any of its names.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::arguments::{Boards, ParquetOutput, ParquetSource, Source, Task, TextOutput};
use super::destination::{Destination, metadata_of, problems_of};
use super::unfinished_folder::{FILES, folder_of};
use crate::jobs::{canonical, is_same_file};

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
            Self::Solve(Boards { source, .. }, TextOutput { destination, .. }) => (source, destination),
            Self::Parquet(ParquetSource::Boards(boards), ParquetOutput::One { destination, .. }) => {
                (&boards.source, destination)
            }
            Self::Export(directory, TextOutput { destination, .. })
            | Self::Parquet(ParquetSource::Job(directory), ParquetOutput::One { destination, .. }) => {
                return check_export(directory, destination);
            }
            _ => return Ok(()),
        };
        let Source::Rows(input) = source else { return Ok(()) };
        let read = || match &input.file {
            Some(file) => fs::metadata(file).ok(),
            None => metadata_of(io::stdin()),
        };
        let is_input = match destination {
            Destination::Standard => are_one_file(read(), metadata_of(io::stdout())),
            Destination::Stream(_) => false,
            Destination::File(path) => {
                let is_in_folder =
                    input.file.as_ref().is_some_and(|file| canonical(file).starts_with(canonical(&folder_of(path))));
                is_in_folder || written(path).any(|path| are_one_file(read(), fs::metadata(path).ok()))
            }
        };
        if !is_input {
            return Ok(());
        }
        let (input, output) = (input.path(), destination.path());
        Err(format!("--output: {} is the input {}: write to another file", output.display(), input.display()))
    }
}

/// All files that a batch with this output writes.
fn written(path: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = folder_of(path);
    let files = FILES.map(|name| folder.join(name));
    files.into_iter().chain([path.to_owned(), problems_of(path)])
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
