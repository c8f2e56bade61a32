//! Parses the bytes of a line into a puzzle.

use std::borrow::Cow;

use taquin_solver::{Board, Puzzle, RawBoard, Sides};

use super::columns::{CsvInput, CsvRow, without_mark};
use super::comment::{is_comment, is_csv_comment};
use super::members::{FIELDS, Members};
use super::options::RowOptions;
use crate::fields::{
    FieldReader, Json, MAX_ID, WrittenFields, board_and_goal, id_json, is_board_text, plain_row, puzzle,
};
use crate::row_error::{ErrorKind, FieldError, RowError};

/// Maximum length of a line in bytes. The largest board takes less than a kilobyte.
pub const MAX_LINE: usize = 16 << 10;

/// The format of lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RowFormat {
    /// A board in any notation, or an object with `board`, and optionally `id`, `goal`, `rows`, `cols` and `encoding`.
    /// The members `want` and `limits`, and names that may be mistakes for the names of fields, are errors. All other
    /// members are ignored.
    Json,
    /// Comma-separated values.
    Csv(CsvInput),
}

impl RowFormat {
    /// The media types of lines, as a list for a header.
    pub const MEDIA_TYPES: &str = "application/x-ndjson, application/jsonl, text/csv";

    /// Returns the format of a media type, which must be in lower case and without parameters. Returns `None` for any
    /// other media type.
    pub fn of_media_type(essence: &str) -> Option<Self> {
        match essence {
            "application/x-ndjson" | "application/ndjson" | "application/jsonl" | "application/x-jsonlines" => {
                Some(Self::Json)
            }
            "text/csv" => Some(Self::Csv(CsvInput::default())),
            _ => None,
        }
    }

    /// Returns true if a line is no row: a blank line, or a comment after `#`, `//` or `%`.
    pub fn skips(&self, line: &[u8]) -> bool {
        let is_comment = |line| match self {
            Self::Json => is_comment(line),
            Self::Csv(csv) => is_csv_comment(line) && !csv.fits_header(line),
        };
        RowReader::is_blank(line) || is_comment(line)
    }
}

/// A parsed row: the id, and the puzzle or the error.
#[derive(Clone, Debug)]
pub struct InputRow<'l> {
    /// The id as JSON, a string or an integer. `None` if the row has no id, if the id is
    /// invalid, or if the line cannot be parsed.
    pub id: Option<Cow<'l, [u8]>>,
    /// How the text of the board was read; `None` if the board is in the notation of `taquin_solver::RawBoard`.
    pub read_as: Option<String>,
    /// The puzzle, or the error of the row.
    pub puzzle: Result<Puzzle, Box<RowError>>,
}

/// A reader of the rows of one batch.
#[derive(Clone, Debug)]
pub struct RowReader {
    options: RowOptions,
    format: RowFormat,
    /// The members that the options add to a row without these members.
    defaults: Vec<(&'static str, Json)>,
}

/// The id of a line as JSON, or `None` without a valid id, and the members of the line that are read.
type Fields = (Option<Vec<u8>>, Members);

impl RowReader {
    /// Creates a reader.
    pub fn new(options: RowOptions, format: RowFormat) -> Self {
        let defaults = options.defaults();
        Self { options, format, defaults }
    }

    /// Creates a reader for an input with the first line `first`. Also returns whether this line is a header.
    ///
    /// # Errors
    /// `invalid-request` if a header of CSV names no board or the first line of CSV is not one row, and
    /// `content-too-large` if the first line of CSV exceeds [`MAX_LINE`].
    pub fn begin(options: RowOptions, format: &RowFormat, first: &[u8]) -> Result<(Self, bool), RowError> {
        match format {
            RowFormat::Csv(_) => {
                check_length(first, "first line")?;
                let header = CsvInput::of_first_line(first).map_err(header_problem)?;
                let is_header = header.is_some();
                Ok((Self::new(options, RowFormat::Csv(header.unwrap_or_default())), is_header))
            }
            RowFormat::Json => Ok((Self::new(options, RowFormat::Json), false)),
        }
    }

