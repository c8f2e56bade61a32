//! Labels of the rows of an input: as lines, or as the input of a job.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use taquin_solver::{Board, Puzzle, Size};

use super::arguments::TextOutput;
use super::console::{counted, say};
use super::formats::TextFormat;
use super::input::{BlockSize, LineBlock, OpenInput, RowInput, no_rows};
use super::line_output::{LineOutput, Lines};
use super::unfinished::InputPosition;
use super::{BatchError, Session, TaskEnd};
use crate::http::{
    InputRow, LabelLines, Problem, RowReader, goal_mismatch, other_goal, row_json, stored_problem, unserved,
};
use crate::jobs::{
    CsvColumns, Directory, Files, InputProblemsWriter, InputRecord, InputWriter, Row, map_in_order, row_of,
};
use crate::service::{Label, MixedSweep, RequestedLimits, SweepContext, SweepLimits, SweepTables, Want};

/// What is written about each row.
#[derive(Clone, Copy)]
pub(super) enum RowLines {
    Ndjson,
    /// Boards of one size. Problems are written elsewhere.
    Csv(CsvColumns),
}

/// What became of a block.
struct LabelledBlock {
    lines: Lines,
    /// Where the input goes on behind the rows of the lines.
    end: InputPosition,
    /// The faulty row at which it ends, if the input is strict: its line, and what is wrong.
    fault: Option<(u64, String)>,
}

/// A row of an input that a directory stores.
struct StoredRow {
    line: u64,
    id: Option<Vec<u8>>,
    puzzle: Result<Puzzle, Box<Problem>>,
}

/// Why the blocks end early.
pub(super) enum Early {
    Cancelled,
    Failed(BatchError),
}

impl From<BatchError> for Early {
    fn from(error: BatchError) -> Self {
        Self::Failed(error)
    }
}

impl Session {
    /// Writes the labels of an input as lines.
    ///
    /// # Errors
    /// [`BatchError::File`], and [`BatchError::FaultyRow`] if the input is strict.
    pub(super) fn solve_rows(
        &self,
        input: &RowInput,
        want: Want,
        limits: RequestedLimits,
        output: &TextOutput,
    ) -> Result<TaskEnd, BatchError> {
        let mut open = input.open()?;
        let lines = match output.format {
            TextFormat::Ndjson => RowLines::Ndjson,
            TextFormat::Csv => RowLines::Csv(LabelLines::columns(open.first_goal()?.size(), want, limits)),
        };
        let mut file = LineOutput::open(output, self.run_of_rows(input, output.format))?;
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
        let (limits, is_strict) = (self.sweep_limits(limits), input.is_strict);
        let labeller = Labeller { session: self, want, limits, lines, size, is_strict };
        let label = |block: &LineBlock, reader: &RowReader| labeller.block(block, reader);
        let sink = |block: LabelledBlock| {
            position.rows += block.lines.count;
            position.failed += block.lines.failed;
            position.input = block.end;
            file.write(&block.lines, &position)?;
            block.fault.map_or(Ok(()), |fault| Err(input.faulty_row(fault).into()))
        };
        let end = self.shown(|| match self.blocks(open, label, sink)? {
            TaskEnd::Clean if self.progress.end_of_input() == 0 => Err(no_rows(input.path())),
            end => Ok(end),
        });
        // Rows that were written before a failure remain.
        let is_whole = matches!(end, Ok(TaskEnd::Clean | TaskEnd::RowsFailed));
        let finished = file.finish(is_whole);
        let end = end?;
        finished.map(|()| end)
    }

    /// Passes the blocks of an input to `work` on all threads, and the results to `sink` in their order.
    pub(super) fn blocks<T: Send>(
        &self,
        input: OpenInput,
        work: impl Fn(&LineBlock, &RowReader) -> Result<T, Early> + Sync,
        mut sink: impl FnMut(T) -> Result<(), Early>,
    ) -> Result<TaskEnd, BatchError> {
        let (size, read, length) = (BlockSize::new(), AtomicU64::new(0), input.length);
        let (reader, blocks) = input.blocks(&size);
        let blocks = blocks.take_while(|_| !self.is_cancelled());
        let timed = |block: Result<LineBlock, BatchError>| {
            let (begun, block) = (Instant::now(), block?);
            let done = work(&block, &reader)?;
            size.note(begun.elapsed());
            let read = read.fetch_add(block.length(), Ordering::Relaxed) + block.length();
            self.progress.estimate_total(read, length);
            Ok(done)
        };
        let end = map_in_order(self.threads, blocks, timed, |done: Result<T, Early>| sink(done?));
        match end {
            Err(Early::Failed(error)) => Err(error),
            Err(Early::Cancelled) => Ok(TaskEnd::Cancelled),
            Ok(()) if self.is_cancelled() => Ok(TaskEnd::Cancelled),
            Ok(()) => {
                self.progress.end_of_input();
                Ok(self.end())
            }
        }
    }

