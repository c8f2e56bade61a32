//! `/solvable`: whether a board can be solved.

use axum::http::{HeaderMap, Method};
use axum::response::Response;
use taquin_bulk::fields::{BOARD_FIELDS, board_and_goal, reachability_detail, reachable_goals};
use taquin_bulk::{parity, reason};
use taquin_solver::Reachability;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::{Rows, grid, picture, text_or_json};
use crate::http::request::RequestFields;

#[derive(Debug, serde::Serialize)]
struct SolvableReply {
    solvable: bool,
    reason: Option<&'static str>,
    detail: String,
    inversions: u32,
    permutation_parity: &'static str,
    blank_distance: u32,
    reachable_goals: Vec<&'static str>,
    start: Rows,
    goal: Rows,
}

/// Handles GET and POST.
pub(crate) async fn solvable(method: Method, headers: HeaderMap, input: RequestFields) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text, MediaType::Svg])?;
    let mut fields = input.reader(&BOARD_FIELDS);
    let boards = board_and_goal(&mut fields);
    let verdict = boards.and_then(|(board, goal)| Some((board, goal, Reachability::between(&board, &goal).ok()?)));
    let read_as = fields.read_as();
    let (board, goal, reachability) = fields.finish(verdict)?;
    let goals = reachable_goals(&board);
    let reply = SolvableReply {
        solvable: reachability.is_reachable(),
        reason: reason(&reachability),
        detail: reachability_detail(&reachability, &goals),
        inversions: reachability.inversions,
        permutation_parity: parity(&reachability),
        blank_distance: reachability.blank_distance,
        reachable_goals: goals,
        start: Rows(board),
        goal: Rows(goal),
    };
    let body = match media_type {
        MediaType::Svg => picture::of_board(&board).into_bytes(),
        _ => text_or_json(media_type, &reply, read_as.as_deref()),
    };
    let document = Document::new(media_type.content_type(), Document::AN_HOUR, body);
    Ok(document.response_to(&method, &headers))
}

/// Text for a terminal: the board, the goal, and the verdict.
impl std::fmt::Display for SolvableReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verdict = if self.solvable { "Solvable" } else { "Not solvable" };
        writeln!(f, "{}\n{}\n{verdict}. {}", grid(&self.start.0), grid(&self.goal.0), self.detail)
    }
}
