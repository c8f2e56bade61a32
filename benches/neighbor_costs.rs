//! Fits the costs of tiles in adjacent cells to optimal lengths of 15-puzzles (`search/anytime/neighbor_costs.rs` of
//! `taquin-solver`).
//!
//! `cargo bench --bench neighbor_costs` solves random boards, leaves their optimal solutions at random positions by
//! some random moves, and solves the boards there. A ridge regression (Hoerl & Kennard 1970) explains the lengths by
//! the distances of the tiles along each axis, the cell of the blank, and the headings of all pairs of adjacent tiles.
//! Pairs that are reflections of each other have one cost. It prints the table, and the error with and without it on
//! boards that were left out. `boards=N` sets the number of random boards.

mod common;

use common::{build_standard, job};
use taquin::service::Tables;
use taquin_solver::solver::solve;
use taquin_solver::{Board, Control, Move, RandomSource, Size, SplitMix, random_board};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIDE: usize = 4;
const CELLS: usize = SIDE * SIDE;
const HEADINGS: usize = 9;
/// Positions for each random board.
const POSITIONS: usize = 6;
const MAX_RANDOM_MOVES: u64 = 12;
/// Distances along an axis, cells of the blank, and pairs of headings.
const FEATURES: usize = (SIDE - 1) + CELLS + HEADINGS * HEADINGS;
/// Weight of the squares of the coefficients.
const RIDGE: f64 = 30.0;
/// Units of the table, by which a move counts.
const UNITS_A_MOVE: f64 = 12.0;

type Features = [f64; FEATURES];

/// A position, and its optimal length.
struct Sample {
    features: Features,
    length: f64,
}

/// The sign of the rows and columns that a tile has to move, from 0 to 2.
fn signs(goal: usize, cell: usize) -> [usize; 2] {
    [(goal / SIDE, cell / SIDE), (goal % SIDE, cell % SIDE)].map(|(goal, at)| (goal.cmp(&at) as i8 + 1) as usize)
}

/// The pair of headings of a tile and its neighbor to the right, the same for all reflections.
fn class([tile, neighbor]: [[usize; 2]; 2]) -> usize {
    let upside_down = |[row, col]: [usize; 2]| [2 - row, col];
    let mirrored = |[row, col]: [usize; 2]| [row, 2 - col];
    let pairs = [[tile, neighbor], [mirrored(neighbor), mirrored(tile)]];
    let pairs = pairs.into_iter().flat_map(|pair| [pair, pair.map(upside_down)]);
    pairs.map(|[[a, b], [c, d]]| ((a * 3 + b) * 3 + c) * 3 + d).min().expect("four reflections")
}

fn features(board: &Board) -> Features {
    let mut features = [0.0; FEATURES];
    let [distances, blank, pairs] = [0, SIDE - 1, SIDE - 1 + CELLS];
    // The cell in which the tile in a cell belongs; `None` for the blank.
    let goals: Vec<Option<usize>> = board.tiles().iter().map(|tile| usize::from(*tile).checked_sub(1)).collect();
    features[blank + usize::from(board.blank())] = 1.0;
    for (cell, goal) in goals.iter().enumerate() {
        let Some(goal) = *goal else { continue };
        for distance in [(goal / SIDE).abs_diff(cell / SIDE), (goal % SIDE).abs_diff(cell % SIDE)] {
            if distance > 0 {
                features[distances + distance - 1] += 1.0;
            }
        }
        let heading = signs(goal, cell);
        if cell % SIDE + 1 < SIDE
            && let Some(right) = goals[cell + 1]
        {
            features[pairs + class([heading, signs(right, cell + 1)])] += 1.0;
        }
        if cell + SIDE < CELLS
            && let Some(below) = goals[cell + SIDE]
        {
            let transposed = |[row, col]: [usize; 2]| [col, row];
            features[pairs + class([heading, signs(below, cell + SIDE)].map(transposed))] += 1.0;
        }
    }
    features
}

fn optimal_solution(start: Board, goal: Board, tables: &Tables) -> Vec<Move> {
    let report = solve(&job(start, goal, None, None), tables, Control::default()).expect("a report");
    report.solution.expect("a solution").path.moves().to_vec()
}

