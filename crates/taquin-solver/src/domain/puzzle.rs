//! Puzzles: a start, and a goal that is proven reachable.

use std::fmt;

use super::{Board, Cell, Size};

/// Two boards of one shape, the second reachable from the first.
///
/// Searches accept only puzzles, so none runs forever on an unsolvable board.
///
/// ```
/// use taquin_solver::{Board, Puzzle, PuzzleError, Size};
/// let size = Size::try_from((3, 3)).unwrap();
/// let puzzle = Puzzle::try_new(Board::snail(size), Board::snail(size)).unwrap();
/// assert_eq!(puzzle.start(), puzzle.goal());
///
/// // Exchanging two tiles makes a board unsolvable.
/// let exchanged = Board::try_from_tiles(size, &[1, 2, 3, 4, 5, 6, 8, 7, 0].map(Some)).unwrap();
/// let rejected = Puzzle::try_new(exchanged, Board::blank_last(size));
/// assert!(matches!(rejected, Err(PuzzleError::Unreachable(_))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Puzzle {
    start: Board,
    goal: Board,
}

/// Why two boards do not form a puzzle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PuzzleError {
    /// Start and goal have different shapes.
    ShapesDiffer {
        /// The start's shape.
        start: Size,
        /// The goal's shape.
        goal: Size,
    },
    /// The goal cannot be reached from the start.
    Unreachable(Reachability),
}

/// The parities that decide whether one board can be reached from another.
///
/// **The parity argument.** A move exchanges the blank and a tile, so it flips the parity of the permutation between
/// the two boards, and it changes the distance of the blank from its goal cell by exactly one. Both parities flip
/// together, and both are even at the goal, so they are equal on every board from which the goal can be reached.
/// Conversely, on boards of at least 2×2 every board with equal parities can reach the goal (Johnson & Story 1879;
/// Wilson 1974 for graphs in general). The exception is a board one cell wide, where tiles keep their order: [`Size`]
/// rejects those. (Wilson's other exception, the theta graph on seven vertices, is not a rectangle.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reachability {
    /// Pairs of tiles, without the blank, in another order than in the goal.
    pub inversions: u32,
    /// True if the permutation between board and goal, including the blank, is odd.
    pub odd_permutation: bool,
    /// Rows plus columns between the blank and its goal cell.
    pub blank_distance: u32,
}

impl Reachability {
    /// Compares two boards.
    ///
    /// # Errors
    /// [`PuzzleError::ShapesDiffer`].
    pub fn between(start: &Board, goal: &Board) -> Result<Self, PuzzleError> {
        let size = start.size();
        if size != goal.size() {
            return Err(PuzzleError::ShapesDiffer { start: size, goal: goal.size() });
        }
        let labels = labels(start, goal);
        let labels = &labels[..size.cells()];
        let tiles = || labels.iter().filter(|label| **label != goal.blank());
        let inversions =
            tiles().enumerate().map(|(at, left)| tiles().skip(at + 1).filter(|right| *right < left).count());
        Ok(Self {
            inversions: inversions.sum::<usize>() as u32,
            odd_permutation: is_odd(labels),
            blank_distance: size.distance(start.blank(), goal.blank()),
        })
    }

    /// True if `goal` can be reached from `start`, a board of the same shape. Faster than [`between`](Self::between),
    /// because it does not count inversions.
    pub(crate) fn exists(start: &Board, goal: &Board) -> bool {
        let size = start.size();
        let is_odd_distance = size.distance(start.blank(), goal.blank()) % 2 == 1;
        is_odd(&labels(start, goal)[..size.cells()]) == is_odd_distance
    }

    /// True if the goal can be reached.
    pub fn is_reachable(&self) -> bool {
        self.odd_permutation == (self.blank_distance % 2 == 1)
    }
}

