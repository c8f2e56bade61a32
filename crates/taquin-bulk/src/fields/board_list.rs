//! A list of boards in one field of a request.

use taquin_solver::{Board, Encoding, RawBoard, Sides, Size};

use super::board::{board, goal, sides};
use super::json::Json;
use super::value::Value;
use super::{FieldReader, is_board_text, pointer};
use crate::row_error::{ErrorKind, FieldError};

/// A board of a list.
#[derive(Clone, Debug)]
pub struct ListedBoard {
    /// The id as JSON, a string or an integer; `None` if the board has no id.
    pub id: Option<serde_json::Value>,
    /// The board. The goal may be out of reach.
    pub board: Board,
}

/// The boards of a list, which have one size and one goal.
#[derive(Clone, Debug)]
pub struct ListedBoards {
    /// The boards, in the order of the request.
    pub boards: Vec<ListedBoard>,
    /// The goal of all boards.
    pub goal: Board,
}

/// Fields of an entry that is an object.
const FIELDS: [&str; 2] = ["board", "id"];

/// Maximum number of boards that `read_as` names for each description of how boards were read. Of further boards,
/// `read_as` gives only the number.
const NAMED_BOARDS: usize = 3;

/// Reads `boards`, a list of 1 to `most` boards of one size, and `goal`, `rows`, `cols` and `encoding`, which apply to
/// all boards.
///
/// A list is a JSON array, or text with a board in each line that is not blank. An entry is a board in any notation, or
/// an object with `board` and optionally `id`. The entries of several query parameters `boards` form one list. The
/// pointers of errors include the index in the list. Returns `None` if any board or the goal has an error, or if the
/// sizes differ.
pub fn boards_and_goal(fields: &mut FieldReader, most: usize) -> Option<ListedBoards> {
    let (sides, encoding) = (sides(fields), fields.choice("encoding", None).unwrap_or_default());
    let boards =
        entries(fields, sides, most).map(|(kind, entries)| Entries { kind, sides, encoding }.read(fields, entries));
    let size = boards.iter().flatten().flatten().next().map(|listed| listed.board.size());
    let goal = goal(fields, size, sides, encoding);
    let boards: Vec<ListedBoard> = boards?.into_iter().collect::<Option<_>>()?;
    let (goal, size) = goal.zip(size)?;
    let is_same = of_one_size(fields, size, &boards);
    if goal.size() != size {
        let detail = format!("the goal is {} and the boards are {size}; they must have the same size", goal.size());
        fields.report(ErrorKind::GoalMismatch, FieldError::new("/goal", "goal-mismatch", detail));
        return None;
    }
    is_same.then_some(ListedBoards { boards, goal })
}

/// Reports each board whose size differs from the size of the first board. Returns true if all sizes are equal.
fn of_one_size(fields: &mut FieldReader, size: Size, boards: &[ListedBoard]) -> bool {
    let mut is_same = true;
    for (at, listed) in boards.iter().enumerate().filter(|(_, listed)| listed.board.size() != size) {
        let own = listed.board.size();
        let detail = format!("the board is {own} and the first one is {size}; all boards must have the same size");
        fields.report(ErrorKind::GoalMismatch, FieldError::new(format!("/boards/{at}"), "goal-mismatch", detail));
        is_same = false;
    }
    is_same
}

/// Splits the field `boards` into entries. Also returns the problem kind of an error in an entry. Reports a value that
/// is not a list, a value that is a single board, and a list with too few or too many entries. Returns `None` after
/// such a report, or if the field is absent.
fn entries(fields: &mut FieldReader, sides: Sides, most: usize) -> Option<(ErrorKind, Vec<Json>)> {
    let field = fields.remove("boards")?.joined("\n");
    fields.check(&field);
    let value = field.value;
    let entries = match value.as_str() {
        Some(text) => match Json::parse(text) {
            Ok(Json::Array(entries)) => entries,
            _ => text.lines().filter(|line| !line.trim().is_empty()).map(entry_of_line).collect(),
        },
        None => match value.to_json() {
            Some(Json::Array(entries)) => entries,
            _ => {
                let detail = format!(
                    "`boards` must be an array of boards, or an object for random ones, not {}",
                    value.described()
                );
                fields.reject(&value, "boards", "wrong-type", detail);
                return None;
            }
        },
    };
    if is_one_board(&value, &entries, sides) {
        let detail = "`boards` is one board: write it as `board`, or as the only entry of a list";
        fields.reject(&value, "boards", "wrong-type", detail);
        return None;
    }
    if !(1..=most).contains(&entries.len()) {
        let detail = format!("`boards` has {} entries; it must have 1 to {most}", entries.len());
        fields.reject(&value, "boards", "out-of-range", detail);
        return None;
    }
    Some((value.kind(), entries))
}

