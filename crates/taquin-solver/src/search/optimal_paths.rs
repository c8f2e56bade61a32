//! All optimal solutions of a puzzle.

use super::{Budget, Heuristic, Meter, Progress, Space, State, StopReason};
use crate::domain::{Move, MoveSet, Packed, Path};

/// Optimal solutions, from the first in the order U, L, D, R of their letters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptimalPaths {
    /// Their number; `None` if the search ended at the last requested one.
    pub count: Option<u64>,
    /// The first solutions.
    pub paths: Vec<Path>,
    /// Nodes expanded to find them.
    pub expanded: u64,
}

/// Finds the first `most` of all solutions of `length` moves, which must be the optimal length. With `counts` it goes
/// on and counts all.
///
/// It is the last iteration of IDA\* (Korf 1985), which does not stop at the goal. Successors are generated in the
/// order U, L, D, R, so the first solution is the first of all in the order of their letters. Moves that lead to the
/// same board in the same number of moves are different solutions, so only the move straight back is skipped.
///
/// # Errors
/// If the budget is exhausted before all are found.
///
/// # Panics
/// If the heuristic is not admissible.
pub fn optimal_paths<P: Packed, H: Heuristic<P>>(
    space: &Space<P>,
    heuristic: &H,
    length: u32,
    (most, counts): (usize, bool),
    budget: &Budget<'_>,
) -> Result<OptimalPaths, StopReason> {
    assert!(H::ADMISSIBLE, "the heuristic must not exceed the distance");
    let (path, found) = (Vec::with_capacity(length as usize), OptimalPaths::default());
    let mut search =
        PathSearch { space, heuristic, length, most, counts, meter: budget.meter(), path, found, count: 0 };
    let start = space.start();
    let is_complete = search.visit(start, heuristic.evaluate(&start), MoveSet::EMPTY)?;
    Ok(OptimalPaths { count: is_complete.then_some(search.count), ..search.found })
}

struct PathSearch<'a, P, H> {
    space: &'a Space<P>,
    heuristic: &'a H,
    length: u32,
    most: usize,
    counts: bool,
    meter: Meter<'a>,
    path: Vec<Move>,
    found: OptimalPaths,
    count: u64,
}

impl<P: Packed, H: Heuristic<P>> PathSearch<'_, P, H> {
    /// Searches below a board. Returns false if the search ends here, because no more solutions are requested.
    fn visit(&mut self, state: State<P>, memo: H::Memo, back: MoveSet) -> Result<bool, StopReason> {
        let g = self.path.len() as u32;
        if g == self.length {
            if self.space.is_goal(&state) {
                self.count += 1;
                if self.found.paths.len() < self.most {
                    self.found.paths.push(self.path.clone().into());
                }
            }
            return Ok(self.counts || self.found.paths.len() < self.most);
        }
        let Self { meter, found, length, .. } = self;
        meter.expand(found.expanded, || Progress {
            expanded: found.expanded,
            lower_bound: *length,
            ..Progress::default()
        })?;
        found.expanded += 1;
        for mv in self.space.moves_except(state.blank, back) {
            let mut successor = state;
            let slide = self.space.make(&mut successor, mv);
            let left = self.length - g - 1;
            let Ok(after) = self.heuristic.after_within(memo, &slide, &successor, left as i32) else { continue };
            self.path.push(mv);
            let goes_on = self.visit(successor, after, MoveSet::back(mv))?;
            self.path.pop();
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
