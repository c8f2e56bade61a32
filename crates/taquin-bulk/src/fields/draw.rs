//! Reads how random boards are drawn.

use std::ops::RangeInclusive;
use std::str::FromStr;

use taquin_solver::Board;

use super::FieldReader;
use super::search::reject_combination;
use crate::draw::{Draw, DrawError, Solvability, Walk};
use crate::row_error::{ErrorKind, FieldError, RowError, sentence};

/// The fields of a random board.
pub const DRAW_FIELDS: [&str; 10] =
    ["rows", "cols", "goal", "seed", "length", "percentile", "walk", "walk_back", "from", "solvable"];

/// Maximum length of a walk. A few thousand moves already shuffle the largest board.
const MAX_WALK: i64 = 100_000;
const MAX_SEED_CHARS: usize = 128;
/// With several boards, the seed of each board gets a slash and up to three digits.
const MAX_SEED_CHARS_OF_SEVERAL: usize = MAX_SEED_CHARS - 4;
/// With distinct boards, whose seeds skip indices, the seed of each board gets a slash and up to five digits.
const MAX_SEED_CHARS_OF_DISTINCT: usize = MAX_SEED_CHARS - 6;

/// Checks the length of a seed. Each of several boards adds its index to it.
///
/// # Errors
/// Code and detail of the error.
pub fn seed_of(text: &str, count: usize) -> Result<String, (&'static str, String)> {
    let (most, of_several) =
        if count == 1 { (MAX_SEED_CHARS, "") } else { (MAX_SEED_CHARS_OF_SEVERAL, " with `count`") };
    seed_within(text, most, of_several)
}

/// Checks the length of the seed of distinct boards. Each of the boards adds its index to it.
///
/// # Errors
/// Code and detail of the error.
pub fn distinct_seed_of(text: &str) -> Result<String, (&'static str, String)> {
    seed_within(text, MAX_SEED_CHARS_OF_DISTINCT, " with `distinct`")
}

fn seed_within(text: &str, most: usize, note: &str) -> Result<String, (&'static str, String)> {
    let error = || ("out-of-range", format!("`seed` must have 1 to {most} characters{note}"));
    (1..=most).contains(&text.chars().count()).then(|| text.to_owned()).ok_or_else(error)
}

/// Reads the distribution of random boards. `from` is the board where a walk starts.
pub fn draw(fields: &mut FieldReader, from: Option<Board>) -> Draw {
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
pub fn draw_lengths(text: &str) -> Result<RangeInclusive<u32>, (&'static str, String)> {
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

/// Returns the error of a request whose boards cannot be drawn, with the possible lengths. `None` if the deadline, a
/// cancel flag or a wrong solution ended the draw.
pub fn draw_error(error: &DrawError, how: &Draw) -> Option<RowError> {
    Some(match error {
        DrawError::EmptyRange => out_of_range(how, &error.to_string()),
        DrawError::LengthsUnknown(_) | DrawError::PercentilesUnknown => {
            unsupported(how, &format!("{error}; use `walk`, or omit `{}`", field(how)))
        }
        DrawError::TooRare(available) => unsupported(how, &too_rare(available, how)),
        DrawError::NoSuchLength(greatest) => {
            let wanted = wanted(how);
            let detail = format!(
                "no board has an optimal length {wanted}; for this size and goal, lengths range from 0 to {greatest}"
            );
            out_of_range(how, &detail)
        }
        DrawError::NoSuchPercentile(_) => out_of_range(how, &format!("{error}, and /distances has the others")),
        DrawError::TooFew(_) | DrawError::Repeated { .. } => {
            out_of_range_of("count", &format!("{error}: ask for no more, or omit `distinct`"))
        }
        DrawError::TimeUp | DrawError::Cancelled | DrawError::Failed(_) => return None,
    })
}

fn too_rare(available: &[RangeInclusive<u32>], how: &Draw) -> String {
    let (wanted, available) = (wanted(how), available.iter().map(listed).collect::<Vec<_>>().join(" and "));
    format!(
        "boards with an optimal length {wanted} cannot be found soon; for this size and goal, lengths {available} can be \
         drawn"
    )
}

/// The field that determines the lengths.
fn field(how: &Draw) -> &'static str {
    if matches!(how, Draw::Percentile(_)) { "percentile" } else { "length" }
}

fn unsupported(how: &Draw, detail: &str) -> RowError {
    let error = FieldError::new(format!("/{}", field(how)), "unsupported", detail);
    RowError::new(ErrorKind::UnsupportedCombination, sentence(detail)).with_errors(vec![error])
}

fn out_of_range(how: &Draw, detail: &str) -> RowError {
    out_of_range_of(field(how), detail)
}

fn out_of_range_of(field: &str, detail: &str) -> RowError {
    let error = FieldError::new(format!("/{field}"), "out-of-range", detail);
    RowError::new(ErrorKind::InvalidParameter, sentence(detail)).with_errors(vec![error])
}

/// The requested lengths, such as "of 20" or "from 12 to 18".
fn wanted(how: &Draw) -> String {
    match how {
        Draw::Length(lengths) if lengths.start() < lengths.end() => listed(lengths),
        Draw::Length(lengths) => format!("of {}", lengths.start()),
        Draw::Percentile(_) | Draw::Uniform(_) | Draw::Walk(_) => "in this range".to_owned(),
    }
}

/// A range in words.
fn listed(lengths: &RangeInclusive<u32>) -> String {
    format!("from {} to {}", lengths.start(), lengths.end())
}
