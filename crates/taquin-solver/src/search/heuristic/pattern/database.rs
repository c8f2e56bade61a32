//! Pattern databases with one bit per entry.

use std::sync::Arc;

use super::cells::{Cells, before, members};
use super::generate::{bytes_to_generate, generate};
use super::huge_vec::HugeVec;
use super::index::PatternIndex;
use super::index_16::{Index16, Layout16, TileStep16};
use super::index_36::{Index36, Layout36, Placement36, TileStep36};
use super::permutation::{Permutations, Shifts, pack, unpack};
use super::symmetry::Symmetry;
use crate::domain::{Cell, Size};
use crate::search::prefetch::prefetch;

/// Minimum number of moves of a pattern's tiles that bring them home, for each placement of the tiles and each region
/// of the blank: the *cost*.
///
/// **One bit.** A move of one of the tiles changes the cost by exactly one. The change is at most one, because the
/// blank's region is part of the entry, so the move can be undone. (Tables without the blank lack this property.) The
/// change is at least one, because the move flips the parity of the tiles' distances from home. So the second bit of
/// the cost tells whether a move raises or lowers it (Clausecker & Reinefeld 2019). Storing costs modulo a small number
/// is due to Cooperman & Finkelstein (1992).
///
/// **Shared bits.** Patterns that are equal under a symmetry can have the same bits: `shared_tables.rs` finds them.
#[derive(Clone, Debug)]
pub struct PatternTable {
    /// Goal cells of the tiles, ascending.
    labels: Vec<u8>,
    /// Maps the pattern to the pattern of the bits.
    symmetry: Symmetry,
    costs: Arc<PatternCosts>,
}

/// Costs of a pattern.
#[derive(Debug)]
struct PatternCosts {
    geometry: Arc<Geometry>,
    /// Goal cells of the tiles, ascending.
    labels: Vec<u8>,
    /// Slot of the home placement.
    home: usize,
    /// By slot: a row of bits, one per permutation.
    bits: HugeVec<u64>,
}

/// Data shared by tables of one shape and number of tiles.
#[derive(Clone, Debug)]
pub struct Geometry {
    index: PatternIndex,
    permutations: Permutations,
    shifts: Shifts,
    /// Words per row.
    row: usize,
}

/// Placement and cost of a pattern's tiles, for boards of any size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PatternEntry {
    pub(crate) set: Cells,
    /// Rank of the tiles' permutation by cells.
    pub(crate) order: usize,
    /// Number of moves needed.
    pub(crate) cost: u8,
}

/// Placement and cost of a pattern's tiles, for boards of at most sixteen cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entry16 {
    pub(crate) placement: Placement16,
    /// Number of moves needed.
    pub(crate) cost: u8,
}

impl Entry16 {
    pub(crate) const NONE: Self = Self { placement: Placement16::NONE, cost: 0 };
}

impl From<PatternEntry> for Entry16 {
    fn from(PatternEntry { set, order, cost }: PatternEntry) -> Self {
        Self { placement: Placement16::new(set as u16, order), cost }
    }
}

/// Placement of a pattern's tiles: their cells in the lower half, the rank of their permutation by cells in the upper
/// half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placement16(u32);

impl Placement16 {
    pub(crate) const NONE: Self = Self(0);
    /// Position of the rank.
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

    /// Index of the bit within its word.
    #[inline(always)]
    pub(crate) fn bit(self) -> u32 {
        self.order() % 64
    }

    /// Index of the word within its row.
    #[inline(always)]
    fn word(self) -> usize {
        (self.order() / 64) as usize
    }
}

/// The cost after a move, given the bit of the entry after it and the cost before it.
#[inline(always)]
pub(crate) fn cost_after(word: u64, bit: u32, before: u8) -> u8 {
    let up = before.wrapping_add(1);
    let is_down = (word >> bit) as u8 & 1 ^ up >> 1 & 1;
    up.wrapping_sub(2 * is_down)
}

/// Look-ups in a table, for boards of at most sixteen cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup16<'t> {
    index: &'t Index16,
    shifts: &'t Shifts,
    row: usize,
    bits: &'t [u64],
}

/// Look-ups in a table, for larger boards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup36<'t> {
    index: &'t Index36,
    shifts: &'t Shifts,
    row: usize,
    bits: &'t [u64],
}

