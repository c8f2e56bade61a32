//! A way to the goal in stages, none of which undoes another's work.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::outer_lines::Peel;
use super::stage::{Stage, Tiles};
use crate::domain::{Cell, Packed, Size};
use crate::search::beam::{Guide, Promise};
use crate::search::{Meter, Slide, State, StopReason};

/// Tiles put in place two at a time, outer lines first, in cells that are closed from then on.
///
/// Within a stage the number of moves that its tiles need is known for each board, walls included, so that one of the
/// moves always leads nearer: a beam that goes by it never stands still. All other tiles count by the squares of
/// their distances, so those far from home are taken along on the way.
///
/// The tables take up to 13 MB and, on one core, a tenth of a second. They are made when a search first wants them.
#[derive(Debug)]
pub struct Stages {
    size: Size,
    goal_blank: Cell,
    stages: Vec<Stage>,
    /// By a tile's goal cell and its cell, what it counts there.
    far: Box<[[u16; Size::MAX_CELLS]; Size::MAX_CELLS]>,
}

/// Where a board is on the way.
#[derive(Clone, Copy, Debug)]
pub(in crate::search) struct OnTheWay {
    stage: u8,
    /// The moves that the tiles of the stage need.
    moves: u8,
    /// Where they are.
    at: Tiles,
    /// What all others count that belong in open cells.
    rest: u32,
}

impl Stages {
    /// What a move of the stage counts, at first.
    const URGENCY: u32 = 8;
    /// After so many levels without a new stage it counts more.
    const PATIENCE: usize = 8;
    /// What the squares of distances count.
    const FAR: u32 = 4;

    /// For boards of a shape and the blank's goal. There are no tables yet.
    pub fn new(size: Size, goal_blank: Cell) -> Self {
        let mut open = u128::MAX >> (128 - size.cells());
        let mut stages = Vec::new();
        let mut peel = Peel::new(size, goal_blank, 2);
        for line in &mut peel {
            // A line's last two have to come together.
            let (singles, pairs) = line.cells.split_at(line.cells.len() % 2);
            let singles = singles.iter().map(|cell| [*cell; 2]);
            for tiles in singles.chain(pairs.chunks(2).map(|pair| [pair[0], pair[1]])) {
                stages.push(Stage::new(size, tiles, open, None));
                open &= !(1 << tiles[0] | 1 << tiles[1]);
            }
        }
        // Where three tiles and the blank are left, two of them and the blank in place leave one for the third.
        let mut last = (0..size.cells() as Cell).filter(|cell| open & 1 << cell != 0 && *cell != goal_blank);
        let tiles = [last.next(), last.next()].map(|cell| cell.expect("two cells a side are left"));
        stages.push(Stage::new(size, tiles, open, Some(goal_blank)));
        Self { size, goal_blank, stages, far: Self::far(size) }
    }

    /// The shape of the boards.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Where the blank belongs.
    pub fn goal_blank(&self) -> Cell {
        self.goal_blank
    }

    /// Whether these are the stages of such boards.
    pub fn serve(&self, size: Size, goal_blank: Cell) -> bool {
        (self.size, self.goal_blank) == (size, goal_blank)
    }

    /// Memory that all of it takes once the tables are made, in bytes.
    pub fn bytes(&self) -> u64 {
        let tables: usize = self.stages.iter().map(|stage| size_of::<Stage>() + stage.bytes()).sum();
        (size_of::<Self>() + size_of_val(&*self.far) + tables) as u64
    }

    /// Memory that all tables of boards of a shape take at most.
    pub(super) fn most_bytes(size: Size) -> u64 {
        let cells = size.cells() as u64;
        // Two cells are closed after each, or one with next to no table: no more than the sum of all other cubes.
        let tables = cells.pow(4) / 8 + cells.pow(3);
        let beside = size_of::<Self>() + 2 * Size::MAX_CELLS.pow(2) + size.cells() * size_of::<Stage>();
        tables + beside as u64
    }

    /// Makes the tables that are not there, with whoever is free to help.
    ///
    /// # Errors
    /// When the budget does not allow to go on.
    pub(super) fn prepare(&self, meter: &Meter<'_>) -> Result<(), StopReason> {
        let ask = || {
            meter.pause();
            meter.look()
        };
        if let Some(crew) = meter.crew().filter(|_| !self.stages.iter().all(Stage::is_made)) {
            let next = AtomicUsize::new(0);
            let take = || self.stages.get(next.fetch_add(1, Ordering::Relaxed));
            // What is left undone is made below, or there is a reason not to.
            crew.work(
                &mut |help| {
                    let _ = std::iter::from_fn(take).try_for_each(|stage| {
                        help();
                        stage.make(ask)
                    });
                },
                &|is_wanted| {
                    let ask = || if is_wanted() { Err(StopReason::Cancelled) } else { meter.look() };
                    let _ = std::iter::from_fn(take).try_for_each(|stage| stage.make(ask));
                },
            );
        }
        self.stages.iter().try_for_each(|stage| stage.make(ask))
    }

