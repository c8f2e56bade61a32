//! Pattern tables, as strong as there was time and memory for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use tracing::Level;

use super::table_cache::{TableCache, Unread};
use crate::domain::{Cell, Size};
use crate::search::heuristic::{GoalClass, Partition, PatternTable, Patterns, Tier};

/// For each class of boards and goals the tables that are loaded.
///
/// Small ones are built when they are first asked for, once, while others who ask wait for them.
/// Stronger ones take their place when they are there, and those who still search with the old ones
/// go on with them. When all take more memory than they may, those of the class that was not asked
/// for the longest are dropped.
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
}

#[derive(Debug)]
struct Slot {
    class: GoalClass,
    loaded: RwLock<Option<Arc<Loaded>>>,
    /// Held while small tables are built.
    building: Mutex<()>,
    /// When it was last asked for.
    asked: AtomicU64,
}

/// Tables of a class.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) class: GoalClass,
    pub(super) tier: Tier,
    pub(super) partitions: Vec<Partition>,
    /// How long they took to build, or to read.
    pub(super) time: Duration,
}

impl Loaded {
    /// Memory they take.
    pub(super) fn bytes(&self) -> usize {
        Partition::bytes_of(&self.partitions)
    }
}

impl Slot {
    fn loaded(&self) -> Option<Arc<Loaded>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A lock that a panic while it was held does not close for ever: what it guards is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    pub(super) fn new(memory: u64, cache: Option<TableCache>) -> Self {
        let slot =
            |class| Slot { class, loaded: RwLock::default(), building: Mutex::default(), asked: AtomicU64::new(0) };
        Self {
            slots: GoalClass::all().map(slot).collect(),
            memory,
            cache,
            clock: AtomicU64::new(0),
            builder: OnceLock::new(),
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
        slot.asked.store(self.clock.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        if let Some(loaded) = slot.loaded() {
            return loaded;
        }
        let building = lock(&slot.building);
        if let Some(loaded) = slot.loaded() {
            return loaded;
        }
        let loaded = build(slot.class, Tier::Small).expect("every class has small patterns");
        self.load(slot, &loaded);
        drop(building);
        if let (Some(_), Some(builder)) = (Partition::choose(slot.class, Tier::Standard), self.builder.get()) {
            // If it has ended, the small ones will do.
            let _ = lock(builder).send(slot.class);
        }
        loaded
    }

    /// Builds the tables of a tier for a class, if it has such and none as strong are there.
    pub(super) fn improve(&self, class: GoalClass, tier: Tier) {
        let slot = self.slot(class);
        if slot.loaded().is_none_or(|loaded| loaded.tier < tier)
            && let Some(loaded) = self.read_or_build(class, tier)
        {
            self.load(slot, &loaded);
        }
    }

    /// Tables from the cache, or built and then left there.
    fn read_or_build(&self, class: GoalClass, tier: Tier) -> Option<Arc<Loaded>> {
        let Some(cache) = &self.cache else { return build(class, tier) };
        let begun = Instant::now();
        let choice = Partition::choose(class, tier)?;
        match cache.read(class, &choice) {
            Ok(tables) => {
                let partitions = Partition::assemble(class, &choice, tables);
                return Some(Arc::new(Loaded { class, tier, partitions, time: begun.elapsed() }));
            }
            Err(Unread::Missing) => {}
            Err(error) => {
                tracing::event!(target: "taquin::tables", Level::WARN, tables.size = %class.size, %error, "cached tables are built anew");
            }
        }
        let loaded = build(class, tier)?;
        if let Err(error) = cache.write(&loaded.partitions, &choice) {
            tracing::event!(target: "taquin::tables", Level::WARN, tables.size = %class.size, %error, "tables could not be cached");
        }
        Some(loaded)
    }

    fn slot(&self, class: GoalClass) -> &Slot {
        self.slots.iter().find(|slot| slot.class == class).expect("every class has a slot")
    }

    /// Puts tables in the place of weaker ones, and drops others if all take too much.
    fn load(&self, slot: &Slot, tables: &Arc<Loaded>) {
        let mut loaded = slot.loaded.write().unwrap_or_else(PoisonError::into_inner);
        if loaded.as_ref().is_none_or(|loaded| loaded.tier < tables.tier) {
            *loaded = Some(Arc::clone(tables));
        }
        drop(loaded);
        let others = self.slots.iter().filter(|other| other.class != slot.class && !is_kept(other.class));
        let mut others: Vec<(&Slot, usize)> =
            others.filter_map(|other| other.loaded().map(|loaded| (other, loaded.bytes()))).collect();
        others.sort_by_key(|(other, _)| std::cmp::Reverse(other.asked.load(Ordering::Relaxed)));
        let mut total = if is_kept(slot.class) { 0 } else { tables.bytes() as u64 };
        for (other, bytes) in others {
            total += bytes as u64;
            if total > self.memory {
                *other.loaded.write().unwrap_or_else(PoisonError::into_inner) = None;
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

/// Builds the tables of a tier, if the class has such, each on a thread of its own.
fn build(class: GoalClass, tier: Tier) -> Option<Arc<Loaded>> {
    let begun = Instant::now();
    let choice = Partition::choose(class, tier)?;
    let tables = side_by_side(class, &choice);
    let partitions = Partition::assemble(class, &choice, tables);
    Some(Arc::new(Loaded { class, tier, partitions, time: begun.elapsed() }))
}

fn side_by_side(class: GoalClass, choice: &[Patterns]) -> Vec<PatternTable> {
    let geometries = Partition::geometries(class, choice);
    let build = |labels: &[u8], geometry| PatternTable::build(class.size, class.goal_blank, labels, geometry);
    std::thread::scope(|scope| {
        let patterns = choice.iter().flatten().zip(&geometries);
        let threads: Vec<_> = patterns.map(|(labels, geometry)| scope.spawn(|| build(labels, geometry))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, PatternTable>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}
