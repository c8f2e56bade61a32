//! The fields of a request for random boards.

use std::ops::RangeInclusive;
use std::str::FromStr;

use taquin_bulk::fields::{FieldReader, goal_and_from, puzzle, reject_combination};
use taquin_bulk::{Draw, ErrorKind, FieldError, Solvability, Walk};
use taquin_solver::{Board, named};

use crate::http::problem::Problem;
use crate::http::request::RequestFields;

const FIELDS: [&str; 13] = [
    "rows",
    "cols",
    "goal",
    "seed",
    "length",
    "percentile",
    "walk",
    "walk_back",
    "from",
    "solvable",
    "count",
    "distinct",
    "as",
];

/// Maximum length of a walk. A few thousand moves already shuffle the largest board.
const MAX_WALK: i64 = 100_000;
const MAX_SEED_CHARS: usize = 128;
/// With several boards, the seed of each board gets a slash and up to three digits.
const MAX_SEED_CHARS_OF_SEVERAL: usize = MAX_SEED_CHARS - 4;
/// With distinct boards, whose seeds skip indices, the seed of each board gets a slash and up to five digits.
const MAX_SEED_CHARS_OF_DISTINCT: usize = MAX_SEED_CHARS - 6;
const MAX_COUNT: i64 = 1_000;

/// Format of the response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::http::routes) enum As {
    Board,
    Request,
    Text,
    Line,
    Svg,
}

named!(As { Board => "board", Request => "request", Text => "text", Line => "line", Svg => "svg" });

/// A valid request.
#[derive(Debug)]
pub(super) struct RandomQuery {
    pub(super) goal: Board,
    pub(super) how: Draw,
    pub(super) seed: Option<String>,
    pub(super) count: usize,
    /// True if all boards must be distinct.
    pub(super) is_distinct: bool,
    pub(super) form: Option<As>,
}

impl RandomQuery {
    /// Reads all fields.
    ///
    /// # Errors
    /// All errors at once.
    pub(super) fn read(input: RequestFields) -> Result<Self, Problem> {
        let mut fields = input.reader(&FIELDS);
        let (goal, from) = goal_and_from(&mut fields);
        let count = fields.integer("count", 1..=MAX_COUNT).unwrap_or(1) as usize;
        let is_distinct = fields.flag("distinct");
        let seed = fields.parsed_text_or_number("seed", |text| match is_distinct {
            true => seed_within(text, MAX_SEED_CHARS_OF_DISTINCT, " with `distinct`"),
            false => seed_of(text, count),
        });
        let how = how(&mut fields, from);
        let form = fields.choice("as", None);
        if count > 1 && matches!(form, Some(As::Text | As::Svg)) {
            let detail = "several boards are written as lines: use `as=line` for text, `as=request`, or omit `as`";
            reject_combination(&mut fields, "as", detail);
        }
        if is_distinct && count == 1 {
            reject_combination(&mut fields, "distinct", "`distinct` concerns several boards: add `count`, or omit it");
        }
        let goal = fields.finish(goal)?;
        if let Draw::Walk(Walk { from: Some(from), .. }) = &how {
            puzzle(*from, goal)?;
        }
        Ok(Self { goal, how, seed, count, is_distinct, form })
    }
}

/// Checks the length of a seed. Each of several boards adds its index to it.
///
/// # Errors
/// Code and detail of the error.
pub(in crate::http::routes) fn seed_of(text: &str, count: usize) -> Result<String, (&'static str, String)> {
    let (most, of_several) =
        if count == 1 { (MAX_SEED_CHARS, "") } else { (MAX_SEED_CHARS_OF_SEVERAL, " with `count`") };
    seed_within(text, most, of_several)
}

fn seed_within(text: &str, most: usize, note: &str) -> Result<String, (&'static str, String)> {
    let error = || ("out-of-range", format!("`seed` must have 1 to {most} characters{note}"));
    (1..=most).contains(&text.chars().count()).then(|| text.to_owned()).ok_or_else(error)
}

