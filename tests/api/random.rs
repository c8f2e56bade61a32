//! `/random`: drawn boards, compared with an independent breadth-first search.

use serde_json::{Value, json};
use taquin_bulk::Recipe;
use taquin_solver::{Board, Size};

use crate::answer::faults;
use crate::client::{Service, shared};
use crate::load::until_idle;
use crate::question::Question;
use crate::simulator::{Grid, TO_BLANK_LAST, blank_last, distances, grid, grid_of, notation};

/// The board of a reply in text notation.
fn board(reply: &Value) -> String {
    notation(&grid_of(&reply["board"]))
}

#[tokio::test]
async fn a_seed_repeats_its_board_for_good() {
    let taquin = shared().await;
    for (target, expected) in [
        ("/random?seed=taquin", "5 4 3/1 2 7/6 8 0"),
        ("/random?seed=taquin&rows=4&cols=4", "1 10 12 6/7 14 8 3/4 9 2 5/13 11 0 15"),
        ("/random?seed=taquin&goal=snail&length=12..18", "2 4 5/3 8 6/7 1 0"),
        ("/random?seed=taquin&rows=5&cols=3&walk=40", "2 5 3/13 12 8/4 1 14/6 0 9/7 11 10"),
        ("/random?seed=taquin&rows=4&length=0..99", "1 10 12 6/7 14 8 3/4 9 2 5/13 11 0 15"),
        ("/random?seed=taquin&rows=4&length=18..25", "2 10 3 4/1 11 8 12/6 7 0 5/9 13 14 15"),
        ("/random?seed=taquin&rows=4&length=60..66", "0 9 10 3/15 8 14 2/12 1 11 13/4 5 6 7"),
        ("/random?seed=taquin&rows=4&goal=snail&length=12", "12 1 2 3/0 13 14 4/11 15 7 5/10 9 6 8"),
        ("/random?seed=taquin&rows=4&goal=snail&length=0..99", "12 1 2 3/15 14 7 4/13 11 0 5/10 9 6 8"),
        (
            "/random?seed=taquin&rows=4&goal=1%200%202%203/4%205%206%207/8%209%2010%2011/12%2013%2014%2015&length=15..60",
            "1 9 2 3/4 6 0 7/8 14 5 11/12 13 15 10",
        ),
        ("/random?seed=taquin&rows=3&cols=5&length=0..99", "1 2 3 10 4/6 7 9 0 5/11 12 8 13 14"),
        ("/random?seed=taquin&rows=5&cols=3&goal=blank_first&length=10..50", "1 0 2/6 4 5/10 3 8/9 11 7/12 13 14"),
        ("/random?seed=taquin&rows=2&cols=7&length=8..40", "0 10 3 4 5 6 7/8 2 1 9 11 12 13"),
        ("/random?seed=taquin&rows=2&cols=8&length=17", "9 1 11 2 4 6 7 8/10 3 0 12 5 13 14 15"),
        ("/random?seed=taquin&rows=2&cols=8&length=20..90", "9 1 11 2 0 6 7 8/10 3 12 5 4 13 14 15"),
        ("/random?seed=taquin&rows=3&cols=4&percentile=90..99", "6 5 11 2/0 8 10 1/7 3 4 9"),
        ("/random?seed=taquin&rows=2&cols=7&goal=snail&length=3..9", "0 1 11 3 5 6 7/13 2 12 4 10 9 8"),
    ] {
        let reply = taquin.get(target).await.expect(200).json();
        assert_eq!(board(&reply), expected, "{target}: people keep seeds");
        assert_eq!(reply["seed"], "taquin");
    }
}

