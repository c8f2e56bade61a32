//! Writes labels as Parquet: one file, or the files of a data set with a card.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::rows::{LabelLines, RowReader};
use crate::{
    Created, Directory, Files, JobBoards, JobSpec, NewFile, ParquetColumns, ParquetFile, ParquetRow, ParquetRows,
    RequestedLimits, Row, Totals, Want, data_files, data_set_card,
};
use taquin_solver::{Puzzle, Size};

use super::arguments::{ParquetOutput, ParquetSource, Source};
use super::console::say;
use super::destination::{Destination, has_bytes};
use super::export::{IndexedRow, IndexedRowSink, IndexedRows};
use super::hashed_file::remove_unless_lost;
use super::input::{LineChunk, RowInput};
use super::rows::{EarlyEnd, Labeller, RowLines};
use super::unfinished::FILE_EXISTS;
use super::{BatchEnding, BatchError, Session};

const CARD: &str = "README.md";

impl Session<'_> {
    /// Writes labels as Parquet.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn write_parquet(
        &self,
        source: &ParquetSource,
        output: &ParquetOutput,
    ) -> Result<BatchEnding, BatchError> {
        match source {
            ParquetSource::Boards(boards) => match (&boards.source, output) {
                (Source::Recipe(recipe), _) => {
                    self.write_rows(&self.recipe_rows(recipe, boards.want, boards.limits), output)
                }
                (Source::Rows(input), ParquetOutput::One { destination, overwrites }) => {
                    self.write_input(input, boards.want, boards.limits, (destination, *overwrites))
                }
                (Source::Rows(_), ParquetOutput::Directory(_)) => unreachable!("the arguments are checked"),
            },
            ParquetSource::Job(directory) => {
                let job = self.open_complete(directory)?;
                self.write_rows(&self.job_rows(&job), output)
            }
        }
    }

    /// Writes the rows of an input into one file. The number of rows is unknown before the end of the input.
    fn write_input(
        &self,
        input: &RowInput,
        want: Want,
        limits: RequestedLimits,
        destination: (&Destination, bool),
    ) -> Result<BatchEnding, BatchError> {
        let mut open = input.open()?;
        let size = open.first_goal()?.size();
        let columns = ParquetColumns { has_ids: true, has_problems: true, ..parquet_columns(size, want, limits) };
        let (limits, is_strict) = (self.label_limits(limits), input.is_strict);
        let labeller = Labeller { session: self, want, limits, lines: RowLines::Ndjson, size: Some(size), is_strict };
        self.shown(|| {
            self.write_to(destination, |path, writer| {
                let error = |source| BatchError::File { path: path.to_owned(), source };
                let metadata = [("taquin.version", self.version)];
                let mut file = ParquetFile::create(writer, columns, &metadata).map_err(error)?;
                let mut first = 0;
                let work = |chunk: &LineChunk, reader: &RowReader| input_rows(&labeller, columns, chunk, reader);
                let end = self.chunks(open, work, |(mut rows, fault): (ParquetRows, Option<(u64, String)>)| {
                    rows.number_from(first);
                    first += rows.len() as u64;
                    file.write(&rows).map_err(error)?;
                    fault.map_or(Ok(()), |fault| Err(input.faulty_row(fault).into()))
                })?;
                if end != BatchEnding::Cancelled {
                    file.finish().map_err(error)?;
                }
                Ok(end)
            })
        })
    }

    fn write_rows(&self, rows: &IndexedRows<'_>, output: &ParquetOutput) -> Result<BatchEnding, BatchError> {
        let count = rows.spec.boards.count();
        self.progress.total.store(count, Ordering::Relaxed);
        let end = |is_whole| if is_whole { self.end() } else { BatchEnding::Cancelled };
        self.shown(|| match output {
            ParquetOutput::Directory(path) => self.write_data_set(rows, path).map(end),
            ParquetOutput::One { destination, overwrites } => self
                .write_to((destination, *overwrites), |path, writer| {
                    self.write_file(rows, path, writer, 0..count, &mut Totals::default()).map(end)
                }),
        })
    }

    /// Writes one file under a temporary name, and renames the complete file. Replaces an existing file that is empty
    /// or may be overwritten.
    fn write_to(
        &self,
        (destination, overwrites): (&Destination, bool),
        write: impl FnOnce(&Path, &mut (dyn Write + Send)) -> Result<BatchEnding, BatchError>,
    ) -> Result<BatchEnding, BatchError> {
        let path = destination.path();
        let error = |source| BatchError::File { path: path.to_owned(), source };
        match destination {
            Destination::Standard => write(path, &mut io::stdout()),
            Destination::Stream(_) => write(path, &mut File::options().write(true).open(path).map_err(error)?),
            Destination::File(_) => {
                NewFile::remove_left(path);
                let mut file = NewFile::begin(path.to_owned()).map_err(error)?;
                let end = write(path, &mut file)?;
                if end == BatchEnding::Cancelled {
                    return Ok(end);
                }
                let named = if overwrites {
                    file.replace()
                } else {
                    remove_unless_lost(path, false).and_then(|()| existing_is_error(file.create()))
                };
                match named {
                    Err(source) if source.kind() == io::ErrorKind::AlreadyExists => Err(exists(path, FILE_EXISTS)),
                    named => named.map_err(error).map(|()| end),
                }
            }
        }
    }

    /// Writes the files of a data set, then the card. Returns false if cancelled.
    fn write_data_set(&self, rows: &IndexedRows<'_>, path: &Path) -> Result<bool, BatchError> {
        let error = |name: &str, source| BatchError::File { path: path.join(name), source };
        let directory = Directory::create(path).map_err(|source| error("", source))?;
        directory.clean("").map_err(|source| error("", source))?;
        let mut totals = Totals::default();
        for data_file in data_files(rows.spec.boards.count()) {
            let name = &data_file.name;
            let mut file = directory.begin(name).map_err(|source| error(name, source))?;
            if !self.write_file(rows, &path.join(name), &mut file, data_file.rows, &mut totals)? {
                return Ok(false);
            }
            existing_is_error(file.create()).map_err(|source| error(name, source))?;
        }
        let card = data_set_card(&rows.spec, &totals, "data-*.parquet");
        existing_is_error(directory.put(CARD, card.as_bytes())).map_err(|source| error(CARD, source))?;
        say(format_args!("{} is a data set, which {CARD} describes", path.display()));
        Ok(true)
    }

    /// Writes a file of these rows, and counts the rows. Returns false if cancelled.
    fn write_file(
        &self,
        source: &IndexedRows<'_>,
        path: &Path,
        writer: impl Write + Send,
        rows: Range<u64>,
        totals: &mut Totals,
    ) -> Result<bool, BatchError> {
        let error = |source| BatchError::File { path: path.to_owned(), source };
        let (version, spec) = (&source.spec.version, description(&source.spec));
        let metadata = [("taquin.version", version.as_str()), ("taquin.spec", spec.as_str())];
        let columns = columns_of(&source.spec);
        let mut file = ParquetFile::create(writer, columns, &metadata).map_err(error)?;
        let work = |make: &mut dyn FnMut(&mut IndexedRowSink<'_>) -> Result<(), EarlyEnd>| {
            let (mut labelled, mut totals) = (ParquetRows::new(columns), Totals::default());
            make(&mut |row| {
                totals.count(row.row);
                let label = if let Row::Solved(label) = row.row { Some(label) } else { None };
                let problem = problem_of(row);
                let IndexedRow { index, board, .. } = *row;
                labelled.push(&ParquetRow { index, id: None, board, label, problem: problem.as_deref() });
            })?;
            Ok((labelled, totals))
        };
        let is_whole = source.each_range(self, rows, work, |(rows, counts): (ParquetRows, Totals)| {
            totals.add(&counts);
            file.write(&rows).map_err(error)
        })?;
        if is_whole { file.finish().map_err(error).map(|()| true) } else { Ok(false) }
    }
}

