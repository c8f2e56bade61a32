//! `/random`: random boards.

mod failure;
mod query;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::Response;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::json;
use taquin_bulk::{DrawnBoard, Seeds, fresh_seed};
use taquin_solver::Board;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose_for};
use crate::http::problem::Problem;
use crate::http::reply::{self, Rows, grid, line, picture, reserved_if_long, service_failure};
use crate::http::request::RequestFields;
use crate::service::Service;
pub(super) use failure::draw_failure;
pub(super) use query::As;
use query::RandomQuery;

/// Response header with the seed, for bodies without a `seed` member.
const X_TAQUIN_SEED: &str = "x-taquin-seed";

/// Sentences about the media types that other requests for boards have.
const SEVERAL_AS_TEXT: &str = "`as=line` is text/plain for any number of boards.";
const SEVERAL_AS_LINES: &str = "Several boards, with `count`, are application/x-ndjson.";

#[derive(Debug, serde::Serialize)]
struct RandomReply<'a> {
    board: Rows,
    goal: Rows,
    seed: &'a str,
    solvable: bool,
    uniform: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    lower_bound: Option<u32>,
    upper_bound: Option<u32>,
    percentile: Option<f64>,
}

/// Handles GET and POST.
pub(crate) async fn random(
    State(service): State<Arc<Service>>,
    method: Method,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let query = RandomQuery::read(input)?;
    let media_type = match query.form {
        Some(As::Text | As::Line) => MediaType::Text,
        Some(As::Svg) => MediaType::Svg,
        _ if query.count > 1 => choose_for(&headers, &[MediaType::JsonLines], "several boards", SEVERAL_AS_TEXT)?,
        Some(As::Request) => MediaType::Json,
        Some(As::Board) | None => {
            choose_for(&headers, &[MediaType::Json, MediaType::Text, MediaType::Svg], "one board", SEVERAL_AS_LINES)?
        }
    };
    let seed = query.seed.clone().map_or_else(fresh_seed, Ok).map_err(|error| {
        tracing::error!(target: "taquin::http::random", %error, "cannot get a seed from the system");
        Problem::internal()
    })?;
    let drawn = service.draw(query.goal, query.how.clone(), query.seeds(&seed)).await;
    let drawn = drawn.map_err(|error| service_failure(&error))?.map_err(|error| draw_failure(&error, &query.how))?;
    let lines: Vec<Vec<u8>> = drawn.iter().map(|drawn| query.body(drawn, media_type)).collect();
    let body = match media_type {
        MediaType::JsonLines => lines.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect(),
        _ => lines.concat(),
    };
    let body = reserved_if_long(&service, body)?;
    let cache_control = if query.seed.is_some() { Document::AN_HOUR } else { Document::NO_STORE };
    let document = Document::new(media_type.content_type(), cache_control, body);
    let mut response = document.response_to(&method, &headers);
    if let Ok(seed) = HeaderValue::try_from(utf8_percent_encode(&seed, &NOT_IN_HEADER).to_string()) {
        response.headers_mut().insert(X_TAQUIN_SEED, seed);
    }
    Ok(response)
}

impl RandomQuery {
    /// The seed of each board: the given seed, with an index if several boards are requested.
    fn seeds(&self, seed: &str) -> Seeds {
        match self.count {
            1 => Seeds::Each(vec![seed.to_owned()]),
            count if self.is_distinct => Seeds::Distinct { seed: seed.to_owned(), count },
            count => Seeds::numbered(seed, count),
        }
    }

    /// The response to one board.
    fn body(&self, drawn: &DrawnBoard, media_type: MediaType) -> Vec<u8> {
        match (media_type, self.form) {
            (_, Some(As::Line)) => format!("{}\n", line(&drawn.board)).into_bytes(),
            (MediaType::Text, _) => grid(&drawn.board).into_bytes(),
            (MediaType::Svg, _) => picture::of_board(&drawn.board).into_bytes(),
            (_, Some(As::Request)) => {
                json!({"board": Rows(drawn.board), "goal": Rows(self.goal)}).to_string().into_bytes()
            }
            _ => reply::json(&RandomReply::new(drawn, self.goal)),
        }
    }
}

impl<'a> RandomReply<'a> {
    fn new(drawn: &'a DrawnBoard, goal: Board) -> Self {
        let DrawnBoard { ref seed, board, distance, percentile, is_uniform } = *drawn;
        Self {
            board: Rows(board),
            goal: Rows(goal),
            seed,
            solvable: distance.is_some(),
            uniform: is_uniform,
            length: distance.and_then(|distance| distance.length),
            lower_bound: distance.map(|distance| distance.lower_bound),
            upper_bound: distance.map(|distance| distance.upper_bound),
            percentile,
        }
    }
}

/// Characters of a seed that are percent-encoded in a header.
const NOT_IN_HEADER: AsciiSet = CONTROLS.add(b' ').add(b'%');
