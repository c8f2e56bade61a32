//! The rows of a file or of the standard input, in blocks of lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::ending::BatchError;
use super::unfinished::InputPosition;
use crate::domain::Board;
use crate::http::{CsvInput, InputRow, MAX_LINE, RowFormat, RowOptions, RowReader};

/// Where rows come from, and how they are read.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct RowInput {
    /// `None` for the standard input.
    pub(super) file: Option<PathBuf>,
    pub(super) is_csv: bool,
    pub(super) options: RowOptions,
    /// True to end at the first faulty row.
    pub(super) is_strict: bool,
}

/// An open input.
pub(super) struct OpenInput {
    path: PathBuf,
    pub(super) rows: RowReader,
    source: Box<dyn BufRead + Send>,
    /// Where the next line begins.
    position: InputPosition,
    /// Length in bytes from the next line on, if it is known.
    pub(super) length: Option<u64>,
}

/// Complete lines.
pub(super) struct LineBlock {
    start: InputPosition,
    bytes: Vec<u8>,
    end: InputPosition,
}

/// Bytes of a block, which follow the cost of the rows: a block takes some milliseconds.
#[derive(Debug)]
pub(super) struct BlockSize(AtomicUsize);

/// Bytes that are looked through for the first board.
const MAX_PEEKED: usize = 1 << 20;

impl RowInput {
    /// How messages name it.
    pub(super) fn path(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| "standard input".into())
    }

    /// The error of a faulty row: the number of its line, and what is wrong.
    pub(super) fn faulty_row(&self, (line, detail): (u64, String)) -> BatchError {
        BatchError::FaultyRow { path: self.path(), line, detail }
    }

    /// Opens the input, and reads the header of a CSV file.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn open(&self) -> Result<OpenInput, BatchError> {
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
        let mut source: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(BlockSize::MAX, source));
        let (mut position, mut format) = (InputPosition::default(), RowFormat::Json);
        if self.is_csv {
            let first = next_line(&mut *source).map_err(error)?.unwrap_or_default();
            let wrong = |reason| error(io::Error::new(ErrorKind::InvalidData, reason));
            let header = CsvInput::of_first_line(&first).map_err(wrong)?;
            if header.is_some() {
                position.advance(1, &first);
            } else {
                source = Box::new(Cursor::new(first).chain(source));
            }
            format = RowFormat::Csv(header.unwrap_or_default());
        }
        let rows = RowReader::new(self.options.clone(), format);
        Ok(OpenInput { path, rows, source, position, length })
    }
}

impl OpenInput {
    /// The goal of the first row that has a board. Rows before it are not lost.
    ///
    /// # Errors
    /// [`BatchError::File`], also if no row has a board.
    pub(super) fn first_goal(&mut self) -> Result<Board, BatchError> {
        let mut peeked = Vec::new();
        let (mut line, mut first_problem) = (self.position.lines, None);
        let goal = loop {
            let Some(bytes) = next_line(&mut *self.source).map_err(|error| self.error(error))? else { break None };
            line += 1;
            peeked.extend_from_slice(&bytes);
            if RowReader::is_blank(&bytes) {
                continue;
            }
            match self.rows.read(&bytes).puzzle {
                Ok(puzzle) => break Some(*puzzle.goal()),
                Err(problem) => first_problem.get_or_insert((line, problem)),
            };
            if peeked.len() > MAX_PEEKED {
                break None;
            }
        };
        let source = std::mem::replace(&mut self.source, Box::new(io::empty()));
        self.source = Box::new(Cursor::new(peeked).chain(source));
        goal.ok_or_else(|| match first_problem {
            Some((at, problem)) => {
                let reason =
                    format!("none of the first {line} lines is a board with a goal; line {at}: {}", problem.detail);
                self.error(io::Error::new(ErrorKind::InvalidData, reason))
            }
            None => no_rows(self.path.clone()),
        })
    }

    /// Skips lines up to the one of this number, as far as there are any.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn skip_to(&mut self, lines: u64) -> Result<(), BatchError> {
        while self.position.lines < lines {
            let Some(bytes) = next_line(&mut *self.source).map_err(|error| self.error(error))? else { break };
            self.position.advance(1, &bytes);
            self.length = self.length.map(|length| length.saturating_sub(bytes.len() as u64));
        }
        Ok(())
    }

    /// Where the next line begins.
    pub(super) fn position(&self) -> InputPosition {
        self.position.clone()
    }

    /// The blocks of the lines that are left.
    pub(super) fn blocks(
        self,
        size: &BlockSize,
    ) -> (RowReader, impl Iterator<Item = Result<LineBlock, BatchError>> + Send + '_) {
        let Self { path, rows, mut source, mut position, .. } = self;
        let next = move || {
            let block = next_block(&mut *source, size.get());
            let block = block.map_err(|source| BatchError::File { path: path.clone(), source }).transpose()?;
            Some(block.map(|bytes| {
                let start = position.clone();
                position.advance(lines_of(&bytes).count() as u64, &bytes);
                LineBlock { start, bytes, end: position.clone() }
            }))
        };
        (rows, std::iter::from_fn(next))
    }

    fn error(&self, source: io::Error) -> BatchError {
        BatchError::File { path: self.path.clone(), source }
    }
}

