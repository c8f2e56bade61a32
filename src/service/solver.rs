//! The switchboard: from a plan's enums to a search compiled for them, then the replay.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::{Job, Plan, Report, ServiceError, Solution, Tables};
use crate::domain::{Bytes, Packed, Pair, Puzzle, Size, Word};
use crate::search::heuristic::{
    Gaschnig, Hamming, InversionDistance, LinearConflict, Manhattan, PatternDatabase, Sum, WalkingDistance, Zero,
};
use crate::search::{
    Algorithm, BucketOpenList, Budget, Evaluation, HeapOpenList, Heuristic, HeuristicKind, Outcome, Space, StopReason,
    TieBreaking, Trace, best_first, breadth_first, bytes_per_node, constructive, depth_first, ida_star,
};

/// How many nodes of boards of a shape fit into so many bytes.
pub fn nodes_within(bytes: u64, size: Size) -> u64 {
    let per_node = match size.cells() {
        ..=Word::MAX_CELLS => bytes_per_node::<Word>(),
        ..=Pair::MAX_CELLS => bytes_per_node::<Pair>(),
        _ => bytes_per_node::<Bytes>(),
    };
    // Node indices have 32 bits, of which the largest stands for none.
    (bytes / per_node).clamp(1, u64::from(u32::MAX) - 1)
}

/// Makes the search that a job asks for, on the caller's thread, and replays its answer.
///
/// # Errors
/// [`ServiceError::Failed`] if the answer does not replay, which is a bug.
pub fn solve(
    job: &Job,
    tables: &Tables,
    deadline: Option<Instant>,
    cancel: &[&AtomicBool],
) -> Result<Report, ServiceError> {
    let begun = Instant::now();
    let budget = Budget { deadline, expanded: job.limits.expanded, nodes: job.limits.nodes, cancel };
    let mut trace = Trace::new(job.expansions);
    let mut found = Found { algorithm: job.plan.algorithm, outcome: search(job, tables, &budget, &mut trace) };
    let stopped = found.outcome.result.as_ref().err().copied();
    let mut lower_bound = found.outcome.lower_bound.max(root_bound(&job.puzzle, tables));
    if needs_any_solution(job, stopped) {
        found = found.or_shorter(constructive(&job.puzzle));
    }
    let solution = match &found.outcome.result {
        Ok(path) => {
            let tiles = path.replay(&job.puzzle).map_err(|_| ServiceError::Failed("a solution does not replay"))?;
            lower_bound = lower_bound.max(found.outcome.lower_bound);
            Some(Solution { path: path.clone(), tiles })
        }
        Err(_) => None,
    };
    let is_optimal = solution.as_ref().is_some_and(|solution| solution.path.len() == lower_bound as usize);
    let lacks_what_was_required = solution.is_none() || (job.plan.require_optimal && !is_optimal);
    Ok(Report {
        solution,
        stopped: stopped.filter(|_| lacks_what_was_required),
        lower_bound,
        algorithm: found.algorithm,
        heuristic: if found.algorithm.takes_heuristic() { job.plan.heuristic } else { HeuristicKind::Zero },
        stats: found.outcome.stats,
        expansions: trace.into_expansions(),
        limits: job.limits,
        queued: std::time::Duration::ZERO,
        elapsed: begun.elapsed(),
    })
}

/// Whether a constructed solution is worth having: where the house chose the search and it was
/// stopped or looks for any solution, and as the best so far where an optimal one is required.
fn needs_any_solution(job: &Job, stopped: Option<StopReason>) -> bool {
    let is_large = job.puzzle.size().cells() > Word::MAX_CELLS;
    match stopped {
        Some(StopReason::Cancelled) => false,
        Some(_) => job.plan.falls_back || job.plan.require_optimal,
        None => job.plan.falls_back && is_large,
    }
}

/// An outcome, and whose it is.
struct Found {
    algorithm: Algorithm,
    outcome: Outcome,
}

impl Found {
    fn or_shorter(self, constructed: Outcome) -> Self {
        let length = |outcome: &Outcome| outcome.result.as_ref().map_or(usize::MAX, |path| path.len());
        if length(&self.outcome) <= length(&constructed) {
            self
        } else {
            Self { algorithm: Algorithm::Constructive, outcome: constructed }
        }
    }
}

/// Nodes that the house spends on a large board to improve on the constructive solution.
const LARGE_BOARD_NODES: u64 = 100_000;

