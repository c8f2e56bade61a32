//! Hints: the next move of a solution, and the cache of boards ahead on it.

use std::sync::Arc;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use crate::domain::{Move, Puzzle, Tile};
use crate::service::job::{Answer, Job, Limits, Origin, Plan, Report, RequestedLimits, ServiceError};
use crate::service::metrics::Metrics;
use crate::service::pool::{CacheUsage, Pool};

/// Time limit of a hint whose request names none, on boards whose search uses all its time.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Limits of a hint, with a shorter default time where the search uses all its time.
pub(crate) fn limits(plan: &Plan, requested: RequestedLimits) -> RequestedLimits {
    RequestedLimits { time: requested.time.or(plan.uses_all_time().then_some(DEFAULT_TIME)), ..requested }
}

/// The next move of the best solution found.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The search that found the solution, perhaps for an earlier board on it.
    pub answer: Answer,
    /// Number of moves of the solution that lead to this board.
    moves_made: usize,
}

impl Hint {
    /// Creates the hint of a search for this board.
    pub(crate) fn new(answer: Answer) -> Self {
        Self { answer, moves_made: 0 }
    }

    /// The move and the tile that slides; none at the goal or without a solution.
    pub fn step(&self) -> Option<(Move, Tile)> {
        let solution = self.answer.report.solution.as_ref()?;
        solution.path.moves().get(self.moves_made).copied().zip(solution.tiles.get(self.moves_made).copied())
    }

    /// Remaining moves to the goal, if there is a solution.
    pub fn length(&self) -> Option<usize> {
        self.answer.report.solution.as_ref().map(|solution| solution.path.len() - self.moves_made)
    }

    /// Proven lower bound on the length of this board's solutions.
    pub fn lower_bound(&self) -> u32 {
        // A move shortens the distance by one at most.
        self.answer.report.lower_bound.saturating_sub(self.moves_made as u32)
    }

    /// True if the solution is proven optimal.
    pub fn is_optimal(&self) -> bool {
        self.length() == Some(self.lower_bound() as usize)
    }
}

/// Caches the boards ahead on solutions of earlier hints.
///
/// A client that follows a solution requests a hint for each board. A new search for each would take as long every
/// time. A search that stops at its time limit may also find another solution, whose first move undoes the last one. So
/// the boards ahead are cached with their solution, and each hit caches the boards after it (docs/adr/0029).
#[derive(Debug)]
pub(crate) struct HintCache(Cache<HintKey, HintEntry>);

/// A board and the limits of its hint.
#[derive(PartialEq, Eq, Hash, Debug)]
struct HintKey {
    puzzle: Puzzle,
    limits: Limits,
}

#[derive(Clone, Debug)]
struct HintEntry {
    report: Arc<Report>,
    moves_made: usize,
}

impl HintEntry {
    /// Remaining moves to the goal.
    fn moves_left(&self) -> usize {
        self.report.solution.as_ref().map_or(usize::MAX, |solution| solution.path.len() - self.moves_made)
    }
}

impl HintCache {
    /// Number of boards cached ahead: a client may make several moves between hints.
    const BOARDS_AHEAD: usize = 8;

    /// Creates a cache of at most so many bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        // A report counts once for each of its boards, because the last of them keeps it alive.
        let weigh = |_: &HintKey, entry: &HintEntry| {
            let bytes = 2 * size_of::<HintKey>() + size_of::<HintEntry>() + entry.report.bytes_with_job();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        // A client requests the hints of a board a few times and never again, so recency predicts use and frequency
        // does not.
        let policy = EvictionPolicy::lru();
        Self(Cache::builder().max_capacity(bytes).weigher(weigh).eviction_policy(policy).build())
    }

