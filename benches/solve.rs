//! Nodes per second of each loop, and the time of a 3×3 board.
//!
//! `cargo bench --bench solve` prints ratios against named baselines measured in the same run:
//! Manhattan IDA* of this crate for loops, and the `pathfinding` crate's A* for the 31-move boards.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pathfinding::prelude::astar;
use taquin::domain::{Board, Encoding, Move, Puzzle, RandomSource, RawBoard, Sides, Size, random_board};
use taquin::search::heuristic::{GoalClass, Tier};
use taquin::search::{Algorithm, HeuristicKind, Named};
use taquin::service::{Job, Limits, Means, Plan, Tables, Wish, solve};

/// As the service has it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rounds of each measurement, of which the median is told.
const ROUNDS: usize = 7;

const UNLIMITED: Limits = Limits { time: Duration::MAX, expanded: u64::MAX, nodes: 4_000_000_000 };

/// SplitMix64 (Steele, Lea & Flood 2014).
struct SplitMix(u64);

impl RandomSource for SplitMix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}

fn board(text: &str) -> Board {
    RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).expect("a board")
}

fn job(start: Board, goal: Board, algorithm: Option<Algorithm>, heuristic: Option<HeuristicKind>) -> Job {
    let puzzle = Puzzle::try_new(start, goal).expect("solvable");
    let wish = Wish { algorithm, heuristic, ..Wish::default() };
    let plan = Plan::try_new(&wish, puzzle.size()).expect("a plan");
    Job { puzzle, plan, limits: UNLIMITED, expansions: 0, states: false }
}

/// Solves all jobs once, and gives the time with the nodes expanded and generated.
fn run(jobs: &[Job], tables: &Tables) -> (Duration, u64, u64) {
    let begun = Instant::now();
    let (mut expanded, mut generated) = (0, 0);
    for job in jobs {
        let report = solve(black_box(job), tables, Means::default()).expect("a report");
        assert!(report.solution.is_some());
        expanded += report.stats.expanded;
        generated += report.stats.generated;
    }
    (begun.elapsed(), expanded, generated)
}

fn median(mut measure: impl FnMut() -> Duration) -> Duration {
    measure();
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| measure()).collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn loops(tables: &Tables) {
    // Instance 12 of Korf's list (1985), easy enough for every loop here.
    let size = Size::try_from((4, 4)).expect("a size");
    let (start, goal) = (board("14 1 9 6/4 8 12 5/7 2 3 0/10 11 13 15"), Board::blank_first(size));
    println!("\nloops on a 15-puzzle of 45 moves (Korf's 12)");
    println!(
        "{:<20} {:<20} {:>12} {:>12} {:>14} {:>8}",
        "algorithm", "heuristic", "generated", "ms", "generated/s", "ratio"
    );
    let mut baseline = None;
    for (algorithm, heuristic) in [
        (Algorithm::IdaStar, HeuristicKind::Manhattan),
        (Algorithm::IdaStar, HeuristicKind::LinearConflict),
        (Algorithm::IdaStar, HeuristicKind::WalkingDistance),
        (Algorithm::IdaStar, HeuristicKind::InversionDistance),
        (Algorithm::AStar, HeuristicKind::Manhattan),
        (Algorithm::AStar, HeuristicKind::LinearConflict),
        (Algorithm::AStar, HeuristicKind::WalkingDistance),
        (Algorithm::GreedyBestFirst, HeuristicKind::Manhattan),
    ] {
        let jobs = [job(start, goal, Some(algorithm), Some(heuristic))];
        let generated = run(&jobs, tables).2;
        let time = median(|| run(&jobs, tables).0);
        let rate = generated as f64 / time.as_secs_f64();
        let baseline = *baseline.get_or_insert(rate);
        println!(
            "{:<20} {:<20} {generated:>12} {:>12.2} {rate:>14.3e} {:>8.2}",
            algorithm.name(),
            heuristic.name(),
            time.as_secs_f64() * 1e3,
            rate / baseline
        );
    }
    let size = Size::try_from((3, 3)).expect("a size");
    let (start, goal) = (board("4 1 8/6 7 0/2 3 5"), Board::blank_last(size));
    println!("\nblind loops on a 3×3 board of 23 moves");
    for algorithm in [Algorithm::BreadthFirst, Algorithm::DepthFirst, Algorithm::IterativeDeepening] {
        let jobs = [job(start, goal, Some(algorithm), None)];
        let generated = run(&jobs, tables).2;
        let time = median(|| run(&jobs, tables).0);
        let rate = generated as f64 / time.as_secs_f64();
        println!("{:<41} {generated:>12} {:>12.2} {rate:>14.3e}", algorithm.name(), time.as_secs_f64() * 1e3);
    }
}