/// Parses a line as JSON if the line begins with `{`, `[` or `"`. Any other line, and a line that is not JSON, becomes
/// a string.
fn entry_of_line(line: &str) -> Json {
    let text = line.trim();
    let json = if text.starts_with(['{', '[', '"']) { Json::parse(text).ok() } else { None };
    json.unwrap_or_else(|| Json::String(text.to_owned()))
}

/// Returns true if the value is one board: an array of rows, or a text of several lines.
fn is_one_board(value: &Value, entries: &[Json], sides: Sides) -> bool {
    let tile = |cell: &Json| if let Json::Integer(tile) = cell { Some(Some(*tile)) } else { None };
    let row = |entry: &Json| match entry {
        Json::Array(cells) => cells.iter().map(tile).collect(),
        _ => None,
    };
    if let Some(rows) = entries.iter().map(row).collect::<Option<Vec<Vec<Option<i64>>>>>() {
        let row_lengths = Some(rows.iter().map(Vec::len).collect());
        return RawBoard { entries: rows.concat(), row_lengths }.board(sides, Encoding::Tiles).is_ok();
    }
    entries.len() > 1 && value.as_str().is_some_and(|text| is_board_text(text, sides))
}

/// Properties that all entries of a list share.
#[derive(Clone, Copy)]
struct Entries {
    /// Kind of an error in an entry.
    kind: ErrorKind,
    sides: Sides,
    encoding: Encoding,
}

impl Entries {
    /// Reads the boards; `None` for a board with an error.
    fn read(self, fields: &mut FieldReader, entries: Vec<Json>) -> Vec<Option<ListedBoard>> {
        let mut readings: Vec<(String, Vec<usize>)> = Vec::new();
        let mut boards = Vec::with_capacity(entries.len());
        for (at, entry) in entries.into_iter().enumerate() {
            let (board, own_readings) = self.board(fields, at, entry);
            boards.push(board);
            for way in own_readings {
                match readings.iter_mut().find(|(other, _)| *other == way) {
                    Some((_, indices)) => indices.push(at),
                    None => readings.push((way, vec![at])),
                }
            }
        }
        for (way, indices) in readings {
            fields.readings.push(format!("{}: {way}", named(&indices)));
        }
        boards
    }

    /// Reads one entry. Also returns a list of descriptions of how the board was read. The list is empty if the board
    /// is in a documented notation.
    fn board(self, fields: &mut FieldReader, at: usize, entry: Json) -> (Option<ListedBoard>, Vec<String>) {
        let is_object = matches!(entry, Json::Object(_));
        let members = if let Json::Object(members) = entry { members } else { vec![("board".to_owned(), entry)] };
        let mut inner = FieldReader::empty(fields.missing);
        inner.add_members("", members, &FIELDS);
        let id = inner.id().and_then(|id| serde_json::from_slice(&id).ok());
        let value = inner.take("board");
        if value.is_none() {
            inner.report_missing("board", "`board` is required in an entry that is an object");
        }
        let board = value.and_then(|value| board(&mut inner, "board", &value, self.sides, self.encoding));
        let FieldReader { errors, readings, .. } = inner;
        let errors = if is_object { errors } else { errors.without_prefix("/board") };
        fields.errors.add_all_within(&pointer(&format!("boards.{at}")), self.kind, errors);
        (board.map(|board| ListedBoard { id, board }), readings)
    }
}

