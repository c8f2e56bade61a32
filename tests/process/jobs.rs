//! `/jobs` of the service as a process: kills, a full disk, two processes, settings.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::batch::{Scratch, assert_clean, batch, count_parts, files, stderr_of};
use crate::chaos::boards::Random;
use crate::chaos::client::{Answer, TIMEOUT, request};
use crate::chaos::taquin::{BINARY, Taquin};

pub(crate) const MEMORY_MIB: u64 = 512;

fn start(directory: &str, flags: &[&str]) -> Taquin {
    Taquin::start(MEMORY_MIB, &[&["--tables=small", "--jobs", directory], flags].concat())
}

fn post(taquin: &Taquin, body: &Value) -> Answer {
    let answer = taquin.client().exchange(&request("POST", "/jobs", Some(body), ""));
    answer.unwrap_or_else(|end| panic!("{body}: {end:?}"))
}

pub(crate) fn parsed(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

fn created(taquin: &Taquin, body: &Value) -> String {
    parsed(&post(taquin, body).expect(202))["id"].as_str().expect("an id").to_owned()
}

pub(crate) fn job(taquin: &Taquin, id: &str) -> Value {
    parsed(&taquin.client().get(&format!("/jobs/{id}")).expect(200))
}

/// Waits until a job meets a condition.
fn wait_for(taquin: &Taquin, id: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        let job = job(taquin, id);
        if holds(&job) {
            return job;
        }
        assert!(begun.elapsed() < TIMEOUT, "{what}: {job}");
        sleep(Duration::from_millis(5));
    }
}

fn wait_until_completed(taquin: &Taquin, id: &str) -> Value {
    wait_for(taquin, id, "completed", |job| job["state"] == "completed")
}

/// The directory of a job.
pub(crate) fn path_of(directory: &str, id: &str) -> String {
    let record = fs::read(Path::new(directory).join("jobs").join(format!("{id}.json"))).expect("a record");
    let record: Value = serde_json::from_slice(&record).expect("JSON");
    format!("{directory}/data/{}", record["folder"].as_str().expect("a name"))
}

/// The files of a job that the command makes too, by name.
pub(crate) fn shared_files(path: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = files(path);
    files.retain(|name, _| name.starts_with("parts/") || ["spec.json", "end.json"].contains(&name.as_str()));
    files
}

/// Chunks of one board of some milliseconds. The limit on time is never reached.
pub(crate) fn large_boards(count: u64) -> Value {
    let limits = json!({ "expanded": 2000, "time_ms": 60_000 });
    json!({ "random": { "rows": 5, "cols": 5, "seed": "kill", "count": count }, "limits": limits })
}

/// The directory of a job of [`large_boards`] that the command has made.
pub(crate) fn undisturbed(scratch: &Scratch, count: u64) -> String {
    let whole = scratch.path("whole");
    let arguments = "--random 5x5 --seed kill --board-expanded 2000 --board-time 60s --chunk 1";
    assert_clean(&batch(&format!("{arguments} --count {count} -o {whole}")));
    whole
}

#[test]
fn a_service_that_is_killed_again_and_again_makes_the_same_files() {
    let scratch = Scratch::new("jobs-kill");
    let (jobs, whole) = (scratch.path("jobs"), undisturbed(&scratch, 300));
    let mut taquin = start(&jobs, &[]);
    let id = created(&taquin, &large_boards(300));
    let path = path_of(&jobs, &id);
    let mut random = Random(23);
    let mut kills = 0;
    while kills < 8 && count_parts(&path) < 280 {
        let before = count_parts(&path);
        while count_parts(&path) < (before + random.below(30)).min(280) {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_micros(random.below(20_000) as u64));
        drop(taquin);
        kills += 1;
        taquin = start(&jobs, &[]);
    }
    assert!(kills >= 3, "only {kills} kills");
    let job = wait_until_completed(&taquin, &id);
    assert_eq!(job["counts"], json!({ "total": 300, "done": 300, "failed": 0 }));
    assert_eq!(shared_files(&path), shared_files(&whole), "after {kills} kills");
    assert_clean(&batch(&format!("--verify {path} --sample 20")));
    taquin.end("kills in a job");
}

