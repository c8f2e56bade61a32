//! Properties of heuristics: agreement with slow implementations, admissibility, consistency.

use taquin_solver::heuristic::{
    AdditivePatterns, DistanceTable, ExactDistance, Gaschnig, GoalClass, Hamming, InversionDistance, LinearConflict,
    Manhattan, Partition, Sum, Tier, WalkingDistance, WalkingTable, Zero,
};
use taquin_solver::search::{Heuristic, Space, State};
use taquin_solver::{
    Board, HeuristicKind, MoveSet, Named, Packed, Packed64, Packed128, PackedBytes, Puzzle, RandomSource, Size,
    SplitMix, random_board,
};

use crate::reference::{distances, goal_with_blank, neighbors, size};

/// Generic operation on every heuristic.
pub(crate) trait Visitor<P: Packed> {
    /// Visits a heuristic.
    fn visit<H: Heuristic<P>>(&mut self, kind: HeuristicKind, heuristic: &H);
}

/// Calls a visitor with every heuristic that needs no table.
pub(crate) fn visit_all<P: Packed>(size: Size, goal_blank: u8, visitor: &mut impl Visitor<P>) {
    visitor.visit(HeuristicKind::Zero, &Zero);
    visitor.visit(HeuristicKind::Hamming, &Hamming::<false>::new(size, goal_blank));
    visitor.visit(HeuristicKind::MisplacedWithBlank, &Hamming::<true>::new(size, goal_blank));
    visitor.visit(HeuristicKind::Manhattan, &Manhattan::new(size, goal_blank));
    let sum = Sum(Manhattan::new(size, goal_blank), Hamming::<false>::new(size, goal_blank));
    visitor.visit(HeuristicKind::ManhattanPlusHamming, &sum);
    visitor.visit(HeuristicKind::Gaschnig, &Gaschnig::new(size));
    visitor.visit(HeuristicKind::InversionDistance, &InversionDistance::new(size, goal_blank));
    visitor.visit(HeuristicKind::LinearConflict, &LinearConflict::new(size, goal_blank));
}

/// Calls a visitor with every heuristic that reads tables.
pub(crate) fn visit_tables(size: Size, goal_blank: u8, visitor: &mut impl Visitor<Packed64>) {
    if HeuristicKind::WalkingDistance.serves(size) {
        let [rows, cols] = WalkingDistance::shapes(size, goal_blank).map(WalkingTable::build);
        visitor.visit(HeuristicKind::WalkingDistance, &WalkingDistance::new(size, goal_blank, &rows, &cols));
    }
    if GoalClass::serves(size) {
        let class = GoalClass::of(size, goal_blank);
        let partitions = Partition::build(class, &Partition::choose(class, Tier::Small).unwrap());
        visitor.visit(HeuristicKind::PatternDatabase, &AdditivePatterns::new(size, goal_blank, &partitions));
    }
    if DistanceTable::serves(size) {
        let table = DistanceTable::build(size, goal_blank);
        visitor.visit(HeuristicKind::PatternDatabase, &ExactDistance::new(&table));
    }
}

/// The start state of a puzzle.
pub(crate) fn state<P: Packed>(board: &Board, goal: &Board) -> State<P> {
    Space::<P>::new(&Puzzle::try_new(*board, *goal).unwrap()).start()
}

/// Property 1: incremental values agree with evaluation from scratch along walks.
struct AgreesAlongWalks<'a> {
    goal: Board,
    random: &'a mut SplitMix,
}

impl<P: Packed> Visitor<P> for AgreesAlongWalks<'_> {
    fn visit<H: Heuristic<P>>(&mut self, kind: HeuristicKind, heuristic: &H) {
        assert_eq!(H::ADMISSIBLE, kind.is_admissible(), "{}", kind.name());
        let start = random_board(&self.goal, self.random);
        let space = Space::<P>::new(&Puzzle::try_new(start, self.goal).unwrap());
        let mut state = space.start();
        let mut memo = heuristic.evaluate(&state);
        for _ in 0..200 {
            let mut moves = space.moves_except(state.blank, MoveSet::EMPTY);
            let mv = moves.nth(self.random.below(moves.len() as u64) as usize).unwrap();
            let slide = space.make(&mut state, mv);
            memo = heuristic.after(memo, &slide, &state);
            let from_scratch = heuristic.h(heuristic.evaluate(&state));
            assert_eq!(heuristic.h(memo), from_scratch, "{} on {}", kind.name(), space.board(&state));
        }
    }
}

