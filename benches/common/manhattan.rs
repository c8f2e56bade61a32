//! What IDA* with Manhattan costs, also on boards where nobody can wait for its end.

use std::hint::black_box;
use std::time::Instant;

use taquin::domain::{Board, MoveSet, Packed64, Puzzle, RandomSource};
use taquin::search::heuristic::Manhattan;
use taquin::search::{Algorithm, Heuristic, HeuristicKind, Space, State};
use taquin::service::{Job, Limits, SearchContext, Tables, solve};

use super::{SplitMix, UNLIMITED, job};

/// Nodes that it generates until it has proven an optimal length, estimated.
pub(crate) struct Estimate {
    /// In the iterations below that length, all of which it must complete.
    pub(crate) below: f64,
    /// In the last one, as if it did not end at the goal.
    pub(crate) last: f64,
}

/// How much of the last iteration comes before the goal: anything, on one board; with a quarter the
/// estimates for all of Korf's boards are as high as the counts in his paper.
const SHARE_OF_LAST: f64 = 0.25;

/// For one board's estimate to be within a tenth or two, and the sum over many nearer.
const PROBES: u32 = 64;

impl Estimate {
    /// The mean of some probes of the tree that the last iteration searches, by stratified sampling
    /// (Chen 1992): of a level's nodes with the same h, the blank in the same cell and come there by the
    /// same move, one that is drawn stands for all. The estimates of both counts have no bias.
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

/// A node that stands for some of its level.
#[derive(Clone, Copy)]
struct Delegate {
    state: State<Packed64>,
    h: u16,
    back: MoveSet,
    /// How many.
    weight: f64,
}

impl Delegate {
    fn stratum(&self) -> usize {
        usize::from(self.h) << 8 | usize::from(self.state.blank) << 4 | usize::from(self.back.bits())
    }
}

struct Sampling {
    space: Space<Packed64>,
    heuristic: Manhattan,
    length: u32,
    random: SplitMix,
    /// By stratum: the place of its delegate in the next level.
    places: Vec<Option<usize>>,
    sum: Estimate,
}

impl Sampling {
    fn new(puzzle: &Puzzle, length: u32) -> Self {
        let space = Space::new(puzzle);
        let heuristic = Manhattan::new(space.size(), space.goal_blank());
        let sum = Estimate { below: 0.0, last: 0.0 };
        Self { space, heuristic, length, random: SplitMix(11), places: vec![None; 1 << 16], sum }
    }

    fn probe(&mut self) {
        let state = self.space.start();
        let h = self.heuristic.evaluate(&state);
        // An iteration begins with one node.
        self.sum.below += f64::from((self.length - u32::from(h)) / 2);
        self.sum.last += 1.0;
        let mut level = vec![Delegate { state, h, back: MoveSet::EMPTY, weight: 1.0 }];
        for g in 0..self.length {
            level = self.descend(&level, g);
        }
    }

    fn descend(&mut self, level: &[Delegate], g: u32) -> Vec<Delegate> {
        let mut next = Vec::new();
        for parent in level {
            let moves = self.space.moves_except(parent.state.blank, parent.back);
            let generated = parent.weight * moves.len() as f64;
            // On the way down f never falls: every iteration from that of its f on comes here.
            self.sum.below += generated * f64::from((self.length - g - u32::from(parent.h)) / 2);
            self.sum.last += generated;
            for mv in moves {
                let mut state = parent.state;
                let slide = self.space.make(&mut state, mv);
                let h = self.heuristic.after(parent.h, &slide, &state);
                if g + 1 + u32::from(h) <= self.length {
                    self.elect(&mut next, Delegate { state, h, back: MoveSet::back(mv), weight: parent.weight });
                }
            }
        }
        next.iter().for_each(|delegate| self.places[delegate.stratum()] = None);
        next
    }

    /// Of two in a stratum, each is as likely to stay as it stands for many.
    fn elect(&mut self, level: &mut Vec<Delegate>, new: Delegate) {
        let place = *self.places[new.stratum()].get_or_insert(level.len());
        let Some(known) = level.get_mut(place) else { return level.push(new) };
        let (weight, chance) = (known.weight + new.weight, self.random.next_u64() as f64 / 2_f64.powi(64));
        *known = Delegate { weight, ..if chance * weight < new.weight { new } else { *known } };
    }
}

/// What came of trying it on some boards.
#[derive(Default)]
pub(crate) struct Trials {
    nodes: f64,
    seconds: f64,
    /// Where it came to the end: estimated and generated nodes.
    pub(crate) ended: Vec<(f64, f64)>,
}

impl Trials {
    /// As many expansions as it gets on a board.
    const EXPANDED: u64 = 2_000_000;

    pub(crate) fn add(&mut self, start: Board, goal: Board, tables: &Tables) {
        let limits = Limits { expanded: Self::EXPANDED, ..UNLIMITED };
        let job = Job { limits, ..job(start, goal, Some(Algorithm::IdaStar), Some(HeuristicKind::Manhattan)) };
        let begun = Instant::now();
        let report = solve(black_box(&job), tables, SearchContext::default()).expect("a report");
        self.seconds += begun.elapsed().as_secs_f64();
        let nodes = report.stats.generated as f64;
        self.nodes += nodes;
        if report.is_optimal() {
            self.ended.push((Estimate::new(start, goal, report.lower_bound).nodes(), nodes));
        }
    }

    /// Nodes generated in a second.
    pub(crate) fn speed(&self) -> f64 {
        self.nodes / self.seconds
    }
}
