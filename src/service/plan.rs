//! Which search to make: wishes, and plans that make sense.

use crate::domain::Size;
use crate::search::heuristic::DistanceTable;
use crate::search::{Algorithm, DuplicateDetection, HeuristicKind, Named, TieBreaking, Weight};

/// A search as somebody asked for it; `None` leaves the choice to the house.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish {
    /// The algorithm.
    pub algorithm: Option<Algorithm>,
    /// The heuristic.
    pub heuristic: Option<HeuristicKind>,
    /// The weight of h, for weighted A*.
    pub weight: Weight,
    /// Which node of equal f goes first, for best-first searches.
    pub tie_breaking: TieBreaking,
    /// What becomes of boards generated again.
    pub duplicate_detection: DuplicateDetection,
    /// The deepest node, for depth-first search.
    pub depth_limit: Option<u32>,
    /// Whether nothing but a proven optimal solution will do.
    pub require_optimal: bool,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            algorithm: None,
            heuristic: None,
            weight: Weight::ONE,
            tie_breaking: TieBreaking::default(),
            duplicate_detection: DuplicateDetection::default(),
            depth_limit: None,
            require_optimal: false,
        }
    }
}

/// A choice that does not go with the others, or with the board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The field that has to change.
    pub field: &'static str,
    /// Why, and what would do.
    pub detail: String,
}

/// A search that can be made, with every choice taken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    pub(super) algorithm: Algorithm,
    pub(super) heuristic: HeuristicKind,
    pub(super) weight: Weight,
    pub(super) tie_breaking: TieBreaking,
    pub(super) duplicate_detection: DuplicateDetection,
    pub(super) depth_limit: Option<u32>,
    /// Whether any solution is welcome when the search is stopped, so that there always is one.
    pub(super) falls_back: bool,
    pub(super) require_optimal: bool,
    /// Whether another heuristic will do where the tables of this one cannot be had in time.
    pub(super) is_heuristic_open: bool,
}

/// The largest boards on which the house proves solutions optimal of its own accord.
const OPTIMAL_CELLS: usize = 16;

impl Plan {
    /// Takes every choice that was left open, best for boards of this shape.
    ///
    /// A knob at its default is always accepted; one that is not, and that the search would ignore,
    /// is refused.
    ///
    /// # Errors
    /// Every conflict at once.
    pub fn try_new(wish: &Wish, size: Size) -> Result<Self, Vec<Conflict>> {
        let conflicts = conflicts(wish, size);
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        Ok(Self::choose(wish, size))
    }

    /// What is best for boards of this shape.
    pub fn auto(size: Size) -> Self {
        Self::choose(&Wish::default(), size)
    }

    /// Takes the choices that were left open; those taken go together.
    fn choose(wish: &Wish, size: Size) -> Self {
        let algorithm = wish.algorithm.unwrap_or({
            if DistanceTable::serves(size) {
                Algorithm::AStar
            } else if size.cells() <= OPTIMAL_CELLS {
                Algorithm::IdaStar
            } else if wish.heuristic.is_none_or(HeuristicKind::is_admissible) {
                Algorithm::Anytime
            } else {
                Algorithm::GreedyBestFirst
            }
        });
        let heuristic = match wish.heuristic {
            _ if !algorithm.takes_heuristic() => HeuristicKind::Zero,
            Some(heuristic) => heuristic,
            None => best_heuristic(size),
        };
        Self {
            algorithm,
            heuristic,
            weight: wish.weight,
            tie_breaking: wish.tie_breaking,
            duplicate_detection: wish.duplicate_detection,
            depth_limit: wish.depth_limit,
            falls_back: wish.algorithm.is_none() && !wish.require_optimal,
            require_optimal: wish.require_optimal,
            is_heuristic_open: wish.heuristic.is_none() && size.cells() > OPTIMAL_CELLS,
        }
    }
}

impl Plan {
    /// Whether the search is over in microseconds whatever the board: A* with a perfect heuristic that
    /// prefers the newest among equals walks straight to the goal.
    pub(super) fn is_instant(&self) -> bool {
        self.algorithm == Algorithm::AStar
            && self.heuristic == HeuristicKind::PatternDatabase
            && self.tie_breaking.is_newest_first()
    }
}

