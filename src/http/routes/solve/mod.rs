//! `/solve`: solves a board.

mod include;
mod stream;
mod stream_body;

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use taquin_solver::search::{Expansions, GeneratedNodes};
use taquin_solver::{
    Board, Metric, Plan, Puzzle, Records, RequestedSolutions, SearchOptions, SearchRequest, Size, named,
};

use crate::http::get_target::GetTarget;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::{Problem, ProblemKind, RequestError};
use crate::http::reply::{
    Layout, SolveReply, add_server_timing, held_if_long, in_pieces, limit_exceeded_with_lists, outline, picture,
    puzzle_failure, reserved_if_long, service_failure, stream_head, whole,
};
use crate::http::request::{
    BOARD_FIELDS, FieldReader, Format, LIMIT_FIELDS, METHOD_FIELDS, NamedGoal, RawRequest, RequestBody, RequestFields,
    board_and_goal, concat, is_exact_known, plain_board, search,
};
use crate::http::state::AppState;
use crate::service::{HeldReport, Report, RequestedLimits, Service};
pub(crate) use include::Include;
use include::{check_lists, check_multi_tile, check_picture, included};
use stream::SolveStream;
pub(in crate::http::routes) use stream_body::END;

/// Fields of a request.
const FIELDS: [&str; BOARD_FIELDS.len() + METHOD_FIELDS.len() + LIMIT_FIELDS.len() + 8] = concat(&[
    &BOARD_FIELDS,
    &METHOD_FIELDS,
    &LIMIT_FIELDS,
    &["require", "metric", "include", "solutions.count", "solutions.max", "output_encoding", "order", "width"],
]);

/// Media types of a response.
const MEDIA_TYPES: [MediaType; 5] =
    [MediaType::Json, MediaType::Text, MediaType::Events, MediaType::Svg, MediaType::Dot];

/// Columns that a text response may have.
const WIDTHS: RangeInclusive<i64> = 20..=1_000;

const PATH: &str = "/solve";

/// Maximum and default number of optimal solutions that a response lists.
pub(crate) const MAX_SOLUTIONS: i64 = 1_000;
const DEFAULT_SOLUTIONS: u64 = 10;

/// Required quality of the solution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Require {
    Any,
    Optimal,
}

named!(Require { Any => "any", Optimal => "optimal" });

/// Error for `order` without states.
const NO_ORDER: &str = "`order` is the order of the states: add `\"include\": [\"states\"]`, or omit it";

/// Error for `width` where no states are shown side by side.
const NO_WIDTH: &str = "`width` is the width of a text with states: use `Accept: text/plain` and `\"include\": \
                        [\"states\"]`, or omit it";

/// A valid request.
#[derive(PartialEq, Debug)]
struct SolveBody {
    board: Board,
    goal: Board,
    plan: Plan,
    limits: RequestedLimits,
    include: Vec<Include>,
    solutions: Option<RequestedSolutions>,
    layout: Layout,
    get_target: Option<GetTarget>,
}

/// Handles GET and POST. Takes the whole request, because axum clones each part that is extracted separately.
pub(crate) async fn solve(State(state): State<AppState>, request: Request) -> Result<Response, Problem> {
    let (service, settings) = (state.service(), state.settings());
    let (head, body) = request.into_parts();
    let received = RawRequest::read(&head, body, settings).await?;
    let mut body = SolveBody::of(received, &head.headers)?;
    let (layout, get_target) = (body.layout, body.get_target.take());
    let puzzle = body.puzzle()?;
    let limits = service.limits(puzzle.size(), &body.plan, body.limits);
    let records = body.records(service.settings().max_expansions);
    let job = SearchRequest { records, ..SearchRequest::new(puzzle, body.plan, limits) };
    if layout.media_type == MediaType::Events || body.has(Include::Progress) {
        // Boxed, so that the future of every other response is small.
        let mut response = Box::pin(streamed(service, job, &head, layout)).await?;
        GetTarget::add_to(get_target, &mut response);
        return Ok(response);
    }
    let answer = service.submit(job).await.map_err(|error| service_failure(&error))?;
    let mut response = match (answer.report.stopped, layout.media_type) {
        (None, MediaType::Svg) => drawn(service, &head, &puzzle, &answer.report)?,
        (stopped, _) => {
            let held = held_if_long(service, &puzzle, &answer.report)?;
            match stopped {
                Some(stop) => limit_exceeded_with_lists(&answer.report, held, stop, layout).into_response(),
                None => solved(&head, layout, &puzzle, &answer.report, held)?,
            }
        }
    };
    add_server_timing(&mut response, &answer);
    GetTarget::add_to(get_target, &mut response);
    Ok(response)
}

