//! CSV: the fields of a line, and the columns of a header.

use std::cell::RefCell;
use std::collections::HashMap;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::members::{BOARD_NAMES, ID_NAMES};

use crate::row_error::counted;

/// The columns of a CSV file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum CsvInput {
    /// No header: each line is a board, as tiles or as text in one field.
    #[default]
    Boards,
    /// A header, with the index of each column that is read, counted from 0.
    Columns {
        /// The separator of fields: a comma, a tab, a semicolon or a vertical bar.
        delimiter: u8,
        /// Column of the id, and its name in lower case; `None` if the header has no such column.
        id: Option<(usize, String)>,
        /// One column with the board as text, or the columns of all cells, in order.
        board: Vec<usize>,
        /// Number of cells in a row of the board, from names such as `r0c0`; `None` if the columns have other names.
        cols: Option<usize>,
        /// Number of columns in the header.
        count: usize,
    },
}

/// A row of a CSV file.
pub(crate) struct CsvRow {
    /// Name of the id column, and the id of the row; `None` if the row has no id.
    pub(crate) id: Option<(String, String)>,
    /// The board as text.
    pub(crate) board: String,
}

/// The separators of fields, the most common separator first. If a line contains several of these characters outside
/// quotes, the first of them in this list separates the fields.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

impl CsvInput {
    /// Reads the first line of a CSV file. Returns `None` if the line is a board, not a header.
    ///
    /// A header has a column `board`, or columns for the cells. The columns for the cells have names such as `0`,
    /// `r0c0` or `c0`. If the header has neither, the board is in one of the columns `state`, `puzzle`, `tiles`,
    /// `initial` and `start`. A header may have a column `id`; otherwise one of the columns `index`, `name` and `#` has
    /// the id. Other columns are ignored. The line `0,1,2,…` is a header, not a board.
    ///
    /// # Errors
    /// The reason why a header names no board, or why the line is not one row.
    pub fn of_first_line(line: &[u8]) -> Result<Option<Self>, String> {
        let line = without_mark(line);
        let delimiter = delimiter_of(line);
        let names: Vec<String> = fields(line, delimiter)?.iter().map(|name| name.trim().to_lowercase()).collect();
        // Of columns with equal names, the first column counts.
        let places: HashMap<&str, usize> = names.iter().enumerate().rev().map(|(at, name)| (&**name, at)).collect();
        let find = |name: &str| places.get(name).copied();
        let cells: Vec<usize> = (0..names.len()).map_while(|cell| find(&cell.to_string())).collect();
        let is_row_of_cells = delimiter == b',' && names.len() > 1 && cells.len() == names.len() && cells.is_sorted();
        let is_header = is_row_of_cells || names.iter().any(|name| is_name(name)) || named_cells(&find).is_some();
        if !is_header {
            return Ok(None);
        }
        let (board, cols) = match find("board") {
            Some(board) => (vec![board], None),
            None if cells.len() > 1 => (cells, None),
            None => named_cells(&find).map_or_else(|| board_column(&find).map(|board| (vec![board], None)), Ok)?,
        };
        let id = ["id"].into_iter().chain(ID_NAMES).find_map(|name| Some((find(name)?, name.to_owned())));
        Ok(Some(Self::Columns { delimiter, id, board, cols, count: names.len() }))
    }

    /// Returns true if the header has two or more columns, and the line has the same number of fields. Returns false if
    /// there is no header.
    pub(crate) fn fits_header(&self, line: &[u8]) -> bool {
        let Self::Columns { delimiter, count, .. } = self else { return false };
        *count > 1 && fields(line, *delimiter).is_ok_and(|fields| fields.len() == *count)
    }