#[test]
fn after_a_move_agrees_with_evaluation_from_scratch() {
    walk_on_shapes(7);
}

#[test]
#[ignore = "half a minute: every shape"]
fn after_a_move_agrees_with_evaluation_from_scratch_on_every_shape() {
    walk_on_shapes(1);
}

/// Walks on boards of every `step`-th size.
fn walk_on_shapes(step: usize) {
    let mut random = SplitMix(11);
    for size in Size::all().step_by(step) {
        for (row, col) in [(0, 0), (size.rows() - 1, size.cols() - 1), (0, 1), (size.rows() / 2, size.cols() / 2)] {
            let goal = goal_with_blank(size, row, col);
            let mut visitor = AgreesAlongWalks { goal, random: &mut random };
            match size.cells() {
                ..=16 => {
                    visit_all::<Packed64>(size, goal.blank(), &mut visitor);
                    visit_tables(size, goal.blank(), &mut visitor);
                }
                17..=25 => visit_all::<Packed128>(size, goal.blank(), &mut visitor),
                _ => visit_all::<PackedBytes>(size, goal.blank(), &mut visitor),
            }
        }
    }
}

/// Properties 2 and 3: admissibility and consistency on all boards.
struct HoldsOnAllBoards<'a> {
    /// Each board with its distance and the indices of its neighbors in this list.
    boards: &'a [(State<Packed64>, u32, Vec<usize>)],
}

impl Visitor<Packed64> for HoldsOnAllBoards<'_> {
    fn visit<H: Heuristic<Packed64>>(&mut self, kind: HeuristicKind, heuristic: &H) {
        let h: Vec<u32> = self.boards.iter().map(|(state, ..)| heuristic.h(heuristic.evaluate(state))).collect();
        let exceeds = self.boards.iter().zip(&h).filter(|((_, distance, _), h)| *h > distance).count();
        assert_eq!(exceeds == 0, kind.is_admissible(), "{}: h exceeds the distance of {exceeds} boards", kind.name());
        let known = &h;
        let jumps = self.boards.iter().zip(&h).filter(|((.., next), h)| next.iter().any(|next| **h > known[*next] + 1));
        if kind.is_consistent() {
            assert_eq!(jumps.count(), 0, "{} falls by more than 1 along a move", kind.name());
        }
        if kind == HeuristicKind::PatternDatabase {
            assert!(self.boards.iter().zip(&h).all(|((_, distance, _), h)| distance == h), "the table is exact");
        }
    }
}

fn laws_hold_on_all_boards(goal: Board) {
    let distances = distances(&goal);
    let boards: Vec<Board> = distances.keys().copied().collect();
    let places: std::collections::HashMap<Board, usize> = boards.iter().copied().zip(0..).collect();
    let boards: Vec<_> = boards
        .iter()
        .map(|board| {
            let next = neighbors(board).iter().map(|next| places[next]).collect();
            (state::<Packed64>(board, &goal), distances[board], next)
        })
        .collect();
    let mut visitor = HoldsOnAllBoards { boards: &boards };
    visit_all(goal.size(), goal.blank(), &mut visitor);
    visit_tables(goal.size(), goal.blank(), &mut visitor);
}

#[test]
fn laws_hold_on_all_181440_boards_with_the_blank_in_a_corner() {
    laws_hold_on_all_boards(goal_with_blank(size(3, 3), 2, 2));
}

#[test]
fn laws_hold_on_all_181440_boards_with_the_blank_on_an_edge() {
    laws_hold_on_all_boards(goal_with_blank(size(3, 3), 0, 1));
}

#[test]
fn laws_hold_on_all_181440_boards_with_the_blank_in_the_center() {
    laws_hold_on_all_boards(Board::snail(size(3, 3)));
}

#[test]
fn laws_hold_on_oblong_boards() {
    for (rows, cols) in [(2, 3), (3, 2), (2, 4), (4, 2)] {
        for goal in [Board::blank_last(size(rows, cols)), goal_with_blank(size(rows, cols), 0, 1)] {
            laws_hold_on_all_boards(goal);
        }
    }
}

/// Manhattan distance by definition.
fn slow_manhattan(board: &Board, goal: &Board) -> usize {
    let find = |board: &Board, tile: u8| board.tiles().iter().position(|t| *t == tile).unwrap();
    let cols = board.size().cols();
    (1..board.size().cells() as u8)
        .map(|tile| {
            let (at, to) = (find(board, tile), find(goal, tile));
            (at / cols).abs_diff(to / cols) + (at % cols).abs_diff(to % cols)
        })
        .sum()
}

