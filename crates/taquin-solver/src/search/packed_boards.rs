//! A list of packed boards.

use super::{Space, State};
use crate::domain::{Board, Cell, Packed, Packed64, Packed128, Size};

/// Boards of one size: 8 bytes each on boards of up to 16 cells, 16 bytes on up to 25 cells, a byte a cell on larger
/// boards.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct PackedBoards {
    /// `None` if there are none.
    size: Option<Size>,
    bytes: Vec<u8>,
}

impl PackedBoards {
    /// Bytes of a board.
    pub(crate) fn bytes_each(size: Size) -> usize {
        match size.cells() {
            ..=Packed64::MAX_CELLS => size_of::<u64>(),
            17..=Packed128::MAX_CELLS => size_of::<u128>(),
            cells => cells,
        }
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Makes room for more boards.
    pub(crate) fn reserve(&mut self, size: Size, boards: usize) {
        self.bytes.reserve_exact(boards * Self::bytes_each(size));
    }

    /// Drops room that is not needed.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Adds the board of a state, with the original tile numbers.
    pub(crate) fn push<P: Packed>(&mut self, space: &Space<P>, state: &State<P>) {
        let size = space.size();
        self.size = Some(size);
        let mut tiles = [0; Size::MAX_CELLS];
        let tiles = &mut tiles[..size.cells()];
        for (cell, slot) in tiles.iter_mut().enumerate() {
            *slot = space.tile(state.tiles.get(cell as Cell));
        }
        match size.cells() {
            ..=Packed64::MAX_CELLS => self.bytes.extend(Packed64::pack(tiles).0.to_le_bytes()),
            17..=Packed128::MAX_CELLS => self.bytes.extend(Packed128::pack(tiles).0.to_le_bytes()),
            _ => self.bytes.extend_from_slice(tiles),
        }
    }

    /// The board at an index.
    pub(crate) fn get(&self, at: usize) -> Option<Board> {
        let size = self.size?;
        let each = Self::bytes_each(size);
        self.bytes.get(at * each..(at + 1) * each).map(|bytes| unpack(size, bytes))
    }
}

/// The board of packed tiles.
fn unpack(size: Size, bytes: &[u8]) -> Board {
    match size.cells() {
        ..=Packed64::MAX_CELLS => {
            let packed = Packed64(u64::from_le_bytes(bytes.try_into().expect("a word")));
            Board::from_fn(size, |cell| packed.get(cell))
        }
        17..=Packed128::MAX_CELLS => {
            let packed = Packed128(u128::from_le_bytes(bytes.try_into().expect("two words")));
            Board::from_fn(size, |cell| packed.get(cell))
        }
        _ => Board::from_fn(size, |cell| bytes[usize::from(cell)]),
    }
}
