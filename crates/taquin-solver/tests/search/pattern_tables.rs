//! Every bit of the service's pattern tables, compared with independently computed costs.
//!
//! The reference table has a byte for each entry. It is computed by breadth-first search from the goal, entry by entry,
//! over sets, regions and orders that are enumerated here. Only the layout of the bits is shared. The search checks
//! that every move of every entry changes the cost by exactly one, and that it reaches every entry.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use taquin_solver::Size;
use taquin_solver::heuristic::{Geometry, GoalClass, HugeVec, Partition, PatternTable, Tier};

/// All placements of patterns with this number of tiles on boards of a size.
struct Layout {
    /// Sets of cells in ascending order, each with the regions of the blank in order of their lowest cells.
    slots: Vec<(u64, u64)>,
    /// Orders of the tiles by ascending cell, sorted lexicographically.
    orders: Vec<Vec<u8>>,
    /// For each slot, the moves of the pattern's tiles into it.
    moves: Vec<Vec<TileMove>>,
    /// Permutation of the order ranks when a tile passes others, by its positions before and after.
    shifts: HashMap<(u32, u32), Vec<u16>>,
}

/// Move of a tile into the blank's region.
struct TileMove {
    /// The slot before.
    slot: usize,
    /// Position of the tile among the others before and after.
    positions: (u32, u32),
}

impl Layout {
    fn new(size: Size, tiles: usize) -> Self {
        let adjacent = adjacent(size);
        let slots: Vec<(u64, u64)> = sets(size.cells(), tiles)
            .into_iter()
            .flat_map(|set| regions(set, &adjacent).into_iter().map(move |region| (set, region)))
            .collect();
        let cells = |set: u64| (0..adjacent.len()).filter(move |cell| set >> cell & 1 != 0);
        let numbered = slots.iter().enumerate();
        let slot_of: HashMap<(u64, usize), usize> =
            numbered.flat_map(|(slot, (set, region))| cells(*region).map(move |cell| ((*set, cell), slot))).collect();
        let moves_into = |(set, region): &(u64, u64)| {
            // After the move, the tile's old cell belongs to the blank's region; its new cell did before.
            let ways = cells(*set).flat_map(|to| cells(adjacent[to] & region).map(move |from| (from, to)));
            let moves = ways.map(|(from, to)| {
                let before = set ^ 1 << from ^ 1 << to;
                let place = |set: u64, cell: usize| cells(set).filter(|other| *other < cell).count() as u32;
                TileMove { slot: slot_of[&(before, to)], positions: (place(before, from), place(*set, to)) }
            });
            moves.collect()
        };
        let moves: Vec<Vec<TileMove>> = slots.iter().map(moves_into).collect();
        let orders = orders(&(0..tiles as u8).collect::<Vec<_>>());
        let positions: BTreeSet<(u32, u32)> = moves.iter().flatten().map(|mv| mv.positions).collect();
        let shifts = shifts(&orders, positions);
        Self { slots, orders, moves, shifts }
    }

    /// Cost of each entry, row by row.
    fn costs(&self, goal_blank: u8, labels: &[u8]) -> Vec<u8> {
        const NONE: u8 = u8::MAX;
        let row = self.orders.len();
        let set = labels.iter().fold(0, |set, label| set | 1 << label);
        let home = self.slots.iter().position(|slot| slot.0 == set && slot.1 >> goal_blank & 1 != 0).unwrap();
        let mut costs = vec![NONE; self.slots.len() * row];
        let mut layer = vec![Vec::<u16>::new(); self.slots.len()];
        // At home, the tiles are in the first order.
        costs[home * row] = 0;
        layer[home].push(0);
        let mut found = 1;
        for cost in 1.. {
            // Orders that reach a row from the previous layer.
            let arrivals = |(moves, costs): (&Vec<TileMove>, &mut [u8])| {
                let mut orders = Vec::new();
                for mv in moves {
                    let shift = &self.shifts[&mv.positions];
                    for order in &layer[mv.slot] {
                        let order = shift[usize::from(*order)];
                        let known = &mut costs[usize::from(order)];
                        if *known == NONE {
                            *known = cost;
                            orders.push(order);
                        }
                        assert_eq!(
                            known.abs_diff(cost - 1),
                            1,
                            "a move of one of {labels:?} must change the cost by one"
                        );
                    }
                }
                orders
            };
            layer = self.moves.iter().zip(costs.chunks_mut(row)).map(arrivals).collect();
            match layer.iter().map(Vec::len).sum::<usize>() {
                0 => break,
                more => found += more,
            }
        }
        assert_eq!(found, costs.len(), "every entry of {labels:?} is reached");
        costs
    }

