//! Iterative-deepening A\*.

mod batch;
mod board_form;
mod cost_change;
mod expansion;
mod frontier;
mod move_automaton;
mod node;
mod packed_move;
mod parallel;
mod subtrees;

pub use move_automaton::{MoveAutomaton, MoveHistory};

use super::beam::{Accounting, Beam, HeuristicGuide, PatternGuide, beam};
use super::heuristic::pattern::symmetry::VIEWS;
use super::heuristic::{
    AdditivePatterns, DisjointPatterns, ExactDistance, Gaschnig, Hamming, InversionDistance, LargeAdditivePatterns,
    LinearConflict, Manhattan, Sum, WalkingDistance, Zero,
};
use super::observer::PartObserver;
use super::trace::Visit;
use super::{
    Budget, Heuristic, IterationCounts, Meter, Observer, Outcome, Progress, Space, State, Stats, StopReason, Trace,
};
use crate::domain::{Move, Packed, Packed64, Packed128, PackedBytes, Path};
use board_form::{BoardForm, Form16, Form25};
use parallel::{Outdated, parallel_ida_star};

/// The searches that a heuristic guides. A heuristic may replace the general ones by faster ones for its tables.
pub trait HeuristicSearch<P: Packed>: Heuristic<P> + Sized {
    /// True if the search skips every move that the [`MoveAutomaton`] refuses. Otherwise it skips only the move
    /// straight back, so that its node counts compare with published ones.
    const PRUNES: bool = false;

    /// True if [`upgraded`](Self::upgraded) returns a heuristic. A search then continues with it, unless it records its
    /// expansions.
    fn has_upgrade(&self) -> bool {
        false
    }

    /// A stronger heuristic of the same kind that is available now.
    fn upgraded(&self) -> Option<Self> {
        None
    }

    /// Runs [`ida_star`], given that no solution is shorter than `proven`. Iterations with lower thresholds are
    /// skipped.
    fn ida_star(&self, space: &Space<P>, proven: u32, budget: &Budget<'_>, trace: &mut Trace) -> Outcome {
        sequential(space, self, proven, budget, trace)
    }

    /// Runs a beam search that this heuristic guides. `None` if no solution was found.
    ///
    /// # Errors
    /// If the budget is exhausted.
    fn beam(
        &self,
        space: &Space<P>,
        options: Beam,
        accounting: &mut Accounting<'_>,
    ) -> Result<Option<Path>, StopReason> {
        beam(space, &HeuristicGuide(self), options, accounting)
    }

    /// The greatest width at which [`beam`](Self::beam) of `levels` levels needs no more memory than `nodes` nodes.
    fn widest_beam(&self, nodes: u64, levels: u64) -> u64 {
        Beam::widest::<P, HeuristicGuide<'_, Self>>(nodes, levels)
    }
}

impl<P: Packed> HeuristicSearch<P> for Zero {}
impl<P: Packed, const COUNT_BLANK: bool> HeuristicSearch<P> for Hamming<COUNT_BLANK> {}
impl<P: Packed> HeuristicSearch<P> for Manhattan {}
impl<P: Packed> HeuristicSearch<P> for Gaschnig {}
impl<P: Packed> HeuristicSearch<P> for InversionDistance {}
impl<P: Packed> HeuristicSearch<P> for LinearConflict {}
impl<P: Packed, A: Heuristic<P>, B: Heuristic<P>> HeuristicSearch<P> for Sum<A, B> {}
impl HeuristicSearch<Packed64> for WalkingDistance<'_> {}
impl HeuristicSearch<Packed64> for ExactDistance<'_> {}
impl HeuristicSearch<Packed64> for DisjointPatterns {}

impl HeuristicSearch<Packed64> for AdditivePatterns<'_> {
    const PRUNES: bool = true;

    fn has_upgrade(&self) -> bool {
        self.has_upgrade()
    }

    fn upgraded(&self) -> Option<Self> {
        self.upgraded()
    }

    fn ida_star(&self, space: &Space<Packed64>, proven: u32, budget: &Budget<'_>, trace: &mut Trace) -> Outcome {
        if trace.is_recording() {
            return sequential(space, self, proven, budget, trace);
        }
        let has_upgrade = || self.has_upgrade();
        let outcome = if self.has_twins() {
            parallel_ida_star::<Form16<VIEWS>, _>(self, space, proven, budget, trace, &has_upgrade)
        } else {
            parallel_ida_star::<Form16<0>, _>(self, space, proven, budget, trace, &has_upgrade)
        };
        outcome.unwrap_or_else(|outdated| continue_upgraded(space, self, outdated, budget, trace))
    }
}

