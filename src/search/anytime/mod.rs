//! Anytime search: solutions that become shorter over time, and a lower bound that rises.

mod cell_set;
mod constructive;
mod outer_lines;
mod path_shortening;
mod stage;
mod stages;

pub use constructive::constructive;
pub use stages::Stages;

use super::beam::{Accounting, Beam, HeuristicGuide, beam};
use super::budget::Checkpoint;
use super::observer::PartObserver;
use super::{Budget, IdaStar, Observer, Outcome, Progress, Space, Stats, StopReason, Trace};
use crate::domain::{Packed, Path, Size};
use path_shortening::{PathWindows, shorten};
use stages::StagePosition;

/// Returns a first solution at once, then searches for shorter ones until the budget is exhausted or one is proven
/// optimal.
///
/// The first solution is the [constructive](constructive()) one. Rounds follow, each with twice the effort of the one
/// before: a beam search for a shorter solution; shorter paths between boards of the best solution; and IDA\*, whose
/// completed iterations raise the lower bound.
///
/// Under a limit on expansions the result is reproducible. If the deadline limited the width of a beam, it is not, and
/// the search reports [`StopReason::Time`].
///
/// # Panics
/// If the heuristic is not admissible, or the stages belong to another shape or goal.
pub fn anytime<P: Packed, H: IdaStar<P>>(
    space: &Space<P>,
    heuristic: &H,
    stages: &Stages,
    objective: Objective,
    budget: &Budget<'_>,
) -> Outcome {
    assert!(H::ADMISSIBLE, "only an admissible heuristic proves a lower bound");
    assert!(stages.serves(space.size(), space.goal_blank()), "the stages are for another shape or goal");
    let constructed = constructive(space.puzzle());
    let initial_h = heuristic.h(heuristic.evaluate(&space.start()));
    let mut search = Anytime {
        space,
        heuristic,
        objective,
        budget,
        stages,
        accounting: Accounting { meter: budget.meter(), stats: Stats { initial_h, ..constructed.stats } },
        best: constructed.result.expect("the constructive solver always succeeds"),
        lower_bound: initial_h,
        is_time_limited: false,
    };
    search.report_bound();
    search.accounting.meter.found(&search.best);
    let stopped = search.run().err().filter(|_| !search.is_proven());
    let Anytime { accounting: Accounting { stats, .. }, best, lower_bound, is_time_limited, .. } = search;
    match stopped {
        // The deadline limited a beam, so the result is not reproducible.
        Some(StopReason::Expanded) if is_time_limited => {
            Outcome { result: Err(StopReason::Time), best: Some(best), lower_bound, stats }
        }
        None => Outcome { result: Ok(best), best: None, lower_bound, stats },
        Some(reason) => Outcome { result: Err(reason), best: Some(best), lower_bound, stats },
    }
}

/// Objective of an anytime search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Objective {
    /// A short solution.
    Short,
    /// A proof of optimality. Once a good solution is known, all remaining effort goes into the proof.
    Proven,
}

/// Maximum memory in bytes of anytime search on boards of a shape, without its nodes.
pub fn bytes_beside_nodes(size: Size) -> u64 {
    Stages::most_bytes(size)
}

/// Memory in bytes per node of anytime search: a board of a completed beam level.
pub fn bytes_per_beam_node() -> u64 {
    Beam::BYTES_PER_NODE
}

struct Anytime<'a, P, H> {
    space: &'a Space<P>,
    heuristic: &'a H,
    objective: Objective,
    budget: &'a Budget<'a>,
    stages: &'a Stages,
    accounting: Accounting<'a>,
    best: Path,
    lower_bound: u32,
    /// True if the deadline limited the width of a beam.
    is_time_limited: bool,
}

