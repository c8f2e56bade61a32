//! Formats of inputs and outputs.

use taquin_solver::named;

/// A format of lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TextFormat {
    Ndjson,
    Csv,
}

/// A format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Format {
    Ndjson,
    Csv,
    Parquet,
    Packed,
}

impl Format {
    /// The format, if it is one of lines.
    pub(super) fn text(self) -> Option<TextFormat> {
        match self {
            Self::Ndjson => Some(TextFormat::Ndjson),
            Self::Csv => Some(TextFormat::Csv),
            Self::Parquet | Self::Packed => None,
        }
    }
}

/// A format of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RowsFormat {
    Ndjson,
    Csv,
}

named!(RowsFormat { Ndjson => "ndjson", Csv => "csv" });

named!(Format { Ndjson => "ndjson", Csv => "csv", Parquet => "parquet", Packed => "packed" });
