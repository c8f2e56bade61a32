//! Labels the rows of an input as lines, or stores the rows as the input of a job.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::rows::{InputRow, LabelLines, RowReader, goal_mismatch, other_goal, row_json, stored_problem, unserved};
use crate::{
    BatchSolver, CsvColumns, Directory, Files, InputProblemsWriter, InputRecord, InputWriter, JobError, Label,
    LabelError, LabelLimits, LabelledRow, LoadedTables, RequestedLimits, Row, RowError, RowsEnd, Want, label_rows,
    map_in_order,
};
use taquin_solver::{Board, Puzzle, Size};

use super::arguments::TextOutput;
use super::console::{counted, say};
use super::input::{ChunkBytes, LineChunk, OpenInput, RowInput, no_rows};
use super::line_output::{LineOutput, Lines};
use super::unfinished::InputPosition;
use super::values::TextFormat;
use super::{BatchEnding, BatchError, Session};

/// Format of the output, with the columns of CSV.
#[derive(Clone, Copy)]
pub(crate) enum RowLines {
    Ndjson,
    /// Boards of one size. Problems are written to a file of their own.
    Csv(CsvColumns),
}

/// Result of a chunk.
struct LabelledChunk {
    lines: Lines,
    /// Position in the input after the last row of `lines`.
    end: InputPosition,
    /// Line and cause of the faulty row at which a strict input stops.
    fault: Option<(u64, String)>,
}

/// A row of an input that a directory stores.
struct StoredRow {
    line: u64,
    id: Option<Vec<u8>>,
    puzzle: Result<Puzzle, Box<RowError>>,
}

pub(crate) enum EarlyEnd {
    Cancelled,
    Failed(BatchError),
}

impl From<BatchError> for EarlyEnd {
    fn from(error: BatchError) -> Self {
        Self::Failed(error)
    }
}

impl Session<'_> {
    /// Writes the labels of an input as lines.
    ///
    /// # Errors
    /// [`BatchError::File`], and [`BatchError::FaultyRow`] if the input is strict.
    pub(crate) fn solve_rows(
        &self,
        input: &RowInput,
        want: Want,
        limits: RequestedLimits,
        output: &TextOutput,
    ) -> Result<BatchEnding, BatchError> {
        let mut open = input.open()?;
        let lines = match output.format {
            TextFormat::Ndjson => RowLines::Ndjson,
            TextFormat::Csv => RowLines::Csv(LabelLines::columns(open.first_goal()?.size(), want, limits)),
        };
        let mut file = LineOutput::open(output, self.identity_of_rows(input, output.format))?;
        let mut position = file.position();
        open.skip_to(position.input.lines)?;
        position.input = open.position();
        file.check_input(&position.input)?;
        self.progress.note_resumed(position.rows, position.failed);
        if let (RowLines::Csv(columns), true) = (lines, file.is_empty()) {
            let mut header = Lines::default();
            columns.header(&mut header.rows);
            file.write(&header, &position)?;
        }
        let size = if let RowLines::Csv(columns) = lines { Some(columns.size) } else { None };
        let (limits, is_strict) = (self.label_limits(limits), input.is_strict);
        let labeller = Labeller { session: self, want, limits, lines, size, is_strict };
        let label = |chunk: &LineChunk, reader: &RowReader| labeller.label_chunk(chunk, reader);
        let sink = |chunk: LabelledChunk| {
            position.rows += chunk.lines.count;
            position.failed += chunk.lines.failed;
            position.input = chunk.end;
            file.write(&chunk.lines, &position)?;
            chunk.fault.map_or(Ok(()), |fault| Err(input.faulty_row(fault).into()))
        };
        let end = self.shown(|| match self.chunks(open, label, sink)? {
            BatchEnding::Clean if self.progress.end_of_input() == 0 => Err(no_rows(input.path())),
            end => Ok(end),
        });
        // Rows that were written before a failure remain.
        let is_whole = matches!(end, Ok(BatchEnding::Clean | BatchEnding::RowsFailed));
        let finished = file.finish(is_whole);
        let end = end?;
        finished.map(|()| end)
    }

    /// Passes the chunks of an input to `work` on all threads, and the results to `sink` in order.
    pub(crate) fn chunks<T: Send>(
        &self,
        input: OpenInput,
        work: impl Fn(&LineChunk, &RowReader) -> Result<T, EarlyEnd> + Sync,
        mut sink: impl FnMut(T) -> Result<(), EarlyEnd>,
    ) -> Result<BatchEnding, BatchError> {
        let (size, read, length) = (ChunkBytes::new(), AtomicU64::new(0), input.length);
        let (reader, chunks) = input.chunks(&size);
        let chunks = chunks.take_while(|_| !self.is_cancelled());
        let timed = |chunk: Result<LineChunk, BatchError>| {
            let (begun, chunk) = (Instant::now(), chunk?);
            let done = work(&chunk, &reader)?;
            size.note(begun.elapsed());
            let read = read.fetch_add(chunk.length(), Ordering::Relaxed) + chunk.length();
            self.progress.estimate_total(read, length);
            Ok(done)
        };
        let end = map_in_order(self.resources.threads, chunks, timed, |done: Result<T, EarlyEnd>| sink(done?));
        match end {
            Err(EarlyEnd::Failed(error)) => Err(error),
            Err(EarlyEnd::Cancelled) => Ok(BatchEnding::Cancelled),
            Ok(()) if self.is_cancelled() => Ok(BatchEnding::Cancelled),
            Ok(()) => {
                self.progress.end_of_input();
                Ok(self.end())
            }
        }
    }

    /// Stores the rows of an input in the directory of a job, or compares the rows with the stored rows. Returns `None`
    /// if cancelled.
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
                            return Err(input.faulty_row((row.line, problem.to_line())).into());
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

