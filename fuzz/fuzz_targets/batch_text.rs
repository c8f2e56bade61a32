//! The text of a batch in any layout and encoding: the rows do not depend on the pieces in which the text arrives, and
//! a board that is read is read again as itself.
//!
//! An input consists of one byte for the format, one byte for the length of a piece, and the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use taquin_bulk::rows::{CsvInput, InputText, RowFormat, RowOptions, RowReader};
use taquin_solver::{Board, Encoding, RawBoard, Sides};

fuzz_target!(|data: &[u8]| {
    let [format, piece, text @ ..] = data else { return };
    let format = if format % 2 == 1 { RowFormat::Csv(CsvInput::default()) } else { RowFormat::Json };
    let lines = lines_of(text, &format, text.len().max(1));
    assert_eq!(lines, lines_of(text, &format, 1 + usize::from(*piece)), "pieces make no difference");
    let Some(lines) = lines else { return };
    let mut lines = lines.split_inclusive(|byte| *byte == b'\n').filter(|line| !format.skips(line));
    let Some(first) = lines.next() else { return };
    let Ok((reader, is_header)) = RowReader::begin(RowOptions::default(), &format, first) else { return };
    // More rows say nothing new, and take time.
    for line in [first].into_iter().filter(|_| !is_header).chain(lines).take(16) {
        let Ok(puzzle) = reader.read(line).puzzle else { continue };
        let written = puzzle.start().to_string();
        let again: Result<Board, _> = RawBoard::parse(&written).board(Sides::default(), Encoding::Tiles);
        assert_eq!(again.as_ref(), Ok(puzzle.start()), "a printed board is read as itself");
        let lines = lines_of(written.as_bytes(), &RowFormat::Json, 1).expect("a printed board is a text");
        let reader = RowReader::new(RowOptions::default(), RowFormat::Json);
        let row = reader.read(&lines);
        assert_eq!((row.read_as, row.puzzle.expect("a row").start()), (None, puzzle.start()), "a file of one row");
    }
});

/// The lines of a text that arrives in pieces; `None` if the text is not in its encoding.
fn lines_of(text: &[u8], format: &RowFormat, piece: usize) -> Option<Vec<u8>> {
    let mut input = InputText::new(&RowOptions::default(), format);
    let mut lines = Vec::new();
    for piece in text.chunks(piece) {
        lines.extend_from_slice(&input.push(piece).ok()?);
    }
    lines.extend(input.finish().ok()?);
    Some(lines)
}
