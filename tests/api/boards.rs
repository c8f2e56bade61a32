//! Boards and goals in every notation.

use serde_json::{Value, json};

use crate::answer::{faults, timeless};
use crate::client::shared;
use crate::question::Question;
use crate::simulator::{blank_last, grid, grid_of};

#[tokio::test]
async fn every_form_of_a_board_gives_the_same_response() {
    let taquin = shared().await;
    let expected = timeless(taquin.solve(&json!({ "board": [[8, 6, 7], [2, 5, 4], [3, 0, 1]] })).await);
    let forms = [
        json!({ "board": [8, 6, 7, 2, 5, 4, 3, 0, 1] }),
        json!({ "board": [8, 6, 7, 2, 5, 4, 3, 0, 1], "rows": 3, "cols": 3 }),
        json!({ "board": [8, 6, 7, 2, 5, 4, 3, 0, 1], "rows": 3 }),
        json!({ "board": [8, 6, 7, 2, 5, 4, 3, 0, 1], "encoding": "tiles" }),
        json!({ "board": [[8, 6, 7], [2, 5, 4], [3, 0, 1]], "rows": 3, "cols": 3 }),
        json!({ "board": [[8, 6, 7], [2, 5, 4], [3, null, 1]] }),
        json!({ "board": [8, 6, 7, 2, 5, 4, 3, null, 1] }),
        json!({ "board": [7, 8, 3, 6, 5, 4, 1, 2, 0], "encoding": "positions" }),
        json!({ "board": "8 6 7/2 5 4/3 0 1" }),
        json!({ "board": "8,6,7;2,5,4;3,0,1" }),
        json!({ "board": "8, 6, 7 ; 2, 5, 4 ; 3, 0, 1" }),
        json!({ "board": "8 6 7\n2 5 4\n3 0 1\n" }),
        json!({ "board": "8 6 7\r\n2 5 4\r\n3 0 1\r\n" }),
        json!({ "board": "8 6 7 2 5 4 3 0 1" }),
        json!({ "board": "867254301" }),
        json!({ "board": "867/254/301" }),
        json!({ "board": "867254301", "rows": 3, "cols": 3 }),
        json!({ "board": "8 6 7/2 5 4/3 _ 1" }),
        json!({ "board": "8 6 7/2 5 4/3 . 1" }),
        json!({ "board": "8 6 7/2 5 4/3 x 1" }),
        json!({ "board": "8672543_1" }),
    ];
    for form in forms {
        assert_eq!(timeless(taquin.solve(&form).await), expected, "{form}");
        let by_link = taquin.send(Question::get_as("/solve", &form)).await.expect(200).json();
        assert_eq!(timeless(by_link), expected, "by GET: {form}");
    }
    for text in ["8 6 7/2 5 4/3 0 1", "8 6 7\n2 5 4\n3 _ 1\n", "867254301", "8,6,7;2,5,4;3,x,1"] {
        for media_type in ["text/plain", "text/plain; charset=utf-8", "application/x-www-form-urlencoded"] {
            let answer = taquin.send(Question::post("/solve").body(media_type, text)).await.expect(200);
            assert_eq!(timeless(answer.json()), expected, "{media_type}: {text:?}");
        }
    }
    for body in [
        r#"{"board": "867254301"}"#,
        " {\"board\": \"867254301\"}\n",
        "[[8,6,7],[2,5,4],[3,0,1]]",
        "[8,6,7,2,5,4,3,0,1]",
    ] {
        // The types that `curl -d` sends, and `fetch` with a string.
        for media_type in ["application/x-www-form-urlencoded", "text/plain;charset=UTF-8"] {
            let question = Question::post("/solve").body(media_type, body);
            assert_eq!(timeless(taquin.send(question).await.expect(200).json()), expected, "{media_type}: {body}");
        }
    }
}

#[tokio::test]
async fn a_board_alone_is_a_body_too() {
    let taquin = shared().await;
    let expected = timeless(taquin.solve(&json!({ "board": "867254301" })).await);
    for board in
        [json!([[8, 6, 7], [2, 5, 4], [3, 0, 1]]), json!([8, 6, 7, 2, 5, 4, 3, null, 1]), json!("8 6 7/2 5 4/3 _ 1")]
    {
        assert_eq!(timeless(taquin.solve(&board).await), expected, "{board}");
    }
    let by_query = Question::post("/solve?board=867254301");
    assert_eq!(timeless(taquin.send(by_query).await.expect(200).json()), expected, "no body at all");
}

