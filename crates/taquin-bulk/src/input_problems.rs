//! The problems of the invalid rows of an input. Parts store the problems as lines of JSON. The last line of a part has
//! the digest of the other lines.

use std::io::{self, BufRead};
use std::sync::Arc;

use crate::files::{Files, invalid};
use crate::input_files::{FOLDER, InputSums, OTHER_INPUT, name_of, of_file};
use crate::sealed::{check_lines, seal_of_lines};

/// Number of rows that a part covers. If all rows are invalid, a part has some megabytes.
pub(crate) const PROBLEMS_PART_ROWS: u64 = 1 << 12;

/// Maximum size of a part in bytes. The problem of a row takes less than 32 KiB.
const MAX_PROBLEMS_PART: u64 = PROBLEMS_PART_ROWS << 15;

/// Writer of the problems of rows. The writer keeps existing parts of an accepted job, and replaces existing parts of
/// an interrupted command.
#[derive(Debug)]
pub struct InputProblemsWriter {
    files: Arc<dyn Files>,
    part: u64,
    lines: Vec<u8>,
    /// Number of bytes that the writer may still store.
    left: u64,
    /// Index of the first row whose problem exceeded the limit; `None` if no problem exceeded the limit.
    first_omitted: Option<u64>,
    sums: InputSums,
}

impl InputProblemsWriter {
    /// Creates a writer without a limit of the stored bytes. The writer stores a file only if there are problems.
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self { files, part: 0, lines: Vec::new(), left: u64::MAX, first_omitted: None, sums: InputSums::default() }
    }

    /// Limits the bytes of all stored problems. The writer omits the first problem that exceeds the limit, and all
    /// later problems.
    pub fn at_most(self, bytes: u64) -> Self {
        Self { left: bytes, ..self }
    }

    /// Appends the problem of a row. `row` is the index of the row, counted from 0. `line` is a line of JSON with a
    /// line feed at the end. The first member of the JSON object is `index`, which must equal `row`. The rows of
    /// successive calls must be in ascending order.
    ///
    /// # Errors
    /// Errors of the files.
    pub fn push(&mut self, row: u64, line: &[u8]) -> io::Result<()> {
        // After the first problem that exceeds the limit, `left` is 0, so all later problems are omitted too.
        let left = self.left.checked_sub(line.len() as u64);
        self.left = left.unwrap_or_default();
        if left.is_none() {
            self.first_omitted.get_or_insert(row);
            return Ok(());
        }
        if row / PROBLEMS_PART_ROWS != self.part {
            self.put()?;
            self.part = row / PROBLEMS_PART_ROWS;
        }
        self.lines.extend_from_slice(line);
        Ok(())
    }

    /// Stores the last part. Returns the index of the first row whose problem exceeded the limit, and the digests of
    /// all stored parts. If no problem exceeded the limit, the index is [`u64::MAX`].
    ///
    /// # Errors
    /// Errors of the files.
    pub(crate) fn finish(mut self) -> io::Result<(u64, InputSums)> {
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
        // Inputs that differ only in the texts of problems count as equal. So an existing job keeps the stored texts.
        self.sums.put_anew(&*self.files, &file_name(self.part), &self.lines)?;
        self.lines.clear();
        Ok(())
    }
}

/// The facts that a reader of the stored problems of an input needs. These facts follow from the description of the
/// job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoredProblems {
    /// Index of a row, from 0. The problems of all invalid rows before this index are stored.
    pub(crate) before: u64,
    /// Maximum number of files that `SHA256SUMS` lists.
    pub(crate) most_files: u64,
    /// SHA-256 of `SHA256SUMS`, the list of the digests of all other files of the input.
    pub(crate) sums: [u8; 32],
}

/// Reader of the stored problems of rows.
pub struct InputProblems {
    stored: StoredProblems,
    /// Digests of the input's files; `None` until the first problem is requested.
    sums: Option<InputSums>,
    /// Number of the open part, and a reader of its remaining lines; `None` before the first part.
    open: Option<(u64, Box<dyn BufRead + Send>)>,
    /// Row and text of a line that was read ahead. The line belongs to a later row than the last requested row.
    ahead: Option<(u64, Vec<u8>)>,
}

