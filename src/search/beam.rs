//! Beam search.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::level::{Candidate, Closing, Expanding, Level, Member, Parts, Step, Workplace};
use super::{Heuristic, Meter, Progress, Slide, Space, State, Stats, StopReason};
use crate::domain::{Move, MoveSet, Packed, Path, mix};

/// What tells the boards of a beam that are worth going on with.
pub(super) trait Guide<P>: Sync {
    /// What is remembered of a board so that the next one is cheap.
    type Memo: Copy + Send + Sync;

    /// Among how many stages of the way a beam is shared out, so that those who are ahead do not crowd out those who
    /// will overtake them.
    const SHARES: usize;

    /// Of the start.
    fn begin(&self, start: &State<P>) -> Self::Memo;

    /// After a slide of the board `before`; none where the way is closed.
    fn after(&self, memo: Self::Memo, slide: &Slide, before: &State<P>) -> Option<Self::Memo>;

    /// How promising a board is.
    fn promise(&self, memo: Self::Memo) -> Promise;
}

/// How promising a board is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Promise {
    /// How many stages of the way are ahead.
    pub(super) stages: u16,
    /// Orders the boards of a stage, the least first.
    pub(super) key: u32,
    /// As many moves are ahead at least, on the ways that the guide goes; none at the goal.
    pub(super) least: u32,
}

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
    /// Which of equally promising boards are kept.
    pub(super) seed: u64,
}

impl Beam {
    /// Beams as wide are worth the help of others.
    const WIDTH_FOR_MANY: usize = 256;

    /// As many boards as room is made for at once.
    const MOST_SEEN: usize = 1 << 24;

    /// Memory for each board that is gone on with: how it came about, and its hash among those seen, of which there is
    /// room for up to twice as many; and half as much again, which an allocator keeps for a time of the beam before.
    pub(super) const BYTES_PER_NODE: u64 = 48;

    /// The greatest width with which a beam of so many levels takes no more than so many nodes do: the boards of the
    /// level in hand, and what may come of them, take as much as some more levels.
    pub(super) fn widest<P: Packed, M>(nodes: u64, levels: u64) -> u64 {
        let of_candidate = size_of::<Candidate<M>>() + size_of::<(u64, u32)>();
        // Two levels, and up to three successors of each board, in lists that double as they grow.
        let of_level = (2 * size_of::<Member<P, M>>() + 2 * 3 * of_candidate) as u64;
        nodes / (levels + of_level.div_ceil(Self::BYTES_PER_NODE))
    }
}

/// Follows the most promising boards at each distance from the start, so many at most, to the goal (Lowerre 1976).
///
/// A board that was gone on with before is not again. `None` if no solution was found.
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

/// A guide that goes by a heuristic alone.
pub(super) struct ByHeuristic<'h, H>(pub(super) &'h H);

impl<P: Packed, H: Heuristic<P>> Guide<P> for ByHeuristic<'_, H> {
    type Memo = H::Memo;

    const SHARES: usize = 1;

    fn begin(&self, start: &State<P>) -> H::Memo {
        self.0.evaluate(start)
    }

    #[inline]
    fn after(&self, memo: H::Memo, slide: &Slide, before: &State<P>) -> Option<H::Memo> {
        Some(self.0.after(memo, slide, &before.after(slide)))
    }

    #[inline]
    fn promise(&self, memo: H::Memo) -> Promise {
        let h = self.0.h(memo);
        Promise { stages: 0, key: h, least: if H::ADMISSIBLE { h } else { 0 } }
    }
}

/// A level, and what came of it.
type Expanded<'a, P, G> = (Arc<Level<'a, P, G>>, Parts<<G as Guide<P>>::Memo>);

struct Search<'a, 's, 'b, P, G: Guide<P>> {
    space: &'a Space<P>,
    guide: &'a G,
    beam: Beam,
    spending: &'s mut Spending<'b>,
    level: Vec<Member<P, G::Memo>>,
    /// For each level but the first: how its boards came about.
    steps: Vec<Vec<Step>>,
    seen: HashSet<u64, BuildHasherDefault<Hashed>>,
}

impl<'a, 's, 'b, P: Packed, G: Guide<P>> Search<'a, 's, 'b, P, G> {
    fn new(space: &'a Space<P>, guide: &'a G, beam: Beam, spending: &'s mut Spending<'b>) -> Self {
        let start = Member { state: space.start(), memo: guide.begin(&space.start()), hash: 0, back: MoveSet::EMPTY };
        // Room for all at once: to move them later would take longer than a search may go on unasked.
        let room = beam.width.saturating_mul(beam.shorter_than).min(Beam::MOST_SEEN);
        let mut seen = HashSet::with_capacity_and_hasher(room, BuildHasherDefault::default());
        seen.insert(start.hash);
        spending.stats.generated += 1;
        Self { space, guide, beam, spending, level: vec![start], steps: Vec::new(), seen }
    }

