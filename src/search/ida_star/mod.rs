//! Iterative-deepening A*.

mod batch;
pub(in crate::search) mod board_form;
mod frontier;
mod move_automaton;
mod node;
pub(in crate::search) mod parallel;
mod subtrees;

pub use move_automaton::{MoveAutomaton, Past};

use super::trace::Visit;
use super::{Budget, Heuristic, Meter, Outcome, Progress, Space, State, Stats, StopReason, Trace};
use crate::domain::{Move, Packed, Path};

struct IdaStar<'a, P, H> {
    space: &'a Space<P>,
    heuristic: &'a H,
    /// If the heuristic prunes.
    automaton: Option<&'static MoveAutomaton>,
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
    ida_star_from(space, heuristic, 0, budget, trace)
}

/// The same where no solution is shorter than `proven`: iterations that would prove that again are left out.
pub(super) fn ida_star_from<P: Packed, H: Heuristic<P>>(
    space: &Space<P>,
    heuristic: &H,
    proven: u32,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    if !trace.is_recording()
        && let Some(outcome) = heuristic.ida_star(space, proven, budget)
    {
        return outcome;
    }
    let start = heuristic.evaluate(&space.start());
    let initial_h = heuristic.h(start);
    let mut search = IdaStar {
        space,
        heuristic,
        automaton: H::PRUNES.then(MoveAutomaton::get),
        found: Vec::new(),
        threshold: initial_h.max(proven),
        deepest: 0,
        next_threshold: u32::MAX,
        meter: budget.meter(),
        trace,
        stats: Stats { initial_h, ..Stats::default() },
    };
    let result = search.run(start);
    let lower_bound = if H::ADMISSIBLE { search.threshold } else { 0 };
    let peak_open = u64::from(search.deepest) + 1;
    Outcome { result, best: None, lower_bound, stats: Stats { peak_open, ..search.stats } }
}

impl<P: Packed, H: Heuristic<P>> IdaStar<'_, P, H> {
    #[inline]
    fn then(&self, past: Past, mv: Move) -> Past {
        self.automaton.map_or(Past::straight_back(mv), |automaton| automaton.next(past, mv))
    }

    fn run(&mut self, start: H::Memo) -> Result<Path, StopReason> {
        loop {
            self.stats.iterations += 1;
            self.stats.generated += 1;
            self.next_threshold = u32::MAX;
            let state = self.space.start();
            let is_found = if self.trace.is_recording() {
                self.visit::<true>(state, start, 0, Past::START, None)?
            } else {
                self.visit::<false>(state, start, 0, Past::START, None)?
            };
            if is_found {
                self.found.reverse();
                return Ok(std::mem::take(&mut self.found).into());
            }
            self.threshold = self.next_threshold;
        }
    }

    /// Searches below a board whose f is within the threshold; true if the goal is there.
    ///
    /// A packed board goes down by value: copying it is cheaper than taking a move back in memory.
    fn visit<const TRACED: bool>(
        &mut self,
        state: State<P>,
        memo: H::Memo,
        g: u32,
        past: Past,
        parent: Option<u32>,
    ) -> Result<bool, StopReason> {
        if self.space.is_goal(&state) {
            return Ok(true);
        }
        self.ask()?;
        self.stats.expanded += 1;
        self.deepest = self.deepest.max(g);
        let this = if TRACED { self.record(&state, memo, g, past, parent) } else { None };
        let moves = self.space.moves_except(state.blank, past.refused());
        if H::PRUNES {
            self.stats.generated += moves.len() as u64;
        }
        for mv in moves {
            let mut successor = state;
            let slide = self.space.make(&mut successor, mv);
            self.stats.generated += u64::from(!H::PRUNES);
            let left = self.threshold as i32 - g as i32 - 1;
            let after = match self.heuristic.after_within(memo, &slide, &successor, left) {
                Ok(after) => after,
                Err(h) => {
                    self.next_threshold = self.next_threshold.min(g + 1 + h);
                    continue;
                }
            };
            if self.visit::<TRACED>(successor, after, g + 1, self.then(past, mv), this)? {
                self.found.push(mv);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Asks to expand a node.
    #[inline(always)]
    fn ask(&mut self) -> Result<(), StopReason> {
        self.meter.expand(self.stats.expanded, || Progress {
            lower_bound: if H::ADMISSIBLE { self.threshold } else { 0 },
            threshold: Some(self.threshold),
            ..Progress::from(&self.stats)
        })
    }

    #[cold]
    fn record(&mut self, state: &State<P>, memo: H::Memo, g: u32, past: Past, parent: Option<u32>) -> Option<u32> {
        if !self.trace.is_recording() {
            return None;
        }
        let h = self.heuristic.h(memo);
        let slide = past.back().map(|back| self.space.arrival(state, back));
        let visit = Visit { state, slide, parent, g, h, f: f64::from(g + h) };
        Some(self.trace.record(self.space, &visit))
    }
}
