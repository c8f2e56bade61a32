//! Experiments of `/compare`: figures of several methods over random boards.

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::{Service, shared};
use crate::question::Question;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[tokio::test]
async fn figures_are_those_of_the_single_searches() {
    let taquin = shared().await;
    let methods = json!([
        { "algorithm": "astar", "heuristic": "manhattan" },
        { "algorithm": "greedy_best_first", "heuristic": "manhattan_plus_hamming" },
        { "algorithm": "breadth_first" },
    ]);
    let boards = json!({ "count": 7, "seed": "course", "length": "12..18" });
    let reply = taquin.post("/compare", &json!({ "boards": boards, "methods": methods })).await.expect(200).json();
    assert_eq!(reply["boards"], json!({ "rows": 3, "cols": 3, "count": 7, "seed": "course", "length": "12..18" }));
    for (method, result) in
        methods.as_array().expect("methods").iter().zip(reply["results"].as_array().expect("results"))
    {
        let (mut lengths, mut expanded, mut optimal) = (Vec::new(), Vec::new(), 0);
        for index in 0..7 {
            let drawn = taquin.get(&format!("/random?length=12..18&seed=course/{index}")).await.expect(200).json();
            let mut question = method.clone();
            question["board"] = drawn["board"].clone();
            let solved = taquin.solve(&question).await;
            lengths.push(solved["length"].as_f64().expect("a number"));
            expanded.push(solved["search"]["expanded"].as_f64().expect("a number"));
            optimal += u32::from(solved["optimal"] == true);
        }
        assert_eq!((&result["solved"], &result["algorithm"]), (&json!(7), &method["algorithm"]));
        assert_eq!(result["optimal_share"].as_f64(), Some(f64::from(optimal) / 7.0));
        for (name, mut values) in [("length", lengths), ("expanded", expanded)] {
            values.sort_by(f64::total_cmp);
            let expected = [mean(&values), values[3], values[0], values[6]];
            let figures =
                ["mean", "median", "min", "max"].map(|figure| result[name][figure].as_f64().expect("a number"));
            assert_eq!(figures, expected, "{name} of {method}");
        }
    }
}

#[tokio::test]
async fn an_experiment_is_a_table_in_csv_and_in_text() {
    let taquin = shared().await;
    let question = json!({ "boards": { "count": 3 }, "preset": "older_systems", "limits": { "expanded": 200 } });
    let csv = Question::post("/compare").json(&question).accept("text/csv");
    let csv = taquin.send(csv).await.expect(200).text().to_owned();
    let reply = taquin.post("/compare", &question).await.expect(200).json();
    let lines: Vec<Vec<&str>> = csv.trim_end().split("\r\n").map(|line| line.split(',').collect()).collect();
    assert!(lines.iter().all(|line| line.len() == lines[0].len()), "{csv}");
    let results = reply["results"].as_array().expect("results");
    assert_eq!(lines.len(), results.len() + 1);
    for (line, result) in lines[1..].iter().zip(results) {
        let column = |name: &str| line[lines[0].iter().position(|column| *column == name).expect(name)];
        assert_eq!(column("algorithm"), result["algorithm"].as_str().expect("a name"));
        assert_eq!((column("boards"), column("solved")), ("3", result["solved"].to_string().as_str()));
        let mean = result["expanded"]["mean"].as_f64().map_or_else(String::new, |mean| mean.to_string());
        assert_eq!(column("expanded_mean"), mean);
    }
    assert!(results.iter().any(|result| result["solved"] != 3), "a limit ends some searches: {reply}");
    let text = Question::post("/compare").json(&question).accept("text/plain");
    let text = taquin.send(text).await.expect(200).text().to_owned();
    assert!(text.starts_with("3 boards of 3×3, seed taquin") && text.contains("breadth_first"), "{text}");
    let by_link = Question::get("/compare?boards.count=3&preset=older_systems&limits.expanded=200");
    let by_link = taquin.send(by_link).await.expect(200);
    assert!(by_link.header("etag").starts_with("W/"), "{by_link}");
    assert_eq!(by_link.json()["results"].as_array().map(Vec::len), Some(results.len()));
}

