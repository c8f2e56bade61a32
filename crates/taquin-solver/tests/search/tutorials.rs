//! Searches as tutorials write them, with lists that are scanned from the front. They define `expanded_only` and
//! `successor_order`.

use std::time::Duration;

use taquin_solver::search::{GeneratedNode, Verdict};
use taquin_solver::solver::solve;
use taquin_solver::{
    Algorithm, Board, Control, DuplicateDetection, HeuristicKind, LazyTables, Limits, Move, Named, Plan, Puzzle,
    Reachability, Records, Report, SearchOptions, SearchRequest, SplitMix, Stats, SuccessorOrder, TieBreaking, Weight,
    random_board,
};

use crate::reference::{all_boards, board, distances, size};

struct Node {
    id: u32,
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
    /// The first nodes generated.
    list: Vec<GeneratedNode>,
}

/// Number of nodes that a search lists.
const LISTED: usize = 3_000;

/// Manhattan distance, and number of misplaced tiles.
fn manhattan_and_hamming(board: &Board, goal: &Board) -> [u32; 2] {
    let size = board.size();
    let cell_of = |tile: u8| (0..size.cells() as u8).find(|cell| goal.tile(*cell) == tile).unwrap();
    let tiles = (0..size.cells() as u8).map(|cell| (cell, board.tile(cell))).filter(|(_, tile)| *tile != 0);
    let moved: Vec<u32> = tiles.map(|(cell, tile)| size.distance(cell, cell_of(tile))).collect();
    [moved.iter().sum(), moved.iter().filter(|distance| **distance > 0).count() as u32]
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
    let estimate = |board: &Board| -> u32 {
        if algorithm.takes_heuristic() { manhattan_and_hamming(board, goal).into_iter().sum() } else { 0 }
    };
    let start = *puzzle.start();
    let mut open = vec![Node { id: 0, board: start, moves: String::new(), h: estimate(&start) }];
    let mut list = vec![GeneratedNode {
        board: start,
        mv: None,
        parent: None,
        g: 0,
        h: estimate(&start),
        manhattan: manhattan_and_hamming(&start, goal)[0],
        verdict: if start == *goal { Verdict::Goal } else { Verdict::New },
    }];
    let (mut expanded, mut known) = (Vec::new(), vec![start]);
    let (mut made, mut duplicates) = (1, 0);
    let figures = |moves, expanded: &[Board], open: &[Node], made, duplicates, list: Vec<_>| Figures {
        moves,
        expanded: expanded.len() as u64,
        generated: made + duplicates,
        duplicates,
        open_at_end: open.len() as u64,
        nodes_held: made,
        list: list.into_iter().take(LISTED).collect(),
    };
    loop {
        let at = next(&open, algorithm);
        if open[at].board != *goal && expanded.len() as u64 == limit {
            return figures(None, &expanded, &open, made, duplicates, list);
        }
        let node = open.remove(at);
        if node.board == *goal {
            return figures(Some(node.moves), &expanded, &open, made, duplicates, list);
        }
        expanded.push(node.board);
        let mut successors = Vec::new();
        for letter in options.successor_order.letters().chars() {
            let mv = Move::from_letter(letter).unwrap();
            let mut board = node.board;
            if board.make(mv).is_none() {
                continue;
            }
            if node.moves.ends_with(mv.inverse().letter()) {
                // The board is the parent's, which was expanded. It does not count.
                continue;
            }
            let closed = if options.duplicate_detection == DuplicateDetection::Closed { &known } else { &expanded };
            let is_duplicate = closed.contains(&board);
            let id = list.len() as u32;
            list.push(GeneratedNode {
                board,
                mv: Some(mv),
                parent: Some(node.id),
                g: node.moves.len() as u32 + 1,
                h: estimate(&board),
                manhattan: manhattan_and_hamming(&board, goal)[0],
                verdict: match is_duplicate {
                    true => Verdict::Duplicate,
                    false if board == *goal => Verdict::Goal,
                    false => Verdict::New,
                },
            });
            if is_duplicate {
                duplicates += 1;
                continue;
            }
            made += 1;
            known.push(board);
            successors.push(Node { id, board, moves: format!("{}{letter}", node.moves), h: estimate(&board) });
        }
        let front = if algorithm == Algorithm::DepthFirst { 0 } else { open.len() };
        open.splice(front..front, successors);
    }
}

