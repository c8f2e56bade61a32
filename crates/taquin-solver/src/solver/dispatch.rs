//! Static dispatch: from board size and `HeuristicKind` to code compiled for the packed board and the heuristic.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::plan::Plan;
use super::request::SearchRequest;
use crate::domain::{Packed, Packed64, Packed128, PackedBytes, Puzzle, Size};
use crate::search::heuristic::{
    AdditivePatterns, Costs, DisjointCosts, DisjointPatterns, ExactDistance, Gaschnig, GoalClass, Hamming,
    InversionDistance, LargeAdditivePatterns, LargeCosts, LinearConflict, Manhattan, Partition, Sum, TableUpgrade,
    Tier, WalkingDistance, Zero,
};
use crate::search::{
    Algorithm, GeneratedNodes, HeuristicKind, HeuristicSearch, Space, Trace, bytes_beside_nodes, bytes_per_beam_node,
    bytes_per_node,
};
use crate::tables::{PatternTables, TableSource};

/// A call that is generic over the packed board and the heuristic.
pub(crate) trait HeuristicCall {
    /// Result of the call.
    type Output;

    /// Runs the call.
    fn call<P: Packed, H: HeuristicSearch<P>>(self, space: &Space<P>, heuristic: &H) -> Self::Output;
}

/// Most patterns of a partition on boards of up to 25 cells, and on larger boards.
const PAIR_PATTERNS: usize = 5;
const BYTES_PATTERNS: usize = 7;
type PairPatterns<'t> = LargeAdditivePatterns<'t, PAIR_PATTERNS>;
type BytesPatterns<'t> = LargeAdditivePatterns<'t, BYTES_PATTERNS>;

/// Polls of a search for each look at the loaded patterns: about one in five milliseconds.
const POLLS_PER_LOOK_UP: u64 = 256;

/// The tables of one search.
#[derive(Debug)]
pub struct SearchTables<'t> {
    tables: &'t dyn TableSource,
    /// The patterns that the search starts with.
    patterns: OnceLock<Arc<PatternTables>>,
    /// The tables of the patterns that the request chose.
    chosen: OnceLock<DisjointPatterns>,
    /// True if IDA\* may continue with stronger patterns.
    is_upgradable: bool,
    /// Stronger patterns that were loaded meanwhile, by tier.
    stronger: [OnceLock<Arc<PatternTables>>; Tier::ALL.len()],
    /// True for the tiers with which a search continued.
    continued: [AtomicBool; Tier::ALL.len()],
    /// Number of times that a search has asked for stronger patterns.
    polls: AtomicU64,
}

impl<'t> SearchTables<'t> {
    /// Tables whose patterns the search loads or builds.
    pub fn new(tables: &'t dyn TableSource) -> Self {
        Self {
            tables,
            patterns: OnceLock::new(),
            chosen: OnceLock::new(),
            is_upgradable: false,
            stronger: Default::default(),
            continued: Default::default(),
            polls: AtomicU64::new(0),
        }
    }

    /// The source of the tables.
    pub fn tables(&self) -> &'t dyn TableSource {
        self.tables
    }

    /// Tables whose patterns are loaded already.
    pub fn with_patterns(tables: &'t dyn TableSource, patterns: Option<Arc<PatternTables>>) -> Self {
        Self { patterns: patterns.map_or_else(OnceLock::new, OnceLock::from), ..Self::new(tables) }
    }

    /// Lets IDA\* continue with stronger patterns once they are loaded.
    pub fn upgradable(self, is_upgradable: bool) -> Self {
        Self { is_upgradable, ..self }
    }

    /// Builds the tables of the patterns that a request chose, if any. Returns false if `is_stopped` returned true.
    pub(crate) fn build_chosen(&self, request: &SearchRequest, is_stopped: &mut dyn FnMut() -> bool) -> bool {
        let Some(patterns) = &request.plan.patterns else { return true };
        let built = DisjointPatterns::build(patterns, request.puzzle.goal(), is_stopped);
        built.is_some_and(|built| self.chosen.set(built).is_ok())
    }

    /// The tables of the patterns that the request chose, once they are built.
    pub(crate) fn chosen(&self) -> Option<&DisjointPatterns> {
        self.chosen.get()
    }

    /// The patterns that the search has used, from the strongest.
    pub(crate) fn used(&self) -> impl Iterator<Item = &Arc<PatternTables>> {
        let is_used = |loaded: &&Arc<PatternTables>| self.continued[loaded.tier() as usize].load(Ordering::Relaxed);
        self.stronger.iter().rev().filter_map(OnceLock::get).filter(is_used).chain(self.patterns.get())
    }

    fn loaded_since(&self, than: Tier) -> Option<&Arc<PatternTables>> {
        self.stronger[than as usize + 1..].iter().rev().find_map(OnceLock::get)
    }

    /// The source of stronger patterns, and the tier of the search's first patterns.
    fn upgrade(&self, loaded: &PatternTables) -> Option<(&dyn TableUpgrade, Tier)> {
        (self.is_upgradable && self.tables.may_improve(loaded)).then_some((self, loaded.tier()))
    }
}

