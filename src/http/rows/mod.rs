//! Rows of a batch: boards as lines of JSON or CSV, and what is found out about them as lines of JSON.
//!
//! A row is a line. Blank lines are no rows. A line that is no valid board is a row with a problem, and the rows after
//! it are read as if it were valid.

mod columns;
mod labels;
mod options;
mod reader;
mod written;

pub(crate) use columns::CsvInput;
pub(crate) use labels::LabelLines;
#[cfg(test)]
pub(crate) use options::RowGoal;
pub(crate) use options::RowOptions;
pub use reader::read_rows;
pub(crate) use reader::{InputRow, MAX_LINE, RowFormat, RowReader};
pub(crate) use written::{goal_mismatch, other_goal, row_json, stored_problem, unserved};
