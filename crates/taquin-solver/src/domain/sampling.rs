//! Random boards.

use super::{Board, Move, MoveSet, Reachability};

/// A source of uniform 64-bit words.
///
/// A seed must always yield the same boards, so the algorithms that use a source must not change.
pub trait RandomSource {
    /// The next word.
    fn next_u64(&mut self) -> u64;

    /// A uniform number below `bound` (Lemire 2019: multiply and reject).
    ///
    /// # Panics
    /// If `bound` is 0.
    fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "the bound must be positive");
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(bound);
            // Reject words that would make some numbers more likely than others.
            if wide as u64 >= bound.wrapping_neg() % bound {
                return (wide >> 64) as u64;
            }
        }
    }
}

/// A uniformly random board from which `goal` can be reached.
///
/// A Fisher-Yates shuffle of all cells (Durstenfeld 1964) yields a solvable or an unsolvable board with equal
/// probability. Exchanging two tiles maps unsolvable boards one-to-one to solvable ones.
pub fn random_board(goal: &Board, random: &mut impl RandomSource) -> Board {
    let board = random_permutation(goal, random);
    if Reachability::exists(&board, goal) { board } else { with_tiles_exchanged(board) }
}

/// A uniformly random board from which `goal` cannot be reached.
pub fn random_unsolvable_board(goal: &Board, random: &mut impl RandomSource) -> Board {
    let board = random_permutation(goal, random);
    if Reachability::exists(&board, goal) { with_tiles_exchanged(board) } else { board }
}

/// A uniformly random board of the shape of `goal`, solvable or not.
pub fn random_permutation(goal: &Board, random: &mut impl RandomSource) -> Board {
    let mut board = *goal;
    for last in (1..goal.size().cells()).rev() {
        board.swap(last as u8, random.below(last as u64 + 1) as u8);
    }
    board
}

/// Exchanges the first two tiles.
fn with_tiles_exchanged(mut board: Board) -> Board {
    let mut tiles = (0..board.size().cells() as u8).filter(|cell| *cell != board.blank());
    if let (Some(a), Some(b)) = (tiles.next(), tiles.next()) {
        board.swap(a, b);
    }
    board
}

/// The board after `moves` random moves from another, none of which undoes the move before it.
///
/// Each move is drawn uniformly from the remaining legal ones. The distance between the boards is at most `moves`, with
/// the same parity.
pub fn random_walk(from: &Board, moves: u32, random: &mut impl RandomSource) -> Board {
    walk(from, moves, random, |legal, last| legal.without(last.inverse()))
}

/// The board after `moves` random moves from another, each of which is drawn uniformly from all legal ones.
pub fn random_walk_with_turns(from: &Board, moves: u32, random: &mut impl RandomSource) -> Board {
    walk(from, moves, random, |legal, _| legal)
}

/// Walks. `choices` returns the moves to choose from, given the legal ones and the last.
fn walk(from: &Board, moves: u32, random: &mut impl RandomSource, choices: impl Fn(MoveSet, Move) -> MoveSet) -> Board {
    let mut board = *from;
    let mut last: Option<Move> = None;
    for _ in 0..moves {
        let legal = board.moves();
        let mut choices = last.map_or(legal, |last| choices(legal, last));
        let choice = random.below(choices.len() as u64) as usize;
        last = choices.nth(choice).inspect(|mv| {
            board.make(*mv);
        });
    }
    board
}

/// A random source from a seed: SplitMix64 (Steele, Lea & Flood 2014). It is fast, and no secret can rest on it.
#[derive(Clone, Debug)]
pub struct SplitMix(pub u64);

impl RandomSource for SplitMix {
    fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::domain::Size;

    #[test]
    fn boards_are_uniform_over_the_reachable_half() {
        let size = Size::try_from((2, 3)).unwrap();
        let goal = Board::snail(size);
        let mut random = SplitMix(7);
        let mut counts: HashMap<String, f64> = HashMap::new();
        let draws = 360_000;
        for _ in 0..draws {
            *counts.entry(random_board(&goal, &mut random).to_string()).or_default() += 1.0;
        }
        assert_eq!(counts.len(), 360, "half of 6! boards");
        let expected = f64::from(draws) / 360.0;
        let chi_squared: f64 = counts.values().map(|count| (count - expected).powi(2) / expected).sum();
        // With 359 degrees of freedom the mean is 359 and the standard deviation 27. The bound is five deviations
        // above.
        assert!(chi_squared < 494.0, "{chi_squared}");
    }

    #[test]
    fn unsolvable_boards_are_uniform_over_the_other_half() {
        let size = Size::try_from((2, 2)).unwrap();
        let goal = Board::snail(size);
        let mut random = SplitMix(8);
        let mut counts: HashMap<String, u32> = HashMap::new();
        for _ in 0..12_000 {
            let board = random_unsolvable_board(&goal, &mut random);
            assert!(!Reachability::exists(&board, &goal), "{board}");
            *counts.entry(board.to_string()).or_default() += 1;
        }
        assert_eq!(counts.len(), 12, "half of 4! boards");
        assert!(counts.values().all(|count| (800..1200).contains(count)), "{counts:?}");
    }

    #[test]
    fn permutations_are_solvable_or_not() {
        let goal = Board::snail(Size::try_from((3, 3)).unwrap());
        let mut random = SplitMix(9);
        let boards = (0..1000).map(|_| random_permutation(&goal, &mut random));
        let solvable = boards.filter(|board| Reachability::exists(board, &goal)).count();
        assert!((400..600).contains(&solvable), "{solvable}");
    }

    #[test]
    fn a_walk_with_turns_may_end_at_its_start() {
        let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let mut random = SplitMix(10);
        let at_start = (0..600).filter(|_| random_walk_with_turns(&goal, 2, &mut random) == goal).count();
        // The second move goes back with probability 1/3.
        assert!((150..250).contains(&at_start), "{at_start}");
    }

    #[test]
    fn a_walk_of_two_moves_never_ends_at_its_start() {
        let mut random = SplitMix(1);
        for size in Size::all() {
            let goal = Board::blank_last(size);
            assert_eq!(random_walk(&goal, 0, &mut random), goal);
            assert_ne!(random_walk(&goal, 2, &mut random), goal);
        }
    }
}