impl<'t> Lookup36<'t> {
    /// The placement and cost after a move of one of the tiles.
    #[inline(always)]
    pub(crate) fn follow(&self, placement: Placement36, cost: u8, step: &TileStep36) -> (Placement36, u8) {
        let (placement, word) = self.begin(placement, step);
        (placement, cost_after(*word, placement.bit(), cost))
    }

    /// The placement after a move of one of the tiles.
    #[inline(always)]
    pub(crate) fn place(&self, placement: Placement36, step: &TileStep36) -> Placement36 {
        let moved = placement.moved(step);
        moved.with_rank(self.index.layout(moved), self.shifts, step)
    }

    /// The placement with the cells after a move and the rank before it, and the data of these cells, which are
    /// prefetched.
    #[inline(always)]
    pub(crate) fn layout(&self, placement: Placement36, step: &TileStep36) -> (Placement36, &'t Layout36) {
        let moved = placement.moved(step);
        let layout = self.index.layout(moved);
        prefetch(layout);
        (moved, layout)
    }

    /// The placement after a move that [`layout`](Self::layout) began, and the word that holds its bit, which is
    /// prefetched.
    #[inline(always)]
    pub(crate) fn word(&self, moved: Placement36, layout: &Layout36, step: &TileStep36) -> (Placement36, &'t u64) {
        let placement = moved.with_rank(layout, self.shifts, step);
        let word = &self.bits[layout.slot(step.from) * self.row + placement.word()];
        prefetch(word);
        (placement, word)
    }

    /// The placement after a move, and the word that holds its bit, which is prefetched.
    #[inline(always)]
    fn begin(&self, placement: Placement36, step: &TileStep36) -> (Placement36, &'t u64) {
        let moved = placement.moved(step);
        self.word(moved, self.index.layout(moved), step)
    }
}

impl<'t> Lookup16<'t> {
    /// The entry after a move of one of the tiles.
    #[inline(always)]
    pub(crate) fn follow(&self, placed: Entry16, step: &TileStep16) -> Entry16 {
        let (placement, word) = self.begin(placed.placement, step);
        Entry16 { placement, cost: cost_after(*word, placement.bit(), placed.cost) }
    }

    /// The placement after a move, and the word that holds its bit, which is prefetched.
    #[inline(always)]
    fn begin(&self, placement: Placement16, step: &TileStep16) -> (Placement16, &'t u64) {
        let moved = Placement16(step.after(placement.0));
        self.word(moved, self.index.layout(moved.set()), step)
    }

    /// The placement with the cells after a move and the rank before it, and the data of these cells, which are
    /// prefetched.
    #[inline(always)]
    pub(crate) fn layout(&self, placement: Placement16, step: &TileStep16) -> (Placement16, &'t Layout16) {
        let moved = Placement16(step.after(placement.0));
        let layout = self.index.layout(moved.set());
        prefetch(layout);
        (moved, layout)
    }

    /// The placement after a move that [`layout`](Self::layout) began, and the word that holds its bit, which is
    /// prefetched.
    #[inline(always)]
    pub(crate) fn word(&self, moved: Placement16, layout: &Layout16, step: &TileStep16) -> (Placement16, &'t u64) {
        let Self { shifts, row, bits, .. } = self;
        let added = shifts.added(layout.shift(step), moved.order());
        let placement = Placement16(moved.0.wrapping_add(u32::from(added) << Placement16::ORDER));
        let word = &bits[layout.slot_after(step) * row + placement.word()];
        prefetch(word);
        (placement, word)
    }
}

