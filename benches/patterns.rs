//! Boards of 10 to 16 cells, proven optimal with pattern tables.
//!
//! `cargo bench --bench patterns` prints times, nodes and tables. Words after `--` select sections: `korf` and `goals`
//! in process on one thread, `http` over HTTP with startup time and memory. Each time has its ratio to IDA* with
//! Manhattan distance, which is estimated for most boards (`common/manhattan.rs`).

mod common;

use std::hint::black_box;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use common::manhattan::{Estimate, Trials};
use common::{Server, board, free_address, job};
use taquin::service::Tables;
use taquin_solver::heuristic::{GoalClass, Tier};
use taquin_solver::solver::solve;
use taquin_solver::{Algorithm, Board, Cell, Control, HeuristicKind, Move, Size, SplitMix, random_board};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A published 15-puzzle.
#[derive(Clone, Copy)]
struct Instance {
    start: Board,
    goal: Board,
    /// Its optimal length.
    length: u32,
    /// Published number of nodes that IDA* with Manhattan distance generates.
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

/// Results of boards solved one after another.
#[derive(Default)]
struct Run {
    /// For each board: milliseconds, generated nodes, and optimal length.
    times: Vec<f64>,
    nodes: Vec<f64>,
    lengths: Vec<u32>,
}

impl Run {
    /// Solves the boards by IDA* with a heuristic, or by `auto`.
    fn new(boards: &[(Board, Board)], heuristic: Option<HeuristicKind>, tables: &Tables) -> Self {
        let mut run = Self::default();
        for (start, goal) in boards {
            let job = job(*start, *goal, heuristic.map(|_| Algorithm::IdaStar), heuristic);
            let begun = Instant::now();
            let report = solve(black_box(&job), tables, Control::default()).expect("a report");
            run.times.push(begun.elapsed().as_secs_f64() * 1e3);
            assert!(report.is_optimal());
            run.nodes.push(report.stats.generated as f64);
            run.lengths.push(report.lower_bound);
        }
        run
    }

    fn total(&self) -> f64 {
        self.times.iter().sum()
    }

    /// Nodes per second.
    fn speed(&self) -> f64 {
        self.nodes.iter().sum::<f64>() / self.total() * 1e3
    }

    fn print_head(title: &str, name: &str, more: &str) {
        println!("\n{title}");
        println!(
            "{name:<34} {:>6} {:>9} {:>9} {:>9} {:>12} {:>12} {:>11}{more}",
            "boards", "mean", "median", "worst", "generated", "generated/s", "Manhattan ÷"
        );
    }

