//! The cost of a pattern's moves, one bit an entry.

use std::sync::Arc;

use super::flood::flood;
use super::permutations::{Permutations, Shifts, pack, unpack};
use super::placements::{Cells, PlacementLookup, Placements, members};
use super::prefetch::prefetch;
use crate::domain::{Cell, Size};

/// How many moves the tiles of a pattern need at least to come home, for each way in which they can
/// lie and each region in which the blank can be.
///
/// **One bit.** A move of one of the tiles changes the cost by exactly one: by no more, since the
/// blank's region is part of the entry, so that the move can be taken back (on tables that forget
/// the blank this is not so); and by no less, since it changes the parity of the tiles' distances
/// from home. So the second bit of the cost tells a cost from its neighbours (Clausecker &
/// Reinefeld 2019; the idea of storing costs modulo a small number is Cooperman & Finkelstein's,
/// 1992).
#[derive(Clone, Debug)]
pub struct PatternTable {
    size: Size,
    geometry: Arc<Geometry>,
    /// The tiles by their goal cells, ascending.
    labels: Vec<u8>,
    home: Placed,
    home_slot: usize,
    /// For each slot a row of bits, one an order.
    bits: Vec<u64>,
}

/// What tables of one shape and number of tiles share.
#[derive(Clone, Debug)]
pub struct Geometry {
    placements: Placements,
    permutations: Permutations,
    shifts: Shifts,
    /// Words of a row.
    row: usize,
}

/// Where the tiles of a pattern are, and what they cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Placed {
    /// The rank of their order by cells.
    order: u16,
    /// The cells.
    set: Cells,
    /// The moves that they need at least.
    pub(super) cost: u8,
}

impl Placed {
    pub(super) const NOWHERE: Self = Self { order: 0, set: 0, cost: 0 };
}

/// Look-ups in one table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup<'t> {
    placements: PlacementLookup<'t>,
    shifts: &'t Shifts,
    /// Words of a row.
    row: usize,
    bits: &'t [u64],
}

impl Lookup<'_> {
    /// After a step of one of the pattern's tiles.
    #[inline(always)]
    pub(super) fn follow(&self, placed: Placed, step: Step) -> Placed {
        let slid = self.slide(placed, step);
        self.settle(slid, self.entry(slid, step.from))
    }

    /// A step without its cost, and where that is: its line of memory is asked for.
    #[inline(always)]
    pub(super) fn begin(&self, placed: Placed, step: Step) -> (Placed, Entry) {
        let slid = self.slide(placed, step);
        let entry = self.entry(slid, step.from);
        prefetch(self.bits, entry.word as usize);
        (slid, entry)
    }

    /// The cost after a step that was begun: one more or one less, whichever has this second bit.
    #[inline(always)]
    pub(super) fn settle(&self, slid: Placed, entry: Entry) -> Placed {
        let differs = u8::from(self.bit_at(entry)) ^ (slid.cost.wrapping_add(1) >> 1 & 1);
        Placed { cost: slid.cost.wrapping_add(1).wrapping_sub(2 * differs), ..slid }
    }

    /// The same but for the cost, which stays behind.
    #[inline(always)]
    fn slide(&self, placed: Placed, step: Step) -> Placed {
        let [low, high] = (placed.set & step.below).to_le_bytes();
        let place = ONES[usize::from(low)] + ONES[usize::from(high)];
        let passed = ONES[usize::from((placed.set >> step.between_from) as u8 & step.between)];
        let shift = place * Step::ONE_UP + passed * step.shift;
        Placed { order: self.shifts.rank(shift, placed.order), set: placed.set ^ step.flip, ..placed }
    }

    /// Where a cost is.
    #[inline(always)]
    fn entry(&self, placed: Placed, blank: Cell) -> Entry {
        let slot = self.placements.slot(placed.set, blank);
        Entry { word: (slot * self.row + usize::from(placed.order) / 64) as u32, bit: (placed.order % 64) as u8 }
    }

    /// The second bit of a cost.
    #[inline(always)]
    fn bit_at(&self, entry: Entry) -> bool {
        self.bits[entry.word as usize] >> entry.bit & 1 != 0
    }

    fn bit(&self, placed: Placed, blank: Cell) -> bool {
        self.bit_at(self.entry(placed, blank))
    }
}

/// Where a table has a cost.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Entry {
    pub(super) word: u32,
    pub(super) bit: u8,
}

/// A tile's way from one cell to the next, as sets of cells see it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Step {
    /// Where the tile comes from, and the blank goes.
    from: Cell,
    /// The two cells.
    flip: Cells,
    /// The cells before both.
    below: Cells,
    /// The cells between them: the first of them, and as many bits.
    between_from: u8,
    between: u8,
    /// What one tile in between adds to the number of the shift.
    shift: u8,
}

