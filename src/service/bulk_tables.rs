//! Tables for bulk work, within the memory for tables.

use std::time::Duration;

use taquin_bulk::{LoadedTables, Want};
use taquin_solver::heuristic::{DistanceTable, GoalClass, Tier};
use taquin_solver::{Board, Packed, Packed64, Plan, TableSource};
use tokio::time::timeout;

use crate::service::tables::Tables;

impl Tables {
    /// Loads the tables, up to a tier, that the labelling of boards with this goal uses. Blocks for up to some seconds.
    /// If the tables are loaded, the call takes microseconds.
    pub fn load_for(&self, goal: &Board, want: Want, tier: Tier) {
        let (size, goal_blank) = (goal.size(), goal.blank());
        if !want.uses_tables(size) {
            return;
        }
        if DistanceTable::serves(size) {
            self.small().distances(size, goal_blank);
        } else if Plan::auto(size).uses_patterns() {
            let class = GoalClass::of(size, goal_blank);
            self.patterns(class);
            self.improve(class, tier);
        }
    }

    /// Returns the tables of a goal if the tables are loaded, or if boards of this size use no tables; otherwise
    /// `None`.
    pub fn loaded_for(&self, goal: &Board) -> Option<LoadedTables> {
        let (size, goal_blank) = (goal.size(), goal.blank());
        if DistanceTable::serves(size) {
            return self.small().has_distances(size, goal_blank).then(LoadedTables::default);
        }
        if !Plan::auto(size).uses_patterns() {
            return Some(LoadedTables::default());
        }
        let class = GoalClass::of(size, goal_blank);
        let is_loaded = self.loaded_patterns(class).is_some();
        is_loaded.then(|| LoadedTables { patterns: Some(self.patterns(class)), are_missing: false })
    }

    /// Loads the tables of a goal within the memory for tables, like the searches of requests. The call waits for at
    /// most `wait`. On large boards, the call does not wait for memory that other tables use. If the tables are not
    /// loaded in time, `are_missing` of the result is true, and searches run without the tables.
    pub async fn load_within_memory(&self, goal: &Board, wait: Duration) -> LoadedTables {
        let (size, goal_blank) = (goal.size(), goal.blank());
        if let Some(loaded) = self.loaded_for(goal) {
            return loaded;
        }
        if DistanceTable::serves(size) {
            self.small().distances(size, goal_blank);
            return LoadedTables::default();
        }
        let waits_for_memory = size.cells() <= Packed64::MAX_CELLS;
        let patterns = timeout(wait, self.pattern_cache.get_async(size, goal_blank, waits_for_memory)).await;
        let patterns = patterns.ok().and_then(Result::ok);
        LoadedTables { are_missing: patterns.is_none(), patterns }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use taquin_bulk::{BatchSolver, Label, LabelControl, LabelError, LabelLimits, RequestedLimits};
    use taquin_solver::{Puzzle, Size, SplitMix, random_board};

    use super::*;
    use crate::service::job::ServiceError;
    use crate::service::metrics::{BoardCounts, Metrics};
    use crate::service::pool::{BulkWork, Pool, Slice, SliceContext, SliceEnd};
    use crate::service::settings::ServiceSettings;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    #[test]
    fn tables_of_every_goal_cell_are_loaded() {
        let tables = Tables::default();
        for goal in [Board::blank_last(size(3, 3)), Board::blank_first(size(4, 3)), Board::snail(size(3, 4))] {
            tables.load_for(&goal, Want::Length, Tier::Standard);
            let class = GoalClass::of(goal.size(), goal.blank());
            let has_patterns = tables.loaded_patterns(class).is_some();
            assert!(has_patterns || tables.small().has_distances(goal.size(), goal.blank()), "{goal}");
        }
    }

    #[tokio::test]
    async fn tables_are_loaded_within_the_memory_for_tables() {
        let tables = Tables::with_memory_for(GoalClass::corner_of_4x4());
        for goal in [size(3, 3), size(4, 4), size(3, 5), size(5, 5), size(7, 7)].map(Board::blank_last) {
            let loaded = tables.load_within_memory(&goal, Duration::from_secs(60)).await;
            assert_eq!(loaded.are_missing, goal.size() == size(5, 5), "{goal}");
            let limits = RequestedLimits { expanded: Some(1), ..RequestedLimits::default() };
            let limits = LabelLimits::of(limits, 1 << 20);
            let mut solver = BatchSolver::with_load(&tables, Want::Length, limits, |_| loaded.clone());
            let puzzle = Puzzle::try_new(random_board(&goal, &mut SplitMix(8)), goal).unwrap();
            assert!(solver.label(&puzzle, LabelControl::default()).is_ok());
        }
        assert!(tables.loaded_for(&Board::blank_last(size(5, 5))).is_none());
        assert!(tables.loaded_for(&Board::blank_last(size(3, 5))).is_some());
    }
    /// Bulk work that labels one board of a large shape until the work is cancelled.
    struct Endless {
        tables: Tables,
        puzzle: Puzzle,
        ends: Mutex<Vec<Result<Label, LabelError>>>,
    }

    impl BulkWork for Endless {
        fn run_slice(&self, context: &SliceContext<'_>) -> Slice {
            let requested = RequestedLimits { time: Some(Duration::from_secs(3600)), ..RequestedLimits::default() };
            let limits = LabelLimits::of(requested, 8 << 20);
            let mut solver = BatchSolver::new(&self.tables, Want::Length, limits);
            let end = solver.label(&self.puzzle, context.control(&()));
            self.ends.lock().push(end);
            Slice { end: SliceEnd::Done, boards: BoardCounts::default() }
        }

        fn aborted(&self, error: ServiceError) {
            panic!("{error}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn bulk_work_pauses_for_jobs_and_ends_with_its_handle() {
        let goal = Board::blank_last(size(5, 5));
        let puzzle = Puzzle::try_new(random_board(&goal, &mut SplitMix(6)), goal).unwrap();
        let work = Arc::new(Endless { tables: Tables::default(), puzzle, ends: Mutex::default() });
        let settings = ServiceSettings { workers: 1, ..ServiceSettings::for_tests() };
        let pool = Pool::new(&settings, Arc::default(), Metrics::default());
        let handle = pool.bulk(Arc::clone(&work) as Arc<dyn BulkWork>).unwrap();
        while pool.load().bulk == 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            // The work must yield the only worker. Otherwise the test hangs.
            assert_eq!(pool.run_work(Duration::from_secs(3600), 0, |_| 7).await, Ok(7));
        }
        assert!(pool.bulk_load().slices == 1 && work.ends.lock().is_empty());
        drop(handle);
        while pool.bulk_load().slices > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*work.ends.lock(), [Err(LabelError::Cancelled)]);
    }
}
