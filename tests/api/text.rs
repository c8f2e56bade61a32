//! Text responses for a terminal.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::client::{shared, unchecked};
use crate::question::Question;

#[tokio::test]
async fn a_solution_as_text_has_the_grids_the_moves_and_the_figures() {
    let taquin = shared().await;
    let question = json!({ "board": "1 2 3/4 5 6/0 7 8", "algorithm": "astar", "heuristic": "manhattan" });
    for question in [Question::post("/solve").json(&question), Question::get_as("/solve", &question)] {
        let answer = taquin.send(question.accept("text/plain")).await.expect(200);
        let text = answer.text();
        for part in ["1 2 3", "4 5 6", "7 8", "RR", "2 moves", "astar", "manhattan", "expanded", "generated"] {
            assert!(text.contains(part), "no {part:?} in\n{text}");
        }
        assert!(text.ends_with('\n'), "{text:?}");
    }
}

#[tokio::test]
async fn a_long_solution_as_text_has_all_its_moves() {
    let taquin = shared().await;
    let reply = taquin.solve(&json!({ "board": "867254301" })).await;
    let text = taquin.send(Question::get("/solve?board=867254301").accept("text/plain")).await.expect(200);
    let letters: String = text.text().split_whitespace().collect();
    assert!(letters.contains(reply["moves"].as_str().unwrap_or("?")), "{text}");
    assert!(text.text().contains("31"), "{text}");
}

#[tokio::test]
async fn a_solution_as_text_shows_whether_it_is_optimal() {
    let taquin = shared().await;
    let proven = Question::get("/solve?board=867254301").accept("text/plain");
    let claim = ", optimal.";
    assert!(taquin.send(proven).await.expect(200).text().contains(claim));
    let unproven = Question::get("/solve?board=867254301&algorithm=depth_first").accept("text/plain");
    assert!(!taquin.send(unproven).await.expect(200).text().contains(claim));
}

#[tokio::test]
async fn states_stand_side_by_side() {
    let taquin = shared().await;
    let target = "/solve?board=123456078&include=states";
    let text = taquin.send(Question::get(target).accept("text/plain")).await.expect(200);
    let lines: Vec<&str> = text.text().lines().collect();
    let first = lines.iter().position(|line| line.starts_with("start")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        lines[first..first + 5],
        [
            "start           R: tile 7       R: tile 8",
            "g 0, h 2, f 2   g 1, h 1, f 2   g 2, h 0, f 2",
            "1 2 3           1 2 3           1 2 3",
            "4 5 6           4 5 6           4 5 6",
            ". 7 8           7 . 8           7 8 .",
        ]
    );
}

#[tokio::test]
async fn text_with_states_is_no_wider_than_requested() {
    let taquin = shared().await;
    for (width, boards) in [(20, 1), (60, 3), (100, 5)] {
        let target = format!("/solve?board=724506831&goal=blank_first&include=states&width={width}");
        let text = taquin.send(Question::get(&target).accept("text/plain")).await.expect(200);
        let figures: Vec<&str> = text.text().lines().filter(|line| line.starts_with("g ")).collect();
        assert_eq!(figures.len(), 27_usize.div_ceil(boards), "{text}");
        assert!(figures.iter().all(|line| line.len() <= width), "{text}");
    }
    for (target, pointer) in [
        ("/solve?board=123456078&include=states&width=19", "/width"),
        ("/solve?board=123456078&width=80", "/width"),
        ("/solve?board=123456078&output_encoding=positions", "/output_encoding"),
        ("/solve?board=123456078&include=states,expansions&output_encoding=positions", "/include"),
        ("/solve?board=123456078&include=states,progress&output_encoding=positions", "/include"),
        ("/solve?board=123456078&include=states&solutions.count=true&output_encoding=positions", "/solutions"),
        ("/solve?board=123456078&include=states&width=80&output_encoding=positions", "/width"),
    ] {
        let problem = taquin.send(Question::get(target).accept("text/plain")).await;
        assert!(problem.text().contains(pointer) && problem.status >= 400, "{target}\n{problem}");
    }
}

