//! Single files that `taquin batch` writes: the files that they replace, and the rest and restart of a killed run.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::batch::{
    BINARY, Scratch, assert_clean, batch, command, files, files_at, json_lines, piped, signal, start, stderr_of,
};
use super::chaos::boards::Random;

/// Checks that a batch fails, and says why.
fn refused(output: &Output, code: i32, reason: &str) {
    let message = stderr_of(output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.contains(reason), "{reason:?} is not in {message:?}");
}

/// Lines of 4×4 boards with ids, of which some are faulty, and some are blank.
fn input_of(rows: u64) -> String {
    let boards = batch(&format!("--random 4x4 --count {rows} --seed input --want bounds"));
    let row = |(at, row): (usize, serde_json::Value)| match at % 50 {
        7 => "what\n".to_owned(),
        9 => format!("{{\"id\":{at},\"board\":[[2,1],[3,0]]}}\n\n"),
        _ => format!("{{\"id\":{at},\"board\":{}}}\n", row["board"]),
    };
    json_lines(&boards.stdout).into_iter().enumerate().map(row).collect()
}

#[test]
fn an_output_that_is_an_input_is_refused_before_a_byte_is_written() {
    let scratch = Scratch::new("same");
    let input = scratch.path("in.ndjson");
    let text = "867254301\n123456708\n";
    fs::write(&input, text).unwrap();
    let (link, hard) = (scratch.path("link.csv"), scratch.path("hard.csv"));
    symlink(&input, &link).unwrap();
    fs::hard_link(&input, &hard).unwrap();
    let dotted = scratch.path("./../x/in.ndjson").replace("x/in", &format!("{}/in", file_name(&scratch.0)));
    for output in [&input, &link, &hard, &dotted] {
        for flag in ["", "--overwrite", "--resume"] {
            refused(&batch(&format!("{input} -o {output} {flag}")), 2, "is the input");
            refused(&batch(&format!("{link} -o {output} {flag}")), 2, "is the input");
        }
    }
    // The standard input and output, by their own names and as one file.
    let open = || File::options().read(true).append(true).open(&input).unwrap();
    for arguments in ["-".to_owned(), format!("- -o {hard}"), format!("{input} -o /dev/stdout")] {
        let mut run = command(&arguments);
        let output = run.stdin(open()).stdout(open()).stderr(Stdio::piped()).spawn().unwrap().wait_with_output();
        refused(&output.unwrap(), 2, "is the input");
    }
    // The files beside the output are outputs too.
    let (csv, problems) = (scratch.path("out.csv"), scratch.path("out.csv.problems.ndjson"));
    fs::hard_link(&input, &problems).unwrap();
    refused(&batch(&format!("{problems} -o {csv} --overwrite")), 2, "is the input");
    refused(&batch(&format!("{input} -o {csv} --overwrite")), 2, "is the input");
    for path in [&input, &problems] {
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    assert_eq!(files_at(scratch.0.to_str().unwrap()).len(), 4, "nothing else was written");
    // The files of a job.
    let job = scratch.path("job");
    assert_clean(&batch(&format!("--random 3x3 --count 9 --seed s -o {job}/")));
    let before = files(&job);
    let job_link = scratch.path("job-link");
    symlink(&job, &job_link).unwrap();
    for output in ["parts/0000000000.tqp", "spec.json", "end.json", "lock", "damaged.json", "new.csv", "parts/new"] {
        for (job, to) in [(&job, &job), (&job, &job_link), (&job_link, &job)] {
            refused(&batch(&format!("{job} --format csv --overwrite -o {to}/{output}")), 2, "a file of the job");
        }
    }
    for output in ["", "parts", "input/new"] {
        refused(&batch(&format!("{job} --format parquet -o {job}/{output}")), 2, "a file of the job");
    }
    // The standard output, also by another name of a file.
    let hard = scratch.path("part");
    fs::hard_link(format!("{job}/parts/0000000000.tqp"), &hard).unwrap();
    for output in [format!("{job}/spec.json"), format!("{job}/parts/0000000000.tqp"), format!("{job}/README.md"), hard]
    {
        for arguments in [format!("{job} --format csv"), format!("{job_link} --format ndjson -o /dev/stdout")] {
            let open = File::options().append(true).open(&output).unwrap();
            let run = command(&arguments).stdout(open).stderr(Stdio::piped()).spawn().unwrap();
            refused(&run.wait_with_output().unwrap(), 2, "a file of the job");
        }
    }
    assert_eq!(files(&job), before);
}

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[test]
fn an_output_that_no_file_can_be_is_refused_before_a_row_is_labelled() {
    let scratch = Scratch::new("names");
    let (input, folder) = (scratch.path("in.ndjson"), scratch.path("folder"));
    fs::write(&input, "867254301\n").unwrap();
    fs::create_dir(&folder).unwrap();
    let (dangling, deep, looping) = (scratch.path("dangling.csv"), scratch.path("deep.csv"), scratch.path("loop.csv"));
    symlink("nothing.csv", &dangling).unwrap();
    symlink("nowhere/x.csv", &deep).unwrap();
    symlink("loop.csv", &looping).unwrap();
    let before = files_at(scratch.0.to_str().unwrap());
    for overwrite in ["", "--overwrite"] {
        for (output, reason) in [
            (format!("{folder}/"), "is a directory: name a file"),
            (folder.clone(), "is a directory: name a file"),
            (scratch.path("new/"), "is a directory: name a file"),
            (dangling.clone(), "leads to no file"),
            (deep.clone(), "leads to no file"),
            (looping.clone(), "leads to no file"),
        ] {
            for boards in [input.as_str(), "--random 3x3 --count 5 --seed s"] {
                refused(&batch(&format!("{boards} -o {output} --format csv {overwrite}")), 2, reason);
            }
        }
        for format in [&["--format", "csv"][..], &[]] {
            let mut run = Command::new(BINARY);
            run.current_dir(&scratch.0).args(["batch", &input, "-o", ""]).args(format);
            refused(&run.args(overwrite.split_whitespace()).output().unwrap(), 2, "the name is empty");
        }
        assert_eq!(files_at(scratch.0.to_str().unwrap()), before);
        assert!(files_at(&folder).is_empty());
    }
}

#[test]
fn a_file_that_comes_during_a_run_is_not_replaced() {
    let scratch = Scratch::new("came-during");
    let output = scratch.path("out.ndjson");
    let mut run = command(&format!("- -o {output}"));
    let mut child = run.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"867254301\n").unwrap();
    while !Path::new(&format!("{output}.unfinished/state.json")).exists() {
        sleep(Duration::from_millis(1));
    }
    fs::write(&output, "mine\n").unwrap();
    drop(input);
    refused(
        &child.wait_with_output().unwrap(),
        1,
        "out.ndjson: another program wrote the file during the run; the rows are in ",
    );
    assert_eq!(fs::read_to_string(&output).unwrap(), "mine\n");
    let go_on = |flags: &str| piped(&format!("- -o {output} {flags}"), b"867254301\n");
    refused(&go_on(""), 1, "an interrupted run");
    refused(&go_on("--resume"), 1, "the file exists beside an interrupted run: --resume --overwrite replaces it");
    assert_clean(&go_on("--resume --overwrite"));
    assert_eq!(fs::read_to_string(&output).unwrap(), "{\"line\":1,\"length\":31,\"optimal\":true}\n");
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["out.ndjson"]);
}

