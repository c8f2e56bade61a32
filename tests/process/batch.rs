//! `taquin batch` as a process: kills, a full disk, signals, shares, damaged files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::chaos::boards::Random;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_taquin");

/// An empty directory, removed when dropped.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taquin-batch-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn command(arguments: &str) -> Command {
    let mut command = Command::new(BINARY);
    command.arg("batch").args(["--tables", "small"]).args(arguments.split_whitespace());
    command
}

pub(crate) fn batch(arguments: &str) -> Output {
    command(arguments).output().expect("the binary runs")
}

pub(crate) fn start(arguments: &str) -> Child {
    command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the binary runs")
}

pub(crate) fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn assert_clean(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(output));
}

/// The files of a directory and of its folders, by name.
pub(crate) fn files(path: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in [PathBuf::from(path), Path::new(path).join("parts")] {
        let entries = fs::read_dir(folder).into_iter().flatten().map(Result::unwrap);
        for entry in entries.filter(|entry| entry.path().is_file()) {
            files.insert(
                entry.path().strip_prefix(path).unwrap().display().to_string(),
                fs::read(entry.path()).unwrap(),
            );
        }
    }
    files
}

pub(crate) fn count_parts(path: &str) -> usize {
    let Ok(entries) = fs::read_dir(Path::new(path).join("parts")) else { return 0 };
    entries
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "tqp"))
        .count()
}