#[tokio::test]
async fn positions_as_text_are_a_board_a_line_in_the_requested_order() {
    let taquin = shared().await;
    for board in ["867254301", "1 2 3/0 4 5", "1 2 3 4/5 6 7 8/9 10 0 12/13 14 11 15", "8 7 6/5 4 3/2 1 0"] {
        let mut question = json!({ "board": board, "include": ["states"] });
        let states = taquin.solve(&question).await["states"].take();
        let mut expected: Vec<String> = states.as_array().expect("states").iter().map(positions_of_state).collect();
        question["output_encoding"] = json!("positions");
        for order in ["start_first", "goal_first"] {
            question["order"] = json!(order);
            // The contract describes rows.
            let text = unchecked(taquin.addr(), &Question::post("/solve").json(&question).accept("text/plain")).await;
            assert_eq!(text.expect(200).text(), expected.concat(), "{order} {board}");
            expected.reverse();
        }
    }
    let target = "/solve?board=4,7,6,2,0,1,3,8,5&encoding=positions&goal=123456780&include=states\
                  &output_encoding=positions&order=goal_first";
    let text = unchecked(taquin.addr(), &Question::get(target).accept("text/plain")).await.expect(200);
    assert!(text.text().starts_with("8 0 1 2 3 4 5 6 7\n") && text.text().ends_with("4 7 6 2 0 1 3 8 5\n"), "{text}");
    let solved = "/solve?board=123456780&include=states&output_encoding=positions";
    let text = unchecked(taquin.addr(), &Question::get(solved).accept("text/plain")).await.expect(200);
    assert_eq!(text.text(), "8 0 1 2 3 4 5 6 7\n");
}

/// The positions of the board of a state, in a line.
fn positions_of_state(state: &Value) -> String {
    let tiles: Vec<&Value> =
        state["board"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap()).collect();
    let cell = |tile: usize| tiles.iter().position(|other| **other == tile).expect("the tile is on the board");
    let positions: Vec<String> = (0..tiles.len()).map(|tile| cell(tile).to_string()).collect();
    positions.join(" ") + "\n"
}

#[tokio::test]
async fn a_verdict_as_text_says_yes_or_no() {
    let taquin = shared().await;
    let no = taquin.send(Question::get("/solvable?board=123456870").accept("text/plain")).await.expect(200);
    let yes = taquin.send(Question::get("/solvable?board=123456780").accept("text/plain")).await.expect(200);
    assert_ne!(no.text(), yes.text());
    let says = |answer: &Answer, verdict: &str| answer.text().lines().any(|line| line.starts_with(verdict));
    assert!(says(&no, "Not solvable"), "{no}");
    assert!(says(&yes, "Solvable"), "{yes}");
}

#[tokio::test]
async fn info_as_text_has_names_and_limits() {
    let taquin = shared().await;
    let text = taquin.send(Question::get("/info").accept("text/plain")).await.expect(200);
    for part in ["taquin", env!("CARGO_PKG_VERSION"), "astar", "manhattan"] {
        assert!(text.text().contains(part), "no {part:?} in\n{text}");
    }
}

#[tokio::test]
async fn a_problem_as_text_has_status_errors_and_id() {
    let taquin = shared().await;
    for (question, status, parts) in [
        (Question::get("/nowhere"), 404, &["404"][..]),
        (Question::get("/solve"), 400, &["400", "/board"]),
        (Question::new(hyper::Method::DELETE, "/solve"), 405, &["405"]),
        (Question::get("/solve?board=123456870"), 422, &["422"]),
        (Question::get("/solve?board=123455780"), 422, &["422", "/board", "tile 5", "tile 6"]),
        (Question::post("/solve").body("application/xml", "<x/>"), 415, &["415", "curl --json"]),
        (Question::post("/solve").body("application/json", "{"), 400, &["400"]),
    ] {
        let question = question.accept("text/plain").header("x-request-id", "find-me");
        let answer = taquin.send(question).await.expect(status);
        assert_eq!(answer.media_type(), "text/plain");
        for part in parts.iter().chain(&["find-me"]) {
            assert!(answer.text().contains(part), "no {part:?} in\n{answer}");
        }
    }
}
