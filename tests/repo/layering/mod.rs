//! Layers and folders depend downward only. No files depend on each other in a cycle. Each layer uses only the crates
//! listed for it. No file exceeds the ceiling of lines. Only one file has unsafe code.
//!
//! Paths are read from the syntax tree and resolved through re-exports to the file that defines the item. Test code is
//! ignored.

mod dependencies;
mod source;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use dependencies::Dependencies;
use source::{PathKind, PathUse, Source, Violation};

/// The layers and crates that a layer, or a file outside the layers, may name. All may name `std`.
struct Rule {
    part: &'static str,
    parts: &'static [&'static str],
    crates: &'static [&'static str],
}

const RULES: [Rule; 15] = [
    // The crate `taquin-solver`.
    Rule { part: "clock", parts: &["clock"], crates: &[] },
    Rule { part: "named", parts: &["named"], crates: &[] },
    Rule { part: "domain", parts: &["domain", "named"], crates: &[] },
    Rule { part: "search", parts: &["clock", "domain", "named", "search"], crates: &["memmap2", "zerocopy"] }, // huge pages
    Rule { part: "tables", parts: &["clock", "domain", "search", "tables"], crates: &[] },
    Rule { part: "solver", parts: &["clock", "domain", "named", "search", "tables", "solver"], crates: &[] },
    // The service.
    Rule {
        part: "service",
        parts: &["service"],
        crates: &[
            "futures_util", // the result of a search that several callers await
            "moka",
            "opentelemetry", // parents of spans, not their export
            "parking_lot",
            "prometheus_client",
            "rustix", // niceness of threads
            "sha2",
            "taquin_bulk",
            "taquin_solver",
            "thiserror",
            "tokio",
            "tracing",
        ],
    },
    Rule {
        part: "jobs",
        parts: &["service", "jobs"],
        crates: &[
            "fixedbitset",
            "futures_util", // concurrent offers to a queue
            "parking_lot",
            "serde",
            "serde_json",
            "sha2",
            "taquin_bulk",
            "taquin_cluster",
            "taquin_solver",
            "thiserror",
            "tokio", // what the engine waits for, and how others wait for it
            "tracing",
        ],
    },
    Rule {
        part: "http",
        parts: &["service", "jobs", "http"],
        crates: &[
            "axum",
            "base64", // digests of bodies
            "bytes",
            "flate2",       // documents compressed once
            "futures_util", // streams
            "getrandom",    // request ids
            "governor",
            "http_body_util",
            "humantime", // times of jobs
            "hyper",
            "itoa",
            "opentelemetry",
            "parking_lot",
            "percent_encoding",
            "prometheus_client",
            "rand_chacha", // request ids
            "serde",
            "serde_json",
            "serde_saphyr",
            "sha2", // tokens, and digests of bodies
            "subtle",
            "taquin_bulk",
            "taquin_solver",
            "tokio",
            "tower",
            "tower_http",
            "tracing",
        ],
    },
    Rule {
        part: "app",
        parts: &["service", "jobs", "http", "app", "config", "telemetry"],
        crates: &[
            "axum",
            "futures_util", // a response with its end announced
            "getrandom",    // ages of connections
            "hyper",
            "hyper_util",
            "parking_lot",
            "procfs",
            "prometheus_client",
            "rustix", // limit of open files, options of sockets
            "taquin_bulk",
            "taquin_cluster",
            "taquin_solver",
            "thiserror",
            "tokio",
            "tokio_util",
            "tower",
            "tracing",
        ],
    },
    Rule {
        part: "config",
        // The settings of each layer.
        parts: &["service", "jobs", "http", "config"],
        crates: &[
            "clap",
            "clap_complete",
            "clap_mangen",
            "humantime",
            "procfs",      // threads in use
            "rustix",      // limit of threads
            "taquin_bulk", // flags of `taquin batch`
            "taquin_solver",
            "tracing_subscriber",
        ],
    },
    Rule {
        part: "telemetry",
        parts: &["config", "telemetry"],
        crates: &[
            "async_trait",
            "http_body_util", // this and the hyper crates: export of traces
            "hyper",
            "humantime",
            "hyper_util",
            "itoa",
            "opentelemetry",
            "opentelemetry_http",
            "opentelemetry_otlp",
            "opentelemetry_sdk",
            "parking_lot",
            "taquin_bulk", // which texts need escapes
            "tokio",
            "tracing",
            "tracing_subscriber",
        ],
    },
    Rule { part: "healthcheck", parts: &["healthcheck"], crates: &[] },
    // The roots of the library and of the binary.
    Rule { part: "lib", parts: &[], crates: &[] },
    Rule {
        part: "main",
        parts: &["app", "config", "healthcheck", "telemetry"],
        crates: &["clap", "mimalloc", "taquin", "taquin_bulk", "tokio", "tracing"],
    },
];