/// True if a permutation is odd: if its number of cells minus its number of cycles is odd.
fn is_odd(permutation: &[Cell]) -> bool {
    let mut seen = [false; Size::MAX_CELLS];
    let mut odd = false;
    for start in 0..permutation.len() {
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            at = usize::from(permutation[at]);
            // A cycle of k cells is k − 1 exchanges: one per step except the last, which closes it.
            odd ^= at != start;
        }
    }
    odd
}

fn labels(board: &Board, goal: &Board) -> [Cell; Size::MAX_CELLS] {
    let goal_cells = goal.positions();
    let mut labels = [0; Size::MAX_CELLS];
    for (label, tile) in labels.iter_mut().zip(board.tiles()) {
        *label = goal_cells[usize::from(*tile)];
    }
    labels
}

impl Puzzle {
    /// Creates a puzzle.
    ///
    /// # Errors
    /// If the shapes differ, or the goal cannot be reached.
    pub fn try_new(start: Board, goal: Board) -> Result<Self, PuzzleError> {
        if start.size() == goal.size() && Reachability::exists(&start, &goal) {
            return Ok(Self { start, goal });
        }
        Err(PuzzleError::Unreachable(Reachability::between(&start, &goal)?))
    }

    /// The board to solve.
    pub fn start(&self) -> &Board {
        &self.start
    }

    /// The board to reach.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// The shape of both.
    pub fn size(&self) -> Size {
        self.start.size()
    }

    /// The start, with tiles and blank named by their goal cells.
    ///
    /// With these names every goal is the identity, so heuristics and tables depend only on the shape and the blank's
    /// goal cell.
    pub fn labels(&self) -> [Cell; Size::MAX_CELLS] {
        labels(&self.start, &self.goal)
    }
}

impl fmt::Display for PuzzleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShapesDiffer { start, goal } => {
                write!(f, "the board is {start} and the goal {goal}: both must have the same shape")
            }
            Self::Unreachable(reachability) => write!(f, "{reachability}. Swap any two tiles, or choose another goal"),
        }
    }
}

impl std::error::Error for PuzzleError {}

/// A sentence for clients.
impl fmt::Display for Reachability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parity = |odd| if odd { "odd" } else { "even" };
        let (permutation, distance) = (parity(self.odd_permutation), parity(self.blank_distance % 2 == 1));
        if self.is_reachable() {
            write!(
                f,
                "this board can reach the goal: the tile permutation and the blank's distance are both {permutation}"
            )
        } else {
            write!(
                f,
                "this board cannot reach the goal: the tile permutation is {permutation}, but the blank's distance is \
                 {distance}"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(tiles: [i64; 9]) -> Board {
        Board::try_from_tiles(Size::try_from((3, 3)).unwrap(), &tiles.map(Some)).unwrap()
    }

    #[test]
    fn two_exchanged_tiles_cannot_be_solved() {
        let start = board([1, 2, 3, 4, 5, 6, 8, 7, 0]);
        let goal = Board::blank_last(start.size());
        let reachability = Reachability::between(&start, &goal).unwrap();
        assert_eq!(reachability, Reachability { inversions: 1, odd_permutation: true, blank_distance: 0 });
        assert_eq!(Puzzle::try_new(start, goal), Err(PuzzleError::Unreachable(reachability)));
    }

    #[test]
    fn counts_are_relative_to_the_goal() {
        let start = board([1, 2, 3, 4, 5, 6, 8, 7, 0]);
        let itself = Reachability::between(&start, &start).unwrap();
        assert_eq!(itself, Reachability { inversions: 0, odd_permutation: false, blank_distance: 0 });
    }

    #[test]
    fn shapes_must_agree() {
        let (two, three) = (Size::try_from((2, 2)).unwrap(), Size::try_from((3, 3)).unwrap());
        let rejected = Puzzle::try_new(Board::snail(two), Board::snail(three));
        assert_eq!(rejected, Err(PuzzleError::ShapesDiffer { start: two, goal: three }));
    }
}
