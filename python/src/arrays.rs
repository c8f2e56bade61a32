//! NumPy arrays. NumPy itself makes arrays from bytes, and turns arrays into bytes.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyTuple};
use taquin_bulk::fields::{BOARD_FIELDS, FieldReader, board_and_goal, goal, sides};
use taquin_solver::{Board, Encoding, Puzzle, Sides, Size};

use crate::errors::{board_error, exception_of, exception_of_row};
use crate::objects::rows;
use crate::read;

/// A number that no tile has.
const NO_TILE: u8 = u8::MAX;

/// The boards of an array, with one goal.
pub(crate) struct Boards<'py> {
    array: Bound<'py, PyAny>,
    rows: BoardRows,
}

/// The boards of an array, without Python.
#[derive(Debug)]
pub(crate) struct BoardRows {
    goal: Board,
    /// The cells of all boards. [`NO_TILE`] stands for numbers that are no tiles.
    tiles: Vec<u8>,
}

impl<'py> Boards<'py> {
    /// Reads an array of shape (n, rows, cols), or (n, cells), or a list of texts. `fields` has the goal, and the shape
    /// of boards of cells that are not square. No field is read after it. Boards of an array are not checked.
    ///
    /// # Errors
    /// `BoardError` for an array of another shape, or not of integers, and for a text that is no board. The errors of all
    /// fields.
    pub(crate) fn read(boards: &Bound<'py, PyAny>, mut fields: FieldReader) -> PyResult<Self> {
        let py = boards.py();
        let sides = sides(&mut fields);
        let mut array = py.import("numpy")?.call_method1("asarray", (boards,))?;
        let dtype = array.getattr("dtype")?;
        let (kind, shape): (String, Vec<usize>) =
            (dtype.getattr("kind")?.extract()?, array.getattr("shape")?.extract()?);
        if ["U", "O", "T"].contains(&kind.as_str()) && shape.len() == 1 && shape[0] > 0 {
            array = of_texts(&array, sides)?;
        } else if !["i", "u"].contains(&kind.as_str()) {
            let detail = format!("The boards must be texts, or an array with an integer dtype, not {dtype}.");
            return Err(board_error(py, &detail));
        }
        let size = size(&array.getattr("shape")?.extract::<Vec<usize>>()?, sides);
        let size = size.map_err(|detail| board_error(py, &detail))?;
        let goal = goal(&mut fields, Some(size), Sides::default(), Encoding::Tiles);
        let goal = fields.finish(goal).map_err(|error| exception_of(py, &error))?;
        if goal.size() != size {
            let detail =
                format!("The goal is {} and the boards are {size}; they must have the same size.", goal.size());
            return Err(board_error(py, &detail));
        }
        let tiles = tiles(&array)?;
        Ok(Self { array, rows: BoardRows { goal, tiles } })
    }

    /// The interpreter.
    pub(crate) fn py(&self) -> Python<'py> {
        self.array.py()
    }

    /// The boards without Python.
    pub(crate) fn rows(&self) -> &BoardRows {
        &self.rows
    }

    /// Returns the exception for the board with this index, which is no puzzle.
    pub(crate) fn exception(&self, index: usize) -> PyErr {
        let py = self.array.py();
        let read = || {
            let size = self.rows.goal.size();
            let row = self.array.get_item(index)?.call_method1("reshape", (size.rows(), size.cols()))?;
            let goal = rows(&self.rows.goal).into_pyobject(py)?.into_any();
            read::fields(Some(&row), Some(&goal), None, &BOARD_FIELDS)
        };
        match read().map(read::puzzle_of) {
            Err(error) => error,
            Ok(Err(error)) => exception_of_row(py, &error, Some(index)),
            Ok(Ok(_)) => board_error(py, &format!("Board {index} cannot be read.")),
        }
    }
}

impl BoardRows {
    /// The goal.
    pub(crate) fn goal(&self) -> &Board {
        &self.goal
    }

    /// Number of boards.
    pub(crate) fn count(&self) -> usize {
        self.tiles.len() / self.goal.size().cells()
    }

