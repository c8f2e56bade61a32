//! A billion boards as a job, and what happens beside it: a small job of another token, requests, and the end of it.
//!
//! `.ci/chaos` runs it.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::batch::{Scratch, count_parts};
use crate::chaos::client::{Answer, post, request};
use crate::chaos::figures::{Times, assert_within, print_row};
use crate::chaos::taquin::Taquin;
use crate::cluster::{Cluster, done, nats_servers};
use crate::jobs::{MEMORY_MIB, parsed, path_of};

const REQUESTS: usize = 3_000;
/// Between checks of the state of a job.
const INTERVAL: Duration = Duration::from_millis(20);
/// Bounds for a small job, and for the end of a job that is cancelled.
const SMALL_JOB: Duration = Duration::from_secs(10);
const CANCELLED: Duration = Duration::from_secs(5);
/// No part is written later than that after the end of a job.
const LAST_PART: Duration = Duration::from_secs(30);

/// A token with its service.
struct User<'a> {
    service: &'a Taquin,
    header: String,
}

impl<'a> User<'a> {
    fn new(service: &'a Taquin, name: &str) -> Self {
        Self { service, header: format!("Authorization: Bearer {}\r\n", token(name)) }
    }

    fn send(&self, method: &str, target: &str, body: Option<&Value>) -> Answer {
        let answer = self.service.client().exchange(&request(method, target, body, &self.header));
        answer.unwrap_or_else(|end| panic!("{method} {target}: {end:?}"))
    }

    /// Creates a job of random 15-puzzles. The limits determine how long a part takes.
    fn create(&self, count: u64, limits: &Value) -> String {
        let random = json!({ "rows": 4, "cols": 4, "seed": "billion", "count": count });
        let recipe = json!({ "random": random, "limits": limits });
        parsed(&self.send("POST", "/jobs", Some(&recipe)).expect(202))["id"].as_str().expect("an id").to_owned()
    }

    /// Waits for a state of a job.
    fn wait(&self, id: &str, longest: Duration, holds: impl Fn(&Value) -> bool) {
        let begun = Instant::now();
        loop {
            let job = parsed(&self.send("GET", &format!("/jobs/{id}"), None).expect(200));
            if holds(&job) {
                return;
            }
            assert!(begun.elapsed() < longest, "{job}");
            sleep(INTERVAL);
        }
    }

    /// The 99th percentile of A* on random 8-puzzles, each sent after the answer to the one before.
    fn latency(&self) -> Duration {
        let mut client = self.service.client();
        let mut latency = |index| {
            let target = format!("/random?rows=3&cols=3&seed=latency/{index}");
            let board = client.exchange(&request("GET", &target, None, &self.header)).expect("an answer").expect(200);
            let question = json!({ "board": parsed(&board)["board"], "algorithm": "astar", "heuristic": "manhattan" });
            let begun = Instant::now();
            client.exchange(&post(&question, &self.header)).expect("an answer").expect(200);
            begun.elapsed()
        };
        Times::new((0..REQUESTS).map(&mut latency).collect()).percentile(99)
    }
}

fn token(name: &str) -> String {
    format!("{name:-<40}")
}

/// Measures everything beside a job of a billion boards in this directory.
fn measure(what: &str, service: &Taquin, directory: &str) {
    let [researcher, teacher] = ["researcher", "teacher"].map(|token| User::new(service, token));
    // All processes have their tables.
    sleep(Duration::from_secs(5));
    let idle = teacher.latency();
    let id = researcher.create(1_000_000_000, &json!({ "expanded": 15_000 }));
    researcher.wait(&id, Duration::from_secs(120), |job| done(job) >= 4);

    let beside = teacher.latency();
    let bound = (2 * idle).min(idle + Duration::from_millis(5));
    print_row(&format!("{what}: 99th percentile of 8-puzzles, idle"), "", format!("{idle:.2?}"));
    print_row(&format!("{what}: beside a job of a billion boards"), format!("{bound:.2?}"), format!("{beside:.2?}"));

    let worst = (0..5).map(|_| {
        let begun = Instant::now();
        let id = teacher.create(1000, &json!({}));
        teacher.wait(&id, 6 * SMALL_JOB, |job| job["state"] == "completed");
        begun.elapsed()
    });
    assert_within(&format!("{what}: 1,000 15-puzzles of another token"), SMALL_JOB, worst.max().expect("a time"), "");

    let begun = Instant::now();
    researcher.send("DELETE", &format!("/jobs/{id}"), None).expect(200);
    researcher.wait(&id, 6 * CANCELLED, |job| job["state"] == "cancelled");
    assert_within(&format!("{what}: cancelled"), CANCELLED, begun.elapsed(), "");
    let path = path_of(directory, &id);
    let (mut parts, mut last) = (0, Duration::ZERO);
    while begun.elapsed() < 2 * LAST_PART {
        let now = count_parts(&path);
        if now != parts {
            (parts, last) = (now, begun.elapsed());
        }
        sleep(INTERVAL);
    }
    assert_within(&format!("{what}: last of {parts} parts"), LAST_PART, last, " after the cancellation");
    assert!(beside <= idle + Duration::from_millis(5), "{beside:?}, idle {idle:?}");
}

#[test]
#[ignore = "minutes on an idle machine: .ci/chaos"]
fn other_work_does_not_wait_for_a_billion_boards() {
    let scratch = Scratch::new("billion");
    let tokens = scratch.path("tokens");
    fs::write(&tokens, ["researcher", "teacher"].map(token).join("\n")).expect("a file");
    let flags = ["--token-file", &tokens];

    let directory = scratch.path("one");
    let service = [&["--tables=small", "--jobs", &directory], &flags[..]].concat();
    measure("one machine", &Taquin::start(MEMORY_MIB, &service), &directory);

    let directory = scratch.path("many");
    let mut cluster = Cluster::new(&nats_servers().pop().expect("a server"), &scratch, &directory);
    cluster.replica_flags = flags.map(str::to_owned).to_vec();
    let cluster = cluster.run(2);
    measure("two replicas, two workers", &cluster.replicas[1], &directory);
}