#[cfg(feature = "parquet")]
#[test]
fn a_file_that_comes_while_parquet_is_written_is_not_replaced() {
    let scratch = Scratch::new("came-parquet");
    let output = scratch.path("out.parquet");
    for (flags, is_replaced) in [("", false), ("--overwrite", true)] {
        let mut run = command(&format!("- -o {output} {flags}"));
        let mut child = run.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"867254301\n").unwrap();
        while files_at(scratch.0.to_str().unwrap()).len() < 1 + usize::from(is_replaced) {
            sleep(Duration::from_millis(1));
        }
        fs::write(&output, "mine\n").unwrap();
        drop(input);
        let end = child.wait_with_output().unwrap();
        if is_replaced {
            assert_clean(&end);
        } else {
            refused(&end, 1, "out.parquet: the file exists");
        }
        assert_eq!(fs::read(&output).unwrap() == b"mine\n", !is_replaced);
        assert_eq!(files_at(scratch.0.to_str().unwrap()), ["out.parquet"]);
    }
}

#[test]
fn a_file_that_exists_is_found_before_tables_are_made() {
    let scratch = Scratch::new("early");
    let (output, cache) = (scratch.path("out.csv"), scratch.path("cache"));
    fs::write(&output, "mine\n").unwrap();
    fs::create_dir(&cache).unwrap();
    let run = |flags: &str| {
        let mut run = Command::new(BINARY);
        run.args(["batch", "--tables", "standard", "--table-cache", &cache]);
        let arguments = format!("--random 4x4 --count 5 --seed s -o {output} {flags}");
        run.args(arguments.split_whitespace()).output().unwrap()
    };
    refused(&run(""), 1, "the file exists");
    assert!(files_at(&cache).is_empty(), "no tables were made");
    assert_clean(&run("--overwrite"));
    assert!(!files_at(&cache).is_empty());
}

