//! `/distances`, and the percentiles of other replies: compared with an independent breadth-first search.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::shared;
use crate::question::Question;
use crate::simulator::{Grid, TO_BLANK_LAST, distances, grid, grid_of};

/// Number of boards at each distance.
fn counts(distances: &HashMap<Grid, u64>) -> Vec<u64> {
    let mut counts = vec![0; distances.values().max().map_or(0, |most| *most as usize + 1)];
    distances.values().for_each(|distance| counts[*distance as usize] += 1);
    counts
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

/// Share of the boards to blank-last on 3×3 that are nearer to the goal than a distance, in percent.
fn percentile(distance: u64) -> f64 {
    let nearer = TO_BLANK_LAST.values().filter(|nearer| **nearer < distance).count();
    100.0 * nearer as f64 / 181_440.0
}

#[tokio::test]
async fn counts_are_those_of_breadth_first_search() {
    let taquin = shared().await;
    for (query, goal) in [
        ("", "1 2 3/4 5 6/7 8 0"),
        ("rows=2", "1 2/3 0"),
        ("cols=2&rows=3&goal=snail", "1 2/0 3/5 4"),
        ("goal=5%201/0%203/4%202", "5 1/0 3/4 2"),
        ("rows=2&cols=4&goal=blank_first", "0 1 2 3/4 5 6 7"),
        ("rows=3&cols=3&goal=snail", "1 2 3/8 0 4/7 6 5"),
    ] {
        let reply = taquin.get(&format!("/distances?{query}")).await.expect(200).json();
        assert_eq!(grid_of(&reply["goal"]), grid(goal), "{query}");
        let expected = counts(&distances(&grid(goal)));
        assert_eq!(numbers(&reply["counts"]), expected, "{query}");
        assert_eq!(reply["boards"], expected.iter().sum::<u64>(), "{query}");
        assert_eq!(reply["max_length"], expected.len() - 1, "{query}");
        let moves: u64 = (0..).zip(&expected).map(|(length, boards)| length * boards).sum();
        assert_eq!(reply["mean_length"], moves as f64 / expected.iter().sum::<u64>() as f64, "{query}");
        assert_eq!(reply["source"], "computed");
    }
}

#[tokio::test]
async fn stored_counts_serve_every_symmetric_goal() {
    let taquin = shared().await;
    for (query, boards, greatest) in [
        ("rows=2&cols=5", 1_814_400, 55),
        ("rows=4&cols=3", 239_500_800, 53),
        ("rows=3&cols=4&goal=blank_first", 239_500_800, 53),
        ("rows=6&cols=2&goal=snail", 239_500_800, 79),
        ("rows=4", 10_461_394_944_000_u64, 80),
        ("cols=4&goal=blank_first", 10_461_394_944_000, 80),
        ("rows=4&goal=snail", 10_461_394_944_000, 80),
        ("goal=1%202%203%204/0%205%206%207/8%209%2010%2011/12%2013%2014%2015", 10_461_394_944_000, 80),
        ("rows=7&cols=2&goal=blank_first", 43_589_145_600, 108),
        ("rows=3&cols=5", 653_837_184_000, 84),
        ("rows=8&cols=2", 10_461_394_944_000, 140),
    ] {
        let reply = taquin.get(&format!("/distances?{query}")).await.expect(200).json();
        assert_eq!((&reply["boards"], &reply["max_length"]), (&json!(boards), &json!(greatest)), "{query}");
        assert_eq!(reply["metric"], "single_tile", "{query}");
        let source = reply["source"].as_str().unwrap_or_default();
        let of_corner = query == "rows=4" || query == "cols=4&goal=blank_first";
        let expected = match boards {
            ..=239_500_800 => "computed",
            _ if of_corner => "Korf & Schultze 2005",
            _ => "Tarakanov 2022",
        };
        assert!(source.starts_with(expected), "{query}: {source}");
    }
}

#[tokio::test]
async fn counts_of_the_multi_tile_metric_are_those_of_that_metric() {
    let taquin = shared().await;
    for (query, boards, greatest) in [
        ("rows=2&cols=2&metric=multi_tile", 12, 6),
        ("metric=multi_tile", 181_440, 24),
        ("rows=5&cols=2&metric=multi_tile", 1_814_400, 36),
        ("rows=4&metric=multi_tile&goal=blank_first", 10_461_394_944_000_u64, 43),
        ("rows=2&cols=8&metric=multi_tile", 10_461_394_944_000, 57),
    ] {
        let reply = taquin.get(&format!("/distances?{query}")).await.expect(200).json();
        assert_eq!((&reply["boards"], &reply["max_length"]), (&json!(boards), &json!(greatest)), "{query}");
        assert_eq!(reply["metric"], "multi_tile", "{query}");
        assert_eq!(numbers(&reply["counts"]).iter().sum::<u64>(), boards, "{query}");
        let source = reply["source"].as_str().unwrap_or_default();
        assert_eq!(source.starts_with("Tarakanov 2022"), boards > 181_440, "{query}: {source}");
    }
    let text = taquin.send(Question::get("/distances?metric=multi_tile").accept("text/plain")).await.expect(200);
    assert!(text.text().starts_with("Optimal lengths in the multi-tile metric of 3×3 boards"), "{text}");
    let problem = taquin.get("/distances?rows=4&goal=snail&metric=multi_tile").await.problem("unsupported-combination");
    assert_eq!(faults(&problem), ["/goal unsupported"]);
    taquin.get("/distances?metric=tiles").await.problem("invalid-parameter");
}

#[tokio::test]
async fn unknown_counts_name_the_known_ones() {
    let taquin = shared().await;
    for (query, pointer, what) in [
        ("rows=5", "/rows", "5×5 boards"),
        ("cols=9&rows=2", "/rows", "2×9 boards"),
        ("goal=snail&rows=3&cols=5", "/goal", "3×5 boards with the blank's goal in row 2, column 4"),
    ] {
        let problem = taquin.get(&format!("/distances?{query}")).await.problem("unsupported-combination");
        assert_eq!(faults(&problem), [format!("{pointer} unsupported")], "{query}");
        let detail = problem["detail"].as_str().unwrap_or_default();
        assert!(detail.contains("up to 12 cells") && detail.contains(what), "{detail}");
    }
    let problem = taquin.get("/distances?rows=3&goal=12/30&cols=11&board=123").await.problem("invalid-parameter");
    assert_eq!(faults(&problem), ["/board unknown-field", "/cols out-of-range", "/goal goal-mismatch"]);
}

#[tokio::test]
async fn get_and_post_return_the_same() {
    let taquin = shared().await;
    for body in [json!({}), json!({ "rows": 2, "cols": 3, "goal": "snail" }), json!({ "goal": [[1, 2], [0, 3]] })] {
        let posted = taquin.post("/distances", &body).await.expect(200).json();
        assert_eq!(taquin.send(Question::get_as("/distances", &body)).await.expect(200).json(), posted, "{body}");
    }
}

#[tokio::test]
async fn counts_are_also_a_table_a_chart_and_text() {
    let taquin = shared().await;
    let expected = counts(&TO_BLANK_LAST);
    let csv = taquin.send(Question::get("/distances").accept("text/csv")).await.expect(200);
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8; header=present");
    let lines: Vec<&str> = csv.text().lines().collect();
    assert_eq!((lines[0], lines.len()), ("length,boards,share", expected.len() + 1));
    for (length, (line, boards)) in lines[1..].iter().zip(&expected).enumerate() {
        assert_eq!(*line, format!("{length},{boards},{}", *boards as f64 / 181_440.0));
    }
    let of_an_image = "image/avif,image/webp,image/svg+xml,image/*;q=0.8,*/*;q=0.5";
    let svg = taquin.send(Question::get("/distances").accept(of_an_image)).await.expect(200);
    assert_eq!(svg.header("content-type"), "image/svg+xml");
    assert_eq!(svg.text().matches("<rect class=\"bar\"").count(), expected.len());
    assert!(svg.text().contains("24 moves: 24047 boards, 13.2534 %") && !svg.text().contains("<script"));
    assert!(svg.text().contains("prefers-color-scheme: dark"));
    let text = taquin.send(Question::get("/distances").accept("text/plain")).await.expect(200);
    let of_24 = text.text().lines().find(|line| line.starts_with("   24")).unwrap_or_default().to_owned();
    assert!(of_24.contains(" 24047 ") && of_24.ends_with(&"█".repeat(40)), "{of_24}");
    taquin.send(Question::get("/distances").accept("image/png")).await.problem("not-acceptable");
}

#[tokio::test]
async fn percentiles_are_shares_of_the_shorter_boards() {
    let taquin = shared().await;
    for seed in 0..20 {
        let drawn = taquin.get(&format!("/random?seed={seed}")).await.expect(200).json();
        let expected = percentile(TO_BLANK_LAST[&grid_of(&drawn["board"])]);
        assert_eq!(drawn["percentile"], expected, "{drawn}");
        let solved = taquin.solve(&json!({ "board": drawn["board"] })).await;
        assert_eq!(solved["percentile"], expected, "{drawn}");
        let by_ida = taquin.solve(&json!({ "board": drawn["board"], "algorithm": "ida_star" })).await;
        assert_eq!(by_ida["percentile"], expected, "{drawn}");
        let verdict = taquin.post("/verify", &json!({ "board": drawn["board"], "moves": "" })).await.expect(200).json();
        assert_eq!(verdict["percentile"], expected, "{drawn}");
    }
}

#[tokio::test]
async fn percentiles_are_known_where_the_length_and_the_counts_are() {
    let taquin = shared().await;
    // 15 puzzle, 10 moves: 1 + 2 + 4 + … + 446 + 946 boards have fewer.
    let near = taquin.get("/random?rows=4&walk=10&seed=a").await.expect(200).json();
    let solved = taquin.solve(&json!({ "board": near["board"] })).await;
    let shorter = [1, 2, 4, 10, 24, 54, 107, 212, 446, 946];
    let length = solved["length"].as_u64().expect("a length") as usize;
    let expected = 100.0 * f64::from(shorter[..length].iter().sum::<u32>()) / 10_461_394_944_000.0;
    assert_eq!(solved["percentile"], expected, "{solved}");
    let goal = json!({ "board": "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0" });
    assert_eq!(taquin.solve(&goal).await["percentile"], 0.0);
    let elsewhere = json!({ "board": "1 2 3 4 5/6 7 8 9 10/11 12 13 0 14", "goal": "snail" });
    for unknown in [
        json!({ "board": "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15", "algorithm": "constructive", "goal": "snail" }),
        json!({ "board": "8 6 7/2 5 4/3 0 1", "algorithm": "greedy_best_first", "heuristic": "manhattan" }),
    ] {
        let reply = taquin.post("/solve", &unknown).await;
        if reply.status == 200 && reply.json()["optimal"] == false {
            assert_eq!(reply.json()["percentile"], Value::Null, "{unknown}");
        }
    }
    let verdict = taquin.post("/verify", &json!({ "board": "123456870", "moves": "" })).await.expect(200).json();
    assert_eq!((&verdict["solvable"], &verdict["percentile"]), (&json!(false), &Value::Null));
    let reply = taquin.post("/solve", &elsewhere).await;
    if reply.status == 200 {
        assert_eq!(reply.json()["percentile"], Value::Null, "the counts of this goal are unknown");
    }
}
