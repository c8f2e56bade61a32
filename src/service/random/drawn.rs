//! Drawn boards, and the reasons for which none can be drawn.

use std::ops::RangeInclusive;

use taquin_solver::{Board, Distance, Size};

use crate::service::job::ServiceError;

/// A random board and its distance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DrawnBoard {
    /// The board.
    pub board: Board,
    /// Bounds on its optimal length; `None` if the goal cannot be reached.
    pub distance: Option<Distance>,
    /// [Percentile](Distance::percentile) of the board, if known.
    pub percentile: Option<f64>,
    /// True if all boards that meet the request are equally likely.
    pub is_uniform: bool,
}

/// Reason why no board can be drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum DrawError {
    /// Boards of this size are too large to prove optimal lengths.
    LengthsUnknown(Size),
    /// No board has an optimal length in the range; holds the greatest one.
    NoSuchLength(u32),
    /// Boards of these lengths are too rare to find them; holds the lengths that can be drawn.
    TooRare(Vec<RangeInclusive<u32>>),
    /// The number of boards at each length is unknown for this shape and goal.
    PercentilesUnknown,
    /// No length has a percentile in the range; holds the least greater one, or the greatest of all.
    NoSuchPercentile(f64),
    /// The time ended before a board was found.
    TimeUp,
    /// The caller has left, or the service is shutting down.
    Cancelled,
    /// A search failed, which is a bug.
    Failed(ServiceError),
}
