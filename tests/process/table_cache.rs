//! Table files cached between runs. Solutions are correct whatever happens to the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use taquin::domain::Size;
use taquin::search::heuristic::{GoalClass, Tier};
use taquin::service::Tables;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

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
    let damages: [(&str, Damage); 5] = [
        ("hash", |bytes| bytes[20_000_000] ^= 4),
        ("hash", |bytes| *bytes.last_mut().unwrap() ^= 128),
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

/// Inverts the bits of all entries in a file, and stores the hash of the result.
fn falsify(file: &Path) {
    use sha2::{Digest, Sha256};
    let mut bytes = fs::read(file).unwrap();
    let content = bytes.len() - 32;
    // The header is shorter than this.
    bytes[100..content].iter_mut().for_each(|byte| *byte ^= 0xff);
    let hash = Sha256::digest(&bytes[..content]);
    bytes[content..].copy_from_slice(&hash);
    fs::write(file, bytes).unwrap();
}

#[test]
fn wrong_tables_with_a_right_hash_are_dropped_and_the_search_is_repeated() {
    let directory = Directory::new();
    assert_eq!(load(&directory.0), [""; 0]);
    let file = directory.find("tables").unwrap();
    let right = fs::read(&file).unwrap();
    falsify(&file);
    let service = start(&directory.0);
    service.wait_for_message("standard tables are ready");
    assert_length(&service, "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", "blank_first", 57);
    assert_length(&service, "13 5 4 10 9 12 8 14 2 3 7 1 0 15 11 6", "blank_first", 55);
    let dropped =
        service.wait_for_message("wrong tables of 4×4 boards, blank in cell 0, were dropped and are built anew");
    assert_eq!(dropped["level"], "ERROR");
    service.wait_for_message("more tables are ready");
    assert!(fs::read(&file).unwrap() == right, "the file is replaced");
}

#[test]
fn wrong_tables_that_arrive_during_a_search_are_dropped_and_the_search_is_repeated() {
    let directory = Directory::new();
    let goal_blank = 9;
    assert_eq!(load_of(GoalClass::of(Size::try_from((4, 4)).unwrap(), goal_blank), &directory.0), [""; 0]);
    falsify(&directory.find("tables").unwrap());
    // The startup tables are read from a file as well, so those of the search are next.
    assert_eq!(load(&directory.0), [""; 0]);
    // If the search, which begins with the small tables and takes seconds, ended before the tables arrived, try again.
    let dropped = (0..5).any(|_| {
        let service = start(&directory.0);
        assert_length(&service, "10 9 8 7 11 0 15 6 12 13 14 4 1 2 3 5", "snail", 67);
        service.wait_for_message("job finished");
        !service.lines_at("ERROR").is_empty()
    });
    assert!(dropped, "no tables were dropped");
}
