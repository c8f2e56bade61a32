//! Progress reports of searches: they are correct, and have no effect on the result.

use std::sync::Mutex;

use taquin_solver::heuristic::{LinearConflict, Manhattan, Zero};
use taquin_solver::search::{
    Budget, Evaluation, HeapOpenList, HeuristicSearch, Objective, Outcome, Space, Stages, Trace, anytime, best_first,
    breadth_first, depth_first, ida_star,
};
use taquin_solver::{
    Algorithm, Board, DuplicateDetection, Named, Observer, Packed, Packed64, PackedBytes, Path, Progress, Puzzle, Size,
    SplitMix, TieBreaking, Weight, random_board, random_walk,
};

use crate::reference::{distances, size};

/// Records all reports.
#[derive(Debug, Default)]
struct Recorder {
    progress: Mutex<Vec<Progress>>,
    found: Mutex<Vec<Path>>,
}

impl Observer for Recorder {
    fn reached(&self, progress: Progress) {
        self.progress.lock().unwrap().push(progress);
    }

    fn found(&self, path: &Path) {
        self.found.lock().unwrap().push(path.clone());
    }
}

fn search<P: Packed, H: HeuristicSearch<P>>(
    algorithm: Algorithm,
    puzzle: &Puzzle,
    h: &H,
    budget: &Budget<'_>,
) -> Outcome {
    let (space, trace) = (&Space::<P>::new(puzzle), &mut Trace::default());
    let closed = DuplicateDetection::Closed;
    let best_first = |evaluation, trace: &mut Trace| {
        best_first(space, h, evaluation, closed, HeapOpenList::new(TieBreaking::LowH), budget, trace)
    };
    match algorithm {
        Algorithm::AStar => best_first(Evaluation::ASTAR, trace),
        Algorithm::WeightedAStar => best_first(Evaluation::weighted(Weight::from_hundredths(300).unwrap()), trace),
        Algorithm::GreedyBestFirst => best_first(Evaluation::GREEDY, trace),
        Algorithm::IdaStar => ida_star(space, h, budget, trace),
        Algorithm::IterativeDeepening => ida_star(space, &Zero, budget, trace),
        Algorithm::BreadthFirst => breadth_first(space, closed, budget, trace),
        Algorithm::DepthFirst => depth_first(space, closed, Some(40), budget, trace),
        Algorithm::Anytime => {
            anytime(space, h, &Stages::new(space.size(), space.goal_blank()), Objective::Short, budget)
        }
        Algorithm::Constructive => unreachable!("the constructive solver reports nothing"),
    }
}

/// Searches with and without an observer. Returns the outcome and the reports.
fn observed<P: Packed, H: HeuristicSearch<P>>(
    algorithm: Algorithm,
    puzzle: &Puzzle,
    h: &H,
    expanded: u64,
) -> (Outcome, Recorder) {
    let reports = Recorder::default();
    let budget = Budget { expanded, nodes: 500_000, ..Budget::UNLIMITED };
    let alone = search::<P, H>(algorithm, puzzle, h, &budget);
    let seen = search::<P, H>(algorithm, puzzle, h, &Budget { observer: Some(&reports), ..budget });
    assert_eq!(alone, seen, "{}: the observer changed the outcome", algorithm.name());
    (seen, reports)
}

fn check(algorithm: Algorithm, puzzle: &Puzzle, (outcome, reports): (Outcome, Recorder)) {
    let name = algorithm.name();
    let (progress, found) = (reports.progress.into_inner().unwrap(), reports.found.into_inner().unwrap());
    // Short parts of a search, and the constructive solver, may end without a report.
    let expected = outcome.stats.expanded / 1024;
    assert!(progress.len() as u64 + 40 >= expected, "{name}: {} of {expected} reports", progress.len());
    assert!(progress.is_sorted_by_key(|progress| progress.expanded), "{name}");
    assert!(progress.is_sorted_by_key(|progress| progress.generated), "{name}");
    let last = progress.last().copied().unwrap_or_default();
    assert!(last.expanded <= outcome.stats.expanded && last.generated <= outcome.stats.generated, "{name}: {last:?}");
    assert!(last.expanded + 1024 >= outcome.stats.expanded, "{name}: {last:?} of {:?}", outcome.stats);
    let iterates = matches!(algorithm, Algorithm::IdaStar | Algorithm::IterativeDeepening);
    assert!(!iterates || progress.iter().all(|progress| progress.threshold.is_some()), "{name}");
    for progress in &progress {
        assert!(progress.lower_bound <= outcome.lower_bound, "{name}: {progress:?}, and {}", outcome.lower_bound);
    }
    assert!(found.iter().all(|path| path.replay(puzzle).is_ok()), "{name}");
    assert!(
        found.windows(2).all(|pair| pair[1].len() < pair[0].len()),
        "{name}: each path must be shorter than the one before"
    );
    if algorithm == Algorithm::Anytime {
        assert_eq!(
            found.last(),
            outcome.result.as_ref().ok().or(outcome.best.as_ref()),
            "the last path reported is the best"
        );
    }
}

#[test]
fn reports_on_8_puzzles_are_correct() {
    let goal = Board::blank_last(size(3, 3));
    let distances = distances(&goal);
    let mut random = SplitMix(5);
    for algorithm in Algorithm::ALL.iter().filter(|algorithm| **algorithm != Algorithm::Constructive) {
        for _ in 0..4 {
            let start = random_board(&goal, &mut random);
            let puzzle = Puzzle::try_new(start, goal).unwrap();
            let (outcome, reports) =
                observed::<Packed64, _>(*algorithm, &puzzle, &Manhattan::new(start.size(), goal.blank()), 300_000);
            let bounds = reports.progress.lock().unwrap().iter().map(|progress| progress.lower_bound).max();
            assert!(bounds.unwrap_or(0) <= distances[&start] && outcome.lower_bound <= distances[&start]);
            check(*algorithm, &puzzle, (outcome, reports));
        }
    }
}

#[test]
fn reports_on_large_boards_agree_with_the_outcome() {
    let mut random = SplitMix(6);
    for (rows, cols) in [(4, 4), (5, 5), (3, 9), (8, 8)] {
        let size = Size::try_from((rows, cols)).unwrap();
        let goal = Board::blank_last(size);
        let start = random_walk(&goal, 2_000, &mut random);
        let puzzle = Puzzle::try_new(start, goal).unwrap();
        let h = LinearConflict::new(size, goal.blank());
        for algorithm in [Algorithm::Anytime, Algorithm::IdaStar, Algorithm::AStar, Algorithm::GreedyBestFirst] {
            check(algorithm, &puzzle, observed::<PackedBytes, _>(algorithm, &puzzle, &h, 200_000));
        }
    }
}
