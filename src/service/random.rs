//! Random boards from seeds.

mod lengths;

use std::ops::RangeInclusive;
use std::sync::Arc;

use taquin_bulk::Seeded;
use taquin_solver::heuristic::DistanceTable;
use taquin_solver::solver::{SearchTables, bytes_for};
use taquin_solver::tables::PatternTables;
use taquin_solver::{
    Board, Control, Distance, Metric, Puzzle, RandomSource, random_board, random_permutation, random_unsolvable_board,
    random_walk, random_walk_with_turns,
};

use crate::service::instant::is_known_soon;
use crate::service::tables::Tables;
use lengths::{LengthDraw, Wanted, check, choose, proof};

pub use lengths::DrawError;

/// The distribution from which a random board is drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum Draw {
    /// Uniform distribution over all boards with this solvability.
    Uniform(Solvability),
    /// The end of a random walk.
    Walk(Walk),
    /// Boards whose optimal length is in the range. [`DrawnBoard::is_uniform`] tells whether all of these boards are
    /// equally likely.
    Length(RangeInclusive<u32>),
    /// Boards whose percentile is in the range. Otherwise like [`Length`](Self::Length).
    Percentile(RangeInclusive<f64>),
}

/// Tells whether the goal can be reached from a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Solvability {
    /// The goal can be reached.
    #[default]
    Solvable,
    /// The goal cannot be reached.
    Unsolvable,
    /// The goal may or may not be reachable.
    Any,
}

/// A random walk.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Walk {
    /// Number of moves of the walk.
    pub moves: u32,
    /// True if a move may undo the move before.
    pub turns_back: bool,
    /// Start of the walk; `None` to start at the goal.
    pub from: Option<Board>,
}

/// A random board and its distance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DrawnBoard {
    /// The board that was drawn.
    pub board: Board,
    /// Bounds on the optimal length of the board; `None` if the goal cannot be reached.
    pub distance: Option<Distance>,
    /// [Percentile](Distance::percentile) of the board; `None` if unknown.
    pub percentile: Option<f64>,
    /// True if all boards that satisfy the request are equally likely.
    pub is_uniform: bool,
}

/// Returns true if the draw takes less than half a millisecond. For this, the draw must be of one board, with at most a
/// short walk, and the bounds must be available quickly.
pub(crate) fn is_instant(goal: &Board, how: &Draw, count: usize, tables: &Tables) -> bool {
    /// Maximum number of moves. A walk of this length takes tens of microseconds on the largest board.
    const INSTANT_WALK: u32 = 1_000;
    let is_short = !matches!(how, Draw::Walk(walk) if walk.moves > INSTANT_WALK);
    count == 1 && is_short && is_known_soon(goal, tables.small()) && !needs_proof(goal, how)
}

/// Returns true if the draw must prove lengths by searches.
pub(crate) fn needs_proof(goal: &Board, how: &Draw) -> bool {
    matches!(how, Draw::Length(_) | Draw::Percentile(_)) && !DistanceTable::serves(goal.size())
}

/// Returns the error of a draw that must prove lengths and cannot succeed. Returns `None` if a search is necessary to
/// find out.
pub(crate) fn refusal(goal: &Board, how: &Draw, tables: &Tables) -> Option<DrawError> {
    if !needs_proof(goal, how) {
        return None;
    }
    match how.wanted(goal, tables) {
        Ok(Some(wanted)) => choose(goal, &wanted).err(),
        Ok(None) => None,
        Err(error) => Some(error),
    }
}

/// Returns the memory of the searches that prove lengths, in bytes.
pub(crate) fn bytes_for_proofs(goal: &Board, how: &Draw) -> u64 {
    let goal = Puzzle::try_new(*goal, *goal).expect("the goal is its own goal");
    if needs_proof(goal.goal(), how) { bytes_for(&proof(goal, u32::MAX)) } else { 0 }
}

/// Draws a board for a goal with each seed. Equal seeds draw equal boards. `patterns` make the proofs of lengths
/// faster.
///
/// # Errors
/// See [`DrawError`]. Uniform draws and walks fail only if the time ends or the draw is cancelled.
pub(crate) fn draw(
    goal: &Board,
    how: &Draw,
    seeds: &[String],
    (tables, patterns): (&Tables, Option<Arc<PatternTables>>),
    context: Control<'_>,
) -> Result<Vec<DrawnBoard>, DrawError> {
    let has_patterns = patterns.is_some();
    let job_tables = SearchTables::with_patterns(tables, patterns);
    let wanted = how.wanted(goal, tables)?;
    let length_draw = match &wanted {
        Some(wanted) if needs_proof(goal, how) => {
            Some(LengthDraw::new(goal, wanted, (&job_tables, has_patterns), context)?)
        }
        _ => None,
    };
    let draw = |seed: &String| {
        check(&context)?;
        let mut random = Seeded::new(seed);
        match &length_draw {
            Some(length_draw) => {
                let (board, length) = length_draw.draw(&mut random)?;
                let distance = Distance::proven(length);
                Ok(DrawnBoard::new(board, Some(distance), goal, tables).uniform(length_draw.is_uniform()))
            }
            None => draw_at_once(goal, (how, wanted.as_ref()), &mut random, tables),
        }
    };
    seeds.iter().map(draw).collect()
}

