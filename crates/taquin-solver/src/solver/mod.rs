//! From a puzzle to its solution: the requests, the choice of a search, its run and its report.

mod dispatch;
mod distance;
mod explain;
mod plan;
mod report;
mod request;
mod run;

use std::time::Duration;

pub use dispatch::{SearchTables, bytes_for, nodes_of_plan, nodes_within};
pub use distance::{AttemptCheck, Distance, check_attempt, distances_along, distances_around};
pub use explain::{Conflict, Estimate, Explanation, NamedPart, PatternExplanation, explain, explain_patterns};
pub use plan::{Plan, PlanConflict, SearchOptions};
pub use report::{Report, Solution, Solved, WrongSolution};
pub use request::{Limits, Records, RequestedSolutions, SearchRequest};
pub use run::{Control, bounds, lower_bound, solve, solve_with, start_bound, without_search};

use crate::clock::Instant;
use crate::domain::Puzzle;
use crate::tables::{LazyTables, TableSource};

/// Solves puzzles, with tables that are kept from one puzzle to the next.
#[derive(Debug, Default)]
pub struct Solver<T = LazyTables> {
    tables: T,
}

impl Solver {
    /// A solver with no tables yet. It builds small ones on first use: a tenth of a second for 15-puzzles.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T: TableSource> Solver<T> {
    /// Time that [`solve`](Self::solve) takes at most on boards of more than 16 cells.
    pub const TIME: Duration = Duration::from_secs(1);

    /// A solver with tables of its own, such as stronger ones: `LazyTables::new(Tier::Standard)`.
    pub fn with_tables(tables: T) -> Self {
        Self { tables }
    }

    /// The tables.
    pub fn tables(&self) -> &T {
        &self.tables
    }

    /// Returns a solution that is proven optimal on boards of up to 16 cells. On larger boards the solution is the best
    /// that is found within [a second](Self::TIME), with a proven lower bound.
    ///
    /// # Panics
    /// If the solution does not replay, because of damaged memory or a bug.
    pub fn solve(&self, puzzle: &Puzzle) -> Solved {
        let plan = Plan::auto(puzzle.size());
        let deadline = plan.uses_all_time().then(|| Instant::now() + Self::TIME);
        let request = SearchRequest::new(*puzzle, plan, Limits::NONE);
        let control = Control { deadline, ..Control::default() };
        let report = self.run(&request, control).expect("memory is sound");
        let Report { solution, lower_bound, stats, .. } = report;
        let Solution { path, tiles } = solution.expect("`auto` always finds a solution");
        Solved { path, tiles, lower_bound, stats }
    }

    /// Runs the search of a request: any algorithm and heuristic, with limits, and with a deadline, a cancel flag or an
    /// observer. The solution is replayed before it is returned.
    ///
    /// # Errors
    /// [`WrongSolution`], because of damaged memory or a bug.
    pub fn run(&self, request: &SearchRequest, control: Control<'_>) -> Result<Report, WrongSolution> {
        solve(request, &self.tables, control)
    }

    /// Returns bounds on the optimal length, without a search. They are equal on boards of up to 9 cells.
    pub fn distance(&self, puzzle: &Puzzle) -> Distance {
        Distance::of(puzzle, self.tables.small())
    }

    /// Returns the estimate of the start board by every heuristic that serves it, part by part.
    pub fn explain(&self, puzzle: &Puzzle) -> Explanation {
        explain(puzzle, &self.tables)
    }
}
