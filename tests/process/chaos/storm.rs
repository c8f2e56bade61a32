//! Many clients that ask for the most expensive things there are.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::boards::{FIFTY_MOVES, Random, random_goal};
use super::client::{Client, End, request};
use super::figures::{Times, alone, assert_within, print_row, short_or_long};
use super::taquin::Taquin;

/// More nodes or expansions than any limit allows.
const ALL: u64 = 9_007_199_254_740_991;

/// A board of a random size among some, with a random goal.
fn board(random: &mut Random, sizes: &[(usize, usize)]) -> Value {
    let (rows, cols) = sizes[random.below(sizes.len())];
    random_goal(random, rows, cols, 2000)
}

/// Adds members to a request.
fn with(mut question: Value, members: Value) -> Value {
    let members = members.as_object().expect("members").clone();
    question.as_object_mut().expect("a question").extend(members);
    question
}

fn one<'a>(random: &mut Random, all: &[&'a str]) -> &'a str {
    all[random.below(all.len())]
}

fn milliseconds(random: &mut Random, most: usize) -> u64 {
    300 + random.below(most) as u64
}

/// A search that stores as many nodes or expansions as it may, or reads tables for a goal of its own.
fn search(random: &mut Random) -> Value {
    let time = milliseconds(random, 9_000);
    match random.below(7) {
        0 => with(
            board(random, &[(4, 4)]),
            json!({ "algorithm": "ida_star", "heuristic": "hamming", "include": ["expansions"],
                "limits": { "time_ms": time } }),
        ),
        1 => with(
            board(random, &[(10, 10)]),
            json!({ "algorithm": one(random, &["breadth_first", "astar", "depth_first", "greedy_best_first"]),
                "include": ["states", "expansions"], "limits": { "expanded": 10_000 + random.below(200_000) } }),
        ),
        2 => with(
            board(random, &[(4, 4), (5, 5), (7, 7), (10, 10), (3, 5)]),
            json!({ "algorithm": one(random, &["astar", "weighted_astar", "breadth_first", "greedy_best_first"]),
                "limits": { "time_ms": time, "nodes": ALL } }),
        ),
        3 => with(
            board(random, &[(7, 7)]),
            json!({ "algorithm": "depth_first", "duplicate_detection": one(random, &["parent", "closed"]),
                "depth_limit": 200, "limits": { "time_ms": time, "nodes": ALL, "expanded": ALL } }),
        ),
        4 => with(
            board(random, &[(4, 4), (4, 4), (3, 5), (5, 3), (2, 8), (8, 2), (2, 7), (3, 4)]),
            json!({ "limits": { "time_ms": time } }),
        ),
        5 => with(
            board(random, &[(5, 5), (6, 6), (4, 5), (3, 6), (4, 6), (3, 7), (2, 9), (4, 8)]),
            json!({ "heuristic": "pattern_database", "algorithm": one(random, &["ida_star", "astar", "anytime"]),
                "limits": { "time_ms": time } }),
        ),
        _ => with(
            board(random, &[(4, 4), (3, 4), (4, 3), (2, 5)]),
            json!({ "heuristic": "walking_distance", "algorithm": one(random, &["ida_star", "astar"]),
                "limits": { "time_ms": time } }),
        ),
    }
}

