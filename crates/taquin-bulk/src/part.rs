//! The part of a chunk: a file with the labels of the chunk. `docs/JOB_FILES.md` describes the format byte by byte.

use std::fmt;
use std::ops::Range;

use taquin_solver::{Move, MoveSet, Path, Size};

use crate::label::{Label, Want};

/// Maximum number of boards of a chunk, and of rows of a part.
pub const MAX_ROWS: u32 = 1 << 20;

/// The header of a part, which identifies the job, the chunk and the rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartHeader {
    /// SHA-256 of the bytes of `spec.json`.
    pub spec: [u8; 32],
    /// Number of the chunk, from 0.
    pub chunk: u64,
    /// Index of the part's first board in the job, counted from 0.
    pub first: u64,
    /// Number of rows, including invalid rows.
    pub rows: u32,
}

/// A row of a part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    /// A solved board.
    Solved(Label),
    /// A board without a label, because its search failed or was skipped.
    Failed,
    /// An invalid row of the input, such as an unsolvable board.
    Invalid,
}

impl Row {
    /// The label; `None` for a row without a label.
    pub fn label(&self) -> Option<&Label> {
        if let Self::Solved(label) = self { Some(label) } else { None }
    }

    /// The length of the solution in moves; `None` if the row has no label.
    pub fn length(&self) -> Option<u32> {
        self.label().map(|label| label.length)
    }
}

/// The reason why bytes are not a valid part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartError {
    /// The bytes do not begin with the magic number of the format.
    NotAPart,
    /// The length does not match the header.
    Length,
    /// A checksum is wrong. The value is the kind of the column, or `None` for the header.
    Checksum(Option<u8>),
    /// The header or the columns do not match the job, a value is out of range, or the encoding is not canonical.
    Columns,
}

impl fmt::Display for PartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPart => f.write_str("the file is not a part of a taquin job"),
            Self::Length => f.write_str("the file is too short or too long"),
            Self::Checksum(None) => f.write_str("the checksum of the header differs"),
            Self::Checksum(Some(kind)) => write!(f, "the checksum of column {kind} differs"),
            Self::Columns => f.write_str("the columns do not fit the job"),
        }
    }
}

impl std::error::Error for PartError {}

const MAGIC: &[u8; 8] = b"TAQPART1";
const HEADER_BYTES: usize = 64;
const COLUMN_BYTES: usize = 16;
const CRC_BYTES: usize = 4;
/// Bound on the bytes of a row: the sum of the largest widths of all columns except `MOVES`. No row has both `NEXT` and
/// `EXPANDED`.
const ROW_BYTES: u64 = 14;
/// Value in the column `NEXT` if the first moves are unknown.
const NO_NEXT: u8 = u8::MAX;
/// Number of moves that one byte holds.
const MOVES_PER_BYTE: usize = 4;

/// Kinds of columns, in the order of the file.
mod kind {
    pub(crate) const STATUS: u8 = 1;
    pub(crate) const LENGTH: u8 = 2;
    pub(crate) const LOWER_BOUND: u8 = 3;
    pub(crate) const NEXT: u8 = 4;
    pub(crate) const EXPANDED: u8 = 5;
    pub(crate) const MOVES: u8 = 6;
    pub(crate) const ALL: [u8; 6] = [STATUS, LENGTH, LOWER_BOUND, NEXT, EXPANDED, MOVES];
}

/// The values in the column `STATUS`.
mod status {
    pub(crate) const SOLVED: u8 = 0;
    pub(crate) const FAILED: u8 = 1;
    pub(crate) const INVALID: u8 = 2;
}

/// The rows of a part, stored by column.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    want: Want,
    status: Vec<u8>,
    length: Vec<u16>,
    lower_bound: Vec<u16>,
    next: Vec<u8>,
    expanded: Vec<u64>,
    /// Moves of all rows. A move takes two bits. The first move of a byte is in the lowest bits. The moves of each row
    /// begin with a new byte.
    moves: Vec<u8>,
}

