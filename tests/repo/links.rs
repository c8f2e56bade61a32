//! Relative links in the documents lead to existing files and headings.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn relative_links_lead_to_existing_files_and_headings() {
    let documents: Vec<PathBuf> = ["", "docs", "docs/adr"].into_iter().flat_map(markdown_in).collect();
    assert!(documents.len() > 30, "{documents:?}");
    let broken: Vec<String> = documents.iter().flat_map(|document| broken_links(document)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn markdown_in(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join(directory)).expect("the directory can be read");
    let paths = entries.map(|entry| entry.expect("the entry can be read").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The lines of a document outside its code blocks.
fn prose(document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).expect("the document can be read");
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            lines.push(line.to_owned());
        }
    }
    lines
}

fn broken_links(document: &Path) -> Vec<String> {
    let lines = prose(document);
    let targets = lines.iter().flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split(')').next());
    let is_broken = |target: &&str| !target.contains("://") && !is_valid_target(document, target);
    targets.filter(is_broken).map(|target| format!("{}: {target}", document.display())).collect()
}

fn is_valid_target(document: &Path, target: &str) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { document.to_owned() } else { document.with_file_name(path) };
    file.exists() && (anchor.is_empty() || prose(&file).iter().any(|line| anchor_of(line).as_deref() == Some(anchor)))
}

/// The anchor of a heading, as GitHub forms it.
fn anchor_of(line: &str) -> Option<String> {
    let heading = line.strip_prefix('#')?.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|&character| character.is_alphanumeric() || " -_".contains(character));
    Some(kept.map(|character| if character == ' ' { '-' } else { character }).collect())
}
