//! The lines of a batch, as JSON and as CSV: each is a puzzle, or is rejected with a problem.
#![no_main]

use libfuzzer_sys::fuzz_target;
use taquin_bulk::RowError;
use taquin_bulk::rows::read_rows;

fuzz_target!(|data: &[u8]| {
    let Some((first, text)) = data.split_first() else { return };
    let is_csv = first % 2 == 1;
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace)).count();
    // More of them say nothing new, and take time.
    if lines > 16 {
        return;
    }
    let rows = read_rows(text, is_csv);
    // The first line of CSV may be a header.
    assert!(rows.len() == lines || is_csv && rows.len() + 1 == lines, "{} rows of {lines} lines", rows.len());
    for row in rows {
        match row {
            Ok(puzzle) => {
                let board = format!("{:?}\n", puzzle.start().rows().collect::<Vec<_>>());
                let again = read_rows(board.as_bytes(), false).pop().expect("a row").expect("a board of a response");
                assert_eq!(again.start(), puzzle.start());
            }
            Err(error) => check(&error),
        }
    }
});

fn check(error: &RowError) {
    let RowError { kind, detail, errors, .. } = error;
    assert!(matches!(kind.status(), 400 | 413 | 422), "{error:?}");
    assert!(!detail.is_empty() && errors.len() <= RowError::MAX_ERRORS, "{error:?}");
    for error in errors {
        assert!(error.pointer.is_empty() || error.pointer.starts_with('/'), "{error:?}");
        assert!(error.detail.len() < 1000 && !error.detail.contains(char::is_control), "{error:?}");
    }
}