/// A column as a part stores it. docs/JOB_FILES.md describes the kinds of columns.
struct Column {
    kind: u8,
    /// Number of bytes per row; 0 if the rows have different numbers of bytes.
    width: u8,
    bytes: Vec<u8>,
}

impl Part {
    /// Creates a part without rows. `want` selects the columns.
    pub fn new(want: Want) -> Self {
        Self {
            want,
            status: Vec::new(),
            length: Vec::new(),
            lower_bound: Vec::new(),
            next: Vec::new(),
            expanded: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Approximate memory of the rows, in bytes.
    pub fn bytes(&self) -> usize {
        let Self { status, length, lower_bound, next, expanded, moves, .. } = self;
        status.len() + 2 * (length.len() + lower_bound.len()) + next.len() + 8 * expanded.len() + moves.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.status.len()
    }

    /// Returns true if the part has no rows.
    pub fn is_empty(&self) -> bool {
        self.status.is_empty()
    }

    /// Appends a row.
    ///
    /// # Panics
    /// If a solution has 65,536 moves or more, which no solver returns.
    pub fn push(&mut self, row: &Row) {
        let none = Label::default();
        let (status, label) = match row {
            Row::Solved(label) => (status::SOLVED, label),
            Row::Failed => (status::FAILED, &none),
            Row::Invalid => (status::INVALID, &none),
        };
        let short = |length: u32| u16::try_from(length).expect("a solution has fewer than 65,536 moves");
        self.status.push(status);
        self.length.push(short(label.length));
        self.lower_bound.push(short(label.lower_bound));
        match self.want {
            Want::Length | Want::Bounds => {}
            Want::Next => self.next.push(label.next.map_or(NO_NEXT, MoveSet::bits)),
            Want::Expanded => self.expanded.push(label.expanded.unwrap_or(0)),
            Want::Moves => {
                let moves = label.path.as_ref().map_or(&[][..], Path::moves);
                debug_assert_eq!(moves.len(), label.length as usize, "the length is the number of moves");
                let packed = |moves: &[Move]| moves.iter().rev().fold(0, |byte, mv| byte << 2 | *mv as u8);
                self.moves.extend(moves.chunks(MOVES_PER_BYTE).map(packed));
            }
        }
    }

    /// The rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        let mut moves = 0;
        (0..self.len()).map(move |at| self.row(at, &mut moves))
    }

    /// Returns an upper bound on the size of a part with `rows` rows, in bytes. The bound allows for longer solutions
    /// than the solver returns.
    pub fn most_bytes(want: Want, size: Size, rows: u64) -> u64 {
        let solution = match want {
            Want::Moves => 4 * size.cells() * (size.rows() + size.cols()),
            Want::Length | Want::Bounds | Want::Next | Want::Expanded => 0,
        };
        let head = HEADER_BYTES + kind::ALL.len() * COLUMN_BYTES + CRC_BYTES;
        head as u64 + rows * (ROW_BYTES + solution as u64)
    }

    /// Positions of the invalid rows in the part, from 0, in ascending order.
    pub fn invalid_rows(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|at| self.status[*at] == status::INVALID)
    }

    /// Converts the part into its rows, in order.
    pub fn into_rows(self) -> impl Iterator<Item = Row> {
        let mut moves = 0;
        (0..self.len()).map(move |at| self.row(at, &mut moves))
    }

