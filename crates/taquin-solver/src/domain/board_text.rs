//! Boards as people write them: printed arrays, tables, files that begin with the size, text without the blank.

use std::borrow::Cow;

use super::notation::RawBoard;
use super::{Board, Encoding, Sides, Size};

/// A board, and the way in which its text was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadBoard {
    /// The board.
    pub board: Board,
    /// The way of reading, which completes "read as …"; `None` for the notation of [`RawBoard`].
    pub read_as: Option<String>,
}

/// Reads a text in the notation of [`RawBoard`]. A text in any other notation is read in all ways in which people write
/// boards, and is accepted if exactly one board results.
///
/// # Errors
/// The two or more boards that the text can mean; no board if the text has no meaning.
///
/// ```
/// use taquin_solver::{Sides, read_board};
/// for text in [
///     "8 6 7/2 5 4/3 0 1",
///     "[[8 6 7]\n [2 5 4]\n [3 0 1]]",
///     "3\n8 6 7\n2 5 4\n3 0 1",
///     "| 8 | 6 | 7 |\n| 2 | 5 | 4 |\n| 3 |   | 1 |",
/// ] {
///     let read = read_board(text, Sides::default()).unwrap();
///     assert_eq!(read.board.to_string(), "8 6 7/2 5 4/3 0 1");
/// }
/// ```
pub fn read_board(text: &str, sides: Sides) -> Result<ReadBoard, Vec<ReadBoard>> {
    if let Ok(board) = RawBoard::parse(text).board(sides, Encoding::Tiles) {
        return Ok(ReadBoard { board, read_as: None });
    }
    let text = plain(text);
    // No table of the largest board has more words.
    if text.split_whitespace().nth(4 * Size::MAX_CELLS).is_some() {
        return Err(Vec::new());
    }
    let mut grids = grids(&text);
    let readings = |grids: &[Grid], boards: fn(&Rows, Sides) -> Vec<(Board, &'static str)>| {
        let of_grid = |grid: &Grid| {
            let (form, is_whole) = (grid.form, grid.is_whole);
            let boards = boards(&grid.rows, sides).into_iter().filter(move |(_, how)| !is_whole || how.is_empty());
            boards.map(move |(board, how)| (board, form, how))
        };
        distinct(grids.iter().flat_map(of_grid))
    };
    let mut found = readings(&grids, boards_of);
    if found.is_empty() {
        let among_labels = readings(&grids, among_labels);
        // Programs print every cell of an array, and a gap where they align columns.
        let has_columns = text.contains("  ") || text.lines().any(|line| line.starts_with(' '));
        grids.retain(|grid| !has_columns && grid.form != ARRAY);
        found = readings(&grids, without_blank);
        if found.is_empty() {
            found = among_labels;
        }
    }
    if found.len() == 1 { Ok(found.remove(0)) } else { Err(found) }
}

/// Each board once, with its first way of reading.
fn distinct(boards: impl Iterator<Item = (Board, &'static str, &'static str)>) -> Vec<ReadBoard> {
    let mut found: Vec<ReadBoard> = Vec::new();
    for (board, form, how) in boards {
        if found.iter().all(|read| read.board != board) {
            let read_as = if how.is_empty() { form.to_owned() } else { format!("{form}, {how}") };
            found.push(ReadBoard { board, read_as: Some(read_as) });
        }
    }
    found
}

