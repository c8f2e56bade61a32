//! What applies to all rows of a batch.

use taquin_solver::{Board, Encoding, Named, Puzzle, PuzzleError, Sides, Size};

use crate::http::problem::Problem;
use crate::http::request::{FieldReader, Json, LIMIT_FIELDS, NamedGoal, RequestFields, concat, goal, limits, sides};
use crate::service::{RequestedLimits, Want};

/// The goal of the rows that have none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum RowGoal {
    /// On boards of any size.
    Named(NamedGoal),
    /// On boards of its size.
    Board(Board),
}

/// What is found out about each row, and how the rows are read.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RowOptions {
    /// What is found out.
    pub(crate) want: Want,
    /// The goal of the rows that have none.
    pub(crate) goal: RowGoal,
    /// The sides of boards that are a list without rows, unless the list is square.
    pub(crate) sides: Sides,
    /// How boards that are a list without rows are encoded.
    pub(crate) encoding: Encoding,
    /// Limits of each search.
    pub(crate) limits: RequestedLimits,
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
    /// Reads the options from the parameters of a query.
    ///
    /// # Errors
    /// All errors at once.
    pub(crate) fn read(query: Vec<(String, String)>) -> Result<Self, Problem> {
        let mut fields = FieldReader::new(RequestFields { query, body: None, get_target: None }, &FIELDS);
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

    /// The goal of the rows that have none, as a text that names it.
    pub(crate) fn goal_text(&self) -> String {
        match self.goal {
            RowGoal::Named(named) => named.name().to_owned(),
            RowGoal::Board(board) => board.to_string(),
        }
    }

    /// The members of a row that it has if they are missing.
    pub(super) fn defaults(&self) -> Vec<(&'static str, Json)> {
        let Self { sides, encoding, .. } = self;
        let side = |name, side: Option<usize>| side.map(|side| (name, Json::Integer(side as i64)));
        let encoding = (*encoding != Encoding::Tiles).then(|| ("encoding", Json::String(encoding.name().to_owned())));
        let goal = ("goal", Json::String(self.goal_text()));
        [Some(goal), side("rows", sides.rows), side("cols", sides.cols), encoding].into_iter().flatten().collect()
    }

    /// The puzzle of a board that was given in rows of tiles; `None` if the options do not fit it.
    pub(super) fn puzzle(&self, board: Board) -> Option<Result<Puzzle, PuzzleError>> {
        let goal = self.goal_on(board.size())?;
        let fits = self.encoding == Encoding::Tiles && self.sides.agree_with(board.size());
        fits.then(|| Puzzle::try_new(board, goal))
    }

    /// The goal of boards of a size; `None` if it has another size.
    pub(crate) fn goal_on(&self, size: Size) -> Option<Board> {
        match self.goal {
            RowGoal::Named(named) => Some(named.on(size)),
            RowGoal::Board(goal) => (goal.size() == size).then_some(goal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &[(&str, &str)]) -> Result<RowOptions, Problem> {
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
