//! Parallel IDA\* with pattern databases.

use std::sync::atomic::Ordering;

use super::batch::{BatchSearch, Interrupt};
use super::board_form::{BoardForm, PatternViews};
use super::frontier::LeastCosts;
use super::node::MoveTables;
use super::subtrees::{NodeCounts, Subtrees};
use crate::domain::Move;
use crate::search::heuristic::Heuristic;
use crate::search::{Budget, IterationCounts, Meter, Outcome, Progress, Space, Stats, StopReason, Trace};

/// IDA\* with pattern databases. It is many times as fast as the sequential search. Up to the last iteration, the
/// counters are the same. In the last one, it takes the parts of the tree in another order, so that it finds the goal
/// sooner, and perhaps another optimal solution.
///
/// # Errors
/// Once `has_upgrade` returns true.
pub(crate) fn parallel_ida_star<S, V>(
    patterns: &V,
    space: &Space<S::Tiles>,
    proven: u32,
    budget: &Budget<'_>,
    trace: &mut Trace,
    has_upgrade: &(dyn Fn() -> bool + Sync),
) -> Result<Outcome, Outdated>
where
    S: BoardForm,
    V: PatternViews<S, Costs = V::Memo> + Heuristic<S::Tiles>,
{
    let costs = patterns.evaluate(&space.start());
    let initial_h = patterns.h(costs);
    let tables = MoveTables::<S>::new(patterns, space, &costs);
    let batch = BatchSearch::new(&tables);
    let mut search = ParallelSearch {
        tables: &tables,
        budget,
        batch,
        has_upgrade,
        threshold: threshold_from(initial_h, proven),
        iterations: 0,
        spent: NodeCounts::default(),
        least_costs: None,
    };
    let found = search.run(trace);
    let ParallelSearch { threshold, iterations, spent: NodeCounts { expanded, generated, deepest }, .. } = search;
    let peak_open = u64::from(deepest) + 1;
    let stats = Stats { expanded, generated, peak_open, iterations, initial_h, ..Stats::default() };
    let result = found.transpose().ok_or(Outdated { proven: threshold, spent: stats })?;
    Ok(Outcome { result: result.map(Into::into), best: None, lower_bound: threshold, stats })
}

/// State of a search that must continue with stronger tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outdated {
    /// No solution is shorter.
    pub proven: u32,
    /// Counters so far.
    pub spent: Stats,
}

/// The first threshold, given that no solution is shorter than `proven`. It has the parity of h, because f changes by
/// two.
fn threshold_from(initial_h: u32, proven: u32) -> u32 {
    let least = initial_h.max(proven);
    least + (least - initial_h) % 2
}

/// Result of an iteration.
enum Iteration {
    Found(Vec<Move>),
    /// There is no solution within the threshold.
    Completed,
    /// Stronger tables have arrived, and the iteration starts again with them. It has at least as many nodes as all
    /// earlier ones together, and mostly several times as many, so waiting for its end would take too long.
    Abandoned,
}

struct ParallelSearch<'a, S: BoardForm> {
    tables: &'a MoveTables<'a, S>,
    budget: &'a Budget<'a>,
    batch: BatchSearch<'a, S>,
    /// True if stronger tables have arrived.
    has_upgrade: &'a (dyn Fn() -> bool + Sync),
    threshold: u32,
    iterations: u32,
    spent: NodeCounts,
    /// The least costs of the iteration before; none in the first one.
    least_costs: Option<LeastCosts<S>>,
}

/// Expanded nodes of an iteration per part of the next one, which has several times as many nodes.
const NODES_PER_PART: u64 = 16;
/// Number of parts of an iteration: enough to keep the traversals of a thread busy, and few enough to create quickly.
const PARTS: std::ops::RangeInclusive<u64> = 16..=2048;

