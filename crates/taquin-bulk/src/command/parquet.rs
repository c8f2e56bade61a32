//! Writes labels as Parquet. The output is one file, or a data set of several files with a card.

use std::fs::{self, File};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::rows::LabelLines;
use crate::{
    Created, Directory, Files, JobBoards, JobSpec, NewFile, ParquetColumns, ParquetFile, ParquetRow, ParquetRows,
    RequestedLimits, Row, Totals, Want, data_files, data_set_card,
};
use taquin_solver::Size;

use super::Session;
use super::arguments::Boards;
use super::checked_file::remove_unless_lost;
use super::console::say;
use super::destination::{Destination, Output, has_bytes};
use super::ending::{BatchEnding, BatchError};
use super::export::{IndexedRow, IndexedRows};
use super::input::RowInput;
use super::rows::{Labeller, RowNames, RowOutcome};
use super::unfinished::FILE_EXISTS;

const CARD: &str = "README.md";

impl Session<'_> {
    /// Labels the rows of an input, and writes the rows to one file or to a stream. The rows cannot become a data set
    /// of several files, because the number of rows is unknown before the end of the input.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn write_input(
        &self,
        input: &RowInput,
        boards: &Boards,
        output: &Output,
    ) -> Result<BatchEnding, BatchError> {
        let Boards { want, limits, .. } = *boards;
        let mut open = input.open()?;
        let size = open.first_goal()?.size();
        let columns = ParquetColumns { has_ids: true, has_problems: true, ..parquet_columns(size, want, limits) };
        let labeller = Labeller::new(self, input, (want, limits), Some(size));
        let take = |_, (id, _): RowNames<'_>, row: &RowOutcome, rows: &mut ParquetRows| {
            // An id that is a JSON string is written without quotes.
            let unquoted = |id| serde_json::from_slice(id).unwrap_or_else(|_| String::from_utf8_lossy(id).into_owned());
            let problem = row.as_ref().err().and_then(|problem| serde_json::to_string(&**problem).ok());
            rows.push(&ParquetRow {
                index: 0,
                id: id.map(unquoted).as_deref(),
                board: row.as_ref().ok().map(|(puzzle, _)| puzzle.start()),
                label: row.as_ref().ok().map(|(_, label)| label),
                problem: problem.as_deref(),
            });
        };
        self.shown(|| {
            self.write_to(output, |path, writer| {
                let error = |source| BatchError::File { path: path.to_owned(), source };
                let metadata = [("taquin.version", self.version)];
                let mut file = ParquetFile::create(writer, columns, &metadata).map_err(error)?;
                let mut first = 0;
                let end = labeller.label(
                    open,
                    || ParquetRows::new(columns),
                    take,
                    |mut rows, _| {
                        rows.number_from(first);
                        first += rows.len() as u64;
                        file.write(&rows).map_err(error)
                    },
                )?;
                if end != BatchEnding::Cancelled {
                    file.finish().map_err(error)?;
                }
                Ok(end)
            })
        })
    }

    /// Writes the rows of a recipe or of a job. The output is one file, a stream or a data set.
    ///
    /// # Errors
    /// See [`BatchError`].
    pub(crate) fn write_parquet(&self, rows: &IndexedRows<'_>, output: &Output) -> Result<BatchEnding, BatchError> {
        let count = rows.spec.boards.count();
        self.progress.total.store(count, Ordering::Relaxed);
        self.shown(|| match &output.destination {
            Destination::Directory(path) => self.write_data_set(rows, path),
            _ => self
                .write_to(output, |path, writer| self.write_file(rows, path, writer, 0..count, &mut Totals::default())),
        })
    }

    /// Calls `write` with the path and a writer of the output. The output is a stream or a new file. A new file has a
    /// temporary name, and receives its final name when the file is complete. After an error or a cancellation, the new
    /// file is removed. An existing file is replaced only if the existing file is empty or may be overwritten.
    fn write_to(
        &self,
        output: &Output,
        write: impl FnOnce(&Path, &mut (dyn Write + Send)) -> Result<BatchEnding, BatchError>,
    ) -> Result<BatchEnding, BatchError> {
        let path = output.destination.path();
        let error = |source| BatchError::File { path: path.to_owned(), source };
        match output.destination {
            Destination::Standard => return write(path, &mut io::stdout()),
            Destination::Stream(_) => return write(path, &mut File::options().write(true).open(path).map_err(error)?),
            Destination::File(_) | Destination::Directory(_) => {}
        }
        NewFile::remove_left(path);
        let mut file = NewFile::begin(path.to_owned()).map_err(error)?;
        let end = write(path, &mut file)?;
        if end == BatchEnding::Cancelled {
            return Ok(end);
        }
        let named = if output.existing.overwrites {
            file.replace()
        } else {
            remove_unless_lost(path, false).and_then(|()| existing_is_error(file.create()))
        };
        match named {
            Err(source) if source.kind() == io::ErrorKind::AlreadyExists => Err(exists(path, FILE_EXISTS)),
            named => named.map_err(error).map(|()| end),
        }
    }

    /// Writes the files of a data set, and then the card.
    fn write_data_set(&self, rows: &IndexedRows<'_>, path: &Path) -> Result<BatchEnding, BatchError> {
        let error = |name: &str, source| BatchError::File { path: path.join(name), source };
        let directory = Directory::create(path).map_err(|source| error("", source))?;
        directory.clean("").map_err(|source| error("", source))?;
        let mut totals = Totals::default();
        for data_file in data_files(rows.spec.boards.count()) {
            let name = &data_file.name;
            let mut file = directory.begin(name).map_err(|source| error(name, source))?;
            let end = self.write_file(rows, &path.join(name), &mut file, data_file.rows, &mut totals)?;
            if end == BatchEnding::Cancelled {
                return Ok(end);
            }
            existing_is_error(file.create()).map_err(|source| error(name, source))?;
        }
        let card = data_set_card(&rows.spec, &totals, "data-*.parquet");
        existing_is_error(directory.put(CARD, card.as_bytes())).map_err(|source| error(CARD, source))?;
        say(format_args!("{} is a data set, which {CARD} describes", path.display()));
        Ok(self.end())
    }

    /// Writes the rows with the indices `rows` to one file, and adds the counts of these rows to `totals`.
    fn write_file(
        &self,
        source: &IndexedRows<'_>,
        path: &Path,
        writer: impl Write + Send,
        rows: Range<u64>,
        totals: &mut Totals,
    ) -> Result<BatchEnding, BatchError> {
        let error = |source| BatchError::File { path: path.to_owned(), source };
        let (version, spec) = (&source.spec.version, description(&source.spec));
        let metadata = [("taquin.version", version.as_str()), ("taquin.spec", spec.as_str())];
        let columns = columns_of(&source.spec);
        let mut file = ParquetFile::create(writer, columns, &metadata).map_err(error)?;
        let new = || (ParquetRows::new(columns), Totals::default());
        let take = |row: &IndexedRow<'_>, (rows, totals): &mut (ParquetRows, Totals)| {
            totals.count(row.row);
            let (label, problem) = (row.row.label(), problem_of(row));
            let IndexedRow { index, board, .. } = *row;
            rows.push(&ParquetRow { index, id: None, board, label, problem: problem.as_deref() });
        };
        let end = source.each_range(self, rows, new, take, |(rows, counts)| {
            totals.add(&counts);
            file.write(&rows).map_err(error)
        })?;
        if end != BatchEnding::Cancelled {
            file.finish().map_err(error)?;
        }
        Ok(end)
    }
}