/// The problem of a row without a label, as JSON.
fn problem_of(row: &IndexedRow<'_>) -> Option<String> {
    let stored = |line: &Vec<u8>| {
        let line: serde_json::Value = serde_json::from_slice(line).ok()?;
        line.get("problem").map(serde_json::Value::to_string)
    };
    match row.row {
        Row::Solved(_) => None,
        Row::Failed | Row::Invalid => {
            row.reason.as_ref().and_then(stored).or_else(|| serde_json::to_string(&LabelLines::problem(row.row)).ok())
        }
    }
}

/// Labels the rows of a chunk. Also returns line and cause of the faulty row at which a strict input stops.
fn input_rows(
    labeller: &Labeller<'_>,
    columns: ParquetColumns,
    chunk: &LineChunk,
    reader: &RowReader,
) -> Result<(ParquetRows, Option<(u64, String)>), EarlyEnd> {
    let mut rows = ParquetRows::new(columns);
    let fault = labeller.each(chunk, reader, &mut |_, id, row| {
        // A string id is written without quotes.
        let id = id.map(|id| serde_json::from_slice(id).unwrap_or_else(|_| String::from_utf8_lossy(id).into_owned()));
        let solved = row.as_ref().ok();
        let problem = row.as_ref().err().and_then(|problem| serde_json::to_string(&**problem).ok());
        rows.push(&ParquetRow {
            index: 0,
            id: id.as_deref(),
            board: solved.map(|(puzzle, _): &(Puzzle, _)| puzzle.start()),
            label: solved.map(|(_, label)| label),
            problem: problem.as_deref(),
        });
    })?;
    Ok((rows, fault))
}

