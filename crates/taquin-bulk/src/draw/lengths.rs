//! Draws boards of more than 9 cells whose optimal length is in a range.
//!
//! For common lengths, this module uses rejection sampling: boards are drawn uniformly until a board has a length in
//! the range. A board is rejected by its parity, by its linear conflicts, by the patterns, or by a search whose depth
//! limit is the end of the range. For other lengths up to 20, this module uses random walks of the wanted number of
//! moves, until a search proves that the last board of a walk has no shorter solution. For the greatest lengths of the
//! 15-puzzle, this module uses random walks from the hardest boards, until a search proves the length of the last board
//! of a walk.

use std::ops::RangeInclusive;

use taquin_solver::search::{Distribution, LengthsSource};
use taquin_solver::solver::{SearchTables, lower_bound, solve_with, start_bound};
use taquin_solver::{
    Algorithm, Board, Control, Limits, Metric, Plan, Puzzle, RandomSource, Report, SearchOptions, SearchRequest,
    StopReason, random_board, random_walk,
};

use super::error::DrawError;
use super::hardest::Hardest;

/// Maximum length for which random walks from the goal are used.
const MAX_WALK: u32 = 20;

/// Maximum expected number of draws per accepted board. Nearly all draws are rejected within microseconds.
const MAX_DRAWS: f64 = 20_000.0;

/// Maximum expected number of drawn boards, per accepted board, whose length is at most the end of the range. Each of
/// these boards may take a whole search.
const MAX_SEARCHES: f64 = 600.0;

/// The lengths of a draw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Wanted {
    /// The optimal lengths.
    pub(super) lengths: RangeInclusive<u32>,
    /// True if the request named percentiles.
    pub(super) by_percentile: bool,
}

impl Wanted {
    /// Returns the distribution of lengths by which boards are drawn. Returns `None` if the distribution is unknown or
    /// must not be used.
    ///
    /// Earlier versions did not have the counts of Tarakanov 2022. Those versions used walks for ranges that begin at
    /// [`MAX_WALK`] or below. This version still draws these ranges without the counts, so that each seed gives the
    /// same board as before.
    fn distribution(&self, goal: &Board) -> Option<Distribution<'static>> {
        let distribution = Distribution::stored(Metric::SingleTile, goal.size(), goal.blank())?;
        let was_walked = !self.by_percentile && *self.lengths.start() <= MAX_WALK;
        (distribution.source() != LengthsSource::Tarakanov2022 || !was_walked).then_some(distribution)
    }
}

/// Method of drawing a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Method {
    /// Boards are drawn uniformly, and boards outside the range are rejected.
    Rejection,
    /// Boards are drawn by random walks. If the distribution of lengths is known, the probability of a number of moves
    /// is proportional to the number of boards with that length. Otherwise all numbers of moves are equally likely.
    Walks,
    /// Boards are drawn by random walks from the hardest boards. The probability of a length is proportional to the
    /// number of boards with that length.
    Descents,
}

/// Draws boards whose lengths are in a range, and proves the lengths.
#[derive(Debug)]
pub(super) struct LengthDraw<'a> {
    goal: Board,
    lengths: RangeInclusive<u32>,
    distribution: Option<Distribution<'static>>,
    method: Method,
    /// Boards where the walks of [`Method::Descents`] start; `None` if the goal is not a 4×4 board.
    hardest: Option<Hardest>,
    has_patterns: bool,
    tables: &'a SearchTables<'a>,
    context: Control<'a>,
}

impl<'a> LengthDraw<'a> {
    /// Selects the method. `has_patterns` is true if the tables include the patterns of the goal. Fails if boards of
    /// these lengths cannot be drawn.
    pub(super) fn new(
        goal: &Board,
        wanted: &Wanted,
        (tables, has_patterns): (&'a SearchTables<'a>, bool),
        context: Control<'a>,
    ) -> Result<Self, DrawError> {
        let (method, lengths) = choose(goal, wanted)?;
        let (distribution, hardest) = (wanted.distribution(goal), Hardest::of(goal));
        Ok(Self { goal: *goal, lengths, distribution, method, hardest, has_patterns, tables, context })
    }

    /// Returns true if all boards of the range are equally likely.
    pub(super) fn is_uniform(&self) -> bool {
        self.method == Method::Rejection
    }

    /// Draws a board, and returns the board with its optimal length. Fails once the time ends or a cancel flag is set,
    /// or if a search returns a wrong solution.
    pub(super) fn draw(&self, random: &mut impl RandomSource) -> Result<(Board, u32), DrawError> {
        loop {
            self.check()?;
            let (board, lengths) = match self.method {
                Method::Rejection => (random_board(&self.goal, random), self.lengths.clone()),
                Method::Walks => {
                    let length = self.walk_length(random);
                    (random_walk(&self.goal, length, random), length..=length)
                }
                Method::Descents => {
                    let length = self.walk_length(random);
                    (self.descent(length, random), length..=length)
                }
            };
            if let Some(length) = self.length_within(&board, &lengths)? {
                return Ok((board, length));
            }
        }
    }