/// Streamed response. Returns when the search is admitted, before it ends.
async fn streamed(
    service: &Arc<Service>,
    job: SearchRequest,
    head: &Parts,
    layout: Layout,
) -> Result<Response, Problem> {
    const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
    // A browser reconnects when a stream ends, until it receives status 204.
    if layout.media_type == MediaType::Events && head.headers.get(LAST_EVENT_ID) == Some(&END) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    if head.method == Method::HEAD {
        return Ok(stream_head(layout.media_type));
    }
    let puzzle = job.puzzle;
    let subscription = service.watch(job).await.map_err(|error| service_failure(&error))?;
    let stream = SolveStream::new(Arc::clone(service), subscription, puzzle, layout);
    Ok(stream_body::response(stream))
}

/// Response with a picture: the search tree if its nodes were requested, or else the solution.
fn drawn(service: &Service, head: &Parts, puzzle: &Puzzle, report: &Report) -> Result<Response, Problem> {
    let (reply, solution) = SolveReply::new(puzzle, report)?;
    let picture = match &report.generated {
        Some(nodes) => picture::of_tree(&reply, report, nodes),
        None => picture::of_solution(&reply, solution),
    };
    let body = reserved_if_long(service, picture.into_bytes())?;
    let document = Document::new(MediaType::Svg.content_type(), cache_control(report), body);
    Ok(document.response_to(&head.method, &head.headers, None))
}

/// Response with a solution.
fn solved(
    head: &Parts,
    layout: Layout,
    puzzle: &Puzzle,
    report: &Report,
    held: Option<HeldReport>,
) -> Result<Response, Problem> {
    let is_get = head.method == Method::GET || head.method == Method::HEAD;
    let body = match held {
        Some(held) if is_get => return solved_in_pieces(head, layout, puzzle, report, held),
        Some(held) => in_pieces(&SolveReply::new(puzzle, report)?.0, held, layout).body(),
        None => {
            let (mut reply, _) = SolveReply::new(puzzle, report)?;
            let body = whole(&reply, report, layout);
            if is_get {
                // The elapsed time must not change the tag.
                reply.search.elapsed_us = 0;
                let tag = || whole(&reply, report, layout);
                let document = Document::tagged_by(layout.media_type.content_type(), cache_control(report), body, tag);
                return Ok(document.response(&head.headers));
            }
            Body::from(body)
        }
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(layout.media_type.content_type()));
    Ok(response)
}

/// Long response to GET, written in pieces as the client reads. Its tag is computed from the request and the solution,
/// because they determine the lists.
fn solved_in_pieces(
    head: &Parts,
    layout: Layout,
    puzzle: &Puzzle,
    report: &Report,
    held: HeldReport,
) -> Result<Response, Problem> {
    let (mut reply, solution) = SolveReply::new(puzzle, report)?;
    let body = in_pieces(&reply, held, layout);
    reply.search.elapsed_us = 0;
    let tag = || {
        let counts = [
            report.heights.len(),
            report.expansions.as_ref().map_or(0, Expansions::len),
            report.generated.as_ref().map_or(0, GeneratedNodes::len),
            report.iterations.as_ref().map_or(0, Vec::len),
        ];
        let form = format!("{} {layout:?} {counts:?} ", env!("CARGO_PKG_VERSION"));
        [form.into_bytes(), outline(&reply, layout), solution.path.letters().into_bytes()].concat()
    };
    let document = Document::tagged_by(layout.media_type.content_type(), cache_control(report), Bytes::new(), tag);
    let mut response = document.response(&head.headers);
    // The length is not known yet.
    response.headers_mut().remove(header::CONTENT_LENGTH);
    if response.status() == StatusCode::OK {
        *response.body_mut() = body.body();
    }
    Ok(response)
}

