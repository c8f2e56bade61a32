//! Additive pattern databases on boards of more than sixteen cells.

use super::cells::MAX_CELLS;
use super::database::{Lookup36, PatternTable};
use super::index_36::{Placement36, TileStep36};
use super::partition::Partition;
use super::symmetry::{Symmetry, VIEWS};
use crate::domain::{Cell, Move, Packed, Size};
use crate::search::heuristic::Heuristic;
use crate::search::{Slide, State};

/// The sum of the costs of at most `N` disjoint patterns (Korf & Felner 2002), under two symmetries where the goal
/// has them. The counterpart of [`AdditivePatterns`](super::AdditivePatterns) for larger boards.
#[derive(Clone, Debug)]
pub struct LargeAdditivePatterns<'t, const N: usize> {
    views: Vec<View36<'t>>,
}

#[derive(Clone, Debug)]
pub(crate) struct View36<'t> {
    symmetry: Symmetry,
    /// By label, before the symmetry: the pattern that contains it.
    pattern_of: [u8; MAX_CELLS],
    tables: &'t [PatternTable],
    lookups: Vec<Lookup36<'t>>,
    /// By the blank's cell and its move.
    steps: Vec<[TileStep36; Move::ALL.len()]>,
}

/// By view: placement and cost of each pattern, and the sum of the costs.
#[derive(Clone, Copy, Debug)]
pub struct LargeCosts<const N: usize> {
    placements: [[Placement36; N]; VIEWS],
    costs: [[u8; N]; VIEWS],
    sums: [u16; VIEWS],
}

impl<const N: usize> LargeCosts<N> {
    /// Placement and cost of a pattern's tiles; none if there are fewer patterns.
    pub(crate) fn placed(&self, view: usize, pattern: usize) -> (Placement36, u8) {
        if pattern < N {
            (self.placements[view][pattern], self.costs[view][pattern])
        } else {
            (Placement36::NOWHERE, 0)
        }
    }
}

impl<'t> View36<'t> {
    /// The pattern of a label.
    #[inline(always)]
    pub(crate) fn pattern(&self, label: u8) -> usize {
        usize::from(self.pattern_of[usize::from(label)])
    }

    /// Look-ups in a pattern's table; in any, if there are fewer patterns.
    #[inline(always)]
    pub(crate) fn lookup(&self, pattern: usize) -> Lookup36<'t> {
        *self.lookups.get(pattern).unwrap_or(&self.lookups[0])
    }

    /// A tile's move between two cells.
    pub(crate) fn step(&self, from: Cell, to: Cell) -> TileStep36 {
        TileStep36::new(self.symmetry.size(), self.symmetry.cell(from), self.symmetry.cell(to))
    }

    fn new(size: Size, goal_blank: Cell, symmetry: Symmetry, partition: &'t Partition) -> Self {
        let tables = partition.tables();
        let has = |label: u8| move |table: &PatternTable| table.labels().contains(&label);
        let mut pattern_of = [0; MAX_CELLS];
        for label in (0..size.cells() as u8).filter(|label| *label != goal_blank) {
            let pattern = tables.iter().position(has(symmetry.cell(label)));
            pattern_of[usize::from(label)] = pattern.expect("each tile is in a pattern") as u8;
        }
        let step = |to: Cell, mv: Move| {
            let from = size.neighbour(to, mv);
            from.map_or_else(TileStep36::default, |from| {
                TileStep36::new(symmetry.size(), symmetry.cell(from), symmetry.cell(to))
            })
        };
        let steps = (0..size.cells() as Cell).map(|to| Move::ALL.map(|mv| step(to, mv))).collect();
        Self { symmetry, pattern_of, tables, lookups: tables.iter().map(PatternTable::lookup_36).collect(), steps }
    }
}

impl<'t, const N: usize> LargeAdditivePatterns<'t, N> {
    /// For boards of a shape and goal of the partitions' class.
    ///
    /// Two partitions are used as they are; a single one is used under two symmetries, if there are two.
    ///
    /// # Panics
    /// If a partition has more than `N` patterns, or the board has at most sixteen cells.
    pub fn new(size: Size, goal_blank: Cell, partitions: &'t [Partition]) -> Self {
        assert!(partitions.iter().all(|partition| partition.tables().len() <= N), "too many patterns");
        let symmetries = partitions.iter().flat_map(|partition| {
            let symmetries =
                partition.class().symmetries_from(size, goal_blank).map(move |symmetry| (symmetry, partition));
            symmetries.take(if partitions.len() > 1 { 1 } else { VIEWS })
        });
        let views =
            symmetries.take(VIEWS).map(|(symmetry, partition)| View36::new(size, goal_blank, symmetry, partition));
        Self { views: views.collect() }
    }

    #[inline(always)]
    pub(crate) fn views(&self) -> &[View36<'t>] {
        &self.views
    }

    /// The number of patterns of the largest partition.
    pub(crate) fn most_patterns(&self) -> usize {
        self.views.iter().map(|view| view.tables.len()).max().unwrap_or(0)
    }

    /// Updates one view after a slide.
    #[inline(always)]
    fn follow(&self, costs: &mut LargeCosts<N>, view: usize, slide: &Slide) {
        let looks = &self.views[view];
        let pattern = looks.pattern(slide.label);
        let step = &looks.steps[usize::from(slide.to)][slide.mv as usize];
        let (placement, before) = (costs.placements[view][pattern], costs.costs[view][pattern]);
        let (placement, cost) = looks.lookups[pattern].follow(placement, before, step);
        costs.placements[view][pattern] = placement;
        costs.costs[view][pattern] = cost;
        costs.sums[view] = costs.sums[view] + u16::from(cost) - u16::from(before);
    }
}

impl<P: Packed, const N: usize> Heuristic<P> for LargeAdditivePatterns<'_, N> {
    type Memo = LargeCosts<N>;

    const ADMISSIBLE: bool = true;

    fn evaluate(&self, state: &State<P>) -> LargeCosts<N> {
        let mut costs =
            LargeCosts { placements: [[Placement36::NOWHERE; N]; VIEWS], costs: [[0; N]; VIEWS], sums: [0; VIEWS] };
        for (view, View36 { symmetry, tables, .. }) in self.views.iter().enumerate() {
            let mut labels = [0; MAX_CELLS];
            for cell in 0..symmetry.size().cells() as Cell {
                labels[usize::from(symmetry.cell(cell))] = symmetry.cell(state.tiles.get(cell));
            }
            for (pattern, table) in tables.iter().enumerate() {
                let found = table.find(|cell| labels[usize::from(cell)], symmetry.cell(state.blank));
                costs.placements[view][pattern] = Placement36::new(found.set, found.order);
                costs.costs[view][pattern] = found.cost;
                costs.sums[view] += u16::from(found.cost);
            }
        }
        costs
    }

    #[inline]
    fn after(&self, mut memo: LargeCosts<N>, slide: &Slide, _: &State<P>) -> LargeCosts<N> {
        for view in 0..self.views.len() {
            self.follow(&mut memo, view, slide);
        }
        memo
    }

    #[inline]
    fn after_within(
        &self,
        mut memo: LargeCosts<N>,
        slide: &Slide,
        _: &State<P>,
        limit: i32,
    ) -> Result<LargeCosts<N>, u32> {
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
    fn h(&self, memo: LargeCosts<N>) -> u32 {
        memo.sums.into_iter().max().map_or(0, u32::from)
    }
}
