//! Fields with moves.

use taquin_bulk::fields::FieldReader;
use taquin_solver::{Move, MoveNotation, MoveTextFault, parse_moves};

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
