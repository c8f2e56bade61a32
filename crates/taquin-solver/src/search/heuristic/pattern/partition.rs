//! Partitions of the tiles into patterns.

use std::fmt::Debug;

use super::database::{Geometry, PatternTable};
use super::shared_tables::{SharedTable, shared_tables};
use super::symmetry::GoalClass;
use crate::domain::{Cell, Size};

/// The tiles of each pattern, by goal cell.
pub type Patterns = Vec<Vec<u8>>;

/// Size of pattern databases: the memory and the build time that they may take.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tier {
    /// Some megabytes and a tenth of a second; for more than 25 cells tens of megabytes and some seconds.
    Small,
    /// Tens of megabytes and a second; for 24-puzzles 51 to 76 MB and some seconds.
    Standard,
    /// Hundreds of megabytes and seven seconds.
    Large,
}

impl Tier {
    /// All tiers, from the smallest.
    pub const ALL: [Self; 3] = [Self::Small, Self::Standard, Self::Large];

    /// The name used in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Standard => "standard",
            Self::Large => "large",
        }
    }
}

/// Rows, columns, the blank's goal cell, the tier, and the patterns, separated by `/` between patterns and by `+`
/// between partitions.
///
/// Found with `benches/partitions.rs`: small boards with `-- R C G 6,5 boards=60` and similar (3×5 and 2×7 with 40
/// boards; 3×5 with `7,7` and 100), starting from columns and rows; the others starting from
///
/// - `4 4 0 6,6,3 1,4,5,8,9,12/2,3,6,7,10,11/13,14,15 boards=80`, known to be among the best of its size, which no
///   exchange of two tiles improves;
/// - `4 4 0 7,7,1 1,2,3,4,5,6,7/8,9,10,12,13,14,15/11`, and two others that led to the same result;
/// - `4 4 1 7,7,1 0,4,5,8,9,12,13/2,6,7,10,11,14,15/3+0,2,3,4,5,6,7/8,9,10,11,12,13,14/15 boards=40`;
/// - `4 4 5 7,7,1 0,1,4,8,9,12,13/2,3,6,7,10,11,14/15 boards=60`;
/// - `2 8 0 7,7,1` with `1,2,3,8,9,10,11/5,6,7,12,13,14,15/4+1,2,3,4,8,9,10/5,6,11,12,13,14,15/7
///   boards=16`, copied for the other goals on 2×8.
///
/// Each large pattern consists of two rows. The second standard partition of `4 4 0` needs no table of its own: its
/// second pattern is the first one with columns flipped.
#[rustfmt::skip]
const CHOICES: [(usize, usize, u8, Tier, &str); 34] = [
    (2, 5, 0, Tier::Small, "1 2 3 5 6 7 / 4 8 9 + 1 2 5 6 7 8 / 3 4 9"),
    (2, 5, 1, Tier::Small, "0 2 5 6 7 8 / 3 4 9 + 2 3 4 7 8 9 / 0 5 6"),
    (2, 5, 2, Tier::Small, "0 1 3 5 6 7 / 4 8 9"),
    (2, 6, 0, Tier::Small, "1 2 3 6 7 8 / 4 5 9 10 11 + 1 2 6 7 8 9 / 3 4 5 10 11"),
    (2, 6, 1, Tier::Small, "0 2 3 6 7 8 / 4 5 9 10 11 + 0 2 6 7 8 9 / 3 4 5 10 11"),
    (2, 6, 2, Tier::Small, "0 1 3 6 7 8 / 4 5 9 10 11 + 0 1 6 7 8 9 / 3 4 5 10 11"),
    (3, 4, 0, Tier::Small, "1 5 6 8 9 10 / 2 3 4 7 11 + 1 2 4 5 8 9 / 3 6 7 10 11"),
    (3, 4, 1, Tier::Small, "0 2 4 5 8 9 / 3 6 7 10 11 + 2 3 5 6 7 11 / 0 4 8 9 10"),
    (3, 4, 4, Tier::Small, "0 1 2 5 8 9 / 3 6 7 10 11"),
    (3, 4, 5, Tier::Small, "0 1 2 4 6 9 / 3 7 8 10 11"),
    (3, 5, 0, Tier::Small, "1 2 5 6 10 11 / 3 7 8 12 13 14 / 4 9 + 1 2 3 4 5 6 / 7 8 9 11 12 13 / 10 14"),
    (3, 5, 1, Tier::Small, "0 2 5 6 10 11 / 3 7 8 12 13 14 / 4 9 + 2 5 6 7 11 12 / 3 4 8 9 13 14 / 0 10"),
    (3, 5, 5, Tier::Small, "0 1 2 6 10 11 / 3 4 7 8 9 13 / 12 14"),
    (3, 5, 6, Tier::Small, "0 1 2 5 10 11 / 3 4 7 8 9 13 / 12 14"),
    (3, 5, 0, Tier::Standard, "1 2 5 6 7 10 11 / 3 4 8 9 12 13 14 + 1 2 3 4 5 6 10 / 7 8 9 11 12 13 14"),
    (3, 5, 1, Tier::Standard, "0 2 5 6 7 10 11 / 3 4 8 9 12 13 14 + 0 2 3 4 5 6 10 / 7 8 9 11 12 13 14"),
    (3, 5, 2, Tier::Standard, "0 1 5 6 7 10 11 / 3 4 8 9 12 13 14"),
    (3, 5, 5, Tier::Standard, "0 1 2 6 7 10 11 / 3 4 8 9 12 13 14"),
    (3, 5, 6, Tier::Standard, "0 1 2 5 7 10 11 / 3 4 8 9 12 13 14"),
    (3, 5, 7, Tier::Standard, "0 1 2 5 6 10 11 / 3 4 8 9 12 13 14"),
    (2, 7, 0, Tier::Small, "1 2 3 8 9 10 / 4 5 6 11 12 13 / 7 + 4 5 10 11 12 13 / 1 2 3 7 8 9 / 6"),
    (2, 7, 1, Tier::Small, "0 2 3 8 9 10 / 4 5 6 11 12 13 / 7 + 4 5 10 11 12 13 / 0 2 3 7 8 9 / 6"),
    (2, 7, 2, Tier::Small, "0 1 3 8 9 10 / 4 5 6 11 12 13 / 7 + 4 5 10 11 12 13 / 0 1 3 7 8 9 / 6"),
    (2, 7, 3, Tier::Small, "0 1 2 7 8 9 / 4 5 10 11 12 13 / 6"),
    (2, 8, 0, Tier::Standard, "1 2 3 8 9 10 11 / 5 6 7 12 13 14 15 / 4 + 1 2 3 8 9 10 11 / 4 5 6 12 13 14 15 / 7"),
    (2, 8, 1, Tier::Standard, "0 2 3 8 9 10 11 / 5 6 7 12 13 14 15 / 4 + 0 2 3 8 9 10 11 / 4 5 6 12 13 14 15 / 7"),
    (2, 8, 2, Tier::Standard, "0 1 3 8 9 10 11 / 5 6 7 12 13 14 15 / 4 + 0 1 3 8 9 10 11 / 4 5 6 12 13 14 15 / 7"),
    (2, 8, 3, Tier::Standard, "0 1 2 8 9 10 11 / 5 6 7 12 13 14 15 / 4 + 0 1 2 8 9 10 11 / 4 5 6 12 13 14 15 / 7"),
    (4, 4, 0, Tier::Small, "1 4 5 8 9 12 / 2 3 6 7 10 11 / 13 14 15"),
    (4, 4, 0, Tier::Standard, "1 2 3 4 5 6 7 / 8 9 10 11 13 14 15 / 12 + 1 2 3 4 5 6 7 / 8 9 10 11 12 13 14 / 15"),
    (4, 4, 0, Tier::Large, "1 2 3 4 5 6 7 / 8 9 10 11 12 13 14 15"),
    (4, 4, 1, Tier::Standard, "0 4 5 8 9 12 13 / 2 3 6 7 10 11 14 / 15 + 0 2 3 4 5 6 7 / 9 10 11 12 13 14 15 / 8"),
    (4, 4, 5, Tier::Standard, "0 1 4 8 9 12 13 / 2 3 6 7 10 11 15 / 14"),
    (5, 5, 0, Tier::Standard, "1 2 5 6 7 12 / 3 4 8 9 13 14 / 10 11 15 16 20 21 / 17 18 19 22 23 24"),
];

