//! `/moves`: the legal moves, compared with the simulator and its distances.

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::{Client, Service, shared};
use crate::question::Question;
use crate::simulator::{Grid, TO_BLANK_LAST, all_boards, blank_last, grid, grid_of, notation, slide};

const KORF: &str = include_str!("../../benches/data/korf15.txt");

async fn moves(taquin: &Client, question: &Value) -> Value {
    taquin.post("/moves", question).await.expect(200).json()
}

/// Checks all members that follow from the board alone, and returns the lengths after the moves.
fn lengths(reply: &Value, board: &Grid) -> Vec<u64> {
    let mut bits = 0;
    for legal in reply["moves"].as_array().expect("moves") {
        let mv = legal["move"].as_str().and_then(|mv| mv.chars().next()).expect("a letter");
        let mut after = board.clone();
        assert_eq!(slide(&mut after, mv), legal["tile"].as_u64(), "{legal}");
        assert_eq!(grid_of(&legal["board"]), after);
        bits |= 1 << "ULDR".find(mv).expect("a direction");
    }
    let is_legal = |mv: &char| slide(&mut board.clone(), *mv).is_some();
    let expected = "ULDR".chars().filter(is_legal).map(|mv| 1 << "ULDR".find(mv).expect("a direction")).sum::<u64>();
    assert_eq!((bits, reply["actions"].as_u64()), (expected, Some(expected)), "{reply}");
    let exact = |legal: &Value| legal["remaining"]["optimal_length"].as_u64().expect("a length");
    let lengths: Vec<u64> = reply["moves"].as_array().into_iter().flatten().map(exact).collect();
    assert!(lengths.is_sorted(), "{reply}");
    lengths
}

#[tokio::test]
async fn a_thousand_boards_have_the_distances_of_breadth_first_search() {
    let taquin = shared().await;
    let boards = all_boards(3, 3);
    let solvable = boards.iter().filter(|board| TO_BLANK_LAST.contains_key(*board));
    for board in solvable.step_by(180).chain([&grid("1 2 3/4 5 6/7 8 0")]) {
        let reply = moves(&taquin, &json!({ "board": board })).await;
        lengths(&reply, board);
        let here = TO_BLANK_LAST[board];
        assert_eq!(reply["remaining"]["optimal_length"], here);
        for legal in reply["moves"].as_array().expect("moves") {
            let after = TO_BLANK_LAST[&grid_of(&legal["board"])];
            assert_eq!(
                legal["remaining"],
                json!({ "lower_bound": after, "upper_bound": after, "optimal_length": after })
            );
            assert_eq!(legal["optimal"], after < here, "{}", notation(board));
        }
    }
}

#[tokio::test]
async fn moves_on_korfs_boards_are_one_nearer_or_one_farther() {
    let taquin = shared().await;
    for line in KORF.lines().filter(|line| !line.starts_with('#')) {
        let numbers: Vec<u64> = line.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        let board: Grid = numbers[1..17].chunks(4).map(<[u64]>::to_vec).collect();
        let reply = moves(&taquin, &json!({ "board": board, "goal": "blank_first" })).await;
        let length = numbers[17];
        assert_eq!(reply["remaining"]["optimal_length"], length);
        let after = lengths(&reply, &board);
        assert!(after[0] == length - 1 && after.iter().all(|after| after.abs_diff(length) == 1), "{reply}");
        for (legal, after) in reply["moves"].as_array().expect("moves").iter().zip(&after).skip(1) {
            let question = json!({ "board": legal["board"], "goal": "blank_first" });
            assert_eq!(taquin.solve(&question).await["length"], *after, "number {}", numbers[0]);
        }
    }
}