/// Draws a board without searches.
fn draw_at_once(
    goal: &Board,
    (how, wanted): (&Draw, Option<&Wanted>),
    random: &mut Seeded,
    tables: &Tables,
) -> Result<DrawnBoard, DrawError> {
    let (board, most) = match how {
        Draw::Uniform(Solvability::Solvable) => (random_board(goal, random), None),
        Draw::Uniform(Solvability::Unsolvable) => (random_unsolvable_board(goal, random), None),
        Draw::Uniform(Solvability::Any) => (random_permutation(goal, random), None),
        Draw::Walk(walk) => {
            let from = walk.from.as_ref().unwrap_or(goal);
            let walker = if walk.turns_back { random_walk_with_turns } else { random_walk };
            // The reversed walk is a solution if the walk started at the goal.
            (walker(from, walk.moves, random), walk.from.is_none().then_some(walk.moves))
        }
        Draw::Length(_) | Draw::Percentile(_) => {
            let lengths = &wanted.expect("these draws want lengths").lengths;
            (board_of_length(goal, lengths, random, tables)?, None)
        }
    };
    let distance = Puzzle::try_new(board, *goal).ok().map(|puzzle| Distance::of(&puzzle, tables.small()));
    let distance = distance.map(|distance| distance.at_most(most.unwrap_or(u32::MAX)));
    Ok(DrawnBoard::new(board, distance, goal, tables).uniform(!matches!(how, Draw::Walk(_))))
}

/// Draws a board whose length is in a range, uniformly, with the distance table of the goal.
fn board_of_length(
    goal: &Board,
    lengths: &RangeInclusive<u32>,
    random: &mut Seeded,
    tables: &Tables,
) -> Result<Board, DrawError> {
    let table = tables.small().distances(goal.size(), goal.blank());
    let histogram = table.histogram();
    let boards = (0..).zip(histogram).filter(|(length, _)| lengths.contains(length));
    let count: u64 = boards.map(|(_, boards)| *boards).sum();
    let none = DrawError::NoSuchLength(histogram.len() as u32 - 1);
    if count == 0 {
        return Err(none);
    }
    table.board_at(lengths.clone(), random.below(count), goal).ok_or(none)
}

impl Draw {
    /// Returns the optimal lengths of a draw. Returns `None` if the draw has neither lengths nor percentiles.
    fn wanted(&self, goal: &Board, tables: &Tables) -> Result<Option<Wanted>, DrawError> {
        let percentiles = match self {
            Self::Length(lengths) => return Ok(Some(Wanted { lengths: lengths.clone(), by_percentile: false })),
            Self::Percentile(percentiles) => percentiles,
            Self::Uniform(_) | Self::Walk(_) => return Ok(None),
        };
        let distribution = tables.small().distribution(Metric::SingleTile, goal.size(), goal.blank());
        let distribution = distribution.ok_or(DrawError::PercentilesUnknown)?;
        let lengths = distribution.lengths_within(percentiles).ok_or_else(|| {
            let all = (0..=distribution.greatest()).map(|length| distribution.percentile(length));
            let greatest = distribution.percentile(distribution.greatest());
            let mut greater = all.filter(|percentile| percentile > percentiles.end());
            DrawError::NoSuchPercentile(greater.next().unwrap_or(greatest))
        })?;
        Ok(Some(Wanted { lengths, by_percentile: true }))
    }
}

impl DrawnBoard {
    fn new(board: Board, distance: Option<Distance>, goal: &Board, tables: &Tables) -> Self {
        let percentile = distance.and_then(|distance| distance.percentile(goal, tables.small()));
        Self { board, distance, percentile, is_uniform: true }
    }

    fn uniform(self, is_uniform: bool) -> Self {
        Self { is_uniform, ..self }
    }
}

/// Returns a new seed: 64 random bits in hexadecimal.
///
/// # Errors
/// If the operating system provides no randomness.
pub fn fresh_seed() -> Result<String, getrandom::Error> {
    Ok(format!("{:016x}", getrandom::u64()?))
}
