//! `solve`: the search for one board.

use std::time::Duration;

use serde_json::{Value, json};
use taquin_bulk::RequestedLimits;
use taquin_bulk::fields::{
    BOARD_FIELDS, FieldReader, LIMIT_FIELDS, METHOD_FIELDS, Require, board_and_goal, concat, limits, puzzle,
    search_options, search_plan,
};
use taquin_solver::solver::{self, nodes_of_plan};
use taquin_solver::{
    Control, Instant, LazyTables, Limits, Observer, Plan, Puzzle, Report, SearchOptions, SearchRequest, Solver,
    TableSource,
};

use crate::problem::Problem;
use crate::reply;
use crate::tables::TABLES;

/// Most memory of a search without its tables, in bytes.
const SEARCH_MEMORY: u64 = 256 << 20;

/// The fields of a request.
pub(crate) const FIELDS: [&str; BOARD_FIELDS.len() + METHOD_FIELDS.len() + LIMIT_FIELDS.len() + 2] =
    concat(&[&BOARD_FIELDS, &METHOD_FIELDS, &LIMIT_FIELDS, &["require", "metric"]]);

/// Solves a board.
pub(crate) fn solve(mut fields: FieldReader, observer: Option<&dyn Observer>) -> Result<Value, Problem> {
    let boards = board_and_goal(&mut fields);
    let size = boards.map(|(board, _)| board.size());
    let options = search_options(&mut fields, size);
    let require_optimal = fields.choice("require", None) == Some(Require::Optimal);
    let metric = fields.choice("metric", None).unwrap_or_default();
    let options = SearchOptions { require_optimal, metric, ..options };
    let requested = limits(&mut fields);
    let plan = size.and_then(|size| search_plan(&mut fields, &options, size));
    let read_as = fields.read_as();
    let ((board, goal), plan) = fields.finish(boards.zip(plan))?;
    let puzzle = puzzle(board, goal)?;
    let (report, limits) = search(puzzle, plan, requested, observer)?;
    if let Some(stop) = report.stopped {
        return Err(Problem::stopped(limits, &report, stop));
    }
    let solution = report.solution.as_ref().ok_or_else(no_result)?;
    let distribution = TABLES.small().distribution(report.metric, puzzle.size(), puzzle.goal().blank());
    let distribution = distribution.filter(|_| report.is_optimal());
    let mut response = reply::solution(&report, solution);
    response.extend(reply::members(json!({
        "percentile": distribution.map(|distribution| distribution.percentile(report.lower_bound)),
        "start": reply::rows(puzzle.start()),
        "goal": reply::rows(puzzle.goal()),
        "search": reply::search(&report),
        "limits": reply::limits(limits),
    })));
    Ok(reply::response(response, read_as))
}

/// The problem of a search that ended with neither a solution nor a limit, which is a bug.
pub(crate) fn no_result() -> Problem {
    Problem::internal("the search ended with neither a solution nor a limit")
}

/// Returns the limits of a search. By default, the anytime search of large boards ends after a second.
pub(crate) fn limits_of(puzzle: &Puzzle, plan: &Plan, requested: RequestedLimits) -> Limits {
    let default = plan.uses_all_time().then_some(Solver::<LazyTables>::TIME);
    let nodes = nodes_of_plan(SEARCH_MEMORY, puzzle.size(), plan) / plan.node_budget_divisor();
    Limits {
        time: requested.time.or(default).unwrap_or(Duration::MAX),
        expanded: requested.expanded.unwrap_or(u64::MAX),
        nodes: requested.nodes.unwrap_or(nodes),
    }
}

/// Runs a search. Returns the report, and the limits in force.
pub(crate) fn search(
    puzzle: Puzzle,
    plan: Plan,
    requested: RequestedLimits,
    observer: Option<&dyn Observer>,
) -> Result<(Report, Limits), Problem> {
    let limits = limits_of(&puzzle, &plan, requested);
    let deadline = (limits.time != Duration::MAX).then(|| Instant::now() + limits.time);
    let control = Control { deadline, observer, ..Control::default() };
    let report = solver::solve(&SearchRequest::new(puzzle, plan, limits), &*TABLES, control)?;
    Ok((report, limits))
}