#[test]
fn lines_of_json_leave_a_file_of_problems_alone() {
    let scratch = Scratch::new("no-problems");
    let (output, other) = (scratch.path("out.ndjson"), scratch.path("out.ndjson.problems.ndjson"));
    fs::write(&other, "mine\n").unwrap();
    for flags in ["", "--overwrite"] {
        assert_clean(&piped(&format!("- -o {output} {flags}"), b"867254301\n"));
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine\n", "{flags}");
    }
}

#[test]
fn nothing_is_replaced_unless_it_is_asked_for() {
    let scratch = Scratch::new("existing");
    let (input, output) = (scratch.path("in.ndjson"), scratch.path("out.csv"));
    fs::write(&input, "867254301\n[[2,1],[3,0]]\n").unwrap();
    fs::write(&output, "hello\n").unwrap();
    let run = format!("{input} -o {output}");
    refused(&batch(&run), 1, "out.csv: the file exists: --overwrite replaces it");
    refused(&batch(&format!("{run} --resume")), 1, "it is not unfinished: --overwrite replaces it");
    assert_eq!(fs::read_to_string(&output).unwrap(), "hello\n");
    assert_eq!(batch(&format!("{run} --overwrite")).status.code(), Some(3));
    let expected = fs::read_to_string(&output).unwrap();
    assert_eq!(expected.lines().count(), 3);
    // Problems of another run are not replaced either.
    fs::remove_file(&output).unwrap();
    refused(&batch(&run), 1, "out.csv.problems.ndjson: the file exists");
    fs::remove_file(format!("{output}.problems.ndjson")).unwrap();
    // An empty file has nothing to lose, and a link is followed.
    let link = scratch.path("link.csv");
    symlink(&output, &link).unwrap();
    fs::write(&output, "").unwrap();
    assert_eq!(batch(&format!("{input} -o {link}")).status.code(), Some(3));
    assert_eq!(fs::read_to_string(&output).unwrap(), expected);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    // A run without faulty rows leaves no problems of an earlier one.
    fs::write(&input, "867254301\n").unwrap();
    assert_clean(&batch(&format!("{run} --overwrite")));
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["in.ndjson", "link.csv", "out.csv"]);
}

#[test]
fn the_standard_output_pipes_and_devices_are_written_as_they_are() {
    let scratch = Scratch::new("streams");
    let input = scratch.path("in.ndjson");
    fs::write(&input, "867254301\n").unwrap();
    let expected = "{\"line\":1,\"length\":31,\"optimal\":true}\n";
    for output in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let written = batch(&format!("{input} -o {output}"));
        assert_clean(&written);
        assert_eq!(String::from_utf8_lossy(&written.stdout), expected, "{output}");
        let file = scratch.path("redirected");
        let mut run = command(&format!("{input} -o {output}"));
        assert!(run.stdout(File::create(&file).unwrap()).status().unwrap().success());
        assert_eq!(fs::read_to_string(&file).unwrap(), expected, "{output}");
    }
    let fifo = scratch.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let run = start(&format!("{input} -o {fifo}"));
    assert_eq!(fs::read_to_string(&fifo).unwrap(), expected);
    assert_clean(&run.wait_with_output().unwrap());
    assert_clean(&batch(&format!("{input} -o /dev/null")));
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["fifo", "in.ndjson", "redirected"]);
}

#[test]
fn an_input_without_rows_is_an_error_wherever_it_goes() {
    let scratch = Scratch::new("empty");
    let outputs = ["", "--format csv", "-o out.ndjson", "-o out.csv", "-o out.csv --resume", "-o out/"];
    for (name, text) in [("in.ndjson", ""), ("in.ndjson", "\n \n"), ("in.csv", ""), ("in.csv", "id,board\n")] {
        fs::write(scratch.path(name), text).unwrap();
        for output in outputs {
            let output = output.replace("out", &scratch.path("out"));
            let of_file = batch(&format!("{} {output}", scratch.path(name)));
            refused(&of_file, 1, "there are no rows");
            let format = name.strip_prefix("in.").unwrap();
            let of_pipe = piped(&format!("- --input-format {format} {output}"), text.as_bytes());
            refused(&of_pipe, 1, "there are no rows");
            assert!(of_file.stdout.is_empty() && of_pipe.stdout.is_empty());
            assert!(!Path::new(&scratch.path("out.csv")).exists() && files(&scratch.path("out")).is_empty());
        }
        fs::remove_file(scratch.path(name)).unwrap();
    }
}

