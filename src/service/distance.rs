//! How far a board is from its goal, as far as that is known without a search.

use crate::domain::{Attempt, Board, Packed64, Played, Puzzle};
use crate::search::Space;
use crate::search::heuristic::DistanceTable;
use crate::service::solver;
use crate::service::tables::Tables;

/// What is proven of the optimal length of a puzzle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Distance {
    /// The length itself, where there is a table of all of them.
    pub length: Option<u32>,
    /// No solution is shorter.
    pub lower_bound: u32,
    /// There is a solution of no more moves.
    pub upper_bound: u32,
}

impl Distance {
    /// By the table of all distances where there is one; elsewhere linear conflict below, and above what it takes to
    /// construct a solution.
    pub fn of(puzzle: &Puzzle, tables: &Tables) -> Self {
        let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
        if DistanceTable::serves(size) {
            let table = tables.distances(size, goal_blank);
            let length = u32::from(table.distance(&Space::<Packed64>::new(puzzle).start()));
            return Self { length: Some(length), lower_bound: length, upper_bound: length };
        }
        let (lower_bound, path) = solver::bounds(puzzle);
        Self { length: None, lower_bound, upper_bound: path.len() as u32 }
    }

    /// The same with the knowledge of a board so many moves away; moves can be taken back.
    fn near(self, other: Self, moves: u32) -> Self {
        Self {
            lower_bound: self.lower_bound.max(other.lower_bound.saturating_sub(moves)),
            upper_bound: self.upper_bound.min(other.upper_bound.saturating_add(moves)),
            ..self
        }
    }

    /// The same with the knowledge of a solution of so many moves.
    #[must_use]
    pub fn at_most(self, moves: u32) -> Self {
        Self { upper_bound: self.upper_bound.min(moves), ..self }
    }
}

/// What somebody did to a board, judged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// How far it went, and to where.
    pub played: Played,
    /// How far the start is from the goal, and the end; none if the goal cannot be reached.
    pub distances: Option<(Distance, Distance)>,
}

/// Makes an attempt, and tells how far its two ends are from the goal. Boards of different shapes have no distance.
pub fn judge(start: &Board, goal: &Board, attempt: &Attempt, tables: &Tables) -> Verdict {
    let played = attempt.make(start);
    let distance = |board| Puzzle::try_new(board, *goal).ok().map(|puzzle| Distance::of(&puzzle, tables));
    let made = played.path.len() as u32;
    // Who can be reached from the one can be reached from the other.
    let distances = distance(*start)
        .zip(distance(played.end))
        .map(|(of_start, of_end)| (of_start.near(of_end, made), of_end.near(of_start, made)));
    Verdict { played, distances }
}

/// Whether a judgement takes microseconds: not too many moves, and a table at hand that tells distances.
pub(super) fn is_instant(goal: &Board, attempt: &Attempt, tables: &Tables) -> bool {
    /// Some microseconds on any board.
    const INSTANT_MOVES: usize = 1_000;
    attempt.len() <= INSTANT_MOVES && tables.has_distances(goal.size(), goal.blank())
}
