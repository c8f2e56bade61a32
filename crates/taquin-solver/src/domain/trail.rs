//! Trails: known solutions that lead over a board, or close by.

use super::{Board, Move, Path, Puzzle};

/// A solution of a puzzle along a path that was known before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trail {
    /// The moves from the puzzle's start to its goal.
    pub path: Path,
    /// True if the start is a board of the known path; false if the first move leads to the known path.
    pub is_followed: bool,
}

impl Trail {
    /// Returns the shortest solution of a puzzle by at most one move to a board of `path` and the rest of `path`. The
    /// moves of `path` end at the puzzle's goal, and may begin at any board. `None` if no board of `path` is the start
    /// of the puzzle or a neighbor of the start.
    pub fn of(puzzle: &Puzzle, path: &Path) -> Option<Self> {
        let (mut board, moves) = (*puzzle.goal(), path.moves());
        if board == *puzzle.start() {
            return Some(Self { path: Path::default(), is_followed: true });
        }
        // The goal is known and the beginning is not, so the moves are undone from the last to the first. The first
        // neighbor of the start is nearest to the goal. A start on the path comes after one of its neighbors.
        let mut shortest = None;
        for at in (0..=moves.len()).rev() {
            if board == *puzzle.start() {
                return shortest.map(|path| Self { path, is_followed: true });
            }
            if shortest.is_none() {
                let mv = move_between(puzzle.start(), &board);
                shortest = mv.map(|mv| std::iter::once(mv).chain(moves[at..].iter().copied()).collect());
            }
            if at == 0 || board.make(moves[at - 1].inverse()).is_none() {
                break;
            }
        }
        shortest.map(|path| Self { path, is_followed: false })
    }
}

/// The move that leads from one board to another, if one does.
fn move_between(from: &Board, to: &Board) -> Option<Move> {
    if from.size().distance(from.blank(), to.blank()) != 1 {
        return None;
    }
    Move::ALL.into_iter().find(|mv| {
        let mut board = *from;
        board.make(*mv).is_some() && board == *to
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MoveNotation, RandomSource, Size, SplitMix, parse_moves, random_walk};

    fn path(letters: &str) -> Path {
        parse_moves(letters, MoveNotation::Blank, 100).unwrap().into()
    }

    /// The board from which the path leads to the goal, if its moves are legal.
    fn start_of(path: &Path, goal: &Board) -> Option<Board> {
        let mut board = *goal;
        path.moves().iter().rev().try_for_each(|mv| board.make(mv.inverse()).map(|_| ()))?;
        Some(board)
    }

    fn goal() -> Board {
        Board::blank_last(Size::try_from((3, 3)).unwrap())
    }

    fn trail(start: Board, letters: &str) -> Option<(String, bool)> {
        let trail = Trail::of(&Puzzle::try_new(start, goal()).unwrap(), &path(letters))?;
        Some((trail.path.letters(), trail.is_followed))
    }

    #[test]
    fn a_trail_goes_on_from_each_of_its_boards() {
        let known = "ULDRRULLDRRD";
        let start = start_of(&path(known), &goal()).unwrap();
        assert_eq!(trail(start, known), Some((known.to_owned(), true)));
        for (at, step) in (1..).zip(path(known).steps(&start)) {
            assert_eq!(trail(step.board, known), Some((known[at..].to_owned(), true)));
        }
    }

    #[test]
    fn a_move_away_from_a_trail_is_undone() {
        let start = start_of(&path("RRD"), &goal()).unwrap();
        for (mv, back) in [(Move::Up, "D"), (Move::Down, "U")] {
            let mut away = start;
            if away.make(mv).is_some() {
                assert_eq!(trail(away, "RRD"), Some((format!("{back}RRD"), false)));
                let mut farther = away;
                assert!(farther.make(Move::Right).is_some());
                assert_eq!(trail(farther, "RRD"), None, "two moves away");
            }
        }
    }

    #[test]
    fn moves_that_are_made_and_undone_are_left_out() {
        let start = start_of(&path("RD"), &goal()).unwrap();
        assert_eq!(trail(start, "LRRD"), Some(("RD".to_owned(), true)));
        assert_eq!(trail(start, "RLRLRD"), Some(("RD".to_owned(), true)));
        assert_eq!(trail(goal(), "UD"), Some((String::new(), true)));
    }

    #[test]
    fn a_shortcut_between_two_boards_of_a_trail_is_taken_on_the_trail() {
        // The eleven moves around a square of four cells make one move in the other direction.
        let known = "ULDRULDRULDLURRD";
        let start = start_of(&path(known), &goal()).unwrap();
        assert_eq!(trail(start, known), Some(("LLURRD".to_owned(), true)));
    }

    #[test]
    fn a_path_that_cannot_end_at_the_goal_is_no_trail() {
        let start = start_of(&path("RRD"), &goal()).unwrap();
        for letters in ["", "RRU", "RRL", "LLD", "UUUU"] {
            assert_eq!(trail(start, letters), None, "{letters}");
        }
        // What comes before the start does not matter.
        assert_eq!(trail(start, "RRRRD"), Some(("RRD".to_owned(), true)));
    }

    /// Length of the shortest solution by no move or one to a board of the path, whose moves are made from its
    /// beginning.
    fn searched(puzzle: &Puzzle, path: &Path, beginning: Board) -> Option<usize> {
        let boards: Vec<Board> = [beginning].into_iter().chain(path.steps(&beginning).map(|step| step.board)).collect();
        let left = (0..boards.len()).rev().zip(&boards);
        let length = |(left, board): (usize, &Board)| match move_between(puzzle.start(), board) {
            Some(_) => Some(left + 1),
            None => (puzzle.start() == board).then_some(left),
        };
        left.filter_map(length).min()
    }

    #[test]
    fn a_trail_is_the_shortest_way_along_a_path() {
        let (mut source, mut found) = (SplitMix(7), 0);
        for size in [(2, 2), (2, 3), (3, 3), (10, 10)] {
            let beginning = Board::snail(Size::try_from(size).unwrap());
            for _ in 0..400 {
                let mut boards = vec![beginning];
                let mut path = Vec::new();
                for at in 0..40 {
                    let mut board = boards[at];
                    let choice = source.below(board.moves().len() as u64) as usize;
                    let mv = board.moves().nth(choice).unwrap();
                    board.make(mv).unwrap();
                    path.push(mv);
                    boards.push(board);
                }
                let from = boards[source.below(41) as usize];
                let moves_away = source.below(4) as u32;
                let puzzle = Puzzle::try_new(random_walk(&from, moves_away, &mut source), boards[40]).unwrap();
                let path = Path::from(path);
                let trail = Trail::of(&puzzle, &path);
                assert_eq!(trail.as_ref().map(|trail| trail.path.len()), searched(&puzzle, &path, beginning));
                let is_followed = trail.as_ref().map(|trail| trail.is_followed);
                assert_eq!(is_followed.unwrap_or(false), boards.contains(puzzle.start()));
                found += usize::from(trail.is_some_and(|trail| trail.path.replay(&puzzle).is_ok()));
            }
        }
        assert!((800..1600).contains(&found), "{found}");
    }
}
