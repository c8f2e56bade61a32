//! Requests: bodies, query strings and search options.

mod body;
mod digest;
mod query;

use taquin_bulk::fields::{FieldReader, goal};
use taquin_bulk::{ErrorKind, FieldError};
use taquin_solver::{Board, Encoding, Sides, Size};

pub(crate) use body::{Format, RequestFields, essence, parse_body};
pub(crate) use digest::BodyDigest;
pub(crate) use query::parse as parse_query;

/// Reads the goal of random boards. Adds an error if the goal does not have the size of the boards.
pub(crate) fn goal_of_boards(fields: &mut FieldReader, size: Option<Size>, sides: Sides) -> Option<Board> {
    let goal = goal(fields, size, sides, Encoding::Tiles);
    if let Some((goal, size)) = goal.zip(size).filter(|(goal, size)| goal.size() != *size) {
        let detail = format!("the goal is {} and the boards are {size}; they must have the same size", goal.size());
        fields.report(ErrorKind::GoalMismatch, FieldError::new("/goal", "goal-mismatch", detail));
    }
    goal
}
