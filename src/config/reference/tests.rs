//! `docs/CONFIGURATION.md`, generated from the flags, and tests that compare the help texts with the code.

use std::path::Path;
use std::{env, fs};

use clap::{Arg, CommandFactory, Parser};

use crate::config::parse::parse_size;
use crate::config::{Config, Flags};

const INTRODUCTION: &str = "\
<!-- Generated from the flags: UPDATE_DOCS=1 cargo test --lib config::reference -->

# Configuration

Every setting is a flag and an environment variable; the flag takes precedence. `taquin --help` prints this list.

- Durations need a unit: `500ms`, `10s`, `1m`. Sizes are bytes or have a unit: `64KiB`, `512MiB`, `2GB`. Numbers are
  whole, except the numbers of `--bulk-share` and `--otlp-sample`.
- All invalid values are reported together, before a port is bound. An unknown flag is reported alone.
- An empty variable is an error, unless the table says what it means.
- An unknown variable that starts with `TAQUIN_` has no effect. The service logs a warning that names it, and
  `--check-config` prints one.

## Settings

| flag | environment variable | default | range | meaning |
|---|---|---|---|---|
";

const CONCLUSION: &str = "
## Commands

| command | effect |
|---|---|
| `taquin` | serves |
| `taquin --check-config` | checks the settings, prints how memory is divided, and exits |
| `taquin worker` | makes chunks of jobs, with `--jobs` and `--nats` as services have them; needs a build with the feature `cluster` |
| `taquin healthcheck` | checks whether the service at `--listen` is alive, and exits |
| `taquin completions SHELL` | prints completions for `bash`, `elvish`, `fish`, `powershell` or `zsh` |
| `taquin man` | prints the man page, for `taquin man \\| man -l -` |

## Exit codes

| code | meaning |
|---|---|
| 0 | clean shutdown; the settings are valid; the service is alive |
| 1 | the service cannot start or failed; it is not alive |
| 2 | a setting or a flag is invalid |
| 130, 143 | a second SIGINT or SIGTERM cut the shutdown short |
";

/// What the help text of a flag says: the text, and its default and range in brackets.
struct Help {
    text: String,
    default: Option<String>,
    range: Option<String>,
}

impl Help {
    fn of(arg: &Arg) -> Self {
        let short = arg.get_help().unwrap().to_string().replace('\n', " ");
        let (mut text, default) = without_bracket(short, "default");
        let range;
        (text, range) = without_bracket(text, "range");
        let long = arg.get_long_help().map(ToString::to_string).unwrap_or_default();
        for paragraph in long.split("\n\n").skip(1) {
            text = format!("{text}. {}", paragraph.replace('\n', " ").trim_end_matches('.'));
        }
        let default = arg.get_default_values().first().map(|value| value.to_str().unwrap().to_owned()).or(default);
        Self { text, default, range }
    }
}

/// Splits `[name: value]` off a text.
fn without_bracket(text: String, name: &str) -> (String, Option<String>) {
    let Some((before, rest)) = text.split_once(&format!(" [{name}: ")) else { return (text, None) };
    let (value, after) = rest.split_once(']').unwrap();
    (format!("{before}{after}"), Some(value.to_owned()))
}

/// The arguments that are settings.
fn settings() -> Vec<Arg> {
    Flags::command().get_arguments().filter(|arg| arg.get_env().is_some()).cloned().collect()
}

fn row(arg: &Arg) -> String {
    let Help { text, default, range } = Help::of(arg);
    let variable = arg.get_env().unwrap().to_str().unwrap();
    let is_literal = !arg.get_default_values().is_empty();
    let default = default.unwrap_or_else(|| "none".to_owned());
    let default = if is_literal { format!("`{default}`") } else { default };
    let flag = arg.get_long().unwrap();
    format!("| `--{flag}` | `{variable}` | {default} | {} | {text} |\n", range.unwrap_or_default())
}

#[test]
fn configuration_md_is_up_to_date() {
    let document = format!("{INTRODUCTION}{}{CONCLUSION}", settings().iter().map(row).collect::<String>());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/CONFIGURATION.md");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &document).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == document, "docs/CONFIGURATION.md is stale: UPDATE_DOCS=1 cargo test --lib config::reference");
}

/// The errors about one value being out of range or unreadable; conflicts between settings are left out.
fn range_errors(flag: &str, value: &str) -> Vec<String> {
    let flags = Flags::parse_from(["taquin", "--rate-limit=1/s", &format!("--{flag}={value}")]);
    let errors = Config::try_from(&flags).err().unwrap_or_default();
    errors.iter().map(ToString::to_string).filter(|error| error.contains("is not ")).collect()
}

#[test]
fn the_ranges_in_the_help_are_those_of_the_parser() {
    let beyond = |bound: &str| match bound {
        "0" | "0s" => "-1".to_owned(),
        "1ms" => "999us".to_owned(),
        "24h" => "86401s".to_owned(),
        "1s" => "999ms".to_owned(),
        "3650d" => "315360001s".to_owned(),
        "1024GiB" => "1099511627777".to_owned(),
        "1" => "0".to_owned(),
        "64MiB" => "67108863".to_owned(),
        "1MiB" => "1048575".to_owned(),
        "1KiB" => "1023".to_owned(),
        "16MiB" => "16777217".to_owned(),
        number => (number.parse::<u64>().unwrap() + 1).to_string(),
    };
    let mut ranges = 0;
    for arg in settings() {
        let (flag, Some(range)) = (arg.get_long().unwrap(), Help::of(&arg).range) else { continue };
        let bounds: Vec<&str> = range.split(" to ").flat_map(|bound| bound.split(" or more")).collect();
        for bound in bounds.into_iter().filter(|bound| !bound.is_empty()) {
            assert_eq!(range_errors(flag, bound), [""; 0], "--{flag}={bound}");
            let beyond = if range == "0 to 1" && bound == "1" { "2".to_owned() } else { beyond(bound) };
            assert_eq!(range_errors(flag, &beyond).len(), 1, "--{flag}={beyond}");
        }
        ranges += 1;
    }
    assert!(ranges > 10, "{ranges}");
}

#[test]
fn the_sizes_in_the_help_are_those_of_the_memory_plan() {
    let flags = Flags::parse_from(["taquin", "--memory=64GiB", "--workers=1"]);
    let plan = Config::try_from(&flags).unwrap().memory;
    for (flag, bytes) in [("table-memory", plan.tables), ("cache-memory", plan.cache), ("search-memory", plan.search)] {
        let arg = settings().into_iter().find(|arg| arg.get_long() == Some(flag)).unwrap();
        let default = Help::of(&arg).default.unwrap();
        let sizes: Vec<u64> =
            default.split([' ', ',']).filter(|word| word.ends_with("iB")).filter_map(parse_size).collect();
        assert_eq!(sizes, [bytes], "{flag}: {default}");
    }
}
