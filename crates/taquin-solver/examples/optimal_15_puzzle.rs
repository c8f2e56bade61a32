//! Solves a 15-puzzle optimally: the second board of Korf (1985), 55 moves.

use std::error::Error;

use taquin_solver::{Board, Puzzle, Solver};

fn main() -> Result<(), Box<dyn Error>> {
    let start: Board = "13 5 4 10/9 12 8 14/2 3 7 1/0 15 11 6".parse()?;
    let puzzle = Puzzle::try_new(start, Board::blank_first(start.size()))?;
    let solved = Solver::new().solve(&puzzle);
    println!("{} moves of the blank: {}", solved.path.len(), solved.path);
    println!("optimal: {}; {} nodes expanded", solved.is_optimal(), solved.stats.expanded);
    Ok(())
}