/// Replaces characters that stand for others, and drops comments, borders and quotes.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let character = |character: char| match character {
        '\n' | '\t' => character,
        '\r' => '\n',
        '│' | '┃' | '║' | '¦' => '|',
        '\u{2500}'..='\u{257f}' | '−' | '–' | '—' => '-',
        // Full-width digits and letters.
        '０'..='９' | 'Ａ'..='Ｆ' | 'ａ'..='ｆ' => {
            char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character)
        }
        other if other.is_whitespace() || matches!(other, '\u{feff}' | '\u{200b}') => ' ',
        other => other,
    };
    let text: String = text.chars().map(character).collect();
    let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
    let text = if text.trim_start().starts_with(is_quote) { text.trim().trim_matches(is_quote) } else { &text };
    let lines = text.lines().map(without_comment).filter(|line| !is_border(line) && !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// A line without the comment at its end. A comment has two letters or more: `#` and `x` alone are blanks.
fn without_comment(line: &str) -> &str {
    let is_comment = |rest: &str| rest.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let starts = ["#", "//", "%", "--", ";;"].into_iter().filter_map(|mark| line.find(mark));
    let start = starts.filter(|at| is_comment(&line[*at..])).min();
    &line[..start.unwrap_or(line.len())]
}

/// True for a line that only separates rows of a table.
fn is_border(line: &str) -> bool {
    let is_drawn = |c: char| matches!(c, '+' | '-' | '=' | '|' | ':' | ' ' | '\t');
    line.chars().all(is_drawn) && line.matches(['-', '=']).count() >= 3
}

/// The numbers of the cells, row by row; `None` for a cell that is not a number.
type Rows = Vec<Vec<Option<i64>>>;

/// One division of a text into cells.
struct Grid {
    rows: Rows,
    form: &'static str,
    /// True if every cell belongs to the board. In text with a gap, a space may separate cells or be the blank.
    is_whole: bool,
}

impl Grid {
    fn new(rows: Vec<Vec<Cow<'_, str>>>, form: &'static str) -> Self {
        Self {
            rows: rows.iter().map(|row| row.iter().map(|cell| number(cell)).collect()).collect(),
            form,
            is_whole: false,
        }
    }
}

/// Every division of a text into rows and cells.
fn grids(text: &str) -> Vec<Grid> {
    if text.contains(BRACKETS) {
        return arrays(text);
    }
    let lines: Vec<&str> = text.lines().collect();
    let form = if lines.len() > 1 { "lines of cells" } else { "a list of cells" };
    let mut grids = vec![Grid::new(lines.iter().map(|line| words(line)).collect(), form)];
    let mut add = |rows, form| grids.push(Grid::new(rows, form));
    if text.contains(['/', ';']) {
        let rows = text.split(['/', ';', '\n']).filter(|row| !row.trim().is_empty());
        add(rows.map(words).collect(), "rows of cells");
    }
    for (separator, form) in [
        ('|', "a table"),
        ('\t', "cells between tabs"),
        (',', "cells between commas"),
        (';', "cells between semicolons"),
        ('-', "cells between dashes"),
    ] {
        if text.contains(separator) {
            add(lines.iter().map(|line| fields(line, separator)).collect(), form);
        }
    }
    let cells = text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '/' | ',' | ';' | '|'));
    let digits = cells.map(|cell| number(cell.encode_utf8(&mut [0; 4])).or(cell.to_digit(16).map(i64::from)));
    let digits: Vec<Option<i64>> = digits.collect();
    if digits.len() == HEXADECIMAL_CELLS {
        grids.push(Grid { rows: vec![digits], form: "hexadecimal digits", is_whole: true });
    }
    // A line with the size may precede rows with a gap.
    let is_size = |first: &&&str| first.trim().parse() == Ok(lines.len() - 1);
    let rest = lines.first().filter(is_size).map(|_| &lines[1..]);
    // A text is often trimmed, also where the first row begins with the gap.
    let is_trimmed = lines.first().is_some_and(|first| first.trim_start() == *first);
    for (lines, is_trimmed) in [(Some(&*lines), is_trimmed), (rest, false)] {
        let Some(lines) = lines else { continue };
        let grid = |form| move |rows| Grid { rows, form, is_whole: true };
        grids.extend(aligned(lines, is_trimmed).map(grid("aligned columns, with a gap for the blank")));
        grids.extend(packed(lines, is_trimmed).map(grid("one character for each cell")));
    }
    grids
}

/// A 4×4 board, the only square board with a hexadecimal digit for each cell.
const HEXADECIMAL_CELLS: usize = 16;

/// The rows of lines with one character a cell, where a space is the blank.
fn packed(lines: &[&str], is_trimmed: bool) -> impl Iterator<Item = Rows> {
    let width = lines.iter().map(|line| line.trim_end().len()).max().unwrap_or(0);
    let is_packed = width <= RawBoard::MAX_COMPACT_CELLS && lines.iter().all(|line| line.is_ascii());
    let rows = |indent: &str| -> Rows {
        let row = |(at, line): (usize, &&str)| {
            let line = if at == 0 { format!("{indent}{line}") } else { (*line).to_owned() };
            (0..width).map(|at| number(line.get(at..=at).unwrap_or(" "))).collect()
        };
        lines.iter().enumerate().map(row).collect()
    };
    let lacks_gap = |first: &&&str| is_trimmed && first.len() + 1 == width;
    // All rows but the first may be indented.
    let is_indented = is_trimmed && lines.len() > 1 && lines[1..].iter().all(|line| line.starts_with(' '));
    let found = [is_packed.then(|| rows("")), lines.first().filter(lacks_gap).map(|_| rows(" "))];
    found.into_iter().flatten().filter(move |_| is_packed && !is_indented)
}

