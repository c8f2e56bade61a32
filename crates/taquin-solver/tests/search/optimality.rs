//! Solutions compared with the distances of an independent breadth-first search.

use std::time::Duration;

use taquin_solver::heuristic::{DistanceTable, ExactDistance, Manhattan};
use taquin_solver::search::{BucketOpenList, Budget, Evaluation, HeapOpenList, Space, Trace, best_first, perfect};
use taquin_solver::solver::solve;
use taquin_solver::{
    Algorithm, Board, Control, DuplicateDetection, HeuristicKind, LazyTables, Limits, Named, Packed64, Plan, Puzzle,
    PuzzleError, Reachability, Report, SearchOptions, SearchRequest, Size, SplitMix, StopReason, TieBreaking, Weight,
    random_board, random_walk,
};

use crate::reference::{all_boards, board, distance_between, distances, goal_with_blank, size};

const UNLIMITED: Limits = Limits { time: Duration::MAX, expanded: u64::MAX, nodes: u64::MAX };

fn solved(start: &Board, goal: &Board, options: SearchOptions, tables: &LazyTables) -> Report {
    solved_within(UNLIMITED, start, goal, options, tables)
}

fn solved_within(limits: Limits, start: &Board, goal: &Board, options: SearchOptions, tables: &LazyTables) -> Report {
    let puzzle = Puzzle::try_new(*start, *goal).unwrap();
    let plan = Plan::try_new(&options, puzzle.size()).unwrap();
    let job = SearchRequest::new(puzzle, plan, limits);
    let report = solve(&job, tables, Control::default()).unwrap();
    let solution = report.solution.as_ref().unwrap();
    assert_eq!(solution.path.replay(&puzzle), Ok(solution.tiles.clone()));
    assert!(report.lower_bound as usize <= solution.path.len());
    report
}

/// All search options that are valid for boards of a size.
fn valid_options(size: Size) -> Vec<SearchOptions> {
    let heuristics = || HeuristicKind::ALL.iter().map(|heuristic| Some(*heuristic)).chain([None]);
    let algorithms = Algorithm::ALL.iter().map(|algorithm| Some(*algorithm)).chain([None]);
    let mut valid_options = Vec::new();
    for algorithm in algorithms {
        for heuristic in heuristics() {
            for tie_breaking in TieBreaking::ALL {
                let options =
                    SearchOptions { algorithm, heuristic, tie_breaking: *tie_breaking, ..SearchOptions::default() };
                if Plan::try_new(&options, size).is_ok() {
                    valid_options.push(options);
                }
            }
        }
    }
    valid_options
}

fn is_optimality_promised(options: &SearchOptions, size: Size) -> bool {
    Plan::try_new(&SearchOptions { require_optimal: true, ..*options }, size).is_ok()
}

fn check(start: &Board, goal: &Board, distance: u32, options: &SearchOptions, tables: &LazyTables) {
    let report = solved(start, goal, *options, tables);
    let length = report.solution.as_ref().unwrap().path.len() as u32;
    assert!(length >= distance, "{start} to {goal}: {length} moves, {options:?}");
    assert!(report.lower_bound <= distance, "{start} to {goal}: bound {}, {options:?}", report.lower_bound);
    assert!(!report.is_optimal() || length == distance, "{start} to {goal}: claimed optimal, {options:?}");
    if is_optimality_promised(options, start.size()) {
        assert_eq!(length, distance, "{start} to {goal}, {options:?}");
        assert!(report.is_optimal());
    }
}

#[test]
fn every_search_is_correct_on_all_boards_of_the_smallest_shapes() {
    let tables = LazyTables::default();
    for size in [size(2, 2), size(2, 3), size(3, 2)] {
        for goal in [Board::blank_last(size), goal_with_blank(size, 0, 1)] {
            for (start, distance) in distances(&goal) {
                for options in valid_options(size) {
                    check(&start, &goal, distance, &options, &tables);
                }
            }
        }
    }
}

#[test]
fn every_search_is_correct_on_a_sample_of_3x3_and_2x4() {
    check_every_search(2);
}

#[test]
#[ignore = "half a minute: a larger sample"]
fn every_search_is_correct_on_a_large_sample_of_3x3_and_2x4() {
    check_every_search(12);
}

