//! Algorithms and their options, by name.

use crate::domain::{Move, MoveSet};
use crate::named;

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

    /// True if the algorithm can be limited to solutions of at most a number of moves.
    pub fn takes_depth_limit(self) -> bool {
        matches!(self, Self::DepthFirst | Self::IterativeDeepening | Self::IdaStar)
    }

    /// True if the algorithm keeps all nodes, with an open list of nodes that await expansion.
    pub fn has_open_list(self) -> bool {
        self.is_best_first() || matches!(self, Self::BreadthFirst | Self::DepthFirst)
    }

    /// True if the algorithm runs iterations with rising limits.
    pub fn has_iterations(self) -> bool {
        matches!(self, Self::IdaStar | Self::IterativeDeepening)
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
    /// They are dropped if their board was expanded before, even by a longer path. Copies of boards that await
    /// expansion are kept, and expanded again.
    ExpandedOnly,
}

named!(DuplicateDetection { Closed => "closed", Parent => "parent", ExpandedOnly => "expanded_only" });

/// Order in which the successors of a node are generated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SuccessorOrder([Move; 4]);

impl Default for SuccessorOrder {
    /// The order of [`Move::ALL`].
    fn default() -> Self {
        Self(Move::ALL)
    }
}

impl SuccessorOrder {
    /// Every order, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        let orders = (0..256_usize).map(|code| [6, 4, 2, 0].map(|shift| Move::ALL[code >> shift & 3]));
        orders.filter_map(Self::from_moves)
    }

    /// The order of these moves; `None` if one of them is missing.
    fn from_moves(moves: [Move; 4]) -> Option<Self> {
        let set: MoveSet = moves.into_iter().collect();
        (set.len() == moves.len()).then_some(Self(moves))
    }

    /// Parses the letters of the blank's directions, such as `LRUD`; `None` unless each of them is there once.
    pub fn from_letters(letters: &str) -> Option<Self> {
        Self::all().find(|order| order.letters() == letters)
    }

    /// The letters of the blank's directions.
    pub fn letters(self) -> String {
        self.0.map(Move::letter).iter().collect()
    }

    /// The moves of a set, in this order.
    #[inline]
    pub fn sort(self, moves: MoveSet) -> SortedMoves {
        SortedMoves { left: moves, order: self }
    }
}

/// Moves in a [`SuccessorOrder`].
#[derive(Clone, Debug)]
pub struct SortedMoves {
    left: MoveSet,
    order: SuccessorOrder,
}

impl Iterator for SortedMoves {
    type Item = Move;

    #[inline]
    fn next(&mut self) -> Option<Move> {
        // A set yields its moves in the default order.
        if self.order == SuccessorOrder::default() {
            return self.left.next();
        }
        let mv = self.order.0.into_iter().find(|mv| self.left.contains(*mv))?;
        self.left = self.left.without(mv);
        Some(mv)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_letters_of_its_own_and_the_first_is_the_default() {
        let orders: Vec<SuccessorOrder> = SuccessorOrder::all().collect();
        assert_eq!((orders.len(), orders[0], orders[0].letters()), (24, SuccessorOrder::default(), "ULDR".to_owned()));
        for order in &orders {
            assert_eq!(SuccessorOrder::from_letters(&order.letters()), Some(*order));
            assert_eq!(orders.iter().filter(|other| *other == order).count(), 1);
        }
        for wrong in ["", "ULD", "ULDRU", "ULDD", "uldr", "ULDX"] {
            assert_eq!(SuccessorOrder::from_letters(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_order_sorts_every_set_of_moves() {
        for order in SuccessorOrder::all() {
            for bits in 0..16 {
                let set: MoveSet = Move::ALL.into_iter().filter(|mv| bits & (1 << *mv as u8) != 0).collect();
                let letters: String = order.sort(set).map(Move::letter).collect();
                let letter = |mv: &Move| set.contains(*mv).then_some(mv.letter());
                assert_eq!(letters, order.0.iter().filter_map(letter).collect::<String>());
            }
        }
    }
}
