//! Costs of tiles in adjacent cells.

use crate::domain::{Cell, Move, Packed, Size};
use crate::search::{Slide, State};

/// Corrections of a distance sum for the tiles in adjacent cells, in moves.
///
/// A correction depends on the goals of both tiles: two tiles that must pass each other are expensive, and so is a tile
/// that must pass a tile already in place. Tiles that follow each other save a little. The table was fitted by linear
/// regression to the optimal lengths of 15-puzzles (`benches/neighbor_costs.rs`), and holds on boards of any size.
#[derive(Debug)]
pub(crate) struct NeighborCosts {
    /// By tile and its cell.
    headings: Box<[[Heading; CELLS]; CELLS]>,
    /// By cell and direction, in the order of [`Move::ALL`].
    sides: Box<[[Side; 4]; CELLS]>,
    /// By the direction from a tile to its neighbor, and the headings of both; then 0 beyond the edge.
    costs: Box<[[[i8; HEADINGS]; HEADINGS]; DIRECTIONS]>,
}

/// By direction: the heading of the tile next to the blank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AroundBlank([usize; 4]);

/// One side of a cell.
#[derive(Clone, Copy, Default, Debug)]
struct Side {
    /// The cell there, or the cell itself at the edge of the board.
    cell: Cell,
    /// Its direction, or [`EDGE`].
    direction: u8,
}

// Powers of two, so that masks of indices make checks unnecessary.
const CELLS: usize = Size::MAX_CELLS.next_power_of_two();
const HEADINGS: usize = 16;
const DIRECTIONS: usize = 8;
/// The direction beyond the edge of the board.
const EDGE: u8 = 4;

/// The directions in which a tile has to move: three times the sign of the rows, and the sign of the columns, both from
/// 0 to 2. So 4 is a tile in its place.
type Heading = u8;

/// The heading of the blank.
const NO_TILE: Heading = 9;

/// By the headings of a tile and of its right neighbor, in twelfths of a move.
const TO_THE_RIGHT: [[i8; 9]; 9] = [
    [-1, -2, -1, 0, -3, -3, 0, -2, -2],
    [-1, 2, -2, 1, -3, -3, 1, -5, -2],
    [3, -1, -1, 13, 12, 4, 8, 1, 0],
    [4, -3, -3, -2, -6, -5, 4, -3, -3],
    [12, -3, -3, 19, -5, -6, 12, -3, -3],
    [13, 1, 0, 32, 19, -2, 13, 1, 0],
    [0, -2, -2, 0, -3, -3, -1, -2, -1],
    [1, -5, -2, 1, -3, -3, -1, 2, -2],
    [8, 1, 0, 13, 12, 4, 3, -1, -1],
];

impl NeighborCosts {
    /// Memory of its tables.
    pub(crate) const BYTES: usize = CELLS * CELLS + CELLS * size_of::<[Side; 4]>() + DIRECTIONS * HEADINGS * HEADINGS;

    /// Costs on boards of a shape and goal.
    pub(crate) fn new(size: Size, goal_blank: Cell) -> Self {
        let cells = || 0..size.cells() as Cell;
        let mut headings = Box::new([[NO_TILE; CELLS]; CELLS]);
        let mut sides = Box::new([[Side::default(); 4]; CELLS]);
        for cell in cells() {
            for tile in cells().filter(|tile| *tile != goal_blank) {
                headings[usize::from(tile)][usize::from(cell)] = heading(size, tile, cell);
            }
            sides[usize::from(cell)] = Move::ALL.map(|mv| match size.neighbor(cell, mv) {
                Some(neighbor) => Side { cell: neighbor, direction: mv as u8 },
                None => Side { cell, direction: EDGE },
            });
        }
        Self { headings, sides, costs: costs() }
    }

    /// Sum of the costs of all pairs of adjacent tiles.
    pub(crate) fn sum<P: Packed>(&self, cells: usize, state: &State<P>) -> i32 {
        let twice: i32 = (0..cells as Cell).map(|cell| self.of_tile(state, state.tiles.get(cell), cell)).sum();
        twice / 2
    }

    /// The tiles around the blank.
    #[inline]
    pub(crate) fn around_blank<P: Packed>(&self, state: &State<P>) -> AroundBlank {
        let sides = &self.sides[usize::from(state.blank) % CELLS];
        AroundBlank(sides.each_ref().map(|side| self.heading_in(state, side.cell)))
    }

    /// Change of the sum by a slide on a board, given the tiles around its blank.
    #[inline]
    pub(crate) fn change<P: Packed>(&self, before: &State<P>, around: &AroundBlank, slide: &Slide) -> i32 {
        let Slide { label, from, to, mv } = *slide;
        let (heading, AroundBlank(neighbors)) = (self.heading(label, to), around);
        let cost = |direction: usize| self.cost(direction, heading, neighbors[direction]);
        // The tile is not its own neighbor. Beyond the edge there is none, as in the blank's cell.
        let after: i32 = (0..4).filter(|direction| *direction != mv as usize).map(cost).sum();
        after - self.of_tile(before, label, from)
    }

