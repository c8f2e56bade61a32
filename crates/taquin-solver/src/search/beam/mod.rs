//! Beam search.

mod candidate;
mod cutoffs;
mod guide;
mod level;
mod members;
mod parents;
mod recent;
mod shared_level;

pub(crate) use guide::{ExpandedBoard, Guide, HeuristicGuide, PatternGuide, Score};

use std::sync::Arc;

use super::budget::Checkpoint;
use super::{Meter, Progress, Space, Stats, StopReason};
use crate::domain::{Move, Packed, Path};
use candidate::{Candidate, ParentMove, Priority};
use cutoffs::{Cutoffs, KeyCounts, KeyGrid};
use level::{Level, LevelPart, LevelProgress, LevelResults};
use members::{Members, Selection};
use parents::Parents;
use recent::RecentHashes;
use shared_level::{CloseOnDrop, SharedLevel};

/// Budget and counters of a search that consists of several parts.
pub struct Accounting<'a> {
    pub meter: Meter<'a>,
    pub stats: Stats,
    /// True if the deadline limited the width of a beam, so that the result is not reproducible.
    pub is_time_limited: bool,
}

/// Options of a beam search.
#[derive(Clone, Copy, Debug)]
pub struct Beam {
    /// Number of boards expanded per level, on average.
    pub width: usize,
    /// Only solutions shorter than this count.
    pub shorter_than: usize,
    /// True if the levels have the [widths](Levels) of the guide, and are narrower where the rest of the budget needs
    /// it. An unfinished beam finds nothing. Otherwise all levels are equally wide.
    pub ends_in_budget: bool,
}

impl Beam {
    /// Minimum width of a beam that uses helpers.
    const MIN_SHARED_WIDTH: usize = 256;

    /// Memory in bytes per expanded board: its move and parent, in vectors as long as a level. The allocator may still
    /// hold the vectors of the previous beam. Half as much again is for the rest of the process.
    pub(crate) const BYTES_PER_NODE: u64 = 3 * size_of::<ParentMove>() as u64;

    /// The greatest width at which a beam of `levels` levels needs no more memory than `nodes` nodes. The boards of
    /// the current level and their candidates need as much memory as several more levels.
    pub(crate) fn widest<P: Packed, G: Guide<P>>(nodes: u64, levels: u64) -> u64 {
        // The boards of two levels, up to four successors of each, since vectors double as they grow, and the members.
        let bytes_of_board = 2 * size_of::<ExpandedBoard<P, G::Memo>>()
            + 2 * (4 + 1) * size_of::<Candidate<G::Note>>()
            + RecentHashes::BYTES_PER_BOARD;
        let nodes_of_board = (bytes_of_board as u64).div_ceil(Self::BYTES_PER_NODE);
        let first_level = G::FIRST_LEVEL as u64;
        let widest = nodes / (levels + first_level * nodes_of_board);
        widest.min(ParentMove::MAX_BOARDS as u64 / first_level)
    }
}

/// Beam search (Lowerre 1976): expands the best `width` boards at each distance from the start.
///
/// A board expanded a few levels before is not expanded again. `None` if no solution was found.
///
/// # Errors
/// If the budget is exhausted.
pub(crate) fn beam<P: Packed, G: Guide<P>>(
    space: &Space<P>,
    guide: &G,
    beam: Beam,
    accounting: &mut Accounting<'_>,
) -> Result<Option<Path>, StopReason> {
    let helpers = accounting.meter.helpers().filter(|_| beam.width >= Beam::MIN_SHARED_WIDTH);
    let mut search = BeamSearch::new(space, guide, beam, accounting);
    let Some(helpers) = helpers else { return search.run(None) };
    let level = SharedLevel::default();
    let mut found = Ok(None);
    helpers.work(
        &mut |request_help| {
            let _close = CloseOnDrop(&level);
            found = search.run(Some(&SharedWork { level: &level, request_help }));
        },
        &|must_yield| level.help(must_yield),
    );
    found
}

/// The level that helpers expand parts of, and the function that requests help.
struct SharedWork<'w, 'a, P, G: Guide<P>> {
    level: &'w SharedLevel<'a, P, G>,
    request_help: &'w dyn Fn(),
}

