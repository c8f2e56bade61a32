//! Boards of a chunk, from the cost of a sample.

use std::time::Duration;

use super::part::MAX_ROWS;
use super::recipe::Recipe;
use crate::service::{RequestedLimits, Sweep, SweepContext, Tables, Want};

/// Boards that are solved to estimate the cost of all.
const SAMPLE: u64 = 64;
/// Time that a chunk aims at, on one core: what a killed process loses.
const TARGET: Duration = Duration::from_secs(20);
/// Time below which a chunk is not worth its file.
const LEAST: Duration = Duration::from_millis(500);
/// A job has at least so many chunks if they are not too short, so that all cores have work until its end.
const CHUNKS: u64 = 64;
/// Estimated cost of a board without a search, and of an expansion.
const BOARD: Duration = Duration::from_micros(1);
const EXPANSION: Duration = Duration::from_nanos(40);

/// Chooses the number of boards of a chunk, a power of two.
///
/// It counts expansions instead of time. So on all machines equal jobs have equal chunks, and processes that begin a job
/// at once agree.
pub fn chunk_size(tables: &Tables, recipe: &Recipe, want: Want, limits: RequestedLimits, search_memory: u64) -> u32 {
    let board = cost_of_board(tables, recipe, want, limits, search_memory);
    let within = |time: Duration| (time.as_nanos() / board.as_nanos().max(1)) as u64;
    let most = within(TARGET).min((recipe.count() / CHUNKS).max(within(LEAST)));
    1 << most.clamp(1, MAX_ROWS.into()).ilog2()
}

fn cost_of_board(
    tables: &Tables,
    recipe: &Recipe,
    want: Want,
    limits: RequestedLimits,
    search_memory: u64,
) -> Duration {
    let size = recipe.goal().size();
    if want == Want::Bounds {
        // That of the constructive solution, which grows with the board.
        return BOARD * size.cells() as u32;
    }
    if !Sweep::serves(Want::Next, size) {
        return limits.time.unwrap_or(Sweep::TIME_OF_LARGE_BOARDS);
    }
    let sweep = Sweep::new(tables, *recipe.goal(), Want::Expanded, limits, search_memory);
    let sampled = recipe.count().min(SAMPLE);
    let expanded = (0..sampled).filter_map(|nth| {
        let puzzle = recipe.board(nth * (recipe.count() / sampled));
        sweep.label(&puzzle, SweepContext::default()).ok()?.expanded
    });
    let mean = expanded.sum::<u64>() / sampled;
    // Each first move beside that of the solution takes another search.
    let searches = if want == Want::Next { 3 } else { 1 };
    BOARD + EXPANSION * (mean * searches).min(u32::MAX.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Size};

    fn size_of(rows: usize, cols: usize, count: u64, want: Want) -> u32 {
        let goal = Board::blank_last(Size::try_from((rows, cols)).unwrap());
        let recipe = Recipe::try_new(goal, "s", count).unwrap();
        chunk_size(&Tables::default(), &recipe, want, RequestedLimits::default(), 64 << 20)
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
