//! Algorithms and their options, by name.

/// An enumeration whose values have names.
pub trait Named: Copy + PartialEq + 'static {
    /// Every value, in display order.
    const ALL: &'static [Self];

    /// The name, in snake case.
    fn name(self) -> &'static str;

    /// The value with this name, if any.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|value| value.name() == name)
    }
}

/// Implements [`Named`] for an enum.
macro_rules! named {
    ($type:ty { $($variant:ident => $name:literal),* $(,)? }) => {
        impl $crate::search::Named for $type {
            const ALL: &'static [Self] = &[$(Self::$variant),*];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
pub(crate) use named;

/// A search algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Algorithm {
    /// Best-first by g + h (Hart, Nilsson & Raphael 1968).
    AStar,
    /// Best-first by g + w·h (Pohl 1970).
    WeightedAStar,
    /// Best-first by h alone (Doran & Michie 1966).
    GreedyBestFirst,
    /// Depth-first within a rising f-limit (Korf 1985).
    IdaStar,
    /// Oldest node first, so the first solution is optimal.
    BreadthFirst,
    /// Newest node first.
    DepthFirst,
    /// Depth-first within a rising depth limit (Korf 1985).
    IterativeDeepening,
    /// Solves rows and columns one after another, without searching the whole board.
    Constructive,
    /// Returns a first solution at once, then shorter ones until one is proven optimal.
    Anytime,
}

named!(Algorithm {
    AStar => "astar",
    WeightedAStar => "weighted_astar",
    GreedyBestFirst => "greedy_best_first",
    IdaStar => "ida_star",
    BreadthFirst => "breadth_first",
    DepthFirst => "depth_first",
    IterativeDeepening => "iterative_deepening",
    Constructive => "constructive",
    Anytime => "anytime",
});

impl Algorithm {
    /// True if the algorithm uses a heuristic.
    pub fn takes_heuristic(self) -> bool {
        self.is_best_first() || matches!(self, Self::IdaStar | Self::Anytime)
    }

    /// True if the algorithm expands the best node of an open list.
    pub fn is_best_first(self) -> bool {
        matches!(self, Self::AStar | Self::WeightedAStar | Self::GreedyBestFirst)
    }

    /// True if a completed search returns a shortest solution, given an admissible heuristic where one is used.
    pub fn is_optimal(self) -> bool {
        matches!(self, Self::AStar | Self::IdaStar | Self::BreadthFirst | Self::IterativeDeepening | Self::Anytime)
    }
}

/// Order of expansion among nodes with equal f.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TieBreaking {
    /// Lowest h, then newest.
    #[default]
    LowH,
    /// Newest.
    Lifo,
    /// Oldest.
    Fifo,
    /// The order of a binary heap keyed by f alone.
    Heap,
}

impl TieBreaking {
    /// True if the newest of several nodes with equal f and h is expanded first.
    pub fn is_newest_first(self) -> bool {
        matches!(self, Self::LowH | Self::Lifo)
    }
}

named!(TieBreaking { LowH => "low_h", Lifo => "lifo", Fifo => "fifo", Heap => "heap" });

/// Treatment of boards that are generated again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DuplicateDetection {
    /// They are dropped unless the new path is shorter.
    #[default]
    Closed,
    /// They are kept. Only the move straight back is excluded.
    Parent,
}

named!(DuplicateDetection { Closed => "closed", Parent => "parent" });

/// Weight of h relative to g in hundredths, from 1.00 to 100.00.
///
/// Hundredths keep f an integer, so the open list can be an array of buckets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Weight(u32);

impl Weight {
    /// Weight 1: plain A*.
    pub const ONE: Self = Self(100);
    /// Weight 100, the largest.
    pub const MAX: Self = Self(10_000);

    /// Creates a weight from hundredths; `None` if it is below [`ONE`](Self::ONE) or above [`MAX`](Self::MAX).
    pub const fn from_hundredths(hundredths: u32) -> Option<Self> {
        if Self::ONE.0 <= hundredths && hundredths <= Self::MAX.0 { Some(Self(hundredths)) } else { None }
    }

    /// The weight in hundredths.
    pub fn hundredths(self) -> u32 {
        self.0
    }
}
