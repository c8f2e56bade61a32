//! Pattern databases compared with costs that are computed without bits, regions or ranks.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use taquin_solver::heuristic::{AdditivePatterns, GoalClass, Manhattan, Partition, Symmetry, TableUpgrade, Tier};
use taquin_solver::search::{Budget, Helpers, Heuristic, Space, State, Trace, ida_star};
use taquin_solver::solver::solve;
use taquin_solver::{
    Algorithm, Board, Control, Encoding, HeuristicKind, LazyTables, Limits, MoveSet, Packed64, Plan, Puzzle,
    RandomSource, RawBoard, SearchOptions, SearchRequest, Sides, Size, SplitMix, StopReason, random_board, random_walk,
};

use crate::reference::{self, UnreliableHelper, distances, goal_with_blank, neighbors, size};

/// Costs of one pattern, by 0-1 breadth-first search: the minimum number of moves of its tiles, for each placement of
/// its tiles and the blank.
pub(crate) struct SlowPattern {
    labels: Vec<u8>,
    cells: usize,
    costs: Vec<u8>,
}

impl SlowPattern {
    pub(crate) fn new(class: GoalClass, labels: &[u8]) -> Self {
        let cells = class.size.cells();
        let entries = (0..=labels.len()).map(|taken| cells - taken).product();
        let mut slow = Self { labels: labels.to_vec(), cells, costs: vec![u8::MAX; entries] };
        let home: Vec<u8> = labels.iter().copied().chain([class.goal_blank]).collect();
        let index = slow.index(&home);
        slow.costs[index] = 0;
        let mut queue = VecDeque::from([home]);
        while let Some(cells) = queue.pop_front() {
            let cost = slow.costs[slow.index(&cells)];
            let blank = *cells.last().unwrap();
            for mv in class.size.moves_from(blank) {
                let to = class.size.neighbor(blank, mv).unwrap();
                let mut next = cells.clone();
                *next.last_mut().unwrap() = to;
                let tile = cells[..labels.len()].iter().position(|cell| *cell == to);
                if let Some(tile) = tile {
                    next[tile] = blank;
                }
                let next_cost = cost + u8::from(tile.is_some());
                let index = slow.index(&next);
                if next_cost < slow.costs[index] {
                    slow.costs[index] = next_cost;
                    if tile.is_some() { queue.push_back(next) } else { queue.push_front(next) }
                }
            }
        }
        slow
    }

    /// Index of a placement: each cell counts by its position among the cells not yet taken.
    fn index(&self, cells: &[u8]) -> usize {
        (0..cells.len()).fold(0, |index, nth| {
            let before = cells[..nth].iter().filter(|cell| **cell < cells[nth]).count();
            index * (self.cells - nth) + usize::from(cells[nth]) - before
        })
    }

    /// Cost of a board with the labels in the given cells.
    fn cost(&self, cell_of: impl Fn(u8) -> u8, blank: u8) -> u32 {
        let cells: Vec<u8> = self.labels.iter().map(|label| cell_of(*label)).chain([blank]).collect();
        u32::from(self.costs[self.index(&cells)])
    }
}

/// Sum of the costs of a board, or of its mirror image if that is greater.
pub(crate) fn slow_h(slow: &[SlowPattern], class: GoalClass, goal: &Board, state: &State<Packed64>) -> u32 {
    let (size, goal_blank) = (goal.size(), goal.blank());
    let fits = |symmetry: &Symmetry| symmetry.size() == class.size && symmetry.cell(goal_blank) == class.goal_blank;
    let sums = Symmetry::all(size).filter(fits).take(2).map(|symmetry| {
        let mut cell_of = [0; 16];
        for cell in 0..size.cells() as u8 {
            cell_of[usize::from(symmetry.cell(get(state, cell)))] = symmetry.cell(cell);
        }
        let blank = symmetry.cell(state.blank);
        let cost = |pattern: &SlowPattern| pattern.cost(|label| cell_of[usize::from(label)], blank);
        slow.iter().map(cost).sum()
    });
    sums.max().unwrap()
}

fn get(state: &State<Packed64>, cell: u8) -> u8 {
    (state.tiles.0 >> (4 * cell) & 15) as u8
}

fn patterns_of(class: GoalClass, tiles: usize) -> Vec<Vec<u8>> {
    let labels: Vec<u8> = (0..class.size.cells() as u8).filter(|label| *label != class.goal_blank).collect();
    labels.chunks(tiles).map(<[u8]>::to_vec).collect()
}

