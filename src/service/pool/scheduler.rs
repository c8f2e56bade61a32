//! Whose turn it is to search.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::search::{Help, Helpers, MainWork};

/// Workers and memory, and the jobs that want them.
///
/// As many jobs search at a time as there are workers. Each is of a *level*: how long it has searched
/// so far, in powers of ten. Whoever has searched for less goes first, and of equals who came first;
/// so what is soon done is soon answered, however many hard searches there are, and among those that
/// are as hard it is first come, first served (a feedback queue: Corbató, Merwin Daggett & Daley
/// 1962). A search in hand gives way to those of a lower level, after it had a moment at least. Now
/// and then the oldest has its turn, lest it wait for ever.
///
/// A job that has begun keeps its memory, so that is reserved beforehand: a job waits until there is
/// all that it may take. Small ones may pass large ones meanwhile, and have some that is theirs alone.
#[derive(Debug)]
pub(super) struct Turns {
    workers: usize,
    memory: u64,
    state: Mutex<State>,
    /// The lowest level of those who wait and could begin or go on.
    waiting: AtomicU8,
}

#[derive(Debug)]
struct State {
    /// Workers that nobody has.
    free: usize,
    /// Bytes that nobody reserved.
    memory: u64,
    /// Those of them that are kept for small jobs: they come on top of what large ones share.
    kept: u64,
    /// Jobs that have begun and not ended.
    begun: usize,
    /// Jobs so far.
    arrivals: u64,
    /// Those that have not begun, by arrival: small ones, and large ones.
    fresh: [BTreeMap<u64, Fresh>; 2],
    /// Those that have begun, by level and arrival.
    paused: BTreeMap<(u8, u64), Arc<Seat>>,
    /// Turns since the oldest had one.
    since_oldest: u32,
}

#[derive(Debug)]
struct Fresh {
    bytes: u64,
    call: oneshot::Sender<Turn>,
}

/// Where a job waits that has begun.
#[derive(Debug)]
struct Seat {
    is_called: AtomicBool,
    thread: Thread,
}

/// Who is next.
#[derive(Clone, Copy)]
enum Next {
    Fresh(u64),
    Paused((u8, u64)),
}

/// No level: nobody waits.
const NOBODY: u8 = u8::MAX;
/// What a search has at least before it gives way, and for how long it is of the lowest level.
const MOMENT: Duration = Duration::from_millis(5);
/// Every so many turns the oldest goes first.
const OLDEST_FIRST: u32 = 8;
/// Jobs that may have begun beside those that search: each has a thread.
const MAX_PAUSED: usize = 240;
/// Jobs of at most this share of the memory are small, or of that much, if it is not a quarter of all: A\* on any board of
/// nine cells is.
const SMALL_SHARE: u64 = 32;
const SMALL: u64 = 32 << 20;

/// The level of a job that has searched for so long: up to 5 ms, 50 ms, half a second, 5 s, and more.
fn level(worked: Duration) -> u8 {
    let moments = worked.as_micros() / MOMENT.as_micros();
    moments.checked_ilog10().map_or(0, |powers| powers.min(3) as u8 + 1)
}

/// The most bytes of a small job, and what is kept for such.
fn small(memory: u64) -> u64 {
    (memory / SMALL_SHARE).max(SMALL.min(memory / 4))
}

/// What is held of workers and memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Load {
    /// Workers that search.
    pub busy: usize,
    /// Jobs without a worker, whether they have begun or not.
    pub waiting: usize,
    /// Jobs that have begun and not ended.
    pub begun: usize,
    /// Bytes that they have reserved.
    pub reserved: u64,
}

impl Turns {
    /// So many workers, and bytes for all who have begun.
    pub(super) fn new(workers: usize, memory: u64) -> Arc<Self> {
        let state = State {
            free: workers,
            memory: memory.saturating_add(small(memory)),
            kept: small(memory),
            begun: 0,
            arrivals: 0,
            fresh: Default::default(),
            paused: BTreeMap::new(),
            since_oldest: 0,
        };
        Arc::new(Self { workers, memory, state: Mutex::new(state), waiting: AtomicU8::new(NOBODY) })
    }

    /// Waits for a worker, and for memory. Dropping the future gives the place up.
    pub(super) async fn take(self: &Arc<Self>, bytes: u64, patience: Patience) -> Turn {
        let bytes = bytes.min(self.memory);
        let line = usize::from(bytes > small(self.memory));
        let (call, called) = oneshot::channel();
        let number = self.change(|state| {
            state.arrivals += 1;
            state.fresh[line].insert(state.arrivals, Fresh { bytes, call });
            state.arrivals
        });
        let _leaving = Leaving { turns: self, line, number };
        let mut turn = called.await.expect("whoever waits is called, or leaves");
        turn.patience = patience;
        turn
    }

