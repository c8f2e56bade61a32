//! `/info`, the probes, the API description, and the pages of the problem types.

use std::collections::{BTreeMap, BTreeSet};

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
async fn metrics_are_in_the_format_that_accept_prefers() {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
    let taquin = shared().await;
    let of_prometheus = "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;\
                         q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    for (accept, content_type) in [
        ("*/*", TEXT),
        ("text/plain", TEXT),
        ("text/plain;version=0.0.4", TEXT),
        ("image/png", TEXT),
        ("application/openmetrics-text", OPEN_METRICS),
        (of_prometheus, OPEN_METRICS),
        ("application/openmetrics-text;q=0.1, text/plain;q=0.2", TEXT),
        ("application/openmetrics-text;q=0, */*", TEXT),
    ] {
        let answer = taquin.send(Question::get("/metrics").accept(accept)).await.expect(200);
        assert_eq!(answer.header("content-type"), content_type, "{accept}");
        assert_eq!(answer.text().ends_with("# EOF\n"), content_type == OPEN_METRICS, "{accept}");
    }
    assert_eq!(taquin.get("/metrics").await.expect(200).header("content-type"), TEXT);
}

#[tokio::test]
async fn every_sample_has_a_type_and_a_help_of_the_text_format() {
    let taquin = shared().await;
    taquin.get("/solve?board=867254301").await.expect(200);
    let answer = taquin.get("/metrics").await.expect(200);
    let (mut types, mut helped) = (BTreeMap::new(), BTreeSet::new());
    for line in answer.text().lines() {
        match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
            ["#", "HELP", name, _] => assert!(helped.insert(name), "{name} has two HELP lines"),
            ["#", "TYPE", name, kind] => {
                assert!(matches!(kind, "counter" | "gauge" | "histogram"), "{line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(helped.contains(name) && types.insert(name, kind).is_none(), "{line}");
            }
            ["#", ..] => panic!("{line}"),
            _ => {
                let name = line.split(['{', ' ']).next().unwrap_or_default();
                let family = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
                let is_histogram = family.is_some_and(|family| types.get(family) == Some(&"histogram"));
                assert!(is_histogram || types.contains_key(name), "{line}");
            }
        }
    }
    assert_eq!((types["taquin_build_info"], types["taquin_http_requests_total"]), ("gauge", "counter"));
    let version = env!("CARGO_PKG_VERSION");
    assert!(answer.text().contains(&format!("\ntaquin_build_info{{version=\"{version}\"}} 1\n")), "{answer}");
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
async fn what_introduces_the_service_links_to_the_contract() {
    let taquin = shared().await;
    for (path, accept) in [("/", "*/*"), ("/", "text/html"), ("/docs", "text/html"), ("/info", "*/*")] {
        let answer = taquin.send(Question::get(path).accept(accept)).await.expect(200);
        assert_eq!(answer.header("link"), "<openapi.json>; rel=\"service-desc\"", "{path} as {accept}");
    }
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

#[tokio::test]
async fn info_lists_the_values_of_the_contract() {
    let info = shared().await.get("/info").await.expect(200).json();
    let schemas = &CONTRACT.document["components"]["schemas"];
    let options = &schemas["OptionsInfo"]["properties"];
    let listed = info["options"].as_object().expect("options");
    assert_eq!(listed.keys().collect::<Vec<_>>(), options.as_object().expect("properties").keys().collect::<Vec<_>>());
    for (name, values) in listed {
        let schema = options[name]["items"]["$ref"].as_str().expect("a named schema");
        let schema = &schemas[schema.rsplit('/').next().unwrap_or_default()];
        assert_eq!(*values, schema["enum"], "{name}");
    }
}
