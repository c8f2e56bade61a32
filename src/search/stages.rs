//! A way to the goal in stages, none of which undoes another's work.

use std::sync::OnceLock;

use super::beam::{Guide, Promise};
use super::peel::Peel;
use super::{Slide, State};
use crate::domain::{Cell, Move, Packed, Size};

/// Tiles put in place two at a time, outer lines first, in cells that are closed from then on.
///
/// Within a stage the number of moves that its tiles need is known for each board, walls included, so that one of the
/// moves always leads nearer: a beam that goes by it never stands still. All other tiles count by the squares of
/// their distances, so those far from home are taken along on the way.
#[derive(Debug)]
pub(super) struct Stages {
    size: Size,
    stages: Vec<Stage>,
    /// By distance, what a tile counts that is so far from home.
    far: [u32; 2 * Size::MAX_SIDE],
}

#[derive(Debug)]
struct Stage {
    tiles: Tiles,
    /// The cells that are not closed.
    open: u128,
    /// By cell: its number among those.
    numbers: [u8; Size::MAX_CELLS],
    /// How many there are.
    cells: usize,
    /// Where the blank has to be in the end, if anywhere.
    blank: Option<Cell>,
    /// By the numbers of the blank's and the tiles' cells: the moves that the tiles need.
    moves: OnceLock<Vec<u8>>,
}

/// The tiles of a stage, by their goal cells; some have one alone, which then is there twice.
type Tiles = [Cell; 2];

/// Where a board is on the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnTheWay {
    stage: u8,
    /// The moves that the tiles of the stage need.
    moves: u8,
    /// Where they are.
    at: Tiles,
    /// What all others count that belong in open cells.
    rest: u32,
}

impl Stages {
    /// What a move of the stage counts against the squares of distances.
    const MOVE: u32 = 5;
    const UNREACHABLE: u8 = u8::MAX;
    /// The most cells among which tiles are put in place two at a time.
    const PAIRED_CELLS: u32 = 64;