/// The rows of aligned columns in which one cell is a gap.
fn aligned(lines: &[&str], is_trimmed: bool) -> impl Iterator<Item = Rows> {
    // The edges of each word, and its number.
    let words = |line: &&str| -> Vec<([usize; 2], Option<i64>)> {
        let word = |word: &str| {
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            ([start, start + word.len()], number(word))
        };
        line.split_whitespace().map(word).collect()
    };
    let rows: Vec<_> = lines.iter().map(words).collect();
    let cols = rows.iter().map(Vec::len).max().unwrap_or(0);
    let short = rows.iter().position(|row| row.len() + 1 == cols);
    let is_full = |at: usize| Some(at) == short || rows[at].len() == cols;
    let has_tab = lines.iter().any(|line| line.contains('\t'));
    let short = short.filter(|_| !has_tab && (0..rows.len()).all(is_full));
    let mut found = Vec::new();
    // Numbers are aligned at the left or at the right.
    for (edge, short) in [0, 1].into_iter().filter_map(|edge| Some((edge, short?))) {
        let edges = |at: usize| -> Vec<usize> { rows[at].iter().map(|(edges, _)| edges[edge]).collect() };
        let Some(full) = (0..rows.len()).rfind(|at| *at != short) else { continue };
        let columns = edges(full);
        let is_at = |at: usize, places: &[usize]| {
            let own = edges(at);
            // The first row was further right before the text was trimmed, unless the row extends to the last column.
            let may_move = match at {
                0 => own[..] <= *places && !(at == short && columns.last() <= Some(&lines[at].len())),
                _ => full == 0 && own[..] >= *places,
            };
            own == places || is_trimmed && may_move && distances(&own) == distances(places)
        };
        if !(0..rows.len()).all(|at| at == short || is_at(at, &columns)) {
            continue;
        }
        for gap in (0..cols).filter(|gap| is_at(short, &[&columns[..*gap], &columns[gap + 1..]].concat())) {
            let mut rows: Rows = rows.iter().map(|row| row.iter().map(|(_, number)| *number).collect()).collect();
            rows[short].insert(gap, Some(0));
            found.push(rows);
        }
    }
    found.into_iter()
}

/// The distances of neighbouring columns.
fn distances(columns: &[usize]) -> Vec<usize> {
    columns.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn words(line: &str) -> Vec<Cow<'_, str>> {
    let words = line.split(|c: char| c.is_whitespace() || matches!(c, ',' | '|' | ':'));
    words.filter(|word| !word.is_empty()).map(Cow::from).collect()
}

/// The fields of a line. A table also has separators before the first and after the last field.
fn fields(line: &str, separator: char) -> Vec<Cow<'_, str>> {
    let inner = line.trim().strip_prefix('|').filter(|_| separator == '|');
    let line = inner.map_or(line, |inner| inner.strip_suffix('|').unwrap_or(inner));
    line.split(separator).map(|field| field.trim().into()).collect()
}

const ARRAY: &str = "an array";

const BRACKETS: [char; 3] = ['[', '(', '{'];

/// The lists of a printed array that contain no list. Several lists are the rows. One list is flat, or has rows that
/// end at semicolons or at line ends. No grid results if the array has a part that is not a row.
fn arrays(text: &str) -> Vec<Grid> {
    // A declaration may precede the array, as in `int board[2][2] = {`.
    let is_declaration = |part: &str| {
        part.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c.is_whitespace() || "_.:;*<>[]".contains(c))
    };
    let text = text.split_once('=').filter(|(part, _)| is_declaration(part)).map_or(text, |(_, array)| array);
    let first = text.find(BRACKETS).unwrap_or(0);
    let (mut lists, mut beside, mut begin, mut depth) = (Vec::new(), String::new(), None, 0);
    for (at, character) in text.char_indices().skip_while(|(at, _)| *at < first) {
        if BRACKETS.contains(&character) {
            beside.push_str(&text[begin.unwrap_or(at)..at]);
            (begin, depth) = (Some(at + 1), depth + 1);
        } else if matches!(character, ']' | ')' | '}') {
            lists.extend(begin.take().map(|begin| &text[begin..at]));
            depth -= 1;
        } else if begin.is_none() {
            beside.push(character);
        }
    }
    let is_between_rows = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    // NumPy adds the type of the entries.
    let beside = beside.split_once("dtype=").map_or(&*beside, |(before, _)| before);
    let name = &text[..first];
    let is_name = name.trim().is_empty() || is_declaration(name);
    if depth != 0 || !is_name || !beside.chars().all(is_between_rows) {
        return Vec::new();
    }
    let cells = |list: &str| -> Vec<Cow<'static, str>> {
        let unquoted = |cell: &str| cell.trim().trim_matches(['"', '\'']).to_owned().into();
        if list.contains(',') {
            list.trim_end().strip_suffix(',').unwrap_or(list).split(',').map(unquoted).collect()
        } else {
            list.split_whitespace().map(unquoted).collect()
        }
    };
    let [list] = lists[..] else { return vec![Grid::new(lists.into_iter().map(cells).collect(), ARRAY)] };
    let rows = list.split([';', '\n']).filter(|row| !row.trim().is_empty()).map(cells).collect();
    let mut grids = vec![Grid::new(rows, ARRAY), Grid::new(vec![cells(list)], ARRAY)];
    if list.contains(['"', '\'']) {
        grids.extend(self::grids(&cells(list).join("\n").replace(BRACKETS, "")));
    }
    grids
}

