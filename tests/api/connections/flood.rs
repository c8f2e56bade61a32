//! Many clients that send bodies slowly, or only their heads, or do not read: others are served meanwhile.

use std::fs;
use std::path::PathBuf;
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::{Answer, Client, Service, gauge, until};
use super::streams::narrow;

/// Time within which others have their responses.
const PROMPT: Duration = Duration::from_secs(1);

const BOARD: &str = "867254301\n";

/// A service with a finished job.
struct Flooded {
    service: Option<Service>,
    directory: PathBuf,
    results: String,
}

impl Flooded {
    fn start(name: &str, flags: &[&str]) -> Self {
        let directory = std::env::temp_dir().join(format!("taquin-flood-{name}-{}", process::id()));
        let jobs = format!("--jobs={}", directory.display());
        let service = Service::start(&[flags, &[&jobs]].concat());
        let mut flooded = Self { service: Some(service), directory, results: String::new() };
        let id = flooded.job().json["id"].as_str().expect("an id").to_owned();
        flooded.results = format!("/jobs/{id}/results");
        until("the job is done", || flooded.service().get(&flooded.results).status == 200);
        flooded
    }

    fn service(&self) -> &Service {
        self.service.as_ref().expect("it runs")
    }

    fn post(&self, path: &str, content_type: &str, body: &str) -> Answer {
        let mut client = self.service().connect();
        client.write(format!("{}Content-Length: {}\r\n\r\n{body}", head(path, content_type), body.len()));
        client.answer()
    }

    /// Creates a small job.
    fn job(&self) -> Created {
        let recipe = r#"{"random":{"rows":3,"cols":3,"seed":"s","count":1000}}"#;
        let answer = self.post("/jobs", "application/json", recipe).expect(202);
        Created { json: serde_json::from_str(&answer.body).expect("JSON") }
    }

    /// Checks that small requests have their responses at once.
    fn serves_others(&self, what: &str) {
        let prompt = |request: &str, answer: &dyn Fn() -> String, expected: &str| {
            let begun = Instant::now();
            let body = answer();
            assert!(body.contains(expected), "{what}: {request}: {body}");
            assert!(begun.elapsed() < PROMPT, "{what}: {request} took {:?}", begun.elapsed());
        };
        let batch = || {
            let mut client = self.service().connect();
            let length = BOARD.len();
            let head = head("/batch", "application/x-ndjson");
            client.write(format!("{head}Connection: close\r\nContent-Length: {length}\r\n\r\n{BOARD}"));
            client.rest()
        };
        let results = || {
            let mut client = self.service().connect();
            client.write(format!("GET {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", self.results));
            client.rest()
        };
        prompt("a batch", &batch, "\"length\":31");
        prompt("results", &results, "\"index\":999,");
    }
}

impl Drop for Flooded {
    fn drop(&mut self) {
        drop(self.service.take());
        let _ = fs::remove_dir_all(&self.directory);
    }
}

struct Created {
    json: Value,
}

fn head(path: &str, content_type: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\n")
}

/// Clients that have sent the head of a large body, and so much of the body.
fn begin(service: &Service, count: usize, path: &str, body: &str) -> Vec<Client> {
    let begin = |at: usize| {
        let mut client = service.connect();
        let length = if at.is_multiple_of(2) { "Content-Length: 16777216" } else { "Transfer-Encoding: chunked" };
        client.write(format!("{}{length}\r\n\r\n", head(path, "application/x-ndjson")));
        if at.is_multiple_of(2) {
            client.write(body);
        } else if !body.is_empty() {
            client.write(format!("{:x}\r\n{body}\r\n", body.len()));
        }
        client
    };
    (0..count).map(begin).collect()
}

#[test]
fn heads_without_bodies_keep_no_other_request_out() {
    let flooded = Flooded::start("heads", &["--memory=6GiB"]);
    let service = flooded.service();
    for count in [12, 64] {
        let batches = begin(service, count, "/batch", "");
        let jobs = begin(service, count, "/jobs", "");
        until("the heads have arrived", || gauge(service.addr, "taquin_bulk_works") >= count as u64);
        // Only responses that were just written have memory, for moments.
        until("nothing has come that takes memory", || gauge(service.addr, "taquin_reply_memory_bytes") == 0);
        flooded.serves_others(&format!("{count} heads"));
        flooded.job();
        drop((batches, jobs));
    }
}

#[test]
fn bodies_that_trickle_keep_no_other_request_out_and_end() {
    let flooded = Flooded::start("trickle", &["--memory=6GiB", "--body-timeout=2s"]);
    let service = flooded.service();
    let begun = Instant::now();
    let mut clients = begin(service, 64, "/batch", BOARD);
    // What came fast is no reason to wait longer for the rest.
    let padded = format!("{}\n", " ".repeat(1023)).repeat(3 << 10);
    clients.extend(begin(service, 2, "/batch", &padded));
    until("the bodies are read", || gauge(service.addr, "taquin_bulk_works") >= 64);
    flooded.serves_others("trickling bodies");
    for _ in 0..8 {
        clients.iter_mut().step_by(2).for_each(|client| client.write(" "));
        thread::sleep(Duration::from_millis(250));
    }
    for client in &mut clients {
        let answer = client.answer().expect(408);
        assert_eq!(answer.connection, "close");
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    until("their memory is free", || gauge(service.addr, "taquin_reply_memory_bytes") == 0);
}

/// The body of a batch that takes 15 MiB of the memory for responses.
fn large() -> String {
    format!("{}{}", " ".repeat(80), BOARD).repeat(93_000)
}

#[test]
fn large_batches_that_do_not_end_and_readers_that_do_not_read_leave_memory_to_small_requests() {
    // 51 MiB for responses.
    let flooded = Flooded::start("large", &["--memory=1GiB", "--body-timeout=1h", "--write-timeout=1h"]);
    let service = flooded.service();
    let body = large();
    for (what, sent) in [("bodies without an end", body.len() - 1), ("responses that nobody reads", body.len())] {
        let mut clients = Vec::new();
        for _ in 0..12 {
            let mut client = narrow(service.addr);
            let length = body.len();
            client.write(format!("{}Content-Length: {length}\r\n\r\n", head("/batch", "application/x-ndjson")));
            client.write(&body[..sent]);
            clients.push(client);
        }
        let mut rejected = 0;
        for client in &mut clients {
            client.is_quiet(Duration::from_millis(50));
            rejected += usize::from(client.text().contains(" 503 "));
        }
        let held = gauge(service.addr, "taquin_reply_memory_bytes") >> 20;
        assert!((25..=45).contains(&held), "{what} hold {held} MiB");
        assert!((8..12).contains(&rejected), "{what}: {rejected} of 12 are rejected");
        flooded.serves_others(what);
        drop(clients);
        until("their memory is free", || gauge(service.addr, "taquin_reply_memory_bytes") == 0);
    }
}
