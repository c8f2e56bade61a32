//! `/compare`: several methods, each with the figures that `/solve` returns for it.

use std::time::Instant;

use serde_json::{Value, json};

use crate::answer::faults;
use crate::client::{Client, Service, shared, until};
use crate::load::{begin, gauge, hard, until_idle};
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, grid};

const HARDEST: &str = "8 6 7/2 5 4/3 0 1";
const HARD: &str = "3 7 8/2 0 6/4 5 1";
const COURSE: [(&str, &str, [u64; 3]); 3] = [
    ("2 8 3/1 6 4/7 0 5", "1 2 3/8 6 4/7 5 0", [7, 10, 21]),
    ("5 4 0/6 1 8/7 3 2", "1 2 3/4 0 5/6 7 8", [22, 511, 884]),
    ("7 2 4/5 0 6/8 3 1", "0 1 2/3 4 5/6 7 8", [26, 2706, 4550]),
];

async fn compare(taquin: &Client, question: &Value) -> Vec<Value> {
    let reply = taquin.post("/compare", question).await.expect(200).json();
    reply["results"].as_array().expect("results").clone()
}

/// Removes the elapsed times from a reply.
fn timeless(mut reply: Value) -> Value {
    for result in reply["results"].as_array_mut().into_iter().flatten() {
        for at in ["/search", "/problem/search"] {
            result.pointer_mut(at).and_then(Value::as_object_mut).map(|search| search.remove("elapsed_us"));
        }
    }
    reply
}

fn figures(result: &Value) -> [&Value; 3] {
    [&result["length"], &result["search"]["expanded"], &result["search"]["generated"]]
}

#[tokio::test]
async fn the_course_projects_figures_are_reproduced() {
    let taquin = shared().await;
    let method = json!({
        "algorithm": "astar", "heuristic": "manhattan", "tie_breaking": "heap", "duplicate_detection": "parent",
    });
    for (board, goal, expected) in COURSE {
        let results = compare(&taquin, &json!({ "board": board, "goal": goal, "methods": [method] })).await;
        assert_eq!(figures(&results[0]), expected.map(Value::from).each_ref(), "{board}");
        let preset = compare(&taquin, &json!({ "board": board, "goal": goal, "preset": "older_systems" })).await;
        let course = preset.iter().find(|result| result["tie_breaking"] == "heap").expect("the course project's");
        assert_eq!(figures(course), expected.map(Value::from).each_ref(), "{board}");
    }
}

#[tokio::test]
async fn the_tutorials_figures_are_reproduced() {
    let taquin = shared().await;
    let preset = compare(&taquin, &json!({ "board": HARD, "preset": "older_systems" })).await;
    let is_tutorials = |result: &&Value| result["duplicate_detection"] == "expanded_only";
    let tutorials: Vec<_> = preset.iter().filter(is_tutorials).collect();
    assert!(tutorials.iter().all(|result| result["successor_order"] == "LRUD"));
    let algorithms: Vec<_> = tutorials.iter().map(|result| &result["algorithm"]).collect();
    assert_eq!(algorithms, ["breadth_first", "depth_first", "greedy_best_first", "astar"]);
    let astar = &tutorials[3];
    let figure = |name: &str| astar["search"][name].as_u64().expect("a figure");
    assert_eq!([astar["length"].as_u64(), Some(figure("expanded"))], [Some(24), Some(2478)]);
    let made = figure("generated") - figure("duplicates");
    // The goal is the only node that is neither expanded nor open.
    assert_eq!([made, figure("nodes_held"), figure("open_at_end")], [3968, 3968, 3968 - 2478 - 1]);
}