fn parse(choice: &str) -> Vec<Patterns> {
    let label = |label: &str| label.parse().expect("the choices consist of numbers");
    let labels = |pattern: &str| pattern.split_whitespace().map(label).collect();
    choice.split('+').map(|patterns| patterns.split('/').map(labels).collect()).collect()
}

/// Tiles per pattern of a class without a listed partition, if the tier has one.
fn tiles_of(tier: Tier, class: GoalClass) -> Option<usize> {
    match (tier, class.size.cells()) {
        (Tier::Small, ..=16) => Some(6),
        (Tier::Small, _) => Some(5),
        (Tier::Standard, 17..24) => Some(6),
        // Without a reflection, two partitions would take more than a hundred megabytes.
        (Tier::Standard, 24 | 25) if class.is_mirrored() => Some(6),
        _ => None,
    }
}

/// Larger boards have a single partition, because two would take minutes on small machines.
const MAX_CELLS_OF_TWO_PARTITIONS: usize = 25;

fn sorted(tiles: &[u8]) -> Vec<u8> {
    let mut pattern = tiles.to_vec();
    pattern.sort_unstable();
    pattern
}

/// Disjoint patterns that contain every tile.
#[derive(Clone, Debug)]
pub struct Partition {
    class: GoalClass,
    tables: Vec<PatternTable>,
}

