//! Cache of pattern tables by goal class, with eviction of the least recently used class (LRU).

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_solver::heuristic::{GoalClass, Partition, Tier};
use taquin_solver::tables::PatternTables;
use taquin_solver::{Cell, Size};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::Level;

use super::class_entry::{ClassEntry, FirstBuildGuard, TableShortage, UpgradeGuard, WaitGuard, is_pinned};
use super::disk_cache::{DiskCache, ReadError, digest_of};
use super::table_memory::{MemoryNeed, TableMemory, TableReservation, within};

/// A cache with the loaded pattern tables of each goal class.
///
/// Small tables are built once, on first use, while concurrent callers wait. Stronger tables replace small tables
/// later. Running searches keep their tables. The memory of evicted tables counts until the last search with these
/// tables ends. A build first evicts the least recently used classes, until the new tables fit. A build of stronger
/// tables does not evict recently used classes. A build of the first tables of a large board may evict any class that
/// has been loaded for [`MIN_STAY`], so that classes take turns.
#[derive(Debug)]
pub(crate) struct PatternCache {
    entries: Vec<ClassEntry>,
    /// Memory of the tables of all classes, without the pinned class.
    memory: Arc<TableMemory>,
    /// Classes of large boards that wait for memory, in the order of their arrival.
    line: Mutex<Vec<GoalClass>>,
    /// Table files that are kept between runs; `None` without a directory for table files.
    cache: Option<DiskCache>,
    /// Class and tier of tables whose file was rejected and cannot be replaced. Such a file is not read again.
    refused: Mutex<Vec<(GoalClass, Tier)>>,
    /// Number of uses of all classes so far.
    clock: AtomicU64,
    /// Channel to the background builder; empty until the builder is registered.
    builder: OnceLock<Mutex<Sender<GoalClass>>>,
    /// Locked while tables are replaced or evicted.
    changing: Mutex<()>,
    /// Locked by the thread that builds first tables, and by the background builder while it builds tables of a large
    /// board.
    building: Mutex<()>,
    /// A single permit to build first tables. The building thread holds the permit, so there is only one such thread at
    /// a time.
    builder_turn: Arc<Semaphore>,
    started: Instant,
}

/// Time after the loading of a class during which the class is not evicted for the first tables of a large board. So
/// classes that exceed the memory together take turns.
pub(crate) const MIN_STAY: Duration = Duration::from_secs(10);
/// Longest pause between attempts to begin a build that waits for memory. A release of memory ends the pause.
const RETRY: Duration = Duration::from_secs(1);

/// Time after the last use of a class, in seconds, during which the class is not evicted for stronger tables of another
/// class. The same time is the minimum interval between upgrade requests of a class.
const UPGRADE_KEEP_SECONDS: u64 = 600;

impl PatternCache {
    pub(crate) fn new(memory: u64, cache: Option<DiskCache>) -> Self {
        Self {
            entries: GoalClass::all().map(ClassEntry::new).collect(),
            memory: TableMemory::new(memory),
            line: Mutex::default(),
            cache,
            refused: Mutex::default(),
            clock: AtomicU64::new(0),
            builder: OnceLock::new(),
            changing: Mutex::default(),
            building: Mutex::default(),
            builder_turn: Arc::new(Semaphore::new(1)),
            started: Instant::now(),
        }
    }

    /// Registers the channel to the background builder. From then on, the cache sends each used class that has stronger
    /// tables to the builder.
    pub(crate) fn set_background_builder(&self, builder: Sender<GoalClass>) {
        let _ = self.builder.set(Mutex::new(builder));
    }

    /// Returns the strongest loaded tables of a class. If no tables are loaded, builds small tables on this thread.
    pub(crate) fn get(&self, class: GoalClass) -> Arc<PatternTables> {
        let entry = self.entry(class);
        self.mark_used(entry);
        let loaded = entry.loaded().unwrap_or_else(|| self.small_at_once(entry));
        self.request_if_weak(entry, loaded)
    }

    /// Returns the memory of all unpinned tables, in bytes. The memory includes tables under construction, and evicted
    /// tables that searches still use.
    pub(crate) fn used_memory(&self) -> u64 {
        self.memory.used()
    }

