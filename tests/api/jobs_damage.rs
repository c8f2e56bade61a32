//! Jobs of which one file is damaged: each route and the command have the right answer or a clear failure, and the job
//! can be deleted.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hyper::Method;
use serde_json::{Value, json};
use taquin::jobs::JobOwner;
use taquin_bulk::{seal, unseal};

use crate::answer::Answer;
use crate::client::{Client, until};
use crate::jobs::{Directory, completed, id, job, recipe, stop};
use crate::question::Question;

/// A job before any damage, and the request that creates it.
struct Template {
    name: &'static str,
    create: Question,
    record: PathBuf,
    folder: PathBuf,
    /// The rows as JSON and CSV, and the first part, if the job is completed.
    results: Option<[Answer; 3]>,
    files: Vec<&'static str>,
}

/// What happens to a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    /// Only so many thousandths are left.
    Truncated(usize),
    /// A bit is flipped, after so many thousandths.
    Flipped(usize),
    Missing,
    Pipe,
    Folder,
    LinkToCopy,
    LinkToDevice,
    LinkToNothing,
}

/// A copy of a template with damage.
struct Case<'t> {
    template: &'t Template,
    file: &'static str,
    damage: Damage,
    key: String,
    id: String,
    folder: PathBuf,
}

const RECORD: &str = "record";
const CSV: &str = "text/csv";
const OF_RECIPE: [&str; 5] = [RECORD, "spec.json", "end.json", "README.md", "parts/0000000000.tqp"];
const OF_INPUT: [&str; 8] = [
    RECORD,
    "spec.json",
    "end.json",
    "README.md",
    "parts/0000000000.tqp",
    "input/0000000000.tqb",
    "input/0000000000.ndjson",
    "input/SHA256SUMS",
];
/// Time of a request or a command in which nothing waits for anything.
const PROMPT: Duration = Duration::from_secs(20);

impl Damage {
    fn all(flips: usize, cuts: usize) -> Vec<Self> {
        let places = |count: usize| (0..count).map(move |place| place * 1000 / count);
        let kinds =
            [Self::Missing, Self::Pipe, Self::Folder, Self::LinkToCopy, Self::LinkToDevice, Self::LinkToNothing];
        let flipped = places(flips).map(Self::Flipped);
        flipped.chain(places(cuts).map(Self::Truncated)).chain(kinds).collect()
    }

    fn apply(self, path: &Path) {
        let mut bytes = fs::read(path).expect("a file");
        fs::remove_file(path).expect("it is removed");
        let place = |thousandths: usize| bytes.len() * thousandths / 1000;
        match self {
            Self::Truncated(at) => fs::write(path, &bytes[..place(at)]).expect("it is written"),
            Self::Flipped(at) => {
                let place = place(at);
                bytes[place] ^= 1 << (at % 8);
                fs::write(path, &bytes).expect("it is written");
            }
            Self::Missing => {}
            Self::Pipe => assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success()),
            Self::Folder => fs::create_dir(path).expect("a folder"),
            Self::LinkToCopy => {
                let copy = path.with_extension("copy");
                fs::write(&copy, &bytes).and_then(|()| symlink(&copy, path)).expect("a link");
            }
            Self::LinkToDevice => symlink("/dev/zero", path).expect("a link"),
            Self::LinkToNothing => symlink("nothing", path).expect("a link"),
        }
    }
}

