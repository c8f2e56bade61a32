//! `distance`, `moves` and `is_solvable`: facts about one board without its solution.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use taquin_bulk::{BatchSolver, Label, LabelControl, LabelLimits, RequestedLimits, Want};
use taquin_solver::heuristic::DistanceTable;
use taquin_solver::solver::distances_around;
use taquin_solver::{Board, Distance, LazyTables, Move, Plan, Puzzle, Reachability, Solver, TableSource};

use crate::errors::{limit_error, taquin_error};
use crate::interruptible::interruptible;
use crate::objects::rows;
use crate::read;
use crate::solve::SEARCH_MEMORY;
use crate::tables::TABLES;

/// Returns the length of the shortest solution, in moves of one tile.
///
/// The length is proven on boards of up to 16 cells. On a larger board, the search ends after a second.
///
/// Parameters
/// ----------
/// board, goal, rows, cols, encoding
///     As for `solve`.
///
/// Raises
/// ------
/// BoardError, UnsolvableError
/// LimitError
///     If the length is not proven. `lower_bound` is a lower bound.
#[pyfunction]
#[pyo3(
    signature = (board, goal=None, **options),
    text_signature = "(board, goal=None, *, rows=None, cols=None, encoding=None)"
)]
pub(crate) fn distance(
    board: &Bound<'_, PyAny>,
    goal: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<u32> {
    let (py, puzzle) = (board.py(), read::solvable(board, goal, options)?);
    let Label { length, lower_bound, .. } = label(py, &puzzle, Want::Length)?;
    if length == lower_bound {
        return Ok(length);
    }
    let message = format!(
        "The search ended after {} s without a proof of the optimal length, which is from {lower_bound} to {length}. \
         `solve` takes more time.",
        Solver::<LazyTables>::TIME.as_secs()
    );
    Err(limit_error(py, &message, &json!({"limit": "time", "lower_bound": lower_bound}), None))
}

/// Labels one board.
fn label(py: Python<'_>, puzzle: &Puzzle, want: Want) -> PyResult<Label> {
    let time = (!Plan::is_proven_by_auto(puzzle.size())).then_some(Solver::<LazyTables>::TIME);
    let limits = LabelLimits::of(RequestedLimits { time, ..RequestedLimits::default() }, SEARCH_MEMORY);
    let label = |cancel: &[&_]| {
        BatchSolver::new(&*TABLES, want, limits).label(puzzle, LabelControl { cancel, ..LabelControl::default() })
    };
    let label = if DistanceTable::serves(puzzle.size()) {
        py.detach(|| label(&[]))
    } else {
        interruptible(py, |cancel| label(&[cancel]), |_| Ok(()))?
    };
    label.map_err(|error| taquin_error(py, &error.to_string()))
}

/// Returns the legal moves of a board, the best first.
///
/// On boards of up to 16 cells, each move has the optimal length after it. On larger boards it has bounds. The lengths
/// are None if the goal cannot be reached.
///
/// Parameters
/// ----------
/// board, goal, rows, cols, encoding
///     As for `solve`.
///
/// Returns
/// -------
/// list of LegalMove
#[pyfunction]
#[pyo3(
    signature = (board, goal=None, **options),
    text_signature = "(board, goal=None, *, rows=None, cols=None, encoding=None)"
)]
pub(crate) fn moves<'py>(
    board: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = board.py();
    let (start, goal) = read::boards(board, goal, options)?;
    let (length, after) = distances(py, &start, &goal)?;
    let mut moves: Vec<_> = start.moves().zip(after).collect();
    // Equal moves stay in successor order.
    moves.sort_by_key(|(_, distance)| distance.map(|distance| (distance.upper_bound, distance.lower_bound)));
    let class = py.import("taquin._solution")?.getattr("LegalMove")?;
    let legal_move = |(mv, after): (Move, Option<Distance>)| {
        let mut board = start;
        let tile = board.make(mv).expect("the move is legal");
        let length_after = after.and_then(|after| after.length);
        let (low, high) = (after.map(|after| after.lower_bound), after.map(|after| after.upper_bound));
        let is_optimal = length.zip(length_after).map(|(length, after)| after < length);
        class.call1((mv.letter(), tile, rows(&board), length_after, low, high, is_optimal))
    };
    moves.into_iter().map(legal_move).collect()
}

/// Returns the optimal length of a board, and the distance after each legal move, in the order of the moves.
fn distances(py: Python<'_>, start: &Board, goal: &Board) -> PyResult<(Option<u32>, Vec<Option<Distance>>)> {
    match Puzzle::try_new(*start, *goal) {
        Ok(puzzle) if Plan::is_proven_by_auto(start.size()) => {
            let Label { length, next, .. } = label(py, &puzzle, Want::Next)?;
            let next = next.unwrap_or_default();
            // A move changes the distance by one.
            let after = |mv| Distance::proven(if next.contains(mv) { length - 1 } else { length + 1 });
            Ok((Some(length), start.moves().map(|mv| Some(after(mv))).collect()))
        }
        _ => {
            let (distance, after) = distances_around(start, goal, TABLES.small());
            Ok((distance.and_then(|distance| distance.length), after))
        }
    }
}

/// Returns True if the goal can be reached from the board.
///
/// Parameters
/// ----------
/// board, goal, rows, cols, encoding
///     As for `solve`.
#[pyfunction]
#[pyo3(
    signature = (board, goal=None, **options),
    text_signature = "(board, goal=None, *, rows=None, cols=None, encoding=None)"
)]
pub(crate) fn is_solvable(
    board: &Bound<'_, PyAny>,
    goal: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<bool> {
    let (start, goal) = read::boards(board, goal, options)?;
    Ok(Reachability::between(&start, &goal).is_ok_and(|reachability| reachability.is_reachable()))
}

/// Reads a board and a goal. Returns the two as text, and whether the goal can be reached from the board.
#[pyfunction]
#[pyo3(signature = (board, goal=None, **options))]
pub(crate) fn read_board(
    board: &Bound<'_, PyAny>,
    goal: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(String, String, bool)> {
    let (start, goal) = read::boards(board, goal, options)?;
    Ok((start.to_string(), goal.to_string(), Puzzle::try_new(start, goal).is_ok()))
}
