//! Why rows of an input are no boards: lines of JSON in pieces among the files of a job. The last line of a piece has the
//! digest of the others.

use std::io::{self, BufRead};
use std::sync::Arc;

use super::files::{Files, invalid};
use super::input_files::{FOLDER, InputSums, OTHER_INPUT, name_of, of_file};
use super::sealed::{check_lines, seal_of_lines};

/// Rows of a piece. If all of them have problems, a piece takes some megabytes of memory.
pub(super) const PIECE_ROWS: u64 = 1 << 12;

/// Largest piece that is read, in bytes. The problem of a row takes less than 32 KiB.
const MAX_PIECE: u64 = PIECE_ROWS << 15;

/// Stores the problems of rows. Pieces of a job stay as they are; others are replaced.
#[derive(Debug)]
pub struct InputProblemsWriter {
    files: Arc<dyn Files>,
    piece: u64,
    lines: Vec<u8>,
    /// Bytes that may still be stored.
    left: u64,
    /// The first row whose problem was left out.
    first_omitted: Option<u64>,
    sums: InputSums,
}

impl InputProblemsWriter {
    /// Begins the problems of an input. Nothing is stored as long as there is none.
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, piece: 0, lines: Vec::new(), left: u64::MAX, first_omitted: None, sums: InputSums::default() }
    }

    /// Stores at most so many bytes: the problems after the first one that does not fit are left out.
    pub fn at_most(self, bytes: u64) -> Self {
        Self { left: bytes, ..self }
    }

    /// Appends the line of a row: JSON that begins with the member `index`, the number of the row. The rows come in
    /// their order.
    ///
    /// # Errors
    /// Errors of the files.
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

    /// Stores the last piece. The problems of all rows before the returned one are stored, in files with these digests.
    ///
    /// # Errors
    /// Errors of the files.
    pub(super) fn finish(mut self) -> io::Result<(u64, InputSums)> {
        self.put()?;
        Ok((self.first_omitted.unwrap_or(u64::MAX), self.sums))
    }

    fn put(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        self.files.create_folder(FOLDER)?;
        let seal = seal_of_lines(&self.lines);
        self.lines.extend_from_slice(seal.as_bytes());
        // Texts of problems do not identify an input: a job keeps the texts that it has.
        self.sums.put_anew(&*self.files, &file_name(self.piece), &self.lines)?;
        self.lines.clear();
        Ok(())
    }
}

/// The problems of an input that are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoredProblems {
    /// The problems of rows before this one are stored.
    pub(super) before: u64,
    /// Most files of the input.
    pub(super) most_files: u64,
    /// SHA-256 of the list of their digests.
    pub(super) sums: [u8; 32],
}

/// Reads the problems of rows.
pub struct InputProblems {
    stored: StoredProblems,
    /// Read before the first piece.
    sums: Option<InputSums>,
    /// The piece that is open, and the lines of it that were not read.
    open: Option<(u64, Box<dyn BufRead + Send>)>,
    /// A line that was read, and belongs to a later row.
    ahead: Option<(u64, Vec<u8>)>,
}

impl InputProblems {
    /// The stored problems of an input.
    pub fn new(stored: StoredProblems) -> Self {
        Self { stored, sums: None, open: None, ahead: None }
    }

    /// The line of a row that is no board; `None` if its problem was not stored. The rows are asked for in their order.
    ///
    /// # Errors
    /// Errors of the files, and [`io::ErrorKind::InvalidData`] if a piece is damaged or missing. They name the file.
    pub fn of(&mut self, files: &dyn Files, row: u64) -> io::Result<Option<Vec<u8>>> {
        if row >= self.stored.before {
            return Ok(None);
        }
        if self.sums.is_none() {
            self.sums = Some(InputSums::read(files, self.stored.most_files, &self.stored.sums)?);
        }
        let name = file_name(row / PIECE_ROWS);
        let line = self.find(files, row).map_err(|error| of_file(&name, &error))?;
        line.map(Some).ok_or_else(|| of_file(&name, &invalid(format!("the problem of row {row} is missing"))))
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
            self.open = Some((piece, self.open(files, &file_name(piece))?));
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

impl InputProblems {
    /// Opens a piece after it was checked. One that the input does not have is empty.
    fn open(&self, files: &dyn Files, piece: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let Some(digest) = self.sums.as_ref().and_then(|sums| sums.of(piece)) else { return Ok(Box::new(io::empty())) };
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the file is missing");
        let open = || files.open(&name_of(piece))?.ok_or_else(missing);
        if files.length(&name_of(piece))?.is_some_and(|length| length > MAX_PIECE) {
            return Err(invalid(OTHER_INPUT));
        }
        // In two passes, as a piece may be large.
        if check_lines(&mut *open()?)? != *digest {
            return Err(invalid(OTHER_INPUT));
        }
        open()
    }
}

impl std::fmt::Debug for InputProblems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputProblems").finish_non_exhaustive()
    }
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

