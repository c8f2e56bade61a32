//! `explain`: the estimates of a board by every heuristic.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Value, json};
use taquin_solver::heuristic::{GoalClass, Line};
use taquin_solver::solver::{Conflict, Estimate, NamedPart, explain as explanation};
use taquin_solver::{Explanation, Named, Plan, TableSource};

use crate::objects::{object_of, rows};
use crate::read;
use crate::tables::TABLES;

/// Explains the estimate of a board by every heuristic that serves it.
///
/// Parameters
/// ----------
/// board, goal, rows, cols, encoding
///     As for `solve`.
///
/// Returns
/// -------
/// Explanation
///     A dict with the members of the response of `GET /explain`: the costs of the tiles, of conflicts and of other
///     parts add up to the estimate h, in moves.
///
/// Raises
/// ------
/// BoardError, UnsolvableError
#[pyfunction]
#[pyo3(
    signature = (board, goal=None, **options),
    text_signature = "(board, goal=None, *, rows=None, cols=None, encoding=None)"
)]
pub(crate) fn explain<'py>(
    board: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let puzzle = read::solvable(board, goal, options)?;
    let size = puzzle.size();
    let Explanation { optimal_length, estimates } = board.py().detach(|| {
        // The explanation uses pattern tables only if they are loaded.
        if Plan::is_proven_by_auto(size) && GoalClass::serves(size) {
            TABLES.patterns(GoalClass::of(size, puzzle.goal().blank()));
        }
        explanation(&puzzle, &*TABLES)
    });
    let heuristics: Vec<Value> = estimates.iter().map(|estimate| json_of(estimate, optimal_length)).collect();
    let explanation = json!({
        "start": rows(puzzle.start()),
        "goal": rows(puzzle.goal()),
        "optimal_length": optimal_length,
        "heuristics": heuristics,
    });
    object_of(board.py(), &explanation)
}

fn json_of(estimate: &Estimate, optimal_length: Option<u32>) -> Value {
    let Estimate { heuristic, h, tiles, conflicts, parts } = estimate;
    let tile = |(tile, cost)| json!({ "tile": tile, "cost": cost });
    let conflict = |Conflict { line, tiles, leaving, cost }: &Conflict| {
        let line = match line {
            Line::Row(row) => format!("row {}", row + 1),
            Line::Col(col) => format!("column {}", col + 1),
        };
        json!({ "line": line, "tiles": tiles, "leaving": leaving, "cost": cost })
    };
    let part = |NamedPart { name, tiles, cost }: &NamedPart| json!({ "name": name, "tiles": tiles, "cost": cost });
    json!({
        "name": heuristic.name(),
        "h": h,
        "admissible": heuristic.is_admissible(),
        "overestimates": optimal_length.map(|length| *h > length),
        "tiles": tiles.iter().map(tile).collect::<Vec<_>>(),
        "conflicts": conflicts.iter().map(conflict).collect::<Vec<_>>(),
        "parts": parts.iter().map(part).collect::<Vec<_>>(),
    })
}
