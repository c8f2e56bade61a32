//! The state space of one puzzle.

use super::{SortedMoves, SuccessorOrder};
use crate::domain::{Board, Cell, Move, MoveSet, Packed, Puzzle, Size};

/// A packed board. Tiles and blank are named by their goal cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State<P> {
    /// The label of the tile in each cell.
    pub tiles: P,
    /// The blank's cell.
    pub blank: Cell,
}

/// One tile sliding one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slide {
    /// The tile, by its goal cell.
    pub label: u8,
    /// The tile's cell before the move, which is the blank's cell after it.
    pub from: Cell,
    /// The tile's cell after the move, which is the blank's cell before it.
    pub to: Cell,
    /// Direction in which the blank moves.
    pub mv: Move,
}

impl<P: Packed> State<P> {
    /// Slides the tile in `from` into the blank.
    #[inline]
    pub fn slide(&mut self, from: Cell) {
        self.tiles.swap(self.blank, from);
        self.blank = from;
    }

    /// The state after a slide.
    #[inline]
    pub fn after(&self, slide: &Slide) -> Self {
        let mut after = *self;
        after.slide(slide.from);
        after
    }
}

/// State space of a puzzle. The goal is the identity permutation, and legal moves come from a table.
#[derive(Clone, Debug)]
pub struct Space<P> {
    puzzle: Puzzle,
    start: State<P>,
    goal: P,
    moves: [MoveSet; 256],
    offsets: [i8; 4],
    order: SuccessorOrder,
}

impl<P: Packed> Space<P> {
    /// Prepares a puzzle for search.
    ///
    /// # Panics
    /// If the board has more cells than `P` holds.
    pub fn new(puzzle: &Puzzle) -> Self {
        let size = puzzle.size();
        let cells = size.cells();
        assert!(cells <= P::MAX_CELLS, "a board of {cells} cells does not fit the packed form");
        let identity: [Cell; Size::MAX_CELLS] = std::array::from_fn(|cell| cell as Cell);
        let mut moves = [MoveSet::EMPTY; 256];
        for (row, sets) in moves[..cells].chunks_exact_mut(size.cols()).enumerate() {
            let vertical = MoveSet::EMPTY.with_if(row > 0, Move::Up).with_if(row + 1 < size.rows(), Move::Down);
            sets.fill(vertical.with(Move::Left).with(Move::Right));
            sets[0] = sets[0].without(Move::Left);
            sets[size.cols() - 1] = sets[size.cols() - 1].without(Move::Right);
        }
        Self {
            puzzle: *puzzle,
            start: State { tiles: P::pack(&puzzle.labels()[..cells]), blank: puzzle.start().blank() },
            goal: P::pack(&identity[..cells]),
            moves,
            offsets: Move::ALL.map(|mv| size.offset(mv)),
            order: SuccessorOrder::default(),
        }
    }

    /// The space in which best-first, breadth-first and depth-first search generate successors in an order. Other
    /// searches ignore it.
    #[must_use]
    pub fn ordered(self, order: SuccessorOrder) -> Self {
        Self { order, ..self }
    }

    /// The order in which successors are generated.
    #[inline]
    pub fn order(&self) -> SuccessorOrder {
        self.order
    }

    /// Moves in the order in which successors are generated.
    #[inline]
    pub fn sorted(&self, moves: MoveSet) -> SortedMoves {
        self.order.sort(moves)
    }

    /// The puzzle.
    pub fn puzzle(&self) -> &Puzzle {
        &self.puzzle
    }

    /// The shape.
    pub fn size(&self) -> Size {
        self.puzzle.size()
    }

    /// The blank's goal cell.
    pub fn goal_blank(&self) -> Cell {
        self.puzzle.goal().blank()
    }

    /// The start state.
    pub fn start(&self) -> State<P> {
        self.start
    }

    /// True for the goal state.
    #[inline]
    pub fn is_goal(&self, state: &State<P>) -> bool {
        state.tiles == self.goal
    }

    /// The legal moves of a blank in `cell`, except the moves in `back`.
    #[inline]
    pub fn moves_except(&self, cell: Cell, back: MoveSet) -> MoveSet {
        self.moves[usize::from(cell)].except(back)
    }

    /// The slide of a legal move.
    #[inline]
    pub fn slide(&self, state: &State<P>, mv: Move) -> Slide {
        let to = state.blank;
        let from = to.wrapping_add_signed(self.offsets[mv as usize]);
        Slide { label: state.tiles.get(from), from, to, mv }
    }

    /// Makes a legal move and returns the slide.
    #[inline]
    pub fn make(&self, state: &mut State<P>, mv: Move) -> Slide {
        let slide = self.slide(state, mv);
        state.slide(slide.from);
        slide
    }

    /// The slide that led to a state; `back` is the move that undoes it.
    pub fn arrival(&self, state: &State<P>, back: Move) -> Slide {
        let undone = self.make(&mut state.clone(), back);
        Slide { label: undone.label, from: undone.to, to: undone.from, mv: back.inverse() }
    }

    /// The board of a state, with the original tile numbers.
    pub fn board(&self, state: &State<P>) -> Board {
        let goal = self.puzzle.goal();
        Board::from_fn(self.size(), |cell| goal.tile(state.tiles.get(cell)))
    }

    /// The tile number of a label.
    pub fn tile(&self, label: u8) -> u8 {
        self.puzzle.goal().tile(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::PackedBytes;

    #[test]
    fn the_move_table_agrees_with_the_shape() {
        for size in Size::all() {
            let goal = Board::blank_last(size);
            let space = Space::<PackedBytes>::new(&Puzzle::try_new(goal, goal).unwrap());
            for cell in 0..size.cells() as Cell {
                assert_eq!(space.moves_except(cell, MoveSet::EMPTY), size.moves_from(cell), "{size}, cell {cell}");
            }
        }
    }
}
