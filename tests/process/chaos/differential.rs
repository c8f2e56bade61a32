//! Random requests at once, compared with the same requests one at a time.

use std::net::SocketAddr;
use std::thread::{self, sleep};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::boards::{ALGORITHMS, Random, any_board, near_board};
use super::client::{Answer, Client, request};
use super::figures::{alone, print_row, short_or_long};
use super::taquin::Taquin;

const CLIENTS: usize = 24;

/// Each of these has the same answer every time if no time limit stops it.
const FLAGS: [&str; 3] = ["--workers=2", "--queue=64", "--cache-memory=0"];

const HEURISTICS: [&str; 5] = ["manhattan", "hamming", "linear_conflict", "walking_distance", "pattern_database"];

/// A request: a `POST` with a body, or a `GET` if that is `null`.
struct Question {
    target: String,
    body: Value,
}

impl Question {
    fn request(&self) -> Vec<u8> {
        match &self.body {
            Value::Null => request("GET", &self.target, None, ""),
            body => request("POST", &self.target, Some(body), ""),
        }
    }
}

/// A random request. Searches stop after a number of expansions, never by time.
fn question(random: &mut Random) -> Question {
    let sides = [2, 3, 3, 3, 4, 4, 4, 5, 6, 8, 10];
    let (rows, cols) = (sides[random.below(sides.len())], sides[random.below(sides.len())]);
    let board = match random.below(4) {
        0 => any_board(random, rows, cols),
        _ => {
            let moves = random.below(60);
            near_board(random, rows, cols, moves)
        }
    };
    let limits = json!({ "time_ms": 60_000, "expanded": 1 + random.below(20_000) });
    let goal = ["blank_last", "blank_last", "blank_first", "snail"][random.below(4)];
    let mut body = json!({ "board": board, "goal": goal });
    let path = match random.below(12) {
        0 => "/solvable",
        1 => {
            body["moves"] = "ULDRRULDDLUR"[random.below(12)..].into();
            "/verify"
        }
        2 => {
            let seed = random.below(1_000_000);
            return Question { target: format!("/random?rows={rows}&cols={cols}&seed={seed}"), body: Value::Null };
        }
        3 if rows * cols <= 9 => {
            body["methods"] = json!([{ "algorithm": "breadth_first" }, { "algorithm": "ida_star" }]);
            body["limits"] = json!({ "time_ms": 20_000, "expanded": 5_000 });
            "/compare"
        }
        _ => {
            add_method(random, &mut body);
            body["limits"] = limits;
            "/solve"
        }
    };
    Question { target: path.to_owned(), body }
}

/// Adds search options.
fn add_method(random: &mut Random, body: &mut Value) {
    body["algorithm"] = ALGORITHMS[random.below(ALGORITHMS.len())].into();
    if random.below(3) == 0 {
        body["heuristic"] = HEURISTICS[random.below(HEURISTICS.len())].into();
    }
    match random.below(6) {
        0 => body["include"] = json!(["states", "expansions"]),
        1 => body["require"] = "optimal".into(),
        2 => body["colour"] = "red".into(),
        _ => {}
    }
}

/// Sends a request until it is admitted.
fn ask(client: &mut Client, question: &Question) -> Answer {
    loop {
        let answer = client.exchange(&question.request());
        let answer = answer.unwrap_or_else(|end| panic!("{} {}: {end:?}", question.target, question.body));
        if answer.status != 503 {
            return answer;
        }
        sleep(Duration::from_millis(20));
    }
}

/// The status and the body without its times and ids.
fn repeatable(answer: &Answer) -> (u16, Value) {
    let mut body = serde_json::from_str(&answer.body).expect("a JSON document");
    remove_times(&mut body);
    (answer.status, body)
}

fn remove_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !matches!(name.as_str(), "elapsed_us" | "request_id"));
            members.values_mut().for_each(remove_times);
        }
        Value::Array(entries) => entries.iter_mut().for_each(remove_times),
        _ => {}
    }
}

