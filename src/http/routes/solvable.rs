//! `/solvable`.

use axum::http::{HeaderMap, Method};
use axum::response::Response;

use crate::domain::Reachability;
use crate::http::negotiation::{Document, Offer, choose};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{Rows, grid, json};
use crate::http::request::{BOARD_FIELDS, Fields, Question, board_and_goal, sentence};

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

/// Answers GET and POST.
pub(crate) async fn answer(method: Method, headers: HeaderMap, question: Question) -> Result<Response, Problem> {
    let offer = choose(&headers, &[Offer::Json, Offer::Text])?;
    let mut fields = Fields::gather(question, &BOARD_FIELDS);
    let boards = board_and_goal(&mut fields);
    fields.finish()?;
    let verdict = boards.and_then(|(board, goal)| Some((board, goal, Reachability::between(&board, &goal).ok()?)));
    let Some((board, goal, reachability)) = verdict else {
        return Err(Problem::without_fault());
    };
    let detail = detail(&reachability);
    let body = match offer {
        Offer::Text => {
            let verdict = if reachability.is_reachable() { "Solvable" } else { "Not solvable" };
            format!("{}\n{}\n{verdict}. {detail}\n", grid(&board), grid(&goal)).into_bytes()
        }
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
    Ok(Document::new(offer.content_type(), Document::AN_HOUR, body).answer_to(&method, &headers))
}

/// The problem of a board that cannot reach its goal.
pub(crate) fn unsolvable(reachability: &Reachability) -> Problem {
    Problem::new(ProblemKind::Unsolvable, detail(reachability))
        .with_member("solvable", false)
        .with_member("reason", reason(reachability))
        .with_member("inversions", reachability.inversions)
        .with_member("permutation_parity", parity(reachability))
        .with_member("blank_distance", reachability.blank_distance)
}

fn detail(reachability: &Reachability) -> String {
    sentence(&reachability.to_string())
}

fn reason(reachability: &Reachability) -> Option<&'static str> {
    (!reachability.is_reachable()).then_some("parity")
}

fn parity(reachability: &Reachability) -> &'static str {
    if reachability.odd_permutation { "odd" } else { "even" }
}
