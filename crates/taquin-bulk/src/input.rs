//! The input of a job. The boards are packed into parts. `docs/JOB_FILES.md` describes the format byte by byte.

use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use taquin_solver::{Board, BoardCodec, Puzzle};

use crate::files::Files;
use crate::input_files::{FOLDER, InputSums, OTHER_INPUT, missing, name_of, of_file};
use crate::input_problems::{InputProblemsWriter, PROBLEMS_PART_ROWS, StoredProblems};

/// Record of an input in `spec.json`. The parts of the input contain the boards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputRecord {
    goal: Board,
    count: u64,
    digest: [u8; 32],
    /// SHA-256 of `SHA256SUMS`, the list of the digests of all other files of the input.
    sums: [u8; 32],
    /// Index of a row, from 0. The problems of all invalid rows before this index are stored.
    problems_before: u64,
}

/// Number of rows in a part of an input. The last part has the remaining rows.
pub const INPUT_PART_ROWS: u64 = 1 << 16;

const MAGIC: &[u8; 8] = b"TAQINPT1";
const HEADER_BYTES: usize = 32;

/// The reason why bytes are not a valid part of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputPartError {
    /// The bytes do not begin with the magic number of the format.
    NotAnInputPart,
    /// The length does not match the header.
    Length,
    /// A checksum differs.
    Checksum,
    /// The part belongs to another input, or to another position in the input.
    OtherInput,
}

impl fmt::Display for InputPartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAnInputPart => "the file is not a part of the input of a taquin job",
            Self::Length => "the file is too short or too long",
            Self::Checksum => "a checksum differs",
            Self::OtherInput => OTHER_INPUT,
        })
    }
}

impl std::error::Error for InputPartError {}

impl InputRecord {
    /// Creates the record of an input. `goal` is the goal of all boards, and `count` is the number of rows. `digest` is
    /// the SHA-256 of the packed boards. `sums` is the SHA-256 of `SHA256SUMS`, the list of the digests of all other
    /// files of the input.
    pub(crate) fn new(goal: Board, count: u64, digest: [u8; 32], sums: [u8; 32]) -> Self {
        Self { goal, count, digest, sums, problems_before: count }
    }

    /// Sets the index of a row. The problems of all invalid rows before this index are stored. An index beyond the last
    /// row is replaced with the number of rows.
    #[must_use]
    pub fn with_problems_before(self, row: u64) -> Self {
        Self { problems_before: row.min(self.count), ..self }
    }

    /// Index of a row, from 0. The problems of all invalid rows before this index are stored.
    pub fn problems_before(&self) -> u64 {
        self.problems_before
    }

    /// Returns true if both inputs have the same rows and the same goal. This function compares digests.
    pub(crate) fn has_same_rows(&self, other: &Self) -> bool {
        (self.goal, self.count, self.digest) == (other.goal, other.count, other.digest)
    }

    /// The goal of all boards.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Number of rows, including invalid rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// SHA-256 of the packed bytes of all rows.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// SHA-256 of `SHA256SUMS`, the list of the digests of all other files of the input.
    pub fn sums(&self) -> &[u8; 32] {
        &self.sums
    }

    pub(crate) fn problems(&self) -> StoredProblems {
        StoredProblems { before: self.problems_before, most_files: self.most_files(), sums: self.sums }
    }

    fn most_files(&self) -> u64 {
        self.count.div_ceil(INPUT_PART_ROWS) + self.count.div_ceil(PROBLEMS_PART_ROWS)
    }

    /// Creates a reader of rows. Reads the list of digests.
    ///
    /// # Errors
    /// Errors of the files. [`ErrorKind::InvalidData`] if the list of digests is damaged. [`ErrorKind::NotFound`] if
    /// the list is missing.
    pub(crate) fn reader<'r>(&'r self, files: &'r dyn Files) -> io::Result<InputReader<'r>> {
        let sums = InputSums::read(files, self.most_files(), &self.sums)?;
        Ok(InputReader { record: self, codec: BoardCodec::new(self.goal), files, sums })
    }
}

#[derive(Debug)]
pub(crate) struct InputReader<'r> {
    record: &'r InputRecord,
    codec: BoardCodec,
    files: &'r dyn Files,
    sums: InputSums,
}

