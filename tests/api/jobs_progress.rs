//! Waiting for jobs: long polls and events.

use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::client::{Service, until};
use crate::contract::CONTRACT;
use crate::jobs::{Directory, completed, create, endless, id, job, limited, recipe, settled};
use crate::load::gauge;
use crate::question::Question;

const EVENTS: &str = "text/event-stream";

fn get(job: &Value) -> Question {
    Question::get(&format!("/jobs/{}", id(job)))
}

fn events(job: &Value) -> Question {
    Question::get(&format!("/jobs/{}/events", id(job))).accept(EVENTS)
}

fn delete(job: &Value) -> Question {
    Question::new(Method::DELETE, &format!("/jobs/{}", id(job)))
}

/// The events of a stream: name and job of each.
fn parsed(text: &str) -> Vec<(String, Value)> {
    let events = text.split_terminator("\n\n").filter(|event| !event.starts_with(':'));
    let field = |event: &str, name: &str| {
        let value = event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        value.unwrap_or_else(|| panic!("no {name}: {event}")).to_owned()
    };
    let parsed = events.map(|event| {
        let job: Value = serde_json::from_str(&field(event, "data")).expect("JSON");
        let schema = json!({ "$ref": "#/components/schemas/Job" });
        assert_eq!(CONTRACT.faults_of_value(&schema, &job), Vec::<String>::new());
        (field(event, "event"), job)
    });
    parsed.collect()
}

#[tokio::test]
async fn a_long_poll_returns_when_the_job_has_ended() {
    let directory = Directory::new("wait");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    let waiting = taquin.begin(get(&created).header("prefer", "wait=50")).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!waiting.is_answered());
    let cancelled = taquin.send(delete(&created)).await.expect(200).json();
    let answer = waiting.answer().await.expect(200);
    assert_eq!(answer.header("preference-applied"), "wait=50");
    assert_eq!(answer.json(), cancelled);
    // Of a job that has ended, at once.
    let begun = Instant::now();
    taquin.send(get(&created).header("prefer", "wait=50")).await.expect(200);
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_long_poll_ends_after_its_time() {
    let directory = Directory::new("time");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    let begun = Instant::now();
    let answer = taquin.send(get(&created).header("prefer", "respond-async, wait=1")).await.expect(200);
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(answer.header("preference-applied"), "wait=1");
    assert_eq!(answer.json()["ended_at"], Value::Null);
    for prefer in ["wait", "wait=-1", "wait=x", "return=minimal", ""] {
        let answer = taquin.send(get(&created).header("prefer", prefer)).await.expect(200);
        assert_eq!(answer.header("preference-applied"), "", "{prefer}");
    }
}

