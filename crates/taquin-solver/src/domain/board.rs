//! A configuration of tiles.

use std::fmt;

use super::{Cell, Move, MoveSet, Size, Tile};

/// A permutation of the blank (0) and the tiles 1 to cells − 1 on a board of a given [`Size`].
///
/// ```
/// use taquin_solver::{Board, Size};
/// let size = Size::try_from((3, 3)).unwrap();
/// let board = Board::blank_last(size);
/// assert_eq!(board.to_string(), "1 2 3/4 5 6/7 8 0");
/// assert_eq!(board.tile(8), 0);
/// ```
#[derive(Clone, Copy)]
pub struct Board {
    size: Size,
    blank: Cell,
    tiles: [Tile; Size::MAX_CELLS],
}

/// Why a list of numbers is not a permutation. Indices count from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PermutationFault {
    /// The entry at this index is not a whole number.
    Unreadable {
        /// Index of the entry.
        at: usize,
    },
    /// The number at this index is not between 0 and cells − 1.
    OutOfRange {
        /// Index of the number.
        at: usize,
        /// The number.
        value: i64,
    },
    /// The number at this index occurred before.
    Duplicate {
        /// Index of the second occurrence.
        at: usize,
        /// Index of the first one.
        first: usize,
        /// The number.
        value: u8,
    },
    /// This number does not occur.
    Missing {
        /// The number.
        value: u8,
    },
}

impl Board {
    /// Creates a board from tiles in row order. 0 is the blank, and `None` is an entry that is not a number.
    ///
    /// # Errors
    /// All [`PermutationFault`]s: first faults of entries, in order, then missing numbers.
    ///
    /// # Panics
    /// If `numbers` does not have one entry per cell.
    pub fn try_from_tiles(size: Size, numbers: &[Option<i64>]) -> Result<Self, Vec<PermutationFault>> {
        Ok(Self::from_permutation(size, permutation(size, numbers)?))
    }

    /// Creates a board from positions: number *k* is the cell of tile *k*, number 0 the blank's cell.
    ///
    /// # Errors
    /// As [`Board::try_from_tiles`], with tiles as indices and cells as values.
    ///
    /// # Panics
    /// If `numbers` does not have one entry per cell.
    pub fn try_from_positions(size: Size, numbers: &[Option<i64>]) -> Result<Self, Vec<PermutationFault>> {
        let positions = permutation(size, numbers)?;
        let mut tiles = [0; Size::MAX_CELLS];
        for (tile, cell) in positions[..size.cells()].iter().enumerate() {
            tiles[usize::from(*cell)] = tile as Tile;
        }
        Ok(Self::from_permutation(size, tiles))
    }

    fn from_permutation(size: Size, tiles: [Tile; Size::MAX_CELLS]) -> Self {
        let blank = tiles[..size.cells()].iter().position(|tile| *tile == 0).unwrap_or(0) as Cell;
        Self { size, blank, tiles }
    }

    /// Creates a board from a function from cells to tiles, which must be a permutation.
    pub(crate) fn from_fn(size: Size, tile: impl Fn(Cell) -> Tile) -> Self {
        let mut tiles = [0; Size::MAX_CELLS];
        for (cell, slot) in tiles[..size.cells()].iter_mut().enumerate() {
            *slot = tile(cell as Cell);
        }
        let board = Self::from_permutation(size, tiles);
        debug_assert_eq!(
            board.positions()[..size.cells()].iter().map(|cell| usize::from(*cell)).sum::<usize>(),
            size.cells() * (size.cells() - 1) / 2,
            "the tiles are a permutation"
        );
        board
    }

    /// The goal `1 2 3/4 5 6/7 8 0`, here for 3×3.
    pub fn blank_last(size: Size) -> Self {
        let cells = size.cells();
        Self::from_fn(size, |cell| ((usize::from(cell) + 1) % cells) as Tile)
    }

    /// The goal `0 1 2/3 4 5/6 7 8`, here for 3×3.
    pub fn blank_first(size: Size) -> Self {
        Self::from_fn(size, |cell| cell)
    }

