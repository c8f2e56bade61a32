//! `/solve`: solutions and their figures.
//!
//! The client replays every solution and checks `lower_bound` and `optimal` against a breadth-first search.

use serde_json::{Value, json};

use crate::answer::{figures, timeless};
use crate::client::{shared, unchecked};
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, blank_last, grid, slide};

const HARD: &str = "3 7 8/2 0 6/4 5 1";

#[tokio::test]
async fn the_hardest_boards_take_31_moves() {
    let taquin = shared().await;
    for board in ["8 6 7/2 5 4/3 0 1", "6 4 7/8 5 0/3 2 1"] {
        let reply = taquin.solve(&json!({ "board": board })).await;
        assert_eq!(reply["length"], 31, "{board}");
        assert_eq!(reply["optimal"], true, "{board}");
        assert_eq!(reply["lower_bound"], 31, "{board}");
    }
}

#[tokio::test]
async fn the_course_projects_figures_are_reproduced() {
    let taquin = shared().await;
    for (board, goal, length, expanded, generated) in [
        ("2 8 3/1 6 4/7 0 5", "1 2 3/8 6 4/7 5 0", 7, 10, 21),
        ("5 4 0/6 1 8/7 3 2", "1 2 3/4 0 5/6 7 8", 22, 511, 884),
        ("7 2 4/5 0 6/8 3 1", "0 1 2/3 4 5/6 7 8", 26, 2706, 4550),
    ] {
        let question = json!({
            "board": board, "goal": goal, "algorithm": "astar", "heuristic": "manhattan",
            "tie_breaking": "heap", "duplicate_detection": "parent",
        });
        let reply = taquin.solve(&question).await;
        assert_eq!(reply["length"], length, "{board}");
        assert_eq!(reply["optimal"], true, "{board}");
        assert_eq!(
            figures(&reply["search"], ["expanded", "generated", "duplicates"]),
            [expanded, generated, 0],
            "{board}"
        );
    }
}

#[tokio::test]
async fn manhattan_distances_are_those_of_the_older_systems() {
    let taquin = shared().await;
    for (board, manhattan) in [("2 1 3/5 4 0/6 7 8", 9), ("6 4 7/8 5 0/3 2 1", 21)] {
        let reply = taquin.solve(&json!({ "board": board, "algorithm": "astar", "heuristic": "manhattan" })).await;
        assert_eq!(reply["search"]["initial_h"], manhattan, "{board}");
    }
}

#[tokio::test]
async fn every_optimal_algorithm_finds_the_same_length_and_proves_it() {
    let taquin = shared().await;
    let optimum = TO_BLANK_LAST[&grid(HARD)];
    for algorithm in ["auto", "astar", "ida_star", "breadth_first", "iterative_deepening"] {
        let reply = taquin.solve(&json!({ "board": HARD, "algorithm": algorithm, "require": "any" })).await;
        assert_eq!(reply["length"], optimum, "{algorithm}");
        assert_eq!(reply["optimal"], true, "{algorithm}");
        assert_eq!(reply["lower_bound"], optimum, "{algorithm}");
        if algorithm != "auto" {
            assert_eq!(reply["search"]["algorithm"], algorithm);
        }
    }
}

#[tokio::test]
async fn the_other_algorithms_find_legal_solutions_and_claim_no_more() {
    let taquin = shared().await;
    let optimum = TO_BLANK_LAST[&grid(HARD)];
    for algorithm in ["weighted_astar", "greedy_best_first", "depth_first", "constructive"] {
        let mut question = json!({ "board": HARD, "algorithm": algorithm });
        if algorithm == "weighted_astar" {
            question["weight"] = json!(3.5);
        }
        let reply = taquin.solve(&question).await;
        let length = reply["length"].as_u64().unwrap_or(0);
        assert!(length >= optimum, "{algorithm}: {length}");
        assert!(length == optimum || reply["optimal"] == false, "{algorithm}: {reply}");
        assert!(algorithm != "weighted_astar" || length * 2 <= optimum * 7, "{length} is more than 3.5 × {optimum}");
        assert_eq!(reply["search"]["algorithm"], algorithm);
    }
}

