//! Stages of a solution, none of which undoes another.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::outer_lines::OuterLines;
use super::stage::{Stage, Tiles};
use crate::domain::{Cell, Packed, Size};
use crate::search::beam::{Guide, Score};
use crate::search::{Meter, Slide, State, StopReason};

/// A sequence of stages. Each places two tiles, outer lines first, and closes their cells.
///
/// Within a stage the exact number of moves that its tiles need is known, closed cells included, so one move always
/// leads nearer and a beam never stalls. All other tiles are weighted by their squared distances, so distant tiles
/// are moved along.
///
/// The tables take up to 13 MB and a tenth of a second on one core. They are built on first use.
#[derive(Debug)]
pub struct Stages {
    size: Size,
    goal_blank: Cell,
    stages: Vec<Stage>,
    /// Squared distance by a tile's goal cell and its cell.
    far: Box<[[u16; Size::MAX_CELLS]; Size::MAX_CELLS]>,
}

/// Position of a board within the stages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StagePosition {
    stage: u8,
    /// Moves that the stage's tiles need.
    moves: u8,
    /// Cells of the stage's tiles.
    at: Tiles,
    /// Sum of the squared distances of all other tiles that belong in open cells.
    rest: u32,
}

impl Stages {
    /// Initial weight of a move of the stage.
    const URGENCY: u32 = 8;
    /// Number of levels without a new stage after which the weight rises.
    const URGENCY_INTERVAL: usize = 8;
    /// Weight of the squared distances.
    const FAR: u32 = 4;

    /// Stages for boards of a shape and goal, without tables.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        let mut open = u128::MAX >> (128 - size.cells());
        let mut stages = Vec::new();
        let mut lines = OuterLines::new(size, goal_blank, 2);
        for line in &mut lines {
            // A line's last two tiles must be placed together.
            let (singles, pairs) = line.cells.split_at(line.cells.len() % 2);
            let singles = singles.iter().map(|cell| [*cell; 2]);
            for tiles in singles.chain(pairs.chunks(2).map(|pair| [pair[0], pair[1]])) {
                stages.push(Stage::new(size, tiles, open, None));
                open &= !(1 << tiles[0] | 1 << tiles[1]);
            }
        }
        // Of the last three tiles, placing two and the blank leaves one cell for the third.
        let mut last = (0..size.cells() as Cell).filter(|cell| open & 1 << cell != 0 && *cell != goal_blank);
        let tiles = [last.next(), last.next()].map(|cell| cell.expect("two cells a side are left"));
        stages.push(Stage::new(size, tiles, open, Some(goal_blank)));
        Self { size, goal_blank, stages, far: Self::far(size) }
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
    pub fn serve(&self, size: Size, goal_blank: Cell) -> bool {
        (self.size, self.goal_blank) == (size, goal_blank)
    }

    /// Memory in bytes once all tables are built.
    pub fn bytes(&self) -> u64 {
        let tables: usize = self.stages.iter().map(|stage| size_of::<Stage>() + stage.bytes()).sum();
        (size_of::<Self>() + size_of_val(&*self.far) + tables) as u64
    }

    /// Maximum memory of all tables for boards of a shape.
    pub(super) fn most_bytes(size: Size) -> u64 {
        let cells = size.cells() as u64;
        // Each stage closes two cells, or one cell with a tiny table: at most the sum of every other cube.
        let tables = cells.pow(4) / 8 + cells.pow(3);
        let beside = size_of::<Self>() + 2 * Size::MAX_CELLS.pow(2) + size.cells() * size_of::<Stage>();
        tables + beside as u64
    }

    /// Builds missing tables, with helpers if any are idle.
    ///
    /// # Errors
    /// If the budget is exhausted.
    pub(super) fn prepare(&self, meter: &Meter<'_>) -> Result<(), StopReason> {
        let ask = || {
            meter.pause();
            meter.check()
        };
        if let Some(helpers) = meter.helpers().filter(|_| !self.stages.iter().all(Stage::is_made)) {
            let next = AtomicUsize::new(0);
            let take = || self.stages.get(next.fetch_add(1, Ordering::Relaxed));
            // Tables that are still missing are built below, unless the budget is exhausted.
            helpers.work(
                &mut |help| {
                    let _ = std::iter::from_fn(take).try_for_each(|stage| {
                        help();
                        stage.make(ask)
                    });
                },
                &|is_wanted| {
                    let ask = || if is_wanted() { Err(StopReason::Cancelled) } else { meter.check() };
                    let _ = std::iter::from_fn(take).try_for_each(|stage| stage.make(ask));
                },
            );
        }
        self.stages.iter().try_for_each(|stage| stage.make(ask))
    }

    /// Skips completed stages. `None` if the stage cannot be solved.
    fn settle(&self, mut on: StagePosition, blank: Cell, cell_of: impl Fn(u8) -> Cell) -> Option<StagePosition> {
        loop {
            let stage = &self.stages[usize::from(on.stage)];
            // Placed tiles need no table.
            on.moves = if stage.is_done(on.at) { 0 } else { stage.moves(blank, on.at) };
            if on.moves == Stage::UNREACHABLE {
                return None;
            }
            if on.moves > 0 || usize::from(on.stage) + 1 == self.stages.len() {
                return Some(on);
            }
            on.stage += 1;
            on = self.enter(on, &cell_of);
        }
    }

