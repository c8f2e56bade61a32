//! Problems of rows, where the output has no place for them.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use super::arguments::TextOutput;
use super::console::say;
use super::ending::BatchError;

/// A file of problems, one a line, which is created with the first one. Without a file, the first problems are printed.
pub(super) struct ProblemFile {
    path: Option<PathBuf>,
    appends: bool,
    writer: Option<BufWriter<File>>,
    /// Number of problems.
    count: u64,
}

/// Problems that are printed.
const PRINTED: u64 = 20;

impl ProblemFile {
    /// The problems of an output: in `FILE.problems.ndjson`.
    pub(super) fn beside(output: &TextOutput) -> Self {
        let name = |file: &PathBuf| {
            let mut name = file.clone().into_os_string();
            name.push(".problems.ndjson");
            PathBuf::from(name)
        };
        Self { path: output.file.as_ref().map(name), appends: output.resumes, writer: None, count: 0 }
    }

    /// Appends lines.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn write(&mut self, lines: &[u8]) -> Result<(), BatchError> {
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.count += 1;
            match &self.path {
                Some(path) => {
                    let error = |source| BatchError::File { path: path.clone(), source };
                    if self.writer.is_none() {
                        let mut options = OpenOptions::new();
                        options.create(true).write(true).append(self.appends).truncate(!self.appends);
                        self.writer = Some(BufWriter::new(options.open(path).map_err(error)?));
                    }
                    self.writer.as_mut().map_or(Ok(()), |writer| writer.write_all(line)).map_err(error)?;
                }
                None if self.count <= PRINTED => say(String::from_utf8_lossy(line).trim_end()),
                None => {}
            }
        }
        Ok(())
    }

    /// Passes all bytes to the system, and says where the problems are.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn finish(self) -> Result<(), BatchError> {
        match (self.path, self.writer) {
            (Some(path), Some(mut writer)) => {
                say(format_args!("{} faulty rows: see {}", self.count, path.display()));
                writer.flush().map_err(|source| BatchError::File { path, source })
            }
            (None, _) if self.count > PRINTED => {
                say(format_args!("and {} more faulty rows", self.count - PRINTED));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
