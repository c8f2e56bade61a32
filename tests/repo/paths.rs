//! Paths that documents name exist.

use std::fs;
use std::path::Path;

use super::documents::{documents, files_in, lines, name_of, root, text_of};

/// Top-level folders. A word that begins with one of them and a slash is a path from the root.
const FOLDERS: [&str; 13] = [
    ".ci", ".github", "benches", "crates", "deploy", "docs", "examples", "fuzz", "npm", "python", "src", "tests", "web",
];

/// Extensions of source files. Documents may leave out the beginning of their paths.
const SOURCES: [&str; 4] = [".js", ".mjs", ".py", ".rs"];

/// Beginnings of patterns and placeholders in a path: the part before them must exist.
const PATTERNS: [char; 6] = ['*', '<', '{', '…', '$', ':'];

#[test]
fn documents_name_existing_paths() {
    let repository = Repository::read();
    // Earlier entries of the changelog may name files that are gone.
    let documents = documents().into_iter().filter(|document| name_of(document) != "CHANGELOG.md");
    let missing: Vec<String> = documents.flat_map(|document| repository.missing_in(&document)).collect();
    assert!(missing.is_empty(), "no such file:\n{}", missing.join("\n"));
}

struct Repository {
    /// Paths of all files, with a slash before each.
    files: Vec<String>,
    /// Paths that only some checkouts have.
    ignored: String,
}

impl Repository {
    fn read() -> Self {
        let paths = FOLDERS.iter().flat_map(|folder| files_in(&root().join(folder)));
        let files: Vec<String> = paths.map(|path| format!("/{}", name_of(&path))).collect();
        assert!(files.len() > 500, "{} files", files.len());
        let ignored = fs::read_to_string(root().join(".gitignore")).expect("the file can be read");
        Self { files, ignored }
    }

    fn missing_in(&self, document: &Path) -> Vec<String> {
        let text = text_of(document);
        let mut missing = Vec::new();
        for line in lines(&text) {
            let spans = line.text.split('`').skip(1).step_by(2);
            let words: Vec<&str> = match line.code {
                Some(_) => line.text.split_whitespace().collect(),
                None => spans.filter_map(|span| span.split_whitespace().next()).collect(),
            };
            let is_missing = |word: &&str| !self.has(document, word, line.code.is_none());
            missing.extend(
                words
                    .into_iter()
                    .filter(is_missing)
                    .map(|word| format!("{}:{}: {word}", name_of(document), line.number)),
            );
        }
        missing
    }

    /// Whether a word is an existing path, or no path. The beginning of a path is optional in prose.
    fn has(&self, document: &Path, word: &str, in_prose: bool) -> bool {
        let path = word.trim_matches(|character: char| "\"'(),.;".contains(character) && !word.starts_with('.'));
        let fixed = path.split(PATTERNS).next().unwrap_or_default();
        if path.split_once('/').is_some_and(|(first, _)| FOLDERS.contains(&first)) {
            let beside = document.with_file_name(fixed);
            let is_ignored = self.ignored.lines().any(|line| line.strip_prefix('/') == Some(path));
            root().join(fixed).exists() || beside.exists() || is_ignored
        } else {
            let is_source = SOURCES.iter().any(|extension| path.len() > extension.len() && path.ends_with(extension));
            let is_path = in_prose && is_source && fixed == path && !path.starts_with(['/', '.', '-']);
            !is_path || self.files.iter().any(|file| file.ends_with(&format!("/{path}")))
        }
    }
}

#[test]
fn a_missing_path_is_found() {
    let (repository, document) = (Repository::read(), root().join("docs/ARCHITECTURE.md"));
    for word in ["src/mian.rs", "src/htpt/<name>.rs", "docs/MISSING.md", "repo/pahts.rs", "pahts.rs", ".ci/rnu"] {
        assert!(!repository.has(&document, word, true), "{word}");
    }
    for word in ["src/main.rs", "src/http/<name>.rs", "repo/paths.rs", "paths.rs", "deploy/tokens", "usr/lib", ".rs"] {
        assert!(repository.has(&document, word, true), "{word}");
    }
    assert!(repository.has(&document, "job.py", false), "a file that a code block creates");
}
