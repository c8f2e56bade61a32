//! Tables that are built on first use and kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::available_parallelism;

use super::{PatternTables, SmallTables, TableSource};
use crate::search::heuristic::{GoalClass, Tier};

/// Tables that are built on first use, by one thread for each class of boards while others wait, and never evicted.
#[derive(Debug)]
pub struct LazyTables {
    small: SmallTables,
    tier: Tier,
    patterns: Mutex<HashMap<GoalClass, Arc<OnceLock<Arc<PatternTables>>>>>,
}

impl Default for LazyTables {
    fn default() -> Self {
        Self::new(Tier::Small)
    }
}

impl LazyTables {
    /// An empty set. Pattern tables are built in this tier, or in the next weaker one that the class has.
    pub fn new(tier: Tier) -> Self {
        Self { small: SmallTables::new(), tier, patterns: Mutex::default() }
    }

    fn slot(&self, class: GoalClass) -> Arc<OnceLock<Arc<PatternTables>>> {
        // A map is whole even after a panic: building happens elsewhere.
        let mut patterns = self.patterns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(patterns.entry(class).or_default())
    }

    fn build(&self, class: GoalClass) -> Arc<PatternTables> {
        let threads = available_parallelism().map_or(1, usize::from);
        let tiers = Tier::ALL.iter().rev().filter(|tier| **tier <= self.tier);
        let built = tiers.filter_map(|tier| PatternTables::build(class, *tier, threads)).next();
        Arc::new(built.expect("every class has small patterns"))
    }
}

impl TableSource for LazyTables {
    fn small(&self) -> &SmallTables {
        &self.small
    }

    fn patterns(&self, class: GoalClass) -> Arc<PatternTables> {
        Arc::clone(self.slot(class).get_or_init(|| self.build(class)))
    }

    fn loaded_patterns(&self, class: GoalClass) -> Option<Arc<PatternTables>> {
        self.slot(class).get().cloned()
    }
}