    /// For boards of a shape and the blank's goal.
    pub(super) fn new(size: Size, goal_blank: Cell) -> Self {
        let mut open = u128::MAX >> (128 - size.cells());
        let mut stages = Vec::new();
        let mut peel = Peel::new(size, goal_blank, 2);
        for line in &mut peel {
            // Tables of two tiles among many cells are dear, but a line's last two need one.
            let is_wide = open.count_ones() > Self::PAIRED_CELLS;
            let singles = if is_wide { line.cells.len() - 2 } else { line.cells.len() % 2 };
            let (singles, pairs) = line.cells.split_at(singles);
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
        Self { size, stages, far: std::array::from_fn(|distance| (distance * distance) as u32) }
    }

    /// Memory that all tables of boards of a shape take at most.
    pub(super) fn bytes(size: Size) -> u64 {
        let cells = size.cells() as u64;
        let paired = cells.min(u64::from(Self::PAIRED_CELLS));
        // Two cells are closed after each, or one with next to no table: no more than the sum of all other cubes, and
        // the larger pairs of four lines.
        paired.pow(4) / 8 + paired.pow(3) + if cells > paired { 4 * cells.pow(3) } else { 0 }
    }

    /// Enters the stages whose tiles are in place, up to one where something is to do.
    fn settle(&self, mut on: OnTheWay, blank: Cell, cell_of: impl Fn(u8) -> Cell) -> Option<OnTheWay> {
        loop {
            let stage = &self.stages[usize::from(on.stage)];
            // What is in place needs no table.
            on.moves = if stage.is_done(on.at) { 0 } else { stage.moves(self.size, blank, on.at) };
            if on.moves == Self::UNREACHABLE {
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
        let tiles = self.stages[usize::from(on.stage)].tiles;
        let at = tiles.map(cell_of);
        let counted = tiles.into_iter().zip(at).take(if tiles[0] == tiles[1] { 1 } else { 2 });
        let counted: u32 = counted.map(|(tile, cell)| self.count(tile, cell)).sum();
        OnTheWay { at, rest: on.rest - counted, ..on }
    }

    fn cell_of<P: Packed>(&self, state: &State<P>, tile: u8) -> Cell {
        let mut cells = (0..self.size.cells() as Cell).filter(|cell| *cell != state.blank);
        cells.find(|cell| state.tiles.get(*cell) == tile).expect("each tile is somewhere")
    }

    fn count(&self, tile: u8, cell: Cell) -> u32 {
        self.far[self.size.distance(tile, cell) as usize]
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
        if stage.open & 1 << slide.from == 0 {
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

    fn promise(&self, on: OnTheWay) -> Promise {
        let moves = u32::from(on.moves);
        let stages = (self.stages.len() - 1 - usize::from(on.stage)) as u16;
        Promise { stages, key: Self::MOVE * moves + on.rest, least: moves }
    }
}

impl Stage {
    fn new(size: Size, tiles: Tiles, open: u128, blank: Option<Cell>) -> Self {
        let mut numbers = [0; Size::MAX_CELLS];
        let mut cells = 0;
        for cell in (0..size.cells()).filter(|cell| open & 1 << cell != 0) {
            numbers[cell] = cells;
            cells += 1;
        }
        Self { tiles, open, numbers, cells: usize::from(cells), blank, moves: OnceLock::new() }
    }

    fn is_single(&self) -> bool {
        self.tiles[0] == self.tiles[1]
    }

    /// Of the numbers of the cells of the blank and the tiles.
    #[inline]
    fn index(&self, [blank, first, second]: [u8; 3]) -> usize {
        let index = usize::from(blank) * self.cells + usize::from(first);
        if self.is_single() { index } else { index * self.cells + usize::from(second) }
    }

    fn is_done(&self, at: Tiles) -> bool {
        self.blank.is_none() && at == self.tiles
    }

    fn number(&self, cell: Cell) -> u8 {
        self.numbers[usize::from(cell)]
    }

    /// The moves that bring the tiles into place, from where they and the blank are.
    fn moves(&self, size: Size, blank: Cell, at: Tiles) -> u8 {
        self.moves.get_or_init(|| self.measure(size))[self.index([blank, at[0], at[1]].map(|cell| self.number(cell)))]
    }

    /// By breadth-first search from all places of the blank.
    fn measure(&self, size: Size) -> Vec<u8> {
        let open = || (0..size.cells() as Cell).filter(|cell| self.open & 1 << cell != 0);
        let beside: Vec<Vec<u8>> = open().map(|cell| self.numbers_beside(size, cell)).collect();
        let mut moves = vec![Stages::UNREACHABLE; self.cells.pow(if self.is_single() { 2 } else { 3 })];
        let [first, second] = self.tiles.map(|tile| self.number(tile));
        let blanks = open().filter(|cell| !self.tiles.contains(cell));
        let blanks = blanks.filter(|cell| self.blank.is_none_or(|blank| blank == *cell));
        let mut level: Vec<[u8; 3]> = blanks.map(|blank| [self.number(blank), first, second]).collect();
        level.iter().for_each(|at| moves[self.index(*at)] = 0);
        let mut next = Vec::new();
        for distance in 1.. {
            for [blank, tiles @ ..] in level.drain(..) {
                for to in &beside[usize::from(blank)] {
                    let [first, second] = tiles.map(|tile| if tile == *to { blank } else { tile });
                    let after = [*to, first, second];
                    let known = &mut moves[self.index(after)];
                    if *known == Stages::UNREACHABLE {
                        *known = distance;
                        next.push(after);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            assert!(distance + 1 < Stages::UNREACHABLE, "two tiles are in place in fewer moves");
            std::mem::swap(&mut level, &mut next);
        }
        moves
    }

    fn numbers_beside(&self, size: Size, cell: Cell) -> Vec<u8> {
        let neighbours = Move::ALL.into_iter().filter_map(|mv| size.neighbour(cell, mv));
        neighbours.filter(|cell| self.open & 1 << cell != 0).map(|cell| self.number(cell)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Space;
    use super::*;
    use crate::domain::{Board, Bytes, MoveSet, Puzzle, RandomSource, mix, random_board};

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
        Guide::<Bytes>::promise(stages, on)
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
                let places = |stage: &Stage| stage.cells.pow(if stage.is_single() { 2 } else { 3 });
                let bytes: usize = Stages::new(size, blank).stages.iter().map(places).sum();
                assert!(bytes as u64 <= Stages::bytes(size), "{size}: {bytes}");
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
