//! Table files cached between runs. Solutions are correct whatever happens to the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use taquin::service::Tables;
use taquin_solver::Size;
use taquin_solver::heuristic::{GoalClass, Tier};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::chaos::boards::Random;
use crate::chaos::taquin::{BINARY, Taquin};

/// A directory, removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("taquin-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// The only file with this extension.
    fn find(&self, extension: &str) -> Option<PathBuf> {
        let mut files = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| path.extension().is_some_and(|other| other == extension))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Collects warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Text(String);
        impl Visit for Text {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                self.0 += &format!("{}={value:?} ", field.name());
            }
        }
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap().push(text.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Loads the standard tables of 15-puzzles with the blank in a corner from a directory, and returns the warnings.
fn load(directory: &Path) -> Vec<String> {
    load_of(GoalClass::corner_of_4x4(), directory)
}

fn load_of(class: GoalClass, directory: &Path) -> Vec<String> {
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        let tables = Tables::new(u64::MAX, Some(directory.to_owned()));
        tables.improve(class, Tier::Standard);
        assert!(tables.entries().iter().any(|entry| entry.size.ends_with("7-7-1")));
    });
    let warnings = warnings.0.lock().unwrap();
    warnings.clone()
}

#[test]
fn a_damaged_file_is_logged_once_and_rebuilt() {
    let directory = Directory::new();
    assert_eq!(load(&directory.0), [""; 0], "a missing file is not logged");
    let file = directory.find("tables").unwrap();
    let whole = fs::read(&file).unwrap();
    assert_eq!(load(&directory.0), [""; 0]);
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 6] = [
        ("hash", |bytes| bytes[20_000_000] ^= 4),
        ("hash", |bytes| *bytes.last_mut().unwrap() ^= 128),
        ("hash", |bytes| bytes[100..].fill(0)),
        ("short", |bytes| bytes.truncate(30_000_001)),
        ("long", |bytes| bytes.push(0)),
        ("different patterns", |bytes| bytes[9] = 5),
    ];
    for (word, damage) in damages {
        let mut damaged = whole.clone();
        damage(&mut damaged);
        fs::write(&file, &damaged).unwrap();
        let warnings = load(&directory.0);
        assert!(warnings.len() == 1 && warnings[0].contains(word), "{warnings:?}");
        assert!(fs::read(&file).unwrap() == whole, "the rebuilt file differs");
    }
    assert_eq!(directory.find("part"), None);
}

#[test]
fn tables_are_used_even_if_they_cannot_be_cached() {
    let directory = Directory::new();
    let file = directory.0.join("a file");
    fs::write(&file, "").unwrap();
    // Neither path can be used as a cache. A load that waited for the lock forever would hang here.
    fs::create_dir(directory.0.join("lock")).unwrap();
    for place in [&file, &directory.0] {
        let warnings = load(place);
        assert!(warnings.len() == 1 && warnings[0].contains("could not be cached"), "{warnings:?}");
        assert!(warnings[0].contains(&*place.to_string_lossy()), "{warnings:?}");
    }
}

/// The service with these table files, when it listens.
fn start(directory: &Path) -> Taquin {
    let cache = format!("--table-cache={}", directory.display());
    Taquin::spawn(Command::new(BINARY), 4096, &["--tables=standard", "--log=info", &cache])
}

/// Asserts the optimal length of a board.
#[track_caller]
fn assert_length(service: &Taquin, board: &str, goal: &str, length: u64) {
    let question = json!({ "board": board, "goal": goal, "limits": { "time_ms": 60_000 } });
    let answer = service.client().solve(&question).expect(200).body;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["length"], &answer["optimal"]), (&json!(length), &json!(true)), "{answer}");
}

