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
/// Boards are looked up under two symmetries where the goal has them, and the largest sum counts: a board and its
/// reflection that keeps the blank's goal cell have the same distance. There may be a second partition that shares the
/// first pattern, so that a tile of that pattern needs one look-up for both. The tile that is alone in a partition needs
/// none, because its cost is its distance.
#[derive(Clone, Debug)]
pub struct AdditivePatterns<'t> {
    views: Vec<View16<'t>>,
    upgrade: Upgrade<'t>,
}

#[derive(Clone, Debug)]
struct View16<'t> {
    view: View<'t>,
    /// The second partition.
    alternative: Option<View<'t>>,
    /// By pattern. If there is a second partition, its second pattern replaces the tile that is alone in the first.
    lookups: [Lookup16<'t>; MAX_PATTERNS],
}

/// Maximum number of patterns in a partition.
pub(crate) const MAX_PATTERNS: usize = 3;

/// Index of the second partition's second pattern among the patterns of a view.
const ALTERNATIVE: usize = 2;

/// By view: placement and cost of each pattern, and the sum of the costs in each partition. If there is one partition,
/// both sums are equal.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    pub(crate) placed: [[Entry16; MAX_PATTERNS]; VIEWS],
    pub(crate) sums: [[u8; 2]; VIEWS],
}

impl<'t> View16<'t> {
    fn new(view: View<'t>, alternative: Option<View<'t>>) -> Self {
        let tables = view.tables();
        // Missing patterns are replaced by the first, which is never looked up for them.
        let mut lookups = std::array::from_fn(|pattern| tables.get(pattern).unwrap_or(&tables[0]).lookup_16());
        if let Some(alternative) = &alternative {
            lookups[ALTERNATIVE] = alternative.tables()[1].lookup_16();
        }
        Self { view, alternative, lookups }
    }

    /// The patterns of a label in both partitions.
    #[inline(always)]
    fn patterns(&self, label: u8) -> (usize, Option<usize>) {
        (self.view.pattern(label), self.alternative.as_ref().map(|view| view.pattern(label)))
    }

    /// Updates costs after a slide of a tile of a pattern. Returns the change, modulo 256.
    #[inline(always)]
    fn follow(&self, placed: &mut [Entry16; MAX_PATTERNS], pattern: usize, slide: &Slide) -> u8 {
        let (size, from, to) = self.view.images(slide.from, slide.to);
        let placed = &mut placed[pattern];
        let before = placed.cost;
        *placed = self.lookups[pattern % MAX_PATTERNS].follow(*placed, &TileStep16::new(size, from, to));
        placed.cost.wrapping_sub(before)
    }

    /// The change of the distance of a tile from its goal cell after a slide, modulo 256.
    #[inline]
    fn change_of_distance(&self, slide: &Slide) -> u8 {
        let (size, from, to) = self.view.images(slide.from, slide.to);
        let (_, goal, _) = self.view.images(slide.label, slide.label);
        (size.distance(to, goal) as u8).wrapping_sub(size.distance(from, goal) as u8)
    }
}

impl<'t> AdditivePatterns<'t> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// Two partitions are used as they are. A single one is used under two symmetries, if there are two. So are two that
    /// [share their first pattern](Partition::are_twins).
    ///
    /// # Panics
    /// If a partition has more than three patterns, or the board has more than sixteen cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        let all = |partitions| View::all(size, goal_blank, partitions, MAX_PATTERNS);
        let views = match partitions {
            [first, _] if Partition::are_twins(partitions) => {
                let (first, second) = (std::slice::from_ref(first), &partitions[1..]);
                all(first).zip(all(second)).map(|(view, second)| View16::new(view, Some(second))).collect()
            }
            _ => all(partitions).map(|view| View16::new(view, None)).collect(),
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

    /// The views of a board in the first partition, or in the only one.
    pub(crate) fn views(&self) -> impl Iterator<Item = &View<'t>> {
        self.views.iter().map(|view| &view.view)
    }

    /// True if there is a second partition that shares the first pattern.
    pub(crate) fn has_alternatives(&self) -> bool {
        self.views.iter().any(|view| view.alternative.is_some())
    }

    /// The patterns of a label in the first partition and, if there is one, in the second.
    pub(crate) fn patterns_of(&self, view: usize, label: u8) -> (usize, Option<usize>) {
        self.views[view].patterns(label)
    }

    /// By partition, the goal cell of the tile that is alone in it, under the symmetry of a view; `None` without a second
    /// partition.
    pub(crate) fn single(&self, view: usize) -> [Option<Cell>; 2] {
        let View16 { view, alternative, .. } = &self.views[view];
        let single = |view: &View<'_>| view.tables()[2].labels()[0];
        alternative.as_ref().map_or([None; 2], |second| [Some(single(view)), Some(single(second))])
    }

    /// Look-ups in a pattern's table; in any table, if there are fewer patterns. If there is a second partition, its
    /// second pattern has the index 2.
    #[inline(always)]
    pub(crate) fn lookup(&self, view: usize, pattern: usize) -> Lookup16<'_> {
        self.views[view].lookups[pattern % MAX_PATTERNS]
    }

    /// Updates one view after a slide. Returns the larger sum of its costs.
    #[inline(always)]
    fn update(&self, costs: &mut Costs, view: usize, slide: &Slide) -> u32 {
        let this = &self.views[view];
        let placed = &mut costs.placed[view];
        let changes = match this.patterns(slide.label) {
            (pattern, None) => [this.follow(placed, pattern, slide); 2],
            (0, Some(_)) => [this.follow(placed, 0, slide); 2],
            (first, Some(second)) => {
                let mut change = |is_alone: bool, pattern| match is_alone {
                    true => this.change_of_distance(slide),
                    false => this.follow(placed, pattern, slide),
                };
                [change(first == 2, 1), change(second == 2, ALTERNATIVE)]
            }
        };
        let sums = &mut costs.sums[view];
        *sums = [sums[0].wrapping_add(changes[0]), sums[1].wrapping_add(changes[1])];
        u32::from(sums[0].max(sums[1]))
    }
}

impl Heuristic<Packed64> for AdditivePatterns<'_> {
    type Memo = Costs;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Packed64>) -> Costs {
        let mut costs = Costs { placed: [[Entry16::NONE; MAX_PATTERNS]; VIEWS], sums: [[0; 2]; VIEWS] };
        for (nth, View16 { view, alternative, .. }) in self.views.iter().enumerate() {
            let place = |placed: &mut [Entry16; MAX_PATTERNS], view: &View<'_>| {
                placed
                    .iter_mut()
                    .zip(view.entries(state))
                    .map(|(placed, entry)| {
                        *placed = Entry16::from(entry);
                        entry.cost
                    })
                    .sum::<u8>()
            };
            costs.sums[nth] = [place(&mut costs.placed[nth], view); 2];
            if let Some(second) = alternative {
                let mut placed = [Entry16::NONE; MAX_PATTERNS];
                costs.sums[nth][1] = place(&mut placed, second);
                costs.placed[nth][ALTERNATIVE] = placed[1];
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
        memo.sums.as_flattened().iter().copied().max().map_or(0, u32::from)
    }

    fn parts(&self, state: &State<Packed64>) -> Vec<Part> {
        let views = self.views.iter().flat_map(|view| std::iter::once(&view.view).chain(&view.alternative));
        parts_of_largest(views, state)
    }
}