fn search(puzzle: &Puzzle, options: &SearchOptions, limit: u64) -> Figures {
    let plan = Plan::try_new(options, puzzle.size()).unwrap();
    let limits = Limits { time: Duration::MAX, expanded: limit, nodes: u64::MAX };
    let job = SearchRequest {
        records: Records { generated: LISTED, ..Records::default() },
        ..SearchRequest::new(*puzzle, plan, limits)
    };
    let Report { solution, stats, generated: list, .. } =
        solve(&job, &LazyTables::default(), Control::default()).unwrap();
    let Stats { expanded, generated, duplicates, open_at_end, nodes_held, .. } = stats;
    let moves = solution.map(|solution| solution.path.letters());
    let list = list.unwrap().iter().collect();
    Figures { moves, expanded, generated, duplicates, open_at_end, nodes_held, list }
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

/// Compares searches with the searches of tutorials, also where a limit stops them.
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
    let tables = LazyTables::default();
    for order in SuccessorOrder::all() {
        let start = random_board(&goal, &mut random);
        let puzzle = Puzzle::try_new(start, goal).unwrap();
        for heuristic in [HeuristicKind::Manhattan, HeuristicKind::LinearConflict, HeuristicKind::Gaschnig] {
            for (algorithm, hundredths) in [(Algorithm::AStar, 100), (Algorithm::WeightedAStar, 300)] {
                let options = SearchOptions {
                    algorithm: Some(algorithm),
                    heuristic: Some(heuristic),
                    weight: Weight::from_hundredths(hundredths).unwrap(),
                    duplicate_detection: DuplicateDetection::ExpandedOnly,
                    successor_order: order,
                    ..SearchOptions::default()
                };
                for expanded in [10, 100, u64::MAX] {
                    let plan = Plan::try_new(&options, goal.size()).unwrap();
                    let limits = Limits { time: Duration::MAX, expanded, nodes: u64::MAX };
                    let job = SearchRequest::new(puzzle, plan, limits);
                    let report = solve(&job, &tables, Control::default()).unwrap();
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

/// Every list agrees with the counters, also where shorter paths reopen nodes.
#[test]
fn verdicts_are_counted_as_the_search_counts_them() {
    let (goal, tables, mut random) = (Board::blank_last(size(3, 3)), LazyTables::default(), SplitMix(17));
    let mut reopened = 0;
    for _ in 0..12 {
        let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
        for (algorithm, heuristic, depth_limit) in [
            (Algorithm::AStar, Some(HeuristicKind::ManhattanPlusHamming), None),
            (Algorithm::AStar, Some(HeuristicKind::PatternDatabase), None),
            (Algorithm::WeightedAStar, Some(HeuristicKind::Manhattan), None),
            (Algorithm::DepthFirst, None, Some(24)),
        ] {
            for duplicate_detection in [DuplicateDetection::Closed, DuplicateDetection::Parent] {
                let weight = if algorithm == Algorithm::WeightedAStar { 200 } else { 100 };
                let options = SearchOptions {
                    algorithm: Some(algorithm),
                    heuristic,
                    depth_limit,
                    duplicate_detection,
                    weight: Weight::from_hundredths(weight).unwrap(),
                    ..SearchOptions::default()
                };
                let plan = Plan::try_new(&options, goal.size()).unwrap();
                let limits = Limits { time: Duration::MAX, expanded: 20_000, nodes: u64::MAX };
                let job = SearchRequest {
                    records: Records { generated: 100_000, ..Records::default() },
                    ..SearchRequest::new(puzzle, plan, limits)
                };
                let Report { stats, generated, .. } = solve(&job, &tables, Control::default()).unwrap();
                let list: Vec<GeneratedNode> = generated.unwrap().iter().collect();
                let count = |verdict| list.iter().filter(|node| node.verdict == verdict).count() as u64;
                assert_eq!(list.len() as u64, stats.generated, "{options:?}");
                assert_eq!(count(Verdict::Duplicate), stats.duplicates, "{options:?}");
                // A node that is reopened may be the goal.
                assert!(count(Verdict::Reopened) + count(Verdict::Goal) >= stats.reopened, "{options:?}");
                assert!(count(Verdict::Reopened) <= stats.reopened, "{options:?}");
                reopened += stats.reopened;
                check_list(&list, &puzzle, &options);
            }
        }
    }
    assert!(reopened > 0);
}

/// Checks that each node is the board that its parent becomes by its move.
fn check_list(list: &[GeneratedNode], puzzle: &Puzzle, options: &SearchOptions) {
    assert_eq!((list[0].board, list[0].g, list[0].parent), (*puzzle.start(), 0, None));
    for (at, node) in list.iter().enumerate().skip(1) {
        let parent = &list[node.parent.unwrap() as usize];
        assert!(node.parent.unwrap() < at as u32 && parent.verdict != Verdict::Duplicate, "{at}: {options:?}");
        let mut board = parent.board;
        board.make(node.mv.unwrap()).unwrap();
        assert_eq!((board, parent.g + 1), (node.board, node.g), "{at}: {options:?}");
        assert_eq!(node.manhattan, manhattan_and_hamming(&board, puzzle.goal())[0], "{at}: {options:?}");
        assert!(node.verdict != Verdict::Goal || board == *puzzle.goal());
        if options.heuristic == Some(HeuristicKind::Manhattan) {
            assert_eq!(node.h, node.manhattan);
        }
    }
}

/// A depth-first search within a limit on f. Returns true if it found the goal.
fn visit(board: &Board, came_by: Option<Move>, g: u32, goal: &Board, is_blind: bool, counts: &mut [u64; 4]) -> bool {
    let [threshold, next_threshold, expanded, generated] = counts;
    let f = g + if is_blind { 0 } else { manhattan_and_hamming(board, goal)[0] };
    *generated += 1;
    if u64::from(f) > *threshold {
        *next_threshold = (*next_threshold).min(u64::from(f));
        return false;
    }
    if board == goal {
        return true;
    }
    *expanded += 1;
    Move::ALL.into_iter().filter(|mv| came_by != Some(mv.inverse())).any(|mv| {
        let mut next = *board;
        next.make(mv).is_some() && visit(&next, Some(mv), g + 1, goal, is_blind, counts)
    })
}

#[test]
fn iterations_are_those_of_a_plain_recursion() {
    let (goal, tables, mut random) = (Board::blank_last(size(3, 3)), LazyTables::default(), SplitMix(71));
    for (algorithm, moves) in [(Algorithm::IdaStar, 60), (Algorithm::IterativeDeepening, 14)] {
        for _ in 0..10 {
            let puzzle = Puzzle::try_new(taquin_solver::random_walk(&goal, moves, &mut random), goal).unwrap();
            let is_blind = algorithm == Algorithm::IterativeDeepening;
            let heuristic = (!is_blind).then_some(HeuristicKind::Manhattan);
            let options = SearchOptions { algorithm: Some(algorithm), heuristic, ..SearchOptions::default() };
            let plan = Plan::try_new(&options, goal.size()).unwrap();
            let limits = Limits { time: Duration::MAX, expanded: u64::MAX, nodes: u64::MAX };
            let job = SearchRequest {
                records: Records { iterations: true, ..Records::default() },
                ..SearchRequest::new(puzzle, plan, limits)
            };
            let report = solve(&job, &tables, Control::default()).unwrap();
            let iterations = report.iterations.unwrap();
            assert_eq!(iterations.len() as u32, report.stats.iterations, "{}", algorithm.name());
            let start = puzzle.start();
            let mut threshold = if is_blind { 0 } else { u64::from(manhattan_and_hamming(start, &goal)[0]) };
            for (nth, found) in iterations.iter().enumerate() {
                let mut counts = [threshold, u64::MAX, 0, 0];
                let is_found = visit(start, None, 0, &goal, is_blind, &mut counts);
                let [_, next_threshold, expanded, generated] = counts;
                let counts = [u64::from(found.threshold), found.expanded, found.generated];
                assert_eq!(counts, [threshold, expanded, generated], "{} {start}", algorithm.name());
                assert_eq!(is_found, nth + 1 == iterations.len(), "{} {start}", algorithm.name());
                threshold = next_threshold;
            }
        }
    }
}
