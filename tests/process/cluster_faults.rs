//! Jobs on many machines whose disk, store, clients, clocks or queue are in trouble.
//!
//! `.ci/cluster` starts the S3 server, names the binaries of the NATS servers, and builds the library
//! for other clocks.

mod full_queue;
mod other_clocks;
mod proxy;
mod small_disk;

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::batch::Scratch;
use crate::chaos::boards::Random;
use crate::chaos::client::{Answer, Client, request};
use crate::chaos::figures::short_or_long;
use crate::chaos::taquin::{BINARY, Taquin, metrics_of};
use crate::cluster::{Cluster, Process, done, free_addr, nats_servers};
use crate::jobs::{large_boards, parsed, path_of, shared_files, undisturbed};
use proxy::{Fault, Proxy};
use small_disk::SmallDisk;

const MEMORY_MIB: u64 = 512;
/// Time for a job to end, or for a replica to note something.
const PATIENCE: Duration = Duration::from_secs(240);

/// A worker whose metrics can be read.
struct WatchedWorker {
    process: Process,
    admin: SocketAddr,
}

impl WatchedWorker {
    fn start(cluster: &Cluster, mut command: Command) -> Self {
        let admin = free_addr("127.0.0.1");
        command.env("TAQUIN_ADMIN_LISTEN", admin.to_string());
        Self { process: cluster.start_worker(&mut command), admin }
    }

    /// Boards that were labelled, and tasks that were taken and not given back.
    fn boards_and_leases(&self) -> (u64, u64) {
        let metrics = metrics_of(self.admin);
        (metrics["taquin_worker_boards_total"] as u64, metrics["taquin_worker_leases"] as u64)
    }

    /// Asserts that so many boards were labelled, and that the memory was within its limit.
    fn check(&self, boards: u64) {
        assert_eq!(self.boards_and_leases().0, boards, "each board is labelled once");
        let peak = self.process.peak_mib();
        assert!(peak <= MEMORY_MIB, "{peak} MiB of {MEMORY_MIB}");
    }
}

fn newest_server() -> String {
    nats_servers().pop().expect("a server")
}

fn post(replica: &Taquin, body: &Value) -> Answer {
    replica.client().exchange(&request("POST", "/jobs", Some(body), "")).expect("an answer")
}