/// Returns the problem of a row without a label, as JSON; `None` for a row with a label.
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

fn parquet_columns(size: Size, want: Want, limits: RequestedLimits) -> ParquetColumns {
    let has_bound = LabelLines::columns(size, want, limits).has_bound;
    ParquetColumns { size, want, has_ids: false, has_problems: false, has_bound }
}

/// Returns the columns for the labels of a recipe or of a job.
fn columns_of(spec: &JobSpec) -> ParquetColumns {
    let has_problems = matches!(spec.boards, JobBoards::Input(_));
    ParquetColumns { has_problems, ..parquet_columns(spec.boards.goal().size(), spec.want, spec.limits) }
}

/// Returns the description of a job, as JSON. The result has no checksum. The result has no chunk size either, because
/// no row depends on the chunk size.
fn description(spec: &JobSpec) -> String {
    let mut json: serde_json::Value = serde_json::from_slice(&spec.to_json()).unwrap_or_default();
    if let Some(members) = json.as_object_mut() {
        members.shift_remove("chunk");
        members.shift_remove("sha256");
    }
    json.to_string()
}

impl Output {
    /// Rejects the output if an existing file or an existing data set would be lost.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn check_parquet(&self) -> Result<(), BatchError> {
        match &self.destination {
            Destination::File(path) if !self.existing.overwrites && has_bytes(path) => Err(exists(path, FILE_EXISTS)),
            Destination::Directory(path) if has_data_set(path) => {
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