impl Partition {
    /// Combines tables into a partition.
    ///
    /// # Panics
    /// If a tile is in two of them or in none.
    pub fn new(class: GoalClass, tables: Vec<PatternTable>) -> Self {
        let mut labels: Vec<u8> = tables.iter().flat_map(|table| table.labels().iter().copied()).collect();
        labels.sort_unstable();
        assert!(labels.into_iter().eq((0..class.size.cells() as u8).filter(|label| *label != class.goal_blank)));
        Self { class, tables }
    }

    /// The patterns that have tables of their own, in order. Others share one of these tables.
    pub fn patterns_with_tables(class: GoalClass, choice: &[Patterns]) -> Vec<&Vec<u8>> {
        let shared = shared_tables(class, choice.iter().flatten());
        choice.iter().flatten().zip(shared).filter_map(|(own, shared)| shared.is_none().then_some(own)).collect()
    }

    /// Builds the partitions of a choice of patterns, one table after another.
    pub fn build(class: GoalClass, choice: &[Patterns]) -> Vec<Self> {
        let patterns = Self::patterns_with_tables(class, choice);
        let geometries = Geometry::of_patterns(class.size, &patterns);
        let build = |(labels, geometry): (&&Vec<u8>, _)| PatternTable::build(class.goal_blank, labels, geometry);
        Self::assemble(class, choice, patterns.iter().zip(&geometries).map(build).collect())
    }

    /// Combines the [tables](Self::patterns_with_tables) into partitions.
    ///
    /// # Panics
    /// If the number of tables is wrong.
    pub fn assemble(class: GoalClass, choice: &[Patterns], tables: Vec<PatternTable>) -> Vec<Self> {
        let mut own = tables.into_iter();
        let mut tables: Vec<PatternTable> = Vec::new();
        for (labels, shared) in choice.iter().flatten().zip(shared_tables(class, choice.iter().flatten())) {
            tables.push(match shared {
                Some(SharedTable { pattern, symmetry }) => tables[pattern].of_image(labels, &symmetry),
                None => own.next().expect("a table for each pattern that has its own"),
            });
        }
        assert!(own.next().is_none(), "no table is left");
        let mut tables = tables.into_iter();
        let partitions = choice.iter().map(|patterns| Self::new(class, tables.by_ref().take(patterns.len()).collect()));
        partitions.collect()
    }

