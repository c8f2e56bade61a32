//! Jobs on many machines, as processes: replicas, workers and a NATS server that are killed, stopped and started.
//!
//! `.ci/cluster` starts the S3 server, and names the binaries of the NATS servers.

use std::env;
use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::batch::{Scratch, assert_clean, batch};
use crate::chaos::boards::Random;
use crate::chaos::client::request;
use crate::chaos::figures::short_or_long;
use crate::chaos::taquin::{BINARY, Taquin, peak_mib_of};
use crate::jobs::{MEMORY_MIB, job, large_boards, parsed, path_of, shared_files, undisturbed};

pub(crate) fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: use .ci/cluster"))
}

/// The binaries of the NATS servers, the oldest first.
pub(crate) fn nats_servers() -> Vec<String> {
    variable("TAQUIN_TEST_NATS_SERVERS").split(',').map(str::to_owned).collect()
}

/// A child process, killed when dropped.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary"))
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Its peak of memory.
    pub(crate) fn peak_mib(&self) -> u64 {
        peak_mib_of(self.0.id())
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("a process");
    }

    /// Ends it by SIGTERM, and returns the exit code.
    fn end(mut self) -> Option<i32> {
        self.signal(Signal::TERM);
        self.0.wait().expect("it ends").code()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.0.kill().unwrap_or_default();
        self.0.wait().map(drop).unwrap_or_default();
    }
}

/// A NATS server, two replicas and some workers.
pub(crate) struct Cluster {
    /// Binary, address and directory of the NATS server.
    nats_server: (String, SocketAddr, String),
    /// Further arguments of it.
    pub(crate) nats_options: Vec<String>,
    /// Further flags of the replicas.
    pub(crate) replica_flags: Vec<String>,
    jobs: String,
    /// URL of the S3 server.
    pub(crate) store: String,
    /// The command that executes all processes; none if it is empty.
    pub(crate) launcher: Vec<String>,
    nats: Option<Process>,
    pub(crate) replicas: Vec<Taquin>,
    pub(crate) workers: Vec<Process>,
    /// A worker that is not killed.
    pub(crate) isolated: Option<Process>,
}

impl Cluster {
    pub(crate) fn start(nats_server: &str, scratch: &Scratch, jobs: &str, workers: usize) -> Self {
        Self::new(nats_server, scratch, jobs).run(workers)
    }

    /// [Starts](Self::start) one whose NATS server has this address.
    pub(crate) fn start_at(host: &str, nats_server: &str, scratch: &Scratch, jobs: &str, workers: usize) -> Self {
        let mut cluster = Self::new(nats_server, scratch, jobs);
        cluster.nats_server.1 = free_addr(host);
        cluster.run(workers)
    }

    /// One whose processes [run](Self::run) later.
    pub(crate) fn new(nats_server: &str, scratch: &Scratch, jobs: &str) -> Self {
        let nats_server = (nats_server.to_owned(), free_addr("127.0.0.1"), scratch.path("nats"));
        Self {
            nats_server,
            nats_options: Vec::new(),
            replica_flags: Vec::new(),
            jobs: jobs.to_owned(),
            store: variable("TAQUIN_TEST_S3"),
            launcher: Vec::new(),
            nats: None,
            replicas: Vec::new(),
            workers: Vec::new(),
            isolated: None,
        }
    }

    pub(crate) fn run(mut self, workers: usize) -> Self {
        self.start_nats();
        self.replicas = (0..2).map(|_| self.replica()).collect();
        self.workers = (0..workers).map(|_| self.worker()).collect();
        self
    }

    /// Starts the NATS server, and ends the one before.
    pub(crate) fn start_nats(&mut self) {
        self.nats = None;
        let (binary, addr, directory) = &self.nats_server;
        let (host, port) = (addr.ip().to_string(), addr.port().to_string());
        let mut command = self.command(binary);
        command.args(["--jetstream", "--store_dir", directory, "--addr", &host, "--port", &port]);
        self.nats = Some(Process::start(command.args(&self.nats_options)));
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://{}", self.nats_server.1)
    }

