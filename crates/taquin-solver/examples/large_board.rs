//! Shortens the solution of a 10×10 board for two seconds, and prints each shorter one as it is found.

use std::error::Error;
use std::time::{Duration, Instant};

use taquin_solver::{
    Board, Control, Limits, Observer, Path, Plan, Progress, Puzzle, SearchRequest, Size, Solver, SplitMix, random_board,
};

#[derive(Debug)]
struct Printer {
    begun: Instant,
}

impl Observer for Printer {
    fn reached(&self, _: Progress) {}

    fn found(&self, path: &Path) {
        println!("{:>5} moves after {:.1?}", path.len(), self.begun.elapsed());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let goal = Board::blank_last(Size::try_from((10, 10))?);
    let puzzle = Puzzle::try_new(random_board(&goal, &mut SplitMix(1)), goal)?;
    let printer = Printer { begun: Instant::now() };
    let control = Control {
        deadline: Some(printer.begun + Duration::from_secs(2)),
        observer: Some(&printer),
        ..Control::default()
    };
    let request = SearchRequest::new(puzzle, Plan::auto(goal.size()), Limits::NONE);
    let report = Solver::new().run(&request, control)?;
    println!("{:>5} moves; no solution has fewer than {}", report.length().unwrap_or_default(), report.lower_bound);
    Ok(())
}
