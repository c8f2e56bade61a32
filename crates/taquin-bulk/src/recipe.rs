//! Random boards from a seed.

use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use taquin_solver::{Board, Puzzle, RandomSource, random_board};

/// Random boards for one goal, drawn from a seed `S`. Board *i*, counted from 0, equals the board that `GET /random`
/// draws for the same goal from the seed `S/i`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recipe {
    goal: Board,
    seed: String,
    count: u64,
}

/// The reason why a recipe is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecipeError {
    /// The number of boards is 0, or exceeds [`Recipe::MAX_COUNT`].
    Count,
    /// The seed is empty or too long. The value is the maximum length, in characters.
    Seed(usize),
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count => write!(f, "a recipe has 1 to {} boards", Recipe::MAX_COUNT),
            Self::Seed(most) => write!(f, "with this number of boards, the seed has 1 to {most} characters"),
        }
    }
}

impl std::error::Error for RecipeError {}

impl Recipe {
    /// Maximum number of boards.
    pub const MAX_COUNT: u64 = 1_000_000_000_000;
    /// Maximum length of the seed of one board, `S/i`, in characters.
    const MAX_SEED_CHARS: usize = 128;

    /// Creates a recipe.
    ///
    /// # Errors
    /// See [`RecipeError`].
    pub fn try_new(goal: Board, seed: &str, count: u64) -> Result<Self, RecipeError> {
        if !(1..=Self::MAX_COUNT).contains(&count) {
            return Err(RecipeError::Count);
        }
        let most = Self::MAX_SEED_CHARS - format!("/{}", count - 1).len();
        if (1..=most).contains(&seed.chars().count()) {
            Ok(Self { goal, seed: seed.to_owned(), count })
        } else {
            Err(RecipeError::Seed(most))
        }
    }

    /// The goal of all boards.
    pub fn goal(&self) -> &Board {
        &self.goal
    }

    /// The seed `S` of the recipe. The seed of board *i* is `S/i`.
    pub fn seed(&self) -> &str {
        &self.seed
    }

    /// Number of boards.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Draws the board with this index, counted from 0.
    ///
    /// # Panics
    /// If `index` is not below the number of boards.
    pub fn board(&self, index: u64) -> Puzzle {
        assert!(index < self.count, "the recipe has {} boards", self.count);
        let board = board_of_seed(&self.goal, &format!("{}/{index}", self.seed));
        Puzzle::try_new(board, self.goal).expect("a drawn board is solvable")
    }
}

/// Random numbers from a seed. The generator is ChaCha with 8 rounds (Bernstein 2008), keyed with the SHA-256 of the
/// seed's UTF-8 bytes. The algorithm never changes, so a goal and a seed always give the same board.
pub struct Seeded(ChaCha8Rng);

impl Seeded {
    /// Creates a generator from a seed.
    pub fn new(seed: &str) -> Self {
        Self(ChaCha8Rng::from_seed(Sha256::digest(seed.as_bytes()).into()))
    }
}

impl RandomSource for Seeded {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Draws a board from a seed, uniformly from all boards that can reach the goal.
pub fn board_of_seed(goal: &Board, seed: &str) -> Board {
    random_board(goal, &mut Seeded::new(seed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use taquin_solver::Size;

    #[test]
    fn counts_and_seeds_have_limits() {
        let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let recipe = |seed: &str, count| Recipe::try_new(goal, seed, count);
        assert_eq!(recipe("s", 0), Err(RecipeError::Count));
        assert_eq!(recipe("s", Recipe::MAX_COUNT + 1), Err(RecipeError::Count));
        assert!(recipe("s", Recipe::MAX_COUNT).is_ok());
        assert_eq!(recipe("", 1), Err(RecipeError::Seed(126)));
        assert_eq!(recipe(&"é".repeat(126), 11), Err(RecipeError::Seed(125)));
        assert!(recipe(&"é".repeat(126), 10).is_ok());
    }

    #[test]
    fn a_board_depends_on_nothing_but_goal_seed_and_index() {
        let goal = Board::snail(Size::try_from((3, 5)).unwrap());
        let board = |count, index| Recipe::try_new(goal, "s", count).unwrap().board(index);
        assert_eq!(board(1, 0), board(1_000_000, 0));
        assert_ne!(board(2, 1), board(2, 0));
        assert_eq!(*board(2, 1).start(), board_of_seed(&goal, "s/1"));
    }
}
