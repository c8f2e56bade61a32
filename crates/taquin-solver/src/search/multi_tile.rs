//! Search in the multi-tile metric, in which several tiles that slide in a line are one move.

use super::heuristic::DistanceTable;
use super::{Budget, Outcome, Progress, Space, State, Stats, StopReason};
use crate::domain::{Move, MoveSet, Packed64, Path};

/// Follows a shortest path in the multi-tile metric. `table` has the distances in that metric.
///
/// A\* with a perfect heuristic: it expands the nodes of one optimal path. Of several slides that lead nearer, it takes
/// the first in the order U, L, D, R of the blank's directions, and of those the shortest. Successors are all slides
/// but those along the line of the last one, since two such slides are one.
///
/// The lower bound is the length of the path in slides.
pub fn multi_tile(space: &Space<Packed64>, table: &DistanceTable, budget: &Budget<'_>) -> Outcome {
    let length = u32::from(table.distance(&space.start()));
    let mut stats = Stats { generated: 1, peak_open: 1, iterations: 1, initial_h: length, ..Stats::default() };
    let result = descend(space, table, budget, &mut stats);
    stats.open_at_end = stats.generated - stats.expanded - u64::from(result.is_ok());
    Outcome { result, best: None, lower_bound: length, stats }
}

fn descend(
    space: &Space<Packed64>,
    table: &DistanceTable,
    budget: &Budget<'_>,
    stats: &mut Stats,
) -> Result<Path, StopReason> {
    let mut meter = budget.meter();
    let (mut state, mut line, mut moves) = (space.start(), MoveSet::EMPTY, Vec::new());
    while !space.is_goal(&state) {
        meter.expand(stats.expanded, || Progress { lower_bound: stats.initial_h, ..Progress::from(&*stats) })?;
        let nearer = table.distance(&state) - 1;
        let mut chosen = None;
        for slide in slides(space, state, line) {
            stats.generated += 1;
            if chosen.is_none() && table.distance(&slide.end) == nearer {
                chosen = Some(slide);
            }
        }
        let Slide { mv, tiles, end } = chosen.expect("a slide leads nearer to the goal");
        stats.expanded += 1;
        stats.peak_open = stats.generated - stats.expanded;
        moves.extend(std::iter::repeat_n(mv, tiles));
        (state, line) = (end, MoveSet::EMPTY.with(mv).with(mv.inverse()));
    }
    Ok(moves.into())
}

/// A slide of one tile or of several.
struct Slide {
    /// Direction of the blank.
    mv: Move,
    /// Number of tiles.
    tiles: usize,
    /// The state after it.
    end: State<Packed64>,
}

/// All slides from a state, except in the directions `except`.
fn slides(space: &Space<Packed64>, state: State<Packed64>, except: MoveSet) -> impl Iterator<Item = Slide> {
    space.moves_except(state.blank, except).flat_map(move |mv| {
        let step = move |before: &State<Packed64>| {
            let is_legal = space.moves_except(before.blank, MoveSet::EMPTY).contains(mv);
            is_legal.then(|| before.after(&space.slide(before, mv)))
        };
        let ends = std::iter::successors(step(&state), step);
        (1..).zip(ends).map(move |(tiles, end)| Slide { mv, tiles, end })
    })
}