    /// Returns the row at position `at`. `moves` must be the index of the byte at which the moves of the row begin.
    /// This function advances `moves` to the moves of the next row.
    fn row(&self, at: usize, moves: &mut usize) -> Row {
        let length = self.length[at];
        let path = (self.want == Want::Moves).then(|| {
            let own = &self.moves[*moves..][..usize::from(length).div_ceil(MOVES_PER_BYTE)];
            *moves += own.len();
            let at = |nth: usize| own[nth / MOVES_PER_BYTE] >> (2 * (nth % MOVES_PER_BYTE)) & 3;
            (0..usize::from(length)).map(|nth| Move::ALL[usize::from(at(nth))]).collect()
        });
        match self.status[at] {
            status::SOLVED => {}
            status::INVALID => return Row::Invalid,
            _ => return Row::Failed,
        }
        let next = self.next.get(at).filter(|bits| **bits != NO_NEXT);
        Row::Solved(Label {
            lower_bound: self.lower_bound[at].into(),
            length: length.into(),
            next: next.map(|bits| Move::ALL.into_iter().filter(|mv| bits >> *mv as u8 & 1 == 1).collect()),
            expanded: self.expanded.get(at).copied(),
            generated: None,
            path,
        })
    }

    /// Encodes the part. Equal headers and rows have equal bytes.
    ///
    /// # Panics
    /// If the header has another number of rows than the part.
    pub fn encode(&self, header: &PartHeader) -> Vec<u8> {
        assert_eq!(header.rows as usize, self.len(), "the header counts the rows");
        let columns = self.columns();
        let mut bytes = Vec::with_capacity(
            HEADER_BYTES + CRC_BYTES + columns.iter().map(|column| COLUMN_BYTES + column.bytes.len()).sum::<usize>(),
        );
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&header.spec);
        bytes.extend(header.chunk.to_le_bytes());
        bytes.extend(header.first.to_le_bytes());
        bytes.extend(header.rows.to_le_bytes());
        bytes.extend([columns.len() as u8, 0, 0, 0]);
        for Column { kind, width, bytes: values } in &columns {
            bytes.extend([*kind, *width, 0, 0]);
            bytes.extend(crc32fast::hash(values).to_le_bytes());
            bytes.extend((values.len() as u64).to_le_bytes());
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        columns.iter().for_each(|column| bytes.extend_from_slice(&column.bytes));
        bytes
    }

