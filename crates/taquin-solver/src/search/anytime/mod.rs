//! Anytime search: solutions that become shorter over time, and a lower bound that rises.

mod constructive;
mod neighbor_costs;
mod outer_lines;
mod path_shortening;
mod stage;
mod stages;

pub use constructive::constructive;
pub use stages::Stages;

use super::beam::{Accounting, Beam, beam};
use super::budget::Checkpoint;
use super::observer::PartObserver;
use super::{Budget, HeuristicSearch, Observer, Outcome, Progress, Space, Stats, StopReason, Trace};
use crate::domain::{Board, Packed, PackedBytes, Path, Puzzle, Size};
use path_shortening::{PathWindows, shorten};

/// Returns a first solution at once, then searches for shorter ones until the budget is exhausted or one is proven
/// optimal.
///
/// The first solution is the [constructive](constructive()) one. Rounds follow, each with four times the previous
/// effort: a beam search for a shorter solution; shorter paths between boards of the best solution, if the heuristic is
/// weak; and IDA\*, whose completed iterations raise the lower bound. The last beam is as wide as the rest of the
/// budget allows.
///
/// Under a limit on expansions the result is reproducible. If the deadline limited the width of a beam, it is not, and
/// the search reports [`StopReason::Time`].
///
/// # Panics
/// If the heuristic is not admissible, or the stages belong to another shape or goal.
pub fn anytime<P: Packed, H: HeuristicSearch<P>>(
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
        accounting: Accounting {
            meter: budget.meter(),
            stats: Stats { initial_h, ..constructed.stats },
            is_time_limited: false,
        },
        best: constructed.result.expect("the constructive solver always succeeds"),
        lower_bound: initial_h,
    };
    search.report_bound();
    search.accounting.meter.found(&search.best);
    let stopped = search.run().err().filter(|_| !search.is_proven());
    let Anytime { accounting: Accounting { stats, is_time_limited, .. }, best, lower_bound, .. } = search;
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

/// A beam search that has run to its end.
#[derive(Clone, Copy)]
struct FinishedBeam {
    width: usize,
    /// Its beginning and its end.
    span: [Checkpoint; 2],
}

impl FinishedBeam {
    /// Number of expanded nodes.
    fn nodes(&self) -> u64 {
        let [begin, end] = self.span;
        end.nodes_since(begin)
    }
}

/// A beam search in stages.
struct BeamInStages<'s, 'a> {
    puzzle: &'s Puzzle,
    stages: &'s Stages,
    options: Beam,
    accounting: &'s mut Accounting<'a>,
}

impl SmallBoards for BeamInStages<'_, '_> {
    type Output = Result<Option<Path>, StopReason>;

    fn search<P: Packed>(self) -> Self::Output {
        beam(&Space::<P>::new(self.puzzle), self.stages, self.options, self.accounting)
    }
}

/// A search for shorter paths between boards of a path.
struct Shorten<'s, 'a> {
    start: &'s Board,
    best: &'s mut Path,
    windows: PathWindows,
    accounting: &'s mut Accounting<'a>,
}

impl SmallBoards for Shorten<'_, '_> {
    type Output = Result<(), StopReason>;

    fn search<P: Packed>(self) -> Self::Output {
        shorten::<P>(self.start, self.best, self.windows, self.accounting)
    }
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
}

