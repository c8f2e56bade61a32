//! Stages of a solution. No stage undoes an earlier one.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::neighbor_costs::{AroundBlank, NeighborCosts};
use super::outer_lines::OuterLines;
use super::outer_lines::{cells_of, set_of};
use super::stage::{Stage, Tiles};
use crate::domain::{Cell, Packed, Size};
use crate::search::beam::{ExpandedBoard, Guide, Score};
use crate::search::{Meter, Slide, State, StopReason};

/// A sequence of stages. Each places two tiles, outer lines first, and closes their cells.
///
/// A table holds the exact number of moves that bring a stage's tiles home without entering closed cells. So some move
/// always leads nearer, and a beam never gets stuck. Costs of distances attract the other tiles, so that distant tiles
/// move along; costs of adjacent tiles apply to all tiles (ADR 8).
///
/// The tables take up to 13 MB and a tenth of a second on one core. They are built on first use.
#[derive(Debug)]
pub struct Stages {
    size: Size,
    goal_blank: Cell,
    stages: Vec<Stage>,
    /// Cost of a tile's distance, by its goal cell and its cell.
    distance_costs: Box<[[u16; Size::MAX_CELLS]; Size::MAX_CELLS]>,
    neighbor_costs: NeighborCosts,
}

/// Position of a board within the stages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StagePosition {
    stage: u8,
    /// Number of moves for the stage's tiles.
    moves: u8,
    /// Cells of the stage's tiles.
    at: Tiles,
    /// Sum of the costs of the distances of all other tiles that belong in open cells, and of all
    /// [`NeighborCosts`].
    rest: i32,
}

impl Stages {
    /// Initial weight of a move of the stage's tiles.
    const URGENCY: u32 = 7;
    /// Number of levels without a new stage after which the weight rises by one.
    const URGENCY_INTERVAL: usize = 14;
    /// Added to keys, since sums of [`NeighborCosts`] may be negative.
    const KEY_OFFSET: i32 = 1 << 13;

