//! Rows of a recipe, labelled on demand, or of a job, read from its parts, in the order of their indices.

use std::convert::Infallible;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::rows::LabelLines;
use crate::{
    BatchSolver, InputProblems, JobBoards, JobError, JobSpec, LabelLimits, Recipe, RequestedLimits, Row, RowsEnd,
    SampledBoards, StoredJob, Want, chunk_size, label_rows, map_in_order,
};
use taquin_solver::{Board, Puzzle};

use super::arguments::TextOutput;
use super::line_output::{LineOutput, Lines};
use super::rows::EarlyEnd;
use super::unfinished::RunIdentity;
use super::values::TextFormat;
use super::{BatchEnding, BatchError, Session};

/// A row of a recipe or of a job.
pub(crate) struct IndexedRow<'r> {
    pub(crate) index: u64,
    pub(crate) board: Option<&'r Board>,
    pub(crate) row: &'r Row,
    /// The stored problem of an invalid row of an input, as a line of JSON.
    pub(crate) reason: Option<Vec<u8>>,
}

/// Sink of rows.
pub(crate) type IndexedRowSink<'t> = dyn FnMut(&IndexedRow<'_>) + 't;

/// Passes the rows with these indices to a sink, in order.
type MakeRows<'s> = dyn Fn(Range<u64>, &mut IndexedRowSink<'_>) -> Result<(), EarlyEnd> + Sync + 's;

/// The rows of a recipe or of a job, with random access.
pub(crate) struct IndexedRows<'s> {
    pub(crate) spec: JobSpec,
    /// Rows of a range that one thread makes at a time.
    range_rows: u64,
    make: Box<MakeRows<'s>>,
}

