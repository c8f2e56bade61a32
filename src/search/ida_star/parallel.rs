//! IDA* over patterns, in parts that are searched side by side.

use std::sync::atomic::Ordering;

use super::batch::{BatchSearch, Interrupt, MOST_PER_PART};
use super::board_form::{BoardForm, Views};
use super::frontier::Frontier;
use super::node::MoveTables;
use super::subtrees::{NodeCounts, Subtrees};
use crate::domain::Move;
use crate::search::heuristic::Heuristic;
use crate::search::{Budget, Meter, Outcome, Progress, Space, Stats, StopReason};

/// What [`ida_star`](crate::search::ida_star) does with patterns, many times as fast: the same
/// solution, and the same counts.
pub(super) fn parallel_ida_star<S, V>(
    patterns: &V,
    space: &Space<S::Board>,
    proven: u32,
    budget: &Budget<'_>,
) -> Outcome
where
    S: BoardForm,
    V: Views<S, Costs = V::Memo> + Heuristic<S::Board>,
{
    let costs = patterns.evaluate(&space.start());
    let initial_h = patterns.h(costs);
    let tables = MoveTables::<S>::new(patterns, space, &costs);
    let lanes = BatchSearch::new(&tables);
    let mut descent = ParallelSearch {
        tables: &tables,
        budget,
        lanes,
        threshold: threshold_from(initial_h, proven),
        iterations: 0,
        spent: NodeCounts::default(),
    };
    let found = descent.run();
    let ParallelSearch { threshold, iterations, spent: NodeCounts { expanded, generated, deepest }, .. } = descent;
    let peak_open = u64::from(deepest) + 1;
    let stats = Stats { expanded, generated, peak_open, iterations, initial_h, ..Stats::default() };
    Outcome { result: found.map(Into::into), best: None, lower_bound: threshold, stats }
}

/// The first threshold where no solution is shorter than `proven`: f changes by two, so it has the parity of h.
fn threshold_from(initial_h: u32, proven: u32) -> u32 {
    let least = initial_h.max(proven);
    least + (least - initial_h) % 2
}

struct ParallelSearch<'a, S: BoardForm> {
    tables: &'a MoveTables<'a, S>,
    budget: &'a Budget<'a>,
    lanes: BatchSearch<'a, S>,
    threshold: u32,
    iterations: u32,
    spent: NodeCounts,
}

/// Nodes that the iteration before expanded, for each part of the next, which has several times as many.
const PART: u64 = 16;
/// Parts of an iteration: enough to keep a thread's lanes busy, and no more than are quickly made and
/// held in little memory.
const PARTS: std::ops::RangeInclusive<u64> = 16..=2048;

