//! Recognizes a board that has lost its line ends. For example, `curl -d @FILE` removes the line ends of a file.

use taquin_solver::Size;

/// Texts of the blank, apart from 0.
const BLANKS: [&str; 6] = ["_", ".", "*", "x", "X", "-"];

/// Maximum length of an examined text, in bytes. A longer text is not examined.
const MAX_LENGTH: usize = 1 << 10;

/// Returns true if a text without line ends is the text of a board whose rows were joined. The last entry of each row
/// and the first entry of the next row are then one entry, as in `3 12 0` for the rows `3 1` and `2 0`.
pub fn has_joined_rows(text: &str) -> bool {
    let text = text.trim();
    if text.len() > MAX_LENGTH || text.contains(['\n', '\r', '/']) {
        return false;
    }
    let is_separator = |letter: char| letter.is_ascii_whitespace() || [',', ';'].contains(&letter);
    let entries: Vec<&str> = text.split(is_separator).filter(|entry| !entry.is_empty()).collect();
    let sides = Size::MIN_SIDE..=Size::MAX_SIDE;
    sides.clone().any(|rows| {
        // Each of the ends between two rows has joined two entries.
        let cells = entries.len() + rows - 1;
        let cols = cells / rows;
        cells.is_multiple_of(rows)
            && sides.contains(&cols)
            && Joined { entries: &entries, cols, used: vec![false; cells] }.fits(0, 0)
    })
}

/// The entries of a board whose rows were joined.
struct Joined<'t> {
    entries: &'t [&'t str],
    cols: usize,
    /// For each tile, whether an entry already stands for the tile.
    used: Vec<bool>,
}

impl Joined<'_> {
    /// Returns true if the entries from the index `at` on can be the cells from the index `cell` on, each tile once.
    fn fits(&mut self, at: usize, cell: usize) -> bool {
        let Some(entry) = self.entries.get(at).copied() else { return cell == self.used.len() };
        let is_last_of_row = cell % self.cols == self.cols - 1;
        if !is_last_of_row || cell + 1 == self.used.len() {
            return self.take(entry, |joined| joined.fits(at + 1, cell + 1));
        }
        let ends = entry.char_indices().skip(1).map(|(end, _)| end);
        ends.into_iter().any(|end| {
            let (last, first) = entry.split_at(end);
            self.take(last, |joined| joined.take(first, |joined| joined.fits(at + 1, cell + 2)))
        })
    }

    /// Marks the tile of an entry as used while `rest` examines the following entries. Returns the result of `rest`.
    /// Returns false if the entry is not a tile of the board, or if the tile is used already.
    fn take(&mut self, entry: &str, rest: impl FnOnce(&mut Self) -> bool) -> bool {
        let Some(tile) = tile(entry).filter(|tile| self.used.get(*tile) == Some(&false)) else { return false };
        self.used[tile] = true;
        let fits = rest(self);
        self.used[tile] = false;
        fits
    }
}

/// Parses a tile, which has at most two digits; the blank is 0.
fn tile(entry: &str) -> Option<usize> {
    let is_number = entry.len() <= 2 && entry.bytes().all(|byte| byte.is_ascii_digit());
    if BLANKS.contains(&entry) { Some(0) } else { entry.parse().ok().filter(|_| is_number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_solver::{Board, SplitMix, random_permutation};

    fn all_sizes() -> impl Iterator<Item = Size> {
        let sides = Size::MIN_SIDE..=Size::MAX_SIDE;
        sides.clone().flat_map(move |rows| sides.clone().filter_map(move |cols| Size::try_from((rows, cols)).ok()))
    }

    #[test]
    fn every_board_without_line_ends_is_recognized() {
        let mut random = SplitMix(2);
        for size in all_sizes() {
            let board = random_permutation(&Board::blank_last(size), &mut random).to_string();
            assert!(has_joined_rows(&board.replace('/', "")), "{board}");
            assert!(has_joined_rows(&board.replace(" 0", " _").replace(' ', ", ").replace('/', "")), "{board}");
        }
        for text in ["3 12 0", "3 1_ 2", "3,12,0", "1 2 34 0 5", "03 0102 00"] {
            assert!(has_joined_rows(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_not() {
        for text in ["", "3 1 2 0", "3 1/2 0", "3 1\n2 0", "3 13 0", "3 12 1", "3 +12 0", "a b c", "3 12", "12 0"] {
            assert!(!has_joined_rows(text), "{text}");
        }
        for size in all_sizes() {
            // A list of all tiles has its line ends, or never had any.
            let board = Board::blank_last(size).to_string();
            assert!(!has_joined_rows(&board.replace('/', " ")), "{board}");
            assert!(!has_joined_rows(&board.replace('/', "").replacen('1', "2", 1)), "{board}");
        }
    }
}