impl Plan {
    /// Whether any solution is worth telling until the search ends: it ends with one that is no longer, or gives that one
    /// back. Anytime search tells of its own.
    pub(super) fn begins_with_any(&self) -> bool {
        let Self { algorithm, heuristic, falls_back, require_optimal, .. } = *self;
        let is_optimal = algorithm.is_optimal() && heuristic.is_admissible();
        (falls_back || require_optimal) && is_optimal && algorithm != Algorithm::Anytime
    }

    /// Whether the search makes use of all the time that it has, on most boards.
    pub(super) fn goes_on(&self) -> bool {
        self.algorithm == Algorithm::Anytime
    }

    /// Into how many parts the nodes of a search are to be divided of which one is enough: who searches until the time
    /// is over is not to hold what all others wait for.
    pub(super) fn parts(&self) -> u64 {
        if self.goes_on() { 4 } else { 1 }
    }

    /// The most nodes that the search keeps, whatever the board: none where it walks the tree in place,
    /// and each board once or twice where it knows them again.
    pub(super) fn most_nodes(&self, size: Size) -> u64 {
        match self.algorithm {
            Algorithm::IdaStar | Algorithm::IterativeDeepening | Algorithm::Constructive => 0,
            Algorithm::Anytime => u64::MAX,
            _ if self.duplicate_detection == DuplicateDetection::Parent || self.depth_limit.is_some() => u64::MAX,
            // Of all arrangements half can be reached, and some are kept again when a shorter path is found.
            _ => (2..=size.cells() as u64).try_fold(1, u64::checked_mul).unwrap_or(u64::MAX),
        }
    }
}

impl Plan {
    /// The same with a heuristic that needs no tables.
    pub(super) fn without_tables(self) -> Self {
        Self { heuristic: HeuristicKind::LinearConflict, ..self }
    }
}

/// The largest boards on which the house goes by patterns of its own accord. On larger ones they lead to solutions no
/// shorter than linear conflict does in the same time, and take seconds to measure.
const PATTERN_CELLS: usize = 25;

/// The admissible heuristic that serves boards of this shape best.
fn best_heuristic(size: Size) -> HeuristicKind {
    let strongest = HeuristicKind::PatternDatabase;
    if strongest.serves(size) && size.cells() <= PATTERN_CELLS { strongest } else { HeuristicKind::LinearConflict }
}

fn conflicts(wish: &Wish, size: Size) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    let mut refuse = |field, detail: String| conflicts.push(Conflict { field, detail });
    // What `auto` would ignore, a named algorithm may not.
    let named = |fits: fn(Algorithm) -> bool| wish.algorithm.is_some_and(fits);
    let algorithm = wish.algorithm.map_or("auto", Named::name);
    if let Some(heuristic) = wish.heuristic {
        heuristic_conflicts(heuristic, wish.algorithm, size).for_each(|detail| refuse("heuristic", detail));
    }
    if wish.weight != Weight::ONE && !named(|algorithm| algorithm == Algorithm::WeightedAStar) {
        refuse("weight", format!("`{algorithm}` has no weight: use `weighted_astar`, or leave the weight out"));
    }
    if wish.tie_breaking != TieBreaking::default() && !named(Algorithm::is_best_first) {
        let instead = "use `astar`, `weighted_astar` or `greedy_best_first`, or leave it out";
        refuse("tie_breaking", format!("`{algorithm}` does not choose among nodes of equal f: {instead}"));
    }
    if wish.duplicate_detection != DuplicateDetection::default() && !named(can_skip_detection) {
        let instead = "use a best-first, breadth-first or depth-first search, or leave it out";
        refuse("duplicate_detection", format!("`{algorithm}` does not let it be chosen: {instead}"));
    }
    if wish.depth_limit.is_some() && !named(|algorithm| algorithm == Algorithm::DepthFirst) {
        refuse("depth_limit", format!("`{algorithm}` has no depth limit: use `depth_first`, or leave it out"));
    }
    if wish.require_optimal && !promises_optimal(wish) {
        let search =
            wish.heuristic.map_or_else(|| format!("`{algorithm}`"), |h| format!("`{algorithm}` with `{}`", h.name()));
        refuse("require", format!("{search} does not promise an optimal solution; `auto` does"));
    }
    conflicts
}

