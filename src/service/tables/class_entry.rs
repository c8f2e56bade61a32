//! The state of one goal class in the cache of pattern tables.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};
use taquin_solver::heuristic::{GoalClass, Partition, Tier};
use taquin_solver::tables::PatternTables;
use tokio::sync::Notify;

use super::table_memory::MemoryNeed;

/// A goal class, with its loaded tables and data about their use.
#[derive(Debug)]
pub(crate) struct ClassEntry {
    pub(crate) class: GoalClass,
    pub(crate) loaded: RwLock<Option<Arc<PatternTables>>>,
    /// Time of the last load or eviction of the tables; at first, the creation time of the entry.
    loaded_at: Mutex<Instant>,
    /// Locked while small tables are built.
    pub(crate) building: Mutex<()>,
    /// True while a thread builds the first tables. `changed` wakes the callers that wait for the tables.
    pub(crate) is_building: AtomicBool,
    pub(crate) changed: Notify,
    /// Last use, as a value of the cache's counter of uses; 0 before the first use.
    pub(crate) last_used: AtomicU64,
    /// Last use, in seconds since the creation of the cache.
    pub(crate) last_used_second: AtomicU64,
    /// Time of the last upgrade request, in seconds since the creation of the cache, plus one; 0 before the first
    /// request.
    pub(crate) requested_at: AtomicU64,
    /// True if the class has stronger tables than the small ones.
    pub(crate) has_better: bool,
    /// True while an upgrade request is pending.
    pub(crate) is_upgrade_pending: AtomicBool,
    /// Number of callers that wait for small tables.
    pub(crate) waiting: AtomicUsize,
    /// Memory of the small tables.
    small_need: OnceLock<MemoryNeed>,
    /// The reason why the last build of small tables could not begin; `None` if the build began.
    pub(crate) shortage: Mutex<Option<TableShortage>>,
    /// True once tables of the class have led to a wrong solution.
    pub(crate) was_wrong: AtomicBool,
}

/// The reason why small tables cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableShortage {
    /// The build needs `bytes` bytes, which is more than the limit for all tables.
    Lasting { bytes: u64 },
    /// Other tables use the memory at present.
    Passing,
    /// The system refuses to create a thread.
    Thread,
}

impl ClassEntry {
    /// Creates an entry without tables.
    pub(crate) fn new(class: GoalClass) -> Self {
        Self {
            class,
            loaded: RwLock::default(),
            loaded_at: Mutex::new(Instant::now()),
            building: Mutex::default(),
            is_building: AtomicBool::new(false),
            changed: Notify::new(),
            last_used: AtomicU64::new(0),
            last_used_second: AtomicU64::new(0),
            requested_at: AtomicU64::new(0),
            has_better: Partition::choose(class, Tier::Standard).is_some(),
            is_upgrade_pending: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            small_need: OnceLock::new(),
            shortage: Mutex::default(),
            was_wrong: AtomicBool::new(false),
        }
    }

    pub(crate) fn loaded(&self) -> Option<Arc<PatternTables>> {
        self.loaded.read().clone()
    }

    /// Returns the time at which the tables were last loaded or evicted.
    pub(crate) fn loaded_at(&self) -> Instant {
        *self.loaded_at.lock()
    }

    /// Returns true if a search uses the tables. The entry itself holds one reference.
    pub(crate) fn is_used(&self) -> bool {
        self.loaded.read().as_ref().is_some_and(|loaded| Arc::strong_count(loaded) > 1)
    }

    pub(crate) fn small_need(&self) -> MemoryNeed {
        let need = || MemoryNeed::of(self.class, Tier::Small).expect("every class has small patterns");
        *self.small_need.get_or_init(need)
    }

    pub(crate) fn put(&self, loaded: Option<Arc<PatternTables>>) {
        *self.loaded_at.lock() = Instant::now();
        *self.loaded.write() = loaded;
    }
}

/// Counts a caller that waits for small tables. Dropping the guard ends the count.
pub(crate) struct WaitGuard<'a>(pub(crate) &'a ClassEntry);

impl<'a> WaitGuard<'a> {
    pub(crate) fn begin(entry: &'a ClassEntry) -> Self {
        entry.waiting.fetch_add(1, Ordering::AcqRel);
        Self(entry)
    }
}

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Guard of a running first build. Dropping the guard marks the build as ended, and wakes the waiting callers. The drop
/// also happens after a failed build.
pub(crate) struct FirstBuildGuard<'a>(pub(crate) &'a ClassEntry);

impl Drop for FirstBuildGuard<'_> {
    fn drop(&mut self) {
        self.0.is_building.store(false, Ordering::Release);
        self.0.changed.notify_waiters();
    }
}

/// Guard of a pending upgrade. Dropping the guard marks the upgrade as ended, and wakes the waiting callers. The drop
/// also happens after a failed upgrade.
pub(crate) struct UpgradeGuard<'a>(pub(crate) &'a ClassEntry);

impl Drop for UpgradeGuard<'_> {
    fn drop(&mut self) {
        self.0.is_upgrade_pending.store(false, Ordering::Release);
        self.0.changed.notify_waiters();
    }
}

/// Returns true for the class that clients request most. The tables of this class are built at the start, and are never
/// evicted.
pub(crate) fn is_pinned(class: GoalClass) -> bool {
    class == GoalClass::corner_of_4x4()
}