    fn run(&mut self, others: Option<&Others<'_, 'a, P, G>>) -> Result<Option<Path>, StopReason> {
        for g in 1..self.beam.shorter_than {
            let (level, parts) = self.expand(g, others)?;
            if let Some(Step { parent, mv }) = self.count(&parts) {
                return Ok(Some(self.path_to(parent, mv)));
            }
            if level.count < level.members.len() {
                return Err(StopReason::Expanded);
            }
            self.select(&level, &parts)?;
            if self.level.is_empty() {
                break;
            }
        }
        Ok(None)
    }

    /// Gathers the successors of a level, of as many of its boards as may be expanded.
    fn expand(&mut self, g: usize, others: Option<&Others<'_, 'a, P, G>>) -> Result<Expanded<'a, P, G>, StopReason> {
        let (space, guide, beam) = (self.space, self.guide, self.beam);
        let Spending { meter, stats } = &mut *self.spending;
        let members = std::mem::take(&mut self.level);
        let allowed = usize::try_from(meter.allowed(stats.expanded)).unwrap_or(usize::MAX);
        let count = members.len().min(allowed);
        let progress = Expanding::new(count);
        let level = Arc::new(Level { space, guide, beam, g, members, count, progress });
        if let Some(Others { place, ask }) = others.filter(|_| level.is_for_many()) {
            place.put(&level);
            if place.helpers() == 0 {
                ask();
            }
        }
        level.work(|by_now| {
            let now = Stats { expanded: stats.expanded + by_now, ..*stats };
            if by_now < count as u64 { meter.expand(now.expanded, || Progress::from(&now)) } else { Ok(()) }
        })?;
        let parts = level.finish(|| meter.look())?;
        Ok((level, parts))
    }

    /// Counts what a level took, up to the goal if that is there.
    fn count(&mut self, parts: &Parts<G::Memo>) -> Option<Step> {
        for part in &parts.all {
            self.spending.stats.expanded += part.expanded;
            self.spending.stats.generated += part.generated;
            if part.goal.is_some() {
                return part.goal;
            }
        }
        None
    }

    /// Makes the next level of the best candidates.
    fn select(&mut self, level: &Level<'_, P, G>, parts: &Parts<G::Memo>) -> Result<(), StopReason> {
        /// Candidates between two looks at the clock.
        const INTERVAL: usize = 1 << 12;
        let Self { space, beam, spending, seen, .. } = self;
        let order = parts.in_order();
        let share = beam.width.div_ceil(G::SHARES);
        let most = beam.width.min(order.len());
        let (mut next, mut next_steps) = (Vec::with_capacity(most), Vec::with_capacity(most));
        let (mut total, mut looked_at) = (beam.width, 0);
        for stage in order.chunk_by(|a, b| Promise::stages_of(a.0) == Promise::stages_of(b.0)).take(G::SHARES) {
            let mut left = share.min(total);
            total -= left;
            for (_, at) in stage {
                if left == 0 {
                    break;
                }
                looked_at += 1;
                if looked_at % INTERVAL == 0 {
                    spending.meter.look()?;
                }
                let Candidate { hash, memo, step } = parts.candidate(*at);
                if !seen.insert(hash) {
                    spending.stats.duplicates += 1;
                    continue;
                }
                let mut state = level.members[step.parent as usize].state;
                space.make(&mut state, step.mv);
                next.push(Member { state, memo, hash, back: MoveSet::back(step.mv) });
                next_steps.push(step);
                left -= 1;
            }
            total += left;
        }
        self.level = next;
        self.steps.push(next_steps);
        spending.stats.peak_open = spending.stats.peak_open.max(self.level.len() as u64);
        Ok(())
    }

    /// The moves to a board of the level, and one more.
    fn path_to(&self, mut at: u32, last: Move) -> Path {
        let mut moves = vec![last];
        for steps in self.steps.iter().rev() {
            let Step { parent, mv } = steps[at as usize];
            moves.push(mv);
            at = parent;
        }
        moves.reverse();
        moves.into()
    }
}

impl Promise {
    const STAGES: u32 = 48;
    const KEY: u32 = 24;

    /// Orders candidates by stage and key; among equals whatever the hash says.
    pub(super) fn rank(self, hash: u64, seed: u64) -> u64 {
        debug_assert!(self.key < 1 << Self::KEY);
        u64::from(self.stages) << Self::STAGES | u64::from(self.key) << Self::KEY | mix(hash, seed) >> (64 - Self::KEY)
    }

    fn stages_of(rank: u64) -> u64 {
        rank >> Self::STAGES
    }
}

/// Numbers that are hashes themselves.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| mix(hash, u64::from(*byte)));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
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
        let aim = Beam { width, shorter_than, seed: 0 };
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
        let aim = Beam { width: 100, shorter_than: 1_000, seed: 0 };
        let stopped = beam(&Space::<Word>::new(&puzzle), &ByHeuristic(&Zero), aim, &mut spending);
        assert!(matches!(stopped, Ok(None) | Err(StopReason::Expanded)), "{stopped:?}");
        assert!(spending.stats.expanded <= 5_000);
    }
}