/// Labels the rows of chunks.
pub(crate) struct Labeller<'s> {
    pub(crate) session: &'s Session<'s>,
    pub(crate) want: Want,
    pub(crate) limits: LabelLimits,
    pub(crate) lines: RowLines,
    /// The size of all boards, if the output has boards of one size.
    pub(crate) size: Option<Size>,
    pub(crate) is_strict: bool,
}

enum Stop {
    /// Line and cause of the faulty row at which a strict input stops.
    Fault(u64, String),
    Failed(BatchError),
}

/// Sink of rows: line number, id, and label or error.
pub(crate) type RowSink<'t> = dyn FnMut(u64, Option<&[u8]>, &RowOutcome) + 't;

/// Puzzle and label of a row, or the error of the row.
pub(crate) type RowOutcome = Result<(Puzzle, Label), Box<RowError>>;

impl Labeller<'_> {
    fn label_chunk(&self, chunk: &LineChunk, reader: &RowReader) -> Result<LabelledChunk, EarlyEnd> {
        let mut lines = Lines::default();
        let fault = self.each(chunk, reader, &mut |line, id, label| self.append(line, id, label, &mut lines))?;
        let end = chunk.end_before(fault.as_ref().map(|(line, _)| *line));
        Ok(LabelledChunk { lines, end, fault })
    }

    /// Labels the rows of a chunk, and passes each row to `take`. Returns line and cause of the faulty row at which a
    /// strict input stops.
    pub(crate) fn each(
        &self,
        chunk: &LineChunk,
        reader: &RowReader,
        take: &mut RowSink<'_>,
    ) -> Result<Option<(u64, String)>, EarlyEnd> {
        let session = self.session;
        let load = |goal: &Board| {
            session.load_tables(goal, self.want);
            LoadedTables::default()
        };
        let mut solver = BatchSolver::with_load(session.resources.tables, self.want, self.limits, load);
        let rows = chunk.rows(reader).map(|(line, InputRow { id, puzzle })| {
            ((line, id), puzzle.and_then(|puzzle| self.check(&puzzle).map(|()| puzzle)))
        });
        let cancel = [session.resources.cancel];
        let end = label_rows(rows, &mut solver, session.control(&cancel), |(line, id), labelled| {
            let outcome = match labelled {
                LabelledRow::Solved(puzzle, label) => Ok((puzzle, label)),
                LabelledRow::Failed(_, LabelError::WrongSolution(wrong)) => {
                    return Err(Stop::Failed(JobError::from(wrong).into()));
                }
                LabelledRow::Failed(..) => Err(RowError::internal().into()),
                LabelledRow::Faulty(problem) => Err(problem),
            };
            session.progress.count(outcome.as_ref().ok().map(|(_, label)| label.length));
            match &outcome {
                Err(problem) if self.is_strict => return Err(Stop::Fault(line, problem.to_line())),
                _ => take(line, id.as_deref(), &outcome),
            }
            Ok(())
        });
        match end {
            Ok(RowsEnd::Exhausted) => Ok(None),
            Ok(RowsEnd::Cancelled) => Err(EarlyEnd::Cancelled),
            Err(Stop::Fault(line, text)) => Ok(Some((line, text))),
            Err(Stop::Failed(error)) => Err(error.into()),
        }
    }

    /// Rejects a board of another size than the file, or without labels of this kind.
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

    fn append(&self, line: u64, id: Option<&[u8]>, label: &RowOutcome, out: &mut Lines) {
        out.count += 1;
        out.failed += u64::from(label.is_err());
        let RowLines::Csv(columns) = self.lines else {
            let label = label.as_ref().map(|(_, label)| label).map_err(|problem| &**problem);
            return row_json(line, id, label, self.want, &mut out.rows);
        };
        match label {
            Ok((puzzle, label)) => columns.line(Some(puzzle.start()), &Row::Solved(label.clone()), &mut out.rows),
            Err(problem) => {
                columns.line(None, &Row::Invalid, &mut out.rows);
                row_json(line, id, Err(problem), self.want, &mut out.problems);
            }
        }
    }
}

/// Reads the rows of a chunk. A row with another goal is invalid.
fn stored_rows(chunk: &LineChunk, reader: &RowReader, goal: &Board) -> Vec<StoredRow> {
    let row = |(line, InputRow { id, puzzle }): (u64, InputRow<'_>)| {
        let puzzle = puzzle.and_then(|puzzle| {
            if puzzle.goal() == goal { Ok(puzzle) } else { Err(other_goal(puzzle.goal(), goal).into()) }
        });
        StoredRow { line, id: id.map(Cow::into_owned), puzzle }
    };
    chunk.rows(reader).map(row).collect()
}
