//! Estimates whether work takes less time than a hand-over to another thread.

use taquin_bulk::Draw;
use taquin_solver::heuristic::{DistanceTable, WalkingDistance};
use taquin_solver::tables::SmallTables;
use taquin_solver::{Attempt, Board, HeuristicKind};

/// Returns true if the check of an attempt takes less than half a millisecond. For this, the attempt must have few
/// moves, and the bounds must be available quickly. If `lists_steps` is true, the check also evaluates the board after
/// each move.
pub(crate) fn is_check_instant(goal: &Board, attempt: &Attempt, lists_steps: bool, tables: &SmallTables) -> bool {
    /// Maximum number of moves. Replaying this number of moves takes tens of microseconds on any board.
    const INSTANT_MOVES: usize = 1_000;
    /// Maximum number of moves with an evaluation after each move. Evaluating a board takes a few microseconds.
    const INSTANT_STEPS: usize = 50;
    let most = if lists_steps { INSTANT_STEPS } else { INSTANT_MOVES };
    attempt.len() <= most && is_known_soon(goal, tables)
}

/// Returns true if a draw of `count` boards takes less than half a millisecond. For this, the draw must be of one
/// board, with at most a short walk, and the bounds must be available quickly.
pub(crate) fn is_draw_instant(goal: &Board, how: &Draw, count: usize, tables: &SmallTables) -> bool {
    /// Maximum number of moves. A walk of this length takes tens of microseconds on the largest board.
    const INSTANT_WALK: u32 = 1_000;
    let is_short = !matches!(how, Draw::Walk(walk) if walk.moves > INSTANT_WALK);
    count == 1 && is_short && is_known_soon(goal, tables) && !how.needs_proof(goal)
}

/// Returns true if the distances of two boards take less than half a millisecond. For this, the distance table must be
/// loaded, or the board must be small enough for the constructive solution. On the largest board, the constructive
/// solution takes five milliseconds.
pub(crate) fn is_known_soon(goal: &Board, tables: &SmallTables) -> bool {
    const INSTANT_CELLS: usize = 25;
    let size = goal.size();
    if DistanceTable::serves(size) { tables.has_distances(size, goal.blank()) } else { size.cells() <= INSTANT_CELLS }
}

/// Returns true if the estimates of all heuristics take less than half a millisecond. For this, the small tables that
/// the heuristics use must be loaded.
pub(crate) fn is_explanation_instant(goal: &Board, tables: &SmallTables) -> bool {
    let (size, goal_blank) = (goal.size(), goal.blank());
    let has_walking = || WalkingDistance::shapes(size, goal_blank).into_iter().all(|shape| tables.has_walking(shape));
    (!DistanceTable::serves(size) || tables.has_distances(size, goal_blank))
        && (!HeuristicKind::WalkingDistance.serves(size) || has_walking())
}

#[cfg(test)]
mod tests {
    use taquin_solver::solver::explain;
    use taquin_solver::{Cell, LazyTables, Move, Puzzle, Size, TableSource};

    use super::*;

    #[test]
    fn few_moves_on_small_boards_are_checked_at_once() {
        let tables = SmallTables::new();
        let goal = |rows, cols| Board::blank_last(Size::try_from((rows, cols)).unwrap());
        let is_instant = |goal, moves| is_check_instant(&goal, &Attempt::Moves(vec![Move::Up; moves]), false, &tables);
        for (rows, cols) in [(4, 4), (5, 5), (2, 10)] {
            assert!(is_instant(goal(rows, cols), 1) && is_instant(goal(rows, cols), 1_000));
            assert!(!is_instant(goal(rows, cols), 1_001));
        }
        assert!(!is_instant(goal(6, 6), 1) && !is_instant(goal(10, 10), 1));
        // Building the distance table takes longer than half a millisecond.
        assert!(!is_instant(goal(3, 3), 1));
        tables.distances(goal(3, 3).size(), goal(3, 3).blank());
        assert!(is_instant(goal(3, 3), 1));
    }

    #[test]
    fn estimates_are_instant_once_the_small_tables_are_built() {
        let tables = LazyTables::default();
        for (rows, cols) in [(3, 3), (4, 4), (2, 5), (10, 10)] {
            let goal = Board::blank_last(Size::try_from((rows, cols)).unwrap());
            assert_eq!(is_explanation_instant(&goal, tables.small()), rows == 10, "{rows}×{cols}");
            explain(&Puzzle::try_new(goal, goal).unwrap(), &tables);
            assert!(is_explanation_instant(&goal, tables.small()), "{rows}×{cols}");
        }
        let goal = Board::blank_first(Size::try_from((3, 3)).unwrap());
        assert_eq!(goal.blank(), 0 as Cell);
        assert!(!is_explanation_instant(&goal, tables.small()));
    }
}