/// The number of a cell; 0 for the blank.
fn number(cell: &str) -> Option<i64> {
    match cell {
        "" | " " | "_" | "." | "x" | "X" | "*" | "-" | "#" | "None" | "none" | "null" | "nil" | "NaN" | "nan" => {
            Some(0)
        }
        _ => {
            // Arrays of floating-point numbers: `3.0`, `3.`.
            let (digits, zeros) = cell.split_once('.').unwrap_or((cell, ""));
            let is_whole = zeros.bytes().all(|byte| byte == b'0') && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_whole.then(|| digits.parse().ok())?
        }
    }
}

/// The boards that rows of numbers can mean, each with the parts that are left out.
fn boards_of(rows: &Rows, sides: Sides) -> Vec<(Board, &'static str)> {
    let flat = rows.concat();
    let mut candidates = vec![(shape_of(rows), &*flat, "")];
    if let [line] = &rows[..] {
        candidates.push((size_of(flat.len(), sides), &flat, ""));
        if !is_whole_board(line, sides) {
            candidates.extend(without_numbers_beside(line, sides));
        }
    } else if rows.iter().all(|row| row.len() == 1) {
        candidates.push((size_of(flat.len(), sides), &flat, "one in each row"));
    }
    // A line with the size, perhaps beside a line with another number.
    for skipped in 1..=2.min(rows.len().saturating_sub(1)) {
        let (head, rest) = rows.split_at(skipped);
        let side = |number: Option<i64>| usize::try_from(number?).ok();
        let size = head.iter().find_map(|line| match line[..] {
            [only] => Size::try_from((side(only)?, side(only)?)).ok(),
            [rows, cols] => Size::try_from((side(rows)?, side(cols)?)).ok(),
            _ => None,
        });
        let is_list = rest.len() == 1 || rest.iter().all(|row| row.len() == 1);
        let size = size.filter(|size| is_list || shape_of(rest) == Some(*size));
        candidates.push((size, &flat[head.iter().map(Vec::len).sum()..], "without the line with the size"));
    }
    candidates.into_iter().filter_map(|candidate| candidate_board(candidate, sides)).collect()
}

/// A shape, the entries of a board, and the parts that are left out.
type Candidate<'r> = (Option<Size>, &'r [Option<i64>], &'static str);

fn candidate_board((size, entries, how): Candidate<'_>, sides: Sides) -> Option<(Board, &'static str)> {
    let size = size.filter(|size| size.cells() == entries.len() && sides.agree_with(*size))?;
    Some((Board::try_from_tiles(size, entries).ok()?, how))
}

/// The boards of a line with three or four numbers beside the tiles: an id, the optimal length, an estimate and a
/// number of nodes in files of benchmarks.
fn among_labels(rows: &Rows, sides: Sides) -> Vec<(Board, &'static str)> {
    const MOST_BEFORE: usize = 2;
    let [line] = &rows[..] else { return Vec::new() };
    // The number of nodes exceeds the number of cells. A smaller last number may be a tile of a larger board.
    let ends_with_nodes = line.last().is_some_and(|last| last.is_some_and(|nodes| nodes > line.len() as i64));
    if !ends_with_nodes || is_whole_board(line, sides) {
        return Vec::new();
    }
    let ways = [3, 4].into_iter().flat_map(|count| (0..=MOST_BEFORE).map(move |before| (before, count - before)));
    let candidates = ways.filter_map(|(before, after)| {
        let tiles = line.get(before..line.len().checked_sub(after)?)?;
        let how = match before {
            0 => "without the numbers after the tiles",
            _ => "without the numbers before and after the tiles",
        };
        Some((size_of(tiles.len(), sides), tiles, how))
    });
    candidates.filter_map(|candidate| candidate_board(candidate, sides)).collect()
}

