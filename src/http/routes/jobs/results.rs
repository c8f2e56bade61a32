//! `GET /jobs/{id}/results`: the rows of a job as lines.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::Method;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use taquin_bulk::fields::FieldReader;
use taquin_bulk::rows::LabelLines;
use taquin_bulk::{InputProblems, JobError, Row};
use taquin_solver::{Named, Puzzle};
use tokio::sync::Semaphore;
use tracing::{Instrument, Level, Span};

use super::caller::{Caller, blocking, check_untagged, report};
use super::part::{existing, existing_part, not_yet, number_of};
use crate::http::exchange::AccessLine;
use crate::http::media_type::MediaType;
use crate::http::negotiation::choose;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{service_failure, stream_head};
use crate::http::request::parse_query;
use crate::http::state::AppState;
use crate::jobs::{Job, JobEngine, JobState};
use crate::service::Reservation;

/// Most rows of a response.
const MAX_ROWS: u64 = 10_000_000;

/// Bytes of a piece of the response.
const PIECE: usize = 64 << 10;

/// Memory of a row of a part while its lines are written.
const BYTES_OF_A_ROW: usize = 24;

/// Handles GET.
pub(in crate::http::routes) async fn results(
    State(state): State<AppState>,
    caller: Caller,
    id: Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (method, headers) = (request.method(), request.headers());
    let media_type = choose(headers, &[MediaType::JsonLines, MediaType::Csv])?;
    let query = parse_query(request.uri().query().unwrap_or_default())?;
    let mut fields = FieldReader::new(query, None, &["part"]);
    let part = fields.parsed("part", |text| {
        number_of(text).ok_or_else(|| ("wrong-type", "`part` must be the number of a part, from 0".to_owned()))
    });
    fields.finish(Some(()))?;
    let job = caller.job(&id).await?;
    check_untagged(headers)?;
    let parts = match part {
        Some(part) => of_one_part(&caller, &job, part).await?,
        None => of_all(&caller, &job)?,
    };
    let spec = job.stored().spec();
    let lines = LabelLines::new(spec.boards.goal().size(), spec.want, spec.limits, media_type == MediaType::Csv);
    let reservation = reserve(&state, &caller, &job, parts.start).await?;
    let reservation = check(&caller, &job, parts.clone(), !lines.is_csv(), reservation).await?;
    let mut response = stream_head(media_type);
    if method == Method::HEAD {
        return Ok(response);
    }
    let writer = RowWriter::new(&caller, job, lines, parts, reservation);
    let span = Span::current();
    let line = AccessLine::of(request.extensions())?.for_stream();
    line.end_stream();
    *response.body_mut() = Body::from_stream(unfold((Some(writer), line), move |(writer, line)| {
        let piece = async {
            Some(match next_piece(writer?).await.transpose()? {
                Ok((piece, writer)) => (Ok(piece), (Some(writer), line)),
                Err(error) => (Err(error), (None, line)),
            })
        };
        piece.instrument(span.clone())
    }));
    Ok(response)
}

/// Checks the files before the first byte is sent. If the client leaves meanwhile, the check goes on, with its memory
/// and its permit.
async fn check(
    caller: &Caller,
    job: &Arc<Job>,
    parts: Range<u64>,
    has_problems: bool,
    reservation: Reservation,
) -> Result<Reservation, Problem> {
    let reader = Arc::clone(&caller.readers).acquire_owned().await.map_err(|_| Problem::internal())?;
    let engine = Arc::clone(&caller.engine);
    let checked = move |job: &Job| {
        let _reader = reader;
        engine.check_rows(job, parts, has_problems).map(|()| reservation)
    };
    caller.read(job, checked).await
}

/// Reserves the memory of the response for parts from `first` on.
async fn reserve(state: &AppState, caller: &Caller, job: &Arc<Job>, first: u64) -> Result<Reservation, Problem> {
    // Solutions take most of a part, and parts of a job have solutions of similar length.
    let length = caller.read(job, move |job| job.stored().part_length(first)).await?;
    let rows = job.stored().spec().boards_of(first);
    let part = 2 * length.unwrap_or_default() as usize + (rows.end - rows.start) as usize * BYTES_OF_A_ROW;
    // Where there is little memory, a response that needs more than others is better than none.
    let most = state.service.settings().reply_memory as usize / 4;
    let memory = (part + 4 * PIECE).min(most);
    state.service.reserve_reply(caller.token, memory).map_err(|error| service_failure(&error))
}

async fn of_one_part(caller: &Caller, job: &Arc<Job>, part: u64) -> Result<Range<u64>, Problem> {
    let number = existing(Some(part), job)?;
    let found = move |job: &Job| existing_part(job, number, job.stored().has_part(number)?.then_some(()));
    match caller.read(job, found).await? {
        Some(()) => Ok(number..number + 1),
        None => Err(not_yet(job, number)),
    }
}

