//! Depth-first search.

use super::node::{Arena, Node, Phase};
use crate::domain::Packed;
use crate::search::{
    Budget, DuplicateDetection, Generation, ListSizes, Meter, Outcome, Progress, Space, Stats, StopReason, Trace,
    Verdict,
};

struct DepthFirst<'a, P> {
    space: &'a Space<P>,
    duplicates: DuplicateDetection,
    depth_limit: u32,
    arena: Arena<P, ()>,
    stack: Vec<u32>,
    /// Number of nodes on the stack that will be skipped.
    superseded: usize,
    meter: Meter<'a>,
    trace: &'a mut Trace,
    stats: Stats,
}

/// Expands the newest node first, its successors in successor order.
///
/// Without a depth limit, each board is expanded once, unless copies of it are kept. With a limit, a board reached by
/// fewer moves than before is reopened, because its successors may now be within the limit. So the search finds a
/// solution whenever one exists within the limit, and otherwise proves that none does.
pub fn depth_first<P: Packed>(
    space: &Space<P>,
    duplicates: DuplicateDetection,
    depth_limit: Option<u32>,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    let mut search = DepthFirst {
        space,
        duplicates,
        depth_limit: depth_limit.unwrap_or(u32::MAX),
        arena: Arena::new(Node::start(space.start(), ()), duplicates, budget.nodes),
        stack: vec![0],
        superseded: 0,
        meter: budget.meter(),
        trace,
        stats: Stats { generated: 1, peak_open: 1, iterations: 1, ..Stats::default() },
    };
    search.trace.list(space, &Generation::start(&space.start(), 0));
    let result = search.run();
    search.stats.nodes_held = search.arena.len() as u64;
    // A node that a limit kept from being expanded was taken from the stack.
    let is_one_taken = matches!(result, Err(stop) if stop != StopReason::Depth);
    search.stats.open_at_end = (search.stack.len() - search.superseded) as u64 + u64::from(is_one_taken);
    let lower_bound = if result == Err(StopReason::Depth) { search.depth_limit.saturating_add(1) } else { 0 };
    Outcome { result: result.map(|goal| search.arena.path_to(goal)), best: None, lower_bound, stats: search.stats }
}

impl<P: Packed> DepthFirst<'_, P> {
    fn run(&mut self) -> Result<u32, StopReason> {
        while let Some(index) = self.stack.pop() {
            let node = self.arena.nodes[index as usize];
            if node.phase == Phase::Superseded {
                self.superseded -= 1;
                continue;
            }
            if self.duplicates == DuplicateDetection::Parent {
                // Only this node, its ancestors and the nodes on the stack are still needed. The stack's newest node is
                // among the last four, because at most four siblings are stored in reverse.
                let newest = self.stack.iter().rev().take(4).fold(index, |newest, node| newest.max(*node));
                self.arena.nodes.truncate(newest as usize + 1);
            }
            if self.space.is_goal(&node.state()) {
                return Ok(index);
            }
            if node.g < self.depth_limit {
                self.expand(index, &node)?;
            } else {
                self.arena.nodes[index as usize].phase = Phase::Cut;
            }
        }
        Err(StopReason::Depth)
    }

    fn expand(&mut self, index: u32, node: &Node<P, ()>) -> Result<(), StopReason> {
        let moves = node.onward_moves(self.space);
        self.meter.expand(self.stats.expanded, || Progress::from(&self.stats))?;
        if self.arena.is_full() {
            self.arena.reserve(moves.len(), &self.meter)?;
        }
        self.stats.expanded += 1;
        self.stats.generated += moves.len() as u64;
        self.arena.mark_expanded(index);
        if self.trace.is_recording() {
            let open = (self.stack.len() - self.superseded) as u64;
            let lists = ListSizes::new(open, self.stats.expanded - 1, self.stats.reopened);
            self.arena.record(self.trace, self.space, index, (0, f64::from(node.g)), lists);
        }
        let first = self.stack.len();
        for mv in self.space.sorted(moves) {
            let mut state = node.state();
            self.space.make(&mut state, mv);
            let (twin, slot) = self.arena.find(&state.tiles);
            let verdict = twin.map_or(Verdict::New, |twin| self.verdict(node.g + 1, twin));
            if verdict == Verdict::Duplicate {
                self.stats.duplicates += 1;
            } else {
                let successor = self.arena.add(Node::successor(state, (), node.g + 1, index, mv), slot);
                self.stack.push(successor);
            }
            if self.trace.is_listing() {
                self.trace.list(self.space, &self.arena.generation(&state, index, mv, 0, verdict));
            }
        }
        // The first successor must be on top of the stack.
        self.stack[first..].reverse();
        self.stats.peak_open = self.stats.peak_open.max((self.stack.len() - self.superseded) as u64);
        Ok(())
    }

    /// Treatment of a node g moves from the start, given an earlier one of the same board, which it supersedes if
    /// its path is better.
    fn verdict(&mut self, g: u32, twin: u32) -> Verdict {
        let superseded = if self.depth_limit < u32::MAX { self.arena.supersede(twin, g) } else { None };
        match superseded {
            None => return Verdict::Duplicate,
            Some(Phase::Expanded) => {
                self.stats.reopened += 1;
                return Verdict::Reopened;
            }
            Some(Phase::Open) => self.superseded += 1,
            Some(Phase::Cut | Phase::Superseded) => {}
        }
        Verdict::New
    }
}
