//! Moves of a player, legal or not.

use std::fmt;

use super::{Board, Move, Path, Tile};

/// Moves of a player, not checked. [`make`](Attempt::make) finds the first illegal one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Attempt {
    /// Each move as a direction of the blank.
    Moves(Vec<Move>),
    /// Each move as the tile that slides.
    Tiles(Vec<Tile>),
}

/// One move of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttemptedMove {
    /// The blank moves in this direction.
    Move(Move),
    /// This tile slides.
    Tile(Tile),
}

/// Result of an attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Played {
    /// The moves before the first illegal one, or all.
    pub path: Path,
    /// The board after the legal moves.
    pub end: Board,
    /// The first illegal move.
    pub illegal: Option<IllegalMove>,
}

/// An illegal move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IllegalMove {
    /// Its index in the attempt, from 0.
    pub at: usize,
    /// The move.
    pub attempted: AttemptedMove,
    /// Row and column of the blank before the move, from 0.
    pub blank: (usize, usize),
}

impl Attempt {
    /// Number of moves.
    pub fn len(&self) -> usize {
        match self {
            Self::Moves(moves) => moves.len(),
            Self::Tiles(tiles) => tiles.len(),
        }
    }

    /// True if there are no moves.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the moves up to the first illegal one.
    ///
    /// ```
    /// use taquin_solver::{Attempt, Board, Move, Size};
    /// let solved = Board::blank_last(Size::try_from((3, 3)).unwrap());
    /// // Tile 8 slides to the right, tile 5 down; tile 1 is not beside the blank.
    /// let played = Attempt::Tiles(vec![8, 5, 1]).make(&solved);
    /// assert_eq!(played.path.letters(), "LU");
    /// assert_eq!(played.end.to_string(), "1 2 3/4 0 6/7 5 8");
    /// assert_eq!(played.illegal.unwrap().at, 2);
    /// ```
    pub fn make(&self, start: &Board) -> Played {
        let (mut end, mut path) = (*start, Vec::with_capacity(self.len()));
        for at in 0..self.len() {
            let attempted = self.attempted(at);
            let mv = match attempted {
                AttemptedMove::Move(mv) => Some(mv),
                AttemptedMove::Tile(tile) => end.move_of(tile),
            };
            match mv.filter(|mv| end.make(*mv).is_some()) {
                Some(mv) => path.push(mv),
                None => {
                    let size = end.size();
                    let blank = (size.row_of(end.blank()), size.col_of(end.blank()));
                    let illegal = IllegalMove { at, attempted, blank };
                    return Played { path: path.into(), end, illegal: Some(illegal) };
                }
            }
        }
        Played { path: path.into(), end, illegal: None }
    }

    fn attempted(&self, at: usize) -> AttemptedMove {
        match self {
            Self::Moves(moves) => AttemptedMove::Move(moves[at]),
            Self::Tiles(tiles) => AttemptedMove::Tile(tiles[at]),
        }
    }
}

/// A sentence for clients. Rows and columns count from 1.
impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (row, col) = (self.blank.0 + 1, self.blank.1 + 1);
        match self.attempted {
            AttemptedMove::Move(mv) => {
                let edge = match mv {
                    Move::Up => "above",
                    Move::Left => "to the left of",
                    Move::Down => "below",
                    Move::Right => "to the right of",
                };
                write!(f, "the blank is in row {row}, column {col}, and there is no cell {edge} it")
            }
            AttemptedMove::Tile(tile) => {
                write!(f, "tile {tile} is not next to the blank, which is in row {row}, column {col}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Size;

    fn solved() -> Board {
        Board::blank_last(Size::try_from((3, 3)).unwrap())
    }

    #[test]
    fn a_legal_attempt_is_made_completely() {
        let played = Attempt::Moves(vec![Move::Up, Move::Left, Move::Right, Move::Down]).make(&solved());
        assert_eq!((played.path.letters().as_str(), played.end, played.illegal), ("ULRD", solved(), None));
    }

    #[test]
    fn tiles_and_moves_are_equivalent() {
        let moves = Attempt::Moves(vec![Move::Up, Move::Left, Move::Left, Move::Down]).make(&solved());
        let tiles = Attempt::Tiles(vec![6, 5, 4, 7]).make(&solved());
        assert_eq!(moves, tiles);
    }

    #[test]
    fn an_attempt_ends_before_its_first_illegal_move() {
        let played = Attempt::Moves(vec![Move::Left, Move::Down, Move::Up]).make(&solved());
        assert_eq!(played.path.letters(), "L");
        let illegal = played.illegal.unwrap();
        assert_eq!((illegal.at, illegal.attempted, illegal.blank), (1, AttemptedMove::Move(Move::Down), (2, 1)));
        assert_eq!(illegal.to_string(), "the blank is in row 3, column 2, and there is no cell below it");
    }

    #[test]
    fn a_tile_that_is_elsewhere_or_is_the_blank_does_not_slide() {
        for tile in [1, 5, 0, 9, 255] {
            let illegal = Attempt::Tiles(vec![tile]).make(&solved()).illegal.unwrap();
            assert_eq!(
                illegal.to_string(),
                format!("tile {tile} is not next to the blank, which is in row 3, column 3")
            );
        }
    }
}
