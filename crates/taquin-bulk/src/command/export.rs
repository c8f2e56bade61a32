//! Rows of a recipe or of a job, in the order of their indices. The rows of a recipe are labelled on demand. The rows
//! of a job are read from the parts.

use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use taquin_solver::{Board, Puzzle};

use super::destination::Output;
use super::ending::{BatchEnding, BatchError};
use super::line_output::LineOutput;
use super::unfinished::{InputPosition, Lines, RunIdentity};
use super::values::Format;
use super::{EarlyEnd, Session};
use crate::rows::LabelLines;
use crate::{
    BatchSolver, InputProblems, JobBoards, JobError, JobSpec, LabelLimits, Recipe, RequestedLimits, Row, RowsEnd,
    SampledBoards, StoredJob, Want, chunk_size, label_rows,
};

/// A row of a recipe or of a job.
pub(crate) struct IndexedRow<'r> {
    pub(crate) index: u64,
    /// The board; `None` for an invalid row of an input.
    pub(crate) board: Option<&'r Board>,
    pub(crate) row: &'r Row,
    /// The stored problem of an invalid row of an input, as a line of JSON. `None` for all other rows, and if the
    /// problem is not stored.
    pub(crate) reason: Option<Vec<u8>>,
}

/// A function that receives rows.
type IndexedRowSink<'t> = dyn FnMut(&IndexedRow<'_>) + 't;

/// A function that receives a range of indices, makes the rows with these indices, and passes the rows to a sink in
/// order.
type MakeRows<'s> = dyn Fn(Range<u64>, &mut IndexedRowSink<'_>) -> Result<(), EarlyEnd> + Sync + 's;

/// The rows of a recipe or of a job. Any range of the rows can be made.
pub(crate) struct IndexedRows<'s> {
    pub(crate) spec: JobSpec,
    /// Number of rows in a range. One thread makes all rows of a range.
    range_rows: u64,
    make: Box<MakeRows<'s>>,
}

impl IndexedRows<'_> {
    /// Divides the rows with the indices `rows` into ranges, and makes the ranges on all threads. One thread makes all
    /// rows of a range. `new` creates an accumulator for each range. `take` adds each row of the range to the
    /// accumulator. `sink` receives the accumulators in the order of the ranges.
    ///
    /// # Errors
    /// [`BatchError`].
    pub(crate) fn each_range<T: Send>(
        &self,
        session: &Session<'_>,
        rows: Range<u64>,
        new: impl Fn() -> T + Sync,
        take: impl Fn(&IndexedRow<'_>, &mut T) + Sync,
        sink: impl FnMut(T) -> Result<(), BatchError>,
    ) -> Result<BatchEnding, BatchError> {
        let starts = (rows.start..rows.end).step_by(self.range_rows as usize);
        let ranges = starts.map(|start| start..(start + self.range_rows).min(rows.end));
        let make = |range: Range<u64>| {
            let mut made = new();
            (self.make)(range, &mut |row| take(row, &mut made))?;
            Ok(made)
        };
        session.map_in_order(ranges, make, sink)
    }
}

