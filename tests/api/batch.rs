//! `/batch`: many boards, a line each, compared with `/solve`, `/moves` and `/random`.

use std::fmt::Write as _;

use hyper::Method;
use serde_json::{Value, json};

use crate::answer::{Answer, faults};
use crate::client::{Client, Service, shared, until};
use crate::contract::CONTRACT;
use crate::load::{begin, gauge, hard};
use crate::question::Question;
use crate::simulator::{Grid, TO_BLANK_LAST, all_boards, grid, grid_of, slide};

const NDJSON: &str = "application/x-ndjson";

/// A board with an 80-move solution, whose search takes seconds.
const HARD: &str = r#"{"board":"15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0","goal":"blank_first"}"#;

/// The lines of a response.
struct Batch {
    rows: Vec<Value>,
    last: Value,
}

impl Batch {
    /// Parses a response, and checks what the contract says about all of them. The client has checked each line.
    fn read(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{}\n{answer}", answer.question);
        assert_eq!(answer.header("content-type"), NDJSON);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-accel-buffering"), "no");
        assert_eq!(answer.header("content-length"), "");
        let line = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let mut rows: Vec<Value> = answer.text().lines().map(line).collect();
        let last = rows.pop().expect("a last line");
        let numbers: Vec<u64> = rows.iter().map(|row| row["line"].as_u64().expect("a line")).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "in the order of the body: {numbers:?}");
        assert_eq!(last["line"], Value::Null, "{last}");
        Self { rows, last }
    }

    /// The rows of a batch that is done. Asserts that the summary counts them.
    fn done(self) -> Vec<Value> {
        let summary = &self.last["summary"];
        let solved = self.rows.iter().filter(|row| row["problem"].is_null()).count();
        let counts = (&summary["boards"], &summary["solved"], &summary["failed"]);
        let expected = (self.rows.len(), solved, self.rows.len() - solved);
        assert_eq!(counts, (&json!(expected.0), &json!(expected.1), &json!(expected.2)), "{}", self.last);
        self.rows
    }
}

fn lines_of(body: impl Into<String>) -> Question {
    Question::post("/batch").body(NDJSON, body.into())
}

fn csv(body: &str) -> Question {
    Question::post("/batch").body("text/csv", body.to_owned())
}

/// The rows of a batch that is done.
async fn rows(client: &Client, question: Question) -> Vec<Value> {
    Batch::read(&client.send(question).await).done()
}

/// Boards of a size that `/random` draws, with everything known about them.
async fn random(client: &Client, rows: u64, cols: u64, count: u64) -> Vec<Value> {
    let answer = client.get(&format!("/random?rows={rows}&cols={cols}&count={count}&seed=batch")).await.expect(200);
    answer.text().lines().map(|line| serde_json::from_str(line).expect("a board")).collect()
}

/// A line of each board, with its place as id.
fn body_of(boards: &[Value]) -> String {
    boards.iter().enumerate().fold(String::new(), |mut body, (at, board)| {
        writeln!(body, "{}", json!({ "id": at, "board": board["board"] })).expect("a text");
        body
    })
}

/// Solvable boards of 3×3.
fn solvable(count: usize) -> Vec<Grid> {
    let boards = all_boards(3, 3).into_iter().filter(|board| TO_BLANK_LAST.contains_key(board));
    boards.step_by(181_440 / count).take(count).collect()
}

async fn want(client: &Client, boards: &[Value], want: &str) -> Vec<Value> {
    let question = Question::post(&format!("/batch?want={want}")).body(NDJSON, body_of(boards));
    rows(client, question).await
}

