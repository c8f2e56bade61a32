//! Settings and errors of an engine.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use taquin_bulk::{JobError, JobSpec};

use crate::service::ServiceError;

/// Settings of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobSettings {
    /// Time after which an ended job is deleted.
    pub keep: Duration,
    /// Maximum number of unfinished jobs that one owner may have.
    pub max_unfinished: usize,
    /// Maximum number of boards of a job.
    pub max_boards: u64,
    /// Maximum size of an upload, in bytes.
    pub max_body: usize,
}

/// The reason why an engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Another process uses the directory.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The directory cannot be created, opened, locked or read.
    #[error("{}: {source}", path.display())]
    Directory {
        /// Path of the directory with the jobs.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The reason why a job is not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The owner already has this number of unfinished jobs, and has thereby reached the limit. The number may include
    /// jobs in creation.
    #[error("there are {0} unfinished jobs already, with those that are being made")]
    TooMany(usize),
    /// The creation of the job, including the upload of its boards, has taken longer than this time limit.
    #[error("it has taken longer than {} s to make the job", .0.as_secs())]
    TooLate(Duration),
    /// The idempotency key belongs to an existing job, which has this specification and not the requested one.
    #[error("the key belongs to another job")]
    OtherJob(Box<JobSpec>),
    /// The job would have too many chunks. The cost of the boards limits the number of boards in a chunk.
    #[error("boards of this cost are too many for one job")]
    TooManyChunks,
    /// The service failed or has no capacity.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] JobError),
}
