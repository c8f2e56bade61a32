//! Nodes per second of each search loop, and the time of a 3×3 board.
//!
//! `cargo bench --bench solve` prints ratios to baselines that are measured in the same run: IDA* of this crate with
//! Manhattan distance for loops, and A* of the `pathfinding` crate for the 31-move boards.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use common::{board, job};
use pathfinding::prelude::astar;
use taquin::service::Tables;
use taquin_solver::solver::solve;
use taquin_solver::{Algorithm, Board, Control, HeuristicKind, Named, SearchRequest, Size, SplitMix, random_board};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of rounds of each measurement. The median is reported.
const ROUNDS: usize = 7;

/// Solves all jobs once. Returns the time, and the expanded and generated nodes.
fn run(jobs: &[SearchRequest], tables: &Tables) -> (Duration, u64, u64) {
    let begun = Instant::now();
    let (mut expanded, mut generated) = (0, 0);
    for job in jobs {
        let report = solve(black_box(job), tables, Control::default()).expect("a report");
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
    println!("\nloops without a heuristic on a 3×3 board of 23 moves");
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
        let jobs: Vec<SearchRequest> = starts.iter().map(|start| job(*start, goal, algorithm, heuristic)).collect();
        let expanded = run(&jobs, tables).1 as f64 / jobs.len() as f64;
        let time = median(|| run(&jobs, tables).0).as_secs_f64() * 1e6 / jobs.len() as f64;
        let baseline = *baseline.get_or_insert(time);
        let (algorithm, heuristic) = (algorithm.map_or("auto", Named::name), heuristic.map_or("auto", Named::name));
        println!("{algorithm:<20} {heuristic:<20} {expanded:>12.1} {time:>12.3} {:>8.3}", time / baseline);
    }
}

/// A straightforward solver with the `pathfinding` crate.
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

/// A solver with the `pathfinding` crate and the smallest possible state: nine bytes.
fn with_pathfinding_on_bytes(start: &Board, goal: &Board) -> usize {
    let tiles = |board: &Board| -> [u8; 9] { board.tiles().try_into().expect("nine cells") };
    let (start, goal) = (tiles(start), tiles(goal));
    let mut goal_cells = [0_u8; 9];
    for (cell, tile) in goal.iter().enumerate() {
        goal_cells[usize::from(*tile)] = cell as u8;
    }
    let h = |board: &[u8; 9]| -> u32 {
        let tiles = board.iter().zip(0_u8..).filter(|(tile, _)| **tile != 0);
        tiles
            .map(|(tile, cell)| {
                let goal = goal_cells[usize::from(*tile)];
                u32::from((cell / 3).abs_diff(goal / 3) + (cell % 3).abs_diff(goal % 3))
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

/// Runs only `auto` on 3×3 boards, for a profiler.
fn auto_alone(tables: &Tables) {
    let goal = Board::blank_last(Size::try_from((3, 3)).expect("a size"));
    let mut random = SplitMix(1);
    let jobs: Vec<SearchRequest> =
        (0..2_000).map(|_| job(random_board(&goal, &mut random), goal, None, None)).collect();
    let time = median(|| (0..20).map(|_| run(&jobs, tables).0).sum());
    println!("auto on random 3×3 boards: {:.3} µs per board", time.as_secs_f64() * 1e6 / 20.0 / jobs.len() as f64);
}

fn against_pathfinding(tables: &Tables) {
    let size = Size::try_from((3, 3)).expect("a size");
    let goal = Board::blank_last(size);
    let starts = [board("8 6 7/2 5 4/3 0 1"), board("6 4 7/8 5 0/3 2 1")];
    println!("\nthe 31-move boards by A* with manhattan, time per board");
    let jobs: Vec<SearchRequest> =
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
    for (name, build) in [("first", Tables::build_for_start as fn(&Tables)), ("standard", common::build_standard)] {
        let (begun, before) = (Instant::now(), tables.bytes());
        build(&tables);
        let bytes = tables.bytes() - before;
        println!("{name} tables: {:.1} ms, {bytes} bytes", begun.elapsed().as_secs_f64() * 1e3);
    }
}

fn main() {
    let tables = Tables::default();
    tables.build_for_start();
    tables.build_distances();
    let sections: [(&str, &dyn Fn()); 5] = [
        ("tables", &table_builds),
        ("small", &|| small_boards(&tables)),
        ("auto", &|| auto_alone(&tables)),
        ("pathfinding", &|| against_pathfinding(&tables)),
        ("loops", &|| loops(&tables)),
    ];
    // Words after `--` select sections; cargo adds flags.
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, section) in sections {
        if chosen.is_empty() || chosen.iter().any(|word| word == name) {
            section();
        }
    }
}
