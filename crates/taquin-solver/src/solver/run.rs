//! One search on the caller's thread: from the request to the replayed solution.

use std::sync::atomic::{AtomicBool, Ordering};

use super::dispatch::{HeuristicCall, SearchTables, dispatch, dispatch_without_tables};
use super::plan::Plan;
use super::report::{Report, Solution, WrongSolution};
use super::request::{RequestedSolutions, SearchRequest};
use crate::clock::Instant;
use crate::domain::{Metric, Packed, Path, Puzzle};
use crate::search::heuristic::{DistanceTable, Zero};
use crate::search::{
    Algorithm, BucketOpenList, Budget, Evaluation, HeapOpenList, Helpers, HeuristicKind, HeuristicSearch, Objective,
    Observer, OptimalPaths, Outcome, Recorded, Space, Stats, StopReason, TieBreaking, Trace, anytime, best_first,
    breadth_first, constructive, depth_first, ida_star, multi_tile, optimal_paths, perfect,
};
use crate::tables::TableSource;

/// Deadline, cancel flags, helpers and observer of a search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Control<'a> {
    /// When to stop, if ever.
    pub deadline: Option<Instant>,
    /// The search stops when any of these flags is raised.
    pub cancel: &'a [&'a AtomicBool],
    /// Helper threads.
    pub helpers: Option<&'a dyn Helpers>,
    /// Observer of the progress.
    pub observer: Option<&'a dyn Observer>,
    /// A solution that is known already. The search does not use it, but reports none that is longer.
    pub best: Option<&'a Path>,
}

impl Control<'_> {
    /// Pauses if more important work needs this thread. Returns the reason to stop, if there is one.
    pub fn stop(&self) -> Option<StopReason> {
        if let Some(helpers) = self.helpers {
            helpers.pause();
        }
        if self.cancel.iter().any(|flag| flag.load(Ordering::Relaxed)) {
            return Some(StopReason::Cancelled);
        }
        self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| StopReason::Time)
    }
}

/// Runs a search and replays its solution.
///
/// # Errors
/// [`WrongSolution`] if the solution does not replay or is shorter than proven possible, because of a bug
/// or of damaged memory.
pub fn solve(request: &SearchRequest, tables: &dyn TableSource, context: Control<'_>) -> Result<Report, WrongSolution> {
    solve_with(request, &SearchTables::new(tables), context)
}

/// Solves a request with tables that may be loaded already. First builds the tables of the patterns that the request
/// chose; the deadline and the cancel flags end the construction too.
///
/// # Errors
/// As [`solve`].
pub fn solve_with(
    request: &SearchRequest,
    tables: &SearchTables<'_>,
    context: Control<'_>,
) -> Result<Report, WrongSolution> {
    let begun = Instant::now();
    let mut stop = None;
    let is_built = tables.build_chosen(request, &mut || {
        stop = context.stop();
        stop.is_some()
    });
    let report = if is_built {
        search_with(request, tables, context)
    } else {
        let (result, best) = (Err(stop.unwrap_or(StopReason::Cancelled)), context.best.cloned());
        without_search(request, tables, Outcome { result, best, lower_bound: 0, stats: Stats::default() })
    };
    Ok(Report { elapsed: begun.elapsed(), ..report? })
}

/// Runs the search of a request whose chosen patterns have tables.
fn search_with(
    request: &SearchRequest,
    tables: &SearchTables<'_>,
    context: Control<'_>,
) -> Result<Report, WrongSolution> {
    let SearchRequest { puzzle, plan, limits, .. } = request;
    let Control { deadline, cancel, helpers, observer, best } = context;
    let depth = plan.depth_limit.unwrap_or(u32::MAX);
    let budget = Budget { deadline, expanded: limits.expanded, nodes: limits.nodes, depth, cancel, helpers, observer };
    let trace = Trace::new(request.most_expansions()).with_generated(request.most_generated());
    let mut trace = if request.records.iterations { trace.with_iterations() } else { trace };
    let outcome = match plan.metric {
        Metric::SingleTile => {
            let search = RunSearch { plan, tables: tables.tables(), budget: &budget, trace: &mut trace };
            dispatch(puzzle, plan.heuristic, tables, search)
        }
        Metric::MultiTile => {
            let table = tables.tables().small().multi_tile_distances(puzzle.size(), puzzle.goal().blank());
            multi_tile(&Space::new(puzzle), table, &budget)
        }
    };
    let best = best.cloned().into_iter().chain(outcome.best).min_by_key(Path::len);
    let report = conclude(request, tables, Outcome { best, ..outcome }, trace)
        .and_then(|report| with_all_solutions(request, tables, &budget, report));
    if matches!(report, Err(WrongSolution)) {
        tables.used().for_each(|used| tables.tables().drop_wrong_patterns(used));
    }
    report
}

