//! `solve`: the search for one board.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use taquin_bulk::fields::{
    BOARD_FIELDS, FieldReader, MAX_LIMIT, METHOD_FIELDS, Require, board_and_goal, concat, puzzle, search_options,
    search_plan,
};
use taquin_bulk::{RequestedLimits, counted};
use taquin_solver::heuristic::Tier;
use taquin_solver::solver::{nodes_of_plan, solve as search};
use taquin_solver::{
    Control, LazyTables, Limits, Named, Puzzle, Report, SearchOptions, SearchRequest, Solver, StopReason, TableSource,
};

use crate::errors::{exception_of, limit_error, taquin_error};
use crate::interruptible::interruptible;
use crate::objects::{object_of, rows};
use crate::read;
use crate::tables::TABLES;

/// Most memory of a search without its tables, in bytes.
pub(crate) const SEARCH_MEMORY: u64 = 512 << 20;

/// Arguments that limit a search.
pub(crate) const LIMIT_OPTIONS: [&str; 3] = ["time", "max_expanded", "max_nodes"];

const OPTIONS: [&str; BOARD_FIELDS.len() + METHOD_FIELDS.len() + LIMIT_OPTIONS.len() + 2] =
    concat(&[&BOARD_FIELDS, &METHOD_FIELDS, &LIMIT_OPTIONS, &["require", "metric"]]);

/// Solves a board.
///
/// Boards of up to 16 cells get a solution that is proven optimal, unless the options say otherwise. Larger boards get
/// the best solution that is found in a second, with a proven lower bound. Ctrl+C ends the search.
///
/// Parameters
/// ----------
/// board : str, nested list, flat list of a square board, or array of integers of shape (rows, cols) or (cells,)
///     The board. 0 is the blank. Text in any notation, such as "8 6 7/2 5 4/3 0 1".
/// goal : str, list or array, optional
///     A board, or "blank_last" (the default), "blank_first" or "snail".
/// rows, cols : int, optional
///     The shape of a flat list that is not square.
/// encoding : {"tiles", "positions"}
///     "positions" if the flat list has the cell of each tile.
/// algorithm : str
///     "auto", "astar", "weighted_astar", "greedy_best_first", "ida_star", "breadth_first", "depth_first",
///     "iterative_deepening", "constructive" or "anytime".
/// heuristic : str, optional
///     "manhattan", "linear_conflict", "pattern_database" and others; by default the strongest for the board.
/// weight, tie_breaking, duplicate_detection, successor_order, depth_limit, patterns, metric :
///     As in `POST /solve` of the service.
/// require : {"any", "optimal"}
///     "optimal" if only a proven optimal solution is a result.
/// time : float, optional
///     Time limit in seconds. By default 1 for the anytime search of large boards, and none for other searches.
/// max_expanded, max_nodes : int, optional
///     Maximum number of expanded nodes, and of nodes in memory. By default, nodes take up to 512 MiB.
///
/// Returns
/// -------
/// Solution
///
/// Raises
/// ------
/// BoardError, UnsolvableError, LimitError, TaquinError
#[pyfunction]
#[pyo3(
    signature = (board, goal=None, **options),
    text_signature = "(board, goal=None, *, rows=None, cols=None, encoding=None, algorithm='auto', heuristic=None, \
                      weight=None, tie_breaking=None, duplicate_detection=None, successor_order=None, \
                      depth_limit=None, patterns=None, metric=None, require=None, time=None, max_expanded=None, \
                      max_nodes=None)"
)]
pub(crate) fn solve<'py>(
    board: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = board.py();
    let (request, read_as) = request(read::fields(Some(board), goal, options, &OPTIONS)?, MAX_LIMIT, py)?;
    let report = run(py, &request)?;
    match report.stopped {
        Some(stop) => Err(stopped(py, &request, &report, stop)),
        None => match solution(py, &request.puzzle, &report, read_as)? {
            Some(solution) => Ok(solution),
            None => Err(taquin_error(py, "The search ended with neither a solution nor a limit. This is a bug.")),
        },
    }
}

/// Runs a search. Ctrl+C ends it.
pub(crate) fn run(py: Python<'_>, request: &SearchRequest) -> PyResult<Report> {
    let deadline = Instant::now().checked_add(request.limits.time);
    let run = |cancel: &[&_]| search(request, &*TABLES, Control { deadline, cancel, ..Control::default() });
    let report = if request.plan.is_instant() {
        py.detach(|| run(&[]))
    } else {
        interruptible(py, |cancel| run(&[cancel]), |_| Ok(()))?
    };
    report.map_err(|wrong| taquin_error(py, &wrong.to_string()))
}

