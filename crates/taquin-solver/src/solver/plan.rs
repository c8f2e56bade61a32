//! Requested search options, and the plan of a search: options checked and completed.

use crate::Named;
use crate::domain::{Metric, Size};
use crate::search::heuristic::{DistanceTable, TilePatterns};
use crate::search::{Algorithm, DuplicateDetection, HeuristicKind, SuccessorOrder, TieBreaking, Weight};

/// Requested search options; `None` lets the service choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchOptions {
    /// Search algorithm.
    pub algorithm: Option<Algorithm>,
    /// Heuristic of the search.
    pub heuristic: Option<HeuristicKind>,
    /// Weight of h, for weighted A*.
    pub weight: Weight,
    /// Order of nodes of equal f, for best-first searches.
    pub tie_breaking: TieBreaking,
    /// Treatment of boards that are generated again.
    pub duplicate_detection: DuplicateDetection,
    /// Order in which successors are generated, for searches that store nodes.
    pub successor_order: SuccessorOrder,
    /// Maximum depth, for depth-first search, iterative deepening and IDA*.
    pub depth_limit: Option<u32>,
    /// True if only a proven optimal solution is accepted.
    pub require_optimal: bool,
    /// How lengths are counted.
    pub metric: Metric,
    /// Patterns whose tables the search builds and uses, instead of the tables of `pattern_database`.
    pub patterns: Option<TilePatterns>,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            algorithm: None,
            heuristic: None,
            weight: Weight::ONE,
            tie_breaking: TieBreaking::default(),
            duplicate_detection: DuplicateDetection::default(),
            successor_order: SuccessorOrder::default(),
            depth_limit: None,
            require_optimal: false,
            metric: Metric::default(),
            patterns: None,
        }
    }
}

impl SearchOptions {
    /// True if the search proves its solution optimal.
    pub fn promises_optimal(&self) -> bool {
        let is_optimal = self.algorithm.is_none_or(|algorithm| {
            algorithm.is_optimal() || (algorithm == Algorithm::WeightedAStar && self.weight == Weight::ONE)
        });
        is_optimal && self.heuristic.is_none_or(HeuristicKind::is_admissible)
    }
}

/// An option that contradicts another one or the board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlanConflict {
    /// The field to change.
    pub field: &'static str,
    /// The reason, and an alternative.
    pub detail: String,
}

/// The plan of a search: compatible options, none left open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// Search algorithm.
    pub algorithm: Algorithm,
    /// Heuristic of the search; [`HeuristicKind::Zero`] for an algorithm without one.
    pub heuristic: HeuristicKind,
    /// Weight of h, for weighted A*.
    pub weight: Weight,
    /// Order of nodes of equal f, for best-first searches.
    pub tie_breaking: TieBreaking,
    /// Treatment of boards that are generated again.
    pub duplicate_detection: DuplicateDetection,
    /// Order in which successors are generated, for searches that store nodes.
    pub successor_order: SuccessorOrder,
    /// Maximum depth, for depth-first search, iterative deepening and IDA*.
    pub depth_limit: Option<u32>,
    /// True if the constructive solution may replace the solution of a stopped search.
    pub falls_back: bool,
    /// True if only a proven optimal solution is accepted.
    pub require_optimal: bool,
    /// How lengths are counted.
    pub metric: Metric,
    /// True if another heuristic may be used when there is no memory for the tables of this one; above 16 cells also
    /// when they are not built in time.
    pub is_heuristic_open: bool,
    /// Patterns whose tables the search builds and uses.
    pub patterns: Option<TilePatterns>,
}

/// Largest boards on which `auto` proves solutions optimal.
const OPTIMAL_CELLS: usize = 16;

impl Plan {
    /// Checks the options and chooses the open ones for boards of this size.
    ///
    /// An option at its default is always accepted. Any other value that the search would ignore is rejected.
    ///
    /// # Errors
    /// All conflicts at once.
    pub fn try_new(options: &SearchOptions, size: Size) -> Result<Self, Vec<PlanConflict>> {
        let conflicts = conflicts(options, size);
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        Ok(Self::choose(options, size))
    }

    /// The default plan for boards of this size.
    pub fn auto(size: Size) -> Self {
        Self::choose(&SearchOptions::default(), size)
    }

