//! Random boards from named seeds.

use std::ops::RangeInclusive;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use super::{Tables, solver};
use crate::domain::{Board, Puzzle, RandomSource, Size, Word, random_board, random_walk};
use crate::search::Space;
use crate::search::heuristic::DistanceTable;

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
    /// Its optimal length, where that is known without a search.
    pub length: Option<u32>,
    /// No solution is shorter: proven.
    pub lower_bound: u32,
    /// There is a solution of no more moves: proven.
    pub upper_bound: u32,
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
    is_short && DistanceTable::serves(goal.size()) && tables.has_distances(goal.size(), goal.blank())
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
    let length = table.map(|table| u32::from(table.distance(&Space::<Word>::new(&puzzle).start())));
    let (lower_bound, upper_bound) = length.map_or_else(|| bounds(&puzzle, how), |length| (length, length));
    Ok(Drawn { board, length, lower_bound, upper_bound })
}

/// What is proven of a board's optimal length: linear conflict below; above, what it takes to construct a solution, or to
/// walk back.
fn bounds(puzzle: &Puzzle, how: &Draw) -> (u32, u32) {
    let (lower_bound, path) = solver::bounds(puzzle);
    let walked = if let Draw::Walk(moves) = how { *moves } else { u32::MAX };
    (lower_bound, walked.min(path.len() as u32))
}

/// A seed that nobody has seen: 64 random bits in hexadecimal.
///
/// # Errors
/// When the operating system has no randomness to give.
pub fn fresh_seed() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}", getrandom::u64()?))
}
