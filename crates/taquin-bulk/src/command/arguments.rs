//! Converts the flags of `taquin batch` to a task, and reports all errors at once.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use taquin_solver::{Board, Sides, Size};

use super::destination::{Destination, Existing, Output};
use super::flags::BatchFlags;
use super::input::RowInput;
use super::values::{Format, Given, TextFormat};
use crate::rows::{RowGoal, RowOptions};
use crate::{Recipe, RequestedLimits, RowError, Shard, Want};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Task {
    /// Write labels as lines of text or as Parquet.
    Write(Labels, Output),
    /// Label boards, and store parts in the directory of a job.
    Store {
        boards: Box<Boards>,
        directory: PathBuf,
        shard: Shard,
        /// Number of boards in a chunk. If `None`, an existing job keeps its number, and a new job has a number that
        /// follows from the cost of its boards.
        chunk: Option<u32>,
    },
    /// Check the job in a directory. The number is the approximate number of boards to solve again.
    Verify(PathBuf, u64),
}

/// The labels to write.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Labels {
    Boards(Box<Boards>),
    /// The labels of the job in this directory. The job must be complete.
    Job(PathBuf),
}

/// The boards to label, with the kind of the labels and the limits.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Boards {
    pub(crate) source: Source,
    pub(crate) want: Want,
    pub(crate) limits: RequestedLimits,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Source {
    Recipe(Recipe),
    Rows(RowInput),
}

impl Task {
    /// Converts flags to a task, and checks all flags.
    ///
    /// # Errors
    /// All errors at once. Each error is one line.
    pub(crate) fn of(flags: &BatchFlags) -> Result<Self, Vec<String>> {
        let output = flags.output.as_deref().unwrap_or("-");
        let mut reader = FlagReader { flags, output, destination: Destination::named(output), errors: Vec::new() };
        match reader.task() {
            Some(task) if reader.errors.is_empty() => Ok(task),
            _ => Err(reader.errors),
        }
    }
}

/// Reads flags, and collects errors. If a flag is invalid, the reader continues as if the flag were absent.
struct FlagReader<'f> {
    flags: &'f BatchFlags,
    /// Value of `--output`, or `-` for the standard output if the flag is absent.
    output: &'f str,
    destination: Destination,
    errors: Vec<String>,
}

