//! Labels the rows of an input as lines of text, or stores the rows as the input of a job.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use taquin_solver::{Board, Puzzle, Size};

use super::arguments::Boards;
use super::console::{counted, say};
use super::destination::Output;
use super::ending::{BatchEnding, BatchError};
use super::input::{ChunkBytes, LineChunk, OpenInput, RowInput, no_rows};
use super::line_output::LineOutput;
use super::unfinished::{InputPosition, Lines};
use super::values::Format;
use super::{EarlyEnd, Session};
use crate::rows::{InputRow, LabelLines, RowReader, goal_mismatch, other_goal, row_json, stored_problem, unserved};
use crate::{
    BatchSolver, Directory, Files, InputProblemsWriter, InputRecord, InputWriter, JobError, Label, LabelError,
    LabelLimits, LabelledRow, LoadedTables, RequestedLimits, RowError, RowsEnd, Want, label_rows,
};

/// A row of an input that is about to be stored in the directory of a job.
struct StoredRow {
    line: u64,
    id: Option<Vec<u8>>,
    puzzle: Result<Puzzle, Box<RowError>>,
}

impl Session<'_> {
    /// Labels the rows of an input, and writes the labels as lines.
    ///
    /// # Errors
    /// [`BatchError::File`]; [`BatchError::Job`] after a wrong solution; [`BatchError::FaultyRow`] if a row is faulty
    /// and the input is strict.
    pub(crate) fn solve_rows(
        &self,
        input: &RowInput,
        boards: &Boards,
        output: &Output,
    ) -> Result<BatchEnding, BatchError> {
        let Boards { want, limits, .. } = *boards;
        let mut open = input.open()?;
        let csv = match output.format {
            Format::Csv => Some(LabelLines::columns(open.first_goal()?.size(), want, limits)),
            _ => None,
        };
        let mut file = LineOutput::open(output, self.identity_of_rows(input, output.format), csv.as_ref())?;
        let position = file.position();
        open.skip_to(position.input.lines)?;
        file.check_input(&open.position())?;
        self.progress.note_resumed(position.rows, position.failed);
        let take = |line, (id, read_as): RowNames<'_>, outcome: &RowOutcome, lines: &mut Lines| {
            let label = outcome.as_ref().map(|(_, label)| label).map_err(|problem| &**problem);
            let board = outcome.as_ref().ok().map(|(puzzle, _)| puzzle.start());
            lines.append(csv.as_ref(), board, label.ok(), |out| row_json(line, (id, read_as), label, want, out));
        };
        let labeller = Labeller::new(self, input, (want, limits), csv.map(|columns| columns.size));
        let end = self.shown(|| {
            let end = labeller.label(open, Lines::default, take, |lines, end| file.write(&lines, &end))?;
            let is_empty = end == BatchEnding::Clean && self.progress.end_of_input() == 0;
            if is_empty { Err(no_rows(input.path())) } else { Ok(end) }
        });
        // After an error, the rows that were written before are kept.
        file.finish(end)
    }

    /// Passes the chunks of an input to `work` on all threads, and passes the results to `sink` in order.
    fn chunks<T: Send>(
        &self,
        input: OpenInput,
        work: impl Fn(&LineChunk, &RowReader) -> Result<T, EarlyEnd> + Sync,
        sink: impl FnMut(T) -> Result<(), BatchError>,
    ) -> Result<BatchEnding, BatchError> {
        let (size, read, length) = (ChunkBytes::new(), AtomicU64::new(0), input.length);
        let (reader, chunks) = input.chunks(&size);
        let timed = |chunk: Result<LineChunk, BatchError>| {
            let (begun, chunk) = (Instant::now(), chunk?);
            let done = work(&chunk, &reader)?;
            size.note(begun.elapsed());
            let read = read.fetch_add(chunk.length(), Ordering::Relaxed) + chunk.length();
            self.progress.estimate_total(read, length);
            Ok(done)
        };
        let end = self.map_in_order(chunks, timed, sink)?;
        if end != BatchEnding::Cancelled {
            self.progress.end_of_input();
        }
        Ok(end)
    }

    /// Stores the rows of an input in the directory of a job, and returns the record of the input. If the directory has
    /// rows already, these rows must be the same as the rows of the input. Returns `None` if the batch is cancelled.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn store_input(&self, input: &RowInput, directory: &Path) -> Result<Option<InputRecord>, BatchError> {
        let error = |source| BatchError::File { path: directory.to_owned(), source };
        let mut open = input.open()?;
        let goal = open.first_goal()?;
        let files = Directory::create(directory).map_err(error)?;
        let files: Arc<dyn Files> = Arc::new(files);
        let mut writer = InputWriter::new(Arc::clone(&files), goal).map_err(error)?;
        let (mut problems, mut faulty) = (InputProblemsWriter::new(files), 0);
        let end = self.chunks(
            open,
            |chunk, reader| Ok(stored_rows(chunk, reader, &goal)),
            |rows: Vec<StoredRow>| {
                for row in rows {
                    if let Err(problem) = &row.puzzle {
                        if input.is_strict {
                            return Err(input.faulty_row((row.line, problem.to_line())));
                        }
                        let line = stored_problem(writer.count(), row.line, row.id.as_deref(), problem);
                        problems.push(writer.count(), &line).map_err(error)?;
                        faulty += 1;
                    }
                    writer.push(row.puzzle.as_ref().ok()).map_err(error)?;
                }
                Ok(())
            },
        )?;
        if end == BatchEnding::Cancelled {
            return Ok(None);
        }
        let record = writer.finish(problems).map_err(error)?;
        if faulty > 0 {
            let files = directory.join("input/*.ndjson");
            say(format_args!("{}: see {}", counted(faulty, "faulty row"), files.display()));
        }
        Ok(Some(record))
    }
}