    /// Returns true if a line is blank and therefore skipped.
    pub fn is_blank(line: &[u8]) -> bool {
        line.iter().all(u8::is_ascii_whitespace)
    }

    /// Returns true if a line is no row: a blank line, or a comment after `#`, `//` or `%`.
    pub fn skips(&self, line: &[u8]) -> bool {
        self.format.skips(line)
    }

    /// The sides of boards in flat lists.
    pub(super) fn sides(&self) -> Sides {
        self.options.sides
    }

    /// Returns true if a line is a board, even an unsolvable one, or if the line can be read as several boards.
    pub(super) fn is_row(&self, line: &[u8]) -> bool {
        let is_board = |error: &RowError| {
            matches!(error.kind, ErrorKind::Unsolvable | ErrorKind::GoalMismatch)
                || error.errors.iter().any(|error| error.code == "ambiguous-board")
        };
        self.read(line).puzzle.map_or_else(|error| is_board(&error), |_| true)
    }

    /// Reads a line, with or without a line terminator.
    pub fn read<'l>(&self, line: &'l [u8]) -> InputRow<'l> {
        let line = without_mark(line);
        self.read_plain(line).unwrap_or_else(|| self.read_any(line))
    }

    /// Reads a row in its most frequent form. Returns `None` if the general reader must read the row.
    fn read_plain<'l>(&self, line: &'l [u8]) -> Option<InputRow<'l>> {
        let (id, board) = if self.format == RowFormat::Json { plain_row(line)? } else { return None };
        let puzzle = self.options.puzzle(board)?.map_err(Box::new);
        let row = || InputRow { id: id.map(Cow::Borrowed), read_as: None, puzzle };
        id.is_none_or(|id| id.len() <= MAX_ID).then(row)
    }

    fn read_any<'l>(&self, line: &'l [u8]) -> InputRow<'l> {
        match self.fields(line) {
            Ok((id, members)) => {
                let (read_as, puzzle) = self.puzzle(members);
                let puzzle = puzzle.map_err(|problem| of_line(problem).into());
                let before = || id_before(line, puzzle.as_ref().ok()?.start());
                let id = id.or_else(|| read_as.as_ref().and_then(|_| before()));
                InputRow { id: id.map(Cow::Owned), read_as, puzzle }
            }
            Err(problem) => InputRow { id: None, read_as: None, puzzle: Err(problem.into()) },
        }
    }

    /// Returns the id that [`read`](Self::read) would return.
    pub fn id<'l>(&self, line: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        // An array has no id, and most boards without an id are arrays.
        let is_array = self.format == RowFormat::Json && line.first() == Some(&b'[');
        if is_array { None } else { self.read(line).id }
    }

    /// Splits a line into the id and the members.
    fn fields(&self, line: &[u8]) -> Result<Fields, RowError> {
        check_length(line, "line")?;
        let not_utf8 = |error: std::str::Utf8Error| {
            let detail = format!("The line is not valid UTF-8 at byte {}.", error.valid_up_to() + 1);
            RowError::new(ErrorKind::MalformedJson, detail)
        };
        let text = std::str::from_utf8(line).map_err(not_utf8)?.trim_ascii();
        let members = |members| {
            let members = Members::select(members);
            (id_among(&members.fields), members)
        };
        let board = |board: Json| vec![("board".to_owned(), board)];
        match &self.format {
            RowFormat::Csv(csv) => {
                let wrong = |reason: String| {
                    let error = FieldError::new("", "ragged-row", reason.clone());
                    RowError::new(ErrorKind::InvalidRequest, format!("In this row, {reason}.")).with_errors(vec![error])
                };
                let CsvRow { id, board: text } = csv.row(text).map_err(wrong)?;
                let id = id.map(|(name, id)| (name, Json::String(id)));
                Ok(members(board(Json::String(text)).into_iter().chain(id).collect()))
            }
            // A board as text never begins like JSON.
            RowFormat::Json if !text.starts_with(['{', '[', '"']) => Ok(members(board(Json::String(text.to_owned())))),
            RowFormat::Json => match Json::parse_line(text) {
                Ok(Json::Object(own)) => Ok(members(own)),
                Ok(other) => Ok(members(board(other))),
                Err(_) if is_board_text(text, Sides::default()) => Ok(members(board(Json::String(text.to_owned())))),
                Err(problem) => Err(problem),
            },
        }
    }

    /// Reads the puzzle from the members of a row and from the defaults. Also returns how the board was read.
    fn puzzle(
        &self,
        Members { fields: mut members, board_name }: Members,
    ) -> (Option<String>, Result<Puzzle, RowError>) {
        for (name, value) in &self.defaults {
            // Null counts as absent.
            members.retain(|(own, value)| own != name || *value != Json::Null);
            if members.iter().all(|(own, _)| own != name) {
                members.push(((*name).to_owned(), value.clone()));
            }
        }
        let body = Some(WrittenFields::Json(Json::Object(members)));
        let mut fields = FieldReader::new(Vec::new(), body, &FIELDS);
        fields.id();
        let boards: Option<(Board, Board)> = board_and_goal(&mut fields);
        let read_as = fields.read_as();
        let boards = fields.finish(boards).map_err(|problem| at_name(problem, board_name));
        (read_as, boards.and_then(|(board, goal)| puzzle(board, goal)))
    }
}

