//! JSON of replies.
//!
//! Serde writes all replies except the solution and the figures of `/solve`. Own code writes these, which earns 5 % of
//! responses a second and 4 % of processor time on 3×3 boards (docs/adr/0021). A test compares them with serde.

use serde::Serialize;

use super::notation::Rows;
use super::search::{LimitsReply, SearchReply};
use super::solution::SolveReply;
use crate::domain::Tile;

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
pub(super) fn put_verdict(json: &mut Vec<u8>, length: usize, optimal: bool, lower_bound: u32) {
    number(json, "{\"length\":", length);
    flag(json, ",\"optimal\":", optimal);
    number(json, ",\"lower_bound\":", lower_bound);
}

/// Appends the members of a `/solve` response from `start` to `limits`.
pub(super) fn put_figures(json: &mut Vec<u8>, reply: &SolveReply) {
    rows(json, ",\"start\":", &reply.start);
    rows(json, ",\"goal\":", &reply.goal);
    search(json, &reply.search);
    limits(json, &reply.limits);
}

fn search(json: &mut Vec<u8>, search: &SearchReply) {
    string(json, ",\"search\":{\"algorithm\":", search.algorithm);
    match search.heuristic {
        Some(heuristic) => string(json, ",\"heuristic\":", heuristic),
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

/// Appends a string member. `text` has only letters, digits and underscores, which need no escaping.
fn string(json: &mut Vec<u8>, name: &str, text: &str) {
    for piece in [name, "\"", text, "\""] {
        raw(json, piece);
    }
}

fn rows(json: &mut Vec<u8>, name: &str, board: &Rows) {
    raw(json, name);
    let (begin, size) = (json.len(), board.0.size());
    json.resize(begin + 2 + size.rows() * (max_list_length(size.cols()) + 1), 0);
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

/// Maximum length of a list of tiles, in bytes.
fn max_list_length(tiles: usize) -> usize {
    2 + 3 * tiles
}

/// Writes a list such as `[1,2,3]` to the beginning of `text` and returns its length. `text` must have the length that
/// [`max_list_length`] returns.
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
