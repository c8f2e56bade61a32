//! The examples of the contract are what the service responds, but for times and identifiers.

use std::collections::BTreeSet;

use hyper::Method;
use serde_json::{Value, json};

use crate::client::{Service, unchecked};
use crate::contract::CONTRACT;
use crate::question::Question;

/// A request and the place of the example of its response: component or path, media type, name.
type Asked = (&'static str, &'static str, &'static str, fn() -> Question);

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const NDJSON: &str = "application/x-ndjson";
const PROBLEM: &str = "application/problem+json";
const TWO_MOVES: &str = "1 2 3/4 5 6/0 7 8";

fn post(path: &'static str, body: Value) -> Question {
    Question::post(path).json(&body)
}

fn text(path: &'static str, body: Value) -> Question {
    post(path, body).accept(TEXT)
}

const ASKED: &[Asked] = &[
    ("Solution", JSON, "hardest", || post("/solve", json!({ "board": "867254301" }))),
    ("Solution", JSON, "textbook", || {
        let include = ["states", "expansions"];
        post(
            "/solve",
            json!({ "board": TWO_MOVES, "algorithm": "astar", "heuristic": "manhattan", "include": include }),
        )
    }),
    ("Solution", TEXT, "", || {
        text("/solve", json!({ "board": TWO_MOVES, "algorithm": "astar", "heuristic": "manhattan" }))
    }),
    ("Solution", "text/event-stream", "solved", || {
        post("/solve", json!({ "board": TWO_MOVES, "algorithm": "breadth_first" })).accept("text/event-stream")
    }),
    ("Solution", "text/vnd.graphviz", "", || {
        post("/solve", json!({ "board": "12/03", "algorithm": "breadth_first" })).accept("text/vnd.graphviz")
    }),
    ("Solvability", JSON, "no", || post("/solvable", json!({ "board": "123456870" }))),
    ("Solvability", JSON, "yes", || post("/solvable", json!({ "board": "867254301" }))),
    ("Solvability", TEXT, "", || text("/solvable", json!({ "board": "123456870" }))),
    ("Verdict", JSON, "solved", || post("/verify", json!({ "board": TWO_MOVES, "moves": "RR" }))),
    ("Verdict", JSON, "illegal", || post("/verify", json!({ "board": TWO_MOVES, "moves": "RD" }))),
    ("Verdict", JSON, "unsolvable", || post("/verify", json!({ "board": "123456870", "moves": "U" }))),
    ("Verdict", TEXT, "", || text("/verify", json!({ "board": TWO_MOVES, "moves": "RR" }))),
    ("Hint", JSON, "move", || post("/hint", json!({ "board": TWO_MOVES }))),
    ("Hint", JSON, "solved", || post("/hint", json!({ "board": "123456780" }))),
    ("Hint", JSON, "trail", || {
        let board = "1 2 3 4 5/6 7 8 9 10/11 12 13 14 15/16 17 18 19 20/21 22 0 23 24";
        post("/hint", json!({ "board": board, "trail": "RR" }))
    }),
    ("Hint", TEXT, "", || text("/hint", json!({ "board": TWO_MOVES }))),
    ("LegalMoves", JSON, "moves", || post("/moves", json!({ "board": TWO_MOVES }))),
    ("LegalMoves", TEXT, "", || text("/moves", json!({ "board": TWO_MOVES }))),
    ("Batch", NDJSON, "lengths", || {
        let lines = "{\"id\":\"a\",\"board\":[[8,6,7],[2,5,4],[3,0,1]]}\n\
                     {\"id\":\"b\",\"board\":\"123804765\",\"goal\":\"snail\"}\n\
                     {\"id\":\"c\",\"board\":[[1,2,3],[4,5,6],[8,7,0]]}\n";
        Question::post("/batch").body(NDJSON, lines)
    }),
    ("Batch", NDJSON, "moves", || Question::post("/batch?want=moves").body(NDJSON, TWO_MOVES)),
    ("Batch", NDJSON, "next", || Question::post("/batch?want=next").body(NDJSON, TWO_MOVES)),
    ("NotABatch", PROBLEM, "invalid-request", || Question::post("/batch").body(NDJSON, "")),
    ("NotABatch", PROBLEM, "invalid-board", || Question::post("/batch?goal=12/01").body(NDJSON, TWO_MOVES)),
    ("NotABatch", TEXT, "", || Question::post("/batch").body(NDJSON, "").accept("text/plain, */*;q=0.1")),
    ("Healthy", JSON, "", || Question::get("/livez")),
    ("Healthy", TEXT, "", || Question::get("/livez").accept(TEXT)),
    ("CrossSiteRequest", PROBLEM, "", || {
        Question::get("/solve?board=867254301").header("sec-fetch-site", "cross-site")
    }),
    ("CrossSiteRequest", TEXT, "", || {
        Question::get("/solve?board=867254301").header("sec-fetch-site", "cross-site").accept(TEXT)
    }),
    ("NotFound", PROBLEM, "", || Question::get("/nowhere")),
    ("MethodNotAllowed", PROBLEM, "", || Question::new(Method::DELETE, "/solve")),
    ("MethodNotAllowed", TEXT, "", || Question::new(Method::DELETE, "/solve").accept(TEXT)),
    ("NotAcceptable", PROBLEM, "", || Question::get("/solve?board=867254301").accept("image/png")),
    ("examples/GoalMismatch", "", "", || post("/solve", json!({ "board": "867254301", "goal": [[1, 2], [3, 0]] }))),
    ("examples/Unsolvable", "", "", || post("/solve", json!({ "board": "123456870" }))),
    ("examples/SearchLimitExceeded", "", "", || {
        let limits = json!({ "expanded": 1000, "time_ms": 2000 });
        post("/solve", json!({ "board": "867254301", "algorithm": "breadth_first", "limits": limits }))
    }),
    ("RandomBoards", JSON, "board", || Question::get("/random?seed=taquin")),
    ("RandomBoards", JSON, "large", || Question::get("/random?rows=4&seed=taquin")),
    ("RandomBoards", JSON, "unsolvable", || Question::get("/random?rows=2&solvable=false&seed=taquin")),
    ("RandomBoards", JSON, "request", || Question::get("/random?goal=blank_first&as=request&seed=taquin")),
    ("RandomBoards", "application/x-ndjson", "", || Question::get("/random?rows=2&count=2&seed=taquin")),
    ("RandomBoards", TEXT, "grid", || Question::get("/random?as=text&seed=taquin")),
    ("RandomBoards", TEXT, "lines", || Question::get("/random?as=line&count=3&seed=taquin")),
];

/// The example at a place of the contract.
fn example(place: &str, media_type: &str, name: &str) -> Value {
    let document = &CONTRACT.document;
    if let Some(shared) = place.strip_prefix("examples/") {
        return document["components"]["examples"][shared]["value"].clone();
    }
    let content = &document["components"]["responses"][place]["content"][media_type];
    if name.is_empty() { content["example"].clone() } else { content["examples"][name]["value"].clone() }
}

/// Replaces what differs between two responses to equal requests: times, identifiers, and limits that depend on the
/// memory of the machine.
pub(crate) fn without_times(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let varies = |name: &str| ["elapsed_us", "request_id", "nodes", "build_ms"].contains(&name);
            let member = |(name, value): (String, Value)| {
                let value = if varies(&name) { json!("varies") } else { without_times(value) };
                (name, value)
            };
            members.into_iter().map(member).collect()
        }
        Value::Array(entries) => entries.into_iter().map(without_times).collect(),
        Value::Number(number) => number.as_f64().map_or(Value::Null, |number| json!(number)),
        Value::String(text) => json!(text_without_times(&text)),
        other => other,
    }
}

