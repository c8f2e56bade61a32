//! What a search takes, against what its limit on nodes promises.

#![cfg(target_os = "linux")]

use std::process::Command;
use std::{env, fs};

use crate::twins::{SplitMix, size};
use taquin::domain::{Board, Packed, Packed64, Packed128, PackedBytes, Puzzle, random_board};
use taquin::search::heuristic::Manhattan;
use taquin::search::{
    Aim, BucketOpenList, Budget, DuplicateDetection, Evaluation, HeapOpenList, OpenList, Space, Stages, StopReason,
    TieBreaking, Trace, anytime, best_first, bytes_beside_nodes, bytes_per_beam_node, bytes_per_node,
};

/// Memory that is resident, or was at most, in bytes.
fn resident(line: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|status| status.strip_prefix(line)).unwrap();
    1024 * value.trim_matches([':', ' ', '\t']).strip_suffix(" kB").unwrap().parse::<u64>().unwrap()
}

/// A random board and its goal, as a search sees them; from now on the highest is that of the search.
fn space<P: Packed>(side: usize) -> Space<P> {
    let goal = Board::blank_last(size(side, side));
    let start = random_board(&goal, &mut SplitMix(5));
    fs::write("/proc/self/clear_refs", "5").unwrap();
    Space::new(&Puzzle::try_new(start, goal).unwrap())
}

/// Bytes that are resident at most while a search fills its nodes.
fn highest<P: Packed, O: OpenList>(side: usize, open_list: O, nodes: u64) -> u64 {
    let space = space::<P>(side);
    let heuristic = Manhattan::new(space.size(), space.goal_blank());
    let budget = Budget { nodes, ..Budget::UNLIMITED };
    let duplicates = DuplicateDetection::Closed;
    let outcome = best_first(&space, &heuristic, Evaluation::ASTAR, duplicates, open_list, &budget, &mut Trace::new(0));
    assert_eq!(outcome.result, Err(StopReason::Nodes));
    resident("VmHWM")
}

/// The same of anytime search, in rounds up to beams that fill them.
fn highest_of_anytime<P: Packed>(side: usize, nodes: u64) -> u64 {
    let space = space::<P>(side);
    let heuristic = Manhattan::new(space.size(), space.goal_blank());
    let budget = Budget { nodes, expanded: 6 * nodes, ..Budget::UNLIMITED };
    let stages = Stages::new(space.size(), space.goal_blank());
    let outcome = anytime(&space, &heuristic, &stages, Aim::Short, &budget);
    assert_eq!(outcome.result, Err(StopReason::Expanded));
    let shortest = outcome.best.unwrap().len() as u64;
    assert!(outcome.stats.peak_open * shortest > nodes / 2, "no beam filled them");
    resident("VmHWM")
}

/// Which search a process is to make.
const CASE: &str = "TAQUIN_MEMORY_CASE";

const CASES: usize = 12;

/// Boards of a beam take so much less than others that there must be more of them to measure.
const BEAM: u64 = 5;

/// Makes one search and holds what it took against what was promised.
fn check(case: usize) {
    let before = resident("VmRSS");
    let buckets = || BucketOpenList::new(TieBreaking::LowH);
    let heap = || HeapOpenList::new(TieBreaking::LowH);
    // Limits just beyond a power of two, where arrays that double are at their worst.
    let nodes = [300_000, 1_050_000][case % 2] * if case / 2 < 4 { 1 } else { BEAM };
    let beside = |side| bytes_beside_nodes(size(side, side));
    let (name, highest, per_node, beside) = match case / 2 {
        0 => ("16 cells, buckets", highest::<Packed64, _>(4, buckets(), nodes), bytes_per_node::<Packed64, u16>(), 0),
        1 => ("16 cells, heap", highest::<Packed64, _>(4, heap(), nodes), bytes_per_node::<Packed64, u16>(), 0),
        2 => ("25 cells, buckets", highest::<Packed128, _>(5, buckets(), nodes), bytes_per_node::<Packed128, u16>(), 0),
        3 => ("64 cells, heap", highest::<PackedBytes, _>(8, heap(), nodes), bytes_per_node::<PackedBytes, u16>(), 0),
        4 => ("25 cells, anytime", highest_of_anytime::<Packed128>(5, nodes), bytes_per_beam_node(), beside(5)),
        _ => ("64 cells, anytime", highest_of_anytime::<PackedBytes>(8, nodes), bytes_per_beam_node(), beside(8)),
    };
    let (growth, promised) = (highest - before, nodes * per_node + beside);
    assert!(growth <= promised, "{name}: {growth} bytes for {nodes} nodes, {promised} promised");
    assert!(growth > promised / 8, "{name}: {growth} bytes of {promised} is no measurement");
}

/// Each in a process of its own, so that none has what another one left.
#[test]
fn searches_take_no_more_than_their_nodes_are_said_to() {
    if let Ok(case) = env::var(CASE) {
        return check(case.parse().unwrap());
    }
    check_in_processes((0..CASES).step_by(2));
}

#[test]
#[ignore = "half a minute, and a gigabyte"]
fn searches_of_a_million_nodes_take_no_more_than_they_are_said_to() {
    check_in_processes((1..CASES).step_by(2));
}

fn check_in_processes(cases: impl Iterator<Item = usize>) {
    for case in cases {
        let this = ["--exact", "memory::searches_take_no_more_than_their_nodes_are_said_to"];
        let output = Command::new(env::current_exe().unwrap()).args(this).env(CASE, case.to_string()).output().unwrap();
        assert!(output.status.success(), "case {case}: {}", String::from_utf8_lossy(&output.stdout));
    }
}
