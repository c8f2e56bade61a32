//! Parts and results of jobs, and whose jobs they are.

use std::path::PathBuf;
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::client::{Client, until};
use crate::jobs::{Directory, completed, create, endless, id, job, limited, recipe, rows};
use crate::question::Question;
use crate::simulator::{TO_BLANK_LAST, grid_of};

fn part(job: &Value, part: u64) -> Question {
    Question::get(&format!("/jobs/{}/parts/{part}", id(job)))
}

fn results(job: &Value) -> String {
    format!("/jobs/{}/results", id(job))
}

/// The text of bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn rows_are_the_boards_of_random_with_their_optimal_lengths() {
    let directory = Directory::new("rows");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = completed(&taquin, &create(&taquin, &recipe(3, 3, 3000)).await).await;
    let found = rows(&taquin, &results(&created)).await;
    assert_eq!(found.len(), 3000);
    for (index, row) in found.iter().enumerate() {
        assert_eq!((&row["index"], &row["optimal"]), (&json!(index), &json!(true)));
        assert_eq!(row["length"], TO_BLANK_LAST[&grid_of(&row["board"])], "{row}");
    }
    for index in [0, 1, 1234, 2999] {
        let drawn = taquin.get(&format!("/random?rows=3&cols=3&seed=api/{index}")).await.expect(200).json();
        assert_eq!((&found[index]["board"], &found[index]["length"]), (&drawn["board"], &drawn["length"]));
    }
    let csv = taquin.send(Question::get(&results(&created)).accept("text/csv")).await.expect(200);
    assert_eq!(csv.media_type(), "text/csv");
    let mut lines = csv.text().lines();
    assert_eq!(lines.next(), Some("0,1,2,3,4,5,6,7,8,cost"));
    for row in &found {
        let tiles: Vec<String> = grid_of(&row["board"]).iter().flatten().map(ToString::to_string).collect();
        assert_eq!(lines.next(), Some(&*format!("{},{}", tiles.join(","), row["length"])));
    }
    assert_eq!(lines.next(), None);
    let prefers = Question::get(&results(&created)).accept("application/x-ndjson;q=0.1, text/csv;q=0.2");
    assert_eq!(taquin.send(prefers).await.expect(200).media_type(), "text/csv");
    taquin.send(Question::get(&results(&created)).accept("image/png")).await.problem("not-acceptable");
    let head = taquin.send(Question::new(Method::HEAD, &results(&created))).await.expect(200);
    assert!(head.body.is_empty(), "{head}");
}

#[tokio::test]
async fn rows_and_bytes_of_a_part_are_there_while_the_job_runs() {
    let directory = Directory::new("parts");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    // Others may be done before it.
    until("the first part is done", async || taquin.send(part(&created, 0)).await.status == 200).await;
    let first = taquin.send(part(&created, 0)).await.expect(200);
    assert_eq!(first.media_type(), "application/octet-stream");
    assert_eq!(first.header("etag"), format!("\"{}\"", hex(&Sha256::digest(&first.body))));
    assert_eq!(&first.body[..8], b"TAQPART1");
    let stored = std::fs::read(directory.job(&created).join("parts/0000000000.tqp")).expect("a part");
    assert_eq!(first.body, stored);
    let of_part = rows(&taquin, &format!("{}?part=0", results(&created))).await;
    assert_eq!((of_part.len(), &of_part[0]["index"]), (1, &json!(0)));
    for question in [
        part(&created, 999_999),
        part(&created, 1_000_000),
        Question::get(&results(&created)),
        Question::get(&format!("{}?part=999999", results(&created))),
        Question::get(&format!("{}?part=1000000", results(&created))),
    ] {
        let problem = taquin.send(question).await.problem("not-found");
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.contains("no job")), "{problem}");
    }
    taquin.send(Question::get(&format!("{}?part=x", results(&created)))).await.problem("invalid-parameter");
    taquin.send(Question::get(&format!("{}?parts=0", results(&created)))).await.problem("invalid-parameter");
}