fn completed(cluster: &Cluster, id: &str) -> Value {
    let job = cluster.wait(id, "completed", PATIENCE, |job| job["state"] == "completed");
    assert_eq!((&job["counts"]["done"], &job["counts"]["failed"]), (&job["counts"]["total"], &json!(0)));
    job
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn on_a_full_disk_jobs_of_a_cluster_wait_for_room() {
    const BOARDS: u64 = 300;
    let scratch = Scratch::new("cluster-disk");
    let jobs = scratch.path("jobs");
    let Some(disk) = SmallDisk::mount(&jobs, "600k") else { return };
    let mut cluster = Cluster::new(&newest_server(), &scratch, &jobs);
    cluster.launcher = [disk.launcher(), ["env", "TAQUIN_MAX_JOBS=99"].map(str::to_owned).to_vec()].concat();
    let cluster = cluster.run(0);
    let worker = WatchedWorker::start(&cluster, cluster.command(BINARY));
    let mut ids = vec![cluster.create(&large_boards(BOARDS))];
    cluster.wait(&ids[0], "the disk is full", PATIENCE, |job| job["waiting_for"] == "disk");
    let refused = loop {
        let replica = &cluster.replicas[ids.len() % 2];
        let answer = post(replica, &large_boards(1));
        if answer.status != 202 {
            break answer.expect(507);
        }
        ids.push(parsed(&answer)["id"].as_str().expect("an id").to_owned());
        assert!(ids.len() < 99, "the disk is never full");
    };
    assert_eq!(parsed(&refused)["type"], "/problems/storage-full");
    let (whole, root) = (undisturbed(&scratch, BOARDS), disk.root());
    let path = path_of(root.to_str().expect("a path"), &ids[0]);
    let (parts, expected) = (shared_files(&path), shared_files(&whole));
    let torn: Vec<_> = parts.iter().filter(|(name, bytes)| expected.get(*name) != Some(bytes)).collect();
    assert!(torn.is_empty() && parts.len() < expected.len(), "{torn:?}");
    disk.resize("8m");
    for id in &ids {
        completed(&cluster, id);
    }
    assert_eq!(shared_files(&path), expected);
    worker.check(BOARDS + ids.len() as u64 - 1);
}

/// A cluster with a worker, whose store is behind a proxy.
fn behind_proxy(scratch: &Scratch, name: &str) -> (Cluster, Proxy, WatchedWorker) {
    let jobs = format!("s3://taquin/{name}/{}", std::process::id());
    let mut cluster = Cluster::new(&newest_server(), scratch, &jobs);
    let proxy = Proxy::start(&cluster.store);
    cluster.store.clone_from(&proxy.url);
    let cluster = cluster.run(0);
    let worker = WatchedWorker::start(&cluster, cluster.command(BINARY));
    (cluster, proxy, worker)
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_slow_store_of_a_cluster_costs_time_alone() {
    let boards = short_or_long(100, 1000);
    let scratch = Scratch::new("cluster-slow");
    let (cluster, proxy, worker) = behind_proxy(&scratch, "slow");
    let id = cluster.create(&large_boards(boards));
    cluster.wait(&id, "a part", PATIENCE, |job| done(job) > 0);
    proxy.set(Fault::Slow(Duration::from_secs(3)));
    let begun = Instant::now();
    let other = thread::scope(|scope| {
        let other = scope.spawn(|| cluster.create(&large_boards(1)));
        // Longer than a lease lasts.
        while begun.elapsed() < Duration::from_secs(short_or_long(35, 300)) {
            let (_, leases) = worker.boards_and_leases();
            assert!(leases <= 3, "{leases} tasks");
            sleep(Duration::from_millis(500));
        }
        other.join().expect("an id")
    });
    assert!(cluster.job(&id)["ended_at"].is_null());
    proxy.set(Fault::None);
    for id in [&id, &other] {
        completed(&cluster, id);
    }
    cluster.assert_parts(&id, &undisturbed(&scratch, boards));
    worker.check(boards + 1);
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn whatever_the_store_of_a_cluster_does_jobs_wait_and_go_on() {
    let boards = short_or_long(250, 2500);
    let scratch = Scratch::new("cluster-store");
    let (cluster, proxy, worker) = behind_proxy(&scratch, "store");
    let id = cluster.create(&large_boards(boards));
    for round in 0..short_or_long(1, 10) {
        for fault in [Fault::Down, Fault::Unavailable, Fault::Reset, Fault::Lost] {
            let before = done(&cluster.job(&id));
            cluster.wait(&id, "a part", PATIENCE, |job| done(job) > before);
            proxy.set(fault);
            let refused = post(&cluster.replicas[1], &large_boards(1)).expect(503);
            assert_eq!(refused.header("retry-after"), "5", "{fault:?}");
            let job = cluster.wait(&id, "a reason", PATIENCE, |job| job["waiting_for"] == "disk");
            assert!(job["ended_at"].is_null(), "{fault:?} in round {round}: {job}");
            proxy.set(Fault::None);
        }
    }
    completed(&cluster, &id);
    cluster.assert_parts(&id, &undisturbed(&scratch, boards));
    worker.check(boards);
}

/// The objects of a store below a prefix, at most a thousand.
fn objects(store: &str, prefix: &str) -> Vec<String> {
    let addr = store.trim_start_matches("http://").parse().expect("an address");
    let list = Client::connect(addr).get(&format!("/taquin?list-type=2&prefix={prefix}")).expect(200).body;
    let keys = list.split("<Key>").skip(1).filter_map(|rest| rest.split('<').next());
    keys.map(str::to_owned).collect()
}

/// The files and folders below a directory.
fn entries(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("a directory").map(|entry| entry.expect("an entry").path());
    entries.map(|path| path.display().to_string()).collect()
}

/// The head of a request with a body of this length.
fn upload_head(key: &str, length: usize) -> String {
    format!(
        "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nIdempotency-Key: {key}\r\n\
         Content-Length: {length}\r\n\r\n"
    )
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn an_upload_to_a_cluster_that_is_cut_leaves_nothing() {
    let cuts = short_or_long(100, 1000);
    let body = "[[8,6,7],[2,5,4],[3,0,1]]\n".repeat(20_000);
    let mut random = Random(11);
    let scratch = Scratch::new("cluster-cut");
    let prefix = format!("cut/{}", std::process::id());
    for jobs in [scratch.path("jobs"), format!("s3://taquin/{prefix}")] {
        let cluster = Cluster::start(&newest_server(), &scratch, &jobs, 1);
        for cut in 0..cuts {
            let upload = format!("{}{body}", upload_head(&format!("cut-{cut}"), body.len()));
            let mut client = cluster.replicas[cut % 2].client();
            client.write(&upload.as_bytes()[..random.below(upload.len())]).expect("a connection");
        }
        let left = || match jobs.starts_with("s3:") {
            true => objects(&cluster.store, &prefix),
            false => ["data", "jobs"].iter().flat_map(|name| entries(&Path::new(&jobs).join(name))).collect(),
        };
        let begun = Instant::now();
        while !left().is_empty() {
            assert!(begun.elapsed() < PATIENCE, "{:?}", left());
            sleep(Duration::from_millis(20));
        }
        for replica in &cluster.replicas {
            assert_eq!(parsed(&replica.client().get("/jobs").expect(200))["jobs"], json!([]));
        }
        // What was cut can be sent again, as soon as the replica has noticed the cuts.
        let upload = format!("{}{body}", upload_head("cut-0", body.len()));
        let created = loop {
            let answer = cluster.replicas[1].client().exchange(upload.as_bytes()).expect("an answer");
            if answer.status != 429 {
                break answer.expect(202);
            }
            assert!(begun.elapsed() < PATIENCE, "{answer:?}");
            sleep(Duration::from_millis(20));
        };
        let job = completed(&cluster, parsed(&created)["id"].as_str().expect("an id"));
        assert_eq!(job["counts"]["total"], 20_000);
        assert!(!left().is_empty());
    }
}
