//! Pattern tables, as strong as there was time and memory for.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tracing::Level;

use super::disk_cache::{TableCache, Unread};
use crate::domain::{Cell, Size};
use crate::search::heuristic::{GoalClass, Partition, PatternTable, Patterns, Tier};

/// For each class of boards and goals the tables that are loaded.
///
/// Small ones are built when they are first asked for, once, while others who ask wait for them.
/// Stronger ones take their place when they are there, and those who still search with the old ones
/// go on with them. When all take more memory than they may, those of the class that was not asked
/// for the longest are dropped; but nothing that was asked for lately is dropped for stronger ones.
#[derive(Debug)]
pub(super) struct Shelf {
    slots: Vec<Slot>,
    /// The most bytes that tables of classes that are not kept may take.
    memory: u64,
    /// Where tables are kept between runs, if anywhere.
    cache: Option<TableCache>,
    /// Counts the times that anything was asked for.
    clock: AtomicU64,
    /// Who builds stronger tables of a class that was asked for.
    builder: OnceLock<Mutex<Sender<GoalClass>>>,
    /// Held while tables are put up and others taken down.
    changing: Mutex<()>,
    /// Held while tables are built that somebody waits for.
    building: Mutex<()>,
    born: Instant,
}

#[derive(Debug)]
struct Slot {
    class: GoalClass,
    loaded: RwLock<Option<Arc<Loaded>>>,
    /// Held while small tables are built.
    building: Mutex<()>,
    /// Whether somebody was sent to build them, and who waits for that.
    is_ordered: AtomicBool,
    came: Notify,
    /// When it was last asked for, by the shelf's clock, and in seconds of its life.
    asked: AtomicU64,
    asked_at: AtomicU64,
    /// The second in which the builder was last told of it, and one.
    told_at: AtomicU64,
    has_better: bool,
    /// Whether the builder is to come to stronger ones.
    is_promised: AtomicBool,
    /// How many wait for small tables.
    waiting: AtomicUsize,
    /// When there was no room for small tables, if it was so.
    refused: Mutex<Option<(Instant, NoRoom)>>,
}

/// There is not as much memory for tables as these would take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::service) struct NoRoom {
    pub(in crate::service) bytes: u64,
}

/// Seconds for which tables are not dropped for the first ones of a large board.
const JUST_NOW: u64 = 60;
/// For how long there is no room if there was none.
const NO_ROOM_FOR: Duration = Duration::from_secs(10);

/// Seconds for which tables are not dropped for stronger ones of another class, and until a builder
/// is told of a class again.
const LATELY: u64 = 600;

/// Tables of a class.
#[derive(Debug)]
pub(in crate::service) struct Loaded {
    pub(in crate::service) class: GoalClass,
    pub(in crate::service) tier: Tier,
    pub(in crate::service) partitions: Vec<Partition>,
    /// How long they took to build, or to read.
    pub(in crate::service) time: Duration,
}

impl Loaded {
    /// Memory they take.
    pub(in crate::service) fn bytes(&self) -> usize {
        Partition::bytes_of(&self.partitions)
    }
}

impl Slot {
    fn loaded(&self) -> Option<Arc<Loaded>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put(&self, loaded: Option<Arc<Loaded>>) {
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = loaded;
    }
}

/// Somebody who waits for small tables.
struct Waiting<'a>(&'a Slot);

impl<'a> Waiting<'a> {
    fn begin(slot: &'a Slot) -> Self {
        slot.waiting.fetch_add(1, Ordering::AcqRel);
        Self(slot)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Tables that somebody was sent to build; those who wait are told in any case.
struct Ordered<'a>(&'a Slot);

impl Drop for Ordered<'_> {
    fn drop(&mut self) {
        self.0.is_ordered.store(false, Ordering::Release);
        self.0.came.notify_waiters();
    }
}

/// Stronger tables that the builder came to; those who wait are told, whatever came of it.
struct Promised<'a>(&'a Slot);

impl Drop for Promised<'_> {
    fn drop(&mut self) {
        self.0.is_promised.store(false, Ordering::Release);
        self.0.came.notify_waiters();
    }
}

