//! Hints: the next move of a solution that a client follows move by move, and a cache of the next boards on the
//! solution.

use std::sync::Arc;
use std::time::Duration;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use taquin_bulk::RequestedLimits;
use taquin_solver::{Limits, Move, Path, Plan, Puzzle, SearchRequest, Solution, Trail, solver};

use crate::service::job::{Answer, Origin, Report, ServiceError};
use crate::service::metrics::Metrics;
use crate::service::pool::{CacheUsage, Pool};

/// Default time limit of a hint on boards whose search uses all of its time.
const DEFAULT_TIME: Duration = Duration::from_secs(1);

/// Returns the limits of a hint. If the search uses all of its time, the default time limit is shorter.
pub(crate) fn limits(plan: &Plan, requested: RequestedLimits) -> RequestedLimits {
    RequestedLimits { time: requested.time.or(plan.uses_all_time().then_some(DEFAULT_TIME)), ..requested }
}

/// The best known solution of a board.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The moves from the board to the goal; `None` if a limit ended the search without a solution.
    pub path: Option<Path>,
    /// Proven lower bound on the length of a solution of the board.
    pub lower_bound: u32,
    /// Limits in force for the hint.
    pub limits: Limits,
    /// The answer of a search that found this solution, or a solution of at least the same length. The search may have
    /// started at an earlier board of the solution. `None` if the hint follows the client's trail without a search.
    pub answer: Option<Answer>,
}

impl Hint {
    /// Creates the hint along a trail. No search runs.
    fn along(puzzle: &Puzzle, trail: Trail, limits: Limits) -> Self {
        Self { path: Some(trail.path), lower_bound: solver::lower_bound(puzzle), limits, answer: None }
    }
}

/// The part of a search's solution that starts at one board of the solution.
#[derive(Clone, Debug)]
struct Found {
    answer: Answer,
    /// Number of moves of the whole solution that lead to the board.
    moves_made: usize,
}

impl Found {
    /// Creates the solution from the start board of the search.
    fn new(answer: Answer) -> Self {
        Self { answer, moves_made: 0 }
    }

    /// Returns the moves from the board to the goal; `None` without a solution.
    fn moves(&self) -> Option<&[Move]> {
        self.answer.report.solution.as_ref().map(|solution| &solution.path.moves()[self.moves_made..])
    }

    /// Returns the number of moves from the board to the goal; `usize::MAX` without a solution.
    fn moves_left(&self) -> usize {
        self.moves().map_or(usize::MAX, <[Move]>::len)
    }

    /// Returns the proven lower bound on the length of a solution of the board.
    fn lower_bound(&self) -> u32 {
        // A move shortens the distance by at most one.
        self.answer.report.lower_bound.saturating_sub(self.moves_made as u32)
    }

    /// Replaces the solution with the trail if the trail is not longer. So a client that follows one of several equally
    /// long solutions stays on that solution.
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

/// Caches the next boards on the solutions of earlier hints.
///
/// A client that follows a solution requests a hint for each board. Without the cache, each hint would need a new
/// search, which takes as long as the first search. A search that stops at its time limit may also find another
/// solution, whose first move undoes the last move of the client. So the cache stores the next boards of a solution,
/// and each hit adds further boards of the solution (docs/adr/0021).
#[derive(Debug)]
pub(crate) struct HintCache(Cache<HintKey, Found>);

/// A board and the limits of its hint.
type HintKey = (Puzzle, Limits);

impl HintCache {
    /// Number of next boards that a hint adds to the cache. A client may make several moves between two hints.
    const BOARDS_AHEAD: usize = 8;

    /// Creates a cache that holds at most `bytes` bytes.
    pub(crate) fn new(bytes: u64) -> Self {
        // Each entry counts the memory of the whole report, because the last entry with a report keeps the report in
        // memory.
        let weigh = |_: &HintKey, found: &Found| {
            let bytes = 2 * size_of::<HintKey>() + size_of::<Found>() + found.answer.report.bytes_with_request();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        // A client requests the hint of a board a few times and never again. So recency predicts further use, and
        // frequency does not.
        let policy = EvictionPolicy::lru();
        Self(Cache::builder().max_capacity(bytes).weigher(weigh).eviction_policy(policy).build())
    }

    /// Returns the hint for the start board of a job. The hint comes from the solution of an earlier hint through this
    /// board, from the trail, or from a search.
    ///
    /// If the search would use all of its time, a trail through the board replaces the search. Any other search runs,
    /// since the search proves its solution optimal. After the search, the trail is used if the trail is not longer.
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
        // An instant search is as fast as a look-up in the cache.
        if !plan.is_instant() && found.answer.report.stopped.is_none() {
            self.remember(&puzzle, &limits, &found);
        }
        Ok(found.hint())
    }

    /// Returns the solution of an earlier hint through the start of a puzzle; `None` if no solution is cached for the
    /// same limits.
    fn find(&self, puzzle: &Puzzle, limits: &Limits) -> Option<Found> {
        self.0.get(&(*puzzle, *limits))
    }

    /// Returns the number of entries and bytes of the cache.
    pub(crate) fn usage(&self) -> CacheUsage {
        CacheUsage::of(&self.0)
    }

    /// Caches the next boards of a hint. Only a shorter solution replaces an entry, since a longer solution could undo
    /// moves of the client.
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
        // This solution has two needless moves at its start.
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
        // The two optimal solutions move the blank around the 2×2 board in opposite directions.
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
        // The lower bound of 2 belongs to the board two moves earlier.
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
