//! Parts of estimates: they add up to h, and conflicts equal a search over all subsets.

use taquin_solver::heuristic::{Hamming, Line, LinearConflict, Manhattan, Part, PartOf};
use taquin_solver::search::{Heuristic, State};
use taquin_solver::{
    Board, HeuristicKind, Named, Packed, Packed64, Packed128, PackedBytes, Size, SplitMix, random_board,
};

use crate::heuristics::{Visitor, state, visit_all, visit_tables};
use crate::reference::{board, distances, goal_with_blank, size};

/// The costs of the parts add up to h, and each tile has at most one part of each kind.
struct AddUp<'a, P>(&'a [State<P>]);

impl<P: Packed> Visitor<P> for AddUp<'_, P> {
    fn visit<H: Heuristic<P>>(&mut self, kind: HeuristicKind, heuristic: &H) {
        for state in self.0 {
            let parts = heuristic.parts(state);
            let sum: u32 = parts.iter().map(|part| part.cost).sum();
            assert_eq!(sum, heuristic.h(heuristic.evaluate(state)), "{}: {parts:?}", kind.name());
            let mut covered: Vec<u8> = parts
                .iter()
                .filter(|part| matches!(part.of, PartOf::Pattern | PartOf::Cycle))
                .flat_map(|part| part.labels.clone())
                .collect();
            covered.sort_unstable();
            assert!(covered.windows(2).all(|pair| pair[0] != pair[1]), "{}: {parts:?}", kind.name());
        }
    }
}

#[test]
fn parts_add_up_on_all_181440_boards() {
    for (row, col) in [(2, 2), (0, 1), (1, 1)] {
        let goal = goal_with_blank(size(3, 3), row, col);
        let states: Vec<_> = distances(&goal).keys().map(|board| state::<Packed64>(board, &goal)).collect();
        assert_eq!(states.len(), 181_440);
        visit_all(goal.size(), goal.blank(), &mut AddUp(&states));
        visit_tables(goal.size(), goal.blank(), &mut AddUp(&states));
    }
}

fn random_states<P: Packed>(goal: &Board, random: &mut SplitMix) -> Vec<State<P>> {
    (0..50).map(|_| state::<P>(&random_board(goal, random), goal)).collect()
}

#[test]
fn parts_add_up_on_larger_boards() {
    let mut random = SplitMix(23);
    for size in Size::all().step_by(5) {
        let goal = goal_with_blank(size, size.rows() / 2, 0);
        match size.cells() {
            ..=16 => {
                let states = random_states::<Packed64>(&goal, &mut random);
                visit_all(size, goal.blank(), &mut AddUp(&states));
                visit_tables(size, goal.blank(), &mut AddUp(&states));
            }
            17..=25 => visit_all(size, goal.blank(), &mut AddUp(&random_states::<Packed128>(&goal, &mut random))),
            _ => visit_all(size, goal.blank(), &mut AddUp(&random_states::<PackedBytes>(&goal, &mut random))),
        }
    }
}

/// The tiles in a line of a board whose goal line it is, with their places there.
fn in_goal_line(board: &Board, goal: &Board, line: Line) -> Vec<(u8, usize)> {
    let size = board.size();
    let line_and_place = |cell: usize| match line {
        Line::Row(_) => (Line::Row(cell / size.cols()), cell % size.cols()),
        Line::Col(_) => (Line::Col(cell % size.cols()), cell / size.cols()),
    };
    let to = |tile: u8| goal.tiles().iter().position(|other| *other == tile).unwrap();
    let cells = (0..size.cells()).filter(|cell| line_and_place(*cell).0 == line);
    let tiles = cells.map(|cell| board.tiles()[cell]).filter(|tile| *tile != 0);
    tiles.filter(|tile| line_and_place(to(*tile)).0 == line).map(|tile| (tile, line_and_place(to(tile)).1)).collect()
}

/// True if the tiles that are not removed are in the order of their places.
fn is_sorted_without(tiles: &[(u8, usize)], removed: &[u8]) -> bool {
    tiles.iter().filter(|(tile, _)| !removed.contains(tile)).map(|(_, place)| place).is_sorted()
}

/// The least number of tiles to remove, by trying all subsets.
fn slow_removals(tiles: &[(u8, usize)]) -> usize {
    let subset = |set: u32| (0..tiles.len()).filter(|at| set & 1 << at != 0).map(|at| tiles[at].0).collect::<Vec<_>>();
    let enough = (0..1_u32 << tiles.len()).map(subset).filter(|removed| is_sorted_without(tiles, removed));
    enough.map(|removed| removed.len()).min().unwrap()
}

