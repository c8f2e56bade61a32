//! Writes labels to Parquet files.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use taquin_solver::{Board, MoveSet, Path, Size};

use crate::label::{Label, Want};

/// Number of rows in a row group. The last row group has the remaining rows. Readers and the writer keep one row group
/// in memory.
const GROUP_ROWS: usize = 1 << 17;
/// Number of rows whose values are passed to the Parquet library in one call.
const VALUES_ROWS: usize = 1 << 12;
/// Maximum number of rows in a data file. The number is a multiple of `GROUP_ROWS`.
const DATA_FILE_ROWS: u64 = 10 << 20;
/// Compression level of Zstandard. The levels are 1 to 22. Higher levels save less than 1 % of the bytes, and take much
/// longer.
const ZSTD_LEVEL: i32 = 3;

/// Name and rows of a Parquet file of a data set. A data set has one or more such files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataFile {
    /// Name of the file. The name has the number of the file and the number of all files, as sites that host data sets
    /// expect.
    pub name: String,
    /// Indices of the rows in the data set.
    pub rows: Range<u64>,
}

/// Returns the files of a data set with `rows` rows, in order. There is at least one file. Each file has at most
/// 10,485,760 rows.
pub fn data_files(rows: u64) -> impl ExactSizeIterator<Item = DataFile> {
    // The number of files must be a `u32`, because a range of `u32` has an exact size as an iterator.
    let files = rows.div_ceil(DATA_FILE_ROWS).max(1) as u32;
    (0..files).map(move |file| {
        let first = u64::from(file) * DATA_FILE_ROWS;
        DataFile {
            name: format!("data-{file:05}-of-{files:05}.parquet"),
            rows: first..(first + DATA_FILE_ROWS).min(rows),
        }
    })
}

/// The columns of a file. All columns except `index` may have nulls: a failed row has no label, and an invalid row has
/// neither a board nor a label.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParquetColumns {
    /// Shape of the boards.
    pub size: Size,
    /// The kind of the labels.
    pub want: Want,
    /// True if the file has a column `id`.
    pub has_ids: bool,
    /// True if the file has a column `problem`.
    pub has_problems: bool,
    /// True if the file has a column `lower_bound`. The column is useful if some lengths may not be proven optimal.
    pub has_bound: bool,
}

/// A row of a Parquet file.
#[derive(Clone, Copy, Debug)]
pub struct ParquetRow<'a> {
    /// Index of the row in the data set, counted from 0.
    pub index: u64,
    /// The id of the row in the input; `None` if the row has no id.
    pub id: Option<&'a str>,
    /// The board; `None` if the row is invalid.
    pub board: Option<&'a Board>,
    /// The label; `None` if the row failed or is invalid.
    pub label: Option<&'a Label>,
    /// The problem of a row without a label, as JSON; `None` for other rows.
    pub problem: Option<&'a str>,
}

/// Rows in memory, stored by column in compact types.
#[derive(Clone, Debug)]
pub struct ParquetRows {
    columns: ParquetColumns,
    index: Vec<i64>,
    id: Vec<Option<ByteArray>>,
    has_board: Vec<bool>,
    /// The tiles of each row; zeros for a row without a board.
    tiles: Vec<u8>,
    length: Vec<Option<i32>>,
    optimal: Vec<Option<bool>>,
    lower_bound: Vec<Option<i32>>,
    moves: Vec<Option<ByteArray>>,
    next: Vec<Option<i32>>,
    expanded: Vec<Option<i64>>,
    problem: Vec<Option<ByteArray>>,
}

/// Writer of a Parquet file. The bytes of the file do not depend on the division of the rows into calls of
/// [`write`](Self::write).
pub struct ParquetFile<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    /// Rows that wait for the next row group.
    rows: ParquetRows,
}

impl ParquetColumns {
    /// Returns the columns, each as a field in the text of the schema.
    fn fields(&self) -> impl Iterator<Item = &'static str> {
        let is_wanted = |want| self.want == want;
        [
            ("REQUIRED INT64 index", true),
            ("OPTIONAL BYTE_ARRAY id (STRING)", self.has_ids),
            (
                "OPTIONAL GROUP board (LIST) { REPEATED GROUP list { REQUIRED INT32 element (INTEGER(8,false)); } }",
                true,
            ),
            ("OPTIONAL INT32 length", true),
            ("OPTIONAL BOOLEAN optimal", true),
            ("OPTIONAL INT32 lower_bound", self.has_bound),
            ("OPTIONAL BYTE_ARRAY moves (STRING)", is_wanted(Want::Moves)),
            ("OPTIONAL INT32 next (INTEGER(8,false))", is_wanted(Want::Next)),
            ("OPTIONAL INT64 expanded", is_wanted(Want::Expanded)),
            ("OPTIONAL BYTE_ARRAY problem (STRING)", self.has_problems),
        ]
        .into_iter()
        .filter_map(|(field, is_there)| is_there.then_some(field))
    }

    fn schema(&self) -> String {
        // In the text of a schema, a group is not followed by a semicolon.
        let end = |field: &str| if field.ends_with('}') { "" } else { ";" };
        let fields: Vec<String> = self.fields().map(|field| format!("{field}{}", end(field))).collect();
        format!("message labels {{ {} }}", fields.join(" "))
    }
}