/// Waits until a job has so many parts.
fn wait_for_parts(path: &str, parts: usize) {
    while count_parts(path) < parts {
        sleep(Duration::from_millis(1));
    }
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

const BOARDS: &str = "--random 3x4 --count 6000 --seed kill --chunk 100";

#[test]
fn a_job_that_is_killed_again_and_again_ends_with_the_same_files() {
    let scratch = Scratch::new("kill");
    let (whole, killed) = (scratch.path("whole"), scratch.path("killed"));
    assert_clean(&batch(&format!("{BOARDS} -o {whole}")));
    let mut random = Random(7);
    let mut kills = 0;
    while kills < 8 && count_parts(&killed) < 60 {
        let before = count_parts(&killed);
        let mut child = start(&format!("{BOARDS} -o {killed}"));
        // At any moment of the work on the next parts.
        wait_for_parts(&killed, (before + random.below(6)).min(60));
        sleep(Duration::from_micros(random.below(20_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
    let last = batch(&format!("{BOARDS} -o {killed}"));
    assert_clean(&last);
    assert!(stderr_of(&last).contains("were there before"), "{}", stderr_of(&last));
    assert_eq!(files(&killed), files(&whole), "after {kills} kills");
    assert_eq!(count_parts(&killed), 60);
    assert_clean(&batch(&format!("--verify {killed} --sample 100")));
}

#[test]
fn shares_of_several_processes_make_one_job() {
    let scratch = Scratch::new("shares");
    let (whole, shared) = (scratch.path("whole"), scratch.path("shared"));
    assert_clean(&batch(&format!("{BOARDS} -o {whole}")));
    // Two processes have the same share.
    let shares = ["0/3", "1/3", "2/3", "2/3"].map(|share| start(&format!("{BOARDS} -o {shared} --shard {share}")));
    for share in shares {
        assert_clean(&share.wait_with_output().unwrap());
    }
    assert_eq!(files(&shared), files(&whole));
    assert!(files(&shared).contains_key("end.json") && files(&shared).contains_key("README.md"));
}

#[test]
fn signals_end_a_job_with_the_command_that_goes_on() {
    let scratch = Scratch::new("signals");
    let directory = scratch.path("job");
    let boards = "--random 4x4 --count 1000000 --seed s --chunk 2";
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let parts = count_parts(&directory);
        let child = start(&format!("{boards} -o {directory}"));
        wait_for_parts(&directory, parts + 1);
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", stderr_of(&output));
        let expected = format!("taquin: to go on: {BINARY} batch --tables small {boards} -o {directory}\n");
        assert!(stderr_of(&output).ends_with(&expected), "{}", stderr_of(&output));
    }
    assert!(!Path::new(&directory).join("end.json").exists());
    let lines = scratch.path("lines.csv");
    let child = start(&format!("--random 4x4 --count 1000000 --seed s -o {lines}"));
    sleep(Duration::from_millis(500));
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr_of(&output));
    assert!(stderr_of(&output).ends_with("lines.csv --resume\n"), "{}", stderr_of(&output));
}

#[test]
fn a_directory_has_the_labels_that_are_written_as_lines() {
    let scratch = Scratch::new("export");
    let directory = scratch.path("job");
    for want in ["length", "moves", "next", "bounds", "expanded"] {
        let boards = format!("--random 3x4 --count 300 --seed {want} --want {want}");
        assert_clean(&batch(&format!("{boards} -o {directory}/{want}/")));
        for format in ["ndjson", "csv"] {
            let lines = batch(&format!("{boards} --format {format}"));
            let export = batch(&format!("{directory}/{want} --format {format}"));
            assert_clean(&lines);
            assert_clean(&export);
            assert_eq!(lines.stdout, export.stdout, "{want} as {format}");
            assert_eq!(lines.stdout.split(|byte| *byte == b'\n').count(), 301 + usize::from(format == "csv"));
        }
        assert_clean(&batch(&format!("--verify {directory}/{want} --sample 50")));
    }
}

#[test]
fn damage_and_other_jobs_are_found() {
    let scratch = Scratch::new("damage");
    let directory = scratch.path("job");
    let boards = "--random 3x3 --count 1000 --seed s";
    assert_clean(&batch(&format!("{boards} --chunk 100 -o {directory}")));
    let refused = |arguments: &str, code: i32, reason: &str| {
        let output = batch(arguments);
        assert_eq!(output.status.code(), Some(code), "{}", stderr_of(&output));
        assert!(stderr_of(&output).contains(reason), "{reason}: {}", stderr_of(&output));
    };
    refused(&format!("--random 3x3 --count 1000 --seed t -o {directory}"), 1, "another job: its `seed` differs");
    refused(&format!("{boards} --want next -o {directory}"), 1, "another job: its `want` differs");
    refused(&format!("{boards} --chunk 50 -o {directory}"), 1, "chunks of 100 boards: omit --chunk");
    refused(&format!("--verify {directory}/no"), 1, "has no job");
    refused(&format!("{directory}/no --format csv"), 2, "there is no such file");
    refused(&format!("{directory}/parts --format csv"), 1, "has no job");
    // A wrong label with sound checksums: the part of another seed, and one of its own with other bytes.
    let part = format!("{directory}/parts/0000000003.tqp");
    let original = fs::read(&part).unwrap();
    let mut changed = original.clone();
    *changed.last_mut().unwrap() ^= 1;
    fs::write(&part, &changed).unwrap();
    refused(&format!("--verify {directory}"), 3, "the checksum of column 2 differs; remove the file");
    refused(&format!("{directory} --format csv"), 1, "the checksum of column 2 differs");
    let other = scratch.path("other");
    assert_clean(&batch(&format!("--random 3x3 --count 1000 --seed t --chunk 100 -o {other}")));
    fs::copy(format!("{other}/parts/0000000003.tqp"), &part).unwrap();
    refused(&format!("--verify {directory}"), 3, "the columns do not fit the job");
    // Without it, the job goes on.
    fs::remove_file(&part).unwrap();
    refused(&format!("--verify {directory}"), 3, "1 part is missing");
    refused(&format!("{directory} --format csv"), 1, "lacks 1 of 10 parts");
    assert_clean(&batch(&format!("{boards} -o {directory}")));
    assert_eq!(fs::read(&part).unwrap(), original);
    assert_clean(&batch(&format!("--verify {directory}")));
}

/// A job on a disk that is too small for it, then again with room, then a check.
const FULL_DISK: &str = r#"
mount -t tmpfs -o size=300k none "$0" || exit 99
"$@"; echo "code $?" >&2
find "$0" -name '*.tmp' >&2
mount -o remount,size=4m "$0" || exit 99
"$@"; echo "code $?" >&2
"$1" batch --verify "$0/job"; echo "code $?" >&2
"#;

#[test]
fn a_full_disk_ends_a_job_which_goes_on_when_there_is_room() {
    let can = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: no namespace to mount a disk in");
        return;
    }
    let scratch = Scratch::new("disk");
    let directory = scratch.path("job");
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", FULL_DISK, scratch.0.to_str().unwrap(), BINARY, "batch", "--tables", "small"]);
    command.args("--random 3x3 --count 1000000 --seed s --chunk 10000 -o".split(' ')).arg(&directory);
    let output = command.output().unwrap();
    let messages = stderr_of(&output);
    let [full, whole, verified, _] = messages.split("code ").collect::<Vec<_>>()[..] else { panic!("{messages}") };
    assert!(full.contains("No space left on device") && full.contains("to go on, once there is room: "), "{messages}");
    assert!(whole.starts_with("1\n") && whole.contains("is complete: 100 parts"), "{messages}");
    assert!(!whole.contains(".tmp"), "no temporary file is left: {messages}");
    assert!(verified.starts_with("0\n") && verified.contains("nothing is wrong"), "{messages}");
}

#[test]
fn a_closed_pipe_ends_quietly_and_wrong_arguments_are_reported_together() {
    let mut child = command("--random 3x3 --count 1000000 --seed s").stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(141));
    let output = batch("--random 1x3 --count x --seed s -o a.csv --chunk 5");
    assert_eq!(output.status.code(), Some(2));
    let lines: Vec<_> = stderr_of(&output).lines().map(|line| line.split(':').nth(1).unwrap().to_owned()).collect();
    assert_eq!(lines, [" --chunk", " --random", " --count"]);
}

/// Runs a batch with this text as its standard input.
pub(crate) fn piped(arguments: &str, input: &[u8]) -> Output {
    use std::io::Write;
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The batch may end before it has read all.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

pub(crate) fn json_lines(output: &[u8]) -> Vec<serde_json::Value> {
    let text = std::str::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn rows_of_a_file_a_pipe_and_a_recipe_have_equal_labels() {
    let scratch = Scratch::new("rows");
    let (ndjson, csv) = (scratch.path("boards.ndjson"), scratch.path("boards.csv"));
    for want in ["length", "moves", "next", "bounds", "expanded"] {
        let recipe = format!("--random 3x4 --count 400 --seed s --want {want}");
        assert_clean(&batch(&format!("{recipe} -o {ndjson} --overwrite")));
        let expected = json_lines(&fs::read(&ndjson).unwrap());
        let boards: String = expected.iter().map(|row| format!("{}\n", row["board"])).collect();
        let output = piped(&format!("- --want {want}"), boards.as_bytes());
        assert_clean(&output);
        let rows = json_lines(&output.stdout);
        assert_eq!(rows.len(), expected.len());
        for (at, (row, expected)) in rows.iter().zip(&expected).enumerate() {
            let mut row = row.clone();
            let members = row.as_object_mut().unwrap();
            assert_eq!(members.remove("line").unwrap(), at + 1);
            members.insert("index".to_owned(), at.into());
            members.insert("board".to_owned(), expected["board"].clone());
            assert_eq!(row, *expected, "{want}");
        }
        // As CSV, whose lines are read again.
        assert_clean(&batch(&format!("{recipe} -o {csv} --overwrite")));
        let again = scratch.path("again.csv");
        assert_clean(&batch(&format!("{csv} --size 3x4 --want {want} -o {again} --overwrite")));
        assert_eq!(fs::read(&again).unwrap(), fs::read(&csv).unwrap(), "{want}");
    }
}

#[test]
fn a_faulty_row_is_a_row_with_its_problem() {
    let scratch = Scratch::new("faulty");
    let lines = [
        r#"{"id":"a","board":[[1,2],[3,0]]}"#,
        "[[2,1],[3,0]]",
        "",
        r#"{"id":4,"board":"#,
        "[[1,2,3],[4,5,6],[7,0,8]]",
        "\u{fffd}",
        r#"{"id":"ü","board":[[1,2],[3,3]]}"#,
        "1230",
    ];
    let mut input = lines.join("\n").into_bytes();
    input.extend(b"\n\xff\xfe\n");
    let output = piped("-", &input);
    assert_eq!(output.status.code(), Some(3), "{}", stderr_of(&output));
    let rows = json_lines(&output.stdout);
    let seen: Vec<_> = rows.iter().map(|row| (row["line"].as_u64().unwrap(), row["length"].as_u64())).collect();
    let expected = [(1, Some(0)), (2, None), (4, None), (5, Some(1)), (6, None), (7, None), (8, Some(0)), (9, None)];
    assert_eq!(seen, expected);
    assert_eq!((&rows[0]["id"], &rows[5]["id"]), (&"a".into(), &"ü".into()));
    let slugs: Vec<_> = rows.iter().filter_map(|row| row["problem"]["type"].as_str()).collect();
    let problems = ["unsolvable", "malformed-json", "invalid-board", "invalid-board", "malformed-json"];
    assert_eq!(slugs, problems.map(|slug| format!("/problems/{slug}")));
    // CSV has no place for problems.
    let csv = scratch.path("labels.csv");
    let output = piped(&format!("- -o {csv}"), &input);
    assert_eq!(output.status.code(), Some(3), "{}", stderr_of(&output));
    let text = fs::read_to_string(&csv).unwrap();
    let expected = "0,1,2,3,cost\n1,2,3,0,0\n,,,,\n,,,,\n,,,,\n,,,,\n,,,,\n1,2,3,0,0\n,,,,\n";
    assert_eq!(text, expected, "a board of another size is a problem too");
    let problems = json_lines(&fs::read(format!("{csv}.problems.ndjson")).unwrap());
    let numbers: Vec<_> = problems.iter().map(|row| row["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [2, 4, 5, 6, 7, 9]);
    // A strict batch ends at the first one.
    let output = piped("- --strict", &input);
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr_of(&output).contains("standard input, line 2: This board cannot reach the goal"),
        "{}",
        stderr_of(&output)
    );
    assert_eq!(json_lines(&output.stdout).len(), 1);
    let output = piped("- --strict", b"{\"bord\":1,\"board\":2}\n");
    let expected = "line 1: The line has 2 errors. /bord: there is no field `bord`";
    assert!(stderr_of(&output).contains(expected), "{}", stderr_of(&output));
}

#[test]
fn a_directory_stores_the_rows_of_a_file() {
    let scratch = Scratch::new("stored-rows");
    let (input, directory) = (scratch.path("boards.ndjson"), scratch.path("job"));
    assert_clean(&batch(&format!("--random 3x4 --count 500 --seed s -o {input}")));
    let text = fs::read_to_string(&input).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[7] = "[[2,1],[3,0]]";
    lines[123] = "what";
    let rows: String = lines.iter().map(|line| format!("{}\n", line.split(",\"length\"").next().unwrap())).collect();
    let rows = rows.replace("{\"index\":", "{\"id\":").replace("]]\n", "]]}\n").replace("[[2,1],[3,0]]}", lines[7]);
    fs::write(&input, &rows).unwrap();
    let command = format!("{input} -o {directory} --chunk 50");
    let output = batch(&command);
    assert_eq!(output.status.code(), Some(3), "{}", stderr_of(&output));
    let mut problems = json_lines(&fs::read(format!("{directory}/input/0000000000.ndjson")).unwrap());
    assert!(problems.pop().unwrap()["sha256"].is_string(), "the last line is the checksum");
    let numbers: Vec<_> = problems.iter().map(|row| (row["index"].as_u64(), row["line"].as_u64())).collect();
    assert_eq!(numbers, [(Some(7), Some(8)), (Some(123), Some(124))]);
    let export = batch(&directory);
    assert_eq!(export.status.code(), Some(3));
    for (row, line) in json_lines(&export.stdout).iter().zip(text.lines()) {
        let expected: serde_json::Value = serde_json::from_str(line).unwrap();
        match row["index"].as_u64().unwrap() {
            7 | 123 => assert_eq!((&row["status"], row.get("board")), (&422.into(), None)),
            _ => assert_eq!(*row, expected),
        }
    }
    assert_clean(&batch(&format!("--verify {directory} --sample 500")));
    assert_eq!(batch(&command).status.code(), Some(3), "the same command ends in the same way");
    // The job goes on with its own input alone.
    let part = format!("{directory}/parts/0000000002.tqp");
    let original = fs::read(&part).unwrap();
    fs::remove_file(&part).unwrap();
    fs::remove_file(format!("{directory}/end.json")).unwrap();
    fs::write(&input, rows.replacen("1", "2", 1)).unwrap();
    let other = batch(&command);
    assert_eq!(other.status.code(), Some(1), "{}", stderr_of(&other));
    assert!(stderr_of(&other).contains("a part of another input"), "{}", stderr_of(&other));
    fs::write(&input, &rows).unwrap();
    assert_eq!(batch(&command).status.code(), Some(3));
    assert_eq!(fs::read(&part).unwrap(), original);
}

#[test]
fn what_an_interrupted_reader_of_an_input_left_is_replaced() {
    let scratch = Scratch::new("interrupted-input");
    let board = |row: usize| if row % 10 == 9 { "what\n" } else { "867254301\n" };
    let rows = |range: std::ops::Range<usize>| range.map(board).collect::<String>();
    let input = scratch.path("in.ndjson");
    fs::write(&input, rows(0..200)).unwrap();
    // One half of a part of problems, and of two: with another fault, and with other rows at fault.
    let (half, other, more) = (rows(0..100), rows(0..100).replace("what", "that"), rows(3..9_000));
    for (number, begin) in [half, other, more].into_iter().enumerate() {
        let directory = scratch.path(&format!("job{number}"));
        let mut child = command(&format!("- -o {directory}"));
        let child = child.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("the binary runs");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(begin.as_bytes()).unwrap();
        sleep(Duration::from_secs(1));
        signal(&child, "INT");
        sleep(Duration::from_millis(200));
        drop(stdin);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", stderr_of(&ended));
        assert!(!stderr_of(&ended).contains("faulty row"), "they are not all stored: {}", stderr_of(&ended));
        let whole = batch(&format!("{input} -o {directory}"));
        assert_eq!(whole.status.code(), Some(3), "{}", stderr_of(&whole));
        let export = batch(&directory);
        assert_eq!((export.status.code(), json_lines(&export.stdout).len()), (Some(3), 200), "{}", stderr_of(&export));
        assert_clean(&batch(&format!("--verify {directory} --sample 200")));
    }
}

/// Names of the files of a directory, in order; none if there is no directory.
pub(crate) fn files_at(path: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(path) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_equal_bytes_from_a_recipe_and_from_a_job() {
    let scratch = Scratch::new("parquet");
    let (job, data) = (scratch.path("job"), scratch.path("data"));
    let (one, other) = (scratch.path("one.parquet"), scratch.path("other.parquet"));
    let boards = "--random 3x4 --count 3000 --seed s --want next";
    assert_clean(&batch(&format!("{boards} --chunk 70 -o {job}/")));
    let written = batch(&format!("{boards} --format parquet"));
    assert_clean(&written);
    assert!(written.stdout.starts_with(b"PAR1") && written.stdout.ends_with(b"PAR1"));
    for overwrite in ["", "--overwrite"] {
        assert_clean(&batch(&format!("{boards} -o {one} {overwrite}")));
        assert_eq!(fs::read(&one).unwrap(), written.stdout);
    }
    let refused = batch(&format!("{boards} -o {one}"));
    assert_eq!(refused.status.code(), Some(1), "{}", stderr_of(&refused));
    assert!(stderr_of(&refused).contains("--overwrite replaces it"), "{}", stderr_of(&refused));
    assert_clean(&batch(&format!("{job} -o {other}")));
    assert_eq!(fs::read(&other).unwrap(), written.stdout);
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["job", "one.parquet", "other.parquet"]);
    assert_clean(&batch(&format!("{job} --format parquet -o {data}")));
    let names: Vec<_> = files_at(&data);
    assert_eq!(names, ["README.md", "data-00000-of-00001.parquet"]);
    assert_eq!(fs::read(format!("{data}/{}", names[1])).unwrap(), written.stdout);
    let card = fs::read_to_string(format!("{data}/README.md")).unwrap();
    assert!(card.contains("  data_files: data-*.parquet\n") && card.contains("- Boards: 3000, of which 0 failed."));
    let again = batch(&format!("{job} --format parquet -o {data}"));
    assert_eq!(again.status.code(), Some(1));
    assert!(stderr_of(&again).contains("it has a data set: name another directory"), "{}", stderr_of(&again));
    assert_clean(&batch(&format!("{boards} --format parquet -o /dev/null")));
    assert!(!fs::metadata("/dev/null").unwrap().is_file(), "a device is written to, and not replaced");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_that_is_interrupted_leaves_no_file() {
    let scratch = Scratch::new("interrupted");
    for output in ["one.parquet", "data/"] {
        let child =
            start(&format!("--random 4x4 --count 1000000 --seed s --format parquet -o {}", scratch.path(output)));
        while files_at(scratch.0.join(output).parent().unwrap().to_str().unwrap()).is_empty() {
            sleep(Duration::from_millis(5));
        }
        sleep(Duration::from_millis(300));
        signal(&child, "TERM");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(143), "{}", stderr_of(&output));
    }
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["data"]);
    assert!(files_at(&scratch.path("data")).is_empty());
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let scratch = Scratch::new("none");
    let output = batch(&format!("--random 3x3 --count 10 --seed s -o {}", scratch.path("a.parquet")));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("this build has no Parquet: build with `--features parquet`"));
    assert!(files_at(scratch.0.to_str().unwrap()).is_empty());
}

#[cfg(feature = "parquet")]
#[test]
fn rows_of_a_file_become_parquet_with_ids_and_problems() {
    let scratch = Scratch::new("parquet-rows");
    let output = scratch.path("labels.parquet");
    let rows = "{\"id\":\"a\",\"board\":[[1,2],[3,0]]}\n[[2,1],[3,0]]\n\n{\"id\":7,\"board\":\"1 2/0 3\"}\n[[1,2,3],[4,5,0]]\n";
    let written = piped(&format!("- -o {output}"), rows.as_bytes());
    assert_eq!(written.status.code(), Some(3), "{}", stderr_of(&written));
    let bytes = fs::read(&output).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let strict = piped(&format!("- -o {output} --strict --overwrite"), rows.as_bytes());
    assert_eq!(strict.status.code(), Some(3));
    assert_eq!(fs::read(&output).unwrap(), bytes, "a file that is not whole replaces none");
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["labels.parquet"]);
}
