//! A*, weighted A* and greedy best-first search: one loop, told apart by its evaluation function.

use super::closed_list::ClosedList;
use super::node::{Arena, Node, Phase};
use super::{
    Budget, DuplicateDetection, HeapOpenList, Heuristic, Meter, OpenList, Outcome, Space, Stats, StopReason, Trace,
    Weight,
};
use crate::domain::{Packed, Pair};

/// The evaluation f = a·g + b·h, in integers.
///
/// A* is g + h (Hart, Nilsson & Raphael 1968), weighted A* is g + w·h (Pohl 1970) scaled to
/// integers, greedy best-first search is h.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Evaluation {
    g_weight: u32,
    h_weight: u32,
}

impl Evaluation {
    /// g + h.
    pub const ASTAR: Self = Self { g_weight: 1, h_weight: 1 };
    /// h.
    pub const GREEDY: Self = Self { g_weight: 0, h_weight: 1 };

    /// g + w·h, scaled by the least factor that makes it an integer.
    pub fn weighted(weight: Weight) -> Self {
        let (mut divisor, mut rest) = (Weight::ONE.hundredths(), weight.hundredths());
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Self { g_weight: Weight::ONE.hundredths() / divisor, h_weight: weight.hundredths() / divisor }
    }

    #[inline]
    fn f(self, g: u32, h: u32) -> u32 {
        self.g_weight * g + self.h_weight * h
    }

    /// f as people write it, unscaled.
    fn displayed(self, f: u32) -> f64 {
        f64::from(f) / f64::from(self.g_weight.max(1))
    }

    /// What g + h is at least, where a·g + b·h is at least `f`: with b ≥ a, f ÷ b.
    fn least_length(self, f: u32) -> u32 {
        if self.g_weight == 0 { 0 } else { f.div_ceil(self.h_weight) }
    }

    /// Whether values of f on boards of this form lie close enough for an array of buckets: few
    /// weights and small h, or the array would be mostly holes.
    pub fn suits_buckets<P: Packed>(self) -> bool {
        self.h_weight <= 4 && P::MAX_CELLS <= Pair::MAX_CELLS
    }

    /// Greedy search is after any solution and keeps the first path it finds to a board.
    fn reopens(self) -> bool {
        self.g_weight > 0
    }
}

/// Bytes that one node takes in all structures of a search at their fullest: arena, closed list and
/// open list.
pub fn bytes_per_node<P: Packed>() -> u64 {
    (size_of::<Node<P, [u32; 2]>>() + ClosedList::MAX_BYTES_PER_NODE + HeapOpenList::MAX_BYTES_PER_NODE) as u64
}

struct BestFirst<'a, P, H: Heuristic<P>, O> {
    space: &'a Space<P>,
    heuristic: &'a H,
    evaluation: Evaluation,
    duplicates: DuplicateDetection,
    arena: Arena<P, H::Memo>,
    open_list: O,
    open: u64,
    meter: Meter<'a>,
    trace: &'a mut Trace,
    stats: Stats,
}

/// Expands the node of least f until that is the goal.
///
/// With an admissible heuristic the lower bound rises with f: every solution not yet found leads
/// through an open node, whose g + h it cannot undercut. So an A* solution is optimal, and a
/// weighted one is at most w times as long as the optimal one.
pub fn best_first<P: Packed, H: Heuristic<P>, O: OpenList>(
    space: &Space<P>,
    heuristic: &H,
    evaluation: Evaluation,
    duplicates: DuplicateDetection,
    open_list: O,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    let start = Node::start(space.start(), heuristic.evaluate(&space.start()));
    let initial_h = heuristic.h(start.memo);
    let mut search = BestFirst {
        space,
        heuristic,
        evaluation,
        duplicates,
        arena: Arena::new(start),
        open_list,
        open: 1,
        meter: budget.meter(),
        trace,
        stats: Stats { generated: 1, peak_open: 1, iterations: 1, initial_h, ..Stats::default() },
    };
    search.open_list.push(0, evaluation.f(0, initial_h), initial_h);
    let (result, f) = search.run();
    let result = result.map(|goal| search.arena.path_to(goal));
    let lower_bound = if H::ADMISSIBLE { evaluation.least_length(f).max(initial_h) } else { 0 };
    Outcome { result, lower_bound, stats: search.stats }
}

impl<P: Packed, H: Heuristic<P>, O: OpenList> BestFirst<'_, P, H, O> {
    /// The goal's node or why there is none, with the f of the node taken last.
    fn run(&mut self) -> (Result<u32, StopReason>, u32) {
        while let Some(index) = self.open_list.pop() {
            let node = self.arena.nodes[index as usize];
            if node.phase == Phase::Superseded {
                continue;
            }
            let h = self.heuristic.h(node.memo);
            let f = self.evaluation.f(node.g, h);
            if self.space.is_goal(&node.state()) {
                return (Ok(index), f);
            }
            if let Err(stop) = self.expand(index, &node, h, f) {
                return (Err(stop), f);
            }
        }
        unreachable!("a puzzle's goal is reachable, so the open list holds a node on the way to it")
    }

    #[inline]
    fn expand(&mut self, index: u32, node: &Node<P, H::Memo>, h: u32, f: u32) -> Result<(), StopReason> {
        self.meter.expand(self.stats.expanded)?;
        self.stats.expanded += 1;
        self.open -= 1;
        self.arena.nodes[index as usize].phase = Phase::Expanded;
        if self.trace.is_recording() {
            self.arena.record(self.trace, self.space, index, h, self.evaluation.displayed(f));
        }
        for mv in node.onward_moves(self.space) {
            let mut state = node.state();
            let slide = self.space.make(&mut state, mv);
            self.stats.generated += 1;
            let g = node.g + 1;
            let (evaluation, stats, open) = (self.evaluation, &mut self.stats, &mut self.open);
            let admitted = self.arena.admit(&state.tiles, self.duplicates, |twin| {
                let is_improved = evaluation.reopens() && g < twin.g;
                if is_improved && twin.phase == Phase::Expanded {
                    stats.reopened += 1;
                } else if is_improved {
                    *open -= 1;
                    twin.phase = Phase::Superseded;
                }
                is_improved
            });
            let Some(admitted) = admitted else {
                self.stats.duplicates += 1;
                continue;
            };
            self.meter.hold(self.arena.len())?;
            let memo = self.heuristic.after(node.memo, &slide, &state);
            let h = self.heuristic.h(memo);
            let successor = self.arena.add(Node::successor(state, memo, g, index, mv), admitted);
            self.open_list.push(successor, self.evaluation.f(g, h), h);
            self.open += 1;
        }
        self.stats.peak_open = self.stats.peak_open.max(self.open);
        Ok(())
    }
}
