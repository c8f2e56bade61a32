//! Reads moves.

use taquin_solver::{Attempt, Move, MoveNotation, MoveTextFault, Size, Tile, parse_moves};

use super::FieldReader;

/// The fields of an attempt.
pub const ATTEMPT_FIELDS: [&str; 3] = ["moves", "tiles", "notation"];

/// Maximum number of moves in a field. As letters, they fit into a body of the default maximum size.
pub const MAX_MOVES: usize = 50_000;

/// Reads moves as text. They need not be legal.
pub fn moves(fields: &mut FieldReader, name: &str, notation: MoveNotation) -> Option<Vec<Move>> {
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

/// Reads `moves` or `tiles`. A tile that is not on the board is an error of the request, not an illegal move.
pub fn attempt(fields: &mut FieldReader, size: Option<Size>) -> Option<Attempt> {
    let greatest = size.map_or(Size::MAX_CELLS, Size::cells) as i64 - 1;
    if fields.has("moves") && fields.has("tiles") {
        let detail = "`tiles` and `moves` are mutually exclusive";
        fields.take("tiles").inspect(|value| fields.reject(value, "tiles", "unsupported", detail));
    }
    if fields.has("tiles") {
        if let Some(value) = fields.take("notation") {
            let detail = "`notation` is the notation of `moves`: omit it beside `tiles`";
            fields.reject(&value, "notation", "unsupported", detail);
        }
        let tiles = fields.integers("tiles", 1..=greatest, MAX_MOVES)?;
        return Some(Attempt::Tiles(tiles.into_iter().filter_map(|tile| Tile::try_from(tile).ok()).collect()));
    }
    if !fields.has("moves") {
        fields.report_missing("moves", "`moves` or `tiles` is required, for example `moves` \"ULDR\" or `tiles` [7,8]");
    }
    let notation = fields.choice("notation", None).unwrap_or_default();
    moves(fields, "moves", notation).map(Attempt::Moves)
}
