//! Random boards from seeds.

use std::ops::RangeInclusive;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use crate::domain::{Board, Puzzle, RandomSource, Size, random_board, random_walk};
use crate::search::heuristic::DistanceTable;
use crate::service::distance::{Distance, is_known_soon};
use crate::service::tables::Tables;

/// Distribution of a random board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Uniform over all boards from which the goal is reachable.
    Uniform,
    /// A random walk of so many moves from the goal, none of which undoes the one before.
    Walk(u32),
    /// Uniform over all boards whose optimal length is in the range.
    Length(RangeInclusive<u32>),
}

/// A random board and its distance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DrawnBoard {
    /// The board.
    pub board: Board,
    /// Bounds on its optimal length.
    pub distance: Distance,
    /// [Percentile](Distance::percentile) of the board, if known.
    pub percentile: Option<f64>,
}

/// Reason why no board can be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrawError {
    /// Optimal lengths of boards of this size are unknown.
    LengthsUnknown(Size),
    /// No board has an optimal length in the range; holds the greatest one.
    NoSuchLength(u32),
}

/// ChaCha with 8 rounds (Bernstein 2008), keyed with the SHA-256 of the seed's UTF-8 bytes. It never changes: a seed
/// always gives the same board.
struct Seeded(ChaCha8Rng);

impl Seeded {
    fn new(seed: &str) -> Self {
        Self(ChaCha8Rng::from_seed(Sha256::digest(seed.as_bytes()).into()))
    }
}

impl RandomSource for Seeded {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// True if drawing takes less than half a millisecond: a short walk, and bounds that are known soon.
pub(crate) fn is_instant(goal: &Board, how: &Draw, tables: &Tables) -> bool {
    /// Tens of microseconds on the largest board.
    const INSTANT_WALK: u32 = 1_000;
    let is_short = !matches!(how, Draw::Walk(moves) if *moves > INSTANT_WALK);
    is_short && is_known_soon(goal, tables)
}

/// Draws a board for a goal; equal seeds draw equal boards.
///
/// # Errors
/// See [`DrawError`]; only [`Draw::Length`] fails.
pub fn draw(goal: &Board, how: &Draw, seed: &str, tables: &Tables) -> Result<DrawnBoard, DrawError> {
    let mut random = Seeded::new(seed);
    let table = DistanceTable::serves(goal.size()).then(|| tables.distances(goal.size(), goal.blank()));
    let board = match how {
        Draw::Uniform => random_board(goal, &mut random),
        Draw::Walk(moves) => random_walk(goal, *moves, &mut random),
        Draw::Length(lengths) => {
            let table = table.ok_or(DrawError::LengthsUnknown(goal.size()))?;
            let histogram = table.histogram();
            let boards = (0..).zip(histogram).filter(|(length, _)| lengths.contains(length));
            let count: u64 = boards.map(|(_, boards)| *boards).sum();
            if count == 0 {
                return Err(DrawError::NoSuchLength(histogram.len() as u32 - 1));
            }
            table
                .board_at(lengths.clone(), random.below(count), goal)
                .ok_or(DrawError::NoSuchLength(histogram.len() as u32 - 1))?
        }
    };
    let puzzle = Puzzle::try_new(board, *goal).expect("a drawn board can reach its goal");
    // The walk reversed is a solution.
    let walked = if let Draw::Walk(moves) = how { *moves } else { u32::MAX };
    let distance = Distance::of(&puzzle, tables).at_most(walked);
    Ok(DrawnBoard { board, distance, percentile: distance.percentile(goal, tables) })
}

/// Returns a new seed: 64 random bits in hexadecimal.
///
/// # Errors
/// If the operating system provides no randomness.
pub fn fresh_seed() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}", getrandom::u64()?))
}
