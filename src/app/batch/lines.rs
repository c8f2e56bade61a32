//! Labels of a recipe or of a job as lines.

use crate::app::batch::arguments::TextFormat;
use crate::domain::Size;
use crate::http::LabelLines;
#[cfg(feature = "parquet")]
use crate::jobs::Row;
use crate::service::{RequestedLimits, Want};

/// How the rows become lines of a format.
pub(super) fn lines(size: Size, want: Want, limits: RequestedLimits, format: TextFormat) -> LabelLines {
    LabelLines::new(size, want, limits, format == TextFormat::Csv)
}

/// The problem of a row of a recipe or of a job that has no label, as JSON.
#[cfg(feature = "parquet")]
pub(super) fn problem_of(row: &Row) -> Option<String> {
    match row {
        Row::Solved(_) => None,
        Row::Failed | Row::Invalid => serde_json::to_string(&LabelLines::problem(row)).ok(),
    }
}