impl InputReader<'_> {
    /// Reads the rows with these indices. The item of an invalid row is `None`.
    ///
    /// # Errors
    /// Errors of the files, and [`InputPartError`] as [`ErrorKind::InvalidData`]. The message of an error names the
    /// file.
    ///
    /// # Panics
    /// If the range ends after the last row of the input.
    pub(crate) fn read(&self, rows: Range<u64>) -> io::Result<InputBoards> {
        assert!(rows.end <= self.record.count, "the input has {} rows", self.record.count);
        let size = self.codec.board_bytes();
        let mut bytes = Vec::with_capacity((rows.end - rows.start) as usize * size);
        for part in rows.start / INPUT_PART_ROWS..rows.end.div_ceil(INPUT_PART_ROWS) {
            let first = part * INPUT_PART_ROWS;
            let file = self.part(part)?;
            let boards = &file[HEADER_BYTES..];
            let count = (boards.len() / size) as u64;
            let own = rows.start.max(first) - first..rows.end.min(first + count) - first;
            bytes.extend_from_slice(&boards[own.start as usize * size..own.end as usize * size]);
        }
        Ok(InputBoards { codec: self.codec, bytes, next: 0 })
    }

    /// Reads and checks the parts that contain these rows.
    ///
    /// # Errors
    /// Errors of [`read`](Self::read).
    pub(crate) fn check(&self, rows: &Range<u64>) -> io::Result<()> {
        (rows.start / INPUT_PART_ROWS..rows.end.div_ceil(INPUT_PART_ROWS))
            .try_for_each(|part| self.part(part).map(drop))
    }

    /// Reads a part, and checks that the part belongs to this input.
    fn part(&self, part: u64) -> io::Result<Vec<u8>> {
        let name = file_name(part);
        let file = self.files.get_within(&name_of(&name), most_bytes(&self.codec));
        let file = file.map_err(|error| of_file(&name, &error))?.ok_or_else(|| missing(&name))?;
        let checked = decode_input_part(&self.codec, part * INPUT_PART_ROWS, &file).and_then(|_| {
            let is_own = self.sums.of(&name).is_some_and(|digest| Sha256::digest(&file)[..] == digest[..]);
            if is_own { Ok(()) } else { Err(InputPartError::OtherInput) }
        });
        checked.map_err(|error| of_file(&name, &io::Error::new(ErrorKind::InvalidData, error)))?;
        Ok(file)
    }
}

fn most_bytes(codec: &BoardCodec) -> u64 {
    HEADER_BYTES as u64 + INPUT_PART_ROWS * codec.board_bytes() as u64
}

/// Iterator over rows of an input. Each call of `next` unpacks one board. The item of an invalid row is `None`.
#[derive(Debug)]
pub struct InputBoards {
    codec: BoardCodec,
    bytes: Vec<u8>,
    next: usize,
}

impl Iterator for InputBoards {
    type Item = Option<Puzzle>;

    fn next(&mut self) -> Option<Option<Puzzle>> {
        let end = self.next + self.codec.board_bytes();
        let board = self.bytes.get(self.next..end)?;
        self.next = end;
        // The packed bytes of an invalid row are not a board, so unpacking fails.
        Some(self.codec.read(board).ok())
    }
}

/// Writer of the parts of an input. If a part exists already, its bytes must equal the bytes that the writer would
/// store.
#[derive(Debug)]
pub struct InputWriter {
    files: Arc<dyn Files>,
    codec: BoardCodec,
    part: Vec<u8>,
    count: u64,
    digest: Sha256,
    sums: InputSums,
}

impl InputWriter {
    /// Creates a writer for boards with this goal.
    ///
    /// # Errors
    /// Errors of the storage.
    pub fn new(files: Arc<dyn Files>, goal: Board) -> io::Result<Self> {
        files.create_folder(FOLDER)?;
        let codec = BoardCodec::new(goal);
        Ok(Self { files, codec, part: Vec::new(), count: 0, digest: Sha256::new(), sums: InputSums::default() })
    }