impl Geometry {
    /// The geometry of each pattern's table, in order. Patterns with the same number of tiles share one, which saves
    /// memory and cache lines.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn of_patterns(size: Size, patterns: &[&Vec<u8>]) -> Vec<Arc<Self>> {
        let mut geometries: Vec<Arc<Self>> = Vec::new();
        for pattern in patterns {
            let alike = geometries.iter().find(|earlier| earlier.permutations.items() == pattern.len());
            let geometry = alike.map_or_else(|| Arc::new(Self::new(size, pattern.len())), Arc::clone);
            geometries.push(geometry);
        }
        geometries
    }

    /// For patterns of this many tiles on boards of a size.
    ///
    /// # Panics
    /// If there are no tiles or more than eight, or eight on a board of more than five columns, or if the board has
    /// more than 36 cells or more slots than its index can number.
    pub fn new(size: Size, tiles: usize) -> Self {
        let permutations = Permutations::new(tiles);
        let row = permutations.count().div_ceil(64);
        let shifts = Shifts::new(&permutations, size.cols().min(tiles) as u32 - 1);
        Self { index: PatternIndex::new(size, tiles), permutations, shifts, row }
    }

    /// The slot of a pattern's home placement.
    fn home(&self, goal_blank: Cell, labels: &[u8]) -> usize {
        let is_pattern = !labels.contains(&goal_blank) && labels.is_sorted_by(|label, next| label < next);
        assert!(is_pattern, "a pattern is an ascending list of tiles");
        assert_eq!(labels.len(), self.permutations.items(), "a geometry is for one number of tiles");
        let set = labels.iter().fold(0, |set, label| set | 1 << label);
        self.index.slot(set, goal_blank)
    }

    /// Memory of the geometry in bytes.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.shifts.bytes()
    }

    /// Memory of tables together, in bytes, given the geometry of each.
    pub fn bytes_of_tables<'g>(geometries: impl Iterator<Item = &'g Arc<Self>>) -> usize {
        let mut known: Vec<&Arc<Self>> = Vec::new();
        let bytes = |geometry| {
            let is_known = known.iter().any(|earlier| Arc::ptr_eq(earlier, geometry));
            known.push(geometry);
            size_of::<u64>() * geometry.words() + if is_known { 0 } else { geometry.bytes() }
        };
        geometries.map(bytes).sum()
    }

    /// Temporary memory of [`PatternTable::build`] besides the table, in bytes.
    pub fn bytes_to_build(&self) -> usize {
        bytes_to_generate(self.index.len(), &self.permutations)
    }

    /// Number of entries of a table.
    pub fn entries(&self) -> usize {
        self.index.len() * self.permutations.count()
    }

    /// Number of 64-bit words of a table.
    pub fn words(&self) -> usize {
        self.index.len() * self.row
    }
}

impl PatternTable {
    /// Generates the table by breadth-first search from home.
    ///
    /// # Panics
    /// If `labels` is not an ascending list of as many tiles as the geometry is for.
    pub fn build(goal_blank: Cell, labels: &[u8], geometry: &Arc<Geometry>) -> Self {
        Self::build_until(goal_blank, labels, geometry, &mut || false).expect("nothing stops the construction")
    }

    /// Generates the table, as [`build`](Self::build) does. Returns `None` if `is_stopped` returns true, which is asked
    /// after each cost.
    ///
    /// # Panics
    /// As [`build`](Self::build).
    pub fn build_until(
        goal_blank: Cell,
        labels: &[u8],
        geometry: &Arc<Geometry>,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let home = geometry.home(goal_blank, labels);
        let Geometry { index, permutations, shifts, .. } = &**geometry;
        let bits = generate(index, permutations, shifts, home, is_stopped)?;
        Some(Self::new(labels, geometry, home, bits))
    }

    /// Creates a table from the [bits](Self::bits) of an earlier one.
    ///
    /// # Panics
    /// As [`build`](Self::build), and if the number of words does not fit the geometry.
    pub fn from_bits(goal_blank: Cell, labels: &[u8], geometry: &Arc<Geometry>, bits: HugeVec<u64>) -> Self {
        assert_eq!(bits.len(), geometry.words(), "a table has bits for all entries");
        Self::new(labels, geometry, geometry.home(goal_blank, labels), bits)
    }

    fn new(labels: &[u8], geometry: &Arc<Geometry>, home: usize, bits: HugeVec<u64>) -> Self {
        let labels = labels.to_vec();
        let symmetry = Symmetry::identity(geometry.index.size());
        let costs = PatternCosts { geometry: Arc::clone(geometry), labels: labels.clone(), home, bits };
        Self { labels, symmetry, costs: Arc::new(costs) }
    }

    /// The table of another pattern, given a [symmetry](super::shared_tables::symmetry_between) that maps it to this
    /// one.
    pub(crate) fn of_image(&self, labels: &[u8], symmetry: &Symmetry) -> Self {
        let symmetry = symmetry.then(&self.symmetry);
        Self { labels: labels.to_vec(), symmetry, costs: Arc::clone(&self.costs) }
    }

