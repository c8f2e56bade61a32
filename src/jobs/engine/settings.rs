//! Settings of an engine, and what can go wrong.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::jobs::spec::JobSpec;
use crate::jobs::stored_job::JobError;
use crate::service::ServiceError;

/// Settings of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobSettings {
    /// Time after which an ended job is deleted.
    pub keep: Duration,
    /// Maximum number of unfinished jobs of an owner.
    pub max_unfinished: usize,
    /// Maximum number of boards of a job.
    pub max_boards: u64,
    /// Maximum size of an upload, in bytes.
    pub max_body: usize,
}

/// Why an engine cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// Another process has the directory.
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    /// The directory cannot be used.
    #[error("{}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// Why a job is not created.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The owner has too many unfinished jobs, with those that are being created.
    #[error("there are {0} unfinished jobs already, with those that are being made")]
    TooMany(usize),
    /// Making the job, which includes its upload, has taken longer than this.
    #[error("it has taken longer than {} s to make the job", .0.as_secs())]
    TooLate(Duration),
    /// The idempotency key belongs to a job of another specification.
    #[error("the key belongs to another job")]
    OtherJob(Box<JobSpec>),
    /// So many boards need larger chunks than boards of such a cost may have.
    #[error("boards of this cost are too many for one job")]
    TooManyChunks,
    /// The service has no capacity.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The files cannot be written.
    #[error(transparent)]
    Store(#[from] JobError),
}