fn small_boards(tables: &Tables) {
    let size = Size::try_from((3, 3)).expect("a size");
    let goal = Board::blank_last(size);
    let mut random = SplitMix(1);
    let starts: Vec<Board> = (0..2_000).map(|_| random_board(&goal, &mut random)).collect();
    println!("\n2,000 random 3×3 boards, time per board with the path");
    println!("{:<20} {:<20} {:>12} {:>12} {:>8}", "algorithm", "heuristic", "expanded", "µs", "ratio");
    let mut baseline = None;
    for (algorithm, heuristic) in [
        (Some(Algorithm::IdaStar), Some(HeuristicKind::Manhattan)),
        (Some(Algorithm::AStar), Some(HeuristicKind::Manhattan)),
        (Some(Algorithm::AStar), Some(HeuristicKind::WalkingDistance)),
        (None, None),
    ] {
        let jobs: Vec<Job> = starts.iter().map(|start| job(*start, goal, algorithm, heuristic)).collect();
        let expanded = run(&jobs, tables).1 as f64 / jobs.len() as f64;
        let time = median(|| run(&jobs, tables).0).as_secs_f64() * 1e6 / jobs.len() as f64;
        let baseline = *baseline.get_or_insert(time);
        let (algorithm, heuristic) = (algorithm.map_or("auto", Named::name), heuristic.map_or("auto", Named::name));
        println!("{algorithm:<20} {heuristic:<20} {expanded:>12.1} {time:>12.3} {:>8.3}", time / baseline);
    }
}

/// What somebody writes who takes a crate for A* from the shelf.
fn with_pathfinding(start: &Board, goal: &Board) -> usize {
    let positions = goal.positions();
    let size = goal.size();
    let h = |board: &Board| -> u32 {
        let tiles = board.tiles().iter().enumerate().filter(|(_, tile)| **tile != 0);
        tiles.map(|(cell, tile)| size.distance(cell as u8, positions[usize::from(*tile)])).sum()
    };
    let successors = |board: &Board| {
        let board = *board;
        board.moves().map(move |mv| {
            let mut next = board;
            next.make(mv);
            (next, 1)
        })
    };
    astar(start, successors, h, |board| board == goal).expect("solvable").1 as usize
}

/// The same with as small a state as that crate can be given: nine bytes.
fn with_pathfinding_on_bytes(start: &Board, goal: &Board) -> usize {
    let tiles = |board: &Board| -> [u8; 9] { board.tiles().try_into().expect("nine cells") };
    let (start, goal) = (tiles(start), tiles(goal));
    let mut places = [0_u8; 9];
    for (cell, tile) in goal.iter().enumerate() {
        places[usize::from(*tile)] = cell as u8;
    }
    let h = |board: &[u8; 9]| -> u32 {
        let tiles = board.iter().zip(0_u8..).filter(|(tile, _)| **tile != 0);
        tiles
            .map(|(tile, cell)| {
                let place = places[usize::from(*tile)];
                u32::from((cell / 3).abs_diff(place / 3) + (cell % 3).abs_diff(place % 3))
            })
            .sum()
    };
    let successors = |board: &[u8; 9]| {
        let board = *board;
        let blank = board.iter().position(|tile| *tile == 0).expect("a blank");
        let (row, col) = (blank / 3, blank % 3);
        let cells = [
            (row > 0).then(|| blank - 3),
            (col > 0).then(|| blank - 1),
            (row < 2).then(|| blank + 3),
            (col < 2).then(|| blank + 1),
        ];
        cells.into_iter().flatten().map(move |cell| {
            let mut next = board;
            next.swap(blank, cell);
            (next, 1)
        })
    };
    astar(&start, successors, h, |board| *board == goal).expect("solvable").1 as usize
}

