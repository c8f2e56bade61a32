//! Searches that a limit stops: `search-limit-exceeded` and its members.

use serde_json::{Value, json};

use crate::client::shared;
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, grid};

const BOARD: &str = "8 6 7/2 5 4/3 0 1";

#[tokio::test]
async fn a_limit_on_expanded_nodes_ends_a_search() {
    let taquin = shared().await;
    for (algorithm, limit) in
        [("breadth_first", 1000), ("astar", 10), ("ida_star", 100), ("depth_first", 100), ("iterative_deepening", 500)]
    {
        let question = json!({ "board": BOARD, "algorithm": algorithm, "limits": { "expanded": limit } });
        let question = if algorithm == "astar" || algorithm == "ida_star" {
            let mut informed = question;
            informed["heuristic"] = json!("manhattan");
            informed
        } else {
            question
        };
        let problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
        assert_eq!(problem["limit"], "expanded", "{question}");
        assert_eq!(problem["search"]["expanded"], limit, "{question}");
        assert_eq!(problem["limits"]["expanded"], limit, "{question}");
        assert!(problem["lower_bound"].as_u64() <= Some(31), "{question}");
        assert_eq!(problem["search"]["algorithm"], algorithm);
    }
}

#[tokio::test]
async fn a_limit_that_is_just_enough_does_not_end_a_search() {
    let taquin = shared().await;
    let question = json!({ "board": BOARD, "algorithm": "astar", "heuristic": "manhattan" });
    let reply = taquin.solve(&question).await;
    let expanded = reply["search"]["expanded"].as_u64().expect("a count");
    let mut exact = question.clone();
    exact["limits"] = json!({ "expanded": expanded });
    assert_eq!(taquin.solve(&exact).await["search"]["expanded"], expanded);
    exact["limits"] = json!({ "expanded": expanded - 1 });
    taquin.post("/solve", &exact).await.problem("search-limit-exceeded");
}

#[tokio::test]
async fn a_search_whose_time_ends_before_it_begins_has_generated_nothing() {
    let taquin = shared().await;
    // No other test needs the pattern tables of this goal, and building them takes longer than the time limit.
    let question = json!({
        "board": "14 15 13 12/11 0 10 9/8 7 6 5/4 3 2 1", "goal": "1 2 3 4/5 0 6 7/8 9 10 11/12 13 14 15",
        "algorithm": "ida_star", "heuristic": "pattern_database", "limits": { "time_ms": 1 },
    });
    let problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
    assert_eq!(problem["limit"], "time");
    assert_eq!((&problem["search"]["expanded"], &problem["search"]["generated"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn a_limit_on_nodes_ends_a_search() {
    let taquin = shared().await;
    for algorithm in ["breadth_first", "astar"] {
        let question =
            json!({ "board": BOARD, "algorithm": algorithm, "heuristic": "zero", "limits": { "nodes": 500 } });
        let problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
        assert_eq!(problem["limit"], "nodes", "{algorithm}");
        assert_eq!(problem["limits"]["nodes"], 500, "{algorithm}");
        let search = &problem["search"];
        let kept = search["generated"].as_u64().unwrap_or(0) - search["duplicates"].as_u64().unwrap_or(0);
        assert!(kept <= 501, "{algorithm}: {kept} nodes");
    }
}

#[tokio::test]
async fn a_limit_on_time_ends_a_search() {
    let taquin = shared().await;
    let mut question = taquin.get("/random?rows=6&cols=6&seed=slow&as=request").await.expect(200).json();
    question["algorithm"] = json!("ida_star");
    question["limits"] = json!({ "time_ms": 100 });
    let problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
    assert_eq!(problem["limit"], "time");
    assert!(problem["lower_bound"].as_u64() > Some(0));
}

#[tokio::test]
async fn a_depth_limit_that_is_too_small_is_reported_with_a_proven_bound() {
    let taquin = shared().await;
    let optimum = TO_BLANK_LAST[&grid("1 2 3/5 0 6/4 7 8")];
    for depth_limit in 0..optimum {
        let question = json!({ "board": "1 2 3/5 0 6/4 7 8", "algorithm": "depth_first", "depth_limit": depth_limit });
        let problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
        assert_eq!(problem["limit"], "depth", "{depth_limit}");
        let lower_bound = problem["lower_bound"].as_u64().unwrap_or(0);
        assert!(lower_bound > depth_limit && lower_bound <= optimum, "{depth_limit}: {lower_bound}");
    }
    let question = json!({ "board": "1 2 3/5 0 6/4 7 8", "algorithm": "depth_first", "depth_limit": optimum });
    assert_eq!(taquin.solve(&question).await["length"], optimum);
}

#[tokio::test]
async fn a_search_without_a_solution_returns_its_expansions() {
    let taquin = shared().await;
    let mut question = json!({ "board": BOARD, "algorithm": "breadth_first", "limits": { "expanded": 300 } });
    let unasked = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
    assert_eq!(unasked["expansions"], Value::Null, "not asked for");
    question["include"] = json!(["expansions", "states"]);
    let mut problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
    assert_eq!(problem["expansions"].as_array().map(Vec::len), Some(300));
    problem["start"] = json!(grid(BOARD));
    assert_eq!(crate::simulator::faults_of_expansions(&problem), Vec::<String>::new());
    let text = taquin.send(Question::post("/solve").json(&question).accept("text/plain")).await;
    assert_eq!(text.expect(422).text().lines().filter(|line| line.contains("  h 0  f ")).count(), 300);
}

#[tokio::test]
async fn if_optimal_is_required_the_best_solution_so_far_is_in_the_problem() {
    let taquin = shared().await;
    let mut question = taquin.get("/random?rows=6&cols=6&seed=slow&as=request").await.expect(200).json();
    question["require"] = json!("optimal");
    question["limits"] = json!({ "time_ms": 300 });
    let problem = taquin.post("/solve", &question).await.problem("search-limit-exceeded");
    let solution = &problem["solution"];
    assert!(solution.is_object(), "there always is one: {problem}");
    let mut reply = solution.clone();
    reply["start"] = question["board"].clone();
    reply["goal"] = question["goal"].clone();
    assert_eq!(crate::simulator::faults_of_solution(&reply), Vec::<String>::new());
}
