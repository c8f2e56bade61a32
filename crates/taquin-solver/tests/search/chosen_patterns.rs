//! Chosen patterns: equality with a slow implementation, admissibility and consistency, and searches with them.

use std::collections::{HashMap, VecDeque};

use taquin_solver::heuristic::{DisjointPatterns, TilePatterns};
use taquin_solver::search::{Heuristic, Space};
use taquin_solver::{
    Algorithm, Board, Control, Limits, Move, Packed64, Plan, Puzzle, RandomSource, SearchOptions, SearchRequest, Size,
    Solver, SplitMix, StopReason, Tile, random_board,
};

use crate::reference::{board, distances, goal_with_blank, neighbors, size};

fn build(goal: &Board, patterns: &[Vec<i64>]) -> DisjointPatterns {
    let patterns = TilePatterns::try_new(goal.size(), patterns).unwrap();
    DisjointPatterns::build(&patterns, goal, &mut || false).unwrap()
}

/// A board on which only the blank and the tiles of a pattern are known; the others are `None`.
type Abstract = Vec<Option<Tile>>;

/// Moves of a pattern's tiles to the goal, by 0-1 breadth-first search over abstract boards: a move of another tile
/// costs nothing.
fn slow_costs(goal: &Board, pattern: &[i64]) -> HashMap<Abstract, u32> {
    let abstracted = abstract_board(goal, pattern);
    let (mut costs, mut queue) = (HashMap::from([(abstracted.clone(), 0)]), VecDeque::from([abstracted]));
    while let Some(board) = queue.pop_front() {
        let cost = costs[&board];
        let blank = board.iter().position(|tile| *tile == Some(0)).unwrap() as u8;
        for cell in Move::ALL.into_iter().filter_map(|mv| goal.size().neighbor(blank, mv)) {
            let mut next = board.clone();
            next.swap(usize::from(blank), usize::from(cell));
            let own = u32::from(board[usize::from(cell)].is_some());
            if costs.get(&next).is_none_or(|known| *known > cost + own) {
                costs.insert(next.clone(), cost + own);
                if own == 0 { queue.push_front(next) } else { queue.push_back(next) }
            }
        }
    }
    costs
}

fn abstract_board(board: &Board, pattern: &[i64]) -> Abstract {
    let is_known = |tile: &Tile| *tile == 0 || pattern.contains(&i64::from(*tile));
    board.tiles().iter().map(|tile| Some(*tile).filter(is_known)).collect()
}

/// Compares each table with the slow costs on some boards.
fn tables_agree(goal: &Board, patterns: &[Vec<i64>], boards: impl Iterator<Item = Board>) {
    let heuristic = build(goal, patterns);
    let slow: Vec<_> = patterns.iter().map(|pattern| slow_costs(goal, pattern)).collect();
    for board in boards {
        let state = Space::<Packed64>::new(&Puzzle::try_new(board, *goal).unwrap()).start();
        let expected: Vec<u32> =
            slow.iter().zip(patterns).map(|(costs, pattern)| costs[&abstract_board(&board, pattern)]).collect();
        let found: Vec<u32> = heuristic.uses(&state).iter().map(|table| table.cost).collect();
        assert_eq!(found, expected, "{board}");
        let in_none = |tile: &Tile| *tile != 0 && patterns.iter().all(|tiles| !tiles.contains(&i64::from(*tile)));
        let (positions, goal_positions) = (board.positions(), goal.positions());
        let others = board.tiles().iter().filter(|tile| in_none(tile)).map(|tile| usize::from(*tile));
        let others: u32 = others.map(|tile| goal.size().distance(positions[tile], goal_positions[tile])).sum();
        assert_eq!(heuristic.h(heuristic.evaluate(&state)), expected.iter().sum::<u32>() + others, "{board}");
        let parts = heuristic.parts(&state);
        assert_eq!(parts.iter().map(|part| part.cost).sum::<u32>(), expected.iter().sum::<u32>() + others);
    }
}

#[test]
fn costs_equal_breadth_first_search_over_abstract_boards() {
    for goal in [Board::blank_last(size(3, 3)), Board::snail(size(3, 3)), board("8 1 3/2 0 4/7 6 5")] {
        for patterns in [vec![vec![1, 2, 3, 4], vec![5, 6, 7, 8]], vec![vec![8, 3], vec![5]], vec![vec![4, 2, 7, 1, 6]]]
        {
            tables_agree(&goal, &patterns, distances(&goal).into_keys().take(4_000));
        }
    }
    let mut random = SplitMix(5);
    for (rows, cols) in [(2, 2), (2, 4), (2, 7), (5, 3), (8, 2), (4, 4)] {
        let (size, goal) = (size(rows, cols), goal_with_blank(size(rows, cols), 0, 1));
        let patterns = vec![vec![1, 3], vec![2]];
        tables_agree(&goal, &patterns, (0..200).map(|_| random_board(&goal, &mut random)));
        assert_eq!(size, goal.size());
    }
}

