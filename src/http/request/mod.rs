//! Requests: bodies, query strings and search options.

mod body;
mod digest;
mod moves;
mod query;
pub(crate) mod search;

pub(crate) use body::{Format, RequestFields, essence, parse_body};
pub(crate) use digest::BodyDigest;
pub(crate) use moves::{MAX_MOVES, moves};
pub(crate) use query::parse as parse_query;
pub(crate) use search::{METHOD_FIELDS, is_exact_known};
