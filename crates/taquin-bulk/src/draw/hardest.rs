//! The hardest 15-puzzles, where walks to boards of great lengths start.

use taquin_solver::heuristic::{GoalClass, Symmetry};
use taquin_solver::{Board, Cell, Move};

/// Optimal length of the [hardest boards](ANTIPODES).
const LENGTH: u32 = 80;

/// The 17 boards that take 80 moves to the goal with the blank first and the tiles in order. Brüngger et al. (1999)
/// proved that no board takes more. Korf & Schultze (2005) counted 17. A test proves the length of each board.
const ANTIPODES: [[Cell; 16]; 17] = [
    [15, 10, 8, 12, 11, 14, 9, 13, 2, 6, 5, 1, 3, 7, 4, 0],
    [15, 10, 8, 12, 11, 14, 9, 13, 7, 2, 5, 1, 3, 6, 4, 0],
    [15, 11, 8, 12, 14, 10, 9, 13, 2, 6, 1, 4, 3, 7, 5, 0],
    [15, 11, 8, 12, 14, 10, 9, 13, 2, 6, 4, 5, 3, 7, 1, 0],
    [15, 11, 8, 12, 14, 10, 9, 13, 2, 6, 5, 1, 3, 7, 4, 0],
    [15, 11, 8, 12, 14, 10, 9, 13, 6, 7, 5, 1, 3, 2, 4, 0],
    [15, 11, 8, 12, 14, 10, 9, 13, 7, 2, 5, 1, 3, 6, 4, 0],
    [15, 11, 8, 12, 14, 10, 9, 13, 7, 6, 2, 1, 3, 5, 4, 0],
    [15, 11, 8, 12, 14, 10, 13, 9, 2, 7, 5, 1, 3, 6, 4, 0],
    [15, 11, 9, 12, 14, 10, 8, 13, 6, 2, 5, 1, 3, 7, 4, 0],
    [15, 11, 9, 12, 14, 10, 13, 8, 2, 6, 5, 1, 3, 7, 4, 0],
    [15, 11, 9, 12, 14, 10, 13, 8, 6, 7, 5, 1, 3, 2, 4, 0],
    [15, 11, 13, 12, 14, 10, 8, 9, 2, 6, 5, 1, 3, 7, 4, 0],
    [15, 11, 13, 12, 14, 10, 8, 9, 7, 2, 5, 1, 3, 6, 4, 0],
    [15, 11, 13, 12, 14, 10, 9, 5, 2, 6, 8, 1, 3, 7, 4, 0],
    [15, 14, 8, 12, 10, 11, 9, 13, 2, 6, 5, 1, 3, 7, 4, 0],
    [15, 14, 13, 12, 10, 11, 8, 9, 2, 6, 5, 1, 3, 7, 4, 0],
];

/// Hard boards of a goal, all of one optimal length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Hardest {
    /// The boards.
    pub(super) boards: Vec<Board>,
    /// Optimal length of the boards: 80 if the blank belongs in a corner, 79 on an edge, and 78 in the centre. Longer
    /// boards exist for goals with the blank on an edge or in the centre, but are not among the boards.
    pub(super) length: u32,
}

impl Hardest {
    /// Returns the [`length`](Self::length) of the hard boards; `None` if the goal is not a 4×4 board.
    pub(super) fn length_of(goal: &Board) -> Option<u32> {
        (goal.size() == GoalClass::corner_of_4x4().size).then(|| LENGTH - to_corner(goal).1)
    }

    /// Returns the hard boards of a goal; `None` if the goal is not a 4×4 board.
    ///
    /// The boards are the antipodes of a second goal: `goal` after the blank has made *m* moves to the nearest corner.
    /// So the boards are at least 80 − *m* moves from `goal`.
    pub(super) fn of(goal: &Board) -> Option<Self> {
        let length = Self::length_of(goal)?;
        let (corner, _) = to_corner(goal);
        let symmetry = Symmetry::all(goal.size()).find(|symmetry| symmetry.cell(0) == corner.blank())?;
        let boards = ANTIPODES.iter().map(|antipode| mapped(antipode, &symmetry, &corner)).collect();
        Some(Self { boards, length })
    }
}

/// Returns the goal after the blank's moves to the nearest corner, and the number of these moves.
fn to_corner(goal: &Board) -> (Board, u32) {
    let (mut board, mut moves) = (*goal, 0);
    let last = |cell: usize, side: usize| cell == 0 || cell == side - 1;
    let size = goal.size();
    for (mv, back, is_row) in [(Move::Up, Move::Down, true), (Move::Left, Move::Right, false)] {
        let (at, side) =
            if is_row { (size.row_of(board.blank()), size.rows()) } else { (size.col_of(board.blank()), size.cols()) };
        if !last(at, side) {
            // A side has four cells, so the nearer end is one move away.
            board.make(if at < side / 2 { mv } else { back });
            moves += 1;
        }
    }
    (board, moves)
}

/// Returns the board that has the same relation to `goal` as an antipode has to the goal with the blank first.
fn mapped(antipode: &[Cell; 16], symmetry: &Symmetry, goal: &Board) -> Board {
    let mut numbers = [None; 16];
    for (cell, belongs) in (0..).zip(antipode) {
        numbers[usize::from(symmetry.cell(cell))] = Some(i64::from(goal.tile(symmetry.cell(*belongs))));
    }
    Board::try_from_tiles(goal.size(), &numbers).expect("a symmetry maps cells one to one")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{LazyTables, Puzzle, Size, Solver};

    /// Goals with the blank in every cell.
    fn goals() -> impl Iterator<Item = Board> {
        let size = Size::try_from((4, 4)).unwrap();
        (0..16_u8).map(move |blank| {
            let number = |cell| Some(i64::from(if cell == blank { 0 } else { cell + u8::from(cell < blank) }));
            Board::try_from_tiles(size, &(0..16).map(number).collect::<Vec<_>>()).unwrap()
        })
    }

    #[test]
    fn every_goal_of_the_15_puzzle_has_17_hard_boards() {
        for goal in goals() {
            let Hardest { boards, length } = Hardest::of(&goal).unwrap();
            assert_eq!(boards.iter().collect::<HashSet<_>>().len(), 17, "{goal}");
            assert!(boards.iter().all(|board| Puzzle::try_new(*board, goal).is_ok()), "{goal}");
            let is_outer = |cell: usize| [0, 3].contains(&cell);
            let (row, col) = (goal.size().row_of(goal.blank()), goal.size().col_of(goal.blank()));
            assert_eq!(length, 78 + u32::from(is_outer(row)) + u32::from(is_outer(col)), "{goal}");
        }
        assert_eq!(Hardest::of(&Board::blank_last(Size::try_from((2, 8)).unwrap())), None);
    }

    #[test]
    #[ignore = "minutes: proofs of 68 of the hardest boards"]
    fn hard_boards_have_their_length() {
        let solver = Solver::with_tables(LazyTables::new(Tier::Standard));
        for goal in goals().filter(|goal| [0, 2, 10, 15].contains(&goal.blank())) {
            let Hardest { boards, length } = Hardest::of(&goal).unwrap();
            for board in boards {
                let solved = solver.solve(&Puzzle::try_new(board, goal).unwrap());
                assert!(solved.is_optimal() && solved.path.len() as u32 == length, "{board} to {goal}");
            }
        }
    }
}