impl FlagReader<'_> {
    fn report(&mut self, flag: &str, reason: impl Display) {
        self.errors.push(format!("--{flag}: {reason}"));
    }

    /// Returns the value in `value`. If `value` is an error, collects the error, and returns `None`.
    fn checked<T>(&mut self, flag: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|reason| self.report(flag, reason)).ok()
    }

    /// Returns the value of a flag; `None` if the flag is absent or invalid.
    fn value<T: Clone>(&mut self, flag: &str, given: Option<&Given<T>>) -> Option<T> {
        self.checked(flag, given?.clone())
    }

    /// Returns the value of a required flag. If the flag is absent, reports an error, with `example` as a possible
    /// value.
    fn required<T: Clone>(&mut self, flag: &str, given: Option<&Given<T>>, example: &str) -> Option<T> {
        let missing = || Err(format!("is missing, such as {example}"));
        self.checked(flag, given.cloned().unwrap_or_else(missing))
    }

    /// Reports an error for each flag in `flags` that is given. These flags have no effect on the task.
    fn without_effect(&mut self, flags: &[&str], reason: &str) {
        let given: Vec<_> = self.flags.given().collect();
        flags.iter().filter(|flag| given.contains(flag)).for_each(|flag| self.report(flag, reason));
    }

    fn task(&mut self) -> Option<Task> {
        let flags = self.flags;
        if let Some(directory) = &flags.verify {
            return Some(self.verify(directory));
        }
        self.without_effect(&["sample"], "--verify alone solves a sample: omit it");
        let format = self.format();
        self.check_output(format);
        self.check_source();
        let boards = match (&flags.input, &flags.random) {
            (Some(input), None) if Path::new(input).is_dir() => return self.export(input, format),
            (Some(input), None) => self.rows(input),
            (None, Some(_)) => self.recipe(),
            (Some(_), Some(_)) => {
                self.report("random", "boards come from an input or from a recipe, not from both");
                self.recipe()
            }
            (None, None) => {
                let example = "there are no boards: name a file, or use `--random 4x4 --count 1000 --seed s`";
                self.errors.push(example.to_owned());
                self.options();
                self.limits();
                None
            }
        };
        match format {
            Some(Format::Packed) | None => self.store(boards),
            Some(format) => {
                let output = self.output_of(format);
                if let (Some(Boards { source: Source::Rows(_), .. }), Destination::Directory(_)) =
                    (&boards, &output.destination)
                {
                    self.report(
                        "output",
                        "the rows of an input become one file: name it, such as labels.parquet. For a data set, solve \
                         them into a directory without --format, and then write that directory's labels",
                    );
                }
                Some(Task::Write(Labels::Boards(Box::new(boards?)), output))
            }
        }
    }

    fn verify(&mut self, directory: &Path) -> Task {
        let others: Vec<_> = self.flags.given().filter(|flag| *flag != "sample").collect();
        self.without_effect(&others, "--verify only reads a directory: omit it");
        if let Some(input) = &self.flags.input {
            self.errors.push(format!("{input}: --verify names the directory: omit it"));
        }
        Task::Verify(directory.to_owned(), self.value("sample", self.flags.sample.as_ref()).unwrap_or(1000))
    }

    /// Reports a missing input file. Also reports flags for recipes if there is no recipe, and flags for inputs if
    /// there is no input.
    fn check_source(&mut self) {
        let flags = self.flags;
        if let Some(input) = flags.input.as_deref().filter(|input| *input != "-" && !Path::new(input).exists()) {
            self.errors.push(format!("{input}: there is no such file"));
        }
        if flags.random.is_none() {
            self.without_effect(&["count", "seed"], "random boards need a shape, such as --random 4x4");
        }
        if flags.input.is_none() {
            // If there is neither an input nor a recipe, `--size` is not reported, because `--size` is also the size of
            // the goal.
            let size = if flags.random.is_some() { "size" } else { "" };
            self.without_effect(&["input-format", size, "strict"], "it says how an input is read: name a file");
        }
    }

    /// Creates the task that writes the labels of the job in a directory. Returns `None` if `format` is `None`.
    fn export(&mut self, directory: &str, format: Option<Format>) -> Option<Task> {
        self.without_effect(&["size", "strict", "input-format"], "the boards of a directory were read before: omit it");
        let of_labels = ["goal", "want", "board-time", "board-expanded"];
        self.without_effect(&of_labels, "the labels of a directory were made before: omit it");
        let format = format?;
        if format == Format::Packed {
            let detail = "the labels of a directory are written as text or Parquet: name a file, or use `--format`";
            self.report("output", detail);
        }
        Some(Task::Write(Labels::Job(directory.into()), self.output_of(format)))
    }

    /// Returns true if the output is a directory, or if the name of the output ends with a slash.
    fn names_directory(&self) -> bool {
        self.output.ends_with('/') || Path::new(self.output).is_dir()
    }

    fn output_of(&self, format: Format) -> Output {
        let path = Path::new(self.output);
        let destination = match &self.destination {
            Destination::File(_)
                if format == Format::Parquet && (self.names_directory() || path.extension().is_none()) =>
            {
                Destination::Directory(path.to_owned())
            }
            destination => destination.clone(),
        };
        let existing = Existing { resumes: self.flags.resume, overwrites: self.flags.overwrite };
        Output { destination, format, existing }
    }

    fn store(&mut self, boards: Option<Boards>) -> Option<Task> {
        let shard = self.value("shard", self.flags.shard.as_ref()).unwrap_or(Shard::WHOLE);
        let chunk = self.value("chunk", self.flags.chunk.as_ref());
        Some(Task::Store { boards: Box::new(boards?), directory: self.output.into(), shard, chunk })
    }

    /// Reports flags that do not suit the output. `format` is `None` if the format is invalid or unknown.
    fn check_output(&mut self, format: Option<Format>) {
        if format == Some(Format::Packed) {
            self.without_effect(&["resume"], "a directory always goes on where it ended: omit it");
            self.without_effect(&["overwrite"], "nothing in a directory is overwritten: name another one");
            return;
        }
        if matches!(format, Some(Format::Ndjson | Format::Csv)) && self.names_directory() {
            self.report("output", format!("{} is a directory: name a file", self.output));
        }
        // If the format is invalid, only the values of these flags are checked.
        if format.is_some() {
            let reason = "only a directory of packed labels has chunks: name one with `-o`";
            self.without_effect(&["shard", "chunk"], reason);
        }
        if format == Some(Format::Parquet) {
            let reason = "Parquet cannot be continued: solve into a directory, and write Parquet from it";
            self.without_effect(&["resume"], reason);
        } else if !matches!(self.destination, Destination::File(_)) {
            self.without_effect(&["resume", "overwrite"], "a stream has no rows to keep: name a file with `-o`");
        }
    }

    /// Returns the format. The format is the value of `--format`, or follows from the name of the output. Returns
    /// `None` if the format is invalid or unknown, or if the name of the output is invalid.
    fn format(&mut self) -> Option<Format> {
        let format = self.value("format", self.flags.format.as_ref());
        self.checked("output", check_name(self.output))?;
        let is_file = matches!(self.destination, Destination::File(_));
        if self.flags.format.is_some() {
            if format == Some(Format::Packed) && !is_file {
                self.report("format", "packed labels are written to a directory: name it with `-o`");
            }
            return format;
        }
        match Path::new(self.output).extension().and_then(OsStr::to_str) {
            _ if !is_file => Some(Format::Ndjson),
            _ if self.names_directory() => Some(Format::Packed),
            Some("ndjson" | "jsonl") => Some(Format::Ndjson),
            Some("csv") => Some(Format::Csv),
            Some("parquet") => Some(Format::Parquet),
            Some(other) => {
                self.report("output", format!("the format of `.{other}` is unknown: name it with `--format`"));
                None
            }
            None => Some(Format::Packed),
        }
    }

    fn recipe(&mut self) -> Option<Boards> {
        let flags = self.flags;
        let size = self.value("random", flags.random.as_ref());
        let goal = self.goal_on(size);
        let count = self.required("count", flags.count.as_ref(), "1e6");
        let seed = self.required("seed", flags.seed.clone().map(Ok).as_ref(), "s");
        let (want, limits) = (self.want(), self.limits());
        if let Some(size) = size.filter(|size| !want.serves(*size)) {
            self.errors.push(unserved_want(size));
        }
        let recipe = Recipe::try_new(goal?, &seed?, count?);
        let recipe = self.checked("seed", recipe.map_err(|error| error.to_string()));
        Some(Boards { source: Source::Recipe(recipe?), want, limits })
    }

    fn rows(&mut self, input: &str) -> Option<Boards> {
        let flags = self.flags;
        let file = (input != "-").then(|| PathBuf::from(input));
        let options = self.options();
        let extension = file.as_deref().and_then(Path::extension).unwrap_or_default();
        let by_name = if extension.eq_ignore_ascii_case("csv") { TextFormat::Csv } else { TextFormat::Ndjson };
        let format = self.value("input-format", flags.input_format.as_ref()).unwrap_or(by_name);
        let limits = self.limits();
        let options = RowOptions { limits, ..options? };
        let want = options.want;
        let input = RowInput { file, format, options, is_strict: flags.strict };
        Some(Boards { source: Source::Rows(input), want, limits })
    }

    /// Returns the options that apply to all rows of an input.
    fn options(&mut self) -> Option<RowOptions> {
        let sides = self.value("size", self.flags.size.as_ref()).map_or_else(Sides::default, sides_of);
        let want = self.want();
        Some(RowOptions { want, goal: self.goal(sides)?, sides, ..RowOptions::default() })
    }

    /// Returns the goal; `None` if the goal is invalid. The default is `blank_last`. `sides` is the shape of a goal
    /// that is given as a flat list.
    fn goal(&mut self, sides: Sides) -> Option<RowGoal> {
        let details =
            |error: RowError| error.errors.into_iter().map(|error| error.detail).collect::<Vec<_>>().join("; ");
        let goal = self.flags.goal.as_deref().map(|text| RowGoal::parse(text, sides).map_err(details));
        self.checked("goal", goal.unwrap_or(Ok(RowOptions::default().goal)))
    }

    /// Returns the goal for boards of a size; `None` if the goal is invalid or has another size. `size` is `None` if
    /// the size is invalid. Without a size, this function checks a goal that is a name, and returns `None`.
    fn goal_on(&mut self, size: Option<Size>) -> Option<Board> {
        if let Some(size) = size {
            let goal = self.goal(sides_of(size))?.on(size);
            return self.checked("goal", goal.ok_or_else(|| format!("the goal has another size than {size}")));
        }
        let goal = self.flags.goal.as_deref().unwrap_or_default();
        if !goal.contains(|letter: char| letter.is_ascii_digit()) {
            self.goal(Sides::default());
        }
        None
    }

    fn want(&mut self) -> Want {
        self.value("want", self.flags.want.as_ref()).unwrap_or_default()
    }

    fn limits(&mut self) -> RequestedLimits {
        let time = self.value("board-time", self.flags.board_time.as_ref());
        RequestedLimits {
            time,
            expanded: self.value("board-expanded", self.flags.board_expanded.as_ref()),
            nodes: None,
        }
    }
}

