//! The multi-tile metric, compared with a breadth-first search over boards.

use std::collections::HashMap;

use taquin_solver::heuristic::DistanceTable;
use taquin_solver::search::{Budget, Space, multi_tile};
use taquin_solver::{Board, Metric, Move, Packed64, Puzzle, Size, StopReason};

fn size(rows: usize, cols: usize) -> Size {
    Size::try_from((rows, cols)).unwrap()
}

/// All boards after one slide of one or more tiles.
fn neighbors(board: &Board) -> Vec<Board> {
    let mut neighbors = Vec::new();
    for mv in Move::ALL {
        let mut slid = *board;
        while slid.make(mv).is_some() {
            neighbors.push(slid);
        }
    }
    neighbors
}

/// The number of slides from every board to the goal.
fn distances(goal: Board) -> HashMap<Board, u32> {
    let mut distances = HashMap::from([(goal, 0)]);
    let mut layer = vec![goal];
    for distance in 1.. {
        let mut next = Vec::new();
        for neighbor in layer.iter().flat_map(neighbors) {
            distances.entry(neighbor).or_insert_with(|| {
                next.push(neighbor);
                distance
            });
        }
        if next.is_empty() {
            break;
        }
        layer = next;
    }
    distances
}

/// Solves every board that can reach the goal, and returns the greatest length.
fn check_all(goal: Board) -> u32 {
    let distances = distances(goal);
    let cells = goal.size().cells() as u64;
    assert_eq!(distances.len() as u64, (3..=cells).product::<u64>(), "half of all boards");
    let table = DistanceTable::build_in(Metric::MultiTile, goal.size(), goal.blank());
    for (board, distance) in &distances {
        let puzzle = Puzzle::try_new(*board, goal).unwrap();
        let space = Space::<Packed64>::new(&puzzle);
        assert_eq!(u32::from(table.distance(&space.start())), *distance, "{board}");
        let outcome = multi_tile(&space, &table, &Budget::UNLIMITED);
        let path = outcome.result.unwrap();
        assert!(path.replay(&puzzle).is_ok(), "{board}: {path}");
        assert_eq!((path.multi_tile_length(), outcome.lower_bound), (*distance as usize, *distance), "{board}: {path}");
        assert_eq!(outcome.stats.expanded, u64::from(*distance));
    }
    let greatest = distances.values().max().copied().unwrap();
    assert_eq!(table.histogram().len(), greatest as usize + 1);
    greatest
}

#[test]
fn solutions_of_all_3x3_boards_are_optimal_for_three_goals() {
    for goal in [Board::blank_last(size(3, 3)), Board::blank_first(size(3, 3)), Board::snail(size(3, 3))] {
        let greatest = check_all(goal);
        let is_corner = goal.blank() != 4;
        assert!(greatest == 24 || (!is_corner && greatest < 24), "{goal}: {greatest}");
    }
}

#[test]
fn solutions_of_all_smaller_boards_are_optimal_for_every_blank() {
    for size in DistanceTable::sizes().filter(|size| size.cells() < 9) {
        for (up, left) in (0..size.rows()).flat_map(|up| (0..size.cols()).map(move |left| (up, left))) {
            let mut goal = Board::blank_last(size);
            for mv in [vec![Move::Up; up], vec![Move::Left; left]].concat() {
                goal.make(mv).unwrap();
            }
            check_all(goal);
        }
    }
}

#[test]
fn the_first_slide_of_the_order_is_taken() {
    // Two tiles slide in one move, which one letter each describes.
    let goal = Board::blank_last(size(3, 3));
    let mut start = goal;
    for mv in [Move::Up, Move::Up, Move::Left, Move::Left] {
        start.make(mv).unwrap();
    }
    let puzzle = Puzzle::try_new(start, goal).unwrap();
    let table = DistanceTable::build_in(Metric::MultiTile, goal.size(), goal.blank());
    let outcome = multi_tile(&Space::new(&puzzle), &table, &Budget::UNLIMITED);
    assert_eq!((outcome.result.unwrap().letters(), outcome.lower_bound), ("RRDD".to_owned(), 2));
    // From the first board four slides, from the second the two across the line of the first.
    assert_eq!((outcome.stats.expanded, outcome.stats.generated), (2, 1 + 4 + 2));
}

#[test]
fn a_limit_on_expansions_stops_the_search() {
    let goal = Board::blank_last(size(3, 3));
    let table = DistanceTable::build_in(Metric::MultiTile, goal.size(), goal.blank());
    let start = distances(goal).into_iter().find(|(_, distance)| *distance == 24).unwrap().0;
    let puzzle = Puzzle::try_new(start, goal).unwrap();
    let budget = Budget { expanded: 5, ..Budget::UNLIMITED };
    let outcome = multi_tile(&Space::new(&puzzle), &table, &budget);
    assert_eq!((outcome.result, outcome.lower_bound), (Err(StopReason::Expanded), 24));
}
