//! Hints: a solution that a client follows move by move, and the cache of boards ahead on it.

use std::sync::Arc;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use taquin_bulk::RequestedLimits;
use taquin_solver::{Limits, Move, Path, Plan, Puzzle, SearchRequest, Solution, Trail, solver};

use crate::service::job::{Answer, Origin, Report, ServiceError};
use crate::service::metrics::Metrics;
use crate::service::pool::{CacheUsage, Pool};

/// Default time limit of a hint on boards whose search uses all its time.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Limits of a hint, with a shorter default time where the search uses all its time.
pub(crate) fn limits(plan: &Plan, requested: RequestedLimits) -> RequestedLimits {
    RequestedLimits { time: requested.time.or(plan.uses_all_time().then_some(DEFAULT_TIME)), ..requested }
}

/// The best solution known for a board.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The moves from the board to the goal; `None` if a limit ended the search without a solution.
    pub path: Option<Path>,
    /// Proven lower bound on the length of the board's solutions.
    pub lower_bound: u32,
    /// Limits in force.
    pub limits: Limits,
    /// The answer of a search that found the solution, or a solution at least as long. The search may have started at
    /// an earlier board of the solution. `None` if the client's trail was followed without a search.
    pub answer: Option<Answer>,
}

impl Hint {
    /// The hint along a trail, without a search.
    fn along(puzzle: &Puzzle, trail: Trail, limits: Limits) -> Self {
        Self { path: Some(trail.path), lower_bound: solver::lower_bound(puzzle), limits, answer: None }
    }
}

/// The solution of a search, from one of the boards on it.
#[derive(Clone, Debug)]
struct Found {
    answer: Answer,
    /// Number of moves of the solution that lead to the board.
    moves_made: usize,
}

impl Found {
    /// The solution of a search for this board.
    fn new(answer: Answer) -> Self {
        Self { answer, moves_made: 0 }
    }

    /// The moves from the board to the goal, if there is a solution.
    fn moves(&self) -> Option<&[Move]> {
        self.answer.report.solution.as_ref().map(|solution| &solution.path.moves()[self.moves_made..])
    }

    /// Number of remaining moves to the goal; `usize::MAX` without a solution.
    fn moves_left(&self) -> usize {
        self.moves().map_or(usize::MAX, <[Move]>::len)
    }

    /// Proven lower bound on the length of the board's solutions.
    fn lower_bound(&self) -> u32 {
        // A move shortens the distance by one at most.
        self.answer.report.lower_bound.saturating_sub(self.moves_made as u32)
    }

    /// Takes the trail as the solution if the trail is not longer than the known solution. So a client stays on one of
    /// several equal solutions.
    fn or(self, trail: Option<Trail>, puzzle: &Puzzle) -> Self {
        let is_better =
            |path: &Path| self.moves().is_none_or(|moves| path.len() <= moves.len() && path.moves() != moves);
        let Some(path) = trail.map(|trail| trail.path).filter(is_better) else { return self };
        let Ok(tiles) = path.replay(puzzle) else { return self };
        let known = &*self.answer.report;
        let (solution, lower_bound) = (Some(Solution { path, tiles }), self.lower_bound());
        let search = taquin_solver::Report { solution, lower_bound, ..known.search.clone() };
        let report = Report { search, percentile: None, ..*known };
        Self::new(Answer { report: Arc::new(report), origin: self.answer.origin })
    }

    fn hint(self) -> Hint {
        let path = self.moves().map(|moves| Path::from(moves.to_vec()));
        let (lower_bound, limits) = (self.lower_bound(), self.answer.report.limits);
        Hint { path, lower_bound, limits, answer: Some(self.answer) }
    }
}

/// Caches the boards ahead on solutions of earlier hints.
///
/// A client that follows a solution requests a hint for each board. A new search for each would take as long every
/// time. A search that stops at its time limit may also find another solution, whose first move undoes the client's
/// last move. So the boards ahead are cached with their solution, and each hit caches the boards after it
/// (docs/adr/0021).
#[derive(Debug)]
pub(crate) struct HintCache(Cache<HintKey, Found>);

/// A board and the limits of its hint.
type HintKey = (Puzzle, Limits);

impl HintCache {
    /// Number of boards cached ahead: a client may make several moves between hints.
    const BOARDS_AHEAD: usize = 8;

    /// Creates a cache of at most `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        // Each board counts the whole report, because the last board keeps it in memory.
        let weigh = |_: &HintKey, found: &Found| {
            let bytes = 2 * size_of::<HintKey>() + size_of::<Found>() + found.answer.report.bytes_with_request();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        // A client requests a board's hint a few times and never again, so recency predicts use and frequency does not.
        let policy = EvictionPolicy::lru();
        Self(Cache::builder().max_capacity(bytes).weigher(weigh).eviction_policy(policy).build())
    }

