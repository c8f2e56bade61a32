//! Hints: the next move of a solution, and the solutions that are being followed.

use std::sync::Arc;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use crate::domain::{Move, Puzzle, Tile};
use crate::service::job::{Job, LimitWish, Limits};
use crate::service::metrics::Metrics;
use crate::service::plan::Plan;
use crate::service::pool::{Kept, Pool};
use crate::service::report::{Answer, Origin, Report, ServiceError};

/// Time limit of a hint whose request names none, on boards whose search uses all its time.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// The limits to apply to a hint, with a shorter default time where the search uses all the time that it has.
pub(super) fn limits(plan: &Plan, wish: LimitWish) -> LimitWish {
    LimitWish { time: wish.time.or(plan.goes_on().then_some(DEFAULT_TIME)), ..wish }
}

/// The next move of the best solution that was found.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The search that found it; it may have been that of an earlier board.
    pub answer: Answer,
    /// Moves of its solution that led to this board.
    made: usize,
}

impl Hint {
    /// From a search for this board.
    pub(super) fn new(answer: Answer) -> Self {
        Self { answer, made: 0 }
    }

    /// The move, and the tile that slides; none at the goal, or without a solution.
    pub fn step(&self) -> Option<(Move, Tile)> {
        let solution = self.answer.report.solution.as_ref()?;
        solution.path.moves().get(self.made).copied().zip(solution.tiles.get(self.made).copied())
    }

    /// Moves from this board to the goal by the solution, if there is one.
    pub fn length(&self) -> Option<usize> {
        self.answer.report.solution.as_ref().map(|solution| solution.path.len() - self.made)
    }

    /// No solution of this board is shorter.
    pub fn lower_bound(&self) -> u32 {
        // Each move leads at most one nearer to the goal.
        self.answer.report.lower_bound.saturating_sub(self.made as u32)
    }

    /// Whether the solution is proven to be as short as any.
    pub fn is_optimal(&self) -> bool {
        self.length() == Some(self.lower_bound() as usize)
    }
}

/// What is left of solutions at the next boards along them.
///
/// Who follows a solution asks at each board anew. To search anew would take as long each time; and
/// where a search ends with its time rather than with a proof, the next one may find another way, and
/// lead back. So the boards ahead are remembered with the solution that leads on, and each of them
/// that is asked about has those after it remembered (docs/adr/0029).
#[derive(Debug)]
pub(super) struct Trails(Cache<Spot, Trail>);

/// Where somebody may ask next, and with which limits.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Spot {
    puzzle: Puzzle,
    limits: Limits,
}

#[derive(Clone, Debug)]
struct Trail {
    report: Arc<Report>,
    made: usize,
}

impl Trail {
    /// Moves to the goal.
    fn left(&self) -> usize {
        self.report.solution.as_ref().map_or(usize::MAX, |solution| solution.path.len() - self.made)
    }
}

impl Trails {
    /// How many boards ahead are remembered: who follows a solution may make some moves before asking again.
    const AHEAD: usize = 8;

    /// So many bytes of them.
    pub(super) fn new(bytes: u64) -> Self {
        // A report counts at each of its boards: it is kept as long as the last of them.
        let weigh = |_: &Spot, trail: &Trail| {
            let bytes = 2 * size_of::<Spot>() + size_of::<Trail>() + trail.report.bytes_with_job();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        // Who follows a solution asks a few times at each board and never again: how often says nothing, how lately does.
        let lately = EvictionPolicy::lru();
        Self(Cache::builder().max_capacity(bytes).weigher(weigh).eviction_policy(lately).build())
    }

    /// Returns the next move for a job's start board: from a solution of an earlier hint that leads over this board, or
    /// else from the job's search.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub(super) async fn hint(&self, job: Job, pool: &Arc<Pool>, metrics: &Metrics) -> Result<Hint, ServiceError> {
        let Job { puzzle, plan, limits, .. } = job;
        let known = if pool.is_draining() { None } else { self.find(&puzzle, &limits) };
        let hint = match known {
            Some(hint) => {
                metrics.answered_from(Origin::Kept);
                hint
            }
            None => Hint::new(pool.submit(job).await?),
        };
        // An instant search is as fast as a look-up.
        if !plan.is_instant() && hint.answer.report.stopped.is_none() {
            self.lay(&puzzle, &limits, &hint);
        }
        Ok(hint)
    }