/// The default partitions for a goal.
fn chosen(goal: &Board, tier: Tier) -> Vec<Partition> {
    let class = GoalClass::of(goal.size(), goal.blank());
    Partition::build(class, &Partition::choose(class, tier).unwrap())
}

pub(crate) fn state(board: &Board, goal: &Board) -> State<Packed64> {
    Space::new(&Puzzle::try_new(*board, *goal).unwrap()).start()
}

#[test]
fn costs_on_3x3_are_correct_admissible_and_consistent() {
    check_costs_of_3x3(20);
}

#[test]
#[ignore = "half a minute: all boards of four goals"]
fn costs_on_all_boards_of_3x3_are_correct_admissible_and_consistent() {
    check_costs_of_3x3(1);
}

/// Checks every `step`-th board.
fn check_costs_of_3x3(step: usize) {
    for (row, col) in [(0, 0), (2, 2), (0, 1), (1, 1)] {
        let goal = goal_with_blank(size(3, 3), row, col);
        let class = GoalClass::of(goal.size(), goal.blank());
        let patterns = patterns_of(class, 4);
        let partitions = Partition::build(class, std::slice::from_ref(&patterns));
        let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
        let slow: Vec<SlowPattern> = patterns.iter().map(|labels| SlowPattern::new(class, labels)).collect();
        let h = |board: &Board| heuristic.h(heuristic.evaluate(&state(board, &goal)));
        for (board, distance) in distances(&goal).into_iter().step_by(step) {
            let found = h(&board);
            assert_eq!(found, slow_h(&slow, class, &goal, &state(&board, &goal)), "{board}");
            assert!(found <= distance && found % 2 == distance % 2, "{board}: {found} of {distance}");
            assert!(neighbors(&board).iter().all(|next| h(next).abs_diff(found) == 1), "{board}");
        }
    }
}

/// Rows and columns of the board, row and column of the goal's blank, tiles of a pattern.
type Case = (usize, usize, usize, usize, usize);

#[test]
fn costs_on_walks_over_larger_boards_are_correct() {
    check_costs_on_walks(&[(3, 4, 0, 0, 4), (2, 5, 0, 2, 5), (3, 3, 0, 1, 8)]);
}

#[test]
#[ignore = "a minute: large patterns by slow search"]
fn costs_of_large_patterns_on_walks_are_correct() {
    check_costs_on_walks(&[
        (4, 4, 3, 3, 5),
        (4, 4, 0, 1, 5),
        (4, 4, 2, 1, 5),
        (3, 4, 0, 0, 5),
        (4, 3, 1, 1, 6),
        (2, 8, 1, 7, 5),
        (5, 3, 2, 1, 5),
        (2, 5, 0, 2, 7),
        (3, 3, 0, 1, 8),
    ]);
}

fn check_costs_on_walks(cases: &[Case]) {
    let mut random = SplitMix(17);
    for &(rows, cols, row, col, tiles) in cases {
        let goal = goal_with_blank(size(rows, cols), row, col);
        let class = GoalClass::of(goal.size(), goal.blank());
        let patterns = patterns_of(class, tiles);
        let partitions = Partition::build(class, std::slice::from_ref(&patterns));
        let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
        let slow: Vec<SlowPattern> = patterns.iter().map(|labels| SlowPattern::new(class, labels)).collect();
        for _ in 0..5 {
            let start = random_board(&goal, &mut random);
            let space = Space::<Packed64>::new(&Puzzle::try_new(start, goal).unwrap());
            let mut state = space.start();
            let mut memo = heuristic.evaluate(&state);
            for _ in 0..1_000 {
                assert_eq!(heuristic.h(memo), slow_h(&slow, class, &goal, &state), "{}", space.board(&state));
                let mut moves = space.moves_except(state.blank, MoveSet::EMPTY);
                let mv = moves.nth(random.below(moves.len() as u64) as usize).unwrap();
                let slide = space.make(&mut state, mv);
                memo = heuristic.after(memo, &slide, &state);
            }
        }
    }
}

#[test]
#[ignore = "20 s: standard tables of three goals"]
fn standard_patterns_of_15_puzzles_are_consistent_and_admissible_on_walks() {
    check_patterns_on_walks(Tier::Standard, &[(3, 3), (0, 2), (2, 1)]);
}

