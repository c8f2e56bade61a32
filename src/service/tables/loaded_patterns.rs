//! Loaded pattern tables of one class, their memory, and their build.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::table_memory::TableReservation;
use crate::search::heuristic::{Geometry, GoalClass, Partition, PatternTable, Patterns, Tier};

/// Loaded pattern tables of a class.
#[derive(Debug)]
pub(crate) struct LoadedPatterns {
    pub(crate) class: GoalClass,
    pub(crate) tier: Tier,
    pub(crate) partitions: Vec<Partition>,
    /// Time to build or to read them.
    pub(crate) time: Duration,
    pub(super) loaded_at: Instant,
    /// Released with the last search that uses them; `None` for those of the start.
    pub(super) _memory: Option<TableReservation>,
}

impl LoadedPatterns {
    /// Tables just built or read, whose work began at a time. Of the reserved memory they keep what they need.
    pub(super) fn new(
        class: GoalClass,
        tier: Tier,
        partitions: Vec<Partition>,
        begun: Instant,
        memory: Option<TableReservation>,
    ) -> Self {
        let memory = memory.map(|mut memory| {
            memory.shrink_to(Partition::bytes_of(&partitions) as u64);
            memory
        });
        let loaded_at = Instant::now();
        Self { class, tier, partitions, time: loaded_at - begun, loaded_at, _memory: memory }
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        Partition::bytes_of(&self.partitions)
    }
}

/// Memory of the tables of a tier.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryNeed {
    pub(super) tables: u64,
    /// Temporary memory of each building thread.
    pub(super) to_build: u64,
}

impl MemoryNeed {
    pub(super) fn of(class: GoalClass, tier: Tier) -> Option<Self> {
        let choice = Partition::choose(class, tier)?;
        let geometries = Geometry::of_patterns(class.size, &Partition::patterns_with_tables(class, &choice));
        let tables = Geometry::bytes_of_tables(geometries.iter());
        let to_build = geometries.iter().map(|geometry| geometry.bytes_to_build()).max().unwrap_or(0);
        Some(Self { tables: tables as u64, to_build: to_build as u64 })
    }
}

/// Builds the tables of a tier on so many threads; none if the class has no such tier.
pub(super) fn build(
    class: GoalClass,
    tier: Tier,
    threads: usize,
    memory: Option<TableReservation>,
) -> Option<Arc<LoadedPatterns>> {
    let begun = Instant::now();
    let choice = Partition::choose(class, tier)?;
    let tables = build_in_parallel(class, &choice, threads);
    let partitions = Partition::assemble(class, &choice, tables);
    Some(Arc::new(LoadedPatterns::new(class, tier, partitions, begun, memory)))
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
