//! The algorithms and their knobs, by name.

/// Words of a closed set that people write.
pub trait Named: Copy + PartialEq + 'static {
    /// Every word, in the order in which they are shown.
    const ALL: &'static [Self];

    /// The word, in snake case.
    fn name(self) -> &'static str;

    /// The variant of that name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.name() == name)
    }
}

/// Implements [`Named`] for an enum whose names are written once, here.
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

/// A way to search.
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
    /// Layer by layer.
    BreadthFirst,
    /// The newest node first.
    DepthFirst,
    /// Depth-first within a rising depth limit (Korf 1985).
    IterativeDeepening,
    /// Rows and columns put in place one after another; no search of the whole board.
    Constructive,
    /// A solution at once, and shorter ones until one is proven to be as short as any.
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
    /// Whether it is guided by a heuristic.
    pub fn takes_heuristic(self) -> bool {
        self.is_best_first() || matches!(self, Self::IdaStar | Self::Anytime)
    }

    /// Whether it expands the best node of an open list.
    pub fn is_best_first(self) -> bool {
        matches!(self, Self::AStar | Self::WeightedAStar | Self::GreedyBestFirst)
    }

    /// Whether the solution that it ends with is a shortest one, unless a limit stops it, given an admissible
    /// heuristic if it takes one.
    pub fn is_optimal(self) -> bool {
        matches!(self, Self::AStar | Self::IdaStar | Self::BreadthFirst | Self::IterativeDeepening | Self::Anytime)
    }
}

/// Which of the nodes of equal f is expanded first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum TieBreaking {
    /// The one of the lowest h; among those the newest.
    #[default]
    LowH,
    /// The newest.
    Lifo,
    /// The oldest.
    Fifo,
    /// Whatever a binary heap ordered by f alone gives.
    Heap,
}

impl TieBreaking {
    /// Whether of equal f and h the newest goes first.
    pub fn is_newest_first(self) -> bool {
        matches!(self, Self::LowH | Self::Lifo)
    }
}

named!(TieBreaking { LowH => "low_h", Lifo => "lifo", Fifo => "fifo", Heap => "heap" });

/// What becomes of a board that is generated again.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum DuplicateDetection {
    /// It is dropped, unless it was reached by a shorter path.
    #[default]
    Closed,
    /// It is kept: only the step straight back is refused.
    Parent,
}

named!(DuplicateDetection { Closed => "closed", Parent => "parent" });

/// The weight of h against g, in hundredths, at least 1.00 and at most 100.00.
///
/// Hundredths keep f an integer, and so the open list an array of buckets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Weight(u32);

impl Weight {
    /// Weight 1: plain A*.
    pub const ONE: Self = Self(100);
    /// Weight 100, the largest.
    pub const MAX: Self = Self(10_000);

    /// From hundredths, if within bounds.
    pub const fn from_hundredths(hundredths: u32) -> Option<Self> {
        if Self::ONE.0 <= hundredths && hundredths <= Self::MAX.0 { Some(Self(hundredths)) } else { None }
    }

    /// In hundredths.
    pub fn hundredths(self) -> u32 {
        self.0
    }
}
