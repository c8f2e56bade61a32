//! Shutdown by a signal, with the outcome of every request, and forced termination.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::boards::{Random, by, eight, endless, hard};
use super::client::{Answer, Client, End, post};
use super::figures::{alone, print_row, short_or_long};
use super::taquin::{BINARY, Taquin};

const GRACE: Duration = Duration::from_millis(1500);

/// A request from the client's side.
struct Seen {
    id: String,
    /// Time at which the request was sent completely.
    sent: Instant,
    done: Instant,
    result: Result<u16, End>,
}

/// Kind of request.
#[derive(Clone, Copy)]
enum Kind {
    /// Solved without the queue.
    Instant,
    /// Goes through the queue.
    Quick,
    /// Ends within the grace period.
    Hard,
    /// Does not end within the grace period.
    Endless,
}

fn question(kind: Kind, nth: usize) -> Value {
    let mut random = Random(nth as u64);
    match kind {
        Kind::Instant => by(&eight(&mut random), "auto"),
        Kind::Quick => by(&eight(&mut random), "ida_star"),
        Kind::Hard => {
            let mut question = by(&hard(nth), "ida_star");
            question["limits"] = json!({ "time_ms": 100 + random.below(700) });
            question
        }
        Kind::Endless => endless(nth),
    }
}

/// Sends one request after another until the connection is refused.
fn send_requests(addr: SocketAddr, client: usize, kind: Kind, is_kept: bool, seen: &Mutex<Vec<Seen>>) {
    let mut connection: Option<Client> = None;
    for nth in 0.. {
        let id = format!("{client}-{nth}");
        let mut connected = match connection.take().map_or_else(|| Client::try_connect(addr), Ok) {
            Ok(connected) => connected,
            Err(_) => return,
        };
        let headers = format!("X-Request-Id: {id}\r\n{}", if is_kept { "" } else { "Connection: close\r\n" });
        let written = connected.write(&post(&question(kind, 10_000 * client + nth), &headers));
        let sent = Instant::now();
        let result: Result<Answer, End> = written.and_then(|()| connected.answer());
        if let Ok(answer) = &result {
            assert_eq!(answer.header("x-request-id"), id);
            let is_open = is_kept && answer.header("connection") != "close";
            connection = is_open.then_some(connected);
        }
        seen.lock().expect("no panic").push(Seen {
            id,
            sent,
            done: Instant::now(),
            result: result.map(|answer| answer.status),
        });
    }
}

/// Number of requests by outcome.
type OutcomeCounts = HashMap<&'static str, usize>;

/// Sends a signal under full load, and counts the outcome of every request.
fn run(nth: usize) -> OutcomeCounts {
    let flags =
        ["--workers=2", "--queue=16", "--shutdown-grace=1500ms", "--tables=small", "--log=info,taquin::job=off"];
    let mut taquin = Taquin::start(1024, &flags);
    let (addr, seen) = (taquin.addr, Mutex::new(Vec::new()));
    let (signalled, status, took) = thread::scope(|scope| {
        let kinds = [(Kind::Instant, 6), (Kind::Quick, 6), (Kind::Hard, 10), (Kind::Endless, 2)];
        let kinds = kinds.into_iter().flat_map(|(kind, count)| std::iter::repeat_n(kind, count));
        for (client, kind) in kinds.enumerate() {
            let seen = &seen;
            scope.spawn(move || send_requests(addr, client, kind, client.is_multiple_of(2), seen));
        }
        sleep(Duration::from_millis(500 + 37 * nth as u64));
        taquin.check(&format!("SIGTERM, run {}", nth + 1));
        let signalled = Instant::now();
        taquin.signal(Signal::TERM);
        let status = taquin.wait();
        (signalled, status, signalled.elapsed())
    });
    assert_eq!(status.code(), Some(0));
    assert!(took < GRACE + Duration::from_secs(short_or_long(10, 2)), "{took:?}");
    let is_access = |line: &&Value| line["target"] == "taquin::access";
    let read: HashMap<String, u64> = taquin.lines().iter().filter(is_access).map(access).collect();
    let mut counts = OutcomeCounts::new();
    for Seen { id, sent, done, result } in seen.into_inner().expect("no panic") {
        let is_earlier = sent < signalled;
        let when = signalled.saturating_duration_since(sent);
        match result {
            Ok(status) => {
                assert!([200, 422, 503].contains(&status), "{id}: {status}");
                assert_eq!(read.get(&id), Some(&u64::from(status)), "{id}: the log has another status");
                let outcome = match (is_earlier, done < signalled, status) {
                    (_, true, _) => "answered before the signal",
                    (true, false, 503) => "in progress at the signal and cancelled",
                    (true, false, _) => "in progress at the signal and finished",
                    (false, ..) => "sent after the signal and answered",
                };
                *counts.entry(outcome).or_default() += 1;
            }
            Err(end) => {
                assert_ne!(end, End::Torn, "{id}: an incomplete response");
                assert_eq!(read.get(&id), None, "{id}: read, and not answered: {end:?}");
                assert!(!is_earlier, "{id}: sent {when:?} before the signal, and {end:?}");
                *counts.entry("sent after the signal, never read").or_default() += 1;
            }
        }
    }
    counts
}

/// Request id and status of an access line.
fn access(line: &Value) -> (String, u64) {
    (line["http.request_id"].as_str().expect("an id").to_owned(), line["http.status"].as_u64().expect("a status"))
}

#[test]
fn every_request_sent_before_the_signal_gets_a_response() {
    let _alone = alone();
    let (runs, mut total) = (short_or_long(3, 20), OutcomeCounts::new());
    for nth in 0..runs {
        for (outcome, count) in run(nth) {
            *total.entry(outcome).or_default() += count;
        }
    }
    let mut total: Vec<String> = total.iter().map(|(outcome, count)| format!("{outcome}: {count}")).collect();
    total.sort_unstable();
    print_row(&format!("SIGTERM under full load, {runs} runs: lost"), 0, format!("0 ({})", total.join("; ")));
}

#[test]
fn after_a_kill_a_new_process_can_bind_the_port() {
    let _alone = alone();
    let mut taquin = Taquin::start(1024, &["--workers=2", "--tables=small"]);
    let listen = format!("--listen={}", taquin.addr);
    let mut worst = Duration::ZERO;
    for nth in 0..short_or_long(3, 20) {
        let clients: Vec<Client> = (0..20)
            .map(|client| {
                let mut connection = taquin.client();
                connection.write(&post(&endless(100 * nth + client), "")).expect("a connection");
                connection
            })
            .collect();
        taquin.wait_for_gauge("taquin_jobs_in_progress", 20.0);
        taquin.signal(Signal::KILL);
        assert_eq!(taquin.wait().code(), None);
        let begun = Instant::now();
        taquin = Taquin::spawn(std::process::Command::new(BINARY), 1024, &["--workers=2", "--tables=small", &listen]);
        taquin.wait_for_message("tables are ready");
        taquin.client().solve(&by(&eight(&mut Random(1)), "ida_star")).expect(200);
        worst = worst.max(begun.elapsed());
        for mut client in clients {
            assert!(client.answer().is_err(), "its service is gone");
        }
    }
    print_row(
        "SIGKILL under load, then a start on the same port: first solution after",
        "–",
        format!("{worst:.1?} at worst"),
    );
    taquin.wait_until_idle();
    taquin.end("after SIGKILL");
}
