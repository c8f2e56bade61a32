//! Rejected requests: status, slug, pointer and code of each problem.

use serde_json::json;

use crate::answer::{faults, timeless};
use crate::client::{Service, shared};
use crate::question::Question;

const BOARD: &str = "8 6 7/2 5 4/3 0 1";

#[tokio::test]
async fn invalid_json_is_malformed() {
    let taquin = shared().await;
    let deep = format!("{{\"board\": {}1{}}}", "[".repeat(5000), "]".repeat(5000));
    let bodies: [&[u8]; 15] = [
        b"",
        b"   ",
        b"{",
        b"{\"board\": }",
        b"{\"board\": [[8,6,7],[2,5,4],[3,0,1]",
        b"{\"board\": [8,6,7,2,5,4,3,0,01]}",
        b"{\"board\": [8,6,7,2,5,4,3,0,1,]}",
        b"{'board': '867254301'}",
        b"{\"board\": NaN}",
        b"{\"board\": \"867254301\"} x",
        b"{\"board\": \"867254301\"}{}",
        b"{\"board\": \"867254301\" \"goal\": \"snail\"}",
        b"{\"board\": \"8672\xff4301\"}",
        b"{\"board\": \"867254301\\ud800\"}",
        deep.as_bytes(),
    ];
    for body in bodies {
        for path in ["/solve", "/solvable"] {
            let question = Question::post(path).body("application/json", body.to_vec());
            let problem = taquin.send(question).await.problem("malformed-json");
            assert_eq!(problem["instance"], path);
        }
    }
}

#[tokio::test]
async fn json_that_is_neither_object_nor_board_is_of_the_wrong_type() {
    let taquin = shared().await;
    for (body, expected) in
        [(json!(42), "/board wrong-type"), (json!(true), "/board wrong-type"), (json!(null), "/board missing-field")]
    {
        let problem = taquin.post("/solve", &body).await.problem("invalid-request");
        assert_eq!(faults(&problem), [expected], "{body}");
    }
}