#[tokio::test]
async fn each_method_has_the_result_of_solve() {
    let taquin = shared().await;
    let methods = json!([
        {},
        { "algorithm": "astar", "heuristic": "hamming" },
        { "algorithm": "weighted_astar", "heuristic": "manhattan", "weight": 2.5, "tie_breaking": "fifo" },
        { "algorithm": "breadth_first", "limits": { "expanded": 50 } },
        { "algorithm": "depth_first", "depth_limit": 20, "duplicate_detection": "closed" },
        { "algorithm": "ida_star", "heuristic": "linear_conflict", "limits": { "time_ms": 900, "nodes": 77 } },
        { "algorithm": "constructive" },
    ]);
    let limits = json!({ "time_ms": 1500, "expanded": 1_000_000 });
    let results = compare(&taquin, &json!({ "board": HARD, "methods": methods, "limits": limits })).await;
    assert_eq!(results.len(), 7);
    for (method, result) in methods.as_array().into_iter().flatten().zip(&results) {
        let mut question = method.clone();
        question["board"] = json!(HARD);
        let mut merged = limits.clone();
        for (name, limit) in method["limits"].as_object().into_iter().flatten() {
            merged[name] = limit.clone();
        }
        question["limits"] = merged;
        let answer = taquin.post("/solve", &question).await;
        let (solve, mine) = (answer.json(), if answer.status == 200 { result } else { &result["problem"] });
        assert_eq!(result["status"], if answer.status == 200 { "solved" } else { "failed" }, "{method}");
        assert!(mine["status"] == "solved" || mine["status"] == solve["status"], "{method}");
        for member in ["length", "optimal", "lower_bound", "moves", "limits", "type", "detail", "limit"] {
            assert_eq!(mine[member], solve[member], "{member} of {method}");
        }
        for figure in ["algorithm", "heuristic", "expanded", "generated", "duplicates", "peak_open", "initial_h"] {
            assert_eq!(mine["search"][figure], solve["search"][figure], "{figure} of {method}");
        }
        assert!(mine["instance"].is_null() && mine["request_id"].is_null(), "{mine}");
    }
}

#[tokio::test]
async fn a_result_starts_with_its_method_as_requested() {
    let taquin = shared().await;
    let methods = json!([
        {},
        { "algorithm": "breadth_first" },
        { "algorithm": "auto", "heuristic": "manhattan", "tie_breaking": "low_h" },
        { "algorithm": "weighted_astar", "weight": 1.25, "heuristic": "zero" },
        { "algorithm": "depth_first", "depth_limit": 40, "duplicate_detection": "parent" },
    ]);
    let results = compare(&taquin, &json!({ "board": "123456078", "methods": methods })).await;
    let own = |result: &Value| {
        let mut result = result.clone();
        let outcome = ["length", "lengths", "optimal", "lower_bound", "moves", "alg", "scramble", "search", "limits"];
        for member in outcome.iter().chain(&["status", "problem"]) {
            result.as_object_mut().expect("an object").remove(*member);
        }
        result
    };
    let expected = [
        json!({ "algorithm": "auto", "heuristic": "auto" }),
        json!({ "algorithm": "breadth_first", "heuristic": null }),
        json!({ "algorithm": "auto", "heuristic": "manhattan" }),
        json!({ "algorithm": "weighted_astar", "heuristic": "zero", "weight": 1.25 }),
        json!({ "algorithm": "depth_first", "heuristic": null, "duplicate_detection": "parent", "depth_limit": 40 }),
    ];
    assert_eq!(results.iter().map(own).collect::<Vec<_>>(), expected);
    assert_eq!(results[0]["search"]["algorithm"], "astar", "the reply names what ran");
}

#[tokio::test]
async fn the_older_systems_all_solve_the_hardest_board() {
    let taquin = shared().await;
    let results = compare(&taquin, &json!({ "board": HARDEST, "preset": "older_systems" })).await;
    assert_eq!(results.len(), 13);
    for result in &results {
        assert!(result["problem"].is_null(), "{result}");
        assert!(result["length"].as_u64() >= Some(TO_BLANK_LAST[&grid(HARDEST)]), "{result}");
    }
    let heuristics: Vec<_> = results.iter().filter(|result| result["algorithm"] == "astar").collect();
    assert_eq!(heuristics.len(), 6);
}

#[tokio::test]
async fn a_stopped_method_does_not_stop_the_others() {
    let taquin = shared().await;
    let methods = json!([
        { "algorithm": "breadth_first", "limits": { "expanded": 10 } },
        { "algorithm": "depth_first", "depth_limit": 3 },
        { "algorithm": "astar", "limits": { "nodes": 2 }, "heuristic": "zero" },
        { "algorithm": "astar" },
    ]);
    let results = compare(&taquin, &json!({ "board": HARD, "methods": methods })).await;
    let limits: Vec<_> = results.iter().map(|result| result["problem"]["limit"].clone()).collect();
    assert_eq!(limits, [json!("expanded"), json!("depth"), json!("nodes"), Value::Null]);
    assert_eq!(results[3]["length"], TO_BLANK_LAST[&grid(HARD)]);
}

