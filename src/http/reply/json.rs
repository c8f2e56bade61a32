//! JSON of replies.
//!
//! Serde writes all replies except the solution and the figures of `/solve`. Own code writes these, which earns 5 % of
//! responses a second and 4 % of processor time on 3×3 boards (docs/adr/0021). A test compares them with serde.

use serde::Serialize;
use taquin_solver::{Board, Encoding};

use super::notation::EncodedBoard;
use super::path::put_rows;
use super::search::{LimitsReply, SearchReply};
use super::solution::{LengthsReply, ProvenLength, SolveReply};

/// Initial capacity of a reply, in bytes. It is enough for most.
pub(super) const CAPACITY: usize = 1 << 10;

/// Serializes a reply. All replies have string keys and finite numbers.
pub(crate) fn json(reply: &impl Serialize) -> Vec<u8> {
    let mut json = Vec::with_capacity(CAPACITY);
    put_json(&mut json, reply);
    json
}

/// Appends the JSON of a value.
pub(super) fn put_json(json: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(json, value).expect("names are strings, and writing to memory does not fail");
}

/// Appends the first members of a solution, up to its moves.
pub(super) fn put_proven_length(json: &mut Vec<u8>, ProvenLength { length, optimal, lower_bound }: ProvenLength) {
    number(json, "{\"length\":", length);
    flag(json, ",\"optimal\":", optimal);
    number(json, ",\"lower_bound\":", lower_bound);
}

/// Appends the lengths of a solution.
pub(super) fn put_lengths(json: &mut Vec<u8>, LengthsReply { single_tile, multi_tile }: LengthsReply) {
    number(json, ",\"lengths\":{\"single_tile\":", single_tile);
    number(json, ",\"multi_tile\":", multi_tile);
    raw(json, "}");
}

/// Appends the percentile of a solution.
pub(super) fn put_percentile(json: &mut Vec<u8>, percentile: Option<f64>) {
    raw(json, ",\"percentile\":");
    put_json(json, &percentile);
}

/// Appends the members of a `/solve` response from `start` to `limits`.
pub(super) fn put_figures(json: &mut Vec<u8>, reply: &SolveReply, encoding: Encoding) {
    board(json, ",\"start\":", *reply.puzzle.start(), encoding);
    board(json, ",\"goal\":", *reply.puzzle.goal(), encoding);
    search(json, &reply.search);
    limits(json, &reply.limits);
}

fn search(json: &mut Vec<u8>, search: &SearchReply) {
    string(json, ",\"search\":{\"algorithm\":", search.algorithm);
    match search.heuristic {
        Some(heuristic) => string(json, ",\"heuristic\":", heuristic),
        None => raw(json, ",\"heuristic\":null"),
    }
    if let Some(tables) = search.tables {
        string(json, ",\"tables\":", tables);
    }
    flag(json, ",\"admissible\":", search.admissible);
    number(json, ",\"expanded\":", search.expanded);
    number(json, ",\"generated\":", search.generated);
    number(json, ",\"duplicates\":", search.duplicates);
    number(json, ",\"reopened\":", search.reopened);
    number(json, ",\"peak_open\":", search.peak_open);
    number(json, ",\"open_at_end\":", search.open_at_end);
    number(json, ",\"nodes_held\":", search.nodes_held);
    number(json, ",\"iterations\":", search.iterations);
    number(json, ",\"initial_h\":", search.initial_h);
    raw(json, ",\"effective_branching_factor\":");
    put_json(json, &search.effective_branching_factor);
    number(json, ",\"elapsed_us\":", search.elapsed_us);
    raw(json, "}");
}

fn limits(json: &mut Vec<u8>, limits: &LimitsReply) {
    number(json, ",\"limits\":{\"time_ms\":", limits.time_ms);
    number(json, ",\"expanded\":", limits.expanded);
    number(json, ",\"nodes\":", limits.nodes);
    raw(json, "}");
}

#[inline(always)]
pub(super) fn raw(json: &mut Vec<u8>, text: &str) {
    json.extend_from_slice(text.as_bytes());
}

#[inline(always)]
fn number(json: &mut Vec<u8>, name: &str, number: impl itoa::Integer) {
    raw(json, name);
    raw(json, itoa::Buffer::new().format(number));
}

#[inline(always)]
fn flag(json: &mut Vec<u8>, name: &str, flag: bool) {
    raw(json, name);
    raw(json, if flag { "true" } else { "false" });
}

/// Appends a string member. `text` has only letters, digits and underscores, which need no escaping.
#[inline(always)]
fn string(json: &mut Vec<u8>, name: &str, text: &str) {
    for piece in [name, "\"", text, "\""] {
        raw(json, piece);
    }
}

fn board(json: &mut Vec<u8>, name: &str, board: Board, encoding: Encoding) {
    raw(json, name);
    match encoding {
        Encoding::Tiles => put_rows(json, &board),
        Encoding::Positions => put_json(json, &EncodedBoard { board, encoding }),
    }
}
