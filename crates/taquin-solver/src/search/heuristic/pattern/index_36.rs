//! Index for boards of seventeen to thirty-six cells.

use super::cells::{Cells, MAX_CELLS, Regions, members};
use super::permutation::Shifts;
use crate::domain::{Cell, Size};

/// Data of each set of a given number of cells.
#[derive(Clone, Debug)]
pub(crate) struct Index36 {
    ranks: SetRanks36,
    /// By rank of the set.
    layouts: Vec<Layout36>,
}

/// Ranks of sets of a given size, ascending. The rank is the sum of a table entry for the upper half of the board and
/// one for the lower half.
#[derive(Clone, Debug)]
struct SetRanks36 {
    /// Cells of the lower half.
    half: u32,
    /// By upper half: number of sets with a lower one.
    upper: Box<[u32]>,
    /// By lower half: number of lower ones with as many cells.
    lower: Box<[u16]>,
}

/// Data of a set: three bits a cell, and above them the slot of the first region. A free cell has the index of its
/// region, a cell of the set the number of the set's cells before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout36(u128);

impl Layout36 {
    const BITS: u32 = 3;
    const FIRST: u32 = Self::BITS * MAX_CELLS as u32;
    pub(crate) const NONE: Self = Self(0);

    fn new(set: Cells, slot: usize, regions: &Regions) -> Self {
        assert!(regions.len() <= 1 << Self::BITS, "a set leaves at most eight regions");
        assert!(set.count_ones() <= 1 << Self::BITS, "a pattern has at most eight tiles");
        assert!(slot >> (u128::BITS - Self::FIRST) == 0, "slots fit 20 bits");
        let free = regions.iter().zip(0..).flat_map(|(region, nth)| members(*region).map(move |cell| (cell, nth)));
        let of_cells = free.chain(members(set).zip(0..));
        let of_cells = of_cells.fold(0, |all, (cell, nth): (Cell, u128)| all | nth << (Self::BITS * u32::from(cell)));
        Self((slot as u128) << Self::FIRST | of_cells)
    }

    /// The three bits of a cell.
    #[inline(always)]
    fn of(self, cell: Cell) -> u32 {
        (self.0 >> (Self::BITS * u32::from(cell))) as u32 % (1 << Self::BITS)
    }

    /// The slot of the set and a blank cell outside it.
    #[inline(always)]
    pub(crate) fn slot(self, blank: Cell) -> usize {
        (self.0 >> Self::FIRST) as usize + self.of(blank) as usize
    }

    /// The number of the rank shift of a move that leads to this set.
    #[inline(always)]
    fn shift(self, moved: Placement36, step: &TileStep36) -> u8 {
        let to = self.of(step.to);
        let passed = (moved.0 >> step.first_passed) as usize & usize::from(step.passed);
        let passed = u32::from(PASSED[passed % PASSED.len()]);
        Shifts::number(if step.lowers_cell { to + passed } else { to - passed }, to)
    }
}

/// Placement of a pattern's tiles: their cells in the lower 48 bits, and above them the rank of their permutation by
/// cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placement36(u64);

impl Placement36 {
    pub(crate) const NONE: Self = Self(0);
    /// Position of the rank.
    const ORDER: u32 = 48;

    pub(crate) fn new(set: Cells, order: usize) -> Self {
        Self((order as u64) << Self::ORDER | set)
    }

    #[inline(always)]
    fn set(self) -> Cells {
        self.0 & ((1 << Self::ORDER) - 1)
    }

    #[inline(always)]
    fn order(self) -> u32 {
        (self.0 >> Self::ORDER) as u32
    }

    /// Index of the bit within its word.
    #[inline(always)]
    pub(crate) fn bit(self) -> u32 {
        self.order() % 64
    }

    /// Index of the word within its row.
    #[inline(always)]
    pub(crate) fn word(self) -> usize {
        (self.order() / 64) as usize
    }

    /// The placement with the cells after a move, and the rank before it.
    #[inline(always)]
    pub(crate) fn moved(self, step: &TileStep36) -> Self {
        Self(self.0 ^ 1 << (step.from % 64) ^ 1 << (step.to % 64))
    }

    /// The placement after a move, given the one with the rank before it and the data of its set.
    #[inline(always)]
    pub(crate) fn with_rank(self, layout: &Layout36, shifts: &Shifts, step: &TileStep36) -> Self {
        let added = shifts.added(layout.shift(self, step), self.order());
        Self(self.0.wrapping_add(u64::from(added) << Self::ORDER))
    }
}

