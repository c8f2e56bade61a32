//! Searches that need more memory than available.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::boards::{Random, by, eight, greedy, lasting, long_response};
use super::client::{Answer, Client, post};
use super::figures::{alone, print_row, short_or_long};
use super::taquin::Taquin;

/// The status and the exceeded limit.
fn outcome(answer: &Answer) -> String {
    let body: Value = serde_json::from_str(&answer.body).expect("a document");
    format!("{} {}", answer.status, body["limit"].as_str().unwrap_or_default())
}

/// Runs six greedy searches at once. The long form repeats them, so that leaked memory counts.
fn six_greedy_searches(memory_mib: u64) {
    let taquin = Taquin::start(memory_mib, &["--workers=2", "--queue=16", "--cache-memory=0"]);
    let idle = taquin.resident_mib();
    let mut ended = Vec::new();
    for round in 0..short_or_long(1, 2) {
        let outcomes: Vec<String> = thread::scope(|scope| {
            let addr = taquin.addr;
            let ask = move |nth: usize| {
                let mut question = greedy(10 * round + nth);
                question["limits"]["time_ms"] = json!(short_or_long(20_000, 60_000));
                outcome(&Client::connect(addr).solve(&question))
            };
            let asked: Vec<_> = (0..6).map(|nth| scope.spawn(move || ask(nth))).collect();
            asked.into_iter().map(|one| one.join().expect("an answer")).collect()
        });
        assert!(!outcomes.iter().any(|outcome| outcome.starts_with('5')), "{outcomes:?}");
        ended.extend(outcomes);
    }
    taquin.wait_until_idle();
    thread::sleep(Duration::from_secs(1));
    let after = taquin.resident_mib();
    let what = format!("6 A* searches that use all memory, 2 workers, {memory_mib} MiB");
    print_row(&format!("{what}: resident before, after"), "–", format!("{idle} MiB, {after} MiB"));
    ended.sort_unstable();
    print_row(&format!("{what}: ended by"), "–", ended.join(", "));
    taquin.end(&what);
}

#[test]
fn six_greedy_searches_stay_within_half_a_gibibyte() {
    let _alone = alone();
    six_greedy_searches(512);
}

#[test]
#[ignore = "takes as long as the test with half the memory"]
fn six_greedy_searches_stay_within_a_gibibyte() {
    let _alone = alone();
    six_greedy_searches(1024);
}

#[test]
fn easy_searches_run_beside_searches_that_hold_all_memory() {
    let _alone = alone();
    for workers in [1_usize, 2] {
        let flags = [&format!("--workers={workers}")[..], "--tables=small", "--search-memory=128MiB"];
        let taquin = Taquin::start(1024, &flags);
        let mut random = Random(9);
        // Each holds the maximum memory of one search until its time limit.
        let running: Vec<Client> = (0..workers)
            .map(|_| {
                let mut client = taquin.client();
                client.write(&post(&lasting(&mut random), "")).expect("a connection");
                client
            })
            .collect();
        taquin.wait_for_gauge("taquin_jobs_in_progress", workers as f64);
        for algorithm in ["ida_star", "astar"] {
            taquin.client().solve(&by(&eight(&mut random), algorithm)).expect(200);
        }
        assert_eq!(taquin.metrics()["taquin_jobs_in_progress"], workers as f64, "the greedy ones go on");
        drop(running);
        taquin.wait_until_idle();
    }
}

/// Sends `POST /solve` with a long response that the client does not read.
fn request_long_response(taquin: &Taquin, nth: usize) -> Client {
    let mut client = taquin.client();
    client.write(&post(&long_response(nth), "")).expect("a connection");
    client
}

/// Status of a received response, without consuming it.
fn status(client: &Client) -> String {
    let mut line = [0; 12];
    assert_eq!(client.stream.peek(&mut line).expect("an answer"), line.len());
    String::from_utf8_lossy(&line).into_owned()
}

#[test]
fn unread_long_responses_stay_within_their_memory_limit() {
    let _alone = alone();
    let taquin = Taquin::start(256, &["--tables=small", "--workers=2"]);
    let what = "60 unread responses of 1.3 MB, 256 MiB";
    let clients: Vec<Client> = (0..60).map(|nth| request_long_response(&taquin, nth)).collect();
    let (taken, mut refused): (Vec<Client>, Vec<Client>) =
        clients.into_iter().partition(|client| status(client) == "HTTP/1.1 200");
    print_row(&format!("{what}: begun, refused"), "–", format!("{}, {}", taken.len(), refused.len()));
    assert!(taken.len() >= 2 && refused.len() >= 30, "{} are begun", taken.len());
    for client in &mut refused {
        let answer = client.answer().expect("a refusal").expect(503);
        assert_eq!(answer.header("retry-after"), "1");
        assert!(answer.body.contains("/problems/overloaded"), "{answer:?}");
    }
    let metrics = taquin.metrics();
    assert!(metrics["taquin_reply_memory_bytes"] > 0.0);
    assert!(metrics["taquin_reply_memory_bytes"] <= metrics["taquin_reply_memory_limit_bytes"], "{metrics:?}");
    assert_eq!(metrics["taquin_refusals_total{reason=\"replies_wait\"}"], refused.len() as f64);
    // Short responses reserve no memory.
    taquin.client().solve(&by(&eight(&mut Random(5)), "astar")).expect(200);
    drop((taken, refused));
    taquin.wait_for_gauge("taquin_reply_memory_bytes", 0.0);
    assert_eq!(status(&request_long_response(&taquin, 100)), "HTTP/1.1 200");
    taquin.wait_until_idle();
    taquin.end(what);
}

#[test]
fn freed_memory_is_returned_at_once_if_there_is_little() {
    for (memory_mib, is_at_once) in [(512, true), (1024, false)] {
        let taquin = Taquin::start(memory_mib, &["--tables=small", "--workers=2"]);
        assert_eq!(taquin.environment().contains("MIMALLOC_PURGE_DELAY=0"), is_at_once, "{memory_mib} MiB");
    }
}
