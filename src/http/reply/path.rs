//! The moves and tiles of a solution as text.
//!
//! Lengths of numbers and of runs vary from entry to entry, so branches on them are mispredicted. The loops of this
//! file write the longest form and advance by what is used (docs/benchmarks.md, throughput).

use taquin_solver::{Board, Move, Size, Solution, Tile};

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
        tile_texts: &TileTexts,
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
                Self::Tiles => tile_texts.put(text, &tiles[at..end], end == tiles.len()),
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

/// The texts of all tiles, each followed by a separator, and in the last byte its width with the separator.
pub(super) struct TileTexts([[u8; 4]; Size::MAX_CELLS]);

impl TileTexts {
    /// As in a JSON array.
    pub(super) const JSON: &Self = &Self::separated_by(b',');
    /// As in a line of text.
    pub(super) const LINE: &Self = &Self::separated_by(b' ');

    const fn separated_by(separator: u8) -> Self {
        let mut texts = [[0; 4]; Size::MAX_CELLS];
        let mut tile = 0;
        while tile < Size::MAX_CELLS {
            let (tens, ones) = (b'0' + (tile / 10) as u8, b'0' + (tile % 10) as u8);
            texts[tile] = if tile < 10 { [ones, separator, 0, 2] } else { [tens, ones, separator, 3] };
            tile += 1;
        }
        Self(texts)
    }

    /// Appends tiles with a separator between them, and after the last one if more follow.
    #[inline]
    pub(super) fn put(&self, text: &mut Vec<u8>, tiles: &[Tile], is_last: bool) {
        let from = text.len();
        text.resize(from + 3 * tiles.len() + 1, 0);
        let width = self.write(&mut text[from..], tiles);
        text.truncate(from + width - usize::from(is_last && !tiles.is_empty()));
    }

    /// Writes tiles with a separator after each, and returns their width. One more byte may be overwritten.
    #[inline(always)]
    fn write(&self, text: &mut [u8], tiles: &[Tile]) -> usize {
        let mut at = 0;
        for tile in tiles {
            let tile = &self.0[usize::from(*tile)];
            text[at..at + 4].copy_from_slice(tile);
            at += usize::from(tile[3]);
        }
        at
    }
}

/// Appends a board as a JSON array of rows.
pub(super) fn put_rows(text: &mut Vec<u8>, board: &Board) {
    let (from, size) = (text.len(), board.size());
    text.resize(from + 1 + 3 * size.cells() + 2 * size.rows() + 1, b'[');
    let mut at = from + 1;
    for row in board.rows() {
        // The bracket stands there already.
        at += 1 + TileTexts::JSON.write(&mut text[at + 1..], row);
        text[at - 1..at + 2].copy_from_slice(b"],[");
        at += 1;
    }
    text[at - 1] = b']';
    text.truncate(at);
}

/// Appends the runs of moves in directions of the tiles, as [`Path::alg`](taquin_solver::Path::alg) does.
fn put_alg(text: &mut Vec<u8>, moves: &[Move]) {
    put_runs(text, moves.iter().map(|mv| mv.inverse()));
}

/// Appends the way back, as [`Path::scramble`](taquin_solver::Path::scramble) does.
fn put_scramble(text: &mut Vec<u8>, moves: &[Move]) {
    put_runs(text, moves.iter().rev().copied());
}

fn put_runs(text: &mut Vec<u8>, mut directions: impl ExactSizeIterator<Item = Move>) {
    let from = text.len();
    text.resize(from + 2 * directions.len(), 0);
    let Some(mut current) = directions.next() else { return };
    let written = &mut text[from..];
    let (mut at, mut length) = (0, 1);
    let mut put = |at: usize, mv: Move, length: u8| {
        written[at..at + 2].copy_from_slice(&[mv.letter() as u8, b'0' + length]);
        at + 1 + usize::from(length > 1)
    };
    for mv in directions {
        let end = put(at, current, length);
        (at, length) = if mv == current { (at, length + 1) } else { (end, 1) };
        current = mv;
    }
    let end = put(at, current, length);
    text.truncate(from + end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::reply::Rows;
    use taquin_solver::{MoveNotation, Path, parse_moves};

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
            assert_eq!(text(|text| TileTexts::LINE.put(text, tiles, true)), format!("<{}", texts.join(" ")));
            let each: String = texts.iter().map(|tile| format!("{tile},")).collect();
            assert_eq!(text(|text| TileTexts::JSON.put(text, tiles, false)), format!("<{each}"));
        }
    }

    #[test]
    fn a_board_of_each_size_has_the_text_that_serde_writes() {
        for size in Size::all() {
            let board = Board::blank_last(size);
            assert_eq!(
                text(|text| put_rows(text, &board)),
                format!("<{}", serde_json::to_string(&Rows(board)).unwrap())
            );
        }
    }
}