#[tokio::test]
async fn a_long_poll_with_a_tag_returns_what_is_new() {
    let directory = Directory::new("tag");
    let service = directory.start(&["--workers", "1"]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    let mut answer: Answer = taquin.send(get(&created)).await.expect(200);
    for _ in 0..5 {
        let tag = answer.header("etag").to_owned();
        let next =
            taquin.send(get(&created).header("if-none-match", &tag).header("prefer", "wait=50")).await.expect(200);
        assert_ne!(next.header("etag"), tag);
        // A busy machine may keep it waiting.
        let said = |answer: &Answer| ["state", "parts", "waiting_for"].map(|name| answer.json()[name].clone());
        assert_ne!(said(&next), said(&answer));
        assert_eq!(next.header("preference-applied"), "wait=50");
        answer = next;
    }
    taquin.send(delete(&created)).await.expect(200);
    settled(&taquin, &created).await;
    let answer = taquin.send(get(&created)).await.expect(200);
    let tag = answer.header("etag").to_owned();
    let unchanged = taquin.send(get(&created).header("if-none-match", &tag)).await.expect(304);
    assert_eq!(unchanged.header("etag"), tag);
    let begun = Instant::now();
    let unchanged = get(&created).header("if-none-match", &tag).header("prefer", "wait=60");
    taquin.send(unchanged).await.expect(304);
    assert!(begun.elapsed() < Duration::from_secs(20), "it has ended, and changes no more");
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_poll() {
    let directory = Directory::new("leave");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    let connections = gauge(&taquin, "taquin_http_connections").await;
    let poll = taquin.begin(get(&created).header("prefer", "wait=60")).await;
    let stream = taquin.begin(events(&created)).await;
    until("both wait", async || gauge(&taquin, "taquin_http_connections").await == connections + 2).await;
    poll.hang_up();
    stream.hang_up();
    until("both are gone", async || gauge(&taquin, "taquin_http_connections").await == connections).await;
    assert_eq!(job(&taquin, &created).await["ended_at"], Value::Null, "the job goes on");
}

#[tokio::test]
async fn events_follow_a_job_to_its_end() {
    let directory = Directory::new("events");
    let service = directory.start(&["--workers", "1"]).await;
    let taquin = service.client();
    let created = create(&taquin, &limited(300)).await;
    let begun = Instant::now();
    let answer = taquin.send(events(&created)).await.expect(200);
    let elapsed = begun.elapsed().as_secs_f64();
    assert_eq!(answer.header("content-type"), EVENTS);
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.header("x-accel-buffering"), "no");
    assert_eq!(answer.header("content-length"), "");
    assert!(answer.text().ends_with("\nid: end\n\n"), "{answer}");
    let found = parsed(answer.text());
    let (last, before) = found.split_last().expect("an event");
    assert_eq!((&*last.0, &last.1["state"]), ("completed", &json!("completed")));
    assert!(!before.is_empty() && before.iter().all(|(name, _)| name == "progress"), "{answer}");
    assert!(before.len() as f64 <= 2.0 * elapsed + 2.0, "{} in {elapsed} s", before.len());
    let done: Vec<u64> = found.iter().map(|(_, job)| job["counts"]["done"].as_u64().expect("a number")).collect();
    assert!(done.is_sorted(), "{done:?}");
    // Of a job that has ended, only the last one.
    let again = parsed(taquin.send(events(&created)).await.expect(200).text());
    assert_eq!(again, [("completed".to_owned(), job(&taquin, &created).await)]);
    taquin.send(events(&created).header("last-event-id", "end")).await.expect(204);
    taquin.send(get(&created).accept(EVENTS)).await.problem("not-acceptable");
    let json = Question::get(&format!("/jobs/{}/events", id(&created))).accept("application/json");
    taquin.send(json).await.problem("not-acceptable");
}

#[tokio::test]
async fn a_cancelled_job_is_the_last_event_too() {
    let directory = Directory::new("stop");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    let stream = taquin.begin(events(&created)).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(!stream.is_answered());
    taquin.send(delete(&created)).await.expect(200);
    let found = parsed(stream.answer().await.expect(200).text());
    let (name, job) = found.last().expect("an event");
    assert_eq!((&**name, &job["state"]), ("completed", &json!("cancelled")));
}

#[tokio::test]
async fn a_shutdown_ends_polls_and_streams() {
    let directory = Directory::new("shutdown");
    let mut service: Service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    let poll = taquin.begin(get(&created).header("prefer", "wait=60")).await;
    let mut stream = TcpStream::connect(taquin.addr()).await.expect("a connection");
    let head = format!("GET /jobs/{}/events HTTP/1.1\r\nhost: localhost\r\n\r\n", id(&created));
    stream.write_all(head.as_bytes()).await.expect("a request");
    let mut text = String::new();
    while !text.contains("event: progress") {
        let mut bytes = [0; 4096];
        let count = stream.read(&mut bytes).await.expect("bytes");
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    let begun = Instant::now();
    service.start_shutdown();
    let answer = poll.answer().await;
    assert!(answer.status == 200 || answer.status == 503, "{answer}");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.expect("an end");
    assert!(!String::from_utf8_lossy(&rest).contains("event: completed"));
    until("the service has stopped", async || service.has_stopped()).await;
    assert!(begun.elapsed() < Duration::from_secs(30), "nothing waits for the job");
}

#[tokio::test]
async fn a_search_comes_before_a_job() {
    let directory = Directory::new("first");
    let service = directory.start(&["--workers", "1"]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    until("a part is done", async || job(&taquin, &created).await["parts"]["done"].as_u64() >= Some(1)).await;
    let search = crate::load::begin(&taquin, &crate::load::hard(&taquin, "jobs").await).await;
    until("the job waits", async || job(&taquin, &created).await["waiting_for"] == "requests").await;
    search.hang_up();
    until("the job goes on", async || job(&taquin, &created).await["waiting_for"].is_null()).await;
    let small = completed(&taquin, &create(&taquin, &recipe(2, 2, 1)).await).await;
    assert_eq!(small["waiting_for"], Value::Null);
}