#[tokio::test]
async fn all_methods_together_have_the_time_of_one_search() {
    let service = Service::start(&["--max-time", "1s", "--time-limit", "1s"]).await;
    let client = service.client();
    let mut question = hard(&client, "a").await;
    for member in ["algorithm", "heuristic", "limits"] {
        question.as_object_mut().expect("an object").remove(member);
    }
    let search = |heuristic: &str, time: u64| json!({ "algorithm": "ida_star", "heuristic": heuristic, "limits": { "time_ms": time } });
    question["methods"] = json!([search("manhattan", 500), search("hamming", 500), search("gaschnig", 60_000)]);
    let begun = Instant::now();
    let results = compare(&client, &question).await;
    assert!(begun.elapsed().as_millis() < 2000, "{:?}", begun.elapsed());
    let times: Vec<_> = results.iter().map(|result| result["problem"]["limits"]["time_ms"].clone()).collect();
    assert_eq!(times, [250, 250, 500], "in the proportion of what was asked, each clamped");
    assert!(results.iter().all(|result| result["problem"]["limit"] == "time"), "{results:?}");
}

#[tokio::test]
async fn get_and_text_bodies_ask_the_same() {
    let taquin = shared().await;
    for question in [
        json!({ "board": HARD, "preset": "older_systems" }),
        json!({ "board": HARD, "goal": "1 2 3/4 0 5/7 8 6", "methods": [{}, { "algorithm": "breadth_first" }] }),
        json!({ "board": HARD, "methods": [{ "algorithm": "breadth_first" }], "limits": { "expanded": 9 } }),
    ] {
        let by_post = taquin.post("/compare", &question).await.expect(200);
        let by_get = taquin.send(Question::get_as("/compare", &question)).await.expect(200);
        assert_eq!(timeless(by_get.json()), timeless(by_post.json()), "{question}");
        let again = Question::get_as("/compare", &question).header("if-none-match", by_get.header("etag"));
        taquin.send(again).await.expect(304);
    }
    let text = Question::post("/compare?preset=older_systems").body("text/plain", HARD).accept("text/plain");
    let answer = taquin.send(text).await.expect(200);
    assert!(answer.text().contains("astar manhattan heap parent "), "{answer}");
}

#[tokio::test]
async fn errors_of_all_methods_are_reported_at_once_with_pointers() {
    let taquin = shared().await;
    let methods = json!([
        { "algorithm": "astar" },
        { "algorithm": "a_star", "hueristic": "zero" },
        "astar",
        { "heuristic": "euclid", "weight": 0, "limits": { "time_ms": 0, "memory": 1 } },
        { "limits": 5, "require": "any" },
    ]);
    let problem =
        taquin.post("/compare", &json!({ "board": HARD, "methods": methods })).await.problem("invalid-request");
    let mut found = faults(&problem);
    found.sort();
    let expected = [
        "/methods/1/algorithm unknown-value",
        "/methods/1/hueristic unknown-field",
        "/methods/2 wrong-type",
        "/methods/3/heuristic unknown-value",
        "/methods/3/limits/memory unknown-field",
        "/methods/3/limits/time_ms out-of-range",
        "/methods/3/weight out-of-range",
        "/methods/4/limits wrong-type",
        "/methods/4/require unknown-field",
    ];
    assert_eq!(found, expected);
    let unfit =
        json!([{ "algorithm": "astar" }, { "algorithm": "breadth_first", "heuristic": "manhattan", "weight": 2 }]);
    let problem =
        taquin.post("/compare", &json!({ "board": HARD, "methods": unfit })).await.problem("unsupported-combination");
    assert_eq!(faults(&problem), ["/methods/1/heuristic unsupported", "/methods/1/weight unsupported"]);
    let by_get = Question::get("/compare").query("board", HARD).query("methods", r#"[{"algorithm": "a_star"}]"#);
    let problem = taquin.send(by_get).await.problem("invalid-parameter");
    assert_eq!(faults(&problem), ["/methods/0/algorithm unknown-value"]);
}

#[tokio::test]
async fn an_invalid_list_of_methods_is_rejected() {
    let taquin = shared().await;
    for (fields, expected) in [
        (json!({}), "/methods missing-field"),
        (json!({ "methods": [] }), "/methods out-of-range"),
        (json!({ "methods": vec![json!({}); 17] }), "/methods out-of-range"),
        (json!({ "methods": { "algorithm": "astar" } }), "/methods wrong-type"),
        (json!({ "methods": "astar" }), "/methods wrong-type"),
        (json!({ "methods": [[]] }), "/methods/0 wrong-type"),
        (json!({ "preset": "newer_systems" }), "/preset unknown-value"),
        (json!({ "preset": "older_systems", "methods": [{}] }), "/preset unsupported"),
        (json!({ "methods": [{}], "algorithm": "astar" }), "/algorithm unknown-field"),
    ] {
        let mut question = fields;
        question["board"] = json!(HARD);
        let problem = taquin.post("/compare", &question).await.problem("invalid-request");
        assert_eq!(faults(&problem), [expected], "{question}");
    }
    for methods in ["astar", "[{}", "[1]", ""] {
        let question = Question::get("/compare").query("board", HARD).query("methods", methods);
        taquin.send(question).await.problem("invalid-parameter");
    }
    taquin.post("/compare", &json!({ "board": "123456870", "preset": "older_systems" })).await.problem("unsolvable");
}

#[tokio::test]
async fn the_methods_of_a_preset_are_those_that_info_lists() {
    let taquin = shared().await;
    let presets = taquin.get("/info").await.expect(200).json()["presets"].take();
    let presets = presets.as_array().expect("an array");
    assert_eq!(presets.len(), 3);
    for preset in presets {
        let by_name = compare(&taquin, &json!({ "board": HARD, "preset": preset["name"] })).await;
        let by_list = compare(&taquin, &json!({ "board": HARD, "methods": preset["methods"] })).await;
        let timeless = |results| timeless(json!({ "results": results }));
        assert_eq!(timeless(by_name), timeless(by_list), "{}", preset["name"]);
    }
}

#[tokio::test]
async fn a_preset_omits_methods_that_do_not_support_the_board() {
    let taquin = shared().await;
    let board =
        json!([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15], [16, 17, 18, 19, 20], [21, 22, 23, 0, 24]]);
    let results = compare(&taquin, &json!({ "board": board, "preset": "heuristics" })).await;
    let heuristics: Vec<_> = results.iter().filter_map(|result| result["heuristic"].as_str()).collect();
    assert_eq!(heuristics.len(), 7, "{heuristics:?}");
    assert!(!heuristics.contains(&"walking_distance"), "{heuristics:?}");
    assert!(results.iter().all(|result| result["length"] == 1), "{results:?}");
}

