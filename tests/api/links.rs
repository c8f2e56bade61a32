//! `Content-Location`: the GET request that has the same response as a POST request.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::client::{Client, Service, shared};
use crate::examples::{text_without_times, without_times};
use crate::question::Question;

const BOARD: &str = "1 2 3/4 5 6/0 7 8";
const LARGER: &str = "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15";

/// Resolves the location against the path of the question.
fn target(question: &Question, answer: &Answer) -> String {
    let path = question.target.split('?').next().unwrap_or_default();
    let (parent, _) = path.rsplit_once('/').expect("a path");
    format!("{parent}/{}", answer.header("content-location"))
}

fn body(answer: &Answer) -> Value {
    if answer.media_type() == "application/json" {
        without_times(answer.json())
    } else {
        json!(text_without_times(answer.text()))
    }
}

/// Sends a question by POST and by the GET request that its answer names. Returns the location.
async fn linked(taquin: &Client, question: Question) -> String {
    let answer = taquin.send(question.clone()).await.expect(200);
    let location = answer.header("content-location").to_owned();
    assert!(!location.is_empty() && location.len() <= 2_000, "{question}\n{answer}");
    let mut get = Question::get(&target(&question, &answer));
    get.headers.extend(question.headers.get("accept").map(|accept| (hyper::header::ACCEPT, accept.clone())));
    let by_get = taquin.send(get).await.expect(200);
    assert_eq!(by_get.header("content-location"), "", "a GET request has its own target");
    assert_eq!(by_get.header("content-type"), answer.header("content-type"));
    assert_eq!(body(&by_get), body(&answer), "{question}\n{location}");
    location
}

#[tokio::test]
async fn a_post_names_the_get_that_has_the_same_response() {
    let taquin = shared().await;
    let methods = json!([{ "algorithm": "astar", "heuristic": "manhattan" }, { "algorithm": "breadth_first", "limits": { "nodes": 100_000 } }]);
    for (path, body, expected) in [
        ("/solve", json!({ "board": LARGER }), "solve?board=1,2,3,4/5,6,7,8/9,10,11,12/13,0,14,15"),
        (
            "/solve",
            json!({ "board": "1 2 3/8 4 0/7 6 5", "goal": "snail", "algorithm": "ida_star", "heuristic": "auto", "limits": null }),
            "",
        ),
        (
            "/solve",
            json!({ "board": BOARD, "algorithm": "weighted_astar", "weight": 1.5, "heuristic": "manhattan", "include": ["states", "expansions"], "successor_order": "URDL", "limits": { "time_ms": 900, "expanded": 5000 } }),
            "solve?board=1,2,3/4,5,6/0,7,8&algorithm=weighted_astar&heuristic=manhattan&weight=1.5&successor_order=URDL&\
             limits.time_ms=900&limits.expanded=5000&include=states,expansions",
        ),
        (
            "/solve",
            json!({ "board": LARGER, "solutions": {} }),
            "solve?board=1,2,3,4/5,6,7,8/9,10,11,12/13,0,14,15&solutions.count=true",
        ),
        ("/solve", json!({ "board": LARGER, "solutions": { "count": false, "max": 3 } }), ""),
        ("/solve", json!({ "board": BOARD, "metric": "multi_tile", "require": "optimal" }), ""),
        ("/solvable", json!({ "board": "123456870" }), "solvable?board=1,2,3/4,5,6/8,7,0"),
        ("/verify", json!({ "board": BOARD, "moves": "R r", "include": ["steps"], "exact": true }), ""),
        (
            "/verify",
            json!({ "board": BOARD, "tiles": [7, 8], "exact": false }),
            "verify?board=1,2,3/4,5,6/0,7,8&tiles=7,8",
        ),
        ("/verify", json!({ "board": BOARD, "moves": "L2", "notation": "tile" }), ""),
        ("/hint", json!({ "board": BOARD, "trail": "RR" }), "hint?board=1,2,3/4,5,6/0,7,8&trail=RR"),
        ("/moves", json!({ "board": BOARD, "goal": "1 2 3/4 5 6/7 8 0" }), "moves?board=1,2,3/4,5,6/0,7,8"),
        (
            "/moves",
            json!({ "board": [2, 1, 3, 4, 5, 6, 7, 0], "rows": 2, "goal": [1, 2, 3, 4, 5, 6, 7, 0] }),
            "moves?board=2,1,3,4/5,6,7,0",
        ),
        (
            "/compare",
            json!({ "board": BOARD, "preset": "heuristics" }),
            "compare?board=1,2,3/4,5,6/0,7,8&preset=heuristics",
        ),
        ("/compare", json!({ "board": BOARD, "methods": methods, "limits": { "time_ms": 500 } }), ""),
        (
            "/compare",
            json!({ "boards": {}, "methods": [{ "algorithm": "astar" }] }),
            "compare?boards.count=100&methods=%5B%7B%22algorithm%22:%22astar%22%7D%5D",
        ),
        (
            "/compare",
            json!({ "boards": { "rows": 2, "count": 3, "seed": "a b&c", "length": "1..4" }, "goal": "snail", "preset": "heuristics" }),
            "",
        ),
        (
            "/explain",
            json!({ "board": "1 2 3/8 4 0/7 6 5", "goal": [[1, 2, 3], [8, 0, 4], [7, 6, 5]] }),
            "explain?board=1,2,3/8,4,0/7,6,5&goal=snail",
        ),
        (
            "/explain",
            json!({ "board": BOARD, "goal": "1 2 3/4 5 6/7 0 8" }),
            "explain?board=1,2,3/4,5,6/0,7,8&goal=1,2,3/4,5,6/7,0,8",
        ),
        ("/distances", json!({}), "distances"),
        ("/distances", json!({ "rows": 2, "goal": "snail" }), "distances?rows=2&goal=snail"),
        ("/distances", json!({ "goal": "1 2/0 3" }), "distances?goal=1,2/0,3"),
        (
            "/random",
            json!({ "seed": "ü 1", "rows": 4, "solvable": "any" }),
            "random?rows=4&seed=%C3%BC%201&solvable=any",
        ),
        ("/random", json!({ "seed": "s", "goal": "blank_first", "walk": 7, "walk_back": true, "as": "request" }), ""),
        ("/random", json!({ "seed": "s", "from": "8 6 7/2 5 4/3 0 1", "walk": 3, "as": "line" }), ""),
        ("/random", json!({ "seed": "s", "rows": 2, "percentile": "50..100", "count": 3 }), ""),
    ] {
        let location = linked(&taquin, Question::post(path).json(&body)).await;
        assert!(expected.is_empty() || location == expected, "{path} {body}: {location}");
    }
}

