//! The exact counters of every search, so that no change of them goes unnoticed.

use std::fmt::Write;
use std::time::Duration;

use taquin_solver::heuristic::Manhattan;
use taquin_solver::search::{Budget, Evaluation, HeapOpenList, Space, Trace, best_first};
use taquin_solver::solver::solve;
use taquin_solver::{
    Algorithm, Board, Control, DuplicateDetection, Encoding, HeuristicKind, LazyTables, Limits, Named, Packed64, Plan,
    Puzzle, RawBoard, SearchOptions, SearchRequest, Sides, TieBreaking, Weight,
};

fn board(text: &str) -> Board {
    RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).unwrap()
}

fn puzzle(start: &str, goal: &str) -> Puzzle {
    Puzzle::try_new(board(start), board(goal)).unwrap()
}

/// A* as in a course project: a tree search that never undoes the last move, with a binary heap ordered only by f.
#[test]
fn counters_equal_those_of_the_course_project() {
    for (start, goal, length, expanded, generated) in [
        ("2 8 3/1 6 4/7 0 5", "1 2 3/8 6 4/7 5 0", 7, 10, 21),
        ("5 4 0/6 1 8/7 3 2", "1 2 3/4 0 5/6 7 8", 22, 511, 884),
        ("7 2 4/5 0 6/8 3 1", "0 1 2/3 4 5/6 7 8", 26, 2706, 4550),
    ] {
        let puzzle = puzzle(start, goal);
        let space = Space::<Packed64>::new(&puzzle);
        let heuristic = Manhattan::new(puzzle.size(), puzzle.goal().blank());
        let outcome = best_first(
            &space,
            &heuristic,
            Evaluation::ASTAR,
            DuplicateDetection::Parent,
            HeapOpenList::new(TieBreaking::Heap),
            &Budget::UNLIMITED,
            &mut Trace::default(),
        );
        let path = outcome.result.unwrap();
        assert_eq!((path.len(), outcome.stats.expanded, outcome.stats.generated), (length, expanded, generated));
        assert!(path.replay(&puzzle).is_ok());
    }
}

/// Result and counters of each search of a 20-move board, one line each.
fn counters() -> String {
    let puzzle = puzzle("1 2 8/6 4 5/0 3 7", "1 2 3/4 5 6/7 8 0");
    let tables = LazyTables::default();
    let limits = Limits { time: Duration::MAX, expanded: u64::MAX, nodes: u64::MAX };
    let mut lines = String::new();
    for algorithm in Algorithm::ALL {
        for heuristic in HeuristicKind::ALL {
            for tie_breaking in TieBreaking::ALL {
                let options = SearchOptions {
                    algorithm: Some(*algorithm),
                    heuristic: Some(*heuristic),
                    tie_breaking: *tie_breaking,
                    weight: if *algorithm == Algorithm::WeightedAStar { WEIGHT } else { Weight::ONE },
                    ..SearchOptions::default()
                };
                let Ok(plan) = Plan::try_new(&options, puzzle.size()) else { continue };
                let job = SearchRequest::new(puzzle, plan, limits);
                let report = solve(&job, &tables, Control::default()).unwrap();
                let stats = report.stats;
                writeln!(
                    lines,
                    "{} {} {}: length {} expanded {} generated {} duplicates {} reopened {} peak_open {} iterations {}",
                    algorithm.name(),
                    heuristic.name(),
                    tie_breaking.name(),
                    report.solution.unwrap().path.len(),
                    stats.expanded,
                    stats.generated,
                    stats.duplicates,
                    stats.reopened,
                    stats.peak_open,
                    stats.iterations
                )
                .unwrap();
            }
        }
    }
    lines
}

const WEIGHT: Weight = match Weight::from_hundredths(150) {
    Some(weight) => weight,
    None => Weight::ONE,
};

/// `signature.txt` holds the counters of every search on one board. A commit that changes a line must explain why. If
/// the test fails, it prints the new text.
#[test]
fn counters_of_every_search_equal_the_signature() {
    let found = counters();
    assert_eq!(found, include_str!("../../../../tests/signature.txt"), "the counters are now:\n{found}");
}
