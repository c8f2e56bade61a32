//! A job: the puzzle, the plan of its search and its limits.

use std::time::Duration;

use crate::domain::Puzzle;
use crate::service::plan::Plan;

/// What one search may spend. The time counts from submission, so waiting counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// Time from submission to the end of the search.
    pub time: Duration,
    /// Nodes expanded.
    pub expanded: u64,
    /// Nodes in memory.
    pub nodes: u64,
}

/// Limits as asked for; what is absent is the house's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LimitWish {
    /// Time from submission.
    pub time: Option<Duration>,
    /// Nodes expanded.
    pub expanded: Option<u64>,
    /// Nodes in memory.
    pub nodes: Option<u64>,
}

impl LimitWish {
    /// What is absent is as in another wish.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            time: self.time.or(other.time),
            expanded: self.expanded.or(other.expanded),
            nodes: self.nodes.or(other.nodes),
        }
    }
}

/// A search to make.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Job {
    /// What to solve.
    pub puzzle: Puzzle,
    /// How.
    pub plan: Plan,
    /// What it may spend.
    pub limits: Limits,
    /// How many expansions to tell of.
    pub expansions: usize,
    /// Whether to tell the heuristic's value of each board along the solution.
    pub states: bool,
}

/// Called before each search, on its thread: for tests of what happens if it panics.
pub type Hook = fn(&Job);