    /// Returns the strongest loaded tables of a class without blocking the caller's thread. If no tables are loaded, a
    /// new thread builds small tables. The thread begins the build only if a caller still waits, and then always
    /// completes the build. If other tables use the memory, this function waits for memory if `waits_for_memory` is
    /// true, and fails otherwise.
    ///
    /// # Errors
    /// [`TableShortage`] in three cases: the tables of a large board exceed the memory for all tables; other tables use
    /// the memory at present, and `waits_for_memory` is false; or the system refuses to create a thread.
    pub(crate) async fn get_async(
        self: &Arc<Self>,
        size: Size,
        goal_blank: Cell,
        waits_for_memory: bool,
    ) -> Result<Arc<PatternTables>, TableShortage> {
        let entry = self.entry(GoalClass::of(size, goal_blank));
        self.mark_used(entry);
        let _waiting = WaitGuard::begin(entry);
        loop {
            let (mut changed, freed) = (pin!(entry.changed.notified()), self.memory.freed());
            if let Some(loaded) = entry.loaded() {
                return Ok(self.request_if_weak(entry, loaded));
            }
            tokio::select! {
                biased;
                () = &mut changed => {}
                turn = Arc::clone(&self.builder_turn).acquire_owned() => {
                    self.begin_first_build(entry, turn.expect("the semaphore is never closed"))?;
                    changed.await;
                }
            }
            match *entry.shortage.lock() {
                _ if entry.loaded().is_some() => continue,
                Some(TableShortage::Passing) if waits_for_memory => {}
                Some(shortage) => return Err(shortage),
                None => continue,
            }
            let _ = timeout(RETRY, freed).await;
        }
    }

    /// Returns true if a class has no tables, because other tables used the memory at the last attempt to build its
    /// tables.
    pub(crate) fn is_short_of_memory(&self, size: Size, goal_blank: Cell) -> bool {
        let entry = self.entry(GoalClass::of(size, goal_blank));
        entry.loaded().is_none() && *entry.shortage.lock() == Some(TableShortage::Passing)
    }

    /// Builds the small tables of a class on all cores. The build may exceed the memory limit.
    fn small_at_once(&self, entry: &ClassEntry) -> Arc<PatternTables> {
        let bytes = if is_pinned(entry.class) { 0 } else { entry.small_need().tables };
        let changing = self.changing.lock();
        self.evict_for(bytes, |_, _| false);
        let memory = self.memory.count(bytes);
        drop(changing);
        self.small(entry, threads(), memory)
    }

    /// Waits until a pending upgrade of the class of `loaded` has ended. Returns the strongest loaded tables of the
    /// class, or `loaded` if no tables are loaded.
    pub(crate) async fn stronger(&self, loaded: Arc<PatternTables>) -> Arc<PatternTables> {
        let entry = self.entry(loaded.class());
        loop {
            let changed = entry.changed.notified();
            let is_upgrade_pending = entry.is_upgrade_pending.load(Ordering::Acquire);
            let best = entry.loaded().unwrap_or_else(|| Arc::clone(&loaded));
            if best.tier() > loaded.tier() || !is_upgrade_pending {
                return best;
            }
            changed.await;
        }
    }

    /// Starts a thread that builds the small tables of a class, unless another thread is building these tables. The
    /// thread keeps `turn` until the thread ends.
    fn begin_first_build(
        self: &Arc<Self>,
        entry: &ClassEntry,
        turn: OwnedSemaphorePermit,
    ) -> Result<(), TableShortage> {
        if entry.is_building.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let (cache, class) = (Arc::clone(self), entry.class);
        let build = move || {
            cache.build_first(class);
            drop(turn);
        };
        std::thread::Builder::new().spawn(build).map(drop).map_err(|_| {
            drop(FirstBuildGuard(entry));
            TableShortage::Thread
        })
    }

    fn build_first(&self, class: GoalClass) {
        let entry = self.entry(class);
        let _guard = FirstBuildGuard(entry);
        // Only one build runs at a time, and only if a caller waits.
        let _building = self.building.lock();
        if entry.waiting.load(Ordering::Acquire) == 0 {
            return;
        }
        let memory = self.memory_for_first(entry);
        *entry.shortage.lock() = memory.as_ref().err().copied();
        if let Ok((memory, threads)) = memory {
            drop(self.small(entry, threads, memory));
        }
    }

