//! A start and a goal, the goal proven reachable.

use std::fmt;

use super::{Board, Cell, Size};

/// Two boards of one shape, of which the second can be reached from the first.
///
/// Search accepts nothing else, so no search runs for ever on the unreachable half.
///
/// ```
/// use taquin::domain::{Board, Puzzle, PuzzleError, Size};
/// let size = Size::try_from((3, 3)).unwrap();
/// let puzzle = Puzzle::try_new(Board::snail(size), Board::snail(size)).unwrap();
/// assert_eq!(puzzle.start(), puzzle.goal());
///
/// // Two exchanged tiles: the other half of all boards.
/// let exchanged = Board::try_from_tiles(size, &[1, 2, 3, 4, 5, 6, 8, 7, 0].map(Some)).unwrap();
/// let refused = Puzzle::try_new(exchanged, Board::blank_last(size));
/// assert!(matches!(refused, Err(PuzzleError::Unreachable(_))));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Puzzle {
    start: Board,
    goal: Board,
}

/// Why two boards are not a puzzle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PuzzleError {
    /// The goal has another shape.
    ShapesDiffer {
        /// The start's shape.
        start: Size,
        /// The goal's shape.
        goal: Size,
    },
    /// No moves lead from the start to the goal.
    Unreachable(Reachability),
}

/// What decides whether one board can be reached from another of its shape.
///
/// **The parity argument.** A move exchanges the blank and a tile, so it flips the parity of the
/// permutation that takes the one board to the other, and it changes the blank's distance to its
/// goal cell by exactly one. Both parities flip together; at the goal both are even; so they
/// agree on every board that the goal can be reached from. Conversely, on boards of at least 2×2
/// every board on which they agree can be reached (Johnson & Story 1879; Wilson 1974 for graphs
/// at large). The exception is a board one cell wide, where tiles keep their order and the
/// converse fails: [`Size`] refuses those. (Wilson's other exception, the theta graph of seven
/// vertices, is no rectangle.)
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reachability {
    /// Pairs of tiles, the blank left out, that stand in the other order than in the goal.
    pub inversions: u32,
    /// Whether the permutation from board to goal, the blank included, is odd.
    pub odd_permutation: bool,
    /// Rows plus columns between the blank and its goal cell.
    pub blank_distance: u32,
}

impl Reachability {
    /// Compares two boards of one shape.
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

    /// Whether one of two boards of one shape can be reached from the other: what
    /// [`is_reachable`](Self::is_reachable) says, without the inversions, which take longest to count.
    fn exists(start: &Board, goal: &Board) -> bool {
        let size = start.size();
        let is_odd_distance = size.distance(start.blank(), goal.blank()) % 2 == 1;
        is_odd(&labels(start, goal)[..size.cells()]) == is_odd_distance
    }

    /// Whether the goal can be reached.
    pub fn is_reachable(&self) -> bool {
        self.odd_permutation == (self.blank_distance % 2 == 1)
    }
}

/// The parity of a permutation: cells minus cycles.
fn is_odd(permutation: &[Cell]) -> bool {
    let mut seen = [false; Size::MAX_CELLS];
    let mut odd = false;
    for start in 0..permutation.len() {
        let mut at = start;
        while !seen[at] {
            seen[at] = true;
            at = usize::from(permutation[at]);
            // A cycle of k cells takes k − 1 exchanges: one for each step but the closing one.
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
    /// Pairs a start with a goal.
    ///
    /// # Errors
    /// When the shapes differ, or parity forbids to reach the goal.
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

    /// The start with each tile, and the blank, named by its goal cell.
    ///
    /// So named, every goal is the identity, and heuristics and tables depend on nothing but the
    /// shape and the blank's goal cell.
    pub fn labels(&self) -> [Cell; Size::MAX_CELLS] {
        labels(&self.start, &self.goal)
    }
}

impl fmt::Display for PuzzleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShapesDiffer { start, goal } => {
                write!(f, "the board is {start} and the goal {goal}: give both the same shape")
            }
            Self::Unreachable(reachability) => reachability.fmt(f),
        }
    }
}

impl std::error::Error for PuzzleError {}

/// One sentence that explains the verdict.
impl fmt::Display for Reachability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let permutation = if self.odd_permutation { "an odd" } else { "an even" };
        let distance = self.blank_distance;
        let parity = if distance % 2 == 1 { "odd" } else { "even" };
        let steps = if distance == 1 { "step" } else { "steps" };
        write!(
            f,
            "the tiles are {permutation} permutation of the goal and the blank is {distance} {steps} ({parity}) from its place; "
        )?;
        if self.is_reachable() {
            f.write_str("the parities agree, so the goal can be reached")
        } else {
            f.write_str("each move flips both parities, so they can never agree at the goal; exchanging any two tiles makes the board solvable")
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
        let refused = Puzzle::try_new(Board::snail(two), Board::snail(three));
        assert_eq!(refused, Err(PuzzleError::ShapesDiffer { start: two, goal: three }));
    }
}
