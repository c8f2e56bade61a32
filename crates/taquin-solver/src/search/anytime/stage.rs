//! One stage of a solution: a table of the moves needed by its tiles, by their cells and the blank's cell.

use std::sync::OnceLock;

use super::outer_lines::{CellSet, bit, cells_of, contains, set_of};
use crate::domain::{Cell, Size};
use crate::search::StopReason;

/// Tiles that are placed together, using open cells only.
#[derive(Debug)]
pub(crate) struct Stage {
    size: Size,
    pub tiles: Tiles,
    open: CellSet,
    first_col: CellSet,
    /// The open cells.
    cells: Vec<Cell>,
    /// By cell: its index among the open cells.
    numbers: [u8; Size::MAX_CELLS],
    /// The blank's goal cell, if the stage places the blank.
    blank: Option<Cell>,
    /// Number of moves for the tiles, by the indices of their cells and the blank's cell.
    moves: OnceLock<Vec<u8>>,
}

/// The tiles of a stage, by goal cell. A stage with a single tile repeats it.
pub(crate) type Tiles = [Cell; 2];

impl Stage {
    /// Marks an entry from which the stage cannot be solved.
    pub(crate) const UNREACHABLE: u8 = u8::MAX;

    /// Creates a stage whose tiles have their goal cells among the open cells.
    pub(crate) fn new(size: Size, tiles: Tiles, open: CellSet, blank: Option<Cell>) -> Self {
        let cells: Vec<Cell> = cells_of(open).collect();
        let mut numbers = [0; Size::MAX_CELLS];
        (0..).zip(&cells).for_each(|(number, cell)| numbers[usize::from(*cell)] = number);
        let first_col = set_of((0..size.rows()).map(|row| size.cell_at(row, 0)));
        Self { size, tiles, open, first_col, cells, numbers, blank, moves: OnceLock::new() }
    }

    pub(crate) fn is_single(&self) -> bool {
        self.tiles[0] == self.tiles[1]
    }

    pub(crate) fn is_open(&self, cell: Cell) -> bool {
        contains(self.open, cell)
    }

    /// True if the tiles are placed, and the stage does not place the blank.
    pub(crate) fn is_done(&self, at: Tiles) -> bool {
        self.blank.is_none() && at == self.tiles
    }

    /// Number of moves that place the tiles.
    #[inline]
    pub(crate) fn moves(&self, blank: Cell, at: Tiles) -> u8 {
        let numbers = at.map(|cell| self.number(cell));
        self.table()[self.group(numbers) * self.cells.len() + self.number(blank)]
    }

    #[inline]
    fn table(&self) -> &[u8] {
        self.moves.get_or_init(|| self.compute(|| Ok(())).unwrap_or_default())
    }

    /// Builds the table if needed. Calls `check_budget` several times a millisecond.
    ///
    /// # Errors
    /// Errors of `check_budget`.
    pub(crate) fn build(&self, check_budget: impl FnMut() -> Result<(), StopReason>) -> Result<(), StopReason> {
        if !self.is_built() {
            // Another thread may have set an equal table meanwhile.
            let _ = self.moves.set(self.compute(check_budget)?);
        }
        Ok(())
    }

    pub(crate) fn is_built(&self) -> bool {
        self.moves.get().is_some()
    }

    /// Memory of the table in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.groups() * self.cells.len()
    }

    fn groups(&self) -> usize {
        if self.is_single() { self.cells.len() } else { self.cells.len().pow(2) }
    }

    /// Number of the group for a placement of the tiles, given as indices of their cells among the open cells.
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

    /// Breadth-first search backwards from the goal, with one bit set of blank cells per group.
    fn compute(&self, mut check_budget: impl FnMut() -> Result<(), StopReason>) -> Result<Vec<u8>, StopReason> {
        let groups = self.groups();
        let mut moves = vec![Self::UNREACHABLE; self.bytes()];
        let mut search = BlankSets { seen: vec![0; groups], next: vec![0; groups], coming: Vec::new() };
        let goal = self.group(self.tiles.map(|tile| self.number(tile)));
        search.add(goal, self.blank.map_or(self.open, bit) & !set_of(self.tiles));
        for distance in 0.. {
            let level: Vec<(usize, CellSet)> = search.take_level();
            if level.is_empty() {
                break;
            }
            assert!(distance < Self::UNREACHABLE, "two tiles need fewer than 255 moves");
            check_budget()?;
            for (group, blanks) in level {
                for blank in cells_of(blanks) {
                    moves[group * self.cells.len() + self.number(blank)] = distance;
                }
                self.add_successors(&mut search, group, blanks);
            }
        }
        Ok(moves)
    }

    /// Adds the successors of some blank cells.
    fn add_successors(&self, search: &mut BlankSets, group: usize, blanks: CellSet) {
        let tiles = self.tiles_of(group);
        let adjacent = self.adjacent(blanks);
        search.add(group, adjacent & !set_of(tiles));
        for (nth, tile) in tiles.into_iter().enumerate().take(if self.is_single() { 1 } else { 2 }) {
            if !contains(adjacent, tile) {
                continue;
            }
            // The blank and the tile exchange cells.
            for blank in cells_of(self.adjacent(bit(tile)) & blanks) {
                let mut numbers = tiles.map(|tile| self.number(tile));
                numbers[nth] = self.number(blank);
                search.add(self.group(numbers), bit(tile));
            }
        }
    }

    /// The open cells adjacent to some cells.
    fn adjacent(&self, cells: CellSet) -> CellSet {
        let Self { first_col, open, .. } = *self;
        let cols = self.size.cols();
        let last_col = first_col << (cols - 1);
        let adjacent = (cells & !first_col) >> 1 | (cells & !last_col) << 1 | cells >> cols | cells << cols;
        adjacent & open
    }
}

/// By group: sets of blank cells.
struct BlankSets {
    seen: Vec<CellSet>,
    next: Vec<CellSet>,
    /// Groups with blank cells on the next level.
    coming: Vec<usize>,
}

impl BlankSets {
    /// Adds new blank cells to the next level.
    fn add(&mut self, group: usize, blanks: CellSet) {
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

    fn take_level(&mut self) -> Vec<(usize, CellSet)> {
        let Self { next, coming, .. } = self;
        coming.drain(..).map(|group| (group, std::mem::take(&mut next[group]))).collect()
    }
}