impl<S: BoardForm> ParallelSearch<'_, S> {
    fn run(&mut self) -> Result<Vec<Move>, StopReason> {
        let mut expanded = 0;
        loop {
            self.iterations += 1;
            self.spent.generated += 1;
            let before = self.spent.expanded;
            if let Some(moves) = self.iterate((expanded / PART).clamp(*PARTS.start(), *PARTS.end()))? {
                return Ok(moves);
            }
            expanded = self.spent.expanded - before;
            // Along a move f stays or rises by two, so nothing lies between.
            self.threshold += 2;
        }
    }

    /// Searches within the threshold.
    fn iterate(&mut self, parts: u64) -> Result<Option<Vec<Move>>, StopReason> {
        let root = self.tables.root(u8::try_from(self.threshold).expect("boards with patterns are close"));
        let allowed = self.budget.expanded.saturating_sub(self.spent.expanded);
        // Close to the limit the order of the whole is kept from the start.
        let subtrees = if allowed > MOST_PER_PART as u64 * parts {
            let subtrees = self.lanes.split(root, parts as usize);
            self.search(&subtrees, allowed);
            subtrees
        } else {
            Subtrees::of(Frontier::new(root))
        };
        self.sum_up(&subtrees)
    }

    /// Searches what it can within the budget, with what help it gets.
    fn search(&mut self, subtrees: &Subtrees<S>, allowed: u64) {
        let Self { tables, budget, threshold, spent: before, .. } = *self;
        let watch = SharedMeter { meter: budget.meter(), subtrees, allowed, threshold, before };
        // Those who are needed elsewhere leave their parts to others, perhaps when all others are done.
        while subtrees.is_any_left() && watch.check().is_ok() {
            // What stops anybody is told by the subtrees.
            let mut main = |ask: &dyn Fn()| {
                let poll = &mut |expanded| {
                    watch.meter.pause();
                    let allowed = watch.count(expanded);
                    watch.tell();
                    allowed.inspect(|_| watch.ask(ask))
                };
                let _ = self.lanes.run(subtrees, poll);
            };
            let help = |is_wanted: &dyn Fn() -> bool| {
                let poll = &mut |expanded| {
                    let allowed = watch.count(expanded)?;
                    if is_wanted() { Err(Interrupt::Wanted) } else { Ok(allowed) }
                };
                let _ = BatchSearch::new(tables).run(subtrees, poll);
            };
            match budget.helpers {
                Some(helpers) => helpers.work(&mut main, &help),
                None => main(&|| ()),
            }
        }
    }

    /// Reads what came of the parts as a search of the whole would have come to them.
    fn sum_up(&mut self, subtrees: &Subtrees<S>) -> Result<Option<Vec<Move>>, StopReason> {
        for nth in 0..subtrees.len() {
            self.spend(subtrees.above(nth))?;
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
                    // No solution within the threshold is longer than another.
                    return subtrees.found().map(|moves| Some(moves.clone())).ok_or(*reason);
                }
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        self.spend(subtrees.above(subtrees.len()))?;
        Ok(None)
    }

    /// Counts what was spent above the parts, if it is within the budget.
    fn spend(&mut self, above: NodeCounts) -> Result<(), StopReason> {
        self.spent += above;
        let is_within = self.spent.expanded <= self.budget.expanded;
        self.spent.expanded = self.spent.expanded.min(self.budget.expanded);
        if is_within { Ok(()) } else { Err(StopReason::Expanded) }
    }

    /// Searches a part, to the last node allowed.
    fn search_alone(&mut self, part: Subtrees<S>, allowed: u64) -> Result<Option<Vec<Move>>, StopReason> {
        // One more, since the goal may come after the last one allowed.
        self.search(&part, allowed.saturating_add(1));
        self.spent += part.spent_from(0);
        self.spent.expanded = self.spent.expanded.min(self.budget.expanded);
        match part.searched(0) {
            Some(searched) => Ok(searched.found.clone()),
            None => Err(part.stopped.get().copied().unwrap_or(StopReason::Cancelled)),
        }
    }
}

/// Keeps all who work on an iteration within the budget.
struct SharedMeter<'a, S: BoardForm> {
    meter: Meter<'a>,
    subtrees: &'a Subtrees<S>,
    allowed: u64,
    threshold: u32,
    /// What was spent before.
    before: NodeCounts,
}

/// Nodes of an iteration before it asks for help: to start a thread takes as long as some thousands.
const ENOUGH_FOR_TWO: u64 = 1 << 14;

impl<S: BoardForm> SharedMeter<'_, S> {
    /// Whether the search may go on.
    fn check(&self) -> Result<(), Interrupt> {
        let stopped = match self.subtrees.stopped.get() {
            Some(reason) => Err(*reason),
            None => self.meter.check(),
        };
        stopped.map_err(|reason| Interrupt::Stopped(*self.subtrees.stopped.get_or_init(|| reason)))
    }

    /// Adds nodes that somebody expanded, and says how many more they may before they ask again.
    fn count(&self, expanded: u64) -> Result<u64, Interrupt> {
        let total = self.subtrees.expanded.fetch_add(expanded, Ordering::Relaxed) + expanded;
        let left = self.allowed.saturating_sub(total);
        if left == 0 {
            self.subtrees.stopped.get_or_init(|| StopReason::Expanded);
        }
        self.check()?;
        Ok(left.min(Meter::INTERVAL))
    }

    /// Tells the observer how far all are together.
    fn tell(&self) {
        self.meter.reached(|| Progress {
            expanded: self.before.expanded + self.subtrees.expanded.load(Ordering::Relaxed),
            generated: self.before.generated + self.subtrees.generated.load(Ordering::Relaxed),
            lower_bound: self.threshold,
            threshold: Some(self.threshold),
        });
    }

    /// Asks for help, if there is enough to do.
    fn ask(&self, ask: &dyn Fn()) {
        if self.subtrees.expanded.load(Ordering::Relaxed) >= ENOUGH_FOR_TWO && self.subtrees.is_any_left() {
            ask();
        }
    }
}
