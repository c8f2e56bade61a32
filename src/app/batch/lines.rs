//! Labels of a recipe or of a job as lines.

use crate::app::batch::arguments::TextFormat;
use crate::domain::{Board, Size};
use crate::http::{Problem, ProblemKind};
use crate::jobs::{CsvColumns, Row, board_json, label_json};
use crate::service::{RequestedLimits, Sweep, Want};

/// How the rows of a recipe or of a job become lines.
pub(super) struct Lines {
    format: TextFormat,
    columns: CsvColumns,
}

/// The columns of a CSV file. It has lower bounds if lengths may not be proven.
pub(super) fn columns(size: Size, want: Want, limits: RequestedLimits) -> CsvColumns {
    // Without limits, lengths are proven up to 16 cells.
    let is_proven = Sweep::serves(Want::Next, size) && limits.time.is_none() && limits.expanded.is_none();
    CsvColumns { size, want, has_bound: want == Want::Bounds || !is_proven }
}

impl Lines {
    pub(super) fn new(size: Size, want: Want, limits: RequestedLimits, format: TextFormat) -> Self {
        Self { format, columns: columns(size, want, limits) }
    }

    /// Appends what comes before the first row.
    pub(super) fn header(&self, out: &mut Vec<u8>) {
        if self.format == TextFormat::Csv {
            self.columns.header(out);
        }
    }

    /// Appends the line of a row. A row of an input may have no board.
    pub(super) fn write(&self, index: u64, board: Option<&Board>, row: &Row, out: &mut Vec<u8>) {
        if self.format == TextFormat::Csv {
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
            Row::Failed | Row::Invalid => problem_json(&row_problem(row), out),
        }
        out.extend_from_slice(b"}\n");
    }
}

/// The problem of a row of a recipe or of a job that has no label, as JSON.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet has a place for it"))]
pub(super) fn problem_of(row: &Row) -> Option<String> {
    match row {
        Row::Solved(_) => None,
        Row::Failed | Row::Invalid => serde_json::to_string(&row_problem(row)).ok(),
    }
}

fn row_problem(row: &Row) -> Problem {
    if *row == Row::Invalid {
        let detail = "The row of the input is no board; `input/problems.ndjson` in the directory of the job says why.";
        Problem::new(ProblemKind::InvalidBoard, detail)
    } else {
        Problem::internal()
    }
}

fn problem_json(problem: &Problem, out: &mut Vec<u8>) {
    let status = problem.kind.status().as_u16();
    let problem = serde_json::to_string(problem).unwrap_or_default();
    out.extend_from_slice(format!("\"status\":{status},\"problem\":{problem}").as_bytes());
}
