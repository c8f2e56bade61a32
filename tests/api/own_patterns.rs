//! `patterns`: pattern databases of one's own, for `/solve`, `/explain` and `/compare`.

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::{Service, shared};
use crate::load::until_idle;
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, grid};

const HARDEST: &str = "8 6 7/2 5 4/3 0 1";

fn costs(tables: &Value) -> u64 {
    tables.as_array().expect("tables").iter().map(|table| table["cost"].as_u64().expect("a cost")).sum()
}

#[tokio::test]
async fn searches_use_and_describe_the_patterns() {
    let taquin = shared().await;
    for (patterns, others) in [(json!([[4, 3, 2, 1], [5, 6, 7, 8]]), false), (json!([[1, 2], [3, 6]]), true)] {
        for algorithm in ["auto", "astar", "ida_star"] {
            let question = json!({ "board": HARDEST, "algorithm": algorithm, "patterns": patterns });
            let reply = taquin.post("/solve", &question).await.expect(200).json();
            assert_eq!(reply["length"].as_u64(), Some(TO_BLANK_LAST[&grid(HARDEST)]), "{reply}");
            let search = &reply["search"];
            assert_eq!((&search["heuristic"], &search["tables"]), (&json!("pattern_database"), &Value::Null));
            let tables = search["patterns"].as_array().expect("tables");
            assert_eq!(tables.len(), 2);
            let initial = search["initial_h"].as_u64().expect("a number");
            let sum = costs(&search["patterns"]);
            assert!(if others { sum < initial } else { sum == initial }, "{search}");
            let first = &tables[0];
            assert!(first["bytes"].as_u64() >= first["entries"].as_u64().map(|entries| entries / 8), "{first}");
        }
        let by_get = Question::get("/solve").query("board", HARDEST).query("patterns", &patterns.to_string());
        taquin.send(by_get).await.expect(200);
    }
    let reply = taquin.solve(&json!({ "board": HARDEST, "patterns": [[4, 3, 2, 1]] })).await;
    assert_eq!(reply["search"]["patterns"][0]["tiles"], json!([1, 2, 3, 4]));
    let plain = taquin.solve(&json!({ "board": HARDEST })).await;
    assert!(plain["search"]["patterns"].is_null(), "{plain}");
}

#[tokio::test]
async fn an_explanation_has_the_estimate_of_the_patterns() {
    let taquin = shared().await;
    let question = json!({ "board": HARDEST, "patterns": [[1, 2, 3], [5, 8]] });
    let reply = taquin.post("/explain", &question).await.expect(200).json();
    let estimate = &reply["patterns"]["estimate"];
    let tiles: u64 = estimate["tiles"].as_array().expect("tiles").iter().filter_map(|tile| tile["cost"].as_u64()).sum();
    assert_eq!(estimate["tiles"].as_array().map(Vec::len), Some(3), "tiles 4, 6 and 7 are in no pattern");
    assert_eq!(estimate["h"].as_u64(), Some(tiles + costs(&reply["patterns"]["tables"])), "{reply}");
    let solved = taquin.solve(&question).await;
    assert_eq!(solved["search"]["initial_h"], estimate["h"]);
    assert_eq!(solved["search"]["patterns"], reply["patterns"]["tables"]);
    let text = taquin.send(Question::post("/explain").json(&question).accept("text/plain")).await.expect(200);
    assert!(text.text().contains("\n  table of 5 8: "), "{text}");
}

#[tokio::test]
async fn methods_with_patterns_are_compared() {
    let taquin = shared().await;
    let methods = json!([
        { "algorithm": "astar", "patterns": [[1, 2, 3, 4], [5, 6, 7, 8]] },
        { "algorithm": "ida_star", "heuristic": "pattern_database", "patterns": [[1, 2, 3, 4, 5, 6], [7, 8]] },
    ]);
    let question = json!({ "boards": [HARDEST, "123456708"], "methods": methods, "include": ["rows"] });
    let reply = taquin.post("/compare", &question).await.expect(200).json();
    let rows = reply["rows"].as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| row["length"].as_u64()).collect::<Vec<_>>(), [31, 31, 1, 1].map(Some));
    assert_eq!(rows[1]["patterns"], methods[1]["patterns"]);
    let table = taquin.send(Question::post("/compare").json(&question).accept("text/csv")).await.expect(200);
    assert!(table.text().contains(",astar,auto,,,,,,1 2 3 4/5 6 7 8,31,true,"), "{table}");
    let text = taquin.send(Question::post("/compare").json(&question).accept("text/plain")).await.expect(200);
    assert!(text.text().contains(" ida_star pattern_database 1 2 3 4 5 6/7 8: length 31, "), "{text}");
    let single = json!({ "board": HARDEST, "methods": methods });
    let reply = taquin.post("/compare", &single).await.expect(200).json();
    assert_eq!(reply["results"][0]["search"]["patterns"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn all_errors_of_patterns_are_reported_at_once() {
    let taquin = shared().await;
    for (board, patterns, expected) in [
        (
            HARDEST,
            json!([[1, 0], [], [1, 9, 2]]),
            vec![
                "/patterns/0/1 tile-out-of-range",
                "/patterns/1 out-of-range",
                "/patterns/2/0 duplicate-tile",
                "/patterns/2/1 tile-out-of-range",
            ],
        ),
        (HARDEST, json!([]), vec!["/patterns out-of-range"]),
        (HARDEST, json!([[1, "2"], 3]), vec!["/patterns/0/1 wrong-type", "/patterns/1 wrong-type"]),
        (HARDEST, json!("1 2"), vec!["/patterns wrong-type"]),
        ("fifteen", json!([[1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13, 14]]), vec!["/patterns out-of-range"]),
        ("fifteen", json!([[1], [2], [3], [4], [5], [6], [7]]), vec!["/patterns out-of-range"]),
    ] {
        let board = if board == "fifteen" { "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15" } else { board };
        for path in ["/solve", "/explain"] {
            let question = json!({ "board": board, "patterns": patterns });
            let problem = taquin.post(path, &question).await.problem("invalid-request");
            assert_eq!(faults(&problem), expected, "{path} {patterns}");
        }
    }
    let large = json!({ "board": { "rows": 5 }, "patterns": [[1]] });
    taquin.post("/solve", &large).await.problem("invalid-request");
    for fields in [json!({ "heuristic": "manhattan" }), json!({ "algorithm": "breadth_first" })] {
        let mut question = fields;
        question["board"] = json!(HARDEST);
        question["patterns"] = json!([[1, 2]]);
        let problem = taquin.post("/solve", &question).await.problem("unsupported-combination");
        assert_eq!(faults(&problem), ["/patterns unsupported"], "{question}");
    }
}

#[tokio::test]
async fn the_construction_of_tables_is_work_of_the_pool() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let patterns = json!([[1, 2, 3, 4, 5, 6, 7], [8, 9, 10, 11, 12, 13]]);
    let mut question = json!({ "board": "15 14 8 12/10 11 9 13/2 6 5 1/3 4 7 0", "patterns": patterns });
    question["algorithm"] = json!("astar");
    question["limits"] = json!({ "time_ms": 5 });
    let problem = client.post("/solve", &question).await.problem("search-limit-exceeded");
    assert_eq!(problem["limit"], "time");
    until_idle(&client).await;
    let pending = client.begin(Question::post("/explain").json(&question_without_search(&question))).await;
    pending.hang_up();
    until_idle(&client).await;
}

/// The fields of a question that `/explain` takes.
fn question_without_search(question: &Value) -> Value {
    json!({ "board": question["board"], "patterns": question["patterns"] })
}
