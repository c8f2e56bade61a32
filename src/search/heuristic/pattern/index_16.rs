//! Placements on boards of at most sixteen cells, laid out for speed.

use super::cells::{Cells, Regions, before, members};
use super::permutation::Shifts;
use crate::domain::{Cell, Move, Size};

/// Cells of the largest boards that these are for.
pub(in crate::search) const MAX_CELLS: usize = 16;

/// What there is to know of each set of so many cells.
#[derive(Clone, Debug)]
pub(in crate::search) struct Narrow {
    ranks: SetRanks,
    /// By rank of the set.
    layouts: Vec<Layout>,
}

/// Ranks of sets of so many cells each, ascending: what their upper eight cells decide, and what their
/// lower eight do.
#[derive(Clone, Debug)]
struct SetRanks {
    /// How many sets have lower upper cells.
    upper: [u16; 256],
    /// How many as many of the lower cells are lower.
    lower: [u16; 256],
}

/// What there is to know of a set, two bytes a cell: of a free one the slot of the blank there, and of
/// one of its own the numbers of the shifts that the tile there has made of the order, if it has come
/// from the row before and if it has come from the one after.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct Layout([[u8; 2]; MAX_CELLS]);

/// A tile's way from a cell into the blank beside it.
#[derive(Clone, Copy, Default, Debug)]
pub(in crate::search) struct Step {
    /// Both cells.
    cells: u16,
    from: Cell,
    /// Where layouts have the number of the shift, and which bits of it count: within a row none do,
    /// since no tile is passed.
    shift: u8,
    mask: u8,
}

impl Step {
    pub(in crate::search) fn new(size: Size, from: Cell, to: Cell) -> Self {
        let mask = if size.row_of(from) == size.row_of(to) { 0 } else { u8::MAX };
        Self { cells: 1 << from | 1 << to, from, shift: 2 * to + u8::from(from > to), mask }
    }

    /// What it makes of a set, and of whatever is in the bits above.
    #[inline(always)]
    pub(in crate::search) fn after(&self, set: u32) -> u32 {
        set ^ u32::from(self.cells)
    }
}

impl Layout {
    /// The slot of a blank.
    #[inline(always)]
    fn slot(&self, blank: Cell) -> usize {
        usize::from(u16::from_le_bytes(self.0[usize::from(blank) % MAX_CELLS]))
    }

    /// The slot after a step that leads to this set.
    #[inline(always)]
    pub(in crate::search) fn slot_after(&self, step: &Step) -> usize {
        self.slot(step.from)
    }

    /// The number of the shift that a step to this set makes of the order.
    #[inline(always)]
    pub(in crate::search) fn shift(&self, step: &Step) -> u8 {
        self.0.as_flattened()[usize::from(step.shift) % (2 * MAX_CELLS)] & step.mask
    }
}

impl SetRanks {
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

impl Narrow {
    /// Nothing of any set of so many cells yet.
    pub(in crate::search) fn new(tiles: usize) -> Self {
        Self { ranks: SetRanks::new(tiles), layouts: Vec::new() }
    }

    /// Adds what there is to know of the next set, the first of whose regions has that slot.
    pub(in crate::search) fn add(&mut self, size: Size, set: Cells, slot: usize, regions: &Regions) {
        let mut layout = [[0; 2]; MAX_CELLS];
        for to in members(set) {
            let shift = |mv: Move| {
                let from = size.neighbour(to, mv).filter(|from| set & 1 << from == 0)?;
                Some(Shifts::number(before(set ^ 1 << from ^ 1 << to, from), before(set, to)))
            };
            layout[usize::from(to)] = [Move::Up, Move::Down].map(|mv| shift(mv).unwrap_or(0));
        }
        for (region, slot) in regions.iter().zip(slot..) {
            let slot = u16::try_from(slot).expect("fewer slots than 2^16");
            members(*region).for_each(|cell| layout[usize::from(cell)] = slot.to_le_bytes());
        }
        self.layouts.push(Layout(layout));
    }

    /// What there is to know of a set.
    #[inline(always)]
    pub(in crate::search) fn layout(&self, set: u16) -> &Layout {
        &self.layouts[self.ranks.of(set)]
    }

    /// The slot of a set and a blank outside it.
    pub(in crate::search) fn slot(&self, set: Cells, blank: Cell) -> usize {
        self.layout(set as u16).slot(blank)
    }

    /// Memory it takes.
    pub(in crate::search) fn bytes(&self) -> usize {
        size_of_val(self.layouts.as_slice())
    }
}
