//! `/compare`: one board or several, solved by several methods.

mod experiment;
mod figures;
mod method;
mod preset;
mod reply;
mod rows;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method as HttpMethod};
use axum::response::Response;
use taquin_bulk::fields::{
    BOARD_FIELDS, FieldReader, LIMIT_FIELDS, ListedBoards, METHOD_FIELDS, board_and_goal, boards_and_goal, concat,
    draw_lengths, limits, puzzle, reject_combination, search_options, search_plan, seed_of,
};
use taquin_bulk::{Draw, RequestedLimits, Solvability};
use taquin_solver::{Board, Plan, Puzzle, SearchRequest, Sides, Size, named};

use self::experiment::{Boards, Experiment};
use self::method::Method;
use self::reply::{CompareReply, ResultReply};
use self::rows::RowReply;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose_for};
use crate::http::problem::Problem;
use crate::http::reply::{reserve_if_long, reserved_if_long, service_failure, text_or_json, with_reservation};
use crate::http::request::{RequestFields, goal_of_boards};
pub(crate) use preset::Preset;

use crate::service::{Service, ServiceError};

const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len() + EXPERIMENT_FIELDS.len() + 4] =
    concat(&[&BOARD_FIELDS, &LIMIT_FIELDS, &EXPERIMENT_FIELDS, &["boards", "methods", "preset", "include"]]);

/// Fields of random boards.
const EXPERIMENT_FIELDS: [&str; 5] = ["boards.rows", "boards.cols", "boards.count", "boards.seed", "boards.length"];

/// Fields of a method.
const FIELDS_OF_A_METHOD: [&str; METHOD_FIELDS.len() + LIMIT_FIELDS.len()] = concat(&[&METHOD_FIELDS, &LIMIT_FIELDS]);

/// Maximum number of boards, and default number of random ones.
pub(crate) const MAX_BOARDS: i64 = 1_000;
const DEFAULT_BOARDS: u64 = 100;

/// Maximum number of methods in a request.
pub(crate) const MAX_METHODS: usize = 16;

/// Texts for the problem of a request that accepts no type of a comparison.
const OF_ONE_BOARD: &str = "a comparison of one board";
const OF_SEVERAL_BOARDS: &str = "a comparison of several boards";
const SEVERAL_AS_CSV: &str = "A comparison of several boards, with `boards`, has text/csv too.";

/// Error for `include` without `boards`.
const NO_ROWS: &str = "`rows` needs `boards`: the response to one `board` has a result for each method already; write \
                       the board in a list, `boards`, or omit `include`";

/// Optional parts of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Include {
    Rows,
}

named!(Include { Rows => "rows" });

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
    let is_cacheable = method != HttpMethod::POST;
    let cache_control =
        |is_repeatable| if is_repeatable && is_cacheable { Document::AN_HOUR } else { Document::NO_STORE };
    // Elapsed times must not change the tag.
    let document = match subject {
        Subject::Puzzle(puzzle) => {
            let offers = [MediaType::Json, MediaType::Text];
            let media_type = choose_for(&headers, &offers, OF_ONE_BOARD, SEVERAL_AS_CSV)?;
            let (results, is_repeatable) = results(&service, &puzzle, &methods).await?;
            let mut reply = CompareReply::new(&puzzle, results);
            let body = reserved_if_long(&service, text_or_json(media_type, &reply, read_as))?;
            reply.clear_times();
            Document::tagged_by(media_type.content_type(), cache_control(is_repeatable), body, || {
                text_or_json(media_type, &reply, read_as)
            })
        }
        Subject::Experiment(experiment) => {
            let offers = [MediaType::Json, MediaType::Text, MediaType::Csv];
            let media_type = choose_for(&headers, &offers, OF_SEVERAL_BOARDS, "")?;
            // The memory is reserved before the searches, which would be in vain without it.
            let rows = if experiment.has_rows { experiment.count() * methods.len() } else { 0 };
            let reservation = reserve_if_long(&service, None, rows * RowReply::BYTES)?;
            let (mut reply, is_repeatable) = experiment::run(&service, &experiment, &methods).await?;
            let body = with_reservation(reply.to_bytes(media_type, read_as), reservation);
            reply.clear_times();
            Document::tagged_by(media_type.content_type(), cache_control(is_repeatable), body, || {
                reply.to_bytes(media_type, read_as)
            })
        }
    };
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
        let include: Vec<Include> = fields.choices("include");
        let is_random = fields.has_object("boards") || EXPERIMENT_FIELDS.iter().any(|name| fields.has(name));
        if is_random || fields.has("boards") {
            let boards = if is_random { random_boards(&mut fields) } else { listed_boards(&mut fields) };
            let default = limits(&mut fields);
            let methods = methods(&mut fields, boards.as_ref().map(|(goal, _)| goal.size()), default);
            let read_as = fields.read_as();
            let ((goal, boards), methods) = fields.finish(boards.zip(methods))?;
            let experiment = Experiment { goal, boards, has_rows: include.contains(&Include::Rows) };
            return Ok(Self { subject: Subject::Experiment(experiment), methods, read_as });
        }
        if !include.is_empty() {
            reject_combination(&mut fields, "include", NO_ROWS);
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

/// Rejects fields that `boards` excludes.
fn reject_beside_boards(fields: &mut FieldReader, names: &[&str]) {
    for name in names.iter().filter(|name| fields.has(name)).collect::<Vec<_>>() {
        let detail = format!("`boards` and `{name}` are mutually exclusive");
        fields.take(name).inspect(|value| fields.reject(value, name, "unsupported", detail));
    }
}

/// Reads the boards of the request, and their goal.
fn listed_boards(fields: &mut FieldReader) -> Option<(Board, Boards)> {
    reject_beside_boards(fields, &["board"]);
    let ListedBoards { boards, goal } = boards_and_goal(fields, MAX_BOARDS as usize)?;
    Some((goal, Boards::Listed(boards)))
}

/// Reads the goal and the number of random boards. The size is 3×3 by default, square if only one side is given.
fn random_boards(fields: &mut FieldReader) -> Option<(Board, Boards)> {
    reject_beside_boards(fields, &["boards", "board", "rows", "cols", "encoding"]);
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
    let seed = seed.unwrap_or_else(|| "taquin".to_owned());
    Some((goal?, Boards::Random { count, seed, how, length }))
}

/// Reads `methods` or `preset`.
fn methods(fields: &mut FieldReader, size: Option<Size>, default: RequestedLimits) -> Option<Vec<Method>> {
    if fields.has("methods") && fields.has("preset") {
        let detail = "`preset` and `methods` are mutually exclusive";
        fields.take("preset").inspect(|value| fields.reject(value, "preset", "unsupported", detail));
    }
    if fields.has("methods") {
        let methods = fields.objects("methods", MAX_METHODS, &FIELDS_OF_A_METHOD, |fields| {
            let options = search_options(fields, size);
            let limits = limits(fields).or(default);
            let plan = size.and_then(|size| search_plan(fields, &options, size));
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
