//! Precomputed tables, each built once.

mod background_builder;
mod class_entry;
mod disk_cache;
mod loaded_patterns;
mod pattern_cache;
mod stage_cache;
mod table_memory;

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::thread::Builder;
use std::time::{Duration, Instant};

use disk_cache::DiskCache;
use pattern_cache::PatternCache;
use stage_cache::StageCache;

pub(crate) use background_builder::BackgroundBuilder;
pub(crate) use class_entry::TableShortage;
pub(crate) use loaded_patterns::LoadedPatterns;
pub(crate) use pattern_cache::MIN_STAY;

use crate::domain::{Board, Cell, Metric, Size};
use crate::search::heuristic::{DistanceTable, GoalClass, Partition, Tier, WalkingShape, WalkingTable};
use crate::search::{Distribution, MoveAutomaton, Stages};

/// All precomputed tables. Each is built on first use, by one thread while others wait (single flight).
#[derive(Debug)]
pub struct Tables {
    distances: BuildOnceTables<DistanceTable>,
    multi_tile_distances: BuildOnceTables<DistanceTable>,
    walking: BuildOnceTables<WalkingTable>,
    stages: StageCache,
    patterns: Arc<PatternCache>,
    /// The strongest patterns that are ever built.
    strongest: OnceLock<Tier>,
}

/// Description of a loaded table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableEntry {
    /// Kind of the table.
    pub name: &'static str,
    /// Boards that it serves, as rows and columns and the goal cell of the blank.
    pub size: String,
    /// Memory in bytes.
    pub bytes: usize,
    /// Time to build the table, or to read it from a file; unknown for stages, which searches build bit by bit.
    pub build_time: Option<Duration>,
}

#[derive(Debug)]
struct BuildOnceTables<T>(Box<[OnceLock<(T, Duration)>]>);

impl<T> BuildOnceTables<T> {
    fn new(slots: usize) -> Self {
        Self((0..slots).map(|_| OnceLock::new()).collect())
    }

    #[inline]
    fn get(&self, slot: usize, build: impl FnOnce() -> T) -> &T {
        let (table, _) = self.0[slot].get_or_init(|| {
            let start = Instant::now();
            let table = build();
            (table, start.elapsed())
        });
        table
    }

    fn built(&self) -> impl Iterator<Item = (&T, Duration)> {
        self.0.iter().filter_map(|built| built.get().map(|(table, time)| (table, *time)))
    }
}

/// Memory of the stage cache: the stages of 10×10, or of many smaller boards.
const STAGES: u64 = 16 << 20;
/// Sides of boards with a distance table: 2 to 4.
const DISTANCE_SIDES: usize = 3;
const DISTANCE_SLOTS: usize = DISTANCE_SIDES * DISTANCE_SIDES * DistanceTable::MAX_CELLS;
/// Lines of a walking table and their widths: 2 to 5.
const WALKING_WIDTHS: usize = WalkingTable::MAX_LINES - 1;

#[inline]
fn distance_slot(size: Size, goal_blank: Cell) -> usize {
    let shape = (size.rows() - Size::MIN_SIDE) * DISTANCE_SIDES + size.cols() - Size::MIN_SIDE;
    shape * DistanceTable::MAX_CELLS + usize::from(goal_blank)
}

fn walking_slot(shape: WalkingShape) -> usize {
    let sides = (shape.lines - Size::MIN_SIDE) * WALKING_WIDTHS + shape.width - Size::MIN_SIDE;
    sides * WalkingTable::MAX_LINES + shape.blank_line
}

impl Default for Tables {
    fn default() -> Self {
        Self::new(u64::MAX, None)
    }
}

impl Tables {
    /// Creates an empty set. `memory` bounds the tables built on first use, in bytes; `cache` is a directory for large
    /// ones, kept between runs.
    pub fn new(memory: u64, cache: Option<PathBuf>) -> Self {
        let walking = (WalkingTable::MAX_LINES - 1) * WALKING_WIDTHS * WalkingTable::MAX_LINES;
        Self {
            distances: BuildOnceTables::new(DISTANCE_SLOTS),
            multi_tile_distances: BuildOnceTables::new(DISTANCE_SLOTS),
            walking: BuildOnceTables::new(walking),
            stages: StageCache::new(STAGES),
            patterns: Arc::new(PatternCache::new(memory.saturating_sub(STAGES), cache.map(DiskCache::new))),
            strongest: OnceLock::new(),
        }
    }

