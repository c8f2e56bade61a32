//! Small tables, each built once and kept.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::stage_cache::StageCache;
use crate::clock::Instant;
use crate::domain::{Cell, Metric, Size};
use crate::search::heuristic::{DistanceTable, WalkingShape, WalkingTable};
use crate::search::{Distribution, Stages};

/// The exact distances of boards of up to 9 cells, walking distances, and stages. Each table is built on first use, by
/// one thread while others wait.
#[derive(Debug)]
pub struct SmallTables {
    distances: BuildOnceTables<DistanceTable>,
    multi_tile_distances: BuildOnceTables<DistanceTable>,
    walking: BuildOnceTables<WalkingTable>,
    stages: StageCache,
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

impl Default for SmallTables {
    fn default() -> Self {
        Self::new()
    }
}

impl SmallTables {
    /// Most memory of the stages, in bytes.
    pub const STAGE_BYTES: u64 = STAGES;

    /// An empty set.
    pub fn new() -> Self {
        let walking = (WalkingTable::MAX_LINES - 1) * WALKING_WIDTHS * WalkingTable::MAX_LINES;
        Self {
            distances: BuildOnceTables::new(DISTANCE_SLOTS),
            multi_tile_distances: BuildOnceTables::new(DISTANCE_SLOTS),
            walking: BuildOnceTables::new(walking),
            stages: StageCache::new(STAGES),
        }
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

    /// The exact distances in a metric, on boards of the same sizes.
    pub fn distances_in(&self, metric: Metric, size: Size, goal_blank: Cell) -> &DistanceTable {
        match metric {
            Metric::SingleTile => self.distances(size, goal_blank),
            Metric::MultiTile => self.multi_tile_distances(size, goal_blank),
        }
    }

    /// True if the distance table of a size is loaded.
    pub fn has_distances(&self, size: Size, goal_blank: Cell) -> bool {
        self.has_distances_in(Metric::SingleTile, size, goal_blank)
    }

    /// True if the distance table of a metric and a size is loaded.
    pub fn has_distances_in(&self, metric: Metric, size: Size, goal_blank: Cell) -> bool {
        let tables = match metric {
            Metric::SingleTile => &self.distances,
            Metric::MultiTile => &self.multi_tile_distances,
        };
        DistanceTable::serves(size) && tables.0[distance_slot(size, goal_blank)].get().is_some()
    }

    /// Number of boards at each optimal length in a metric, if it is known for a size and goal cell of the blank: from
    /// the distance table of a size that has one, or stored.
    pub fn distribution(&self, metric: Metric, size: Size, goal_blank: Cell) -> Option<Distribution<'_>> {
        if DistanceTable::serves(size) {
            return Some(Distribution::of_table(self.distances_in(metric, size, goal_blank)));
        }
        Distribution::stored(metric, size, goal_blank)
    }

    /// The walking-distance table of a shape that [has one](WalkingTable::serves).
    pub fn walking(&self, shape: WalkingShape) -> &WalkingTable {
        self.walking.get(walking_slot(shape), || WalkingTable::build(shape))
    }

    /// True if the walking-distance table of a shape is loaded.
    pub fn has_walking(&self, shape: WalkingShape) -> bool {
        self.walking.0[walking_slot(shape)].get().is_some()
    }

    /// The stages of a size and goal cell of the blank.
    pub fn stages(&self, size: Size, goal_blank: Cell) -> Arc<Stages> {
        self.stages.get(size, goal_blank)
    }

    /// All distance tables that are built, with the times of their builds.
    pub fn built_distances(&self) -> impl Iterator<Item = (&DistanceTable, Duration)> {
        self.distances.built()
    }

    /// All distance tables of the multi-tile metric that are built, with the times of their builds.
    pub fn built_multi_tile_distances(&self) -> impl Iterator<Item = (&DistanceTable, Duration)> {
        self.multi_tile_distances.built()
    }

    /// All walking-distance tables that are built, with the times of their builds.
    pub fn built_walking(&self) -> impl Iterator<Item = (&WalkingTable, Duration)> {
        self.walking.built()
    }

    /// The stages that are kept, the most recently used first.
    pub fn kept_stages(&self) -> Vec<Arc<Stages>> {
        self.stages.all()
    }

    /// Memory of the stages that are kept, in bytes.
    pub fn stage_bytes(&self) -> u64 {
        self.stages.bytes()
    }
}