/// A request to any endpoint, and whether its client is slow to read.
fn demand(random: &mut Random) -> (Vec<u8>, bool) {
    const STREAM: &str = "Accept: text/event-stream\r\n";
    let any = &[(4, 4), (5, 5), (10, 10)];
    let post = |target: &str, question: &Value, headers: &str| request("POST", target, Some(question), headers);
    let whole = match random.below(14) {
        0 => post("/solve", &board(random, &[(10, 10), (5, 5), (9, 9), (10, 8), (6, 6)]), ""),
        1 => {
            let preset = one(random, &["heuristics", "algorithms", "older_systems"]);
            let limits = json!({ "preset": preset, "limits": { "time_ms": milliseconds(random, 1_000) } });
            post("/compare", &with(board(random, &[(3, 3), (4, 4), (5, 5), (3, 4)]), limits), "")
        }
        2 => {
            let members = json!({ "algorithm": "depth_first", "include": ["states", "expansions"],
                "limits": { "expanded": 1_000_000 + random.below(1_000_000) } });
            return (post("/solve", &with(board(random, &[(3, 3)]), members), ""), true);
        }
        3 => post("/solve", &with(board(random, any), json!({ "include": ["expansions"] })), STREAM),
        4 => post("/solve", &search(random), STREAM),
        5 => post(
            "/verify",
            &with(board(random, &[(3, 3), (4, 4), (10, 10)]), json!({ "moves": "ULDR".repeat(12_500) })),
            "",
        ),
        6 => post("/hint", &board(random, any), ""),
        7 => {
            let (side, seed) = (3 + random.below(8), random.below(1 << 30));
            request("GET", &format!("/random?rows={side}&cols={side}&seed={seed}"), None, "")
        }
        _ => post("/solve", &search(random), ""),
    };
    (whole, false)
}

/// Sends demands until a time; leaves a tenth of them. Returns the count of each status.
fn make_demands(addr: SocketAddr, seed: u64, until: Instant) -> BTreeMap<u16, usize> {
    let (mut random, mut statuses) = (Random(seed), BTreeMap::new());
    while Instant::now() < until {
        let Ok(mut client) = Client::try_connect(addr) else { continue };
        let (request, is_slow) = demand(&mut random);
        let is_sent = client.write(&request).is_ok();
        if random.below(10) == 0 {
            sleep(Duration::from_millis(random.below(2_000) as u64));
            continue;
        }
        if is_slow {
            sleep(Duration::from_millis(random.below(3_000) as u64));
        }
        match client.answer() {
            Ok(answer) => *statuses.entry(answer.status).or_default() += 1,
            Err(End::Torn) => *statuses.entry(0).or_default() += 1,
            Err(end) => assert!(!is_sent, "{end:?} after {}", String::from_utf8_lossy(&request)),
        }
    }
    statuses
}

/// Repeats a request until the flag is set, and returns the times of the responses. Fails unless all have a status.
fn repeat(
    addr: SocketAddr,
    is_over: &AtomicBool,
    pause: u64,
    ask: impl Fn(&mut Client, usize) -> u16,
) -> Vec<Duration> {
    let mut times = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let asked = Instant::now();
        let status = ask(&mut Client::connect(addr), times.len());
        assert_eq!(status, 200);
        times.push(asked.elapsed());
        sleep(Duration::from_millis(pause));
    }
    times
}

/// Sets the flag when dropped, also by a panic, to stop the other threads.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs the storm under a memory limit.
fn storm(memory_mib: u64, tables: &str) {
    let taquin = Taquin::start(memory_mib, &["--workers=2", &format!("--tables={tables}"), "--shutdown-grace=1s"]);
    let (addr, is_over, clients) = (taquin.addr, AtomicBool::new(false), short_or_long(60, 200));
    let until = Instant::now() + Duration::from_secs(short_or_long(8, 60));
    let (statuses, probes, puzzles) = thread::scope(|scope| {
        let over = StopOnDrop(&is_over);
        let probes = scope.spawn(|| repeat(addr, &is_over, 20, |client, _| client.get("/livez").status));
        let puzzles = scope.spawn(|| {
            repeat(addr, &is_over, 200, |client, nth| {
                let limits = json!({ "time_ms": 30_000 + nth });
                client.solve(&json!({ "board": FIFTY_MOVES[nth % FIFTY_MOVES.len()], "limits": limits })).status
            })
        });
        let crowd: Vec<_> = (0..clients).map(|seed| scope.spawn(move || make_demands(addr, seed, until))).collect();
        let mut statuses = BTreeMap::<u16, usize>::new();
        while Instant::now() < until {
            sleep(Duration::from_millis(50));
        }
        drop(over);
        let (probes, puzzles) = (probes.join().expect("times"), puzzles.join().expect("times"));
        for (status, count) in crowd.into_iter().flat_map(|one| one.join().expect("statuses")) {
            *statuses.entry(status).or_default() += count;
        }
        (statuses, Times::new(probes), Times::new(puzzles))
    });
    let what = format!("{clients} clients with the worst requests, {memory_mib} MiB, --tables={tables}");
    print_row(&format!("{what}: by status"), "–", format!("{statuses:?}"));
    assert!(!statuses.contains_key(&500), "{statuses:?}");
    taquin.check(&what);
    let rest = format!(" (of {}; median {:.1?})", puzzles.count(), puzzles.percentile(50));
    let puzzle = format!("{what}: 15-puzzles of 50 moves");
    if memory_mib >= 488 {
        assert_within(&puzzle, Duration::from_secs(1), puzzles.worst(), rest);
    } else {
        print_row(&puzzle, "–", format!("{:.1?}{rest}", puzzles.worst()));
    }
    let rest = format!(" (of {}; 99 % {:.1?})", probes.count(), probes.percentile(99));
    assert_within(&format!("{what}: /livez"), Duration::from_millis(100), probes.worst(), rest);
}

