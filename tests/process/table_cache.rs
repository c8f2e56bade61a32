//! Table files cached between runs. Solutions are correct whatever happens to the files.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use taquin::domain::Size;
use taquin::search::heuristic::{GoalClass, Tier};
use taquin::service::Tables;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

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

/// A service process, killed when dropped.
struct Service {
    child: Child,
    address: String,
    lines: std::io::Lines<BufReader<Box<dyn Read + Send>>>,
    warnings: Vec<String>,
}

impl Service {
    fn start(directory: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_taquin"))
            .args(["--listen=127.0.0.1:0", "--tables=standard", "--log=info", "--log-format=json", "--table-cache"])
            .arg(directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output: Box<dyn Read + Send> = Box::new(child.stdout.take().unwrap().chain(child.stderr.take().unwrap()));
        let mut service =
            Self { child, address: String::new(), lines: BufReader::new(output).lines(), warnings: Vec::new() };
        let listening = service.wait_for("listening");
        service.address = listening.split("\"addr\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        service
    }

    /// Reads the log up to a line.
    fn wait_for(&mut self, what: &str) -> String {
        loop {
            let line = self.lines.next().expect("the log goes on").unwrap();
            if line.contains("\"WARN\"") {
                self.warnings.push(line.clone());
            }
            if line.contains(what) {
                return line;
            }
        }
    }

    fn solve(&self, board: &str, goal: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = format!("{{\"board\":\"{board}\",\"goal\":\"{goal}\",\"limits\":{{\"time_ms\":60000}}}}");
        let length = body.len();
        let head = "POST /solve HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json";
        write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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
        let service = Service::start(&directory.0);
        while directory.find("part").is_none() && directory.find("tables").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(120), "no file is being written");
            std::thread::sleep(Duration::from_micros(200));
        }
        drop(service);
    }
    assert_eq!(directory.find("tables"), None);

    let mut service = Service::start(&directory.0);
    service.wait_for("standard tables are ready");
    assert!(
        service.warnings.len() == 1 && service.warnings[0].contains("file is incomplete"),
        "{:?}",
        service.warnings
    );
    let answer = service.solve("14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", "blank_first");
    assert!(answer.contains("\"length\":57") && answer.contains("\"optimal\":true"), "{answer}");
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
    let mut service = Service::start(&directory.0);
    service.wait_for("standard tables are ready");
    let boards = ["14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", "13 5 4 10 9 12 8 14 2 3 7 1 0 15 11 6"];
    for (board, length) in boards.into_iter().zip([57, 55]) {
        let answer = service.solve(board, "blank_first");
        let length = format!("\"length\":{length}");
        assert!(answer.contains(&length) && answer.contains("\"optimal\":true"), "{answer}");
    }
    assert!(service.wait_for("were dropped").contains("\"ERROR\""));
    service.wait_for("more tables are ready");
    assert!(fs::read(&file).unwrap() == right, "the file is replaced");
}

#[test]
fn wrong_tables_that_arrive_during_a_search_are_dropped_and_the_search_is_repeated() {
    let directory = Directory::new();
    let goal_blank = 9;
    assert_eq!(load_of(GoalClass::of(Size::try_from((4, 4)).unwrap(), goal_blank), &directory.0), [""; 0]);
    falsify(&directory.find("tables").unwrap());
    let mut service = Service::start(&directory.0);
    // The search begins with the small tables, and takes seconds with them.
    let answer = service.solve("10 9 8 7 11 0 15 6 12 13 14 4 1 2 3 5", "snail");
    assert!(answer.contains("\"length\":67") && answer.contains("\"optimal\":true"), "{answer}");
    assert!(service.wait_for("were dropped").contains("\"ERROR\""));
}
