//! Jobs on many machines, in builds without the feature `cluster`: none.

use std::error::Error;

use super::shared_jobs::SharedJobs;
use crate::config::QueueConfig;

type BoxError = Box<dyn Error + Send + Sync>;

const MISSING: &str = "this build lacks the feature `cluster`";

/// Fails.
pub(super) fn open(_: &str, _: &QueueConfig) -> Result<SharedJobs, BoxError> {
    Err(MISSING.into())
}

/// The command `taquin worker`: none.
pub mod worker {
    use super::MISSING;
    use crate::app::{AppError, Ending};
    use crate::config::Config;

    /// Fails.
    ///
    /// # Errors
    /// Always.
    pub async fn work(_: &Config) -> Result<Ending, AppError> {
        Err(AppError::Worker(MISSING.into()))
    }
}