#[test]
#[ignore = "keeps both cores busy for twenty seconds"]
fn a_storm_stays_within_256_megabytes() {
    let _alone = alone();
    storm(244, "small");
}

#[test]
#[ignore = "keeps both cores busy for twenty seconds"]
fn a_storm_stays_within_512_megabytes() {
    let _alone = alone();
    storm(488, "standard");
}

#[test]
#[ignore = "a minute each in the long form"]
fn a_storm_stays_within_one_and_two_gigabytes() {
    let _alone = alone();
    storm(953, "standard");
    storm(1907, "standard");
}

#[test]
fn anytime_searches_of_large_boards_do_not_hold_up_15_puzzles() {
    let _alone = alone();
    let taquin = Taquin::start(512, &["--workers=2", "--shutdown-grace=1s"]);
    let mut random = Random(4);
    let running: Vec<Client> = (0..10)
        .map(|_| {
            let mut client = taquin.client();
            let question = random_goal(&mut random, 10, 10, 5000);
            client.write(&request("POST", "/solve", Some(&question), "")).expect("a connection");
            client
        })
        .collect();
    // All have arrived.
    sleep(Duration::from_millis(500));
    let asked = Instant::now();
    taquin.client().solve(&json!({ "board": FIFTY_MOVES[0] })).expect(200);
    assert_within("a 15-puzzle beside ten 10×10, 512 MiB", Duration::from_millis(500), asked.elapsed(), "");
    assert!(taquin.metrics()["taquin_jobs_in_progress"] >= 1.0, "the others go on");
    drop(running);
    taquin.wait_until_idle();
    taquin.end("ten 10×10");
}

/// Searches that record as many expansions as they may, and go on.
#[test]
fn recorded_expansions_stay_within_the_plan() {
    let _alone = alone();
    let taquin = Taquin::start(488, &["--workers=2", "--tables=small", "--shutdown-grace=1s"]);
    let mut random = Random(5);
    let running: Vec<Client> = (0..240)
        .map(|_| {
            let members = json!({ "algorithm": "ida_star", "heuristic": "hamming", "include": ["expansions"],
                "limits": { "time_ms": 20_000 } });
            let mut client = taquin.client();
            let question = with(random_goal(&mut random, 4, 4, 2000), members);
            client.write(&request("POST", "/solve", Some(&question), "")).expect("a connection");
            client
        })
        .collect();
    sleep(Duration::from_secs(short_or_long(4, 8)));
    let metrics = taquin.metrics();
    assert!(metrics["taquin_jobs_in_progress"] >= 10.0, "{metrics:?}");
    drop(running);
    taquin.wait_until_idle();
    taquin.end("240 searches with 5,000 expansions each");
}
