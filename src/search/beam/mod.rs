//! Beam search.

mod candidate;
mod guide;
mod level;
mod order;
mod recent;

pub(super) use guide::{ByHeuristic, Guide, Promise};

use std::sync::Arc;

use super::{Meter, Progress, Space, State, Stats, StopReason};
use crate::domain::{Move, Packed, Path};
use candidate::{Candidate, Rank, Step};
use level::{Closing, Expanding, Level, Origin, Parts, Workplace};
use order::{ByRank, Place};
use recent::Seen;

/// What a search of several parts has left, and what it spent.
pub(super) struct Spending<'a> {
    pub(super) meter: Meter<'a>,
    pub(super) stats: Stats,
}

/// How a beam is to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beam {
    /// The most boards of a level that are gone on with.
    pub(super) width: usize,
    /// Only solutions shorter than this are of interest.
    pub(super) shorter_than: usize,
}

impl Beam {
    /// Beams as wide are worth the help of others.
    const WIDTH_FOR_MANY: usize = 256;

    /// Memory for each board that is gone on with: how it came about, in lists that are as long as levels, which an
    /// allocator may keep for a time of the beam before; and half of that again for the process around it.
    pub(super) const BYTES_PER_NODE: u64 = 3 * size_of::<Step>() as u64;

    /// The greatest width with which a beam of so many levels takes no more than so many nodes do: the boards of the
    /// level in hand, and what may come of them, take as much as some more levels.
    pub(super) fn widest<P: Packed, M>(nodes: u64, levels: u64) -> u64 {
        // The boards of two levels; up to three successors of each, in lists that double as they grow, and in order;
        // and those of them that are gone on with, twice.
        let of_board = 2 * size_of::<State<P>>()
            + (2 * 3 + 2) * size_of::<Candidate<M>>()
            + 3 * size_of::<Place>()
            + Seen::BYTES_PER_BOARD;
        let widest = nodes / (levels + (of_board as u64).div_ceil(Self::BYTES_PER_NODE));
        widest.min(Step::MOST as u64)
    }
}

/// Follows the most promising boards at each distance from the start, so many at most, to the goal (Lowerre 1976).
///
/// A board that was gone on with a few levels before is not again. `None` if no solution was found.
///
/// # Errors
/// When the budget does not allow to go on.
pub(super) fn beam<P: Packed, G: Guide<P>>(
    space: &Space<P>,
    guide: &G,
    beam: Beam,
    spending: &mut Spending<'_>,
) -> Result<Option<Path>, StopReason> {
    let crew = spending.meter.crew().filter(|_| beam.width >= Beam::WIDTH_FOR_MANY);
    let mut search = Search::new(space, guide, beam, spending);
    let Some(crew) = crew else { return search.run(None) };
    let place = Workplace::default();
    let mut found = Ok(None);
    crew.work(
        &mut |ask| {
            let _closing = Closing(&place);
            found = search.run(Some(&Others { place: &place, ask }));
        },
        &|is_wanted| place.help(is_wanted),
    );
    found
}

/// Those who may help with a beam.
struct Others<'w, 'a, P, G: Guide<P>> {
    place: &'w Workplace<'a, P, G>,
    ask: &'w dyn Fn(),
}

/// A level, and what came of it.
type Expanded<'a, P, G> = (Arc<Level<'a, P, G>>, Parts<P, <G as Guide<P>>::Memo>);

struct Search<'a, 's, 'b, P, G: Guide<P>> {
    space: &'a Space<P>,
    guide: &'a G,
    beam: Beam,
    spending: &'s mut Spending<'b>,
    origin: Origin<P>,
    level: Vec<Candidate<G::Memo>>,
    /// For each level but the first: how its boards came about.
    steps: Vec<Vec<Step>>,
    seen: Seen,
    by_rank: ByRank,
    /// How many stages were ahead of the foremost board so far, and for how many levels no other was further.
    ahead: u8,
    waited: usize,
}

