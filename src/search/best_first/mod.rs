//! A*, weighted A* and greedy best-first search: one loop, told apart by its evaluation function.

mod breadth_first;
mod closed_list;
mod depth_first;
mod node;
mod open_list;
mod perfect;

pub use breadth_first::breadth_first;
pub use depth_first::depth_first;
pub use node::Room;
pub use open_list::{BucketOpenList, HeapOpenList, OpenList};
pub use perfect::perfect;

use super::{Budget, DuplicateDetection, Heuristic, Meter, Outcome, Progress, Space, Stats, StopReason, Trace, Weight};
use crate::domain::{Move, MoveSet, Packed, Pair};
use closed_list::ClosedList;
use node::{Arena, Node, Phase};

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

    /// Whether nodes come in another order than that of g + h, and what leads to them is improved all the same.
    fn is_weighted(self) -> bool {
        self.reopens() && self.g_weight != self.h_weight
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
/// open list; `M` is what the heuristic remembers.
pub fn bytes_per_node<P: Packed, M>() -> u64 {
    (size_of::<Node<P, M>>() + ClosedList::MAX_BYTES_PER_NODE + HeapOpenList::MAX_BYTES_PER_NODE) as u64
}

struct BestFirst<'a, P, H: Heuristic<P>, O> {
    space: &'a Space<P>,
    heuristic: &'a H,
    evaluation: Evaluation,
    arena: Arena<P, H::Memo>,
    open_list: O,
    /// Nodes that were passed over, or will be.
    superseded: u64,
    meter: Meter<'a>,
    trace: &'a mut Trace,
    stats: Stats,
}

/// Expands the node of least f until that is the goal.
///
/// With an admissible heuristic the lower bound rises with f: every solution not yet found leads
/// through an open node, whose g + h it cannot undercut. So an A* solution is optimal, and a
/// weighted one is at most w times as long as the optimal one; how much closer it is, its lower bound tells.
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
        arena: Arena::new(start, duplicates, budget.nodes),
        open_list,
        superseded: 0,
        meter: budget.meter(),
        trace,
        stats: Stats { peak_open: 1, iterations: 1, initial_h, ..Stats::default() },
    };
    search.open_list.make_room(search.arena.room());
    search.open_list.push(0, evaluation.f(0, initial_h), initial_h);
    let (result, last) = search.run();
    let lower_bound = search.lower_bound(&last);
    // Every node generated was kept or was a duplicate.
    search.stats.generated = search.arena.len() as u64 + search.stats.duplicates;
    let result = result.map(|goal| search.arena.path_to(goal));
    Outcome { result, best: None, lower_bound, stats: search.stats }
}