/// Linear conflict by definition: tries every subset of the tiles that may stay in a line.
fn slow_linear_conflict(board: &Board, goal: &Board) -> usize {
    let (rows, cols) = (board.size().rows(), board.size().cols());
    let to = |tile: u8| goal.tiles().iter().position(|t| *t == tile).unwrap();
    let line_cost = |cells: Vec<usize>, of: &dyn Fn(usize) -> (usize, usize)| {
        let (line, _) = of(cells[0]);
        let tiles: Vec<usize> = cells
            .iter()
            .map(|cell| board.tiles()[*cell])
            .filter(|tile| *tile != 0 && of(to(*tile)).0 == line)
            .map(|tile| of(to(tile)).1)
            .collect();
        let stay = (0_u32..1 << tiles.len())
            .filter(|subset| {
                let kept: Vec<_> = (0..tiles.len()).filter(|at| subset & (1 << at) != 0).map(|at| tiles[at]).collect();
                kept.is_sorted()
            })
            .map(u32::count_ones)
            .max()
            .unwrap();
        2 * (tiles.len() - stay as usize)
    };
    let by_row = |cell: usize| (cell / cols, cell % cols);
    let by_col = |cell: usize| (cell % cols, cell / cols);
    let in_rows = (0..rows).map(|row| line_cost((0..cols).map(|col| row * cols + col).collect(), &by_row));
    let in_cols = (0..cols).map(|col| line_cost((0..rows).map(|row| row * cols + col).collect(), &by_col));
    slow_manhattan(board, goal) + in_rows.chain(in_cols).sum::<usize>()
}

/// Solves Gaschnig's relaxed puzzle: swaps the blank with the tile that belongs in its cell, or with any misplaced tile
/// if the blank is in its goal cell.
fn slow_gaschnig(board: &Board, goal: &Board) -> usize {
    let mut tiles = board.tiles().to_vec();
    let goal = goal.tiles();
    let mut jumps = 0;
    while tiles != goal {
        let blank = tiles.iter().position(|tile| *tile == 0).unwrap();
        let from = if goal[blank] == 0 {
            (0..tiles.len()).find(|cell| tiles[*cell] != goal[*cell] && tiles[*cell] != 0).unwrap()
        } else {
            tiles.iter().position(|tile| *tile == goal[blank]).unwrap()
        };
        tiles.swap(blank, from);
        jumps += 1;
    }
    jumps
}

#[test]
fn heuristics_equal_their_definitions_on_random_boards() {
    let mut random = SplitMix(5);
    for size in Size::all().filter(|size| size.rows().max(size.cols()) <= 6) {
        for goal in [Board::blank_last(size), Board::snail(size)] {
            for _ in 0..5 {
                let board = random_board(&goal, &mut random);
                let state = state::<PackedBytes>(&board, &goal);
                let h = |heuristic: &LinearConflict| Heuristic::<PackedBytes>::h(heuristic, heuristic.evaluate(&state));
                let linear = h(&LinearConflict::new(size, goal.blank()));
                assert_eq!(linear as usize, slow_linear_conflict(&board, &goal), "{board} to {goal}");
                let manhattan = Manhattan::new(size, goal.blank());
                let manhattan = Heuristic::<PackedBytes>::h(&manhattan, manhattan.evaluate(&state));
                assert_eq!(manhattan as usize, slow_manhattan(&board, &goal), "{board} to {goal}");
                let gaschnig = Gaschnig::new(size);
                let gaschnig = Heuristic::<PackedBytes>::h(&gaschnig, gaschnig.evaluate(&state));
                assert_eq!(gaschnig as usize, slow_gaschnig(&board, &goal), "{board} to {goal}");
            }
        }
    }
}

#[test]
fn walking_tables_have_the_published_number_of_states() {
    let shape = WalkingDistance::shapes(size(4, 4), 15)[0];
    assert_eq!(WalkingTable::build(shape).states(), 24_964);
}

#[test]
fn distance_tables_have_the_known_histogram() {
    let table = DistanceTable::build(size(3, 3), 8);
    let histogram = table.histogram();
    assert_eq!(histogram.iter().sum::<u64>(), 181_440);
    assert_eq!(histogram.len(), 32);
    assert_eq!((histogram[30], histogram[31]), (221, 2));
}