    fn finish(writer: InputProblemsWriter, files: &FilesInMemory) -> StoredProblems {
        let (before, sums) = writer.finish().unwrap();
        StoredProblems { before, most_files: 100, sums: sums.store(files).unwrap() }
    }

    #[test]
    fn problems_are_read_as_written_from_any_row() {
        let files = Arc::new(FilesInMemory::default());
        let rows: Vec<u64> = (0..40_000).filter(|row| row % 7 == 3 && !(9000..20_000).contains(row)).collect();
        let mut writer = InputProblemsWriter::new(files.clone());
        rows.iter().for_each(|row| writer.push(*row, &line(*row)).unwrap());
        let stored = StoredProblems { before: 41_000, ..finish(writer, &files) };
        for (first, step) in [(0, 1), (4095, 1), (10_000, 3), (1, 5000), (39_999, 1)] {
            let mut problems = InputProblems::new(stored);
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
        assert_eq!(pieces.len(), 9 + 1, "those without problems are not stored: {pieces:?}");
    }

    #[test]
    fn damaged_and_missing_pieces_are_rejected() {
        let rows = [1, 3, 4095];
        let files = Arc::new(FilesInMemory::default());
        let mut writer = InputProblemsWriter::new(files.clone());
        rows.iter().for_each(|row| writer.push(*row, &line(*row)).unwrap());
        let stored = finish(writer, &files);
        assert_eq!(stored.before, u64::MAX);
        let name = name_of(&file_name(0));
        let whole = files.get(&name).unwrap().unwrap();
        let of = |bytes: Option<&[u8]>| {
            files.remove(&name).unwrap();
            if let Some(bytes) = bytes {
                files.put(&name, bytes).unwrap();
            }
            let mut problems = InputProblems::new(stored);
            rows.map(|row| problems.of(&*files, row).map_err(|error| error.to_string()))
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
        // Whole, and of an input with another text.
        let other = [&line(1)[..], &line(3), b"{\"index\":4095,\"line\":9}\n"].concat();
        is_rejected(Some(&[&other, seal_of_lines(&other).as_bytes()].concat()));
    }

    #[test]
    fn what_an_interrupted_command_left_is_replaced() {
        let files = Arc::new(FilesInMemory::default());
        let write = |rows: &[u64]| {
            let mut writer = InputProblemsWriter::new(files.clone());
            rows.iter().for_each(|row| writer.push(*row, &line(*row)).unwrap());
            finish(writer, &files)
        };
        write(&[1, 5000]);
        for rows in [&[1, 3, 7][..], &[2]] {
            let mut problems = InputProblems::new(StoredProblems { before: 10_000, ..write(rows) });
            for row in rows {
                assert_eq!(problems.of(&*files, *row).unwrap(), Some(line(*row)));
            }
            problems.of(&*files, 5000).unwrap_err();
        }
    }

    #[test]
    fn problems_beyond_a_limit_are_left_out() {
        let files = Arc::new(FilesInMemory::default());
        let mut writer = InputProblemsWriter::new(files.clone()).at_most(10_000);
        (0..40_000).for_each(|row| writer.push(row, &line(row)).unwrap());
        let stored = finish(writer, &files);
        let stored_before = stored.before;
        assert!((300..1000).contains(&stored_before), "{stored_before}");
        let mut problems = InputProblems::new(stored);
        for row in 0..40_000 {
            let expected = (row < stored_before).then(|| line(row));
            assert_eq!(problems.of(&*files, row).unwrap(), expected, "row {row}");
        }
        let piece = files.get(&name_of(&file_name(0))).unwrap().unwrap();
        assert!(piece.split_inclusive(|byte| *byte == b'\n').rev().skip(1).flatten().count() <= 10_000);
    }

    #[test]
    fn an_input_without_problems_has_no_pieces() {
        let files = Arc::new(FilesInMemory::default());
        drop(InputProblemsWriter::new(files.clone()).finish().unwrap());
        files.list(FOLDER, &mut |name| panic!("{name}")).unwrap();
    }
}