#[tokio::test]
async fn positions_name_the_cell_of_each_tile() {
    let taquin = shared().await;
    let question = json!({ "board": [4, 7, 6, 2, 0, 1, 3, 8, 5], "encoding": "positions" });
    let reply = taquin.post("/solvable", &question).await.expect(200).json();
    assert_eq!(grid_of(&reply["start"]), grid("4 5 3/6 0 8/2 1 7"));
}

#[tokio::test]
async fn positions_hold_for_a_flat_goal_too() {
    let taquin = shared().await;
    let question = json!({
        "board": [4, 7, 6, 2, 0, 1, 3, 8, 5], "goal": [4, 0, 1, 2, 5, 8, 7, 6, 3], "encoding": "positions",
    });
    let reply = taquin.post("/solvable", &question).await.expect(200).json();
    assert_eq!(grid_of(&reply["start"]), grid("4 5 3/6 0 8/2 1 7"));
    assert_eq!(grid_of(&reply["goal"]), grid("1 2 3/8 0 4/7 6 5"));
}

#[tokio::test]
async fn a_flat_board_need_not_be_square() {
    let taquin = shared().await;
    for question in [
        json!({ "board": [1, 2, 3, 4, 0, 5], "rows": 2, "cols": 3 }),
        json!({ "board": [1, 2, 3, 4, 0, 5], "rows": 2 }),
        json!({ "board": [1, 2, 3, 4, 0, 5], "cols": 3 }),
        json!({ "board": "123405", "cols": 3 }),
        json!({ "board": "1 2 3 4 0 5", "rows": 2 }),
        json!({ "board": "1 2 3/4 0 5" }),
        json!({ "board": [4, 0, 1, 2, 3, 5], "encoding": "positions", "rows": 2 }),
    ] {
        let reply = taquin.solve(&question).await;
        assert_eq!(grid_of(&reply["start"]), grid("1 2 3/4 0 5"), "{question}");
        assert_eq!(reply["moves"], "R", "{question}");
    }
}

#[tokio::test]
async fn boards_of_every_side_from_2_to_10_are_served() {
    let taquin = shared().await;
    for rows in 2..=10 {
        for cols in 2..=10 {
            let mut board = blank_last(rows, cols);
            crate::simulator::slide(&mut board, 'U');
            crate::simulator::slide(&mut board, 'L');
            let reply = taquin.solve(&json!({ "board": board })).await;
            assert_eq!(reply["moves"], "RD", "{rows}×{cols}");
            assert_eq!(reply["optimal"], true, "{rows}×{cols}");
        }
    }
}

#[tokio::test]
async fn goals_have_names() {
    let taquin = shared().await;
    for (name, goal, larger) in [
        ("blank_last", "1 2 3/4 5 6/7 8 0", "1 2 3 4/5 6 7 8/9 10 11 0"),
        ("blank_first", "0 1 2/3 4 5/6 7 8", "0 1 2 3/4 5 6 7/8 9 10 11"),
        ("snail", "1 2 3/8 0 4/7 6 5", "1 2 3 4/10 11 0 5/9 8 7 6"),
    ] {
        for (board, goal) in [("0 1 2/3 4 5/6 7 8", goal), ("0 1 2 3/4 5 6 7/8 9 10 11", larger)] {
            let reply = taquin.post("/solvable", &json!({ "board": board, "goal": name })).await.expect(200).json();
            assert_eq!(grid_of(&reply["goal"]), grid(goal), "{name} of {board}");
        }
    }
    let reply = taquin.post("/solvable", &json!({ "board": "867254301" })).await.expect(200).json();
    assert_eq!(grid_of(&reply["goal"]), grid("1 2 3/4 5 6/7 8 0"), "the default");
}

#[tokio::test]
async fn any_permutation_is_a_goal_in_any_form() {
    let taquin = shared().await;
    let goals = [
        json!([[1, 2, 3], [8, 6, 4], [7, 0, 5]]),
        json!([1, 2, 3, 8, 6, 4, 7, 0, 5]),
        json!([1, 2, 3, 8, 6, 4, 7, null, 5]),
        json!("1 2 3/8 6 4/7 _ 5"),
        json!("123864705"),
    ];
    for goal in goals {
        let question = json!({ "board": "1 2 3/8 0 4/7 6 5", "goal": goal });
        assert_eq!(taquin.solve(&question).await["moves"], "D", "{goal}");
        let by_link = taquin.send(Question::get_as("/solve", &question)).await.expect(200).json();
        assert_eq!(by_link["moves"], "D", "by GET: {goal}");
    }
}