#[test]
fn a_file_left_by_a_killed_process_is_not_used() {
    let directory = Directory::new();
    let begun = Instant::now();
    // If the process finished writing before it was killed, try again.
    while directory.find("part").is_none() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no file is being written");
        if let Some(file) = directory.find("tables") {
            fs::remove_file(file).unwrap();
        }
        let service = start(&directory.0);
        while directory.find("part").is_none() && directory.find("tables").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(120), "no file is being written");
            std::thread::sleep(Duration::from_micros(200));
        }
        drop(service);
    }
    assert_eq!(directory.find("tables"), None);

    let service = start(&directory.0);
    service.wait_for_message("standard tables are ready");
    let warnings = service.lines_at("WARN");
    assert!(warnings.len() == 1 && warnings[0].to_string().contains("file is incomplete"), "{warnings:?}");
    assert_length(&service, "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", "blank_first", 57);
    assert!(directory.find("part").is_none() && directory.find("tables").is_some());
}

/// Other tables than the right ones, with a right header and length.
fn forgeries(right: &[u8]) -> Vec<(String, Vec<u8>)> {
    /// The header is shorter than this.
    const HEADER: usize = 100;
    let mut random = Random(5);
    let mut forge = |name: &str, forge: &mut dyn FnMut(&mut [u8], &mut Random)| {
        let mut bytes = right.to_vec();
        forge(&mut bytes[HEADER..], &mut random);
        (name.to_owned(), bytes)
    };
    let mut forged = vec![
        forge("zeros", &mut |bits, _| bits.fill(0)),
        forge("inverted bits", &mut |bits, _| bits.iter_mut().for_each(|byte| *byte ^= 0xff)),
        forge("random bytes", &mut |bits, random| bits.iter_mut().for_each(|byte| *byte = random.below(256) as u8)),
        forge("a bit in a thousand bytes", &mut |bits, random| {
            bits.chunks_mut(1000).for_each(|bytes| bytes[random.below(bytes.len())] ^= 1 << random.below(8));
        }),
        forge("one bit", &mut |bits, random| bits[random.below(bits.len())] ^= 1 << random.below(8)),
    ];
    for kilobytes in [30, 300, 3000] {
        forged.push(forge(&format!("{kilobytes} kB of zeros"), &mut |bits, random| {
            let length = (1000 * kilobytes).min(bits.len() / 2);
            let first = random.below(bits.len() - length);
            bits[first..first + length].fill(0);
        }));
    }
    for shift in [1, 8, 4096] {
        forged.push(forge(&format!("shifted by {shift}"), &mut |bits, _| bits.rotate_right(shift)));
    }
    forged.retain(|(_, bytes)| bytes != right);
    forged
}

/// Checks that no forgery of a file is used, and that the file is replaced.
fn assert_forgeries_are_refused(class: GoalClass, tier: Tier) {
    let directory = Directory::new();
    let load = || {
        let warnings = Warnings::default();
        tracing::subscriber::with_default(warnings.clone(), || {
            Tables::new(u64::MAX, Some(directory.0.clone())).improve(class, tier);
        });
        warnings.0.lock().unwrap().clone()
    };
    assert_eq!(load(), [""; 0]);
    let file = directory.find("tables").unwrap();
    let right = fs::read(&file).unwrap();
    assert_eq!(load(), [""; 0], "the right file is accepted");
    for (name, forged) in forgeries(&right) {
        fs::write(&file, forged).unwrap();
        let warnings = load();
        let is_named = |warning: &String| warning.contains("wrong hash") && warning.contains(&*file.to_string_lossy());
        assert!(warnings.len() == 1 && is_named(&warnings[0]), "{class:?}, {name}: {warnings:?}");
        assert!(fs::read(&file).unwrap() == right, "{class:?}, {name}: the file is replaced");
    }
}

