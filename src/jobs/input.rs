//! Boards of an input, packed into pieces among the files of a job. `docs/adr/0043` has the format byte by byte.

use std::fmt;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::files::{Created, Files};
use crate::domain::{Board, BoardCodec, Puzzle};

/// What a job knows of its input: the boards are in the pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputRecord {
    goal: Board,
    count: u64,
    digest: [u8; 32],
    /// The problems of rows before this one are stored.
    problems_before: u64,
}

/// Boards of a piece; the last one has what is left.
pub const PIECE_BOARDS: u64 = 1 << 16;

pub(super) const FOLDER: &str = "input";
const MAGIC: &[u8; 8] = b"TAQINPT1";
const HEADER_BYTES: usize = 32;

/// Why bytes are not a piece of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceError {
    /// They do not begin as a piece of this format does.
    NotAPiece,
    /// They end too early, or go on too long.
    Length,
    /// A checksum differs.
    Checksum,
    /// It is a piece of another input.
    OtherInput,
}

impl fmt::Display for PieceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAPiece => "the file is not a piece of the input of a taquin job",
            Self::Length => "the file is too short or too long",
            Self::Checksum => "a checksum differs",
            Self::OtherInput => "the file is a piece of another input",
        })
    }
}

impl std::error::Error for PieceError {}

impl InputRecord {
    /// Creates the record of an input: the goal of all boards, their number, and the SHA-256 of their bytes.
    pub(super) fn new(goal: Board, count: u64, digest: [u8; 32]) -> Self {
        Self { goal, count, digest, problems_before: count }
    }

    /// Notes that the problems of rows from this one on are not stored, if the rows are no boards.
    #[must_use]
    pub fn with_problems_before(self, row: u64) -> Self {
        Self { problems_before: row.min(self.count), ..self }
    }

    /// The problems of rows before this one are stored.
    pub fn problems_before(&self) -> u64 {
        self.problems_before
    }

    /// True if another input has the same boards.
    pub(super) fn has_same_rows(&self, other: &Self) -> bool {
        (self.goal, self.count, self.digest) == (other.goal, other.count, other.digest)
    }

    /// The goal of all boards.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// Number of rows, with those that are no boards.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// SHA-256 of the bytes of all boards.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Reads rows. A row that is no board is `None`.
    ///
    /// # Errors
    /// Those of the file system, and [`PieceError`] as [`ErrorKind::InvalidData`].
    ///
    /// # Panics
    /// If there are fewer rows.
    pub(super) fn read(&self, files: &dyn Files, rows: Range<u64>) -> io::Result<InputBoards> {
        assert!(rows.end <= self.count, "the input has {} rows", self.count);
        let codec = BoardCodec::new(self.goal);
        let size = codec.board_bytes();
        let mut bytes = Vec::with_capacity((rows.end - rows.start) as usize * size);
        for piece in rows.start / PIECE_BOARDS..rows.end.div_ceil(PIECE_BOARDS) {
            let first = piece * PIECE_BOARDS;
            let file = self.piece(files, piece)?;
            let boards = &file[HEADER_BYTES..];
            let count = (boards.len() / size) as u64;
            let own = rows.start.max(first) - first..rows.end.min(first + count) - first;
            bytes.extend_from_slice(&boards[own.start as usize * size..own.end as usize * size]);
        }
        Ok(InputBoards { codec, bytes, next: 0 })
    }

    /// Reads and checks the pieces with these rows.
    ///
    /// # Errors
    /// Those of [`read`](Self::read). They name the file.
    pub(super) fn check(&self, files: &dyn Files, rows: &Range<u64>) -> io::Result<()> {
        (rows.start / PIECE_BOARDS..rows.end.div_ceil(PIECE_BOARDS))
            .try_for_each(|piece| self.piece(files, piece).map(drop))
    }

    /// The bytes of a piece, which are those of this input.
    fn piece(&self, files: &dyn Files, piece: u64) -> io::Result<Vec<u8>> {
        let codec = BoardCodec::new(self.goal);
        let of_file = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file_name(piece)));
        let file = files.get_within(&name(piece), most_bytes(&codec)).map_err(of_file)?;
        let missing = || io::Error::new(ErrorKind::NotFound, format!("{} is missing", file_name(piece)));
        let file = file.ok_or_else(missing)?;
        let first = piece * PIECE_BOARDS;
        let checked = decode_piece(&codec, first, &file).and_then(|boards| {
            let is_whole = (boards.len() / codec.board_bytes()) as u64 == PIECE_BOARDS.min(self.count - first);
            if is_whole { Ok(()) } else { Err(PieceError::OtherInput) }
        });
        checked.map_err(|error| of_file(io::Error::new(ErrorKind::InvalidData, error)))?;
        Ok(file)
    }
}

/// Most bytes of a piece.
fn most_bytes(codec: &BoardCodec) -> u64 {
    HEADER_BYTES as u64 + PIECE_BOARDS * codec.board_bytes() as u64
}

/// Rows of an input, unpacked one after another.
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
        // Whatever is no board, as rows without one are written.
        Some(self.codec.read(board).ok())
    }
}

/// Writes the pieces of an input, or compares them with those that exist.
#[derive(Debug)]
pub struct InputWriter {
    files: Arc<dyn Files>,
    codec: BoardCodec,
    piece: Vec<u8>,
    count: u64,
    digest: Sha256,
}

