//! The fields of a request for random boards.

use taquin_bulk::fields::{
    DRAW_FIELDS, concat, distinct_seed_of, draw, goal_and_from, puzzle, reject_combination, seed_of,
};
use taquin_bulk::{Draw, Walk};
use taquin_solver::{Board, named};

use crate::http::problem::Problem;
use crate::http::request::RequestFields;

const FIELDS: [&str; DRAW_FIELDS.len() + 3] = concat(&[&DRAW_FIELDS, &["count", "distinct", "as"]]);

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
            true => distinct_seed_of(text),
            false => seed_of(text, count),
        });
        let how = draw(&mut fields, from);
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