    /// The plan that finds a solution of at most `depth` moves or proves that there is none, on boards whose optimal
    /// solutions `auto` proves.
    pub fn within(size: Size, depth: u32) -> Self {
        Self { algorithm: Algorithm::IdaStar, depth_limit: Some(depth), falls_back: false, ..Self::auto(size) }
    }

    /// True if `auto` proves solutions optimal on boards of this size.
    pub fn is_proven_by_auto(size: Size) -> bool {
        size.cells() <= OPTIMAL_CELLS
    }

    /// Chooses the open options; the others are compatible.
    fn choose(options: &SearchOptions, size: Size) -> Self {
        let algorithm = options.algorithm.unwrap_or({
            if DistanceTable::serves(size) {
                Algorithm::AStar
            } else if size.cells() <= OPTIMAL_CELLS {
                Algorithm::IdaStar
            } else if options.heuristic.is_none_or(HeuristicKind::is_admissible) {
                Algorithm::Anytime
            } else {
                Algorithm::GreedyBestFirst
            }
        });
        let heuristic = match options.heuristic {
            _ if !algorithm.takes_heuristic() => HeuristicKind::Zero,
            Some(heuristic) => heuristic,
            None if options.patterns.is_some() => HeuristicKind::PatternDatabase,
            None => best_heuristic(size),
        };
        let is_multi_tile = options.metric == Metric::MultiTile;
        Self {
            algorithm,
            heuristic,
            weight: options.weight,
            tie_breaking: options.tie_breaking,
            duplicate_detection: options.duplicate_detection,
            successor_order: options.successor_order,
            depth_limit: options.depth_limit,
            falls_back: options.algorithm.is_none() && !options.require_optimal && !is_multi_tile,
            require_optimal: options.require_optimal,
            metric: options.metric,
            is_heuristic_open: options.heuristic.is_none() && options.patterns.is_none(),
            patterns: options.patterns,
        }
    }

    /// True if the search takes microseconds on every board: A\* with the exact distance goes straight to the goal if
    /// it prefers the newest of equal nodes.
    pub fn is_instant(&self) -> bool {
        self.metric == Metric::SingleTile
            && self.patterns.is_none()
            && self.algorithm == Algorithm::AStar
            && self.heuristic == HeuristicKind::PatternDatabase
            && self.tie_breaking.is_newest_first()
    }

    /// True if the solver reports a constructed solution before the search ends. The search then returns an optimal
    /// solution or the constructed one. False for anytime search, which reports its own solutions.
    pub fn reports_initial_solution(&self) -> bool {
        let Self { algorithm, heuristic, falls_back, require_optimal, .. } = *self;
        let is_optimal = algorithm.is_optimal() && heuristic.is_admissible();
        (falls_back || require_optimal) && is_optimal && algorithm != Algorithm::Anytime
    }

    /// True if the search uses pattern databases.
    pub fn uses_patterns(&self) -> bool {
        self.heuristic == HeuristicKind::PatternDatabase
    }

    /// True if the search runs until its deadline on most boards.
    pub fn uses_all_time(&self) -> bool {
        self.algorithm == Algorithm::Anytime
    }

    /// Divisor of the node budget. Anytime searches run until the deadline, so they get a quarter.
    pub fn node_budget_divisor(&self) -> u64 {
        if self.uses_all_time() { 4 } else { 1 }
    }

    /// Upper bound on the nodes in memory, whatever the board: none for depth-first walks in place; with duplicate
    /// detection, the number of boards.
    pub fn most_nodes(&self, size: Size) -> u64 {
        match self.algorithm {
            Algorithm::IdaStar | Algorithm::IterativeDeepening | Algorithm::Constructive => 0,
            Algorithm::Anytime => u64::MAX,
            _ if self.duplicate_detection != DuplicateDetection::Closed || self.depth_limit.is_some() => u64::MAX,
            // Half of all permutations are reachable; some are stored again when a shorter path is found.
            _ => (2..=size.cells() as u64).try_fold(1, u64::checked_mul).unwrap_or(u64::MAX),
        }
    }

    /// Replaces the heuristic with a heuristic without tables.
    pub fn without_tables(self) -> Self {
        Self { heuristic: HeuristicKind::LinearConflict, patterns: None, ..self }
    }
}

