//! Solutions that become shorter with time, and a bound that rises to meet them.

mod constructive;
mod outer_lines;
mod path_shortening;
mod stage;
mod stages;

pub use constructive::constructive;
pub use stages::Stages;

use super::beam::{Beam, ByHeuristic, Spending, beam};
use super::budget::Mark;
use super::observer::PartWitness;
use super::{Budget, IdaStar, Outcome, Progress, Space, Stats, StopReason, Trace, Witness};
use crate::domain::{Packed, Path, Size};
use path_shortening::{Windows, shorten};
use stages::OnTheWay;

/// A solution at once, and shorter ones as long as the budget lasts, until one is proven to be as short as any.
///
/// The first is the [constructive](constructive) one. Then, in rounds of which each spends twice as much as the one before: a
/// beam for a shorter one; shorter ways between boards of the best so far; and IDA\*, of which each completed
/// iteration raises the lower bound. What comes of a budget of nodes is always the same; where the clock had a say,
/// it is time that stopped the search.
///
/// # Panics
/// If the heuristic is not admissible, or the stages are those of other boards.
pub fn anytime<P: Packed, H: IdaStar<P>>(
    space: &Space<P>,
    heuristic: &H,
    stages: &Stages,
    aim: Aim,
    budget: &Budget<'_>,
) -> Outcome {
    assert!(H::ADMISSIBLE, "a bound is proven by an admissible heuristic");
    assert!(stages.serve(space.size(), space.goal_blank()), "stages lead to a goal of their own");
    let constructed = constructive(space.puzzle());
    let initial_h = heuristic.h(heuristic.evaluate(&space.start()));
    let mut search = Anytime {
        space,
        heuristic,
        aim,
        budget,
        stages,
        spending: Spending { meter: budget.meter(), stats: Stats { initial_h, ..constructed.stats } },
        best: constructed.result.expect("a constructive solution always is"),
        lower_bound: initial_h,
        is_by_the_clock: false,
    };
    search.tell_bound();
    search.spending.meter.found(&search.best);
    let stopped = search.run().err().filter(|_| !search.is_proven());
    let Anytime { spending: Spending { stats, .. }, best, lower_bound, is_by_the_clock, .. } = search;
    match stopped {
        // What the clock had a say in does not come out the same again.
        Some(StopReason::Expanded) if is_by_the_clock => {
            Outcome { result: Err(StopReason::Time), best: Some(best), lower_bound, stats }
        }
        None => Outcome { result: Ok(best), best: None, lower_bound, stats },
        Some(reason) => Outcome { result: Err(reason), best: Some(best), lower_bound, stats },
    }
}

/// What anytime search is after.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// A short solution.
    Short,
    /// A solution that is proven to be as short as any: once a good one is there, all that is left goes into the proof.
    Proven,
}

/// Memory that anytime search takes at most on boards of a shape, beside its nodes.
pub fn bytes_beside_nodes(size: Size) -> u64 {
    Stages::most_bytes(size)
}

/// Bytes that one of its nodes takes: a board of a beam, whose level has been passed.
pub fn bytes_per_beam_node() -> u64 {
    Beam::BYTES_PER_NODE
}

struct Anytime<'a, P, H> {
    space: &'a Space<P>,
    heuristic: &'a H,
    aim: Aim,
    budget: &'a Budget<'a>,
    stages: &'a Stages,
    spending: Spending<'a>,
    best: Path,
    lower_bound: u32,
    /// Whether a beam would have been wider with more time.
    is_by_the_clock: bool,
}

