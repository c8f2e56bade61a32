//! HTTP semantics: methods, negotiation, caching, request ids.

use hyper::Method;
use serde_json::json;

use crate::answer::timeless;
use crate::client::shared;
use crate::question::Question;

/// A request for every path, and the methods of the path. By GET, if that is one, it succeeds, but for jobs.
const PATHS: [(&str, &[&str]); 26] = [
    ("/solve?board=867254301", &["GET", "HEAD", "POST"]),
    ("/solvable?board=867254301", &["GET", "HEAD", "POST"]),
    ("/verify?board=867254301&moves=RULL", &["GET", "HEAD", "POST"]),
    ("/hint?board=867254301", &["GET", "HEAD", "POST"]),
    ("/moves?board=867254301", &["GET", "HEAD", "POST"]),
    ("/compare?board=123456078&preset=older_systems", &["GET", "HEAD", "POST"]),
    ("/explain?board=867254301", &["GET", "HEAD", "POST"]),
    ("/distances?rows=2&cols=3", &["GET", "HEAD", "POST"]),
    ("/random?seed=taquin", &["GET", "HEAD", "POST"]),
    ("/batch", &["POST"]),
    ("/jobs", &["GET", "HEAD", "POST"]),
    ("/jobs/7c1d0f8a4be2695d3e0a9b1c52f4d876", &["DELETE", "GET", "HEAD"]),
    ("/jobs/7c1d0f8a4be2695d3e0a9b1c52f4d876/events", &["GET", "HEAD"]),
    ("/jobs/7c1d0f8a4be2695d3e0a9b1c52f4d876/parts/0", &["GET", "HEAD"]),
    ("/jobs/7c1d0f8a4be2695d3e0a9b1c52f4d876/results", &["GET", "HEAD"]),
    ("/info", &["GET", "HEAD"]),
    ("/livez", &["GET", "HEAD"]),
    ("/readyz", &["GET", "HEAD"]),
    ("/healthz", &["GET", "HEAD"]),
    ("/openapi.yaml", &["GET", "HEAD"]),
    ("/metrics", &["GET", "HEAD"]),
    ("/openapi.json", &["GET", "HEAD"]),
    ("/problems/invalid-board", &["GET", "HEAD"]),
    ("/", &["GET", "HEAD"]),
    ("/docs", &["GET", "HEAD"]),
    ("/web/any/board.js", &["GET", "HEAD"]),
];

/// The requests by GET that succeed.
fn readable() -> impl Iterator<Item = &'static str> {
    let paths = PATHS.iter().filter(|(target, methods)| methods.contains(&"GET") && !target.starts_with("/jobs"));
    paths.map(|(target, _)| *target)
}

fn methods(allow: &str) -> Vec<&str> {
    let mut methods: Vec<_> = allow.split(',').map(str::trim).filter(|method| *method != "OPTIONS").collect();
    methods.sort_unstable();
    methods
}

#[tokio::test]
async fn every_path_of_the_contract_is_tested_here() {
    for template in crate::contract::CONTRACT.document["paths"].as_object().expect("paths").keys() {
        let prefix = template.split('{').next().unwrap_or_default();
        let is_tested = PATHS.iter().any(|(target, _)| {
            target.split('?').next() == Some(prefix) || (prefix != template && target.starts_with(prefix))
        });
        assert!(is_tested, "{template}");
    }
}

#[tokio::test]
async fn an_unsupported_method_gets_allow() {
    let taquin = shared().await;
    for (target, known) in PATHS {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::TRACE] {
            if known.contains(&method.as_str()) {
                continue;
            }
            let answer = taquin.send(Question::new(method.clone(), target)).await;
            assert_eq!(methods(answer.header("allow")), known, "{method} {target}");
            answer.problem("method-not-allowed");
        }
    }
}

#[tokio::test]
async fn options_returns_the_methods() {
    let taquin = shared().await;
    for (target, known) in PATHS {
        let answer = taquin.send(Question::new(Method::OPTIONS, target)).await.expect(204);
        assert_eq!(methods(answer.header("allow")), known, "{target}");
        assert!(answer.header("allow").contains("OPTIONS"), "{target}");
        assert_eq!(answer.header("accept-post").is_empty(), !known.contains(&"POST"), "{target}");
    }
    let answer = taquin.send(Question::new(Method::OPTIONS, "/nowhere")).await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let taquin = shared().await;
    for target in readable() {
        let get = taquin.get(target).await.expect(200);
        let head = taquin.send(Question::new(Method::HEAD, target)).await.expect(200);
        assert!(head.body.is_empty(), "{target}");
        for name in ["content-type", "etag", "vary", "cache-control"] {
            assert_eq!(head.header(name), get.header(name), "{name} of {target}");
        }
    }
    taquin.send(Question::new(Method::HEAD, "/solve")).await.expect(400);
    taquin.send(Question::new(Method::HEAD, "/nowhere")).await.expect(404);
}

