//! Pattern tables of one class, and their build.

use std::any::Any;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::clock::Instant;
use crate::search::heuristic::{Geometry, GoalClass, Partition, PatternTable, Patterns, Tier};

/// The pattern tables of a class.
#[derive(Debug)]
pub struct PatternTables {
    class: GoalClass,
    tier: Tier,
    partitions: Vec<Partition>,
    /// Time to build or to read the tables.
    load_time: Duration,
    /// Dropped with the tables.
    _guard: Option<Box<dyn Any + Send + Sync>>,
}

impl PatternTables {
    /// Tables that are loaded already.
    pub fn new(class: GoalClass, tier: Tier, partitions: Vec<Partition>, load_time: Duration) -> Self {
        Self { class, tier, partitions, load_time, _guard: None }
    }

    /// Builds the tables of a tier on `threads` threads; `None` if the class has no such tier.
    pub fn build(class: GoalClass, tier: Tier, threads: usize) -> Option<Self> {
        let begun = Instant::now();
        let choice = Partition::choose(class, tier)?;
        let tables = build_in_parallel(class, &choice, threads);
        let partitions = Partition::assemble(class, &choice, tables);
        Some(Self::new(class, tier, partitions, begun.elapsed()))
    }

    /// Keeps a value, such as a reservation of memory, until the last search drops the tables.
    #[must_use]
    pub fn with_guard(self, guard: impl Any + Send + Sync) -> Self {
        Self { _guard: Some(Box::new(guard)), ..self }
    }

    /// The boards and goals that the tables serve.
    pub fn class(&self) -> GoalClass {
        self.class
    }

    /// The tier of the tables.
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The partitions of the tiles, each with its tables.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// Time to build or to read the tables.
    pub fn load_time(&self) -> Duration {
        self.load_time
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> usize {
        Partition::bytes_of(&self.partitions)
    }
}

fn build_in_parallel(class: GoalClass, choice: &[Patterns], threads: usize) -> Vec<PatternTable> {
    let patterns = Partition::patterns_with_tables(class, choice);
    let geometries = Geometry::of_patterns(class.size, &patterns);
    let tables: Vec<OnceLock<PatternTable>> = patterns.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(nth) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|nth| *nth < patterns.len()) {
            tables[nth].get_or_init(|| PatternTable::build(class.goal_blank, patterns[nth], &geometries[nth]));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(patterns.len()) {
            // If no thread can be created, the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    tables.into_iter().map(|table| table.into_inner().expect("every pattern was taken")).collect()
}
