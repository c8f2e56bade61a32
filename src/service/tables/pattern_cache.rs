//! Cache of pattern tables by goal class, with LRU eviction.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use tracing::Level;

use super::disk_cache::{DiskCache, ReadError};
use crate::domain::{Cell, Size};
use crate::search::heuristic::{GoalClass, Partition, PatternTable, Patterns, Tier};

/// The loaded pattern tables of each goal class.
///
/// Small tables are built once, on first use; concurrent callers wait. Stronger tables replace them later, and running
/// searches keep those that they started with. When the tables exceed their memory, the least recently used class is
/// evicted. Recently used tables are never evicted for stronger ones.
#[derive(Debug)]
pub(crate) struct PatternCache {
    entries: Vec<ClassEntry>,
    /// Memory of all classes that are not pinned, in bytes.
    memory: u64,
    /// Files of tables, kept between runs, if there is a directory for them.
    cache: Option<DiskCache>,
    /// Counts uses of any class.
    clock: AtomicU64,
    /// Channel to the background builder.
    builder: OnceLock<Mutex<Sender<GoalClass>>>,
    /// Held while tables are replaced or evicted.
    changing: Mutex<()>,
    /// Held while tables of large boards are built.
    building: Mutex<()>,
    started: Instant,
}

#[derive(Debug)]
struct ClassEntry {
    class: GoalClass,
    loaded: RwLock<Option<Arc<LoadedPatterns>>>,
    /// Held while small tables are built.
    building: Mutex<()>,
    /// True while a thread builds the first tables; `changed` wakes the callers that wait for them.
    is_building: AtomicBool,
    changed: Notify,
    /// Last use, by the cache's counter and in seconds since its creation.
    last_used: AtomicU64,
    last_used_second: AtomicU64,
    /// Second of the last upgrade request plus one; zero before the first.
    requested_at: AtomicU64,
    has_better: bool,
    /// True while an upgrade request is pending.
    is_upgrade_pending: AtomicBool,
    /// Number of callers that wait for small tables.
    waiting: AtomicUsize,
    /// Time and cause of the last rejected build of small tables.
    rejected: Mutex<Option<(Instant, TableMemoryExceeded)>>,
}

/// The tables would exceed the memory for tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TableMemoryExceeded {
    pub(crate) bytes: u64,
}

/// Seconds since the last use during which tables are not evicted for the first tables of a large board.
const FIRST_BUILD_KEEP_SECONDS: u64 = 60;
/// Repeated requests are rejected for this time without another check.
const REJECT_AGAIN_FOR: Duration = Duration::from_secs(10);

/// Seconds since the last use during which tables are not evicted for stronger ones of another class; also the minimum
/// interval between upgrade requests of a class.
const UPGRADE_KEEP_SECONDS: u64 = 600;

/// Loaded pattern tables of a class.
#[derive(Debug)]
pub(crate) struct LoadedPatterns {
    pub(crate) class: GoalClass,
    pub(crate) tier: Tier,
    pub(crate) partitions: Vec<Partition>,
    /// Time to build or to read them.
    pub(crate) time: Duration,
}

impl LoadedPatterns {
    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        Partition::bytes_of(&self.partitions)
    }
}

impl ClassEntry {
    fn loaded(&self) -> Option<Arc<LoadedPatterns>> {
        self.loaded.read().clone()
    }

    fn put(&self, loaded: Option<Arc<LoadedPatterns>>) {
        *self.loaded.write() = loaded;
    }
}

/// Counts a caller that waits for small tables.
struct WaitGuard<'a>(&'a ClassEntry);

impl<'a> WaitGuard<'a> {
    fn begin(entry: &'a ClassEntry) -> Self {
        entry.waiting.fetch_add(1, Ordering::AcqRel);
        Self(entry)
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Marks a running first build; wakes the waiting callers when dropped, even after a failure.
struct FirstBuildGuard<'a>(&'a ClassEntry);

impl Drop for FirstBuildGuard<'_> {
    fn drop(&mut self) {
        self.0.is_building.store(false, Ordering::Release);
        self.0.changed.notify_waiters();
    }
}

/// Marks a pending upgrade; wakes the waiting callers when dropped, even after a failure.
struct UpgradeGuard<'a>(&'a ClassEntry);

impl Drop for UpgradeGuard<'_> {
    fn drop(&mut self) {
        self.0.is_upgrade_pending.store(false, Ordering::Release);
        self.0.changed.notify_waiters();
    }
}

