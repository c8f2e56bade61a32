//! The cost of a pattern's moves, one bit an entry.

use std::sync::Arc;

use super::flood::flood;
use super::permutations::{Permutations, Shifts, pack, unpack};
use super::placements::{Placements, Step, members};
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
    home: Spot,
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
    pub(super) spot: Spot,
    /// The moves that they need at least.
    pub(super) cost: u8,
}

impl Placed {
    pub(super) const NOWHERE: Self = Self { spot: Spot::NOWHERE, cost: 0 };
}

/// How the tiles of a pattern lie: in the high half the cells and the region of the blank, their slot,
/// and in the low one the rank of their order by cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Spot(u32);

impl Spot {
    pub(super) const NOWHERE: Self = Self(0);

    fn new(slot: usize, order: usize) -> Self {
        Self((slot as u32) << 16 | order as u32)
    }

    #[inline(always)]
    fn slot(self) -> usize {
        (self.0 >> 16) as usize
    }

    #[inline(always)]
    fn order(self) -> usize {
        usize::from(self.0 as u16)
    }

    /// Which bit of its word it has.
    #[inline(always)]
    pub(super) fn bit(self) -> u32 {
        self.0 % 64
    }
}

/// Look-ups in one table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup<'t> {
    /// By slot and edge.
    steps: &'t [Step],
    edges: usize,
    first_ranks: &'t [u32; Shifts::COUNT],
    ranks: &'t [u16],
    /// Words of a row.
    row: usize,
    bits: &'t [u64],
}

impl Lookup<'_> {
    /// After a move of one of the pattern's tiles along an edge.
    #[inline(always)]
    pub(super) fn follow(&self, placed: Placed, edge: u8) -> Placed {
        let (spot, word) = self.begin(placed.spot, edge);
        let up = placed.cost.wrapping_add(1);
        let is_down = (*word >> spot.bit()) as u8 & 1 ^ up >> 1 & 1;
        Placed { spot, cost: up.wrapping_sub(2 * is_down) }
    }

    /// A move without its cost, and the word that tells it: its line of memory is asked for.
    #[inline(always)]
    pub(super) fn begin(&self, spot: Spot, edge: u8) -> (Spot, &u64) {
        let spot = self.slide(spot, edge);
        let word = &self.bits[spot.slot() * self.row + spot.order() / 64];
        prefetch(word);
        (spot, word)
    }

    #[inline(always)]
    fn slide(&self, spot: Spot, edge: u8) -> Spot {
        let step = self.steps[spot.slot() * self.edges + usize::from(edge)];
        let order = self.ranks[self.first_ranks[step.shift()] as usize + spot.order()];
        Spot(step.to() | u32::from(order))
    }

    fn bit(&self, spot: Spot) -> bool {
        self.bits[spot.slot() * self.row + spot.order() / 64] >> spot.bit() & 1 != 0
    }
}

impl Geometry {
    /// For patterns of so many tiles on boards of a shape.
    pub fn new(size: Size, tiles: usize) -> Self {
        let permutations = Permutations::new(tiles);
        let row = permutations.count().div_ceil(64);
        let most = size.cols().min(tiles) as u32 - 1;
        let shifts = Shifts::new(&permutations, most);
        Self { placements: Placements::new(size, tiles), permutations, shifts, row }
    }

    /// Where the tiles of a pattern are at home.
    fn home(&self, goal_blank: Cell, labels: &[u8]) -> Spot {
        assert!(!labels.contains(&goal_blank) && labels.is_sorted(), "a pattern is an ascending list of tiles");
        let set = labels.iter().fold(0, |set, label| set | 1 << label);
        // In their own order, which is the first.
        Spot::new(self.placements.slot(set, goal_blank), 0)
    }

    /// Memory it takes.
    pub fn bytes(&self) -> usize {
        self.placements.bytes() + self.shifts.bytes()
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
        let bits = flood(&geometry.placements, &geometry.shifts, geometry.permutations.count(), home.slot());
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
        let order = self.geometry.permutations.rank(pack(things.into_iter()));
        let spot = Spot::new(self.geometry.placements.slot(set, blank), order);
        Placed { spot, cost: self.cost(spot) }
    }

    /// A table's look-ups, with all that they read at hand.
    pub(super) fn lookup(&self) -> Lookup<'_> {
        let Geometry { placements, shifts, row, .. } = &*self.geometry;
        let (steps, edges) = placements.steps();
        let (first_ranks, ranks) = shifts.all();
        Lookup { steps, edges, first_ranks, ranks, row: *row, bits: &self.bits }
    }

    /// The cost, found by going home one move at a time.
    fn cost(&self, mut spot: Spot) -> u8 {
        let (placements, lookup) = (&self.geometry.placements, self.lookup());
        // The parity of the cost is that of the tiles' distances; with the bit it is known modulo 4.
        let mut modulo = self.distances(spot) as u8 % 2 + 2 * u8::from(lookup.bit(spot));
        for cost in 0.. {
            if spot == self.home {
                return cost;
            }
            let less = (modulo + 3) % 4;
            let mut next = placements.steps_from(spot.slot()).map(|(edge, _)| lookup.slide(spot, edge));
            let nearer = next.find(|next| lookup.bit(*next) == (less >= 2));
            (spot, modulo) = (nearer.expect("an entry that is not home has one that is nearer"), less);
        }
        unreachable!("each step is one nearer")
    }

    fn distances(&self, spot: Spot) -> u32 {
        let (set, _) = self.geometry.placements.place(spot.slot());
        let tiles = members(set).zip(unpack(self.geometry.permutations.unrank(spot.order())));
        tiles.map(|(cell, thing)| self.size.distance(cell, self.labels[usize::from(thing)])).sum()
    }
}
