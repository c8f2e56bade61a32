//! Random boards from seeds: uniform draws, ends of walks, and draws by optimal length or percentile.

mod distinct;
mod error;
mod hardest;
mod lengths;
mod request;

use std::io;
use std::ops::RangeInclusive;

use taquin_solver::heuristic::DistanceTable;
use taquin_solver::solver::{SearchTables, bytes_for};
use taquin_solver::tables::SmallTables;
use taquin_solver::{
    Board, Control, Distance, Metric, Puzzle, RandomSource, TableSource, random_board, random_permutation,
    random_unsolvable_board, random_walk, random_walk_with_turns,
};

use crate::batch_solver::LoadedTables;
use crate::recipe::Seeded;
use distinct::{distinct, fewer_than};
use lengths::{LengthDraw, Wanted, check, choose, proof};

pub use error::DrawError;
pub use request::{Draw, DrawnBoard, Seeds, Solvability, Walk};

/// Draws boards for a goal, one with each seed. Equal seeds draw equal boards, here and by `GET /random`.
///
/// Draws by length or percentile need a goal of at most 16 cells. On boards of more than 9 cells, searches prove the
/// lengths. The first draw then builds the pattern tables of the goal, unless `tables` has them.
///
/// ```
/// use taquin_bulk::{Draw, Seeds, draw_boards};
/// use taquin_solver::{Board, Size, Solver};
///
/// let goal = Board::blank_last(Size::try_from((3, 3))?);
/// let solver = Solver::new();
/// let boards = draw_boards(&goal, &Draw::Length(20..=24), &Seeds::numbered("seed", 3), solver.tables())?;
/// assert_eq!(boards.len(), 3);
/// for drawn in &boards {
///     let length = drawn.distance.and_then(|distance| distance.length);
///     assert!(length.is_some_and(|length| (20..=24).contains(&length)), "{}", drawn.board);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`DrawError`]. Uniform draws and walks fail only if a list of distinct boards cannot be completed.
pub fn draw_boards(
    goal: &Board,
    how: &Draw,
    seeds: &Seeds,
    tables: &dyn TableSource,
) -> Result<Vec<DrawnBoard>, DrawError> {
    draw_boards_with(goal, how, seeds, (tables, LoadedTables::default()), Control::default())
}

/// Draws boards as [`draw_boards`] does, with pattern tables that may be loaded already, and with a deadline, cancel
/// flags or helpers. The pattern tables make the proofs of lengths faster. The boards do not depend on the pattern
/// tables.
///
/// # Errors
/// See [`DrawError`]. Uniform draws and walks fail only if the deadline passes, if a cancel flag is set, or if a list
/// of distinct boards cannot be completed.
pub fn draw_boards_with(
    goal: &Board,
    how: &Draw,
    seeds: &Seeds,
    (tables, loaded): (&dyn TableSource, LoadedTables),
    control: Control<'_>,
) -> Result<Vec<DrawnBoard>, DrawError> {
    let (small, own) = (tables.small(), SearchTables::with_patterns(tables, loaded.patterns));
    let wanted = how.wanted(goal, small)?;
    let exist = seeds.distinct().and_then(|count| fewer_than(count, goal, (how, wanted.as_ref()), small));
    if let Some(exist) = exist {
        return Err(DrawError::TooFew(exist));
    }
    let proven = wanted.as_ref().filter(|_| how.needs_proof(goal));
    let length_draw =
        proven.map(|wanted| LengthDraw::new(goal, wanted, (&own, !loaded.are_missing), control)).transpose()?;
    let draw = |seed: &str| {
        check(&control)?;
        let mut random = Seeded::new(seed);
        let drawn = match &length_draw {
            Some(length_draw) => {
                let (board, length) = length_draw.draw(&mut random)?;
                let distance = Distance::proven(length);
                DrawnBoard::new(board, Some(distance), goal, small).uniform(length_draw.is_uniform())
            }
            None => draw_at_once(goal, (how, wanted.as_ref()), &mut random, small)?,
        };
        Ok(DrawnBoard { seed: seed.to_owned(), ..drawn })
    };
    match seeds {
        Seeds::Each(seeds) => seeds.iter().map(|seed| draw(seed)).collect(),
        Seeds::Distinct { seed, count } => distinct(seed, *count, draw),
    }
}

/// Draws a board without searches.
fn draw_at_once(
    goal: &Board,
    (how, wanted): (&Draw, Option<&Wanted>),
    random: &mut Seeded,
    tables: &SmallTables,
) -> Result<DrawnBoard, DrawError> {
    let (board, most) = match how {
        Draw::Uniform(Solvability::Solvable) => (random_board(goal, random), None),
        Draw::Uniform(Solvability::Unsolvable) => (random_unsolvable_board(goal, random), None),
        Draw::Uniform(Solvability::Any) => (random_permutation(goal, random), None),
        Draw::Walk(walk) => {
            let from = walk.from.as_ref().unwrap_or(goal);
            let walker = if walk.turns_back { random_walk_with_turns } else { random_walk };
            // The reversed walk is a solution if the walk started at the goal.
            (walker(from, walk.moves, random), walk.from.is_none().then_some(walk.moves))
        }
        Draw::Length(_) | Draw::Percentile(_) => {
            let lengths = &wanted.expect("these draws want lengths").lengths;
            (board_of_length(goal, lengths, random, tables)?, None)
        }
    };
    let distance = Puzzle::try_new(board, *goal).ok().map(|puzzle| Distance::of(&puzzle, tables));
    let distance = distance.map(|distance| distance.at_most(most.unwrap_or(u32::MAX)));
    Ok(DrawnBoard::new(board, distance, goal, tables).uniform(!matches!(how, Draw::Walk(_))))
}

