//! `/verify`: legal and illegal moves, compared with the simulator and its distances.

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::{Client, shared};
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, blank_last, grid, grid_of, slide};

const HARD: &str = "3 7 8/2 0 6/4 5 1";

async fn verify(taquin: &Client, question: &Value) -> Value {
    taquin.post("/verify", question).await.expect(200).json()
}

fn distance(length: u64) -> Value {
    json!({ "lower_bound": length, "upper_bound": length, "optimal_length": length })
}

#[tokio::test]
async fn a_solution_of_the_service_is_legal_and_optimal() {
    let taquin = shared().await;
    for board in ["8 6 7/2 5 4/3 0 1", HARD, "1 2 3/4 5 6/7 8 0"] {
        let solution = taquin.solve(&json!({ "board": board })).await;
        let by_moves = verify(&taquin, &json!({ "board": board, "moves": solution["moves"] })).await;
        let by_tiles = verify(&taquin, &json!({ "board": board, "tiles": solution["tiles"] })).await;
        assert_eq!(by_moves, by_tiles, "{board}");
        for member in ["legal", "solves", "optimal", "solvable"] {
            assert_eq!(by_moves[member], true, "{member} of {board}");
        }
        assert_eq!(by_moves["illegal"], Value::Null);
        assert_eq!(by_moves["length"], solution["length"]);
        assert_eq!(by_moves["optimal_length"], solution["length"]);
        assert_eq!(by_moves["final"], solution["goal"]);
        assert_eq!(by_moves["remaining"], distance(0));
    }
}

#[tokio::test]
async fn every_prefix_of_a_walk_has_its_distance() {
    let taquin = shared().await;
    let walk = "ULDDRRUULLDRDLURRDLULDRRUUUU";
    let mut board = grid(HARD);
    for made in 0..walk.len() {
        let reply = verify(&taquin, &json!({ "board": HARD, "moves": walk[..made].to_lowercase() })).await;
        assert_eq!(grid_of(&reply["final"]), board, "after {made}");
        assert_eq!(reply["remaining"], distance(TO_BLANK_LAST[&board]), "after {made}");
        assert_eq!(reply["optimal_length"], TO_BLANK_LAST[&grid(HARD)]);
        assert_eq!(reply["length"], made);
        let mv = walk[made..].chars().next().expect("a letter");
        if slide(&mut board, mv).is_some() {
            continue;
        }
        let reply = verify(&taquin, &json!({ "board": HARD, "moves": walk })).await;
        assert_eq!(reply["legal"], false);
        assert_eq!((&reply["illegal"]["index"], &reply["illegal"]["move"]), (&json!(made), &json!(mv.to_string())));
        assert_eq!(reply["illegal"]["tile"], Value::Null);
        assert_eq!((&reply["length"], grid_of(&reply["final"])), (&json!(made), board), "the legal prefix is made");
        return;
    }
    panic!("the walk was to leave the board");
}

#[tokio::test]
async fn a_tile_that_is_not_beside_the_blank_is_illegal() {
    let taquin = shared().await;
    let reply = verify(&taquin, &json!({ "board": "123456078", "tiles": [7, 1, 8] })).await;
    assert_eq!(reply["illegal"]["index"], 1);
    assert_eq!(reply["illegal"]["tile"], 1);
    assert_eq!(reply["illegal"]["move"], Value::Null);
    assert_eq!(reply["solves"], false);
    assert_eq!(reply["remaining"], distance(1));
}

#[tokio::test]
async fn moves_that_end_at_the_goal_after_an_illegal_one_do_not_solve() {
    let taquin = shared().await;
    let reply = verify(&taquin, &json!({ "board": "123456078", "moves": "RRR" })).await;
    assert_eq!((&reply["legal"], &reply["solves"], &reply["length"]), (&json!(false), &json!(false), &json!(2)));
    assert_eq!(reply["final"], reply["goal"]);
}

#[tokio::test]
async fn a_longer_solution_solves_and_is_not_optimal() {
    let taquin = shared().await;
    let reply = verify(&taquin, &json!({ "board": "123456078", "moves": "URDLURDLRR" })).await;
    assert_eq!(reply["legal"], true, "{reply}");
    let reply = verify(&taquin, &json!({ "board": "123456078", "moves": "RLRR" })).await;
    assert_eq!((&reply["solves"], &reply["optimal"], &reply["length"]), (&json!(true), &json!(false), &json!(4)));
    assert_eq!(reply["optimal_length"], 2);
}

#[tokio::test]
async fn a_board_that_cannot_reach_its_goal_can_still_be_moved() {
    let taquin = shared().await;
    let reply = verify(&taquin, &json!({ "board": "123456870", "moves": "UL" })).await;
    assert_eq!((&reply["legal"], &reply["solvable"], &reply["solves"]), (&json!(true), &json!(false), &json!(false)));
    let unknown = json!({ "lower_bound": null, "upper_bound": null, "optimal_length": null });
    assert_eq!(reply["remaining"], unknown);
    assert_eq!(reply["lower_bound"], Value::Null);
}

#[tokio::test]
async fn on_large_boards_there_are_proven_bounds() {
    let taquin = shared().await;
    for (rows, cols) in [(4, 4), (3, 5), (10, 10)] {
        let goal = blank_last(rows, cols);
        let mut board = goal.clone();
        for mv in "ULULDRUL".chars() {
            slide(&mut board, mv);
        }
        let reply = verify(&taquin, &json!({ "board": board, "moves": "RDLURDRD" })).await;
        assert_eq!((&reply["solves"], &reply["optimal_length"]), (&json!(true), &Value::Null), "{rows}×{cols}");
        assert!(reply["upper_bound"].as_u64() <= Some(8), "the moves themselves are a solution: {reply}");
        assert!(reply["lower_bound"].as_u64() <= Some(8), "{reply}");
        assert_eq!(reply["remaining"], json!({ "lower_bound": 0, "upper_bound": 0, "optimal_length": null }));
    }
}