#[tokio::test]
async fn a_number_in_a_body_stands_for_its_digits() {
    let taquin = shared().await;
    for (number, text) in [
        (json!({ "length": 6, "seed": 42 }), json!({ "length": "6", "seed": "42" })),
        (json!({ "length": 6.0, "seed": -7 }), json!({ "length": "6", "seed": "-7" })),
        (json!({ "percentile": 0, "seed": 0 }), json!({ "percentile": "0", "seed": "0" })),
        (json!({ "percentile": 0.0, "seed": 0.5 }), json!({ "percentile": "0", "seed": "0.5" })),
    ] {
        let [of_number, of_text] = [taquin.post("/random", &number).await, taquin.post("/random", &text).await];
        assert_eq!(of_number.expect(200).json(), of_text.expect(200).json(), "{number}");
        let by_get = taquin.send(Question::get_as("/random", &text)).await.expect(200).json();
        assert_eq!(by_get["seed"], text["seed"], "{text}");
    }
    for number in [json!(50), json!(50.5)] {
        let detail = async |body: Value| taquin.post("/random", &body).await.json()["detail"].to_string();
        let of_text = detail(json!({ "percentile": number.to_string() })).await;
        assert_eq!(detail(json!({ "percentile": number })).await, of_text);
        assert!(of_text.contains("No length has a percentile in this range"), "{of_text}");
    }
    let experiment = json!({ "boards": { "count": 2, "length": 6, "seed": 1 }, "preset": "heuristics" });
    let reply = taquin.post("/compare", &experiment).await.expect(200).json();
    assert_eq!((&reply["boards"]["seed"], &reply["boards"]["length"]), (&json!("1"), &json!("6")), "{reply}");
    for (body, fault) in [
        (json!({ "length": 6.5 }), "/length out-of-range"),
        (json!({ "length": -1 }), "/length out-of-range"),
        (json!({ "length": [6] }), "/length wrong-type"),
        (json!({ "percentile": 101 }), "/percentile out-of-range"),
        (json!({ "percentile": true }), "/percentile wrong-type"),
        (json!({ "seed": 9_007_199_254_740_992_u64 }), "/seed out-of-range"),
        (json!({ "seed": 18_446_744_073_709_551_615_u64 }), "/seed out-of-range"),
        (json!({ "seed": 1e300 }), "/seed out-of-range"),
        (json!({ "seed": {} }), "/seed wrong-type"),
    ] {
        let problem = taquin.post("/random", &body).await.problem("invalid-request");
        assert_eq!(faults(&problem), [fault], "{body}");
    }
}

/// `taquin batch` promises it, so that a row of a data set can be checked.
#[tokio::test]
async fn board_i_of_a_recipe_is_that_of_seed_s_slash_i() {
    let taquin = shared().await;
    for (rows, cols, goal) in [(3, 3, "snail"), (4, 4, "blank_first"), (3, 5, "blank_last"), (6, 6, "blank_last")] {
        let size = Size::try_from((rows, cols)).unwrap();
        let goal_board = match goal {
            "snail" => Board::snail(size),
            "blank_first" => Board::blank_first(size),
            _ => Board::blank_last(size),
        };
        let recipe = Recipe::try_new(goal_board, "a b/ü", 1_000_000_000).unwrap();
        for index in [0, 1, 2, 999, 123_456_789, 999_999_999] {
            let question = Question::get(&format!("/random?rows={rows}&cols={cols}&goal={goal}"));
            let reply = taquin.send(question.query("seed", &format!("a b/ü/{index}"))).await.expect(200).json();
            assert_eq!(board(&reply), recipe.board(index).start().to_string(), "{size}, {index}");
        }
    }
}

#[tokio::test]
async fn without_a_seed_one_is_drawn_and_returned() {
    let taquin = shared().await;
    let first = taquin.get("/random?rows=4&cols=4").await.expect(200).json();
    let second = taquin.get("/random?rows=4&cols=4").await.expect(200).json();
    assert_ne!(first["seed"], second["seed"]);
    let seed = first["seed"].as_str().unwrap_or_default();
    let again = taquin.send(Question::get("/random?rows=4&cols=4").query("seed", seed)).await.expect(200).json();
    assert_eq!(again, first);
}

#[tokio::test]
async fn any_string_of_1_to_128_characters_is_a_seed() {
    let taquin = shared().await;
    let longest = "s".repeat(128);
    for seed in ["0", "two words", "a&b=c%d+e", "日本", "\"quoted\"", "line\nbreak", &longest] {
        let reply = taquin.send(Question::get("/random").query("seed", seed)).await.expect(200).json();
        assert_eq!(reply["seed"], seed);
        let text = taquin.send(Question::get("/random?as=text").query("seed", seed)).await.expect(200);
        assert!(!text.header("x-taquin-seed").is_empty(), "{seed:?}");
    }
    for seed in ["", &"s".repeat(129)] {
        let problem = taquin.send(Question::get("/random").query("seed", seed)).await.problem("invalid-parameter");
        assert_eq!(problem["errors"][0]["pointer"], "/seed");
    }
}

