//! Streamed responses of `/solve`.

use serde_json::{Value, json};

use crate::answer::{Answer, faults, timeless};
use crate::client::{Client, Service, shared, until};
use crate::contract::CONTRACT;
use crate::load::{begin, hard, quick};
use crate::question::Question;
use crate::simulator::faults_of_solution;

const EVENTS: &str = "text/event-stream";

/// The events of a stream, in order.
struct EventStream(Vec<(String, Value)>);

impl EventStream {
    /// Parses a stream, and checks everything that the contract promises about streams.
    fn read(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{answer}");
        assert_eq!(answer.header("content-type"), EVENTS);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("x-accel-buffering"), "no");
        assert_eq!(answer.header("vary"), "Accept");
        assert_eq!(answer.header("content-length"), "");
        let events = answer.text().split_terminator("\n\n").filter(|event| !event.starts_with(':'));
        let events = Self(events.map(event).collect());
        events.check();
        events
    }

    /// Data of the last event. Asserts its name.
    fn end(&self, name: &str) -> &Value {
        let (last, data) = self.0.last().expect("an event");
        assert_eq!(last, name, "{data}");
        data
    }

    fn of(&self, name: &str) -> Vec<&Value> {
        self.0.iter().filter(|(of, _)| of == name).map(|(_, data)| data).collect()
    }

    fn check(&self) {
        let (mut shortest, mut lower_bound, mut expanded, mut elapsed) = (u64::MAX, 0, 0, 0);
        let figure = |data: &Value, name: &str| data[name].as_u64().unwrap_or_else(|| panic!("{name} in {data}"));
        let (last, before) = self.0.split_last().expect("an event");
        for (name, data) in before {
            let schema = match name.as_str() {
                "solution" => {
                    assert!(figure(data, "length") < shortest, "each is shorter: {data}");
                    shortest = figure(data, "length");
                    "SolutionEvent"
                }
                "progress" => {
                    assert!(figure(data, "expanded") >= expanded, "{data}");
                    expanded = figure(data, "expanded");
                    assert_eq!(data["length"].as_u64(), Some(shortest).filter(|length| *length < u64::MAX));
                    "ProgressEvent"
                }
                other => panic!("`{other}` is not an event before the end"),
            };
            assert_eq!(faults_against(schema, data), Vec::<String>::new(), "{data}");
            assert!(figure(data, "lower_bound") >= lower_bound, "bounds never fall: {data}");
            lower_bound = figure(data, "lower_bound");
            assert!(lower_bound <= shortest, "{data}");
            assert!(figure(data, "elapsed_us") >= elapsed, "{data}");
            elapsed = figure(data, "elapsed_us");
        }
        match last {
            (name, result) if name == "result" => {
                assert_eq!(faults_against("SolveReply", result), Vec::<String>::new());
                assert_eq!(faults_of_solution(result), Vec::<String>::new());
                assert_eq!(figure(result, "length"), shortest, "the last solution is the result's");
                assert!(figure(result, "lower_bound") >= lower_bound);
                self.replay(&result["start"], &result["goal"]);
            }
            (name, problem) if name == "problem" => {
                assert_eq!(faults_against("Problem", problem), Vec::<String>::new());
                assert!(problem["request_id"].is_string() && problem["instance"] == "/solve", "{problem}");
            }
            (name, data) => panic!("`{name}` is not a last event: {data}"),
        }
    }

    fn replay(&self, start: &Value, goal: &Value) {
        for solution in self.of("solution") {
            let mut reply = solution.clone();
            reply["start"] = start.clone();
            reply["goal"] = goal.clone();
            assert_eq!(faults_of_solution(&reply), Vec::<String>::new(), "{solution}");
        }
    }
}

/// Parses an event into its name and data.
fn event(text: &str) -> (String, Value) {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let data = field("data").unwrap_or_else(|| panic!("no data: {text}"));
    let name = field("event").unwrap_or_else(|| panic!("no name: {text}"));
    (name.to_owned(), serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}")))
}

/// Violations of a schema of the contract by a value.
fn faults_against(schema: &str, value: &Value) -> Vec<String> {
    CONTRACT.faults_of_value(&json!({ "$ref": format!("#/components/schemas/{schema}") }), value)
}