#[tokio::test]
async fn a_damaged_part_is_not_served() {
    let directory = Directory::new("damaged-part");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = completed(&taquin, &create(&taquin, &recipe(3, 3, 1000)).await).await;
    let path = directory.job(&created).join("parts/0000000000.tqp");
    let mut bytes = std::fs::read(&path).expect("a part");
    *bytes.last_mut().expect("a byte") ^= 1;
    std::fs::write(&path, &bytes).expect("it is written");
    for question in [part(&created, 0), part(&created, 0).header("range", "bytes=0-7")] {
        let problem = taquin.send(question).await.problem("not-found");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains("damaged") && !detail.contains("taquin-jobs"), "{detail}");
    }
    let failed = job(&taquin, &created).await;
    let reason = failed["reason"].as_str().expect("a reason");
    assert!(failed["state"] == "failed" && reason.starts_with("parts/0000000000.tqp: "), "{failed}");
    let problem = taquin.get(&results(&created)).await.problem("not-found");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(reason)), "{problem}");
}

#[tokio::test]
async fn parts_have_ranges() {
    let directory = Directory::new("ranges");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = completed(&taquin, &create(&taquin, &recipe(3, 3, 1000)).await).await;
    let whole = taquin.send(part(&created, 0)).await.expect(200);
    let (bytes, size) = (whole.body.clone(), whole.body.len());
    assert_eq!(size, 1084, "a byte for each length");
    let ranged = async |range: &str| taquin.send(part(&created, 0).header("range", range)).await;
    for (range, first, last) in [
        ("bytes=0-0", 0, 0),
        ("bytes=8-39", 8, 39),
        ("bytes=1000-", 1000, 1083),
        ("bytes=-4", 1080, 1083),
        ("bytes=1000-5000", 1000, 1083),
        ("bytes=-5000", 0, 1083),
    ] {
        let answer = ranged(range).await.expect(206);
        assert_eq!(answer.header("content-range"), format!("bytes {first}-{last}/1084"), "{range}");
        assert_eq!(answer.body, bytes[first..=last], "{range}");
        assert_eq!(answer.header("etag"), whole.header("etag"));
    }
    for range in ["bytes=1084-", "bytes=-0"] {
        let answer = ranged(range).await;
        assert_eq!(answer.header("content-range"), "bytes */1084", "{range}");
        answer.problem("range-not-satisfiable");
    }
    for range in ["rows=0-1", "bytes=5-4", "bytes=0-1,3-4", "bytes"] {
        assert_eq!(ranged(range).await.expect(200).body, bytes, "{range}");
    }
    assert_eq!(whole.header("cache-control"), "private, no-cache", "another job may have the path later");
    for range in ["bytes=0-7", "bytes=1084-"] {
        let head = Question::new(Method::HEAD, &part(&created, 0).target).header("range", range);
        assert_eq!(taquin.send(head).await.expect(200).header("content-length"), "1084", "a range is for GET alone");
    }
    let tag = whole.header("etag").to_owned();
    taquin.send(part(&created, 0).header("if-none-match", &tag)).await.expect(304);
    let same = part(&created, 0).header("range", "bytes=0-7").header("if-range", &tag);
    assert_eq!(taquin.send(same).await.expect(206).body, bytes[..8]);
    let other = part(&created, 0).header("range", "bytes=0-7").header("if-range", "\"another\"");
    assert_eq!(taquin.send(other).await.expect(200).body, bytes);
}

/// A client of the results of a job that reads their status, and the rest when the test does.
async fn slow_reader(taquin: &Client, job: &Value, token: &str) -> (TcpStream, String) {
    let mut reader = TcpStream::connect(taquin.addr()).await.expect("a connection");
    let target = results(job);
    let request = format!(
        "GET {target} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
    );
    reader.write_all(request.as_bytes()).await.expect("a request is sent");
    let mut status = [0; 12];
    reader.read_exact(&mut status).await.expect("a response begins");
    (reader, String::from_utf8_lossy(&status[9..]).into_owned())
}

