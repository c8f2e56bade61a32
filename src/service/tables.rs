//! Precomputed tables, each built once.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::domain::{Cell, Size};
use crate::search::heuristic::{DistanceTable, GoalClass, Partition, PatternTable, WalkingShape, WalkingTable};

/// Every table the service may want, in a slot of its own. A slot is filled on first use by
/// whoever comes first, while others wait for it (single-flight).
#[derive(Debug)]
pub struct Tables {
    distances: Slots<DistanceTable>,
    walking: Slots<WalkingTable>,
    /// By class.
    patterns: Slots<Partition>,
    classes: Vec<GoalClass>,
    /// Stronger patterns of the first class, once they are there.
    large_patterns: Slots<Partition>,
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
    /// How long it took to build.
    pub build_time: Duration,
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
        let walking = (WalkingTable::MAX_LINES - 1) * WALKING_WIDTHS * WalkingTable::MAX_LINES;
        let classes: Vec<GoalClass> = GoalClass::all().collect();
        Self {
            distances: Slots::new(DISTANCE_SIDES * DISTANCE_SIDES * DistanceTable::MAX_CELLS),
            walking: Slots::new(walking),
            patterns: Slots::new(classes.len()),
            large_patterns: Slots::new(classes.len()),
            classes,
        }
    }
}

impl Tables {
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

    /// The strongest patterns there are for a shape and goal that [have some](GoalClass::serves); small
    /// ones are built if there are none.
    pub fn patterns(&self, size: Size, goal_blank: Cell) -> &Partition {
        let class = GoalClass::of(size, goal_blank);
        let slot = self.classes.iter().position(|known| *known == class).expect("every class has a slot");
        match self.large_patterns.0[slot].get() {
            Some((large, _)) => large,
            None => self.patterns.get(slot, || build_side_by_side(class, &Partition::small(class))),
        }
    }

    /// Builds the large patterns, each on a thread of its own.
    pub fn build_large(&self) {
        for (slot, class) in self.classes.iter().enumerate() {
            if let Some(patterns) = Partition::large(*class) {
                self.large_patterns.get(slot, || build_side_by_side(*class, &patterns));
            }
        }
    }

    /// Builds what costs milliseconds and most requests need: all distance tables, smallest first,
    /// and the small patterns of 15-puzzles whose blank belongs in a corner.
    pub fn build_cheap(&self) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for size in DistanceTable::sizes() {
                    for goal_blank in 0..size.cells() as Cell {
                        self.distances(size, goal_blank);
                    }
                }
            });
            if let Ok(size) = Size::try_from((4, 4)) {
                self.patterns(size, 0);
            }
        });
    }

    /// What is loaded.
    pub fn entries(&self) -> Vec<TableEntry> {
        let distances = self.distances.built().map(|(table, build_time)| TableEntry {
            name: "distances",
            size: format!("{}, blank in cell {}", table.size(), table.goal_blank()),
            bytes: table.bytes(),
            build_time,
        });
        let walking = self.walking.built().map(|(table, build_time)| {
            let WalkingShape { lines, width, blank_line } = table.shape();
            let size = format!("{lines} lines of {width}, blank in line {blank_line}");
            TableEntry { name: "walking distances", size, bytes: table.bytes(), build_time }
        });
        let patterns = self.patterns.built().chain(self.large_patterns.built()).map(|(partition, build_time)| {
            let GoalClass { size, goal_blank } = partition.class();
            let size = format!("{size}, blank in cell {goal_blank}: {}", partition.name());
            TableEntry { name: "patterns", size, bytes: partition.bytes(), build_time }
        });
        distances.chain(walking).chain(patterns).collect()
    }

    /// Memory of all that is loaded.
    pub fn bytes(&self) -> usize {
        self.entries().iter().map(|entry| entry.bytes).sum()
    }
}

/// As [`Partition::build`], on as many threads as there are patterns.
fn build_side_by_side(class: GoalClass, patterns: &[Vec<u8>]) -> Partition {
    let geometries = Partition::geometries(class, patterns);
    let build = |labels: &[u8], geometry| PatternTable::build(class.size, class.goal_blank, labels, geometry);
    let tables = std::thread::scope(|scope| {
        let threads: Vec<_> = patterns
            .iter()
            .zip(&geometries)
            .map(|(labels, geometry)| scope.spawn(|| build(labels, geometry)))
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, PatternTable>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    Partition::new(class, tables)
}