#[tokio::test]
async fn boards_have_the_requested_size_and_goal() {
    let taquin = shared().await;
    let default = taquin.get("/random?seed=1").await.expect(200).json();
    assert_eq!(grid_of(&default["goal"]), grid("1 2 3/4 5 6/7 8 0"));
    for (rows, cols) in [(2, 2), (2, 5), (3, 3), (4, 4), (10, 10)] {
        let reply = taquin.get(&format!("/random?rows={rows}&cols={cols}&seed=1")).await.expect(200).json();
        assert_eq!(grid_of(&reply["goal"]), blank_last(rows, cols));
        let mut tiles = grid_of(&reply["board"]).concat();
        tiles.sort_unstable();
        assert_eq!(tiles, (0..rows * cols).collect::<Vec<_>>());
        assert_eq!(reply["length"].is_u64(), rows * cols <= 9, "{rows}×{cols}: known on boards of at most 9 cells");
        let verdict = taquin.post("/solvable", &json!({ "board": reply["board"], "goal": reply["goal"] })).await;
        assert_eq!(verdict.expect(200).json()["solvable"], true, "{rows}×{cols}");
    }
}

#[tokio::test]
async fn lengths_are_the_optimal_ones_of_breadth_first_search() {
    let taquin = shared().await;
    for seed in 0..30 {
        let reply = taquin.get(&format!("/random?seed={seed}")).await.expect(200).json();
        assert_eq!(reply["length"].as_u64(), TO_BLANK_LAST.get(&grid_of(&reply["board"])).copied(), "{reply}");
    }
    let goal = grid("5 1/0 3/4 2");
    let all = distances(&goal);
    for seed in 0..30 {
        let question = Question::get("/random?rows=3&cols=2").query("seed", &format!("{seed}"));
        let reply = taquin.send(question.query("goal", "5 1/0 3/4 2")).await.expect(200).json();
        assert_eq!(reply["length"].as_u64(), all.get(&grid_of(&reply["board"])).copied(), "{reply}");
    }
}

#[tokio::test]
async fn boards_have_proven_bounds() {
    let taquin = shared().await;
    for (query, most) in [
        ("rows=2&cols=2", 6),
        ("", 31),
        ("goal=snail&rows=3&cols=3&length=12..18", 18),
        ("rows=4&cols=4", 400),
        ("rows=2&cols=9&goal=snail", 2000),
        ("rows=4&cols=4&walk=0", 0),
        ("rows=10&cols=10&walk=1", 1),
        ("rows=4&cols=4&walk=30", 30),
        ("rows=10&cols=10&walk=100000", 4000),
        ("rows=10&cols=10", 4000),
    ] {
        for seed in 0..5 {
            let reply = taquin.get(&format!("/random?seed={seed}&{query}")).await.expect(200).json();
            let [lower, upper] = ["lower_bound", "upper_bound"].map(|name| reply[name].as_u64().expect("a bound"));
            assert!(lower <= upper && upper <= most && (upper - lower) % 2 == 0, "{query}: {reply}");
            match reply["length"].as_u64() {
                Some(length) => assert_eq!((lower, upper), (length, length), "{query}"),
                None => assert!(upper == 0 || lower > 0, "{query}: {reply}"),
            }
        }
    }
}

#[tokio::test]
async fn an_optimal_length_lies_between_the_bounds() {
    let taquin = shared().await;
    for seed in 0..8 {
        let query = format!("/random?rows=3&cols=4&goal=snail&seed={seed}");
        let drawn = taquin.get(&query).await.expect(200).json();
        let question = json!({ "board": drawn["board"], "goal": drawn["goal"], "require": "optimal" });
        let length = taquin.solve(&question).await["length"].as_u64().expect("a length");
        let [lower, upper] = ["lower_bound", "upper_bound"].map(|name| drawn[name].as_u64().expect("a bound"));
        assert!((lower..=upper).contains(&length), "{drawn}: {length}");
    }
}