impl<P: Packed, H: IdaStar<P>> Anytime<'_, P, H> {
    const FIRST_WIDTH: usize = 16;
    /// Larger boards are solved in stages: on them heuristics lead into dead ends that even wide beams cannot leave.
    const MAX_CELLS_WITHOUT_STAGES: usize = 25;

    fn run(&mut self) -> Result<(), StopReason> {
        let (mut effort, mut in_time) = (Self::FIRST_WIDTH, u64::MAX);
        if !self.is_proven() {
            self.stages.prepare(&self.accounting.meter)?;
        }
        for round in 0.. {
            if self.is_proven() {
                break;
            }
            let width = self.width(effort, in_time);
            let before = self.checkpoint();
            let is_found = self.search_with_beam(width, round)?;
            let after = self.checkpoint();
            if !self.is_proven() {
                self.shorten(width, round)?;
            }
            if !self.is_proven() {
                self.prove(self.proof_budget(effort, is_found))?;
            }
            effort = effort.saturating_mul(2);
            in_time = self.accounting.meter.in_time([before, after]);
        }
        Ok(())
    }

    /// Number of nodes that IDA\* may expand in a round, given the effort of the beam.
    fn proof_budget(&self, effort: usize, is_found: bool) -> u64 {
        /// Beams at least this wide find solutions that are hard to improve.
        const WIDE_BEAM: usize = 1024;
        let beam_nodes = (effort as u64).saturating_mul(self.best.len() as u64);
        // With pattern databases a node takes a tenth of the time.
        let factor = if H::PRUNES { 4 } else { 1 };
        let is_far = is_found && self.space.size().cells() > Self::MAX_CELLS_WITHOUT_STAGES;
        match self.objective {
            Objective::Proven if effort >= WIDE_BEAM => u64::MAX,
            Objective::Proven => beam_nodes.saturating_mul(4 * factor),
            // A proof is out of reach while solutions still become shorter.
            Objective::Short if is_far => beam_nodes / 16,
            Objective::Short => beam_nodes.saturating_mul(factor) / 2,
        }
    }

    /// Width of a round's beam. An unfinished beam finds nothing, so nodes and time limit the width of the last one.
    fn width(&mut self, effort: usize, in_time: u64) -> usize {
        let length = self.best.len() as u64;
        let allowed = self.accounting.meter.allowed(self.accounting.stats.expanded);
        let widest = |nodes: u64| usize::try_from(nodes / 10 * 9 / length).unwrap_or(usize::MAX);
        let room = Beam::widest::<P, H::Memo>(self.budget.nodes, length);
        let room = room.min(Beam::widest::<P, StagePosition>(self.budget.nodes, length));
        let width = effort.min(widest(allowed)).min(usize::try_from(room).unwrap_or(usize::MAX));
        self.is_time_limited |= widest(in_time) < width;
        width.min(widest(in_time)).max(1)
    }

    fn checkpoint(&self) -> Checkpoint {
        self.accounting.meter.checkpoint(self.accounting.stats.expanded)
    }

    fn is_proven(&self) -> bool {
        self.best.len() <= self.lower_bound as usize
    }

    fn improve(&mut self, path: Path) {
        let is_shorter = path.len() < self.best.len();
        self.best = path;
        if is_shorter {
            self.accounting.meter.found(&self.best);
        }
    }

    fn report_bound(&self) {
        let Self { accounting: Accounting { meter, stats }, lower_bound, .. } = self;
        meter.reached(|| Progress { lower_bound: *lower_bound, ..Progress::from(stats) });
    }

    /// Searches for a shorter solution from the start. Returns true if one was found.
    fn search_with_beam(&mut self, width: usize, round: u64) -> Result<bool, StopReason> {
        let options = Beam { width, shorter_than: self.best.len() };
        let is_in_stages = self.space.size().cells() > Self::MAX_CELLS_WITHOUT_STAGES || round == 0;
        let found = if is_in_stages {
            beam(self.space, self.stages, options, &mut self.accounting)?
        } else {
            beam(self.space, &HeuristicGuide(self.heuristic), options, &mut self.accounting)?
        };
        let is_found = found.is_some();
        if let Some(path) = found {
            self.improve(path);
        }
        Ok(is_found)
    }

    /// Searches for shorter paths between boards of the best solution.
    fn shorten(&mut self, width: usize, round: u64) -> Result<(), StopReason> {
        let windows = PathWindows { moves: 24 << (round % 4), width: width.div_ceil(4) };
        shorten::<P>(self.space.puzzle().start(), &mut self.best, windows, &mut self.accounting)
    }

    /// Runs IDA\* for at most `expanded` nodes, to raise the lower bound or find an optimal solution.
    fn prove(&mut self, expanded: u64) -> Result<(), StopReason> {
        let allowed = self.accounting.meter.allowed(self.accounting.stats.expanded);
        let observer = self.budget.observer.map(|whole| PartObserver { whole, before: self.accounting.stats });
        let observer = observer.as_ref().map(|observer| observer as &dyn Observer);
        let budget = Budget { expanded: expanded.min(allowed), observer, ..*self.budget };
        let outcome = self.heuristic.ida_star(self.space, self.lower_bound, &budget, &mut Trace::default());
        self.accounting.stats += outcome.stats;
        self.lower_bound = self.lower_bound.max(outcome.lower_bound);
        self.report_bound();
        match outcome.result {
            Ok(path) => self.improve(path),
            Err(StopReason::Expanded) if budget.expanded < allowed => {}
            Err(reason) => return Err(reason),
        }
        Ok(())
    }
}
