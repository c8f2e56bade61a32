//! The rows of a file or of the standard input, in blocks of lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sha2::Digest;
use taquin_solver::Board;

use super::ending::BatchError;
use super::unfinished::InputPosition;
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
    source: BlockSource,
    /// Blocks that were read before their time.
    peeked: VecDeque<LineBlock>,
    /// Length in bytes from the next line on, if it is known.
    pub(super) length: Option<u64>,
}

/// Reads blocks.
struct BlockSource {
    source: Box<dyn BufRead + Send>,
    /// Where the next line begins.
    position: InputPosition,
}

/// Complete lines.
pub(super) struct LineBlock {
    start: InputPosition,
    /// The lines. Of the last one, if it is too long, only so much is kept that it is still too long.
    bytes: Vec<u8>,
    end: InputPosition,
}

/// Bytes of a block, which follow the cost of the rows: a block takes some milliseconds.
#[derive(Debug)]
pub(super) struct BlockSize(AtomicUsize);

/// Bytes of a line that are kept: a line that is too long remains too long.
const KEPT: usize = MAX_LINE + 1;

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
        let source = Box::new(BufReader::with_capacity(BlockSize::MAX, source));
        let mut source = BlockSource { source, position: InputPosition::default() };
        let (mut peeked, mut format) = (VecDeque::new(), RowFormat::Json);
        if self.is_csv {
            let first = source.line().map_err(error)?;
            let wrong = |reason| error(io::Error::new(ErrorKind::InvalidData, reason));
            let text = first.as_ref().map_or(&[][..], |block| &block.bytes);
            let header = CsvInput::of_first_line(text).map_err(wrong)?;
            peeked.extend(first.filter(|_| header.is_none()));
            format = RowFormat::Csv(header.unwrap_or_default());
        }
        let rows = RowReader::new(self.options.clone(), format);
        Ok(OpenInput { path, rows, source, peeked, length })
    }
}

impl OpenInput {
    /// The goal of the first row that has a board. Rows before it are not lost.
    ///
    /// # Errors
    /// [`BatchError::File`], also if no row has a board.
    pub(super) fn first_goal(&mut self) -> Result<Board, BatchError> {
        let (mut at, mut length, mut line) = (0, 0, 0);
        let mut first_problem = None;
        let goal = loop {
            if at == self.peeked.len() {
                let Some(block) = self.source.line().map_err(|error| self.error(error))? else { break None };
                self.peeked.push_back(block);
            }
            let block = &self.peeked[at];
            (at, length, line) = (at + 1, length + block.bytes.len(), block.end.lines);
            let Some((line, row)) = block.rows(&self.rows).next() else { continue };
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

    /// Skips lines up to the one of this number, as far as there are any.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn skip_to(&mut self, lines: u64) -> Result<(), BatchError> {
        while self.position().lines < lines {
            let block = match self.peeked.pop_front() {
                Some(block) => Some(block),
                None => self.source.line().map_err(|error| self.error(error))?,
            };
            let Some(block) = block else { break };
            self.length = self.length.map(|length| length.saturating_sub(block.length()));
        }
        Ok(())
    }

    /// Where the next line begins.
    pub(super) fn position(&self) -> InputPosition {
        self.peeked.front().map_or(&self.source.position, |block| &block.start).clone()
    }

    /// The blocks of the lines that are left.
    pub(super) fn blocks(
        self,
        size: &BlockSize,
    ) -> (RowReader, impl Iterator<Item = Result<LineBlock, BatchError>> + Send + '_) {
        let Self { path, rows, mut source, peeked, .. } = self;
        let read = move || {
            let block = source.block(size.get()).transpose()?;
            Some(block.map_err(|source| BatchError::File { path: path.clone(), source }))
        };
        (rows, peeked.into_iter().map(Ok).chain(std::iter::from_fn(read)))
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
        let lines = lines_of(&self.bytes).map(|line| &line[..line.len().min(KEPT)]);
        let lines = (self.start.lines + 1..).zip(lines);
        let rows = lines.filter(|(_, line)| !RowReader::is_blank(line));
        rows.map(|(number, line)| (number, reader.read(line)))
    }

    /// Where the input goes on behind the block, or at the line of this number.
    pub(super) fn end_before(&self, line: Option<u64>) -> InputPosition {
        let Some(line) = line else { return self.end.clone() };
        let mut position = self.start.clone();
        let before = (line - 1 - position.lines) as usize;
        // The last line, which may not be whole, is not before any.
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

impl BlockSource {
    /// Reads one line.
    fn line(&mut self) -> io::Result<Option<LineBlock>> {
        self.block(1)
    }

    /// Reads complete lines: as many bytes as have arrived, up to `most`, and the rest of the last line. Truncates a line
    /// over `MAX_LINE`, to `MAX_LINE` + 2 bytes. `None` at the end.
    fn block(&mut self, most: usize) -> io::Result<Option<LineBlock>> {
        let Self { source, position } = self;
        let (start, available) = (position.clone(), source.fill_buf()?);
        let mut bytes = available[..available.len().min(most)].to_vec();
        source.consume(bytes.len());
        position.digest.update(&bytes);
        let last = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut is_ended = last == bytes.len();
        while !is_ended {
            let rest = source.fill_buf()?;
            let end = rest.iter().position(|byte| *byte == b'\n');
            let rest = &rest[..end.map_or(rest.len(), |end| end + 1)];
            position.digest.update(rest);
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
        Ok(Some(LineBlock { start, bytes, end: position.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use sha2::Sha256;

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
        assert_eq!(input.source.line().unwrap().unwrap().bytes.len(), MAX_LINE + 2);
        assert_eq!(rows(input, 1 << 10), [(2, Some(1))]);
    }

    #[test]
    fn positions_and_rows_do_not_depend_on_blocks() {
        let digest = |text: &str| Sha256::digest(text).to_vec();
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
                for size in [7, 1 << 10, BlockSize::MAX] {
                    assert_eq!(rows(opened(), size), expected, "{before} lines, blocks of {size} bytes");
                    let size = BlockSize(AtomicUsize::new(size));
                    let ends = opened().blocks(&size).1.map(|block| block.unwrap().end);
                    let mut ends: Vec<InputPosition> = ends.collect();
                    assert_eq!(ends.last().map(|end| end.lines), Some(all.len() as u64));
                    ends.retain(|end| end.lines % 500 == 0 || end.lines > before as u64);
                    for end in ends {
                        let mut input = opened();
                        input.skip_to(end.lines).unwrap();
                        let expected = digest(&all[..end.lines as usize].concat());
                        assert!(input.position().digest.finalize().to_vec() == expected, "skipped");
                        assert!(end.digest.finalize().to_vec() == expected, "read");
                    }
                }
            }
        }
    }

    #[test]
    fn a_block_ends_before_any_of_its_rows() {
        let text = format!("1230\n{}\n3120\n", "x".repeat(2 * MAX_LINE));
        let size = BlockSize(AtomicUsize::new(BlockSize::MAX));
        for (number, before) in [(1, ""), (2, "1230\n"), (3, &text[..text.len() - 5])] {
            let block = open(&text, false).blocks(&size).1.next().unwrap().unwrap();
            assert!(block.end_before(Some(number)).digest.finalize() == Sha256::digest(before), "line {number}");
        }
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