#[test]
fn small_patterns_of_15_puzzles_are_consistent_and_admissible_on_walks() {
    check_patterns_on_walks(Tier::Small, &[(3, 3), (0, 2)]);
}

fn check_patterns_on_walks(tier: Tier, blanks: &[(usize, usize)]) {
    let mut random = SplitMix(19);
    for &(row, col) in blanks {
        let goal = goal_with_blank(size(4, 4), row, col);
        let partitions = chosen(&goal, tier);
        let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
        let space = Space::<Packed64>::new(&Puzzle::try_new(goal, goal).unwrap());
        for _ in 0..20 {
            let mut state = space.start();
            let mut memo = heuristic.evaluate(&state);
            assert_eq!(heuristic.h(memo), 0);
            for walked in 1..=300 {
                let mut moves = space.moves_except(state.blank, MoveSet::EMPTY);
                let mv = moves.nth(random.below(moves.len() as u64) as usize).unwrap();
                let slide = space.make(&mut state, mv);
                let before = heuristic.h(memo);
                memo = heuristic.after(memo, &slide, &state);
                let h = heuristic.h(memo);
                assert!(h <= walked && h % 2 == walked % 2 && h.abs_diff(before) == 1, "{}", space.board(&state));
                assert_eq!(h, heuristic.h(heuristic.evaluate(&state)), "{}", space.board(&state));
            }
        }
    }
}

#[test]
fn iterations_of_parallel_ida_star_are_those_of_sequential_ida_star() {
    let mut random = SplitMix(23);
    let (mut in_parallel, mut in_sequence) = (0, 0);
    for (goal, boards) in [
        (Board::blank_last(size(4, 4)), 6),
        (goal_with_blank(size(3, 4), 0, 1), 20),
        (goal_with_blank(size(5, 2), 2, 0), 20),
    ] {
        let partitions = chosen(&goal, Tier::Small);
        let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
        for _ in 0..boards {
            let space = Space::<Packed64>::new(&Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
            let [parallel, sequential] = reference::ida_star_in_both_ways(&space, &heuristic);
            in_parallel += parallel.stats.expanded;
            in_sequence += sequential.stats.expanded;
            // Pruning keeps the first optimal solution in move order.
            if goal.size() != size(4, 4) {
                let manhattan = Manhattan::new(goal.size(), goal.blank());
                let plain = ida_star(&space, &manhattan, &Budget::UNLIMITED, &mut Trace::new(0));
                assert_eq!(sequential.result, plain.result);
            }
        }
    }
    // Promising parts come first.
    assert!(in_parallel < in_sequence, "{in_parallel} of {in_sequence}");
}

#[test]
fn helpers_do_not_change_the_result_of_ida_star() {
    let goal = Board::blank_last(size(4, 4));
    let partitions = chosen(&goal, Tier::Small);
    let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
    let mut random = SplitMix(29);
    let mut helped = 0;
    for _ in 0..8 {
        let space = Space::<Packed64>::new(&Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
        let alone = ida_star(&space, &heuristic, &Budget::UNLIMITED, &mut Trace::new(0));
        let helpers = UnreliableHelper::default();
        let budget = Budget { helpers: Some(&helpers), ..Budget::UNLIMITED };
        assert_eq!(ida_star(&space, &heuristic, &budget, &mut Trace::new(0)), alone);
        helped += helpers.helped.into_inner();
    }
    assert!(helped > 0, "no board was hard enough to request help");
}

#[test]
fn limits_on_expansions_are_exact_with_and_without_helpers() {
    check_limits_on_expansions(25);
}

#[test]
#[ignore = "a minute: 400 limits for each board"]
fn many_limits_on_expansions_are_exact() {
    check_limits_on_expansions(400);
}

fn check_limits_on_expansions(limits: u64) {
    let mut random = SplitMix(31);
    for (goal, moves) in [(Board::blank_last(size(4, 4)), 40), (goal_with_blank(size(3, 4), 0, 1), 50)] {
        let partitions = chosen(&goal, Tier::Small);
        let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
        // Easy boards, whose subtrees are small, and random boards.
        for nth in 0..12 {
            let start =
                if nth < 8 { random_walk(&goal, moves + nth, &mut random) } else { random_board(&goal, &mut random) };
            check_limits(&Puzzle::try_new(start, goal).unwrap(), &heuristic, limits);
        }
    }
    // Its last iteration shares its parts, and then counts fewer nodes than one thread alone has expanded.
    let start =
        RawBoard::parse("14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3").board(Sides::default(), Encoding::Tiles).unwrap();
    let shared = Puzzle::try_new(start, Board::blank_first(size(4, 4))).unwrap();
    let goal = shared.goal();
    let partitions = chosen(goal, Tier::Small);
    let total = check_limits(&shared, &AdditivePatterns::new(goal.size(), goal.blank(), &partitions), limits);
    assert_eq!(total, 18_346);
}

/// Checks many limits up to the number of nodes that the search counts without a limit, and returns that number.
pub(crate) fn check_limits(puzzle: &Puzzle, heuristic: &AdditivePatterns<'_>, limits: u64) -> u64 {
    let space = Space::<Packed64>::new(puzzle);
    let unlimited = ida_star(&space, heuristic, &Budget::UNLIMITED, &mut Trace::new(0));
    let total = unlimited.stats.expanded;
    let step = (total / limits).max(1) as usize;
    let more = [total, total.max(2) - 1, total + 10, 2 * total, 3 * total];
    for expanded in (1..=total + 1).rev().step_by(step).chain(more) {
        let what = format!("{expanded} of {total} on {}", puzzle.start());
        let budget = Budget { expanded, ..Budget::UNLIMITED };
        let sequential = ida_star(&space, heuristic, &budget, &mut Trace::new(1));
        let helpers = UnreliableHelper::default();
        for helpers in [None, Some(&helpers as &dyn Helpers)] {
            let budget = Budget { expanded, helpers, ..Budget::UNLIMITED };
            let outcome = ida_star(&space, heuristic, &budget, &mut Trace::new(0));
            if expanded >= total {
                assert_eq!(outcome, unlimited, "{what}");
                continue;
            }
            assert_eq!(outcome.result, Err(StopReason::Expanded), "{what}");
            assert_eq!(outcome.stats.expanded, expanded, "{what}");
            assert_eq!(outcome.lower_bound, sequential.lower_bound, "{what}");
            assert_eq!(outcome.stats.iterations, sequential.stats.iterations, "{what}");
        }
    }
    total
}

/// Tables of a higher tier that arrive after some polls.
#[derive(Debug)]
struct LateTables<'p> {
    partitions: &'p [Partition],
    polls_left: AtomicU64,
}

impl TableUpgrade for LateTables<'_> {
    fn has_better(&self, than: Tier) -> bool {
        let poll = |left: u64| left.checked_sub(1);
        than < Tier::Large && self.polls_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, poll).is_err()
    }

    fn take_better(&self, than: Tier) -> Option<(Tier, &[Partition])> {
        (than < Tier::Large).then_some((Tier::Large, self.partitions))
    }
}