/// Largest boards on which `auto` uses patterns. On larger ones they take seconds to build, and solutions are no
/// shorter than with linear conflict in the same time.
const PATTERN_CELLS: usize = 25;

/// The best admissible heuristic for boards of this size.
fn best_heuristic(size: Size) -> HeuristicKind {
    let strongest = HeuristicKind::PatternDatabase;
    if strongest.serves(size) && size.cells() <= PATTERN_CELLS { strongest } else { HeuristicKind::LinearConflict }
}

fn conflicts(options: &SearchOptions, size: Size) -> Vec<PlanConflict> {
    let mut conflicts = Vec::new();
    let mut refuse = |field, detail: String| conflicts.push(PlanConflict { field, detail });
    // Options that `auto` ignores are conflicts with a named algorithm only.
    let named = |fits: fn(Algorithm) -> bool| options.algorithm.is_some_and(fits);
    let algorithm = options.algorithm.map_or("auto", Named::name);
    if options.metric == Metric::MultiTile {
        multi_tile_conflicts(options, size).into_iter().for_each(|(field, detail)| refuse(field, detail));
    }
    if let Some(heuristic) = options.heuristic {
        heuristic_conflicts(heuristic, options.algorithm, size).for_each(|detail| refuse("heuristic", detail));
    }
    if let Some(patterns) = &options.patterns {
        pattern_conflicts(patterns, options, size).into_iter().for_each(|detail| refuse("patterns", detail));
    }
    if options.weight != Weight::ONE && !named(|algorithm| algorithm == Algorithm::WeightedAStar) {
        refuse("weight", format!("`{algorithm}` has no weight: use `weighted_astar`, or omit the weight"));
    }
    if options.tie_breaking != TieBreaking::default() && !named(Algorithm::is_best_first) {
        let instead = "use `astar`, `weighted_astar` or `greedy_best_first`, or omit it";
        refuse("tie_breaking", format!("`{algorithm}` has no tie-breaking: {instead}"));
    }
    if options.duplicate_detection != DuplicateDetection::default() && !named(Algorithm::has_open_list) {
        let instead = "use a best-first, breadth-first or depth-first search, or omit it";
        refuse("duplicate_detection", format!("`{algorithm}` has no choice of duplicate detection: {instead}"));
    }
    if options.successor_order != SuccessorOrder::default() {
        successor_order_conflict(options, size).into_iter().for_each(|detail| refuse("successor_order", detail));
    }
    if options.depth_limit.is_some() {
        depth_limit_conflict(options, algorithm).into_iter().for_each(|detail| refuse("depth_limit", detail));
    }
    if options.require_optimal && !options.promises_optimal() {
        let search = options
            .heuristic
            .map_or_else(|| format!("`{algorithm}`"), |h| format!("`{algorithm}` with `{}`", h.name()));
        refuse("require", format!("{search} does not guarantee an optimal solution; `auto` does"));
    }
    conflicts
}

/// Conflict of a depth limit with the algorithm, or with the duplicate detection.
fn depth_limit_conflict(options: &SearchOptions, algorithm: &str) -> Option<String> {
    if !options.algorithm.is_some_and(Algorithm::takes_depth_limit) {
        let instead = "use `ida_star`, `iterative_deepening` or `depth_first`, or omit it";
        return Some(format!("`{algorithm}` has no depth limit: {instead}"));
    }
    let detail = "`expanded_only` drops shorter paths, so a depth limit could hide every solution: use `closed` or \
                  `parent`, or omit the depth limit";
    (options.duplicate_detection == DuplicateDetection::ExpandedOnly).then(|| detail.to_owned())
}

/// Conflicts of chosen patterns with the board size or with other options.
fn pattern_conflicts(patterns: &TilePatterns, options: &SearchOptions, size: Size) -> Vec<String> {
    let mut conflicts = Vec::new();
    if patterns.size() != size {
        conflicts.push(format!("the patterns are for {} boards, and the board is {size}", patterns.size()));
    }
    if let Some(heuristic) = options.heuristic.filter(|heuristic| *heuristic != HeuristicKind::PatternDatabase) {
        let name = heuristic.name();
        conflicts
            .push(format!("`{name}` has no patterns: use `pattern_database`, or omit the heuristic or the patterns"));
    }
    if let Some(algorithm) = options.algorithm.filter(|algorithm| !algorithm.takes_heuristic()) {
        conflicts.push(format!("`{}` takes no heuristic: omit the patterns", algorithm.name()));
    }
    if options.metric == Metric::MultiTile {
        conflicts.push("the multi-tile metric has one search: omit the patterns, or omit `metric`".to_owned());
    }
    conflicts
}