/// Rejects an empty name. Rejects a link whose target is missing or cannot be accessed.
fn check_name(output: &str) -> Result<(), String> {
    if output.is_empty() {
        return Err("the name is empty: name a file, a directory, or `-`".to_owned());
    }
    match fs::metadata(output) {
        Err(error) if Path::new(output).is_symlink() => Err(format!("the link {output} leads to no file: {error}")),
        _ => Ok(()),
    }
}

/// Returns the error message for labels that boards of this size cannot have.
pub(crate) fn unserved_want(size: Size) -> String {
    format!("--want: first moves are known on boards of up to 16 cells, not on {size}")
}

fn sides_of(size: Size) -> Sides {
    Sides { rows: Some(size.rows()), cols: Some(size.cols()) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        flags: BatchFlags,
    }

    fn of(arguments: &str) -> Result<Task, Vec<String>> {
        let arguments = ["taquin"].into_iter().chain(arguments.split_whitespace());
        Task::of(&Arguments::try_parse_from(arguments).unwrap().flags)
    }

    #[test]
    fn the_output_chooses_the_format() {
        let boards = "--random 3x3 --count 10 --seed s";
        let format = |output: &str| match of(&format!("{boards} {output}")).unwrap() {
            Task::Write(_, Output { format, destination, .. }) => {
                (Some(format), matches!(destination, Destination::File(_)))
            }
            Task::Store { .. } => (None, true),
            other => panic!("{other:?}"),
        };
        assert_eq!(format(""), (Some(Format::Ndjson), false));
        assert_eq!(format("-o a.jsonl"), (Some(Format::Ndjson), true));
        assert_eq!(format("-o a.csv"), (Some(Format::Csv), true));
        assert_eq!(format("-o a.txt --format csv"), (Some(Format::Csv), true));
        assert_eq!(format("--format csv"), (Some(Format::Csv), false));
        for directory in ["-o a", "-o a.b/", "-o a.txt --format packed"] {
            assert_eq!(format(directory), (None, true));
        }
    }

    #[test]
    fn parquet_is_a_file_or_a_directory() {
        let output = |arguments: &str| match of(arguments).unwrap() {
            Task::Write(labels, output) => (matches!(labels, Labels::Job(_)), output),
            other => panic!("{other:?}"),
        };
        let boards = "--random 3x3 --count 10 --seed s";
        let existing = Existing { resumes: false, overwrites: false };
        let to = |destination| Output { destination, format: Format::Parquet, existing };
        let file = |path: &str| to(Destination::File(path.into()));
        let directory = |path: &str| to(Destination::Directory(path.into()));
        assert_eq!(output(&format!("{boards} -o a.parquet")), (false, file("a.parquet")));
        assert_eq!(output(&format!("{boards} -o a.pq --format parquet")), (false, file("a.pq")));
        assert_eq!(output(&format!("{boards} --format parquet")), (false, to(Destination::Standard)));
        assert_eq!(output("src -o a.b/ --format parquet"), (true, directory("a.b/")));
        assert_eq!(output("src -o data --format parquet"), (true, directory("data")));
        assert_eq!(output("- -o a.parquet"), (false, file("a.parquet")));
    }

    #[test]
    fn a_recipe_is_read_whole() {
        let task = of(
            "--random 3×5 --count 1e6 --seed s --goal snail --want next --board-time 50ms --shard 3/4 --chunk 9 -o d",
        );
        let Ok(Task::Store { boards, directory, shard, chunk }) = task else { panic!("{task:?}") };
        let Source::Recipe(recipe) = boards.source else { panic!("a recipe") };
        assert_eq!(recipe.goal().to_string(), "1 2 3 4 5/12 13 14 0 6/11 10 9 8 7");
        assert_eq!((recipe.count(), recipe.seed(), boards.want), (1_000_000, "s", Want::Next));
        assert_eq!(boards.limits.time, Some(Duration::from_millis(50)));
        assert_eq!((directory, Some(shard), chunk), ("d".into(), Shard::try_new(3, 4), Some(9)));
        assert_eq!(of("--verify d --sample 5"), Ok(Task::Verify("d".into(), 5)));
        let existing = Existing { resumes: false, overwrites: false };
        let text = Output { destination: Destination::Standard, format: Format::Csv, existing };
        assert_eq!(of("src --format csv"), Ok(Task::Write(Labels::Job("src".into()), text)));
    }

    #[test]
    fn rows_are_read_from_a_file_or_the_standard_input() {
        let rows = |arguments: &str| match of(arguments).unwrap() {
            Task::Write(Labels::Boards(boards), _) => match boards.source {
                Source::Rows(input) => input,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        assert_eq!((rows("-").file, rows("-").format, rows("-").is_strict), (None, TextFormat::Ndjson, false));
        assert_eq!(rows("- --input-format csv --strict").format, TextFormat::Csv);
        assert_eq!(rows("Cargo.toml").file, Some("Cargo.toml".into()));
        let sides = Sides { rows: Some(2), cols: Some(3) };
        let RowOptions { sides: given, goal, .. } = rows("- --size 2x3 --goal 1,2,3,4,5,0").options;
        assert!(given == sides && matches!(goal, RowGoal::Board(goal) if goal.size().cols() == 3));
        assert!(matches!(of("- -o d"), Ok(Task::Store { .. })));
        let errors = of("no.csv --size 2x3 --goal snake --input-format xls --want height").unwrap_err();
        let flags: Vec<&str> = errors.iter().map(|error| error.split(':').next().unwrap()).collect();
        assert_eq!(flags, ["no.csv", "--want", "--goal", "--input-format"]);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let errors =
            of("--random 1x4 --count 0 --want height --board-time 5 --board-expanded 0 --shard 4/4 --chunk 0 -o a.csv");
        let flags: Vec<String> =
            errors.unwrap_err().iter().map(|error| error.split(':').next().unwrap().to_owned()).collect();
        let expected = ["shard", "chunk", "random", "count", "seed", "want", "board-time", "board-expanded"];
        assert_eq!(flags, expected.map(|flag| format!("--{flag}")));
    }

    #[test]
    fn no_error_hides_another_one_or_is_reported_twice() {
        let flags = |arguments: &str| -> Vec<String> {
            let errors = of(arguments).unwrap_err();
            errors.iter().map(|error| error.split(':').next().unwrap().trim_start_matches("--").to_owned()).collect()
        };
        let recipe = "--count 5 --seed s --goal snak";
        assert_eq!(flags(&format!("nofile --random 1x4 {recipe}")), ["nofile", "random", "random", "goal"]);
        assert_eq!(flags(&format!("nofile --random 4x4 {recipe}")), ["nofile", "random", "goal"]);
        assert_eq!(flags(&format!("src --random 4x4 {recipe}")), ["random", "goal"]);
        assert_eq!(flags("--random 1x4 --count 5 --seed s --goal 1,2,3,0"), ["random"]);
        let boards = "--random 3x3 --count 5 --seed s --shard 4/4 --chunk 0";
        assert_eq!(flags(&format!("{boards} -o a.xls")), ["output", "shard", "chunk"]);
        assert_eq!(flags(&format!("{boards} -o a.csv")), ["shard", "chunk"]);
        assert_eq!(flags(&format!("{boards} -o a")), ["shard", "chunk"]);
    }

    #[test]
    fn no_flag_is_without_effect() {
        let flags = |arguments: &str| -> Vec<String> {
            let errors = of(arguments).unwrap_err();
            errors.iter().map(|error| error.split(':').next().unwrap().trim_start_matches("--").to_owned()).collect()
        };
        let export = "src --want moves --goal snail --board-time 1s --board-expanded 1 --size 3x3 --input-format csv";
        let expected = ["size", "input-format", "goal", "want", "board-time", "board-expanded"];
        assert_eq!(flags(export), expected);
        assert_eq!(flags("--verify d x --want next -o y --resume"), ["want", "output", "resume", "x"]);
        assert_eq!(flags("- --count 5 --seed s --sample 3"), ["sample", "count", "seed"]);
        let recipe = "--random 3x3 --count 1 --seed s --strict --size 3x3 --input-format csv --want x";
        assert_eq!(flags(recipe), ["input-format", "size", "strict", "want"]);
        assert_eq!(flags("- --size 1x1 --want height --goal snake"), ["size", "want", "goal"]);
    }

    #[test]
    fn errors_name_what_was_meant() {
        let one = |arguments: &str| {
            let errors = of(arguments).unwrap_err();
            assert_eq!(errors.len(), 1, "{errors:?}");
            errors.concat()
        };
        for (flag, meant) in [
            ("--want cost", "did you mean `length`?"),
            ("--want Path", "did you mean `moves`?"),
            ("--goal spiral", "did you mean `snail`?"),
            ("--format jsonl", "did you mean `ndjson`?"),
            ("--board-time 5", "the unit is missing: write 5ms, 5s, 5m or 5h"),
        ] {
            let error = one(&format!("--random 3x3 --count 1 --seed s {flag}"));
            assert!(error.contains(meant), "{flag}: {error}");
        }
        for (flag, meant) in
            [("--want cost", "`length`"), ("--goal spiral", "`snail`"), ("--input-format json", "`ndjson`")]
        {
            let error = one(&format!("- {flag}"));
            assert!(error.contains(&format!("did you mean {meant}?")), "{flag}: {error}");
        }
    }

    #[test]
    fn conflicts_say_what_to_do() {
        let one = |arguments: &str| {
            let errors = of(arguments).unwrap_err();
            assert_eq!(errors.len(), 1, "{errors:?}");
            errors.concat()
        };
        assert!(one("").contains("--random 4x4"));
        assert!(one("--random 5x5 --count 1 --seed s --want next").contains("up to 16 cells"));
        assert!(one("--random 3x3 --count 1 --seed s --resume").contains("name a file"));
        assert!(one("--random 3x3 --count 1 --seed s --overwrite -o /dev/null").contains("name a file"));
        assert!(one("--random 3x3 --count 1 --seed s --overwrite -o d").contains("name another one"));
        assert!(one("--random 3x3 --count 1 --seed s --resume -o d").contains("omit it"));
        assert!(one("--random 3x3 --count 1 --seed s -o a.xls").contains("`--format`"));
        assert!(one("--random 3x3 --count 1 --seed s --format packed").contains("name it with `-o`"));
        assert!(one("--random 3x3 --count 1.5 --seed s").contains("whole number"));
        assert!(
            one("--random 3x3 --count 1 --seed s --goal 123").contains("the goal has 3 cells, but the board is 3×3")
        );
        assert!(one("src --random 3x3 --count 1 --seed s").contains("not from both"));
        assert!(one("src -o e").contains("as text"));
        assert!(one("src --strict").contains("omit it"));
        assert!(one("--random 3x3 --count 1 --seed s --resume -o a.parquet").contains("cannot be continued"));
        assert!(one("--random 3x3 --count 1 --seed s --chunk 1 -o a.parquet").contains("packed"));
        assert!(one("- -o d/ --format parquet").contains("one file"));
    }
}
