//! `random`: random boards from seeds.

use serde_json::{Value, json};
use taquin_bulk::fields::{DRAW_FIELDS, FieldReader, draw, draw_error, goal_and_from, puzzle, seed_of};
use taquin_bulk::{Draw, DrawError, DrawnBoard, Seeds, Walk, draw_boards, fresh_seed, sentence};

use crate::problem::Problem;
use crate::reply;
use crate::tables::TABLES;

/// The fields of a request.
pub(crate) const FIELDS: [&str; DRAW_FIELDS.len()] = DRAW_FIELDS;

/// Draws a board. Equal seeds draw equal boards, here and by `GET /random`.
pub(crate) fn random(mut fields: FieldReader) -> Result<Value, Problem> {
    let (goal, from) = goal_and_from(&mut fields);
    let seed = fields.parsed_text_or_number("seed", |text| seed_of(text, 1));
    let how = draw(&mut fields, from);
    let goal = fields.finish(goal)?;
    if let Draw::Walk(Walk { from: Some(from), .. }) = &how {
        puzzle(*from, goal)?;
    }
    let seed = seed.map_or_else(fresh_seed, Ok).map_err(|error| Problem::internal(&error.to_string()))?;
    let drawn = draw_boards(&goal, &how, &Seeds::Each(vec![seed]), &*TABLES);
    let drawn = drawn.map_err(|error| problem(&error, &how))?;
    let DrawnBoard { seed, board, distance, percentile, is_uniform } = &drawn[0];
    let mut reply = reply::members(json!({
        "board": reply::rows(board),
        "goal": reply::rows(&goal),
        "seed": seed,
        "solvable": distance.is_some(),
        "uniform": is_uniform,
        "lower_bound": distance.map(|distance| distance.lower_bound),
        "upper_bound": distance.map(|distance| distance.upper_bound),
        "percentile": percentile,
    }));
    if let Some(length) = distance.and_then(|distance| distance.length) {
        reply.insert("length".to_owned(), length.into());
    }
    Ok(reply.into())
}

fn problem(error: &DrawError, how: &Draw) -> Problem {
    draw_error(error, how).map_or_else(|| Problem::internal(&sentence(&error.to_string())), Problem::from)
}
