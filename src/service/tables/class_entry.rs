//! The state of one class of boards and goals in the cache of pattern tables.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};
use taquin_solver::heuristic::{GoalClass, Partition, Tier};
use taquin_solver::tables::PatternTables;
use tokio::sync::Notify;

use super::table_memory::MemoryNeed;

/// A class with its loaded tables and their use.
#[derive(Debug)]
pub(super) struct ClassEntry {
    pub(super) class: GoalClass,
    pub(super) loaded: RwLock<Option<Arc<PatternTables>>>,
    /// When the tables were loaded.
    loaded_at: Mutex<Instant>,
    /// Held while small tables are built.
    pub(super) building: Mutex<()>,
    /// True while a thread builds the first tables; `changed` wakes the callers that wait for them.
    pub(super) is_building: AtomicBool,
    pub(super) changed: Notify,
    /// Last use, by the cache's counter and in seconds since its creation.
    pub(super) last_used: AtomicU64,
    pub(super) last_used_second: AtomicU64,
    /// Second of the last upgrade request plus one; zero before the first.
    pub(super) requested_at: AtomicU64,
    pub(super) has_better: bool,
    /// True while an upgrade request is pending.
    pub(super) is_upgrade_pending: AtomicBool,
    /// Number of callers that wait for small tables.
    pub(super) waiting: AtomicUsize,
    /// Memory of the small tables.
    small_need: OnceLock<MemoryNeed>,
    /// Why the last build of small tables was not begun.
    pub(super) shortage: Mutex<Option<TableShortage>>,
    /// True once tables led to a wrong solution.
    pub(super) was_wrong: AtomicBool,
}

/// The small tables of a class cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TableShortage {
    /// They need so many bytes during their build, more than there are for all tables.
    Lasting { bytes: u64 },
    /// Other tables use the memory now.
    Passing,
    /// The system refuses to create a thread.
    Thread,
}

impl ClassEntry {
    /// A class without tables.
    pub(super) fn new(class: GoalClass) -> Self {
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

    pub(super) fn loaded(&self) -> Option<Arc<PatternTables>> {
        self.loaded.read().clone()
    }

    /// When the loaded tables were loaded.
    pub(super) fn loaded_at(&self) -> Instant {
        *self.loaded_at.lock()
    }

    /// True if a search uses the loaded tables. One reference is the cache's own.
    pub(super) fn is_used(&self) -> bool {
        self.loaded.read().as_ref().is_some_and(|loaded| Arc::strong_count(loaded) > 1)
    }

    pub(super) fn small_need(&self) -> MemoryNeed {
        let need = || MemoryNeed::of(self.class, Tier::Small).expect("every class has small patterns");
        *self.small_need.get_or_init(need)
    }

    pub(super) fn put(&self, loaded: Option<Arc<PatternTables>>) {
        *self.loaded_at.lock() = Instant::now();
        *self.loaded.write() = loaded;
    }
}

/// Counts a caller that waits for small tables.
pub(super) struct WaitGuard<'a>(pub(super) &'a ClassEntry);

impl<'a> WaitGuard<'a> {
    pub(super) fn begin(entry: &'a ClassEntry) -> Self {
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
pub(super) struct FirstBuildGuard<'a>(pub(super) &'a ClassEntry);

impl Drop for FirstBuildGuard<'_> {
    fn drop(&mut self) {
        self.0.is_building.store(false, Ordering::Release);
        self.0.changed.notify_waiters();
    }
}

/// Marks a pending upgrade; wakes the waiting callers when dropped, even after a failure.
pub(super) struct UpgradeGuard<'a>(pub(super) &'a ClassEntry);

impl Drop for UpgradeGuard<'_> {
    fn drop(&mut self) {
        self.0.is_upgrade_pending.store(false, Ordering::Release);
        self.0.changed.notify_waiters();
    }
}

/// True for the class of most requests, whose tables are built at start and never evicted.
pub(super) fn is_pinned(class: GoalClass) -> bool {
    class == GoalClass::corner_of_4x4()
}
