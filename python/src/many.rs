//! `solve_many`, `distances` and `next_moves`: labels of many boards, on all cores.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use taquin_bulk::fields::{FieldReader, MAX_LIMIT, concat};
use taquin_bulk::rows::unserved;
use taquin_bulk::{
    BatchSolver, Label, LabelControl, LabelError, LabelLimits, LabelledRow, RequestedLimits, RowsEnd, Want, label_rows,
    map_in_order,
};
use taquin_solver::heuristic::DistanceTable;
use taquin_solver::{Move, MoveSet, Path, Plan, Size};

use crate::arrays::{BoardRows, Boards, array};
use crate::errors::{exception_of, taquin_error};
use crate::interruptible::interruptible;
use crate::read;
use crate::solve::{LIMIT_OPTIONS, SEARCH_MEMORY, limits};
use crate::tables::TABLES;

/// Arguments of all functions of this module.
const OPTIONS: [&str; 5] = ["goal", "rows", "cols", "threads", "progress"];
const SOLVE_OPTIONS: [&str; OPTIONS.len() + LIMIT_OPTIONS.len() + 1] = concat(&[&OPTIONS, &LIMIT_OPTIONS, &["moves"]]);

/// Most threads.
const MAX_THREADS: i64 = 1_024;

/// Number of boards that pay for stronger tables, which take a second to build.
const MANY: usize = 500;

/// How boards are labelled.
struct Labelling {
    want: Want,
    limits: RequestedLimits,
    threads: usize,
    has_progress: bool,
}

/// Why no labels are returned.
enum Stop {
    /// The board with this index is no puzzle.
    Invalid(usize),
    Failed(LabelError),
    Cancelled,
}

impl Labelling {
    fn read(fields: &mut FieldReader, want: Want, limits: RequestedLimits) -> Self {
        let threads = fields.integer("threads", 1..=MAX_THREADS).map(|threads| threads as usize);
        let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        Self { want, limits, threads, has_progress: fields.flag("progress") }
    }

    /// Labels all boards. Returns the results of `take` for the labels, in order.
    fn run<T: Send>(self, boards: &Boards<'_>, take: impl Fn(Label) -> T + Sync) -> PyResult<Vec<T>> {
        let (py, rows) = (boards.py(), boards.rows());
        if !self.want.serves(rows.goal().size()) {
            return Err(exception_of(py, &unserved(rows.goal().size())));
        }
        let bar = if self.has_progress { Some(bar(py, rows.count())?) } else { None };
        let (done, mut shown) = (AtomicUsize::new(0), 0);
        let mut show = |py: Python<'_>| match &bar {
            Some(bar) => {
                let news = done.load(Ordering::Relaxed) - shown;
                shown += news;
                bar.call_method1(py, "update", (news,)).map(drop)
            }
            None => Ok(()),
        };
        let labels = interruptible(py, |cancel| self.label(rows, &take, &done, cancel), &mut show);
        show(py)?;
        if let Some(bar) = &bar {
            bar.call_method0(py, "close")?;
        }
        labels?.map_err(|stop| match stop {
            Stop::Invalid(index) => boards.exception(index),
            Stop::Failed(error) => taquin_error(py, &format!("{error}.")),
            Stop::Cancelled => taquin_error(py, "The work was cancelled."),
        })
    }

    fn label<T: Send>(
        &self,
        rows: &BoardRows,
        take: &(impl Fn(Label) -> T + Sync),
        done: &AtomicUsize,
        cancel: &AtomicBool,
    ) -> Result<Vec<T>, Stop> {
        let (count, size) = (rows.count(), rows.goal().size());
        let has_table = DistanceTable::serves(size);
        if !has_table && let Some(invalid) = (0..count).find(|index| rows.puzzle(*index).is_none()) {
            // Found before hours of work.
            return Err(Stop::Invalid(invalid));
        }
        if count >= MANY {
            TABLES.load_for_many(rows.goal());
        }
        let (limits, is_over) = (LabelLimits::of(self.limits, SEARCH_MEMORY), AtomicBool::new(false));
        let control = LabelControl { cancel: &[cancel, &is_over], ..LabelControl::default() };
        let chunk = chunk_size(size);
        let work = |chunk: Range<usize>| {
            let puzzles = chunk.map(|index| (index, rows.puzzle(index).ok_or(index)));
            let (mut solver, mut labels) = (BatchSolver::new(&*TABLES, self.want, limits), Vec::new());
            let end = label_rows(puzzles, &mut solver, control, |_, row| {
                labels.push(take(match row {
                    LabelledRow::Solved(_, label) => label,
                    LabelledRow::Failed(_, error) => return Err(Stop::Failed(error)),
                    LabelledRow::Faulty(index) => return Err(Stop::Invalid(index)),
                }));
                done.fetch_add(1, Ordering::Relaxed);
                Ok(())
            });
            if end? == RowsEnd::Cancelled { Err(Stop::Cancelled) } else { Ok(labels) }
        };
        let mut all = Vec::with_capacity(count);
        let chunks = (0..count).step_by(chunk).map(|begin| begin..count.min(begin + chunk));
        let chunks = chunks.take_while(|_| !control.is_cancelled());
        let sink = |labels: Result<Vec<T>, Stop>| {
            all.extend(labels.inspect_err(|_| is_over.store(true, Ordering::Relaxed))?);
            Ok(())
        };
        map_in_order(self.threads, chunks, work, sink)?;
        if all.len() == count { Ok(all) } else { Err(Stop::Cancelled) }
    }
}