/// Names some boards of a list by their indices.
fn named(indices: &[usize]) -> String {
    let names: Vec<String> = indices.iter().take(NAMED_BOARDS).map(|at| format!("boards/{at}")).collect();
    match indices.len().saturating_sub(NAMED_BOARDS) {
        0 => names.join(", "),
        others => format!("{} and {others} others", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{BOARD_FIELDS, WrittenFields};
    use crate::row_error::RowError;

    fn read(query: &[(&str, &str)], body: &str) -> Result<(ListedBoards, Option<String>), RowError> {
        let known = [&BOARD_FIELDS[..], &["boards", "boards.count"]].concat();
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = (!body.is_empty()).then(|| WrittenFields::Json(Json::parse(body).unwrap()));
        let mut fields = FieldReader::new(query, body, &known);
        let boards = boards_and_goal(&mut fields, 5);
        let read_as = fields.read_as();
        fields.finish(boards).map(|boards| (boards, read_as))
    }

    fn texts(query: &[(&str, &str)], body: &str) -> Vec<String> {
        read(query, body).unwrap().0.boards.iter().map(|listed| listed.board.to_string()).collect()
    }

    fn errors(query: &[(&str, &str)], body: &str) -> Vec<String> {
        let errors = read(query, body).unwrap_err().errors;
        errors.into_iter().map(|error| format!("{} {}", error.pointer, error.code)).collect()
    }

    #[test]
    fn entries_are_boards_in_any_notation() {
        let expected = ["1 2/3 0", "2 1/0 3", "1 0/3 2"];
        let body = r#"{"boards": ["1230", [[2, 1], [0, 3]], {"board": [1, 0, 3, 2], "id": "c"}]}"#;
        assert_eq!(texts(&[], body), expected);
        assert_eq!(texts(&[], r#"{"boards": "1230\n\n[[2, 1], [0, 3]]\n{\"board\": \"1 0/3 2\"}"}"#), expected);
        assert_eq!(texts(&[("boards", "1230"), ("boards", "2 1/0 3"), ("boards", "[1,0,3,2]")], ""), expected);
        assert_eq!(texts(&[("boards", r#"["1230", [2, 1, 0, 3], "1032"]"#)], ""), expected);
        let ids = read(&[], body).unwrap().0.boards.into_iter().map(|listed| listed.id.map(|id| id.to_string()));
        assert_eq!(ids.collect::<Vec<_>>(), [None, None, Some("\"c\"".to_owned())]);
        let positions = r#"{"encoding": "positions", "goal": "blank_first", "boards": [[0, 2, 1, 3]]}"#;
        assert_eq!(texts(&[], positions), ["0 2/1 3"]);
        assert_eq!(read(&[], positions).unwrap().0.goal.to_string(), "0 1/2 3");
    }

    #[test]
    fn all_errors_of_all_boards_are_reported_with_their_indices() {
        let body = r#"{"boards": ["1231", [[1, 2], [3, 9]], {"board": "12x0", "id": []}, {}, {"bord": "1230"}]}"#;
        assert_eq!(
            errors(&[], body),
            [
                "/boards/0 duplicate-tile",
                "/boards/0 missing-blank",
                "/boards/1/1/1 tile-out-of-range",
                "/boards/1 missing-blank",
                "/boards/2/id wrong-type",
                "/boards/2/board duplicate-blank",
                "/boards/2/board missing-tile",
                "/boards/3/board missing-field",
                "/boards/4/bord unknown-field",
                "/boards/4/board missing-field",
            ]
        );
        assert_eq!(errors(&[], r#"{"boards": ["1230", "123456780"]}"#), ["/boards/1 goal-mismatch"]);
        assert_eq!(errors(&[], r#"{"boards": ["1230"], "goal": "123456780"}"#), ["/goal shape-mismatch"]);
        assert_eq!(errors(&[], r#"{"boards": ["1230"], "goal": "1 2 3/4 5 6/7 8 0"}"#), ["/goal goal-mismatch"]);
    }

    #[test]
    fn what_is_no_list_is_rejected_as_a_whole() {
        for (boards, expected) in [
            ("[]", "/boards out-of-range"),
            (r#""""#, "/boards out-of-range"),
            (r#"["1230", "1230", "1230", "1230", "1230", "1230"]"#, "/boards out-of-range"),
            ("true", "/boards wrong-type"),
            ("[[1, 2], [3, 0]]", "/boards wrong-type"),
            (r#""1 2\n3 0""#, "/boards wrong-type"),
        ] {
            assert_eq!(errors(&[], &format!("{{\"boards\": {boards}}}")), [expected], "{boards}");
        }
        assert_eq!(errors(&[("boards", "1230")], r#"{"boards": ["1230", "2130"]}"#), ["/boards repeated-field"]);
    }

    #[test]
    fn a_reading_names_its_boards() {
        let (_, read_as) = read(&[], r#"{"boards": ["{1, 2}, {3, 0}", "1230", "{2, 1}, {0, 3}"]}"#).unwrap();
        assert!(read_as.as_deref().is_some_and(|way| way.starts_with("boards/0, boards/2: ")), "{read_as:?}");
    }
}
