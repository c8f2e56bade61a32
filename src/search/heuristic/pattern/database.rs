//! The cost of a pattern's moves, one bit an entry.

use std::sync::Arc;

use super::cells::{Cells, before, members};
use super::generate::{bytes_beside, flood};
use super::index::Placements;
use super::index_16::{Narrow, Step};
use super::index_36::{self, Wide};
use super::permutation::{Permutations, Shifts, pack, unpack};
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
    /// The slot of home.
    home: usize,
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

/// Where the tiles of a pattern are, and what they cost, in general.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::search) struct Found {
    pub(in crate::search) set: Cells,
    /// The rank of the tiles' order by cells.
    pub(in crate::search) order: usize,
    /// The moves that they need at least.
    pub(in crate::search) cost: u8,
}

/// The same on boards of at most sixteen cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::search) struct Placed {
    pub(in crate::search) spot: Spot,
    /// The moves that they need at least.
    pub(in crate::search) cost: u8,
}

impl Placed {
    pub(in crate::search) const NOWHERE: Self = Self { spot: Spot::NOWHERE, cost: 0 };
}

impl From<Found> for Placed {
    fn from(Found { set, order, cost }: Found) -> Self {
        Self { spot: Spot::new(set as u16, order), cost }
    }
}

/// How the tiles of a pattern lie: in the low half in which cells, and in the high one the rank of
/// their order by cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::search) struct Spot(u32);

impl Spot {
    pub(in crate::search) const NOWHERE: Self = Self(0);
    /// Where the order is.
    const ORDER: u32 = 16;

    fn new(set: u16, order: usize) -> Self {
        Self((order as u32) << Self::ORDER | u32::from(set))
    }

    #[inline(always)]
    fn set(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    fn order(self) -> u32 {
        self.0 >> Self::ORDER
    }

    /// Which bit of its word it has.
    #[inline(always)]
    pub(in crate::search) fn bit(self) -> u32 {
        self.order() % 64
    }

    /// In which word of its row it is.
    #[inline(always)]
    fn word(self) -> usize {
        (self.order() / 64) as usize
    }
}

/// Look-ups in one table, on boards of at most sixteen cells.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct Lookup<'t> {
    placements: &'t Narrow,
    shifts: &'t Shifts,
    row: usize,
    bits: &'t [u64],
}

/// Look-ups in one table, on larger boards.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct WideLookup<'t> {
    placements: &'t Wide,
    shifts: &'t Shifts,
    row: usize,
    bits: &'t [u64],
}

impl<'t> WideLookup<'t> {
    /// Where the tiles are after a step of one of them, and what they cost then.
    #[inline(always)]
    pub(in crate::search) fn follow(
        &self,
        spot: index_36::Spot,
        cost: u8,
        step: &index_36::Step,
    ) -> (index_36::Spot, u8) {
        let (spot, word) = self.begin(spot, step);
        let up = cost.wrapping_add(1);
        let is_down = (*word >> (spot.order() % 64)) as u8 & 1 ^ up >> 1 & 1;
        (spot, up.wrapping_sub(2 * is_down))
    }

    /// A step without its cost, and the word that tells it: its line of memory is asked for.
    #[inline(always)]
    pub(in crate::search) fn begin(&self, spot: index_36::Spot, step: &index_36::Step) -> (index_36::Spot, &'t u64) {
        let Self { placements, shifts, row, bits } = self;
        let (spot, slot) = placements.after(shifts, spot, step);
        let word = &bits[slot * row + (spot.order() / 64) as usize];
        prefetch(word);
        (spot, word)
    }
}

impl<'t> Lookup<'t> {
    /// After a step of one of the pattern's tiles.
    #[inline(always)]
    pub(in crate::search) fn follow(&self, placed: Placed, step: &Step) -> Placed {
        let (spot, word) = self.begin(placed.spot, step);
        let up = placed.cost.wrapping_add(1);
        let is_down = (*word >> spot.bit()) as u8 & 1 ^ up >> 1 & 1;
        Placed { spot, cost: up.wrapping_sub(2 * is_down) }
    }

    /// A step without its cost, and the word that tells it: its line of memory is asked for.
    #[inline(always)]
    pub(in crate::search) fn begin(&self, spot: Spot, step: &Step) -> (Spot, &'t u64) {
        let Self { placements, shifts, row, bits } = self;
        let moved = Spot(step.after(spot.0));
        let layout = placements.layout(moved.set());
        let added = shifts.added(layout.shift(step), spot.order());
        let spot = Spot(moved.0.wrapping_add(u32::from(added) << Spot::ORDER));
        let word = &bits[layout.slot_after(step) * row + spot.word()];
        prefetch(word);
        (spot, word)
    }
}

impl Geometry {
    /// For patterns of so many tiles on boards of a shape.
    pub fn new(size: Size, tiles: usize) -> Self {
        let permutations = Permutations::new(tiles);
        let row = permutations.count().div_ceil(64);
        let shifts = Shifts::new(&permutations, size.cols().min(tiles) as u32 - 1);
        Self { placements: Placements::new(size, tiles), permutations, shifts, row }
    }

