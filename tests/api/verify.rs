//! `/verify`: legal and illegal moves, compared with the simulator and its distances.

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::{Client, shared};
use crate::question::Question;
use crate::simulator::{Grid, TO_BLANK_LAST, blank_last, cell_of, grid, grid_of, notation, slide};

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
        (json!({ "board": HARD, "moves": "U,L" }), vec!["/moves unknown-value"]),
        (json!({ "board": HARD, "moves": "2U" }), vec!["/moves unknown-value"]),
        (json!({ "board": HARD, "moves": "U0" }), vec!["/moves out-of-range"]),
        (json!({ "board": HARD, "moves": "U50001" }), vec!["/moves out-of-range"]),
        (json!({ "board": HARD, "moves": "U", "notation": "tiles" }), vec!["/notation unknown-value"]),
        (json!({ "board": HARD, "tiles": [7], "notation": "tile" }), vec!["/notation unsupported"]),
        (json!({ "board": HARD, "moves": "U", "include": ["step"] }), vec!["/include/0 unknown-value"]),
        (json!({ "board": HARD, "moves": "U", "exact": "yes" }), vec!["/exact wrong-type"]),
        (json!({ "board": blank_last(5, 5), "moves": "U", "exact": true }), vec!["/exact unsupported"]),
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

/// The moves of a random walk on the simulator.
fn random_walk(board: &Grid, moves: usize, word: &mut u64) -> String {
    let (mut board, mut walk) = (board.clone(), String::new());
    while walk.len() < moves {
        *word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mv = ['U', 'L', 'D', 'R'][(*word >> 62) as usize];
        if slide(&mut board, mv).is_some() {
            walk.push(mv);
        }
    }
    walk
}

#[tokio::test]
async fn steps_mark_every_mistake_on_walks_from_a_thousand_boards() {
    let (taquin, mut word) = (shared().await, 7);
    let mut boards: Vec<&Grid> = TO_BLANK_LAST.keys().collect();
    boards.sort();
    for start in boards.into_iter().step_by(181) {
        let walk = random_walk(start, 12, &mut word);
        let reply = verify(&taquin, &json!({ "board": start, "moves": walk, "include": ["steps"] })).await;
        let steps = reply["steps"].as_array().expect("steps");
        assert_eq!(steps.len(), walk.len());
        let (mut board, mut before) = (start.clone(), TO_BLANK_LAST[start]);
        for (mv, step) in walk.chars().zip(steps) {
            let tile = slide(&mut board, mv);
            let after = TO_BLANK_LAST[&board];
            let is_mistake = after > before;
            let expected = json!({
                "move": mv.to_string(), "tile": tile, "blank": cell_of(&board, 0), "remaining": distance(after),
                "mistake": is_mistake, "cost": if is_mistake { 2 } else { 0 },
            });
            assert_eq!(*step, expected, "{} {walk}", notation(start));
            before = after;
        }
        assert_eq!(reply["remaining"], distance(before));
    }
}

#[tokio::test]
async fn on_15_puzzles_exact_lengths_are_those_of_solve_and_no_moves_are_given_away() {
    let (taquin, mut word) = (shared().await, 3);
    for (rows, cols, moves) in [(4, 4, 60), (4, 4, 9), (3, 4, 40)] {
        let mut start = blank_last(rows, cols);
        for mv in random_walk(&start, moves, &mut word).chars() {
            slide(&mut start, mv);
        }
        let walk = random_walk(&start, 20, &mut word);
        let question = json!({ "board": start, "moves": walk, "include": ["steps"], "exact": true });
        let reply = verify(&taquin, &question).await;
        let mut board = start.clone();
        assert_eq!(reply["optimal_length"], taquin.solve(&json!({ "board": board })).await["length"]);
        for (mv, step) in walk.chars().zip(reply["steps"].as_array().expect("steps")) {
            slide(&mut board, mv);
            assert_eq!(step["remaining"]["optimal_length"], taquin.solve(&json!({ "board": board })).await["length"]);
        }
        let bare = json!({ "board": start, "moves": walk, "exact": true });
        let exact = verify(&taquin, &bare).await;
        assert_eq!((&exact["optimal_length"], &exact["remaining"]), (&reply["optimal_length"], &reply["remaining"]));
        assert_eq!(exact.get("steps"), None);
        // A response contains no moves but the moves of the request.
        let par = verify(&taquin, &json!({ "board": start, "moves": "", "exact": true })).await;
        assert!(par["optimal_length"].as_u64() > Some(0) && par["alg"] == "" && par.get("moves").is_none());
        let text =
            Question::get_as("/verify", &json!({ "board": start, "moves": "", "exact": true })).accept("text/plain");
        let text = taquin.send(text).await.expect(200).text().to_owned();
        assert!(!text.contains("Blank:") && text.contains(" to go"), "{text}");
    }
}

#[tokio::test]
async fn steps_on_large_boards_are_bounds() {
    let taquin = shared().await;
    let mut start = blank_last(6, 6);
    "UULLDRUL".chars().for_each(|mv| assert!(slide(&mut start, mv).is_some()));
    let reply = verify(&taquin, &json!({ "board": start, "moves": "RDLURRDD", "include": ["steps"] })).await;
    assert_eq!(reply["solves"], true, "{reply}");
    for (left, step) in (0..8).rev().zip(reply["steps"].as_array().expect("steps")) {
        assert!(step["remaining"]["lower_bound"].as_u64() <= Some(left), "{step}");
        assert_eq!(step["remaining"]["upper_bound"], left, "the rest of the moves is a solution");
        assert_eq!((&step["mistake"], &step["cost"]), (&Value::Null, &Value::Null));
    }
}

#[tokio::test]
async fn moves_are_read_in_both_notations_with_run_lengths() {
    let taquin = shared().await;
    let solution = taquin.solve(&json!({ "board": HARD })).await;
    let expected = verify(&taquin, &json!({ "board": HARD, "moves": solution["moves"] })).await;
    assert_eq!((&expected["alg"], &expected["lengths"]), (&solution["alg"], &solution["lengths"]));
    for question in [
        json!({ "board": HARD, "moves": solution["alg"], "notation": "tile" }),
        json!({ "board": HARD, "moves": solution["alg"].as_str().map(str::to_lowercase), "notation": "tile" }),
        json!({ "board": HARD, "moves": solution["moves"], "notation": "blank" }),
    ] {
        assert_eq!(verify(&taquin, &question).await, expected, "{question}");
    }
    // The scramble leads from the goal to the board.
    let back = json!({ "board": "1 2 3/4 5 6/7 8 0", "goal": HARD, "moves": solution["scramble"], "notation": "tile" });
    let back = verify(&taquin, &back).await;
    assert_eq!((&back["optimal"], &back["final"]), (&json!(true), &solution["start"]));
    let text = Question::get_as("/verify", &json!({ "board": "123456078", "moves": "RLRR", "include": ["steps"] }));
    let text = taquin.send(text.accept("text/plain")).await.expect(200).text().to_owned();
    assert!(
        text.contains("R: tile 7, 1 move to go\nL: tile 7, 2 moves to go; a mistake that costs 2 moves\n"),
        "{text}"
    );
}