/// Draws a board whose length is in a range, uniformly, with the distance table of the goal.
fn board_of_length(
    goal: &Board,
    lengths: &RangeInclusive<u32>,
    random: &mut Seeded,
    tables: &SmallTables,
) -> Result<Board, DrawError> {
    let table = tables.distances(goal.size(), goal.blank());
    let histogram = table.histogram();
    let boards = (0..).zip(histogram).filter(|(length, _)| lengths.contains(length));
    let count: u64 = boards.map(|(_, boards)| *boards).sum();
    let none = DrawError::NoSuchLength(histogram.len() as u32 - 1);
    if count == 0 {
        return Err(none);
    }
    table.board_at(lengths.clone(), random.below(count), goal).ok_or(none)
}

impl Draw {
    /// Returns true if the draw must prove lengths by searches.
    pub fn needs_proof(&self, goal: &Board) -> bool {
        matches!(self, Self::Length(_) | Self::Percentile(_)) && !DistanceTable::serves(goal.size())
    }

    /// Returns the memory of the searches that prove lengths, in bytes; 0 if the draw proves no lengths.
    pub fn proof_bytes(&self, goal: &Board) -> u64 {
        let goal = Puzzle::try_new(*goal, *goal).expect("the goal is its own goal");
        if self.needs_proof(goal.goal()) { bytes_for(&proof(goal, u32::MAX)) } else { 0 }
    }

    /// Checks without a search whether a draw that must prove lengths can succeed. Other draws are not checked.
    ///
    /// # Errors
    /// The error that the draw would return before its first board, except for [`DrawError::TooFew`].
    pub fn check(&self, goal: &Board, tables: &SmallTables) -> Result<(), DrawError> {
        if !self.needs_proof(goal) {
            return Ok(());
        }
        self.wanted(goal, tables)?.map_or(Ok(()), |wanted| choose(goal, &wanted).map(drop))
    }

    /// Returns the optimal lengths of a draw. Returns `None` if the draw has neither lengths nor percentiles. Fails if
    /// the range is empty, or if the percentiles are unknown or match no length.
    fn wanted(&self, goal: &Board, tables: &SmallTables) -> Result<Option<Wanted>, DrawError> {
        let percentiles = match self {
            Self::Length(lengths) if lengths.is_empty() => return Err(DrawError::EmptyRange),
            Self::Percentile(percentiles) if percentiles.is_empty() => return Err(DrawError::EmptyRange),
            Self::Length(lengths) => return Ok(Some(Wanted { lengths: lengths.clone(), by_percentile: false })),
            Self::Percentile(percentiles) => percentiles,
            Self::Uniform(_) | Self::Walk(_) => return Ok(None),
        };
        let distribution = tables.distribution(Metric::SingleTile, goal.size(), goal.blank());
        let distribution = distribution.ok_or(DrawError::PercentilesUnknown)?;
        let lengths = distribution.lengths_within(percentiles).ok_or_else(|| {
            let all = (0..=distribution.greatest()).map(|length| distribution.percentile(length));
            let greatest = distribution.percentile(distribution.greatest());
            let mut greater = all.filter(|percentile| percentile > percentiles.end());
            DrawError::NoSuchPercentile(greater.next().unwrap_or(greatest))
        })?;
        Ok(Some(Wanted { lengths, by_percentile: true }))
    }
}