#[tokio::test]
async fn fields_are_checked_for_their_type_and_range() {
    let taquin = shared().await;
    for (question, expected) in [
        (json!({}), "/board missing-field"),
        (json!({ "goal": "snail" }), "/board missing-field"),
        (json!({ "board": 42 }), "/board wrong-type"),
        (json!({ "board": null }), "/board missing-field"),
        (json!({ "board": { "rows": [] } }), "/board wrong-type"),
        (json!({ "board": [[8, 6, 7], [2, 5, 4], [3, 0, "1"]] }), "/board/2/2 wrong-type"),
        (json!({ "board": [[8, 6, 7], [2, 5, 4], [3, 0, 1.0]] }), "/board/2/2 wrong-type"),
        (json!({ "board": [[8, 6, 7], [2, 5, 4], [3, 0, 1.5]] }), "/board/2/2 wrong-type"),
        (json!({ "board": [[8, 6, 7], [2, 5, 4], [3, 0, true]] }), "/board/2/2 wrong-type"),
        (json!({ "board": [8, 6, 7, 2, 5, 4, 3, 0, {}] }), "/board/8 wrong-type"),
        (json!({ "board": BOARD, "goal": 7 }), "/goal wrong-type"),
        (json!({ "board": BOARD, "goal": [[1, 2, 3], [4, 5, 6], [7, 8, false]] }), "/goal/2/2 wrong-type"),
        (json!({ "board": BOARD, "rows": "3" }), "/rows wrong-type"),
        (json!({ "board": BOARD, "cols": 3.5 }), "/cols wrong-type"),
        (json!({ "board": BOARD, "encoding": "base64" }), "/encoding unknown-value"),
        (json!({ "board": BOARD, "algorithm": "dijkstra" }), "/algorithm unknown-value"),
        (json!({ "board": BOARD, "algorithm": 1 }), "/algorithm wrong-type"),
        (json!({ "board": BOARD, "heuristic": "euclid" }), "/heuristic unknown-value"),
        (json!({ "board": BOARD, "tie_breaking": "random" }), "/tie_breaking unknown-value"),
        (json!({ "board": BOARD, "duplicate_detection": "none" }), "/duplicate_detection unknown-value"),
        (json!({ "board": BOARD, "successor_order": "ULD" }), "/successor_order unknown-value"),
        (json!({ "board": BOARD, "successor_order": "ULDD" }), "/successor_order unknown-value"),
        (json!({ "board": BOARD, "successor_order": ["U", "L", "D", "R"] }), "/successor_order wrong-type"),
        (json!({ "board": BOARD, "require": "best" }), "/require unknown-value"),
        (json!({ "board": BOARD, "weight": 0.99, "algorithm": "weighted_astar" }), "/weight out-of-range"),
        (json!({ "board": BOARD, "weight": 100.01, "algorithm": "weighted_astar" }), "/weight out-of-range"),
        (json!({ "board": BOARD, "weight": -1, "algorithm": "weighted_astar" }), "/weight out-of-range"),
        (json!({ "board": BOARD, "weight": "2", "algorithm": "weighted_astar" }), "/weight wrong-type"),
        (json!({ "board": BOARD, "depth_limit": -1, "algorithm": "depth_first" }), "/depth_limit out-of-range"),
        (json!({ "board": BOARD, "depth_limit": 1_000_001, "algorithm": "depth_first" }), "/depth_limit out-of-range"),
        (json!({ "board": BOARD, "depth_limit": 1.5, "algorithm": "depth_first" }), "/depth_limit wrong-type"),
        (json!({ "board": BOARD, "limits": 5 }), "/limits wrong-type"),
        (json!({ "board": BOARD, "limits": { "time_ms": 0 } }), "/limits/time_ms out-of-range"),
        (json!({ "board": BOARD, "limits": { "expanded": -5 } }), "/limits/expanded out-of-range"),
        (json!({ "board": BOARD, "limits": { "nodes": 0 } }), "/limits/nodes out-of-range"),
        (json!({ "board": BOARD, "limits": { "nodes": "many" } }), "/limits/nodes wrong-type"),
        (json!({ "board": BOARD, "limits": { "time_ms": 1.5 } }), "/limits/time_ms wrong-type"),
        (json!({ "board": BOARD, "limits": { "memory": 5 } }), "/limits/memory unknown-field"),
        (json!({ "board": BOARD, "include": "states" }), "/include wrong-type"),
        (json!({ "board": BOARD, "include": ["paths"] }), "/include/0 unknown-value"),
        (json!({ "board": BOARD, "include": ["states", 3] }), "/include/1 wrong-type"),
        (json!({ "board": BOARD, "colour": "red" }), "/colour unknown-field"),
        (json!({ "board": BOARD, "a/b~c": 1 }), "/a~1b~0c unknown-field"),
    ] {
        let problem = taquin.post("/solve", &question).await.problem("invalid-request");
        // An invalid tile also leaves a tile or the blank missing.
        let is_first_hand = |fault: &String| !fault.ends_with("missing-tile") && !fault.ends_with("missing-blank");
        let found: Vec<_> = faults(&problem).into_iter().filter(is_first_hand).collect();
        assert_eq!(found, [expected], "{question}");
    }
}