fn check_every_search(samples: usize) {
    let tables = LazyTables::default();
    let mut random = SplitMix(3);
    for goal in [Board::blank_last(size(3, 3)), Board::snail(size(3, 3)), goal_with_blank(size(2, 4), 0, 2)] {
        let distances = distances(&goal);
        for options in valid_options(goal.size()) {
            // Tree searches without a heuristic visit each board many times.
            let samples =
                if options.algorithm == Some(Algorithm::IterativeDeepening) { samples.div_ceil(4) } else { samples };
            for _ in 0..samples {
                let start = random_walk(&goal, 24, &mut random);
                check(&start, &goal, distances[&start], &options, &tables);
            }
        }
    }
}

#[test]
fn auto_is_optimal_on_all_181440_boards_and_expands_only_one_path() {
    let tables = LazyTables::default();
    for goal in [Board::blank_last(size(3, 3)), goal_with_blank(size(3, 3), 0, 1), Board::snail(size(3, 3))] {
        for (start, distance) in distances(&goal) {
            let report = solved(&start, &goal, SearchOptions::default(), &tables);
            assert!(report.is_optimal());
            assert_eq!(report.lower_bound, distance, "{start}");
            assert_eq!(report.stats.expanded, u64::from(distance), "{start}");
        }
    }
}

/// With an exact table, `perfect` replaces A*.
#[test]
fn perfect_search_equals_best_first_search() {
    compare_perfect_search_with_best_first(50);
}

#[test]
#[ignore = "half a minute: all boards of three goals"]
fn perfect_search_equals_best_first_search_on_all_boards() {
    compare_perfect_search_with_best_first(1);
}

/// Compares the searches on every `step`-th board.
fn compare_perfect_search_with_best_first(step: usize) {
    for goal in [Board::blank_last(size(3, 3)), goal_with_blank(size(3, 3), 0, 1), Board::snail(size(3, 3))] {
        let table = DistanceTable::build(goal.size(), goal.blank());
        let heuristic = ExactDistance::new(&table);
        for start in distances(&goal).into_keys().step_by(step) {
            let space = Space::<Packed64>::new(&Puzzle::try_new(start, goal).unwrap());
            let mut traces = [(); 3].map(|()| Trace::new(5).with_generated(30));
            let [perfect_trace, low_h, lifo] = &mut traces;
            let budget = &Budget::UNLIMITED;
            let outcome = perfect(&space, &heuristic, budget, perfect_trace);
            for (order, trace) in [(TieBreaking::LowH, low_h), (TieBreaking::Lifo, lifo)] {
                let open_list = BucketOpenList::new(order);
                let (f, duplicates) = (Evaluation::ASTAR, DuplicateDetection::Closed);
                let mut with_lists = best_first(&space, &heuristic, f, duplicates, open_list, budget, trace);
                assert_eq!(with_lists.stats.nodes_held, with_lists.stats.generated, "{start}");
                with_lists.stats.nodes_held = 0;
                assert_eq!(outcome, with_lists, "{start}");
            }
            let [perfect_trace, low_h, lifo] = traces.map(Trace::into_recorded);
            assert!(perfect_trace == low_h && perfect_trace == lifo, "{start}");
        }
    }
}

#[test]
fn optimal_searches_agree_with_bidirectional_search_on_3x4_and_4x3() {
    let tables = LazyTables::default();
    let mut random = SplitMix(8);
    for goal in [Board::blank_last(size(3, 4)), Board::snail(size(4, 3))] {
        for _ in 0..6 {
            let start = random_walk(&goal, 30, &mut random);
            let distance = distance_between(&start, &goal);
            for algorithm in [None, Some(Algorithm::AStar), Some(Algorithm::IdaStar)] {
                for heuristic in [None, Some(HeuristicKind::LinearConflict), Some(HeuristicKind::Manhattan)] {
                    check(
                        &start,
                        &goal,
                        distance,
                        &SearchOptions { algorithm, heuristic, ..SearchOptions::default() },
                        &tables,
                    );
                }
            }
        }
    }
}

#[test]
fn auto_agrees_with_bidirectional_search_on_small_shapes() {
    auto_agrees_with_bidirectional_search(10..=10);
}

#[test]
#[ignore = "a minute: tables of four goals of every shape"]
fn auto_agrees_with_bidirectional_search_on_all_shapes_with_patterns() {
    auto_agrees_with_bidirectional_search(10..=16);
}