/// Returns a new seed: 64 random bits in hexadecimal.
///
/// # Errors
/// If the operating system provides no randomness.
pub fn fresh_seed() -> io::Result<String> {
    Ok(format!("{:016x}", getrandom::u64().map_err(io::Error::other)?))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::recipe::Recipe;
    use taquin_solver::{LazyTables, Size, Solver};

    fn goal(rows: usize, cols: usize) -> Board {
        Board::blank_last(Size::try_from((rows, cols)).unwrap())
    }

    fn list(goal: &Board, how: &Draw, count: usize) -> Result<Vec<DrawnBoard>, DrawError> {
        draw_boards(goal, how, &Seeds::Distinct { seed: "s".to_owned(), count }, &LazyTables::default())
    }

    fn walk(moves: u32, turns_back: bool) -> Draw {
        Draw::Walk(Walk { moves, turns_back, from: None })
    }

    #[test]
    fn a_list_of_all_boards_has_each_once_and_one_more_is_rejected() {
        for (goal, how, exist) in [
            (goal(2, 2), Draw::Uniform(Solvability::Solvable), 12),
            (goal(2, 2), Draw::Uniform(Solvability::Unsolvable), 12),
            (goal(2, 2), Draw::Uniform(Solvability::Any), 24),
            (goal(2, 3), Draw::Uniform(Solvability::Solvable), 360),
            (goal(2, 3), Draw::Length(21..=21), 1),
            (goal(3, 3), Draw::Length(31..=40), 2),
            (goal(3, 3), Draw::Percentile(0.0..=0.001), 3),
            (goal(2, 2), walk(2, false), 2),
            (goal(2, 2), walk(2, true), 3),
            (goal(2, 2), walk(99_999, true), 6),
            (goal(2, 3), walk(999, false), 180),
            (goal(4, 4), walk(3, false), 10),
            (goal(4, 4), Draw::Length(2..=3), 14),
            (goal(2, 7), Draw::Length(3..=3), 6),
            (Board::snail(goal(3, 5).size()), Draw::Length(0..=1), 5),
        ] {
            let boards: HashSet<_> = list(&goal, &how, exist).unwrap().iter().map(|drawn| drawn.board).collect();
            assert_eq!(boards.len(), exist, "{goal}: {how:?}");
            let too_many = list(&goal, &how, exist + 1).map(|list| list.len());
            assert_eq!(too_many, Err(DrawError::TooFew(exist as u64)), "{goal}: {how:?}");
        }
    }

    #[test]
    fn a_board_of_a_list_is_that_of_its_seed() {
        let (goal, how) = (goal(2, 3), Draw::Length(18..=18));
        let drawn = list(&goal, &how, 12).unwrap();
        assert_ne!(drawn.last().unwrap().seed, "s/11", "a board was left out");
        for board in drawn {
            let alone = Seeds::Each(vec![board.seed.clone()]);
            assert_eq!(draw_boards(&goal, &how, &alone, &LazyTables::default()), Ok(vec![board]));
        }
    }

    #[test]
    fn numbered_seeds_draw_the_boards_of_a_recipe() {
        let goal = goal(3, 4);
        let how = Draw::Uniform(Solvability::Solvable);
        let drawn = draw_boards(&goal, &how, &Seeds::numbered("s", 5), &LazyTables::default()).unwrap();
        let recipe = Recipe::try_new(goal, "s", 5).unwrap();
        for (drawn, index) in drawn.iter().zip(0..5) {
            assert_eq!(drawn.board, *recipe.board(index).start());
        }
        assert_eq!(drawn.len(), 5);
    }

    #[test]
    fn boards_do_not_depend_on_pattern_tables() {
        let (goal, tables) = (goal(3, 4), LazyTables::default());
        for how in [Draw::Length(10..=12), Draw::Length(30..=34), Draw::Percentile(20.0..=30.0)] {
            let seeds = Seeds::numbered("s", 3);
            let drawn = draw_boards(&goal, &how, &seeds, &tables).unwrap();
            let missing = LoadedTables { patterns: None, are_missing: true };
            let without = draw_boards_with(&goal, &how, &seeds, (&tables, missing), Control::default());
            assert_eq!(without.as_ref(), Ok(&drawn), "{how:?}");
            for board in drawn {
                let solved = Solver::new().solve(&Puzzle::try_new(board.board, goal).unwrap());
                assert_eq!(board.distance, Some(Distance::proven(solved.path.len() as u32)), "{how:?}");
            }
        }
    }

    #[test]
    fn an_empty_range_is_an_error_and_an_empty_list_is_none() {
        #[expect(clippy::reversed_empty_ranges, reason = "these are the errors")]
        let empty = [Draw::Length(5..=3), Draw::Percentile(5.0..=3.0)];
        for (how, goal) in empty.iter().flat_map(|how| [(how, goal(3, 3)), (how, goal(4, 4))]) {
            assert_eq!(list(&goal, how, 1), Err(DrawError::EmptyRange), "{goal}: {how:?}");
        }
        assert_eq!(list(&goal(3, 3), &Draw::Uniform(Solvability::Any), 0), Ok(Vec::new()));
    }

    #[test]
    fn a_draw_that_cannot_succeed_is_rejected_without_a_search() {
        let small = SmallTables::new();
        for (goal, how, reason) in [
            (goal(3, 6), Draw::Length(5..=30), Some("not for 3×6 boards")),
            (goal(4, 4), Draw::Length(81..=90), Some("lengths range from 0 to 80")),
            (goal(4, 4), Draw::Length(21..=24), Some("lengths from 0 to 20 and from 30 to 80 can be drawn")),
            (goal(3, 5), Draw::Percentile(20.0..=30.0), None),
            (goal(4, 4), Draw::Length(50..=52), None),
            // The distance table shows that no board is of this length. The check does not build the table.
            (goal(3, 3), Draw::Length(32..=40), None),
        ] {
            let error = how.check(&goal, &small).err().map(|error| error.to_string());
            assert!(reason.map_or(error.is_none(), |reason| error.as_ref().unwrap().contains(reason)), "{error:?}");
        }
    }
}