#[test]
fn tables_that_arrive_during_a_search_keep_its_result_optimal() {
    let goal = Board::blank_first(size(4, 4));
    // The tables that arrive are weaker, so that it shows in the counters when they are used.
    let (strong, weak) = (chosen(&goal, Tier::Small), {
        let class = GoalClass::of(goal.size(), goal.blank());
        Partition::build(class, std::slice::from_ref(&patterns_of(class, 5)))
    });
    let patterns = AdditivePatterns::new(goal.size(), goal.blank(), &strong);
    let (_, start, _, length) = instances(KORF).next().unwrap();
    let space = Space::<Packed64>::new(&Puzzle::try_new(start, goal).unwrap());
    let plain = ida_star(&space, &patterns, &Budget::UNLIMITED, &mut Trace::new(0));
    let helpers = UnreliableHelper::default();
    for helpers in [None, Some(&helpers as &dyn Helpers)] {
        for polls in [0, 1, 8, 20, u64::MAX] {
            let late = LateTables { partitions: &weak, polls_left: polls.into() };
            let patterns = patterns.clone().with_upgrade(Some((&late, Tier::Small)));
            let budget = Budget { helpers, ..Budget::UNLIMITED };
            let outcome = ida_star(&space, &patterns, &budget, &mut Trace::new(0));
            assert_eq!(outcome.result.unwrap().len() as u32, length, "after {polls} polls");
            assert_eq!(outcome.lower_bound, length);
            assert_eq!(outcome.stats.initial_h, plain.stats.initial_h);
            match polls {
                u64::MAX => assert_eq!(outcome.stats, plain.stats),
                _ => assert_ne!(outcome.stats.expanded, plain.stats.expanded, "after {polls} polls"),
            }
            // All recorded expansions belong to one heuristic.
            let recorded = ida_star(&space, &patterns, &Budget { expanded: 1000, ..budget }, &mut Trace::new(10));
            assert_eq!(recorded.stats.initial_h, plain.stats.initial_h);
        }
    }
}

