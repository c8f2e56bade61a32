//! The writer of `/solve` responses.

use super::dot;
use super::json::json;
use super::picture::{of_solution, of_tree};
use super::solution::SolveReply;
use crate::http::media_type::MediaType;

/// Writes a response in the media type of its layout. A picture shows the search tree if its nodes were requested, or
/// else the solution.
pub(crate) fn written(reply: &SolveReply<'_>) -> Vec<u8> {
    match (reply.layout.media_type, &reply.report.generated) {
        (MediaType::Text, _) => reply.to_string().into_bytes(),
        (MediaType::Dot, _) => dot::graph(reply).to_string().into_bytes(),
        (MediaType::Svg, Some(nodes)) => of_tree(reply, nodes).into_bytes(),
        (MediaType::Svg, None) => of_solution(reply).into_bytes(),
        _ => json(reply),
    }
}
