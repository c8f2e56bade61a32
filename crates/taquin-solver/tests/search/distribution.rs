//! Distributions of optimal lengths, recomputed by breadth-first search over all boards of a shape.

use taquin_solver::heuristic::{DistanceTable, GoalClass};
use taquin_solver::search::{Distribution, LengthsSource};
use taquin_solver::{Metric, Size};

/// Most cells: the sets of blank cells have this many bits.
const MAX_CELLS: usize = 12;

type Order = [u8; MAX_CELLS];

/// Number of boards at each distance from the goal, by breadth-first search.
///
/// A board is the order of its tiles, row by row, and the cell of its blank. The order is ranked by its Lehmer digits
/// but the last two, which parity decides. For each rank a set of blank cells tells the boards that were reached.
fn counts(metric: Metric, size: Size, goal_blank: u8) -> Vec<u64> {
    let (cols, cells) = (size.cols(), size.cells());
    let reach = if metric == Metric::SingleTile { 1 } else { size.cells() };
    let column = |col| (0..cells).filter(|cell| cell % cols == col).fold(0_u16, |set, cell| set | 1 << cell);
    let (first, last) = (column(0), column(cols - 1));
    let ranks: usize = (3..cells).product();
    let (mut seen, mut layer, mut next) = (vec![0_u16; ranks], vec![0_u16; ranks], vec![0_u16; ranks]);
    (seen[0], layer[0]) = (1 << goal_blank, 1 << goal_blank);
    let mut counts = Vec::new();
    loop {
        let boards: u64 = layer.iter().map(|blanks| u64::from(blanks.count_ones())).sum();
        if boards == 0 {
            return counts;
        }
        counts.push(boards);
        for rank in (0..ranks).filter(|rank| layer[*rank] != 0) {
            let blanks = layer[rank];
            // A horizontal move keeps the order.
            let (mut to_right, mut to_left) = (blanks, blanks);
            for _ in 0..reach.min(cols - 1) {
                (to_right, to_left) = ((to_right & !last) << 1, (to_left & !first) >> 1);
                next[rank] |= to_right | to_left;
            }
            let even = unrank(rank, cells - 1);
            for blank in (0..cells).filter(|blank| blanks & 1 << blank != 0) {
                let mut order = even;
                if is_odd(size, blank, goal_blank) {
                    order.swap(cells - 2, cells - 3);
                }
                // A vertical move takes a tile past those between its two cells.
                let (mut moved, mut to) = (order, blank);
                for _ in 0..reach.min(blank / cols) {
                    moved[to - cols..to].rotate_left(1);
                    to -= cols;
                    next[rank_of(&moved, cells - 1)] |= 1 << to;
                }
                let (mut moved, mut to) = (order, blank);
                for _ in 0..reach.min((cells - 1 - blank) / cols) {
                    moved[to..to + cols].rotate_right(1);
                    to += cols;
                    next[rank_of(&moved, cells - 1)] |= 1 << to;
                }
            }
        }
        for (seen, (layer, next)) in seen.iter_mut().zip(layer.iter_mut().zip(&mut next)) {
            *layer = std::mem::take(next) & !*seen;
            *seen |= *layer;
        }
    }
}

/// True if the order of the tiles is odd when the blank is in a cell: each vertical move passes `columns - 1` tiles.
fn is_odd(size: Size, blank: usize, goal_blank: u8) -> bool {
    let rows = size.row_of(blank as u8).abs_diff(size.row_of(goal_blank));
    (size.cols() - 1) * rows % 2 == 1
}

fn rank_of(order: &Order, tiles: usize) -> usize {
    let (mut rank, mut seen) = (0, 0_u16);
    for (at, tile) in order[..tiles - 2].iter().enumerate() {
        let smaller = (seen & ((1 << tile) - 1)).count_ones() as usize;
        rank = rank * (tiles - at) + usize::from(*tile) - smaller;
        seen |= 1 << tile;
    }
    rank
}

/// The even order of a rank.
fn unrank(mut rank: usize, tiles: usize) -> Order {
    let mut digits = [0; MAX_CELLS];
    for at in (0..tiles - 2).rev() {
        digits[at] = rank % (tiles - at);
        rank /= tiles - at;
    }
    // The sum of the digits is the number of inversions.
    digits[tiles - 2] = digits.iter().sum::<usize>() % 2;
    let (mut order, mut left) = ([0; MAX_CELLS], 0xfedc_ba98_7654_3210_u64);
    for (slot, digit) in order[..tiles].iter_mut().zip(digits) {
        let below = (1 << (4 * digit)) - 1;
        *slot = (left >> (4 * digit) & 0xf) as u8;
        left = left & below | left >> 4 & !below;
    }
    order
}

