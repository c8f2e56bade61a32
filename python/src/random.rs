//! `random_board` and `random_boards`: boards from seeds.

use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use taquin_bulk::fields::{FieldReader, Json, MAX_LIMIT, Value, goal_alone};
use taquin_bulk::{
    Draw, DrawError, FieldError, LoadedTables, Recipe, RowError, Seeds, board_of_seed, draw_boards_with, map_in_order,
    sentence,
};
use taquin_bulk::{ErrorKind, Solvability};
use taquin_solver::{Board, Control, TableSource};

use crate::arrays::array;
use crate::errors::{exception_of, taquin_error};
use crate::interruptible::interruptible;
use crate::objects::{self, Rows};
use crate::read;
use crate::tables::TABLES;

const OPTIONS: [&str; 8] = ["n", "rows", "cols", "goal", "length", "percentile", "seed", "start"];

/// Most characters of a seed.
const MAX_SEED_CHARS: usize = 128;

/// Number of boards that a thread draws at a time.
const CHUNK: usize = 64;

/// What boards are drawn.
struct Wanted {
    goal: Board,
    how: Draw,
    /// `None` for a seed that nobody chose.
    seed: Option<String>,
}

impl Wanted {
    /// Reads the fields. No field is read after it.
    fn read(mut fields: FieldReader) -> Result<Self, RowError> {
        let (goal, length, percentile) = (
            goal_alone(&mut fields),
            range(&mut fields, "length", |value| u32::try_from(value.as_integer()?).ok()),
            range(&mut fields, "percentile", |value| value.as_number().filter(|value| (0.0..=100.0).contains(value))),
        );
        if length.is_some() && percentile.is_some() {
            let detail = "`percentile` and `length` are mutually exclusive";
            fields.report(ErrorKind::InvalidRequest, FieldError::new("/percentile", "unsupported", detail));
        }
        let how = length.map(Draw::Length).or(percentile.map(Draw::Percentile));
        let seed = fields.parsed_text_or_number("seed", |text| {
            let detail = || ("out-of-range", format!("`seed` must have 1 to {MAX_SEED_CHARS} characters"));
            (1..=MAX_SEED_CHARS).contains(&text.chars().count()).then(|| text.to_owned()).ok_or_else(detail)
        });
        let how = how.unwrap_or(Draw::Uniform(Solvability::Solvable));
        fields.finish(goal).map(|goal| Self { goal, how, seed })
    }

    /// Draws a board with each seed.
    fn draw(&self, seeds: Vec<String>, cancel: &AtomicBool) -> Result<Vec<Board>, DrawError> {
        if let Draw::Uniform(Solvability::Solvable) = self.how {
            // Without bounds on the lengths.
            return Ok(seeds.iter().map(|seed| board_of_seed(&self.goal, seed)).collect());
        }
        let (seeds, control) = (Seeds::Each(seeds), Control { cancel: &[cancel], ..Control::default() });
        let tables = (&*TABLES as &dyn TableSource, LoadedTables::default());
        let boards = draw_boards_with(&self.goal, &self.how, &seeds, tables, control)?;
        Ok(boards.into_iter().map(|drawn| drawn.board).collect())
    }

    /// Draws the boards of the seeds `seed/i` on all cores. Returns their tiles.
    fn draw_many(&self, seed: &str, indices: Range<u64>, cancel: &AtomicBool) -> Result<Vec<u8>, DrawError> {
        let threads = available_parallelism().map_or(1, usize::from);
        let chunks = indices.clone().step_by(CHUNK).map(|first| first..indices.end.min(first + CHUNK as u64));
        let work = |chunk: Range<u64>| {
            if cancel.load(Ordering::Relaxed) {
                return Err(DrawError::Cancelled);
            }
            self.draw(chunk.map(|index| format!("{seed}/{index}")).collect(), cancel)
        };
        let mut tiles = Vec::new();
        map_in_order(threads, chunks, work, |boards| {
            boards?.iter().for_each(|board| tiles.extend_from_slice(board.tiles()));
            Ok::<_, DrawError>(())
        })?;
        Ok(tiles)
    }
}

/// Reads a number or a list of two, the ends of a range.
fn range<N: PartialOrd + Copy>(
    fields: &mut FieldReader,
    name: &str,
    number: impl Fn(&Value) -> Option<N>,
) -> Option<RangeInclusive<N>> {
    let value = fields.take(name)?;
    let ends = match &value {
        Value::Body(Json::Array(ends)) => ends.iter().map(|end| number(&Value::Body(end.clone()))).collect(),
        value => vec![number(value)],
    };
    match ends[..] {
        [Some(only)] => Some(only..=only),
        [Some(low), Some(high)] if low <= high => Some(low..=high),
        _ => {
            let detail = format!("`{name}` must be a number, such as 20, or the two ends of a range, such as (12, 18)");
            fields.reject(&value, name, "out-of-range", detail);
            None
        }
    }
}

