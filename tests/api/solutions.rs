//! All optimal solutions, counted on the simulator's distances.

use std::collections::HashMap;

use serde_json::json;

use crate::answer::faults;
use crate::client::shared;
use crate::question::Question;
use crate::simulator::{Grid, TO_BLANK_LAST, blank_last, grid, notation, slide};

const HARDEST: &str = "8 6 7/2 5 4/3 0 1";

/// Number of shortest solutions of a board, and the first in the order U, L, D, R.
fn expected(board: &Grid, known: &mut HashMap<Grid, u64>) -> u64 {
    let distance = TO_BLANK_LAST[board];
    if distance == 0 {
        return 1;
    }
    if let Some(count) = known.get(board) {
        return *count;
    }
    let after = |mv| {
        let mut after = board.clone();
        slide(&mut after, mv).map(|_| after)
    };
    let nearer = "ULDR".chars().filter_map(after).filter(|after| TO_BLANK_LAST[after] + 1 == distance);
    let count = nearer.map(|after| expected(&after, known)).sum();
    known.insert(board.clone(), count);
    count
}

#[tokio::test]
async fn all_optimal_solutions_are_counted_and_the_first_are_listed_in_order() {
    let (taquin, mut known) = (shared().await, HashMap::new());
    let mut boards: Vec<&Grid> = TO_BLANK_LAST.keys().collect();
    boards.sort();
    for board in boards.into_iter().step_by(3_001).chain([&grid(HARDEST), &blank_last(3, 3)]) {
        let reply = taquin.solve(&json!({ "board": board, "solutions": { "max": 5 } })).await;
        let solutions = &reply["solutions"];
        let count = expected(board, &mut known);
        assert_eq!(solutions["count"], count, "{reply}");
        let listed: Vec<&str> =
            solutions["moves"].as_array().into_iter().flatten().filter_map(|m| m.as_str()).collect();
        assert_eq!(listed.len() as u64, count.min(5));
        let order = |moves: &&str| moves.chars().map(|mv| "ULDR".find(mv)).collect::<Vec<_>>();
        assert!(listed.is_sorted_by(|one, next| order(one) < order(next)), "{solutions}");
        for moves in listed {
            let mut end = board.clone();
            moves.chars().for_each(|mv| assert!(slide(&mut end, mv).is_some(), "{moves}"));
            assert_eq!((end, json!(moves.len())), (blank_last(3, 3), reply["length"].clone()));
        }
    }
}

#[tokio::test]
async fn every_method_that_proves_optimality_finds_the_same_solutions() {
    let taquin = shared().await;
    let question =
        |algorithm: &str, board: &str| json!({ "board": board, "algorithm": algorithm, "solutions": { "max": 1000 } });
    for (rows, cols, moves) in [(3, 3, "ULLDRURDLLU"), (4, 4, "LL"), (4, 4, "UULLDRULDDR"), (2, 5, "LLULDRRR")] {
        let mut start = blank_last(rows, cols);
        moves.chars().for_each(|mv| assert!(slide(&mut start, mv).is_some(), "{moves}"));
        let board = &*notation(&start);
        let auto = taquin.solve(&question("auto", board)).await;
        assert!(auto["solutions"]["count"].as_u64() > Some(0));
        for algorithm in ["astar", "ida_star", "breadth_first", "iterative_deepening"] {
            let reply = taquin.solve(&question(algorithm, board)).await;
            for member in ["count", "moves"] {
                assert_eq!(reply["solutions"][member], auto["solutions"][member], "{algorithm} {board}");
            }
        }
        let by_link = Question::get("/solve").query("board", board).query("solutions.max", "1000");
        assert_eq!(taquin.send(by_link).await.expect(200).json()["solutions"], auto["solutions"]);
    }
}

#[tokio::test]
async fn a_search_for_the_first_solutions_only_does_not_count() {
    let taquin = shared().await;
    let all = taquin.solve(&json!({ "board": HARDEST, "solutions": { "max": 1 } })).await;
    let first = taquin.solve(&json!({ "board": HARDEST, "solutions": { "count": false, "max": 1 } })).await;
    assert_eq!(first["solutions"]["moves"], all["solutions"]["moves"]);
    assert!(first["solutions"]["count"].is_null() && first["solutions"]["expanded"] == 31, "{first}");
    assert_eq!(taquin.solve(&json!({ "board": HARDEST, "solutions": null })).await.get("solutions"), None);
    let text =
        Question::get("/solve").query("board", "123456078").query("solutions.count", "true").accept("text/plain");
    let text = taquin.send(text).await.expect(200).text().to_owned();
    assert!(text.contains("\n1 optimal solution:\nRR\n"), "{text}");
}

#[tokio::test]
async fn what_cannot_be_counted_is_a_problem() {
    let taquin = shared().await;
    for (question, expected) in [
        (json!({ "board": blank_last(5, 5), "solutions": { "count": true } }), "/solutions unsupported"),
        (
            json!({ "board": HARDEST, "algorithm": "greedy_best_first", "solutions": { "max": 1 } }),
            "/solutions unsupported",
        ),
        (json!({ "board": HARDEST, "solutions": { "max": 0 } }), "/solutions/max out-of-range"),
        (json!({ "board": HARDEST, "solutions": { "max": 1001 } }), "/solutions/max out-of-range"),
        (json!({ "board": HARDEST, "solutions": { "count": 1 } }), "/solutions/count wrong-type"),
        (json!({ "board": HARDEST, "solutions": { "most": 1 } }), "/solutions/most unknown-field"),
        (json!({ "board": HARDEST, "solutions": true }), "/solutions wrong-type"),
    ] {
        let answer = taquin.post("/solve", &question).await;
        assert!(matches!(answer.status, 400 | 422), "{answer}");
        assert_eq!(faults(&answer.json()), [expected], "{question}");
    }
    let hard = "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1";
    let proof = taquin.solve(&json!({ "board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", "goal": "blank_first" })).await;
    let expanded = proof["search"]["expanded"].as_u64().expect("a number") + 10;
    let limited = json!({
        "board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3", "goal": "blank_first", "limits": { "expanded": expanded },
        "solutions": { "count": true },
    });
    let problem = taquin.post("/solve", &limited).await.problem("search-limit-exceeded");
    assert_eq!((&problem["limit"], &problem["lower_bound"]), (&json!("expanded"), &json!(57)));
    assert!(
        problem["detail"].as_str().is_some_and(|detail| detail.contains("without all optimal solutions")),
        "{problem}"
    );
    let unproven = json!({ "board": hard, "limits": { "expanded": 100 }, "solutions": { "count": true } });
    let problem = taquin.post("/solve", &unproven).await.problem("search-limit-exceeded");
    assert_eq!(problem["solution"]["optimal"], false, "{problem}");
}
