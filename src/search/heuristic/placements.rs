//! Where the tiles of a pattern lie, and where the blank can be between them.

use crate::domain::{Cell, Move, Size};

/// Cells as a set, one bit each.
pub(super) type Cells = u16;

/// Every set of so many cells of a board, and every connected region that it leaves for the blank:
/// numbered, the regions of one set next to each other.
///
/// A tile outside the pattern gives way at no cost, so within a region the blank goes where it
/// likes, and beyond it only by moves of the pattern's tiles (Clausecker & Reinefeld 2019, "zero-aware").
#[derive(Clone, Debug)]
pub(super) struct Placements {
    size: Size,
    /// What the cells from 8 on add to a set's number, and what those before them add.
    high: Box<[u16; 256]>,
    low: Box<[u8; 256]>,
    /// By a set's number: its first slot in the low 16 bits, and above them for each cell in three
    /// bits which of the set's regions it lies in.
    regions: Vec<u64>,
    /// By slot: the set and the region.
    places: Vec<(Cells, Cells)>,
}

/// Cells of the largest boards with patterns.
pub(super) const MAX_CELLS: usize = 16;

impl Placements {
    /// All sets of `tiles` cells.
    pub(super) fn new(size: Size, tiles: usize) -> Self {
        let cells = size.cells();
        assert!(cells <= MAX_CELLS, "a board of {size} is too large for patterns");
        let (high, low) = numbering(tiles as u32);
        let mut placements = Self { size, high, low, regions: Vec::new(), places: Vec::new() };
        for set in (0..=u16::MAX >> (MAX_CELLS - cells)).filter(|set| set.count_ones() as usize == tiles) {
            debug_assert_eq!(placements.lookup().number(set), placements.regions.len());
            let first = placements.places.len();
            let mut regions = u64::from(u16::try_from(first).expect("fewer slots than 2^16"));
            let mut free = !set & u16::MAX >> (MAX_CELLS - cells);
            while free != 0 {
                let region = placements.region(set, free.trailing_zeros() as Cell);
                let nth = placements.places.len() - first;
                assert!(nth < 8, "a set leaves eight regions at most");
                regions |= members(region).fold(0, |regions, cell| regions | (nth as u64) << (16 + 3 * cell));
                placements.places.push((set, region));
                free &= !region;
            }
            placements.regions.push(regions);
        }
        placements
    }

    /// The free cells that the blank can reach from one of them.
    fn region(&self, set: Cells, from: Cell) -> Cells {
        let mut region = 1 << from;
        loop {
            let reached =
                members(region).flat_map(|cell| self.neighbours(cell)).fold(region, |all, cell| all | 1 << cell);
            if reached & !set == region {
                return region;
            }
            region = reached & !set;
        }
    }

    /// The cells beside a cell.
    pub(super) fn neighbours(&self, cell: Cell) -> impl Iterator<Item = Cell> {
        let size = self.size;
        Move::ALL.into_iter().filter_map(move |mv| size.neighbour(cell, mv))
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The slot of a set and a blank outside it.
    pub(super) fn slot(&self, set: Cells, blank: Cell) -> usize {
        self.lookup().slot(set, blank)
    }

    /// The look-ups, with all that they read at hand.
    pub(super) fn lookup(&self) -> PlacementLookup<'_> {
        PlacementLookup { high: &self.high, low: &self.low, regions: &self.regions }
    }

    /// The set and the region of a slot.
    pub(super) fn place(&self, slot: usize) -> (Cells, Cells) {
        self.places[slot]
    }

    /// Memory it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.regions.as_slice()) + size_of_val(self.places.as_slice())
    }
}

/// The numbers of sets of so many cells, in two parts: sets with the same high byte follow each other,
/// and among them the low byte decides, which has as many cells in all of them.
fn numbering(tiles: u32) -> (Box<[u16; 256]>, Box<[u8; 256]>) {
    let (mut high, mut low) = (Box::new([0; 256]), Box::new([0; 256]));
    let mut bytes_of = [0_u8; 9];
    for (byte, rank) in low.iter_mut().enumerate() {
        let alike = &mut bytes_of[byte.count_ones() as usize];
        *rank = *alike;
        *alike += 1;
    }
    let mut number = 0;
    for (byte, first) in high.iter_mut().enumerate() {
        *first = number;
        let others = tiles.checked_sub(byte.count_ones()).and_then(|others| bytes_of.get(others as usize));
        number += others.map_or(0, |others| u16::from(*others));
    }
    (high, low)
}

/// Finds slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacementLookup<'p> {
    high: &'p [u16; 256],
    low: &'p [u8; 256],
    regions: &'p [u64],
}

impl PlacementLookup<'_> {
    /// Sets of as many cells are numbered as they are as numbers.
    #[inline(always)]
    fn number(&self, set: Cells) -> usize {
        let [low, high] = set.to_le_bytes();
        usize::from(self.high[usize::from(high)]) + usize::from(self.low[usize::from(low)])
    }

    /// The slot of a set and a blank outside it.
    #[inline(always)]
    pub(super) fn slot(&self, set: Cells, blank: Cell) -> usize {
        let regions = self.regions[self.number(set)];
        (regions & 0xffff) as usize + (regions >> (16 + 3 * u32::from(blank & 15)) & 7) as usize
    }
}

/// The cells of a set, lowest first.
pub(super) fn members(set: Cells) -> impl Iterator<Item = Cell> {
    (0..MAX_CELLS as Cell).filter(move |cell| set & 1 << cell != 0)
}

/// How many cells of a set lie before a cell.
#[inline]
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
            for slot in 0..placements.len() {
                let (set, region) = placements.place(slot);
                assert_eq!(set & region, 0);
                assert!(members(region).all(|blank| placements.slot(set, blank) == slot));
                let border =
                    members(region).flat_map(|cell| placements.neighbours(cell)).filter(|cell| region & 1 << cell == 0);
                assert!(border.into_iter().all(|cell| set & 1 << cell != 0), "a region goes up to tiles");
            }
        }
    }
}
