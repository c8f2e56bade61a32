//! The tables of the process. Each table is built on first use and kept.

use std::sync::{Arc, LazyLock};

use taquin_solver::heuristic::{DistanceTable, GoalClass, Tier};
use taquin_solver::tables::{PatternTables, SmallTables};
use taquin_solver::{Board, LazyTables, Plan, TableSource};

/// The tables of the process.
pub(crate) static TABLES: LazyLock<ProcessTables> =
    LazyLock::new(|| ProcessTables { small: LazyTables::new(Tier::Small), standard: LazyTables::new(Tier::Standard) });

/// Small pattern tables, which take a tenth of a second to build, and standard ones, which take a second. Searches use
/// the strongest tables that are built.
#[derive(Debug)]
pub(crate) struct ProcessTables {
    small: LazyTables,
    standard: LazyTables,
}

impl ProcessTables {
    /// Builds the tables that pay for many boards with this goal.
    pub(crate) fn load_for_many(&self, goal: &Board) {
        let size = goal.size();
        if !DistanceTable::serves(size) && Plan::is_proven_by_auto(size) {
            self.standard.patterns(GoalClass::of(size, goal.blank()));
        }
    }
}

impl TableSource for ProcessTables {
    fn small(&self) -> &SmallTables {
        self.small.small()
    }

    fn patterns(&self, class: GoalClass) -> Arc<PatternTables> {
        self.standard.loaded_patterns(class).unwrap_or_else(|| self.small.patterns(class))
    }

    fn loaded_patterns(&self, class: GoalClass) -> Option<Arc<PatternTables>> {
        self.standard.loaded_patterns(class).or_else(|| self.small.loaded_patterns(class))
    }
}