impl Session<'_> {
    /// Returns the rows of a recipe. The rows are labelled on demand.
    pub(crate) fn recipe_rows<'s>(
        &'s self,
        recipe: &'s Recipe,
        want: Want,
        limits: RequestedLimits,
    ) -> IndexedRows<'s> {
        /// Number of ranges that together have as many rows as a chunk. A chunk takes at most about 20 seconds on a
        /// core. Rows are written after each range, and so usually several times per second.
        const RANGES_OF_A_CHUNK: u32 = 64;
        self.load_tables(recipe.goal(), want);
        let label_limits = self.label_limits(limits);
        let chunk = chunk_size(self.resources.tables, &SampledBoards::of_recipe(recipe), want, label_limits);
        let (boards, version) = (JobBoards::Recipe(recipe.clone()), self.version.to_owned());
        let spec = JobSpec { boards, want, limits, tables: self.tier, chunk, version };
        let range_rows = (chunk / RANGES_OF_A_CHUNK).max(1).into();
        IndexedRows {
            spec,
            range_rows,
            make: Box::new(move |rows, take| self.label_recipe(recipe, (want, label_limits), rows, take)),
        }
    }

    fn label_recipe(
        &self,
        recipe: &Recipe,
        (want, limits): (Want, LabelLimits),
        rows: Range<u64>,
        take: &mut IndexedRowSink<'_>,
    ) -> Result<(), EarlyEnd> {
        let cancel = [self.resources.cancel];
        let mut solver = BatchSolver::new(self.resources.tables, want, limits);
        let rows = rows.map(|index| (index, Ok::<_, Infallible>(recipe.board(index))));
        let end = label_rows(rows, &mut solver, self.control(&cancel), |index, labelled| {
            let puzzle = labelled.puzzle().copied();
            let row = labelled.into_row().map_err(JobError::from)?;
            self.progress.count(row.length());
            take(&IndexedRow { index, board: puzzle.as_ref().map(Puzzle::start), row: &row, reason: None });
            Ok::<_, BatchError>(())
        });
        if end? == RowsEnd::Exhausted { Ok(()) } else { Err(EarlyEnd::Cancelled) }
    }

    /// Opens a job, and checks that all parts of the job exist.
    ///
    /// # Errors
    /// [`BatchError::Job`] and [`BatchError::Incomplete`].
    pub(crate) fn open_complete(&self, directory: &Path) -> Result<StoredJob, BatchError> {
        let job = StoredJob::open(directory)?;
        match job.done()?.iter().filter(|is_done| !**is_done).count() as u64 {
            0 => Ok(job),
            missing => Err(BatchError::Incomplete { path: directory.to_owned(), missing, chunks: job.spec().chunks() }),
        }
    }

    /// Returns the rows of a complete job.
    pub(crate) fn job_rows<'s>(&'s self, job: &'s StoredJob) -> IndexedRows<'s> {
        /// Number of rows in a range. The rows of a range take a few megabytes of memory. A part is decoded again for
        /// each range that has rows of the part, at most about 16 times.
        const RANGE_ROWS: u64 = 1 << 16;
        let chunk = u64::from(job.spec().chunk);
        let make = move |rows: Range<u64>, take: &mut IndexedRowSink<'_>| {
            let mut problems = InputProblems::new(job.spec().boards.problems());
            for chunk in rows.start / chunk..rows.end.div_ceil(chunk) {
                if self.is_cancelled() {
                    return Err(EarlyEnd::Cancelled);
                }
                for (index, puzzle, row) in job.rows(chunk)?.filter(|(index, ..)| rows.contains(index)) {
                    self.progress.count(row.length());
                    let reason = match row {
                        Row::Invalid => problems.of(job.files(), index).map_err(|error| job.input_error(error))?,
                        _ => None,
                    };
                    take(&IndexedRow { index, board: puzzle.as_ref().map(Puzzle::start), row: &row, reason });
                }
            }
            Ok(())
        };
        IndexedRows { spec: job.spec().clone(), range_rows: RANGE_ROWS, make: Box::new(make) }
    }

    /// Writes rows to the output, as lines of text or as Parquet.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn write_indexed(
        &self,
        rows: &IndexedRows<'_>,
        run: RunIdentity,
        output: &Output,
    ) -> Result<BatchEnding, BatchError> {
        match output.format {
            #[cfg(feature = "parquet")]
            Format::Parquet => self.write_parquet(rows, output),
            _ => self.write_lines(rows, run, output),
        }
    }

    fn write_lines(
        &self,
        rows: &IndexedRows<'_>,
        run: RunIdentity,
        output: &Output,
    ) -> Result<BatchEnding, BatchError> {
        let JobSpec { boards, want, limits, .. } = &rows.spec;
        let json = LabelLines::new(boards.goal().size(), *want, *limits, false);
        let csv = (output.format == Format::Csv).then(|| LabelLines::columns(boards.goal().size(), *want, *limits));
        let mut file = LineOutput::open(output, run, csv.as_ref())?;
        let (position, count) = (file.position(), boards.count());
        self.progress.total.store(count, Ordering::Relaxed);
        self.progress.note_resumed(position.rows, position.failed);
        let take = |row: &IndexedRow<'_>, lines: &mut Lines| {
            lines.append(csv.as_ref(), row.board, row.row.label(), |out| match &row.reason {
                Some(reason) => out.extend_from_slice(reason),
                None => json.write(row.index, row.board, row.row, out),
            });
        };
        let sink = |lines: Lines| file.write(&lines, &InputPosition::default());
        let end = self.shown(|| rows.each_range(self, position.rows.min(count)..count, Lines::default, take, sink));
        file.finish(end)
    }
}