    /// What is held.
    pub(super) fn load(&self) -> Load {
        let state = self.lock();
        Load {
            busy: self.workers - state.free,
            waiting: state.fresh.iter().map(BTreeMap::len).sum::<usize>() + state.paused.len(),
            begun: state.begun,
            reserved: self.memory.saturating_add(state.kept) - state.memory,
        }
    }

    /// Has all who wait and have begun look whether they still want to.
    pub(super) fn wake_all(&self) {
        self.lock().paused.values().for_each(|seat| seat.thread.unpark());
    }

    /// The same for one of them.
    pub(super) fn wake(&self, number: u64) {
        let state = self.lock();
        let seat = state.paused.iter().find(|((_, paused), _)| *paused == number);
        seat.into_iter().for_each(|(_, seat)| seat.thread.unpark());
    }

    /// A worker that has nothing to do, if nobody waits for one.
    fn hire(self: &Arc<Self>) -> Option<Hired> {
        let mut state = self.lock();
        let is_free = state.free > 0 && state.next().is_none();
        is_free.then(|| {
            state.free -= 1;
            Hired(Arc::clone(self))
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What it guards is whole after a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes something, and gives workers to whom they are due then.
    fn change<T>(self: &Arc<Self>, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let changed = change(&mut state);
        let mut undelivered = Vec::new();
        while let Some(next) = state.next().filter(|_| state.free > 0) {
            state.free -= 1;
            match next {
                Next::Fresh(number) => undelivered.extend(self.begin(&mut state, number)),
                Next::Paused(key) => state.call(key),
            }
        }
        self.waiting.store(state.lowest_level(), Ordering::Relaxed);
        drop(state);
        // Each is given back by a change of its own.
        drop(undelivered);
        changed
    }

    /// Gives a job its first turn; what comes back was not wanted any more.
    fn begin(self: &Arc<Self>, state: &mut State, number: u64) -> Option<Turn> {
        let Fresh { bytes, call } = state.fresh.iter_mut().find_map(|line| line.remove(&number))?;
        state.memory -= bytes;
        state.begun += 1;
        state.since_oldest += 1;
        let clock = Clock { since: Some(Instant::now()), worked: Duration::ZERO, paused: Duration::ZERO };
        let turn =
            Turn { turns: Arc::clone(self), number, bytes, patience: Patience::default(), clock: Mutex::new(clock) };
        call.send(turn).err()
    }

    /// Leaves the worker to others and waits for the next turn; false if patience ends before.
    fn give_way(self: &Arc<Self>, key: (u8, u64), patience: &Patience) -> bool {
        let seat = Arc::new(Seat { is_called: AtomicBool::new(false), thread: std::thread::current() });
        self.change(|state| {
            state.paused.insert(key, Arc::clone(&seat));
            state.free += 1;
        });
        while !seat.is_called.load(Ordering::Acquire) {
            if patience.is_over() {
                // Unless the call came just now.
                return self.change(|state| state.paused.remove(&key)).is_none();
            }
            std::thread::park_timeout(patience.left().min(Duration::from_secs(3600)));
        }
        true
    }
}

impl State {
    fn next(&self) -> Option<Next> {
        if self.since_oldest >= OLDEST_FIRST
            && let Some(oldest) = self.oldest()
        {
            return Some(Next::Paused(oldest));
        }
        let paused = self.paused.first_key_value().map(|(key, _)| Next::Paused(*key));
        self.eligible().map(Next::Fresh).or(paused)
    }

    /// The first of those that have not begun and could.
    fn eligible(&self) -> Option<u64> {
        let firsts = self.fresh.iter().zip([0, self.kept]);
        let firsts = firsts.filter_map(|(line, kept)| line.first_key_value().map(|first| (first, kept)));
        let fitting = firsts.filter(|((_, fresh), kept)| fresh.bytes.saturating_add(*kept) <= self.memory);
        fitting.map(|((number, _), _)| *number).min().filter(|_| self.paused.len() < MAX_PAUSED)
    }

    fn oldest(&self) -> Option<(u8, u64)> {
        self.paused.keys().min_by_key(|(_, number)| *number).copied()
    }

    fn lowest_level(&self) -> u8 {
        match (self.eligible(), self.paused.first_key_value()) {
            (Some(_), _) => 0,
            (None, Some(((level, _), _))) => *level,
            (None, None) => NOBODY,
        }
    }

    /// Has a job go on that has begun.
    fn call(&mut self, key: (u8, u64)) {
        self.since_oldest = if self.oldest() == Some(key) { 0 } else { self.since_oldest + 1 };
        if let Some(seat) = self.paused.remove(&key) {
            seat.is_called.store(true, Ordering::Release);
            seat.thread.unpark();
        }
    }
}

/// When a job is to wait no longer.
#[derive(Clone, Debug, Default)]
pub(super) struct Patience {
    /// Its time is over.
    pub(super) deadline: Option<Instant>,
    /// Nobody wants it any more, or anything.
    pub(super) flags: [Arc<AtomicBool>; 2],
}

impl Patience {
    fn is_over(&self) -> bool {
        self.flags.iter().any(|flag| flag.load(Ordering::Relaxed)) || self.left().is_zero()
    }

    fn left(&self) -> Duration {
        self.deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

/// Takes a job out of the queue when its future is dropped.
struct Leaving<'a> {
    turns: &'a Arc<Turns>,
    line: usize,
    number: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.turns.change(|state| state.fresh[self.line].remove(&self.number));
    }
}

/// A job's turn: memory, and most of the time a worker.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    number: u64,
    bytes: u64,
    patience: Patience,
    clock: Mutex<Clock>,
}

/// How a job that has begun spends its time.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// Since when it has had a worker, if it has one.
    since: Option<Instant>,
    /// What it worked before that.
    worked: Duration,
    paused: Duration,
}

impl Turn {
    /// Which job it is, for [`Turns::wake`].
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// How long it searched, and how long it waited since it began.
    pub(super) fn times(&self) -> (Duration, Duration) {
        let Clock { since, worked, paused } = *self.clock();
        (worked + since.map_or(Duration::ZERO, |since| since.elapsed()), paused)
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let has_worker = self.clock().since.is_some();
        self.turns.change(|state| {
            state.free += usize::from(has_worker);
            state.memory += self.bytes;
            state.begun -= 1;
        });
    }
}

impl Helpers for Turn {
    fn work(&self, main: MainWork<'_>, help: &Help<'_>) {
        let is_wanted = || self.turns.waiting.load(Ordering::Relaxed) != NOBODY;
        std::thread::scope(|scope| {
            main(&|| {
                if is_wanted() {
                    return;
                }
                if let Some(hired) = self.turns.hire() {
                    // A system that has no thread to spare is no reason to fail.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, move || {
                        let _hired = hired;
                        help(&is_wanted);
                    });
                }
            });
        });
    }

    /// Lets those of lower levels go first.
    fn pause(&self) {
        let waiting = self.turns.waiting.load(Ordering::Relaxed);
        if waiting == NOBODY {
            return;
        }
        let mut clock = self.clock();
        let Some(since) = clock.since else { return };
        let held = since.elapsed();
        let level = level(clock.worked + held);
        if held < MOMENT || waiting >= level {
            return;
        }
        let begun = Instant::now();
        clock.worked += held;
        // Whoever loses patience comes to its end without a worker.
        let is_called = self.turns.give_way((level, self.number), &self.patience);
        clock.paused += begun.elapsed();
        clock.since = is_called.then(Instant::now);
    }
}

