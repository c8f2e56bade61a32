//! Why rows of an input are no boards: lines of JSON in pieces among the files of a job.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::files::Files;
use super::input::FOLDER;

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
}

impl InputProblemsWriter {
    /// Begins the problems of an input. Nothing is stored as long as there is none.
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, piece: 0, lines: Vec::new(), left: u64::MAX }
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
            return Ok(());
        }
        if row / PIECE_ROWS != self.piece {
            self.put()?;
            self.piece = row / PIECE_ROWS;
        }
        self.lines.extend_from_slice(line);
        Ok(())
    }

    /// Stores the last piece.
    ///
    /// # Errors
    /// Those of the files.
    pub fn finish(mut self) -> io::Result<()> {
        self.put()
    }

    fn put(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.files.create_folder(FOLDER)?;
        self.files.put(&name(self.piece), &self.lines)?;
        self.lines.clear();
        Ok(())
    }
}

/// Reads the problems of rows.
#[derive(Default)]
pub struct InputProblems {
    /// The piece that is open, and the lines of it that were not read.
    open: Option<(u64, Box<dyn BufRead + Send>)>,
    /// A line that was read, and belongs to a later row.
    ahead: Option<(u64, Vec<u8>)>,
}

impl InputProblems {
    /// The line of a row among the files of a job; `None` if it has no problem. The rows are asked for in their order.
    ///
    /// # Errors
    /// Those of the files.
    pub fn of(&mut self, files: &dyn Files, row: u64) -> io::Result<Option<Vec<u8>>> {
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
            self.ahead = None;
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
        // A line without an end is damaged.
        Ok(row_of(&line).filter(|_| line.ends_with(b"\n")).map(|row| (row, line)))
    }
}

impl std::fmt::Debug for InputProblems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputProblems").finish_non_exhaustive()
    }
}

fn name(piece: u64) -> String {
    format!("{FOLDER}/{piece:010}.ndjson")
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
            let mut problems = InputProblems::default();
            for row in (first..41_000).step_by(step) {
                let expected = rows.binary_search(&row).is_ok().then(|| line(row));
                assert_eq!(problems.of(&*files, row).unwrap(), expected, "row {row} from {first}");
            }
        }
        let mut pieces = Vec::new();
        files.list(FOLDER, &mut |name| pieces.push(name.to_owned())).unwrap();
        assert_eq!(pieces.len(), 9, "those without problems are not stored: {pieces:?}");
    }

    #[test]
    fn a_line_that_was_cut_is_none() {
        let files = Arc::new(FilesInMemory::default());
        let mut lines = [line(1), line(3)].concat();
        lines.pop();
        files.put(&name(0), &lines).unwrap();
        let mut problems = InputProblems::default();
        let found: Vec<_> = (0..5).map(|row| problems.of(&*files, row).unwrap()).collect();
        assert_eq!(found, [None, Some(line(1)), None, None, None]);
    }

    #[test]
    fn problems_beyond_a_limit_are_left_out() {
        let files = Arc::new(FilesInMemory::default());
        let mut writer = InputProblemsWriter::new(files.clone()).at_most(10_000);
        (0..40_000).for_each(|row| writer.push(row, &line(row)).unwrap());
        writer.finish().unwrap();
        let mut problems = InputProblems::default();
        let stored: Vec<u64> = (0..40_000).filter(|row| problems.of(&*files, *row).unwrap().is_some()).collect();
        assert!(stored.len() > 300 && stored == (0..stored.len() as u64).collect::<Vec<_>>(), "{stored:?}");
        assert!(files.get(&name(0)).unwrap().unwrap().len() <= 10_000);
    }

    #[test]
    fn an_input_without_problems_has_no_pieces() {
        let files = Arc::new(FilesInMemory::default());
        InputProblemsWriter::new(files.clone()).finish().unwrap();
        assert_eq!(InputProblems::default().of(&*files, 5).unwrap(), None);
        files.list(FOLDER, &mut |name| panic!("{name}")).unwrap();
    }
}