    /// The hint at a board along a solution.
    pub(super) fn find(&self, puzzle: &Puzzle, limits: &Limits) -> Option<Hint> {
        let Trail { report, made } = self.0.get(&Spot { puzzle: *puzzle, limits: *limits })?;
        Some(Hint { answer: Answer { report, origin: Origin::Kept }, made })
    }

    /// How much is remembered.
    pub(super) fn kept(&self) -> Kept {
        Kept::of(&self.0)
    }

    /// Remembers the boards ahead of a hint, but none by a way that is no shorter than the one that is known: who
    /// followed that would be led back.
    pub(super) fn lay(&self, puzzle: &Puzzle, limits: &Limits, hint: &Hint) {
        let report = &hint.answer.report;
        let moves = report.solution.as_ref().map_or(&[][..], |solution| solution.path.moves());
        let mut board = *puzzle.start();
        for (made, mv) in (1..).zip(moves).skip(hint.made).take(Self::AHEAD) {
            let puzzle = board.make(*mv).and_then(|_| Puzzle::try_new(board, *puzzle.goal()).ok());
            let Some(puzzle) = puzzle else { return };
            let (spot, trail) = (Spot { puzzle, limits: *limits }, Trail { report: Arc::clone(report), made });
            // To look at it keeps it, too.
            if self.0.get(&spot).is_none_or(|known| trail.left() < known.left()) {
                self.0.insert(spot, trail);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Encoding, RawBoard, Sides};
    use crate::service::{Job, Means, Plan, Solution, Tables, Wish, solve};

    const LIMITS: Limits = Limits { time: Duration::from_secs(9), expanded: 100_000, nodes: 100_000 };

    fn puzzle(start: &str) -> Puzzle {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        Puzzle::try_new(start, Board::blank_last(start.size())).unwrap()
    }

    fn hint(puzzle: Puzzle) -> Hint {
        let plan = Plan::try_new(&Wish::default(), puzzle.size()).unwrap();
        let job = Job { puzzle, plan, limits: LIMITS, expansions: 0, states: false };
        let report = solve(&job, &Tables::default(), Means::default()).unwrap();
        Hint::new(Answer { report: Arc::new(report), origin: Origin::Search })
    }

    #[test]
    fn a_trail_leads_to_the_goal_one_move_at_a_time() {
        let (trails, mut puzzle) = (Trails::new(1 << 20), puzzle("8 6 7/2 5 4/3 0 1"));
        let mut hint = hint(puzzle);
        for left in (0..=31).rev() {
            assert_eq!((hint.length(), hint.lower_bound(), hint.is_optimal()), (Some(left), left as u32, true));
            trails.lay(&puzzle, &LIMITS, &hint);
            let Some((mv, tile)) = hint.step() else { break };
            let mut board = *puzzle.start();
            assert_eq!(board.make(mv), Some(tile));
            puzzle = Puzzle::try_new(board, *puzzle.goal()).unwrap();
            hint = trails.find(&puzzle, &LIMITS).unwrap();
        }
        assert_eq!((puzzle.start(), hint.step()), (puzzle.goal(), None));
    }

    #[test]
    fn some_moves_may_be_made_before_it_is_asked_again() {
        let (trails, puzzle) = (Trails::new(1 << 20), puzzle("8 6 7/2 5 4/3 0 1"));
        let hint = hint(puzzle);
        trails.lay(&puzzle, &LIMITS, &hint);
        let path = &hint.answer.report.solution.as_ref().unwrap().path;
        let known = path.steps(puzzle.start()).map(|step| {
            let puzzle = Puzzle::try_new(step.board, *puzzle.goal()).unwrap();
            trails.find(&puzzle, &LIMITS).is_some()
        });
        let known: Vec<bool> = known.collect();
        assert_eq!(known.iter().filter(|is_known| **is_known).count(), Trails::AHEAD);
        assert!(known[..Trails::AHEAD].iter().all(|is_known| *is_known));
    }

    #[test]
    fn who_follows_a_solution_reaches_its_end_however_many_others_ask() {
        let (trails, other) = (Trails::new(1 << 20), puzzle("8 7 6/0 4 1/2 5 3"));
        let (others_hint, mut asked) = (hint(other), 0);
        let mut others_ask = |times: u64| {
            for _ in 0..times {
                asked += 1;
                trails.lay(&other, &Limits { expanded: asked, ..LIMITS }, &others_hint);
            }
        };
        others_ask(2000);
        let mut puzzle = puzzle("8 6 7/2 5 4/3 0 1");
        let mut hint = hint(puzzle);
        while let Some((mv, _)) = hint.step() {
            trails.lay(&puzzle, &LIMITS, &hint);
            others_ask(50);
            trails.0.run_pending_tasks();
            let mut board = *puzzle.start();
            board.make(mv).unwrap();
            puzzle = Puzzle::try_new(board, *puzzle.goal()).unwrap();
            hint = trails.find(&puzzle, &LIMITS).expect("it is remembered");
        }
        assert_eq!(puzzle.start(), puzzle.goal());
        let kept = trails.kept();
        assert!(kept.bytes > 1 << 19 && kept.bytes <= 1 << 20, "{kept:?}");
    }

    #[test]
    fn a_trail_gives_way_to_a_shorter_one_alone() {
        let (trails, puzzle) = (Trails::new(1 << 20), puzzle("1 2 3/4 5 6/0 7 8"));
        let best = hint(puzzle);
        // To and fro before it begins.
        let report = &*best.answer.report;
        let solution = report.solution.as_ref().unwrap();
        let path = [&[Move::Right, Move::Left][..], solution.path.moves()].concat().into();
        let tiles = [&[7, 7][..], &solution.tiles].concat();
        let report = Report { solution: Some(Solution { path, tiles }), ..report.clone() };
        let worse = Hint::new(Answer { report: Arc::new(report), origin: Origin::Search });
        let mut ahead = *puzzle.start();
        ahead.make(Move::Right).unwrap();
        let ahead = Puzzle::try_new(ahead, *puzzle.goal()).unwrap();
        let length = || trails.find(&ahead, &LIMITS).unwrap().length();
        for (laid, expected) in [(&worse, 1), (&best, 1), (&worse, 1)] {
            trails.lay(&puzzle, &LIMITS, laid);
            assert_eq!(length(), Some(expected));
        }
    }

    #[test]
    fn other_limits_are_another_question_and_no_memory_keeps_nothing() {
        let (trails, none) = (Trails::new(1 << 20), Trails::new(0));
        let puzzle = puzzle("1 2 3/4 5 6/0 7 8");
        let hint = hint(puzzle);
        let mut ahead = *puzzle.start();
        ahead.make(Move::Right).unwrap();
        let ahead = Puzzle::try_new(ahead, *puzzle.goal()).unwrap();
        trails.lay(&puzzle, &LIMITS, &hint);
        none.lay(&puzzle, &LIMITS, &hint);
        none.0.run_pending_tasks();
        assert!(trails.find(&ahead, &LIMITS).is_some() && none.find(&ahead, &LIMITS).is_none());
        assert!(trails.find(&ahead, &Limits { expanded: 7, ..LIMITS }).is_none());
    }
}
