//! Board and goal fields of requests.

use std::borrow::Cow;

use taquin_solver::{
    Board, BoardFault, Encoding, Named, PermutationFault, RawBoard, ReadBoard, Sides, Size, named, read_board,
};

use super::FieldReader;
use super::json::Json;
use super::suggestion::did_you_mean;
use super::value::{Value, quoted};
use crate::row_error::{ErrorKind, FieldError};

/// Maximum length of a board as text, in bytes. A board has at most 100 cells; the rest is for separators.
const MAX_TEXT: usize = 8 << 10;

/// The fields of every route that reads a board.
pub const BOARD_FIELDS: [&str; 5] = ["board", "goal", "rows", "cols", "encoding"];

/// A goal with a name. `service::Tables::build_for_start` repeats this list, and builds the distance tables of each
/// goal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NamedGoal {
    /// `1 2 3/4 5 6/7 8 0` on a 3×3 board.
    BlankLast,
    /// `0 1 2/3 4 5/6 7 8` on a 3×3 board.
    BlankFirst,
    /// `1 2 3/8 0 4/7 6 5` on a 3×3 board.
    Snail,
}

impl NamedGoal {
    /// Returns the goal of this name for a board size.
    pub fn on(self, size: Size) -> Board {
        match self {
            Self::BlankLast => Board::blank_last(size),
            Self::BlankFirst => Board::blank_first(size),
            Self::Snail => Board::snail(size),
        }
    }
}

named!(NamedGoal { BlankLast => "blank_last", BlankFirst => "blank_first", Snail => "snail" });

/// A board before validation, with its form, which determines the pointers of errors.
struct WrittenBoard {
    raw: RawBoard,
    form: Form,
}

