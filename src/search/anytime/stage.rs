//! One stage of a way to the goal: how many moves its tiles need, wherever they and the blank are.

use std::sync::OnceLock;

use crate::domain::{Cell, Size};
use crate::search::StopReason;

/// Tiles that are put in place together, in cells that are open.
#[derive(Debug)]
pub(super) struct Stage {
    size: Size,
    pub(super) tiles: Tiles,
    open: Cells,
    first_col: Cells,
    /// The open cells, and by cell its number among those.
    cells: Vec<Cell>,
    numbers: [u8; Size::MAX_CELLS],
    /// Where the blank has to be in the end, if anywhere.
    blank: Option<Cell>,
    /// By the numbers of the cells of the tiles and of the blank: the moves that the tiles need.
    moves: OnceLock<Vec<u8>>,
}

/// The tiles of a stage, by their goal cells; some have one alone, which then is there twice.
pub(super) type Tiles = [Cell; 2];

/// A set of cells.
pub(super) type Cells = u128;

impl Stage {
    /// So many moves stand for no way at all.
    pub(super) const UNREACHABLE: u8 = u8::MAX;

    /// Tiles whose goal cells are among those that are open.
    pub(super) fn new(size: Size, tiles: Tiles, open: Cells, blank: Option<Cell>) -> Self {
        let cells: Vec<Cell> = cells_of(open).collect();
        let mut numbers = [0; Size::MAX_CELLS];
        (0..).zip(&cells).for_each(|(number, cell)| numbers[usize::from(*cell)] = number);
        let first_col = (0..size.rows() as Cell).fold(0, |set, row| set | bit(row * size.cols() as Cell));
        Self { size, tiles, open, first_col, cells, numbers, blank, moves: OnceLock::new() }
    }

    pub(super) fn is_single(&self) -> bool {
        self.tiles[0] == self.tiles[1]
    }

    pub(super) fn is_open(&self, cell: Cell) -> bool {
        self.open & bit(cell) != 0
    }

    /// Whether its tiles are in place, and that is all there is to do.
    pub(super) fn is_done(&self, at: Tiles) -> bool {
        self.blank.is_none() && at == self.tiles
    }

    /// The moves that bring the tiles into place, from where they and the blank are.
    #[inline]
    pub(super) fn moves(&self, blank: Cell, at: Tiles) -> u8 {
        let numbers = at.map(|cell| self.number(cell));
        self.table()[self.group(numbers) * self.cells.len() + self.number(blank)]
    }

    #[inline]
    fn table(&self) -> &[u8] {
        self.moves.get_or_init(|| self.measure(|| Ok(())).unwrap_or_default())
    }

    /// Makes the table, if it is not there. Asks some times a millisecond whether to go on.
    ///
    /// # Errors
    /// The reason not to.
    pub(super) fn make(&self, ask: impl FnMut() -> Result<(), StopReason>) -> Result<(), StopReason> {
        if !self.is_made() {
            // If somebody else was quicker, theirs is the same.
            let _ = self.moves.set(self.measure(ask)?);
        }
        Ok(())
    }

    pub(super) fn is_made(&self) -> bool {
        self.moves.get().is_some()
    }

    /// Memory that the table takes.
    pub(super) fn bytes(&self) -> usize {
        self.groups() * self.cells.len()
    }

    fn groups(&self) -> usize {
        if self.is_single() { self.cells.len() } else { self.cells.len().pow(2) }
    }

    /// A group is what has the tiles in the same cells; here of their numbers.
    #[inline]
    fn group(&self, [first, second]: [usize; 2]) -> usize {
        if self.is_single() { first } else { first * self.cells.len() + second }
    }

    fn tiles_of(&self, group: usize) -> Tiles {
        let cells = self.cells.len();
        let numbers = if self.is_single() { [group; 2] } else { [group / cells, group % cells] };
        numbers.map(|number| self.cells[number])
    }

    #[inline]
    fn number(&self, cell: Cell) -> usize {
        usize::from(self.numbers[usize::from(cell)])
    }

    /// By breadth-first search from all places of the blank, which are one set for each group.
    fn measure(&self, mut ask: impl FnMut() -> Result<(), StopReason>) -> Result<Vec<u8>, StopReason> {
        let groups = self.groups();
        let mut moves = vec![Self::UNREACHABLE; self.bytes()];
        let mut search = BlankSets { seen: vec![0; groups], next: vec![0; groups], coming: Vec::new() };
        let goal = self.group(self.tiles.map(|tile| self.number(tile)));
        search.add(goal, self.blank.map_or(self.open, bit) & !bits(self.tiles));
        for distance in 0.. {
            let level: Vec<(usize, Cells)> = search.take_level();
            if level.is_empty() {
                break;
            }
            assert!(distance < Self::UNREACHABLE, "two tiles are in place in fewer moves");
            ask()?;
            for (group, blanks) in level {
                for blank in cells_of(blanks) {
                    moves[group * self.cells.len() + self.number(blank)] = distance;
                }
                self.step(&mut search, group, blanks);
            }
        }
        Ok(moves)
    }

    /// Adds what one move leads to from some places of the blank.
    fn step(&self, search: &mut BlankSets, group: usize, blanks: Cells) {
        let tiles = self.tiles_of(group);
        let beside = self.beside(blanks);
        search.add(group, beside & !bits(tiles));
        for (nth, tile) in tiles.into_iter().enumerate().take(if self.is_single() { 1 } else { 2 }) {
            if beside & bit(tile) == 0 {
                continue;
            }
            // The blank goes where the tile is, which goes where the blank was.
            for blank in cells_of(self.beside(bit(tile)) & blanks) {
                let mut numbers = tiles.map(|tile| self.number(tile));
                numbers[nth] = self.number(blank);
                search.add(self.group(numbers), bit(tile));
            }
        }
    }

    /// The open cells beside some cells.
    fn beside(&self, cells: Cells) -> Cells {
        let Self { first_col, open, .. } = *self;
        let cols = self.size.cols();
        let last_col = first_col << (cols - 1);
        let beside = (cells & !first_col) >> 1 | (cells & !last_col) << 1 | cells >> cols | cells << cols;
        beside & open
    }
}

/// For each group, sets of cells of the blank.
struct BlankSets {
    seen: Vec<Cells>,
    next: Vec<Cells>,
    /// The groups of which there is any on the next level.
    coming: Vec<usize>,
}

impl BlankSets {
    /// Takes those that were not seen into the next level.
    fn add(&mut self, group: usize, blanks: Cells) {
        let new = blanks & !self.seen[group];
        if new == 0 {
            return;
        }
        if self.next[group] == 0 {
            self.coming.push(group);
        }
        self.next[group] |= new;
        self.seen[group] |= new;
    }

    fn take_level(&mut self) -> Vec<(usize, Cells)> {
        let Self { next, coming, .. } = self;
        coming.drain(..).map(|group| (group, std::mem::take(&mut next[group]))).collect()
    }
}

fn bit(cell: Cell) -> Cells {
    1 << cell
}

fn bits(tiles: Tiles) -> Cells {
    bit(tiles[0]) | bit(tiles[1])
}

fn cells_of(set: Cells) -> impl Iterator<Item = Cell> {
    std::iter::successors(Some(set), |set| Some(set & set.wrapping_sub(1)))
        .take_while(|set| *set != 0)
        .map(|set| set.trailing_zeros() as Cell)
}