    /// Prints a line. `manhattan` is the time of IDA* with Manhattan distance for all boards, in milliseconds.
    fn print(&self, name: &str, manhattan: f64, more: &str) {
        let (total, count) = (self.total(), self.times.len());
        let mut times = self.times.clone();
        times.sort_unstable_by(f64::total_cmp);
        println!(
            "{name:<34} {count:>6} {:>9.3} {:>9.3} {:>9.2} {:>12} {:>12.3e} {:>11.0}{more}",
            total / count as f64,
            times[count / 2],
            times[count - 1],
            self.nodes.iter().sum::<f64>(),
            self.speed(),
            manhattan / total,
        );
    }
}

fn boards(instances: &[Instance]) -> Vec<(Board, Board)> {
    instances.iter().map(|instance| (instance.start, instance.goal)).collect()
}

fn estimate(instance: &Instance) -> Estimate {
    Estimate::new(instance.start, instance.goal, instance.length)
}

/// Prints the agreement of estimated and counted nodes.
fn print_agreement(counted: &str, pairs: &[(f64, f64)]) {
    let sum = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>();
    let (total, logs) = (sum(|pair| pair.0) / sum(|pair| pair.1), sum(|pair| (pair.0 / pair.1).ln()));
    let (boards, mean) = (pairs.len(), (logs / pairs.len() as f64).exp());
    println!("Manhattan's nodes, estimated ÷ {counted}: {total:.2} for all {boards} boards, geometric mean {mean:.2}");
}

/// Korf's boards and those at 80 moves, proven optimal by `auto` with the tables of each tier, on one thread.
///
/// The ratio is to IDA* with Manhattan distance. Its time is measured on the easiest boards. For the others it is
/// computed from the speed measured there and the number of nodes, which is published for Korf's boards and estimated
/// at 80 moves.
fn korf() {
    let korf = instances(include_str!("data/korf15.txt"), Board::blank_first);
    let hard = instances(include_str!("data/hard15.txt"), Board::blank_last);
    let easy: Vec<_> = korf.iter().copied().filter(|instance| instance.length <= 47).collect();
    let [of_easy, of_korf, of_hard] = [&easy, &korf, &hard].map(|set| set.iter().map(estimate).collect::<Vec<_>>());
    let published: Vec<f64> = korf.iter().map(|instance| instance.nodes.expect("a count")).collect();
    let estimated: f64 = of_hard.iter().map(Estimate::nodes).sum();
    let tables = Tables::default();
    Run::print_head("15-puzzles proven optimal on one thread, ms per board", "boards, heuristic and tables", "");
    let manhattan = Run::new(&boards(&easy), Some(HeuristicKind::Manhattan), &tables);
    manhattan.print("Korf's up to 47 moves, manhattan", manhattan.total(), "");
    let time_of = |nodes: f64| nodes / manhattan.speed() * 1e3;
    for (tier, name) in [(Tier::Small, "small"), (Tier::Standard, "standard"), (Tier::Large, "large")] {
        tables.improve(GoalClass::corner_of_4x4(), tier);
        for (title, set, manhattan) in [
            ("Korf's up to 47 moves", &easy, manhattan.total()),
            ("Korf's", &korf, time_of(published.iter().sum())),
            ("at 80 moves", &hard, time_of(estimated)),
        ] {
            let run = Run::new(&boards(set), None, &tables);
            assert!(run.lengths.iter().eq(set.iter().map(|instance| &instance.length)));
            run.print(&format!("{title}, {name}"), manhattan, "");
        }
    }
    let pairs = |estimates: &[Estimate], counts: &[f64]| -> Vec<(f64, f64)> {
        estimates.iter().map(Estimate::nodes).zip(counts.iter().copied()).collect()
    };
    print_agreement("generated", &pairs(&of_easy, &manhattan.nodes));
    print_agreement("published", &pairs(&of_korf, &published));
    let share = of_hard.iter().map(|estimate| estimate.below).sum::<f64>() / estimated;
    let mean = estimated / hard.len() as f64;
    println!("at 80 moves: {mean:.2e} per board, {share:.2} of them in iterations that must be completed");
    for entry in tables.entries().iter().filter(|entry| entry.name == "patterns") {
        println!("{}: {} bytes, built in {:.2?}", entry.size, entry.bytes, entry.build_time);
    }
}

/// Random boards of shapes and goals with pattern databases, solved by `auto` on one thread with standard tables, or
/// small ones where there are no standard ones.
///
/// The ratio is to IDA* with Manhattan distance: its nodes are estimated, and its speed is measured in limited searches
/// of ten boards.
fn goals() {
    let tables = Tables::default();
    let title = "random boards by shape and the blank's goal, auto on one thread, ms per board";
    Run::print_head(title, "shape and goal", " tables, s");
    let mut completed = Vec::new();
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
            let goal = goal_with_blank(size, *goal_blank);
            let begun = Instant::now();
            let any = job(goal, goal, None, Some(HeuristicKind::PatternDatabase));
            solve(&any, &tables, Control::default()).expect("a report");
            tables.improve(GoalClass::of(size, *goal_blank), Tier::Standard);
            let built = begun.elapsed().as_secs_f64();
            let mut random = SplitMix(7);
            let boards: Vec<_> = (0..count).map(|_| (random_board(&goal, &mut random), goal)).collect();
            let run = Run::new(&boards, None, &tables);
            let mut trials = Trials::default();
            boards.iter().take(10).for_each(|(start, goal)| trials.add(*start, *goal, &tables));
            let solved = boards.iter().zip(&run.lengths);
            let nodes: f64 = solved.map(|((start, goal), length)| Estimate::new(*start, *goal, *length).nodes()).sum();
            let name = format!("{size}, blank to cell {goal_blank}");
            run.print(&name, nodes / trials.speed() * 1e3, &format!(" {built:>9.2}"));
            completed.extend(trials.completed);
        }
    }
    print_agreement("generated", &completed);
}

fn goal_with_blank(size: Size, cell: Cell) -> Board {
    let mut goal = Board::blank_first(size);
    while size.row_of(goal.blank()) < size.row_of(cell) {
        goal.make(Move::Down);
    }
    while size.col_of(goal.blank()) < size.col_of(cell) {
        goal.make(Move::Right);
    }
    goal
}

/// A keep-alive connection to the service.
struct Client(BufReader<TcpStream>);

impl Client {
    fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        Self(BufReader::new(stream))
    }

    /// Sends a request. Returns the body of the response if the status is 200.
    fn request(&mut self, head: &str, body: &str) -> Option<String> {
        let length = body.len();
        let request = format!(
            "{head} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.0.get_mut().write_all(request.as_bytes()).expect("a request sent");
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let begun = head.len();
            assert_ne!(self.0.read_line(&mut head).expect("a response"), 0, "the server closed the connection");
            if let Some((_, value)) = head[begun..].split_once("content-length: ") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).expect("a body");
        head.starts_with("HTTP/1.1 200").then(|| String::from_utf8(body).expect("text"))
    }
}