#[test]
fn a_search_with_helpers_ends_at_its_deadline_or_when_cancelled() {
    let goal = Board::blank_last(size(4, 4));
    let partitions = chosen(&goal, Tier::Small);
    let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
    let (_, start, _, length) = instances(HARD).next().unwrap();
    let space = Space::<Packed64>::new(&Puzzle::try_new(start, goal).unwrap());
    let helpers = UnreliableHelper::default();
    let deadline = Some(Instant::now() + Duration::from_millis(50));
    let budget = Budget { deadline, helpers: Some(&helpers), ..Budget::UNLIMITED };
    let outcome = ida_star(&space, &heuristic, &budget, &mut Trace::new(0));
    assert_eq!(outcome.result, Err(StopReason::Time));
    assert!(outcome.stats.expanded > 0 && outcome.lower_bound <= length);
    let cancelled = AtomicBool::new(true);
    let budget = Budget { cancel: &[&cancelled], helpers: Some(&helpers), ..Budget::UNLIMITED };
    let outcome = ida_star(&space, &heuristic, &budget, &mut Trace::new(0));
    assert_eq!(outcome.result, Err(StopReason::Cancelled));
}

#[test]
fn ida_star_with_patterns_keeps_its_budget() {
    let goal = Board::blank_last(size(4, 4));
    let partitions = chosen(&goal, Tier::Small);
    let heuristic = AdditivePatterns::new(goal.size(), goal.blank(), &partitions);
    let (_, start, _, length) = instances(HARD).next().unwrap();
    let space = Space::<Packed64>::new(&Puzzle::try_new(start, goal).unwrap());
    let budget = Budget { expanded: 100_000, ..Budget::UNLIMITED };
    let outcome = ida_star(&space, &heuristic, &budget, &mut Trace::new(0));
    assert_eq!((outcome.result, outcome.stats.expanded), (Err(StopReason::Expanded), 100_000));
    assert!(outcome.lower_bound >= outcome.stats.initial_h && outcome.lower_bound <= length);
}

const KORF: (&str, fn(Size) -> Board) = (include_str!("../../../../benches/data/korf15.txt"), Board::blank_first);
const HARD: (&str, fn(Size) -> Board) = (include_str!("../../../../benches/data/hard15.txt"), Board::blank_last);

/// Index, start, goal and optimal length of each instance.
fn instances((text, goal): (&'static str, fn(Size) -> Board)) -> impl Iterator<Item = (u32, Board, Board, u32)> {
    text.lines().filter(|line| !line.starts_with('#')).map(move |line| {
        let numbers: Vec<u32> = line.split_whitespace().map(|number| number.parse().unwrap()).collect();
        let tiles: Vec<String> = numbers[1..17].iter().map(u32::to_string).collect();
        let sides = Sides { rows: Some(4), ..Sides::default() };
        let start = RawBoard::parse(&tiles.join(" ")).board(sides, Encoding::Tiles).unwrap();
        (numbers[0], start, goal(start.size()), numbers[17])
    })
}

#[test]
fn korfs_boards_are_proven_optimal_at_the_listed_lengths() {
    let tables = LazyTables::default();
    for (index, start, goal, length) in instances(KORF) {
        let puzzle = Puzzle::try_new(start, goal).unwrap();
        let plan = Plan::try_new(&SearchOptions::default(), puzzle.size()).unwrap();
        let limits = Limits { time: Duration::MAX, expanded: u64::MAX, nodes: u64::MAX };
        let job = SearchRequest::new(puzzle, plan, limits);
        let report = solve(&job, &tables, Control::default()).unwrap();
        assert_eq!((report.algorithm, report.heuristic), (Algorithm::IdaStar, HeuristicKind::PatternDatabase));
        assert!(report.is_optimal());
        assert_eq!(report.lower_bound, length, "number {index}");
    }
}