    /// Number of rows pushed so far, including invalid rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Appends a row: a puzzle with the writer's goal, or `None` for an invalid row.
    ///
    /// # Errors
    /// Errors of the storage. [`InputPartError::OtherInput`] as [`ErrorKind::InvalidData`] if a part exists with other
    /// bytes.
    ///
    /// # Panics
    /// If the board of the puzzle has another shape than the goal of the writer.
    pub fn push(&mut self, row: Option<&Puzzle>) -> io::Result<()> {
        match row {
            Some(puzzle) => self.codec.write(puzzle.start(), &mut self.part),
            None => self.part.resize(self.part.len() + self.codec.board_bytes(), u8::MAX),
        }
        self.count += 1;
        if self.count.is_multiple_of(INPUT_PART_ROWS) { self.put() } else { Ok(()) }
    }

    /// Stores the last part, the last file of `problems`, and finally `SHA256SUMS`. Returns the record of the input.
    ///
    /// # Errors
    /// Errors of [`push`](Self::push).
    pub fn finish(mut self, problems: InputProblemsWriter) -> io::Result<InputRecord> {
        if !self.part.is_empty() {
            self.put()?;
        }
        let (problems_before, problems) = problems.finish()?;
        self.sums.extend(problems);
        let sums = self.sums.store(&*self.files)?;
        let record = InputRecord::new(*self.codec.goal(), self.count, self.digest.finalize().into(), sums);
        Ok(record.with_problems_before(problems_before))
    }

    fn put(&mut self) -> io::Result<()> {
        let number = (self.count - 1) / INPUT_PART_ROWS;
        let bytes = encode(&self.codec, number * INPUT_PART_ROWS, &self.part);
        self.digest.update(&self.part);
        self.part.clear();
        let is_own = self.sums.put(&*self.files, &file_name(number), &bytes)?;
        if is_own { Ok(()) } else { Err(io::Error::new(ErrorKind::InvalidData, InputPartError::OtherInput)) }
    }
}

fn file_name(part: u64) -> String {
    format!("{part:010}.tqb")
}