    /// Enters the stages whose tiles are in place, up to one where something is to do.
    fn settle(&self, mut on: OnTheWay, blank: Cell, cell_of: impl Fn(u8) -> Cell) -> Option<OnTheWay> {
        loop {
            let stage = &self.stages[usize::from(on.stage)];
            // What is in place needs no table.
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

    /// Looks for the tiles of a stage; they no longer count among the others.
    fn enter(&self, on: OnTheWay, cell_of: impl Fn(u8) -> Cell) -> OnTheWay {
        let stage = &self.stages[usize::from(on.stage)];
        let at = stage.tiles.map(cell_of);
        let counted = stage.tiles.into_iter().zip(at).take(if stage.is_single() { 1 } else { 2 });
        let counted: u32 = counted.map(|(tile, cell)| self.count(tile, cell)).sum();
        OnTheWay { at, rest: on.rest - counted, ..on }
    }

    fn cell_of<P: Packed>(&self, state: &State<P>, tile: u8) -> Cell {
        let mut cells = (0..self.size.cells() as Cell).filter(|cell| *cell != state.blank);
        cells.find(|cell| state.tiles.get(*cell) == tile).expect("each tile is somewhere")
    }

    /// The squares of how many rows and of how many columns a tile is away from home.
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
    type Memo = OnTheWay;

    const SHARES: usize = 5;

    fn begin(&self, start: &State<P>) -> OnTheWay {
        let cells = (0..self.size.cells() as Cell).filter(|cell| *cell != start.blank);
        let rest = cells.map(|cell| self.count(start.tiles.get(cell), cell)).sum();
        let cell_of = |tile| self.cell_of(start, tile);
        let on = self.enter(OnTheWay { stage: 0, moves: 0, at: [0; 2], rest }, cell_of);
        self.settle(on, start.blank, cell_of).expect("a way to the goal")
    }

    fn after(&self, mut on: OnTheWay, slide: &Slide, before: &State<P>) -> Option<OnTheWay> {
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
    fn promise(&self, on: OnTheWay, waited: usize) -> Promise {
        let moves = u32::from(on.moves);
        let stages = (self.stages.len() - 1 - usize::from(on.stage)) as u8;
        let urgency = Self::URGENCY + (waited / Self::PATIENCE) as u32;
        Promise { stages, key: urgency * moves + Self::FAR * on.rest, least: moves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Bytes, MoveSet, Puzzle, RandomSource, mix, random_board};
    use crate::search::Space;

    struct Random(u64);

    impl RandomSource for Random {
        fn next_u64(&mut self) -> u64 {
            self.0 += 1;
            mix(self.0, 0)
        }
    }

    /// A random board of a shape, with a goal whose blank is anywhere.
    fn space(size: Size, random: &mut Random) -> Space<Bytes> {
        let goal = random_board(&Board::blank_last(size), random);
        Space::new(&Puzzle::try_new(random_board(&goal, random), goal).unwrap())
    }

    /// What the moves of a board lead to within the ways that are open.
    fn successors(
        stages: &Stages,
        space: &Space<Bytes>,
        at: (State<Bytes>, OnTheWay),
    ) -> Vec<(State<Bytes>, OnTheWay)> {
        let moves = space.moves_except(at.0.blank, MoveSet::EMPTY).into_iter();
        let successor = |mv| {
            let slide = space.slide(&at.0, mv);
            Some((at.0.after(&slide), stages.after(at.1, &slide, &at.0)?))
        };
        moves.filter_map(successor).collect()
    }

    fn promise(stages: &Stages, on: OnTheWay) -> Promise {
        Guide::<Bytes>::promise(stages, on, 0)
    }

    /// Moves are none in the end alone, one of a board's moves leads nearer, and none leads nearer by more than one: so
    /// they are exact.
    #[test]
    fn every_way_that_leads_nearer_ends_at_the_goal() {
        let mut random = Random(1);
        for size in Size::all().filter(|size| size.cells() <= 36 || size.rows() == size.cols()) {
            let space = space(size, &mut random);
            let stages = Stages::new(size, space.goal_blank());
            let mut at = (space.start(), stages.begin(&space.start()));
            while promise(&stages, at.1).least > 0 {
                let before = promise(&stages, at.1);
                let successors = successors(&stages, &space, at);
                let is_nearer = |next: &(State<Bytes>, OnTheWay)| {
                    let after = promise(&stages, next.1);
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
    fn tables_take_no_more_than_they_are_said_to() {
        for size in Size::all() {
            for blank in [0, size.cells() as Cell / 2, size.cells() as Cell - 1] {
                let bytes = Stages::new(size, blank).bytes();
                assert!(bytes <= Stages::most_bytes(size), "{size}: {bytes}");
            }
        }
    }

    #[test]
    fn what_is_followed_is_what_is_found_from_scratch() {
        let mut random = Random(2);
        for (rows, cols) in [(2, 2), (2, 7), (3, 3), (4, 3), (5, 5), (6, 6)] {
            let size = Size::try_from((rows, cols)).unwrap();
            let space = space(size, &mut random);
            let stages = Stages::new(size, space.goal_blank());
            let mut at = (space.start(), stages.begin(&space.start()));
            for _ in 0..2_000 {
                let scratch = stages.begin(&at.0);
                let seen = |on: OnTheWay| (on.stage, on.moves, on.at, on.rest);
                assert_eq!(seen(at.1), seen(scratch), "{size}");
                // Nearer more often than not, so that it comes through all stages.
                let successors = successors(&stages, &space, at);
                let nearest = successors.iter().min_by_key(|next| (promise(&stages, next.1).stages, next.1.moves));
                let any = &successors[random.next_u64() as usize % successors.len()];
                at = *if random.next_u64().is_multiple_of(4) { any } else { nearest.unwrap() };
            }
        }
    }
}