/// A worker that helps.
struct Hired(Arc<Turns>);

impl Drop for Hired {
    fn drop(&mut self) {
        self.0.change(|state| state.free += 1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// A search on a thread of its own that asks for pauses until it is told to end.
    struct Hog {
        is_over: Arc<AtomicBool>,
        thread: std::thread::JoinHandle<(Duration, Duration)>,
    }

    impl Hog {
        async fn start(turns: &Arc<Turns>, patience: Patience) -> Self {
            let turn = turns.take(0, patience).await;
            let is_over = Arc::new(AtomicBool::new(false));
            let thread = std::thread::spawn({
                let is_over = Arc::clone(&is_over);
                move || {
                    while !is_over.load(Ordering::Relaxed) && !turn.patience.is_over() {
                        turn.pause();
                    }
                    turn.times()
                }
            });
            Self { is_over, thread }
        }

        fn end(self) -> (Duration, Duration) {
            self.is_over.store(true, Ordering::Relaxed);
            self.thread.join().unwrap()
        }
    }

    #[test]
    fn levels_rise_with_what_was_searched() {
        let levels = [0, 4, 5, 49, 50, 499, 500, 4_999, 5_000, 1 << 40].map(|ms| level(Duration::from_millis(ms)));
        assert_eq!(levels, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_comes_later_has_its_turn_while_others_search_on() {
        let turns = Turns::new(1, 0);
        let hog = Hog::start(&turns, Patience::default()).await;
        for _ in 0..5 {
            // The only worker; it is given away, or this hangs.
            drop(turns.take(0, Patience::default()).await);
        }
        let (worked, paused) = hog.end();
        assert!(worked >= MOMENT && paused > Duration::ZERO);
        assert_eq!(turns.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_oldest_is_not_passed_by_for_ever() {
        let turns = Turns::new(1, 0);
        let hog = Hog::start(&turns, Patience::default()).await;
        // As soon as one turn is over another one waits.
        let mut next = Box::pin(turns.take(0, Patience::default()));
        let begun = Instant::now();
        for _ in 0..10 * OLDEST_FIRST {
            let turn = next.await;
            next = Box::pin(turns.take(0, Patience::default()));
            assert!(futures_util::FutureExt::now_or_never(&mut next).is_none());
            std::thread::sleep(Duration::from_millis(1));
            drop(turn);
        }
        drop(next);
        let elapsed = begun.elapsed();
        let (worked, _) = hog.end();
        assert!(worked >= 5 * MOMENT, "{worked:?} of {elapsed:?}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn memory_is_waited_for_and_what_is_small_goes_ahead() {
        let turns = Turns::new(4, 100);
        let large = turns.take(60, Patience::default()).await;
        let mut second = Box::pin(turns.take(60, Patience::default()));
        assert!(futures_util::FutureExt::now_or_never(&mut second).is_none());
        let small = turns.take(3, Patience::default()).await;
        assert_eq!(turns.load(), Load { busy: 2, waiting: 1, begun: 2, reserved: 63 });
        drop((large, small));
        let second = second.await;
        assert_eq!(turns.load().reserved, 60);
        // One that asks for more than there is gets all.
        drop(second);
        assert_eq!(turns.take(1_000, Patience::default()).await.bytes, 100);
        assert_eq!(turns.load(), Load::default());
    }

    #[tokio::test]
    async fn large_jobs_leave_some_memory_to_small_ones() {
        let turns = Turns::new(3, 100);
        let all = turns.take(1_000, Patience::default()).await;
        drop(turns.take(3, Patience::default()).await);
        let mut large = Box::pin(turns.take(26, Patience::default()));
        assert!(futures_util::FutureExt::now_or_never(&mut large).is_none());
        drop((all, large));
        assert_eq!(turns.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn who_waits_in_vain_leaves_nothing_behind() {
        let turns = Turns::new(1, 0);
        let flags = [Arc::<AtomicBool>::default(), Arc::default()];
        let patience = Patience { deadline: None, flags: flags.clone() };
        let hog = Hog::start(&turns, patience).await;
        let turn = turns.take(0, Patience::default()).await;
        assert!(tokio::time::timeout(MOMENT, turns.take(0, Patience::default())).await.is_err());
        assert_eq!(turns.load(), Load { busy: 1, waiting: 1, begun: 2, reserved: 0 });
        // It waits for the worker, and nobody wants it any more.
        flags[0].store(true, Ordering::Relaxed);
        turns.wake(1);
        hog.thread.join().unwrap();
        assert_eq!(turns.load(), Load { busy: 1, waiting: 0, begun: 1, reserved: 0 });
        drop(turn);
        assert_eq!(turns.load(), Load::default());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn those_who_help_leave_when_a_job_waits() {
        let turns = Turns::new(2, 0);
        let own = turns.take(0, Patience::default()).await;
        let helpers = Arc::new(AtomicUsize::new(0));
        let search = tokio::task::spawn_blocking({
            let helpers = Arc::clone(&helpers);
            move || {
                let help = |is_wanted: &dyn Fn() -> bool| {
                    helpers.fetch_add(1, Ordering::Relaxed);
                    while !is_wanted() {
                        std::thread::yield_now();
                    }
                };
                // One helper, however often it asks: the other worker is its own.
                own.work(&mut |ask| (0..10).for_each(|_| ask()), &help);
            }
        });
        while helpers.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(turns.load().busy, 2);
        drop(turns.take(0, Patience::default()).await);
        search.await.unwrap();
        assert_eq!(helpers.load(Ordering::Relaxed), 1);
        assert_eq!(turns.load(), Load::default());
    }
}
