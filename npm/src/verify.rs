//! `verify`: whether moves are legal, the final board, its distance from the goal, and which moves were mistakes.

use serde_json::{Value, json};
use taquin_bulk::fields::{
    ATTEMPT_FIELDS, BOARD_FIELDS, FieldReader, LIMIT_FIELDS, attempt, board_and_goal, concat, limits,
    reject_combination,
};
use taquin_bulk::{RequestedLimits, sentence};
use taquin_solver::heuristic::DistanceTable;
use taquin_solver::solver::{AttemptCheck, check_attempt, distances_along};
use taquin_solver::{
    AttemptedMove, Board, Distance, IllegalMove, Move, Observer, Path, Plan, Puzzle, SearchOptions, Step, StopReason,
    TableSource, named,
};

use crate::problem::Problem;
use crate::reply;
use crate::solve::{no_result, search};
use crate::tables::TABLES;

/// The fields of a request.
pub(crate) const FIELDS: [&str; BOARD_FIELDS.len() + LIMIT_FIELDS.len() + ATTEMPT_FIELDS.len() + 2] =
    concat(&[&BOARD_FIELDS, &LIMIT_FIELDS, &ATTEMPT_FIELDS, &["include", "exact"]]);

/// Optional parts of a response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Include {
    /// The distance after each move.
    Steps,
}

named!(Include { Steps => "steps" });

/// Checks moves.
pub(crate) fn verify(mut fields: FieldReader, observer: Option<&dyn Observer>) -> Result<Value, Problem> {
    let boards = board_and_goal(&mut fields);
    let size = boards.map(|(board, _)| board.size());
    let attempt = attempt(&mut fields, size);
    let lists_steps = fields.choices("include").contains(&Include::Steps);
    let is_exact = fields.flag("exact");
    if let Some(size) = size.filter(|size| is_exact && !Plan::is_proven_by_auto(*size)) {
        let detail = format!(
            "optimal lengths are proven on boards of up to 16 cells, not on {size} boards; omit `exact` for bounds"
        );
        reject_combination(&mut fields, "exact", detail);
    }
    let requested = limits(&mut fields);
    let read_as = fields.read_as();
    let ((start, goal), attempt) = fields.finish(boards.zip(attempt))?;
    let mut check = check_attempt(&start, &goal, &attempt, TABLES.small());
    let size = start.size();
    let is_searched = Plan::is_proven_by_auto(size) && !DistanceTable::serves(size);
    match Puzzle::try_new(start, goal) {
        Ok(puzzle) if is_searched && (is_exact || lists_steps) => {
            let walk = OptimalWalk { requested, observer, board: start, goal, solution: Vec::new() };
            walk.prove(&puzzle, &mut check, lists_steps)?;
        }
        _ if lists_steps => check.steps = distances_along(&start, &goal, &check, TABLES.small()),
        _ => {}
    }
    Ok(reply::response(reply(&start, &goal, &check), read_as))
}

fn reply(start: &Board, goal: &Board, check: &AttemptCheck) -> reply::Members {
    let AttemptCheck { played, distances, percentile, steps } = check;
    let (of_start, of_end) = (distances.map(|(of_start, _)| of_start), distances.map(|(_, of_end)| of_end));
    let (length, solves) = (played.path.len(), played.illegal.is_none() && played.end == *goal);
    let mut reply = reply::members(json!({
        "legal": played.illegal.is_none(),
        "illegal": played.illegal.as_ref().map(illegal),
        "solves": solves,
        "optimal": solves && of_start.is_some_and(|of_start| of_start.lower_bound as usize == length),
        "solvable": distances.is_some(),
        "length": length,
        "lengths": reply::lengths(&played.path),
        "alg": played.path.alg(),
        "scramble": played.path.scramble(),
    }));
    reply.extend(reply::members(reply::distance(of_start)));
    reply.extend(reply::members(json!({
        "percentile": percentile,
        "remaining": reply::distance(of_end),
        "start": reply::rows(start),
        "goal": reply::rows(goal),
        "final": reply::rows(&played.end),
    })));
    if let Some((steps, of_start)) = steps.as_ref().zip(of_start) {
        reply.insert("steps".to_owned(), listed(start, &played.path, of_start, steps));
    }
    reply
}