    /// Returns the last board of a random walk from one of the hardest boards. The minimum number of moves is the
    /// length of the hardest boards minus `length`. Walks with more moves reach more boards.
    fn descent(&self, length: u32, random: &mut impl RandomSource) -> Board {
        let Hardest { boards, length: greatest } = self.hardest.as_ref().expect("descents have hard boards");
        let board = &boards[random.below(boards.len() as u64) as usize];
        let moves = greatest - length;
        random_walk(board, moves + 2 * random.below(u64::from(moves / 2) + 1) as u32, random)
    }

    /// Returns a random length in the range. If the number of boards of each length is known, the numbers are the
    /// weights. Otherwise the distribution is uniform.
    fn walk_length(&self, random: &mut impl RandomSource) -> u32 {
        let boards = |length: u32| self.distribution.map_or(1, |distribution| distribution.counts()[length as usize]);
        let mut left = random.below(self.lengths.clone().map(boards).sum());
        for length in self.lengths.clone() {
            match left.checked_sub(boards(length)) {
                Some(rest) => left = rest,
                None => return length,
            }
        }
        *self.lengths.end()
    }

    /// Returns the optimal length of a board; `None` if the length is outside the range.
    fn length_within(&self, board: &Board, lengths: &RangeInclusive<u32>) -> Result<Option<u32>, DrawError> {
        // A move moves the blank by one cell. So all lengths have the same parity as the distance of the blank from its
        // goal cell.
        let parity = self.goal.size().distance(board.blank(), self.goal.blank()) % 2;
        if lengths.clone().all(|length| length % 2 != parity) {
            return Ok(None);
        }
        let puzzle = Puzzle::try_new(*board, self.goal).expect("a drawn board can reach its goal");
        // The lower bound by linear conflict is checked before the patterns, because a look-up in the patterns takes
        // twenty times as long.
        if lower_bound(&puzzle) > *lengths.end() {
            return Ok(None);
        }
        let mut job = proof(puzzle, *lengths.end());
        if !self.has_patterns {
            job.plan = job.plan.without_tables();
        }
        if start_bound(&job, self.tables) > *lengths.end() {
            return Ok(None);
        }
        let length = self.optimal_length(&job)?;
        Ok(length.filter(|length| lengths.contains(length)))
    }

    /// Returns the optimal length of a job's board; `None` if the length exceeds the depth limit of the job.
    fn optimal_length(&self, job: &SearchRequest) -> Result<Option<u32>, DrawError> {
        match solve_with(job, self.tables, self.context)? {
            Report { search_stopped: None, solution: Some(solution), .. } => Ok(Some(solution.path.len() as u32)),
            Report { search_stopped: Some(StopReason::Depth), .. } => Ok(None),
            Report { search_stopped: Some(StopReason::Cancelled), .. } => self.check().map(|()| None),
            _ => Err(DrawError::TimeUp),
        }
    }

    fn check(&self) -> Result<(), DrawError> {
        check(&self.context)
    }
}

/// Returns a search that proves the length of a board, or proves that the length exceeds `most`.
pub(super) fn proof(puzzle: Puzzle, most: u32) -> SearchRequest {
    let options =
        SearchOptions { algorithm: Some(Algorithm::IdaStar), depth_limit: Some(most), ..SearchOptions::default() };
    let plan = Plan::try_new(&options, puzzle.size()).expect("IDA* serves every size");
    SearchRequest::new(puzzle, plan, Limits::NONE)
}

/// Pauses for more important work. Fails if a cancel flag is set or the deadline has passed.
pub(super) fn check(context: &Control<'_>) -> Result<(), DrawError> {
    match context.stop() {
        None => Ok(()),
        Some(StopReason::Cancelled) => Err(DrawError::Cancelled),
        Some(_) => Err(DrawError::TimeUp),
    }
}