impl IndexedRows<'_> {
    /// Divides the rows into ranges, passes each range to `work` on all threads, and passes the results to `sink` in
    /// order. Returns false if cancelled.
    ///
    /// # Errors
    /// [`BatchError`].
    pub(crate) fn each_range<T: Send>(
        &self,
        session: &Session<'_>,
        rows: Range<u64>,
        work: impl Fn(&mut dyn FnMut(&mut IndexedRowSink<'_>) -> Result<(), EarlyEnd>) -> Result<T, EarlyEnd> + Sync,
        mut sink: impl FnMut(T) -> Result<(), BatchError>,
    ) -> Result<bool, BatchError> {
        let starts = (rows.start..rows.end).step_by(self.range_rows as usize);
        let ranges = starts.map(|start| start..(start + self.range_rows).min(rows.end));
        let ranges = ranges.take_while(|_| !session.is_cancelled());
        let make = |range: Range<u64>| work(&mut |take| (self.make)(range.clone(), take));
        match map_in_order(session.resources.threads, ranges, make, |done: Result<T, EarlyEnd>| {
            sink(done?).map_err(EarlyEnd::Failed)
        }) {
            Err(EarlyEnd::Failed(error)) => Err(error),
            Err(EarlyEnd::Cancelled) => Ok(false),
            Ok(()) => Ok(!session.is_cancelled()),
        }
    }
}

impl Session<'_> {
    /// The rows of a recipe, labelled on demand.
    pub(crate) fn recipe_rows<'s>(
        &'s self,
        recipe: &'s Recipe,
        want: Want,
        limits: RequestedLimits,
    ) -> IndexedRows<'s> {
        /// Divisor of the chunk size, so that rows are written several times a second.
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
            Ok(())
        });
        match end {
            Ok(RowsEnd::Exhausted) => Ok(()),
            Ok(RowsEnd::Cancelled) => Err(EarlyEnd::Cancelled),
            Err(error) => Err(EarlyEnd::Failed(error)),
        }
    }

    /// Opens a job, and checks that all parts exist.
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

    /// The rows of a complete job.
    pub(crate) fn job_rows<'s>(&'s self, job: &'s StoredJob) -> IndexedRows<'s> {
        /// This number of rows takes a few megabytes, and each part is decoded at most 16 times.
        const RANGE_ROWS: u64 = 1 << 16;
        let chunk = u64::from(job.spec().chunk);
        let make = move |rows: Range<u64>, take: &mut IndexedRowSink<'_>| {
            let mut problems = InputProblems::new(job.spec().boards.problems());
            (rows.start / chunk..rows.end.div_ceil(chunk))
                .try_for_each(|chunk| self.read_chunk(job, chunk, &rows, &mut problems, take))
        };
        IndexedRows { spec: job.spec().clone(), range_rows: RANGE_ROWS, make: Box::new(make) }
    }

    /// Passes the rows of a chunk with these indices to `take`.
    fn read_chunk(
        &self,
        job: &StoredJob,
        chunk: u64,
        indices: &Range<u64>,
        problems: &mut InputProblems,
        take: &mut IndexedRowSink<'_>,
    ) -> Result<(), EarlyEnd> {
        if self.is_cancelled() {
            return Err(EarlyEnd::Cancelled);
        }
        let failed = |error: JobError| EarlyEnd::Failed(error.into());
        let (part, _) = job.part(chunk).map_err(failed)?.ok_or(EarlyEnd::Cancelled)?;
        let of_chunk = job.spec().boards_of(chunk);
        let puzzles = job.boards(of_chunk.clone()).map_err(failed)?;
        for ((index, puzzle), row) in of_chunk.zip(puzzles).zip(part.rows()) {
            if !indices.contains(&index) {
                continue;
            }
            self.progress.count(row.length());
            let reason = match row {
                Row::Invalid => {
                    problems.of(job.files(), index).map_err(|error| failed(job.file_error("input", error)))?
                }
                _ => None,
            };
            take(&IndexedRow { index, board: puzzle.as_ref().map(Puzzle::start), row: &row, reason });
        }
        Ok(())
    }

    /// Writes rows as lines.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn write_lines(
        &self,
        rows: &IndexedRows<'_>,
        run: RunIdentity,
        output: &TextOutput,
    ) -> Result<BatchEnding, BatchError> {
        let JobSpec { boards, want, limits, .. } = &rows.spec;
        let format = |format| LabelLines::new(boards.goal().size(), *want, *limits, format == TextFormat::Csv);
        let (lines, problems) = (format(output.format), format(TextFormat::Ndjson));
        let mut file = LineOutput::open(output, run)?;
        let mut position = file.position();
        self.progress.total.store(boards.count(), Ordering::Relaxed);
        self.progress.note_resumed(position.rows, position.failed);
        let mut header = Lines::default();
        if file.is_empty() {
            lines.header(&mut header.rows);
        }
        let written = file.write(&header, &position).and_then(|()| {
            let work = |make: &mut dyn FnMut(&mut IndexedRowSink<'_>) -> Result<(), EarlyEnd>| {
                let mut out = Lines::default();
                make(&mut |row| append(row, &lines, &problems, &mut out))?;
                Ok(out)
            };
            let first = position.rows.min(boards.count());
            self.shown(|| {
                rows.each_range(self, first..boards.count(), work, |made| {
                    position.rows += made.count;
                    position.failed += made.failed;
                    file.write(&made, &position)
                })
            })
        });
        let finished = file.finish(matches!(written, Ok(true)));
        let is_whole = written?;
        finished.map(|()| if is_whole { self.end() } else { BatchEnding::Cancelled })
    }
}

/// Appends the lines of a row. For CSV, the problem goes to a file of its own.
fn append(row: &IndexedRow<'_>, lines: &LabelLines, problems: &LabelLines, out: &mut Lines) {
    let IndexedRow { index, board, row, reason } = row;
    out.count += 1;
    let has_label = matches!(row, Row::Solved(_));
    out.failed += u64::from(!has_label);
    if has_label || lines.is_csv() {
        lines.write(*index, *board, row, &mut out.rows);
    }
    if !has_label {
        let out = if lines.is_csv() { &mut out.problems } else { &mut out.rows };
        match reason {
            Some(reason) => out.extend_from_slice(reason),
            None => problems.write(*index, *board, row, out),
        }
    }
}
