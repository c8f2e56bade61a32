//! Additive pattern databases on boards of at most sixteen cells.

use super::database::{Entry16, Lookup16};
use super::index_16::TileStep16;
use super::partition::{Partition, Tier};
use super::symmetry::VIEWS;
use super::upgrade::{TableUpgrade, Upgrade};
use super::view::{View, parts_of_largest, update_within};
use crate::domain::{Cell, Packed64, Size};
use crate::search::heuristic::{Heuristic, Part};
use crate::search::{Slide, State};

/// The sum of the costs of disjoint patterns (Korf & Felner 2002). Every move moves one tile, so costs of disjoint
/// patterns add up.
///
/// Boards are looked up under two symmetries where the goal has them, and the larger sum counts: a board and its
/// reflection that keeps the blank's goal cell have the same distance.
#[derive(Clone, Debug)]
pub struct AdditivePatterns<'t> {
    views: Vec<View16<'t>>,
    upgrade: Upgrade<'t>,
}

#[derive(Clone, Debug)]
struct View16<'t> {
    view: View<'t>,
    lookups: [Lookup16<'t>; MAX_PATTERNS],
}

/// Maximum number of patterns in a partition.
pub(crate) const MAX_PATTERNS: usize = 3;

/// By view: placement and cost of each pattern, and the sum of the costs.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    pub(crate) placed: [[Entry16; MAX_PATTERNS]; VIEWS],
    sums: [u8; VIEWS],
}

impl<'t> AdditivePatterns<'t> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// Two partitions are used as they are. A single one is used under two symmetries, if there are two.
    ///
    /// # Panics
    /// If a partition has more than three patterns, or the board has more than sixteen cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        let views = View::all(size, goal_blank, partitions, MAX_PATTERNS).map(|view| {
            let tables = view.tables();
            // Missing patterns are replaced by the first, which is never looked up for them.
            let lookups = std::array::from_fn(|pattern| tables.get(pattern).unwrap_or(&tables[0]).lookup_16());
            View16 { view, lookups }
        });
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

    /// Look-ups in a pattern's table; in any table, if there are fewer patterns.
    #[inline(always)]
    pub(crate) fn lookup(&self, view: usize, pattern: usize) -> Lookup16<'_> {
        self.views[view].lookups[pattern % MAX_PATTERNS]
    }

    /// Updates one view after a slide. Returns the sum of its costs.
    #[inline(always)]
    fn update(&self, costs: &mut Costs, view: usize, slide: &Slide) -> u32 {
        let this = &self.views[view].view;
        let pattern = this.pattern(slide.label);
        let (size, from, to) = this.images(pattern, slide.from, slide.to);
        let placed = &mut costs.placed[view][pattern];
        let before = placed.cost;
        *placed = self.lookup(view, pattern).follow(*placed, &TileStep16::new(size, from, to));
        costs.sums[view] = costs.sums[view].wrapping_add(placed.cost.wrapping_sub(before));
        u32::from(costs.sums[view])
    }
}

impl Heuristic<Packed64> for AdditivePatterns<'_> {
    type Memo = Costs;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Packed64>) -> Costs {
        let mut costs = Costs { placed: [[Entry16::NONE; MAX_PATTERNS]; VIEWS], sums: [0; VIEWS] };
        for (view, this) in self.views().enumerate() {
            for (pattern, entry) in this.entries(state).enumerate() {
                costs.placed[view][pattern] = Entry16::from(entry);
                costs.sums[view] += entry.cost;
            }
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
        memo.sums.into_iter().max().map_or(0, u32::from)
    }

    fn parts(&self, state: &State<Packed64>) -> Vec<Part> {
        parts_of_largest(self.views(), state)
    }
}
