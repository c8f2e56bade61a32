//! Parts of jobs and parts of inputs: whatever is read is written again with equal bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use taquin_bulk::{Part, PartHeader, Want, decode_input_part};
use taquin_solver::{Board, BoardCodec, Named, Size};

fuzz_target!(|data: &[u8]| {
    let Some((choice, rest)) = data.split_first() else { return };
    let want = Want::ALL[usize::from(choice % 5)];
    // The bytes as they are, and with sound checksums, which no input finds by chance.
    check_part(want, rest);
    check_part(want, &with_checksums(rest));
    check_input_part(rest);
});

fn check_part(want: Want, bytes: &[u8]) {
    let Ok((header, part)) = Part::decode(want, bytes) else { return };
    assert_eq!(part.encode(&header), bytes);
    assert_eq!(PartHeader::decode(bytes), Ok(header));
    let mut again = Part::new(want);
    part.rows().for_each(|row| again.push(&row));
    assert_eq!(again.encode(&header), bytes, "the rows say all");
}

/// A part whose columns the bytes describe: for each the kind, the width, the length and the values.
fn with_checksums(bytes: &[u8]) -> Vec<u8> {
    let (rows, mut rest) = bytes.split_at(bytes.len().min(1));
    let mut columns = Vec::new();
    while let [kind, width, length, values @ ..] = rest {
        let (values, after) = values.split_at(values.len().min(usize::from(*length)));
        columns.push((*kind, *width, values));
        rest = after;
    }
    let rows = u32::from(rows.first().copied().unwrap_or(0));
    let mut part =
        [&b"TAQPART1"[..], &[7; 32], &[0; 16], &rows.to_le_bytes(), &[columns.len() as u8, 0, 0, 0]].concat();
    for (kind, width, values) in &columns {
        part.extend([*kind, *width, 0, 0]);
        part.extend(crc32fast::hash(values).to_le_bytes());
        part.extend((values.len() as u64).to_le_bytes());
    }
    part.extend(crc32fast::hash(&part).to_le_bytes());
    columns.iter().for_each(|(_, _, values)| part.extend_from_slice(values));
    part
}

fn check_input_part(bytes: &[u8]) {
    let goal = Board::blank_last(Size::try_from((3, 3)).expect("a size"));
    let codec = BoardCodec::new(goal);
    let count = (bytes.len() / codec.board_bytes()) as u32;
    let mut part = [&b"TAQINPT1"[..], &[0; 8], &count.to_le_bytes(), &[3, 3, 0, 0]].concat();
    part.extend(crc32fast::hash(bytes).to_le_bytes());
    part.extend(crc32fast::hash(&part).to_le_bytes());
    part.extend_from_slice(bytes);
    let is_whole = bytes.len() == count as usize * codec.board_bytes();
    let boards = decode_input_part(&codec, 0, &part);
    assert_eq!(boards.is_ok(), is_whole);
    for board in boards.unwrap_or_default().chunks(codec.board_bytes()) {
        if let Ok(puzzle) = codec.read(board) {
            let mut again = Vec::new();
            codec.write(puzzle.start(), &mut again);
            assert_eq!(again, board);
        }
    }
}