impl WrittenBoard {
    /// Marks the `null` entries of an array in a body as unreadable. In a list of tiles, `null` is the blank. A list of
    /// positions has no such entry.
    fn forbid_null(&mut self, value: &Value) {
        if let Value::Body(Json::Array(cells)) = value {
            for (entry, cell) in self.raw.entries.iter_mut().zip(cells) {
                *entry = entry.filter(|_| *cell != Json::Null);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Rows,
    Flat,
    Text,
}

/// Reads the board and the goal, and returns both in this order. Returns `None` if the board or the goal has an error,
/// or if the sizes of board and goal differ.
pub fn board_and_goal(fields: &mut FieldReader) -> Option<(Board, Board)> {
    let (board, goal) = written_board_and_goal(fields)?;
    if board.size() != goal.size() {
        let detail =
            format!("the goal is {} and the board is {}; they must have the same size", goal.size(), board.size());
        fields.report(ErrorKind::GoalMismatch, FieldError::new("/goal", "goal-mismatch", detail));
        return None;
    }
    Some((board, goal))
}

fn written_board_and_goal(fields: &mut FieldReader) -> Option<(Board, Board)> {
    let (sides, encoding) = (sides(fields), fields.choice("encoding", None).unwrap_or_default());
    let board = match fields.take("board") {
        Some(value) => board(fields, "board", &value, sides, encoding),
        None => {
            fields.report_missing(
                "board",
                "`board` is required, for example \"8 6 7/2 5 4/3 0 1\" or [[8,6,7],[2,5,4],[3,0,1]]",
            );
            None
        }
    };
    let goal = goal(fields, board.map(|board| board.size()), sides, encoding);
    board.zip(goal)
}

/// Reads `rows` and `cols`.
pub fn sides(fields: &mut FieldReader) -> Sides {
    let mut side = |name| fields.integer(name, Size::MIN_SIDE as i64..=Size::MAX_SIDE as i64).map(|side| side as usize);
    Sides { rows: side("rows"), cols: side("cols") }
}

/// Reads `goal`, `rows` and `cols` of a request without a board. The size is 3×3 by default, and square if only one
/// side is given. A goal that is written as a board has its own size. Returns `None` if the goal cannot be read.
pub fn goal_alone(fields: &mut FieldReader) -> Option<Board> {
    let sides = sides(fields);
    goal_of_sides(fields, sides, None)
}

/// Reads the goal, as [`goal_alone`] does, and the board `from`, where a walk starts. A goal without a size of its own
/// has the size of `from`. Returns the goal and `from`. The goal is `None` if the goal cannot be read. `from` is `None`
/// if the field is absent or has an error.
pub fn goal_and_from(fields: &mut FieldReader) -> (Option<Board>, Option<Board>) {
    let sides = sides(fields);
    let from = fields.take("from").and_then(|value| board(fields, "from", &value, sides, Encoding::Tiles));
    let goal = goal_of_sides(fields, sides, from.map(|from| from.size()));
    if let (Some(goal), Some(from)) = (goal, from)
        && goal.size() != from.size()
    {
        let detail = format!("the goal is {} and `from` is {}; they must have the same size", goal.size(), from.size());
        fields.report(ErrorKind::GoalMismatch, FieldError::new("/goal", "goal-mismatch", detail));
    }
    (goal, from)
}

/// Reads a goal. A named goal has the size `of_board`. If `of_board` is `None`, the goal has the size `sides`, with the
/// defaults of [`goal_alone`]. Returns `None` if the goal cannot be read.
fn goal_of_sides(fields: &mut FieldReader, sides: Sides, of_board: Option<Size>) -> Option<Board> {
    let has_own_size = fields.has("goal") && !fields.is_choice::<NamedGoal>("goal");
    let side = sides.rows.or(sides.cols).unwrap_or(3);
    let of_sides = || Size::try_from((sides.rows.unwrap_or(side), sides.cols.unwrap_or(side))).ok();
    let size = of_board.or_else(of_sides);
    let goal = goal(fields, size.filter(|_| !has_own_size), sides, Encoding::Tiles)?;
    if !sides.agree_with(goal.size()) {
        let detail = format!("the goal is {}, which contradicts `rows` and `cols`", goal.size());
        fields.report(ErrorKind::GoalMismatch, FieldError::new("/goal", "goal-mismatch", detail));
    }
    Some(goal)
}

/// Reads `goal`, which is a name or a board. Without the field, the goal is the named goal `blank_last`. Returns `None`
/// if the goal has an error, or if the goal is a name and `size` is `None`.
///
/// `size` is the size of the start board, if known. A named goal has this size. A goal as a flat list has the encoding
/// `encoding` and the size `size`, or the size `sides` if `size` is `None`.
pub fn goal(fields: &mut FieldReader, size: Option<Size>, sides: Sides, encoding: Encoding) -> Option<Board> {
    let value = match fields.take("goal") {
        Some(value) => value,
        None => return size.map(|size| NamedGoal::BlankLast.on(size)),
    };
    if let Value::Query(word) | Value::Body(Json::String(word)) = &value {
        if let Some(goal) = NamedGoal::from_name(word) {
            return size.map(|size| goal.on(size));
        }
        let is_choice =
            word.chars().filter(char::is_ascii_alphabetic).count() > 1 && !word.contains(char::is_whitespace);
        if is_choice && !is_board_text(word, Sides::default()) {
            let names: Vec<&str> = NamedGoal::ALL.iter().map(|goal| goal.name()).collect();
            let hint = did_you_mean::<NamedGoal>(word);
            let hint = if hint.is_empty() { "." } else { &hint };
            let detail = format!(
                "there is no goal with this name{hint} The names are {}; a board is accepted too",
                names.join(", ")
            );
            fields.report(value.kind(), FieldError::new("/goal", "unknown-value", detail));
            return None;
        }
    }
    // A flat goal has the size of the start board, if known.
    let sides = size.map_or(sides, |size| Sides { rows: Some(size.rows()), cols: Some(size.cols()) });
    board(fields, "goal", &value, sides, encoding)
}

/// Reads a board from the value of the field `name`. Returns `None` if the board has an error.
pub(super) fn board(
    fields: &mut FieldReader,
    name: &str,
    value: &Value,
    sides: Sides,
    encoding: Encoding,
) -> Option<Board> {
    let mut written = written(fields, name, value, sides)?;
    if encoding == Encoding::Positions && written.form == Form::Flat {
        written.forbid_null(value);
    }
    // `encoding` applies to the field `board`, and to a goal as a flat list. A goal as rows or text always lists tiles.
    let encoding = if written.form == Form::Flat || name == "board" { encoding } else { Encoding::Tiles };
    // A goal as rows has its own size; `board_and_goal` compares this size with the size of the board.
    let has_own_size = name == "goal" && written.raw.row_lengths.is_some();
    let sides = if has_own_size { Sides::default() } else { sides };
    let faults = match written.raw.board(sides, encoding) {
        Ok(board) => return Some(board),
        Err(faults) => faults,
    };
    let text = text_of(value).filter(|_| written.form == Form::Text);
    if let Some(text) = text.as_deref().filter(|_| encoding == Encoding::Tiles) {
        match read_board(text, sides) {
            Ok(ReadBoard { board, read_as }) => {
                fields.add_reading(name, read_as);
                return Some(board);
            }
            Err(boards) if !boards.is_empty() => {
                let error = FieldError::new(format!("/{name}"), "ambiguous-board", ambiguity(&boards));
                fields.report(ErrorKind::InvalidBoard, error);
                return None;
            }
            Err(_) => {}
        }
    }
    let json = value.to_json().filter(|_| text.is_none());
    for fault in if text.is_some() { without_equal(faults) } else { faults } {
        report_board_fault(fields, name, (value.kind(), json.as_ref(), text.as_deref()), &written, &fault);
    }
    None
}

/// Returns the faults of a text that are reported. If a part of the text is not a tile, only the first such fault is
/// reported. Otherwise, if a row has a wrong length, only the first such fault is reported. Otherwise all faults are
/// reported.
fn without_equal(faults: Vec<BoardFault>) -> Vec<BoardFault> {
    let first = |is_fault: fn(&BoardFault) -> bool| faults.iter().copied().find(is_fault);
    match first(is_unreadable).or(first(|fault| fault.row().is_some())) {
        Some(fault) => vec![fault],
        None => faults,
    }
}

fn is_unreadable(fault: &BoardFault) -> bool {
    matches!(fault, BoardFault::Entry(PermutationFault::Unreadable { .. }, _))
}

/// Returns the error message for a text that can be read as several boards. The message lists the first two boards, and
/// how each of them is read.
fn ambiguity(boards: &[ReadBoard]) -> String {
    let reading =
        |ReadBoard { board, read_as }: &ReadBoard| format!("`{board}` ({})", read_as.as_deref().unwrap_or("as text"));
    let readings: Vec<String> = boards.iter().take(2).map(reading).collect();
    format!("the text can mean {}: write one of these boards", readings.join(" or "))
}

/// Returns true if a text is a board in any notation.
pub fn is_board_text(text: &str, sides: Sides) -> bool {
    text.len() <= MAX_TEXT && read_board(text, sides).is_ok()
}

/// The text of a board. The strings of an array are lines. Returns `None` if the value is neither a string nor an array
/// of strings.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    let lines = |cells: &[Json]| -> Option<Cow<'static, str>> {
        let line = |cell: &Json| if let Json::String(line) = cell { Some(line.clone()) } else { None };
        Some(cells.iter().map(line).collect::<Option<Vec<_>>>()?.join("\n").into())
    };
    match value {
        Value::Body(Json::Array(cells)) => lines(cells),
        value => value.as_str().map(Cow::Borrowed),
    }
}

/// Recognizes the form of a board, and reads the entries. If the value has none of the forms, or a text is too long,
/// reports an error and returns `None`.
fn written(fields: &mut FieldReader, name: &str, value: &Value, sides: Sides) -> Option<WrittenBoard> {
    let parsed;
    let json = match value {
        Value::Body(json) => json,
        Value::Query(text) if text.trim_start().starts_with('[') => match Json::parse(text) {
            Ok(json) => {
                parsed = json;
                &parsed
            }
            Err(_) if is_board_text(text, sides) => return written_as_text(fields, name, text),
            Err(_) => {
                let detail =
                    format!("`{name}` begins with `[` but is no array: percent-encode it, or write it as text");
                fields.report(value.kind(), FieldError::new(format!("/{name}"), "wrong-type", detail));
                return None;
            }
        },
        Value::Query(text) => return written_as_text(fields, name, text),
    };
    match json {
        Json::String(text) if text.trim_start().starts_with(['{', '[']) && !is_board_text(text, sides) => {
            let detail = "the text begins like JSON but is not a board: write rows of equal lengths, such as \
                          [[1,2],[3,0]] or 1 2/3 0";
            fields.report(ErrorKind::InvalidBoard, FieldError::new(format!("/{name}"), "not-a-tile", detail));
            None
        }
        Json::String(text) => written_as_text(fields, name, text),
        Json::Array(rows) if rows.iter().any(|row| matches!(row, Json::Array(_))) => {
            written_in_rows(fields, name, value, rows)
        }
        Json::Array(cells) if are_rows_of_text(cells) => written_as_text(fields, name, &text_of(value)?),
        Json::Array(cells) => {
            let raw = RawBoard { entries: cells.iter().map(entry).collect(), row_lengths: None };
            Some(WrittenBoard { raw, form: Form::Flat })
        }
        other => {
            let detail = format!("`{name}` must be an array of rows, a flat array or a string, not {}", other.kind());
            fields.report(value.kind(), FieldError::new(format!("/{name}"), "wrong-type", detail));
            None
        }
    }
}

fn written_as_text(fields: &mut FieldReader, name: &str, text: &str) -> Option<WrittenBoard> {
    let length = text.trim().len();
    if length > MAX_TEXT {
        let detail = format!(
            "the text of `{name}` has {length} bytes; the maximum is {MAX_TEXT}, and a board has at most {} cells",
            Size::MAX_CELLS
        );
        fields.report(ErrorKind::InvalidBoard, FieldError::new(format!("/{name}"), "side-out-of-range", detail));
        return None;
    }
    Some(WrittenBoard { raw: RawBoard::parse(text), form: Form::Text })
}

/// True for strings that are rows, not tiles.
fn are_rows_of_text(cells: &[Json]) -> bool {
    cells.iter().all(|cell| matches!(cell, Json::String(_)))
        && cells.iter().any(|cell| matches!(cell, Json::String(text) if text.len() > 2))
}

fn written_in_rows(fields: &mut FieldReader, name: &str, value: &Value, rows: &[Json]) -> Option<WrittenBoard> {
    let width = if let Some(Json::Array(cells)) = rows.first() { cells.len() } else { 0 };
    let cells = (rows.len() * width).min(Size::MAX_CELLS);
    let (mut entries, mut row_lengths) = (Vec::with_capacity(cells), Vec::with_capacity(rows.len()));
    for (at, row) in rows.iter().enumerate() {
        let Json::Array(cells) = row else {
            let detail = format!("a row must be an array, not {}", row.kind());
            fields.report(value.kind(), FieldError::new(format!("/{name}/{at}"), "wrong-type", detail));
            return None;
        };
        entries.extend(cells.iter().map(entry));
        row_lengths.push(cells.len());
    }
    Some(WrittenBoard { raw: RawBoard { entries, row_lengths: Some(row_lengths) }, form: Form::Rows })
}

fn entry(cell: &Json) -> Option<i64> {
    match cell {
        Json::Integer(tile) => Some(*tile),
        Json::Null => Some(0),
        _ => None,
    }
}

/// Adds the error of a fault in the board of the field `name`. `value_kind` is the kind of the error if an entry has a
/// wrong type. `json` is the board as JSON, and `text` the board as text; one of the two is `None`.
fn report_board_fault(
    fields: &mut FieldReader,
    name: &str,
    (value_kind, json, text): (ErrorKind, Option<&Json>, Option<&str>),
    written: &WrittenBoard,
    fault: &BoardFault,
) {
    let is_unreadable = is_unreadable(fault);
    let (kind, code) = match (fault, name) {
        // In an array, an unreadable entry is a value of a wrong type. In text, the board itself is wrong.
        _ if is_unreadable && written.form != Form::Text => (value_kind, "wrong-type"),
        (BoardFault::ShapeMismatch { .. }, "goal") => (ErrorKind::GoalMismatch, fault.code()),
        (BoardFault::Entry(PermutationFault::OutOfRange { .. } | PermutationFault::Missing { .. }, _), "goal") => {
            (ErrorKind::GoalMismatch, fault.code())
        }
        _ => (ErrorKind::InvalidBoard, fault.code()),
    };
    let place = fault.entry().map(|entry| (entry, written.raw.row_and_col(entry)));
    let pointer = match (written.form, fault.row(), place) {
        (Form::Rows, _, Some((_, Some((row, col))))) => format!("/{name}/{row}/{col}"),
        (Form::Rows, Some(row), None) => format!("/{name}/{row}"),
        (Form::Flat, _, Some((entry, _))) => format!("/{name}/{entry}"),
        _ => format!("/{name}"),
    };
    let tile = json.zip(place).filter(|_| is_unreadable).and_then(|(json, place)| quoted_tile(json, place));
    let part = text.zip(fault.entry()).and_then(|(text, entry)| RawBoard::part(text, entry));
    let sentence = written.raw.explain(name, fault);
    let sentence = match (tile, part.filter(|_| is_unreadable)) {
        (Some(tile), _) => format!("`\"{tile}\"` is a string: write {tile} without quotes"),
        (None, Some(part)) => format!("{} is {sentence}", quoted(part)),
        _ if text.is_some() && fault.row().is_some() && !written.raw.entries.contains(&Some(0)) => {
            format!("{sentence}; write 0 in the cell of the blank")
        }
        _ => sentence,
    };
    let detail = match (written.form, place) {
        // The sentence about a repeated tile names both positions.
        _ if matches!(fault, BoardFault::Entry(PermutationFault::Duplicate { .. }, _)) => sentence,
        (Form::Text, Some((_, Some((row, col))))) => format!("row {}, column {}: {sentence}", row + 1, col + 1),
        (Form::Text, Some((entry, None))) => format!("cell {}: {sentence}", entry + 1),
        _ => sentence,
    };
    fields.report(kind, FieldError::new(pointer, code, detail));
}

/// Returns the text of a cell if the cell is a string of one or two digits; otherwise `None`. `entry` is the index of
/// the cell, and `place` is the row and the column if the board is written in rows. All count from 0.
fn quoted_tile(json: &Json, (entry, place): (usize, Option<(usize, usize)>)) -> Option<&str> {
    let (list, at) = match (json, place) {
        (Json::Array(rows), Some((row, col))) => (rows.get(row)?, col),
        (flat, _) => (flat, entry),
    };
    let Json::Array(cells) = list else { return None };
    let Json::String(text) = cells.get(at)? else { return None };
    ((1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::WrittenFields;

    /// Kind of a problem, and pointer and code of each error.
    type Rejection = (ErrorKind, Vec<(String, &'static str)>);

    fn read(body: &str) -> Result<(Board, Board), Rejection> {
        let body = Some(WrittenFields::Json(Json::parse(body).unwrap()));
        let mut fields = FieldReader::new(Vec::new(), body, &BOARD_FIELDS);
        let boards = board_and_goal(&mut fields);
        fields.finish(boards).map_err(|problem| {
            (problem.kind, problem.errors.into_iter().map(|error| (error.pointer, error.code)).collect())
        })
    }

    #[test]
    fn all_forms_of_a_board_are_equivalent() {
        for body in [
            r#"{"board": [[4,5,3],[6,0,8],[2,1,7]]}"#,
            r#"{"board": [4,5,3,6,null,8,2,1,7]}"#,
            r#"{"board": [4,5,3,6,0,8,2,1,7], "rows": 3, "cols": 3}"#,
            r#"{"board": "4 5 3/6 _ 8/2 1 7"}"#,
            r#"{"board": "453608217"}"#,
            r#"{"board": [4,7,6,2,0,1,3,8,5], "encoding": "positions"}"#,
            r#"[[4,5,3],[6,0,8],[2,1,7]]"#,
            r#""4,5,3;6,0,8;2,1,7""#,
        ] {
            let (board, goal) = read(body).unwrap();
            assert_eq!(
                (board.to_string(), goal.to_string()),
                ("4 5 3/6 0 8/2 1 7".into(), "1 2 3/4 5 6/7 8 0".into()),
                "{body}"
            );
        }
    }

    #[test]
    fn goals_are_names_or_boards_in_any_form() {
        let board = r#""board": [[4,5,3],[6,0,8],[2,1,7]]"#;
        for (goal, expected) in [
            (r#""snail""#, "1 2 3/8 0 4/7 6 5"),
            (r#""blank_first""#, "0 1 2/3 4 5/6 7 8"),
            (r#"[1,2,3,8,0,4,7,6,5]"#, "1 2 3/8 0 4/7 6 5"),
            (r#""1 2 3/8 x 4/7 6 5""#, "1 2 3/8 0 4/7 6 5"),
        ] {
            assert_eq!(read(&format!("{{{board}, \"goal\": {goal}}}")).unwrap().1.to_string(), expected);
        }
    }

    #[test]
    fn errors_point_to_the_cell() {
        let one = |body: &str| {
            let (kind, mut errors) = read(body).unwrap_err();
            let (pointer, code) = errors.remove(0);
            (kind, pointer, code)
        };
        let invalid = ErrorKind::InvalidBoard;
        assert_eq!(one(r#"{"board": [[1,2,3],[4,5,5],[7,8,0]]}"#), (invalid, "/board/1/2".into(), "duplicate-tile"));
        assert_eq!(one(r#"{"board": [1,2,3,4,5,5,7,8,0]}"#), (invalid, "/board/5".into(), "duplicate-tile"));
        assert_eq!(one(r#"{"board": "1 2 3/4 5 5/7 8 0"}"#), (invalid, "/board".into(), "duplicate-tile"));
        assert_eq!(one(r#"{"board": [[1,2],[3]]}"#), (invalid, "/board/1".into(), "ragged-row"));
        assert_eq!(one(r#"{"board": [[1],[0]]}"#), (invalid, "/board".into(), "side-out-of-range"));
        let wrong = ErrorKind::InvalidRequest;
        for tile in ["1.0", "\"1\"", "true", "{}"] {
            let body = format!(r#"{{"board": [[{tile},2],[3,0]]}}"#);
            assert_eq!(one(&body), (wrong, "/board/0/0".into(), "wrong-type"));
        }
        assert_eq!(one("{}"), (wrong, "/board".into(), "missing-field"));
        assert_eq!(one(r#"{"board": 12}"#), (wrong, "/board".into(), "wrong-type"));
        assert_eq!(one(r#"{"board": [[1,2],3]}"#), (wrong, "/board/1".into(), "wrong-type"));
    }

    #[test]
    fn a_tile_in_quotes_and_json_as_text_are_named() {
        let detail = |json: &str| {
            let body = Some(WrittenFields::Json(Json::parse(json).unwrap()));
            let mut fields = FieldReader::new(Vec::new(), body, &BOARD_FIELDS);
            let boards = board_and_goal(&mut fields);
            fields.finish(boards).unwrap_err().errors.remove(0).detail
        };
        let expected = r#"`"8"` is a string: write 8 without quotes"#;
        assert_eq!(detail(r#"[[1,2,3],[4,5,6],[7,"8",0]]"#), expected);
        assert_eq!(detail(r#"[1,2,3,4,5,6,7,"8",0]"#), expected);
        assert!(detail(r#"[[1,2],["x",0]]"#).starts_with("not a tile"));
        assert!(detail(r#"{"board": "[[1,2],[3]]"}"#).starts_with("the text begins like JSON"));
    }

    #[test]
    fn a_board_as_people_write_it_is_read_and_the_reading_is_named() {
        let reading = |json: &str| {
            let body = Some(WrittenFields::Json(Json::parse(json).unwrap()));
            let mut fields = FieldReader::new(Vec::new(), body, &BOARD_FIELDS);
            let boards = board_and_goal(&mut fields).map(|(board, goal)| format!("{board} to {goal}"));
            (boards, fields.read_as())
        };
        let read = |board: &str, read_as: Option<&str>| (Some(board.to_owned()), read_as.map(str::to_owned));
        for (json, expected) in [
            (r#""3 1/2 0""#, read("3 1/2 0 to 1 2/3 0", None)),
            (r#"["3 1", "2 0"]"#, read("3 1/2 0 to 1 2/3 0", None)),
            (r#""[[3, 1], [2, 0]]""#, read("3 1/2 0 to 1 2/3 0", Some("an array"))),
            (
                r#"{"board": "57 3 1 2 0"}"#,
                read("3 1/2 0 to 1 2/3 0", Some("a list of cells, without the number before the tiles")),
            ),
            (r#"{"board": "3 1/2 0", "goal": "1 2\n3 *"}"#, read("3 1/2 0 to 1 2/3 0", Some("goal: lines of cells"))),
            (
                r#"{"board": "| 3 | 1 |\n| 2 |  |", "goal": "{{1, 2}, {3, 0}}"}"#,
                read("3 1/2 0 to 1 2/3 0", Some("a table; goal: an array")),
            ),
            (r#"{"board": [["3", 1], [2, 0]]}"#, (None, None)),
            (r#"{"board": "0 1 2 3 0"}"#, (None, None)),
        ] {
            assert_eq!(reading(json), expected, "{json}");
        }
    }

    #[test]
    fn a_text_that_is_no_board_has_one_error_with_its_place() {
        for (text, expected) in [
            ("a b c d", "cell 1: `a` is not a tile"),
            ("1 2/3 q, w", "row 2, column 2: `q` is not a tile"),
            ("1 2 3/4 5/6 7/8 9 0", "row 2 has length 2, but row 1 has length 3: all rows must have the same length"),
            ("1 2 3/4 5/6 7", "all rows must have the same length; write 0 in the cell of the blank"),
            (
                "8  7
6  5  4
3  2  1",
                "the text can mean `0 8 7/6 5 4/3 2 1` (aligned columns, with a gap for the blank) or `8 7 0/",
            ),
        ] {
            let body = Some(WrittenFields::Text(text.to_owned()));
            let mut fields = FieldReader::new(Vec::new(), body, &BOARD_FIELDS);
            let boards = board_and_goal(&mut fields);
            let errors = fields.finish(boards).unwrap_err().errors;
            assert!(errors.len() == 1 && errors[0].detail.contains(expected), "{text}: {errors:?}");
        }
    }

    #[test]
    fn a_long_text_is_rejected_before_it_is_split() {
        let text = |cells: usize| format!("\"{}\"", "1 ".repeat(cells));
        let too_long = (ErrorKind::InvalidBoard, vec![("/board".to_owned(), "side-out-of-range")]);
        assert_eq!(read(&text(MAX_TEXT)).unwrap_err(), too_long);
        let padded = format!("\"{}1 2/3 0{}\"", " ".repeat(MAX_TEXT), " ".repeat(MAX_TEXT));
        assert!(read(&padded).is_ok());
    }

    #[test]
    fn a_goal_of_another_size_or_with_other_tiles_is_a_mismatch() {
        for goal in ["[[1,2,3],[4,5,0]]", "[1,2,3,4,5,0]", "[[1,2],[9,0]]", r#""1 2/3 4/5 0""#] {
            let (kind, _) = read(&format!(r#"{{"board": [[1,2],[3,0]], "goal": {goal}}}"#)).unwrap_err();
            assert_eq!(kind, ErrorKind::GoalMismatch, "{goal}");
        }
        let (kind, _) = read(r#"{"board": [[1,2],[3,0]], "goal": [[1,1],[3,0]]}"#).unwrap_err();
        assert_eq!(kind, ErrorKind::InvalidBoard);
        let (kind, _) = read(r#"{"board": [[1,2],[3,0]], "goal": "snake"}"#).unwrap_err();
        assert_eq!(kind, ErrorKind::InvalidRequest);
    }
}