impl<'a, P: Packed, G: Guide<P>> SharedWork<'_, 'a, P, G> {
    /// Makes a level the current one, and requests help if there are more parts than threads.
    fn publish(&self, level: &Arc<Level<'a, P, G>>) {
        self.level.publish(level);
        if self.level.helpers() + 1 < level.members.room() {
            (self.request_help)();
        }
    }
}

struct BeamSearch<'a, 's, 'b, P, G: Guide<P>> {
    space: &'a Space<P>,
    guide: &'a G,
    beam: Beam,
    accounting: &'s mut Accounting<'b>,
    /// By level: the parent and move of each board. The start has neither, so its entry means nothing.
    steps: Vec<Vec<ParentMove>>,
    recent: RecentHashes,
    /// The fewest remaining stages of any candidate so far.
    fewest_stages: u8,
    /// The number of levels since that minimum fell.
    stalled_levels: usize,
    begun: Checkpoint,
}

/// Candidates for a level.
struct Frontier<P, G: Guide<P>> {
    parents: Parents<P, G::Memo>,
    /// By the part of their parents.
    candidates: Vec<Vec<Candidate<G::Note>>>,
    counts: KeyCounts,
}

impl<'a, 's, 'b, P: Packed, G: Guide<P>> BeamSearch<'a, 's, 'b, P, G> {
    fn new(space: &'a Space<P>, guide: &'a G, beam: Beam, accounting: &'s mut Accounting<'b>) -> Self {
        let begun = accounting.meter.checkpoint(accounting.stats.expanded);
        Self {
            space,
            guide,
            beam,
            accounting,
            steps: Vec::new(),
            recent: RecentHashes::for_levels_of(beam.width),
            fewest_stages: u8::MAX,
            stalled_levels: 0,
            begun,
        }
    }

    fn run(&mut self, shared: Option<&SharedWork<'_, 'a, P, G>>) -> Result<Option<Path>, StopReason> {
        let mut frontier = self.start();
        for g in 1..self.beam.shorter_than {
            let Frontier { parents, candidates, counts } = frontier;
            let cutoffs = Cutoffs::new(&counts, G::SHARES, self.width(g - 1));
            let level = self.level(g, parents, &counts, &cutoffs);
            if let Some(shared) = shared.filter(|_| level.is_worth_sharing()) {
                shared.publish(&level);
            }
            let selected = self.select(&level.members, candidates, cutoffs);
            let expanded = selected.and_then(|is_whole| Ok((self.expand(&level)?, is_whole)));
            let (LevelResults { parts, counts }, is_whole) = match expanded {
                Ok(expanded) => expanded,
                Err(reason) => {
                    self.count(&level.take_results().parts);
                    return Err(reason);
                }
            };
            if let Some(step) = self.count(&parts) {
                return Ok(Some(self.path_to(step)));
            }
            if !is_whole {
                return Err(StopReason::Expanded);
            }
            if parts.is_empty() {
                break;
            }
            let (boards, candidates) = parts.into_iter().map(|part| (part.boards, part.candidates)).unzip();
            frontier = Frontier { parents: Parents::Before(boards, level.members.size()), candidates, counts };
        }
        Ok(None)
    }

    /// The start, as the only candidate and its own parent.
    fn start(&mut self) -> Frontier<P, G> {
        let state = self.space.start();
        let (memo, note) = self.guide.begin(&state);
        let priority = Priority::of_start::<P, G>(self.guide.score(note, 0));
        let mut counts = KeyCounts::new(KeyGrid::around(priority.key(), priority.key()));
        counts.add([priority].into_iter());
        self.accounting.stats.generated += 1;
        let candidate = Candidate { hash: 0, note, priority, step: ParentMove::new(0, Move::Up) };
        let parents = Parents::Start(ExpandedBoard { state, memo });
        Frontier { parents, candidates: vec![vec![candidate]], counts }
    }

