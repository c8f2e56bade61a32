//! Searches that `run.mjs` calls.

use std::time::Duration;

use taquin_solver::{Board, Puzzle, Size, Solver, SplitMix, random_board, set_clock};

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Milliseconds since a fixed moment.
    safe fn now() -> f64;
}

fn optimal_length(start: &str, goal: fn(Size) -> Board) -> u32 {
    let start: Board = start.parse().unwrap();
    let puzzle = Puzzle::try_new(start, goal(start.size())).unwrap();
    let solved = Solver::new().solve(&puzzle);
    assert!(solved.is_optimal());
    solved.path.len() as u32
}

/// The optimal length of one of the hardest 8-puzzles.
#[unsafe(no_mangle)]
pub extern "C" fn hardest_8_puzzle() -> u32 {
    optimal_length("8 6 7/2 5 4/3 0 1", Board::blank_last)
}

/// The optimal length of the second board of Korf (1985), with pattern tables.
#[unsafe(no_mangle)]
pub extern "C" fn a_15_puzzle() -> u32 {
    optimal_length("13 5 4 10/9 12 8 14/2 3 7 1/0 15 11 6", Board::blank_first)
}

/// Sets the clock, and returns the length of a solution of a 6×6 board, which takes a second.
#[unsafe(no_mangle)]
pub extern "C" fn a_large_board() -> u32 {
    set_clock(|| Duration::from_secs_f64(now() / 1000.0));
    let goal = Board::blank_last(Size::try_from((6, 6)).unwrap());
    let puzzle = Puzzle::try_new(random_board(&goal, &mut SplitMix(1)), goal).unwrap();
    let solved = Solver::new().solve(&puzzle);
    assert!(solved.path.replay(&puzzle).is_ok());
    solved.path.len() as u32
}
