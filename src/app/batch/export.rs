//! Labels of a recipe, as they are found, or of a job: rows in the order of their indices.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use taquin_solver::{Board, Puzzle};

use super::arguments::TextOutput;
use super::formats::TextFormat;
use super::line_output::{LineOutput, Lines};
use super::unfinished::Run;
use super::{BatchError, Session, TaskEnd};
use crate::http::LabelLines;
use crate::jobs::{
    InputProblems, JobBoards, JobError, JobSpec, Recipe, Row, SampledBoards, StoredJob, chunk_size, map_in_order,
    row_of,
};
use crate::service::{RequestedLimits, Sweep, SweepContext, Want};

/// Why rows end.
pub(super) enum RowsEnd {
    Cancelled,
    Failed(BatchError),
}

/// A row of a recipe or of a job.
pub(super) struct IndexedRow<'r> {
    pub(super) index: u64,
    pub(super) board: Option<&'r Board>,
    pub(super) row: &'r Row,
    /// A line of JSON that says why the row of an input is no board, if that is stored.
    pub(super) reason: Option<Vec<u8>>,
}

/// Takes a row.
pub(super) type TakeIndexedRow<'t> = dyn FnMut(&IndexedRow<'_>) + 't;

/// Makes the rows with these indices, one after another.
type MakeRows<'s> = dyn Fn(Range<u64>, &mut TakeIndexedRow<'_>) -> Result<(), RowsEnd> + Sync + 's;

/// The rows of a recipe or of a job, which can be made in any order.
pub(super) struct IndexedRows<'s> {
    pub(super) spec: JobSpec,
    /// Rows that are made at a time.
    block: u64,
    make: Box<MakeRows<'s>>,
}

