//! Requests: bodies, query strings and search options.

mod body;
mod digest;
mod query;

use taquin_bulk::fields::{FieldReader, goal};
use taquin_bulk::{ErrorKind, FieldError};
use taquin_solver::{Board, Encoding, Move, MoveNotation, MoveTextFault, Sides, Size, parse_moves};

pub(crate) use body::{Format, RequestFields, essence, parse_body};
pub(crate) use digest::BodyDigest;
pub(crate) use query::parse as parse_query;

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

/// Reads the goal of random boards. Adds an error if the goal does not have the size of the boards.
pub(crate) fn goal_of_boards(fields: &mut FieldReader, size: Option<Size>, sides: Sides) -> Option<Board> {
    let goal = goal(fields, size, sides, Encoding::Tiles);
    if let Some((goal, size)) = goal.zip(size).filter(|(goal, size)| goal.size() != *size) {
        let detail = format!("the goal is {} and the boards are {size}; they must have the same size", goal.size());
        fields.report(ErrorKind::GoalMismatch, FieldError::new("/goal", "goal-mismatch", detail));
    }
    goal
}
