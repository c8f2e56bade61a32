//! Data types of the parallel search, by board size.

use std::fmt::Debug;
use std::ops::IndexMut;

use crate::domain::{Cell, Packed, Packed64, Packed128};
use crate::search::heuristic::pattern::additive::{AdditivePatterns, Costs, MAX_PATTERNS};
use crate::search::heuristic::pattern::additive_large::{LargeAdditivePatterns, LargeCosts};
use crate::search::heuristic::pattern::database::{Lookup16, Lookup36, Placement16};
use crate::search::heuristic::pattern::index_16::{Layout16, TileStep16};
use crate::search::heuristic::pattern::index_36::{Layout36, Placement36, TileStep36};
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// Upper bound on the number of kinds. The *kind* of a tile in a view: the index of the pattern that is looked up for
/// it, among the patterns of all views, plus [`KIND_WITH_TWIN`] if a pattern of the second twin must be looked up, too.
pub(crate) const MAX_KINDS: usize = 16;
/// The bit of kinds with two patterns.
pub(crate) const KIND_WITH_TWIN: usize = 8;

/// Data types for boards up to a given number of cells.
pub(crate) trait BoardForm: Copy + Debug + Send + Sync + 'static {
    /// The tiles of a packed board.
    type Tiles: Packed;
    /// The kind of each cell's tile, in four bits.
    type Kinds: Copy + Debug + Send + Sync;
    /// Placement of a pattern's tiles.
    type Placement: Copy + Debug + Send + Sync;
    /// Placements by pattern of all views: the view times [`PATTERNS`](Self::PATTERNS) plus the index in the view.
    type Placements: Copy + Debug + Send + Sync + IndexMut<usize, Output = Self::Placement>;
    /// Placements of second twins' patterns, one for each view, in the order of look-ups; none without twin partitions.
    type TwinPlacements: Copy + IndexMut<usize, Output = Self::Placement>;
    /// Costs plus one, by pattern of all views, and two more bytes.
    type Bytes: Copy + Debug + Send + Sync + IndexMut<usize, Output = u8>;
    /// Move of a tile into the blank.
    type TileStep: Copy + Default + Sync;
    /// Data of the cells of a pattern's tiles.
    type Layout: Sync + 'static;
    /// Look-ups in a table.
    type Lookup<'t>: Copy + Sync;
    /// A type without data that has the alignment of nodes.
    type Alignment: Copy + Debug + Send + Sync;

    /// True if there are [twin partitions](crate::search::heuristic::Partition::are_twins).
    const TWINS: bool;
    /// Number of kinds, rounded up to a power of two.
    const KINDS: usize;
    /// Upper bound on the number of patterns per view that are looked up.
    const PATTERNS: usize;
    /// Index of the byte of the blank's cell, which is not the index of a pattern.
    const BLANK_BYTE: usize;
    /// Index of the byte of the moves left, which is not the index of a pattern.
    const LEFT_BYTE: usize;
    const NO_KINDS: Self::Kinds;
    const NO_PLACEMENT: Self::Placement;
    const NO_PLACEMENTS: Self::Placements;
    const NO_TWIN_PLACEMENTS: Self::TwinPlacements;
    const NO_BYTES: Self::Bytes;
    const NO_LAYOUT: &'static Self::Layout;
    const ALIGNMENT: Self::Alignment;

    /// The lowest of the four bits of a cell.
    fn only(cell: Cell) -> Self::Kinds;

    /// The lowest of the four bits of each of two cells.
    fn both(a: Cell, b: Cell) -> Self::Kinds;

    /// Flips the given ones of the four bits in each of the given cells.
    fn exchange(kinds: Self::Kinds, bits: u64, cells: Self::Kinds) -> Self::Kinds;

    /// The four bits at an offset.
    fn kind_in(kinds: Self::Kinds, shift: u32) -> usize;

    /// The pattern of a kind, reduced so that no bounds check is needed.
    fn pattern(kind: usize) -> usize;

    /// The placement with the cells after a move and the rank before it, and the data of these cells, which are
    /// prefetched.
    fn layout<'t>(
        lookup: &Self::Lookup<'t>,
        placement: Self::Placement,
        step: &Self::TileStep,
    ) -> (Self::Placement, &'t Self::Layout);

    /// The placement after a move that [`layout`](Self::layout) began, and the word that holds its bit, which is
    /// prefetched.
    fn word<'t>(
        lookup: &Self::Lookup<'t>,
        moved: Self::Placement,
        layout: &Self::Layout,
        step: &Self::TileStep,
    ) -> (Self::Placement, &'t u64);

    /// The step of a tile between two cells of a board.
    fn step(from: Cell, to: Cell) -> Self::TileStep;

    /// The bit of a placement within its word.
    fn bit(placement: Self::Placement) -> u32;
}

