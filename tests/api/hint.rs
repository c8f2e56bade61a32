//! `/hint`: the next move, and sequences of hints up to the goal.

use serde_json::{Value, json};

use crate::answer::{Answer, faults};
use crate::client::{Client, Service, shared, until};
use crate::load::{begin, gauge, hard, until_idle};
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, grid, grid_of, slide};

const HARD: &str = "3 7 8/2 0 6/4 5 1";
const FIFTEEN: &str = "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3";

/// Checks a hint with the simulator, and returns the next board.
fn checked(reply: &Value) -> Value {
    let mut board = grid_of(&reply["start"]);
    let mv = reply["move"].as_str().and_then(|mv| mv.chars().next()).expect("a move");
    assert_eq!(slide(&mut board, mv), reply["tile"].as_u64(), "{reply}");
    assert_eq!(grid_of(&reply["board"]), board, "{reply}");
    let length = reply["length"].as_u64().expect("a length");
    assert_eq!(reply["remaining"], length - 1);
    assert!(reply["lower_bound"].as_u64() <= Some(length), "{reply}");
    assert_eq!(reply["optimal"], reply["lower_bound"] == length);
    let trail = reply["trail"].as_str().expect("a trail");
    assert_eq!((trail.len() as u64, trail.chars().next()), (length, Some(mv)));
    reply["board"].clone()
}

/// Follows hints to the goal, and returns the responses.
async fn follow(taquin: &Client, mut question: Value) -> Vec<Answer> {
    let mut answers = Vec::new();
    loop {
        let answer = taquin.post("/hint", &question).await.expect(200);
        let reply = answer.json();
        answers.push(answer);
        if reply["move"].is_null() {
            assert_eq!((&reply["start"], &reply["length"]), (&reply["goal"], &json!(0)));
            return answers;
        }
        question["board"] = checked(&reply);
    }
}

fn lengths(answers: &[Answer]) -> Vec<u64> {
    answers.iter().map(|answer| answer.json()["length"].as_u64().expect("a length")).collect()
}

fn is_kept(answer: &Answer) -> bool {
    answer.header("server-timing").contains("cache;desc=hit")
}

#[tokio::test]
async fn a_hint_is_one_move_nearer_to_the_goal() {
    let taquin = shared().await;
    for board in ["8 6 7/2 5 4/3 0 1", HARD, "1 2 3/4 5 6/0 7 8"] {
        let reply = taquin.post("/hint", &json!({ "board": board })).await.expect(200).json();
        let after = checked(&reply);
        assert_eq!(reply["length"], TO_BLANK_LAST[&grid(board)]);
        assert_eq!(reply["remaining"], TO_BLANK_LAST[&grid_of(&after)]);
        assert_eq!(reply["optimal"], true);
    }
}

#[tokio::test]
async fn a_solved_board_needs_no_hint() {
    let taquin = shared().await;
    for (board, goal) in [("123456780", "blank_last"), ("123804765", "snail")] {
        let reply = taquin.post("/hint", &json!({ "board": board, "goal": goal })).await.expect(200).json();
        assert_eq!((&reply["move"], &reply["tile"]), (&Value::Null, &Value::Null));
        assert_eq!((&reply["length"], &reply["remaining"]), (&json!(0), &json!(0)));
        assert_eq!(reply["board"], reply["start"]);
    }
}

#[tokio::test]
async fn hints_on_a_small_board_need_no_search() {
    let taquin = shared().await;
    let answers = follow(&taquin, json!({ "board": "8 6 7/2 5 4/3 0 1" })).await;
    assert_eq!(lengths(&answers), (0..=31).rev().collect::<Vec<_>>());
}

#[tokio::test]
async fn hints_on_a_15_puzzle_follow_one_solution() {
    let service = Service::start(&[]).await;
    let answers = follow(&service.client(), json!({ "board": FIFTEEN, "goal": "blank_first" })).await;
    assert_eq!(lengths(&answers), (0..=57).rev().collect::<Vec<_>>());
    assert!(!is_kept(&answers[0]), "the first is searched for");
    assert!(answers[1..].iter().all(is_kept), "the others are known");
}

#[tokio::test]
async fn hints_reach_the_goal_without_a_proof_of_optimality() {
    let service = Service::start(&[]).await;
    let client = service.client();
    let mut question = client.get("/random?rows=7&cols=7&seed=hint&as=request").await.expect(200).json();
    question["limits"] = json!({ "time_ms": 300 });
    let answers = follow(&client, question).await;
    let lengths = lengths(&answers);
    assert_eq!(lengths, (0..=lengths[0]).rev().collect::<Vec<_>>(), "each hint is one move nearer");
    assert_eq!(answers[0].json()["optimal"], false);
    assert!(answers[1..].iter().all(is_kept), "one search is all it takes");
}