/// Draws boards with many seeds, and checks each length against `all`.
async fn draw_within(
    query: &str,
    lengths: std::ops::RangeInclusive<u64>,
    all: &std::collections::HashMap<Grid, u64>,
) -> Vec<u64> {
    let taquin = shared().await;
    let mut found = Vec::new();
    for seed in 0..40 {
        let reply = taquin.get(&format!("/random?{query}&seed={seed}")).await.expect(200).json();
        let length = all.get(&grid_of(&reply["board"])).copied();
        assert_eq!(reply["length"].as_u64(), length, "{query}: {reply}");
        assert!(length.is_some_and(|length| lengths.contains(&length)), "{query}: {reply}");
        found.extend(length);
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[tokio::test]
async fn boards_of_a_range_of_lengths_lie_in_it() {
    let found = draw_within("length=12..18", 12..=18, &TO_BLANK_LAST).await;
    assert!(found.len() > 3, "only {found:?}");
    draw_within("length=20", 20..=20, &TO_BLANK_LAST).await;
    draw_within("length=20..20", 20..=20, &TO_BLANK_LAST).await;
    draw_within("length=31", 31..=31, &TO_BLANK_LAST).await;
    draw_within("length=0", 0..=0, &TO_BLANK_LAST).await;
    draw_within("length=28..9999", 28..=31, &TO_BLANK_LAST).await;
    draw_within("rows=2&cols=3&length=15..21", 15..=21, &distances(&blank_last(2, 3))).await;
    draw_within("goal=snail&length=1..3", 1..=3, &distances(&grid("1 2 3/8 0 4/7 6 5"))).await;
}

#[tokio::test]
async fn both_boards_of_length_31_are_drawn() {
    let taquin = shared().await;
    let mut found = Vec::new();
    for seed in 0..40 {
        found.push(board(&taquin.get(&format!("/random?length=31&seed={seed}")).await.expect(200).json()));
    }
    found.sort();
    found.dedup();
    assert_eq!(found, ["6 4 7/8 5 0/3 2 1", "8 6 7/2 5 4/3 0 1"]);
}

#[tokio::test]
async fn a_walk_ends_no_further_than_it_went() {
    let taquin = shared().await;
    for walk in [0, 1, 2, 7, 20, 101] {
        for seed in 0..10 {
            let reply = taquin.get(&format!("/random?walk={walk}&seed={seed}")).await.expect(200).json();
            let length = reply["length"].as_u64().expect("a length");
            assert!(length <= walk && (walk - length) % 2 == 0, "{walk}: {reply}");
            assert!(walk == 0 || walk > 2 || length == walk, "two moves never go straight back: {reply}");
        }
    }
    let far = taquin.get("/random?walk=100000&rows=10&cols=10&seed=1").await.expect(200).json();
    assert_ne!(grid_of(&far["board"]), blank_last(10, 10));
}

#[tokio::test]
async fn a_random_request_pipes_into_solve() {
    let taquin = shared().await;
    for query in ["seed=1", "seed=1&rows=2&cols=4", "seed=1&goal=snail", "seed=1&length=9", "rows=3&cols=4"] {
        let answer = taquin.get(&format!("/random?{query}&as=request")).await.expect(200);
        assert!(!answer.header("x-taquin-seed").is_empty(), "{query}");
        let body = answer.json();
        assert_eq!(
            body.as_object().map(|body| body.keys().cloned().collect::<Vec<_>>()),
            Some(vec!["board".to_owned(), "goal".to_owned()])
        );
        let reply = taquin.solve(&body).await;
        assert_eq!(reply["optimal"], true, "{query}");
        assert_eq!(reply["start"], body["board"], "{query}");
        assert_eq!(reply["goal"], body["goal"], "{query}");
    }
}

#[tokio::test]
async fn a_random_grid_of_text_is_the_same_board_and_pipes_into_solve() {
    let taquin = shared().await;
    for query in ["seed=1", "seed=1&rows=4&cols=5", "seed=1&walk=30&goal=blank_first"] {
        let expected = taquin.get(&format!("/random?{query}")).await.expect(200).json();
        let text = taquin.get(&format!("/random?{query}&as=text")).await.expect(200);
        assert_eq!(text.media_type(), "text/plain", "{query}");
        assert_eq!(text.header("x-taquin-seed"), "1", "{query}");
        let question = Question::post("/solvable").body("text/plain", text.body.clone());
        let reply = taquin.send(question).await.expect(200).json();
        assert_eq!(reply["start"], expected["board"], "{query}");
        let negotiated = taquin.send(Question::get(&format!("/random?{query}")).accept("text/plain")).await.expect(200);
        assert_eq!(negotiated.media_type(), "text/plain", "{query}");
    }
}

#[tokio::test]
async fn wrong_parameters_are_rejected() {
    let taquin = shared().await;
    for (query, pointer) in [
        ("rows=1", "/rows"),
        ("rows=11", "/rows"),
        ("cols=three", "/cols"),
        ("length=short", "/length"),
        ("length=18..12", "/length"),
        ("length=..", "/length"),
        ("length=-1", "/length"),
        ("walk=-1", "/walk"),
        ("walk=100001", "/walk"),
        ("walk=far", "/walk"),
        ("as=pdf", "/as"),
        ("seeds=1", "/seeds"),
        ("seed=1&seed=2", "/seed"),
        ("count=0", "/count"),
        ("count=1001", "/count"),
        ("solvable=yes", "/solvable"),
        ("walk=3&walk_back=1", "/walk_back"),
        ("percentile=101", "/percentile"),
        ("percentile=-1", "/percentile"),
        ("percentile=9..5", "/percentile"),
        ("percentile=1e1", "/percentile"),
        ("percentile=100", "/percentile"),
        ("length=5&percentile=50", "/percentile"),
        ("walk=5&percentile=50", "/walk"),
    ] {
        let problem = taquin.get(&format!("/random?{query}")).await.problem("invalid-parameter");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{query}");
        assert_eq!(faults(&problem).len(), 1, "{query}: {problem}");
    }
    taquin.get("/random?length=5&walk=5").await.problem("invalid-parameter");
    let problem = taquin.get("/random?rows=1&walk=far&as=pdf").await.problem("invalid-parameter");
    assert_eq!(faults(&problem).len(), 3, "all at once: {problem}");
}

#[tokio::test]
async fn a_range_of_lengths_is_written_in_one_way() {
    let taquin = shared().await;
    for length in ["12..=18", "+12", " 12", "12 ..18", "12..", "..18", "12-18", "1e1"] {
        let problem = taquin.send(Question::get("/random").query("length", length)).await.problem("invalid-parameter");
        assert_eq!(problem["errors"][0]["pointer"], "/length", "{length:?}");
    }
}

#[tokio::test]
async fn lengths_are_rejected_where_they_are_not_known() {
    let taquin = shared().await;
    for (query, what) in [
        ("rows=5&cols=5&length=20", "up to 16 cells"),
        (
            "rows=4&length=25",
            "of 25 cannot be found soon; for this size and goal, lengths from 0 to 20 and from 30 to 80",
        ),
        ("rows=4&goal=snail&length=79..80", "lengths from 0 to 20 and from 30 to 78"),
        ("rows=3&cols=5&goal=snail&length=30..50", "lengths from 0 to 20 can be drawn"),
    ] {
        let problem = taquin.get(&format!("/random?{query}")).await.problem("unsupported-combination");
        assert_eq!(faults(&problem), ["/length unsupported"], "{query}");
        assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(what)), "{query}: {problem}");
    }
    let problem = taquin.get("/random?rows=3&cols=4&length=54").await.problem("invalid-parameter");
    assert_eq!(faults(&problem), ["/length out-of-range"]);
}

