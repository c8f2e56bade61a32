//! Experiments of `/compare`: figures of several methods over random boards.

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::shared;
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
         comparison of random boards, with `boards`, has text/csv too."
    );
}
