//! `/solvable`: whether a board can be solved.

use axum::http::{HeaderMap, Method};
use axum::response::Response;
use taquin_bulk::fields::{BOARD_FIELDS, board_and_goal};
use taquin_bulk::{parity, reason, sentence};
use taquin_solver::Reachability;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::{Rows, grid, json, picture};
use crate::http::request::RequestFields;

#[derive(Debug, serde::Serialize)]
struct SolvableReply {
    solvable: bool,
    reason: Option<&'static str>,
    detail: String,
    inversions: u32,
    permutation_parity: &'static str,
    blank_distance: u32,
    start: Rows,
    goal: Rows,
}

/// Handles GET and POST.
pub(crate) async fn solvable(method: Method, headers: HeaderMap, input: RequestFields) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text, MediaType::Svg])?;
    let mut fields = input.reader(&BOARD_FIELDS);
    let boards = board_and_goal(&mut fields);
    let verdict = boards.and_then(|(board, goal)| Some((board, goal, Reachability::between(&board, &goal).ok()?)));
    let (board, goal, reachability) = fields.finish(verdict)?;
    let detail = sentence(&reachability.to_string());
    let body = match media_type {
        MediaType::Text => {
            let verdict = if reachability.is_reachable() { "Solvable" } else { "Not solvable" };
            format!("{}\n{}\n{verdict}. {detail}\n", grid(&board), grid(&goal)).into_bytes()
        }
        MediaType::Svg => picture::of_board(&board).into_bytes(),
        _ => json(&SolvableReply {
            solvable: reachability.is_reachable(),
            reason: reason(&reachability),
            detail,
            inversions: reachability.inversions,
            permutation_parity: parity(&reachability),
            blank_distance: reachability.blank_distance,
            start: Rows(board),
            goal: Rows(goal),
        }),
    };
    let document = Document::new(media_type.content_type(), Document::AN_HOUR, body);
    Ok(document.response_to(&method, &headers))
}
