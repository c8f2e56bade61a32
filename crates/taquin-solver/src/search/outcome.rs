//! Result of a search.

use super::{Stats, StopReason};
use crate::domain::Path;

/// Result of a search: a path, a lower bound and counters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The solution, or why the search stopped. Anytime search stops with an error until a solution is proven optimal.
    pub result: Result<Path, StopReason>,
    /// The shortest solution known when the search stopped early, if any.
    pub best: Option<Path>,
    /// Proven lower bound on the length of any path to the goal, whatever the result.
    pub lower_bound: u32,
    /// The counters.
    pub stats: Stats,
}

impl Outcome {
    /// True if a path was found and is proven shortest.
    pub fn is_optimal(&self) -> bool {
        self.result.as_ref().is_ok_and(|path| path.len() == self.lower_bound as usize)
    }
}
