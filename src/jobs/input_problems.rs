//! Why rows of an input are no boards: lines of JSON in pieces among the files of a job. The last line of a piece has the
//! digest of the others.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::files::{Files, invalid};
use super::input::FOLDER;
use super::sealed::{check_lines, seal_of_lines};

/// Rows of a piece. If all of them have problems, a piece takes some megabytes of memory.
const PIECE_ROWS: u64 = 1 << 12;

/// Stores the problems of rows. A piece that exists stays as it is.
#[derive(Debug)]
pub struct InputProblemsWriter {
    files: Arc<dyn Files>,
    piece: u64,
    lines: Vec<u8>,
    /// Bytes that may still be stored.
    left: u64,
    /// The first row whose problem was left out.
    first_omitted: Option<u64>,
}

impl InputProblemsWriter {
    /// Begins the problems of an input. Nothing is stored as long as there is none.
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, piece: 0, lines: Vec::new(), left: u64::MAX, first_omitted: None }
    }

    /// Stores at most so many bytes: the problems after the first one that does not fit are left out.
    pub fn at_most(self, bytes: u64) -> Self {
        Self { left: bytes, ..self }
    }

    /// Appends the line of a row: JSON that begins with the member `index`, the number of the row. The rows come in
    /// their order.
    ///
    /// # Errors
    /// Those of the files.
    pub fn push(&mut self, row: u64, line: &[u8]) -> io::Result<()> {
        // After one that does not fit none is stored.
        let left = self.left.checked_sub(line.len() as u64);
        self.left = left.unwrap_or_default();
        if left.is_none() {
            self.first_omitted.get_or_insert(row);
            return Ok(());
        }
        if row / PIECE_ROWS != self.piece {
            self.put()?;
            self.piece = row / PIECE_ROWS;
        }
        self.lines.extend_from_slice(line);
        Ok(())
    }

    /// Stores the last piece. The problems of all rows before the returned one are stored.
    ///
    /// # Errors
    /// Those of the files.
    pub fn finish(mut self) -> io::Result<u64> {
        self.put()?;
        Ok(self.first_omitted.unwrap_or(u64::MAX))
    }

    fn put(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.files.create_folder(FOLDER)?;
        let seal = seal_of_lines(&self.lines);
        self.lines.extend_from_slice(seal.as_bytes());
        self.files.put(&name(self.piece), &self.lines)?;
        self.lines.clear();
        Ok(())
    }
}

/// Reads the problems of rows.
pub struct InputProblems {
    /// The problems of rows before this one are stored.
    stored_before: u64,
    /// The piece that is open, and the lines of it that were not read.
    open: Option<(u64, Box<dyn BufRead + Send>)>,
    /// A line that was read, and belongs to a later row.
    ahead: Option<(u64, Vec<u8>)>,
}

impl InputProblems {
    /// The problems of an input, which are stored for rows before this one.
    pub fn new(stored_before: u64) -> Self {
        Self { stored_before, open: None, ahead: None }
    }

    /// The line of a row that is no board; `None` if its problem was not stored. The rows are asked for in their order.
    ///
    /// # Errors
    /// Those of the files, and [`io::ErrorKind::InvalidData`] if a piece is damaged or missing. They name the file.
    pub fn of(&mut self, files: &dyn Files, row: u64) -> io::Result<Option<Vec<u8>>> {
        if row >= self.stored_before {
            return Ok(None);
        }
        let name = file_name(row / PIECE_ROWS);
        let line = self.find(files, row).map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        line.map(Some).ok_or_else(|| invalid(format!("{name}: the problem of row {row} is missing")))
    }

    fn find(&mut self, files: &dyn Files, row: u64) -> io::Result<Option<Vec<u8>>> {
        loop {
            let Some((at, line)) = self.next(files, row / PIECE_ROWS)? else { return Ok(None) };
            if at == row {
                return Ok(Some(line));
            }
            if at > row {
                self.ahead = Some((at, line));
                return Ok(None);
            }
        }
    }

    /// The next line of a piece, and its row.
    fn next(&mut self, files: &dyn Files, piece: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != piece) {
            (self.open, self.ahead) = (None, None);
            // In two passes, as a piece may be large.
            if let Some(mut lines) = files.open(&name(piece))? {
                check_lines(&mut *lines)?;
            }
            let lines = files.open(&name(piece))?;
            self.open = Some((piece, lines.unwrap_or_else(|| Box::new(io::empty()))));
        }
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        let mut line = Vec::new();
        if let Some((_, lines)) = &mut self.open {
            lines.read_until(b'\n', &mut line)?;
        }
        // The last line belongs to no row.
        Ok(row_of(&line).map(|row| (row, line)))
    }
}