#[test]
#[ignore = "builds tables again and again: minutes, and a gigabyte"]
fn no_forgery_of_any_kind_of_table_file_is_used() {
    let class = |rows, cols, goal_blank| GoalClass::of(Size::try_from((rows, cols)).unwrap(), goal_blank);
    for (class, tier) in [
        (class(4, 4, 0), Tier::Standard),
        (class(4, 4, 5), Tier::Standard),
        (class(4, 4, 0), Tier::Large),
        (class(5, 5, 0), Tier::Standard),
        (class(3, 5, 0), Tier::Standard),
        (class(2, 8, 1), Tier::Standard),
    ] {
        assert_forgeries_are_refused(class, tier);
    }
}

#[test]
fn every_answer_is_right_after_a_forged_file() {
    let directory = Directory::new();
    assert_eq!(load(&directory.0), [""; 0]);
    let file = directory.find("tables").unwrap();
    let right = fs::read(&file).unwrap();
    let forged = &forgeries(&right)[1].1;
    fs::write(&file, forged).unwrap();
    let cache = format!("--table-cache={}", directory.0.display());
    let jobs = format!("--jobs={}", directory.0.join("jobs").display());
    let service = Taquin::spawn(Command::new(BINARY), 4096, &["--tables=standard", "--log=info", &cache, &jobs]);
    service.wait_for_message("standard tables are ready");
    let warnings = service.lines_at("WARN");
    assert!(warnings.len() == 1 && warnings[0].to_string().contains("wrong hash"), "{warnings:?}");
    let [korf, length, goal] = ["14,13,15,7,11,12,9,5,6,0,2,1,4,8,10,3", "57", "blank_first"];
    for (request, expected) in [
        (format!("/solve?board={korf}&goal={goal}"), format!("\"length\":{length},\"optimal\":true")),
        (format!("/explain?board={korf}&goal={goal}"), "\"name\":\"pattern_database\",\"h\":51,".to_owned()),
        (format!("/hint?board={korf}&goal={goal}"), format!("\"length\":{length},\"optimal\":true")),
        (format!("/moves?board={korf}&goal={goal}"), format!("\"optimal_length\":{length}")),
        (format!("/verify?board={korf}&goal={goal}&moves=&exact=true"), format!("\"optimal_length\":{length}")),
        (format!("/random?rows=4&cols=4&length=40&seed=s&goal={goal}"), "\"length\":40".to_owned()),
    ] {
        let answer = service.client().get(&request).expect(200).body;
        assert!(answer.contains(&expected), "{request}: {expected} is not in {answer}");
    }
    let rows = format!("[{korf}]\n");
    let upload = |path: &str| {
        let head = format!("POST {path}?goal={goal} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n");
        let request = format!("{head}Content-Length: {}\r\n\r\n{rows}", rows.len());
        service.client().exchange(request.as_bytes()).expect("an answer")
    };
    let expected = format!("\"length\":{length},\"optimal\":true");
    let answer = upload("/batch").expect(200).body;
    assert!(answer.contains(&expected), "{answer}");
    let job: Value = serde_json::from_str(&upload("/jobs").expect(202).body).unwrap();
    service.wait_for_message("job ended");
    let answer = service.client().get(&format!("/jobs/{}/results", job["id"].as_str().unwrap())).expect(200).body;
    assert!(answer.contains(&expected), "{answer}");
    drop(service);
    assert!(fs::read(&file).unwrap() == right, "the file is replaced");
    // The command names the file too.
    fs::write(&file, forged).unwrap();
    let boards = directory.0.join("boards.ndjson");
    fs::write(&boards, rows).unwrap();
    let mut batch = Command::new(BINARY);
    batch.args(["batch", "--tables=standard", "--goal", goal]).arg("--table-cache").arg(&directory.0).arg(&boards);
    let output = batch.output().unwrap();
    let (rows, log) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(rows, format!("{{\"line\":1,\"length\":{length},\"optimal\":true}}\n"));
    assert!(log.contains("wrong hash") && log.contains(file.to_str().unwrap()), "{log}");
    assert!(fs::read(&file).unwrap() == right, "the command replaces the file too");
}
