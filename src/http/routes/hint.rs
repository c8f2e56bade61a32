//! `/hint`: the next move.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::domain::{Puzzle, Tile};
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::{
    Letter, LimitsReply, Rows, SearchReply, add_server_timing, grid, json, limit_exceeded, no_result, puzzle_failure,
    service_failure,
};
use crate::http::request::{BOARD_FIELDS, FieldReader, LIMIT_FIELDS, RequestFields, board_and_goal, concat, limits};
use crate::service::{Hint, RequestedLimits, Service};

const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len()] = concat(&[&BOARD_FIELDS, &LIMIT_FIELDS]);

#[derive(Debug, serde::Serialize)]
struct HintReply {
    #[serde(rename = "move")]
    mv: Option<Letter>,
    tile: Option<Tile>,
    length: usize,
    optimal: bool,
    lower_bound: u32,
    remaining: usize,
    start: Rows,
    goal: Rows,
    board: Rows,
    search: SearchReply,
    limits: LimitsReply,
}

/// Handles GET and POST.
pub(crate) async fn hint(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let (puzzle, limits) = read(input)?;
    let hint = service.hint(puzzle, limits).await.map_err(|error| service_failure(&error))?;
    if let Some(stop) = hint.answer.report.stopped {
        return Err(limit_exceeded(&hint.answer.report, stop));
    }
    let reply = HintReply::new(&puzzle, &hint)?;
    let body = match media_type {
        MediaType::Text => reply.to_string().into_bytes(),
        _ => json(&reply),
    };
    // The choice among equally good moves depends on earlier requests.
    let document = Document::new(media_type.content_type(), Document::NO_STORE, body);
    let mut response = document.response(&headers);
    add_server_timing(&mut response, &hint.answer);
    Ok(response)
}

fn read(input: RequestFields) -> Result<(Puzzle, RequestedLimits), Problem> {
    let mut fields = FieldReader::new(input, &FIELDS);
    let boards = board_and_goal(&mut fields);
    let limits = limits(&mut fields);
    let (board, goal) = fields.finish(boards)?;
    Ok((Puzzle::try_new(board, goal).map_err(puzzle_failure)?, limits))
}

impl HintReply {
    /// Reply of a search that was not stopped.
    ///
    /// # Errors
    /// `internal` if the report has no solution, which is a bug.
    fn new(puzzle: &Puzzle, hint: &Hint) -> Result<Self, Problem> {
        let length = hint.length().ok_or_else(no_result)?;
        let step = hint.step();
        let mut board = *puzzle.start();
        step.and_then(|(mv, _)| board.make(mv));
        Ok(Self {
            mv: step.map(|(mv, _)| Letter(mv)),
            tile: step.map(|(_, tile)| tile),
            length,
            optimal: hint.is_optimal(),
            lower_bound: hint.lower_bound(),
            remaining: length.saturating_sub(1),
            start: Rows(*puzzle.start()),
            goal: Rows(*puzzle.goal()),
            board: Rows(board),
            search: SearchReply::new(&hint.answer.report),
            limits: LimitsReply::new(&hint.answer.report),
        })
    }
}

/// Text for a terminal: the board, the move, and the next board.
impl std::fmt::Display for HintReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", grid(&self.start.0))?;
        let Some((Letter(mv), tile)) = self.mv.zip(self.tile) else {
            return writeln!(f, "Already solved.");
        };
        let moves = if self.remaining == 1 { "move remains" } else { "moves remain" };
        write!(f, "{}: tile {tile} slides, then {} {moves}", mv.letter(), self.remaining)?;
        match self.optimal {
            true => writeln!(f, " (optimal).")?,
            false => writeln!(f, "; no solution has fewer than {} in all.", self.lower_bound)?,
        }
        write!(f, "\n{}\n{}", grid(&self.board.0), self.search)
    }
}
