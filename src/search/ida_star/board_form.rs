//! Forms in which descents hold boards, small and large.

use std::fmt::Debug;
use std::ops::IndexMut;

use crate::domain::{Cell, Packed, Pair, Word};
use crate::search::heuristic::pattern::additive::{AdditivePatterns, Costs, MAX_PATTERNS};
use crate::search::heuristic::pattern::additive_large::{WideCosts, WidePatterns};
use crate::search::heuristic::pattern::database::{Lookup, Spot, WideLookup};
use crate::search::heuristic::pattern::symmetry::VIEWS;
use crate::search::heuristic::pattern::{index_16 as narrow, index_36 as wide};

/// Numbers and lists as large as boards of some size need.
pub(super) trait Scale: Copy + Debug + Send + Sync + 'static {
    /// A board.
    type Board: Packed;
    /// Four bits a cell.
    type Kinds: Copy + Debug + Send + Sync;
    /// Where the tiles of a pattern are.
    type Spot: Copy + Debug + Send + Sync;
    /// By kind.
    type Spots: Copy + Debug + Send + Sync + IndexMut<usize, Output = Self::Spot>;
    /// By kind.
    type Ups: Copy + Debug + Send + Sync + IndexMut<usize, Output = u8>;
    /// A tile's way into the blank.
    type Step: Copy + Default + Sync;
    /// A table's look-ups.
    type Lookup<'t>: Copy + Sync;
    /// Aligns nodes.
    type Line: Copy + Debug + Send + Sync;

    /// Patterns of a view, for which there is room.
    const PATTERNS: usize;
    const NO_KINDS: Self::Kinds;
    const NO_SPOT: Self::Spot;
    const NO_SPOTS: Self::Spots;
    const NO_UPS: Self::Ups;
    const LINE: Self::Line;

    /// One bit of a cell.
    fn only(cell: Cell) -> Self::Kinds;

    /// One bit of either of two cells.
    fn both(a: Cell, b: Cell) -> Self::Kinds;

    /// With some of the four bits of some cells turned over.
    fn exchange(kinds: Self::Kinds, bits: u64, cells: Self::Kinds) -> Self::Kinds;

    /// The four bits from one on.
    fn kind_in(kinds: Self::Kinds, shift: u8) -> usize;

    /// A kind that is in bounds.
    fn kind(kind: usize) -> usize;

    /// A step without its cost, and the word that tells it: its line of memory is asked for.
    fn begin<'t>(lookup: &Self::Lookup<'t>, spot: Self::Spot, step: &Self::Step) -> (Self::Spot, &'t u64);

    /// Which bit of its word a spot has.
    fn bit(spot: Self::Spot) -> u32;
}

/// Patterns, as a descent asks them.
pub(super) trait Views<S: Scale>: Sync {
    /// What they tell of a board.
    type Costs: Copy;

    /// From how many sides they see boards.
    fn count(&self) -> usize;

    /// The look-ups of a pattern's table; of any, where there are fewer patterns.
    fn lookup(&self, view: usize, pattern: usize) -> S::Lookup<'_>;

    /// The pattern that has a label.
    fn pattern(&self, view: usize, label: u8) -> usize;

    /// A tile's way between two cells.
    fn step(&self, view: usize, from: Cell, to: Cell) -> S::Step;

    /// Where the tiles of a pattern are and what they cost; nothing, where there are fewer patterns.
    fn placed(&self, costs: &Self::Costs, view: usize, pattern: usize) -> (S::Spot, u8);
}

/// Boards of at most sixteen cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small;

/// Boards of at most twenty-five.
#[derive(Clone, Copy, Debug)]
pub(super) struct Middle;

/// A line of memory.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Line;

const SMALL_KINDS: usize = VIEWS * Small::PATTERNS;

