//! The boards of a beam at one distance from the start, and what comes of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::candidate::{Candidate, Rank, Step};
use super::guide::Guide;
use crate::domain::{MoveSet, Packed, mix};
use crate::search::budget::MOMENT;
use crate::search::{Space, State, StopReason};

/// How many boards one thread expands at a time, a power of two: few where a level has few.
#[derive(Clone, Copy)]
pub(super) struct PartSize {
    bits: u32,
}

impl PartSize {
    /// Enough for the work to be worth handing out, and few enough for nobody to wait long for the last part.
    const BITS: std::ops::RangeInclusive<u32> = 6..=8;

    fn of(count: usize) -> Self {
        Self { bits: (count / 32).max(1).ilog2().clamp(*Self::BITS.start(), *Self::BITS.end()) }
    }

    fn boards(self) -> usize {
        1 << self.bits
    }

    /// The part of a board, and its number there.
    fn place(self, nth: usize) -> (usize, usize) {
        (nth >> self.bits, nth & (self.boards() - 1))
    }
}

/// What came of some boards next to each other, the same whoever expanded them.
pub(super) struct Part<P, M> {
    /// The boards.
    states: Vec<State<P>>,
    /// What may be gone on with.
    pub(super) candidates: Vec<Candidate<M>>,
    pub(super) generated: u64,
    /// The step that leads to the goal, before which everything of the part was expanded.
    pub(super) goal: Option<Step>,
}

impl<P, M> Part<P, M> {
    pub(super) fn expanded(&self) -> u64 {
        self.states.len() as u64
    }
}

/// What came of a level.
pub(super) struct Parts<P, M> {
    pub(super) all: Vec<Part<P, M>>,
    size: PartSize,
}

/// Where the boards of a level come from.
pub(super) enum Origin<P> {
    /// From nowhere: there is one, the start.
    Start(State<P>),
    /// From those of the level before, here by parts.
    Before(Vec<Vec<State<P>>>, PartSize),
}

impl<P: Packed> Origin<P> {
    /// The board that a step leads to, and the moves that need not be tried, since they undo it.
    #[inline]
    fn board(&self, space: &Space<P>, step: Step) -> (State<P>, MoveSet) {
        match self {
            Self::Start(start) => (*start, MoveSet::EMPTY),
            Self::Before(parts, size) => {
                let (part, nth) = size.place(step.parent());
                let mut state = parts[part][nth];
                space.make(&mut state, step.mv());
                (state, MoveSet::back(step.mv()))
            }
        }
    }
}

impl<P, M> From<Parts<P, M>> for Origin<P> {
    fn from(Parts { all, size }: Parts<P, M>) -> Self {
        Self::Before(all.into_iter().map(|part| part.states).collect(), size)
    }
}

/// A level that is expanded.
pub(super) struct Level<'a, P, G: Guide<P>> {
    pub(super) space: &'a Space<P>,
    pub(super) guide: &'a G,
    /// Only solutions shorter than this are of interest.
    pub(super) shorter_than: usize,
    /// The distance of what comes of it.
    pub(super) g: usize,
    /// For how many levels no stage was come to that is further.
    pub(super) waited: usize,
    pub(super) origin: Origin<P>,
    pub(super) members: Vec<Candidate<G::Memo>>,
    /// How many of them are expanded.
    pub(super) count: usize,
    pub(super) progress: Expanding<P, G::Memo>,
}

/// How far a level is.
pub(super) struct Expanding<P, M> {
    size: PartSize,
    next: AtomicUsize,
    parts: Mutex<Vec<Option<Part<P, M>>>>,
    done: AtomicUsize,
    ended: Condvar,
}

