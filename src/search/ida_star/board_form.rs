//! Data types of the parallel search, by board size.

use std::fmt::Debug;
use std::ops::IndexMut;

use crate::domain::{Cell, Packed, Packed64, Packed128, Size};
use crate::search::heuristic::pattern::additive::{AdditivePatterns, Costs, MAX_PATTERNS};
use crate::search::heuristic::pattern::additive_large::{LargeAdditivePatterns, LargeCosts};
use crate::search::heuristic::pattern::database::{Lookup16, Lookup36, Placement16};
use crate::search::heuristic::pattern::index_16::TileStep16;
use crate::search::heuristic::pattern::index_36::{Placement36, TileStep36};
use crate::search::heuristic::pattern::symmetry::VIEWS;
use crate::search::heuristic::pattern::view::View;

/// Number of values of a kind. The *kind* of a tile in a view names its patterns there. The kinds of both views differ.
pub(super) const KINDS: usize = 16;
/// Upper bound on the number of cells.
pub(super) const MAX_CELLS: usize = 32;

/// Kinds within the first view, if there is a second partition that shares the first pattern. Its second pattern is the
/// *alternative* of the first partition's second pattern.
pub(super) mod kinds {
    /// The slot of the alternative pattern within a view. It follows that of the second pattern.
    pub(in super::super) const SLOT_OF_ALTERNATIVE: usize = 2;
    /// The bit of kinds with an alternative pattern.
    pub(in super::super) const ALTERNATIVE: usize = 8;
    /// A tile of the pattern that both partitions have.
    pub(in super::super) const SHARED: usize = 0;
    /// A tile of the second pattern and of the alternative.
    pub(in super::super) const BOTH: usize = 1 + ALTERNATIVE;
    /// The tile that is alone in the first partition. Its slot is that of the alternative.
    pub(in super::super) const ALONE_IN_FIRST: usize = SLOT_OF_ALTERNATIVE;
    /// The tile that is alone in the second partition. Its slot is that of the second pattern.
    pub(in super::super) const ALONE_IN_SECOND: usize = 1;
}

/// Data types for boards up to a given number of cells.
pub(super) trait BoardForm: Copy + Debug + Send + Sync + 'static {
    /// The tiles of a packed board.
    type Tiles: Packed;
    /// The kind of each cell's tile, in four bits.
    type Kinds: Copy + Debug + Send + Sync;
    /// Placement of a pattern's tiles.
    type Placement: Copy + Debug + Send + Sync;
    /// Placements by slot. Each pattern of a view has a *slot*: the view times [`PATTERNS`](Self::PATTERNS) plus the
    /// index of the pattern.
    type Placements: Copy + Debug + Send + Sync + IndexMut<usize, Output = Self::Placement>;
    /// Costs plus one, by slot, and two more bytes.
    type Bytes: Copy + Debug + Send + Sync + IndexMut<usize, Output = u8>;
    /// Move of a tile into the blank.
    type TileStep: Copy + Default + Sync;
    /// Look-ups in a table.
    type Lookup<'t>: Copy + Sync;
    /// A type without data that has the alignment of nodes.
    type Alignment: Copy + Debug + Send + Sync;

    /// Number of slots per view, which is at least the number of patterns.
    const PATTERNS: usize;
    /// Index of the byte of the blank's cell, which is no slot of a pattern.
    const BLANK: usize;
    /// Index of the byte of the moves left, which is no slot of a pattern.
    const LEFT: usize;
    const NO_KINDS: Self::Kinds;
    const NO_PLACEMENT: Self::Placement;
    const NO_PLACEMENTS: Self::Placements;
    const NO_BYTES: Self::Bytes;
    const ALIGNMENT: Self::Alignment;

    /// The lowest of the four bits of a cell.
    fn only(cell: Cell) -> Self::Kinds;

    /// The lowest of the four bits of each of two cells.
    fn both(a: Cell, b: Cell) -> Self::Kinds;

    /// Flips the given ones of the four bits in each of the given cells.
    fn exchange(kinds: Self::Kinds, bits: u64, cells: Self::Kinds) -> Self::Kinds;

    /// The four bits at an offset.
    fn kind_in(kinds: Self::Kinds, shift: u8) -> usize;

    /// The slot of the pattern to look up for a kind. A slot is its own kind.
    fn slot(kind: usize) -> usize;

    /// The placement after a move, and the word that holds its bit, which is prefetched.
    fn begin<'t>(
        lookup: &Self::Lookup<'t>,
        placement: Self::Placement,
        step: &Self::TileStep,
    ) -> (Self::Placement, &'t u64);

    /// The step of a tile between two cells of a board.
    fn step(size: Size, from: Cell, to: Cell) -> Self::TileStep;

    /// The bit of a placement within its word.
    fn bit(placement: Self::Placement) -> u32;
}

/// Pattern databases, as the parallel search reads them.
pub(super) trait PatternViews<S: BoardForm>: Sync {
    /// Costs of a board.
    type Costs: Copy;

    /// The views, one or two.
    fn views(&self) -> Vec<&View<'_>>;

    /// Look-ups in a pattern's table; in any table, if there are fewer patterns.
    fn lookup(&self, view: usize, pattern: usize) -> S::Lookup<'_>;

    /// Placement and cost of a pattern's tiles; `None` if there are fewer patterns.
    fn placed(&self, costs: &Self::Costs, view: usize, pattern: usize) -> Option<(S::Placement, u8)>;

    /// The kind of a label in a view, as if the view were the first.
    fn kind(&self, view: usize, label: u8) -> usize;

    /// The sums of a view, equal if it has one partition.
    fn sums(&self, costs: &Self::Costs, view: usize) -> [u8; 2];

    /// True if views have a second partition, which shares the first pattern and has another second one.
    fn has_alternatives(&self) -> bool {
        false
    }