fn search(job: &Job, tables: &Tables, budget: &Budget<'_>, trace: &mut Trace) -> Outcome {
    let mut budget = *budget;
    if job.plan.falls_back && job.plan.algorithm == Algorithm::WeightedAStar {
        budget.nodes = budget.nodes.min(LARGE_BOARD_NODES);
    }
    match job.puzzle.size().cells() {
        ..=Word::MAX_CELLS => {
            let search = Search { space: Space::<Word>::new(&job.puzzle), plan: &job.plan, budget: &budget, trace };
            let (size, goal_blank) = (job.puzzle.size(), job.puzzle.goal().blank());
            match job.plan.heuristic {
                HeuristicKind::PatternDatabase => {
                    search.with(&PatternDatabase::new(tables.distances(size, goal_blank)))
                }
                HeuristicKind::WalkingDistance => {
                    let [rows, cols] = WalkingDistance::shapes(size, goal_blank).map(|shape| tables.walking(shape));
                    search.with(&WalkingDistance::new(size, goal_blank, rows, cols))
                }
                _ => search.with_planned_heuristic(),
            }
        }
        ..=Pair::MAX_CELLS => {
            let search = Search { space: Space::<Pair>::new(&job.puzzle), plan: &job.plan, budget: &budget, trace };
            search.with_planned_heuristic()
        }
        _ => {
            let search = Search { space: Space::<Bytes>::new(&job.puzzle), plan: &job.plan, budget: &budget, trace };
            search.with_planned_heuristic()
        }
    }
}

struct Search<'a, P> {
    space: Space<P>,
    plan: &'a Plan,
    budget: &'a Budget<'a>,
    trace: &'a mut Trace,
}

impl<P: Packed> Search<'_, P> {
    fn with_planned_heuristic(self) -> Outcome {
        let (size, goal_blank) = (self.space.size(), self.space.goal_blank());
        match self.plan.heuristic {
            HeuristicKind::Zero => self.with(&Zero),
            HeuristicKind::Hamming => self.with(&Hamming::<false>::new(size, goal_blank)),
            HeuristicKind::MisplacedWithBlank => self.with(&Hamming::<true>::new(size, goal_blank)),
            HeuristicKind::Manhattan => self.with(&Manhattan::new(size, goal_blank)),
            HeuristicKind::ManhattanPlusHamming => {
                self.with(&Sum(Manhattan::new(size, goal_blank), Hamming::<false>::new(size, goal_blank)))
            }
            HeuristicKind::Gaschnig => self.with(&Gaschnig::new(size)),
            HeuristicKind::InversionDistance => self.with(&InversionDistance::new(size, goal_blank)),
            HeuristicKind::LinearConflict => self.with(&LinearConflict::new(size, goal_blank)),
            HeuristicKind::WalkingDistance | HeuristicKind::PatternDatabase => {
                unreachable!("a plan has no table heuristic on boards that it does not serve")
            }
        }
    }

    fn with<H: Heuristic<P>>(self, heuristic: &H) -> Outcome {
        let Self { space, plan, budget, trace } = self;
        match plan.algorithm {
            Algorithm::AStar => Self { space, plan, budget, trace }.best_first(heuristic, Evaluation::ASTAR),
            Algorithm::WeightedAStar => {
                Self { space, plan, budget, trace }.best_first(heuristic, Evaluation::weighted(plan.weight))
            }
            Algorithm::GreedyBestFirst => Self { space, plan, budget, trace }.best_first(heuristic, Evaluation::GREEDY),
            Algorithm::IdaStar => ida_star(&space, heuristic, budget, trace),
            Algorithm::BreadthFirst => breadth_first(&space, plan.duplicate_detection, budget, trace),
            Algorithm::DepthFirst => {
                depth_first(&space, plan.duplicate_detection, plan.depth_limit, budget, trace)
            }
            Algorithm::IterativeDeepening => ida_star(&space, &Zero, budget, trace),
            Algorithm::Constructive => constructive(space.puzzle()),
        }
    }

    fn best_first<H: Heuristic<P>>(self, heuristic: &H, evaluation: Evaluation) -> Outcome {
        let Self { space, plan, budget, trace } = self;
        let duplicates = plan.duplicate_detection;
        match plan.tie_breaking {
            TieBreaking::Heap => {
                best_first(&space, heuristic, evaluation, duplicates, HeapOpenList::default(), budget, trace)
            }
            order => {
                best_first(&space, heuristic, evaluation, duplicates, BucketOpenList::new(order), budget, trace)
            }
        }
    }
}

/// What is known of a puzzle's optimal length before any search: all of it where there is a full
/// table, linear conflict elsewhere.
fn root_bound(puzzle: &Puzzle, tables: &Tables) -> u32 {
    fn linear_conflict<P: Packed>(puzzle: &Puzzle) -> u32 {
        let heuristic = LinearConflict::new(puzzle.size(), puzzle.goal().blank());
        let start = Space::<P>::new(puzzle).start();
        Heuristic::<P>::h(&heuristic, heuristic.evaluate(&start))
    }
    let size = puzzle.size();
    match size.cells() {
        _ if HeuristicKind::PatternDatabase.serves(size) => {
            let start = Space::<Word>::new(puzzle).start();
            u32::from(tables.distances(size, puzzle.goal().blank()).distance(&start))
        }
        ..=Word::MAX_CELLS => linear_conflict::<Word>(puzzle),
        ..=Pair::MAX_CELLS => linear_conflict::<Pair>(puzzle),
        _ => linear_conflict::<Bytes>(puzzle),
    }
}
