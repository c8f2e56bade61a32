//! Readers see all of every document: Markdown drops nothing of it when it is rendered.

use super::documents::{Code, Line, documents, lines, name_of, text_of};

/// After the backticks of a fence. Whatever else follows them is not rendered.
const LANGUAGES: [&str; 13] =
    ["", "console", "csv", "html", "js", "json", "nginx", "python", "rust", "sh", "text", "ts", "yaml"];

/// Beginnings of the comments that checks read (`.ci/examples`, `.ci/excerpts.py`, `src/config/reference.rs`).
const COMMENTS: [&str; 3] = ["<!-- file: ", "<!-- from: ", "<!-- Generated from "];

#[test]
fn readers_see_all_of_every_document() {
    let faults: Vec<String> = documents()
        .iter()
        .flat_map(|document| {
            let name = name_of(document);
            faults(&text_of(document)).into_iter().map(move |fault| format!("{name}:{fault}"))
        })
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The line number and the reason for each line of which a reader would not see all.
fn faults(text: &str) -> Vec<String> {
    let (mut faults, mut open, mut columns) = (Vec::new(), None, None);
    for line in lines(text) {
        match line.code {
            Some(Code::Opening) => open = Some((line.number, indentation(line.text))),
            Some(Code::Closing) => open = None,
            _ => {}
        }
        let block = open.map_or(0, |(_, indentation)| indentation);
        columns = cells(&line).map(|cells| columns.unwrap_or(cells));
        if let Some(reason) = fault(&line, block, columns) {
            faults.push(format!("{}: {reason}", line.number));
        }
    }
    faults.extend(open.map(|(number, _)| format!("{number}: a code block without an end")));
    faults
}

fn fault(line: &Line, block: usize, columns: Option<usize>) -> Option<&'static str> {
    let trimmed = line.text.trim();
    match line.code {
        Some(Code::Opening) if !LANGUAGES.contains(&trimmed.trim_start_matches('`')) => {
            Some("a fence with more than a known language: the rest of the line is not rendered")
        }
        Some(Code::Content) if !trimmed.is_empty() && indentation(line.text) < block => {
            Some("a line of a code block that is indented less than its fence: it ends the block")
        }
        Some(_) => None,
        None if trimmed.contains("<!--") => {
            let is_known = COMMENTS.iter().any(|comment| trimmed.starts_with(comment)) && trimmed.ends_with("-->");
            (!is_known).then_some("a comment that no check reads: it is not rendered")
        }
        None if trimmed.starts_with("~~~") => Some("a fence of tildes: use backticks"),
        None if has_tag(&prose(trimmed)) => Some("an HTML tag: it is not rendered; use backticks"),
        None if is_definition(trimmed) => Some("a link definition: it is not rendered"),
        None if cells(line) > columns => Some("more cells than the head of the table: the last are not rendered"),
        None => None,
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The text without its code spans and its escaped characters.
fn prose(text: &str) -> String {
    let outside = text.split('`').step_by(2).collect::<Vec<_>>().join("`");
    outside.replace("\\<", "").replace("\\|", "")
}

/// Whether the prose has `<` before a letter or a slash, except in `<https://…>`.
fn has_tag(prose: &str) -> bool {
    prose.split('<').skip(1).any(|rest| {
        let name = rest.split(['>', ' ']).next().unwrap_or_default();
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/') && !name.contains("://")
    })
}

fn is_definition(text: &str) -> bool {
    text.starts_with('[') && text.split_once("]:").is_some_and(|(label, _)| !label.contains(']'))
}

/// The number of cells, if the line is a row of a table. Backticks do not protect a bar there.
fn cells(line: &Line) -> Option<usize> {
    let text = line.text.trim();
    (line.code.is_none() && text.starts_with('|')).then(|| text.replace("\\|", "").matches('|').count() - 1)
}

#[test]
fn what_would_vanish_is_found() {
    for (text, line) in [
        ("1. NATS.\n\n   ```sh kubectl apply -k nats\n   --wait\n   ```\n", "3: a fence"),
        ("```kubectl\n```\n", "1: a fence"),
        ("1. one\n\n   ```sh\n one\n   ```\n", "4: a line of a code block"),
        ("text\n```sh\nls\n", "2: a code block without an end"),
        ("```sh\nls\n``` sh\n", "1: a code block without an end"),
        ("<!-- not shown\n-->\n", "1: a comment"),
        ("<!-- varies -->\n", "1: a comment"),
        ("text <!-- file: a --> text\n", "1: a comment"),
        ("run taquin <file>\n", "1: an HTML tag"),
        ("`a` <b>`c`\n", "1: an HTML tag"),
        ("[note]: not shown\n", "1: a link definition"),
        ("~~~sh\n~~~\n", "1: a fence of tildes"),
        ("| a | b |\n|---|---|\n| `c|d` | e |\n", "3: more cells"),
    ] {
        assert!(faults(text).iter().any(|fault| fault.starts_with(line)), "{text}: {:?}", faults(text));
    }
    for text in [
        "<!-- file: a -->\n```console\n$ ls <file>\n<!-- html -->\n```\n",
        "1. one\n\n   ```sh\n   ls\n\n   ls\n   ```\n",
        "`<file>` and <https://example.org> and 1 < 2, a \\<b\n",
        "| a | b |\n|---|---|\n| `c\\|d` | e |\n\ntext\n\n| a | b | c |\n|---|---|---|\n",
    ] {
        assert_eq!(faults(text), [""; 0], "{text}");
    }
}
