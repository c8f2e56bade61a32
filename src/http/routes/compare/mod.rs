//! `/compare`: one board, solved by several methods.

mod preset;
mod reply;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method as HttpMethod};
use axum::response::Response;

use self::reply::{CompareReply, ResultReply};
use crate::domain::{Board, Puzzle, Size};
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::{puzzle_failure, reserved_if_long, service_failure};
use crate::http::request::{
    BOARD_FIELDS, FieldReader, LIMIT_FIELDS, METHOD_FIELDS, RequestFields, board_and_goal, concat, search,
};
pub(crate) use preset::Preset;

use crate::service::{Job, Plan, RequestedLimits, SearchOptions, Service, ServiceError};

const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len() + 2] =
    concat(&[&BOARD_FIELDS, &LIMIT_FIELDS, &["methods", "preset"]]);

/// Fields of a method.
const FIELDS_OF_A_METHOD: [&str; METHOD_FIELDS.len() + LIMIT_FIELDS.len()] = concat(&[&METHOD_FIELDS, &LIMIT_FIELDS]);

/// Maximum number of methods in a request.
pub(crate) const MAX_METHODS: usize = 16;

/// A method: its search options as requested, their plan, and its limits.
struct Method {
    options: SearchOptions,
    plan: Plan,
    limits: RequestedLimits,
}

struct CompareBody {
    board: Board,
    goal: Board,
    methods: Vec<Method>,
}

/// Handles GET and POST.
pub(crate) async fn compare(
    State(service): State<Arc<Service>>,
    method: HttpMethod,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    let CompareBody { board, goal, methods } = CompareBody::read(input)?;
    let puzzle = Puzzle::try_new(board, goal).map_err(puzzle_failure)?;
    let (results, is_repeatable) = results(&service, &puzzle, &methods).await?;
    let mut reply = CompareReply::new(&puzzle, results);
    let body = reserved_if_long(&service, reply.to_bytes(media_type))?;
    let tag = || {
        // Elapsed times must not change the tag.
        reply.clear_times();
        reply.to_bytes(media_type)
    };
    let cache_control =
        if is_repeatable && method != HttpMethod::POST { Document::AN_HOUR } else { Document::NO_STORE };
    Ok(Document::tagged_by(media_type.content_type(), cache_control, body, tag).response_to(&method, &headers))
}

/// Results of the methods, and whether they are reproducible. The searches run one after another, so a comparison never
/// takes more than one place in the queue. Dropping this future cancels the running search.
async fn results(service: &Service, puzzle: &Puzzle, methods: &[Method]) -> Result<(Vec<ResultReply>, bool), Problem> {
    let searches: Vec<(Plan, RequestedLimits)> = methods.iter().map(|method| (method.plan, method.limits)).collect();
    let limits = service.limits_for_all(puzzle.size(), &searches);
    let (mut results, mut is_repeatable) = (Vec::with_capacity(methods.len()), true);
    for (at, (Method { options, plan, .. }, limits)) in methods.iter().zip(limits).enumerate() {
        let job = Job::new(*puzzle, *plan, limits);
        results.push(match service.submit(job).await {
            Ok(answer) => {
                is_repeatable &= answer.report.is_repeatable();
                ResultReply::new(options, &answer.report)
            }
            // Not an error of one method: the client has to retry the whole request. Finished results are cached.
            Err(error @ (ServiceError::Overloaded { .. } | ServiceError::ShuttingDown)) => {
                return Err(service_failure(&error));
            }
            Err(error) => {
                is_repeatable = false;
                ResultReply::failed(options, service_failure(&error).within(&format!("/methods/{at}")))
            }
        });
    }
    Ok((results, is_repeatable))
}

impl CompareBody {
    fn read(input: RequestFields) -> Result<Self, Problem> {
        let mut fields = FieldReader::new(input, &FIELDS);
        let boards = board_and_goal(&mut fields);
        let default = search::limits(&mut fields);
        let methods = methods(&mut fields, boards.map(|(board, _)| board.size()), default);
        let ((board, goal), methods) = fields.finish(boards.zip(methods))?;
        Ok(Self { board, goal, methods })
    }
}

/// Reads `methods` or `preset`.
fn methods(fields: &mut FieldReader, size: Option<Size>, default: RequestedLimits) -> Option<Vec<Method>> {
    if fields.has("methods") && fields.has("preset") {
        let detail = "`preset` and `methods` are mutually exclusive";
        fields.take("preset").inspect(|value| fields.reject(value, "preset", "unsupported", detail));
    }
    if fields.has("methods") {
        let methods = fields.objects("methods", MAX_METHODS, &FIELDS_OF_A_METHOD, |fields| {
            let options = search::options(fields);
            let limits = search::limits(fields).or(default);
            let plan = size.and_then(|size| search::plan(fields, &options, size));
            plan.map(|plan| Method { options, plan, limits })
        });
        return methods?.into_iter().collect();
    }
    if !fields.has("preset") {
        let detail = "`methods` or `preset` is required, for example `methods` [{\"algorithm\": \"astar\", \"heuristic\": \
                      \"manhattan\"}, {\"algorithm\": \"breadth_first\"}] or `preset` \"heuristics\"";
        fields.report_missing("methods", detail);
        return None;
    }
    let preset: Preset = fields.choice("preset", None)?;
    Some(preset.on(size?).map(|(options, plan)| Method { options, plan, limits: default }).collect())
}
