//! The text notation: a board equals the text, or is rejected with faults.
//!
//! An input consists of one byte each for rows, columns and encoding, and the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use taquin_solver::{Encoding, RawBoard, Sides};

fuzz_target!(|data: &[u8]| {
    let [rows, cols, encoding, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    // From 12 on, the side is not given. 0, 1 and 11 are invalid sides.
    let side = |byte: u8| (byte % 16 < 12).then_some(usize::from(byte % 16));
    let sides = Sides { rows: side(*rows), cols: side(*cols) };
    let encoding = if encoding % 2 == 0 { Encoding::Tiles } else { Encoding::Positions };

    let raw = RawBoard::parse(text);
    if let Some(lengths) = &raw.row_lengths {
        assert_eq!(lengths.iter().sum::<usize>(), raw.entries.len(), "the rows contain all entries");
    }
    match raw.board(sides, encoding) {
        Ok(board) => {
            let cells = board.size().cells();
            let entries: Vec<Option<i64>> = match encoding {
                Encoding::Tiles => board.tiles().iter().map(|tile| Some(i64::from(*tile))).collect(),
                Encoding::Positions => board.positions()[..cells].iter().map(|cell| Some(i64::from(*cell))).collect(),
            };
            assert_eq!(entries, raw.entries, "the board equals the text");
            assert!(sides.rows.is_none_or(|rows| rows == board.size().rows()), "the given number of rows");
            assert!(sides.cols.is_none_or(|cols| cols == board.size().cols()), "the given number of columns");
            let again = RawBoard::parse(&board.to_string()).board(Sides::default(), Encoding::Tiles);
            assert_eq!(again, Ok(board), "a printed board parses to itself");
        }
        Err(faults) => {
            assert!(!faults.is_empty(), "a rejection has faults");
            for fault in faults {
                assert!(fault.entry().is_none_or(|entry| entry < raw.entries.len()), "{fault:?}");
                assert!(!fault.code().is_empty() && !raw.explain("board", &fault).is_empty());
            }
        }
    }
});
