//! JSON of replies.
//!
//! Serde writes every reply but the solution and the figures of `/solve`, which are written by hand: on 3×3 boards
//! that is worth 5 % of responses a second and 4 % of processor time (docs/adr/0021). A test compares them with serde.

use serde::Serialize;

use super::notation::Rows;
use super::search::{LimitsReply, SearchReply};
use super::solution::SolveReply;
use crate::domain::Tile;

/// Capacity for most replies, so that they are written without reallocation.
pub(super) const USUAL: usize = 1 << 10;

/// JSON of a reply. All replies have string keys and finite numbers.
pub(crate) fn json(reply: &impl Serialize) -> Vec<u8> {
    let mut json = Vec::with_capacity(USUAL);
    put_json(&mut json, reply);
    json
}

/// Appends the JSON of a value.
pub(super) fn put_json(json: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(json, value).expect("names are strings, and writing to memory does not fail");
}

/// Appends the beginning of a solution, up to its moves.
pub(super) fn put_verdict(json: &mut Vec<u8>, length: usize, optimal: bool, lower_bound: u32) {
    number(json, "{\"length\":", length);
    flag(json, ",\"optimal\":", optimal);
    number(json, ",\"lower_bound\":", lower_bound);
}

/// Appends the members of a response from `start` to `limits`.
pub(super) fn put_figures(json: &mut Vec<u8>, reply: &SolveReply) {
    rows(json, ",\"start\":", &reply.start);
    rows(json, ",\"goal\":", &reply.goal);
    search(json, &reply.search);
    limits(json, &reply.limits);
}

fn search(json: &mut Vec<u8>, search: &SearchReply) {
    word(json, ",\"search\":{\"algorithm\":", search.algorithm);
    match search.heuristic {
        Some(heuristic) => word(json, ",\"heuristic\":", heuristic),
        None => raw(json, ",\"heuristic\":null"),
    }
    flag(json, ",\"admissible\":", search.admissible);
    number(json, ",\"expanded\":", search.expanded);
    number(json, ",\"generated\":", search.generated);
    number(json, ",\"duplicates\":", search.duplicates);
    number(json, ",\"reopened\":", search.reopened);
    number(json, ",\"peak_open\":", search.peak_open);
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

pub(super) fn raw(json: &mut Vec<u8>, text: &str) {
    json.extend_from_slice(text.as_bytes());
}

fn number(json: &mut Vec<u8>, name: &str, number: impl itoa::Integer) {
    raw(json, name);
    raw(json, itoa::Buffer::new().format(number));
}

fn flag(json: &mut Vec<u8>, name: &str, flag: bool) {
    raw(json, name);
    raw(json, if flag { "true" } else { "false" });
}

/// Appends a string of letters, digits and underscores.
fn word(json: &mut Vec<u8>, name: &str, word: &str) {
    for piece in [name, "\"", word, "\""] {
        raw(json, piece);
    }
}

fn rows(json: &mut Vec<u8>, name: &str, board: &Rows) {
    raw(json, name);
    let (begin, size) = (json.len(), board.0.size());
    json.resize(begin + 2 + size.rows() * (room(size.cols()) + 1), 0);
    let text = &mut json[begin..];
    text[0] = b'[';
    let mut end = 1;
    for row in board.0.rows() {
        end += write_list(&mut text[end..], row);
        text[end] = b',';
        end += 1;
    }
    text[end - 1] = b']';
    json.truncate(begin + end);
}

/// The maximum length of a list of so many tiles, in bytes.
fn room(tiles: usize) -> usize {
    2 + 3 * tiles
}

/// Writes `[1,2,3]` to the beginning of `text`, which must have [`room`] for it, and returns its length.
fn write_list(text: &mut [u8], tiles: &[Tile]) -> usize {
    text[0] = b'[';
    let mut end = 1;
    for tile in tiles {
        if *tile >= 10 {
            text[end] = b'0' + tile / 10;
            end += 1;
        }
        text[end] = b'0' + tile % 10;
        text[end + 1] = b',';
        end += 2;
    }
    let end = end.max(2);
    text[end - 1] = b']';
    end
}
