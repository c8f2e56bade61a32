//! `/solve`: what a search lists on request: states, expansions, generated nodes, iterations.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use crate::answer::figures;
use crate::client::shared;
use crate::question::Question;
use crate::simulator::{Grid, TO_BLANK_LAST, find, grid, grid_of, slide};

const HARD: &str = "3 7 8/2 0 6/4 5 1";

#[tokio::test]
async fn breadth_first_search_produces_successors_in_the_order_u_l_d_r() {
    let taquin = shared().await;
    let question = json!({
        "board": "1 2 3/8 0 4/7 6 5", "goal": "1 2 3/8 4 5/7 6 0", "algorithm": "breadth_first",
        "include": ["expansions"],
    });
    let reply = taquin.solve(&question).await;
    let first: Vec<_> =
        reply["expansions"].as_array().into_iter().flatten().take(5).map(|e| e["move"].clone()).collect();
    assert_eq!(first, [Value::Null, json!("U"), json!("L"), json!("D"), json!("R")]);
}

#[tokio::test]
async fn states_are_the_boards_from_start_to_goal() {
    let taquin = shared().await;
    let question = json!({ "board": HARD, "algorithm": "astar", "heuristic": "manhattan", "include": ["states"] });
    let reply = taquin.solve(&question).await;
    let states = reply["states"].as_array().expect("states");
    assert_eq!(states.len() as u64, reply["length"].as_u64().unwrap_or(0) + 1);
    for state in states {
        assert_eq!(
            state["f"].as_f64(),
            Some(state["g"].as_f64().unwrap_or(-1.0) + state["h"].as_f64().unwrap_or(-1.0)),
            "{state}"
        );
        assert!(state["h"].as_u64() <= TO_BLANK_LAST.get(&grid_of(&state["board"])).copied(), "{state}");
    }
    assert_eq!(states[0]["h"], reply["search"]["initial_h"]);
    assert_eq!(states[states.len() - 1]["h"], 0);
    assert_eq!(reply["expansions"], Value::Null, "not asked for");
}

#[tokio::test]
async fn expansions_are_listed_in_order_with_their_parents() {
    let taquin = shared().await;
    for algorithm in [
        "astar",
        "weighted_astar",
        "greedy_best_first",
        "ida_star",
        "breadth_first",
        "depth_first",
        "iterative_deepening",
    ] {
        let question = json!({ "board": "1 2 3/5 0 6/4 7 8", "algorithm": algorithm, "include": ["expansions"] });
        let reply = taquin.solve(&question).await;
        let expansions = reply["expansions"].as_array().expect("expansions");
        assert_eq!(grid_of(&expansions[0]["board"]), grid("1 2 3/5 0 6/4 7 8"), "{algorithm}: the first is the start");
        assert_eq!(reply["states"], Value::Null, "not asked for");
        let expanded = reply["search"]["expanded"].as_u64().unwrap_or(0);
        assert!(
            expanded > 1000 || expansions.len() as u64 == expanded,
            "{algorithm}: {} of {expanded}",
            expansions.len()
        );
    }
    let question =
        json!({ "board": HARD, "algorithm": "astar", "heuristic": "manhattan", "include": ["expansions", "states"] });
    let reply = taquin.solve(&question).await;
    let f: Vec<f64> = reply["expansions"].as_array().into_iter().flatten().filter_map(|e| e["f"].as_f64()).collect();
    assert!(f.is_sorted(), "f never falls with a consistent heuristic: {f:?}");
    assert!(reply["states"].is_array(), "both may be asked for");
}

