//! Tests that read files row by row with the record reader of the Parquet library.

use std::io::ErrorKind;

use bytes::Bytes;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use taquin_solver::{Move, Named};

use super::*;

/// The values of a row that a test writes.
#[derive(Clone, PartialEq, Debug)]
struct Made {
    index: u64,
    id: Option<String>,
    board: Option<Board>,
    label: Option<Label>,
    problem: Option<String>,
}

const METADATA: [(&str, &str); 2] = [("taquin.version", "1.2.3"), ("taquin.spec", "{\"seed\": \"é\"}")];

fn size(rows: usize, cols: usize) -> Size {
    Size::try_from((rows, cols)).unwrap()
}

fn columns(want: Want, has_all: bool) -> ParquetColumns {
    ParquetColumns { size: size(3, 4), want, has_ids: has_all, has_problems: has_all, has_bound: has_all }
}

/// Returns a row that differs from the neighbouring rows. Some rows have no label, some of these rows have no board,
/// and some values are unknown.
fn made(index: u64) -> Made {
    let length = index as u32 % 50;
    let mut board = Board::blank_last(size(3, 4));
    let path: Path = (0..length).map(|at| Move::ALL[(at * 7 + length) as usize % 4]).collect();
    for mv in path.moves() {
        board.make(*mv);
    }
    let next = (0..4).filter(|bit| index >> bit & 1 == 1).map(|bit| Move::ALL[bit]).collect();
    let label = Label {
        lower_bound: length - length % 3,
        length,
        next: (!index.is_multiple_of(11)).then_some(next),
        expanded: (!index.is_multiple_of(13)).then_some(100 * index.pow(3)),
        generated: None,
        path: Some(path),
    };
    let has_failed = index % 7 == 3;
    Made {
        index: (1 << 40) + index,
        id: (!index.is_multiple_of(5)).then(|| format!("é{index}")),
        board: (index % 14 != 3).then_some(board),
        label: (!has_failed).then_some(label),
        problem: has_failed.then(|| format!("{{\"detail\": \"row {index}\"}}")),
    }
}

fn block(columns: ParquetColumns, indices: Range<u64>) -> ParquetRows {
    let mut rows = ParquetRows::new(columns);
    for Made { index, id, board, label, problem } in indices.map(made) {
        let (id, problem) = (id.as_deref(), problem.as_deref());
        rows.push(&ParquetRow { index, id, board: board.as_ref(), label: label.as_ref(), problem });
    }
    rows
}

/// Writes the first `count` rows in blocks of `block_rows` rows, and returns the bytes of the file.
fn bytes(columns: ParquetColumns, count: u64, block_rows: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut file = ParquetFile::create(&mut bytes, columns, &METADATA).unwrap();
    for first in (0..count).step_by(block_rows as usize) {
        file.write(&block(columns, first..count.min(first + block_rows))).unwrap();
    }
    file.finish().unwrap();
    bytes
}

fn read(bytes: Vec<u8>) -> (Vec<Row>, ParquetMetaData) {
    let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
    (reader.get_row_iter(None).unwrap().map(Result::unwrap).collect(), reader.metadata().clone())
}

/// Returns the fields of a row that was read, by name. A list of bytes is converted to a field of bytes, because tests
/// cannot construct a list of the library.
fn fields(row: Row) -> Vec<(String, Field)> {
    let tile = |tile: &Field| if let Field::UByte(tile) = tile { *tile } else { panic!("{tile:?} is no tile") };
    let plain = |field| match field {
        Field::ListInternal(list) => Field::Bytes(list.elements().iter().map(tile).collect::<Vec<_>>().into()),
        field => field,
    };
    row.into_columns().into_iter().map(|(name, field)| (name, plain(field))).collect()
}

/// Returns the expected fields of a row, by name.
fn expected(columns: ParquetColumns, row: &Made) -> Vec<(&'static str, Field)> {
    fn field<T>(value: Option<T>, field: impl Fn(T) -> Field) -> Field {
        value.map_or(Field::Null, field)
    }
    let label = row.label.as_ref();
    let text = |text: &Option<String>| field(text.clone(), Field::Str);
    let mut fields = vec![("index", Field::Long(row.index as i64))];
    if columns.has_ids {
        fields.push(("id", text(&row.id)));
    }
    fields.push(("board", field(row.board, |board| Field::Bytes(board.tiles().to_vec().into()))));
    fields.push(("length", field(label, |label| Field::Int(label.length as i32))));
    fields.push(("optimal", field(label, |label| Field::Bool(label.length == label.lower_bound))));
    if columns.has_bound {
        fields.push(("lower_bound", field(label, |label| Field::Int(label.lower_bound as i32))));
    }
    match columns.want {
        Want::Length | Want::Bounds => {}
        Want::Moves => {
            let letters = |path: &Path| path.moves().iter().map(|mv| mv.letter()).collect();
            fields
                .push(("moves", field(label.and_then(|label| label.path.as_ref()), |path| Field::Str(letters(path)))));
        }
        Want::Next => {
            let bits =
                |next: MoveSet| [1, 2, 4, 8].into_iter().zip(Move::ALL).filter(move |(_, mv)| next.contains(*mv));
            let sum = |next| bits(next).map(|(bit, _)| bit).sum();
            fields.push(("next", field(label.and_then(|label| label.next), |next| Field::UByte(sum(next)))));
        }
        Want::Expanded => {
            let expanded = label.and_then(|label| label.expanded);
            fields.push(("expanded", field(expanded, |expanded| Field::Long(expanded as i64))));
        }
    }
    if columns.has_problems {
        fields.push(("problem", text(&row.problem)));
    }
    fields
}

