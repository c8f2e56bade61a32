//! Parses the flags of `taquin batch` into a task.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};

use crate::rows::{RowGoal, RowOptions};
use crate::{MAX_ROWS, Recipe, RequestedLimits, RowError, Shard, Want};
use taquin_solver::{Board, Sides, Size};

use super::destination::{Destination, Existing};
use super::flags::BatchFlags;
use super::input::RowInput;
use super::values::{Format, RowsFormat, TextFormat};
use super::values::{choice, duration, shard, size, whole_number};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Task {
    /// Label boards, and write lines.
    Solve(Boards, TextOutput),
    /// Label boards, and store parts in the directory of a job.
    Store {
        boards: Boards,
        directory: PathBuf,
        shard: Shard,
        /// Boards of a chunk; by default chosen from the cost of a board.
        chunk: Option<u32>,
    },
    /// Write the labels of a job as lines.
    Export(PathBuf, TextOutput),
    /// Write labels as Parquet.
    Parquet(ParquetSource, ParquetOutput),
    /// Check a job; holds the number of boards to solve again.
    Verify(PathBuf, u64),
}

/// Boards, with kind and limits of the labels.
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

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TextOutput {
    pub(crate) destination: Destination,
    pub(crate) format: TextFormat,
    pub(crate) existing: Existing,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ParquetSource {
    Boards(Box<Boards>),
    /// The directory of a complete job.
    Job(PathBuf),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ParquetOutput {
    One {
        destination: Destination,
        overwrites: bool,
    },
    /// The directory of a data set with a card.
    Directory(PathBuf),
}

/// Collects the errors of all flags.
#[derive(Default)]
struct Errors(Vec<String>);

impl Errors {
    fn report(&mut self, flag: &str, reason: impl Display) {
        self.0.push(format!("--{flag}: {reason}"));
    }

    /// Unwraps a value. An error is collected, and `None` is returned.
    fn value<T>(&mut self, flag: &str, value: Result<T, String>) -> Option<T> {
        value.map_err(|reason| self.report(flag, reason)).ok()
    }
}

impl Errors {
    /// Options that apply to all rows of an input.
    fn options(&mut self, flags: &BatchFlags) -> Option<RowOptions> {
        let size = flags.size.as_deref().map(|text| self.value("size", size(text)));
        let want = want(flags, self);
        let sides = size.flatten().map_or_else(Sides::default, sides_of);
        let goal = self.goal(flags, sides);
        let is_valid = size != Some(None);
        let options = RowOptions { want: want?, goal: goal?, sides, ..RowOptions::default() };
        is_valid.then_some(options)
    }

    /// The goal; blank-last by default.
    fn goal(&mut self, flags: &BatchFlags, sides: Sides) -> Option<RowGoal> {
        let details =
            |error: RowError| error.errors.into_iter().map(|error| error.detail).collect::<Vec<_>>().join("; ");
        let goal = flags.goal.as_deref().map(|text| RowGoal::parse(text, sides).map_err(details));
        goal.map_or(Some(RowOptions::default().goal), |goal| self.value("goal", goal))
    }

    fn goal_on(&mut self, flags: &BatchFlags, size: Size) -> Option<Board> {
        let on_size = |goal: RowGoal| goal.on(size).ok_or_else(|| format!("the goal has another size than {size}"));
        self.goal(flags, sides_of(size)).and_then(|goal| self.value("goal", on_size(goal)))
    }

    /// Reports an unknown name of a goal.
    fn check_goal_name(&mut self, flags: &BatchFlags) {
        if flags.goal.as_deref().is_some_and(|goal| !goal.contains(|letter: char| letter.is_ascii_digit())) {
            self.goal(flags, Sides::default());
        }
    }

    fn without_effect(&mut self, flags: &[(&str, bool)], reason: &str) {
        flags.iter().filter(|(_, is_given)| *is_given).for_each(|(flag, _)| self.report(flag, reason));
    }
}

impl Task {
    /// Parses all flags.
    ///
    /// # Errors
    /// All errors at once, one line each.
    pub(crate) fn of(flags: &BatchFlags) -> Result<Self, Vec<String>> {
        let mut errors = Errors::default();
        let task = task(flags, &mut errors);
        match task {
            Some(task) if errors.0.is_empty() => Ok(task),
            _ => Err(errors.0),
        }
    }
}

fn task(flags: &BatchFlags, errors: &mut Errors) -> Option<Task> {
    if let Some(directory) = &flags.verify {
        check_verify(flags, errors);
        let sample = errors.value("sample", whole_number(flags.sample.as_deref().unwrap_or("1000"), 0..=u64::MAX));
        return Some(Task::Verify(directory.into(), sample?));
    }
    errors.without_effect(&[("sample", flags.sample.is_some())], "--verify alone solves a sample: omit it");
    let format = format(flags, errors);
    check_output(flags, format, errors);
    check_source(flags, errors);
    let boards = match (&flags.input, &flags.random) {
        (Some(input), None) if Path::new(input).is_dir() => return export(flags, input, format, errors),
        (Some(input), None) => rows(flags, input, errors),
        (None, Some(shape)) => recipe(flags, shape, errors),
        (Some(_), Some(shape)) => {
            errors.report("random", "boards come from an input or from a recipe, not from both");
            recipe(flags, shape, errors)
        }
        (None, None) => {
            errors.0.push("there are no boards: name a file, or use `--random 4x4 --count 1000 --seed s`".to_owned());
            errors.options(flags);
            limits(flags, errors);
            None
        }
    };
    match (format, format.and_then(Format::text)) {
        (Some(_), Some(format)) => Some(Task::Solve(boards?, text_output(flags, format))),
        (Some(Format::Parquet), _) => {
            let output = parquet_output(flags);
            if matches!((&boards, &output), (Some(Boards { source: Source::Rows(_), .. }), ParquetOutput::Directory(_)))
            {
                errors.report(
                    "output",
                    "the rows of an input become one file: name it, such as labels.parquet. For a data set, solve them \
                     into a directory without --format, and then write that directory's labels",
                );
            }
            Some(Task::Parquet(ParquetSource::Boards(Box::new(boards?)), output))
        }
        _ => store(flags, boards, errors),
    }
}

/// Reports flags that have no effect with `--verify`.
fn check_verify(flags: &BatchFlags, errors: &mut Errors) {
    let given = [
        ("random", flags.random.is_some()),
        ("count", flags.count.is_some()),
        ("seed", flags.seed.is_some()),
        ("input-format", flags.input_format.is_some()),
        ("size", flags.size.is_some()),
        ("strict", flags.strict),
        ("goal", flags.goal.is_some()),
        ("want", flags.want.is_some()),
        ("board-time", flags.board_time.is_some()),
        ("board-expanded", flags.board_expanded.is_some()),
        ("output", flags.output.is_some()),
        ("format", flags.format.is_some()),
        ("resume", flags.resume),
        ("overwrite", flags.overwrite),
        ("shard", flags.shard.is_some()),
        ("chunk", flags.chunk.is_some()),
    ];
    errors.without_effect(&given, "--verify only reads a directory: omit it");
    if let Some(input) = &flags.input {
        errors.0.push(format!("{input}: --verify names the directory: omit it"));
    }
}

/// Reports a missing input, flags of a recipe without a recipe, and flags of an input with a recipe.
fn check_source(flags: &BatchFlags, errors: &mut Errors) {
    if let Some(input) = flags.input.as_deref().filter(|input| *input != "-" && !Path::new(input).exists()) {
        errors.0.push(format!("{input}: there is no such file"));
    }
    if flags.random.is_none() {
        let given = [("count", flags.count.is_some()), ("seed", flags.seed.is_some())];
        errors.without_effect(&given, "random boards need a shape, such as --random 4x4");
    }
    if flags.input.is_none() {
        let given = [
            ("input-format", flags.input_format.is_some()),
            ("size", flags.size.is_some() && flags.random.is_some()),
            ("strict", flags.strict),
        ];
        errors.without_effect(&given, "it says how an input is read: name a file");
    }
}

/// Creates the task that writes the labels of a directory.
fn export(flags: &BatchFlags, directory: &str, format: Option<Format>, errors: &mut Errors) -> Option<Task> {
    check_export(flags, errors);
    let format = format?;
    match (format, format.text()) {
        (_, Some(format)) => Some(Task::Export(directory.into(), text_output(flags, format))),
        (Format::Parquet, _) => Some(Task::Parquet(ParquetSource::Job(directory.into()), parquet_output(flags))),
        _ => {
            let detail = "the labels of a directory are written as text or Parquet: name a file, or use `--format`";
            errors.report("output", detail);
            None
        }
    }
}

/// Value of `--output`; the standard output by default.
fn output(flags: &BatchFlags) -> &str {
    flags.output.as_deref().unwrap_or("-")
}

fn parquet_output(flags: &BatchFlags) -> ParquetOutput {
    let path = Path::new(output(flags));
    match Destination::named(output(flags)) {
        Destination::File(_) if names_directory(flags) || path.extension().is_none() => {
            ParquetOutput::Directory(path.to_owned())
        }
        destination => ParquetOutput::One { destination, overwrites: flags.overwrite },
    }
}

/// Returns true if the output is a directory, or if its name ends with a slash.
fn names_directory(flags: &BatchFlags) -> bool {
    output(flags).ends_with('/') || Path::new(output(flags)).is_dir()
}

fn text_output(flags: &BatchFlags, format: TextFormat) -> TextOutput {
    let existing = Existing { resumes: flags.resume, overwrites: flags.overwrite };
    TextOutput { destination: Destination::named(output(flags)), format, existing }
}

fn store(flags: &BatchFlags, boards: Option<Boards>, errors: &mut Errors) -> Option<Task> {
    let shard = match &flags.shard {
        Some(text) => errors.value("shard", shard(text)),
        None => Some(Shard::WHOLE),
    };
    let chunk = match &flags.chunk {
        Some(text) => errors.value("chunk", whole_number(text, 1..=MAX_ROWS.into())).map(Some),
        None => Some(None),
    };
    let chunk = chunk?.map(|chunk| chunk as u32);
    Some(Task::Store { boards: boards?, directory: PathBuf::from(output(flags)), shard: shard?, chunk })
}

/// Reports flags that do not fit the output. `format` is `None` if the format is invalid.
fn check_output(flags: &BatchFlags, format: Option<Format>, errors: &mut Errors) {
    let (resume, overwrite) = (("resume", flags.resume), ("overwrite", flags.overwrite));
    if format == Some(Format::Packed) {
        errors.without_effect(&[resume], "a directory always goes on where it ended: omit it");
        errors.without_effect(&[overwrite], "nothing in a directory is overwritten: name another one");
        return;
    }
    let is_text = format.is_some_and(|format| format.text().is_some());
    if is_text && names_directory(flags) {
        errors.report("output", format!("{} is a directory: name a file", output(flags)));
    }
    // With an invalid format, only the values of these flags are checked.
    if format.is_some() {
        let given = [("shard", flags.shard.is_some()), ("chunk", flags.chunk.is_some())];
        errors.without_effect(&given, "only a directory of packed labels has chunks: name one with `-o`");
    }
    let parquet = "Parquet cannot be continued: solve into a directory, and write Parquet from it";
    match (format, Destination::named(output(flags))) {
        (Some(Format::Parquet), _) => errors.without_effect(&[resume], parquet),
        (_, Destination::File(_)) => {}
        _ => errors.without_effect(&[resume, overwrite], "a stream has no rows to keep: name a file with `-o`"),
    }
}

/// The format from `--format`, or else from the name of the output.
fn format(flags: &BatchFlags, errors: &mut Errors) -> Option<Format> {
    let named = flags.format.as_deref().map(|name| errors.value("format", choice(name)));
    errors.value("output", check_name(output(flags)))?;
    let destination = Destination::named(output(flags));
    if let Some(format) = named {
        let format = format?;
        if format == Format::Packed && !matches!(destination, Destination::File(_)) {
            errors.report("format", "packed labels are written to a directory: name it with `-o`");
        }
        return Some(format);
    }
    let path = Path::new(output(flags));
    match path.extension().and_then(|extension| extension.to_str()) {
        _ if !matches!(destination, Destination::File(_)) => Some(Format::Ndjson),
        _ if names_directory(flags) => Some(Format::Packed),
        Some("ndjson" | "jsonl") => Some(Format::Ndjson),
        Some("csv") => Some(Format::Csv),
        Some("parquet") => Some(Format::Parquet),
        Some(other) => {
            errors.report("output", format!("the format of `.{other}` is unknown: name it with `--format`"));
            None
        }
        None => Some(Format::Packed),
    }
}

/// Rejects an impossible name of an output.
fn check_name(output: &str) -> Result<(), String> {
    if output.is_empty() {
        return Err("the name is empty: name a file, a directory, or `-`".to_owned());
    }
    match fs::metadata(output) {
        Err(error) if Path::new(output).is_symlink() => Err(format!("the link {output} leads to no file: {error}")),
        _ => Ok(()),
    }
}

/// Reports flags that have no effect on the labels of a directory.
fn check_export(flags: &BatchFlags, errors: &mut Errors) {
    let of_rows =
        [("size", flags.size.is_some()), ("strict", flags.strict), ("input-format", flags.input_format.is_some())];
    errors.without_effect(&of_rows, "the boards of a directory were read before: omit it");
    let of_labels = [
        ("goal", flags.goal.is_some()),
        ("want", flags.want.is_some()),
        ("board-time", flags.board_time.is_some()),
        ("board-expanded", flags.board_expanded.is_some()),
    ];
    errors.without_effect(&of_labels, "the labels of a directory were made before: omit it");
}

fn recipe(flags: &BatchFlags, shape: &str, errors: &mut Errors) -> Option<Boards> {
    let size = errors.value("random", size(shape));
    let goal = match size {
        Some(size) => errors.goal_on(flags, size),
        None => {
            errors.check_goal_name(flags);
            None
        }
    };
    let required =
        |value: &Option<String>, example| value.clone().ok_or_else(|| format!("is missing, such as {example}"));
    let count = errors.value("count", required(&flags.count, "1e6"));
    let count = count.and_then(|text| errors.value("count", whole_number(&text, 1..=Recipe::MAX_COUNT)));
    let seed = errors.value("seed", required(&flags.seed, "s"));
    let (want, limits) = (want(flags, errors), limits(flags, errors));
    if let (Some(want), Some(size)) = (want, size)
        && !want.serves(size)
    {
        errors.0.push(unserved_want(size));
    }
    let recipe = Recipe::try_new(goal?, &seed?, count?);
    let recipe = errors.value("seed", recipe.map_err(|error| error.to_string()));
    Some(Boards { source: Source::Recipe(recipe?), want: want?, limits })
}

/// The error of a `--want` that is impossible for boards of this size.
pub(crate) fn unserved_want(size: Size) -> String {
    format!("--want: first moves are known on boards of up to 16 cells, not on {size}")
}

fn rows(flags: &BatchFlags, input: &str, errors: &mut Errors) -> Option<Boards> {
    let file = (input != "-").then(|| PathBuf::from(input));
    let options = errors.options(flags);
    let extension = file.as_deref().and_then(Path::extension).and_then(OsStr::to_str).unwrap_or_default();
    let format = match &flags.input_format {
        Some(name) => errors.value("input-format", choice(name)),
        None if extension.eq_ignore_ascii_case("csv") => Some(RowsFormat::Csv),
        None => Some(RowsFormat::Ndjson),
    };
    let limits = limits(flags, errors);
    let options = RowOptions { limits, ..options? };
    let want = options.want;
    let input = RowInput { file, is_csv: format? == RowsFormat::Csv, options, is_strict: flags.strict };
    Some(Boards { source: Source::Rows(input), want, limits })
}

fn sides_of(size: Size) -> Sides {
    Sides { rows: Some(size.rows()), cols: Some(size.cols()) }
}

fn want(flags: &BatchFlags, errors: &mut Errors) -> Option<Want> {
    flags.want.as_deref().map_or(Some(Want::default()), |name| errors.value("want", choice(name)))
}

fn limits(flags: &BatchFlags, errors: &mut Errors) -> RequestedLimits {
    let time = flags.board_time.as_deref().map(|text| errors.value("board-time", duration(text)));
    let expanded = flags.board_expanded.as_deref();
    let expanded = expanded.map(|text| errors.value("board-expanded", whole_number(text, 1..=u64::MAX)));
    RequestedLimits { time: time.flatten(), expanded: expanded.flatten(), nodes: None }
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
            Task::Solve(_, TextOutput { format, destination, .. }) => {
                (Some(format), matches!(destination, Destination::File(_)))
            }
            Task::Store { .. } => (None, true),
            other => panic!("{other:?}"),
        };
        assert_eq!(format(""), (Some(TextFormat::Ndjson), false));
        assert_eq!(format("-o a.jsonl"), (Some(TextFormat::Ndjson), true));
        assert_eq!(format("-o a.csv"), (Some(TextFormat::Csv), true));
        assert_eq!(format("-o a.txt --format csv"), (Some(TextFormat::Csv), true));
        assert_eq!(format("--format csv"), (Some(TextFormat::Csv), false));
        for directory in ["-o a", "-o a.b/", "-o a.txt --format packed"] {
            assert_eq!(format(directory), (None, true));
        }
    }

    #[test]
    fn parquet_is_a_file_or_a_directory() {
        let output = |arguments: &str| match of(arguments).unwrap() {
            Task::Parquet(source, output) => (matches!(source, ParquetSource::Job(_)), output),
            other => panic!("{other:?}"),
        };
        let boards = "--random 3x3 --count 10 --seed s";
        let one = |destination| ParquetOutput::One { destination, overwrites: false };
        let file = |path: &str| one(Destination::File(path.into()));
        let directory = |path: &str| ParquetOutput::Directory(path.into());
        assert_eq!(output(&format!("{boards} -o a.parquet")), (false, file("a.parquet")));
        assert_eq!(output(&format!("{boards} -o a.pq --format parquet")), (false, file("a.pq")));
        assert_eq!(output(&format!("{boards} --format parquet")), (false, one(Destination::Standard)));
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
        let text = TextOutput { destination: Destination::Standard, format: TextFormat::Csv, existing };
        assert_eq!(of("src --format csv"), Ok(Task::Export("src".into(), text)));
    }

    #[test]
    fn rows_are_read_from_a_file_or_the_standard_input() {
        let rows = |arguments: &str| match of(arguments).unwrap() {
            Task::Solve(Boards { source: Source::Rows(input), .. }, _) => input,
            other => panic!("{other:?}"),
        };
        assert_eq!((rows("-").file, rows("-").is_csv, rows("-").is_strict), (None, false, false));
        assert!(rows("- --input-format csv --strict").is_csv);
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