#[test]
fn h_is_admissible_and_consistent_on_all_boards_of_the_8_puzzle() {
    for (goal, patterns) in [
        (Board::blank_last(size(3, 3)), vec![vec![1, 2, 3, 4], vec![5, 6, 7, 8]]),
        (Board::snail(size(3, 3)), vec![vec![1, 5, 2], vec![8, 4]]),
        (Board::blank_first(size(3, 3)), vec![(1..9).collect()]),
    ] {
        let heuristic = build(&goal, &patterns);
        let distances = distances(&goal);
        let h: HashMap<Board, u32> = distances
            .keys()
            .map(|board| {
                let state = Space::<Packed64>::new(&Puzzle::try_new(*board, goal).unwrap()).start();
                (*board, heuristic.h(heuristic.evaluate(&state)))
            })
            .collect();
        assert_eq!(h.len(), 181_440);
        for (board, distance) in &distances {
            assert!(h[board] <= *distance, "{board}: {} exceeds {distance}", h[board]);
            assert!(neighbors(board).iter().all(|next| h[board] <= h[next] + 1), "{board} falls by more than 1");
            assert!(patterns.len() > 1 || h[board] == *distance, "the only pattern has all tiles");
        }
    }
}

#[test]
fn after_a_move_h_agrees_with_evaluation_from_scratch() {
    let mut random = SplitMix(3);
    for (rows, cols) in [(3, 3), (2, 8), (4, 4), (7, 2), (3, 5)] {
        let goal = goal_with_blank(size(rows, cols), 1, 1);
        let heuristic = build(&goal, &[vec![1, 2, 5], vec![4], vec![3]]);
        let space = Space::<Packed64>::new(&Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
        let (mut state, mut memo) = (space.start(), heuristic.evaluate(&space.start()));
        for _ in 0..500 {
            let mut moves = space.moves_except(state.blank, taquin_solver::MoveSet::EMPTY);
            let mv = moves.nth(random.below(moves.len() as u64) as usize).unwrap();
            let slide = space.make(&mut state, mv);
            memo = heuristic.after(memo, &slide, &state);
            assert_eq!(heuristic.h(memo), heuristic.h(heuristic.evaluate(&state)), "{}", space.board(&state));
        }
    }
}

fn request(start: Board, goal: Board, patterns: &[Vec<i64>], algorithm: Option<Algorithm>) -> SearchRequest {
    let patterns = Some(TilePatterns::try_new(start.size(), patterns).unwrap());
    let options = SearchOptions { algorithm, patterns, ..SearchOptions::default() };
    let plan = Plan::try_new(&options, start.size()).unwrap();
    SearchRequest::new(Puzzle::try_new(start, goal).unwrap(), plan, Limits::NONE)
}

#[test]
fn searches_with_chosen_patterns_are_optimal() {
    let (mut random, solver) = (SplitMix(8), Solver::new());
    for (goal, patterns) in [
        (Board::blank_last(size(3, 3)), vec![vec![1, 2, 3, 4], vec![5, 6, 7, 8]]),
        (Board::snail(size(3, 4)), vec![vec![1, 2, 3, 4], vec![5, 6, 7], vec![9]]),
    ] {
        for _ in 0..5 {
            let start = random_board(&goal, &mut random);
            let expected = solver.solve(&Puzzle::try_new(start, goal).unwrap()).path.len();
            for algorithm in [None, Some(Algorithm::AStar), Some(Algorithm::IdaStar), Some(Algorithm::WeightedAStar)] {
                let request = request(start, goal, &patterns, algorithm);
                let report = solver.run(&request, Control::default()).unwrap();
                assert_eq!(report.solution.as_ref().unwrap().path.len(), expected, "{start} {algorithm:?}");
                assert!(report.is_optimal());
                let costs: u32 = report.patterns.iter().map(|table| table.cost).sum();
                assert!(report.patterns.len() == patterns.len() && costs <= report.stats.initial_h, "{report:?}");
            }
        }
    }
}

#[test]
fn a_cancelled_construction_ends_the_search() {
    let goal = Board::blank_last(size(4, 4));
    let flag = std::sync::atomic::AtomicBool::new(true);
    let flags = [&flag];
    let request = request(goal, goal, &[(1..7).collect()], Some(Algorithm::AStar));
    let report = Solver::new().run(&request, Control { cancel: &flags, ..Control::default() }).unwrap();
    assert_eq!((report.stopped, report.patterns.len()), (Some(StopReason::Cancelled), 0));
}

#[test]
fn options_that_chosen_patterns_exclude_are_rejected() {
    let options = |patterns: &[Vec<i64>], size: Size| SearchOptions {
        patterns: Some(TilePatterns::try_new(size, patterns).unwrap()),
        ..SearchOptions::default()
    };
    let fields = |options: SearchOptions, size| -> Vec<&'static str> {
        Plan::try_new(&options, size).unwrap_err().iter().map(|conflict| conflict.field).collect()
    };
    let own = options(&[vec![1]], size(3, 3));
    let manhattan = Some(taquin_solver::HeuristicKind::Manhattan);
    assert_eq!(fields(SearchOptions { heuristic: manhattan, ..own }, size(3, 3)), ["patterns"]);
    assert_eq!(fields(SearchOptions { algorithm: Some(Algorithm::BreadthFirst), ..own }, size(3, 3)), ["patterns"]);
    assert_eq!(fields(SearchOptions { metric: taquin_solver::Metric::MultiTile, ..own }, size(3, 3)), ["patterns"]);
    assert_eq!(fields(own, size(4, 4)), ["patterns"]);
    let plan = Plan::try_new(&own, size(3, 3)).unwrap();
    assert!(!plan.is_instant() && plan.heuristic == taquin_solver::HeuristicKind::PatternDatabase);
}
