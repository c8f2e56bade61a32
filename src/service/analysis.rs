//! Distances of a board, its neighbours and the boards of a walk. The distances are exact if `auto` proves solutions
//! optimal.
//!
//! A move changes the distance by exactly one. So one search determines the distance of a neighbour: the search looks
//! for a solution of the neighbour that is one move shorter than the solution of the board. If there is such a
//! solution, it is the optimal solution of the neighbour. Otherwise an optimal solution of the neighbour starts with
//! the move back. A neighbour on the known solution needs no search.

use std::sync::Arc;
use std::time::{Duration, Instant};

use taquin_solver::heuristic::DistanceTable;
use taquin_solver::solver::{AttemptCheck, check_attempt, distances_along, distances_around};
use taquin_solver::{
    Attempt, Board, Distance, Limits, Move, Plan, Puzzle, SearchOptions, SearchRequest, StopReason, Tile,
};
use tokio::time::timeout_at;

use crate::service::instant::is_check_instant;
use crate::service::job::{Report, ServiceError};
use crate::service::pool::Pool;
use crate::service::tables::Tables;

/// A legal move, and the board after the move.
#[derive(Clone, Debug)]
pub struct LegalMove {
    /// The direction in which the blank moves.
    pub mv: Move,
    /// The tile that slides.
    pub tile: Tile,
    /// The board after the move.
    pub board: Board,
    /// Distance of the board after the move from the goal; `None` if the goal is unreachable.
    pub distance: Option<Distance>,
}

/// The legal moves of a board.
#[derive(Clone, Debug)]
pub struct LegalMoves {
    /// Distance of the board from the goal; `None` if the goal is unreachable.
    pub distance: Option<Distance>,
    /// The legal moves, in the order in which a search generates them.
    pub moves: Vec<LegalMove>,
}

/// The optional parts of an analysis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AnalysisParts {
    /// True to prove the optimal lengths of the first and the last board.
    pub exact: bool,
    /// True to return the distance after each move.
    pub steps: bool,
}

/// The reason why an analysis has no result.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// There is no capacity, or the service failed.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A limit stopped a search before its proof was complete. The report has no solution.
    #[error("a limit ended the search")]
    Stopped(Box<Report>, StopReason),
}

/// Returns true if the analysis of a board of this size needs searches: `auto` proves lengths, and no table has the
/// lengths.
fn is_searched(board: &Board) -> bool {
    !DistanceTable::serves(board.size()) && Plan::is_proven_by_auto(board.size())
}

/// Runs analyses. Short analyses run on the caller's thread, and all others run on the pool.
#[derive(Clone, Copy)]
pub(crate) struct Analyst<'s> {
    pub pool: &'s Arc<Pool>,
    pub tables: &'s Arc<Tables>,
    /// Time limit of work without a search, from the submission to the start.
    pub work_time: Duration,
    /// Limits of each search. The time limit applies to all searches of an analysis together.
    pub limits: Limits,
}

impl Analyst<'_> {
    /// Returns the legal moves. Each move has the distance of the board after the move.
    ///
    /// # Errors
    /// See [`AnalysisError`].
    pub(crate) async fn legal_moves(&self, start: Board, goal: Board) -> Result<LegalMoves, AnalysisError> {
        let puzzle = Puzzle::try_new(start, goal);
        let (distance, after) = match puzzle {
            Ok(puzzle) if is_searched(&start) => {
                let walk = OptimalWalk::start(*self, &puzzle).await?;
                let mut after = Vec::new();
                for mv in start.moves() {
                    let mut next = walk.clone();
                    next.step(mv).await?;
                    after.push(Some(next.distance()));
                }
                (Some(walk.distance()), after)
            }
            Ok(_) => {
                let is_instant = self.tables.small().has_distances(start.size(), goal.blank());
                let tables = Arc::clone(self.tables);
                let bounds = move || distances_around(&start, &goal, tables.small());
                self.pool.run_quick_work(is_instant, self.work_time, bounds).await?
            }
            Err(_) => (None, vec![None; start.moves().len()]),
        };
        let moves = start.moves().zip(after).map(|(mv, distance)| {
            let (tile, board) = after_move(&start, mv);
            LegalMove { mv, tile, board, distance }
        });
        Ok(LegalMoves { distance, moves: moves.collect() })
    }

    /// Replays an attempt. Returns the distances of the first and the last board and, if requested, the distance after
    /// each move.
    ///
    /// # Errors
    /// See [`AnalysisError`].
    pub(crate) async fn check_attempt(
        &self,
        start: Board,
        goal: Board,
        attempt: Attempt,
        parts: AnalysisParts,
    ) -> Result<AttemptCheck, AnalysisError> {
        let is_searched = is_searched(&start) && (parts.exact || parts.steps);
        let lists_steps = parts.steps && !is_searched;
        let tables = Arc::clone(self.tables);
        let is_instant = is_check_instant(&goal, &attempt, lists_steps, tables.small());
        let check = self.pool.run_quick_work(is_instant, self.work_time, move || {
            let check = check_attempt(&start, &goal, &attempt, tables.small());
            let steps = if lists_steps { distances_along(&start, &goal, &check, tables.small()) } else { None };
            AttemptCheck { steps, ..check }
        });
        let check = check.await?;
        match Puzzle::try_new(start, goal) {
            Ok(puzzle) if is_searched => self.proven(&puzzle, check, parts).await,
            _ => Ok(check),
        }
    }

    /// Replaces the bounds of a check with exact distances.
    async fn proven(
        &self,
        puzzle: &Puzzle,
        check: AttemptCheck,
        parts: AnalysisParts,
    ) -> Result<AttemptCheck, AnalysisError> {
        let mut walk = OptimalWalk::start(*self, puzzle).await?;
        let of_start = walk.distance();
        let mut steps = None;
        if parts.steps {
            let steps = steps.insert(Vec::with_capacity(check.played.path.len()));
            for mv in check.played.path.moves() {
                walk.step(*mv).await?;
                steps.push(walk.distance());
            }
        } else {
            walk.go_to(check.played.end).await?;
        }
        let percentile = of_start.percentile(puzzle.goal(), self.tables.small());
        Ok(AttemptCheck { distances: Some((of_start, walk.distance())), percentile, steps, ..check })
    }
}

