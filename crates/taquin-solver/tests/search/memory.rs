//! Memory of searches, compared with the maximum that their node limits imply.

#![cfg(target_os = "linux")]

use std::process::Command;
use std::{env, fs};

use taquin_solver::heuristic::Manhattan;
use taquin_solver::search::{
    BucketOpenList, Budget, Evaluation, HeapOpenList, Objective, OpenList, Space, Stages, Trace, anytime, best_first,
    bytes_beside_nodes, bytes_per_beam_node, bytes_per_node,
};
use taquin_solver::{
    Board, DuplicateDetection, Packed, Packed64, Packed128, PackedBytes, Puzzle, SplitMix, StopReason, TieBreaking,
    random_board,
};

use crate::reference::size;

/// Current or peak resident memory in bytes, by the name of the line in `/proc/self/status`.
fn resident(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|status| status.strip_prefix(line)).unwrap();
    1024 * value.trim_matches([':', ' ', '\t']).strip_suffix(" kB").unwrap().parse::<u64>().unwrap()
}

/// The space of a random board. Resets the peak of resident memory.
fn space<P: Packed>(side: usize) -> Space<P> {
    let goal = Board::blank_last(size(side, side));
    let start = random_board(&goal, &mut SplitMix(5));
    fs::write("/proc/self/clear_refs", "5").unwrap();
    Space::new(&Puzzle::try_new(start, goal).unwrap())
}

/// Peak of resident memory in bytes while a search reaches its node limit.
fn peak<P: Packed, O: OpenList>(side: usize, open_list: O, nodes: u64) -> u64 {
    let space = space::<P>(side);
    let heuristic = Manhattan::new(space.size(), space.goal_blank());
    let budget = Budget { nodes, ..Budget::UNLIMITED };
    let duplicates = DuplicateDetection::Closed;
    let outcome = best_first(&space, &heuristic, Evaluation::ASTAR, duplicates, open_list, &budget, &mut Trace::new(0));
    assert_eq!(outcome.result, Err(StopReason::Nodes));
    resident("VmHWM")
}

/// Peak of resident memory in bytes while anytime search widens its beam up to its node limit.
fn peak_of_anytime<P: Packed>(side: usize, nodes: u64) -> u64 {
    let space = space::<P>(side);
    let heuristic = Manhattan::new(space.size(), space.goal_blank());
    let budget = Budget { nodes, expanded: 6 * nodes, ..Budget::UNLIMITED };
    let stages = Stages::new(space.size(), space.goal_blank());
    let outcome = anytime(&space, &heuristic, &stages, Objective::Short, &budget);
    assert_eq!(outcome.result, Err(StopReason::Expanded));
    let shortest = outcome.best.unwrap().len() as u64;
    assert!(outcome.stats.peak_open * shortest > nodes / 2, "no beam came near the node limit");
    resident("VmHWM")
}

/// Environment variable that holds the case of a child process.
const CASE: &str = "TAQUIN_MEMORY_CASE";

const CASES: usize = 12;

/// Factor for the number of nodes of a beam. They are so small that a measurement needs more of them.
const BEAM_FACTOR: u64 = 5;

/// Runs one search, and compares its memory with the promised maximum.
fn check(case: usize) {
    let before = resident("VmRSS");
    let buckets = || BucketOpenList::new(TieBreaking::LowH);
    let heap = || HeapOpenList::new(TieBreaking::LowH);
    // Limits just above a power of two are the worst case for growing arrays.
    let nodes = [300_000, 1_050_000][case % 2] * if case / 2 < 4 { 1 } else { BEAM_FACTOR };
    let beside = |side| bytes_beside_nodes(size(side, side));
    let (name, peak, per_node, beside) = match case / 2 {
        0 => ("16 cells, buckets", peak::<Packed64, _>(4, buckets(), nodes), bytes_per_node::<Packed64, u16>(), 0),
        1 => ("16 cells, heap", peak::<Packed64, _>(4, heap(), nodes), bytes_per_node::<Packed64, u16>(), 0),
        2 => ("25 cells, buckets", peak::<Packed128, _>(5, buckets(), nodes), bytes_per_node::<Packed128, u16>(), 0),
        3 => ("64 cells, heap", peak::<PackedBytes, _>(8, heap(), nodes), bytes_per_node::<PackedBytes, u16>(), 0),
        4 => ("25 cells, anytime", peak_of_anytime::<Packed128>(5, nodes), bytes_per_beam_node(), beside(5)),
        _ => ("64 cells, anytime", peak_of_anytime::<PackedBytes>(8, nodes), bytes_per_beam_node(), beside(8)),
    };
    let (growth, promised) = (peak - before, nodes * per_node + beside);
    assert!(growth <= promised, "{name}: {growth} bytes for {nodes} nodes, {promised} promised");
    assert!(growth > promised / 8, "{name}: only {growth} of {promised} bytes, so nothing was measured");
}

/// Runs each search in its own process, so that none reuses memory of another.
#[test]
fn searches_take_no_more_memory_than_promised() {
    if let Ok(case) = env::var(CASE) {
        return check(case.parse().unwrap());
    }
    check_in_processes((0..CASES).step_by(2));
}

#[test]
#[ignore = "half a minute, and a gigabyte"]
fn searches_of_a_million_nodes_take_no_more_memory_than_promised() {
    check_in_processes((1..CASES).step_by(2));
}

fn check_in_processes(cases: impl Iterator<Item = usize>) {
    for case in cases {
        let this = ["--exact", "memory::searches_take_no_more_memory_than_promised"];
        let output = Command::new(env::current_exe().unwrap()).args(this).env(CASE, case.to_string()).output().unwrap();
        assert!(output.status.success(), "case {case}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
