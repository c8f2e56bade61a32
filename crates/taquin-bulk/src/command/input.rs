//! Reads rows from a file or from the standard input. The lines are read in chunks.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::rows::{CsvInput, InputRow, InputText, MAX_LINE, RowFormat, RowOptions, RowReader};
use taquin_solver::Board;

use super::ending::BatchError;
use super::text_reader::TextReader;
use super::unfinished::InputPosition;
use super::values::TextFormat;

/// An input of rows, and the options for reading the rows.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RowInput {
    /// Path of the file; `None` for the standard input.
    pub(crate) file: Option<PathBuf>,
    pub(crate) format: TextFormat,
    pub(crate) options: RowOptions,
    /// True if the first faulty row ends the batch.
    pub(crate) is_strict: bool,
}

/// An open input.
pub(crate) struct OpenInput {
    path: PathBuf,
    pub(crate) rows: RowReader,
    source: ChunkReader,
    /// Chunks that were read ahead.
    peeked: VecDeque<LineChunk>,
    /// Length of the input in bytes, without the bytes of skipped lines; `None` if the input is not a regular file. The
    /// length serves only for estimates.
    pub(crate) length: Option<u64>,
}

struct ChunkReader {
    source: Box<dyn BufRead + Send>,
    /// Start of the next line.
    position: InputPosition,
}

/// A chunk: consecutive complete lines of an input.
pub(crate) struct LineChunk {
    start: InputPosition,
    /// The bytes of the lines. An overlong last line may be truncated.
    bytes: Vec<u8>,
    end: InputPosition,
}

/// Target number of bytes in a chunk. The number adapts to the cost of the rows, so that a chunk usually takes 5 to 50
/// milliseconds.
#[derive(Debug)]
pub(crate) struct ChunkBytes(AtomicUsize);

/// Number of bytes that the row reader receives of an overlong line. The number exceeds the limit `MAX_LINE` by one, so
/// that the row reader rejects the line.
const KEPT: usize = MAX_LINE + 1;

/// Number of bytes after which the search for the first valid board ends.
const MAX_PEEKED: usize = 1 << 20;

impl RowInput {
    /// Returns a name of the input for messages: the path of the file, or `standard input`.
    pub(crate) fn path(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| "standard input".into())
    }

    /// Creates the error of a faulty row. The argument has the number of the line, counted from 1, and the cause.
    pub(crate) fn faulty_row(&self, (line, detail): (u64, String)) -> BatchError {
        BatchError::FaultyRow { path: self.path(), line, detail }
    }

    /// Opens the input. For CSV, also reads the first line that is neither blank nor a comment. This line may be a
    /// header.
    ///
    /// # Errors
    /// [`BatchError::File`]. A header that names no board is an error too.
    pub(crate) fn open(&self) -> Result<OpenInput, BatchError> {
        let path = self.path();
        let error = |source| BatchError::File { path: path.clone(), source };
        let (source, length): (Box<dyn Read + Send>, _) = match &self.file {
            Some(file) => {
                let file = File::open(file).map_err(error)?;
                let length = file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
                (Box::new(file), length)
            }
            None => (Box::new(io::stdin()), None),
        };
        let mut format = match self.format {
            TextFormat::Csv => RowFormat::Csv(CsvInput::default()),
            TextFormat::Ndjson => RowFormat::Json,
        };
        let text = InputText::new(&self.options, &format);
        let mut source = BufReader::with_capacity(ChunkBytes::MAX, TextReader::new(source, text));
        source.fill_buf().map_err(error)?;
        // Converted text has another length than the file.
        let length = length.filter(|_| source.get_ref().is_unchanged());
        let mut source = ChunkReader { source: Box::new(source), position: InputPosition::default() };
        let mut peeked = VecDeque::new();
        if self.format == TextFormat::Csv {
            let first = source.first_row(&format).map_err(error)?;
            let wrong = |reason| error(io::Error::new(ErrorKind::InvalidData, reason));
            let text = first.as_ref().map_or(&[][..], |chunk| &chunk.bytes);
            let header = CsvInput::of_first_line(text).map_err(wrong)?;
            peeked.extend(first.filter(|_| header.is_none()));
            format = RowFormat::Csv(header.unwrap_or_default());
        }
        let rows = RowReader::new(self.options.clone(), format);
        Ok(OpenInput { path, rows, source, peeked, length })
    }
}

