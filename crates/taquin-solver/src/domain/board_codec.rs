//! Boards of one shape as bytes of fixed length, for files with millions of them.

use std::fmt;

use super::{Board, Cell, Packed, Packed64, Puzzle, PuzzleError, Size, Tile};

/// Writes and reads boards of one goal.
///
/// Up to 16 cells a board takes eight bytes: a little-endian integer, whose bits 4·c to 4·c + 3 are the tile in cell c.
/// Above that it takes one byte for each cell. The blank is 0.
///
/// ```
/// use taquin_solver::{Board, BoardCodec, Size};
/// let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
/// let codec = BoardCodec::new(goal);
/// let mut bytes = Vec::new();
/// codec.write(&Board::blank_last(goal.size()), &mut bytes);
/// assert_eq!(bytes, 0x0_8765_4321_u64.to_le_bytes());
/// assert_eq!(*codec.read(&bytes).unwrap().start(), goal);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoardCodec {
    goal: Board,
}

/// Why bytes are not a board of a codec.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodecError {
    /// Not the number of bytes of a board.
    Length {
        /// Bytes that were given.
        found: usize,
        /// Bytes of a board.
        expected: usize,
    },
    /// The numbers are not a permutation of 0 to cells − 1.
    NotAPermutation,
    /// The goal cannot be reached from the board.
    Unreachable(PuzzleError),
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { found, expected } => write!(f, "a packed board has {expected} bytes, not {found}"),
            Self::NotAPermutation => f.write_str("the packed numbers are not a permutation of the tiles"),
            Self::Unreachable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CodecError {}

impl BoardCodec {
    /// The codec of boards that have the shape of a goal, and from which it can be reached.
    pub fn new(goal: Board) -> Self {
        Self { goal }
    }

    /// The goal.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Bytes of a board.
    pub fn board_bytes(&self) -> usize {
        let cells = self.goal.size().cells();
        if cells <= Packed64::MAX_CELLS { size_of::<u64>() } else { cells }
    }

    /// Appends a board to `bytes`.
    ///
    /// # Panics
    /// If its shape differs from the goal's shape.
    pub fn write(&self, board: &Board, bytes: &mut Vec<u8>) {
        assert_eq!(board.size(), self.goal.size(), "a codec writes boards of one shape");
        match board.tiles() {
            tiles if tiles.len() <= Packed64::MAX_CELLS => bytes.extend(Packed64::pack(tiles).0.to_le_bytes()),
            tiles => bytes.extend_from_slice(tiles),
        }
    }

    /// Reads one board.
    ///
    /// # Errors
    /// See [`CodecError`].
    pub fn read(&self, bytes: &[u8]) -> Result<Puzzle, CodecError> {
        let (size, expected) = (self.goal.size(), self.board_bytes());
        if bytes.len() != expected {
            return Err(CodecError::Length { found: bytes.len(), expected });
        }
        let mut tiles = [0; Size::MAX_CELLS];
        let tiles = &mut tiles[..size.cells()];
        if let Ok(packed) = <[u8; size_of::<u64>()]>::try_from(bytes).map(u64::from_le_bytes)
            && size.cells() <= Packed64::MAX_CELLS
        {
            // Bits beyond the last cell would give a board several forms.
            if packed.checked_shr(4 * size.cells() as u32).unwrap_or(0) != 0 {
                return Err(CodecError::NotAPermutation);
            }
            tiles.iter_mut().zip(0..).for_each(|(tile, cell): (&mut Tile, Cell)| *tile = Packed64(packed).get(cell));
        } else {
            tiles.copy_from_slice(bytes);
        }
        let seen = tiles.iter().fold(0_u128, |seen, tile| seen | 1_u128.checked_shl((*tile).into()).unwrap_or(0));
        if seen != (1 << size.cells()) - 1 {
            return Err(CodecError::NotAPermutation);
        }
        let board = Board::from_fn(size, |cell| tiles[usize::from(cell)]);
        Puzzle::try_new(board, self.goal).map_err(CodecError::Unreachable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{SplitMix, random_board, random_unsolvable_board};

    fn written(codec: &BoardCodec, board: &Board) -> Vec<u8> {
        let mut bytes = Vec::new();
        codec.write(board, &mut bytes);
        bytes
    }

    #[test]
    fn boards_of_every_shape_are_read_as_written() {
        let mut random = SplitMix(1);
        for size in Size::all() {
            for goal in [Board::blank_last(size), Board::snail(size)] {
                let codec = BoardCodec::new(goal);
                let boards = (0..50).map(|_| random_board(&goal, &mut random));
                for board in boards.chain([goal]) {
                    let bytes = written(&codec, &board);
                    assert_eq!(bytes.len(), codec.board_bytes());
                    assert_eq!(codec.read(&bytes), Puzzle::try_new(board, goal).map_err(CodecError::Unreachable));
                    assert_eq!(*codec.read(&bytes).unwrap().start(), board);
                }
            }
        }
    }

    #[test]
    fn every_board_of_2x3_has_bytes_of_its_own_and_no_other_bytes_are_a_board() {
        let size = Size::try_from((2, 3)).unwrap();
        let codec = BoardCodec::new(Board::blank_last(size));
        let mut boards = 0;
        for packed in 0..1_u64 << 24 {
            if let Ok(puzzle) = codec.read(&packed.to_le_bytes()) {
                assert_eq!(written(&codec, puzzle.start()), packed.to_le_bytes());
                boards += 1;
            }
        }
        assert_eq!(boards, 360, "half of 6!");
    }

    #[test]
    fn bytes_that_are_no_board_are_rejected() {
        let mut random = SplitMix(2);
        for size in Size::all() {
            let goal = Board::blank_last(size);
            let codec = BoardCodec::new(goal);
            let bytes = written(&codec, &goal);
            let length = |found| Err(CodecError::Length { found, expected: bytes.len() });
            assert_eq!(codec.read(&bytes[1..]), length(bytes.len() - 1));
            assert_eq!(codec.read(&[&bytes[..], &[0]].concat()), length(bytes.len() + 1));
            let mut repeated = bytes.clone();
            repeated[1] = repeated[0];
            assert_eq!(codec.read(&repeated), Err(CodecError::NotAPermutation), "{size}");
            let mut beyond = bytes.clone();
            *beyond.last_mut().unwrap() |= 0xf0;
            if beyond != bytes {
                assert_eq!(codec.read(&beyond), Err(CodecError::NotAPermutation), "{size}");
            }
            let unsolvable = written(&codec, &random_unsolvable_board(&goal, &mut random));
            assert!(matches!(codec.read(&unsolvable), Err(CodecError::Unreachable(_))), "{size}");
        }
    }
}