#[tokio::test]
async fn every_want_is_what_other_operations_find() {
    // One worker, so that `/solve` searches on one thread too, and expands as many nodes.
    let service = Service::start(&["--workers", "1"]).await;
    let client = service.client();
    let mut boards = Vec::new();
    for (rows, cols, count) in [(2, 2, 3), (3, 3, 10), (2, 5, 4), (3, 4, 5), (4, 4, 5)] {
        boards.extend(random(&client, rows, cols, count).await);
    }
    let mut found = Vec::new();
    for name in ["length", "moves", "next", "bounds", "expanded"] {
        found.push(want(&client, &boards, name).await);
    }
    for (at, board) in boards.iter().enumerate() {
        let [length, moves, next, bounds, expanded] = [0, 1, 2, 3, 4].map(|want: usize| &found[want][at]);
        let solved = client.solve(&json!({ "board": board["board"] })).await;
        let row = json!({ "line": at + 1, "id": at, "length": solved["length"], "optimal": true });
        let with = |name: &str, value: Value| {
            let mut row = row.clone();
            row[name] = value;
            row
        };
        assert_eq!(*length, row);
        assert_eq!(*moves, with("moves", moves["moves"].clone()));
        let mut end = grid_of(&board["board"]);
        let path = moves["moves"].as_str().expect("moves");
        assert!(path.chars().all(|mv| slide(&mut end, mv).is_some()) && end == grid_of(&board["goal"]), "{moves}");
        assert_eq!(solved["length"], path.len(), "{moves}");
        let legal = client.post("/moves", &json!({ "board": board["board"] })).await.expect(200).json();
        let bits = |legal: &Value| 1 << "ULDR".find(legal["move"].as_str().expect("a move")).expect("a direction");
        let optimal = legal["moves"].as_array().expect("moves").iter().filter(|legal| legal["optimal"] == true);
        assert_eq!(*next, with("next", json!(optimal.map(bits).sum::<u64>())));
        assert_eq!(bounds["length"], board["upper_bound"], "{bounds}");
        assert_eq!(bounds["lower_bound"], board["lower_bound"], "{bounds}");
        assert_eq!(bounds["optimal"], board["lower_bound"] == board["upper_bound"], "{bounds}");
        assert_eq!(*expanded, with("expanded", solved["search"]["expanded"].clone()));
    }
}

#[tokio::test]
async fn boards_that_are_too_large_for_a_proof_have_bounds() {
    let taquin = shared().await;
    let boards = random(&taquin, 5, 5, 3).await;
    for row in want(&taquin, &boards, "length").await {
        let (length, bound) = (row["length"].as_u64(), row["lower_bound"].as_u64());
        assert!(row["optimal"] == false && bound < length && bound > Some(0), "{row}");
    }
    for row in want(&taquin, &boards, "next").await {
        assert_eq!((&row["status"], &row["problem"]["status"]), (&json!(422), &json!(422)));
        assert_eq!(row["problem"]["type"], "/problems/unsupported-combination");
        assert_eq!(faults(&row["problem"]), ["/want unsupported"]);
    }
    let limited = Question::post("/batch?want=next&limits.expanded=1").body(NDJSON, HARD);
    let [row] = &rows(&taquin, limited).await[..] else { panic!("one row") };
    assert!(row["optimal"] == false && row["lower_bound"].as_u64() < row["length"].as_u64(), "{row}");
    assert_eq!(row["next"], Value::Null, "{row}");
}

#[tokio::test]
async fn rows_are_in_the_order_of_the_body_and_have_its_ids() {
    let taquin = shared().await;
    let mut body = String::new();
    let mut expected = Vec::new();
    for (at, board) in solvable(3_000).iter().enumerate() {
        // Blank lines are no rows, and count as lines.
        body.push_str(["", "\n", " \r\n"][at % 3]);
        let line = body.lines().count() + 1;
        let (id, end) = (json!([json!(at), json!(format!("é \"{at}\"")), Value::Null][at % 3]), ["\n", "\r\n"][at % 2]);
        body.push_str(&json!({ "id": id, "board": board }).to_string());
        body.push_str(end);
        let mut row = json!({ "line": line, "id": id, "length": TO_BLANK_LAST[board], "optimal": true });
        if id.is_null() {
            row.as_object_mut().expect("an object").remove("id");
        }
        expected.push(row);
    }
    assert_eq!(rows(&taquin, lines_of(body.trim_end())).await, expected, "the last line needs no end");
}