    /// The goal `1 2 3/8 0 4/7 6 5`, here for 3×3: clockwise, spiraling inward, the blank at the end.
    pub fn snail(size: Size) -> Self {
        const CLOCKWISE: [Move; 4] = [Move::Right, Move::Down, Move::Left, Move::Up];
        let mut tiles = [0; Size::MAX_CELLS];
        let (mut cell, mut turns): (Cell, usize) = (0, 0);
        for tile in 1..size.cells() {
            tiles[usize::from(cell)] = tile as Tile;
            cell = (0..CLOCKWISE.len())
                .find_map(|turn| {
                    let ahead = size.neighbor(cell, CLOCKWISE[(turns + turn) % 4])?;
                    // Cell 0 holds tile 1, so a 0 marks a free cell.
                    (tiles[usize::from(ahead)] == 0).then(|| {
                        turns += turn;
                        ahead
                    })
                })
                .expect("an unfinished spiral has a free neighbor");
        }
        Self::from_permutation(size, tiles)
    }

    /// The shape.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The blank's cell.
    pub fn blank(&self) -> Cell {
        self.blank
    }

    /// The tile in a cell, 0 for the blank.
    pub fn tile(&self, cell: Cell) -> Tile {
        self.tiles()[usize::from(cell)]
    }

    /// All tiles in row order.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles[..self.size.cells()]
    }

    /// The rows, top to bottom.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Tile]> {
        self.tiles().chunks_exact(self.size.cols())
    }

    /// By tile: its cell. The blank is tile 0. Entries beyond the number of cells are 0.
    pub fn positions(&self) -> [Cell; Size::MAX_CELLS] {
        let mut positions = [0; Size::MAX_CELLS];
        for (cell, tile) in self.tiles().iter().enumerate() {
            positions[usize::from(*tile)] = cell as Cell;
        }
        positions
    }

    /// The legal moves of the blank.
    pub fn moves(&self) -> MoveSet {
        self.size.moves_from(self.blank)
    }

    /// The move that slides a tile; `None` if the tile is not adjacent to the blank.
    pub fn move_of(&self, tile: Tile) -> Option<Move> {
        let meets = |mv: &Move| self.size.neighbor(self.blank, *mv).is_some_and(|cell| self.tile(cell) == tile);
        self.moves().find(meets)
    }

    /// Makes a move and returns the tile that slid. An illegal move changes nothing and returns `None`.
    #[inline]
    pub fn make(&mut self, mv: Move) -> Option<Tile> {
        let to = self.size.neighbor(self.blank, mv)?;
        let tile = self.tiles[usize::from(to)];
        self.tiles[usize::from(self.blank)] = tile;
        self.tiles[usize::from(to)] = 0;
        self.blank = to;
        Some(tile)
    }

    /// Exchanges two cells. Exchanging two tiles makes a solvable board unsolvable, and the reverse.
    pub(crate) fn swap(&mut self, a: Cell, b: Cell) {
        self.tiles.swap(usize::from(a), usize::from(b));
        if self.blank == a {
            self.blank = b;
        } else if self.blank == b {
            self.blank = a;
        }
    }
}

/// Checks that numbers are a permutation of 0 to cells − 1.
fn permutation(size: Size, numbers: &[Option<i64>]) -> Result<[u8; Size::MAX_CELLS], Vec<PermutationFault>> {
    let cells = size.cells();
    assert_eq!(numbers.len(), cells, "one entry for each cell");
    let mut faults = Vec::new();
    let mut first_at: [Option<Cell>; Size::MAX_CELLS] = [None; Size::MAX_CELLS];
    let mut values = [0; Size::MAX_CELLS];
    for (at, number) in numbers.iter().copied().enumerate() {
        let Some(value) = number else {
            faults.push(PermutationFault::Unreadable { at });
            continue;
        };
        match usize::try_from(value) {
            Ok(index) if index < cells => {
                values[at] = index as u8;
                match first_at[index] {
                    None => first_at[index] = Some(at as Cell),
                    Some(first) => {
                        faults.push(PermutationFault::Duplicate { at, first: first.into(), value: index as u8 });
                    }
                }
            }
            _ => faults.push(PermutationFault::OutOfRange { at, value }),
        }
    }
    if faults.is_empty() {
        return Ok(values);
    }
    // An unreadable entry may have been meant as the missing number.
    let are_readable = numbers.iter().all(Option::is_some);
    let absent = (0..cells).filter(|value| are_readable && first_at[*value].is_none());
    faults.extend(absent.map(|value| PermutationFault::Missing { value: value as u8 }));
    Err(faults)
}