    /// Encodes the columns. The width of `LENGTH` and of `LOWER_BOUND` is one byte if all numbers in the column fit
    /// into one byte, otherwise two bytes. The result has no column `STATUS` if all rows are solved, and no column
    /// `LOWER_BOUND` if every bound equals the length.
    fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        if self.status.iter().any(|status| *status != status::SOLVED) {
            columns.push(Column { kind: kind::STATUS, width: 1, bytes: self.status.clone() });
        }
        columns.push(narrow(kind::LENGTH, &self.length));
        if self.lower_bound != self.length {
            columns.push(narrow(kind::LOWER_BOUND, &self.lower_bound));
        }
        match self.want {
            Want::Length | Want::Bounds => {}
            Want::Next => columns.push(Column { kind: kind::NEXT, width: 1, bytes: self.next.clone() }),
            Want::Expanded => {
                let bytes = self.expanded.iter().flat_map(|count| count.to_le_bytes()).collect();
                columns.push(Column { kind: kind::EXPANDED, width: 8, bytes });
            }
            Want::Moves => columns.push(Column { kind: kind::MOVES, width: 0, bytes: self.moves.clone() }),
        }
        columns
    }

    /// Decodes a part of a job with the kind of labels `want`. Rejects bytes that [`encode`](Self::encode) would not
    /// write.
    ///
    /// # Errors
    /// See [`PartError`].
    pub fn decode(want: Want, bytes: &[u8]) -> Result<(PartHeader, Self), PartError> {
        let (header, columns) = read_header(bytes)?;
        let mut part = Self::new(want);
        let mut rest = &bytes[HEADER_BYTES + columns.len() * COLUMN_BYTES + CRC_BYTES..];
        for column in &columns {
            let (values, after) = column.read_from(rest)?;
            part.read_column(column.kind, column.width, values)?;
            rest = after;
        }
        if !rest.is_empty() {
            return Err(PartError::Length);
        }
        let rows = header.rows as usize;
        if part.length.len() != rows {
            return Err(PartError::Columns);
        }
        part.status.resize(rows.max(part.status.len()), 0);
        if part.lower_bound.is_empty() {
            part.lower_bound.clone_from(&part.length);
        }
        // This check rejects columns of another job, columns with another number of rows, and encodings that are not
        // canonical.
        if part.is_consistent(rows) && part.encode(&header) == bytes {
            Ok((header, part))
        } else {
            Err(PartError::Columns)
        }
    }

    /// Checks the checksums and the length of a part, and returns the header. Does not decode the rows.
    ///
    /// # Errors
    /// See [`PartError`].
    pub fn check(bytes: &[u8]) -> Result<PartHeader, PartError> {
        let (header, columns) = read_header(bytes)?;
        let mut rest = &bytes[HEADER_BYTES + columns.len() * COLUMN_BYTES + CRC_BYTES..];
        for column in columns {
            rest = column.read_from(rest)?.1;
        }
        if rest.is_empty() { Ok(header) } else { Err(PartError::Length) }
    }

    fn read_column(&mut self, kind: u8, width: u8, values: &[u8]) -> Result<(), PartError> {
        match (kind, width) {
            (kind::STATUS, 1) => self.status = values.to_vec(),
            (kind::LENGTH, _) => self.length = widened(width, values)?,
            (kind::LOWER_BOUND, _) => self.lower_bound = widened(width, values)?,
            (kind::NEXT, 1) => self.next = values.to_vec(),
            (kind::EXPANDED, 8) => {
                let (words, []) = values.as_chunks() else { return Err(PartError::Columns) };
                self.expanded = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
            }
            (kind::MOVES, 0) => self.moves = values.to_vec(),
            _ => return Err(PartError::Columns),
        }
        Ok(())
    }

    /// Returns true if the part is consistent: each column has a value for each row, every value is in its range, and a
    /// row without a label has only default values.
    fn is_consistent(&self, rows: usize) -> bool {
        let of = |want, column: usize| column == if self.want == want { rows } else { 0 };
        let has_rows = self.status.len() == rows
            && self.lower_bound.len() == rows
            && of(Want::Next, self.next.len())
            && of(Want::Expanded, self.expanded.len());
        let is_row = |at: usize| {
            let (length, lower_bound) = (self.length[at], self.lower_bound[at]);
            let next = self.next.get(at).copied();
            let is_next = next.is_none_or(|next| next < 1 << Move::ALL.len() || next == NO_NEXT);
            let is_empty = length == 0 && next.is_none_or(|next| next == NO_NEXT);
            let is_sound = match self.status[at] {
                status::SOLVED => true,
                status::FAILED | status::INVALID => is_empty && self.expanded.get(at).is_none_or(|count| *count == 0),
                _ => false,
            };
            lower_bound <= length && is_next && is_sound
        };
        has_rows && (0..rows).all(is_row) && self.has_all_moves()
    }

    /// Returns true if the number of moves matches the lengths, and all unused bits are 0. For kinds other than
    /// [`Want::Moves`], returns true if the column is empty.
    fn has_all_moves(&self) -> bool {
        if self.want != Want::Moves {
            return self.moves.is_empty();
        }
        let mut at = 0;
        let is_padded = |length: &u16| {
            let end: usize = at + usize::from(*length).div_ceil(MOVES_PER_BYTE);
            let last = usize::from(*length) % MOVES_PER_BYTE;
            let is_padded = last == 0 || self.moves.get(end - 1).is_some_and(|byte| byte >> (2 * last) == 0);
            at = end;
            is_padded
        };
        self.length.iter().all(is_padded) && at == self.moves.len()
    }
}

impl PartHeader {
    /// Decodes and checks the header of a part. Does not check the columns.
    ///
    /// # Errors
    /// See [`PartError`].
    pub fn decode(bytes: &[u8]) -> Result<Self, PartError> {
        read_header(bytes).map(|(header, _)| header)
    }

    /// Indices of the part's boards in the job, from 0.
    pub fn boards(&self) -> Range<u64> {
        self.first..self.first.saturating_add(self.rows.into())
    }
}

