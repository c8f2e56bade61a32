//! From enums to code compiled for them: the one match over shapes and heuristics.

use std::cell::OnceCell;
use std::sync::Arc;

use crate::domain::{Packed, Packed64, Packed128, PackedBytes, Puzzle, Size};
use crate::search::heuristic::{
    AdditivePatterns, Costs, ExactDistance, Gaschnig, GoalClass, Hamming, InversionDistance, LargeAdditivePatterns,
    LargeCosts, LinearConflict, Manhattan, Sum, WalkingDistance, Zero,
};
use crate::search::{
    Algorithm, HeuristicKind, IdaStar, Space, bytes_beside_nodes, bytes_per_beam_node, bytes_per_node,
};
use crate::service::job::Job;
use crate::service::tables::{Loaded, Tables};

/// Something to do with a puzzle and a heuristic, for any form of board.
pub(super) trait Call {
    /// What it gives.
    type Output;

    /// Does it.
    fn call<P: Packed, H: IdaStar<P>>(self, space: &Space<P>, heuristic: &H) -> Self::Output;
}

/// As many patterns as boards of up to 25 cells have at most, and larger ones.
const PAIR_PATTERNS: usize = 5;
const BYTES_PATTERNS: usize = 7;
type PairPatterns<'t> = LargeAdditivePatterns<'t, PAIR_PATTERNS>;
type BytesPatterns<'t> = LargeAdditivePatterns<'t, BYTES_PATTERNS>;

/// Tables as one job sees them: the same patterns from its beginning to its end.
pub(in crate::service) struct JobTables<'t> {
    tables: &'t Tables,
    patterns: OnceCell<Arc<Loaded>>,
}

impl<'t> JobTables<'t> {
    pub(in crate::service) fn new(tables: &'t Tables) -> Self {
        Self { tables, patterns: OnceCell::new() }
    }

    pub(in crate::service) fn tables(&self) -> &'t Tables {
        self.tables
    }

    /// With patterns at hand.
    pub(in crate::service) fn with_patterns(tables: &'t Tables, patterns: Option<Arc<Loaded>>) -> Self {
        Self { tables, patterns: patterns.map_or_else(OnceCell::new, OnceCell::from) }
    }
}

/// Makes a call with the heuristic of that name.
///
/// # Panics
/// If the heuristic does not serve the puzzle's shape, which a plan rules out.
pub(super) fn connect<C: Call>(puzzle: &Puzzle, heuristic: HeuristicKind, job: &JobTables<'_>, call: C) -> C::Output {
    let tables = job.tables;
    let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
    match (size.cells(), heuristic) {
        (_, HeuristicKind::PatternDatabase) if GoalClass::serves(size) => {
            let partitions = &job.patterns.get_or_init(|| tables.patterns(size, goal_blank)).partitions;
            match size.cells() {
                ..=Packed64::MAX_CELLS => {
                    call.call(&Space::<Packed64>::new(puzzle), &AdditivePatterns::new(size, goal_blank, partitions))
                }
                17..=Packed128::MAX_CELLS => {
                    call.call(&Space::<Packed128>::new(puzzle), &PairPatterns::new(size, goal_blank, partitions))
                }
                _ => call.call(&Space::<PackedBytes>::new(puzzle), &BytesPatterns::new(size, goal_blank, partitions)),
            }
        }
        (_, HeuristicKind::PatternDatabase) => {
            let table = tables.distances(size, goal_blank);
            call.call(&Space::<Packed64>::new(puzzle), &ExactDistance::new(table))
        }
        (_, HeuristicKind::WalkingDistance) => {
            let [rows, cols] = WalkingDistance::shapes(size, goal_blank).map(|shape| tables.walking(shape));
            call.call(&Space::<Packed64>::new(puzzle), &WalkingDistance::new(size, goal_blank, rows, cols))
        }
        _ => connect_alone(puzzle, heuristic, call),
    }
}

