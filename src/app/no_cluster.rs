//! Stands in for `cluster` in builds without that feature.

use std::error::Error;

use super::shared_jobs::SharedJobs;
use crate::config::QueueConfig;

type BoxError = Box<dyn Error + Send + Sync>;

const MISSING: &str = "this build lacks the feature `cluster`";

pub(crate) fn open(_: &str, _: &QueueConfig) -> Result<SharedJobs, BoxError> {
    Err(MISSING.into())
}

/// Stands in for the command `taquin worker`.
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
