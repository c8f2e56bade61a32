//! Boards and files as people have them: tables of texts, each with the boards that it means, or that it is refused.
//!
//! `texts.txt` has texts of one board, and `rows.txt` has files of rows. The tables come with their formats.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use taquin_bulk::rows::{CsvInput, InputText, RowFormat, RowOptions, RowReader};
use taquin_bulk::{ErrorKind, RowError};
use taquin_solver::{Sides, read_board};

/// The least number of examples of each kind.
const EXAMPLES: usize = 20;

/// A kind of text, and its cases: the line after `===`, and the lines of the case.
type Kind<'t> = (&'t str, Vec<(&'t str, String)>);

/// Reads a table of this folder.
fn table(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/boards").join(name);
    fs::read_to_string(path).expect("a table")
}

/// Splits a table into kinds at lines with `##`, and kinds into cases at lines with `===`.
fn kinds(table: &str) -> Vec<Kind<'_>> {
    let kinds = table.split("\n## ").skip(1);
    kinds.map(|kind| (kind.lines().next().unwrap_or_default(), cases(kind))).collect()
}

fn cases(kind: &str) -> Vec<(&str, String)> {
    let case = |case| {
        let (head, lines) = str::split_once(case, '\n').unwrap_or((case, ""));
        (head, unescaped(lines.trim_end_matches('\n')))
    };
    kind.split("\n=== ").skip(1).map(case).collect()
}

/// Replaces `\t`, `\r`, `\n` and `\u{…}`.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (character, rest) = match part.strip_prefix("u{").and_then(|part| part.split_once('}')) {
            Some((code, rest)) => (u32::from_str_radix(code, 16).ok().and_then(char::from_u32), rest),
            None => (
                Some(match part.chars().next() {
                    Some('t') => '\t',
                    Some('r') => '\r',
                    _ => '\n',
                }),
                &part[1..],
            ),
        };
        plain.push(character.expect("a character"));
        plain.push_str(rest);
    }
    plain
}

#[test]
fn every_text_of_a_board_is_read_or_refused() {
    let (table, mut wrong) = (table("texts.txt"), String::new());
    for (kind, cases) in kinds(&table) {
        assert!(cases.len() >= EXAMPLES, "{kind}: {} examples", cases.len());
        for (expected, text) in cases {
            let sides = |name: &str| {
                expected.split_once(name).and_then(|(_, side)| side.split_whitespace().next()?.parse().ok())
            };
            let sides = Sides { rows: sides("rows="), cols: sides("cols=") };
            let found = match read_board(&text, sides) {
                Ok(read) => format!("{} | {}", read.board, read.read_as.unwrap_or_default()),
                Err(boards) if boards.is_empty() => "refused".to_owned(),
                Err(boards) => format!("{} or {}", boards[0].board, boards[1].board),
            };
            let expected = expected.split(" rows=").next().unwrap_or_default();
            let found = if expected.contains(" | ") { &*found } else { found.split(" | ").next().unwrap_or_default() };
            if found != expected {
                writeln!(wrong, "{kind}:\n{text}\n  is {found}, not {expected}").expect("a text");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The rows of a file, each as a line: the number, the id if the row has one, and the board or the reason.
fn rows_of(bytes: &[u8], format: RowFormat, piece: usize) -> Result<String, RowError> {
    let options = RowOptions::default();
    let mut input = InputText::new(&options, &format);
    let mut text = Vec::new();
    for piece in bytes.chunks(piece) {
        text.extend_from_slice(&input.push(piece)?);
    }
    text.extend(input.finish()?);
    let mut lines = (1..).zip(text.split_inclusive(|byte| *byte == b'\n')).filter(|(_, line)| !format.skips(line));
    let (first, mut rows) = (lines.clone().next(), String::new());
    let Some((_, first)) = first else { return Ok(rows) };
    let (reader, is_header) = RowReader::begin(options, &format, first)?;
    if is_header {
        lines.next();
    }
    for (number, line) in lines {
        let row = reader.read(line);
        let id = row.id.map(|id| format!(" {}", String::from_utf8_lossy(&id))).unwrap_or_default();
        let board = match row.puzzle {
            Ok(puzzle) => puzzle.start().to_string(),
            Err(error) if error.kind == ErrorKind::Unsolvable => "unsolvable".to_owned(),
            Err(error) => format!("! {}", error.errors.first().map_or(error.kind.slug(), |error| error.code)),
        };
        writeln!(rows, "{number}{id}: {board}").expect("a text");
    }
    Ok(rows)
}

#[test]
fn every_file_of_rows_is_read_or_refused() {
    let (table, mut wrong) = (table("rows.txt"), String::new());
    for (kind, cases) in kinds(&table) {
        let mut examples = 0;
        for (head, lines) in cases {
            let (text, expected): (Vec<&str>, Vec<&str>) =
                lines.split_inclusive('\n').partition(|line| !line.starts_with("> "));
            let expected: String = expected.iter().map(|line| line.trim_start_matches("> ")).collect();
            let expected = expected.trim_end();
            let text = text.concat();
            let bytes: Vec<u8> = match () {
                () if head.contains("utf-16le") => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
                () if head.contains("utf-16be") => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
                () => text.clone().into_bytes(),
            };
            let bytes = if head.contains("cut") { &bytes[..bytes.len() - 1] } else { &bytes };
            let format = if head.contains("csv") { RowFormat::Csv(CsvInput::default()) } else { RowFormat::Json };
            for piece in [1, 5, 64, bytes.len().max(1)] {
                let found = rows_of(bytes, format.clone(), piece).unwrap_or_else(|error| format!("! {}", error.detail));
                if found.trim_end() != expected {
                    writeln!(wrong, "{kind}, {head}:\n{text}\n  is\n{found}\n  not\n{expected}").expect("a text");
                    break;
                }
            }
            examples += expected.lines().count();
        }
        assert!(examples >= EXAMPLES, "{kind}: {examples} examples");
    }
    assert!(wrong.is_empty(), "{wrong}");
}
