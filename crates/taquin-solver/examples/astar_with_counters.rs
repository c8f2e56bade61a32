//! Solves an 8-puzzle by A* with the Manhattan distance, and shows the counters.

use std::error::Error;

use taquin_solver::{
    Algorithm, Board, Control, HeuristicKind, Limits, Plan, Puzzle, SearchOptions, SearchRequest, Solver,
};

fn main() -> Result<(), Box<dyn Error>> {
    let start: Board = "8 6 7/2 5 4/3 0 1".parse()?;
    let puzzle = Puzzle::try_new(start, Board::blank_last(start.size()))?;
    let options = SearchOptions {
        algorithm: Some(Algorithm::AStar),
        heuristic: Some(HeuristicKind::Manhattan),
        ..SearchOptions::default()
    };
    let plan = Plan::try_new(&options, puzzle.size()).map_err(|conflicts| conflicts[0].detail.clone())?;
    let request = SearchRequest::new(puzzle, plan, Limits::NONE);
    let report = Solver::new().run(&request, Control::default())?;
    println!("{} moves, optimal: {}", report.length().unwrap_or_default(), report.is_optimal());
    println!("{} states expanded, {} generated", report.stats.expanded, report.stats.generated);
    Ok(())
}
