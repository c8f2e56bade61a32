//! The moves and tiles of a solution as text.
//!
//! Lengths of numbers and of runs vary from entry to entry, so branches on them are mispredicted. The loops of this
//! file write the longest form and advance by what is used (docs/benchmarks.md, throughput).

use crate::domain::{Move, Size, Tile};
use crate::service::Solution;

// A run is at most one less than a side, so its length has one digit.
const _: () = assert!(Size::MAX_SIDE <= 10);

/// Least number of moves that are written at a time, unless the path ends.
const PART: usize = 256;

/// A form in which a solution is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum PathForm {
    /// Letters, as the blank moves.
    Moves,
    /// The tiles that slide.
    Tiles,
    /// Runs, as tiles slide.
    Alg,
    /// Runs of the way back. Indices count from the end.
    Scramble,
}

impl PathForm {
    /// Appends the solution from an index on, until the text has at least `limit` bytes or the solution ends. Returns
    /// the index of the next entry.
    #[inline]
    pub(super) fn write(
        self,
        solution: &Solution,
        separator: u8,
        from: usize,
        text: &mut Vec<u8>,
        limit: usize,
    ) -> usize {
        let (moves, tiles) = (solution.path.moves(), &solution.tiles);
        let mut at = from;
        while text.len() < limit && at < moves.len() {
            let end = (at + PART..moves.len()).find(|end| self.can_end(moves, *end)).unwrap_or(moves.len());
            match self {
                Self::Moves => put_moves(text, &moves[at..end]),
                Self::Tiles => put_tiles(text, &tiles[at..end], separator, end == tiles.len()),
                Self::Alg => put_alg(text, &moves[at..end]),
                Self::Scramble => put_scramble(text, &moves[moves.len() - end..moves.len() - at]),
            }
            at = end;
        }
        at
    }

    /// True if a part of the moves can end before an index: no run goes on there.
    fn can_end(self, moves: &[Move], at: usize) -> bool {
        match self {
            Self::Moves | Self::Tiles => true,
            Self::Alg => moves[at - 1] != moves[at],
            Self::Scramble => moves[moves.len() - at - 1] != moves[moves.len() - at],
        }
    }
}

fn put_moves(text: &mut Vec<u8>, moves: &[Move]) {
    text.extend(moves.iter().map(|mv| mv.letter() as u8));
}

/// Appends tiles with a separator between them, and after the last one if more follow.
#[inline]
pub(super) fn put_tiles(text: &mut Vec<u8>, tiles: &[Tile], separator: u8, is_last: bool) {
    let from = text.len();
    text.resize(from + 3 * tiles.len(), separator);
    let written = &mut text[from..];
    let mut at = 0;
    for tile in tiles {
        let has_two = usize::from(*tile >= 10);
        written[at] = b'0' + tile / 10;
        written[at + has_two] = b'0' + tile % 10;
        at += has_two + 2;
    }
    text.truncate(from + at - usize::from(is_last && !tiles.is_empty()));
}

/// Appends the runs of moves in directions of the tiles, as [`Path::alg`](crate::domain::Path::alg) does.
fn put_alg(text: &mut Vec<u8>, moves: &[Move]) {
    put_runs(text, moves.iter().map(|mv| mv.inverse()));
}

/// Appends the way back, as [`Path::scramble`](crate::domain::Path::scramble) does.
fn put_scramble(text: &mut Vec<u8>, moves: &[Move]) {
    put_runs(text, moves.iter().rev().copied());
}

fn put_runs(text: &mut Vec<u8>, directions: impl ExactSizeIterator<Item = Move>) {
    let from = text.len();
    text.resize(from + 2 * directions.len(), 0);
    let written = &mut text[from..];
    let (mut at, mut length, mut previous) = (0, 0, None);
    for mv in directions {
        let is_longer = previous == Some(mv);
        at += if is_longer { 0 } else { width(length) };
        length = if is_longer { length + 1 } else { 1 };
        written[at] = mv.letter() as u8;
        written[at + 1] = b'0' + length;
        previous = Some(mv);
    }
    text.truncate(from + at + width(length));
}

/// Width of a run: its letter, and its length if that is not 1.
fn width(length: u8) -> usize {
    usize::from(length > 0) + usize::from(length > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MoveNotation, Path, parse_moves};

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut text = b"<".to_vec();
        write(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn moves_have_the_text_that_the_domain_writes() {
        for moves in ["", "U", "UL", "UU", "ULL", "LLU", "U9L8D2R", "UDUD", "L2U2R2D2L3U"] {
            let path: Path = parse_moves(moves, MoveNotation::Blank, 100).unwrap().into();
            assert_eq!(text(|text| put_moves(text, path.moves())), format!("<{}", path.letters()));
            assert_eq!(text(|text| put_alg(text, path.moves())), format!("<{}", path.alg()));
            assert_eq!(text(|text| put_scramble(text, path.moves())), format!("<{}", path.scramble()));
        }
    }

    #[test]
    fn tiles_have_a_separator_between_them_and_before_those_that_follow() {
        for tiles in [&[][..], &[7], &[10], &[0, 9, 10, 99, 1], &[99, 98, 97]] {
            let texts: Vec<String> = tiles.iter().map(ToString::to_string).collect();
            assert_eq!(text(|text| put_tiles(text, tiles, b' ', true)), format!("<{}", texts.join(" ")));
            let each: String = texts.iter().map(|tile| format!("{tile},")).collect();
            assert_eq!(text(|text| put_tiles(text, tiles, b',', false)), format!("<{each}"));
        }
    }
}
