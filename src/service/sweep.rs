//! Many boards of one goal, solved one after another on the caller's thread.
//!
//! A request solves one board, with a queue, an event and a metric for it. A sweep has none of these: it takes the
//! tables once, and returns figures instead of a report.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use taquin_solver::heuristic::{DistanceTable, GoalClass, Tier};
use taquin_solver::search::Helpers;
use taquin_solver::solver::{SearchTables, nodes_within, solve_with};
use taquin_solver::tables::PatternTables;
use taquin_solver::{
    Board, Control, Distance, Limits, Move, MoveSet, Packed, Packed64, Path, Plan, Puzzle, Report, SearchRequest, Size,
    StopReason, TableSource, WrongSolution, named,
};
use tokio::time::timeout;
use tracing::Level;

use crate::service::job::{RequestedLimits, ServiceError};
use crate::service::metrics::Metrics;
use crate::service::pool::SliceContext;
use crate::service::tables::Tables;

/// What a sweep finds out about each board.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Want {
    /// The optimal length.
    #[default]
    Length,
    /// An optimal solution.
    Moves,
    /// The optimal length, and all first moves of optimal solutions.
    Next,
    /// A lower bound by linear conflict and the length of a constructed solution, without a search. Both are the
    /// optimal length where there is a distance table.
    Bounds,
    /// The optimal length, and the number of nodes that the search expanded.
    Expanded,
}

named!(Want {
    Length => "length",
    Moves => "moves",
    Next => "next",
    Bounds => "bounds",
    Expanded => "expanded",
});

/// What is known about a board after its turn in a sweep.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Proven lower bound on the optimal length.
    pub lower_bound: u32,
    /// Length of the shortest solution found.
    pub length: u32,
    /// All first moves of optimal solutions, for [`Want::Next`]; none at the goal. `None` if a limit ended the search.
    pub next: Option<MoveSet>,
    /// Nodes that the search expanded, for [`Want::Expanded`].
    pub expanded: Option<u64>,
    /// The solution, for [`Want::Moves`].
    pub path: Option<Path>,
}

impl Label {
    /// True if the length is proven optimal.
    pub fn is_optimal(&self) -> bool {
        self.length == self.lower_bound
    }

    fn of(distance: Distance) -> Self {
        let Distance { lower_bound, upper_bound, .. } = distance;
        Self { lower_bound, length: upper_bound, next: None, expanded: None, path: None }
    }
}

/// Why a board has no label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SweepError {
    /// A cancel flag is raised.
    Cancelled,
    /// The search failed, which is a bug.
    Failed(ServiceError),
}

impl SweepError {
    /// The solution does not replay, or is shorter than proven possible.
    pub const WRONG_SOLUTION: Self = Self::Failed(ServiceError::WrongSolution(WrongSolution));
    const PANICKED: Self = Self::Failed(ServiceError::Failed("a search panicked"));

    /// Logs a failed search, and counts it if it panicked.
    pub fn report(self, puzzle: &Puzzle, metrics: &Metrics) {
        let Self::Failed(error) = self else { return };
        tracing::event!(
            target: "taquin::bulk",
            Level::ERROR,
            message = "board failed",
            puzzle.size = %puzzle.size(),
            puzzle.start = %puzzle.start(),
            %error,
        );
        if self == Self::PANICKED {
            metrics.panicked();
        }
    }
}

/// The pattern tables that the searches of a sweep begin with.
#[derive(Clone, Debug, Default)]
pub struct SweepTables {
    /// `None` if there are none, or if the first search loads them.
    patterns: Option<Arc<PatternTables>>,
    /// True if the searches do without them, for want of memory.
    are_missing: bool,
}

/// Solves boards of one goal.
#[derive(Debug)]
pub struct Sweep<'t> {
    want: Want,
    goal: Board,
    plan: Plan,
    limits: Limits,
    tables: SearchTables<'t>,
}