impl InputProblems {
    /// Creates a reader of the stored problems of an input.
    pub fn new(stored: StoredProblems) -> Self {
        Self { stored, sums: None, open: None, ahead: None }
    }

    /// Returns the problem of an invalid row, as a line of JSON. Returns `None` if the problem of the row is not
    /// stored. The rows of successive calls must be in ascending order.
    ///
    /// # Errors
    /// Errors of the files; [`io::ErrorKind::InvalidData`] if a part is damaged, or if the part lacks the problem of
    /// the row; [`io::ErrorKind::NotFound`] if a part is missing. The message of an error names the file.
    pub fn of(&mut self, files: &dyn Files, row: u64) -> io::Result<Option<Vec<u8>>> {
        if row >= self.stored.before {
            return Ok(None);
        }
        if self.sums.is_none() {
            self.sums = Some(InputSums::read(files, self.stored.most_files, &self.stored.sums)?);
        }
        let name = file_name(row / PROBLEMS_PART_ROWS);
        let line = self.find(files, row).map_err(|error| of_file(&name, &error))?;
        line.map(Some).ok_or_else(|| of_file(&name, &invalid(format!("the problem of row {row} is missing"))))
    }

    fn find(&mut self, files: &dyn Files, row: u64) -> io::Result<Option<Vec<u8>>> {
        loop {
            let Some((at, line)) = self.next(files, row / PROBLEMS_PART_ROWS)? else { return Ok(None) };
            if at == row {
                return Ok(Some(line));
            }
            if at > row {
                self.ahead = Some((at, line));
                return Ok(None);
            }
        }
    }

    /// Returns the number of the row and the text of the next line in a part; `None` after the last problem.
    fn next(&mut self, files: &dyn Files, part: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != part) {
            (self.open, self.ahead) = (None, None);
            self.open = Some((part, self.open(files, &file_name(part))?));
        }
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        let mut line = Vec::new();
        if let Some((_, lines)) = &mut self.open {
            lines.read_until(b'\n', &mut line)?;
        }
        // The last line of a part has a digest, and no number of a row.
        Ok(row_of(&line).map(|row| (row, line)))
    }
}

impl InputProblems {
    /// Checks a part, and opens the part for reading. If the list of digests does not have the part, the part has no
    /// problems, and the reader is empty.
    fn open(&self, files: &dyn Files, part: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let Some(digest) = self.sums.as_ref().and_then(|sums| sums.of(part)) else { return Ok(Box::new(io::empty())) };
        let missing = || io::Error::new(io::ErrorKind::NotFound, "the file is missing");
        let open = || files.open(&name_of(part))?.ok_or_else(missing);
        if files.length(&name_of(part))?.is_some_and(|length| length > MAX_PROBLEMS_PART) {
            return Err(invalid(OTHER_INPUT));
        }
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

fn file_name(part: u64) -> String {
    format!("{part:010}.ndjson")
}

/// Returns the number of the row at the start of a line; `None` for other text, such as the line with the digest.
fn row_of(line: &[u8]) -> Option<u64> {
    let digits = line.strip_prefix(b"{\"index\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::FilesInMemory;

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
        let mut parts = Vec::new();
        files.list(FOLDER, &mut |name| parts.push(name.to_owned())).unwrap();
        assert_eq!(parts.len(), 9 + 1, "those without problems are not stored: {parts:?}");
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
        // A complete part of another input, which has another text.
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
        let part = files.get(&name_of(&file_name(0))).unwrap().unwrap();
        assert!(part.split_inclusive(|byte| *byte == b'\n').rev().skip(1).flatten().count() <= 10_000);
    }

    #[test]
    fn an_input_without_problems_has_no_parts() {
        let files = Arc::new(FilesInMemory::default());
        drop(InputProblemsWriter::new(files.clone()).finish().unwrap());
        files.list(FOLDER, &mut |name| panic!("{name}")).unwrap();
    }
}
