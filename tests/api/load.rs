//! More work than there are workers, clients that go away, and the end.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Pending, Service, until};
use crate::question::Question;

/// A search that would take years.
async fn hard(client: &Client) -> Value {
    let mut question = client.get("/random?rows=7&cols=7&seed=hard&as=request").await.expect(200).json();
    let most = 9_007_199_254_740_991_u64;
    question["algorithm"] = json!("ida_star");
    question["heuristic"] = json!("manhattan");
    question["limits"] = json!({ "time_ms": most, "expanded": most, "nodes": most });
    question
}

/// A search that takes no time, but has little patience to wait for a worker. (`auto` would not wait: a
/// small board is solved where it is.)
pub(crate) fn quick() -> Question {
    Question::post("/solve")
        .json(&json!({ "board": "123456078", "algorithm": "ida_star", "limits": { "time_ms": 100 } }))
}

/// Occupies the only worker with a search, and returns once that is so.
async fn occupy_with(client: &Client, search: &Value) -> Pending {
    begin_until(client, search, async || client.send(quick()).await.status == 503).await
}

/// Occupies the only worker for as long as the service allows.
pub(crate) async fn occupy(client: &Client) -> Pending {
    occupy_with(client, &hard(client).await).await
}

/// Begins a search, and returns once it has visibly taken its place.
async fn begin_until(client: &Client, search: &Value, is_in_place: impl AsyncFn() -> bool) -> Pending {
    loop {
        let pending = client.begin(Question::post("/solve").json(search)).await;
        until("the search is in its place", async || pending.is_answered() || is_in_place().await).await;
        if !pending.is_answered() {
            return pending;
        }
        // One of the questions that are asked to see was in its way.
        pending.answer().await.problem("overloaded");
    }
}

#[tokio::test]
async fn a_full_house_answers_503_and_says_when_to_come_again() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let pending = occupy(&client).await;
    let patient = Question::post("/solve").json(&json!({ "board": "123456078", "algorithm": "ida_star" }));
    for question in [patient, Question::get("/solve?board=123456078&algorithm=ida_star")] {
        let answer = client.send(question).await;
        let retry_after: u64 = answer.header("retry-after").parse().expect("seconds");
        assert!((1..=3600).contains(&retry_after), "{retry_after}");
        answer.problem("overloaded");
    }
    let text = client.send(quick().accept("text/plain")).await.expect(503);
    assert_eq!(text.media_type(), "text/plain");
    pending.hang_up();
    until("the worker is free again", async || client.send(quick()).await.status == 200).await;
}

#[tokio::test]
async fn what_needs_no_worker_is_answered_under_any_load() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let pending = occupy(&client).await;
    for target in
        ["/livez", "/readyz", "/healthz", "/info", "/solvable?board=123456078", "/random", "/openapi.json", "/"]
    {
        client.get(target).await.expect(200);
    }
    client.get("/solve?board=123456870").await.problem("unsolvable");
    assert!(!pending.is_answered(), "the hard search goes on");
    pending.hang_up();
}

#[tokio::test]
async fn a_job_whose_time_passes_in_the_queue_is_told_so() {
    let service = Service::start(&["--workers", "1", "--queue", "4"]).await;
    let client = service.client();
    let pending = occupy(&client).await;
    let answer = client.send(quick()).await;
    assert!(!answer.header("retry-after").is_empty(), "{answer}");
    answer.problem("overloaded");
    assert!(!pending.is_answered(), "the hard search goes on");
    pending.hang_up();
}

#[tokio::test]
async fn a_dropped_request_stops_its_search() {
    let service = Service::start(&["--workers", "1", "--queue", "1"]).await;
    let client = service.client();
    let pending = occupy(&client).await;
    pending.hang_up();
    let waiting = Question::post("/solve")
        .json(&json!({ "board": "123456078", "algorithm": "ida_star", "limits": { "time_ms": 20_000 } }));
    let asked = Instant::now();
    client.send(waiting).await.expect(200);
    assert!(asked.elapsed() < Duration::from_secs(10), "the dropped search went on for {:?}", asked.elapsed());
}

#[tokio::test]
async fn a_request_dropped_in_the_queue_leaves_its_place() {
    let service = Service::start(&["--workers", "1", "--queue", "1"]).await;
    let client = service.client();
    let running = occupy(&client).await;
    let is_refused_at_once = async || {
        let asked = Instant::now();
        client.send(quick()).await.expect(503);
        asked.elapsed() < Duration::from_millis(90)
    };
    let queued = begin_until(&client, &hard(&client).await, is_refused_at_once).await;
    queued.hang_up();
    until("there is a place in the queue", async || !is_refused_at_once().await).await;
    running.hang_up();
    until("the worker is free", async || client.send(quick()).await.status == 200).await;
}

#[tokio::test]
async fn a_hundred_clients_at_once_all_get_an_answer() {
    let service = Service::start(&["--workers", "2", "--queue", "200"]).await;
    let client = service.client();
    let mut pending = Vec::new();
    for _ in 0..100 {
        let question = json!({ "board": "867254301", "limits": { "time_ms": 20_000 } });
        pending.push(client.begin(Question::post("/solve").json(&question)).await);
    }
    for answer in pending {
        assert_eq!(answer.answer().await.expect(200).json()["length"], 31);
    }
}

#[tokio::test]
async fn a_shutdown_waits_for_a_search_in_flight() {
    let mut service = Service::start(&["--workers", "1", "--queue", "0", "--shutdown-grace", "60s"]).await;
    let client = service.client();
    let mut question = hard(&client).await;
    question["limits"]["time_ms"] = json!(1500);
    let pending = occupy_with(&client, &question).await;
    service.ask_to_stop();
    let problem = pending.answer().await.problem("search-limit-exceeded");
    assert_eq!(problem["limit"], "time", "it had all its time");
    until("the service has stopped", async || service.has_stopped()).await;
}

#[tokio::test]
async fn a_search_that_outlasts_the_grace_period_is_ended() {
    let mut service = Service::start(&["--workers", "1", "--queue", "0", "--shutdown-grace", "200ms"]).await;
    let client = service.client();
    let pending = occupy(&client).await;
    service.ask_to_stop();
    pending.answer().await.problem("shutting-down");
    until("the service has stopped", async || service.has_stopped()).await;
}