/// `Cache-Control` of the response to a report.
fn cache_control(report: &Report) -> &'static str {
    if report.is_repeatable() { Document::AN_HOUR } else { Document::NO_STORE }
}

/// Reads a JSON body as `POST /solve` does, up to the submitted puzzle. No handler calls it; it lets a fuzzer test the
/// reader without a search.
///
/// # Errors
/// The problem that `POST /solve` would return.
pub fn read_solve_body(bytes: &[u8]) -> Result<Puzzle, Problem> {
    let body = RequestBody::parse(bytes, Format::Json).and_then(|body| {
        SolveBody::read(RequestFields { query: Vec::new(), body: Some(body), get_target: None }, Some(MediaType::Json))
    });
    let plain = plain_board(bytes).map(|board| SolveBody::plain(board, None));
    debug_assert!(plain.is_none_or(|plain| body.as_ref().is_ok_and(|body| *body == plain)), "the readers differ");
    body?.puzzle()
}

impl SolveBody {
    fn has(&self, include: Include) -> bool {
        self.include.contains(&include)
    }

    /// The lists that the response has, of at most so many nodes.
    fn records(&self, most: usize) -> Records {
        let lists_generated = self.has(Include::Generated) || self.layout.media_type == MediaType::Dot;
        Records {
            expansions: if self.has(Include::Expansions) { most } else { 0 },
            generated: if lists_generated { most } else { 0 },
            iterations: self.has(Include::Iterations),
            states: self.has(Include::States),
            solutions: self.solutions,
        }
    }

    fn puzzle(&self) -> Result<Puzzle, Problem> {
        Puzzle::try_new(self.board, self.goal).map_err(puzzle_failure)
    }

    /// Reads the body, and the media type of the response. Consumes the bytes, so that they do not stay in memory
    /// during a long search.
    fn of(received: RawRequest, headers: &HeaderMap) -> Result<Self, Problem> {
        let plain = received.plain_board().map(|board| Self::plain(board, Some(PATH)));
        let media_type = choose(headers, &MEDIA_TYPES);
        let mut body = match plain {
            // Not every default algorithm has a search tree.
            Some(body) if !matches!(media_type, Ok(MediaType::Dot)) => body,
            _ => Self::read(received.fields(PATH)?, media_type.as_ref().ok().copied())?,
        };
        body.layout.media_type = media_type?;
        Ok(body)
    }

    /// The request that [`read`](Self::read) returns for a body with only a board.
    fn plain(board: Board, path: Option<&str>) -> Self {
        let goal = NamedGoal::BlankLast.on(board.size());
        let plan = Plan::auto(board.size());
        let mut get_target = path.filter(|_| is_linked(&plan)).map(GetTarget::of);
        get_target.iter_mut().for_each(|target| target.add_board("board", &board));
        let (limits, layout) = (RequestedLimits::default(), Layout::of(MediaType::Json));
        Self { board, goal, plan, limits, include: Vec::new(), solutions: None, layout, get_target }
    }

    /// Reads all fields. Rejects those that the media type of the response does not support.
    fn read(input: RequestFields, media_type: Option<MediaType>) -> Result<Self, Problem> {
        let mut fields = FieldReader::new(input, &FIELDS);
        let boards = board_and_goal(&mut fields);
        let options = search::options(&mut fields);
        let require_optimal = fields.choice("require", None) == Some(Require::Optimal);
        let size = boards.map(|(board, _)| board.size());
        let solutions = requested_solutions(&mut fields, &options, size);
        let require_optimal = require_optimal || (solutions.is_some() && options.promises_optimal());
        let metric = fields.choice("metric", None).unwrap_or_default();
        let options = SearchOptions { require_optimal, metric, ..options };
        let limits = search::limits(&mut fields);
        let include = included(&mut fields, media_type);
        let layout = layout(&mut fields, &include, media_type);
        let plan = boards.and_then(|(board, _)| search::plan(&mut fields, &options, board.size()));
        if let Some(algorithm) = options.algorithm.or(plan.map(|plan| plan.algorithm)) {
            check_lists(&mut fields, &include, algorithm, media_type);
        }
        if let Some(MediaType::Svg | MediaType::Dot) = media_type {
            check_picture(&mut fields, &include, solutions.is_some());
        }
        if metric == Metric::MultiTile {
            check_multi_tile(&mut fields, &include, solutions.is_some(), media_type);
        }
        let (((board, goal), plan), get_target) = fields.finish_with_target(boards.zip(plan))?;
        let get_target = get_target.filter(|_| is_linked(&plan));
        Ok(Self { board, goal, plan, limits, include, solutions, layout, get_target })
    }
}