    /// An empty set with memory for the small patterns of one class.
    #[cfg(test)]
    pub(crate) fn with_memory_for(class: GoalClass) -> Self {
        let need = loaded_patterns::MemoryNeed::of(class, Tier::Small).expect("small patterns");
        Self::new(STAGES + need.tables + need.to_build, None)
    }

    /// The exact distances on boards of a size that has [such a table](DistanceTable::serves).
    #[inline]
    pub fn distances(&self, size: Size, goal_blank: Cell) -> &DistanceTable {
        self.distances.get(distance_slot(size, goal_blank), || DistanceTable::build(size, goal_blank))
    }

    /// The exact distances in the multi-tile metric, on boards of the same sizes.
    pub fn multi_tile_distances(&self, size: Size, goal_blank: Cell) -> &DistanceTable {
        let build = || DistanceTable::build_in(Metric::MultiTile, size, goal_blank);
        self.multi_tile_distances.get(distance_slot(size, goal_blank), build)
    }

    /// True if the distance table of a size is loaded.
    pub fn has_distances(&self, size: Size, goal_blank: Cell) -> bool {
        DistanceTable::serves(size) && self.distances.0[distance_slot(size, goal_blank)].get().is_some()
    }

    /// Number of boards at each optimal length, if it is known for a size and goal cell of the blank: from the distance
    /// table of a size that has one, or stored.
    pub fn distribution(&self, size: Size, goal_blank: Cell) -> Option<Distribution<'_>> {
        if DistanceTable::serves(size) {
            return Some(Distribution::of_table(self.distances(size, goal_blank)));
        }
        Distribution::stored(size, goal_blank)
    }

    /// The walking-distance table of a shape that [has one](WalkingTable::serves).
    pub fn walking(&self, shape: WalkingShape) -> &WalkingTable {
        self.walking.get(walking_slot(shape), || WalkingTable::build(shape))
    }

    /// True if the walking-distance table of a shape is loaded.
    pub(crate) fn has_walking(&self, shape: WalkingShape) -> bool {
        self.walking.0[walking_slot(shape)].get().is_some()
    }

    /// The stages of a size and goal cell of the blank.
    pub fn stages(&self, size: Size, goal_blank: Cell) -> Arc<Stages> {
        self.stages.get(size, goal_blank)
    }

    /// Returns the strongest loaded patterns of a size and goal that [have some](GoalClass::serves). Builds small ones
    /// if there are none.
    pub(crate) fn patterns(&self, size: Size, goal_blank: Cell) -> Arc<LoadedPatterns> {
        self.patterns.get(size, goal_blank)
    }

    /// Returns the strongest loaded patterns without blocking the thread; see [`patterns`](Self::patterns). If other
    /// tables leave no memory for them, it waits for that if `waits_for_memory`.
    ///
    /// # Errors
    /// If they would exceed the memory for tables.
    pub(crate) async fn ready_patterns(
        &self,
        size: Size,
        goal_blank: Cell,
        waits_for_memory: bool,
    ) -> Result<Arc<LoadedPatterns>, TableShortage> {
        self.patterns.get_async(size, goal_blank, waits_for_memory).await
    }

    /// True if the patterns of a size and goal wait for memory that other tables use.
    pub(crate) fn are_short_of_memory(&self, size: Size, goal_blank: Cell) -> bool {
        self.patterns.is_short_of_memory(size, goal_blank)
    }

    /// Drops patterns that led to a wrong solution.
    pub(crate) fn drop_wrong_patterns(&self, wrong: &Arc<LoadedPatterns>) {
        self.patterns.drop_wrong(wrong);
    }

    /// Memory of the tables built on first use, with those evicted but still in use and those being built, in bytes.
    pub fn memory_in_use(&self) -> u64 {
        self.patterns.used_memory() + self.stages.bytes()
    }

    /// The loaded patterns of a class, if any. They are not marked as used.
    pub(crate) fn loaded_patterns(&self, class: GoalClass) -> Option<Arc<LoadedPatterns>> {
        self.patterns.loaded().find(|loaded| loaded.class == class)
    }

    /// Waits for patterns stronger than these; returns these if none are being built.
    pub(crate) async fn stronger_patterns(&self, loaded: Arc<LoadedPatterns>) -> Arc<LoadedPatterns> {
        self.patterns.stronger(loaded).await
    }

    /// Builds the patterns of a tier for a class unless it has patterns as strong, and the move automaton that their
    /// searches use.
    pub fn improve(&self, class: GoalClass, tier: Tier) {
        std::thread::scope(|scope| {
            // If no thread can be created, the background builder or the first search builds it.
            let _ = Builder::new().spawn_scoped(scope, MoveAutomaton::get);
            self.patterns.improve(class, tier);
        });
    }

    /// Builds stronger patterns in the background if the class is still loaded and memory allows it. Returns true if
    /// anything was built.
    pub(crate) fn improve_later(&self, class: GoalClass) -> bool {
        self.patterns.improve_later(class, Tier::Standard)
    }

    /// Sets the strongest patterns that are ever built.
    pub(crate) fn set_strongest(&self, tier: Tier) {
        let _ = self.strongest.set(tier);
    }

    /// True if stronger patterns than these may be loaded later.
    pub(crate) fn may_improve(&self, loaded: &LoadedPatterns) -> bool {
        self.strongest.get().is_none_or(|strongest| loaded.tier < *strongest)
    }

    /// Registers the background builder, which receives the classes that have stronger patterns.
    pub(crate) fn set_background_builder(&self, builder: Sender<GoalClass>) {
        self.patterns.set_background_builder(builder);
    }

    /// Builds in about 0.1 s what most requests need: the distances to the named goals, and the small patterns of
    /// 15-puzzles whose blank belongs in a corner.
    pub fn build_for_start(&self) {
        let build_named_distances = || {
            for size in DistanceTable::sizes() {
                for goal in [Board::blank_last(size), Board::blank_first(size), Board::snail(size)] {
                    self.distances(size, goal.blank());
                }
            }
        };
        std::thread::scope(|scope| {
            if Builder::new().spawn_scoped(scope, build_named_distances).is_err() {
                build_named_distances();
            }
            let GoalClass { size, goal_blank } = GoalClass::corner_of_4x4();
            self.patterns(size, goal_blank);
        });
    }

    /// Builds the missing distance tables for all goals.
    pub fn build_distances(&self) {
        for size in DistanceTable::sizes() {
            for goal_blank in 0..size.cells() as Cell {
                self.distances(size, goal_blank);
            }
        }
    }

    /// All loaded tables.
    pub fn entries(&self) -> Vec<TableEntry> {
        let all_distances =
            [("distances", &self.distances), ("multi-tile distances", &self.multi_tile_distances)].into_iter();
        let distances = all_distances.flat_map(|(name, tables)| {
            tables.built().map(move |(table, build_time)| TableEntry {
                name,
                size: format!("{}, blank in cell {}", table.size(), table.goal_blank()),
                bytes: table.bytes(),
                build_time: Some(build_time),
            })
        });
        let walking = self.walking.built().map(|(table, build_time)| {
            let WalkingShape { lines, width, blank_line } = table.shape();
            let size = format!("{lines} lines of {width}, blank in line {blank_line}");
            TableEntry { name: "walking distances", size, bytes: table.bytes(), build_time: Some(build_time) }
        });
        let patterns = self.patterns.loaded().map(|loaded| {
            let GoalClass { size, goal_blank } = loaded.class;
            let names: Vec<String> = loaded.partitions.iter().map(Partition::name).collect();
            let size = format!("{size}, blank in cell {goal_blank}: {}", names.join(" and "));
            TableEntry { name: "patterns", size, bytes: loaded.bytes(), build_time: Some(loaded.time) }
        });
        let stages = self.stages.all().into_iter().map(|stages| TableEntry {
            name: "stages",
            size: format!("{}, blank in cell {}", stages.size(), stages.goal_blank()),
            bytes: stages.bytes() as usize,
            build_time: None,
        });
        distances.chain(walking).chain(patterns).chain(stages).collect()
    }

    /// Memory of all loaded tables, in bytes.
    pub fn bytes(&self) -> usize {
        self.entries().iter().map(|entry| entry.bytes).sum()
    }
}