impl<P, M> Expanding<P, M> {
    /// Nothing of so many boards yet.
    pub(super) fn new(count: usize) -> Self {
        let size = PartSize::of(count);
        let parts = (0..count.div_ceil(size.boards())).map(|_| None).collect();
        Self {
            size,
            next: AtomicUsize::new(0),
            parts: Mutex::new(parts),
            done: AtomicUsize::new(0),
            ended: Condvar::new(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P: Packed, G: Guide<P>> Level<'_, P, G> {
    /// How many parts it has.
    pub(super) fn parts(&self) -> usize {
        self.count.div_ceil(self.progress.size.boards())
    }

    /// Whether there is enough to do for more than one.
    pub(super) fn is_for_many(&self) -> bool {
        self.count >= 4 * self.progress.size.boards()
    }

    /// Expands parts that nobody has taken, until there are none, or the question that is asked before each is answered
    /// with a reason to leave; told how many boards were expanded by all.
    pub(super) fn work(&self, mut ask: impl FnMut(u64) -> Result<(), StopReason>) -> Result<(), StopReason> {
        let Expanding { size, next, parts, done, ended } = &self.progress;
        loop {
            ask((done.load(Ordering::Relaxed) * size.boards()) as u64)?;
            let nth = next.fetch_add(1, Ordering::Relaxed);
            if nth * size.boards() >= self.count {
                return Ok(());
            }
            let part = self.expand(nth);
            lock(parts)[nth] = Some(part);
            done.fetch_add(1, Ordering::Release);
            ended.notify_one();
        }
    }

    /// What came of it, once those who still expand parts of it have ended.
    pub(super) fn finish(
        &self,
        mut ask: impl FnMut() -> Result<(), StopReason>,
    ) -> Result<Parts<P, G::Memo>, StopReason> {
        let Expanding { size, parts, done, ended, .. } = &self.progress;
        let is_done = || done.load(Ordering::Acquire) * size.boards() >= self.count;
        while !look_out(is_done) {
            ask()?;
            drop(ended.wait_timeout_while(lock(parts), MOMENT, |_| !is_done()));
        }
        Ok(self.done())
    }

    /// What has come of it by now.
    pub(super) fn done(&self) -> Parts<P, G::Memo> {
        let Expanding { size, parts, .. } = &self.progress;
        Parts { all: lock(parts).iter_mut().filter_map(Option::take).collect(), size: *size }
    }

    fn expand(&self, nth: usize) -> Part<P, G::Memo> {
        let Self { space, guide, shorter_than, g, waited, origin, members, count, progress } = self;
        let boards = progress.size.boards();
        let range = nth * boards..((nth + 1) * boards).min(*count);
        let mut part = Part {
            states: Vec::with_capacity(range.len()),
            candidates: Vec::with_capacity(2 * range.len()),
            generated: 0,
            goal: None,
        };
        for (parent, member) in range.clone().zip(&members[range]) {
            let (state, back) = origin.board(space, member.step);
            part.states.push(state);
            for mv in space.moves_except(state.blank, back) {
                part.generated += 1;
                let slide = space.slide(&state, mv);
                let Some(memo) = guide.after(member.memo, &slide, &state) else { continue };
                let promise = guide.promise(memo, *waited);
                let step = Step::new(parent, mv);
                if promise.least == 0 && space.is_goal(&state.after(&slide)) {
                    part.goal = Some(step);
                    return part;
                }
                if g + promise.least.max(1) as usize >= *shorter_than {
                    continue;
                }
                let hash = member.hash ^ place(slide.label, slide.from) ^ place(slide.label, slide.to);
                part.candidates.push(Candidate { hash, memo, rank: Rank::of(promise), step });
            }
        }
        part
    }
}

/// A tile in a cell, as a part of a hash (Zobrist 1970).
#[inline]
fn place(label: u8, cell: u8) -> u64 {
    mix(u64::from(label), u64::from(cell))
}

/// Looks a moment for what is about to come, as quick as can be: levels follow each other sooner than a thread wakes up.
/// Whether it came.
fn look_out(has_come: impl Fn() -> bool) -> bool {
    const LOOKS: u32 = 4096;
    (0..LOOKS).any(|_| {
        std::hint::spin_loop();
        has_come()
    })
}

/// Where those who help find the level in hand.
pub(super) struct Workplace<'a, P, G: Guide<P>> {
    state: Mutex<Workload<'a, P, G>>,
    /// The distance of the level in hand.
    g: AtomicUsize,
    changed: Condvar,
    helpers: AtomicUsize,
}

struct Workload<'a, P, G: Guide<P>> {
    level: Option<Arc<Level<'a, P, G>>>,
    is_closed: bool,
}

impl<P, G: Guide<P>> Default for Workplace<'_, P, G> {
    fn default() -> Self {
        let state = Mutex::new(Workload { level: None, is_closed: false });
        Self { state, g: AtomicUsize::new(0), changed: Condvar::new(), helpers: AtomicUsize::new(0) }
    }
}

/// Closes a workplace, whatever becomes of the main work.
pub(super) struct Closing<'w, 'a, P, G: Guide<P>>(pub(super) &'w Workplace<'a, P, G>);

impl<P, G: Guide<P>> Drop for Closing<'_, '_, P, G> {
    fn drop(&mut self) {
        let last = std::mem::replace(&mut *lock(&self.0.state), Workload { level: None, is_closed: true });
        // Whoever is at it finishes a part, and takes no more.
        last.level.inspect(|level| level.progress.next.store(level.count, Ordering::Relaxed));
        self.0.changed.notify_all();
    }
}

impl<'a, P: Packed, G: Guide<P>> Workplace<'a, P, G> {
    /// How many help.
    pub(super) fn helpers(&self) -> usize {
        self.helpers.load(Ordering::Relaxed)
    }

    /// Gives a level to all.
    pub(super) fn put(&self, level: &Arc<Level<'a, P, G>>) {
        lock(&self.state).level = Some(Arc::clone(level));
        self.g.store(level.g, Ordering::Release);
        self.changed.notify_all();
    }

    /// Expands parts of one level after the other, until the beam has ended or others need the thread.
    pub(super) fn help(&self, is_wanted: &dyn Fn() -> bool) {
        self.helpers.fetch_add(1, Ordering::Relaxed);
        let mut last = 0;
        while !is_wanted() {
            look_out(|| self.g.load(Ordering::Acquire) > last);
            let state = lock(&self.state);
            if state.is_closed {
                break;
            }
            match state.level.as_ref().filter(|level| level.g > last).map(Arc::clone) {
                Some(level) => {
                    drop(state);
                    last = level.g;
                    let leave = |_| if is_wanted() { Err(StopReason::Cancelled) } else { Ok(()) };
                    // A part that was taken is always finished, so nothing is left behind.
                    let _ = level.work(leave);
                }
                None => drop(self.changed.wait_timeout(state, MOMENT)),
            }
        }
        self.helpers.fetch_sub(1, Ordering::Relaxed);
    }
}