impl OpenInput {
    /// Reads ahead to the first valid row, and returns the goal of this row.
    ///
    /// # Errors
    /// [`BatchError::File`]. An input without a valid row in about the first megabyte is an error too.
    pub(crate) fn first_goal(&mut self) -> Result<Board, BatchError> {
        let (mut at, mut length, mut line) = (0, 0, 0);
        let mut first_problem = None;
        let goal = loop {
            if at == self.peeked.len() {
                let Some(chunk) = self.source.line().map_err(|error| self.error(error))? else { break None };
                self.peeked.push_back(chunk);
            }
            let chunk = &self.peeked[at];
            (at, length, line) = (at + 1, length + chunk.bytes.len(), chunk.end.lines);
            let Some((line, row)) = chunk.rows(&self.rows).next() else { continue };
            match row.puzzle {
                Ok(puzzle) => break Some(*puzzle.goal()),
                Err(problem) => first_problem.get_or_insert((line, problem)),
            };
            if length > MAX_PEEKED {
                break None;
            }
        };
        goal.ok_or_else(|| match first_problem {
            Some((at, problem)) => {
                let reason =
                    format!("none of the first {line} lines is a board with a goal; line {at}: {}", problem.detail);
                self.error(io::Error::new(ErrorKind::InvalidData, reason))
            }
            None => no_rows(self.path.clone()),
        })
    }

    /// Skips lines until `lines` lines of the input are skipped, or until the input ends.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn skip_to(&mut self, lines: u64) -> Result<(), BatchError> {
        while self.position().lines < lines {
            let chunk = match self.peeked.pop_front() {
                Some(chunk) => Some(chunk),
                None => self.source.line().map_err(|error| self.error(error))?,
            };
            let Some(chunk) = chunk else { break };
            self.length = self.length.map(|length| length.saturating_sub(chunk.length()));
        }
        Ok(())
    }

    /// Returns the position at the start of the next line. The line may have been read ahead.
    pub(crate) fn position(&self) -> InputPosition {
        self.peeked.front().map_or(&self.source.position, |chunk| &chunk.start).clone()
    }

    /// Returns the reader of the rows, and an iterator that reads the remaining lines in chunks. `size` has the target
    /// number of bytes in the next chunk. This number may change between chunks.
    pub(crate) fn chunks(
        self,
        size: &ChunkBytes,
    ) -> (RowReader, impl Iterator<Item = Result<LineChunk, BatchError>> + Send + '_) {
        let Self { path, rows, mut source, peeked, .. } = self;
        let read = move || {
            let chunk = source.chunk(size.get()).transpose()?;
            Some(chunk.map_err(|source| BatchError::File { path: path.clone(), source }))
        };
        (rows, peeked.into_iter().map(Ok).chain(std::iter::from_fn(read)))
    }

    fn error(&self, source: io::Error) -> BatchError {
        BatchError::File { path: self.path.clone(), source }
    }
}

impl LineChunk {
    /// Returns the length of the chunk in bytes, without the bytes that were truncated.
    pub(crate) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Returns the rows. Each item has the number of the line, counted from 1, and the row. Blank lines and comments
    /// are skipped.
    pub(crate) fn rows<'l>(&'l self, reader: &RowReader) -> impl Iterator<Item = (u64, InputRow<'l>)> {
        let lines = lines_of(&self.bytes).map(|line| &line[..line.len().min(KEPT)]);
        let lines = (self.start.lines + 1..).zip(lines);
        let rows = lines.filter(|(_, line)| !reader.skips(line));
        rows.map(|(number, line)| (number, reader.read(line)))
    }

    /// Returns the position at the start of the line with the number `line`, counted from 1. The line must be in the
    /// chunk. If `line` is `None`, returns the position after the chunk.
    pub(crate) fn end_before(&self, line: Option<u64>) -> InputPosition {
        let Some(line) = line else { return self.end.clone() };
        let mut position = self.start.clone();
        let before = (line - 1 - position.lines) as usize;
        // The checksum of a truncated line would be wrong. Only the last line of a chunk may be truncated, and this
        // loop never includes the last line.
        lines_of(&self.bytes).take(before).for_each(|line| position.advance(1, line));
        position
    }
}

fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

/// Returns the error of an input without rows.
pub(crate) fn no_rows(path: PathBuf) -> BatchError {
    BatchError::File { path, source: io::Error::new(ErrorKind::InvalidData, "there are no rows") }
}

impl ChunkBytes {
    const MIN: usize = 64;
    const MAX: usize = 256 << 10;

    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(1 << 10))
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Adapts the number of bytes in later chunks. `time` is the processing time of a chunk.
    pub(crate) fn note(&self, time: Duration) {
        const SHORT: Duration = Duration::from_millis(5);
        const LONG: Duration = Duration::from_millis(50);
        let size = self.get();
        if time < SHORT {
            self.0.store((2 * size).min(Self::MAX), Ordering::Relaxed);
        } else if time > LONG {
            self.0.store((size / 2).max(Self::MIN), Ordering::Relaxed);
        }
    }
}

impl ChunkReader {
    /// Reads one line. Returns `None` at the end of the input.
    fn line(&mut self) -> io::Result<Option<LineChunk>> {
        self.chunk(1)
    }

    /// Reads lines up to the first row, and returns the line of the row. Returns `None` at the end of the input.
    fn first_row(&mut self, format: &RowFormat) -> io::Result<Option<LineChunk>> {
        loop {
            match self.line()? {
                Some(chunk) if format.skips(&chunk.bytes) => {}
                line => return Ok(line),
            }
        }
    }

