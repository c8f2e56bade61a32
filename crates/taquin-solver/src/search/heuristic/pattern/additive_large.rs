//! Additive pattern databases on boards of more than sixteen cells.

use super::database::{Lookup36, PatternTable, cost_after};
use super::index_36::{Layout36, Placement36, TileStep36};
use super::partition::{Partition, Tier};
use super::partition::{TableUpgrade, Upgrade};
use super::symmetry::VIEWS;
use super::view::{View, parts_of_largest, update_within};
use crate::domain::{Cell, Move, Packed, Size};
use crate::search::heuristic::{Heuristic, Part};
use crate::search::{Slide, State};

/// The sum of the costs of at most `N` disjoint patterns (Korf & Felner 2002), under two symmetries where the goal
/// has them. The counterpart of [`AdditivePatterns`](super::AdditivePatterns) for larger boards.
#[derive(Clone, Debug)]
pub struct LargeAdditivePatterns<'t, const N: usize> {
    views: Vec<View36<'t>>,
    upgrade: Upgrade<'t>,
}

#[derive(Clone, Debug)]
struct View36<'t> {
    view: View<'t>,
    lookups: Vec<Lookup36<'t>>,
    /// By pattern, the blank's cell and its move.
    steps: Vec<Vec<[TileStep36; Move::ALL.len()]>>,
}

/// By view: placement and cost of each pattern, and the sum of the costs.
#[derive(Clone, Copy, Debug)]
pub struct LargeCosts<const N: usize> {
    placements: [[Placement36; N]; VIEWS],
    costs: [[u8; N]; VIEWS],
    sums: [u16; VIEWS],
}

/// By view: the sum of the costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LargeSums([u16; VIEWS]);

/// A look-up of a board after a slide, in one view.
#[derive(Clone, Copy, Debug)]
struct LargeProbe<'t> {
    layout: &'t Layout36,
    word: &'t u64,
    /// The cells after the slide, with the rank before it until the word is looked up.
    placement: Placement36,
    /// The pattern of the tile.
    pattern: u8,
}

impl LargeSums {
    /// The greatest sum.
    #[inline]
    pub(crate) fn greatest(self) -> u32 {
        self.0.into_iter().max().map_or(0, u32::from)
    }
}

impl<const N: usize> LargeCosts<N> {
    /// The sums of the costs.
    pub(crate) fn sums(&self) -> LargeSums {
        LargeSums(self.sums)
    }

    /// Placement and cost of a pattern's tiles; none if there are fewer patterns.
    pub(crate) fn placed(&self, view: usize, pattern: usize) -> (Placement36, u8) {
        if pattern < N { (self.placements[view][pattern], self.costs[view][pattern]) } else { (Placement36::NONE, 0) }
    }

    /// The sum of a view's costs, which must fit a byte.
    pub(crate) fn sum(&self, view: usize) -> u8 {
        u8::try_from(self.sums[view]).expect("the parallel search keeps sums in bytes")
    }
}

impl<'t> View36<'t> {
    fn new(size: Size, view: View<'t>) -> Self {
        let step = |pattern: usize, to: Cell, mv: Move| {
            size.neighbor(to, mv).map_or_else(TileStep36::default, |from| {
                let (from, to) = view.images(pattern, from, to);
                TileStep36::new(from, to)
            })
        };
        let of_pattern =
            |pattern| (0..size.cells() as Cell).map(|to| Move::ALL.map(|mv| step(pattern, to, mv))).collect();
        let steps = (0..view.tables().len()).map(of_pattern).collect();
        Self { lookups: view.tables().iter().map(PatternTable::lookup_36).collect(), steps, view }
    }

    /// The move of a pattern's tile in a slide.
    #[inline(always)]
    fn step(&self, pattern: usize, slide: &Slide) -> &TileStep36 {
        &self.steps[pattern][usize::from(slide.to)][slide.mv as usize]
    }
}