#[test]
fn rows_of_other_sizes_have_no_place_in_csv() {
    let output = piped("- --format csv", b"867254301\n[[1,2],[3,0]]\n");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr_of(&output).contains("CSV has boards of one size"), "{}", stderr_of(&output));
    assert_clean(&piped("-", b"867254301\n[[1,2],[3,0]]\n"));
}

/// A run that is compared with an undisturbed one.
struct Interrupted<'s> {
    scratch: &'s Scratch,
    arguments: String,
    output: String,
    input: Option<Vec<u8>>,
}

impl Interrupted<'_> {
    fn run(&self, flags: &str) -> Output {
        let arguments = format!("{} -o {} {flags}", self.arguments, self.output);
        self.input.as_ref().map_or_else(|| batch(&arguments), |input| piped(&arguments, input))
    }

    /// Begins a run, and kills it this time after its first state.
    fn kill_after(&self, time: Duration) {
        let input = self.scratch.path("stdin");
        let mut run = command(&format!("{} -o {} --resume", self.arguments, self.output));
        if let Some(bytes) = &self.input {
            fs::write(&input, bytes).unwrap();
            run.stdin(File::open(&input).unwrap());
        }
        let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !self.is_unfinished() && child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(1));
        }
        sleep(time);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// The rows and the problems that are written.
    fn result(&self) -> [Vec<u8>; 2] {
        let read = |path: String| fs::read(path).unwrap_or_default();
        [read(self.output.clone()), read(format!("{}.problems.ndjson", self.output))]
    }

    fn is_unfinished(&self) -> bool {
        Path::new(&format!("{}.unfinished/state.json", self.output)).exists()
    }

    fn remove(&self) {
        let _ = fs::remove_file(&self.output);
        let _ = fs::remove_file(format!("{}.problems.ndjson", self.output));
    }
}

/// Kills runs of every kind again and again, and compares what they write in the end.
fn rows_are_whole_after_kills(name: &str, rows: u64, kills: u32, longest: Duration) {
    let scratch = Scratch::new(name);
    let text = input_of(rows);
    let file = scratch.path("in.ndjson");
    fs::write(&file, &text).unwrap();
    let job = scratch.path("job");
    assert!(matches!(batch(&format!("{file} -o {job}/")).status.code(), Some(3)));
    let kinds = [
        (format!("--random 4x4 --count {rows} --seed s --want moves"), "recipe.ndjson", None),
        (file.clone(), "file.ndjson", None),
        (file.clone(), "file.csv", None),
        ("-".to_owned(), "pipe.csv", Some(text.clone().into_bytes())),
        (job, "job.csv", None),
    ];
    let mut random = Random(7);
    for (arguments, output, input) in kinds {
        let run = Interrupted { scratch: &scratch, arguments, output: scratch.path(output), input };
        let code = run.run("").status.code();
        let expected = run.result();
        assert!(!expected[0].is_empty());
        run.remove();
        let mut resumed = 0;
        for _ in 0..kills {
            run.kill_after(Duration::from_micros(random.below(longest.as_micros() as usize) as u64));
            resumed += u32::from(run.is_unfinished());
            assert!(run.is_unfinished() || !Path::new(&run.output).exists() || run.result() == expected);
            if Path::new(&run.output).exists() && !run.is_unfinished() {
                run.remove();
            }
        }
        // Labels that are known are written in no time.
        assert!(resumed > 0 || output == "job.csv", "{output}: no run was interrupted");
        let end = run.run("--resume");
        assert_eq!(end.status.code(), code, "{}", stderr_of(&end));
        assert!(run.result() == expected, "{output}: the rows differ");
        assert!(!Path::new(&format!("{}.unfinished", run.output)).exists());
    }
}

#[test]
fn every_row_of_a_run_that_is_killed_is_written_once() {
    rows_are_whole_after_kills("kills", 300, 4, Duration::from_millis(600));
}

#[test]
#[ignore = "minutes"]
fn every_row_of_a_run_that_is_killed_twenty_times_is_written_once() {
    rows_are_whole_after_kills("twenty-kills", 3_000, 20, Duration::from_secs(2));
}

