//! Output of lines to a stream, or to a file that is renamed when it is complete.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::console::{counted, say};
use super::destination::{Destination, Output};
use super::ending::{BatchEnding, BatchError};
use super::unfinished::{InputPosition, Lines, Position, RunIdentity, Unfinished};
use crate::CsvColumns;

pub(crate) enum LineOutput {
    /// The standard output, a pipe or a device. The first problems are printed to the standard error. All problems are
    /// counted.
    Stream { path: PathBuf, writer: Box<dyn Write>, problems: u64 },
    /// A file. The file receives its final name when it is complete.
    File(Box<Unfinished>),
}

/// Maximum number of problems that are printed.
const PRINTED: u64 = 20;

impl LineOutput {
    /// Opens an output. For CSV, `csv` has the columns. A new file or a stream of CSV begins with the header.
    ///
    /// # Errors
    /// See [`Unfinished::open`].
    pub(crate) fn open(output: &Output, run: RunIdentity, csv: Option<&CsvColumns>) -> Result<Self, BatchError> {
        let path = output.destination.path();
        let mut file = match &output.destination {
            Destination::File(path) => Self::File(Box::new(Unfinished::open(path, output, run)?)),
            Destination::Standard => Self::stream(path, io::stdout()),
            _ => {
                let file = OpenOptions::new().write(true).open(path);
                Self::stream(path, file.map_err(|source| BatchError::File { path: path.to_owned(), source })?)
            }
        };
        let is_new = if let Self::File(file) = &file { file.is_empty() } else { true };
        if let Some(columns) = csv.filter(|_| is_new) {
            let mut header = Lines::default();
            columns.header(&mut header.rows);
            if let Err(error) = file.write(&header, &InputPosition::default()) {
                return file.end(false).and(Err(error));
            }
        }
        Ok(file)
    }

    fn stream(path: &Path, writer: impl Write + 'static) -> Self {
        Self::Stream { path: path.to_owned(), writer: Box::new(writer), problems: 0 }
    }

    /// Returns the position after the rows of the file, including the rows of a resumed run. For a stream, returns the
    /// position at the start.
    pub(crate) fn position(&self) -> Position {
        if let Self::File(file) = self { file.position().clone() } else { Position::default() }
    }

    /// Checks that the input of a resumed run is unchanged, like [`Unfinished::check_input`].
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn check_input(&mut self, input: &InputPosition) -> Result<(), BatchError> {
        if let Self::File(file) = self { file.check_input(input) } else { Ok(()) }
    }

    /// Appends lines. `input` is the position in the input after the rows of these lines.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn write(&mut self, lines: &Lines, input: &InputPosition) -> Result<(), BatchError> {
        match self {
            Self::File(file) => file.write(lines, input),
            Self::Stream { path, writer, problems } => {
                for line in lines.problems.split_inclusive(|byte| *byte == b'\n') {
                    if *problems < PRINTED {
                        say(String::from_utf8_lossy(line).trim_end());
                    }
                    *problems += 1;
                }
                let written = writer.write_all(&lines.rows).and_then(|()| writer.flush());
                written.map_err(|source| BatchError::File { path: path.clone(), source })
            }
        }
    }

    /// Ends the output after a run, and returns the ending of the run. `end` is the result of the run. A complete file
    /// is renamed to its final name. An incomplete file is kept, so that a later run can resume it.
    ///
    /// # Errors
    /// The error of the run. If the run has no error, [`BatchError::File`].
    pub(crate) fn finish(self, end: Result<BatchEnding, BatchError>) -> Result<BatchEnding, BatchError> {
        let finished = self.end(matches!(end, Ok(BatchEnding::Clean | BatchEnding::RowsFailed)));
        end.and_then(|end| finished.map(|()| end))
    }

    fn end(self, is_whole: bool) -> Result<(), BatchError> {
        match self {
            Self::Stream { problems, .. } => {
                if problems > PRINTED {
                    say(format_args!("and {}", counted(problems - PRINTED, "more faulty row")));
                }
                Ok(())
            }
            Self::File(file) if is_whole => {
                let failed = file.position().failed;
                if let Some(problems) = file.finish()? {
                    say(format_args!("{}: see {}", counted(failed, "faulty row"), problems.display()));
                }
                Ok(())
            }
            Self::File(file) => {
                if let Some((folder, rows)) = file.interrupt()? {
                    say(format_args!("{} has {}", folder.display(), counted(rows, "row")));
                }
                Ok(())
            }
        }
    }
}