#[tokio::test]
async fn a_faulty_row_is_a_problem_between_the_others() {
    let taquin = shared().await;
    let long = format!("[{}0]", " ".repeat(20_000));
    let many = format!(r#"{{"board":"867254301","id":"{}"}}"#, "x".repeat(257));
    let faulty: [(&str, &str, &[&str]); 20] = [
        ("[[8,6,7],[2,5,4],[3,0,7]]", "invalid-board", &["/board/2/2 duplicate-tile", "/board missing-tile"]),
        ("[[8,6,7],[2,5,4],[3,0]]", "invalid-board", &["/board/2 ragged-row"]),
        ("[[1,2,3],[4,5,6],[8,7,0]]", "unsolvable", &[]),
        (r#"{"board":"123456870","id":"a"}"#, "unsolvable", &[]),
        ("[1,2,3,4,0,5]", "invalid-board", &["/board shape-unknown"]),
        (r#"{"board":[[1,2],[3,0]],"goal":[[1,2,3],[4,5,0]]}"#, "goal-mismatch", &["/goal goal-mismatch"]),
        (r#"{"board":[[1,2],[3,0]],"goal":"snake"}"#, "invalid-request", &["/goal unknown-value"]),
        (r#"{"board":[[1,2],[3,0]],"gaol":"snail"}"#, "invalid-request", &["/gaol unknown-field"]),
        (r#"{"id":7}"#, "invalid-request", &["/board missing-field"]),
        (r#"{"id":1.5,"board":[[1,2],[3,0]]}"#, "invalid-request", &["/id wrong-type"]),
        (&many, "invalid-request", &["/id wrong-type"]),
        ("{}", "invalid-request", &["/board missing-field"]),
        ("[[8,6,7],[2,5,4],[3,0,1]", "malformed-json", &[]),
        ("{\"board\":", "malformed-json", &[]),
        ("[[1,2],[3,0]] x", "malformed-json", &[]),
        ("\"\u{0}\"", "malformed-json", &[]),
        ("hello", "invalid-board", &["/board not-a-tile"]),
        ("8 6 7/2 5 4/3 0", "invalid-board", &["/board ragged-row"]),
        (&long, "content-too-large", &[]),
        ("null", "invalid-board", &["/board not-a-tile"]),
    ];
    let mut body = String::from("867254301\n");
    faulty.iter().for_each(|(line, _, _)| body.push_str(&format!("{line}\n\"867254301\"\n")));
    let rows = rows(&taquin, lines_of(body)).await;
    assert_eq!(rows.len(), 2 * faulty.len() + 1);
    for good in rows.iter().step_by(2) {
        assert_eq!((&good["length"], &good["optimal"]), (&json!(31), &json!(true)), "{good}");
    }
    for ((line, slug, errors), row) in faulty.iter().zip(rows.iter().skip(1).step_by(2)) {
        let problem = &row["problem"];
        assert_eq!(problem["type"], format!("/problems/{slug}"), "{line}: {row}");
        assert_eq!((&row["status"], &problem["instance"]), (&problem["status"], &Value::Null), "{row}");
        for error in *errors {
            assert!(faults(problem).iter().any(|found| found == error), "{line}: {row}");
        }
        assert_eq!(problem["errors"].is_null(), errors.is_empty(), "{line}: {row}");
    }
    assert_eq!((&rows[7]["id"], &rows[7]["problem"]["inversions"]), (&json!("a"), &json!(1)));
    // A line that arrives in many pieces, of which only a beginning is kept.
    let longer = format!("{}\n[[1,2],[3,0]]\n", "x".repeat(2_000_000));
    let longer = self::rows(&taquin, lines_of(longer)).await;
    assert_eq!(longer[0]["problem"]["type"], "/problems/content-too-large", "{longer:?}");
    assert_eq!((longer.len(), &longer[1]["length"]), (2, &json!(0)), "{longer:?}");
    // A line that is not UTF-8.
    let question = Question::post("/batch").body(NDJSON, b"[[1,2],[3,\xff]]\n[[1,2],[3,0]]\n".to_vec());
    let rows = self::rows(&taquin, question).await;
    assert_eq!(rows[0]["problem"]["type"], "/problems/malformed-json", "{rows:?}");
    assert_eq!(rows[1]["length"], 0, "{rows:?}");
}

#[tokio::test]
async fn csv_has_a_header_or_none() {
    let taquin = shared().await;
    let found = async |body: &str| {
        let rows = rows(&taquin, csv(body)).await;
        rows.iter().map(|row| (row["line"].clone(), row["id"].clone(), row["length"].clone())).collect::<Vec<_>>()
    };
    let row = |line: u64, id: Value, length: u64| (json!(line), id, json!(length));
    let none = Value::Null;
    for (body, expected) in [
        ("8,6,7,2,5,4,3,0,1\r\n1,2,3,4,5,6,0,7,8\r\n", vec![row(1, none.clone(), 31), row(2, none.clone(), 2)]),
        ("867254301\n\n\"1,2,3;4,5,6;0,7,8\"", vec![row(1, none.clone(), 31), row(3, none.clone(), 2)]),
        ("0,1,2,3,4,5,6,7,8\n8,6,7,2,5,4,3,0,1", vec![row(2, none.clone(), 31)]),
        ("\n0,1,2,3,cost\n3,1,2,0,9\n1,2,0,3,9\n", vec![row(3, none.clone(), 4), row(4, none.clone(), 1)]),
        (
            "cost,Board,id\n31,867254301,\"a \"\"b\"\"\"\n2,1 2 3/4 5 6/0 7 8,7\n0,123456780,\n",
            vec![row(2, json!("a \"b\""), 31), row(3, json!("7"), 2), row(4, none.clone(), 0)],
        ),
        ("\u{feff}id,3,2,1,0\nx,0,3,2,1\n", vec![row(2, json!("x"), 0)]),
    ] {
        assert_eq!(found(body).await, expected, "{body}");
    }
    // A first line that is too long says nothing about the others.
    let header = format!("board{}\n1230\n", ",x".repeat(10_000));
    let problem = taquin.send(csv(&header)).await.problem("content-too-large");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("first line")), "{problem}");
    let faulty = rows(&taquin, csv("id,0,1,2,3\na,1,2,3,0\nb,1,2,3\nc,1,2,3,3\nd,2,1,3,0\n")).await;
    let kinds: Vec<_> = faulty.iter().map(|row| (row["id"].clone(), row["problem"]["type"].clone())).collect();
    let problem = |slug: &str| json!(format!("/problems/{slug}"));
    assert_eq!(
        kinds,
        [
            (json!("a"), none.clone()),
            (none, problem("invalid-request")),
            (json!("c"), problem("invalid-board")),
            (json!("d"), problem("unsolvable")),
        ]
    );
}

#[tokio::test]
async fn parameters_apply_to_rows_that_say_nothing_else() {
    let taquin = shared().await;
    let body = "{\"board\":\"123804765\"}\n{\"board\":\"123456780\",\"goal\":\"blank_last\"}\n\
                {\"board\":[1,2,3,8,0,4,7,6,5],\"goal\":null}\n";
    let by_snail = rows(&taquin, Question::post("/batch?goal=snail").body(NDJSON, body)).await;
    assert!(by_snail.iter().all(|row| row["length"] == 0), "{by_snail:?}");
    let flat = Question::post("/batch?rows=2&cols=3&goal=[[1,2,3],[4,5,0]]").body(NDJSON, "[1,2,3,4,0,5]\n");
    assert_eq!(rows(&taquin, flat).await[0]["length"], 1);
    let positions = "/batch?encoding=positions&goal=[8,0,1,2,3,4,5,6,7]";
    let positions = Question::post(positions).body(NDJSON, "[4,7,6,2,0,1,3,8,5]");
    let distance = TO_BLANK_LAST[&grid("4 5 3/6 0 8/2 1 7")];
    assert_eq!(rows(&taquin, positions).await[0]["length"], distance);
    for target in ["/batch?limits.time_ms=1&limits.nodes=5", "/batch?limits.expanded=9007199254740991"] {
        rows(&taquin, Question::post(target).body(NDJSON, "867254301")).await;
    }
}

#[tokio::test]
async fn faulty_parameters_and_bodies_have_their_status() {
    let taquin = shared().await;
    let problem = async |target: &str, slug: &str| {
        faults(&taquin.send(Question::post(target).body(NDJSON, "867254301")).await.problem(slug))
    };
    assert_eq!(problem("/batch?wants=moves", "invalid-parameter").await, ["/wants unknown-field"]);
    assert_eq!(problem("/batch?want=height", "invalid-parameter").await, ["/want unknown-value"]);
    assert_eq!(problem("/batch?board=867254301", "invalid-parameter").await, ["/board unknown-field"]);
    assert_eq!(problem("/batch?goal=snake&rows=1", "invalid-parameter").await.len(), 2);
    assert_eq!(problem("/batch?limits.time_ms=0", "invalid-parameter").await, ["/limits/time_ms out-of-range"]);
    assert_eq!(problem("/batch?goal=12/01", "invalid-board").await, ["/goal duplicate-tile", "/goal missing-tile"]);
    assert_eq!(problem("/batch?goal=12/04", "goal-mismatch").await[0], "/goal tile-out-of-range");
    for body in ["", "\n\r\n  \n"] {
        assert_eq!(faults(&taquin.send(lines_of(body)).await.problem("invalid-request")), [" missing-field"]);
    }
    for body in ["", "id,board\n", "0,1,2,3\n\n", "name,cost\n1,2\n"] {
        assert_eq!(faults(&taquin.send(csv(body)).await.problem("invalid-request")), [" missing-field"], "{body}");
    }
    for media_type in ["application/yaml", "application/xml", "text/html", "application/x-ndjson; charset=latin1"] {
        let answer = taquin.send(Question::post("/batch").body(media_type, "867254301")).await;
        assert_eq!(answer.header("accept"), "application/x-ndjson, application/jsonl, text/csv, application/json");
        assert_eq!(answer.header("connection"), "close", "the body is not read");
        answer.problem("unsupported-media-type");
    }
    let compressed = lines_of("867254301").header("content-encoding", "gzip");
    taquin.send(compressed).await.problem("unsupported-media-type");
    taquin.send(lines_of("867254301").accept("application/json")).await.problem("not-acceptable");
    taquin.send(lines_of("867254301").accept("text/plain")).await.expect(406);
    for accept in ["*/*", "application/*", "application/x-ndjson, text/plain;q=0.5"] {
        rows(&taquin, lines_of("867254301").accept(accept)).await;
    }
}

#[tokio::test]
async fn files_of_other_programs_are_rows() {
    let taquin = shared().await;
    let boards =
        "[\n {\"id\": \"a\", \"board\": \"3120\"},\n [[3,1],[2,0]],\n {\"state\": [3,1,2,0], \"cost\": 4}\n]\n";
    for media_type in ["application/json", "application/x-ndjson"] {
        let rows = rows(&taquin, Question::post("/batch").body(media_type, boards)).await;
        let places: Vec<_> = rows.iter().map(|row| (&row["line"], &row["length"], &row["id"])).collect();
        let [one, two, three, four] = [1, 2, 3, 4].map(Value::from);
        assert_eq!(places, [(&one, &four, &json!("a")), (&two, &four, &Value::Null), (&three, &four, &Value::Null)]);
    }
    let one = rows(&taquin, Question::post("/batch").body("application/json", "[\n [3,1],\n [2,0]\n]")).await;
    assert_eq!(one, [json!({ "line": 1, "length": 4, "optimal": true })]);
    let text = "# two boards\n2\n3 1\n2 0\n\n2\n0 1\n3 2\n";
    let both = rows(&taquin, lines_of(text)).await;
    let read_as = "lines of cells, without the line with the size";
    let row = |line: u64, length: u64| json!({ "line": line, "length": length, "optimal": true, "read_as": read_as });
    assert_eq!(both, [row(2, 4), row(6, 2)]);
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let table = utf16("\u{feff}#;board\r\n7;3 1 2 0\r\n");
    let row = rows(&taquin, Question::post("/batch").body("text/csv", table)).await;
    assert_eq!(row, [json!({ "line": 2, "id": "7", "length": 4, "optimal": true })]);
    let mut half = utf16("\u{feff}3120");
    half.pop();
    let problem = taquin.send(Question::post("/batch").body(NDJSON, half)).await.problem("malformed-json");
    assert!(problem["detail"].as_str().unwrap_or_default().contains("not UTF-16 at byte 9"), "{problem}");
}

#[tokio::test]
async fn other_types_are_read_as_lines_unless_the_service_is_strict() {
    let (taquin, strict) = (shared().await, Service::start(&["--strict-content-type"]).await);
    for media_type in ["text/plain;charset=UTF-8", "application/x-www-form-urlencoded"] {
        let question = || Question::post("/batch").body(media_type, "867254301\n[[1,2],[3,0]]");
        assert_eq!(rows(&taquin, question()).await.len(), 2);
        strict.client().send(question()).await.problem("unsupported-media-type");
    }
    for media_type in ["application/x-ndjson", "application/ndjson", "application/jsonl; charset=utf-8"] {
        rows(&strict.client(), Question::post("/batch").body(media_type, "867254301")).await;
    }
}

#[tokio::test]
async fn a_batch_has_at_most_so_many_boards_and_bytes() {
    let service = Service::start(&["--max-batch", "3", "--max-batch-body", "1KiB"]).await;
    let client = service.client();
    let info = client.get("/info").await.expect(200).json();
    assert_eq!((&info["limits"]["batch_boards"], &info["limits"]["batch_bytes"]), (&json!(3), &json!(1024)));
    assert_eq!(rows(&client, lines_of("867254301\n\n\n867254301\n867254301\n\n")).await.len(), 3);
    assert_eq!(rows(&client, csv("board\n867254301\n867254301\n867254301")).await.len(), 3, "a header is no board");
    let too_large = async |question: Question| {
        let answer = client.send(question).await;
        assert_eq!(answer.header("connection"), "close", "{answer}");
        answer.problem("content-too-large")["detail"].as_str().unwrap_or_default().to_owned()
    };
    for question in [lines_of("867254301\n".repeat(4)), csv(&"867254301\n".repeat(4))] {
        let detail = too_large(question).await;
        assert!(detail.contains("more than 3 boards") && detail.contains("`taquin batch`"), "{detail}");
    }
    let padded = |length: usize| format!("867254301{}", " ".repeat(length - 9));
    rows(&client, lines_of(padded(1024))).await;
    let detail = too_large(lines_of(padded(1025))).await;
    assert!(detail.contains("1024 bytes") && detail.contains("`taquin batch`"), "{detail}");
    // Other bodies have neither limit.
    client.solve(&json!({ "board": format!("867254301{}", " ".repeat(2000)) })).await;
}

#[tokio::test]
async fn only_post_is_allowed() {
    let taquin = shared().await;
    for method in [Method::GET, Method::HEAD, Method::PUT, Method::DELETE] {
        let answer = taquin.send(Question::new(method, "/batch")).await.expect(405);
        assert_eq!(answer.header("allow"), "POST,OPTIONS");
    }
    let options = taquin.send(Question::new(Method::OPTIONS, "/batch")).await.expect(204);
    assert_eq!(options.header("allow"), "POST, OPTIONS");
    assert_eq!(options.header("accept-post"), "application/x-ndjson, application/jsonl, text/csv, application/json");
    let info = taquin.get("/info").await.expect(200).json();
    assert_eq!(info["options"]["want"], CONTRACT.document["components"]["schemas"]["Want"]["enum"]);
    assert!(info["bulk_workers"].as_u64() >= Some(1), "{info}");
}

#[tokio::test]
async fn without_a_share_of_the_workers_there_are_no_batches() {
    let service = Service::start(&["--bulk-share", "0"]).await;
    let client = service.client();
    let problem = client.send(lines_of("867254301")).await.problem("not-implemented");
    let detail = problem["detail"].as_str().unwrap_or_default();
    assert!(detail.contains("--bulk-share 0") && detail.contains("`taquin batch`"), "{problem}");
    assert_eq!(client.get("/info").await.expect(200).json()["bulk_workers"], 0);
}

#[tokio::test]
async fn a_batch_counts_as_a_request_for_every_thousand_boards() {
    let body = |boards: usize| lines_of("[[1,2],[3,0]]\n".repeat(boards));
    // Of four requests, a batch of 1,000 boards takes two, and one of 999 takes one.
    for (boards, left) in [(999, 3), (1_000, 2), (2_999, 1), (10_000, 0)] {
        let service = Service::start(&["--rate-limit=4/h", "--rate-burst=4"]).await;
        let client = service.client();
        assert_eq!(rows(&client, body(boards)).await.len(), boards, "no batch is too large for the quota");
        for _ in 0..left {
            client.get("/solvable?board=123456780").await.expect(200);
        }
        let answer = client.send(body(1)).await;
        assert!(!answer.header("retry-after").is_empty(), "{answer}");
        answer.problem("rate-limited");
    }
}

/// Waits until batches have so many workers.
async fn until_busy(client: &Client, workers: u64) {
    until("the batch has all workers", async || gauge(client, "taquin_bulk_workers_busy").await == workers).await;
}

/// Waits until there is no batch, and asserts that nothing is left of any.
async fn until_over(client: &Client) {
    until("the batch is over", async || gauge(client, "taquin_bulk_works").await == 0).await;
    until("its workers are free", async || gauge(client, "taquin_bulk_workers_busy").await == 0).await;
    until("its memory is free", async || gauge(client, "taquin_reply_memory_bytes").await == 0).await;
    assert_eq!(gauge(client, "taquin_workers_busy").await, 0);
}

#[tokio::test]
async fn a_client_that_leaves_frees_the_workers() {
    let service = Service::start(&["--workers", "2"]).await;
    let client = service.client();
    for _ in 0..3 {
        let pending = client.begin(lines_of(format!("{HARD}\n").repeat(200))).await;
        until_busy(&client, 2).await;
        assert_eq!(gauge(&client, "taquin_bulk_works").await, 1);
        assert!(gauge(&client, "taquin_reply_memory_bytes").await > 0);
        pending.hang_up();
        until_over(&client).await;
    }
}

#[tokio::test]
async fn searches_are_answered_while_a_batch_has_all_workers() {
    let service = Service::start(&["--workers", "2", "--queue", "1"]).await;
    let client = service.client();
    let pending = client.begin(lines_of(format!("{HARD}\n").repeat(200))).await;
    for board in solvable(20) {
        until_busy(&client, 2).await;
        let question = json!({ "board": board, "algorithm": "astar", "heuristic": "manhattan" });
        assert_eq!(client.solve(&question).await["length"], TO_BLANK_LAST[&board]);
    }
    until_busy(&client, 2).await;
    assert!(!pending.is_answered(), "the batch goes on");
    pending.hang_up();
    until_over(&client).await;
}

#[tokio::test]
async fn a_search_that_needs_all_workers_pauses_a_batch() {
    let service = Service::start(&["--workers", "1"]).await;
    let client = service.client();
    let search = begin(&client, &hard(&client, "a").await).await;
    let pending = client.begin(lines_of("867254301\n")).await;
    until("the batch waits", async || gauge(&client, "taquin_bulk_works").await == 1).await;
    assert_eq!(gauge(&client, "taquin_bulk_workers_busy").await, 0);
    assert!(!pending.is_answered() && !search.is_answered());
    search.hang_up();
    assert_eq!(Batch::read(&pending.answer().await).done()[0]["length"], 31);
    until_over(&client).await;
}

#[tokio::test]
async fn a_shutdown_ends_a_batch_with_a_problem() {
    let mut service = Service::start(&["--workers", "1", "--shutdown-grace", "300ms"]).await;
    let client = service.client();
    let body = format!("867254301\n{}", format!("{HARD}\n").repeat(200));
    let pending = client.begin(lines_of(body)).await;
    until_busy(&client, 1).await;
    service.start_shutdown();
    let batch = Batch::read(&pending.answer().await);
    let problem = &batch.last["problem"];
    assert_eq!((&batch.last["status"], &problem["status"]), (&json!(503), &json!(503)), "{}", batch.last);
    assert_eq!((&problem["type"], &problem["instance"]), (&json!("/problems/shutting-down"), &json!("/batch")));
    assert!(problem["request_id"].is_string() && batch.rows.len() < 200, "{problem}");
    until("the service has stopped", async || service.has_stopped()).await;
}