/// Conflicts of the multi-tile metric with the board size or with named options.
fn multi_tile_conflicts(options: &SearchOptions, size: Size) -> Vec<(&'static str, String)> {
    let mut conflicts = Vec::new();
    if !DistanceTable::serves(size) {
        let detail = format!(
            "solutions that are optimal in the multi-tile metric are found on boards of up to {} cells, not on {size} \
             boards: omit `metric`; `lengths.multi_tile` counts the moves of any solution in this metric",
            DistanceTable::MAX_CELLS
        );
        conflicts.push(("metric", detail));
    }
    for (field, is_named) in [("algorithm", options.algorithm.is_some()), ("heuristic", options.heuristic.is_some())] {
        if is_named {
            conflicts.push((field, format!("the multi-tile metric has one search: omit `{field}`, or omit `metric`")));
        }
    }
    conflicts
}

/// Conflicts of a heuristic with the board size or with a named algorithm.
fn heuristic_conflicts(
    heuristic: HeuristicKind,
    algorithm: Option<Algorithm>,
    size: Size,
) -> impl Iterator<Item = String> {
    let name = heuristic.name();
    let unserved = || format!("`{name}` does not support {size} boards; see /info");
    let unfit = match algorithm {
        Some(Algorithm::Anytime) if !heuristic.is_admissible() => {
            Some(format!("`anytime` needs an admissible heuristic, which `{name}` is not"))
        }
        Some(algorithm) if !algorithm.takes_heuristic() && heuristic != HeuristicKind::Zero => {
            Some(format!("`{}` takes no heuristic: omit `{name}`", algorithm.name()))
        }
        _ => None,
    };
    (!heuristic.serves(size)).then(unserved).into_iter().chain(unfit)
}

