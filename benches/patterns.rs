//! Boards of 10 to 16 cells, proven optimal with pattern tables.
//!
//! `cargo bench --bench patterns` prints times, nodes and tables; words after `--` choose sections:
//! `korf` and `goals` in process and on one thread, `http` over HTTP, with start-up time and memory.

mod common;

use std::hint::black_box;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Server, SplitMix, board, free_address, job};
use taquin::domain::{Board, Move, Size, random_board};
use taquin::search::heuristic::{GoalClass, Tier};
use taquin::search::{Algorithm, HeuristicKind};
use taquin::service::{Means, Tables, solve};

/// As the service has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A 15-puzzle that others have solved.
#[derive(Clone, Copy)]
struct Instance {
    start: Board,
    goal: Board,
    /// Its optimal length.
    length: u32,
    /// Nodes that IDA* with Manhattan generates, where they were published.
    nodes: Option<f64>,
}

fn instances(text: &str, goal: fn(Size) -> Board) -> Vec<Instance> {
    let instance = |line: &str| {
        let numbers: Vec<&str> = line.split_whitespace().collect();
        let start = board(&numbers[1..17].chunks(4).map(|row| row.join(" ")).collect::<Vec<_>>().join("/"));
        let length = numbers[17].parse().expect("a length");
        let nodes = numbers.get(19).map(|nodes| nodes.parse().expect("a number"));
        Instance { start, goal: goal(start.size()), length, nodes }
    };
    text.lines().filter(|line| !line.starts_with('#')).map(instance).collect()
}

/// Korf's boards and those at 80 moves, proven optimal by `auto` with the tables of each tier, on one
/// thread; the ratio is to IDA* with Manhattan: measured on the easiest, and for all as long as its
/// published nodes take at the speed measured.
fn korf() {
    let korf = instances(include_str!("data/korf15.txt"), Board::blank_first);
    let hard = instances(include_str!("data/hard15.txt"), Board::blank_last);
    let easy: Vec<_> = korf.iter().copied().filter(|instance| instance.length <= 47).collect();
    let tables = Tables::default();
    tables.build_cheap();
    println!("\n15-puzzles proven optimal on one thread, ms a board");
    println!(
        "{:<34} {:>6} {:>9} {:>9} {:>9} {:>12} {:>12} {:>9}",
        "boards, heuristic and tables", "boards", "mean", "median", "worst", "generated", "generated/s", "ratio"
    );
    let manhattan = (Some(Algorithm::IdaStar), Some(HeuristicKind::Manhattan));
    let speed = proven("Korf's up to 47 moves, manhattan", &easy, manhattan, &tables, None);
    for (tier, name) in [(Tier::Small, "small"), (Tier::Standard, "standard"), (Tier::Large, "large")] {
        tables.improve(GoalClass::corner_of_4x4(), tier);
        for (boards, set) in [("Korf's up to 47 moves", &easy), ("Korf's", &korf), ("at 80 moves", &hard)] {
            proven(&format!("{boards}, {name}"), set, (None, None), &tables, Some(speed));
        }
    }
    for entry in tables.entries().iter().filter(|entry| entry.name == "patterns") {
        println!("{}: {} bytes, built in {:.2?}", entry.size, entry.bytes, entry.build_time);
    }
}

/// Random boards of the shapes and goals that have patterns, `auto` on one thread: those of the
/// 15-puzzle with the standard tables of each class, others with what they have.
fn goals() {
    let tables = Tables::default();
    println!("\nrandom boards by shape and the blank's goal, auto on one thread, ms a board");
    println!(
        "{:<34} {:>6} {:>9} {:>9} {:>9} {:>12} {:>12} {:>9}",
        "shape and goal", "boards", "mean", "median", "worst", "generated", "generated/s", "tables, s"
    );
    for (rows, cols, goals, count) in [
        (4, 4, [0, 1, 5].as_slice(), 100),
        (3, 4, &[0, 1, 4, 5], 100),
        (4, 3, &[0], 100),
        (3, 5, &[0, 2, 7], 50),
        (2, 7, &[0, 3], 50),
        (2, 8, &[0, 3], 20),
    ] {
        for goal_blank in goals {
            let size = Size::try_from((rows, cols)).expect("a shape");
            let mut goal = Board::blank_first(size);
            while size.row_of(goal.blank()) < size.row_of(*goal_blank) {
                goal.make(Move::Down);
            }
            while size.col_of(goal.blank()) < size.col_of(*goal_blank) {
                goal.make(Move::Right);
            }
            let begun = Instant::now();
            let any = job(goal, goal, None, Some(HeuristicKind::PatternDatabase));
            solve(&any, &tables, Means::default()).expect("a report");
            tables.improve(GoalClass::of(size, *goal_blank), Tier::Standard);
            let built = begun.elapsed().as_secs_f64();
            let mut random = SplitMix(7);
            let (mut times, mut nodes) = (Vec::new(), 0);
            for _ in 0..count {
                let job = job(random_board(&goal, &mut random), goal, None, None);
                let begun = Instant::now();
                let report = solve(black_box(&job), &tables, Means::default()).expect("a report");
                times.push(begun.elapsed().as_secs_f64() * 1e3);
                assert!(report.is_optimal());
                nodes += report.stats.generated;
            }
            times.sort_unstable_by(f64::total_cmp);
            let total = times.iter().sum::<f64>();
            println!(
                "{:<34} {count:>6} {:>9.3} {:>9.3} {:>9.2} {nodes:>12} {:>12.3e} {built:>9.2}",
                format!("{size}, blank to cell {goal_blank}"),
                total / count as f64,
                times[count / 2],
                times[count - 1],
                nodes as f64 / total * 1e3,
            );
        }
    }
}