    /// The patterns of a tier for a class, by partition; `None` if the class has no tables of the tier.
    ///
    /// There is one partition, or [twin](Self::are_twins) ones, if a reflection keeps the blank's goal cell, because
    /// boards can then be looked up under two symmetries. Otherwise there are two, except on boards of more than 25
    /// cells. Classes without a listed choice take the tiles column by column, and for a second partition row by row.
    pub fn choose(class: GoalClass, tier: Tier) -> Option<Vec<Patterns>> {
        let key = (class.size.rows(), class.size.cols(), class.goal_blank, tier);
        let listed = CHOICES.iter().find(|(rows, cols, goal_blank, tier, _)| (*rows, *cols, *goal_blank, *tier) == key);
        if let Some((.., choice)) = listed {
            return Some(parse(choice));
        }
        let tiles = tiles_of(tier, class)?;
        let rows: Vec<u8> = (0..class.size.cells() as u8).filter(|label| *label != class.goal_blank).collect();
        let mut cols = rows.clone();
        // Columns are no longer than rows, so patterns taken column by column are compact.
        cols.sort_by_key(|label| (class.size.col_of(*label), *label));
        let is_single = class.is_mirrored() || class.size.cells() > MAX_CELLS_OF_TWO_PARTITIONS;
        let partitions = if is_single { vec![cols] } else { vec![cols, rows] };
        Some(partitions.iter().map(|all| all.chunks(tiles).map(sorted).collect()).collect())
    }

    /// True for two partitions of three patterns of a class with a reflection: the first patterns are equal, and the
    /// third ones are different single tiles. Boards are looked up in both.
    pub fn are_twins(partitions: &[Self]) -> bool {
        let [first, second] = partitions else { return false };
        let labels =
            |partition: &Self| partition.tables.iter().map(|table| table.labels().to_vec()).collect::<Vec<_>>();
        let ([common, _, single], [other, _, other_single]) = (&labels(first)[..], &labels(second)[..]) else {
            return false;
        };
        let are_single = single.len() == 1 && other_single.len() == 1 && single != other_single;
        first.class.is_mirrored() && common == other && are_single
    }

    /// The class of boards and goals.
    pub fn class(&self) -> GoalClass {
        self.class
    }

    /// The tables of the patterns.
    pub fn tables(&self) -> &[PatternTable] {
        &self.tables
    }

    /// The number of tiles of each pattern, for example `7-7-1`.
    pub fn name(&self) -> String {
        let tiles: Vec<String> = self.tables.iter().map(|table| table.labels().len().to_string()).collect();
        tiles.join("-")
    }

    /// The tables of some partitions, in order. A table that shares the bits of an earlier one is left out.
    pub fn distinct_tables(partitions: &[Self]) -> Vec<&PatternTable> {
        let mut distinct: Vec<&PatternTable> = Vec::new();
        for table in partitions.iter().flat_map(|partition| &partition.tables) {
            if !distinct.iter().any(|earlier| earlier.shares_bits(table)) {
                distinct.push(table);
            }
        }
        distinct
    }

    /// Memory of some partitions together, in bytes.
    pub fn bytes_of(partitions: &[Self]) -> usize {
        Geometry::bytes_of_tables(Self::distinct_tables(partitions).into_iter().map(PatternTable::geometry))
    }
}

/// A source of pattern tables that may become stronger while a search runs. The layer above loads them.
pub trait TableUpgrade: Debug + Sync {
    /// True if there are tables of a higher tier. Searches ask thousands of times a second.
    fn has_better(&self, than: Tier) -> bool;