impl<'t, const N: usize> LargeAdditivePatterns<'t, N> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// Two partitions are used as they are. A single one is used under two symmetries, if there are two.
    ///
    /// # Panics
    /// If a partition has more than `N` patterns, or the board has at most sixteen cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        let views = View::all(size, goal_blank, partitions, N).map(|view| View36::new(size, view));
        Self { views: views.collect(), upgrade: Upgrade { size, goal_blank, source: None } }
    }

    /// Lets IDA\* continue with the stronger tables of a source, if any, given the tier of these tables.
    #[must_use]
    pub fn with_upgrade(mut self, source: Option<(&'t dyn TableUpgrade, Tier)>) -> Self {
        self.upgrade.source = source;
        self
    }

    /// True if there are stronger tables.
    pub(crate) fn has_upgrade(&self) -> bool {
        self.upgrade.has_better()
    }

    /// The heuristic with the strongest tables, if there are stronger ones.
    pub(crate) fn upgraded(&self) -> Option<Self> {
        let (partitions, upgrade) = self.upgrade.take_better()?;
        Some(Self { upgrade, ..Self::new(upgrade.size, upgrade.goal_blank, partitions) })
    }

    /// The views of a board.
    pub(crate) fn views(&self) -> impl Iterator<Item = &View<'t>> {
        self.views.iter().map(|view| &view.view)
    }

    /// The pattern of a label in a view.
    pub(crate) fn pattern(&self, view: usize, label: u8) -> usize {
        self.views[view].view.pattern(label)
    }

    /// The [images](View::images) of two cells in a view.
    pub(crate) fn images(&self, view: usize, pattern: usize, from: Cell, to: Cell) -> (Cell, Cell) {
        self.views[view].view.images(pattern, from, to)
    }

    /// Look-ups in a pattern's table; in any table, if there are fewer patterns.
    pub(crate) fn lookup(&self, view: usize, pattern: usize) -> Lookup36<'_> {
        let lookups = &self.views[view].lookups;
        *lookups.get(pattern).unwrap_or(&lookups[0])
    }

    /// The number of patterns of the largest partition.
    pub(crate) fn max_patterns(&self) -> usize {
        self.views().map(|view| view.tables().len()).max().unwrap_or(0)
    }

    /// The sums of the costs after several slides, given the costs before each.
    ///
    /// The look-ups of all slides overlap: each of the three steps prefetches the memory that the next one reads.
    ///
    /// There are at most `MAX` slides.
    #[inline(always)]
    pub(crate) fn sums_after<'a, const MAX: usize>(
        &self,
        slides: impl Iterator<Item = (&'a LargeCosts<N>, &'a Slide)> + Clone,
        mut add: impl FnMut(LargeSums),
    ) {
        let mut probes =
            [[LargeProbe { layout: &Layout36::NONE, word: &0, placement: Placement36::NONE, pattern: 0 }; VIEWS]; MAX];
        for ((before, slide), probes) in slides.clone().zip(&mut probes) {
            for (nth, (view, probe)) in self.views.iter().zip(probes).enumerate() {
                let pattern = view.view.pattern(slide.label);
                probe.pattern = pattern as u8;
                (probe.placement, probe.layout) =
                    view.lookups[pattern].layout(before.placements[nth][pattern], view.step(pattern, slide));
            }
        }
        for ((_, slide), probes) in slides.clone().zip(&mut probes) {
            for (view, probe) in self.views.iter().zip(probes) {
                let pattern = usize::from(probe.pattern);
                (probe.placement, probe.word) =
                    view.lookups[pattern].word(probe.placement, probe.layout, view.step(pattern, slide));
            }
        }
        for ((before, _), probes) in slides.zip(&probes) {
            let mut sums = before.sums;
            for (view, (sum, LargeProbe { word, placement, pattern, .. })) in
                sums.iter_mut().zip(probes).take(self.views.len()).enumerate()
            {
                let cost = before.costs[view][usize::from(*pattern)];
                *sum = *sum + u16::from(cost_after(**word, placement.bit(), cost)) - u16::from(cost);
            }
            add(LargeSums(sums));
        }
    }

    /// The costs after a slide, given the sums that look-ups have found.
    #[inline]
    pub(crate) fn after_sums(&self, before: &LargeCosts<N>, slide: &Slide, sums: LargeSums) -> LargeCosts<N> {
        let mut costs = *before;
        for (nth, view) in self.views.iter().enumerate() {
            let pattern = view.view.pattern(slide.label);
            let placement = &mut costs.placements[nth][pattern];
            *placement = view.lookups[pattern].place(*placement, view.step(pattern, slide));
            let change = sums.0[nth].wrapping_sub(before.sums[nth]) as u8;
            costs.costs[nth][pattern] = costs.costs[nth][pattern].wrapping_add(change);
        }
        costs.sums = sums.0;
        costs
    }

    /// Updates one view after a slide. Returns the sum of its costs.
    #[inline(always)]
    fn update(&self, costs: &mut LargeCosts<N>, view: usize, slide: &Slide) -> u32 {
        let this = &self.views[view];
        let pattern = this.view.pattern(slide.label);
        let (placement, before) = (costs.placements[view][pattern], costs.costs[view][pattern]);
        let (placement, cost) = this.lookups[pattern].follow(placement, before, this.step(pattern, slide));
        costs.placements[view][pattern] = placement;
        costs.costs[view][pattern] = cost;
        costs.sums[view] = costs.sums[view] + u16::from(cost) - u16::from(before);
        u32::from(costs.sums[view])
    }
}

impl<P: Packed, const N: usize> Heuristic<P> for LargeAdditivePatterns<'_, N> {
    type Memo = LargeCosts<N>;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> LargeCosts<N> {
        let mut costs =
            LargeCosts { placements: [[Placement36::NONE; N]; VIEWS], costs: [[0; N]; VIEWS], sums: [0; VIEWS] };
        for (view, this) in self.views().enumerate() {
            for (pattern, entry) in this.entries(state).enumerate() {
                costs.placements[view][pattern] = Placement36::new(entry.set, entry.order);
                costs.costs[view][pattern] = entry.cost;
                costs.sums[view] += u16::from(entry.cost);
            }
        }
        costs
    }

    #[inline]
    fn after(&self, mut memo: LargeCosts<N>, slide: &Slide, _: &State<P>) -> LargeCosts<N> {
        for view in 0..self.views.len() {
            self.update(&mut memo, view, slide);
        }
        memo
    }

    #[inline]
    fn after_within(&self, memo: LargeCosts<N>, slide: &Slide, _: &State<P>, limit: i32) -> Result<LargeCosts<N>, u32> {
        update_within(memo, self.views.len(), limit, |costs, view| self.update(costs, view, slide))
    }

    #[inline]
    fn h(&self, memo: LargeCosts<N>) -> u32 {
        memo.sums().greatest()
    }

    fn parts(&self, state: &State<P>) -> Vec<Part> {
        parts_of_largest(self.views(), state)
    }
}
