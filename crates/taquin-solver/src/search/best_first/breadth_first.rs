//! Breadth-first search.

use super::node::{Arena, Node};
use crate::domain::Packed;
use crate::search::{
    Budget, DuplicateDetection, Generation, ListSizes, Outcome, Progress, Space, Stats, StopReason, Trace, Verdict,
};

/// Expands the oldest node first, so the first path to the goal is a shortest one.
///
/// The arena holds nodes in order of creation and serves as the queue.
pub fn breadth_first<P: Packed>(
    space: &Space<P>,
    duplicates: DuplicateDetection,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    let mut arena = Arena::new(Node::start(space.start(), ()), duplicates, budget.nodes);
    let mut stats = Stats { generated: 1, peak_open: 1, iterations: 1, ..Stats::default() };
    let mut depth = 0;
    let result = search(space, budget, trace, &mut arena, &mut stats, &mut depth);
    stats.nodes_held = arena.len() as u64;
    stats.open_at_end = stats.nodes_held - stats.expanded - u64::from(result.is_ok());
    // All boards nearer than the current layer were visited, and the goal was not among them.
    Outcome { result: result.map(|goal| arena.path_to(goal)), best: None, lower_bound: depth, stats }
}

fn search<P: Packed>(
    space: &Space<P>,
    budget: &Budget<'_>,
    trace: &mut Trace,
    arena: &mut Arena<P, ()>,
    stats: &mut Stats,
    depth: &mut u32,
) -> Result<u32, StopReason> {
    let mut meter = budget.meter();
    trace.list(space, &Generation::start(&space.start(), 0));
    for index in 0.. {
        let node = arena.nodes[index as usize];
        *depth = node.g;
        if space.is_goal(&node.state()) {
            return Ok(index);
        }
        let moves = node.onward_moves(space);
        meter.expand(stats.expanded, || Progress { lower_bound: node.g, ..Progress::from(&*stats) })?;
        if arena.is_full() {
            arena.reserve(moves.len(), &meter)?;
        }
        stats.expanded += 1;
        arena.mark_expanded(index);
        if trace.is_recording() {
            let lists = ListSizes::new(arena.len() as u64 - u64::from(index) - 1, u64::from(index), 0);
            arena.record(trace, space, index, (0, f64::from(node.g)), lists);
        }
        for mv in space.sorted(moves) {
            let mut state = node.state();
            space.make(&mut state, mv);
            let verdict = match arena.find(&state.tiles) {
                (None, slot) => {
                    arena.add(Node::successor(state, (), node.g + 1, index, mv), slot);
                    Verdict::New
                }
                (Some(_), _) => {
                    stats.duplicates += 1;
                    Verdict::Duplicate
                }
            };
            if trace.is_listing() {
                trace.list(space, &arena.generation(&state, index, mv, 0, verdict));
            }
        }
        stats.generated = arena.len() as u64 + stats.duplicates;
        stats.peak_open = stats.peak_open.max(arena.len() as u64 - u64::from(index) - 1);
    }
    unreachable!("a puzzle's goal is reachable, so the queue holds a node on a path to it")
}