/// True if the response names its GET request. That would take 3 % of the instructions of a solution that is looked up,
/// which is faster than a cache (docs/adr/0048).
fn is_linked(plan: &Plan) -> bool {
    !plan.is_instant()
}

/// Reads `solutions`. Rejects it where `auto` or the named search does not prove solutions optimal.
fn requested_solutions(
    fields: &mut FieldReader,
    options: &SearchOptions,
    size: Option<Size>,
) -> Option<RequestedSolutions> {
    if !fields.has_object("solutions") && !fields.has("solutions.count") && !fields.has("solutions.max") {
        return None;
    }
    let counts = !fields.has("solutions.count") || fields.aside(|fields| fields.flag("solutions.count"));
    // One of the fields has to be in the query, where there are no empty objects.
    fields.add_to_target("solutions.count", if counts { "true" } else { "false" });
    let most = fields.integer("solutions.max", 1..=MAX_SOLUTIONS).unwrap_or(DEFAULT_SOLUTIONS) as usize;
    let mut reject = |detail: String| {
        let error = RequestError::new("/solutions", "unsupported", detail);
        fields.report(ProblemKind::UnsupportedCombination, error);
    };
    if let Some(size) = size.filter(|size| !is_exact_known(*size)) {
        reject(format!("all optimal solutions are found on boards of up to 16 cells, not on {size} boards"));
    }
    if !options.promises_optimal() {
        reject("this search does not guarantee an optimal solution; `auto` does".to_owned());
    }
    Some(RequestedSolutions { most, counts })
}

/// Reads how the boards of the response are written. Rejects fields that have no effect on it.
fn layout(fields: &mut FieldReader, include: &[Include], media_type: Option<MediaType>) -> Layout {
    let is_text = media_type == Some(MediaType::Text);
    let is_json = matches!(media_type, None | Some(MediaType::Json | MediaType::Events));
    let has_states = include.contains(&Include::States);
    let without_effect = [
        ("order", !has_states, NO_ORDER),
        ("width", !has_states || !is_text, NO_WIDTH),
        ("output_encoding", !is_json, "boards are shown as grids: use `Accept: application/json`, or omit it"),
    ];
    for (name, has_no_effect, detail) in without_effect {
        if has_no_effect && fields.has(name) {
            let error = RequestError::new(format!("/{name}"), "unsupported", detail);
            fields.report(ProblemKind::UnsupportedCombination, error);
        }
    }
    Layout {
        encoding: fields.choice("output_encoding", None).unwrap_or_default(),
        order: fields.choice("order", None).unwrap_or_default(),
        width: fields.integer("width", WIDTHS).map_or(Layout::WIDTH, |width| width as usize),
        ..Layout::of(media_type.unwrap_or(MediaType::Json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_solver::Size;

    #[test]
    fn a_plain_board_is_the_request_that_the_general_reader_returns() {
        for size in Size::all() {
            let board = Board::snail(size);
            let rows: Vec<_> = board.rows().map(<[u8]>::to_vec).collect();
            let body = serde_json::json!({ "board": rows }).to_string();
            let body = RequestBody::parse(body.as_bytes(), Format::Json).unwrap();
            let get_target = Some(GetTarget::of(PATH));
            let fields = RequestFields { query: Vec::new(), body: Some(body), get_target };
            let read = SolveBody::read(fields, Some(MediaType::Json));
            assert_eq!(SolveBody::plain(board, Some(PATH)), read.unwrap(), "{size}");
        }
    }
}
