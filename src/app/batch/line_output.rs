//! Where a batch writes lines: a stream, or a file that gets its name when it is whole.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::arguments::TextOutput;
use super::console::{counted, say};
use super::destination::Destination;
use super::ending::BatchError;
use super::unfinished::{FileOutput, InputPosition, Position, Run, Unfinished};

/// Lines of labels, one after another.
pub(super) enum LineOutput {
    /// The standard output, a pipe or a device. The first problems are printed.
    Stream { path: PathBuf, writer: Box<dyn Write>, is_empty: bool, problems: u64 },
    /// A file.
    File(Box<Unfinished>),
}

/// Lines of rows, the problems that these lines do not have, and how many rows they are.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) rows: Vec<u8>,
    pub(super) problems: Vec<u8>,
    pub(super) count: u64,
    /// Rows without a label.
    pub(super) failed: u64,
}

/// Problems that are printed.
const PRINTED: u64 = 20;

/// The file of an output.
pub(super) fn file_output<'a>(output: &TextOutput, path: &'a Path) -> FileOutput<'a> {
    FileOutput { path, format: output.format, existing: output.existing }
}

impl LineOutput {
    /// Opens an output.
    ///
    /// # Errors
    /// See [`Unfinished::open`].
    pub(super) fn open(output: &TextOutput, run: Run) -> Result<Self, BatchError> {
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

    /// Where the rows go on.
    pub(super) fn position(&self) -> Position {
        if let Self::File(file) = self { file.position().clone() } else { Position::default() }
    }

    /// See [`Unfinished::check_input`].
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn check_input(&mut self, input: &InputPosition) -> Result<(), BatchError> {
        if let Self::File(file) = self { file.check_input(input) } else { Ok(()) }
    }

    /// True if no header is written yet.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Stream { is_empty, .. } => *is_empty,
            Self::File(file) => file.is_empty(),
        }
    }

    /// Appends lines, after which the run has come to this position.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn write(&mut self, lines: &Lines, position: &Position) -> Result<(), BatchError> {
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

    /// Ends the output. A file gets its name if it is whole.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn finish(self, is_whole: bool) -> Result<(), BatchError> {
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