    /// Sum of the costs of a tile in a cell with the tiles around it.
    #[inline]
    fn of_tile<P: Packed>(&self, around: &State<P>, label: u8, cell: Cell) -> i32 {
        let heading = self.heading(label, cell);
        let cost = |side: &Side| self.cost(usize::from(side.direction), heading, self.heading_in(around, side.cell));
        self.sides[usize::from(cell) % CELLS].iter().map(cost).sum()
    }

    #[inline]
    fn cost(&self, direction: usize, tile: usize, neighbor: usize) -> i32 {
        i32::from(self.costs[direction % DIRECTIONS][tile % HEADINGS][neighbor % HEADINGS])
    }

    #[inline]
    fn heading_in<P: Packed>(&self, state: &State<P>, cell: Cell) -> usize {
        self.heading(state.tiles.get(cell), cell)
    }

    #[inline]
    fn heading(&self, label: u8, cell: Cell) -> usize {
        usize::from(self.headings[usize::from(label) % CELLS][usize::from(cell) % CELLS])
    }
}

fn heading(size: Size, tile: u8, cell: Cell) -> Heading {
    let sign = |goal: usize, at: usize| (goal.cmp(&at) as i8 + 1) as u8;
    3 * sign(size.row_of(tile), size.row_of(cell)) + sign(size.col_of(tile), size.col_of(cell))
}

fn costs() -> Box<[[[i8; HEADINGS]; HEADINGS]; DIRECTIONS]> {
    let transposed = |heading: usize| heading % 3 * 3 + heading / 3;
    let mut costs = Box::new([[[0; HEADINGS]; HEADINGS]; DIRECTIONS]);
    for (tile, of_tile) in TO_THE_RIGHT.iter().enumerate() {
        for (neighbor, cost) in of_tile.iter().enumerate() {
            costs[Move::Right as usize][tile][neighbor] = *cost;
            costs[Move::Left as usize][neighbor][tile] = *cost;
            costs[Move::Down as usize][transposed(tile)][transposed(neighbor)] = *cost;
            costs[Move::Up as usize][transposed(neighbor)][transposed(tile)] = *cost;
        }
    }
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, PackedBytes, Puzzle, RandomSource, SplitMix, random_board};
    use crate::search::Space;

    /// The heading of the tile in a cell; `None` for the blank.
    fn heading_in(size: Size, state: &State<PackedBytes>, cell: Cell) -> Option<usize> {
        (cell != state.blank).then(|| usize::from(heading(size, state.tiles.get(cell), cell)))
    }

    /// The sum, pair by pair.
    fn sum_of_pairs(size: Size, state: &State<PackedBytes>) -> i32 {
        let transposed = |heading: usize| heading % 3 * 3 + heading / 3;
        let mut sum = 0;
        for cell in 0..size.cells() as Cell {
            let Some(tile) = heading_in(size, state, cell) else { continue };
            let in_cell = |cell| heading_in(size, state, cell);
            if let Some(right) = size.neighbor(cell, Move::Right).and_then(in_cell) {
                sum += i32::from(TO_THE_RIGHT[tile][right]);
            }
            if let Some(below) = size.neighbor(cell, Move::Down).and_then(in_cell) {
                sum += i32::from(TO_THE_RIGHT[transposed(tile)][transposed(below)]);
            }
        }
        sum
    }

    #[test]
    fn sums_and_changes_are_those_of_all_pairs() {
        let mut random = SplitMix(5);
        for size in Size::all() {
            let goal = random_board(&Board::blank_last(size), &mut random);
            let space = Space::<PackedBytes>::new(&Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
            let costs = NeighborCosts::new(size, space.goal_blank());
            let mut at = space.start();
            for _ in 0..50 {
                let sum = costs.sum(size.cells(), &at);
                assert_eq!(sum, sum_of_pairs(size, &at), "{size}");
                let moves = Move::ALL.into_iter().filter(|mv| size.neighbor(at.blank, *mv).is_some());
                let moves: Vec<Move> = moves.collect();
                let slide = space.slide(&at, moves[random.next_u64() as usize % moves.len()]);
                let change = costs.change(&at, &costs.around_blank(&at), &slide);
                at = at.after(&slide);
                assert_eq!(sum + change, costs.sum(size.cells(), &at), "{size}");
            }
        }
    }

    /// A reflected board needs as many moves.
    #[test]
    fn costs_do_not_depend_on_reflections() {
        let upside_down = |heading: usize| (2 - heading / 3) * 3 + heading % 3;
        let mirrored = |heading: usize| heading / 3 * 3 + 2 - heading % 3;
        for tile in 0..9 {
            for neighbor in 0..9 {
                let cost = TO_THE_RIGHT[tile][neighbor];
                assert_eq!(cost, TO_THE_RIGHT[upside_down(tile)][upside_down(neighbor)]);
                assert_eq!(cost, TO_THE_RIGHT[mirrored(neighbor)][mirrored(tile)]);
            }
        }
    }
}