/// The sizes of the lists before each expansion, followed on sets of boards.
fn sizes_of_lists(reply: &Value) -> Vec<[u64; 2]> {
    let (expansions, nodes) = (reply["expansions"].as_array().unwrap(), reply["generated_nodes"].as_array().unwrap());
    let node = |value: &Value| (grid_of(&value["board"]), value["g"].as_u64());
    let mut kept: HashMap<_, Vec<Grid>> = HashMap::new();
    for child in nodes.iter().filter(|child| child["verdict"] != "duplicate") {
        let parent = child["parent"].as_u64().map(|parent| node(&nodes[parent as usize]));
        kept.entry(parent).or_default().push(grid_of(&child["board"]));
    }
    let (mut open, mut closed) = (HashSet::from([grid_of(&reply["start"])]), HashSet::new());
    let size = |expansion: &Value| {
        let (board, g) = node(expansion);
        assert!(open.remove(&board), "only open nodes are expanded");
        let sizes = [open.len() as u64, closed.len() as u64];
        closed.insert(board.clone());
        for child in kept.get(&Some((board, g))).into_iter().flatten() {
            closed.remove(child);
            open.insert(child.clone());
        }
        sizes
    };
    expansions.iter().map(size).collect()
}

#[tokio::test]
async fn expansions_have_the_sizes_of_the_open_and_closed_lists() {
    let taquin = shared().await;
    for (algorithm, heuristic) in [
        ("astar", Some("manhattan")),
        ("astar", Some("pattern_database")),
        ("astar", Some("manhattan_plus_hamming")),
        ("weighted_astar", Some("manhattan")),
        ("greedy_best_first", Some("hamming")),
        ("breadth_first", None),
        ("depth_first", None),
        ("ida_star", Some("manhattan")),
    ] {
        let mut question = json!({
            "board": "7 2 4/5 0 6/8 3 1", "algorithm": algorithm, "include": ["expansions", "generated"],
        });
        if let Some(heuristic) = heuristic {
            question["heuristic"] = json!(heuristic);
        }
        if heuristic.is_none() {
            // Not all expansions of a larger board are listed.
            question["board"] = json!("4 1 3/0 2 5");
        }
        if algorithm == "ida_star" {
            question["include"] = json!(["expansions"]);
        }
        let reply = taquin.solve(&question).await;
        let expansions = reply["expansions"].as_array().unwrap();
        if algorithm == "ida_star" {
            assert!(expansions.iter().all(|expansion| expansion["open"].is_null() && expansion["closed"].is_null()));
            continue;
        }
        for (expansion, sizes) in expansions.iter().zip(sizes_of_lists(&reply)) {
            assert_eq!(figures(expansion, ["open", "closed"]), sizes, "{question}: {expansion}");
        }
        assert!(expansions.len() > 10, "{question}");
    }
}

#[tokio::test]
async fn generated_nodes_are_listed_with_their_parents_and_verdicts() {
    let taquin = shared().await;
    for algorithm in ["auto", "astar", "weighted_astar", "greedy_best_first", "breadth_first", "depth_first"] {
        let mut question = json!({ "board": "1 2 3/5 0 6/4 7 8", "algorithm": algorithm, "include": ["generated"] });
        let reply = taquin.solve(&question).await;
        let nodes = reply["generated_nodes"].as_array().expect("generated nodes");
        assert_eq!(faults_of_generated(nodes, "1 2 3/5 0 6/4 7 8"), Vec::<String>::new(), "{algorithm}");
        let generated = reply["search"]["generated"].as_u64().unwrap_or(0);
        assert!(generated > 1000 || nodes.len() as u64 == generated, "{algorithm}: {} of {generated}", nodes.len());
        assert_eq!(reply["expansions"], Value::Null, "not asked for");
        if algorithm == "auto" {
            // Its fallback has no list.
            continue;
        }
        question["limits"] = json!({ "expanded": 2 });
        let problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
        let first = problem["generated_nodes"].as_array().expect("generated nodes");
        assert_eq!(first.len() as u64, problem["search"]["generated"].as_u64().unwrap_or(0), "{algorithm}");
        assert_eq!(first[..], nodes[..first.len()], "{algorithm}");
    }
}

