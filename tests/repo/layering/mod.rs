//! The house keeps its floors: every arrow points down, each floor knows its own crates alone, and
//! nothing grows past the ceilings.
//!
//! The checker reads tokens, not syntax trees: comments and literals are blanked, modules of tests
//! are left out, and what is left is searched for paths. Its own tests, at the end, break each rule
//! once.

mod the_checker;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// What a part of the house may name: parts of it, and crates beside `std`.
struct Rule {
    part: &'static str,
    parts: &'static [&'static str],
    crates: &'static [&'static str],
}

const RULES: [Rule; 10] = [
    Rule { part: "domain", parts: &["domain"], crates: &[] },
    Rule { part: "search", parts: &["domain", "search"], crates: &[] },
    Rule {
        part: "service",
        parts: &["domain", "search", "service"],
        crates: &[
            "futures_util", // a search that many wait for
            "getrandom",
            "moka",
            "opentelemetry", // where a span belongs, not where it goes
            "prometheus_client",
            "rand_chacha",
            "rustix", // the niceness of the thread that builds tables
            "sha2",
            "thiserror",
            "tokio",
            "tracing",
        ],
    },
    Rule {
        part: "http",
        parts: &["domain", "search", "service", "http"],
        crates: &[
            "axum",
            "bytes",
            "flate2",       // documents packed once
            "futures_util", // panics are caught
            "getrandom",    // request ids
            "governor",
            "http_body_util",
            "hyper",
            "itoa",
            "opentelemetry",
            "prometheus_client",
            "rand_chacha", // request ids
            "serde",
            "serde_json",
            "serde_saphyr",
            "sha2", // tokens
            "strsim",
            "subtle",
            "tokio",
            "tower",
            "tower_http",
            "tracing",
        ],
    },
    Rule {
        part: "app",
        parts: &["service", "http", "app", "config", "telemetry"],
        crates: &[
            "axum",
            "hyper",
            "hyper_util",
            "procfs",
            "prometheus_client",
            "rustix", // the limit of open files
            "thiserror",
            "tokio",
            "tokio_util",
            "tower",
            "tracing",
        ],
    },
    Rule { part: "config", parts: &["config"], crates: &["clap", "humantime", "tracing_subscriber"] },
    Rule {
        part: "telemetry",
        parts: &["config", "telemetry"],
        crates: &[
            "async_trait",
            "http_body_util", // these three: how traces are sent
            "hyper",
            "humantime",
            "hyper_util",
            "itoa",
            "opentelemetry",
            "opentelemetry_http",
            "opentelemetry_otlp",
            "opentelemetry_sdk",
            "slab", // spans by id
            "tokio",
            "tracing",
            "tracing_core", // what a subscriber answers with
            "tracing_subscriber",
        ],
    },
    Rule { part: "healthcheck", parts: &["healthcheck"], crates: &[] },
    // The roots: one declares the parts, the other puts them to work.
    Rule { part: "lib", parts: &[], crates: &[] },
    Rule {
        part: "main",
        parts: &["app", "config", "healthcheck", "telemetry"],
        crates: &["clap", "mimalloc", "taquin", "tokio", "tracing"],
    },
];

/// Modules of `std` that the two lowest floors do without: no clock, no I/O, no threads.
const OUTSIDE_WORLD: [&str; 7] = ["env", "fs", "io", "net", "process", "thread", "time"];

/// The one file down there that looks at the clock.
const CLOCK: (&str, &str) = ("search/budget.rs", "time");

/// The one file that may, and says why.
const UNSAFE: &str = "search/heuristic/pattern/prefetch.rs";

const MAX_FILE_LINES: usize = 350;
const MAX_FUNCTION_LINES: usize = 40;

#[test]
fn the_house_keeps_its_floors() {
    assert_none(Source::all().iter().flat_map(|source| source.wrong_paths(&crates())));
}

