//! Additive pattern databases on boards of at most sixteen cells.

use super::database::{Entry16, Lookup16};
use super::index_16::TileStep16;
use super::partition::{Partition, Tier};
use super::partition::{TableUpgrade, Upgrade};
use super::symmetry::VIEWS;
use super::view::{View, parts_of_largest, update_within};
use crate::domain::{Cell, Packed64, Size};
use crate::search::heuristic::{Heuristic, Part};
use crate::search::{Slide, State};

/// The sum of the costs of disjoint patterns (Korf & Felner 2002). Every move moves one tile, so costs of disjoint
/// patterns add up.
///
/// Boards are looked up under two symmetries where the goal has them, and the largest sum counts: a board and its
/// reflection that keeps the blank's goal cell have the same distance. The sums of both [twin
/// partitions](Partition::are_twins) count as well. A tile of their common pattern needs one look-up for both, and a
/// tile that is alone in a partition needs none there, because its cost is its distance.
#[derive(Clone, Debug)]
pub struct AdditivePatterns<'t> {
    views: Vec<View16<'t>>,
    upgrade: Upgrade<'t>,
}

#[derive(Clone, Debug)]
struct View16<'t> {
    view: View<'t>,
    /// The second one of twin partitions.
    twin: Option<View<'t>>,
    /// By pattern.
    lookups: [Lookup16<'t>; MAX_PATTERNS],
}

/// Maximum number of patterns in a partition.
pub(crate) const MAX_PATTERNS: usize = 3;

/// Index of the second twin's second pattern. It follows the first twin's second pattern, in place of its third:
/// a single tile, which is not looked up.
pub(crate) const TWIN: usize = 2;

/// By view: placement and cost of each pattern, and the sum of the costs in each of twin partitions. If there is one
/// partition, both sums are equal.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    pub(crate) placed: [[Entry16; MAX_PATTERNS]; VIEWS],
    pub(crate) sums: [[u8; 2]; VIEWS],
}

impl<'t> View16<'t> {
    fn new(view: View<'t>, twin: Option<View<'t>>) -> Self {
        let tables = view.tables();
        // Missing patterns are replaced by the first, which is never looked up for them.
        let mut lookups = std::array::from_fn(|pattern| tables.get(pattern).unwrap_or(&tables[0]).lookup_16());
        if let Some(twin) = &twin {
            lookups[TWIN] = twin.tables()[1].lookup_16();
        }
        Self { view, twin, lookups }
    }

    /// By twin partition, the pattern of a label; `None` if the tile is alone. If there is one partition, both are
    /// equal.
    #[inline(always)]
    fn patterns_of(&self, label: u8) -> [Option<usize>; 2] {
        let pattern = self.view.pattern(label);
        self.twin.as_ref().map_or([Some(pattern); 2], |twin| {
            [[Some(0), Some(1), None][pattern], [Some(0), Some(TWIN), None][twin.pattern(label)]]
        })
    }

    /// The [images](View::images) of two cells.
    #[inline]
    fn images(&self, pattern: usize, from: Cell, to: Cell) -> (Cell, Cell) {
        match &self.twin {
            Some(twin) if pattern == TWIN => twin.images(1, from, to),
            _ => self.view.images(pattern, from, to),
        }
    }

    /// Placement and cost of each pattern on a board, and the sum of the costs in each of twin partitions.
    fn evaluate(&self, state: &State<Packed64>) -> ([Entry16; MAX_PATTERNS], [u8; 2]) {
        let evaluate = |view: &View<'_>| {
            let (mut placed, mut sum) = ([Entry16::NONE; MAX_PATTERNS], 0);
            for (placed, entry) in placed.iter_mut().zip(view.entries(state)) {
                *placed = Entry16::from(entry);
                sum += entry.cost;
            }
            (placed, sum)
        };
        let (mut placed, sum) = evaluate(&self.view);
        let Some(twin) = &self.twin else { return (placed, [sum; 2]) };
        let (of_twin, sum_of_twin) = evaluate(twin);
        placed[TWIN] = of_twin[1];
        (placed, [sum, sum_of_twin])
    }
}