/// Adds all optimal solutions if they are requested and one is proven, within the rest of the budget.
fn with_all_solutions(
    request: &SearchRequest,
    tables: &SearchTables<'_>,
    budget: &Budget<'_>,
    report: Report,
) -> Result<Report, WrongSolution> {
    let Some(requested) = request.records.solutions.filter(|_| report.is_optimal()) else { return Ok(report) };
    let is_blind = request.plan.heuristic == HeuristicKind::Zero || !request.plan.heuristic.is_admissible();
    let heuristic = if is_blind { HeuristicKind::LinearConflict } else { request.plan.heuristic };
    let expanded = budget.expanded.saturating_sub(report.stats.expanded);
    let budget = Budget { expanded, ..*budget };
    let call = FindAllSolutions { length: report.lower_bound, requested, budget: &budget };
    match dispatch(&request.puzzle, heuristic, tables, call) {
        Ok(solutions) => {
            for path in &solutions.paths {
                path.replay(&request.puzzle).map_err(|_| WrongSolution)?;
            }
            Ok(Report { solutions: Some(solutions), ..report })
        }
        Err(stop) => Ok(Report {
            stopped: Some(stop),
            search_stopped: Some(stop),
            solution: None,
            lacks_solutions: true,
            ..report
        }),
    }
}

/// Builds the report of a request without a search, from the outcome of an earlier one. Where the request allows it, a
/// constructed solution stands in.
pub fn without_search(
    request: &SearchRequest,
    tables: &SearchTables<'_>,
    outcome: Outcome,
) -> Result<Report, WrongSolution> {
    let begun = Instant::now();
    let report = conclude(request, tables, outcome, Trace::default())?;
    Ok(Report { elapsed: begun.elapsed(), ..report })
}

/// Returns a lower bound (linear conflict) and a constructed solution, without a search and without tables.
pub fn bounds(puzzle: &Puzzle) -> (u32, Path) {
    (lower_bound(puzzle), constructive(puzzle).result.expect("there is always a constructive solution"))
}

/// Returns a lower bound (linear conflict), without a search and without tables.
pub fn lower_bound(puzzle: &Puzzle) -> u32 {
    dispatch_without_tables(puzzle, HeuristicKind::LinearConflict, StartHeuristic)
}

/// Lower bound on the length of a request's solution: its heuristic on the start board.
pub fn start_bound(request: &SearchRequest, tables: &SearchTables<'_>) -> u32 {
    dispatch(&request.puzzle, request.plan.heuristic, tables, StartHeuristic)
}

/// Adds a fallback solution where the search was stopped, and builds the report.
fn conclude(
    request: &SearchRequest,
    tables: &SearchTables<'_>,
    outcome: Outcome,
    trace: Trace,
) -> Result<Report, WrongSolution> {
    let plan = &request.plan;
    let stopped = outcome.result.as_ref().err().copied();
    let (algorithm, outcome) = if needs_any_solution(request, stopped) {
        with_any_solution(request, outcome)
    } else {
        (plan.algorithm, outcome)
    };
    // The recorded lists belong to the search whose solution was replaced.
    let recorded = if algorithm == plan.algorithm { trace.into_recorded() } else { Recorded::default() };
    let expansions = (request.records.expansions > 0).then_some(recorded.expansions);
    let generated = (request.records.generated > 0).then_some(recorded.generated);
    let iterations = request.records.iterations.then_some(recorded.iterations);
    let report = report(request, tables, algorithm, outcome, stopped)?;
    Ok(Report { expansions, generated, iterations, ..report })
}

/// Replays the solution and builds the report.
fn report(
    request: &SearchRequest,
    tables: &SearchTables<'_>,
    algorithm: Algorithm,
    outcome: Outcome,
    stopped: Option<StopReason>,
) -> Result<Report, WrongSolution> {
    let SearchRequest { puzzle, plan, .. } = request;
    let lower_bound = outcome.lower_bound.max(if outcome.is_optimal() { 0 } else { root_bound(request, tables) });
    let is_built = plan.patterns.is_none() || tables.chosen().is_some();
    let heuristic = if algorithm.takes_heuristic() && is_built { plan.heuristic } else { HeuristicKind::Zero };
    // A lower bound may come from a search whose solution was replaced.
    let mut used = tables.used().filter(|_| plan.uses_patterns() && plan.patterns.is_none());
    let (mut solution, mut heights, mut is_enough) = (None, Vec::new(), false);
    if let Ok(path) = outcome.result {
        let tiles = path.replay(puzzle).map_err(|_| WrongSolution)?;
        let length = path.length(plan.metric);
        if length < lower_bound as usize {
            return Err(WrongSolution);
        }
        is_enough = length == lower_bound as usize || !plan.require_optimal;
        if request.records.states && is_enough {
            heights = dispatch(puzzle, heuristic, tables, HeuristicAlongPath(&path));
        }
        solution = Some(Solution { path, tiles });
    }
    Ok(Report {
        solution,
        stopped: stopped.filter(|_| !is_enough),
        search_stopped: stopped,
        metric: plan.metric,
        lower_bound,
        algorithm,
        heuristic,
        tables: used.next().map(|loaded| loaded.tier()),
        patterns: tables.chosen().map_or_else(Vec::new, |chosen| chosen.uses(&Space::new(puzzle).start())),
        weight: plan.weight,
        stats: outcome.stats,
        expansions: None,
        generated: None,
        iterations: None,
        solutions: None,
        lacks_solutions: false,
        heights,
        elapsed: std::time::Duration::ZERO,
    })
}