    /// First word of bits that differs from the second bits of the costs, with its set, region and orders.
    fn difference(&self, costs: &[u8], bits: &[u64]) -> Option<String> {
        let words = self.orders.len().div_ceil(64);
        assert_eq!(bits.len(), self.slots.len() * words);
        let rows = costs.chunks(self.orders.len()).zip(bits.chunks(words)).zip(&self.slots);
        for ((costs, bits), (set, region)) in rows {
            for (nth, (costs, bits)) in costs.chunks(64).zip(bits).enumerate() {
                let second = costs.iter().rev().fold(0, |word, cost| word << 1 | u64::from(cost >> 1 & 1));
                if second != *bits {
                    return Some(format!("{set:#b} {region:#b}, word {nth}: {bits:#x} instead of {second:#x}"));
                }
            }
        }
        None
    }
}

/// All sets of `tiles` of the first `cells` cells, ascending.
fn sets(cells: usize, tiles: usize) -> Vec<u64> {
    match (cells, tiles) {
        (_, 0) => vec![0],
        (0, _) => Vec::new(),
        // Sets without the last cell come first.
        _ => {
            let with_last = sets(cells - 1, tiles - 1).into_iter().map(|set| set | 1 << (cells - 1));
            sets(cells - 1, tiles).into_iter().chain(with_last).collect()
        }
    }
}

/// For each cell, the set of its neighbors.
fn adjacent(size: Size) -> Vec<u64> {
    let place = |cell: usize| (cell / size.cols(), cell % size.cols());
    let are_adjacent = |a: usize, b: usize| {
        let (a, b) = (place(a), place(b));
        a.0.abs_diff(b.0) + a.1.abs_diff(b.1) == 1
    };
    let adjacent =
        |cell: usize| (0..size.cells()).filter(|other| are_adjacent(cell, *other)).fold(0, |set, b| set | 1 << b);
    (0..size.cells()).map(adjacent).collect()
}

/// Connected regions of the cells outside a set, in order of their lowest cells.
fn regions(set: u64, adjacent: &[u64]) -> Vec<u64> {
    let free = (0..adjacent.len()).filter(|cell| set >> cell & 1 == 0);
    // Each cell merges the regions that it touches.
    let mut regions = free.fold(Vec::new(), |regions: Vec<u64>, cell| {
        let (touched, mut others): (Vec<u64>, Vec<u64>) =
            regions.into_iter().partition(|region| region & adjacent[cell] != 0);
        others.push(touched.into_iter().fold(1 << cell, |all, region| all | region));
        others
    });
    regions.sort_by_key(|region| region.trailing_zeros());
    regions
}

/// All orders of the tiles, in lexicographic order if the tiles are sorted.
fn orders(tiles: &[u8]) -> Vec<Vec<u8>> {
    if tiles.is_empty() {
        return vec![Vec::new()];
    }
    let beginning_with = |first: &u8| {
        let others: Vec<u8> = tiles.iter().copied().filter(|tile| tile != first).collect();
        let first = *first;
        orders(&others).into_iter().map(move |others| [vec![first], others].concat())
    };
    tiles.iter().flat_map(beginning_with).collect()
}

/// For each pair of positions, the rank of each order after moving its tile from the first to the second position.
fn shifts(orders: &[Vec<u8>], positions: BTreeSet<(u32, u32)>) -> HashMap<(u32, u32), Vec<u16>> {
    let ranks: HashMap<&[u8], u16> = orders.iter().map(Vec::as_slice).zip(0..).collect();
    let shift = |(from, to): (u32, u32)| {
        let shifted = orders.iter().map(|order| {
            let mut order = order.clone();
            let tile = order.remove(from as usize);
            order.insert(to as usize, tile);
            ranks[order.as_slice()]
        });
        ((from, to), shifted.collect())
    };
    positions.into_iter().map(shift).collect()
}

/// Builds every pattern of the default partitions of these classes once, and compares it with its reference table.
fn compare(classes: impl Iterator<Item = GoalClass>, tiers: &[Tier]) {
    let choices = classes.flat_map(|class| tiers.iter().map(move |tier| (class, Partition::choose(class, *tier))));
    let mut patterns: Vec<(GoalClass, Vec<u8>)> = choices
        .flat_map(|(class, choice)| choice.into_iter().flatten().flatten().map(move |labels| (class, labels)))
        .collect();
    assert!(!patterns.is_empty());
    let shape = |class: &GoalClass| (class.size.rows(), class.size.cols());
    patterns.sort_by_cached_key(|(class, labels)| (shape(class), labels.len(), class.goal_blank, labels.clone()));
    patterns.dedup();
    for alike in patterns.chunk_by(|(a, some), (b, others)| a.size == b.size && some.len() == others.len()) {
        let (size, tiles) = (alike[0].0.size, alike[0].1.len());
        let (layout, geometry) = (Layout::new(size, tiles), Arc::new(Geometry::new(size, tiles)));
        for (class, labels) in alike {
            let table = PatternTable::build(class.goal_blank, labels, &geometry);
            let costs = layout.costs(class.goal_blank, labels);
            assert_eq!(layout.difference(&costs, table.bits()), None, "{labels:?} of {class:?}");
        }
    }
}