impl<const N: usize> HeuristicSearch<Packed128> for LargeAdditivePatterns<'_, N> {
    const PRUNES: bool = true;

    fn has_upgrade(&self) -> bool {
        self.has_upgrade()
    }

    fn upgraded(&self) -> Option<Self> {
        self.upgraded()
    }

    fn ida_star(&self, space: &Space<Packed128>, proven: u32, budget: &Budget<'_>, trace: &mut Trace) -> Outcome {
        /// The parallel search keeps sums of costs and the threshold in bytes. The threshold rises from its initial
        /// value.
        const COST_LIMIT: u32 = 200;
        let initial_h = || Heuristic::<Packed128>::h(self, Heuristic::<Packed128>::evaluate(self, &space.start()));
        let fits = self.max_patterns() <= Form25::PATTERNS && proven < COST_LIMIT && initial_h() < COST_LIMIT;
        if trace.is_recording() || !fits {
            return sequential(space, self, proven, budget, trace);
        }
        parallel_ida_star::<Form25, _>(self, space, proven, budget, trace, &|| self.has_upgrade())
            .unwrap_or_else(|outdated| continue_upgraded(space, self, outdated, budget, trace))
    }

    fn beam(
        &self,
        space: &Space<Packed128>,
        options: Beam,
        accounting: &mut Accounting<'_>,
    ) -> Result<Option<Path>, StopReason> {
        beam(space, &PatternGuide(self), options, accounting)
    }

    fn widest_beam(&self, nodes: u64, levels: u64) -> u64 {
        Beam::widest::<Packed128, PatternGuide<'_, '_, N>>(nodes, levels)
    }
}

/// Boards of more than 25 cells have tables of one size only.
impl<const N: usize> HeuristicSearch<PackedBytes> for LargeAdditivePatterns<'_, N> {
    const PRUNES: bool = true;

    fn beam(
        &self,
        space: &Space<PackedBytes>,
        options: Beam,
        accounting: &mut Accounting<'_>,
    ) -> Result<Option<Path>, StopReason> {
        beam(space, &PatternGuide(self), options, accounting)
    }

    fn widest_beam(&self, nodes: u64, levels: u64) -> u64 {
        Beam::widest::<PackedBytes, PatternGuide<'_, '_, N>>(nodes, levels)
    }
}

/// Depth-first search within f ≤ threshold. The threshold rises to the least f that exceeded it (Korf 1985). Memory is
/// linear in the solution length.
///
/// With an admissible heuristic the solution is optimal, and each completed iteration proves the next threshold as a
/// lower bound. With the zero heuristic this is iterative deepening. Iterations beyond [`Budget::depth`] do not start.
pub fn ida_star<P: Packed, H: HeuristicSearch<P>>(
    space: &Space<P>,
    heuristic: &H,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    heuristic.ida_star(space, 0, budget, trace)
}

/// Continues a search with a stronger heuristic that is available now.
fn continue_upgraded<P: Packed, H: HeuristicSearch<P>>(
    space: &Space<P>,
    heuristic: &H,
    Outdated { proven, spent }: Outdated,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    let heuristic = heuristic.upgraded().expect("an upgrade stays available");
    let observer = budget.observer.map(|whole| PartObserver { whole, before: spent });
    let observer = observer.as_ref().map(|observer| observer as &dyn Observer);
    let budget = Budget { expanded: budget.expanded.saturating_sub(spent.expanded), observer, ..*budget };
    let outcome = heuristic.ida_star(space, proven, &budget, trace);
    let mut stats = spent;
    stats += outcome.stats;
    Outcome { stats, ..outcome }
}

/// State of the sequential search.
struct SequentialSearch<'a, P, H> {
    space: &'a Space<P>,
    heuristic: &'a H,
    /// Present if the heuristic prunes.
    automaton: Option<&'static MoveAutomaton>,
    /// The moves to the goal once it is found, last move first.
    found: Vec<Move>,
    threshold: u32,
    /// The greatest g of an expanded node.
    deepest: u32,
    /// The least f above the threshold in this iteration.
    next_threshold: u32,
    budget: &'a Budget<'a>,
    meter: Meter<'a>,
    trace: &'a mut Trace,
    stats: Stats,
}