#[tokio::test]
async fn an_unacceptable_media_type_is_rejected() {
    let taquin = shared().await;
    let is_choosy = |target: &str| !target.ends_with('z') && target != "/metrics" && !target.starts_with("/web/");
    for target in readable().filter(|target| is_choosy(target)) {
        for accept in ["image/png", "audio/*;q=0.8", "application/*;q=0, text/*;q=0", "*/*;q=0"] {
            taquin.send(Question::get(target).accept(accept)).await.problem("not-acceptable");
        }
    }
    let question = Question::post("/solve").json(&json!({ "board": "867254301" })).accept("image/png");
    taquin.send(question).await.problem("not-acceptable");
}

#[tokio::test]
async fn a_rejected_accept_header_gets_the_types_that_the_request_could_have() {
    let taquin = shared().await;
    for (fields, offers) in [
        ("", "application/json, text/plain, text/event-stream, image/svg+xml, text/vnd.graphviz"),
        ("&include=states", "application/json, text/plain, text/event-stream"),
        ("&include=progress", "text/plain, text/event-stream"),
        ("&include=states&width=80", "text/plain"),
    ] {
        let target = format!("/solve?board=867254301{fields}");
        let problem = taquin.send(Question::get(&target).accept("image/png")).await.problem("not-acceptable");
        let others = if fields.is_empty() { "" } else { " Its fields exclude the others." };
        let detail = format!("The `Accept` header excludes every media type of this request: {offers}.{others}");
        assert_eq!(problem["detail"], detail, "{fields}");
        for offer in offers.split(", ") {
            taquin.send(Question::get(&target).accept(offer)).await.expect(200);
        }
    }
}

#[tokio::test]
async fn probes_and_assets_ignore_accept() {
    let taquin = shared().await;
    for target in ["/livez", "/readyz", "/healthz", "/web/any/board.js"] {
        taquin.send(Question::get(target).accept("image/png")).await.expect(200);
    }
}

#[tokio::test]
async fn the_form_that_is_preferred_is_given() {
    let taquin = shared().await;
    for (accept, expected) in [
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("application/*", "application/json"),
        ("text/plain", "text/plain"),
        ("text/*", "text/plain"),
        ("text/plain;q=0.1, application/json", "application/json"),
        ("text/plain, application/json;q=0.5", "text/plain"),
        ("text/plain;q=0.5, */*;q=0.1", "text/plain"),
        ("text/plain;q=0, */*", "application/json"),
        ("TEXT/PLAIN", "text/plain"),
    ] {
        for target in ["/solve?board=867254301", "/solvable?board=867254301", "/random", "/info", "/livez"] {
            let answer = taquin.send(Question::get(target).accept(accept)).await.expect(200);
            assert_eq!(answer.media_type(), expected, "{target} with Accept: {accept}");
        }
    }
    let answer = taquin.get("/solve?board=867254301").await.expect(200);
    assert_eq!(answer.media_type(), "application/json", "without Accept");
}

#[tokio::test]
async fn a_request_id_is_taken_and_echoed() {
    let taquin = shared().await;
    for id in ["abc-123", "0198c7f0-5b1e-7c44-9d6a-2f0c7d1e8a90", "a.b_c:d", "x"] {
        let answer = taquin.send(Question::get("/livez").header("x-request-id", id)).await.expect(200);
        assert_eq!(answer.header("x-request-id"), id);
        let problem = taquin.send(Question::get("/nowhere").header("x-request-id", id)).await.problem("not-found");
        assert_eq!(problem["request_id"], id);
    }
}

#[tokio::test]
async fn a_malformed_request_id_is_replaced() {
    let taquin = shared().await;
    let long = "a".repeat(129);
    for id in ["", "two words", "quote\"d", "<script>", "semi;colon", "path/like", "a=b", "ünïcode", &long] {
        let answer = taquin.send(Question::get("/livez").header("x-request-id", id)).await.expect(200);
        assert_ne!(answer.header("x-request-id"), id);
        assert!(!answer.header("x-request-id").is_empty());
    }
    let longest = "a".repeat(128);
    let answer = taquin.send(Question::get("/livez").header("x-request-id", &longest)).await.expect(200);
    assert_eq!(answer.header("x-request-id"), longest);
}

