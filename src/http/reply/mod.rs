//! Responses: results and failures of the service as JSON and text.

mod dot;
mod failure;
mod head;
mod json;
mod lists;
mod long;
mod notation;
pub(crate) mod picture;
mod search;
mod solution;
mod states;

pub(crate) use failure::{analysis_failure, limit_exceeded, limit_exceeded_with_lists, limit_name, service_failure};
pub(crate) use head::{add_server_timing, stream_head};
pub(crate) use json::{json, text_or_json};
pub(crate) use lists::max_entries;
pub(crate) use long::{reserve_if_long, reserved_if_long, with_reservation};
pub(crate) use notation::{Layout, Letter, Number, Rows, StateOrder, grid, line};
pub(crate) use search::{LimitsReply, PatternReply, ProgressReply, SearchReply};
pub(crate) use solution::{InterimReply, LengthsReply, MovesReply, ProvenLength, SolutionReply, SolveReply, no_result};

use picture::{of_solution, of_tree};

use crate::http::media_type::MediaType;

/// Writes a response in the media type of its layout. A picture shows the search tree if its nodes were requested, or
/// else the solution. Text with positions has nothing but the boards, so that programs read each line as a board.
pub(crate) fn written(reply: &SolveReply<'_>, read_as: Option<&str>) -> Vec<u8> {
    match (reply.layout.media_type, &reply.report.generated) {
        (MediaType::Dot, _) => dot::graph(reply).to_string().into_bytes(),
        (MediaType::Svg, Some(nodes)) => of_tree(reply, nodes).into_bytes(),
        (MediaType::Svg, None) => of_solution(reply).into_bytes(),
        _ if reply.layout.lists_positions() => states::positions_text(&reply.states).into_bytes(),
        (media_type, _) => text_or_json(media_type, reply, read_as),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::service::{Report, Tables};
    use taquin_solver::solver::solve;
    use taquin_solver::{
        Algorithm, Board, Control, Encoding, Limits, Plan, Puzzle, RawBoard, Records, SearchOptions, SearchRequest,
        Sides,
    };

    /// Returns a puzzle and the report of a search on it.
    pub(super) fn report(algorithm: Algorithm, states: bool, entries: usize) -> (Puzzle, Report) {
        let start = RawBoard::parse("8 6 7/2 5 4/3 0 1").board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let options = SearchOptions { algorithm: Some(algorithm), ..SearchOptions::default() };
        let plan = Plan::try_new(&options, start.size()).unwrap();
        let limits = Limits { time: Duration::from_secs(60), expanded: 1_000_000, nodes: 1_000_000 };
        let records = Records { expansions: entries, generated: entries, states, ..Records::default() };
        let job = SearchRequest { records, ..SearchRequest::new(puzzle, plan, limits) };
        (puzzle, Report::new(solve(&job, &Tables::default(), Control::default()).unwrap(), limits))
    }
}