#[tokio::test]
async fn responses_name_the_algorithm_and_the_heuristic_that_ran() {
    let taquin = shared().await;
    let reply = taquin.solve(&json!({ "board": HARD })).await;
    assert_ne!(reply["search"]["algorithm"], "auto");
    assert_ne!(reply["search"]["heuristic"], "auto");
    for blind in ["breadth_first", "depth_first", "iterative_deepening"] {
        let reply = taquin.solve(&json!({ "board": HARD, "algorithm": blind })).await;
        assert_eq!(reply["search"]["heuristic"], Value::Null, "{blind}");
        assert_eq!(reply["search"]["initial_h"], 0, "{blind}");
    }
    let reply = taquin.solve(&json!({ "board": HARD, "algorithm": "constructive" })).await;
    assert_eq!(reply["search"]["heuristic"], Value::Null);
    let reply = taquin.solve(&json!({ "board": HARD, "algorithm": "astar", "heuristic": "zero" })).await;
    assert_eq!(reply["search"]["heuristic"], "zero");
}

#[tokio::test]
async fn searches_with_pattern_tables_name_their_size() {
    let taquin = shared().await;
    let tables = async |board: &str, more: Value| {
        let mut question = json!({ "board": board, "goal": "blank_first" });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        taquin.solve(&question).await["search"]["tables"].clone()
    };
    let (puzzle_8, puzzle_15) = ("3 1 2/0 4 5/6 7 8", "4 1 2 3/0 5 6 7/8 9 10 11/12 13 14 15");
    let with_patterns = tables(puzzle_15, json!({ "algorithm": "ida_star", "heuristic": "pattern_database" })).await;
    assert!(["small", "standard"].iter().any(|size| with_patterns == *size), "{with_patterns}");
    assert_eq!(tables(puzzle_15, json!({ "heuristic": "manhattan" })).await, Value::Null);
    assert_eq!(tables(puzzle_15, json!({ "algorithm": "breadth_first" })).await, Value::Null);
    assert_eq!(tables(puzzle_15, json!({ "algorithm": "constructive" })).await, Value::Null);
    // The constructed solution replaces the solution of the search, which proved the bound.
    let far = "15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0";
    let stopped = tables(far, json!({ "limits": { "expanded": 100 } })).await;
    assert!(["small", "standard"].iter().any(|size| stopped == *size), "{stopped}");
    assert_eq!(tables(puzzle_8, json!({ "heuristic": "pattern_database" })).await, Value::Null);
}

#[tokio::test]
async fn every_admissible_heuristic_leads_astar_and_ida_star_to_the_optimum() {
    let taquin = shared().await;
    let optimum = TO_BLANK_LAST[&grid(HARD)];
    for heuristic in [
        "zero",
        "hamming",
        "manhattan",
        "gaschnig",
        "inversion_distance",
        "linear_conflict",
        "walking_distance",
        "pattern_database",
    ] {
        for algorithm in ["astar", "ida_star"] {
            let reply = taquin.solve(&json!({ "board": HARD, "algorithm": algorithm, "heuristic": heuristic })).await;
            assert_eq!(reply["length"], optimum, "{algorithm} {heuristic}");
            assert_eq!(reply["optimal"], true, "{algorithm} {heuristic}");
            assert_eq!(reply["search"]["heuristic"], heuristic);
            assert_eq!(reply["search"]["admissible"], true, "{heuristic}");
            assert!(reply["search"]["initial_h"].as_u64() <= Some(optimum), "{heuristic}");
        }
    }
}

#[tokio::test]
async fn the_older_systems_two_heuristics_say_2_one_move_from_the_goal_and_are_flagged() {
    let taquin = shared().await;
    for heuristic in ["misplaced_with_blank", "manhattan_plus_hamming"] {
        let question = json!({ "board": "1 2 3/4 5 6/7 0 8", "algorithm": "astar", "heuristic": heuristic });
        let reply = taquin.solve(&question).await;
        assert_eq!(reply["search"]["initial_h"], 2, "{heuristic}");
        assert_eq!(reply["search"]["admissible"], false, "{heuristic}");
        taquin.solve(&json!({ "board": HARD, "algorithm": "astar", "heuristic": heuristic })).await;
    }
}

#[tokio::test]
async fn every_tie_breaking_and_duplicate_detection_keeps_astar_optimal() {
    let taquin = shared().await;
    let optimum = TO_BLANK_LAST[&grid(HARD)];
    for tie_breaking in ["low_h", "lifo", "fifo", "heap"] {
        for duplicate_detection in ["closed", "parent"] {
            let question = json!({
                "board": HARD, "algorithm": "astar", "heuristic": "manhattan",
                "tie_breaking": tie_breaking, "duplicate_detection": duplicate_detection,
            });
            let reply = taquin.solve(&question).await;
            assert_eq!(reply["length"], optimum, "{question}");
            assert_eq!(reply["optimal"], true, "{question}");
            let duplicates = reply["search"]["duplicates"].as_u64().unwrap_or(0);
            assert_eq!(duplicates == 0, duplicate_detection == "parent", "{question}: {duplicates}");
        }
    }
}

