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
use super::figures::{alone, short_or_long, tell};
use super::taquin::{BINARY, Taquin};

const GRACE: Duration = Duration::from_millis(1500);

/// A request from the client's side.
struct Seen {
    id: String,
    /// Time at which the request was sent completely.
    sent: Instant,
    done: Instant,
    came: Result<u16, End>,
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
fn ask_on(addr: SocketAddr, client: usize, kind: Kind, is_kept: bool, seen: &Mutex<Vec<Seen>>) {
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
        let came: Result<Answer, End> = written.and_then(|()| connected.answer());
        if let Ok(answer) = &came {
            assert_eq!(answer.header("x-request-id"), id);
            let is_open = is_kept && answer.header("connection") != "close";
            connection = is_open.then_some(connected);
        }
        seen.lock().expect("no panic").push(Seen {
            id,
            sent,
            done: Instant::now(),
            came: came.map(|answer| answer.status),
        });
    }
}

/// Number of requests by outcome.
type Account = HashMap<&'static str, usize>;

/// Sends a signal under full load, and counts the outcome of every request.
fn run(nth: usize) -> Account {
    let flags =
        ["--workers=2", "--queue=16", "--shutdown-grace=1500ms", "--tables=small", "--log=info,taquin::job=off"];
    let mut taquin = Taquin::start(1024, &flags);
    let (addr, seen) = (taquin.addr, Mutex::new(Vec::new()));
    let (told, status, took) = thread::scope(|scope| {
        let kinds = [(Kind::Instant, 6), (Kind::Quick, 6), (Kind::Hard, 10), (Kind::Endless, 2)];
        let kinds = kinds.into_iter().flat_map(|(kind, count)| std::iter::repeat_n(kind, count));
        for (client, kind) in kinds.enumerate() {
            let seen = &seen;
            scope.spawn(move || ask_on(addr, client, kind, client.is_multiple_of(2), seen));
        }
        sleep(Duration::from_millis(500 + 37 * nth as u64));
        taquin.check(&format!("SIGTERM, run {}", nth + 1));
        let told = Instant::now();
        taquin.signal(Signal::TERM);
        let status = taquin.wait();
        (told, status, told.elapsed())
    });
    assert_eq!(status.code(), Some(0));
    assert!(took < GRACE + Duration::from_secs(short_or_long(10, 2)), "{took:?}");
    let is_access = |line: &&Value| line["target"] == "taquin::access";
    let read: HashMap<String, u64> = taquin.lines().iter().filter(is_access).map(access).collect();
    let mut account = Account::new();
    for Seen { id, sent, done, came } in seen.into_inner().expect("no panic") {
        let is_earlier = sent < told;
        let when = told.saturating_duration_since(sent);
        match came {
            Ok(status) => {
                assert!([200, 422, 503].contains(&status), "{id}: {status}");
                assert_eq!(read.get(&id), Some(&u64::from(status)), "{id}: the log tells the same");
                let fate = match (is_earlier, done < told, status) {
                    (_, true, _) => "answered before the signal",
                    (true, false, 503) => "in hand at the signal and given up",
                    (true, false, _) => "in hand at the signal and finished",
                    (false, ..) => "sent after the signal and answered",
                };
                *account.entry(fate).or_default() += 1;
            }
            Err(end) => {
                assert_ne!(end, End::Torn, "{id}: half an answer");
                assert_eq!(read.get(&id), None, "{id}: read, and not answered: {end:?}");
                assert!(!is_earlier, "{id}: sent {when:?} before the signal, and {end:?}");
                *account.entry("sent after the signal, never read").or_default() += 1;
            }
        }
    }
    account
}

/// Request id and status of an access line.
fn access(line: &Value) -> (String, u64) {
    (line["http.request_id"].as_str().expect("an id").to_owned(), line["http.status"].as_u64().expect("a status"))
}

#[test]
fn every_request_that_was_sent_before_the_signal_is_answered() {
    let _alone = alone();
    let (runs, mut total) = (short_or_long(3, 20), Account::new());
    for nth in 0..runs {
        for (fate, count) in run(nth) {
            *total.entry(fate).or_default() += count;
        }
    }
    let mut total: Vec<String> = total.iter().map(|(fate, count)| format!("{fate}: {count}")).collect();
    total.sort_unstable();
    tell(&format!("SIGTERM under full load, {runs} runs: lost"), 0, format!("0 ({})", total.join("; ")));
}

#[test]
fn after_a_kill_the_next_one_takes_the_port_at_once() {
    let _alone = alone();
    let mut taquin = Taquin::start(1024, &["--workers=2", "--tables=small"]);
    let listen = format!("--listen={}", taquin.addr);
    let mut worst = Duration::ZERO;
    for nth in 0..short_or_long(3, 20) {
        let clients: Vec<Client> = (0..20)
            .map(|client| {
                let mut connection = taquin.client();
                connection.write(&post(&endless(100 * nth + client), "")).expect("an ear");
                connection
            })
            .collect();
        taquin.until("taquin_jobs_in_progress", 20.0);
        taquin.signal(Signal::KILL);
        assert_eq!(taquin.wait().code(), None);
        let begun = Instant::now();
        taquin = Taquin::spawn(std::process::Command::new(BINARY), 1024, &["--workers=2", "--tables=small", &listen]);
        taquin.until_told("tables are ready");
        taquin.client().solve(&by(&eight(&mut Random(1)), "ida_star")).expect(200);
        worst = worst.max(begun.elapsed());
        for mut client in clients {
            assert!(client.answer().is_err(), "its service is gone");
        }
    }
    tell(
        "SIGKILL under load, then a start on the same port: first solution after",
        "–",
        format!("{worst:.1?} at worst"),
    );
    taquin.until_idle();
    taquin.end("after SIGKILL");
}