/// The mission's main job alone, for a profiler.
fn auto_alone(tables: &Tables) {
    let goal = Board::blank_last(Size::try_from((3, 3)).expect("a size"));
    let mut random = SplitMix(1);
    let jobs: Vec<Job> = (0..2_000).map(|_| job(random_board(&goal, &mut random), goal, None, None)).collect();
    let time = median(|| (0..20).map(|_| run(&jobs, tables).0).sum());
    println!("auto on random 3×3 boards: {:.3} µs a board", time.as_secs_f64() * 1e6 / 20.0 / jobs.len() as f64);
}

fn against_pathfinding(tables: &Tables) {
    let size = Size::try_from((3, 3)).expect("a size");
    let goal = Board::blank_last(size);
    let starts = [board("8 6 7/2 5 4/3 0 1"), board("6 4 7/8 5 0/3 2 1")];
    println!("\nthe 31-move boards by A* with manhattan, time per board");
    let jobs: Vec<Job> =
        starts.iter().map(|start| job(*start, goal, Some(Algorithm::AStar), Some(HeuristicKind::Manhattan))).collect();
    let ours = median(|| run(&jobs, tables).0);
    let theirs = |solve: fn(&Board, &Board) -> usize| {
        median(|| {
            let begun = Instant::now();
            for start in &starts {
                assert_eq!(solve(black_box(start), &goal), 31);
            }
            begun.elapsed()
        })
    };
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / starts.len() as f64;
    println!("{:<48} {:>10.1} µs", "taquin", micros(ours));
    for (name, solve) in [
        ("pathfinding's astar on [u8; 9]", with_pathfinding_on_bytes as fn(&Board, &Board) -> usize),
        ("pathfinding's astar on boards", with_pathfinding),
    ] {
        let time = theirs(solve);
        println!("{name:<48} {:>10.1} µs, {:.1} times ours", micros(time), time.as_secs_f64() / ours.as_secs_f64());
    }
}

fn table_builds() {
    let tables = Tables::default();
    for (name, build) in [("cheap", Tables::build_cheap as fn(&Tables)), ("standard", build_standard)] {
        let (begun, before) = (Instant::now(), tables.bytes());
        build(&tables);
        let bytes = tables.bytes() - before;
        println!("{name} tables: {:.1} ms, {bytes} bytes", begun.elapsed().as_secs_f64() * 1e3);
    }
}

fn build_standard(tables: &Tables) {
    tables.improve(GoalClass::corner_of_4x4(), Tier::Standard);
}

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
        let sides = Sides { rows: Some(4), ..Sides::default() };
        let start = RawBoard::parse(&numbers[1..17].join(" ")).board(sides, Encoding::Tiles).expect("a board");
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

fn main() {
    let tables = Tables::default();
    tables.build_cheap();
    let sections: [(&str, &dyn Fn()); 7] = [
        ("tables", &table_builds),
        ("small", &|| small_boards(&tables)),
        ("auto", &|| auto_alone(&tables)),
        ("pathfinding", &|| against_pathfinding(&tables)),
        ("loops", &|| loops(&tables)),
        ("korf", &korf),
        ("goals", &goals),
    ];
    // Words after `--` choose sections; cargo itself adds flags.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, section) in sections {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            section();
        }
    }
}
