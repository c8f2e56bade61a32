//! `/random`: random solvable boards.

use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::domain::Board;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::{Problem, ProblemKind, RequestError, sentence};
use crate::http::reply::{Rows, grid, json, service_failure};
use crate::http::request::{FieldReader, RequestFields, goal_alone};
use crate::search::named;
use crate::service::{Distance, Draw, DrawError, DrawnBoard, Service, fresh_seed};

const FIELDS: [&str; 7] = ["rows", "cols", "goal", "seed", "length", "walk", "as"];

/// Maximum length of a walk. A few thousand moves already shuffle the largest board.
const MAX_WALK: i64 = 100_000;
const MAX_SEED_CHARS: usize = 128;

/// Response header with the seed, for bodies without a `seed` member.
const X_TAQUIN_SEED: &str = "x-taquin-seed";

/// Format of the response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum As {
    Board,
    Request,
    Text,
}

named!(As { Board => "board", Request => "request", Text => "text" });

#[derive(Debug, serde::Serialize)]
struct RandomReply<'a> {
    board: Rows,
    goal: Rows,
    seed: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u32>,
    lower_bound: u32,
    upper_bound: u32,
    percentile: Option<f64>,
}

#[derive(Debug, serde::Serialize)]
struct RequestReply {
    board: Rows,
    goal: Rows,
}

struct RandomQuery {
    goal: Board,
    draw: Draw,
    seed: Option<String>,
    form: Option<As>,
}

/// Handles GET.
pub(crate) async fn random(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let RandomQuery { goal, draw, seed, form } = RandomQuery::read(input)?;
    let media_type = match form {
        Some(As::Text) => MediaType::Text,
        Some(As::Request) => MediaType::Json,
        Some(As::Board) | None => choose(&headers, &[MediaType::Json, MediaType::Text])?,
    };
    let is_repeatable = seed.is_some();
    let seed = seed.map_or_else(fresh_seed, Ok).map_err(|error| {
        tracing::error!(target: "taquin::http::random", %error, "cannot get a seed from the system");
        Problem::internal()
    })?;
    let drawn = service.draw(goal, draw.clone(), seed.clone()).await.map_err(|error| service_failure(&error))?;
    let DrawnBoard { board, distance: Distance { length, lower_bound, upper_bound }, percentile } =
        drawn.map_err(|error| draw_failure(&error, &draw))?;
    let body = match (media_type, form) {
        (MediaType::Text, _) => grid(&board).into_bytes(),
        (_, Some(As::Request)) => json(&RequestReply { board: Rows(board), goal: Rows(goal) }),
        _ => {
            let (board, goal, seed) = (Rows(board), Rows(goal), &*seed);
            json(&RandomReply { board, goal, seed, length, lower_bound, upper_bound, percentile })
        }
    };
    let cache_control = if is_repeatable { Document::AN_HOUR } else { Document::NO_STORE };
    let mut response = Document::new(media_type.content_type(), cache_control, body).response(&headers);
    if let Ok(seed) = HeaderValue::try_from(utf8_percent_encode(&seed, &NOT_IN_HEADER).to_string()) {
        response.headers_mut().insert(X_TAQUIN_SEED, seed);
    }
    Ok(response)
}

impl RandomQuery {
    fn read(input: RequestFields) -> Result<Self, Problem> {
        let mut fields = FieldReader::new(input, &FIELDS);
        let goal = goal_alone(&mut fields);
        let seed = fields.parsed("seed", |seed| {
            let is_valid = (1..=MAX_SEED_CHARS).contains(&seed.chars().count());
            let error = || ("out-of-range", format!("`seed` must have 1 to {MAX_SEED_CHARS} characters"));
            is_valid.then(|| seed.to_owned()).ok_or_else(error)
        });
        if fields.has("walk") && fields.has("length") {
            let detail = "`walk` and `length` are mutually exclusive";
            fields.report(ProblemKind::InvalidParameter, RequestError::new("/walk", "unsupported", detail));
        }
        let walk = fields.integer("walk", 0..=MAX_WALK).map(|moves| Draw::Walk(moves as u32));
        let length = fields.parsed("length", |text| lengths(text).map_err(|detail| ("out-of-range", detail)));
        let length = length.map(Draw::Length);
        let form = fields.choice("as", None);
        let goal = fields.finish(goal)?;
        Ok(Self { goal, draw: walk.or(length).unwrap_or(Draw::Uniform), seed, form })
    }
}

/// Characters of a seed that are percent-encoded in a header.
const NOT_IN_HEADER: AsciiSet = CONTROLS.add(b' ').add(b'%');

/// Parses `20`, or `12..18` with both ends included.
fn lengths(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten();
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low <= high => Ok(low..=high),
        (Some(_), Some(_)) => Err("`length` must be an ascending range, for example `12..18`".to_owned()),
        _ => Err("`length` must be a number of moves, for example `20`, or a range, for example `12..18`".to_owned()),
    }
}

fn draw_failure(error: &DrawError, draw: &Draw) -> Problem {
    match error {
        DrawError::LengthsUnknown(size) => {
            let detail = format!(
                "optimal lengths are known only for boards of up to 9 cells, not for {size} boards; use `walk`, or omit `length`"
            );
            Problem::new(ProblemKind::UnsupportedCombination, sentence(&detail)).with_errors(vec![RequestError::new(
                "/length",
                "unsupported",
                detail,
            )])
        }
        DrawError::NoSuchLength(greatest) => {
            let wanted = match draw {
                Draw::Length(lengths) if lengths.start() < lengths.end() => {
                    format!("from {} to {}", lengths.start(), lengths.end())
                }
                Draw::Length(lengths) => format!("of {}", lengths.start()),
                Draw::Uniform | Draw::Walk(_) => "in this range".to_owned(),
            };
            let detail = format!(
                "no board has an optimal length {wanted}; for this size and goal, lengths range from 0 to {greatest}"
            );
            Problem::new(ProblemKind::InvalidParameter, sentence(&detail)).with_errors(vec![RequestError::new(
                "/length",
                "out-of-range",
                detail,
            )])
        }
    }
}