/// Returns the error of a search that a limit stopped. The report in the error has no solution, because an analysis
/// must not reveal moves.
fn stopped(report: &Report, stop: StopReason) -> AnalysisError {
    let search = taquin_solver::Report { solution: None, ..report.search.clone() };
    AnalysisError::Stopped(Box::new(Report { search, ..*report }), stop)
}

/// Returns the tile that slides in a legal move, and the board after the move.
fn after_move(start: &Board, mv: Move) -> (Tile, Board) {
    let mut board = *start;
    let tile = board.make(mv).expect("the move is legal");
    (tile, board)
}

/// A board with an optimal solution. Each move updates the board and the solution.
#[derive(Clone)]
struct OptimalWalk<'s> {
    analyst: Analyst<'s>,
    began: Instant,
    board: Board,
    goal: Board,
    /// The optimal solution in reverse order: the last move comes first.
    solution: Vec<Move>,
    /// The report of the latest search; `None` before the first search.
    latest: Option<Arc<Report>>,
}

impl<'s> OptimalWalk<'s> {
    async fn start(analyst: Analyst<'s>, puzzle: &Puzzle) -> Result<Self, AnalysisError> {
        let (board, goal) = (*puzzle.start(), *puzzle.goal());
        let mut walk = Self { analyst, began: Instant::now(), board, goal, solution: Vec::new(), latest: None };
        walk.go_to(board).await?;
        Ok(walk)
    }

    /// Moves to another board, and searches for an optimal solution of that board.
    async fn go_to(&mut self, board: Board) -> Result<(), AnalysisError> {
        let options = SearchOptions { require_optimal: true, ..SearchOptions::default() };
        let plan = Plan::try_new(&options, board.size()).expect("`auto` proves solutions optimal");
        self.board = board;
        self.solution = self.search(plan).await?.unwrap_or_default();
        Ok(())
    }

    /// Makes a legal move, and updates the solution. A search runs only if the move leaves the solution.
    async fn step(&mut self, mv: Move) -> Result<(), AnalysisError> {
        self.board.make(mv).expect("the move is legal");
        if self.solution.last() == Some(&mv) {
            self.solution.pop();
            return Ok(());
        }
        let shorter = match self.solution.len().checked_sub(1) {
            Some(depth) => self.search(Plan::within(self.board.size(), depth as u32)).await?,
            None => None,
        };
        match shorter {
            Some(solution) => self.solution = solution,
            None => self.solution.push(mv.inverse()),
        }
        Ok(())
    }

    /// Searches for a solution of the board in the remaining time. Returns the moves of the solution in reverse order.
    /// Returns `None` if the depth limit of the plan excludes all solutions.
    async fn search(&mut self, plan: Plan) -> Result<Option<Vec<Move>>, AnalysisError> {
        let Analyst { pool, limits, .. } = self.analyst;
        let puzzle = Puzzle::try_new(self.board, self.goal).expect("moves preserve reachability");
        // The job has the limits of the request, not the remaining time, so that equal jobs share a search and its
        // report.
        let search = pool.submit(SearchRequest::new(puzzle, plan, limits));
        let report = match &self.latest {
            // The first search may use the whole time, and stops by its own time limit.
            None => search.await?.report,
            Some(latest) => match timeout_at((self.began + limits.time).into(), search).await {
                Ok(answer) => answer?.report,
                // The time of the request ended before the time limit of the search.
                Err(_) => return Err(stopped(latest, StopReason::Time)),
            },
        };
        self.latest = Some(Arc::clone(&report));
        match report.stopped {
            None => Ok(report.solution.as_ref().map(|found| found.path.moves().iter().rev().copied().collect())),
            Some(StopReason::Depth) => Ok(None),
            Some(stop) => Err(stopped(&report, stop)),
        }
    }

    fn distance(&self) -> Distance {
        Distance::proven(self.solution.len() as u32)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use super::*;
    use taquin_solver::Size;

    /// Returns the distances to the goal of all boards that can reach the goal, by breadth-first search.
    fn distances(goal: Board) -> HashMap<Board, u32> {
        let (mut distances, mut queue) = (HashMap::from([(goal, 0)]), VecDeque::from([goal]));
        while let Some(board) = queue.pop_front() {
            let next = distances[&board] + 1;
            for mv in board.moves() {
                let (_, after) = after_move(&board, mv);
                distances.entry(after).or_insert_with(|| {
                    queue.push_back(after);
                    next
                });
            }
        }
        distances
    }

    #[test]
    fn moves_of_all_boards_of_the_8_puzzle_have_their_distances() {
        let size = Size::try_from((3, 3)).unwrap();
        let tables = Tables::default();
        for goal in [Board::blank_last(size), Board::snail(size)] {
            let expected = distances(goal);
            assert_eq!(expected.len(), 181_440);
            for (board, length) in &expected {
                let (distance, after) = distances_around(board, &goal, tables.small());
                assert_eq!(distance, Some(Distance::proven(*length)));
                let expected = board.moves().map(|mv| Some(Distance::proven(expected[&after_move(board, mv).1])));
                assert!(expected.eq(after), "{board}");
            }
        }
    }
}
