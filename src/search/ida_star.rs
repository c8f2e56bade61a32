//! Iterative-deepening A*.

use super::trace::Visit;
use super::{Budget, Heuristic, Meter, Outcome, Slide, Space, State, Stats, StopReason, Trace};
use crate::domain::{Move, Packed, Path};

struct IdaStar<'a, P, H> {
    space: &'a Space<P>,
    heuristic: &'a H,
    /// The moves from the start to it, once the goal is found: filled from its end.
    found: Vec<Move>,
    threshold: u32,
    /// The greatest g of an expanded node.
    deepest: u32,
    /// The least f above the threshold that this iteration met.
    next_threshold: u32,
    meter: Meter<'a>,
    trace: &'a mut Trace,
    stats: Stats,
}

/// Depth-first search within f ≤ threshold, the threshold rising to the least f that exceeded it
/// (Korf 1985). Memory is the boards on the way to the one in hand.
///
/// With an admissible heuristic the solution is optimal, and each completed iteration proves the
/// next threshold a lower bound. With the zero heuristic this is iterative deepening.
pub fn ida_star<P: Packed, H: Heuristic<P>>(
    space: &Space<P>,
    heuristic: &H,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    let start = heuristic.evaluate(&space.start());
    let initial_h = heuristic.h(start);
    let mut search = IdaStar {
        space,
        heuristic,
        found: Vec::new(),
        threshold: initial_h,
        deepest: 0,
        next_threshold: u32::MAX,
        meter: budget.meter(),
        trace,
        stats: Stats { initial_h, ..Stats::default() },
    };
    let result = search.run(start);
    let lower_bound = if H::ADMISSIBLE { search.threshold } else { 0 };
    let peak_open = u64::from(search.deepest) + 1;
    Outcome { result, lower_bound, stats: Stats { peak_open, ..search.stats } }
}

impl<P: Packed, H: Heuristic<P>> IdaStar<'_, P, H> {
    fn run(&mut self, start: H::Memo) -> Result<Path, StopReason> {
        loop {
            self.stats.iterations += 1;
            self.stats.generated += 1;
            self.next_threshold = u32::MAX;
            if self.visit(self.space.start(), start, 0, None, None)? {
                self.found.reverse();
                return Ok(std::mem::take(&mut self.found).into());
            }
            self.threshold = self.next_threshold;
        }
    }

    /// Searches below a board whose f is within the threshold; true if the goal is there.
    ///
    /// A packed board goes down by value: copying it is cheaper than taking a move back in memory.
    fn visit(
        &mut self,
        state: State<P>,
        memo: H::Memo,
        g: u32,
        slide: Option<Slide>,
        parent: Option<u32>,
    ) -> Result<bool, StopReason> {
        if self.space.is_goal(&state) {
            return Ok(true);
        }
        self.meter.expand(self.stats.expanded)?;
        self.stats.expanded += 1;
        self.deepest = self.deepest.max(g);
        let this = if self.trace.is_recording() { Some(self.record(&state, memo, g, slide, parent)) } else { None };
        for mv in self.space.onward_moves(state.blank, slide.map(|slide| slide.mv)) {
            let mut successor = state;
            let slide = self.space.make(&mut successor, mv);
            self.stats.generated += 1;
            let after = self.heuristic.after(memo, &slide, &successor);
            let f = g + 1 + self.heuristic.h(after);
            if f > self.threshold {
                self.next_threshold = self.next_threshold.min(f);
            } else if self.visit(successor, after, g + 1, Some(slide), this)? {
                self.found.push(mv);
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[cold]
    fn record(&mut self, state: &State<P>, memo: H::Memo, g: u32, slide: Option<Slide>, parent: Option<u32>) -> u32 {
        let h = self.heuristic.h(memo);
        let visit = Visit { state, slide, parent, g, h, f: f64::from(g + h) };
        self.trace.record(self.space, &visit)
    }
}