fn auto_agrees_with_bidirectional_search(cells: std::ops::RangeInclusive<usize>) {
    let tables = LazyTables::default();
    let mut random = SplitMix(12);
    for size in Size::all().filter(|size| cells.contains(&size.cells())) {
        let (last_row, last_col) = (size.rows() - 1, size.cols() - 1);
        for (row, col) in [(last_row, last_col), (0, last_col / 2), (last_row / 2, 0), (last_row / 2, last_col / 2)] {
            let goal = goal_with_blank(size, row, col);
            for moves in [1, 25, 50] {
                let start = random_walk(&goal, moves, &mut random);
                let report = solved(&start, &goal, SearchOptions::default(), &tables);
                assert_eq!(report.heuristic, HeuristicKind::PatternDatabase);
                assert!(report.is_optimal(), "{start} to {goal}");
                assert_eq!(report.lower_bound, distance_between(&start, &goal), "{start} to {goal}");
            }
        }
    }
}

#[test]
fn weighted_solutions_stay_within_their_weight() {
    let tables = LazyTables::default();
    let goal = Board::blank_last(size(3, 3));
    let distances = distances(&goal);
    let mut random = SplitMix(21);
    for hundredths in [100, 125, 150, 200, 333, 1000] {
        for _ in 0..40 {
            let start = random_board(&goal, &mut random);
            let options = SearchOptions {
                algorithm: Some(Algorithm::WeightedAStar),
                heuristic: Some(HeuristicKind::Manhattan),
                weight: Weight::from_hundredths(hundredths).unwrap(),
                ..SearchOptions::default()
            };
            check(&start, &goal, distances[&start], &options, &tables);
            let length = solved(&start, &goal, options, &tables).solution.unwrap().path.len() as u32;
            assert!(100 * length <= hundredths * distances[&start], "{length} of {} × {hundredths}", distances[&start]);
        }
    }
}

#[test]
fn tree_searches_find_the_same_lengths() {
    let tables = LazyTables::default();
    let goal = Board::blank_last(size(3, 3));
    let mut random = SplitMix(33);
    for _ in 0..10 {
        let start = random_walk(&goal, 14, &mut random);
        let distance = distance_between(&start, &goal);
        for algorithm in [Algorithm::AStar, Algorithm::BreadthFirst] {
            let options = SearchOptions {
                algorithm: Some(algorithm),
                duplicate_detection: DuplicateDetection::Parent,
                ..SearchOptions::default()
            };
            check(&start, &goal, distance, &options, &tables);
        }
    }
}

#[test]
fn a_depth_limited_search_finds_a_solution_or_proves_that_none_is_within_the_limit() {
    let tables = LazyTables::default();
    let goal = Board::blank_last(size(3, 3));
    let mut random = SplitMix(13);
    let by = |algorithm| SearchOptions { algorithm: Some(algorithm), ..SearchOptions::default() };
    for options in [
        by(Algorithm::DepthFirst),
        SearchOptions { duplicate_detection: DuplicateDetection::Parent, ..by(Algorithm::DepthFirst) },
        by(Algorithm::IterativeDeepening),
        by(Algorithm::IdaStar),
        SearchOptions { heuristic: Some(HeuristicKind::Manhattan), ..by(Algorithm::IdaStar) },
    ] {
        for _ in 0..8 {
            let start = random_walk(&goal, 12, &mut random);
            check_limited(&start, &goal, distance_between(&start, &goal), options, &tables);
        }
    }
    // The parallel search with patterns.
    let goal = Board::blank_last(size(4, 4));
    for moves in [0, 7, 20, 30] {
        let start = random_walk(&goal, moves, &mut random);
        let distance = solved(&start, &goal, by(Algorithm::IdaStar), &tables).lower_bound;
        check_limited(&start, &goal, distance, by(Algorithm::IdaStar), &tables);
    }
}

/// Searches with the distance as the depth limit, and with lower limits.
fn check_limited(start: &Board, goal: &Board, distance: u32, options: SearchOptions, tables: &LazyTables) {
    let limited = |depth_limit| SearchOptions { depth_limit: Some(depth_limit), ..options };
    check(start, goal, distance, &limited(distance), tables);
    check(start, goal, distance, &limited(distance + 1), tables);
    let puzzle = Puzzle::try_new(*start, *goal).unwrap();
    for too_low in (0..distance).rev().take(3) {
        let plan = Plan::try_new(&limited(too_low), puzzle.size()).unwrap();
        let job = SearchRequest::new(puzzle, plan, UNLIMITED);
        let report = solve(&job, tables, Control::default()).unwrap();
        assert!(report.solution.is_none(), "{start}: {options:?}");
        assert_eq!(report.stopped, Some(StopReason::Depth));
        assert!((too_low + 1..=distance).contains(&report.lower_bound), "{start}: {} {options:?}", report.lower_bound);
    }
}

