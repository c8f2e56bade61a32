//! `GET /jobs/{id}/results`: the rows of a job as lines.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use tokio::sync::mpsc::{Sender, channel};
use tracing::Level;

use super::caller::Caller;
use super::failure::of_store;
use super::part::{existing, not_yet, number_of};
use crate::domain::Puzzle;
use crate::http::exchange::DeferredBody;
use crate::http::media_type::MediaType;
use crate::http::negotiation::choose;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{service_failure, stream_head};
use crate::http::request::{FieldReader, RequestFields, parse_query};
use crate::http::rows::LabelLines;
use crate::http::state::AppState;
use crate::jobs::{InputProblems, Job, JobState, Row};
use crate::search::Named;

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
    let mut fields = FieldReader::new(RequestFields { query, body: None, get_target: None }, &["part"]);
    let part = fields.parsed("part", |text| {
        number_of(text).ok_or_else(|| ("wrong-type", "`part` must be the number of a part, from 0".to_owned()))
    });
    fields.finish(Some(()))?;
    let job = caller.job(&id).await?;
    let parts = match part {
        Some(part) => of_one_part(&job, part).await?,
        None => of_all(&job)?,
    };
    let spec = job.stored().spec();
    let lines = LabelLines::new(spec.boards.goal().size(), spec.want, spec.limits, media_type == MediaType::Csv);
    let mut response = stream_head(media_type);
    if method == Method::HEAD {
        return Ok(response);
    }
    // Where there is little memory, a response that needs more than others is better than none.
    let most = state.service().settings().reply_memory as usize / 4;
    let memory = (spec.chunk as usize * BYTES_OF_A_ROW + 4 * PIECE).min(most);
    let reservation = state.service().reserve_reply(memory).map_err(|error| service_failure(&error))?;
    let (sender, receiver) = channel(2);
    tokio::task::spawn_blocking(move || {
        let _reservation = reservation;
        let problems = InputProblems::new(job.stored().files());
        RowWriter { job: &job, lines, problems, sender: &sender }.run(parts);
    });
    response.extensions_mut().insert(DeferredBody::new(move |mut line, _| {
        line.status = StatusCode::OK;
        Body::from_stream(unfold((receiver, line), |(mut receiver, line)| async {
            let piece: io::Result<Bytes> = receiver.recv().await?;
            Some((piece, (receiver, line)))
        }))
    }));
    Ok(response)
}

async fn of_one_part(job: &Arc<Job>, part: u64) -> Result<Range<u64>, Problem> {
    let number = existing(Some(part), job)?;
    let job = Arc::clone(job);
    let look = tokio::task::spawn_blocking(move || job.stored().has_part(number));
    let is_there = look.await.map_err(|_| Problem::internal())?.map_err(|error| of_store(&error))?;
    if is_there { Ok(number..number + 1) } else { Err(not_yet(number)) }
}

fn of_all(job: &Job) -> Result<Range<u64>, Problem> {
    let spec = job.stored().spec();
    let count = spec.boards.count();
    if count > MAX_ROWS {
        let detail = format!(
            "The job has {count} rows, and as text they would take gigabytes; at most {MAX_ROWS} are written. Get the \
             parts, `/jobs/{{id}}/parts/0` and so on, the rows of one part by `?part=0`, or run `taquin batch` on the \
             directory of the job."
        );
        return Err(Problem::new(ProblemKind::ResultsTooLarge, detail));
    }
    let state = job.state();
    if state == JobState::Completed {
        return Ok(0..spec.chunks());
    }
    let detail = format!(
        "The job is {}; its results are there when it is completed. Each stored part is there before: see \
         `/jobs/{{id}}/parts/0`, or `?part=0`.",
        state.name()
    );
    Err(Problem::new(ProblemKind::NotFound, detail))
}

/// Writes rows in pieces, on a thread that waits for the client.
struct RowWriter<'j> {
    job: &'j Arc<Job>,
    lines: LabelLines,
    problems: InputProblems<'j>,
    sender: &'j Sender<io::Result<Bytes>>,
}

impl RowWriter<'_> {
    /// Writes the rows of parts. After an error the response ends early, so that the client sees that it was cut.
    fn run(mut self, parts: Range<u64>) {
        if let Err(error) = self.write(parts)
            && error.kind() != ErrorKind::BrokenPipe
        {
            tracing::event!(target: "taquin::jobs", Level::ERROR, message = "results cannot be read", job.id = %self.job.id(), %error);
            let _ = self.sender.blocking_send(Err(error));
        }
    }

    fn write(&mut self, parts: Range<u64>) -> io::Result<()> {
        let mut out = Vec::with_capacity(PIECE + PIECE / 8);
        self.lines.header(&mut out);
        let stored = self.job.stored();
        for chunk in parts {
            let (part, _) = stored.part(chunk).map_err(io::Error::other)?.ok_or(ErrorKind::NotFound)?;
            let indices = stored.spec().boards_of(chunk);
            let boards = stored.boards(indices.clone()).map_err(io::Error::other)?;
            for ((index, board), row) in indices.zip(boards).zip(part.rows()) {
                self.row(index, board.as_ref(), &row, &mut out)?;
                if out.len() >= PIECE {
                    let rest = Vec::with_capacity(out.capacity());
                    self.send(std::mem::replace(&mut out, rest))?;
                }
            }
        }
        self.send(out)
    }

    fn row(&mut self, index: u64, board: Option<&Puzzle>, row: &Row, out: &mut Vec<u8>) -> io::Result<()> {
        if *row == Row::Invalid
            && !self.lines.is_csv()
            && let Some(line) = self.problems.of(index)?
        {
            out.extend_from_slice(&line);
            return Ok(());
        }
        self.lines.write(index, board.map(Puzzle::start), row, out);
        Ok(())
    }

    fn send(&self, piece: Vec<u8>) -> io::Result<()> {
        // The client has left.
        self.sender.blocking_send(Ok(piece.into())).map_err(|_| ErrorKind::BrokenPipe.into())
    }
}
