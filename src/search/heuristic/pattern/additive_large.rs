//! Sums of patterns' costs on boards of more than sixteen cells.

use super::cells::MAX_CELLS;
use super::database::{PatternTable, WideLookup};
use super::index_36::{Spot, Step};
use super::partition::Partition;
use super::symmetry::{Symmetry, VIEWS};
use crate::domain::{Cell, Move, Packed, Size};
use crate::search::heuristic::Heuristic;
use crate::search::{Slide, State};

/// What [`AdditivePatterns`](crate::search::heuristic::AdditivePatterns) are on smaller boards: the sum of disjoint patterns' costs (Korf &
/// Felner 2002), seen from two sides where the board has them; of at most `N` patterns.
#[derive(Clone, Debug)]
pub struct WidePatterns<'t, const N: usize> {
    views: Vec<View<'t>>,
}

#[derive(Clone, Debug)]
pub(in crate::search) struct View<'t> {
    way: Symmetry,
    /// By label, as it is before the symmetry takes it: the pattern that has it.
    pattern_of: [u8; MAX_CELLS],
    tables: &'t [PatternTable],
    lookups: Vec<WideLookup<'t>>,
    /// By the blank's cell and its move.
    steps: Vec<[Step; Move::ALL.len()]>,
}

/// What is remembered of a board: from each side where each pattern's tiles are and what they cost.
#[derive(Clone, Copy, Debug)]
pub struct WideCosts<const N: usize> {
    spots: [[Spot; N]; VIEWS],
    costs: [[u8; N]; VIEWS],
    sums: [u16; VIEWS],
}

impl<const N: usize> WideCosts<N> {
    /// Where the tiles of a pattern are and what they cost; nothing, where there are fewer patterns.
    pub(in crate::search) fn placed(&self, view: usize, pattern: usize) -> (Spot, u8) {
        if pattern < N { (self.spots[view][pattern], self.costs[view][pattern]) } else { (Spot::NOWHERE, 0) }
    }
}

impl<'t> View<'t> {
    /// The pattern that has a label.
    #[inline(always)]
    pub(in crate::search) fn pattern(&self, label: u8) -> usize {
        usize::from(self.pattern_of[usize::from(label)])
    }

    /// The look-ups of a pattern's table; of any, where there are fewer.
    #[inline(always)]
    pub(in crate::search) fn lookup(&self, pattern: usize) -> WideLookup<'t> {
        *self.lookups.get(pattern).unwrap_or(&self.lookups[0])
    }

    /// A tile's way between two cells.
    pub(in crate::search) fn step(&self, from: Cell, to: Cell) -> Step {
        Step::new(self.way.size(), self.way.cell(from), self.way.cell(to))
    }

    fn new(size: Size, goal_blank: Cell, way: Symmetry, partition: &'t Partition) -> Self {
        let tables = partition.tables();
        let has = |label: u8| move |table: &PatternTable| table.labels().contains(&label);
        let mut pattern_of = [0; MAX_CELLS];
        for label in (0..size.cells() as u8).filter(|label| *label != goal_blank) {
            let pattern = tables.iter().position(has(way.cell(label)));
            pattern_of[usize::from(label)] = pattern.expect("each tile is in a pattern") as u8;
        }
        let step = |to: Cell, mv: Move| {
            let from = size.neighbour(to, mv);
            from.map_or_else(Step::default, |from| Step::new(way.size(), way.cell(from), way.cell(to)))
        };
        let steps = (0..size.cells() as Cell).map(|to| Move::ALL.map(|mv| step(to, mv))).collect();
        Self { way, pattern_of, tables, lookups: tables.iter().map(PatternTable::wide_lookup).collect(), steps }
    }
}

impl<'t, const N: usize> WidePatterns<'t, N> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// A board is seen by each of them, and by one that is alone from two sides, if there are two.
    ///
    /// # Panics
    /// If a partition has more than `N` patterns, or the board no more than sixteen cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        assert!(partitions.iter().all(|partition| partition.tables().len() <= N), "too many patterns");
        let ways = partitions.iter().flat_map(|partition| {
            let ways = partition.class().ways_from(size, goal_blank).map(move |way| (way, partition));
            ways.take(if partitions.len() > 1 { 1 } else { VIEWS })
        });
        let views = ways.take(VIEWS).map(|(way, partition)| View::new(size, goal_blank, way, partition));
        Self { views: views.collect() }
    }

    #[inline(always)]
    pub(in crate::search) fn views(&self) -> &[View<'t>] {
        &self.views
    }

    /// How many patterns its partitions have at most.
    pub(in crate::search) fn most_patterns(&self) -> usize {
        self.views.iter().map(|view| view.tables.len()).max().unwrap_or(0)
    }

    /// Follows a slide in one view.
    #[inline(always)]
    fn follow(&self, costs: &mut WideCosts<N>, view: usize, slide: &Slide) {
        let looks = &self.views[view];
        let pattern = looks.pattern(slide.label);
        let step = &looks.steps[usize::from(slide.to)][slide.mv as usize];
        let (spot, before) = (costs.spots[view][pattern], costs.costs[view][pattern]);
        let (spot, cost) = looks.lookups[pattern].follow(spot, before, step);
        costs.spots[view][pattern] = spot;
        costs.costs[view][pattern] = cost;
        costs.sums[view] = costs.sums[view] + u16::from(cost) - u16::from(before);
    }
}

impl<P: Packed, const N: usize> Heuristic<P> for WidePatterns<'_, N> {
    type Memo = WideCosts<N>;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> WideCosts<N> {
        let mut costs = WideCosts { spots: [[Spot::NOWHERE; N]; VIEWS], costs: [[0; N]; VIEWS], sums: [0; VIEWS] };
        for (view, View { way, tables, .. }) in self.views.iter().enumerate() {
            let mut labels = [0; MAX_CELLS];
            for cell in 0..way.size().cells() as Cell {
                labels[usize::from(way.cell(cell))] = way.cell(state.tiles.get(cell));
            }
            for (pattern, table) in tables.iter().enumerate() {
                let found = table.find(|cell| labels[usize::from(cell)], way.cell(state.blank));
                costs.spots[view][pattern] = Spot::new(found.set, found.order);
                costs.costs[view][pattern] = found.cost;
                costs.sums[view] += u16::from(found.cost);
            }
        }
        costs
    }

    #[inline]
    fn after(&self, mut memo: WideCosts<N>, slide: &Slide, _: &State<P>) -> WideCosts<N> {
        for view in 0..self.views.len() {
            self.follow(&mut memo, view, slide);
        }
        memo
    }

    #[inline]
    fn after_within(
        &self,
        mut memo: WideCosts<N>,
        slide: &Slide,
        _: &State<P>,
        limit: i32,
    ) -> Result<WideCosts<N>, u32> {
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
    fn h(&self, memo: WideCosts<N>) -> u32 {
        memo.sums.into_iter().max().map_or(0, u32::from)
    }
}