fn parquet_columns(size: Size, want: Want, limits: RequestedLimits) -> ParquetColumns {
    let has_bound = LabelLines::columns(size, want, limits).has_bound;
    ParquetColumns { size, want, has_ids: false, has_problems: false, has_bound }
}

/// The columns for the labels of a recipe or of a job.
fn columns_of(spec: &JobSpec) -> ParquetColumns {
    let has_problems = matches!(spec.boards, JobBoards::Input(_));
    ParquetColumns { has_problems, ..parquet_columns(spec.boards.goal().size(), spec.want, spec.limits) }
}

/// The description of a job as JSON, without its checksum, and without the chunk size, on which no row depends.
fn description(spec: &JobSpec) -> String {
    let mut json: serde_json::Value = serde_json::from_slice(&spec.to_json()).unwrap_or_default();
    if let Some(members) = json.as_object_mut() {
        members.shift_remove("chunk");
        members.shift_remove("sha256");
    }
    json.to_string()
}

impl ParquetOutput {
    /// Rejects an output that would be lost.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn check_existing(&self) -> Result<(), BatchError> {
        match self {
            Self::One { destination: Destination::File(path), overwrites: false } if has_bytes(path) => {
                Err(exists(path, FILE_EXISTS))
            }
            Self::Directory(path) if has_data_set(path) => {
                Err(exists(path, "it has a data set: name another directory"))
            }
            _ => Ok(()),
        }
    }
}

fn exists(path: &Path, reason: &'static str) -> BatchError {
    BatchError::File { path: path.to_owned(), source: io::Error::new(io::ErrorKind::AlreadyExists, reason) }
}

fn has_data_set(path: &Path) -> bool {
    let is_of_data_set = |path: PathBuf| path.ends_with(CARD) || path.extension().is_some_and(|end| end == "parquet");
    fs::read_dir(path).is_ok_and(|entries| entries.flatten().any(|entry| is_of_data_set(entry.path())))
}

fn existing_is_error(created: io::Result<Created>) -> io::Result<()> {
    match created? {
        Created::New => Ok(()),
        Created::Existed => Err(io::ErrorKind::AlreadyExists.into()),
    }
}