/// Pattern databases, as the parallel search reads them.
pub(crate) trait PatternViews<S: BoardForm>: Sync {
    /// Costs of a board.
    type Costs: Copy;

    /// Number of views, one or two.
    fn views(&self) -> usize;

    /// By [twin partition](AdditivePatterns::has_twins), the pattern of a label in a view; `None` if the tile is alone.
    /// If there is one partition, both are equal.
    fn patterns_of(&self, view: usize, label: u8) -> [Option<usize>; 2];

    /// The [images](crate::search::heuristic::pattern::view::View::images) of two cells in a view.
    fn images(&self, view: usize, pattern: usize, from: Cell, to: Cell) -> (Cell, Cell);

    /// Look-ups in a pattern's table; in any table, if there are fewer patterns.
    fn lookup(&self, view: usize, pattern: usize) -> S::Lookup<'_>;

    /// Placement and cost of a pattern's tiles; none if there are fewer patterns.
    fn placed(&self, costs: &Self::Costs, view: usize, pattern: usize) -> (S::Placement, u8);

    /// The sum of a view's costs in each of twin partitions. If there is one partition, both are equal.
    fn sums(&self, costs: &Self::Costs, view: usize) -> [u8; 2];
}

/// Boards of at most sixteen cells. The number of views with twin partitions is 0 or [`VIEWS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form16<const TWIN_VIEWS: usize>;

/// Boards of at most twenty-five cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form25;

/// Aligns a node to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct CacheLine;

const FORM16_PATTERNS: usize = VIEWS * Form16::<0>::PATTERNS;

impl<const TWIN_VIEWS: usize> BoardForm for Form16<TWIN_VIEWS> {
    type Tiles = Packed64;
    type Kinds = u64;
    type Placement = Placement16;
    type Placements = [Placement16; FORM16_PATTERNS];
    type TwinPlacements = [Placement16; TWIN_VIEWS];
    type Bytes = [u8; FORM16_PATTERNS];
    type TileStep = TileStep16;
    type Layout = Layout16;
    type Lookup<'t> = Lookup16<'t>;
    type Alignment = CacheLine;

    const TWINS: bool = TWIN_VIEWS > 0;
    const KINDS: usize = if Self::TWINS { 2 * FORM16_PATTERNS } else { FORM16_PATTERNS };
    const PATTERNS: usize = (MAX_PATTERNS + 1).next_power_of_two();
    const BLANK_BYTE: usize = MAX_PATTERNS;
    const LEFT_BYTE: usize = Self::PATTERNS + MAX_PATTERNS;
    const NO_KINDS: u64 = 0;
    const NO_PLACEMENT: Placement16 = Placement16::NONE;
    const NO_PLACEMENTS: Self::Placements = [Placement16::NONE; FORM16_PATTERNS];
    const NO_TWIN_PLACEMENTS: Self::TwinPlacements = [Placement16::NONE; TWIN_VIEWS];
    const NO_BYTES: Self::Bytes = [0; FORM16_PATTERNS];
    const NO_LAYOUT: &'static Layout16 = &Layout16::NONE;
    const ALIGNMENT: CacheLine = CacheLine;

    fn only(cell: Cell) -> u64 {
        1 << (4 * cell)
    }

    fn both(a: Cell, b: Cell) -> u64 {
        Self::only(a) | Self::only(b)
    }

    #[inline(always)]
    fn exchange(kinds: u64, bits: u64, cells: u64) -> u64 {
        kinds ^ (bits * cells)
    }

    #[inline(always)]
    fn kind_in(kinds: u64, shift: u32) -> usize {
        (kinds >> (shift % u64::BITS)) as usize % Self::KINDS
    }

    #[inline(always)]
    fn pattern(kind: usize) -> usize {
        kind % FORM16_PATTERNS
    }

    #[inline(always)]
    fn layout<'t>(lookup: &Self::Lookup<'t>, placement: Placement16, step: &TileStep16) -> (Placement16, &'t Layout16) {
        lookup.layout(placement, step)
    }

    #[inline(always)]
    fn word<'t>(
        lookup: &Self::Lookup<'t>,
        moved: Placement16,
        layout: &Layout16,
        step: &TileStep16,
    ) -> (Placement16, &'t u64) {
        lookup.word(moved, layout, step)
    }

    fn step(from: Cell, to: Cell) -> TileStep16 {
        TileStep16::new(from, to)
    }

    #[inline(always)]
    fn bit(placement: Placement16) -> u32 {
        placement.bit()
    }
}