/// True if the constructive solution may stand in: after a stop of a search that `auto` chose, of an anytime search, or
/// of one that requires an optimal solution; and for a greedy search that `auto` chose, whose first solution may be
/// longer.
fn needs_any_solution(request: &SearchRequest, stopped: Option<StopReason>) -> bool {
    let Plan { algorithm, falls_back, require_optimal, .. } = request.plan;
    match stopped {
        Some(StopReason::Cancelled) => false,
        Some(_) => falls_back || require_optimal || algorithm == Algorithm::Anytime,
        None => falls_back && algorithm == Algorithm::GreedyBestFirst,
    }
}

/// Replaces the result with the best solution of the search, or with the constructive one if that is shorter. The
/// proven lower bound stays.
///
/// Where an optimal solution is required, the report names the search that was stopped, and the constructed solution is
/// the best so far.
fn with_any_solution(request: &SearchRequest, outcome: Outcome) -> (Algorithm, Outcome) {
    if let Some(best) = outcome.best {
        return (request.plan.algorithm, Outcome { result: Ok(best), best: None, ..outcome });
    }
    let constructed = constructive(&request.puzzle);
    let length = |outcome: &Outcome| outcome.result.as_ref().map_or(usize::MAX, Path::len);
    if length(&outcome) <= length(&constructed) {
        (request.plan.algorithm, outcome)
    } else if request.plan.require_optimal {
        (request.plan.algorithm, Outcome { result: constructed.result, ..outcome })
    } else {
        (Algorithm::Constructive, Outcome { lower_bound: outcome.lower_bound, ..constructed })
    }
}

/// Runs the search of a plan.
struct RunSearch<'a> {
    plan: &'a Plan,
    tables: &'a dyn TableSource,
    budget: &'a Budget<'a>,
    trace: &'a mut Trace,
}

impl HeuristicCall for RunSearch<'_> {
    type Output = Outcome;

    fn call<P: Packed, H: HeuristicSearch<P>>(self, space: &Space<P>, heuristic: &H) -> Outcome {
        let Self { plan, budget, .. } = self;
        let (duplicates, trace) = (plan.duplicate_detection, &mut *self.trace);
        match plan.algorithm {
            Algorithm::AStar if H::PERFECT && plan.tie_breaking.is_newest_first() => {
                perfect(space, heuristic, budget, trace)
            }
            Algorithm::AStar => self.best_first(space, heuristic, Evaluation::ASTAR),
            Algorithm::WeightedAStar => self.best_first(space, heuristic, Evaluation::weighted(plan.weight)),
            Algorithm::GreedyBestFirst => self.best_first(space, heuristic, Evaluation::GREEDY),
            Algorithm::IdaStar => ida_star(space, heuristic, budget, trace),
            Algorithm::BreadthFirst => {
                breadth_first(&space.clone().ordered(plan.successor_order), duplicates, budget, trace)
            }
            Algorithm::DepthFirst => {
                let space = space.clone().ordered(plan.successor_order);
                depth_first(&space, duplicates, plan.depth_limit, budget, trace)
            }
            Algorithm::IterativeDeepening => ida_star(space, &Zero, budget, trace),
            Algorithm::Constructive => constructive(space.puzzle()),
            Algorithm::Anytime => {
                let objective = if plan.require_optimal { Objective::Proven } else { Objective::Short };
                anytime(
                    space,
                    heuristic,
                    &self.tables.small().stages(space.size(), space.goal_blank()),
                    objective,
                    budget,
                )
            }
        }
    }
}

impl RunSearch<'_> {
    fn best_first<P: Packed, H: HeuristicSearch<P>>(self, space: &Space<P>, heuristic: &H, f: Evaluation) -> Outcome {
        let Self { plan, budget, trace, .. } = self;
        let duplicates = plan.duplicate_detection;
        let space = &space.clone().ordered(plan.successor_order);
        let order = plan.tie_breaking;
        if order == TieBreaking::Heap || !f.suits_buckets::<P>() {
            best_first(space, heuristic, f, duplicates, HeapOpenList::new(order), budget, trace)
        } else {
            best_first(space, heuristic, f, duplicates, BucketOpenList::new(order), budget, trace)
        }
    }
}