#[tokio::test]
async fn a_limit_that_not_every_json_reader_can_hold_is_out_of_range() {
    let taquin = shared().await;
    let body = |limit: &str| format!(r#"{{"board": "{BOARD}", "limits": {{"expanded": {limit}}}}}"#);
    let question = |limit: &str| Question::post("/solve").body("application/json", body(limit));
    taquin.send(question("9007199254740991")).await.expect(200);
    let problem = taquin.send(question("9007199254740992")).await.problem("invalid-request");
    assert_eq!(faults(&problem), ["/limits/expanded out-of-range"]);
    let problem = taquin.send(question("99999999999999999999999")).await.problem("invalid-request");
    assert_eq!(problem["errors"][0]["pointer"], "/limits/expanded");
}

#[tokio::test]
async fn all_errors_of_a_request_are_reported_at_once() {
    let question = json!({
        "board": BOARD, "algoritm": "astar", "heuristic": "manhatan", "weight": 0,
        "limits": { "time_ms": 0, "nodes": "x" }, "include": ["states", "paths"],
    });
    let taquin = shared().await;
    let problem = taquin.post("/solve", &question).await.problem("invalid-request");
    let mut found = faults(&problem);
    found.sort();
    let expected = [
        "/algoritm unknown-field",
        "/heuristic unknown-value",
        "/include/1 unknown-value",
        "/limits/nodes wrong-type",
        "/limits/time_ms out-of-range",
        "/weight out-of-range",
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_field_with_two_values_is_rejected() {
    let taquin = shared().await;
    let body = format!(r#"{{"board": "{BOARD}", "goal": "snail", "goal": "blank_last"}}"#);
    let problem = taquin.send(Question::post("/solve").body("application/json", body)).await.problem("invalid-request");
    assert_eq!(faults(&problem), ["/goal repeated-field"]);

    let twice = Question::get("/solve").query("board", BOARD).query("goal", "snail").query("goal", "blank_last");
    assert_eq!(faults(&taquin.send(twice).await.problem("invalid-parameter")), ["/goal repeated-field"]);

    let both = Question::post("/solve?goal=snail").json(&json!({ "board": BOARD, "goal": "blank_last" }));
    assert_eq!(faults(&taquin.send(both).await.problem("invalid-request")), ["/goal repeated-field"]);
}

#[tokio::test]
async fn a_field_that_is_given_twice_with_one_value_is_accepted() {
    let taquin = shared().await;
    let expected = timeless(taquin.solve(&json!({ "board": BOARD, "goal": "blank_last" })).await);
    let body = format!(r#"{{"board": "{BOARD}", "goal": "blank_last", "goal": "blank_last"}}"#);
    for question in [
        Question::post("/solve").body("application/json", body),
        Question::get("/solve").query("board", BOARD).query("goal", "blank_last").query("goal", "blank_last"),
        Question::post("/solve?goal=blank_last").json(&json!({ "board": BOARD, "goal": "blank_last" })),
    ] {
        assert_eq!(timeless(taquin.send(question).await.expect(200).json()), expected);
    }
}

#[tokio::test]
async fn a_list_in_a_query_may_be_several_parameters() {
    let taquin = shared().await;
    let repeated =
        Question::get("/solve").query("board", BOARD).query("include", "states").query("include", "expansions");
    let reply = taquin.send(repeated).await.expect(200).json();
    assert!(reply["states"].is_array() && reply["expansions"].is_array(), "{reply}");
    let tiles = "/verify?board=123456078&tiles=7&tiles=8";
    assert_eq!(taquin.get(tiles).await.expect(200).json()["solves"], true);
}

#[tokio::test]
async fn an_optional_field_that_is_null_is_absent() {
    let taquin = shared().await;
    let nulls = json!({
        "board": BOARD, "goal": null, "rows": null, "cols": null, "encoding": null, "algorithm": null,
        "heuristic": null, "weight": null, "tie_breaking": null, "duplicate_detection": null, "depth_limit": null,
        "require": null, "limits": null, "include": null,
    });
    let expected = timeless(taquin.solve(&json!({ "board": BOARD })).await);
    assert_eq!(timeless(taquin.solve(&nulls).await), expected);
    let limits = json!({ "board": BOARD, "limits": { "time_ms": null, "expanded": null, "nodes": null } });
    assert_eq!(timeless(taquin.solve(&limits).await), expected);
    for (path, body) in [
        ("/verify", json!({ "board": BOARD, "moves": "U", "tiles": null })),
        ("/compare", json!({ "board": BOARD, "preset": null, "methods": [{ "algorithm": "astar", "weight": null }] })),
        ("/compare", json!({ "board": BOARD, "preset": "older_systems", "methods": null })),
        ("/hint", json!({ "board": BOARD, "goal": null, "limits": null })),
    ] {
        taquin.post(path, &body).await.expect(200);
    }
    let problem = taquin.post("/solve", &json!({ "board": null })).await.problem("invalid-request");
    assert_eq!(faults(&problem), ["/board missing-field"]);
    let problem = taquin.post("/solve", &json!({ "board": BOARD, "bored": null })).await.problem("invalid-request");
    assert_eq!(faults(&problem), ["/bored unknown-field"]);
}

#[tokio::test]
async fn a_misspelled_name_gets_a_suggestion() {
    let taquin = shared().await;
    for (question, meant) in [
        (json!({ "board": BOARD, "algoritm": "astar" }), "algorithm"),
        (json!({ "board": BOARD, "heuristics": "manhattan" }), "heuristic"),
        (json!({ "board": BOARD, "tieBreaking": "fifo" }), "tie_breaking"),
        (json!({ "board": BOARD, "limits": { "time": 5 } }), "time_ms"),
        (json!({ "board": BOARD, "algorithm": "a_star" }), "astar"),
        (json!({ "board": BOARD, "algorithm": "idastar" }), "ida_star"),
        (json!({ "board": BOARD, "heuristic": "manhatan" }), "manhattan"),
        (json!({ "board": BOARD, "heuristic": "linear_conflicts" }), "linear_conflict"),
        (json!({ "board": BOARD, "include": ["state"] }), "states"),
        (json!({ "board": BOARD, "require": "optimum" }), "optimal"),
        (json!({ "board": BOARD, "algorithm": "A*" }), "astar"),
        (json!({ "board": BOARD, "algorithm": "IDA*" }), "ida_star"),
        (json!({ "board": BOARD, "algorithm": "BFS" }), "breadth_first"),
        (json!({ "board": BOARD, "heuristic": "hamiltonian" }), "manhattan"),
        (json!({ "board": BOARD, "heuristic": "PDB" }), "pattern_database"),
        (json!({ "board": BOARD, "goal": "spiral" }), "snail"),
        (json!({ "board": BOARD, "timeout": 5 }), "limits.time_ms"),
    ] {
        let problem = taquin.post("/solve", &question).await.problem("invalid-request");
        let detail = problem["errors"][0]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("did you mean `") && detail.contains(&format!("{meant}`")), "{question}: {detail}");
        let by_link = taquin.send(Question::get_as("/solve", &question)).await.problem("invalid-parameter");
        let detail = by_link["errors"][0]["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("did you mean `") && detail.contains(meant), "GET {question}: {detail}");
    }
}

#[tokio::test]
async fn a_field_that_other_programs_have_gets_a_suggestion() {
    let taquin = shared().await;
    for (name, meant) in [("difficulty", "percentile"), ("level", "percentile"), ("depth", "length"), ("width", "cols")]
    {
        let problem = taquin.get(&format!("/random?{name}=5")).await.problem("invalid-parameter");
        let expected = format!("there is no parameter `{name}`: did you mean `{meant}`?");
        assert_eq!(problem["errors"][0]["detail"], expected);
        let problem = taquin.post("/random", &json!({ name: 5 })).await.problem("invalid-request");
        assert_eq!(problem["errors"][0]["detail"], expected.replace("parameter", "field"));
    }
    let methods = json!({ "board": BOARD, "methods": [{ "algorithm": "Weighted A*" }, { "solver": "astar" }] });
    let problem = taquin.post("/compare", &methods).await.problem("invalid-request");
    let details = problem["errors"].to_string();
    assert!(
        details.contains("did you mean `weighted_astar`?") && details.contains("did you mean `algorithm`?"),
        "{details}"
    );
}

#[tokio::test]
async fn a_misspelled_goal_gets_the_list_of_names() {
    let taquin = shared().await;
    let answer = taquin.post("/solve", &json!({ "board": BOARD, "goal": "blank_lst" })).await.expect(422);
    let problem = answer.json();
    assert_eq!(problem["errors"][0]["pointer"], "/goal", "{problem}");
    assert!(problem["errors"][0]["detail"].as_str().unwrap_or_default().contains("blank_last"), "{problem}");
}

#[tokio::test]
async fn query_parameters_are_checked_too() {
    let taquin = shared().await;
    let question = || Question::get("/solve").query("board", BOARD);
    for (question, expected) in [
        (Question::get("/solve"), "/board missing-field"),
        (Question::get("/solvable"), "/board missing-field"),
        (Question::get("/solvable?goal=snail"), "/board missing-field"),
        (question().query("algoritm", "astar"), "/algoritm unknown-field"),
        (question().query("algorithm", "dijkstra"), "/algorithm unknown-value"),
        (question().query("weight", "heavy"), "/weight wrong-type"),
        (question().query("weight", "0.5").query("algorithm", "weighted_astar"), "/weight out-of-range"),
        (question().query("limits.time_ms", "0"), "/limits/time_ms out-of-range"),
        (question().query("limits.time_ms", "soon"), "/limits/time_ms wrong-type"),
        (question().query("limits.memory", "5"), "/limits/memory unknown-field"),
        (question().query("rows", "three"), "/rows wrong-type"),
        (question().query("include", "states,paths"), "/include/1 unknown-value"),
        (question().query("depth_limit", "1000001").query("algorithm", "depth_first"), "/depth_limit out-of-range"),
        (Question::get("/solve").query("board", "[[8,6,7],[2,5,4],[3,0,\"1\"]]"), "/board/2/2 wrong-type"),
    ] {
        let shown = question.to_string();
        let problem = taquin.send(question).await.problem("invalid-parameter");
        assert_eq!(faults(&problem)[0], expected, "{shown}");
    }
}

#[tokio::test]
async fn a_query_that_is_not_utf_8_is_rejected() {
    let taquin = shared().await;
    taquin.get("/solve?board=%ff%fe").await.problem("invalid-parameter");
}

#[tokio::test]
async fn an_incomplete_json_array_in_a_query_is_rejected() {
    let taquin = shared().await;
    let answer = taquin.send(Question::get("/solve").query("board", "[[8,6,7],[2,5,4],[3,0")).await;
    assert!(answer.status == 400 || answer.status == 422, "{answer}");
}

/// `auto` solves it by IDA*.
const FIFTEEN: &str = "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15";

#[tokio::test]
async fn options_that_the_search_would_ignore_are_rejected() {
    let taquin = shared().await;
    for (question, pointer) in [
        (json!({ "board": BOARD, "weight": 2 }), "/weight"),
        (json!({ "board": BOARD, "algorithm": "astar", "weight": 1.5 }), "/weight"),
        (json!({ "board": BOARD, "algorithm": "ida_star", "tie_breaking": "fifo" }), "/tie_breaking"),
        (json!({ "board": BOARD, "algorithm": "breadth_first", "tie_breaking": "lifo" }), "/tie_breaking"),
        (json!({ "board": BOARD, "algorithm": "ida_star", "duplicate_detection": "parent" }), "/duplicate_detection"),
        (
            json!({ "board": BOARD, "algorithm": "constructive", "duplicate_detection": "parent" }),
            "/duplicate_detection",
        ),
        (json!({ "board": BOARD, "duplicate_detection": "expanded_only" }), "/duplicate_detection"),
        (
            json!({ "board": BOARD, "algorithm": "anytime", "duplicate_detection": "expanded_only" }),
            "/duplicate_detection",
        ),
        (json!({ "board": BOARD, "successor_order": "LRUD" }), "/successor_order"),
        (json!({ "board": BOARD, "algorithm": "ida_star", "successor_order": "LRUD" }), "/successor_order"),
        (json!({ "board": BOARD, "algorithm": "iterative_deepening", "successor_order": "LRUD" }), "/successor_order"),
        (json!({ "board": BOARD, "algorithm": "anytime", "successor_order": "LRUD" }), "/successor_order"),
        (json!({ "board": BOARD, "algorithm": "constructive", "successor_order": "LRUD" }), "/successor_order"),
        (json!({ "board": BOARD, "algorithm": "astar", "successor_order": "LRUD" }), "/successor_order"),
        (
            json!({
                "board": BOARD, "algorithm": "depth_first", "depth_limit": 31, "duplicate_detection": "expanded_only",
            }),
            "/depth_limit",
        ),
        (json!({ "board": BOARD, "algorithm": "ida_star", "include": ["generated"] }), "/include"),
        (json!({ "board": BOARD, "algorithm": "constructive", "include": ["generated"] }), "/include"),
        (json!({ "board": BOARD, "algorithm": "anytime", "include": ["iterations"] }), "/include"),
        (json!({ "board": BOARD, "include": ["iterations"] }), "/include"),
        (json!({ "board": FIFTEEN, "include": ["generated"] }), "/include"),
        (json!({ "board": BOARD, "algorithm": "astar", "depth_limit": 50 }), "/depth_limit"),
        (json!({ "board": BOARD, "algorithm": "breadth_first", "heuristic": "manhattan" }), "/heuristic"),
        (json!({ "board": BOARD, "algorithm": "constructive", "heuristic": "manhattan" }), "/heuristic"),
        (json!({ "board": BOARD, "algorithm": "depth_first", "require": "optimal" }), "/require"),
        (json!({ "board": BOARD, "algorithm": "constructive", "require": "optimal" }), "/require"),
        (json!({ "board": BOARD, "algorithm": "greedy_best_first", "require": "optimal" }), "/require"),
        (json!({ "board": BOARD, "algorithm": "weighted_astar", "weight": 2, "require": "optimal" }), "/require"),
        (json!({ "board": BOARD, "heuristic": "manhattan_plus_hamming", "require": "optimal" }), "/require"),
        (
            json!({ "board": (1..=37).chain([0, 38, 39]).collect::<Vec<_>>(), "rows": 4, "cols": 10, "heuristic": "pattern_database" }),
            "/heuristic",
        ),
    ] {
        let problem = taquin.post("/solve", &question).await.problem("unsupported-combination");
        assert_eq!(faults(&problem), [format!("{pointer} unsupported")], "{question}");
        let by_link = taquin.send(Question::get_as("/solve", &question)).await.problem("unsupported-combination");
        assert_eq!(faults(&by_link), faults(&problem), "GET {question}");
    }
    let question = json!({
        "board": BOARD, "algorithm": "breadth_first", "heuristic": "manhattan", "weight": 2, "tie_breaking": "heap",
        "depth_limit": 3, "include": ["iterations"],
    });
    let problem = taquin.post("/solve", &question).await.problem("unsupported-combination");
    assert_eq!(faults(&problem).len(), 5, "all at once: {problem}");
}

#[tokio::test]
async fn an_option_at_its_default_is_always_accepted() {
    let taquin = shared().await;
    for algorithm in ["auto", "ida_star", "breadth_first", "depth_first", "iterative_deepening", "constructive"] {
        let question = json!({
            "board": "1 2 3/4 5 6/0 7 8", "algorithm": algorithm, "heuristic": "auto", "weight": 1.0,
            "tie_breaking": "low_h", "duplicate_detection": "closed", "successor_order": "ULDR", "require": "any",
            "limits": {},
            "include": [], "encoding": "tiles",
            "goal": "blank_last",
        });
        taquin.solve(&question).await;
    }
    taquin.solve(&json!({ "board": BOARD, "algorithm": "breadth_first", "heuristic": "zero" })).await;
}

#[tokio::test]
async fn an_unsolvable_board_gets_the_reason() {
    let taquin = shared().await;
    let question = json!({ "board": [[1, 2, 3], [4, 5, 6], [8, 7, 0]] });
    let verdict = taquin.post("/solvable", &question).await.expect(200).json();
    for question in [Question::post("/solve").json(&question), Question::get_as("/solve", &question)] {
        let problem = taquin.send(question).await.problem("unsolvable");
        for member in
            ["solvable", "reason", "inversions", "permutation_parity", "blank_distance", "reachable_goals", "detail"]
        {
            assert_eq!(problem[member], verdict[member], "{member}");
        }
        assert_eq!(problem["inversions"], 1);
        assert_eq!(problem["permutation_parity"], "odd");
        assert_eq!(problem["blank_distance"], 0);
        assert_eq!(problem["reachable_goals"], json!(["snail"]));
    }
}

#[tokio::test]
async fn the_goal_that_an_unsolvable_board_is_offered_can_be_sent() {
    let taquin = shared().await;
    let mut question = json!({ "board": "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3" });
    for path in ["/solve", "/hint", "/explain"] {
        let problem = taquin.post(path, &question).await.problem("unsolvable");
        assert_eq!(problem["reachable_goals"], json!(["blank_first"]), "{path}");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("Send `\"goal\": \"blank_first\"`"), "{path}: {detail}");
    }
    let row =
        Question::post("/batch").body("application/x-ndjson", question["board"].as_str().expect("a text").to_owned());
    let answer = taquin.send(row).await.expect(200);
    assert!(answer.text().contains(r#""reachable_goals":["blank_first"]"#), "{}", answer.text());
    question["goal"] = json!("blank_first");
    assert_eq!(taquin.post("/solvable", &question).await.expect(200).json()["solvable"], true);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_rejected() {
    let taquin = shared().await;
    let most = taquin.get("/info").await.expect(200).json()["limits"]["body_bytes"].as_u64().expect("a size") as usize;
    let board = r#"{"board": "867254301"}"#;
    let body = |length: usize| format!("{board}{}", " ".repeat(length - board.len()));
    let fits = Question::post("/solve").body("application/json", body(most));
    taquin.send(fits).await.expect(200);
    for path in ["/solve", "/solvable"] {
        for media_type in ["application/json", "text/plain"] {
            let too_large = Question::post(path).body(media_type, body(most + 1));
            taquin.send(too_large).await.problem("content-too-large");
        }
    }
}

#[tokio::test]
async fn a_huge_body_is_rejected_without_a_list_of_all_its_errors() {
    let service = Service::start(&["--max-body", "16MiB"]).await;
    let client = service.client();
    const LENGTH: usize = (16 << 20) - 64;
    let json = |body: String| Question::post("/solve").body("application/json", body);
    for body in [
        format!("[{}0]", "0,".repeat(LENGTH / 2)),
        format!("[{}0]", "[],".repeat(LENGTH / 3)),
        format!("{{{}\"a\":0}}", "\"a\":0,".repeat(LENGTH / 6)),
        format!("{{\"include\":[{}0]}}", "0,".repeat(LENGTH / 2)),
    ] {
        let problem = client.send(json(body)).await.problem("content-too-large");
        assert!(problem["detail"].as_str().unwrap_or_default().contains("65536 values"), "{problem}");
    }
    let text = Question::post("/solve").body("text/plain", "1/".repeat(LENGTH / 2));
    assert_eq!(faults(&client.send(text).await.problem("invalid-board")), ["/board side-out-of-range"]);
    for body in [
        format!("{{\"board\":\"{BOARD}\",\"include\":[{}0]}}", "0,".repeat(59_999)),
        format!("{{\"board\":\"{BOARD}\"{}}}", ",\"a\":0".repeat(60_000)),
    ] {
        let problem = client.send(json(body)).await.problem("invalid-request");
        assert_eq!(problem["errors"].as_array().map(Vec::len), Some(20));
        assert_eq!(problem["detail"], "The request has 60000 errors. The first 20 are listed.");
    }
}

#[tokio::test]
async fn a_body_of_another_type_is_rejected_with_a_curl_command() {
    let taquin = shared().await;
    for media_type in ["application/xml", "multipart/form-data; boundary=x", "image/png", "text/html", "nonsense"] {
        for path in ["/solve", "/solvable"] {
            let question = Question::post(path).body(media_type, r#"{"board": "867254301"}"#);
            let problem = taquin.send(question).await.problem("unsupported-media-type");
            assert!(problem["detail"].as_str().unwrap_or_default().contains("curl --json"), "{problem}");
        }
    }
}

#[tokio::test]
async fn a_body_without_a_type_or_with_a_json_suffix_type_is_rejected() {
    let taquin = shared().await;
    let vendor = Question::post("/solve").body("application/vnd.api+json", r#"{"board": "867254301"}"#);
    taquin.send(vendor).await.problem("unsupported-media-type");
    let mut untyped = Question::post("/solve");
    untyped.body = r#"{"board": "867254301"}"#.into();
    taquin.send(untyped).await.problem("unsupported-media-type");
}

#[tokio::test]
async fn a_flag_turns_the_leniency_for_curl_d_off() {
    let service = Service::start(&["--strict-content-type"]).await;
    let client = service.client();
    let form = Question::post("/solve").body("application/x-www-form-urlencoded", "867254301");
    client.send(form).await.problem("unsupported-media-type");
    client.send(Question::post("/solve").body("text/plain", "867254301")).await.expect(200);
    let json = Question::post("/solve").body("text/plain", r#"{"board": "867254301"}"#);
    let problem = client.send(json).await.problem("unsupported-media-type");
    assert!(problem["detail"].as_str().unwrap_or_default().contains("as application/json"), "{problem}");
}

#[tokio::test]
async fn a_body_that_arrives_too_slowly_is_rejected() {
    let service = Service::start(&["--body-timeout", "200ms"]).await;
    let head = "POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n8672";
    let answer = service.client().raw(head).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(answer.contains("/problems/request-timeout"), "{answer}");
}

#[tokio::test]
async fn json_may_say_its_charset() {
    let taquin = shared().await;
    for media_type in ["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"] {
        let question = Question::post("/solve").body(media_type, r#"{"board": "867254301"}"#);
        taquin.send(question).await.expect(200);
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found() {
    let taquin = shared().await;
    for path in
        ["/solv", "/solve/", "/solve/3", "/api/v1/solve", "/problems/no-such-problem", "/favicon.ico", "/%2e%2e/etc"]
    {
        taquin.get(path).await.problem("not-found");
        taquin.send(Question::get(path).accept("text/plain")).await.expect(404);
    }
    taquin.post("/nowhere", &json!({})).await.problem("not-found");
}

#[tokio::test]
async fn an_unknown_path_gets_a_similar_path() {
    let taquin = shared().await;
    for path in ["/solve/", "/solv", "/Solve", "/api/v1/solve"] {
        for question in [Question::get(path), Question::post(path).json(&json!({ "board": BOARD }))] {
            let problem = taquin.send(question).await.problem("not-found");
            assert_eq!(problem["suggestion"], "/solve", "{path}");
            assert!(problem["detail"].as_str().expect("a detail").contains("did you mean `/solve`?"), "{path}");
        }
    }
    assert!(taquin.get("/nowhere").await.problem("not-found").get("suggestion").is_none());
}

#[tokio::test]
async fn a_board_without_its_line_ends_gets_the_option_of_curl() {
    let taquin = shared().await;
    for media_type in ["application/x-www-form-urlencoded", "text/plain"] {
        let question = Question::post("/solve").body(media_type, "3 12 0");
        let problem = taquin.send(question).await.problem("invalid-board");
        assert_eq!(faults(&problem), ["/board shape-unknown"], "{media_type}");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("--data-binary @FILE` and `-H 'Content-Type: text/plain'`"), "{detail}");
    }
    let rows = Question::post("/batch").body("application/x-www-form-urlencoded", "[[3,1],[2,0]][[1,2],[3,0]]");
    let answer = taquin.send(rows).await.expect(200);
    assert!(answer.text().contains("`curl --data-binary @FILE` keeps them"), "{}", answer.text());
}