#[tokio::test]
async fn a_text_body_takes_its_other_fields_from_the_query() {
    let taquin = shared().await;
    let question = Question::post("/solve").query("goal", "snail").query("algorithm", "astar");
    let question = question.query("heuristic", "manhattan").query("limits.expanded", "1000").query("include", "states");
    let reply = taquin.send(question.body("text/plain", "1 2 3/8 6 4/7 0 5")).await.expect(200).json();
    assert_eq!(reply["moves"], "U");
    assert_eq!(reply["search"]["heuristic"], "manhattan");
    assert_eq!(reply["limits"]["expanded"], 1000);
    assert_eq!(reply["states"].as_array().map(Vec::len), Some(2));
}

/// Faults of a request to `/solve` and `/solvable`, by POST and GET. Asserts that all four agree.
async fn faults_everywhere(question: &Value, slug: &str) -> Vec<String> {
    let taquin = shared().await;
    let found = faults(&taquin.post("/solve", question).await.problem(slug));
    for path in ["/solve", "/solvable"] {
        let by_link = taquin.send(Question::get_as(path, question)).await.problem(slug);
        assert_eq!(faults(&by_link), found, "GET {path}: {question}");
        let by_post = taquin.post(path, question).await.problem(slug);
        assert_eq!(faults(&by_post), found, "POST {path}: {question}");
    }
    found
}

#[tokio::test]
async fn an_invalid_board_is_rejected_with_every_error() {
    for (question, expected) in [
        (
            json!({ "board": [[1, 2, 3], [4, 5, 5], [7, 8, 0]] }),
            &["/board/1/2 duplicate-tile", "/board missing-tile"][..],
        ),
        (json!({ "board": [1, 2, 3, 4, 5, 5, 7, 8, 0] }), &["/board/5 duplicate-tile", "/board missing-tile"]),
        (json!({ "board": "1 2 3/4 5 5/7 8 0" }), &["/board duplicate-tile", "/board missing-tile"]),
        (json!({ "board": [[1, 2, 3], [4, 0, 0], [7, 8, 6]] }), &["/board/1/2 duplicate-blank", "/board missing-tile"]),
        (
            json!({ "board": [[1, 2, 3], [4, 0, null], [7, 8, 6]] }),
            &["/board/1/2 duplicate-blank", "/board missing-tile"],
        ),
        (
            json!({ "board": [[1, 2, 3], [4, 5, 6], [7, 8, 9]] }),
            &["/board/2/2 tile-out-of-range", "/board missing-blank"],
        ),
        (
            json!({ "board": [[1, 2, 3], [4, 5, 6], [7, 8, -1]] }),
            &["/board/2/2 tile-out-of-range", "/board missing-blank"],
        ),
        (json!({ "board": [[1, 2, 3], [4, 5], [7, 8, 0]] }), &["/board/1 ragged-row"]),
        (json!({ "board": [[1, 2, 3], [4, 5], [7, 8, 0, 6]] }), &["/board/1 ragged-row", "/board/2 ragged-row"]),
        (json!({ "board": [[1, 2, 0]] }), &["/board side-out-of-range"]),
        (json!({ "board": [[1], [2], [0]] }), &["/board side-out-of-range"]),
        (json!({ "board": [1, 2, 3, 4, 5, 0] }), &["/board shape-unknown"]),
        (json!({ "board": [1, 2, 3, 0], "rows": 3, "cols": 2 }), &["/board shape-mismatch"]),
        (json!({ "board": [[1, 2], [3, 0]], "encoding": "positions" }), &["/board positions-in-rows"]),
        (
            json!({ "board": [0, 1, 2, 4], "encoding": "positions" }),
            &["/board/3 position-out-of-range", "/board missing-position"],
        ),
        (
            json!({ "board": [0, 1, 1, 3], "encoding": "positions" }),
            &["/board/2 duplicate-position", "/board missing-position"],
        ),
        (json!({ "board": "1 2 3/4 5 six/7 8 0" }), &["/board not-a-tile"]),
        (json!({ "board": "867254301", "goal": "1 2 3/4 5 5/7 8 0" }), &["/goal duplicate-tile", "/goal missing-tile"]),
        (
            json!({ "board": "867254301", "goal": [[1, 2, 3], [4, 5, 5], [7, 8, 0]] }),
            &["/goal/1/2 duplicate-tile", "/goal missing-tile"],
        ),
        (
            json!({ "board": [[1, 1], [2, 0]], "goal": [[1, 2], [2, 0]] }),
            &["/board/0/1 duplicate-tile", "/board missing-tile", "/goal/1/0 duplicate-tile", "/goal missing-tile"],
        ),
    ] {
        assert_eq!(faults_everywhere(&question, "invalid-board").await, expected, "{question}");
    }
}

