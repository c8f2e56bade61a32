//! `/explain`: parts that add up, and estimates that agree with the estimates of searches.

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::shared;
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, blank_last, find, grid_of};

/// The entry of a heuristic.
fn entry<'r>(reply: &'r Value, name: &str) -> &'r Value {
    let entries = reply["heuristics"].as_array().expect("heuristics");
    entries.iter().find(|entry| entry["name"] == name).unwrap_or_else(|| panic!("no {name} in {reply}"))
}

fn sum(list: &Value) -> u64 {
    list.as_array().expect("a list").iter().map(|part| part["cost"].as_u64().expect("a cost")).sum()
}

/// Checks what holds for every reply.
fn check(reply: &Value) {
    for entry in reply["heuristics"].as_array().expect("heuristics") {
        let h = entry["h"].as_u64().expect("h");
        assert_eq!(sum(&entry["tiles"]) + sum(&entry["conflicts"]) + sum(&entry["parts"]), h, "{entry}");
        let expected = reply["optimal_length"].as_u64().map(|length| h > length);
        assert_eq!(entry["overestimates"], json!(expected), "{entry}");
        assert!(entry["admissible"] == false || entry["overestimates"] != true, "{entry}");
    }
}

#[tokio::test]
async fn estimates_are_those_of_the_searches() {
    let taquin = shared().await;
    for seed in 0..10 {
        for (rows, cols) in [(3, 3), (2, 4), (3, 4), (4, 4)] {
            let drawn =
                taquin.get(&format!("/random?rows={rows}&cols={cols}&seed={seed}&walk=14")).await.expect(200).json();
            let reply = taquin.post("/explain", &json!({ "board": drawn["board"] })).await.expect(200).json();
            check(&reply);
            assert_eq!(reply["optimal_length"], drawn.get("length").cloned().unwrap_or(Value::Null));
            for entry in reply["heuristics"].as_array().expect("heuristics") {
                let question = json!({
                    "board": drawn["board"], "algorithm": "astar", "heuristic": entry["name"], "include": ["states"]
                });
                if entry["name"] == "pattern_database" {
                    continue;
                }
                let solved = taquin.solve(&question).await;
                assert_eq!(solved["states"][0]["h"], entry["h"], "{entry}");
            }
        }
    }
}

#[tokio::test]
async fn tiles_have_their_manhattan_and_hamming_costs() {
    let taquin = shared().await;
    for seed in 0..10 {
        let drawn = taquin.get(&format!("/random?rows=5&cols=4&seed={seed}")).await.expect(200).json();
        let reply = taquin.post("/explain", &json!({ "board": drawn["board"] })).await.expect(200).json();
        check(&reply);
        let (board, goal) = (grid_of(&drawn["board"]), blank_last(5, 4));
        let distance = |tile| {
            let ((row, col), (to_row, to_col)) = (find(&board, tile), find(&goal, tile));
            row.abs_diff(to_row) + col.abs_diff(to_col)
        };
        let manhattan: Vec<Value> = (1..20).map(|tile| json!({ "tile": tile, "cost": distance(tile) })).collect();
        assert_eq!(entry(&reply, "manhattan")["tiles"], json!(manhattan));
        assert_eq!(entry(&reply, "linear_conflict")["tiles"], json!(manhattan));
        let hamming = |tile| json!({ "tile": tile, "cost": u8::from(distance(tile) > 0) });
        assert_eq!(entry(&reply, "hamming")["tiles"], json!((1..20).map(hamming).collect::<Vec<_>>()));
        assert_eq!(entry(&reply, "misplaced_with_blank")["tiles"], json!((0..20).map(hamming).collect::<Vec<_>>()));
    }
}

#[tokio::test]
async fn disputed_conflicts_have_the_right_cost() {
    let taquin = shared().await;
    let conflict = |line: &str, tiles: &[u8], leaving: &[u8], cost: u8| json!({ "line": line, "tiles": tiles, "leaving": leaving, "cost": cost });
    for (board, expected) in [
        ("3 1 2/4 5 6/7 8 0", json!([conflict("row 1", &[3, 1, 2], &[3], 2)])),
        ("3 2 1/4 6 5/7 8 0", json!([conflict("row 1", &[3, 2, 1], &[2, 1], 4), conflict("row 2", &[6, 5], &[5], 2)])),
        ("1 2 3/7 5 6/4 8 0", Value::Null),
        ("4 2 3/1 6 5/7 8 0", json!([conflict("row 2", &[6, 5], &[5], 2), conflict("column 1", &[4, 1], &[1], 2)])),
        ("1 2 3/4 5 6/7 0 8", json!([])),
    ] {
        let answer = taquin.post("/explain", &json!({ "board": board })).await;
        if expected.is_null() {
            answer.problem("unsolvable");
            continue;
        }
        let reply = answer.expect(200).json();
        check(&reply);
        assert_eq!(entry(&reply, "linear_conflict")["conflicts"], expected, "{board}");
        assert_eq!(
            Some(entry(&reply, "pattern_database")["h"].clone()),
            TO_BLANK_LAST.get(&grid_of(&reply["start"])).map(|length| json!(length))
        );
    }
}

#[tokio::test]
async fn heuristics_that_do_not_serve_the_size_are_left_out() {
    let taquin = shared().await;
    for (rows, cols, served) in [(3, 3, true), (6, 6, false), (10, 10, false), (5, 5, false)] {
        let drawn = taquin.get(&format!("/random?rows={rows}&cols={cols}&seed=1")).await.expect(200).json();
        let reply = taquin.post("/explain", &json!({ "board": drawn["board"] })).await.expect(200).json();
        check(&reply);
        let has =
            |name: &str| reply["heuristics"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == name));
        assert_eq!((has("walking_distance"), reply["optimal_length"].is_u64()), (served, served), "{rows}×{cols}");
        assert!(has("zero") && has("inversion_distance"));
    }
}

#[tokio::test]
async fn get_post_and_text_agree() {
    let taquin = shared().await;
    let body = json!({ "board": "8 6 7/2 5 4/3 0 1", "goal": "blank_last" });
    let posted = taquin.post("/explain", &body).await.expect(200).json();
    assert_eq!(taquin.send(Question::get_as("/explain", &body)).await.expect(200).json(), posted);
    let text = taquin.send(Question::get_as("/explain", &body).accept("text/plain")).await.expect(200);
    assert!(text.text().contains("Optimal length: 31 moves.\n"), "{}", text.text());
    assert!(text.text().contains("\nmanhattan: 21\n  3 "), "{}", text.text());
    let problem = taquin.get("/explain?board=123456870").await.problem("unsolvable");
    assert_eq!(problem["solvable"], false);
    let problem = taquin.get("/explain?board=12&moves=U").await.problem("invalid-parameter");
    assert!(faults(&problem).contains(&"/moves unknown-field".to_owned()), "{problem}");
}
