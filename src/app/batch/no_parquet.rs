//! Stand-in for `parquet` in builds without the feature `parquet`.

use super::arguments::{ParquetOutput, ParquetSource};
use super::{BatchError, Session, TaskEnd};

/// Rejects nothing, for nothing is written.
///
/// # Errors
/// None.
#[expect(clippy::unnecessary_wraps, reason = "as in builds with Parquet")]
pub(super) fn check_output(_: &ParquetOutput) -> Result<(), BatchError> {
    Ok(())
}

impl Session {
    #[expect(clippy::unused_self, reason = "as in builds with Parquet")]
    pub(super) fn write_parquet(&self, _: &ParquetSource, _: &ParquetOutput) -> Result<TaskEnd, BatchError> {
        let reason = "this build has no Parquet: build with `--features parquet`, or use the container image";
        Err(BatchError::Arguments(vec![format!("--format: {reason}")]))
    }
}
