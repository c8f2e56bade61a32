//! Searches as tutorials write them, with lists that are scanned from the front. They define `expanded_only` and
//! `successor_order`.

use std::time::Duration;

use crate::reference::{SplitMix, all_boards, board, distances, size};
use taquin::domain::{Board, Move, Puzzle, Reachability, random_board};
use taquin::search::{Algorithm, DuplicateDetection, HeuristicKind, Stats, SuccessorOrder, TieBreaking};
use taquin::service::{Job, Limits, Plan, Report, SearchContext, SearchOptions, Tables, solve};

struct Node {
    board: Board,
    moves: String,
    h: u32,
}

/// What a search shows at its end.
#[derive(PartialEq, Eq, Debug)]
struct Figures {
    /// The moves of the solution; none if the limit was reached.
    moves: Option<String>,
    expanded: u64,
    generated: u64,
    duplicates: u64,
    open_at_end: u64,
    nodes_held: u64,
}

/// Manhattan distance and number of misplaced tiles.
fn manhattan_plus_hamming(board: &Board, goal: &Board) -> u32 {
    let size = board.size();
    let cell_of = |tile: u8| (0..size.cells() as u8).find(|cell| goal.tile(*cell) == tile).unwrap();
    let tiles = (0..size.cells() as u8).map(|cell| (cell, board.tile(cell))).filter(|(_, tile)| *tile != 0);
    tiles.map(|(cell, tile)| size.distance(cell, cell_of(tile)) + u32::from(cell != cell_of(tile))).sum()
}

/// Index of the next node on the open list.
fn next(open: &[Node], algorithm: Algorithm) -> usize {
    let key = |node: &Node| match algorithm {
        Algorithm::AStar => node.moves.len() as u32 + node.h,
        Algorithm::GreedyBestFirst => node.h,
        // The list is a queue, or a stack with its top at the front.
        _ => 0,
    };
    (0..open.len()).min_by_key(|at| key(&open[*at])).expect("the goal is reachable")
}

fn tutorial(puzzle: &Puzzle, options: &SearchOptions, limit: u64) -> Figures {
    let (algorithm, goal) = (options.algorithm.unwrap(), puzzle.goal());
    let estimate = |board: &Board| manhattan_plus_hamming(board, goal);
    let mut open = vec![Node { board: *puzzle.start(), moves: String::new(), h: estimate(puzzle.start()) }];
    let (mut expanded, mut known) = (Vec::new(), vec![*puzzle.start()]);
    let (mut made, mut duplicates) = (1, 0);
    let figures = |moves, expanded: &[Board], open: &[Node], made, duplicates| Figures {
        moves,
        expanded: expanded.len() as u64,
        generated: made + duplicates,
        duplicates,
        open_at_end: open.len() as u64,
        nodes_held: made,
    };
    loop {
        let at = next(&open, algorithm);
        if open[at].board != *goal && expanded.len() as u64 == limit {
            return figures(None, &expanded, &open, made, duplicates);
        }
        let node = open.remove(at);
        if node.board == *goal {
            return figures(Some(node.moves), &expanded, &open, made, duplicates);
        }
        expanded.push(node.board);
        let mut successors = Vec::new();
        for letter in options.successor_order.letters().chars() {
            let mv = Move::from_letter(letter).unwrap();
            let mut board = node.board;
            if board.make(mv).is_none() {
                continue;
            }
            let list = if options.duplicate_detection == DuplicateDetection::Closed { &known } else { &expanded };
            if list.contains(&board) {
                // The move straight back does not count.
                duplicates += u64::from(!node.moves.ends_with(mv.inverse().letter()));
                continue;
            }
            made += 1;
            known.push(board);
            successors.push(Node { board, moves: format!("{}{letter}", node.moves), h: estimate(&board) });
        }
        let front = if algorithm == Algorithm::DepthFirst { 0 } else { open.len() };
        open.splice(front..front, successors);
    }
}

fn search(puzzle: &Puzzle, options: &SearchOptions, limit: u64) -> Figures {
    let plan = Plan::try_new(options, puzzle.size()).unwrap();
    let limits = Limits { time: Duration::MAX, expanded: limit, nodes: u64::MAX };
    let job = Job::new(*puzzle, plan, limits);
    let Report { solution, stats, .. } = solve(&job, &Tables::default(), SearchContext::default()).unwrap();
    let Stats { expanded, generated, duplicates, open_at_end, nodes_held, .. } = stats;
    let moves = solution.map(|solution| solution.path.letters());
    Figures { moves, expanded, generated, duplicates, open_at_end, nodes_held }
}

const ALGORITHMS: [Algorithm; 4] =
    [Algorithm::BreadthFirst, Algorithm::DepthFirst, Algorithm::GreedyBestFirst, Algorithm::AStar];