#[tokio::test]
async fn request_ids_that_are_made_differ() {
    let taquin = shared().await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(taquin.get("/livez").await.header("x-request-id").to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 20);
}

#[tokio::test]
async fn a_traceparent_is_accepted_well_formed_or_not() {
    let taquin = shared().await;
    for traceparent in ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-0-0-0", "nonsense", ""] {
        let question = Question::get("/solve?board=867254301").header("traceparent", traceparent);
        taquin.send(question).await.expect(200);
    }
}

#[tokio::test]
async fn a_solution_has_server_timing() {
    let taquin = shared().await;
    for question in [
        Question::get("/solve?board=867254301"),
        Question::post("/solve").json(&json!({ "board": "867254301" })),
        Question::get("/solve?board=867254301").accept("text/plain"),
    ] {
        let answer = taquin.send(question).await.expect(200);
        let timing = answer.header("server-timing").to_owned();
        for part in ["queue;dur=", "search;dur="] {
            let (_, rest) = timing.split_once(part).unwrap_or_else(|| panic!("no {part} in {timing:?}"));
            let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            assert!(number.parse::<f64>().is_ok(), "{timing:?}");
        }
    }
}

#[tokio::test]
async fn a_response_to_get_has_an_etag() {
    let taquin = shared().await;
    for target in [
        "/solve?board=867254301",
        "/solve?board=867254301&algorithm=depth_first",
        "/solvable?board=867254301",
        "/explain?board=867254301",
        "/distances?rows=2&cols=3",
        "/random?seed=taquin",
        "/openapi.yaml",
        "/openapi.json",
        "/problems/invalid-board",
        "/",
        "/web/any/icon.svg",
    ] {
        let answer = taquin.get(target).await.expect(200);
        let tag = answer.header("etag").to_owned();
        assert!(tag.starts_with("W/\""), "{target}: {tag:?}");
        assert_eq!(taquin.get(target).await.header("etag"), tag, "{target} again");
        assert!(!answer.header("cache-control").contains("no-store"), "{target}");
        for tags in [tag.clone(), format!("\"other\", {tag}"), "*".to_owned(), tag.trim_start_matches("W/").to_owned()]
        {
            let again = taquin.send(Question::get(target).header("if-none-match", &tags)).await.expect(304);
            assert_eq!(again.header("etag"), tag, "{target}");
        }
        taquin.send(Question::get(target).header("if-none-match", "W/\"other\"")).await.expect(200);
        let text = taquin.send(Question::get(target).accept("text/plain")).await.expect(200);
        let has_same_type = text.header("content-type") == answer.header("content-type");
        assert_eq!(text.header("etag") == tag, has_same_type, "another form of {target}");
        for (tags, status) in [("*", 200), (tag.as_str(), 412), ("\"other\"", 412)] {
            taquin.send(Question::get(target).header("if-match", tags)).await.expect(status);
        }
    }
    taquin.send(Question::get("/solve").header("if-match", "\"other\"")).await.problem("invalid-parameter");
    for target in ["/solve", "/hint", "/moves"] {
        let question = Question::post(target).json(&json!({ "board": "867254301" }));
        taquin.send(question.header("if-match", "\"other\"")).await.expect(200);
    }
    let other = taquin.get("/solve?board=867254310").await;
    assert_ne!(other.header("etag"), taquin.get("/solve?board=867254301").await.header("etag"));
}

#[tokio::test]
async fn nondeterministic_responses_are_not_stored() {
    let taquin = shared().await;
    for target in ["/random", "/random?as=text", "/random?as=request", "/random?length=5..9"] {
        let answer = taquin.get(target).await.expect(200);
        assert!(answer.header("cache-control").contains("no-store"), "{target}");
        assert_eq!(answer.header("etag"), "", "{target}");
    }
    let large = "board=24%2023%2022%2021%2020/19%2018%2017%2016%2015/14%2013%2012%2011%2010/9%208%207%206%205/4%203%202%201%200";
    let timed = taquin.get(&format!("/solve?{large}&limits.time_ms=100")).await.expect(200);
    assert_eq!((timed.header("cache-control"), timed.header("etag")), ("no-store", ""), "what the clock ended");
    let post = taquin.post("/solve", &json!({ "board": "867254301" })).await.expect(200);
    assert_eq!(post.header("etag"), "", "an answer to POST");
}

#[tokio::test]
async fn a_connection_serves_many_requests() {
    let taquin = shared().await;
    let mut replies = Vec::new();
    for _ in 0..50 {
        replies.push(timeless(taquin.get("/solve?board=867254301").await.expect(200).json()));
    }
    replies.dedup();
    assert_eq!(replies.len(), 1);
}
