//! From a report to the bytes of an answer.

mod json_writer;
mod pieces;
mod solution;

pub(crate) use json_writer::{before_solution, json};
pub(crate) use pieces::{LongReply, Written, held_if_long, reserved_if_long};
pub(crate) use solution::{
    ExpansionLines, ExpansionReply, InterimReply, Letter, LimitsReply, Number, ProgressReply, Rows, SearchReply,
    SolutionReply, SolveReply, grid,
};