    /// Reserves memory for the small tables of a class, and evicts other tables if necessary. Returns the reservation,
    /// and the number of threads for the build. A reservation for a large board does not evict recently loaded tables.
    /// A reservation for a small board does not evict recently loaded tables that are in use. A small board gets its
    /// tables even if the tables exceed all memory for tables.
    fn memory_for_first(&self, entry: &ClassEntry) -> Result<(TableReservation, usize), TableShortage> {
        let is_large = entry.class.has_large_boards();
        let MemoryNeed { tables, to_build } = entry.small_need();
        // A build for a large board takes seconds, so the build leaves one core to searches.
        let most = if is_large { (threads() - 1).max(1) } else { threads() } as u64;
        if tables + to_build > self.memory.capacity() {
            let bytes = tables + to_build;
            return if is_large { Err(TableShortage::Lasting { bytes }) } else { Ok((self.memory.count(bytes), 1)) };
        }
        if is_large && !self.is_first_in_line(entry.class) {
            return Err(TableShortage::Passing);
        }
        let _changing = self.changing.lock();
        self.evict_for(tables + to_build, |entry, loaded| {
            entry.loaded_at().elapsed() < MIN_STAY && (is_large || Arc::strong_count(loaded) > 1)
        });
        let spare = self.memory.free().saturating_sub(tables) / to_build.max(1);
        let threads = spare.clamp(1, most);
        match self.memory.reserve(tables + threads * to_build) {
            Some(memory) => {
                self.line.lock().retain(|class| *class != entry.class);
                Ok((memory, threads as usize))
            }
            None => Err(TableShortage::Passing),
        }
    }

    /// Adds a class to the queue for memory. Returns true if no other class with a waiting caller precedes the class.
    fn is_first_in_line(&self, class: GoalClass) -> bool {
        let mut line = self.line.lock();
        if !line.contains(&class) {
            line.push(class);
        }
        line.retain(|waiting| self.entry(*waiting).waiting.load(Ordering::Acquire) > 0);
        line.first().is_none_or(|first| *first == class)
    }