pub(crate) fn text_without_times(text: &str) -> String {
    let line = |line: &str| {
        if line.starts_with("{\"") {
            let line = serde_json::from_str(line).map(without_times).unwrap_or_else(|error| panic!("{error}: {line}"));
            return line.to_string();
        }
        if let Some((event, data)) = line.split_once("data: ") {
            let data = serde_json::from_str(data).map(without_times).unwrap_or_else(|error| panic!("{error}: {line}"));
            return format!("{event}data: {data}");
        }
        let is_time = line.ends_with(" µs") || line.starts_with("request id: ");
        let words: Vec<&str> = line.split(' ').collect();
        if !is_time {
            line.to_owned()
        } else if line.ends_with(" µs") {
            words[..words.len() - 2].join(" ")
        } else {
            words[..2].join(" ")
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn examples_are_what_the_service_responds() {
    let service = Service::start(&[]).await;
    let mut differences = Vec::new();
    for (place, media_type, name, question) in ASKED {
        let answer = unchecked(service.client().addr(), &question()).await;
        let is_json = ["/json", "+json"].iter().any(|end| answer.media_type().ends_with(end));
        let actual = if is_json { answer.json() } else { json!(answer.text()) };
        let expected = example(place, media_type, name);
        if without_times(actual.clone()) != without_times(expected.clone()) {
            differences.push(format!("{place} {media_type} {name}\nactual:   {actual}\nexpected: {expected}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[tokio::test]
async fn examples_of_problems_have_the_titles_and_states_of_their_types() {
    let service = Service::start(&[]).await;
    let mut seen = BTreeSet::new();
    let mut examples = Vec::new();
    collect(&CONTRACT.document["components"], &mut examples);
    for example in examples {
        let slug = example["type"].as_str().and_then(|name| name.strip_prefix("/problems/")).expect("a type");
        let page = unchecked(service.client().addr(), &Question::get(&format!("/problems/{slug}"))).await.json();
        assert_eq!((&example["title"], &example["status"]), (&page["title"], &page["status"]), "{example}");
        seen.insert(slug.to_owned());
    }
    assert!(seen.len() > 20, "{seen:?}");
}

/// Collects the values of examples that are problem documents.
fn collect(value: &Value, examples: &mut Vec<Value>) {
    match value {
        Value::Object(members) => {
            let is_problem = members.contains_key("request_id") && members.get("title").is_some_and(Value::is_string);
            if is_problem {
                examples.push(value.clone());
            }
            members.values().for_each(|member| collect(member, examples));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| collect(entry, examples)),
        _ => {}
    }
}
