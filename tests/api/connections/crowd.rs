//! Ten thousand idle connections.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;

use super::client::{Client, get, until};

const CROWD: usize = 10_000;

/// The binary as a child process, so that its memory can be measured.
struct Taquin {
    process: Child,
    addr: SocketAddr,
}

impl Taquin {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
        command.args(["--listen=127.0.0.1:0", "--tables=small", "--header-timeout=1h", "--keep-alive-timeout=1h"]);
        command.args(["--log-format=json", "--log=info,taquin::access=off"]).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the binary");
        let mut lines = BufReader::new(process.stdout.take().expect("a log")).lines();
        let listening = lines
            .find_map(|line| {
                let line: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
                (line["message"] == "listening").then_some(line)
            })
            .expect("a line with the address");
        // Discard the rest of the log; a closed pipe would cause write errors.
        std::thread::spawn(move || lines.for_each(drop));
        let addr = listening["addr"].as_str().expect("an address").parse().expect("an address");
        until("the service is ready", || get(addr, "/readyz").status == 200);
        Self { process, addr }
    }

    fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    }

    /// Asserts that other clients are served, and prints memory and latency.
    fn check(&self, what: &str) {
        let begun = Instant::now();
        get(self.addr, "/livez").expect(200);
        let probe = begun.elapsed();
        let solved = get(self.addr, "/solve?board=867254301").expect(200);
        assert!(solved.body.contains("\"length\":31"), "{solved:?}");
        println!("{what}: {} KiB resident; a probe takes {probe:?}", self.resident_kib());
    }
}

impl Drop for Taquin {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }
}

/// True if this process and its child may each open this many files.
fn may_open(files: u64) -> bool {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    getrlimit(Resource::Nofile).current.or(current).is_none_or(|limit| limit >= files)
}

/// Run with `cargo test --release --test api connections:: -- --ignored --nocapture`.
#[test]
#[ignore = "takes ten thousand ports"]
fn ten_thousand_idle_connections_do_not_slow_others() {
    if !may_open(CROWD as u64 + 200) {
        println!("skipped: the limit of open files is below {CROWD}");
        return;
    }
    let taquin = Taquin::start();
    taquin.check("no connections");
    let mut crowd: Vec<Client> = (0..CROWD).map(|_| Client::connect(taquin.addr)).collect();
    taquin.check("10000 silent connections");
    for client in &mut crowd {
        client.get("/livez").expect(200);
    }
    taquin.check("10000 idle connections after one request each");
    for client in &mut crowd {
        client.get("/solve?board=867254301&include=states").expect(200);
    }
    taquin.check("10000 idle connections after two requests each");
    drop(crowd);
    taquin.check("all connections closed");
}
