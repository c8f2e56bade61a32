//! Architecture decision records: their numbers, their length, and references to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::documents::{RECORDS, files_in, markdown_in, name_of, root, text_of};

/// Most words of a record.
const MAX_WORDS: usize = 600;

/// Folders and files whose references are checked.
const REFERRING: [&str; 15] = [
    ".ci",
    "benches",
    "crates",
    "deploy",
    "docs",
    "fuzz",
    "src",
    "tests",
    "web",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.toml",
    "README.md",
    "SECURITY.md",
    "openapi.yaml",
];

/// Numbers of the records, from the names of their files.
fn numbers() -> BTreeSet<usize> {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
    markdown_in(RECORDS).iter().map(|path| name(path)[..4].parse().expect("a number")).collect()
}

#[test]
fn records_are_numbered_and_short() {
    let records = markdown_in(RECORDS);
    assert!(numbers().into_iter().eq(1..=records.len()), "{:?}", numbers());
    for record in records {
        let (name, text) = (name_of(&record), text_of(&record));
        let number: usize = name[RECORDS.len() + 1..][..4].parse().expect("a number");
        assert!(text.starts_with(&format!("# {number}. ")), "the heading of {name} has another number");
        let words = text.split_whitespace().count();
        assert!(words <= MAX_WORDS, "{name} has {words} words");
    }
}

#[test]
fn references_lead_to_records() {
    let numbers = numbers();
    let (mut count, mut wrong) = (0, Vec::new());
    for path in REFERRING.iter().flat_map(|path| files_in(&root().join(path))) {
        // Pictures are no text.
        let found = fs::read_to_string(&path).map_or_else(|_| Vec::new(), |text| references(&text));
        count += found.len();
        let missing = found.into_iter().filter(|number| !numbers.contains(number));
        wrong.extend(missing.map(|number| format!("{}: ADR {number}", name_of(&path))));
    }
    assert!(count > 50, "{count} references");
    assert!(wrong.is_empty(), "no such record:\n{}", wrong.join("\n"));
}

/// The numbers in `docs/adr/0001`, `ADR 1`, and `ADR 1, 2 and 3`, which may be broken into lines of a comment.
fn references(text: &str) -> Vec<usize> {
    let leaders = ["//!", "///", "//", "#"];
    let mut words = text.split_whitespace().filter(|word| !leaders.contains(word)).peekable();
    let in_paths = |word: &str| -> Vec<usize> {
        word.split("adr/").skip(1).filter_map(|rest| rest.get(..4)?.parse().ok()).collect()
    };
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        found.extend(in_paths(word));
        let mut goes_on = matches!(word.trim_start_matches(|first: char| !first.is_alphanumeric()), "ADR" | "ADRs");
        while let Some(number) = words.peek().filter(|_| goes_on).and_then(|word| leading_number(word)) {
            found.push(number);
            let last = words.next().expect("the peeked word");
            found.extend(in_paths(last));
            goes_on = last.ends_with(',') || words.next_if(|word| ["and", "or", "to"].contains(word)).is_some();
        }
    }
    found
}

/// The number at the beginning of a word, but for dates and for numbers with more digits after a comma or a point.
fn leading_number(word: &str) -> Option<usize> {
    let (digits, rest) = word.split_at(word.find(|character: char| !character.is_ascii_digit()).unwrap_or(word.len()));
    let goes_on = rest.starts_with('-') || rest.starts_with([',', '.']) && rest[1..].starts_with(char::is_numeric);
    if goes_on { None } else { digits.parse().ok() }
}

#[test]
fn references_are_read() {
    for (text, numbers) in [
        ("(ADR 12).", vec![12]),
        ("see ADRs 1, 2 and 20; ADR\n/// 4 too, and 5", vec![1, 2, 20, 4]),
        ("[ADR\n  7](adr/0007-a.md), docs/adr/0008", vec![7, 7, 8]),
        ("ADR 9, 52,500 and ADR 10, 2026-11-28", vec![9, 10]),
        ("an ADR, 5 files of docs/adr/", vec![]),
    ] {
        assert_eq!(references(text), numbers, "{text}");
    }
}
