//! A slow and simple simulator of sliding-tile puzzles. It shares no code with the service.

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use serde_json::{Value, json};

/// Rows of tiles, 0 for the blank.
pub(crate) type Grid = Vec<Vec<u64>>;

/// All distances to `1 2 3/4 5 6/7 8 0`.
pub(crate) static TO_BLANK_LAST: LazyLock<HashMap<Grid, u64>> = LazyLock::new(|| distances(&grid("1 2 3/4 5 6/7 8 0")));

/// Parses `8 6 7/2 5 4/3 0 1`.
pub(crate) fn grid(text: &str) -> Grid {
    let tile = |tile: &str| tile.parse().unwrap_or_else(|error| panic!("{tile:?} in {text:?}: {error}"));
    text.split('/').map(|row| row.split_whitespace().map(tile).collect()).collect()
}

/// Writes `8 6 7/2 5 4/3 0 1`.
pub(crate) fn notation(grid: &Grid) -> String {
    let row = |row: &Vec<u64>| row.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
    grid.iter().map(row).collect::<Vec<_>>().join("/")
}

/// Parses a board of a reply.
pub(crate) fn grid_of(value: &Value) -> Grid {
    serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value} is no board: {error}"))
}

/// The goal `1 2 3/4 5 6/7 8 0`, for any size.
pub(crate) fn blank_last(rows: u64, cols: u64) -> Grid {
    (0..rows).map(|row| (0..cols).map(|col| (row * cols + col + 1) % (rows * cols)).collect()).collect()
}

/// Row and column of a tile.
pub(crate) fn find(grid: &Grid, tile: u64) -> (usize, usize) {
    let cells = grid.iter().enumerate().flat_map(|(r, row)| row.iter().enumerate().map(move |(c, tile)| (r, c, *tile)));
    let found = cells.into_iter().find(|(_, _, there)| *there == tile);
    found.map(|(row, col, _)| (row, col)).unwrap_or_else(|| panic!("no {tile} in {}", notation(grid)))
}

/// Cell of a tile, from 0, row by row.
pub(crate) fn cell_of(grid: &Grid, tile: u64) -> usize {
    let (row, col) = find(grid, tile);
    row * grid[0].len() + col
}

/// Moves the blank one cell, and returns the tile that slid; `None` at the border.
pub(crate) fn slide(grid: &mut Grid, mv: char) -> Option<u64> {
    let (row, col) = find(grid, 0);
    let (to_row, to_col) = match mv {
        'U' => (row.checked_sub(1)?, col),
        'L' => (row, col.checked_sub(1)?),
        'D' => (row + 1, col),
        'R' => (row, col + 1),
        other => panic!("{other:?} is no move"),
    };
    let tile = *grid.get(to_row)?.get(to_col)?;
    grid[row][col] = tile;
    grid[to_row][to_col] = 0;
    Some(tile)
}

/// Distance of every board from which `goal` is reachable, by breadth-first search.
pub(crate) fn distances(goal: &Grid) -> HashMap<Grid, u64> {
    let mut distances = HashMap::from([(goal.clone(), 0)]);
    let mut queue = VecDeque::from([(goal.clone(), 0)]);
    while let Some((board, distance)) = queue.pop_front() {
        for mv in "ULDR".chars() {
            let mut next = board.clone();
            if slide(&mut next, mv).is_some() && !distances.contains_key(&next) {
                distances.insert(next.clone(), distance + 1);
                queue.push_back((next, distance + 1));
            }
        }
    }
    distances
}

/// All permutations of `0..cells` on `rows` × `cols`.
pub(crate) fn all_boards(rows: usize, cols: usize) -> Vec<Grid> {
    let mut permutations: Vec<Vec<u64>> = vec![vec![]];
    for tile in 0..(rows * cols) as u64 {
        let insert = |permutation: &Vec<u64>, at: usize| {
            let mut longer = permutation.clone();
            longer.insert(at, tile);
            longer
        };
        permutations = permutations.iter().flat_map(|p| (0..=p.len()).map(move |at| insert(p, at))).collect();
    }
    permutations.iter().map(|tiles| tiles.chunks(cols).map(<[u64]>::to_vec).collect()).collect()
}

/// Errors found when replaying the solution in a reply of `/solve`.
pub(crate) fn faults_of_solution(reply: &Value) -> Vec<String> {
    faults_of_solution_in(reply, "single_tile")
}

