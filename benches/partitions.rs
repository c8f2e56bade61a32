//! Hill climbing for partitions with strong patterns.
//!
//! `cargo bench --bench partitions -- 4 4 0 7,7,1` takes the rows and columns of a board, the cell of the blank's goal,
//! and the sizes of the patterns. It swaps two tiles of different patterns as long as this lowers the cost of a sample
//! of random boards: the mean logarithm of the nodes that IDA* generates. Tiles after the sizes set the initial
//! partition, for example `1,2,3/4,5`, or `1,2,3/4,5+1,4/2,3,5` for two partitions of which the maximum counts. The
//! default is column by column, and also row by row if the class has no mirror image. `boards=N` sets the size of the
//! sample, and `seed=N` the order of the swaps. Two partitions of a class with a mirror image are looked up under both
//! symmetries only if they are twins (`Partition::are_twins`), so a swap that ends this costs two of four sums.

mod common;

use std::collections::HashMap;
use std::time::Instant;

use taquin_solver::heuristic::{AdditivePatterns, Geometry, GoalClass, Partition, PatternTable, Patterns};
use taquin_solver::search::{Budget, Space, Trace, ida_star};
use taquin_solver::{Board, Packed64, Puzzle, RandomSource, Size, SplitMix, random_board};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Limit on expansions for each board.
const MAX_EXPANDED: u64 = 5_000_000;
/// Number of boards after which a clearly worse partition is abandoned.
const FIRST_BOARDS: usize = 24;

/// A hill climb from one partition, or two, to better ones.
struct Climb {
    class: GoalClass,
    sample: Vec<Puzzle>,
    tables: HashMap<Vec<u8>, PatternTable>,
    costs: HashMap<Vec<Patterns>, f64>,
}

impl Climb {
    fn new(class: GoalClass, boards: usize) -> Self {
        let mut tiles: Vec<Option<i64>> = (1..class.size.cells() as i64).map(Some).collect();
        tiles.insert(usize::from(class.goal_blank), Some(0));
        let goal = Board::try_from_tiles(class.size, &tiles).expect("a goal");
        let mut random = SplitMix(42);
        let draw = |_| Puzzle::try_new(random_board(&goal, &mut random), goal).expect("solvable");
        Self { class, sample: (0..boards).map(draw).collect(), tables: HashMap::new(), costs: HashMap::new() }
    }

    /// Mean logarithm of the number of generated nodes. If that is clearly above `bound`, any value above `bound`.
    fn cost(&mut self, partitions: &[Patterns], bound: f64) -> f64 {
        let mut known: Vec<Patterns> = partitions.to_vec();
        known.iter_mut().for_each(|patterns| patterns.sort());
        if let Some(cost) = self.costs.get(&known) {
            return *cost;
        }
        let own = Partition::patterns_with_tables(self.class, partitions);
        for (labels, geometry) in own.iter().zip(&Geometry::of_patterns(self.class.size, &own)) {
            if !self.tables.contains_key(*labels) {
                // Keep the tables of the current partition and a few others.
                if self.tables.len() > 24 {
                    self.tables.retain(|labels, _| own.contains(&labels));
                }
                let table = PatternTable::build(self.class.goal_blank, labels, geometry);
                self.tables.insert((*labels).clone(), table);
            }
        }
        let tables = own.iter().map(|labels| self.tables[*labels].clone()).collect();
        let cost = self.measure(&Partition::assemble(self.class, partitions, tables), bound);
        self.costs.insert(known, cost);
        cost
    }

    fn measure(&self, partitions: &[Partition], bound: f64) -> f64 {
        let heuristic = AdditivePatterns::new(self.class.size, self.class.goal_blank, partitions);
        let budget = Budget { expanded: MAX_EXPANDED, ..Budget::UNLIMITED };
        let mut sum = 0.0;
        for (nth, puzzle) in self.sample.iter().enumerate() {
            let outcome = ida_star(&Space::<Packed64>::new(puzzle), &heuristic, &budget, &mut Trace::new(0));
            sum += (outcome.stats.generated as f64).ln();
            if nth + 1 == FIRST_BOARDS && sum / FIRST_BOARDS as f64 > bound + 0.35 {
                return sum / FIRST_BOARDS as f64;
            }
        }
        sum / self.sample.len() as f64
    }