    /// A program that the launcher executes.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut words = self.launcher.iter().map(String::as_str).chain([program]);
        let mut command = Command::new(words.next().expect("a program"));
        command.args(words);
        command
    }

    pub(crate) fn replica(&self) -> Taquin {
        self.start_replica(self.command(BINARY))
    }

    /// A replica by a command that executes the binary.
    pub(crate) fn start_replica(&self, mut command: Command) -> Taquin {
        self.with_store(&mut command);
        let url = self.url();
        let mut flags = vec!["--tables=small", "--jobs", &self.jobs, "--nats", &url];
        flags.extend(self.replica_flags.iter().map(String::as_str));
        Taquin::spawn(command, MEMORY_MIB, &flags)
    }

    pub(crate) fn worker(&self) -> Process {
        self.worker_that_ends_at(None)
    }

    /// A worker that disappears at this board, unless it is the one whose search was given up.
    fn worker_that_ends_at(&self, board: Option<u64>) -> Process {
        let mut command = self.command(BINARY);
        command.env("END_PROCESS_AT_BOARD", board.map(|board| board.to_string()).unwrap_or_default());
        self.start_worker(&mut command)
    }

    /// A worker that another command executes.
    pub(crate) fn worker_by(&self, mut command: Command) -> Process {
        self.start_worker(command.arg(BINARY))
    }

    /// A worker by a command that executes the binary.
    pub(crate) fn start_worker(&self, command: &mut Command) -> Process {
        self.with_store(command);
        let settings = ["worker", "--workers=1", "--tables=small", "--memory=512MiB", "--log=warn"];
        Process::start(command.args(settings).args(["--jobs", &self.jobs, "--nats", &self.url()]))
    }

    /// Names and identifiers of the processes.
    pub(crate) fn processes(&self) -> Vec<(&'static str, u32)> {
        let nats = self.nats.iter().map(|process| ("nats-server", process.0.id()));
        let replicas = self.replicas.iter().map(|replica| ("service", replica.id()));
        let workers = self.workers.iter().chain(&self.isolated).map(|worker| ("worker", worker.0.id()));
        nats.chain(replicas).chain(workers).collect()
    }

    /// Kills something and starts it again. Returns its name.
    pub(crate) fn kill_one(&mut self, random: &mut Random) -> &'static str {
        match random.below(5) {
            0 => {
                self.start_nats();
                "nats-server"
            }
            1 => {
                let at = random.below(self.replicas.len());
                self.replicas.remove(at);
                self.replicas.push(self.replica());
                "replica"
            }
            _ => {
                let at = random.below(self.workers.len());
                drop(self.workers.swap_remove(at));
                self.workers.push(self.worker());
                "worker"
            }
        }
    }

    /// Deletes all data of the NATS server.
    pub(crate) fn lose_queue(&mut self) {
        self.nats = None;
        fs::remove_dir_all(&self.nats_server.2).expect("the server's directory");
        self.start_nats();
    }

    /// The job, as soon as a replica tells it.
    pub(crate) fn job(&self, id: &str) -> Value {
        job(&self.replicas[0], id)
    }

    pub(crate) fn create(&self, body: &Value) -> String {
        let answer = self.replicas[0].client().exchange(&request("POST", "/jobs", Some(body), ""));
        parsed(&answer.expect("an answer").expect(202))["id"].as_str().expect("an id").to_owned()
    }

    /// Asserts that the parts of a job have the digests of those in a directory.
    pub(crate) fn assert_parts(&self, id: &str, whole: &str) {
        let manifest = fs::read_to_string(format!("{whole}/end.json")).expect("a manifest");
        let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
        let mut client = self.replicas[1].client();
        for part in manifest["parts"].as_array().expect("a list") {
            let stored = client.get(&format!("/jobs/{id}/parts/{}", part["chunk"])).expect(200);
            let tag = format!("\r\netag: \"{}\"\r\n", part["sha256"].as_str().expect("a digest"));
            assert!(stored.head.contains(&tag), "{part}: {}", stored.head);
        }
    }

    /// Has a process find the S3 server.
    fn with_store(&self, command: &mut Command) {
        let keys =
            [("AWS_ENDPOINT_URL", &self.store[..]), ("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret")];
        command.envs(keys);
    }

    pub(crate) fn wait(&self, id: &str, what: &str, time: Duration, holds: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let job = self.job(id);
            if holds(&job) {
                return job;
            }
            assert!(begun.elapsed() < time, "{what}: {job}");
            sleep(Duration::from_millis(20));
        }
    }
}

