//! A NATS server without room.

use std::fs::{self, File};
use std::io::Write;
use std::thread;

use taquin_cluster::async_nats::{self, jetstream, jetstream::stream};

use super::{PATIENCE, SmallDisk, WatchedWorker, completed};
use crate::batch::Scratch;
use crate::chaos::figures::short_or_long;
use crate::chaos::taquin::BINARY;
use crate::cluster::{Cluster, done, nats_servers};
use crate::jobs::{large_boards, path_of, shared_files, undisturbed};

/// Name of a stream of another program.
const BALLAST: &str = "ballast";

/// Fills the storage of a server by another stream.
async fn fill(url: &str) -> jetstream::Context {
    let context = jetstream::new(async_nats::connect(url).await.expect("a server"));
    let config = stream::Config { name: BALLAST.to_owned(), ..stream::Config::default() };
    context.create_stream(config).await.expect("a stream");
    while context.publish(BALLAST, vec![0; 60_000].into()).await.expect("a connection").await.is_ok() {}
    context
}

/// Checks something of all servers at once.
fn check_all(check: impl Fn(&str, Scratch) + Sync) {
    let servers = nats_servers();
    thread::scope(|scope| {
        for (nth, server) in servers.iter().enumerate() {
            let (check, name) = (&check, thread::current().name().unwrap_or_default().replace("::", "-"));
            scope.spawn(move || check(server, Scratch::new(&format!("{name}-{nth}"))));
        }
    });
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn jobs_of_a_cluster_wait_until_the_queue_has_room() {
    let boards = short_or_long(200, 2000);
    check_all(|nats_server, scratch| {
        let jobs = scratch.path("jobs");
        let mut cluster = Cluster::new(nats_server, &scratch, &jobs);
        let config = scratch.path("nats.conf");
        fs::write(&config, "jetstream { max_file_store: 1MB }").expect("a file");
        cluster.nats_options = vec!["--config".to_owned(), config];
        let cluster = cluster.run(0);
        let worker = WatchedWorker::start(&cluster, cluster.command(BINARY));
        let id = cluster.create(&large_boards(boards));
        cluster.wait(&id, "a part", PATIENCE, |job| done(job) > 0);
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let other = runtime.block_on(fill(&cluster.url()));
        let job = cluster.wait(&id, "a reason", PATIENCE, |job| job["waiting_for"] == "queue");
        assert!(job["ended_at"].is_null(), "{job}");
        runtime.block_on(other.delete_stream(BALLAST)).expect("a stream");
        completed(&cluster, &id);
        assert_eq!(shared_files(&path_of(&jobs, &id)), shared_files(&undisturbed(&scratch, boards)), "{nats_server}");
        worker.check(boards);
    });
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn jobs_of_a_cluster_wait_until_the_disk_of_the_queue_has_room() {
    let boards = short_or_long(400, 4000);
    check_all(|nats_server, scratch| {
        let jobs = scratch.path("jobs");
        let Some(disk) = SmallDisk::mount(&scratch.path("nats"), "16m") else { return };
        let mut cluster = Cluster::new(nats_server, &scratch, &jobs);
        cluster.launcher = disk.launcher();
        let mut cluster = cluster.run(0);
        let worker = WatchedWorker::start(&cluster, cluster.command(BINARY));
        let id = cluster.create(&large_boards(boards));
        cluster.wait(&id, "a part", PATIENCE, |job| done(job) > 0);
        let ballast = disk.root().join(BALLAST);
        let mut file = File::create(&ballast).expect("a file");
        while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
        let job = cluster.wait(&id, "a reason", PATIENCE, |job| job["waiting_for"] == "queue");
        assert!(job["ended_at"].is_null(), "{job}");
        fs::remove_file(ballast).expect("a file");
        drop(file);
        if nats_server.contains("2.9") {
            // It has hung since.
            cluster.start_nats();
        }
        completed(&cluster, &id);
        assert_eq!(shared_files(&path_of(&jobs, &id)), shared_files(&undisturbed(&scratch, boards)), "{nats_server}");
        drop(worker);
    });
}
