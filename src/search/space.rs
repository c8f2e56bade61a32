//! The state space of one puzzle.

use crate::domain::{Board, Cell, Move, MoveSet, Packed, Puzzle, Size};

/// A board in packed form, its tiles and the blank named by their goal cells.
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
    /// Where it slides from: the blank's cell after the move.
    pub from: Cell,
    /// Where it slides to: the blank's cell before the move.
    pub to: Cell,
    /// The direction in which the blank travels.
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

/// A puzzle as searches see it: the goal is the identity, moves are looked up.
#[derive(Clone, Debug)]
pub struct Space<P> {
    puzzle: Puzzle,
    start: State<P>,
    goal: P,
    moves: [MoveSet; 256],
    offsets: [i8; 4],
}

impl<P: Packed> Space<P> {
    /// Prepares a puzzle for search.
    ///
    /// # Panics
    /// If the board has more cells than `P` holds.
    pub fn new(puzzle: &Puzzle) -> Self {
        let size = puzzle.size();
        let cells = size.cells();
        assert!(cells <= P::MAX_CELLS, "a board of {cells} cells does not fit");
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
        }
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

    /// Where the search begins.
    pub fn start(&self) -> State<P> {
        self.start
    }

    /// Whether this is the goal.
    #[inline]
    pub fn is_goal(&self, state: &State<P>) -> bool {
        state.tiles == self.goal
    }

    /// The moves of a blank in `cell` but those in `back`.
    #[inline]
    pub fn moves_except(&self, cell: Cell, back: MoveSet) -> MoveSet {
        self.moves[usize::from(cell)].except(back)
    }

    /// What a legal move slides.
    #[inline]
    pub fn slide(&self, state: &State<P>, mv: Move) -> Slide {
        let to = state.blank;
        let from = to.wrapping_add_signed(self.offsets[mv as usize]);
        Slide { label: state.tiles.get(from), from, to, mv }
    }

    /// Makes a legal move and says what slid.
    #[inline]
    pub fn make(&self, state: &mut State<P>, mv: Move) -> Slide {
        let slide = self.slide(state, mv);
        state.slide(slide.from);
        slide
    }

    /// The slide that led to a state, `back` being the move that would undo it.
    pub fn arrival(&self, state: &State<P>, back: Move) -> Slide {
        let undone = self.make(&mut state.clone(), back);
        Slide { label: undone.label, from: undone.to, to: undone.from, mv: back.inverse() }
    }

    /// The board behind a state, its tiles under their own names again.
    pub fn board(&self, state: &State<P>) -> Board {
        let goal = self.puzzle.goal();
        Board::from_fn(self.size(), |cell| goal.tile(state.tiles.get(cell)))
    }

    /// The tile behind a label.
    pub fn tile(&self, label: u8) -> u8 {
        self.puzzle.goal().tile(label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Bytes;

    #[test]
    fn the_moves_of_each_cell_are_those_of_its_shape() {
        for size in Size::all() {
            let goal = Board::blank_last(size);
            let space = Space::<Bytes>::new(&Puzzle::try_new(goal, goal).unwrap());
            for cell in 0..size.cells() as Cell {
                assert_eq!(space.moves_except(cell, MoveSet::EMPTY), size.moves_from(cell), "{size}, cell {cell}");
            }
        }
    }
}