    fn mark_used(&self, entry: &ClassEntry) {
        entry.last_used.store(self.clock.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        entry.last_used_second.store(self.age_in_seconds(), Ordering::Relaxed);
    }

    fn request_if_weak(&self, entry: &ClassEntry, loaded: Arc<PatternTables>) -> Arc<PatternTables> {
        if entry.has_better && loaded.tier() < Tier::Standard {
            self.request_upgrade(entry);
        }
        loaded
    }

    /// Builds the small tables of a class in reserved memory. If the class has tables, returns those tables instead.
    fn small(&self, entry: &ClassEntry, threads: usize, memory: TableReservation) -> Arc<PatternTables> {
        let _building = entry.building.lock();
        entry.loaded().unwrap_or_else(|| {
            let memory = (!is_pinned(entry.class)).then_some(memory);
            let loaded = PatternTables::build(entry.class, Tier::Small, threads);
            let loaded = within(memory, loaded.expect("every class has small patterns"));
            self.load(entry, &loaded);
            loaded
        })
    }

    /// Drops tables that led to a wrong solution, so that the tables are built again. The tables of each class are
    /// dropped only once: new tables repair damaged memory, but do not repair a bug.
    pub(crate) fn drop_wrong(&self, wrong: &Arc<PatternTables>) {
        let entry = self.entry(wrong.class());
        if entry.was_wrong.swap(true, Ordering::Relaxed) {
            return;
        }
        let _changing = self.changing.lock();
        entry.put(None);
        entry.requested_at.store(0, Ordering::Relaxed);
        let GoalClass { size, goal_blank } = wrong.class();
        tracing::event!(
            target: "taquin::tables",
            Level::ERROR,
            "a solution was wrong: the tables of {size} boards, blank in cell {goal_blank}, are built anew"
        );
    }

    /// Sends a class to the background builder, unless the class was sent recently.
    fn request_upgrade(&self, entry: &ClassEntry) {
        let Some(builder) = self.builder.get() else { return };
        let (now, requested_at) = (self.age_in_seconds() + 1, entry.requested_at.load(Ordering::Relaxed));
        if requested_at == 0 || now >= requested_at + UPGRADE_KEEP_SECONDS {
            entry.requested_at.store(now, Ordering::Relaxed);
            entry.is_upgrade_pending.store(true, Ordering::Release);
            if builder.lock().send(entry.class).is_err() {
                // The builder has ended, so the class keeps its small tables.
                drop(UpgradeGuard(entry));
            }
        }
    }

    /// Returns the number of seconds since the creation of the cache.
    fn age_in_seconds(&self) -> u64 {
        self.started.elapsed().as_secs()
    }

    /// Builds the tables of a tier on all cores, or reads the tables from their file. The tables may exceed the memory
    /// limit. Does nothing if the class has no tables of this tier, or if tables of at least this tier are loaded.
    pub(crate) fn improve(&self, class: GoalClass, tier: Tier) {
        let need = MemoryNeed::of(class, tier).filter(|_| !is_pinned(class));
        self.improve_on(threads(), class, tier, need.map(|need| self.memory.count(need.tables)));
    }

    /// Builds stronger tables on one thread, or reads the tables from their file. Does so only if tables of the class
    /// are still loaded, and if the memory has room for the new tables and all recently used tables. Returns true if
    /// there are new tables.
    pub(crate) fn improve_later(&self, class: GoalClass, tier: Tier) -> bool {
        let entry = self.entry(class);
        let _guard = UpgradeGuard(entry);
        // The lock excludes another large build at the same time.
        let _building = class.has_large_boards().then(|| self.building.lock());
        let Some(memory) = self.memory_to_improve(entry, tier) else { return false };
        entry.loaded().is_some() && self.improve_on(1, class, tier, memory)
    }

    /// Reserves memory for stronger tables. Returns `None` if the memory has no room beside all recently used tables.
    /// The pinned class needs no reservation, so its result is `Some(None)`. For small boards, the reservation does not
    /// include the temporary memory of the build. The service plans that memory for the builds at the start.
    fn memory_to_improve(&self, entry: &ClassEntry, tier: Tier) -> Option<Option<TableReservation>> {
        if is_pinned(entry.class) {
            return Some(None);
        }
        let MemoryNeed { tables, to_build } = MemoryNeed::of(entry.class, tier)?;
        let bytes = tables + if entry.class.has_large_boards() { to_build } else { 0 };
        let now = self.age_in_seconds();
        let is_recent = |used: &AtomicU64| now < used.load(Ordering::Relaxed) + UPGRADE_KEEP_SECONDS;
        let _changing = self.changing.lock();
        self.evict_for(bytes, |other, _| std::ptr::eq(other, entry) || is_recent(&other.last_used_second));
        self.memory.reserve(bytes).map(Some)
    }

    fn improve_on(&self, threads: usize, class: GoalClass, tier: Tier, memory: Option<TableReservation>) -> bool {
        let entry = self.entry(class);
        let is_wanted = entry.loaded().is_none_or(|loaded| loaded.tier() < tier);
        let tables = if is_wanted { self.read_or_build(threads, class, tier, memory) } else { None };
        tables.inspect(|tables| self.load(entry, tables)).is_some()
    }

    /// Reads tables from their file, or builds the tables and writes the file. Returns `None` if the class has no
    /// tables of this tier.
    fn read_or_build(
        &self,
        threads: usize,
        class: GoalClass,
        tier: Tier,
        memory: Option<TableReservation>,
    ) -> Option<Arc<PatternTables>> {
        let cached = self.cache.as_ref().zip(digest_of(class, tier));
        let Some((cache, digest)) = cached.filter(|_| !self.refused.lock().contains(&(class, tier))) else {
            return Some(within(memory, PatternTables::build(class, tier, threads)?));
        };
        let begun = Instant::now();
        let choice = Partition::choose(class, tier)?;
        let unread = match cache.read(class, &choice, digest) {
            Ok(tables) => {
                let partitions = Partition::assemble(class, &choice, tables);
                return Some(within(memory, PatternTables::new(class, tier, partitions, begun.elapsed())));
            }
            Err(unread) => unread,
        };
        let loaded = within(memory, PatternTables::build(class, tier, threads)?);
        let path = cache.path(class, &choice);
        let written = cache.write(loaded.partitions());
        let is_one_cause = written.is_err() && matches!(unread, ReadError::NotAFile | ReadError::Unreadable(_));
        if !matches!(unread, ReadError::Missing) && !is_one_cause {
            tracing::event!(target: "taquin::tables", Level::WARN, tables.path = %path.display(), error = %unread, "cached tables could not be used and were rebuilt");
        }
        if let Err(error) = written {
            if !matches!(unread, ReadError::Missing) {
                self.refused.lock().push((class, tier));
            }
            tracing::event!(target: "taquin::tables", Level::WARN, tables.path = %path.display(), %error, "tables could not be cached");
        }
        Some(loaded)
    }

    fn entry(&self, class: GoalClass) -> &ClassEntry {
        self.entries.iter().find(|entry| entry.class == class).expect("every class has an entry")
    }

    /// Stores tables in the entry of their class, and wakes the waiting callers. Does nothing if the entry has tables
    /// of at least the same tier.
    fn load(&self, entry: &ClassEntry, tables: &Arc<PatternTables>) {
        let _changing = self.changing.lock();
        if entry.loaded().is_none_or(|loaded| loaded.tier() < tables.tier()) {
            entry.put(Some(Arc::clone(tables)));
            entry.changed.notify_waiters();
        }
    }

    /// Evicts classes until `bytes` bytes are free, now or as soon as the searches with evicted tables end. First
    /// evicts classes that no search uses, and then other classes. In both groups, evicts the least recently used class
    /// first. Never evicts the pinned class, or a class for which `keep` returns true.
    fn evict_for(&self, bytes: u64, keep: impl Fn(&ClassEntry, &Arc<PatternTables>) -> bool) {
        let loaded = |entry: &ClassEntry| entry.loaded.read().as_ref().map(|loaded| loaded.bytes() as u64);
        let all = || self.entries.iter().filter(|entry| !is_pinned(entry.class));
        let mut total: u64 = all().filter_map(loaded).sum();
        let mut order: Vec<&ClassEntry> = all().collect();
        order.sort_by_cached_key(|entry| (entry.is_used(), entry.last_used.load(Ordering::Relaxed)));
        for entry in order {
            let will_fit = bytes <= self.memory.capacity().saturating_sub(total);
            if self.memory.free() >= bytes || (will_fit && entry.is_used()) {
                return;
            }
            if let Some(freed) = loaded(entry)
                && !entry.loaded.read().as_ref().is_none_or(|loaded| keep(entry, loaded))
            {
                entry.put(None);
                total -= freed;
            }
        }
    }

    /// Returns the loaded tables of all classes.
    pub(crate) fn loaded(&self) -> impl Iterator<Item = Arc<PatternTables>> {
        self.entries.iter().filter_map(ClassEntry::loaded)
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::channel;

    use super::*;

    fn size(rows: usize, cols: usize) -> Size {
        Size::try_from((rows, cols)).unwrap()
    }

    fn is_loaded(cache: &PatternCache, size: Size) -> bool {
        cache.loaded().any(|loaded| loaded.class().size == size)
    }

    #[test]
    fn concurrent_requests_build_tables_once() {
        let cache = PatternCache::new(u64::MAX, None);
        let all: Vec<Arc<PatternTables>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| cache.get(GoalClass::of(size(2, 5), 9)))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(all.iter().all(|loaded| Arc::ptr_eq(loaded, &all[0])));
    }

    #[test]
    fn the_least_recently_used_class_is_evicted() {
        let all = PatternCache::new(u64::MAX, None);
        let sizes = [size(2, 5), size(2, 6), size(3, 4)];
        let bytes = sizes.map(|size| all.get(GoalClass::of(size, 0)).bytes() as u64);
        let cache = PatternCache::new(bytes.iter().sum::<u64>() - 1, None);
        for size in [sizes[0], sizes[1], sizes[0], sizes[2]] {
            cache.get(GoalClass::of(size, 0));
        }
        assert_eq!(sizes.map(|size| is_loaded(&cache, size)), [true, false, true]);
        assert_eq!(cache.used_memory(), bytes[0] + bytes[2]);
        // Even without memory, the last used class and the pinned class stay loaded.
        let cache = PatternCache::new(0, None);
        cache.get(GoalClass::of(size(4, 4), 0));
        sizes.iter().for_each(|size| drop(cache.get(GoalClass::of(*size, 0))));
        assert_eq!(sizes.map(|size| is_loaded(&cache, size)), [false, false, true]);
        assert!(is_loaded(&cache, size(4, 4)));
    }

    #[test]
    fn evicted_tables_count_until_their_last_search_ends() {
        let all = PatternCache::new(u64::MAX, None);
        let bytes = [
            all.get(GoalClass::of(size(2, 5), 0)).bytes() as u64,
            all.get(GoalClass::of(size(2, 6), 0)).bytes() as u64,
        ];
        let cache = PatternCache::new(bytes[1], None);
        let used = cache.get(GoalClass::of(size(2, 5), 0));
        let other = cache.get(GoalClass::of(size(2, 6), 0));
        assert!(!is_loaded(&cache, size(2, 5)) && is_loaded(&cache, size(2, 6)));
        assert_eq!(cache.used_memory(), bytes[0] + bytes[1]);
        drop(used);
        assert_eq!(cache.used_memory(), bytes[1]);
        // While searches use the tables of the first class, stronger tables of another class do not fit, even if the
        // first class is evicted.
        assert!(!cache.improve_later(GoalClass::of(size(4, 4), 1), Tier::Standard));
        drop(other);
    }

    /// Returns two classes of large boards, and a cache with memory for the build of one of them.
    fn two_classes() -> ([GoalClass; 2], Arc<PatternCache>) {
        let classes = [GoalClass::of(size(2, 9), 0), GoalClass::of(size(2, 9), 1)];
        let needs = classes.map(|class| MemoryNeed::of(class, Tier::Small).unwrap());
        let most = needs.map(|MemoryNeed { tables, to_build }| tables + to_build).into_iter().max().unwrap();
        (classes, Arc::new(PatternCache::new(most, None)))
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_class_waits_for_memory_until_its_turn() {
        let ([first, second], cache) = two_classes();
        let first_ones = cache.get_async(first.size, first.goal_blank, true).await.unwrap();
        let refused = cache.get_async(second.size, second.goal_blank, false).await.unwrap_err();
        assert_eq!(refused, TableShortage::Passing);
        assert!(cache.is_short_of_memory(second.size, second.goal_blank));
        assert!(is_loaded(&cache, first.size), "tables stay for a while");
        drop(first_ones);
        // In the meantime, requests use the first class continuously.
        let is_over = Arc::new(AtomicBool::new(false));
        let users = tokio::spawn({
            let (cache, is_over) = (Arc::clone(&cache), Arc::clone(&is_over));
            async move {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = timeout(MIN_STAY, cache.get_async(first.size, first.goal_blank, false)).await;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        });
        let second_ones = timeout(6 * MIN_STAY, cache.get_async(second.size, second.goal_blank, true)).await;
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(second_ones.expect("its turn comes").unwrap().class(), second);
        assert!(cache.used_memory() <= cache.memory.capacity());
        users.await.unwrap();
    }

    #[tokio::test]
    async fn tables_larger_than_all_memory_for_tables_are_refused_for_good() {
        let (classes, _) = two_classes();
        let cache = Arc::new(PatternCache::new(1 << 20, None));
        let refused = cache.get_async(classes[0].size, classes[0].goal_blank, true).await.unwrap_err();
        assert!(matches!(refused, TableShortage::Lasting { bytes } if bytes > 1 << 20), "{refused:?}");
    }

    #[tokio::test]
    async fn small_boards_wait_for_memory_too_unless_there_is_hardly_any() {
        let [first, other] = [GoalClass::of(size(2, 6), 0), GoalClass::of(size(2, 6), 1)];
        let MemoryNeed { tables, to_build } = MemoryNeed::of(first, Tier::Small).unwrap();
        let cache = Arc::new(PatternCache::new(tables + to_build, None));
        let used = cache.get_async(first.size, first.goal_blank, true).await.unwrap();
        let shortage = cache.get_async(other.size, other.goal_blank, false).await.unwrap_err();
        assert_eq!(shortage, TableShortage::Passing);
        drop(used);
        assert_eq!(cache.get_async(other.size, other.goal_blank, true).await.unwrap().class(), other);
        assert!(cache.used_memory() <= tables + to_build && !cache.loaded().any(|loaded| loaded.class() == first));
        let least = Arc::new(PatternCache::new(0, None));
        assert!(least.get_async(first.size, first.goal_blank, true).await.is_ok());
    }

    #[test]
    fn tables_that_led_to_a_wrong_solution_are_built_anew_once() {
        let cache = PatternCache::new(u64::MAX, None);
        let wrong = cache.get(GoalClass::of(size(2, 5), 0));
        cache.drop_wrong(&wrong);
        assert!(!is_loaded(&cache, size(2, 5)));
        let others = cache.get(GoalClass::of(size(2, 5), 0));
        assert!(!Arc::ptr_eq(&wrong, &others));
        cache.drop_wrong(&others);
        assert!(is_loaded(&cache, size(2, 5)), "a bug must not have tables built again and again");
    }

    #[test]
    fn a_file_that_is_refused_and_cannot_be_replaced_is_left_alone() {
        let directory = std::env::temp_dir().join(format!("taquin-refused-{}", std::process::id()));
        let (lock, class) = (directory.join("lock"), GoalClass::of(size(3, 5), 0));
        let disk = DiskCache::new(directory.clone());
        let file = disk.path(class, &Partition::choose(class, Tier::Standard).unwrap());
        // `lock` is a directory, so no file can be written.
        std::fs::create_dir_all(&lock).unwrap();
        std::fs::write(&file, "damaged").unwrap();
        let cache = PatternCache::new(u64::MAX, Some(disk));
        let improve_anew = || {
            cache.entry(class).put(None);
            cache.improve(class, Tier::Standard);
            assert!(is_loaded(&cache, class.size));
        };
        improve_anew();
        assert_eq!(std::fs::read(&file).unwrap(), b"damaged");
        // A second read would find no file, and would write a file.
        std::fs::remove_file(&file).unwrap();
        std::fs::remove_dir(&lock).unwrap();
        improve_anew();
        assert!(!file.exists());
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn stronger_tables_replace_weaker_ones_only() {
        let cache = PatternCache::new(u64::MAX, None);
        let weak = cache.get(GoalClass::of(size(2, 5), 0));
        let loaded = |tier| {
            let partitions = weak.partitions().to_vec();
            Arc::new(PatternTables::new(weak.class(), tier, partitions, Duration::ZERO))
        };
        for (tier, expected) in [(Tier::Large, Tier::Large), (Tier::Standard, Tier::Large)] {
            cache.load(cache.entry(weak.class()), &loaded(tier));
            assert_eq!(cache.get(GoalClass::of(size(2, 5), 0)).tier(), expected);
        }
        assert_eq!(weak.tier(), Tier::Small, "references to replaced tables stay valid");
    }

    #[test]
    fn a_class_with_stronger_tables_is_requested_once() {
        let cache = PatternCache::new(u64::MAX, None);
        let (sender, requests) = channel();
        cache.set_background_builder(sender);
        for goal_blank in [0, 0, 1] {
            cache.get(GoalClass::of(size(2, 5), goal_blank));
            cache.get(GoalClass::of(size(4, 4), goal_blank));
        }
        let requests: Vec<GoalClass> = requests.try_iter().collect();
        assert_eq!(requests, [0, 1].map(|goal_blank| GoalClass { size: size(4, 4), goal_blank }));
        let little = PatternCache::new(1 << 20, None);
        little.get(GoalClass::of(size(4, 4), 1));
        assert!(!little.improve_later(requests[1], Tier::Standard), "stronger tables exceed the memory");
        // Recently used tables are not evicted for stronger tables.
        let bytes = MemoryNeed::of(requests[1], Tier::Standard).unwrap().tables;
        let crowded = PatternCache::new(bytes, None);
        [1, 0].into_iter().for_each(|rows| drop(crowded.get(GoalClass::of(size(4 - 2 * rows, 4 + 4 * rows), 1))));
        assert!(!crowded.improve_later(requests[1], Tier::Standard));
    }

    #[tokio::test]
    async fn waiting_for_stronger_tables_ends_with_the_upgrade() {
        let cache = PatternCache::new(u64::MAX, None);
        let small = cache.get(GoalClass::of(size(4, 4), 1));
        assert!(Arc::ptr_eq(&cache.stronger(Arc::clone(&small)).await, &small), "no upgrade is pending");
        let (sender, requests) = channel();
        cache.set_background_builder(sender);
        cache.get(GoalClass::of(size(4, 4), 1));
        let entry = cache.entry(requests.try_recv().unwrap());
        let (class, partitions) = (entry.class, small.partitions().to_vec());
        let strong = Arc::new(PatternTables::new(class, Tier::Standard, partitions, Duration::ZERO));
        let build = async {
            cache.load(entry, &strong);
            drop(UpgradeGuard(entry));
        };
        let (changed, ()) = tokio::join!(cache.stronger(Arc::clone(&small)), build);
        assert!(Arc::ptr_eq(&changed, &strong));
        // If there is no memory for stronger tables, the small tables are returned at once.
        let other = cache.get(GoalClass::of(size(4, 4), 5));
        assert_eq!(requests.try_recv().unwrap(), other.class());
        let (changed, ()) =
            tokio::join!(cache.stronger(Arc::clone(&other)), async { drop(UpgradeGuard(cache.entry(other.class()))) });
        assert!(Arc::ptr_eq(&changed, &other));
    }
}