#[tokio::test]
async fn a_length_that_no_board_has_is_a_clear_problem() {
    let taquin = shared().await;
    let answer = taquin.get("/random?length=32..40").await;
    assert!(answer.status == 400 || answer.status == 422, "{answer}");
    let problem = answer.json();
    assert_eq!(problem["errors"][0]["pointer"], "/length", "{problem}");
    assert!(
        problem["detail"].as_str().is_some_and(|detail| {
            detail.starts_with("No board has an optimal length from 32 to 40;") && detail.contains("31")
        }),
        "{problem}"
    );
}

#[tokio::test]
async fn a_wrong_goal_is_rejected() {
    let taquin = shared().await;
    let problem =
        taquin.send(Question::get("/random").query("goal", "1 2 3/4 5 5/7 8 0")).await.problem("invalid-board");
    assert_eq!(faults(&problem), ["/goal duplicate-tile", "/goal missing-tile"]);
    taquin.send(Question::get("/random?rows=3&cols=3").query("goal", "1 2/3 0")).await.problem("goal-mismatch");
}

#[tokio::test]
async fn lengths_of_larger_boards_are_proven() {
    let taquin = shared().await;
    for (query, lengths, is_uniform) in [
        ("rows=2&cols=5&length=40..45", 40..=45, true),
        ("rows=5&cols=2&length=7", 7..=7, false),
        ("rows=3&cols=4&length=20", 20..=20, true),
        ("rows=3&cols=4&goal=snail&length=41..42", 41..=42, true),
        ("rows=2&cols=7&length=19..60", 19..=20, false),
        ("rows=4&length=12", 12..=12, false),
        ("rows=4&length=40", 40..=40, true),
        ("rows=4&goal=blank_first&length=49..52", 49..=52, true),
        ("rows=4&goal=snail&length=15..20", 15..=20, false),
    ] {
        for seed in 0..2 {
            let question = format!("/random?{query}&seed={seed}");
            let drawn = taquin.get(&question).await.expect(200).json();
            let length = drawn["length"].as_u64().expect("a length");
            assert!(lengths.contains(&length), "{query}: {drawn}");
            assert_eq!((&drawn["lower_bound"], &drawn["upper_bound"]), (&json!(length), &json!(length)), "{query}");
            assert_eq!((&drawn["uniform"], &drawn["solvable"]), (&json!(is_uniform), &json!(true)), "{query}");
            let solved = json!({ "board": drawn["board"], "goal": drawn["goal"], "require": "optimal" });
            let solved = taquin.solve(&solved).await;
            assert_eq!((&solved["length"], &solved["percentile"]), (&json!(length), &drawn["percentile"]), "{query}");
            assert_eq!(taquin.get(&question).await.expect(200).json(), drawn, "a seed repeats its board");
        }
    }
}