fn of_all(caller: &Caller, job: &Job) -> Result<Range<u64>, Problem> {
    let spec = job.stored().spec();
    let count = spec.boards.count();
    if count > MAX_ROWS {
        let detail = format!(
            "The job has {count} rows, and as text they would take gigabytes; at most {MAX_ROWS} are written. Get the \
             parts, `/jobs/{id}/parts/0` and so on, or the rows of one part by `?part=0`.",
            id = job.id(),
        );
        return Err(Problem::new(ProblemKind::ResultsTooLarge, detail));
    }
    let state = job.state();
    if state == JobState::Completed {
        return Ok(0..spec.chunks());
    }
    let stored = format!("Each stored part is there: see `/jobs/{id}/parts/0`, or `?part=0`.", id = job.id());
    let detail = match (state, caller.engine.view(job).reason) {
        (JobState::Failed, Some(reason)) => format!("The job has failed, so that it has no results: {reason}."),
        (state, _) if state.is_ended() => {
            format!("The job is {}. There are no results of the whole job. {stored}", state.name())
        }
        (state, _) => format!("The job is {}. Its results are there when it is completed. {stored}", state.name()),
    };
    Err(Problem::new(ProblemKind::NotFound, detail))
}

/// Has a writer write its next piece; `None` after the last one. No thread is held while the client reads a piece, and
/// no permit while the store is read.
///
/// # Errors
/// Errors of the files. The response then ends early, so that the client sees that it was cut.
async fn next_piece(mut writer: RowWriter) -> io::Result<Option<(Bytes, RowWriter)>> {
    let id = writer.job.id();
    let piece = async {
        loop {
            if writer.rows.is_none() {
                let loaded = blocking(move || {
                    writer.load().map_err(|error| writer.cut(error)).map(|is_loaded| is_loaded.then_some(writer))
                })
                .await;
                let Some(loaded) = loaded.map_err(|problem| io::Error::other(problem.detail))?? else {
                    return Ok(None);
                };
                writer = loaded;
            }
            let reader = Arc::clone(&writer.readers).acquire_owned().await.map_err(io::Error::other)?;
            let write = move || {
                let _reader = reader;
                writer.piece().map_err(|error| writer.cut(error)).map(|piece| (piece, writer))
            };
            let written = blocking(write).await;
            let (piece, after) = written.map_err(|problem| io::Error::other(problem.detail))??;
            if !piece.is_empty() {
                return Ok(Some((piece.into(), after)));
            }
            writer = after;
        }
    };
    piece.await.inspect_err(|error| {
        tracing::event!(target: "taquin::jobs", Level::ERROR, message = "results cannot be read", job.id = %id, %error);
    })
}

/// Writes rows piece by piece.
struct RowWriter {
    engine: Arc<JobEngine>,
    job: Arc<Job>,
    lines: LabelLines,
    problems: InputProblems,
    has_header: bool,
    /// The parts that are not begun.
    parts: Range<u64>,
    /// The rows of a part that are left.
    rows: Option<PartRows>,
    /// Writers take turns, so that they leave time for searches.
    readers: Arc<Semaphore>,
    _reservation: Reservation,
}

type PartRows = Box<dyn Iterator<Item = (u64, Option<Puzzle>, Row)> + Send>;

impl RowWriter {
    fn new(caller: &Caller, job: Arc<Job>, lines: LabelLines, parts: Range<u64>, _reservation: Reservation) -> Self {
        let problems = InputProblems::new(job.stored().spec().boards.problems());
        let (engine, readers) = (Arc::clone(&caller.engine), Arc::clone(&caller.readers));
        Self { engine, job, lines, problems, has_header: false, parts, rows: None, readers, _reservation }
    }

    /// Notes why the response ends early: the next request has the reason.
    fn cut(&self, error: JobError) -> io::Error {
        drop(report(&self.engine, &self.job, &error));
        io::Error::other(error)
    }

    /// Reads the next part. Returns false if there is none.
    fn load(&mut self) -> Result<bool, JobError> {
        let Some(chunk) = self.parts.next() else { return Ok(false) };
        self.rows = Some(Box::new(self.job.stored().rows(chunk)?));
        Ok(true)
    }

    /// Writes rows of the part until the piece is long enough, or there are no more. It is empty if there were none.
    fn piece(&mut self) -> Result<Vec<u8>, JobError> {
        let mut out = Vec::with_capacity(PIECE + PIECE / 8);
        if !std::mem::replace(&mut self.has_header, true) {
            self.lines.header(&mut out);
        }
        while out.len() < PIECE {
            let Some((index, board, row)) = self.rows.as_mut().and_then(Iterator::next) else {
                // The memory of a part is free before the next one is read.
                self.rows = None;
                break;
            };
            self.row(index, board.as_ref(), &row, &mut out)?;
        }
        Ok(out)
    }

    fn row(&mut self, index: u64, board: Option<&Puzzle>, row: &Row, out: &mut Vec<u8>) -> Result<(), JobError> {
        if *row == Row::Invalid
            && !self.lines.is_csv()
            && let stored = self.job.stored()
            && let Some(line) = self.problems.of(stored.files(), index).map_err(|source| stored.input_error(source))?
        {
            out.extend_from_slice(&line);
            return Ok(());
        }
        self.lines.write(index, board.map(Puzzle::start), row, out);
        Ok(())
    }
}
