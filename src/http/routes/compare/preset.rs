//! Named lists of methods for `/compare`.

use serde_json::{Value, json};
use taquin_solver::{
    Algorithm, DuplicateDetection, HeuristicKind, Named, Plan, SearchOptions, Size, SuccessorOrder, TieBreaking,
    Weight, named,
};

use super::reply::MethodReply;

/// Named list of methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Preset {
    /// A* with each admissible heuristic.
    Heuristics,
    /// Each algorithm with one heuristic. Excludes anytime search, which always uses its whole time limit.
    Algorithms,
    /// Methods of the predecessor systems.
    OlderSystems,
}

named!(Preset { Heuristics => "heuristics", Algorithms => "algorithms", OlderSystems => "older_systems" });

impl Preset {
    /// The methods that support boards of this size, with their plans. Never empty.
    pub(crate) fn on(self, size: Size) -> impl Iterator<Item = (SearchOptions, Plan)> {
        self.methods().into_iter().filter_map(move |options| Some((options, Plan::try_new(&options, size).ok()?)))
    }

    fn methods(self) -> Vec<SearchOptions> {
        match self {
            Self::Heuristics => {
                let is_admissible = |heuristic: &&HeuristicKind| heuristic.is_admissible();
                HeuristicKind::ALL.iter().filter(is_admissible).map(|kind| with(Algorithm::AStar, *kind)).collect()
            }
            Self::Algorithms => {
                let is_compared = |algorithm: &&Algorithm| !matches!(algorithm, Algorithm::Anytime);
                Algorithm::ALL.iter().filter(is_compared).map(|algorithm| typical(*algorithm)).collect()
            }
            Self::OlderSystems => older_systems().into(),
        }
    }

    /// The entry in `/info`. Clients can copy its `methods` into a request.
    pub(crate) fn entry(self) -> Value {
        let description = match self {
            Self::Heuristics => "A* with each admissible heuristic",
            Self::Algorithms => "Each algorithm with Manhattan distance",
            Self::OlderSystems => "Blind, greedy and A* searches, as older solvers run them",
        };
        let written = |options: SearchOptions| match json!(MethodReply::new(&options)) {
            Value::Object(method) => method.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            other => other,
        };
        let methods: Vec<Value> = self.methods().into_iter().map(written).collect();
        json!({ "name": self.name(), "description": description, "methods": methods })
    }
}

fn by(algorithm: Algorithm) -> SearchOptions {
    SearchOptions { algorithm: Some(algorithm), ..SearchOptions::default() }
}

fn with(algorithm: Algorithm, heuristic: HeuristicKind) -> SearchOptions {
    SearchOptions { heuristic: Some(heuristic), ..by(algorithm) }
}

/// Length of an optimal solution of the hardest 8-puzzle.
const DEEPEST: u32 = 31;

/// Options with which an algorithm is compared to others.
fn typical(algorithm: Algorithm) -> SearchOptions {
    match algorithm {
        Algorithm::WeightedAStar => SearchOptions {
            weight: Weight::from_hundredths(200).unwrap_or(Weight::ONE),
            ..with(algorithm, HeuristicKind::Manhattan)
        },
        Algorithm::DepthFirst => SearchOptions { depth_limit: Some(DEEPEST), ..by(algorithm) },
        _ if algorithm.takes_heuristic() => with(algorithm, HeuristicKind::Manhattan),
        _ => by(algorithm),
    }
}

/// Methods of the predecessor systems: blind, greedy and A* searches, A* as a tree search, and the two inadmissible
/// heuristics; and the searches of two tutorials, whose heuristic is the sum of both distances.
fn older_systems() -> [SearchOptions; 13] {
    let tutorials = |search: SearchOptions| SearchOptions {
        tie_breaking: if search.heuristic.is_some() { TieBreaking::Fifo } else { TieBreaking::default() },
        duplicate_detection: DuplicateDetection::ExpandedOnly,
        successor_order: SuccessorOrder::from_letters("LRUD").unwrap_or_default(),
        ..search
    };
    let tree_search = SearchOptions {
        tie_breaking: TieBreaking::Heap,
        duplicate_detection: DuplicateDetection::Parent,
        ..with(Algorithm::AStar, HeuristicKind::Manhattan)
    };
    [
        by(Algorithm::BreadthFirst),
        typical(Algorithm::DepthFirst),
        with(Algorithm::GreedyBestFirst, HeuristicKind::Hamming),
        with(Algorithm::GreedyBestFirst, HeuristicKind::Manhattan),
        with(Algorithm::AStar, HeuristicKind::Hamming),
        with(Algorithm::AStar, HeuristicKind::Manhattan),
        tree_search,
        with(Algorithm::AStar, HeuristicKind::MisplacedWithBlank),
        with(Algorithm::AStar, HeuristicKind::ManhattanPlusHamming),
        tutorials(by(Algorithm::BreadthFirst)),
        tutorials(by(Algorithm::DepthFirst)),
        tutorials(with(Algorithm::GreedyBestFirst, HeuristicKind::ManhattanPlusHamming)),
        tutorials(with(Algorithm::AStar, HeuristicKind::ManhattanPlusHamming)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::MAX_METHODS;
    use super::*;

    #[test]
    fn every_preset_has_methods_for_every_board() {
        for preset in Preset::ALL {
            assert!(preset.methods().len() <= MAX_METHODS);
            for size in Size::all() {
                assert!(preset.on(size).count() >= 5, "{} on {size}", preset.name());
            }
        }
    }

    #[test]
    fn the_older_methods_support_every_board() {
        assert!(Size::all().all(|size| Preset::OlderSystems.on(size).count() == older_systems().len()));
    }
}