    /// Returns the next move for a job's start board: from a solution of an earlier hint that leads over this board, or
    /// else from the job's search.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub(crate) async fn hint(&self, job: Job, pool: &Arc<Pool>, metrics: &Metrics) -> Result<Hint, ServiceError> {
        let Job { puzzle, plan, limits, .. } = job;
        let known = if pool.is_draining() { None } else { self.find(&puzzle, &limits) };
        let hint = match known {
            Some(hint) => {
                metrics.answered_from(Origin::Cached);
                hint
            }
            None => Hint::new(pool.submit(job).await?),
        };
        // An instant search is as fast as a cache look-up.
        if !plan.is_instant() && hint.answer.report.stopped.is_none() {
            self.remember(&puzzle, &limits, &hint);
        }
        Ok(hint)
    }

    /// Returns the cached hint of a board.
    pub(crate) fn find(&self, puzzle: &Puzzle, limits: &Limits) -> Option<Hint> {
        let HintEntry { report, moves_made } = self.0.get(&HintKey { puzzle: *puzzle, limits: *limits })?;
        Some(Hint { answer: Answer { report, origin: Origin::Cached }, moves_made })
    }

    /// Entries and bytes of the cache.
    pub(crate) fn usage(&self) -> CacheUsage {
        CacheUsage::of(&self.0)
    }

    /// Caches the boards ahead of a hint. An entry is replaced only by a shorter solution, because a longer one would
    /// undo moves.
    fn remember(&self, puzzle: &Puzzle, limits: &Limits, hint: &Hint) {
        let report = &hint.answer.report;
        let moves = report.solution.as_ref().map_or(&[][..], |solution| solution.path.moves());
        let mut board = *puzzle.start();
        for (moves_made, mv) in (1..).zip(moves).skip(hint.moves_made).take(Self::BOARDS_AHEAD) {
            let puzzle = board.make(*mv).and_then(|_| Puzzle::try_new(board, *puzzle.goal()).ok());
            let Some(puzzle) = puzzle else { return };
            let (key, entry) =
                (HintKey { puzzle, limits: *limits }, HintEntry { report: Arc::clone(report), moves_made });
            // The look-up also marks the entry as recently used.
            if self.0.get(&key).is_none_or(|known| entry.moves_left() < known.moves_left()) {
                self.0.insert(key, entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Encoding, RawBoard, Sides};
    use crate::service::{Job, Plan, SearchContext, SearchOptions, Solution, Tables, solve};

    const LIMITS: Limits = Limits { time: Duration::from_secs(9), expanded: 100_000, nodes: 100_000 };

    fn puzzle(start: &str) -> Puzzle {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        Puzzle::try_new(start, Board::blank_last(start.size())).unwrap()
    }

    fn hint(puzzle: Puzzle) -> Hint {
        let plan = Plan::try_new(&SearchOptions::default(), puzzle.size()).unwrap();
        let job = Job::new(puzzle, plan, LIMITS);
        let report = solve(&job, &Tables::default(), SearchContext::default()).unwrap();
        Hint::new(Answer { report: Arc::new(report), origin: Origin::Search })
    }

    #[test]
    fn cached_hints_lead_to_the_goal() {
        let (cache, mut puzzle) = (HintCache::new(1 << 20), puzzle("8 6 7/2 5 4/3 0 1"));
        let mut hint = hint(puzzle);
        for moves_left in (0..=31).rev() {
            assert_eq!(
                (hint.length(), hint.lower_bound(), hint.is_optimal()),
                (Some(moves_left), moves_left as u32, true)
            );
            cache.remember(&puzzle, &LIMITS, &hint);
            let Some((mv, tile)) = hint.step() else { break };
            let mut board = *puzzle.start();
            assert_eq!(board.make(mv), Some(tile));
            puzzle = Puzzle::try_new(board, *puzzle.goal()).unwrap();
            hint = cache.find(&puzzle, &LIMITS).unwrap();
        }
        assert_eq!((puzzle.start(), hint.step()), (puzzle.goal(), None));
    }

    #[test]
    fn hints_are_cached_for_several_moves_ahead() {
        let (cache, puzzle) = (HintCache::new(1 << 20), puzzle("8 6 7/2 5 4/3 0 1"));
        let hint = hint(puzzle);
        cache.remember(&puzzle, &LIMITS, &hint);
        let path = &hint.answer.report.solution.as_ref().unwrap().path;
        let known = path.steps(puzzle.start()).map(|step| {
            let puzzle = Puzzle::try_new(step.board, *puzzle.goal()).unwrap();
            cache.find(&puzzle, &LIMITS).is_some()
        });
        let known: Vec<bool> = known.collect();
        assert_eq!(known.iter().filter(|is_known| **is_known).count(), HintCache::BOARDS_AHEAD);
        assert!(known[..HintCache::BOARDS_AHEAD].iter().all(|is_known| *is_known));
    }

    #[test]
    fn a_followed_solution_stays_cached_beside_many_others() {
        let (cache, other) = (HintCache::new(1 << 20), puzzle("8 7 6/0 4 1/2 5 3"));
        let (others_hint, mut expanded) = (hint(other), 0);
        let mut others_ask = |times: u64| {
            for _ in 0..times {
                expanded += 1;
                cache.remember(&other, &Limits { expanded, ..LIMITS }, &others_hint);
            }
        };
        others_ask(2000);
        let mut puzzle = puzzle("8 6 7/2 5 4/3 0 1");
        let mut hint = hint(puzzle);
        while let Some((mv, _)) = hint.step() {
            cache.remember(&puzzle, &LIMITS, &hint);
            others_ask(50);
            cache.0.run_pending_tasks();
            let mut board = *puzzle.start();
            board.make(mv).unwrap();
            puzzle = Puzzle::try_new(board, *puzzle.goal()).unwrap();
            hint = cache.find(&puzzle, &LIMITS).expect("it is cached");
        }
        assert_eq!(puzzle.start(), puzzle.goal());
        let usage = cache.usage();
        assert!(usage.bytes > 1 << 19 && usage.bytes <= 1 << 20, "{usage:?}");
    }

    #[test]
    fn an_entry_is_replaced_only_by_a_shorter_solution() {
        let (cache, puzzle) = (HintCache::new(1 << 20), puzzle("1 2 3/4 5 6/0 7 8"));
        let best = hint(puzzle);
        // A solution with two wasted moves at its start.
        let report = &*best.answer.report;
        let solution = report.solution.as_ref().unwrap();
        let path = [&[Move::Right, Move::Left][..], solution.path.moves()].concat().into();
        let tiles = [&[7, 7][..], &solution.tiles].concat();
        let report = Report { solution: Some(Solution { path, tiles }), ..report.clone() };
        let worse = Hint::new(Answer { report: Arc::new(report), origin: Origin::Search });
        let mut ahead = *puzzle.start();
        ahead.make(Move::Right).unwrap();
        let ahead = Puzzle::try_new(ahead, *puzzle.goal()).unwrap();
        let length = || cache.find(&ahead, &LIMITS).unwrap().length();
        for (laid, expected) in [(&worse, 1), (&best, 1), (&worse, 1)] {
            cache.remember(&puzzle, &LIMITS, laid);
            assert_eq!(length(), Some(expected));
        }
    }

    #[test]
    fn hints_are_keyed_by_limits_and_none_are_cached_without_memory() {
        let (cache, none) = (HintCache::new(1 << 20), HintCache::new(0));
        let puzzle = puzzle("1 2 3/4 5 6/0 7 8");
        let hint = hint(puzzle);
        let mut ahead = *puzzle.start();
        ahead.make(Move::Right).unwrap();
        let ahead = Puzzle::try_new(ahead, *puzzle.goal()).unwrap();
        cache.remember(&puzzle, &LIMITS, &hint);
        none.remember(&puzzle, &LIMITS, &hint);
        none.0.run_pending_tasks();
        assert!(cache.find(&ahead, &LIMITS).is_some() && none.find(&ahead, &LIMITS).is_none());
        assert!(cache.find(&ahead, &Limits { expanded: 7, ..LIMITS }).is_none());
    }
}