/// Number of boards that a thread takes at a time.
fn chunk_size(size: Size) -> usize {
    if DistanceTable::serves(size) {
        4_096
    } else if Plan::is_proven_by_auto(size) {
        8
    } else {
        1
    }
}

/// Creates a progress bar of tqdm. Without tqdm, it is an object that shows nothing.
fn bar(py: Python<'_>, count: usize) -> PyResult<Py<PyAny>> {
    Ok(py.import("taquin._progress")?.call_method1("bar", (count,))?.unbind())
}

/// A row of `solve_many`.
struct Solved {
    length: u16,
    optimal: bool,
    lower_bound: u16,
    expanded: u64,
    generated: u64,
    path: Path,
}

impl From<Label> for Solved {
    fn from(label: Label) -> Self {
        let short = |length: u32| u16::try_from(length).expect("a solution has fewer than 65,536 moves");
        Self {
            length: short(label.length),
            optimal: label.is_optimal(),
            lower_bound: short(label.lower_bound),
            expanded: label.expanded.unwrap_or_default(),
            generated: label.generated.unwrap_or_default(),
            path: label.path.unwrap_or_default(),
        }
    }
}

impl Solved {
    /// Appends the bytes of a row with `moves` letters.
    fn write(&self, moves: usize, bytes: &mut Vec<u8>) {
        let first = self.path.moves().first().map_or(MoveSet::EMPTY, |mv| MoveSet::EMPTY.with(*mv));
        bytes.extend(self.length.to_le_bytes());
        bytes.push(self.optimal.into());
        bytes.extend(self.lower_bound.to_le_bytes());
        bytes.extend(self.expanded.to_le_bytes());
        bytes.extend(self.generated.to_le_bytes());
        bytes.push(first.bits());
        let letters = self.path.moves().iter().map(|mv: &Move| mv.letter() as u8);
        bytes.extend(letters.chain(std::iter::repeat(0)).take(moves));
    }
}

