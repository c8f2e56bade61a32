//! Solutions that become shorter with time, and a bound that rises to meet them.

use super::beam::{Beam, ByHeuristic, Spending, beam};
use super::budget::Mark;
use super::stages::Stages;
use super::windows::{Windows, shorten};
use super::{Budget, Heuristic, Outcome, Space, Stats, StopReason, Trace, constructive, ida_star};
use crate::domain::{Packed, Path, Size};

/// A solution at once, and shorter ones as long as the budget lasts, until one is proven to be as short as any.
///
/// The first is the [constructive](constructive) one. Then, in rounds of which each spends twice as much as the one before: a
/// beam for a shorter one; shorter ways between boards of the best so far; and IDA\*, of which each completed
/// iteration raises the lower bound. What comes of a budget of nodes is always the same.
pub fn anytime<P: Packed, H: Heuristic<P>>(space: &Space<P>, heuristic: &H, budget: &Budget<'_>) -> Outcome {
    let constructed = constructive(space.puzzle());
    let initial_h = heuristic.h(heuristic.evaluate(&space.start()));
    let mut search = Anytime {
        space,
        heuristic,
        budget,
        stages: Stages::new(space.size(), space.goal_blank()),
        spending: Spending { meter: budget.meter(), stats: Stats { initial_h, ..constructed.stats } },
        best: constructed.result.expect("a constructive solution always is"),
        lower_bound: if H::ADMISSIBLE { initial_h } else { 0 },
    };
    let stopped = search.run().err();
    let Anytime { spending: Spending { stats, .. }, best, lower_bound, .. } = search;
    match stopped {
        None => Outcome { result: Ok(best), best: None, lower_bound, stats },
        Some(reason) => Outcome { result: Err(reason), best: Some(best), lower_bound, stats },
    }
}

/// Memory that anytime search takes at most on boards of a shape, beside its nodes.
pub fn bytes_beside_nodes(size: Size) -> u64 {
    Stages::bytes(size)
}

struct Anytime<'a, P, H> {
    space: &'a Space<P>,
    heuristic: &'a H,
    budget: &'a Budget<'a>,
    stages: Stages,
    spending: Spending<'a>,
    best: Path,
    lower_bound: u32,
}

impl<P: Packed, H: Heuristic<P>> Anytime<'_, P, H> {
    const FIRST_WIDTH: usize = 16;
    /// Boards with more cells are solved in stages: on them heuristics lead into dead ends that no beam is wide
    /// enough to come out of.
    const CELLS_AT_ONCE: usize = 36;

    fn run(&mut self) -> Result<(), StopReason> {
        let (mut effort, mut left) = (Self::FIRST_WIDTH, u64::MAX);
        for round in 0.. {
            if self.is_proven() {
                break;
            }
            // Of a beam that does not come to its end nothing is left: the last one is as wide as it may be.
            let widest = left / 10 * 9 / self.best.len() as u64;
            let width = self.within_nodes(effort.min(usize::try_from(widest).unwrap_or(usize::MAX)));
            let begun = self.mark();
            self.leap(width, round)?;
            let ended = self.mark();
            self.shorten(width, round)?;
            self.prove((effort as u64).saturating_mul(self.best.len() as u64) / self.share_of_proof())?;
            effort = effort.saturating_mul(2);
            left = self.spending.meter.left(self.spending.stats.expanded, [begun, ended]);
        }
        Ok(())
    }

    fn mark(&self) -> Mark {
        self.spending.meter.mark(self.spending.stats.expanded)
    }

    /// Of what a beam spends that comes to its end, which part IDA* may spend: on large boards it gets nowhere.
    fn share_of_proof(&self) -> u64 {
        if self.space.size().cells() > Self::CELLS_AT_ONCE { 16 } else { 2 }
    }

    fn is_proven(&self) -> bool {
        self.best.len() <= self.lower_bound as usize
    }

    /// The width of a beam whose boards may all be held.
    fn within_nodes(&self, width: usize) -> usize {
        let most = self.budget.nodes / self.best.len().max(1) as u64;
        width.min(usize::try_from(most).unwrap_or(usize::MAX)).max(1)
    }

    /// Looks for a shorter solution from scratch.
    fn leap(&mut self, width: usize, seed: u64) -> Result<(), StopReason> {
        let aim = Beam { width, shorter_than: self.best.len(), seed };
        let is_in_stages = self.space.size().cells() > Self::CELLS_AT_ONCE || seed == 0;
        let found = if is_in_stages {
            beam(self.space, &self.stages, aim, &mut self.spending)?
        } else {
            beam(self.space, &ByHeuristic(self.heuristic), aim, &mut self.spending)?
        };
        if let Some(path) = found {
            self.best = path;
        }
        Ok(())
    }

    /// Looks for shorter ways between boards of the best solution.
    fn shorten(&mut self, width: usize, round: u64) -> Result<(), StopReason> {
        let windows = Windows { moves: 24 << (round % 4), width: width.div_ceil(4), seed: round };
        shorten::<P>(self.space.puzzle().start(), &mut self.best, windows, &mut self.spending)
    }

    /// Looks for a proof, and finds a shortest solution if it may expand so many nodes.
    fn prove(&mut self, expanded: u64) -> Result<(), StopReason> {
        let spent = self.spending.stats.expanded;
        let budget = Budget { expanded: expanded.min(self.budget.expanded.saturating_sub(spent)), ..*self.budget };
        let outcome = ida_star(self.space, self.heuristic, &budget, &mut Trace::default());
        self.spending.stats += outcome.stats;
        self.lower_bound = self.lower_bound.max(outcome.lower_bound);
        match outcome.result {
            Ok(path) => self.best = path,
            Err(StopReason::Expanded) if budget.expanded < self.budget.expanded.saturating_sub(spent) => {}
            Err(reason) => return Err(reason),
        }
        Ok(())
    }
}
