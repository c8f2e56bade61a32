//! Chooses the chunk size from the cost of a sample of boards.

use std::convert::Infallible;
use std::time::Duration;

use taquin_solver::{Board, Puzzle, TableSource};

use crate::batch_solver::BatchSolver;
use crate::label::{LabelControl, LabelLimits, Want};
use crate::part::MAX_ROWS;
use crate::recipe::Recipe;

/// Boards of a sample.
const SAMPLE: u64 = 64;
/// Target time of a chunk on one core. A killed process loses about this time on each core.
const TARGET: Duration = Duration::from_secs(20);
/// Minimum time of a chunk, below which a file for each chunk costs too much.
const LEAST: Duration = Duration::from_millis(500);
/// Minimum number of chunks, unless chunks become too short, so that all cores have work until the end of the job.
const CHUNKS: u64 = 64;
/// Expansions after which the sample ends: about a second.
const SAMPLED_EXPANSIONS: u64 = 25_000_000;
/// Estimated cost of a board without a search, and of an expansion.
const BOARD: Duration = Duration::from_micros(1);
const EXPANSION: Duration = Duration::from_nanos(40);

/// Chooses the number of boards of a chunk, a power of two.
///
/// The estimate counts expansions instead of time. So equal jobs have equal chunks on all machines, and processes that
/// start a job together agree.
pub fn chunk_size(tables: &dyn TableSource, boards: &SampledBoards, want: Want, limits: LabelLimits) -> u32 {
    let cost = cost_of_board(tables, boards, want, limits, LabelControl::default());
    chunk_of_cost(cost, boards.count)
}

/// Chooses the number of boards of a chunk from the cost of a board.
pub fn chunk_of_cost(board: Duration, count: u64) -> u32 {
    let within = |time: Duration| (time.as_nanos() / board.as_nanos().max(1)) as u64;
    let most = within(TARGET).min((count / CHUNKS).max(within(LEAST)));
    1 << most.clamp(1, MAX_ROWS.into()).ilog2()
}

/// A sample of the boards of a job.
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

    /// Takes a sample of `count` boards of a goal. `board` returns the board of an index; `None` for an invalid row.
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

/// Estimates the time for a board on one core, from the expansions of the sample.
pub fn cost_of_board(
    tables: &dyn TableSource,
    boards: &SampledBoards,
    want: Want,
    limits: LabelLimits,
    control: LabelControl<'_>,
) -> Duration {
    let size = boards.goal.size();
    if want == Want::Bounds {
        // The cost of the constructive solution grows with the board.
        return BOARD * size.cells() as u32;
    }
    if !Want::Next.serves(size) {
        return limits.requested.time.unwrap_or(LabelLimits::TIME_OF_LARGE_BOARDS);
    }
    let mut solver = BatchSolver::new(tables, Want::Expanded, limits);
    let mut expanded = |puzzle: &Puzzle| solver.label(puzzle, control).ok()?.expanded;
    let (mut sum, mut count) = (0, 0);
    for puzzle in &boards.sample {
        if sum >= SAMPLED_EXPANSIONS {
            break;
        }
        sum += expanded(puzzle).unwrap_or_default();
        count += 1;
    }
    let mean = sum / count.max(1);
    // Every legal move except the first move of the solution needs a search of its own.
    let searches = if want == Want::Next { 3 } else { 1 };
    BOARD + EXPANSION * (mean * searches).min(u32::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::RequestedLimits;
    use taquin_solver::{LazyTables, Size};

    fn size_of(rows: usize, cols: usize, count: u64, want: Want) -> u32 {
        let goal = Board::blank_last(Size::try_from((rows, cols)).unwrap());
        let recipe = Recipe::try_new(goal, "s", count).unwrap();
        let boards = SampledBoards::of_recipe(&recipe);
        chunk_size(&LazyTables::default(), &boards, want, LabelLimits::of(RequestedLimits::default(), 64 << 20))
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