#[test]
fn the_parity_rule_holds_on_all_boards_of_small_shapes() {
    for size in [size(2, 2), size(2, 3), size(3, 2), size(3, 3)] {
        for goal in [Board::blank_last(size), goal_with_blank(size, 0, 1)] {
            let reachable = distances(&goal);
            for board in all_boards(size) {
                let reachability = Reachability::between(&board, &goal).unwrap();
                assert_eq!(reachability.is_reachable(), reachable.contains_key(&board), "{board} to {goal}");
                let is_rejected = matches!(Puzzle::try_new(board, goal), Err(PuzzleError::Unreachable(_)));
                assert_eq!(is_rejected, !reachability.is_reachable());
            }
        }
    }
}

#[test]
fn the_tutorials_board_is_solved_by_every_search() {
    let (start, goal) = (board("3 7 8/2 0 6/4 5 1"), Board::blank_last(size(3, 3)));
    let (tables, distance) = (LazyTables::default(), distances(&goal)[&start]);
    for options in valid_options(size(3, 3)) {
        // With the zero heuristic, IDA* takes minutes for 28 moves. Tests of shorter boards cover it.
        if options.heuristic.is_none_or(|h| h != HeuristicKind::Zero) || options.algorithm != Some(Algorithm::IdaStar) {
            check(&start, &goal, distance, &options, &tables);
        }
    }
}

#[test]
fn large_boards_are_solved_for_various_goals() {
    solve_large_boards(6);
}

#[test]
#[ignore = "half a minute: every shape"]
fn large_boards_of_every_shape_are_solved_for_various_goals() {
    solve_large_boards(1);
}

/// Solves boards of every `step`-th size.
fn solve_large_boards(step: usize) {
    let tables = LazyTables::default();
    let mut random = SplitMix(99);
    for size in Size::all().filter(|size| size.cells() > 16).step_by(step) {
        let goals = [
            Board::blank_last(size),
            Board::blank_first(size),
            goal_with_blank(size, size.rows() / 2, size.cols() / 2),
        ];
        for goal in goals {
            let start = random_board(&goal, &mut random);
            let options = SearchOptions { algorithm: Some(Algorithm::Constructive), ..SearchOptions::default() };
            solved(&start, &goal, options, &tables);
        }
        let goal = random_board(&Board::blank_last(size), &mut random);
        let limits = Limits { expanded: 5_000, ..UNLIMITED };
        solved_within(limits, &random_board(&goal, &mut random), &goal, SearchOptions::default(), &tables);
    }
}

#[test]
fn lower_bounds_of_weighted_searches_hold_and_are_no_less_than_the_weight_implies() {
    let goal = Board::blank_last(size(3, 3));
    let distances = distances(&goal);
    let mut random = SplitMix(22);
    for hundredths in [100, 101, 125, 150, 200, 333, 1000, 10_000] {
        let evaluation = Evaluation::weighted(Weight::from_hundredths(hundredths).unwrap());
        let mut better = 0;
        for _ in 0..60 {
            let start = random_board(&goal, &mut random);
            let (distance, space) = (distances[&start], Space::<Packed64>::new(&Puzzle::try_new(start, goal).unwrap()));
            let heuristic = Manhattan::new(start.size(), goal.blank());
            let search = |budget: &Budget<'_>| {
                let open = HeapOpenList::new(TieBreaking::LowH);
                best_first(
                    &space,
                    &heuristic,
                    evaluation,
                    DuplicateDetection::Closed,
                    open,
                    budget,
                    &mut Trace::default(),
                )
            };
            let outcome = search(&Budget::UNLIMITED);
            let length = outcome.result.unwrap().len() as u32;
            assert!(length >= distance && 100 * length <= hundredths * distance, "{start}: {length} of {distance}");
            let implied = (100 * length).div_ceil(hundredths);
            assert!((implied..=distance).contains(&outcome.lower_bound), "{start}: {}", outcome.lower_bound);
            better += u32::from(outcome.lower_bound > implied.max(outcome.stats.initial_h));
            let stopped = search(&Budget { expanded: 40, ..Budget::UNLIMITED });
            assert!(stopped.lower_bound <= distance, "{start}, stopped: {}", stopped.lower_bound);
        }
        assert!(better > 0 || hundredths <= 101, "{hundredths}: the open nodes never proved more than the weight");
    }
}
