//! How a batch ends, and its exit code.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::console::say;
use crate::JobError;

/// How a batch ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchEnding {
    /// All boards were solved, or the check found nothing.
    Clean,
    /// Some boards failed, or the check found faults.
    RowsFailed,
    /// The batch was cancelled.
    Cancelled,
}

/// Why a batch failed.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// Arguments are invalid; holds a line for each.
    #[error("{}", .0.join("\ntaquin: "))]
    Arguments(Vec<String>),
    /// A job cannot continue.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A row is faulty, and the input is strict.
    #[error("{}, line {line}: {detail}", path.display())]
    FaultyRow {
        /// The input.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// The error of the row.
        detail: String,
    },
    /// The directory has a job whose chunks have another size.
    #[error("{} has a job with chunks of {chunk} boards: omit --chunk", path.display())]
    OtherChunk {
        /// The directory.
        path: PathBuf,
        /// Boards of a chunk.
        chunk: u32,
    },
    /// The job is not complete.
    #[error("{} lacks {missing} of {chunks} parts: run its job to the end first", path.display())]
    Incomplete {
        /// The directory.
        path: PathBuf,
        /// Chunks without a part.
        missing: u64,
        /// All chunks.
        chunks: u64,
    },
    /// The output is in the store of a running service.
    #[error("{} has the jobs of a running service: write to another place, or stop the service", .0.display())]
    StoreInUse(PathBuf),
    /// The signal handlers cannot be installed, or the system refuses a thread.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// The signal that ends programs whose output pipe is closed.
const SIGPIPE: u8 = 13;

impl BatchEnding {
    /// The exit code. `signal` is the number of the signal that cancelled the batch.
    pub(crate) fn exit_code(self, signal: u8) -> u8 {
        match self {
            Self::Clean => 0,
            Self::RowsFailed => 3,
            Self::Cancelled => 128 + signal,
        }
    }
}

impl BatchError {
    /// Prints the error, and returns the exit code. A closed pipe is no error: the reader of the output has read enough.
    pub(crate) fn report(&self) -> u8 {
        if self.io_kind() == Some(ErrorKind::BrokenPipe) {
            return 128 + SIGPIPE;
        }
        say(self);
        match self {
            Self::Arguments(_) => 2,
            Self::FaultyRow { .. } => 3,
            _ => 1,
        }
    }

    /// Returns true if a disk is full.
    pub(crate) fn is_disk_full(&self) -> bool {
        match self {
            Self::Job(error) => error.is_disk_full(),
            error => error.io_kind() == Some(ErrorKind::StorageFull),
        }
    }

    /// Kind of the error of a file.
    fn io_kind(&self) -> Option<ErrorKind> {
        if let Self::File { source, .. } = self { Some(source.kind()) } else { None }
    }
}
