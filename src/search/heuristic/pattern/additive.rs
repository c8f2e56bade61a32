//! Additive pattern databases on boards of at most sixteen cells.

use super::database::{Entry16, Lookup16, PatternTable};
use super::index_16::{MAX_CELLS, TileStep16};
use super::partition::Partition;
use super::symmetry::{Symmetry, VIEWS};
use crate::domain::{Cell, Packed, Packed64, Size};
use crate::search::heuristic::Heuristic;
use crate::search::{Slide, State};

/// The sum of the costs of disjoint patterns (Korf & Felner 2002). Every move moves one tile, so costs of disjoint
/// patterns add up.
///
/// Boards are looked up under two symmetries where the goal has them, and the larger sum counts: a board and its
/// reflection that keeps the blank's goal cell have the same distance.
#[derive(Clone, Debug)]
pub struct AdditivePatterns<'t> {
    views: Vec<View16<'t>>,
}

#[derive(Clone, Debug)]
pub(crate) struct View16<'t> {
    symmetry: Symmetry,
    /// By label, before the symmetry: the pattern that contains it.
    pattern_of: [u8; MAX_CELLS],
    tables: &'t [PatternTable],
    lookups: [Lookup16<'t>; MAX_PATTERNS],
}

impl View16<'_> {
    /// The pattern of a label.
    #[inline(always)]
    pub(crate) fn pattern(&self, label: u8) -> usize {
        usize::from(self.pattern_of[usize::from(label) % MAX_CELLS])
    }

    #[inline(always)]
    pub(crate) fn lookup(&self, pattern: usize) -> Lookup16<'_> {
        self.lookups[pattern % MAX_PATTERNS]
    }

    /// A tile's move between two cells.
    #[inline]
    pub(crate) fn step(&self, from: Cell, to: Cell) -> TileStep16 {
        TileStep16::new(self.symmetry.size(), self.symmetry.cell(from), self.symmetry.cell(to))
    }
}

/// Maximum number of patterns in a partition.
pub(crate) const MAX_PATTERNS: usize = 3;

/// By view: placement and cost of each pattern, and the sum of the costs.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    pub(crate) placed: [[Entry16; MAX_PATTERNS]; VIEWS],
    pub(crate) sums: [u8; VIEWS],
}

impl<'t> AdditivePatterns<'t> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// Two partitions are used as they are; a single one is used under two symmetries, if there are two.
    ///
    /// # Panics
    /// If a partition has too many patterns, or the board has more than sixteen cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        assert!(partitions.iter().all(|partition| partition.tables().len() <= MAX_PATTERNS), "too many patterns");
        let symmetries = partitions.iter().flat_map(|partition| {
            let symmetries =
                partition.class().symmetries_from(size, goal_blank).map(move |symmetry| (symmetry, partition));
            symmetries.take(if partitions.len() > 1 { 1 } else { VIEWS })
        });
        let views = symmetries.take(VIEWS).map(|(symmetry, partition)| {
            let has = |label: u8| move |table: &PatternTable| table.labels().contains(&label);
            let mut pattern_of = [0; MAX_CELLS];
            for label in (0..size.cells() as u8).filter(|label| *label != goal_blank) {
                let pattern = partition.tables().iter().position(has(symmetry.cell(label)));
                pattern_of[usize::from(label)] = pattern.expect("each tile is in a pattern") as u8;
            }
            // Missing patterns are replaced by the first, which is never looked up for them.
            let lookups =
                std::array::from_fn(|at| partition.tables().get(at).unwrap_or(&partition.tables()[0]).lookup_16());
            View16 { symmetry, pattern_of, tables: partition.tables(), lookups }
        });
        Self { views: views.collect() }
    }

    #[inline(always)]
    pub(crate) fn views(&self) -> &[View16<'t>] {
        &self.views
    }

    /// Updates one view after a slide.
    #[inline(always)]
    fn follow(&self, costs: &mut Costs, view: usize, slide: &Slide) {
        let looks = &self.views[view];
        let pattern = looks.pattern(slide.label);
        let placed = &mut costs.placed[view][pattern];
        let before = placed.cost;
        *placed = looks.lookup(pattern).follow(*placed, &looks.step(slide.from, slide.to));
        costs.sums[view] = costs.sums[view].wrapping_add(placed.cost.wrapping_sub(before));
    }
}

impl Heuristic<Packed64> for AdditivePatterns<'_> {
    type Memo = Costs;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Packed64>) -> Costs {
        let mut costs = Costs { placed: [[Entry16::NOWHERE; MAX_PATTERNS]; VIEWS], sums: [0; VIEWS] };
        for (view, View16 { symmetry, tables, .. }) in self.views.iter().enumerate() {
            let mut labels = [0; MAX_CELLS];
            for cell in 0..symmetry.size().cells() as Cell {
                labels[usize::from(symmetry.cell(cell))] = symmetry.cell(state.tiles.get(cell));
            }
            for (pattern, table) in tables.iter().enumerate() {
                let placed = Entry16::from(table.find(|cell| labels[usize::from(cell)], symmetry.cell(state.blank)));
                costs.placed[view][pattern] = placed;
                costs.sums[view] += placed.cost;
            }
        }
        costs
    }

    #[inline]
    fn after(&self, mut memo: Costs, slide: &Slide, _: &State<Packed64>) -> Costs {
        for view in 0..self.views.len() {
            self.follow(&mut memo, view, slide);
        }
        memo
    }

    #[inline]
    fn after_within(&self, mut memo: Costs, slide: &Slide, _: &State<Packed64>, limit: i32) -> Result<Costs, u32> {
        for view in 0..self.views.len() {
            self.follow(&mut memo, view, slide);
            let sum = u32::from(memo.sums[view]);
            if sum as i32 > limit {
                return Err(sum);
            }
        }
        Ok(memo)
    }

    #[inline]
    fn h(&self, memo: Costs) -> u32 {
        memo.sums.into_iter().max().map_or(0, u32::from)
    }
}
