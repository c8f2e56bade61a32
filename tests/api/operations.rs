//! `/info`, the probes, the API description, and the pages of the problem types.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::answer::PROBLEMS;
use crate::client::shared;
use crate::contract::CONTRACT;
use crate::question::Question;

fn names(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(|entry| entry["name"].as_str().map(str::to_owned)).collect()
}

fn enumerated(schema: &str) -> BTreeSet<String> {
    let words = CONTRACT.document["components"]["schemas"][schema]["enum"].as_array();
    words
        .into_iter()
        .flatten()
        .filter_map(|word| word.as_str().map(str::to_owned))
        .filter(|word| word != "auto")
        .collect()
}

#[tokio::test]
async fn info_names_every_algorithm_and_heuristic_of_the_contract() {
    let taquin = shared().await;
    let info = taquin.get("/info").await.expect(200).json();
    let without_auto = |mut names: BTreeSet<String>| {
        names.remove("auto");
        names
    };
    assert_eq!(without_auto(names(&info["algorithms"])), enumerated("AlgorithmChoice"));
    assert_eq!(without_auto(names(&info["heuristics"])), enumerated("HeuristicChoice"));
    assert_eq!(info["goals"], serde_json::json!(["blank_last", "blank_first", "snail"]));
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
}

#[tokio::test]
async fn info_has_the_properties_of_algorithms_and_heuristics() {
    let taquin = shared().await;
    let info = taquin.get("/info").await.expect(200).json();
    for heuristic in info["heuristics"].as_array().into_iter().flatten().filter(|entry| entry["name"] != "auto") {
        let is_honest = !matches!(heuristic["name"].as_str(), Some("misplaced_with_blank" | "manhattan_plus_hamming"));
        assert_eq!(heuristic["admissible"], is_honest, "{heuristic}");
        assert!(is_honest || heuristic["consistent"] == false, "{heuristic}: what is consistent is admissible");
    }
    for algorithm in info["algorithms"].as_array().into_iter().flatten() {
        let name = algorithm["name"].as_str().unwrap_or_default();
        if name == "auto" {
            continue;
        }
        let is_optimal = matches!(name, "astar" | "ida_star" | "breadth_first" | "iterative_deepening" | "anytime");
        let is_informed = matches!(name, "astar" | "weighted_astar" | "greedy_best_first" | "ida_star" | "anytime");
        assert_eq!(algorithm["optimal"], is_optimal, "{name}");
        assert_eq!(algorithm["takes_heuristic"], is_informed, "{name}");
    }
}

#[tokio::test]
async fn probes_respond_ok() {
    let taquin = shared().await;
    for path in ["/livez", "/readyz", "/healthz"] {
        let answer = taquin.get(path).await.expect(200);
        assert_eq!(answer.json(), serde_json::json!({ "status": "ok" }), "{path}");
        let text = taquin.send(Question::get(path).accept("text/plain")).await.expect(200);
        assert_eq!(text.text().trim(), "ok", "{path}");
    }
}

#[tokio::test]
async fn the_contract_is_served_as_it_is_written() {
    let taquin = shared().await;
    let yaml = taquin.get("/openapi.yaml").await.expect(200);
    assert_eq!(yaml.media_type(), "application/yaml");
    let written = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.yaml");
    assert_eq!(yaml.text(), std::fs::read_to_string(written).expect("the contract"));
    let json = taquin.get("/openapi.json").await.expect(200);
    assert_eq!(json.media_type(), "application/json");
    assert_eq!(json.json(), CONTRACT.document);
}

#[tokio::test]
async fn every_problem_has_a_page() {
    let taquin = shared().await;
    let listed = CONTRACT.document["components"]["schemas"]["Slug"]["enum"].as_array().expect("slugs");
    assert_eq!(listed.iter().filter_map(Value::as_str).collect::<Vec<_>>(), PROBLEMS.map(|(slug, _)| slug));
    for (slug, status) in PROBLEMS {
        let path = format!("/problems/{slug}");
        let page = taquin.get(&path).await.expect(200).json();
        assert_eq!(page["type"], path);
        assert_eq!(page["status"], status, "{slug}");
        for (accept, media_type) in [("text/html", "text/html"), ("text/plain", "text/plain")] {
            let answer = taquin.send(Question::get(&path).accept(accept)).await.expect(200);
            assert_eq!(answer.media_type(), media_type, "{slug}");
            assert!(answer.text().contains(page["title"].as_str().unwrap_or("?")), "{slug} as {accept}");
        }
    }
}

#[tokio::test]
async fn a_browser_gets_a_page_about_a_problem() {
    let taquin = shared().await;
    let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
    let answer = taquin.send(Question::get("/problems/unsolvable").accept(accept)).await.expect(200);
    assert_eq!(answer.media_type(), "text/html");
}

#[tokio::test]
async fn the_title_of_a_problem_is_that_of_its_page() {
    let taquin = shared().await;
    let problem = taquin.get("/solve").await.problem("invalid-parameter");
    let page = taquin.get(problem["type"].as_str().unwrap_or_default()).await.expect(200).json();
    assert_eq!(page["title"], problem["title"]);
}

#[tokio::test]
async fn curl_gets_usage_at_the_root() {
    let taquin = shared().await;
    let answer = taquin.send(Question::get("/").accept("*/*")).await.expect(200);
    assert_eq!(answer.media_type(), "text/plain");
    assert!(answer.text().contains("/solve") && answer.text().contains("curl"), "{answer}");
}
