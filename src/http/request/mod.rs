//! Requests: bodies, query strings and search options.

mod body;
mod digest;
mod query;
pub(crate) mod search;

use taquin_bulk::fields::FieldReader;
use taquin_solver::{Move, MoveNotation, MoveTextFault, parse_moves};

pub(crate) use body::{Format, RequestFields, essence, parse_body};
pub(crate) use digest::BodyDigest;
pub(crate) use query::parse as parse_query;
pub(crate) use search::{METHOD_FIELDS, is_exact_known};

/// Maximum number of moves in a field. As letters, they fit into a body of the default maximum size.
pub(crate) const MAX_MOVES: usize = 50_000;

/// Reads moves as text. They need not be legal.
pub(crate) fn moves(fields: &mut FieldReader, name: &str, notation: MoveNotation) -> Option<Vec<Move>> {
    fields.parsed(name, |text| {
        parse_moves(text, notation, MAX_MOVES).map_err(|fault| {
            let (code, advice) = match fault {
                MoveTextFault::CountWithoutMove { .. } if name == "moves" => {
                    ("unknown-value", "; the tiles that slide can be listed in `tiles`")
                }
                MoveTextFault::NotAMove { .. } | MoveTextFault::CountWithoutMove { .. } => ("unknown-value", ""),
                MoveTextFault::ZeroCount { .. } | MoveTextFault::TooMany { .. } => ("out-of-range", ""),
            };
            (code, format!("`{name}`: {fault}{advice}"))
        })
    })
}
