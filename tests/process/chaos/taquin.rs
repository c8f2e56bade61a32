//! The binary as a child process of the test.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};
use std::{env, fs};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::client::{Client, TIMEOUT};
use super::figures::print_row;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_taquin");

/// The binary to test: the path in the environment variable `TAQUIN_CHAOS_BINARY`, for comparisons, or the binary just
/// built.
fn binary() -> String {
    env::var("TAQUIN_CHAOS_BINARY").unwrap_or_else(|_| BINARY.to_owned())
}

/// A child process, killed when dropped.
pub(crate) struct Taquin {
    pub(crate) addr: SocketAddr,
    process: Child,
    memory_mib: u64,
    log: Arc<Mutex<Vec<Value>>>,
    reader: Option<JoinHandle<()>>,
}

impl Taquin {
    /// Starts the service with this memory limit and these flags on a free port. Waits until it is ready and has
    /// built its startup tables.
    pub(crate) fn start(memory_mib: u64, flags: &[&str]) -> Self {
        let taquin = Self::spawn(Command::new(binary()), memory_mib, flags);
        let tables = if flags.contains(&"--tables=small") { "tables are ready" } else { "standard tables are ready" };
        taquin.wait_for_message(tables);
        taquin
    }

    /// Starts the service by a command that executes it, and waits until it listens.
    pub(crate) fn spawn(mut command: Command, memory_mib: u64, flags: &[&str]) -> Self {
        if !flags.iter().any(|flag| flag.starts_with("--listen")) {
            command.arg("--listen=127.0.0.1:0");
        }
        if !flags.iter().any(|flag| flag.starts_with("--log=")) {
            command.arg("--log=info,taquin::access=off,taquin::job=off");
        }
        command.args(["--log-format=json", &format!("--memory={memory_mib}MiB")]).args(flags);
        let mut process = command.stdout(Stdio::piped()).spawn().expect("the binary");
        let lines = BufReader::new(process.stdout.take().expect("a log")).lines();
        let log: Arc<Mutex<Vec<Value>>> = Arc::default();
        let reader = thread::spawn({
            let log = Arc::clone(&log);
            move || {
                let lines = lines.map_while(Result::ok);
                let lines = lines.map(|line| serde_json::from_str(&line).expect("a line of JSON"));
                lines.for_each(|line| log.lock().expect("a log").push(line));
            }
        });
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut taquin = Self { addr, process, memory_mib, log, reader: Some(reader) };
        let line = taquin.wait_for_message("listening");
        taquin.addr = line["addr"].as_str().expect("an address").parse().expect("an address");
        taquin
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.addr)
    }

    /// Waits for a log line with this message.
    pub(crate) fn wait_for_message(&self, message: &str) -> Value {
        let begun = Instant::now();
        loop {
            if let Some(line) = self.lines().into_iter().find(|line| line["message"] == message) {
                return line;
            }
            assert!(begun.elapsed() < TIMEOUT, "no line {message:?}: {:?}", self.lines());
            sleep(Duration::from_millis(2));
        }
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        self.log.lock().expect("a log").clone()
    }

    /// Log lines of a level.
    pub(crate) fn lines_at(&self, level: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["level"] == level).collect()
    }

    /// All metrics, by name.
    pub(crate) fn metrics(&self) -> HashMap<String, f64> {
        metrics_of(self.addr)
    }

    /// Waits until a gauge has a value.
    pub(crate) fn wait_for_gauge(&self, gauge: &str, value: f64) {
        let begun = Instant::now();
        while self.metrics()[gauge] != value {
            assert!(begun.elapsed() < TIMEOUT, "{gauge} is {} and not {value}", self.metrics()[gauge]);
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits until no job runs, and asserts that nothing is reserved.
    pub(crate) fn wait_until_idle(&self) {
        self.wait_for_gauge("taquin_jobs_in_progress", 0.0);
        self.wait_for_gauge("taquin_queue_waiting", 0.0);
        self.wait_for_gauge("taquin_workers_busy", 0.0);
        self.wait_for_gauge("taquin_memory_reserved_bytes", 0.0);
        // The remaining connection reads the metrics.
        self.wait_for_gauge("taquin_http_connections", 1.0);
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    fn proc(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.id())).expect("a process that runs")
    }

    /// Its environment variables.
    pub(crate) fn environment(&self) -> String {
        self.proc("environ")
    }

    pub(crate) fn resident_mib(&self) -> u64 {
        status_mib(self.process.id(), "VmRSS:")
    }

    pub(crate) fn peak_mib(&self) -> u64 {
        peak_mib_of(self.process.id())
    }

    /// CPU time used so far.
    pub(crate) fn cpu(&self) -> Duration {
        cpu_of(self.process.id()).expect("a process that runs")
    }

    /// CPU use during this time, in percent of a core.
    pub(crate) fn cpu_percent(&self, time: Duration) -> f64 {
        let (before, begun) = (self.cpu(), Instant::now());
        sleep(time);
        100.0 * (self.cpu() - before).as_secs_f64() / begun.elapsed().as_secs_f64()
    }

    /// Path of its root directory, including its own mounts.
    pub(crate) fn root(&self) -> String {
        format!("/proc/{}/root", self.process.id())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.process.id() as i32).expect("an id");
        kill_process(id, signal).expect("a process that runs");
    }

    /// Waits until the process and its log end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.process.try_wait().expect("a child") {
                break status;
            }
            assert!(begun.elapsed() < TIMEOUT, "it does not end");
            sleep(Duration::from_millis(1));
        };
        self.reader.take().into_iter().for_each(|reader| reader.join().expect("a log of JSON"));
        status
    }

    /// Asserts that it stayed within its memory limit, and logged no error.
    #[track_caller]
    pub(crate) fn check(&self, what: &str) {
        let peak = self.peak_mib();
        print_row(&format!("{what}: peak of memory"), format!("{} MiB", self.memory_mib), format!("{peak} MiB"));
        assert!(peak <= self.memory_mib, "{what}: {peak} MiB of {}", self.memory_mib);
        assert_eq!(self.lines_at("ERROR"), [Value::Null; 0]);
    }

    /// [Checks](Self::check) the process, and stops it by a signal.
    #[track_caller]
    pub(crate) fn end(mut self, what: &str) {
        self.check(what);
        self.signal(Signal::TERM);
        assert_eq!(self.wait().code(), Some(0));
    }
}

/// Peak of the memory of a process.
pub(crate) fn peak_mib_of(process: u32) -> u64 {
    status_mib(process, "VmHWM:")
}

fn status_mib(process: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("a process that runs");
    let line = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
    let kib: u64 = line.trim_matches(|letter: char| !letter.is_ascii_digit()).parse().expect("a number");
    kib / 1024
}

/// All metrics that a listener has, by name.
pub(crate) fn metrics_of(addr: SocketAddr) -> HashMap<String, f64> {
    let body = Client::connect(addr).get("/metrics").expect(200).body;
    let samples = body.lines().filter(|line| !line.starts_with('#'));
    samples.filter_map(|line| line.rsplit_once(' ')).map(|(name, value)| (name.to_owned(), number(value))).collect()
}

/// CPU time that a process has used so far, unless it has ended.
pub(crate) fn cpu_of(process: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("ticks")).sum();
    Some(Duration::from_millis(10 * ticks))
}

impl Drop for Taquin {
    fn drop(&mut self) {
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}