impl Case<'_> {
    /// Copies the template into a directory, and damages a file of the copy.
    fn create<'t>(directory: &Directory, template: &'t Template, file: &'static str, damage: Damage) -> Case<'t> {
        let key = format!("{} {file} {damage:?}", template.name).replace(' ', "-");
        let id = JobOwner::default().job_of_key(&key).to_string();
        let (name, own) = (template.folder.file_name().expect("a name").to_str().expect("a text"), &id);
        let folder = directory.0.join("data").join(own);
        for below in ["", "parts", "input"].map(Path::new).iter().filter(|below| template.folder.join(below).exists()) {
            fs::create_dir_all(folder.join(below)).expect("a folder");
            for entry in fs::read_dir(template.folder.join(below)).expect("files").map(|entry| entry.expect("a file")) {
                if entry.path().is_file() {
                    fs::copy(entry.path(), folder.join(below).join(entry.file_name())).expect("a copy");
                }
            }
        }
        let record = String::from_utf8(unseal(&fs::read(&template.record).expect("a record")).expect("it is whole"));
        let path = directory.0.join("jobs").join(format!("{id}.json"));
        fs::write(&path, seal(record.expect("a text").replace(name, own).as_bytes())).expect("a record");
        damage.apply(&if file == RECORD { path } else { folder.join(file) });
        Case { template, file, damage, key, id, folder }
    }

    fn path(&self, below: &str) -> String {
        format!("/jobs/{}{below}", self.id)
    }

    /// True if there is no such job any more.
    fn is_gone(&self) -> bool {
        self.file == RECORD && matches!(self.damage, Damage::Missing)
    }

    /// True if the results must fail: the damage is in what they are read from.
    fn fails(&self) -> bool {
        let is_made_again = self.file == "end.json" && matches!(self.damage, Damage::Missing);
        self.file != "README.md" && !is_made_again
    }

    async fn ask(&self, taquin: &Client, question: Question) -> Answer {
        let answer = tokio::time::timeout(PROMPT, taquin.send(question)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{}: no answer", self.key));
        assert!(answer.status < 500, "{}: {answer}", self.key);
        answer
    }

    /// Asks each route.
    async fn check(&self, taquin: &Client, listed: &BTreeSet<String>) {
        assert_eq!(listed.contains(&self.id), !self.is_gone(), "{} is listed", self.key);
        let state = async || self.ask(taquin, Question::get(&self.path(""))).await;
        if self.is_gone() {
            return drop(state().await.problem("not-found"));
        }
        state().await.expect(200);
        if self.template.results.is_some() {
            // One without an end is ended again.
            self.ask(taquin, Question::get(&self.path("")).header("prefer", "wait=60")).await.expect(200);
        }
        if let Some([rows, csv, part]) = &self.template.results {
            let results = || Question::get(&self.path("/results"));
            let read = [Question::get(&self.path("/parts/0")), results().accept(CSV), results()];
            for (question, whole) in read.into_iter().zip([part, csv, rows]) {
                let answer = self.ask(taquin, question).await;
                match answer.status {
                    200 => assert_eq!(answer.body, whole.body, "{}", self.key),
                    _ => drop(answer.problem("not-found")),
                }
            }
            let after = state().await.expect(200).json();
            let reason = after["reason"].as_str().unwrap_or_default();
            let expected = if self.fails() { "failed" } else { "completed" };
            assert_eq!(
                (&after["state"], reason.is_empty()),
                (&json!(expected), !self.fails()),
                "{}: {after}",
                self.key
            );
            if self.fails() {
                let problem = self.ask(taquin, results()).await.problem("not-found");
                assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(reason)), "{problem}");
            }
            let events = self.ask(taquin, Question::get(&self.path("/events"))).await.expect(200);
            assert!(events.text().contains(expected), "{events}");
        }
        let again = self.template.create.clone().header("idempotency-key", &self.key);
        let again = self.ask(taquin, again).await;
        assert_eq!(id(&again.expect(202).json()), self.id);
        self.delete(taquin).await;
    }

    /// Cancels the job if it has not ended, and deletes it.
    async fn delete(&self, taquin: &Client) {
        for attempt in 0.. {
            match self.ask(taquin, Question::new(Method::DELETE, &self.path(""))).await.status {
                204 => break,
                status => assert!(status == 200 && attempt == 0, "{}: {status}", self.key),
            }
        }
        self.ask(taquin, Question::get(&self.path(""))).await.problem("not-found");
        // A slice of a running job may store a part meanwhile; then the folder is removed at the next start.
        if self.template.results.is_some() {
            until("the files are gone", async || !self.folder.exists()).await;
        }
    }

    /// The command ends, and exports the right rows.
    fn check_command(&self, scratch: &Path) {
        let output = scratch.join("rows.csv");
        let run = |arguments: &[&str]| {
            let begun = Instant::now();
            let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
            let memory = format!("ulimit -v {}; exec \"$0\" \"$@\"", 8 << 20);
            let command = command.args(["batch", "--tables", "small"]).args(arguments).args([&self.folder]);
            let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            let ran = Command::new("timeout")
                .args(["60", "sh", "-c", &memory, env!("CARGO_BIN_EXE_taquin")])
                .args(arguments)
                .output()
                .expect("it runs");
            let text = String::from_utf8_lossy(&ran.stderr).into_owned();
            assert!(begun.elapsed() < Duration::from_secs(50), "{}: {text}", self.key);
            assert!(matches!(ran.status.code(), Some(0 | 1 | 3)), "{}: {:?} {text}", self.key, ran.status);
            assert!(!text.contains("panicked"), "{}: {text}", self.key);
            ran.status.code() == Some(0)
        };
        let is_verified = run(&["--sample", "5", "--verify"]);
        // The service alone reads records.
        let is_damaged = !matches!(self.file, RECORD | "README.md");
        let is_completed = self.template.results.is_some();
        assert_eq!(is_verified, is_completed && !is_damaged, "{} is verified", self.key);
        let _ = fs::remove_file(&output);
        run(&["-o", output.to_str().expect("a text")]);
        if let (Ok(written), Some([_, csv, _])) = (fs::read(&output), &self.template.results)
            && matches!(self.file, RECORD | "README.md")
        {
            assert_eq!(written, csv.body, "{}", self.key);
        }
    }
}

