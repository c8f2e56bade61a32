//! Writes the result of a row as a line of JSON.

use std::io::Write;

use taquin_solver::{Board, Size};

use crate::label::{Label, Want};
use crate::lines::label_json;

use crate::row_error::{ErrorKind, FieldError, RowError};

/// Appends the result of a row to `out` as a JSON object and a line feed. The members are the id, the label or the
/// problem, and the line number of the row in the input, counted from 1. If the board is not in the documented
/// notation, the object also has `read_as`. `id` is JSON. `want` is the kind of the label.
pub fn row_json(
    line: u64,
    (id, read_as): (Option<&[u8]>, Option<&str>),
    row: Result<&Label, &RowError>,
    want: Want,
    out: &mut Vec<u8>,
) {
    let _ = write!(out, "{{\"line\":{line},");
    if let Some(id) = id {
        out.extend_from_slice(b"\"id\":");
        out.extend_from_slice(id);
        out.push(b',');
    }
    match row {
        Ok(label) => label_json(label, want, out),
        Err(problem) => {
            let _ = write!(out, "\"status\":{},\"problem\":", problem.kind.status());
            let _ = serde_json::to_writer(&mut *out, problem);
        }
    }
    if let Some(read_as) = read_as {
        out.extend_from_slice(b",\"read_as\":");
        let _ = serde_json::to_writer(&mut *out, read_as);
    }
    out.extend_from_slice(b"}\n");
}

/// Returns the line of an invalid row of a stored input. The line is the output of [`row_json`] with the member `index`
/// in front. `index` is the index of the row in the stored input, counted from 0.
pub fn stored_problem(index: u64, line: u64, id: Option<&[u8]>, problem: &RowError) -> Vec<u8> {
    let mut out = format!("{{\"index\":{index},").into_bytes();
    let mut row = Vec::new();
    row_json(line, (id, None), Err(problem), Want::Length, &mut row);
    out.extend_from_slice(&row[1..]);
    out
}

/// Returns the problem of a row whose goal differs from the goal of the job.
pub fn other_goal(own: &Board, of_all: &Board) -> RowError {
    let detail = format!(
        "a job has boards of one goal: the goal of the first board is {of_all}, the goal of this board is {own}"
    );
    goal_mismatch(&detail)
}

/// Returns the problem of a row whose goal or size differs from the other rows. `detail` describes the difference.
pub fn goal_mismatch(detail: &str) -> RowError {
    let error = FieldError::new("/board", "goal-mismatch", detail);
    RowError::new(ErrorKind::GoalMismatch, format!("This row is left out: {detail}.")).with_errors(vec![error])
}

/// Returns the problem of a row whose board is too large for labels of the kind [`Want::Next`].
pub fn unserved(size: Size) -> RowError {
    let detail = format!("`next` needs proven lengths, which are known on boards of up to 16 cells, not on {size}");
    let error = FieldError::new("/want", "unsupported", detail.clone());
    RowError::new(ErrorKind::UnsupportedCombination, format!("{detail}.")).with_errors(vec![error])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: Option<&[u8]>, row: Result<&Label, &RowError>) -> serde_json::Value {
        let mut out = Vec::new();
        row_json(3, (id, None), row, Want::Length, &mut out);
        assert_eq!(out.pop(), Some(b'\n'));
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn a_row_has_a_label_or_a_problem() {
        let label = Label { lower_bound: 5, length: 5, ..Label::default() };
        let solved = serde_json::json!({"line": 3, "id": "a", "length": 5, "optimal": true});
        assert_eq!(line(Some(b"\"a\""), Ok(&label)), solved);
        let size = Size::try_from((5, 5)).unwrap();
        let failed = line(None, Err(&unserved(size)));
        assert_eq!((&failed["line"], &failed["status"]), (&3.into(), &422.into()));
        assert_eq!(failed["problem"]["errors"][0]["pointer"], "/want");
        assert!(failed["problem"].get("instance").is_none() && failed.get("id").is_none());
    }
}