/// Limits of the searches of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepLimits {
    /// The requested ones. Boards of more than 16 cells have a time limit without a request too.
    pub requested: RequestedLimits,
    /// Longest time of a board, whatever is requested.
    pub most_time: Duration,
    /// Memory for the nodes of a search, in bytes.
    pub memory: u64,
}

/// Whatever pauses or stops a sweep.
#[derive(Clone, Copy, Debug, Default)]
pub struct SweepContext<'a> {
    /// The sweep stops when any of these flags is raised.
    pub cancel: &'a [&'a AtomicBool],
    /// Pauses the sweep for more important work.
    pub helpers: Option<&'a dyn Helpers>,
}

impl<'a> From<&'a SliceContext<'_>> for SweepContext<'a> {
    fn from(slice: &'a SliceContext<'_>) -> Self {
        Self { cancel: slice.cancel(), helpers: Some(slice.helpers()) }
    }
}

impl<'t> Sweep<'t> {
    /// Default time limit of a board above 16 cells, whose solutions are improved as long as time is left.
    pub const TIME_OF_LARGE_BOARDS: Duration = Duration::from_millis(100);

    /// True if a sweep can find out about boards of this shape: first moves need proven distances.
    pub fn serves(want: Want, size: Size) -> bool {
        want != Want::Next || Plan::is_proven_by_auto(size)
    }

    /// True if a sweep uses tables of its goal. Those of patterns take seconds to build, and bounds do not need them.
    pub fn uses_tables(want: Want, size: Size) -> bool {
        want != Want::Bounds || DistanceTable::serves(size)
    }

    /// Prepares a sweep of boards that have the goal's shape.
    ///
    /// # Panics
    /// If the sweep does not [serve](Self::serves) the shape.
    pub fn new(tables: &'t Tables, goal: Board, want: Want, limits: SweepLimits) -> Self {
        Self::with_tables(tables, goal, want, limits, SweepTables::default())
    }

    fn with_tables(tables: &'t Tables, goal: Board, want: Want, limits: SweepLimits, own: SweepTables) -> Self {
        let SweepLimits { requested, most_time, memory } = limits;
        let size = goal.size();
        assert!(Self::serves(want, size), "first moves are known up to 16 cells");
        let plan = if own.are_missing { Plan::auto(size).without_tables() } else { Plan::auto(size) };
        let default = plan.uses_all_time().then_some(Self::TIME_OF_LARGE_BOARDS);
        let time = requested.time.or(default).unwrap_or(Duration::MAX).min(most_time);
        let nodes = nodes_within(memory, size, plan.algorithm, plan.heuristic) / plan.node_budget_divisor();
        let limits = Limits {
            time,
            expanded: requested.expanded.unwrap_or(u64::MAX),
            nodes: requested.nodes.unwrap_or(u64::MAX).min(nodes),
        };
        Self { want, goal, plan, limits, tables: SearchTables::with_patterns(tables, own.patterns) }
    }

    /// The goal of all boards.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// What it finds out.
    pub fn want(&self) -> Want {
        self.want
    }

    /// Finds out about one board.
    ///
    /// # Errors
    /// See [`SweepError`].
    ///
    /// # Panics
    /// If the puzzle has another goal.
    pub fn label(&self, puzzle: &Puzzle, context: SweepContext<'_>) -> Result<Label, SweepError> {
        assert_eq!(*puzzle.goal(), self.goal, "a sweep has one goal");
        let search = || match self.want {
            Want::Bounds => Ok(Label::of(Distance::of(puzzle, self.tables.tables().small()))),
            Want::Length => match Distance::exact(puzzle, self.tables.tables().small()) {
                Some(length) => Ok(Label::of(Distance::proven(length))),
                None => self.solved(puzzle, context).map(|(label, _)| label),
            },
            Want::Next => match Distance::exact(puzzle, self.tables.tables().small()) {
                Some(length) => Ok(self.with_next_by_table(puzzle, length)),
                None => self.with_next_by_search(puzzle, context),
            },
            Want::Moves => self.solved(puzzle, context).map(|(label, path)| Label { path: Some(path), ..label }),
            Want::Expanded => {
                let report = self.report(self.job(puzzle), context)?;
                Ok(Label { expanded: Some(report.stats.expanded), ..self.of_report(&report)?.0 })
            }
        };
        catch_unwind(AssertUnwindSafe(search)).unwrap_or(Err(SweepError::PANICKED))
    }

