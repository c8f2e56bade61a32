//! More searches than workers, clients that disconnect, and shutdown.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Pending, Service, until};
use crate::question::Question;

const MOST: u64 = 9_007_199_254_740_991;

/// A search that would take years but little memory. Each seed gives another search.
pub(crate) async fn hard(client: &Client, seed: &str) -> Value {
    let mut question = client.get(&format!("/random?rows=7&cols=7&seed={seed}&as=request")).await.expect(200).json();
    question["algorithm"] = json!("ida_star");
    question["heuristic"] = json!("manhattan");
    question["limits"] = json!({ "time_ms": MOST, "expanded": MOST, "nodes": MOST });
    question
}

/// A search that would take years, with the maximum memory of one search.
async fn greedy(client: &Client, seed: &str) -> Value {
    let mut question = hard(client, seed).await;
    question["algorithm"] = json!("depth_first");
    question["duplicate_detection"] = json!("parent");
    question["depth_limit"] = json!(200);
    question.as_object_mut().expect("an object").remove("heuristic");
    question
}

/// A very short search that goes through the queue. (With `auto`, small boards are solved without it.)
pub(crate) fn quick() -> Question {
    Question::post("/solve").json(&json!({ "board": "123456078", "algorithm": "ida_star" }))
}

/// Value of a metric.
pub(crate) async fn gauge(client: &Client, name: &str) -> u64 {
    let metrics = client.get("/metrics").await.expect(200);
    let value = metrics.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in {metrics}"))
}

/// Submits a search, and returns once it has started.
pub(crate) async fn begin(client: &Client, search: &Value) -> Pending {
    let before = gauge(client, "taquin_jobs_in_progress").await;
    let pending = client.begin(Question::post("/solve").json(search)).await;
    until("the search has begun", async || gauge(client, "taquin_jobs_in_progress").await > before).await;
    pending
}

pub(crate) async fn until_idle(client: &Client) {
    until("all is idle", async || gauge(client, "taquin_jobs_in_progress").await == 0).await;
    assert_eq!(gauge(client, "taquin_workers_busy").await, 0);
    assert_eq!(gauge(client, "taquin_queue_waiting").await, 0);
    assert_eq!(gauge(client, "taquin_memory_reserved_bytes").await, 0);
}

#[tokio::test]
async fn an_overloaded_service_responds_503_with_retry_after() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let pending = begin(&client, &hard(&client, "a").await).await;
    for question in [quick(), Question::get("/solve?board=123456078&algorithm=ida_star")] {
        let answer = client.send(question).await;
        let retry_after: u64 = answer.header("retry-after").parse().expect("seconds");
        assert!((1..=3600).contains(&retry_after), "{retry_after}");
        answer.problem("overloaded");
    }
    let text = client.send(quick().accept("text/plain")).await.expect(503);
    assert_eq!(text.media_type(), "text/plain");
    pending.hang_up();
    until_idle(&client).await;
    client.send(quick()).await.expect(200);
}

#[tokio::test]
async fn retry_after_varies_between_rejected_clients() {
    let service = Service::start(&["--workers", "1", "--queue", "1", "--max-time", "4s", "--time-limit", "4s"]).await;
    let client = service.client();
    let mut others = Vec::new();
    for seed in 0..6 {
        others.push(hard(&client, &seed.to_string()).await);
    }
    let first = begin(&client, &hard(&client, "a").await).await;
    let second = begin(&client, &hard(&client, "b").await).await;
    let mut times = Vec::new();
    for question in others {
        let answer = client.send(Question::post("/solve").json(&question)).await;
        times.push(answer.header("retry-after").parse::<u64>().expect("seconds"));
        answer.problem("overloaded");
    }
    assert!(times.iter().any(|time| *time != times[0]), "not all come back at once: {times:?}");
    assert!(times.iter().all(|time| *time <= 8), "both searches have ended after 4 s: {times:?}");
    first.hang_up();
    second.hang_up();
}

