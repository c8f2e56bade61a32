//! The counters themselves: a change that moves them says so.

use taquin::domain::{Board, Encoding, Puzzle, RawBoard, Sides, Word};
use taquin::search::heuristic::Manhattan;
use taquin::search::{Budget, DuplicateDetection, Evaluation, HeapOpenList, Space, Trace, best_first};

fn board(text: &str) -> Board {
    RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).unwrap()
}

fn puzzle(start: &str, goal: &str) -> Puzzle {
    Puzzle::try_new(board(start), board(goal)).unwrap()
}

/// The course project's A*: a binary heap ordered by f alone, a tree search that only refuses to
/// undo the last move.
#[test]
fn the_course_projects_table_comes_out_to_the_digit() {
    for (start, goal, length, expanded, generated) in [
        ("2 8 3/1 6 4/7 0 5", "1 2 3/8 6 4/7 5 0", 7, 10, 21),
        ("5 4 0/6 1 8/7 3 2", "1 2 3/4 0 5/6 7 8", 22, 511, 884),
        ("7 2 4/5 0 6/8 3 1", "0 1 2/3 4 5/6 7 8", 26, 2706, 4550),
    ] {
        let puzzle = puzzle(start, goal);
        let space = Space::<Word>::new(&puzzle);
        let heuristic = Manhattan::new(puzzle.size(), puzzle.goal().blank());
        let outcome = best_first(
            &space,
            &heuristic,
            Evaluation::ASTAR,
            DuplicateDetection::Parent,
            HeapOpenList::default(),
            &Budget::UNLIMITED,
            &mut Trace::default(),
        );
        let path = outcome.result.unwrap();
        assert_eq!((path.len(), outcome.stats.expanded, outcome.stats.generated), (length, expanded, generated));
        assert!(path.replay(&puzzle).is_ok());
    }
}
