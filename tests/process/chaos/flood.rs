//! More hard searches than workers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::json;

use super::boards::{Random, by, eight, endless, greedy, hard, much};
use super::client::Client;
use super::figures::{Times, alone, short_or_long, tell, within};
use super::taquin::Taquin;

const CROWD: usize = 40;

/// Sets the flag when dropped, also by a panic, to stop the other threads.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Outcome of one client.
struct Fate {
    refused: Vec<Duration>,
    status: u16,
    time: Duration,
}

/// Repeats a request after each `Retry-After` until it is not rejected.
fn insist(addr: SocketAddr, nth: usize) -> Fate {
    let mut question = by(&hard(nth), "auto");
    question["limits"] = json!({ "time_ms": short_or_long(200, 10_000) });
    let (begun, mut refused) = (Instant::now(), Vec::new());
    loop {
        let asked = Instant::now();
        let answer = Client::connect(addr).solve(&question);
        if answer.status != 503 {
            return Fate { refused, status: answer.status, time: begun.elapsed() };
        }
        refused.push(asked.elapsed());
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
fn who_is_sent_away_comes_back_when_told_and_is_answered() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--workers=1", "--queue=4", "--shutdown-grace=1s"]);
    let (addr, is_over) = (taquin.addr, AtomicBool::new(false));
    let (fates, probes) = thread::scope(|scope| {
        let over = Over(&is_over);
        let probes = scope.spawn(|| probe(addr, &is_over));
        let crowd: Vec<_> = (0..CROWD).map(|nth| scope.spawn(move || insist(addr, nth))).collect();
        let fates: Vec<Fate> = crowd.into_iter().map(|one| one.join().expect("an answer")).collect();
        drop(over);
        (fates, Times::new(probes.join().expect("signs of life")))
    });
    assert!(fates.iter().all(|fate| fate.status == 200), "`auto` finds a solution in any case");
    let mut tries = BTreeMap::<usize, usize>::new();
    fates.iter().for_each(|fate| *tries.entry(fate.refused.len() + 1).or_default() += 1);
    let refused = Times::new(fates.iter().flat_map(|fate| fate.refused.clone()).collect());
    let last = fates.iter().map(|fate| fate.time).max().expect("a crowd");
    let tries: Vec<String> = tries.iter().map(|(tries, clients)| format!("{clients} at try {tries}")).collect();
    tell(
        "40 hard requests, 1 worker, queue of 4: answered",
        "all",
        format!("{}; the last after {last:.1?}", tries.join(", ")),
    );
    let rest = format!(" (of {}; median {:.1?})", refused.count(), refused.percentile(50));
    within("the same: refused within", Duration::from_millis(100), refused.worst(), rest);
    let rest = format!(" (of {}; 99 % {:.1?})", probes.count(), probes.percentile(99));
    within("the same: /livez", Duration::from_millis(50), probes.worst(), rest);
    taquin.until_idle();
    taquin.end("40 hard requests");
}

#[test]
fn probes_are_answered_beside_long_answers() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--tables=small", "--workers=2"]);
    let (addr, readers, is_over) = (taquin.addr, short_or_long(8, 60), AtomicBool::new(false));
    let (answers, probes) = thread::scope(|scope| {
        let over = Over(&is_over);
        let probes = scope.spawn(|| probe(addr, &is_over));
        let read = |nth| {
            let mut client = Client::connect(addr);
            (0..short_or_long(2, 10)).filter(|_| client.solve(&much(nth)).status == 200).count()
        };
        let readers: Vec<_> = (0..readers).map(|nth| scope.spawn(move || read(nth))).collect();
        let answers: usize = readers.into_iter().map(|reader| reader.join().expect("answers")).sum();
        drop(over);
        (answers, Times::new(probes.join().expect("signs of life")))
    });
    let what = format!("{readers} readers of 6 MB answers: /livez");
    assert!(answers > readers, "{answers}");
    let rest = format!(" (of {}; 99 % {:.1?}; {answers} answers)", probes.count(), probes.percentile(99));
    within(&what, Duration::from_millis(50), probes.worst(), rest);
    taquin.until_idle();
    taquin.end(&what);
}

/// Sends different hard requests until the flag is set.
fn pester(addr: SocketAddr, next: &AtomicUsize, is_over: &AtomicBool) {
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
        let _over = Over(&is_over);
        for _ in 0..16 {
            scope.spawn(|| pester(addr, &next, &is_over));
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
            within(&what, Duration::from_millis(50), times.percentile(99), rest);
        }
        let metrics = taquin.metrics();
        assert!(metrics["taquin_workers_busy"] + metrics["taquin_queue_waiting"] >= 8.0, "the flood goes on");
    });
    taquin.until_idle();
    taquin.end("the flood");
}
