//! Labels boards one after another on the caller's thread. Idle threads may help a search.
//!
//! The searches do not pass through the queue of the service, and record no events. The solver loads tables only when
//! the goal changes. The result for a board is a label, not the full report of a search.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use taquin_solver::solver::{SearchTables, nodes_within, solve_with};
use taquin_solver::tables::PatternTables;
use taquin_solver::{
    Board, Control, Distance, Instant, Limits, Move, MoveSet, Path, Plan, Puzzle, Report, SearchRequest, Stats,
    StopReason, TableSource,
};

use crate::label::{Label, LabelControl, LabelError, LabelLimits, Want};

/// The result of an attempt to load the pattern tables of a goal before the searches for the goal.
#[derive(Clone, Debug, Default)]
pub struct LoadedTables {
    /// The tables. `None` if the goal has no pattern tables, if the first search loads the tables, or if `are_missing`
    /// is true.
    pub patterns: Option<Arc<PatternTables>>,
    /// True if the tables cannot be loaded, for example because the memory is too small. The searches then run without
    /// pattern tables.
    pub are_missing: bool,
}

/// A function that loads the tables of the goal that it receives.
type Load<'t> = dyn Fn(&Board) -> LoadedTables + 't;

/// A solver that labels boards with any goals. When the goal changes, the solver first drops the pattern tables of the
/// previous goal, so that a cache can evict these tables. Then the solver loads the tables of the new goal.
pub struct BatchSolver<'t> {
    tables: &'t dyn TableSource,
    want: Want,
    limits: LabelLimits,
    load: Box<Load<'t>>,
    goal: Option<GoalSolver<'t>>,
}

impl fmt::Debug for BatchSolver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { want, limits, goal, .. } = self;
        let mut debug = f.debug_struct("BatchSolver");
        debug.field("want", want).field("limits", limits).field("goal", goal).finish_non_exhaustive()
    }
}

impl<'t> BatchSolver<'t> {
    /// Creates a solver whose first search for a goal loads the tables of the goal.
    pub fn new(tables: &'t dyn TableSource, want: Want, limits: LabelLimits) -> Self {
        Self::with_load(tables, want, limits, |_| LoadedTables::default())
    }

    /// Creates a solver that calls `load` with the goal of the first board, and with each new goal when the goal
    /// changes. If [`Want::uses_tables`] is false for a goal, the solver does not call `load`.
    pub fn with_load(
        tables: &'t dyn TableSource,
        want: Want,
        limits: LabelLimits,
        load: impl Fn(&Board) -> LoadedTables + 't,
    ) -> Self {
        Self { tables, want, limits, load: Box::new(load), goal: None }
    }

    /// Returns the kind of the labels.
    pub fn want(&self) -> Want {
        self.want
    }

    /// Labels one board.
    ///
    /// # Errors
    /// See [`LabelError`].
    ///
    /// # Panics
    /// If [`Want::serves`] is false for the size of the board, or if the function that loads tables panics. A panic of
    /// a search is an error instead: [`LabelError::Panicked`].
    pub fn label(&mut self, puzzle: &Puzzle, control: LabelControl<'_>) -> Result<Label, LabelError> {
        let Self { tables, want, limits, load, goal } = self;
        // The previous solver holds its tables, so the cache cannot evict them. The previous solver is dropped before
        // the next solver loads tables.
        let _ = goal.take_if(|solver| solver.goal != *puzzle.goal());
        let new = || {
            let own = puzzle.goal();
            let loaded = if want.uses_tables(own.size()) { load(own) } else { LoadedTables::default() };
            GoalSolver::new(*tables, *own, *want, *limits, loaded)
        };
        goal.get_or_insert_with(new).label(puzzle, control)
    }
}

#[derive(Debug)]
struct GoalSolver<'t> {
    want: Want,
    goal: Board,
    plan: Plan,
    limits: Limits,
    tables: SearchTables<'t>,
}

impl<'t> GoalSolver<'t> {
    fn new(tables: &'t dyn TableSource, goal: Board, want: Want, limits: LabelLimits, loaded: LoadedTables) -> Self {
        let size = goal.size();
        assert!(want.serves(size), "first moves are known up to 16 cells");
        let plan = if loaded.are_missing { Plan::auto(size).without_tables() } else { Plan::auto(size) };
        let nodes = nodes_within(limits.memory, size, plan.algorithm, plan.heuristic) / plan.node_budget_divisor();
        let limits = limits.of_search(&plan, nodes);
        Self { want, goal, plan, limits, tables: SearchTables::with_patterns(tables, loaded.patterns) }
    }

