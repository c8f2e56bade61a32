//! `distance_table`: all boards of a shape.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use taquin_bulk::fields::goal_alone;
use taquin_solver::TableSource;
use taquin_solver::heuristic::DistanceTable;

use crate::arrays::array;
use crate::errors::{exception_of, taquin_error};
use crate::read;
use crate::tables::TABLES;

/// Returns all boards from which the goal can be reached, and their distances from it.
///
/// Parameters
/// ----------
/// rows, cols : int
///     The shape, of at most 9 cells.
/// goal : str, list or array, optional
///     As for `solve`.
///
/// Returns
/// -------
/// boards : numpy.ndarray of uint8, shape (n, rows, cols)
///     All boards, in a fixed order. 3×3 has n = 181,440.
/// distances : numpy.ndarray of uint8, shape (n,)
///     The length of the shortest solution of each board, in moves of one tile.
#[pyfunction]
#[pyo3(signature = (rows, cols, goal=None))]
pub(crate) fn distance_table<'py>(
    py: Python<'py>,
    rows: Bound<'py, PyAny>,
    cols: Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let sides = PyDict::new(py);
    sides.set_item("rows", rows)?;
    sides.set_item("cols", cols)?;
    let mut fields = read::fields(None, goal, Some(&sides), &["rows", "cols", "goal"])?;
    let goal = goal_alone(&mut fields);
    let goal = fields.finish(goal).map_err(|error| exception_of(py, &error))?;
    let size = goal.size();
    if !DistanceTable::serves(size) {
        let most = DistanceTable::MAX_CELLS;
        return Err(taquin_error(py, &format!("Tables have boards of up to {most} cells, not {size} boards.")));
    }
    let (tiles, distances): (Vec<_>, Vec<u8>) = py.detach(|| {
        let table = TABLES.small().distances(size, goal.blank());
        table.boards(&goal).map(|(board, distance)| (board, distance as u8)).unzip()
    });
    let count = distances.len();
    let tiles: Vec<u8> = tiles.iter().flat_map(taquin_solver::Board::tiles).copied().collect();
    let boards = array(py, &tiles, "uint8", &[count, size.rows(), size.cols()])?;
    Ok((boards, array(py, &distances, "uint8", &[count])?))
}
