//! Easy and hard requests.

use serde_json::{Value, json};

/// The hardest 15-puzzles: 80 moves.
const HARDEST: &str = include_str!("../../../benches/data/hard15.txt");

/// SplitMix64 (Steele, Lea & Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A random number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) % bound as u64) as usize
    }
}

/// A random permutation as rows. Half of them are solvable.
pub(crate) fn any_board(random: &mut Random, rows: usize, cols: usize) -> Value {
    let mut tiles: Vec<usize> = (0..rows * cols).collect();
    for place in (1..tiles.len()).rev() {
        tiles.swap(place, random.below(place + 1));
    }
    rows_of(&tiles, cols)
}

/// A board at most this many moves from the goal.
pub(crate) fn near_board(random: &mut Random, rows: usize, cols: usize, moves: usize) -> Value {
    let mut tiles: Vec<usize> = (1..rows * cols).chain([0]).collect();
    walk(random, &mut tiles, cols, moves);
    rows_of(&tiles, cols)
}

/// A solvable 3×3 board. Duplicates within a run are unlikely.
pub(crate) fn eight(random: &mut Random) -> Value {
    near_board(random, 3, 3, 200)
}

/// The `nth` of many different boards that need 70 moves or more.
pub(crate) fn hard(nth: usize) -> Value {
    let boards: Vec<&str> = HARDEST.lines().filter(|line| !line.starts_with('#')).collect();
    let numbers = boards[nth % boards.len()].split(' ').skip(1).take(16);
    let mut tiles: Vec<usize> = numbers.map(|number| number.parse().expect("a tile")).collect();
    // Different short walks away from the hardest boards.
    walk(&mut Random(nth as u64), &mut tiles, 4, nth % 10);
    rows_of(&tiles, 4)
}

/// A search of a board by an algorithm, with the default limits.
pub(crate) fn by(board: &Value, algorithm: &str) -> Value {
    match algorithm {
        "auto" | "breadth_first" => json!({ "board": board, "algorithm": algorithm }),
        _ => json!({ "board": board, "algorithm": algorithm, "heuristic": "manhattan" }),
    }
}

/// A search that takes hours but little memory. Its time limit varies, so that no two requests are equal.
pub(crate) fn endless(nth: usize) -> Value {
    let mut question = by(&hard(nth), "ida_star");
    question["limits"] = json!({ "time_ms": 60_000 - nth % 10_000 });
    question
}

/// A search that takes hours and the maximum memory.
pub(crate) fn greedy(nth: usize) -> Value {
    let mut question = by(&hard(nth), "astar");
    question["limits"] = json!({ "time_ms": 60_000, "nodes": 9_007_199_254_740_991_u64 });
    question
}

/// A search that holds the maximum memory until its time limit.
pub(crate) fn lasting(random: &mut Random) -> Value {
    let limits =
        json!({ "time_ms": 60_000, "expanded": 9_007_199_254_740_991_u64, "nodes": 9_007_199_254_740_991_u64 });
    json!({
        "board": near_board(random, 7, 7, 2000),
        "algorithm": "depth_first",
        "duplicate_detection": "parent",
        "depth_limit": 200,
        "limits": limits,
    })
}

fn rows_of(tiles: &[usize], cols: usize) -> Value {
    json!(tiles.chunks(cols).collect::<Vec<_>>())
}

/// Slides tiles at random, without undoing the last move.
fn walk(random: &mut Random, tiles: &mut [usize], cols: usize, moves: usize) {
    let mut from = usize::MAX;
    for _ in 0..moves {
        let blank = tiles.iter().position(|tile| *tile == 0).expect("a blank");
        let (row, col) = (blank / cols, blank % cols);
        let mut next = Vec::new();
        next.extend((col > 0).then(|| blank - 1));
        next.extend((col + 1 < cols).then_some(blank + 1));
        next.extend((row > 0).then(|| blank - cols));
        next.extend((blank + cols < tiles.len()).then_some(blank + cols));
        next.retain(|cell| *cell != from);
        let cell = next[random.below(next.len())];
        tiles.swap(blank, cell);
        from = blank;
    }
}

/// A search with a response of six megabytes after a few milliseconds. Each `nth` gives a different request.
pub(crate) fn long_response(nth: usize) -> Value {
    json!({
        "board": "8 6 7/2 5 4/3 0 1",
        "algorithm": "depth_first",
        "include": ["states", "expansions"],
        "limits": { "expanded": 1_000_000 + nth },
    })
}
