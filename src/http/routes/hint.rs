//! `/hint`: the next move.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use taquin_bulk::RequestedLimits;
use taquin_bulk::fields::{BOARD_FIELDS, LIMIT_FIELDS, board_and_goal, concat, limits, moves, puzzle};
use taquin_solver::{MoveNotation, Path, Puzzle, Tile};

use crate::http::exchange::AccessLine;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::{
    Letter, LimitsReply, Rows, SearchReply, add_server_timing, grid, limit_exceeded, no_result, service_failure,
    text_or_json,
};
use crate::http::request::RequestFields;
use crate::service::{Hint, Service};

const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len() + 1] = concat(&[&BOARD_FIELDS, &LIMIT_FIELDS, &["trail"]]);

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
    trail: String,
    /// None if no search was necessary.
    search: Option<SearchReply>,
    limits: LimitsReply,
}

struct HintBody {
    puzzle: Puzzle,
    trail: Option<Path>,
    limits: RequestedLimits,
    read_as: Option<String>,
}

/// Handles GET and POST.
pub(crate) async fn hint(
    State(service): State<Arc<Service>>,
    Extension(line): Extension<AccessLine>,
    method: Method,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let HintBody { puzzle, trail, limits, read_as } = HintBody::read(input)?;
    let hint = service.hint(puzzle, trail.as_ref(), limits).await.map_err(|error| service_failure(&error))?;
    let reply = HintReply::new(&puzzle, &hint)?;
    let body = text_or_json(media_type, &reply, read_as.as_deref());
    // The choice among equally good moves depends on earlier requests.
    let document = Document::new(media_type.content_type(), Document::NO_STORE, body);
    // The response to a POST has no tag, and conditions do not hinder it.
    let mut response = document.response(&if method == Method::POST { HeaderMap::new() } else { headers });
    if let Some(answer) = &hint.answer {
        add_server_timing(&mut response, answer);
        line.add_search(puzzle.size(), answer);
    }
    Ok(response)
}

impl HintBody {
    fn read(input: RequestFields) -> Result<Self, Problem> {
        let mut fields = input.reader(&FIELDS);
        let boards = board_and_goal(&mut fields);
        let limits = limits(&mut fields);
        let trail = moves(&mut fields, "trail", MoveNotation::Blank).map(Path::from);
        let read_as = fields.read_as();
        let (board, goal) = fields.finish(boards)?;
        let puzzle = puzzle(board, goal)?;
        Ok(Self { puzzle, trail, limits, read_as })
    }
}

impl HintReply {
    /// # Errors
    /// `search-limit-exceeded` if a limit ended the search without a solution; `internal` if there is neither a
    /// solution nor a limit, which is a bug.
    fn new(puzzle: &Puzzle, hint: &Hint) -> Result<Self, Problem> {
        let report = hint.answer.as_ref().map(|answer| &*answer.report);
        let Some(path) = &hint.path else {
            let stopped = report.and_then(|report| Some((report, report.stopped?)));
            return Err(stopped.map_or_else(no_result, |(report, stop)| limit_exceeded(report, stop)));
        };
        let (length, mut board) = (path.len(), *puzzle.start());
        let step = path.moves().first().and_then(|mv| Some((*mv, board.make(*mv)?)));
        Ok(Self {
            mv: step.map(|(mv, _)| Letter(mv)),
            tile: step.map(|(_, tile)| tile),
            length,
            optimal: length == hint.lower_bound as usize,
            lower_bound: hint.lower_bound,
            remaining: length.saturating_sub(1),
            start: Rows(*puzzle.start()),
            goal: Rows(*puzzle.goal()),
            board: Rows(board),
            trail: path.letters(),
            search: report.map(SearchReply::new),
            limits: LimitsReply::new(hint.limits),
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
        writeln!(f, "\n{}", grid(&self.board.0))?;
        match &self.search {
            Some(search) => write!(f, "{search}"),
            None => writeln!(f, "along the trail, without a search"),
        }
    }
}