/// A run of which a signal has left a part. Returns the rows that it should have in the end.
fn interrupt(run: &Interrupted<'_>) -> [Vec<u8>; 2] {
    assert!(matches!(run.run("").status.code(), Some(0 | 3)));
    let expected = run.result();
    run.remove();
    let folder = format!("{}.unfinished", run.output);
    let child = start(&format!("{} -o {}", run.arguments, run.output));
    let begun = Instant::now();
    while fs::metadata(format!("{folder}/rows")).map_or(0, |data| data.len()) < 1_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no rows come");
        sleep(Duration::from_millis(2));
    }
    signal(&child, "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", stderr_of(&output));
    let resumption = format!("{} -o {} --resume\n", run.arguments, run.output);
    assert!(stderr_of(&output).ends_with(&resumption), "{}", stderr_of(&output));
    assert!(run.is_unfinished() && !Path::new(&run.output).exists());
    expected
}

#[test]
fn a_run_goes_on_with_its_own_input_and_arguments_alone() {
    let scratch = Scratch::new("changed");
    let (input, output) = (scratch.path("in.csv"), scratch.path("out.csv"));
    let boards = batch("--random 4x4 --count 2000 --seed s --want bounds --format csv");
    let text = String::from_utf8(boards.stdout).unwrap();
    fs::write(&input, &text).unwrap();
    let run = Interrupted { scratch: &scratch, arguments: input.clone(), output: output.clone(), input: None };
    let expected = interrupt(&run);
    let left = files(&format!("{output}.unfinished"));
    let other = |arguments: &str, reason: &str| {
        refused(&batch(arguments), 1, reason);
        assert_eq!(files(&format!("{output}.unfinished")), left, "{arguments}");
    };
    let same = format!("{input} -o {output}");
    other(&same, "an interrupted run: --resume goes on with them");
    other(&format!("{same} --resume --want next"), "`want`");
    other(&format!("{same} --resume --overwrite --want next"), "without --resume, --overwrite begins anew");
    other(&format!("{same} --resume --goal snail"), "`goal` is \"blank_last\", and this one's is \"snail\"");
    other(&format!("{same} --resume --size 4x4"), "`size`");
    other(&format!("{same} --resume --format ndjson"), "`format`");
    other(&format!("{same} --resume --format ndjson --input-format ndjson"), "`input-format`");
    other(&format!("{same} --resume --board-time 1s"), "`board-time`");
    other(&format!("{same} --resume --board-expanded 1000000000"), "`board-expanded`");
    other(&format!("--random 4x4 --count 2000 --seed s -o {output} --resume"), "`random`");
    let mut tables = Command::new(BINARY);
    tables.arg("batch").args(["--tables", "standard"]).args(format!("{same} --resume").split_whitespace());
    refused(&tables.output().unwrap(), 1, "`tables`");
    let mut lines: Vec<&str> = text.lines().collect();
    for (at, line) in [(0, "1,0,2,3,4,5,6,7,8,9,10,11,12,13,14,15,cost,lower_bound"), (1, lines[2]), (3, "")] {
        let original = std::mem::replace(&mut lines[at], line);
        fs::write(&input, lines.join("\n")).unwrap();
        other(&format!("{same} --resume"), "another input was read");
        lines[at] = original;
    }
    fs::write(&input, lines[..3].join("\n")).unwrap();
    other(&format!("{same} --resume"), "another input was read");
    fs::write(&input, &text).unwrap();
    // The version of another program, with a right checksum.
    let state = format!("{output}.unfinished/state.json");
    let original = fs::read_to_string(&state).unwrap();
    let version = format!("\"version\": \"{}\"", env!("CARGO_PKG_VERSION"));
    fs::write(&state, sealed(&original.replace(&version, "\"version\": \"0.0.0\""))).unwrap();
    refused(&batch(&format!("{same} --resume")), 1, "`version`");
    fs::write(&state, original).unwrap();
    assert_clean(&batch(&format!("{same} --resume")));
    assert!(run.result() == expected);
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["in.csv", "out.csv"]);
}

/// A JSON text whose checksum is right again.
fn sealed(text: &str) -> String {
    let (members, _) = text.split_once(",\n  \"sha256\"").unwrap();
    let digest: String = Sha256::digest(format!("{members}\n}}\n")).iter().map(|byte| format!("{byte:02x}")).collect();
    // The checksum of the whole text is the last member. The checksums of parts have other indents.
    format!("{members},\n  \"sha256\": \"{digest}\"\n}}\n")
}