/// Errors in `generated_nodes` of a search from `start`.
fn faults_of_generated(nodes: &[Value], start: &str) -> Vec<String> {
    let goal = grid("1 2 3/4 5 6/7 8 0");
    let mut faults = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        let board = grid_of(&node["board"]);
        let expected = match node["parent"].as_u64() {
            None => (at == 0 && node["move"].is_null()).then(|| (grid(start), 0)),
            Some(parent) => {
                let parent = &nodes[parent as usize];
                let mut reached = grid_of(&parent["board"]);
                let mv = node["move"].as_str().and_then(|mv| mv.chars().next()).unwrap_or('?');
                let is_kept = parent["verdict"] != "duplicate" && slide(&mut reached, mv).is_some();
                is_kept.then(|| (reached, parent["g"].as_u64().unwrap_or(0) + 1))
            }
        };
        let distance = |tile: u64| {
            let (from, to) = (find(&board, tile), find(&goal, tile));
            from.0.abs_diff(to.0) + from.1.abs_diff(to.1)
        };
        let manhattan: usize = (1..9).map(distance).sum();
        if expected != Some((board.clone(), node["g"].as_u64().unwrap_or(99)))
            || node["id"] != at
            || node["manhattan"] != manhattan
            || (node["verdict"] == "goal" && board != goal)
        {
            faults.push(node.to_string());
        }
    }
    faults
}

#[tokio::test]
async fn generated_nodes_are_capped_and_written_as_lines() {
    let taquin = shared().await;
    let cap = taquin.get("/info").await.expect(200).json()["limits"]["expansions"].as_u64().expect("a cap");
    let both = json!({
        "board": HARD, "algorithm": "breadth_first", "include": ["generated", "expansions"],
    });
    let reply = taquin.solve(&both).await;
    for list in ["generated_nodes", "expansions"] {
        assert_eq!(reply[list].as_array().map(Vec::len), Some(cap as usize), "{list}");
    }
    let question = json!({
        "board": "1 2 3/4 5 6/0 7 8", "algorithm": "astar", "heuristic": "manhattan", "include": ["generated"],
    });
    let text = taquin.send(Question::post("/solve").json(&question).accept("text/plain")).await.expect(200);
    let lines: Vec<&str> = text.text().lines().filter(|line| line.contains(" - Node ")).collect();
    let expected = [
        "0 - Node { 123456078 | D: 0, MD: 2 }",
        "1 - Node { 123056478 | D: 1, MD: 3 }",
        "2 - Node { 123456708 | D: 1, MD: 1 }",
        "3 - Node { 123406758 | D: 2, MD: 2 }",
        "4 - Node { 123456780 | D: 2, MD: 0 } goal",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn iterations_add_up_to_the_counters() {
    let taquin = shared().await;
    for (board, algorithm) in [
        (HARD, "ida_star"),
        ("1 2 3/5 0 6/4 7 8", "iterative_deepening"),
        ("5 1 2 4/9 6 3 8/13 10 7 11/0 14 15 12", "auto"),
    ] {
        let question = json!({ "board": board, "algorithm": algorithm, "include": ["iterations"] });
        let reply = taquin.solve(&question).await;
        let iterations = reply["iterations"].as_array().expect("iterations");
        assert_eq!(iterations.len() as u64, reply["search"]["iterations"].as_u64().unwrap_or(0), "{algorithm}");
        for figure in ["expanded", "generated"] {
            let sum: u64 = iterations.iter().filter_map(|counts| counts[figure].as_u64()).sum();
            assert_eq!(reply["search"][figure], sum, "{algorithm}");
        }
        assert!(iterations.is_sorted_by_key(|counts| counts["threshold"].as_u64()), "{algorithm}");
        assert_eq!(iterations.last().map(|last| &last["threshold"]), Some(&reply["length"]), "{algorithm}");
    }
}

#[tokio::test]
async fn expansions_are_capped_as_info_says() {
    let taquin = shared().await;
    let cap = taquin.get("/info").await.expect(200).json()["limits"]["expansions"].as_u64().expect("a cap");
    let question = json!({ "board": "8 6 7/2 5 4/3 0 1", "algorithm": "breadth_first", "include": ["expansions"] });
    let reply = taquin.solve(&question).await;
    let expanded = reply["search"]["expanded"].as_u64().unwrap_or(0);
    assert!(expanded > 100_000, "{expanded}");
    assert_eq!(reply["expansions"].as_array().map(Vec::len), Some(cap as usize));
}