#[tokio::test]
async fn what_cannot_be_an_experiment_is_rejected() {
    let taquin = shared().await;
    for (question, expected) in [
        (json!({ "boards": { "count": 0 }, "preset": "heuristics" }), "/boards/count out-of-range"),
        (json!({ "boards": { "count": 1001 }, "preset": "heuristics" }), "/boards/count out-of-range"),
        (json!({ "boards": { "seed": "" }, "preset": "heuristics" }), "/boards/seed out-of-range"),
        (json!({ "boards": { "length": "x" }, "preset": "heuristics" }), "/boards/length out-of-range"),
        (json!({ "boards": { "rows": 11 }, "preset": "heuristics" }), "/boards/rows out-of-range"),
        (json!({ "boards": { "count": 1 }, "board": "867254301", "preset": "heuristics" }), "/board unsupported"),
        (json!({ "boards": { "count": 1 } }), "/methods missing-field"),
        (json!({ "boards": { "length": "40" }, "preset": "heuristics" }), "/boards/length out-of-range"),
        (json!({ "boards": { "count": 1 }, "goal": "1 2/3 0", "preset": "heuristics" }), "/goal goal-mismatch"),
        (json!({ "boards": { "n": 1 }, "preset": "heuristics" }), "/boards/n unknown-field"),
    ] {
        let answer = taquin.post("/compare", &question).await;
        assert!(matches!(answer.status, 400 | 422), "{answer}");
        let found: Vec<Value> = faults(&answer.json()).into_iter().map(Value::from).collect();
        assert!(found.contains(&json!(expected)), "{question}: {found:?}");
    }
    let csv =
        Question::post("/compare").json(&json!({ "board": "867254301", "preset": "heuristics" })).accept("text/csv");
    let problem = taquin.send(csv).await.problem("not-acceptable");
    assert_eq!(
        problem["detail"],
        "The `Accept` header excludes every media type of a comparison of one board: application/json, text/plain. A \
         comparison of several boards, with `boards`, has text/csv too."
    );
    let png = json!({ "boards": { "count": 1 }, "preset": "heuristics" });
    let problem =
        taquin.send(Question::post("/compare").json(&png).accept("image/png")).await.problem("not-acceptable");
    let detail = "The `Accept` header excludes every media type of a comparison of several boards: application/json, \
                  text/plain, text/csv.";
    assert_eq!(problem["detail"], detail);
}

/// Boards of the request: solvable, not solvable, and too hard for the second method.
fn own_boards() -> Value {
    let boards = json!([
        "8 6 7/2 5 4/3 0 1",
        { "id": "a,\"b\"", "board": [[1, 2, 3], [4, 5, 6], [8, 7, 0]] },
        { "id": 7, "board": [1, 2, 3, 4, 5, 6, 7, 0, 8] },
    ]);
    let methods = json!([
        { "algorithm": "astar", "heuristic": "manhattan" },
        { "algorithm": "breadth_first", "limits": { "expanded": 100 } },
    ]);
    json!({ "boards": boards, "methods": methods })
}