    fn job(&self, puzzle: &Puzzle) -> SearchRequest {
        SearchRequest::new(*puzzle, self.plan, self.limits)
    }

    fn report(&self, job: SearchRequest, context: SweepContext<'_>) -> Result<Report, SweepError> {
        let time = self.limits.time;
        let deadline = (time != Duration::MAX).then(|| Instant::now() + time);
        let SweepContext { cancel, helpers } = context;
        let context = Control { deadline, cancel, helpers, ..Control::default() };
        let report = solve_with(&job, &self.tables, context).map_err(ServiceError::from).map_err(SweepError::Failed)?;
        if report.stopped == Some(StopReason::Cancelled) { Err(SweepError::Cancelled) } else { Ok(report) }
    }

    /// The label and the solution of a report. `auto` always finds a solution.
    fn of_report(&self, report: &Report) -> Result<(Label, Path), SweepError> {
        let none = SweepError::Failed(ServiceError::Failed("there is no solution"));
        let solution = report.solution.as_ref().ok_or(none)?;
        let (lower_bound, length) = (report.lower_bound, solution.path.len() as u32);
        Ok((Label { lower_bound, length, next: None, expanded: None, path: None }, solution.path.clone()))
    }

    fn solved(&self, puzzle: &Puzzle, context: SweepContext<'_>) -> Result<(Label, Path), SweepError> {
        let report = self.report(self.job(puzzle), context)?;
        self.of_report(&report)
    }

    fn with_next_by_table(&self, puzzle: &Puzzle, length: u32) -> Label {
        let is_nearer = |mv: &Move| {
            let distance = after(puzzle, *mv).and_then(|puzzle| Distance::exact(&puzzle, self.tables.tables().small()));
            distance.is_some_and(|distance| distance < length)
        };
        let next = puzzle.start().moves().filter(is_nearer).collect();
        Label { next: Some(next), ..Label::of(Distance::proven(length)) }
    }

    /// Adds the first moves. That of the solution is one; a search decides each other one by looking for a solution
    /// that is as long.
    fn with_next_by_search(&self, puzzle: &Puzzle, context: SweepContext<'_>) -> Result<Label, SweepError> {
        let (label, path) = self.solved(puzzle, context)?;
        if !label.is_optimal() {
            return Ok(label);
        }
        let Some(first) = path.moves().first().copied() else {
            return Ok(Label { next: Some(MoveSet::EMPTY), ..label });
        };
        let mut next = MoveSet::EMPTY.with(first);
        for mv in puzzle.start().moves().filter(|mv| *mv != first) {
            let Some(child) = after(puzzle, mv) else { continue };
            let plan = Plan::within(puzzle.size(), label.length - 1);
            let report = self.report(SearchRequest::new(child, plan, self.limits), context)?;
            match report.stopped {
                None => next = next.with(mv),
                Some(StopReason::Depth) => {}
                Some(_) => return Ok(label),
            }
        }
        Ok(Label { next: Some(next), ..label })
    }
}

/// Sweeps of boards with any goals. When the goal changes, it takes the tables anew, and keeps no others from eviction.
#[derive(Debug)]
pub struct MixedSweep<'t> {
    tables: &'t Tables,
    want: Want,
    limits: SweepLimits,
    sweep: Option<Sweep<'t>>,
}

impl<'t> MixedSweep<'t> {
    /// Prepares sweeps, as [`Sweep::new`] does.
    pub fn new(tables: &'t Tables, want: Want, limits: SweepLimits) -> Self {
        Self { tables, want, limits, sweep: None }
    }

