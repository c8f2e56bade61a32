//! Two partitions that share their first pattern, compared with costs computed slowly and with the sequential search.

use taquin_solver::heuristic::{AdditivePatterns, GoalClass, Partition, Patterns, Tier};
use taquin_solver::search::{Heuristic, Space};
use taquin_solver::{Board, MoveSet, Packed64, Puzzle, RandomSource, SplitMix, random_board};

use crate::patterns::{SlowPattern, check_limits, slow_h, state};
use crate::reference::{distances, goal_with_blank, ida_star_in_both_ways, neighbors, size};

/// Twin partitions whose shared pattern has the first `shared` tiles. In one the first of the other tiles is alone, in
/// one the last.
fn twins(class: GoalClass, shared: usize) -> Vec<Patterns> {
    let tiles: Vec<u8> = (0..class.size.cells() as u8).filter(|label| *label != class.goal_blank).collect();
    let (shared, rest) = tiles.split_at(shared);
    let with_alone = |alone: u8| {
        let others = rest.iter().copied().filter(|label| *label != alone).collect();
        vec![shared.to_vec(), others, vec![alone]]
    };
    vec![with_alone(rest[0]), with_alone(rest[rest.len() - 1])]
}

struct Twins {
    goal: Board,
    class: GoalClass,
    choice: Vec<Patterns>,
    partitions: Vec<Partition>,
}

impl Twins {
    fn new((rows, cols): (usize, usize), (row, col): (usize, usize), shared: usize) -> Self {
        let goal = goal_with_blank(size(rows, cols), row, col);
        let class = GoalClass::of(goal.size(), goal.blank());
        let choice = twins(class, shared);
        let partitions = Partition::build(class, &choice);
        assert!(Partition::are_twins(&partitions), "the patterns of {goal} are alike");
        Self { goal, class, choice, partitions }
    }

    fn heuristic(&self) -> AdditivePatterns<'_> {
        AdditivePatterns::new(self.goal.size(), self.goal.blank(), &self.partitions)
    }

    /// The greatest sum of slow costs over both partitions and both symmetries.
    fn slow(&self) -> impl Fn(&taquin_solver::search::State<Packed64>) -> u32 + '_ {
        let slow = |patterns: &Patterns| patterns.iter().map(|labels| SlowPattern::new(self.class, labels)).collect();
        let slow: Vec<Vec<SlowPattern>> = self.choice.iter().map(slow).collect();
        move |state| slow.iter().map(|slow| slow_h(slow, self.class, &self.goal, state)).max().unwrap()
    }
}

#[test]
fn costs_of_twins_on_3x3_are_correct_admissible_and_consistent() {
    for blank in [(0, 0), (2, 2), (0, 1)] {
        let twins = Twins::new((3, 3), blank, 3);
        let (heuristic, slow) = (twins.heuristic(), twins.slow());
        let h = |board: &Board| heuristic.h(heuristic.evaluate(&state(board, &twins.goal)));
        for (board, distance) in distances(&twins.goal).into_iter().step_by(20) {
            let found = h(&board);
            assert_eq!(found, slow(&state(&board, &twins.goal)), "{board}");
            assert!(found <= distance && found % 2 == distance % 2, "{board}: {found} of {distance}");
            assert!(neighbors(&board).iter().all(|next| h(next).abs_diff(found) == 1), "{board}");
        }
    }
}

#[test]
fn costs_of_twins_on_walks_are_correct() {
    let mut random = SplitMix(43);
    for (shape, blank, shared) in [((2, 5), (0, 2), 4), ((5, 2), (2, 1), 5), ((3, 3), (2, 0), 4)] {
        let twins = Twins::new(shape, blank, shared);
        let (heuristic, slow) = (twins.heuristic(), twins.slow());
        for _ in 0..5 {
            let start = random_board(&twins.goal, &mut random);
            let space = Space::<Packed64>::new(&Puzzle::try_new(start, twins.goal).unwrap());
            let mut state = space.start();
            let mut memo = heuristic.evaluate(&state);
            for _ in 0..1_000 {
                assert_eq!(heuristic.h(memo), slow(&state), "{}", space.board(&state));
                let mut moves = space.moves_except(state.blank, MoveSet::EMPTY);
                let mv = moves.nth(random.below(moves.len() as u64) as usize).unwrap();
                let slide = space.make(&mut state, mv);
                let before = memo;
                memo = heuristic.after(memo, &slide, &state);
                for limit in 0..60 {
                    let within = heuristic.after_within(before, &slide, &state, limit);
                    assert_eq!(within.is_ok(), heuristic.h(memo) as i32 <= limit);
                }
            }
        }
    }
}

/// Compares searches of random boards, also under limits on expansions, without and with helpers.
fn check_searches(goal: &Board, partitions: &[Partition], boards: u64, random: &mut SplitMix) {
    let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), partitions);
    for _ in 0..boards {
        let puzzle = Puzzle::try_new(random_board(goal, random), *goal).unwrap();
        ida_star_in_both_ways(&Space::<Packed64>::new(&puzzle), &heuristic);
        check_limits(&puzzle, &heuristic, 3);
    }
}

#[test]
fn parallel_ida_star_with_twins_equals_sequential_ida_star() {
    let mut random = SplitMix(47);
    for (shape, blank, shared, boards) in [((2, 5), (0, 2), 4, 20), ((3, 3), (2, 2), 3, 30), ((3, 5), (2, 2), 6, 6)] {
        let twins = Twins::new(shape, blank, shared);
        check_searches(&twins.goal, &twins.partitions, boards, &mut random);
    }
}

#[test]
fn parallel_ida_star_with_one_view_equals_sequential_ida_star() {
    let goal = goal_with_blank(size(3, 4), 0, 0);
    let class = GoalClass::of(goal.size(), goal.blank());
    let choice = Partition::choose(class, Tier::Small).unwrap();
    let partitions = Partition::build(class, &choice[..1]);
    check_searches(&goal, &partitions, 20, &mut SplitMix(53));
}

#[test]
#[ignore = "20 s: standard tables"]
fn parallel_ida_star_with_standard_twins_equals_sequential_ida_star() {
    for goal in [Board::blank_last(size(4, 4)), Board::blank_first(size(4, 4))] {
        let class = GoalClass::corner_of_4x4();
        let partitions = Partition::build(class, &Partition::choose(class, Tier::Standard).unwrap());
        assert!(Partition::are_twins(&partitions));
        check_searches(&goal, &partitions, 20, &mut SplitMix(59));
    }
}