/// Finds all optimal solutions.
struct FindAllSolutions<'a> {
    length: u32,
    requested: RequestedSolutions,
    budget: &'a Budget<'a>,
}

impl HeuristicCall for FindAllSolutions<'_> {
    type Output = Result<OptimalPaths, StopReason>;

    fn call<P: Packed, H: HeuristicSearch<P>>(self, space: &Space<P>, heuristic: &H) -> Self::Output {
        let RequestedSolutions { most, counts } = self.requested;
        optimal_paths(space, heuristic, self.length, (most, counts), self.budget)
    }
}

/// Evaluates the heuristic on each board of a path.
struct HeuristicAlongPath<'a>(&'a Path);

impl HeuristicCall for HeuristicAlongPath<'_> {
    type Output = Vec<u32>;

    fn call<P: Packed, H: HeuristicSearch<P>>(self, space: &Space<P>, heuristic: &H) -> Vec<u32> {
        let mut state = space.start();
        let mut memo = heuristic.evaluate(&state);
        let mut heights = vec![heuristic.h(memo)];
        heights.extend(self.0.moves().iter().map(|mv| {
            let slide = space.make(&mut state, *mv);
            memo = heuristic.after(memo, &slide, &state);
            heuristic.h(memo)
        }));
        heights
    }
}

/// Evaluates the heuristic on the start board.
struct StartHeuristic;

impl HeuristicCall for StartHeuristic {
    type Output = u32;

    fn call<P: Packed, H: HeuristicSearch<P>>(self, space: &Space<P>, heuristic: &H) -> u32 {
        heuristic.h(heuristic.evaluate(&space.start()))
    }
}

/// Lower bound before any search: exact where there is a distance table, linear conflict otherwise. Both count single
/// tiles, so there is none in the multi-tile metric. Chosen patterns, which may be weaker, do not matter.
fn root_bound(SearchRequest { puzzle, plan, .. }: &SearchRequest, tables: &SearchTables<'_>) -> u32 {
    if plan.metric == Metric::MultiTile {
        return 0;
    }
    let is_known = DistanceTable::serves(puzzle.size());
    let heuristic = if is_known { HeuristicKind::PatternDatabase } else { HeuristicKind::LinearConflict };
    dispatch(puzzle, heuristic, &SearchTables::new(tables.tables()), StartHeuristic)
}

#[cfg(test)]
mod tests {
    use super::super::plan::SearchOptions;
    use super::super::request::Limits;
    use super::*;
    use crate::domain::{Board, Encoding, RawBoard, Sides};
    use crate::tables::LazyTables;

    fn request(start: &str, options: SearchOptions) -> SearchRequest {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let plan = Plan::try_new(&options, puzzle.size()).unwrap();
        let limits = Limits::NONE;
        SearchRequest::new(puzzle, plan, limits)
    }

    const HARD_15: &str = "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1";

    #[test]
    fn auto_returns_a_solution_even_if_it_is_stopped_at_once() {
        let mut request = request(HARD_15, SearchOptions::default());
        request.limits.expanded = 10;
        let report = solve(&request, &LazyTables::default(), Control::default()).unwrap();
        assert_eq!((report.algorithm, report.stopped), (Algorithm::Constructive, None));
        assert!(!report.is_optimal() && report.lower_bound >= 58);
    }

    #[test]
    fn a_required_optimal_solution_is_not_replaced() {
        let mut request = request(HARD_15, SearchOptions { require_optimal: true, ..SearchOptions::default() });
        request.limits.expanded = 10;
        let report = solve(&request, &LazyTables::default(), Control::default()).unwrap();
        assert_eq!(report.stopped, Some(StopReason::Expanded));
        assert!(report.solution.is_some(), "the best so far is reported");
    }

    #[test]
    fn heights_are_the_heuristics_values_along_the_solution() {
        let mut request = request("8 6 7/2 5 4/3 0 1", SearchOptions::default());
        request.records.states = true;
        let report = solve(&request, &LazyTables::default(), Control::default()).unwrap();
        let expected: Vec<u32> = (0..=31).rev().collect();
        assert_eq!(report.heights, expected);
    }

    #[test]
    fn expansions_are_in_order_with_their_parents() {
        let mut request = request("8 6 7/2 5 4/3 0 1", SearchOptions::default());
        request.records.expansions = 5;
        let report = solve(&request, &LazyTables::default(), Control::default()).unwrap();
        let expansions = report.expansions.unwrap();
        let parents: Vec<_> = expansions.iter().map(|expansion| expansion.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(2), Some(3)]);
        assert!(expansions.iter().all(|expansion| expansion.f == 31.0));
    }
}
