//! Options that apply to all rows of a batch.

use taquin_solver::{Board, Encoding, Named, Puzzle, Sides, Size};

use crate::label::{RequestedLimits, Want};

use crate::fields::{FieldReader, Json, LIMIT_FIELDS, NamedGoal, concat, goal, limits, puzzle, sides};
use crate::row_error::RowError;

/// The goal of the rows that name no goal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum RowGoal {
    /// A named goal, for boards of any size.
    Named(NamedGoal),
    /// A goal board, which fits only boards of the same size.
    Board(Board),
}

impl RowGoal {
    /// Parses a name, or a board in any notation. `sides` gives the shape of a flat list.
    ///
    /// # Errors
    /// All errors at once.
    pub fn parse(text: &str, sides: Sides) -> Result<Self, RowError> {
        if let Some(named) = NamedGoal::from_name(text) {
            return Ok(Self::Named(named));
        }
        let mut fields = FieldReader::new(vec![("goal".to_owned(), text.to_owned())], None, &["goal"]);
        let board = goal(&mut fields, None, sides, Encoding::Tiles);
        fields.finish(board).map(Self::Board)
    }

    /// The goal for boards of a size; `None` if the goal is a board of another size.
    pub fn on(self, size: Size) -> Option<Board> {
        match self {
            Self::Named(named) => Some(named.on(size)),
            Self::Board(goal) => (goal.size() == size).then_some(goal),
        }
    }
}

/// Options of all rows: kind and limits of the labels, and how to read boards.
#[derive(Clone, PartialEq, Debug)]
pub struct RowOptions {
    /// Kind of the labels.
    pub want: Want,
    /// The goal of the rows that name no goal.
    pub goal: RowGoal,
    /// Sides of the boards. A flat list without sides must be square.
    pub sides: Sides,
    /// Encoding of boards in flat lists.
    pub encoding: Encoding,
    /// Limits of each search.
    pub limits: RequestedLimits,
}

const OWN_FIELDS: [&str; 5] = ["want", "goal", "rows", "cols", "encoding"];
const FIELDS: [&str; OWN_FIELDS.len() + LIMIT_FIELDS.len()] = concat(&[&OWN_FIELDS, &LIMIT_FIELDS]);

impl Default for RowOptions {
    fn default() -> Self {
        Self {
            want: Want::Length,
            goal: RowGoal::Named(NamedGoal::BlankLast),
            sides: Sides::default(),
            encoding: Encoding::Tiles,
            limits: RequestedLimits::default(),
        }
    }
}

impl RowOptions {
    /// Reads the options from the parameters of a query string.
    ///
    /// # Errors
    /// All errors at once.
    pub fn read(query: Vec<(String, String)>) -> Result<Self, RowError> {
        let mut fields = FieldReader::new(query, None, &FIELDS);
        let want = fields.choice("want", None).unwrap_or_default();
        let (sides, encoding) = (sides(&mut fields), fields.choice("encoding", None).unwrap_or_default());
        let goal = if fields.has("goal") && !fields.is_choice::<NamedGoal>("goal") {
            goal(&mut fields, None, sides, encoding).map(RowGoal::Board)
        } else {
            Some(RowGoal::Named(fields.choice("goal", None).unwrap_or(NamedGoal::BlankLast)))
        };
        let limits = limits(&mut fields);
        let goal = fields.finish(goal)?;
        Ok(Self { want, goal, sides, encoding, limits })
    }

    /// Returns the field `goal` as text: the name, or the board.
    pub fn goal_text(&self) -> String {
        match self.goal {
            RowGoal::Named(named) => named.name().to_owned(),
            RowGoal::Board(board) => board.to_string(),
        }
    }

    /// Returns the members that the options add to a row without these members.
    pub(crate) fn defaults(&self) -> Vec<(&'static str, Json)> {
        let Self { sides, encoding, .. } = self;
        let side = |name, side: Option<usize>| side.map(|side| (name, Json::Integer(side as i64)));
        let encoding = (*encoding != Encoding::Tiles).then(|| ("encoding", Json::String(encoding.name().to_owned())));
        let goal = ("goal", Json::String(self.goal_text()));
        [Some(goal), side("rows", sides.rows), side("cols", sides.cols), encoding].into_iter().flatten().collect()
    }

    /// Returns the puzzle of a board that was written as rows of tiles. Returns `None` if the options do not fit such a
    /// board, so that the general reader must read the row.
    pub(crate) fn puzzle(&self, board: Board) -> Option<Result<Puzzle, RowError>> {
        let goal = self.goal.on(board.size())?;
        let fits = self.encoding == Encoding::Tiles && self.sides.agree_with(board.size());
        fits.then(|| puzzle(board, goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &[(&str, &str)]) -> Result<RowOptions, RowError> {
        RowOptions::read(query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn without_parameters_lengths_to_the_usual_goal_are_found() {
        assert_eq!(read(&[]).unwrap(), RowOptions::default());
    }

    #[test]
    fn a_goal_is_a_name_or_a_board() {
        let goal = |text| read(&[("goal", text)]).unwrap().goal;
        assert_eq!(goal("snail"), RowGoal::Named(NamedGoal::Snail));
        let RowGoal::Board(board) = goal("1 2 3/4 0 5") else { panic!("a board") };
        assert_eq!(board.to_string(), "1 2 3/4 0 5");
        let positions = read(&[("goal", "[8,0,1,2,3,4,5,6,7]"), ("encoding", "positions")]).unwrap().goal;
        assert_eq!(positions, RowGoal::Board(Board::blank_last(Size::try_from((3, 3)).unwrap())));
    }

    #[test]
    fn all_errors_are_listed() {
        let problem =
            read(&[("want", "height"), ("goal", "snake"), ("rows", "1"), ("limits.time_ms", "0"), ("x", "1")]);
        let mut pointers: Vec<_> = problem.unwrap_err().errors.into_iter().map(|error| error.pointer).collect();
        pointers.sort();
        assert_eq!(pointers, ["/goal", "/limits/time_ms", "/rows", "/want", "/x"]);
    }
}