#[test]
fn damage_of_an_unfinished_run_is_found() {
    let scratch = Scratch::new("damaged");
    let (input, output) = (scratch.path("in.ndjson"), scratch.path("out.csv"));
    fs::write(&input, input_of(2_000)).unwrap();
    let run = Interrupted { scratch: &scratch, arguments: input.clone(), output: output.clone(), input: None };
    let expected = interrupt(&run);
    let folder = format!("{output}.unfinished");
    let mut original = files(&folder);
    assert_eq!(original.keys().collect::<Vec<_>>(), ["lock", "problems.ndjson", "rows", "state.json"]);
    original.remove("lock");
    let resume = || batch(&format!("{input} -o {output} --resume"));
    let rejected_for = |reason: &str, what: &str| {
        let output = resume();
        assert_eq!(output.status.code(), Some(1), "{what}: {}", stderr_of(&output));
        assert!(stderr_of(&output).contains(reason), "{what}: {}", stderr_of(&output));
    };
    let rejected = |what: &str| rejected_for("--overwrite begins anew", what);
    let mut random = Random(3);
    for (name, bytes) in &original {
        let path = format!("{folder}/{name}");
        for _ in 0..12 {
            let (at, bit) = (random.below(bytes.len()), random.below(8));
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << bit;
            fs::write(&path, &flipped).unwrap();
            rejected(&format!("bit {bit} of byte {at} of {name}"));
            fs::write(&path, &bytes[..at]).unwrap();
            rejected(&format!("{name}, cut at {at}"));
        }
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        rejected(&format!("a pipe as {name}"));
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        rejected(&format!("a link as {name}"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        rejected_for(&format!("no run wrote its {name}"), &format!("a folder as {name}"));
        fs::remove_dir(&path).unwrap();
        rejected(&format!("no {name}"));
        fs::write(&path, bytes).unwrap();
    }
    // What came after the last state is not lost, but made again.
    let longer = [&original["rows"][..], b"1,2,3"].concat();
    fs::write(format!("{folder}/rows"), longer).unwrap();
    assert_eq!(resume().status.code(), Some(3));
    assert!(run.result() == expected);
}

#[test]
fn only_files_of_a_run_are_removed_from_its_folder() {
    let scratch = Scratch::new("foreign");
    let (input, output) = (scratch.path("in.ndjson"), scratch.path("out.csv"));
    let folder = format!("{output}.unfinished");
    fs::write(&input, "867254301\n").unwrap();
    let tree = |path: &str| {
        let list = Command::new("find").args([path, "-printf", "%p %y %s\n"]).output().unwrap();
        String::from_utf8(list.stdout).unwrap().lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let refuse_all = |input: &str, code: i32, reason: &str| {
        let before = tree(scratch.0.to_str().unwrap());
        for flags in ["", "--resume", "--overwrite", "--resume --overwrite"] {
            refused(&batch(&format!("{input} -o {output} {flags}")), code, reason);
            assert_eq!(tree(scratch.0.to_str().unwrap()), before, "{reason}, {flags}");
        }
    };
    fs::create_dir(&folder).unwrap();
    // Names that no run writes, and folders with the names of its files.
    for name in ["notes", "state.json.bak", "state.json.0123.tmp", "rows.0123456789abcdef.tmp", "ROWS"] {
        let path = format!("{folder}/{name}");
        fs::write(&path, "x").unwrap();
        refuse_all(&input, 1, &format!("no run wrote its {name}"));
        fs::remove_file(&path).unwrap();
    }
    for name in ["rows", "state.json", "lock", "parts"] {
        let path = format!("{folder}/{name}");
        fs::create_dir(&path).unwrap();
        refuse_all(&input, 1, &format!("no run wrote its {name}"));
        fs::remove_dir(&path).unwrap();
    }
    // An input in the folder, by any name.
    for name in ["input.ndjson", "rows", "state.json.0123456789abcdef.tmp"] {
        let path = format!("{folder}/{name}");
        fs::copy(&input, &path).unwrap();
        let link = scratch.path("link.ndjson");
        symlink(&path, &link).unwrap();
        refuse_all(&path, 2, "is the input");
        refuse_all(&link, 2, "is the input");
        refuse_all(&format!("{folder}/../out.csv.unfinished/{name}"), 2, "is the input");
        fs::remove_file(&path).unwrap();
        fs::remove_file(&link).unwrap();
    }
    fs::remove_dir(&folder).unwrap();
    // A link is not followed, and a file is not replaced.
    fs::create_dir(scratch.path("precious")).unwrap();
    fs::write(scratch.path("precious/rows"), "x").unwrap();
    symlink("precious", &folder).unwrap();
    refuse_all(&input, 1, "it is not a folder");
    fs::remove_file(&folder).unwrap();
    fs::write(&folder, "x").unwrap();
    refuse_all(&input, 1, "it is not a folder");
    fs::remove_file(&folder).unwrap();
    // Rows without a state are not taken for nothing.
    fs::create_dir(&folder).unwrap();
    fs::write(format!("{folder}/rows"), "x").unwrap();
    refused(&batch(&format!("{input} -o {output}")), 1, "--overwrite begins anew");
    refused(&batch(&format!("{input} -o {output} --resume")), 1, "state.json: ");
    assert_eq!(files_at(&folder), ["lock", "rows"]);
    // What a killed run left is removed, without what it links to.
    fs::remove_file(format!("{folder}/rows")).unwrap();
    symlink(scratch.path("precious/rows"), format!("{folder}/rows")).unwrap();
    fs::write(format!("{folder}/state.json.0123456789abcdef.tmp"), "x").unwrap();
    assert_clean(&batch(&format!("{input} -o {output} --overwrite")));
    assert_eq!(fs::read_to_string(scratch.path("precious/rows")).unwrap(), "x");
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["in.ndjson", "out.csv", "precious"]);
}

#[test]
fn a_file_that_comes_into_the_folder_of_a_run_remains() {
    let scratch = Scratch::new("came");
    let output = scratch.path("out.ndjson");
    let child = start(&format!("--random 4x4 --count 2000 --seed s -o {output}"));
    while !Path::new(&format!("{output}.unfinished/state.json")).exists() {
        sleep(Duration::from_millis(1));
    }
    fs::write(format!("{output}.unfinished/notes"), "x").unwrap();
    assert_clean(&child.wait_with_output().unwrap());
    assert_eq!(files_at(&format!("{output}.unfinished")), ["notes"]);
    assert_eq!(json_lines(&fs::read(&output).unwrap()).len(), 2000);
}

#[test]
fn an_interrupted_run_can_be_begun_anew() {
    let scratch = Scratch::new("anew");
    let (input, output) = (scratch.path("in.ndjson"), scratch.path("out.ndjson"));
    fs::write(&input, input_of(1_000)).unwrap();
    let run = Interrupted { scratch: &scratch, arguments: input, output: output.clone(), input: None };
    let expected = interrupt(&run);
    assert_eq!(run.run("--overwrite").status.code(), Some(3));
    assert!(run.result() == expected);
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["in.ndjson", "out.ndjson"]);
}

#[test]
fn a_strict_run_goes_on_when_the_row_is_mended() {
    let scratch = Scratch::new("strict");
    let (input, output) = (scratch.path("in.ndjson"), scratch.path("out.ndjson"));
    let lines = ["867254301", "123456708", "", "[[2,1],[3,0]]", "123456780"];
    fs::write(&input, lines.join("\n")).unwrap();
    let run = format!("{input} -o {output} --strict");
    let stopped = batch(&run);
    refused(&stopped, 3, "in.ndjson, line 4: This board cannot reach the goal");
    assert!(stderr_of(&stopped).contains("to go on, once the row is mended: "), "{}", stderr_of(&stopped));
    assert!(!Path::new(&output).exists());
    assert_eq!(json_lines(&fs::read(format!("{output}.unfinished/rows")).unwrap()).len(), 2);
    fs::write(&input, lines.join("\n").replace("[[2,1],[3,0]]", "[[1,2],[0,3]]")).unwrap();
    assert_clean(&batch(&format!("{run} --resume")));
    let lengths: Vec<_> = json_lines(&fs::read(&output).unwrap()).iter().map(|row| row["length"].as_u64()).collect();
    assert_eq!(lengths, [Some(31), Some(1), Some(1), Some(0)]);
}

#[test]
fn a_run_that_was_killed_at_its_end_keeps_the_name_of_its_file() {
    let scratch = Scratch::new("ended");
    let (input, other) = (scratch.path("in.ndjson"), scratch.path("other.ndjson"));
    let (output, folder) = (scratch.path("out.ndjson"), scratch.path("out.ndjson.unfinished"));
    // The run ends behind two rows. Then its file has its name, and its folder is still there.
    let lines = ["867254301", "123456708", "what"];
    fs::write(&input, lines.join("\n")).unwrap();
    fs::write(&other, "123456708\n867254301\n").unwrap();
    refused(&batch(&format!("{input} -o {output} --strict")), 3, "line 3");
    fs::rename(format!("{folder}/rows"), &output).unwrap();
    let rows = fs::read_to_string(&output).unwrap();
    assert_eq!(rows.lines().count(), 2);
    refused(&batch(&format!("{input} -o {output}")), 1, "killed when its file was whole: --resume ends it");
    refused(&batch(&format!("{other} -o {output} --resume")), 1, "another input was read");
    refused(&batch(&format!("{input} -o {output} --resume --want next")), 1, "another run wrote it");
    refused(&batch(&format!("{input} -o {output} --resume --strict")), 3, "line 3");
    assert_eq!(fs::read_to_string(&output).unwrap(), rows, "the file keeps its name");
    fs::write(&input, lines[..2].join("\n") + "\n").unwrap();
    assert_clean(&batch(&format!("{input} -o {output} --resume")));
    assert_eq!(fs::read_to_string(&output).unwrap(), rows);
    assert_eq!(files_at(scratch.0.to_str().unwrap()), ["in.ndjson", "other.ndjson", "out.ndjson"]);
}

#[test]
fn a_run_with_long_lines_goes_on() {
    let scratch = Scratch::new("long");
    let input = scratch.path("in.ndjson");
    let text = input_of(1_000);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    // At the start, where a board is looked for, and among short lines, around the sizes at which lines are cut.
    for (at, length) in [(0, 40_000), (3, 16_384), (20, 16_385), (41, 16_386), (60, 300_000), (61, 300_000)] {
        lines.insert(at, format!("\"{}\"", "x".repeat(length - 2)));
    }
    fs::write(&input, lines.join("\n")).unwrap();
    for output in ["out.ndjson", "out.csv"] {
        let run =
            Interrupted { scratch: &scratch, arguments: input.clone(), output: scratch.path(output), input: None };
        let expected = interrupt(&run);
        // A byte behind those that are kept of a line.
        let changed = lines.join("\n").replacen("xxx\"", "xxy\"", 1);
        fs::write(&input, changed).unwrap();
        refused(&run.run("--resume"), 1, "another input was read");
        fs::write(&input, lines.join("\n")).unwrap();
        let end = run.run("--resume");
        assert_eq!(end.status.code(), Some(3), "{}", stderr_of(&end));
        assert!(run.result() == expected, "{output}: the rows differ");
        run.remove();
    }
}

#[test]
fn rows_that_failed_before_count_at_the_end() {
    let scratch = Scratch::new("counted");
    let (input, output) = (scratch.path("in.ndjson"), scratch.path("out.ndjson"));
    let text =
        format!("what\n{}", input_of(1_000).replace("what", "867254301").replace("[[2,1],[3,0]]", "[[1,2],[3,0]]"));
    fs::write(&input, text).unwrap();
    let run = Interrupted { scratch: &scratch, arguments: input, output, input: None };
    interrupt(&run);
    let end = run.run("--resume");
    assert_eq!(end.status.code(), Some(3), "{}", stderr_of(&end));
    assert!(stderr_of(&end).contains("; 1 failed ("), "{}", stderr_of(&end));
}

#[test]
fn one_process_at_a_time_writes_a_file() {
    let scratch = Scratch::new("two");
    let output = scratch.path("out.csv");
    let run = format!("--random 4x4 --count 100000 --seed s -o {output}");
    let child = start(&run);
    while !Path::new(&format!("{output}.unfinished/state.json")).exists() {
        sleep(Duration::from_millis(2));
    }
    for flag in ["", "--resume", "--overwrite"] {
        refused(&batch(&format!("{run} {flag}")), 1, "another process writes this file");
    }
    signal(&child, "TERM");
    child.wait_with_output().unwrap();
}

/// A run on a disk that is too small for it, then again with room.
const FULL_DISK: &str = r#"
mount -t tmpfs -o size=200k none "$0" || exit 99
"$@"; echo "code $?" >&2
mount -o remount,size=8m "$0" || exit 99
"$@" --resume; echo "code $?" >&2
cat "$0/out.csv"
"#;

#[test]
fn a_run_that_fills_the_disk_goes_on_when_there_is_room() {
    let can = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: no namespace to mount a disk in");
        return;
    }
    let scratch = Scratch::new("full");
    let boards = "--random 3x3 --count 100000 --seed s --format csv";
    let mut run = Command::new("unshare");
    run.args(["-rm", "sh", "-c", FULL_DISK, scratch.0.to_str().unwrap(), BINARY, "batch", "--tables", "small"]);
    let output = run.args(boards.split(' ')).args(["-o", &scratch.path("out.csv")]).output().unwrap();
    let messages = stderr_of(&output);
    let [full, whole, _] = messages.split("code ").collect::<Vec<_>>()[..] else { panic!("{messages}") };
    assert!(full.contains("No space left on device") && full.contains("to go on, once there is room: "), "{messages}");
    assert!(whole.starts_with("1\n") && messages.ends_with("code 0\n"), "{messages}");
    assert!(output.stdout == batch(boards).stdout, "the rows differ");
}