#[test]
fn every_column_is_read_as_written() {
    for want in Want::ALL.iter().copied() {
        for columns in [columns(want, true), columns(want, false)] {
            let (rows, _) = read(bytes(columns, 1_000, 1_000));
            assert_eq!(rows.len(), 1_000);
            for (row, made) in rows.into_iter().zip((0..).map(made)) {
                let named = |(name, field): (&str, Field)| (name.to_owned(), field);
                assert_eq!(fields(row), expected(columns, &made).into_iter().map(named).collect::<Vec<_>>());
            }
        }
    }
}

#[test]
fn row_groups_have_a_fixed_number_of_rows_and_bytes_do_not_depend_on_the_blocks() {
    let group = GROUP_ROWS as u64;
    let columns = columns(Want::Length, true);
    for count in [0, 1, group - 1, group, group + 1, 2 * group + 5] {
        let whole = bytes(columns, count, count.max(1));
        for block_rows in [999, VALUES_ROWS as u64] {
            assert!(bytes(columns, count, block_rows) == whole, "{count} rows in blocks of {block_rows}");
        }
        let (rows, metadata) = read(whole);
        let groups: Vec<_> = metadata.row_groups().iter().map(|group| group.num_rows() as u64).collect();
        let expected: Vec<_> = (0..count).step_by(GROUP_ROWS).map(|first| group.min(count - first)).collect();
        assert_eq!(groups, expected);
        let indices: Vec<_> = rows.iter().map(|row| row.get_column_iter().next().unwrap().1.clone()).collect();
        assert_eq!(indices, (0..count).map(|index| Field::Long((1 << 40) + index as i64)).collect::<Vec<_>>());
    }
}

#[test]
fn the_schema_and_the_metadata_are_those_of_readers() {
    let (_, metadata) = read(bytes(columns(Want::Next, true), 5, 5));
    let mut schema = Vec::new();
    parquet::schema::printer::print_schema(&mut schema, metadata.file_metadata().schema());
    let expected = "message labels {\n  REQUIRED INT64 index;\n  OPTIONAL BYTE_ARRAY id (STRING);\n  OPTIONAL group board \
                    (LIST) {\n    REPEATED group list {\n      REQUIRED INT32 element (INTEGER(8,false));\n    }\n  }\n  \
                    OPTIONAL INT32 length;\n  OPTIONAL BOOLEAN optimal;\n  OPTIONAL INT32 lower_bound;\n  OPTIONAL \
                    INT32 next (INTEGER(8,false));\n  OPTIONAL BYTE_ARRAY problem (STRING);\n}\n";
    assert_eq!(String::from_utf8(schema).unwrap(), expected);
    let values = metadata.file_metadata().key_value_metadata().unwrap();
    let values: Vec<_> = values.iter().map(|pair| (pair.key.as_str(), pair.value.as_deref().unwrap())).collect();
    assert_eq!(values, METADATA);
}

#[test]
fn a_board_of_any_shape_keeps_its_tiles() {
    for size in Size::all() {
        let columns = ParquetColumns { size, ..columns(Want::Length, false) };
        let (board, mut bytes, mut rows) = (Board::snail(size), Vec::new(), ParquetRows::new(columns));
        rows.push(&ParquetRow { index: 0, id: None, board: Some(&board), label: None, problem: None });
        let mut file = ParquetFile::create(&mut bytes, columns, &[]).unwrap();
        file.write(&rows).unwrap();
        file.finish().unwrap();
        let fields = fields(read(bytes).0.remove(0));
        assert_eq!(fields[1], ("board".to_owned(), Field::Bytes(board.tiles().to_vec().into())));
    }
}

/// A disk with space for this number of bytes.
struct SmallDisk(usize);

impl Write for SmallDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.min(bytes.len()) {
            0 if !bytes.is_empty() => Err(ErrorKind::StorageFull.into()),
            count => {
                self.0 -= count;
                Ok(count)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_as_such_wherever_it_happens() {
    let columns = columns(Want::Moves, true);
    let rows = block(columns, 0..GROUP_ROWS as u64 + 1_000);
    let write = |disk| {
        let mut file = ParquetFile::create(SmallDisk(disk), columns, &METADATA)?;
        file.write(&rows)?;
        file.finish()
    };
    let whole = bytes(columns, rows.len() as u64, rows.len() as u64).len();
    assert!(write(whole).is_ok());
    for room in [0, 3, 100, whole / 3, whole - 5_000, whole - 1] {
        assert_eq!(write(room).map_err(|error| error.kind()), Err(ErrorKind::StorageFull), "{room} of {whole} bytes");
    }
}

#[test]
fn data_files_have_all_rows_once() {
    let names = |rows| data_files(rows).map(|file| file.name).collect::<Vec<_>>();
    assert_eq!(names(1), ["data-00000-of-00001.parquet"]);
    assert_eq!(names(DATA_FILE_ROWS), ["data-00000-of-00001.parquet"]);
    assert_eq!(names(DATA_FILE_ROWS + 1), ["data-00000-of-00002.parquet", "data-00001-of-00002.parquet"]);
    // Even with the maximum number of boards, the order of the names is the order of the files.
    assert_eq!(data_files(1_000_000_000_000).last().unwrap().name, "data-95367-of-95368.parquet");
    for rows in [0, 1, DATA_FILE_ROWS - 1, DATA_FILE_ROWS, DATA_FILE_ROWS + 1, 100_000_000] {
        let mut end = 0;
        for file in data_files(rows) {
            assert_eq!(file.rows.start, end);
            assert!(file.rows.end - file.rows.start <= DATA_FILE_ROWS);
            assert!(file.rows.start.is_multiple_of(GROUP_ROWS as u64), "row groups are whole");
            end = file.rows.end;
        }
        assert_eq!(end, rows);
    }
}