    /// The strongest tables of the goal class, if they are of a higher tier. The search continues with them.
    fn take_better(&self, than: Tier) -> Option<(Tier, &[Partition])>;
}

/// The boards that a heuristic serves, and the source of stronger tables for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upgrade<'t> {
    pub size: Size,
    pub goal_blank: Cell,
    /// The source, and the tier of the heuristic's tables.
    pub source: Option<(&'t dyn TableUpgrade, Tier)>,
}

impl<'t> Upgrade<'t> {
    pub(crate) fn has_better(&self) -> bool {
        self.source.is_some_and(|(source, tier)| source.has_better(tier))
    }

    /// The stronger tables, and the upgrade of a heuristic with them.
    pub(crate) fn take_better(&self) -> Option<(&'t [Partition], Self)> {
        let (source, tier) = self.source?;
        let (tier, partitions) = source.take_better(tier)?;
        Some((partitions, Self { source: Some((source, tier)), ..*self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_contains_each_tile_once() {
        for class in GoalClass::all() {
            let cells = class.size.cells();
            for tier in [Tier::Small, Tier::Standard, Tier::Large] {
                let is_expected = match tier {
                    Tier::Small => true,
                    Tier::Standard => (15..24).contains(&cells) || matches!(cells, 24 | 25) && class.is_mirrored(),
                    Tier::Large => class == GoalClass::corner_of_4x4(),
                };
                let choice = Partition::choose(class, tier);
                assert_eq!(choice.is_some(), is_expected, "{class:?} {tier:?}");
                let Some(choice) = choice else { continue };
                let has_twins = class == GoalClass::corner_of_4x4() && tier == Tier::Standard;
                let is_single = (class.is_mirrored() || cells > 25) && !has_twins;
                assert_eq!(choice.len(), if is_single { 1 } else { 2 }, "{class:?}");
                for patterns in choice {
                    assert!(patterns.len() <= most_patterns(cells) && patterns.iter().all(|labels| labels.is_sorted()));
                    let mut tiles: Vec<u8> = patterns.concat();
                    tiles.sort_unstable();
                    assert!(tiles.into_iter().eq((0..cells as u8).filter(|label| *label != class.goal_blank)));
                }
            }
        }
    }

    #[test]
    fn patterns_that_a_symmetry_maps_to_each_other_share_a_table() {
        let own = |class, choice: &[Patterns]| -> Vec<Vec<u8>> {
            Partition::patterns_with_tables(class, choice).into_iter().cloned().collect()
        };
        let corner = |sides| GoalClass { size: crate::domain::Size::try_from(sides).unwrap(), goal_blank: 0 };
        // The blocks of a 24-puzzle are one, turned.
        let blocks = Partition::choose(corner((5, 5)), Tier::Standard).unwrap();
        assert_eq!(own(corner((5, 5)), &blocks), [vec![1, 2, 5, 6, 7, 12], vec![3, 4, 8, 9, 13, 14]]);
        // Columns may be flipped if the blank's goal region has both upper corners.
        let twins = Partition::choose(corner((4, 4)), Tier::Standard).unwrap();
        assert_eq!(own(corner((4, 4)), &twins), [vec![1, 2, 3, 4, 5, 6, 7], vec![8, 9, 10, 11, 13, 14, 15], vec![12]]);
        // Here the blank is enclosed at home, and in the image it is not.
        let enclosed = "1 4 / 2 7 / 3 5 6 8 9 10 / 11 12 13 14 15";
        assert_eq!(own(corner((4, 4)), &parse(enclosed))[..2], [vec![1, 4], vec![2, 7]]);
    }

    /// Maximum number of patterns that the heuristics support.
    fn most_patterns(cells: usize) -> usize {
        match cells {
            ..=16 => 3,
            17..=25 => 5,
            _ => 7,
        }
    }
}
