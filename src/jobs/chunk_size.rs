//! Boards of a chunk, from the cost of a sample.

use std::convert::Infallible;
use std::time::Duration;

use taquin_solver::{Board, Puzzle};

use super::part::MAX_ROWS;
use super::recipe::Recipe;
use crate::service::{Sweep, SweepContext, SweepLimits, Tables, Want};

/// Boards that are solved to estimate the cost of all.
const SAMPLE: u64 = 64;
/// Time that a chunk aims at, on one core: what a killed process loses.
const TARGET: Duration = Duration::from_secs(20);
/// Time below which a chunk is not worth its file.
const LEAST: Duration = Duration::from_millis(500);
/// A job has at least so many chunks if they are not too short, so that all cores have work until its end.
const CHUNKS: u64 = 64;
/// Expansions after which a sample is large enough: about a second.
const SAMPLED_EXPANSIONS: u64 = 25_000_000;
/// Estimated cost of a board without a search, and of an expansion.
const BOARD: Duration = Duration::from_micros(1);
const EXPANSION: Duration = Duration::from_nanos(40);

/// Chooses the number of boards of a chunk, a power of two.
///
/// It counts expansions instead of time. So on all machines equal jobs have equal chunks, and processes that begin a
/// job at once agree.
pub fn chunk_size(tables: &Tables, boards: &SampledBoards, want: Want, limits: SweepLimits) -> u32 {
    let cost = cost_of_board(tables, boards, want, limits, SweepContext::default());
    chunk_of_cost(cost, boards.count)
}

/// Chooses the number of boards of a chunk whose boards cost so much.
pub fn chunk_of_cost(board: Duration, count: u64) -> u32 {
    let within = |time: Duration| (time.as_nanos() / board.as_nanos().max(1)) as u64;
    let most = within(TARGET).min((count / CHUNKS).max(within(LEAST)));
    1 << most.clamp(1, MAX_ROWS.into()).ilog2()
}

/// All boards of a job, and some of them.
#[derive(Clone, PartialEq, Debug)]
pub struct SampledBoards {
    goal: Board,
    count: u64,
    sample: Vec<Puzzle>,
}

impl SampledBoards {
    /// Takes a sample of the boards of a recipe.
    pub fn of_recipe(recipe: &Recipe) -> Self {
        let board = |index| Ok::<_, Infallible>(Some(recipe.board(index)));
        let Ok(sampled) = Self::try_new(*recipe.goal(), recipe.count(), board);
        sampled
    }

    /// Takes a sample of so many boards of a goal. `board` returns the board of an index, unless the row is none.
    ///
    /// # Errors
    /// The first error of `board`.
    pub fn try_new<E>(goal: Board, count: u64, board: impl Fn(u64) -> Result<Option<Puzzle>, E>) -> Result<Self, E> {
        let sampled = count.min(SAMPLE);
        let sample =
            (0..sampled).filter_map(|nth| board(nth * (count / sampled)).transpose()).collect::<Result<_, E>>()?;
        Ok(Self { goal, count, sample })
    }
}

/// Estimates the time of a core for a board, from the expansions of the sample.
pub fn cost_of_board(
    tables: &Tables,
    boards: &SampledBoards,
    want: Want,
    limits: SweepLimits,
    context: SweepContext<'_>,
) -> Duration {
    let size = boards.goal.size();
    if want == Want::Bounds {
        // That of the constructive solution, which grows with the board.
        return BOARD * size.cells() as u32;
    }
    if !Sweep::serves(Want::Next, size) {
        return limits.requested.time.unwrap_or(Sweep::TIME_OF_LARGE_BOARDS);
    }
    let sweep = Sweep::new(tables, boards.goal, Want::Expanded, limits);
    let expanded = |puzzle: &Puzzle| sweep.label(puzzle, context).ok()?.expanded;
    let (mut sum, mut count) = (0, 0);
    for puzzle in &boards.sample {
        if sum >= SAMPLED_EXPANSIONS {
            break;
        }
        sum += expanded(puzzle).unwrap_or_default();
        count += 1;
    }
    let mean = sum / count.max(1);
    // Each first move beside that of the solution takes another search.
    let searches = if want == Want::Next { 3 } else { 1 };
    BOARD + EXPANSION * (mean * searches).min(u32::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::RequestedLimits;
    use taquin_solver::Size;

    fn size_of(rows: usize, cols: usize, count: u64, want: Want) -> u32 {
        let goal = Board::blank_last(Size::try_from((rows, cols)).unwrap());
        let recipe = Recipe::try_new(goal, "s", count).unwrap();
        let boards = SampledBoards::of_recipe(&recipe);
        chunk_size(&Tables::default(), &boards, want, SweepLimits::of(RequestedLimits::default(), 64 << 20))
    }

    #[test]
    fn cheap_boards_have_large_chunks_and_expensive_ones_small() {
        assert_eq!(size_of(3, 3, 1_000_000_000, Want::Length), MAX_ROWS);
        assert!((1 << 11..=1 << 16).contains(&size_of(4, 4, 1_000_000_000, Want::Length)));
        assert_eq!(size_of(5, 5, 1_000_000_000, Want::Length), 128, "200 boards of 100 ms");
    }

    #[test]
    fn small_jobs_have_enough_chunks_for_many_cores() {
        assert_eq!(size_of(5, 5, 640, Want::Length), 8);
        assert_eq!(size_of(5, 5, 1, Want::Length), 4, "half a second");
        assert!(size_of(3, 4, 1_000_000, Want::Next) <= 1_000_000 / 64);
    }
}
