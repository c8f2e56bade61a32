//! From a report to the bytes of a response.

mod json;
mod solution;
mod writer;

pub(crate) use json::json;
pub(crate) use solution::{
    ExpansionLines, ExpansionReply, InterimReply, Letter, LimitsReply, Number, ProgressReply, Rows, SearchReply,
    SolutionReply, SolveReply, grid,
};
pub(crate) use writer::{LongReply, Written, held_if_long, in_pieces, outline, reserved_if_long, whole};