/// Errors found when replaying the solution in a reply of `/solve` in a metric.
pub(crate) fn faults_of_solution_in(reply: &Value, metric: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut claim = |holds: bool, what: String| {
        if !holds {
            faults.push(what);
        }
    };
    let (start, goal) = (grid_of(&reply["start"]), grid_of(&reply["goal"]));
    let moves = reply["moves"].as_str().unwrap_or_default();
    let mut board = start.clone();
    let mut boards = vec![start.clone()];
    let mut tiles = Vec::new();
    for (step, mv) in moves.chars().enumerate() {
        match slide(&mut board, mv) {
            Some(tile) => tiles.push(tile),
            None => claim(false, format!("move {step} ({mv}) leaves the board")),
        }
        boards.push(board.clone());
    }
    claim(board == goal, format!("the moves lead to {}, not to the goal", notation(&board)));
    claim(reply["tiles"] == Value::from(tiles.clone()), format!("the tiles that slide are {tiles:?}"));
    let lengths = json!({ "single_tile": moves.len(), "multi_tile": runs(moves) });
    claim(reply["lengths"] == lengths, format!("the lengths are {lengths}"));
    claim(reply["length"] == lengths[metric], format!("there are {} moves", lengths[metric]));
    let (length, lower_bound) = (reply["length"].as_u64(), reply["lower_bound"].as_u64());
    claim(lower_bound <= length, "the lower bound is above the length".to_owned());
    let is_proven = length == lower_bound;
    claim(reply["optimal"] == is_proven, format!("`optimal` is {is_proven} when length and lower bound say so"));
    let parity = |grid: &Grid| find(grid, 0).0 + find(grid, 0).1;
    claim(
        (parity(&start) + parity(&goal) + moves.len()).is_multiple_of(2),
        "the length has the wrong parity".to_owned(),
    );
    if goal == grid("1 2 3/4 5 6/7 8 0") && metric == "single_tile" {
        let optimum = TO_BLANK_LAST.get(&start).copied();
        claim(lower_bound <= optimum, format!("the lower bound is above the optimum {optimum:?}"));
        claim(
            reply["search"]["admissible"] == false || reply["search"]["initial_h"].as_u64() <= optimum,
            "h(start) is too high".to_owned(),
        );
    }
    if let Some(states) = reply["states"].as_array() {
        let mut states = states.clone();
        if states.first().is_some_and(|state| state["g"] != 0) {
            // `"order": "goal_first"`.
            states.reverse();
        }
        let shown: Vec<Grid> = states.iter().map(|state| grid_of(&state["board"])).collect();
        claim(shown == boards, "the states are not those of the moves".to_owned());
        for (step, state) in states.iter().enumerate() {
            let (mv, tile) = match step.checked_sub(1) {
                None => (Value::Null, Value::Null),
                Some(before) => (Value::from(&moves[before..step]), Value::from(tiles[before])),
            };
            claim(state["move"] == mv && state["tile"] == tile, format!("state {step} comes by {mv} of {tile}"));
            claim(state["g"] == step, format!("state {step} has g {step}"));
            let blank = boards.get(step).map(|board| cell_of(board, 0));
            claim(json!(blank) == state["blank"], format!("the blank of state {step} is in cell {blank:?}"));
        }
    }
    faults.extend(faults_of_expansions(reply));
    faults
}

/// Number of moves if tiles that slide together count as one.
fn runs(moves: &str) -> usize {
    moves.as_bytes().chunk_by(|a, b| a == b).count()
}

/// Errors in the `expansions` of a reply.
pub(crate) fn faults_of_expansions(reply: &Value) -> Vec<String> {
    let start = grid_of(&reply["start"]);
    let Some(expansions) = reply["expansions"].as_array() else { return Vec::new() };
    let mut faults = Vec::new();
    let mut claim = |holds: bool, what: String| {
        if !holds {
            faults.push(what);
        }
    };
    claim(
        expansions.len() as u64 <= reply["search"]["expanded"].as_u64().unwrap_or(0),
        "more than were expanded".to_owned(),
    );
    for (at, expansion) in expansions.iter().enumerate() {
        let board = grid_of(&expansion["board"]);
        let Some(parent) = expansion["parent"].as_u64() else {
            let is_start = board == start && expansion["g"] == 0 && expansion["move"].is_null();
            claim(is_start, format!("expansion {at} has no parent and is not the start"));
            continue;
        };
        claim(parent < at as u64, format!("expansion {at} comes before its parent {parent}"));
        let parent = &expansions[parent as usize];
        let mut reached = grid_of(&parent["board"]);
        let mv = expansion["move"].as_str().and_then(|mv| mv.chars().next()).unwrap_or('?');
        let tile = slide(&mut reached, mv);
        claim(reached == board, format!("expansion {at} is not what its parent becomes by {mv}"));
        claim(expansion["tile"].as_u64() == tile, format!("expansion {at} comes by tile {tile:?}"));
        claim(
            expansion["g"].as_u64() == parent["g"].as_u64().map(|g| g + 1),
            format!("expansion {at} is one move from its parent"),
        );
    }
    faults
}