/// Lines of which every fifth is no board.
fn upload(boards: &[String]) -> String {
    let line = |(at, board): (usize, &String)| if at % 5 == 4 { "1 2 3\n".to_owned() } else { format!("{board}\n") };
    boards.iter().enumerate().map(line).collect()
}

/// Makes the jobs that are damaged, and stops their service.
async fn templates(directory: &Directory) -> Vec<Template> {
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let mut drawn: Vec<(Vec<String>, u64)> = Vec::new();
    for (size, count) in [(3, 40), (5, 20)] {
        let mut boards = Vec::new();
        for seed in 0..count {
            let drawn = taquin.get(&format!("/random?rows={size}&cols={size}&seed={seed}")).await.expect(200).json();
            boards.push(drawn["board"].to_string());
        }
        drawn.push((boards, size));
    }
    let endless = "/jobs?limits.expanded=30000&limits.time_ms=60000";
    let many: Vec<String> = drawn[1].0.iter().cycle().take(1000).cloned().collect();
    let mut endless_recipe = recipe(5, 5, 2000);
    endless_recipe["limits"] = json!({ "expanded": 30_000, "time_ms": 60_000 });
    let rows = |target: &str, boards: &[String]| Question::post(target).body("application/x-ndjson", upload(boards));
    let jobs = [
        ("recipe", Question::post("/jobs").json(&recipe(3, 3, 200)), true),
        ("upload", rows("/jobs", &drawn[0].0), true),
        ("running recipe", Question::post("/jobs").json(&endless_recipe), false),
        ("running upload", rows(endless, &many), false),
    ];
    let mut templates = Vec::new();
    for (name, create, is_completed) in jobs {
        let created = taquin.send(create.clone()).await.expect(202).json();
        let first = directory.job(&created).join("parts/0000000000.tqp");
        let results = if is_completed {
            completed(&taquin, &created).await;
            let results = Question::get(&format!("/jobs/{}/results", id(&created)));
            let part = Question::get(&format!("/jobs/{}/parts/0", id(&created)));
            let of = async |question: Question| taquin.send(question).await.expect(200);
            Some([of(results.clone()).await, of(results.accept(CSV)).await, of(part).await])
        } else {
            until("the first part is there", async || first.exists()).await;
            None
        };
        let files: &[&str] = if name.ends_with("upload") { &OF_INPUT } else { &OF_RECIPE };
        let folder = directory.job(&created);
        let record = directory.0.join("jobs").join(format!("{}.json", id(&created)));
        let files = files.to_vec();
        templates.push(Template { name, create, record, folder, results, files });
    }
    stop(service).await;
    for template in &mut templates {
        template.files.retain(|file| *file == RECORD || template.folder.join(file).exists());
    }
    templates
}

/// The ids of all jobs.
async fn listed(taquin: &Client) -> BTreeSet<String> {
    let (mut ids, mut next) = (BTreeSet::new(), String::new());
    loop {
        let page = taquin.get(&format!("/jobs?limit=100{next}")).await.expect(200).json();
        ids.extend(page["jobs"].as_array().expect("jobs").iter().map(|job| id(job).to_owned()));
        match &page["next"] {
            Value::String(cursor) => next = format!("&cursor={cursor}"),
            _ => return ids,
        }
    }
}

