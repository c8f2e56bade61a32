//! The heuristics, by name. "A new heuristic" in docs/ARCHITECTURE.md lists every file that a new one touches.

use super::{DistanceTable, GoalClass, WalkingTable};
use crate::domain::Size;
use crate::named;

/// A heuristic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HeuristicKind {
    /// 0: no estimate.
    Zero,
    /// Number of tiles out of place.
    Hamming,
    /// Number of tiles out of place, counting the blank as a tile. Not admissible.
    MisplacedWithBlank,
    /// Sum of the rows and columns between each tile and its goal cell.
    Manhattan,
    /// Sum of the Manhattan distance and the number of tiles out of place. Not admissible.
    ManhattanPlusHamming,
    /// Number of moves of a relaxed puzzle in which any tile may jump into the blank (Gaschnig 1979).
    Gaschnig,
    /// Minimum number of moves that undo all inversions, by rows and by columns.
    InversionDistance,
    /// Manhattan distance, plus two for each tile that must leave its line (Hansson, Mayer & Yung 1992).
    LinearConflict,
    /// Number of moves that sort the tiles into their rows, plus the number that sorts them into their columns
    /// (Takahashi 2002).
    WalkingDistance,
    /// A table of exact distances (after Culberson & Schaeffer 1998), or a sum over disjoint patterns (Korf & Felner
    /// 2002).
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
    /// True if it never exceeds the true distance.
    pub fn is_admissible(self) -> bool {
        match self {
            Self::MisplacedWithBlank | Self::ManhattanPlusHamming => false,
            Self::Zero
            | Self::Hamming
            | Self::Manhattan
            | Self::Gaschnig
            | Self::InversionDistance
            | Self::LinearConflict
            | Self::WalkingDistance
            | Self::PatternDatabase => true,
        }
    }

    /// True if it never falls by more than 1 along a move.
    pub fn is_consistent(self) -> bool {
        self.is_admissible()
    }

    /// True if it is available for boards of this shape.
    pub fn serves(self, size: Size) -> bool {
        match self {
            Self::WalkingDistance => WalkingTable::serves(size),
            Self::PatternDatabase => DistanceTable::serves(size) || GoalClass::serves(size),
            _ => true,
        }
    }
}
