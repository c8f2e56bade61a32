//! `search_tree`: the nodes that a search expanded.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use taquin_bulk::fields::{BOARD_FIELDS, METHOD_FIELDS, concat};
use taquin_solver::search::Expansion;
use taquin_solver::solver::Records;
use taquin_solver::{Algorithm, Named, Report, SearchRequest, StopReason};

use crate::errors::{limit_error, taquin_error};
use crate::objects::rows;
use crate::read;
use crate::solve::{LIMIT_OPTIONS, request, run, solution, stats, stopped};

/// Most nodes of a tree, and the number without the option `max_expanded`.
const MAX_NODES: i64 = 5_000;
const NODES: u64 = 500;

const OPTIONS: [&str; BOARD_FIELDS.len() + METHOD_FIELDS.len() + LIMIT_OPTIONS.len()] =
    concat(&[&BOARD_FIELDS, &METHOD_FIELDS, &LIMIT_OPTIONS]);

/// Solves a board, and returns the nodes that the search expanded, in order. A notebook shows them as a tree.
///
/// Parameters
/// ----------
/// board, goal, rows, cols, encoding
///     As for `solve`.
/// algorithm, heuristic, weight, tie_breaking, duplicate_detection, successor_order, depth_limit, patterns
///     As for `solve`. "anytime" and "constructive" have no tree.
/// max_expanded : int, optional
///     Maximum number of nodes of the tree: 500 by default, at most 5,000.
/// time, max_nodes
///     As for `solve`.
///
/// Returns
/// -------
/// SearchTree
///
/// Raises
/// ------
/// BoardError, UnsolvableError, TaquinError
/// LimitError
///     If the search would expand more nodes than `max_expanded`.
#[pyfunction]
#[pyo3(
    signature = (board, goal=None, **options),
    text_signature = "(board, goal=None, *, rows=None, cols=None, encoding=None, algorithm='auto', heuristic=None, \
                      weight=None, tie_breaking=None, duplicate_detection=None, successor_order=None, \
                      depth_limit=None, patterns=None, time=None, max_expanded=500, max_nodes=None)"
)]
pub(crate) fn search_tree<'py>(
    board: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = board.py();
    let (mut request, read_as) = request(read::fields(Some(board), goal, options, &OPTIONS)?, MAX_NODES, py)?;
    let algorithm = request.plan.algorithm;
    if matches!(algorithm, Algorithm::Anytime | Algorithm::Constructive) {
        let message = format!("`{}` has no search tree. Choose another `algorithm`.", algorithm.name());
        return Err(taquin_error(py, &message));
    }
    // A constructed solution would have no tree.
    request.plan.falls_back = false;
    request.limits.expanded = if request.limits.expanded == u64::MAX { NODES } else { request.limits.expanded };
    request.records = Records { expansions: request.limits.expanded as usize, ..Records::default() };
    let report = run(py, &request)?;
    if let Some(stop) = report.search_stopped {
        return Err(exceeded(py, &request, &report, stop));
    }
    let nodes = report.expansions.iter().flat_map(taquin_solver::search::Expansions::iter);
    let nodes: Vec<_> = nodes.map(|expansion| node(py, &expansion)).collect::<PyResult<_>>()?;
    let solution = solution(py, &request.puzzle, &report, read_as)?;
    py.import("taquin._tree")?.getattr("SearchTree")?.call1((solution, nodes))
}

/// Creates the `SearchNode` of an expansion.
fn node<'py>(py: Python<'py>, expansion: &Expansion) -> PyResult<Bound<'py, PyAny>> {
    let Expansion { board, arrived_by, parent, g, h, f, lists } = *expansion;
    let (mv, tile) = (arrived_by.map(|(mv, _)| mv.letter()), arrived_by.map(|(_, tile)| u32::from(tile)));
    let (open, closed) = (lists.map(|lists| lists.open), lists.map(|lists| lists.closed));
    py.import("taquin._tree")?.getattr("SearchNode")?.call1((rows(&board), mv, tile, parent, g, h, f, open, closed))
}

/// Creates the exception of a search that a limit ended.
fn exceeded(py: Python<'_>, request: &SearchRequest, report: &Report, stop: StopReason) -> PyErr {
    if stop != StopReason::Expanded {
        return stopped(py, request, report, stop);
    }
    let message = format!(
        "The search expands more than {} nodes. Raise `max_expanded`, up to {MAX_NODES}, or use a board nearer to the \
         goal or a stronger heuristic.",
        request.limits.expanded
    );
    let members = json!({"limit": "expanded", "lower_bound": report.lower_bound, "stats": stats(report)});
    limit_error(py, &message, &members, None)
}
