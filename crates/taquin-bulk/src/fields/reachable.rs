//! Creates puzzles from boards and goals. If a board cannot reach its goal, the error lists goals within reach.

use taquin_solver::{Board, Named, Puzzle, PuzzleError, Reachability};

use super::NamedGoal;
use crate::row_error::{ErrorKind, RowError, parity, reason, sentence};

/// Creates the puzzle of a board and a goal.
///
/// # Errors
/// `unsolvable` if the board cannot reach the goal. This error has the members of a `/solvable` response, except
/// `start` and `goal`. `goal-mismatch` if the sizes differ.
pub fn puzzle(board: Board, goal: Board) -> Result<Puzzle, RowError> {
    Puzzle::try_new(board, goal).map_err(|error| match error {
        PuzzleError::Unreachable(reachability) => unsolvable(&board, &reachability),
        differ @ PuzzleError::ShapesDiffer { .. } => {
            RowError::new(ErrorKind::GoalMismatch, sentence(&differ.to_string()))
        }
    })
}

/// Returns the names of the goals that a board can reach, in the order of [`NamedGoal::ALL`].
pub fn reachable_goals(board: &Board) -> Vec<&'static str> {
    let is_reachable = |goal: &NamedGoal| Puzzle::try_new(*board, goal.on(board.size())).is_ok();
    NamedGoal::ALL.iter().copied().filter(is_reachable).map(NamedGoal::name).collect()
}

/// Describes in sentences whether a board can reach a goal, with the parities, and with advice if the goal is
/// unreachable. `reachable_goals` are the names of the goals that the board can reach.
pub fn reachability_detail(reachability: &Reachability, reachable_goals: &[&str]) -> String {
    let proof = sentence(&reachability.to_string());
    if reachability.is_reachable() {
        return proof;
    }
    if reachable_goals.is_empty() {
        return format!("{proof} Swap any two tiles, or choose another goal.");
    }
    let members: Vec<String> = reachable_goals.iter().map(|name| format!("`\"goal\": \"{name}\"`")).collect();
    format!("{proof} Send {}, which this board can reach, or swap any two tiles.", members.join(" or "))
}

fn unsolvable(board: &Board, reachability: &Reachability) -> RowError {
    let goals = reachable_goals(board);
    RowError::new(ErrorKind::Unsolvable, reachability_detail(reachability, &goals))
        .with_member("solvable", false)
        .with_member("reason", reason(reachability))
        .with_member("inversions", reachability.inversions)
        .with_member("permutation_parity", parity(reachability))
        .with_member("blank_distance", reachability.blank_distance)
        .with_member("reachable_goals", goals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_solver::{Encoding, RawBoard, Sides, Size, SplitMix, random_permutation};

    fn board(text: &str) -> Board {
        RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).unwrap()
    }

    #[test]
    fn every_named_goal_that_a_board_can_reach_is_named() {
        let mut random = SplitMix(49);
        for (rows, cols) in [(2, 2), (2, 3), (3, 2), (3, 3), (4, 4), (3, 5), (10, 10)] {
            let size = Size::try_from((rows, cols)).unwrap();
            for _ in 0..50 {
                let board = random_permutation(&Board::snail(size), &mut random);
                let goals = reachable_goals(&board);
                for goal in NamedGoal::ALL {
                    let expected = Reachability::between(&board, &goal.on(size)).unwrap().is_reachable();
                    assert_eq!(goals.contains(&goal.name()), expected, "{board} to {}", goal.name());
                }
            }
        }
    }

    #[test]
    fn the_advice_names_the_goals_to_send() {
        let detail = |text: &str, goal: &str| puzzle(board(text), board(goal)).unwrap_err().detail;
        let korf = "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3";
        let advice = "Send `\"goal\": \"blank_first\"`, which this board can reach, or swap any two tiles.";
        let last = "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0";
        assert!(detail(korf, last).ends_with(advice), "{}", detail(korf, last));
        let two = detail("1 2 3/4 5 6/7 8 0", "2 1 3/4 5 6/7 8 0");
        assert!(two.contains("Send `\"goal\": \"blank_last\"` or `\"goal\": \"blank_first\"`, which"), "{two}");
    }

    #[test]
    fn without_a_named_goal_the_advice_is_another_goal() {
        // On 2×5, all named goals are reachable from the same half of the boards.
        let start = board("2 1 3 4 5/6 7 8 9 0");
        assert_eq!(reachable_goals(&start), Vec::<&str>::new());
        let error = puzzle(start, Board::blank_last(start.size())).unwrap_err();
        assert!(error.detail.ends_with("Swap any two tiles, or choose another goal."), "{}", error.detail);
        assert_eq!(error.members.last(), Some(&("reachable_goals", serde_json::json!([]))));
    }
}
