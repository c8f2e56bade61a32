//! The JSON of an answer of `/solve`, and how any reply becomes JSON.
//!
//! The most frequent answer is written piece by piece, names and all in one: through serde it took
//! nearly three times as many instructions (docs/adr/0021). A test holds it against serde.

use serde::Serialize;

use super::solution::{LimitsReply, Rows, SearchReply, SolveReply};
use crate::domain::Tile;

/// More than most replies take, so that they are written without being moved.
const USUAL: usize = 1 << 10;

/// The JSON of a reply, all of which have string keys and finite numbers.
pub(crate) fn json(reply: &impl Serialize) -> Vec<u8> {
    let mut json = Text(Vec::with_capacity(USUAL));
    json.any(reply);
    json.0
}

/// The JSON of an answer of `/solve`.
pub(crate) fn written(reply: &SolveReply<'_>) -> Vec<u8> {
    let SolveReply { length, optimal, lower_bound, moves, tiles, states, expansions, .. } = reply;
    let mut json = Text(Vec::with_capacity(USUAL));
    json.verdict(*length, *optimal, *lower_bound);
    json.word(",\"moves\":", moves);
    json.tiles(",\"tiles\":", tiles);
    json.figures(reply);
    if !states.is_empty() {
        json.raw(",\"states\":");
        json.any(states);
    }
    if let Some(expansions) = expansions {
        json.raw(",\"expansions\":");
        json.any(expansions);
    }
    json.raw("}");
    json.0
}

/// What is before the letters of the moves, and what is between the tiles and the states.
pub(crate) fn around_solution(frame: &SolveReply<'_>) -> (Vec<u8>, Vec<u8>) {
    let mut after = Text(Vec::with_capacity(USUAL));
    after.figures(frame);
    (before_solution(frame.length, frame.optimal, frame.lower_bound), after.0)
}

/// What is before the letters of a solution's moves.
pub(crate) fn before_solution(length: usize, optimal: bool, lower_bound: u32) -> Vec<u8> {
    let mut before = Text(Vec::with_capacity(USUAL));
    before.verdict(length, optimal, lower_bound);
    before.raw(",\"moves\":\"");
    before.0
}

/// JSON as it is written; each name comes with its punctuation.
struct Text(Vec<u8>);

impl Text {
    fn raw(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
    }

    fn any(&mut self, value: &impl Serialize) {
        serde_json::to_writer(&mut self.0, value).expect("names are strings, and writing to memory does not fail");
    }

    fn number(&mut self, name: &str, number: impl itoa::Integer) {
        self.raw(name);
        self.raw(itoa::Buffer::new().format(number));
    }

    fn flag(&mut self, name: &str, flag: bool) {
        self.raw(name);
        self.raw(if flag { "true" } else { "false" });
    }

    /// A string of letters, digits and underscores.
    fn word(&mut self, name: &str, word: &str) {
        for piece in [name, "\"", word, "\""] {
            self.raw(piece);
        }
    }

    fn tiles(&mut self, name: &str, tiles: &[Tile]) {
        self.raw(name);
        let begin = self.0.len();
        self.0.resize(begin + room(tiles.len()), 0);
        let length = write_list(&mut self.0[begin..], tiles);
        self.0.truncate(begin + length);
    }

    fn rows(&mut self, name: &str, board: &Rows) {
        self.raw(name);
        let (begin, size) = (self.0.len(), board.0.size());
        self.0.resize(begin + 2 + size.rows() * (room(size.cols()) + 1), 0);
        let text = &mut self.0[begin..];
        text[0] = b'[';
        let mut end = 1;
        for row in board.0.rows() {
            end += write_list(&mut text[end..], row);
            text[end] = b',';
            end += 1;
        }
        text[end - 1] = b']';
        self.0.truncate(begin + end);
    }

    fn verdict(&mut self, length: usize, optimal: bool, lower_bound: u32) {
        self.number("{\"length\":", length);
        self.flag(",\"optimal\":", optimal);
        self.number(",\"lower_bound\":", lower_bound);
    }

    fn figures(&mut self, reply: &SolveReply<'_>) {
        self.rows(",\"start\":", &reply.start);
        self.rows(",\"goal\":", &reply.goal);
        self.search(&reply.search);
        self.limits(&reply.limits);
    }

    fn search(&mut self, search: &SearchReply) {
        self.word(",\"search\":{\"algorithm\":", search.algorithm);
        match search.heuristic {
            Some(heuristic) => self.word(",\"heuristic\":", heuristic),
            None => self.raw(",\"heuristic\":null"),
        }
        self.flag(",\"admissible\":", search.admissible);
        self.number(",\"expanded\":", search.expanded);
        self.number(",\"generated\":", search.generated);
        self.number(",\"duplicates\":", search.duplicates);
        self.number(",\"reopened\":", search.reopened);
        self.number(",\"peak_open\":", search.peak_open);
        self.number(",\"iterations\":", search.iterations);
        self.number(",\"initial_h\":", search.initial_h);
        self.raw(",\"effective_branching_factor\":");
        self.any(&search.effective_branching_factor);
        self.number(",\"elapsed_us\":", search.elapsed_us);
        self.raw("}");
    }

    fn limits(&mut self, limits: &LimitsReply) {
        self.number(",\"limits\":{\"time_ms\":", limits.time_ms);
        self.number(",\"expanded\":", limits.expanded);
        self.number(",\"nodes\":", limits.nodes);
        self.raw("}");
    }
}

/// Bytes that a list of so many tiles takes at most.
fn room(tiles: usize) -> usize {
    2 + 3 * tiles
}

/// Writes `[1,2,3]` to the beginning of a text that has [room] for it, and tells its length.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{Board, Encoding, Puzzle, RawBoard, Sides};
    use crate::search::Algorithm;
    use crate::service::{Job, Limits, Plan, SearchContext, SearchOptions, Tables, solve};

    /// What serde makes of the reply is what is written.
    fn check(start: &str, algorithm: Option<Algorithm>, detail: bool) {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let plan = Plan::try_new(&SearchOptions { algorithm, ..SearchOptions::default() }, start.size()).unwrap();
        let limits = Limits { time: Duration::from_secs(9), expanded: 100_000, nodes: (1 << 53) - 1 };
        let job = Job { puzzle, plan, limits, expansions: if detail { 9 } else { 0 }, states: detail };
        let report = solve(&job, &Tables::default(), SearchContext::default()).unwrap();
        let reply = SolveReply::new(&puzzle, &report).unwrap();
        let text = String::from_utf8(written(&reply)).unwrap();
        assert_eq!(text, serde_json::to_string(&reply).unwrap());
    }

    #[test]
    fn it_is_what_serde_would_write() {
        for start in ["8 6 7/2 5 4/3 0 1", "1 2 3/4 5 6/7 8 0", "1 2/0 3", "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15"] {
            check(start, None, false);
            check(start, None, true);
        }
        let large: Vec<String> = (1..100).map(|tile| tile.to_string()).collect();
        let large = format!("{} 0 99", large[..98].join(" "));
        let rows: Vec<String> = large.split(' ').collect::<Vec<_>>().chunks(10).map(|row| row.join(" ")).collect();
        check(&rows.join("/"), Some(Algorithm::Constructive), true);
        check("1 2 3/4 5 6/0 7 8", Some(Algorithm::BreadthFirst), true);
    }
}
