//! Rejects an output that is also the input, whatever name the output has.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::{canonical, is_same_file};

use super::arguments::{Labels, Source, Task};
use super::destination::{Destination, Output, metadata_of, problems_of};
use super::unfinished_folder::{FILES, folder_of};

/// Returns true if both values are metadata of the same regular file. Other kinds of files do not count: a program can
/// read and write the same terminal or pipe.
fn are_one_file(one: Option<Metadata>, other: Option<Metadata>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one.is_file() && is_same_file(&one, &other))
}

impl Task {
    /// Rejects an output that is also the input, before anything is written. If the labels come from a job, rejects
    /// every output in the directory of the job.
    ///
    /// # Errors
    /// The error message for `--output`.
    pub(crate) fn check_output(&self) -> Result<(), String> {
        let Self::Write(labels, Output { destination, .. }) = self else { return Ok(()) };
        let output = destination.path();
        let input = match labels {
            Labels::Boards(boards) => match &boards.source {
                Source::Rows(input) => input,
                Source::Recipe(_) => return Ok(()),
            },
            Labels::Job(job) => {
                let is_of_job = match destination {
                    Destination::Standard => is_file_of(job, &metadata_of(io::stdout())),
                    Destination::Stream(_) => false,
                    Destination::File(path) | Destination::Directory(path) => is_below(path, job),
                };
                let reason = || format!("--output: {} is a file of the job: write to another place", output.display());
                return if is_of_job { Err(reason()) } else { Ok(()) };
            }
        };
        let read = || match &input.file {
            Some(file) => fs::metadata(file).ok(),
            None => metadata_of(io::stdin()),
        };
        let is_input = match destination {
            Destination::Standard => are_one_file(read(), metadata_of(io::stdout())),
            Destination::Stream(_) | Destination::Directory(_) => false,
            Destination::File(path) => {
                let is_in_folder = input.file.as_ref().is_some_and(|file| is_below(file, &folder_of(path)));
                is_in_folder || written(path).any(|path| are_one_file(read(), fs::metadata(path).ok()))
            }
        };
        let input = input.path();
        let reason =
            || format!("--output: {} is the input {}: write to another file", output.display(), input.display());
        if is_input { Err(reason()) } else { Ok(()) }
    }
}

/// Returns the paths of all files that a task with the output `path` may write.
fn written(path: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = folder_of(path);
    let files = FILES.map(|name| folder.join(name));
    files.into_iter().chain([path.to_owned(), problems_of(path)])
}

/// Returns true if `path` is the folder `folder`, or is inside this folder.
fn is_below(path: &Path, folder: &Path) -> bool {
    canonical(path).starts_with(canonical(folder))
}

/// Returns true if an open file is a file of a job. `open` has the metadata of the open file.
fn is_file_of(job: &Path, open: &Option<Metadata>) -> bool {
    let folders = ["", "parts", "input"].iter().filter_map(|folder| fs::read_dir(job.join(folder)).ok());
    folders.flatten().flatten().any(|entry| are_one_file(open.clone(), fs::metadata(entry.path()).ok()))
}