impl std::fmt::Debug for InputProblems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputProblems").finish_non_exhaustive()
    }
}

fn name(piece: u64) -> String {
    format!("{FOLDER}/{}", file_name(piece))
}

fn file_name(piece: u64) -> String {
    format!("{piece:010}.ndjson")
}

/// The row with whose number a line begins.
fn row_of(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"index\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::files::tests::FilesInMemory;

    fn line(row: u64) -> Vec<u8> {
        format!("{{\"index\":{row},\"line\":{}}}\n", row + 1).into_bytes()
    }

    #[test]
    fn problems_are_read_as_written_from_any_row() {
        let files = Arc::new(FilesInMemory::default());
        let rows: Vec<u64> = (0..40_000).filter(|row| row % 7 == 3 && !(9000..20_000).contains(row)).collect();
        let mut writer = InputProblemsWriter::new(files.clone());
        rows.iter().for_each(|row| writer.push(*row, &line(*row)).unwrap());
        writer.finish().unwrap();
        for (first, step) in [(0, 1), (4095, 1), (10_000, 3), (1, 5000), (39_999, 1)] {
            let mut problems = InputProblems::new(41_000);
            for row in (first..41_000).step_by(step) {
                let found = problems.of(&*files, row);
                match rows.binary_search(&row) {
                    Ok(_) => assert_eq!(found.unwrap(), Some(line(row)), "row {row} from {first}"),
                    Err(_) => assert_eq!(found.unwrap_err().kind(), io::ErrorKind::InvalidData, "row {row}"),
                }
            }
        }
        let mut pieces = Vec::new();
        files.list(FOLDER, &mut |name| pieces.push(name.to_owned())).unwrap();
        assert_eq!(pieces.len(), 9, "those without problems are not stored: {pieces:?}");
    }

    #[test]
    fn damaged_and_missing_pieces_are_rejected() {
        let rows = [1, 3, 4095];
        let whole = {
            let files = Arc::new(FilesInMemory::default());
            let mut writer = InputProblemsWriter::new(files.clone());
            rows.iter().for_each(|row| writer.push(*row, &line(*row)).unwrap());
            assert_eq!(writer.finish().unwrap(), u64::MAX);
            files.get(&name(0)).unwrap().unwrap()
        };
        let of = |bytes: Option<&[u8]>| {
            let files = FilesInMemory::default();
            if let Some(bytes) = bytes {
                files.put(&name(0), bytes).unwrap();
            }
            let mut problems = InputProblems::new(4096);
            rows.map(|row| problems.of(&files, row).map_err(|error| error.to_string()))
        };
        assert_eq!(of(Some(&whole)), rows.map(|row| Ok(Some(line(row)))));
        let is_rejected = |bytes: Option<&[u8]>| {
            let found = of(bytes);
            let names_file =
                |found: &Result<_, String>| found.as_ref().is_err_and(|error| error.starts_with("0000000000.ndjson: "));
            assert!(found.iter().all(names_file), "{found:?}");
        };
        is_rejected(None);
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            is_rejected(Some(&damaged));
            is_rejected(Some(&whole[..at]));
        }
    }

    #[test]
    fn problems_beyond_a_limit_are_left_out() {
        let files = Arc::new(FilesInMemory::default());
        let mut writer = InputProblemsWriter::new(files.clone()).at_most(10_000);
        (0..40_000).for_each(|row| writer.push(row, &line(row)).unwrap());
        let stored_before = writer.finish().unwrap();
        assert!((300..1000).contains(&stored_before), "{stored_before}");
        let mut problems = InputProblems::new(stored_before);
        for row in 0..40_000 {
            let expected = (row < stored_before).then(|| line(row));
            assert_eq!(problems.of(&*files, row).unwrap(), expected, "row {row}");
        }
        let piece = files.get(&name(0)).unwrap().unwrap();
        assert!(piece.split_inclusive(|byte| *byte == b'\n').rev().skip(1).flatten().count() <= 10_000);
    }

    #[test]
    fn an_input_without_problems_has_no_pieces() {
        let files = Arc::new(FilesInMemory::default());
        InputProblemsWriter::new(files.clone()).finish().unwrap();
        files.list(FOLDER, &mut |name| panic!("{name}")).unwrap();
    }
}