/// Searches sequentially, on the caller's thread.
fn sequential<P: Packed, H: HeuristicSearch<P>>(
    space: &Space<P>,
    heuristic: &H,
    proven: u32,
    budget: &Budget<'_>,
    trace: &mut Trace,
) -> Outcome {
    let start = heuristic.evaluate(&space.start());
    let initial_h = heuristic.h(start);
    let mut search = SequentialSearch {
        space,
        heuristic,
        automaton: H::PRUNES.then(MoveAutomaton::get),
        found: Vec::new(),
        threshold: initial_h.max(proven),
        deepest: 0,
        next_threshold: u32::MAX,
        budget,
        meter: budget.meter(),
        trace,
        stats: Stats { initial_h, ..Stats::default() },
    };
    let result = search.run(start);
    let lower_bound = if H::ADMISSIBLE { search.threshold } else { 0 };
    let stats = Stats { peak_open: u64::from(search.deepest) + 1, ..search.stats };
    match result.transpose() {
        Some(result) => Outcome { result, best: None, lower_bound, stats },
        None => {
            continue_upgraded(space, heuristic, Outdated { proven: lower_bound, spent: stats }, budget, search.trace)
        }
    }
}

impl<P: Packed, H: HeuristicSearch<P>> SequentialSearch<'_, P, H> {
    #[inline]
    fn then(&self, history: MoveHistory, mv: Move) -> MoveHistory {
        self.automaton.map_or(MoveHistory::straight_back(mv), |automaton| automaton.next(history, mv))
    }

    /// Returns the path to the goal; none once a stronger heuristic is available.
    fn run(&mut self, start: H::Memo) -> Result<Option<Path>, StopReason> {
        while self.trace.is_recording() || !self.heuristic.has_upgrade() {
            self.budget.check_threshold(self.threshold)?;
            let before = self.stats;
            self.stats.iterations += 1;
            self.stats.generated += 1;
            self.next_threshold = u32::MAX;
            let state = self.space.start();
            let is_found = if self.trace.is_recording() {
                self.visit::<true>(state, start, 0, MoveHistory::START, None)
            } else {
                self.visit::<false>(state, start, 0, MoveHistory::START, None)
            };
            self.trace.iterated(IterationCounts {
                threshold: self.threshold,
                expanded: self.stats.expanded - before.expanded,
                generated: self.stats.generated - before.generated,
            });
            if is_found? {
                self.found.reverse();
                return Ok(Some(std::mem::take(&mut self.found).into()));
            }
            self.threshold = self.next_threshold;
        }
        Ok(None)
    }

    /// Searches below a board whose f is within the threshold. Returns true if the goal was found.
    ///
    /// Packed boards are passed by value: a copy is cheaper than undoing a move in memory.
    fn visit<const TRACED: bool>(
        &mut self,
        state: State<P>,
        memo: H::Memo,
        g: u32,
        history: MoveHistory,
        parent: Option<u32>,
    ) -> Result<bool, StopReason> {
        if self.space.is_goal(&state) {
            return Ok(true);
        }
        self.check_budget()?;
        self.stats.expanded += 1;
        self.deepest = self.deepest.max(g);
        let this = if TRACED { self.record(&state, memo, g, history, parent) } else { None };
        let moves = self.space.moves_except(state.blank, history.refused());
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
            if self.visit::<TRACED>(successor, after, g + 1, self.then(history, mv), this)? {
                self.found.push(mv);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks the budget before a node is expanded.
    #[inline(always)]
    fn check_budget(&mut self) -> Result<(), StopReason> {
        self.meter.expand(self.stats.expanded, || Progress {
            lower_bound: if H::ADMISSIBLE { self.threshold } else { 0 },
            threshold: Some(self.threshold),
            ..Progress::from(&self.stats)
        })
    }

    #[cold]
    fn record(
        &mut self,
        state: &State<P>,
        memo: H::Memo,
        g: u32,
        history: MoveHistory,
        parent: Option<u32>,
    ) -> Option<u32> {
        if !self.trace.is_recording() {
            return None;
        }
        let h = self.heuristic.h(memo);
        let slide = history.back().map(|back| self.space.arrival(state, back));
        let visit = Visit { state, slide, parent, g, h, f: f64::from(g + h), lists: None };
        Some(self.trace.record(self.space, &visit))
    }
}
