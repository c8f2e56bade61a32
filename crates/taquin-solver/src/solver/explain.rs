//! Estimates of a board by every heuristic, part by part, without a search.

use std::collections::BTreeMap;

use super::dispatch::{HeuristicCall, SearchTables, dispatch};
use super::distance::Distance;
use super::run::Control;
use crate::Named;
use crate::domain::{Board, Packed, Packed64, Puzzle, Tile};
use crate::search::heuristic::{DisjointPatterns, GoalClass, Line, Part, PartOf, PatternUse, TilePatterns};
use crate::search::{HeuristicKind, HeuristicSearch, Space, StopReason};
use crate::tables::TableSource;

/// The estimates of a board.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The optimal length, where there is a distance table.
    pub optimal_length: Option<u32>,
    /// The estimate of every heuristic that serves the board.
    pub estimates: Vec<Estimate>,
}

/// An estimate and its parts, whose costs add up to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Estimate {
    /// The heuristic.
    pub heuristic: HeuristicKind,
    /// The estimate, in moves.
    pub h: u32,
    /// Cost of each tile, by its number; 0 is the blank, if it counts.
    pub tiles: BTreeMap<Tile, u32>,
    /// Lines with reversed tiles.
    pub conflicts: Vec<Conflict>,
    /// Other parts.
    pub parts: Vec<NamedPart>,
}

/// Reversed tiles of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The line, a goal line of these tiles.
    pub line: Line,
    /// Tiles that are reversed with another one, in their order.
    pub tiles: Vec<Tile>,
    /// The fewest tiles without which none are reversed.
    pub leaving: Vec<Tile>,
    /// Two moves for each tile that must leave.
    pub cost: u32,
}

/// A part of an estimate that concerns several tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedPart {
    /// `rows`, `columns`, `cycle` or `pattern`.
    pub name: &'static str,
    /// The tiles; empty for all.
    pub tiles: Vec<Tile>,
    /// The cost in moves.
    pub cost: u32,
}

/// Estimates the start of a puzzle by every heuristic that serves it. Pattern databases are used only if they are
/// loaded already.
pub fn explain(puzzle: &Puzzle, tables: &dyn TableSource) -> Explanation {
    let kinds = HeuristicKind::ALL.iter().filter(|kind| kind.serves(puzzle.size()));
    Explanation {
        optimal_length: Distance::exact(puzzle, tables.small()),
        estimates: kinds.filter_map(|kind| estimate(puzzle, *kind, tables)).collect(),
    }
}

/// The estimate of a board by chosen patterns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternExplanation {
    /// The estimate, whose parts are the patterns, and the tiles in no pattern.
    pub estimate: Estimate,
    /// The tables, and their entries for the board.
    pub tables: Vec<PatternUse>,
}

/// Builds the tables of chosen patterns, and estimates the start of a puzzle by them.
///
/// # Errors
/// If the deadline or a cancel flag ends the construction.
pub fn explain_patterns(
    puzzle: &Puzzle,
    patterns: &TilePatterns,
    control: Control<'_>,
) -> Result<PatternExplanation, StopReason> {
    let mut stop = None;
    let built = DisjointPatterns::build(patterns, puzzle.goal(), &mut || {
        stop = control.stop();
        stop.is_some()
    });
    let built = built.ok_or(stop.unwrap_or(StopReason::Cancelled))?;
    let space = Space::<Packed64>::new(puzzle);
    let estimate = Estimate::new(HeuristicKind::PatternDatabase, StartParts.call(&space, &built), puzzle.goal());
    Ok(PatternExplanation { estimate, tables: built.uses(&space.start()) })
}

/// `None` if the heuristic needs pattern tables that are not loaded.
fn estimate(puzzle: &Puzzle, heuristic: HeuristicKind, tables: &dyn TableSource) -> Option<Estimate> {
    let mut own = SearchTables::new(tables);
    if heuristic == HeuristicKind::PatternDatabase && GoalClass::serves(puzzle.size()) {
        let loaded = tables.loaded_patterns(GoalClass::of(puzzle.size(), puzzle.goal().blank()))?;
        own = SearchTables::with_patterns(tables, Some(loaded));
    }
    Some(Estimate::new(heuristic, dispatch(puzzle, heuristic, &own, StartParts), puzzle.goal()))
}

impl Estimate {
    fn new(heuristic: HeuristicKind, (h, parts): (u32, Vec<Part>), goal: &Board) -> Self {
        let mut estimate = Self { heuristic, h, tiles: BTreeMap::new(), conflicts: Vec::new(), parts: Vec::new() };
        parts.into_iter().for_each(|part| estimate.add(part, goal));
        estimate
    }

    /// Adds a part, with the tile numbers of the goal instead of labels.
    fn add(&mut self, part: Part, goal: &Board) {
        let numbers = |labels: &[u8]| labels.iter().map(|label| goal.tile(*label)).collect::<Vec<Tile>>();
        let (tiles, cost) = (numbers(&part.labels), part.cost);
        let name = match part.of {
            PartOf::Tile => return tiles.iter().for_each(|tile| *self.tiles.entry(*tile).or_default() += cost),
            PartOf::Conflict { line, leaving } => {
                return self.conflicts.push(Conflict { line, tiles, leaving: numbers(&leaving), cost });
            }
            PartOf::Rows => "rows",
            PartOf::Columns => "columns",
            PartOf::Cycle => "cycle",
            PartOf::Pattern => "pattern",
        };
        self.parts.push(NamedPart { name, tiles, cost });
    }
}

/// Evaluates the heuristic and its parts on the start board.
struct StartParts;

impl HeuristicCall for StartParts {
    type Output = (u32, Vec<Part>);

    fn call<P: Packed, H: HeuristicSearch<P>>(self, space: &Space<P>, heuristic: &H) -> (u32, Vec<Part>) {
        let start = space.start();
        (heuristic.h(heuristic.evaluate(&start)), heuristic.parts(&start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::LazyTables;

    fn names(explanation: &Explanation) -> Vec<&'static str> {
        explanation.estimates.iter().map(|estimate| estimate.heuristic.name()).collect()
    }

    #[test]
    fn no_pattern_tables_are_built() {
        let tables = LazyTables::default();
        let class = GoalClass::corner_of_4x4();
        let goal = Board::blank_first(class.size);
        let puzzle = Puzzle::try_new(goal, goal).unwrap();
        assert!(!names(&explain(&puzzle, &tables)).contains(&"pattern_database"));
        assert!(tables.loaded_patterns(class).is_none());
        tables.patterns(class);
        let explanation = explain(&puzzle, &tables);
        let patterns = explanation.estimates.last().unwrap();
        assert_eq!(patterns.heuristic, HeuristicKind::PatternDatabase);
        let mut tiles = patterns.parts.iter().flat_map(|part| part.tiles.clone()).collect::<Vec<_>>();
        tiles.sort_unstable();
        assert_eq!(tiles, (1..16).collect::<Vec<Tile>>(), "each tile is in one pattern");
    }
}