    /// The slot of the tiles of a pattern at home.
    fn home(&self, goal_blank: Cell, labels: &[u8]) -> usize {
        assert!(!labels.contains(&goal_blank) && labels.is_sorted(), "a pattern is an ascending list of tiles");
        let set = labels.iter().fold(0, |set, label| set | 1 << label);
        self.placements.slot(set, goal_blank)
    }

    /// Memory it takes.
    pub fn bytes(&self) -> usize {
        self.placements.bytes() + self.shifts.bytes()
    }

    /// Memory that [`PatternTable::build`] takes for a time beside the table.
    pub fn bytes_to_build(&self) -> usize {
        bytes_beside(&self.placements, &self.permutations, self.permutations.things())
    }

    /// Words of a table.
    pub fn words(&self) -> usize {
        self.placements.len() * self.row
    }
}

impl PatternTable {
    /// Measures every entry by breadth-first search from home.
    ///
    /// # Panics
    /// If the pattern is not an ascending list of tiles, as many as the geometry is for.
    pub fn build(size: Size, goal_blank: Cell, labels: &[u8], geometry: &Arc<Geometry>) -> Self {
        let home = geometry.home(goal_blank, labels);
        let Geometry { placements, permutations, shifts, .. } = &**geometry;
        let bits = flood(placements, permutations, shifts, home);
        Self { size, geometry: Arc::clone(geometry), labels: labels.to_vec(), home, bits }
    }

    /// A table whose bits were [measured before](Self::bits).
    ///
    /// # Panics
    /// As [`build`](Self::build), and if there are not as many words as the geometry asks for.
    pub fn from_bits(size: Size, goal_blank: Cell, labels: &[u8], geometry: &Arc<Geometry>, bits: Vec<u64>) -> Self {
        assert_eq!(bits.len(), geometry.words(), "a table has bits for all entries");
        let home = geometry.home(goal_blank, labels);
        Self { size, geometry: Arc::clone(geometry), labels: labels.to_vec(), home, bits }
    }

    /// The second bit of each entry's cost, row by row.
    pub fn bits(&self) -> &[u64] {
        &self.bits
    }

    /// The tiles by their goal cells, ascending.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    pub(in crate::search) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Memory it takes, without what it shares.
    pub fn bytes(&self) -> usize {
        size_of_val(self.bits.as_slice())
    }

    /// Where the tiles are and what they cost, if `label` names the tile in each cell.
    pub(in crate::search) fn find(&self, label: impl Fn(Cell) -> u8, blank: Cell) -> Found {
        let (mut set, mut things) = (0, Vec::with_capacity(self.labels.len()));
        for cell in 0..self.size.cells() as Cell {
            if let Ok(thing) = self.labels.binary_search(&label(cell)) {
                set |= 1 << cell;
                things.push(thing as u8);
            }
        }
        let order = self.geometry.permutations.rank(pack(things.into_iter()));
        Found { set, order, cost: self.cost(set, order, blank) }
    }

    /// A table's look-ups, if it is for boards of at most sixteen cells.
    pub(in crate::search) fn lookup(&self) -> Lookup<'_> {
        let Geometry { placements, shifts, row, .. } = &*self.geometry;
        Lookup { placements: placements.narrow(), shifts, row: *row, bits: &self.bits }
    }

    /// A table's look-ups, if it is for larger ones.
    pub(in crate::search) fn wide_lookup(&self) -> WideLookup<'_> {
        let Geometry { placements, shifts, row, .. } = &*self.geometry;
        WideLookup { placements: placements.wide(), shifts, row: *row, bits: &self.bits }
    }

    /// The cost, found by going home one move at a time.
    fn cost(&self, mut set: Cells, mut order: usize, mut blank: Cell) -> u8 {
        let Geometry { placements, shifts, .. } = &*self.geometry;
        // The parity of the cost is that of the tiles' distances; with the bit it is known modulo 4.
        let mut modulo = self.distances(set, order) as u8 % 2 + 2 * self.bit(placements.slot(set, blank), order);
        for cost in 0.. {
            // At home the order is the first.
            if order == 0 && placements.slot(set, blank) == self.home {
                return cost;
            }
            let less = (modulo + 3) % 4;
            let mut next = placements.moves_from(set, blank).map(|(from, to)| {
                let next = set ^ 1 << from ^ 1 << to;
                let number = Shifts::number(before(set, from), before(next, to));
                let order = (order as u16).wrapping_add(shifts.added(number, order as u32));
                (next, usize::from(order), from)
            });
            let is_nearer = |(set, order, blank): &(Cells, usize, Cell)| {
                self.bit(placements.slot(*set, *blank), *order) == less >> 1
            };
            (set, order, blank) = next.find(is_nearer).expect("an entry that is not home has one that is nearer");
            modulo = less;
        }
        unreachable!("each step is one nearer")
    }

    fn bit(&self, slot: usize, order: usize) -> u8 {
        (self.bits[slot * self.geometry.row + order / 64] >> (order % 64) & 1) as u8
    }

    fn distances(&self, set: Cells, order: usize) -> u32 {
        let tiles = members(set).zip(unpack(self.geometry.permutations.unrank(order)));
        tiles.map(|(cell, thing)| self.size.distance(cell, self.labels[usize::from(thing)])).sum()
    }
}