#[tokio::test]
async fn the_longest_lengths_of_the_15_puzzle_are_drawn_and_proven() {
    let taquin = shared().await;
    for (query, lengths) in [
        ("rows=4&length=70", 70..=70),
        ("rows=4&goal=snail&length=74..80", 74..=78),
        ("rows=4&goal=blank_first&percentile=99.9999..100", 74..=80),
    ] {
        let drawn = taquin.get(&format!("/random?{query}&seed=1")).await.expect(200).json();
        let length = drawn["length"].as_u64().expect("a length");
        assert!(lengths.contains(&length) && drawn["uniform"] == false, "{query}: {drawn}");
        let solved = json!({ "board": drawn["board"], "goal": drawn["goal"], "require": "optimal" });
        let solved = taquin.solve(&solved).await;
        assert_eq!((&solved["length"], &solved["percentile"]), (&json!(length), &drawn["percentile"]), "{query}");
    }
}

#[tokio::test]
async fn percentiles_select_boards_by_difficulty() {
    let taquin = shared().await;
    for (query, low, high) in [
        ("percentile=90..100", 90.0, 100.0),
        ("percentile=0..0.01", 0.0, 0.01),
        ("percentile=0", 0.0, 0.0),
        ("rows=3&cols=4&percentile=45..55", 45.0, 55.0),
        ("rows=4&percentile=20.5..60", 20.5, 60.0),
    ] {
        for seed in 0..3 {
            let drawn = taquin.get(&format!("/random?{query}&seed={seed}")).await.expect(200).json();
            let percentile = drawn["percentile"].as_f64().expect("a percentile");
            assert!((low..=high).contains(&percentile), "{query}: {drawn}");
        }
    }
    for query in ["rows=5&percentile=50..60", "rows=3&cols=5&goal=snail&percentile=50..60"] {
        let problem = taquin.get(&format!("/random?{query}")).await.problem("unsupported-combination");
        assert_eq!(faults(&problem), ["/percentile unsupported"], "{query}");
    }
    let problem = taquin.get("/random?percentile=50..51").await.problem("invalid-parameter");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("/distances")), "{problem}");
}

#[tokio::test]
async fn several_boards_are_lines_with_seeds_of_their_own() {
    let taquin = shared().await;
    for query in
        ["", "&rows=4&cols=5", "&length=12..18", "&rows=3&cols=4&length=30..33", "&as=request", "&solvable=any"]
    {
        let answer = taquin.get(&format!("/random?seed=taquin&count=4{query}")).await.expect(200);
        assert_eq!((answer.media_type().as_str(), answer.header("x-taquin-seed")), ("application/x-ndjson", "taquin"));
        let lines: Vec<Value> = answer.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(lines.len(), 4);
        for (index, line) in lines.iter().enumerate() {
            let seed = format!("taquin/{index}");
            let alone = Question::get(&format!("/random?count=1{query}")).query("seed", &seed);
            assert_eq!(taquin.send(alone).await.expect(200).json(), *line, "{query}, line {index}");
        }
    }
    let many = taquin.get("/random?count=1000&rows=5&cols=5").await.expect(200);
    assert_eq!((many.text().lines().count(), many.header("cache-control")), (1000, "no-store"));
    let longest = "s".repeat(125);
    let problem = taquin.get(&format!("/random?count=2&seed={longest}")).await.problem("invalid-parameter");
    assert_eq!(faults(&problem), ["/seed out-of-range"]);
    let problem = taquin.get("/random?count=2&as=text").await.problem("unsupported-combination");
    assert_eq!(faults(&problem), ["/as unsupported"]);
    let several = taquin.send(Question::get("/random?count=2").accept("application/json")).await;
    let detail = several.problem("not-acceptable")["detail"].to_string();
    assert!(detail.contains("of several boards: application/x-ndjson. `as=line` is text/plain"), "{detail}");
    let one = taquin.send(Question::get("/random").accept("application/x-ndjson")).await;
    let detail = one.problem("not-acceptable")["detail"].to_string();
    assert!(detail.contains("of one board: application/json, text/plain, image/svg+xml. Several boards"), "{detail}");
}

