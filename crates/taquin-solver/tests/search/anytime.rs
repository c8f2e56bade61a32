//! Anytime search: it always finds a solution, its bounds hold, and equal budgets give equal results.

use std::time::{Duration, Instant};

use taquin_solver::heuristic::{DistanceTable, LinearConflict};
use taquin_solver::search::{Budget, Helpers, Objective, Outcome, Space, Stages, anytime, constructive};
use taquin_solver::{
    Board, Cell, Packed, Packed64, Packed128, PackedBytes, Puzzle, Size, SplitMix, StopReason, random_board,
};

use crate::reference::{UnreliableHelper, board, goal_with_blank, size};

fn search<P: Packed>(puzzle: &Puzzle, expanded: u64) -> Outcome {
    let heuristic = LinearConflict::new(puzzle.size(), puzzle.goal().blank());
    short::<P>(puzzle, &heuristic, &Budget { expanded, nodes: 1_000_000, ..Budget::UNLIMITED })
}

fn short<P: Packed>(puzzle: &Puzzle, heuristic: &LinearConflict, budget: &Budget<'_>) -> Outcome {
    let stages = Stages::new(puzzle.size(), puzzle.goal().blank());
    anytime(&Space::<P>::new(puzzle), heuristic, &stages, Objective::Short, budget)
}

/// Length of the best solution. Checks the solution and its bound.
fn best(puzzle: &Puzzle, outcome: &Outcome) -> usize {
    let best = outcome.result.as_ref().ok().or(outcome.best.as_ref()).expect("anytime search always finds a solution");
    best.replay(puzzle).unwrap();
    assert!(best.len() >= outcome.lower_bound as usize, "{}", puzzle.start());
    assert_eq!(
        outcome.result.is_ok(),
        best.len() == outcome.lower_bound as usize,
        "the search ends when the solution is proven optimal"
    );
    best.len()
}

#[test]
fn every_shape_and_goal_is_solved_within_any_budget() {
    let mut random = SplitMix(11);
    for size in Size::all() {
        for (row, col) in [(0, 0), (0, size.cols() / 2), (size.rows() / 2, size.cols() / 2)] {
            let goal = goal_with_blank(size, row, col);
            let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
            for expanded in [0, 3_000] {
                let outcome = search::<PackedBytes>(&puzzle, expanded);
                assert!(best(&puzzle, &outcome) <= constructive(&puzzle).result.unwrap().len(), "{size}");
                assert!(outcome.stats.expanded <= expanded.max(constructive(&puzzle).stats.expanded), "{size}");
            }
        }
    }
}

#[test]
fn an_unlimited_search_ends_with_a_shortest_solution() {
    let mut random = SplitMix(12);
    for (rows, cols) in [(2, 2), (2, 3), (2, 4), (3, 3)] {
        let size = size(rows, cols);
        let table = DistanceTable::build(size, size.cells() as Cell - 1);
        for _ in 0..50 {
            let goal = Board::blank_last(size);
            let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
            let outcome = search::<Packed64>(&puzzle, u64::MAX);
            let distance = table.distance(&Space::<Packed64>::new(&puzzle).start());
            assert_eq!((outcome.result.is_ok(), best(&puzzle, &outcome)), (true, usize::from(distance)), "{size}");
        }
    }
}

#[test]
fn results_are_reproducible_with_a_distant_deadline() {
    let mut random = SplitMix(13);
    for (rows, cols) in [(4, 5), (5, 5), (6, 6), (7, 8)] {
        let goal = Board::blank_last(size(rows, cols));
        let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
        for expanded in [1_000, 10_000, 100_000] {
            let outcome = search::<PackedBytes>(&puzzle, expanded);
            assert_eq!(outcome, search::<PackedBytes>(&puzzle, expanded));
            assert_eq!(outcome.result, Err(StopReason::Expanded));
            best(&puzzle, &outcome);
            let heuristic = LinearConflict::new(puzzle.size(), puzzle.goal().blank());
            let deadline = Some(Instant::now() + Duration::from_secs(3_600));
            let budget = Budget { expanded, nodes: 1_000_000, deadline, ..Budget::UNLIMITED };
            assert_eq!(outcome, short::<PackedBytes>(&puzzle, &heuristic, &budget), "a distant deadline has no effect");
        }
    }
}

#[test]
fn helpers_do_not_change_the_result() {
    let mut random = SplitMix(14);
    let mut helped = 0;
    for (rows, cols) in [(5, 5), (6, 6), (7, 7)] {
        let goal = Board::blank_last(size(rows, cols));
        let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
        let heuristic = LinearConflict::new(puzzle.size(), puzzle.goal().blank());
        let helpers = UnreliableHelper::default();
        let search = |helpers| {
            let budget = Budget { expanded: 2_000_000, helpers, ..Budget::UNLIMITED };
            short::<PackedBytes>(&puzzle, &heuristic, &budget)
        };
        let alone = search(None);
        assert_eq!(search(Some(&helpers as &dyn Helpers)), alone);
        best(&puzzle, &alone);
        helped += helpers.helped.into_inner();
    }
    assert!(helped > 0, "no beam was wide enough to request help");
}

/// 24-puzzles of Korf & Felner (2002), with their optimal lengths.
const KORF_24: [(&str, usize); 3] = [
    ("14 5 9 2 18/8 23 19 12 17/15 0 10 20 4/6 11 21 1 7/24 3 16 22 13", 95),
    ("3 17 9 8 24/1 11 12 14 0/5 4 22 13 16/21 15 6 7 10/20 23 2 18 19", 81),
    ("10 3 6 13 1/2 20 14 18 11/15 7 5 12 9/24 17 22 4 8/21 23 19 16 0", 88),
];

#[test]
fn solutions_and_bounds_of_24_puzzles_enclose_the_optimal_length() {
    for (start, optimal) in KORF_24 {
        let start = board(start);
        let puzzle = Puzzle::try_new(start, Board::blank_first(start.size())).unwrap();
        let outcome = search::<Packed128>(&puzzle, 1_000_000);
        let length = best(&puzzle, &outcome);
        assert!(outcome.lower_bound as usize <= optimal && optimal <= length && length * 4 <= optimal * 5, "{length}");
    }
}