    /// True if both have the same bits in memory.
    pub(crate) fn shares_bits(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.costs, &other.costs)
    }

    /// Maps the pattern's board to the board of look-ups.
    pub(crate) fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    /// The second bit of each entry's cost, row by row.
    pub fn bits(&self) -> &[u64] {
        &self.costs.bits
    }

    /// Goal cells of the tiles, ascending.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    pub(crate) fn geometry(&self) -> &Arc<Geometry> {
        &self.costs.geometry
    }

    /// Memory of the table in bytes, without the shared geometry.
    pub fn bytes(&self) -> usize {
        size_of_val(self.bits())
    }

    /// Placement and cost of the tiles of a board under the table's [symmetry](Self::symmetry); `label` returns the
    /// label in each cell.
    pub(crate) fn find(&self, label: impl Fn(Cell) -> u8, blank: Cell) -> PatternEntry {
        self.costs.find(label, blank)
    }

    /// Look-ups for boards of at most sixteen cells, under the table's [symmetry](Self::symmetry).
    pub(crate) fn lookup_16(&self) -> Lookup16<'_> {
        let PatternCosts { geometry, bits, .. } = &*self.costs;
        let Geometry { index, shifts, row, .. } = &**geometry;
        Lookup16 { index: index.index_16(), shifts, row: *row, bits }
    }

    /// Look-ups for larger boards, under the table's [symmetry](Self::symmetry).
    pub(crate) fn lookup_36(&self) -> Lookup36<'_> {
        let PatternCosts { geometry, bits, .. } = &*self.costs;
        let Geometry { index, shifts, row, .. } = &**geometry;
        Lookup36 { index: index.index_36(), shifts, row: *row, bits }
    }
}

impl PatternCosts {
    fn find(&self, label: impl Fn(Cell) -> u8, blank: Cell) -> PatternEntry {
        let (mut set, mut items) = (0, Vec::with_capacity(self.labels.len()));
        for cell in 0..self.geometry.index.size().cells() as Cell {
            if let Ok(item) = self.labels.binary_search(&label(cell)) {
                set |= 1 << cell;
                items.push(item as u8);
            }
        }
        let order = self.geometry.permutations.rank(pack(items.into_iter()));
        PatternEntry { set, order, cost: self.cost(set, order, blank) }
    }

    /// The cost, determined by following a shortest path home.
    ///
    /// # Panics
    /// If wrong bits lead nowhere, or along a path longer than any cost.
    fn cost(&self, mut set: Cells, mut order: usize, mut blank: Cell) -> u8 {
        let Geometry { index, shifts, .. } = &*self.geometry;
        // The cost has the parity of the tiles' distances. With the bit, it is known modulo 4.
        let mut modulo = self.distances(set, order) as u8 % 2 + 2 * self.bit(index.slot(set, blank), order);
        for cost in 0..=u8::MAX {
            // The home permutation has rank 0.
            if order == 0 && index.slot(set, blank) == self.home {
                return cost;
            }
            let less = (modulo + 3) % 4;
            let mut next = index.moves_from(set, blank).map(|(from, to)| {
                let next = set ^ 1 << from ^ 1 << to;
                let number = Shifts::number(before(set, from), before(next, to));
                let order = (order as u16).wrapping_add(shifts.added(number, order as u32));
                (next, usize::from(order), from)
            });
            let is_nearer =
                |(set, order, blank): &(Cells, usize, Cell)| self.bit(index.slot(*set, *blank), *order) == less >> 1;
            (set, order, blank) = next.find(is_nearer).expect("an entry other than home has a nearer neighbor");
            modulo = less;
        }
        panic!("each step lowers the cost by one");
    }

    fn bit(&self, slot: usize, order: usize) -> u8 {
        (self.bits[slot * self.geometry.row + order / 64] >> (order % 64) & 1) as u8
    }

    fn distances(&self, set: Cells, order: usize) -> u32 {
        let size = self.geometry.index.size();
        let tiles = members(set).zip(unpack(self.geometry.permutations.unrank(order)));
        tiles.map(|(cell, item)| size.distance(cell, self.labels[usize::from(item)])).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic = "a geometry is for one number of tiles"]
    fn a_pattern_of_another_number_of_tiles_is_no_pattern_of_the_geometry() {
        PatternTable::build(9, &[1, 2], &Arc::new(Geometry::new(Size::try_from((2, 5)).unwrap(), 3)));
    }
}
