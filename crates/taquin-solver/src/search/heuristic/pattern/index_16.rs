//! Index for boards of at most sixteen cells, laid out for speed.

use super::cells::{Cells, Regions, before, members};
use super::permutation::Shifts;
use crate::domain::{Cell, Move, Size};

/// Cells of the largest boards that this index supports.
pub(crate) const MAX_CELLS: usize = 16;

/// Data of each set of a given number of cells.
#[derive(Clone, Debug)]
pub(crate) struct Index16 {
    ranks: SetRanks16,
    /// By rank of the set.
    layouts: Vec<Layout16>,
}

/// Ranks of sets of a given size, ascending. The rank is the sum of a table entry for the upper eight cells and one
/// for the lower eight.
#[derive(Clone, Debug)]
struct SetRanks16 {
    /// By upper half: number of sets with a lower one.
    upper: [u16; 256],
    /// By lower half: number of lower ones with as many cells.
    lower: [u16; 256],
}

/// Data of a set, two bytes a cell. A free cell has the slot of a blank there. A cell of the set has the numbers of
/// the rank shifts for a tile that arrived there from the row above and from the row below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout16([[u8; 2]; MAX_CELLS]);

/// Move of a tile into the adjacent blank.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(8))]
pub(crate) struct TileStep16 {
    /// Both cells.
    cells: u16,
    from: Cell,
    /// Index of the shift's number in a layout, and a mask for it: a horizontal move passes no tile, so it has no
    /// shift.
    shift: u8,
    mask: u8,
}

impl TileStep16 {
    pub(crate) fn new(from: Cell, to: Cell) -> Self {
        let mask = if from.abs_diff(to) == 1 { 0 } else { u8::MAX };
        Self { cells: 1 << from | 1 << to, from, shift: 2 * to + u8::from(from > to), mask }
    }

    /// A set after the move. Bits above the set are unchanged.
    #[inline(always)]
    pub(crate) fn after(&self, set: u32) -> u32 {
        set ^ u32::from(self.cells)
    }
}

impl Layout16 {
    pub(crate) const NONE: Self = Self([[0; 2]; MAX_CELLS]);

    /// The slot of a blank cell.
    #[inline(always)]
    fn slot(&self, blank: Cell) -> usize {
        usize::from(u16::from_le_bytes(self.0[usize::from(blank) % MAX_CELLS]))
    }

    /// The slot after a move that leads to this set.
    #[inline(always)]
    pub(crate) fn slot_after(&self, step: &TileStep16) -> usize {
        self.slot(step.from)
    }

    /// The number of the rank shift of a move that leads to this set.
    #[inline(always)]
    pub(crate) fn shift(&self, step: &TileStep16) -> u8 {
        self.0.as_flattened()[usize::from(step.shift) % (2 * MAX_CELLS)] & step.mask
    }
}

impl SetRanks16 {
    fn new(cells: usize) -> Self {
        let count = |below: usize, ones: u32| (0..below).filter(|set| set.count_ones() == ones).count();
        let lower = std::array::from_fn(|set| count(set, set.count_ones()) as u16);
        let mut sets = 0;
        let upper = std::array::from_fn(|set: usize| {
            let rank = sets as u16;
            sets += (cells as u32).checked_sub(set.count_ones()).map_or(0, |ones| count(256, ones));
            rank
        });
        Self { upper, lower }
    }

    #[inline(always)]
    fn of(&self, set: u16) -> usize {
        let [lower, upper] = set.to_le_bytes().map(usize::from);
        usize::from(self.upper[upper]) + usize::from(self.lower[lower])
    }
}

impl Index16 {
    /// An empty index for sets of this many cells.
    pub(crate) fn new(tiles: usize) -> Self {
        Self { ranks: SetRanks16::new(tiles), layouts: Vec::new() }
    }

    /// Adds the next set in ascending order, given the slot of its first region.
    pub(crate) fn add(&mut self, size: Size, set: Cells, slot: usize, regions: &Regions) {
        let mut layout = [[0; 2]; MAX_CELLS];
        for to in members(set) {
            let shift = |mv: Move| {
                let from = size.neighbor(to, mv).filter(|from| set & 1 << from == 0)?;
                Some(Shifts::number(before(set ^ 1 << from ^ 1 << to, from), before(set, to)))
            };
            layout[usize::from(to)] = [Move::Up, Move::Down].map(|mv| shift(mv).unwrap_or(0));
        }
        for (region, slot) in regions.iter().zip(slot..) {
            let slot = u16::try_from(slot).expect("fewer slots than 2^16");
            members(*region).for_each(|cell| layout[usize::from(cell)] = slot.to_le_bytes());
        }
        self.layouts.push(Layout16(layout));
    }

    /// The data of a set.
    #[inline(always)]
    pub(crate) fn layout(&self, set: u16) -> &Layout16 {
        &self.layouts[self.ranks.of(set)]
    }

    /// The slot of a set and a blank cell outside it.
    pub(crate) fn slot(&self, set: Cells, blank: Cell) -> usize {
        self.layout(set as u16).slot(blank)
    }

    /// Memory of the index in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.layouts.as_slice())
    }
}
