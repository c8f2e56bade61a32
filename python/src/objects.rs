//! Values of Rust as objects of Python.

use pyo3::prelude::*;
use serde_json::Value;
use taquin_solver::Board;

/// The rows of a board. Numbers of eight bits would become `bytes`.
pub(crate) type Rows = Vec<Vec<u32>>;

/// Converts JSON to an object of Python.
pub(crate) fn object_of<'py>(py: Python<'py>, json: &Value) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json.to_string(),))
}

/// The rows of a board.
pub(crate) fn rows(board: &Board) -> Rows {
    board.rows().map(|row| row.iter().map(|tile| u32::from(*tile)).collect()).collect()
}
