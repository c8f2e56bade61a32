//! What each method measured on each board, and the rows of a response.

use std::fmt;

use serde_json::Value;
use taquin_bulk::fields::ListedBoard;

use super::method::Method;
use super::reply::MethodReply;
use crate::http::problem::ProblemKind;
use crate::http::reply::{SearchReply, limit_name, no_result};
use crate::service::Report;

/// What a method measured on a board. Figures that are not known are `None`.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(super) struct Measured {
    pub(super) length: Option<usize>,
    pub(super) optimal: Option<bool>,
    pub(super) expanded: Option<u64>,
    pub(super) generated: Option<u64>,
    #[serde(skip)]
    pub(super) effective_branching_factor: Option<f64>,
    pub(super) elapsed_us: Option<u64>,
    /// Last segment of the problem type; `None` if the board is solved.
    error: Option<&'static str>,
    /// The limit that ended the search.
    limit: Option<&'static str>,
}

/// A row of a response: a board, a method, and what the method measured.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct RowReply {
    /// Index of the board.
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    /// The board as text.
    board: String,
    /// Index of the method.
    method_index: usize,
    #[serde(flatten)]
    method: MethodReply,
    #[serde(flatten)]
    measured: Measured,
}

impl Measured {
    /// What a search measured.
    pub(super) fn of(report: &Report) -> Self {
        let search = SearchReply::new(report);
        let counted = Self {
            expanded: Some(search.expanded),
            generated: Some(search.generated),
            elapsed_us: Some(search.elapsed_us),
            ..Self::default()
        };
        match (report.stopped, &report.solution) {
            (Some(stop), _) => {
                Self { error: Some(ProblemKind::SearchLimitExceeded.slug()), limit: Some(limit_name(stop)), ..counted }
            }
            (None, None) => Self { error: Some(no_result().kind.slug()), ..counted },
            (None, Some(solution)) => Self {
                length: Some(solution.path.len()),
                optimal: Some(report.is_optimal()),
                effective_branching_factor: search.effective_branching_factor,
                ..counted
            },
        }
    }

    /// A board from which the goal cannot be reached.
    pub(super) fn unsolvable() -> Self {
        Self { error: Some(ProblemKind::Unsolvable.slug()), ..Self::default() }
    }

    /// A board for whose search the time of the comparison did not suffice.
    pub(super) fn too_late() -> Self {
        let error = Some(ProblemKind::SearchLimitExceeded.slug());
        Self { error, limit: Some("time"), ..Self::default() }
    }

    pub(super) fn is_solved(&self) -> bool {
        self.error.is_none()
    }
}

impl RowReply {
    /// Upper bound on the length of a row in a response, in bytes, without the id.
    pub(super) const BYTES: usize = 1_024;

    /// The names of the columns, for a line of [`csv`](Self::csv).
    pub(super) fn csv_names() -> String {
        let measured = "length,optimal,expanded,generated,elapsed_us,error,limit";
        format!("index,id,board,method_index,{},{measured}", MethodReply::CSV_NAMES)
    }

    /// The row of a board and a method, with their indices.
    pub(super) fn new(
        (index, ListedBoard { id, board }): (usize, &ListedBoard),
        (method_index, method): (usize, &Method),
        measured: Measured,
    ) -> Self {
        let (board, method) = (board.to_string(), MethodReply::new(&method.options));
        Self { index, id: id.clone(), board, method_index, method, measured }
    }

    /// Clears the elapsed time.
    pub(super) fn clear_time(&mut self) {
        self.measured.elapsed_us = None;
    }

    /// The fields of a line of CSV.
    pub(super) fn csv(&self) -> String {
        let Self { index, board, method_index, .. } = self;
        let Measured { length, optimal, expanded, generated, elapsed_us, error, limit, .. } = self.measured;
        let measured = [
            field(length),
            field(optimal),
            field(expanded),
            field(generated),
            field(elapsed_us),
            field(error),
            field(limit),
        ];
        let id = self.id.as_ref().map_or_else(String::new, csv_id);
        format!("{index},{id},{board},{method_index},{},{}", self.method.csv(), measured.join(","))
    }
}

/// A field of CSV; empty for `None`.
fn field(value: Option<impl fmt::Display>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// An id as a field of CSV (RFC 4180).
fn csv_id(id: &Value) -> String {
    match id.as_str() {
        Some(text) if text.contains(['"', ',', '\r', '\n']) => format!("\"{}\"", text.replace('"', "\"\"")),
        Some(text) => text.to_owned(),
        None => id.to_string(),
    }
}

/// A line of text: the board by its id or index, the method, and the figures or the error.
impl fmt::Display for RowReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.id.as_ref().map_or_else(|| self.index.to_string(), Value::to_string);
        write!(f, "{name} {} {}: ", self.board, self.method)?;
        let Measured { length, optimal, expanded, generated, elapsed_us, error, limit, .. } = self.measured;
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        if let Some(error) = error {
            write!(f, "{error}")?;
            limit.map_or(Ok(()), |limit| write!(f, " ({limit})"))?;
        } else {
            let mark = if optimal == Some(true) { "" } else { "*" };
            write!(f, "length {}{mark}", number(length.map(|length| length as u64)))?;
        }
        let (expanded, generated, time) = (number(expanded), number(generated), number(elapsed_us));
        write!(f, ", {expanded} expanded, {generated} generated, {time} µs")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_in_csv_is_quoted_where_it_has_to_be() {
        for (id, expected) in [
            (json!(7), "7"),
            (json!("a b"), "a b"),
            (json!("a,b"), "\"a,b\""),
            (json!("\"a\""), "\"\"\"a\"\"\""),
            (json!("a\nb"), "\"a\nb\""),
        ] {
            assert_eq!(csv_id(&id), expected);
        }
    }
}
