//! Shorter paths between boards of a path.

use crate::domain::{Board, Move, Packed, Path, Puzzle};
use crate::search::StopReason;
use crate::search::beam::{Accounting, Beam, HeuristicGuide, beam};
use crate::search::heuristic::LinearConflict;
use crate::search::space::Space;

/// Division of a path into overlapping windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathWindows {
    /// Moves per window. Each window starts in the middle of the one before.
    pub moves: usize,
    /// Width of the beam search in a window.
    pub width: usize,
}

/// Replaces windows of a path by shorter ones where a beam search finds any.
///
/// # Errors
/// If the budget is exhausted. Improvements found until then are kept.
pub(crate) fn shorten<P: Packed>(
    start: &Board,
    path: &mut Path,
    windows: PathWindows,
    accounting: &mut Accounting<'_>,
) -> Result<(), StopReason> {
    let (mut at, mut first) = (0, *start);
    while at < path.len() {
        let end = path.len().min(at + windows.moves);
        let last = after(first, &path.moves()[at..end]);
        let puzzle = Puzzle::try_new(first, last).expect("a path leads from one board to the other");
        let heuristic = LinearConflict::new(puzzle.size(), last.blank());
        let options = Beam { width: windows.width, shorter_than: end - at, ends_in_budget: false };
        let shorter = if puzzle.start() == puzzle.goal() {
            Some(Path::default())
        } else {
            beam(&Space::<P>::new(&puzzle), &HeuristicGuide(&heuristic), options, accounting)?
        };
        if let Some(shorter) = shorter {
            let moves = path.moves();
            *path = without_reversals([&moves[..at], shorter.moves(), &moves[end..]].into_iter().flatten().copied());
            accounting.meter.found(path);
        }
        let next = path.len().min(at + windows.moves.div_ceil(2));
        first = after(*start, &path.moves()[..next]);
        at = next;
    }
    Ok(())
}

fn after(mut board: Board, moves: &[Move]) -> Board {
    moves.iter().for_each(|mv| assert!(board.make(*mv).is_some(), "a path stays on the board"));
    board
}

/// Drops pairs of moves that undo each other.
pub(crate) fn without_reversals(moves: impl Iterator<Item = Move>) -> Path {
    let mut kept: Vec<Move> = Vec::new();
    for mv in moves {
        if kept.last() == Some(&mv.inverse()) {
            kept.pop();
        } else {
            kept.push(mv);
        }
    }
    kept.into()
}