/// Modules of `std` that the two lowest layers must not use, so that they have no clock, no I/O and no threads.
const SYSTEM_MODULES: [&str; 7] = ["env", "fs", "io", "net", "process", "thread", "time"];

/// The only exception: the file that reads the clock.
const CLOCK: (&str, &str) = ("search/budget.rs", "time");

/// The only file with unsafe code.
const UNSAFE: &str = "search/prefetch.rs";

/// The folders and files at the top of each layer: each depends only on those after it.
const ORDERS: [(&str, &[&str]); 3] = [
    (
        "service",
        &[
            "mod",
            "gauges",
            "service",
            "analysis",
            "hint",
            "bulk_tables",
            "reply_memory",
            "pool",
            "spans",
            "tables",
            "instant",
            "metrics",
            "settings",
            "job",
        ],
    ),
    (
        "http",
        &[
            "mod",
            "router",
            "routes",
            "guard",
            "exchange",
            "reply",
            "request",
            "negotiation",
            "problem",
            "routes_table",
            "state",
            "media_type",
        ],
    ),
    (
        "search",
        &[
            "anytime",
            "ida_star",
            "beam",
            "best_first",
            "optimal_paths",
            "multi_tile",
            "mod",
            "distribution",
            "heuristic",
            "trace",
            "generated",
            "packed_boards",
            "prefetch",
            "budget",
            "observer",
            "space",
            "stats",
            "algorithm",
        ],
    ),
];

/// Maximum lines of code of a file, without comments and tests.
const MAX_LINES: usize = 500;

static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(Source::all);
/// The files of `taquin-bulk`, `taquin-cluster`, and the packages for npm and Python. Their manifests say which crates they
/// use.
static BULK: LazyLock<Vec<Source>> = LazyLock::new(|| Source::all_in("crates/taquin-bulk/src"));
static CLUSTER: LazyLock<Vec<Source>> = LazyLock::new(|| Source::all_in("crates/taquin-cluster/src"));
static NPM: LazyLock<Vec<Source>> = LazyLock::new(|| Source::all_in("npm/src"));
static PYTHON: LazyLock<Vec<Source>> = LazyLock::new(|| Source::all_in("python/src"));

#[test]
fn layers_depend_downward_and_on_their_own_crates() {
    assert_none(SOURCES.iter().flat_map(|source| wrong_paths(source, &crates())));
}

#[test]
fn folders_depend_downward() {
    let dependencies = Dependencies::new(&SOURCES);
    for (layer, order) in ORDERS {
        let (entries, arrows) = dependencies.count(layer);
        println!("{layer}: {entries} folders and files at the top, {arrows} dependencies between them");
        assert_eq!(dependencies.missing(layer, order), [""; 0], "no files of `{layer}` for these entries");
    }
    assert_none(ORDERS.iter().flat_map(|(layer, order)| dependencies.upward(layer, order)));
}

#[test]
fn no_files_depend_on_each_other_in_a_cycle() {
    let all = [&SOURCES, &BULK, &CLUSTER, &NPM, &PYTHON];
    assert_none(all.into_iter().flat_map(|sources| Dependencies::new(sources).cycles()));
}

#[test]
fn files_stay_below_the_ceiling() {
    assert_none(all_sources().filter_map(above_the_ceiling));
}

#[test]
fn only_one_file_has_unsafe_code() {
    assert_none(all_sources().flat_map(unsafe_code));
}