/// Selects the method for a range of lengths. Returns the method, and the part of the range that the method draws.
/// Fails if no method can draw the lengths.
pub(super) fn choose(goal: &Board, wanted: &Wanted) -> Result<(Method, RangeInclusive<u32>), DrawError> {
    if !Plan::is_proven_by_auto(goal.size()) {
        return Err(DrawError::LengthsUnknown(goal.size()));
    }
    let (lengths, distribution) = (&wanted.lengths, wanted.distribution(goal));
    if let Some(distribution) = distribution {
        if *lengths.start() > distribution.greatest() {
            return Err(DrawError::NoSuchLength(distribution.greatest()));
        }
        if is_common(&distribution, lengths) {
            return Ok((Method::Rejection, lengths.clone()));
        }
    }
    if *lengths.start() <= MAX_WALK {
        return Ok((Method::Walks, *lengths.start()..=MAX_WALK.min(*lengths.end())));
    }
    let (common, hardest) = (distribution.and_then(common_lengths), Hardest::length_of(goal));
    if let (Some(common), Some(hardest)) = (&common, hardest)
        && (common.end() + 1..=hardest).contains(lengths.start())
    {
        return Ok((Method::Descents, *lengths.start()..=hardest.min(*lengths.end())));
    }
    let common = common.map(|common| *common.start()..=hardest.unwrap_or(*common.end()));
    Err(DrawError::TooRare(std::iter::once(0..=MAX_WALK).chain(common).collect()))
}

/// Returns the part of the wanted lengths that is drawn. Fails if boards of the lengths cannot be drawn.
pub(super) fn drawn_lengths(goal: &Board, wanted: &Wanted) -> Result<RangeInclusive<u32>, DrawError> {
    choose(goal, wanted).map(|(_, lengths)| lengths)
}

/// Returns true if uniform draws can serve the range: the expected numbers of draws and of searches are at most
/// [`MAX_DRAWS`] and [`MAX_SEARCHES`].
fn is_common(distribution: &Distribution<'_>, lengths: &RangeInclusive<u32>) -> bool {
    let sum = |first: u32| {
        let counts = (0..).zip(distribution.counts());
        counts.filter(|(length, _)| (first..=*lengths.end()).contains(length)).map(|(_, boards)| *boards).sum::<u64>()
    };
    let (wanted, not_longer) = (sum(*lengths.start()) as f64, sum(0) as f64);
    wanted * MAX_DRAWS >= distribution.boards() as f64 && wanted * MAX_SEARCHES >= not_longer
}