    fn label(&self, puzzle: &Puzzle, control: LabelControl<'_>) -> Result<Label, LabelError> {
        let search = || match self.want {
            Want::Bounds => Ok(Label::of(Distance::of(puzzle, self.tables.tables().small()))),
            Want::Length => match Distance::exact(puzzle, self.tables.tables().small()) {
                Some(length) => Ok(Label::of(Distance::proven(length))),
                None => self.solved(puzzle, control).map(|(label, _)| label),
            },
            Want::Next => match Distance::exact(puzzle, self.tables.tables().small()) {
                Some(length) => Ok(self.with_next_by_table(puzzle, length)),
                None => self.with_next_by_search(puzzle, control),
            },
            Want::Moves => self.solved(puzzle, control).map(|(label, path)| Label { path: Some(path), ..label }),
            Want::Expanded => {
                let report = self.report(self.request(puzzle), control)?;
                let (label, path) = self.of_report(&report)?;
                let Stats { expanded, generated, .. } = report.stats;
                Ok(Label { expanded: Some(expanded), generated: Some(generated), path: Some(path), ..label })
            }
        };
        catch_unwind(AssertUnwindSafe(search)).unwrap_or(Err(LabelError::Panicked))
    }

    fn request(&self, puzzle: &Puzzle) -> SearchRequest {
        SearchRequest::new(*puzzle, self.plan, self.limits)
    }

    fn report(&self, request: SearchRequest, control: LabelControl<'_>) -> Result<Report, LabelError> {
        let time = self.limits.time;
        let deadline = (time != Duration::MAX).then(|| Instant::now() + time);
        let LabelControl { cancel, helpers, .. } = control;
        let control = Control { deadline, cancel, helpers, ..Control::default() };
        let report = solve_with(&request, &self.tables, control)?;
        if report.stopped == Some(StopReason::Cancelled) { Err(LabelError::Cancelled) } else { Ok(report) }
    }

    /// Returns the label and the solution of a report. The plan `auto` always finds a solution, so a report without a
    /// solution means a bug, and the result is [`LabelError::NoSolution`].
    fn of_report(&self, report: &Report) -> Result<(Label, Path), LabelError> {
        let solution = report.solution.as_ref().ok_or(LabelError::NoSolution)?;
        let (lower_bound, length) = (report.lower_bound, solution.path.len() as u32);
        Ok((Label { lower_bound, length, ..Label::default() }, solution.path.clone()))
    }

    fn solved(&self, puzzle: &Puzzle, control: LabelControl<'_>) -> Result<(Label, Path), LabelError> {
        let report = self.report(self.request(puzzle), control)?;
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

    /// Labels a board with the length and with all first moves of optimal solutions. The first move of the solution
    /// found is one of these moves. For each other move, a search decides whether the board after the move is one move
    /// nearer to the goal. If a limit ends one of the searches, the label has no first moves.
    fn with_next_by_search(&self, puzzle: &Puzzle, control: LabelControl<'_>) -> Result<Label, LabelError> {
        let (label, path) = self.solved(puzzle, control)?;
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
            let report = self.report(SearchRequest::new(child, plan, self.limits), control)?;
            match report.stopped {
                None => next = next.with(mv),
                Some(StopReason::Depth) => {}
                Some(_) => return Ok(label),
            }
        }
        Ok(Label { next: Some(next), ..label })
    }
}