impl<S: BoardForm> ParallelSearch<'_, S> {
    /// Returns the moves to the goal; none once stronger tables have arrived.
    fn run(&mut self, trace: &mut Trace) -> Result<Option<Vec<Move>>, StopReason> {
        let mut expanded = 0;
        while !(self.has_upgrade)() {
            self.budget.check_threshold(self.threshold)?;
            self.iterations += 1;
            let before = self.spent;
            self.spent.generated += 1;
            let iteration = self.iterate((expanded / NODES_PER_PART).clamp(*PARTS.start(), *PARTS.end()));
            expanded = self.spent.expanded - before.expanded;
            let generated = self.spent.generated - before.generated;
            trace.iterated(IterationCounts { threshold: self.threshold, expanded, generated });
            match iteration? {
                Iteration::Found(moves) => return Ok(Some(moves)),
                Iteration::Abandoned => return Ok(None),
                Iteration::Completed => {}
            }
            // f never falls along a path, and rises by two if at all.
            self.threshold += 2;
        }
        Ok(None)
    }

    /// Runs one iteration.
    fn iterate(&mut self, parts: u64) -> Result<Iteration, StopReason> {
        let root =
            self.tables.root(u8::try_from(self.threshold).expect("thresholds of boards with patterns fit a byte"));
        let allowed = self.budget.expanded.saturating_sub(self.spent.expanded);
        let subtrees = self.batch.split(root, parts as usize, self.least_costs.as_ref());
        self.search(&subtrees, allowed.saturating_sub(subtrees.above().expanded), self.has_upgrade);
        if subtrees.is_abandoned() {
            self.spent += subtrees.spent();
            return Ok(Iteration::Abandoned);
        }
        if let Some(moves) = self.sum_up(&subtrees)? {
            return Ok(Iteration::Found(moves));
        }
        self.least_costs = Some(subtrees.least_costs());
        Ok(Iteration::Completed)
    }

    /// Searches parts, with helpers if there are any, until one node more than allowed is expanded. The goal may follow
    /// the last expansion allowed.
    fn search(&mut self, subtrees: &Subtrees<S>, allowed: u64, has_upgrade: &(dyn Fn() -> bool + Sync)) {
        let Self { tables, budget, threshold, spent: before, .. } = *self;
        let allowed = allowed.saturating_add(1);
        let shared = SharedMeter { meter: budget.meter(), subtrees, allowed, has_upgrade, threshold, before };
        // A helper that must yield puts its parts back, perhaps after all other threads are done.
        while subtrees.is_any_left() && shared.check().is_ok() {
            // The reason for stopping is stored in `subtrees`.
            let mut main = |request_help: &dyn Fn()| {
                let poll = &mut |expanded| {
                    shared.meter.pause();
                    let allowed = shared.count(expanded);
                    shared.report_progress();
                    allowed.inspect(|_| shared.request_help(request_help))
                };
                let _ = self.batch.run(subtrees, poll);
            };
            let help = |must_yield: &dyn Fn() -> bool| {
                let poll = &mut |expanded| {
                    let allowed = shared.count(expanded)?;
                    if must_yield() { Err(Interrupt::Yield) } else { Ok(allowed) }
                };
                let _ = BatchSearch::new(tables).run(subtrees, poll);
            };
            match budget.helpers {
                Some(helpers) => helpers.work(&mut main, &help),
                None => main(&|| ()),
            }
        }
    }

    /// Combines the results of the parts. Results of shared parts are combined in order.
    fn sum_up(&mut self, subtrees: &Subtrees<S>) -> Result<Option<Vec<Move>>, StopReason> {
        if !subtrees.is_shared() {
            self.spend(subtrees.spent())?;
            return match subtrees.found() {
                None if !subtrees.is_completed() => {
                    Err(subtrees.stopped.get().copied().unwrap_or(StopReason::Cancelled))
                }
                found => Ok(found.cloned()),
            };
        }
        self.spend(subtrees.above())?;
        for nth in 0..subtrees.len() {
            let allowed = self.budget.expanded - self.spent.expanded;
            let searched = subtrees.searched(nth).filter(|searched| searched.spent.expanded <= allowed);
            let found = match (searched, subtrees.stopped.get()) {
                (Some(searched), _) => {
                    self.spent += searched.spent;
                    searched.found.clone()
                }
                (None, None | Some(StopReason::Expanded)) => self.search_alone(subtrees.one(nth), allowed)?,
                (None, Some(reason)) => {
                    self.spent += subtrees.spent_from(nth);
                    // All solutions within the threshold have the same length.
                    return subtrees.found().map(|moves| Some(moves.clone())).ok_or(*reason);
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Counts nodes, if the budget allows them.
    fn spend(&mut self, nodes: NodeCounts) -> Result<(), StopReason> {
        self.spent += nodes;
        let is_within = self.spent.expanded <= self.budget.expanded;
        self.spent.expanded = self.spent.expanded.min(self.budget.expanded);
        if is_within { Ok(()) } else { Err(StopReason::Expanded) }
    }

    /// Searches one part, up to exactly the allowed number of nodes.
    fn search_alone(&mut self, part: Subtrees<S>, allowed: u64) -> Result<Option<Vec<Move>>, StopReason> {
        self.search(&part, allowed, &|| false);
        self.spent += part.spent_from(0);
        self.spent.expanded = self.spent.expanded.min(self.budget.expanded);
        match part.searched(0) {
            Some(searched) => Ok(searched.found.clone()),
            None => Err(part.stopped.get().copied().unwrap_or(StopReason::Cancelled)),
        }
    }
}

/// Budget and counters that all threads of an iteration share.
struct SharedMeter<'a, S: BoardForm> {
    meter: Meter<'a>,
    subtrees: &'a Subtrees<S>,
    allowed: u64,
    has_upgrade: &'a (dyn Fn() -> bool + Sync),
    threshold: u32,
    /// Counters of earlier iterations.
    before: NodeCounts,
}

/// Number of nodes that an iteration expands before it shares its parts and requests help. Starting a thread costs as
/// much as some thousand nodes.
const MIN_SHARED_NODES: u64 = 1 << 14;

impl<S: BoardForm> SharedMeter<'_, S> {
    /// Checks whether the search may continue.
    fn check(&self) -> Result<(), Interrupt> {
        let stopped = match self.subtrees.stopped.get() {
            Some(reason) => Err(*reason),
            None => self.meter.check(),
        };
        stopped.map_err(|reason| Interrupt::Stopped(*self.subtrees.stopped.get_or_init(|| reason)))?;
        let is_outdated = &self.subtrees.is_outdated;
        if is_outdated.load(Ordering::Relaxed) || (self.has_upgrade)() {
            is_outdated.store(true, Ordering::Relaxed);
            return Err(Interrupt::Outdated);
        }
        Ok(())
    }

    /// Adds nodes that a thread expanded. Returns how many it may expand before the next call.
    fn count(&self, expanded: u64) -> Result<u64, Interrupt> {
        let total = self.subtrees.expanded.fetch_add(expanded, Ordering::Relaxed) + expanded;
        if self.subtrees.is_undecided() {
            if total < MIN_SHARED_NODES {
                return self.check().map(|()| Meter::INTERVAL);
            }
            self.subtrees.share();
        }
        let left = self.allowed.saturating_sub(total);
        if left == 0 {
            self.subtrees.stopped.get_or_init(|| StopReason::Expanded);
        }
        self.check()?;
        Ok(left.min(Meter::INTERVAL))
    }

    /// Reports the progress of all threads to the observer.
    fn report_progress(&self) {
        self.meter.reached(|| Progress {
            expanded: self.before.expanded + self.subtrees.expanded.load(Ordering::Relaxed),
            generated: self.before.generated + self.subtrees.generated.load(Ordering::Relaxed),
            lower_bound: self.threshold,
            threshold: Some(self.threshold),
        });
    }

    /// Requests help if there is enough work.
    fn request_help(&self, request_help: &dyn Fn()) {
        if self.subtrees.is_shared() && self.subtrees.is_any_left() {
            request_help();
        }
    }
}
