//! Recipes: jobs whose boards are drawn from a seed.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use taquin_bulk::fields::{FieldReader, limits};
use taquin_bulk::rows::{RowFormat, unserved};
use taquin_bulk::{ErrorKind, FieldError, JobBoards, Recipe, RecipeError, Want};
use taquin_solver::{Board, Sides, Size};

use super::caller::Caller;
use super::failure::too_large;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::request::{RequestFields, essence, goal_of_boards};
use crate::http::state::AppState;
use crate::jobs::Draft;

const FIELDS: [&str; 8] =
    ["random.rows", "random.cols", "random.seed", "random.count", "goal", "want", "limits.time_ms", "limits.expanded"];

/// Kind of a job's body.
pub(super) enum JobBody {
    Recipe,
    Rows(RowFormat),
}

impl JobBody {
    /// Reads the content type. Unless `is_strict`, the default types of `curl -d` and `fetch` stand for a recipe.
    ///
    /// # Errors
    /// `unsupported-media-type`.
    pub(super) fn of(headers: &HeaderMap, is_strict: bool) -> Result<Self, Problem> {
        const WRONG_TYPE: &str = "The body of a job is application/json with a recipe, or application/x-ndjson (or \
                              application/jsonl) or text/csv with a board in each line. With curl, use `--json '…'`, or \
                              `-H 'Content-Type: application/x-ndjson' --data-binary @FILE`.";
        let unsupported = |detail: &str| {
            let types = format!("application/json, {}", RowFormat::MEDIA_TYPES);
            let problem = Problem::new(ProblemKind::UnsupportedMediaType, detail);
            match HeaderValue::try_from(types) {
                Ok(types) => problem.with_header(header::ACCEPT, types),
                Err(_) => problem,
            }
        };
        let essence = essence(headers, unsupported, WRONG_TYPE)?.to_ascii_lowercase();
        match &*essence {
            "application/json" => Ok(Self::Recipe),
            "text/plain" | "application/x-www-form-urlencoded" if !is_strict => Ok(Self::Recipe),
            rows => RowFormat::of_media_type(rows).map(Self::Rows).ok_or_else(|| unsupported(WRONG_TYPE)),
        }
    }
}

/// Reads a recipe.
///
/// # Errors
/// All errors of the fields at once, or `content-too-large`.
pub(super) async fn draft(head: &Parts, body: Body, state: &AppState, caller: &Caller) -> Result<Draft, Problem> {
    let input = RequestFields::read(head, body, state.settings).await?;
    let (draft, count) = read(input)?;
    let most = caller.engine.settings().max_boards;
    if count > most {
        return Err(too_large(&format!("The job has {count} boards; the maximum of this server is {most}")));
    }
    Ok(draft)
}

fn read(input: RequestFields) -> Result<(Draft, u64), Problem> {
    let mut fields = input.reader(&FIELDS);
    let required = FIELDS.into_iter().filter(|name| name.starts_with("random."));
    let missing: Vec<&str> = required.filter(|name| !fields.has(name)).collect();
    if missing.len() == 4 && !fields.has_object("random") {
        let detail = r#"`random` is required, for example {"rows": 4, "cols": 4, "seed": "s", "count": 1000}"#;
        fields.report_missing("random", detail);
    } else {
        missing.iter().for_each(|name| fields.report_missing(name, &format!("`{name}` is required")));
    }
    let mut side = |name| fields.integer(name, Size::MIN_SIDE as i64..=Size::MAX_SIDE as i64).map(|side| side as usize);
    let sides = Sides { rows: side("random.rows"), cols: side("random.cols") };
    let size = sides.rows.zip(sides.cols).and_then(|sides| Size::try_from(sides).ok());
    let seed = fields.parsed_text_or_number("random.seed", |text| Ok(text.to_owned()));
    let count = fields.integer("random.count", 1..=Recipe::MAX_COUNT as i64);
    let goal = goal_of_boards(&mut fields, size, sides).filter(|goal| Some(goal.size()) == size);
    let want: Want = fields.choice("want", None).unwrap_or_default();
    let limits = limits(&mut fields);
    let recipe = recipe(&mut fields, goal, seed, count);
    let recipe = fields.finish(recipe)?;
    if !want.serves(recipe.goal().size()) {
        return Err(unserved(recipe.goal().size()).into());
    }
    let count = recipe.count();
    Ok((Draft { boards: JobBoards::Recipe(recipe), want, limits, folder: None }, count))
}

fn recipe(fields: &mut FieldReader, goal: Option<Board>, seed: Option<String>, count: Option<u64>) -> Option<Recipe> {
    let (goal, seed, count) = (goal?, seed?, count?);
    let report = |error: RecipeError| {
        let at = match error {
            RecipeError::Count => "/random/count",
            RecipeError::Seed(_) => "/random/seed",
        };
        fields.report(ErrorKind::InvalidRequest, FieldError::new(at, "out-of-range", error.to_string()));
    };
    Recipe::try_new(goal, &seed, count).map_err(report).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_bulk::fields::{Json, WrittenFields};

    fn of(json: &str) -> Result<Draft, Problem> {
        let body = Some(WrittenFields::Json(Json::parse(json).unwrap()));
        read(RequestFields { query: Vec::new(), body }).map(|(draft, _)| draft)
    }

    #[test]
    fn a_recipe_is_read_whole() {
        let draft = of(r#"{"random": {"rows": 3, "cols": 5, "seed": "s", "count": 1000000}, "goal": "snail",
                       "want": "next", "limits": {"time_ms": 50, "expanded": 7}}"#);
        let draft = draft.unwrap();
        let JobBoards::Recipe(recipe) = draft.boards else { panic!("a recipe") };
        assert_eq!(recipe.goal().to_string(), "1 2 3 4 5/12 13 14 0 6/11 10 9 8 7");
        assert_eq!((recipe.count(), recipe.seed(), draft.want), (1_000_000, "s", Want::Next));
        assert_eq!((draft.limits.time.unwrap().as_millis(), draft.limits.expanded), (50, Some(7)));
    }

    #[test]
    fn all_errors_are_listed_with_their_pointers() {
        let pointers = |json| {
            let mut all: Vec<_> = of(json).unwrap_err().errors.into_iter().map(|error| error.pointer).collect();
            all.sort();
            all
        };
        assert_eq!(pointers("{}"), ["/random"]);
        assert_eq!(pointers(r#"{"random": {"rows": 4}}"#), ["/random/cols", "/random/count", "/random/seed"]);
        let json = r#"{"random": {"rows": 1, "cols": 11, "seed": [5], "count": 0, "x": 1}, "want": "height",
                    "limits": {"time_ms": 0, "nodes": 1}}"#;
        let expected = [
            "/limits/nodes",
            "/limits/time_ms",
            "/random/cols",
            "/random/count",
            "/random/rows",
            "/random/seed",
            "/random/x",
            "/want",
        ];
        assert_eq!(pointers(json), expected);
        let goal = r#"{"random": {"rows": 3, "cols": 3, "seed": "s", "count": 1}, "goal": [[1, 2], [3, 0]]}"#;
        assert_eq!(pointers(goal), ["/goal"]);
        let seed = format!(r#"{{"random": {{"rows": 3, "cols": 3, "seed": "{}", "count": 1}}}}"#, "s".repeat(127));
        assert_eq!(pointers(&seed), ["/random/seed"]);
        let next = r#"{"random": {"rows": 5, "cols": 5, "seed": "s", "count": 1}, "want": "next"}"#;
        assert_eq!(pointers(next), ["/want"]);
    }
}
