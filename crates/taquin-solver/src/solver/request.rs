//! A search to run.

use std::time::Duration;

use super::plan::Plan;
use crate::domain::{Move, Puzzle};

/// Limits of one search.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Limits {
    /// Time until the search ends. A [`Control`](super::Control) has the deadline.
    pub time: Duration,
    /// Maximum of expanded nodes.
    pub expanded: u64,
    /// Maximum of nodes in memory.
    pub nodes: u64,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self { time: Duration::MAX, expanded: u64::MAX, nodes: u64::MAX };
}

/// A search to run.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SearchRequest {
    /// The puzzle to solve.
    pub puzzle: Puzzle,
    /// Algorithm, heuristic and their options.
    pub plan: Plan,
    /// Limits of the search.
    pub limits: Limits,
    /// What the report contains beside the solution.
    pub records: Records,
}

/// What a report contains beside the solution. By default nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Records {
    /// Number of expansions to record.
    pub expansions: usize,
    /// Number of generated nodes to list.
    pub generated: usize,
    /// True if the iterations are reported.
    pub iterations: bool,
    /// True if the heuristic value of each board along the solution is reported.
    pub states: bool,
    /// All optimal solutions.
    pub solutions: Option<RequestedSolutions>,
}

/// Which optimal solutions a report contains.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RequestedSolutions {
    /// Number of solutions to list.
    pub most: usize,
    /// True if all are counted.
    pub counts: bool,
}

impl SearchRequest {
    /// A request whose report contains only the solution.
    pub fn new(puzzle: Puzzle, plan: Plan, limits: Limits) -> Self {
        Self { puzzle, plan, limits, records: Records::default() }
    }

    /// No search reaches this number of expansions before its time limit.
    const UNREACHED: u64 = 10_000_000_000;

    /// True if the limit on expansions may end the search. Its result is then repeatable, provided that it uses the
    /// same tables from start to end every time.
    pub fn counts_expansions(&self) -> bool {
        self.limits.expanded < Self::UNREACHED
    }

    /// Maximum number of expansions that its search records.
    pub fn most_expansions(&self) -> usize {
        usize::try_from(self.limits.expanded).unwrap_or(usize::MAX).min(self.records.expansions)
    }

    /// Maximum number of generated nodes that its search lists: the start, and at most four for each expansion.
    pub fn most_generated(&self) -> usize {
        let generated = self.limits.expanded.saturating_mul(Move::ALL.len() as u64).saturating_add(1);
        usize::try_from(generated).unwrap_or(usize::MAX).min(self.records.generated)
    }

    /// True if its search stores neither nodes nor lists of them.
    pub fn is_light(&self) -> bool {
        self.plan.most_nodes(self.puzzle.size()) == 0 && self.records.expansions == 0 && self.records.generated == 0
    }
}
