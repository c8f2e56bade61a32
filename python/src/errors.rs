//! Errors as exceptions of `taquin/_errors.py`, which has their attributes.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value, json};
use taquin_bulk::{ErrorKind, FieldError, RowError};

use crate::objects::object_of;

/// Returns the exception for an error of the reader. The message is the sentence of the service.
pub(crate) fn exception_of(py: Python<'_>, error: &RowError) -> PyErr {
    exception_of_row(py, error, None)
}

/// Returns the exception for an error in the board at this index of an array. The message names the index.
pub(crate) fn exception_of_row(py: Python<'_>, error: &RowError, index: Option<usize>) -> PyErr {
    let message = error.to_line();
    if error.errors.iter().any(|error| error.code == "unknown-field") {
        return PyTypeError::new_err(message);
    }
    let is_in_board = |error: &FieldError| ["/board", "/goal"].iter().any(|name| error.pointer.starts_with(name));
    let class = match error.kind {
        ErrorKind::Unsolvable => "UnsolvableError",
        ErrorKind::InvalidBoard | ErrorKind::GoalMismatch => "BoardError",
        _ if !error.errors.is_empty() && error.errors.iter().all(is_in_board) => "BoardError",
        _ => "TaquinError",
    };
    let mut members: Map<String, Value> =
        error.members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    members.insert("errors".to_owned(), json!(error.errors));
    let message = match index {
        Some(index) => {
            members.insert("index".to_owned(), json!(index));
            format!("Board {index}: {message}")
        }
        None => message,
    };
    new(py, class, &message, &Value::Object(members)).map_or_else(|error| error, PyErr::from_value)
}

/// Returns a `TaquinError`.
pub(crate) fn taquin_error(py: Python<'_>, message: &str) -> PyErr {
    new(py, "TaquinError", message, &json!({})).map_or_else(|error| error, PyErr::from_value)
}

/// Returns a `BoardError`.
pub(crate) fn board_error(py: Python<'_>, message: &str) -> PyErr {
    new(py, "BoardError", message, &json!({})).map_or_else(|error| error, PyErr::from_value)
}

/// Returns a `LimitError`. `members` are its attributes, without `solution`, the best solution so far.
pub(crate) fn limit_error(py: Python<'_>, message: &str, members: &Value, solution: Option<Bound<'_, PyAny>>) -> PyErr {
    let create = || {
        let exception = new(py, "LimitError", message, members)?;
        exception.setattr("solution", solution)?;
        Ok(PyErr::from_value(exception))
    };
    create().unwrap_or_else(|error| error)
}

/// Creates an exception of a class. `members` are its attributes.
fn new<'py>(py: Python<'py>, class: &str, message: &str, members: &Value) -> PyResult<Bound<'py, PyAny>> {
    let exception = py.import("taquin._errors")?.getattr(class)?.call1((message,))?;
    for (name, value) in object_of(py, members)?.cast::<PyDict>()? {
        exception.setattr(name.extract::<String>()?.as_str(), value)?;
    }
    Ok(exception)
}