#[tokio::test]
async fn slow_readers_of_a_token_leave_memory_to_others() {
    let (directory, tokens) = (Directory::new("share"), Tokens::new("share"));
    let service = directory.start(&["--token-file", &tokens.0.to_string_lossy()]).await;
    let taquin = service.client();
    let mut jobs = Vec::new();
    for token in ["first-token-of-jobs", "second-token-of-jobs"] {
        let job = by(&taquin, token, Question::post("/jobs").json(&recipe(3, 3, 400_000))).await.expect(202).json();
        let whole = Question::get(&format!("/jobs/{}", id(&job))).header("prefer", "wait=60");
        assert_eq!(by(&taquin, token, whole).await.expect(200).json()["state"], "completed");
        jobs.push(job);
    }
    let mut readers = Vec::new();
    let refused = loop {
        let (reader, status) = slow_reader(&taquin, &jobs[0], "first-token-of-jobs").await;
        if status != "200" {
            break status;
        }
        readers.push(reader);
        assert!(readers.len() < 100, "the memory of a token is limited");
    };
    assert_eq!(refused, "503");
    let (_reader, status) = slow_reader(&taquin, &jobs[1], "second-token-of-jobs").await;
    assert_eq!(status, "200");
}

#[tokio::test]
async fn slow_readers_of_results_delay_no_other_request() {
    let directory = Directory::new("slow");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = completed(&taquin, &create(&taquin, &recipe(3, 3, 400_000)).await).await;
    let whole = taquin.get(&results(&created)).await.expect(200);
    let mut readers = Vec::new();
    for _ in 0..6 {
        let (reader, status) = slow_reader(&taquin, &created, "none").await;
        assert_eq!(status, "200");
        readers.push(reader);
    }
    let others = async {
        // Until the buffers of the system are full.
        tokio::time::sleep(Duration::from_secs(1)).await;
        taquin.send(part(&created, 0)).await.expect(200);
        let other = completed(&taquin, &create(&taquin, &recipe(2, 2, 5)).await).await;
        let delete = Question::new(Method::DELETE, &format!("/jobs/{}", id(&other)));
        taquin.send(delete).await.expect(204);
    };
    tokio::time::timeout(Duration::from_secs(15), others).await.expect("other requests have their responses");
    let mut text = Vec::new();
    readers[0].read_to_end(&mut text).await.expect("the rest");
    assert!(text.len() > whole.body.len() && text.ends_with(b"\r\n0\r\n\r\n"), "{} bytes", text.len());
}

#[tokio::test]
async fn too_many_rows_are_not_written_as_text() {
    let directory = Directory::new("large");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &recipe(4, 4, 10_000_001)).await;
    let problem = taquin.get(&results(&created)).await.problem("results-too-large");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(detail.contains(&format!("/jobs/{}/parts/0", id(&created))), "{detail}");
}

#[tokio::test]
async fn each_want_has_its_members() {
    let directory = Directory::new("wants");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    for (want, member) in [("length", "length"), ("moves", "moves"), ("next", "next"), ("expanded", "expanded")] {
        let mut body = recipe(3, 3, 50);
        body["want"] = json!(want);
        let created = completed(&taquin, &create(&taquin, &body).await).await;
        let lines: String =
            rows(&taquin, &results(&created)).await.iter().map(|row| format!("{}\n", row["board"])).collect();
        let batch = Question::post(&format!("/batch?want={want}")).body("application/x-ndjson", lines);
        let batch = taquin.send(batch).await.expect(200);
        let batch = batch.text().lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
        for (row, other) in rows(&taquin, &results(&created)).await.iter().zip(batch) {
            assert_eq!(row[member], other[member], "{want}");
            assert!(!row[member].is_null(), "{row}");
        }
    }
    let mut body = limited(3);
    body["want"] = json!("bounds");
    let created = completed(&taquin, &create(&taquin, &body).await).await;
    for row in rows(&taquin, &results(&created)).await {
        assert!(row["lower_bound"].as_u64() <= row["length"].as_u64() && row["lower_bound"].is_u64(), "{row}");
    }
}