impl<P: Packed, H: Heuristic<P>, O: OpenList> BestFirst<'_, P, H, O> {
    /// The goal's node or why there is none, with the node taken last.
    fn run(&mut self) -> (Result<u32, StopReason>, Node<P, H::Memo>) {
        while let Some(index) = self.open_list.pop() {
            let node = self.arena.nodes[index as usize];
            if node.phase == Phase::Superseded {
                continue;
            }
            if self.space.is_goal(&node.state()) {
                return (Ok(index), node);
            }
            if let Err(stop) = self.expand(index, &node) {
                return (Err(stop), node);
            }
        }
        unreachable!("a puzzle's goal is reachable, so the open list holds a node on the way to it")
    }

    fn f(&self, node: &Node<P, H::Memo>) -> u32 {
        self.evaluation.f(node.g, self.heuristic.h(node.memo))
    }

    #[inline]
    fn expand(&mut self, index: u32, node: &Node<P, H::Memo>) -> Result<(), StopReason> {
        self.ask(node)?;
        let moves = node.onward_moves(self.space);
        if self.arena.is_full() {
            self.open_list.make_room(self.arena.make_room(moves.len(), &self.meter)?);
        }
        self.stats.expanded += 1;
        self.arena.nodes[index as usize].phase = Phase::Expanded;
        if self.trace.is_recording() {
            let (h, f) = (self.heuristic.h(node.memo), self.evaluation.displayed(self.f(node)));
            self.arena.record(self.trace, self.space, index, h, f);
        }
        let f_of_g = self.evaluation.f(node.g + 1, 0);
        // Not a loop: so the compiler makes each direction's code for that direction.
        self.generate(index, node, f_of_g, moves, Move::Up);
        self.generate(index, node, f_of_g, moves, Move::Left);
        self.generate(index, node, f_of_g, moves, Move::Down);
        self.generate(index, node, f_of_g, moves, Move::Right);
        let open = self.arena.len() as u64 - self.stats.expanded - self.superseded;
        self.stats.peak_open = self.stats.peak_open.max(open);
        Ok(())
    }

    /// Asks to expand a node.
    #[inline(always)]
    fn ask(&mut self, node: &Node<P, H::Memo>) -> Result<(), StopReason> {
        let Self { heuristic, evaluation, arena, meter, stats, .. } = self;
        meter.expand(stats.expanded, || Progress {
            expanded: stats.expanded,
            generated: arena.len() as u64 + stats.duplicates,
            lower_bound: if H::ADMISSIBLE {
                evaluation.least_length(evaluation.f(node.g, heuristic.h(node.memo))).max(stats.initial_h)
            } else {
                0
            },
            threshold: None,
        })
    }

    /// What is proven when the search ends with a node, the first that was not expanded.
    fn lower_bound(&self, last: &Node<P, H::Memo>) -> u32 {
        if !H::ADMISSIBLE {
            return 0;
        }
        let least = self.evaluation.least_length(self.f(last)).max(self.stats.initial_h);
        let least_ahead = if self.evaluation.is_weighted() { self.least_ahead() } else { None };
        least.max(least_ahead.unwrap_or(0))
    }

    /// The least g + h of the nodes that await expansion, the goal's among them if it was found: any solution leads
    /// through one of them by a path that is no shorter than the known one. None, if there is no time to look at all.
    fn least_ahead(&self) -> Option<u32> {
        /// Nodes between two looks at the clock.
        const INTERVAL: usize = 1 << 14;
        let mut least = None;
        for nodes in self.arena.nodes.chunks(INTERVAL) {
            self.meter.look().ok()?;
            let open = nodes.iter().filter(|node| node.phase == Phase::Open);
            least = open.map(|node| node.g + self.heuristic.h(node.memo)).chain(least).min();
        }
        least
    }

    /// Generates the successor by `mv`, if that is one of `moves`; `f_of_g` is its f less what h adds.
    #[inline(always)]
    fn generate(&mut self, index: u32, node: &Node<P, H::Memo>, f_of_g: u32, moves: MoveSet, mv: Move) {
        if !moves.contains(mv) {
            return;
        }
        let g = node.g + 1;
        let mut state = node.state();
        let slide = self.space.make(&mut state, mv);
        let (twin, slot) = self.arena.find(&state.tiles);
        if let Some(twin) = twin
            && !self.supersedes(g, twin)
        {
            self.stats.duplicates += 1;
            return;
        }
        let memo = self.heuristic.after(node.memo, &slide, &state);
        let h = self.heuristic.h(memo);
        let successor = self.arena.add(Node::successor(state, memo, g, index, mv), slot);
        self.open_list.push(successor, f_of_g + self.evaluation.h_weight * h, h);
    }

    /// Whether a path of g moves to the twin's board replaces the known one.
    fn supersedes(&mut self, g: u32, twin: u32) -> bool {
        let superseded = if self.evaluation.reopens() { self.arena.supersede(twin, g) } else { None };
        match superseded {
            None => return false,
            Some(Phase::Expanded) => self.stats.reopened += 1,
            Some(_) => self.superseded += 1,
        }
        true
    }
}
