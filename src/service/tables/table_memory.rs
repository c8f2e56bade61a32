//! Memory of the tables that are built on first use.

use std::sync::Arc;

use parking_lot::Mutex;
use taquin_solver::heuristic::{Geometry, GoalClass, Partition, Tier};
use taquin_solver::tables::PatternTables;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Memory that the tables of a class and tier need, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryNeed {
    pub(crate) tables: u64,
    /// Temporary memory of each thread that builds the tables.
    pub(crate) to_build: u64,
}

impl MemoryNeed {
    pub(crate) fn of(class: GoalClass, tier: Tier) -> Option<Self> {
        let choice = Partition::choose(class, tier)?;
        let geometries = Geometry::of_patterns(class.size, &Partition::patterns_with_tables(class, &choice));
        let tables = Geometry::bytes_of_tables(geometries.iter());
        let to_build = geometries.iter().map(|geometry| geometry.bytes_to_build()).max().unwrap_or(0);
        Some(Self { tables: tables as u64, to_build: to_build as u64 })
    }
}

/// Shrinks a reservation to the size of the tables, and attaches the reservation to the tables. So the memory is
/// released when the last search with the tables ends.
pub(crate) fn within(memory: Option<TableReservation>, tables: PatternTables) -> Arc<PatternTables> {
    Arc::new(match memory {
        Some(mut memory) => {
            memory.shrink_to(tables.bytes() as u64);
            tables.with_guard(memory)
        }
        None => tables,
    })
}

/// Counts the memory of tables from the start of the build until the last search with the tables ends, even after
/// eviction.
#[derive(Debug)]
pub(crate) struct TableMemory {
    capacity: u64,
    used: Mutex<u64>,
    freed: Notify,
}

/// Memory that is reserved for tables. Dropping the reservation releases the memory.
#[derive(Debug)]
pub(crate) struct TableReservation {
    memory: Arc<TableMemory>,
    bytes: u64,
}

impl TableMemory {
    /// Creates a limit of `capacity` bytes.
    pub(crate) fn new(capacity: u64) -> Arc<Self> {
        Arc::new(Self { capacity, used: Mutex::default(), freed: Notify::new() })
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns the number of bytes in use.
    pub(crate) fn used(&self) -> u64 {
        *self.used.lock()
    }

    /// Returns the number of bytes that may still be reserved.
    pub(crate) fn free(&self) -> u64 {
        self.capacity.saturating_sub(self.used())
    }

    /// Reserves memory. Returns `None` if the memory is not available.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: u64) -> Option<TableReservation> {
        let mut used = self.used.lock();
        (bytes <= self.capacity.saturating_sub(*used)).then(|| {
            *used += bytes;
            TableReservation { memory: Arc::clone(self), bytes }
        })
    }

    /// Reserves memory. The reservation may exceed the limit.
    pub(crate) fn count(self: &Arc<Self>, bytes: u64) -> TableReservation {
        *self.used.lock() += bytes;
        TableReservation { memory: Arc::clone(self), bytes }
    }

    /// Returns a future that completes at the next release of memory after this call.
    pub(crate) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }

    fn release(&self, bytes: u64) {
        *self.used.lock() -= bytes;
        if bytes > 0 {
            self.freed.notify_waiters();
        }
    }
}

impl TableReservation {
    /// Keeps at most `bytes` bytes and releases the rest.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let rest = self.bytes.saturating_sub(bytes);
        self.bytes -= rest;
        self.memory.release(rest);
    }
}

impl Drop for TableReservation {
    fn drop(&mut self) {
        self.memory.release(self.bytes);
    }
}