/// Conflict of a successor order other than the default with the search.
fn successor_order_conflict(options: &SearchOptions, size: Size) -> Option<String> {
    let algorithm = options.algorithm.map_or("auto", Named::name);
    if !options.algorithm.is_some_and(Algorithm::has_open_list) {
        let instead = "use a best-first, breadth-first or depth-first search, or omit it";
        return Some(format!("`{algorithm}` has no choice of successor order: {instead}"));
    }
    let is_perfect = options.algorithm == Some(Algorithm::AStar)
        && DistanceTable::serves(size)
        && options.patterns.is_none()
        && options.heuristic.is_none_or(|heuristic| heuristic == HeuristicKind::PatternDatabase)
        && options.tie_breaking.is_newest_first();
    let instead = "use another heuristic, `tie_breaking` `fifo` or `heap`, or omit it";
    is_perfect.then(|| format!("the exact distances of `pattern_database` choose the successors: {instead}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    fn planned(options: SearchOptions, size: Size) -> (Algorithm, HeuristicKind) {
        let plan = Plan::try_new(&options, size).unwrap();
        (plan.algorithm, plan.heuristic)
    }

    #[test]
    fn auto_chooses_the_best_search_for_the_size() {
        let auto = SearchOptions::default();
        assert_eq!(planned(auto, size(3, 3)), (Algorithm::AStar, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(4, 4)), (Algorithm::IdaStar, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(2, 8)), (Algorithm::IdaStar, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(5, 5)), (Algorithm::Anytime, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(3, 9)), (Algorithm::Anytime, HeuristicKind::LinearConflict));
        let named = SearchOptions { heuristic: Some(HeuristicKind::PatternDatabase), ..auto };
        assert_eq!(planned(named, size(3, 9)), (Algorithm::Anytime, HeuristicKind::PatternDatabase));
        let optimal = SearchOptions { require_optimal: true, ..auto };
        assert_eq!(planned(optimal, size(5, 5)), (Algorithm::Anytime, HeuristicKind::PatternDatabase));
    }

    #[test]
    fn options_at_their_defaults_fit_every_algorithm() {
        for algorithm in Algorithm::ALL {
            let options = SearchOptions { algorithm: Some(*algorithm), ..SearchOptions::default() };
            assert!(Plan::try_new(&options, size(3, 3)).is_ok(), "{algorithm:?}");
        }
    }

    #[test]
    fn every_option_without_effect_is_rejected_at_once() {
        let options = SearchOptions {
            algorithm: Some(Algorithm::BreadthFirst),
            heuristic: Some(HeuristicKind::Manhattan),
            weight: Weight::MAX,
            tie_breaking: TieBreaking::Heap,
            depth_limit: Some(3),
            ..SearchOptions::default()
        };
        let fields: Vec<_> = Plan::try_new(&options, size(3, 3)).unwrap_err().into_iter().map(|c| c.field).collect();
        assert_eq!(fields, ["heuristic", "weight", "tie_breaking", "depth_limit"]);
    }

    #[test]
    fn a_successor_order_is_rejected_where_it_has_no_effect() {
        let order = SuccessorOrder::from_letters("LRUD").unwrap();
        let fits = |algorithm, heuristic, tie_breaking, size| {
            let options =
                SearchOptions { successor_order: order, algorithm, heuristic, tie_breaking, ..Default::default() };
            Plan::try_new(&options, size).map_err(|conflicts| conflicts[0].field)
        };
        let (astar, rejected) = (Some(Algorithm::AStar), Err("successor_order"));
        for heuristic in [None, Some(HeuristicKind::PatternDatabase)] {
            assert_eq!(fits(astar, heuristic, TieBreaking::LowH, size(3, 3)).map(|_| ()), rejected);
            assert_eq!(fits(astar, heuristic, TieBreaking::Lifo, size(3, 3)).map(|_| ()), rejected);
            assert!(fits(astar, heuristic, TieBreaking::Fifo, size(3, 3)).is_ok());
            assert!(fits(astar, heuristic, TieBreaking::LowH, size(4, 4)).is_ok());
        }
        assert!(fits(astar, Some(HeuristicKind::Manhattan), TieBreaking::LowH, size(3, 3)).is_ok());
        for algorithm in Algorithm::ALL.iter().filter(|algorithm| !algorithm.has_open_list()) {
            assert_eq!(fits(Some(*algorithm), None, TieBreaking::LowH, size(4, 4)).map(|_| ()), rejected);
        }
        assert_eq!(fits(None, None, TieBreaking::LowH, size(4, 4)).map(|_| ()), rejected);
    }

    #[test]
    fn optimality_is_not_promised_by_searches_that_cannot_prove_it() {
        for (algorithm, heuristic, promised) in [
            (None, None, true),
            (Some(Algorithm::AStar), Some(HeuristicKind::ManhattanPlusHamming), false),
            (Some(Algorithm::GreedyBestFirst), None, false),
            (Some(Algorithm::WeightedAStar), None, true),
            (Some(Algorithm::Constructive), None, false),
        ] {
            let options = SearchOptions { algorithm, heuristic, require_optimal: true, ..SearchOptions::default() };
            assert_eq!(Plan::try_new(&options, size(3, 3)).is_ok(), promised, "{algorithm:?} {heuristic:?}");
        }
    }

    #[test]
    fn a_heuristic_is_rejected_where_it_has_no_table() {
        let options = SearchOptions { heuristic: Some(HeuristicKind::PatternDatabase), ..SearchOptions::default() };
        assert_eq!(Plan::try_new(&options, size(4, 10)).unwrap_err()[0].field, "heuristic");
    }

    #[test]
    fn anytime_search_needs_an_admissible_heuristic() {
        for (heuristic, fits) in [(HeuristicKind::Manhattan, true), (HeuristicKind::ManhattanPlusHamming, false)] {
            let named = SearchOptions {
                algorithm: Some(Algorithm::Anytime),
                heuristic: Some(heuristic),
                ..SearchOptions::default()
            };
            assert_eq!(Plan::try_new(&named, size(5, 5)).is_ok(), fits);
            let auto = SearchOptions { heuristic: Some(heuristic), ..SearchOptions::default() };
            assert_eq!(planned(auto, size(5, 5)).0 == Algorithm::Anytime, fits);
        }
    }
}