async fn stream(client: &Client, question: &Value) -> EventStream {
    EventStream::read(&client.send(Question::post("/solve").json(question).accept(EVENTS)).await)
}

/// A board whose solution becomes shorter for a while under any search, with this time limit.
async fn large(client: &Client, seed: &str, millis: u64) -> Value {
    let mut question = client.get(&format!("/random?rows=6&cols=6&seed={seed}&as=request")).await.expect(200).json();
    question["limits"] = json!({ "time_ms": millis });
    question
}

/// A 15-puzzle with an 80-move solution that takes minutes to find with the requested heuristic.
fn hard_15(millis: u64) -> Value {
    json!({
        "board": "15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0", "goal": "blank_first", "require": "optimal",
        "algorithm": "ida_star", "heuristic": "manhattan", "limits": { "time_ms": millis },
    })
}

#[tokio::test]
async fn a_search_that_ends_at_once_sends_a_solution_and_a_result() {
    let taquin = shared().await;
    // Solved without a search; searched; cached.
    for question in [
        json!({ "board": "867254301" }),
        json!({ "board": "867254301", "algorithm": "ida_star", "heuristic": "manhattan" }),
        json!({ "board": "867254301", "algorithm": "ida_star", "heuristic": "manhattan" }),
        json!({ "board": "123456780" }),
    ] {
        let events = stream(&taquin, &question).await;
        assert_eq!(events.of("solution").len(), 1, "{question}");
        let reply = taquin.solve(&question).await;
        assert_eq!(timeless(events.end("result").clone()), timeless(reply));
    }
    let by_link = taquin.send(Question::get("/solve?board=867254301").accept(EVENTS)).await;
    assert_eq!(EventStream::read(&by_link).end("result")["length"], 31);
}

#[tokio::test]
async fn every_algorithm_ends_with_the_result_it_has_without_events() {
    let taquin = shared().await;
    let algorithms = CONTRACT.document["components"]["schemas"]["AlgorithmChoice"]["enum"].as_array().expect("names");
    for algorithm in algorithms {
        for board in ["8 1 3/4 0 2/7 6 5", "5 1 2 4/9 6 3 8/13 10 7 11/14 0 15 12"] {
            let mut question = json!({ "board": board, "algorithm": algorithm, "include": ["states"] });
            if algorithm == "depth_first" {
                question["depth_limit"] = json!(if board.len() < 20 { 22 } else { 12 });
            }
            if algorithm == "weighted_astar" {
                question["weight"] = json!(1.5);
            }
            let events = stream(&taquin, &question).await;
            assert!(!events.of("solution").is_empty());
            assert_eq!(timeless(events.end("result").clone()), timeless(taquin.solve(&question).await), "{question}");
        }
    }
}

#[tokio::test]
async fn solutions_of_a_large_board_become_shorter_during_the_search() {
    let taquin = shared().await;
    let events = stream(&taquin, &large(&taquin, "stream", 1200).await).await;
    let (solutions, progress) = (events.of("solution"), events.of("progress"));
    assert!(
        solutions.len() > 2 && progress.len() > 1,
        "{} solutions, {} progress events",
        solutions.len(),
        progress.len()
    );
    assert!(progress.iter().any(|progress| progress["expanded"].as_u64() > Some(1000)));
    assert_eq!(events.end("result")["search"]["algorithm"], "anytime");
}

#[tokio::test]
async fn if_optimality_is_not_proven_the_last_event_is_a_problem_with_the_best_solution() {
    let taquin = shared().await;
    let mut question = large(&taquin, "required", 600).await;
    question["require"] = json!("optimal");
    for question in [question, hard_15(600)] {
        let events = stream(&taquin, &question).await;
        let problem = events.end("problem");
        assert_eq!((&problem["type"], &problem["status"]), (&json!("/problems/search-limit-exceeded"), &json!(422)));
        let best = events.of("solution").last().expect("a solution")["length"].clone();
        assert_eq!(problem["solution"]["length"], best);
        assert!(
            problem["lower_bound"].as_u64() >= events.of("progress").last().expect("progress")["lower_bound"].as_u64()
        );
    }
}