    /// The sweep of a goal; `None` if it does not [serve](Sweep::serves) the shape. If it is not that of the last call,
    /// `load` loads the tables, if it uses any.
    pub fn of(&mut self, goal: &Board, load: impl FnOnce() -> SweepTables) -> Option<&Sweep<'t>> {
        if !Sweep::serves(self.want, goal.size()) {
            return None;
        }
        // The former one keeps its tables from eviction.
        let _ = self.sweep.take_if(|sweep| sweep.goal() != goal);
        let load = || if Sweep::uses_tables(self.want, goal.size()) { load() } else { SweepTables::default() };
        let new = || Sweep::with_tables(self.tables, *goal, self.want, self.limits, load());
        Some(self.sweep.get_or_insert_with(new))
    }
}

impl SweepLimits {
    /// These limits, and no others but the memory of a search.
    pub fn of(requested: RequestedLimits, memory: u64) -> Self {
        Self { requested, most_time: Duration::MAX, memory }
    }
}

/// The puzzle after a legal move.
fn after(puzzle: &Puzzle, mv: Move) -> Option<Puzzle> {
    let mut board = *puzzle.start();
    board.make(mv)?;
    Puzzle::try_new(board, *puzzle.goal()).ok()
}

impl Tables {
    /// Loads the tables that sweeps of a goal use, of a tier at most. It takes up to some seconds, and microseconds if
    /// they are loaded.
    pub fn load_for(&self, goal: &Board, want: Want, tier: Tier) {
        let (size, goal_blank) = (goal.size(), goal.blank());
        if !Sweep::uses_tables(want, size) {
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

    /// The tables of sweeps of a goal, if they are loaded or it has none.
    pub fn loaded_for(&self, goal: &Board) -> Option<SweepTables> {
        let (size, goal_blank) = (goal.size(), goal.blank());
        if DistanceTable::serves(size) {
            return self.small().has_distances(size, goal_blank).then(SweepTables::default);
        }
        if !Plan::auto(size).uses_patterns() {
            return Some(SweepTables::default());
        }
        let class = GoalClass::of(size, goal_blank);
        let is_loaded = self.loaded_patterns(class).is_some();
        is_loaded.then(|| SweepTables { patterns: Some(self.patterns(class)), are_missing: false })
    }

    /// Loads the tables of sweeps of a goal within the memory for tables, as searches of requests do. On small boards
    /// it waits so long for memory; on large ones the searches do without tables if there is none.
    pub async fn load_within_memory(&self, goal: &Board, wait: Duration) -> SweepTables {
        let (size, goal_blank) = (goal.size(), goal.blank());
        if let Some(loaded) = self.loaded_for(goal) {
            return loaded;
        }
        if DistanceTable::serves(size) {
            self.small().distances(size, goal_blank);
            return SweepTables::default();
        }
        let waits_for_memory = size.cells() <= Packed64::MAX_CELLS;
        let patterns = timeout(wait, self.ready_patterns(size, goal_blank, waits_for_memory)).await;
        let patterns = patterns.ok().and_then(Result::ok);
        SweepTables { are_missing: patterns.is_none(), patterns }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;
    use crate::service::metrics::{BoardCounts, Metrics};
    use crate::service::pool::{BulkSettings, BulkWork, Pool, PoolSettings, SearchMemory, Slice, SliceEnd};
    use taquin_solver::{SplitMix, random_board};

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    fn label(tables: &Tables, want: Want, puzzle: &Puzzle, requested: RequestedLimits) -> Label {
        let sweep = Sweep::new(tables, *puzzle.goal(), want, SweepLimits::of(requested, 64 << 20));
        sweep.label(puzzle, SweepContext::default()).unwrap()
    }

    #[test]
    fn tables_are_loaded_only_where_they_are_used() {
        let tables = Tables::default();
        for (want, sides, expected) in [
            (Want::Bounds, (5, 5), 0),
            (Want::Bounds, (4, 4), 0),
            (Want::Bounds, (3, 3), 1),
            (Want::Length, (5, 5), 1),
            (Want::Next, (4, 4), 1),
        ] {
            let (mut loads, goal) = (0, Board::snail(size(sides.0, sides.1)));
            let mut sweep = MixedSweep::new(&tables, want, SweepLimits::of(RequestedLimits::default(), 1 << 20));
            let load = || {
                loads += 1;
                SweepTables::default()
            };
            assert!(sweep.of(&goal, load).is_some());
            assert_eq!(loads, expected, "{want:?} on {sides:?}");
        }
    }

    #[test]
    fn all_wants_agree_on_boards_with_and_without_a_distance_table() {
        let (tables, mut random) = (Tables::default(), SplitMix(3));
        for size in [size(3, 3), size(2, 4), size(3, 4)] {
            let goal = Board::snail(size);
            for _ in 0..40 {
                let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
                let of = |want| label(&tables, want, &puzzle, RequestedLimits::default());
                let length = of(Want::Length);
                assert!(length.is_optimal() && length.next.is_none() && length.path.is_none());
                let moves = of(Want::Moves);
                let path = moves.path.clone().unwrap();
                assert!(path.replay(&puzzle).is_ok() && path.len() as u32 == length.length);
                assert_eq!(Label { path: None, ..moves }, length);
                let expanded = of(Want::Expanded);
                assert!(expanded.expanded.is_some_and(|expanded| expanded >= u64::from(length.length)));
                let bounds = of(Want::Bounds);
                assert!(bounds.lower_bound <= length.length && length.length <= bounds.length);
                // The slow way: a move is a first move if the board after it is one nearer.
                let is_first = |mv: &Move| {
                    let child = after(&puzzle, *mv).unwrap();
                    label(&tables, Want::Length, &child, RequestedLimits::default()).length < length.length
                };
                let first: MoveSet = puzzle.start().moves().filter(is_first).collect();
                assert_eq!(of(Want::Next), Label { next: Some(first), ..length });
            }
        }
    }

    #[test]
    fn there_is_no_first_move_at_the_goal() {
        let tables = Tables::default();
        for size in [size(3, 3), size(3, 4)] {
            let goal = Board::blank_last(size);
            let puzzle = Puzzle::try_new(goal, goal).unwrap();
            let at_goal = label(&tables, Want::Next, &puzzle, RequestedLimits::default());
            assert_eq!((at_goal.length, at_goal.next), (0, Some(MoveSet::EMPTY)));
        }
    }

    #[test]
    fn a_limit_leaves_a_solution_that_is_not_proven() {
        let (tables, mut random) = (Tables::default(), SplitMix(4));
        let requested = RequestedLimits { expanded: Some(1), ..RequestedLimits::default() };
        for (size, want) in [(size(4, 4), Want::Next), (size(4, 4), Want::Moves), (size(5, 5), Want::Length)] {
            let goal = Board::blank_last(size);
            let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
            let label = label(&tables, want, &puzzle, requested);
            assert!(!label.is_optimal() && label.length > label.lower_bound && label.next.is_none(), "{label:?}");
        }
        assert!(!Sweep::serves(Want::Next, size(5, 5)) && Sweep::serves(Want::Moves, size(5, 5)));
    }

    #[test]
    fn a_mixed_sweep_finds_what_sweeps_of_each_goal_find() {
        let (tables, mut random) = (Tables::default(), SplitMix(6));
        let limits = SweepLimits::of(RequestedLimits::default(), 64 << 20);
        let mut mixed = MixedSweep::new(&tables, Want::Next, limits);
        for _ in 0..5 {
            for goal in [Board::snail(size(3, 3)), Board::blank_last(size(3, 3)), Board::blank_last(size(2, 5))] {
                let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
                let expected = label(&tables, Want::Next, &puzzle, RequestedLimits::default());
                let sweep = mixed.of(&goal, SweepTables::default).unwrap();
                assert_eq!(sweep.label(&puzzle, SweepContext::default()), Ok(expected));
                mixed.of(&goal, || panic!("the tables are loaded"));
            }
        }
        assert!(mixed.of(&Board::blank_last(size(5, 5)), SweepTables::default).is_none());
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
            let mut mixed =
                MixedSweep::new(&tables, Want::Bounds, SweepLimits::of(RequestedLimits::default(), 1 << 20));
            let sweep = mixed.of(&goal, || loaded).unwrap();
            let puzzle = Puzzle::try_new(random_board(&goal, &mut SplitMix(8)), goal).unwrap();
            assert!(sweep.label(&puzzle, SweepContext::default()).is_ok());
        }
        assert!(tables.loaded_for(&Board::blank_last(size(5, 5))).is_none());
        assert!(tables.loaded_for(&Board::blank_last(size(3, 5))).is_some());
    }

    #[test]
    fn a_raised_flag_ends_a_search() {
        let (tables, mut random) = (Tables::default(), SplitMix(5));
        let goal = Board::blank_last(size(4, 4));
        let limits = SweepLimits::of(RequestedLimits::default(), 64 << 20);
        let sweep = Sweep::new(&tables, goal, Want::Length, limits);
        let context = SweepContext { cancel: &[&AtomicBool::new(true)], helpers: None };
        let boards = (0..20).map(|_| Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
        let labels: Vec<_> = boards.map(|puzzle| sweep.label(&puzzle, context)).collect();
        assert!(labels.contains(&Err(SweepError::Cancelled)), "searches of 512 expansions and more are stopped");
    }

    /// Labels one board of a large shape until it is cancelled.
    struct Endless {
        tables: Tables,
        puzzle: Puzzle,
        ends: Mutex<Vec<Result<Label, SweepError>>>,
    }

    impl BulkWork for Endless {
        fn run_slice(&self, context: &SliceContext<'_>) -> Slice {
            let requested = RequestedLimits { time: Some(Duration::from_secs(3600)), ..RequestedLimits::default() };
            let limits = SweepLimits::of(requested, 8 << 20);
            let sweep = Sweep::new(&self.tables, *self.puzzle.goal(), Want::Length, limits);
            let end = sweep.label(&self.puzzle, SweepContext::from(context));
            self.ends.lock().push(end);
            Slice { end: SliceEnd::Done, boards: BoardCounts::default() }
        }

        fn aborted(&self, error: ServiceError) {
            panic!("{error}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_sweep_in_bulk_work_pauses_for_jobs_and_ends_with_its_handle() {
        let goal = Board::blank_last(size(5, 5));
        let puzzle = Puzzle::try_new(random_board(&goal, &mut SplitMix(6)), goal).unwrap();
        let work = Arc::new(Endless { tables: Tables::default(), puzzle, ends: Mutex::default() });
        let memory = SearchMemory { shared: 1 << 30, small: 1 << 20, light: 1 << 20 };
        let bulk = BulkSettings { workers: 1, search_memory: 8 << 20 };
        let settings =
            PoolSettings { workers: 1, queue: 1, threads: 4, memory, results: 1 << 20, bulk, before_search: None };
        let pool = Pool::new(settings, Arc::default(), Metrics::default());
        let handle = pool.bulk(Arc::clone(&work) as Arc<dyn BulkWork>).unwrap();
        while pool.load().bulk == 0 {
            tokio::task::yield_now().await;
        }
        for _ in 0..3 {
            // There is one worker.
            assert_eq!(pool.run_work(Duration::from_secs(3600), 0, |_| 7).await, Ok(7));
        }
        assert!(pool.bulk_load().slices == 1 && work.ends.lock().is_empty());
        drop(handle);
        while pool.bulk_load().slices > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*work.ends.lock(), [Err(SweepError::Cancelled)]);
    }
}