#[test]
fn files_and_functions_stay_below_the_ceilings() {
    assert_none(Source::all().iter().flat_map(Source::above_the_ceilings));
}

#[test]
fn nothing_is_unsafe_printed_or_left_undone() {
    assert_none(Source::all().iter().flat_map(Source::forbidden_words));
}

fn assert_none(faults: impl Iterator<Item = Fault>) {
    let faults: Vec<String> = faults.map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The crates that Cargo.toml lets the sources name, as paths spell them.
fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let names = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once([' ', '=', '.']));
    let names: Vec<String> = names.map(|(name, _)| name.replace('-', "_")).collect();
    assert!(names.contains(&"tokio".to_owned()), "this is how dependencies are written: {names:?}");
    names.into_iter().chain(["taquin".to_owned()]).collect()
}

/// Something that breaks a rule.
#[derive(Debug)]
struct Fault {
    file: String,
    line: usize,
    what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "src/{}:{}: {}", self.file, self.line, self.what)
    }
}

/// A file in `src`, without comments, the insides of literals, and modules of tests.
struct Source {
    /// Its path in `src`, with slashes.
    file: String,
    code: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Token {
    text: String,
    line: usize,
}

impl Source {
    fn all() -> Vec<Self> {
        let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = Vec::new();
        collect(&src, &mut files);
        assert!(files.len() > 20, "the sources are there: {files:?}");
        let relative = |file: &PathBuf| file.strip_prefix(&src).unwrap().to_str().unwrap().replace('\\', "/");
        let sources = files.iter().filter(|file| !file.ends_with("tests.rs"));
        sources.map(|file| Self::new(&relative(file), &fs::read_to_string(file).unwrap())).collect()
    }

    fn new(file: &str, text: &str) -> Self {
        Self { file: file.to_owned(), code: without_tests(&without_comments(text)) }
    }

    fn fault(&self, line: usize, what: String) -> Fault {
        Fault { file: self.file.clone(), line, what }
    }

    /// `domain/board.rs` is `["domain", "board"]`.
    fn module(&self) -> Vec<&str> {
        let path = self.file.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').collect()
    }

    fn rule(&self) -> &'static Rule {
        let part = self.module()[0];
        RULES.iter().find(|rule| rule.part == part).unwrap_or_else(|| panic!("no rule for src/{}", self.file))
    }

    /// Paths to parts of the house and to crates that this file must not know.
    fn wrong_paths(&self, crates: &[String]) -> Vec<Fault> {
        let (rule, mut faults) = (self.rule(), Vec::new());
        for (path, line) in paths(&tokens(&self.code)) {
            let what = match self.named(&path) {
                Named::Part(part) if !rule.parts.contains(&part) && RULES.iter().any(|rule| rule.part == part) => {
                    format!("`{}` names `{part}`: not below it", rule.part)
                }
                Named::Crate(name) if crates.iter().any(|known| known == name) && !rule.crates.contains(&name) => {
                    format!("`{}` names the crate `{name}`: not its own", rule.part)
                }
                Named::Std(module) if !self.may_use_std(module) => {
                    format!("`{}` names `std::{module}`: the world outside", rule.part)
                }
                _ => continue,
            };
            faults.push(self.fault(line, what));
        }
        faults
    }

    fn may_use_std(&self, module: &str) -> bool {
        let is_low = ["domain", "search"].contains(&self.rule().part);
        !is_low || !OUTSIDE_WORLD.contains(&module) || (self.file.as_str(), module) == CLOCK
    }

