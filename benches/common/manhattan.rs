//! Nodes of IDA* with Manhattan distance, estimated for boards that take too long to solve.

use std::hint::black_box;
use std::time::Instant;

use taquin::service::Tables;
use taquin_solver::heuristic::Manhattan;
use taquin_solver::search::{Heuristic, Space, State};
use taquin_solver::solver::solve;
use taquin_solver::{
    Algorithm, Board, Control, HeuristicKind, Limits, MoveSet, Packed64, Puzzle, RandomSource, SearchRequest, SplitMix,
};

use super::{UNLIMITED, job};

/// Estimated number of nodes generated until an optimal length is proven.
pub(crate) struct Estimate {
    /// In the iterations below that length, all of which must be completed.
    pub(crate) below: f64,
    /// In the last iteration, as if it did not end at the goal.
    pub(crate) last: f64,
}

/// Share of the last iteration before the goal is found. It varies by board. With a quarter, the sum of the estimates
/// for Korf's boards matches the counts in his paper (1985).
const SHARE_OF_LAST: f64 = 0.25;

/// Number of probes. The estimate for one board is off by 10 to 20 %. Sums over many boards are closer.
const PROBES: u32 = 64;

impl Estimate {
    /// Mean of several probes of the tree of the last iteration, by stratified sampling (Chen 1992). A random node
    /// represents all nodes of its level with equal h, blank cell and last move. Both estimates are unbiased.
    pub(crate) fn new(start: Board, goal: Board, length: u32) -> Self {
        let puzzle = Puzzle::try_new(start, goal).expect("solvable");
        let mut sampling = Sampling::new(&puzzle, length);
        (0..PROBES).for_each(|_| sampling.probe());
        let Self { below, last } = sampling.sum;
        Self { below: below / f64::from(PROBES), last: last / f64::from(PROBES) }
    }

    pub(crate) fn nodes(&self) -> f64 {
        self.below + SHARE_OF_LAST * self.last
    }
}

/// A node that represents others of its level.
#[derive(Clone, Copy)]
struct Representative {
    state: State<Packed64>,
    h: u16,
    back: MoveSet,
    /// Number of nodes it represents.
    weight: f64,
}

impl Representative {
    fn stratum(&self) -> usize {
        usize::from(self.h) << 8 | usize::from(self.state.blank) << 4 | usize::from(self.back.bits())
    }
}

struct Sampling {
    space: Space<Packed64>,
    heuristic: Manhattan,
    length: u32,
    random: SplitMix,
    /// For each stratum, the index of its representative in the next level.
    indices: Vec<Option<usize>>,
    sum: Estimate,
}

impl Sampling {
    fn new(puzzle: &Puzzle, length: u32) -> Self {
        let space = Space::new(puzzle);
        let heuristic = Manhattan::new(space.size(), space.goal_blank());
        let sum = Estimate { below: 0.0, last: 0.0 };
        Self { space, heuristic, length, random: SplitMix(11), indices: vec![None; 1 << 16], sum }
    }

    fn probe(&mut self) {
        let state = self.space.start();
        let h = self.heuristic.evaluate(&state);
        // An iteration starts with one node.
        self.sum.below += f64::from((self.length - u32::from(h)) / 2);
        self.sum.last += 1.0;
        let mut level = vec![Representative { state, h, back: MoveSet::EMPTY, weight: 1.0 }];
        for g in 0..self.length {
            level = self.descend(&level, g);
        }
    }

    fn descend(&mut self, level: &[Representative], g: u32) -> Vec<Representative> {
        let mut next = Vec::new();
        for parent in level {
            let moves = self.space.moves_except(parent.state.blank, parent.back);
            let generated = parent.weight * moves.len() as f64;
            // f never falls along a path, so every iteration from threshold f on visits this node.
            self.sum.below += generated * f64::from((self.length - g - u32::from(parent.h)) / 2);
            self.sum.last += generated;
            for mv in moves {
                let mut state = parent.state;
                let slide = self.space.make(&mut state, mv);
                let h = self.heuristic.after(parent.h, &slide, &state);
                if g + 1 + u32::from(h) <= self.length {
                    self.add(&mut next, Representative { state, h, back: MoveSet::back(mv), weight: parent.weight });
                }
            }
        }
        next.iter().for_each(|node| self.indices[node.stratum()] = None);
        next
    }

    /// Of two nodes in a stratum, keeps one with probability proportional to its weight.
    fn add(&mut self, level: &mut Vec<Representative>, new: Representative) {
        let index = *self.indices[new.stratum()].get_or_insert(level.len());
        let Some(known) = level.get_mut(index) else { return level.push(new) };
        let (weight, chance) = (known.weight + new.weight, self.random.next_u64() as f64 / 2_f64.powi(64));
        *known = Representative { weight, ..if chance * weight < new.weight { new } else { *known } };
    }
}

/// Results of limited searches of several boards.
#[derive(Default)]
pub(crate) struct Trials {
    nodes: f64,
    seconds: f64,
    /// Estimated and generated nodes of each completed search.
    pub(crate) completed: Vec<(f64, f64)>,
}

impl Trials {
    /// Limit on expansions for each board.
    const EXPANDED: u64 = 2_000_000;

    pub(crate) fn add(&mut self, start: Board, goal: Board, tables: &Tables) {
        let limits = Limits { expanded: Self::EXPANDED, ..UNLIMITED };
        let job =
            SearchRequest { limits, ..job(start, goal, Some(Algorithm::IdaStar), Some(HeuristicKind::Manhattan)) };
        let begun = Instant::now();
        let report = solve(black_box(&job), tables, Control::default()).expect("a report");
        self.seconds += begun.elapsed().as_secs_f64();
        let nodes = report.stats.generated as f64;
        self.nodes += nodes;
        if report.is_optimal() {
            self.completed.push((Estimate::new(start, goal, report.lower_bound).nodes(), nodes));
        }
    }

    /// Nodes generated per second.
    pub(crate) fn speed(&self) -> f64 {
        self.nodes / self.seconds
    }
}
