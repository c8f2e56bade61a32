//! The tables of the module. They are built at first use and kept.

use std::sync::LazyLock;

use taquin_solver::heuristic::GoalClass;
use taquin_solver::{LazyTables, Plan, Puzzle, TableSource};

/// Small tables: at most some megabytes for each goal class.
pub(crate) static TABLES: LazyLock<LazyTables> = LazyLock::new(LazyTables::default);

/// Builds the pattern tables of a board on which `auto` uses them.
pub(crate) fn load(puzzle: &Puzzle) {
    let size = puzzle.size();
    if Plan::is_proven_by_auto(size) && GoalClass::serves(size) {
        TABLES.patterns(GoalClass::of(size, puzzle.goal().blank()));
    }
}
