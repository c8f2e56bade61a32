//! A million boards on many machines, while processes are killed and stopped, a link is down, and the queue is lost.
//!
//! `.ci/chaos` runs it. It needs root, for a network namespace.

use std::collections::{BTreeMap, HashMap};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::batch::{Scratch, assert_clean, batch};
use crate::chaos::boards::Random;
use crate::chaos::figures::print_row;
use crate::chaos::taquin::cpu_of;
use crate::cluster::{Cluster, Process, nats_servers};
use crate::jobs::{path_of, shared_files};

const BOARDS: u64 = 1_000_000;
/// Kills, one of them with the loss of the queue. A killed worker loses a chunk for each thread, half of it on average:
/// in all an eighth of the time of this job.
const KILLS: u32 = 25;
/// Time between kills.
const PAUSE: Duration = Duration::from_secs(8);
/// Time for which a worker is stopped, and a link is down.
const GAP: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(3600);

/// The processor time of all processes of a cluster, those that have ended included, by name and process.
#[derive(Default)]
struct ProcessorTime(HashMap<(&'static str, u32), Duration>);

impl ProcessorTime {
    /// Reads the time of the processes that run.
    fn read(&mut self, cluster: &Cluster) {
        for (name, id) in cluster.processes() {
            if let Some(time) = cpu_of(id) {
                self.0.insert((name, id), time);
            }
        }
    }

    fn of(&self, name: &str) -> f64 {
        self.0.iter().filter(|((of, _), _)| *of == name).map(|(_, time)| time.as_secs_f64()).sum()
    }

    fn all(&self) -> f64 {
        ["service", "worker", "nats-server"].map(|name| self.of(name)).iter().sum()
    }
}

/// A network namespace with a link to this one, which disappears with it.
struct Namespace(String);

impl Namespace {
    /// The address of this host on the link.
    const HOST: &str = "10.117.0.1";

    fn create() -> Self {
        let namespace = Self(format!("tq{}", std::process::id()));
        let name = &namespace.0;
        ip(&format!("netns add {name}"));
        ip(&format!("link add {name} type veth peer name inner netns {name}"));
        ip(&format!("address add {}/30 dev {name}", Self::HOST));
        ip(&format!("link set {name} up"));
        ip(&format!("-n {name} address add 10.117.0.2/30 dev inner"));
        ip(&format!("-n {name} link set inner up"));
        namespace
    }

    fn set_link(&self, state: &str) {
        ip(&format!("-n {} link set inner {state}", self.0));
    }

    /// A command that runs inside.
    fn command(&self) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0]);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        Command::new("ip").args(["netns", "delete", &self.0]).status().map(drop).unwrap_or_default();
    }
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().expect("ip");
    assert!(status.success(), "ip {arguments}");
}

/// Runs the job, with `disturb` called again and again until it is completed. Returns the job.
fn run(cluster: &mut Cluster, time: &mut ProcessorTime, mut disturb: impl FnMut(&mut Cluster, Duration)) -> Value {
    // Without a limit of time, the rows do not depend on the time.
    let limits = json!({ "expanded": 15_000 });
    let random = json!({ "rows": 4, "cols": 4, "seed": "million", "count": BOARDS });
    let id = cluster.create(&json!({ "random": random, "limits": limits }));
    let begun = Instant::now();
    loop {
        time.read(cluster);
        let job = cluster.job(&id);
        if job["state"] == "completed" {
            assert_eq!(job["counts"], json!({ "total": BOARDS, "done": BOARDS, "failed": 0 }));
            return job;
        }
        assert!(begun.elapsed() < LONGEST, "{job}");
        disturb(cluster, begun.elapsed());
        sleep(Duration::from_millis(100));
    }
}

/// The files of the job.
fn files_of(scratch: &Scratch, job: &Value) -> BTreeMap<String, Vec<u8>> {
    shared_files(&path_of(&scratch.path("jobs"), job["id"].as_str().expect("an id")))
}

/// What happens to a job, by the time since its begin.
struct Disturbances {
    random: Random,
    kills: u32,
    stopped: Option<Process>,
    namespace: Namespace,
    link_is_down: bool,
}