/// Reads the arguments, with `max_expanded` up to a maximum. Returns the request, and the way in which the board was
/// read.
pub(crate) fn request(
    mut fields: FieldReader,
    most_expanded: i64,
    py: Python<'_>,
) -> PyResult<(SearchRequest, Option<String>)> {
    let boards = board_and_goal(&mut fields);
    let size = boards.map(|(board, _)| board.size());
    let options = search_options(&mut fields, size);
    let require_optimal = fields.choice("require", None) == Some(Require::Optimal);
    let metric = fields.choice("metric", None).unwrap_or_default();
    let options = SearchOptions { require_optimal, metric, ..options };
    let requested = limits(&mut fields, most_expanded);
    let plan = size.and_then(|size| search_plan(&mut fields, &options, size));
    let read_as = fields.read_as();
    let read = fields.finish(boards.zip(plan)).and_then(|((board, goal), plan)| Ok((puzzle(board, goal)?, plan)));
    let (puzzle, plan) = read.map_err(|error| exception_of(py, &error))?;
    let default = plan.uses_all_time().then_some(Solver::<LazyTables>::TIME);
    let nodes = nodes_of_plan(SEARCH_MEMORY, puzzle.size(), &plan) / plan.node_budget_divisor();
    let limits = Limits {
        time: requested.time.or(default).unwrap_or(Duration::MAX),
        expanded: requested.expanded.unwrap_or(u64::MAX),
        nodes: requested.nodes.unwrap_or(nodes),
    };
    Ok((SearchRequest::new(puzzle, plan, limits), read_as))
}

/// Reads [`LIMIT_OPTIONS`], with `max_expanded` up to a maximum.
pub(crate) fn limits(fields: &mut FieldReader, most_expanded: i64) -> RequestedLimits {
    let time = fields.take("time").and_then(|value| {
        let time = value.as_number().filter(|time| *time > 0.0).and_then(|time| Duration::try_from_secs_f64(time).ok());
        if time.is_none() {
            fields.reject(&value, "time", "out-of-range", "`time` must be a positive number of seconds");
        }
        time
    });
    let expanded = fields.integer("max_expanded", 1..=most_expanded);
    RequestedLimits { time, expanded, nodes: fields.integer("max_nodes", 1..=MAX_LIMIT) }
}

/// Creates the `Solution`; `None` if the report has none.
pub(crate) fn solution<'py>(
    py: Python<'py>,
    puzzle: &Puzzle,
    report: &Report,
    read_as: Option<String>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(solution) = &report.solution else { return Ok(None) };
    let (size, goal_blank) = (puzzle.size(), puzzle.goal().blank());
    let distribution = TABLES.small().distribution(report.metric, size, goal_blank).filter(|_| report.is_optimal());
    let fields = (
        rows(puzzle.start()),
        rows(puzzle.goal()),
        solution.path.letters(),
        solution.tiles.iter().map(|tile| u32::from(*tile)).collect::<Vec<_>>(),
        solution.path.length(report.metric),
        report.is_optimal(),
        report.lower_bound,
        distribution.map(|distribution| distribution.percentile(report.lower_bound)),
        object_of(py, &stats(report))?,
        read_as,
    );
    py.import("taquin._solution")?.getattr("Solution")?.call1(fields).map(Some)
}

/// The member `search` of the response of the service.
pub(crate) fn stats(report: &Report) -> Value {
    let stats = report.stats;
    json!({
        "algorithm": report.algorithm.name(),
        "heuristic": report.algorithm.takes_heuristic().then(|| report.heuristic.name()),
        "tables": report.tables.map(Tier::name),
        "admissible": report.heuristic.is_admissible(),
        "expanded": stats.expanded,
        "generated": stats.generated,
        "duplicates": stats.duplicates,
        "reopened": stats.reopened,
        "peak_open": stats.peak_open,
        "open_at_end": stats.open_at_end,
        "nodes_held": stats.nodes_held,
        "iterations": stats.iterations,
        "initial_h": stats.initial_h,
        "effective_branching_factor": report.effective_branching_factor(),
        "elapsed_us": report.elapsed.as_micros() as u64,
    })
}

/// Creates the exception of a search that a limit ended.
pub(crate) fn stopped(py: Python<'_>, request: &SearchRequest, report: &Report, stop: StopReason) -> PyErr {
    let (missing, instead) = match (report.solution.is_some(), stop) {
        (true, _) => {
            ("a proof of optimality; the best solution so far is `solution`", "accept it with `require=\"any\"`")
        }
        (false, StopReason::Nodes) => ("a solution", "use `ida_star`, which stores no nodes"),
        (false, _) => ("a solution", "let `auto` choose the algorithm"),
    };
    let Limits { time, expanded, nodes } = request.limits;
    let (limit, spent, raised) = match stop {
        StopReason::Time => ("time", format!("{} ms", time.as_millis()), "`time`"),
        StopReason::Expanded => ("expanded", counted(expanded, "expansion"), "`max_expanded`"),
        StopReason::Nodes => ("nodes", counted(nodes, "node"), "`max_nodes`"),
        StopReason::Depth => ("depth", "expanding all nodes within the depth limit".to_owned(), "`depth_limit`"),
        StopReason::Cancelled => ("cancelled", "a cancellation".to_owned(), "`time`"),
    };
    let message = format!("The search ended after {spent} without {missing}. Raise {raised}, or {instead}.");
    match solution(py, &request.puzzle, report, None) {
        Ok(solution) => {
            let members = json!({"limit": limit, "lower_bound": report.lower_bound, "stats": stats(report)});
            limit_error(py, &message, &members, solution)
        }
        Err(error) => error,
    }
}
