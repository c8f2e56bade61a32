//! `/verify`: whether moves are legal, the final board, its distance from the goal, and which moves were mistakes.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use taquin_bulk::fields::{
    ATTEMPT_FIELDS, BOARD_FIELDS, LIMIT_FIELDS, attempt, board_and_goal, concat, limits, reject_combination,
};
use taquin_bulk::{RequestedLimits, counted, sentence};
use taquin_solver::solver::AttemptCheck;
use taquin_solver::{Attempt, AttemptedMove, Board, Cell, Distance, IllegalMove, Path, Plan, Step, Tile, named};

use super::moves::DistanceReply;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::{LengthsReply, Letter, Rows, analysis_failure, grid, reserved_if_long, text_or_json};
use crate::http::request::RequestFields;
use crate::service::{AnalysisParts, Service};

const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len() + ATTEMPT_FIELDS.len() + 2] =
    concat(&[&BOARD_FIELDS, &LIMIT_FIELDS, &ATTEMPT_FIELDS, &["include", "exact"]]);

/// Optional parts of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Include {
    /// The distance after each move.
    Steps,
}

named!(Include { Steps => "steps" });

/// Maximum number of moves whose distances are listed. The list then takes half a megabyte of JSON.
const MAX_STEPS: usize = 5_000;

#[derive(Debug, serde::Serialize)]
struct VerifyReply {
    legal: bool,
    illegal: Option<IllegalReply>,
    solves: bool,
    optimal: bool,
    solvable: bool,
    length: usize,
    lengths: LengthsReply,
    alg: String,
    scramble: String,
    #[serde(flatten)]
    of_start: DistanceReply,
    percentile: Option<f64>,
    remaining: DistanceReply,
    start: Rows,
    goal: Rows,
    #[serde(rename = "final")]
    end: Rows,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<StepReply>>,
}

/// A move made, and the distance after it.
#[derive(Debug, serde::Serialize)]
struct StepReply {
    #[serde(rename = "move")]
    mv: Letter,
    tile: Tile,
    /// The cell of the blank after the move.
    blank: Cell,
    remaining: DistanceReply,
    /// Whether the move leads away from the goal; unknown if the lengths are unknown.
    mistake: Option<bool>,
    /// Moves that the mistake costs.
    cost: Option<u32>,
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

struct VerifyBody {
    board: Board,
    goal: Board,
    attempt: Attempt,
    parts: AnalysisParts,
    limits: RequestedLimits,
    read_as: Option<String>,
}

/// Handles GET and POST.
pub(crate) async fn verify(
    State(service): State<Arc<Service>>,
    method: Method,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let VerifyBody { board, goal, attempt, parts, limits, read_as } = VerifyBody::read(input)?;
    let check = service.check_attempt((board, goal), attempt, parts, limits).await;
    let reply = VerifyReply::new(board, goal, &check.map_err(|error| analysis_failure(&error, INSTEAD))?);
    let body = text_or_json(media_type, &reply, read_as.as_deref());
    let body = reserved_if_long(&service, body)?;
    let document = Document::new(media_type.content_type(), Document::AN_HOUR, body);
    Ok(document.response_to(&method, &headers))
}

/// Advice for an optimal length that cannot be proven in time.
const INSTEAD: &str = "omit `exact` and `include`: the bounds are known without a search";

impl VerifyBody {
    fn read(input: RequestFields) -> Result<Self, Problem> {
        let mut fields = input.reader(&FIELDS);
        let boards = board_and_goal(&mut fields);
        let size = boards.map(|(board, _)| board.size());
        let attempt = attempt(&mut fields, size);
        let steps = fields.choices("include").contains(&Include::Steps);
        let exact = fields.flag("exact");
        if steps && attempt.as_ref().is_some_and(|attempt| attempt.len() > MAX_STEPS) {
            let detail =
                format!("the distance after each of more than {MAX_STEPS} moves is not listed; give fewer moves");
            reject_combination(&mut fields, "include", detail);
        }
        if let Some(size) = size.filter(|size| exact && !Plan::is_proven_by_auto(*size)) {
            let detail = format!(
                "optimal lengths are proven on boards of up to 16 cells, not on {size} boards; omit `exact` for bounds"
            );
            reject_combination(&mut fields, "exact", detail);
        }
        let limits = limits(&mut fields);
        let read_as = fields.read_as();
        let ((board, goal), attempt) = fields.finish(boards.zip(attempt))?;
        Ok(Self { board, goal, attempt, parts: AnalysisParts { exact, steps }, limits, read_as })
    }
}

impl VerifyReply {
    fn new(start: Board, goal: Board, verdict: &AttemptCheck) -> Self {
        let AttemptCheck { played, distances, percentile, steps } = verdict;
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
            lengths: LengthsReply::from(&played.path),
            alg: played.path.alg(),
            scramble: played.path.scramble(),
            of_start,
            percentile: *percentile,
            remaining,
            start: Rows(start),
            goal: Rows(goal),
            end: Rows(played.end),
            steps: steps
                .as_ref()
                .zip(*distances)
                .map(|(steps, (of_start, _))| listed(&start, &played.path, of_start, steps)),
        }
    }
}

/// Lists the moves made with the distances after them.
fn listed(start: &Board, path: &Path, of_start: Distance, distances: &[Distance]) -> Vec<StepReply> {
    let mut before = of_start;
    let step = |(step, after): (Step, &Distance)| {
        let mistake = before.length.zip(after.length).map(|(before, after)| after > before);
        before = *after;
        // The move itself and the move that undoes it.
        let cost = mistake.map(|is_mistake| if is_mistake { 2 } else { 0 });
        let Step { mv, tile, board } = step;
        StepReply { mv: Letter(mv), tile, blank: board.blank(), remaining: (*after).into(), mistake, cost }
    };
    path.steps(start).zip(distances).map(step).collect()
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
        self.steps.iter().flatten().try_for_each(|step| writeln!(f, "{step}"))?;
        write!(f, "\n{}", grid(&self.end.0))
    }
}

/// A line of text.
impl std::fmt::Display for StepReply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { mv: Letter(mv), tile, remaining, .. } = self;
        write!(f, "{}: tile {tile}, {remaining} to go", mv.letter())?;
        match self.cost {
            Some(cost) if cost > 0 => write!(f, "; a mistake that costs {}", counted(cost, "move")),
            _ => Ok(()),
        }
    }
}