fn samples(boards: usize) -> Vec<Sample> {
    let tables = Tables::default();
    build_standard(&tables);
    let goal = Board::blank_last(Size::try_from((SIDE, SIDE)).expect("a size"));
    let mut random = SplitMix(4);
    let mut samples = Vec::new();
    for _ in 0..boards {
        let start = random_board(&goal, &mut random);
        let solution = optimal_solution(start, goal, &tables);
        for _ in 0..POSITIONS {
            let mut board = start;
            let left_after = random.next_u64() as usize % (solution.len() + 1);
            let on_solution = solution[..left_after].iter().copied();
            on_solution.for_each(|mv| assert!(board.make(mv).is_some(), "a solution stays on the board"));
            for _ in 0..random.next_u64() % MAX_RANDOM_MOVES {
                // A move that leaves the board is skipped.
                let _ = board.make(Move::ALL[random.next_u64() as usize % 4]);
            }
            let length = optimal_solution(board, goal, &tables).len() as f64;
            samples.push(Sample { features: features(&board), length });
        }
    }
    samples
}

/// Coefficients, and the constant.
struct Fit([f64; FEATURES], f64);

impl Fit {
    /// Fits the first features of the samples.
    fn new(samples: &[Sample], features: usize) -> Self {
        let count = samples.len() as f64;
        let means: Vec<f64> =
            (0..features).map(|nth| samples.iter().map(|sample| sample.features[nth]).sum::<f64>() / count).collect();
        let mean = samples.iter().map(|sample| sample.length).sum::<f64>() / count;
        // The normal equations, with the right side in the last column.
        let mut rows = vec![vec![0.0; features + 1]; features];
        for sample in samples {
            let centered: Vec<f64> = (0..features).map(|nth| sample.features[nth] - means[nth]).collect();
            for (row, factor) in rows.iter_mut().zip(&centered) {
                row.iter_mut().zip(&centered).for_each(|(sum, value)| *sum += factor * value);
                row[features] += factor * (sample.length - mean);
            }
        }
        (0..features).for_each(|nth| rows[nth][nth] += RIDGE);
        let mut coefficients = [0.0; FEATURES];
        coefficients[..features].copy_from_slice(&solve_equations(rows));
        let constant =
            mean - coefficients.iter().zip(&means).map(|(coefficient, mean)| coefficient * mean).sum::<f64>();
        Self(coefficients, constant)
    }

    /// Standard deviation of the error.
    fn error(&self, samples: &[Sample]) -> f64 {
        let Self(coefficients, constant) = self;
        let predicted = |sample: &Sample| {
            constant + sample.features.iter().zip(coefficients).map(|(value, weight)| value * weight).sum::<f64>()
        };
        let squares: f64 = samples.iter().map(|sample| (sample.length - predicted(sample)).powi(2)).sum();
        (squares / samples.len() as f64).sqrt()
    }
}

/// Gaussian elimination of a positive definite matrix with the right side in its last column.
fn solve_equations(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let count = rows.len();
    for pivot in 0..count {
        let pivot_row = rows[pivot].clone();
        for (nth, row) in rows.iter_mut().enumerate() {
            if nth != pivot {
                let factor = row[pivot] / pivot_row[pivot];
                row.iter_mut().zip(&pivot_row).for_each(|(value, of_pivot)| *value -= factor * of_pivot);
            }
        }
    }
    rows.iter().enumerate().map(|(nth, row)| row[count] / row[nth]).collect()
}

fn main() {
    let boards = std::env::args().find_map(|argument| argument.strip_prefix("boards=")?.parse().ok()).unwrap_or(5_000);
    let samples = samples(boards);
    let (test, train) = samples.split_at(samples.len() / 4);
    let [without, with] = [SIDE - 1 + CELLS, FEATURES].map(|features| Fit::new(train, features));
    println!(
        "{} positions; error without the table {:.2}, with it {:.2} moves",
        samples.len(),
        without.error(test),
        with.error(test)
    );
    println!("distances 1 to 3 along an axis: {:.2?} moves", &with.0[..SIDE - 1]);
    let pairs = &with.0[SIDE - 1 + CELLS..];
    for tile in 0..HEADINGS {
        let cost = |neighbor: usize| {
            let nth = class([tile, neighbor].map(|heading| [heading / 3, heading % 3]));
            format!("{}", (UNITS_A_MOVE * pairs[nth]).round() as i8)
        };
        println!("[{}],", (0..HEADINGS).map(cost).collect::<Vec<_>>().join(", "));
    }
}
