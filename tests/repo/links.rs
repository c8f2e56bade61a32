//! Relative links in the documents lead to existing files and headings.

use std::path::Path;

use super::documents::{documents, lines, text_of};

#[test]
fn relative_links_lead_to_existing_files_and_headings() {
    let broken: Vec<String> = documents().iter().flat_map(|document| broken_links(document)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The lines of a document outside its code blocks.
fn prose(document: &Path) -> Vec<String> {
    let text = text_of(document);
    lines(&text).iter().filter(|line| line.code.is_none()).map(|line| line.text.to_owned()).collect()
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
