//! `/jobs`: from a recipe or an upload to a job that has ended.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use hyper::Method;
use serde_json::{Value, json};

use crate::answer::{Answer, faults};
use crate::client::{Client, Service, until};
use crate::load::{begin, hard};
use crate::question::Question;

const NDJSON: &str = "application/x-ndjson";

/// A directory of jobs, removed when dropped.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taquin-jobs-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// Starts a service with jobs in this directory.
    pub(crate) async fn start(&self, flags: &[&str]) -> Service {
        let path = self.0.to_string_lossy();
        Service::start(&[&["--jobs", &*path], flags].concat()).await
    }

    /// The directory of a job.
    pub(crate) fn job(&self, job: &Value) -> PathBuf {
        self.0.join("data").join(job["folder"].as_str().expect("a folder"))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Waits until a service has stopped, so that its directory is free.
pub(crate) async fn stop(mut service: Service) {
    service.start_shutdown();
    until("the service has stopped", async || service.has_stopped()).await;
}

pub(crate) fn id(job: &Value) -> &str {
    job["id"].as_str().expect("an id")
}

/// The body of a request for lengths of random boards.
pub(crate) fn recipe(rows: u64, cols: u64, count: u64) -> Value {
    json!({ "random": { "rows": rows, "cols": cols, "seed": "api", "count": count } })
}

/// A job that takes hours, in chunks of one board of some milliseconds.
pub(crate) fn endless() -> Value {
    limited(1_000_000)
}

/// Boards that are too large for a proof, in chunks of one board. The limit on time is never reached.
pub(crate) fn limited(count: u64) -> Value {
    let mut body = recipe(5, 5, count);
    body["limits"] = json!({ "expanded": 2000, "time_ms": 60_000 });
    body
}

fn ask(body: &Value) -> Question {
    Question::post("/jobs").json(body)
}

fn upload(target: &str, media_type: &str, body: &str) -> Question {
    Question::post(target).body(media_type, body.to_owned())
}

fn delete(job: &Value) -> Question {
    Question::new(Method::DELETE, &format!("/jobs/{}", id(job)))
}

/// The job of a response that accepts it.
fn accepted(answer: Answer) -> Value {
    let answer = answer.expect(202);
    let job = answer.json();
    assert_eq!(answer.header("location"), format!("/jobs/{}", id(&job)));
    assert_eq!(answer.header("cache-control"), "no-store");
    job
}

pub(crate) async fn create(client: &Client, body: &Value) -> Value {
    accepted(client.send(ask(body)).await)
}

pub(crate) async fn job(client: &Client, job: &Value) -> Value {
    client.get(&format!("/jobs/{}", id(job))).await.expect(200).json()
}

/// Waits until a job has ended, and returns it.
pub(crate) async fn ended(client: &Client, job: &Value) -> Value {
    let question = Question::get(&format!("/jobs/{}", id(job))).header("prefer", "wait=60");
    let job = client.send(question).await.expect(200).json();
    assert!(job["ended_at"].is_string(), "{job}");
    job
}

pub(crate) async fn completed(client: &Client, job: &Value) -> Value {
    let job = ended(client, job).await;
    assert_eq!(job["state"], "completed", "{job}");
    job
}

/// Waits until a job that has ended is at rest: a slice that was at its end may store its part.
pub(crate) async fn settled(client: &Client, created: &Value) {
    until("the job is at rest", async || {
        let before = job(client, created).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        job(client, created).await == before
    })
    .await;
}

async fn until_parts(client: &Client, created: &Value, parts: u64) -> Value {
    until("parts are done", async || job(client, created).await["parts"]["done"].as_u64() >= Some(parts)).await;
    job(client, created).await
}

pub(crate) async fn rows(client: &Client, target: &str) -> Vec<Value> {
    let answer = client.get(target).await.expect(200);
    assert_eq!(answer.media_type(), NDJSON);
    answer.text().lines().map(|line| serde_json::from_str(line).expect("a row")).collect()
}

/// Makes the directory of the same job by the command.
pub(crate) fn by_command(directory: &Directory, job: &Value, arguments: &str) -> PathBuf {
    let path = directory.0.join(format!("by-command-{}", id(job)));
    let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
    command.args(["batch", "--tables", "small"]).args(arguments.split_whitespace());
    command.args(["--chunk", &job["spec"]["chunk"].to_string(), "-o"]).arg(&path);
    let output = command.output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

#[tokio::test]
async fn a_recipe_becomes_a_job_as_understood() {
    let directory = Directory::new("recipe");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let body = json!({
        "random": { "rows": 2, "cols": 3, "seed": "é", "count": 500 },
        "goal": "blank_first", "want": "next", "limits": { "time_ms": 5000, "expanded": 1_000_000 },
    });
    let job = create(&taquin, &body).await;
    assert_eq!(job["spec"]["random"], body["random"]);
    assert_eq!(job["spec"]["goal"], "0 1 2/3 4 5");
    assert_eq!(job["spec"]["want"], "next");
    assert_eq!(job["spec"]["limits"], body["limits"]);
    assert_eq!(job["spec"]["tables"], "small");
    assert_eq!(job["counts"]["total"], 500);
    assert_eq!(job["parts"]["total"], 1);
    assert!(job["estimate"]["core_seconds"].as_f64() < Some(5.0), "{job}");
    let job = completed(&taquin, &job).await;
    assert_eq!(job["counts"], json!({ "total": 500, "done": 500, "failed": 0 }));
    assert_eq!(job["parts"], json!({ "total": 1, "done": 1 }));
    assert!(job["created_at"].as_str() <= job["ended_at"].as_str(), "{job}");
    assert!(job["ended_at"].as_str() < job["expires_at"].as_str(), "{job}");
    for name in ["waiting_for", "eta_seconds", "rate_per_second"] {
        assert_eq!(job[name], Value::Null, "{name}");
    }
    for row in rows(&taquin, &format!("/jobs/{}/results", id(&job))).await {
        let target = format!("/random?rows=2&cols=3&goal=blank_first&seed=%C3%A9/{}", row["index"]);
        assert_eq!(taquin.get(&target).await.json()["board"], row["board"]);
    }
    // The longest seed.
    let mut longest = recipe(2, 2, 10);
    longest["random"]["seed"] = json!("s".repeat(126));
    create(&taquin, &longest).await;
    // Members that are null are absent.
    let body = json!({ "random": recipe(2, 2, 1)["random"], "goal": null, "want": null, "limits": null });
    let job = create(&taquin, &body).await;
    assert_eq!((&job["spec"]["want"], &job["spec"]["limits"]), (&json!("length"), &json!({})));
}

#[tokio::test]
async fn the_files_of_a_job_are_those_of_the_command() {
    let directory = Directory::new("files");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    for (body, arguments) in [
        (recipe(3, 3, 600_000), "--random 3x3 --seed api --count 600000"),
        (limited(20), "--random 5x5 --seed api --count 20 --board-expanded 2000 --board-time 60s"),
    ] {
        let job = create(&taquin, &body).await;
        let job = completed(&taquin, &job).await;
        assert!(job["parts"]["total"].as_u64() > Some(1), "{job}");
        let own = directory.job(&job);
        let other = by_command(&directory, &job, arguments);
        let mut files: Vec<PathBuf> = vec!["spec.json".into(), "end.json".into()];
        files.extend(
            (0..job["parts"]["total"].as_u64().expect("a number")).map(|n| format!("parts/{n:010}.tqp").into()),
        );
        for file in files {
            assert_eq!(
                std::fs::read(own.join(&file)).ok(),
                std::fs::read(other.join(&file)).ok(),
                "{}",
                file.display()
            );
        }
    }
}

#[tokio::test]
async fn an_upload_has_rows_as_a_batch_does() {
    let directory = Directory::new("upload");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let lines =
        "[[8,6,7],[2,5,4],[3,0,1]]\n\n{\"id\":7,\"board\":\"123456078\"}\n123456870\n1,2,3\n12/30\n\"123456780\"";
    for (media_type, body) in [
        (NDJSON, lines),
        ("application/jsonl", lines),
        ("text/csv", "id,board\na,867254301\n7,123456078\n,123456870\n,1 2 3\n,12/30\n,1 2 3/4 5 6/7 8 0\n"),
    ] {
        let job = accepted(taquin.send(upload("/jobs?want=moves", media_type, body)).await);
        assert_eq!(job["spec"]["input"]["count"], 6, "{job}");
        assert_eq!(job["spec"]["goal"], "1 2 3/4 5 6/7 8 0");
        let job = completed(&taquin, &job).await;
        assert_eq!(job["counts"], json!({ "total": 6, "done": 6, "failed": 3 }));
        let rows = rows(&taquin, &format!("/jobs/{}/results", id(&job))).await;
        let lengths: Vec<_> = rows.iter().map(|row| row["length"].clone()).collect();
        assert_eq!(lengths, [json!(31), json!(2), Value::Null, Value::Null, Value::Null, json!(0)]);
        assert_eq!((&rows[1]["moves"], &rows[5]["moves"]), (&json!("RR"), &json!("")));
        let problems = ["unsolvable", "invalid-board", "goal-mismatch"];
        for ((row, slug), line) in rows[2..5].iter().zip(problems).zip(4..) {
            assert_eq!((&row["problem"]["type"], &row["line"]), (&json!(format!("/problems/{slug}")), &json!(line)));
            assert_eq!((&row["status"], &row["board"]), (&json!(422), &Value::Null), "{row}");
        }
    }
    let snail = upload("/jobs?goal=snail&limits.nodes=1000", NDJSON, "123804765");
    let job = accepted(taquin.send(snail).await);
    assert_eq!(job["spec"]["limits"], json!({ "nodes": 1000 }));
    completed(&taquin, &job).await;
    let results = format!("/jobs/{}/results", id(&job));
    assert_eq!(rows(&taquin, &results).await[0]["length"], 0);
    let table = taquin.send(Question::get(&results).accept("text/csv")).await.expect(200);
    assert!(table.text().lines().next().is_some_and(|head| head.ends_with("cost,lower_bound")), "it has a limit");
}

#[tokio::test]
async fn a_job_whose_description_is_damaged_has_failed() {
    let directory = Directory::new("damaged");
    let service = directory.start(&[]).await;
    let job = completed(&service.client(), &create(&service.client(), &recipe(3, 3, 10)).await).await;
    stop(service).await;
    std::fs::write(directory.job(&job).join("spec.json"), "{").expect("it is written");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let listed = taquin.get("/jobs").await.expect(200).json()["jobs"][0].clone();
    assert_eq!((&listed["id"], &listed["state"], &listed["spec"]), (&job["id"], &json!("failed"), &Value::Null));
    let reason = listed["reason"].as_str().expect("a reason");
    assert!(reason.starts_with("spec.json: ") && !reason.contains("taquin-jobs"), "{reason}");
    for target in ["/results", "/results?part=0", "/parts/0"] {
        taquin.get(&format!("/jobs/{}{target}", id(&job))).await.problem("not-found");
    }
    taquin.send(delete(&job)).await.expect(204);
    assert_eq!(taquin.get("/jobs").await.json(), json!({ "jobs": [] }));
    until("its files are removed", async || !directory.job(&job).exists()).await;
}

#[tokio::test]
async fn faulty_requests_have_their_problems() {
    let directory = Directory::new("faulty");
    let service = directory.start(&["--max-job-boards", "1000", "--max-job-body", "16KiB"]).await;
    let taquin = service.client();
    let with = |name: &str, value: Value| {
        let mut body = recipe(4, 4, 10);
        body["random"][name] = value;
        body
    };
    let plus = |name: &str, value: Value| {
        let mut body = recipe(5, 5, 10);
        body[name] = value;
        body
    };
    for (body, slug, expected) in [
        (json!({}), "invalid-request", vec!["/random missing-field"]),
        (json!({ "random": { "rows": 3 } }), "invalid-request", vec!["/random/cols missing-field"]),
        (with("count", json!(0)), "invalid-request", vec!["/random/count out-of-range"]),
        (with("rows", json!(1)), "invalid-request", vec!["/random/rows out-of-range"]),
        (with("rows", json!("4")), "invalid-request", vec!["/random/rows wrong-type"]),
        (with("sead", json!(1)), "invalid-request", vec!["/random/sead unknown-field"]),
        (plus("want", json!("height")), "invalid-request", vec!["/want unknown-value"]),
        (plus("board", json!("867254301")), "invalid-request", vec!["/board unknown-field"]),
        (plus("limits", json!({ "time_ms": 0 })), "invalid-request", vec!["/limits/time_ms out-of-range"]),
        (plus("goal", json!([[1, 2], [3, 0]])), "goal-mismatch", vec!["/goal goal-mismatch"]),
        (plus("want", json!("next")), "unsupported-combination", vec!["/want unsupported"]),
    ] {
        let found = faults(&taquin.send(ask(&body)).await.problem(slug));
        assert!(expected.iter().all(|fault| found.iter().any(|found| found == fault)), "{body}: {found:?}");
    }
    for (question, slug) in [
        (ask(&json!([1, 2])), "invalid-request"),
        (Question::post("/jobs").body("application/json", "{"), "malformed-json"),
        (upload("/jobs", "application/xml", "<a/>"), "unsupported-media-type"),
        (upload("/jobs", NDJSON, "\n\n"), "invalid-request"),
        (upload("/jobs?wants=moves", NDJSON, "867254301"), "invalid-parameter"),
        (upload("/jobs?want=height", NDJSON, "867254301"), "invalid-parameter"),
        (ask(&recipe(3, 3, 10)).header("idempotency-key", ""), "invalid-header"),
        (ask(&recipe(3, 3, 10)).header("idempotency-key", &"k".repeat(256)), "invalid-header"),
        (ask(&recipe(3, 3, 10)).header("idempotency-key", "a b"), "invalid-header"),
        (ask(&recipe(3, 3, 10)).accept("image/png"), "not-acceptable"),
        (Question::get("/jobs?limit=0"), "invalid-parameter"),
        (Question::get("/jobs?limit=101"), "invalid-parameter"),
        (Question::get("/jobs?state=asleep"), "invalid-parameter"),
        (Question::get("/jobs?cursor=%2F"), "invalid-parameter"),
    ] {
        taquin.send(question).await.problem(slug);
    }
    for question in [
        ask(&recipe(3, 3, 1001)),
        upload("/jobs", NDJSON, &"867254301\n".repeat(1001)),
        upload("/jobs", NDJSON, &"8 6 7/2 5 4/3 0 1\n".repeat(950)),
    ] {
        let problem = taquin.send(question).await.problem("content-too-large");
        assert!(problem["detail"].as_str().expect("a text").contains("taquin batch"), "{problem}");
    }
    assert_eq!(taquin.get("/jobs").await.expect(200).json(), json!({ "jobs": [] }), "none was created");
}

#[tokio::test]
async fn a_hundred_requests_with_one_key_are_one_job() {
    let directory = Directory::new("key");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let keyed = |body: &Value, key: &str| ask(body).header("idempotency-key", key);
    let body = recipe(3, 3, 5000);
    let mut pending = Vec::new();
    for _ in 0..100 {
        pending.push(taquin.begin(keyed(&body, "one~!\"key")).await);
    }
    let mut ids = Vec::new();
    for answer in pending {
        ids.push(id(&accepted(answer.answer().await)).to_owned());
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    let listed = taquin.get("/jobs?limit=100").await.expect(200).json();
    assert_eq!(listed["jobs"].as_array().map(Vec::len), Some(1), "{listed}");
    // Another job under that key, and the job again after it has ended.
    taquin.send(keyed(&recipe(3, 3, 5001), "one~!\"key")).await.problem("idempotency-key-reused");
    completed(&taquin, &listed["jobs"][0]).await;
    let again = accepted(taquin.send(keyed(&body, "one~!\"key")).await);
    assert_eq!((id(&again), &again["state"]), (&*ids[0], &json!("completed")));
    let other = accepted(taquin.send(keyed(&body, "another")).await);
    assert_ne!(id(&other), ids[0]);
    // Uploads have keys too.
    let upload = |body: &str| upload("/jobs", NDJSON, body).header("idempotency-key", "upload");
    let first = accepted(taquin.send(upload("867254301")).await);
    assert_eq!(id(&accepted(taquin.send(upload("867254301")).await)), id(&first));
    taquin.send(upload("123456780")).await.problem("idempotency-key-reused");
}

#[tokio::test]
async fn a_job_is_cancelled_and_then_deleted() {
    let directory = Directory::new("cancel");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let created = create(&taquin, &endless()).await;
    let first = format!("/jobs/{}/parts/0", id(&created));
    // Others may be done before it.
    until("the first part is done", async || taquin.get(&first).await.status == 200).await;
    assert_eq!(job(&taquin, &created).await["state"], "running");
    let cancelled = taquin.send(delete(&created)).await.expect(200).json();
    assert_eq!(cancelled["state"], "cancelled", "{cancelled}");
    assert!(cancelled["ended_at"].is_string() && cancelled["expires_at"].is_string(), "{cancelled}");
    let parts = job(&taquin, &created).await["parts"]["done"].as_u64().expect("a number");
    assert!(parts >= 1, "its parts remain");
    taquin.get(&first).await.expect(200);
    settled(&taquin, &created).await;
    taquin.send(delete(&created)).await.expect(204);
    taquin.get(&format!("/jobs/{}", id(&created))).await.problem("not-found");
    taquin.send(delete(&created)).await.problem("not-found");
    until("its files are removed", async || !directory.job(&created).exists()).await;
    assert_eq!(taquin.get("/jobs").await.json(), json!({ "jobs": [] }));
}

#[tokio::test]
async fn a_request_that_may_only_cancel_or_only_delete_does_nothing_else() {
    let directory = Directory::new("only");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let only = |job: &Value, only: &str| delete(job).query("only", only);
    let done = completed(&taquin, &create(&taquin, &recipe(2, 2, 5)).await).await;
    let problem = taquin.send(only(&done, "cancel")).await.problem("job-state-conflict");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains("is completed")), "{problem}");
    assert_eq!(job(&taquin, &done).await, done, "its results remain");
    let running = create(&taquin, &endless()).await;
    taquin.send(only(&running, "delete")).await.problem("job-state-conflict");
    assert_eq!(job(&taquin, &running).await["ended_at"], Value::Null, "it goes on");
    for _ in 0..2 {
        let cancelled = taquin.send(only(&running, "cancel")).await.expect(200).json();
        assert_eq!(cancelled["state"], "cancelled", "{cancelled}");
    }
    for query in [("only", "stop"), ("state", "running")] {
        taquin.send(delete(&running).query(query.0, query.1)).await.problem("invalid-parameter");
    }
    for ended in [&running, &done] {
        taquin.send(only(ended, "delete")).await.expect(204);
        taquin.send(only(ended, "delete")).await.problem("not-found");
    }
}

#[tokio::test]
async fn the_preconditions_of_a_deletion_are_checked() {
    let directory = Directory::new("preconditions");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let done = completed(&taquin, &create(&taquin, &recipe(2, 2, 5)).await).await;
    let tag = taquin.get(&format!("/jobs/{}", id(&done))).await.expect(200).header("etag").to_owned();
    for (name, value) in [("if-match", "\"x\""), ("if-match", &*tag), ("if-none-match", "*"), ("if-none-match", &*tag)]
    {
        taquin.send(delete(&done).header(name, value)).await.problem("precondition-failed");
    }
    for target in ["results", "events"] {
        let question = || Question::get(&format!("/jobs/{}/{target}", id(&done)));
        taquin.send(question().header("if-match", "\"x\"")).await.problem("precondition-failed");
        taquin.send(question().header("if-match", "*")).await.expect(200);
    }
    assert_eq!(job(&taquin, &done).await, done);
    taquin.send(delete(&done).header("if-match", "*").header("if-none-match", "\"x\"")).await.expect(204);
}

#[tokio::test]
async fn the_digest_of_an_upload_is_checked() {
    let directory = Directory::new("digest");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let with = |digest: &str| upload("/jobs", NDJSON, "867254301").header("content-digest", digest);
    for wrong in ["sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:", "sha-256=:867254301:"] {
        taquin.send(with(wrong)).await.problem("invalid-header");
    }
    assert_eq!(taquin.get("/jobs").await.json(), json!({ "jobs": [] }), "none was created");
    accepted(taquin.send(with("sha-256=:g+JCCcMmHPhzGKXrHoIqjrpCgeSjYweyCsjqnsYaIcA=:")).await);
    accepted(taquin.send(with("md5=:AAAA:")).await);
}

#[tokio::test]
async fn an_upload_waits_while_the_service_is_overloaded() {
    let directory = Directory::new("overloaded");
    let service = directory.start(&["--workers", "1", "--queue", "0"]).await;
    let taquin = service.client();
    let search = begin(&taquin, &hard(&taquin, "a").await).await;
    taquin.send(Question::post("/jobs").json(&recipe(5, 5, 10))).await.problem("overloaded");
    let waiting = taquin.begin(upload("/jobs", NDJSON, "867254301\n867254301")).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(taquin.get("/jobs").await.json(), json!({ "jobs": [] }));
    search.hang_up();
    accepted(waiting.answer().await);
}

#[tokio::test]
async fn the_type_of_a_body_decides_what_it_is() {
    let directory = Directory::new("types");
    let strict = directory.start(&["--strict-content-type"]).await;
    let body = recipe(2, 2, 1).to_string();
    for media_type in ["text/plain", "application/x-www-form-urlencoded"] {
        for body in [&body, "867254301"] {
            let answer = strict.client().send(upload("/jobs", media_type, body)).await;
            let types = "application/json, application/x-ndjson, application/jsonl, text/csv";
            assert_eq!(answer.header("accept"), types, "{answer}");
            assert_eq!(answer.header("connection"), "close", "the body is not read");
            answer.problem("unsupported-media-type");
        }
    }
    stop(strict).await;
    let lenient = directory.start(&[]).await;
    accepted(lenient.client().send(upload("/jobs", "text/plain", &body)).await);
}

#[tokio::test]
async fn jobs_are_listed_page_by_page() {
    let directory = Directory::new("list");
    let service = directory.start(&["--max-jobs", "100"]).await;
    let taquin = service.client();
    let mut created = Vec::new();
    for count in 1..=7 {
        let job = create(&taquin, &recipe(2, 2, count)).await;
        completed(&taquin, &job).await;
        created.push(id(&job).to_owned());
    }
    let running = create(&taquin, &endless()).await;
    created.push(id(&running).to_owned());
    created.reverse();
    let mut listed = Vec::new();
    let mut target = "/jobs?limit=3".to_owned();
    loop {
        let page = taquin.get(&target).await.expect(200).json();
        let jobs = page["jobs"].as_array().expect("jobs");
        listed.extend(jobs.iter().map(|job| id(job).to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        assert_eq!(jobs.len(), 3);
        target = Question::get("/jobs?limit=3").query("cursor", next).target;
    }
    assert_eq!(listed, created, "the newest first");
    let of_state =
        async |state: &str| taquin.get(&format!("/jobs?state={state}")).await.expect(200).json()["jobs"].clone();
    assert_eq!(of_state("completed").await.as_array().map(Vec::len), Some(7));
    assert_eq!(of_state("cancelled").await, json!([]));
    taquin.send(delete(&running)).await.expect(200);
    assert_eq!(id(&of_state("cancelled").await[0]), id(&running));
}

#[tokio::test]
async fn a_client_has_so_many_unfinished_jobs() {
    let directory = Directory::new("quota");
    let service = directory.start(&["--max-jobs", "2"]).await;
    let taquin = service.client();
    let first = create(&taquin, &endless()).await;
    let keyed = || ask(&endless()).header("idempotency-key", "k");
    let second = accepted(taquin.send(keyed()).await);
    taquin.send(ask(&recipe(2, 2, 1))).await.problem("too-many-jobs");
    assert_eq!(id(&accepted(taquin.send(keyed()).await)), id(&second), "a job that exists is no new one");
    taquin.send(delete(&first)).await.expect(200);
    let third = create(&taquin, &recipe(2, 2, 1)).await;
    completed(&taquin, &third).await;
    create(&taquin, &recipe(2, 2, 2)).await;
}

#[tokio::test]
async fn jobs_survive_a_restart() {
    let directory = Directory::new("restart");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let done = completed(&taquin, &create(&taquin, &recipe(3, 3, 1000)).await).await;
    let running = create(&taquin, &limited(400)).await;
    let before = until_parts(&taquin, &running, 3).await;
    let cancelled = create(&taquin, &endless()).await;
    let cancelled = taquin.send(delete(&cancelled)).await.expect(200).json();
    stop(service).await;
    let service = directory.start(&[]).await;
    let taquin = service.client();
    assert_eq!(job(&taquin, &done).await, done);
    assert_eq!(job(&taquin, &cancelled).await["state"], "cancelled");
    let after = job(&taquin, &running).await;
    assert!(after["parts"]["done"].as_u64() >= before["parts"]["done"].as_u64(), "{after}");
    for name in ["spec", "created_at", "estimate"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    completed(&taquin, &running).await;
    let listed = taquin.get("/jobs").await.expect(200).json();
    let listed: Vec<_> = listed["jobs"].as_array().expect("jobs").iter().map(id).collect();
    assert_eq!(listed, [id(&cancelled), id(&running), id(&done)]);
}

#[tokio::test]
async fn a_job_is_deleted_some_time_after_its_end() {
    let directory = Directory::new("keep");
    let service = directory.start(&["--jobs-keep", "1s"]).await;
    let taquin = service.client();
    let job = completed(&taquin, &create(&taquin, &recipe(2, 2, 5)).await).await;
    let target = format!("/jobs/{}", id(&job));
    until("the job is gone", async || taquin.get(&target).await.status == 404).await;
    until("its files are gone", async || !directory.job(&job).exists()).await;
    assert_eq!(taquin.get("/jobs").await.json(), json!({ "jobs": [] }));
}

#[tokio::test]
async fn without_the_setting_there_are_no_jobs() {
    let taquin = crate::client::shared().await;
    for question in [
        Question::get("/jobs"),
        ask(&recipe(3, 3, 1)),
        Question::get("/jobs/7c1d0f8a4be2695d3e0a9b1c52f4d876"),
        Question::new(Method::DELETE, "/jobs/7c1d0f8a4be2695d3e0a9b1c52f4d876"),
        Question::get("/jobs/7c1d0f8a4be2695d3e0a9b1c52f4d876/results"),
    ] {
        let problem = taquin.send(question).await.problem("not-found");
        assert!(problem["detail"].as_str().expect("a text").contains("--jobs"), "{problem}");
    }
    assert_eq!(taquin.get("/info").await.json()["limits"]["jobs"], Value::Null);
}

#[tokio::test]
async fn info_has_the_limits_of_jobs() {
    let directory = Directory::new("info");
    let flags = ["--jobs-keep", "36h", "--max-jobs", "3", "--max-job-boards", "5000000", "--max-job-body", "2MiB"];
    let service = directory.start(&flags).await;
    let info = service.client().get("/info").await.expect(200).json();
    let expected = json!({
        "unfinished": 3, "boards": 5_000_000, "body_bytes": 2 << 20, "keep_seconds": 129_600,
    });
    assert_eq!(info["limits"]["jobs"], expected);
}
