//! Requests: bodies, query strings and their fields.

mod aliases;
mod board;
mod body;
mod digest;
mod errors;
mod field;
mod fields;
mod json;
mod moves;
mod plain_board;
mod query;
mod scalars;
pub(crate) mod search;
mod suggestion;
mod value;

pub(crate) use board::{BOARD_FIELDS, NamedGoal, board_and_goal, goal, goal_alone, goal_and_from, sides};
pub(crate) use body::{Format, RawRequest, RequestBody, RequestFields, essence};
pub(crate) use digest::BodyDigest;
pub(crate) use fields::{FieldReader, concat};
pub(crate) use json::Json;
pub(crate) use moves::{MAX_MOVES, moves};
pub(crate) use plain_board::{plain_board, plain_row};
pub(crate) use query::parse as parse_query;
pub(crate) use search::{LIMIT_FIELDS, METHOD_FIELDS, is_exact_known, limits};
pub(crate) use suggestion::did_you_mean;