fn after(puzzle: &Puzzle, mv: Move) -> Option<Puzzle> {
    let mut board = *puzzle.start();
    board.make(mv)?;
    Puzzle::try_new(board, *puzzle.goal()).ok()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::AtomicBool;

    use taquin_solver::{LazyTables, Size, SplitMix, random_board};

    use super::*;
    use crate::label::RequestedLimits;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    fn label(tables: &LazyTables, want: Want, puzzle: &Puzzle, requested: RequestedLimits) -> Label {
        let mut solver = BatchSolver::new(tables, want, LabelLimits::of(requested, 64 << 20));
        solver.label(puzzle, LabelControl::default()).unwrap()
    }

    #[test]
    fn tables_are_loaded_only_where_they_are_used_and_once_for_each_change_of_the_goal() {
        let tables = LazyTables::default();
        for (want, sides, expected) in [
            (Want::Bounds, (5, 5), 0),
            (Want::Bounds, (4, 4), 0),
            (Want::Bounds, (3, 3), 2),
            (Want::Length, (5, 5), 2),
            (Want::Next, (4, 4), 2),
        ] {
            let loads = Cell::new(0);
            let limits = RequestedLimits { expanded: Some(1), ..RequestedLimits::default() };
            let mut solver = BatchSolver::with_load(&tables, want, LabelLimits::of(limits, 1 << 20), |_| {
                loads.set(loads.get() + 1);
                LoadedTables { patterns: None, are_missing: true }
            });
            let size = size(sides.0, sides.1);
            for goal in [Board::snail(size), Board::snail(size), Board::blank_last(size)] {
                let puzzle = Puzzle::try_new(goal, goal).unwrap();
                assert!(solver.label(&puzzle, LabelControl::default()).is_ok());
            }
            assert_eq!(loads.get(), expected, "{want:?} on {sides:?}");
        }
    }

    #[test]
    fn all_wants_agree_on_boards_with_and_without_a_distance_table() {
        let (tables, mut random) = (LazyTables::default(), SplitMix(3));
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
                assert!(expanded.generated > expanded.expanded && expanded.path == Some(path));
                let bounds = of(Want::Bounds);
                assert!(bounds.lower_bound <= length.length && length.length <= bounds.length);
                // Reference: a move is a first move if the distance of the board after the move is smaller by one.
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
        let tables = LazyTables::default();
        for size in [size(3, 3), size(3, 4)] {
            let goal = Board::blank_last(size);
            let puzzle = Puzzle::try_new(goal, goal).unwrap();
            let at_goal = label(&tables, Want::Next, &puzzle, RequestedLimits::default());
            assert_eq!((at_goal.length, at_goal.next), (0, Some(MoveSet::EMPTY)));
        }
    }

    #[test]
    fn a_limit_leaves_a_solution_that_is_not_proven() {
        let (tables, mut random) = (LazyTables::default(), SplitMix(4));
        let requested = RequestedLimits { expanded: Some(1), ..RequestedLimits::default() };
        for (size, want) in [(size(4, 4), Want::Next), (size(4, 4), Want::Moves), (size(5, 5), Want::Length)] {
            let goal = Board::blank_last(size);
            let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
            let label = label(&tables, want, &puzzle, requested);
            assert!(!label.is_optimal() && label.length > label.lower_bound && label.next.is_none(), "{label:?}");
        }
        assert!(!Want::Next.serves(size(5, 5)) && Want::Moves.serves(size(5, 5)));
    }

    #[test]
    fn boards_of_mixed_goals_have_the_labels_of_solvers_of_one_goal() {
        let (tables, mut random) = (LazyTables::default(), SplitMix(6));
        let limits = LabelLimits::of(RequestedLimits::default(), 64 << 20);
        let mut mixed = BatchSolver::new(&tables, Want::Next, limits);
        for _ in 0..5 {
            for goal in [Board::snail(size(3, 3)), Board::blank_last(size(3, 3)), Board::blank_last(size(2, 5))] {
                let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
                let expected = label(&tables, Want::Next, &puzzle, RequestedLimits::default());
                assert_eq!(mixed.label(&puzzle, LabelControl::default()), Ok(expected));
            }
        }
    }

    #[test]
    fn a_raised_flag_ends_a_search() {
        let (tables, mut random) = (LazyTables::default(), SplitMix(5));
        let goal = Board::blank_last(size(4, 4));
        let limits = LabelLimits::of(RequestedLimits::default(), 64 << 20);
        let mut solver = BatchSolver::new(&tables, Want::Length, limits);
        let control = LabelControl { cancel: &[&AtomicBool::new(true)], ..LabelControl::default() };
        let boards = (0..20).map(|_| Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
        let labels: Vec<_> = boards.map(|puzzle| solver.label(&puzzle, control)).collect();
        assert!(labels.contains(&Err(LabelError::Cancelled)), "searches of 512 expansions and more are stopped");
    }
}