const FORM25_PATTERNS: usize = VIEWS * Form25::PATTERNS;

impl BoardForm for Form25 {
    type Tiles = Packed128;
    type Kinds = u128;
    type Placement = Placement36;
    type Placements = [Placement36; FORM25_PATTERNS];
    type TwinPlacements = [Placement36; 0];
    type Bytes = [u8; FORM25_PATTERNS + 2];
    type TileStep = TileStep36;
    type Layout = Layout36;
    type Lookup<'t> = Lookup36<'t>;
    type Alignment = ();

    const TWINS: bool = false;
    const KINDS: usize = FORM25_PATTERNS.next_power_of_two();
    const PATTERNS: usize = 5;
    const BLANK_BYTE: usize = FORM25_PATTERNS;
    const LEFT_BYTE: usize = FORM25_PATTERNS + 1;
    const NO_KINDS: u128 = 0;
    const NO_PLACEMENT: Placement36 = Placement36::NONE;
    const NO_PLACEMENTS: Self::Placements = [Placement36::NONE; FORM25_PATTERNS];
    const NO_TWIN_PLACEMENTS: Self::TwinPlacements = [];
    const NO_BYTES: Self::Bytes = [0; FORM25_PATTERNS + 2];
    const NO_LAYOUT: &'static Layout36 = &Layout36::NONE;
    const ALIGNMENT: () = ();

    fn only(cell: Cell) -> u128 {
        1 << (4 * cell)
    }

    fn both(a: Cell, b: Cell) -> u128 {
        Self::only(a) | Self::only(b)
    }

    #[inline(always)]
    fn exchange(kinds: u128, bits: u64, cells: u128) -> u128 {
        kinds ^ (u128::from(bits) * cells)
    }

    #[inline(always)]
    fn kind_in(kinds: u128, shift: u32) -> usize {
        (kinds >> (shift % u128::BITS)) as usize % Self::KINDS
    }

    #[inline(always)]
    fn pattern(kind: usize) -> usize {
        kind
    }

    #[inline(always)]
    fn layout<'t>(lookup: &Self::Lookup<'t>, placement: Placement36, step: &TileStep36) -> (Placement36, &'t Layout36) {
        lookup.layout(placement, step)
    }

    #[inline(always)]
    fn word<'t>(
        lookup: &Self::Lookup<'t>,
        moved: Placement36,
        layout: &Layout36,
        step: &TileStep36,
    ) -> (Placement36, &'t u64) {
        lookup.word(moved, layout, step)
    }

    fn step(from: Cell, to: Cell) -> TileStep36 {
        TileStep36::new(from, to)
    }

    #[inline(always)]
    fn bit(placement: Placement36) -> u32 {
        placement.bit()
    }
}

impl<const TWIN_VIEWS: usize> PatternViews<Form16<TWIN_VIEWS>> for AdditivePatterns<'_> {
    type Costs = Costs;

    fn views(&self) -> usize {
        self.views().count()
    }

    fn patterns_of(&self, view: usize, label: u8) -> [Option<usize>; 2] {
        self.patterns_of(view, label)
    }

    fn images(&self, view: usize, pattern: usize, from: Cell, to: Cell) -> (Cell, Cell) {
        self.images(view, pattern, from, to)
    }

    fn lookup(&self, view: usize, pattern: usize) -> Lookup16<'_> {
        self.lookup(view, pattern)
    }

    fn placed(&self, costs: &Costs, view: usize, pattern: usize) -> (Placement16, u8) {
        costs.placed[view].get(pattern).map_or((Placement16::NONE, 0), |placed| (placed.placement, placed.cost))
    }

    fn sums(&self, costs: &Costs, view: usize) -> [u8; 2] {
        costs.sums[view]
    }
}

impl<const N: usize> PatternViews<Form25> for LargeAdditivePatterns<'_, N> {
    type Costs = LargeCosts<N>;

    fn views(&self) -> usize {
        self.views().count()
    }

    fn patterns_of(&self, view: usize, label: u8) -> [Option<usize>; 2] {
        [Some(self.pattern(view, label)); 2]
    }

    fn images(&self, view: usize, pattern: usize, from: Cell, to: Cell) -> (Cell, Cell) {
        self.images(view, pattern, from, to)
    }

    fn lookup(&self, view: usize, pattern: usize) -> Lookup36<'_> {
        self.lookup(view, pattern)
    }

    fn placed(&self, costs: &LargeCosts<N>, view: usize, pattern: usize) -> (Placement36, u8) {
        costs.placed(view, pattern)
    }

    fn sums(&self, costs: &LargeCosts<N>, view: usize) -> [u8; 2] {
        [costs.sum(view); 2]
    }
}