#[tokio::test]
async fn as_many_methods_are_compared_as_info_says() {
    let taquin = shared().await;
    let most = taquin.get("/info").await.expect(200).json()["limits"]["methods"].as_u64().expect("a number") as usize;
    let methods = vec![json!({ "algorithm": "ida_star", "heuristic": "manhattan" }); most];
    assert_eq!(compare(&taquin, &json!({ "board": HARD, "methods": methods })).await.len(), most);
}

/// A comparison of two searches, each of which would take years.
async fn endless(client: &Client, seed: &str) -> Value {
    let mut question = hard(client, seed).await;
    let limits = question["limits"].take();
    let method = |heuristic| json!({ "algorithm": "ida_star", "heuristic": heuristic, "limits": limits });
    question["methods"] = json!([method("manhattan"), method("hamming")]);
    for member in ["algorithm", "heuristic", "limits"] {
        question.as_object_mut().expect("an object").remove(member);
    }
    question
}

#[tokio::test]
async fn a_client_that_disconnects_stops_the_comparison() {
    let service = Service::start(&["--workers", "1", "--queue", "4"]).await;
    let client = service.client();
    let pending = client.begin(Question::post("/compare").json(&endless(&client, "a").await)).await;
    until("it has begun", async || gauge(&client, "taquin_jobs_in_progress").await == 1).await;
    assert_eq!(gauge(&client, "taquin_queue_waiting").await, 0, "its second search is not in the queue yet");
    pending.hang_up();
    until_idle(&client).await;
    let metrics = client.get("/metrics").await.expect(200);
    assert!(metrics.text().contains("taquin_cancellations_total{stage=\"searching\"} 1\n"), "{metrics}");
}

#[tokio::test]
async fn an_overloaded_service_rejects_the_whole_comparison() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let pending = begin(&client, &hard(&client, "a").await).await;
    // The first method needs no place in the queue, the second gets none.
    let methods = json!([{}, { "algorithm": "breadth_first" }]);
    let answer = client.post("/compare", &json!({ "board": HARD, "methods": methods })).await;
    assert!(!answer.header("retry-after").is_empty(), "{answer}");
    answer.problem("overloaded");
    pending.hang_up();
    until_idle(&client).await;
    client.post("/compare", &json!({ "board": HARD, "methods": methods })).await.expect(200);
}

#[tokio::test]
async fn a_shutdown_ends_a_comparison() {
    let mut service = Service::start(&["--workers", "1", "--queue", "4", "--shutdown-grace", "200ms"]).await;
    let client = service.client();
    let pending = client.begin(Question::post("/compare").json(&endless(&client, "a").await)).await;
    until("it has begun", async || gauge(&client, "taquin_jobs_in_progress").await == 1).await;
    service.start_shutdown();
    pending.answer().await.problem("shutting-down");
    until("the service has stopped", async || service.has_stopped()).await;
}
