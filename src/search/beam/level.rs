//! One level of a beam, and its expansion by several threads.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::candidate::{Candidate, ParentMove, Priority};
use super::guide::{BOARDS, ExpandedBoard, Guide, MAX_SLIDES};
use crate::domain::{MoveSet, Packed, mix};
use crate::search::budget::HELPER_POLL_INTERVAL;
use crate::search::{Slide, Space, State, StopReason};

/// Number of boards that one thread expands at a time; a power of two, small on small levels.
#[derive(Clone, Copy)]
pub(super) struct PartSize {
    bits: u32,
}

impl PartSize {
    /// Large enough to be worth distributing, and small enough that no thread waits long for the last part.
    const BITS: std::ops::RangeInclusive<u32> = 6..=8;

    fn of(count: usize) -> Self {
        Self { bits: (count / 32).max(1).ilog2().clamp(*Self::BITS.start(), *Self::BITS.end()) }
    }

    fn boards(self) -> usize {
        1 << self.bits
    }

    /// The part of a board, and its index in that part.
    fn locate(self, nth: usize) -> (usize, usize) {
        (nth >> self.bits, nth & (self.boards() - 1))
    }
}

/// Results of expanding consecutive boards. They do not depend on the thread that expands them.
pub(super) struct LevelPart<P, G: Guide<P>> {
    /// The expanded boards.
    boards: Vec<ExpandedBoard<P, G::Memo>>,
    /// Their successors, without those that cannot lead to a short enough solution.
    pub candidates: Vec<Candidate<G::Note>>,
    pub generated: u64,
    /// The move that reaches the goal, if any. All boards before it were expanded.
    pub goal: Option<ParentMove>,
}

impl<P, G: Guide<P>> LevelPart<P, G> {
    pub(super) fn expanded(&self) -> u64 {
        self.boards.len() as u64
    }
}

/// Results of expanding a level.
pub(super) struct LevelParts<P, G: Guide<P>> {
    pub all: Vec<LevelPart<P, G>>,
    size: PartSize,
}

/// Parents of the boards of a level.
pub(super) enum Parents<P, M> {
    /// The level consists of the start, which has no parent.
    Start(ExpandedBoard<P, M>),
    /// The boards of the level before, by part.
    Before(Vec<Vec<ExpandedBoard<P, M>>>, PartSize),
}

impl<P, M> Default for Parents<P, M> {
    /// No board.
    fn default() -> Self {
        Self::Before(Vec::new(), PartSize { bits: 0 })
    }
}

impl<P: Packed, M: Copy> Parents<P, M> {
    pub(super) fn start(state: State<P>, memo: M) -> Self {
        Self::Start(ExpandedBoard { state, memo })
    }

    /// The board of a candidate, and the moves to skip because they undo its last one.
    #[inline]
    fn board<G>(&self, space: &Space<P>, guide: &G, candidate: &Candidate<G::Note>) -> (ExpandedBoard<P, M>, MoveSet)
    where
        G: Guide<P, Memo = M>,
    {
        match self {
            Self::Start(start) => (*start, MoveSet::EMPTY),
            Self::Before(parts, size) => {
                let step = candidate.step;
                let (part, nth) = size.locate(step.parent());
                let ExpandedBoard { mut state, memo } = parts[part][nth];
                let slide = space.make(&mut state, step.mv());
                let memo = guide.after(&memo, &slide, candidate.note);
                (ExpandedBoard { state, memo }, MoveSet::back(step.mv()))
            }
        }
    }
}

impl<P, G: Guide<P>> From<LevelParts<P, G>> for Parents<P, G::Memo> {
    fn from(LevelParts { all, size }: LevelParts<P, G>) -> Self {
        Self::Before(all.into_iter().map(|part| part.boards).collect(), size)
    }
}

/// A level to expand.
pub(super) struct Level<'a, P, G: Guide<P>> {
    pub space: &'a Space<P>,
    pub guide: &'a G,
    /// Only solutions shorter than this count.
    pub shorter_than: usize,
    /// Moves from the start to the successors.
    pub g: usize,
    /// Number of levels since a new stage was last reached.
    pub stalled_levels: usize,
    pub parents: Parents<P, G::Memo>,
    pub members: Vec<Candidate<G::Note>>,
    /// Number of members to expand.
    pub count: usize,
    pub progress: LevelProgress<P, G>,
}