/// Labels the rows of an input.
pub(crate) struct Labeller<'s> {
    session: &'s Session<'s>,
    input: &'s RowInput,
    want: Want,
    limits: LabelLimits,
    /// The size of all boards, if the output requires boards of one size; otherwise `None`.
    size: Option<Size>,
}

/// Puzzle and label of a row, or the error of the row.
pub(crate) type RowOutcome = Result<(Puzzle, Label), Box<RowError>>;

/// Id of a row as JSON, and how the board of the row was read.
pub(crate) type RowNames<'r> = (Option<&'r [u8]>, Option<&'r str>);

/// The faulty row that ends a strict input: the number of the line, counted from 1, and the cause.
type Fault = (u64, String);

impl<'s> Labeller<'s> {
    pub(crate) fn new(
        session: &'s Session<'s>,
        input: &'s RowInput,
        (want, limits): (Want, RequestedLimits),
        size: Option<Size>,
    ) -> Self {
        Self { session, input, want, limits: session.label_limits(limits), size }
    }

    /// Labels all rows of an input on all threads.
    ///
    /// `new` creates an accumulator for each chunk of lines. `take` adds each row of the chunk to the accumulator.
    /// `take` receives the number of the line, counted from 1, the id of the row, how the board was read, and the
    /// outcome. `sink` receives the accumulators in the order of the chunks. With each accumulator, `sink` receives the
    /// position in the input after the rows in the accumulator.
    ///
    /// # Errors
    /// [`BatchError::File`]; [`BatchError::Job`] after a wrong solution; [`BatchError::FaultyRow`] if a row is faulty
    /// and the input is strict.
    pub(crate) fn label<T: Send>(
        &self,
        open: OpenInput,
        new: impl Fn() -> T + Sync,
        take: impl Fn(u64, RowNames<'_>, &RowOutcome, &mut T) + Sync,
        mut sink: impl FnMut(T, InputPosition) -> Result<(), BatchError>,
    ) -> Result<BatchEnding, BatchError> {
        let work = |chunk: &LineChunk, reader: &RowReader| {
            let mut made = new();
            let fault =
                self.label_chunk(chunk, reader, |line, names, outcome| take(line, names, outcome, &mut made))?;
            let end = chunk.end_before(fault.as_ref().map(|(line, _)| *line));
            Ok((made, end, fault))
        };
        self.session.chunks(open, work, |(made, end, fault): (T, _, Option<Fault>)| {
            sink(made, end)?;
            fault.map_or(Ok(()), |fault| Err(self.input.faulty_row(fault)))
        })
    }

    /// Labels the rows of a chunk, and passes each row to `take`. If the input is strict, stops at the first faulty
    /// row, and returns this row. Returns `None` if `take` has received all rows.
    fn label_chunk(
        &self,
        chunk: &LineChunk,
        reader: &RowReader,
        mut take: impl FnMut(u64, RowNames<'_>, &RowOutcome),
    ) -> Result<Option<Fault>, EarlyEnd> {
        let session = self.session;
        let load = |goal: &Board| {
            session.load_tables(goal, self.want);
            LoadedTables::default()
        };
        let mut solver = BatchSolver::with_load(session.resources.tables, self.want, self.limits, load);
        let rows = chunk.rows(reader).map(|(line, InputRow { id, read_as, puzzle })| {
            ((line, id, read_as), puzzle.and_then(|puzzle| self.check(&puzzle).map(|()| puzzle)))
        });
        let (cancel, mut fault) = ([session.resources.cancel], None);
        let end = label_rows(rows, &mut solver, session.control(&cancel), |(line, id, read_as), labelled| {
            let outcome = match labelled {
                LabelledRow::Solved(puzzle, label) => Ok((puzzle, label)),
                LabelledRow::Failed(_, LabelError::WrongSolution(wrong)) => return Err(JobError::from(wrong).into()),
                LabelledRow::Failed(..) => Err(RowError::internal().into()),
                LabelledRow::Faulty(problem) => Err(problem),
            };
            session.progress.count(outcome.as_ref().ok().map(|(_, label)| label.length));
            match &outcome {
                Err(problem) if self.input.is_strict => {
                    fault = Some((line, problem.to_line()));
                    return Err(EarlyEnd::Cancelled);
                }
                _ => take(line, (id.as_deref(), read_as.as_deref()), &outcome),
            }
            Ok(())
        });
        match end {
            _ if fault.is_some() => Ok(fault),
            Ok(RowsEnd::Exhausted) => Ok(None),
            Ok(RowsEnd::Cancelled) => Err(EarlyEnd::Cancelled),
            Err(end) => Err(end),
        }
    }

    /// Rejects a board whose size differs from the size of the output's boards. Also rejects a board that is too large
    /// for labels of this kind.
    fn check(&self, puzzle: &Puzzle) -> Result<(), Box<RowError>> {
        let own = puzzle.size();
        match self.size {
            Some(size) if size != own => {
                let detail = format!(
                    "CSV has boards of one size: the first board is {size}, and this one is {own}; NDJSON takes all sizes"
                );
                Err(goal_mismatch(&detail).into())
            }
            _ if !self.want.serves(own) => Err(unserved(own).into()),
            _ => Ok(()),
        }
    }
}

/// Reads the rows of a chunk. A row with another goal than `goal` is invalid.
fn stored_rows(chunk: &LineChunk, reader: &RowReader, goal: &Board) -> Vec<StoredRow> {
    let row = |(line, InputRow { id, puzzle, .. }): (u64, InputRow<'_>)| {
        let puzzle = puzzle.and_then(|puzzle| {
            if puzzle.goal() == goal { Ok(puzzle) } else { Err(other_goal(puzzle.goal(), goal).into()) }
        });
        StoredRow { line, id: id.map(Cow::into_owned), puzzle }
    };
    chunk.rows(reader).map(row).collect()
}
