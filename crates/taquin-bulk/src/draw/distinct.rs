//! Draws lists of distinct boards.

use std::collections::HashSet;

use taquin_solver::heuristic::DistanceTable;
use taquin_solver::search::Distribution;
use taquin_solver::tables::SmallTables;
use taquin_solver::{Board, Metric, Move};

use super::error::DrawError;
use super::lengths::{Wanted, drawn_lengths};
use super::request::{Draw, DrawnBoard, Solvability, Walk};

/// Maximum number of draws per board of a list. Suppose that at most 1,000 boards satisfy a request, that they are
/// equally likely, and that the list needs all of them. Then the list takes fewer than half of the maximum number of
/// draws, except for about one list in a million.
const DRAWS_FOR_A_BOARD: usize = 40;

/// Maximum number of pairs of a board and a last move that [`ends`] considers after each move of a walk. With more
/// pairs, there are enough boards for any list.
const MAX_ENDS: usize = 8_000;

/// Draws a list with the seeds `seed/0`, `seed/1` and so on. Leaves out boards that are already in the list. Fails if a
/// draw fails, or if the list is not complete after [`DRAWS_FOR_A_BOARD`] draws per board.
pub(super) fn distinct(
    seed: &str,
    count: usize,
    mut draw: impl FnMut(&str) -> Result<DrawnBoard, DrawError>,
) -> Result<Vec<DrawnBoard>, DrawError> {
    let (mut list, mut boards) = (Vec::with_capacity(count), HashSet::with_capacity(count));
    let mut seeds = (0..count * DRAWS_FOR_A_BOARD).map(|index| format!("{seed}/{index}"));
    while list.len() < count {
        let repeated = || DrawError::Repeated { found: list.len(), draws: count * DRAWS_FOR_A_BOARD };
        let drawn = draw(&seeds.next().ok_or_else(repeated)?)?;
        if boards.insert(drawn.board) {
            list.push(drawn);
        }
    }
    Ok(list)
}

/// Returns the number of boards that a draw can return, if the number is known, positive, and below `count`.
pub(super) fn fewer_than(
    count: usize,
    goal: &Board,
    (how, wanted): (&Draw, Option<&Wanted>),
    tables: &SmallTables,
) -> Option<u64> {
    let exist = match (how, wanted) {
        (Draw::Uniform(solvability), _) => all_boards(goal, *solvability),
        (Draw::Walk(walk), _) => ends(walk, goal).map(|ends| ends as u64),
        (_, Some(wanted)) => of_lengths(goal, wanted, count, tables),
        (_, None) => None,
    };
    exist.filter(|exist| (1..count as u64).contains(exist))
}

/// Returns the number of boards with a solvability; `None` if 64 bits cannot hold the number.
fn all_boards(goal: &Board, solvability: Solvability) -> Option<u64> {
    let half = (3..=goal.size().cells() as u64).try_fold(1_u64, u64::checked_mul)?;
    if solvability == Solvability::Any { half.checked_mul(2) } else { Some(half) }
}

/// Returns the number of boards of the wanted lengths. If at least `count` boards exist, the result may be less than
/// the number of boards, but is at least `count`. Returns `None` if boards of these lengths cannot be drawn.
fn of_lengths(goal: &Board, wanted: &Wanted, count: usize, tables: &SmallTables) -> Option<u64> {
    let (size, goal_blank) = (goal.size(), goal.blank());
    let distribution = if DistanceTable::serves(size) {
        tables.distribution(Metric::SingleTile, size, goal_blank)
    } else {
        Distribution::stored(Metric::SingleTile, size, goal_blank)
    };
    let lengths =
        if DistanceTable::serves(size) { wanted.lengths.clone() } else { drawn_lengths(goal, wanted).ok()? };
    if let Some(distribution) = distribution {
        let counts = (0..).zip(distribution.counts()).filter(|(length, _)| lengths.contains(length));
        return Some(counts.map(|(_, boards)| *boards).sum());
    }
    // Without counts, boards are drawn by walks. On boards of more than 9 cells, the number of boards grows with the
    // length up to the greatest length of these walks.
    let (mut level, mut seen, mut boards) = (vec![*goal], HashSet::from([*goal]), 0);
    for length in 0..=*lengths.end() {
        boards += if lengths.contains(&length) { level.len() } else { 0 };
        if level.len().max(boards) >= count {
            return Some(count as u64);
        }
        level = level.iter().flat_map(|board| after(*board, None)).map(|(board, _)| board).collect();
        level.retain(|board| seen.insert(*board));
    }
    Some(boards as u64)
}

/// Returns the number of boards where a walk can end. Returns `None` if more than [`MAX_ENDS`] pairs of a board and a
/// last move are possible after some move of the walk.
fn ends(walk: &Walk, goal: &Board) -> Option<usize> {
    type Level = HashSet<(Board, Option<Move>)>;
    let count = |level: &Level| level.iter().map(|(board, _)| *board).collect::<HashSet<_>>().len();
    let (mut before, mut level) = (Level::new(), Level::from([(walk.from.unwrap_or(*goal), None)]));
    for left in (0..walk.moves).rev() {
        let last = |last: Option<Move>| last.filter(|_| !walk.turns_back);
        let next: Level = level.iter().flat_map(|(board, mv)| after(*board, last(*mv))).collect();
        if next.len() > MAX_ENDS {
            return None;
        }
        // From here on, the levels alternate.
        if next == before {
            return Some(count(if left % 2 == 0 { &next } else { &level }));
        }
        before = std::mem::replace(&mut level, next);
    }
    Some(count(&level))
}

/// Returns the board after each move that does not undo `last`, with the move.
fn after(board: Board, last: Option<Move>) -> impl Iterator<Item = (Board, Option<Move>)> {
    let moves = board.moves();
    let moves = last.map_or(moves, |last| moves.without(last.inverse()));
    moves.map(move |mv| {
        let mut next = board;
        next.make(mv);
        (next, Some(mv))
    })
}
