//! Mixed load over a longer time.

use std::collections::BTreeMap;
use std::env;
use std::net::SocketAddr;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::boards::{ALGORITHMS, Random, any_board, near_board};
use super::client::{Client, post};
use super::figures::{alone, is_long, print_row, short_or_long};
use super::taquin::Taquin;

const CLIENTS: u64 = 6;

/// Statuses that the contract allows for `/solve` without guards.
const STATUSES: [u16; 9] = [200, 400, 406, 408, 413, 415, 422, 431, 503];

/// Duration of the soak. The long form takes `TAQUIN_CHAOS_MINUTES`, by default 10.
fn time() -> Duration {
    let minutes = env::var("TAQUIN_CHAOS_MINUTES").ok().and_then(|text| text.parse::<u64>().ok());
    if is_long() { Duration::from_secs(60 * minutes.unwrap_or(10)) } else { Duration::from_secs(6) }
}

/// A random search of a board of any size by any method. It may be unsolvable or invalid.
fn search(random: &mut Random) -> Value {
    let sides = [2, 3, 3, 3, 4, 4, 4, 5, 6, 8, 10];
    let (rows, cols) = (sides[random.below(sides.len())], sides[random.below(sides.len())]);
    let board = match random.below(4) {
        0 => any_board(random, rows, cols),
        _ => {
            let moves = random.below(120);
            near_board(random, rows, cols, moves)
        }
    };
    let algorithm = ALGORITHMS[random.below(ALGORITHMS.len())];
    let mut question =
        json!({ "board": board, "algorithm": algorithm, "limits": { "time_ms": 1 + random.below(150) } });
    if random.below(4) == 0 {
        question["include"] = json!(["states", "expansions"]);
    }
    question
}

/// A random request, valid or not.
fn request(random: &mut Random) -> Vec<u8> {
    let question = search(random);
    let whole = post(&question, "");
    match random.below(12) {
        0 => post(&json!({ "board": [[1, 2], [3]], "algorithm": 7, "nonsense": null }), ""),
        1 => post(&json!({ "board": "x".repeat(70_000) }), ""),
        2 => String::from_utf8_lossy(&whole).replacen("application/json", "image/png", 1).into_bytes(),
        3 => String::from_utf8_lossy(&whole).replacen(['[', ':'], "", 2).into_bytes(),
        4 => b"GET /random?rows=4&cols=4 HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        5 => b"GET /solve?board=867254301&algorithm=breadth_first HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        6 => b"BREW /livez HTTP/9.1\r\n\r\n".to_vec(),
        _ => whole,
    }
}

/// Sends random requests, some of which it abandons. Returns the count of each status.
fn send_random_requests(addr: SocketAddr, seed: u64, until: Instant) -> BTreeMap<u16, usize> {
    let (mut random, mut statuses) = (Random(seed), BTreeMap::new());
    let mut connection: Option<Client> = None;
    while Instant::now() < until {
        let mut client = connection.take().unwrap_or_else(|| Client::connect(addr));
        let request = request(&mut random);
        if random.below(10) == 0 {
            let sent = random.below(request.len() + 1);
            let _ = client.write(&request[..sent]);
            sleep(Duration::from_millis(random.below(20) as u64));
            continue;
        }
        let _ = client.write(&request);
        let Ok(answer) = client.answer() else {
            // If the body is too large, the connection may be reset before the response is read.
            assert!(request.len() > 60_000, "no answer to {}", String::from_utf8_lossy(&request));
            continue;
        };
        assert!(STATUSES.contains(&answer.status), "{answer:?}");
        *statuses.entry(answer.status).or_default() += 1;
        connection = (answer.header("connection") != "close").then_some(client);
    }
    statuses
}

fn mean(samples: &[u64]) -> u64 {
    samples.iter().sum::<u64>() / samples.len() as u64
}

#[test]
fn memory_stays_flat_under_mixed_load() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--workers=2", "--queue=8"]);
    let (addr, begun, time) = (taquin.addr, Instant::now(), time());
    let mut samples = Vec::new();
    let mut statuses = BTreeMap::<u16, usize>::new();
    thread::scope(|scope| {
        let clients: Vec<_> =
            (0..CLIENTS).map(|seed| scope.spawn(move || send_random_requests(addr, seed, begun + time))).collect();
        while begun.elapsed() < time {
            sleep(Duration::from_millis(100));
            samples.push(taquin.resident_mib());
        }
        for (status, count) in clients.into_iter().flat_map(|client| client.join().expect("no unexpected status")) {
            *statuses.entry(status).or_default() += count;
        }
    });
    // The first third is warm-up: tables are built on first use, and results are cached.
    let third = samples.len() / 3;
    let (before, after) = (mean(&samples[third..2 * third]), mean(&samples[2 * third..]));
    let total: usize = statuses.values().sum();
    let what = format!("soak of {time:?}");
    print_row(&format!("{what}: answers"), "as in the contract", format!("{total}, by status {statuses:?}"));
    print_row(&format!("{what}: resident in its second and last third"), "+10 %", format!("{before} and {after} MiB"));
    assert!(100 * after <= (100 + short_or_long(50, 10)) * before, "{before} MiB become {after}");
    taquin.wait_until_idle();
    assert_eq!(taquin.metrics()["taquin_panics_total"], 0.0);
    taquin.end(&what);
}
