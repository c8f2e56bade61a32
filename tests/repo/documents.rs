//! The Markdown files of the repository, and their lines.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the architecture decision records.
pub(crate) const RECORDS: &str = "docs/adr";

/// A line of a document.
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// With its indentation.
    pub(crate) text: &'a str,
    /// The part of a code block that the line is, if it is in one.
    pub(crate) code: Option<Code>,
}

/// A part of a code block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Opening,
    Content,
    Closing,
}

/// All documents that readers see rendered.
pub(crate) fn documents() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).expect("the directory can be read");
    let readmes = crates.map(|entry| entry.expect("the entry can be read").path().join("README.md"));
    let folders = ["", "docs", "npm", "python", RECORDS].into_iter().flat_map(markdown_in);
    let all: Vec<PathBuf> = folders.chain(readmes).collect();
    assert!(all.len() > 30, "{all:?}");
    all
}

pub(crate) fn text_of(document: &Path) -> String {
    fs::read_to_string(document).expect("the document can be read")
}

/// The path of a file from the root of the repository.
pub(crate) fn name_of(document: &Path) -> String {
    document.strip_prefix(root()).expect("the file is in the repository").display().to_string()
}

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn markdown_in(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(directory)).expect("the directory can be read");
    let paths = entries.map(|entry| entry.expect("the entry can be read").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// All files at or below a path, but for generated ones.
pub(crate) fn files_in(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path) else { return path.is_file().then(|| path.to_owned()).into_iter().collect() };
    let paths = entries.map(|entry| entry.expect("the entry can be read").path());
    let is_source = |path: &PathBuf| !path.ends_with("target") && !path.ends_with("node_modules");
    paths.filter(is_source).flat_map(|path| files_in(&path)).collect()
}

/// A block ends at a line with the backticks of its fence and nothing else, as in CommonMark.
pub(crate) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut fence = None;
    let mut lines = Vec::new();
    for (number, text) in (1..).zip(text.lines()) {
        let trimmed = text.trim();
        let backticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        let code = match fence {
            None if backticks >= 3 => {
                fence = Some(backticks);
                Some(Code::Opening)
            }
            None => None,
            Some(length) if backticks >= length && backticks == trimmed.len() => {
                fence = None;
                Some(Code::Closing)
            }
            Some(_) => Some(Code::Content),
        };
        lines.push(Line { number, text, code });
    }
    lines
}
