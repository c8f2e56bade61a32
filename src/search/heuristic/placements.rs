//! Where the tiles of a pattern lie, and where the blank can be between them.

use super::permutations::Shifts;
use crate::domain::{Cell, Move, Size};

/// Cells as a set, one bit each.
pub(super) type Cells = u16;

/// Every set of so many cells of a board, and every connected region that it leaves for the blank:
/// numbered as slots, ascending by set, the regions of one set next to each other.
///
/// A tile outside the pattern gives way at no cost, so within a region the blank goes where it
/// likes, and beyond it only by moves of the pattern's tiles (Clausecker & Reinefeld 2019, "zero-aware").
#[derive(Clone, Debug)]
pub(super) struct Placements {
    size: Size,
    tiles: usize,
    beside: Beside,
    ranks: SetRanks,
    /// By rank of the set.
    layouts: Vec<Layout>,
    /// How many there are.
    slots: usize,
}

/// For each cell those beside it.
type Beside = [Cells; MAX_CELLS];

/// Cells of the largest boards with patterns.
pub(super) const MAX_CELLS: usize = 16;

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
pub(super) struct Layout([[u8; 2]; MAX_CELLS]);

/// A tile's way from a cell into the blank beside it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Step {
    /// Both cells.
    cells: Cells,
    from: Cell,
    /// Where layouts have the number of the shift, and which bits of it count: within a row none do,
    /// since no tile is passed.
    shift: u8,
    mask: u8,
}

impl Step {
    pub(super) fn new(size: Size, from: Cell, to: Cell) -> Self {
        let mask = if size.row_of(from) == size.row_of(to) { 0 } else { u8::MAX };
        Self { cells: 1 << from | 1 << to, from, shift: 2 * to + u8::from(from > to), mask }
    }

