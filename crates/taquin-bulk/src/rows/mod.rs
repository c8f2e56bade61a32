//! Rows of a batch: boards as lines of JSON or CSV, and labels as lines of JSON or CSV.
//!
//! A row is a line. Blank lines and comments are skipped. An invalid line is a row with a problem, and does not affect
//! later rows. `InputText` converts UTF-16, JSON arrays and boards over several lines to such lines.

mod columns;
mod comment;
mod input_text;
mod json_rows;
mod labels;
mod members;
mod options;
mod reader;
mod records;
mod utf16;
mod written;

pub use columns::CsvInput;
pub use input_text::InputText;
pub use labels::LabelLines;
pub use options::{RowGoal, RowOptions};
pub use reader::read_rows;
pub use reader::{InputRow, MAX_LINE, RowFormat, RowReader};
pub use written::{goal_mismatch, other_goal, row_json, stored_problem, unserved};