#[tokio::test]
async fn requests_that_need_no_worker_succeed_under_any_load() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let pending = begin(&client, &hard(&client, "a").await).await;
    for target in [
        "/livez",
        "/readyz",
        "/healthz",
        "/metrics",
        "/info",
        "/solvable?board=123456078",
        "/random",
        "/openapi.json",
        "/",
    ] {
        client.get(target).await.expect(200);
    }
    client.get("/solve?board=123456078").await.expect(200);
    client.get("/solve?board=123456870").await.problem("unsolvable");
    assert!(!pending.is_answered(), "the hard search goes on");
    pending.hang_up();
}

#[tokio::test]
async fn a_client_that_retries_as_told_is_admitted_soon() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let mut long = hard(&client, "a").await;
    long["limits"]["time_ms"] = json!(3000);
    let pending = begin(&client, &long).await;
    // Other clients are rejected before it.
    for _ in 0..20 {
        client.send(quick()).await.expect(503);
    }
    for _ in 0..2 {
        let answer = client.send(quick()).await;
        if answer.status == 200 {
            break;
        }
        let retry_after = answer.expect(503).header("retry-after").parse().expect("seconds");
        tokio::time::sleep(Duration::from_secs(retry_after)).await;
    }
    client.send(quick()).await.expect(200);
    pending.answer().await.problem("search-limit-exceeded");
}

#[tokio::test]
async fn long_work_that_is_no_search_is_rejected_and_light_work_is_not() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let pending = begin(&client, &hard(&client, "a").await).await;
    let moves = "UD".repeat(25_000);
    for board in ["123456780", "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0"] {
        let answer = client.post("/verify", &json!({ "board": board, "moves": moves })).await;
        assert!(!answer.header("retry-after").is_empty(), "{answer}");
        answer.problem("overloaded");
        client.post("/verify", &json!({ "board": board, "moves": "U" })).await.expect(200);
    }
    client.get("/random?rows=10&cols=10&walk=100000").await.problem("overloaded");
    client.get("/random?rows=4&cols=4&walk=20").await.expect(200);
    let metrics = client.get("/metrics").await.expect(200);
    assert!(metrics.text().contains("taquin_refusals_total{reason=\"queue_full\"} 3\n"), "{metrics}");
    pending.hang_up();
    until_idle(&client).await;
    client.post("/verify", &json!({ "board": "123456780", "moves": moves })).await.expect(200);
}

#[tokio::test]
async fn easy_searches_do_not_wait_for_hard_ones() {
    let service = Service::start(&["--workers", "1", "--queue", "8", "--cache-memory", "0"]).await;
    let client = service.client();
    let mut pending = Vec::new();
    for seed in ["a", "b", "c"] {
        pending.push(begin(&client, &hard(&client, seed).await).await);
    }
    for _ in 0..10 {
        client.send(quick()).await.expect(200);
    }
    assert_eq!(gauge(&client, "taquin_jobs_in_progress").await, 3, "the hard ones go on");
    pending.into_iter().for_each(Pending::hang_up);
    until_idle(&client).await;
}

#[tokio::test]
async fn a_job_whose_time_passes_in_the_queue_is_rejected() {
    let service = Service::start(&["--workers", "1", "--queue", "4"]).await;
    let client = service.client();
    let pending = begin(&client, &greedy(&client, "a").await).await;
    let mut another = greedy(&client, "b").await;
    another["limits"]["time_ms"] = json!(100);
    let answer = client.send(Question::post("/solve").json(&another)).await;
    assert!(!answer.header("retry-after").is_empty(), "{answer}");
    answer.problem("overloaded");
    assert!(!pending.is_answered(), "the first search goes on");
    pending.hang_up();
}

#[tokio::test]
async fn a_dropped_request_stops_its_search() {
    let service = Service::start(&["--workers", "1", "--queue", "1"]).await;
    let client = service.client();
    for search in [hard(&client, "a").await, greedy(&client, "a").await] {
        begin(&client, &search).await.hang_up();
        until_idle(&client).await;
    }
    let metrics = client.get("/metrics").await.expect(200);
    assert!(metrics.text().contains("taquin_cancellations_total{stage=\"searching\"} 2\n"), "{metrics}");
}

