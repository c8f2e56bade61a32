//! `/solvable`: the verdict and its counts, compared with independent counts and searches.

use serde_json::{Value, json};

use crate::client::shared;
use crate::question::Question;
use crate::simulator::{Grid, all_boards, blank_last, distances, find, grid, notation};

/// The counts, computed from their definitions.
fn counts(start: &Grid, goal: &Grid) -> (u64, &'static str, u64) {
    let flat = |grid: &Grid| grid.concat();
    let place = |tile: u64| flat(goal).iter().position(|there| *there == tile).unwrap_or(usize::MAX);
    let places: Vec<usize> = flat(start).into_iter().map(place).collect();
    let pairs = |places: &[usize]| {
        let after = |at: usize| places[at + 1..].iter().filter(|later| **later < places[at]).count();
        (0..places.len()).map(after).sum::<usize>() as u64
    };
    let tiles: Vec<usize> = flat(start).into_iter().filter(|tile| *tile != 0).map(place).collect();
    let ((row, col), (goal_row, goal_col)) = (find(start, 0), find(goal, 0));
    let parity = if pairs(&places) % 2 == 0 { "even" } else { "odd" };
    (pairs(&tiles), parity, (row.abs_diff(goal_row) + col.abs_diff(goal_col)) as u64)
}

/// The goals that have a name.
fn named_goals(rows: usize, cols: usize) -> [(&'static str, &'static str); 3] {
    let [last, first, snail] = match (rows, cols) {
        (2, 2) => ["1 2/3 0", "0 1/2 3", "1 2/0 3"],
        (2, 3) => ["1 2 3/4 5 0", "0 1 2/3 4 5", "1 2 3/0 5 4"],
        (3, 2) => ["1 2/3 4/5 0", "0 1/2 3/4 5", "1 2/0 3/5 4"],
        other => panic!("no goals for {other:?}"),
    };
    [("blank_last", last), ("blank_first", first), ("snail", snail)]
}

async fn judge_all(rows: usize, cols: usize, goal: &Grid) {
    let taquin = shared().await;
    let reachable = distances(goal);
    let named = named_goals(rows, cols).map(|(name, goal)| (name, distances(&grid(goal))));
    for board in all_boards(rows, cols) {
        let reply = taquin.post("/solvable", &json!({ "board": board, "goal": goal })).await.expect(200).json();
        let (inversions, parity, blank_distance) = counts(&board, goal);
        let is_solvable = reachable.contains_key(&board);
        let goals = named.iter().filter(|(_, reachable)| reachable.contains_key(&board));
        let goals: Vec<_> = goals.map(|(name, _)| name).collect();
        let reason = if is_solvable { Value::Null } else { json!("parity") };
        for (member, expected) in [
            ("solvable", json!(is_solvable)),
            ("reason", reason),
            ("inversions", json!(inversions)),
            ("permutation_parity", json!(parity)),
            ("blank_distance", json!(blank_distance)),
            ("reachable_goals", json!(goals)),
            ("start", json!(board)),
            ("goal", json!(goal)),
        ] {
            assert_eq!(reply[member], expected, "{member} of {} to {}", notation(&board), notation(goal));
        }
    }
}

#[tokio::test]
async fn every_2_by_2_board_is_judged_rightly_for_every_goal() {
    for goal in all_boards(2, 2) {
        judge_all(2, 2, &goal).await;
    }
}

#[tokio::test]
async fn every_2_by_3_board_is_judged_rightly() {
    judge_all(2, 3, &blank_last(2, 3)).await;
}

#[tokio::test]
async fn every_3_by_2_board_is_judged_rightly_for_a_goal_with_the_blank_inside() {
    judge_all(3, 2, &grid("1 2/0 3/5 4")).await;
}

#[tokio::test]
async fn the_example_with_two_exchanged_tiles_is_unsolvable() {
    let taquin = shared().await;
    let reply =
        taquin.post("/solvable", &json!({ "board": [[1, 2, 3], [4, 5, 6], [8, 7, 0]] })).await.expect(200).json();
    assert_eq!(reply["solvable"], false);
    assert_eq!(reply["reason"], "parity");
    assert_eq!(reply["inversions"], 1);
    assert_eq!(reply["permutation_parity"], "odd");
    assert_eq!(reply["blank_distance"], 0);
}

#[tokio::test]
async fn sam_loyds_15_puzzle_is_unsolvable() {
    let taquin = shared().await;
    let board = "1 2 3 4/5 6 7 8/9 10 11 12/13 15 14 0";
    let reply = taquin.post("/solvable", &json!({ "board": board })).await.expect(200).json();
    assert_eq!(reply["solvable"], false);
}

#[tokio::test]
async fn get_and_text_bodies_give_the_same_verdict() {
    let taquin = shared().await;
    let question = json!({ "board": "123456870", "goal": "snail" });
    let expected = taquin.post("/solvable", &question).await.expect(200).json();
    assert_eq!(taquin.send(Question::get_as("/solvable", &question)).await.expect(200).json(), expected);
    let text = Question::post("/solvable?goal=snail").body("text/plain", "1 2 3\n4 5 6\n8 7 _\n");
    assert_eq!(taquin.send(text).await.expect(200).json(), expected);
}

#[tokio::test]
async fn fields_of_a_search_are_unknown_here() {
    let taquin = shared().await;
    let question = json!({ "board": "123456870", "algorithm": "astar" });
    let problem = taquin.post("/solvable", &question).await.problem("invalid-request");
    assert_eq!(crate::answer::faults(&problem), ["/algorithm unknown-field"]);
    let problem = taquin.send(Question::get_as("/solvable", &question)).await.problem("invalid-parameter");
    assert_eq!(crate::answer::faults(&problem), ["/algorithm unknown-field"]);
}