    /// Returns the board with this index; `None` if it is no board, or cannot reach the goal.
    pub(crate) fn puzzle(&self, index: usize) -> Option<Puzzle> {
        let size = self.goal.size();
        let mut numbers = [None; Size::MAX_CELLS];
        let tiles = &self.tiles[index * size.cells()..][..size.cells()];
        numbers.iter_mut().zip(tiles).for_each(|(number, tile)| *number = Some(i64::from(*tile)));
        let board = Board::try_from_tiles(size, &numbers[..size.cells()]).ok()?;
        Puzzle::try_new(board, self.goal).ok()
    }
}

/// Reads texts, at least one. Returns an array of shape (n, rows, cols).
fn of_texts<'py>(texts: &Bound<'py, PyAny>, sides: Sides) -> PyResult<Bound<'py, PyAny>> {
    let py = texts.py();
    let options = PyDict::new(py);
    options.set_item("rows", sides.rows)?;
    options.set_item("cols", sides.cols)?;
    let (mut tiles, mut shape) = (Vec::new(), None);
    for (index, text) in texts.call_method0("tolist")?.try_iter()?.enumerate() {
        let mut fields = read::fields(Some(&text?), None, Some(&options), &BOARD_FIELDS)?;
        let read = board_and_goal(&mut fields);
        let (board, _) = fields.finish(read).map_err(|error| exception_of_row(py, &error, Some(index)))?;
        let first = *shape.get_or_insert(board.size());
        if board.size() != first {
            let detail =
                format!("Board {index} is {} and board 0 is {first}; they must have the same size.", board.size());
            let error = board_error(py, &detail);
            error.value(py).setattr("index", index)?;
            return Err(error);
        }
        tiles.extend_from_slice(board.tiles());
    }
    let count = texts.len()?;
    let size = shape.expect("at least one text");
    self::array(py, &tiles, "uint8", &[count, size.rows(), size.cols()])
}

/// Returns the shape of the boards of an array.
fn size(shape: &[usize], sides: Sides) -> Result<Size, String> {
    let (rows, cols) = match (shape, sides.rows, sides.cols) {
        (&[_, rows, cols], ..) => (rows, cols),
        (&[_, cells], Some(rows), Some(cols)) if rows * cols == cells => (rows, cols),
        (&[_, cells], None, None) if cells.isqrt().pow(2) == cells => (cells.isqrt(), cells.isqrt()),
        (&[_, cells], ..) => {
            return Err(format!(
                "Boards of {cells} cells need a shape: use an array of shape (n, rows, cols), or add `rows` and `cols`."
            ));
        }
        _ => {
            let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
            let shape = shape.join(", ");
            return Err(format!("The boards must have the shape (n, rows, cols) or (n, cells), not ({shape})."));
        }
    };
    let size = Size::try_from((rows, cols)).map_err(|error| taquin_bulk::sentence(&error.to_string()))?;
    if sides.agree_with(size) {
        Ok(size)
    } else {
        Err(format!("The boards are {size}, which contradicts `rows` and `cols`."))
    }
}

/// The numbers of an array of integers, row by row.
fn tiles(array: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let numpy = array.py().import("numpy")?;
    let tiles = array.call_method1("astype", ("uint8",))?;
    if !array.getattr("dtype")?.eq("uint8")? {
        let (too_low, too_high) =
            (numpy.call_method1("less", (array, 0))?, numpy.call_method1("greater_equal", (array, NO_TILE))?);
        numpy.call_method1("putmask", (&tiles, numpy.call_method1("logical_or", (too_low, too_high))?, NO_TILE))?;
    }
    let bytes = tiles.call_method0("tobytes")?;
    Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
}

/// Creates an array from bytes. `dtype` is what NumPy takes as one.
pub(crate) fn array<'py>(
    py: Python<'py>,
    bytes: &[u8],
    dtype: impl IntoPyObject<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("frombuffer", (PyByteArray::new(py, bytes), dtype))?;
    array.call_method1("reshape", (PyTuple::new(py, shape)?,))
}
