//! `/solve`: solves a board.

mod include;
mod stream;
mod stream_body;

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use taquin_bulk::RequestedLimits;
use taquin_bulk::fields::{
    BOARD_FIELDS, FieldReader, LIMIT_FIELDS, METHOD_FIELDS, Require, WrittenFields, board_and_goal, concat, limits,
    puzzle, reject_combination, search_options, search_plan,
};
use taquin_solver::{
    Board, Encoding, Metric, Plan, Puzzle, Records, RequestedSolutions, SearchOptions, SearchRequest, Size,
};

use crate::http::exchange::{AccessLine, instance};
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose_for, negotiate};
use crate::http::problem::Problem;
use crate::http::reply::{
    Layout, SolveReply, add_server_timing, limit_exceeded_with_lists, max_entries, reserved_if_long, service_failure,
    stream_head, written,
};
use crate::http::request::{Format, RequestFields, parse_body};
use crate::http::state::AppState;
use crate::service::{Report, Service};
pub(crate) use include::Include;
use include::{check_lists, check_multi_tile, check_picture, check_positions, included};
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

/// Maximum and default number of optimal solutions that a response lists.
pub(crate) const MAX_SOLUTIONS: i64 = 1_000;
const DEFAULT_SOLUTIONS: u64 = 10;

/// Error for `order` without states.
const NO_ORDER: &str = "`order` is the order of the states: add `\"include\": [\"states\"]`, or omit it";

/// Error for `width` where no states are shown side by side.
const NO_WIDTH: &str = "`width` is the width of a text with states: use `Accept: text/plain` and `\"include\": \
                        [\"states\"]`, or omit it";

/// A valid request.
#[derive(Debug)]
struct SolveBody {
    board: Board,
    goal: Board,
    plan: Plan,
    limits: RequestedLimits,
    include: Vec<Include>,
    solutions: Option<RequestedSolutions>,
    layout: Layout,
    read_as: Option<String>,
}

/// Handles GET and POST. Takes the whole request, because axum clones each part that is extracted separately.
pub(crate) async fn solve(State(state): State<AppState>, request: Request) -> Result<Response, Problem> {
    let (service, settings) = (&state.service, state.settings);
    let (head, body) = request.into_parts();
    let input = RequestFields::read(&head, body, settings).await?;
    let body = SolveBody::of(input, &head.headers)?;
    let layout = body.layout;
    let puzzle = body.puzzle()?;
    let limits = service.limits(puzzle.size(), &body.plan, body.limits);
    let records = body.records(service.settings().max_expansions.min(max_entries(puzzle.size())));
    let job = SearchRequest { records, ..SearchRequest::new(puzzle, body.plan, limits) };
    if layout.media_type == MediaType::Events || body.has(Include::Progress) {
        // Boxed, so that the future of every other response is small.
        return Box::pin(streamed(service, job, &head, layout, body.read_as)).await;
    }
    let answer = service.submit(job).await.map_err(|error| service_failure(&error))?;
    let mut response = match answer.report.stopped {
        Some(stop) => limit_exceeded_with_lists(&answer.report, stop, layout).into_response(),
        None => solved(service, &head, (layout, body.read_as.as_deref()), &puzzle, &answer.report)?,
    };
    add_server_timing(&mut response, &answer);
    AccessLine::of(&head.extensions)?.add_search(puzzle.size(), &answer);
    Ok(response)
}

/// Streamed response. Returns when the search is admitted, before it ends.
async fn streamed(
    service: &Arc<Service>,
    job: SearchRequest,
    head: &Parts,
    layout: Layout,
    read_as: Option<String>,
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
    let stream = SolveStream::new(subscription, puzzle, layout, read_as);
    let line = AccessLine::of(&head.extensions)?.for_stream();
    Ok(stream_body::response(Arc::clone(service), stream, line, instance(&head.uri)))
}