impl<'a, 's, 'b, P: Packed, G: Guide<P>> Search<'a, 's, 'b, P, G> {
    fn new(space: &'a Space<P>, guide: &'a G, beam: Beam, spending: &'s mut Spending<'b>) -> Self {
        let memo = guide.begin(&space.start());
        let rank = Rank::of(guide.promise(memo, 0));
        let start = Candidate { hash: 0, memo, rank, step: Step::new(0, Move::Up) };
        let mut seen = Seen::for_levels_of(beam.width);
        seen.insert(start.hash);
        spending.stats.generated += 1;
        Self {
            space,
            guide,
            beam,
            spending,
            origin: Origin::Start(space.start()),
            level: vec![start],
            steps: Vec::new(),
            seen,
            by_rank: ByRank::default(),
            ahead: rank.stages(),
            waited: 0,
        }
    }

    fn run(&mut self, others: Option<&Others<'_, 'a, P, G>>) -> Result<Option<Path>, StopReason> {
        for g in 1..self.beam.shorter_than {
            let (level, parts) = self.expand(g, others)?;
            if let Some(step) = self.count(&parts) {
                return Ok(Some(self.path_to(step)));
            }
            if level.count < level.members.len() {
                return Err(StopReason::Expanded);
            }
            self.select(&parts)?;
            if self.level.is_empty() {
                break;
            }
            self.origin = parts.into();
        }
        Ok(None)
    }