/// An address with a port that is free now. The port is below the system's range of automatic ports (Linux: 32768 and
/// above), so no socket with an automatic port takes it before the server does, or while the server restarts.
pub(crate) fn free_addr(host: &str) -> SocketAddr {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    let ports = 20_000..30_000;
    let first = std::process::id().wrapping_mul(61);
    let next = || {
        let at = first.wrapping_add(TRIED.fetch_add(1, Ordering::Relaxed)) % ports.len() as u32;
        TcpListener::bind((host, ports.start + at as u16)).and_then(|listener| listener.local_addr()).ok()
    };
    (0..ports.len()).find_map(|_| next()).expect("a free port")
}

pub(crate) fn done(job: &Value) -> u64 {
    job["parts"]["done"].as_u64().expect("a number")
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn whatever_is_killed_each_board_has_one_row() {
    let (boards, kills) = (300, 10);
    for nats_server in nats_servers() {
        let scratch = Scratch::new("cluster-kill");
        let jobs = scratch.path("jobs");
        let mut cluster = Cluster::start(&nats_server, &scratch, &jobs, 2);
        let id = cluster.create(&large_boards(boards));
        let mut random = Random(23);
        cluster.wait(&id, "a part", Duration::from_secs(120), |job| done(job) > 0);
        let stopped = cluster.workers.pop().expect("a worker");
        stopped.signal(Signal::STOP);
        cluster.workers.push(cluster.worker());
        for kill in 0..kills {
            sleep(Duration::from_millis(200 + random.below(800) as u64));
            let what = if kill == kills / 2 {
                cluster.lose_queue();
                "nats-server with its data"
            } else {
                cluster.kill_one(&mut random)
            };
            println!("{kill}: {what}, {} parts", done(&cluster.job(&id)));
        }
        // It makes what it had begun, which others have made since.
        stopped.signal(Signal::CONT);
        let job = cluster.wait(&id, "completed", Duration::from_secs(180), |job| job["state"] == "completed");
        assert_eq!(job["counts"], json!({ "total": boards, "done": boards, "failed": 0 }), "{nats_server}");
        let (path, whole) = (path_of(&jobs, &id), undisturbed(&scratch, boards));
        assert_eq!(shared_files(&path), shared_files(&whole), "{nats_server}");
        assert_clean(&batch(&format!("--verify {path} --sample 20")));
        assert_eq!(stopped.end(), Some(0));
        for worker in cluster.workers {
            assert_eq!(worker.end(), Some(0));
        }
    }
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_bucket_gets_the_bytes_of_a_directory() {
    let scratch = Scratch::new("cluster-bucket");
    let prefix = format!("process/{}", std::process::id());
    let nats_server = nats_servers().pop().expect("a server");
    let cluster = Cluster::start(&nats_server, &scratch, &format!("s3://taquin/{prefix}"), 2);
    let id = cluster.create(&large_boards(60));
    let job = cluster.wait(&id, "completed", Duration::from_secs(120), |job| job["state"] == "completed");
    assert_eq!(job["parts"], json!({ "total": 60, "done": 60 }));
    cluster.assert_parts(&id, &undisturbed(&scratch, 60));
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn requests_with_one_key_at_two_replicas_make_one_job() {
    let scratch = Scratch::new("cluster-key");
    let nats_server = nats_servers().pop().expect("a server");
    for jobs in [scratch.path("jobs"), format!("s3://taquin/key/{}", std::process::id())] {
        let cluster = Cluster::start(&nats_server, &scratch, &jobs, 1);
        let recipe = json!({ "random": { "rows": 3, "cols": 3, "seed": "key", "count": 1000 } });
        let key = "idempotency-key: one\r\n";
        let post = |nth: usize| {
            let answer = cluster.replicas[nth % 2].client().exchange(&request("POST", "/jobs", Some(&recipe), key));
            parsed(&answer.expect("an answer").expect(202))["id"].as_str().expect("an id").to_owned()
        };
        let ids: Vec<String> = std::thread::scope(|scope| {
            let posts: Vec<_> = (0..100).map(|nth| scope.spawn(move || post(nth))).collect();
            posts.into_iter().map(|post| post.join().expect("an id")).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
        let other = json!({ "random": { "rows": 3, "cols": 3, "seed": "key", "count": 1001 } });
        let answer = cluster.replicas[1].client().exchange(&request("POST", "/jobs", Some(&other), key));
        answer.expect("an answer").expect(422);
        let job = cluster.wait(&ids[0], "completed", Duration::from_secs(60), |job| job["state"] == "completed");
        assert_eq!(job["counts"]["done"], 1000);
        let listed = parsed(&cluster.replicas[1].client().get("/jobs").expect(200));
        assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(1), "{listed}");
    }
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_job_that_a_replica_accepted_survives_its_kill() {
    let scratch = Scratch::new("cluster-accepted");
    let nats_server = nats_servers().remove(0);
    let mut cluster = Cluster::start(&nats_server, &scratch, &scratch.path("jobs"), 1);
    let mut random = Random(5);
    let mut ids = Vec::new();
    for count in 1..=short_or_long(20, 1000) {
        // It may have eight unfinished jobs.
        let recipe = json!({ "random": { "rows": 3, "cols": 3, "seed": "kill", "count": count } });
        ids.push(cluster.create(&recipe));
        sleep(Duration::from_micros(random.below(3000) as u64));
        cluster.replicas.remove(0);
        cluster.replicas.push(cluster.replica());
        let id = ids.last().expect("an id");
        let job = cluster.wait(id, "completed", Duration::from_secs(60), |job| job["state"] == "completed");
        assert_eq!(job["counts"]["done"], count);
    }
    let listed = parsed(&cluster.replicas[0].client().get("/jobs?limit=100").expect(200));
    assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(ids.len().min(100)));
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_board_that_ends_its_process_fails_alone() {
    let scratch = Scratch::new("cluster-deadly");
    let (jobs, deadly) = (scratch.path("jobs"), 7_u64);
    let mut cluster = Cluster::start(&nats_servers().pop().expect("a server"), &scratch, &jobs, 0);
    let recipe = json!({ "random": { "rows": 3, "cols": 3, "seed": "deadly", "count": 40 } });
    let id = cluster.create(&recipe);
    cluster.workers.push(cluster.worker_that_ends_at(Some(deadly)));
    let begun = Instant::now();
    let mut ends = 0;
    while cluster.job(&id)["state"] != "completed" {
        let has_ended = cluster.workers[0].0.try_wait().expect("a process").is_some();
        if has_ended {
            ends += 1;
            cluster.workers[0] = cluster.worker_that_ends_at(Some(deadly));
        }
        assert!(begun.elapsed() < Duration::from_secs(600), "after {ends} ends: {}", cluster.job(&id));
        sleep(Duration::from_millis(20));
    }
    let job = cluster.job(&id);
    assert_eq!(job["counts"], json!({ "total": 40, "done": 40, "failed": 1 }), "after {ends} ends");
    let failed = fs::read_to_string(format!("{}/failed/{deadly}.json", path_of(&jobs, &id))).expect("a file");
    assert!(failed.contains("\"index\":7"), "{failed}");
    assert!(ends >= 5, "{ends} ends");
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_queue_that_loses_its_files_while_it_runs_is_created_anew() {
    for nats_server in nats_servers() {
        let scratch = Scratch::new("cluster-files");
        let cluster = Cluster::start(&nats_server, &scratch, &scratch.path("jobs"), 1);
        let id = cluster.create(&large_boards(200));
        cluster.wait(&id, "a part", Duration::from_secs(60), |job| done(job) > 0);
        // The server may create files meanwhile.
        let is_removed = (0..100).any(|_| fs::remove_dir_all(scratch.path("nats/jetstream")).is_ok());
        assert!(is_removed, "the server's directory");
        let job = cluster.wait(&id, "completed", Duration::from_secs(240), |job| job["state"] == "completed");
        assert_eq!(job["counts"], json!({ "total": 200, "done": 200, "failed": 0 }), "{nats_server}");
    }
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_cancelled_job_stops_everywhere() {
    let scratch = Scratch::new("cluster-cancel");
    let jobs = scratch.path("jobs");
    let cluster = Cluster::start(&nats_servers().remove(0), &scratch, &jobs, 2);
    let id = cluster.create(&large_boards(100_000));
    cluster.wait(&id, "a part", Duration::from_secs(60), |job| done(job) > 0);
    let answer = cluster.replicas[1].client().exchange(&request("DELETE", &format!("/jobs/{id}"), None, ""));
    answer.expect("an answer").expect(200);
    cluster.wait(&id, "cancelled", Duration::from_secs(5), |job| job["state"] == "cancelled");
    sleep(Duration::from_secs(5));
    let path = path_of(&jobs, &id);
    let before = shared_files(&path).len();
    sleep(Duration::from_secs(3));
    assert_eq!(shared_files(&path).len(), before);
}