    /// A level with room for the selected candidates. It counts how long the foremost stage has not changed.
    fn level(
        &mut self,
        g: usize,
        parents: Parents<P, G::Memo>,
        counts: &KeyCounts,
        cutoffs: &Cutoffs,
    ) -> Arc<Level<'a, P, G>> {
        let Self { space, guide, fewest_stages, stalled_levels, .. } = self;
        let foremost = cutoffs.foremost();
        *stalled_levels = if foremost < *fewest_stages { 0 } else { *stalled_levels + 1 };
        *fewest_stages = foremost.min(*fewest_stages);
        let members = Members::with_room_for(cutoffs.selected());
        Arc::new(Level {
            space,
            guide,
            shorter_than: self.beam.shorter_than,
            g,
            stalled_levels: *stalled_levels,
            parents,
            progress: LevelProgress::new(members.room(), counts.next_grid()),
            members,
        })
    }

    /// Selects members of a level. Returns false if the budget does not allow to expand all of them.
    fn select(
        &mut self,
        members: &Members<G::Note>,
        candidates: Vec<Vec<Candidate<G::Note>>>,
        mut cutoffs: Cutoffs,
    ) -> Result<bool, StopReason> {
        /// Candidates whose hashes are prefetched together.
        const CHUNK: usize = 64;
        let Self { accounting: Accounting { meter, stats, .. }, recent, steps, .. } = self;
        let allowed = usize::try_from(meter.allowed(stats.expanded)).unwrap_or(usize::MAX);
        let mut selection = Selection::new(members);
        let mut is_whole = true;
        let mut chosen: Vec<&Candidate<G::Note>> = Vec::with_capacity(CHUNK);
        for list in &candidates {
            meter.check()?;
            for chunk in list.chunks(CHUNK) {
                chosen.clear();
                chosen.extend(chunk.iter().filter(|candidate| cutoffs.select(candidate.priority)));
                chosen.iter().for_each(|candidate| recent.prefetch(candidate.hash));
                for candidate in &chosen {
                    if !recent.insert(candidate.hash) {
                        stats.duplicates += 1;
                    } else if selection.count() < allowed {
                        selection.add(**candidate);
                    } else {
                        is_whole = false;
                    }
                }
            }
        }
        stats.peak_open = stats.peak_open.max(selection.count() as u64);
        steps.push(selection.complete());
        Ok(is_whole)
    }

    /// Expands the members of a level.
    fn expand(&mut self, level: &Level<'a, P, G>) -> Result<LevelResults<P, G>, StopReason> {
        let Accounting { meter, stats, .. } = &mut *self.accounting;
        let count = level.members.count() as u64;
        level.work(|expanded| {
            let now = Stats { expanded: stats.expanded + expanded, ..*stats };
            if expanded < count { meter.expand(now.expanded, || Progress::from(&now)) } else { Ok(()) }
        })?;
        level.finish(|| meter.check())
    }

    /// Adds the counters of a level's parts, up to the goal if it was found.
    fn count(&mut self, parts: &[LevelPart<P, G>]) -> Option<ParentMove> {
        for part in parts {
            self.accounting.stats.expanded += part.expanded();
            self.accounting.stats.generated += part.generated;
            if part.goal.is_some() {
                return part.goal;
            }
        }
        None
    }

    /// Width of the level after `g` moves.
    fn width(&mut self, g: usize) -> usize {
        let Beam { width, shorter_than, ends_in_budget } = self.beam;
        if !ends_in_budget {
            return width;
        }
        let Accounting { meter, stats, is_time_limited } = &mut *self.accounting;
        let now = meter.checkpoint(stats.expanded);
        let (expanded, all) = (now.nodes_since(self.begun), (width as u64).saturating_mul(shorter_than as u64));
        let allowed = meter.allowed(stats.expanded).min(all.saturating_sub(expanded));
        // The first boards are too few to tell the speed. A part of the time is left for the end of the search.
        let in_time = if expanded < all / 16 { u64::MAX } else { meter.in_time([self.begun, now]) / 64 * 63 };
        *is_time_limited |= in_time < allowed;
        let levels = Levels { all: shorter_than, first: G::FIRST_LEVEL };
        levels.width(in_time.min(allowed), shorter_than - g).min(width * G::FIRST_LEVEL)
    }

    /// The path that ends with the given parent and move.
    fn path_to(&self, last: ParentMove) -> Path {
        let mut moves = vec![last.mv()];
        let mut at = last.parent();
        for steps in self.steps[1..].iter().rev() {
            moves.push(steps[at].mv());
            at = steps[at].parent();
        }
        moves.reverse();
        moves.into()
    }
}

