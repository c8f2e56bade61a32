//! The ending of a batch, and the exit code.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use super::console::say;
use crate::JobError;

/// The ending of a batch that had no error. If a shard is complete and the job is not, the ending considers only the
/// rows that this run has processed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchEnding {
    /// All rows have labels. After a check: the job is complete and has no faults.
    Clean,
    /// Some rows have no label, because a search failed or a row is invalid. After a check: the job is not complete or
    /// has faults.
    RowsFailed,
    /// The batch was cancelled.
    Cancelled,
}

/// The reason why a batch failed.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    /// Arguments are invalid. The values are the messages.
    #[error("{}", .0.join("\ntaquin: "))]
    Arguments(Vec<String>),
    /// An operation on a job failed, or a search returned a wrong solution.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A file cannot be read or written, has invalid content, or must not be replaced.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A row is faulty, and the input must not have faulty rows (`--strict`).
    #[error("{}, line {line}: {detail}", path.display())]
    FaultyRow {
        /// The input.
        path: PathBuf,
        /// Number of the line, counted from 1.
        line: u64,
        /// The error of the row.
        detail: String,
    },
    /// The directory has a job whose chunks have another number of boards than `--chunk`.
    #[error("{} has a job with chunks of {chunk} boards: omit --chunk", path.display())]
    OtherChunk {
        /// The directory.
        path: PathBuf,
        /// Number of boards in a chunk of the job.
        chunk: u32,
    },
    /// The labels of a job cannot be written, because parts of the job are missing.
    #[error("{} lacks {missing} of {chunks} parts: run its job to the end first", path.display())]
    Incomplete {
        /// The directory.
        path: PathBuf,
        /// Number of chunks without a part.
        missing: u64,
        /// Number of all chunks.
        chunks: u64,
    },
    /// The output is in the store of a running service. The value is the path of the store.
    #[error("{} has the jobs of a running service: write to another place, or stop the service", .0.display())]
    StoreInUse(PathBuf),
    /// The batch cannot start, because the system refuses a resource, such as a signal handler, a thread or random
    /// numbers.
    #[error("cannot start: {0}")]
    Start(io::Error),
}

/// Number of the signal SIGPIPE, which ends a program whose output pipe is closed.
const SIGPIPE: u8 = 13;

impl BatchEnding {
    /// Returns the exit code. `signal` is the number of the signal that cancelled the batch. If the batch was not
    /// cancelled, `signal` is ignored.
    pub(crate) fn exit_code(self, signal: u8) -> u8 {
        match self {
            Self::Clean => 0,
            Self::RowsFailed => 3,
            Self::Cancelled => 128 + signal,
        }
    }
}

impl BatchError {
    /// Prints the error, and returns the exit code. The error of a closed pipe is not printed, because the reader of
    /// the pipe needs no more output.
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

    /// Returns true if the cause of the error is a full disk.
    pub(crate) fn is_disk_full(&self) -> bool {
        match self {
            Self::Job(error) => error.is_disk_full(),
            error => matches!(error.io_kind(), Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded)),
        }
    }

    /// Returns the kind of the I/O error in a [`BatchError::File`]; `None` for all other errors.
    fn io_kind(&self) -> Option<ErrorKind> {
        if let Self::File { source, .. } = self { Some(source.kind()) } else { None }
    }
}