#[tokio::test]
async fn fields_of_the_query_and_other_bodies_are_in_the_link() {
    let taquin = shared().await;
    for (question, expected) in [
        (
            Question::post("/moves?goal=snail").json(&json!([[1, 2, 3], [8, 4, 0], [7, 6, 5]])),
            "moves?board=1,2,3/8,4,0/7,6,5&goal=snail",
        ),
        (Question::post("/hint?board=867254301"), "hint?board=8,6,7/2,5,4/3,0,1"),
        (Question::post("/solvable").body("text/plain", "8 6 7\n2 5 4\n3 x 1"), "solvable?board=8,6,7/2,5,4/3,0,1"),
        (Question::post("/explain").body("application/x-www-form-urlencoded", "12/03"), "explain?board=1,2/0,3"),
    ] {
        assert_eq!(linked(&taquin, question).await, expected);
    }
}

#[tokio::test]
async fn a_link_holds_for_each_media_type() {
    let taquin = shared().await;
    for (path, media_type) in [
        ("/solve", "text/plain"),
        ("/solve", "image/svg+xml"),
        ("/solvable", "image/svg+xml"),
        ("/hint", "text/plain"),
        ("/moves", "text/plain"),
    ] {
        linked(&taquin, Question::post(path).json(&json!({ "board": LARGER })).accept(media_type)).await;
    }
    let tree = json!({ "board": BOARD, "algorithm": "breadth_first" });
    linked(&taquin, Question::post("/solve").json(&tree).accept("text/vnd.graphviz")).await;
    linked(&taquin, Question::post("/distances").json(&json!({ "rows": 3 })).accept("text/csv")).await;
    let events = taquin.send(Question::post("/solve").json(&tree).accept("text/event-stream")).await.expect(200);
    assert_eq!(events.header("content-location"), "solve?board=1,2,3/4,5,6/0,7,8&algorithm=breadth_first");
}

#[tokio::test]
async fn a_drawn_seed_is_in_the_link() {
    let taquin = shared().await;
    for body in [json!({}), json!({ "rows": 4, "as": "text" }), json!({ "count": 2 })] {
        let location = linked(&taquin, Question::post("/random").json(&body)).await;
        assert!(location.contains("seed="), "{location}");
    }
}

#[tokio::test]
async fn failures_long_questions_and_solutions_that_are_looked_up_have_no_link() {
    let taquin = shared().await;
    for (path, body, status) in [
        ("/solve", json!({ "board": "123456870" }), 422),
        ("/solve", json!({ "board": "867254301", "algorithm": "breadth_first", "limits": { "expanded": 10 } }), 422),
        ("/solve", json!({ "board": 1 }), 422),
        ("/verify", json!({ "board": BOARD, "moves": "RL".repeat(1_000) }), 200),
        ("/solve", json!({ "board": [[1, 2, 3], [4, 5, 6], [0, 7, 8]] }), 200),
        ("/solve", json!({ "board": BOARD, "include": ["states"] }), 200),
    ] {
        let answer = taquin.post(path, &body).await.expect(status);
        assert_eq!(answer.header("content-location"), "", "{path}");
    }
}

#[tokio::test]
async fn a_link_is_right_below_the_path_of_a_proxy() {
    let service = Service::start(&["--base-path", "/games/taquin"]).await;
    let client = service.client();
    for path in ["/games/taquin/solve", "/solve"] {
        let question = Question::post(path).json(&json!({ "board": LARGER }));
        // Other paths are not in the contract.
        let answer = crate::client::unchecked(client.addr(), &question).await.expect(200);
        assert_eq!(target(&question, &answer), format!("{path}?board=1,2,3,4/5,6,7,8/9,10,11,12/13,0,14,15"));
        let by_get = crate::client::unchecked(client.addr(), &Question::get(&target(&question, &answer))).await;
        assert_eq!(body(&by_get.expect(200)), body(&answer));
    }
}
