//! `/moves`: the legal moves of a board, best first.

use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use taquin_bulk::counted;
use taquin_bulk::fields::{BOARD_FIELDS, LIMIT_FIELDS, board_and_goal, concat, limits};
use taquin_solver::{Board, Distance, MoveSet, Tile};

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::{Letter, Rows, analysis_failure, grid, text_or_json};
use crate::http::request::RequestFields;
use crate::service::{LegalMove, LegalMoves, Service};

const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len()] = concat(&[&BOARD_FIELDS, &LIMIT_FIELDS]);

/// Distance of a board from the goal. All members are null if the goal is unreachable.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(crate) struct DistanceReply {
    pub(crate) lower_bound: Option<u32>,
    pub(crate) upper_bound: Option<u32>,
    pub(crate) optimal_length: Option<u32>,
}

impl From<Distance> for DistanceReply {
    fn from(distance: Distance) -> Self {
        let Distance { length, lower_bound, upper_bound } = distance;
        Self { lower_bound: Some(lower_bound), upper_bound: Some(upper_bound), optimal_length: length }
    }
}

impl fmt::Display for DistanceReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lower_bound, self.upper_bound) {
            (Some(low), Some(high)) if low == high => f.write_str(&counted(low, "move")),
            (Some(low), Some(high)) => write!(f, "{low} to {high} moves"),
            _ => f.write_str("an unknown number of moves"),
        }
    }
}

#[derive(Debug, serde::Serialize)]
struct MovesReply {
    start: Rows,
    goal: Rows,
    solvable: bool,
    /// The moves as a set of bits: up 1, left 2, down 4, right 8.
    actions: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<DistanceReply>,
    moves: Vec<MoveReply>,
}

#[derive(Debug, serde::Serialize)]
struct MoveReply {
    #[serde(rename = "move")]
    mv: Letter,
    tile: Tile,
    board: Rows,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<DistanceReply>,
    /// Whether an optimal solution begins with the move; unknown if the lengths are unknown.
    optimal: Option<bool>,
}

/// Handles GET and POST.
pub(crate) async fn moves(
    State(service): State<Arc<Service>>,
    method: Method,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let mut fields = input.reader(&FIELDS);
    let boards = board_and_goal(&mut fields);
    let limits = limits(&mut fields);
    let read_as = fields.read_as();
    let (board, goal) = fields.finish(boards)?;
    let moves = service.legal_moves(board, goal, limits).await;
    let moves = moves.map_err(|error| analysis_failure(&error, "use `/hint`, which needs no proof"))?;
    let reply = MovesReply::new(board, goal, moves);
    let body = text_or_json(media_type, &reply, read_as.as_deref());
    let document = Document::new(media_type.content_type(), Document::AN_HOUR, body);
    Ok(document.response_to(&method, &headers))
}

impl MovesReply {
    fn new(start: Board, goal: Board, LegalMoves { distance, mut moves }: LegalMoves) -> Self {
        let actions = moves.iter().map(|legal| legal.mv).collect::<MoveSet>().bits();
        // Equal moves stay in successor order.
        moves.sort_by_key(|legal| legal.distance.map(|distance| (distance.upper_bound, distance.lower_bound)));
        let length = distance.and_then(|distance| distance.length);
        let reply = |LegalMove { mv, tile, board, distance }| {
            let after = distance.and_then(|distance| distance.length);
            MoveReply {
                mv: Letter(mv),
                tile,
                board: Rows(board),
                remaining: distance.map(DistanceReply::from),
                optimal: length.zip(after).map(|(length, after)| after < length),
            }
        };
        Self {
            start: Rows(start),
            goal: Rows(goal),
            solvable: distance.is_some(),
            actions,
            remaining: distance.map(DistanceReply::from),
            moves: moves.into_iter().map(reply).collect(),
        }
    }
}

/// Text for a terminal: the board, and a line for each move.
impl fmt::Display for MovesReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", grid(&self.start.0))?;
        match self.remaining {
            Some(remaining) => writeln!(f, "{remaining} to go.")?,
            None => writeln!(f, "The board is unsolvable; see /solvable.")?,
        }
        for MoveReply { mv: Letter(mv), tile, remaining, optimal, .. } in &self.moves {
            write!(f, "{}: tile {tile}", mv.letter())?;
            if let Some(remaining) = remaining {
                write!(f, ", then {remaining} to go")?;
            }
            writeln!(f, "{}", if *optimal == Some(true) { " (optimal)" } else { "" })?;
        }
        Ok(())
    }
}
