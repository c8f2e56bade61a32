//! `POST /batch`: many boards, a line each, solved with the workers that no other request needs.
//!
//! The whole body is read before the first byte of the response, since most clients read nothing before they have sent
//! all (docs/adr/0022). The boards are solved meanwhile.

pub(super) mod lines;
mod reply;
mod work;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Extension, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use taquin_bulk::rows::{InputText, RowFormat, RowOptions};

use crate::http::exchange::{AccessLine, instance};
use crate::http::guard::{RateTicket, token_digest};
use crate::http::media_type::MediaType;
use crate::http::negotiation::choose;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{service_failure, stream_head};
use crate::http::request::{essence, parse_query};
use crate::http::state::AppState;
use crate::service::{BulkError, BulkHandle, BulkWork};
use lines::{LineReceiver, LinesOf};
use reply::BatchReply;
use work::BatchWork;

/// The media types of a body, as a list for a header.
pub(super) const MEDIA_TYPES: &str = "application/x-ndjson, application/jsonl, text/csv, application/json";

/// Boards that count as one request against the rate limit of a client.
const BOARDS_PER_REQUEST: u64 = 1_000;

/// Handles POST.
pub(crate) async fn batch(
    State(state): State<AppState>,
    ticket: Option<Extension<RateTicket>>,
    request: Request,
) -> Result<Response, Problem> {
    let begun = Instant::now();
    let (line, instance) = (AccessLine::of(request.extensions())?.clone(), instance(request.uri()));
    let (mut receiver, work, handle) = begin(&state, request)?;
    while let Some(lines) = receiver.next().await? {
        work.add(lines, receiver.received())?;
        handle.wake();
    }
    let boards = work.complete()?;
    handle.wake();
    if let Some(Extension(ticket)) = ticket {
        ticket.take(boards / BOARDS_PER_REQUEST);
    }
    let mut response = stream_head(MediaType::JsonLines);
    *response.body_mut() = BatchReply::body(work, handle, begun, line.for_stream(), instance);
    Ok(response)
}

/// Begins the work on the lines of a request, which are not read yet.
fn begin(state: &AppState, request: Request) -> Result<(LineReceiver, Arc<BatchWork>, BulkHandle), Problem> {
    let (service, settings) = (&state.service, state.settings);
    let (head, body) = request.into_parts();
    let (options, format) = read_head(&head, settings.strict_content_type)?;
    let limits = settings.batch;
    let mut receiver = LineReceiver::new(body, LinesOf::Batch, limits, settings.body_timeout)?;
    receiver.text = Some(InputText::new(&options, &format));
    let owner = token_digest(&head.headers);
    // Memory is reserved as bytes arrive. A client that sends nothing has none, and one whose batch would not fit is
    // rejected before it sends it.
    let reservation = service
        .reserve_reply(owner, receiver.announced())
        .map(drop)
        .and_then(|()| service.reserve_reply(owner, 0))
        .map_err(|error| service_failure(&error))?;
    let work = Arc::new(BatchWork::new(service, options, format, limits.boards, reservation));
    let handle = service.bulk(Arc::clone(&work) as Arc<dyn BulkWork>).map_err(bulk_failure)?;
    Ok((receiver, work, handle))
}

/// Reads the options and the format of the lines.
fn read_head(head: &Parts, is_strict: bool) -> Result<(RowOptions, RowFormat), Problem> {
    choose(&head.headers, &[MediaType::JsonLines])?;
    let format = format_of(&head.headers, is_strict)?;
    Ok((RowOptions::read(parse_query(head.uri.query().unwrap_or_default())?)?, format))
}

/// The format of a body. Unless it is strict, the default types of `curl --data-binary` and of `fetch` with a string
/// are lines of JSON.
fn format_of(headers: &HeaderMap, is_strict: bool) -> Result<RowFormat, Problem> {
    const WRONG_TYPE: &str = "The body of a batch is application/x-ndjson (or application/jsonl), a line for each \
                              board, text/csv, or application/json with an array of boards. With curl, use `-H \
                              'Content-Type: application/x-ndjson' --data-binary @FILE`.";
    let unsupported = |detail: &str| {
        Problem::new(ProblemKind::UnsupportedMediaType, detail)
            .with_header(header::ACCEPT, HeaderValue::from_static(MEDIA_TYPES))
    };
    let essence = essence(headers, unsupported, WRONG_TYPE)?.to_ascii_lowercase();
    match &*essence {
        "application/json" => Ok(RowFormat::Json),
        "text/plain" | "application/x-www-form-urlencoded" if !is_strict => Ok(RowFormat::Json),
        lines => RowFormat::of_media_type(lines).ok_or_else(|| unsupported(WRONG_TYPE)),
    }
}

fn bulk_failure(error: BulkError) -> Problem {
    match error {
        BulkError::Off => Problem::new(
            ProblemKind::NotImplemented,
            "Batches are turned off on this server (`--bulk-share 0`). Send the boards to `/solve`, or use the command \
             `taquin batch`.",
        ),
        BulkError::Service(error) => service_failure(&error),
    }
}
