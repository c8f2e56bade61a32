//! `/compare`: one board, or many random ones, solved by several methods.

mod experiment;
mod preset;
mod reply;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method as HttpMethod};
use axum::response::Response;
use taquin_bulk::RequestedLimits;
use taquin_bulk::fields::{BOARD_FIELDS, FieldReader, LIMIT_FIELDS, board_and_goal, concat, limits, puzzle};
use taquin_solver::{Plan, Puzzle, SearchRequest, Sides, Size};

use self::experiment::{Experiment, Method};
use self::reply::{CompareReply, ResultReply};
use super::random::{draw_lengths, seed_of};
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose, choose_for};
use crate::http::problem::Problem;
use crate::http::reply::{reserved_if_long, service_failure, text_or_json};
use crate::http::request::{METHOD_FIELDS, RequestFields, goal_of_boards, search};
pub(crate) use preset::Preset;

use crate::service::{Draw, Service, ServiceError, Solvability};

const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len() + EXPERIMENT_FIELDS.len() + 2] =
    concat(&[&BOARD_FIELDS, &LIMIT_FIELDS, &EXPERIMENT_FIELDS, &["methods", "preset"]]);

/// Fields of an experiment.
const EXPERIMENT_FIELDS: [&str; 5] = ["boards.rows", "boards.cols", "boards.count", "boards.seed", "boards.length"];

/// Fields of a method.
const FIELDS_OF_A_METHOD: [&str; METHOD_FIELDS.len() + LIMIT_FIELDS.len()] = concat(&[&METHOD_FIELDS, &LIMIT_FIELDS]);

/// Maximum and default number of boards of an experiment.
pub(crate) const MAX_BOARDS: i64 = 1_000;
const DEFAULT_BOARDS: u64 = 100;

/// Maximum number of methods in a request.
pub(crate) const MAX_METHODS: usize = 16;

/// Texts for the problem of a request that accepts no type of a comparison of one board.
const OF_ONE_BOARD: &str = "a comparison of one board";
const OF_SEVERAL_BOARDS: &str = "A comparison of random boards, with `boards`, has text/csv too.";

struct CompareBody {
    subject: Subject,
    methods: Vec<Method>,
    read_as: Option<String>,
}

/// The boards to solve.
enum Subject {
    Puzzle(Puzzle),
    Experiment(Experiment),
}

/// Handles GET and POST.
pub(crate) async fn compare(
    State(service): State<Arc<Service>>,
    method: HttpMethod,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let CompareBody { subject, methods, read_as } = CompareBody::read(input)?;
    let read_as = read_as.as_deref();
    // Elapsed times must not change the tag.
    let (media_type, body, is_repeatable, without_times) = match subject {
        Subject::Puzzle(puzzle) => {
            let media_type =
                choose_for(&headers, &[MediaType::Json, MediaType::Text], OF_ONE_BOARD, OF_SEVERAL_BOARDS)?;
            let (results, is_repeatable) = results(&service, &puzzle, &methods).await?;
            let mut reply = CompareReply::new(&puzzle, results);
            let body = text_or_json(media_type, &reply, read_as);
            reply.clear_times();
            (media_type, body, is_repeatable, text_or_json(media_type, &reply, read_as))
        }
        Subject::Experiment(experiment) => {
            let media_type = choose(&headers, &[MediaType::Json, MediaType::Text, MediaType::Csv])?;
            let (mut reply, is_repeatable) = experiment::run(&service, &experiment, &methods).await?;
            let body = reply.to_bytes(media_type, read_as);
            reply.clear_times();
            (media_type, body, is_repeatable, reply.to_bytes(media_type, read_as))
        }
    };
    let body = reserved_if_long(&service, body)?;
    let cache_control =
        if is_repeatable && method != HttpMethod::POST { Document::AN_HOUR } else { Document::NO_STORE };
    let document = Document::tagged_by(media_type.content_type(), cache_control, body, || without_times);
    Ok(document.response_to(&method, &headers))
}

/// Results of the methods, and whether they are reproducible. The searches run one after another, so a comparison never
/// takes more than one place in the queue. Dropping this future cancels the running search.
async fn results(service: &Service, puzzle: &Puzzle, methods: &[Method]) -> Result<(Vec<ResultReply>, bool), Problem> {
    let searches: Vec<(Plan, RequestedLimits)> = methods.iter().map(|method| (method.plan, method.limits)).collect();
    let limits = service.limits_for_all(puzzle.size(), &searches);
    let (mut results, mut is_repeatable) = (Vec::with_capacity(methods.len()), true);
    for (at, (Method { options, plan, .. }, limits)) in methods.iter().zip(limits).enumerate() {
        let job = SearchRequest::new(*puzzle, *plan, limits);
        results.push(match service.submit_logged(job).await {
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
        let mut fields = input.reader(&FIELDS);
        if fields.has_object("boards") || EXPERIMENT_FIELDS.iter().any(|name| fields.has(name)) {
            let experiment = experiment(&mut fields);
            let default = limits(&mut fields);
            let methods = methods(&mut fields, experiment.as_ref().map(|experiment| experiment.goal.size()), default);
            let read_as = fields.read_as();
            let (experiment, methods) = fields.finish(experiment.zip(methods))?;
            return Ok(Self { subject: Subject::Experiment(experiment), methods, read_as });
        }
        let boards = board_and_goal(&mut fields);
        let default = limits(&mut fields);
        let methods = methods(&mut fields, boards.map(|(board, _)| board.size()), default);
        let read_as = fields.read_as();
        let ((board, goal), methods) = fields.finish(boards.zip(methods))?;
        let puzzle = puzzle(board, goal)?;
        Ok(Self { subject: Subject::Puzzle(puzzle), methods, read_as })
    }
}

/// Reads the boards of an experiment. The size is 3×3 by default, square if only one side is given.
fn experiment(fields: &mut FieldReader) -> Option<Experiment> {
    for name in ["board", "rows", "cols", "encoding"].into_iter().filter(|name| fields.has(name)).collect::<Vec<_>>() {
        let detail = format!("`boards` and `{name}` are mutually exclusive");
        fields.take(name).inspect(|value| fields.reject(value, name, "unsupported", detail));
    }
    let mut side = |name| fields.integer(name, Size::MIN_SIDE as i64..=Size::MAX_SIDE as i64).map(|side| side as usize);
    let (rows, cols) = (side("boards.rows"), side("boards.cols"));
    let one = rows.or(cols).unwrap_or(3);
    let size = Size::try_from((rows.unwrap_or(one), cols.unwrap_or(one))).ok();
    let goal = goal_of_boards(fields, size, Sides { rows, cols });
    let count = fields.integer("boards.count", 1..=MAX_BOARDS).unwrap_or(DEFAULT_BOARDS) as usize;
    let seed = fields.parsed_text_or_number("boards.seed", |text| seed_of(text, MAX_BOARDS as usize));
    let length = fields.parsed_text_or_number("boards.length", |text| Ok((text.to_owned(), draw_lengths(text)?)));
    let (length, how) = match length {
        Some((text, lengths)) => (Some(text), Draw::Length(lengths)),
        None => (None, Draw::Uniform(Solvability::Solvable)),
    };
    Some(Experiment { goal: goal?, count, seed: seed.unwrap_or_else(|| "taquin".to_owned()), how, length })
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
            let limits = limits(fields).or(default);
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