    /// Reads complete lines: first at most `most` bytes from the buffer, and then the remaining bytes of the last line.
    /// Once the chunk has `MAX_LINE` + 1 bytes of the last line, further remaining bytes are dropped, except for the
    /// line feed. Returns `None` at the end of the input.
    fn chunk(&mut self, most: usize) -> io::Result<Option<LineChunk>> {
        let Self { source, position } = self;
        let (start, available) = (position.clone(), source.fill_buf()?);
        let mut bytes = available[..available.len().min(most)].to_vec();
        source.consume(bytes.len());
        position.checksum.update(&bytes);
        let last = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut is_ended = last == bytes.len();
        while !is_ended {
            let rest = source.fill_buf()?;
            let end = rest.iter().position(|byte| *byte == b'\n');
            let rest = &rest[..end.map_or(rest.len(), |end| end + 1)];
            position.checksum.update(rest);
            let kept = (last + KEPT).saturating_sub(bytes.len()).min(rest.len());
            bytes.extend_from_slice(&rest[..kept]);
            if end.is_some() && kept < rest.len() {
                bytes.push(b'\n');
            }
            is_ended = end.is_some() || rest.is_empty();
            let read = rest.len();
            source.consume(read);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        position.lines += lines_of(&bytes).count() as u64;
        Ok(Some(LineChunk { start, bytes, end: position.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str, is_csv: bool) -> OpenInput {
        let path = std::env::temp_dir().join(format!("taquin-input-{:x}", getrandom::u64().unwrap()));
        std::fs::write(&path, text).unwrap();
        let format = if is_csv { TextFormat::Csv } else { TextFormat::Ndjson };
        let input = RowInput { file: Some(path.clone()), format, options: RowOptions::default(), is_strict: false };
        let open = input.open().unwrap();
        std::fs::remove_file(path).unwrap();
        open
    }

    /// Returns the number of the line of each row, and the first tile of the row's board.
    fn rows(input: OpenInput, size: usize) -> Vec<(u64, Option<u8>)> {
        let size = ChunkBytes(AtomicUsize::new(size));
        let (reader, chunks) = input.chunks(&size);
        let mut rows = Vec::new();
        for chunk in chunks {
            let chunk = chunk.unwrap();
            let first = |row: InputRow<'_>| row.puzzle.ok().map(|puzzle| puzzle.start().tile(0));
            rows.extend(chunk.rows(&reader).map(|(line, row)| (line, first(row))));
        }
        rows
    }

    const TEXT: &str = "1230\n\n[[2,1],[3,0]]\n \n{\"board\":\"1032\"}\n3120";

    #[test]
    fn lines_keep_their_numbers_in_chunks_of_any_size() {
        for size in 1..60 {
            let expected = [(1, Some(1)), (3, None), (5, Some(1)), (6, Some(3))];
            assert_eq!(rows(open(TEXT, false), size), expected, "{size} bytes");
        }
    }

    #[test]
    fn a_header_is_a_line_but_no_row() {
        assert_eq!(rows(open("id,board\na,1230\n\n", true), 8), [(2, Some(1))]);
        assert_eq!(rows(open("1,2,3,0\n2,3,1,0\n", true), 8), [(1, Some(1)), (2, Some(2))]);
    }

    #[test]
    fn rows_are_skipped_and_peeked() {
        let mut input = open(TEXT, false);
        assert_eq!(input.first_goal().unwrap().to_string(), "1 2/3 0");
        input.skip_to(4).unwrap();
        assert_eq!(rows(input, 100), [(5, Some(1)), (6, Some(3))]);
        let error = open("x\n[1,2]\n", false).first_goal().unwrap_err();
        assert!(error.to_string().contains("none of the first 2 lines"), "{error}");
        assert!(open("", false).first_goal().unwrap_err().to_string().contains("no rows"));
    }

    #[test]
    fn a_line_without_end_takes_little_memory() {
        let text = "x".repeat(10 * MAX_LINE) + "\n1230";
        let mut input = open(&text, false);
        assert_eq!(input.source.line().unwrap().unwrap().bytes.len(), MAX_LINE + 2);
        assert_eq!(rows(input, 1 << 10), [(2, Some(1))]);
    }

    #[test]
    fn positions_and_rows_do_not_depend_on_chunks() {
        let fills = ["x".repeat(MAX_LINE), "x".repeat(3 * MAX_LINE), " ".repeat(20 * MAX_LINE) + "1230"];
        for (fill, before) in fills.iter().flat_map(|fill| [0, 5, 3_000].map(|before| (fill, before))) {
            let lines = "1230\n".repeat(before);
            let text = format!("{lines}{fill}\n3120\n{fill}\n{fill}");
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            for peeks in [false, true] {
                let opened = || {
                    let mut input = open(&text, false);
                    if peeks {
                        input.first_goal().unwrap();
                    }
                    input
                };
                let expected = rows(opened(), 1);
                for size in [7, 1 << 10, ChunkBytes::MAX] {
                    assert_eq!(rows(opened(), size), expected, "{before} lines, chunks of {size} bytes");
                    let size = ChunkBytes(AtomicUsize::new(size));
                    let ends = opened().chunks(&size).1.map(|chunk| chunk.unwrap().end);
                    let mut ends: Vec<InputPosition> = ends.collect();
                    assert_eq!(ends.last().map(|end| end.lines), Some(all.len() as u64));
                    ends.retain(|end| end.lines % 500 == 0 || end.lines > before as u64);
                    for end in ends {
                        let mut input = opened();
                        input.skip_to(end.lines).unwrap();
                        let expected = crc32fast::hash(all[..end.lines as usize].concat().as_bytes());
                        assert!(input.position().checksum.finalize() == expected, "skipped");
                        assert!(end.checksum.finalize() == expected, "read");
                    }
                }
            }
        }
    }

    #[test]
    fn a_chunk_ends_before_any_of_its_rows() {
        let text = format!("1230\n{}\n3120\n", "x".repeat(2 * MAX_LINE));
        let size = ChunkBytes(AtomicUsize::new(ChunkBytes::MAX));
        for (number, before) in [(1, ""), (2, "1230\n"), (3, &text[..text.len() - 5])] {
            let chunk = open(&text, false).chunks(&size).1.next().unwrap().unwrap();
            assert!(
                chunk.end_before(Some(number)).checksum.finalize() == crc32fast::hash(before.as_bytes()),
                "line {number}"
            );
        }
    }

    #[test]
    fn chunks_follow_the_cost_of_their_rows() {
        let size = ChunkBytes::new();
        (0..20).for_each(|_| size.note(Duration::ZERO));
        assert_eq!(size.get(), ChunkBytes::MAX);
        (0..20).for_each(|_| size.note(Duration::from_secs(1)));
        assert_eq!(size.get(), ChunkBytes::MIN);
    }
}
