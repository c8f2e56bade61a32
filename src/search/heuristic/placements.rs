//! Where the tiles of a pattern lie, and where the blank can be between them.

use super::permutations::Shifts;
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
    /// By slot: the set and the region, ascending by set.
    places: Vec<(Cells, Cells)>,
    /// By slot, and by edge: where a tile's move along it leads.
    steps: Vec<Step>,
    edges: usize,
}

/// Cells of the largest boards with patterns.
pub(super) const MAX_CELLS: usize = 16;

/// What a move of one of the tiles makes of a slot.
///
/// A move of any other tile leaves the slot as it is: the blank stays in its region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step(u32);

impl Step {
    /// No tile can move along this edge into the region.
    const NONE: Self = Self(u32::MAX);

    fn new(slot: usize, shift: u8) -> Self {
        Self((slot as u32) << 16 | u32::from(shift))
    }

    /// The slot that it leads to.
    pub(super) fn slot(self) -> usize {
        (self.0 >> 16) as usize
    }

    /// The slot in the high half.
    #[inline(always)]
    pub(super) fn to(self) -> u32 {
        self.0 & !0xffff
    }

    /// The number of the shift that it makes of the tiles' order.
    #[inline(always)]
    pub(super) fn shift(self) -> usize {
        (self.0 & 63) as usize
    }
}

impl Placements {
    /// All sets of `tiles` cells.
    pub(super) fn new(size: Size, tiles: usize) -> Self {
        let cells = size.cells();
        assert!(cells <= MAX_CELLS, "a board of {size} is too large for patterns");
        let edges = usize::from(edge_count(size));
        let mut placements = Self { size, places: Vec::new(), steps: Vec::new(), edges };
        for set in (0..=u16::MAX >> (MAX_CELLS - cells)).filter(|set| set.count_ones() as usize == tiles) {
            let mut free = !set & u16::MAX >> (MAX_CELLS - cells);
            while free != 0 {
                let region = placements.region(set, free.trailing_zeros() as Cell);
                placements.places.push((set, region));
                free &= !region;
            }
        }
        assert!(placements.places.len() < usize::from(u16::MAX), "fewer slots than 2^16");
        placements.steps = vec![Step::NONE; edges * placements.places.len()];
        for slot in 0..placements.len() {
            let (set, region) = placements.places[slot];
            for to in members(region) {
                for from in placements.neighbours(to).filter(|from| set & 1 << from != 0) {
                    let after = set ^ 1 << from ^ 1 << to;
                    let shift = Shifts::number(before(set, from), before(after, to));
                    let step = Step::new(placements.slot(after, from), shift);
                    placements.steps[slot * edges + usize::from(edge(size, from, to))] = step;
                }
            }
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
    fn neighbours(&self, cell: Cell) -> impl Iterator<Item = Cell> + use<> {
        let size = self.size;
        Move::ALL.into_iter().filter_map(move |mv| size.neighbour(cell, mv))
    }

    /// How many slots there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The slot of a set and a blank outside it.
    pub(super) fn slot(&self, set: Cells, blank: Cell) -> usize {
        let first = self.places.partition_point(|(other, _)| *other < set);
        let nth = self.places[first..].iter().position(|(_, region)| region & 1 << blank != 0);
        first + nth.expect("the blank is in one of the set's regions")
    }

    /// The set and the region of a slot.
    pub(super) fn place(&self, slot: usize) -> (Cells, Cells) {
        self.places[slot]
    }

    /// By edge: what a tile's move along it makes of a slot.
    #[inline(always)]
    pub(super) fn steps(&self) -> (&[Step], usize) {
        (&self.steps, self.edges)
    }

    /// The moves of tiles that a blank in a slot's region can make: edges, and where they lead.
    pub(super) fn steps_from(&self, slot: usize) -> impl Iterator<Item = (u8, Step)> {
        let steps = &self.steps[slot * self.edges..(slot + 1) * self.edges];
        (0..).zip(steps.iter().copied()).filter(|(_, step)| *step != Step::NONE)
    }

    /// The move that takes back one along an edge.
    pub(super) fn step(&self, slot: usize, edge: u8) -> Step {
        self.steps[slot * self.edges + usize::from(edge)]
    }

    /// Memory it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.places.as_slice()) + size_of_val(self.steps.as_slice())
    }
}

/// How many pairs of neighbouring cells a board has.
fn edge_count(size: Size) -> u8 {
    (size.rows() * (size.cols() - 1) + size.cols() * (size.rows() - 1)) as u8
}

/// The number of a pair of neighbouring cells, either way: those in rows first.
pub(super) fn edge(size: Size, a: Cell, b: Cell) -> u8 {
    let first = a.min(b);
    let (row, col) = (size.row_of(first), size.col_of(first));
    if size.row_of(a) == size.row_of(b) {
        (row * (size.cols() - 1) + col) as u8
    } else {
        (size.rows() * (size.cols() - 1)) as u8 + first
    }
}

/// The cells of a set, lowest first.
pub(super) fn members(set: Cells) -> impl Iterator<Item = Cell> {
    (0..MAX_CELLS as Cell).filter(move |cell| set & 1 << cell != 0)
}

/// How many cells of a set lie before a cell.
fn before(set: Cells, cell: Cell) -> u32 {
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
