//! The heuristics, by name.

use super::{DistanceTable, GoalClass, WalkingTable};
use crate::domain::Size;
use crate::search::named;

/// A heuristic by name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HeuristicKind {
    /// 0: no estimate.
    Zero,
    /// Tiles out of place.
    Hamming,
    /// Tiles out of place, the blank counted as one.
    MisplacedWithBlank,
    /// Rows and columns between each tile and its place.
    Manhattan,
    /// The sum of the two that its name says.
    ManhattanPlusHamming,
    /// Moves of a puzzle in which any tile may jump into the blank (Gaschnig 1979).
    Gaschnig,
    /// Moves it takes at least to undo the inversions, by rows and by columns.
    InversionDistance,
    /// Manhattan, and two more for each tile that must leave its line (Hansson, Mayer & Yung 1992).
    LinearConflict,
    /// Moves that sort tiles into their rows, and into their columns (Takahashi 2002).
    WalkingDistance,
    /// A table of exact distances (after Culberson & Schaeffer 1998), or the sum of disjoint patterns'
    /// (Korf & Felner 2002).
    PatternDatabase,
}

named!(HeuristicKind {
    Zero => "zero",
    Hamming => "hamming",
    MisplacedWithBlank => "misplaced_with_blank",
    Manhattan => "manhattan",
    ManhattanPlusHamming => "manhattan_plus_hamming",
    Gaschnig => "gaschnig",
    InversionDistance => "inversion_distance",
    LinearConflict => "linear_conflict",
    WalkingDistance => "walking_distance",
    PatternDatabase => "pattern_database",
});

impl HeuristicKind {
    /// Whether it never exceeds the true distance.
    pub fn is_admissible(self) -> bool {
        !matches!(self, Self::MisplacedWithBlank | Self::ManhattanPlusHamming)
    }

    /// Whether it never drops by more than 1 along a move.
    pub fn is_consistent(self) -> bool {
        self.is_admissible()
    }

    /// Whether it can be had for boards of this shape.
    pub fn serves(self, size: Size) -> bool {
        match self {
            Self::WalkingDistance => WalkingTable::serves(size),
            Self::PatternDatabase => DistanceTable::serves(size) || GoalClass::serves(size),
            _ => true,
        }
    }
}
