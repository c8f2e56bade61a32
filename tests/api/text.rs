//! Text responses for a terminal.

use serde_json::json;

use crate::answer::Answer;
use crate::client::shared;
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
async fn states_are_shown_as_text_too() {
    let taquin = shared().await;
    let target = "/solve?board=123456078&include=states";
    let text = taquin.send(Question::get(target).accept("text/plain")).await.expect(200);
    assert!(text.text().contains("7 _ 8") || text.text().contains("7 0 8") || text.text().contains("7 . 8"), "{text}");
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