#[test]
fn a_job_that_was_accepted_survives_a_kill() {
    let scratch = Scratch::new("jobs-accepted");
    let jobs = scratch.path("jobs");
    let mut random = Random(5);
    let mut ids = Vec::new();
    for count in 1..=20 {
        let taquin =
            Taquin::spawn(Command::new(BINARY), MEMORY_MIB, &["--tables=small", "--jobs", &jobs, "--max-jobs=99"]);
        let mut client = taquin.client();
        let recipe = json!({ "random": { "rows": 3, "cols": 3, "seed": "kill", "count": count * 1000 } });
        let answer = client.exchange(&request("POST", "/jobs", Some(&recipe), "")).expect("an answer").expect(202);
        ids.push(parsed(&answer)["id"].as_str().expect("an id").to_owned());
        sleep(Duration::from_micros(random.below(3000) as u64));
    }
    let taquin = start(&jobs, &[]);
    for (id, count) in ids.iter().zip(1..) {
        assert_eq!(wait_until_completed(&taquin, id)["counts"]["done"], count * 1000);
    }
    taquin.end("kills after acceptance");
}

#[test]
fn a_directory_has_one_process() {
    let scratch = Scratch::new("jobs-lock");
    let jobs = scratch.path("jobs");
    let taquin = start(&jobs, &[]);
    let mut second = Command::new(BINARY);
    let second = second.args(["--listen=127.0.0.1:0", "--tables=small", "--jobs", &jobs]).output().expect("the binary");
    assert_eq!(second.status.code(), Some(1), "{}", stderr_of(&second));
    assert!(stderr_of(&second).contains(&jobs), "{}", stderr_of(&second));
    taquin.end("a directory with its owner");
    start(&jobs, &[]).end("a directory whose owner has gone");
}

#[test]
fn a_directory_stays_with_its_process_without_the_lock_file() {
    let scratch = Scratch::new("jobs-owner");
    let jobs = scratch.path("jobs");
    let taquin = start(&jobs, &[]);
    for replace in [false, true] {
        fs::remove_file(Path::new(&jobs).join("lock")).expect("a lock");
        if replace {
            fs::write(Path::new(&jobs).join("lock"), "").expect("it is written");
        }
        let mut second = Command::new(BINARY);
        let second = second.args(["--listen=127.0.0.1:0", "--tables=small", "--jobs", &jobs]).output();
        let second = second.expect("the binary");
        assert_eq!(second.status.code(), Some(1), "{}", stderr_of(&second));
        // The refused one has created it again.
        assert_eq!(Path::new(&jobs).join("lock").exists(), replace);
        fs::write(Path::new(&jobs).join("lock"), "").expect("it is written");
    }
    let outputs = ["", "/data/new", "/jobs", "/rows.csv", "/data/rows.ndjson"];
    let command = |output: &str| batch(&format!("--random 3x3 --seed s --count 5 -o {jobs}{output}"));
    for output in outputs {
        let refused = command(output);
        assert_eq!(refused.status.code(), Some(1), "{output}: {}", stderr_of(&refused));
        assert!(stderr_of(&refused).contains("running service"), "{output}: {}", stderr_of(&refused));
    }
    let names = |folder: &str| fs::read_dir(format!("{jobs}{folder}")).expect("a folder").count();
    assert_eq!((names(""), names("/data"), names("/jobs")), (3, 0, 0));
    let id = created(&taquin, &large_boards(5));
    wait_until_completed(&taquin, &id);
    assert_clean(&batch(&format!("--verify {}", path_of(&jobs, &id))));
    taquin.end("a directory with its owner");
    for output in outputs {
        assert_clean(&command(output));
    }
}

