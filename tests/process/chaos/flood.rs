//! More hard searches than workers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::json;

use super::boards::{Random, by, eight, endless, greedy, hard, long_response};
use super::client::Client;
use super::figures::{Times, alone, assert_within, print_row, short_or_long};
use super::taquin::Taquin;

const CROWD: usize = 40;

/// Sets the flag when dropped, also by a panic, to stop the other threads.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Outcome of one client.
struct Outcome {
    rejections: Vec<Duration>,
    status: u16,
    time: Duration,
}

/// Repeats a request after each `Retry-After` until it is not rejected.
fn retry_until_admitted(addr: SocketAddr, nth: usize) -> Outcome {
    let mut question = by(&hard(nth), "auto");
    question["limits"] = json!({ "time_ms": short_or_long(200, 10_000) });
    let (begun, mut rejections) = (Instant::now(), Vec::new());
    loop {
        let asked = Instant::now();
        let answer = Client::connect(addr).solve(&question);
        if answer.status != 503 {
            return Outcome { rejections, status: answer.status, time: begun.elapsed() };
        }
        rejections.push(asked.elapsed());
        sleep(Duration::from_secs(answer.header("retry-after").parse().expect("seconds")));
    }
}

/// Latencies of `/livez`, requested repeatedly until the flag is set.
fn probe(addr: SocketAddr, is_over: &AtomicBool) -> Vec<Duration> {
    let (mut client, mut times) = (Client::connect(addr), Vec::new());
    while !is_over.load(Ordering::Relaxed) {
        let asked = Instant::now();
        client.get("/livez").expect(200);
        times.push(asked.elapsed());
        sleep(Duration::from_millis(5));
    }
    times
}

#[test]
fn rejected_requests_succeed_on_retry() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--workers=1", "--queue=4", "--shutdown-grace=1s"]);
    let (addr, is_over) = (taquin.addr, AtomicBool::new(false));
    let (outcomes, probes) = thread::scope(|scope| {
        let over = StopOnDrop(&is_over);
        let probes = scope.spawn(|| probe(addr, &is_over));
        let crowd: Vec<_> = (0..CROWD).map(|nth| scope.spawn(move || retry_until_admitted(addr, nth))).collect();
        let outcomes: Vec<Outcome> = crowd.into_iter().map(|one| one.join().expect("an answer")).collect();
        drop(over);
        (outcomes, Times::new(probes.join().expect("latencies")))
    });
    assert!(outcomes.iter().all(|outcome| outcome.status == 200), "`auto` finds a solution in any case");
    let mut tries = BTreeMap::<usize, usize>::new();
    outcomes.iter().for_each(|outcome| *tries.entry(outcome.rejections.len() + 1).or_default() += 1);
    let rejected = Times::new(outcomes.iter().flat_map(|outcome| outcome.rejections.clone()).collect());
    let last = outcomes.iter().map(|outcome| outcome.time).max().expect("a crowd");
    let tries: Vec<String> = tries.iter().map(|(tries, clients)| format!("{clients} at try {tries}")).collect();
    print_row(
        "40 hard requests, 1 worker, queue of 4: answered",
        "all",
        format!("{}; the last after {last:.1?}", tries.join(", ")),
    );
    let rest = format!(" (of {}; median {:.1?})", rejected.count(), rejected.percentile(50));
    assert_within("the same: rejected within", Duration::from_millis(100), rejected.worst(), rest);
    let rest = format!(" (of {}; 99 % {:.1?})", probes.count(), probes.percentile(99));
    assert_within("the same: /livez", Duration::from_millis(50), probes.worst(), rest);
    taquin.wait_until_idle();
    taquin.end("40 hard requests");
}

#[test]
fn probes_respond_during_long_responses() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--tables=small", "--workers=2"]);
    let (addr, readers, is_over) = (taquin.addr, short_or_long(8, 60), AtomicBool::new(false));
    let (answers, probes) = thread::scope(|scope| {
        let over = StopOnDrop(&is_over);
        let probes = scope.spawn(|| probe(addr, &is_over));
        let read = |nth| {
            let mut client = Client::connect(addr);
            (0..short_or_long(2, 10)).filter(|_| client.solve(&long_response(nth)).status == 200).count()
        };
        let readers: Vec<_> = (0..readers).map(|nth| scope.spawn(move || read(nth))).collect();
        let answers: usize = readers.into_iter().map(|reader| reader.join().expect("answers")).sum();
        drop(over);
        (answers, Times::new(probes.join().expect("latencies")))
    });
    let what = format!("{readers} readers of 6 MB answers: /livez");
    assert!(answers > readers, "{answers}");
    let rest = format!(" (of {}; 99 % {:.1?}; {answers} answers)", probes.count(), probes.percentile(99));
    assert_within(&what, Duration::from_millis(50), probes.worst(), rest);
    taquin.wait_until_idle();
    taquin.end(&what);
}

/// Sends different hard requests until the flag is set.
fn send_hard_requests(addr: SocketAddr, next: &AtomicUsize, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let nth = next.fetch_add(1, Ordering::Relaxed);
        let mut question = match nth % 4 {
            0 => greedy(nth),
            1 => endless(nth),
            _ => by(&hard(nth), "auto"),
        };
        question["limits"]["time_ms"] = json!(2000 + nth);
        let answer = Client::connect(addr).solve(&question);
        assert!([200, 422, 503].contains(&answer.status), "{answer:?}");
    }
}

#[test]
fn easy_boards_are_soon_solved_in_a_flood_of_hard_ones() {
    let _alone = alone();
    let flags = ["--workers=2", "--queue=64", "--cache-memory=0", "--shutdown-grace=1s"];
    let taquin = Taquin::start(1024, &flags);
    let (addr, next, is_over) = (taquin.addr, AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let _over = StopOnDrop(&is_over);
        for _ in 0..16 {
            scope.spawn(|| send_hard_requests(addr, &next, &is_over));
        }
        // All clients have started.
        sleep(Duration::from_millis(500));
        for algorithm in ["auto", "ida_star", "astar"] {
            let (mut client, mut random) = (taquin.client(), Random(1));
            let times = (0..short_or_long(100, 3000)).map(|_| {
                let question = by(&eight(&mut random), algorithm);
                let asked = Instant::now();
                client.solve(&question).expect(200);
                asked.elapsed()
            });
            let times = Times::new(times.collect());
            let what = format!("3×3 by {algorithm} in a flood of 16 hard 15-puzzles, 2 workers: 99 % within");
            let rest =
                format!(" (of {}; median {:.1?}, worst {:.1?})", times.count(), times.percentile(50), times.worst());
            assert_within(&what, Duration::from_millis(50), times.percentile(99), rest);
        }
        let metrics = taquin.metrics();
        assert!(metrics["taquin_workers_busy"] + metrics["taquin_queue_waiting"] >= 8.0, "the flood has ended");
    });
    taquin.wait_until_idle();
    taquin.end("the flood");
}