#[tokio::test]
async fn a_list_of_distinct_boards_leaves_out_seeds() {
    let taquin = shared().await;
    let list = async |query: &str| -> Vec<Value> {
        let lines = taquin.get(&format!("/random?{query}")).await.expect(200);
        lines.text().lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    };
    let all = list("rows=2&count=12&seed=a&distinct=true").await;
    let mut boards: Vec<String> = all.iter().map(board).collect();
    for drawn in &all {
        let seed = drawn["seed"].as_str().unwrap_or_default();
        assert_eq!(taquin.get(&format!("/random?rows=2&seed={seed}")).await.expect(200).json(), *drawn);
    }
    boards.sort_unstable();
    boards.dedup();
    assert_eq!(boards.len(), 12, "{boards:?}");
    let plain = list("rows=3&count=20&seed=a").await;
    assert_eq!(list("rows=3&count=20&seed=a&distinct=true").await, plain, "no board is there twice anyway");
    for (query, exist) in [
        ("rows=2&count=13", "only 12 different boards meet the request"),
        ("rows=2&count=25&solvable=any", "only 24 different boards meet the request"),
        ("rows=3&count=3&length=31", "only 2 different boards meet the request"),
        ("rows=10&count=11&walk=3", "only 10 different boards meet the request"),
        ("rows=3&count=2&percentile=0", "only 1 different board meets the request"),
    ] {
        let problem = taquin.get(&format!("/random?{query}&distinct=true")).await.problem("invalid-parameter");
        assert_eq!(faults(&problem), ["/count out-of-range"], "{query}");
        assert!(problem["errors"][0]["detail"].as_str().is_some_and(|detail| detail.starts_with(exist)), "{problem}");
    }
    let problem = taquin.get("/random?distinct=true").await.problem("unsupported-combination");
    assert_eq!(faults(&problem), ["/distinct unsupported"]);
    let long = format!("/random?count=2&distinct=true&seed={}", "s".repeat(123));
    assert_eq!(faults(&taquin.get(&long).await.problem("invalid-parameter")), ["/seed out-of-range"]);
}

#[tokio::test]
async fn boards_are_lines_of_text_if_requested() {
    let taquin = shared().await;
    for query in ["seed=taquin", "seed=taquin&rows=4", "seed=taquin&rows=2&cols=5"] {
        let reply = taquin.get(&format!("/random?{query}")).await.expect(200).json();
        let line = taquin.get(&format!("/random?{query}&as=line")).await.expect(200);
        assert_eq!(line.media_type(), "text/plain");
        let written = board(&reply);
        let expected = if written.len() > 20 { written } else { written.replace([' ', '/'], "") };
        assert_eq!(line.text(), format!("{expected}\n"));
    }
    let lines = taquin.get("/random?seed=taquin&count=3&as=line").await.expect(200);
    let each = taquin.get("/random?seed=taquin&count=3").await.expect(200);
    let each = each.text().lines().map(|line| board(&serde_json::from_str(line).unwrap()).replace([' ', '/'], ""));
    assert_eq!(lines.text().lines().collect::<Vec<_>>(), each.collect::<Vec<_>>());
}

#[tokio::test]
async fn post_draws_the_same_boards_as_get() {
    let taquin = shared().await;
    for (query, body) in [
        ("rows=4&cols=4&seed=taquin", json!({ "rows": 4, "cols": 4, "seed": "taquin" })),
        ("length=12..18&seed=taquin&count=3", json!({ "length": "12..18", "seed": "taquin", "count": 3 })),
        (
            "walk=20&walk_back=true&from=867254301&seed=a",
            json!({ "walk": 20, "walk_back": true, "from": [[8, 6, 7], [2, 5, 4], [3, 0, 1]], "seed": "a" }),
        ),
        ("solvable=any&as=line&seed=a", json!({ "solvable": "any", "as": "line", "seed": "a" })),
    ] {
        let got = taquin.get(&format!("/random?{query}")).await.expect(200);
        let posted = taquin.send(Question::post("/random").json(&body)).await.expect(200);
        assert_eq!(posted.text(), got.text(), "{query}");
        assert_eq!(posted.header("x-taquin-seed"), got.header("x-taquin-seed"));
        assert_eq!((posted.header("etag"), posted.header("cache-control")), ("", ""));
    }
    let wrong = json!({ "walk": "far", "walk_back": 1, "colour": "red" });
    let problem = taquin.send(Question::post("/random").json(&wrong)).await.problem("invalid-request");
    assert_eq!(problem["errors"].as_array().map(Vec::len), Some(3), "{problem}");
}

