//! CSV: the fields of a line, and the columns of a header.

use std::cell::RefCell;
use std::collections::HashMap;

use csv_core::{ReadRecordResult, Reader};

use crate::row_error::counted;

/// The columns of a CSV file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum CsvInput {
    /// No header: each line is a board, as tiles or as text in one field.
    #[default]
    Boards,
    /// A header, with the index of each column that is read, from 0.
    Columns {
        /// Column of the id; `None` if the header has no such column.
        id: Option<usize>,
        /// One column with the board as text, or the columns of all cells, in order.
        board: Vec<usize>,
        /// Number of columns in the header.
        count: usize,
    },
}

/// A row of a CSV file.
pub(crate) struct CsvRow {
    pub(crate) id: Option<String>,
    /// The board as text.
    pub(crate) board: String,
}

impl CsvInput {
    /// Reads the first line of a CSV file. Returns `None` if the line is a board, not a header.
    ///
    /// A header has a column `board`, or columns `0`, `1` and so on for the cells, and optionally a column `id`. Other
    /// columns are ignored. The line `0,1,2,…` is a header, not a board.
    ///
    /// # Errors
    /// The reason why a header names no board, or why the line is not one row.
    pub fn of_first_line(line: &[u8]) -> Result<Option<Self>, String> {
        let names: Vec<String> = fields(without_mark(line))?.iter().map(|name| name.trim().to_lowercase()).collect();
        // Of columns with equal names, the first column counts.
        let places: HashMap<&str, usize> = names.iter().enumerate().rev().map(|(at, name)| (&**name, at)).collect();
        let find = |name: &str| places.get(name).copied();
        let cells: Vec<usize> = (0..names.len()).map_while(|cell| find(&cell.to_string())).collect();
        let is_row_of_cells = names.len() > 1 && cells.len() == names.len() && cells.is_sorted();
        let is_header = is_row_of_cells || names.iter().any(|name| is_name(name));
        if !is_header {
            return Ok(None);
        }
        let board = match find("board") {
            Some(board) => vec![board],
            None if cells.len() > 1 => cells,
            None => return Err("the header names neither a column `board` nor the cells `0`, `1`, …".to_owned()),
        };
        Ok(Some(Self::Columns { id: find("id"), board, count: names.len() }))
    }

    /// Splits a line into the id and the board.
    ///
    /// # Errors
    /// The reason why the line is not a row.
    pub(crate) fn row(&self, line: &str) -> Result<CsvRow, String> {
        let fields = fields(line.as_bytes())?;
        let Self::Columns { id, board, count } = self else {
            // A board as text may contain commas too.
            return Ok(CsvRow { id: None, board: fields.join(",") });
        };
        let differs = || format!("the line has {}; the header names {count}", counted(fields.len() as u64, "field"));
        if fields.len() > *count {
            return Err(differs());
        }
        let field = |at: usize| fields.get(at).map(|field| field.trim()).ok_or_else(differs);
        let cells = board.iter().map(|at| field(*at)).collect::<Result<Vec<_>, _>>()?;
        let id = id.map(field).transpose()?.filter(|id| !id.is_empty()).map(str::to_owned);
        Ok(CsvRow { id, board: cells.join(" ") })
    }
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
    /// The CSV reader of the thread, which all lines use. A new reader would compute its state transitions, which takes
    /// nine tenths of the time for a line with a 3×3 board.
    static READER: RefCell<Reader> = RefCell::new(Reader::new());
}

/// Splits a line into fields (RFC 4180). A field with an opening quote and no closing quote ends with the line.
///
/// # Errors
/// The reason why the line is not one row.
fn fields(line: &[u8]) -> Result<Vec<String>, String> {
    READER.with_borrow_mut(|reader| {
        reader.reset();
        fields_by(reader, line)
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
        Some(CsvInput::Columns { id, board: board.to_vec(), count })
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
            row.map(|row| (row.id, row.board))
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
    fn a_line_does_not_depend_on_the_one_before_it() {
        for first in ["", "\"", "a,\"b", "a,\"b\"\"", "a,b\r", "a,\r\nb", "a\"", ",,,"] {
            let _ = fields(first.as_bytes());
            assert_eq!(fields(b"a,\"b \"\"c\"\"\",").unwrap(), ["a", "b \"c\"", ""], "{first:?}");
        }
        // The reader skips a byte order mark at the start of its input.
        assert_eq!(fields("\u{feff}a".as_bytes()).unwrap(), ["a"]);
    }

    #[test]
    fn a_carriage_return_ends_a_row_and_nothing_may_follow_it() {
        for line in ["1230", "1230\r", "1230\r\n", "\"12\r30\"\r\n"] {
            assert_eq!(fields(line.as_bytes()).unwrap().len(), 1, "{line:?}");
        }
        for line in ["1230\r1203\r0123\r", "a,1230\rb,1203", "id,board\r1,1230"] {
            assert!(fields(line.as_bytes()).unwrap_err().contains("carriage return"), "{line:?}");
            assert!(CsvInput::of_first_line(line.as_bytes()).is_err(), "{line:?}");
            assert!(CsvInput::default().row(line).is_err(), "{line:?}");
        }
    }
}