#[tokio::test]
async fn a_side_of_11_is_rejected() {
    let board = blank_last(11, 2);
    assert_eq!(faults_everywhere(&json!({ "board": board }), "invalid-board").await, ["/board side-out-of-range"]);
    let flat: Vec<u64> = (1..121).chain([0]).collect();
    assert_eq!(faults_everywhere(&json!({ "board": flat }), "invalid-board").await, ["/board side-out-of-range"]);
}

#[tokio::test]
async fn a_fault_in_a_board_of_text_says_row_and_column() {
    let taquin = shared().await;
    let problem = taquin.post("/solve", &json!({ "board": "1 2 3/4 5 5/7 8 0" })).await.problem("invalid-board");
    let detail = problem["errors"][0]["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("row 2") && detail.contains("column 3"), "{problem}");
}

#[tokio::test]
async fn at_most_20_errors_are_listed() {
    let taquin = shared().await;
    let board = vec![vec![5; 10]; 10];
    let problem = taquin.post("/solve", &json!({ "board": board })).await.problem("invalid-board");
    assert_eq!(faults(&problem).len(), 20);
}

#[tokio::test]
async fn a_goal_of_another_size_is_a_mismatch() {
    for goal in [json!([[1, 2], [3, 0]]), json!("1 2 3 4/5 6 7 8/9 10 11 12/13 14 15 0"), json!("1 2 3/4 5 0")] {
        let question = json!({ "board": "8 6 7/2 5 4/3 0 1", "goal": goal });
        assert_eq!(faults_everywhere(&question, "goal-mismatch").await, ["/goal goal-mismatch"], "{goal}");
    }
}

#[tokio::test]
async fn a_board_as_people_write_it_is_read_and_the_reply_says_how() {
    let taquin = shared().await;
    let texts = [
        ("[[8 6 7]\n [2 5 4]\n [3 0 1]]", "an array"),
        ("{{8, 6, 7}, {2, 5, 4}, {3, 0, 1}}", "an array"),
        ("board = [[8, 6, 7], [2, 5, 4], [3, None, 1]]", "an array"),
        ("+---+---+---+\n| 8 | 6 | 7 |\n| 2 | 5 | 4 |\n| 3 |   | 1 |\n", "a table"),
        ("# solvable\n3\n8 6 7\n2 5 4\n3 0 1\n", "lines of cells, without the line with the size"),
        ("57 8 6 7 2 5 4 3 0 1", "a list of cells, without the number before the tiles"),
        ("8 6 7\n2 5 4\n3   1", "aligned columns, with a gap for the blank"),
    ];
    for (text, read_as) in texts {
        for path in ["/solve", "/solvable", "/hint", "/moves", "/explain"] {
            for question in [
                Question::post(path).body("text/plain", text),
                Question::post(path).json(&json!({ "board": text })),
                Question::get(path).query("board", text),
            ] {
                let reply = taquin.send(question).await.expect(200).json();
                assert_eq!(reply["start"], json!([[8, 6, 7], [2, 5, 4], [3, 0, 1]]), "{path}: {text}");
                assert_eq!(reply["read_as"], read_as, "{path}: {text}");
            }
        }
        let question = json!({ "board": text, "moves": "U" });
        assert_eq!(taquin.post("/verify", &question).await.expect(200).json()["read_as"], read_as, "{text}");
        let question = json!({ "board": "8 6 7/2 5 4/3 0 1", "goal": text, "preset": "heuristics" });
        assert_eq!(
            taquin.post("/compare", &question).await.expect(200).json()["read_as"],
            format!("goal: {read_as}"),
            "{text}"
        );
    }
    assert_eq!(taquin.solve(&json!({ "board": "8 6 7/2 5 4/3 0 1" })).await.get("read_as"), None);
    let text = Question::get("/solvable").query("board", "[[1 2] [3 0]]").accept("text/plain");
    assert!(taquin.send(text).await.expect(200).text().starts_with("Read as an array.\n1 2\n"));
    let question = json!({ "board": "8  7\n6  5  4\n3  2  1" });
    assert_eq!(faults_everywhere(&question, "invalid-board").await, ["/board ambiguous-board"]);
}
