//! Search with a perfect heuristic.

use crate::domain::{Move, MoveSet, Packed, Path};
use crate::search::trace::Visit;
use crate::search::{
    Budget, Generation, Heuristic, ListSizes, Outcome, Progress, Space, State, Stats, StopReason, Trace, Verdict,
};

/// Follows a shortest path, as given by a [perfect](Heuristic::PERFECT) heuristic.
///
/// Expands the same nodes in the same order as [`best_first`](super::best_first()) running A\* with newest-first tie
/// breaking, and returns the same counters except [`Stats::nodes_held`], but needs no open or closed list. Every step
/// of an optimal solution keeps f and lowers h by one, so the newest successor with h − 1 precedes every open node. The
/// other successors are generated and counted, but never expanded. None of them is a duplicate: two nodes of one
/// optimal path with a common successor are at most two moves apart, which would close a cycle of at most four moves,
/// but the shortest cycle has twelve.
pub fn perfect<P: Packed, H: Heuristic<P>>(
    space: &Space<P>,
    heuristic: &H,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    let memo = heuristic.evaluate(&space.start());
    let length = heuristic.h(memo);
    let mut stats = Stats { generated: 1, peak_open: 1, iterations: 1, initial_h: length, ..Stats::default() };
    let result = descend(space, heuristic, memo, budget, trace, &mut stats);
    stats.open_at_end = stats.generated - stats.expanded - u64::from(result.is_ok());
    Outcome { result, best: None, lower_bound: length, stats }
}

fn descend<P: Packed, H: Heuristic<P>>(
    space: &Space<P>,
    heuristic: &H,
    mut memo: H::Memo,
    budget: &Budget<'_>,
    trace: &mut Trace,
    stats: &mut Stats,
) -> Result<Path, StopReason> {
    let mut meter = budget.meter();
    let mut moves: Vec<Move> = Vec::with_capacity(stats.initial_h as usize);
    let (mut state, mut back) = (space.start(), MoveSet::EMPTY);
    trace.list(space, &Generation::start(&state, stats.initial_h));
    // The number of the node, in order of generation.
    let mut number = 0;
    while !space.is_goal(&state) {
        meter.expand(stats.expanded, || Progress { lower_bound: stats.initial_h, ..Progress::from(&*stats) })?;
        let h = heuristic.h(memo);
        if trace.is_recording() {
            let slide = back.clone().next().map(|back| space.arrival(&state, back));
            let parent = stats.expanded.checked_sub(1).map(|parent| parent as u32);
            let g = moves.len() as u32;
            let lists = Some(ListSizes::new(stats.generated - stats.expanded - 1, stats.expanded, 0));
            trace.record(space, &Visit { state: &state, slide, parent, g, h, f: f64::from(g + h), lists });
        }
        let onward = space.moves_except(state.blank, back);
        // Of several successors with h − 1, the newest.
        let mv = heuristic.nearer(memo).expect("a perfect heuristic gives a shortest path");
        if trace.is_listing() {
            let successors = Successors { state: &state, memo, onward, number, first: stats.generated as u32 };
            successors.list(space, heuristic, moves.len() as u32 + 1, trace);
            number = successors.first + onward.take_while(|other| *other != mv).count() as u32;
        }
        let slide = space.make(&mut state, mv);
        memo = heuristic.after(memo, &slide, &state);
        debug_assert_eq!(heuristic.h(memo) + 1, h, "each move lowers h by one");
        stats.expanded += 1;
        stats.generated += onward.len() as u64;
        // The siblings of all nodes so far, and the next node.
        stats.peak_open = stats.generated - stats.expanded;
        back = MoveSet::back(mv);
        moves.push(mv);
    }
    Ok(moves.into())
}

/// The successors of a node.
struct Successors<'a, P, M> {
    state: &'a State<P>,
    memo: M,
    onward: MoveSet,
    /// The numbers of the node and of its first successor.
    number: u32,
    first: u32,
}

impl<P: Packed, M: Copy> Successors<'_, P, M> {
    /// Lists the successors, which are g moves from the start.
    #[cold]
    fn list<H: Heuristic<P, Memo = M>>(&self, space: &Space<P>, heuristic: &H, g: u32, trace: &mut Trace) {
        for (node, mv) in (self.first..).zip(self.onward) {
            let mut state = *self.state;
            let slide = space.make(&mut state, mv);
            let h = heuristic.h(heuristic.after(self.memo, &slide, &state));
            let (mv, parent, verdict) = (Some(mv), Some(self.number), Verdict::New);
            trace.list(space, &Generation { state: &state, mv, parent, node: Some(node), g, h, verdict });
        }
    }
}