/// True if two searches differ in their heuristic or the size of its tables. Above 9 cells it depends on the requests
/// before whether memory allows the larger ones; then counters, and what a limit on expansions leaves, differ.
fn have_other_tables(one: &Value, other: &Value) -> bool {
    let are_searches = one["search"].is_object() && other["search"].is_object();
    are_searches && ["heuristic", "tables"].iter().any(|name| one["search"][name] != other["search"][name])
}

fn is_optimal(body: &Value) -> bool {
    body["optimal"] == true
}

/// Asserts that the moves of a solution lead from its start to its goal.
fn replay(body: &Value) -> bool {
    let (Some(moves), Some(start)) = (body["moves"].as_str(), body.get("start")) else { return false };
    let mut board: Vec<Vec<u64>> = serde_json::from_value(start.clone()).expect("a board");
    for mv in moves.chars() {
        let blank = |row: &Vec<u64>| row.iter().position(|tile| *tile == 0);
        let (row, col) = board.iter().enumerate().find_map(|(row, tiles)| Some((row, blank(tiles)?))).expect("a blank");
        let (to_row, to_col) = match mv {
            'U' => (row - 1, col),
            'D' => (row + 1, col),
            'L' => (row, col - 1),
            'R' => (row, col + 1),
            other => panic!("{other:?} is no move"),
        };
        board[row][col] = board[to_row][to_col];
        board[to_row][to_col] = 0;
    }
    assert_eq!(json!(board), body["goal"], "{body}");
    assert_eq!(body["length"], moves.len(), "{body}");
    true
}

/// Sends all requests from several clients. Every tenth client leaves before its response; those have no answer.
fn ask_at_once(addr: SocketAddr, questions: &[Question]) -> Vec<Option<(u16, Value)>> {
    let next = Mutex::new(0..questions.len());
    let answers = Mutex::new(vec![None; questions.len()]);
    thread::scope(|scope| {
        for nth in 0..CLIENTS {
            let (next, answers) = (&next, &answers);
            scope.spawn(move || {
                let (mut client, mut random) = (Client::connect(addr), Random(nth as u64));
                while let Some(at) = { next.lock().next() } {
                    if at % 10 == 9 {
                        client.write(&questions[at].request()).expect("a connection");
                        sleep(Duration::from_millis(random.below(30) as u64));
                        client = Client::connect(addr);
                    } else {
                        let answer = repeatable(&ask(&mut client, &questions[at]));
                        answers.lock()[at] = Some(answer);
                    }
                }
            });
        }
    });
    answers.into_inner()
}

#[test]
fn answers_do_not_depend_on_other_requests() {
    let _alone = alone();
    let mut random = Random(20);
    let questions: Vec<Question> = (0..short_or_long(400, 10_000)).map(|_| question(&mut random)).collect();
    let crowded = Taquin::start(1024, &FLAGS);
    let answers = ask_at_once(crowded.addr, &questions);
    crowded.wait_until_idle();
    crowded.end("random requests at once");

    let quiet = Taquin::start(1024, &FLAGS);
    let mut client = quiet.client();
    let (mut compared, mut other_tables, mut replayed, mut statuses) = (0, 0, 0, Map::new());
    for (question, answer) in questions.iter().zip(&answers) {
        let Some((status, body)) = answer else { continue };
        let alone = repeatable(&ask(&mut client, question));
        replayed += usize::from(replay(body));
        replay(&alone.1);
        if have_other_tables(body, &alone.1) {
            assert!(!is_optimal(body) || !is_optimal(&alone.1) || body["length"] == alone.1["length"], "{body}");
            other_tables += 1;
            continue;
        }
        assert_eq!((*status, body), (alone.0, &alone.1), "{} {}", question.target, question.body);
        compared += 1;
        let count = statuses.entry(status.to_string()).or_insert(json!(0));
        *count = json!(count.as_u64().unwrap_or_default() + 1);
    }
    let statuses = Value::from(statuses);
    let what = format!("{} random requests at once, a tenth of them left: differences", questions.len());
    print_row(
        &what,
        0,
        format!("0 (of {compared}; {other_tables} had other tables; {replayed} replayed; by status {statuses})"),
    );
    assert!(replayed * 8 > questions.len(), "too few solutions: {replayed}");
    drop(client);
    quiet.end("the same requests alone");
}