#[tokio::test]
async fn boards_of_the_request_have_rows_that_agree_with_solve() {
    let taquin = shared().await;
    let mut question = own_boards();
    let without_rows = taquin.post("/compare", &question).await.expect(200).json();
    assert!(without_rows["rows"].is_null(), "{without_rows}");
    let expected = json!({ "rows": 3, "cols": 3, "count": 3, "seed": null, "length": null, "unsolvable": 1 });
    assert_eq!(without_rows["boards"], expected);
    question["include"] = json!(["rows"]);
    let reply = taquin.post("/compare", &question).await.expect(200).json();
    let rows = reply["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    let solved: Vec<&Value> = reply["results"].as_array().expect("results").iter().map(|one| &one["solved"]).collect();
    assert_eq!(solved, [2, 1]);
    for (at, row) in rows.iter().enumerate() {
        assert_eq!((&row["index"], &row["method_index"]), (&json!(at / 2), &json!(at % 2)));
        assert_eq!(row["id"], [Value::Null, json!("a,\"b\""), json!(7)][at / 2]);
        let mut single = question["methods"][at % 2].clone();
        single["board"] = row["board"].clone();
        let solve = taquin.post("/solve", &single).await.json();
        if solve["status"] == "solved" || solve["length"].is_u64() {
            assert_eq!([&row["length"], &row["optimal"]], [&solve["length"], &solve["optimal"]], "{row}");
            assert!(row["error"].is_null() && row["limit"].is_null(), "{row}");
        } else {
            let slug = solve["type"].as_str().and_then(|of| of.strip_prefix("/problems/"));
            assert_eq!((row["error"].as_str(), &row["limit"]), (slug, &solve["limit"]), "{row}");
            assert!(row["length"].is_null() && row["optimal"].is_null(), "{row}");
        }
        for figure in ["expanded", "generated"] {
            assert_eq!(row[figure], solve["search"][figure], "{figure} of {row}");
        }
    }
}

#[tokio::test]
async fn rows_are_lines_of_csv_and_of_text() {
    let taquin = shared().await;
    let mut question = own_boards();
    question["include"] = json!(["rows"]);
    let reply = taquin.post("/compare", &question).await.expect(200).json();
    let csv = Question::post("/compare").json(&question).accept("text/csv");
    let csv = taquin.send(csv).await.expect(200).text().to_owned();
    let lines: Vec<&str> = csv.trim_end().split("\r\n").collect();
    assert!(
        lines[0].starts_with("index,id,board,method_index,algorithm,") && lines[0].ends_with(",error,limit"),
        "{csv}"
    );
    assert!(lines[3].starts_with("1,\"a,\"\"b\"\"\",1 2 3/4 5 6/8 7 0,0,astar,manhattan,,,,,,,"), "{csv}");
    assert!(lines[3].ends_with(",unsolvable,"), "{csv}");
    assert!(lines[2].ends_with(",search-limit-exceeded,expanded"), "{csv}");
    for (line, row) in lines[1..].iter().zip(reply["rows"].as_array().expect("rows")) {
        let text = |name: &str| match &row[name] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let of_search = ["length", "optimal", "expanded", "generated"].map(text).join(",");
        assert!(line.contains(&format!(",{of_search},")), "{line} {row}");
    }
    assert_eq!(lines.len(), 7);
    let text = Question::post("/compare").json(&question).accept("text/plain");
    let text = taquin.send(text).await.expect(200).text().to_owned();
    assert!(text.starts_with("3 boards of 3×3, 1 of them unsolvable; means of the solved ones\n"), "{text}");
    assert!(text.contains("\n7 1 2 3/4 5 6/7 0 8 astar manhattan: length 1, 1 expanded, "), "{text}");
    assert!(text.contains(" breadth_first: search-limit-exceeded (expanded), 100 expanded, "), "{text}");
    let random = Question::get("/compare?boards.count=2&preset=algorithms&include=rows");
    let random = taquin.send(random).await.expect(200);
    assert!(random.header("etag").starts_with("W/"), "{random}");
    assert_eq!(random.json()["rows"].as_array().map(|rows| rows.len() % 2), Some(0));
    let again = Question::get("/compare?boards.count=2&preset=algorithms&include=rows");
    taquin.send(again.header("if-none-match", random.header("etag"))).await.expect(304);
}

#[tokio::test]
async fn a_list_of_boards_may_be_text_in_a_query() {
    let taquin = shared().await;
    let lines = "867254301\n8 6 7/2 5 4/3 1 0\n";
    let question = Question::get("/compare?preset=heuristics&include=rows").query("boards", lines);
    let by_lines = taquin.send(question).await.expect(200).json();
    let question = Question::get("/compare?preset=heuristics&include=rows&boards=867254301&boards=867254310");
    let by_several = taquin.send(question).await.expect(200).json();
    let lengths = |reply: &Value| -> Vec<Value> {
        reply["rows"].as_array().expect("rows").iter().map(|row| row["length"].clone()).collect()
    };
    assert_eq!(lengths(&by_lines), lengths(&by_several));
    assert_eq!(by_lines["boards"]["count"], 2);
}

#[tokio::test]
async fn all_errors_of_a_list_are_reported_at_once() {
    let taquin = shared().await;
    let boards = json!(["123456788", [[1, 2], [3, 0]], { "id": true, "board": "867254301" }, { "bord": "1" }]);
    let question = json!({ "boards": boards, "board": "867254301", "methods": [{ "algorithm": "a_star" }] });
    let problem = taquin.post("/compare", &question).await.problem("invalid-request");
    let mut found = faults(&problem);
    found.sort();
    let expected = [
        "/board unsupported",
        "/boards/0 duplicate-tile",
        "/boards/0 missing-blank",
        "/boards/2/id wrong-type",
        "/boards/3/board missing-field",
        "/boards/3/bord unknown-field",
        "/methods/0/algorithm unknown-value",
    ];
    assert_eq!(found, expected);
    let one = json!({ "boards": [[8, 6, 7], [2, 5, 4], [3, 0, 1]], "preset": "heuristics" });
    let problem = taquin.post("/compare", &one).await.problem("invalid-request");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("write it as `board`")), "{problem}");
    let sizes = json!({ "boards": ["867254301", "1230"], "preset": "heuristics" });
    assert_eq!(faults(&taquin.post("/compare", &sizes).await.problem("goal-mismatch")), ["/boards/1 goal-mismatch"]);
    let rows = json!({ "board": "867254301", "include": ["rows"], "preset": "heuristics" });
    let problem = taquin.post("/compare", &rows).await.problem("unsupported-combination");
    assert_eq!(faults(&problem), ["/include unsupported"]);
}

#[tokio::test]
async fn rows_say_which_searches_came_too_late() {
    let service = Service::start(&["--max-time", "300ms", "--time-limit", "300ms"]).await;
    let client = service.client();
    let mut question = json!({
        "boards": { "rows": 4, "cols": 4, "count": 3 },
        "methods": [{ "algorithm": "ida_star", "heuristic": "hamming" }],
        "include": ["rows"],
    });
    let reply = client.post("/compare", &question).await.expect(200).json();
    for row in reply["rows"].as_array().expect("rows") {
        assert_eq!((&row["error"], &row["limit"]), (&json!("search-limit-exceeded"), &json!("time")), "{row}");
    }
    question["include"] = json!([]);
    client.post("/compare", &question).await.problem("search-limit-exceeded");
}