/// Returns the range from the least to the greatest common length. A length is common if [`is_common`] returns true for
/// the range that has only this length. Returns `None` if no length is common.
fn common_lengths(distribution: Distribution<'_>) -> Option<RangeInclusive<u32>> {
    let mut common = (0..=distribution.greatest()).filter(|length| is_common(&distribution, &(*length..=*length)));
    let first = common.next()?;
    Some(first..=common.next_back().unwrap_or(first))
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::atomic::AtomicBool;

    use super::*;
    use taquin_solver::{Instant, LazyTables, Size, SplitMix};

    fn goal(rows: usize, cols: usize) -> Board {
        Board::blank_last(Size::try_from((rows, cols)).unwrap())
    }

    /// A goal with its blank in a cell.
    fn goal_in(rows: usize, cols: usize, blank: u8) -> Board {
        let size = Size::try_from((rows, cols)).unwrap();
        let number = |cell| Some(i64::from(if cell == blank { 0 } else { cell + u8::from(cell < blank) }));
        Board::try_from_tiles(size, &(0..size.cells() as u8).map(number).collect::<Vec<_>>()).unwrap()
    }

    fn of_length(lengths: RangeInclusive<u32>) -> Wanted {
        Wanted { lengths, by_percentile: false }
    }

    #[test]
    fn common_lengths_are_drawn_uniformly_and_short_ones_by_walks() {
        let corner = goal(4, 4);
        let method = |lengths| choose(&corner, &of_length(lengths));
        assert_eq!(method(0..=0), Ok((Method::Walks, 0..=0)));
        assert_eq!(method(18..=25), Ok((Method::Walks, 18..=20)));
        assert_eq!(method(50..=50), Ok((Method::Rejection, 50..=50)));
        assert_eq!(method(0..=99), Ok((Method::Rejection, 0..=99)));
        assert_eq!(method(30..=30), Ok((Method::Rejection, 30..=30)));
        assert_eq!(method(66..=66), Ok((Method::Rejection, 66..=66)));
        assert_eq!(method(67..=67), Ok((Method::Descents, 67..=67)));
        assert_eq!(method(72..=99), Ok((Method::Descents, 72..=80)));
        for lengths in [21..=21, 21..=24] {
            assert_eq!(method(lengths), Err(DrawError::TooRare(vec![0..=20, 30..=80])));
        }
        for (goal, hardest) in [(goal_in(4, 4, 1), 79), (goal_in(4, 4, 5), 78)] {
            assert_eq!(choose(&goal, &of_length(70..=80)), Ok((Method::Descents, 70..=hardest)), "{goal}");
            assert_eq!(choose(&goal, &of_length(80..=80)), Err(DrawError::TooRare(vec![0..=20, 30..=hardest])));
        }
        assert_eq!(method(81..=90), Err(DrawError::NoSuchLength(80)));
        let elsewhere = goal_in(2, 7, 3);
        assert_eq!(choose(&elsewhere, &of_length(5..=30)), Ok((Method::Walks, 5..=20)));
        assert_eq!(choose(&elsewhere, &of_length(21..=30)), Err(DrawError::TooRare(vec![0..=20])));
        let of_18_cells = choose(&goal(3, 6), &of_length(5..=30));
        assert_eq!(of_18_cells, Err(DrawError::LengthsUnknown(goal(3, 6).size())));
    }

    #[test]
    fn counts_that_came_later_leave_walks_as_they_were() {
        for later in [Board::snail(goal(4, 4).size()), goal_in(4, 4, 1), goal(3, 5), goal(2, 8), goal(2, 7)] {
            assert_eq!(choose(&later, &of_length(5..=60)), Ok((Method::Walks, 5..=20)), "{later}");
            assert_eq!(of_length(5..=60).distribution(&later), None, "{later}");
            assert_eq!(choose(&later, &of_length(50..=60)), Ok((Method::Rejection, 50..=60)), "{later}");
            let by_percentile = Wanted { lengths: 5..=60, by_percentile: true };
            assert_eq!(choose(&later, &by_percentile), Ok((Method::Rejection, 5..=60)), "{later}");
        }
    }

    #[test]
    fn drawn_lengths_are_in_the_range_and_optimal() {
        let all = LazyTables::default();
        let mut random = SplitMix(3);
        for (goal, lengths) in
            [(goal(2, 5), 30..=33), (goal(2, 5), 3..=3), (goal(3, 4), 40..=41), (goal(4, 4), 18..=18)]
        {
            let tables = SearchTables::new(&all);
            let draw =
                LengthDraw::new(&goal, &of_length(lengths.clone()), (&tables, true), Control::default()).unwrap();
            for _ in 0..3 {
                let (board, length) = draw.draw(&mut random).unwrap();
                assert!(lengths.contains(&length), "{board}: {length}");
                let without_patterns = (&tables, false);
                let slow =
                    LengthDraw::new(&goal, &of_length(lengths.clone()), without_patterns, Control::default()).unwrap();
                assert_eq!(slow.length_within(&board, &(0..=99)).unwrap(), Some(length), "{board}");
            }
        }
    }

    /// Returns the boards with this optimal length, by breadth-first search.
    fn boards_at(goal: Board, length: u32) -> Vec<Board> {
        let mut seen = HashSet::from([goal]);
        let mut layer = vec![goal];
        for _ in 0..length {
            let mut next = Vec::new();
            for board in layer {
                for mv in board.moves() {
                    let mut child = board;
                    child.make(mv);
                    if seen.insert(child) {
                        next.push(child);
                    }
                }
            }
            layer = next;
        }
        layer
    }

    #[test]
    fn drawn_boards_are_uniform_among_those_of_their_length() {
        let (all, goal) = (LazyTables::default(), goal(2, 5));
        let tables = SearchTables::new(&all);
        let boards = boards_at(goal, 18);
        let places: HashMap<&Board, usize> = boards.iter().zip(0..).collect();
        let draw = LengthDraw::new(&goal, &of_length(18..=18), (&tables, true), Control::default()).unwrap();
        assert!(draw.is_uniform());
        let mut random = SplitMix(11);
        let mut counts = [0.0; 50];
        let draws = 1000;
        for _ in 0..draws {
            let (board, _) = draw.draw(&mut random).unwrap();
            counts[places[&board] * counts.len() / boards.len()] += 1.0;
        }
        let share = |part: usize| (0..boards.len()).filter(|place| place * 50 / boards.len() == part).count();
        let expected = |part| f64::from(draws) * share(part) as f64 / boards.len() as f64;
        let chi_squared: f64 =
            counts.iter().zip(0..).map(|(count, part)| (count - expected(part)).powi(2) / expected(part)).sum();
        // With 49 degrees of freedom, the mean is 49 and the standard deviation is 10. The bound is five deviations
        // above the mean.
        assert!(chi_squared < 99.0, "{chi_squared}");
    }

    #[test]
    fn a_drawing_ends_with_its_time_or_its_caller() {
        let (all, goal) = (LazyTables::default(), goal(3, 4));
        let tables = SearchTables::new(&all);
        let draw = |context| {
            LengthDraw::new(&goal, &of_length(30..=30), (&tables, true), context).unwrap().draw(&mut SplitMix(1))
        };
        let context = Control { deadline: Some(Instant::now()), ..Control::default() };
        assert_eq!(draw(context), Err(DrawError::TimeUp));
        let raised = AtomicBool::new(true);
        let flags = [&raised];
        assert_eq!(draw(Control { cancel: &flags, ..Control::default() }), Err(DrawError::Cancelled));
    }
}
