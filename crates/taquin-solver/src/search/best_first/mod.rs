//! A\*, weighted A\* and greedy best-first search: one loop with different evaluation functions.

mod breadth_first;
mod closed_list;
mod depth_first;
mod node;
mod open_list;
mod perfect;

pub use breadth_first::breadth_first;
pub use depth_first::depth_first;
pub use node::Capacity;
pub use open_list::{BucketOpenList, HeapOpenList, OpenList};
pub use perfect::perfect;

use super::{
    Budget, DuplicateDetection, Generation, Heuristic, ListSizes, Meter, Outcome, Progress, Space, Stats, StopReason,
    SuccessorOrder, Trace, Verdict, Weight,
};
use crate::domain::{Move, MoveSet, Packed, Packed128};
use closed_list::ClosedList;
use node::{Arena, Node, Phase};

/// The evaluation f = a·g + b·h, in integers.
///
/// A* is g + h (Hart, Nilsson & Raphael 1968). Weighted A* is g + w·h (Pohl 1970), scaled to integers. Greedy
/// best-first search is h.
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

    /// g + w·h, scaled by the least factor that makes both weights integers.
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

    /// f for display, unscaled.
    fn displayed(self, f: u32) -> f64 {
        f64::from(f) / f64::from(self.g_weight.max(1))
    }

    /// Lower bound on g + h, given a lower bound `f` on a·g + b·h: f ÷ b, since b ≥ a.
    fn least_length(self, f: u32) -> u32 {
        if self.g_weight == 0 { 0 } else { f.div_ceil(self.h_weight) }
    }

    /// True if the order of expansion differs from g + h, and shorter paths reopen nodes.
    fn is_weighted(self) -> bool {
        self.reopens() && self.g_weight != self.h_weight
    }

    /// True if the values of f on boards of this form are dense enough for an array of buckets: small weights and
    /// small h.
    pub fn suits_buckets<P: Packed>(self) -> bool {
        self.h_weight <= 4 && P::MAX_CELLS <= Packed128::MAX_CELLS
    }

    /// True if shorter paths reopen nodes. Greedy search keeps the first path to a board.
    fn reopens(self) -> bool {
        self.g_weight > 0
    }
}

/// Maximum memory in bytes per node, in arena, closed list and open list together. `M` is the heuristic's memo.
pub fn bytes_per_node<P: Packed, M>() -> u64 {
    (size_of::<Node<P, M>>() + ClosedList::MAX_BYTES_PER_NODE + HeapOpenList::MAX_BYTES_PER_NODE) as u64
}

struct BestFirst<'a, P, H: Heuristic<P>, O> {
    space: &'a Space<P>,
    heuristic: &'a H,
    evaluation: Evaluation,
    arena: Arena<P, H::Memo>,
    open_list: O,
    /// Nodes skipped, or to be skipped, because a shorter path to their board was found.
    superseded: u64,
    meter: Meter<'a>,
    trace: &'a mut Trace,
    stats: Stats,
}

/// Expands the node of least f until the goal is taken from the open list.
///
/// With an admissible heuristic the lower bound rises with f: every solution not yet found passes through an open
/// node, and is at least as long as that node's g + h. So A\* solutions are optimal. Weighted solutions are at most w
/// times as long as an optimal one; the lower bound may prove a smaller ratio.
///
/// With [`DuplicateDetection::ExpandedOnly`] shorter paths to expanded boards are dropped. As long as the heuristic is
/// consistent, as the admissible ones are, A\* first expands each board by a shortest path, and weighted A\* by one at
/// most w times as long (Likhachev, Gordon & Thrun 2003). So the least f is a bound there, too.
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
    search.open_list.reserve(search.arena.capacity());
    search.open_list.push(0, evaluation.f(0, initial_h), initial_h);
    search.trace.list(space, &Generation::start(&space.start(), initial_h));
    let (result, last) = search.run();
    let lower_bound = search.lower_bound(&last);
    // Every generated node was either kept or a duplicate.
    search.stats.generated = search.arena.len() as u64 + search.stats.duplicates;
    search.stats.nodes_held = search.arena.len() as u64;
    search.stats.open_at_end = search.open() - u64::from(result.is_ok());
    let result = result.map(|goal| search.arena.path_to(goal));
    Outcome { result, best: None, lower_bound, stats: search.stats }
}