impl Scale for Small {
    type Board = Word;
    type Kinds = u64;
    type Spot = Spot;
    type Spots = [Spot; SMALL_KINDS];
    type Ups = [u8; SMALL_KINDS];
    type Step = narrow::Step;
    type Lookup<'t> = Lookup<'t>;
    type Line = Line;

    const PATTERNS: usize = (MAX_PATTERNS + 1).next_power_of_two();
    const NO_KINDS: u64 = 0;
    const NO_SPOT: Spot = Spot::NOWHERE;
    const NO_SPOTS: Self::Spots = [Spot::NOWHERE; SMALL_KINDS];
    const NO_UPS: Self::Ups = [0; SMALL_KINDS];
    const LINE: Line = Line;

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
        (kinds >> shift) as usize % SMALL_KINDS
    }

    #[inline(always)]
    fn kind(kind: usize) -> usize {
        kind % SMALL_KINDS
    }

    #[inline(always)]
    fn begin<'t>(lookup: &Self::Lookup<'t>, spot: Spot, step: &narrow::Step) -> (Spot, &'t u64) {
        lookup.begin(spot, step)
    }

    #[inline(always)]
    fn bit(spot: Spot) -> u32 {
        spot.bit()
    }
}

const MIDDLE_KINDS: usize = VIEWS * Middle::PATTERNS;

impl Scale for Middle {
    type Board = Pair;
    type Kinds = u128;
    type Spot = wide::Spot;
    type Spots = [wide::Spot; MIDDLE_KINDS];
    type Ups = [u8; MIDDLE_KINDS];
    type Step = wide::Step;
    type Lookup<'t> = WideLookup<'t>;
    type Line = ();

    const PATTERNS: usize = 5;
    const NO_KINDS: u128 = 0;
    const NO_SPOT: wide::Spot = wide::Spot::NOWHERE;
    const NO_SPOTS: Self::Spots = [wide::Spot::NOWHERE; MIDDLE_KINDS];
    const NO_UPS: Self::Ups = [0; MIDDLE_KINDS];
    const LINE: () = ();

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
    fn kind(kind: usize) -> usize {
        kind
    }

    #[inline(always)]
    fn begin<'t>(lookup: &Self::Lookup<'t>, spot: wide::Spot, step: &wide::Step) -> (wide::Spot, &'t u64) {
        lookup.begin(spot, step)
    }

    #[inline(always)]
    fn bit(spot: wide::Spot) -> u32 {
        spot.order() % 64
    }
}

impl Views<Small> for AdditivePatterns<'_> {
    type Costs = Costs;

    fn count(&self) -> usize {
        self.views().len()
    }

    fn lookup(&self, view: usize, pattern: usize) -> Lookup<'_> {
        self.views()[view].lookup(pattern)
    }

    fn pattern(&self, view: usize, label: u8) -> usize {
        self.views()[view].pattern(label)
    }

    fn step(&self, view: usize, from: Cell, to: Cell) -> narrow::Step {
        self.views()[view].step(from, to)
    }

    fn placed(&self, costs: &Costs, view: usize, pattern: usize) -> (Spot, u8) {
        costs.placed[view].get(pattern).map_or((Spot::NOWHERE, 0), |placed| (placed.spot, placed.cost))
    }
}

impl<const N: usize> Views<Middle> for WidePatterns<'_, N> {
    type Costs = WideCosts<N>;

    fn count(&self) -> usize {
        self.views().len()
    }

    fn lookup(&self, view: usize, pattern: usize) -> WideLookup<'_> {
        self.views()[view].lookup(pattern)
    }

    fn pattern(&self, view: usize, label: u8) -> usize {
        self.views()[view].pattern(label)
    }

    fn step(&self, view: usize, from: Cell, to: Cell) -> wide::Step {
        self.views()[view].step(from, to)
    }

    fn placed(&self, costs: &WideCosts<N>, view: usize, pattern: usize) -> (wide::Spot, u8) {
        costs.placed(view, pattern)
    }
}