impl Step {
    /// What one tile before both adds to the number of the shift: one to either place.
    const ONE_UP: u8 = Permutations::MAX_THINGS as u8 + 1;

    pub(super) fn new(from: Cell, to: Cell) -> Self {
        let (first, last) = (from.min(to), from.max(to));
        Self {
            from,
            flip: 1 << from | 1 << to,
            below: (1 << first) - 1,
            between_from: first + 1,
            between: ((1_u16 << (last - first - 1)) - 1) as u8,
            shift: if to > from { Shifts::number(0, 1) } else { Shifts::number(1, 0) },
        }
    }
}

/// How many bits a byte has.
const ONES: [u8; 256] = {
    let mut ones = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        ones[byte] = byte.count_ones() as u8;
        byte += 1;
    }
    ones
};

impl Geometry {
    /// For patterns of so many tiles on boards of a shape.
    pub fn new(size: Size, tiles: usize) -> Self {
        let permutations = Permutations::new(tiles);
        let row = permutations.count().div_ceil(64);
        let most = size.cols().min(tiles) as u32 - 1;
        let shifts = Shifts::new(&permutations, most);
        Self { placements: Placements::new(size, tiles), permutations, shifts, row }
    }

    /// Memory it takes.
    pub fn bytes(&self) -> usize {
        self.placements.bytes() + self.shifts.bytes()
    }
}

impl PatternTable {
    /// Measures every entry by breadth-first search from home.
    ///
    /// # Panics
    /// If the pattern is not an ascending list of tiles, as many as the geometry is for.
    pub fn build(size: Size, goal_blank: Cell, labels: &[u8], geometry: &Arc<Geometry>) -> Self {
        assert!(!labels.contains(&goal_blank) && labels.is_sorted(), "a pattern is an ascending list of tiles");
        let set = labels.iter().fold(0, |set, label| set | 1 << label);
        // In their own order, which is the first.
        let home = Placed { order: 0, set, cost: 0 };
        let home_slot = geometry.placements.slot(set, goal_blank);
        let bits = flood(&geometry.placements, &geometry.shifts, geometry.permutations.count(), home_slot);
        Self { size, geometry: Arc::clone(geometry), labels: labels.to_vec(), home, home_slot, bits }
    }

    /// The tiles by their goal cells, ascending.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    pub(super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Memory it takes, without what it shares.
    pub fn bytes(&self) -> usize {
        size_of_val(self.bits.as_slice())
    }

    /// Where the tiles are and what they cost, if `label` names the tile in each cell.
    pub(super) fn placed(&self, label: impl Fn(Cell) -> u8, blank: Cell) -> Placed {
        let (mut set, mut things) = (0, Vec::with_capacity(self.labels.len()));
        for cell in 0..self.size.cells() as Cell {
            if let Ok(thing) = self.labels.binary_search(&label(cell)) {
                set |= 1 << cell;
                things.push(thing as u8);
            }
        }
        let order = self.geometry.permutations.rank(pack(things.into_iter())) as u16;
        let placed = Placed { order, set, cost: 0 };
        Placed { cost: self.cost(placed, blank), ..placed }
    }

    /// A table's look-ups, with all that they read at hand.
    pub(super) fn lookup(&self) -> Lookup<'_> {
        let Geometry { placements, shifts, row, .. } = &*self.geometry;
        Lookup { placements: placements.lookup(), shifts, row: *row, bits: &self.bits }
    }

    /// The cost, found by going home one move at a time.
    fn cost(&self, mut placed: Placed, mut blank: Cell) -> u8 {
        let (placements, lookup) = (&self.geometry.placements, self.lookup());
        // The parity of the cost is that of the tiles' distances; with the bit it is known modulo 4.
        let mut modulo = self.distances(placed) as u8 % 2 + 2 * u8::from(lookup.bit(placed, blank));
        for cost in 0.. {
            let slot = placements.slot(placed.set, blank);
            if placed == self.home && slot == self.home_slot {
                return cost;
            }
            let less = (modulo + 3) % 4;
            let (set, region) = placements.place(slot);
            let steps = members(region).flat_map(|to| placements.neighbours(to).map(move |from| (from, to)));
            let (from, to) = steps
                .filter(|(from, _)| set & 1 << from != 0)
                .find(|(from, to)| lookup.bit(lookup.slide(placed, Step::new(*from, *to)), *from) == (less >= 2))
                .expect("an entry that is not home has one that is nearer");
            placed = lookup.slide(placed, Step::new(from, to));
            (blank, modulo) = (from, less);
        }
        unreachable!("each step is one nearer")
    }

    fn distances(&self, placed: Placed) -> u32 {
        let tiles = members(placed.set).zip(unpack(self.geometry.permutations.unrank(usize::from(placed.order))));
        tiles.map(|(cell, thing)| self.size.distance(cell, self.labels[usize::from(thing)])).sum()
    }
}
