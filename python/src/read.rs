//! Boards and options of Python, read by the reader of the service.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyString};
use taquin_bulk::RowError;
use taquin_bulk::fields::{BOARD_FIELDS, FieldReader, Json, WrittenFields, board_and_goal, puzzle};
use taquin_solver::{Board, Puzzle};

use crate::errors::{board_error, exception_of};

/// Levels of a list of lists, the deepest value.
const MAX_DEPTH: usize = 2;

/// Creates the reader of a board, a goal and keyword arguments. `known` names all arguments.
///
/// # Errors
/// `TypeError` or `BoardError` if a value has no equivalent in JSON.
pub(crate) fn fields(
    board: Option<&Bound<'_, PyAny>>,
    goal: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
    known: &[&str],
) -> PyResult<FieldReader> {
    let mut members = Vec::new();
    for (name, value) in [("board", board), ("goal", goal)] {
        if let Some(value) = value {
            members.push((name.to_owned(), json(value, name, 0)?));
        }
    }
    for (name, value) in options.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = json(&value, &name, 0)?;
        members.push((name, value));
    }
    Ok(FieldReader::new(Vec::new(), Some(WrittenFields::Json(Json::Object(members))), known))
}

/// Reads a board and a goal, which may be unreachable.
///
/// # Errors
/// `BoardError`.
pub(crate) fn boards(
    board: &Bound<'_, PyAny>,
    goal: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<(Board, Board)> {
    let mut fields = fields(Some(board), goal, options, &BOARD_FIELDS)?;
    let boards = board_and_goal(&mut fields);
    fields.finish(boards).map_err(|error| exception_of(board.py(), &error))
}

/// Reads a board and a reachable goal.
///
/// # Errors
/// `BoardError`, `UnsolvableError`.
pub(crate) fn solvable(
    board: &Bound<'_, PyAny>,
    goal: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Puzzle> {
    let fields = fields(Some(board), goal, options, &BOARD_FIELDS)?;
    puzzle_of(fields).map_err(|error| exception_of(board.py(), &error))
}

/// Reads a board and a reachable goal, and no other fields.
///
/// # Errors
/// The error of the reader.
pub(crate) fn puzzle_of(mut fields: FieldReader) -> Result<Puzzle, RowError> {
    let boards = board_and_goal(&mut fields);
    let (start, goal) = fields.finish(boards)?;
    puzzle(start, goal)
}

/// Converts a value to JSON. An array of NumPy becomes a list.
fn json(value: &Bound<'_, PyAny>, name: &str, depth: usize) -> PyResult<Json> {
    if value.is_none() {
        Ok(Json::Null)
    } else if let Ok(text) = value.cast::<PyString>() {
        Ok(Json::String(text.to_string_lossy().into_owned()))
    } else if let Ok(flag) = value.cast::<PyBool>() {
        Ok(Json::Bool(flag.is_true()))
    } else if value.is_instance_of::<PyInt>() {
        let beyond = || if value.lt(0).unwrap_or(false) { i64::MIN } else { i64::MAX };
        Ok(Json::Integer(value.extract().unwrap_or_else(|_| beyond())))
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Ok(Json::Float(number.value()))
    } else if let Ok(dtype) = value.getattr("dtype") {
        match dtype.getattr("kind")?.extract::<String>()?.as_str() {
            "i" | "u" | "U" | "O" => json(&value.call_method0("tolist")?, name, depth),
            "f" if !value.hasattr("__len__")? => json(&value.call_method0("tolist")?, name, depth),
            _ => Err(board_error(value.py(), &format!("`{name}` must have an integer dtype, not {dtype}."))),
        }
    } else if is_list(value)? {
        if depth > MAX_DEPTH {
            return Err(board_error(value.py(), &format!("`{name}` is nested too deeply: a board has two levels.")));
        }
        let entries = value.try_iter()?.map(|entry| json(&entry?, name, depth + 1));
        Ok(Json::Array(entries.collect::<PyResult<_>>()?))
    } else {
        let kind = value.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "`{name}` must be text, a number, a list or an array of integers, not {kind}"
        )))
    }
}

/// True for sequences: lists, tuples, ranges and the like, not sets and generators.
fn is_list(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let class = value.py().import("collections.abc")?.getattr("Sequence")?;
    Ok(value.is_instance(&class)? && !value.is_instance_of::<PyBytes>())
}
