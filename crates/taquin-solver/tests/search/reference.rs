//! Slow reference implementations, which share only the board type with the crate, and helpers of the tests.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};

use taquin_solver::search::{Budget, Help, Helpers, HeuristicSearch, MainWork, Outcome, Space, Trace, ida_star};
use taquin_solver::{Board, Encoding, Move, Packed, RawBoard, Sides, Size};

pub(crate) fn size(rows: usize, cols: usize) -> Size {
    Size::try_from((rows, cols)).unwrap()
}

pub(crate) fn board(text: &str) -> Board {
    RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).unwrap()
}

/// The blank-last goal with the blank moved to another cell.
pub(crate) fn goal_with_blank(size: Size, row: usize, col: usize) -> Board {
    let mut goal = Board::blank_last(size);
    while size.row_of(goal.blank()) > row {
        goal.make(Move::Up);
    }
    while size.col_of(goal.blank()) > col {
        goal.make(Move::Left);
    }
    goal
}

/// Runs the parallel and the sequential search, and compares them. The parallel one visits the last iteration in
/// another order; all iterations before have equal counters.
pub(crate) fn ida_star_in_both_ways<P: Packed, H: HeuristicSearch<P>>(space: &Space<P>, heuristic: &H) -> [Outcome; 2] {
    // Only the sequential search can write a trace.
    let mut traces = [Trace::new(0).with_iterations(), Trace::new(1).with_iterations()];
    let outcomes = traces.each_mut().map(|trace| ida_star(space, heuristic, &Budget::UNLIMITED, trace));
    let iterations = traces.map(|trace| trace.into_recorded().iterations);
    let [parallel, sequential] = iterations.each_ref().map(|counts| &counts[..counts.len() - 1]);
    assert_eq!(parallel, sequential);
    let [parallel, sequential] = outcomes.each_ref().map(|Outcome { result, lower_bound, stats, .. }| {
        (result.as_ref().unwrap().len(), *lower_bound, stats.iterations, stats.initial_h)
    });
    assert_eq!(parallel, sequential);
    for (counts, Outcome { result, stats, .. }) in iterations.iter().zip(&outcomes) {
        assert_eq!(counts.iter().map(|counts| counts.generated).sum::<u64>(), stats.generated);
        assert_eq!(counts.iter().map(|counts| counts.expanded).sum::<u64>(), stats.expanded);
        let mut state = space.start();
        for mv in result.as_ref().unwrap().moves() {
            space.make(&mut state, *mv);
        }
        assert!(space.is_goal(&state), "the moves lead to the goal");
    }
    outcomes
}

/// The boards that are one move away.
pub(crate) fn neighbors(board: &Board) -> Vec<Board> {
    Move::ALL
        .into_iter()
        .filter_map(|mv| {
            let mut next = *board;
            next.make(mv).map(|_| next)
        })
        .collect()
}

/// Distance of every board reachable from `goal`.
pub(crate) fn distances(goal: &Board) -> HashMap<Board, u32> {
    let mut distances = HashMap::from([(*goal, 0)]);
    let mut queue = VecDeque::from([*goal]);
    while let Some(board) = queue.pop_front() {
        let distance = distances[&board] + 1;
        for next in neighbors(&board) {
            distances.entry(next).or_insert_with(|| {
                queue.push_back(next);
                distance
            });
        }
    }
    distances
}

/// Distance between two boards, by bidirectional breadth-first search.
pub(crate) fn distance_between(start: &Board, goal: &Board) -> u32 {
    let mut sides = [HashMap::from([(*start, 0)]), HashMap::from([(*goal, 0)])];
    let mut layers = [vec![*start], vec![*goal]];
    if start == goal {
        return 0;
    }
    for depth in 1_u32.. {
        let near = usize::from(layers[1].len() < layers[0].len());
        let mut next_layer = Vec::new();
        let mut met: Option<u32> = None;
        for board in std::mem::take(&mut layers[near]) {
            let own = sides[near][&board] + 1;
            for next in neighbors(&board) {
                if let Some(other) = sides[1 - near].get(&next) {
                    met = Some(met.map_or(own + other, |best: u32| best.min(own + other)));
                }
                sides[near].entry(next).or_insert_with(|| {
                    next_layer.push(next);
                    own
                });
            }
        }
        if let Some(length) = met {
            return length;
        }
        layers[near] = next_layer;
        assert!(depth < 200, "the two boards are not connected");
    }
    unreachable!()
}

/// All permutations of the tiles on boards of a size.
pub(crate) fn all_boards(size: Size) -> Vec<Board> {
    fn extend(size: Size, tiles: &mut Vec<i64>, boards: &mut Vec<Board>) {
        if tiles.len() == size.cells() {
            let tiles: Vec<_> = tiles.iter().copied().map(Some).collect();
            boards.push(Board::try_from_tiles(size, &tiles).unwrap());
        }
        for tile in 0..size.cells() as i64 {
            if !tiles.contains(&tile) {
                tiles.push(tile);
                extend(size, tiles, boards);
                tiles.pop();
            }
        }
    }
    let mut boards = Vec::new();
    extend(size, &mut Vec::new(), &mut boards);
    boards
}

/// Starts one more helper thread at each request, and soon makes it yield.
#[derive(Debug, Default)]
pub(crate) struct UnreliableHelper {
    /// Number of helper threads started.
    pub(crate) helped: AtomicU32,
    polls: AtomicU32,
}

impl Helpers for UnreliableHelper {
    fn work(&self, main: MainWork<'_>, help: &Help<'_>) {
        std::thread::scope(|scope| {
            main(&|| {
                self.helped.fetch_add(1, Ordering::Relaxed);
                scope.spawn(|| help(&|| self.polls.fetch_add(1, Ordering::Relaxed) % 4 == 3));
            });
        });
    }
}
