//! What a client asks of a search, and what it gets.

mod report;

use std::time::Duration;

use taquin_solver::SearchRequest;

pub use report::{Answer, Origin, Overload, Report, ServiceError};

/// Limits of a request; those absent take the defaults of the service.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestedLimits {
    /// Time from submission to the end of the search.
    pub time: Option<Duration>,
    /// Maximum of expanded nodes.
    pub expanded: Option<u64>,
    /// Maximum of nodes in memory.
    pub nodes: Option<u64>,
}

impl RequestedLimits {
    /// Takes absent limits from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            time: self.time.or(other.time),
            expanded: self.expanded.or(other.expanded),
            nodes: self.nodes.or(other.nodes),
        }
    }
}

/// Called before each search, on its thread. Tests use it to make searches panic.
pub type BeforeSearchHook = fn(&SearchRequest);