impl InputWriter {
    /// Begins an input of boards with this goal.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn new(files: Arc<dyn Files>, goal: Board) -> io::Result<Self> {
        files.create_folder(FOLDER)?;
        let codec = BoardCodec::new(goal);
        Ok(Self { files, codec, piece: Vec::new(), count: 0, digest: Sha256::new() })
    }

    /// Number of rows so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Appends a row, which has a board of the goal or none.
    ///
    /// # Errors
    /// Those of the file system, and [`PieceError::OtherInput`] as [`ErrorKind::InvalidData`].
    pub fn push(&mut self, row: Option<&Puzzle>) -> io::Result<()> {
        match row {
            Some(puzzle) => self.codec.write(puzzle.start(), &mut self.piece),
            None => self.piece.resize(self.piece.len() + self.codec.board_bytes(), u8::MAX),
        }
        self.count += 1;
        if self.count.is_multiple_of(PIECE_BOARDS) { self.put() } else { Ok(()) }
    }

    /// Ends the input.
    ///
    /// # Errors
    /// Those of [`push`](Self::push).
    pub fn finish(mut self) -> io::Result<InputRecord> {
        if !self.piece.is_empty() {
            self.put()?;
        }
        Ok(InputRecord::new(*self.codec.goal(), self.count, self.digest.finalize().into()))
    }

    fn put(&mut self) -> io::Result<()> {
        let number = (self.count - 1) / PIECE_BOARDS;
        let bytes = encode(&self.codec, number * PIECE_BOARDS, &self.piece);
        self.digest.update(&self.piece);
        self.piece.clear();
        if self.files.put(&name(number), &bytes)? == Created::Existed
            && self.files.get_within(&name(number), most_bytes(&self.codec))?.is_none_or(|existing| existing != bytes)
        {
            return Err(io::Error::new(ErrorKind::InvalidData, PieceError::OtherInput));
        }
        Ok(())
    }
}

fn name(piece: u64) -> String {
    format!("{FOLDER}/{}", file_name(piece))
}

fn file_name(piece: u64) -> String {
    format!("{piece:010}.tqb")
}

/// The file of a piece.
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

/// The boards of a piece of an input.
///
/// # Errors
/// See [`PieceError`].
pub fn decode_piece<'b>(codec: &BoardCodec, first: u64, bytes: &'b [u8]) -> Result<&'b [u8], PieceError> {
    if !bytes.starts_with(MAGIC) {
        return Err(PieceError::NotAPiece);
    }
    let (header, boards) = bytes.split_at_checked(HEADER_BYTES).ok_or(PieceError::Length)?;
    let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if crc32fast::hash(&header[..28]) != number(28) || crc32fast::hash(boards) != number(24) {
        return Err(PieceError::Checksum);
    }
    if boards.len() != number(16) as usize * codec.board_bytes() {
        return Err(PieceError::Length);
    }
    let is_own = encode(codec, first, boards) == bytes;
    if is_own { Ok(boards) } else { Err(PieceError::OtherInput) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Size, SplitMix, random_board};
    use crate::jobs::directory::Directory;
    use crate::jobs::directory::tests::Scratch;

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
        let mut writer = InputWriter::new(Arc::new(directory.clone()), goal)?;
        rows.iter().try_for_each(|row| writer.push(row.as_ref()))?;
        writer.finish()
    }

    #[test]
    fn rows_are_read_as_written_from_any_pieces() {
        for (goal, count) in [(goal(3, 3), 2 * PIECE_BOARDS + 10), (goal(5, 5), 30), (goal(4, 4), PIECE_BOARDS)] {
            let scratch = Scratch::new();
            let rows = rows(goal, count);
            let record = write(&scratch.0, goal, &rows).unwrap();
            assert_eq!((record.count(), record.goal()), (count, &goal));
            let ends = [0, 1, count / 2, count.saturating_sub(11), count];
            for (start, end) in ends.iter().flat_map(|start| ends.map(|end| (*start, end))).filter(|(a, b)| a <= b) {
                let read: Vec<_> = record.read(&scratch.0, start..end).unwrap().collect();
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
        assert_eq!(error.to_string(), PieceError::OtherInput.to_string());
    }

    #[test]
    fn damaged_and_other_pieces_are_rejected() {
        let codec = BoardCodec::new(goal(3, 3));
        let mut boards = Vec::new();
        for row in rows(goal(3, 3), 3).iter().flatten() {
            codec.write(row.start(), &mut boards);
        }
        let piece = encode(&codec, 0, &boards);
        assert_eq!(decode_piece(&codec, 0, &piece), Ok(&boards[..]));
        assert_eq!(decode_piece(&codec, PIECE_BOARDS, &piece), Err(PieceError::OtherInput));
        assert_eq!(decode_piece(&BoardCodec::new(goal(2, 3)), 0, &piece), Err(PieceError::OtherInput));
        assert_eq!(decode_piece(&codec, 0, b"TAQINPT2"), Err(PieceError::NotAPiece));
        assert_eq!(decode_piece(&codec, 0, &piece[..20]), Err(PieceError::Length));
        for at in 8..piece.len() {
            let mut damaged = piece.clone();
            damaged[at] ^= 1;
            assert_eq!(decode_piece(&codec, 0, &damaged), Err(PieceError::Checksum), "byte {at}");
        }
        assert_eq!(decode_piece(&codec, 0, &[&piece[..], &[0]].concat()), Err(PieceError::Checksum));
    }
}