impl Disturbances {
    fn new() -> Self {
        let namespace = Namespace::create();
        Self { random: Random(23), kills: 0, stopped: None, namespace, link_is_down: false }
    }

    fn step(&mut self, cluster: &mut Cluster, since: Duration) {
        if since >= GAP / 2 && !self.link_is_down && since < GAP * 3 / 2 {
            self.namespace.set_link("down");
            self.link_is_down = true;
        }
        if since >= GAP * 3 / 2 && self.link_is_down {
            self.namespace.set_link("up");
            self.link_is_down = false;
        }
        if self.kills == 0 && self.stopped.is_none() && since > PAUSE / 2 {
            let worker = cluster.workers.remove(0);
            worker.signal(Signal::STOP);
            self.stopped = Some(worker);
        }
        if since > PAUSE / 2 + GAP
            && let Some(worker) = self.stopped.take()
        {
            worker.signal(Signal::CONT);
            cluster.workers.push(worker);
        }
        if self.kills < KILLS && since > PAUSE * (self.kills + 1) {
            self.kills += 1;
            if self.kills == KILLS / 2 {
                cluster.lose_queue();
            } else {
                cluster.kill_one(&mut self.random);
            }
        }
    }
}

/// A run that nothing disturbs: its processor time, and the files.
fn undisturbed(nats_server: &str) -> (ProcessorTime, BTreeMap<String, Vec<u8>>) {
    let scratch = Scratch::new("million");
    let mut cluster = Cluster::start(nats_server, &scratch, &scratch.path("jobs"), 4);
    let mut time = ProcessorTime::default();
    let job = run(&mut cluster, &mut time, |_, _| ());
    print_row("undisturbed: processor time", "", format!("{:.0} s", time.all()));
    (time, files_of(&scratch, &job))
}

/// A run with disturbances: its processor time in seconds. Its files are those that are expected.
fn disturbed(nats_server: &str, expected: &BTreeMap<String, Vec<u8>>) -> f64 {
    let scratch = Scratch::new("million-disturbed");
    let mut disturbances = Disturbances::new();
    let mut cluster = Cluster::start_at(Namespace::HOST, nats_server, &scratch, &scratch.path("jobs"), 3);
    cluster.isolated = Some(cluster.worker_by(disturbances.namespace.command()));
    let mut time = ProcessorTime::default();
    let job = run(&mut cluster, &mut time, |cluster, since| disturbances.step(cluster, since));
    assert_eq!(disturbances.kills, KILLS, "the job ended before");
    let files = files_of(&scratch, &job);
    let different = expected.iter().filter(|(name, bytes)| files.get(*name) != Some(bytes));
    let names: Vec<&String> = different.map(|(name, _)| name).collect();
    assert!(names.is_empty() && files.len() == expected.len(), "{nats_server}: {names:?} differ");
    let path = path_of(&scratch.path("jobs"), job["id"].as_str().expect("an id"));
    assert_clean(&batch(&format!("--verify {path} --sample 1000")));
    time.all()
}

#[test]
#[ignore = "half an hour, and root: .ci/chaos"]
fn a_million_boards_have_a_row_each_whatever_happens() {
    let servers = nats_servers();
    let newest = servers.last().expect("a server");
    let (before, expected) = undisturbed(newest);
    let share = before.of("nats-server") / before.all();
    print_row("processor time of nats-server", "2 %", format!("{:.2} %", 100.0 * share));
    let times: Vec<f64> = servers.iter().rev().map(|server| disturbed(server, &expected)).collect();
    // The speed of the host varies within the hour by as much as the bound allows.
    let (after, files) = undisturbed(newest);
    let usual = (before.all() + after.all()) / 2.0;
    for (server, time) in servers.iter().rev().zip(&times) {
        let name = server.rsplit('/').next().expect("a name");
        let what = format!("{KILLS} kills, {name}: processor time ÷ mean of the undisturbed");
        print_row(&what, 1.15, format!("{:.3}", time / usual));
    }
    assert!(files == expected, "undisturbed runs have equal files");
    assert!(share <= 0.02, "{share}");
    assert!(times.iter().all(|time| time / usual <= 1.15), "{times:?}, {usual}");
}