impl IndexedRows<'_> {
    /// Passes blocks of rows to `work` on so many threads, and the results to `sink` in their order. Returns false if it
    /// was cancelled.
    ///
    /// # Errors
    /// [`BatchError`].
    pub(super) fn each_block<T: Send>(
        &self,
        session: &Session,
        rows: Range<u64>,
        work: impl Fn(&mut dyn FnMut(&mut TakeIndexedRow<'_>) -> Result<(), RowsEnd>) -> Result<T, RowsEnd> + Sync,
        mut sink: impl FnMut(T) -> Result<(), BatchError>,
    ) -> Result<bool, BatchError> {
        let starts = (rows.start..rows.end).step_by(self.block as usize);
        let blocks = starts.map(|start| start..(start + self.block).min(rows.end));
        let blocks = blocks.take_while(|_| !session.is_cancelled());
        let block = |block: Range<u64>| work(&mut |take| (self.make)(block.clone(), take));
        match map_in_order(session.threads, blocks, block, |done: Result<T, RowsEnd>| {
            sink(done?).map_err(RowsEnd::Failed)
        }) {
            Err(RowsEnd::Failed(error)) => Err(error),
            Err(RowsEnd::Cancelled) => Ok(false),
            Ok(()) => Ok(!session.is_cancelled()),
        }
    }
}

impl Session {
    /// The rows of a recipe, which are labelled as they are made.
    pub(super) fn recipe_rows<'s>(
        &'s self,
        recipe: &'s Recipe,
        want: Want,
        limits: RequestedLimits,
    ) -> IndexedRows<'s> {
        /// A block is this part of a chunk, so that rows come several times a second.
        const BLOCKS_OF_A_CHUNK: u32 = 64;
        self.load_tables(recipe.goal(), want);
        let sweep_limits = self.sweep_limits(limits);
        let chunk = chunk_size(&self.tables, &SampledBoards::of_recipe(recipe), want, sweep_limits);
        let (boards, version) = (JobBoards::Recipe(recipe.clone()), env!("CARGO_PKG_VERSION").to_owned());
        let spec = JobSpec { boards, want, limits, tables: self.tier, chunk, version };
        let sweep = Sweep::new(&self.tables, *recipe.goal(), want, sweep_limits);
        let block = (chunk / BLOCKS_OF_A_CHUNK).max(1).into();
        IndexedRows { spec, block, make: Box::new(move |rows, take| self.label_rows(recipe, &sweep, rows, take)) }
    }

    fn label_rows(
        &self,
        recipe: &Recipe,
        sweep: &Sweep<'_>,
        rows: Range<u64>,
        take: &mut TakeIndexedRow<'_>,
    ) -> Result<(), RowsEnd> {
        let context = SweepContext { cancel: &[&self.cancel], helpers: None };
        for index in rows {
            if self.is_cancelled() {
                return Err(RowsEnd::Cancelled);
            }
            let puzzle = recipe.board(index);
            let labelled = row_of(sweep.label(&puzzle, context), &puzzle, &self.metrics);
            let Some(row) = labelled.map_err(|error| RowsEnd::Failed(error.into()))? else {
                return Err(RowsEnd::Cancelled);
            };
            self.progress.count(&row);
            take(&IndexedRow { index, board: Some(puzzle.start()), row: &row, reason: None });
        }
        Ok(())
    }

    /// Opens a job all of whose parts exist.
    ///
    /// # Errors
    /// [`BatchError::Job`] and [`BatchError::Incomplete`].
    pub(super) fn open_complete(&self, directory: &Path) -> Result<StoredJob, BatchError> {
        let job = StoredJob::open(directory)?;
        match job.done()?.iter().filter(|is_done| !**is_done).count() as u64 {
            0 => Ok(job),
            missing => Err(BatchError::Incomplete { path: directory.to_owned(), missing, chunks: job.spec().chunks() }),
        }
    }

    /// The rows of a complete job.
    pub(super) fn job_rows<'s>(&'s self, job: &'s StoredJob) -> IndexedRows<'s> {
        /// So many rows take a few megabytes, and a part is decoded at most 16 times.
        const BLOCK_ROWS: u64 = 1 << 16;
        let chunk = u64::from(job.spec().chunk);
        let make = move |rows: Range<u64>, take: &mut TakeIndexedRow<'_>| {
            let mut problems = InputProblems::new(job.spec().boards.problems());
            (rows.start / chunk..rows.end.div_ceil(chunk))
                .try_for_each(|chunk| self.read_chunk(job, chunk, &rows, &mut problems, take))
        };
        IndexedRows { spec: job.spec().clone(), block: BLOCK_ROWS, make: Box::new(make) }
    }

    /// Calls `take` with those rows of a chunk that are among `indices`.
    fn read_chunk(
        &self,
        job: &StoredJob,
        chunk: u64,
        indices: &Range<u64>,
        problems: &mut InputProblems,
        take: &mut TakeIndexedRow<'_>,
    ) -> Result<(), RowsEnd> {
        if self.is_cancelled() {
            return Err(RowsEnd::Cancelled);
        }
        let failed = |error: JobError| RowsEnd::Failed(error.into());
        let (part, _) = job.part(chunk).map_err(failed)?.ok_or(RowsEnd::Cancelled)?;
        let of_chunk = job.spec().boards_of(chunk);
        let puzzles = job.boards(of_chunk.clone()).map_err(failed)?;
        for ((index, puzzle), row) in of_chunk.zip(puzzles).zip(part.rows()) {
            if !indices.contains(&index) {
                continue;
            }
            self.progress.count(&row);
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
    pub(super) fn write_lines(
        &self,
        rows: &IndexedRows<'_>,
        run: Run,
        output: &TextOutput,
    ) -> Result<TaskEnd, BatchError> {
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
            let work = |make: &mut dyn FnMut(&mut TakeIndexedRow<'_>) -> Result<(), RowsEnd>| {
                let mut out = Lines::default();
                make(&mut |row| append(row, &lines, &problems, &mut out))?;
                Ok(out)
            };
            let first = position.rows.min(boards.count());
            self.shown(|| {
                rows.each_block(self, first..boards.count(), work, |block| {
                    position.rows += block.count;
                    position.failed += block.failed;
                    file.write(&block, &position)
                })
            })
        });
        let finished = file.finish(matches!(written, Ok(true)));
        let is_whole = written?;
        finished.map(|()| if is_whole { self.end() } else { TaskEnd::Cancelled })
    }
}

/// Appends the lines of a row. CSV has no place for a problem.
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