#[tokio::test]
async fn a_solved_board_needs_no_moves() {
    let taquin = shared().await;
    for algorithm in [
        "auto",
        "astar",
        "weighted_astar",
        "greedy_best_first",
        "ida_star",
        "breadth_first",
        "depth_first",
        "iterative_deepening",
        "constructive",
    ] {
        for (board, goal) in [("123456780", "blank_last"), ("012345678", "blank_first"), ("123804765", "snail")] {
            let reply = taquin.solve(&json!({ "board": board, "goal": goal, "algorithm": algorithm })).await;
            assert_eq!(figures(&reply, ["length", "lower_bound"]), [0, 0], "{algorithm} {goal}");
            assert_eq!(figures(&reply["search"], ["expanded", "generated"]), [0, 1], "{algorithm} {goal}");
            assert_eq!(reply["optimal"], true, "{algorithm} {goal}");
            assert_eq!(reply["moves"], "", "{algorithm} {goal}");
            assert_eq!(reply["search"]["effective_branching_factor"], Value::Null, "{algorithm} {goal}");
        }
    }
}

#[tokio::test]
async fn counters_keep_their_definitions_on_a_search_that_can_be_done_by_hand() {
    let taquin = shared().await;
    let question = json!({ "board": "1 2 3/4 5 6/0 7 8", "algorithm": "astar", "heuristic": "manhattan" });
    let reply = taquin.solve(&question).await;
    assert_eq!(reply["moves"], "RR");
    assert_eq!(reply["tiles"], json!([7, 8]));
    // Start: U and R. Then, with the blank between 7 and 8: U and R, but not L, which undoes the last move.
    let search = &reply["search"];
    assert_eq!(figures(search, ["expanded", "generated", "duplicates", "reopened"]), [2, 5, 0, 0]);
    assert_eq!(figures(search, ["peak_open", "iterations", "initial_h"]), [3, 1, 2]);
}

#[tokio::test]
async fn get_and_post_have_equal_responses() {
    let taquin = shared().await;
    for question in [
        json!({ "board": HARD }),
        json!({ "board": [[8, 6, 7], [2, 5, 4], [3, 0, 1]], "goal": [[1, 2, 3], [4, 5, 6], [7, 8, 0]] }),
        json!({ "board": HARD, "goal": "1 2 3/4 0 5/7 8 6", "algorithm": "ida_star", "heuristic": "linear_conflict" }),
        json!({ "board": HARD, "algorithm": "weighted_astar", "weight": 2.25, "tie_breaking": "fifo" }),
        json!({ "board": HARD, "algorithm": "astar", "duplicate_detection": "parent", "heuristic": "linear_conflict" }),
        json!({ "board": HARD, "algorithm": "depth_first", "depth_limit": 40 }),
        json!({ "board": HARD, "require": "optimal", "include": ["states", "expansions"] }),
        json!({ "board": HARD, "include": ["states"], "limits": { "time_ms": 1500, "expanded": 9_000, "nodes": 500 } }),
        json!({ "board": [1, 2, 3, 4, 0, 5], "rows": 2, "cols": 3, "encoding": "tiles" }),
    ] {
        let by_post = taquin.post("/solve", &question).await.expect(200).json();
        let by_get = taquin.send(Question::get_as("/solve", &question)).await.expect(200).json();
        assert_eq!(timeless(by_get), timeless(by_post), "{question}");
    }
}

#[tokio::test]
async fn limits_are_clamped_and_the_response_has_those_in_force() {
    let taquin = shared().await;
    let info = taquin.get("/info").await.expect(200).json();
    let reply = taquin.solve(&json!({ "board": HARD })).await;
    let most = 9_007_199_254_740_991_u64;
    let greedy = json!({ "board": HARD, "limits": { "time_ms": most, "expanded": most, "nodes": most } });
    let clamped = taquin.solve(&greedy).await;
    for limit in ["time_ms", "expanded"] {
        assert_eq!(reply["limits"][limit], info["limits"][limit]["default"], "{limit}");
        assert_eq!(clamped["limits"][limit], info["limits"][limit]["max"], "{limit}");
    }
    assert!(clamped["limits"]["nodes"].as_u64() < Some(most));
    let modest = json!({ "board": HARD, "limits": { "time_ms": 1234, "expanded": 5678, "nodes": 9012 } });
    assert_eq!(taquin.solve(&modest).await["limits"], json!({ "time_ms": 1234, "expanded": 5678, "nodes": 9012 }));
    let partly = taquin.solve(&json!({ "board": HARD, "limits": { "expanded": 5678 } })).await;
    assert_eq!(partly["limits"]["expanded"], 5678);
    assert_eq!(partly["limits"]["time_ms"], reply["limits"]["time_ms"]);
}

