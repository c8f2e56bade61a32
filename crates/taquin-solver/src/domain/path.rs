//! Paths from a start to a goal.

use std::fmt;

use super::{Board, Move, Puzzle, Tile};
use crate::named;

/// A sequence of moves. It is a solution if [`Path::replay`] accepts it.
///
/// The text form has one letter per move, the direction in which the *blank* moves: `ULDR`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Path(Vec<Move>);

/// How the length of a path is counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Metric {
    /// Each tile that slides one cell is a move.
    #[default]
    SingleTile,
    /// Several tiles of a line that slide one cell in one direction are a move.
    MultiTile,
}

named!(Metric { SingleTile => "single_tile", MultiTile => "multi_tile" });

/// One move of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The move.
    pub mv: Move,
    /// The tile that slid.
    pub tile: Tile,
    /// The board after the move.
    pub board: Board,
}

/// Why a path is not a solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayError {
    /// A move leaves the board.
    OffBoard {
        /// Index of the move in the path, from 0.
        at: usize,
    },
    /// All moves are legal, but they do not end at the goal.
    NotAtGoal,
}

impl Path {
    /// The moves, in order.
    pub fn moves(&self) -> &[Move] {
        &self.0
    }

    /// The text form.
    pub fn letters(&self) -> String {
        let letters = self.0.iter().map(|mv| mv.letter() as u8).collect();
        String::from_utf8(letters).expect("the letters are ASCII")
    }

    /// Number of moves: the length in the single-tile metric.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Number of runs: the length in the multi-tile metric, in which equal moves in a row are one move.
    pub fn multi_tile_length(&self) -> usize {
        let turns = self.0.windows(2).filter(|pair| pair[0] != pair[1]).count();
        turns + usize::from(!self.is_empty())
    }

    /// The length in a metric.
    pub fn length(&self, metric: Metric) -> usize {
        match metric {
            Metric::SingleTile => self.len(),
            Metric::MultiTile => self.multi_tile_length(),
        }
    }

    /// The moves in directions of the tiles, with the lengths of runs: `R2D` for the blank's moves `LLU`.
    pub fn alg(&self) -> String {
        runs(self.0.iter().map(|mv| mv.inverse().letter()))
    }

    /// The way back from the last board to the first, written as [`alg`](Self::alg).
    pub fn scramble(&self) -> String {
        runs(self.0.iter().rev().map(|mv| mv.letter()))
    }

    /// True if there are no moves.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Makes the moves one after another from `start`. Ends before the first illegal move.
    pub fn steps(&self, start: &Board) -> impl Iterator<Item = Step> {
        let mut board = *start;
        self.0.iter().map_while(move |mv| board.make(*mv).map(|tile| Step { mv: *mv, tile, board }))
    }

    /// Makes all moves from the puzzle's start and returns the tiles that slid.
    ///
    /// # Errors
    /// If a move is illegal, or the last board is not the goal.
    pub fn replay(&self, puzzle: &Puzzle) -> Result<Vec<Tile>, ReplayError> {
        let mut board = *puzzle.start();
        let mut tiles = Vec::with_capacity(self.len());
        for (at, mv) in self.0.iter().enumerate() {
            tiles.push(board.make(*mv).ok_or(ReplayError::OffBoard { at })?);
        }
        if board == *puzzle.goal() { Ok(tiles) } else { Err(ReplayError::NotAtGoal) }
    }
}

/// Writes runs of equal letters: the letter, and its number if there are several.
fn runs(letters: impl ExactSizeIterator<Item = char>) -> String {
    let mut text = Vec::with_capacity(letters.len());
    let (mut last, mut length, mut end) = ('\0', 0, 0);
    for letter in letters {
        if letter != last {
            text.push(letter as u8);
            (last, length, end) = (letter, 1, text.len());
            continue;
        }
        length += 1;
        text.truncate(end);
        match length {
            0..10 => text.push(b'0' + length as u8),
            _ => text.extend_from_slice(length.to_string().as_bytes()),
        }
    }
    String::from_utf8(text).expect("letters and digits are ASCII")
}

impl FromIterator<Move> for Path {
    fn from_iter<I: IntoIterator<Item = Move>>(moves: I) -> Self {
        Self(moves.into_iter().collect())
    }
}

impl From<Vec<Move>> for Path {
    fn from(moves: Vec<Move>) -> Self {
        Self(moves)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.letters())
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OffBoard { at } => write!(f, "move {at} leaves the board"),
            Self::NotAtGoal => f.write_str("the moves do not end at the goal"),
        }
    }
}

impl std::error::Error for ReplayError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Size;

    fn one_move_puzzle() -> Puzzle {
        let size = Size::try_from((3, 3)).unwrap();
        let mut start = Board::blank_last(size);
        start.make(Move::Up).unwrap();
        Puzzle::try_new(start, Board::blank_last(size)).unwrap()
    }

    #[test]
    fn a_replay_returns_the_tiles_that_slide() {
        let path: Path = [Move::Down].into_iter().collect();
        assert_eq!(path.replay(&one_move_puzzle()), Ok(vec![6]));
        assert_eq!(path.to_string(), "D");
    }

    #[test]
    fn a_replay_rejects_a_path_that_is_not_a_solution() {
        let off_board: Path = [Move::Right].into_iter().collect();
        assert_eq!(off_board.replay(&one_move_puzzle()), Err(ReplayError::OffBoard { at: 0 }));
        assert_eq!(Path::default().replay(&one_move_puzzle()), Err(ReplayError::NotAtGoal));
    }
}