    /// What it makes of a set, and of whatever is in the bits above.
    #[inline(always)]
    pub(super) fn after(&self, set: u32) -> u32 {
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
    pub(super) fn slot_after(&self, step: &Step) -> usize {
        self.slot(step.from)
    }

    /// The number of the shift that a step to this set makes of the order.
    #[inline(always)]
    pub(super) fn shift(&self, step: &Step) -> u8 {
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
    fn of(&self, set: Cells) -> usize {
        let [lower, upper] = set.to_le_bytes().map(usize::from);
        usize::from(self.upper[upper]) + usize::from(self.lower[lower])
    }
}

impl Placements {
    /// All sets of `tiles` cells.
    pub(super) fn new(size: Size, tiles: usize) -> Self {
        assert!(size.cells() <= MAX_CELLS, "a board of {size} is too large for patterns");
        let (beside, ranks) = (beside(size), SetRanks::new(tiles));
        let mut this = Self { size, tiles, beside, ranks, layouts: Vec::new(), slots: 0 };
        for set in sets(size, tiles) {
            let mut layout = [[0; 2]; MAX_CELLS];
            for to in members(set) {
                let shift = |mv: Move| {
                    let from = size.neighbour(to, mv).filter(|from| set & 1 << from == 0)?;
                    Some(Shifts::number(before(set ^ 1 << from ^ 1 << to, from), before(set, to)))
                };
                layout[usize::from(to)] = [Move::Up, Move::Down].map(|mv| shift(mv).unwrap_or(0));
            }
            for region in regions(size, &beside, set) {
                let slot = u16::try_from(this.slots).expect("fewer slots than 2^16");
                members(region).for_each(|cell| layout[usize::from(cell)] = slot.to_le_bytes());
                this.slots += 1;
            }
            this.layouts.push(Layout(layout));
        }
        this
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.slots
    }

    /// What there is to know of a set.
    #[inline(always)]
    pub(super) fn layout(&self, set: Cells) -> &Layout {
        &self.layouts[self.ranks.of(set)]
    }

    /// The slot of a set and a blank outside it.
    pub(super) fn slot(&self, set: Cells, blank: Cell) -> usize {
        self.layout(set).slot(blank)
    }

    /// By slot: the set and the region.
    pub(super) fn places(&self) -> impl Iterator<Item = (Cells, Cells)> {
        sets(self.size, self.tiles)
            .flat_map(|set| regions(self.size, &self.beside, set).map(move |region| (set, region)))
    }

    /// The moves of tiles that a blank in a region can make: from which cell, and to which.
    pub(super) fn moves(&self, set: Cells, region: Cells) -> impl Iterator<Item = (Cell, Cell)> {
        members(region).flat_map(move |to| members(self.beside[usize::from(to)] & set).map(move |from| (from, to)))
    }

    /// The same for the region that a blank is in.
    pub(super) fn moves_from(&self, set: Cells, blank: Cell) -> impl Iterator<Item = (Cell, Cell)> {
        self.moves(set, region(&self.beside, set, blank))
    }

    /// Memory it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(self.layouts.as_slice())
    }
}

/// All regions that a set leaves, ascending by their first cells.
fn regions(size: Size, beside: &Beside, set: Cells) -> impl Iterator<Item = Cells> {
    let mut free = !set & Cells::MAX >> (MAX_CELLS - size.cells());
    std::iter::from_fn(move || {
        let region = (free != 0).then(|| region(beside, set, free.trailing_zeros() as Cell))?;
        free &= !region;
        Some(region)
    })
}

/// The free cells that the blank can reach from one of them.
fn region(beside: &Beside, set: Cells, from: Cell) -> Cells {
    let (mut region, mut border) = (0, 1 << from);
    while border != 0 {
        region |= border;
        border = members(border).fold(0, |all, cell| all | beside[usize::from(cell)]) & !set & !region;
    }
    region
}

fn beside(size: Size) -> Beside {
    let mut beside = [0; MAX_CELLS];
    for cell in 0..size.cells() as Cell {
        let neighbours = Move::ALL.into_iter().filter_map(|mv| size.neighbour(cell, mv));
        beside[usize::from(cell)] = neighbours.fold(0, |all, neighbour| all | 1 << neighbour);
    }
    beside
}

/// The sets of so many of a board's cells, ascending.
fn sets(size: Size, tiles: usize) -> impl Iterator<Item = Cells> {
    (0..=Cells::MAX >> (MAX_CELLS - size.cells())).filter(move |set| set.count_ones() as usize == tiles)
}

/// The cells of a set, lowest first.
pub(super) fn members(mut set: Cells) -> impl Iterator<Item = Cell> {
    std::iter::from_fn(move || {
        let cell = (set != 0).then(|| set.trailing_zeros() as Cell)?;
        set &= set - 1;
        Some(cell)
    })
}

/// How many cells of a set lie before a cell.
pub(super) fn before(set: Cells, cell: Cell) -> u32 {
    (set & ((1 << cell) - 1)).count_ones()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_places_as_published() {
        // Entries of zero-aware tables on 4×4: 11.8, 139.8 and 1,425 million.
        let size = Size::try_from((4, 4)).unwrap();
        for (tiles, orders, millions) in [(6, 720, 11.8), (7, 5_040, 139.8), (8, 40_320, 1_425.0)] {
            let entries = (Placements::new(size, tiles).len() * orders) as f64 / 1e6;
            assert!((entries / millions - 1.0).abs() < 0.005, "{tiles} tiles: {entries}");
        }
    }

    #[test]
    fn a_slot_is_found_from_each_cell_of_its_region() {
        for (rows, cols, tiles) in [(2, 5, 4), (3, 4, 6), (4, 4, 7)] {
            let placements = Placements::new(Size::try_from((rows, cols)).unwrap(), tiles);
            assert_eq!(placements.places().count(), placements.len());
            for (slot, (set, region)) in placements.places().enumerate() {
                assert_eq!(set & region, 0);
                assert!(members(region).all(|blank| placements.slot(set, blank) == slot));
                let border = members(region)
                    .flat_map(|cell| members(placements.beside[usize::from(cell)]))
                    .filter(|cell| region & 1 << cell == 0);
                assert!(border.into_iter().all(|cell| set & 1 << cell != 0), "a region goes up to tiles");
            }
        }
    }
}
