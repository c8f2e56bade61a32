//! Settings of bulk work: its workers, and the limits of `POST /batch`.

use clap::Args;

use super::parse::{KIB, MIB, SettingsParser};
use crate::http::BatchLimits;

#[derive(Args, Clone, Debug)]
pub(crate) struct BulkFlags {
    /// Share of the workers that bulk work may have; 0 turns it off [range: 0 to 1]
    ///
    /// Bulk work takes workers that no search could use, and gives them back at once. A share above 0 is one worker at
    /// least.
    #[arg(long, env = "TAQUIN_BULK_SHARE", default_value = "1", value_name = "RATIO")]
    bulk_share: String,

    /// Maximum number of boards in a request to /batch [default: 100000, or less if the memory for long responses is
    /// small] [range: 1 or more]
    #[arg(long, env = "TAQUIN_MAX_BATCH", value_name = "N")]
    max_batch: Option<String>,

    /// Maximum size of the body of a request to /batch [default: 16MiB, or a quarter of the memory for long responses
    /// if that is less] [range: 1KiB or more]
    #[arg(long, env = "TAQUIN_MAX_BATCH_BODY", value_name = "SIZE")]
    max_batch_body: Option<String>,
}

impl BulkFlags {
    /// Number of workers that bulk work may have.
    pub(crate) fn workers(&self, parser: &mut SettingsParser, workers: usize) -> usize {
        bulk_workers(parser.ratio("bulk-share", &self.bulk_share), workers)
    }

    /// Limits of batches. Their bodies and labels occupy the memory for long responses.
    pub(crate) fn limits(&self, parser: &mut SettingsParser, replies: u64) -> BatchLimits {
        const BOARDS: u64 = 100_000;
        const BYTES: u64 = 16 * MIB;
        let (most_boards, most_bytes) = (replies / 4 / BatchLimits::BYTES_OF_A_ROW as u64, replies / 4);
        let boards = self.max_batch.as_deref().map(|text| parser.number("max-batch", text, 1..=u64::MAX));
        let bytes = self.max_batch_body.as_deref().map(|text| parser.size("max-batch-body", text, KIB..=1 << 50));
        let mut limit = |flag, unit, wanted: Option<u64>, default: u64, most| match wanted {
            Some(wanted) if wanted > most && parser.is_valid("memory") => {
                parser.report(flag, format!("there is memory for {most} {unit}; raise --memory"));
                most
            }
            wanted => wanted.unwrap_or(default.min(most)),
        };
        BatchLimits {
            boards: limit("max-batch", "boards", boards, BOARDS, most_boards) as usize,
            bytes: limit("max-batch-body", "bytes", bytes, BYTES, most_bytes) as usize,
        }
    }
}

/// Converts a share of the workers to a number.
fn bulk_workers(share: f64, workers: usize) -> usize {
    // Rounding makes a product such as 0.07 × 100 slightly too large.
    (share * workers as f64 - 1e-9).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max_batch: Option<&str>, max_batch_body: Option<&str>, replies: u64) -> Result<BatchLimits, usize> {
        let mut parser = SettingsParser::default();
        let (max_batch, max_batch_body) = (max_batch.map(str::to_owned), max_batch_body.map(str::to_owned));
        let flags = BulkFlags { bulk_share: "1".to_owned(), max_batch, max_batch_body };
        let limits = flags.limits(&mut parser, replies);
        parser.finish().map(|()| limits).map_err(|errors| errors.len())
    }

    #[test]
    fn a_share_of_the_workers_is_rounded_up() {
        assert_eq!([bulk_workers(1.0 / 3.0, 3), bulk_workers(0.07, 100), bulk_workers(0.0, 9)], [1, 7, 0]);
    }

    #[test]
    fn batches_fit_into_the_memory_for_long_responses() {
        assert_eq!(limits(None, None, 256 * MIB), Ok(BatchLimits { boards: 100_000, bytes: 16 << 20 }));
        assert_eq!(limits(None, None, 8 * MIB), Ok(BatchLimits { boards: 32_768, bytes: 2 << 20 }));
        assert_eq!(limits(Some("5"), Some("2KiB"), 8 * MIB), Ok(BatchLimits { boards: 5, bytes: 2048 }));
        assert_eq!(limits(Some("32769"), Some("3MiB"), 8 * MIB), Err(2));
        assert_eq!(limits(Some("0"), Some("1"), 8 * MIB), Err(2));
    }
}