/// What keeps a heuristic from a board, or from a search that was asked for by name.
fn heuristic_conflicts(
    heuristic: HeuristicKind,
    algorithm: Option<Algorithm>,
    size: Size,
) -> impl Iterator<Item = String> {
    let name = heuristic.name();
    let unserved = || format!("`{name}` is not available on {size} boards; see /info for the boards it serves");
    let unfit = match algorithm {
        Some(Algorithm::Anytime) if !heuristic.is_admissible() => {
            Some(format!("`anytime` proves how good its solution is, which `{name}`, not admissible, cannot"))
        }
        Some(algorithm) if !algorithm.takes_heuristic() && heuristic != HeuristicKind::Zero => {
            Some(format!("`{}` takes no heuristic: leave `{name}` out", algorithm.name()))
        }
        _ => None,
    };
    (!heuristic.serves(size)).then(unserved).into_iter().chain(unfit)
}

fn can_skip_detection(algorithm: Algorithm) -> bool {
    algorithm.is_best_first() || matches!(algorithm, Algorithm::BreadthFirst | Algorithm::DepthFirst)
}

fn promises_optimal(wish: &Wish) -> bool {
    let is_optimal = wish.algorithm.is_none_or(|algorithm| {
        algorithm.is_optimal() || (algorithm == Algorithm::WeightedAStar && wish.weight == Weight::ONE)
    });
    is_optimal && wish.heuristic.is_none_or(HeuristicKind::is_admissible)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    fn planned(wish: Wish, size: Size) -> (Algorithm, HeuristicKind) {
        let plan = Plan::try_new(&wish, size).unwrap();
        (plan.algorithm, plan.heuristic)
    }

    #[test]
    fn auto_takes_the_best_search_for_the_shape() {
        let auto = Wish::default();
        assert_eq!(planned(auto, size(3, 3)), (Algorithm::AStar, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(4, 4)), (Algorithm::IdaStar, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(2, 8)), (Algorithm::IdaStar, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(5, 5)), (Algorithm::Anytime, HeuristicKind::PatternDatabase));
        assert_eq!(planned(auto, size(3, 9)), (Algorithm::Anytime, HeuristicKind::LinearConflict));
        let named = Wish { heuristic: Some(HeuristicKind::PatternDatabase), ..auto };
        assert_eq!(planned(named, size(3, 9)), (Algorithm::Anytime, HeuristicKind::PatternDatabase));
        let optimal = Wish { require_optimal: true, ..auto };
        assert_eq!(planned(optimal, size(5, 5)), (Algorithm::Anytime, HeuristicKind::PatternDatabase));
    }

    #[test]
    fn knobs_at_their_defaults_go_with_every_algorithm() {
        for algorithm in Algorithm::ALL {
            let wish = Wish { algorithm: Some(*algorithm), ..Wish::default() };
            assert!(Plan::try_new(&wish, size(3, 3)).is_ok(), "{algorithm:?}");
        }
    }

    #[test]
    fn every_knob_that_would_be_ignored_is_refused_at_once() {
        let wish = Wish {
            algorithm: Some(Algorithm::BreadthFirst),
            heuristic: Some(HeuristicKind::Manhattan),
            weight: Weight::MAX,
            tie_breaking: TieBreaking::Heap,
            depth_limit: Some(3),
            ..Wish::default()
        };
        let fields: Vec<_> = Plan::try_new(&wish, size(3, 3)).unwrap_err().into_iter().map(|c| c.field).collect();
        assert_eq!(fields, ["heuristic", "weight", "tie_breaking", "depth_limit"]);
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
            let wish = Wish { algorithm, heuristic, require_optimal: true, ..Wish::default() };
            assert_eq!(Plan::try_new(&wish, size(3, 3)).is_ok(), promised, "{algorithm:?} {heuristic:?}");
        }
    }

    #[test]
    fn a_heuristic_is_refused_where_it_has_no_table() {
        let wish = Wish { heuristic: Some(HeuristicKind::PatternDatabase), ..Wish::default() };
        assert_eq!(Plan::try_new(&wish, size(4, 10)).unwrap_err()[0].field, "heuristic");
    }

    #[test]
    fn anytime_search_goes_by_what_is_admissible() {
        for (heuristic, fits) in [(HeuristicKind::Manhattan, true), (HeuristicKind::ManhattanPlusHamming, false)] {
            let named = Wish { algorithm: Some(Algorithm::Anytime), heuristic: Some(heuristic), ..Wish::default() };
            assert_eq!(Plan::try_new(&named, size(5, 5)).is_ok(), fits);
            let auto = Wish { heuristic: Some(heuristic), ..Wish::default() };
            assert_eq!(planned(auto, size(5, 5)).0 == Algorithm::Anytime, fits);
        }
    }
}