#[tokio::test]
async fn iterative_searches_report_their_threshold() {
    let taquin = shared().await;
    let events = stream(&taquin, &hard_15(900)).await;
    let progress = events.of("progress").into_iter();
    let begun: Vec<&Value> = progress.filter(|progress| progress["expanded"] != 0).collect();
    assert!(!begun.is_empty());
    for progress in begun {
        assert!(progress["threshold"].is_u64() && progress["threshold"] == progress["lower_bound"], "{progress}");
    }
}

#[tokio::test]
async fn a_second_client_gets_the_best_solution_at_once_and_then_all_events() {
    let taquin = shared().await;
    let question = large(&taquin, "join", 2500).await;
    let first = begin(&taquin, &question).await;
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    let events = stream(&taquin, &question).await;
    let first = first.answer().await.expect(200).json();
    assert_eq!(events.end("result"), &first, "both clients get one search");
    // A separate search would first report the constructive solution, which is twice as long.
    let seen = events.of("solution")[0]["length"].as_u64().expect("a length");
    assert!(seen < 2 * first["length"].as_u64().expect("a length") * 9 / 10, "{seen}");
}

#[tokio::test]
async fn until_a_search_has_its_place_failures_have_their_status() {
    let service = Service::start(&["--workers", "1", "--queue", "0"]).await;
    let client = service.client();
    client.send(Question::get("/solve?board=123456870").accept(EVENTS)).await.problem("unsolvable");
    client
        .send(Question::get("/solve?board=12345687x&algorithm=best").accept(EVENTS))
        .await
        .problem("invalid-parameter");
    let pending = begin(&client, &hard(&client, "a").await).await;
    let answer = client.send(quick().accept(EVENTS)).await;
    assert!(!answer.header("retry-after").is_empty(), "{answer}");
    assert_eq!(answer.media_type(), "application/problem+json");
    answer.problem("overloaded");
    pending.hang_up();
    until("all is idle", async || client.send(quick().accept(EVENTS)).await.status == 200).await;
}

#[tokio::test]
async fn time_that_runs_out_in_the_queue_is_a_problem_that_says_when_to_come_again() {
    let service = Service::start(&["--workers", "1", "--queue", "4"]).await;
    let client = service.client();
    let greedy = async |seed: &str| {
        let mut question = hard(&client, seed).await;
        question["algorithm"] = json!("depth_first");
        question["duplicate_detection"] = json!("parent");
        question["depth_limit"] = json!(200);
        question.as_object_mut().expect("an object").remove("heuristic");
        question
    };
    let pending = begin(&client, &greedy("a").await).await;
    let mut another = greedy("b").await;
    another["limits"]["time_ms"] = json!(5500);
    let answer = client.send(Question::post("/solve").json(&another).accept(EVENTS)).await;
    assert!(answer.text().starts_with(":\n\n"), "a comment, as nothing happens for so long: {answer}");
    assert!(answer.text().contains("\nretry: "), "{answer}");
    let events = EventStream::read(&answer);
    assert_eq!(events.end("problem")["type"], "/problems/overloaded");
    assert_eq!(events.0.len(), 1, "no event precedes the problem");
    pending.hang_up();
}

#[tokio::test]
async fn the_type_is_negotiated_like_any_other() {
    let taquin = shared().await;
    for (accept, expected) in [
        ("*/*", "application/json"),
        ("text/*", "text/plain"),
        ("text/event-stream, */*;q=0.1", EVENTS),
        ("text/event-stream;q=0.5, application/json", "application/json"),
        ("text/event-stream;q=0.9, text/plain;q=0.8", EVENTS),
    ] {
        let answer = taquin.send(Question::get("/solve?board=867254301").accept(accept)).await.expect(200);
        assert_eq!(answer.media_type(), expected, "{accept}");
    }
    let rejected = taquin.send(Question::get("/solve?board=867254301").accept("image/png")).await;
    let detail = rejected.problem("not-acceptable")["detail"].to_string();
    assert!(detail.contains("application/json, text/plain, text/event-stream"), "{detail}");
    taquin.send(Question::get("/random").accept(EVENTS)).await.problem("not-acceptable");
}

