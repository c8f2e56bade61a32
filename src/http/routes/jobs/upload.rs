//! Uploads: jobs whose boards are the rows of a body.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::http::request::Parts;
use taquin_bulk::rows::{InputRow, InputText, RowFormat, RowOptions, RowReader, other_goal, stored_problem, unserved};
use taquin_bulk::{FieldError, InputProblemsWriter, InputRecord, InputWriter, JobBoards, JobError, RowError};
use taquin_solver::{Board, Puzzle};

use super::caller::{Caller, blocking};
use super::failure::{of_create, too_large};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::request::{BodyDigest, parse_query};
use crate::http::routes::batch::lines::{Line, LineReceiver, LinesOf};
use crate::http::state::{AppState, BatchLimits};
use crate::jobs::{CreateError, Draft, NewFolder};

/// Maximum bytes of stored problems of an upload. A problem takes some hundred bytes; a faulty row may have only two.
const MAX_PROBLEM_BYTES: u64 = 64 << 20;

/// Reads rows, and stores their boards.
///
/// # Errors
/// The problem of the query, of the body, or of the disk.
pub(super) async fn draft(
    head: &Parts,
    format: RowFormat,
    body: Body,
    state: &AppState,
    caller: &Caller,
    key: Option<&str>,
) -> Result<Draft, Problem> {
    let (http, engine) = (state.settings, &caller.engine);
    let options = RowOptions::read(parse_query(head.uri.query().unwrap_or_default())?)?;
    let digest = BodyDigest::of(&head.headers)?;
    let settings = engine.settings();
    let (boards, bytes) = (usize::try_from(settings.max_boards).unwrap_or(usize::MAX), settings.max_body);
    let limits = BatchLimits { boards, bytes };
    let mut receiver = LineReceiver::new(body, LinesOf::Job, limits, http.body_timeout)?;
    receiver.digest = digest;
    receiver.text = Some(InputText::new(&options, &format));
    let (want, limits) = (options.want, options.limits);
    engine.check_upload(caller.owner, key).await.map_err(|error| of_create(&error))?;
    // A client that sends no lines gets no folder, and does not count as a job in creation.
    let mut lines = receiver.next().await?;
    let folder = engine.begin_upload(caller.owner, key).await.map_err(|error| of_create(&error))?;
    let mut packer = Packer::new(folder, options, format, settings.max_boards);
    while let Some(next) = lines {
        packer.folder.check_time().map_err(|error| of_create(&error))?;
        // Parsing blocks, so it runs on another thread.
        packer = blocking(move || packer.add(&next).map(|()| packer)).await??;
        lines = receiver.next().await?;
    }
    let (folder, record) = blocking(move || packer.finish()).await??;
    Ok(Draft { boards: JobBoards::Input(record), want, limits, folder: Some(folder) })
}

/// Stores rows as the input of a job.
struct Packer {
    folder: NewFolder,
    options: RowOptions,
    format: RowFormat,
    /// Set at the first line, which may be a header.
    reader: Option<RowReader>,
    max_rows: u64,
    rows: u64,
    /// Set at the first board, whose goal is the goal of the job.
    input: Option<(Board, InputWriter)>,
    /// Line and problem of the first invalid row.
    first_problem: Option<(u64, Problem)>,
    problems: InputProblemsWriter,
}

impl Packer {
    fn new(folder: NewFolder, options: RowOptions, format: RowFormat, max_rows: u64) -> Self {
        let problems = InputProblemsWriter::new(Arc::clone(folder.files())).at_most(MAX_PROBLEM_BYTES);
        let (reader, input, first_problem) = (None, None, None);
        Self { folder, options, format, reader, max_rows, rows: 0, input, first_problem, problems }
    }

    fn add(&mut self, lines: &[Line]) -> Result<(), Problem> {
        let mut lines = lines.iter();
        let reader = match self.reader.take() {
            Some(reader) => reader,
            None => {
                let Some(first) = lines.as_slice().first() else { return Ok(()) };
                let (reader, is_header) = RowReader::begin(self.options.clone(), &self.format, &first.text)?;
                if is_header {
                    lines.next();
                }
                reader
            }
        };
        for line in lines {
            self.row(line, reader.read(&line.text))?;
        }
        self.reader = Some(reader);
        Ok(())
    }

    fn row(&mut self, line: &Line, InputRow { id, puzzle, .. }: InputRow<'_>) -> Result<(), Problem> {
        if self.rows == self.max_rows {
            return Err(too_large(&format!("The job has more than {} boards", self.max_rows)));
        }
        let puzzle = puzzle.and_then(|puzzle| self.of_goal(puzzle).map_err(Box::new));
        if let Err(problem) = &puzzle {
            let text = stored_problem(self.rows, line.number, id.as_deref(), problem);
            self.problems.push(self.rows, &text).map_err(of_file)?;
            self.first_problem.get_or_insert_with(|| (line.number, RowError::clone(problem).into()));
        }
        self.rows += 1;
        match &mut self.input {
            Some((_, writer)) => writer.push(puzzle.as_ref().ok()).map_err(of_file),
            // The rows before the first board are written together with the first board.
            None => match puzzle {
                Ok(puzzle) => self.begin(&puzzle),
                Err(_) => Ok(()),
            },
        }
    }

    /// Rejects a puzzle with another goal than the job's.
    fn of_goal(&self, puzzle: Puzzle) -> Result<Puzzle, RowError> {
        match &self.input {
            Some((goal, _)) if puzzle.goal() != goal => Err(other_goal(puzzle.goal(), goal)),
            _ => Ok(puzzle),
        }
    }

    /// Starts the input, and writes the rows before the first board.
    fn begin(&mut self, first: &Puzzle) -> Result<(), Problem> {
        let size = first.goal().size();
        if !self.options.want.serves(size) {
            return Err(unserved(size).into());
        }
        let mut writer = InputWriter::new(Arc::clone(self.folder.files()), *first.goal()).map_err(of_file)?;
        for _ in 1..self.rows {
            writer.push(None).map_err(of_file)?;
        }
        writer.push(Some(first)).map_err(of_file)?;
        self.input = Some((*first.goal(), writer));
        Ok(())
    }

    fn finish(self) -> Result<(NewFolder, InputRecord), Problem> {
        let Some((_, writer)) = self.input else { return Err(no_board(self.rows, self.first_problem)) };
        let record = writer.finish(self.problems).map_err(of_file)?;
        Ok((self.folder, record))
    }
}

/// The problem of a body without a board.
fn no_board(rows: u64, first: Option<(u64, Problem)>) -> Problem {
    let (detail, problem) = match first {
        None => ("There are no boards. Send a line for each, for example [[8,6,7],[2,5,4],[3,0,1]].".to_owned(), None),
        Some((line, problem)) => {
            (format!("None of the {rows} rows is a board. Line {line}: {}", problem.detail), Some(problem))
        }
    };
    let missing = || vec![FieldError::new("", "missing-field", detail.clone())];
    let errors = problem.map(|problem| problem.errors).filter(|errors| !errors.is_empty()).unwrap_or_else(missing);
    Problem::new(ProblemKind::InvalidRequest, detail).with_errors(errors)
}

fn of_file(source: io::Error) -> Problem {
    of_create(&CreateError::Store(JobError::File { path: "upload".into(), source }))
}