/// A line of `/proc/PID/status` in MB.
fn memory(server: &Server, what: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(what)).and_then(|line| line.split_whitespace().next());
    line.and_then(|kib| kib.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib * 1024.0 / 1e6)
}

/// Number of times that Korf's boards are requested over HTTP.
const ROUNDS: usize = 5;

/// Korf's boards one after another over HTTP, compared with the same searches in process. Boards at 80 moves with one
/// and with two workers.
///
/// The ratio is to IDA* with Manhattan distance in process: its nodes are published or estimated, and its speed is
/// measured in limited searches of ten of Korf's boards.
fn http() {
    let korf = instances(include_str!("data/korf15.txt"), Board::blank_first);
    let hard = instances(include_str!("data/hard15.txt"), Board::blank_last);
    let tables = Tables::default();
    common::build_standard(&tables);
    let mut trials = Trials::default();
    korf.iter().take(10).for_each(|instance| trials.add(instance.start, instance.goal, &tables));
    let nodes = |instance: &Instance| instance.nodes.unwrap_or_else(|| estimate(instance).nodes());
    println!("\nover HTTP, standard tables");
    for workers in ["1", "2"] {
        let address = free_address();
        let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
        // Without a result cache, so that boards can be repeated.
        command.args(["--listen", &address.to_string(), "--workers", workers, "--cache-memory", "0B"]);
        let begun = Instant::now();
        let server = Server::start(command, address);
        let mut client = Client::connect(address);
        let mut wait_for = |head: &str, what: &str| {
            while !client.request(head, "").is_some_and(|body| body.contains(what)) {
                assert!(begun.elapsed() < Duration::from_secs(60), "{head} did not contain {what:?} within a minute");
                std::thread::sleep(Duration::from_millis(1));
            }
            begun.elapsed().as_secs_f64() * 1e3
        };
        println!("{workers} workers: ready after {:.0} ms", wait_for("GET /readyz", ""));
        println!("standard tables after {:.0} ms", wait_for("GET /info", "7-7-1"));
        // The service then builds distance tables of other goals, and returns memory to the system.
        std::thread::sleep(Duration::from_secs(3));
        println!("idle: {:.1} MB, at most {:.1} MB before", memory(&server, "VmRSS:"), memory(&server, "VmHWM:"));
        for (name, boards) in [("Korf's", &korf), ("at 80 moves", &hard)] {
            let mut times = [const { Vec::new() }; 3];
            // Sequential requests: first in process, then over HTTP.
            let rounds = if name == "Korf's" { ROUNDS } else { 1 };
            for _ in (0..rounds).filter(|_| workers == "1" || name != "Korf's") {
                times[0].extend(boards.iter().map(|instance| {
                    let job = job(instance.start, instance.goal, None, None);
                    let begun = Instant::now();
                    solve(black_box(&job), &tables, Control::default()).expect("a report");
                    begun.elapsed().as_secs_f64() * 1e3
                }));
                for instance in boards {
                    let rows = |board: Board| board.rows().map(<[u8]>::to_vec).collect::<Vec<_>>();
                    let body = serde_json::json!({ "board": rows(instance.start), "goal": rows(instance.goal) });
                    let body = body.to_string();
                    let begun = Instant::now();
                    let body = client.request("POST /solve", &body).expect("a solution");
                    times[1].push(begun.elapsed().as_secs_f64() * 1e3);
                    let solution: serde_json::Value = serde_json::from_str(&body).expect("JSON");
                    assert_eq!(solution["optimal"], true, "{solution}");
                    times[2].push(solution["search"]["elapsed_us"].as_f64().expect("a time") / 1e3);
                }
            }
            if !times[0].is_empty() {
                // The overhead of a request varies less than its search.
                let overhead = times[1].iter().zip(&times[2]).map(|(request, search)| request - search);
                let mut overhead: Vec<f64> = overhead.collect();
                overhead.sort_unstable_by(f64::total_cmp);
                let overhead = overhead[overhead.len() / 2];
                let [alone, request, search] = times.map(|times| times.iter().sum::<f64>() / times.len() as f64);
                let nodes = boards.iter().map(nodes).sum::<f64>() / boards.len() as f64;
                let ratio = nodes / trials.speed() * 1e3 / request;
                println!(
                    "{name}: {request:.3} ms per board, {search:.3} of them the search; Manhattan ÷ this {ratio:.0}; \
                     median overhead {overhead:.3} ms"
                );
                println!("{name}: {alone:.3} ms per board in process on one thread");
            }
        }
        println!("after the searches: {:.1} MB", memory(&server, "VmRSS:"));
    }
}

fn main() {
    let sections: [(&str, fn()); 3] = [("korf", korf), ("goals", goals), ("http", http)];
    // Words after `--` select sections; cargo adds flags.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, section) in sections {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            section();
        }
    }
}
