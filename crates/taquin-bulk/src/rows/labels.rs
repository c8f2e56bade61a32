//! Formats the labels of a recipe or of a job as lines.

use taquin_solver::{Board, Size};

use crate::label::{RequestedLimits, Want};
use crate::lines::{CsvColumns, board_json, label_json};
use crate::part::Row;

use crate::row_error::{ErrorKind, RowError};

/// Formats rows of a recipe or of a job as lines of CSV or JSON.
#[derive(Clone, Copy, Debug)]
pub struct LabelLines {
    is_csv: bool,
    columns: CsvColumns,
}

impl LabelLines {
    /// Creates a formatter of CSV if `is_csv` is true, otherwise of JSON.
    pub fn new(size: Size, want: Want, limits: RequestedLimits, is_csv: bool) -> Self {
        Self { is_csv, columns: Self::columns(size, want, limits) }
    }

    /// Returns the columns of a CSV file. There is a column with lower bounds for [`Want::Bounds`], and if a length may
    /// be unproven.
    pub fn columns(size: Size, want: Want, limits: RequestedLimits) -> CsvColumns {
        // Without limits, searches prove the lengths of boards of up to 16 cells.
        let is_proven = Want::Next.serves(size) && limits == RequestedLimits::default();
        CsvColumns { size, want, has_bound: want == Want::Bounds || !is_proven }
    }

    /// Returns true for CSV.
    pub fn is_csv(&self) -> bool {
        self.is_csv
    }

    /// Appends the header of CSV to `out`. JSON has no header.
    pub fn header(&self, out: &mut Vec<u8>) {
        if self.is_csv {
            self.columns.header(out);
        }
    }

    /// Appends the line of a row to `out`. `index` is the index of the row, counted from 0. `board` is `None` for an
    /// invalid row of an input.
    pub fn write(&self, index: u64, board: Option<&Board>, row: &Row, out: &mut Vec<u8>) {
        if self.is_csv {
            return self.columns.line(board, row.label(), out);
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

    /// Returns the problem of a row without a label.
    pub fn problem(row: &Row) -> RowError {
        if *row == Row::Invalid {
            let detail =
                "The row of the input is no board. The reason is with the input, unless too many rows are faulty.";
            RowError::new(ErrorKind::InvalidBoard, detail)
        } else {
            RowError::internal()
        }
    }
}

fn problem_json(problem: &RowError, out: &mut Vec<u8>) {
    let status = problem.kind.status();
    let problem = serde_json::to_string(problem).unwrap_or_default();
    out.extend_from_slice(format!("\"status\":{status},\"problem\":{problem}").as_bytes());
}
