//! Easy and hard requests.

use serde_json::{Value, json};

/// The hardest 15-puzzles: 80 moves.
const HARDEST: &str = include_str!("../../../benches/data/hard15.txt");

/// All values of `algorithm`.
pub(crate) const ALGORITHMS: [&str; 10] = [
    "auto",
    "astar",
    "weighted_astar",
    "greedy_best_first",
    "ida_star",
    "breadth_first",
    "depth_first",
    "iterative_deepening",
    "constructive",
    "anytime",
];

/// 15-puzzles whose shortest solutions have 50 moves.
pub(crate) const FIFTY_MOVES: [&str; 12] = [
    "3 6 4 5/11 9 1 12/15 13 7 14/2 8 10 0",
    "1 11 9 15/6 12 10 3/2 8 0 14/4 5 13 7",
    "7 10 2 12/4 1 6 14/0 9 11 15/13 5 3 8",
    "6 9 4 2/12 1 15 3/0 10 13 14/8 11 7 5",
    "5 10 0 4/12 6 8 11/15 9 2 7/13 3 14 1",
    "9 10 13 6/1 4 2 0/11 14 3 5/15 8 7 12",
    "3 4 9 13/10 5 2 0/12 8 11 7/1 14 6 15",
    "6 8 5 7/15 0 4 3/11 1 12 10/13 2 14 9",
    "10 7 14 11/6 8 12 1/0 5 4 15/2 13 3 9",
    "3 15 11 5/1 0 8 9/7 4 12 10/13 14 2 6",
    "3 13 0 9/2 4 7 5/14 15 11 8/10 1 12 6",
    "11 10 9 1/2 14 12 4/5 13 7 15/8 3 6 0",
];

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

/// A request with a random goal and a board this many moves from it.
pub(crate) fn random_goal(random: &mut Random, rows: usize, cols: usize, moves: usize) -> Value {
    let mut tiles: Vec<usize> = (0..rows * cols).collect();
    for place in (1..tiles.len()).rev() {
        tiles.swap(place, random.below(place + 1));
    }
    let goal = rows_of(&tiles, cols);
    walk(random, &mut tiles, cols, moves);
    json!({ "board": rows_of(&tiles, cols), "goal": goal })
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

/// A search with a response of more than a megabyte after a few milliseconds. Each `nth` gives a different request.
pub(crate) fn long_response(nth: usize) -> Value {
    json!({
        "board": "8 6 7/2 5 4/3 0 1",
        "algorithm": "depth_first",
        "include": ["states", "expansions"],
        "limits": { "expanded": 1_000_000 + nth },
    })
}
