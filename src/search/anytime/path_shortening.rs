//! Shorter ways between boards of a path.

use crate::domain::{Board, Move, Packed, Path, Puzzle};
use crate::search::StopReason;
use crate::search::beam::{Beam, ByHeuristic, Spending, beam};
use crate::search::heuristic::LinearConflict;
use crate::search::space::Space;

/// How windows are to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    /// Moves of a window; each begins in the middle of the one before.
    pub(super) moves: usize,
    /// The width of the beam that looks for a shorter way.
    pub(super) width: usize,
}

/// Replaces windows of a path by shorter ones where a beam finds any.
///
/// # Errors
/// When the budget does not allow to go on; what was found until then is in the path.
pub(super) fn shorten<P: Packed>(
    start: &Board,
    path: &mut Path,
    windows: Windows,
    spending: &mut Spending<'_>,
) -> Result<(), StopReason> {
    let (mut at, mut first) = (0, *start);
    while at < path.len() {
        let end = path.len().min(at + windows.moves);
        let last = after(first, &path.moves()[at..end]);
        let puzzle = Puzzle::try_new(first, last).expect("a path leads from one to the other");
        let heuristic = LinearConflict::new(puzzle.size(), last.blank());
        let shorter = Beam { width: windows.width, shorter_than: end - at };
        let shorter = if puzzle.start() == puzzle.goal() {
            Some(Path::default())
        } else {
            beam(&Space::<P>::new(&puzzle), &ByHeuristic(&heuristic), shorter, spending)?
        };
        if let Some(shorter) = shorter {
            let moves = path.moves();
            *path = without_detours([&moves[..at], shorter.moves(), &moves[end..]].into_iter().flatten().copied());
            spending.meter.found(path);
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

/// Drops pairs of moves that take each other back.
pub(super) fn without_detours(moves: impl Iterator<Item = Move>) -> Path {
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
