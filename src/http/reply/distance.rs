//! Distances of boards as JSON and text.

use std::fmt;

use taquin_bulk::counted;
use taquin_solver::Distance;

/// Distance of a board from the goal. All members are null if the goal is unreachable.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(crate) struct DistanceReply {
    pub(crate) lower_bound: Option<u32>,
    pub(crate) upper_bound: Option<u32>,
    pub(crate) optimal_length: Option<u32>,
}

impl From<Distance> for DistanceReply {
    fn from(distance: Distance) -> Self {
        let Distance { length, lower_bound, upper_bound } = distance;
        Self { lower_bound: Some(lower_bound), upper_bound: Some(upper_bound), optimal_length: length }
    }
}

impl fmt::Display for DistanceReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lower_bound, self.upper_bound) {
            (Some(low), Some(high)) if low == high => f.write_str(&counted(low, "move")),
            (Some(low), Some(high)) => write!(f, "{low} to {high} moves"),
            _ => f.write_str("an unknown number of moves"),
        }
    }
}