#[tokio::test]
async fn boards_may_be_unsolvable() {
    let taquin = shared().await;
    for (rows, cols) in [(2, 2), (3, 3), (4, 6)] {
        let mut found = [false; 2];
        for seed in 0..20 {
            let target = format!("/random?rows={rows}&cols={cols}&seed={seed}");
            let other = taquin.get(&format!("{target}&solvable=false")).await.expect(200).json();
            assert_eq!((&other["solvable"], &other["lower_bound"]), (&json!(false), &Value::Null));
            let any = taquin.get(&format!("{target}&solvable=any")).await.expect(200).json();
            for drawn in [&other, &any] {
                let verdict = taquin.post("/solvable", &json!({ "board": drawn["board"] })).await.expect(200).json();
                assert_eq!(verdict["solvable"], drawn["solvable"], "{drawn}");
            }
            found[usize::from(any["solvable"] == true)] = true;
            let default = taquin.get(&target).await.expect(200).json();
            assert_eq!(taquin.get(&format!("{target}&solvable=true")).await.expect(200).json(), default);
        }
        assert_eq!(found, [true; 2], "{rows}×{cols}");
    }
}

#[tokio::test]
async fn a_walk_may_turn_back_and_start_elsewhere() {
    let taquin = shared().await;
    let mut returned = 0;
    for seed in 0..60 {
        let target = format!("/random?walk=2&walk_back=true&seed={seed}");
        returned += u32::from(taquin.get(&target).await.expect(200).json()["length"] == 0);
    }
    assert!((10..50).contains(&returned), "one of two or three moves leads back: {returned} of 60");
    for (walk, from) in
        [(0, "8 6 7/2 5 4/3 0 1"), (3, "8 6 7/2 5 4/3 0 1"), (1, "1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0")]
    {
        let question = Question::get(&format!("/random?walk={walk}&seed=a")).query("from", from);
        let drawn = taquin.send(question).await.expect(200).json();
        let from = grid(from);
        assert_eq!(grid_of(&drawn["goal"]), blank_last(from.len() as u64, from.len() as u64));
        if walk == 0 {
            assert_eq!(grid_of(&drawn["board"]), from);
        }
        if let Some(length) = drawn["length"].as_u64() {
            assert!(length <= 31 && length + walk >= 31 && (length + walk) % 2 == 1, "{drawn}");
        }
        assert_eq!((&drawn["uniform"], &drawn["solvable"]), (&json!(false), &json!(true)));
    }
    taquin.send(Question::get("/random?walk=3").query("from", "123456870")).await.problem("unsolvable");
    let two = Question::get("/random?walk=3").query("from", "1 2/3 0").query("goal", "1 2 3/4 5 6/7 8 0");
    assert_eq!(faults(&taquin.send(two).await.problem("goal-mismatch")), ["/goal goal-mismatch"]);
}

#[tokio::test]
async fn parameters_without_an_effect_are_rejected() {
    let taquin = shared().await;
    for (query, expected) in [
        ("from=123456780", "/from unsupported"),
        ("walk_back=true", "/walk_back unsupported"),
        ("length=5&walk_back=true", "/walk_back unsupported"),
        ("walk=5&solvable=false", "/solvable unsupported"),
        ("length=5&solvable=any", "/solvable unsupported"),
        ("percentile=5..9&solvable=false", "/solvable unsupported"),
    ] {
        let problem = taquin.get(&format!("/random?{query}")).await.problem("unsupported-combination");
        assert_eq!(faults(&problem), [expected], "{query}");
    }
    taquin.get("/random?walk_back=false&solvable=true&count=1").await.expect(200);
}

#[tokio::test]
async fn a_drawing_ends_at_the_time_limit_or_with_its_client() {
    const LONG: &str = "/random?rows=4&length=66&count=1000";
    let service = Service::start(&["--workers", "1", "--time-limit", "300ms"]).await;
    let problem = service.client().get(LONG).await.problem("search-limit-exceeded");
    assert_eq!(problem["limit"], "time");
    let service = Service::start(&["--workers", "1", "--time-limit", "1h", "--max-time", "1h"]).await;
    let client = service.client();
    let pending = client.begin(Question::get(LONG)).await;
    crate::client::until("the drawing runs", async || crate::load::gauge(&client, "taquin_jobs_in_progress").await > 0)
        .await;
    pending.hang_up();
    until_idle(&client).await;
    client.get("/random?rows=4&length=40").await.expect(200);
}
