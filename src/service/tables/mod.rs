//! Precomputed tables, each built once.

mod background_builder;
mod disk_cache;
mod pattern_cache;
mod stage_cache;

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use disk_cache::TableCache;
use pattern_cache::Shelf;
use stage_cache::KeptStages;

pub(super) use background_builder::Builder;
pub(super) use pattern_cache::{Loaded, NoRoom};

use crate::domain::{Board, Cell, Size};
use crate::search::heuristic::{DistanceTable, GoalClass, Partition, Tier, WalkingShape, WalkingTable};
use crate::search::{MoveAutomaton, Stages};

/// Every table the service may want, in a slot of its own. A slot is filled on first use by
/// whoever comes first, while others wait for it (single-flight).
#[derive(Debug)]
pub struct Tables {
    distances: Slots<DistanceTable>,
    walking: Slots<WalkingTable>,
    stages: KeptStages,
    patterns: Arc<Shelf>,
}

/// A table that is loaded, for people to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TableEntry {
    /// What kind of table it is.
    pub name: &'static str,
    /// The boards it serves, as rows and columns and the blank's goal.
    pub size: String,
    /// Memory it takes.
    pub bytes: usize,
    /// How long it took to build, or to read from a file, if that is known: searches make stages as they want them.
    pub build_time: Option<Duration>,
}

#[derive(Debug)]
struct Slots<T>(Box<[OnceLock<(T, Duration)>]>);

impl<T> Slots<T> {
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

/// Memory for stages that are kept: those of 10×10, or many smaller ones.
const STAGES: u64 = 16 << 20;
/// Sides of boards with a distance table: 2 to 4.
const DISTANCE_SIDES: usize = 3;
/// Lines of a walking table and their widths: 2 to 5.
const WALKING_WIDTHS: usize = WalkingTable::MAX_LINES - 1;

#[inline]
fn distance_slot(size: Size, goal_blank: Cell) -> usize {
    let shape = (size.rows() - Size::MIN_SIDE) * DISTANCE_SIDES + size.cols() - Size::MIN_SIDE;
    shape * DistanceTable::MAX_CELLS + usize::from(goal_blank)
}

impl Default for Tables {
    fn default() -> Self {
        Self::new(u64::MAX, None)
    }
}

impl Tables {
    /// None yet, so many bytes for tables that are built on first use, and a directory where large ones are kept
    /// between runs, if there is one.
    pub fn new(memory: u64, cache: Option<PathBuf>) -> Self {
        let walking = (WalkingTable::MAX_LINES - 1) * WALKING_WIDTHS * WalkingTable::MAX_LINES;
        Self {
            distances: Slots::new(DISTANCE_SIDES * DISTANCE_SIDES * DistanceTable::MAX_CELLS),
            walking: Slots::new(walking),
            stages: KeptStages::new(STAGES),
            patterns: Arc::new(Shelf::new(memory.saturating_sub(STAGES), cache.map(TableCache::new))),
        }
    }

    /// The exact distances of boards of a shape that has [such a table](DistanceTable::serves).
    #[inline]
    pub fn distances(&self, size: Size, goal_blank: Cell) -> &DistanceTable {
        self.distances.get(distance_slot(size, goal_blank), || DistanceTable::build(size, goal_blank))
    }

    /// Whether the distances of a shape's boards are there, so that asking for them costs nothing.
    pub fn has_distances(&self, size: Size, goal_blank: Cell) -> bool {
        DistanceTable::serves(size) && self.distances.0[distance_slot(size, goal_blank)].get().is_some()
    }

    /// A walking table of a shape that [is served](WalkingTable::serves).
    pub fn walking(&self, shape: WalkingShape) -> &WalkingTable {
        let sides = (shape.lines - Size::MIN_SIDE) * WALKING_WIDTHS + shape.width - Size::MIN_SIDE;
        self.walking.get(sides * WalkingTable::MAX_LINES + shape.blank_line, || WalkingTable::build(shape))
    }

    /// Stages that lead to the goals of a shape whose blank belongs in a cell.
    pub fn stages(&self, size: Size, goal_blank: Cell) -> Arc<Stages> {
        self.stages.get(size, goal_blank)
    }

    /// The strongest patterns there are for a shape and goal that [have some](GoalClass::serves); small
    /// ones are built if there are none.
    pub(super) fn patterns(&self, size: Size, goal_blank: Cell) -> Arc<Loaded> {
        self.patterns.get(size, goal_blank)
    }

    /// The same for those who cannot wait on their thread.
    ///
    /// # Errors
    /// If they would take more memory than there is for tables.
    pub(super) async fn ready_patterns(&self, size: Size, goal_blank: Cell) -> Result<Arc<Loaded>, NoRoom> {
        self.patterns.ready(size, goal_blank).await
    }

    /// Stronger patterns than these, as soon as they are built; these, if nobody builds any.
    pub(super) async fn stronger_patterns(&self, loaded: Arc<Loaded>) -> Arc<Loaded> {
        self.patterns.stronger(loaded).await
    }

    /// Builds the patterns of a tier for a class, if it has such and none as strong are there, and what
    /// else searches with patterns would have to wait for.
    pub fn improve(&self, class: GoalClass, tier: Tier) {
        std::thread::scope(|scope| {
            scope.spawn(MoveAutomaton::get);
            self.patterns.improve(class, tier);
        });
    }

    /// The same beside the service, if the class's tables are still wanted and there is memory for
    /// better ones; whether anything was built.
    pub(super) fn improve_later(&self, class: GoalClass) -> bool {
        self.patterns.improve_later(class, Tier::Standard)
    }

    /// Who is told of classes that were asked for and have stronger patterns.
    pub(super) fn engage(&self, builder: Sender<GoalClass>) {
        self.patterns.engage(builder);
    }

    /// Builds what most requests need, which takes a tenth of a second: the distances to the goals that
    /// have names, and the small patterns of 15-puzzles whose blank belongs in a corner.
    pub fn build_for_start(&self) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for size in DistanceTable::sizes() {
                    for goal in [Board::blank_last(size), Board::blank_first(size), Board::snail(size)] {
                        self.distances(size, goal.blank());
                    }
                }
            });
            let GoalClass { size, goal_blank } = GoalClass::corner_of_4x4();
            self.patterns(size, goal_blank);
        });
    }

    /// Builds the distances to all goals that are not there yet.
    pub fn build_distances(&self) {
        for size in DistanceTable::sizes() {
            for goal_blank in 0..size.cells() as Cell {
                self.distances(size, goal_blank);
            }
        }
    }

    /// What is loaded.
    pub fn entries(&self) -> Vec<TableEntry> {
        let distances = self.distances.built().map(|(table, build_time)| TableEntry {
            name: "distances",
            size: format!("{}, blank in cell {}", table.size(), table.goal_blank()),
            bytes: table.bytes(),
            build_time: Some(build_time),
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

    /// Memory of all that is loaded.
    pub fn bytes(&self) -> usize {
        self.entries().iter().map(|entry| entry.bytes).sum()
    }
}