    /// By partition, the goal cell of the tile that is alone in it, under the view's symmetry; `None` without
    /// [alternatives](Self::has_alternatives).
    fn single(&self, _view: usize) -> [Option<Cell>; 2] {
        [None; 2]
    }
}

/// Boards of at most sixteen cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form16;

/// Boards of at most twenty-five cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Form25;

/// Aligns a node to a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct CacheLine;

const FORM16_SLOTS: usize = VIEWS * Form16::PATTERNS;

impl BoardForm for Form16 {
    type Tiles = Packed64;
    type Kinds = u64;
    type Placement = Placement16;
    type Placements = [Placement16; FORM16_SLOTS];
    type Bytes = [u8; FORM16_SLOTS];
    type TileStep = TileStep16;
    type Lookup<'t> = Lookup16<'t>;
    type Alignment = CacheLine;

    const PATTERNS: usize = (MAX_PATTERNS + 1).next_power_of_two();
    const BLANK: usize = Self::PATTERNS - 1;
    const LEFT: usize = FORM16_SLOTS - 1;
    const NO_KINDS: u64 = 0;
    const NO_PLACEMENT: Placement16 = Placement16::NONE;
    const NO_PLACEMENTS: Self::Placements = [Placement16::NONE; FORM16_SLOTS];
    const NO_BYTES: Self::Bytes = [0; FORM16_SLOTS];
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
    fn kind_in(kinds: u64, shift: u8) -> usize {
        (kinds >> shift) as usize % 16
    }

    #[inline(always)]
    fn slot(kind: usize) -> usize {
        kind % FORM16_SLOTS
    }

    #[inline(always)]
    fn begin<'t>(lookup: &Self::Lookup<'t>, placement: Placement16, step: &TileStep16) -> (Placement16, &'t u64) {
        lookup.begin(placement, step)
    }

    fn step(size: Size, from: Cell, to: Cell) -> TileStep16 {
        TileStep16::new(size, from, to)
    }

    #[inline(always)]
    fn bit(placement: Placement16) -> u32 {
        placement.bit()
    }
}

const FORM25_SLOTS: usize = VIEWS * Form25::PATTERNS;

impl BoardForm for Form25 {
    type Tiles = Packed128;
    type Kinds = u128;
    type Placement = Placement36;
    type Placements = [Placement36; FORM25_SLOTS];
    type Bytes = [u8; FORM25_SLOTS + 2];
    type TileStep = TileStep36;
    type Lookup<'t> = Lookup36<'t>;
    type Alignment = ();

    const PATTERNS: usize = 5;
    const BLANK: usize = FORM25_SLOTS;
    const LEFT: usize = FORM25_SLOTS + 1;
    const NO_KINDS: u128 = 0;
    const NO_PLACEMENT: Placement36 = Placement36::NONE;
    const NO_PLACEMENTS: Self::Placements = [Placement36::NONE; FORM25_SLOTS];
    const NO_BYTES: Self::Bytes = [0; FORM25_SLOTS + 2];
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
    fn kind_in(kinds: u128, shift: u8) -> usize {
        (kinds >> shift) as usize % 16
    }

    #[inline(always)]
    fn slot(kind: usize) -> usize {
        kind
    }

    #[inline(always)]
    fn begin<'t>(lookup: &Self::Lookup<'t>, placement: Placement36, step: &TileStep36) -> (Placement36, &'t u64) {
        lookup.begin(placement, step)
    }

    fn step(size: Size, from: Cell, to: Cell) -> TileStep36 {
        TileStep36::new(size, from, to)
    }

    #[inline(always)]
    fn bit(placement: Placement36) -> u32 {
        placement.order() % 64
    }
}

impl PatternViews<Form16> for AdditivePatterns<'_> {
    type Costs = Costs;

    fn views(&self) -> Vec<&View<'_>> {
        self.views().collect()
    }

    fn lookup(&self, view: usize, pattern: usize) -> Lookup16<'_> {
        self.lookup(view, pattern)
    }

    fn placed(&self, costs: &Costs, view: usize, pattern: usize) -> Option<(Placement16, u8)> {
        costs.placed[view].get(pattern).map(|placed| (placed.placement, placed.cost))
    }

    fn kind(&self, view: usize, label: u8) -> usize {
        let (pattern, alternative) = self.patterns_of(view, label);
        match (pattern, alternative) {
            (_, None) => pattern,
            (0, _) => kinds::SHARED,
            (1, Some(1)) => kinds::BOTH,
            (1, _) => kinds::ALONE_IN_SECOND,
            _ => kinds::ALONE_IN_FIRST,
        }
    }

    fn sums(&self, costs: &Costs, view: usize) -> [u8; 2] {
        costs.sums[view]
    }

    fn has_alternatives(&self) -> bool {
        self.has_alternatives()
    }

    fn single(&self, view: usize) -> [Option<Cell>; 2] {
        self.single(view)
    }
}

impl<const N: usize> PatternViews<Form25> for LargeAdditivePatterns<'_, N> {
    type Costs = LargeCosts<N>;

    fn views(&self) -> Vec<&View<'_>> {
        self.views().collect()
    }

    fn lookup(&self, view: usize, pattern: usize) -> Lookup36<'_> {
        self.lookup(view, pattern)
    }

    fn placed(&self, costs: &LargeCosts<N>, view: usize, pattern: usize) -> Option<(Placement36, u8)> {
        Some(costs.placed(view, pattern))
    }

    fn kind(&self, view: usize, label: u8) -> usize {
        self.views().nth(view).map_or(0, |view| view.pattern(label))
    }

    fn sums(&self, costs: &LargeCosts<N>, view: usize) -> [u8; 2] {
        [costs.sum(view); 2]
    }
}