/// Reads the lines of a text as rows of a batch, for the fuzzer.
///
/// # Panics
/// If the fast reader and the general reader of rows disagree.
pub fn read_rows(text: &[u8], is_csv: bool) -> Vec<Result<Puzzle, Box<RowError>>> {
    let mut lines = text.split_inclusive(|byte| *byte == b'\n').peekable();
    let format = if is_csv {
        let header = lines.peek().and_then(|first| CsvInput::of_first_line(first).ok()).flatten();
        lines.next_if(|_| header.is_some());
        RowFormat::Csv(header.unwrap_or_default())
    } else {
        RowFormat::Json
    };
    let reader = RowReader::new(RowOptions::default(), format);
    let row = |line: &[u8]| {
        let InputRow { id, read_as, puzzle } = reader.read(line);
        let general = reader.read_any(without_mark(line));
        let expected = (general.id, general.read_as, general.puzzle.as_ref().ok());
        assert_eq!((id, read_as, puzzle.as_ref().ok()), expected, "the readers differ");
        puzzle
    };
    lines.filter(|line| !RowReader::is_blank(line)).map(row).collect()
}

/// Returns the id among the members of a row, as JSON; `None` if the id is absent or invalid.
fn id_among(members: &[(String, Json)]) -> Option<Vec<u8>> {
    members.iter().find(|(name, _)| name == "id").and_then(|(_, id)| id_json(id))
}

/// Returns the id of a row: the first number before the tiles of the board, such as `7` in `7  57 : 14 13 …`. Returns
/// `None` if there is no number before the tiles.
fn id_before(line: &[u8], board: &Board) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(line).ok()?;
    let RawBoard { entries, .. } = RawBoard::parse(text.trim_ascii());
    let tiles: Vec<Option<i64>> = board.tiles().iter().map(|tile| Some(i64::from(*tile))).collect();
    let at = entries.windows(tiles.len()).position(|window| *window == tiles)?;
    let id = entries[..at].first().copied().flatten()?;
    id_json(&Json::Integer(id))
}

fn check_length(line: &[u8], name: &str) -> Result<(), RowError> {
    if line.len() <= MAX_LINE {
        return Ok(());
    }
    let detail = format!("The {name} exceeds the maximum of {MAX_LINE} bytes. A line is one board.");
    Err(RowError::new(ErrorKind::ContentTooLarge, detail))
}