impl<P: Packed, H: IdaStar<P>> Anytime<'_, P, H> {
    const FIRST_WIDTH: usize = 16;
    /// Boards with more cells are solved in stages: on them heuristics lead into dead ends that no beam is wide
    /// enough to come out of.
    const CELLS_AT_ONCE: usize = 25;

    fn run(&mut self) -> Result<(), StopReason> {
        let (mut effort, mut in_time) = (Self::FIRST_WIDTH, u64::MAX);
        if !self.is_proven() {
            self.stages.prepare(&self.spending.meter)?;
        }
        for round in 0.. {
            if self.is_proven() {
                break;
            }
            let width = self.width(effort, in_time);
            let begun = self.mark();
            let is_found = self.leap(width, round)?;
            let ended = self.mark();
            if !self.is_proven() {
                self.shorten(width, round)?;
            }
            if !self.is_proven() {
                self.prove(self.worth_proving(effort, is_found))?;
            }
            effort = effort.saturating_mul(2);
            in_time = self.spending.meter.in_time([begun, ended]);
        }
        Ok(())
    }

    /// How many nodes IDA\* may expand in a round, beside a beam that spends as many as its width says.
    fn worth_proving(&self, effort: usize, is_found: bool) -> u64 {
        /// Beams as wide find solutions that are hard to better.
        const GOOD: usize = 1024;
        let whole = (effort as u64).saturating_mul(self.best.len() as u64);
        // With patterns its nodes take a tenth of the time, and it gets far.
        let ease = if H::PRUNES { 4 } else { 1 };
        let is_far = is_found && self.space.size().cells() > Self::CELLS_AT_ONCE;
        match self.aim {
            Aim::Proven if effort >= GOOD => u64::MAX,
            Aim::Proven => whole.saturating_mul(4 * ease),
            // Where solutions still become shorter it gets nowhere.
            Aim::Short if is_far => whole / 16,
            Aim::Short => whole.saturating_mul(ease) / 2,
        }
    }

    /// The width of a round's beam. Of one that does not come to its end nothing is left, so that the last one is as
    /// wide as it may be, and as there is time for.
    fn width(&mut self, effort: usize, in_time: u64) -> usize {
        let length = self.best.len() as u64;
        let allowed = self.spending.meter.allowed(self.spending.stats.expanded);
        let widest = |nodes: u64| usize::try_from(nodes / 10 * 9 / length).unwrap_or(usize::MAX);
        let room = Beam::widest::<P, H::Memo>(self.budget.nodes, length);
        let room = room.min(Beam::widest::<P, OnTheWay>(self.budget.nodes, length));
        let width = effort.min(widest(allowed)).min(usize::try_from(room).unwrap_or(usize::MAX));
        self.is_by_the_clock |= widest(in_time) < width;
        width.min(widest(in_time)).max(1)
    }

    fn mark(&self) -> Mark {
        self.spending.meter.mark(self.spending.stats.expanded)
    }

    fn is_proven(&self) -> bool {
        self.best.len() <= self.lower_bound as usize
    }

    fn improve(&mut self, path: Path) {
        let is_shorter = path.len() < self.best.len();
        self.best = path;
        if is_shorter {
            self.spending.meter.found(&self.best);
        }
    }

    fn tell_bound(&self) {
        let Self { spending: Spending { meter, stats }, lower_bound, .. } = self;
        meter.reached(|| Progress { lower_bound: *lower_bound, ..Progress::from(stats) });
    }

    /// Looks for a shorter solution from scratch; whether there was one.
    fn leap(&mut self, width: usize, round: u64) -> Result<bool, StopReason> {
        let aim = Beam { width, shorter_than: self.best.len() };
        let is_in_stages = self.space.size().cells() > Self::CELLS_AT_ONCE || round == 0;
        let found = if is_in_stages {
            beam(self.space, self.stages, aim, &mut self.spending)?
        } else {
            beam(self.space, &ByHeuristic(self.heuristic), aim, &mut self.spending)?
        };
        let is_found = found.is_some();
        if let Some(path) = found {
            self.improve(path);
        }
        Ok(is_found)
    }

    /// Looks for shorter ways between boards of the best solution.
    fn shorten(&mut self, width: usize, round: u64) -> Result<(), StopReason> {
        let windows = Windows { moves: 24 << (round % 4), width: width.div_ceil(4) };
        shorten::<P>(self.space.puzzle().start(), &mut self.best, windows, &mut self.spending)
    }

    /// Looks for a proof, and finds a shortest solution if it may expand so many nodes.
    fn prove(&mut self, expanded: u64) -> Result<(), StopReason> {
        let allowed = self.spending.meter.allowed(self.spending.stats.expanded);
        let witness = self.budget.witness.map(|whole| PartWitness { whole, before: self.spending.stats });
        let witness = witness.as_ref().map(|witness| witness as &dyn Witness);
        let budget = Budget { expanded: expanded.min(allowed), witness, ..*self.budget };
        let outcome = self.heuristic.ida_star(self.space, self.lower_bound, &budget, &mut Trace::default());
        self.spending.stats += outcome.stats;
        self.lower_bound = self.lower_bound.max(outcome.lower_bound);
        self.tell_bound();
        match outcome.result {
            Ok(path) => self.improve(path),
            Err(StopReason::Expanded) if budget.expanded < allowed => {}
            Err(reason) => return Err(reason),
        }
        Ok(())
    }
}