/// Move of a tile into the adjacent blank.
#[derive(Clone, Copy, Default, Debug)]
#[repr(align(8))]
pub(crate) struct TileStep36 {
    pub(crate) from: Cell,
    to: Cell,
    /// The cells that the tile passes: the first one, and a mask for as many. A horizontal move passes none.
    first_passed: u8,
    passed: u16,
    /// The tile moves to a lower cell.
    lowers_cell: bool,
}

/// Number of bits of a mask of passed cells.
static PASSED: [u8; 1 << (Size::MAX_SIDE - 1)] = {
    let mut counts = [0; 1 << (Size::MAX_SIDE - 1)];
    let mut mask = 0;
    while mask < counts.len() {
        counts[mask] = mask.count_ones() as u8;
        mask += 1;
    }
    counts
};

impl TileStep36 {
    pub(crate) fn new(from: Cell, to: Cell) -> Self {
        let (first_passed, passed) = (from.min(to) + 1, (1 << (from.abs_diff(to) - 1)) - 1);
        Self { from, to, first_passed, passed, lowers_cell: from > to }
    }
}

impl SetRanks36 {
    fn new(size: Size, tiles: usize) -> Self {
        let half = size.cells().div_ceil(2) as u32;
        let mut of_ones = vec![0_u16; half as usize + 1];
        let lower = (0..1_u32 << half).map(|set| {
            let rank = &mut of_ones[set.count_ones() as usize];
            let this = *rank;
            *rank += 1;
            this
        });
        let lower: Box<[u16]> = lower.collect();
        let mut sets = 0;
        let upper = (0..1_u32 << (size.cells() as u32 - half)).map(|set| {
            let rank = sets;
            sets += tiles.checked_sub(set.count_ones() as usize).map_or(0, |ones| binomial(half, ones as u32));
            rank
        });
        Self { half, upper: upper.collect(), lower }
    }

    #[inline(always)]
    fn of(&self, set: Cells) -> usize {
        let lower = self.lower[set as usize & (self.lower.len() - 1)];
        self.upper[(set >> self.half) as usize] as usize + usize::from(lower)
    }
}

/// Binomial coefficient: the number of ways to choose `some` of `of`.
fn binomial(of: u32, some: u32) -> u32 {
    (0..some).fold(1, |ways, nth| ways * of.saturating_sub(nth) / (nth + 1))
}

impl Index36 {
    /// An empty index for sets of this many cells.
    pub(crate) fn new(size: Size, tiles: usize) -> Self {
        Self { ranks: SetRanks36::new(size, tiles), layouts: Vec::new() }
    }

    /// Adds the next set in ascending order, given the slot of its first region.
    pub(crate) fn add(&mut self, set: Cells, slot: usize, regions: &Regions) {
        self.layouts.push(Layout36::new(set, slot, regions));
    }

    /// The data of the set of a placement.
    #[inline(always)]
    pub(crate) fn layout(&self, placement: Placement36) -> &Layout36 {
        &self.layouts[self.ranks.of(placement.set())]
    }

    /// The slot of a set and a blank cell outside it.
    pub(crate) fn slot(&self, set: Cells, blank: Cell) -> usize {
        self.layouts[self.ranks.of(set)].slot(blank)
    }

    /// Memory of the index in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let SetRanks36 { upper, lower, .. } = &self.ranks;
        size_of_val(self.layouts.as_slice()) + size_of_val(&**upper) + size_of_val(&**lower)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::before;
    use super::*;
    use crate::domain::Move;

    #[test]
    fn shifts_are_those_of_the_positions_in_the_sets() {
        for (rows, cols, tiles) in [(2, 9, 7), (2, 10, 6), (4, 5, 6), (7, 3, 5)] {
            let size = Size::try_from((rows, cols)).unwrap();
            let mut index = Index36::new(size, tiles);
            let all: Cells = (1 << size.cells()) - 1;
            let sets: Vec<Cells> = (0..=all).filter(|set| set.count_ones() as usize == tiles).collect();
            sets.iter().for_each(|set| index.add(*set, 0, &vec![all & !set]));
            for set in &sets {
                for (from, mv) in members(*set).flat_map(|from| Move::ALL.map(|mv| (from, mv))) {
                    let Some(to) = size.neighbor(from, mv).filter(|to| set & 1 << to == 0) else { continue };
                    let next = set ^ 1 << from ^ 1 << to;
                    let step = TileStep36::new(from, to);
                    let moved = Placement36::new(*set, 0).moved(&step);
                    assert_eq!(moved, Placement36::new(next, 0));
                    let expected = Shifts::number(before(*set, from), before(next, to));
                    assert_eq!(index.layout(moved).shift(moved, &step), expected, "{set:b} on {size}, {from} to {to}");
                }
            }
        }
    }
}