impl<'t> AdditivePatterns<'t> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// A single partition is used under two symmetries, if there are two. So are [twin
    /// partitions](Partition::are_twins). Two others are used as they are.
    ///
    /// # Panics
    /// If a partition has more than three patterns, or the board has more than sixteen cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        let all = |partitions| View::all(size, goal_blank, partitions, MAX_PATTERNS);
        let views = if Partition::are_twins(partitions) {
            let (first, second) = partitions.split_at(1);
            all(first).zip(all(second)).map(|(view, twin)| View16::new(view, Some(twin))).collect()
        } else {
            all(partitions).map(|view| View16::new(view, None)).collect()
        };
        Self { views, upgrade: Upgrade { size, goal_blank, source: None } }
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

    /// The views of a board in a single partition, or in the first of twin ones.
    pub(crate) fn views(&self) -> impl Iterator<Item = &View<'t>> {
        self.views.iter().map(|view| &view.view)
    }

    /// True if there are twin partitions.
    pub(crate) fn has_twins(&self) -> bool {
        self.views.iter().any(|view| view.twin.is_some())
    }

    /// The patterns of a label in a view, as [`View16::patterns_of`] returns them.
    pub(crate) fn patterns_of(&self, view: usize, label: u8) -> [Option<usize>; 2] {
        self.views[view].patterns_of(label)
    }

    /// The [images](View::images) of two cells in a view.
    pub(crate) fn images(&self, view: usize, pattern: usize, from: Cell, to: Cell) -> (Cell, Cell) {
        self.views[view].images(pattern, from, to)
    }

    /// Look-ups in a pattern's table; in any table, if there are fewer patterns.
    #[inline(always)]
    pub(crate) fn lookup(&self, view: usize, pattern: usize) -> Lookup16<'_> {
        self.views[view].lookups[pattern % MAX_PATTERNS]
    }

    /// Updates one view after a slide. Returns the larger sum of its costs.
    #[inline(always)]
    fn update(&self, costs: &mut Costs, view: usize, slide: &Slide) -> u32 {
        let (this, placed) = (&self.views[view], &mut costs.placed[view]);
        let distance = |cell| self.upgrade.size.distance(cell, slide.label) as u8;
        let mut change = |pattern: Option<usize>| {
            let Some(pattern) = pattern else { return distance(slide.to).wrapping_sub(distance(slide.from)) };
            let (from, to) = this.images(pattern, slide.from, slide.to);
            let before = placed[pattern].cost;
            placed[pattern] = self.lookup(view, pattern).follow(placed[pattern], &TileStep16::new(from, to));
            placed[pattern].cost.wrapping_sub(before)
        };
        let [pattern, twin] = this.patterns_of(slide.label);
        let first = change(pattern);
        let second = if twin == pattern { first } else { change(twin) };
        let sums = &mut costs.sums[view];
        *sums = [sums[0].wrapping_add(first), sums[1].wrapping_add(second)];
        u32::from(sums[0].max(sums[1]))
    }
}

impl Heuristic<Packed64> for AdditivePatterns<'_> {
    type Memo = Costs;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Packed64>) -> Costs {
        let mut costs = Costs { placed: [[Entry16::NONE; MAX_PATTERNS]; VIEWS], sums: [[0; 2]; VIEWS] };
        for (nth, view) in self.views.iter().enumerate() {
            (costs.placed[nth], costs.sums[nth]) = view.evaluate(state);
        }
        costs
    }

    #[inline]
    fn after(&self, mut memo: Costs, slide: &Slide, _: &State<Packed64>) -> Costs {
        for view in 0..self.views.len() {
            self.update(&mut memo, view, slide);
        }
        memo
    }

    #[inline]
    fn after_within(&self, memo: Costs, slide: &Slide, _: &State<Packed64>, limit: i32) -> Result<Costs, u32> {
        update_within(memo, self.views.len(), limit, |costs, view| self.update(costs, view, slide))
    }

    #[inline]
    fn h(&self, memo: Costs) -> u32 {
        memo.sums.as_flattened().iter().copied().max().map_or(0, u32::from)
    }

    fn parts(&self, state: &State<Packed64>) -> Vec<Part> {
        let views = self.views.iter().flat_map(|view| std::iter::once(&view.view).chain(&view.twin));
        parts_of_largest(views, state)
    }
}