/// Progress of a level's expansion.
pub(super) struct LevelProgress<P, G: Guide<P>> {
    size: PartSize,
    next: AtomicUsize,
    parts: Mutex<Vec<Option<LevelPart<P, G>>>>,
    done: AtomicUsize,
    part_done: Condvar,
}

impl<P, G: Guide<P>> LevelProgress<P, G> {
    /// No board of `count` is expanded yet.
    pub(super) fn new(count: usize) -> Self {
        let size = PartSize::of(count);
        let parts = (0..count.div_ceil(size.boards())).map(|_| None).collect();
        Self {
            size,
            next: AtomicUsize::new(0),
            parts: Mutex::new(parts),
            done: AtomicUsize::new(0),
            part_done: Condvar::new(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Packed, G: Guide<P>> Level<'_, P, G> {
    /// Number of parts.
    pub(super) fn parts(&self) -> usize {
        self.count.div_ceil(self.progress.size.boards())
    }

    /// True if there is enough work for more than one thread.
    pub(super) fn is_worth_sharing(&self) -> bool {
        self.count >= 4 * self.progress.size.boards()
    }

    /// Expands parts that no thread has taken until none are left. Calls `check_budget` before each part, with the
    /// number of boards that all threads have expanded.
    ///
    /// # Errors
    /// Those of `check_budget`.
    pub(super) fn work(&self, mut check_budget: impl FnMut(u64) -> Result<(), StopReason>) -> Result<(), StopReason> {
        let LevelProgress { size, next, parts, done, part_done } = &self.progress;
        loop {
            check_budget((done.load(Ordering::Relaxed) * size.boards()) as u64)?;
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth * size.boards() >= self.count {
                return Ok(());
            }
            let part = self.expand(nth);
            lock(parts)[nth] = Some(part);
            done.fetch_add(1, Ordering::Release);
            part_done.notify_one();
        }
    }

    /// Waits until all threads have finished their parts, and returns the results.
    ///
    /// # Errors
    /// Those of `check_budget`, which is called while waiting.
    pub(super) fn finish(
        &self,
        mut check_budget: impl FnMut() -> Result<(), StopReason>,
    ) -> Result<LevelParts<P, G>, StopReason> {
        let LevelProgress { size, parts, done, part_done, .. } = &self.progress;
        let is_done = || done.load(Ordering::Acquire) * size.boards() >= self.count;
        while !spin_until(is_done) {
            check_budget()?;
            drop(part_done.wait_timeout_while(lock(parts), HELPER_POLL_INTERVAL, |_| !is_done()));
        }
        Ok(self.done())
    }

    /// The results so far.
    pub(super) fn done(&self) -> LevelParts<P, G> {
        let LevelProgress { size, parts, .. } = &self.progress;
        LevelParts { all: lock(parts).iter_mut().filter_map(Option::take).collect(), size: *size }
    }

    fn expand(&self, nth: usize) -> LevelPart<P, G> {
        let boards = self.progress.size.boards();
        let range = nth * boards..((nth + 1) * boards).min(self.count);
        let mut part = LevelPart {
            boards: Vec::with_capacity(range.len()),
            candidates: Vec::with_capacity(2 * range.len()),
            generated: 0,
            goal: None,
        };
        let (mut slides, mut notes) = (Vec::with_capacity(MAX_SLIDES), Vec::with_capacity(MAX_SLIDES));
        for begin in range.clone().step_by(BOARDS) {
            slides.clear();
            notes.clear();
            self.add_boards(begin..range.end.min(begin + BOARDS), &mut part, &mut slides);
            self.guide.add_notes(&part.boards, &slides, &mut notes);
            self.add_candidates(range.start, &mut part, &slides, &notes);
            if part.goal.is_some() {
                break;
            }
        }
        part
    }

    /// Adds some members to the boards of a part, and lists the slides on them.
    #[inline(always)]
    fn add_boards(&self, members: Range<usize>, part: &mut LevelPart<P, G>, slides: &mut Vec<(u32, Slide)>) {
        for member in &self.members[members] {
            let (board, back) = self.parents.board(self.space, self.guide, member);
            let nth = part.boards.len() as u32;
            let moves = self.space.moves_except(board.state.blank, back).into_iter();
            slides.extend(moves.map(|mv| (nth, self.space.slide(&board.state, mv))));
            part.boards.push(board);
        }
    }

    /// Adds the successors to a part, up to the goal. `first` is the index of the part's first board in the level.
    #[inline(always)]
    fn add_candidates(
        &self,
        first: usize,
        part: &mut LevelPart<P, G>,
        slides: &[(u32, Slide)],
        notes: &[Option<G::Note>],
    ) {
        let Self { space, guide, shorter_than, g, stalled_levels, members, .. } = self;
        for ((nth, slide), note) in slides.iter().zip(notes) {
            part.generated += 1;
            let Some(note) = *note else { continue };
            let (nth, score) = (*nth as usize, guide.score(note, *stalled_levels));
            let step = ParentMove::new(first + nth, slide.mv);
            if score.least == 0 && space.is_goal(&part.boards[nth].state.after(slide)) {
                part.goal = Some(step);
                part.boards.truncate(nth + 1);
                return;
            }
            if g + score.least.max(1) as usize >= *shorter_than {
                continue;
            }
            let hash = members[first + nth].hash ^ zobrist(slide.label, slide.from) ^ zobrist(slide.label, slide.to);
            part.candidates.push(Candidate { hash, note, priority: Priority::of(score), step });
        }
    }
}

/// Zobrist hash of a tile in a cell (Zobrist 1970).
#[inline]
fn zobrist(label: u8, cell: u8) -> u64 {
    mix(u64::from(label), u64::from(cell))
}

/// Spins briefly until a condition holds, because levels follow each other faster than a thread wakes up. Returns
/// false if the condition does not hold in time.
fn spin_until(condition: impl Fn() -> bool) -> bool {
    const SPINS: u32 = 4096;
    (0..SPINS).any(|_| {
        std::hint::spin_loop();
        condition()
    })
}

/// The current level, shared with helpers.
pub(super) struct SharedLevel<'a, P, G: Guide<P>> {
    state: Mutex<SharedLevelState<'a, P, G>>,
    /// `g` of the current level.
    g: AtomicUsize,
    changed: Condvar,
    helpers: AtomicUsize,
}

struct SharedLevelState<'a, P, G: Guide<P>> {
    level: Option<Arc<Level<'a, P, G>>>,
    is_closed: bool,
}

impl<P, G: Guide<P>> Default for SharedLevel<'_, P, G> {
    fn default() -> Self {
        let state = Mutex::new(SharedLevelState { level: None, is_closed: false });
        Self { state, g: AtomicUsize::new(0), changed: Condvar::new(), helpers: AtomicUsize::new(0) }
    }
}