#[tokio::test]
async fn a_15_puzzle_is_solved_optimally() {
    let taquin = shared().await;
    // A short walk from the goal; Korf's instances are far harder.
    let mut board = blank_last(4, 4);
    for mv in "ULULDDRUULDRRULDLURDLLURDDRU".chars() {
        slide(&mut board, mv);
    }
    let reply = taquin.solve(&json!({ "board": board, "require": "optimal" })).await;
    assert_eq!(reply["optimal"], true);
    assert!(reply["length"].as_u64() <= Some(28), "{reply}");
}

#[tokio::test]
async fn a_large_board_gets_the_best_solution_that_the_time_allows() {
    let taquin = shared().await;
    for (rows, cols) in [(5, 5), (6, 4), (10, 10)] {
        let target = format!("/random?rows={rows}&cols={cols}&seed=large&as=request");
        let mut question = taquin.get(&target).await.expect(200).json();
        question["limits"] = json!({ "time_ms": 1000 });
        let reply = taquin.solve(&question).await;
        assert!(reply["lower_bound"].as_u64() > Some(0), "{rows}×{cols}: {reply}");
        assert!(reply["length"] == reply["lower_bound"] || reply["optimal"] == false, "{rows}×{cols}");
    }
}

#[tokio::test]
async fn the_figures_of_a_large_board_are_those_of_one_search() {
    let taquin = shared().await;
    for seed in ["one", "two", "three"] {
        let target = format!("/random?rows=6&cols=6&seed={seed}&as=request");
        let mut question = taquin.get(&target).await.expect(200).json();
        question["include"] = json!(["expansions", "states"]);
        question["limits"] = json!({ "time_ms": 3000 });
        // The client compares the expansions with the counters.
        let reply = taquin.solve(&question).await;
        let first = &reply["expansions"][0];
        assert!(first.is_null() || first["h"] == reply["search"]["initial_h"], "{}", reply["search"]);
        assert_eq!(reply["states"][0]["h"], reply["search"]["initial_h"], "{}", reply["search"]);
    }
}

#[tokio::test]
async fn constructive_search_serves_any_board() {
    let taquin = shared().await;
    for (rows, cols) in [(2, 2), (2, 10), (10, 2), (7, 3), (10, 10)] {
        for goal in ["blank_last", "blank_first", "snail"] {
            let target = format!("/random?rows={rows}&cols={cols}&goal={goal}&seed=any&as=request");
            let mut question = taquin.get(&target).await.expect(200).json();
            question["algorithm"] = json!("constructive");
            taquin.solve(&question).await;
        }
    }
}

/// The cell of the blank and of each tile.
fn positions(rows: &Value) -> Value {
    let tiles: Vec<u64> = rows.as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap()).map(u64_of).collect();
    (0..tiles.len() as u64).map(|tile| tiles.iter().position(|other| *other == tile)).collect()
}