/// Makes a call with a heuristic that needs no table.
///
/// # Panics
/// If it needs one.
pub(super) fn connect_alone<C: Call>(puzzle: &Puzzle, heuristic: HeuristicKind, call: C) -> C::Output {
    match puzzle.size().cells() {
        ..=Packed64::MAX_CELLS => connect_any(&Space::<Packed64>::new(puzzle), heuristic, call),
        17..=Packed128::MAX_CELLS => connect_any(&Space::<Packed128>::new(puzzle), heuristic, call),
        _ => connect_any(&Space::<PackedBytes>::new(puzzle), heuristic, call),
    }
}

fn connect_any<P: Packed, C: Call>(space: &Space<P>, heuristic: HeuristicKind, call: C) -> C::Output {
    let (size, goal_blank) = (space.size(), space.goal_blank());
    match heuristic {
        HeuristicKind::Zero => call.call(space, &Zero),
        HeuristicKind::Hamming => call.call(space, &Hamming::<false>::new(size, goal_blank)),
        HeuristicKind::MisplacedWithBlank => call.call(space, &Hamming::<true>::new(size, goal_blank)),
        HeuristicKind::Manhattan => call.call(space, &Manhattan::new(size, goal_blank)),
        HeuristicKind::ManhattanPlusHamming => {
            let sum = Sum(Manhattan::new(size, goal_blank), Hamming::<false>::new(size, goal_blank));
            call.call(space, &sum)
        }
        HeuristicKind::Gaschnig => call.call(space, &Gaschnig::new(size)),
        HeuristicKind::InversionDistance => call.call(space, &InversionDistance::new(size, goal_blank)),
        HeuristicKind::LinearConflict => call.call(space, &LinearConflict::new(size, goal_blank)),
        HeuristicKind::WalkingDistance | HeuristicKind::PatternDatabase => {
            unreachable!("heuristics with tables were connected before")
        }
    }
}

/// What a search takes beside its nodes: the path, the tables of moves, a thread's stack; and with patterns the parts of
/// an iteration and what threads remember of them (`search::ida_star::parallel`), on large boards the tables of stages.
fn little(size: Size, heuristic: HeuristicKind) -> u64 {
    let is_in_parts = heuristic == HeuristicKind::PatternDatabase && GoalClass::serves(size);
    let beside_nodes = if size.cells() > Packed64::MAX_CELLS { bytes_beside_nodes(size) } else { 0 };
    beside_nodes + if is_in_parts { 2 << 20 } else { 256 << 10 }
}

/// How many nodes of boards of a shape fit into so many bytes, in a search with a heuristic.
pub(in crate::service) fn nodes_within(bytes: u64, size: Size, algorithm: Algorithm, heuristic: HeuristicKind) -> u64 {
    let nodes = bytes.saturating_sub(little(size, heuristic)) / per_node(size, algorithm, heuristic);
    // Node indices have 32 bits, of which the largest stands for none.
    nodes.clamp(1, u64::from(u32::MAX) - 1)
}

/// Bytes that a job's search may come to hold: all the nodes that it may keep, and a little.
pub(in crate::service) fn bytes_for(job: &Job) -> u64 {
    let size = job.puzzle.size();
    let nodes = job.plan.most_nodes(size).min(job.limits.nodes);
    little(size, job.plan.heuristic) + nodes * per_node(size, job.plan.algorithm, job.plan.heuristic)
}

fn per_node(size: Size, algorithm: Algorithm, heuristic: HeuristicKind) -> u64 {
    /// No heuristic but patterns remembers more.
    type Memo = [u32; 2];
    if algorithm == Algorithm::Anytime {
        return bytes_per_beam_node();
    }
    match (size.cells(), heuristic) {
        (10..=Packed64::MAX_CELLS, HeuristicKind::PatternDatabase) => bytes_per_node::<Packed64, Costs>(),
        (17..=Packed128::MAX_CELLS, HeuristicKind::PatternDatabase) => {
            bytes_per_node::<Packed128, LargeCosts<PAIR_PATTERNS>>()
        }
        (26.., HeuristicKind::PatternDatabase) => bytes_per_node::<PackedBytes, LargeCosts<BYTES_PATTERNS>>(),
        (..=Packed64::MAX_CELLS, _) => bytes_per_node::<Packed64, Memo>(),
        (..=Packed128::MAX_CELLS, _) => bytes_per_node::<Packed128, Memo>(),
        _ => bytes_per_node::<PackedBytes, Memo>(),
    }
}