#[tokio::test]
async fn a_paused_job_counts_as_waiting() {
    let service = Service::start(&["--workers", "1"]).await;
    let client = service.client();
    let mut begun = Vec::new();
    for id in ["a", "b", "c"] {
        begun.push(begin(&client, &hard(&client, id).await).await);
    }
    until("all wait but one", async || gauge(&client, "taquin_queue_waiting").await == 2).await;
    assert_eq!(gauge(&client, "taquin_workers_busy").await, 1);
    begun.into_iter().for_each(Pending::hang_up);
    until_idle(&client).await;
    let metrics = client.get("/metrics").await.expect(200);
    // Three searches, and the draws of their boards.
    assert!(metrics.text().contains("taquin_queue_wait_seconds_count 6\n"), "{metrics}");
}

#[tokio::test]
async fn a_request_dropped_in_the_queue_frees_its_place() {
    let service = Service::start(&["--workers", "1", "--queue", "1"]).await;
    let client = service.client();
    let running = begin(&client, &greedy(&client, "a").await).await;
    let queued = client.begin(Question::post("/solve").json(&greedy(&client, "b").await)).await;
    until("it waits", async || gauge(&client, "taquin_queue_waiting").await == 1).await;
    client.send(quick()).await.problem("overloaded");
    queued.hang_up();
    until("its place is free", async || gauge(&client, "taquin_queue_waiting").await == 0).await;
    until("it can be had", async || client.send(quick()).await.status == 200).await;
    running.hang_up();
    until_idle(&client).await;
}

#[tokio::test]
async fn equal_requests_at_once_are_one_search() {
    let service = Service::start(&["--workers", "1", "--queue", "0", "--max-time", "4s", "--time-limit", "4s"]).await;
    let client = service.client();
    let question = hard(&client, "a").await;
    let mut pending = vec![begin(&client, &question).await];
    for _ in 0..50 {
        pending.push(client.begin(Question::post("/solve").json(&question)).await);
    }
    let joined = async || {
        let metrics = client.get("/metrics").await.expect(200);
        metrics.text().contains("taquin_cache_requests_total{result=\"joined\"} 50\n")
    };
    until("all wait for it", joined).await;
    // The client that started the search disconnects; the others still get the result.
    pending.remove(0).hang_up();
    for pending in pending {
        let problem = pending.answer().await.problem("search-limit-exceeded");
        assert_eq!(problem["limit"], "time");
    }
}

#[tokio::test]
async fn a_cached_response_is_equal_and_marked() {
    let service = Service::start(&[]).await;
    let client = service.client();
    let question = json!({ "board": "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15", "include": ["states"] });
    let first = client.post("/solve", &question).await.expect(200);
    let second = client.post("/solve", &question).await.expect(200);
    assert_eq!(first.json(), second.json());
    assert!(!first.header("server-timing").contains("cache"), "{first}");
    assert!(second.header("server-timing").contains("cache;desc=hit"), "{second}");
}

#[tokio::test]
async fn a_hundred_clients_at_once_all_get_a_response() {
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
    let mut question = hard(&client, "a").await;
    question["limits"]["time_ms"] = json!(1500);
    let pending = begin(&client, &question).await;
    service.start_shutdown();
    let problem = pending.answer().await.problem("search-limit-exceeded");
    assert_eq!(problem["limit"], "time", "it had all its time");
    until("the service has stopped", async || service.has_stopped()).await;
}

#[tokio::test]
async fn a_search_that_outlasts_the_grace_period_is_ended() {
    let mut service = Service::start(&["--workers", "1", "--queue", "0", "--shutdown-grace", "200ms"]).await;
    let client = service.client();
    let pending = begin(&client, &hard(&client, "a").await).await;
    service.start_shutdown();
    pending.answer().await.problem("shutting-down");
    until("the service has stopped", async || service.has_stopped()).await;
}