fn header_problem(reason: String) -> RowError {
    let error = FieldError::new("", "missing-field", reason.clone());
    RowError::new(ErrorKind::InvalidRequest, format!("In the first line, {reason}.")).with_errors(vec![error])
}

/// Corrects the pointers of errors in a board with another name than `board`.
fn at_name(mut problem: RowError, board_name: Option<&str>) -> RowError {
    for error in &mut problem.errors {
        let place = error.pointer.strip_prefix("/board").filter(|place| place.is_empty() || place.starts_with('/'));
        if let Some((name, place)) = board_name.zip(place) {
            error.pointer = format!("/{name}{place}");
        }
    }
    problem
}

/// Rewords a problem of a request as a problem of a line.
fn of_line(mut problem: RowError) -> RowError {
    if let Some(errors) = problem.detail.strip_prefix("The request has ") {
        problem.detail = format!("The line has {errors}");
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::NamedGoal;
    use crate::rows::RowGoal;
    use taquin_solver::{Encoding, Sides, Size, SplitMix, random_board};

    fn reader(options: RowOptions) -> RowReader {
        RowReader::new(options, RowFormat::Json)
    }

    fn csv(header: &str) -> RowReader {
        let csv = CsvInput::of_first_line(header.as_bytes()).unwrap().unwrap_or_default();
        RowReader::new(RowOptions::default(), RowFormat::Csv(csv))
    }

    fn board(row: InputRow<'_>) -> String {
        row.puzzle.unwrap().start().to_string()
    }

    fn id_of(row: &InputRow<'_>) -> Option<String> {
        row.id.as_ref().map(|id| String::from_utf8(id.to_vec()).unwrap())
    }

    #[test]
    fn a_line_is_a_board_in_any_notation() {
        let reader = reader(RowOptions::default());
        for line in [
            "[[8,6,7],[2,5,4],[3,0,1]]",
            "[8,6,7,2,5,4,3,null,1]\r\n",
            "\"867254301\"",
            "867254301",
            "8 6 7/2 5 4/3 _ 1",
            "{\"board\": \"8 6 7/2 5 4/3 0 1\"}",
            "{\"id\": null, \"board\": [8,6,7,2,5,4,3,0,1], \"rows\": 3, \"cols\": 3}",
            "{\"board\": [[8,6,7],[2,5,4],[3,0,1]], \"goal\": \"blank_last\"}",
            "\u{feff}[[8,6,7],[2,5,4],[3,0,1]]",
        ] {
            let row = reader.read(line.as_bytes());
            assert_eq!((board(row.clone()), id_of(&row)), ("8 6 7/2 5 4/3 0 1".to_owned(), None), "{line}");
        }
    }

    #[test]
    fn ids_are_echoed_also_beside_a_problem() {
        let reader = reader(RowOptions::default());
        for (id, echoed) in
            [("7", "7"), ("-7", "-7"), ("\"a\\u00e9\"", "\"aé\""), ("\"\"", "\"\""), ("\"a b\"", "\"a b\"")]
        {
            for board in ["[[1,2],[3,0]]", "[[1,2],[3,4]]", "\"no\""] {
                let line = format!("{{\"id\":{id},\"board\":{board}}}");
                assert_eq!(id_of(&reader.read(line.as_bytes())).as_deref(), Some(echoed), "{line}");
            }
        }
        for id in ["1.5", "true", "[1]", "12345678901234567890", &format!("\"{}\"", "a".repeat(MAX_ID + 1))] {
            let line = format!("{{\"id\":{id},\"board\":[[1,2],[3,0]]}}");
            let row = reader.read(line.as_bytes());
            let problem = row.puzzle.unwrap_err();
            assert_eq!((row.id, problem.errors[0].pointer.as_str()), (None, "/id"), "{line}");
        }
        let reader = csv("id,board");
        assert_eq!(id_of(&reader.read(format!("{},1230", "a".repeat(MAX_ID)).as_bytes())).unwrap().len(), MAX_ID + 2);
        let line = format!("{},1230", "a".repeat(MAX_ID + 1));
        let InputRow { id, puzzle, .. } = reader.read(line.as_bytes());
        assert_eq!((id, puzzle.unwrap_err().errors[0].pointer.as_str()), (None, "/id"), "an id of CSV");
    }

    #[test]
    fn problems_have_pointers_and_say_that_they_concern_a_line() {
        let reader = reader(RowOptions::default());
        let problem = |line: &[u8]| reader.read(line).puzzle.unwrap_err();
        let duplicate = problem(b"[[8,6,7],[2,5,4],[3,0,7]]");
        assert_eq!(duplicate.kind, ErrorKind::InvalidBoard);
        assert_eq!(duplicate.errors[0].pointer, "/board/2/2");
        assert_eq!(problem(b"[[2,1],[3,0]]").kind, ErrorKind::Unsolvable);
        let json = problem(b"{\"board\": [[1,2],[3,0]}");
        assert_eq!(json.kind, ErrorKind::MalformedJson);
        assert!(json.detail.starts_with("The line is not valid JSON at column 23"), "{}", json.detail);
        let unknown = problem(b"{\"bord\": 1, \"board\": 2}");
        assert!(unknown.detail.starts_with("The line has 2 errors"), "{}", unknown.detail);
        assert!(problem(b"[[1,2],\xff").detail.contains("UTF-8 at byte 8"));
        assert_eq!(problem("[".repeat(MAX_LINE + 1).as_bytes()).kind, ErrorKind::ContentTooLarge);
        let header = "board,".repeat(MAX_LINE / 6 + 1);
        let begun = RowReader::begin(RowOptions::default(), &RowFormat::Csv(CsvInput::default()), header.as_bytes());
        assert_eq!(begun.unwrap_err().kind, ErrorKind::ContentTooLarge);
    }

    #[test]
    fn options_apply_to_rows_that_say_nothing_else() {
        let snail = RowOptions { goal: RowGoal::Named(NamedGoal::Snail), ..RowOptions::default() };
        let own = reader(snail).read(b"{\"board\":[[1,2],[0,3]],\"goal\":\"1 2/0 3\"}").puzzle.unwrap();
        assert_eq!(own.goal().to_string(), "1 2/0 3");
        let sides = Sides { rows: Some(2), cols: Some(3) };
        let flat = RowOptions { sides, ..RowOptions::default() };
        assert_eq!(board(reader(flat.clone()).read(b"[1,2,3,4,0,5]")), "1 2 3/4 0 5");
        assert_eq!(board(reader(flat.clone()).read(b"[[1,2,3],[4,0,5]]")), "1 2 3/4 0 5");
        assert!(reader(flat).read(b"[[1,2],[3,0]]").puzzle.is_err(), "it contradicts `rows` and `cols`");
        let positions = RowOptions { encoding: Encoding::Positions, ..RowOptions::default() };
        assert_eq!(board(reader(positions).read(b"[4,7,6,2,0,1,3,8,5]")), "4 5 3/6 0 8/2 1 7");
        let goal = Board::snail(Size::try_from((3, 3)).unwrap());
        let fixed = RowOptions { goal: RowGoal::Board(goal), ..RowOptions::default() };
        let mismatch = reader(fixed).read(b"[[1,2],[3,0]]").puzzle.unwrap_err();
        assert_eq!(mismatch.kind, ErrorKind::GoalMismatch);
    }

    #[test]
    fn a_member_that_is_null_is_absent() {
        let snail = RowOptions { goal: RowGoal::Named(NamedGoal::Snail), ..RowOptions::default() };
        let row = reader(snail).read(b"{\"id\":null,\"board\":[[1,2],[0,3]],\"goal\":null,\"rows\":null}");
        assert_eq!((row.id, row.puzzle.unwrap().goal().to_string()), (None, "1 2/0 3".to_owned()));
    }

    #[test]
    fn rows_of_results_and_of_other_programs_are_read() {
        let reader = reader(RowOptions::default());
        for (line, id) in [
            (r#"{"index":7,"board":[[8,6,7],[2,5,4],[3,0,1]],"length":27,"optimal":true}"#, Some("7")),
            (r#"{"id":"a","index":7,"board":"867254301","moves":"UL","next":null}"#, Some("\"a\"")),
            (r#"{"state":[8,6,7,2,5,4,3,0,1],"cost":27,"size":3}"#, None),
            (r#"{"name":"b","puzzle":"867254301","target":27,"tags":{"hard":[true]}}"#, Some("\"b\"")),
        ] {
            let row = reader.read(line.as_bytes());
            assert_eq!((board(row.clone()), id_of(&row).as_deref()), ("8 6 7/2 5 4/3 0 1".to_owned(), id), "{line}");
        }
        for (line, places) in [
            (r#"{"bord":[[1,2],[3,0]],"cost":0}"#, &["/bord", "/cost", "/board"][..]),
            (r#"{"board":[[1,2],[3,0]],"cost":0,"gaol":"snail"}"#, &["/gaol"]),
            (r#"{"state":[[1,2],[3,3]],"cost":0}"#, &["/state/1/1", "/state"]),
            (r#"{"line":1,"length":27,"optimal":true}"#, &["/line", "/length", "/optimal", "/board"]),
        ] {
            let problem = reader.read(line.as_bytes()).puzzle.unwrap_err();
            assert_eq!(problem.errors.iter().map(|error| &*error.pointer).collect::<Vec<_>>(), places, "{line}");
        }
    }

    #[test]
    fn the_short_way_reads_what_the_general_way_reads() {
        let mut random = SplitMix(9);
        for size in Size::all() {
            for goal in [NamedGoal::BlankLast, NamedGoal::Snail] {
                let reader = reader(RowOptions { goal: RowGoal::Named(goal), ..RowOptions::default() });
                let mut line = b"{\"id\":\"a\",\"board\":".to_vec();
                crate::lines::board_json(&random_board(&Board::blank_first(size), &mut random), &mut line);
                line.push(b'}');
                let short = reader.read(&line);
                // A member that only the general reader knows.
                let long = [&line[..line.len() - 1], b",\"encoding\":\"tiles\"}"].concat();
                let general = reader.read(&long);
                assert_eq!(short.id, general.id);
                assert_eq!(format!("{:?}", short.puzzle), format!("{:?}", general.puzzle));
            }
        }
    }

    #[test]
    fn lines_of_csv_are_rows() {
        assert_eq!(board(csv("").read(b"8,6,7,2,5,4,3,0,1\r\n")), "8 6 7/2 5 4/3 0 1");
        assert_eq!(board(csv("").read(b"\"8,6,7;2,5,4;3,0,1\"")), "8 6 7/2 5 4/3 0 1");
        assert_eq!(board(csv("").read(b"8 6 7/2 5 4/3 0 1")), "8 6 7/2 5 4/3 0 1");
        assert_eq!(board(csv("0,1,2,3,cost").read(b"1,2,3,0,0")), "1 2/3 0");
        let row = csv("id,board").read(b"level \"1\",1230").clone();
        assert_eq!((id_of(&row).as_deref(), board(row)), (Some("\"level \\\"1\\\"\""), "1 2/3 0".to_owned()));
        let problem = csv("0,1,2,3").read(b"1,2,3").puzzle.unwrap_err();
        assert_eq!((problem.kind, problem.errors[0].code), (ErrorKind::InvalidRequest, "ragged-row"));
        let problem = csv("id,0,1,2,3").read(b"a,1,2,3,5");
        assert_eq!(id_of(&problem).as_deref(), Some("\"a\""));
        assert!(problem.puzzle.unwrap_err().errors.iter().any(|error| error.pointer == "/board"));
    }
}