/// Reads how boards are drawn. `from` is the board where a walk starts.
fn how(fields: &mut FieldReader, from: Option<Board>) -> Draw {
    let solvability = fields.choice("solvable", None).unwrap_or_default();
    let turns_back = fields.flag("walk_back");
    report_conflicts(fields, from, turns_back, solvability);
    let moves = fields.integer("walk", 0..=MAX_WALK);
    let length = fields.parsed_text_or_number("length", draw_lengths);
    let percentile = fields.parsed_text_or_number("percentile", percentiles);
    let walk = moves.map(|moves| Draw::Walk(Walk { moves: moves as u32, turns_back, from }));
    let length = length.map(Draw::Length).or(percentile.map(Draw::Percentile));
    walk.or(length).unwrap_or(Draw::Uniform(solvability))
}

/// Reports fields that exclude each other, and fields that have no effect.
fn report_conflicts(fields: &mut FieldReader, from: Option<Board>, turns_back: bool, solvability: Solvability) {
    let given: Vec<&str> = ["length", "percentile", "walk"].into_iter().filter(|name| fields.has(name)).collect();
    if let [first, .., last] = given[..] {
        let detail = format!("`{last}` and `{first}` are mutually exclusive");
        fields.report(ErrorKind::InvalidParameter, FieldError::new(format!("/{last}"), "unsupported", detail));
    }
    let has_walk = given.contains(&"walk");
    if from.is_some() && !has_walk {
        reject_combination(fields, "from", "`from` is where a walk starts: add `walk`, or omit it");
    }
    if turns_back && !has_walk {
        reject_combination(fields, "walk_back", "`walk_back` concerns the moves of a walk: add `walk`, or omit it");
    }
    if let Some(name) = given.first().filter(|_| solvability != Solvability::Solvable) {
        let detail = format!("boards drawn by `{name}` are solvable: omit `solvable` or `{name}`");
        reject_combination(fields, "solvable", detail);
    }
}

/// Parses `20`, or `12..18` with both ends included.
///
/// # Errors
/// Code and detail of the error.
pub(in crate::http::routes) fn draw_lengths(text: &str) -> Result<RangeInclusive<u32>, (&'static str, String)> {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    range(text, is_number)
        .map_err(|fault| match fault {
            RangeFault::Descending => "`length` must be an ascending range, for example `12..18`",
            RangeFault::Unreadable => {
                "`length` must be a number of moves, for example `20`, or a range, for example `12..18`"
            }
        })
        .map_err(|detail| ("out-of-range", detail.to_owned()))
}

/// Parses `95`, or `90..99.5` with both ends included.
fn percentiles(text: &str) -> Result<RangeInclusive<f64>, (&'static str, String)> {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let wrong = |detail: &str| ("out-of-range", detail.to_owned());
    let percentiles = range(text, is_number).map_err(|fault| match fault {
        RangeFault::Descending => wrong("`percentile` must be an ascending range, for example `90..100`"),
        RangeFault::Unreadable => {
            wrong("`percentile` must be a number from 0 to 100, or a range, for example `90..100`")
        }
    })?;
    if *percentiles.end() > 100.0 {
        return Err(wrong("`percentile` must be from 0 to 100"));
    }
    Ok(percentiles)
}

enum RangeFault {
    Descending,
    Unreadable,
}

/// Parses a number, or two with `..` between them.
fn range<N: FromStr + PartialOrd + Copy>(
    text: &str,
    is_number: impl Fn(&str) -> bool,
) -> Result<RangeInclusive<N>, RangeFault> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let number = |text: &str| is_number(text).then(|| text.parse::<N>().ok()).flatten();
    match (number(low), number(high)) {
        (Some(low), Some(high)) if low <= high => Ok(low..=high),
        (Some(_), Some(_)) => Err(RangeFault::Descending),
        _ => Err(RangeFault::Unreadable),
    }
}
