//! Random boards from named seeds.

use std::ops::RangeInclusive;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use crate::domain::{Board, Puzzle, RandomSource, Size, random_board, random_walk};
use crate::search::heuristic::DistanceTable;
use crate::service::distance::Distance;
use crate::service::tables::Tables;

/// How to draw a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Draw {
    /// Uniformly from all boards that the goal can be reached from.
    Uniform,
    /// By so many random moves from the goal, none of which takes the one before it back.
    Walk(u32),
    /// Uniformly from all boards whose optimal length lies in the range.
    Length(RangeInclusive<u32>),
}

/// A board drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Drawn {
    /// The board.
    pub board: Board,
    /// What is proven of its optimal length.
    pub distance: Distance,
}

/// Why no board can be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DrawError {
    /// Optimal lengths of boards of this shape are not known.
    LengthsUnknown(Size),
    /// No board has an optimal length in the range; the greatest there is.
    NoSuchLength(u32),
}

/// ChaCha with 8 rounds (Bernstein 2008) from the SHA-256 of the seed's UTF-8 bytes: fixed for
/// good, since people keep seeds.
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

/// Whether a draw takes microseconds: a walk not too long, and a table at hand that tells its length.
pub(super) fn is_instant(goal: &Board, how: &Draw, tables: &Tables) -> bool {
    /// Some tens of microseconds on the largest board.
    const INSTANT_WALK: u32 = 1_000;
    let is_short = !matches!(how, Draw::Walk(moves) if *moves > INSTANT_WALK);
    is_short && tables.has_distances(goal.size(), goal.blank())
}

/// Draws a board for a goal; the same seed draws the same board.
///
/// # Errors
/// See [`DrawError`]; only [`Draw::Length`] fails.
pub fn draw(goal: &Board, how: &Draw, seed: &str, tables: &Tables) -> Result<Drawn, DrawError> {
    let mut random = Seeded::new(seed);
    let table = DistanceTable::serves(goal.size()).then(|| tables.distances(goal.size(), goal.blank()));
    let board = match how {
        Draw::Uniform => random_board(goal, &mut random),
        Draw::Walk(moves) => random_walk(goal, *moves, &mut random),
        Draw::Length(lengths) => {
            let table = table.ok_or(DrawError::LengthsUnknown(goal.size()))?;
            let histogram = table.histogram();
            let boards = (0..).zip(histogram).filter(|(length, _)| lengths.contains(length));
            let count: u64 = boards.map(|(_, boards)| u64::from(*boards)).sum();
            if count == 0 {
                return Err(DrawError::NoSuchLength(histogram.len() as u32 - 1));
            }
            table
                .board_at(lengths.clone(), random.below(count), goal)
                .ok_or(DrawError::NoSuchLength(histogram.len() as u32 - 1))?
        }
    };
    let puzzle = Puzzle::try_new(board, *goal).expect("what is drawn can reach its goal");
    // One may walk back.
    let walked = if let Draw::Walk(moves) = how { *moves } else { u32::MAX };
    Ok(Drawn { board, distance: Distance::of(&puzzle, tables).at_most(walked) })
}

/// A seed that nobody has seen: 64 random bits in hexadecimal.
///
/// # Errors
/// When the operating system has no randomness to give.
pub fn fresh_seed() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}", getrandom::u64()?))
}
