//! Compares random boards with the stored distribution of optimal lengths: draws boards uniformly, proves the length of
//! each, and prints the z-score of the mean and χ² of the lengths.
//!
//! ```text
//! cargo run --release --example sampled_lengths -- 3 5 14 300 1
//! ```
//!
//! The arguments are `ROWS COLS BLANK BOARDS SEED`. `BLANK` is the goal cell of the blank, counted from 0. Without
//! arguments, a hundred boards of the 15-puzzle are drawn.

use std::error::Error;
use std::time::Instant;

use taquin_solver::heuristic::Tier;
use taquin_solver::search::Distribution;
use taquin_solver::{Board, LazyTables, Metric, Puzzle, Size, Solver, SplitMix, random_board};

/// Least expected number of boards of a class of lengths in χ².
const LEAST_EXPECTED: f64 = 5.0;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<u64>, _>>()?;
    let [rows, cols, blank, boards, seed] = match arguments[..] {
        [] => [4, 4, 15, 100, 1],
        [rows, cols, blank, boards @ 1..=u64::MAX, seed] => [rows, cols, blank, boards, seed],
        _ => return Err("the arguments are ROWS COLS BLANK BOARDS SEED, with at least 1 board".into()),
    };
    let size = Size::try_from((rows as usize, cols as usize)).map_err(|_| "no such size")?;
    let goal = goal(size, blank)?;
    let distribution = Distribution::stored(Metric::SingleTile, size, goal.blank()).ok_or("no counts are stored")?;
    let solver = Solver::with_tables(LazyTables::new(Tier::Standard));
    let (mut random, mut drawn) = (SplitMix(seed), vec![0_u32; distribution.counts().len()]);
    let start = Instant::now();
    for _ in 0..boards {
        let board = random_board(&goal, &mut random);
        let solved = solver.solve(&Puzzle::try_new(board, goal)?);
        assert!(solved.is_optimal(), "{board}");
        drawn[solved.path.len()] += 1;
    }
    println!("{size}, blank in cell {blank}, {boards} boards of seed {seed}, {:.1} s", start.elapsed().as_secs_f64());
    report(&distribution, &drawn, boards as f64);
    Ok(())
}

/// The goal whose tiles are in order, with the blank in a cell.
fn goal(size: Size, blank: u64) -> Result<Board, Box<dyn Error>> {
    let cells = size.cells();
    let no_such_cell = || format!("BLANK {blank} is not a cell: {size} has the cells 0 to {}", cells - 1);
    let blank = u8::try_from(blank).ok().filter(|blank| usize::from(*blank) < cells).ok_or_else(no_such_cell)?;
    let number = |cell: u8| Some(i64::from(if cell == blank { 0 } else { cell + u8::from(cell < blank) }));
    let numbers: Vec<_> = (0..cells as u8).map(number).collect();
    Ok(Board::try_from_tiles(size, &numbers).expect("each number stands in one cell"))
}

fn report(distribution: &Distribution<'_>, drawn: &[u32], boards: f64) {
    let mean = distribution.mean();
    let shares = || (0_u32..).zip(distribution.counts()).map(|(length, count)| (length, distribution.share(*count)));
    let variance: f64 = shares().map(|(length, share)| share * (f64::from(length) - mean).powi(2)).sum();
    let moves: f64 = (0_u32..).zip(drawn).map(|(length, count)| f64::from(length) * f64::from(*count)).sum();
    let z = (moves / boards - mean) / (variance / boards).sqrt();
    println!("mean {:.3}, of all boards {mean:.4} (deviation {:.3}): z = {z:.2}", moves / boards, variance.sqrt());
    let mut classes = vec![(0.0, 0.0)];
    for ((_, share), count) in shares().zip(drawn) {
        if classes.last().is_some_and(|(expected, _)| *expected >= LEAST_EXPECTED) {
            classes.push((0.0, 0.0));
        }
        let class = classes.last_mut().expect("there is a class");
        (class.0, class.1) = (class.0 + share * boards, class.1 + f64::from(*count));
    }
    // The last class may expect too few boards.
    if let Some((expected, count)) = classes.pop_if(|(expected, _)| *expected < LEAST_EXPECTED)
        && let Some(class) = classes.last_mut()
    {
        (class.0, class.1) = (class.0 + expected, class.1 + count);
    }
    let chi_squared: f64 = classes.iter().map(|(expected, count)| (count - expected).powi(2) / expected).sum();
    println!("χ² = {chi_squared:.1} with {} degrees of freedom", classes.len() - 1);
}