fn u64_of(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[tokio::test]
async fn boards_of_a_response_are_positions_if_requested() {
    let taquin = shared().await;
    let question = json!({
        "board": "4 5 3/6 0 8/2 1 7", "algorithm": "astar", "include": ["states", "expansions", "generated"],
    });
    let (rows, mut question) = (taquin.solve(&question).await, question);
    question["output_encoding"] = json!("positions");
    // The contract describes rows.
    let ask = async |body: &Value| unchecked(taquin.addr(), &Question::post("/solve").json(body)).await;
    let flat = ask(&question).await.expect(200).json();
    assert_eq!(flat["start"], json!([4, 7, 6, 2, 0, 1, 3, 8, 5]), "the hobby solver's example");
    assert_eq!((&flat["start"], &flat["goal"]), (&positions(&rows["start"]), &positions(&rows["goal"])));
    for list in ["states", "expansions", "generated_nodes"] {
        let (rows, flat) = (rows[list].as_array().unwrap(), flat[list].as_array().unwrap());
        assert_eq!(rows.len(), flat.len());
        for (rows, flat) in rows.iter().zip(flat) {
            assert_eq!(flat["board"], positions(&rows["board"]), "{list}");
        }
    }
    let limited = json!({
        "board": "867254301", "algorithm": "breadth_first", "include": ["expansions"], "limits": { "expanded": 9 },
        "output_encoding": "positions",
    });
    let problem = ask(&limited).await.problem("search-limit-exceeded");
    assert_eq!(problem["expansions"][0]["board"], positions(&json!([[8, 6, 7], [2, 5, 4], [3, 0, 1]])));
}

#[tokio::test]
async fn states_are_listed_from_the_goal_if_requested() {
    let taquin = shared().await;
    let mut question = json!({ "board": "724506831", "goal": "blank_first", "include": ["states"] });
    let mut there = taquin.solve(&question).await;
    question["order"] = json!("goal_first");
    let back = taquin.solve(&question).await;
    there["states"].as_array_mut().unwrap().reverse();
    assert_eq!((&back["states"], &back["moves"]), (&there["states"], &there["moves"]));
    assert_eq!(back["states"][0]["board"], there["goal"]);
    let without_states = json!({ "board": "724506831", "goal": "blank_first", "order": "goal_first" });
    let problem = taquin.send(Question::post("/solve").json(&without_states)).await.problem("unsupported-combination");
    assert_eq!(problem["errors"][0]["pointer"], "/order");
    let in_json = json!({ "board": "724506831", "include": ["states"], "width": 80 });
    let problem = taquin.send(Question::post("/solve").json(&in_json)).await.problem("unsupported-combination");
    assert_eq!(problem["errors"][0]["pointer"], "/width");
}

#[tokio::test]
async fn solutions_are_optimal_in_the_multi_tile_metric_if_requested() {
    let taquin = shared().await;
    let question = json!({ "board": "8 6 7/2 5 4/3 0 1", "metric": "multi_tile", "require": "optimal" });
    let reply = taquin.solve(&question).await;
    assert_eq!(reply["length"], reply["lengths"]["multi_tile"]);
    assert_eq!(figures(&reply, ["lower_bound"])[0], reply["length"].as_u64().unwrap());
    let counted = taquin.get("/distances?metric=multi_tile").await.expect(200).json();
    let shorter: u64 = counted["counts"].as_array().unwrap()[..20].iter().filter_map(Value::as_u64).sum();
    let percentile_of_20 = 100.0 * shorter as f64 / 181_440.0;
    assert_eq!(reply["length"], 20);
    assert_eq!((&reply["optimal"], &reply["percentile"]), (&json!(true), &json!(percentile_of_20)));
    let single = taquin.solve(&json!({ "board": "8 6 7/2 5 4/3 0 1" })).await;
    assert!(reply["length"].as_u64() <= single["lengths"]["multi_tile"].as_u64(), "{reply}");
    assert!(reply["lengths"]["single_tile"].as_u64() >= single["length"].as_u64(), "{reply}");
    let solved = taquin.solve(&json!({ "board": "123456780", "metric": "multi_tile" })).await;
    assert_eq!(solved["length"], 0);
    let target = "/solve?board=123456_78&metric=multi_tile";
    let text = taquin.send(Question::get(target).accept("text/plain")).await.expect(200);
    assert!(text.text().contains("1 move of one or more tiles, optimal.\nBlank: RR\n"), "{text}");
    let default = taquin.solve(&json!({ "board": "123456078", "metric": "single_tile" })).await;
    assert_eq!(default["length"], 2);
}

#[tokio::test]
async fn the_multi_tile_metric_is_rejected_where_it_has_no_search() {
    let taquin = shared().await;
    for (more, pointer) in [
        (json!({ "board": "1 2 3 4/5 6 7 8/9 10 11 12/13 14 0 15" }), "/metric"),
        (json!({ "algorithm": "astar" }), "/algorithm"),
        (json!({ "heuristic": "manhattan" }), "/heuristic"),
        (json!({ "include": ["states"] }), "/include"),
        (json!({ "solutions": { "count": true } }), "/solutions"),
        (json!({ "tie_breaking": "fifo" }), "/tie_breaking"),
        (json!({ "weight": 2 }), "/weight"),
    ] {
        let mut question = json!({ "board": "867254301", "metric": "multi_tile" });
        question.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let problem = taquin.send(Question::post("/solve").json(&question)).await.problem("unsupported-combination");
        let pointers: Vec<&Value> =
            problem["errors"].as_array().unwrap().iter().map(|error| &error["pointer"]).collect();
        assert_eq!(pointers, [pointer], "{problem}");
    }
    let events = Question::get("/solve?board=867254301&metric=multi_tile").accept("text/event-stream");
    let problem = taquin.send(events).await.problem("unsupported-combination");
    assert_eq!(problem["errors"][0]["pointer"], "/metric");
    let stopped = json!({ "board": "867254301", "metric": "multi_tile", "limits": { "expanded": 3 } });
    let problem = taquin.send(Question::post("/solve").json(&stopped)).await.problem("search-limit-exceeded");
    assert!(problem["lower_bound"].as_u64().is_some_and(|bound| bound > 3 && bound <= 24), "{problem}");
}