impl TableUpgrade for SearchTables<'_> {
    fn has_better(&self, than: Tier) -> bool {
        if self.polls.fetch_add(1, Ordering::Relaxed).is_multiple_of(POLLS_PER_LOOK_UP) {
            let class = self.patterns.get().map(|loaded| loaded.class());
            if let Some(loaded) = class.and_then(|class| self.tables.loaded_patterns(class)) {
                self.stronger[loaded.tier() as usize].get_or_init(|| loaded);
            }
        }
        self.loaded_since(than).is_some()
    }

    fn take_better(&self, than: Tier) -> Option<(Tier, &[Partition])> {
        let loaded = self.loaded_since(than)?;
        self.continued[loaded.tier() as usize].store(true, Ordering::Relaxed);
        Some((loaded.tier(), loaded.partitions()))
    }
}

/// Runs a call with the heuristic of a kind.
///
/// # Panics
/// If the heuristic does not serve the size of the puzzle; plans exclude that.
pub(crate) fn dispatch<C: HeuristicCall>(
    puzzle: &Puzzle,
    heuristic: HeuristicKind,
    own: &SearchTables<'_>,
    call: C,
) -> C::Output {
    let tables = own.tables;
    let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
    if let (Some(chosen), HeuristicKind::PatternDatabase) = (own.chosen(), heuristic) {
        return call.call(&Space::<Packed64>::new(puzzle), chosen);
    }
    match (size.cells(), heuristic) {
        (_, HeuristicKind::PatternDatabase) if GoalClass::serves(size) => {
            let loaded = own.patterns.get_or_init(|| tables.patterns(GoalClass::of(size, goal_blank)));
            let (partitions, upgrade) = (loaded.partitions(), own.upgrade(loaded));
            match size.cells() {
                ..=Packed64::MAX_CELLS => {
                    let patterns = AdditivePatterns::new(size, goal_blank, partitions).with_upgrade(upgrade);
                    call.call(&Space::<Packed64>::new(puzzle), &patterns)
                }
                17..=Packed128::MAX_CELLS => {
                    let patterns = PairPatterns::new(size, goal_blank, partitions).with_upgrade(upgrade);
                    call.call(&Space::<Packed128>::new(puzzle), &patterns)
                }
                _ => {
                    let patterns = BytesPatterns::new(size, goal_blank, partitions).with_upgrade(upgrade);
                    call.call(&Space::<PackedBytes>::new(puzzle), &patterns)
                }
            }
        }
        (_, HeuristicKind::PatternDatabase) => {
            let table = tables.small().distances(size, goal_blank);
            call.call(&Space::<Packed64>::new(puzzle), &ExactDistance::new(table))
        }
        (_, HeuristicKind::WalkingDistance) => {
            let [rows, cols] = WalkingDistance::shapes(size, goal_blank).map(|shape| tables.small().walking(shape));
            call.call(&Space::<Packed64>::new(puzzle), &WalkingDistance::new(size, goal_blank, rows, cols))
        }
        _ => dispatch_without_tables(puzzle, heuristic, call),
    }
}

/// Runs a call with a heuristic that has no tables.
///
/// # Panics
/// If the heuristic has tables.
pub(crate) fn dispatch_without_tables<C: HeuristicCall>(
    puzzle: &Puzzle,
    heuristic: HeuristicKind,
    call: C,
) -> C::Output {
    match puzzle.size().cells() {
        ..=Packed64::MAX_CELLS => dispatch_heuristic(&Space::<Packed64>::new(puzzle), heuristic, call),
        17..=Packed128::MAX_CELLS => dispatch_heuristic(&Space::<Packed128>::new(puzzle), heuristic, call),
        _ => dispatch_heuristic(&Space::<PackedBytes>::new(puzzle), heuristic, call),
    }
}

fn dispatch_heuristic<P: Packed, C: HeuristicCall>(space: &Space<P>, heuristic: HeuristicKind, call: C) -> C::Output {
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
            unreachable!("`dispatch` serves heuristics with tables")
        }
    }
}

/// Memory of a search beside its nodes: the path, the move tables and a thread's stack; with patterns also the parallel
/// search's parts of an iteration; for anytime search on large boards also the stage tables.
fn bytes_beside_nodes_of(size: Size, algorithm: Algorithm, heuristic: HeuristicKind) -> u64 {
    let is_in_parts = heuristic == HeuristicKind::PatternDatabase && GoalClass::serves(size);
    let is_in_stages = algorithm == Algorithm::Anytime && size.cells() > Packed64::MAX_CELLS;
    let stages = if is_in_stages { bytes_beside_nodes(size) } else { 0 };
    stages + if is_in_parts { 2 << 20 } else { 256 << 10 }
}