/// Recomputes the counts of every class of boards with a number of cells.
fn recompute(cells: std::ops::RangeInclusive<usize>) {
    let sizes = Size::all().filter(|size| cells.contains(&size.cells()));
    for size in sizes {
        for goal_blank in 0..size.cells() as u8 {
            let class = GoalClass::of(size, goal_blank);
            if (class.size, class.goal_blank) != (size, goal_blank) {
                continue;
            }
            for metric in [Metric::SingleTile, Metric::MultiTile] {
                let shown = format!("{metric:?}, {size}, blank in cell {goal_blank}");
                if DistanceTable::serves(size) {
                    let table = DistanceTable::build_in(metric, size, goal_blank);
                    let expected = counts(metric, size, goal_blank);
                    assert_eq!(Distribution::of_table(&table).counts(), expected, "{shown}");
                } else if let Some(stored) = Distribution::stored(metric, size, goal_blank) {
                    assert_eq!(stored.counts(), counts(metric, size, goal_blank), "{shown}");
                }
            }
        }
    }
}

#[test]
fn distributions_up_to_10_cells_are_those_of_breadth_first_search() {
    recompute(4..=10);
}

#[test]
#[ignore = "a minute: the 239,500,800 boards of 3×4"]
fn the_distribution_of_3x4_is_that_of_breadth_first_search() {
    let size = Size::try_from((3, 4)).unwrap();
    assert_eq!(
        Distribution::stored(Metric::SingleTile, size, 0).unwrap().counts(),
        counts(Metric::SingleTile, size, 0)
    );
}

/// Every class beyond that above: `.ci/chaos` runs it.
mod every_shape {
    use super::*;

    #[test]
    #[ignore = "several minutes: every class of 12 cells"]
    fn all_distributions_of_12_cells_are_those_of_breadth_first_search() {
        recompute(11..=12);
    }
}

#[test]
fn symmetric_goals_have_equal_distributions() {
    for size in Size::all().filter(|size| (10..=16).contains(&size.cells())) {
        let turned = Size::try_from((size.cols(), size.rows())).unwrap();
        for (metric, goal_blank) in [Metric::SingleTile, Metric::MultiTile]
            .into_iter()
            .flat_map(|metric| (0..size.cells() as u8).map(move |goal_blank| (metric, goal_blank)))
        {
            let (row, col) = (size.row_of(goal_blank), size.col_of(goal_blank));
            let opposite = size.cell_at(size.rows() - 1 - row, size.cols() - 1 - col);
            let stored = Distribution::stored(metric, size, goal_blank);
            assert_eq!(stored, Distribution::stored(metric, size, opposite), "{metric:?}, {size}, cell {goal_blank}");
            let of_turned = Distribution::stored(metric, turned, turned.cell_at(col, row));
            assert_eq!(stored, of_turned, "{metric:?}, {size}, cell {goal_blank}");
        }
    }
}

#[test]
fn the_counts_of_the_15_puzzle_have_the_published_properties() {
    let corner = Distribution::stored(Metric::SingleTile, Size::try_from((4, 4)).unwrap(), 15).unwrap();
    assert_eq!(corner.boards(), 10_461_394_944_000, "16!/2");
    assert_eq!((corner.greatest(), *corner.counts().last().unwrap()), (80, 17), "Brüngger et al. 1999");
    assert!((corner.mean() - 52.59).abs() < 0.01, "{}", corner.mean());
}

/// Radius and mean of Tarakanov 2022; the radii are also sequence A151944 of OEIS for the single-tile metric.
#[test]
fn published_counts_have_the_published_sums_means_and_maxima() {
    use Metric::{MultiTile, SingleTile};
    for (metric, shape, goal_blank, greatest, hardest, mean) in [
        (SingleTile, (4, 4), 1, 80, 2, 52.3051),
        (SingleTile, (4, 4), 5, 80, 1, 52.0581),
        (SingleTile, (3, 5), 0, 84, 1, 51.4774),
        (SingleTile, (2, 7), 0, 108, 1, 65.4835),
        (SingleTile, (2, 8), 0, 140, 1, 84.1675),
        (MultiTile, (2, 5), 0, 36, 1, 22.0324),
        (MultiTile, (3, 4), 0, 33, 5, 23.3705),
        (MultiTile, (2, 6), 0, 41, 36, 27.5292),
        (MultiTile, (2, 7), 0, 52, 1, 33.0185),
        (MultiTile, (3, 5), 0, 44, 1, 30.4306),
        (MultiTile, (4, 4), 0, 43, 16, 32.0369),
        (MultiTile, (2, 8), 0, 57, 80, 38.5118),
    ] {
        let size = Size::try_from(shape).unwrap();
        let published = Distribution::stored(metric, size, goal_blank).unwrap();
        let shown = format!("{metric:?}, {size}, cell {goal_blank}");
        assert_eq!(published.source(), LengthsSource::Tarakanov2022, "{shown}");
        assert_eq!(published.boards(), (3..=size.cells() as u64).product(), "{shown}: half of all permutations");
        assert_eq!((published.greatest(), *published.counts().last().unwrap()), (greatest, hardest), "{shown}");
        assert!((published.mean() - mean).abs() < 0.000_06, "{shown}: {}", published.mean());
    }
}