/// Solves boards one after another, prints a line, and gives the nodes generated in a second.
fn proven(
    name: &str,
    boards: &[Instance],
    (algorithm, heuristic): (Option<Algorithm>, Option<HeuristicKind>),
    tables: &Tables,
    manhattan: Option<f64>,
) -> f64 {
    let (mut times, mut nodes) = (Vec::new(), 0);
    for instance in boards {
        let job = job(instance.start, instance.goal, algorithm, heuristic);
        let begun = Instant::now();
        let report = solve(black_box(&job), tables, Means::default()).expect("a report");
        times.push(begun.elapsed().as_secs_f64() * 1e3);
        assert_eq!((report.lower_bound, report.is_optimal()), (instance.length, true));
        nodes += report.stats.generated;
    }
    let (total, count) = (times.iter().sum::<f64>(), times.len());
    times.sort_unstable_by(f64::total_cmp);
    let published: Option<f64> = boards.iter().map(|instance| instance.nodes).sum();
    let ratio = manhattan.zip(published).map(|(speed, nodes)| nodes / speed * 1e3 / total);
    let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.0}"));
    let speed = nodes as f64 / total * 1e3;
    println!(
        "{name:<34} {count:>6} {:>9.3} {:>9.3} {:>9.2} {nodes:>12} {speed:>12.3e} {ratio:>9}",
        total / count as f64,
        times[count / 2],
        times[count - 1],
    );
    speed
}

/// Gets a page from the service, and its body if the status is 200.
fn ask(address: std::net::SocketAddr, head: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_nodelay(true).expect("no delay");
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).expect("a request sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n")?;
    head.starts_with("HTTP/1.1 200").then(|| body.to_owned())
}

/// A line of `/proc`'s account of a process, in MB.
fn memory(server: &Server, what: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).and_then(|line| line.split_whitespace().next());
    line.and_then(|kib| kib.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}

/// Korf's boards one after another over HTTP, against the same in process; the hardest with all
/// workers.
fn http() {
    let korf = instances(include_str!("data/korf15.txt"), Board::blank_first);
    let hard = instances(include_str!("data/hard15.txt"), Board::blank_last);
    let tables = Tables::default();
    common::build_standard(&tables);
    println!("\nover HTTP, standard tables");
    for workers in ["1", "2"] {
        let address = free_address();
        let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
        command.args(["--listen", &address.to_string(), "--workers", workers]);
        let begun = Instant::now();
        let server = Server::start(command, address);
        let wait_for = |head: &str, what: &str| {
            while !ask(address, head, "").is_some_and(|body| body.contains(what)) {
                assert!(begun.elapsed() < Duration::from_secs(60), "{head} never told of {what}");
                std::thread::sleep(Duration::from_millis(1));
            }
            begun.elapsed().as_secs_f64() * 1e3
        };
        println!("{workers} workers: ready after {:.0} ms", wait_for("GET /readyz", ""));
        println!("standard tables after {:.0} ms", wait_for("GET /info", "7-7-1"));
        std::thread::sleep(Duration::from_secs(1));
        println!("idle: {:.1} MB, at most {:.1} MB before", memory(&server, "VmRSS:"), memory(&server, "VmHWM:"));
        for (name, boards) in [("Korf's", &korf), ("at 80 moves", &hard)] {
            let mut times = [Vec::new(), Vec::new()];
            for instance in boards.iter().filter(|_| workers == "1" || name != "Korf's") {
                let goal = instance.goal.rows().map(<[u8]>::to_vec).collect::<Vec<_>>();
                let start = instance.start.rows().map(<[u8]>::to_vec).collect::<Vec<_>>();
                let body = serde_json::json!({ "board": start, "goal": goal }).to_string();
                let job = job(instance.start, instance.goal, None, None);
                let begun = Instant::now();
                solve(black_box(&job), &tables, Means::default()).expect("a report");
                times[0].push(begun.elapsed().as_secs_f64() * 1e3);
                let begun = Instant::now();
                let answer = ask(address, "POST /solve", &body).expect("a solution");
                times[1].push(begun.elapsed().as_secs_f64() * 1e3);
                assert!(answer.contains("\"optimal\":true"), "{answer}");
            }
            if !times[0].is_empty() {
                let [alone, asked] = times.map(|times| times.iter().sum::<f64>() / times.len() as f64);
                println!("{name}: {asked:.3} ms a board, a connection each; in process on one thread {alone:.3}");
            }
        }
        println!("then: {:.1} MB", memory(&server, "VmRSS:"));
    }
}

fn main() {
    let sections: [(&str, fn()); 3] = [("korf", korf), ("goals", goals), ("http", http)];
    // Words after `--` choose sections; cargo itself adds flags.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, section) in sections {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            section();
        }
    }
}