/// Number of nodes that fit into `bytes` bytes.
pub fn nodes_within(bytes: u64, size: Size, algorithm: Algorithm, heuristic: HeuristicKind) -> u64 {
    let beside = bytes_beside_nodes_of(size, algorithm, heuristic);
    let nodes = bytes.saturating_sub(beside) / bytes_per_node_of(size, algorithm, heuristic);
    // Node indices have 32 bits; the largest stands for no node.
    nodes.clamp(1, u64::from(u32::MAX) - 1)
}

/// Number of nodes of a search with this plan that fit into `bytes` bytes, beside the tables that it builds.
pub fn nodes_of_plan(bytes: u64, size: Size, plan: &Plan) -> u64 {
    let Some(patterns) = &plan.patterns else { return nodes_within(bytes, size, plan.algorithm, plan.heuristic) };
    let beside = bytes_beside_nodes_of(size, plan.algorithm, plan.heuristic) + patterns.bytes();
    (bytes.saturating_sub(beside) / bytes_per_node_of_plan(size, plan)).clamp(1, u64::from(u32::MAX) - 1)
}

fn bytes_per_node_of_plan(size: Size, plan: &Plan) -> u64 {
    match plan.patterns {
        Some(_) if plan.algorithm != Algorithm::Anytime => bytes_per_node::<Packed64, DisjointCosts>(),
        _ => bytes_per_node_of(size, plan.algorithm, plan.heuristic),
    }
}

/// Upper bound on the memory of a search and of the lists of nodes that it records.
pub fn bytes_for(request: &SearchRequest) -> u64 {
    let size = request.puzzle.size();
    let nodes = request.plan.most_nodes(size).min(request.limits.nodes);
    bytes_beside_nodes_of(size, request.plan.algorithm, request.plan.heuristic)
        + Trace::most_bytes(size, request.most_expansions() as u64)
        + GeneratedNodes::most_bytes(size, request.most_generated() as u64)
        + request.plan.patterns.map_or(0, |patterns| patterns.bytes())
        + nodes * bytes_per_node_of_plan(size, &request.plan)
}

fn bytes_per_node_of(size: Size, algorithm: Algorithm, heuristic: HeuristicKind) -> u64 {
    /// Only patterns have a larger memo.
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::tables::SmallTables;

    /// Small patterns, and standard ones from a time on.
    #[derive(Debug, Default)]
    struct Improving {
        small: SmallTables,
        loaded: Mutex<Option<Arc<PatternTables>>>,
    }

    impl Improving {
        fn improve(&self, class: GoalClass, tier: Tier) -> Arc<PatternTables> {
            let built = Arc::new(PatternTables::build(class, tier, 2).unwrap());
            *self.loaded.lock().unwrap() = Some(Arc::clone(&built));
            built
        }
    }

    impl TableSource for Improving {
        fn small(&self) -> &SmallTables {
            &self.small
        }

        fn patterns(&self, class: GoalClass) -> Arc<PatternTables> {
            self.loaded_patterns(class).unwrap_or_else(|| self.improve(class, Tier::Small))
        }

        fn loaded_patterns(&self, _: GoalClass) -> Option<Arc<PatternTables>> {
            self.loaded.lock().unwrap().clone()
        }

        fn may_improve(&self, _: &PatternTables) -> bool {
            true
        }
    }

    #[test]
    fn patterns_loaded_during_a_search_are_its_upgrade() {
        let class = GoalClass::corner_of_4x4();
        let tables = Improving::default();
        let small = tables.patterns(class);
        let own = SearchTables::with_patterns(&tables, Some(Arc::clone(&small))).upgradable(true);
        assert!(!own.has_better(small.tier()) && own.take_better(small.tier()).is_none());
        assert!(own.upgrade(&small).is_some() && SearchTables::new(&tables).upgrade(&small).is_none());
        let tier_in_use = || own.used().next().map(|loaded| loaded.tier());
        tables.improve(class, Tier::Standard);
        assert!((0..POLLS_PER_LOOK_UP).any(|_| own.has_better(Tier::Small)) && !own.has_better(Tier::Standard));
        assert_eq!(tier_in_use(), Some(Tier::Small), "no search continued with the stronger ones");
        let (tier, partitions) = own.take_better(Tier::Small).unwrap();
        assert!(tier == Tier::Standard && Partition::bytes_of(partitions) > small.bytes());
        assert_eq!(tier_in_use(), Some(Tier::Standard));
        assert_eq!(own.used().count(), 2);
    }
}