/// Widths of a beam's levels, which fall from the first level on.
///
/// Each level has the same share of the remaining boards, so that widths fall exponentially until an even share is
/// larger. If the first level is five times as wide as the average, the last fifth of the levels is evenly wide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels {
    /// Number of all levels.
    pub all: usize,
    /// Ratio of the first level's width to the average width.
    pub first: usize,
}

impl Levels {
    /// Width of the first of the last `left` levels, if `boards` may be expanded in them; at least 1.
    pub(crate) fn width(self, boards: u64, left: usize) -> usize {
        let shares = left.min(self.all.div_ceil(self.first)).max(1);
        usize::try_from(boards / shares as u64).unwrap_or(usize::MAX).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::heuristic::{GoalClass, LargeAdditivePatterns, LinearConflict, Manhattan, Partition, Zero};
    use super::super::{Budget, Trace, breadth_first};
    use super::*;
    use crate::domain::{Board, Packed64, Packed128, Puzzle, Size, SplitMix, random_board};

    fn puzzle(start: &str) -> Puzzle {
        let raw = crate::domain::RawBoard::parse(start);
        let start = raw.board(crate::domain::Sides::default(), crate::domain::Encoding::Tiles).unwrap();
        Puzzle::try_new(start, Board::blank_last(start.size())).unwrap()
    }

    type Found = (Result<Option<Path>, StopReason>, Stats);

    /// Runs a beam that may expand `expanded` boards, and replays the path.
    fn run<P: Packed, G: Guide<P>>(space: &Space<P>, guide: &G, options: Beam, expanded: u64) -> Found {
        let budget = Budget { expanded, ..Budget::UNLIMITED };
        let mut accounting = Accounting { meter: budget.meter(), stats: Stats::default(), is_time_limited: false };
        let found = beam(space, guide, options, &mut accounting);
        if let Ok(Some(path)) = &found {
            path.replay(space.puzzle()).unwrap();
        }
        (found, accounting.stats)
    }

    fn found(start: &str, width: usize, shorter_than: usize) -> (Option<Path>, Stats) {
        let puzzle = puzzle(start);
        let heuristic = Manhattan::new(puzzle.size(), puzzle.goal().blank());
        let options = Beam { width, shorter_than, ends_in_budget: false };
        let (path, stats) = run(&Space::<Packed64>::new(&puzzle), &HeuristicGuide(&heuristic), options, u64::MAX);
        (path.unwrap(), stats)
    }

    /// Partitions of patterns of three tiles.
    fn partitions(class: GoalClass) -> Vec<Partition> {
        let labels: Vec<u8> = (0..class.size.cells() as u8).filter(|label| *label != class.goal_blank).collect();
        Partition::build(class, &[labels.chunks(3).map(<[u8]>::to_vec).collect()])
    }

    #[test]
    fn a_beam_wide_enough_for_all_boards_finds_a_shortest_path() {
        for start in ["1 2 3/4 5 6/7 0 8", "4 1 8/6 7 0/2 3 5", "8 6 7/2 5 4/3 0 1", "6 4 7/8 5 0/3 2 1"] {
            let outcome = breadth_first(
                &Space::<Packed64>::new(&puzzle(start)),
                super::super::DuplicateDetection::Closed,
                &Budget::UNLIMITED,
                &mut Trace::default(),
            );
            let shortest = outcome.result.unwrap().len();
            let (path, stats) = found(start, usize::MAX >> 32, 100);
            assert_eq!(path.unwrap().len(), shortest, "{start}");
            // No board is expanded twice.
            assert!(stats.expanded <= 181_440);
            assert!(found(start, usize::MAX >> 32, shortest).0.is_none(), "no solution is shorter");
        }
    }

    #[test]
    fn a_beam_respects_its_width() {
        let (_, stats) = found("8 6 7/2 5 4/3 0 1", 10, 200);
        assert!(stats.peak_open <= 10 && stats.expanded > 100);
    }

    #[test]
    fn a_beam_without_guidance_ends() {
        let space = Space::<Packed64>::new(&puzzle("8 6 7/2 5 4/3 0 1"));
        let options = Beam { width: 100, shorter_than: 1_000, ends_in_budget: false };
        let (stopped, stats) = run(&space, &HeuristicGuide(&Zero), options, 5_000);
        assert!(matches!(stopped, Ok(None) | Err(StopReason::Expanded)), "{stopped:?}");
        assert!(stats.expanded <= 5_000);
    }

    #[test]
    fn a_beam_guided_by_patterns_is_that_of_their_heuristic() {
        let mut random = SplitMix(7);
        for (rows, cols, blank) in [(5, 5, 24), (4, 5, 3), (3, 7, 10)] {
            let size = Size::try_from((rows, cols)).unwrap();
            let any = Board::blank_last(size);
            let mut goals = std::iter::repeat_with(|| random_board(&any, &mut random));
            let goal = goals.find(|goal| goal.blank() == blank).unwrap();
            let class = GoalClass::of(size, blank);
            let partitions = partitions(class);
            let patterns = LargeAdditivePatterns::<12>::new(size, blank, &partitions);
            for width in [1, 30, 300] {
                let space = Space::<Packed128>::new(&Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
                let options = Beam { width, shorter_than: 200, ends_in_budget: false };
                let fast = run(&space, &PatternGuide(&patterns), options, u64::MAX);
                let plain = run(&space, &HeuristicGuide(&patterns), options, u64::MAX);
                assert_eq!(fast, plain, "{size}, {width}");
            }
        }
    }

    #[test]
    fn a_beam_narrows_to_end_in_its_budget() {
        let puzzle = puzzle("5 10 14 7/8 3 6 1/15 0 12 9/2 11 4 13");
        let heuristic = LinearConflict::new(puzzle.size(), puzzle.goal().blank());
        let space = Space::<Packed64>::new(&puzzle);
        let options = |ends_in_budget| Beam { width: 1_000, shorter_than: 100, ends_in_budget };
        let (path, all) = run(&space, &HeuristicGuide(&heuristic), options(true), u64::MAX);
        assert!(path.unwrap().is_some());
        let half = all.expanded / 2;
        let (path, stats) = run(&space, &HeuristicGuide(&heuristic), options(true), half);
        assert!(path.unwrap().is_some() && stats.expanded <= half);
        let (path, _) = run(&space, &HeuristicGuide(&heuristic), options(false), half);
        assert_eq!(path, Err(StopReason::Expanded));
    }

    /// The widths of levels in which as many boards are expanded as may be.
    fn widths(levels: Levels, boards: u64) -> Vec<usize> {
        let mut left = boards;
        let width = |nth: usize| {
            let width = levels.width(left, levels.all - nth);
            left -= width as u64;
            width
        };
        (0..levels.all).map(width).collect()
    }

    #[test]
    fn an_even_beam_has_equal_levels() {
        assert_eq!(widths(Levels { all: 200, first: 1 }, 200_000), [1_000; 200]);
    }

    #[test]
    fn widths_fall_until_the_last_part() {
        let widths = widths(Levels { all: 200, first: 5 }, 200_000);
        assert_eq!(widths[0], 5_000);
        assert!(widths[..160].windows(2).all(|pair| pair[0] > pair[1]));
        assert!(widths[160..].iter().all(|width| width.abs_diff(widths[160]) <= 1));
        assert_eq!(widths.iter().sum::<usize>(), 200_000, "all boards are used");
        assert!(widths[199] >= 5_000 / 100, "the last levels are wide enough to find the goal");
    }

    #[test]
    fn boards_that_were_not_used_go_to_later_levels() {
        let levels = Levels { all: 200, first: 5 };
        assert!(levels.width(200_000 - 100, 199) > levels.width(200_000 - 5_000, 199));
    }

    #[test]
    fn a_level_has_a_board_even_if_none_may_be_expanded() {
        assert_eq!(Levels { all: 9, first: 5 }.width(0, 0), 1);
    }
}