#[test]
fn a_killed_command_leaves_no_temporary_files_to_the_next_one() {
    let scratch = Scratch::new("jobs-left");
    let whole = undisturbed(&scratch, 30);
    for folder in ["", "/parts"] {
        for name in ["spec.json", "end.json", "0000000029.tqp"] {
            fs::write(format!("{whole}{folder}/{name}.0123456789abcdef.tmp"), "half").expect("it is written");
        }
    }
    fs::remove_file(format!("{whole}/end.json")).expect("an end");
    let _ = undisturbed(&scratch, 30);
    let left = files(&whole).into_keys().filter(|name| name.ends_with(".tmp"));
    assert_eq!(left.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_deletion_is_logged_once_however_often_it_is_requested() {
    let scratch = Scratch::new("jobs-deleted");
    let taquin = start(&scratch.path("jobs"), &["--log=info"]);
    let ids: Vec<String> = (1..=5).map(|count| created(&taquin, &large_boards(count))).collect();
    for id in &ids {
        wait_until_completed(&taquin, id);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| taquin.client().exchange(&request("DELETE", &format!("/jobs/{id}"), None, "")));
            }
        });
    }
    let deleted = || taquin.lines().iter().filter(|line| line["message"] == "job deleted").count();
    let begun = Instant::now();
    while deleted() < ids.len() && begun.elapsed() < TIMEOUT {
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(300));
    assert_eq!(deleted(), ids.len());
    taquin.end("deletions at once");
}

#[test]
fn jobs_need_tokens_unless_the_service_listens_on_loopback() {
    let scratch = Scratch::new("jobs-tokens");
    let tokens = scratch.path("tokens");
    fs::write(&tokens, "a-token-of-a-test\n").unwrap();
    let check = |flags: &[&str]| {
        let mut command = Command::new(BINARY);
        command.args(["--check-config", "--jobs", &scratch.path("jobs")]).args(flags);
        command.output().expect("the binary")
    };
    let open = check(&["--listen=0.0.0.0:0"]);
    assert_eq!(open.status.code(), Some(2), "{}", stderr_of(&open));
    assert!(stderr_of(&open).contains("--token-file") && stderr_of(&open).contains("--jobs"), "{}", stderr_of(&open));
    for flags in
        [&["--listen=127.0.0.1:0"][..], &["--listen=[::1]:0"], &["--listen=0.0.0.0:0", "--token-file", &tokens]]
    {
        assert_clean(&check(flags));
    }
}

/// Mounts a small disk, and enlarges it when a file appears. Then it executes the service.
const SMALL_DISK: &str = r#"
mount -t tmpfs -o size=300k none "$0" || exit 99
( until [ -e "$0.room" ]; do sleep 0.05; done; mount -o remount,size=8m "$0" ) &
exec "$@"
"#;

#[test]
fn on_a_full_disk_jobs_wait_for_room() {
    let can = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: no namespace to mount a disk in");
        return;
    }
    let scratch = Scratch::new("jobs-disk");
    let disk = scratch.path("disk");
    fs::create_dir(&disk).unwrap();
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", SMALL_DISK, &disk, BINARY]);
    let flags = ["--tables=small", "--jobs", &disk, "--max-jobs=99"];
    let taquin = Taquin::spawn(command, MEMORY_MIB, &flags);
    let recipe = |count: u64| json!({ "random": { "rows": 3, "cols": 3, "seed": "disk", "count": count } });
    let mut ids = vec![created(&taquin, &recipe(1_000_000))];
    wait_for(&taquin, &ids[0], "the disk is full", |job| job["waiting_for"] == "disk");
    // Descriptions are smaller than parts, but in the end there is no room for one either.
    let refused = loop {
        let answer = post(&taquin, &recipe(1));
        if answer.status != 202 {
            break answer.expect(507);
        }
        ids.push(parsed(&answer)["id"].as_str().expect("an id").to_owned());
        assert!(ids.len() < 99, "the disk is never full");
    };
    assert_eq!(parsed(&refused)["type"], "/problems/storage-full");
    assert!(job(&taquin, &ids[0])["ended_at"].is_null());
    fs::write(format!("{disk}.room"), "").unwrap();
    for id in &ids {
        let job = wait_until_completed(&taquin, id);
        assert_eq!((&job["waiting_for"], &job["counts"]["failed"]), (&Value::Null, &json!(0)));
    }
    assert_eq!(taquin.lines_at("ERROR"), [Value::Null; 0]);
}