    /// Splits a line into the id and the board.
    ///
    /// # Errors
    /// The reason why the line is not a row.
    pub(crate) fn row(&self, line: &str) -> Result<CsvRow, String> {
        let Self::Columns { delimiter, id, board, cols, count } = self else {
            let delimiter = delimiter_of(line.as_bytes());
            let fields = fields(line.as_bytes(), delimiter)?;
            // A board as text may contain separators too.
            return Ok(CsvRow { id: None, board: fields.join(&char::from(delimiter).to_string()) });
        };
        let fields = fields(line.as_bytes(), *delimiter)?;
        let differs = || format!("the line has {}; the header names {count}", counted(fields.len() as u64, "field"));
        if fields.len() > *count {
            return Err(differs());
        }
        let field = |at: usize| fields.get(at).map(|field| field.trim()).ok_or_else(differs);
        let mut cells = board.iter().map(|at| field(*at)).collect::<Result<Vec<_>, _>>()?;
        if cells.len() > 1 {
            // An empty cell is the blank.
            cells.iter_mut().filter(|cell| cell.is_empty()).for_each(|cell| *cell = "_");
        }
        let rows: Vec<String> = cells.chunks(cols.unwrap_or(cells.len()).max(1)).map(|row| row.join(" ")).collect();
        let id = id.as_ref().map(|(at, name)| Ok::<_, String>((name.clone(), field(*at)?.to_owned()))).transpose()?;
        Ok(CsvRow { id: id.filter(|(_, id)| !id.is_empty()), board: rows.join("/") })
    }
}

/// Returns the columns of cells with names such as `r0c0` or `c0`. The numbers in the names begin with 0 or 1. Also
/// returns the number of cells in a row, if the names contain row numbers. Names such as `pos0` or `tile1` may mean the
/// position of a tile, and are not read. Returns `None` if there are fewer than two columns of cells.
fn named_cells(find: &impl Fn(&str) -> Option<usize>) -> Option<(Vec<usize>, Option<usize>)> {
    for first in [0, 1] {
        for (row, col) in [("r", "c"), ("row", "col"), ("r", "_c")] {
            let cell = |at: usize, other: usize| find(&format!("{row}{}{col}{}", first + at, first + other));
            let rows = (0..).take_while(|at| cell(*at, 0).is_some()).count();
            let cols = (0..).take_while(|at| cell(0, *at).is_some()).count();
            let cells = (0..rows * cols).map(|at| cell(at / cols, at % cols)).collect::<Option<Vec<usize>>>();
            if let Some(cells) = cells.filter(|cells| cells.len() > 1) {
                return Some((cells, Some(cols)));
            }
        }
        for name in ["c", "cell", "cell_"] {
            let cells: Vec<usize> = (first..).map_while(|at: usize| find(&format!("{name}{at}"))).collect();
            if cells.len() > 1 {
                return Some((cells, None));
            }
        }
    }
    None
}

/// Returns the only column with a name in [`BOARD_NAMES`]. Fails if there are several such columns or none.
fn board_column(find: &impl Fn(&str) -> Option<usize>) -> Result<usize, String> {
    let found: Vec<&str> = BOARD_NAMES.into_iter().filter(|name| find(name).is_some()).collect();
    match found[..] {
        [name] => find(name).ok_or_else(String::new),
        [one, other, ..] => Err(format!("the header names both `{one}` and `{other}`: name the board `board`")),
        [] => Err("the header names neither a column `board` nor the cells `0`, `1`, …".to_owned()),
    }
}

/// Returns the separator of the fields of a line; a comma if the line has no separator. Separators between quotes do
/// not count.
fn delimiter_of(line: &[u8]) -> u8 {
    let mut is_quoted = false;
    let mut found = [false; DELIMITERS.len()];
    for byte in line {
        is_quoted ^= *byte == b'"';
        if !is_quoted && let Some(at) = DELIMITERS.iter().position(|delimiter| delimiter == byte) {
            found[at] = true;
        }
    }
    found.iter().position(|is_found| *is_found).map_or(b',', |at| DELIMITERS[at])
}

/// Returns true if a field has at least two letters. A field of a board has at most one letter, `x` for the blank.
fn is_name(field: &str) -> bool {
    field.chars().filter(|c| c.is_alphabetic()).count() > 1
}

/// Strips a byte order mark, which some programs write at the start of a file.
pub(crate) fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
}

thread_local! {
    /// The CSV readers of the thread, one for each separator. Each reader serves all lines with its separator, because
    /// a new reader first computes its state transitions. For a line with a 3×3 board, this computation takes nine
    /// tenths of the time.
    static READERS: [RefCell<Reader>; DELIMITERS.len()] =
        DELIMITERS.map(|delimiter| RefCell::new(ReaderBuilder::new().delimiter(delimiter).build()));
}