/// Description of a column in the header.
struct ColumnEntry {
    kind: u8,
    width: u8,
    crc: u32,
    bytes: usize,
}

impl ColumnEntry {
    /// Checks the checksum of the column at the start of `bytes`. Returns the bytes of the column and the bytes after
    /// the column.
    fn read_from<'b>(&self, bytes: &'b [u8]) -> Result<(&'b [u8], &'b [u8]), PartError> {
        let (values, rest) = bytes.split_at_checked(self.bytes).ok_or(PartError::Length)?;
        if crc32fast::hash(values) == self.crc { Ok((values, rest)) } else { Err(PartError::Checksum(Some(self.kind))) }
    }
}

fn read_header(bytes: &[u8]) -> Result<(PartHeader, Vec<ColumnEntry>), PartError> {
    if !bytes.starts_with(MAGIC) {
        return Err(PartError::NotAPart);
    }
    let fixed = bytes.get(..HEADER_BYTES).ok_or(PartError::Length)?;
    let count = usize::from(fixed[60]);
    let end = HEADER_BYTES + count * COLUMN_BYTES;
    let entries = bytes.get(HEADER_BYTES..end).ok_or(PartError::Length)?;
    let crc = bytes.get(end..end + CRC_BYTES).ok_or(PartError::Length)?;
    if crc32fast::hash(&bytes[..end]).to_le_bytes() != crc {
        return Err(PartError::Checksum(None));
    }
    let header = PartHeader {
        spec: array(&fixed[8..40]),
        chunk: u64::from_le_bytes(array(&fixed[40..48])),
        first: u64::from_le_bytes(array(&fixed[48..56])),
        rows: u32::from_le_bytes(array(&fixed[56..60])),
    };
    let columns = entries.chunks_exact(COLUMN_BYTES).map(|entry| ColumnEntry {
        kind: entry[0],
        width: entry[1],
        crc: u32::from_le_bytes(array(&entry[4..8])),
        bytes: usize::try_from(u64::from_le_bytes(array(&entry[8..16]))).unwrap_or(usize::MAX),
    });
    let columns: Vec<ColumnEntry> = columns.collect();
    let kinds: Vec<u8> = columns.iter().map(|column| column.kind).collect();
    let is_known = kinds.iter().all(|kind| kind::ALL.contains(kind)) && kinds.is_sorted_by(|a, b| a < b);
    if is_known && (1..=MAX_ROWS).contains(&header.rows) { Ok((header, columns)) } else { Err(PartError::Columns) }
}

fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("the slice has this length")
}

/// Encodes numbers as one byte each if all numbers fit into one byte, otherwise as two bytes each.
fn narrow(kind: u8, numbers: &[u16]) -> Column {
    match numbers.iter().map(|number| u8::try_from(*number)).collect::<Result<Vec<u8>, _>>() {
        Ok(bytes) => Column { kind, width: 1, bytes },
        Err(_) => Column { kind, width: 2, bytes: numbers.iter().flat_map(|number| number.to_le_bytes()).collect() },
    }
}