    /// Stores the rows of an input in the directory of a job, or compares them with those that it has. Returns `None`
    /// if it is cancelled.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(super) fn store_input(&self, input: &RowInput, directory: &Path) -> Result<Option<InputRecord>, BatchError> {
        let error = |source| BatchError::File { path: directory.to_owned(), source };
        let mut open = input.open()?;
        let goal = open.first_goal()?;
        let files = Directory::create(directory).map_err(error)?;
        let files: Arc<dyn Files> = Arc::new(files);
        let mut writer = InputWriter::new(Arc::clone(&files), goal).map_err(error)?;
        let (mut problems, mut faulty) = (InputProblemsWriter::new(files), 0);
        let end = self.blocks(
            open,
            |block, reader| Ok(stored_rows(block, reader, &goal)),
            |rows: Vec<StoredRow>| {
                for row in rows {
                    if let Err(problem) = &row.puzzle {
                        if input.is_strict {
                            return Err(input.faulty_row((row.line, text_of(problem))).into());
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
        if end == TaskEnd::Cancelled {
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

/// Labels rows for lines.
pub(super) struct Labeller<'s> {
    pub(super) session: &'s Session,
    pub(super) want: Want,
    pub(super) limits: SweepLimits,
    pub(super) lines: RowLines,
    /// The size of all boards, if the output has boards of one size.
    pub(super) size: Option<Size>,
    pub(super) is_strict: bool,
}

/// Takes a row: the number of its line, its id, and its label.
pub(super) type TakeRow<'t> = dyn FnMut(u64, Option<&[u8]>, &LabelledRow) + 't;

/// A row with its label, or with what is wrong with it.
pub(super) type LabelledRow = Result<(Puzzle, Label), Box<Problem>>;

impl Labeller<'_> {
    fn block(&self, block: &LineBlock, reader: &RowReader) -> Result<LabelledBlock, Early> {
        let mut lines = Lines::default();
        let fault = self.each(block, reader, &mut |line, id, label| self.append(line, id, label, &mut lines))?;
        let end = block.end_before(fault.as_ref().map(|(line, _)| *line));
        Ok(LabelledBlock { lines, end, fault })
    }

    /// Calls `take` with the rows of a block as they are labelled. Returns the faulty row at which a strict input ends.
    pub(super) fn each(
        &self,
        block: &LineBlock,
        reader: &RowReader,
        take: &mut TakeRow<'_>,
    ) -> Result<Option<(u64, String)>, Early> {
        let mut sweep = MixedSweep::new(&self.session.tables, self.want, self.limits);
        for (line, InputRow { id, puzzle }) in block.rows(reader) {
            if self.session.is_cancelled() {
                return Err(Early::Cancelled);
            }
            let label = match puzzle.and_then(|puzzle| self.check(&puzzle).map(|()| puzzle)) {
                Ok(puzzle) => self.label(&puzzle, &mut sweep)?.map(|label| (puzzle, label)),
                Err(problem) => Err(problem),
            };
            let row = label.as_ref().map_or(Row::Invalid, |(_, label)| Row::Solved(label.clone()));
            self.session.progress.count(&row);
            match &label {
                Err(problem) if self.is_strict => return Ok(Some((line, text_of(problem)))),
                _ => take(line, id.as_deref(), &label),
            }
        }
        Ok(None)
    }

    /// Rejects a board that the file cannot have.
    fn check(&self, puzzle: &Puzzle) -> Result<(), Box<Problem>> {
        let own = puzzle.size();
        match self.size {
            Some(size) if size != own => {
                let detail = format!(
                    "CSV has boards of one size: the first board is {size}, and this one is {own}; NDJSON takes all sizes"
                );
                Err(goal_mismatch(&detail).into())
            }
            _ => Ok(()),
        }
    }

    fn label(&self, puzzle: &Puzzle, sweep: &mut MixedSweep<'_>) -> Result<Result<Label, Box<Problem>>, Early> {
        let load = || {
            self.session.load_tables(puzzle.goal(), self.want);
            SweepTables::default()
        };
        let Some(sweep) = sweep.of(puzzle.goal(), load) else { return Ok(Err(unserved(puzzle.size()).into())) };
        let context = SweepContext { cancel: &[&self.session.cancel], helpers: None };
        let row = row_of(sweep.label(puzzle, context), puzzle, &self.session.metrics);
        match row.map_err(BatchError::from)? {
            Some(Row::Solved(label)) => Ok(Ok(label)),
            Some(row) => Ok(Err(LabelLines::problem(&row).into())),
            None => Err(Early::Cancelled),
        }
    }

    fn append(&self, line: u64, id: Option<&[u8]>, label: &LabelledRow, out: &mut Lines) {
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

/// A problem in one line: its detail, and its errors if there are several.
fn text_of(problem: &Problem) -> String {
    let errors = problem.errors.iter().filter(|_| problem.errors.len() > 1);
    let errors = errors.map(|error| format!(" {}: {}.", error.pointer, error.detail));
    format!("{}{}", problem.detail, errors.collect::<String>())
}

/// The rows of a block, of which those with another goal are no boards.
fn stored_rows(block: &LineBlock, reader: &RowReader, goal: &Board) -> Vec<StoredRow> {
    let row = |(line, InputRow { id, puzzle }): (u64, InputRow<'_>)| {
        let puzzle = puzzle.and_then(|puzzle| {
            if puzzle.goal() == goal { Ok(puzzle) } else { Err(other_goal(puzzle.goal(), goal).into()) }
        });
        StoredRow { line, id: id.map(Cow::into_owned), puzzle }
    };
    block.rows(reader).map(row).collect()
}