/// The first illegal move.
fn illegal(illegal: &IllegalMove) -> Value {
    let (mv, tile) = match illegal.attempted {
        AttemptedMove::Move(mv) => (Some(mv.letter()), None),
        AttemptedMove::Tile(tile) => (None, Some(tile)),
    };
    json!({"index": illegal.at, "move": mv, "tile": tile, "detail": sentence(&illegal.to_string())})
}

/// Lists the moves made with the distances after them.
fn listed(start: &Board, path: &Path, of_start: Distance, distances: &[Distance]) -> Value {
    let mut before = of_start;
    let step = |(Step { mv, tile, board }, after): (Step, &Distance)| {
        let mistake = before.length.zip(after.length).map(|(before, after)| after > before);
        before = *after;
        json!({
            "move": mv.letter(),
            "tile": tile,
            "blank": board.blank(),
            "remaining": reply::distance(Some(*after)),
            "mistake": mistake,
            // The move itself and the move that undoes it.
            "cost": mistake.map(|is_mistake| if is_mistake { 2 } else { 0 }),
        })
    };
    path.steps(start).zip(distances).map(step).collect()
}

/// A board with an optimal solution. Each move updates the board and the solution.
struct OptimalWalk<'a> {
    requested: RequestedLimits,
    observer: Option<&'a dyn Observer>,
    board: Board,
    goal: Board,
    /// The optimal solution in reverse order: the last move comes first.
    solution: Vec<Move>,
}

impl OptimalWalk<'_> {
    /// Replaces the bounds of a check with exact distances.
    fn prove(mut self, puzzle: &Puzzle, check: &mut AttemptCheck, lists_steps: bool) -> Result<(), Problem> {
        self.go_to(*puzzle.start())?;
        let of_start = self.distance();
        if lists_steps {
            let mut steps = Vec::with_capacity(check.played.path.len());
            for mv in check.played.path.moves() {
                self.step(*mv)?;
                steps.push(self.distance());
            }
            check.steps = Some(steps);
        } else {
            self.go_to(check.played.end)?;
        }
        check.distances = Some((of_start, self.distance()));
        check.percentile = of_start.percentile(puzzle.goal(), TABLES.small());
        Ok(())
    }

    /// Moves to another board, and searches for an optimal solution of that board.
    fn go_to(&mut self, board: Board) -> Result<(), Problem> {
        let options = SearchOptions { require_optimal: true, ..SearchOptions::default() };
        let plan = Plan::try_new(&options, board.size()).expect("`auto` proves solutions optimal");
        self.board = board;
        self.solution = self.search(plan)?.ok_or_else(no_result)?;
        Ok(())
    }

    /// Makes a legal move, and updates the solution. A search runs only if the move leaves the solution.
    fn step(&mut self, mv: Move) -> Result<(), Problem> {
        self.board.make(mv).expect("the move is legal");
        if self.solution.last() == Some(&mv) {
            self.solution.pop();
            return Ok(());
        }
        let shorter = match self.solution.len().checked_sub(1) {
            Some(depth) => self.search(Plan::within(self.board.size(), depth as u32))?,
            None => None,
        };
        match shorter {
            Some(solution) => self.solution = solution,
            None => self.solution.push(mv.inverse()),
        }
        Ok(())
    }

    /// Searches for a solution of the board. Returns the moves in reverse order; `None` if the depth limit of the plan
    /// excludes all solutions.
    fn search(&self, plan: Plan) -> Result<Option<Vec<Move>>, Problem> {
        let puzzle = Puzzle::try_new(self.board, self.goal).expect("moves preserve reachability");
        let (report, limits) = search(puzzle, plan, self.requested, self.observer)?;
        match report.stopped {
            None => Ok(report.solution.map(|found| found.path.moves().iter().rev().copied().collect())),
            Some(StopReason::Depth) => Ok(None),
            Some(stop) => {
                let instead = "omit `exact` and `include`: the bounds are known without a search";
                Err(Problem::without("a proof of the optimal length", instead, limits, stop))
            }
        }
    }

    fn distance(&self) -> Distance {
        Distance::proven(self.solution.len() as u32)
    }
}