fn all_sources() -> impl Iterator<Item = &'static Source> {
    [&SOURCES, &BULK, &CLUSTER, &NPM, &PYTHON].into_iter().flat_map(|sources| sources.iter())
}

fn above_the_ceiling(source: &Source) -> Option<Violation> {
    let description = format!("the file has {} lines of code; the ceiling is {MAX_LINES}", source.lines);
    (source.lines > MAX_LINES).then(|| source.violation(1, description))
}

/// The compiler denies unsafe code, but an attribute can allow it.
fn unsafe_code(source: &Source) -> Vec<Violation> {
    let lines = source.unsafe_lines.iter().filter(|_| source.file != UNSAFE);
    lines.map(|line| source.violation(*line, "unsafe code".to_owned())).collect()
}

fn assert_none(violations: impl Iterator<Item = Violation>) {
    let violations: Vec<String> = violations.map(|violation| violation.to_string()).collect();
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

/// The dependencies of all crates, as paths spell them, and the crate itself.
fn crates() -> Vec<String> {
    let folders = ["", "crates/taquin-bulk", "crates/taquin-cluster", "crates/taquin-solver"];
    let names: Vec<String> = folders.iter().flat_map(|folder| dependencies_of(folder)).collect();
    assert!(names.contains(&"tokio".to_owned()), "unexpected format of the dependencies: {names:?}");
    names.into_iter().chain(["taquin".to_owned()]).collect()
}

fn dependencies_of(folder: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("Cargo.toml");
    let manifest = fs::read_to_string(path).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let names = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once([' ', '=', '.']));
    names.map(|(name, _)| name.replace('-', "_")).collect()
}

fn rule(source: &Source) -> &'static Rule {
    RULES.iter().find(|rule| rule.part == source.part()).unwrap_or_else(|| panic!("no rule for {}", source.file))
}

/// Paths to layers and crates that the file must not name.
fn wrong_paths(source: &Source, crates: &[String]) -> Vec<Violation> {
    let (rule, mut violations) = (rule(source), BTreeSet::new());
    for path in &source.paths {
        let what = match path_root(source, path) {
            PathRoot::Part(part) if !rule.parts.contains(&part) && RULES.iter().any(|rule| rule.part == part) => {
                format!("`{}` names `{part}`, which is not below it", rule.part)
            }
            PathRoot::Part("clock") if source.part() == "search" && source.file != CLOCK.0 => {
                "a search reads the clock by its budget alone".to_owned()
            }
            PathRoot::Crate(name) if crates.iter().any(|known| known == name) && !rule.crates.contains(&name) => {
                format!("`{}` names the crate `{name}`, which is not listed for it", rule.part)
            }
            PathRoot::Std(module) if !may_use_std(source, module) => {
                format!("`{}` names `std::{module}`, which this layer must not use", rule.part)
            }
            _ => continue,
        };
        violations.insert(source.violation(path.line, what));
    }
    violations.into_iter().collect()
}

fn may_use_std(source: &Source, module: &str) -> bool {
    let is_restricted = ["domain", "search"].contains(&source.part());
    !is_restricted || !SYSTEM_MODULES.contains(&module) || (source.file.as_str(), module) == CLOCK
}

/// What a path starts from.
enum PathRoot<'p> {
    /// A layer, or a file outside the layers.
    Part(&'p str),
    Crate(&'p str),
    /// A module of `std`.
    Std(&'p str),
    /// A local, or the file's own module.
    Local,
}

fn path_root<'p>(source: &Source, path: &'p PathUse) -> PathRoot<'p> {
    let segments = &path.segments;
    let supers = segments.iter().take_while(|name| *name == "super").count();
    let name = |at: usize| segments.get(at).map_or("", String::as_str);
    match name(0) {
        "crate" => PathRoot::Part(name(1)),
        "super" if supers >= source.modules[path.module].path.len() => PathRoot::Part(name(supers)),
        "super" | "self" => PathRoot::Local,
        "std" | "core" | "alloc" => PathRoot::Std(name(1)),
        "taquin" if rule(source).crates.contains(&"taquin") => PathRoot::Part(name(1)),
        _ if path.kind == PathKind::Code && segments.len() == 1 => PathRoot::Local,
        first => PathRoot::Crate(first),
    }
}