fn widened(width: u8, values: &[u8]) -> Result<Vec<u16>, PartError> {
    match (width, values.as_chunks()) {
        (1, _) => Ok(values.iter().copied().map(u16::from).collect()),
        (2, (pairs, [])) => Ok(pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect()),
        _ => Err(PartError::Columns),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use taquin_solver::Named;

    fn header(rows: usize) -> PartHeader {
        PartHeader { spec: [7; 32], chunk: 3, first: 3 << 14, rows: rows as u32 }
    }

    fn part(want: Want, rows: &[Row]) -> Part {
        let mut part = Part::new(want);
        rows.iter().for_each(|row| part.push(row));
        part
    }

    fn label(length: u32) -> Label {
        Label { lower_bound: length, length, ..Label::default() }
    }

    fn row(want: Want) -> impl Strategy<Value = Row> {
        let moves = prop::collection::vec((0..4_usize).prop_map(|at| Move::ALL[at]), 0..300);
        let solved = (0..9_u32, moves, prop::option::of(0..16_u8), any::<u64>());
        let solved = solved.prop_map(move |(below, moves, next, expanded)| {
            let length = moves.len() as u32;
            let next = next.map(|bits| Move::ALL.into_iter().filter(|mv| bits >> *mv as u8 & 1 == 1).collect());
            Row::Solved(Label {
                lower_bound: length.saturating_sub(below / 3),
                length,
                next: next.filter(|_| want == Want::Next),
                expanded: (want == Want::Expanded).then_some(expanded),
                generated: None,
                path: (want == Want::Moves).then(|| moves.into_iter().collect()),
            })
        });
        prop_oneof![8 => solved, 1 => Just(Row::Failed), 1 => Just(Row::Invalid)]
    }

    fn want() -> impl Strategy<Value = Want> {
        prop::sample::select(Want::ALL)
    }

    proptest! {
        #[test]
        fn rows_are_read_as_written((want, rows) in want().prop_flat_map(|want| {
            (Just(want), prop::collection::vec(row(want), 1..40))
        })) {
            let part = part(want, &rows);
            let header = header(rows.len());
            let bytes = part.encode(&header);
            let (read, again) = Part::decode(want, &bytes).unwrap();
            prop_assert_eq!(read, header);
            prop_assert_eq!(again.rows().collect::<Vec<_>>(), rows);
            prop_assert_eq!(Part::check(&bytes), Ok(header));
        }

        #[test]
        fn a_changed_byte_or_a_missing_end_is_noticed(
            (want, rows) in want().prop_flat_map(|want| (Just(want), prop::collection::vec(row(want), 1..9))),
            at in any::<prop::sample::Index>(),
            change in 1..=u8::MAX,
        ) {
            let mut bytes = part(want, &rows).encode(&header(rows.len()));
            let at = at.index(bytes.len());
            prop_assert!(Part::decode(want, &bytes[..at]).is_err() && Part::check(&bytes[..at]).is_err());
            bytes.push(0);
            prop_assert_eq!(Part::decode(want, &bytes), Err(PartError::Length));
            prop_assert_eq!(Part::check(&bytes), Err(PartError::Length));
            bytes.pop();
            bytes[at] ^= change;
            prop_assert!(Part::decode(want, &bytes).is_err() && Part::check(&bytes).is_err());
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_document() {
        let rows = [Row::Solved(label(31)), Row::Solved(label(4))];
        let bytes = part(Want::Length, &rows).encode(&header(2));
        assert_eq!(bytes.len(), 64 + 16 + 4 + 2, "a row takes one byte");
        assert_eq!(&bytes[..8], b"TAQPART1");
        assert_eq!(bytes[8..40], [7; 32]);
        assert_eq!(bytes[40..48], 3_u64.to_le_bytes());
        assert_eq!(bytes[48..56], (3_u64 << 14).to_le_bytes());
        assert_eq!(bytes[56..64], [2, 0, 0, 0, 1, 0, 0, 0]);
        assert_eq!(bytes[64..68], [2, 1, 0, 0]);
        assert_eq!(bytes[68..72], crc32fast::hash(&[31, 4]).to_le_bytes());
        assert_eq!(bytes[72..80], 2_u64.to_le_bytes());
        assert_eq!(bytes[80..84], crc32fast::hash(&bytes[..80]).to_le_bytes());
        assert_eq!(bytes[84..], [31, 4]);
    }

    #[test]
    fn columns_are_as_narrow_as_their_values() {
        let long = Row::Solved(Label { lower_bound: 200, ..label(256) });
        let bytes = part(Want::Length, &[Row::Solved(label(1)), long]).encode(&header(2));
        assert_eq!(bytes.len(), 64 + 2 * 16 + 4 + 4 + 2);
        assert_eq!(bytes[64 + 32 + 4..], [1, 0, 0, 1, 1, 200]);
        let moves = Label {
            path: Some([Move::Left, Move::Down, Move::Up, Move::Right, Move::Right].into_iter().collect()),
            ..label(5)
        };
        let bytes = part(Want::Moves, &[Row::Solved(moves)]).encode(&header(1));
        assert_eq!(bytes[64 + 32 + 4..], [5, 0b11_00_10_01, 0b11]);
    }

    /// Builds a part with valid checksums from arbitrary columns.
    fn forged(rows: u32, columns: &[(u8, u8, &[u8])]) -> Vec<u8> {
        let mut bytes = [&MAGIC[..], &[7; 32], &[0; 16], &rows.to_le_bytes(), &[columns.len() as u8, 0, 0, 0]].concat();
        for (kind, width, values) in columns {
            bytes.extend([*kind, *width, 0, 0]);
            bytes.extend(crc32fast::hash(values).to_le_bytes());
            bytes.extend((values.len() as u64).to_le_bytes());
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        columns.iter().for_each(|(_, _, values)| bytes.extend_from_slice(values));
        bytes
    }

    #[test]
    fn wrong_columns_with_sound_checksums_are_rejected() {
        let decode = |want, rows, columns: &[(u8, u8, &[u8])]| Part::decode(want, &forged(rows, columns)).map(|_| ());
        assert_eq!(decode(Want::Length, 2, &[(2, 1, &[1, 2])]), Ok(()));
        for (want, rows, columns) in [
            (Want::Length, 0, &[(2, 1, &[][..])][..]),
            (Want::Length, MAX_ROWS + 1, &[(2, 1, &[0; MAX_ROWS as usize + 1])]),
            (Want::Length, 3, &[(2, 1, &[1, 2])]),
            (Want::Length, 2, &[(2, 2, &[1, 0, 2, 0])]),
            (Want::Length, 2, &[(2, 2, &[1, 0, 2])]),
            (Want::Length, 2, &[(2, 3, &[1, 2])]),
            (Want::Length, 2, &[(1, 1, &[0, 0]), (2, 1, &[1, 2])]),
            (Want::Length, 2, &[(1, 1, &[0, 1]), (2, 1, &[1, 2])]),
            (Want::Length, 2, &[(1, 1, &[0, 3]), (2, 1, &[1, 0])]),
            (Want::Length, 2, &[(1, 1, &[0, 2]), (2, 1, &[1, 2])]),
            (Want::Length, 2, &[(2, 1, &[1, 2]), (3, 1, &[1, 2])]),
            (Want::Length, 2, &[(2, 1, &[1, 2]), (3, 1, &[1, 3])]),
            (Want::Length, 2, &[(2, 1, &[1, 2]), (2, 1, &[1, 2])]),
            (Want::Length, 2, &[(2, 1, &[1, 2]), (4, 1, &[1, 2])]),
            (Want::Length, 2, &[(2, 1, &[1, 2]), (7, 1, &[1, 2])]),
            (Want::Length, 2, &[(4, 1, &[1, 2])]),
            (Want::Next, 2, &[(2, 1, &[1, 2])]),
            (Want::Next, 2, &[(2, 1, &[1, 2]), (4, 1, &[1, 16])]),
            (Want::Expanded, 2, &[(2, 1, &[1, 2]), (5, 8, &[0; 15])]),
            (Want::Moves, 2, &[(2, 1, &[1, 2]), (6, 0, &[1])]),
            (Want::Moves, 2, &[(2, 1, &[1, 2]), (6, 0, &[1, 1, 1])]),
            (Want::Moves, 2, &[(2, 1, &[1, 2]), (6, 0, &[4, 1])]),
        ] {
            assert_eq!(decode(want, rows, columns), Err(PartError::Columns), "{want:?} {rows} {columns:?}");
        }
        assert_eq!(Part::decode(Want::Length, b"TAQPART2"), Err(PartError::NotAPart));
        assert_eq!(Part::decode(Want::Length, b""), Err(PartError::NotAPart));
    }
}