fn encode(codec: &BoardCodec, first: u64, boards: &[u8]) -> Vec<u8> {
    let size = codec.goal().size();
    let count = (boards.len() / codec.board_bytes()) as u32;
    let mut bytes = Vec::with_capacity(HEADER_BYTES + boards.len());
    bytes.extend_from_slice(MAGIC);
    bytes.extend(first.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend([size.rows() as u8, size.cols() as u8, 0, 0]);
    bytes.extend(crc32fast::hash(boards).to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes.extend_from_slice(boards);
    bytes
}

/// Checks a part of an input, and returns the packed boards of the part. `first` is the index of the part's first row
/// in the input.
///
/// # Errors
/// See [`InputPartError`].
pub fn decode_input_part<'b>(codec: &BoardCodec, first: u64, bytes: &'b [u8]) -> Result<&'b [u8], InputPartError> {
    if !bytes.starts_with(MAGIC) {
        return Err(InputPartError::NotAnInputPart);
    }
    let (header, boards) = bytes.split_at_checked(HEADER_BYTES).ok_or(InputPartError::Length)?;
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if crc32fast::hash(&header[..28]) != number(28) || crc32fast::hash(boards) != number(24) {
        return Err(InputPartError::Checksum);
    }
    if boards.len() != number(16) as usize * codec.board_bytes() {
        return Err(InputPartError::Length);
    }
    let is_own = encode(codec, first, boards) == bytes;
    if is_own { Ok(boards) } else { Err(InputPartError::OtherInput) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Directory;
    use crate::test_files::Scratch;
    use taquin_solver::{Size, SplitMix, random_board};

    fn goal(rows: usize, cols: usize) -> Board {
        Board::blank_last(Size::try_from((rows, cols)).unwrap())
    }

    fn rows(goal: Board, count: u64) -> Vec<Option<Puzzle>> {
        let mut random = SplitMix(count);
        let row = |index: u64| {
            let board = random_board(&goal, &mut random);
            (index % 7 != 3).then(|| Puzzle::try_new(board, goal).unwrap())
        };
        (0..count).map(row).collect()
    }

    fn write(directory: &Directory, goal: Board, rows: &[Option<Puzzle>]) -> io::Result<InputRecord> {
        let files = Arc::new(directory.clone());
        let mut writer = InputWriter::new(files.clone(), goal)?;
        rows.iter().try_for_each(|row| writer.push(row.as_ref()))?;
        writer.finish(InputProblemsWriter::new(files))
    }

    #[test]
    fn rows_are_read_as_written_from_any_parts() {
        for (goal, count) in [(goal(3, 3), 2 * INPUT_PART_ROWS + 10), (goal(5, 5), 30), (goal(4, 4), INPUT_PART_ROWS)] {
            let scratch = Scratch::new();
            let rows = rows(goal, count);
            let record = write(&scratch.0, goal, &rows).unwrap();
            assert_eq!((record.count(), record.goal()), (count, &goal));
            let ends = [0, 1, count / 2, count.saturating_sub(11), count];
            for (start, end) in ends.iter().flat_map(|start| ends.map(|end| (*start, end))).filter(|(a, b)| a <= b) {
                let read: Vec<_> = record.reader(&scratch.0).unwrap().read(start..end).unwrap().collect();
                assert_eq!(read, rows[start as usize..end as usize], "{start}..{end} of {count}");
            }
        }
    }

    #[test]
    fn an_input_is_written_once_and_no_other_takes_its_place() {
        let scratch = Scratch::new();
        let goal = goal(3, 3);
        let rows = rows(goal, 50);
        let record = write(&scratch.0, goal, &rows).unwrap();
        assert_eq!(write(&scratch.0, goal, &rows).unwrap(), record);
        let error = write(&scratch.0, goal, &rows[1..]).unwrap_err();
        assert_eq!(error.to_string(), InputPartError::OtherInput.to_string());
    }

    #[test]
    fn a_part_of_another_input_of_the_same_shape_is_rejected_by_every_range_with_it() {
        let (goal, count) = (goal(3, 3), INPUT_PART_ROWS + 20);
        let [own, other] = [Scratch::new(), Scratch::new()];
        let all = rows(goal, count);
        let record = write(&own.0, goal, &all).unwrap();
        let mut others = all.clone();
        others.swap(count as usize - 1, count as usize - 2);
        assert_eq!(write(&other.0, goal, &others).unwrap().count(), count);
        let part = name_of(&file_name(1));
        std::fs::copy(other.0.path().join(&part), own.0.path().join(&part)).unwrap();
        let reader = record.reader(&own.0).unwrap();
        assert_eq!(reader.read(0..INPUT_PART_ROWS).unwrap().count() as u64, INPUT_PART_ROWS);
        for range in [INPUT_PART_ROWS..count, INPUT_PART_ROWS..INPUT_PART_ROWS + 1, 0..count] {
            let expected = format!("{}: {}", file_name(1), InputPartError::OtherInput);
            assert_eq!(reader.check(&range).unwrap_err().to_string(), expected);
            assert_eq!(reader.read(range).unwrap_err().to_string(), expected);
        }
        std::fs::copy(other.0.path().join("input/SHA256SUMS"), own.0.path().join("input/SHA256SUMS")).unwrap();
        let error = record.reader(&own.0).unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidData && error.to_string().starts_with("SHA256SUMS: "), "{error}");
    }

    #[test]
    fn damaged_and_other_parts_are_rejected() {
        let codec = BoardCodec::new(goal(3, 3));
        let mut boards = Vec::new();
        for row in rows(goal(3, 3), 3).iter().flatten() {
            codec.write(row.start(), &mut boards);
        }
        let part = encode(&codec, 0, &boards);
        assert_eq!(decode_input_part(&codec, 0, &part), Ok(&boards[..]));
        assert_eq!(decode_input_part(&codec, INPUT_PART_ROWS, &part), Err(InputPartError::OtherInput));
        assert_eq!(decode_input_part(&BoardCodec::new(goal(2, 3)), 0, &part), Err(InputPartError::OtherInput));
        assert_eq!(decode_input_part(&codec, 0, b"TAQINPT2"), Err(InputPartError::NotAnInputPart));
        assert_eq!(decode_input_part(&codec, 0, &part[..20]), Err(InputPartError::Length));
        for at in 8..part.len() {
            let mut damaged = part.clone();
            damaged[at] ^= 1;
            assert_eq!(decode_input_part(&codec, 0, &damaged), Err(InputPartError::Checksum), "byte {at}");
        }
        assert_eq!(decode_input_part(&codec, 0, &[&part[..], &[0]].concat()), Err(InputPartError::Checksum));
    }
}
