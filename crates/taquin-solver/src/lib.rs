//! Solves sliding-tile puzzles: the 8-puzzle, the 15-puzzle, and every other board from 2×2 to 10×10, to any goal.
//!
//! ```
//! use taquin_solver::{Board, Puzzle, Solver};
//!
//! let start: Board = "8 6 7/2 5 4/3 0 1".parse()?;
//! let puzzle = Puzzle::try_new(start, Board::blank_last(start.size()))?;
//! let solved = Solver::new().solve(&puzzle);
//! assert!(solved.path.len() == 31 && solved.is_optimal());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A board as people write it ([`RawBoard`]) and a valid [`Board`] are different types, and so are two boards and a
//! [`Puzzle`], whose goal is proven reachable. No search validates a board again.
//!
//! - the root: boards, moves, puzzles and paths; [`Solver`] with its requests and reports
//! - [`solver`]: the steps of a [`Solver`], for programs that bring tables, threads or a cache
//! - [`tables`]: precomputed tables, and the trait [`TableSource`] for others
//! - [`Instant`]: the clock of `std`. On `wasm32-unknown-unknown`, which has none, `set_clock` brings one
//! - [`search`], [`heuristic`]: for experts. Their names may change in any release

// Tests may do these. `expect` says why it cannot fail.
#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

mod clock;
mod domain;
mod named;
pub mod search;
pub mod solver;
pub mod tables;

pub use clock::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use clock::set_clock;
pub use domain::*;
pub use named::Named;
pub use search::{
    Algorithm, DuplicateDetection, HeuristicKind, Observer, Progress, Stats, StopReason, SuccessorOrder, TieBreaking,
    Weight, heuristic,
};
pub use solver::{
    Control, Distance, Explanation, Limits, Plan, PlanConflict, Records, Report, RequestedSolutions, SearchOptions,
    SearchRequest, Solution, Solved, Solver, WrongSolution,
};
pub use tables::{LazyTables, TableSource};