#[tokio::test]
async fn hints_continue_after_several_moves() {
    let service = Service::start(&[]).await;
    let client = service.client();
    let solution = client.solve(&json!({ "board": FIFTEEN, "goal": "blank_first" })).await;
    let first = client.post("/hint", &json!({ "board": FIFTEEN, "goal": "blank_first" })).await.expect(200);
    assert!(is_kept(&first), "the same question as that of /solve");
    let mut board = grid(FIFTEEN);
    for mv in solution["moves"].as_str().unwrap_or_default().chars().take(5) {
        slide(&mut board, mv);
    }
    let later = client.post("/hint", &json!({ "board": board, "goal": "blank_first" })).await.expect(200);
    assert!(is_kept(&later), "{later}");
    assert_eq!(later.json()["length"], 52);
}

#[tokio::test]
async fn a_trail_that_leads_elsewhere_is_ignored() {
    let taquin = shared().await;
    let question = json!({ "board": HARD });
    let expected = crate::answer::timeless(taquin.post("/hint", &question).await.expect(200).json());
    let length = expected["length"].as_u64().expect("a length") as usize;
    // The end of a trail, another trail, moves off the board, a trail for another size, and a longer way.
    let trail = expected["trail"].as_str().expect("a trail");
    let longer = format!("{}{trail}", if trail.starts_with('L') { "RL" } else { "LR" });
    for sent in ["", &trail[length / 2..], "ULDR", "UUUU", &"RDLU".repeat(200), &longer, " u2 l "] {
        let question = json!({ "board": HARD, "trail": sent });
        let reply = taquin.post("/hint", &question).await.expect(200).json();
        assert_eq!(crate::answer::timeless(reply), expected, "{sent}");
    }
    let solved = json!({ "board": "123456780", "trail": "RRDD" });
    assert_eq!(taquin.post("/hint", &solved).await.expect(200).json()["trail"], "");
    // A trail has the goal of the request.
    let other = json!({ "board": expected["board"], "goal": "snail", "trail": trail });
    taquin.post("/hint", &other).await.problem("unsolvable");
}

#[tokio::test]
async fn what_are_no_moves_are_no_trail() {
    let taquin = shared().await;
    for (trail, code) in
        [(json!("8 6 7"), "unknown-value"), (json!(["U"]), "wrong-type"), (json!("U50001"), "out-of-range")]
    {
        let problem = taquin.post("/hint", &json!({ "board": HARD, "trail": trail })).await.problem("invalid-request");
        assert_eq!(faults(&problem), [format!("/trail {code}")]);
        assert!(!problem["errors"][0]["detail"].as_str().unwrap_or_default().contains("`tiles`"), "{problem}");
    }
    let problem = taquin.get("/hint?board=867254301&trail=X").await.problem("invalid-parameter");
    assert_eq!(faults(&problem), ["/trail unknown-value"]);
}

#[tokio::test]
async fn a_trail_decides_between_equal_solutions() {
    let taquin = shared().await;
    // Both ways around the board have six moves.
    for trail in ["RDLURD", "DRULDR"] {
        let reply = taquin.post("/hint", &json!({ "board": "03/21", "trail": trail })).await.expect(200).json();
        assert_eq!((&reply["trail"], &reply["optimal"]), (&json!(trail), &json!(true)));
        assert_eq!(reply["search"]["expanded"], 6);
        let beside = json!({ "board": reply["board"], "trail": &trail[2..] });
        assert_eq!(taquin.post("/hint", &beside).await.expect(200).json()["trail"], trail[1..]);
    }
}

#[tokio::test]
async fn a_trail_of_a_client_leads_no_other_client() {
    let service = Service::start(&[]).await;
    let client = service.client();
    let mut question = client.get("/random?rows=5&cols=5&walk=10&seed=trail&as=request").await.expect(200).json();
    question["limits"] = json!({ "time_ms": 100 });
    let shortest = client.post("/hint", &question).await.expect(200).json();
    let trail = shortest["trail"].as_str().expect("a trail");
    // A longer way from the next board but one, which is not cached for these limits.
    question["limits"] = json!({ "time_ms": 101 });
    let mut board = grid_of(&shortest["board"]);
    let mv = trail.chars().nth(1).expect("a second move");
    slide(&mut board, mv);
    question["board"] = json!(board);
    let back = { "UDLR".chars().zip("DURL".chars()).find(|(one, _)| *one == mv).expect("a move").1 };
    question["trail"] = json!(format!("{back}{mv}{}", &trail[2..]));
    let followed = client.post("/hint", &question).await.expect(200).json();
    assert_eq!((&followed["length"], &followed["search"]), (&json!(trail.len() - 2), &Value::Null));
    question["trail"] = Value::Null;
    let searched = client.post("/hint", &question).await.expect(200);
    assert!(!is_kept(&searched), "{searched}");
    assert_eq!(searched.json()["length"], trail.len() - 2);
}

