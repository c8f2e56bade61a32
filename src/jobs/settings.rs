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
    /// Maximum number of unfinished jobs of an owner.
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
    /// The directory cannot be created, opened or locked.
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
    /// The owner has too many unfinished jobs, including jobs in creation.
    #[error("there are {0} unfinished jobs already, with those that are being made")]
    TooMany(usize),
    /// Creating the job, including its upload, has taken longer than this.
    #[error("it has taken longer than {} s to make the job", .0.as_secs())]
    TooLate(Duration),
    /// The idempotency key belongs to a job with another specification.
    #[error("the key belongs to another job")]
    OtherJob(Box<JobSpec>),
    /// The job would need chunks larger than boards of this cost allow.
    #[error("boards of this cost are too many for one job")]
    TooManyChunks,
    /// The service has no capacity.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The files cannot be written.
    #[error(transparent)]
    Store(#[from] JobError),
}