    /// Stages for boards of a shape and goal, without tables.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        let mut open = set_of(0..size.cells() as Cell);
        let mut stages = Vec::new();
        let mut lines = OuterLines::new(size, goal_blank, 2);
        for line in &mut lines {
            // A line's last two tiles must be placed together.
            let (singles, pairs) = line.cells.split_at(line.cells.len() % 2);
            let singles = singles.iter().map(|cell| [*cell; 2]);
            for tiles in singles.chain(pairs.chunks(2).map(|pair| [pair[0], pair[1]])) {
                stages.push(Stage::new(size, tiles, open, None));
                open &= !set_of(tiles);
            }
        }
        // Of the last three tiles, placing two and the blank leaves one cell for the third.
        let mut last = cells_of(open).filter(|cell| *cell != goal_blank);
        let tiles = [last.next(), last.next()].map(|cell| cell.expect("two cells a side are left"));
        stages.push(Stage::new(size, tiles, open, Some(goal_blank)));
        let (distance_costs, neighbor_costs) = (Self::distance_costs(size), NeighborCosts::new(size, goal_blank));
        Self { size, goal_blank, stages, distance_costs, neighbor_costs }
    }

    /// The shape of the boards.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The blank's goal cell.
    pub fn goal_blank(&self) -> Cell {
        self.goal_blank
    }

    /// True if the stages are for this shape and goal.
    pub fn serves(&self, size: Size, goal_blank: Cell) -> bool {
        (self.size, self.goal_blank) == (size, goal_blank)
    }

    /// Memory in bytes once all tables are built.
    pub fn bytes(&self) -> u64 {
        let tables: usize = self.stages.iter().map(|stage| size_of::<Stage>() + stage.bytes()).sum();
        (size_of::<Self>() + size_of_val(&*self.distance_costs) + NeighborCosts::BYTES + tables) as u64
    }

    /// Maximum memory of all tables for boards of a shape, in bytes.
    pub(crate) fn most_bytes(size: Size) -> u64 {
        let cells = size.cells() as u64;
        // Each stage closes two cells, or one cell with a small table. So the tables have at most as many entries as
        // the sum of every other cube.
        let tables = cells.pow(4) / 8 + cells.pow(3);
        let beside =
            size_of::<Self>() + 2 * Size::MAX_CELLS.pow(2) + NeighborCosts::BYTES + size.cells() * size_of::<Stage>();
        tables + beside as u64
    }

    /// Builds missing tables, with the help of idle threads if there are any.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub(crate) fn prepare(&self, meter: &Meter<'_>) -> Result<(), StopReason> {
        let check_budget = || {
            meter.pause();
            meter.check()
        };
        if let Some(helpers) = meter.helpers().filter(|_| !self.stages.iter().all(Stage::is_built)) {
            let next = AtomicUsize::new(0);
            let take = || self.stages.get(next.fetch_add(1, Ordering::Relaxed));
            // An error here is found again below, where tables that are still missing are built.
            helpers.work(
                &mut |request_help| {
                    let _ = std::iter::from_fn(take).try_for_each(|stage| {
                        request_help();
                        stage.build(check_budget)
                    });
                },
                &|must_yield| {
                    let check_budget = || if must_yield() { Err(StopReason::Cancelled) } else { meter.check() };
                    let _ = std::iter::from_fn(take).try_for_each(|stage| stage.build(check_budget));
                },
            );
        }
        self.stages.iter().try_for_each(|stage| stage.build(check_budget))
    }

    /// Skips completed stages. `None` if the next stage cannot be solved.
    fn skip_completed(
        &self,
        mut position: StagePosition,
        blank: Cell,
        cell_of: impl Fn(u8) -> Cell,
    ) -> Option<StagePosition> {
        loop {
            let stage = &self.stages[usize::from(position.stage)];
            // No table is needed for tiles in place.
            position.moves = if stage.is_done(position.at) { 0 } else { stage.moves(blank, position.at) };
            if position.moves == Stage::UNREACHABLE {
                return None;
            }
            if position.moves > 0 || usize::from(position.stage) + 1 == self.stages.len() {
                return Some(position);
            }
            position.stage += 1;
            position = self.enter(position, &cell_of);
        }
    }

    /// Locates the tiles of a new stage. They no longer count among the rest.
    fn enter(&self, position: StagePosition, cell_of: impl Fn(u8) -> Cell) -> StagePosition {
        let stage = &self.stages[usize::from(position.stage)];
        let at = stage.tiles.map(cell_of);
        let counted = stage.tiles.into_iter().zip(at).take(if stage.is_single() { 1 } else { 2 });
        let counted: i32 = counted.map(|(tile, cell)| self.distance_cost(tile, cell)).sum();
        StagePosition { at, rest: position.rest - counted, ..position }
    }

    /// The position after a slide on the board `before`; `None` if the slide is not allowed.
    fn position_after<P: Packed>(
        &self,
        mut position: StagePosition,
        slide: &Slide,
        before: &State<P>,
        around: &AroundBlank,
    ) -> Option<StagePosition> {
        let stage = &self.stages[usize::from(position.stage)];
        if !stage.is_open(slide.from) {
            return None;
        }
        position.rest += self.neighbor_costs.change(before, around, slide);
        let mut is_of_stage = false;
        for (tile, at) in stage.tiles.iter().zip(&mut position.at) {
            if *tile == slide.label {
                *at = slide.to;
                is_of_stage = true;
            }
        }
        if !is_of_stage {
            position.rest += self.distance_cost(slide.label, slide.to) - self.distance_cost(slide.label, slide.from);
        }
        self.skip_completed(position, slide.from, |tile| {
            if tile == slide.label { slide.to } else { self.cell_of(before, tile) }
        })
    }

    fn cell_of<P: Packed>(&self, state: &State<P>, tile: u8) -> Cell {
        let mut cells = (0..self.size.cells() as Cell).filter(|cell| *cell != state.blank);
        cells.find(|cell| state.tiles.get(*cell) == tile).expect("every tile is on the board")
    }

    /// Table of the costs of distances, each of them along rows and columns.
    ///
    /// About 15-puzzles, the regression of [`NeighborCosts`] gives 6, 25 and 55 for distances of one to three; beams on
    /// larger boards find shorter solutions with a little less. The cost grows by the square, so that distant tiles
    /// move along.
    fn distance_costs(size: Size) -> Box<[[u16; Size::MAX_CELLS]; Size::MAX_CELLS]> {
        let cost = |distance: usize| if distance == 0 { 0 } else { 5 * distance * distance + 2 * distance - 4 };
        let mut costs = Box::new([[0; Size::MAX_CELLS]; Size::MAX_CELLS]);
        for tile in 0..size.cells() as Cell {
            for cell in 0..size.cells() as Cell {
                let rows = size.row_of(tile).abs_diff(size.row_of(cell));
                let cols = size.col_of(tile).abs_diff(size.col_of(cell));
                costs[usize::from(tile)][usize::from(cell)] = (cost(rows) + cost(cols)) as u16;
            }
        }
        costs
    }

    #[inline]
    fn distance_cost(&self, tile: u8, cell: Cell) -> i32 {
        i32::from(self.distance_costs[usize::from(tile)][usize::from(cell)])
    }
}

impl<P: Packed> Guide<P> for Stages {
    type Memo = StagePosition;
    type Note = StagePosition;

    const SHARES: usize = 10;
    // The first half of a solution decides about its length.
    const FIRST_LEVEL: usize = 5;
    const TIE_BITS: u32 = 0;

    fn begin(&self, start: &State<P>) -> (StagePosition, StagePosition) {
        let cells = (0..self.size.cells() as Cell).filter(|cell| *cell != start.blank);
        let distances: i32 = cells.map(|cell| self.distance_cost(start.tiles.get(cell), cell)).sum();
        let rest = distances + self.neighbor_costs.sum(self.size.cells(), start);
        let cell_of = |tile| self.cell_of(start, tile);
        let position = self.enter(StagePosition { stage: 0, moves: 0, at: [0; 2], rest }, cell_of);
        let position = self.skip_completed(position, start.blank, cell_of).expect("a puzzle's goal is reachable");
        (position, position)
    }