fn options(algorithm: Algorithm, duplicate_detection: DuplicateDetection, order: SuccessorOrder) -> SearchOptions {
    let takes_heuristic = algorithm.takes_heuristic();
    SearchOptions {
        algorithm: Some(algorithm),
        heuristic: takes_heuristic.then_some(HeuristicKind::ManhattanPlusHamming),
        tie_breaking: if takes_heuristic { TieBreaking::Fifo } else { TieBreaking::default() },
        duplicate_detection,
        successor_order: order,
        ..SearchOptions::default()
    }
}

/// Compares searches with those of tutorials, also where a limit stops them.
fn compare(puzzle: &Puzzle, options: &SearchOptions) {
    let whole = search(puzzle, options, u64::MAX);
    assert_eq!(whole, tutorial(puzzle, options, u64::MAX), "{} {options:?}", puzzle.start());
    let limit = whole.expanded / 2;
    if limit > 0 {
        let stopped = search(puzzle, options, limit);
        assert_eq!(stopped, tutorial(puzzle, options, limit), "{} {options:?}, {limit}", puzzle.start());
    }
}

#[test]
fn every_search_of_2x3_boards_is_that_of_the_tutorials() {
    let goal = Board::blank_last(size(2, 3));
    let orders: Vec<SuccessorOrder> = SuccessorOrder::all().collect();
    let is_reachable = |start: &Board| Reachability::between(start, &goal).unwrap().is_reachable();
    for (nth, start) in all_boards(size(2, 3)).into_iter().filter(is_reachable).enumerate() {
        let puzzle = Puzzle::try_new(start, goal).unwrap();
        for algorithm in ALGORITHMS {
            let order = orders[nth % orders.len()];
            compare(&puzzle, &options(algorithm, DuplicateDetection::ExpandedOnly, order));
            // Elsewhere a shorter path replaces the first one.
            if algorithm != Algorithm::AStar {
                compare(&puzzle, &options(algorithm, DuplicateDetection::Closed, order));
            }
        }
    }
}

#[test]
fn best_first_searches_of_3x3_boards_are_those_of_the_tutorials() {
    let (goal, mut random) = (Board::blank_last(size(3, 3)), SplitMix(24));
    for order in SuccessorOrder::all() {
        let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
        for algorithm in [Algorithm::GreedyBestFirst, Algorithm::AStar] {
            compare(&puzzle, &options(algorithm, DuplicateDetection::ExpandedOnly, order));
        }
    }
}

#[test]
fn the_tutorials_board_has_the_tutorials_figures() {
    let puzzle = Puzzle::try_new(board("3 7 8/2 0 6/4 5 1"), Board::blank_last(size(3, 3))).unwrap();
    let order = SuccessorOrder::from_letters("LRUD").unwrap();
    let options = options(Algorithm::AStar, DuplicateDetection::ExpandedOnly, order);
    let found = search(&puzzle, &options, u64::MAX);
    assert_eq!((found.moves.as_ref().unwrap().len(), found.expanded, found.nodes_held), (24, 2478, 3968));
    compare(&puzzle, &options);
}

/// With consistent heuristics A* stays optimal, and every bound holds.
#[test]
fn searches_that_check_expanded_boards_only_prove_no_wrong_bound() {
    let goal = Board::blank_last(size(3, 3));
    let (distances, mut random) = (distances(&goal), SplitMix(42));
    let tables = Tables::default();
    for order in SuccessorOrder::all() {
        let start = random_board(&goal, &mut random);
        let puzzle = Puzzle::try_new(start, goal).unwrap();
        for heuristic in [HeuristicKind::Manhattan, HeuristicKind::LinearConflict, HeuristicKind::Gaschnig] {
            for (algorithm, hundredths) in [(Algorithm::AStar, 100), (Algorithm::WeightedAStar, 300)] {
                let options = SearchOptions {
                    algorithm: Some(algorithm),
                    heuristic: Some(heuristic),
                    weight: taquin::search::Weight::from_hundredths(hundredths).unwrap(),
                    duplicate_detection: DuplicateDetection::ExpandedOnly,
                    successor_order: order,
                    ..SearchOptions::default()
                };
                for expanded in [10, 100, u64::MAX] {
                    let plan = Plan::try_new(&options, goal.size()).unwrap();
                    let limits = Limits { time: Duration::MAX, expanded, nodes: u64::MAX };
                    let job = Job::new(puzzle, plan, limits);
                    let report = solve(&job, &tables, SearchContext::default()).unwrap();
                    assert!(report.lower_bound <= distances[&start], "{start} {options:?}");
                    if let Some(solution) = report.solution {
                        let length = solution.path.len() as u32;
                        assert!(100 * length <= hundredths * distances[&start], "{start} {options:?}: {length}");
                    }
                }
            }
        }
    }
}