/// Solves many boards of one shape and goal, on all cores and without the GIL. Ctrl+C ends the work.
///
/// Parameters
/// ----------
/// boards : array of integers, shape (n, rows, cols) or (n, cells), or list of boards
///     The boards, all of one size. 0 is the blank. A board of a list is text, a list of rows, or a list of cells.
/// goal : str, list or array, optional
///     As for `solve`.
/// rows, cols : int, optional
///     The shape of boards of shape (n, cells) that are not square.
/// moves : bool
///     True for a field `moves`.
/// time : float, optional
///     Time limit of each search in seconds. By default 0.1 for boards of more than 16 cells, and none for others.
/// max_expanded, max_nodes : int, optional
///     Maximum number of expanded nodes, and of nodes in memory, of each search.
/// threads : int, optional
///     Number of threads, by default the number of cores.
/// progress : bool
///     True for a progress bar, if tqdm is installed.
///
/// Returns
/// -------
/// numpy.ndarray, shape (n,), with the fields
///     length : uint16
///         Length of the shortest solution found, in moves of one tile.
///     optimal : bool
///         True if no solution is shorter: always on boards of up to 16 cells without limits.
///     lower_bound : uint16
///         Proven lower bound on the optimal length.
///     expanded, generated : uint64
///         Number of nodes that the search expanded and generated.
///     first_move : uint8
///         First move of the blank: U 1, L 2, D 4, R 8; 0 if there is none.
///     moves : bytes
///         The moves of the blank, such as b"RULLDR", if requested.
///
/// Raises
/// ------
/// BoardError, UnsolvableError
///     `index` is the index of the board.
#[pyfunction]
#[pyo3(
    signature = (boards, goal=None, **options),
    text_signature = "(boards, goal=None, *, rows=None, cols=None, moves=False, time=None, max_expanded=None, \
                      max_nodes=None, threads=None, progress=False)"
)]
pub(crate) fn solve_many<'py>(
    boards: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut fields = read::fields(None, goal, options, &SOLVE_OPTIONS)?;
    let has_moves = fields.flag("moves");
    let limits = limits(&mut fields, MAX_LIMIT);
    let labelling = Labelling::read(&mut fields, Want::Expanded, limits);
    let solved = labelling.run(&Boards::read(boards, fields)?, Solved::from)?;
    let longest = solved.iter().map(|row| row.path.len()).max().unwrap_or_default();
    // NumPy has no texts of length 0.
    let letters = if has_moves { longest.max(1) } else { 0 };
    let mut dtype = vec![
        ("length", "<u2".to_owned()),
        ("optimal", "?".to_owned()),
        ("lower_bound", "<u2".to_owned()),
        ("expanded", "<u8".to_owned()),
        ("generated", "<u8".to_owned()),
        ("first_move", "u1".to_owned()),
    ];
    if has_moves {
        dtype.push(("moves", format!("S{letters}")));
    }
    let mut bytes = Vec::new();
    solved.iter().for_each(|row| row.write(letters, &mut bytes));
    array(boards.py(), &bytes, dtype, &[solved.len()])
}

/// Returns the optimal lengths of many boards of up to 16 cells, on all cores and without the GIL.
///
/// Parameters
/// ----------
/// boards, goal, rows, cols, threads, progress
///     As for `solve_many`.
///
/// Returns
/// -------
/// numpy.ndarray of uint8, shape (n,)
///     The length of the shortest solution of each board, in moves of one tile.
///
/// Raises
/// ------
/// BoardError, UnsolvableError
///     `index` is the index of the board.
/// TaquinError
///     For boards of more than 16 cells, whose optimal lengths are not proven.
#[pyfunction]
#[pyo3(
    signature = (boards, goal=None, **options),
    text_signature = "(boards, goal=None, *, rows=None, cols=None, threads=None, progress=False)"
)]
pub(crate) fn distances<'py>(
    boards: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut fields = read::fields(None, goal, options, &OPTIONS)?;
    let labelling = Labelling::read(&mut fields, Want::Length, RequestedLimits::default());
    let boards = Boards::read(boards, fields)?;
    let size = boards.rows().goal().size();
    if !Plan::is_proven_by_auto(size) {
        let detail =
            format!("Optimal lengths are proven on boards of up to 16 cells, not on {size}: use `solve_many`.");
        return Err(taquin_error(boards.py(), &detail));
    }
    bytes(&boards, labelling, |label| label.length as u8)
}

/// Returns all first moves of optimal solutions of many boards of up to 16 cells, on all cores and without the GIL.
///
/// Parameters
/// ----------
/// boards, goal, rows, cols, threads, progress
///     As for `solve_many`.
///
/// Returns
/// -------
/// numpy.ndarray of uint8, shape (n,)
///     The sum of the moves of the blank that lead nearer to the goal: U 1, L 2, D 4, R 8; 0 for the goal.
///
/// Raises
/// ------
/// BoardError, UnsolvableError
///     `index` is the index of the board.
/// TaquinError
///     For boards of more than 16 cells, whose optimal lengths are not proven.
#[pyfunction]
#[pyo3(
    signature = (boards, goal=None, **options),
    text_signature = "(boards, goal=None, *, rows=None, cols=None, threads=None, progress=False)"
)]
pub(crate) fn next_moves<'py>(
    boards: &Bound<'py, PyAny>,
    goal: Option<&Bound<'py, PyAny>>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut fields = read::fields(None, goal, options, &OPTIONS)?;
    let labelling = Labelling::read(&mut fields, Want::Next, RequestedLimits::default());
    let boards = Boards::read(boards, fields)?;
    bytes(&boards, labelling, |label| label.next.unwrap_or_default().bits())
}

/// Labels all boards, and returns an array with a number for each.
fn bytes<'py>(
    boards: &Boards<'py>,
    labelling: Labelling,
    number: impl Fn(Label) -> u8 + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let numbers = labelling.run(boards, number)?;
    array(boards.py(), &numbers, "uint8", &[numbers.len()])
}
