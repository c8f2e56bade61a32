//! Problems of rows, where the output has no place for them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::arguments::TextOutput;
use super::console::say;
use super::ending::BatchError;

/// A file of problems, one a line, which is created with the first one. Without a file, the first problems are printed.
pub(super) struct ProblemFile {
    path: Option<PathBuf>,
    file: Option<File>,
    /// Number of problems.
    count: u64,
}

/// Problems that are printed.
const PRINTED: u64 = 20;

impl ProblemFile {
    /// The problems of an output: in `FILE.problems.ndjson`. Of those that are there, the ones of the input's lines up to
    /// `last` are kept.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn beside(output: &TextOutput, last: u64) -> Result<Self, BatchError> {
        let name = |file: &PathBuf| {
            let mut name = file.clone().into_os_string();
            name.push(".problems.ndjson");
            PathBuf::from(name)
        };
        let path = output.file.as_ref().map(name);
        if let Some(path) = &path {
            keep(path, last).map_err(|source| BatchError::File { path: path.clone(), source })?;
        }
        Ok(Self { path, file: None, count: 0 })
    }

    /// Appends lines, and passes them to the system: they must not be lost if the labels of their rows are written and
    /// the process is killed.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn write(&mut self, lines: &[u8]) -> Result<(), BatchError> {
        let each = lines.split_inclusive(|byte| *byte == b'\n');
        let before = self.count;
        self.count += each.clone().count() as u64;
        let Some(path) = &self.path else {
            let printed = each.take(PRINTED.saturating_sub(before) as usize);
            printed.for_each(|line| say(String::from_utf8_lossy(line).trim_end()));
            return Ok(());
        };
        let append = |file: &mut Option<File>| {
            if !lines.is_empty() && file.is_none() {
                *file = Some(OpenOptions::new().create(true).append(true).open(path)?);
            }
            file.as_mut().map_or(Ok(()), |file| file.write_all(lines))
        };
        append(&mut self.file).map_err(|source| BatchError::File { path: path.clone(), source })
    }

    /// Says where the problems are.
    pub(super) fn finish(self) {
        match (self.path, self.file) {
            (Some(path), Some(_)) => say(format_args!("{} faulty rows: see {}", self.count, path.display())),
            (None, _) if self.count > PRINTED => say(format_args!("and {} more faulty rows", self.count - PRINTED)),
            _ => {}
        }
    }
}

/// Removes from a file of problems what follows those of the input's lines up to `last`, and the file if none is left.
fn keep(path: &Path, last: u64) -> io::Result<()> {
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file?,
    };
    let (mut reader, mut line, mut kept) = (BufReader::new(&file), Vec::new(), 0);
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line)?;
        let number = serde_json::from_slice(&line).ok().and_then(|problem: Value| problem["line"].as_u64());
        let is_kept = line.ends_with(b"\n") && number.is_some_and(|number| number <= last);
        if !is_kept {
            break;
        }
        kept += length as u64;
    }
    if kept == 0 { fs::remove_file(path) } else { file.set_len(kept) }
}
