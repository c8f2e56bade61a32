//! Anytime search of boards of more than 16 cells: quality of solutions over time.
//!
//! `cargo bench --bench anytime` searches in process on two cores, or on one if `ONE_CORE` is set. Words after `--`
//! select sections: `first` for first solutions, `korf24` for 24-puzzles compared with their optimal lengths, `shapes`
//! for random boards of various shapes compared with the constructive solver.

mod common;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use common::{OneHelper, board, job};
use taquin::service::Tables;
use taquin_solver::heuristic::{GoalClass, Tier};
use taquin_solver::solver::solve;
use taquin_solver::{Algorithm, Board, Control, Report, Size, SplitMix, random_board};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// 25 of the 24-puzzles of Korf & Felner (2002).
const KORF: &str = include_str!("data/korf24.txt");

const SHAPES: [(usize, usize); 13] =
    [(5, 5), (5, 6), (6, 6), (6, 7), (7, 7), (7, 8), (8, 8), (8, 9), (9, 9), (9, 10), (10, 10), (3, 10), (2, 10)];
/// Practically unlimited time.
const UNLIMITED_TIME: Duration = Duration::from_secs(600);
/// Number of random boards of each shape.
const BOARDS: usize = 5;

/// A start and its goal.
type Instance = (Board, Board);

/// Tables, including the standard ones of 24-puzzles after first use.
fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(Tables::default)
}

/// Report of a search that is stopped after a given time.
fn search_for((start, goal): Instance, algorithm: Option<Algorithm>, time: Duration) -> Report {
    let deadline = Some(Instant::now() + time);
    let job = job(start, goal, algorithm, None);
    let helper = OneHelper::default();
    solve(&job, tables(), Control { deadline, helpers: helper.unless_one_core(), ..Control::default() })
        .expect("a report")
}

fn length(report: &Report) -> f64 {
    report.solution.as_ref().expect("a solution").path.len() as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn greatest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn random_boards(size: Size, count: usize) -> Vec<Instance> {
    let mut random = SplitMix(24);
    let goal = Board::blank_last(size);
    (0..count).map(|_| (random_board(&goal, &mut random), goal)).collect()
}

fn shapes() -> impl Iterator<Item = Size> {
    SHAPES.into_iter().map(|sides| Size::try_from(sides).expect("a size"))
}

fn korf24() {
    let parse = |line: &str| {
        let numbers: Vec<&str> = line.split_whitespace().collect();
        let start = board(&numbers[1..26].chunks(5).map(|row| row.join(" ")).collect::<Vec<_>>().join("/"));
        ((start, Board::blank_first(start.size())), numbers[26].parse::<f64>().expect("a length"))
    };
    let instances: Vec<_> = KORF.lines().filter(|line| !line.starts_with('#')).map(parse).collect();
    tables().improve(GoalClass::of(instances[0].0.0.size(), 0), Tier::Standard);
    for table in tables().entries().iter().filter(|table| table.name == "patterns") {
        println!("\n{}: {} MB, built in {:?}", table.size, table.bytes >> 20, table.build_time);
    }
    println!("\n24-puzzles, {} of Korf & Felner's, by time allowed", instances.len());
    println!("{:>9} {:>17} {:>9} {:>16} {:>8}", "ms", "length ÷ optimal", "greatest", "bound ÷ optimal", "proven");
    for time in [10, 100, 1_000, 10_000] {
        let (mut ratios, mut bounds) = (Vec::new(), Vec::new());
        for (instance, optimal) in &instances {
            let report = search_for(*instance, None, Duration::from_millis(time));
            assert!(length(&report) >= *optimal && f64::from(report.lower_bound) <= *optimal);
            ratios.push(length(&report) / optimal);
            bounds.push(f64::from(report.lower_bound) / optimal);
        }
        let proven = bounds.iter().filter(|bound| **bound == 1.0).count();
        println!("{time:>9} {:>17.4} {:>9.3} {:>16.3} {proven:>8}", mean(&ratios), greatest(&ratios), mean(&bounds));
    }
}

fn shape_section() {
    println!("\n{BOARDS} random boards of a shape, moves on average by time allowed, and constructive ones");
    println!(
        "{:<7} {:>12} {:>8} {:>8} {:>8} {:>14} {:>9} {:>8}",
        "shape", "constructive", "100 ms", "1 s", "1 s ÷", "1 s, per tile", "bound", "late, ms"
    );
    for size in shapes() {
        let (mut lengths, mut bounds, mut late) = ([const { Vec::new() }; 3], Vec::new(), Vec::new());
        for instance in random_boards(size, BOARDS) {
            // Build the tables before measuring.
            search_for(instance, None, Duration::from_millis(1));
            lengths[0].push(length(&search_for(instance, Some(Algorithm::Constructive), UNLIMITED_TIME)));
            for (lengths, time) in lengths[1..].iter_mut().zip([100, 1_000].map(Duration::from_millis)) {
                let begun = Instant::now();
                let report = search_for(instance, None, time);
                late.push(begun.elapsed().saturating_sub(time).as_secs_f64() * 1e3);
                lengths.push(length(&report));
                if time == Duration::from_secs(1) {
                    bounds.push(f64::from(report.lower_bound));
                }
            }
        }
        let [constructive, short, long] = lengths.map(|lengths| mean(&lengths));
        println!(
            "{:<7} {constructive:>12.0} {short:>8.0} {long:>8.0} {:>8.3} {:>14.2} {:>9.0} {:>8.1}",
            size.name(),
            long / constructive,
            long / (size.cells() - 1) as f64,
            mean(&bounds),
            greatest(&late),
        );
    }
}

fn first() {
    println!("\nfirst solutions, 100 random boards of a shape, ms");
    println!("{:<7} {:>8} {:>9}", "shape", "mean", "greatest");
    for size in shapes() {
        let time = |instance| {
            let begun = Instant::now();
            search_for(instance, Some(Algorithm::Constructive), UNLIMITED_TIME);
            begun.elapsed().as_secs_f64() * 1e3
        };
        let times: Vec<f64> = random_boards(size, 100).into_iter().map(time).collect();
        println!("{:<7} {:>8.3} {:>9.3}", size.name(), mean(&times), greatest(&times));
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let sections: [(&str, fn()); 3] = [("first", first), ("shapes", shape_section), ("korf24", korf24)];
    for (name, section) in sections {
        if words.is_empty() || words.iter().any(|word| word == name) {
            section();
        }
    }
}
