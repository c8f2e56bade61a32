//! All optimal solutions, counted by dynamic programming over the distances of breadth-first search.

use std::collections::HashMap;

use taquin_solver::heuristic::{DistanceTable, ExactDistance, LinearConflict, Manhattan};
use taquin_solver::search::{Budget, Heuristic, OptimalPaths, Space, optimal_paths};
use taquin_solver::{Board, Move, Packed64, Puzzle, SplitMix, StopReason, random_walk};

use crate::reference::size;

fn after(board: &Board, mv: Move) -> Board {
    let mut after = *board;
    after.make(mv).unwrap();
    after
}

/// Distance and number of shortest paths to the goal, of each board from which it is reachable.
fn counted(goal: Board) -> HashMap<Board, (u32, u64)> {
    let mut counted = HashMap::from([(goal, (0, 1))]);
    let mut layer = vec![goal];
    for distance in 1.. {
        let mut next = HashMap::new();
        for board in &layer {
            for mv in board.moves() {
                let neighbor = after(board, mv);
                if !counted.contains_key(&neighbor) {
                    *next.entry(neighbor).or_insert(0) += counted[board].1;
                }
            }
        }
        if next.is_empty() {
            break;
        }
        layer = next.keys().copied().collect();
        counted.extend(next.into_iter().map(|(board, paths)| (board, (distance, paths))));
    }
    counted
}

fn found<H: Heuristic<Packed64>>(start: Board, goal: Board, heuristic: &H, length: u32, most: usize) -> OptimalPaths {
    let puzzle = Puzzle::try_new(start, goal).unwrap();
    let space = Space::<Packed64>::new(&puzzle);
    let found = optimal_paths(&space, heuristic, length, (most, true), &Budget::UNLIMITED).unwrap();
    assert!(found.paths.iter().all(|path| path.len() as u32 == length && path.replay(&puzzle).is_ok()));
    assert!(found.paths.is_sorted_by(|one, next| order(one.moves()) < order(next.moves())), "distinct, and in order");
    found
}

fn order(moves: &[Move]) -> Vec<u8> {
    moves.iter().map(|mv| *mv as u8).collect()
}

#[test]
fn counts_of_all_boards_of_the_8_puzzle_are_those_of_dynamic_programming() {
    let size = size(3, 3);
    let custom = after(&after(&Board::blank_last(size), Move::Up), Move::Up);
    for goal in [Board::blank_last(size), Board::snail(size), custom] {
        let expected = counted(goal);
        assert_eq!(expected.len(), 181_440);
        let table = DistanceTable::build(size, goal.blank());
        let heuristic = ExactDistance::new(&table);
        for (start, (length, paths)) in &expected {
            let found = found(*start, goal, &heuristic, *length, 3);
            assert_eq!((found.count, found.paths.len() as u64), (Some(*paths), 3.min(*paths)), "{start} to {goal}");
            // The first solution takes the first move that leads nearer, each time.
            let mut board = *start;
            for mv in found.paths[0].moves() {
                let is_nearer = |mv: &Move| expected[&after(&board, *mv)].0 < expected[&board].0;
                assert_eq!(Some(*mv), board.moves().find(is_nearer), "{start}");
                board.make(*mv).unwrap();
            }
        }
    }
}

#[test]
fn counts_on_larger_boards_are_those_of_a_search_without_a_heuristic() {
    let mut random = SplitMix(5);
    for (rows, cols, moves) in [(3, 4, 14), (4, 4, 14), (4, 4, 11), (2, 6, 18), (4, 4, 0)] {
        let goal = Board::blank_last(size(rows, cols));
        let (manhattan, conflict) =
            (Manhattan::new(goal.size(), goal.blank()), LinearConflict::new(goal.size(), goal.blank()));
        for _ in 0..6 {
            let start = random_walk(&goal, moves, &mut random);
            // Number of shortest paths to each board, layer by layer.
            let (mut layer, mut seen) = (HashMap::from([(start, 1)]), HashMap::from([(start, ())]));
            let mut length = 0;
            while !layer.contains_key(&goal) {
                let mut next = HashMap::new();
                for (board, paths) in &layer {
                    for neighbor in board.moves().map(|mv| after(board, mv)).filter(|board| !seen.contains_key(board)) {
                        *next.entry(neighbor).or_insert(0) += paths;
                    }
                }
                seen.extend(next.keys().map(|board| (*board, ())));
                (layer, length) = (next, length + 1);
            }
            let by_manhattan = found(start, goal, &manhattan, length, 1_000);
            assert_eq!(by_manhattan.count, Some(layer[&goal]), "{start}");
            let by_conflict = found(start, goal, &conflict, length, 1_000);
            assert_eq!((by_conflict.count, &by_conflict.paths), (by_manhattan.count, &by_manhattan.paths));
        }
    }
}

#[test]
fn a_search_ends_with_the_last_solution_requested_or_with_the_budget() {
    let goal = Board::blank_last(size(3, 3));
    let expected = counted(goal);
    let (start, (length, paths)) = expected.iter().max_by_key(|(_, (_, paths))| *paths).unwrap();
    let table = DistanceTable::build(goal.size(), goal.blank());
    let (heuristic, puzzle) = (ExactDistance::new(&table), Puzzle::try_new(*start, goal).unwrap());
    let space = Space::<Packed64>::new(&puzzle);
    let all = optimal_paths(&space, &heuristic, *length, (2, true), &Budget::UNLIMITED).unwrap();
    let two = optimal_paths(&space, &heuristic, *length, (2, false), &Budget::UNLIMITED).unwrap();
    assert_eq!((all.count, two.count, &two.paths), (Some(*paths), None, &all.paths));
    assert!(two.expanded < all.expanded);
    let budget = Budget { expanded: all.expanded - 1, ..Budget::UNLIMITED };
    let stopped = optimal_paths(&space, &heuristic, *length, (2, true), &budget);
    assert_eq!(stopped, Err(StopReason::Expanded));
    let budget = Budget { expanded: all.expanded, ..Budget::UNLIMITED };
    assert_eq!(optimal_paths(&space, &heuristic, *length, (2, true), &budget), Ok(all));
}
