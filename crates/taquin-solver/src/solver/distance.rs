//! Bounds on the distance of a board from its goal, without a search.

use super::run;
use crate::domain::{Attempt, Board, Metric, Move, Packed64, Played, Puzzle};
use crate::search::Space;
use crate::search::heuristic::DistanceTable;
use crate::tables::SmallTables;

/// What is proven about the optimal length of a puzzle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Distance {
    /// The optimal length, where there is a distance table.
    pub length: Option<u32>,
    /// Proven lower bound on the optimal length.
    pub lower_bound: u32,
    /// Length of a known solution.
    pub upper_bound: u32,
}

impl Distance {
    /// Looks the length up in the distance table. Without one, linear conflict is the lower bound and the constructed
    /// solution the upper.
    pub fn of(puzzle: &Puzzle, tables: &SmallTables) -> Self {
        if let Some(length) = Self::exact(puzzle, tables) {
            return Self::proven(length);
        }
        let (lower_bound, path) = run::bounds(puzzle);
        Self { length: None, lower_bound, upper_bound: path.len() as u32 }
    }

    /// A proven optimal length.
    pub fn proven(length: u32) -> Self {
        Self { length: Some(length), lower_bound: length, upper_bound: length }
    }

    /// The optimal length from the distance table; `None` on boards without one.
    pub fn exact(puzzle: &Puzzle, tables: &SmallTables) -> Option<u32> {
        let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
        let table = DistanceTable::serves(size).then(|| tables.distances(size, goal_blank))?;
        Some(u32::from(table.distance(&Space::<Packed64>::new(puzzle).start())))
    }

    /// Share of the boards that can reach the goal and take fewer moves, in percent. `None` unless the bounds are
    /// equal, so that the optimal length is known, and so is the [distribution](SmallTables::distribution) of lengths.
    pub fn percentile(&self, goal: &Board, tables: &SmallTables) -> Option<f64> {
        let length = (self.lower_bound == self.upper_bound).then_some(self.lower_bound)?;
        Some(tables.distribution(Metric::SingleTile, goal.size(), goal.blank())?.percentile(length))
    }

    /// Tightens the bounds with the bounds of a board `moves` moves away. Moves are reversible.
    pub fn near(self, other: Self, moves: u32) -> Self {
        Self {
            lower_bound: self.lower_bound.max(other.lower_bound.saturating_sub(moves)),
            upper_bound: self.upper_bound.min(other.upper_bound.saturating_add(moves)),
            ..self
        }
    }

    /// Tightens the upper bound with a known solution of `moves` moves.
    #[must_use]
    pub fn at_most(self, moves: u32) -> Self {
        Self { upper_bound: self.upper_bound.min(moves), ..self }
    }
}

/// Result of replaying an attempt.
#[derive(Clone, PartialEq, Debug)]
pub struct AttemptCheck {
    /// The legal moves made and the board they lead to.
    pub played: Played,
    /// Distances of the start and of the end from the goal; none if the goal is unreachable.
    pub distances: Option<(Distance, Distance)>,
    /// [Percentile](Distance::percentile) of the start, if known.
    pub percentile: Option<f64>,
    /// Distance after each legal move, if requested and the goal is reachable.
    pub steps: Option<Vec<Distance>>,
}

/// Replays an attempt and returns the distances of both ends from the goal. There are none if the sizes differ.
pub fn check_attempt(start: &Board, goal: &Board, attempt: &Attempt, tables: &SmallTables) -> AttemptCheck {
    let played = attempt.make(start);
    let distance = |board| Puzzle::try_new(board, *goal).ok().map(|puzzle| Distance::of(&puzzle, tables));
    let made = played.path.len() as u32;
    // Moves preserve reachability.
    let distances = distance(*start)
        .zip(distance(played.end))
        .map(|(of_start, of_end)| (of_start.near(of_end, made), of_end.near(of_start, made)));
    let percentile = distances.and_then(|(of_start, _)| of_start.percentile(goal, tables));
    AttemptCheck { played, distances, percentile, steps: None }
}

/// Returns the distance of a board, and the distance after each legal move in the order of the moves, without a search.
/// There are none if the goal is unreachable or the sizes differ.
pub fn distances_around(
    start: &Board,
    goal: &Board,
    tables: &SmallTables,
) -> (Option<Distance>, Vec<Option<Distance>>) {
    let of = |board| Puzzle::try_new(board, *goal).ok().map(|puzzle| Distance::of(&puzzle, tables));
    let after_move = |mv: Move| {
        let mut board = *start;
        board.make(mv).and_then(|_| of(board))
    };
    let after: Vec<_> = start.moves().map(after_move).collect();
    // Moves are reversible, so the bounds of neighbours differ by at most one.
    let distance = after.iter().flatten().fold(of(*start), |of, next| Some(of?.near(*next, 1)));
    let near = |next: Option<Distance>| Some(next?.near(distance?, 1));
    (distance, after.into_iter().map(near).collect())
}

/// Returns the distance after each legal move of an attempt, without a search. Without a table, linear conflict is the
/// lower bound, and the upper bound comes from both ends. `None` if the goal is unreachable.
pub fn distances_along(
    start: &Board,
    goal: &Board,
    check: &AttemptCheck,
    tables: &SmallTables,
) -> Option<Vec<Distance>> {
    let (of_start, of_end) = check.distances?;
    let has_table = DistanceTable::serves(goal.size());
    let path = &check.played.path;
    let of = |(made, board): (u32, Board)| {
        let puzzle = Puzzle::try_new(board, *goal).ok()?;
        if has_table {
            return Some(Distance::of(&puzzle, tables));
        }
        let bounds = Distance { length: None, lower_bound: run::lower_bound(&puzzle), upper_bound: u32::MAX };
        Some(bounds.near(of_start, made).near(of_end, path.len() as u32 - made))
    };
    (1..).zip(path.steps(start).map(|step| step.board)).map(of).collect()
}
