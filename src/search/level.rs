//! The boards of a beam at one distance from the start, and what comes of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::beam::{Beam, Guide};
use super::budget::MOMENT;
use super::{Space, State, StopReason};
use crate::domain::{Move, MoveSet, Packed, mix};

/// A board that is gone on with.
#[derive(Clone, Copy)]
pub(super) struct Member<P, M> {
    pub(super) state: State<P>,
    pub(super) memo: M,
    /// Of the places of all tiles, against those of the start.
    pub(super) hash: u64,
    /// The move that would undo the last one.
    pub(super) back: MoveSet,
}

/// A board that may be gone on with.
#[derive(Clone, Copy)]
pub(super) struct Candidate<M> {
    pub(super) hash: u64,
    pub(super) memo: M,
    pub(super) step: Step,
}

/// Which board of the level before, and the move.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) parent: u32,
    pub(super) mv: Move,
}

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

    /// The number of a part's successor among those of all; no board has more than four.
    fn number(self, part: usize, nth: usize) -> u32 {
        (part << (self.bits + 2) | nth) as u32
    }

    /// The part, and which of its successors.
    fn place(self, number: u32) -> (usize, usize) {
        ((number >> (self.bits + 2)) as usize, (number & ((4 << self.bits) - 1)) as usize)
    }
}

/// What came of some boards next to each other, the same whoever expanded them.
pub(super) struct Part<M> {
    candidates: Vec<Candidate<M>>,
    /// By rank, the candidates; the least first.
    order: Vec<(u64, u32)>,
    pub(super) expanded: u64,
    pub(super) generated: u64,
    /// The step that leads to the goal, before which everything of the part was expanded.
    pub(super) goal: Option<Step>,
}

/// What came of a level.
pub(super) struct Parts<M> {
    pub(super) all: Vec<Part<M>>,
    size: PartSize,
}

impl<M: Copy> Parts<M> {
    /// The candidates, by rank, the least first.
    pub(super) fn in_order(&self) -> Vec<(u64, u32)> {
        let mut order = Vec::with_capacity(self.all.iter().map(|part| part.order.len()).sum());
        self.all.iter().for_each(|part| order.extend_from_slice(&part.order));
        if self.all.len() > 1 {
            // Made of runs in order, which this sort finds.
            order.sort();
        }
        order
    }

    pub(super) fn candidate(&self, at: u32) -> Candidate<M> {
        let (part, nth) = self.size.place(at);
        self.all[part].candidates[nth]
    }
}

/// A level that is expanded.
pub(super) struct Level<'a, P, G: Guide<P>> {
    pub(super) space: &'a Space<P>,
    pub(super) guide: &'a G,
    pub(super) beam: Beam,
    /// The distance of what comes of it.
    pub(super) g: usize,
    pub(super) members: Vec<Member<P, G::Memo>>,
    /// How many of them are expanded.
    pub(super) count: usize,
    pub(super) progress: Expanding<G::Memo>,
}

/// How far a level is.
pub(super) struct Expanding<M> {
    size: PartSize,
    next: AtomicUsize,
    parts: Mutex<Vec<Option<Part<M>>>>,
    done: AtomicUsize,
    ended: Condvar,
}

impl<M> Expanding<M> {
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
    pub(super) fn finish(&self, mut ask: impl FnMut() -> Result<(), StopReason>) -> Result<Parts<G::Memo>, StopReason> {
        let Expanding { size, parts, done, ended, .. } = &self.progress;
        let is_done = || done.load(Ordering::Acquire) * size.boards() >= self.count;
        while !look_out(is_done) {
            ask()?;
            drop(ended.wait_timeout_while(lock(parts), MOMENT, |_| !is_done()));
        }
        Ok(Parts { all: lock(parts).iter_mut().filter_map(Option::take).collect(), size: *size })
    }

    fn expand(&self, nth: usize) -> Part<G::Memo> {
        let Self { space, guide, beam, g, members, count, progress } = self;
        let size = progress.size;
        let range = nth * size.boards()..((nth + 1) * size.boards()).min(*count);
        let mut part = Part {
            candidates: Vec::with_capacity(2 * range.len()),
            order: Vec::with_capacity(2 * range.len()),
            expanded: 0,
            generated: 0,
            goal: None,
        };
        for (parent, member) in (range.start as u32..).zip(&members[range]) {
            part.expanded += 1;
            for mv in space.moves_except(member.state.blank, member.back) {
                part.generated += 1;
                let slide = space.slide(&member.state, mv);
                let Some(memo) = guide.after(member.memo, &slide, &member.state) else { continue };
                let promise = guide.promise(memo);
                let step = Step { parent, mv };
                if promise.least == 0 && space.is_goal(&member.state.after(&slide)) {
                    part.goal = Some(step);
                    return part;
                }
                if g + promise.least.max(1) as usize >= beam.shorter_than {
                    continue;
                }
                let hash = member.hash ^ place(slide.label, slide.from) ^ place(slide.label, slide.to);
                let number = size.number(nth, part.candidates.len());
                part.order.push((promise.rank(hash, beam.seed), number));
                part.candidates.push(Candidate { hash, memo, step });
            }
        }
        part.order.sort_unstable();
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