    fn named<'p>(&self, path: &'p [String]) -> Named<'p> {
        let supers = path.iter().take_while(|name| *name == "super").count();
        let word = |at: usize| path.get(at).map_or("", String::as_str);
        match word(0) {
            "crate" => Named::Part(word(1)),
            "super" if supers >= self.module().len() => Named::Part(word(supers)),
            "super" | "self" => Named::Nothing,
            "std" | "core" | "alloc" => Named::Std(word(1)),
            "taquin" if self.rule().crates.contains(&"taquin") => Named::Part(word(1)),
            first => Named::Crate(first),
        }
    }

    fn above_the_ceilings(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let lines = lines_of_code(&self.code);
        if lines > MAX_FILE_LINES {
            faults.push(self.fault(1, format!("{lines} lines of code, {MAX_FILE_LINES} are the ceiling")));
        }
        for (name, line, lines) in functions(&self.code) {
            if lines > MAX_FUNCTION_LINES {
                let what = format!("`{name}` has {lines} lines of code, {MAX_FUNCTION_LINES} are the ceiling");
                faults.push(self.fault(line, what));
            }
        }
        faults
    }

    fn forbidden_words(&self) -> Vec<Fault> {
        let tokens = tokens(&self.code);
        let is_macro = |at: usize| tokens.get(at + 1).is_some_and(|next| next.text == "!");
        let is_method = |at: usize| at > 0 && tokens[at - 1].text == ".";
        let found = tokens.iter().enumerate().filter(|(at, token)| match token.text.as_str() {
            "unsafe" => self.file != UNSAFE,
            "todo" | "unimplemented" | "dbg" | "print" | "println" => is_macro(*at),
            // `main` tells faults of the settings, because there is no log yet.
            "eprint" | "eprintln" => is_macro(*at) && self.rule().part != "main",
            // `expect` says why it cannot fail.
            "unwrap" => is_method(*at),
            _ => false,
        });
        found.map(|(_, token)| self.fault(token.line, format!("`{}`", token.text))).collect()
    }
}

/// What the beginning of a path leads to.
enum Named<'p> {
    Part(&'p str),
    Crate(&'p str),
    Std(&'p str),
    Nothing,
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
}

/// Takes out comments, and puts an underscore for each visible character inside a literal.
fn without_comments(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let (mut code, mut index) = (String::new(), 0);
    while index < chars.len() {
        let begins_word = index == 0 || !is_word(at(index - 1));
        let end = match at(index) {
            '/' if at(index + 1) == '/' => end_of_line(&chars, index),
            '/' if at(index + 1) == '*' => end_of_block(&chars, index),
            '"' => end_of_string(&chars, index),
            'r' | 'b' if begins_word && raw_hashes(&chars, index).is_some() => end_of_raw(&chars, index),
            '\'' if at(index + 1) == '\\' => end_of_char(&chars, index),
            '\'' if at(index + 2) == '\'' => index + 3,
            _ => index,
        };
        if end == index {
            code.push(at(index));
            index += 1;
            continue;
        }
        let blank = if at(index) == '/' { ' ' } else { '_' };
        code.extend(chars[index..end].iter().map(|c| if c.is_whitespace() { *c } else { blank }));
        index = end;
    }
    code
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_line(chars: &[char], from: usize) -> usize {
    chars[from..].iter().position(|c| *c == '\n').map_or(chars.len(), |length| from + length)
}

fn end_of_block(chars: &[char], from: usize) -> usize {
    let (mut depth, mut index) = (0, from);
    while index + 1 < chars.len() {
        match (chars[index], chars[index + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                index += 1;
                continue;
            }
        }
        index += 2;
        if depth == 0 {
            return index;
        }
    }
    chars.len()
}

/// After the quotation mark that closes the one at `from`.
fn end_of_string(chars: &[char], from: usize) -> usize {
    let mut index = from + 1;
    while index < chars.len() && chars[index] != '"' {
        index += if chars[index] == '\\' { 2 } else { 1 };
    }
    (index + 1).min(chars.len())
}

fn end_of_char(chars: &[char], from: usize) -> usize {
    chars[from + 3..].iter().position(|c| *c == '\'').map_or(chars.len(), |length| from + 4 + length)
}

/// The hashes of a raw string that begins at `from`.
fn raw_hashes(chars: &[char], from: usize) -> Option<usize> {
    let from = if chars[from] == 'b' { from + 1 } else { from };
    if chars.get(from) != Some(&'r') {
        return None;
    }
    let hashes = chars[from + 1..].iter().take_while(|c| **c == '#').count();
    (chars.get(from + 1 + hashes) == Some(&'"')).then_some(hashes)
}

fn end_of_raw(chars: &[char], from: usize) -> usize {
    let hashes = raw_hashes(chars, from).unwrap();
    let quote = from + chars[from..].iter().position(|c| *c == '"').unwrap();
    let closing: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let length = chars[quote + 1..].windows(closing.len()).position(|window| window == closing);
    length.map_or(chars.len(), |length| quote + 1 + length + closing.len())
}

/// Blanks what stands behind `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut code = code.to_owned();
    while let Some(from) = code.find("#[cfg(test)]") {
        let end = from + end_of_item(&code[from..]);
        let blanked: String = code[from..end].chars().map(|c| if c.is_whitespace() { c } else { ' ' }).collect();
        code.replace_range(from..end, &blanked);
    }
    code
}

/// After the first `;` or `{…}` that no bracket or parenthesis encloses.
fn end_of_item(code: &str) -> usize {
    let (mut braces, mut others) = (0, 0);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => others += 1,
            ')' | ']' => others -= 1,
            '{' => braces += 1,
            '}' => braces -= 1,
            _ => {}
        }
        if others == 0 && braces == 0 && matches!(c, ';' | '}') {
            return at + 1;
        }
    }
    code.len()
}