    /// Locates the tiles of a new stage. They no longer count among the rest.
    fn enter(&self, on: StagePosition, cell_of: impl Fn(u8) -> Cell) -> StagePosition {
        let stage = &self.stages[usize::from(on.stage)];
        let at = stage.tiles.map(cell_of);
        let counted = stage.tiles.into_iter().zip(at).take(if stage.is_single() { 1 } else { 2 });
        let counted: u32 = counted.map(|(tile, cell)| self.count(tile, cell)).sum();
        StagePosition { at, rest: on.rest - counted, ..on }
    }

    fn cell_of<P: Packed>(&self, state: &State<P>, tile: u8) -> Cell {
        let mut cells = (0..self.size.cells() as Cell).filter(|cell| *cell != state.blank);
        cells.find(|cell| state.tiles.get(*cell) == tile).expect("each tile is somewhere")
    }

    /// Table of squared distances, in rows and columns.
    fn far(size: Size) -> Box<[[u16; Size::MAX_CELLS]; Size::MAX_CELLS]> {
        let mut far = Box::new([[0; Size::MAX_CELLS]; Size::MAX_CELLS]);
        for tile in 0..size.cells() as Cell {
            for cell in 0..size.cells() as Cell {
                let rows = size.row_of(tile).abs_diff(size.row_of(cell));
                let cols = size.col_of(tile).abs_diff(size.col_of(cell));
                far[usize::from(tile)][usize::from(cell)] = (rows * rows + cols * cols) as u16;
            }
        }
        far
    }

    #[inline]
    fn count(&self, tile: u8, cell: Cell) -> u32 {
        u32::from(self.far[usize::from(tile)][usize::from(cell)])
    }
}

impl<P: Packed> Guide<P> for Stages {
    type Memo = StagePosition;

    const SHARES: usize = 5;

    fn begin(&self, start: &State<P>) -> StagePosition {
        let cells = (0..self.size.cells() as Cell).filter(|cell| *cell != start.blank);
        let rest = cells.map(|cell| self.count(start.tiles.get(cell), cell)).sum();
        let cell_of = |tile| self.cell_of(start, tile);
        let on = self.enter(StagePosition { stage: 0, moves: 0, at: [0; 2], rest }, cell_of);
        self.settle(on, start.blank, cell_of).expect("a way to the goal")
    }

    fn after(&self, mut on: StagePosition, slide: &Slide, before: &State<P>) -> Option<StagePosition> {
        let stage = &self.stages[usize::from(on.stage)];
        if !stage.is_open(slide.from) {
            return None;
        }
        let mut is_of_stage = false;
        for (tile, at) in stage.tiles.iter().zip(&mut on.at) {
            if *tile == slide.label {
                *at = slide.to;
                is_of_stage = true;
            }
        }
        if !is_of_stage {
            on.rest = on.rest + self.count(slide.label, slide.to) - self.count(slide.label, slide.from);
        }
        self.settle(on, slide.from, |tile| if tile == slide.label { slide.to } else { self.cell_of(before, tile) })
    }

    #[inline]
    fn score(&self, on: StagePosition, waited: usize) -> Score {
        let moves = u32::from(on.moves);
        let stages = (self.stages.len() - 1 - usize::from(on.stage)) as u8;
        let urgency = Self::URGENCY + (waited / Self::URGENCY_INTERVAL) as u32;
        Score { stages, key: urgency * moves + Self::FAR * on.rest, least: moves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, MoveSet, PackedBytes, Puzzle, RandomSource, mix, random_board};
    use crate::search::Space;

    struct Random(u64);

    impl RandomSource for Random {
        fn next_u64(&mut self) -> u64 {
            self.0 += 1;
            mix(self.0, 0)
        }
    }

    /// A random board of a shape, with a goal whose blank is anywhere.
    fn space(size: Size, random: &mut Random) -> Space<PackedBytes> {
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
            Some((at.0.after(&slide), stages.after(at.1, &slide, &at.0)?))
        };
        moves.filter_map(successor).collect()
    }

    fn score(stages: &Stages, on: StagePosition) -> Score {
        Guide::<PackedBytes>::score(stages, on, 0)
    }

    /// The number of moves is 0 at the end only, some move lowers it, and none lowers it by more than one: so it is exact.
    #[test]
    fn every_descending_path_ends_at_the_goal() {
        let mut random = Random(1);
        for size in Size::all().filter(|size| size.cells() <= 36 || size.rows() == size.cols()) {
            let space = space(size, &mut random);
            let stages = Stages::new(size, space.goal_blank());
            let mut at = (space.start(), stages.begin(&space.start()));
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
        let mut random = Random(2);
        for (rows, cols) in [(2, 2), (2, 7), (3, 3), (4, 3), (5, 5), (6, 6)] {
            let size = Size::try_from((rows, cols)).unwrap();
            let space = space(size, &mut random);
            let stages = Stages::new(size, space.goal_blank());
            let mut at = (space.start(), stages.begin(&space.start()));
            for _ in 0..2_000 {
                let scratch = stages.begin(&at.0);
                let seen = |on: StagePosition| (on.stage, on.moves, on.at, on.rest);
                assert_eq!(seen(at.1), seen(scratch), "{size}");
                // Mostly nearer, so that all stages are reached.
                let successors = successors(&stages, &space, at);
                let nearest = successors.iter().min_by_key(|next| (score(&stages, next.1).stages, next.1.moves));
                let any = &successors[random.next_u64() as usize % successors.len()];
                at = *if random.next_u64().is_multiple_of(4) { any } else { nearest.unwrap() };
            }
        }
    }
}