fn properties(metadata: &[(&str, &str)]) -> Result<WriterProperties, ParquetError> {
    let column = |name: &str| ColumnPath::from(name.split('.').map(str::to_owned).collect::<Vec<_>>());
    let metadata = metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned())).collect();
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
        .set_key_value_metadata(Some(metadata))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // No reader uses the minimum and maximum of boards, solutions and problems.
        .set_column_statistics_enabled(column("board.list.element"), EnabledStatistics::None)
        .set_column_statistics_enabled(column("moves"), EnabledStatistics::None)
        .set_column_statistics_enabled(column("problem"), EnabledStatistics::None);
    // Nearly all values of these columns are different, so a dictionary would not save bytes.
    for (name, encoding) in [
        ("index", Encoding::DELTA_BINARY_PACKED),
        ("id", Encoding::PLAIN),
        ("moves", Encoding::PLAIN),
        ("expanded", Encoding::DELTA_BINARY_PACKED),
    ] {
        properties =
            properties.set_column_dictionary_enabled(column(name), false).set_column_encoding(column(name), encoding);
    }
    Ok(properties.build())
}

impl ParquetRows {
    /// Creates an empty block of rows with these columns.
    pub fn new(columns: ParquetColumns) -> Self {
        Self {
            columns,
            index: Vec::new(),
            id: Vec::new(),
            has_board: Vec::new(),
            tiles: Vec::new(),
            length: Vec::new(),
            optimal: Vec::new(),
            lower_bound: Vec::new(),
            moves: Vec::new(),
            next: Vec::new(),
            expanded: Vec::new(),
            problem: Vec::new(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Appends a row. A value for which there is no column is ignored.
    ///
    /// # Panics
    /// If the shape of the board differs from the shape in the columns.
    pub fn push(&mut self, row: &ParquetRow<'_>) {
        let ParquetColumns { size, want, has_ids, has_problems, has_bound } = self.columns;
        let text = |text: &str| ByteArray::from(text);
        self.index.push(row.index as i64);
        if has_ids {
            self.id.push(row.id.map(text));
        }
        assert!(row.board.is_none_or(|board| board.size() == size), "a file has boards of one shape");
        self.has_board.push(row.board.is_some());
        match row.board {
            Some(board) => self.tiles.extend_from_slice(board.tiles()),
            None => self.tiles.resize(self.tiles.len() + size.cells(), 0),
        }
        self.length.push(row.label.map(|label| label.length as i32));
        self.optimal.push(row.label.map(Label::is_optimal));
        if has_bound {
            self.lower_bound.push(row.label.map(|label| label.lower_bound as i32));
        }
        match want {
            Want::Length | Want::Bounds => {}
            Want::Moves => {
                let path = row.label.and_then(|label| label.path.as_ref());
                self.moves.push(path.map(Path::letters).map(|letters| text(&letters)));
            }
            Want::Next => {
                let next = row.label.and_then(|label| label.next);
                self.next.push(next.map(MoveSet::bits).map(i32::from));
            }
            Want::Expanded => {
                let expanded = row.label.and_then(|label| label.expanded);
                self.expanded.push(expanded.map(|expanded| expanded as i64));
            }
        }
        if has_problems {
            self.problem.push(row.problem.map(text));
        }
    }

    /// Sets the indices of all rows. The first row gets the index `first`, the next row gets the next index, and so on.
    pub fn number_from(&mut self, first: u64) {
        (first as i64..).zip(&mut self.index).for_each(|(index, own)| *own = index);
    }

    /// Appends a range of the rows of `other`. `other` must have the same columns.
    fn extend(&mut self, other: &Self, rows: Range<usize>) {
        /// Appends the values of these rows. A column that the file does not have is empty.
        fn append<T: Clone>(to: &mut Vec<T>, from: &[T], rows: &Range<usize>) {
            to.extend_from_slice(from.get(rows.clone()).unwrap_or_default());
        }
        let cells = self.columns.size.cells();
        append(&mut self.index, &other.index, &rows);
        append(&mut self.id, &other.id, &rows);
        append(&mut self.has_board, &other.has_board, &rows);
        append(&mut self.tiles, &other.tiles, &(rows.start * cells..rows.end * cells));
        append(&mut self.length, &other.length, &rows);
        append(&mut self.optimal, &other.optimal, &rows);
        append(&mut self.lower_bound, &other.lower_bound, &rows);
        append(&mut self.moves, &other.moves, &rows);
        append(&mut self.next, &other.next, &rows);
        append(&mut self.expanded, &other.expanded, &rows);
        append(&mut self.problem, &other.problem, &rows);
    }

    /// Writes all columns to a row group. The order is the order of the schema.
    fn write_to<W: Write + Send>(&self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        let ParquetColumns { want, has_ids, has_problems, has_bound, .. } = self.columns;
        write_column::<Int64Type, W>(group, |writer| writer.write_batch(&self.index, None, None).map(|_| ()))?;
        if has_ids {
            write_nullable::<ByteArrayType, W>(group, &self.id)?;
        }
        write_column::<Int32Type, W>(group, |writer| self.write_boards(writer))?;
        write_nullable::<Int32Type, W>(group, &self.length)?;
        write_nullable::<BoolType, W>(group, &self.optimal)?;
        if has_bound {
            write_nullable::<Int32Type, W>(group, &self.lower_bound)?;
        }
        match want {
            Want::Length | Want::Bounds => {}
            Want::Moves => write_nullable::<ByteArrayType, W>(group, &self.moves)?,
            Want::Next => write_nullable::<Int32Type, W>(group, &self.next)?,
            Want::Expanded => write_nullable::<Int64Type, W>(group, &self.expanded)?,
        }
        if has_problems {
            write_nullable::<ByteArrayType, W>(group, &self.problem)?;
        }
        Ok(())
    }

    fn write_boards(&self, writer: &mut ColumnWriter<'_, Int32Type>) -> Result<(), ParquetError> {
        /// Definition levels of a list: 0 for a null list, and 2 for an element of a list.
        const NO_LIST: i16 = 0;
        const ELEMENT: i16 = 2;
        let cells = self.columns.size.cells();
        let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
        for (has_board, tiles) in self.has_board.chunks(VALUES_ROWS).zip(self.tiles.chunks(VALUES_ROWS * cells)) {
            for (has_board, tiles) in has_board.iter().zip(tiles.chunks_exact(cells)) {
                // The repetition level of the first element of a list is 0, because the element begins a row. The level
                // of all other elements is 1.
                repetitions.push(0);
                if *has_board {
                    values.extend(tiles.iter().map(|tile| i32::from(*tile)));
                    definitions.resize(definitions.len() + cells, ELEMENT);
                    repetitions.resize(definitions.len(), 1);
                } else {
                    definitions.push(NO_LIST);
                }
            }
            writer.write_batch(&values, Some(&definitions), Some(&repetitions))?;
            values.clear();
            definitions.clear();
            repetitions.clear();
        }
        Ok(())
    }
}

type ColumnWriter<'a, T> = parquet::column::writer::ColumnWriterImpl<'a, T>;

/// Writes the next column of a row group. `write` writes the values of the column.
fn write_column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    write: impl FnOnce(&mut ColumnWriter<'_, T>) -> Result<(), ParquetError>,
) -> Result<(), ParquetError> {
    let mut column = group.next_column()?.ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
    write(column.typed::<T>())?;
    column.close()
}

fn write_nullable<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &[Option<T::T>],
) -> Result<(), ParquetError> {
    write_column::<T, W>(group, |writer| {
        for rows in column.chunks(VALUES_ROWS) {
            let values: Vec<T::T> = rows.iter().flatten().cloned().collect();
            let definitions: Vec<i16> = rows.iter().map(|value| i16::from(value.is_some())).collect();
            writer.write_batch(&values, Some(&definitions), None)?;
        }
        Ok(())
    })
}

impl<W: Write + Send> ParquetFile<W> {
    /// Begins a file with these columns. `metadata` has pairs of a key and a value. The metadata is written at the end
    /// of the file.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn create(writer: W, columns: ParquetColumns, metadata: &[(&str, &str)]) -> io::Result<Self> {
        let create = || {
            let schema = parse_message_type(&columns.schema())?;
            SerializedFileWriter::new(writer, Arc::new(schema), Arc::new(properties(metadata)?))
        };
        Ok(Self { writer: create().map_err(io_error)?, rows: ParquetRows::new(columns) })
    }

    /// Appends rows, and writes each complete row group.
    ///
    /// # Errors
    /// Errors of the writer.
    ///
    /// # Panics
    /// If the columns of the rows differ from the columns of the file.
    pub fn write(&mut self, rows: &ParquetRows) -> io::Result<()> {
        assert_eq!(rows.columns, self.rows.columns, "a file has rows of its columns");
        let mut at = 0;
        while at < rows.len() {
            let end = rows.len().min(at + GROUP_ROWS - self.rows.len());
            self.rows.extend(rows, at..end);
            at = end;
            if self.rows.len() == GROUP_ROWS {
                self.write_group()?;
            }
        }
        Ok(())
    }

    /// Writes the last row group and the end of the file, and flushes the writer.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        self.writer.finish().map(|_| ()).map_err(io_error)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let mut write = || {
            let mut group = self.writer.next_row_group()?;
            self.rows.write_to(&mut group)?;
            group.close()
        };
        write().map_err(io_error)?;
        self.rows = ParquetRows::new(self.rows.columns);
        Ok(())
    }
}

/// Converts an error of the Parquet library. If the cause is an I/O error of the underlying writer, returns this I/O
/// error.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
}

#[cfg(test)]
mod tests;
