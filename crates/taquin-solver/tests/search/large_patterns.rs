//! Additive pattern databases on boards of more than 16 cells.

use taquin_solver::heuristic::{
    GoalClass, LargeAdditivePatterns, LinearConflict, Manhattan, Partition, Patterns, Tier,
};
use taquin_solver::search::{Budget, Heuristic, Space, Trace, ida_star};
use taquin_solver::{
    MoveSet, Packed, Packed128, PackedBytes, Puzzle, RandomSource, Size, SplitMix, random_board, random_walk,
};

use crate::reference::{self, UnreliableHelper, goal_with_blank, size};

/// Maximum number of patterns of three tiles, whose tables are built quickly for any board.
const MAX_PATTERNS: usize = 12;

fn sizes() -> impl Iterator<Item = Size> {
    Size::all().filter(|size| size.cells() > 16 && GoalClass::serves(*size))
}

/// Partitions with small patterns, chosen as the service does.
fn partitions(class: GoalClass) -> Vec<Partition> {
    let tiles: Vec<u8> = (0..class.size.cells() as u8).filter(|label| *label != class.goal_blank).collect();
    let mut by_column = tiles.clone();
    by_column.sort_by_key(|label| class.size.col_of(*label));
    let orders = if class.is_mirrored() { vec![by_column] } else { vec![by_column, tiles] };
    let sorted = |chunk: &[u8]| {
        let mut labels = chunk.to_vec();
        labels.sort_unstable();
        labels
    };
    let choice: Vec<Patterns> = orders.iter().map(|order| order.chunks(3).map(sorted).collect()).collect();
    Partition::build(class, &choice)
}

/// Checks along a walk that the incremental value equals a full evaluation, that h changes by at most one, and that it
/// is at least Manhattan distance.
fn walk<P: Packed>(space: &Space<P>, heuristic: &impl Heuristic<P>, random: &mut SplitMix) {
    let manhattan = Manhattan::new(space.size(), space.goal_blank());
    let mut state = space.start();
    let mut memo = heuristic.evaluate(&state);
    for _ in 0..100 {
        let mut moves = space.moves_except(state.blank, MoveSet::EMPTY);
        let mv = moves.nth(random.below(moves.len() as u64) as usize).unwrap();
        let slide = space.make(&mut state, mv);
        let before = heuristic.h(memo);
        let limit = random.below(2 * u64::from(before)) as i32;
        let within = heuristic.after_within(memo, &slide, &state, limit);
        memo = heuristic.after(memo, &slide, &state);
        let h = heuristic.h(memo);
        assert_eq!(within.map_err(|least| least > limit as u32 && least <= h).is_ok(), h as i32 <= limit);
        assert_eq!(h, heuristic.h(heuristic.evaluate(&state)), "{}", space.board(&state));
        assert!(h.abs_diff(before) == 1, "a move must change h by one");
        let lower = Heuristic::<P>::h(&manhattan, manhattan.evaluate(&state));
        assert!(h >= lower && (h - lower).is_multiple_of(2));
    }
}

#[test]
fn after_a_move_agrees_with_evaluation_from_scratch() {
    walk_on_shapes(4, 9);
}

#[test]
#[ignore = "a minute: every shape and goal"]
fn after_a_move_agrees_with_evaluation_from_scratch_on_every_shape_and_goal() {
    walk_on_shapes(1, 1);
}

/// Checks every `shapes`-th size, with the goal's blank in every `cells`-th cell.
fn walk_on_shapes(shapes: usize, cells: usize) {
    let mut random = SplitMix(5);
    for size in sizes().step_by(shapes) {
        for cell in (0..size.cells() as u8).step_by(cells) {
            let goal = goal_with_blank(size, size.row_of(cell), size.col_of(cell));
            let partitions = partitions(GoalClass::of(size, cell));
            let heuristic = LargeAdditivePatterns::<MAX_PATTERNS>::new(size, cell, &partitions);
            let puzzle = Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap();
            if size.cells() <= Packed128::MAX_CELLS {
                walk(&Space::<Packed128>::new(&puzzle), &heuristic, &mut random);
            } else {
                walk(&Space::<PackedBytes>::new(&puzzle), &heuristic, &mut random);
            }
        }
    }
}

#[test]
fn iterations_of_parallel_ida_star_are_those_of_sequential_ida_star() {
    let mut random = SplitMix(7);
    for (rows, cols, cell) in [(2, 9, 0), (9, 2, 5), (3, 6, 17), (4, 5, 19), (5, 5, 0), (5, 5, 24), (5, 5, 12)] {
        let size = size(rows, cols);
        let goal = goal_with_blank(size, size.row_of(cell), size.col_of(cell));
        let class = GoalClass::of(size, cell);
        let partitions = Partition::build(class, &Partition::choose(class, Tier::Small).unwrap());
        let heuristic = LargeAdditivePatterns::<5>::new(size, cell, &partitions);
        for moves in [0, 1, 2, 15, 30, 40, 44, 45] {
            let start = random_walk(&goal, moves, &mut random);
            let space = Space::<Packed128>::new(&Puzzle::try_new(start, goal).unwrap());
            let [parallel, _] = reference::ida_star_in_both_ways(&space, &heuristic);
            let helpers = UnreliableHelper::default();
            let budget = Budget { helpers: Some(&helpers), ..Budget::UNLIMITED };
            assert_eq!(ida_star(&space, &heuristic, &budget, &mut Trace::new(0)), parallel);
        }
    }
}

#[test]
fn solutions_are_as_short_as_with_another_heuristic() {
    let mut random = SplitMix(6);
    for size in sizes().filter(|size| size.cells() <= Packed128::MAX_CELLS) {
        for cell in [0, 1, size.cells() as u8 / 2] {
            let goal = goal_with_blank(size, size.row_of(cell), size.col_of(cell));
            let partitions = partitions(GoalClass::of(size, cell));
            let heuristic = LargeAdditivePatterns::<MAX_PATTERNS>::new(size, cell, &partitions);
            for moves in [1, 20, 40] {
                let start = random_walk(&goal, moves, &mut random);
                let space = Space::<Packed128>::new(&Puzzle::try_new(start, goal).unwrap());
                let length = |outcome: taquin_solver::search::Outcome| outcome.result.unwrap().len();
                let other = LinearConflict::new(size, cell);
                let expected = length(ida_star(&space, &other, &Budget::UNLIMITED, &mut Trace::default()));
                let outcome = ida_star(&space, &heuristic, &Budget::UNLIMITED, &mut Trace::default());
                assert!(outcome.is_optimal());
                assert_eq!(length(outcome), expected, "{start}");
            }
        }
    }
}