impl PatternCache {
    pub(crate) fn new(memory: u64, cache: Option<DiskCache>) -> Self {
        let entry = |class| ClassEntry {
            class,
            loaded: RwLock::default(),
            building: Mutex::default(),
            is_building: AtomicBool::new(false),
            changed: Notify::new(),
            last_used: AtomicU64::new(0),
            last_used_second: AtomicU64::new(0),
            requested_at: AtomicU64::new(0),
            has_better: Partition::choose(class, Tier::Standard).is_some(),
            is_upgrade_pending: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            rejected: Mutex::default(),
        };
        Self {
            entries: GoalClass::all().map(entry).collect(),
            memory,
            cache,
            clock: AtomicU64::new(0),
            builder: OnceLock::new(),
            changing: Mutex::default(),
            building: Mutex::default(),
            started: Instant::now(),
        }
    }

    /// Registers the background builder. From now on it receives each used class that has stronger tables.
    pub(crate) fn set_background_builder(&self, builder: Sender<GoalClass>) {
        let _ = self.builder.set(Mutex::new(builder));
    }

    /// Returns the strongest loaded tables of a size and goal that [have some](GoalClass::serves). Builds small ones if
    /// there are none.
    pub(crate) fn get(&self, size: Size, goal_blank: Cell) -> Arc<LoadedPatterns> {
        let entry = self.entry(GoalClass::of(size, goal_blank));
        self.mark_used(entry);
        let loaded = entry.loaded().unwrap_or_else(|| self.small(entry, threads()));
        self.request_if_weak(entry, loaded)
    }

    /// Returns the strongest loaded tables without blocking the caller's thread. If there are none, a new thread builds
    /// small ones as long as a caller waits; a started build is always completed.
    ///
    /// # Errors
    /// If the tables of a large board would exceed the memory that recently used ones leave.
    pub(crate) async fn get_async(
        self: &Arc<Self>,
        size: Size,
        goal_blank: Cell,
    ) -> Result<Arc<LoadedPatterns>, TableMemoryExceeded> {
        let entry = self.entry(GoalClass::of(size, goal_blank));
        self.mark_used(entry);
        let _waiting = WaitGuard::begin(entry);
        loop {
            let changed = entry.changed.notified();
            if let Some(loaded) = entry.loaded() {
                return Ok(self.request_if_weak(entry, loaded));
            }
            if let Some((_, exceeded)) = entry.rejected.lock().filter(|(since, _)| since.elapsed() < REJECT_AGAIN_FOR) {
                return Err(exceeded);
            }
            if !entry.is_building.swap(true, Ordering::AcqRel) {
                let (cache, class) = (Arc::clone(self), entry.class);
                // If no thread can be created now, a later request may succeed.
                if std::thread::Builder::new().spawn(move || cache.build_first(class)).is_err() {
                    drop(FirstBuildGuard(entry));
                    return Err(TableMemoryExceeded { bytes: 0 });
                }
            }
            changed.await;
        }
    }

    /// Waits until a pending upgrade of these tables is built or dropped. Returns the strongest tables.
    pub(crate) async fn stronger(&self, loaded: Arc<LoadedPatterns>) -> Arc<LoadedPatterns> {
        let entry = self.entry(loaded.class);
        loop {
            let changed = entry.changed.notified();
            let is_upgrade_pending = entry.is_upgrade_pending.load(Ordering::Acquire);
            let best = entry.loaded().unwrap_or_else(|| Arc::clone(&loaded));
            if best.tier > loaded.tier || !is_upgrade_pending {
                return best;
            }
            changed.await;
        }
    }

    fn build_first(&self, class: GoalClass) {
        let entry = self.entry(class);
        let _guard = FirstBuildGuard(entry);
        // One build at a time, and none without a waiting caller.
        let _building = self.building.lock();
        if entry.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        match self.memory_for_first(entry) {
            Ok(threads) => drop(self.small(entry, threads)),
            Err(exceeded) => *entry.rejected.lock() = Some((Instant::now(), exceeded)),
        }
    }