#[tokio::test]
async fn moves_are_made_towards_any_goal() {
    let taquin = shared().await;
    let question = json!({ "board": "2 8 3/1 6 4/7 0 5", "goal": "1 2 3/8 6 4/7 5 0", "moves": "" });
    let reply = verify(&taquin, &question).await;
    assert_eq!((&reply["length"], &reply["remaining"]), (&json!(0), &distance(7)));
    let flat = json!({ "board": [1, 2, 3, 4, 0, 5], "rows": 2, "cols": 3, "tiles": [5] });
    assert_eq!(verify(&taquin, &flat).await["optimal"], true);
}

#[tokio::test]
async fn get_and_text_bodies_give_the_same_response() {
    let taquin = shared().await;
    for question in [
        json!({ "board": HARD, "moves": "URDLL" }),
        json!({ "board": HARD, "goal": "snail", "tiles": [7, 8, 6] }),
        json!({ "board": HARD, "moves": "" }),
        json!({ "board": HARD, "tiles": [] }),
    ] {
        let expected = verify(&taquin, &question).await;
        let by_get = taquin.send(Question::get_as("/verify", &question)).await.expect(200);
        assert_eq!(by_get.json(), expected, "{question}");
        assert!(by_get.header("etag").starts_with("W/"), "{by_get}");
    }
    let text = Question::post("/verify?moves=RR").body("text/plain", "1 2 3\n4 5 6\n_ 7 8\n");
    assert_eq!(taquin.send(text).await.expect(200).json()["optimal"], true);
}

#[tokio::test]
async fn text_describes_the_result() {
    let taquin = shared().await;
    for (board, moves, expected) in [
        ("123456078", "RR", "2 moves, all legal.\nSolved optimally."),
        ("123456078", "RLRR", "4 moves, all legal.\nSolved; an optimal solution has 2 moves."),
        ("123456078", "R", "1 move, all legal.\nNot solved; 1 move to go."),
        ("123456078", "RD", "1 move, then D (index 1) is illegal. The blank is in row 3, column 2"),
        ("123456870", "U", "Not solved: the board is unsolvable"),
    ] {
        let question = Question::get("/verify").query("board", board).query("moves", moves).accept("text/plain");
        let answer = taquin.send(question).await.expect(200);
        assert!(answer.text().contains(expected), "{answer}");
    }
}

#[tokio::test]
async fn an_invalid_attempt_is_rejected_with_every_error() {
    let taquin = shared().await;
    for (question, expected) in [
        (json!({ "board": HARD }), vec!["/moves missing-field"]),
        (json!({ "board": HARD, "moves": "U", "tiles": [1] }), vec!["/tiles unsupported"]),
        (json!({ "board": HARD, "moves": "URX" }), vec!["/moves unknown-value"]),
        (json!({ "board": HARD, "moves": "URX", "tiles": [0] }), vec!["/tiles unsupported", "/moves unknown-value"]),
        (json!({ "board": HARD, "moves": "U L" }), vec!["/moves unknown-value"]),
        (json!({ "board": HARD, "moves": ["U"] }), vec!["/moves wrong-type"]),
        (json!({ "board": HARD, "moves": null }), vec!["/moves missing-field"]),
        (json!({ "board": HARD, "tiles": "7" }), vec!["/tiles wrong-type"]),
        (json!({ "board": HARD, "tiles": [7, 0, 9] }), vec!["/tiles/1 out-of-range", "/tiles/2 out-of-range"]),
        (json!({ "board": HARD, "tiles": [7, "8", 1.5] }), vec!["/tiles/1 wrong-type", "/tiles/2 wrong-type"]),
        (json!({ "board": "12", "tiles": [100] }), vec!["/board shape-unknown", "/tiles/0 out-of-range"]),
        (json!({ "board": HARD, "move": "U", "moves": "U" }), vec!["/move unknown-field"]),
        (json!({ "board": HARD, "moves": "U".repeat(50_001) }), vec!["/moves out-of-range"]),
    ] {
        let answer = taquin.post("/verify", &question).await.expect(422);
        assert_eq!(faults(&answer.json()), expected, "{}", answer.json());
    }
    let both = Question::get("/verify").query("board", HARD).query("moves", "U").query("tiles", "x,8,0");
    assert_eq!(faults(&taquin.send(both).await.problem("invalid-parameter")), ["/tiles unsupported"]);
    let tiles = Question::get("/verify").query("board", HARD).query("tiles", "x,8,0");
    let problem = taquin.send(tiles).await.problem("invalid-parameter");
    assert_eq!(faults(&problem), ["/tiles/0 wrong-type", "/tiles/2 out-of-range"]);
}

#[tokio::test]
async fn as_many_moves_are_looked_at_as_info_says() {
    let taquin = shared().await;
    let most = taquin.get("/info").await.expect(200).json()["limits"]["moves"].as_u64().expect("a number") as usize;
    let reply = verify(&taquin, &json!({ "board": HARD, "moves": "UDLR".repeat(most / 4) })).await;
    assert_eq!((&reply["legal"], &reply["length"]), (&json!(true), &json!(most)));
    let slides = vec![7; 20_000];
    let tiles = verify(&taquin, &json!({ "board": HARD, "tiles": slides })).await;
    assert_eq!((&tiles["legal"], &tiles["length"]), (&json!(true), &json!(20_000)));
}