/// A lock that a panic while it was held does not close for ever: what it guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    pub(super) fn new(memory: u64, cache: Option<TableCache>) -> Self {
        let slot = |class| Slot {
            class,
            loaded: RwLock::default(),
            building: Mutex::default(),
            is_ordered: AtomicBool::new(false),
            came: Notify::new(),
            asked: AtomicU64::new(0),
            asked_at: AtomicU64::new(0),
            told_at: AtomicU64::new(0),
            has_better: Partition::choose(class, Tier::Standard).is_some(),
            is_promised: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            refused: Mutex::default(),
        };
        Self {
            slots: GoalClass::all().map(slot).collect(),
            memory,
            cache,
            clock: AtomicU64::new(0),
            builder: OnceLock::new(),
            changing: Mutex::default(),
            building: Mutex::default(),
            born: Instant::now(),
        }
    }

    /// From now on classes for which there are stronger tables are named to a builder when they are
    /// asked for.
    pub(super) fn engage(&self, builder: Sender<GoalClass>) {
        let _ = self.builder.set(Mutex::new(builder));
    }

    /// The strongest tables that are there for a shape and goal that [have some](GoalClass::serves);
    /// small ones are built if there are none.
    pub(super) fn get(&self, size: Size, goal_blank: Cell) -> Arc<Loaded> {
        let slot = self.slot(GoalClass::of(size, goal_blank));
        self.asked(slot);
        let loaded = slot.loaded().unwrap_or_else(|| self.first(slot, threads()));
        self.deliver(slot, loaded)
    }

    /// The same without holding up the caller's thread: if there are none they are built on another,
    /// which begins if somebody still waits, and then goes on in any case, for the next one will ask again.
    ///
    /// # Errors
    /// If those of a large board would take more memory than there is for tables, beside those asked for just now.
    pub(super) async fn ready(self: &Arc<Self>, size: Size, goal_blank: Cell) -> Result<Arc<Loaded>, NoRoom> {
        let slot = self.slot(GoalClass::of(size, goal_blank));
        self.asked(slot);
        let _waiting = Waiting::begin(slot);
        loop {
            let came = slot.came.notified();
            if let Some(loaded) = slot.loaded() {
                return Ok(self.deliver(slot, loaded));
            }
            if let Some((_, no_room)) = lock(&slot.refused).filter(|(since, _)| since.elapsed() < NO_ROOM_FOR) {
                return Err(no_room);
            }
            if !slot.is_ordered.swap(true, Ordering::AcqRel) {
                let (shelf, class) = (Arc::clone(self), slot.class);
                // A system that has no thread to spare may have one when the next one asks.
                if std::thread::Builder::new().spawn(move || shelf.build_first(class)).is_err() {
                    drop(Ordered(slot));
                    return Err(NoRoom { bytes: 0 });
                }
            }
            came.await;
        }
    }

    /// Stronger tables than these, as soon as the builder has come to them; these, if there are none to come.
    pub(super) async fn stronger(&self, loaded: Arc<Loaded>) -> Arc<Loaded> {
        let slot = self.slot(loaded.class);
        loop {
            let came = slot.came.notified();
            let is_promised = slot.is_promised.load(Ordering::Acquire);
            let best = slot.loaded().unwrap_or_else(|| Arc::clone(&loaded));
            if best.tier > loaded.tier || !is_promised {
                return best;
            }
            came.await;
        }
    }

    fn build_first(&self, class: GoalClass) {
        let slot = self.slot(class);
        let _ordered = Ordered(slot);
        // One after the other, and none that nobody waits for any more.
        let _building = lock(&self.building);
        if slot.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        match self.room_for_first(slot) {
            Ok(threads) => drop(self.first(slot, threads)),
            Err(no_room) => *lock(&slot.refused) = Some((Instant::now(), no_room)),
        }
    }

    /// On how many threads there is memory to build the small tables of a class; those of small boards always have it.
    /// Makes room for what it takes.
    fn room_for_first(&self, slot: &Slot) -> Result<usize, NoRoom> {
        if !slot.class.is_wide() {
            return Ok(threads());
        }
        let Need { tables, to_build } = Need::of(slot.class, Tier::Small).expect("every class has small patterns");
        let free = self.memory.saturating_sub(self.asked_within(JUST_NOW, slot.class));
        if tables + to_build > free {
            return Err(NoRoom { bytes: tables + to_build });
        }
        // It takes seconds, in which others search.
        let threads = ((free - tables) / to_build.max(1)).clamp(1, (threads() - 1).max(1) as u64);
        self.make_room(self.memory - tables - threads * to_build, 0);
        Ok(threads as usize)
    }

    /// What tables of other classes take that were asked for within so many seconds.
    fn asked_within(&self, seconds: u64, class: GoalClass) -> u64 {
        let now = self.age();
        let is_needed = |slot: &&Slot| {
            let is_recent = now < slot.asked_at.load(Ordering::Relaxed) + seconds;
            slot.class != class && !is_kept(slot.class) && is_recent
        };
        let needed = self.slots.iter().filter(is_needed).filter_map(Slot::loaded);
        needed.map(|loaded| loaded.bytes() as u64).sum()
    }

    fn asked(&self, slot: &Slot) {
        slot.asked.store(self.clock.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        slot.asked_at.store(self.age(), Ordering::Relaxed);
    }

    fn deliver(&self, slot: &Slot, loaded: Arc<Loaded>) -> Arc<Loaded> {
        if slot.has_better && loaded.tier < Tier::Standard {
            self.tell(slot);
        }
        loaded
    }

    /// The small tables of a class that has none.
    fn first(&self, slot: &Slot, threads: usize) -> Arc<Loaded> {
        let _building = lock(&slot.building);
        slot.loaded().unwrap_or_else(|| {
            let loaded = build(slot.class, Tier::Small, threads).expect("every class has small patterns");
            self.load(slot, &loaded);
            loaded
        })
    }

    /// Names a class to the builder, if there is one who was not told lately.
    fn tell(&self, slot: &Slot) {
        let Some(builder) = self.builder.get() else { return };
        let (now, told_at) = (self.age() + 1, slot.told_at.load(Ordering::Relaxed));
        if told_at == 0 || now >= told_at + LATELY {
            slot.told_at.store(now, Ordering::Relaxed);
            slot.is_promised.store(true, Ordering::Release);
            if lock(builder).send(slot.class).is_err() {
                // It has ended; the small ones will do.
                drop(Promised(slot));
            }
        }
    }

    /// In seconds.
    fn age(&self) -> u64 {
        self.born.elapsed().as_secs()
    }

    /// Builds the tables of a tier for a class on all cores, if it has such and none as strong are
    /// there.
    pub(super) fn improve(&self, class: GoalClass, tier: Tier) {
        self.improve_on(threads(), class, tier);
    }

    /// The same on one thread, for a class whose tables are still there, and if better ones leave room
    /// for all others that were asked for lately; whether anything was built.
    pub(super) fn improve_later(&self, class: GoalClass, tier: Tier) -> bool {
        let _promised = Promised(self.slot(class));
        // Nothing else is built meanwhile that takes as much.
        let _building = class.is_wide().then(|| lock(&self.building));
        let others = self.asked_within(LATELY, class);
        let fits = |Need { tables, to_build }| others + tables + to_build <= self.memory;
        let is_room = is_kept(class) || Need::of(class, tier).is_some_and(fits);
        is_room && self.slot(class).loaded().is_some() && self.improve_on(1, class, tier)
    }

    fn improve_on(&self, threads: usize, class: GoalClass, tier: Tier) -> bool {
        let slot = self.slot(class);
        let is_wanted = slot.loaded().is_none_or(|loaded| loaded.tier < tier);
        let tables = is_wanted.then(|| self.read_or_build(threads, class, tier)).flatten();
        tables.inspect(|tables| self.load(slot, tables)).is_some()
    }

    /// Tables from the cache, or built and then left there.
    fn read_or_build(&self, threads: usize, class: GoalClass, tier: Tier) -> Option<Arc<Loaded>> {
        let Some(cache) = &self.cache else { return build(class, tier, threads) };
        let begun = Instant::now();
        let choice = Partition::choose(class, tier)?;
        let unread = match cache.read(class, &choice) {
            Ok(tables) => {
                let partitions = Partition::assemble(class, &choice, tables);
                return Some(Arc::new(Loaded { class, tier, partitions, time: begun.elapsed() }));
            }
            Err(unread) => unread,
        };
        let loaded = build(class, tier, threads)?;
        let path = cache.path(class, &choice);
        match (cache.write(&loaded.partitions, &choice), unread) {
            (Err(error), _) => {
                tracing::event!(target: "taquin::tables", Level::WARN, tables.path = %path.display(), %error, "tables could not be cached");
            }
            (Ok(()), Unread::Missing) => {}
            (Ok(()), error) => {
                tracing::event!(target: "taquin::tables", Level::WARN, tables.path = %path.display(), %error, "cached tables were built anew");
            }
        }
        Some(loaded)
    }

    fn slot(&self, class: GoalClass) -> &Slot {
        self.slots.iter().find(|slot| slot.class == class).expect("every class has a slot")
    }

    /// Puts tables in the place of weaker ones, and drops what was not asked for the longest if all
    /// take too much.
    fn load(&self, slot: &Slot, tables: &Arc<Loaded>) {
        let _changing = lock(&self.changing);
        if slot.loaded().is_none_or(|loaded| loaded.tier < tables.tier) {
            slot.put(Some(Arc::clone(tables)));
        }
        // What was asked for last stays, or everybody who asks for it would build it.
        self.make_room(self.memory, 1);
    }

    /// Takes down what was not asked for the longest until the rest takes no more than so many bytes, or is as little
    /// as is to stay in any case.
    fn make_room(&self, memory: u64, least: usize) {
        let all = self.slots.iter().filter(|slot| !is_kept(slot.class));
        let mut all: Vec<(&Slot, u64)> =
            all.filter_map(|slot| slot.loaded().map(|loaded| (slot, loaded.bytes() as u64))).collect();
        all.sort_by_key(|(slot, _)| std::cmp::Reverse(slot.asked.load(Ordering::Relaxed)));
        let mut total = 0;
        for (nth, (slot, bytes)) in all.into_iter().enumerate() {
            if nth >= least && total + bytes > memory {
                slot.put(None);
            } else {
                total += bytes;
            }
        }
    }

    /// What is loaded.
    pub(super) fn loaded(&self) -> impl Iterator<Item = Arc<Loaded>> {
        self.slots.iter().filter_map(Slot::loaded)
    }
}