#[tokio::test]
async fn large_boards_have_a_modest_time_limit_of_their_own() {
    let taquin = shared().await;
    let info = taquin.get("/info").await.expect(200).json();
    let reply = taquin.post("/hint", &json!({ "board": HARD })).await.expect(200).json();
    assert_eq!(reply["limits"]["time_ms"], info["limits"]["time_ms"]["default"]);
    let question = taquin.get("/random?rows=5&cols=5&walk=6&seed=hint&as=request").await.expect(200).json();
    let reply = taquin.post("/hint", &question).await.expect(200).json();
    assert_eq!(reply["limits"]["time_ms"], 1000);
    let mut longer = question;
    longer["limits"] = json!({ "time_ms": 2500, "expanded": 1000 });
    let reply = taquin.post("/hint", &longer).await.expect(200).json();
    assert_eq!((&reply["limits"]["time_ms"], &reply["limits"]["expanded"]), (&json!(2500), &json!(1000)));
}

#[tokio::test]
async fn get_and_text_bodies_are_equivalent() {
    let taquin = shared().await;
    let question = json!({ "board": HARD, "goal": "1 2 3/4 0 5/7 8 6", "limits": { "time_ms": 1500 } });
    let timeless = |answer: &Answer| crate::answer::timeless(answer.json());
    let by_post = taquin.post("/hint", &question).await.expect(200);
    let by_get = taquin.send(Question::get_as("/hint", &question)).await.expect(200);
    assert_eq!(timeless(&by_get), timeless(&by_post));
    assert_eq!((by_get.header("cache-control"), by_get.header("etag")), ("no-store", ""));
    let text = Question::post("/hint").body("text/plain", HARD).accept("text/plain");
    let answer = taquin.send(text).await.expect(200);
    assert!(answer.text().contains(" slides, then ") && answer.text().contains(" (optimal)."), "{answer}");
    let solved = taquin.send(Question::get("/hint?board=123456780").accept("text/plain")).await.expect(200);
    assert!(solved.text().contains("Already solved."), "{solved}");
}

#[tokio::test]
async fn hint_rejects_the_same_requests_as_solve() {
    let taquin = shared().await;
    taquin.post("/hint", &json!({ "board": "123456870" })).await.problem("unsolvable");
    taquin.post("/hint", &json!({ "board": "1 2 3/4 5 5/7 8 0" })).await.problem("invalid-board");
    taquin.post("/hint", &json!({ "board": HARD, "goal": "1 2/3 0" })).await.problem("goal-mismatch");
    let question = json!({ "board": HARD, "algorithm": "astar", "limits": { "time_ms": 0 } });
    let problem = taquin.post("/hint", &question).await.problem("invalid-request");
    assert_eq!(faults(&problem), ["/algorithm unknown-field", "/limits/time_ms out-of-range"]);
}

#[tokio::test]
async fn a_hint_that_needs_a_search_waits_in_the_queue_like_any_other() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    let fifteen = json!({ "board": FIFTEEN, "goal": "blank_first" });
    let followed = client.post("/hint", &fifteen).await.expect(200).json()["board"].clone();
    let pending = begin(&client, &hard(&client, "a").await).await;
    client.post("/hint", &json!({ "board": FIFTEEN })).await.expect(422);
    let other = json!({ "board": "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15" });
    let answer = client.post("/hint", &other).await;
    assert!(!answer.header("retry-after").is_empty(), "{answer}");
    answer.problem("overloaded");
    // Cached hints need no place in the queue.
    client.post("/hint", &json!({ "board": HARD })).await.expect(200);
    client.post("/hint", &json!({ "board": followed, "goal": "blank_first" })).await.expect(200);
    pending.hang_up();
}

#[tokio::test]
async fn a_client_that_disconnects_stops_the_search_for_a_hint() {
    let service = Service::start(&["--workers", "1"]).await;
    let client = service.client();
    let mut question = client.get("/random?rows=7&cols=7&seed=leave&as=request").await.expect(200).json();
    question["limits"] = json!({ "time_ms": 60_000 });
    let pending = client.begin(Question::post("/hint").json(&question)).await;
    until("it has begun", async || gauge(&client, "taquin_jobs_in_progress").await == 1).await;
    pending.hang_up();
    until_idle(&client).await;
}
