//! The reasons why no board can be drawn.

use std::ops::RangeInclusive;

use taquin_solver::{Size, WrongSolution};

use crate::row_error::counted;

/// The reason why no board can be drawn.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum DrawError {
    /// The end of the range of lengths or percentiles is below its start.
    #[error("the range is empty: its end is below its start")]
    EmptyRange,
    /// Boards of this size are too large for proofs of optimal lengths.
    #[error("optimal lengths are known only for boards of up to 16 cells, not for {0} boards")]
    LengthsUnknown(Size),
    /// No board has an optimal length in the range. The value is the greatest optimal length of all boards.
    #[error("no board has an optimal length in this range; for this size and goal, lengths range from 0 to {0}")]
    NoSuchLength(u32),
    /// Boards of these lengths are too rare for a draw. The value is the list of lengths that can be drawn.
    #[error(
        "boards with an optimal length in this range cannot be found soon; for this size and goal, lengths {} can be \
         drawn",
        listed(.0)
    )]
    TooRare(Vec<RangeInclusive<u32>>),
    /// The number of boards at each length is unknown for this shape and goal.
    #[error(
        "percentiles are known for boards of up to 12 cells, for 4×4 boards, and for 2×7, 2×8 and 3×5 boards with the \
         blank's goal in a corner"
    )]
    PercentilesUnknown,
    /// No length has a percentile in the range. The value is the least percentile above the range. If there is none,
    /// the value is the greatest percentile of all lengths.
    #[error("no length has a percentile in this range; {0} is one")]
    NoSuchPercentile(f64),
    /// A list of distinct boards needs more boards than satisfy the request. The value is the number of boards that
    /// satisfy the request.
    #[error("only {} {} the request", counted(*.0, "different board"), if *.0 == 1 { "meets" } else { "meet" })]
    TooFew(u64),
    /// Too many draws of a list of distinct boards repeated boards of the list.
    #[error("{draws} draws found only {}", counted(*found as u64, "different board"))]
    Repeated {
        /// Number of distinct boards that were found.
        found: usize,
        /// Number of draws.
        draws: usize,
    },
    /// The deadline passed before all boards were found.
    #[error("the time ended before all boards were found")]
    TimeUp,
    /// A cancel flag was set.
    #[error("the draw was cancelled")]
    Cancelled,
    /// A search returned a wrong solution.
    #[error(transparent)]
    Failed(#[from] WrongSolution),
}

/// The ranges in words, such as "from 0 to 20 and from 30 to 80".
fn listed(lengths: &[RangeInclusive<u32>]) -> String {
    let ranges = lengths.iter().map(|range| format!("from {} to {}", range.start(), range.end()));
    ranges.collect::<Vec<_>>().join(" and ")
}
