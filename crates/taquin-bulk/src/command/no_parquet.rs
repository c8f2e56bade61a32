//! Stand-in for `parquet` in builds without the feature `parquet`.

use super::arguments::{ParquetOutput, ParquetSource};
use super::{BatchEnding, BatchError, Session};

impl ParquetOutput {
    /// Accepts every output; [`Session::write_parquet`] rejects it.
    ///
    /// # Errors
    /// None.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as in builds with Parquet")]
    pub(crate) fn check_existing(&self) -> Result<(), BatchError> {
        Ok(())
    }
}

impl Session<'_> {
    #[expect(clippy::unused_self, reason = "as in builds with Parquet")]
    pub(crate) fn write_parquet(&self, _: &ParquetSource, _: &ParquetOutput) -> Result<BatchEnding, BatchError> {
        let reason = "this build has no Parquet: build with `--features parquet`, or use the container image";
        Err(BatchError::Arguments(vec![format!("--format: {reason}")]))
    }
}