fn lines_of_code(code: &str) -> usize {
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

/// Name, first line and lines of code of every function that has a body.
fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (from, _) in code.match_indices("fn ") {
        let name: String = code[from + 3..].chars().take_while(|c| is_word(*c)).collect();
        if name.is_empty() || code[..from].ends_with(is_word) {
            continue;
        }
        let body = &code[from..from + end_of_item(&code[from..])];
        found.push((name, code[..from].matches('\n').count() + 1, lines_of_code(body)));
    }
    found
}

/// Words, `::`, and single signs.
fn tokens(code: &str) -> Vec<Token> {
    let (mut tokens, mut line) = (Vec::new(), 1);
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        if first == '\n' {
            line += 1;
        } else if !first.is_whitespace() {
            tokens.push(Token { text: rest[..length].to_owned(), line });
        }
        rest = &rest[length..];
    }
    tokens
}

/// Every path, each branch of a `use` group by itself, with its line.
fn paths(tokens: &[Token]) -> Vec<(Vec<String>, usize)> {
    let (mut paths, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let is_use = tokens[at].text == "use";
        let begins = is_use || tokens.get(at + 1).is_some_and(|next| next.text == "::");
        if begins && (is_use || tokens[at].text.starts_with(is_word)) {
            at = branch(tokens, at + usize::from(is_use), &[], &mut paths).max(at + 1);
        } else {
            at += 1;
        }
    }
    paths
}

/// Reads one branch that begins at `at` below `prefix`; gives where it ends.
fn branch(tokens: &[Token], mut at: usize, prefix: &[String], paths: &mut Vec<(Vec<String>, usize)>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let line = tokens.get(at).map_or(0, |token| token.line);
    let mut path = prefix.to_vec();
    if text(at) == "::" {
        at += 1;
    }
    loop {
        if text(at) == "{" {
            while !matches!(text(at), "}" | "") {
                // `as` and the new name are read as one more branch, which leads nowhere.
                at = branch(tokens, at + 1, &path, paths);
                while !matches!(text(at), "," | "}" | "") {
                    at += 1;
                }
            }
            return at + 1;
        }
        if !text(at).starts_with(is_word) {
            break;
        }
        path.push(text(at).to_owned());
        at += 1;
        if text(at) != "::" {
            break;
        }
        at += 1;
    }
    paths.push((path, line));
    at
}
