//! Boards as text: in the notation, a board equals the text, or is rejected with faults. In any notation, a board that
//! is read prints to itself.
//!
//! An input consists of one byte each for rows, columns and encoding, and the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use taquin_solver::{Encoding, RawBoard, Sides, read_board};

fuzz_target!(|data: &[u8]| {
    let [rows, cols, encoding, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    // From 12 on, the side is not given. 0, 1 and 11 are invalid sides.
    let side = |byte: u8| (byte % 16 < 12).then_some(usize::from(byte % 16));
    let sides = Sides { rows: side(*rows), cols: side(*cols) };
    let encoding = if encoding % 2 == 0 { Encoding::Tiles } else { Encoding::Positions };

    let raw = RawBoard::parse(text);
    let read = read_board(text, sides);
    match &read {
        Ok(read) => {
            assert!(sides.agree_with(read.board.size()), "the board has the given sides");
            let again = read_board(&read.board.to_string(), sides).expect("a printed board is read");
            assert_eq!((again.board, again.read_as), (read.board, None), "a printed board is read as itself");
        }
        Err(boards) => assert_ne!(boards.len(), 1, "a text with one meaning is read"),
    }
    if encoding == Encoding::Tiles
        && let Ok(board) = raw.board(sides, encoding)
    {
        let read = read.expect("the notation is read");
        assert_eq!((read.board, read.read_as), (board, None), "the notation is the first reading");
    }
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
