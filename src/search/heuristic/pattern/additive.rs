//! Sums of patterns' costs.

use super::database::{Lookup, PatternTable, Placed};
use super::index_16::{MAX_CELLS, Step};
use super::partition::Partition;
use super::symmetry::{Symmetry, VIEWS};
use crate::domain::{Cell, Packed, Size, Word};
use crate::search::heuristic::Heuristic;
use crate::search::{Slide, State};

/// The sum of disjoint patterns' costs (Korf & Felner 2002): every move is a move of one tile, so
/// costs of disjoint patterns add up.
///
/// Seen from two sides where the board has them, of which the larger sum counts: a board and its
/// reflection that keeps the blank's goal in its place have the same distance.
#[derive(Clone, Debug)]
pub struct AdditivePatterns<'t> {
    views: Vec<View<'t>>,
}

#[derive(Clone, Debug)]
pub(in crate::search) struct View<'t> {
    way: Symmetry,
    /// By label, as it is before the symmetry takes it: the pattern that has it.
    pattern_of: [u8; MAX_CELLS],
    tables: &'t [PatternTable],
    lookups: [Lookup<'t>; MAX_PATTERNS],
}

impl View<'_> {
    /// The pattern that has a label.
    #[inline(always)]
    pub(in crate::search) fn pattern(&self, label: u8) -> usize {
        usize::from(self.pattern_of[usize::from(label) % MAX_CELLS])
    }

    #[inline(always)]
    pub(in crate::search) fn lookup(&self, pattern: usize) -> Lookup<'_> {
        self.lookups[pattern % MAX_PATTERNS]
    }

    /// A tile's way between two cells.
    #[inline]
    pub(in crate::search) fn step(&self, from: Cell, to: Cell) -> Step {
        Step::new(self.way.size(), self.way.cell(from), self.way.cell(to))
    }
}

/// The most patterns of a partition.
pub(in crate::search) const MAX_PATTERNS: usize = 3;

/// What is remembered of a board: from each side where each pattern's tiles are and what they cost.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    pub(in crate::search) placed: [[Placed; MAX_PATTERNS]; VIEWS],
    pub(in crate::search) sums: [u8; VIEWS],
}

impl<'t> AdditivePatterns<'t> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// A board is seen by each of them, and by one that is alone from two sides, if there are two.
    ///
    /// # Panics
    /// If a partition has more patterns than boards of at most sixteen cells need, or the board more cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        assert!(partitions.iter().all(|partition| partition.tables().len() <= MAX_PATTERNS), "too many patterns");
        let ways = partitions.iter().flat_map(|partition| {
            let ways = partition.class().ways_from(size, goal_blank).map(move |way| (way, partition));
            ways.take(if partitions.len() > 1 { 1 } else { VIEWS })
        });
        let views = ways.take(VIEWS).map(|(way, partition)| {
            let has = |label: u8| move |table: &PatternTable| table.labels().contains(&label);
            let mut pattern_of = [0; MAX_CELLS];
            for label in (0..size.cells() as u8).filter(|label| *label != goal_blank) {
                let pattern = partition.tables().iter().position(has(way.cell(label)));
                pattern_of[usize::from(label)] = pattern.expect("each tile is in a pattern") as u8;
            }
            // Where there are fewer patterns the first stands in, and is never asked.
            let lookups =
                std::array::from_fn(|at| partition.tables().get(at).unwrap_or(&partition.tables()[0]).lookup());
            View { way, pattern_of, tables: partition.tables(), lookups }
        });
        Self { views: views.collect() }
    }

    #[inline(always)]
    pub(in crate::search) fn views(&self) -> &[View<'t>] {
        &self.views
    }

    /// Follows a slide in one view.
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

impl Heuristic<Word> for AdditivePatterns<'_> {
    type Memo = Costs;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<Word>) -> Costs {
        let mut costs = Costs { placed: [[Placed::NOWHERE; MAX_PATTERNS]; VIEWS], sums: [0; VIEWS] };
        for (view, View { way, tables, .. }) in self.views.iter().enumerate() {
            let mut labels = [0; MAX_CELLS];
            for cell in 0..way.size().cells() as Cell {
                labels[usize::from(way.cell(cell))] = way.cell(state.tiles.get(cell));
            }
            for (pattern, table) in tables.iter().enumerate() {
                let placed = Placed::from(table.find(|cell| labels[usize::from(cell)], way.cell(state.blank)));
                costs.placed[view][pattern] = placed;
                costs.sums[view] += placed.cost;
            }
        }
        costs
    }

    #[inline]
    fn after(&self, mut memo: Costs, slide: &Slide, _: &State<Word>) -> Costs {
        for view in 0..self.views.len() {
            self.follow(&mut memo, view, slide);
        }
        memo
    }

    #[inline]
    fn after_within(&self, mut memo: Costs, slide: &Slide, _: &State<Word>, limit: i32) -> Result<Costs, u32> {
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