/// Stops the helpers when dropped, so that they stop even if the main work panics.
pub(super) struct CloseOnDrop<'w, 'a, P, G: Guide<P>>(pub &'w SharedLevel<'a, P, G>);

impl<P, G: Guide<P>> Drop for CloseOnDrop<'_, '_, P, G> {
    fn drop(&mut self) {
        let last = std::mem::replace(&mut *lock(&self.0.state), SharedLevelState { level: None, is_closed: true });
        // Helpers finish their current part and take no more.
        last.level.inspect(|level| level.progress.next.store(level.count, Ordering::Relaxed));
        self.0.changed.notify_all();
    }
}

impl<'a, P: Packed, G: Guide<P>> SharedLevel<'a, P, G> {
    /// Number of helpers.
    pub(super) fn helpers(&self) -> usize {
        self.helpers.load(Ordering::Relaxed)
    }

    /// Publishes a level to the helpers.
    pub(super) fn publish(&self, level: &Arc<Level<'a, P, G>>) {
        lock(&self.state).level = Some(Arc::clone(level));
        self.g.store(level.g, Ordering::Release);
        self.changed.notify_all();
    }

    /// Expands parts of one level after another, until the search has ended or the thread must yield.
    pub(super) fn help(&self, must_yield: &dyn Fn() -> bool) {
        self.helpers.fetch_add(1, Ordering::Relaxed);
        let mut last = 0;
        while !must_yield() {
            spin_until(|| self.g.load(Ordering::Acquire) > last);
            let state = lock(&self.state);
            if state.is_closed {
                break;
            }
            match state.level.as_ref().filter(|level| level.g > last).map(Arc::clone) {
                Some(level) => {
                    drop(state);
                    last = level.g;
                    let check_budget = |_| if must_yield() { Err(StopReason::Cancelled) } else { Ok(()) };
                    // A part that was taken is always finished.
                    let _ = level.work(check_budget);
                }
                None => drop(self.changed.wait_timeout(state, HELPER_POLL_INTERVAL)),
            }
        }
        self.helpers.fetch_sub(1, Ordering::Relaxed);
    }
}