/// Splits a line into fields (RFC 4180). A field with an opening quote and no closing quote ends with the line.
///
/// # Errors
/// The reason why the line is not one row.
fn fields(line: &[u8], delimiter: u8) -> Result<Vec<String>, String> {
    READERS.with(|readers| {
        let at = DELIMITERS.iter().position(|own| *own == delimiter).unwrap_or(0);
        let mut reader = readers[at].borrow_mut();
        reader.reset();
        fields_by(&mut reader, line)
    })
}

fn fields_by(reader: &mut Reader, line: &[u8]) -> Result<Vec<String>, String> {
    let (mut text, mut ends) = (vec![0; line.len()], vec![0; 1 + line.len()]);
    let (mut read, mut written, mut ended) = (0, 0, 0);
    loop {
        let (result, nin, nout, nend) = reader.read_record(&line[read..], &mut text[written..], &mut ends[ended..]);
        (read, written, ended) = (read + nin, written + nout, ended + nend);
        match result {
            // The next call has an empty input, which ends the record.
            ReadRecordResult::InputEmpty => {}
            _ => break,
        }
    }
    if !line[read..].iter().all(u8::is_ascii_whitespace) {
        return Err("the line goes on after a carriage return; rows end with a line feed".to_owned());
    }
    let starts = [0].into_iter().chain(ends.iter().copied());
    let range = |(start, end): (usize, &usize)| String::from_utf8_lossy(&text[start..*end]).into_owned();
    Ok(starts.zip(&ends[..ended]).map(range).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(header: &str) -> Option<CsvInput> {
        CsvInput::of_first_line(header.as_bytes()).unwrap()
    }

    fn columns(id: Option<usize>, board: &[usize], count: usize) -> Option<CsvInput> {
        let id = id.map(|id| (id, "id".to_owned()));
        Some(CsvInput::Columns { delimiter: b',', id, board: board.to_vec(), cols: None, count })
    }

    #[test]
    fn a_header_names_the_columns() {
        assert_eq!(of("0,1,2,3,cost"), columns(None, &[0, 1, 2, 3], 5));
        assert_eq!(of("\u{feff}id,cost,3,2,1,0"), columns(Some(0), &[5, 4, 3, 2], 6));
        assert_eq!(of("\"board\",ID\r"), columns(Some(1), &[0], 2));
        assert_eq!(of("0,1,2,3"), columns(None, &[0, 1, 2, 3], 4));
        assert_eq!(of("board,id,BOARD,id"), columns(Some(1), &[0], 4), "of equal names, the first one counts");
        assert!(CsvInput::of_first_line(b"name,cost").unwrap_err().contains("`board`"));
    }

    #[test]
    fn a_first_line_without_names_is_a_board() {
        for line in ["1,2,3,0", "3,2,1,0", "8 6 7/2 5 4/3 0 1", "867254301", "1,2,3,x", "0", ""] {
            assert_eq!(of(line), None, "{line}");
        }
    }

    #[test]
    fn rows_have_the_fields_of_their_columns() {
        let row = |header: &str, line: &str| {
            let row = of(header).unwrap_or_default().row(line);
            row.map(|row| (row.id.map(|(_, id)| id), row.board))
        };
        let text = |id: Option<&str>, board: &str| Ok((id.map(str::to_owned), board.to_owned()));
        assert_eq!(row("0,1,2,3,cost", "1,2, 3,0,5"), text(None, "1 2 3 0"));
        assert_eq!(row("id,board", "\"a, \"\"b\"\"\",\"1,2/3,0\""), text(Some("a, \"b\""), "1,2/3,0"));
        assert_eq!(row("id,board", ",1230"), text(None, "1230"));
        assert_eq!(row("1,2,3,0", "1,2,3,0"), text(None, "1,2,3,0"));
        assert_eq!(row("1,2,3,0", "\"1 2/3 0\""), text(None, "1 2/3 0"));
        assert_eq!(row("1,2,3,0", "\"3\",\"1\",2,\"0\""), text(None, "3,1,2,0"), "quotes are not part of a tile");
        assert_eq!(row("0,1,2,3,cost", "1,2,3,0"), text(None, "1 2 3 0"), "no column of the board is missing");
        for (header, line, fault) in [
            ("0,1,2,3", "1,2,3", "3 fields; the header names 4"),
            ("id,0,1,2,3", "1", "1 field; the header names 5"),
            ("0,1,2,3", "1,2,3,0,7", "5 fields; the header names 4"),
            ("0,1,2,3", "1,2,3,0,", "5 fields; the header names 4"),
            ("board", "1230,x", "2 fields; the header names 1"),
            ("id,board", "a, b,1230", "3 fields; the header names 2"),
        ] {
            assert!(row(header, line).unwrap_err().ends_with(fault), "{header}: {line}");
        }
        assert_eq!(row("id,board", "a,\"1 2/3 0"), text(Some("a"), "1 2/3 0"), "a quote that is not closed");
    }

    #[test]
    fn headers_and_rows_have_other_separators_and_names() {
        let row = |header: &str, line: &str| {
            let row = of(header).unwrap_or_default().row(line).unwrap();
            (row.id.map(|(name, id)| format!("{name}={id}")).unwrap_or_default(), row.board)
        };
        for (header, line, id, board) in [
            ("id;board", "a;8,6,7/2,5,4/3,0,1", "id=a", "8,6,7/2,5,4/3,0,1"),
            ("name\tsteps\tstate", "a\t27\t867254301", "name=a", "867254301"),
            ("index|puzzle|cost", "7|1 2/3 0|0", "index=7", "1 2/3 0"),
            ("#,board", "7,1230", "#=7", "1230"),
            ("index,id,tiles", "7,a,1230", "id=a", "1230"),
            ("board,state", "1230,3120", "", "1230"),
            ("0,1,2,3,state", "1,2,3,,x", "", "1 2 3 _"),
            ("r0c0,r0c1,r0c2,r1c0,r1c1,r1c2", "1,2,3,4,,5", "", "1 2 3/4 _ 5"),
            ("r2c1;r2c2;r1c1;r1c2;id", "3;0;1;2;b", "id=b", "1 2/3 0"),
            ("c0,c1,c2,c3", "1,2,3,0", "", "1 2 3 0"),
            ("cell1,cell2,cell3,cell4,cell5", "1,2,3,0,5", "", "1 2 3 0 5"),
            ("", "\"3\";\"1\";\"2\";\"\"", "", "3;1;2;"),
            ("", "8 6 7;2 5 4;3 0 1", "", "8 6 7;2 5 4;3 0 1"),
            ("", "8\t6\t7\t2\t\t5\t4\t3\t1", "", "8\t6\t7\t2\t\t5\t4\t3\t1"),
            ("", "| 3 | 1 |", "", "| 3 | 1 |"),
        ] {
            assert_eq!(row(header, line), (id.to_owned(), board.to_owned()), "{header}: {line}");
        }
        for (header, reason) in [("state,start,cost", "both `state` and `start`"), ("pos0,pos1,cost", "neither")] {
            assert!(CsvInput::of_first_line(header.as_bytes()).unwrap_err().contains(reason), "{header}");
        }
    }

    #[test]
    fn a_line_does_not_depend_on_the_one_before_it() {
        for first in ["", "\"", "a,\"b", "a,\"b\"\"", "a,b\r", "a,\r\nb", "a\"", ",,,"] {
            let _ = fields(first.as_bytes(), b',');
            assert_eq!(fields(b"a,\"b \"\"c\"\"\",", b',').unwrap(), ["a", "b \"c\"", ""], "{first:?}");
        }
        // The reader skips a byte order mark at the start of its input.
        assert_eq!(fields("\u{feff}a".as_bytes(), b',').unwrap(), ["a"]);
    }

    #[test]
    fn a_carriage_return_ends_a_row_and_nothing_may_follow_it() {
        for line in ["1230", "1230\r", "1230\r\n", "\"12\r30\"\r\n"] {
            assert_eq!(fields(line.as_bytes(), b',').unwrap().len(), 1, "{line:?}");
        }
        for line in ["1230\r1203\r0123\r", "a,1230\rb,1203", "id,board\r1,1230"] {
            assert!(fields(line.as_bytes(), b',').unwrap_err().contains("carriage return"), "{line:?}");
            assert!(CsvInput::of_first_line(line.as_bytes()).is_err(), "{line:?}");
            assert!(CsvInput::default().row(line).is_err(), "{line:?}");
        }
    }
}
