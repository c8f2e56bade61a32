//! Replicas and workers whose clocks are wrong.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{PATIENCE, WatchedWorker, completed, entries, newest_server, post, upload_head};
use crate::batch::Scratch;
use crate::chaos::figures::short_or_long;
use crate::chaos::taquin::{BINARY, Taquin};
use crate::cluster::{Cluster, variable};
use crate::jobs::{large_boards, parsed, undisturbed};

/// The clocks of a process: a file with the seconds by which the time of day and the monotonic clock are off.
struct Clocks {
    path: String,
}

impl Clocks {
    fn new(scratch: &Scratch, name: &str, time_of_day: i64) -> Self {
        let path = scratch.path(name);
        fs::write(&path, [time_of_day.to_ne_bytes(), 0_i64.to_ne_bytes()].concat()).expect("a file");
        Self { path }
    }

    /// The binary with these clocks.
    fn command(&self) -> Command {
        let mut command = Command::new(BINARY);
        command.env("LD_PRELOAD", variable("TAQUIN_TEST_CLOCK")).env("CLOCK_OFFSETS", &self.path);
        command
    }

    /// Lets so much time pass at once.
    fn advance(&self, time: Duration) {
        let file = OpenOptions::new().read(true).write(true).open(&self.path).expect("a file");
        let mut offsets = [0; 16];
        file.read_exact_at(&mut offsets, 0).expect("two numbers");
        for at in [0, 8] {
            let offset = i64::from_ne_bytes(offsets[at..at + 8].try_into().expect("eight bytes"));
            file.write_all_at(&(offset + time.as_secs() as i64).to_ne_bytes(), at as u64).expect("a file");
        }
    }
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_clock_that_is_a_day_off_does_not_matter_to_a_cluster() {
    let scratch = Scratch::new("cluster-clock");
    check_with_other_clocks(&scratch, &scratch.path("jobs"));
}

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn a_clock_that_is_a_day_off_does_not_matter_to_a_cluster_with_a_bucket() {
    check_with_other_clocks(&Scratch::new("cluster-clocks"), &format!("s3://taquin/clock/{}", std::process::id()));
}

fn check_with_other_clocks(scratch: &Scratch, jobs: &str) {
    let boards = short_or_long(60, 5000);
    let mut cluster = Cluster::start(&newest_server(), scratch, jobs, 0);
    let mut workers = vec![WatchedWorker::start(&cluster, Command::new(BINARY))];
    for (name, offset) in [("ahead", DAY), ("behind", -DAY)] {
        let clocks = Clocks::new(scratch, name, offset);
        workers.push(WatchedWorker::start(&cluster, clocks.command()));
        let mut replica = clocks.command();
        replica.env("TAQUIN_JOBS_KEEP", "12h");
        cluster.replicas.push(cluster.start_replica(replica));
    }
    let create = |replica: &Taquin| {
        let answer = post(replica, &large_boards(boards)).expect(202);
        parsed(&answer)["id"].as_str().expect("an id").to_owned()
    };
    let ids: Vec<String> = cluster.replicas[1..].iter().map(create).collect();
    let whole = undisturbed(scratch, boards);
    for id in &ids {
        completed(&cluster, id);
        cluster.assert_parts(id, &whole);
    }
    let labelled: u64 = workers.iter().map(|worker| worker.boards_and_leases().0).sum();
    assert_eq!(labelled, boards * ids.len() as u64, "each board is labelled once");
    // Several comparisons later, no replica takes a job for one that has expired.
    sleep(Duration::from_secs(5));
    for replica in &cluster.replicas {
        let listed = parsed(&replica.client().get("/jobs").expect(200));
        assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(ids.len()), "{jobs}: {listed}");
    }
}

/// In seconds.
const DAY: i64 = 86_400;

/// Time in which a replica compares several times.
const SOME_PERIODS: Duration = Duration::from_secs(5);

#[test]
#[ignore = "needs servers: .ci/cluster"]
fn what_a_killed_replica_of_a_cluster_leaves_is_removed_after_two_hours() {
    let scratch = Scratch::new("cluster-left");
    let jobs = scratch.path("jobs");
    let mut cluster = Cluster::start(&newest_server(), &scratch, &jobs, 0);
    let folders = || entries(&Path::new(&jobs).join("data"));
    let mut client = cluster.replicas[0].client();
    // An upload has a folder once its first row is there.
    let begun_body = "[[8,6,7],[2,5,4],[3,0,1]]\n";
    client.write(format!("{}{begun_body}", upload_head("left", 1 << 20)).as_bytes()).expect("a connection");
    let begun = Instant::now();
    while folders().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "no upload has begun");
        sleep(Duration::from_millis(5));
    }
    cluster.replicas.clear();
    let left = folders();
    assert_eq!(left.len(), 1);
    let clocks = Clocks::new(&scratch, "clocks", 0);
    let replica = cluster.start_replica(clocks.command());
    // Its jobs are listed once its clock for the looks runs.
    replica.client().get("/jobs").expect(200);
    // It looks every ten minutes, and sees the folder at the first look.
    for minutes in [11, 114] {
        clocks.advance(Duration::from_secs(60 * minutes));
        sleep(SOME_PERIODS);
        assert_eq!(folders(), left, "{minutes}");
    }
    clocks.advance(Duration::from_secs(60 * 11));
    while !folders().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "the folder is not removed: {:?}", replica.lines());
        sleep(Duration::from_millis(20));
    }
}