/// Checks the conflicts of a board in all lines.
fn check_conflicts(board: &Board, goal: &Board) {
    let size = board.size();
    let parts = LinearConflict::new(size, goal.blank()).parts(&state::<PackedBytes>(board, goal));
    let tile = |label: &u8| goal.tile(*label);
    let lines = (0..size.rows()).map(Line::Row).chain((0..size.cols()).map(Line::Col));
    for line in lines {
        let tiles = in_goal_line(board, goal, line);
        let found = parts.iter().find(|part| matches!(part.of, PartOf::Conflict { line: of, .. } if of == line));
        let Some(Part { of: PartOf::Conflict { leaving, .. }, labels, cost }) = found else {
            assert_eq!(slow_removals(&tiles), 0, "{board} to {goal}, {line:?}");
            continue;
        };
        let leaving: Vec<u8> = leaving.iter().map(tile).collect();
        assert!(is_sorted_without(&tiles, &leaving), "{board} to {goal}, {line:?}: {leaving:?}");
        assert_eq!(leaving.len(), slow_removals(&tiles), "{board} to {goal}, {line:?}");
        assert_eq!(*cost as usize, 2 * leaving.len());
        let is_reversed = |(a, (_, place)): &(usize, &(u8, usize))| {
            tiles.iter().enumerate().any(|(b, (_, other))| (*a < b && place > other) || (b < *a && place < other))
        };
        let expected: Vec<u8> = tiles.iter().enumerate().filter(is_reversed).map(|(_, (tile, _))| *tile).collect();
        assert_eq!(labels.iter().map(tile).collect::<Vec<_>>(), expected, "{board} to {goal}, {line:?}");
    }
}

#[test]
fn conflicts_are_those_of_all_subsets_on_all_181440_boards() {
    let goal = Board::blank_last(size(3, 3));
    distances(&goal).keys().for_each(|board| check_conflicts(board, &goal));
}

#[test]
fn conflicts_are_those_of_all_subsets_on_larger_boards() {
    let mut random = SplitMix(29);
    for size in Size::all().filter(|size| size.cells() <= 36) {
        for goal in [Board::blank_last(size), Board::snail(size)] {
            (0..20).for_each(|_| check_conflicts(&random_board(&goal, &mut random), &goal));
        }
    }
}

/// The conflicts of a board: tiles in conflict, tiles that must leave, and cost.
fn conflicts(board_text: &str, goal: &str) -> Vec<(Vec<u8>, Vec<u8>, u32)> {
    let (start, goal) = (board(board_text), board(goal));
    let parts = LinearConflict::new(goal.size(), goal.blank()).parts(&state::<Packed64>(&start, &goal));
    let tiles = |labels: &[u8]| labels.iter().map(|label| goal.tile(*label)).collect();
    let conflict = |part: &Part| match &part.of {
        PartOf::Conflict { leaving, .. } => Some((tiles(&part.labels), tiles(leaving), part.cost)),
        _ => None,
    };
    parts.iter().filter_map(conflict).collect()
}

#[test]
fn a_tile_that_passes_two_others_leaves_its_line_once() {
    let goal = "1 2 3/4 5 6/7 8 0";
    assert_eq!(conflicts("3 1 2/4 5 6/7 8 0", goal), [(vec![3, 1, 2], vec![3], 2)]);
    assert_eq!(conflicts("2 3 1/4 5 6/7 8 0", goal), [(vec![2, 3, 1], vec![1], 2)]);
    // Of two tiles, one must leave.
    assert_eq!(conflicts("2 1 3/4 5 6/8 7 0", goal), [(vec![2, 1], vec![1], 2), (vec![8, 7], vec![7], 2)]);
    // Of three reversed tiles, two must leave.
    assert_eq!(conflicts("3 2 1/4 6 5/7 8 0", goal)[0], (vec![3, 2, 1], vec![2, 1], 4));
    // Tiles in their goal row in order have no conflict, whatever lies between them.
    assert_eq!(conflicts("1 6 3/4 5 7/2 8 0", goal), []);
    assert_eq!(conflicts(goal, goal), []);
}

#[test]
fn the_blank_has_no_part() {
    let goal = board("1 2 3/4 5 6/7 8 0");
    let state = state::<Packed64>(&board("1 2 3/4 5 6/7 0 8"), &goal);
    for parts in [
        Manhattan::new(goal.size(), 8).parts(&state),
        Hamming::<false>::new(goal.size(), 8).parts(&state),
        LinearConflict::new(goal.size(), 8).parts(&state),
    ] {
        assert!(parts.iter().all(|part| part.of == PartOf::Tile && part.labels != [8]), "{parts:?}");
        assert_eq!((parts.len(), parts.iter().map(|part| part.cost).sum::<u32>()), (8, 1));
    }
    assert_eq!(Hamming::<true>::new(goal.size(), 8).parts(&state).len(), 9);
}