/// Returns true if all numbers of a line are the tiles of one board, in some shape that agrees with `sides`.
fn is_whole_board(line: &[Option<i64>], sides: Sides) -> bool {
    let mut sizes = (Size::MIN_SIDE..=Size::MAX_SIDE).filter_map(|rows| {
        let cols = line.len().checked_div(rows)?;
        Size::try_from((rows, cols)).ok().filter(|size| size.cells() == line.len() && sides.agree_with(*size))
    });
    sizes.next().is_some_and(|size| Board::try_from_tiles(size, line).is_ok())
}

/// The flat lists that remain without one or two numbers before or after the tiles, such as an id and a length.
fn without_numbers_beside(
    line: &[Option<i64>],
    sides: Sides,
) -> impl Iterator<Item = (Option<Size>, &[Option<i64>], &'static str)> {
    const WAYS: [(usize, usize, &str); 5] = [
        (1, 0, "without the number before the tiles"),
        (0, 1, "without the number after the tiles"),
        (2, 0, "without the two numbers before the tiles"),
        (0, 2, "without the two numbers after the tiles"),
        (1, 1, "without the numbers before and after the tiles"),
    ];
    WAYS.into_iter().filter_map(move |(before, after, how)| {
        let tiles = line.get(before..line.len().checked_sub(after)?)?;
        Some((size_of(tiles.len(), sides), tiles, how))
    })
}

/// The board of rows whose last one lacks the blank at its end.
fn without_blank(rows: &Rows, sides: Sides) -> Vec<(Board, &'static str)> {
    let mut rows = rows.clone();
    let is_blank_absent = !rows.concat().contains(&Some(0));
    if let Some(last) = rows.last_mut().filter(|_| is_blank_absent) {
        last.push(Some(0));
    }
    let size = shape_of(&rows).filter(|size| is_blank_absent && sides.agree_with(*size));
    let board = size.and_then(|size| Board::try_from_tiles(size, &rows.concat()).ok());
    board.map(|board| (board, "with the blank at the end")).into_iter().collect()
}

/// The shape of rows of equal lengths.
fn shape_of(rows: &[Vec<Option<i64>>]) -> Option<Size> {
    let cols = rows.first()?.len();
    rows.iter().all(|row| row.len() == cols).then(|| Size::try_from((rows.len(), cols)).ok()).flatten()
}