impl PartialEq for Board {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size && self.tiles() == other.tiles()
    }
}

impl Eq for Board {}

impl std::hash::Hash for Board {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.size.hash(hasher);
        self.tiles().hash(hasher);
    }
}

/// The text notation: `8 6 7/2 5 4/3 0 1`.
impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (row, tiles) in self.rows().enumerate() {
            for (col, tile) in tiles.iter().enumerate() {
                let separator = match (row, col) {
                    (0, 0) => "",
                    (_, 0) => "/",
                    _ => " ",
                };
                write!(f, "{separator}{tile}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Board({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    #[test]
    fn named_goals_have_their_documented_layouts() {
        assert_eq!(Board::blank_last(size(3, 3)).to_string(), "1 2 3/4 5 6/7 8 0");
        assert_eq!(Board::blank_first(size(3, 3)).to_string(), "0 1 2/3 4 5/6 7 8");
        assert_eq!(Board::snail(size(3, 3)).to_string(), "1 2 3/8 0 4/7 6 5");
        assert_eq!(Board::snail(size(4, 4)).to_string(), "1 2 3 4/12 13 14 5/11 0 15 6/10 9 8 7");
        assert_eq!(Board::snail(size(2, 5)).to_string(), "1 2 3 4 5/0 9 8 7 6");
    }

    #[test]
    fn snails_of_every_shape_are_permutations() {
        for size in Size::all() {
            let tiles: Vec<_> = Board::snail(size).tiles().iter().map(|t| Some(i64::from(*t))).collect();
            assert_eq!(Board::try_from_tiles(size, &tiles), Ok(Board::snail(size)));
        }
    }

    #[test]
    fn positions_give_the_cell_of_each_tile() {
        let board = Board::try_from_positions(size(3, 3), &[4, 7, 6, 2, 0, 1, 3, 8, 5].map(Some)).unwrap();
        assert_eq!(board.to_string(), "4 5 3/6 0 8/2 1 7");
        assert_eq!(board.positions()[..9], [4, 7, 6, 2, 0, 1, 3, 8, 5]);
    }

    #[test]
    fn every_fault_of_a_list_is_reported_at_once() {
        let faults = Board::try_from_tiles(size(2, 2), &[Some(1), Some(1), Some(-3), None]).unwrap_err();
        assert_eq!(
            faults,
            [
                PermutationFault::Duplicate { at: 1, first: 0, value: 1 },
                PermutationFault::OutOfRange { at: 2, value: -3 },
                PermutationFault::Unreadable { at: 3 },
            ]
        );
        let faults = Board::try_from_tiles(size(2, 2), &[1, 1, -3, 4].map(Some)).unwrap_err();
        assert_eq!(
            faults[3..],
            [
                PermutationFault::Missing { value: 0 },
                PermutationFault::Missing { value: 2 },
                PermutationFault::Missing { value: 3 },
            ]
        );
    }

    #[test]
    fn a_move_slides_a_tile_and_its_inverse_slides_it_back() {
        for size in Size::all() {
            let start = Board::snail(size);
            for mv in Move::ALL {
                let mut board = start;
                match board.make(mv) {
                    Some(tile) => {
                        assert_eq!(board.tile(start.blank()), tile);
                        assert_eq!(board.make(mv.inverse()), Some(tile));
                        assert_eq!(board, start);
                    }
                    None => assert_eq!(board, start),
                }
            }
        }
    }
}