    /// Returns the number of threads that memory allows for the small tables of a class, and evicts others to make
    /// room. Small boards are always served.
    fn memory_for_first(&self, entry: &ClassEntry) -> Result<usize, TableMemoryExceeded> {
        if !entry.class.has_large_boards() {
            return Ok(threads());
        }
        let MemoryNeed { tables, to_build } =
            MemoryNeed::of(entry.class, Tier::Small).expect("every class has small patterns");
        let free = self.memory.saturating_sub(self.used_within(FIRST_BUILD_KEEP_SECONDS, entry.class));
        if tables + to_build > free {
            return Err(TableMemoryExceeded { bytes: tables + to_build });
        }
        // The build takes seconds: one core is left to searches.
        let threads = ((free - tables) / to_build.max(1)).clamp(1, (threads() - 1).max(1) as u64);
        self.evict_to(self.memory - tables - threads * to_build, 0);
        Ok(threads as usize)
    }

    /// Memory of other classes used within so many seconds.
    fn used_within(&self, seconds: u64, class: GoalClass) -> u64 {
        let now = self.age_in_seconds();
        let is_needed = |entry: &&ClassEntry| {
            let is_recent = now < entry.last_used_second.load(Ordering::Relaxed) + seconds;
            entry.class != class && !is_pinned(entry.class) && is_recent
        };
        let needed = self.entries.iter().filter(is_needed).filter_map(ClassEntry::loaded);
        needed.map(|loaded| loaded.bytes() as u64).sum()
    }

    fn mark_used(&self, entry: &ClassEntry) {
        entry.last_used.store(self.clock.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        entry.last_used_second.store(self.age_in_seconds(), Ordering::Relaxed);
    }

    fn request_if_weak(&self, entry: &ClassEntry, loaded: Arc<LoadedPatterns>) -> Arc<LoadedPatterns> {
        if entry.has_better && loaded.tier < Tier::Standard {
            self.request_upgrade(entry);
        }
        loaded
    }

    /// Builds the small tables of a class, unless they are loaded.
    fn small(&self, entry: &ClassEntry, threads: usize) -> Arc<LoadedPatterns> {
        let _building = entry.building.lock();
        entry.loaded().unwrap_or_else(|| {
            let loaded = build(entry.class, Tier::Small, threads).expect("every class has small patterns");
            self.load(entry, &loaded);
            loaded
        })
    }

    /// Sends a class to the background builder, unless that was done recently.
    fn request_upgrade(&self, entry: &ClassEntry) {
        let Some(builder) = self.builder.get() else { return };
        let (now, requested_at) = (self.age_in_seconds() + 1, entry.requested_at.load(Ordering::Relaxed));
        if requested_at == 0 || now >= requested_at + UPGRADE_KEEP_SECONDS {
            entry.requested_at.store(now, Ordering::Relaxed);
            entry.is_upgrade_pending.store(true, Ordering::Release);
            if builder.lock().send(entry.class).is_err() {
                // The builder has ended; small tables have to suffice.
                drop(UpgradeGuard(entry));
            }
        }
    }

    /// Seconds since the creation of the cache.
    fn age_in_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// Builds the tables of a tier on all cores, unless the class has none or has tables as strong.
    pub(crate) fn improve(&self, class: GoalClass, tier: Tier) {
        self.improve_on(threads(), class, tier);
    }

    /// Builds stronger tables on one thread, if the class is still loaded and all recently used tables fit beside them.
    /// Returns true if anything was built.
    pub(crate) fn improve_later(&self, class: GoalClass, tier: Tier) -> bool {
        let _guard = UpgradeGuard(self.entry(class));
        // No other large build runs meanwhile.
        let _building = class.has_large_boards().then(|| self.building.lock());
        let others = self.used_within(UPGRADE_KEEP_SECONDS, class);
        let fits = |MemoryNeed { tables, to_build }| others + tables + to_build <= self.memory;
        let has_memory = is_pinned(class) || MemoryNeed::of(class, tier).is_some_and(fits);
        has_memory && self.entry(class).loaded().is_some() && self.improve_on(1, class, tier)
    }

    fn improve_on(&self, threads: usize, class: GoalClass, tier: Tier) -> bool {
        let entry = self.entry(class);
        let is_wanted = entry.loaded().is_none_or(|loaded| loaded.tier < tier);
        let tables = is_wanted.then(|| self.read_or_build(threads, class, tier)).flatten();
        tables.inspect(|tables| self.load(entry, tables)).is_some()
    }

    /// Reads tables from their file, or builds them and writes the file.
    fn read_or_build(&self, threads: usize, class: GoalClass, tier: Tier) -> Option<Arc<LoadedPatterns>> {
        let Some(cache) = &self.cache else { return build(class, tier, threads) };
        let begun = Instant::now();
        let choice = Partition::choose(class, tier)?;
        let unread = match cache.read(class, &choice) {
            Ok(tables) => {
                let partitions = Partition::assemble(class, &choice, tables);
                return Some(Arc::new(LoadedPatterns { class, tier, partitions, time: begun.elapsed() }));
            }
            Err(unread) => unread,
        };
        let loaded = build(class, tier, threads)?;
        let path = cache.path(class, &choice);
        match (cache.write(&loaded.partitions, &choice), unread) {
            (Err(error), _) => {
                tracing::event!(target: "taquin::tables", Level::WARN, tables.path = %path.display(), %error, "tables could not be cached");
            }
            (Ok(()), ReadError::Missing) => {}
            (Ok(()), error) => {
                tracing::event!(target: "taquin::tables", Level::WARN, tables.path = %path.display(), %error, "cached tables could not be used and were rebuilt");
            }
        }
        Some(loaded)
    }

    fn entry(&self, class: GoalClass) -> &ClassEntry {
        self.entries.iter().find(|entry| entry.class == class).expect("every class has an entry")
    }

    /// Replaces weaker tables, then evicts the least recently used classes if memory is exceeded.
    fn load(&self, entry: &ClassEntry, tables: &Arc<LoadedPatterns>) {
        let _changing = self.changing.lock();
        if entry.loaded().is_none_or(|loaded| loaded.tier < tables.tier) {
            entry.put(Some(Arc::clone(tables)));
        }
        // The last used class stays, or each of its requests would build it again.
        self.evict_to(self.memory, 1);
    }

    /// Evicts least recently used classes until the rest takes at most `memory` bytes; the `least` most recent ones
    /// stay in any case.
    fn evict_to(&self, memory: u64, least: usize) {
        let all = self.entries.iter().filter(|entry| !is_pinned(entry.class));
        let mut all: Vec<(&ClassEntry, u64)> =
            all.filter_map(|entry| entry.loaded().map(|loaded| (entry, loaded.bytes() as u64))).collect();
        all.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.last_used.load(Ordering::Relaxed)));
        let mut total = 0;
        for (nth, (entry, bytes)) in all.into_iter().enumerate() {
            if nth >= least && total + bytes > memory {
                entry.put(None);
            } else {
                total += bytes;
            }
        }
    }

    /// All loaded tables.
    pub(crate) fn loaded(&self) -> impl Iterator<Item = Arc<LoadedPatterns>> {
        self.entries.iter().filter_map(ClassEntry::loaded)
    }
}