/// Response with a solution.
fn solved(
    service: &Service,
    head: &Parts,
    (layout, read_as): (Layout, Option<&str>),
    puzzle: &Puzzle,
    report: &Report,
) -> Result<Response, Problem> {
    let mut reply = SolveReply::new(puzzle, report, layout)?;
    let body = reserved_if_long(service, written(&reply, read_as))?;
    // The elapsed time must not change the tag.
    reply.search.elapsed_us = 0;
    let cache_control = if head.method == Method::POST { Document::NO_STORE } else { cache_control(report) };
    let content_type = layout.media_type.content_type();
    let document = Document::tagged_by(content_type, cache_control, body, || written(&reply, read_as));
    Ok(document.response_to(&head.method, &head.headers))
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
    let body = parse_body(bytes, Format::Json)
        .and_then(|body| SolveBody::read(RequestFields { query: Vec::new(), body: Some(body) }, Some(MediaType::Json)));
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
        Ok(puzzle(self.board, self.goal)?)
    }

    /// Reads the fields, and the media type of the response.
    fn of(input: RequestFields, headers: &HeaderMap) -> Result<Self, Problem> {
        let media_type = negotiate(headers, &MEDIA_TYPES);
        if let (Some(WrittenFields::Board(board)), [], Some(MediaType::Json)) = (&input.body, &*input.query, media_type)
        {
            return Ok(Self::of_board(*board));
        }
        match media_type {
            Some(media_type) => Self::read(input, Some(media_type)),
            None => Err(Self::not_acceptable(input, headers)),
        }
    }

    /// The problem of a request that accepts no media type of its response. The fields of a request exclude some types.
    fn not_acceptable(input: RequestFields, headers: &HeaderMap) -> Problem {
        let reads = |media_type: &MediaType| Self::read(input.clone(), Some(*media_type)).is_ok();
        let offers: Vec<MediaType> = MEDIA_TYPES.into_iter().filter(reads).collect();
        let others = if offers.len() < MEDIA_TYPES.len() { "Its fields exclude the others." } else { "" };
        if offers.is_empty() {
            let in_any = Self::read(input.clone(), None);
            return in_any
                .and_then(|_| Self::read(input, Some(MediaType::Json)))
                .err()
                .unwrap_or_else(Problem::internal);
        }
        choose_for(headers, &offers, "this request", others).err().unwrap_or_else(Problem::internal)
    }

    /// The request for a board whose other fields are absent. The response is JSON.
    fn of_board(board: Board) -> Self {
        Self {
            board,
            goal: Board::blank_last(board.size()),
            plan: Plan::auto(board.size()),
            limits: RequestedLimits::default(),
            include: Vec::new(),
            solutions: None,
            layout: Layout::of(MediaType::Json),
            read_as: None,
        }
    }

    /// Reads all fields. Rejects those that the media type of the response does not support.
    fn read(input: RequestFields, media_type: Option<MediaType>) -> Result<Self, Problem> {
        let mut fields = input.reader(&FIELDS);
        let boards = board_and_goal(&mut fields);
        let size = boards.map(|(board, _)| board.size());
        let options = search_options(&mut fields, size);
        let require_optimal = fields.choice("require", None) == Some(Require::Optimal);
        let solutions = requested_solutions(&mut fields, &options, size);
        let require_optimal = require_optimal || (solutions.is_some() && options.promises_optimal());
        let metric = fields.choice("metric", None).unwrap_or_default();
        let options = SearchOptions { require_optimal, metric, ..options };
        let limits = limits(&mut fields);
        let include = included(&mut fields, media_type);
        let layout = layout(&mut fields, &include, media_type);
        let plan = boards.and_then(|(board, _)| search_plan(&mut fields, &options, board.size()));
        if let Some(algorithm) = options.algorithm.or(plan.map(|plan| plan.algorithm)) {
            check_lists(&mut fields, &include, algorithm, media_type);
        }
        if let Some(MediaType::Svg | MediaType::Dot) = media_type {
            check_picture(&mut fields, &include, solutions.is_some());
        }
        if layout.lists_positions() {
            check_positions(&mut fields, &include, solutions.is_some());
        }
        if metric == Metric::MultiTile {
            check_multi_tile(&mut fields, &include, solutions.is_some(), media_type);
        }
        let read_as = fields.read_as();
        let ((board, goal), plan) = fields.finish(boards.zip(plan))?;
        Ok(Self { board, goal, plan, limits, include, solutions, layout, read_as })
    }
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
    let counts = !fields.has("solutions.count") || fields.flag("solutions.count");
    let most = fields.integer("solutions.max", 1..=MAX_SOLUTIONS).unwrap_or(DEFAULT_SOLUTIONS) as usize;
    if let Some(size) = size.filter(|size| !Plan::is_proven_by_auto(*size)) {
        let detail = format!("all optimal solutions are found on boards of up to 16 cells, not on {size} boards");
        reject_combination(fields, "solutions", detail);
    }
    if !options.promises_optimal() {
        let detail = "this search does not guarantee an optimal solution; `auto` does";
        reject_combination(fields, "solutions", detail);
    }
    Some(RequestedSolutions { most, counts })
}

/// Reads how the boards of the response are written. Rejects fields that have no effect on it.
fn layout(fields: &mut FieldReader, include: &[Include], media_type: Option<MediaType>) -> Layout {
    let is_text = media_type == Some(MediaType::Text);
    let is_picture = matches!(media_type, Some(MediaType::Svg | MediaType::Dot));
    let has_states = include.contains(&Include::States);
    let without_effect = [
        ("order", !has_states, NO_ORDER),
        ("width", !has_states || !is_text, NO_WIDTH),
        ("output_encoding", is_picture, "a picture shows boards as grids: use `Accept: application/json`, or omit it"),
    ];
    for (name, has_no_effect, detail) in without_effect {
        if has_no_effect && fields.has(name) {
            reject_combination(fields, name, detail);
        }
    }
    let encoding = fields.choice("output_encoding", None).unwrap_or_default();
    if is_text && encoding == Encoding::Positions && fields.has("width") {
        reject_combination(fields, "width", "`width` has no effect on lines of positions: omit it");
    }
    Layout {
        encoding,
        order: fields.choice("order", None).unwrap_or_default(),
        width: fields.integer("width", WIDTHS).map_or(Layout::WIDTH, |width| width as usize),
        ..Layout::of(media_type.unwrap_or(MediaType::Json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_bulk::fields::Json;
    use taquin_solver::{SplitMix, random_board};

    #[test]
    fn a_board_alone_is_a_request_whose_other_fields_are_absent() {
        for size in Size::all() {
            let board = random_board(&Board::blank_last(size), &mut SplitMix(1));
            let json = serde_json::json!({ "board": board.rows().collect::<Vec<_>>() }).to_string();
            let input = |body| RequestFields { query: Vec::new(), body: Some(body) };
            let plain = WrittenFields::parse(&json).unwrap();
            assert_eq!(plain, WrittenFields::Board(board));
            let plain = SolveBody::of(input(plain), &HeaderMap::new()).unwrap();
            let general = input(WrittenFields::Json(Json::parse(&json).unwrap()));
            let general = SolveBody::read(general, Some(MediaType::Json)).unwrap();
            assert_eq!(format!("{plain:?}"), format!("{general:?}"));
        }
    }
}