/// Whether a class is the one that most questions are of, whose tables are built at start and stay.
fn is_kept(class: GoalClass) -> bool {
    class == GoalClass::corner_of_4x4()
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Memory that the tables of a tier would take.
#[derive(Clone, Copy, Debug)]
struct Need {
    tables: u64,
    /// What each thread that builds them takes for a time, where that is much: on large boards.
    to_build: u64,
}

impl Need {
    fn of(class: GoalClass, tier: Tier) -> Option<Self> {
        let geometries = Partition::geometries(class, &Partition::choose(class, tier)?);
        let is_first = |nth: usize| !geometries[..nth].iter().any(|earlier| Arc::ptr_eq(earlier, &geometries[nth]));
        let shared: usize = (0..geometries.len()).filter(|nth| is_first(*nth)).map(|nth| geometries[nth].bytes()).sum();
        let tables = shared + geometries.iter().map(|geometry| 8 * geometry.words()).sum::<usize>();
        let to_build = geometries.iter().map(|geometry| geometry.bytes_to_build()).max().unwrap_or(0);
        Some(Self { tables: tables as u64, to_build: if class.is_wide() { to_build as u64 } else { 0 } })
    }
}

/// Builds the tables of a tier, if the class has such, on so many threads.
fn build(class: GoalClass, tier: Tier, threads: usize) -> Option<Arc<Loaded>> {
    let begun = Instant::now();
    let choice = Partition::choose(class, tier)?;
    let tables = side_by_side(class, &choice, threads);
    let partitions = Partition::assemble(class, &choice, tables);
    Some(Arc::new(Loaded { class, tier, partitions, time: begun.elapsed() }))
}

fn side_by_side(class: GoalClass, choice: &[Patterns], threads: usize) -> Vec<PatternTable> {
    let geometries = Partition::geometries(class, choice);
    let patterns: Vec<_> = choice.iter().flatten().zip(&geometries).collect();
    let tables: Vec<OnceLock<PatternTable>> = patterns.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(nth) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < patterns.len()) {
            let (labels, geometry) = patterns[nth];
            tables[nth].get_or_init(|| PatternTable::build(class.size, class.goal_blank, labels, geometry));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(patterns.len()) {
            // A system that has no thread to spare leaves more for this one.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    tables.into_iter().map(|table| table.into_inner().expect("every pattern was taken")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    fn is_loaded(shelf: &Shelf, size: Size) -> bool {
        shelf.loaded().any(|loaded| loaded.class.size == size)
    }

    #[test]
    fn what_many_ask_for_at_once_is_built_once() {
        let shelf = Shelf::new(u64::MAX, None);
        let all: Vec<Arc<Loaded>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| shelf.get(size(2, 5), 9))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|loaded| Arc::ptr_eq(loaded, &all[0])));
    }

    #[test]
    fn what_was_not_asked_for_the_longest_gives_way() {
        let all = Shelf::new(u64::MAX, None);
        let sizes = [size(2, 5), size(2, 6), size(3, 4)];
        let bytes = sizes.map(|size| all.get(size, 0).bytes() as u64);
        let shelf = Shelf::new(bytes.iter().sum::<u64>() - 1, None);
        for size in [sizes[0], sizes[1], sizes[0], sizes[2]] {
            shelf.get(size, 0);
        }
        assert_eq!(sizes.map(|size| is_loaded(&shelf, size)), [true, false, true]);
        // However little there may be: what was asked for last is there, and what is kept.
        let shelf = Shelf::new(0, None);
        shelf.get(size(4, 4), 0);
        sizes.iter().for_each(|size| drop(shelf.get(*size, 0)));
        assert_eq!(sizes.map(|size| is_loaded(&shelf, size)), [false, false, true]);
        assert!(is_loaded(&shelf, size(4, 4)));
    }

    #[test]
    fn stronger_tables_take_the_place_of_weaker_ones_and_not_the_other_way_round() {
        let shelf = Shelf::new(u64::MAX, None);
        let weak = shelf.get(size(2, 5), 0);
        let loaded = |tier| {
            let partitions = weak.partitions.clone();
            Arc::new(Loaded { class: weak.class, tier, partitions, time: Duration::ZERO })
        };
        for (tier, expected) in [(Tier::Large, Tier::Large), (Tier::Standard, Tier::Large)] {
            shelf.load(shelf.slot(weak.class), &loaded(tier));
            assert_eq!(shelf.get(size(2, 5), 0).tier, expected);
        }
        assert_eq!(weak.tier, Tier::Small, "who has the old ones keeps them");
    }

    #[test]
    fn a_builder_is_told_once_of_classes_that_have_better_tables() {
        let shelf = Shelf::new(u64::MAX, None);
        let (sender, told) = channel();
        shelf.engage(sender);
        for goal_blank in [0, 0, 1] {
            shelf.get(size(2, 5), goal_blank);
            shelf.get(size(4, 4), goal_blank);
        }
        let told: Vec<GoalClass> = told.try_iter().collect();
        assert_eq!(told, [0, 1].map(|goal_blank| GoalClass { size: size(4, 4), goal_blank }));
        let little = Shelf::new(1 << 20, None);
        little.get(size(4, 4), 1);
        assert!(!little.improve_later(told[1], Tier::Standard), "better ones would take too much");
        // Nothing that was asked for lately gives way to better ones.
        let bytes = Need::of(told[1], Tier::Standard).unwrap().tables;
        let crowded = Shelf::new(bytes, None);
        [1, 0].into_iter().for_each(|rows| drop(crowded.get(size(4 - 2 * rows, 4 + 4 * rows), 1)));
        assert!(!crowded.improve_later(told[1], Tier::Standard));
    }

    #[tokio::test]
    async fn who_has_time_gets_stronger_tables_when_they_come_and_waits_for_none_that_do_not() {
        let shelf = Shelf::new(u64::MAX, None);
        let small = shelf.get(size(4, 4), 1);
        assert!(Arc::ptr_eq(&shelf.stronger(Arc::clone(&small)).await, &small), "nobody builds any");
        let (sender, told) = channel();
        shelf.engage(sender);
        shelf.get(size(4, 4), 1);
        let slot = shelf.slot(told.try_recv().unwrap());
        let strong = Arc::new(Loaded {
            class: slot.class,
            tier: Tier::Standard,
            partitions: small.partitions.clone(),
            time: Duration::ZERO,
        });
        let build = async {
            shelf.load(slot, &strong);
            drop(Promised(slot));
        };
        let (came, ()) = tokio::join!(shelf.stronger(Arc::clone(&small)), build);
        assert!(Arc::ptr_eq(&came, &strong));
        // Where there is no room for them, the small ones are given at once.
        let other = shelf.get(size(4, 4), 5);
        assert_eq!(told.try_recv().unwrap(), other.class);
        let (came, ()) =
            tokio::join!(shelf.stronger(Arc::clone(&other)), async { drop(Promised(shelf.slot(other.class))) });
        assert!(Arc::ptr_eq(&came, &other));
    }
}
