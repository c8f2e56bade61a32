//! Responses: results and failures of the service as JSON and text.

mod distance;
mod dot;
mod failure;
mod json;
mod layout;
mod lists;
mod long;
mod notation;
mod path;
pub(crate) mod picture;
mod search;
mod solution;
mod states;
mod stream_head;
mod timing;
mod writer;

pub(crate) use distance::DistanceReply;
pub(crate) use failure::{
    analysis_failure, limit_exceeded, limit_exceeded_with_lists, parity, puzzle_failure, reason, service_failure,
};
pub(crate) use json::json;
pub(crate) use layout::{Layout, StateOrder};
pub(crate) use long::{held_if_long, reserve_if_long, reserved_if_long, with_reservation};
pub(crate) use notation::{Letter, Number, Rows, counted, grid, line};
pub(crate) use search::{LimitsReply, ProgressReply, SearchReply};
pub(crate) use solution::{InterimReply, LengthsReply, MovesReply, ProvenLength, SolutionReply, SolveReply, no_result};
pub(crate) use stream_head::stream_head;
pub(crate) use timing::add_server_timing;
pub(crate) use writer::{LongReply, in_pieces, outline, whole};
