//! An injected panic in a search.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use clap::Parser;
use serde_json::{Value, json};
use taquin::app::App;
use taquin::config::{Config, Flags};
use taquin_solver::SearchRequest;
use tokio::sync::oneshot;

use super::boards::{Random, by, eight};
use super::client::{Client, post};
use super::figures::{alone, print_row};

/// A job with this limit of expansions panics.
const UNLUCKY: u64 = 13;

fn panic_if_unlucky(job: &SearchRequest) {
    assert_ne!(job.limits.expanded, UNLUCKY, "as asked for");
}

/// Starts a service with one worker, no queue, and the injected panic.
fn start() -> (SocketAddr, oneshot::Sender<()>, thread::JoinHandle<()>) {
    let args = ["taquin", "--listen=127.0.0.1:0", "--tables=small", "--workers=1", "--queue=0"];
    let mut config = Config::try_from(&Flags::try_parse_from(args).expect("flags")).expect("settings");
    config.service.before_search = Some(panic_if_unlucky);
    let (addr_sender, addr) = mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let thread = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.expect("a runtime").block_on(async {
            let app = App::build(&config).await.expect("a service");
            addr_sender.send(app.addr()).expect("a test that waits");
            app.run(async { stopped.await.unwrap_or(()) }).await;
        });
    });
    (addr.recv().expect("an address"), stop, thread)
}

#[test]
fn a_panic_fails_one_request_and_the_next_thousand_succeed() {
    let _alone = alone();
    let (addr, stop, thread) = start();
    let (mut client, mut random) = (Client::connect(addr), Random(8));
    let mut unlucky = by(&eight(&mut random), "ida_star");
    unlucky["limits"] = json!({ "expanded": UNLUCKY });
    let answer = client.exchange(&post(&unlucky, "X-Request-Id: the-unlucky-one\r\n")).expect("an answer").expect(500);
    assert_eq!(answer.header("x-request-id"), "the-unlucky-one");
    let problem: Value = serde_json::from_str(&answer.body).expect("a document");
    assert_eq!((&problem["type"], &problem["request_id"]), (&json!("/problems/internal"), &json!("the-unlucky-one")));
    assert!(!answer.body.contains("as asked for"), "the response does not describe the bug");
    for nth in 0..1000 {
        // There is only one place. If the panic leaked it, this request is rejected.
        let algorithm = ["ida_star", "astar", "breadth_first", "auto"][nth % 4];
        let answer = client.solve(&by(&eight(&mut random), algorithm)).expect(200);
        assert!(answer.body.contains("\"optimal\":true"), "{answer:?}");
    }
    let metrics = client.get("/metrics").body;
    for line in ["taquin_panics_total 1", "taquin_jobs_in_progress 0", "taquin_memory_reserved_bytes 0"] {
        assert!(metrics.lines().any(|other| other == line), "{line}: {metrics}");
    }
    print_row("a worker panics: answers `internal`; the next thousand", "1; right", "1; right");
    drop(stop);
    thread.join().expect("an orderly end");
}