/// A file of two tokens.
struct Tokens(PathBuf);

impl Tokens {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taquin-jobs-{}-{name}.txt", std::process::id()));
        std::fs::write(&path, "first-token-of-jobs\nsecond-token-of-jobs\n").expect("a file");
        Self(path)
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

async fn by(client: &Client, token: &str, question: Question) -> Answer {
    client.send(question.header("authorization", &format!("Bearer {token}"))).await
}

#[tokio::test]
async fn jobs_of_other_tokens_are_not_found() {
    let (directory, tokens) = (Directory::new("tokens"), Tokens::new("tokens"));
    let service = directory.start(&["--token-file", &tokens.0.to_string_lossy(), "--max-jobs", "1"]).await;
    let taquin = service.client();
    let keyed = |body: &Value| Question::post("/jobs").json(body).header("idempotency-key", "key");
    let own = by(&taquin, "first-token-of-jobs", keyed(&recipe(3, 3, 10))).await.expect(202).json();
    let path = format!("/jobs/{}", id(&own));
    let whole = Question::get(&path).header("prefer", "wait=60");
    assert_eq!(by(&taquin, "first-token-of-jobs", whole).await.expect(200).json()["state"], "completed");
    for question in [
        Question::get(&path),
        Question::new(Method::DELETE, &path),
        Question::get(&format!("{path}/events")),
        Question::get(&format!("{path}/results")),
        Question::get(&format!("{path}/parts/0")),
        Question::get("/jobs/00000000000000000000000000000000"),
        Question::get("/jobs/short"),
    ] {
        by(&taquin, "second-token-of-jobs", question).await.problem("not-found");
    }
    let listed =
        async |token: &str| by(&taquin, token, Question::get("/jobs")).await.expect(200).json()["jobs"].clone();
    assert_eq!(listed("second-token-of-jobs").await, json!([]));
    // The same key of another token is another key, and its quota another quota.
    let other = by(&taquin, "second-token-of-jobs", keyed(&endless())).await.expect(202).json();
    assert_ne!(id(&other), id(&own));
    by(&taquin, "second-token-of-jobs", Question::post("/jobs").json(&recipe(2, 2, 1))).await.problem("too-many-jobs");
    by(&taquin, "first-token-of-jobs", Question::post("/jobs").json(&recipe(2, 2, 1))).await.expect(202);
    assert_eq!(listed("first-token-of-jobs").await.as_array().map(Vec::len), Some(2));
    assert_eq!(id(&listed("second-token-of-jobs").await[0]), id(&other));
    taquin.get("/jobs").await.problem("unauthorized");
}

#[tokio::test]
async fn a_small_job_of_another_token_does_not_wait_for_a_large_one() {
    let (directory, tokens) = (Directory::new("fair"), Tokens::new("fair"));
    let service = directory.start(&["--token-file", &tokens.0.to_string_lossy(), "--workers", "1"]).await;
    let taquin = service.client();
    let large = by(&taquin, "first-token-of-jobs", Question::post("/jobs").json(&endless())).await.expect(202).json();
    let small =
        by(&taquin, "second-token-of-jobs", Question::post("/jobs").json(&limited(20))).await.expect(202).json();
    // The large one never completes, so in the order of their creation the small one would not either.
    let whole = Question::get(&format!("/jobs/{}", id(&small))).header("prefer", "wait=60");
    assert_eq!(by(&taquin, "second-token-of-jobs", whole).await.expect(200).json()["state"], "completed");
    let question = Question::get(&format!("/jobs/{}", id(&large)));
    let large = by(&taquin, "first-token-of-jobs", question).await.expect(200).json();
    assert_eq!(large["state"], "running", "{large}");
}