/// Returns a seed of 64 random bits in hexadecimal.
fn fresh_seed(py: Python<'_>) -> PyResult<String> {
    py.import("secrets")?.call_method1("token_hex", (8,))?.extract()
}

fn failed(py: Python<'_>, error: &DrawError) -> PyErr {
    taquin_error(py, &sentence(&error.to_string()))
}

/// Draws a random board from which the goal can be reached. Equal seeds draw equal boards, here and by `GET /random`.
///
/// Parameters
/// ----------
/// rows, cols : int
///     The shape. 3×3 by default, square if only one is given.
/// goal : str, list or array, optional
///     As for `solve`.
/// length : int or (int, int), optional
///     The optimal length in moves, or the ends of a range of lengths.
/// percentile : float or (float, float), optional
///     The share of boards with shorter solutions in percent, or the ends of a range.
/// seed : str or int, optional
///     By default a new seed for each call.
///
/// Returns
/// -------
/// list of list of int
///     The rows of the board. All boards that satisfy the request are equally likely, except for rare lengths.
///
/// Raises
/// ------
/// TaquinError
///     If there is no such board, or none can be found soon.
#[pyfunction]
#[pyo3(
    signature = (rows=None, cols=None, **options),
    text_signature = "(rows=None, cols=None, *, goal=None, length=None, percentile=None, seed=None)"
)]
pub(crate) fn random_board(
    py: Python<'_>,
    rows: Option<Bound<'_, PyAny>>,
    cols: Option<Bound<'_, PyAny>>,
    options: Option<Bound<'_, PyDict>>,
) -> PyResult<Rows> {
    let options = with_sides(py, (rows, cols), options)?;
    let wanted = Wanted::read(read::fields(None, None, Some(&options), &OPTIONS[1..OPTIONS.len() - 1])?);
    let wanted = wanted.map_err(|error| exception_of(py, &error))?;
    let seed = wanted.seed.clone().map_or_else(|| fresh_seed(py), Ok)?;
    let draw = |cancel: &AtomicBool| wanted.draw(vec![seed], cancel);
    let drawn = if let Draw::Uniform(_) = wanted.how {
        draw(&AtomicBool::new(false))
    } else {
        interruptible(py, draw, |_| Ok(()))?
    };
    Ok(objects::rows(&drawn.map_err(|error| failed(py, &error))?[0]))
}

fn with_sides<'py>(
    py: Python<'py>,
    (rows, cols): (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>),
    options: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let options = options.unwrap_or_else(|| PyDict::new(py));
    options.set_item("rows", rows)?;
    options.set_item("cols", cols)?;
    Ok(options)
}

/// Draws random boards on all cores. Board i has the seed `seed/i`, as in `taquin batch --random`.
///
/// Parameters
/// ----------
/// n : int
///     Number of boards.
/// rows, cols, goal, length, percentile, seed
///     As for `random_board`.
/// start : int
///     Index of the first board, by default 0. Further calls continue with further boards.
///
/// Returns
/// -------
/// numpy.ndarray of uint8, shape (n, rows, cols)
///
/// Raises
/// ------
/// TaquinError
///     If there is no such board, or none can be found soon.
#[pyfunction]
#[pyo3(
    signature = (n, rows=None, cols=None, **options),
    text_signature = "(n, rows=None, cols=None, *, goal=None, length=None, percentile=None, seed=None, start=0)"
)]
pub(crate) fn random_boards<'py>(
    py: Python<'py>,
    n: Bound<'py, PyAny>,
    rows: Option<Bound<'py, PyAny>>,
    cols: Option<Bound<'py, PyAny>>,
    options: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = with_sides(py, (rows, cols), options)?;
    options.set_item("n", n)?;
    let mut fields = read::fields(None, None, Some(&options), &OPTIONS)?;
    let count = fields.integer("n", 0..=MAX_LIMIT).unwrap_or_default();
    let start = fields.integer("start", 0..=MAX_LIMIT).unwrap_or_default();
    let wanted = Wanted::read(fields).map_err(|error| exception_of(py, &error))?;
    let seed = wanted.seed.clone().map_or_else(|| fresh_seed(py), Ok)?;
    let (size, end) = (wanted.goal.size(), start + count);
    Recipe::try_new(wanted.goal, &seed, end.max(1)).map_err(|error| taquin_error(py, &sentence(&error.to_string())))?;
    let bytes = usize::try_from(count).ok().and_then(|count| count.checked_mul(size.cells()));
    if bytes.is_none_or(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_err()) {
        return Err(PyMemoryError::new_err(format!("{count} boards do not fit into the memory")));
    }
    let tiles = interruptible(py, |cancel| wanted.draw_many(&seed, start..end, cancel), |_| Ok(()))?;
    array(py, &tiles.map_err(|error| failed(py, &error))?, "uint8", &[count as usize, size.rows(), size.cols()])
}