impl LineBlock {
    /// Length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The rows, with the numbers of their lines, from 1.
    pub(super) fn rows<'l>(&'l self, reader: &RowReader) -> impl Iterator<Item = (u64, InputRow<'l>)> {
        let lines = (self.start.lines + 1..).zip(lines_of(&self.bytes));
        let rows = lines.filter(|(_, line)| !RowReader::is_blank(line));
        rows.map(|(number, line)| (number, reader.read(line)))
    }

    /// Where the input goes on behind the block, or at the line of this number.
    pub(super) fn end_before(&self, line: Option<u64>) -> InputPosition {
        let Some(line) = line else { return self.end.clone() };
        let mut position = self.start.clone();
        let before = (line - 1 - position.lines) as usize;
        lines_of(&self.bytes).take(before).for_each(|line| position.advance(1, line));
        position
    }
}

fn lines_of(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

/// The error of an input without rows.
pub(super) fn no_rows(path: PathBuf) -> BatchError {
    BatchError::File { path, source: io::Error::new(ErrorKind::InvalidData, "there are no rows") }
}

impl BlockSize {
    const MIN: usize = 64;
    const MAX: usize = 256 << 10;

    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(1 << 10))
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Notes the time that a block took.
    pub(super) fn note(&self, time: Duration) {
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

/// Reads complete lines: as many bytes as have arrived, up to `most`, and the rest of the last line. `None` at the end.
fn next_block(source: &mut (impl BufRead + ?Sized), most: usize) -> io::Result<Option<Vec<u8>>> {
    let available = source.fill_buf()?;
    let taken = available.len().min(most);
    let mut block = available[..taken].to_vec();
    source.consume(taken);
    if block.last().is_some_and(|byte| *byte != b'\n') {
        block.extend(next_line(source)?.unwrap_or_default());
    }
    Ok((!block.is_empty()).then_some(block))
}

/// Reads a line with its end. Of one that is too long, only so much is kept that it is still too long. `None` at the
/// end.
fn next_line(source: &mut (impl BufRead + ?Sized)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = MAX_LINE as u64 + 1;
    source.take(most).read_until(b'\n', &mut line)?;
    if line.len() as u64 == most && line.last() != Some(&b'\n') {
        source.skip_until(b'\n')?;
        line.push(b'\n');
    }
    Ok((!line.is_empty()).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str, is_csv: bool) -> OpenInput {
        let path = std::env::temp_dir().join(format!("taquin-input-{:x}", getrandom::u64().unwrap()));
        std::fs::write(&path, text).unwrap();
        let input = RowInput { file: Some(path.clone()), is_csv, options: RowOptions::default(), is_strict: false };
        let open = input.open().unwrap();
        std::fs::remove_file(path).unwrap();
        open
    }

    /// Numbers of the lines of all rows, and the first tile of each board.
    fn rows(input: OpenInput, size: usize) -> Vec<(u64, Option<u8>)> {
        let size = BlockSize(AtomicUsize::new(size));
        let (reader, blocks) = input.blocks(&size);
        let mut rows = Vec::new();
        for block in blocks {
            let block = block.unwrap();
            let first = |row: InputRow<'_>| row.puzzle.ok().map(|puzzle| puzzle.start().tile(0));
            rows.extend(block.rows(&reader).map(|(line, row)| (line, first(row))));
        }
        rows
    }

    const TEXT: &str = "1230\n\n[[2,1],[3,0]]\n \n{\"board\":\"1032\"}\n3120";

    #[test]
    fn lines_keep_their_numbers_in_blocks_of_any_size() {
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
        assert_eq!(next_line(&mut *input.source).unwrap().unwrap().len(), MAX_LINE + 2);
        assert_eq!(rows(input, 1 << 10), [(1, Some(1))]);
    }

    #[test]
    fn blocks_follow_the_cost_of_their_rows() {
        let size = BlockSize::new();
        (0..20).for_each(|_| size.note(Duration::ZERO));
        assert_eq!(size.get(), BlockSize::MAX);
        (0..20).for_each(|_| size.note(Duration::from_secs(1)));
        assert_eq!(size.get(), BlockSize::MIN);
    }
}
