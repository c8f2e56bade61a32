//! Selects the number of boards in a chunk. The number depends on the cost of the searches for a sample of boards.

use std::convert::Infallible;
use std::time::Duration;

use taquin_solver::{Board, Puzzle, TableSource};

use crate::batch_solver::BatchSolver;
use crate::label::{LabelControl, LabelLimits, Want};
use crate::part::MAX_ROWS;
use crate::recipe::Recipe;

/// Maximum number of boards in a sample.
const SAMPLE: u64 = 64;
/// Target time of a chunk on one core. A killed process loses at most about this amount of work per core.
const TARGET: Duration = Duration::from_secs(20);
/// Approximate minimum time of a chunk on one core. For shorter chunks, a file per chunk would cost too much.
const LEAST: Duration = Duration::from_millis(500);
/// Minimum number of chunks, so that all cores have work until the end of the job. A job has fewer chunks if more
/// chunks would take less time than `LEAST` each.
const CHUNKS: u64 = 64;
/// Number of expansions after which no further board of the sample is searched. These expansions take about a second.
const SAMPLED_EXPANSIONS: u64 = 25_000_000;
/// Estimated time for a board, without the expansions of a search. For [`Want::Bounds`], the estimate for a board is
/// this time multiplied by the number of cells.
const BOARD: Duration = Duration::from_micros(1);
/// Estimated time for an expansion.
const EXPANSION: Duration = Duration::from_nanos(40);

/// Selects the number of boards in a chunk. The number is a power of two, and is at most [`MAX_ROWS`].
///
/// The number follows from [`cost_of_board`], which counts expansions instead of measuring time. So processes that
/// start the same job select the same number on any machine, under two conditions: the processes have the same tables
/// and the same memory for a search, and no time limit ends a search of the sample.
pub fn chunk_size(tables: &dyn TableSource, boards: &SampledBoards, want: Want, limits: LabelLimits) -> u32 {
    let cost = cost_of_board(tables, boards, want, limits, LabelControl::default());
    chunk_of_cost(cost, boards.count)
}

/// Selects the number of boards in a chunk. The number is a power of two, and is at most [`MAX_ROWS`]. `board` is the
/// time for one board on one core, and `count` is the number of rows of the job.
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

    /// Takes a sample of at most 64 of the `count` rows of a job with this goal. The parameter of `board` is the index
    /// of a row, counted from 0. `board` returns the board of the row; `None` for an invalid row. The sample has no
    /// invalid rows.
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

/// Estimates the time for a board on one core.
///
/// In general, the estimate follows from the mean number of expansions for a board of the sample. A failed or cancelled
/// search counts as 0 expansions. There are two exceptions. Bounds take a time that depends only on the size of the
/// board. For other labels on boards of more than 16 cells, the estimate is the requested or default time limit of a
/// search, because most searches run until the limit.
pub fn cost_of_board(
    tables: &dyn TableSource,
    boards: &SampledBoards,
    want: Want,
    limits: LabelLimits,
    control: LabelControl<'_>,
) -> Duration {
    let size = boards.goal.size();
    if want == Want::Bounds {
        // The constructive solution takes longer on larger boards.
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
    // `next` needs a search for each legal move, and a board has about three legal moves.
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