fn classes(rows: usize, cols: usize) -> impl Iterator<Item = GoalClass> {
    GoalClass::all().filter(move |class| (class.size.rows(), class.size.cols()) == (rows, cols))
}

#[test]
fn tables_of_boards_of_up_to_12_cells_are_correct_in_every_bit() {
    compare(GoalClass::all().filter(|class| class.size.cells() <= 12), &[Tier::Small]);
}

#[test]
#[ignore = "half a minute"]
fn tables_of_15_puzzles_with_the_blank_in_a_corner_are_correct_in_every_bit() {
    compare([GoalClass::corner_of_4x4()].into_iter(), &[Tier::Small, Tier::Standard]);
}

#[test]
#[ignore = "half a minute"]
fn tables_of_15_puzzles_with_the_blank_elsewhere_are_correct_in_every_bit() {
    let elsewhere = classes(4, 4).filter(|class| *class != GoalClass::corner_of_4x4());
    compare(elsewhere, &[Tier::Small, Tier::Standard]);
}

#[test]
#[ignore = "a minute, and 2.6 GB"]
fn large_tables_are_correct_in_every_bit() {
    compare([GoalClass::corner_of_4x4()].into_iter(), &[Tier::Large]);
}

#[test]
fn a_table_of_3x6_is_correct_in_every_bit() {
    compare(classes(3, 6).take(1), &[Tier::Small]);
}

#[test]
#[ignore = "a minute, and a gigabyte"]
fn tables_of_24_puzzles_with_the_blank_in_a_corner_are_correct_in_every_bit() {
    compare(classes(5, 5).take(1), &[Tier::Small, Tier::Standard]);
}

#[test]
fn one_wrong_bit_of_a_table_is_found() {
    let class = classes(2, 5).next().unwrap();
    let labels = [2, 3, 7];
    let (layout, geometry) = (Layout::new(class.size, 3), Arc::new(Geometry::new(class.size, 3)));
    let costs = layout.costs(class.goal_blank, &labels);
    let right = PatternTable::build(class.goal_blank, &labels, &geometry);
    for bit in 0..64 * right.bits().len() {
        let mut bits = HugeVec::from(right.bits());
        bits[bit / 64] ^= 1 << (bit % 64);
        let wrong = PatternTable::from_bits(class.goal_blank, &labels, &geometry, bits);
        assert!(layout.difference(&costs, wrong.bits()).is_some(), "bit {bit}");
    }
}

/// Every shape beyond those above: `.ci/chaos` runs them, in seven minutes.
mod every_shape {
    use super::*;

    #[test]
    #[ignore = "10 s"]
    fn tables_of_2x7_are_correct_in_every_bit() {
        compare(GoalClass::all().filter(|class| matches!(class.size.cells(), 13 | 14)), &[Tier::Small]);
    }

    #[test]
    #[ignore = "half a minute"]
    fn tables_of_3x5_are_correct_in_every_bit() {
        compare(classes(3, 5), &[Tier::Small, Tier::Standard]);
    }

    #[test]
    #[ignore = "a minute"]
    fn tables_of_2x8_are_correct_in_every_bit() {
        compare(classes(2, 8), &[Tier::Small, Tier::Standard]);
    }

    #[test]
    #[ignore = "half a minute"]
    fn tables_of_large_boards_are_correct_in_every_bit() {
        compare(GoalClass::all().filter(|class| class.size.cells() == 18), &[Tier::Small]);
    }

    #[test]
    #[ignore = "a minute"]
    fn tables_of_boards_of_20_and_21_cells_are_correct_in_every_bit() {
        compare(GoalClass::all().filter(|class| matches!(class.size.cells(), 20 | 21)), &[Tier::Small]);
    }

    #[test]
    #[ignore = "a minute, and a gigabyte"]
    fn tables_of_the_largest_supported_boards_are_correct_in_every_bit() {
        compare(classes(6, 6).take(1), &[Tier::Small]);
    }
}