#[tokio::test]
async fn head_and_a_reconnect_after_the_end_start_no_search() {
    let service = Service::start(&["--workers", "1"]).await;
    let client = service.client();
    let link = Question::get_as("/solve", &hard(&client, "a").await).accept(EVENTS);
    let again = client.send(link.header("last-event-id", "end")).await.expect(204);
    assert!(again.body.is_empty() && !again.header("x-request-id").is_empty(), "{again}");
    let mut head = Question::get_as("/solve", &hard(&client, "a").await).accept(EVENTS);
    head.method = hyper::Method::HEAD;
    let head = client.send(head).await.expect(200);
    assert_eq!((head.media_type().as_str(), head.header("content-length")), (EVENTS, ""));
    let metrics = client.get("/metrics").await.expect(200);
    assert!(metrics.text().contains("\ntaquin_jobs_in_progress 0\n"), "{metrics}");
}

#[tokio::test]
async fn a_long_solution_has_the_same_events() {
    let taquin = shared().await;
    let question = json!({ "board": "8 6 7/2 5 4/3 0 1", "algorithm": "depth_first" });
    let whole = timeless(taquin.solve(&question).await);
    let events = EventStream::read(&taquin.send(Question::post("/solve").json(&question).accept(EVENTS)).await);
    assert!(whole["length"].as_u64() > Some(20_000));
    let [solution] = &events.of("solution")[..] else { panic!("one solution") };
    assert_eq!((&solution["moves"], &solution["tiles"]), (&whole["moves"], &whole["tiles"]));
    assert_eq!(timeless(events.end("result").clone()), whole);
}

#[tokio::test]
async fn progress_as_text_is_lines_before_the_usual_text() {
    let taquin = shared().await;
    let mut question = large(&taquin, "text", 1500).await;
    question["include"] = json!(["progress"]);
    let answer = taquin.send(Question::post("/solve").json(&question).accept("text/plain")).await.expect(200);
    assert_eq!((answer.media_type().as_str(), answer.header("cache-control")), ("text/plain", "no-store"));
    let (lines, text) = answer.text().split_once("\n\n").expect("an empty line");
    assert!(lines.lines().all(|line| line.contains(" s  ")), "{lines}");
    assert!(lines.lines().filter(|line| line.contains("found")).count() > 2, "{lines}");
    assert!(lines.lines().any(|line| line.contains(" expanded")), "{lines}");
    assert!(text.contains("anytime with linear_conflict: "), "{text}");
    let quick = taquin.send(Question::get("/solve?board=867254301&include=progress").accept("text/plain")).await;
    assert!(quick.text().contains("found a solution of 31 moves; none has fewer than 31\n\n"), "{quick}");
    let mut question = hard_15(300);
    question["include"] = json!(["progress"]);
    let stopped = taquin.send(Question::post("/solve").json(&question).accept("text/plain")).await.expect(200);
    assert!(stopped.text().contains("\n\n422 A limit ended the search\n"), "{stopped}");
}

#[tokio::test]
async fn progress_in_json_is_rejected() {
    let taquin = shared().await;
    for question in [
        Question::get("/solve?board=867254301&include=progress"),
        Question::post("/solve").json(&json!({ "board": "867254301", "include": ["states", "progress"] })),
    ] {
        let problem = taquin.send(question).await.problem("unsupported-combination");
        assert_eq!(faults(&problem), ["/include unsupported"]);
        let detail = problem["detail"].to_string();
        assert!(detail.contains("text/plain") && detail.contains(EVENTS), "{detail}");
    }
    let events = taquin.send(Question::get("/solve?board=867254301&include=progress").accept(EVENTS)).await;
    EventStream::read(&events).end("result");
}

#[tokio::test]
async fn a_stream_that_outlives_the_grace_period_ends_with_a_problem() {
    let mut service = Service::start(&["--workers", "1", "--shutdown-grace", "600ms", "--max-time", "10m"]).await;
    let client = service.client();
    let search = hard(&client, "a").await;
    let before = std::time::Instant::now();
    let pending = client.begin(Question::post("/solve").json(&search).accept(EVENTS)).await;
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    service.start_shutdown();
    let events = EventStream::read(&pending.answer().await);
    assert!(before.elapsed().as_millis() >= 900, "it goes on through the grace period");
    assert!(events.of("progress").len() >= 2);
    assert_eq!(events.end("problem")["type"], "/problems/shutting-down");
    until("the service has stopped", async || service.has_stopped()).await;
}