impl<P: Packed, H: HeuristicSearch<P>> Anytime<'_, P, H> {
    const FIRST_WIDTH: usize = 16;
    /// Ratio of a round's effort to the previous round's.
    const GROWTH: usize = 4;
    /// The round before a beam of this many times the effort could not finish has the last beam.
    const LAST_EFFORTS: usize = 3;
    /// Larger boards are solved in stages: on them heuristics lead into dead ends that even wide beams cannot leave.
    const MAX_CELLS_WITHOUT_STAGES: usize = 25;

    fn run(&mut self) -> Result<(), StopReason> {
        let (mut effort, mut last) = (Self::FIRST_WIDTH, None::<FinishedBeam>);
        if !self.is_proven() {
            self.stages.prepare(&self.accounting.meter)?;
        }
        for round in 0.. {
            if self.is_proven() {
                break;
            }
            let width = self.width(effort, last);
            // A beam that is not wider finds nothing new.
            let is_wider = last.is_none_or(|last| width > last.width);
            let mut is_found = false;
            if is_wider {
                let before = self.checkpoint();
                is_found = self.search_with_beam(width, round)?;
                last = Some(FinishedBeam { width, span: [before, self.checkpoint()] });
            }
            // With pattern databases, wider beams find as much as windows do, where there is memory for them.
            let is_full = width >= self.widest_in_memory();
            if !self.is_proven() && (!H::PRUNES || !is_wider && is_full) {
                self.shorten(width, round)?;
            }
            if !self.is_proven() {
                let is_last = H::PRUNES && !is_wider && !is_full;
                self.prove(if is_last { u64::MAX } else { self.proof_budget(effort, is_found) })?;
            }
            effort = effort.saturating_mul(Self::GROWTH);
        }
        Ok(())
    }

    /// True if all beams are in stages.
    fn has_only_stages(&self) -> bool {
        self.space.size().cells() > Self::MAX_CELLS_WITHOUT_STAGES
    }

    /// Number of nodes that IDA\* may expand in a round, given the effort of the beam.
    fn proof_budget(&self, effort: usize, is_found: bool) -> u64 {
        /// Beams at least this wide find solutions that are hard to improve.
        const WIDE_BEAM: usize = 1024;
        /// Beyond this difference between length and bound, a proof takes more than six iterations, each several times
        /// as long as the previous one.
        const FAR: usize = 12;
        let beam_nodes = (effort as u64).saturating_mul(self.best.len() as u64);
        let is_far = self.best.len() - self.lower_bound as usize > FAR;
        let is_hopeless = (is_found || is_far) && self.has_only_stages();
        match self.objective {
            Objective::Proven if effort >= WIDE_BEAM => u64::MAX,
            // With pattern databases a node takes a tenth of the time.
            Objective::Proven => beam_nodes.saturating_mul(if H::PRUNES { 16 } else { 4 }),
            // A proof is out of reach while solutions still become shorter, or far from the bound.
            Objective::Short if is_hopeless => beam_nodes / 16,
            // Solutions become shorter sooner by wider beams than by IDA\*, which raises the bound alone.
            Objective::Short if H::PRUNES => beam_nodes / 4,
            Objective::Short => beam_nodes / 2,
        }
    }

    /// Width of a round's beam. The last beam is as wide as nodes and time allow.
    fn width(&mut self, effort: usize, last: Option<FinishedBeam>) -> usize {
        let meter = &self.accounting.meter;
        let allowed = meter.allowed(self.accounting.stats.expanded);
        let in_time = last.map_or(u64::MAX, |last| meter.in_time(last.span));
        // A beam is thinner where boards cannot lead to a shorter solution any more.
        let length = self.best.len() as u64;
        let nodes_of_board = last.map_or(length, |last| last.nodes().div_ceil(last.width as u64)).max(1);
        let in_memory = self.widest_in_memory();
        let width = |nodes: u64| {
            let most = usize::try_from(nodes / nodes_of_board).unwrap_or(usize::MAX);
            let width = if most < effort.saturating_mul(Self::LAST_EFFORTS) { most } else { effort };
            width.min(in_memory).max(1)
        };
        let (timeless, width) = (width(allowed), width(allowed.min(in_time)));
        self.accounting.is_time_limited |= width != timeless;
        width
    }

    /// Width of the widest beam for which there is memory.
    fn widest_in_memory(&self) -> usize {
        let (nodes, length) = (self.budget.nodes, self.best.len() as u64);
        // The first beam is in stages on all boards, and needs little memory.
        let widest = if self.has_only_stages() {
            Beam::widest::<P, Stages>(nodes, length)
        } else {
            self.heuristic.widest_beam(nodes, length)
        };
        usize::try_from(widest).unwrap_or(usize::MAX).max(1)
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
        let Self { accounting: Accounting { meter, stats, .. }, lower_bound, .. } = self;
        meter.reached(|| Progress { lower_bound: *lower_bound, ..Progress::from(stats) });
    }

    /// Searches for a shorter solution from the start. Returns true if one was found.
    fn search_with_beam(&mut self, width: usize, round: u64) -> Result<bool, StopReason> {
        let options = Beam { width, shorter_than: self.best.len(), ends_in_budget: true };
        let is_in_stages = self.has_only_stages() || round == 0;
        let found = if is_in_stages {
            let (puzzle, stages, accounting) = (self.space.puzzle(), self.stages, &mut self.accounting);
            with_small_boards(puzzle.size(), BeamInStages { puzzle, stages, options, accounting })?
        } else {
            self.heuristic.beam(self.space, options, &mut self.accounting)?
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
        let Self { space, best, accounting, .. } = self;
        with_small_boards(space.size(), Shorten { start: space.puzzle().start(), best, windows, accounting })
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

/// A search in boards of bytes.
pub(crate) trait SmallBoards {
    type Output;

    fn search<P: Packed>(self) -> Self::Output;
}

/// Searches in boards with as few bytes as the shape needs, of three numbers.
///
/// A level of a beam has many boards that are read once, and small ones are read sooner. With the blank and the
/// position in the stages, they take 48, 64 or 112 bytes: at most a cache line, except on the largest boards. Other
/// searches are compiled for one form of all boards of more than 25 cells.
pub(crate) fn with_small_boards<S: SmallBoards>(size: Size, search: S) -> S::Output {
    match size.cells() {
        ..=39 => search.search::<PackedBytes<39>>(),
        40..=55 => search.search::<PackedBytes<55>>(),
        _ => search.search::<PackedBytes>(),
    }
}