    fn climb(&mut self, mut partitions: Vec<Patterns>, random: &mut SplitMix) {
        let begun = Instant::now();
        let mut best = self.cost(&partitions, f64::INFINITY);
        println!("{best:.4} {partitions:?}");
        loop {
            let mut swaps: Vec<(usize, [usize; 2], [usize; 2])> = Vec::new();
            for (nth, patterns) in partitions.iter().enumerate() {
                for (a, b) in (0..patterns.len()).flat_map(|a| (a + 1..patterns.len()).map(move |b| (a, b))) {
                    let tiles = (0..patterns[a].len()).flat_map(|i| (0..patterns[b].len()).map(move |j| (i, j)));
                    swaps.extend(tiles.map(|(i, j)| (nth, [a, i], [b, j])));
                }
            }
            for at in (1..swaps.len()).rev() {
                swaps.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
            }
            let better = swaps.into_iter().find_map(|(nth, [a, i], [b, j])| {
                let mut next = partitions.clone();
                (next[nth][a][i], next[nth][b][j]) = (partitions[nth][b][j], partitions[nth][a][i]);
                next[nth][a].sort_unstable();
                next[nth][b].sort_unstable();
                let cost = self.cost(&next, best);
                (cost < best - 1e-9).then_some((next, cost))
            });
            let Some((next, cost)) = better else { break };
            (partitions, best) = (next, cost);
            println!("{best:.4} {partitions:?} after {:.0?}", begun.elapsed());
        }
        println!("no swap of two tiles is better; {} partitions tried in {:.0?}", self.costs.len(), begun.elapsed());
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let [rows, cols, goal_blank, sizes, rest @ ..] = words.as_slice() else {
        println!("rows, columns, the blank's goal and the patterns' sizes, as in: 4 4 0 6,6,3");
        return;
    };
    let number = |word: &String| word.parse::<usize>().expect("a number");
    let size = Size::try_from((number(rows), number(cols))).expect("a shape");
    let class = GoalClass::of(size, number(goal_blank) as u8);
    let boards = rest.iter().find_map(|word| word.strip_prefix("boards=")).map_or(150, |word| number(&word.to_owned()));
    let list = |text: &str| text.split(',').map(|tile| tile.parse::<u8>().expect("a tile")).collect::<Vec<u8>>();
    let patterns = |text: &str| text.split('/').map(list).collect::<Patterns>();
    let given = rest.iter().find(|word| word.contains('/')).map(|word| word.split('+').map(patterns).collect());
    let partitions: Vec<Patterns> = given.unwrap_or_else(|| {
        let rows: Vec<u8> = (0..class.size.cells() as u8).filter(|label| *label != class.goal_blank).collect();
        let mut cols = rows.clone();
        cols.sort_by_key(|label| (class.size.col_of(*label), *label));
        let cut = |tiles: Vec<u8>| {
            let mut tiles = tiles.into_iter();
            let sizes = list(sizes).into_iter().map(usize::from);
            let patterns = sizes.map(|size| tiles.by_ref().take(size).collect::<Vec<u8>>());
            let mut patterns: Patterns = patterns.collect();
            patterns.iter_mut().for_each(|pattern| pattern.sort_unstable());
            patterns
        };
        let views = if class.is_mirrored() { vec![cols] } else { vec![cols, rows] };
        views.into_iter().map(cut).collect()
    });
    let seed = rest.iter().find_map(|word| word.strip_prefix("seed=")).map_or(1, |word| number(&word.to_owned()));
    Climb::new(class, boards).climb(partitions, &mut SplitMix(seed as u64));
}