    /// Returns the hint for a job's start board: from the solution of an earlier hint through this board, from the
    /// trail, or from the job's search.
    ///
    /// A trail through the board replaces a search that would use all its time. Any other search runs, since it proves
    /// its solution optimal; then the trail is used if it is not longer.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub(crate) async fn hint(
        &self,
        job: SearchRequest,
        trail: Option<Trail>,
        pool: &Arc<Pool>,
        metrics: &Metrics,
    ) -> Result<Hint, ServiceError> {
        let SearchRequest { puzzle, plan, limits, .. } = job;
        let is_draining = pool.is_draining();
        let known = if is_draining { None } else { self.find(&puzzle, &limits) };
        let spares_search = |trail: &Trail| plan.uses_all_time() && trail.is_followed && !is_draining;
        let found = match (known, trail) {
            (Some(known), trail) => {
                metrics.answered_from(Origin::Cached);
                known.or(trail, &puzzle)
            }
            (None, Some(trail)) if spares_search(&trail) => return Ok(Hint::along(&puzzle, trail, limits)),
            (None, trail) => Found::new(pool.submit(job).await?).or(trail, &puzzle),
        };
        // An instant search is as fast as a cache look-up.
        if !plan.is_instant() && found.answer.report.stopped.is_none() {
            self.remember(&puzzle, &limits, &found);
        }
        Ok(found.hint())
    }

    /// Returns the solution of an earlier hint through the start of a puzzle, if it is cached for the same limits.
    fn find(&self, puzzle: &Puzzle, limits: &Limits) -> Option<Found> {
        self.0.get(&(*puzzle, *limits))
    }

    /// Entries and bytes of the cache.
    pub(crate) fn usage(&self) -> CacheUsage {
        CacheUsage::of(&self.0)
    }

    /// Caches the boards ahead of a hint. Only a shorter solution replaces an entry: a longer one would undo moves.
    fn remember(&self, puzzle: &Puzzle, limits: &Limits, found: &Found) {
        let report = &found.answer.report;
        let moves = report.solution.as_ref().map_or(&[][..], |solution| solution.path.moves());
        let mut board = *puzzle.start();
        for (moves_made, mv) in (1..).zip(moves).skip(found.moves_made).take(Self::BOARDS_AHEAD) {
            let puzzle = board.make(*mv).and_then(|_| Puzzle::try_new(board, *puzzle.goal()).ok());
            let Some(puzzle) = puzzle else { return };
            let answer = Answer { report: Arc::clone(report), origin: Origin::Cached };
            let (key, ahead) = ((puzzle, *limits), Found { answer, moves_made });
            // The look-up also marks the entry as recently used.
            if self.0.get(&key).is_none_or(|known| ahead.moves_left() < known.moves_left()) {
                self.0.insert(key, ahead);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Tables;
    use taquin_solver::solver::solve;
    use taquin_solver::{Board, Control, Encoding, Plan, RawBoard, SearchOptions, SearchRequest, Sides};

    const LIMITS: Limits = Limits { time: Duration::from_secs(9), expanded: 100_000, nodes: 100_000 };

    fn puzzle(start: &str) -> Puzzle {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        Puzzle::try_new(start, Board::blank_last(start.size())).unwrap()
    }

    fn found(puzzle: Puzzle) -> Found {
        let plan = Plan::try_new(&SearchOptions::default(), puzzle.size()).unwrap();
        let job = SearchRequest::new(puzzle, plan, LIMITS);
        let report = Report::new(solve(&job, &Tables::default(), Control::default()).unwrap(), LIMITS);
        Found::new(Answer { report: Arc::new(report), origin: Origin::Search })
    }

    fn after(puzzle: &Puzzle, mv: Move) -> Puzzle {
        let mut board = *puzzle.start();
        board.make(mv).unwrap();
        Puzzle::try_new(board, *puzzle.goal()).unwrap()
    }

    fn trail(puzzle: &Puzzle, moves: Vec<Move>) -> Option<Trail> {
        Some(Trail::of(puzzle, &moves.into()).unwrap())
    }

    #[test]
    fn cached_hints_lead_to_the_goal() {
        let (cache, mut puzzle) = (HintCache::new(1 << 20), puzzle("8 6 7/2 5 4/3 0 1"));
        let mut found = found(puzzle);
        for moves_left in (0..=31).rev() {
            assert_eq!((found.moves().unwrap().len(), found.lower_bound()), (moves_left, moves_left as u32));
            cache.remember(&puzzle, &LIMITS, &found);
            let Some(mv) = found.moves().unwrap().first().copied() else { break };
            puzzle = after(&puzzle, mv);
            found = cache.find(&puzzle, &LIMITS).unwrap();
        }
        assert_eq!((puzzle.start(), found.moves().unwrap()), (puzzle.goal(), &[][..]));
    }

    #[test]
    fn hints_are_cached_for_several_moves_ahead() {
        let (cache, puzzle) = (HintCache::new(1 << 20), puzzle("8 6 7/2 5 4/3 0 1"));
        let found = found(puzzle);
        cache.remember(&puzzle, &LIMITS, &found);
        let path = &found.answer.report.solution.as_ref().unwrap().path;
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
        let (others_found, mut expanded) = (found(other), 0);
        let mut others_ask = |times: u64| {
            for _ in 0..times {
                expanded += 1;
                cache.remember(&other, &Limits { expanded, ..LIMITS }, &others_found);
            }
        };
        others_ask(2000);
        let mut puzzle = puzzle("8 6 7/2 5 4/3 0 1");
        let mut found = found(puzzle);
        while let Some(mv) = found.moves().unwrap().first().copied() {
            cache.remember(&puzzle, &LIMITS, &found);
            others_ask(50);
            cache.0.run_pending_tasks();
            puzzle = after(&puzzle, mv);
            found = cache.find(&puzzle, &LIMITS).expect("it is cached");
        }
        assert_eq!(puzzle.start(), puzzle.goal());
        let usage = cache.usage();
        assert!(usage.bytes > 1 << 19 && usage.bytes <= 1 << 20, "{usage:?}");
    }

    #[test]
    fn an_entry_is_replaced_only_by_a_shorter_solution() {
        let (cache, puzzle) = (HintCache::new(1 << 20), puzzle("1 2 3/4 5 6/0 7 8"));
        let best = found(puzzle);
        // A solution with two wasted moves at its start.
        let report = &*best.answer.report;
        let solution = report.solution.as_ref().unwrap();
        let path = [&[Move::Right, Move::Left][..], solution.path.moves()].concat().into();
        let tiles = [&[7, 7][..], &solution.tiles].concat();
        let search = taquin_solver::Report { solution: Some(Solution { path, tiles }), ..report.search.clone() };
        let report = Report { search, ..*report };
        let worse = Found::new(Answer { report: Arc::new(report), origin: Origin::Search });
        let ahead = after(&puzzle, Move::Right);
        let length = || cache.find(&ahead, &LIMITS).unwrap().moves().unwrap().len();
        for (laid, expected) in [(&worse, 1), (&best, 1), (&worse, 1)] {
            cache.remember(&puzzle, &LIMITS, laid);
            assert_eq!(length(), expected);
        }
    }

    #[test]
    fn a_trail_replaces_a_solution_that_is_not_shorter() {
        // Two optimal solutions: around the ring of a 2×2 board in both directions.
        let puzzle = puzzle("0 3/2 1");
        let other = |moves: &[Move]| -> Vec<Move> {
            let swapped = |mv: &Move| match mv {
                Move::Up => Move::Left,
                Move::Left => Move::Up,
                Move::Down => Move::Right,
                Move::Right => Move::Down,
            };
            moves.iter().map(swapped).collect()
        };
        let found = found(puzzle);
        let (own, length) = (found.moves().unwrap().to_vec(), found.lower_bound());
        let equal = found.clone().or(trail(&puzzle, other(&own)), &puzzle);
        assert_eq!((equal.moves(), equal.lower_bound()), (Some(&other(&own)[..]), length));
        assert!(equal.answer.report.is_optimal());
        let detour = [other(&own)[0], other(&own)[0].inverse()];
        let longer = Trail { path: [&detour[..], &own].concat().into(), is_followed: true };
        let kept = found.clone().or(Some(longer), &puzzle);
        assert!(Arc::ptr_eq(&kept.answer.report, &found.answer.report));
        let ahead = after(&puzzle, own[0]);
        let cache = HintCache::new(1 << 20);
        cache.remember(&puzzle, &LIMITS, &found);
        let known = cache.find(&ahead, &LIMITS).unwrap();
        let followed = known.clone().or(trail(&ahead, own[1..].to_vec()), &ahead);
        assert!(Arc::ptr_eq(&followed.answer.report, &known.answer.report), "an equal one is not copied");
    }

    #[test]
    fn a_shorter_trail_has_the_bound_of_its_board() {
        let puzzle = puzzle("1 2 3/4 5 6/0 7 8");
        let best = found(puzzle);
        let detours = [Move::Right, Move::Left, Move::Up, Move::Down, Move::Right, Move::Right].to_vec();
        let solution = Some(Solution { path: detours.into(), tiles: vec![7, 7, 4, 4, 7, 8] });
        let report = &*best.answer.report;
        let search = taquin_solver::Report { solution, ..report.search.clone() };
        let report = Report { search, ..*report };
        let at = Found { answer: Answer { report: Arc::new(report), origin: Origin::Cached }, moves_made: 2 };
        let found = at.or(trail(&puzzle, vec![Move::Right, Move::Right]), &puzzle);
        // The bound of 2 belongs to a board two moves before.
        assert_eq!((found.moves().unwrap().len(), found.lower_bound()), (2, 0));
    }

    #[test]
    fn hints_are_keyed_by_limits_and_none_are_cached_without_memory() {
        let (cache, none) = (HintCache::new(1 << 20), HintCache::new(0));
        let puzzle = puzzle("1 2 3/4 5 6/0 7 8");
        let (found, ahead) = (found(puzzle), after(&puzzle, Move::Right));
        cache.remember(&puzzle, &LIMITS, &found);
        none.remember(&puzzle, &LIMITS, &found);
        none.0.run_pending_tasks();
        assert!(cache.find(&ahead, &LIMITS).is_some() && none.find(&ahead, &LIMITS).is_none());
        assert!(cache.find(&ahead, &Limits { expanded: 7, ..LIMITS }).is_none());
    }
}