impl<P: Packed, H: Heuristic<P>, O: OpenList> BestFirst<'_, P, H, O> {
    /// Returns the goal's node or the reason for stopping, and the last node taken.
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
        unreachable!("a puzzle's goal is reachable, so the open list holds a node on a path to it")
    }

    fn f(&self, node: &Node<P, H::Memo>) -> u32 {
        self.evaluation.f(node.g, self.heuristic.h(node.memo))
    }

    #[inline]
    fn expand(&mut self, index: u32, node: &Node<P, H::Memo>) -> Result<(), StopReason> {
        self.check_budget(node)?;
        let moves = node.onward_moves(self.space);
        if self.arena.is_full() {
            self.open_list.reserve(self.arena.reserve(moves.len(), &self.meter)?);
        }
        self.stats.expanded += 1;
        self.arena.mark_expanded(index);
        if self.trace.is_recording() {
            let (h, f) = (self.heuristic.h(node.memo), self.evaluation.displayed(self.f(node)));
            let lists = ListSizes::new(self.open(), self.stats.expanded - 1, self.stats.reopened);
            self.arena.record(self.trace, self.space, index, (h, f), lists);
        }
        let f_of_g = self.evaluation.f(node.g + 1, 0);
        if self.space.order() == SuccessorOrder::default() && !self.trace.is_listing() {
            // Unrolled so that the compiler specializes the code for each direction.
            self.generate_one_of(moves, index, node, f_of_g, Move::Up);
            self.generate_one_of(moves, index, node, f_of_g, Move::Left);
            self.generate_one_of(moves, index, node, f_of_g, Move::Down);
            self.generate_one_of(moves, index, node, f_of_g, Move::Right);
        } else {
            self.generate_and_list(moves, index, node, f_of_g);
        }
        self.stats.peak_open = self.stats.peak_open.max(self.open());
        Ok(())
    }

    /// Number of nodes that await expansion, including one just taken from the open list.
    #[inline(always)]
    fn open(&self) -> u64 {
        self.arena.len() as u64 - self.stats.expanded - self.superseded
    }

    /// Checks the budget before a node is expanded.
    #[inline(always)]
    fn check_budget(&mut self, node: &Node<P, H::Memo>) -> Result<(), StopReason> {
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

    /// The proven lower bound, given the first node that was not expanded.
    fn lower_bound(&self, last: &Node<P, H::Memo>) -> u32 {
        if !H::ADMISSIBLE {
            return 0;
        }
        let least = self.evaluation.least_length(self.f(last)).max(self.stats.initial_h);
        // Where shorter paths to expanded boards are dropped, the g of open nodes may be too large.
        let are_paths_kept = self.arena.duplicates() != DuplicateDetection::ExpandedOnly;
        let least_open = if self.evaluation.is_weighted() && are_paths_kept { self.least_open() } else { None };
        least.max(least_open.unwrap_or(0))
    }

    /// Least g + h of the open nodes, including the goal if it was found. It is a lower bound, because every solution
    /// passes through an open node. `None` if there is no time to visit all nodes.
    fn least_open(&self) -> Option<u32> {
        /// Nodes between two checks of the clock.
        const INTERVAL: usize = 1 << 14;
        let mut least = None;
        for nodes in self.arena.nodes.chunks(INTERVAL) {
            self.meter.check().ok()?;
            let open = nodes.iter().filter(|node| node.phase == Phase::Open);
            least = open.map(|node| node.g + self.heuristic.h(node.memo)).chain(least).min();
        }
        least
    }

    /// Generates the successor by `mv` if `moves` contains it.
    #[inline(always)]
    fn generate_one_of(&mut self, moves: MoveSet, index: u32, node: &Node<P, H::Memo>, f_of_g: u32, mv: Move) {
        if moves.contains(mv) {
            self.generate(index, node, f_of_g, mv);
        }
    }

    /// Generates the successor by `mv`. `f_of_g` is the part of its f that depends on g.
    #[inline(always)]
    fn generate(&mut self, index: u32, node: &Node<P, H::Memo>, f_of_g: u32, mv: Move) -> Verdict {
        let g = node.g + 1;
        let mut state = node.state();
        let slide = self.space.make(&mut state, mv);
        let (twin, slot) = self.arena.find(&state.tiles);
        let verdict = twin.map_or(Verdict::New, |twin| self.verdict(g, twin));
        if verdict == Verdict::Duplicate {
            self.stats.duplicates += 1;
            return verdict;
        }
        let memo = self.heuristic.after(node.memo, &slide, &state);
        let h = self.heuristic.h(memo);
        let successor = self.arena.add(Node::successor(state, memo, g, index, mv), slot);
        self.open_list.push(successor, f_of_g + self.evaluation.h_weight * h, h);
        verdict
    }

    /// Generates successors in any order and lists them. Out of line, so that the usual loop stays small.
    #[cold]
    #[inline(never)]
    fn generate_and_list(&mut self, moves: MoveSet, index: u32, node: &Node<P, H::Memo>, f_of_g: u32) {
        for mv in self.space.sorted(moves) {
            let verdict = self.generate(index, node, f_of_g, mv);
            if self.trace.is_listing() {
                let mut state = node.state();
                let slide = self.space.make(&mut state, mv);
                let h = self.heuristic.h(self.heuristic.after(node.memo, &slide, &state));
                self.trace.list(self.space, &self.arena.generation(&state, index, mv, h, verdict));
            }
        }
    }

    /// Treatment of a node g moves from the start, given an earlier one of the same board.
    fn verdict(&mut self, g: u32, twin: u32) -> Verdict {
        let superseded = if self.evaluation.reopens() { self.arena.supersede(twin, g) } else { None };
        match superseded {
            None => Verdict::Duplicate,
            Some(Phase::Expanded) => {
                self.stats.reopened += 1;
                Verdict::Reopened
            }
            Some(_) => {
                self.superseded += 1;
                Verdict::New
            }
        }
    }
}