/// True for the class of most requests, whose tables are built at start and never evicted.
fn is_pinned(class: GoalClass) -> bool {
    class == GoalClass::corner_of_4x4()
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Memory of the tables of a tier.
#[derive(Clone, Copy, Debug)]
struct MemoryNeed {
    tables: u64,
    /// Temporary memory of each building thread; zero on small boards, where it is little.
    to_build: u64,
}

impl MemoryNeed {
    fn of(class: GoalClass, tier: Tier) -> Option<Self> {
        let geometries = Partition::geometries(class, &Partition::choose(class, tier)?);
        let is_first = |nth: usize| !geometries[..nth].iter().any(|earlier| Arc::ptr_eq(earlier, &geometries[nth]));
        let shared: usize = (0..geometries.len()).filter(|nth| is_first(*nth)).map(|nth| geometries[nth].bytes()).sum();
        let tables = shared + geometries.iter().map(|geometry| 8 * geometry.words()).sum::<usize>();
        let to_build = geometries.iter().map(|geometry| geometry.bytes_to_build()).max().unwrap_or(0);
        Some(Self { tables: tables as u64, to_build: if class.has_large_boards() { to_build as u64 } else { 0 } })
    }
}

/// Builds the tables of a tier on so many threads; none if the class has no such tier.
fn build(class: GoalClass, tier: Tier, threads: usize) -> Option<Arc<LoadedPatterns>> {
    let begun = Instant::now();
    let choice = Partition::choose(class, tier)?;
    let tables = build_in_parallel(class, &choice, threads);
    let partitions = Partition::assemble(class, &choice, tables);
    Some(Arc::new(LoadedPatterns { class, tier, partitions, time: begun.elapsed() }))
}

fn build_in_parallel(class: GoalClass, choice: &[Patterns], threads: usize) -> Vec<PatternTable> {
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
            // If no thread can be created, the others do its work.
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

    fn is_loaded(cache: &PatternCache, size: Size) -> bool {
        cache.loaded().any(|loaded| loaded.class.size == size)
    }

    #[test]
    fn concurrent_requests_build_tables_once() {
        let cache = PatternCache::new(u64::MAX, None);
        let all: Vec<Arc<LoadedPatterns>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| cache.get(size(2, 5), 9))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|loaded| Arc::ptr_eq(loaded, &all[0])));
    }

    #[test]
    fn the_least_recently_used_class_is_evicted() {
        let all = PatternCache::new(u64::MAX, None);
        let sizes = [size(2, 5), size(2, 6), size(3, 4)];
        let bytes = sizes.map(|size| all.get(size, 0).bytes() as u64);
        let cache = PatternCache::new(bytes.iter().sum::<u64>() - 1, None);
        for size in [sizes[0], sizes[1], sizes[0], sizes[2]] {
            cache.get(size, 0);
        }
        assert_eq!(sizes.map(|size| is_loaded(&cache, size)), [true, false, true]);
        // Even without memory, the last used class and the pinned one stay.
        let cache = PatternCache::new(0, None);
        cache.get(size(4, 4), 0);
        sizes.iter().for_each(|size| drop(cache.get(*size, 0)));
        assert_eq!(sizes.map(|size| is_loaded(&cache, size)), [false, false, true]);
        assert!(is_loaded(&cache, size(4, 4)));
    }

    #[test]
    fn stronger_tables_replace_weaker_ones_only() {
        let cache = PatternCache::new(u64::MAX, None);
        let weak = cache.get(size(2, 5), 0);
        let loaded = |tier| {
            let partitions = weak.partitions.clone();
            Arc::new(LoadedPatterns { class: weak.class, tier, partitions, time: Duration::ZERO })
        };
        for (tier, expected) in [(Tier::Large, Tier::Large), (Tier::Standard, Tier::Large)] {
            cache.load(cache.entry(weak.class), &loaded(tier));
            assert_eq!(cache.get(size(2, 5), 0).tier, expected);
        }
        assert_eq!(weak.tier, Tier::Small, "references to replaced tables stay valid");
    }

    #[test]
    fn a_class_with_stronger_tables_is_requested_once() {
        let cache = PatternCache::new(u64::MAX, None);
        let (sender, requests) = channel();
        cache.set_background_builder(sender);
        for goal_blank in [0, 0, 1] {
            cache.get(size(2, 5), goal_blank);
            cache.get(size(4, 4), goal_blank);
        }
        let requests: Vec<GoalClass> = requests.try_iter().collect();
        assert_eq!(requests, [0, 1].map(|goal_blank| GoalClass { size: size(4, 4), goal_blank }));
        let little = PatternCache::new(1 << 20, None);
        little.get(size(4, 4), 1);
        assert!(!little.improve_later(requests[1], Tier::Standard), "stronger tables exceed the memory");
        // Recently used tables are not evicted for stronger ones.
        let bytes = MemoryNeed::of(requests[1], Tier::Standard).unwrap().tables;
        let crowded = PatternCache::new(bytes, None);
        [1, 0].into_iter().for_each(|rows| drop(crowded.get(size(4 - 2 * rows, 4 + 4 * rows), 1)));
        assert!(!crowded.improve_later(requests[1], Tier::Standard));
    }

    #[tokio::test]
    async fn waiting_for_stronger_tables_ends_with_the_upgrade() {
        let cache = PatternCache::new(u64::MAX, None);
        let small = cache.get(size(4, 4), 1);
        assert!(Arc::ptr_eq(&cache.stronger(Arc::clone(&small)).await, &small), "no upgrade is pending");
        let (sender, requests) = channel();
        cache.set_background_builder(sender);
        cache.get(size(4, 4), 1);
        let entry = cache.entry(requests.try_recv().unwrap());
        let strong = Arc::new(LoadedPatterns {
            class: entry.class,
            tier: Tier::Standard,
            partitions: small.partitions.clone(),
            time: Duration::ZERO,
        });
        let build = async {
            cache.load(entry, &strong);
            drop(UpgradeGuard(entry));
        };
        let (changed, ()) = tokio::join!(cache.stronger(Arc::clone(&small)), build);
        assert!(Arc::ptr_eq(&changed, &strong));
        // Without memory for stronger tables the small ones are returned at once.
        let other = cache.get(size(4, 4), 5);
        assert_eq!(requests.try_recv().unwrap(), other.class);
        let (changed, ()) =
            tokio::join!(cache.stronger(Arc::clone(&other)), async { drop(UpgradeGuard(cache.entry(other.class))) });
        assert!(Arc::ptr_eq(&changed, &other));
    }
}
