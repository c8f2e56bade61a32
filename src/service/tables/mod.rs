//! Precomputed tables. Each table is built once.

mod background_builder;
mod class_entry;
mod disk_cache;
mod pattern_cache;
mod table_memory;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::Builder;
use std::time::Duration;

use taquin_solver::heuristic::{DistanceTable, GoalClass, Partition, Tier, WalkingShape};
use taquin_solver::search::MoveAutomaton;
use taquin_solver::tables::{PatternTables, SmallTables, TableSource};
use taquin_solver::{Board, Cell};

use disk_cache::DiskCache;

pub(crate) use background_builder::{BackgroundBuilder, lower_thread_priority};
pub(crate) use class_entry::TableShortage;
pub(crate) use pattern_cache::{MIN_STAY, PatternCache};

/// All precomputed tables. One thread builds a table on first use, while other threads wait (single flight).
#[derive(Debug)]
pub struct Tables {
    small: SmallTables,
    pub(crate) pattern_cache: Arc<PatternCache>,
    /// The strongest tier of patterns to build; empty until [`set_strongest`](Self::set_strongest) is called.
    strongest: OnceLock<Tier>,
}

/// Description of a loaded table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableEntry {
    /// Kind of the table.
    pub name: &'static str,
    /// Boards that the table serves, as rows, columns and the goal cell of the blank.
    pub size: String,
    /// Memory of the table, in bytes.
    pub bytes: usize,
    /// Time that the build of the table took, or the reading of its file; `None` for stages, which searches build step
    /// by step.
    pub build_time: Option<Duration>,
}

impl Default for Tables {
    fn default() -> Self {
        Self::new(u64::MAX, None)
    }
}

impl Tables {
    /// Creates an empty set of tables. `memory` is the limit for the tables that are built on first use, in bytes.
    /// `cache` is the directory in which the stronger pattern tables are kept between runs; `None` for no files.
    pub fn new(memory: u64, cache: Option<PathBuf>) -> Self {
        Self {
            small: SmallTables::new(),
            pattern_cache: Arc::new(PatternCache::new(
                memory.saturating_sub(SmallTables::STAGE_BYTES),
                cache.map(DiskCache::new),
            )),
            strongest: OnceLock::new(),
        }
    }

    /// Creates an empty set of tables, with memory for the small patterns of one class.
    #[cfg(test)]
    pub(crate) fn with_memory_for(class: GoalClass) -> Self {
        let need = table_memory::MemoryNeed::of(class, Tier::Small).expect("small patterns");
        Self::new(SmallTables::STAGE_BYTES + need.tables + need.to_build, None)
    }

    /// Returns the small tables.
    #[inline]
    pub fn small(&self) -> &SmallTables {
        &self.small
    }

    /// Returns the memory of the tables that are built on first use, in bytes. The memory includes tables under
    /// construction, and evicted tables that searches still use.
    pub fn memory_in_use(&self) -> u64 {
        self.pattern_cache.used_memory() + self.small.stage_bytes()
    }

    /// Builds the patterns of a tier for a class, or reads the patterns from their file. Does nothing if the class has
    /// patterns of at least this tier. Also builds the move automaton, which searches with these patterns use.
    pub fn improve(&self, class: GoalClass, tier: Tier) {
        std::thread::scope(|scope| {
            // If no thread can be created, the background builder or the first search builds the automaton.
            let _ = Builder::new().spawn_scoped(scope, MoveAutomaton::get);
            self.pattern_cache.improve(class, tier);
        });
    }

    /// Sets the strongest tier of patterns to build. Further calls have no effect.
    pub(crate) fn set_strongest(&self, tier: Tier) {
        let _ = self.strongest.set(tier);
    }

    /// Builds the tables that most requests need, in about 0.1 s. These are the distances to the named goals, and the
    /// small patterns of 15-puzzles whose blank has its goal cell in a corner.
    pub fn build_for_start(&self) {
        let build_named_distances = || {
            for size in DistanceTable::sizes() {
                for goal in [Board::blank_last(size), Board::blank_first(size), Board::snail(size)] {
                    self.small.distances(size, goal.blank());
                }
            }
        };
        std::thread::scope(|scope| {
            if Builder::new().spawn_scoped(scope, build_named_distances).is_err() {
                build_named_distances();
            }
            TableSource::patterns(self, GoalClass::corner_of_4x4());
        });
    }

    /// Builds all missing distance tables, for each shape and each goal cell of the blank.
    pub fn build_distances(&self) {
        for size in DistanceTable::sizes() {
            for goal_blank in 0..size.cells() as Cell {
                self.small.distances(size, goal_blank);
            }
        }
    }

    /// Returns descriptions of all loaded tables.
    pub fn entries(&self) -> Vec<TableEntry> {
        let all_distances = self
            .small
            .built_distances()
            .map(|built| ("distances", built))
            .chain(self.small.built_multi_tile_distances().map(|built| ("multi-tile distances", built)));
        let distances = all_distances.map(|(name, (table, build_time))| TableEntry {
            name,
            size: format!("{}, blank in cell {}", table.size(), table.goal_blank()),
            bytes: table.bytes(),
            build_time: Some(build_time),
        });
        let walking = self.small.built_walking().map(|(table, build_time)| {
            let WalkingShape { lines, width, blank_line } = table.shape();
            let size = format!("{lines} lines of {width}, blank in line {blank_line}");
            TableEntry { name: "walking distances", size, bytes: table.bytes(), build_time: Some(build_time) }
        });
        let patterns = self.pattern_cache.loaded().map(|loaded| {
            let GoalClass { size, goal_blank } = loaded.class();
            let names: Vec<String> = loaded.partitions().iter().map(Partition::name).collect();
            let size = format!("{size}, blank in cell {goal_blank}: {}", names.join(" and "));
            TableEntry { name: "patterns", size, bytes: loaded.bytes(), build_time: Some(loaded.load_time()) }
        });
        let stages = self.small.kept_stages().into_iter().map(|stages| TableEntry {
            name: "stages",
            size: format!("{}, blank in cell {}", stages.size(), stages.goal_blank()),
            bytes: stages.bytes() as usize,
            build_time: None,
        });
        distances.chain(walking).chain(patterns).chain(stages).collect()
    }

    /// Returns the memory of all loaded tables, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries().iter().map(|entry| entry.bytes).sum()
    }
}

impl TableSource for Tables {
    fn small(&self) -> &SmallTables {
        &self.small
    }

    fn patterns(&self, class: GoalClass) -> Arc<PatternTables> {
        self.pattern_cache.get(class)
    }

    /// Returns the loaded patterns of a class. This function does not mark the patterns as used.
    fn loaded_patterns(&self, class: GoalClass) -> Option<Arc<PatternTables>> {
        self.pattern_cache.loaded().find(|loaded| loaded.class() == class)
    }

    fn may_improve(&self, loaded: &PatternTables) -> bool {
        self.strongest.get().is_none_or(|strongest| loaded.tier() < *strongest)
    }

    fn drop_wrong_patterns(&self, wrong: &Arc<PatternTables>) {
        self.pattern_cache.drop_wrong(wrong);
    }
}
