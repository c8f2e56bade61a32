//! Labels of a recipe or of a job as lines.

use taquin_solver::{Board, Size};

use crate::http::problem::{Problem, ProblemKind};
use crate::jobs::{CsvColumns, Row, board_json, label_json};
use crate::service::{RequestedLimits, Sweep, Want};

/// How the rows of a recipe or of a job become lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelLines {
    is_csv: bool,
    columns: CsvColumns,
}

impl LabelLines {
    /// Lines of CSV, or else of JSON.
    pub(crate) fn new(size: Size, want: Want, limits: RequestedLimits, is_csv: bool) -> Self {
        Self { is_csv, columns: Self::columns(size, want, limits) }
    }

    /// The columns of a CSV file. It has lower bounds if lengths may not be proven.
    pub(crate) fn columns(size: Size, want: Want, limits: RequestedLimits) -> CsvColumns {
        // Without limits, lengths are proven up to 16 cells.
        let is_proven = Sweep::serves(Want::Next, size) && limits == RequestedLimits::default();
        CsvColumns { size, want, has_bound: want == Want::Bounds || !is_proven }
    }

    /// True for lines of CSV.
    pub(crate) fn is_csv(&self) -> bool {
        self.is_csv
    }

    /// Appends what comes before the first row.
    pub(crate) fn header(&self, out: &mut Vec<u8>) {
        if self.is_csv {
            self.columns.header(out);
        }
    }

    /// Appends the line of a row. A row of an input may have no board.
    pub(crate) fn write(&self, index: u64, board: Option<&Board>, row: &Row, out: &mut Vec<u8>) {
        if self.is_csv {
            return self.columns.line(board, row, out);
        }
        out.extend_from_slice(format!("{{\"index\":{index},").as_bytes());
        if let Some(board) = board {
            out.extend_from_slice(b"\"board\":");
            board_json(board, out);
            out.push(b',');
        }
        match row {
            Row::Solved(label) => label_json(label, self.columns.want, out),
            Row::Failed | Row::Invalid => problem_json(&Self::problem(row), out),
        }
        out.extend_from_slice(b"}\n");
    }

    /// The problem of a row that has no label.
    pub(crate) fn problem(row: &Row) -> Problem {
        if *row == Row::Invalid {
            let detail =
                "The row of the input is no board. The reason is with the input, unless too many rows are faulty.";
            Problem::new(ProblemKind::InvalidBoard, detail)
        } else {
            Problem::internal()
        }
    }
}

fn problem_json(problem: &Problem, out: &mut Vec<u8>) {
    let status = problem.kind.status().as_u16();
    let problem = serde_json::to_string(problem).unwrap_or_default();
    out.extend_from_slice(format!("\"status\":{status},\"problem\":{problem}").as_bytes());
}