    #[inline]
    fn add_notes(
        &self,
        boards: &[ExpandedBoard<P, StagePosition>],
        slides: &[(u32, Slide)],
        notes: &mut Vec<Option<StagePosition>>,
    ) {
        for of_board in slides.chunk_by(|a, b| a.0 == b.0) {
            let ExpandedBoard { state, memo } = &boards[of_board[0].0 as usize];
            let around = self.neighbor_costs.around_blank(state);
            notes.extend(of_board.iter().map(|(_, slide)| self.position_after(*memo, slide, state, &around)));
        }
    }

    #[inline]
    fn after(&self, _: &StagePosition, _: &Slide, position: StagePosition) -> StagePosition {
        position
    }

    #[inline]
    fn score(&self, position: StagePosition, stalled_levels: usize) -> Score {
        let moves = u32::from(position.moves);
        let stages = (self.stages.len() - 1 - usize::from(position.stage)) as u8;
        let urgency = Self::URGENCY + (stalled_levels / Self::URGENCY_INTERVAL) as u32;
        let rest = (position.rest + Self::KEY_OFFSET) as u32;
        Score { stages, key: urgency * moves + rest, least: moves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, MoveSet, PackedBytes, Puzzle, RandomSource, SplitMix, random_board};
    use crate::search::Space;

    /// A random board of a shape, with a goal whose blank is anywhere.
    fn space(size: Size, random: &mut SplitMix) -> Space<PackedBytes> {
        let goal = random_board(&Board::blank_last(size), random);
        Space::new(&Puzzle::try_new(random_board(&goal, random), goal).unwrap())
    }

    /// The successors of a board within the open cells.
    fn successors(
        stages: &Stages,
        space: &Space<PackedBytes>,
        at: (State<PackedBytes>, StagePosition),
    ) -> Vec<(State<PackedBytes>, StagePosition)> {
        let moves = space.moves_except(at.0.blank, MoveSet::EMPTY).into_iter();
        let successor = |mv| {
            let slide = space.slide(&at.0, mv);
            let around = stages.neighbor_costs.around_blank(&at.0);
            Some((at.0.after(&slide), stages.position_after(at.1, &slide, &at.0, &around)?))
        };
        moves.filter_map(successor).collect()
    }

    fn score(stages: &Stages, position: StagePosition) -> Score {
        Guide::<PackedBytes>::score(stages, position, 0)
    }

    /// A number of moves is exact if it is 0 only at the end, some move always lowers it, and none lowers it by more
    /// than one.
    #[test]
    fn every_descending_path_ends_at_the_goal() {
        let mut random = SplitMix(1);
        for size in Size::all().filter(|size| size.cells() <= 36 || size.rows() == size.cols()) {
            let space = space(size, &mut random);
            let stages = Stages::new(size, space.goal_blank());
            let mut at = (space.start(), stages.begin(&space.start()).0);
            while score(&stages, at.1).least > 0 {
                let before = score(&stages, at.1);
                let successors = successors(&stages, &space, at);
                let is_nearer = |next: &(State<PackedBytes>, StagePosition)| {
                    let after = score(&stages, next.1);
                    assert!(after.stages < before.stages || after.least + 1 >= before.least, "{size}");
                    after.stages < before.stages || after.least < before.least
                };
                let nearer: Vec<_> = successors.into_iter().filter(is_nearer).collect();
                at = nearer[random.next_u64() as usize % nearer.len()];
            }
            assert!(space.is_goal(&at.0), "{size}");
        }
    }

    #[test]
    fn tables_fit_the_stated_maximum() {
        for size in Size::all() {
            for blank in [0, size.cells() as Cell / 2, size.cells() as Cell - 1] {
                let bytes = Stages::new(size, blank).bytes();
                assert!(bytes <= Stages::most_bytes(size), "{size}: {bytes}");
            }
        }
    }

    #[test]
    fn updated_positions_equal_those_from_scratch() {
        let mut random = SplitMix(2);
        for (rows, cols) in [(2, 2), (2, 7), (3, 3), (4, 3), (5, 5), (6, 6)] {
            let size = Size::try_from((rows, cols)).unwrap();
            let space = space(size, &mut random);
            let stages = Stages::new(size, space.goal_blank());
            let mut at = (space.start(), stages.begin(&space.start()).0);
            for _ in 0..2_000 {
                let scratch = stages.begin(&at.0).0;
                let fields = |position: StagePosition| (position.stage, position.moves, position.at, position.rest);
                assert_eq!(fields(at.1), fields(scratch), "{size}");
                // Three moves in four lead nearer, so that all stages are reached.
                let successors = successors(&stages, &space, at);
                let nearest = successors.iter().min_by_key(|next| (score(&stages, next.1).stages, next.1.moves));
                let any = &successors[random.next_u64() as usize % successors.len()];
                at = *if random.next_u64().is_multiple_of(4) { any } else { nearest.unwrap() };
            }
        }
    }
}