/// Damages each file of each job in each way, and asks all routes and the command.
async fn each_damage(name: &str, flips: usize, cuts: usize, with_command: impl Fn(usize) -> bool) {
    let (source, scratch) = (Directory::new(&format!("{name}-source")), Directory::new(&format!("{name}-scratch")));
    fs::create_dir_all(&scratch.0).expect("a directory");
    let templates = templates(&source).await;
    for template in &templates {
        let directory = Directory::new(&format!("{name}-{}", template.name.replace(' ', "-")));
        fs::create_dir_all(directory.0.join("jobs")).expect("a directory");
        let damages = Damage::all(flips, cuts);
        let each = template.files.iter().flat_map(|file| damages.iter().map(move |damage| (*file, *damage)));
        let cases: Vec<Case<'_>> =
            each.map(|(file, damage)| Case::create(&directory, template, file, damage)).collect();
        for (_, case) in cases.iter().enumerate().filter(|(number, _)| with_command(*number)) {
            case.check_command(&scratch.0);
        }
        let service = directory.start(&["--max-jobs", "100000"]).await;
        let taquin = service.client();
        let listed = listed(&taquin).await;
        for case in &cases {
            case.check(&taquin, &listed).await;
        }
        taquin.get("/jobs").await.expect(200);
        stop(service).await;
    }
}

#[tokio::test]
async fn a_job_with_a_damaged_file_fails_clearly_and_can_be_deleted() {
    each_damage("damage", 3, 2, |number| number % 4 == 0).await;
}

#[tokio::test]
#[ignore = "thousands of damaged jobs: some minutes"]
async fn a_job_with_a_file_damaged_anywhere_fails_clearly_and_can_be_deleted() {
    each_damage("all-damage", 200, 40, |_| true).await;
}

#[tokio::test]
async fn a_running_job_whose_files_are_damaged_fails_when_they_are_read() {
    let directory = Directory::new("damage-running");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let body = upload(&vec!["867254301".to_owned(); 50]);
    let created = taquin.send(Question::post("/jobs").body("application/x-ndjson", body)).await.expect(202).json();
    completed(&taquin, &created).await;
    Damage::Flipped(500).apply(&directory.job(&created).join("input/0000000000.ndjson"));
    let results = || Question::get(&format!("/jobs/{}/results", id(&created)));
    // CSV has no problems.
    taquin.send(results().accept(CSV)).await.expect(200);
    taquin.send(results()).await.problem("not-found");
    let failed = job(&taquin, &created).await;
    assert!(failed["reason"].as_str().is_some_and(|reason| reason.contains("0000000000.ndjson")), "{failed}");
    taquin.send(results().accept(CSV)).await.problem("not-found");
}

#[tokio::test]
async fn a_file_of_another_input_of_the_same_shape_is_damage() {
    let directory = Directory::new("damage-exchanged");
    let service = directory.start(&[]).await;
    let taquin = service.client();
    let create = async |board: &str, fault: &str| {
        let body = upload(&vec![board.to_owned(); 50]).replace("1 2 3\n", fault);
        let created = taquin.send(Question::post("/jobs").body("application/x-ndjson", body)).await.expect(202).json();
        completed(&taquin, &created).await
    };
    // Both boards need 31 moves, and the same rows are at fault, with texts of one length.
    let other = create("647850321", "1 2\n").await;
    for (file, is_for_csv) in [("0000000000.tqb", true), ("0000000000.ndjson", false), ("SHA256SUMS", true)] {
        let own = create("867254301", "1 2 3\n").await;
        let folder = directory.job(&own);
        let [own_file, others] = [&folder, &directory.job(&other)].map(|folder| folder.join("input").join(file));
        assert_eq!(fs::metadata(&own_file).expect("a file").len(), fs::metadata(&others).expect("a file").len());
        fs::copy(&others, &own_file).expect("a copy");
        let results = || Question::get(&format!("/jobs/{}/results", id(&own)));
        let csv = taquin.send(results().accept(CSV)).await;
        assert_eq!(csv.status, if is_for_csv { 404 } else { 200 }, "{file}: {csv}");
        taquin.send(results()).await.problem("not-found");
        let failed = job(&taquin, &own).await;
        assert_eq!(failed["state"], "failed", "{file}: {failed}");
        assert!(failed["reason"].as_str().is_some_and(|reason| reason.contains(file)), "{failed}");
        for (arguments, code) in [(&["--sample=0", "--verify"][..], 3), (&[], 1)] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
            let ran = command.args(["batch", "--tables=small"]).args(arguments).arg(&folder).output().expect("it runs");
            let text = String::from_utf8_lossy(&ran.stderr);
            assert!(ran.status.code() == Some(code) && text.contains(file), "{file}: {:?} {text}", ran.status);
        }
    }
}
