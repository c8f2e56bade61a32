//! `/verify`: whether moves are legal, the final board, and its distance from the goal.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;

use crate::domain::{Attempt, AttemptedMove, Board, IllegalMove, Move, Size, Tile};
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::{Problem, sentence};
use crate::http::reply::{Letter, Rows, counted, grid, json, service_failure};
use crate::http::request::{BOARD_FIELDS, FieldReader, RequestFields, board_and_goal, concat};
use crate::service::{AttemptCheck, Distance, Service};

const FIELDS: [&str; BOARD_FIELDS.len() + 2] = concat(&[&BOARD_FIELDS, &["moves", "tiles"]]);

/// Maximum number of moves in a request. As letters, they fit into a body of the default maximum size.
pub(crate) const MAX_MOVES: usize = 50_000;

#[derive(Debug, serde::Serialize)]
struct VerifyReply {
    legal: bool,
    illegal: Option<IllegalReply>,
    solves: bool,
    optimal: bool,
    solvable: bool,
    length: usize,
    #[serde(flatten)]
    of_start: DistanceReply,
    percentile: Option<f64>,
    remaining: DistanceReply,
    start: Rows,
    goal: Rows,
    #[serde(rename = "final")]
    end: Rows,
}

/// First illegal step.
#[derive(Debug, serde::Serialize)]
struct IllegalReply {
    index: usize,
    #[serde(rename = "move")]
    mv: Option<Letter>,
    tile: Option<Tile>,
    detail: String,
}

/// Distance of a board from the goal. All members are null if the goal is unreachable.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
struct DistanceReply {
    lower_bound: Option<u32>,
    upper_bound: Option<u32>,
    optimal_length: Option<u32>,
}

struct VerifyBody {
    board: Board,
    goal: Board,
    attempt: Attempt,
}

/// Handles GET and POST.
pub(crate) async fn verify(
    State(service): State<Arc<Service>>,
    method: Method,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let VerifyBody { board, goal, attempt } = VerifyBody::read(input)?;
    let verdict = service.check_attempt(board, goal, attempt).await.map_err(|error| service_failure(&error))?;
    let reply = VerifyReply::new(board, goal, &verdict);
    let body = match media_type {
        MediaType::Text => reply.to_string().into_bytes(),
        _ => json(&reply),
    };
    Ok(Document::new(media_type.content_type(), Document::AN_HOUR, body).response_to(&method, &headers))
}

impl VerifyBody {
    fn read(input: RequestFields) -> Result<Self, Problem> {
        let mut fields = FieldReader::new(input, &FIELDS);
        let boards = board_and_goal(&mut fields);
        let attempt = attempt(&mut fields, boards.map(|(board, _)| board.size()));
        let ((board, goal), attempt) = fields.finish(boards.zip(attempt))?;
        Ok(Self { board, goal, attempt })
    }
}

/// Reads `moves` or `tiles`. A tile that is not on the board is an error of the request, not an illegal move.
fn attempt(fields: &mut FieldReader, size: Option<Size>) -> Option<Attempt> {
    let greatest = size.map_or(Size::MAX_CELLS, Size::cells) as i64 - 1;
    if fields.has("moves") && fields.has("tiles") {
        let detail = "`tiles` and `moves` are mutually exclusive";
        fields.take("tiles").inspect(|value| fields.reject(value, "tiles", "unsupported", detail));
    }
    if fields.has("tiles") {
        let tiles = fields.integers("tiles", 1..=greatest, MAX_MOVES)?;
        return Some(Attempt::Tiles(tiles.into_iter().filter_map(|tile| Tile::try_from(tile).ok()).collect()));
    }
    if !fields.has("moves") {
        fields.report_missing("moves", "`moves` or `tiles` is required, for example `moves` \"ULDR\" or `tiles` [7,8]");
    }
    fields.parsed("moves", moves).map(Attempt::Moves)
}

fn moves(text: &str) -> Result<Vec<Move>, (&'static str, String)> {
    let count = text.chars().count();
    if count > MAX_MOVES {
        return Err(("out-of-range", format!("`moves` has {count} letters; the maximum is {MAX_MOVES}")));
    }
    let read = |(at, letter): (usize, char)| {
        let unknown = || {
            let written = letter.escape_debug();
            let detail = format!(
                "`moves` must consist of the letters U, L, D and R, the directions of the blank, without \
                 separators; character {} is `{written}`",
                at + 1
            );
            ("unknown-value", detail)
        };
        Move::from_letter(letter).ok_or_else(unknown)
    };
    text.chars().enumerate().map(read).collect()
}

impl VerifyReply {
    fn new(start: Board, goal: Board, verdict: &AttemptCheck) -> Self {
        let AttemptCheck { played, distances, percentile } = verdict;
        let of_start = distances.map_or_else(DistanceReply::default, |(of_start, _)| of_start.into());
        let remaining = distances.map_or_else(DistanceReply::default, |(_, of_end)| of_end.into());
        let (length, solves) = (played.path.len(), played.illegal.is_none() && played.end == goal);
        Self {
            legal: played.illegal.is_none(),
            illegal: played.illegal.map(IllegalReply::from),
            solves,
            optimal: solves && distances.is_some_and(|(of_start, _)| of_start.lower_bound as usize == length),
            solvable: distances.is_some(),
            length,
            of_start,
            percentile: *percentile,
            remaining,
            start: Rows(start),
            goal: Rows(goal),
            end: Rows(played.end),
        }
    }
}

impl From<IllegalMove> for IllegalReply {
    fn from(illegal: IllegalMove) -> Self {
        let (mv, tile) = match illegal.attempted {
            AttemptedMove::Move(mv) => (Some(Letter(mv)), None),
            AttemptedMove::Tile(tile) => (None, Some(tile)),
        };
        Self { index: illegal.at, mv, tile, detail: sentence(&illegal.to_string()) }
    }
}

impl From<Distance> for DistanceReply {
    fn from(distance: Distance) -> Self {
        let Distance { length, lower_bound, upper_bound } = distance;
        Self { lower_bound: Some(lower_bound), upper_bound: Some(upper_bound), optimal_length: length }
    }
}

/// Text for a terminal: start, verdict, end.
impl std::fmt::Display for VerifyReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", grid(&self.start.0))?;
        let moves = counted(self.length as u64, "move");
        match &self.illegal {
            None => writeln!(f, "{moves}, all legal.")?,
            Some(IllegalReply { index, mv, tile, detail }) => {
                let mv = mv.map_or_else(String::new, |Letter(mv)| mv.letter().to_string());
                let tile = tile.map_or_else(String::new, |tile| format!("tile {tile}"));
                writeln!(f, "{moves}, then {mv}{tile} (index {index}) is illegal. {detail}")?;
            }
        }
        match self {
            Self { optimal: true, .. } => writeln!(f, "Solved optimally.")?,
            Self { solves: true, of_start, .. } => writeln!(f, "Solved; an optimal solution has {of_start}.")?,
            Self { solvable: false, .. } => writeln!(f, "Not solved: the board is unsolvable; see /solvable.")?,
            Self { remaining, .. } => writeln!(f, "Not solved; {remaining} to go.")?,
        }
        write!(f, "\n{}", grid(&self.end.0))
    }
}

impl std::fmt::Display for DistanceReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.lower_bound, self.upper_bound) {
            (Some(low), Some(high)) if low == high => f.write_str(&counted(low, "move")),
            (Some(low), Some(high)) => write!(f, "{low} to {high} moves"),
            _ => f.write_str("an unknown number of moves"),
        }
    }
}
