//! A method of a comparison.

use taquin_bulk::RequestedLimits;
use taquin_solver::{Plan, SearchOptions};

/// A method: its search options as requested, their plan, and its limits.
pub(super) struct Method {
    pub(super) options: SearchOptions,
    pub(super) plan: Plan,
    pub(super) limits: RequestedLimits,
}
