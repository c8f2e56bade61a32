//! Output of lines: a stream, or a file that is renamed once complete.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::arguments::TextOutput;
use super::console::{counted, say};
use super::destination::Destination;
use super::ending::BatchError;
use super::unfinished::{FileOutput, InputPosition, Position, RunIdentity, Unfinished};

pub(crate) enum LineOutput {
    /// The standard output, a pipe or a device. The first problems are printed.
    Stream { path: PathBuf, writer: Box<dyn Write>, is_empty: bool, problems: u64 },
    /// A file.
    File(Box<Unfinished>),
}

/// Lines of rows, lines of separate problems, and counts of the rows.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) rows: Vec<u8>,
    pub(crate) problems: Vec<u8>,
    pub(crate) count: u64,
    /// Rows without a label.
    pub(crate) failed: u64,
}

/// Maximum printed problems.
const PRINTED: u64 = 20;

pub(crate) fn file_output<'a>(output: &TextOutput, path: &'a Path) -> FileOutput<'a> {
    FileOutput { path, format: output.format, existing: output.existing }
}

impl LineOutput {
    /// Opens an output.
    ///
    /// # Errors
    /// See [`Unfinished::open`].
    pub(crate) fn open(output: &TextOutput, run: RunIdentity) -> Result<Self, BatchError> {
        let path = output.destination.path().to_owned();
        let writer: Box<dyn Write> = match &output.destination {
            Destination::File(path) => {
                return Ok(Self::File(Box::new(Unfinished::open(&file_output(output, path), run)?)));
            }
            Destination::Standard => Box::new(io::stdout()),
            Destination::Stream(path) => {
                let file = OpenOptions::new().write(true).open(path);
                Box::new(file.map_err(|source| BatchError::File { path: path.clone(), source })?)
            }
        };
        Ok(Self::Stream { path, writer, is_empty: true, problems: 0 })
    }

    /// Position after the rows of the resumed run.
    pub(crate) fn position(&self) -> Position {
        if let Self::File(file) = self { file.position().clone() } else { Position::default() }
    }

    /// See [`Unfinished::check_input`].
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn check_input(&mut self, input: &InputPosition) -> Result<(), BatchError> {
        if let Self::File(file) = self { file.check_input(input) } else { Ok(()) }
    }

    /// Returns true if no header is written yet.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Stream { is_empty, .. } => *is_empty,
            Self::File(file) => file.is_empty(),
        }
    }

    /// Appends lines, and advances the run to `position`.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn write(&mut self, lines: &Lines, position: &Position) -> Result<(), BatchError> {
        match self {
            Self::File(file) => file.write(&lines.rows, &lines.problems, position),
            Self::Stream { path, writer, is_empty, problems } => {
                let each = lines.problems.split_inclusive(|byte| *byte == b'\n');
                for line in each {
                    if *problems < PRINTED {
                        say(String::from_utf8_lossy(line).trim_end());
                    }
                    *problems += 1;
                }
                *is_empty &= lines.rows.is_empty();
                let written = writer.write_all(&lines.rows).and_then(|()| writer.flush());
                written.map_err(|source| BatchError::File { path: path.clone(), source })
            }
        }
    }

    /// Ends the output. A complete file is renamed to its final name; an incomplete file is kept for a resumption.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn finish(self, is_whole: bool) -> Result<(), BatchError> {
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