/// The shape of a flat list.
fn size_of(cells: usize, sides: Sides) -> Option<Size> {
    let (rows, cols) = match (sides.rows, sides.cols) {
        (None, None) => (cells.isqrt(), cells.isqrt()),
        (Some(rows), None) => (rows, cells.checked_div(rows)?),
        (None, Some(cols)) => (cells.checked_div(cols)?, cols),
        (Some(rows), Some(cols)) => (rows, cols),
    };
    Size::try_from((rows, cols)).ok().filter(|size| size.cells() == cells)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<String, Vec<String>> {
        let boards = read_board(text, Sides::default());
        boards.map(|read| read.board.to_string()).map_err(|read| {
            read.iter().map(|read| read.board.to_string()).collect::<BTreeSet<_>>().into_iter().collect()
        })
    }

    #[test]
    fn arrays_as_programs_print_them() {
        for text in [
            "[[3 1]\n [2 0]]",
            "[[3, 1], [2, None]]",
            "{{3, 1}, {2, 0}}",
            "((3, 1), (2, 0))",
            "(3, 1, 2, 0)",
            "[3 1; 2 0]",
            "array([[3, 1],\n       [2, 0]])",
            "np.array([[3, 1], [2, 0]], dtype=int64)",
            "let board: [[u8; 2]; 2] = [[3, 1], [2, 0]];",
            "[\"3 1\", \"2 0\"]",
            "[\"31\", \"20\"]",
            "int board[2][2] = {{3,1},{2,0}};",
            "[[3.0 1]\n[2 nan]]",
            "[[3,1],[2,null],]",
            "[['3','1'],['2','']]",
            "board = [\n [3, 1],\n [2, 0],\n]",
        ] {
            assert_eq!(read(text), Ok("3 1/2 0".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_line_that_is_a_board_of_another_shape_has_no_numbers_beside() {
        for text in ["1 2 3 4 5 6 7 8 0 9 10 11", "3 1 2 0 5 4 7 6", "3 1 2 0 5 4", "9 8 6 7 2 5 4 3 0 1"] {
            assert_eq!(read(text), Err(Vec::new()), "{text}");
        }
        // A typing error in a board of 3×4 does not turn its last tiles into labels.
        assert_eq!(read("1 2 3 4 5 6 7 8 0 9 9 11"), Err(Vec::new()));
        let sides = Sides { rows: Some(3), cols: Some(3) };
        let read = read_board("9 8 6 7 2 5 4 3 0 1", sides).unwrap();
        assert_eq!(read.board.to_string(), "8 6 7/2 5 4/3 0 1");
    }

    #[test]
    fn tables_and_gaps() {
        for text in [
            "| 3 | 1 |\n| 2 |   |",
            "+---+---+\n| 3 | 1 |\n+---+---+\n| 2 |   |\n+---+---+",
            "┌───┬───┐\n│ 3 │ 1 │\n├───┼───┤\n│ 2 │   │\n└───┴───┘",
            "| 3 1 |\n| 2 0 |",
            "3\t1\n2\t",
            "3,1\n2,",
            "3;1;2;0",
            "3;1;2;",
            "3-1\n2-_",
            "3 1\n2 *",
            "3 1\n\n2 0",
            "3 1\n2 -",
            "31\n2 ",
            "3 1\n2",
            "\u{feff}3\u{a0}1\r\n2\u{a0}0\r\n",
            "３１２０",
            "\"3 1/2 0\"",
        ] {
            assert_eq!(read(text), Ok("3 1/2 0".to_owned()), "{text}");
        }
        for (text, board) in [
            ("8  7   \n6  5  4\n3  2  1", "8 7 0/6 5 4/3 2 1"),
            ("8     7\n6  5  4\n3  2  1", "8 0 7/6 5 4/3 2 1"),
            ("   8  7\n6  5  4\n3  2  1", "0 8 7/6 5 4/3 2 1"),
            ("6  5  4\n8  7\n3  2  1", "6 5 4/8 7 0/3 2 1"),
            ("6  5  4\n   8  7\n3  2  1", "6 5 4/0 8 7/3 2 1"),
            ("3\n8  7\n6  5  4\n3  2  1", "8 7 0/6 5 4/3 2 1"),
            ("09 06    15\n14 11 08 12\n10 04 07 13\n03 02 01 05", "9 6 0 15/14 11 8 12/10 4 7 13/3 2 1 5"),
            ("312\n687\n5 4", "3 1 2/6 8 7/5 0 4"),
            ("4-1-2\n7-_-3\n8-5-6", "4 1 2/7 0 3/8 5 6"),
            ("1 5 9 13\n2 6 10 14\n3 7 11 15\n4 8 12", "1 5 9 13/2 6 10 14/3 7 11 15/4 8 12 0"),
        ] {
            assert_eq!(read(text), Ok(board.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_stands_around_a_board() {
        let board = "14 13 15 7/11 12 9 5/6 0 2 1/4 8 10 3";
        for text in [
            "1 14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3",
            "1  57 : 14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3",
            "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3 57",
            "1 14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3 57 41 276361933",
            "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3 57 41 276361933",
            "1 57 14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3 41 276361933",
            "4\n14 13 15 7\n11 12 9 5\n6 0 2 1\n4 8 10 3",
            "4 4\n14 13 15 7\n11 12 9 5\n6 0 2 1\n4 8 10 3",
            "# solvable\n4\n14 13 15 7 # row\n11 12 9 5\n6 0 2 1\n4 8 10 3",
            "4\n14\n13\n15\n7\n11\n12\n9\n5\n6\n0\n2\n1\n4\n8\n10\n3",
            "4\n81\n14 13 15 7\n11 12 9 5\n6 0 2 1\n4 8 10 3",
            "EDF7BC95602148A3",
            "edf7/bc95/6_21/48a3",
            "E D F 7\nB C 9 5\n6 0 2 1\n4 8 A 3",
        ] {
            assert_eq!(read(text), Ok(board.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_text_of_two_meanings_or_none_is_not_read() {
        let two = ["0 8 7/6 5 4/3 2 1".to_owned(), "8 7 0/6 5 4/3 2 1".to_owned()];
        for text in ["8  7\n6  5  4\n3  2  1", "87\n654\n321"] {
            assert_eq!(read(text), Err(two.to_vec()), "the first line may have begun with the gap");
        }
        let two = ["0 1/2 3".to_owned(), "1 2/3 0".to_owned()];
        assert_eq!(read("0 1 2 3 0"), Err(two.to_vec()), "an id before or after the tiles");
        for text in [
            "",
            "hello",
            "1 2 3 4 5 6 7 8",
            "1 2 3/4 5 6/7 8 9",
            "1 2\n3 4",
            "1 2 3\n4 5\n6 7 8 0",
            "6 5 4\n8 10\n11 7 9\n3 2 1",
            "[[1, 2], [3, 4]]",
            "[[1, 2], [3, 0]",
            "[[1, 2], [3]]",
            "{'board': [[3, 1], [2, 0]], 'goal': 'snail'}",
            "{\"board\": [[3, 1], [2, 0]],}",
            "board=[[3,1],[2,0]]&goal=snail",
            "[[3, 1], [2, 0]], [[1, 2], [3, 0]]",
            "[[3, 1], [2, -0]]",
            "[[3, 1.5], [2, 0]]",
            "12345678901234567890 1 2 3 0 4 5",
            &"1 2 3 0 ".repeat(1000),
        ] {
            assert_eq!(read(text), Err(Vec::new()), "{text}");
        }
    }

    #[test]
    fn a_reading_is_named() {
        for (text, read_as) in [
            ("3 1/2 0", None),
            ("[[3 1]\n [2 0]]", Some("an array")),
            ("3 1\n2 *", Some("lines of cells")),
            ("2\n3 1\n2 0", Some("lines of cells, without the line with the size")),
            ("57 3 1 2 0", Some("a list of cells, without the number before the tiles")),
            ("3 1\n2", Some("aligned columns, with a gap for the blank")),
            ("1 2\n3 4\n5 6\n7", Some("aligned columns, with a gap for the blank")),
            ("1 2/3 4/5 6/7", Some("rows of cells, with the blank at the end")),
        ] {
            let read = read_board(text, Sides::default()).unwrap();
            assert_eq!(read.read_as.as_deref(), read_as, "{text}");
        }
    }

    fn boards() -> impl Strategy<Value = Board> {
        (2..=6usize, 2..=6usize)
            .prop_flat_map(|(rows, cols)| {
                (Just((rows, cols)), Just((0..rows * cols).collect::<Vec<_>>()).prop_shuffle())
            })
            .prop_map(|(sides, tiles)| {
                let entries: Vec<_> = tiles.iter().map(|tile| i64::try_from(*tile).ok()).collect();
                Board::try_from_tiles(Size::try_from(sides).unwrap(), &entries).unwrap()
            })
    }

    /// A board with `begin` and `end` around each row, and `row` and `cell` between rows and cells.
    fn printed(board: &Board, [begin, cell, end, row]: [&str; 4], tile: impl Fn(u8) -> String) -> String {
        let rows = board.rows().map(|tiles| {
            let cells: Vec<_> = tiles.iter().map(|entry| tile(*entry)).collect();
            format!("{begin}{}{end}", cells.join(cell))
        });
        rows.collect::<Vec<_>>().join(row)
    }

    /// Texts that mean one board.
    fn certain_texts(board: &Board) -> Vec<String> {
        let size = board.size();
        let with = |blank: &'static str| move |tile: u8| if tile == 0 { blank.to_owned() } else { tile.to_string() };
        let mut texts = Vec::new();
        for blank in ["0", "_", ".", "x", "X", "*", "-", "#", "None", "null", "nil", "NaN", "nan", "00", "0.0", "0."] {
            for style in [
                ["", " ", "", "\n"],
                ["", ", ", ",", "\n"],
                ["", " ", "", "\r\n"],
                ["", "\u{a0}", "", "\n\n"],
                ["", " ", "", "/"],
                ["", " ", "", "; "],
                ["", "\t", "", "\n"],
                ["| ", " | ", " |", "\n"],
                ["│ ", " │ ", " │", "\n├───┼───┤\n"],
                ["| ", " ", " |", "\n"],
            ] {
                texts.push(printed(board, style, with(blank)));
            }
            for (style, begin, end) in [
                (["[", " ", "]", "\n "], "[", "]"),
                (["[", ", ", "]", ",\n       "], "array([", "])"),
                (["{", ", ", "}", ", "], "int board[][] = {", "};"),
                (["(", ", ", ")", ", "], "(", ")"),
                (["[", ",", "]", ","], "board = [", ",]"),
                (["", " ", "", "; "], "A = [", "];"),
                (["", ",", "", ";\n"], "[", "]"),
                (["\"", " ", "\"", ", "], "[", "]"),
            ] {
                texts.push(format!("{begin}{}{end}", printed(board, style, with(blank))));
            }
        }
        for style in [["", ",", "", "\n"], ["", "\t", " ", "\n"], ["|", "|", "|", "\n+--+--+\n"]] {
            texts.push(printed(board, style, with("")));
        }
        texts.push(printed(board, ["", "-", "", "\n"], with("_")));
        texts.push(printed(board, ["[", ", ", "]", ","], |tile| format!("'{tile}'")).replace("],[", "], ["));
        let lines = printed(board, ["", " ", "", "\n"], with("0"));
        let (rows, cols) = (size.rows(), size.cols());
        texts.extend([
            format!("# a comment\n{lines}"),
            lines.replace('\n', " // a row\n"),
            format!("\u{feff}\"{lines}\""),
            format!("{rows} {cols}\n{lines}"),
            format!("%% solvable\n{rows} {cols}\n81\n{lines}").replace("81\n", ""),
            lines.chars().map(|c| c.to_digit(10).map_or(c, |digit| char::from_u32(0xff10 + digit).unwrap())).collect(),
            // Columns that are aligned at the right, and at the left.
            printed(board, [" ", " ", " ", "\n"], |tile| format!("{:>2}", with("")(tile))),
            printed(board, [" ", " ", " ", "\n"], |tile| format!("{:<2}", with("")(tile))),
            printed(
                board,
                [" ", " ", " ", "\n"],
                |tile| if tile == 0 { "  ".to_owned() } else { format!("{tile:02}") },
            ),
        ]);
        if rows == cols {
            texts.push(format!("{rows}\n{lines}"));
            texts.push(format!("{rows}\n{}", lines.replace(' ', "\n")));
            for (begin, cell, end) in [("", ";", ""), ("(", ", ", ")"), ("[", " ", "]"), ("", "\n", "")] {
                texts.push(format!("{begin}{}{end}", printed(board, ["", cell, "", cell], with("0"))));
            }
        }
        if size.cells() <= RawBoard::MAX_COMPACT_CELLS {
            for blank in ["0", "_", "*", "#"] {
                texts.push(printed(board, ["", "", "", "\n"], with(blank)));
            }
        }
        if size.cells() == HEXADECIMAL_CELLS {
            for row in ["", "/", "\n"] {
                texts.push(printed(board, ["", "", "", row], |tile| format!("{tile:X}")));
                texts.push(printed(board, ["", "", "", row], |tile| format!("{tile:x}")));
            }
        }
        texts
    }

    /// Texts that mean one board, or two.
    fn uncertain_texts(board: &Board, number: u8) -> Vec<String> {
        let flat: Vec<String> = board.tiles().iter().map(u8::to_string).collect();
        let flat = flat.join(" ");
        let gap = |tile: u8| if tile == 0 { " ".to_owned() } else { format!("{tile}") };
        let mut texts = vec![
            format!("{number} {flat}"),
            format!("{flat} {number}"),
            format!("{number}  57 : {flat}"),
            format!("7 {flat} {number}"),
            printed(board, ["", " ", "", "\n"], |tile| format!("{:>2}", gap(tile).trim())).trim().to_owned(),
        ];
        if board.size().cells() <= RawBoard::MAX_COMPACT_CELLS {
            let packed = printed(board, ["", "", "", "\n"], gap);
            texts.extend([packed.trim().to_owned(), packed]);
        }
        texts
    }

    proptest! {
        #[test]
        fn a_board_in_any_form_is_read_as_itself(board in boards(), number: u8) {
            for text in certain_texts(&board) {
                let read = read_board(&text, Sides::default());
                prop_assert_eq!(read.map(|read| read.board), Ok(board), "{}", text);
            }
            let sides = Sides { rows: Some(board.size().rows()), cols: Some(board.size().cols()) };
            for text in uncertain_texts(&board, number) {
                let read = read_board(&text, sides).map_or_else(|boards| boards, |board| vec![board]);
                prop_assert!(read.is_empty() || read.iter().any(|read| read.board == board), "{}: {:?}", text, read);
            }
        }

        #[test]
        fn no_text_is_read_as_less_than_a_board(
            text in prop_oneof![".*", "[0-9 \n\t/;,|*_.x#+:'\"A-F(){}\\[\\]-]{0,40}", "([0-8][ ,;/|\n\t]{0,2}){4,10}"],
            rows in prop::option::of(0..5usize),
        ) {
            let sides = Sides { rows, cols: None };
            match read_board(&text, sides) {
                Ok(read) => {
                    prop_assert!(sides.agree_with(read.board.size()));
                    prop_assert_eq!(read_board(&read.board.to_string(), sides), Ok(ReadBoard { read_as: None, ..read }));
                }
                Err(boards) => prop_assert!(boards.len() != 1),
            }
        }
    }
}