    /// Gathers the successors of a level, of as many of its boards as may be expanded.
    fn expand(&mut self, g: usize, others: Option<&Others<'_, 'a, P, G>>) -> Result<Expanded<'a, P, G>, StopReason> {
        let Self { space, guide, beam, waited, .. } = *self;
        let Spending { meter, stats } = &mut *self.spending;
        let members = std::mem::take(&mut self.level);
        let origin = std::mem::replace(&mut self.origin, Origin::Start(space.start()));
        let allowed = usize::try_from(meter.allowed(stats.expanded)).unwrap_or(usize::MAX);
        let count = members.len().min(allowed);
        let progress = Expanding::new(count);
        let level = Arc::new(Level {
            space,
            guide,
            shorter_than: beam.shorter_than,
            g,
            waited,
            origin,
            members,
            count,
            progress,
        });
        if let Some(Others { place, ask }) = others.filter(|_| level.is_for_many()) {
            place.put(&level);
            if place.helpers() + 1 < level.parts() {
                ask();
            }
        }
        let worked = level.work(|by_now| {
            let now = Stats { expanded: stats.expanded + by_now, ..*stats };
            if by_now < count as u64 { meter.expand(now.expanded, || Progress::from(&now)) } else { Ok(()) }
        });
        match worked.and_then(|()| level.finish(|| meter.look())) {
            Ok(parts) => Ok((level, parts)),
            Err(reason) => {
                self.count(&level.done());
                Err(reason)
            }
        }
    }

    /// Counts what a level took, up to the goal if that is there.
    fn count(&mut self, parts: &Parts<P, G::Memo>) -> Option<Step> {
        for part in &parts.all {
            self.spending.stats.expanded += part.expanded();
            self.spending.stats.generated += part.generated;
            if part.goal.is_some() {
                return part.goal;
            }
        }
        None
    }

    /// Makes the next level of the best candidates.
    fn select(&mut self, parts: &Parts<P, G::Memo>) -> Result<(), StopReason> {
        /// Candidates between two looks at the clock.
        const INTERVAL: usize = 1 << 12;
        let Self { beam, spending, seen, by_rank, .. } = self;
        let lists = parts.all.iter().map(|part| part.candidates.as_slice());
        let most = beam.width.min(lists.clone().map(<[_]>::len).sum());
        let mut next = Vec::with_capacity(most);
        let share = beam.width.div_ceil(G::SHARES);
        let (mut total, mut looked_at) = (beam.width, 0);
        for stage in by_rank.sort(lists, G::SHARES, || spending.meter.look())? {
            let mut left = share.min(total);
            total -= left;
            for (part, nth) in stage {
                if left == 0 {
                    break;
                }
                looked_at += 1;
                if looked_at % INTERVAL == 0 {
                    spending.meter.look()?;
                }
                let candidate = parts.all[*part as usize].candidates[*nth as usize];
                if !seen.insert(candidate.hash) {
                    spending.stats.duplicates += 1;
                    continue;
                }
                next.push(candidate);
                left -= 1;
            }
            total += left;
        }
        spending.stats.peak_open = spending.stats.peak_open.max(next.len() as u64);
        self.go_on_with(next);
        Ok(())
    }

    fn go_on_with(&mut self, next: Vec<Candidate<G::Memo>>) {
        let ahead = next.first().map_or(self.ahead, |foremost| foremost.rank.stages());
        self.waited = if ahead < self.ahead { 0 } else { self.waited + 1 };
        self.ahead = self.ahead.min(ahead);
        self.steps.push(next.iter().map(|candidate| candidate.step).collect());
        self.level = next;
    }

    /// The moves to a board of the level, and one more.
    fn path_to(&self, last: Step) -> Path {
        let mut moves = vec![last.mv()];
        let mut at = last.parent();
        for steps in self.steps.iter().rev() {
            moves.push(steps[at].mv());
            at = steps[at].parent();
        }
        moves.reverse();
        moves.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::heuristic::{Manhattan, Zero};
    use super::super::{Budget, Trace, breadth_first};
    use super::*;
    use crate::domain::{Board, Puzzle, Word};

    fn puzzle(start: &str) -> Puzzle {
        let raw = crate::domain::RawBoard::parse(start);
        let start = raw.board(crate::domain::Sides::default(), crate::domain::Encoding::Tiles).unwrap();
        Puzzle::try_new(start, Board::blank_last(start.size())).unwrap()
    }

    fn found(start: &str, width: usize, shorter_than: usize) -> (Option<Path>, Stats) {
        let puzzle = puzzle(start);
        let heuristic = Manhattan::new(puzzle.size(), puzzle.goal().blank());
        let budget = Budget::UNLIMITED;
        let mut spending = Spending { meter: budget.meter(), stats: Stats::default() };
        let aim = Beam { width, shorter_than };
        let path = beam(&Space::<Word>::new(&puzzle), &ByHeuristic(&heuristic), aim, &mut spending).unwrap();
        if let Some(path) = &path {
            path.replay(&puzzle).unwrap();
        }
        (path, spending.stats)
    }

    #[test]
    fn a_beam_wide_enough_for_all_boards_finds_a_shortest_way() {
        for start in ["1 2 3/4 5 6/7 0 8", "4 1 8/6 7 0/2 3 5", "8 6 7/2 5 4/3 0 1", "6 4 7/8 5 0/3 2 1"] {
            let outcome = breadth_first(
                &Space::<Word>::new(&puzzle(start)),
                super::super::DuplicateDetection::Closed,
                &Budget::UNLIMITED,
                &mut Trace::default(),
            );
            let shortest = outcome.result.unwrap().len();
            let (path, stats) = found(start, usize::MAX >> 32, 100);
            assert_eq!(path.unwrap().len(), shortest, "{start}");
            // No board is gone on with twice.
            assert!(stats.expanded <= 181_440);
            assert!(found(start, usize::MAX >> 32, shortest).0.is_none(), "there is none shorter");
        }
    }

    #[test]
    fn a_narrow_beam_is_as_narrow_as_it_is_said_to_be() {
        let (_, stats) = found("8 6 7/2 5 4/3 0 1", 10, 200);
        assert!(stats.peak_open <= 10 && stats.expanded > 100);
    }

    #[test]
    fn a_beam_without_a_hint_goes_nowhere_and_ends() {
        let puzzle = puzzle("8 6 7/2 5 4/3 0 1");
        let budget = Budget { expanded: 5_000, ..Budget::UNLIMITED };
        let mut spending = Spending { meter: budget.meter(), stats: Stats::default() };
        let aim = Beam { width: 100, shorter_than: 1_000 };
        let stopped = beam(&Space::<Word>::new(&puzzle), &ByHeuristic(&Zero), aim, &mut spending);
        assert!(matches!(stopped, Ok(None) | Err(StopReason::Expanded)), "{stopped:?}");
        assert!(spending.stats.expanded <= 5_000);
    }
}