#[tokio::test]
async fn equal_moves_are_in_successor_order_and_the_goal_has_no_optimal_move() {
    let taquin = shared().await;
    let letters = |reply: &Value| -> String {
        reply["moves"].as_array().into_iter().flatten().filter_map(|legal| legal["move"].as_str()).collect()
    };
    for (rows, cols) in [(2, 2), (3, 3), (3, 4), (4, 4)] {
        let reply = moves(&taquin, &json!({ "board": blank_last(rows, cols) })).await;
        assert_eq!(letters(&reply), "UL");
        assert_eq!(lengths(&reply, &blank_last(rows, cols)), [1, 1]);
        assert!(reply["moves"].as_array().into_iter().flatten().all(|legal| legal["optimal"] == false), "{reply}");
    }
    let reply = moves(&taquin, &json!({ "board": "1 2 3/4 5 6/0 7 8" })).await;
    assert_eq!((letters(&reply).as_str(), &reply["actions"]), ("RU", &json!(9)));
}

#[tokio::test]
async fn on_larger_boards_there_are_bounds() {
    let taquin = shared().await;
    for (rows, cols) in [(5, 5), (3, 6), (10, 10)] {
        let mut board = blank_last(rows, cols);
        "ULULDRUL".chars().for_each(|mv| assert!(slide(&mut board, mv).is_some()));
        let reply = moves(&taquin, &json!({ "board": board })).await;
        let bounds = |remaining: &Value| (remaining["lower_bound"].as_u64(), remaining["upper_bound"].as_u64());
        let (low, high) = bounds(&reply["remaining"]);
        assert!(low <= Some(8) && high >= low, "{reply}");
        for legal in reply["moves"].as_array().expect("moves") {
            assert_eq!((&legal["optimal"], &legal["remaining"]["optimal_length"]), (&Value::Null, &Value::Null));
            let (after_low, after_high) = bounds(&legal["remaining"]);
            assert!(after_low >= low.map(|low| low.saturating_sub(1)) && after_high <= high.map(|high| high + 1));
        }
    }
}

#[tokio::test]
async fn moves_of_an_unsolvable_board_have_no_distance() {
    let taquin = shared().await;
    let reply = moves(&taquin, &json!({ "board": "123456870" })).await;
    assert_eq!((&reply["solvable"], &reply["actions"]), (&json!(false), &json!(3)));
    assert_eq!(reply["remaining"], Value::Null);
    for legal in reply["moves"].as_array().expect("moves") {
        assert!(legal.get("remaining").is_none() && legal["optimal"].is_null(), "{legal}");
    }
    let text = Question::get("/moves").query("board", "123456870").accept("text/plain");
    assert!(taquin.send(text).await.expect(200).text().contains("unsolvable"));
}

#[tokio::test]
async fn text_lists_the_moves() {
    let taquin = shared().await;
    let text = Question::get("/moves").query("board", "123456078").accept("text/plain");
    assert_eq!(
        taquin.send(text).await.expect(200).text(),
        "1 2 3\n4 5 6\n. 7 8\n\n2 moves to go.\nR: tile 7, then 1 move to go (optimal)\nU: tile 4, then 3 moves to go\n"
    );
}

#[tokio::test]
async fn a_limit_ends_the_proof_and_invalid_fields_are_reported() {
    let taquin = shared().await;
    let hard = "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1";
    let limited = json!({ "board": hard, "limits": { "expanded": 100 } });
    for path in ["/moves", "/verify?moves=R&exact=true", "/verify?moves=R&include=steps"] {
        let problem = taquin.post(path, &limited).await.problem("search-limit-exceeded");
        assert_eq!(problem["limit"], "expanded", "{path}");
        assert!(problem.get("solution").is_none(), "no moves are given away: {problem}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("a proof of the optimal length")));
    }
    let wrong = taquin.post("/moves", &json!({ "board": "123", "moves": "U", "limits": { "time_ms": 0 } })).await;
    assert_eq!(
        faults(&wrong.expect(422).json()),
        ["/moves unknown-field", "/board shape-unknown", "/limits/time_ms out-of-range"]
    );
}

#[tokio::test]
async fn all_searches_together_keep_the_time_limit() {
    // A service of its own, because time in the queue counts too.
    let service = Service::start(&[]).await;
    let hard = json!({ "board": "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1", "limits": { "time_ms": 100 } });
    let problem = service.client().post("/moves", &hard).await.problem("search-limit-exceeded");
    assert_eq!((&problem["limit"], &problem["limits"]["time_ms"]), (&json!("time"), &json!(100)));
}
