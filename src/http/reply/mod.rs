//! Responses: what a service result or failure is on the wire, and its bytes.

mod failure;
mod json;
mod long;
mod solution;
mod timing;
mod writer;

pub(crate) use failure::{exceeded, exceeded_in_full, failed, parity, puzzle, reason};
pub(crate) use json::json;
pub(crate) use long::{held_if_long, reserved_if_long};
pub(crate) use solution::{
    InterimReply, Letter, LimitsReply, Number, ProgressReply, Rows, SearchReply, SolutionReply, SolveReply, grid,
};
pub(crate) use timing::{SERVER_TIMING, server_timing};
pub(crate) use writer::{LongReply, in_pieces, outline, whole};
